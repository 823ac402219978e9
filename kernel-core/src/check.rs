//! Rules about whole kernels, between elaboration and schedule: what is in flight and read or overwritten, the bytes of barriers, which
//! threads arrive at which barrier, what differs from thread to thread.
//!
//! Each rule has a file. Rules follow the statements by [`crate::ir::flow`], and learn what these do from [`crate::ir::Effects`].

use crate::{
    diag::{Code, Diagnostic, Problems},
    elaborate::{self, Built, Names, Request},
    ir::flow::Unsettled,
    loc::Loc,
};

mod barrier_bytes;
mod cluster_meetings;
mod copies;
mod counted_bytes;
mod early_grids;
mod filter_taps;
mod named_barriers;
mod other_paths;
mod pairs;
mod per_thread;
mod pipelined;
mod read_only;
mod registers;
mod relaxed_arrivals;
mod scattered_rows;
mod shared_memory;
mod signals;
mod slots;
mod store_corners;
mod tcgen05;
mod tensor_memory;
mod tiles;
mod unheld;
mod wgmma;

/// Builds and checks one instance. `None` if there were problems.
pub fn instance(request: &Request<'_>, problems: &mut Problems) -> Option<Built> {
    let before = problems.reports();
    let mut built = elaborate::instance(request, problems)?;
    if built.written.certain {
        check(&mut built, before, problems);
    }
    if built.written.names == Names::SomeLeftOut && problems.reports() == before {
        problems.push(
            Diagnostic::new(
                Code::Bug,
                Loc::KERNEL,
                "the compiler left out what a name stands for, and said nothing of it",
            )
            .help("please report this with the kernel's source"),
        );
    }
    (problems.reports() == before && !built.written.tainted).then_some(built)
}

/// Reports what breaks a rule. `before` counts the reports before the kernel was built.
fn check(Built { kernel, written, .. }: &mut Built, before: usize, problems: &mut Problems) {
    let copies =
        if problems.reports() == before { pipelined::Copies::All } else { pipelined::Copies::Some };
    let found = read_only::check(kernel, written)
        .into_iter()
        .chain(unheld::check(kernel))
        .chain(early_grids::check(kernel))
        .chain(pipelined::check(kernel, written, copies))
        .chain(cluster_meetings::check(kernel))
        .chain(relaxed_arrivals::check(kernel))
        .chain(registers::check(kernel))
        .chain(per_thread::check(kernel, written))
        .chain(store_corners::check(kernel, written))
        .chain(filter_taps::check(kernel, written));
    found.for_each(|diagnostic| problems.push(diagnostic));
    // What was refused, or is still to come, may be the wait or the copy that is missed here.
    if problems.reports() == before && !written.awaits {
        let mut bytes = counted_bytes::fill(kernel, &written.counted);
        if bytes.is_empty() {
            bytes = barrier_bytes::check(kernel, written);
        }
        let found = wgmma::check(kernel, written)
            .into_iter()
            .chain(bytes)
            .chain(named_barriers::check(kernel))
            .chain(scattered_rows::check(kernel, written))
            .chain(pairs::check(kernel))
            .chain(copies::check(kernel, written));
        found.for_each(|diagnostic| problems.push(diagnostic));
    }
    if let Some(diagnostic) = shared_memory::check(kernel) {
        problems.push(diagnostic);
    }
    if problems.reports() == before {
        for diagnostic in tensor_memory::check(kernel, written) {
            problems.push(diagnostic);
        }
    }
}

/// What is said if a rule cannot follow a loop.
fn unknown(unsettled: Unsettled) -> Diagnostic {
    Diagnostic::new(Code::Bug, unsettled.at, "the compiler cannot follow this loop")
        .why(unsettled.to_string())
        .help("please report this with the kernel's source")
}

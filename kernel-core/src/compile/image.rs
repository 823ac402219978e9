//! A kernel for one target: its variants, from the built kernel to PTX.

use super::{Options, Phase, Watch, instances::Left, plain, times::Times};
use crate::{
    check,
    diag::{Code, Diagnostic, Problems, nearest},
    elaborate::{self, Built, Request, Written},
    explore::{self, Explored, Verdict},
    host::{Image, Report, Reports, Stamp, Variant},
    ir::{self, Kernel},
    layouts::{self, Accesses, Inferred},
    loc::{Loc, Places},
    lower::{self, Lowered, Slots},
    schedule, syntax,
};

/// What every image is compiled with.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) places: &'a Places,
    pub(super) options: Options,
    pub(super) watch: Watch<'a>,
    /// The place of the instance among those of its kernel.
    pub(super) row: usize,
    /// How long the phases of this image take, if that is wanted.
    pub(super) times: Option<&'a Times>,
}

impl Around<'_> {
    fn ended(self, phase: Phase) {
        (self.watch)(self.row, phase);
        if let Some(times) = self.times {
            times.ended(phase);
        }
    }
}

pub(super) fn targets(
    kernel: &syntax::Kernel,
    problems: &mut Problems,
) -> Vec<(String, kernel_ptx::Target)> {
    let mut out: Vec<(String, kernel_ptx::Target)> = Vec::new();
    for ident in &kernel.attr.targets {
        if let Some(target) = elaborate::target_named(&ident.name) {
            out.push((ident.name.clone(), target));
        } else {
            let names: Vec<&str> = elaborate::target_names().collect();
            let mut diagnostic = Diagnostic::new(
                Code::Target,
                ident.loc,
                format!("`{}` is not a target", ident.name),
            )
            .compare(
                "target",
                format!("one of {}", names.join(", ")),
                ident.name.clone(),
            );
            if let Some((why, near)) = elaborate::nearest_target(&ident.name) {
                diagnostic = diagnostic.why(why).help(near);
            } else if let Some(near) = nearest(&ident.name, names) {
                diagnostic = diagnostic.help(near.to_owned());
            }
            problems.push(diagnostic);
        }
    }
    if kernel.attr.targets.is_empty() && !kernel.attr.target_refused {
        let loc = kernel.function.name.loc;
        problems.push(
            Diagnostic::new(Code::Target, loc, "the kernel's attribute names no target")
                .why("a kernel is compiled ahead of time, for the targets that it names")
                .help("#[kernel(target = sm_80, warps = 4)]"),
        );
    }
    if out.is_empty() {
        // Reported above; the body is still looked at, for a target that can do what most can.
        out.push(("sm_90a".to_owned(), kernel_ptx::Target::SM_90A));
    }
    out
}

pub(super) fn compile_image(
    request: &Request<'_>,
    target: &str,
    left: &mut Left,
    around: Around<'_>,
) -> Option<Image> {
    let times = around.options.clock.filter(|_| around.options.dump).map(Times::start);
    let around = Around { times: times.as_ref(), ..around };
    let Built { kernel, aligned, written, .. } = check::instance(request, &mut left.problems)?;
    let aligned = layouts::needed(&kernel, &aligned);
    around.ended(Phase::Build);
    let mut label = dump_label(request, target);
    let (reports, stamps) = (reports_of(&kernel, around), stamps_of(&kernel, around));
    if reports.is_some() {
        label += "-reporting";
    } else if !stamps.is_empty() {
        label += "-profiled";
    }
    let mut variants = Vec::new();
    let first = if aligned.is_empty() {
        let begun = || Begun::first("general", &kernel, &[], &written);
        lower_variant(begun, &label, left, around)?
    } else {
        let mut sides = [Left::default(), Left::default()];
        let begun = || Begun::first("aligned", &kernel, &aligned, &written);
        let first = lower_variant(begun, &label, &mut sides[0], around);
        let begun = || Begun::new("general", &kernel, &[]);
        let general = lower_variant(begun, &label, &mut sides[1], around);
        report_variants(sides.each_ref().map(|side| &side.problems), &mut left.problems);
        left.dumps.extend(sides.into_iter().flat_map(|side| side.dumps));
        variants.push(general?.variant);
        first?
    };
    let order = first.order.map(|Explored { verdict, problem }| {
        if let Some(problem) = problem {
            left.problems.push(problem);
        }
        verdict
    });
    variants.insert(0, first.variant);
    if !first.wished.is_empty() {
        let assumed = [aligned, first.wished].concat();
        let begun = || Begun::new("divisible", &kernel, &assumed);
        let divisible = lower_variant(begun, &label, left, around)?;
        variants.insert(0, divisible.variant);
    }
    // If the assumptions change nothing, there is nothing to choose between.
    variants.reverse();
    variants.dedup_by(|asks_more, asks_less| {
        (&asks_more.entry, &asks_more.ptx, asks_more.shared_bytes, &asks_more.maps)
            == (&asks_less.entry, &asks_less.ptx, asks_less.shared_bytes, &asks_less.maps)
    });
    variants.reverse();
    if let Some(assemble) = around.options.assemble
        && left.problems.is_empty()
    {
        for variant in &mut variants {
            match assemble(&variant.ptx, target) {
                Ok(cubins) => variant.cubins = cubins,
                Err(failure) => left.fail(failure),
            }
        }
    }
    Some(Image {
        target: target.to_owned(),
        warps: kernel.block_warps(),
        cluster: kernel.cluster,
        programmatic: kernel.is_programmatic(),
        raw_access: kernel.raw_access(),
        order: order.unwrap_or(Verdict::Refused),
        declared: kernel.facts,
        params: kernel.params,
        absent: request.absent.to_vec(),
        variants,
        reports,
        has_stamps: written.stamp.is_some(),
        stamps,
        profiled: None,
    })
}

/// What the host has to know of what a kernel says.
fn reports_of(kernel: &Kernel, around: Around<'_>) -> Option<Reports> {
    let slots = Slots::of(kernel)?;
    let report = |(report, (values, shape)): (&ir::Report, (Vec<ir::Elem>, Vec<u32>))| {
        let (kind, format) = (report.kind.clone(), report.format.clone());
        Report { kind, format, place: place_of(report, around), values, shape }
    };
    Some(Reports { slots, all: kernel.reports.iter().zip(kernel.said()).map(report).collect() })
}

/// What the host has to know of the stamps of a kernel.
fn stamps_of(kernel: &Kernel, around: Around<'_>) -> Vec<Stamp> {
    if !kernel.is_stamped() {
        return Vec::new();
    }
    let stamp = |report: &ir::Report| Stamp {
        name: report.format.clone(),
        place: place_of(report, around),
    };
    kernel.reports.iter().map(stamp).collect()
}

/// `src/kernel.rs:12:5`: where a macro stands.
fn place_of(report: &ir::Report, around: Around<'_>) -> String {
    let (file, (line, column)) = around.places.own(report.loc);
    format!("{}:{line}:{column}", shown(file))
}

/// The path of the kernel's file, as far as it may be shown.
fn file_of(around: Around<'_>) -> String {
    shown(around.places.file.as_deref())
}

/// The path of a file, as far as it may be shown.
fn shown(file: Option<&str>) -> String {
    file.map_or("kernel.rs".to_owned(), relative)
}

/// What the variant that is taken first assumes, in the words of a message.
const ALIGNED: &str = "aligned: contiguous tensors that begin at multiples of 16 bytes";
/// The same of the other one.
const GENERAL: &str = "general: tensors of any alignment";

/// The problems of the two variants: each once, with the variant if the other one has not the same.
fn report_variants([aligned, general]: [&Problems; 2], problems: &mut Problems) {
    let of_one = |diagnostic: &Diagnostic, other: &Problems, variant| {
        let mut diagnostic = diagnostic.clone();
        if other.iter().any(|same| *same == diagnostic) {
            return diagnostic;
        }
        diagnostic.variant = Some(variant);
        let here =
            |same: &Diagnostic| (same.code, same.primary) == (diagnostic.code, diagnostic.primary);
        if diagnostic.code == Code::AssertedLayout && !other.iter().any(here) {
            return diagnostic.why("a load may have one layout for aligned tensors and another one for all others; `.to_layout(..)` directly after it gives it one for both");
        }
        diagnostic
    };
    let of_aligned = aligned.iter().map(|diagnostic| of_one(diagnostic, general, ALIGNED));
    let of_general = general.iter().map(|diagnostic| of_one(diagnostic, aligned, GENERAL));
    for warning in aligned.warnings().chain(general.warnings()) {
        problems.warn(warning.clone());
    }
    for diagnostic in of_aligned.chain(of_general) {
        // What was refused elsewhere, in a helper say, may be the reason of a broken rule.
        if diagnostic.code != Code::Bug || problems.is_empty() {
            problems.push(diagnostic);
        }
    }
}

fn dump_label(request: &Request<'_>, target: &str) -> String {
    let mut label = request.kernel.name().to_owned();
    for (name, value) in &request.instance.values {
        label.extend(["-", name, "=", &value.text.replace(' ', "")]);
    }
    for name in request.absent {
        label.extend(["-", name, "=None"]);
    }
    label.push('-');
    label.push_str(target);
    plain(&label)
}

/// A variant before anything is chosen for it.
struct Begun<'a> {
    name: &'static str,
    kernel: Kernel,
    /// What it assumes beyond what is declared.
    assumed: Vec<ir::Fact>,
    /// What the user wrote, of the variant that speaks for all: their order is the same.
    explored: Option<&'a Written>,
}

impl<'a> Begun<'a> {
    fn new(name: &'static str, kernel: &Kernel, assumed: &[ir::Fact]) -> Self {
        let mut kernel = kernel.clone();
        kernel.facts.extend(assumed);
        Begun { name, kernel, assumed: assumed.to_vec(), explored: None }
    }

    fn first(
        name: &'static str,
        kernel: &Kernel,
        assumed: &[ir::Fact],
        written: &'a Written,
    ) -> Self {
        Begun { explored: Some(written), ..Begun::new(name, kernel, assumed) }
    }
}

/// A variant, and what else of the extents of tensors would spare it copies.
struct Made {
    variant: Variant,
    wished: Vec<ir::Fact>,
    /// What is known of its order, if it speaks for all.
    order: Option<Explored>,
}

/// Makes a variant. If a block cannot have the shared memory through which threads would exchange elements for contiguous accesses to
/// global memory, they do without, where that is enough.
fn lower_variant<'a>(
    begun: impl Fn() -> Begun<'a>,
    label: &str,
    left: &mut Left,
    around: Around<'_>,
) -> Option<Made> {
    let mut first = Left::default();
    let mut made = lower_for(Accesses::Contiguous, begun(), label, &mut first, around);
    if made.is_none() && first.problems.iter().any(|one| one.code == Code::SharedBudget) {
        let mut second = Left::default();
        made = lower_for(Accesses::AsHeld, begun(), label, &mut second, around);
        if made.is_some() {
            first = second;
        }
    }
    if !left.problems.is_empty() {
        // What was refused elsewhere, in a helper say, may be the reason of a broken rule.
        first.problems.retain(|one| one.code != Code::Bug);
    }
    left.extend(first);
    made
}

fn lower_for(
    accesses: Accesses,
    begun: Begun<'_>,
    label: &str,
    left: &mut Left,
    around: Around<'_>,
) -> Option<Made> {
    let Begun { name, mut kernel, assumed, explored } = begun;
    let dump = around.options.dump;
    let mut keep = |stage: &str, text: &dyn Fn() -> String| {
        if dump {
            left.dumps.push((format!("{label}-{name}.{stage}"), text()));
        }
    };
    keep("ir", &|| kernel.to_string());
    if let Some(times) = around.times {
        times.begin_variant();
    }
    holds(ir::verify(&kernel), "building", &mut left.problems)?;
    around.ended(Phase::Verify);
    schedule::bounds(&mut kernel);
    schedule::pipeline::pipeline(&mut kernel);
    schedule::rotate(&mut kernel);
    let scheduled = schedule::meet_at_the_end(&mut kernel)
        .and_then(|()| schedule::fences(&mut kernel))
        .and_then(|()| schedule::order_issuing_thread(&mut kernel));
    let scheduled = scheduled.map_err(|unsettled| unsettled.to_string());
    holds(scheduled, "scheduling", &mut left.problems)?;
    around.ended(Phase::Schedule);
    keep("schedule", &|| kernel.to_string());
    let order = explored.map(|written| explore::explore(&kernel, written));
    if let Some(Explored { verdict, .. }) = &order {
        let verdict = *verdict;
        let shown = explore::Shown { verdict, params: &kernel.params, places: around.places };
        keep("order", &|| shown.to_string());
    }
    around.ended(Phase::Explore);
    let inferred = infer(&mut kernel, accesses, &mut left.problems, around)?;
    keep("layouts", &|| {
        lower::annotated(
            &kernel,
            &inferred.layouts,
            &inferred.shared,
            Some(&|loc| around.places.line_column(loc).0),
        )
    });
    let lowered = lower_in_budget(&kernel, &inferred, &mut left.problems, around)?;
    around.ended(Phase::Lower);
    let ptx = lowered.module.to_string();
    around.ended(Phase::Print);
    keep("ptx", &|| ptx.clone());
    if let Some(times) = around.times {
        keep("times", &|| times.text());
    }
    let checks = checks_by_line(&ptx, lowered.checks);
    let wished = if lowered.maps.is_empty() {
        Vec::new()
    } else {
        let known = layouts::analyze(&kernel);
        layouts::tma::Planning { kernel: &kernel, known: &known, layouts: &inferred.shared }
            .wished()
    };
    let variant = Variant {
        name,
        entry: lowered.entry,
        ptx,
        cubins: Vec::new(),
        shared_bytes: lowered.shared_bytes,
        tensor_columns: layouts::tensor_memory::allocated(&kernel),
        requires: assumed,
        maps: lowered.maps,
        names: lowered.names,
        checks,
    };
    Some(Made { variant, wished, order })
}

/// What is said of each `trap` of a text, with its line.
fn checks_by_line(ptx: &str, checks: Vec<Option<String>>) -> Vec<(u32, String)> {
    let traps = (1..).zip(ptx.lines()).filter(|(_, line)| line.ends_with("trap;"));
    traps.zip(checks).filter_map(|((line, _), says)| Some((line, says?))).collect()
}

/// Gives every tile a layout, and orders accesses as the layouts ask for.
fn infer(
    kernel: &mut Kernel,
    accesses: Accesses,
    problems: &mut Problems,
    around: Around<'_>,
) -> Option<Inferred> {
    let inferred = match layouts::infer_for(kernel, accesses) {
        Ok(inferred) => inferred,
        Err(list) => {
            for problem in list {
                problems.push(problem.into_diagnostic());
            }
            return None;
        }
    };
    for idle in &inferred.idle {
        problems.warn(idle.clone().into_diagnostic());
    }
    let ordered = schedule::order(kernel, &inferred.layouts)
        .and_then(|()| schedule::tensor_meetings(kernel, &inferred.layouts));
    holds(ordered.map_err(|unsettled| unsettled.to_string()), "layout inference", problems)?;
    around.ended(Phase::Layouts);
    let sound = ir::verify(kernel).and_then(|()| layouts::verify(kernel, &inferred));
    holds(sound, "layout inference", problems)?;
    around.ended(Phase::Verify);
    Some(inferred)
}

/// The PTX of a kernel, if a block can have its shared memory.
fn lower_in_budget(
    kernel: &Kernel,
    inferred: &Inferred,
    problems: &mut Problems,
    around: Around<'_>,
) -> Option<Lowered> {
    let file = file_of(around);
    let line_of = |loc| around.places.line_column(loc);
    let mut lowered = lower::run(kernel, &inferred.layouts, &inferred.shared, &file, &line_of);
    let blocks =
        schedule::blocks_per_multiprocessor(kernel, &inferred.layouts, lowered.shared_bytes);
    if let Some(blocks) = blocks {
        for function in &mut lowered.module.functions {
            function.directives.push(kernel_ptx::Directive::MinBlocks(blocks));
        }
    }
    let limit = kernel.target.hardware().shared_bytes_per_block;
    if lowered.shared_bytes <= limit {
        return Some(lowered);
    }
    // The allocations alone fit, or `elaborate` would have said so.
    let (loc, exchanged) = lowered.widest_exchange.unwrap_or((Loc::KERNEL, 0));
    problems.push(
        Diagnostic::new(
            Code::SharedBudget,
            loc,
            format!("a block on {} cannot have this much shared memory", kernel.target),
        )
        .compare("bytes", format!("at most {limit}"), lowered.shared_bytes)
        .why(format!(
            "this operation exchanges its values between threads through {exchanged} bytes of shared memory; allocations still in use count as well. A smaller tile, or a narrower element type before the operation, needs less"
        )),
    );
    None
}

/// The invariants of the IR hold, or the compiler itself is at fault.
fn holds(sound: Result<(), String>, after: &str, problems: &mut Problems) -> Option<()> {
    let Err(text) = sound else { return Some(()) };
    if !problems.is_empty() {
        // What was refused elsewhere, in a helper say, may be the reason.
        return None;
    }
    problems.push(
        Diagnostic::new(Code::Bug, Loc::KERNEL, format!("the compiler broke its own rules after {after}"))
            .why(text)
            .help("please report this with the kernel's source; `KILN_DUMP=DIR cargo build` writes what the compiler saw"),
    );
    None
}

/// The path as it may appear in PTX: relative as rustc gives it for workspace members, else the file's name alone.
pub(super) fn relative(file: &str) -> String {
    let absolute = file.starts_with('/') || file.contains(':');
    let parts = file.rsplit(['/', '\\']);
    if absolute {
        parts.into_iter().next().unwrap_or(file).to_owned()
    } else {
        file.replace('\\', "/")
    }
}

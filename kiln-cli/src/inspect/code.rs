//! Loops, PTX and machine code as text, kernel by kernel.

use std::fmt::Write as _;

use super::ideal::{self, Ideal};
use super::loops::Loop;
use super::report::{Kernel, Report};
use super::source::{Code, Listing};
use super::text::title_of;
use super::tools::HOW;

const INFALLIBLE: &str = "a String takes everything";

/// A kernel's name, instance, target and variant in a line.
pub fn heading(kernel: &Kernel) -> String {
    let label = &kernel.label;
    let instance = if label.instance.is_empty() { "" } else { " " };
    format!(
        "{}{instance}{} {} {}",
        title_of(kernel),
        label.instance,
        kernel.figures.target,
        label.variant
    )
}

/// The loops of each kernel, with what their instructions do.
pub fn loops(report: &Report) -> String {
    let mut text = String::new();
    for kernel in &report.kernels {
        writeln!(text, "{}", heading(kernel)).expect(INFALLIBLE);
        if kernel.loops.is_empty() {
            writeln!(text, "  no loop").expect(INFALLIBLE);
        }
        for one in &kernel.loops {
            text += &of_loop(one, kernel);
        }
        text.push('\n');
    }
    text + "The instructions of a loop are those of its PTX, without loops within it. FLOP a byte: multiplications and additions of the tensor\n\
            cores for each byte that comes from global memory, if all warps of the block run the loop and all its copies happen.\n\
            Least cycles: what the tensor cores need at their full rate, what the bandwidth of memory needs if no cache holds anything, and what\n\
            four schedulers need to issue the PTX instructions, for a block that has a multiprocessor to itself. In an ideal loop, the tensor\n\
            cores, or else global memory, take longest. There is time for other instructions while a tensor-core instruction runs.\n"
}

fn of_loop(one: &Loop, kernel: &Kernel) -> String {
    let indent = "  ".repeat(one.depth + 1);
    let line = lines(one).map_or(String::new(), |lines| format!(", {lines}"));
    let mut text = format!("{indent}{}{line}: {} instructions: ", one.label, one.mix.all());
    let parts = one.mix.present().map(|(class, count)| format!("{count} {}", class.text()));
    text += &parts.collect::<Vec<_>>().join(", ");
    text.push('\n');
    if let Some(facts) = facts(one, kernel) {
        writeln!(text, "{indent}  {facts}").expect(INFALLIBLE);
    }
    if let Some(ideal) = ideal(one, kernel) {
        writeln!(text, "{indent}  {}", ideal.text()).expect(INFALLIBLE);
    }
    text
}

/// The lines of the source that a loop comes from.
pub fn lines(one: &Loop) -> Option<String> {
    one.lines.map(|[first, last]| match last - first {
        0 => format!("line {first}"),
        _ => format!("lines {first} to {last}"),
    })
}

/// What a loop with products, copies or waits is measured by.
pub fn facts(one: &Loop, kernel: &Kernel) -> Option<String> {
    let mut parts = Vec::new();
    let threads = kernel.figures.threads;
    let ideal = ideal(one, kernel);
    if let Some(others) = one.others_of_product() {
        let room = ideal.and_then(|ideal| ideal.room(one));
        let room = room.map_or(String::new(), |room| format!(" (there is time for {room:.0})"));
        parts
            .push(format!("{others:.1} other instructions for each tensor-core instruction{room}"));
    }
    if let Some(flops) = threads.and_then(|threads| one.work.intensity(threads)) {
        parts.push(format!("{flops:.0} FLOP a byte"));
    }
    match one.waits {
        0 => {}
        1 => parts.push("1 wait on a barrier".to_owned()),
        waits => parts.push(format!("{waits} waits on barriers")),
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The least time of an iteration, on the GPU that the target is made for.
pub fn ideal(one: &Loop, kernel: &Kernel) -> Option<Ideal> {
    ideal::of(one, kernel.figures.threads?, kernel.figures.target.hardware())
}

/// Which code is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// What the compiler wrote.
    Ptx,
    /// What the assembler made of it.
    Sass,
}

/// The code of each kernel below the lines of the source that it comes from, in the order of the program.
pub fn listing(report: &Report, language: Language) -> String {
    let mut text = String::new();
    for kernel in &report.kernels {
        let listing = match language {
            Language::Ptx => Some(&kernel.ptx),
            Language::Sass => kernel.sass.as_ref(),
        };
        writeln!(text, "{}", heading(kernel)).expect(INFALLIBLE);
        match listing {
            Some(listing) => text += &below_source(listing, report),
            None => writeln!(text, "  {}", why_none(report)).expect(INFALLIBLE),
        }
        text.push('\n');
    }
    text
}

/// Why there is no machine code.
pub fn why_none(report: &Report) -> String {
    if report.tools.ptxas.is_none() {
        format!("no machine code: there is no ptxas. {HOW}.")
    } else if report.tools.nvdisasm.is_none() {
        "no machine code: there is no nvdisasm beside ptxas, in CUDA_HOME, CUDA_PATH or PATH; it is part of the CUDA toolkit and of the \
         Python package nvidia-cuda-nvdisasm"
            .to_owned()
    } else {
        "no machine code: ptxas or nvdisasm refused the kernel".to_owned()
    }
}

fn below_source(listing: &Listing, report: &Report) -> String {
    let mut text = String::new();
    for block in &listing.0 {
        if let Some(place) = &block.place {
            let source = report.sources.iter().find(|source| source.name == place.file);
            let line = source.and_then(|source| source.line(place.line)).unwrap_or_default();
            writeln!(text, "{}:{}  {}", place.file, place.line, line.trim()).expect(INFALLIBLE);
        }
        for code in &block.code {
            match code {
                Code::Instruction(code) => writeln!(text, "    {code}").expect(INFALLIBLE),
                Code::Label(label) => writeln!(text, "  {label}").expect(INFALLIBLE),
            }
        }
    }
    text
}

//! What a kernel for Blackwell costs, as its text says: registers and spills by NVIDIA's assembler, and the instructions of the
//! loop that starts products.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The instructions of a loop, by what they do.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// `tcgen05.mma`.
    products: usize,
    /// `tcgen05.cp` and copies by TMA.
    copies: usize,
    /// Waits for an mbarrier, as often as they stand there.
    waits: usize,
    /// `tcgen05.commit`, fences, arrivals and barriers.
    synchronises: usize,
    /// Everything else: addresses, counters, branches, predicates.
    others: usize,
}

impl Counts {
    fn add(&mut self, instruction: &str) {
        let is = |name: &str| instruction.starts_with(name);
        let count = if is("tcgen05.mma") {
            &mut self.products
        } else if is("tcgen05.cp") || is("cp.async.bulk") {
            &mut self.copies
        } else if is("mbarrier.try_wait") || is("mbarrier.test_wait") {
            &mut self.waits
        } else if ["tcgen05.commit", "tcgen05.fence", "fence.", "mbarrier.", "bar.", "barrier."]
            .into_iter()
            .any(is)
        {
            &mut self.synchronises
        } else {
            &mut self.others
        };
        *count += 1;
    }
}

/// A line of PTX, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
enum Line<'t> {
    Label(&'t str),
    /// An instruction without its guard, and where it jumps to, if it does.
    Instruction(&'t str, Option<&'t str>),
}

/// The labels and instructions of a text, one a line.
fn lines(text: &str) -> Vec<Line<'_>> {
    text.lines()
        .filter_map(|line| read(line.split("//").next().unwrap_or_default().trim()))
        .collect()
}

fn read(line: &str) -> Option<Line<'_>> {
    if let Some(label) = line.strip_suffix(':') {
        return Some(Line::Label(label));
    }
    let line = line.strip_suffix(';')?;
    let line = match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace)?.1.trim(),
        None => line,
    };
    let is_instruction = line.starts_with(|first: char| first.is_ascii_lowercase());
    let target = line.strip_prefix("bra").and_then(|rest| rest.split_whitespace().last());
    is_instruction.then_some(Line::Instruction(line, target))
}

/// The innermost loop around the first product: from a label to the last jump back to it. Loops that only wait are none.
fn product_loop(lines: &[Line<'_>]) -> Option<Counts> {
    let is_product = |line: &Line<'_>| matches!(line, Line::Instruction(text, _) if text.starts_with("tcgen05.mma"));
    let product = lines.iter().position(is_product)?;
    let mut innermost: Option<(usize, usize)> = None;
    for (end, line) in lines.iter().enumerate().skip(product) {
        let Line::Instruction(_, Some(target)) = line else { continue };
        // Labels in braces may stand several times: the nearest one is meant.
        let start = lines[..end].iter().rposition(|line| *line == Line::Label(target));
        let Some(start) = start.filter(|start| *start <= product) else { continue };
        match &mut innermost {
            // A loop may jump back from several places.
            Some((known, last)) if *known == start => *last = end,
            Some((known, _)) if *known > start => {}
            _ => innermost = Some((start, end)),
        }
    }
    let (start, end) = innermost?;
    let mut counts = Counts::default();
    for line in &lines[start..=end] {
        if let Line::Instruction(text, _) = line {
            counts.add(text);
        }
    }
    Some(counts)
}

/// Registers, bytes of spills and of the stack, as the assembler says them.
fn assembled(ptxas: &Path, file: &Path) -> Result<[String; 2]> {
    let output = Command::new(ptxas)
        .args(["-arch=sm_100a", "-v", "-o", "/dev/null"])
        .arg(file)
        .output()
        .with_context(|| format!("{}", ptxas.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{}: {said}", file.display());
    }
    let before = |word: &str| {
        let (head, _) = said.split_once(word)?;
        head.split_whitespace().last().map(str::to_owned)
    };
    let registers =
        before("registers").context("the assembler says how many registers there are")?;
    let spills = before("bytes spill stores").unwrap_or_else(|| "0".to_owned());
    Ok([registers, spills])
}

/// The example and the instance of `KILN_DUMP`'s `NAME-examples.NAME-LINE-KERNEL-INSTANCE`; any other name as it is.
fn readable(name: &str) -> String {
    let parts: Vec<&str> = name.splitn(4, '-').collect();
    match parts[..] {
        [example, place, _, rest] if place.starts_with("examples.") => {
            format!("{example}: {}", rest.replace('-', " "))
        }
        _ => name.to_owned(),
    }
}

/// Prints a line for each file, or each `.ptx` file of a folder, in the order of their names: a table in Markdown.
///
/// # Errors
/// No file, one that cannot be read, or one that the assembler that `KILN_PTXAS` names refuses.
pub(crate) fn run(paths: &[PathBuf]) -> Result<usize> {
    let ptxas = std::env::var_os("KILN_PTXAS").map(PathBuf::from);
    let ptxas = ptxas.context(
        "KILN_PTXAS names no assembler; there is one in the PyPI package nvidia-cuda-nvcc",
    )?;
    if paths.is_empty() {
        bail!(
            "cargo xtask loops FOLDER_OR_PTX..: those that `KILN_DUMP=FOLDER cargo build` wrote, for one"
        );
    }
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            for entry in std::fs::read_dir(path)? {
                let file = entry?.path();
                files.extend(
                    Some(file).filter(|file| file.extension().is_some_and(|one| one == "ptx")),
                );
            }
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    let mut table = String::from(
        "| kernel | registers | spilled bytes | products | copies | waits | commits, fences, arrivals | others |\n|---|---|---|---|---|---|---|---|\n",
    );
    for file in &files {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        if !text.contains(".target sm_100a") {
            continue;
        }
        let [registers, spills] = assembled(&ptxas, file)?;
        let name = readable(&file.file_stem().unwrap_or_default().to_string_lossy());
        let counts = match product_loop(&lines(&text)) {
            Some(counts) => format!(
                "{} | {} | {} | {} | {}",
                counts.products, counts.copies, counts.waits, counts.synchronises, counts.others
            ),
            None => "- | - | - | - | -".to_owned(),
        };
        writeln!(table, "| {name} | {registers} | {spills} | {counts} |")?;
    }
    print!("{table}");
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::{Counts, lines, product_loop, readable};

    /// A loop within a loop, with one that waits inside, and behind it one whose label has the same name.
    const TEXT: &str = "
$outer:
	add.s32 %r1, %r1, 1;
$inner: // of the depth
	.loc 1 2 3
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r3;
	@!%p1 bra $wait;
	tcgen05.fence::after_thread_sync;
	@%p2 tcgen05.cp.cta_group::1.128x256b [%r4], %rd1;
	@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd1, %rd2, %r5, %p3;
	@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd1, %rd2, %r5, %p3;
	@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6];
	add.s32 %r7, %r7, 64;
	setp.lt.s32 %p4, %r7, %r8;
	@%p4 bra $inner;
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r3;
	@!%p1 bra $wait;
	setp.lt.s32 %p5, %r1, %r9;
	@%p5 bra.uni $outer;
	ret;
";

    #[test]
    fn the_innermost_loop_around_a_product_is_counted() {
        let required = Counts { products: 2, copies: 1, waits: 1, synchronises: 2, others: 4 };
        assert_eq!(product_loop(&lines(TEXT)), Some(required));
        let without = TEXT.replace("tcgen05.mma", "tcgen05.shift");
        assert_eq!(product_loop(&lines(&without)), None);
    }

    #[test]
    fn dumps_are_called_by_their_example() {
        let name = "gather-examples.gather-25-gather-T=f32-X=8-sm_100a-aligned";
        assert_eq!(readable(name), "gather: gather T=f32 X=8 sm_100a aligned");
        assert_eq!(readable("tcmma_f16_sm100a"), "tcmma_f16_sm100a");
    }
}

//! Runs the programs for Blackwell on the emulator, in every configuration of the pages that they come from: the tutorials on gather and scatter and
//! on copies to tensor memory of Gluon, and the copy to tensor memory of `TIRx`.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, bail};

/// An example, and what it is given.
struct Program {
    example: &'static str,
    sizes: Sizes,
}

#[derive(Clone, Copy)]
enum Sizes {
    /// It has its configurations in itself.
    Own,
    /// The extents of a product, which are those of the pages: the smaller ones, or with `--large` the larger ones.
    Product,
}

const PROGRAMS: [Program; 9] = [
    Program { example: "gather", sizes: Sizes::Own },
    Program { example: "scatter", sizes: Sizes::Own },
    Program { example: "tcgen05_copy", sizes: Sizes::Own },
    Program { example: "tcgen05_copy_replica", sizes: Sizes::Own },
    Program { example: "matmul_gather_scatter_tcgen05", sizes: Sizes::Product },
    Program { example: "matmul_accumulate_tcgen05", sizes: Sizes::Product },
    Program { example: "matmul_scaled", sizes: Sizes::Product },
    Program { example: "matmul_two_cta", sizes: Sizes::Product },
    Program { example: "matmul_tcgen05", sizes: Sizes::Product },
];

/// What all of them may take on two cores.
const MOST_SECONDS: f64 = 480.0;

/// Which extents products have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extents {
    /// 1024 × 1024 × 2048.
    Small,
    /// 4096 each.
    Large,
}

/// Builds the programs with optimisation, runs one after the other, and prints a line for each. Gives how many failed.
///
/// # Errors
/// Programs that cannot be built or started.
pub(crate) fn run(root: &Path, extents: Extents) -> Result<usize> {
    let folder = build(root)?;
    let mut failed = 0;
    let start = Instant::now();
    for program in &PROGRAMS {
        let arguments: &[&str] = match (program.sizes, extents) {
            (Sizes::Own, _) => &[],
            (Sizes::Product, Extents::Small) => &["1024", "1024", "2048"],
            (Sizes::Product, Extents::Large) => &["--large"],
        };
        let before = Instant::now();
        let output = Command::new(folder.join(program.example))
            .args(arguments)
            .env("KILN_DEVICE", "emulator")
            .output()
            .with_context(|| program.example.to_owned())?;
        let seconds = before.elapsed().as_secs_f64();
        let verdict = if output.status.success() { "passed" } else { "FAILED" };
        println!("{verdict} {seconds:7.2} s  {} {}", program.example, arguments.join(" "));
        if !output.status.success() {
            failed += 1;
            println!("{}", String::from_utf8_lossy(&output.stdout));
            println!("{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let limit = match extents {
        Extents::Small => format!(" of {MOST_SECONDS} s that they may take on two cores"),
        Extents::Large => String::new(),
    };
    println!("{} programs, {failed} failed, {seconds:.1} s{limit}", PROGRAMS.len());
    Ok(failed)
}

/// Gives the folder of the programs.
fn build(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--quiet", "--release", "--package", "kiln-gpu"]);
    for program in &PROGRAMS {
        command.args(["--example", program.example]);
    }
    // Where cargo puts them, it says itself.
    command.arg("--message-format=json-render-diagnostics");
    let output = command.stderr(std::process::Stdio::inherit()).output().context("cargo build")?;
    if !output.status.success() {
        bail!("the examples cannot be built");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let folder = messages.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(Path::new(message["executable"].as_str()?).parent()?.to_owned())
    });
    folder.context("cargo built no program")
}

#[cfg(test)]
mod tests {
    use super::PROGRAMS;

    /// One that is not here would be run at its smallest size only.
    #[test]
    fn every_example_for_blackwell_alone_is_here() {
        let folder = crate::repository::root().join("examples");
        let mut examples = Vec::new();
        for entry in folder.read_dir().expect("the examples are there") {
            let path = entry.expect("the folder can be read").path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text.contains("target = sm_100f") {
                let name = path.file_stem().expect("a file has a name");
                examples.push(name.to_string_lossy().into_owned());
            }
        }
        examples.sort();
        let mut programs = PROGRAMS.map(|program| program.example.to_owned());
        programs.sort();
        assert_eq!(programs.to_vec(), examples);
    }
}

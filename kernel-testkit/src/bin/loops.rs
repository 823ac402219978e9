//! Prints what kernels for Blackwell cost, as a table in Markdown: those of the examples, or those of PTX files.
//!
//! `cargo xtask loops [PTX..]`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use kernel_testkit::{
    Assembler, examples,
    ideal::{self, Ideal},
    instructions::Part,
};

/// What a text costs: a row of the table without its name.
#[derive(PartialEq, Eq)]
struct Cost {
    registers: u32,
    spilled_bytes: u32,
    /// Declared with a size, and asked for by the launch; unknown where nothing says what the launch asks for.
    shared_bytes: Option<u32>,
    part: Part,
    ideal: Option<Ideal>,
}

impl Cost {
    fn row(&self, name: &str) -> String {
        let counts = self.part.counts();
        let beside = |actual: usize, ideal: Option<usize>| {
            ideal.map_or(actual.to_string(), |ideal| format!("{actual} ({ideal})"))
        };
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.registers,
            self.spilled_bytes,
            self.shared_bytes.map_or("-".to_owned(), |bytes| bytes.to_string()),
            if matches!(self.part, Part::Loop(_)) { "step" } else { "kernel" },
            beside(counts.products, self.ideal.map(|ideal| ideal.products)),
            beside(counts.copies, self.ideal.map(|ideal| ideal.copies)),
            beside(counts.waits, self.ideal.map(|ideal| ideal.waits)),
            counts.synchronises,
            counts.others,
        )
    }
}

const HEAD: &str = "\
| kernel | registers | spilled bytes | shared bytes | of a | products (ideal) | copies (ideal) | waits (ideal) | commits, fences, arrivals | others |
|---|---|---|---|---|---|---|---|---|---|";

/// The architecture of the examples that the table is about. PTX of other compilers is assembled for the one that it names.
const TARGET: &str = "sm_100f";

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let scratch = std::env::temp_dir().join(format!("kiln-loops-{}", std::process::id()));
    let result =
        std::fs::create_dir_all(&scratch).map_err(|error| error.to_string()).and_then(|()| {
            let assembler = Assembler::named(&scratch).ok_or(
                "KILN_PTXAS names no assembler; there is one in the PyPI package nvidia-cuda-nvcc",
            )?;
            println!("ptxas {}, {TARGET}\n\n{HEAD}", assembler.version()?);
            if files.is_empty() { of_examples(&assembler) } else { of_files(&assembler, &files) }
        });
    // What is left there is the system's to remove.
    let _ = std::fs::remove_dir_all(&scratch);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A row for each instance of each kernel; variants that cost the same share one.
fn of_examples(assembler: &Assembler) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for example in examples::all(&folder)? {
        if !example.names(TARGET) || example.multiplies_in_registers() {
            continue;
        }
        for build in example.compiled().builds()? {
            if build.target != TARGET {
                continue;
            }
            let ideal = ideal::of(&example.example, &build.generics);
            let mut costs: Vec<(Vec<&str>, Cost)> = Vec::new();
            for variant in &build.variants {
                let assembled = assembler.assemble("kernel", &variant.ptx, TARGET)?;
                let cost = Cost {
                    registers: assembled.registers,
                    spilled_bytes: assembled.spilled_bytes,
                    shared_bytes: Some(assembled.shared_bytes + variant.shared_bytes),
                    part: Part::of(&variant.ptx),
                    ideal,
                };
                match costs.iter_mut().find(|(_, known)| *known == cost) {
                    Some((names, _)) => names.push(variant.name),
                    None => costs.push((vec![variant.name], cost)),
                }
            }
            let generics: Vec<String> =
                build.generics.iter().map(|(name, value)| format!("{name}={value}")).collect();
            for (names, cost) in costs {
                let name =
                    format!("{} {}: {}", example.name(), generics.join(" "), names.join(", "));
                println!("{}", cost.row(&name));
            }
        }
    }
    Ok(())
}

/// A row for each file. What its launch asks for, a description of it beside it says.
fn of_files(assembler: &Assembler, files: &[PathBuf]) -> Result<(), String> {
    for file in files {
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| said(&error))?;
        let target = text.lines().find_map(|line| line.strip_prefix(".target "));
        let target = target.and_then(|names| names.split(',').next()).map(str::trim);
        let target = target.ok_or_else(|| said(&"no .target"))?;
        let assembled =
            assembler.assemble_foreign("kernel", &text, target).map_err(|error| said(&error))?;
        let launch = std::fs::read_to_string(file.with_extension("json")).ok();
        let cost = Cost {
            registers: assembled.registers,
            spilled_bytes: assembled.spilled_bytes,
            shared_bytes: launch.as_deref().and_then(asked).map(|b| b + assembled.shared_bytes),
            part: Part::of(&text),
            ideal: None,
        };
        println!("{}", cost.row(&file.file_stem().unwrap_or_default().to_string_lossy()));
    }
    Ok(())
}

/// The shared memory that a launch description asks for.
fn asked(description: &str) -> Option<u32> {
    let (_, rest) = description.split_once("\"dynamic_shared_bytes\":")?;
    rest.split([',', '}']).next()?.trim().parse().ok()
}

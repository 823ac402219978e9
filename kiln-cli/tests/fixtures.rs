//! Launch descriptions with the results that they must have: those of `tests/fixtures`, written by hand, and kernels that
//! another compiler made, in the folder that `KILN_FIXTURES` names, or else in `shared/fixtures` beside the repository.
//! Where there is no such folder, that is said.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use kiln_cli::command::{self, RunPtx, Tally};
use kiln_cli::{Launch, run};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = descriptions(&package.join("tests/fixtures"));
    assert!(!own.is_empty(), "the kernels written by hand are part of the repository");
    let mut trials: Vec<Trial> =
        own.into_iter().flat_map(|file| [read(&file), passes(&file)]).collect();
    let named = std::env::var_os("KILN_FIXTURES").map(PathBuf::from);
    let others = named.unwrap_or_else(|| package.join("../../shared/fixtures"));
    let foreign = descriptions(&others);
    if !args.list && foreign.is_empty() {
        eprintln!(
            "left out: kernels of another compiler, there are none in {} (KILN_FIXTURES names another folder)",
            others.display()
        );
    }
    trials.extend(foreign.iter().flat_map(|file| [read(file), passes(file)]));
    libtest_mimic::run(&args, trials).exit_code()
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The descriptions in a folder, in the order of their names; none where there is no folder.
fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    files
}

/// The description is understood, and its buffers start with the recorded bytes.
fn read(file: &Path) -> Trial {
    let path = file.to_owned();
    Trial::test(format!("read::{}", stem(file)), move || {
        let launch = Launch::read(&path)?;
        for buffer in &launch.buffers {
            if buffer.init_sha256.is_none() {
                return Err(Failed::from(format!("`{}` has no digest to start with", buffer.name)));
            }
            // This compares the digest.
            run::initial(buffer)?;
        }
        Ok(())
    })
}

/// The kernel gives what the description says.
fn passes(file: &Path) -> Trial {
    let path = file.to_owned();
    Trial::test(format!("run::{}", stem(file)), move || {
        let mut output = Vec::new();
        let command = RunPtx { files: vec![path.clone()], ..RunPtx::default() };
        let tally = command::run_ptx(&command, &mut output)?;
        if tally == (Tally { passed: 1, failed: 0 }) {
            return Ok(());
        }
        Err(Failed::from(String::from_utf8_lossy(&output)))
    })
}

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

/// What the kernels of the other compiler need that the emulator executes; of the others only the description is read.
const RUN: [&str; 16] = [
    "cluster2_softmax_sm90a",
    "cpasync_gemm_f16_sm80",
    "desc_reduce_add_sm90a",
    "gather_bf16_8x16_sm100a",
    "gather_f32_128x128_sm100a",
    "gemm_desc_sm90a",
    "gemm_ptr_f32_tf32_sm80",
    "scatter_bf16_8x16_sm100a",
    "softmax_sm80",
    "sum_rows_sm90a",
    "tma_copy_f32_sm90a",
    "tma_store_iota_sm90a",
    "vec_add_sm80",
    "wgmma_f16_64x128x64_sm90a",
    "wgmma_f16_aregs_64x64x64_sm90a",
    "ws_gemm_256x384x192_sm90a",
];

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
    let runs = |file: &&PathBuf| RUN.iter().any(|name| stem(file) == *name);
    if !args.list {
        let only_read = foreign.iter().filter(|file| !runs(file)).count();
        if foreign.is_empty() {
            eprintln!(
                "left out: kernels of another compiler, there are none in {} (KILN_FIXTURES names another folder)",
                others.display()
            );
        } else if only_read > 0 {
            eprintln!("left out: {only_read} kernels of another compiler are read, but not run");
        }
    }
    trials.extend(foreign.iter().map(|file| read(file)));
    trials.extend(foreign.iter().filter(runs).map(|file| passes(file)));
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

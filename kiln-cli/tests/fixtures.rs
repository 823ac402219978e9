//! Kernels that another compiler made: run where the folder with them lies beside the repository.

use std::path::{Path, PathBuf};

use kiln_cli::command::{self, RunPtx, Tally};
use kiln_cli::{Launch, run};

/// The folder of the kernels; `None`, said aloud, where there is none.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn folder(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("{test}: left out, there is no folder {}", folder.display());
    None
}

fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folder
        .read_dir()
        .expect("the folder is readable")
        .map(|entry| entry.expect("its entries are too").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_description_is_read_and_its_buffers_start_with_the_recorded_bytes() {
    let Some(folder) = folder("descriptions") else { return };
    let files = descriptions(&folder);
    assert!(!files.is_empty(), "a folder of fixtures holds some");
    for file in files {
        let launch = Launch::read(&file).unwrap_or_else(|error| panic!("{error}"));
        for buffer in &launch.buffers {
            assert!(buffer.init_sha256.is_some(), "{}: {}", launch.name, buffer.name);
            // This compares the digest.
            run::initial(buffer).unwrap_or_else(|error| panic!("{}: {error}", launch.name));
        }
    }
}

fn passes(names: &[&str]) {
    let Some(folder) = folder(&names.join(", ")) else { return };
    let files = names.iter().map(|name| folder.join(format!("{name}.json"))).collect();
    let mut output = Vec::new();
    let command = RunPtx { files, ..RunPtx::default() };
    let tally = command::run_ptx(&command, &mut output).expect("a vector can be written");
    let text = String::from_utf8_lossy(&output);
    assert_eq!(tally, Tally { passed: names.len(), failed: 0 }, "{text}");
}

#[test]
fn elementwise_kernels_and_reductions_pass() {
    passes(&["vec_add_sm80", "softmax_sm80", "sum_rows_sm90a", "cluster2_softmax_sm90a"]);
}

#[test]
fn matmuls_by_warp_matrix_instructions_pass() {
    passes(&["cpasync_gemm_f16_sm80", "gemm_ptr_f32_tf32_sm80"]);
}

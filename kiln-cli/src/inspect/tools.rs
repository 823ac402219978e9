//! NVIDIA's assembler and disassembler: where they are, and the folder for their files.
//!
//! `KILN_PTXAS` names ptxas, which is otherwise searched for in `CUDA_HOME`, `CUDA_PATH` and `PATH`, as for `KILN_CUBIN`. nvdisasm is
//! taken from beside ptxas, or found by the same search.

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Names the assembler.
const ASSEMBLER: &str = "KILN_PTXAS";
/// Where toolkits are.
const TOOLKITS: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// How to have the assembler, for those who have none.
pub const HOW: &str = "KILN_PTXAS names it, or CUDA_HOME, CUDA_PATH or PATH have it; it is part of the CUDA toolkit and of the Python \
                       package nvidia-cuda-nvcc";

/// The programs that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    /// ptxas.
    pub ptxas: Option<PathBuf>,
    /// nvdisasm.
    pub nvdisasm: Option<PathBuf>,
}

impl Tools {
    /// Those that the environment names, or that are where toolkits are.
    pub fn found() -> Tools {
        let ptxas = named(ASSEMBLER).or_else(|| searched("ptxas"));
        let beside = ptxas.as_ref().and_then(|ptxas| {
            let file = ptxas.parent()?.join(program("nvdisasm"));
            file.is_file().then_some(file)
        });
        Tools { nvdisasm: beside.or_else(|| searched("nvdisasm")), ptxas }
    }
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn program(name: &str) -> String {
    if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() }
}

fn searched(name: &str) -> Option<PathBuf> {
    let toolkits = TOOLKITS.into_iter().filter_map(named).map(|folder| folder.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = toolkits.chain(std::env::split_paths(&path));
    folders.find_map(|folder| Some(folder.join(program(name))).filter(|file| file.is_file()))
}

/// Runs a program and gives what it printed.
///
/// # Errors
/// When it cannot be run, or fails; with what it said.
pub fn run(program: &Path, arguments: &[&OsStr]) -> Result<Output, String> {
    let name = program.display();
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{name} cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said =
        if said.trim().is_empty() { output.status.to_string() } else { said.trim().to_owned() };
    Err(format!("{name}: {said}"))
}

/// A folder that is removed with this value, and that nobody else writes to.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new one among the temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Folder, String> {
        let place = std::env::temp_dir();
        let mut builder = DirBuilder::new();
        // The place is shared, and others may have put links where this process is going to write.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut number = 0_u64;
        loop {
            let path = place.join(format!("kiln-inspect-{}-{number}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is of no use to anybody, and no reason to fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

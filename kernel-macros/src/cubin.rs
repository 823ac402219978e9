//! Machine code made while the program is built, for devices that the environment names.
//!
//! `KILN_CUBIN=sm_90a,sm_80` asks for it; `KILN_PTXAS` names the assembler, which is looked for in `CUDA_HOME`, `CUDA_PATH` and
//! `PATH` otherwise. A device that is not named compiles the PTX when it loads the kernel, as always.

use kernel_core::Cubin;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Names the architectures.
const VARIABLE: &str = "KILN_CUBIN";

/// What went wrong since it was last asked for: the compiler has no word for it.
static FAILED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What makes machine code, if the environment asks for any.
pub(crate) fn assemble() -> Option<kernel_core::Assemble> {
    let asked = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty());
    asked.then_some(all as kernel_core::Assemble)
}

/// The messages since the last call.
pub(crate) fn failures() -> Vec<String> {
    std::mem::take(&mut FAILED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn all(ptx: &str, target: &str) -> Vec<Cubin> {
    match named(target).and_then(|names| {
        names.into_iter().map(|name| one(ptx, name)).collect::<Result<Vec<_>, _>>()
    }) {
        Ok(cubins) => cubins,
        Err(message) => {
            let mut failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
            if !failed.contains(&message) {
                failed.push(message);
            }
            Vec::new()
        }
    }
}

/// The architectures of the variable that run code for a target.
fn named(target: &str) -> Result<Vec<String>, String> {
    let value = std::env::var(VARIABLE).map_err(|error| format!("{VARIABLE}: {error}"))?;
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut wanted = Vec::new();
    for name in names {
        let Some((number, suffix)) = parts(name) else {
            return Err(format!("{VARIABLE}: `{name}` is no architecture such as sm_80 or sm_90a"));
        };
        let Some((own, own_suffix)) = parts(target) else { continue };
        let runs = if own_suffix.is_empty() { number >= own } else { target == name };
        if runs && !wanted.iter().any(|known| known == name) {
            wanted.push(format!("sm_{number}{suffix}"));
        }
    }
    Ok(wanted)
}

/// `sm_90a` as 90 and `a`.
fn parts(name: &str) -> Option<(u32, &str)> {
    let rest = name.strip_prefix("sm_")?;
    let digits = rest.trim_end_matches(['a', 'f']);
    let suffix = &rest[digits.len()..];
    Some((digits.parse().ok().filter(|_| suffix.len() <= 1)?, suffix))
}

fn one(ptx: &str, architecture: String) -> Result<Cubin, String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let ptxas = assembler()?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("kiln-{}-{number}", std::process::id());
    let files = Files { folder: std::env::temp_dir(), name };
    let (input, output) = (files.path("ptx"), files.path("cubin"));
    let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    std::fs::write(&input, ptx).map_err(|error| failed(&input, error))?;
    let run = Command::new(&ptxas)
        .args(["-arch", &architecture])
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .map_err(|error| failed(&ptxas, error))?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{} -arch {architecture}: {}", ptxas.display(), said.trim()));
    }
    let bytes = std::fs::read(&output).map_err(|error| failed(&output, error))?;
    Ok(Cubin { architecture, bytes })
}

/// Two files of one name, which go with this value.
struct Files {
    folder: PathBuf,
    name: String,
}

impl Files {
    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for ending in ["ptx", "cubin"] {
            // The second one is not there after an error.
            let _ = std::fs::remove_file(self.path(ending));
        }
    }
}

/// The assembler.
fn assembler() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("KILN_PTXAS").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let name = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    let toolkits = toolkits.map(|folder| PathBuf::from(folder).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = toolkits.chain(std::env::split_paths(&path));
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file())).ok_or_else(
        || format!("{VARIABLE} asks for machine code, and no ptxas is found: KILN_PTXAS names one"),
    )
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_architecture_is_a_number_and_a_letter() {
        assert_eq!(parts("sm_80"), Some((80, "")));
        assert_eq!(parts("sm_90a"), Some((90, "a")));
        assert_eq!(parts("sm_100f"), Some((100, "f")));
        for wrong in ["", "sm_", "90a", "sm_90aa", "sm_x", "compute_90", "sm_90b"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}

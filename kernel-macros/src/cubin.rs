//! Machine code made while the program is built, for architectures that the environment names.
//!
//! `KILN_CUBIN=sm_90a,sm_80` requests it. `KILN_PTXAS` names the assembler, which is otherwise searched for in
//! `CUDA_HOME`, `CUDA_PATH` and `PATH`. Other devices compile the PTX when they load the kernel, as always. Cargo
//! compiles kernels again when one of these variables except `PATH` changes, but not when the assembler changes.

use kernel_core::{Cubin, Target};
use std::{
    fs::DirBuilder,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
};

/// Names the architectures.
const VARIABLE: &str = "KILN_CUBIN";

/// Names the assembler.
const ASSEMBLER: &str = "KILN_PTXAS";

/// Where toolkits are.
const TOOLKITS: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// The function that makes machine code, if the environment requests any.
pub(crate) fn assemble() -> Option<kernel_core::Assemble> {
    is_asked().then_some(all as kernel_core::Assemble)
}

fn is_asked() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())
}

/// Items that read the variables that decide about machine code: cargo recompiles a crate when a variable changes that
/// its code reads, but does not see what a macro reads.
pub(crate) fn tracked() -> proc_macro2::TokenStream {
    // The assembler is of no interest, and changes nothing, as long as nobody asks for machine code. PATH differs too often.
    let others = [ASSEMBLER].into_iter().chain(TOOLKITS).filter(|_| is_asked());
    let names = [VARIABLE].into_iter().chain(others);
    quote::quote! {
        #(const _: ::core::option::Option<&'static str> = ::core::option_env!(#names);)*
    }
}

fn all(ptx: &str, target: &str) -> Result<Vec<Cubin>, String> {
    named(target)?.into_iter().map(|name| one(ptx, name)).collect()
}

/// The architectures of the variable that run code for a target.
fn named(target: &str) -> Result<Vec<String>, String> {
    let value = std::env::var(VARIABLE).map_err(|error| format!("{VARIABLE}: {error}"))?;
    listed(&value, target)
}

/// Those of a list that run code for a target.
fn listed(value: &str, target: &str) -> Result<Vec<String>, String> {
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut wanted = Vec::new();
    let own = Target::parse(target);
    for name in names {
        let Some(architecture) = Target::parse(name) else {
            return Err(format!("{VARIABLE}: `{name}` is no architecture such as sm_80 or sm_90a"));
        };
        let runs = own.is_some_and(|own| own.runs_on(architecture));
        if runs && !wanted.iter().any(|known| known == name) {
            wanted.push(architecture.to_string());
        }
    }
    Ok(wanted)
}

fn one(ptx: &str, architecture: String) -> Result<Cubin, String> {
    made_by(&assembler()?, &std::env::temp_dir(), ptx, architecture)
}

/// Runs an assembler on files in their own folder in `place`.
fn made_by(ptxas: &Path, place: &Path, ptx: &str, architecture: String) -> Result<Cubin, String> {
    let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    let folder = Folder::new(place).map_err(|error| failed(place, error))?;
    let (input, output) = (folder.0.join("kernel.ptx"), folder.0.join("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(|error| failed(&input, error))?;
    let run = Command::new(ptxas)
        .args(["-arch", &architecture])
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .map_err(|error| {
            format!(
                "{VARIABLE} asks for machine code, and {} cannot be run: {error}",
                ptxas.display()
            )
        })?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{} -arch {architecture}: {}", ptxas.display(), said.trim()));
    }
    let bytes = std::fs::read(&output)
        .map_err(|error| format!("{} has written no machine code: {error}", ptxas.display()))?;
    Ok(Cubin { architecture, bytes })
}

/// A folder that is removed with this value, and that nobody else writes to: the folder for temporary files is shared,
/// and others may have put links where this process is going to write.
struct Folder(PathBuf);

impl Folder {
    fn new(place: &Path) -> std::io::Result<Self> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut number = 0_u64;
        loop {
            let path = place.join(format!("kiln-{}-{number}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is of no use to anybody, and no reason to fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The assembler.
fn assembler() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(ASSEMBLER).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let name = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
    let toolkits = TOOLKITS.into_iter().filter_map(std::env::var_os);
    let toolkits = toolkits.filter(|folder| !folder.is_empty());
    let toolkits = toolkits.map(|folder| PathBuf::from(folder).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = toolkits.chain(std::env::split_paths(&path));
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file())).ok_or_else(
        || {
            format!(
                "{VARIABLE} asks for machine code, and no ptxas is found: {ASSEMBLER} names one"
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_is_made_where_the_target_runs() {
        let list = "sm_80, sm_90a,sm_100a, sm_103a,sm_90a";
        let of = |target| listed(list, target).expect("these are architectures").join(" ");
        assert_eq!(of("sm_80"), "sm_80 sm_90a sm_100a sm_103a");
        assert_eq!(of("sm_90a"), "sm_90a");
        assert_eq!(of("sm_100f"), "sm_100a sm_103a");
        for wrong in ["sm_", "90a", "sm_90aa", "sm_x", "compute_90", "sm_90b"] {
            assert!(listed(wrong, "sm_80").is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_names_are_taken_by_others_stays_theirs() -> std::io::Result<()> {
        let place = Folder::new(&std::env::temp_dir())?;
        let first = Folder::new(&place.0)?;
        let taken = first.0.clone();
        std::fs::write(taken.join("theirs"), "")?;
        let second = Folder::new(&place.0)?;
        assert_ne!(second.0, taken);
        drop(second);
        assert!(taken.join("theirs").is_file());
        drop(first);
        assert_eq!(std::fs::read_dir(&place.0)?.count(), 0);
        Ok(())
    }

    /// A script in the place of ptxas says where its files are, and who may see them.
    #[cfg(unix)]
    #[test]
    fn files_of_the_assembler_are_in_a_folder_of_this_user_and_go_with_it() -> std::io::Result<()> {
        let place = Folder::new(&std::env::temp_dir())?;
        let (text, script) = (place.0.join("text"), place.0.join("ptxas"));
        let lines = [
            "#!/bin/sh",
            "ls -ld \"$(dirname \"$3\")\" > \"$5\"",
            "cat \"$3\" >&2",
            "[ \"$2\" = sm_80 ]\n",
        ];
        std::fs::write(&text, lines.join("\n"))?;
        // A file is not executed while anybody has it open to write to it, as children that other tests start would for a moment.
        let copied = Command::new("install").args(["-m", "755"]).args([&text, &script]).status()?;
        assert!(copied.success());
        let run = |name: &str| made_by(&script, &place.0, "the text", name.to_owned());
        let made = run("sm_80").expect("the script takes sm_80");
        let listed = String::from_utf8_lossy(&made.bytes);
        assert!(listed.starts_with("drwx------"), "{listed}");
        let refused = run("sm_90a").expect_err("the script refuses sm_90a");
        assert!(refused.ends_with("ptxas -arch sm_90a: the text"), "{refused}");
        assert_eq!(std::fs::read_dir(&place.0)?.count(), 2, "the text and the script");
        Ok(())
    }

    /// What cargo looks at is what rustc writes into the list of dependencies.
    #[test]
    fn rustc_notes_the_variable_that_asks_for_machine_code() -> std::io::Result<()> {
        let folder = Folder::new(&std::env::temp_dir())?;
        let (source, list) = (folder.0.join("lib.rs"), folder.0.join("lib.d"));
        std::fs::write(&source, tracked().to_string())?;
        let run = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--crate-type=lib", "--edition=2024", "--emit=dep-info", "-o"])
            .args([&list, &source])
            .output()?;
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = std::fs::read_to_string(&list)?;
        assert!(text.contains("# env-dep:KILN_CUBIN"), "{text}");
        assert_eq!(text.contains("# env-dep:KILN_PTXAS"), is_asked(), "{text}");
        Ok(())
    }
}

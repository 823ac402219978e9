//! Runs each listing on the emulator, and compares what it prints with the file that the page includes. The messages of wrong programs are
//! those of `ui-tests/fail/book`, with the path of a user's file.
//!
//! `UPDATE_EXPECT=1 cargo test -p book --test listings [-- NAME]` writes the files of `output` anew; read them before committing them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut trials: Vec<Trial> = names().into_iter().map(listing).collect();
    trials.extend(wrong_programs().into_iter().map(wrong_program));
    libtest_mimic::run(&args, trials).exit_code()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names of all listings, as the program lists them.
fn names() -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_listings")).output().expect("cargo built it");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn listing(name: String) -> Trial {
    Trial::test(name.clone(), move || {
        let output = Command::new(env!("CARGO_BIN_EXE_listings"))
            .arg(&name)
            .env("KILN_DEVICE", "emulator")
            // The report of a race names the access that came second.
            .env("KILN_EMULATOR_THREADS", "1")
            .env_remove("KILN_STATS")
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || !errors.is_empty() {
            return Err(errors.into_owned().into());
        }
        compare(&root().join(format!("output/{name}.txt")), &String::from_utf8(output.stdout)?)
    })
}

/// The compiler's messages for the wrong programs of the book.
fn wrong_programs() -> Vec<PathBuf> {
    let folder = root().join("../ui-tests/fail/book");
    let files = fs::read_dir(&folder).expect("the folder is part of the repository");
    let mut files: Vec<PathBuf> = files
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "stderr"))
        .collect();
    files.sort();
    files
}

fn wrong_program(file: PathBuf) -> Trial {
    let name = file.file_stem().expect("it ends in .stderr").to_string_lossy().into_owned();
    Trial::test(format!("fail/{name}"), move || {
        let said = fs::read_to_string(&file)?;
        let said = said.replace(&format!("fail/book/{name}.rs"), "src/main.rs");
        compare(&root().join(format!("output/fail/{name}.txt")), &said)
    })
}

/// Compares a text with what the file has, or writes it there.
fn compare(file: &Path, said: &str) -> Result<(), Failed> {
    let expected = fs::read_to_string(file).unwrap_or_default();
    if said == expected {
        return Ok(());
    }
    if env::var_os("UPDATE_EXPECT").is_some() {
        let folder = file.parent().expect("it is in a folder of `output`");
        fs::create_dir_all(folder)?;
        return Ok(fs::write(file, said)?);
    }
    Err(format!("{}:\nexpected:\n{expected}\nactual:\n{said}", file.display()).into())
}

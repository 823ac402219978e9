//! What `kiln` prints and draws for the book: the lines of `book/commands.txt` say with which arguments.
//!
//! `UPDATE_EXPECT=1 cargo test -p kiln-gpu-cli --test book` writes the files anew; read them, and look at the pictures, before committing them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A line of the list: `FILE | arguments`.
struct Shown {
    file: String,
    arguments: Vec<String>,
}

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../book")
}

/// Splits a line as a shell does, with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    // Parts of odd number are in quotes.
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn list() -> Vec<Shown> {
    let text = fs::read_to_string(book().join("commands.txt")).expect("it is part of the book");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let shown = |line: &str| {
        let (file, arguments) = line.split_once(" | ").expect("FILE | arguments");
        Shown { file: file.to_owned(), arguments: words(arguments) }
    };
    lines.map(shown).collect()
}

/// What the command prints; of a picture, what it draws.
fn said(shown: &Shown) -> String {
    let is_picture = Path::new(&shown.file).extension().is_some_and(|ending| ending == "svg");
    let drawn = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book.svg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.current_dir(book()).args(&shown.arguments);
    if is_picture {
        command.arg("--svg").arg(&drawn);
    }
    let output = command.output().expect("cargo built the command");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{}: {errors}", shown.file);
    if is_picture {
        return fs::read_to_string(drawn).expect("the command has drawn it");
    }
    String::from_utf8(output.stdout).expect("the command prints text")
}

#[test]
fn the_book_shows_what_the_command_prints_and_draws() {
    let mut wrong = Vec::new();
    let list = list();
    assert!(list.len() > 10, "the list has {} lines", list.len());
    for shown in &list {
        let (file, said) = (book().join(&shown.file), said(shown));
        if fs::read_to_string(&file).unwrap_or_default() == said {
            continue;
        }
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, said).expect("the file can be written");
        } else {
            wrong.push(format!("{}:\n{said}", shown.file));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

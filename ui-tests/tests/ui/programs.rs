//! The programs of this package.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A program: refused by Kiln or rustc, or built and run without a word.
#[derive(Debug)]
pub(crate) struct Program {
    /// Its path in the package without the ending, such as `fail/order/K0418_row_of_another`.
    pub(crate) name: String,
}

impl Program {
    /// Every program of `fail/*` and of `pass`, by name.
    pub(crate) fn all() -> Vec<Self> {
        let mut paths = files(Path::new("pass"));
        for area in entries(Path::new("fail")) {
            paths.extend(files(&area));
        }
        paths.sort();
        let name = |path: PathBuf| Self {
            name: path.with_extension("").to_str().expect("names are ASCII").into(),
        };
        paths.into_iter().map(name).collect()
    }

    pub(crate) fn passes(&self) -> bool {
        self.name.starts_with("pass/")
    }

    /// True if its errors could hide those of others, or name its module: a new program, one of which rustc refuses something, and one
    /// that turns a lint on.
    pub(crate) fn is_alone(&self) -> bool {
        let expected = self.expected();
        expected.is_empty()
            || expected.contains("error[E")
            || expected.contains("the lint level is defined here")
    }

    /// The expected messages; none of a program that passes and of a new one.
    pub(crate) fn expected(&self) -> String {
        match fs::read_to_string(self.stderr()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => panic!("{}: {error}", self.stderr().display()),
        }
    }

    /// Its text, from the folder of the workspace.
    pub(crate) fn source(&self) -> PathBuf {
        Path::new("ui-tests").join(&self.name).with_extension("rs")
    }

    pub(crate) fn stderr(&self) -> PathBuf {
        Path::new(&self.name).with_extension("stderr")
    }

    /// The name of its module, where it is one of several.
    pub(crate) fn module(&self) -> String {
        self.name.replace('/', "_")
    }
}

/// The files of Rust in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("the folder is read").path()).collect()
}

//! The files of the repository, as a commit would have them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ignore::WalkBuilder;

/// A file. Rules look at text only: what is not UTF-8 has none.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// What follows the last dot of the name; nothing where there is none.
    pub(crate) fn ending(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// The files, in the order of their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repository {
    pub(crate) files: Vec<File>,
}

impl Repository {
    /// Reads all files that no `.gitignore` leaves out. Works without git.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub(crate) fn read(root: &Path) -> Result<Repository> {
        let mut files = Vec::new();
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk {
            let entry = entry?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let bytes = std::fs::read(entry.path())
                .with_context(|| format!("{}", entry.path().display()))?;
            let path = entry.path().strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            files.push(File { path, text: String::from_utf8(bytes).unwrap_or_default() });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Repository { files })
    }

    /// The file with this path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files below a folder (`a/b/`) with an ending (`.rs`).
    pub(crate) fn below(&self, folder: &str, ending: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.starts_with(folder) && file.path.ends_with(ending))
    }

    /// A repository for the test of a rule.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Repository {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Repository { files: files.iter().map(file).collect() }
    }
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

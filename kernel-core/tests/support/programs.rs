//! The programs of `ui-tests/fail`.

use std::{fs, path::PathBuf};

/// All of them, in the order of their names.
#[expect(clippy::disallowed_methods, reason = "tests may read files; the compiler may not")]
pub(crate) fn all() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui-tests/fail");
    let mut all = Vec::new();
    for folder in fs::read_dir(root).expect("the folder of the programs") {
        let folder = folder.expect("a folder").path();
        for file in fs::read_dir(folder).expect("a folder of programs") {
            let path = file.expect("a program").path();
            if path.extension().is_some_and(|end| end == "rs") {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

//! `kiln init`: a package with a kernel, a test that runs it on the emulator, and profiles.

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf, absolute};

use kernel_emulator::PROFILE;

/// The package that kernels are written with.
const KILN: &str = "kiln-gpu";

/// A package that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    folder: PathBuf,
    name: String,
    /// The path of the checkout of Kiln that it depends on; on the Kiln of this command's version without one.
    checkout: Option<String>,
}

impl Package {
    /// A package in a folder, which need not be there. Without a name it has the folder's. It depends on the Kiln of this command's
    /// version, or on a checkout of Kiln.
    ///
    /// # Errors
    /// A text for the user: the name is not one that cargo takes, or the checkout is none of Kiln.
    pub fn new(
        folder: &Path,
        name: Option<&str>,
        checkout: Option<&Path>,
    ) -> Result<Package, String> {
        let folder = absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let name = match name {
            Some(name) => checked(name)?,
            None => of_folder(&folder)?,
        };
        let name = name.to_owned();
        let checkout = checkout.map(of_kiln).transpose()?;
        Ok(Package { folder, name, checkout })
    }

    /// Its files, by their paths in the folder.
    pub fn files(&self) -> [(&'static str, String); 4] {
        [
            ("Cargo.toml", self.manifest()),
            (".gitignore", "/target\n".to_owned()),
            ("src/main.rs", include_str!("../template/main.rs").to_owned()),
            ("src/kernels.rs", include_str!("../template/kernels.rs").to_owned()),
        ]
    }

    fn manifest(&self) -> String {
        let name = &self.name;
        let dependency = match &self.checkout {
            None => quoted(env!("CARGO_PKG_VERSION")),
            Some(checkout) => format!("{{ path = {} }}", quoted(checkout)),
        };
        let rust_version = env!("CARGO_PKG_RUST_VERSION");
        format!(
            "\
[package]
name = \"{name}\"
version = \"0.1.0\"
edition = \"2024\"
rust-version = \"{rust_version}\"

[dependencies]
{KILN} = {dependency} # `kiln` in Rust

# A first build is shorter without what debuggers want of packages that are not yours.
[profile.dev.package.\"*\"]
debug = false

# The emulator runs the kernels of tests. Without this it takes some fifty times as long for them.
{PROFILE}"
        )
    }

    /// Writes the files, gives their paths in the folder, and leaves alone what is there: if one of them exists or cannot be written, nothing is left of the others. A
    /// `.gitignore` that exists will do.
    ///
    /// # Errors
    /// A text for the user, which names the file that exists or cannot be written.
    pub fn write(&self) -> Result<Vec<&'static str>, String> {
        let is_kept = |path: &str| path == ".gitignore" && self.folder.join(path).is_file();
        let (paths, files): (Vec<_>, Vec<_>) = (self.files().into_iter())
            .filter(|(path, _)| !is_kept(path))
            .map(|(path, text)| (path, (self.folder.join(path), text)))
            .unzip();
        // Of a link that leads nowhere, too, there is something.
        if let Some((file, _)) = files.iter().find(|(file, _)| file.symlink_metadata().is_ok()) {
            return Err(self.exists(file));
        }
        let mut made = Vec::new();
        let written = files.iter().try_for_each(|(file, text)| self.add(file, text, &mut made));
        written.map(|()| paths).map_err(|mut problem| {
            for path in made.iter().rev() {
                let removed =
                    if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
                if let Err(error) = removed {
                    let _ = write!(problem, "\n{} was made and stays: {error}", path.display());
                }
            }
            problem
        })
    }

    /// Writes a file and the folders that it is in, and notes in `made` which of them were not there.
    fn add(&self, file: &Path, text: &str, made: &mut Vec<PathBuf>) -> Result<(), String> {
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let folders: Vec<&Path> = file.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => made.push(folder.to_owned()),
                Err(_) if folder.is_dir() => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(format!("{}: required a folder, actual a file", folder.display()));
                }
                Err(error) => return Err(failed(folder, error)),
            }
        }
        // A file written in the meantime is kept.
        let mut opened = fs::File::create_new(file).map_err(|error| {
            let taken = error.kind() == ErrorKind::AlreadyExists;
            if taken { self.exists(file) } else { failed(file, error) }
        })?;
        made.push(file.to_owned());
        opened.write_all(text.as_bytes()).map_err(|error| failed(file, error))
    }

    /// What to tell the user when these files are written.
    pub fn told(&self, written: &[&str]) -> String {
        let folder = self.folder.display();
        let files = written.join(", ");
        let mut text = format!(
            "wrote {files} in {folder}\n\
             next, in this folder:\n\
             \x20 cargo test   checks the kernel on the emulator\n\
             \x20 cargo run    runs it on a GPU, or on the emulator where there is none\n"
        );
        if !written.contains(&".gitignore") {
            text.push_str("note: the .gitignore that is there stays; `/target` belongs into it\n");
        }
        if let Some(root) = self.workspace() {
            let _ = writeln!(
                text,
                "note: {} has a workspace, and cargo reads profiles there only. If the package is to be a member, move the profile of its \
                 Cargo.toml there; if not, add a line `[workspace]` to its Cargo.toml",
                root.display()
            );
        }
        text
    }

    /// What to say of a file that is there.
    fn exists(&self, file: &Path) -> String {
        let mut text = format!("{} exists; no file was written or changed", file.display());
        if file.ends_with("Cargo.toml") {
            let place = match &self.checkout {
                None => String::new(),
                Some(checkout) => format!(" --path \"{checkout}\""),
            };
            let _ = write!(
                text,
                "\nA package that is there gets kernels by `cargo add {KILN}{place}`, and a quick emulator by these lines in the \
                 Cargo.toml of its workspace:\n\n{PROFILE}"
            );
        }
        text
    }

    /// The `Cargo.toml` of a workspace that the folder is in.
    fn workspace(&self) -> Option<PathBuf> {
        let manifests = self.folder.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
        let has_workspace = |manifest: &PathBuf| {
            let text = fs::read_to_string(manifest).unwrap_or_default();
            text.lines().any(|line| line.trim_start().starts_with("[workspace"))
        };
        manifests.into_iter().find(has_workspace)
    }
}

/// The name of a folder, for the package in it.
fn of_folder(folder: &Path) -> Result<&str, String> {
    let named = "; `--name NAME` gives the package another name than its folder's";
    let name = folder.file_name().and_then(|name| name.to_str());
    let Some(name) = name else {
        return Err(format!("{}: this folder has no name in Unicode{named}", folder.display()));
    };
    checked(name).map_err(|problem| problem + named)
}

/// A name that cargo takes for a package with a program.
fn checked(name: &str) -> Result<&str, String> {
    let letters = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !letters {
        return Err(format!(
            "name of the package: required ASCII letters, digits, `-` and `_`, a letter first, actual `{name}`"
        ));
    }
    let lower = name.to_ascii_lowercase().replace('-', "_");
    let taken = [
        ("a keyword of Rust", &KEYWORDS[..]),
        ("a crate of Rust's own", &["alloc", "core", "proc_macro", "std", "test"]),
        ("a crate that it depends on", &["kiln"]),
        ("a folder of cargo's", &["build", "deps", "examples", "incremental"]),
        ("a device on Windows", &["aux", "con", "nul", "prn"]),
    ];
    let is_taken = |names: &[&str]| names.contains(&name) || names.contains(&&lower[..]);
    if lower.starts_with("kiln_gpu") {
        return Err(format!(
            "name of the package: required one of its own, actual `{name}`, one of Kiln's packages"
        ));
    }
    match taken.into_iter().find(|(_, names)| is_taken(names)) {
        None => Ok(name),
        Some((whose, _)) => {
            Err(format!("name of the package: required one of its own, actual `{name}`, {whose}"))
        }
    }
}

/// Keywords of the 2024 edition, those among them that are only reserved (The Rust Reference, "Keywords").
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The path of a checkout of Kiln, as it stands in a `Cargo.toml`.
fn of_kiln(checkout: &Path) -> Result<String, String> {
    let checkout =
        absolute(checkout).map_err(|error| format!("{}: {error}", checkout.display()))?;
    let manifest = checkout.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    let line = format!("name = \"{KILN}\"");
    if !text.lines().any(|actual| actual.trim() == line) {
        return Err(format!(
            "{}: required a checkout of Kiln, with `{line}` in its Cargo.toml",
            checkout.display()
        ));
    }
    let path = checkout.to_str().map(str::to_owned);
    path.ok_or_else(|| {
        format!("{}: required a path in Unicode, for Cargo.toml has no others", checkout.display())
    })
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_cargo_takes() {
        for name in
            ["kernels", "my-kernels", "a", "Kernels_2", "kiln-tests", "testing", "self-made"]
        {
            assert_eq!(checked(name), Ok(name));
        }
        for (name, said) in [
            ("", "a letter first, actual ``"),
            ("2d", "a letter first, actual `2d`"),
            ("-x", "a letter first, actual `-x`"),
            ("_x", "a letter first, actual `_x`"),
            ("my kernels", "required ASCII letters"),
            ("kerne\u{301}l", "required ASCII letters"),
            ("a/b", "required ASCII letters"),
            ("x\"y", "required ASCII letters"),
            ("fn", "actual `fn`, a keyword of Rust"),
            ("Self", "actual `Self`, a keyword of Rust"),
            ("std", "actual `std`, a crate of Rust's own"),
            ("proc-macro", "a crate of Rust's own"),
            ("test", "a crate of Rust's own"),
            ("kiln", "actual `kiln`, a crate that it depends on"),
            ("kiln-gpu", "one of Kiln's packages"),
            ("kiln-gpu-runtime", "one of Kiln's packages"),
            ("build", "actual `build`, a folder of cargo's"),
            ("NUL", "actual `NUL`, a device on Windows"),
        ] {
            let problem = checked(name).expect_err(name);
            assert!(problem.contains(said), "{problem}");
        }
    }

    #[test]
    fn keywords_are_in_order_and_none_stands_twice() {
        let sorted =
            |pair: &[&str]| pair[0].to_lowercase() <= pair[1].to_lowercase() && pair[0] != pair[1];
        assert!(KEYWORDS.windows(2).all(sorted));
    }

    #[test]
    fn strings_of_toml_hold_any_path() {
        assert_eq!(quoted("/a place/kiln"), r#""/a place/kiln""#);
        assert_eq!(quoted("C:\\kiln \"x\"\n"), r#""C:\\kiln \"x\"\u000a""#);
    }

    #[test]
    fn the_name_is_the_folders_unless_it_is_given() {
        let named =
            |folder: &str, name| Package::new(Path::new(folder), name, None).map(|p| p.name);
        assert_eq!(named("/somewhere/first-kernel", None), Ok("first-kernel".to_owned()));
        assert_eq!(named("/somewhere/1st", Some("first")), Ok("first".to_owned()));
        let problem = named("/somewhere/1st", None).expect_err("a digit");
        assert!(problem.contains("`--name NAME`"), "{problem}");
        assert!(named("/", None).is_err());
    }

    #[test]
    fn without_a_checkout_the_package_depends_on_this_version() {
        let package = Package::new(Path::new("x"), None, None).expect("a name");
        let line = format!("\nkiln-gpu = \"{}\" #", env!("CARGO_PKG_VERSION"));
        assert!(package.manifest().contains(&line), "{}", package.manifest());
    }
}

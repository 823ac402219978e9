//! `kiln init`: what it writes, and what it leaves alone. That cargo builds the package and that its tests pass, the gate finds out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// This checkout of Kiln.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// An empty folder of a test's own.
fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("init").join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("left from the last run");
    }
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn init(within: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.arg("init").args(arguments).current_dir(within).output().expect("it starts")
}

/// What it says on standard error, where it fails.
fn refused(within: &Path, arguments: &[&str]) -> String {
    let output = init(within, arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// All files of a folder, by their paths in it.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it").to_string_lossy();
                found.push((name.replace('\\', "/"), fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_new_folder_gets_a_package() {
    let within = empty("new");
    let output = init(&within, &["first-kernel", "--kiln", CHECKOUT]);
    assert!(output.status.success(), "{output:?}");
    let written = files(&within.join("first-kernel"));
    let names: Vec<&str> = written.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, [".gitignore", "Cargo.toml", "src/kernels.rs", "src/main.rs"]);
    let manifest = &written[1].1;
    assert!(manifest.starts_with("[package]\nname = \"first-kernel\"\n"), "{manifest}");
    assert!(manifest.contains("\nkiln-gpu = { path = \"/"), "{manifest}");
    let profiles = "
[profile.dev.package.\"*\"]
debug = false

# The emulator runs the kernels of tests. Without this it takes some fifty times as long for them.
[profile.dev.package.kiln-gpu-emulator]
opt-level = 3
codegen-units = 16
debug = false
";
    assert!(manifest.ends_with(profiles), "{manifest}");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(told.contains("cargo test") && told.contains("src/kernels.rs"), "{told}");
}

#[test]
fn a_folder_that_is_there_keeps_its_own_files() {
    let within = empty("there");
    fs::write(within.join("README.md"), "mine").expect("written");
    let output = init(&within, &["--name", "kernels"]);
    assert!(output.status.success(), "{output:?}");
    let written = files(&within);
    assert!(written.contains(&("README.md".to_owned(), "mine".to_owned())), "{written:?}");
    assert!(
        written.iter().any(|(name, text)| name == "Cargo.toml" && text.contains("\"kernels\""))
    );
}

#[test]
fn a_gitignore_that_exists_will_do() {
    let within = empty("gitignore");
    fs::write(within.join(".gitignore"), "mine").expect("written");
    let output = init(&within, &[".", "--name", "kernels"]);
    assert!(output.status.success(), "{output:?}");
    let written = files(&within);
    assert_eq!(written.len(), 4, "{written:?}");
    assert_eq!(written[0], (".gitignore".to_owned(), "mine".to_owned()));
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(told.starts_with("wrote Cargo.toml, src/main.rs, src/kernels.rs in "), "{told}");
    assert!(told.contains("the .gitignore that is there stays"), "{told}");
}

#[test]
fn nothing_is_written_where_one_of_the_files_exists() {
    for (name, said) in [
        ("Cargo.toml", "cargo add kiln-gpu"),
        ("src/main.rs", "no file was written or changed"),
        ("src/kernels.rs", "no file was written or changed"),
    ] {
        let within = empty("exists");
        let file = within.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, "mine").expect("written");
        let problem = refused(&within, &["--name", "kernels"]);
        assert!(problem.contains(&format!("{} exists", file.display())), "{problem}");
        assert!(problem.contains(said), "{problem}");
        assert_eq!(files(&within), [(name.to_owned(), "mine".to_owned())]);
    }
}

#[test]
fn a_package_that_exists_is_told_to_add_the_checkout_that_was_named() {
    let within = empty("hint");
    fs::write(within.join("Cargo.toml"), "mine").expect("written");
    let published = refused(&within, &["--name", "kernels"]);
    assert!(published.contains("`cargo add kiln-gpu`"), "{published}");
    let checkout = refused(&within, &["--name", "kernels", "--kiln", CHECKOUT]);
    assert!(checkout.contains("`cargo add kiln-gpu --path \"/"), "{checkout}");
    assert!(checkout.contains(CHECKOUT), "{checkout}");
}

#[test]
fn nothing_is_left_where_one_of_the_files_cannot_be_written() {
    let within = empty("unfinished");
    fs::write(within.join("src"), "mine").expect("written");
    let problem = refused(&within, &["--name", "kernels"]);
    let said = format!("{}: required a folder, actual a file\n", within.join("src").display());
    assert_eq!(problem, said);
    assert_eq!(files(&within), [("src".to_owned(), "mine".to_owned())]);
}

#[test]
fn folders_that_were_made_go_again_where_one_of_them_cannot_be_made() {
    let within = empty("folders");
    // Longer than names of files may be.
    let folder = format!("new/below/{}", "x".repeat(300));
    let problem = refused(&within, &[&folder, "--name", "kernels"]);
    assert!(problem.contains(&folder) && !problem.contains("stays"), "{problem}");
    assert!(!within.join("new").exists());
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_not_followed() {
    let within = empty("link");
    let elsewhere = within.join("elsewhere.toml");
    let folder = within.join("kernels");
    fs::create_dir(&folder).expect("made");
    std::os::unix::fs::symlink(&elsewhere, folder.join("Cargo.toml")).expect("linked");
    assert!(refused(&folder, &[]).contains("Cargo.toml exists"));
    assert!(!elsewhere.exists());
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let within = empty("file");
    fs::write(within.join("kernels"), "mine").expect("written");
    let problem = refused(&within, &["kernels"]);
    assert!(problem.contains("kernels"), "{problem}");
    assert_eq!(files(&within), [("kernels".to_owned(), "mine".to_owned())]);
}

#[test]
fn a_bad_name_is_refused_before_anything_is_written() {
    let within = empty("name");
    assert!(refused(&within, &["kernels", "--name", "my kernels"]).contains("actual `my kernels`"));
    assert!(refused(&within, &["2d"]).contains("`--name NAME`"));
    assert_eq!(files(&within), []);
    assert!(!within.join("2d").exists());
}

#[test]
fn what_is_no_checkout_of_kiln_is_refused() {
    let within = empty("checkout");
    let missing = refused(&within, &["kernels", "--kiln", "kiln"]);
    assert!(missing.contains("Cargo.toml"), "{missing}");
    fs::write(within.join("Cargo.toml"), "[package]\nname = \"kiln\"\n").expect("written");
    let another = refused(&within, &["kernels", "--kiln", "."]);
    assert!(another.contains("required a checkout of Kiln"), "{another}");
    assert!(!within.join("kernels").exists());
}

#[test]
fn inside_a_workspace_the_user_is_told_where_profiles_belong() {
    let within = empty("workspace");
    let told = |folder: &str| {
        let output = init(&within, &[folder]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    fs::write(within.join("Cargo.toml"), "[workspace]\nmembers = []\n").expect("written");
    let note = format!("note: {} has a workspace", within.join("Cargo.toml").display());
    assert!(told("crates/inside").contains(&note));
}

//! `kiln tune`: what cargo is asked to do, and what a cache holds.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn kiln(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.arg("tune").args(arguments);
    command
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-tune-{name}"));
    let gone = std::fs::remove_dir_all(&folder);
    assert!(gone.is_ok() || !folder.exists(), "{gone:?}");
    std::fs::create_dir_all(&folder).expect("the folder of tests can be written");
    folder
}

fn run(command: &mut Command) -> (bool, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (status.success(), text(stdout), text(stderr))
}

#[test]
fn a_cache_is_shown_by_kernel_and_cost() {
    let path = folder("list").join("cache");
    let line = |instance: &str, cost: &str| {
        format!(
            "{{\"kernel\":\"matmul\",\"instance\":\"{instance}\",\"ptx\":\"0123456789abcdef\",\"device\":\"NVIDIA H200\",\
             \"driver\":\"13.0\",\"key\":\"[64, 64]\",\"cost\":{cost}}}\n"
        )
    };
    let text =
        format!("{{\"kiln-tune\":1}}\n{}{}cut o", line("BM = 64", "12.5"), line("BM = 128", "9"));
    std::fs::write(&path, text).expect("the folder can be written");
    let name = path.display().to_string();
    let (is_good, out, errors) = run(&mut kiln(&["--list", &name]));
    assert_eq!(
        out,
        format!(
            "{name}\n\
             kernel  device       driver  key       instance      cost      code\n\
             matmul  NVIDIA H200    13.0  [64, 64]  BM = 128   9.00 us  01234567\n\
             matmul  NVIDIA H200    13.0  [64, 64]  BM = 64   12.50 us  01234567\n"
        )
    );
    assert!(!is_good, "a line was ignored");
    assert_eq!(
        errors,
        format!("the cache {name}: 1 of its lines are no entries, and are ignored\n")
    );
    let none = path.with_file_name("none").display().to_string();
    let (is_good, out, _) = run(kiln(&["--list"]).env("KILN_TUNE_CACHE", &none));
    assert!(is_good);
    assert_eq!(out, format!("{none}: nothing is known\n"));
}

#[cfg(unix)]
#[test]
fn cargo_measures_everything_and_its_reports_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("measure");
    let cargo = folder.join("cargo");
    let script = "#!/bin/sh\n[ \"$1\" = none ] && exit 0\n[ \"$1\" = fail ] && exit 3\nmkdir -p \"$KILN_TUNE_REPORT\"\n\
                  echo \"$KILN_TUNE $*\" > \"$KILN_TUNE_REPORT/new.txt\"\n";
    std::fs::write(&cargo, script).expect("the folder can be written");
    std::fs::set_permissions(&cargo, PermissionsExt::from_mode(0o755)).expect("it is ours");
    let tune = |arguments: &[&str]| {
        let mut command = kiln(arguments);
        run(command.env("CARGO", &cargo).current_dir(&folder))
    };
    let report = folder.join("target/kiln-tune/new.txt");
    let written = || std::fs::read_to_string(&report).expect("cargo has run");
    let (is_good, out, errors) = tune(&["--", "run", "--release", "-p", "x"]);
    assert!(is_good, "{errors}");
    assert_eq!(out, format!("{}\n", report.display()));
    assert_eq!(written(), "all run --release -p x\n");
    assert!(tune(&[]).0);
    assert_eq!(written(), "all test\n");
    let (is_good, out, _) = tune(&["--report", "elsewhere", "--", "run"]);
    assert!(is_good);
    assert_eq!(out, format!("{}\n", folder.join("elsewhere/new.txt").display()));
    let (is_good, _, errors) = tune(&["--report", "nowhere", "--", "none"]);
    assert!(!is_good);
    assert!(errors.starts_with("no report came to "), "{errors}");
    let (is_good, _, errors) = tune(&["--", "fail"]);
    assert!(!is_good);
    assert!(errors.starts_with("cargo failed: exit status: 3"), "{errors}");
}

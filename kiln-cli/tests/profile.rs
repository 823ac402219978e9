//! `kiln profile` as users run it: what it says of profiles, and of what cargo left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// An empty folder of a test's own.
fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile").join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("left from the last run");
    }
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn kiln(within: &Path, command: &str, arguments: &[&str]) -> Output {
    let mut kiln = Command::new(env!("CARGO_BIN_EXE_kiln"));
    kiln.arg(command).args(arguments).current_dir(within).output().expect("it starts")
}

/// What it says.
fn told(within: &Path, arguments: &[&str]) -> String {
    let output = kiln(within, "profile", arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What it says on standard error, where it fails.
fn refused(within: &Path, arguments: &[&str]) -> String {
    let output = kiln(within, "profile", arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Warps 0 and 1 of a block multiply, the third one copies: ten times `wait` of 0.1 to 1 us and `multiply` of 2 us, once `copy` of 12 us.
fn profile(kernel: &str) -> Value {
    let mut events = vec![
        json!({"ph": "M", "name": "process_name", "pid": 8, "args": {"name": "multiprocessor 7"}}),
    ];
    let span = |tid: u64, name: &str, ts: f64, dur: f64, line: u32| {
        let args = json!({"cycles": 17, "source": format!("a.rs:{line}")});
        json!({"ph": "X", "name": name, "cat": name, "pid": 8, "tid": tid, "ts": ts, "dur": dur, "args": args})
    };
    for warp in 0..3 {
        let name = format!("warp {warp} of block (0, 0, 0)");
        events.push(json!({"ph": "M", "name": "thread_name", "pid": 8, "tid": warp + 1, "args": {"name": name}}));
    }
    for warp in 0..2 {
        let mut at = 0.0;
        for step in 1..=10 {
            let wait = f64::from(step) / 10.0;
            events.push(span(warp + 1, "wait", at, wait, 7));
            events.push(span(warp + 1, "multiply", at + wait, 2.0, if step == 1 { 9 } else { 12 }));
            at += wait + 2.0;
        }
        events.push(json!({"ph": "i", "s": "t", "name": "end", "cat": "end", "pid": 8, "tid": warp + 1, "ts": at}));
    }
    events.push(span(3, "copy </script>", 0.5, 12.0, 20));
    json!({
        "traceEvents": events,
        "otherData": {
            "made by": "kiln profile", "kernel": kernel, "device": "cuda:0 NVIDIA H200", "grid": "264x1x1", "block": "96x1x1",
            "cluster": "1x1x1", "blocks": 264, "first recorded block": 0, "recorded blocks": 1, "cycles per microsecond": 1755.2,
            "clock": "measured by the timer of the device", "timer step ns": 32, "lost": 5, "cut": true,
        },
    })
}

fn write(folder: &Path, name: &str, profile: &Value) {
    fs::write(folder.join(name), profile.to_string()).expect("the folder can be written");
}

/// The rows: of twenty lengths the median is the tenth, the 90th percentile the eighteenth; all warps have 11 + 40 + 12 us.
const TABLE: &str = "\
k, grid 264x1x1, blocks of 96x1x1 threads, on cuda:0 NVIDIA H200
  block 0 of 264 recorded: 3 warps on 1 multiprocessor, 25.5 us from the first stamp to the last
  1755 cycles a microsecond: measured by the timer of the device
  5 stamps found no room: record fewer blocks with KILN_PROFILE_BLOCKS
  phase           warps  count   median      p90  of the time  source
  multiply        0-1       20  2000 ns  2000 ns        63.5%  a.rs:12, a.rs:9
  copy </script>  2          1  12.0 us  12.0 us        19.0%  a.rs:20
  wait            0-1       20   500 ns   900 ns        17.5%  a.rs:7
";

#[test]
fn a_profile_is_a_table_of_phases_and_a_page() {
    let folder = empty("table");
    write(&folder, "k.0.profile.json", &profile("k"));
    let text = told(&folder, &["k.0.profile.json", "--html", "pages/k.html"]);
    assert_eq!(text, format!("k.0.profile.json\n{TABLE}wrote pages/k.html\n"));
    let page = fs::read_to_string(folder.join("pages/k.html")).expect("it was written");
    assert!(page.contains("warp 2 of block (0, 0, 0)") && page.contains("multiprocessor 7"));
    assert_eq!(page.matches("</script>").count(), 2, "no name ends a script");
    // The page's times are nanoseconds.
    assert!(page.contains("\"end\":25500"), "{page}");
    let traced = kiln(&folder, "trace", &["k.0.profile.json"]);
    assert_eq!(String::from_utf8_lossy(&traced.stdout), TABLE);
}

#[test]
fn of_a_folder_the_last_launch_of_each_kernel_is_shown() {
    let folder = empty("folder");
    for (name, kernel) in [("a.9", "a, early"), ("a.10", "a, late"), ("b.0", "b")] {
        write(&folder, &format!("{name}.profile.json"), &profile(kernel));
    }
    fs::write(folder.join("a.0.trace.json"), "no profile").expect("the folder can be written");
    let text = told(&folder, &["."]);
    let begins: Vec<&str> = text.lines().filter(|line| line.starts_with(['.', 'a', 'b'])).collect();
    let launch = "grid 264x1x1, blocks of 96x1x1 threads, on cuda:0 NVIDIA H200";
    let required = [
        "./a.10.profile.json",
        &format!("a, late, {launch}"),
        "./b.0.profile.json",
        &format!("b, {launch}"),
    ];
    assert_eq!(begins, required);
}

#[test]
fn what_is_no_profile_is_refused() {
    let folder = empty("refused");
    let trace = json!({"traceEvents": [], "otherData": {"made by": "kiln trace"}});
    write(&folder, "t.json", &trace);
    let said = refused(&folder, &["t.json"]);
    assert!(said.starts_with("t.json: required a profile"), "{said}");
    let said = refused(&folder, &["none.json"]);
    assert!(said.starts_with("none.json: "), "{said}");
    assert!(!kiln(&folder, "profile", &[]).status.success(), "neither a file nor cargo");
}

#[cfg(unix)]
#[test]
fn cargo_is_asked_for_profiles_and_what_it_leaves_is_shown() {
    use std::os::unix::fs::PermissionsExt;
    let folder = empty("cargo");
    fs::write(folder.join("new.json"), profile("k").to_string())
        .expect("the folder can be written");
    let cargo = folder.join("cargo");
    let script = "#!/bin/sh\nmkdir -p \"$KILN_PROFILE\"\n[ \"$1\" = idle ] || cp new.json \"$KILN_PROFILE/k.0.profile.json\"\n[ \"$1\" != fail ]\n";
    fs::write(&cargo, script).expect("the folder can be written");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&cargo, executable).expect("it is the test's own");
    let run = |argument: &str| {
        let mut kiln = Command::new(env!("CARGO_BIN_EXE_kiln"));
        kiln.args(["profile", "--out", "out", "--", argument]).current_dir(&folder);
        let Output { status, stdout, stderr } =
            kiln.env("CARGO", &cargo).output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (status.success(), text(stdout), text(stderr))
    };
    let (is_good, text, _) = run("run");
    assert!(is_good && text.ends_with(&format!("out/k.0.profile.json\n{TABLE}")), "{text}");
    // The profiles of the program are shown even if it fails.
    let (is_good, text, _) = run("fail");
    assert!(!is_good && text.ends_with(TABLE), "{text}");
    // What an earlier run left is gone.
    let (is_good, text, errors) = run("idle");
    assert!(!is_good && text.is_empty() && errors.contains("no kernel with `stamp!`"), "{errors}");
}

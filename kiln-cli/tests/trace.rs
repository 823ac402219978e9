//! `kiln trace` as users run it: files that it writes, and what it says of input that is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A launch of five blocks of two warps, with two cases or more.
const LAUNCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/row_sums_sm80.json");

/// An empty folder of a test's own.
fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace").join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("left from the last run");
    }
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn trace(within: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.arg("trace").args(arguments).current_dir(within).output().expect("it starts")
}

/// What it says.
fn told(within: &Path, arguments: &[&str]) -> String {
    let output = trace(within, arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What it says on standard error, where it fails.
fn refused(within: &Path, arguments: &[&str]) -> String {
    let output = trace(within, arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// A trace of two warps: an mbarrier's phase that a copy completes, and a wait that it ends.
fn events() -> Value {
    let name = |pid: u64, tid: u64, name: &str| json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}});
    let span = |tid: u64, name: &str, kind: &str, [ts, dur]: [u32; 2], line: &str| {
        let args = json!({"ptx": "line 3", "source": line});
        json!({"ph": "X", "name": name, "cat": kind, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args})
    };
    json!({
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "block (0, 0, 0)"}},
            name(1, 1, "warp 0"), name(1, 2, "warp 1"), name(1, 3, "TMA and bulk copies"),
            span(1, "add.u32", "arithmetic", [0, 40], "a.rs:7"),
            span(1, "waits for phase 0 of mbarrier 0x400", "wait", [40, 60], "a.rs:9"),
            span(1, "waits for phase 1 of mbarrier 0x400", "wait", [100, 60], "a.rs:9"),
            span(2, "st.global.b32", "global store", [0, 20], "a.rs:10"),
            span(3, "cp.async.bulk, 64 bytes", "copy", [0, 200], "a.rs:8"),
            {"ph": "s", "name": "completes", "cat": "completes", "id": 0, "pid": 1, "tid": 3, "ts": 100},
            {"ph": "f", "bp": "e", "name": "completes", "cat": "completes", "id": 0, "pid": 1, "tid": 1, "ts": 100},
            {"ph": "i", "s": "t", "name": "H05 race: </script><b>", "cat": "mark", "pid": 1, "tid": 2, "ts": 5},
        ],
        "otherData": {
            "kernel": "k<{{data}}>", "device": "H200", "grid": "1x1x1", "block": "64x1x1",
            "model": {"cycles": 500, "microseconds": 0.25, "cycles of a block": 200, "blocks": 1, "multiprocessors": 132,
                "resident blocks": 16, "registers": 32, "waves": 0.0005, "busy": {"issue slots": 0.25, "main memory": 0.1}},
        },
    })
}

#[test]
fn a_launch_description_is_traced_and_its_events_nest() {
    let folder = empty("launch");
    let text = told(&folder, &[LAUNCH, "--out", "traces", "--html", "pages/sums.html"]);
    assert!(text.contains("wrote traces/row_sums_sm80.0.trace.json\n"), "{text}");
    assert!(text.contains("wrote pages/sums.html\n"), "{text}");
    let saved = fs::read_to_string(folder.join("traces/row_sums_sm80.0.trace.json"));
    let value: Value = serde_json::from_str(&saved.expect("it was written")).expect("JSON");
    let events = value["traceEvents"].as_array().expect("a list");
    let (mut rows, mut flows) = (BTreeMap::new(), BTreeMap::new());
    for event in events {
        let row = (event["pid"].as_u64().expect("a process"), event["tid"].as_u64().unwrap_or(0));
        match event["ph"].as_str().expect("a phase") {
            "X" => {
                let time = |name: &str| event[name].as_f64().expect("a number");
                assert!(event["args"]["ptx"].as_str().is_some_and(|at| at.starts_with("line")));
                rows.entry(row).or_insert_with(Vec::new).push((time("ts"), time("dur")));
            }
            "s" | "f" => *flows.entry(event["id"].as_u64().expect("a number")).or_insert(0) += 1,
            "M" => assert!(event["args"].is_object()),
            other => panic!("{other}"),
        }
    }
    assert_eq!(rows.len(), 2, "a row for each warp");
    for spans in rows.values() {
        // One after the other, so that every span ends where it began.
        for pair in spans.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0 + 1e-6, "{pair:?}");
        }
        assert!(spans.iter().all(|span| span.1 > 0.0));
    }
    assert!(flows.values().all(|ends| *ends == 2), "{flows:?}");
    // Without the blocks that are not traced nothing is checked, and the time is the same.
    let only = told(&folder, &[LAUNCH, "--out", "only", "--only"]);
    let modelled = |text: &str| {
        let line = text.lines().find(|line| line.contains("modelled: "));
        line.expect("it has a time").to_owned()
    };
    assert_eq!(modelled(&only), modelled(&text));
}

#[test]
fn a_trace_becomes_a_page_that_needs_nothing_else() {
    let folder = empty("page");
    fs::write(folder.join("t.json"), events().to_string()).expect("written");
    let text = told(&folder, &["t.json", "--html", "t.html"]);
    // Of the time of two warps until they end, 160 and 20 cycles: 120 of waits for phases of one mbarrier, 40 of arithmetic, 20 of stores.
    let required = "\
k<{{data}}>, grid 1x1x1, blocks of 64x1x1 threads, as on H200
  the traced blocks take 200 cycles
  modelled: 500 cycles, 0.25 us, for 1 block in 0.00 waves of 132 multiprocessors with 16 blocks each
  bound by latency: issue slots, the busiest unit, is busy 25% of the time; the longest wait of warps is `waits for mbarrier 0x400`, a.rs:9
  busy: issue slots 25%, main memory 10%
  warps: wait 67%, arithmetic 22%, global store 11%
     67%  waits for mbarrier 0x400, a.rs:9
     22%  add.u32, a.rs:7
     11%  st.global.b32, a.rs:10
wrote t.html
";
    assert_eq!(text, required);
    let page = fs::read_to_string(folder.join("t.html")).expect("it was written");
    assert!(page.contains("<title>k&lt;{{data}}></title>"), "a name is no place of the page");
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let (_, data) = page.split_once("type=\"application/json\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("the data ends");
    let data: Value = serde_json::from_str(data).expect("the whole data");
    assert_eq!(data["marks"], json!([[1, 5.0, "H05 race: </script><b>"]]));
    assert_eq!(data["arrows"], json!([[2, 100.0, 0, 100.0]]));
    assert_eq!(data["spans"].as_array().map(Vec::len), Some(5));
}

#[test]
fn input_that_is_wrong_is_told() {
    let folder = empty("wrong");
    let whole = events().to_string();
    let files = [
        (
            "cut.json",
            &whole[..whole.len() / 2],
            "cut.json: required a trace or a launch description, both of which are JSON, actual text that is not: EOF",
        ),
        (
            "empty.json",
            "",
            "empty.json: required a trace or a launch description, both of which are JSON",
        ),
        (
            "time.json",
            r#"[{"ph":"X","name":"a"}]"#,
            "time.json: trace event 0: required a number as `ts`",
        ),
        (
            "phase.json",
            r#"{"traceEvents":[{"name":"a"}]}"#,
            "phase.json: trace event 0: required `ph`",
        ),
        ("list.json", r#"{"traceEvents":7}"#, "list.json: required a list of trace events"),
    ];
    for (name, text, required) in files {
        fs::write(folder.join(name), text).expect("written");
        let said = refused(&folder, &[name, "--html", "never.html"]);
        assert!(said.starts_with(required), "{said}");
        assert!(!folder.join("never.html").exists());
    }
    let arguments: [(&[&str], &str); 4] = [
        (&["none.json"], "none.json: No such file"),
        (
            &[LAUNCH, "--blocks", "5"],
            "`--blocks`: required numbers of blocks of the grid, from 0 to 4, actual `5`",
        ),
        (&[LAUNCH, "--blocks", "first"], "`--blocks`: required up to 64 numbers of blocks"),
        (
            &[LAUNCH, "--device", "H200"],
            "`--device`: required a target such as sm_90a, actual `H200`",
        ),
    ];
    for (arguments, required) in arguments {
        let said = refused(&folder, arguments);
        assert!(said.starts_with(required), "{said}");
    }
    // A file is where a folder would have to be.
    fs::write(folder.join("file"), "").expect("written");
    let said = refused(&folder, &[LAUNCH, "--out", "file/traces"]);
    assert!(said.starts_with("cannot write file/traces/row_sums_sm80.0.trace.json: "), "{said}");
}

#[test]
fn a_launch_that_fails_is_traced_up_to_there() {
    let folder = empty("fault");
    // The warps of a block wait for each other at barriers of their own.
    let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, %tid.x;\n\
        shr.u32 %r1, %r0, 5;\nbar.sync %r1, 64;\nret;\n}\n";
    fs::write(folder.join("k.ptx"), ptx).expect("written");
    let launch = json!({
        "schema": 1, "name": "stuck", "ptx": "k.ptx", "entry": "k",
        "launch": {"grid": [1, 1, 1], "cluster": [1, 1, 1], "block": [64, 1, 1], "num_warps": 2,
                   "dynamic_shared_bytes": 0, "tmem_columns": 0, "pdl": false},
        "params": [], "buffers": {}, "cases": [{"scalars": {}, "expected": {}}], "opcodes": {"ret": 1},
    });
    fs::write(folder.join("stuck.json"), launch.to_string()).expect("written");
    let output = trace(&folder, &["stuck.json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("FAILED stuck: "), "{text}");
    assert!(text.contains("waits at barrier 1, where 32 of 64 threads are"), "{text}");
    let saved = fs::read_to_string(folder.join("stuck.0.trace.json")).expect("it was written");
    let value: Value = serde_json::from_str(&saved).expect("JSON");
    let events = value["traceEvents"].as_array().expect("a list");
    let stuck: Vec<_> = events.iter().filter(|event| event["cat"] == "stuck").collect();
    assert_eq!(stuck.len(), 2, "{stuck:?}");
    assert!(value["otherData"]["fault"].is_string());
    assert!(value["otherData"]["model"].is_null());
}

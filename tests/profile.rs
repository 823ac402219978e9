//! Profiles of kernels with `stamp!`.
//!
//! Each test runs itself again in a process of its own, which the variables ask for profiles. The device is the emulator, or what
//! `KILN_DEVICE` names.

#![expect(clippy::print_stdout, reason = "what kernels print is under test")]

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use kiln::{Ring, prelude::*};

/// The variable that names the test whose kernels a process is to run.
const CHILD: &str = "KILN_PROFILED";

/// What a process has left.
struct Left {
    /// Files and their texts, by name.
    files: BTreeMap<String, String>,
    printed: String,
    errors: String,
}

/// Runs the kernels of a test in a process that profiles the named blocks; nothing in that process.
fn profiled(test: &str, blocks: &str, run: fn(&Stream) -> Result<()>) -> Option<Left> {
    if std::env::var(CHILD).is_ok_and(|child| child == test) {
        let device = Device::best_for(&[Target::Sm80, Target::Sm90a]).expect("the device is there");
        let stream = device.stream().expect("a stream");
        run(&stream).expect("the launches are right");
        return None;
    }
    let folder: PathBuf = [env!("CARGO_TARGET_TMPDIR"), "profile", test].iter().collect();
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("left from the last run");
    }
    let device = std::env::var("KILN_DEVICE").unwrap_or_else(|_| "emulator".to_owned());
    let output = Command::new(std::env::current_exe().expect("the test's program"))
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, test)
        .env("KILN_DEVICE", device)
        .env("KILN_PROFILE", &folder)
        .env("KILN_PROFILE_BLOCKS", blocks)
        .output()
        .expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (printed, errors) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{printed}{errors}");
    let files = fs::read_dir(&folder).into_iter().flatten().map(|file| {
        let file = file.expect("the folder can be read");
        let text = fs::read_to_string(file.path()).expect("text");
        (file.file_name().to_string_lossy().into_owned(), text)
    });
    Some(Left { files: files.collect(), printed, errors })
}

/// What stands behind a name in an event, up to the end of the value.
fn field<'t>(event: &'t str, name: &str) -> &'t str {
    let (_, from) =
        event.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name}: {event}"));
    match from.strip_prefix('"') {
        Some(text) => text.split('"').next().unwrap_or_default(),
        None => from.split([',', '}']).next().unwrap_or_default(),
    }
}

/// The phases of each warp in their order, by `warp 3 of block (0, 0, 0)`. Spans are without gaps and one after the other.
fn phases(text: &str) -> BTreeMap<String, Vec<String>> {
    let number = |event: &str, name: &str| field(event, name).parse::<f64>().expect("a number");
    let row = |event: &str| (field(event, "pid").to_owned(), field(event, "tid").to_owned());
    let (mut names, mut ends) = (BTreeMap::new(), BTreeMap::new());
    let mut phases: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in text.lines().filter(|line| line.starts_with("{\"ph\":")) {
        match field(event, "ph") {
            "M" if event.contains("\"thread_name\"") => {
                let (_, arguments) = event.split_once("args").expect("it has a name");
                names.insert(row(event), field(arguments, "name").to_owned());
            }
            "M" => {}
            kind => {
                let (start, row) = (number(event, "ts"), row(event));
                let length = if kind == "X" { number(event, "dur") } else { 0.0 };
                let before = ends.insert(row.clone(), start + length).unwrap_or(start);
                assert!((before - start).abs() < 1e-6, "a gap before {event}");
                phases
                    .entry(names[&row].clone())
                    .or_default()
                    .push(field(event, "name").to_owned());
            }
        }
    }
    phases
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256), debug = always)]
fn scale(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, by: f32) {
    let at = block_id(0) * 256;
    stamp!("load");
    let mut tile = x.tile([at], [256]).load();
    println!("not in a profile");
    for _ in 0..block_id(0) {
        stamp!("multiply");
        tile = doubled(tile, by);
    }
    if block_id(0) == 1 {
        stamp!("only the second block");
    }
    y.tile([at], [256]).store(tile);
    stamp!("end");
}

/// A device function has stamps of its own.
#[device]
fn doubled(tile: Tile<f32>, by: f32) -> Tile<f32> {
    stamp!("in a function");
    tile * by
}

fn launch_scale(stream: &Stream) -> Result<()> {
    let x = stream.upload(&[1.5f32; 1000], [1000])?;
    let mut y = stream.zeros::<f32, 1>([1000])?;
    scale(scale::Args { x: &x, y: &mut y, by: 2.0 }).launch(stream)?;
    let required: Vec<f32> = (0..1000).map(|i| [1.5, 3.0, 6.0, 12.0][i / 256]).collect();
    assert_eq!(y.to_vec(stream)?, required);
    Ok(())
}

#[test]
fn each_warp_comes_by_the_stamps_of_its_path() {
    let test = "each_warp_comes_by_the_stamps_of_its_path";
    let Some(left) = profiled(test, "", launch_scale) else { return };
    assert!(!left.printed.contains("not in a profile"), "{}", left.printed);
    let text = &left.files["scale.0.profile.json"];
    let mut required = BTreeMap::new();
    for block in 0..4 {
        let mut phases = vec!["load"];
        (0..block).for_each(|_| phases.extend(["multiply", "in a function"]));
        phases.extend((block == 1).then_some("only the second block"));
        phases.push("end");
        let phases: Vec<String> = phases.into_iter().map(str::to_owned).collect();
        for warp in 0..4 {
            required.insert(format!("warp {warp} of block ({block}, 0, 0)"), phases.clone());
        }
    }
    assert_eq!(phases(text), required);
    let place = format!("\"source\":\"tests/profile.rs:{}\"", 1 + line_of("stamp!(\"multiply\");"));
    assert!(text.contains(&place), "{place} in {text}");
    for about in ["\"blocks\":4", "\"recorded blocks\":4", "\"grid\":\"4x1x1\""] {
        assert!(text.contains(about), "{about}");
    }
}

/// The line of this file, from 0, that has a text first.
fn line_of(text: &str) -> usize {
    let lines = include_str!("profile.rs").lines();
    lines.into_iter().position(|line| line.trim() == text).expect("the line is there")
}

#[test]
fn blocks_that_are_named_are_recorded() {
    let test = "blocks_that_are_named_are_recorded";
    let Some(left) = profiled(test, "2-7", launch_scale) else { return };
    let text = &left.files["scale.0.profile.json"];
    let found = phases(text);
    let blocks = |row: &String| row.contains("block (2, 0, 0)") || row.contains("block (3, 0, 0)");
    assert_eq!((found.len(), found.keys().all(blocks)), (8, true), "{found:?}");
    assert!(text.contains("\"first recorded block\":2,\"recorded blocks\":2"), "{text}");
}

#[test]
fn blocks_past_the_grid_leave_a_line_and_no_file() {
    let test = "blocks_past_the_grid_leave_a_line_and_no_file";
    let Some(left) = profiled(test, "9", launch_scale) else { return };
    assert!(left.files.is_empty(), "{:?}", left.files.keys());
    assert!(left.errors.contains("kiln: no profile of scale"), "{}", left.errors);
}

#[test]
fn the_first_launches_are_profiled_and_recorded_work_is_not() {
    let run = |stream: &Stream| {
        for _ in 0..3 {
            launch_scale(stream)?;
        }
        let x = stream.upload(&[1.5f32; 256], [256])?;
        let mut y = stream.zeros::<f32, 1>([256])?;
        let graph = stream
            .device()
            .capture(|stream| scale(scale::Args { x: &x, y: &mut y, by: 2.0 }).launch(stream))?;
        graph.launch(stream)?;
        assert_eq!(y.to_vec(stream)?, [1.5; 256]);
        for _ in 0..6 {
            launch_scale(stream)?;
        }
        Ok(())
    };
    let test = "the_first_launches_are_profiled_and_recorded_work_is_not";
    let Some(left) = profiled(test, "", run) else { return };
    let required: Vec<String> = (0..8).map(|n| format!("scale.{n}.profile.json")).collect();
    assert_eq!(left.files.keys().cloned().collect::<Vec<_>>(), required);
    // Each of the four blocks of the ninth launch prints.
    assert_eq!(left.printed.matches("not in a profile").count(), 4);
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
fn many(n: i32) {
    for _ in 0..n {
        stamp!("again");
    }
}

#[test]
fn stamps_without_room_are_counted() {
    let test = "stamps_without_room_are_counted";
    let run = |stream: &Stream| many(many::Args { n: 65600 }).launch(stream);
    let Some(left) = profiled(test, "", run) else { return };
    let text = &left.files["many.0.profile.json"];
    assert!(text.contains("\"lost\":64,\"cut\":true"), "{}", &text[text.len() - 500..]);
    assert_eq!(text.matches("\"ph\":\"X\"").count(), 65535);
}

/// One warp copies, four add.
#[kernel(target = sm_90a, warps = 4, grid = 2)]
fn sums(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let ring = shared::<f32>([2, 64, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    let n = block_id(0) * 64;
    let steps = cdiv(x.dim(0), 64);
    warp_specialize(
        || {
            let mut at = Ring::reader(2);
            let mut sum = zeros::<f32>([64, 64]);
            for _ in 0..steps {
                stamp!("wait for a tile");
                full[at.slot].wait(at.phase);
                stamp!("add");
                sum = sum + ring[at.slot].load();
                empty[at.slot].arrive();
                at.advance();
            }
            stamp!("store");
            out.tile([0, n], [64, 64]).store(sum);
            stamp!("end");
        },
        [partition(1).run(|| {
            let mut at = Ring::writer(2);
            for step in 0..steps {
                stamp!("wait for room");
                empty[at.slot].wait(at.phase);
                stamp!("copy");
                full[at.slot].expect(x.block_bytes());
                tma::load(x, [step * 64, n], full[at.slot], ring[at.slot]);
                at.advance();
            }
            stamp!("end");
        })],
    );
}

#[test]
#[expect(clippy::print_stderr, reason = "what is left out has to be said")]
fn partitions_have_phases_of_their_own() {
    let run = |stream: &Stream| {
        if !stream.device().runs(Target::Sm90a) {
            eprintln!("skipped: no sm_90a");
            return Ok(());
        }
        let x = stream.full([192, 128], 1.0f32)?;
        let mut out = stream.zeros::<f32, 2>([64, 128])?;
        sums(sums::Args { x: &x, out: &mut out }).launch(stream)?;
        assert_eq!(out.to_vec(stream)?, vec![3.0; 64 * 128]);
        Ok(())
    };
    let test = "partitions_have_phases_of_their_own";
    let Some(left) = profiled(test, "", run) else { return };
    let Some(text) = left.files.get("sums.0.profile.json") else {
        assert!(left.errors.contains("skipped: no sm_90a"), "no profile: {}", left.errors);
        return;
    };
    let thrice = |two: [&'static str; 2]| two.into_iter().cycle().take(6);
    let of = |warp: u32| -> Vec<&str> {
        if warp < 4 {
            thrice(["wait for a tile", "add"]).chain(["store", "end"]).collect()
        } else {
            thrice(["wait for room", "copy"]).chain(["end"]).collect()
        }
    };
    let found = phases(text);
    let rows: Vec<String> = (0..5)
        .flat_map(|warp| (0..2).map(move |block| format!("warp {warp} of block ({block}, 0, 0)")))
        .collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), rows.iter().collect::<Vec<_>>());
    for (row, phases) in &found {
        assert_eq!(*phases, of(row[5..6].parse().expect("a warp")), "{row}");
    }
}

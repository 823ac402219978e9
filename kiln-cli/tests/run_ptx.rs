//! `kiln run-ptx` on a kernel of these tests' own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kiln_cli::check::sha256;
use kiln_cli::command::{self, RunPtx, Statistics, Tally};
use serde_json::{Value, json};

/// y[i] = x[i] * factor for i < n.
const SCALE: &str = "\
.version 7.0
.target sm_80
.address_size 64

.visible .entry scale(
    .param .u64 x,
    .param .u64 y,
    .param .s32 factor,
    .param .s32 n
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.s32 %r1, [factor];
    ld.param.s32 %r2, [n];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.s32 %r6, %r4, %r5, %r3;
    setp.ge.s32 %p1, %r6, %r2;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.s32 %r7, [%rd4];
    mul.lo.s32 %r8, %r7, %r1;
    st.global.s32 [%rd5], %r8;
DONE:
    ret;
}
";

const ELEMENTS: i32 = 80;

fn little_endian(values: impl Iterator<Item = i32>) -> Vec<u8> {
    values.flat_map(i32::to_le_bytes).collect()
}

/// y of a launch whose x[i] is i - 5.
fn scaled(factor: i32) -> Vec<u8> {
    little_endian((0..ELEMENTS).map(|i| (i - 5) * factor))
}

fn exact(factor: i32) -> Value {
    json!({"y": {
        "tolerance": {"atol": 0.0, "rtol": 0.0, "bit_exact": true},
        "sha256": sha256(&scaled(factor)),
        "samples": [[0, -5 * factor], [79, 74 * factor]],
    }})
}

/// A launch that passes: 3 blocks of 32 threads on 80 elements, with factor 2 and then 3.
fn launch() -> Value {
    json!({
        "schema": 1,
        "name": "scale",
        "ptx": "scale.ptx",
        "entry": "scale",
        "launch": {"grid": [3, 1, 1], "cluster": [1, 1, 1], "block": [32, 1, 1], "num_warps": 1,
                   "dynamic_shared_bytes": 0, "tmem_columns": 0, "pdl": false},
        "params": [
            {"name": "x", "kind": "pointer", "buffer": "x", "offset": 0, "size": 8},
            {"name": "y", "kind": "pointer", "buffer": "y", "offset": 8, "size": 8},
            {"name": "factor", "kind": "i32", "value": 2, "case_var": "factor", "offset": 16},
            {"name": "n", "kind": "i32", "value": ELEMENTS},
        ],
        "buffers": {
            "x": {"dtype": "i32", "shape": [ELEMENTS], "strides": [1], "bytes": 320, "role": "in",
                  "align": 256,
                  "init": {"kind": "values", "values": (0..ELEMENTS).map(|i| i - 5).collect::<Vec<_>>()}},
            "y": {"dtype": "i32", "shape": [ELEMENTS], "role": "out",
                  "init": {"kind": "fill_byte", "byte": 0xCD}},
        },
        "cases": [
            {"scalars": {}, "expected": exact(2)},
            {"scalars": {"factor": 3}, "expected": exact(3)},
        ],
        "opcodes": {"ret": 1},
    })
}

/// A folder of its own for a test, with the kernel in it.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of an earlier run can go");
    }
    fs::create_dir_all(&folder).expect("the test's folder can be made");
    fs::write(folder.join("scale.ptx"), SCALE).expect("the kernel can be written");
    folder
}

fn save(folder: &Path, launch: &Value) -> PathBuf {
    let file = folder.join("launch.json");
    fs::write(&file, launch.to_string()).expect("the description can be written");
    file
}

fn run(files: Vec<PathBuf>) -> (String, Tally) {
    let mut output = Vec::new();
    let command = RunPtx { files, ..RunPtx::default() };
    let tally = command::run_ptx(&command, &mut output).expect("a vector can be written");
    (String::from_utf8(output).expect("the output is text"), tally)
}

/// The line of a launch that fails, without the path of the test's folder.
fn failure(test: &str, launch: &Value) -> String {
    let folder = folder(test);
    let (text, tally) = run(vec![save(&folder, launch)]);
    assert_eq!(tally, Tally { passed: 0, failed: 1 }, "{text}");
    let text = text.strip_suffix("0 passed, 1 failed\n").expect("the last line counts");
    let text = text.replace(&format!("{}/", folder.display()), "");
    text.trim_end().to_owned()
}

/// The launch with one field changed.
fn with(pointer: &str, value: Value) -> Value {
    let mut launch = launch();
    *launch.pointer_mut(pointer).expect("the launch has this field") = value;
    launch
}

/// The launch without one member of an object.
fn without(object: &str, member: &str) -> Value {
    let mut launch = launch();
    let members = launch.pointer_mut(object).and_then(Value::as_object_mut);
    members.expect("the launch has this object").remove(member).expect("and this member");
    launch
}

#[test]
fn a_kernel_that_computes_what_it_should_passes_with_all_its_cases() {
    let folder = folder("passes");
    let (text, tally) = run(vec![save(&folder, &launch())]);
    assert_eq!(tally, Tally { passed: 1, failed: 0 }, "{text}");
    let (line, rest) = text.split_once('\n').expect("two lines");
    assert!(line.starts_with("ok scale (2 cases, ") && line.ends_with(" s)"), "{line}");
    assert_eq!(rest, "1 passed, 0 failed\n");
}

#[test]
fn a_wrong_result_is_reported_with_case_and_element() {
    let mut wrong = exact(3);
    wrong["y"]["samples"][1] = json!([79, 223]);
    wrong["y"]["sha256"] = json!(sha256(b"something else"));
    assert_eq!(
        failure("wrong_value", &with("/cases/1/expected", wrong)),
        "FAILED scale: case 2 (factor = 3): buffer `y`[79]: required 223, actual 222 (bits 0xde); \
         1 of 2 samples differ"
    );
}

#[test]
fn a_wrong_result_between_the_samples_is_noticed_by_the_digest() {
    let required = sha256(b"something else");
    let line = failure("wrong_digest", &with("/cases/0/expected/y/sha256", json!(required)));
    assert_eq!(
        line,
        format!(
            "FAILED scale: case 1: buffer `y`: required sha256 {required}, actual {}; \
             all of the 2 samples agree",
            sha256(&scaled(2))
        )
    );
}

#[test]
fn a_fault_of_the_kernel_is_reported_whole() {
    // 81 elements are read where there are 80.
    let line = failure("fault", &with("/params/3/value", json!(81)));
    assert!(line.starts_with("FAILED scale: case 1: out-of-bounds access: "), "{line}");
    assert!(line.contains("in PTX line 28: ld.global.s32 %r7, [%rd4];"), "{line}");
    assert!(line.contains("kernel `scale`, block (2, 0, 0), warp 0, lane 16"), "{line}");
}

#[test]
fn a_result_that_nobody_wrote_is_an_error() {
    let mut launch = without("/buffers/y", "init");
    launch["params"][3]["value"] = json!(79);
    let line = failure("never_written", &launch);
    assert!(line.starts_with("FAILED scale: case 1: memory of `y`: the byte at "), "{line}");
    assert!(line.ends_with(" was never written"), "{line}");
}

#[test]
fn what_is_wrong_with_a_description_names_file_and_field() {
    let complaint = |test: &str, launch: &Value| {
        let line = failure(test, launch);
        line.strip_prefix("FAILED scale: launch.json: ").unwrap_or(&line).to_owned()
    };
    assert_eq!(
        complaint("no_grid", &without("/launch", "grid")),
        "field `launch.grid`: this field is missing"
    );
    assert_eq!(
        complaint("bad_block", &with("/launch/block", json!([32, "x", 1]))),
        "field `launch.block[1]`: required an integer from 1 to 4294967295, actual \"x\""
    );
    assert_eq!(
        complaint("no_such_buffer", &with("/params/0/buffer", json!("z"))),
        "field `params[0].buffer`: there is no buffer `z`"
    );
    assert_eq!(
        complaint("few_values", &with("/buffers/x/init/values", json!([1, 2]))),
        "field `buffers.x.init.values`: required 80 numbers, actual 2"
    );
    assert_eq!(
        complaint("small_buffer", &with("/buffers/x/bytes", json!(316))),
        "field `buffers.x.strides`: the last element lies 79 elements from the start, but `bytes` leaves room for 79"
    );
    assert_eq!(
        complaint("odd_bytes", &with("/buffers/x/bytes", json!(322))),
        "field `buffers.x.bytes`: required a multiple of 4, actual 322"
    );
    assert_eq!(
        complaint("unknown_init", &with("/buffers/y/init/kind", json!("random"))),
        "field `buffers.y.init.kind`: required int_range, raw_choice, uniform, values, zeros, fill_byte or file, actual \"random\""
    );
    assert_eq!(
        complaint("unread_init", &without("/buffers/x", "init")),
        "field `buffers.x`: a buffer that is read needs `init`"
    );
    assert_eq!(
        complaint("large_scalar", &with("/params/3/value", json!(3_000_000_000_u32))),
        "field `params[3].value`: required a number that i32 can hold, actual 3000000000"
    );
    assert_eq!(
        complaint("sample_outside", &with("/cases/0/expected/y/samples/0", json!([80, 1]))),
        "field `cases[0].expected.y.samples[0][0]`: required an integer from 0 to 79, actual 80"
    );
    let mut empty = with("/buffers/y/shape", json!([0]));
    empty["buffers"]["y"]["init"] = json!({"kind": "zeros"});
    assert_eq!(
        complaint("empty_buffer", &empty),
        "field `cases[0].expected.y.samples[0][0]`: the buffer has no elements"
    );
    assert_eq!(
        complaint("folder_in_name", &with("/name", json!("../scale"))),
        "FAILED launch.json: launch.json: field `name`: required a name without `/`, `\\` and line ends, as files are named after it, actual \"../scale\""
    );
}

#[test]
fn a_case_replaces_only_scalars_that_a_parameter_names() {
    let named = with("/cases/1/scalars", json!({"factr": 3}));
    assert_eq!(
        failure("misspelt_scalar", &named),
        "FAILED scale: launch.json: field `cases[1].scalars.factr`: \
         required a `case_var` of the parameters (factor), actual `factr`"
    );
    let mut none = named;
    none["params"][2] = json!({"name": "factor", "kind": "i32", "value": 2});
    assert_eq!(
        failure("no_case_var", &none),
        "FAILED scale: launch.json: field `cases[1].scalars.factr`: \
         required no scalars, as no parameter has a `case_var`, actual `factr`"
    );
}

#[test]
fn a_description_of_another_schema_is_refused() {
    let line = failure("schema", &with("/schema", json!(99)));
    assert_eq!(line, "FAILED scale: launch.json: field `schema`: required 1, actual 99");
}

#[test]
fn a_device_must_exist_and_run_the_target_of_the_ptx() {
    let mut launch = launch();
    for device in ["sm_999", "sm_75", "H100"] {
        launch["target"] = json!(device);
        assert_eq!(
            failure("device", &launch),
            format!(
                "FAILED scale: field `target`: required a device that runs PTX for sm_80, actual {device:?}"
            )
        );
    }
    // What runs on one generation runs on every later one.
    launch["target"] = json!("sm_90a");
    let (text, tally) = run(vec![save(&folder("later_device"), &launch)]);
    assert_eq!(tally, Tally { passed: 1, failed: 0 }, "{text}");
}

#[test]
fn ptx_of_a_version_or_for_a_target_that_does_not_exist_is_refused() {
    let refused = |test: &str, of: &str, other: &str| {
        let folder = folder(test);
        fs::write(folder.join("scale.ptx"), SCALE.replace(of, other)).expect("it can be written");
        let (text, tally) = run(vec![save(&folder, &launch())]);
        assert_eq!(tally, Tally { passed: 0, failed: 1 }, "{text}");
        text.replace(&format!("{}/", folder.display()), "")
    };
    assert_eq!(
        refused("ptx_version", "7.0", "99.9"),
        "FAILED scale: scale.ptx: line 1, column 10: `99.9`, \
         where a version of the PTX ISA up to 9.5 was wanted\n0 passed, 1 failed\n"
    );
    assert_eq!(
        refused("ptx_target", "sm_80", "sm_999"),
        "FAILED scale: scale.ptx: `.target sm_999`: \
         required a target that exists, such as sm_80, sm_90a or sm_100a\n0 passed, 1 failed\n"
    );
}

#[test]
fn files_that_are_missing_or_no_json_are_named() {
    let line = failure("no_ptx", &with("/ptx", json!("none.ptx")));
    let start = "FAILED scale: cannot read none.ptx, which field `ptx` names: ";
    assert!(line.starts_with(start), "{line}");

    let folder = folder("no_json");
    let missing = folder.join("missing.json");
    let broken = folder.join("broken.json");
    fs::write(&broken, "{\"name\": \"a\",\n \"ptx\" \"b\"}").expect("the file can be written");
    let good = save(&folder, &launch());
    let (text, tally) = run(vec![missing, broken, good]);
    assert_eq!(tally, Tally { passed: 1, failed: 2 });
    let text = text.replace(&format!("{}/", folder.display()), "");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("FAILED missing.json: cannot read missing.json: "), "{text}");
    assert_eq!(
        lines[1],
        "FAILED broken.json: broken.json is not JSON: expected `:` at line 2 column 8"
    );
    assert_eq!(lines[3], "1 passed, 2 failed");
}

#[test]
fn arguments_must_fit_the_parameters_of_the_kernel() {
    let mut fewer = launch();
    fewer["params"].as_array_mut().expect("a list").pop();
    assert_eq!(
        failure("few_params", &fewer),
        "FAILED scale: case 1: the kernel has 4 parameters, but `params` has 3"
    );
    assert_eq!(
        failure("param_offset", &with("/params/2/offset", json!(20))),
        "FAILED scale: case 1: parameter `factor`: required offset 16 (`factor` in the PTX), actual 20"
    );
    assert_eq!(
        failure("param_size", &with("/params/3/kind", json!("i64"))),
        "FAILED scale: case 1: parameter `n`: required 4 bytes (`n` in the PTX), actual 8"
    );
    let mut replaced = without("/params/2", "value");
    replaced["cases"][0]["scalars"] = json!({"factor": 2});
    replaced["cases"][1]["scalars"] = json!({});
    assert_eq!(
        failure("no_value", &replaced),
        "FAILED scale: case 2: parameter `factor`: it has no `value`, and the case gives no `factor`"
    );
    assert_eq!(
        failure("no_entry", &with("/entry", json!("scales"))),
        "FAILED scale: scale.ptx has no kernel `scales`"
    );
}

#[test]
fn scratch_memory_has_its_bytes_for_each_block() {
    let scratch = |bytes_per_cta: u32| {
        let mut launch = without("", "cases");
        launch["params"][1] =
            json!({"kind": "global_scratch", "bytes_per_cta": bytes_per_cta, "scratch_align": 512});
        launch
    };
    let folder = folder("scratch");
    // Three blocks: 321 bytes hold the 80 results, 318 do not.
    let (text, tally) = run(vec![save(&folder, &scratch(107))]);
    assert_eq!(tally, Tally { passed: 1, failed: 0 }, "{text}");
    let line = failure("small_scratch", &scratch(106));
    assert!(line.contains("out-of-bounds access: a store of 4 bytes"), "{line}");
    let line = failure("no_scratch", &scratch(0));
    assert!(line.contains("out-of-bounds access: a store of 4 bytes"), "{line}");
}

#[test]
fn a_tensor_map_that_breaks_a_rule_is_refused_with_the_rule() {
    let map = json!({
        "dtype": "INT32", "dtype_enum": 3, "rank": 2,
        "global_address": {"buffer": "x", "byte_offset": 0},
        "global_dim": [8, 10], "global_strides_bytes": [32], "box_dim": [8, 2],
        "element_strides": [1, 1], "interleave": "NONE", "interleave_enum": 0,
        "swizzle": "NONE", "swizzle_enum": 0, "l2_promotion_enum": 2, "oob_fill_enum": 0,
    });
    let mut launch = with("/params/0", json!({"name": "x", "kind": "tensormap", "map": map}));
    assert_eq!(
        failure("tensor_map", &launch),
        "FAILED scale: case 1: parameter `x`: required 8 bytes (`x` in the PTX), actual 128"
    );
    launch["params"][0]["map"]["global_strides_bytes"] = json!([24]);
    assert_eq!(
        failure("tensor_map_stride", &launch),
        "FAILED scale: case 1: parameter `x`: the stride of dimension 1 is a multiple of 16 bytes, not 24"
    );
    launch["params"][0]["map"]["global_strides_bytes"] = json!([32, 64]);
    assert_eq!(
        failure("tensor_map_strides", &launch),
        "FAILED scale: launch.json: field `params[0].map.global_strides_bytes`: \
         required 1 numbers, actual 2"
    );
}

/// y = the first 32 elements of eight pixels of x, from pixel 5 of the first image on.
const PIXELS: &str = "\
.version 8.0
.target sm_90a
.address_size 64

.visible .entry pixels(
    .param .align 64 .b8 x[128],
    .param .u64 y
)
{
    .shared .align 128 .b8 tile[128];
    .shared .align 8 .b64 bar;
    .reg .pred %p<3>;
    .reg .b16 %h<1>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.b64 %rd0, x;
    cvta.param.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [y];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra ISSUED;
    mov.b32 %r1, 0;
    mov.b32 %r2, 5;
    mov.b16 %h0, 0;
    mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
    cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
        [tile], [%rd0, {%r1, %r2, %r1}], [bar], {%h0};
ISSUED:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;
    mul.lo.u32 %r3, %r0, 4;
    mov.u32 %r4, tile;
    add.u32 %r4, %r4, %r3;
    ld.shared.b32 %r4, [%r4];
    cvt.u64.u32 %rd2, %r3;
    add.u64 %rd3, %rd1, %rd2;
    st.global.b32 [%rd3], %r4;
    ret;
}
";

#[test]
fn a_tensor_map_for_im2col_takes_pixels_of_a_bounding_box() {
    let map = json!({
        "dtype_enum": 3, "rank": 3, "global_address": {"buffer": "x", "byte_offset": 0},
        "global_dim": [4, 10, 2], "global_strides_bytes": [16, 160],
        "pixel_box_lower_corner": [-1], "pixel_box_upper_corner": [-1],
        "channels_per_pixel": 4, "pixels_per_column": 8, "swizzle_enum": 0,
    });
    // Pixels 5 to 8 of the first image, which is the last of the bounding box; the border and pixels 0 to 2 of the second.
    let taken = (20..36).map(|i| i - 5).chain([0; 4]).chain((40..52).map(|i| i - 5));
    let rest = std::iter::repeat_n(i32::from_le_bytes([0xCD; 4]), 48);
    let expected = little_endian(taken.chain(rest));
    let mut launch = launch();
    launch["ptx"] = json!("pixels.ptx");
    launch["entry"] = json!("pixels");
    launch["launch"]["grid"] = json!([1, 1, 1]);
    launch["params"] = json!([
        {"name": "x", "kind": "tensormap", "map": map},
        {"name": "y", "kind": "pointer", "buffer": "y"},
    ]);
    let exact = json!({"atol": 0.0, "rtol": 0.0, "bit_exact": true});
    launch["cases"] = json!([
        {"scalars": {}, "expected": {"y": {"tolerance": exact, "sha256": sha256(&expected)}}}
    ]);
    let folder = folder("im2col");
    fs::write(folder.join("pixels.ptx"), PIXELS).expect("the kernel can be written");
    let (text, tally) = run(vec![save(&folder, &launch)]);
    assert_eq!(tally, Tally { passed: 1, failed: 0 }, "{text}");
    let wrong = |field: &str, value: Value, line: &str| {
        let mut launch = launch.clone();
        launch["params"][0]["map"][field] = value;
        let (text, _) = run(vec![save(&folder, &launch)]);
        assert!(text.contains(line), "required {line:?}, actual {text:?}");
    };
    wrong(
        "box_dim",
        json!([4, 1, 1]),
        "field `params[0].map.box_dim`: a map has either this or the fields of an im2col map",
    );
    wrong(
        "pixel_box_lower_corner",
        json!([-1, -1]),
        "field `params[0].map.pixel_box_lower_corner`: required 1 numbers, actual 2",
    );
    wrong("pixels_per_column", json!(2000), "required an integer from 1 to 1024, actual 2000");
    wrong("pixel_box_upper_corner", json!([-12]), "parameter `x`: ");
    launch["params"][0]["map"]["global_dim"] = json!([4, 20]);
    launch["params"][0]["map"]["global_strides_bytes"] = json!([16]);
    launch["params"][0]["map"]["rank"] = json!(2);
    let (text, _) = run(vec![save(&folder, &launch)]);
    let line = "an im2col map has 3 to 5 dimensions, but `global_dim` has 2";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_buffer_that_starts_with_other_bytes_than_recorded_is_refused() {
    let mut launch = launch();
    let recorded = sha256(&little_endian(0..ELEMENTS));
    launch["buffers"]["x"]["init_sha256"] = json!(recorded);
    assert_eq!(
        failure("init_digest", &launch),
        format!(
            "FAILED scale: buffer `x`: `init` gives bytes with sha256 {}, but `init_sha256` is {recorded}",
            sha256(&scaled(1))
        )
    );
}

#[test]
fn a_launch_without_cases_runs_on_files_and_saves_what_it_writes() {
    let folder = folder("out");
    let x = little_endian((0..ELEMENTS).map(|i| 1000 - i * i));
    fs::write(folder.join("x.bin"), &x).expect("the input can be written");
    let mut launch = without("", "cases");
    launch["buffers"]["x"]["init"] = json!({"kind": "file", "path": "x.bin"});
    let file = save(&folder, &launch);
    let out = folder.join("results/deep");
    let command = RunPtx {
        files: vec![file.clone()],
        out: Some(out.clone()),
        options: command::options(Some(1), None),
        statistics: Statistics::Shown,
        findings: None,
    };
    let mut output = Vec::new();
    let tally = command::run_ptx(&command, &mut output).expect("a vector can be written");
    let text = String::from_utf8(output).expect("the output is text");
    assert_eq!(tally, Tally { passed: 1, failed: 0 }, "{text}");
    assert!(text.contains(" warp instructions, "), "{text}");
    let y = fs::read(out.join("scale.y.bin")).expect("y is saved");
    assert_eq!(y, little_endian((0..ELEMENTS).map(|i| 2 * (1000 - i * i))));
    assert!(!out.join("scale.x.bin").exists(), "x is only read");

    fs::write(folder.join("x.bin"), &x[4..]).expect("the input can be written");
    let (text, _) = run(vec![file]);
    assert!(
        text.contains("field `buffers.x.init.path`: required a file of 320 bytes, actual 316"),
        "{text}"
    );
}

fn kiln(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(arguments)
        .output()
        .expect("the command was built for this test")
}

#[test]
fn the_exit_status_says_whether_anything_failed() {
    let folder = folder("status");
    let good = save(&folder, &launch());
    let good = good.to_str().expect("the path is text");
    assert_eq!(kiln(&["run-ptx", good]).status.code(), Some(0));
    let output = kiln(&["run-ptx", good, "none.json", "--threads", "1", "--stats"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n1 passed, 1 failed\n"));
}

#[test]
fn layouts_are_shown_and_refused() {
    let form = "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))";
    let output = kiln(&["layout", form, "--shape", "16"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    // Four rows in a thread, the same in all lanes, the next four in the next warp.
    assert!(
        text.contains("register [1] [2]\nlane     [0] [0] [0] [0] [0]\nwarp     [4] [8]\n"),
        "{text}"
    );
    assert!(text.contains("each element is held 32 times"), "{text}");
    let output = kiln(&["layout", "blocked([1], [32], [1], [1])", "--shape", "16"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("order must name every axis exactly once, but is [1]"), "{text}");
}

/// The second warp reads what the first one stored in shared memory, with nothing that orders the two.
const RACE: &str = "\
.version 7.0
.target sm_80
.address_size 64

.visible .entry race(.param .u64 y)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .shared .b32 tile[64];
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    shl.b32 %r2, %r2, 2;
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 st.shared.u32 [%r3], %r1;
    ld.shared.u32 %r4, [%r3];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
";

#[test]
fn hazards_end_a_launch_or_are_listed_beside_its_results() {
    let folder = folder("hazards");
    let text = RACE.replace(".reg .b32 %r<6>;", ".reg .pred %p<2>; .reg .b32 %r<6>;");
    fs::write(folder.join("race.ptx"), text).expect("the kernel can be written");
    let launch = json!({
        "schema": 1, "name": "race", "ptx": "race.ptx", "entry": "race",
        "launch": {"grid": [2, 1, 1], "cluster": [1, 1, 1], "block": [64, 1, 1], "num_warps": 2,
                   "dynamic_shared_bytes": 0, "tmem_columns": 0, "pdl": false},
        "params": [{"name": "y", "kind": "pointer", "buffer": "y"}],
        "buffers": {"y": {"dtype": "i32", "shape": [64], "role": "out",
                          "init": {"kind": "fill_byte", "byte": 0xCD}}},
        "cases": [{"scalars": {}, "expected": {"y": {
            "tolerance": {"atol": 0.0, "rtol": 0.0, "bit_exact": true},
            "sha256": sha256(&little_endian((0..64).map(|i| i % 32))),
            "samples": [[0, 0], [63, 31]],
        }}}],
    });
    let file = save(&folder, &launch);
    let json = folder.join("findings.json");
    let on = |hazards: &str| {
        let (file, json) = (file.to_str().expect("text"), json.to_str().expect("text"));
        let output = kiln(&["run-ptx", "--hazards", hazards, "--findings", json, file]);
        (output.status.success(), String::from_utf8(output.stdout).expect("text"))
    };
    let (passed, text) = on("error");
    assert!(!passed && text.contains("FAILED race: data race: a load of 4 bytes"), "{text}");
    let saved = || -> Value {
        let saved = fs::read_to_string(&json).expect("the findings are saved");
        serde_json::from_str(&saved).expect("they are JSON")
    };
    let fatal = saved();
    assert_eq!((&fatal[0]["findings"], &fatal[0]["fault"]["code"]), (&json!([]), &json!("H05")));
    let nowhere = folder.join("nowhere/findings.json");
    let (file_text, nowhere) = (file.to_str().expect("text"), nowhere.to_str().expect("text"));
    let output = kiln(&["run-ptx", "--hazards", "warn", "--findings", nowhere, file_text]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(!output.status.success() && text.contains("FAILED to save the findings as"), "{text}");
    let (passed, text) = on("off");
    assert!(passed && !text.contains("data race"), "{text}");
    let (passed, text) = on("warn");
    assert!(passed, "{text}");
    assert!(text.contains("\n  H05: data race: a load of 4 bytes at shared address 0x"), "{text}");
    let kernel = folder.join("race.ptx");
    let text = fs::read_to_string(&kernel).expect("the kernel is there");
    let before = saved();
    fs::write(&kernel, text.replace("ret;", "@!%p1 trap;\n    ret;"))
        .expect("the kernel can be written");
    assert!(!on("warn").0);
    let trapped = saved();
    assert_eq!(trapped[0]["findings"], before[0]["findings"]);
    assert_eq!(trapped[0]["fault"]["code"], "F08");
    let saved = before;
    assert!(saved[0]["fault"].is_null(), "{saved}");
    let found = &saved[0]["findings"];
    assert_eq!(saved[0]["launch"], "race");
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{saved}");
    assert_eq!((&found[0]["code"], &found[0]["missing"]), (&json!("H05"), &json!("bar.sync")));
    assert_eq!((&found[0]["ptx_line"], &found[0]["other"]["ptx_line"]), (&json!(18), &json!(17)));
    assert_eq!(found[0]["other"]["agent"], "lane 0 of warp 0");
}

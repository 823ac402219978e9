//! Pipelined loops: copies from where loaded indices say, in branches on the iteration and on loaded masks, by TMA and in groups; data that is
//! used in the branch of its copy, in one of its own, or in every iteration.

use std::fmt::Write;

use kernel_testkit::data::Random;

/// Whether a kernel copies by TMA.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copies {
    Tma,
    InGroups,
    Both,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("pipelines {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let copies = [Copies::Tma, Copies::InGroups, Copies::Both]
        [usize::try_from(below(3)).expect("the list is short")];
    let (warps, stages, iterations) = (1 << below(3), 2 + below(4), below(9));
    let (step, buffers) = (1 + below(3), 1 + below(3));
    let target = if copies == Copies::InGroups { "sm_80" } else { "sm_90a" };
    // How often an outer loop runs it.
    let rounds = 1 + below(3);
    let (mut body, mut later, mut shared, mut params, mut header) =
        (String::new(), String::new(), String::new(), String::new(), String::new());
    for buffer in 0..buffers {
        let tma = match copies {
            Copies::Tma => true,
            Copies::InGroups => false,
            Copies::Both => below(2) == 0,
        };
        let mut place = || {
            let at = match below(5) {
                0 => "k % 8".to_owned(),
                1 => "page".to_owned(),
                2 => "(page + k) % 8".to_owned(),
                3 => "load(table.ptr() + load(table.ptr() + k))".to_owned(),
                _ => "table.tile([k], [4]).load().max(0).item()".to_owned(),
            };
            if tma {
                format!("copy_async(x{buffer}.at([({at}) * 8, 0]), s{buffer});")
            } else if below(2) == 0 {
                format!("copy_async(x{buffer}.tile([({at}) * 8, 0], [8, 16]), s{buffer});")
            } else {
                let rows = format!("(({at}) * 8 + arange(0, 8)).expand(1) * 16");
                let columns = "arange(0, 16).expand(0)";
                format!("copy_async(x{buffer}.ptr() + ({rows} + {columns}), s{buffer});")
            }
        };
        let (copy, other) = (place(), place());
        let condition = match below(6) {
            0 => "k % 2 == 0",
            1 => "live",
            2 => "live && k > 2",
            3 => "load(mask.ptr() + k) != 0",
            4 => "!live",
            _ => "page > 3",
        };
        let inner = match below(3) {
            0 => "page % 2 == 0",
            1 => "k < 5",
            _ => "table.tile([k], [4]).load().max(0).item() > 5",
        };
        let sum = format!("total = total * 3 + s{buffer}.load();");
        match below(6) {
            0 => {
                _ = writeln!(body, "{copy}");
                _ = writeln!(later, "{sum}");
            }
            1 => _ = writeln!(body, "if {condition} {{ {copy} {sum} }}"),
            2 => {
                _ = writeln!(body, "if {condition} {{ {copy} }}");
                _ = writeln!(later, "if {condition} {{ {sum} }} else {{ total += 5; }}");
            }
            3 => {
                _ = writeln!(body, "if {condition} {{ {copy} }} else {{ {other} }}");
                _ = writeln!(later, "{sum}");
            }
            4 => {
                _ = writeln!(
                    body,
                    "if {condition} {{ if {inner} {{ {copy} {sum} }} else {{ {other} }} }}"
                );
                _ = writeln!(later, "if {condition} {{ {sum} }}");
            }
            _ => {
                _ = writeln!(body, "if {condition} {{ if {inner} {{ {copy} }} }}");
                _ = writeln!(later, "if {inner} {{ if {condition} {{ {sum} }} }}");
            }
        }
        let block = if tma { "#[block(8, 16)] " } else { "" };
        let kind = if tma { "TensorMap" } else { "Tensor" };
        _ = write!(params, "{block}x{buffer}: {kind}<i32, 2>, ");
        _ = writeln!(header, "//@ arg x{buffer}: i32[64, 16] bits");
        _ = writeln!(shared, "    let s{buffer} = shared::<i32>([8, 16]);");
    }
    // The last iteration's indices are the last of the tensors.
    let length = ((iterations.max(1) - 1) * step + 1).max(8);
    let to = iterations * step - below(step).min(iterations * step);
    format!(
        "//@ run: eval, emulate, gpu\n//@ compare: exact\n//@ arg to: i32 scalar {to}\n\
         //@ arg table: i32[{length}] list(7, 3, 0, 5, 1, 6, 6, 2, 4)\n\
         //@ arg mask: i32[{length}] list(1, 0, 0, 1, 1, 1, 0)\n{header}//@ arg out: i32[8, 16] poison\n\
         use kiln::prelude::*;\n\n#[kernel(target = {target}, warps = {warps}, grid = 1)]\n\
         pub fn pipelines_{seed}(to: i32, table: Tensor<i32, 1>, mask: Tensor<i32, 1>, {params}out: TensorMut<i32, 2>) {{\n{shared}    \
         let mut total = zeros::<i32>([8, 16]);\n    for round in 0..{rounds} {{\n    \
         for k in pipeline(range(0, to - round, {step}), {stages}) {{\n    let page = load(table.ptr() + k);\n    \
         let live = load(mask.ptr() + k) != 0;\n{body}{later}    total += page;\n    }}\n    }}\n    \
         out.tile([0, 0], [8, 16]).store(total);\n}}\n"
    )
}

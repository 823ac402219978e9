//! Statements: loops, branches, shared memory, products, stores.

use std::fmt::Write as _;

use kernel_core::ir::Dtype;

use crate::{
    operations::{data, load_of, strides, tile_of},
    program::{INTEGERS, Program, Tile, elements, step},
};

/// What one operation leaves in shared memory another reads, perhaps the other way round.
pub(crate) fn through_shared(program: &mut Program) {
    let Some(tile) = program.pick(|tile| tile.shape.len() < 3) else { return };
    let transposed = tile.shape.len() == 2 && program.chance(40);
    let mut shape = tile.shape.clone();
    if transposed {
        shape.reverse();
    }
    let Some(name) = program.allocate(tile.dtype, &shape) else { return };
    let view = if transposed { ".t()" } else { "" };
    program.line(&format!("{name}{view}.store({});", tile.name));
    program.line("sync();");
    if shape.len() == 2 && program.chance(50) {
        let turned = [shape[1], shape[0]];
        program.bind(&format!("{name}.t().load()"), tile.dtype, &turned);
    } else {
        program.bind(&format!("{name}.load()"), tile.dtype, &shape);
    }
    program.line("sync();");
    if program.chance(30) {
        let again = tile_of(program, tile.dtype, &shape).name;
        program.line(&format!("{name}.store({again});"));
        program.line("sync();");
        program.bind(&format!("{name}.load()"), tile.dtype, &shape);
        program.line("sync();");
    }
}

/// A view of shared memory of that shape, which is a matrix: other extents, a part, the transpose, and for integers perhaps another type.
/// What begins at run time begins at a scalar that is made a multiple.
fn view(program: &mut Program, shared: &str, dtype: Dtype, shape: [i32; 2]) -> (String, Tile) {
    let (mut text, mut dtype, mut shape) = (shared.to_owned(), dtype, shape.to_vec());
    for _ in 0..program.from(1..=3) {
        let all = elements(&shape);
        match program.below(6) {
            0 => {
                let rows = up_to(program, all);
                shape = vec![rows, all / rows];
                _ = write!(text, ".reshape({shape:?})");
            }
            1 if all >= 4 => {
                let groups = 2 * up_to(program, all / 4);
                let rows = up_to(program, all / groups);
                shape = vec![rows, all / groups / rows];
                let (rows, columns) = (shape[0], shape[1]);
                let index = multiple(program, 1, groups);
                _ = write!(text, ".reshape([{groups}, {rows}, {columns}])[{index}]");
            }
            2 | 3 => {
                let part: Vec<i32> = shape.iter().map(|&extent| up_to(program, extent)).collect();
                let sides = part.iter().zip(&shape);
                let at: Vec<String> =
                    sides.map(|(part, all)| multiple(program, *part, all / part)).collect();
                _ = write!(text, ".tile([{}], {part:?})", at.join(", "));
                shape = part;
            }
            4 if dtype.is_int() => {
                let to = program.one_of(&INTEGERS);
                let (from, bytes) = (dtype.bytes(), to.bytes());
                let last = shape.len() - 1;
                let row = shape[last] * i32::try_from(from).expect("at most 8");
                let bytes = i32::try_from(bytes).expect("at most 8");
                // The rows of a transpose are not contiguous, and a part may be less than an element.
                if !text.contains(".t()") && row % bytes == 0 {
                    shape[last] = row / bytes;
                    _ = write!(text, ".view::<{}>()", to.name());
                    dtype = to;
                }
            }
            _ => {
                shape.reverse();
                text += ".t()";
            }
        }
    }
    (text, Tile { name: String::new(), dtype, shape })
}

/// A power of two, up to one.
fn up_to(program: &mut Program, most: i32) -> i32 {
    1 << program.below(most.ilog2() + 1)
}

/// One of so many multiples of an extent.
fn multiple(program: &mut Program, of: i32, count: i32) -> String {
    if program.chance(50) {
        return (program.from(0..=count - 1) * of).to_string();
    }
    let scalar = program.any_scalar();
    format!("({scalar} & {}) * {of}", count - 1)
}

/// Elements of shared memory at tiles of indices, some of them outside: read; changed in one step, where the order is of no consequence; or
/// written, each by one thread.
pub(crate) fn by_index(program: &mut Program) {
    let Some(tile) = program.pick(|tile| (1..3).contains(&tile.shape.len())) else { return };
    let Some(name) = program.allocate(tile.dtype, &tile.shape) else { return };
    let (dtype, mut extents) = (tile.dtype, tile.shape.clone());
    program.line(&format!("{name}.store({});", tile.name));
    program.line("sync();");
    let turned = extents.len() == 2 && program.chance(30);
    if turned {
        extents.reverse();
    }
    let view = format!("{name}{}", if turned { ".t()" } else { "" });
    let shape = program.shape();
    let indices = indices(program, &extents, &shape);
    program.bind(&format!("{view}.gather({indices})"), dtype, &shape);
    program.line("sync();");
    let word = dtype.has_arithmetic() && dtype.bytes() >= 4;
    if word && dtype.is_int() && program.chance(50) {
        let values = tile_of(program, dtype, &shape).name;
        let change = program.one_of(&["add", "max", "min", "and", "or", "xor"]);
        program.line(&format!("{view}.atomic_{change}({indices}, {values});"));
    } else {
        // No two of these indices are the same.
        let mut apart = Vec::new();
        for (axis, &extent) in extents.iter().enumerate() {
            let grown =
                if extents.len() == 1 { String::new() } else { format!(".expand({})", 1 - axis) };
            let start = program.from(-2..=extent + 1);
            apart.push(if program.chance(50) {
                format!("(arange(0, {extent}) + {start}){grown}")
            } else {
                format!("({start} - arange(0, {extent})){grown}")
            });
        }
        let (apart, values) = (apart.join(", "), tile_of(program, dtype, &extents).name);
        if word && program.chance(50) {
            let change = program.one_of(&["add", "exchange"]);
            program.bind(&format!("{view}.atomic_{change}([{apart}], {values})"), dtype, &extents);
        } else {
            program.line(&format!("{view}.scatter([{apart}], {values});"));
        }
    }
    program.line("sync();");
    program.bind(&format!("{name}.load()"), dtype, &tile.shape);
    program.line("sync();");
}

/// Tiles of indices of that shape, one for each axis of memory of these extents.
fn indices(program: &mut Program, extents: &[i32], shape: &[i32]) -> String {
    let mut all = Vec::new();
    for extent in extents {
        let index = tile_of(program, Dtype::I32, shape).name;
        all.push(match program.below(4) {
            0 => index,
            1 => format!("{index} % {extent}"),
            2 => format!("(({index} & {}) - 1)", 2 * extent - 1),
            _ => format!("({index} & {})", extent - 1),
        });
    }
    match &all[..] {
        [one] => one.clone(),
        _ => format!("[{}]", all.join(", ")),
    }
}

/// A whole tensor, or a window of one, copied asynchronously and read in several ways, which together choose how it lies.
pub(crate) fn copied(program: &mut Program) {
    let dtype = program.number();
    let shape = [1 << program.from(0..=7), 1 << program.from(1..=7)];
    if elements(&shape) > program.most_elements {
        return;
    }
    let Some(shared) = program.allocate(dtype, &shape) else { return };
    let extents = shape.map(|extent| extent + program.one_of(&[0, 0, 0, 0, -1, 8]));
    let extents = extents.map(|extent| extent.max(1));
    let (name, words) = (program.name("x"), data(program, dtype));
    let layout = strides(program, &extents);
    let described = format!("{}{extents:?} {words}{layout}", dtype.name());
    program.param(&name, &format!("Tensor<{}, 2>", dtype.name()), &described);
    if program.chance(30) {
        program.line(&format!("{name}.tile([-1, 1], {shape:?}).prefetch();"));
    }
    let kept = program.one_of(&["", "", ".evict_first()", ".evict_last()"]);
    for line in [
        format!("copy_async({name}.tile([0, 0], {shape:?}), {shared}){kept};"),
        "copy_async_wait_all();".to_owned(),
        "sync();".to_owned(),
    ] {
        program.line(&line);
    }
    let [rows, columns] = shape;
    for _ in 0..program.from(1..=3) {
        match program.below(6) {
            0 | 1 => program.bind(&format!("{shared}.load()"), dtype, &shape),
            4 | 5 => {
                let (text, of) = view(program, &shared, dtype, shape);
                program.bind(&format!("{text}.load()"), of.dtype, &of.shape)
            }
            2 => program.bind(&format!("{shared}.t().load()"), dtype, &[columns, rows]),
            _ => {
                let half = [rows * 2, columns / 2];
                program.bind(&format!("{shared}.load().reshape({half:?})"), dtype, &half)
            }
        };
    }
    program.line("sync();");
}

/// A counted loop that carries tiles and a scalar.
pub(crate) fn count(program: &mut Program) {
    if program.depth >= 2 {
        return;
    }
    let mut carried: Vec<Tile> = Vec::new();
    for _ in 0..program.from(1..=3) {
        if let Some(tile) = program.pick(|_| true) {
            let name = program.name("m");
            program.line(&format!("let mut {name} = {};", tile.name));
            carried.push(Tile { name, ..tile });
        }
    }
    let (scalar, index) = (program.name("k"), program.name("at"));
    let start = program.any_scalar();
    program.line(&format!("let mut {scalar} = {start};"));
    let unrolled = program.chance(15);
    let range = if unrolled {
        format!("unroll(0..{})", program.from(0..=3))
    } else {
        match program.below(3) {
            0 => format!("{}..{}", program.from(-2..=2), program.from(-1..=4)),
            1 => {
                let (from, to) = (program.any_scalar(), program.any_scalar());
                format!("range({from}, {to}, {})", program.one_of(&[7, 11, -9]))
            }
            _ => format!("0..({} & 3)", program.any_scalar()),
        }
    };
    program.line(&format!("for {index} in {range} {{"));
    program.nested(|program| {
        let sum = program.name("c");
        program.line(&format!("let {sum} = ({index} + {scalar}) & 31;"));
        program.scalars.push(sum);
        program.tiles.extend(carried.clone());
        for _ in 0..program.from(1..=3) {
            step(program);
            if !unrolled && program.chance(15) {
                let (scalar, value) = (program.any_scalar(), program.from(0..=6));
                let exit = program.one_of(&["continue", "break"]);
                program.line(&format!("if {scalar} == {value} {{ {exit}; }}"));
            }
        }
        for tile in &carried {
            let next = tile_of(program, tile.dtype, &tile.shape).name;
            if next != tile.name {
                program.line(&format!("{} = {next};", tile.name));
            }
        }
        let change = program.one_of(&[1, 2, -1]);
        program.line(&format!("{scalar} += {change};"));
    });
    program.line("}");
    program.tiles.extend(carried);
    let after = program.name("c");
    program.line(&format!("let {after} = {scalar} & 31;"));
    program.scalars.push(after);
}

/// A tile that one of two branches sets.
pub(crate) fn branch(program: &mut Program) {
    let Some(tile) = program.pick(|_| true).filter(|_| program.depth < 3) else { return };
    let name = program.name("m");
    program.line(&format!("let mut {name} = {};", tile.name));
    let (scalar, value) = (program.any_scalar(), program.from(0..=20));
    let how = program.one_of(&["<", ">", "==", "!="]);
    program.line(&format!("if {scalar} {how} {value} {{"));
    let arm = |program: &mut Program| {
        program.nested(|program| {
            for _ in 0..program.from(0..=2) {
                step(program);
            }
            let value = tile_of(program, tile.dtype, &tile.shape).name;
            program.line(&format!("{name} = {value};"));
        });
    };
    arm(program);
    if program.chance(60) {
        program.line("} else {");
        arm(program);
    }
    program.line("}");
    program.tiles.push(Tile { name, ..tile });
}

/// Asynchronous copies into the stages of a ring, and a sum or an extreme over them.
pub(crate) fn ring(program: &mut Program) {
    if program.depth > 1 {
        return;
    }
    let dtype = program.number();
    let shape = [1 << program.from(0..=5), 1 << program.from(0..=5)];
    let stages = program.from(1..=3);
    let Some(shared) = program.allocate(dtype, &[stages, shape[0], shape[1]]) else { return };
    let extents = [
        (shape[0] + program.one_of(&[0, -1, 2])).max(1),
        (shape[1] * program.from(0..=4) + program.one_of(&[0, -1, 3])).max(1),
    ];
    let (name, words) = (program.name("x"), data(program, dtype));
    let layout = strides(program, &extents);
    let described = format!("{}{extents:?} {words}{layout}", dtype.name());
    program.param(&name, &format!("Tensor<{}, 2>", dtype.name()), &described);
    let start = tile_of(program, dtype, &shape).name;
    let (total, at) = (program.name("m"), program.name("k"));
    let [_, step] = shape;
    program.line(&format!("let mut {total} = {start};"));
    program.line(&format!("for {at} in range(0, {name}.dim(1), {step}) {{"));
    let stage = format!("{shared}[({at} / {step}) % {stages}]");
    let next = if INTEGERS.contains(&dtype) {
        format!("{total} + {stage}.load()")
    } else {
        format!("minimum({stage}.load(), {total})")
    };
    for line in [
        format!("    copy_async({name}.tile([0, {at}], {shape:?}), {stage});"),
        "    copy_async_wait_all();".to_owned(),
        "    sync();".to_owned(),
        format!("    {total} = {next};"),
        "    sync();".to_owned(),
        "}".to_owned(),
    ] {
        program.line(&line);
    }
    program.tiles.push(Tile { name: total, dtype, shape: shape.to_vec() });
}

/// A product of small integers, which every order of summing gives exactly.
pub(crate) fn product(program: &mut Program) {
    let (factor, sum) = program.one_of(&[
        (Dtype::F16, Dtype::F32),
        (Dtype::F16, Dtype::F16),
        (Dtype::Bf16, Dtype::F32),
        (Dtype::I8, Dtype::I32),
        (Dtype::F32, Dtype::F32),
    ]);
    let [rows, columns] = [16 * program.one_of(&[1, 2]), 8 * program.one_of(&[1, 2, 4])];
    let terms = if factor == Dtype::I8 { 32 } else { 16 * program.one_of(&[1, 2]) };
    let left = operand(program, factor, [rows, terms]);
    let right = operand(program, factor, [terms, columns]);
    let start = small(program, sum, [rows, columns]);
    program.bind(&format!("dot({left}, {right}, {start})"), sum, &[rows, columns]);
}

/// From global memory, transposed, or through shared memory.
fn operand(program: &mut Program, dtype: Dtype, shape: [i32; 2]) -> String {
    if program.chance(30) {
        let [rows, columns] = shape;
        return format!("{}.t()", small(program, dtype, [columns, rows]));
    }
    let name = small(program, dtype, shape);
    if program.chance(40)
        && let Some(shared) = program.allocate(dtype, &shape)
    {
        program.line(&format!("{shared}.store({name});"));
        program.line("sync();");
        return if program.chance(50) { shared } else { format!("{shared}.load()") };
    }
    name
}

fn small(program: &mut Program, dtype: Dtype, shape: [i32; 2]) -> String {
    let extents = shape.map(|extent| extent + program.one_of(&[0, 0, 0, -1, 3]));
    let values: Vec<String> = (0..7).map(|_| program.from(-3..=3).to_string()).collect();
    let name = program.name("x");
    let described = format!("{}{extents:?} list({})", dtype.name(), values.join(", "));
    program.param(&name, &format!("Tensor<{}, 2>", dtype.name()), &described);
    program.bind(&format!("{name}.tile([0, 0], {shape:?}).load()"), dtype, &shape).name
}

pub(crate) fn scalar(program: &mut Program) {
    let (a, b) = (program.any_scalar(), program.any_scalar());
    let value = match program.below(7) {
        0 => format!("{a} + {b}"),
        1 => format!("{a} * 3 - {b}"),
        2 => format!("-{a} / 3"),
        3 => format!("(-{a} - 7) % 4"),
        4 => format!("{a} << ({b} & 3)"),
        5 => format!("(-{a}) >> 1"),
        _ => format!("if {a} < {b} {{ {a} }} else {{ {b} + 1 }}"),
    };
    let name = program.name("c");
    program.line(&format!("let {name} = ({value}) & 31;"));
    program.scalars.push(name);
}

/// An approximated function, stored at once: what is computed of it would differ further.
pub(crate) fn function(program: &mut Program) {
    if program.depth > 0 {
        return;
    }
    let shape = program.shape();
    let which = program.below(19);
    // The hardware has no approximations of `f64`.
    let double = which < 16 && program.chance(25);
    let dtype = if double { Dtype::F64 } else { Dtype::F32 };
    let x = load_of(program, dtype, &shape);
    let positive =
        format!("({0} * {0} + 1.0)", format_args!("minimum(maximum({}, -4.0), 4.0)", x.name));
    let value = match which {
        0 => format!("(-{positive}).exp()"),
        1 => format!("{positive}.rsqrt()"),
        2 => format!("{positive}.sqrt()"),
        3 => format!("{}.erf()", x.name),
        4 => format!("{positive}.log2()"),
        5 => format!("(-{positive}).exp_m1()"),
        6 => format!("(-{positive}).exp2()"),
        7 => format!("{positive}.ln()"),
        8 => format!("{positive}.ln_1p()"),
        9 => format!("{positive}.log10()"),
        10 => format!("{}.sin()", x.name),
        11 => format!("{}.cos()", x.name),
        12 => format!("{}.tanh()", x.name),
        13 => format!("{}.erfc()", x.name),
        14 => format!("{}.cbrt()", x.name),
        15 => format!("{positive}.powf(-1.25)"),
        16 => format!("(-{positive}).exp_approx()"),
        17 => format!("(-{positive}).exp2_approx()"),
        _ => format!("{positive}.ln_approx()"),
    };
    let tile = program.bind(&value, dtype, &shape);
    let out = store(program, &tile);
    // The approximations of the hardware are within 2^-22 of the value, that of `exp` a few times more.
    program.nearly(&out, "rtol=4e-6 atol=4e-7");
    program.tiles.pop();
}

pub(crate) fn store_some(program: &mut Program) {
    if program.depth == 0
        && let Some(tile) = program.pick(|_| true)
    {
        store(program, &tile);
    }
}

/// Changes a tensor of its own in one step for each element, each block in its part, in any order and scope; and reads it, and may write it,
/// in the same way.
pub(crate) fn changed(program: &mut Program) {
    let fits = |tile: &Tile| tile.dtype.is_int() && tile.dtype.bytes() >= 4 && tile.shape.len() < 3;
    if program.depth > 0 {
        return;
    }
    let Some(tile) = program.pick(fits) else { return };
    let mut extents = vec![program.blocks];
    let mut shape = vec![1];
    let mut offsets = vec!["block_id(0)".to_owned()];
    for &extent in &tile.shape {
        extents.push((extent + program.one_of(&[0, 0, -1, 3])).max(1));
        shape.push(extent);
        offsets.push(program.one_of(&[0, 0, -1, 1]).to_string());
    }
    let layout = strides(program, &extents);
    let (name, dtype) = (program.name("o"), tile.dtype.name());
    let described = format!("{dtype}{extents:?} iota(-3, 1){layout}");
    program.param(&name, &format!("TensorMut<{dtype}, {}>", extents.len()), &described);
    let window = format!("{name}.tile([{}], {shape:?})", offsets.join(", "));
    let value = format!("{}.expand(0)", tile.name);
    let scope = program.one_of(&["", ".system_scope()"]);
    let order = program.one_of(&["", ".acquire()", ".release()", ".acq_rel()"]);
    let change = program.one_of(&["add", "max", "min", "and", "or", "xor", "exchange"]);
    let does = format!("{window}{scope}{order}.atomic_{change}({value})");
    if program.chance(50) {
        program.line(&format!("{does};"));
    } else {
        program.bind(&format!("{does}.reshape({:?})", tile.shape), tile.dtype, &tile.shape);
    }
    let order = program.one_of(&["", ".acquire()"]);
    let read = format!("{window}{order}{scope}.atomic_load().reshape({:?})", tile.shape);
    program.bind(&read, tile.dtype, &tile.shape);
    if program.chance(50) {
        let order = program.one_of(&["", ".release()"]);
        program.line(&format!("{window}{order}.atomic_store({value});"));
    }
}

/// Stores a tile into a tensor of its own, each block in its part; gives the tensor's name.
pub(crate) fn store(program: &mut Program, tile: &Tile) -> String {
    let rank = tile.shape.len();
    let whole = program.chance(50);
    let mut extents = vec![program.blocks];
    let mut offsets = vec!["block_id(0)".to_owned()];
    for extent in &tile.shape {
        if whole {
            extents.push(*extent);
            offsets.push("0".to_owned());
        } else {
            extents.push((extent + program.one_of(&[0, -1, 2, 5])).max(1));
            offsets.push(program.one_of(&[0, 0, -2, -1, 1]).to_string());
        }
    }
    let words = if whole { "poison" } else { "fill(1)" };
    let layout = strides(program, &extents);
    let name = program.name("o");
    let dtype = tile.dtype.name();
    let described = format!("{dtype}{extents:?} {words}{layout}");
    program.param(&name, &format!("TensorMut<{dtype}, {}>", rank + 1), &described);
    let mut shape = vec![1];
    shape.extend(&tile.shape);
    let offsets = offsets.join(", ");
    program.line(&format!("{name}.tile([{offsets}], {shape:?}).store({}.expand(0));", tile.name));
    name
}

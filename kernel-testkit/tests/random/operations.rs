//! Operations on tiles: each binds one more variable.

use kernel_core::ir::Dtype;

use crate::program::{Program, Tile, elements};

/// A window of a new tensor, which may reach over its edges.
pub(crate) fn load(program: &mut Program) {
    let (dtype, shape) = (program.dtype(), program.shape());
    load_of(program, dtype, &shape);
}

pub(crate) fn load_of(program: &mut Program, dtype: Dtype, shape: &[i32]) -> Tile {
    let words = data(program, dtype);
    let extents: Vec<i32> = shape
        .iter()
        .map(|extent| (extent + program.one_of(&[0, 0, 0, 1, -1, 3, -3, 8])).max(1))
        .collect();
    let offsets: Vec<String> = shape
        .iter()
        .map(|extent| match program.below(6) {
            0 => program.from(-*extent..=*extent).to_string(),
            1 => format!("{} * {}", program.any_scalar(), program.one_of(&[1, 2, 8])),
            _ => "0".to_owned(),
        })
        .collect();
    let name = program.name("x");
    let layout = strides(program, &extents);
    let ty = format!("Tensor<{}, {}>", dtype.name(), shape.len());
    program.param(&name, &ty, &format!("{}{extents:?} {words}{layout}", dtype.name()));
    let offsets = offsets.join(", ");
    program.bind(&format!("{name}.tile([{offsets}], {shape:?}).load()"), dtype, shape)
}

/// Words of the header about how a tensor lies in memory: mostly dense, else with gaps, by columns, off the start.
pub(crate) fn strides(program: &mut Program, extents: &[i32]) -> String {
    let mut out = String::new();
    if let ([rows, _], true) = (extents, program.chance(15)) {
        out = format!(" strides(1, {})", rows + program.one_of(&[0, 1, 8]));
    } else if program.chance(30) {
        let mut stride = program.one_of(&[1, 1, 2, 3]);
        let mut list = Vec::new();
        for extent in extents.iter().rev() {
            list.insert(0, stride.to_string());
            stride = stride * extent + program.one_of(&[0, 1, 5, 8]);
        }
        out = format!(" strides({})", list.join(", "));
    }
    if program.chance(30) {
        return format!("{out} offset({})", program.from(0..=9));
    }
    out
}

/// Words of the header about values.
pub(crate) fn data(program: &mut Program, dtype: Dtype) -> &'static str {
    if dtype == Dtype::Bool {
        program.one_of(&["bits", "list(1, 0, 0)"])
    } else if dtype.is_float() {
        program.one_of(&["bits", "list(1, -2, 3, 0, 5, -1, 2)", "edges(0)", "uniform(-4.0, 4.0)"])
    } else {
        program.one_of(&["bits", "bits", "edges(0)", "iota(0, 1)"])
    }
}

/// A tile of that type and shape: a variable, or made of one.
pub(crate) fn tile_of(program: &mut Program, dtype: Dtype, shape: &[i32]) -> Tile {
    if let Some(tile) = program.pick(|tile| tile.dtype == dtype && tile.shape == shape)
        && program.chance(90)
    {
        return tile;
    }
    if let Some(tile) = program.pick(|tile| tile.dtype != dtype && tile.shape == shape)
        && program.chance(70)
    {
        return program.bind(&format!("{}.cast::<{}>()", tile.name, dtype.name()), dtype, shape);
    }
    if program.chance(40) {
        let literal = program.literal(dtype);
        return program.bind(
            &format!("full::<{}>({shape:?}, {literal})", dtype.name()),
            dtype,
            shape,
        );
    }
    if let ([extent], true) = (shape, program.chance(40)) {
        let start = program.from(-5..=5);
        let value = format!("arange({start}, {}).cast::<{}>()", start + extent, dtype.name());
        return program.bind(&value, dtype, shape);
    }
    load_of(program, dtype, shape)
}

fn any(program: &mut Program, fits: impl Fn(&Tile) -> bool) -> Tile {
    if let Some(tile) = program.pick(fits) {
        return tile;
    }
    let shape = program.shape();
    load_of(program, Dtype::I32, &shape)
}

pub(crate) fn binary(program: &mut Program) {
    let Tile { name, dtype, shape } = any(program, |_| true);
    let value = if dtype == Dtype::Bool {
        let operator = program.one_of(&["&", "|", "^"]);
        format!("{name} {operator} {}", tile_of(program, dtype, &shape).name)
    } else if dtype.is_float() {
        let other = tile_of(program, dtype, &shape).name;
        match program.below(7) {
            0 => format!("minimum({name}, {other})"),
            1 => format!("maximum({name}, {other})"),
            2 => format!("fma({name}, {other}, {})", tile_of(program, dtype, &shape).name),
            3 => format!("{name} {} {}", program.one_of(&["+", "-", "*"]), program.literal(dtype)),
            _ => format!("{name} {} {other}", program.one_of(&["+", "-", "*"])),
        }
    } else {
        integer_binary(program, &name, dtype, &shape)
    };
    program.bind(&value, dtype, &shape);
}

fn integer_binary(program: &mut Program, name: &str, dtype: Dtype, shape: &[i32]) -> String {
    match program.below(9) {
        0 => {
            let divisor = program.one_of(&[1, 2, 3, 7, 10, 16, 100, 127]);
            format!("{name} {} {divisor}", program.one_of(&["/", "%"]))
        }
        1 if dtype.name().starts_with('i') => {
            format!("{name} {} {}", program.one_of(&["/", "%"]), program.one_of(&[-1, -3, -8]))
        }
        2 => {
            let most = i32::try_from(8 * dtype.bytes() - 1).expect("at most 63");
            format!("{name} {} {}", program.one_of(&["<<", ">>"]), program.from(0..=most))
        }
        3 => {
            format!("{name} {} ({})", program.one_of(&["+", "-", "*"]), program.literal(dtype))
        }
        4 => {
            // An odd divisor is not zero.
            let other = tile_of(program, dtype, shape).name;
            format!("{name} {} ({other} | 1)", program.one_of(&["/", "%"]))
        }
        5 => {
            let other = tile_of(program, dtype, shape).name;
            format!("{}({name}, {other})", program.one_of(&["minimum", "maximum"]))
        }
        _ => {
            let other = tile_of(program, dtype, shape).name;
            let operator = program.one_of(&["+", "-", "*", "&", "|", "^", "<<", ">>"]);
            format!("{name} {operator} {other}")
        }
    }
}

pub(crate) fn compare(program: &mut Program) {
    let Tile { name, dtype, shape } = any(program, |tile| tile.dtype != Dtype::Bool);
    let how = program.one_of(&["lt", "le", "gt", "ge", "eq", "ne"]);
    let other = if program.chance(30) {
        program.literal(dtype)
    } else {
        tile_of(program, dtype, &shape).name
    };
    program.bind(&format!("{name}.{how}({other})"), Dtype::Bool, &shape);
}

pub(crate) fn select(program: &mut Program) {
    let shape = any(program, |_| true).shape;
    let mask = tile_of(program, Dtype::Bool, &shape).name;
    let like = program.pick(|tile| tile.shape == shape);
    let dtype = like.map_or(Dtype::I32, |tile| tile.dtype);
    let (a, b) = (tile_of(program, dtype, &shape).name, tile_of(program, dtype, &shape).name);
    program.bind(&format!("select({mask}, {a}, {b})"), dtype, &shape);
}

pub(crate) fn cast(program: &mut Program) {
    let (tile, dtype) = (any(program, |_| true), program.dtype());
    if dtype != tile.dtype {
        program.bind(&format!("{}.cast::<{}>()", tile.name, dtype.name()), dtype, &tile.shape);
    }
}

pub(crate) fn unary(program: &mut Program) {
    let Tile { name, dtype, shape } = any(program, |_| true);
    let value = if dtype.is_float() {
        let rounded = ["abs", "floor", "ceil", "trunc", "round", "round_ties_even"];
        match program.below(8) {
            0 => format!("-{name}"),
            1 => {
                // Nothing says which sign a computed NaN has (IEEE 754, 6.3).
                let sign = tile_of(program, dtype, &shape).name;
                format!("{name}.copysign(select({sign}.is_nan(), {name}, {sign}))")
            }
            _ => format!("{name}.{}()", program.one_of(&rounded)),
        }
    } else if dtype.name().starts_with('i') && program.chance(60) {
        if program.chance(50) { format!("-{name}") } else { format!("{name}.abs()") }
    } else if dtype != Dtype::Bool && program.chance(70) {
        of_bits(program, &name, dtype, &shape)
    } else {
        format!("!{name}")
    };
    program.bind(&value, dtype, &shape);
}

/// A function of the bits of integers, the counts brought back into the type.
fn of_bits(program: &mut Program, name: &str, dtype: Dtype, shape: &[i32]) -> String {
    let by = program.from(0..=70);
    let counts = ["count_ones", "leading_zeros", "trailing_zeros"];
    match program.below(6) {
        0 => format!("{name}.{}().cast::<{}>()", program.one_of(&counts), dtype.name()),
        1 => format!("{name}.reverse_bits()"),
        2 => format!("{name}.{}({by})", program.one_of(&["rotate_left", "rotate_right"])),
        3 => {
            let side = program.one_of(&["funnel_shl", "funnel_shr"]);
            format!("{name}.{side}({}, {by})", tile_of(program, dtype, shape).name)
        }
        4 => format!("{name}.mul_hi({})", tile_of(program, dtype, shape).name),
        // There and back: NaN keep their payload in registers, and the evaluator does not follow it.
        _ => format!("{name}.bitcast::<{0}>().bitcast::<{1}>()", other_sign(dtype), dtype.name()),
    }
}

/// The integer type of the same width.
fn other_sign(dtype: Dtype) -> String {
    let (sign, width) = dtype.name().split_at(1);
    format!("{}{width}", if sign == "i" { "u" } else { "i" })
}

/// Of integers anything, of floats the extremes: a sum depends on the order of its terms.
pub(crate) fn reduce(program: &mut Program) {
    let Tile { name, dtype, shape } = any(program, |tile| tile.dtype != Dtype::Bool);
    let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
    let value = if dtype.is_float() {
        format!("{name}.{}({axis})", program.one_of(&["max", "min"]))
    } else {
        match program.below(4) {
            0 => format!("{name}.reduce({axis}, |a, b| a ^ b)"),
            1 => format!("{name}.{}({axis})", program.one_of(&["max", "min"])),
            _ => format!("{name}.sum({axis})"),
        }
    };
    if shape.len() > 1 {
        let left: Vec<i32> =
            (0..shape.len()).filter(|other| *other != axis).map(|other| shape[other]).collect();
        program.bind(&value, dtype, &left);
    } else if dtype == Dtype::I32 {
        let scalar = program.name("c");
        program.line(&format!("let {scalar} = {value}.item() & 31;"));
        program.scalars.push(scalar);
    } else {
        let (scalar, shape) = (program.name("c"), program.shape());
        program.line(&format!("let {scalar} = {value}.item();"));
        program.bind(&format!("full({shape:?}, {scalar})"), dtype, &shape);
    }
}

pub(crate) fn expand(program: &mut Program) {
    let tile = any(program, |tile| tile.shape.len() < 3);
    let axis = program.one_of(&(0..=tile.shape.len()).collect::<Vec<usize>>());
    let mut shape = tile.shape;
    shape.insert(axis, 1);
    program.bind(&format!("{}.expand({axis})", tile.name), tile.dtype, &shape);
}

pub(crate) fn broadcast(program: &mut Program) {
    let Some(tile) = program.pick(|tile| tile.shape.contains(&1)) else { return expand(program) };
    let shape: Vec<i32> = tile
        .shape
        .iter()
        .map(|extent| if *extent == 1 { 1 << program.from(0..=6) } else { *extent })
        .collect();
    if elements(&shape) > program.most_elements {
        return;
    }
    let value = if tile.dtype != Dtype::Bool && program.chance(50) {
        let other = tile_of(program, tile.dtype, &shape).name;
        format!("{} {} {other}", tile.name, program.one_of(&["+", "*", "-"]))
    } else {
        format!("{}.broadcast({shape:?})", tile.name)
    };
    program.bind(&value, tile.dtype, &shape);
}

pub(crate) fn reshape(program: &mut Program) {
    let tile = any(program, |_| true);
    let mut shape = vec![1; program.one_of(&[1, 2, 2, 3])];
    let mut left = elements(&tile.shape);
    while left > 1 {
        let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
        shape[axis] *= 2;
        left /= 2;
    }
    program.bind(&format!("{}.reshape({shape:?})", tile.name), tile.dtype, &shape);
}

/// `t`, or any order of the axes.
pub(crate) fn permute(program: &mut Program) {
    let Some(tile) = program.pick(|tile| tile.shape.len() >= 2) else { return };
    if tile.shape.len() == 2 && program.chance(50) {
        let shape = [tile.shape[1], tile.shape[0]];
        program.bind(&format!("{}.t()", tile.name), tile.dtype, &shape);
        return;
    }
    let mut left: Vec<usize> = (0..tile.shape.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let axis = program.one_of(&left);
        left.retain(|other| *other != axis);
        order.push(axis);
    }
    let shape: Vec<i32> = order.iter().map(|axis| tile.shape[*axis]).collect();
    program.bind(&format!("{}.permute({order:?})", tile.name), tile.dtype, &shape);
}

/// Sums and functions that depend on which value comes first, of integers; of floats the extremes.
pub(crate) fn scan(program: &mut Program) {
    let Tile { name, dtype, shape } = any(program, |tile| tile.dtype != Dtype::Bool);
    let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
    let f = if dtype.is_float() {
        format!("|a, b| a.{}(b)", program.one_of(&["max", "min"]))
    } else {
        match program.below(3) {
            0 => "|a, b| if b == 0 { a } else { b }".to_owned(),
            // Not associative: what comes out shows the order.
            1 => "|a, b| a - b".to_owned(),
            _ => {
                let method = program.one_of(&["cumsum", "cumprod"]);
                program.bind(&format!("{name}.{method}({axis})"), dtype, &shape);
                return;
            }
        }
    };
    let initial = initial(dtype, program.from(0..=3));
    let value = match program.below(4) {
        0 => format!("{name}.scan({axis}, {f})"),
        1 => format!("{name}.scan_reverse({axis}, {f})"),
        2 => format!("{name}.scan_exclusive({axis}, {initial}, {f})"),
        _ => format!("{name}.scan_reverse_exclusive({axis}, {initial}, {f})"),
    };
    program.bind(&value, dtype, &shape);
}

/// A small whole number of a type.
fn initial(dtype: Dtype, number: i32) -> String {
    let name = dtype.name();
    if dtype == Dtype::Bool {
        (number % 2 == 1).to_string()
    } else if dtype.is_half() {
        format!("{name}::of({number}.0)")
    } else if dtype.is_float() {
        format!("{number}.0")
    } else {
        number.to_string()
    }
}

/// Three tiles of one shape together, as a tuple or as one in another.
pub(crate) fn several(program: &mut Program) {
    let first = any(program, |tile| tile.dtype != Dtype::Bool);
    let shape = first.shape.clone();
    let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
    let dtype = program.one_of(&[Dtype::I32, Dtype::Bool, first.dtype]);
    let second = tile_of(program, dtype, &shape);
    let third = tile_of(program, Dtype::I32, &shape);
    let nested = program.chance(50);
    let tuple = |[a, b, c]: [&str; 3]| {
        if nested { format!("({a}, ({b}, {c}))") } else { format!("({a}, {b}, {c})") }
    };
    let tiles = tuple([&first.name, &second.name, &third.name]);
    let pair = format!("|{}, {}|", tuple(["a", "x", "i"]), tuple(["b", "y", "j"]));
    let method = program.one_of(&["reduce", "scan", "scan_reverse", "exclusive"]);
    let (f, left) = if method == "reduce" && shape.len() > 1 {
        // The order is not specified, so each value is combined by itself.
        let or = if dtype.is_float() { "x.max(y)" } else { "x | y" };
        let left = (0..shape.len()).filter(|other| *other != axis).map(|other| shape[other]);
        (tuple(["a.min(b)", or, "i + j"]), left.collect())
    } else {
        let [one, other] = [tuple(["a", "x", "i + j"]), tuple(["b", "y", "j"])];
        let condition = program.one_of(&["j & 1 == 0", "i < j"]);
        (format!("if {condition} {{ {one} }} else {{ {other} }}"), shape.clone())
    };
    let value = if method == "exclusive" || left == shape && method == "reduce" {
        let method = program.one_of(&["scan_exclusive", "scan_reverse_exclusive"]);
        let numbers =
            [first.dtype, dtype, Dtype::I32].map(|dtype| initial(dtype, program.from(0..=3)));
        let initial = tuple([0, 1, 2].map(|index: usize| numbers[index].as_str()));
        format!("{tiles}.{method}({axis}, {initial}, {pair} {f})")
    } else {
        format!("{tiles}.{method}({axis}, {pair} {f})")
    };
    let names = [(); 3].map(|()| program.name("t"));
    let results = tuple([0, 1, 2].map(|index: usize| names[index].as_str()));
    program.line(&format!("let {results} = {value};"));
    for (name, dtype) in names.iter().zip([first.dtype, dtype, Dtype::I32]) {
        program.bind(name, dtype, &left);
    }
}

pub(crate) fn flip(program: &mut Program) {
    let Tile { name, dtype, shape } = any(program, |_| true);
    let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
    program.bind(&format!("{name}.flip({axis})"), dtype, &shape);
}

pub(crate) fn arg_extreme(program: &mut Program) {
    let fits = |tile: &Tile| tile.dtype != Dtype::Bool && tile.shape.len() > 1;
    let Some(tile) = program.pick(fits) else { return };
    let axis = program.one_of(&(0..tile.shape.len()).collect::<Vec<usize>>());
    let mut shape = tile.shape;
    shape.remove(axis);
    let method = program.one_of(&["argmax", "argmin"]);
    program.bind(&format!("{}.{method}({axis})", tile.name), Dtype::I32, &shape);
}

/// Sorts, the largest elements, elements at indices, counts: of tiles whose code is short.
pub(crate) fn ordered(program: &mut Program) {
    let fits = |tile: &Tile| tile.dtype != Dtype::Bool && elements(&tile.shape) <= 512;
    let Some(tile) = program.pick(fits) else { return };
    let Tile { name, dtype, mut shape } = tile;
    let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
    match program.below(5) {
        0 => {
            let method = program.one_of(&["sort", "sort_descending"]);
            program.bind(&format!("{name}.{method}({axis})"), dtype, &shape);
        }
        1 => {
            let method = program.one_of(&["argsort", "argsort_descending"]);
            program.bind(&format!("{name}.{method}({axis})"), Dtype::I32, &shape);
        }
        2 => {
            let most = shape[axis].ilog2();
            let k = 1 << program.below(most + 1);
            shape[axis] = k;
            let (values, indices) = (program.name("t"), program.name("t"));
            program.line(&format!("let ({values}, {indices}) = {name}.top_k({k}, {axis});"));
            program.bind(&values, dtype, &shape);
            program.bind(&indices, Dtype::I32, &shape);
        }
        3 => {
            shape[axis] = 1 << program.below(7);
            if elements(&shape) > program.most_elements {
                return;
            }
            let indices = tile_of(program, Dtype::I32, &shape).name;
            let mask = program.one_of(&["", " & 15"]);
            program.bind(&format!("{name}.gather({axis}, {indices}{mask})"), dtype, &shape);
        }
        _ if dtype.is_int() => {
            let bins = 1 << program.below(9);
            let small = program.one_of(&["", " & 31"]);
            program.bind(&format!("({name}{small}).histogram({bins})"), Dtype::I32, &[bins]);
        }
        _ => {}
    }
}

/// A part of a tile, or two tiles put together.
pub(crate) fn parts(program: &mut Program) {
    let Tile { name, dtype, mut shape } = any(program, |tile| !tile.shape.is_empty());
    let axis = program.one_of(&(0..shape.len()).collect::<Vec<usize>>());
    if 2 * elements(&shape) <= program.most_elements && program.chance(40) {
        let other = tile_of(program, dtype, &shape).name;
        shape[axis] *= 2;
        program.bind(&format!("{name}.concat({other}, {axis})"), dtype, &shape);
        return;
    }
    let mut ranges = Vec::new();
    for extent in &mut shape {
        let parts: i32 = 1 << program.below(extent.ilog2().min(3) + 1);
        *extent /= parts;
        let first = program.from(0..=parts - 1) * *extent;
        let whole = parts == 1 && program.chance(50);
        ranges.push(if whole { "..".to_owned() } else { format!("{first}..{}", first + *extent) });
    }
    program.bind(&format!("{name}.slice(({},))", ranges.join(", ")), dtype, &shape);
}

/// Pairs, made or taken apart.
pub(crate) fn pairs(program: &mut Program) {
    if let Some(tile) = program.pick(|tile| tile.shape.len() > 1 && tile.shape.ends_with(&[2]))
        && program.chance(60)
    {
        let shape = &tile.shape[..tile.shape.len() - 1];
        let field = program.below(2);
        program.bind(&format!("{}.split().{field}", tile.name), tile.dtype, shape);
        return;
    }
    let tile = any(program, |tile| tile.shape.len() < 3);
    if 2 * elements(&tile.shape) > program.most_elements || tile.shape.len() > 2 {
        return;
    }
    let other = tile_of(program, tile.dtype, &tile.shape).name;
    let mut shape = tile.shape;
    shape.push(2);
    program.bind(&format!("join({}, {other})", tile.name), tile.dtype, &shape);
}

pub(crate) fn to_layout(program: &mut Program) {
    let tile = any(program, |_| true);
    let layout = layout(program, tile.shape.len());
    program.bind(&format!("{}.to_layout({layout})", tile.name), tile.dtype, &tile.shape);
}

/// A layout of registers: lanes multiply to 32 and warps to the block's.
pub(crate) fn layout(program: &mut Program, rank: usize) -> String {
    if rank < 3 && program.chance(30) {
        let axis = program.one_of(&(0..=rank).collect::<Vec<usize>>());
        let parent = blocked(program, rank + 1);
        return format!("slice({axis}, {parent})");
    }
    blocked(program, rank)
}

fn blocked(program: &mut Program, rank: usize) -> String {
    let registers = 1 << program.from(0..=4);
    let registers = split(program, registers, rank);
    let lanes = split(program, 32, rank);
    let warps = split(program, program.warps, rank);
    let mut order: Vec<usize> = (0..rank).collect();
    if program.chance(50) {
        order.reverse();
    }
    format!("blocked({registers:?}, {lanes:?}, {warps:?}, {order:?})")
}

/// Distributes the factors 2 of a number over the axes.
fn split(program: &mut Program, mut number: i32, rank: usize) -> Vec<i32> {
    let axes: Vec<usize> = (0..rank).collect();
    let mut out = vec![1; rank];
    while number > 1 {
        out[program.one_of(&axes)] *= 2;
        number /= 2;
    }
    out
}

/// Elements at addresses that another tile gives, some of them masked off.
pub(crate) fn gather(program: &mut Program) {
    let narrow = [Dtype::I32, Dtype::I16, Dtype::U8, Dtype::I8];
    let Some(at) = program.pick(|tile| narrow.contains(&tile.dtype)) else { return };
    let (dtype, size) = (program.number(), program.one_of(&[1, 7, 64, 100]));
    let words = data(program, dtype);
    let name = program.name("p");
    let offset = program.one_of(&["", " offset(1)", " offset(3)"]);
    let described = format!("ptr {}[{size}] {words}{offset}", dtype.name());
    program.param(&name, &format!("Ptr<{}>", dtype.name()), &described);
    let index = format!("({}.cast::<u32>() % {size}).cast::<i32>()", at.name);
    let index = program.bind(&index, Dtype::I32, &at.shape).name;
    let value = if program.chance(50) {
        format!("load({name} + {index})")
    } else {
        let mask = tile_of(program, Dtype::Bool, &at.shape).name;
        let other = program.one_of(&[0, size - 1]);
        format!("load_masked({name} + {index}, {mask}, load({name} + {other}))")
    };
    program.bind(&value, dtype, &at.shape);
}

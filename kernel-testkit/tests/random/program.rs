//! A kernel as it is written: its lines so far, and the values that the next one can use.

use kernel_core::ir::Dtype;
use kernel_testkit::data::Random;

use crate::{operations, statements};

pub(crate) const INTEGERS: [Dtype; 8] =
    [Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64, Dtype::U8, Dtype::U16, Dtype::U32, Dtype::U64];
const FLOATS: [Dtype; 4] = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];
/// Shared memory that a kernel may name, well below what a block has.
const SHARED_BYTES: i32 = 30_000;

/// A variable that holds a tile.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<i32>,
}

/// A kernel under way.
pub(crate) struct Program {
    random: Random,
    /// Whether there are sorts, and parts of tiles, among the steps.
    pub(crate) sorts: bool,
    header: Vec<String>,
    params: Vec<String>,
    /// Allocations of shared memory stand at the top.
    allocations: Vec<String>,
    lines: Vec<String>,
    names: u32,
    shared_bytes: i32,
    pub(crate) warps: i32,
    pub(crate) blocks: i32,
    pub(crate) most_elements: i32,
    /// Loops and branches around the next line.
    pub(crate) depth: usize,
    pub(crate) tiles: Vec<Tile>,
    /// `i32` variables, the same in every thread of a block, from 0 to 31.
    pub(crate) scalars: Vec<String>,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    filled(Program::new(&format!("kernel {seed}")), &format!("seed_{seed}"))
}

/// The text with as many steps as the program's numbers say.
pub(crate) fn filled(mut program: Program, name: &str) -> String {
    program.scalar_param("n");
    program.line("let b = block_id(0);");
    program.scalars.push("b".to_owned());
    operations::load(&mut program);
    let steps = program.from(3..=14);
    for _ in 0..steps {
        step(&mut program);
        if program.params.len() > 20 {
            break;
        }
    }
    let last = program.tiles.len().saturating_sub(2);
    let mut stored = program.tiles[last..].to_vec();
    for _ in 0..2 {
        stored.extend(program.pick(|_| true));
    }
    for tile in stored {
        statements::store(&mut program, &tile);
    }
    program.text(name)
}

/// One operation or statement more, each with how often it is chosen.
pub(crate) fn step(program: &mut Program) {
    type Step = fn(&mut Program);
    const STEPS: &[(u32, Step)] = &[
        (10, operations::binary),
        (5, operations::compare),
        (5, operations::select),
        (6, operations::cast),
        (3, operations::unary),
        (6, operations::reduce),
        (3, operations::expand),
        (5, operations::broadcast),
        (4, operations::reshape),
        (4, operations::permute),
        (4, operations::scan),
        (2, operations::several),
        (2, operations::flip),
        (2, operations::arg_extreme),
        (3, operations::pairs),
        (4, operations::to_layout),
        (4, operations::load),
        (3, operations::gather),
        (3, statements::through_shared),
        (2, statements::by_index),
        (5, statements::copied),
        (4, statements::count),
        (3, statements::branch),
        (3, statements::ring),
        (3, statements::product),
        (2, statements::scalar),
        (1, statements::function),
        (2, statements::store_some),
        (2, statements::changed),
    ];
    if program.sorts && program.chance(30) {
        return operations::ordered(program);
    }
    if program.sorts && program.chance(10) {
        return operations::parts(program);
    }
    let total: u32 = STEPS.iter().map(|(weight, _)| weight).sum();
    let mut at = program.below(total);
    for (weight, step) in STEPS {
        if at < *weight {
            return step(program);
        }
        at -= weight;
    }
}

impl Program {
    pub(crate) fn new(seed: &str) -> Program {
        let mut out = Program {
            random: Random::of(seed),
            sorts: false,
            header: Vec::new(),
            params: Vec::new(),
            allocations: Vec::new(),
            lines: Vec::new(),
            names: 0,
            shared_bytes: 0,
            warps: 1,
            blocks: 1,
            most_elements: 64,
            depth: 0,
            tiles: Vec::new(),
            scalars: Vec::new(),
        };
        out.warps = out.one_of(&[1, 1, 2, 4, 4, 8]);
        out.blocks = out.one_of(&[1, 1, 2, 3]);
        out.most_elements = out.one_of(&[64, 512, 2048]);
        out
    }

    fn text(&self, name: &str) -> String {
        let header: Vec<String> = self.header.iter().map(|line| format!("//@ {line}")).collect();
        let body: Vec<&str> =
            self.allocations.iter().chain(&self.lines).map(String::as_str).collect();
        let (header, params, body) = (header.join("\n"), self.params.join(", "), body.join("\n"));
        let (warps, blocks) = (self.warps, self.blocks);
        format!(
            "//@ run: eval, emulate, gpu\n{header}\nuse kiln::prelude::*;\n\n\
             #[kernel(target = sm_80, warps = {warps}, grid = {blocks})]\n\
             pub fn {name}({params}) {{\n{body}\n}}\n"
        )
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.random.bits() % u64::from(end)).expect("it is below `end`")
    }

    /// A number of a range.
    pub(crate) fn from(&mut self, range: std::ops::RangeInclusive<i32>) -> i32 {
        let count = range.end() - range.start() + 1;
        let below = self.below(count.try_into().expect("the range is not empty"));
        range.start() + i32::try_from(below).expect("ranges here are short")
    }

    pub(crate) fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        let count = u32::try_from(list.len()).expect("lists here are short");
        list[self.below(count) as usize].clone()
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    pub(crate) fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth + 1);
        self.lines.push(format!("{indent}{text}"));
    }

    /// Declares a parameter with what the header says of its data.
    pub(crate) fn param(&mut self, name: &str, ty: &str, data: &str) {
        self.params.push(format!("{name}: {ty}"));
        self.header.push(format!("arg {name}: {data}"));
    }

    /// An argument that is compared in another way than bit for bit.
    pub(crate) fn nearly(&mut self, name: &str, how: &str) {
        self.header.push(format!("compare {name}: {how}"));
    }

    fn scalar_param(&mut self, name: &str) {
        let value = self.one_of(&[0, 1, 2, 5, 9, 31]);
        self.param(name, "i32", &format!("i32 scalar {value}"));
        self.scalars.push(name.to_owned());
    }

    /// Shared memory of that shape, if there is room.
    pub(crate) fn allocate(&mut self, dtype: Dtype, shape: &[i32]) -> Option<String> {
        let bytes = elements(shape) * i32::try_from(dtype.bytes()).expect("at most 8");
        if self.shared_bytes + bytes > SHARED_BYTES {
            return None;
        }
        self.shared_bytes += bytes;
        let name = self.name("s");
        self.allocations.push(format!("    let {name} = shared::<{}>({shape:?});", dtype.name()));
        Some(name)
    }

    /// A new variable for the value of an expression.
    pub(crate) fn bind(&mut self, value: &str, dtype: Dtype, shape: &[i32]) -> Tile {
        let name = self.name("v");
        self.line(&format!("let {name} = {value};"));
        let tile = Tile { name, dtype, shape: shape.to_vec() };
        self.tiles.push(tile.clone());
        tile
    }

    /// One of the variables, the newer ones more often.
    pub(crate) fn pick(&mut self, fits: impl Fn(&Tile) -> bool) -> Option<Tile> {
        let all: Vec<Tile> = self.tiles.iter().filter(|tile| fits(tile)).cloned().collect();
        let start = if self.chance(70) { all.len().saturating_sub(6) } else { 0 };
        (!all.is_empty()).then(|| self.one_of(&all[start..]))
    }

    pub(crate) fn any_scalar(&mut self) -> String {
        let scalars = self.scalars.clone();
        self.one_of(&scalars)
    }

    pub(crate) fn dtype(&mut self) -> Dtype {
        match self.below(13) {
            0 => Dtype::Bool,
            1..=8 => self.one_of(&INTEGERS),
            _ => self.one_of(&FLOATS),
        }
    }

    pub(crate) fn number(&mut self) -> Dtype {
        if self.chance(60) { self.one_of(&INTEGERS) } else { self.one_of(&FLOATS) }
    }

    pub(crate) fn shape(&mut self) -> Vec<i32> {
        let rank = self.one_of(&[1, 2, 2]);
        loop {
            let shape: Vec<i32> = (0..rank).map(|_| 1 << self.from(0..=8)).collect();
            if elements(&shape) <= self.most_elements {
                return shape;
            }
        }
    }

    /// A literal of a type.
    pub(crate) fn literal(&mut self, dtype: Dtype) -> String {
        if dtype == Dtype::Bool {
            return self.one_of(&["true", "false"]).to_owned();
        }
        if dtype.is_float() {
            let text = self.one_of(&["0.0", "1.0", "2.0", "0.25", "1.5", "3.0"]);
            let short = matches!(dtype, Dtype::F16 | Dtype::Bf16);
            return if short { format!("{}::of({text})", dtype.name()) } else { text.to_owned() };
        }
        let bits = 8 * dtype.bytes();
        let top = 1i128 << (bits - 1);
        let mut values = vec![0, 1, 2, 3, 7, 13, 100, top - 1];
        if dtype.name().starts_with('u') {
            values.extend([top, 2 * top - 1]);
        } else {
            values.extend([-1, -2, -7, -top]);
        }
        self.one_of(&values).to_string()
    }

    /// Runs `body` one level deeper; what it declared is not seen afterwards.
    pub(crate) fn nested(&mut self, body: impl FnOnce(&mut Program)) {
        let (tiles, scalars) = (self.tiles.len(), self.scalars.len());
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.tiles.truncate(tiles);
        self.scalars.truncate(scalars);
    }
}

pub(crate) fn elements(shape: &[i32]) -> i32 {
    shape.iter().product()
}

//! Scatters whose rows or column are known at compile time: none before the tensor, and no row twice.

use std::{collections::BTreeMap, rc::Rc};

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{
        Binary, Const, CopyOp, ElementwiseOp, Kernel, Op, Ranges, SourceOp, TileOp, Tma, TmaKind,
        Value,
    },
    loc::Loc,
};

/// Rows that are known at compile time are followed up to this many.
const MOST_KNOWN: usize = 1024;

/// Scatters whose rows or column are known at compile time, and are none that the hardware takes.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let mut scatters = false;
    kernel.body.each_op(&mut |op, _, _, _| scatters |= is_scatter(op));
    if !scatters {
        return Vec::new();
    }
    let mut walk = Walk {
        kernel,
        written,
        known: ArenaMap::default(),
        ranges: Ranges::of(kernel, &[]),
        chosen: ArenaMap::default(),
        found: Vec::new(),
    };
    kernel.body.each_op(&mut |op, args, result, loc| {
        if let Some(result) = result {
            walk.choice(op, args, result, loc);
        }
        if let Some(result) = result
            && let Some(elements) = walk.made(op, args, result)
        {
            walk.known.insert(result, Rc::new(elements));
        }
        if is_scatter(op) {
            walk.scatter(args, loc);
        }
    });
    walk.found
}

fn is_scatter(op: &Op) -> bool {
    matches!(op, Op::Copy(CopyOp::Tma(Tma { kind: TmaKind::Scatter, .. })))
}

struct Walk<'k> {
    kernel: &'k Kernel,
    written: &'k Written,
    /// The elements of values: one of a scalar.
    known: ArenaMap<Value, Rc<Vec<i128>>>,
    ranges: Ranges<'k>,
    /// Where elements are chosen between two tiles, of which one has only negative elements; and one of these.
    chosen: ArenaMap<Value, (Loc, i128)>,
    found: Vec<Diagnostic>,
}

/// Why no number is negative.
const ILLEGAL: &str = "a scatter that begins before the tensor stops the GPU with an illegal instruction (a gather reads zeros there); rows and columns after the end are dropped";

impl Walk<'_> {
    /// The elements of a value, if it is made of constants and ranges alone.
    fn made(&self, op: &Op, args: &[Value], result: Value) -> Option<Vec<i128>> {
        let extent = self.kernel.ty(result).shape().iter().product::<u32>() as usize;
        if extent > MOST_KNOWN {
            return None;
        }
        let of = |index: usize| args.get(index).and_then(|arg| self.known.get(*arg));
        if let Op::Source(SourceOp::Const(Const::Int(value))) = op {
            return Some(vec![*value]);
        }
        if let Op::Source(SourceOp::Arange(low)) = op {
            let low = i128::from(*low);
            return Some((0..).take(extent).map(|i| low + i).collect());
        }
        if matches!(op, Op::Tile(TileOp::Splat)) {
            return Some(vec![of(0)?[0]; extent]);
        }
        if matches!(op, Op::Tile(TileOp::ToLayout(_) | TileOp::AssertLayout(_))) {
            return Some(of(0)?.to_vec());
        }
        let Op::Elementwise(ElementwiseOp::Binary(how)) = op else { return None };
        let pairs = of(0)?.iter().zip(of(1)?.iter());
        let apply = |(a, b): (&i128, &i128)| match how {
            Binary::Add => Some(a + b),
            Binary::Sub => Some(a - b),
            Binary::Mul => Some(a * b),
            Binary::Div
            | Binary::Rem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::Min
            | Binary::Max
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => None,
        };
        let wraps = |value: &i128| i32::try_from(*value).is_ok();
        pairs.map(|pair| apply(pair).filter(wraps)).collect()
    }

    /// The largest number that a value can be, if that is negative.
    fn negative(&self, value: Value) -> Option<i128> {
        let range = self.ranges.at(self.kernel, value, &[])?;
        (range.least <= range.most && range.most < 0).then_some(range.most)
    }

    /// Notes where a `select` chooses between rows and negative numbers, which only seem to stand for no row.
    fn choice(&mut self, op: &Op, args: &[Value], result: Value, loc: Loc) {
        let known = match op {
            Op::Elementwise(ElementwiseOp::Select) => {
                args[1..].iter().find_map(|&side| Some((loc, self.negative(side)?)))
            }
            Op::Tile(TileOp::ToLayout(_) | TileOp::AssertLayout(_) | TileOp::Reshape) => {
                self.chosen.get(args[0]).copied()
            }
            Op::Source(_)
            | Op::Tile(_)
            | Op::Elementwise(_)
            | Op::Memory(_)
            | Op::Window(_)
            | Op::Copy(_)
            | Op::Sync(_)
            | Op::Product(_)
            | Op::TensorMemory(_)
            | Op::Assert(_)
            | Op::Report(_) => None,
        };
        if let Some(known) = known {
            self.chosen.insert(result, known);
        }
    }

    fn scatter(&mut self, args: &[Value], loc: Loc) {
        if let Some(column) = self.negative(args[1]) {
            let at = self.written.place(loc, args[1]);
            let headline = "a scatter begins before the columns of the tensor";
            self.found.push(
                Diagnostic::new(Code::ByRows, at, headline)
                    .compare("column", "at least 0", column)
                    .why(ILLEGAL),
            );
        }
        let at = self.written.place(loc, args[0]);
        let before = || {
            Diagnostic::new(Code::ByRows, at, "a scatter begins before the rows of the tensor")
                .why(ILLEGAL)
        };
        let known = self.known.get(args[0]);
        let element = known.and_then(|rows| rows.iter().enumerate().find(|(_, row)| **row < 0));
        if let Some((index, row)) = element {
            self.found.push(before().compare(format!("element {index}"), "at least 0", row));
            return;
        }
        if let Some(most) = self.negative(args[0]) {
            let actual = format!("at most {most}");
            self.found.push(before().compare("each element", "at least 0", actual));
            return;
        }
        if let Some(&(chosen_at, row)) = self.chosen.get(args[0]) {
            self.found.push(
                before()
                    .compare("each element", "at least 0", format!("{row}, if `select` chooses it"))
                    .place(chosen_at, "chosen here")
                    .why("to leave a row out, give it a number after the end, such as the number of the tensor's rows"),
            );
            return;
        }
        let Some(rows) = known else { return };
        let mut seen = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            if let Some(first) = seen.insert(*row, index) {
                self.found.push(
                    Diagnostic::new(Code::ByRows, at, "a scatter writes a row twice")
                        .compare(
                            format!("rows {first} and {index}"),
                            "two different ones",
                            format!("{row} and {row}"),
                        )
                        .why("the order of the two writes is not defined"),
                );
                return;
            }
        }
    }
}

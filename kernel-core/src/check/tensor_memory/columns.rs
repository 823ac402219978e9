//! Products whose accumulator overlaps their left operand or scales.
//!
//! `tcgen05::mma(held, b, held)` is refused, and `tcgen05::mma(both.tile([0, 0], [128, 64]), b, both.tile([0, 64], [128, 64]))` is not.

use std::collections::BTreeSet;

use kernel_layout::Dim;
use la_arena::ArenaMap;

use super::left_factor::FirstRows;
use crate::check::tiles::Tile;
use crate::{
    diag::{Code, Diagnostic},
    ir::{
        Const, Kernel, Op, Region, SourceOp, StmtKind, TensorMemory, TensorMemoryOp, Type, Value,
    },
    layouts::tensor_memory::{self, COLUMN_BITS},
    loc::Loc,
};

/// Where a window is.
#[derive(Clone, Copy, Debug)]
struct Place {
    root: TensorMemory,
    tile: Tile,
    /// Its first column of 32 bits within the tile.
    first: u32,
}

/// The places of windows, and the numbers of tiles that are known.
#[derive(Default)]
pub(in crate::check) struct Columns {
    places: ArenaMap<Value, Place>,
    known: ArenaMap<Value, i128>,
}

impl Columns {
    /// Those of a region, and of all in it.
    pub(in crate::check) fn find(&mut self, kernel: &Kernel, region: &Region) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, result: Some(result) } = &stmt.kind {
                if let Op::Source(SourceOp::Const(Const::Int(value))) = op {
                    self.known.insert(*result, *value);
                }
                if let Op::TensorMemory(op) = op
                    && let Some(place) = self.place(kernel, op, args)
                {
                    self.places.insert(*result, place);
                }
            }
            for inner in stmt.kind.regions() {
                self.find(kernel, inner);
            }
        }
    }

    fn place(&self, kernel: &Kernel, op: &TensorMemoryOp, args: &[Value]) -> Option<Place> {
        let from = args.first().and_then(|&window| self.places.get(window)).copied();
        match op {
            TensorMemoryOp::Alloc(root) => Some(Place { root: *root, tile: Tile::Only, first: 0 }),
            TensorMemoryOp::Index => {
                let tile = self.known.get(args[1]).map_or(Tile::Of(args[1]), |&at| Tile::Known(at));
                Some(Place { tile, ..from? })
            }
            TensorMemoryOp::View(_) => from,
            TensorMemoryOp::Tile(at) => {
                let Type::TensorMemory(ty) = kernel.ty(args[0]) else { return None };
                let memory = tensor_memory::window(kernel, ty).ok()?;
                let [_, column] = tensor_memory::place(&memory, *at, ty.dtype.bytes());
                Some(Place { first: from?.first + column, ..from? })
            }
            TensorMemoryOp::Load | TensorMemoryOp::Store => None,
        }
    }

    /// Which tile a window is of, and its columns of 32 bits within that; none of one that is not known before the kernel runs.
    pub(in crate::check) fn tile_and_columns(
        &self,
        kernel: &Kernel,
        window: Value,
    ) -> Option<(Tile, BTreeSet<u32>)> {
        let (place, columns) = self.of(kernel, window)?;
        Some((place.tile, columns))
    }

    /// The columns of 32 bits of a window within its tile.
    fn of(&self, kernel: &Kernel, window: Value) -> Option<(Place, BTreeSet<u32>)> {
        let place = *self.places.get(window)?;
        let Type::TensorMemory(ty) = kernel.ty(window) else { return None };
        let memory = tensor_memory::window(kernel, ty).ok()?;
        let bits = ty.dtype.bytes() * 8;
        let empty = memory.bases(Dim::Col).iter().enumerate();
        let empty = empty.filter(|(_, basis)| basis.iter().all(|&part| part == 0));
        let empty: u32 = empty.map(|(bit, _)| 1 << bit).sum();
        let held = (0..memory.in_size(Dim::Col)).filter(|column| column & empty == 0);
        Some((place, held.map(|column| place.first + column * bits / COLUMN_BITS).collect()))
    }

    /// What a product reads in the columns of its accumulator; `args` are its operands, `places` those in the source.
    pub(in crate::check) fn shared(
        &self,
        kernel: &Kernel,
        args: &[Value],
        places: [Loc; 3],
        rows: &FirstRows,
    ) -> Option<Diagnostic> {
        let (sums, written) = self.of(kernel, args[2])?;
        let read = [
            (args.first(), "left operand"),
            (args.get(4), "left scales"),
            (args.get(5), "right scales"),
        ];
        let (what, both) = read.into_iter().find_map(|(operand, what)| {
            let (place, columns) = self.of(kernel, *operand?)?;
            // Of two halves of the rows, each has the columns for itself.
            let apart = rows.get(*operand?) != rows.get(args[2]);
            let same = place.root == sums.root && place.tile == sums.tile && !apart;
            let both: Vec<u32> = columns.intersection(&written).copied().collect();
            (same && !both.is_empty()).then_some((what, both))
        })?;
        let Type::TensorMemory(ty) = kernel.ty(args[2]) else { return None };
        let headline = format!("the accumulator overlaps the {what}");
        let (first, last) = (both.first()?, both.last()?);
        Some(
            Diagnostic::new(Code::DotOperand, places[2], headline)
                .compare("columns of both", "none", format!("{} from {first} to {last}", both.len()))
                .place(kernel.tensor_memory[sums.root].loc, "allocated here")
                .why("the instructions of a product go along `k`: each one updates the whole accumulator before the next one reads more columns of the operands (PTX ISA, \"tcgen05.mma\")")
                .help(format!("let sums = tmem::<{}>({:?});", ty.dtype.name(), ty.shape)),
        )
    }
}

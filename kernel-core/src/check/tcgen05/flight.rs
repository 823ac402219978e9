//! A `tcgen05` operation in flight, a product or a copy, and the memory that it reads or writes.

use std::collections::BTreeSet;

use crate::{
    check::{
        signals::Agent,
        slots::{Slot, Slots},
        tensor_memory::columns::Columns,
        tiles::{self, Tile},
    },
    ir::{Kernel, Multiplied, Shared, TensorMemory, Type, Value},
    layouts::{tcgen05, tensor_memory},
    loc::Loc,
};
use kernel_layout::forms::tensor_memory_has_gap;
use kernel_ptx::Word;
use la_arena::ArenaMap;

/// What one instruction multiplies: products of the same shape run one after the other (PTX ISA, "tcgen05: Pipelined
/// instructions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    kind: Word,
    /// Of products with metadata, the kind is that of those without.
    sparse: bool,
    rows: u32,
    columns: u32,
}

impl Shape {
    /// That of a product with these operands, whose accumulator has a layout.
    pub(super) fn of(kernel: &Kernel, args: &[Value], multiplied: Multiplied) -> Option<Self> {
        let Type::TensorMemory(sums) = kernel.ty(args[2]) else { return None };
        let block = tcgen05::block(kernel, sums);
        let factor = kernel.ty(args[1]).shared()?.dtype;
        let kind = tcgen05::kind(factor, multiplied.scaled());
        let sparse = multiplied == Multiplied::Sparse;
        Some(Shape { kind, sparse, rows: block.rows, columns: block.columns })
    }

    /// As a message says it.
    pub(super) fn in_words(self) -> String {
        let sparse = if self.sparse { "sparse " } else { "" };
        format!("{sparse}{}, {} rows by {} columns", self.kind.text(), self.rows, self.columns)
    }
}

/// What a product reads besides its accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operand {
    Left,
    Right,
    Scales,
    Metadata,
    /// What a copy takes from shared memory.
    Source,
}

impl Operand {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Operand::Left => "left operand",
            Operand::Right => "right operand",
            Operand::Scales => "scales",
            Operand::Metadata => "metadata",
            Operand::Source => "source",
        }
    }
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    Reads(Operand),
    Writes,
}

/// On which condition something is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    Always,
    If(Value),
    /// On one that held in an earlier iteration.
    Sometimes,
}

impl When {
    pub(super) fn of(condition: Option<Value>) -> Self {
        condition.map_or(When::Always, When::If)
    }

    /// Whether both can hold, as far as is known.
    fn both(self, other: When) -> bool {
        self == other && self != When::Sometimes || self == When::Always || other == When::Always
    }
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Memory {
    Tensor(TensorMemory),
    Shared(Shared),
}

/// Where a window is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) memory: Memory,
    tile: Tile,
    /// Its columns of 32 bits within the tile; none for all of them.
    columns: Option<BTreeSet<u32>>,
    /// Whether it has rows of the first and of the second block of 64 rows that share the columns.
    halves: [bool; 2],
}

/// Whether two windows have elements in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    No,
    Perhaps,
    Certain,
}

impl Extent {
    pub(super) fn overlap(&self, other: &Extent) -> Overlap {
        let apart = |one: &BTreeSet<u32>, other: &BTreeSet<u32>| one.is_disjoint(other);
        let columns_apart = matches!((&self.columns, &other.columns), (Some(one), Some(other)) if apart(one, other));
        let rows_apart = !(0..2).any(|half| self.halves[half] && other.halves[half]);
        if self.memory != other.memory || columns_apart || rows_apart {
            return Overlap::No;
        }
        match self.tile.same(other.tile) {
            None => Overlap::Perhaps,
            Some(true) => Overlap::Certain,
            Some(false) => Overlap::No,
        }
    }
}

/// A product or a copy, as one of its operands sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Flight {
    /// Where it was started.
    pub(super) at: Loc,
    /// Of a product.
    pub(super) shape: Option<Shape>,
    pub(super) does: Does,
    pub(super) extent: Extent,
    pub(super) when: When,
    /// The partition that starts it.
    pub(super) agent: Agent,
}

impl Flight {
    /// Whether both can be in flight at once, and the later one accesses what the earlier one writes, or writes what it reads.
    pub(super) fn collides(&self, earlier: &Flight) -> bool {
        let (Some(shape), Some(before)) = (self.shape, earlier.shape) else {
            // Copies run in order with products, and with one another.
            return false;
        };
        let ordered = match (self.does, earlier.does) {
            (Does::Writes, Does::Writes) => shape == before,
            (Does::Reads(_), Does::Reads(_)) => true,
            (Does::Reads(_), Does::Writes) | (Does::Writes, Does::Reads(_)) => false,
        };
        let certain = self.extent.overlap(&earlier.extent) == Overlap::Certain;
        !ordered && self.when.both(earlier.when) && certain
    }

    /// The same in a later iteration, where values stand for something else.
    pub(super) fn later(mut self) -> Self {
        self.extent.tile = self.extent.tile.later();
        if let When::If(_) = self.when {
            self.when = When::Sometimes;
        }
        self
    }
}

/// Where the windows and barriers of a kernel are.
pub(super) struct Places<'a> {
    kernel: &'a Kernel,
    columns: &'a Columns,
    rows: &'a ArenaMap<Value, u32>,
    tiles: ArenaMap<Value, Tile>,
    pub(super) slots: Slots<'a>,
}

impl<'a> Places<'a> {
    pub(super) fn of(
        kernel: &'a Kernel,
        rows: &'a ArenaMap<Value, u32>,
        columns: &'a Columns,
    ) -> Self {
        Places { kernel, columns, rows, tiles: tiles::shared(kernel), slots: Slots::of(kernel) }
    }

    /// The barrier that a value is. Of a ring whose number is known at run time, it is one in this iteration and another in the next.
    pub(super) fn slot(&self, barrier: Value) -> Option<Slot> {
        let slot = self.slots.slot(barrier)?;
        Some(Slot { tile: slot.tile.later(), ..slot })
    }

    /// Where a window of this block is.
    pub(super) fn extent(&self, window: Value) -> Option<Extent> {
        match self.kernel.ty(window) {
            Type::TensorMemory(ty) => {
                let memory = Memory::Tensor(self.kernel.tensor_columns(ty.root));
                let (tile, columns) = match self.columns.tile_and_columns(self.kernel, window) {
                    Some((tile, columns)) => (tile, Some(columns)),
                    // One that a loop passes on, or a branch chooses: it is equal only to itself.
                    None => (Tile::Of(window), None),
                };
                let halves = self.halves(window).unwrap_or([true; 2]);
                Some(Extent { memory, tile, columns, halves })
            }
            Type::Shared(ty) if !ty.remote => {
                let memory = Memory::Shared(ty.root);
                let tile = self.tiles.get(window).copied().unwrap_or(Tile::Some);
                Some(Extent { memory, tile, columns: None, halves: [true; 2] })
            }
            Type::Scalar(_) | Type::Tile(..) | Type::Shared(_) | Type::Barrier(_) | Type::Error => {
                None
            }
        }
    }

    /// Of a window with every other group of 16 rows, which of the two groups it has.
    fn halves(&self, window: Value) -> Option<[bool; 2]> {
        let Type::TensorMemory(ty) = self.kernel.ty(window) else { return None };
        let memory = tensor_memory::window(self.kernel, ty).ok()?;
        let second = self.rows.get(window)? & FEW_ROWS_APART != 0;
        tensor_memory_has_gap(&memory).then_some([!second, second])
    }
}

/// How far apart two blocks of 64 rows begin that share columns.
const FEW_ROWS_APART: u32 = 16;

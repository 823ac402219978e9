//! `tcgen05.mma` (PTX ISA, "`tcgen05.mma`", "Data path layout organization").

mod scales;
mod sparse;

use super::flight::{self, Work};
use super::instruction::{FactorOf, Instruction};
use super::operand::{self, Descriptor, Major};
use super::order::{self, Access, Actor};
use super::{Place, allocated, blocks, thread_address};
use crate::code::tcgen05::{Group, TensorLeft, TensorMma};
use crate::code::{D, Slot};
use crate::exec::bulk::word;
use crate::exec::memory::hazards;
use crate::fault::{FaultKind, Run, Trap, Unwritten};
use crate::machine::warp::lane_number;
use crate::machine::{Context, Warp};
use crate::memory::tensor::Region;
use crate::numeric::tcgen05::{Factor, add, add_sparse};
use scales::Factors;
use sparse::Kept;

/// How the rows and columns of D are in the tensor memory of one block.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Rows of the block.
    rows: u32,
    /// Columns of D come in this many parts, one below the other.
    parts: u32,
    /// Columns of a part.
    columns: u32,
    /// Sixteen rows are in sixteen of 32 lanes.
    spread: bool,
}

impl Layout {
    /// The layouts of the manual's section "Data path layout organization".
    fn of(op: &TensorMma, instruction: &Instruction) -> Layout {
        let Instruction { rows, columns, .. } = *instruction;
        let dense = |rows, parts| Layout { rows, parts, columns: columns / parts, spread: false };
        match (op.group, op.stationary, rows) {
            (Group::One, true, 32) => dense(32, 4),
            (Group::One, true, 64) | (Group::Pair, _, 128) => dense(64, 2),
            (Group::One, false, 64) => Layout { spread: true, ..dense(64, 1) },
            (Group::One, ..) => dense(rows, 1),
            (Group::Pair, ..) => dense(rows / 2, 1),
        }
    }

    /// The lane of a row's first part, from the lane of the address on.
    const fn lane(&self, row: u32) -> u32 {
        if self.spread { row % 16 + row / 16 * 32 } else { row }
    }

    /// The sixteen lanes each that D or A covers.
    fn shares(&self, lane: u32) -> u8 {
        if !self.spread {
            return u8::MAX;
        }
        if lane == 0 { 0b0101_0101 } else { 0b1010_1010 }
    }

    /// D, or A, starts in lane 0, or in 16 where that leaves it room.
    fn check(&self, place: Place, name: &str) -> Run<()> {
        if place.lane == 0 || self.spread && place.lane == 16 {
            return Ok(());
        }
        let required = if self.spread { "0 or 16" } else { "0" };
        let detail = format!(
            "{name} of `tcgen05.mma` starts in lane {} of tensor memory: required {required}",
            place.lane
        );
        Err(Trap::new(FaultKind::IllegalOperand, detail).address(place.address().into()))
    }
}

/// An operand, by slices along k.
#[derive(Debug, Default)]
struct Values {
    slices: Vec<Vec<f32>>,
    /// Rows of A or columns of B that derive from bytes that were never written, and one such address of shared memory.
    unwritten: Vec<u32>,
    unwritten_at: Option<u64>,
}

/// `tcgen05.mma`
pub(super) fn issue(cx: &mut Context<'_>, warp: &mut Warp, op: &TensorMma, lane: usize) -> Run<()> {
    let bits = word(warp, op.descriptor, lane, "is the instruction descriptor")?;
    let instruction = Instruction::decode(op, bits)?;
    let layout = Layout::of(op, &instruction);
    let d = thread_address(warp, &op.d, lane)?;
    layout.check(d, "D")?;
    let accumulates = accumulates(warp, op, lane)?;
    no_zero_columns(warp, op, lane)?;
    let disabled = op
        .disabled
        .iter()
        .map(|slot| word(warp, *slot, lane, "names the lanes of D that are not written"))
        .collect::<Run<Vec<u32>>>()?;
    let blocks = blocks(cx, op.group)?;
    let thread = flight::thread(cx, warp, lane);
    let work = Work::Product {
        kind: op.kind,
        rows: instruction.rows,
        columns: instruction.columns,
        stationary: op.stationary,
        sparse: op.metadata.is_some(),
        d: d.address(),
    };
    if let Some(trace) = &mut cx.cluster.trace {
        trace.product(op.kind, (instruction.rows, instruction.columns));
    }
    let (number, signature) = cx.cluster.tensor.issue(thread, work);
    let actor = Actor::Operation { number, pc: warp.pc, signature, warp: warp.index };
    for block in &blocks {
        allocated(cx, *block, d, layout.columns, "D of `tcgen05.mma`")?;
    }
    let mut product = Product { op, instruction, layout, lane, d, actor, reads: Vec::new() };
    let a = product.a(cx, warp, &blocks)?;
    let b = product.b(cx, warp, &blocks)?;
    let mut scales = Vec::new();
    let mut kept = Vec::new();
    for block in &blocks {
        kept.push(match &op.metadata {
            Some(metadata) => Some(product.metadata(cx, warp, metadata, *block)?),
            None => None,
        });
        scales.push(match &op.scales {
            Some(scales) => product.scales(cx, warp, scales, *block)?,
            None => [Factors::default(), Factors::default()],
        });
    }
    if let Some(address) = a.iter().chain([&b]).find_map(|values| values.unwritten_at) {
        let lane = lane_number(lane);
        let place = crate::code::Place::Shared;
        warp.unwritten = Some(Unwritten { pc: warp.pc, lane, address, place });
    }
    for (i, block) in blocks.iter().enumerate() {
        let (column, columns) = (d.column, layout.columns);
        let region = Region { shares: layout.shares(d.lane), column, columns };
        order::access(cx, &product.actor, (*block, region), Access::Write)?;
        let disabled = disabled.get(4 * i..4 * i + 4).unwrap_or_default();
        let factors = (&a[i], &b, &scales[i], kept[i].as_ref());
        product.multiply(cx, *block, factors, (accumulates, disabled));
    }
    flight::depart(cx, warp, (number, signature), product.reads);
    Ok(())
}

/// Whether D is added to.
fn accumulates(warp: &Warp, op: &TensorMma, lane: usize) -> Run<bool> {
    if warp.regs.p_defined(op.accumulate.slot) >> lane & 1 == 0 {
        let use_ = "decides whether D is added to";
        return Err(crate::exec::uninitialised(warp, Slot::P(op.accumulate.slot), 1 << lane, use_));
    }
    Ok(warp.regs.pred(op.accumulate) >> lane & 1 != 0)
}

/// A zero-column mask leaves every column as it is where its descriptor is 0; others are not modelled.
fn no_zero_columns(warp: &Warp, op: &TensorMma, lane: usize) -> Run<()> {
    let Some(slot) = op.zero_columns else { return Ok(()) };
    if warp.regs.d_defined(slot) >> lane & 1 == 0 {
        let use_ = "is the descriptor of a zero-column mask";
        return Err(crate::exec::uninitialised(warp, Slot::D(slot), 1 << lane, use_));
    }
    match warp.regs.d(slot)[lane] {
        0 => Ok(()),
        mask => {
            let detail = format!(
                "the zero-column mask of `tcgen05.mma.ws` has the descriptor {mask:#x}: only 0, which masks nothing, is modelled"
            );
            Err(Trap::new(FaultKind::IllegalOperand, detail))
        }
    }
}

/// The descriptor of a matrix in shared memory.
fn descriptor(
    warp: &Warp,
    slot: D,
    (major, factor): (Major, Factor),
    (name, lane): (&str, usize),
) -> Run<Descriptor> {
    if warp.regs.d_defined(slot) >> lane & 1 == 0 {
        let use_ = format!("is the descriptor of {name}");
        return Err(crate::exec::uninitialised(warp, Slot::D(slot), 1 << lane, &use_));
    }
    let name = format!("{name} of `tcgen05.mma`");
    let descriptor = Descriptor::decode(warp.regs.d(slot)[lane], &name)?;
    if major == Major::Mn {
        descriptor.transposes(factor, &name)?;
    }
    Ok(descriptor)
}

/// A product that is being executed.
struct Product<'a> {
    op: &'a TensorMma,
    instruction: Instruction,
    layout: Layout,
    lane: usize,
    /// Where D starts.
    d: Place,
    actor: Actor,
    /// What it reads of shared memory, by block.
    reads: Vec<(usize, Vec<u32>)>,
}

impl Product<'_> {
    /// The number of slices along k, and the extent of one.
    fn slices(&self) -> (usize, usize) {
        let count = self.op.scales.map_or(1, |scales| scales.count as usize);
        (count, self.instruction.depth / count)
    }

    /// A of each block.
    fn a(&mut self, cx: &mut Context<'_>, warp: &Warp, blocks: &[usize]) -> Run<Vec<Values>> {
        let (count, _) = self.slices();
        let depth = self.instruction.kept / count;
        let FactorOf { factor, negated, major } = self.instruction.a;
        let rows = self.layout.rows;
        let sign = if negated { -1.0 } else { 1.0 };
        let mut all = Vec::new();
        for &block in blocks {
            let mut a = Values {
                slices: vec![vec![0.0; rows as usize * depth]; count],
                ..Values::default()
            };
            let mut put = |row: usize, k: usize, x: f32| {
                a.slices[k / depth][row * depth + k % depth] = sign * x;
            };
            match &self.op.a {
                TensorLeft::Shared(slot) => {
                    let matrix = descriptor(warp, *slot, (major, factor), ("A", self.lane))?;
                    let shared = &cx.cluster.blocks[block].shared;
                    let extents = (factor, rows, self.instruction.kept);
                    let name = "A of `tcgen05.mma`";
                    let read = operand::read(shared, name, (matrix, major), extents, put)?;
                    (a.unwritten, a.unwritten_at) = (read.unwritten, read.unwritten_at);
                    self.hold(cx, warp, (block, name), read.units)?;
                }
                TensorLeft::Tensor(address) => {
                    let place = thread_address(warp, address, self.lane)?;
                    a.unwritten = self.tensor_a(cx, block, place, &mut put)?;
                }
            }
            all.push(a);
        }
        Ok(all)
    }

    /// A from the tensor memory of a block; the rows with cells that were never written.
    fn tensor_a(
        &self,
        cx: &mut Context<'_>,
        block: usize,
        place: Place,
        mut put: impl FnMut(usize, usize, f32),
    ) -> Run<Vec<u32>> {
        let FactorOf { factor, major, .. } = self.instruction.a;
        let Layout { rows, spread, .. } = self.layout;
        self.layout.check(place, "A")?;
        if major == Major::Mn {
            let detail = "A of `tcgen05.mma` in tensor memory cannot be transposed: bit 15 of the instruction descriptor: required 0, actual 1";
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        if place.lane != self.d.lane {
            let detail = format!(
                "A of `tcgen05.mma` starts in lane {} of tensor memory, D in lane {}: required the same",
                place.lane, self.d.lane
            );
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        let per_cell = factor.per_cell();
        let columns = u32::try_from(self.instruction.kept / per_cell).expect("a few columns");
        allocated(cx, block, place, columns, "A of `tcgen05.mma`")?;
        // Of a pair with 64 rows in each block, both halves of the columns of D have the rows of A beside them.
        let copied = self.op.group == Group::Pair && self.layout.parts == 2;
        let read = if copied { 2 * rows } else { rows };
        let shares = if spread { self.layout.shares(place.lane) } else { Region::shares(0, read) };
        let region = Region { shares, column: place.column, columns };
        order::access(cx, &self.actor, (block, region), Access::Read)?;
        let tensor = &cx.cluster.blocks[block].tensor;
        let mut values = [0.0; 8];
        let mut unwritten = Vec::new();
        for row in 0..rows {
            // Shifted, each row but the last goes one down.
            let from = if self.op.shifted { row.saturating_sub(1) } else { row };
            let lane = place.lane + self.layout.lane(from);
            let (cells, written) = tensor.row(lane, place.column, columns);
            let mut whole = !written.contains(&false);
            if copied {
                let (other, also) = tensor.row(lane + rows, place.column, columns);
                let both = whole && !also.contains(&false);
                if both && cells != other {
                    let detail = format!(
                        "A of `tcgen05.mma` in tensor memory differs between lanes {lane} and {}: of 128 rows of a pair, lanes {rows} to {} hold a copy of lanes 0 to {}",
                        lane + rows,
                        2 * rows - 1,
                        rows - 1
                    );
                    let address = Place { lane: lane + rows, ..place }.address();
                    return Err(
                        Trap::new(FaultKind::IllegalOperand, detail).address(address.into())
                    );
                }
                whole = both;
            }
            if !whole {
                unwritten.push(row);
            }
            for (i, cell) in cells.iter().enumerate() {
                factor.widen_cell(*cell, &mut values);
                for (j, value) in values[..per_cell].iter().enumerate() {
                    put(row as usize, i * per_cell + j, *value);
                }
            }
        }
        Ok(unwritten)
    }

    /// B: each block holds its share of the columns.
    fn b(&mut self, cx: &mut Context<'_>, warp: &Warp, blocks: &[usize]) -> Run<Values> {
        let (count, depth) = self.slices();
        let FactorOf { factor, negated, major } = self.instruction.b;
        let columns = self.instruction.columns as usize;
        let sign = if negated { -1.0 } else { 1.0 };
        let matrix = descriptor(warp, self.op.b, (major, factor), ("B", self.lane))?;
        let own = columns / blocks.len();
        let mut b = Values { slices: vec![vec![0.0; depth * columns]; count], ..Values::default() };
        for (i, &block) in blocks.iter().enumerate() {
            let first = i * own;
            let shared = &cx.cluster.blocks[block].shared;
            let narrow = |n: usize| u32::try_from(n).expect("a matrix is small");
            let extents = (factor, narrow(own), self.instruction.depth);
            let slices = &mut b.slices;
            let name = "B of `tcgen05.mma`";
            let read = operand::read(shared, name, (matrix, major), extents, |column, k, x| {
                slices[k / depth][k % depth * columns + first + column] = sign * x;
            })?;
            b.unwritten.extend(read.unwritten.iter().map(|column| column + narrow(first)));
            b.unwritten_at = b.unwritten_at.or(read.unwritten_at);
            self.hold(cx, warp, (block, name), read.units)?;
        }
        Ok(b)
    }

    /// Checks what was read of shared memory, and keeps it until the product is over.
    fn hold(
        &mut self,
        cx: &mut Context<'_>,
        warp: &Warp,
        (block, name): (usize, &str),
        units: Vec<u32>,
    ) -> Run<()> {
        hazards::landed(cx, block, &units, name)?;
        flight::reads(cx, (warp, self.lane), (block, &units), "tcgen05.mma")?;
        self.reads.push((block, units));
        Ok(())
    }

    /// The rows of D in one block.
    fn multiply(
        &self,
        cx: &mut Context<'_>,
        block: usize,
        (a, b, [a_scales, b_scales], kept): (&Values, &Values, &[Factors; 2], Option<&Kept>),
        (accumulates, disabled): (bool, &[u32]),
    ) {
        let columns = self.instruction.columns as usize;
        let Layout { rows, parts, columns: part, .. } = self.layout;
        let accumulator = self.instruction.accumulator;
        let tensor = &mut cx.cluster.blocks[block].tensor;
        let mut sums = vec![0.0; rows as usize * columns];
        let place = |row: u32, i: u32| self.d.lane + self.layout.lane(row) + i * rows;
        if accumulates {
            let scale = 0.5f32.powi(i32::try_from(self.op.scale_input).expect("at most 15"));
            for (row, sums) in (0..rows).zip(sums.chunks_exact_mut(columns)) {
                for (i, sums) in (0..parts).zip(sums.chunks_exact_mut(part as usize)) {
                    let (cells, _) = tensor.row(place(row, i), self.d.column, part);
                    accumulator.start(cells, scale, sums);
                }
            }
        }
        let (_, depth) = self.slices();
        for (i, (a, b)) in a.slices.iter().zip(&b.slices).enumerate() {
            let scales = a_scales.slices.get(i).zip(b_scales.slices.get(i));
            match kept {
                None => add((a, b), scales, (depth, columns), &mut sums),
                Some(kept) => add_sparse((a, b), &kept.rows_of_b, columns, &mut sums),
            }
        }
        let unknown = kept.map_or(&[][..], |kept| &kept.unwritten);
        let defined = |total: usize, lists: [&[u32]; 3]| {
            let mut defined = vec![true; total];
            for index in lists.into_iter().flatten() {
                defined[*index as usize] = false;
            }
            defined
        };
        let row_defined = defined(rows as usize, [&a.unwritten, &a_scales.unwritten, unknown]);
        let column_defined = defined(columns, [&b.unwritten, &b_scales.unwritten, &[]]);
        let all = column_defined.iter().all(|defined| *defined);
        for (row, sums) in (0..rows).zip(sums.chunks_exact(columns)) {
            for (i, sums) in (0..parts).zip(sums.chunks_exact(part as usize)) {
                let lane = place(row, i);
                let word = disabled.get(lane as usize / 32).copied().unwrap_or_default();
                if word >> (lane % 32) & 1 != 0 {
                    continue;
                }
                let (cells, written) = tensor.row_mut(lane, self.d.column, part);
                for (cell, sum) in cells.iter_mut().zip(sums) {
                    *cell = accumulator.finish(*sum, accumulates.then_some(*cell));
                }
                let row_defined = row_defined[row as usize];
                if all && row_defined && !accumulates {
                    written.fill(true);
                    continue;
                }
                let columns = &column_defined[(i * part) as usize..][..part as usize];
                for (written, column) in written.iter_mut().zip(columns) {
                    *written = row_defined && *column && (*written || !accumulates);
                }
            }
        }
    }
}

//! `ldmatrix`, `stmatrix`, `movmatrix`, `mma.sync` (PTX ISA, "Warp Level Matrix
//! Multiply-Accumulate Instructions").

pub(crate) mod sparse;

use super::memory::hazards::{self, Accessed};
use super::memory::{Access, addresses, place, resolve};
use crate::code::{
    Address, Doubles, LANES, Ldmatrix, MatrixShape, Mma, MmaKind, MmaScales, Place, Slot, Stmatrix,
    W, Words,
};
use crate::fault::{FaultKind, Run, Trap, Unwritten};
use crate::machine::{Context, Warp};
use crate::memory::shared::Shared;
use crate::numeric::fragment;
use crate::numeric::matrix::{self, Accumulate};
use crate::numeric::scaled::{self, Scales};

/// Matrix instructions need all 32 lanes.
fn whole(mask: u32) -> Run<()> {
    if mask == u32::MAX {
        return Ok(());
    }
    Err(Trap::new(
        FaultKind::WarpDivergence,
        format!("a matrix instruction needs all 32 lanes, only {mask:#010x} are there"),
    )
    .lane((!mask).trailing_zeros()))
}

/// The rows of matrices in shared memory: the block and offset of each address lane.
fn rows(
    cx: &mut Context<'_>,
    warp: &Warp,
    address: &Address,
    lanes: u32,
    access: Access,
) -> Run<(usize, Doubles, Doubles)> {
    let at = addresses(warp, address, lanes)?;
    let at = if address.place == Place::Generic {
        let (place, same, local) = resolve(&at, lanes);
        if place != Place::Shared || same != lanes {
            let lane = lanes.trailing_zeros();
            let detail = "a matrix row outside shared memory";
            return Err(Trap::new(FaultKind::WrongSpace, detail)
                .lane(lane)
                .address(at[lane as usize]));
        }
        local
    } else {
        at
    };
    let (block, offsets, same) = place::shared(cx, &at, 16, lanes, access)?;
    if same != lanes {
        let lane = (lanes & !same).trailing_zeros();
        let detail = "the rows of one matrix instruction lie in the shared memory of two blocks";
        return Err(Trap::new(FaultKind::WrongSpace, detail).lane(lane));
    }
    let accessed = Accessed { offsets: &offsets, addresses: &at, bytes: 16, mask: lanes, access };
    hazards::in_flight(cx, block, &accessed)?;
    // Eight rows of 16 bytes are served at a time.
    place::shared_passes(cx, block, (&offsets, 16, lanes));
    Ok((block, offsets, at))
}

/// `ldmatrix`.
pub(crate) fn ldmatrix(cx: &mut Context<'_>, warp: &mut Warp, op: &Ldmatrix, mask: u32) -> Run<()> {
    whole(mask)?;
    let lanes = u32::MAX >> (32 - 8 * op.count);
    let (block, offsets, at) = rows(cx, warp, &op.address, lanes, Access::MatrixLoad)?;
    let access = Access::MatrixLoad;
    let accessed = Accessed { offsets: &offsets, addresses: &at, bytes: 16, mask: lanes, access };
    hazards::race(cx, warp, block, &accessed)?;
    if let MatrixShape::M8n16(bits) = op.shape {
        spread(cx, warp, (op, bits), (block, &offsets, &at));
        return Ok(());
    }
    let memory = &cx.cluster.blocks[block].shared;
    for (matrix, target) in op.targets.iter().enumerate() {
        let mut tile = [[0u16; 8]; 8];
        let mut written = 0u32;
        for (row, tile) in tile.iter_mut().enumerate() {
            let lane = fragment::row_address_lane(matrix, row);
            let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
            let (words, whole) = memory.row(offset);
            if !whole {
                let lane = u32::try_from(lane).expect("32 lanes");
                let (pc, address) = (warp.pc, at[lane as usize]);
                warp.unwritten = Some(Unwritten { pc, lane, address, place: Place::Shared });
            }
            written |= u32::from(whole) << row;
            let [low, high] = words.map(u64::to_le_bytes);
            for (i, half) in low.chunks_exact(2).chain(high.chunks_exact(2)).enumerate() {
                tile[i] = u16::from_le_bytes([half[0], half[1]]);
            }
        }
        let value = fragment::load_matrix(&tile, op.trans);
        let defined = if written == 0xFF { u32::MAX } else { spread_rows(written, op.trans) };
        warp.regs.set_w(*target, &value, u32::MAX, defined);
    }
    Ok(())
}

/// `ldmatrix` of elements narrower than a byte: lane `4 row + within` gets elements `4 within` to `4 within + 3` of a row, each in the
/// low bits of a byte. The padding of a row is not read.
fn spread(
    cx: &Context<'_>,
    warp: &mut Warp,
    (op, bits): (&Ldmatrix, u32),
    (block, offsets, at): (usize, &Doubles, &Doubles),
) {
    let memory = &cx.cluster.blocks[block].shared;
    for (matrix, target) in op.targets.iter().enumerate() {
        let (mut value, mut defined) = ([0; LANES], u32::MAX);
        for row in 0..8 {
            let from = fragment::row_address_lane(matrix, row);
            let offset = u32::try_from(offsets[from]).expect("shared memory is small");
            let mut bytes = [0; 16];
            let read = memory.read(offset, &mut bytes[..2 * bits as usize]);
            if read.is_some() {
                let lane = u32::try_from(from).expect("32 lanes");
                let (pc, address) = (warp.pc, at[from]);
                warp.unwritten = Some(Unwritten { pc, lane, address, place: Place::Shared });
                defined &= !(0xF << (4 * row));
            }
            let elements = u128::from_le_bytes(bytes);
            for element in 0..16 {
                let code = elements >> (bits as usize * element) & ((1 << bits) - 1);
                let code = u32::try_from(code).expect("elements have at most six bits");
                value[4 * row + element / 4] |= code << (8 * (element % 4));
            }
        }
        warp.regs.set_w(*target, &value, u32::MAX, defined);
    }
}

/// The lanes whose elements come from written rows.
fn spread_rows(written: u32, trans: bool) -> u32 {
    let mut lanes = 0;
    for lane in 0..LANES {
        let both = [0, 1].into_iter().all(|half| {
            let place = fragment::matrix_place(lane, half, trans);
            written >> place.row & 1 != 0
        });
        lanes |= u32::from(both) << lane;
    }
    lanes
}

/// `stmatrix`.
pub(crate) fn stmatrix(cx: &mut Context<'_>, warp: &mut Warp, op: &Stmatrix, mask: u32) -> Run<()> {
    whole(mask)?;
    let lanes = u32::MAX >> (32 - 8 * op.count);
    let (block, offsets, at) = rows(cx, warp, &op.address, lanes, Access::Store)?;
    let access = Access::Store;
    let accessed = Accessed { offsets: &offsets, addresses: &at, bytes: 16, mask: lanes, access };
    hazards::race_of_store(cx, warp, block, &accessed, |memory| {
        already_stored(memory, warp, op, &offsets)
    })?;
    hazards::wrote(cx, warp, block, &offsets, 16, lanes);
    let memory = &mut cx.cluster.blocks[block].shared;
    for (matrix, source) in op.sources.iter().enumerate() {
        let tile = fragment::store_matrix(warp.regs.w(*source), op.trans);
        for (row, tile) in tile.iter().enumerate() {
            let lane = fragment::row_address_lane(matrix, row);
            let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
            memory.write(offset, &row_bytes(tile));
            // An undefined lane's elements count as never written, as with `st`.
            for lane in crate::machine::warp::lanes(!warp.regs.w_defined(*source)) {
                for half in 0..2 {
                    let place = fragment::matrix_place(lane, half, op.trans);
                    if place.row == row {
                        let column = u32::try_from(place.column).expect("eight columns");
                        memory.forget(offset + 2 * column, 2);
                    }
                }
            }
        }
    }
    Ok(())
}

/// A row of a matrix as it is in memory.
fn row_bytes(row: &[u16; 8]) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    for (bytes, half) in bytes.chunks_exact_mut(2).zip(row) {
        bytes.copy_from_slice(&half.to_le_bytes());
    }
    bytes
}

/// Whether shared memory holds the rows that a `stmatrix` stores already.
fn already_stored(memory: &Shared, warp: &Warp, op: &Stmatrix, offsets: &Doubles) -> bool {
    (0..).zip(&op.sources).all(|(matrix, source)| {
        let tile = fragment::store_matrix(warp.regs.w(*source), op.trans);
        let held = |(row, tile): (usize, &[u16; 8])| {
            let offset = offsets[fragment::row_address_lane(matrix, row)];
            let mut bytes = [0; 16];
            let offset = u32::try_from(offset).expect("shared memory is small");
            memory.read(offset, &mut bytes).is_none() && bytes == row_bytes(tile)
        };
        warp.regs.w_defined(*source) == u32::MAX && tile.iter().enumerate().all(held)
    })
}

/// `movmatrix`.
pub(crate) fn movmatrix(warp: &mut Warp, d: W, a: W, mask: u32) -> Run<()> {
    whole(mask)?;
    let value = fragment::transpose_matrix(warp.regs.w(a));
    let written = warp.regs.w_defined(a);
    // Each result lane takes two lanes of the source.
    let mut defined = 0;
    for lane in 0..LANES {
        let both = [0, 1].into_iter().all(|half| {
            let place = fragment::matrix_place(lane, half, true);
            written >> (4 * place.row + place.column / 2) & 1 != 0
        });
        defined |= u32::from(both) << lane;
    }
    warp.regs.set_w(d, &value, u32::MAX, defined);
    Ok(())
}

/// Operand registers, without copying them.
fn words<'a, const N: usize>(warp: &'a Warp, slots: &[Slot]) -> [&'a Words; N] {
    static NONE: Words = [0; LANES];
    std::array::from_fn(|i| match slots.get(i) {
        Some(Slot::W(slot)) => warp.regs.w(*slot),
        Some(Slot::D(_) | Slot::Q(_) | Slot::P(_)) | None => &NONE,
    })
}

fn doubles<const N: usize>(warp: &Warp, slots: &[Slot]) -> [Doubles; N] {
    std::array::from_fn(|i| match slots.get(i) {
        Some(Slot::D(slot)) => *warp.regs.d(*slot),
        Some(Slot::W(_) | Slot::Q(_) | Slot::P(_)) | None => [0; LANES],
    })
}

/// Lanes of the result that take only defined elements. A lane of A holds elements of rows
/// `lane / 4` and `lane / 4 + 8`, a lane of B elements of column `lane / 4`.
fn defined(warp: &Warp, op: &Mma) -> [u32; 2] {
    let all = |slots: &[Slot]| slots.iter().fold(u32::MAX, |m, slot| m & warp.regs.defined(*slot));
    let (a, b, c) = (all(&op.a), all(&op.b), all(&op.c));
    if a & b & c == u32::MAX {
        return [u32::MAX; 2];
    }
    // Registers with an even index belong to the upper eight rows, the others to the lower ones.
    let half = |slots: &[Slot], odd: usize| {
        slots.iter().skip(odd).step_by(2).fold(u32::MAX, |m, slot| m & warp.regs.defined(*slot))
    };
    let rows = |lanes: u32| {
        // A row is defined if all four lanes that hold it are.
        let four = lanes & lanes >> 1 & lanes >> 2 & lanes >> 3 & 0x1111_1111;
        four * 0xF
    };
    let mut columns = 0;
    for lane in 0..32 {
        let column = 2 * (lane % 4);
        let both = 0xFFu32 << (4 * column);
        columns |= u32::from(b & both == both) << lane;
    }
    [0, 1].map(|odd| rows(half(&op.a, odd)) & columns & c)
}

/// `mma.sync`.
pub(crate) fn mma(cx: &Context<'_>, warp: &mut Warp, op: &Mma, mask: u32) -> Run<()> {
    whole(mask)?;
    let defined = defined(warp, op);
    if let Some(metadata) = op.sparse {
        return sparse::mma(cx, warp, (op, metadata), defined);
    }
    let (ka, kb) = (op.a.len(), op.b.len());
    match op.kind {
        MmaKind::Float { a, b, half: false } => {
            let (x, y) = (words::<4>(warp, &op.a), words::<2>(warp, &op.b));
            let d = matrix::mma_f32(
                a,
                &x[..ka],
                b,
                &y[..kb],
                &words(warp, &op.c),
                cx.launch.tensor_core,
            );
            write_words(warp, &op.d, &d, defined, 2);
        }
        MmaKind::Float { a, b, half: true } => {
            let (x, y) = (words::<4>(warp, &op.a), words::<2>(warp, &op.b));
            let d = matrix::mma_f16(
                a,
                &x[..ka],
                b,
                &y[..kb],
                &words(warp, &op.c),
                cx.launch.tensor_core,
            );
            write_words(warp, &op.d, &d, defined, 1);
        }
        MmaKind::Scaled(how) => {
            let [a, b] = op.scales.expect("the decoder gives scales to every such product");
            let scales = [
                scales_of(warp, a, ("a", 2), how.count)?,
                scales_of(warp, b, ("b", 4), how.count)?,
            ];
            let d = scaled::mma(
                how,
                words(warp, &op.a),
                words(warp, &op.b),
                words(warp, &op.c),
                scales,
            );
            let defined = defined_scales(warp, [a, b], scales, defined);
            write_words(warp, &op.d, &d, defined, 2);
        }
        MmaKind::Int { a, b, rows: 8, saturate } => {
            let ([x], [y]) = (words::<1>(warp, &op.a), words::<1>(warp, &op.b));
            let mode = accumulate(saturate);
            let d = matrix::mma_s32_m8(a, x, b, y, &words(warp, &op.c), mode);
            write_words(warp, &op.d, &d, defined, 2);
        }
        MmaKind::Int { a, b, rows: _, saturate } => {
            let (x, y) = (words::<4>(warp, &op.a), words::<2>(warp, &op.b));
            let mode = accumulate(saturate);
            let d = matrix::mma_s32(a, &x[..ka], b, &y[..kb], &words(warp, &op.c), mode);
            write_words(warp, &op.d, &d, defined, 2);
        }
        MmaKind::Bits { op: bit_op } => {
            let (x, y) = (words::<4>(warp, &op.a), words::<2>(warp, &op.b));
            let d = matrix::mma_b1(bit_op, &x[..ka], &y[..kb], &words(warp, &op.c));
            write_words(warp, &op.d, &d, defined, 2);
        }
        MmaKind::F64 { rows: 8, round } => {
            let (x, y) = (doubles::<1>(warp, &op.a), doubles::<1>(warp, &op.b));
            let d = matrix::mma_f64(&x, &y, &doubles::<2>(warp, &op.c), round);
            write_doubles(warp, &op.d, &d, defined);
        }
        MmaKind::F64 { rows: _, round } => {
            let (x, y) = (doubles::<8>(warp, &op.a), doubles::<4>(warp, &op.b));
            let d = matrix::mma_f64(&x[..ka], &y[..kb], &doubles::<4>(warp, &op.c), round);
            write_doubles(warp, &op.d, &d, defined);
        }
    }
    Ok(())
}

/// The scales of an operand; `lanes` of each four may be chosen.
fn scales_of<'a>(
    warp: &'a Warp,
    of: MmaScales,
    (name, lanes): (&str, u32),
    count: usize,
) -> Run<Scales<'a>> {
    let chosen = |slot: W, what: &str, most: usize| {
        let numbers = warp.regs.w(slot);
        let number = numbers[0] as usize;
        if numbers.iter().all(|other| *other == numbers[0]) && number < most {
            return Ok(number);
        }
        let detail = format!(
            "{what}-id-{name} of `mma` is {number} in lane 0: required the same number below {most} in all lanes"
        );
        Err(Trap::new(FaultKind::IllegalOperand, detail))
    };
    let thread = chosen(of.thread, "thread", lanes as usize)?;
    // Scales of one operand begin at a multiple of their number.
    let byte = chosen(of.byte, "byte", 4)?;
    if !byte.is_multiple_of(count) {
        let detail = format!(
            "byte-id-{name} of `mma` is {byte}: required a multiple of {count}, the scales of a row"
        );
        return Err(Trap::new(FaultKind::IllegalOperand, detail));
    }
    Ok(Scales { register: warp.regs.w(of.data), thread, byte })
}

/// The lanes among `results` that take only defined scales.
fn defined_scales(
    warp: &Warp,
    [of_a, of_b]: [MmaScales; 2],
    [a, b]: [Scales<'_>; 2],
    results: [u32; 2],
) -> [u32; 2] {
    let [of_a, of_b] = [of_a, of_b].map(|of| warp.regs.w_defined(of.data));
    let held = |lanes: u32, lane: usize| lanes >> lane & 1 != 0;
    [0, 8].map(|first| {
        (0..LANES)
            .filter(|lane| {
                let columns = [2 * (lane % 4), 2 * (lane % 4) + 1];
                held(results[first / 8], *lane)
                    && held(of_a, fragment::a_scale_lane(a.thread, first + lane / 4))
                    && columns.iter().all(|n| held(of_b, fragment::b_scale_lane(b.thread, *n)))
            })
            .fold(0, |mask, lane| mask | 1 << lane)
    })
}

const fn accumulate(saturate: bool) -> Accumulate {
    if saturate { Accumulate::Saturate } else { Accumulate::Wrap }
}

/// `per_half` registers of the result belong to the upper eight rows, the rest to the lower ones.
fn write_words(
    warp: &mut Warp,
    slots: &[Slot],
    values: &[Words],
    defined: [u32; 2],
    per_half: usize,
) {
    for (i, (slot, value)) in slots.iter().zip(values).enumerate() {
        if let Slot::W(slot) = *slot {
            warp.regs.set_w(slot, value, u32::MAX, defined[(i / per_half).min(1)]);
        }
    }
}

fn write_doubles(warp: &mut Warp, slots: &[Slot], values: &[Doubles], defined: [u32; 2]) {
    for (i, (slot, value)) in slots.iter().zip(values).enumerate() {
        if let Slot::D(slot) = *slot {
            warp.regs.set_d(slot, value, u32::MAX, defined[(i / 2).min(1)]);
        }
    }
}

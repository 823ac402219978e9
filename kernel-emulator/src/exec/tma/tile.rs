//! The box of a tensor copy, or its four rows: which elements it takes, and where they are in shared memory.
//!
//! (PTX ISA, "Tensors: Tiled mode, `.tile::gather4` and `.tile::scatter4` modes, Out of Boundary Access, Swizzling modes". That rows keep the pitch of the
//! swizzle's span, and what the innermost coordinate must be a multiple of, was seen on an H200.)

use crate::exec::bulk::{Piece, Row};
use crate::fault::{FaultKind, Run, Trap};
use crate::tensor_map::{Pixels, TensorMap, most_corner};

/// Bytes of the units that a swizzle permutes, and that a store writes.
pub(super) const UNIT: u32 = 16;

/// A box of a tensor, or rows of it, row by row; rows are along the innermost dimension.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// Bytes of a row in the tensor, and in shared memory.
    pub(super) row_bytes: u32,
    shared_row: u32,
    /// Of rows whose sixteen elements each get a unit of shared memory: how much of it they fill.
    padded: Option<u32>,
    /// From one row to the next in shared memory.
    pitch: u32,
    pub(super) rows: u32,
    swizzle: u32,
    /// The elements inside the tensor, and where they are in the box, rows packed.
    pub(super) inside: Vec<Row>,
}

impl Tile {
    /// The box at coordinates, innermost first.
    pub(super) fn new(map: &TensorMap, coordinates: &[i32]) -> Run<Tile> {
        let rank = map.dims.len();
        if coordinates.len() != rank {
            let detail =
                format!("{} coordinates for a tensor map of {rank} dimensions", coordinates.len());
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        // The innermost dimension is always taken whole (`cuTensorMapEncodeTiled`, `elementStrides`).
        let extents: Vec<u32> =
            (1..rank).map(|i| map.box_dims[i].div_ceil(map.element_strides[i])).collect();
        let pitch = pitch(map);
        let rows = extents.iter().try_fold(1u32, |all, &extent| all.checked_mul(extent));
        let all = rows.and_then(|rows| rows.checked_mul(pitch)).filter(|&bytes| bytes < 1 << 24);
        let (Some(rows), Some(_)) = (rows, all) else {
            let detail =
                format!("a box of {:?} elements, more than any shared memory", map.box_dims);
            return Err(Trap::new(FaultKind::OutOfBounds, detail));
        };
        let dim = |i: usize| map.dims[i].cast_signed();
        let mut index = vec![0u32; rank - 1];
        let mut addresses = Vec::new();
        for _ in 0..rows {
            let mut address = map.address;
            let mut within = true;
            for (i, &k) in (1..).zip(&index) {
                let at = i64::from(coordinates[i]) + i64::from(k * map.element_strides[i]);
                within &= (0..dim(i)).contains(&at);
                let stride = map.strides_bytes[i - 1];
                address = address.wrapping_add(stride.wrapping_mul(at.cast_unsigned()));
            }
            addresses.push(within.then_some(address));
            for (k, extent) in index.iter_mut().zip(&extents) {
                *k += 1;
                if k != extent {
                    break;
                }
                *k = 0;
            }
        }
        Tile::of_rows(map, coordinates[0], &addresses)
    }

    /// The four rows of `.tile::gather4` and `.tile::scatter4`: coordinates are the column where they start,
    /// then the rows. (PTX ISA, "Tensor Copy Modes"; `cuTensorMapEncodeTiled`'s box is one row of them.)
    pub(super) fn four_rows(map: &TensorMap, coordinates: &[i32]) -> Run<Tile> {
        let refused = |detail: String| Err(Trap::new(FaultKind::IllegalOperand, detail));
        let (&[columns, rows], &[_, stride]) = (&map.box_dims[..], &map.element_strides[..]) else {
            let rank = map.dims.len();
            return refused(format!(
                "a copy of four rows with a tensor map of {rank} dimensions; it needs a map of 2"
            ));
        };
        if rows != 1 || stride != 1 {
            return refused(format!(
                "a copy of four rows with a tensor map whose box is {rows} rows of {columns} columns, every {stride}. row of \
                 them; it needs a box of 1 row"
            ));
        }
        let &[column, ref rows @ ..] = coordinates else {
            return refused("a copy of four rows without coordinates".to_owned());
        };
        if rows.len() != 4 {
            return refused(format!("{} rows for a copy of four", rows.len()));
        }
        let address = |&row: &i32| {
            let row = u64::try_from(row).ok().filter(|&row| row < map.dims[1])?;
            Some(map.address.wrapping_add(map.strides_bytes[0].wrapping_mul(row)))
        };
        let addresses: Vec<_> = rows.iter().map(address).collect();
        Tile::of_rows(map, column, &addresses)
    }

    /// Pixels of a bounding box, one after the other from the one at the coordinates on: along the innermost dimension of an image first, and in
    /// the next image after the last pixel of one. What is copied of each is as far from it as the offsets say.
    /// (PTX ISA, "Tensors: Im2col mode"; `cuTensorMapEncodeIm2col`.)
    pub(super) fn pixels(
        map: &TensorMap,
        pixels: &Pixels,
        coordinates: &[i32],
        offsets: &[u32],
    ) -> Run<Tile> {
        let refused = |detail: String| Err(Trap::new(FaultKind::IllegalOperand, detail));
        let rank = map.dims.len();
        let Some(most) = most_corner(rank) else {
            return refused(format!("an im2col copy with a tensor map of {rank} dimensions"));
        };
        if (coordinates.len(), offsets.len()) != (rank, rank - 2) {
            return refused(format!(
                "{} coordinates and {} offsets for an im2col tensor map of {rank} dimensions",
                coordinates.len(),
                offsets.len()
            ));
        }
        // An offset has a bit more than a corner, and no sign.
        let most = 2 * most.cast_unsigned() + 1;
        if let Some(offset) = offsets.iter().find(|offset| **offset > most) {
            return refused(format!(
                "an im2col offset of {offset}; for a tensor map of {rank} dimensions it is at most {most}"
            ));
        }
        let bounds = |dim: usize| (i64::from(pixels.lower[dim - 1]), pixels.upper(map, dim));
        let mut at: Vec<i64> = coordinates.iter().map(|at| i64::from(*at)).collect();
        for (dim, at) in (1..rank - 1).zip(&at[1..]) {
            let (lower, upper) = bounds(dim);
            if !(lower..=upper).contains(at) {
                return refused(format!(
                    "an im2col copy begins at {at} along dimension {dim}, outside of its bounding box, which is from {lower} to {upper}; an \
                     H200 stops there with an illegal instruction"
                ));
            }
        }
        let mut addresses = Vec::new();
        for _ in 0..pixels.count {
            let mut address = map.address;
            let mut within = true;
            for (dim, &at) in at.iter().enumerate().skip(1) {
                let offset = offsets.get(dim - 1).copied().unwrap_or(0);
                let position = at + i64::from(offset);
                within &= (0..map.dims[dim].cast_signed()).contains(&position);
                let stride = map.strides_bytes[dim - 1];
                address = address.wrapping_add(stride.wrapping_mul(position.cast_unsigned()));
            }
            addresses.push(within.then_some(address));
            for (dim, at) in at.iter_mut().enumerate().skip(1) {
                *at += i64::from(map.element_strides[dim]);
                if dim + 1 == rank || *at <= bounds(dim).1 {
                    break;
                }
                *at = bounds(dim).0;
            }
        }
        Tile::of_rows(map, coordinates[0], &addresses)
    }

    /// Rows that start at a column: the address of column 0 of each, or nothing where it is outside the tensor.
    fn of_rows(map: &TensorMap, column: i32, rows: &[Option<u64>]) -> Run<Tile> {
        let element_bits = map.element_bits().expect("`TensorMap::check` knows the type");
        let start = i64::from(column);
        let at_bits = start * i64::from(element_bits);
        // A box of elements that are padded is a row of them, and starts where one does (`cuTensorMapEncodeTiled`, `16U4_ALIGN16B`).
        let unit = if map.padded().is_some() { map.box_dims[0] * element_bits / 8 } else { UNIT };
        if at_bits % (8 * i64::from(unit)) != 0 {
            let bytes = at_bits / 8;
            let detail = format!(
                "the innermost coordinate is {start}, at {bytes} bytes; a tensor copy starts at a multiple of {unit} bytes"
            );
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        let row_bytes = map.box_dims[0] * element_bits / 8;
        let end = (start + i64::from(map.box_dims[0])).min(map.dims[0].cast_signed());
        let (from, to) = (start.max(0), end);
        let bytes = |elements: i64| elements.cast_unsigned() * u64::from(element_bits) / 8;
        let small = |bytes: u64| usize::try_from(bytes).expect("a box is small");
        let mut inside = Vec::new();
        for (row, address) in rows.iter().enumerate() {
            if let Some(address) = address
                && from < to
            {
                inside.push(Row {
                    address: address.wrapping_add(bytes(from)),
                    start: row * row_bytes as usize + small(bytes(from - start)),
                    bytes: small(bytes(to - from)),
                });
            }
        }
        let rows = u32::try_from(rows.len()).expect("a box fits shared memory");
        let (swizzle, padded) = (map.swizzle, map.padded());
        Ok(Tile {
            row_bytes,
            shared_row: shared_row(map),
            padded,
            pitch: pitch(map),
            rows,
            swizzle,
            inside,
        })
    }

    /// Bytes of shared memory from the first row to the end of the last.
    pub(super) fn shared_bytes(&self) -> u32 {
        let last = if self.swizzle == 0 { self.shared_row } else { self.pitch };
        (self.rows - 1) * self.pitch + last
    }

    /// Bytes of the box, as an mbarrier counts them: those of the tensor, without what pads elements that are narrower than a byte
    /// (so compilers that are proven on the hardware expect them; no such device was there to be asked).
    pub(super) fn bytes(&self) -> usize {
        self.rows as usize * self.row_bytes as usize
    }

    /// Where the bytes of the box are, rows packed, in shared memory that starts at an address; offsets are
    /// relative to `base`.
    pub(super) fn pieces(&self, address: u32, base: u32) -> Vec<Piece> {
        let row = |row: u32| address + row * self.pitch;
        if self.swizzle == 0 && self.padded.is_none() {
            let piece = |at: u32| Piece { offset: at - base, bytes: self.row_bytes };
            return (0..self.rows).map(|r| piece(row(r))).collect();
        }
        let units = |r: u32| (0..self.shared_row / UNIT).map(move |unit| row(r) + unit * UNIT);
        let bytes = self.padded.unwrap_or(UNIT);
        let place = |at: u32| Piece { offset: swizzled(at, self.swizzle) - base, bytes };
        (0..self.rows).flat_map(units).map(place).collect()
    }
}

/// Bytes of a row in shared memory.
fn shared_row(map: &TensorMap) -> u32 {
    let bytes = map.row_bytes().expect("`TensorMap::check` knows the type");
    u32::try_from(bytes).expect("a box is small")
}

/// From one row to the next in shared memory.
fn pitch(map: &TensorMap) -> u32 {
    map.swizzle_span().unwrap_or_else(|| shared_row(map))
}

/// The address that a swizzle mode puts an address at.
fn swizzled(address: u32, mode: u32) -> u32 {
    let bits = match mode {
        1 => 0x10,
        2 => 0x30,
        3 => 0x70,
        _ => 0,
    };
    address ^ address >> 3 & bits
}

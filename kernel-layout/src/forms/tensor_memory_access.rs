//! Layouts of the registers that `tcgen05.ld` fills from tensor memory and `tcgen05.st` stores. The section on tensor
//! memory in [`super`] has the whole picture.

use std::fmt;

use super::check_one_of;
use crate::layout::log2;
use crate::{Basis, Dim, Layout, LayoutError};

/// The shape that one `tcgen05.ld` or `tcgen05.st` moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TmemAtom {
    /// `32x32b`: a lane has a row; in blocks of 64 rows it becomes `16x32bx2`.
    M32x32b,
    /// `16x64b`.
    M16x64b,
    /// `16x128b`.
    M16x128b,
    /// `16x256b`: the accumulator fragment of `mma`.
    M16x256b,
    /// `16x32bx2`: 16 rows and twice the columns, the second half from its own start. For blocks of 64 rows that leave
    /// row bit 4 empty.
    M16x32bx2,
}

impl TmemAtom {
    /// Every atom.
    pub const ALL: [TmemAtom; 5] = [
        TmemAtom::M32x32b,
        TmemAtom::M16x64b,
        TmemAtom::M16x128b,
        TmemAtom::M16x256b,
        TmemAtom::M16x32bx2,
    ];

    /// The PTX manual's name.
    pub fn name(self) -> &'static str {
        match self {
            TmemAtom::M32x32b => "32x32b",
            TmemAtom::M16x64b => "16x64b",
            TmemAtom::M16x128b => "16x128b",
            TmemAtom::M16x256b => "16x256b",
            TmemAtom::M16x32bx2 => "16x32bx2",
        }
    }

    /// The atom of that name.
    pub fn from_name(name: &str) -> Option<TmemAtom> {
        TmemAtom::ALL.into_iter().find(|atom| atom.name() == name)
    }

    /// Registers and lanes as (row, column), and log2 of the columns.
    pub(super) fn tile(self) -> (Vec<[u32; 2]>, Vec<[u32; 2]>, usize) {
        let walk = |low: [[u32; 2]; 2]| [&low[..], &[[1, 0], [2, 0], [4, 0]]].concat();
        match self {
            TmemAtom::M32x32b => (vec![], vec![[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], 0),
            // Lane bit 4 is a column, which depends on how many there are.
            TmemAtom::M16x32bx2 => (vec![], vec![[1, 0], [2, 0], [4, 0], [8, 0]], 0),
            TmemAtom::M16x64b => (vec![], walk([[8, 0], [0, 1]]), 1),
            TmemAtom::M16x128b => (vec![[8, 0]], walk([[0, 1], [0, 2]]), 2),
            TmemAtom::M16x256b => (vec![[0, 1], [8, 0]], walk([[0, 2], [0, 4]]), 3),
        }
    }
}

impl fmt::Display for TmemAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which columns of the tensor a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TmemColumns {
    /// The order of the instructions: warps beyond the fourth share the columns.
    Whole,
    /// Each thread holds the same part of both halves of the columns, so splitting the tensor in two moves nothing.
    Split,
}

/// The registers that loads of `atom` by `warps` warps fill from a tensor in tensor memory.
///
/// `memory` is a layout from [`tensor_memory`](super::tensor_memory()) or its siblings. The result is `memory` after a
/// layout from registers, lanes and warps to rows and columns:
///
/// - registers: the elements of one word, then the atom, then further columns;
/// - warp bits 0 and 1: rows 32 and 64;
/// - the other 16 rows of a warp, for an atom of 16: the next warp bit if there is one, else the last register;
/// - further warp bits: the highest columns; if there are none left, copies.
///
/// For 128×64 `f32`, eight warps hold 32 registers each, and four warps hold 64.
///
/// ```
/// use kernel_layout::forms::{TmemAtom, TmemColumns, tensor_memory, tensor_memory_registers};
/// use kernel_layout::Dim;
/// let memory = tensor_memory([128, 64], 1, false, &[128, 64])?;
/// let layout = tensor_memory_registers(&memory, TmemAtom::M32x32b, TmemColumns::Whole, 8, 32)?;
/// assert_eq!(layout.bases(Dim::Register), [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]]);
/// assert_eq!(layout.bases(Dim::Lane), [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]);
/// assert_eq!(layout.bases(Dim::Warp), [[32, 0], [64, 0], [0, 32]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When there are not 4, 8, 16 or 32 warps, elements are neither packed into words nor alone in them, the tensor has
/// fewer columns than the atom, the atom is not one for blocks of that many rows, or halves are requested of a tensor
/// with only one word for each thread.
///
/// # Requires
/// `memory` has the inputs `Row` and `Col`, and perhaps `Block`; the outputs are axes.
pub fn tensor_memory_registers(
    memory: &Layout,
    atom: TmemAtom,
    columns: TmemColumns,
    warps: u32,
    element_bits: u32,
) -> Result<Layout, LayoutError> {
    // A warp reaches only its quarter of the rows, so four are needed, and a block has at most 32.
    check_one_of("warps", warps, &[4, 8, 16, 32])?;
    check_one_of("element bits", element_bits, &[8, 16, 32])?;
    assert!(
        memory.bases(Dim::Row).len() == 7 && memory.has_in(Dim::Col),
        "tensor memory has 128 rows"
    );
    let axes: Vec<Dim> = memory.out_dims().collect();
    let per_cta = memory.sublayout(&[Dim::Row, Dim::Col], &axes);
    let last = *axes.last().expect("a tensor in tensor memory has rows and columns");
    let places = places(&per_cta, atom, warps, log2(32 / element_bits))?;
    let loaded = places.compose(&per_cta).remove_zero_bases(Dim::Register);
    let loaded = match columns {
        TmemColumns::Whole => loaded,
        TmemColumns::Split => split_columns(&loaded, last, element_bits)?,
    };
    if !memory.has_in(Dim::Block) {
        return Ok(loaded);
    }
    let blocks = memory.sublayout(&[Dim::Block], &axes);
    Ok(loaded.concat_ins(&blocks))
}

/// From registers, lanes and warps to rows and columns of tensor memory.
fn places(
    memory: &Layout,
    atom: TmemAtom,
    warps: u32,
    packed_bits: usize,
) -> Result<Layout, LayoutError> {
    let gap = tensor_memory_has_gap(memory);
    let atom = match (atom, gap) {
        (TmemAtom::M32x32b, true) => TmemAtom::M16x32bx2,
        (TmemAtom::M16x32bx2, false) => {
            return Err(LayoutError::TensorMemoryAtom {
                atom: atom.name(),
                required: "a block of 64 rows whose other rows are empty",
            });
        }
        (atom, _) => atom,
    };
    let in_word = words(memory, packed_bits)?;
    let column_bits = memory.bases(Dim::Col).len() - packed_bits;
    let (registers, mut lanes, atom_bits) = atom.tile();
    let halves = usize::from(atom == TmemAtom::M16x32bx2);
    if column_bits < atom_bits + halves {
        return Err(LayoutError::TensorMemoryAtomColumns {
            atom: atom.name(),
            actual: 1 << column_bits,
            required: 1 << (atom_bits + halves),
        });
    }
    let mut free: Vec<[u32; 2]> = (atom_bits..column_bits).map(|bit| [0, 1 << bit]).collect();
    if halves == 1 {
        lanes.push(free.pop().expect("checked above: there are two columns"));
    }
    let more_warps = log2(warps) - 2;
    let other_rows = match atom {
        TmemAtom::M32x32b | TmemAtom::M16x32bx2 => None,
        TmemAtom::M16x64b | TmemAtom::M16x128b | TmemAtom::M16x256b => (!gap).then_some([16, 0]),
    };
    let mut warp = vec![[32, 0], [64, 0]];
    let mut last_register = None;
    if more_warps > 0 {
        warp.extend(other_rows);
    } else {
        last_register = other_rows;
    }
    let shared = free.len().min(log2(warps) - warp.len());
    warp.extend(free.split_off(free.len() - shared));
    warp.resize(log2(warps), [0, 0]);
    let registers = registers.into_iter().chain(free).chain(last_register);
    let in_elements = |[row, column]: [u32; 2]| vec![row, column << packed_bits];
    let ins = vec![
        (
            Dim::Register,
            (0..in_word).map(|bit| vec![0, 1 << bit]).chain(registers.map(in_elements)).collect(),
        ),
        (Dim::Lane, lanes.into_iter().map(in_elements).collect()),
        (Dim::Warp, warp.into_iter().map(in_elements).collect()),
    ];
    let outs = vec![(Dim::Row, 128), (Dim::Col, memory.in_size(Dim::Col))];
    Layout::new(ins, outs)
}

/// Whether every other 16 rows of tensor memory are empty: those that a block of 64 rows leaves to others.
///
/// Row bit 5 of a tensor of few scales is also empty, and so are the lower bits of one with a row for each warp, but
/// these hold copies.
///
/// ```
/// use kernel_layout::forms::{tensor_memory, tensor_memory_has_gap, tensor_memory_scales};
/// assert!(tensor_memory_has_gap(&tensor_memory([64, 32], 1, false, &[64, 32])?));
/// assert!(!tensor_memory_has_gap(&tensor_memory([64, 32], 1, false, &[128, 32])?));
/// assert!(!tensor_memory_has_gap(&tensor_memory_scales(&[16, 4])?));
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// `memory` has the input `Row`, of 128.
pub fn tensor_memory_has_gap(memory: &Layout) -> bool {
    let empty = |basis: &Basis| basis.iter().all(|&part| part == 0);
    let rows = memory.bases(Dim::Row);
    empty(&rows[4]) && !empty(&rows[5]) && !rows[..4].iter().all(empty)
}

/// log2 of the elements in a word: as many as fit, of whichever rows and columns, or one.
pub(super) fn words(memory: &Layout, packed_bits: usize) -> Result<usize, LayoutError> {
    let mut low = memory.bases(Dim::Col).iter().take(packed_bits);
    let whole = memory.bases(Dim::Col).len() >= packed_bits;
    let is_element = |basis: &Basis| basis.iter().any(|&part| part != 0);
    if whole && low.clone().all(is_element) {
        Ok(packed_bits)
    } else if whole && !low.any(is_element) {
        Ok(0)
    } else {
        Err(LayoutError::TensorMemoryWords { elements: 1 << packed_bits })
    }
}

/// The last register exchanged with the lane or warp that has the other half of the columns.
fn split_columns(layout: &Layout, last: Dim, element_bits: u32) -> Result<Layout, LayoutError> {
    let half: Basis =
        layout.outs().iter().map(|&(dim, size)| if dim == last { size / 2 } else { 0 }).collect();
    let registers = layout.bases(Dim::Register);
    let (actual, word) = (layout.in_size(Dim::Register), 32 / element_bits);
    if actual <= word {
        return Err(LayoutError::TensorMemorySplit { actual, required: 2 * word });
    }
    let end = registers.len() - 1;
    let mut ins = layout.ins().to_vec();
    let place = ins.iter().enumerate().find_map(|(dim, (_, bases))| {
        bases.iter().position(|basis| *basis == half).map(|bit| (dim, bit))
    });
    if let Some((dim, bit)) = place {
        // Registers come first among the inputs.
        let moved = std::mem::replace(&mut ins[dim].1[bit], registers[end].clone());
        ins[0].1[end] = moved;
    }
    Layout::new(ins, layout.outs().to_vec())
}

//! Which `tcgen05.ld` and `tcgen05.st` move a tile between tensor memory and registers, from the layouts of both.
//!
//! [`tensor_memory_registers`](super::tensor_memory_registers) gives the registers that a shape fills. This is the
//! other direction: whether some shape fills a given layout of registers, and how, word by word.

use std::collections::BTreeMap;

use super::{TENSOR_MEMORY_ROWS, TmemAtom, tensor_memory_has_gap, words};
use crate::layout::log2;
use crate::{Dim, Layout};

/// The distance of the warps of a warpgroup, in rows.
const QUARTER_ROWS: u32 = 32;
/// The distance of the halves of a quarter; an atom of 16 rows moves one half.
const HALF_ROWS: u32 = 16;

/// The instructions that move a tile between tensor memory and registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMemoryMoves {
    /// The shape of all of them.
    pub atom: TmemAtom,
    /// For `16x32bx2`: the columns of 32 bits from the first half to the second.
    pub halves: Option<u32>,
    /// What each bit of a warp's number adds to the place: rows, and columns of 32 bits.
    pub warps: Vec<[u32; 2]>,
    /// The units that the instructions move with `.x1`, by rows and then by columns.
    pub units: Vec<TensorMemoryUnit>,
}

/// The unit that an instruction moves with `.x1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMemoryUnit {
    /// The first row within the warp's quarter: 0 or 16.
    pub row: u32,
    /// The first column of 32 bits.
    pub column: u32,
    /// For each register of the instruction, the registers of the layout that hold the elements of its word, lowest first.
    pub words: Vec<Vec<u32>>,
}

/// How a tile in `registers` is read from and written to `memory`; none if no instruction has such registers.
///
/// Both are layouts of the same tensor. The registers of a thread have to hold different elements.
///
/// ```
/// use kernel_layout::forms::{TmemAtom, mma_v2_accumulator, tensor_memory, tensor_memory_moves};
/// let memory = tensor_memory([64, 32], 1, false, &[64, 32])?;
/// // The accumulator of `mma` is what `16x256b` brings.
/// let moves = tensor_memory_moves(&memory, &mma_v2_accumulator([4, 1], &[64, 32])?, 32).expect("an atom");
/// assert_eq!(moves.atom, TmemAtom::M16x256b);
/// assert_eq!(moves.units[1].column, 8);
/// assert_eq!(moves.units[1].words, [[4], [5], [6], [7]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Ensures
/// For layouts of whole columns from [`tensor_memory_registers`](super::tensor_memory_registers) there is always one,
/// with its atom.
///
/// # Requires
/// `memory` has the inputs `Row`, of 128, and `Col`; `registers` `Register`, `Lane` and `Warp`.
pub fn tensor_memory_moves(
    memory: &Layout,
    registers: &Layout,
    element_bits: u32,
) -> Option<TensorMemoryMoves> {
    assert_eq!(memory.in_size(Dim::Row), TENSOR_MEMORY_ROWS, "tensor memory has 128 rows");
    let packed_bits = log2(32 / element_bits);
    let in_word = words(memory, packed_bits).ok()?;
    let places = registers.compose(&memory.pseudo_inverse()?).transpose_outs(&[Dim::Row, Dim::Col]);
    TmemAtom::ALL.into_iter().find_map(|atom| {
        Match { memory, registers, places: &places, packed_bits, in_word }.of(atom)
    })
}

/// A layout of registers that is compared with atoms.
struct Match<'a> {
    memory: &'a Layout,
    registers: &'a Layout,
    /// From registers, lanes and warps to rows and columns.
    places: &'a Layout,
    /// log2 of the elements that fit a word.
    packed_bits: usize,
    /// log2 of the elements in it.
    in_word: usize,
}

impl Match<'_> {
    fn of(&self, atom: TmemAtom) -> Option<TensorMemoryMoves> {
        let (in_unit, mut lanes, atom_bits) = atom.tile();
        let rows = self.memory.bases(Dim::Row);
        let gap = tensor_memory_has_gap(self.memory);
        if atom == TmemAtom::M32x32b && gap {
            return None;
        }
        // Of rows with copies in the next 16, 16-row shapes would leave those of every second half unwritten.
        if atom != TmemAtom::M32x32b && !gap && rows[4].iter().all(|&part| part == 0) {
            return None;
        }
        let halves = self.halves(atom)?;
        lanes.extend(halves.map(|columns| [0, columns]));
        let lanes_fit = lanes
            .iter()
            .zip(self.registers.bases(Dim::Lane))
            .all(|(&place, basis)| self.element(place).as_ref() == Some(basis));
        let reached = [[QUARTER_ROWS, 0], [2 * QUARTER_ROWS, 0]];
        let warps = self.registers.bases(Dim::Warp);
        let quarters_fit = warps.len() >= reached.len()
            && reached
                .iter()
                .zip(warps)
                .all(|(&place, basis)| self.element(place).as_ref() == Some(basis));
        if !lanes_fit || !quarters_fit {
            return None;
        }
        let most_rows = match atom {
            TmemAtom::M32x32b => 0,
            TmemAtom::M16x64b | TmemAtom::M16x128b | TmemAtom::M16x256b | TmemAtom::M16x32bx2 => {
                HALF_ROWS
            }
        };
        let mut moved = reached.to_vec();
        for basis in &self.places.bases(Dim::Warp)[reached.len()..] {
            let column = self.whole_words(basis[1])?;
            if basis[0] & !most_rows != 0 || column & ((1 << atom_bits) - 1) != 0 {
                return None;
            }
            moved.push([basis[0], column]);
        }
        let units = self.units(&in_unit, atom_bits, most_rows)?;
        Some(TensorMemoryMoves { atom, halves, warps: moved, units })
    }

    /// The element at a row and a column of 32 bits; none for a column after the last, since narrow tiles do not fill
    /// wide atoms.
    fn element(&self, [row, column]: [u32; 2]) -> Option<Vec<u32>> {
        let column = column << self.packed_bits;
        let held = column < self.memory.in_size(Dim::Col);
        held.then(|| self.memory.apply(&[(Dim::Row, row), (Dim::Col, column)]))
    }

    /// A column of elements as one of 32 bits.
    fn whole_words(&self, column: u32) -> Option<u32> {
        let word = column >> self.packed_bits;
        (word << self.packed_bits == column).then_some(word)
    }

    /// For `16x32bx2` the columns to the second half, which the last bit of a lane's number selects; none for other
    /// atoms.
    #[expect(clippy::option_option, reason = "no atom, and an atom without halves")]
    fn halves(&self, atom: TmemAtom) -> Option<Option<u32>> {
        match atom {
            TmemAtom::M32x32b | TmemAtom::M16x64b | TmemAtom::M16x128b | TmemAtom::M16x256b => {
                Some(None)
            }
            TmemAtom::M16x32bx2 => {
                let basis = self.places.bases(Dim::Lane).last()?;
                let columns = self.whole_words(basis[1])?;
                (basis[0] == 0 && columns > 0).then_some(Some(columns))
            }
        }
    }

    /// The registers of a thread in units of the atom; none if some are missing or left over.
    fn units(
        &self,
        in_unit: &[[u32; 2]],
        atom_bits: usize,
        most_rows: u32,
    ) -> Option<Vec<TensorMemoryUnit>> {
        let count = self.registers.in_size(Dim::Register);
        let mut at = BTreeMap::new();
        for register in 0..count {
            let place =
                self.places.apply(&[(Dim::Register, register), (Dim::Lane, 0), (Dim::Warp, 0)]);
            if at.insert([place[0], place[1]], register).is_some() {
                return None;
            }
        }
        let words = 1 << in_unit.len();
        let mut starts: Vec<[u32; 2]> = at
            .keys()
            .map(|&[row, column]| {
                [row & most_rows, column >> self.packed_bits >> atom_bits << atom_bits]
            })
            .collect();
        starts.sort_unstable();
        starts.dedup();
        if (starts.len() * words) << self.in_word != at.len() {
            return None;
        }
        let unit = |[row, column]: [u32; 2]| {
            let word = |index: usize| {
                let set = in_unit.iter().enumerate().filter(|(bit, _)| index >> bit & 1 == 1);
                let [down, right] = set.fold([0, 0], |[a, b], (_, [c, d])| [a | c, b | d]);
                let first = (column | right) << self.packed_bits;
                (0..1 << self.in_word)
                    .map(|element| at.get(&[row | down, first | element]).copied())
                    .collect::<Option<Vec<u32>>>()
            };
            let words = (0..words).map(word).collect::<Option<Vec<_>>>()?;
            Some(TensorMemoryUnit { row, column, words })
        };
        starts.into_iter().map(unit).collect()
    }
}

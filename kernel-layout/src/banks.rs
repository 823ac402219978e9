//! Accesses from registers to shared memory: vectors and bank conflicts.
//!
//! Shared memory has 32 banks of 4 bytes. An access of a warp takes at least one pass ("wavefront") for every 128
//! bytes. So with 8 bytes a lane each half warp is served on its own, and with 16 bytes each quarter. Within such a
//! group, lanes that need different words of one bank wait for one another, and lanes that need the same word do not.

use std::collections::BTreeMap;

use crate::layout::{Basis, log2};
use crate::rank::Span;
use crate::{Dim, Layout};

/// The number of banks of shared memory.
const BANKS: u32 = 32;
/// The bytes of one word of a bank.
const WORD_BYTES: u32 = 4;
/// The most bytes that one lane accesses at once.
pub(crate) const VECTOR_BYTES: u32 = 16;

/// One vector access of a thread to shared memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The offset in elements for lane 0 of warp 0, a multiple of the vector; other threads XOR their part of the offset.
    pub offset: u32,
    /// For each element of the vector the registers that hold it: several when registers repeat it, never none.
    pub registers: Vec<Vec<u32>>,
}

/// The most elements that a thread can access at once: they are contiguous at an aligned offset.
///
/// The result is a power of two without regard to the 16 bytes that an instruction moves at most.
///
/// ```
/// use kernel_layout::forms::{blocked, row_major_shared};
/// use kernel_layout::max_vector;
/// let shared = row_major_shared(&[16, 64])?;
/// assert_eq!(max_vector(&blocked(&[1, 8], &[4, 8], &[4, 1], &[1, 0], &[16, 64])?, &shared), 8);
/// assert_eq!(max_vector(&blocked(&[8, 1], &[2, 16], &[1, 4], &[0, 1], &[16, 64])?, &shared), 1);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// Both are layouts of the same tensor, and `shared` stores every element that `registers` holds.
pub fn max_vector(registers: &Layout, shared: &Layout) -> u32 {
    longest_vector(&offsets(registers, shared))
}

/// [`max_vector`] of the offsets of what the registers hold.
fn longest_vector(offsets: &Layout) -> u32 {
    let mut reached = Span::default();
    let mut elsewhere = 0;
    for (dim, bases) in offsets.ins() {
        for basis in bases {
            if *dim == Dim::Register {
                reached.insert(u64::from(basis[0]), 0);
            } else {
                elsewhere |= basis[0];
            }
        }
    }
    let bits =
        (0..31).take_while(|&bit| reached.contains(1 << bit) && elsewhere >> bit & 1 == 0).count();
    1 << bits
}

/// The most elements of a thread's first registers that are contiguous at an aligned offset, in the order of the
/// registers.
///
/// [`max_vector`] accepts any registers that fill a run of offsets, since a move may rename registers. This takes the
/// first ones in their order, since `cp.async` does not change the order of bytes.
///
/// ```
/// use kernel_layout::forms::{blocked, row_major_shared};
/// use kernel_layout::{Dim, Layout, first_vector, max_vector};
/// let registers = blocked(&[1, 4], &[1, 32], &[1, 1], &[1, 0], &[1, 128])?;
/// assert_eq!(first_vector(&registers, &row_major_shared(&[1, 128])?), 4);
/// // The second and third element change places.
/// let bases = [2, 1, 4, 8, 16, 32, 64].map(|step| vec![0, step]).to_vec();
/// let outs = vec![(Dim::Axis(0), 1), (Dim::Axis(1), 128)];
/// let exchanged = Layout::new(vec![(Dim::Offset, bases)], outs)?;
/// assert_eq!(max_vector(&registers, &exchanged), 4);
/// assert_eq!(first_vector(&registers, &exchanged), 1);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// Both are layouts of the same tensor, and `shared` stores every element that `registers` holds.
pub fn first_vector(registers: &Layout, shared: &Layout) -> u32 {
    let offsets = offsets(registers, shared);
    let own = offsets.bases(Dim::Register);
    let whole = |count: usize| {
        let within = (1u32 << count) - 1;
        let first = own[..count].iter().zip(0..).all(|(basis, bit)| basis[0] == 1 << bit);
        let threads = offsets.ins().iter().filter(|(dim, _)| *dim != Dim::Register);
        let mut others = own[count..].iter().chain(threads.flat_map(|(_, bases)| bases));
        first && others.all(|basis| basis[0] & within == 0)
    };
    let most = own.len().min(31);
    1 << (0..=most).rev().find(|&count| whole(count)).unwrap_or(0)
}

/// The offset at which `shared` stores what each position of `registers` holds.
///
/// The offset of a register of a thread is the XOR of the part of the register, which is known at compile time, and the
/// part of lane and warp; where the bits of the two are disjoint, the XOR is a sum.
///
/// ```
/// use kernel_layout::forms::{blocked, nvmma_shared};
/// use kernel_layout::{offsets, Dim};
/// let registers = blocked(&[1, 8], &[4, 8], &[2, 1], &[1, 0], &[8, 64])?;
/// let offsets = offsets(&registers, &nvmma_shared(128, 16, false, false, &[8, 64])?);
/// assert_eq!(offsets.bases(Dim::Register), [[1], [2], [4]]);
/// assert_eq!(offsets.bases(Dim::Lane), [[8], [16], [32], [64 + 8], [128 + 16]]);
/// assert_eq!(offsets.bases(Dim::Warp), [[256 + 32]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// Both are layouts of the same tensor, and `shared` stores every element that `registers` holds.
pub fn offsets(registers: &Layout, shared: &Layout) -> Layout {
    let positions = registers
        .invert_and_compose(shared)
        .expect("shared memory stores every element of the tile");
    if positions.outs().len() == 1 && positions.has_out(Dim::Offset) {
        return positions;
    }
    positions.sublayout(&positions.in_dims().collect::<Vec<_>>(), &[Dim::Offset])
}

/// The vector accesses with which a thread reads or writes its part of a tile, in the order of their offsets.
///
/// A store takes the first of the registers that hold an element; a load fills all of them.
///
/// ```
/// use kernel_layout::forms::{blocked, row_major_shared};
/// use kernel_layout::accesses;
/// let registers = blocked(&[2, 2], &[2, 16], &[1, 1], &[1, 0], &[4, 32])?;
/// let accesses = accesses(&registers, &row_major_shared(&[4, 32])?, 2);
/// assert_eq!(accesses[0].registers, [[0], [1]]);
/// assert_eq!((accesses[1].offset, &accesses[1].registers[..]), (32, &[vec![2], vec![3]][..]));
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// `vector` is a power of two, at most [`max_vector`] of both layouts.
pub fn accesses(registers: &Layout, shared: &Layout, vector: u32) -> Vec<Access> {
    assert!(
        vector.is_power_of_two() && vector <= max_vector(registers, shared),
        "no vector of {vector} lies side by side"
    );
    let offsets = offsets(registers, shared);
    let mut vectors: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
    for register in 0..registers.in_size(Dim::Register) {
        let offset = offsets.apply(&[(Dim::Register, register)])[0];
        let slots = vectors
            .entry(offset / vector * vector)
            .or_insert_with(|| vec![Vec::new(); vector as usize]);
        slots[(offset % vector) as usize].push(register);
    }
    vectors.into_iter().map(|(offset, registers)| Access { offset, registers }).collect()
}

/// The wavefronts that one access of a warp takes beyond the fewest possible; 0 means free of bank conflicts.
///
/// Each lane accesses `vector` elements of `element_bytes`. All accesses of a tile have the same number, since they
/// differ by an XOR of the offset. The head of this module says what is counted.
///
/// ```
/// use kernel_layout::forms::{blocked, nvmma_shared, row_major_shared};
/// use kernel_layout::bank_conflicts;
/// // Each lane reads 16 bytes of its own row of 128 bytes.
/// let rows = blocked(&[1, 8], &[32, 1], &[1, 1], &[1, 0], &[32, 64])?;
/// assert_eq!(bank_conflicts(&rows, &row_major_shared(&[32, 64])?, 2, 8), 28);
/// assert_eq!(bank_conflicts(&rows, &nvmma_shared(128, 16, false, false, &[32, 64])?, 2, 8), 0);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// As [`accesses`]; `element_bytes` is a power of two, and `vector` elements are at most 16 bytes.
pub fn bank_conflicts(registers: &Layout, shared: &Layout, element_bytes: u32, vector: u32) -> u32 {
    conflicts(&offsets(registers, shared), element_bytes, vector)
}

/// [`bank_conflicts`] of the offsets of what the registers hold.
fn conflicts(offsets: &Layout, element_bytes: u32, vector: u32) -> u32 {
    let bytes = element_bytes * vector;
    assert!(bytes <= VECTOR_BYTES, "one lane accesses at most {VECTOR_BYTES} bytes, not {bytes}");
    let lanes = offsets.in_size(Dim::Lane);
    let group = lanes_at_once(bytes).min(lanes);
    let mut extra = 0;
    let mut words = Vec::new();
    for first in (0..lanes).step_by(group as usize) {
        words.clear();
        for lane in first..first + group {
            let start = offset_of(offsets.bases(Dim::Lane), lane) / vector * bytes;
            words.extend(start / WORD_BYTES..(start + bytes).div_ceil(WORD_BYTES));
        }
        words.sort_unstable();
        words.dedup();
        let mut of_bank = [0; BANKS as usize];
        for word in &words {
            of_bank[(word % BANKS) as usize] += 1;
        }
        extra += of_bank.into_iter().fold(1, u32::max) - 1;
    }
    extra
}

/// The offset of an index along a dimension with these bases.
fn offset_of(bases: &[Basis], index: u32) -> u32 {
    let set = bases.iter().enumerate().filter(|(bit, _)| index >> bit & 1 == 1);
    set.fold(0, |offset, (_, basis)| offset ^ basis[0])
}

/// How many lanes are served together when each accesses `bytes`.
fn lanes_at_once(bytes: u32) -> u32 {
    BANKS * WORD_BYTES / bytes.max(WORD_BYTES)
}

/// log2 of [`lanes_at_once`].
pub(crate) fn log2_lanes_at_once(bytes: u32) -> usize {
    log2(lanes_at_once(bytes))
}

/// The cost for a warp to read or write its part of a tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The elements of one access.
    pub(crate) vector: u32,
    /// The accesses.
    pub(crate) accesses: u32,
    /// The wavefronts of all accesses together.
    pub(crate) wavefronts: u32,
}

/// The cost with vectors as long as possible.
pub(crate) fn cost(registers: &Layout, shared: &Layout, element_bytes: u32) -> Cost {
    let offsets = offsets(registers, shared);
    let vector = longest_vector(&offsets).min(VECTOR_BYTES / element_bytes);
    let extra = conflicts(&offsets, element_bytes, vector);
    without_conflicts(registers, element_bytes, vector).slowed(extra)
}

/// The lowest possible cost over all layouts of shared memory.
pub(crate) fn least_cost(registers: &Layout, element_bytes: u32) -> Cost {
    let longest = (VECTOR_BYTES / element_bytes).min(1 << distinct_bits(registers));
    without_conflicts(registers, element_bytes, longest)
}

fn without_conflicts(registers: &Layout, element_bytes: u32, vector: u32) -> Cost {
    let accesses = 1 << (distinct_bits(registers) - log2(vector));
    Cost {
        vector,
        accesses,
        wavefronts: accesses * (BANKS / lanes_at_once(element_bytes * vector)),
    }
}

impl Cost {
    fn slowed(self, extra: u32) -> Cost {
        Cost { wavefronts: self.wavefronts + self.accesses * extra, ..self }
    }

    /// Wavefronts keep shared memory busy, and accesses the issue slots; neither is free.
    pub(crate) fn total(self) -> u32 {
        self.wavefronts + self.accesses
    }
}

/// log2 of the distinct elements that one thread holds.
fn distinct_bits(registers: &Layout) -> usize {
    registers.sublayout(&[Dim::Register], &registers.out_dims().collect::<Vec<_>>()).rank()
}

//! Operands that `wgmma` reads from shared memory: which layouts it can read, and with which matrix descriptor.
//!
//! An instruction multiplies 64 rows of A by N columns of B over 32 bytes of K. It gets one address, two strides and a
//! swizzle, and finds every element with a fixed rule. [`operand`] decides whether the layout of a tile follows that
//! rule and with which numbers; [`descriptor`] packs them.
//!
//! # The smallest example
//!
//! A tile of 64 rows of 64 `f16`, with the swizzle of 128 bytes: rows are 128 bytes apart, groups of 8 rows 1024 bytes,
//! and the four instructions along K start 32 bytes apart.
//!
//! ```
//! use kernel_layout::forms::nvmma_shared;
//! use kernel_layout::wgmma::{Major, descriptor, operand};
//! let a = nvmma_shared(128, 16, false, false, &[64, 64])?;
//! let read = operand(&a, 2, 0, 64).expect("wgmma reads it");
//! assert_eq!((read.major, read.swizzle_bytes, read.stride_bytes), (Major::K, 128, 1024));
//! assert_eq!([0, 16, 32, 48].map(|k| read.start_bytes(0, k)), [0, 32, 64, 96]);
//! assert_eq!(descriptor(&read), 0x4000_0040_0000_0000);
//! # Ok::<(), kernel_layout::LayoutError>(())
//! ```
//!
//! # The rule
//!
//! MN stands for the rows of A and the columns of B. One of MN and K is *contiguous*; an index along the other is called a
//! *line* here. With a span of S bytes (32, 64 or 128; 16 without a swizzle), the element at byte `c` of line `l` of an
//! instruction is at
//!
//! ```text
//! start + (c % S) + (l % 8)·S + (c / S)·far + (l / 8)·group
//! ```
//!
//! after which the swizzle changes bits 4 to 6 of the address by bits 7 to 9, as TMA does. `far` is the *leading* and
//! `group` the *stride* byte offset of the descriptor; for operands that are contiguous along MN without a swizzle it
//! is the other way round. (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions": "Canonical
//! Layouts", "Strides", "Matrix Descriptor Format". All majors and swizzles were compared with an H200.)
//!
//! Since a layout is linear over GF(2) and this sum is not, the two agree where no addition carries: when the bits that
//! the instruction's own rule sets are disjoint, and no start has one of them.

mod columns;
mod padded;
mod refusal;

pub use columns::{Elements, INSTRUCTION_N_LIMIT, instruction_n, is_instruction_n};
pub use padded::padded_operand;
pub use refusal::{Nearest, Refusal};

use crate::forms::{default_swizzle_bytes, nvmma_alignment_bytes};
use crate::layout::log2;
use crate::{Dim, Form, Layout};

/// Which index of an operand is contiguous in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Major {
    /// K: the operand is written as rows of A, or as columns of B.
    K,
    /// The rows of A or the columns of B; the instruction's `tnsp` operand is then 1. For elements of 16 bits only.
    Mn,
}

/// How the instructions of a product find an operand in shared memory.
///
/// The tile must be aligned to [`Operand::alignment_bytes`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// Which index is contiguous.
    pub major: Major,
    /// The span of the swizzle: 32, 64 or 128 bytes, or 0 for none.
    pub swizzle_bytes: u32,
    /// The leading dimension byte offset: a multiple of 16 below 2¹⁸. 0 where the hardware ignores it: for K-major
    /// operands with a swizzle.
    pub leading_bytes: u32,
    /// The stride dimension byte offset: a multiple of 16 below 2¹⁸.
    pub stride_bytes: u32,
    /// Where the bits of MN and K lead that choose an instruction; 0 for the bits within one.
    starts: [Vec<u32>; 2],
}

impl Operand {
    /// Where the instruction of elements (`mn`, `k`) and on starts: in bytes from the start of the tile, a multiple of 16.
    /// It is added to the address in the descriptor.
    ///
    /// Formula: the XOR of where the bits of `mn` and `k` lead.
    ///
    /// # Requires
    /// Both are multiples of the instruction's extents and are in the tile.
    pub fn start_bytes(&self, mn: u32, k: u32) -> u32 {
        let along = |starts: &[u32], at: u32| {
            assert!(
                starts.len() >= 32 || at >> starts.len() == 0,
                "{at} lies outside a tile of {} elements",
                1_u64 << starts.len()
            );
            let bits = starts.iter().enumerate().filter(|(bit, _)| at >> bit & 1 == 1);
            bits.fold(0, |sum, (_, start)| sum ^ start)
        };
        along(&self.starts[0], mn) ^ along(&self.starts[1], k)
    }

    /// The alignment in bytes that the tile needs, so that its swizzle begins where the address bits do.
    pub fn alignment_bytes(&self) -> u32 {
        nvmma_alignment_bytes(self.swizzle_bytes)
    }
}

/// The bytes of K that one instruction reads of each row and column (PTX ISA, "`wgmma.mma_async`": shapes m64nNk8 to k32).
pub const INSTRUCTION_K_BYTES: u32 = 32;
/// The rows of A of one instruction.
pub const INSTRUCTION_M: u32 = 64;
/// The bytes beyond which a descriptor cannot reach: 14 bits, in units of 16 bytes.
const REACH_BYTES: u64 = 1 << 18;
/// The lines of an atom, within which the swizzle repeats.
const ATOM_LINES: u32 = 8;
/// The spans of the swizzles, in bytes, the widest first; 0 is none.
pub(crate) const SWIZZLES: [u32; 4] = [128, 64, 32, 0];

/// How `wgmma` reads a tile of shared memory as an operand.
///
/// `layout` leads from `Offset` to two axes: `mn_axis` (0 or 1) holds the rows of A or the columns of B, the other one K.
/// `mn_instruction` is how many of them one instruction reads: 64 of A, N of B, which must be a power of two here, as
/// the sizes of tiles are.
///
/// # Errors
/// See [`Refusal`].
///
/// # Ensures
/// The address that the rule of this module gives for an element is where the layout holds it.
pub fn operand(
    layout: &Layout,
    element_bytes: u32,
    mn_axis: usize,
    mn_instruction: u32,
) -> Result<Operand, Refusal> {
    operand_of_majors(layout, element_bytes, (mn_axis, mn_instruction), majors(element_bytes))
}

/// Like [`operand`], for the right operand of a sparse product, of which an instruction reads twice as many bytes of K.
///
/// ```
/// use kernel_layout::forms::nvmma_shared;
/// use kernel_layout::wgmma::sparse_right_operand;
/// let b = nvmma_shared(128, 16, false, false, &[128, 64])?;
/// let read = sparse_right_operand(&b, 2, 0, 128).expect("wgmma reads it");
/// assert_eq!([0, 32].map(|k| read.start_bytes(0, k)), [0, 64]);
/// // A column would go on in another row of 32 bytes, and no offset of the descriptor says where.
/// let narrow = nvmma_shared(32, 16, false, false, &[128, 64])?;
/// assert!(sparse_right_operand(&narrow, 2, 0, 128).is_err());
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// See [`Refusal`].
pub fn sparse_right_operand(
    layout: &Layout,
    element_bytes: u32,
    mn_axis: usize,
    mn_instruction: u32,
) -> Result<Operand, Refusal> {
    let k_bytes = 2 * INSTRUCTION_K_BYTES;
    let tile = Tile::of(layout, element_bytes, mn_axis, [mn_instruction, k_bytes])?;
    tile.operand(layout, mn_axis, majors(element_bytes))
}

/// What can be contiguous of operands of `wgmma`.
const fn majors(element_bytes: u32) -> &'static [Major] {
    if element_bytes == 2 { &[Major::K, Major::Mn] } else { &[Major::K] }
}

/// Like [`operand`], for `tcgen05.mma`, whose descriptors follow the same rule: it reads elements of 8 and 16 bits with
/// either index contiguous, and `mn_instruction` may be 128 for the rows of A (PTX ISA, "tcgen05: Canonical layouts",
/// "Strides").
///
/// ```
/// use kernel_layout::forms::nvmma_shared;
/// use kernel_layout::wgmma::{Major, operand, tcgen05_operand};
/// // 64 of K by 128 contiguous rows of A, in bytes.
/// let a = nvmma_shared(128, 8, false, false, &[64, 128])?;
/// assert!(operand(&a, 1, 1, 64).is_err());
/// assert_eq!(tcgen05_operand(&a, 1, 1, 128).expect("it is read").major, Major::Mn);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// See [`Refusal`].
pub fn tcgen05_operand(
    layout: &Layout,
    element_bytes: u32,
    mn_axis: usize,
    mn_instruction: u32,
) -> Result<Operand, Refusal> {
    operand_of_majors(
        layout,
        element_bytes,
        (mn_axis, mn_instruction),
        tcgen05_majors(element_bytes),
    )
}

/// Like [`tcgen05_operand`], for the right operand of a sparse product, of which an instruction reads twice as many bytes of K.
///
/// ```
/// use kernel_layout::forms::nvmma_shared;
/// use kernel_layout::wgmma::{Major, tcgen05_sparse_right_operand};
/// // 64 of K by 128 contiguous columns of B, in bytes: one instruction.
/// let b = nvmma_shared(128, 8, false, false, &[64, 128])?;
/// let read = tcgen05_sparse_right_operand(&b, 1, 1, 128).expect("it is read");
/// assert_eq!((read.major, read.stride_bytes), (Major::Mn, 1024));
/// let narrow = nvmma_shared(32, 8, false, false, &[128, 64])?;
/// assert!(tcgen05_sparse_right_operand(&narrow, 1, 0, 128).is_err());
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// See [`Refusal`].
pub fn tcgen05_sparse_right_operand(
    layout: &Layout,
    element_bytes: u32,
    mn_axis: usize,
    mn_instruction: u32,
) -> Result<Operand, Refusal> {
    let k_bytes = 2 * INSTRUCTION_K_BYTES;
    let tile = Tile::of(layout, element_bytes, mn_axis, [mn_instruction, k_bytes])?;
    tile.operand(layout, mn_axis, tcgen05_majors(element_bytes))
}

/// What can be contiguous of operands of `tcgen05.mma`.
const fn tcgen05_majors(element_bytes: u32) -> &'static [Major] {
    if element_bytes <= 2 { &[Major::K, Major::Mn] } else { &[Major::K] }
}

fn operand_of_majors(
    layout: &Layout,
    element_bytes: u32,
    (mn_axis, mn_instruction): (usize, u32),
    majors: &[Major],
) -> Result<Operand, Refusal> {
    let tile = Tile::of(layout, element_bytes, mn_axis, [mn_instruction, INSTRUCTION_K_BYTES])?;
    tile.operand(layout, mn_axis, majors)
}

/// A tile as seen from its elements.
pub(crate) struct Tile {
    /// The byte to which each bit of MN and of K leads.
    pub(crate) bytes: [Vec<u32>; 2],
    /// How many bits of each choose an element within an instruction.
    pub(crate) within: [usize; 2],
    pub(crate) element_bytes: u32,
}

impl Tile {
    fn of(
        layout: &Layout,
        element_bytes: u32,
        mn_axis: usize,
        [mn_instruction, k_bytes]: [u32; 2],
    ) -> Result<Tile, Refusal> {
        const SIZES: &[u32] = &[1, 2, 4];
        if !SIZES.contains(&element_bytes) {
            return Err(Refusal::ElementBytes { actual: element_bytes, allowed: SIZES });
        }
        if layout.outs().len() != 2 || layout.tensor_rank() != 2 || mn_axis > 1 {
            return Err(Refusal::Rank { actual: layout.outs().len(), required: 2 });
        }
        if let Some(dim) =
            layout.in_dims().find(|&dim| dim != Dim::Offset && layout.in_size(dim) > 1)
        {
            return Err(Refusal::Dim { actual: dim });
        }
        let bytes = u64::from(layout.in_size(Dim::Offset)) * u64::from(element_bytes);
        if bytes > REACH_BYTES {
            return Err(Refusal::Bytes { actual: bytes, limit: REACH_BYTES });
        }
        let (mn, k) = (Dim::axis(mn_axis), Dim::axis(1 - mn_axis));
        let legal = mn_instruction.is_power_of_two()
            && (ATOM_LINES..=INSTRUCTION_N_LIMIT).contains(&mn_instruction);
        if !legal {
            return Err(Refusal::Instruction { actual: mn_instruction });
        }
        let k_instruction = k_bytes / element_bytes;
        for (axis, dim, step) in [(mn_axis, mn, mn_instruction), (1 - mn_axis, k, k_instruction)] {
            let actual = layout.out_size(dim);
            if actual < step {
                return Err(Refusal::Extent { axis, actual, required: step });
            }
        }
        let plain = layout.sublayout(&[Dim::Offset], &Dim::axes(2));
        let Some(offsets) = plain.invert() else { return Err(Refusal::NotOnePlaceEach) };
        // A tile of at most 2¹⁸ bytes has offsets that fit.
        let along = |dim| offsets.bases(dim).iter().map(|basis| basis[0] * element_bytes).collect();
        Ok(Tile {
            bytes: [along(mn), along(k)],
            within: [log2(mn_instruction), log2(k_instruction)],
            element_bytes,
        })
    }

    /// How instructions find every element, with one of these indices contiguous.
    fn operand(
        &self,
        layout: &Layout,
        mn_axis: usize,
        majors: &[Major],
    ) -> Result<Operand, Refusal> {
        let ways = majors.iter().flat_map(|&major| SWIZZLES.map(|swizzle| (major, swizzle)));
        match ways.into_iter().find_map(|(major, swizzle)| self.read(major, swizzle)) {
            Some(operand) => Ok(operand),
            None => Err(refusal(layout, self.element_bytes, mn_axis, majors)),
        }
    }

    /// The operand, if instructions with this `major` and `swizzle_bytes` find every element.
    pub(crate) fn read(&self, major: Major, swizzle_bytes: u32) -> Option<Operand> {
        let span = swizzle_bytes.max(16);
        let [mn, k] = [0, 1].map(|side: usize| -> Vec<u32> {
            self.bytes[side].iter().map(|&byte| exchanged(byte, swizzle_bytes)).collect()
        });
        let (inner, lines) = match major {
            Major::K => (&k[..self.within[1]], &mn[..self.within[0]]),
            Major::Mn => (&mn[..self.within[0]], &k[..self.within[1]]),
        };
        let columns = log2(span / self.element_bytes);
        let far = Bits { near: self.element_bytes, near_bits: columns }.stride(inner)?;
        if major == Major::K && swizzle_bytes > 0 && far.is_some() {
            // The hardware does not read the leading offset.
            return None;
        }
        let group = Bits { near: span, near_bits: log2(ATOM_LINES) }.stride(lines)?;
        let mut used = 0;
        for &byte in inner.iter().chain(lines) {
            if byte & used != 0 {
                return None;
            }
            used |= byte;
        }
        let starts = [(mn, self.within[0]), (k, self.within[1])].map(|(mut bytes, within)| {
            bytes[..within].fill(0);
            bytes
        });
        if starts.iter().flatten().any(|start| start & used != 0) {
            return None;
        }
        // Nothing reads a stride that no element needs; it is that of one atom after the other.
        let next = ATOM_LINES * span;
        let (far, group) = (far.unwrap_or(next), group.unwrap_or(next));
        let (leading_bytes, stride_bytes) = match (major, swizzle_bytes) {
            (Major::K, 0) => (far, group),
            (Major::K, _) => (0, group),
            (Major::Mn, 0) => (group, far),
            (Major::Mn, _) => (far, group),
        };
        Some(Operand { major, swizzle_bytes, leading_bytes, stride_bytes, starts })
    }
}

/// Bits of an index that lead to `near`, `2·near`, ..: the lowest `near_bits`.
struct Bits {
    near: u32,
    near_bits: usize,
}

impl Bits {
    /// The stride of the bits beyond, none if there are none; `None` where the bits lead elsewhere.
    #[expect(clippy::option_option, reason = "whether it fits, and whether there is a stride")]
    fn stride(&self, bytes: &[u32]) -> Option<Option<u32>> {
        let (near, beyond) = bytes.split_at(self.near_bits.min(bytes.len()));
        let doubling = |bytes: &[u32], first: u32| {
            bytes.iter().enumerate().all(|(bit, &byte)| u64::from(byte) == u64::from(first) << bit)
        };
        let stride = beyond.first().copied();
        (doubling(near, self.near) && doubling(beyond, stride.unwrap_or(0))).then_some(stride)
    }
}

/// A byte address after the swizzle, and after it twice the address itself (PTX ISA, "Swizzling modes": bits 4 and up are
/// changed by bits 7 and up, as many as the span has chunks of 16 bytes).
pub(crate) fn exchanged(byte: u32, swizzle_bytes: u32) -> u32 {
    let chunks = (swizzle_bytes / 16).max(1);
    byte ^ (byte >> 3 & (chunks - 1) << 4)
}

/// Why no instruction can read the layout, compared with the nearest one that it can read.
fn refusal(layout: &Layout, element_bytes: u32, mn_axis: usize, majors: &[Major]) -> Refusal {
    let both = majors.contains(&Major::Mn);
    let shape = layout.shape();
    let along_mn = layout.bases(Dim::Offset).first().is_some_and(|basis| {
        layout.out_dims().zip(basis).all(|(dim, &part)| (part != 0) == (dim == Dim::axis(mn_axis)))
    });
    let contiguous = if along_mn && both { mn_axis } else { 1 - mn_axis };
    let (element_bits, transposed) = (8 * element_bytes, contiguous == 0);
    let swizzle_bytes = default_swizzle_bytes(&shape, element_bits, transposed, false);
    let nearest = Form::NvmmaShared { swizzle_bytes, element_bits, transposed, fp4_padded: false };
    let required = nearest.to_layout(&shape).expect("the widest swizzle that fits was chosen");
    let mismatch = layout.mismatch(&required).expect("the nearest layout can be read");
    let nearest = Box::new(Nearest { form: nearest, mismatch });
    if along_mn && !both {
        Refusal::MnMajor { element_bytes, mn_axis, nearest }
    } else {
        Refusal::Bases { nearest }
    }
}

/// The matrix descriptor of an operand, all but its start address, whose bits 4 to 17 go into bits 0 to 13.
///
/// Leading byte offset / 16 in bits 16 to 29, stride byte offset / 16 in bits 32 to 45, the swizzle in bits 62 and 63;
/// the base offset, bits 49 to 51, is 0 for an aligned tile (PTX ISA, "Matrix Descriptor Format" of `wgmma`).
///
/// ```
/// use kernel_layout::forms::nvmma_shared;
/// use kernel_layout::wgmma::{descriptor, operand};
/// // B, 64 rows of K by 128 contiguous columns.
/// let b = nvmma_shared(128, 16, false, false, &[64, 128])?;
/// assert_eq!(descriptor(&operand(&b, 2, 1, 128).expect("wgmma reads it")), 0x4000_0040_0200_0000);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// Both offsets are multiples of 16 below 2¹⁸ and the swizzle is one that there is, as [`operand`] makes them.
pub fn descriptor(operand: &Operand) -> u64 {
    let field = |bytes: u32| {
        assert!(
            bytes.is_multiple_of(16) && u64::from(bytes) < REACH_BYTES,
            "a descriptor has no room for an offset of {bytes} bytes"
        );
        u64::from(bytes >> 4)
    };
    let code = match operand.swizzle_bytes {
        0 => 0,
        128 => 1,
        64 => 2,
        32 => 3,
        other => unreachable!("`operand` knows no swizzle of {other} bytes"),
    };
    field(operand.leading_bytes) << 16 | field(operand.stride_bytes) << 32 | code << 62
}

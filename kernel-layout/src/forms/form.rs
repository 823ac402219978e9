//! [`Form`]: a layout as a user writes it, before the shape of the tensor is known.

use std::fmt;

use super::{
    CLUSTER_BITS, TILE_BITS, TmemAtom, TmemColumns, blocked, check_bits, default_swizzle_bytes,
    fma_operand, linear, mma_v2_accumulator, mma_v2_operand, nvmma_shared, row_major_shared,
    shared_linear, slice_of, swizzled_shared, tensor_memory, tensor_memory_registers,
    tensor_memory_scales, wgmma_accumulator, wgmma_operand,
};
use crate::tile::{ComposeLayout, TileLayout};
use crate::{Dim, Layout, LayoutError};

/// A layout as a user writes it; [`Form::to_layout`] gives its bases for a shape.
///
/// `Display` prints the constructor in the language's own spelling; bases over the blocks of a cluster, which kernels
/// do not write, have the names of their dimensions.
///
/// ```
/// use kernel_layout::forms::Form;
/// let parent = Form::Blocked { per_thread: vec![1, 4], lanes: vec![32, 1], warps: vec![1, 4], order: vec![1, 0] };
/// let rows = Form::Slice { axis: 0, parent: Box::new(parent) };
/// assert_eq!(rows.to_string(), "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))");
/// assert_eq!(rows.to_layout(&[256])?.shape(), [256]);
/// let bases = Form::SharedLinear(Form::RowMajor.to_layout(&[2, 4])?);
/// assert_eq!(bases.to_string(), "shared_linear([[0, 1], [0, 2], [1, 0]], [2, 4])");
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// See [`blocked`](super::blocked()).
    Blocked {
        /// The elements of one thread, along each axis.
        per_thread: Vec<u32>,
        /// The lanes of a warp, along each axis.
        lanes: Vec<u32>,
        /// The warps, along each axis.
        warps: Vec<u32>,
        /// The axes, fastest first.
        order: Vec<u32>,
    },
    /// See [`slice_of`].
    Slice {
        /// The axis of the parent that is missing.
        axis: u32,
        /// The layout of the tensor that has the axis.
        parent: Box<Form>,
    },
    /// Bases of a register layout, for the shape they were written for; see [`linear`].
    Linear(Layout),
    /// See [`mma_v2_accumulator`].
    MmaV2 {
        /// The warps along rows and columns.
        warps: [u32; 2],
    },
    /// See [`wgmma_accumulator`].
    Wgmma {
        /// The warps along rows and columns.
        warps: [u32; 2],
        /// The columns of one instruction.
        n: u32,
    },
    /// An operand of the product whose accumulator is `parent`: see [`mma_v2_operand`], [`wgmma_operand`] and
    /// [`fma_operand`].
    DotOperand {
        /// 0 for A, 1 for B.
        index: u32,
        /// The layout of the accumulator.
        parent: Box<Form>,
        /// Consecutive elements along `k` in a 32-bit register; without meaning for a blocked parent.
        k_width: u32,
    },
    /// See [`swizzled_shared`].
    Swizzled {
        /// Elements that stay together.
        vec: u32,
        /// Consecutive rows with the same swizzle.
        per_phase: u32,
        /// The number of different swizzles.
        max_phase: u32,
        /// The axes, fastest first.
        order: Vec<u32>,
    },
    /// See [`nvmma_shared`].
    NvmmaShared {
        /// 0, 32, 64 or 128.
        swizzle_bytes: u32,
        /// The size of an element.
        element_bits: u32,
        /// Whether axis 0 is the contiguous one.
        transposed: bool,
        /// Whether every 8 bytes are followed by 8 bytes of padding.
        fp4_padded: bool,
    },
    /// See [`row_major_shared`].
    RowMajor,
    /// Bases of a shared layout; see [`shared_linear`].
    SharedLinear(Layout),
    /// See [`tensor_memory`].
    TensorMemory {
        /// The rows and columns of one block.
        block: [u32; 2],
        /// The distance of columns, in elements.
        col_stride: u32,
        /// Whether a product of two CTAs writes it.
        two_ctas: bool,
    },
    /// See [`tensor_memory_scales`].
    TensorMemoryScales,
    /// The registers that loads from tensor memory fill; see [`tensor_memory_registers`].
    TensorMemoryLoad {
        /// The shape of the loads.
        atom: TmemAtom,
        /// Which columns a thread holds.
        columns: TmemColumns,
        /// The layout in tensor memory.
        memory: Box<Form>,
        /// The warps that load.
        warps: u32,
        /// The size of an element.
        element_bits: u32,
    },
    /// Extents and strides that are linear: see [`TileLayout::to_linear`].
    Tile(TileLayout),
    /// The same, swizzled: see [`ComposeLayout::to_linear`].
    SwizzledTile(ComposeLayout),
    /// A tile spread over the blocks of a cluster.
    Cluster {
        /// One basis per bit of the block's rank in the cluster, counted in blocks along each axis; zero if the blocks
        /// hold the same elements.
        bases: Vec<Vec<u32>>,
        /// The layout of one block's part.
        per_block: Box<Form>,
    },
}

impl Form {
    /// The widest swizzle that a tile of `shape` can have, as [`Form::NvmmaShared`]; see [`default_swizzle_bytes`].
    ///
    /// ```
    /// use kernel_layout::Form;
    /// assert_eq!(Form::nvmma_default_for(&[128, 64], 16, false, false).to_string(), "swizzle(128)");
    /// assert_eq!(Form::nvmma_default_for(&[64, 8], 16, true, false).to_string(), "swizzle(128).transposed()");
    /// ```
    pub fn nvmma_default_for(
        shape: &[u32],
        element_bits: u32,
        transposed: bool,
        fp4_padded: bool,
    ) -> Form {
        let swizzle_bytes = default_swizzle_bytes(shape, element_bits, transposed, fp4_padded);
        Form::NvmmaShared { swizzle_bytes, element_bits, transposed, fp4_padded }
    }

    /// The number of axes of its tensors; none if several numbers are possible.
    ///
    /// ```
    /// use kernel_layout::Form;
    /// let rows = Form::Slice { axis: 0, parent: Box::new(Form::MmaV2 { warps: [4, 1] }) };
    /// assert_eq!(rows.rank(), Some(1));
    /// assert_eq!(Form::RowMajor.rank(), None);
    /// ```
    pub fn rank(&self) -> Option<usize> {
        match self {
            Form::Blocked { order, .. } | Form::Swizzled { order, .. } => Some(order.len()),
            Form::Slice { parent, .. } => parent.rank()?.checked_sub(1),
            Form::Linear(literal) | Form::SharedLinear(literal) => Some(literal.tensor_rank()),
            Form::MmaV2 { .. }
            | Form::Wgmma { .. }
            | Form::DotOperand { .. }
            | Form::TensorMemoryScales => Some(2),
            Form::Cluster { per_block, .. } => per_block.rank(),
            Form::TensorMemoryLoad { memory, .. } => memory.rank(),
            Form::NvmmaShared { .. }
            | Form::RowMajor
            | Form::TensorMemory { .. }
            | Form::Tile(_)
            | Form::SwizzledTile(_) => None,
        }
    }

    /// The layout in a kernel's spelling: as printed, with the notation of extents and strides in its macro.
    ///
    /// ```
    /// use kernel_layout::Form;
    /// let form = Form::Tile("S[(8, 4) : (4, 1)]".parse()?);
    /// assert_eq!(form.in_code(), "layout!(S[(8, 4) : (4, 1)])");
    /// let rows = Form::Slice { axis: 0, parent: Box::new(form) };
    /// assert_eq!(rows.in_code(), "slice(0, layout!(S[(8, 4) : (4, 1)]))");
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn in_code(&self) -> String {
        match self {
            Form::Tile(tile) => format!("layout!({tile})"),
            Form::Slice { axis, parent } => format!("slice({axis}, {})", parent.in_code()),
            Form::TensorMemoryLoad { atom, memory, warps, .. } => {
                format!("tmem_load(\"{atom}\", {}, {warps})", memory.in_code())
            }
            Form::Blocked { .. }
            | Form::Linear(_)
            | Form::MmaV2 { .. }
            | Form::Wgmma { .. }
            | Form::DotOperand { .. }
            | Form::Swizzled { .. }
            | Form::NvmmaShared { .. }
            | Form::RowMajor
            | Form::SharedLinear(_)
            | Form::TensorMemory { .. }
            | Form::TensorMemoryScales
            | Form::SwizzledTile(_)
            | Form::Cluster { .. } => self.to_string(),
        }
    }

    /// Whether two layouts are the same map, as far as they say without a shape: the notation of tiles and bases spell one layout in two
    /// ways.
    pub fn is_same(&self, other: &Form) -> bool {
        match (self, other) {
            (Form::Slice { axis, parent }, Form::Slice { axis: of_other, parent: other }) => {
                axis == of_other && parent.is_same(other)
            }
            (Form::Tile(tile), Form::Linear(bases)) | (Form::Linear(bases), Form::Tile(tile)) => {
                let tile = tile.to_linear(&bases.shape());
                tile.is_ok_and(|tile| linear(bases, &bases.shape()).is_ok_and(|one| one == tile))
            }
            _ => self == other,
        }
    }

    /// Whether it is a slice of the notation of tiles, of which only all extents together are known.
    pub(super) fn is_slice_of_tile(&self) -> bool {
        let Form::Slice { parent, .. } = self else { return false };
        matches!(**parent, Form::Tile(_)) || parent.is_slice_of_tile()
    }

    /// The bases of this layout for a tensor of `shape`.
    ///
    /// Register layouts have inputs `Register`, `Lane` and `Warp`, shared layouts `Offset`, those of tensor memory `Row` and
    /// `Col`; [`Form::Cluster`] adds `Block`.
    ///
    /// # Errors
    /// Those of the variant's constructor; [`LayoutError::Parent`] for an operand of something other than a product's
    /// result.
    pub fn to_layout(&self, shape: &[u32]) -> Result<Layout, LayoutError> {
        match self {
            Form::Blocked { per_thread, lanes, warps, order } => {
                blocked(per_thread, lanes, warps, order, shape)
            }
            Form::Slice { axis, parent } => slice_of(*axis, parent, shape),
            Form::Linear(literal) => linear(literal, shape),
            Form::MmaV2 { warps } => mma_v2_accumulator(*warps, shape),
            Form::Wgmma { warps, n } => wgmma_accumulator(*warps, *n, shape),
            Form::DotOperand { index, parent, k_width } => {
                dot_operand(*index, parent, *k_width, shape)
            }
            Form::Swizzled { vec, per_phase, max_phase, order } => {
                swizzled_shared(*vec, *per_phase, *max_phase, order, shape)
            }
            Form::NvmmaShared { swizzle_bytes, element_bits, transposed, fp4_padded } => {
                nvmma_shared(*swizzle_bytes, *element_bits, *transposed, *fp4_padded, shape)
            }
            Form::RowMajor => row_major_shared(shape),
            Form::SharedLinear(literal) => shared_linear(literal, shape),
            Form::TensorMemory { block, col_stride, two_ctas } => {
                tensor_memory(*block, *col_stride, *two_ctas, shape)
            }
            Form::TensorMemoryScales => tensor_memory_scales(shape),
            Form::TensorMemoryLoad { atom, columns, memory, warps, element_bits } => {
                let tensor = memory.to_layout(shape)?;
                if tensor.bases(Dim::Row).len() != 7 || !tensor.has_in(Dim::Col) {
                    return Err(LayoutError::Parent {
                        actual: memory.to_string(),
                        required: "a layout of all 128 rows of tensor memory",
                    });
                }
                tensor_memory_registers(&tensor, *atom, *columns, *warps, *element_bits)
            }
            Form::Tile(tile) => Ok(tile.to_linear(shape)?),
            Form::SwizzledTile(tile) => Ok(tile.to_linear(shape)?),
            Form::Cluster { bases, per_block } => over_cluster(bases, per_block, shape),
        }
    }
}

fn dot_operand(
    index: u32,
    parent: &Form,
    k_width: u32,
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    let wrong_parent = |required| Err(LayoutError::Parent { actual: parent.to_string(), required });
    match parent {
        Form::MmaV2 { warps } => mma_v2_operand(index, *warps, k_width, shape),
        Form::Wgmma { warps, .. } if index == 0 => wgmma_operand(*warps, k_width, shape),
        Form::Wgmma { .. } => {
            wrong_parent("mma or blocked (operand 1 of wgmma is read from shared memory)")
        }
        Form::Blocked { per_thread, lanes, warps, order } => {
            fma_operand(index, per_thread, lanes, warps, order, shape)
        }
        Form::Slice { .. }
        | Form::Linear(_)
        | Form::DotOperand { .. }
        | Form::Swizzled { .. }
        | Form::NvmmaShared { .. }
        | Form::RowMajor
        | Form::SharedLinear(_)
        | Form::TensorMemory { .. }
        | Form::TensorMemoryScales
        | Form::TensorMemoryLoad { .. }
        | Form::Tile(_)
        | Form::SwizzledTile(_)
        | Form::Cluster { .. } => wrong_parent("mma, wgmma or blocked"),
    }
}

/// Distributes `per_block`, built on the part of one block, over the blocks.
fn over_cluster(
    bases: &[Vec<u32>],
    per_block: &Form,
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_bits("shape", shape, TILE_BITS + CLUSTER_BITS)?;
    if bases.len() > CLUSTER_BITS {
        return Err(LayoutError::TooManyBits { actual: bases.len(), limit: CLUSTER_BITS });
    }
    let along = |axis: usize| {
        let most = bases.iter().filter_map(|basis| basis.get(axis)).max().copied().unwrap_or(0);
        // The power of two above the largest coordinate is the number of blocks along the axis.
        1 << (u32::BITS - most.leading_zeros()).min(31)
    };
    let outs = Dim::axes(shape.len())
        .into_iter()
        .enumerate()
        .map(|(axis, dim)| (dim, along(axis)))
        .collect();
    let limits: Vec<(Dim, u32)> =
        Dim::axes(shape.len()).into_iter().zip(shape.iter().copied()).collect();
    let blocks = Layout::new(vec![(Dim::Block, bases.to_vec())], outs)?.shrink(&limits);
    let part: Vec<u32> =
        shape.iter().zip(blocks.shape()).map(|(&size, count)| size / count).collect();
    Ok(per_block.to_layout(&part)?.product(&blocks))
}

/// `name(bases of each of dims, .., shape)`, as kernels write it; with other dimensions, the bases have their names.
fn write_literal(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    literal: &Layout,
    dims: &[Dim],
) -> fmt::Result {
    let plain = literal.out_dims().eq(Dim::axes(literal.outs().len()));
    if !plain || literal.in_dims().any(|dim| !dims.contains(&dim)) {
        return write!(f, "{name}({literal})");
    }
    write!(f, "{name}(")?;
    for &dim in dims {
        write!(f, "{:?}, ", literal.bases(dim))?;
    }
    write!(f, "{:?})", literal.shape())
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Blocked { per_thread, lanes, warps, order } => {
                write!(f, "blocked({per_thread:?}, {lanes:?}, {warps:?}, {order:?})")
            }
            Form::Slice { axis, parent } => write!(f, "slice({axis}, {parent})"),
            Form::Linear(literal) => {
                write_literal(f, "linear", literal, &[Dim::Register, Dim::Lane, Dim::Warp])
            }
            Form::MmaV2 { warps } => write!(f, "mma({warps:?})"),
            Form::Wgmma { warps, n } => write!(f, "wgmma({warps:?}, {n})"),
            Form::DotOperand { index, parent, k_width } => {
                write!(f, "dot_operand({index}, {parent}, {k_width})")
            }
            Form::Swizzled { vec, per_phase, max_phase, order } => {
                write!(f, "swizzled({vec}, {per_phase}, {max_phase}, {order:?})")
            }
            Form::NvmmaShared { swizzle_bytes, element_bits: _, transposed, fp4_padded } => {
                write!(f, "swizzle({swizzle_bytes})")?;
                f.write_str(if *transposed { ".transposed()" } else { "" })?;
                f.write_str(if *fp4_padded { ".fp4_padded()" } else { "" })
            }
            Form::RowMajor => f.write_str("row_major()"),
            Form::SharedLinear(literal) => {
                write_literal(f, "shared_linear", literal, &[Dim::Offset])
            }
            Form::TensorMemory { block, col_stride, two_ctas } => {
                write!(f, "tmem_block({block:?}, {col_stride})")?;
                f.write_str(if *two_ctas { ".two_ctas()" } else { "" })
            }
            Form::TensorMemoryScales => f.write_str("tmem_scales()"),
            Form::TensorMemoryLoad { atom, columns, memory, warps, element_bits: _ } => {
                write!(f, "tmem_load({atom}, {memory}, {warps})")?;
                f.write_str(match columns {
                    TmemColumns::Whole => "",
                    TmemColumns::Split => ".split()",
                })
            }
            Form::Tile(tile) => tile.fmt(f),
            Form::SwizzledTile(tile) => tile.fmt(f),
            Form::Cluster { bases, per_block } => write!(f, "cluster({bases:?}, {per_block})"),
        }
    }
}

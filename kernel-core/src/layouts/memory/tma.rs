//! TMA copies: which map they need, and what each of their instructions moves.
//!
//! A map describes a tensor and the box that one instruction copies (CUDA driver API, `cuTensorMapEncodeTiled`).
//! [`kernel_layout::tma`] finds how the axes of the tensor become dimensions of the map: a window of 8 x 256 `f16` in the swizzle of 128 bytes is one
//! box of rank 3 if the columns of the tensor are known to be a multiple of 64, and otherwise four boxes of rank 2.
//!
//! Known are the facts of the kernel's variant and what `layouts::known` finds of coordinates. [`Planning::wished`] gives the facts that
//! would save instructions, and the compiler makes a variant that assumes them.

pub(crate) mod padded;
mod slice;

use std::collections::BTreeSet;

use kernel_layout::forms::{default_swizzle_bytes, nvmma_shared, row_major_shared};
use kernel_layout::tile::SwizzleMode;
use kernel_layout::tma::{
    Cut, Declined, Number, Plan, Rule, SharedTile, Size, Start, Step, Tensor, TileCopy, Widening,
};
use kernel_layout::{Layout, tma as planner};
use la_arena::ArenaMap;

use crate::ir::dtype::{MapElement, Packing};
use crate::ir::{
    CopyOp, Dtype, Effects, Fact, Fill, Kernel, MapOptions, Memory, Op, ParamKind, Region, Shared,
    SharedType, StmtKind, Tma, TmaKind, Value,
};
use crate::layouts::known::{Known, Subject, log2_fact, stride};
use crate::layouts::shared::whole_window;
use crate::layouts::{SharedLayout, contiguous_part};

/// Dimensions of a map, at most.
pub const MOST_DIMS: usize = 5;
/// Elements along one axis of a box, at most.
pub const BOX_ELEMENTS: u32 = 256;
/// The innermost axis of a box, and every stride, is a multiple of this many bytes.
pub const MAP_BYTES: u32 = 16;
/// Instructions that one copy may take.
pub const MOST_INSTRUCTIONS: u64 = 64;

/// One tensor map of a kernel, made of an argument of the launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    /// The tensor.
    pub param: u32,
    /// The elements of the map: those of the tensor, or unsigned integers that are two, four or eight of them.
    pub dtype: Dtype,
    /// What the box has in shared memory besides its elements.
    pub padding: Padding,
    /// The dimensions, the innermost first: 1 to 5.
    pub dims: Vec<MapDim>,
    /// The places of a filter that it goes over, if it does.
    pub places: Option<Places>,
    /// 0, 32, 64 or 128.
    pub swizzle_bytes: u32,
    /// What elements outside of the tensor are read as.
    pub fill: Fill,
    /// The L2 promotion in bytes; 0 for none.
    pub l2_promotion_bytes: u32,
    /// Copies to the tensor go by it.
    pub written: bool,
}

/// The places of a filter that one instruction goes over (CUDA driver API, `cuTensorMapEncodeIm2col`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Places {
    /// How many: 1 to 1024.
    pub count: u32,
    /// Where the first places begin, from the first element of each axis that the filter moves along; the innermost first.
    pub lower: Vec<i32>,
    /// Where the last places begin at most, from the last element of each of these axes.
    pub upper: Vec<i32>,
}

/// What is between the elements of a box in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// Nothing.
    None,
    /// What fills up sixteen bytes after every sixteen numbers. Extents and boxes of the innermost dimension count numbers, of which
    /// an element of the tensor has several.
    Padded(Packing),
}

impl TensorMap {
    /// The element type of the map, and how many of it an element of the tensor is.
    pub fn element(&self) -> (MapElement, u32) {
        match self.padding {
            Padding::None => (self.dtype.row().map, 1),
            Padding::Padded(packing) => (packing.map, packing.numbers),
        }
    }

    /// Whether copies by the other go by this one as well: they differ in direction at most.
    pub(crate) fn serves(&self, other: &TensorMap) -> bool {
        let written = self.written;
        *self == TensorMap { written, ..other.clone() }
    }
}

/// A dimension of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapDim {
    /// How many elements of the map it has.
    pub extent: MapExtent,
    /// How far apart they are, in elements of the tensor.
    pub stride: MapStride,
    /// The elements of a box, those included that are stepped over: 1 to 256.
    pub box_elems: u32,
    /// The element stride: 1 to 8.
    pub element_stride: u32,
}

/// The extent of a dimension of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapExtent {
    /// That of an axis of the tensor, divided without remainder.
    Axis {
        /// The axis.
        axis: u32,
        /// The divisor.
        divide: u32,
    },
    /// A number.
    Const(u64),
    /// Of an axis that a slice bounds, as many elements as the tile has, those included that are stepped over. What the slice lacks of them
    /// is after the end.
    Tile {
        /// The axis.
        axis: u32,
        /// How many.
        elements: u32,
    },
    /// The positions along an axis at which a slice can end: one more than the axis has elements. They count from this many elements before
    /// the tensor, so that the tile, moved by the position of its end, ends there.
    Ends {
        /// The axis.
        axis: u32,
        /// How many.
        elements: u32,
    },
}

/// The stride of a dimension of a tensor map, in elements of the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapStride {
    /// That of an axis of the tensor, multiplied.
    Axis {
        /// The axis.
        axis: u32,
        /// The operand.
        times: u32,
    },
    /// A number.
    Elements(u64),
}

/// How a TMA copy is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaPlan {
    /// The map.
    pub map: TensorMap,
    /// The instructions.
    pub boxes: Vec<TmaBox>,
    /// The axes that a slice bounds and along which the tile has several elements. The last dimensions of the map are theirs, one each; the
    /// boxes have no coordinates for these.
    pub ends: Vec<usize>,
}

/// What one instruction copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaBox {
    /// Its corner, a coordinate for each dimension of the map.
    pub at: Vec<MapCoordinate>,
    /// Where it starts in the window, in bytes.
    pub offset_bytes: u32,
}

/// A coordinate of a box: a number, and what the coordinate of the copy along an axis contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapCoordinate {
    /// The number.
    pub plus: i32,
    /// An axis of the tensor; its coordinate is shifted left, then right without a remainder.
    pub start: Option<MapStart>,
}

/// The coordinate of a copy along an axis of the tensor, scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapStart {
    /// The axis.
    pub axis: u32,
    /// It is multiplied by this power of two.
    pub log2_times: u32,
    /// It is divided by this one.
    pub log2_divide: u32,
}

pub use padded::PaddedRefusal;
pub(crate) use padded::STRIDE_BYTES;
pub use slice::SliceRefusal;

/// Why a block cannot be copied by tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmaRefusal {
    /// The innermost axis of the block has fewer than 16 bytes, or is not a multiple.
    InnerBytes {
        /// The bytes that it has.
        actual: u32,
    },
    /// The window's layout is none that boxes have.
    Layout {
        /// The layout.
        actual: Box<SharedLayout>,
        /// The widest swizzle that a tile of its extents can have.
        required_swizzle_bytes: u32,
        /// What the planner says.
        declined: Box<Declined>,
    },
    /// The window is a part of what its layout covers.
    Part,
    /// Only many small boxes do it.
    Instructions {
        /// How many.
        actual: u64,
        /// The widest swizzle that a tile of its extents can have.
        required_swizzle_bytes: u32,
    },
    /// The window has another swizzle than is declared of the map.
    Swizzle {
        /// That of the map.
        required: u32,
        /// The layout of the window.
        actual: Box<SharedLayout>,
    },
    /// The window is a part of a tile whose bytes are no box.
    Apart,
    /// The window holds padded numbers, with which this is not done.
    Padded(Packing, PaddedRefusal),
    /// The window never begins at a multiple of 16 bytes of its row.
    Past {
        /// How many bytes after one it begins.
        bytes: u32,
    },
    /// A slice bounds the tensor in a way that no map does.
    Slice(SliceRefusal),
    /// The map, or where the window begins, breaks a rule of the hardware.
    Rule {
        /// The rule.
        rule: Rule,
        /// What it requires.
        required: u64,
        /// What there is.
        actual: u64,
    },
}

/// What is known of a kernel when its copies are planned.
#[derive(Clone, Copy, Debug)]
pub struct Planning<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// What is known of its values.
    pub known: &'a Known,
    /// The layouts of its shared allocations.
    pub layouts: &'a ArenaMap<Shared, Layout>,
}

/// What is taken to be known of the extents of tensors.
#[derive(Clone, Copy, PartialEq)]
enum Extents {
    /// What the facts say.
    Known,
    /// They are multiples of whatever helps.
    Wished,
}

/// A coordinate that no tensor has; it keeps the alignment of what it stands for.
pub(crate) const FAR_OUTSIDE: i32 = i32::MAX - 0xff;
/// More than any tile has: every power of two that a plan could ask for divides it.
const ANY_MULTIPLE: u64 = 1 << 30;

impl Planning<'_> {
    /// The plan of a copy, whose operands are `args`.
    ///
    /// # Errors
    /// If no map does it, with the reason.
    pub fn plan(&self, tma: Tma, args: &[Value]) -> Result<TmaPlan, TmaRefusal> {
        let contiguous = self.contiguous(tma.param);
        if tma.slice.axes().any(|axis| axis == contiguous) {
            return Err(TmaRefusal::Slice(SliceRefusal::Contiguous { axis: contiguous }));
        }
        if let Some((window, coordinates)) = self.padded_window(tma, args) {
            let plan = self.padded(tma, window, &coordinates)?;
            return self.within_slice(tma, args, plan);
        }
        let (plan, dtype) = self.planned(tma, args, Extents::Known)?;
        let options = &self.kernel.params[tma.param as usize].map;
        let map = (options, tma.kind.reads_shared());
        self.within_slice(tma, args, of_plan((tma.param, dtype), map, &plan))
    }

    /// The extents that would have to be multiples of something for the copies of a kernel to take fewer instructions.
    pub fn wished(&self) -> Vec<Fact> {
        let mut facts = BTreeSet::new();
        self.wishes(&self.kernel.body, &mut facts);
        facts.into_iter().filter(|fact| !self.kernel.facts.contains(fact)).collect()
    }

    fn wishes(&self, region: &Region, facts: &mut BTreeSet<Fact>) {
        for stmt in &region.stmts {
            for inner in stmt.kind.regions() {
                self.wishes(inner, facts);
            }
            let StmtKind::Op { op: Op::Copy(CopyOp::Tma(tma)), args, .. } = &stmt.kind else {
                continue;
            };
            let others = tma.kind.by_rows() || self.kernel.has_filter(tma.param);
            if others || self.padded_window(*tma, args).is_some() {
                continue;
            }
            let plan = |extents| self.planned(*tma, args, extents);
            let (Ok((known, _)), Ok((wished, _))) = (plan(Extents::Known), plan(Extents::Wished))
            else {
                continue;
            };
            if wished.instructions() >= known.instructions() {
                continue;
            }
            let param = tma.param;
            facts.extend(wished.dims.iter().filter_map(|dim| match dim.extent {
                Size::Axis { axis, divide, .. } if divide > 1 => Some(Fact::DimMultiple {
                    param,
                    axis: small(axis as u64),
                    of: i64::from(small(divide)),
                }),
                Size::Axis { .. } | Size::Known(_) => None,
            }));
        }
    }

    /// The window of a copy, if numbers are padded in it, and where the copy begins.
    fn padded_window(&self, tma: Tma, args: &[Value]) -> Option<(&SharedType, Vec<Value>)> {
        let (_, rank) = tensor(self.kernel, tma.param);
        let operands = tma.operands(rank, args);
        let window = crate::layouts::shared::window_of(self.kernel, operands.window?);
        padded::packing(self.kernel, window.root).map(|_| (window, operands.coordinates))
    }

    fn planned(
        &self,
        tma: Tma,
        args: &[Value],
        extents: Extents,
    ) -> Result<(Plan, Dtype), TmaRefusal> {
        let (dtype, rank) = tensor(self.kernel, tma.param);
        let operands = tma.operands(rank, args);
        let element_bytes = dtype.bytes();
        let window =
            operands.window.map(|window| crate::layouts::shared::window_of(self.kernel, window));
        let options = &self.kernel.params[tma.param as usize].map;
        let shape: &[u32] = window.map_or(&[], |window| &window.shape);
        let block = self.kernel.tma_block(tma, shape);
        let layout = match window {
            Some(window) if window.is_plain() => {
                whole_window(&self.layouts[window.root], shape, element_bytes)
            }
            Some(window) => {
                let (data, tile) = (&self.kernel.shared[window.root], &self.layouts[window.root]);
                Some(contiguous_part(data, tile, window).ok_or(TmaRefusal::Apart)?)
            }
            None => Some(preferred(&wide(&block), element_bytes, options.swizzle_bytes)),
        };
        let inner = block[self.contiguous(tma.param)] * element_bytes;
        if !inner.is_multiple_of(MAP_BYTES) {
            return Err(TmaRefusal::InnerBytes { actual: inner });
        }
        let layout = layout.ok_or(TmaRefusal::Part)?;
        let required_swizzle_bytes =
            default_swizzle_bytes(&tile_of(&block), element_bytes * 8, false, false);
        let actual = || {
            let form = window.and_then(|window| self.kernel.shared[window.root].pinned.clone());
            Box::new(SharedLayout { layout: layout.clone(), form })
        };
        let refused = |declined: Declined| {
            if let Declined::Map { rule, required, actual, .. } = declined
                && is_of_tensor(rule)
                // The rows of the tile are not those of the tensor.
                && (rule, actual) != (Rule::GlobalStrideAlignment, element_bytes.into())
            {
                return TmaRefusal::Rule { rule, required, actual };
            }
            let (actual, declined) = (actual(), Box::new(declined));
            TmaRefusal::Layout { actual, required_swizzle_bytes, declined }
        };
        if let Some(required) = options.swizzle_bytes
            && window.is_some()
            && preferred(shape, element_bytes, Some(required)) != layout
        {
            return Err(TmaRefusal::Swizzle { required, actual: actual() });
        }
        let shared = SharedTile::of_linear(&layout, element_bytes).map_err(refused)?;
        let bounded: Vec<usize> = operands.slice.iter().map(|(axis, _)| *axis).collect();
        // Positions in a slice, and where it ends, are multiples of nothing.
        let starts = operands.coordinates.iter().enumerate().map(|(axis, &at)| {
            if bounded.contains(&axis) { Start::Value { multiple_of: 1 } } else { self.start(at) }
        });
        let mut copy = TileCopy {
            tensor: self.tensor(tma.param, (extents, &bounded)),
            starts: starts.collect(),
            extents: block.iter().map(|&extent| extent.into()).collect(),
            shared,
            cut: Cut::Fine,
            widening: match (tma.kind, options.fill) {
                (
                    TmaKind::Load | TmaKind::Staged | TmaKind::Store | TmaKind::Prefetch,
                    Fill::Zero,
                ) => Widening::Allowed,
                (TmaKind::Reduce(_) | TmaKind::Gather | TmaKind::Scatter, _) | (_, Fill::Nan) => {
                    Widening::Forbidden
                }
            },
        };
        let mut plan = planner::plan(&copy);
        if let Err(Declined::Map { rule: Rule::InnerCoordinate, .. }) = plan {
            let column = operands.coordinates[self.contiguous(tma.param)];
            if let Some(refusal) = self.past_a_unit(column, dtype) {
                return Err(refusal);
            }
            if let Some(aligned) = self.aligned_start(tma.param, &copy) {
                plan = planner::plan(&aligned);
                copy = aligned;
            }
        }
        let mut plan = plan.map_err(refused)?;
        let ends = bounded.iter().filter(|&&axis| block[axis] > 1).count();
        if plan.dims.len() + ends > MOST_DIMS && ends > 0 {
            // A map whose axes are whole has the fewest dimensions.
            let all: Vec<usize> = (0..rank).collect();
            let tensor = self.tensor(tma.param, (extents, &all));
            plan = planner::plan(&TileCopy { tensor, ..copy }).map_err(refused)?;
        }
        if plan.instructions() > MOST_INSTRUCTIONS {
            let actual = plan.instructions();
            return Err(TmaRefusal::Instructions { actual, required_swizzle_bytes });
        }
        Ok((plan, dtype))
    }

    /// A tensor; the axes in the list are not split.
    fn tensor(&self, param: u32, (extents, whole): (Extents, &[usize])) -> Tensor {
        let (dtype, rank) = tensor(self.kernel, param);
        let options = &self.kernel.params[param as usize].map;
        let axes = (0..small(rank as u64)).map(|axis| {
            let place = axis as usize;
            let multiple = |subject| 1_u64 << log2_fact(self.kernel, subject);
            let extent = match extents {
                // Elements are stepped over along an axis as it is.
                _ if options.element_stride(place) > 1 || whole.contains(&place) => 1,
                Extents::Known => multiple(Subject::Dim(param, axis)),
                Extents::Wished => ANY_MULTIPLE,
            };
            let stride = match stride(self.kernel, param, axis).map(u64::try_from) {
                Some(Ok(stride)) => Number::Known(stride),
                Some(Err(_)) | None => Number::Axis {
                    axis: place,
                    multiple_of: multiple(Subject::Stride(param, axis)),
                },
            };
            (Number::Axis { axis: place, multiple_of: extent }, stride)
        });
        Tensor::strided(&axes.collect::<Vec<_>>(), dtype.bytes())
    }

    fn start(&self, coordinate: Value) -> Start {
        let constant = self.known.constant(coordinate).and_then(|at| i64::try_from(at).ok());
        match constant {
            Some(at) => Start::Known(at),
            None => Start::Value { multiple_of: 1 << self.known.log2_multiple(coordinate) },
        }
    }

    /// The axis along which elements of a tensor are contiguous: the last one, unless another one is known to be.
    pub(super) fn contiguous(&self, param: u32) -> usize {
        let (_, rank) = tensor(self.kernel, param);
        contiguous_axis(self.kernel, param).unwrap_or(rank - 1)
    }

    /// Why a copy cannot begin at this column: it is not a constant, and yet never a multiple of 16 bytes.
    pub(super) fn past_a_unit(&self, column: Value, dtype: Dtype) -> Option<TmaRefusal> {
        let elements = self.known.rest(column, MAP_BYTES / dtype.bytes())?;
        let is_certain = elements != 0 && self.known.constant(column).is_none();
        is_certain.then(|| TmaRefusal::Past { bytes: elements * dtype.bytes() })
    }

    /// The copy with a start along the contiguous axis that is a multiple of 16 bytes, which the hardware insists on when the kernel
    /// runs (it stops with an illegal instruction otherwise). Nothing else may rely on that: the axis is not taken apart.
    fn aligned_start(&self, param: u32, copy: &TileCopy) -> Option<TileCopy> {
        let (dtype, _) = tensor(self.kernel, param);
        let unit = u64::from(MAP_BYTES / dtype.bytes());
        let axis = self.contiguous(param);
        let Start::Value { multiple_of } = copy.starts[axis] else { return None };
        if multiple_of.is_multiple_of(unit) {
            return None;
        }
        let mut copy = copy.clone();
        copy.starts[axis] = Start::Value { multiple_of: unit };
        for digit in &mut copy.tensor.axes[axis] {
            digit.extent = Number::Axis { axis, multiple_of: 1 };
        }
        Some(copy)
    }
}

/// Whether a rule is about the tensor and the place in it, and not about the tile.
fn is_of_tensor(rule: Rule) -> bool {
    match rule {
        Rule::InnerCoordinate
        | Rule::GlobalStrideAlignment
        | Rule::GlobalStrideRange
        | Rule::GlobalDim
        | Rule::Rank
        | Rule::InnerStride => true,
        Rule::BoxDim
        | Rule::InnerBoxBytes
        | Rule::SwizzleInnerBox
        | Rule::SwizzlePitch
        | Rule::SharedAlignment => false,
    }
}

/// The axis of a tensor that is known to have stride 1.
pub(crate) fn contiguous_axis(kernel: &Kernel, param: u32) -> Option<usize> {
    let (_, rank) = tensor(kernel, param);
    (0..rank).rev().find(|&axis| stride(kernel, param, small(axis as u64)) == Some(1))
}

/// The element type and the rank of a tensor.
pub(crate) fn tensor(kernel: &Kernel, param: u32) -> (Dtype, usize) {
    match kernel.params[param as usize].kind {
        ParamKind::Tensor { dtype, rank, .. } => (dtype, rank as usize),
        ParamKind::Pointer(_) | ParamKind::Scalar(_) => {
            unreachable!("ir::verify requires a tensor here")
        }
    }
}

/// The arrangement that loads prefer: of the swizzle that is declared, or the widest one.
pub(crate) fn preferred(shape: &[u32], element_bytes: u32, swizzle_bytes: Option<u32>) -> Layout {
    let bits = element_bytes * 8;
    let tile = last_two(shape);
    let swizzle = swizzle_bytes.unwrap_or_else(|| default_swizzle_bytes(&tile, bits, false, false));
    let plain = || row_major_shared(&tile).expect("elaborate takes extents that are powers of two");
    let layout = nvmma_shared(swizzle, bits, false, false, &tile).unwrap_or_else(|_| plain());
    whole_window(&layout, shape, element_bytes).expect("a tile is the end of its own window")
}

/// The extents of the tiles of a window.
fn last_two(shape: &[u32]) -> Vec<u32> {
    shape[shape.len().saturating_sub(2)..].to_vec()
}

/// The extents of a block that are not 1: those of a window for it.
fn wide(block: &[u32]) -> Vec<u32> {
    block.iter().copied().filter(|extent| *extent != 1).collect()
}

/// The extents of the tiles in shared memory that a block fills.
pub(crate) fn tile_of(block: &[u32]) -> Vec<u32> {
    last_two(&wide(block))
}

fn of_plan(
    (param, dtype): (u32, Dtype),
    (options, written): (&MapOptions, bool),
    plan: &Plan,
) -> TmaPlan {
    // Neighbours along the innermost dimension are one element of the map apart, several of the tensor if those are narrower.
    let wider = u64::from(plan.element_bytes / dtype.bytes());
    let dims = plan.dims.iter().enumerate().map(|(index, dim)| {
        let factor = if index == 0 { wider } else { 1 };
        let (extent, element_stride) = match dim.extent {
            Size::Known(extent) => (MapExtent::Const(extent), 1),
            Size::Axis { axis, divide, .. } => {
                let extent = MapExtent::Axis { axis: small(axis as u64), divide: small(divide) };
                (extent, options.element_stride(axis))
            }
        };
        let stride = match dim.stride {
            Step::Known(stride) => MapStride::Elements(stride * factor),
            Step::Axis { axis, times } => {
                MapStride::Axis { axis: small(axis as u64), times: small(times * factor) }
            }
        };
        MapDim { extent, stride, box_elems: dim.box_elems * element_stride, element_stride }
    });
    let dims: Vec<MapDim> = dims.collect();
    let dtype = match plan.element_bytes {
        bytes if bytes == dtype.bytes() => dtype,
        2 => Dtype::U16,
        4 => Dtype::U32,
        _ => Dtype::U64,
    };
    let map = TensorMap {
        param,
        dtype,
        padding: Padding::None,
        dims,
        places: None,
        swizzle_bytes: match plan.swizzle {
            SwizzleMode::None => 0,
            SwizzleMode::B32 | SwizzleMode::B64 | SwizzleMode::B128 => plan.swizzle.bytes(),
        },
        fill: options.fill,
        l2_promotion_bytes: options.l2_promotion_bytes,
        written,
    };
    let first = plan.issue(0);
    let boxes = (0..plan.instructions()).map(|index| {
        let issue = plan.issue(index);
        let coordinates = issue.coordinates.iter().zip(&first.coordinates).zip(&map.dims);
        let at = coordinates.map(|((coordinate, first), dim)| MapCoordinate {
            // What reaches beyond the coordinates that there are is outside of every tensor.
            plus: i32::try_from(
                first.plus + (coordinate.plus - first.plus) * i64::from(dim.element_stride),
            )
            .unwrap_or(FAR_OUTSIDE),
            start: coordinate.start.map(|start| MapStart {
                axis: small(start.axis as u64),
                log2_times: log2(start.times),
                log2_divide: log2(start.divide),
            }),
        });
        TmaBox { at: at.collect(), offset_bytes: small(issue.shared_bytes) }
    });
    let boxes = boxes.collect();
    TmaPlan { map, boxes, ends: Vec::new() }
}

/// The exponent of a power of two: extents of tiles are always powers of two.
fn log2(value: u64) -> u32 {
    debug_assert!(value.is_power_of_two(), "{value} is not a power of two");
    value.trailing_zeros()
}

/// A number of a plan for a tile, which has at most 2^20 elements.
fn small(value: u64) -> u32 {
    u32::try_from(value).expect("tiles and their tensors have few axes and elements")
}

/// The bytes that a copy into one block counts on its mbarrier: those of all boxes, whatever is outside of the tensor.
fn copied_bytes(kernel: &Kernel, window: &SharedType, param: u32) -> u64 {
    let dtype = match kernel.params[param as usize].kind {
        ParamKind::Tensor { dtype, .. } => dtype,
        ParamKind::Pointer(_) | ParamKind::Scalar(_) => window.dtype,
    };
    let elements: u64 = window.shape.iter().map(|extent| u64::from(*extent)).product();
    elements * u64::from(dtype.bytes())
}

/// The bytes that an operation with these effects, which fills a window, counts on its mbarrier: those of its tensor's boxes, or of the window.
pub fn completed_bytes(kernel: &Kernel, window: &SharedType, effects: &Effects) -> u64 {
    let tensor = effects.reads().find_map(|access| match access.memory {
        Memory::Tensor(param) => Some(param),
        Memory::Address(_) | Memory::Shared(_) | Memory::TensorMemory(_) | Memory::Registers(_) => {
            None
        }
    });
    tensor.map_or_else(
        || {
            let elements = window.shape.iter().map(|extent| u64::from(*extent));
            elements.product::<u64>() * u64::from(window.dtype.bytes())
        },
        |param| copied_bytes(kernel, window, param),
    )
}

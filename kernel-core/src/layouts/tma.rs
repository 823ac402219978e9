//! Copies by tensor map: which map they need, and what each of their instructions moves.
//!
//! A map describes a tensor and the box that one instruction copies (CUDA driver API, `cuTensorMapEncodeTiled`): at most 256
//! elements along an axis, and along the innermost one no more bytes than the swizzle spans. A block that is larger is several
//! boxes, each dense in shared memory. That is the layout [`nvmma_shared`], so a window has it or is refused.

use kernel_layout::forms::nvmma_shared;
use kernel_layout::{Dim, Layout};
use la_arena::ArenaMap;

use crate::ir::{Kernel, ParamKind, Shared, SharedType, Tma, Value};

/// Elements along one axis of a box, at most.
pub const BOX_ELEMENTS: u32 = 256;
/// The innermost axis of a box, and every stride, is a multiple of so many bytes.
pub const MAP_BYTES: u32 = 16;

/// One tensor map of a kernel, made of an argument of the launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    /// The tensor.
    pub param: u32,
    /// The extents of a box, innermost first: one an axis of the tensor.
    pub box_elements: Vec<u32>,
    /// 0, 32, 64 or 128.
    pub swizzle_bytes: u32,
}

/// How a copy by tensor map is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaPlan {
    /// The map.
    pub map: TensorMap,
    /// The instructions.
    pub boxes: Vec<TmaBox>,
}

/// What one instruction copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaBox {
    /// Its corner in the block, on the axes of the tensor.
    pub at: Vec<u32>,
    /// Where it starts in the window, in bytes.
    pub offset_bytes: u32,
}

/// Why a block cannot be copied by tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmaRefusal {
    /// The innermost axis of the block has fewer than 16 bytes, or is no multiple.
    InnerBytes {
        /// The bytes that it has.
        actual: u32,
    },
    /// The window's layout is none that boxes have.
    Layout {
        /// The layout.
        actual: Layout,
        /// The widest swizzle that a tile of its extents can have.
        required_swizzle_bytes: u32,
    },
    /// The window is a part of what its layout covers.
    Part,
}

/// The plan of a copy between a tensor and a shared window.
///
/// # Errors
/// Where no map does it, with the reason.
pub fn plan(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    tma: Tma,
    window: &SharedType,
) -> Result<TmaPlan, TmaRefusal> {
    let block = kernel.tma_block(tma.param, &window.shape);
    let element_bytes = window.dtype.bytes();
    let layout = &layouts[window.root];
    let inner = block.last().copied().unwrap_or(1);
    if !(inner * element_bytes).is_multiple_of(MAP_BYTES) {
        return Err(TmaRefusal::InnerBytes { actual: inner * element_bytes });
    }
    if layout.outs().len() != window.shape.len() || layout.shape() != window.shape {
        return Err(TmaRefusal::Part);
    }
    let swizzle_bytes = swizzle(layout, element_bytes).ok_or_else(|| TmaRefusal::Layout {
        actual: layout.clone(),
        required_swizzle_bytes: kernel_layout::forms::default_swizzle_bytes(
            &window.shape,
            element_bytes * 8,
            false,
            false,
        ),
    })?;
    let span = if swizzle_bytes == 0 { BOX_ELEMENTS } else { swizzle_bytes / element_bytes };
    let mut boxes: Vec<u32> = block.iter().map(|extent| (*extent).min(BOX_ELEMENTS)).collect();
    if let Some(inner) = boxes.last_mut() {
        *inner = (*inner).min(span);
    }
    let map = TensorMap {
        param: tma.param,
        box_elements: boxes.iter().rev().copied().collect(),
        swizzle_bytes,
    };
    let inverse = layout.pseudo_inverse().ok_or(TmaRefusal::Part)?;
    let corners = corners(&block, &boxes);
    let boxes = corners.into_iter().map(|at| {
        let place = in_window(&block, &window.shape, &at);
        let place: Vec<(Dim, u32)> =
            place.into_iter().enumerate().map(|(axis, at)| (Dim::axis(axis), at)).collect();
        TmaBox { at, offset_bytes: inverse.apply(&place)[0] * element_bytes }
    });
    Ok(TmaPlan { map, boxes: boxes.collect() })
}

/// The tile of a copy by tensor map, of those that a kernel's launch makes.
pub fn window_of(kernel: &Kernel, window: Value) -> &SharedType {
    super::shared::window_of(kernel, window)
}

/// The swizzle of a layout that boxes have.
fn swizzle(layout: &Layout, element_bytes: u32) -> Option<u32> {
    [128, 64, 32, 0].into_iter().find(|&bytes| {
        nvmma_shared(bytes, element_bytes * 8, false, false, &layout.shape())
            .is_ok_and(|form| form == *layout)
    })
}

/// The corners of the boxes of a block, the innermost axis fastest.
fn corners(block: &[u32], boxes: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for (&extent, &step) in block.iter().zip(boxes) {
        all = all
            .into_iter()
            .flat_map(|corner: Vec<u32>| {
                (0..extent.div_ceil(step)).map(move |turn| {
                    let mut next = corner.clone();
                    next.push(turn * step);
                    next
                })
            })
            .collect();
    }
    all
}

/// A place of the block as coordinates of the window, whose axes other than those of extent 1 are the same.
fn in_window(block: &[u32], window: &[u32], at: &[u32]) -> Vec<u32> {
    let mut wide = block.iter().zip(at).filter(|(extent, _)| **extent != 1).map(|(_, at)| *at);
    window.iter().map(|&extent| if extent == 1 { 0 } else { wide.next().unwrap_or(0) }).collect()
}

/// The bytes that a copy into one block counts on its mbarrier: those of all boxes, whatever lies outside of the tensor.
pub fn copied_bytes(kernel: &Kernel, window: &SharedType, param: u32) -> u64 {
    let dtype = match kernel.params[param as usize].kind {
        ParamKind::Tensor { dtype, .. } => dtype,
        ParamKind::Pointer(_) | ParamKind::Scalar(_) => window.dtype,
    };
    let elements: u64 = window.shape.iter().map(|extent| u64::from(*extent)).product();
    elements * u64::from(dtype.bytes())
}

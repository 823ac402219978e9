//! The two sides of a copy: a tensor in global memory, and a tile in shared memory.

use super::{Declined, Number};
use crate::layout::log2;
use crate::tile::{
    ComposeLayout, Iter, Scopes, Swizzle, SwizzleMode, TileAxis, TileError, TileLayout,
};
use crate::{Dim, Layout};

/// A part of an axis: a number of values and their distance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digit {
    /// How many values it has.
    pub extent: Number,
    /// How far apart they are, in elements.
    pub stride: Number,
}

/// A tensor in global memory.
///
/// An axis is one digit or several, outermost first, like the digits of an index. Only the outermost of several may
/// have an unknown extent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tensor {
    /// The digits of every axis.
    pub axes: Vec<Vec<Digit>>,
    /// The size of an element: 1, 2, 4 or 8.
    pub element_bytes: u32,
}

impl Tensor {
    /// A tensor with one stride for each axis.
    pub fn strided(axes: &[(Number, Number)], element_bytes: u32) -> Tensor {
        let digits = axes.iter().map(|&(extent, stride)| vec![Digit { extent, stride }]);
        Tensor { axes: digits.collect(), element_bytes }
    }

    /// A tensor of known extents with contiguous rows.
    pub fn row_major(shape: &[u64], element_bytes: u32) -> Tensor {
        let mut stride = 1_u64;
        let mut axes = Vec::new();
        for &extent in shape.iter().rev() {
            let known = (Number::Known(extent), Number::Known(stride));
            axes.push(known);
            stride = stride.saturating_mul(extent);
        }
        axes.reverse();
        Tensor::strided(&axes, element_bytes)
    }

    /// A tensor of `shape` whose elements are placed by a tile layout.
    ///
    /// # Errors
    /// When the layout cannot be grouped by the shape, or a stride is negative or along something other than memory.
    pub fn tiled(
        shape: &[u64],
        layout: &TileLayout,
        element_bytes: u32,
    ) -> Result<Tensor, TileError> {
        let grouped = layout.canonicalize(Scopes::Kept).group(shape)?;
        let mut axes = Vec::new();
        for digits in grouped.groups() {
            let mut own = Vec::new();
            for iter in digits.iter().filter(|iter| iter.extent > 1) {
                let stride = stride_in_memory(iter)?;
                own.push(Digit {
                    extent: Number::Known(iter.extent),
                    stride: Number::Known(stride),
                });
            }
            if own.is_empty() {
                own.push(Digit { extent: Number::Known(1), stride: Number::Known(1) });
            }
            axes.push(own);
        }
        Ok(Tensor { axes, element_bytes })
    }
}

/// The stride of a digit that steps along memory.
pub(super) fn stride_in_memory(iter: &Iter) -> Result<u64, TileError> {
    if iter.axis != TileAxis::Memory {
        return Err(TileError::NoDimension { axis: iter.axis });
    }
    u64::try_from(iter.stride)
        .map_err(|_| TileError::NotLinear { axis: iter.axis, reason: "a stride is negative" })
}

/// A tile in shared memory: extents and strides, and the swizzle of the bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharedTile {
    /// The places of the window's elements, in its row-major order. An offset is the start of the tile.
    pub tile: TileLayout,
    /// The exchange of 16-byte chunks.
    pub swizzle: SwizzleMode,
}

impl SharedTile {
    /// A tile without a swizzle.
    pub fn plain(tile: TileLayout) -> SharedTile {
        SharedTile { tile, swizzle: SwizzleMode::None }
    }

    /// A swizzled tile.
    ///
    /// # Errors
    /// When the hardware does not have the swizzle for elements of this size.
    pub fn swizzled(tile: &ComposeLayout, element_bytes: u32) -> Result<SharedTile, Declined> {
        let mode = MODES
            .into_iter()
            .find(|&mode| Swizzle::of_mode(mode, 8 * element_bytes) == Ok(tile.swizzle()));
        match mode {
            Some(swizzle) => Ok(SharedTile { tile: tile.tile().clone(), swizzle }),
            None => Err(Declined::Swizzle { actual: tile.to_string() }),
        }
    }

    /// The tile of a linear layout of shared memory, with the narrowest swizzle that gives extents and strides.
    ///
    /// ```
    /// use kernel_layout::forms::nvmma_shared;
    /// use kernel_layout::tile::SwizzleMode;
    /// use kernel_layout::tma::SharedTile;
    /// let shared = SharedTile::of_linear(&nvmma_shared(128, 16, false, false, &[64, 256])?, 2)?;
    /// assert_eq!(shared.tile.to_string(), "S[(64, 4, 64) : (64, 4096, 1)]");
    /// assert_eq!(shared.swizzle, SwizzleMode::B128);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When it has inputs other than `Offset`, or no swizzle of the hardware gives extents and strides.
    pub fn of_linear(layout: &Layout, element_bytes: u32) -> Result<SharedTile, Declined> {
        if let Some(dim) =
            layout.in_dims().find(|&dim| dim != Dim::Offset && layout.in_size(dim) > 1)
        {
            return Err(Declined::Dim { actual: dim });
        }
        let axes: Vec<Dim> = layout.out_dims().collect();
        let offsets = layout.sublayout(&[Dim::Offset], &axes);
        let size = offsets.in_size(Dim::Offset);
        for swizzle in MODES {
            let Ok(exchange) = Swizzle::of_mode(swizzle, 8 * element_bytes) else { break };
            // Higher bits change lower ones, so that no place leaves the tile.
            let place = |bit| {
                u32::try_from(exchange.apply(1_u64 << bit))
                    .expect("it is below the size of the tile")
            };
            let places = (0..log2(size)).map(|bit| vec![place(bit)]).collect();
            let exchange = Layout::trusted(vec![(Dim::Offset, places)], vec![(Dim::Offset, size)]);
            if let Ok(tile) = TileLayout::from_linear(&exchange.compose(&offsets)) {
                return Ok(SharedTile { tile, swizzle });
            }
        }
        Err(Declined::Swizzle { actual: layout.to_string() })
    }
}

impl From<TileError> for Declined {
    fn from(error: TileError) -> Declined {
        Declined::Layout(error)
    }
}

/// The swizzles, the narrowest first.
const MODES: [SwizzleMode; 4] =
    [SwizzleMode::None, SwizzleMode::B32, SwizzleMode::B64, SwizzleMode::B128];

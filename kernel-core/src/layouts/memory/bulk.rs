//! What bulk copies require of shared memory: elements that are in the order of the window, or, between two blocks, in the
//! same order on both sides.

use kernel_layout::Layout;
use kernel_layout::forms::row_major_shared;
use la_arena::ArenaMap;

use crate::ir::{Bulk, BulkKind, Kernel, Shared, SharedType, Value};
use crate::layouts::SharedLayout;
use crate::layouts::shared::window_of;

/// Tiles of a ring begin at multiples of this many bytes: shorter ones have gaps after them.
const TILE_BYTES: u32 = 128;

/// Why the bytes of a window cannot be copied unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkRefusal {
    /// Elements are not in the order of the window.
    Order {
        /// The layout of the window's tile.
        actual: Box<SharedLayout>,
    },
    /// The window is several tiles with gaps between them.
    Gaps {
        /// The bytes of one tile.
        tile_bytes: u32,
    },
    /// The two sides of a copy between blocks have different layouts.
    Sides {
        /// That of the source.
        required: Box<SharedLayout>,
        /// That of the destination.
        actual: Box<SharedLayout>,
    },
}

/// Whether the shared memory of a bulk copy allows it.
///
/// # Errors
/// With the window that does not, and why.
pub(crate) fn check(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    bulk: Bulk,
    args: &[Value],
) -> Result<(), (Shared, BulkRefusal)> {
    let operands = bulk.operands(args);
    let Some(window) = operands.window else { return Ok(()) };
    let window = window_of(kernel, window);
    let refused = |why| Err((window.root, why));
    match bulk.kind {
        BulkKind::Send => {
            let source = window_of(kernel, operands.first);
            let (required, actual) = (&layouts[source.root], &layouts[window.root]);
            if required != actual {
                let required = SharedLayout::of(kernel, source.root, required);
                let actual = SharedLayout::of(kernel, window.root, actual);
                return refused(BulkRefusal::Sides { required, actual });
            }
            let part = window.shape.len() != actual.outs().len();
            if part { in_order(kernel, layouts, window).or_else(refused) } else { Ok(()) }
        }
        BulkKind::Load | BulkKind::Store | BulkKind::Reduce(_) | BulkKind::Prefetch(_) => {
            in_order(kernel, layouts, window).or_else(refused)
        }
    }
}

/// Whether the elements of a window are in its own order, without gaps.
fn in_order(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    window: &SharedType,
) -> Result<(), BulkRefusal> {
    let layout = &layouts[window.root];
    let tile = layout.shape();
    if row_major_shared(&tile).as_ref() != Ok(layout) {
        return Err(BulkRefusal::Order { actual: SharedLayout::of(kernel, window.root, layout) });
    }
    let tile_bytes = tile.iter().product::<u32>() * kernel.shared[window.root].dtype.bytes();
    let axes =
        if window.is_plain() { window.shape.len() } else { kernel.shared[window.root].shape.len() };
    if axes > tile.len() && !tile_bytes.is_multiple_of(TILE_BYTES) {
        return Err(BulkRefusal::Gaps { tile_bytes });
    }
    Ok(())
}

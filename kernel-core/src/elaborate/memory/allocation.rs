//! Allocations of shared memory: `shared::<T>(shape)`.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Shared, SharedData, SharedType, Type, WindowOp},
    syntax::Expr,
};

/// The most axes of a shared allocation, as of a tile.
const MAX_RANK: usize = 5;

impl Builder<'_> {
    /// `shared::<T>(shape)`
    pub(crate) fn shared_alloc(&mut self, given: &Given<'_>) -> Option<Val> {
        self.made_once(
            "shared memory is allocated inside a loop or branch",
            "its address is fixed at compile time, so an iteration would get memory that other threads may still use",
            "let tile = shared::<f32>([64, 64]);",
            given.loc,
        )?;
        let (num, shape) = (self.element_arg(given.name, given.env)?, given.shape(0));
        let (dtype, loc) = (self.cells.settled(num), given.loc);
        let data = SharedData { dtype, shape: shape.clone(), pinned: None, name: None, loc };
        let root: Shared = self.shared.alloc(data);
        if let Num::Cell(_) = self.cells.find(num) {
            self.shared_cells.insert(root, num);
        }
        let ty = Type::Shared(SharedType {
            root,
            dtype,
            shape,
            transposed: false,
            remote: false,
            view: None,
        });
        Some(Val::Value(self.emit(WindowOp::Alloc(root), Vec::new(), ty, loc)))
    }

    /// The extents of a shared allocation: of three and more, the first counts buffers and may be any number.
    pub(crate) fn ring_shape(&mut self, val: &Val, at: &Expr) -> Option<Vec<u32>> {
        let Val::Array(parts) = val else { return self.shape(val, at) };
        if parts.len() > MAX_RANK {
            let headline = "a shared tile has at most four axes, and one more for a ring";
            let required = format!("1 to {MAX_RANK}");
            return self.refuse(Code::Axis.at(at.loc, headline).compare(
                "rank",
                required,
                parts.len(),
            ));
        }
        let [ring, rest @ ..] = parts.as_slice() else { return self.shape(val, at) };
        if rest.len() < 2 {
            return self.shape(val, at);
        }
        let loc = at.part(0);
        let count = self.const_int(ring, "the number of buffers", loc)?;
        let Some(count) = u32::try_from(count).ok().filter(|count| (1..=1024).contains(count))
        else {
            return self.refuse(
                Code::Extent.at(loc, format!("a ring cannot have {count} buffers")).compare(
                    "buffers",
                    "1 to 1024",
                    count,
                ),
            );
        };
        let mut shape = self.extents(rest, at, 1)?;
        shape.insert(0, count);
        Some(shape)
    }
}

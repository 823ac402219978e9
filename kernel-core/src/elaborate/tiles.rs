//! Tiles in registers: arithmetic, shapes, operations along an axis, layouts as values.

pub(crate) mod along;
pub(crate) mod arith;
pub(crate) mod bits;
pub(crate) mod floats;
pub(crate) mod layout_values;
mod mixed;
pub(crate) mod order;
pub(crate) mod parts;
pub(crate) mod rank0;
pub(crate) mod several;
pub(crate) mod shape;
pub(crate) mod tile_digits;
pub(crate) mod tile_layouts;

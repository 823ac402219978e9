//! Tensor memory of Blackwell: allocations, copies, layouts, order.

pub(crate) mod left_factor;
pub(crate) mod own_columns;
pub(crate) mod tensor_copy;
pub(crate) mod tensor_layouts;
pub(crate) mod tensor_order;
pub(crate) mod windows;

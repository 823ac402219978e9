//! Tensor memory of Blackwell: allocations, copies, layouts, order.

pub(crate) mod tensor_copy;
pub(crate) mod windows;

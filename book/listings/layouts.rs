//! The part about layouts: which thread, or which address, holds which element.

crate::listings! { "layouts": by_bits, same, transpose, costs, banks, gather, replica }

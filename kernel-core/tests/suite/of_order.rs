//! Which problems are about the order of a whole kernel.

use kernel_core::diag::{Code, Diagnostic};

/// Whether a problem is about the order of a whole kernel.
pub(crate) fn is_of_order(problem: &Diagnostic) -> bool {
    [
        Code::Unordered,
        Code::WrongPhase,
        Code::Deadlock,
        Code::Arrivals,
        Code::ClusterOrder,
        Code::OpenAtEnd,
    ]
    .contains(&problem.code)
}

//! Types, constants and operations as dumps write them.

use std::fmt;

use crate::ir::{Const, Dtype, Elem, Shared, Type};

/// An allocation's name in dumps.
pub(super) fn name(shared: Shared) -> String {
    format!("@tile{}", shared.into_raw().into_u32())
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::Number(dtype) => write!(f, "{dtype}"),
            Elem::Ptr(dtype) => write!(f, "ptr<{dtype}>"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(elem) => write!(f, "{elem}"),
            Type::Tile(elem, shape) => write!(f, "{elem}{shape:?}"),
            Type::Shared(shared) => {
                let transposed = if shared.transposed { " transposed" } else { "" };
                let remote = if shared.remote { " remote" } else { "" };
                let (root, dtype, shape) = (name(shared.root), shared.dtype, &shared.shape);
                write!(f, "{root} {dtype}{shape:?}{transposed}{remote}")?;
                shared.view.as_ref().map_or(Ok(()), |view| write!(f, " bits {:?}", view.axes))
            }
            Type::Barrier(barrier) => {
                let many = if barrier.ring { "s" } else { "" };
                let remote = if barrier.remote { " remote" } else { "" };
                write!(f, "@barrier{} mbarrier{many}{remote}", barrier.root.into_raw().into_u32())
            }
            Type::TensorMemory(window) => {
                let root = window.root.into_raw().into_u32();
                write!(f, "@tensor_memory{root} {}{:?}", window.dtype, window.shape)
            }
            Type::Error => f.write_str("error"),
        }
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::Bool(value) => write!(f, "{value}"),
            Const::Int(value) => write!(f, "{value}"),
            Const::Float(value) => write!(f, "{value:?}"),
        }
    }
}

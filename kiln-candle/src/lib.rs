//! Kiln's kernels on candle's tensors.
#![deny(unsafe_code)]

mod arg;
mod call;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
mod error;
mod graph;
mod in_place;
mod join;
mod op;
mod place;
mod run;

pub use arg::Arg;
pub use call::{Call, Output, Value, Values};
pub use element::Element;
pub use error::{Error, Input, Names, Result, cause};
pub use in_place::{ArgMut, Edited, InPlaceOp};
pub use op::{Backward, Forward, Op};
pub use run::run;

/// Runs code for the dtype of an [`Arg`], with the type's name bound to it.
#[macro_export]
macro_rules! match_dtype {
    ($arg:expr, $name:ident in [$($type:ty),+ $(,)?] => $body:block) => {{
        let arg = &$arg;
        let dtype = arg.dtype();
        $(if dtype == <$type as $crate::Element>::CANDLE {
            type $name = $type;
            $body
        } else)+ {
            ::core::result::Result::Err(
                arg.unsupported(&[$(<$type as $crate::Element>::CANDLE),+]),
            )
        }
    }};
}

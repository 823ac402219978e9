//! What `println!` and the texts of assertions write: see the [module](super#while-it-runs).

use core::fmt;

use super::{Ptr, Tile, stub};

/// A tile is written as its elements are, one at a time.
macro_rules! written {
    ($($format:ident)*) => {
        $(impl<T: fmt::$format> fmt::$format for Tile<T> {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                stub()
            }
        })*
    };
}

written!(Display LowerHex UpperHex Octal Binary LowerExp UpperExp Pointer);

impl<T> fmt::Pointer for Ptr<T> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        stub()
    }
}

//! A fixed number of values, indexed by `i32`.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use super::stub;

/// A fixed number of values of any type, including structs; `xs[i]` is one of them.
///
/// [`array()`] makes it. Unlike Rust's own array its length may be an `i32` const generic, and its
/// index is an `i32`.
///
/// An index that is known only at run time chooses among scalars and tiles, and costs one selection for each element.
/// If it is negative or past the end, it gives the first element without an error. It cannot choose among shared
/// allocations: use one [`Shared`](super::Shared) with a leading axis. An assignment, `xs[i] = ..`, needs an index that
/// is known at compile time, as in [`unroll`](super::unroll).
#[derive(Clone, Copy, Debug)]
pub struct Array<T>(PhantomData<T>);

/// `n` values; the `i`-th is `f(i)`. `n` is known at compile time.
///
/// The closure is called `n` times in the order of `i`; a [`shared`](super::shared) in it allocates
/// each time.
///
/// # PTX
/// None: the values are those of the closure. An index that is known only at run time is a chain of `setp.eq.s32` and
/// `selp`.
///
/// # Errors
/// K0106 if `n` is not known at compile time, K0206 if `f` is not a closure, K0109 for too many values; for an index
/// K0207 past the end, and K0106 if it must be known.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// struct Stage {
///     a: Shared<f16>,
///     b: Shared<f16>,
/// }
///
/// fn stages<const N: i32>() -> Array<Stage> {
///     array(N, |_| Stage { a: shared([64, 32]), b: shared([32, 64]) })
/// }
/// ```
pub fn array<T>(n: i32, f: impl FnMut(i32) -> T) -> Array<T> {
    stub()
}

impl<T> Index<i32> for Array<T> {
    type Output = T;

    fn index(&self, index: i32) -> &T {
        stub()
    }
}

impl<T> IndexMut<i32> for Array<T> {
    fn index_mut(&mut self, index: i32) -> &mut T {
        stub()
    }
}

//! A fixed number of values, indexed by `i32`.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use super::stub;

/// A fixed number of values of any type, structs included; `xs[i]` is one of them.
///
/// [`array()`] makes it. Unlike Rust's own array its length may be an `i32` const generic, and its
/// index is an `i32`.
///
/// An index that is known only when the kernel runs chooses among scalars and tiles, at the price
/// of one selection for each element; one that is negative or past the end gives the first element, and
/// nothing reports it. It cannot choose among shared allocations: those are one
/// [`Shared`](super::Shared) with a leading axis. What is assigned to, `xs[i] = ..`, has an index
/// known when compiling, as in [`unroll`](super::unroll).
#[derive(Clone, Copy, Debug)]
pub struct Array<T>(PhantomData<T>);

/// `n` values, of which the `i`-th is `f(i)`. `n` is known when compiling.
///
/// The closure is called `n` times in the order of `i`; a [`shared`](super::shared) in it allocates
/// each time.
///
/// # PTX
/// None: the values are those of the closure. An index that is known only when the kernel runs is a chain of
/// `setp.eq.s32` and `selp`.
///
/// # Errors
/// K0106 where `n` is not known when compiling, K0206 where `f` is no closure, K0109 for too many values; of an index
/// K0207 past the end, and K0106 where it must be known.
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

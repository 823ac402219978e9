//! Rotary position embedding.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{Real, shape::require};

/// Which elements of a head are rotated together, and which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Which elements of a head are a pair.
    pub pairs: Pairs,
    /// Which way pairs are rotated.
    pub direction: Direction,
}

/// Which two elements of a head are rotated as one pair, the `i`-th by the `i`-th angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Elements `i` and `i + dim / 2`, as in GPT-NeoX, Llama and Qwen.
    Halves,
    /// Elements `2 i` and `2 i + 1`, as in GPT-J.
    Neighbours,
}

/// The direction of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `(a cos - b sin, b cos + a sin)`.
    Forward,
    /// `(a cos + b sin, b cos - a sin)`: takes a rotation back, and is its derivative. Gradients of rotated rows become those of the rows
    /// before.
    Inverse,
}

/// Rotates the pairs of each head of `x` by the angles of its token's position, into `out`.
///
/// `x` and `out` have the shape `[tokens, heads, dim]`, `cos` and `sin` are tables of shape `[positions, dim / 2]`, and `positions` has the
/// row of the tables for each token. A position that is outside of the tables counts as one whose cosines and sines are all 0:
/// finite elements become 0.
///
/// Any strides are possible; rows that are contiguous and begin at multiples of 16 bytes are fastest. If fewer elements of a head are
/// rotated than it has, views of these are passed to [`rotate_in_place`].
///
/// ```
/// use kiln::prelude::*;
/// use kiln_kernels::pointwise::{self, Direction, Pairs, Rotation, rotate};
///
/// let stream = Device::best_for(pointwise::TARGETS)?.stream()?;
/// // One head of four elements, rotated by a quarter at position 1.
/// let (cos, sin) = (stream.upload(&[1.0f32, 1.0, 0.0, 0.0], [2, 2])?, stream.upload(&[0.0f32, 0.0, 1.0, 1.0], [2, 2])?);
/// let x = stream.upload(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4])?;
/// let (positions, mut out) = (stream.upload(&[1], [1])?, stream.zeros([1, 1, 4])?);
/// let rotation = Rotation { pairs: Pairs::Halves, direction: Direction::Forward };
/// rotate(&stream, rotation, &positions, [&cos, &sin], &x, &mut out)?;
/// assert_eq!(out.to_vec(&stream)?, [-3.0, -4.0, 1.0, 2.0]);
/// # Ok::<(), kiln::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn rotate<T: Real>(
    stream: &Stream,
    rotation: Rotation,
    positions: &impl TensorArgument<i32, 1>,
    [cos, sin]: [&impl TensorArgument<f32, 2>; 2],
    x: &impl TensorArgument<T, 3>,
    out: &mut impl TensorArgumentMut<T, 3>,
) -> Result<()> {
    require("a rotation, of x", out.tensor_mut()?.shape(), x.tensor()?.shape())?;
    let sign = check(rotation, positions, [cos, sin], out)?;
    let x = x.tensor()?;
    let (shape, strides) = parts(rotation, &x);
    let x = x.as_strided(shape, strides)?;
    let mut out = out.tensor_mut()?.into_view();
    let (shape, strides) = parts(rotation, &out);
    let out = &mut out.as_strided_mut(shape, strides)?;
    find::<T>(rotation, shape[1])?
        .with(rotary::Args { x: Some(&x), out, positions, cos, sin, sign })
        .launch(stream)
}

/// [`rotate`] in place: the queries and keys of one tensor `[tokens, heads, dim]` are rotated by one launch, if a view of it leaves out
/// the values.
///
/// # Errors
/// Those of [`rotate`].
pub fn rotate_in_place<T: Real>(
    stream: &Stream,
    rotation: Rotation,
    positions: &impl TensorArgument<i32, 1>,
    [cos, sin]: [&impl TensorArgument<f32, 2>; 2],
    x: &mut impl TensorArgumentMut<T, 3>,
) -> Result<()> {
    let sign = check(rotation, positions, [cos, sin], x)?;
    let mut out = x.tensor_mut()?.into_view();
    let (shape, strides) = parts(rotation, &out);
    let out = &mut out.as_strided_mut(shape, strides)?;
    find::<T>(rotation, shape[1])?
        .with(rotary::Args { x: None, out, positions, cos, sin, sign })
        .launch(stream)
}

/// The extents and strides of heads as `[tokens, heads, 2, dim / 2]` where pairs are of both halves, else `[tokens, heads, 1, dim]`: so the
/// compiler knows how the second half is aligned.
fn parts<T>(rotation: Rotation, x: &DeviceTensor<T, 3>) -> ([usize; 4], [usize; 4]) {
    let ([tokens, heads, dim], [token, head, one]) = (x.shape(), x.strides());
    let parts = match rotation.pairs {
        Pairs::Halves => 2,
        Pairs::Neighbours => 1,
    };
    let len = dim / parts;
    ([tokens, heads, parts, len], [token, head, len * one, one])
}

/// The instance for so many heads: few leave no more than half of a tile empty.
fn find<T: Real>(rotation: Rotation, heads: usize) -> Result<rotary::Instance> {
    let tile = if heads > 16 { 32 } else { 16 };
    let neighbours = rotation.pairs == Pairs::Neighbours;
    rotary::Values { T: Dtype::of::<T>(), NEIGHBOURS: neighbours, H: tile }.find()
}

/// The factor of the sines.
fn check<T: Real>(
    rotation: Rotation,
    positions: &impl TensorArgument<i32, 1>,
    [cos, sin]: [&impl TensorArgument<f32, 2>; 2],
    x: &mut impl TensorArgumentMut<T, 3>,
) -> Result<f32> {
    let [tokens, _, dim] = x.tensor_mut()?.shape();
    let [rows, half] = cos.tensor()?.shape();
    require("a rotation, of positions", [tokens], positions.tensor()?.shape())?;
    require("a rotation, of cosines", [rows, dim / 2], [rows, half])?;
    require("a rotation, of pairs", [2 * half], [dim])?;
    require("a rotation, of sines", [rows, half], sin.tensor()?.shape())?;
    Ok(match rotation.direction {
        Direction::Forward => 1.0,
        Direction::Inverse => -1.0,
    })
}

/// 16 bytes a thread, of the first numbers of pairs and of the second ones.
const EIGHT: Layout = blocked([1, 1, 1, 8], [1, 4, 1, 8], [1, 4, 1, 1], [3, 2, 1, 0]);
/// The same of four bytes each.
const FOUR: Layout = blocked([1, 1, 1, 4], [1, 2, 1, 16], [1, 4, 1, 1], [3, 2, 1, 0]);

/// A block rotates `H` heads of a token, 64 pairs at a time. It waits for the position of the token, and then for its cosines and sines, while
/// the heads are read.
#[kernel(target = sm_80, warps = 4, grid = [out.dim(0), cdiv(out.dim(1), H)],
         instances(T = [bf16, f16, f32], NEIGHBOURS = [false, true], H = [16, 32]))]
pub(super) fn rotary<T: Float, const NEIGHBOURS: bool, const H: i32>(
    x: Option<Tensor<T, 4>>,
    out: TensorMut<T, 4>,
    positions: Tensor<i32, 1>,
    cos: Tensor<f32, 2>,
    sin: Tensor<f32, 2>,
    sign: f32,
) {
    let (token, head, half) = (block_id(0), block_id(1) * H, cos.dim(1));
    for pair in range(0, half, 64) {
        let at = [token, head, 0, 2 * pair];
        let (first, second) = ([token, head, 0, pair], [token, head, 1, pair]);
        let (a, b) = if NEIGHBOURS {
            let both = match x {
                Some(x) => x.tile(at, [1, H, 1, 128]).load(),
                None => out.tile(at, [1, H, 1, 128]).load(),
            };
            both.reshape([1, H, 1, 64, 2]).split()
        } else {
            match x {
                Some(x) => {
                    (x.tile(first, [1, H, 1, 64]).load(), x.tile(second, [1, H, 1, 64]).load())
                }
                None => {
                    (out.tile(first, [1, H, 1, 64]).load(), out.tile(second, [1, H, 1, 64]).load())
                }
            }
        };
        let position = positions.tile([token], [1]).load().item();
        let c = cos.tile([position, pair], [1, 64]).load().reshape([1, 1, 1, 64]);
        let s = sin.tile([position, pair], [1, 64]).load().reshape([1, 1, 1, 64]) * sign;
        let (a, b) = if NEIGHBOURS {
            (a, b)
        } else if T::BITS == 32 {
            (a.to_layout(FOUR), b.to_layout(FOUR))
        } else {
            (a.to_layout(EIGHT), b.to_layout(EIGHT))
        };
        let (a, b) = (a.cast::<f32>(), b.cast::<f32>());
        let (a, b) = (a * c - b * s, b * c + a * s);
        if NEIGHBOURS {
            let rotated = join(a, b).reshape([1, H, 1, 128]);
            out.tile(at, [1, H, 1, 128]).store(rotated.cast::<T>());
        } else {
            out.tile(first, [1, H, 1, 64]).store(a.cast::<T>());
            out.tile(second, [1, H, 1, 64]).store(b.cast::<T>());
        }
    }
}

//! Products of the rows of each expert with its weights, in bf16, f16 and FP8, where only the device knows how many rows each expert has.
//!
//! The rows of expert `e` are `offsets[e]..offsets[e + 1]` of a matrix, as after sorting tokens by experts. [`Grouped::product`] computes
//! `c[row] = a[row] · b[e]ᵀ` for them, with weights `[out, in]` for each expert. Sums are computed in f32 and rounded once.
//! [`Grouped::product_float8`] multiplies `e4m3` numbers, and rows of `e5m2`, with scales. Where GPUs cannot multiply `e5m2` by `e4m3`, they are
//! multiplied in f16, which has the numbers of both.
//!
//! ```
//! use kiln::prelude::*;
//! use kiln_kernels::grouped::Grouped;
//!
//! let stream = Device::best_for(Grouped::TARGETS)?.stream()?;
//! let grouped = Grouped::new(&stream)?;
//! // Two experts of 8 inputs and 8 outputs: the first one has a row, the second one two.
//! let weights: Vec<f16> = (0..128).map(|i| f16::from_f32(if i < 64 { 1.0 } else { 2.0 })).collect();
//! let weights = stream.upload(&weights, [2, 8, 8])?;
//! let offsets = stream.upload(&[0, 1, 3], [3])?;
//! let rows = stream.full([3, 8], f16::from_f32(0.5))?;
//! let mut out = stream.zeros::<f16, 2>([3, 8])?;
//! grouped.product(&stream, &rows, &weights, &offsets, &mut out)?;
//! let out: Vec<f32> = out.to_vec(&stream)?.into_iter().map(f16::to_f32).collect();
//! assert_eq!(out, [[4.0; 8], [8.0; 8], [8.0; 8]].concat());
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! # Idea
//!
//! Blocks are persistent, and walk along the offsets: each finds the expert of its next tile from that of its last one. So the host neither
//! reads the offsets nor bounds the rows of an expert. Tiles of 128 rows are for many rows of each expert; with few of them a product is
//! that of reading the weights, and is computed transposed. The choice is by the mean number of rows.
//!
//! Rows may be gathered and scattered by lists ([`Options`]), so that permutation, product and combination of weights are one launch.
//!
//! # Schedule
//!
//! On Hopper one warp loads both operands by TMA through a ring of buffers of 128-byte rows; rows that are gathered are copied by four
//! warps, by asynchronous copies of 16 bytes. Two warpgroups multiply, with one product in flight while they wait for the next operands,
//! and store by TMA, whose slice of the result ends with the rows of the expert. Other GPUs copy asynchronously, three steps ahead.
//!
//! On Hopper, if tiles are 256 columns wide and their rows are even in number, pairs of blocks compute gradients of weights. The tiles of a
//! pair are one below the other; its blocks take turns to load the rows of `a` for both by multicast, and so read a third less.
//!
//! # Floor
//!
//! That of one product of all rows, if experts have whole tiles of rows; a tile that is filled in part costs as much as
//! a whole one. With few rows, the bytes of the weights of all experts that have rows.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Activation, Half,
    activation::number_of,
    shape::{count, extent, require},
};

mod float8;
mod gathered;
mod listed;
mod pipelined;
mod ring;
mod specialized;
mod tiles;

pub use float8::Scaled;

/// Which rows are multiplied, and what is done with the sums before they are rounded.
///
/// Row `i` of the product, of an expert with weights `b`, is
/// `c[scatter[i]] = weights[i] · activation(scale · a[gather[i]] · bᵀ + bias)`. Offsets are positions `i`.
///
/// Without a bias and an activation, the derivative by the rows `a[gather[i]]` is a product with the view `b.permute([0, 2, 1])` that
/// gathers rows of the gradient by `scatter`, with the same scale and weights. That by the weights of experts is
/// [`backward_weight`](Grouped::backward_weight) of rows that have been brought in order.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a, T> {
    /// A factor of all sums.
    pub scale: f32,
    /// A number for each column of each expert: `[experts, n]`.
    pub bias: Option<&'a DeviceTensor<T, 2>>,
    /// A function of each number.
    pub activation: Option<Activation>,
    /// A factor of each row: what a router gives the expert of a token.
    pub weights: Option<&'a DeviceTensor<f32, 1>>,
    /// The rows of `a`: the token of each row. A number that is negative or not below the rows of `a` gives a row of zeros.
    pub gather: Option<&'a DeviceTensor<i32, 1>>,
    /// The rows of `c`. A row whose number is negative or not below the rows of `c` is not stored, and rows of `c` that no number names
    /// stay as they are. No number comes twice: rows are not added, and of two that go to one row each element may be that of either. So
    /// a token of several experts has a row for each of them, and the caller adds these.
    pub scatter: Option<&'a DeviceTensor<i32, 1>>,
}

impl<T> Default for Options<'_, T> {
    /// All rows in their order, and the sums as they are.
    fn default() -> Self {
        Options {
            scale: 1.0,
            bias: None,
            activation: None,
            weights: None,
            gather: None,
            scatter: None,
        }
    }
}

/// Multiplies the rows of experts.
///
/// # Offsets
///
/// Offsets are a number more than there are experts, and stay on the device. Nothing that they contain leads out of a tensor: those outside
/// are clamped to the rows that there are, and one that is less than any before it is taken for the largest before it. Rows before the
/// first offset and after the last one belong to no expert, and are not stored.
///
/// There may be more numbers, which are not read. Without TMA, and with lists, 16 bytes are copied at a time if the lengths of rows and of
/// a bias are multiples of 8.
#[derive(Debug)]
pub struct Grouped {
    hopper: bool,
    multiprocessors: usize,
    // Tensors without elements, for what is absent.
    no_weights: DeviceTensor<f32, 1>,
    no_list: DeviceTensor<i32, 1>,
}

impl Grouped {
    /// What the kernels are compiled for.
    pub const TARGETS: &[Target] = &[Target::Sm90a, Target::Sm80];

    /// What those of FP8 are compiled for: GPUs that multiply such numbers.
    pub const FLOAT8_TARGETS: &[Target] = &[Target::Sm90a, Target::Sm89];

    /// Products on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<Grouped> {
        Ok(Grouped {
            hopper: stream.device().runs(Target::Sm90a),
            multiprocessors: stream.device().properties().multiprocessors as usize,
            no_weights: stream.empty([0])?,
            no_list: stream.empty([0])?,
        })
    }

    /// The same with blocks for at most so many multiprocessors, at least one: the others are left to other streams.
    #[must_use]
    pub fn with_multiprocessors(self, most: usize) -> Grouped {
        Grouped { multiprocessors: self.multiprocessors.min(most).max(1), ..self }
    }

    /// `c[row] = a[row] · b[e]ᵀ` for the rows of each expert `e`: `a` has the shape `[rows, k]`, `b` `[experts, n, k]`, `offsets`
    /// `[experts + 1]` or longer and `c` `[rows, n]`.
    ///
    /// Weights that are stored as `[experts, k, n]` are the view `b.permute([0, 2, 1])`. Any strides are possible. Fast are those that TMA
    /// takes: matrices contiguous along `k`, or the weights along `n`, and `c` along `n`, with rows that begin at multiples of 16 bytes; so
    /// `k` and `n` of contiguous tensors are multiples of 8. Hopper computes others by the kernel of other GPUs.
    ///
    /// Extents may be 0: without `k` every sum is 0. NaN and infinities spread as the sums say, and not from one row to another.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, those of launches.
    pub fn product<T: Half>(
        &self,
        stream: &Stream,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 3>,
        offsets: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        self.product_with(stream, a, b, offsets, c, Options::default())
    }

    /// [`product`](Grouped::product) with [`Options`]. With a list `gather` the rows are as many as it has numbers, and `a` has any
    /// number of rows; with a list `scatter`, `c` has.
    ///
    /// # Errors
    /// [`Error::Shape`] for lists and weights of another length than there are rows; those of [`product`](Grouped::product).
    pub fn product_with<T: Half>(
        &self,
        stream: &Stream,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 3>,
        offsets: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<T, 2>,
        options: Options<'_, T>,
    ) -> Result<()> {
        let (a, b) = (a.tensor()?, b.tensor()?);
        let c_shape = c.tensor_mut()?.shape();
        let shape @ [_, _, n] = fit(a.shape(), b.shape(), offsets, c_shape, &options)?;
        if shape.contains(&0) || c_shape[0] == 0 {
            return Ok(());
        }

        // One matrix is contiguous along both of its axes if an extent is 1.
        let along_k = b.strides()[2] == 1 || b.strides()[1] != 1;
        let b = if along_k { b.view() } else { b.permute([0, 2, 1])? };
        let no_bias = stream.empty([0, 0])?;
        let job = Job {
            extents: Extents { multiprocessors: self.multiprocessors, shape },
            a: &a,
            b: &b,
            along_k,
            offsets,
            scale: options.scale,
            bias: options.bias.unwrap_or(&no_bias),
            activation: number_of(options.activation),
            weights: options.weights.unwrap_or(&self.no_weights),
        };
        let by_tma = self.hopper && fits(&b);
        if options.gather.is_some() || options.scatter.is_some() {
            let gather = options.gather.unwrap_or(&self.no_list);
            let scatter = options.scatter.unwrap_or(&self.no_list);
            if by_tma && !a.is_empty() {
                job.gathered(stream, gather, scatter, c)
            } else {
                job.listed(stream, gather, scatter, c)
            }
        } else if by_tma && fits(&a) && fits(&*c.tensor_mut()?) && n.is_multiple_of(8) {
            job.specialized(stream, c)
        } else {
            job.pipelined(stream, c)
        }
    }

    /// The derivative of [`product`](Grouped::product) by `a`: `da[row] = dc[row] · b[e]` for the rows of each expert `e`.
    ///
    /// `dc` has the shape `[rows, n]`, `b` `[experts, n, k]`, `offsets` `[experts + 1]` and `da` `[rows, k]`. Strides are those of
    /// [`product`](Grouped::product).
    ///
    /// # Errors
    /// Those of [`product`](Grouped::product).
    pub fn backward_input<T: Half>(
        &self,
        stream: &Stream,
        dc: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 3>,
        offsets: &DeviceTensor<i32, 1>,
        da: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let b = b.tensor()?;
        self.product(stream, dc, &b.permute([0, 2, 1])?, offsets, da)
    }

    /// The derivative of [`product`](Grouped::product) by `b`: `db[e] = dcᵀ · a` of the rows of each expert `e`, zeros for an expert
    /// without rows.
    ///
    /// `dc` has the shape `[rows, n]`, `a` `[rows, k]`, `offsets` `[experts + 1]` and `db` `[experts, n, k]`. Any strides are possible.
    /// Fast are those that TMA takes: all tensors contiguous along their last axis, with rows that begin at multiples of 16 bytes.
    ///
    /// # Errors
    /// Those of [`product`](Grouped::product).
    pub fn backward_weight<T: Half>(
        &self,
        stream: &Stream,
        dc: &impl TensorArgument<T, 2>,
        a: &impl TensorArgument<T, 2>,
        offsets: &DeviceTensor<i32, 1>,
        db: &mut impl TensorArgumentMut<T, 3>,
    ) -> Result<()> {
        let (dc, a) = (dc.tensor()?, a.tensor()?);
        let ([rows, n], [depth, k]) = (dc.shape(), a.shape());
        let [experts, _, _] = db.tensor_mut()?.shape();
        require("the derivative of a grouped product, of a", [rows, k], [depth, k])?;
        let operation = "the derivative of a grouped product, of db";
        require(operation, [experts, n, k], db.tensor_mut()?.shape())?;
        let operation = "the derivative of a grouped product, of offsets";
        require(operation, [offsets.len().max(experts + 1)], offsets.shape())?;
        if experts == 0 || n == 0 || k == 0 {
            return Ok(());
        }
        let tiles = |[height, width]: [i32; 2]| {
            experts * n.div_ceil(extent(height)) * k.div_ceil(extent(width))
        };
        let for_tma = {
            let db = db.tensor_mut()?;
            fits(&dc) && fits(&a) && fits(&db) && k.is_multiple_of(8)
        };
        if self.hopper && for_tma {
            // The wider tile reads less, if that does not leave multiprocessors idle.
            let width = if tiles([128, 256]) < self.multiprocessors { 128 } else { 256 };
            let blocks = count(tiles([128, width]).min(self.multiprocessors))?;
            // Pairs of blocks read `a` once, if each of them has a tile.
            let paired = width == 256 && n.div_ceil(128).is_multiple_of(2) && blocks > 1;
            let key = (Dtype::of::<T>(), width, if paired { 2 } else { 1 });
            let instance = specialized::kernels::gradient::find(|i| (i.T, i.BN, i.C) == key)?;
            let clusters = blocks / instance.C;
            instance
                .with(specialized::kernels::gradient::Args {
                    dc: &dc,
                    a: &a,
                    offsets,
                    db,
                    clusters,
                })
                .launch(stream)
        } else {
            let blocks = count(tiles([128, 128]).min(2 * self.multiprocessors))?;
            pipelined::kernels::gradient::Values { T: Dtype::of::<T>() }
                .find()?
                .with(pipelined::kernels::gradient::Args { dc: &dc, a: &a, offsets, db, blocks })
                .launch(stream)
        }
    }
}

/// The experts, rows and columns of a product, if its extents fit together.
fn fit<T>(
    [tokens, k]: [usize; 2],
    [experts, n, depth]: [usize; 3],
    offsets: &DeviceTensor<i32, 1>,
    c: [usize; 2],
    options: &Options<'_, T>,
) -> Result<[usize; 3]> {
    let rows = options.gather.map_or(tokens, DeviceTensor::len);
    require("a grouped product, of b", [experts, n, k], [experts, n, depth])?;
    require("a grouped product, of offsets", [offsets.len().max(experts + 1)], offsets.shape())?;
    let outputs = if options.scatter.is_some() { c[0] } else { rows };
    require("a grouped product, of c", [outputs, n], c)?;
    for list in [options.gather, options.scatter].into_iter().flatten() {
        require("a grouped product, of a list of rows", [rows], list.shape())?;
    }
    if let Some(bias) = options.bias {
        require("a grouped product, of the bias", [experts, n], bias.shape())?;
    }
    if let Some(weights) = options.weights {
        require("a grouped product, of the weights of rows", [rows], weights.shape())?;
    }
    Ok([experts, rows, n])
}

/// A product whose shapes fit together, as the kernels take it.
struct Job<'a, T: Half> {
    extents: Extents,
    a: &'a DeviceTensor<T, 2>,
    b: &'a TensorView<'a, T, 3>,
    along_k: bool,
    offsets: &'a DeviceTensor<i32, 1>,
    scale: f32,
    bias: &'a DeviceTensor<T, 2>,
    activation: i32,
    weights: &'a DeviceTensor<f32, 1>,
}

/// What tiles are chosen by.
#[derive(Clone, Copy)]
struct Extents {
    multiprocessors: usize,
    /// The experts, all rows, and the columns of the result.
    shape: [usize; 3],
}

impl Extents {
    /// The mean number of rows of an expert, by which tiles are chosen.
    fn mean(&self) -> usize {
        let [experts, rows, _] = self.shape;
        rows.div_ceil(experts)
    }

    /// The most tiles that rows may have, however they are distributed over experts.
    fn tiles(&self, height: i32, width: i32) -> usize {
        let [experts, rows, columns] = self.shape;
        (rows / extent(height) + experts).min(rows) * columns.div_ceil(extent(width))
    }

    /// The rows of a tile on Hopper, where the widest tiles have `width` columns.
    fn height(&self, width: i32) -> i32 {
        if self.mean() <= 16 {
            16
        } else if self.mean() <= 64 || self.tiles(128, width) < self.multiprocessors {
            64
        } else {
            128
        }
    }

    /// The number of persistent blocks for so many tiles, at most `each` for a multiprocessor.
    fn blocks(&self, tiles: usize, each: usize) -> Result<i32> {
        count(tiles.min(each * self.multiprocessors))
    }
}

impl<T: Half> Job<'_, T> {
    fn specialized(&self, stream: &Stream, c: &mut impl TensorArgumentMut<T, 2>) -> Result<()> {
        let height = self.extents.height(256);
        let key = (Dtype::of::<T>(), height, self.along_k);
        let instance = specialized::kernels::product::find(|i| (i.T, i.BM, i.ALONG_K) == key)?;
        let &Job { a, b, offsets, scale, bias, activation, weights, .. } = self;
        let blocks = self.extents.blocks(self.extents.tiles(instance.BM, instance.BN), 1)?;
        instance
            .with(specialized::kernels::product::Args {
                a,
                b,
                offsets,
                c,
                blocks,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }

    fn pipelined(&self, stream: &Stream, c: &mut impl TensorArgumentMut<T, 2>) -> Result<()> {
        let height = if self.extents.mean() <= 16 { 16 } else { 128 };
        let key = (Dtype::of::<T>(), height, self.along_k);
        let instance = pipelined::kernels::product::find(|i| (i.T, i.BM, i.ALONG_K) == key)?;
        let &Job { a, b, offsets, scale, bias, activation, weights, .. } = self;
        let blocks = self.extents.blocks(self.extents.tiles(instance.BM, instance.BN), 2)?;
        instance
            .with(pipelined::kernels::product::Args {
                a,
                b,
                offsets,
                c,
                blocks,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }

    fn gathered(
        &self,
        stream: &Stream,
        gather: &DeviceTensor<i32, 1>,
        scatter: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let [height, width] = if self.extents.mean() <= 16 {
            [16, 128]
        } else if 2 * self.extents.tiles(128, 256) < self.extents.multiprocessors {
            [128, 64]
        } else {
            [128, 256]
        };
        let key = (Dtype::of::<T>(), height, width, self.along_k);
        let instance = gathered::kernels::product::find(|i| (i.T, i.BM, i.BN, i.ALONG_K) == key)?;
        let &Job { a, b, offsets, scale, bias, activation, weights, .. } = self;
        let blocks = self.extents.blocks(self.extents.tiles(instance.BM, instance.BN), 1)?;
        instance
            .with(gathered::kernels::product::Args {
                a,
                b,
                offsets,
                c,
                gather,
                scatter,
                rows: count(self.extents.shape[1])?,
                blocks,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }

    fn listed(
        &self,
        stream: &Stream,
        gather: &DeviceTensor<i32, 1>,
        scatter: &DeviceTensor<i32, 1>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let &Job { a, b, offsets, scale, bias, activation, weights, .. } = self;
        listed::kernels::product::Values { T: Dtype::of::<T>(), ALONG_K: self.along_k }
            .find()?
            .with(listed::kernels::product::Args {
                a,
                b,
                offsets,
                c,
                gather,
                scatter,
                rows: count(self.extents.shape[1])?,
                blocks: self.extents.blocks(self.extents.tiles(64, 128), 2)?,
                scale,
                bias,
                activation,
                weights,
            })
            .launch(stream)
    }
}

/// Whether TMA takes a tensor: none without elements.
fn fits<T, const R: usize>(tensor: &DeviceTensor<T, R>) -> bool {
    let strides = tensor.strides();
    let begins = |stride: &usize| (stride * size_of::<T>()).is_multiple_of(16);
    let aligned = strides[..R - 1].iter().all(begins);
    !tensor.is_empty() && strides[R - 1] == 1 && aligned && tensor.address().is_multiple_of(16)
}

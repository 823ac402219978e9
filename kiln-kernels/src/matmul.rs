//! Products of matrices in bf16, f16, TF32 and FP8.
//!
//! [`Matmul::product`] computes `c = a · bᵀ`: `a` has `m` rows and `b` has `n` rows of `k` numbers, as the weights of a layer are stored
//! (`[out, in]`). Tensors of three axes are batches of matrices, whose tiles are computed as if they were of one product. Sums are
//! computed in f32 and rounded once.
//!
//! | operands | result | method, and the same with an [`Epilogue`] | contiguous along |
//! |---|---|---|---|
//! | bf16, f16 | the same | [`product`](Matmul::product) | either axis |
//! | f32, of which TF32 are multiplied | f32 | [`product_tf32`](Matmul::product_tf32) | either axis, fast along `k` |
//! | `e4m3` | bf16, f16 | [`product_float8`](Matmul::product_float8) | `k` |
//! | one of `e4m3`, one of `e5m2` | bf16 | [`product_float8`](Matmul::product_float8) | `k` |
//!
//! FP8 numbers with scales of rows or of blocks are multiplied by `QuantizedMatmul::float8`.
//!
//! # Idea
//!
//! A tile of the result is the product of some rows of the left operand and some of the right one, in steps along `k`. Three kernels
//! compute tiles:
//!
//! | cards | products | by |
//! |---|---|---|
//! | H100, H200 | matrices that TMA takes | `wgmma`, by [`Plan`] |
//! | B200, B300 | matrices that TMA takes, more than 16 rows of `c` | `tcgen05`, with accumulators in tensor memory |
//! | from Ampere on, of FP8 from `sm_89` on | all others | `mma.sync` |
//!
//! *Hopper.* `wgmma` takes 64 rows of its left operand for each warpgroup, but as few as 8 of its right one. So a product with few rows is
//! computed transposed, with the weights on the left: the time is that of reading the weights. If all tiles run at once and leave most
//! multiprocessors idle, the two or four blocks of a cluster share the steps of each tile, and pass their sums on in shared memory. Else blocks
//! are persistent, and if a last wave of tiles would leave most multiprocessors idle, they share the steps of those tiles evenly ("Stream-K"
//! by Osama et al., 2023).
//!
//! *Others.* If large tiles are enough for all multiprocessors, they read least: 128 by 128, and on Blackwell 256 by 256 for a pair of
//! blocks. Else there are smaller ones, of 64 by 64 (on Blackwell of 128 by 128), and of 16 by 64 for up to 16 rows. If these are few,
//! blocks share `k` in equal parts.
//!
//! Any other block that shares a tile stores its sums to scratch memory. The last block to do so adds up all parts in the order of their steps:
//! results are the same in every run.
//!
//! # Schedule
//!
//! *Hopper.* One warp loads both operands by TMA through a ring of buffers of 128-byte rows: of operands that are contiguous along `k`, a
//! step is 128 bytes of each row, whatever the type is. The tensor cores keep 14 bits of sums of FP8 products, so those of each step are
//! added in f32 while the next one's product is computed; that takes registers for two tiles, and such tiles are of 128 by 128 at most. [`Sums::Fast`]
//! leaves all sums to the tensor cores, in tiles of up to 128 by 256. Large results of f32 leave in parts of 32 columns through two buffers. One warpgroup for each 64 rows of the left
//! operand multiplies, with one product in flight while it waits for the next operands, and stores by TMA. In clusters of two or four,
//! blocks compute adjacent rows of tiles, and each loads a part of the right operand for all, by multicast copies. [`launch_dependents`] lets a next
//! kernel that waits for this one by [`grid_dependency_wait`] start while the last blocks finish.
//!
//! *Blackwell.* The same, but one warp starts the products of all steps without waiting for any, and a warpgroup reads the accumulator of
//! the tile before from tensor memory, some columns at a time, while the next tile is multiplied into the other one. The tensor cores of a
//! pair of blocks multiply together: each loads half of both operands.
//!
//! *Others.* Four warps copy asynchronously, two or three steps ahead of the products, and as many blocks as fit share a multiprocessor.
//! Products of `e5m2` and `e4m3` are computed in f16, which has the numbers of both.
//! Operands whose rows do not begin at multiples of 16 bytes are copied by single elements, which is several times slower. If only those
//! of `c` do not, tiles are of 64 by 64.
//!
//! # Floor
//!
//! The larger of `2 m n k` operations at the rate of the tensor cores and of the bytes of `a`, `b` and `c`, which are `2 (m k + n k + m
//! n)` in bf16, at the bandwidth of the memory. [`Plan`] has a model of the card that chooses tile, cluster, blocks and waves. Tiles of
//! 128 by 128 are bound by shared memory: at the full rate of the tensor cores two warpgroups would read 96 bytes a clock from it, and 64
//! would arrive, where it gives 128. Times beside cuBLASLt are in `benches/results/products.md` for
//! bf16 on Hopper, those of TF32 and FP8 in `families.md` beside it; the model takes these types by their bytes.

use std::collections::HashMap;

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Activation, Float8, Half, Operand, Real,
    activation::number_of,
    scratch::Scratch,
    shape::{count, require},
};

mod blackwell;
mod epilogue;
mod kernel;
mod plain;
mod plan;

use kernel::shared_steps::{of_nothing, product, split};
use plan::{Form, Instance};
pub use plan::{Model, Plan};

/// Along which axis the elements of an operand are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// Along `k`: each row is contiguous.
    K,
    /// Along its rows: it is stored as its transpose, `[k, rows]`.
    Rows,
}

/// How the tensor cores of Hopper add FP8 products along `k`.
///
/// They keep 14 bits of such sums: of each 32 products and the sum so far, everything is cut off that is less than 2⁻¹³ of the largest
/// of them. So an addition is off by 34 · 2⁻¹³ of the largest at most.
///
/// Other cards compute the same for both: by `mma.sync` the products of each 64 or 128 numbers of `e4m3` are added in f32 (`e5m2` by `e4m3` is
/// multiplied in f16 there), and on Blackwell the tensor cores add all of them. Products of other types have no choice either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sums {
    /// The products of each 128 numbers are added in f32. So errors do not grow with `k`, in proportion to the sum of magnitudes.
    #[default]
    Precise,
    /// All additions are left to the tensor cores, if that is faster: what CUTLASS and cuBLASLt call fast accumulation, and
    /// `PyTorch` `use_fast_accum`.
    ///
    /// Each further 32 products are cut to the 14 bits of the sum so far. So the relative error grows with `k`, and products that are less
    /// than 2⁻¹³ of the sum so far are lost. If signs are mixed, most cuts cancel out: results of normally distributed numbers are off by
    /// 0.2% for a `k` of 8192, about as much as by their rounding to bf16. They do not cancel out if all products have one sign: results of
    /// the absolute values of such numbers are 1.5% too small for a `k` of 1024, 7% for 4096, and 13% for 8192. Fast sums are usual in
    /// inference and in forward passes of training; gradients, and operands whose means are far from 0, take precise ones.
    ///
    /// The kernels with fast sums are those of two operands of `e4m3`, in large tiles. Small tiles, which wait for memory, and products of
    /// `e5m2` have precise sums all the same.
    Fast,
}

/// What is done with the sums of a product before they are rounded: `c = activation(scale · a · bᵀ + bias)`, and the old `c` is added to
/// that where it accumulates. How the sums are computed belongs to it, as far as there is a choice.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a, T> {
    /// A factor of all sums.
    pub scale: f32,
    /// A number for each column of `c`.
    pub bias: Option<&'a DeviceTensor<T, 1>>,
    /// A function of each number.
    pub activation: Option<Activation>,
    /// Whether `c` is added: a residual connection, or a sum of several products.
    pub accumulate: bool,
    /// How FP8 products are added along `k`; it means nothing for other types.
    #[doc(alias = "use_fast_accum")]
    pub sums: Sums,
}

impl<T> Default for Epilogue<'_, T> {
    /// The sums as they are.
    fn default() -> Self {
        Epilogue {
            scale: 1.0,
            bias: None,
            activation: None,
            accumulate: false,
            sums: Sums::Precise,
        }
    }
}

/// Which kernels a card has beside those that all cards run.
#[derive(Clone, Copy, Debug)]
enum Kernels {
    /// Those with `wgmma`.
    Hopper,
    /// Those with `tcgen05`.
    Blackwell,
    /// None.
    OfAll,
}

/// How many rows the smallest tile has.
const FEW_ROWS: usize = 16;

/// What a plan is chosen by: the types of operands and result, the extents, how the operands lie in memory, and the sums.
type Planned = ([Dtype; 3], [usize; 4], [Major; 2], Sums);

/// Multiplies matrices, and keeps scratch memory from one product to the next.
///
/// One `Matmul` serves any number of shapes and streams of its device. A product waits for the one before it, because they share the scratch
/// memory; products on two streams at once take a `Matmul` each. A product of the same extents has to have run before one is recorded in a
/// [`capture`](kiln::Device::capture), which cannot allocate.
#[derive(Debug)]
pub struct Matmul {
    kernels: Kernels,
    multiprocessors: usize,
    scratch: Scratch,
    /// The plans of products that have been computed.
    plans: HashMap<Planned, Option<Plan>>,
}

impl Matmul {
    /// What the kernels are compiled for.
    pub const TARGETS: &[Target] = &[Target::Sm80, Target::Sm90a, Target::Sm100f];

    /// What those of FP8 are compiled for: GPUs that multiply such numbers.
    pub const FLOAT8_TARGETS: &[Target] = &[Target::Sm89, Target::Sm90a, Target::Sm100f];

    /// Products on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<Matmul> {
        Matmul::on(stream, stream.device().properties().multiprocessors as usize)
    }

    /// Products for a part of the device's multiprocessors: the others have other work. Tiles, and shares of `k`, are chosen by their
    /// number.
    ///
    /// # Errors
    /// Those of the device.
    pub fn on(stream: &Stream, multiprocessors: usize) -> Result<Matmul> {
        let runs = |target| stream.device().runs(target);
        Ok(Matmul {
            kernels: if runs(Target::Sm90a) {
                Kernels::Hopper
            } else if runs(Target::Sm100f) {
                Kernels::Blackwell
            } else {
                Kernels::OfAll
            },
            multiprocessors,
            scratch: Scratch::new(stream)?,
            plans: HashMap::new(),
        })
    }

    /// `c = a · bᵀ` for `a` of shape `[m, k]`, `b` of shape `[n, k]` and `c` of shape `[m, n]`; or the products of a batch, `[batch, m, k]`,
    /// `[batch, n, k]` and `[batch, m, n]`.
    ///
    /// `a` and `b` are contiguous along one of their last two axes: the weights of a layer that are stored as `[in, out]` are the view
    /// `b.transpose()`. `c` may have any strides. Fast are the tensors that TMA takes: rows, or columns where those are contiguous, begin at
    /// multiples of 16 bytes, and those of `c` end there. Of contiguous tensors `k` and `n` are then multiples of 8. The matrices of a batch
    /// begin there as well.
    ///
    /// Extents may be 0: without `k` every sum is 0. NaN and infinities spread as the sums say.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for an operand that is contiguous along neither axis,
    /// those of allocations and launches.
    pub fn product<T: Half, const R: usize>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<T, R>,
        b: &impl TensorArgument<T, R>,
        c: &mut impl TensorArgumentMut<T, R>,
    ) -> Result<()> {
        self.product_with(stream, a, b, c, Epilogue::default())
    }

    /// [`product`](Matmul::product), and what an [`Epilogue`] does with the sums before they are rounded.
    ///
    /// # Errors
    /// [`Error::Shape`] for a bias of another length than `n`; those of [`product`](Matmul::product).
    pub fn product_with<T: Half, const R: usize>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<T, R>,
        b: &impl TensorArgument<T, R>,
        c: &mut impl TensorArgumentMut<T, R>,
        epilogue: Epilogue<'_, T>,
    ) -> Result<()> {
        let c = c.tensor_mut()?.into_view();
        self.any(stream, None, &*a.tensor()?, &*b.tensor()?, c, epilogue)
    }

    /// `c = a · bᵀ` of matrices of `f32`, by products of TF32: of the 23 bits of each fraction the tensor cores multiply ten. Sums are
    /// those of f32. Shapes and strides are those of [`product`](Matmul::product); rows of multiples of 4 numbers begin at multiples of 16
    /// bytes.
    ///
    /// The kernel of all cards rounds operands to the nearest number with ten bits, which is off by 2⁻¹¹ of a number at most. That with
    /// `wgmma`, for operands that TMA takes and that are contiguous along `k`, cuts the other bits off: by less than 2⁻¹⁰. A
    /// NaN without any of the ten bits becomes infinite then.
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::matmul::Matmul;
    ///
    /// let stream = Device::best_for(Matmul::TARGETS)?.stream()?;
    /// let (a, b) = (stream.full([2, 16], 0.5)?, stream.full([24, 16], 3.0)?);
    /// let mut c = stream.zeros::<f32, 2>([2, 24])?;
    /// Matmul::new(&stream)?.product_tf32(&stream, &a, &b, &mut c)?;
    /// assert!(c.to_vec(&stream)?.iter().all(|&x| x == 24.0));
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`product`](Matmul::product).
    pub fn product_tf32<const R: usize>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<f32, R>,
        b: &impl TensorArgument<f32, R>,
        c: &mut impl TensorArgumentMut<f32, R>,
    ) -> Result<()> {
        self.product_tf32_with(stream, a, b, c, Epilogue::default())
    }

    /// [`product_tf32`](Matmul::product_tf32), and what an [`Epilogue`] does with the sums.
    ///
    /// # Errors
    /// Those of [`product_with`](Matmul::product_with).
    pub fn product_tf32_with<const R: usize>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<f32, R>,
        b: &impl TensorArgument<f32, R>,
        c: &mut impl TensorArgumentMut<f32, R>,
        epilogue: Epilogue<'_, f32>,
    ) -> Result<()> {
        let c = c.tensor_mut()?.into_view();
        self.any(stream, None, &*a.tensor()?, &*b.tensor()?, c, epilogue)
    }

    /// `c = a · bᵀ` of matrices of FP8 numbers, and what an [`Epilogue`] does with the sums: the scales of both tensors are its factor.
    ///
    /// | `a` | `b` | `c` |
    /// |---|---|---|
    /// | [`e4m3`] | [`e4m3`] | [`bf16`], [`struct@f16`] |
    /// | [`e5m2`], as gradients are in training | [`e4m3`] | [`bf16`] |
    /// | [`e4m3`] | [`e5m2`] | [`bf16`] |
    ///
    /// `a` and `b` are contiguous along `k`, and `c` is as that of [`product`](Matmul::product); rows of multiples of 16 numbers begin at
    /// multiples of 16 bytes. [`Epilogue::sums`] says whether `wgmma` computes precise sums or fast ones.
    ///
    /// If rows or blocks of numbers have scales of their own, take `QuantizedMatmul::float8`. For one scale of each tensor this method has
    /// more tiles to choose from, batches, and an epilogue; the other one also runs on GPUs without FP8.
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::matmul::{Epilogue, Matmul};
    ///
    /// let stream = Device::best_for(Matmul::FLOAT8_TARGETS)?.stream()?;
    /// let a = stream.full([2, 32], e4m3::from_f32(1.5))?;
    /// let b = stream.full([24, 32], e4m3::from_f32(2.0))?;
    /// let mut c = stream.zeros::<bf16, 2>([2, 24])?;
    /// let scales = Epilogue { scale: 0.5, ..Epilogue::default() };
    /// Matmul::new(&stream)?.product_float8(&stream, &a, &b, &mut c, scales)?;
    /// assert!(c.to_vec(&stream)?.iter().all(|x| x.to_f32() == 48.0));
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TargetNotRunnable`] on a GPU without FP8, before `sm_89`, unless an extent is 0; [`Error::FactBroken`] for operands that
    /// are not contiguous along `k`; those of [`product_with`](Matmul::product_with).
    pub fn product_float8<A: Float8 + Operand<O, B>, B: Float8, O: Half, const R: usize>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<A, R>,
        b: &impl TensorArgument<B, R>,
        c: &mut impl TensorArgumentMut<O, R>,
        epilogue: Epilogue<'_, O>,
    ) -> Result<()> {
        let c = c.tensor_mut()?.into_view();
        self.any(stream, None, &*a.tensor()?, &*b.tensor()?, c, epilogue)
    }

    /// [`product`](Matmul::product) by a plan of the caller's choice, one of [`Plan::candidates`] for these extents. If columns of `c` are
    /// contiguous and not its rows, the plan is for `cᵀ`, the product of `b` and `a`. Plans are for Hopper, and matrices that TMA takes. A plan
    /// has precise sums or fast ones, whatever the epilogue says.
    ///
    /// # Errors
    /// [`Error::Shape`] for a plan that was made for other extents, [`Error::InstanceArgument`] for one that was made for other types,
    /// [`Error::TargetNotRunnable`] on another card than Hopper, [`Error::FactBroken`] for rows that do not begin at multiples of 16
    /// bytes; those of [`product`](Matmul::product).
    pub fn product_by<A: Operand<O, B>, B: Element, O: Real, const R: usize>(
        &mut self,
        stream: &Stream,
        plan: Plan,
        a: &impl TensorArgument<A, R>,
        b: &impl TensorArgument<B, R>,
        c: &mut impl TensorArgumentMut<O, R>,
        epilogue: Epilogue<'_, O>,
    ) -> Result<()> {
        let c = c.tensor_mut()?.into_view();
        self.any(stream, Some(plan), &*a.tensor()?, &*b.tensor()?, c, epilogue)
    }

    fn any<A: Element, B: Element, O: Real, const R: usize>(
        &mut self,
        stream: &Stream,
        plan: Option<Plan>,
        a: &DeviceTensor<A, R>,
        b: &DeviceTensor<B, R>,
        mut c: TensorViewMut<'_, O, R>,
        epilogue: Epilogue<'_, O>,
    ) -> Result<()> {
        fit(a, b, &c, &epilogue)?;
        let (shape, strides) = matrices(&c);
        let c = c.as_strided_mut(shape, strides)?;
        let job = Job::new(a, b, epilogue)?;
        if across(strides) {
            self.of_rows(stream, plan, job.transposed(), c.into_permute([0, 2, 1])?)
        } else {
            self.of_rows(stream, plan, job, c)
        }
    }

    /// A product whose result is contiguous along rows, as far as it is along any axis.
    fn of_rows<A: Element, B: Element, O: Real>(
        &mut self,
        stream: &Stream,
        plan: Option<Plan>,
        job: Job<'_, A, B, O>,
        c: TensorViewMut<'_, O, 3>,
    ) -> Result<()> {
        let (shape, majors, sums) = (job.shape, job.majors(), job.epilogue.sums);
        // Of types without 16 bits, the tensor cores of these cards take only operands that are contiguous along `k`.
        let for_tma = job.is_for_tma(&c) && (size_of::<A>() == 2 || majors == [Major::K; 2]);
        if plan.is_none() && !shape.contains(&0) {
            match self.kernels {
                Kernels::Hopper if for_tma => {}
                Kernels::Blackwell if for_tma && shape[1] > FEW_ROWS => {
                    return self.blackwell(stream, job, c);
                }
                Kernels::Hopper | Kernels::Blackwell | Kernels::OfAll => {
                    return self.plain(stream, job, c);
                }
            }
        }
        let multiprocessors = self.multiprocessors;
        let types = [Dtype::of::<A>(), Dtype::of::<B>(), Dtype::of::<O>()];
        let choose = || Plan::choose_of(types, shape, majors, sums, multiprocessors);
        let plan = match plan {
            Some(plan) if (plan.shape, plan.majors) != (shape, majors) => {
                let operation = "a plan for products [batch, m, n, k]";
                let (required, actual) = (plan.shape.to_vec(), shape.to_vec());
                return Err(Error::Shape { operation, required, actual });
            }
            Some(plan) => Some(plan),
            None => *self.plans.entry((types, shape, majors, sums)).or_insert_with(choose),
        };
        match plan {
            Some(plan) if plan.form.swap => self.launch(stream, plan, job.transposed(), c),
            Some(plan) => self.launch(stream, plan, job, c),
            None if shape[..3].contains(&0) => Ok(()),
            None if shape[3] == 0 => job.without_sums(stream, c),
            None => self.plain(stream, job, c),
        }
    }

    /// A product by an instance of its plan, whose left operand is that of the job.
    fn launch<L: Element, R: Element, O: Real>(
        &mut self,
        stream: &Stream,
        plan: Plan,
        job: Job<'_, L, R, O>,
        mut c: TensorViewMut<'_, O, 3>,
    ) -> Result<()> {
        let Job { a: left, b: right, epilogue, turned: bias_of_left, .. } = job;
        let none = stream.empty([0])?;
        let bias = epilogue.bias.unwrap_or(&none);
        let activation = number_of(epilogue.activation);
        let Epilogue { scale, accumulate, .. } = epilogue;
        match plan.instance {
            Instance::Shares(instance) => {
                // Only tiles that clusters share need scratch memory: each block has two places.
                let (clusters, blocks) = (plan.clusters, plan.clusters * plan.cluster());
                let tiles = plan.shared_tiles() * plan.cluster();
                let places = if tiles > 0 { 2 * blocks } else { 0 };
                let steps = plan.shared_steps();
                let Form { left: bl, right: br, .. } = plan.form;
                self.scratch.launch(stream, places * bl * br, tiles, |parts, arrived| {
                    instance
                        .with(product::Args {
                            left: &left.matrix,
                            right: &right.matrix,
                            c: &mut c,
                            parts: &mut parts.into_reshape([places * bl / 16, br / 8, 16, 8])?,
                            arrived,
                            clusters: count(clusters)?,
                            waves: count(plan.waves)?,
                            share: count(steps / clusters)?,
                            rest: count(steps % clusters)?,
                            scale,
                            bias,
                            bias_of_left,
                            activation,
                            accumulate,
                        })
                        .launch(stream)
                })
            }
            Instance::Split(instance) => {
                let [rows, columns] = plan.rows_and_columns();
                instance
                    .with(split::Args {
                        left: &left.matrix,
                        right: &right.matrix,
                        c: &mut c,
                        rows: count(rows)?,
                        columns: count(columns)?,
                        scale,
                        bias,
                        bias_of_left,
                        activation,
                        accumulate,
                    })
                    .launch(stream)
            }
        }
    }
}

/// The extents and strides of a matrix, or of a batch of them, as `[batch, rows, columns]`.
fn matrices<T, const R: usize>(tensor: &DeviceTensor<T, R>) -> ([usize; 3], [usize; 3]) {
    const { assert!(R == 2 || R == 3, "a product is of matrices, or of batches of them") };
    let (shape, strides) = (tensor.shape(), tensor.strides());
    let [rows, columns] = [shape[R - 2], shape[R - 1]];
    let [down, across] = [strides[R - 2], strides[R - 1]];
    if R == 3 {
        ([shape[0], rows, columns], [strides[0], down, across])
    } else {
        // Where a second matrix would begin.
        ([1, rows, columns], [(down * rows).max(across * columns), down, across])
    }
}

/// Whether the extents of a product fit together.
fn fit<A, B, O: Real, const R: usize>(
    a: &DeviceTensor<A, R>,
    b: &DeviceTensor<B, R>,
    c: &DeviceTensor<O, R>,
    epilogue: &Epilogue<'_, O>,
) -> Result<()> {
    let (mut of_b, mut of_c) = (a.shape(), a.shape());
    let n = b.shape()[R - 2];
    of_b[R - 2] = n;
    of_c[R - 1] = n;
    require("a product a · bᵀ, of b", of_b, b.shape())?;
    require("a product a · bᵀ, of c", of_c, c.shape())?;
    match epilogue.bias {
        Some(bias) => require("a product a · bᵀ, of the bias", [n], bias.shape()),
        None => Ok(()),
    }
}

/// Products as the kernel takes them: rows of `c` are contiguous.
struct Job<'a, A, B, O> {
    /// `[batch, m, n, k]`.
    shape: [usize; 4],
    a: Rows<'a, A>,
    b: Rows<'a, B>,
    epilogue: Epilogue<'a, O>,
    /// It is the transpose of what the caller asked for: the bias has a number for each row of `a`.
    turned: bool,
}

/// An operand, and how it lies in memory: `[batch, rows, k]`, or `[batch, k, rows]`.
struct Rows<'a, T> {
    matrix: TensorView<'a, T, 3>,
    major: Major,
}

impl<'a, T: Element> Rows<'a, T> {
    fn new<const R: usize>(operand: &'a DeviceTensor<T, R>) -> Result<Rows<'a, T>> {
        let (shape, strides) = matrices(operand);
        let matrix = operand.as_strided(shape, strides)?;
        // A launch says what is wrong with a matrix that is contiguous along neither axis, or with one of FP8 that is not along `k`: the
        // tensor cores multiply no others.
        Ok(if across(strides) && size_of::<T>() > 1 {
            Rows { matrix: matrix.permute([0, 2, 1])?, major: Major::Rows }
        } else {
            Rows { matrix, major: Major::K }
        })
    }
}

/// A bias as a column.
fn in_a_column<T>(bias: &DeviceTensor<T, 1>) -> Result<TensorView<'_, T, 2>> {
    let ([length], [stride]) = (bias.shape(), bias.strides());
    bias.as_strided([length, 1], [stride, 1])
}

/// Whether a matrix is contiguous along its columns, and not along its rows.
fn across([_, down, across]: [usize; 3]) -> bool {
    across != 1 && down == 1
}

/// Whether TMA takes a tensor: rows are contiguous, and begin at multiples of 16 bytes.
fn is_for_tma<T>(tensor: &DeviceTensor<T, 3>) -> bool {
    let (shape, strides) = (tensor.shape(), tensor.strides());
    let begins = |stride: usize| (stride * size_of::<T>()).is_multiple_of(16);
    let aligned = (0..2).all(|axis| shape[axis] == 1 || begins(strides[axis]));
    aligned && (strides[2] == 1 || shape[2] == 1) && tensor.address().is_multiple_of(16)
}

impl<'a, A: Element, B: Element, O: Real> Job<'a, A, B, O> {
    #[expect(clippy::many_single_char_names, reason = "the letters of a product")]
    fn new<const R: usize>(
        a: &'a DeviceTensor<A, R>,
        b: &'a DeviceTensor<B, R>,
        epilogue: Epilogue<'a, O>,
    ) -> Result<Job<'a, A, B, O>> {
        let (([batches, m, k], _), ([_, n, _], _)) = (matrices(a), matrices(b));
        let (a, b) = (Rows::new(a)?, Rows::new(b)?);
        Ok(Job { shape: [batches, m, n, k], a, b, epilogue, turned: false })
    }

    /// The product `b · aᵀ`, which is the transpose.
    fn transposed(self) -> Job<'a, B, A, O> {
        let Job { shape: [batches, m, n, k], a, b, epilogue, turned } = self;
        Job { shape: [batches, n, m, k], a: b, b: a, epilogue, turned: !turned }
    }

    fn majors(&self) -> [Major; 2] {
        [self.a.major, self.b.major]
    }

    /// Whether TMA loads the operands and stores the result.
    fn is_for_tma(&self, c: &DeviceTensor<O, 3>) -> bool {
        let operands = is_for_tma(&self.a.matrix) && is_for_tma(&self.b.matrix);
        // A store writes whole pieces of 16 bytes.
        operands && is_for_tma(c) && (c.shape()[2] * size_of::<O>()).is_multiple_of(16)
    }

    /// What is left of a product without `k`.
    fn without_sums(&self, stream: &Stream, mut c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let none = stream.empty([0])?;
        let Epilogue { bias, activation, accumulate, .. } = self.epilogue;
        let (bias, activation) = (bias.unwrap_or(&none), number_of(activation));
        of_nothing::Values { R: Dtype::of::<O>() }
            .find()?
            .with(of_nothing::Args {
                c: &mut c,
                bias,
                bias_of_left: self.turned,
                activation,
                accumulate,
            })
            .launch(stream)
    }
}

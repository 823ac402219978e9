//! Products of matrices in bf16 and f16.
//!
//! [`Matmul::product`] computes `c = a · bᵀ`: `a` has `m` rows and `b` has `n` rows of `k` numbers, as the weights of a layer are stored
//! (`[out, in]`). Sums are computed in f32 and rounded once.
//!
//! # Idea
//!
//! One kernel serves every shape. A tile of the result is the product of `BL` rows of the left operand and `BR` rows of the right one, in
//! steps of 64 elements along `k`. `wgmma` takes 64 rows of its left operand for each warpgroup, but as few as 8 of its right one. So a
//! product with few rows is computed transposed, with the weights on the left: the time is that of reading the weights.
//!
//! Blocks are persistent. If there are fewer tiles than multiprocessors, or if a last wave of tiles would leave most of them idle, they
//! share the steps of those tiles evenly ("Stream-K" by Osama et al., 2023). A block stores the sums of its part of a tile to scratch
//! memory. The last block to do so adds up all parts in the order of their steps: results are the same in every run.
//!
//! # Schedule
//!
//! One warp loads both operands by TMA through a ring of buffers of 128-byte rows. One warpgroup for each 64 rows of the left operand
//! multiplies, with one product in flight while it waits for the next operands, and stores by TMA. In clusters of two or four, blocks
//! compute adjacent rows of tiles, and one multicast copy loads the right operand for all. [`launch_dependents`] lets a
//! next kernel that waits for this one by [`grid_dependency_wait`] start while the last blocks finish.
//!
//! # Floor
//!
//! The larger of `2 m n k` operations at the rate of the tensor cores and of `2 (m k + n k + m n)` bytes at the bandwidth of the memory.
//! [`Plan`] has a model of the card that chooses tile, cluster, blocks and waves. Times beside cuBLASLt are in `benches/results/products.md`.

use std::collections::HashMap;

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Activation, Half,
    activation::number_of,
    shape::{extent, require},
};

mod kernel;
mod plan;

use kernel::shared_steps::{of_nothing, product};
pub use plan::{Model, Plan};

/// Along which axis the elements of an operand are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// Along `k`: each row is contiguous.
    K,
    /// Along its rows: it is stored as its transpose, `[k, rows]`.
    Rows,
}

/// What is done with the sums of a product before they are rounded: `c = activation(scale · a · bᵀ + bias)`, and the old `c` is added to
/// that where it accumulates.
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
}

impl<T> Default for Epilogue<'_, T> {
    /// The sums as they are.
    fn default() -> Self {
        Epilogue { scale: 1.0, bias: None, activation: None, accumulate: false }
    }
}

/// What a plan is chosen by: the element type, the extents, and how the operands lie in memory.
type Planned = (&'static str, [usize; 3], [Major; 2]);

/// Multiplies matrices, and keeps scratch memory from one product to the next.
///
/// One `Matmul` serves any number of shapes and streams of its device. A product waits for the one before it, because they share the scratch
/// memory; products on two streams at once take a `Matmul` each. A product of the same extents has to have run before one is recorded in a
/// [`capture`](kiln::Device::capture), which cannot allocate.
#[derive(Debug)]
pub struct Matmul {
    multiprocessors: usize,
    /// Sums of parts of tiles.
    parts: DeviceTensor<f32, 1>,
    /// How many parts of each tile have been stored: zero between products.
    arrived: DeviceTensor<i32, 1>,
    /// A launch has failed, which may have left counts.
    spoilt: bool,
    /// The plans of extents that have been multiplied, by the name of the element type.
    plans: HashMap<Planned, Option<Plan>>,
}

impl Matmul {
    /// What the kernels are compiled for.
    pub const TARGETS: &[Target] = product::TARGETS;

    /// Products on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<Matmul> {
        Ok(Matmul {
            multiprocessors: stream.device().properties().multiprocessors as usize,
            parts: stream.empty([0])?,
            arrived: stream.zeros([0])?,
            spoilt: false,
            plans: HashMap::new(),
        })
    }

    /// `c = a · bᵀ` for `a` of shape `[m, k]`, `b` of shape `[n, k]` and `c` of shape `[m, n]`.
    ///
    /// Each operand is contiguous along one of its axes: the weights of a layer that are stored as `[in, out]` are the view
    /// `b.transpose()`. Its rows, or its columns, begin at multiples of 16 bytes, as TMA asks for: of contiguous tensors `k` and `n` are
    /// multiples of 8. Rows of `c` are contiguous and begin there as well; `cᵀ` is the product of `b` and `a`.
    /// Extents may be 0: without `k` every sum is 0. NaN and infinities spread as the sums say.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for rows that do not begin at multiples of 16 bytes,
    /// those of allocations and launches.
    pub fn product<T: Half>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 2>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        self.product_with(stream, a, b, c, Epilogue::default())
    }

    /// [`product`](Matmul::product), and what an [`Epilogue`] does with the sums before they are rounded.
    ///
    /// # Errors
    /// [`Error::Shape`] for a bias of another length than `n`; those of [`product`](Matmul::product).
    pub fn product_with<T: Half>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 2>,
        c: &mut impl TensorArgumentMut<T, 2>,
        epilogue: Epilogue<'_, T>,
    ) -> Result<()> {
        let (a, b) = (a.tensor()?, b.tensor()?);
        let job = Job::new(&a, &b, c.tensor_mut()?.shape(), epilogue)?;
        let (shape, majors) = (job.shape, job.majors());
        let multiprocessors = self.multiprocessors;
        let choose = || Plan::choose::<T>(shape, majors, multiprocessors);
        match *self.plans.entry((T::DTYPE, shape, majors)).or_insert_with(choose) {
            Some(plan) => self.launch(stream, plan, job, c),
            None if shape[0] == 0 || shape[1] == 0 => Ok(()),
            None => job.without_sums(stream, c),
        }
    }

    /// [`product`](Matmul::product) by a plan of the caller's choice, one of [`Plan::candidates`] for these extents.
    ///
    /// # Errors
    /// [`Error::Shape`] for a plan that was made for other extents; those of [`product`](Matmul::product).
    pub fn product_by<T: Half>(
        &mut self,
        stream: &Stream,
        plan: Plan,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 2>,
        c: &mut impl TensorArgumentMut<T, 2>,
        epilogue: Epilogue<'_, T>,
    ) -> Result<()> {
        let (a, b) = (a.tensor()?, b.tensor()?);
        let job = Job::new(&a, &b, c.tensor_mut()?.shape(), epilogue)?;
        if (plan.shape, plan.majors) != (job.shape, job.majors()) {
            let operation = "a plan for a product [m, n, k]";
            let (required, actual) = (plan.shape.to_vec(), job.shape.to_vec());
            return Err(Error::Shape { operation, required, actual });
        }
        self.launch(stream, plan, job, c)
    }

    fn launch<T: Half>(
        &mut self,
        stream: &Stream,
        plan: Plan,
        job: Job<'_, T>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let Plan { instance, clusters, waves, .. } = plan;
        let [bl, br] = [instance.BL, instance.BR].map(extent);
        // Only tiles that clusters share need scratch memory: each block has two places.
        let tiles = plan.shared_tiles() * plan.cluster();
        let places = if tiles > 0 { 2 * clusters * plan.cluster() } else { 0 };
        if self.parts.len() < places * bl * br {
            self.parts = stream.empty([places * bl * br])?;
        }
        if self.arrived.len() < tiles || self.spoilt {
            self.arrived = stream.zeros([tiles])?;
            self.spoilt = false;
        }
        let mut parts = self.parts.slice_mut(0, 0..places * bl * br)?;
        let mut parts = parts.reshape_mut([places * bl / 16, br / 8, 2, 8, 8])?;
        let [clusters, waves] = [clusters, waves].map(|value| {
            i32::try_from(value)
                .expect("there are fewer waves than tiles, which the kernel counts in i32")
        });
        let Job { operands: [a, b], epilogue, .. } = job;
        let (left, right) = if instance.SWAP { (b, a) } else { (a, b) };
        let none = stream.empty([0])?;
        let launched = instance
            .with(product::Args {
                left: &left.matrix,
                right: &right.matrix,
                c,
                parts: &mut parts,
                arrived: &mut self.arrived,
                clusters,
                waves,
                scale: epilogue.scale,
                bias: epilogue.bias.unwrap_or(&none),
                bias_of_left: instance.SWAP,
                activation: number_of(epilogue.activation),
                accumulate: epilogue.accumulate,
            })
            .launch(stream);
        if launched.is_err() {
            // What was stopped may have counted parts that nobody will add.
            self.spoilt = true;
        }
        launched
    }
}

/// A product as the kernel takes it.
struct Job<'a, T: Half> {
    shape: [usize; 3],
    operands: [Rows<'a, T>; 2],
    epilogue: Epilogue<'a, T>,
}

/// An operand, and how it lies in memory: `[rows, k]`, or `[k, rows]`.
struct Rows<'a, T> {
    matrix: TensorView<'a, T, 2>,
    major: Major,
}

impl<'a, T: Half> Rows<'a, T> {
    fn new(operand: &'a DeviceTensor<T, 2>) -> Rows<'a, T> {
        match operand.strides() {
            // A launch says what is wrong with a matrix that is contiguous along neither axis.
            [along_rows, along_k] if along_k != 1 && along_rows == 1 => {
                Rows { matrix: operand.transpose(), major: Major::Rows }
            }
            _ => Rows { matrix: operand.view(), major: Major::K },
        }
    }
}

impl<'a, T: Half> Job<'a, T> {
    #[expect(clippy::many_single_char_names, reason = "the letters of a product")]
    fn new(
        a: &'a DeviceTensor<T, 2>,
        b: &'a DeviceTensor<T, 2>,
        c: [usize; 2],
        epilogue: Epilogue<'a, T>,
    ) -> Result<Job<'a, T>> {
        let ([m, k], [n, depth]) = (a.shape(), b.shape());
        require("a product a · bᵀ, of b", [n, k], [n, depth])?;
        require("a product a · bᵀ, of c", [m, n], c)?;
        if let Some(bias) = epilogue.bias {
            require("a product a · bᵀ, of the bias", [n], bias.shape())?;
        }
        Ok(Job { shape: [m, n, k], operands: [Rows::new(a), Rows::new(b)], epilogue })
    }

    fn majors(&self) -> [Major; 2] {
        [self.operands[0].major, self.operands[1].major]
    }

    /// What is left of a product without `k`.
    fn without_sums(&self, stream: &Stream, c: &mut impl TensorArgumentMut<T, 2>) -> Result<()> {
        let none = stream.empty([0])?;
        let Epilogue { bias, activation, accumulate, .. } = self.epilogue;
        let (bias, activation) = (bias.unwrap_or(&none), number_of(activation));
        of_nothing::Values { R: Dtype::of::<T>() }
            .find()?
            .with(of_nothing::Args { c, bias, bias_of_left: false, activation, accumulate })
            .launch(stream)
    }
}

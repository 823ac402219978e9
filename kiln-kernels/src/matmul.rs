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
//! Blocks are persistent. If there are fewer tiles than multiprocessors, or if a last wave of tiles would leave most of them idle, single
//! blocks share the steps of those tiles evenly ("Stream-K" by Osama et al., 2023). A block stores the sums of its part of a tile to scratch
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

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::Real;

mod kernel;
mod plan;

use kernel::shared_steps::product;
pub use plan::Plan;

/// An element type of operands and of results: [`bf16`] and [`struct@f16`].
pub trait Operand: Real {}

impl Operand for bf16 {}
impl Operand for f16 {}

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
        })
    }

    /// `c = a · bᵀ` for `a` of shape `[m, k]`, `b` of shape `[n, k]` and `c` of shape `[m, n]`.
    ///
    /// Rows are contiguous and begin at multiples of 16 bytes, as TMA asks for: `k` and `n` of contiguous tensors are multiples of 8. Extents
    /// may be 0: without `k` every sum is 0. NaN and infinities
    /// spread as the sums say.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, [`Error::FactBroken`] for rows that do not begin at multiples of 16 bytes,
    /// those of allocations and launches.
    pub fn product<T: Operand>(
        &mut self,
        stream: &Stream,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 2>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let shape = extents(a, b, c)?;
        match Plan::choose::<T>(shape, self.multiprocessors) {
            Some(plan) => self.launch(stream, plan, a, b, c),
            None if shape[0] == 0 || shape[1] == 0 => Ok(()),
            None => empty_sums::Values { T: Dtype::of::<T>() }
                .find()?
                .with(empty_sums::Args { c })
                .launch(stream),
        }
    }

    /// [`product`](Matmul::product) by a plan of the caller's choice, one of [`Plan::candidates`] for these extents.
    ///
    /// # Errors
    /// [`Error::Shape`] for a plan that was made for other extents; those of [`product`](Matmul::product).
    pub fn product_by<T: Operand>(
        &mut self,
        stream: &Stream,
        plan: Plan,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 2>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let shape = extents(a, b, c)?;
        if plan.shape != shape {
            let operation = "a plan for a product [m, n, k]";
            let (required, actual) = (plan.shape.to_vec(), shape.to_vec());
            return Err(Error::Shape { operation, required, actual });
        }
        self.launch(stream, plan, a, b, c)
    }

    fn launch<T: Operand>(
        &mut self,
        stream: &Stream,
        plan: Plan,
        a: &impl TensorArgument<T, 2>,
        b: &impl TensorArgument<T, 2>,
        c: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let Plan { instance, clusters, waves, .. } = plan;
        let [bl, br] = [instance.BL, instance.BR].map(plan::count);
        // Only tiles that blocks share need scratch memory: each block has two places.
        let tiles = plan.shared_tiles();
        let places = if tiles > 0 { 2 * clusters } else { 0 };
        if self.parts.len() < places * bl * br {
            self.parts = stream.empty([places * bl * br])?;
        }
        if self.arrived.len() < tiles || self.spoilt {
            self.arrived = stream.zeros([tiles])?;
            self.spoilt = false;
        }
        let mut parts = self.parts.slice_mut(0, 0..places * bl * br)?;
        let mut parts = parts.reshape_mut([places * bl / 16, br / 8, 2, 8, 8])?;
        let (parts, arrived) = (&mut parts, &mut self.arrived);
        let [clusters, waves] = [clusters, waves].map(|value| {
            i32::try_from(value)
                .expect("there are fewer waves than tiles, which the kernel counts in i32")
        });
        let launched = if instance.SWAP {
            let args = product::Args { left: b, right: a, c, parts, arrived, clusters, waves };
            instance.with(args).launch(stream)
        } else {
            let args = product::Args { left: a, right: b, c, parts, arrived, clusters, waves };
            instance.with(args).launch(stream)
        };
        if launched.is_err() {
            // What was stopped may have counted parts that nobody will add.
            self.spoilt = true;
        }
        launched
    }
}

/// `m`, `n` and `k`.
#[expect(clippy::many_single_char_names, reason = "the letters of a product")]
fn extents<T: Operand>(
    a: &impl TensorArgument<T, 2>,
    b: &impl TensorArgument<T, 2>,
    c: &mut impl TensorArgumentMut<T, 2>,
) -> Result<[usize; 3]> {
    let ([m, k], [n, depth]) = (a.tensor()?.shape(), b.tensor()?.shape());
    let differ = |operation, required: [usize; 2], actual: [usize; 2]| {
        let (required, actual) = (required.to_vec(), actual.to_vec());
        Err(Error::Shape { operation, required, actual })
    };
    let actual = c.tensor_mut()?.shape();
    match [m, n] {
        _ if depth != k => differ("a product a · bᵀ, of b", [n, k], [n, depth]),
        required if required != actual => differ("a product a · bᵀ, of c", required, actual),
        _ => Ok([m, n, k]),
    }
}

/// Zeros: a product without `k`.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 16), cdiv(c.dim(1), 128)], instances(T = [bf16, f16]))]
fn empty_sums<T: Float>(c: TensorMut<T, 2>) {
    c.tile([block_id(0) * 16, block_id(1) * 128], [16, 128]).store(zeros([16, 128]));
}

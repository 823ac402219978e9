//! The gradients of norms.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{
    gradient::{add_parts, add_parts_early, gradients, wide_gradients, wide_sums},
    resident::spread_gradients,
};
use crate::{
    Real,
    rows::{has_clusters, has_shared, holds, require_narrow},
    scratch::{grow, shaped},
    shape::{extent, require},
};

/// Computes gradients of norms, and keeps scratch memory from one to the next.
///
/// One `NormGradients` serves any number of shapes and streams of its device. Gradients wait for those before, because they share the
/// scratch memory. Gradients of the same extents have to have run before they are recorded in a [`capture`](kiln::Device::capture), which
/// cannot allocate.
#[derive(Debug)]
pub struct NormGradients {
    multiprocessors: usize,
    /// What blocks have added up of the gradients of weight and bias.
    parts: DeviceTensor<f32, 1>,
    /// Mean and scale of wide rows.
    scales: DeviceTensor<f32, 1>,
}

/// How many warps of a multiprocessor add rows at once, with about 100 registers a thread.
const WARPS: usize = 16;

/// So many parts are few: a block adds them in more columns.
const FEW: usize = 16;

impl NormGradients {
    /// Gradients on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<NormGradients> {
        Ok(NormGradients {
            multiprocessors: stream.device().properties().multiprocessors as usize,
            parts: stream.empty([0])?,
            scales: stream.empty([0])?,
        })
    }

    /// The gradients of [`rms_norm`](super::rms_norm) from that of its result, `dy`.
    ///
    /// `x` is what was normalised: the stored sum, for [`add_rms_norm`](super::add_rms_norm). If that is used elsewhere too, `dsum` is the
    /// gradient from there, and is added to `dx`, which is the gradient of both terms of the sum. The gradient of the weight is a sum over
    /// all rows, in f32 and always in the same order.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together; those of allocations and launches.
    #[expect(clippy::too_many_arguments, reason = "what a gradient depends on, and the gradients")]
    pub fn rms_norm<T: Real>(
        &mut self,
        stream: &Stream,
        x: &impl TensorArgument<T, 2>,
        weight: &impl TensorArgument<T, 1>,
        eps: f32,
        dy: &impl TensorArgument<T, 2>,
        dsum: Option<&dyn TensorArgument<T, 2>>,
        dx: &mut impl TensorArgumentMut<T, 2>,
        dweight: &mut impl TensorArgumentMut<T, 1>,
    ) -> Result<()> {
        let operation = "NormGradients::rms_norm";
        Backward { operation, centred: false, x, weight, eps, dy, dsum }
            .launch(self, stream, dx, dweight, None)
    }

    /// The gradients of [`layer_norm`](super::layer_norm) from that of its result, `dy`: as for [`rms_norm`](NormGradients::rms_norm), and
    /// that of the bias.
    ///
    /// # Errors
    /// Those of [`rms_norm`](NormGradients::rms_norm).
    #[expect(clippy::too_many_arguments, reason = "what a gradient depends on, and the gradients")]
    pub fn layer_norm<T: Real>(
        &mut self,
        stream: &Stream,
        x: &impl TensorArgument<T, 2>,
        weight: &impl TensorArgument<T, 1>,
        eps: f32,
        dy: &impl TensorArgument<T, 2>,
        dsum: Option<&dyn TensorArgument<T, 2>>,
        dx: &mut impl TensorArgumentMut<T, 2>,
        dweight: &mut impl TensorArgumentMut<T, 1>,
        dbias: Option<&mut dyn TensorArgumentMut<T, 1>>,
    ) -> Result<()> {
        let operation = "NormGradients::layer_norm";
        Backward { operation, centred: true, x, weight, eps, dy, dsum }
            .launch(self, stream, dx, dweight, dbias)
    }
}

/// What the gradients of a norm depend on.
struct Backward<'a, T, X, W, D> {
    operation: &'static str,
    centred: bool,
    x: &'a X,
    weight: &'a W,
    eps: f32,
    dy: &'a D,
    dsum: Option<&'a dyn TensorArgument<T, 2>>,
}

impl<T, X, W, D> Backward<'_, T, X, W, D>
where
    T: Real,
    X: TensorArgument<T, 2>,
    W: TensorArgument<T, 1>,
    D: TensorArgument<T, 2>,
{
    fn launch(
        self,
        scratch: &mut NormGradients,
        stream: &Stream,
        dx: &mut impl TensorArgumentMut<T, 2>,
        dweight: &mut impl TensorArgumentMut<T, 1>,
        mut dbias: Option<&mut dyn TensorArgumentMut<T, 1>>,
    ) -> Result<()> {
        let Backward { operation, centred, x, weight, eps, dy, dsum } = self;
        let shape = x.tensor()?.shape();
        let [rows, columns] = shape;
        require_narrow(operation, shape)?;
        require(operation, [columns], weight.tensor()?.shape())?;
        for matrix in [Some(dy as &dyn TensorArgument<T, 2>), dsum].into_iter().flatten() {
            require(operation, shape, matrix.tensor()?.shape())?;
        }
        require(operation, shape, dx.tensor_mut()?.shape())?;
        require(operation, [columns], dweight.tensor_mut()?.shape())?;
        if let Some(dbias) = &mut dbias {
            require(operation, [columns], dbias.tensor_mut()?.shape())?;
        }
        if columns == 0 {
            return Ok(());
        }
        let ty = Dtype::of::<T>();
        let kinds = if centred { 2 } else { 1 };
        let mut instances = gradients::instances().filter(|i| {
            let elements = 2 * i.STAGES * i.R * i.N;
            i.T == ty && i.CENTRED == centred && has_shared::<T>(stream, elements)
        });
        let narrow = instances.find(|i| holds(i.N, shape));
        let wide = wide_sums::find(|i| i.T == ty && i.CENTRED == centred)?;
        let mut spread = spread_gradients::instances()
            .filter(|i| i.T == ty && i.CENTRED == centred && has_clusters(stream));
        let spread = spread.find(|i| holds(i.N * i.P * i.C, shape));
        let nothing = stream.empty([0, 0])?;
        // Any number of parts does to ask how many blocks run at once.
        let blocks = if let Some(instance) = narrow {
            let mut parts = parts_of(stream, &mut scratch.parts, [1, kinds, columns])?;
            let resources = instance
                .with(gradients::Args { x, weight, dy, dsum, eps, dx, parts: &mut parts })
                .resources(stream.device())?;
            evenly(rows.div_ceil(extent(instance.R)), resources.resident_blocks as usize)
        } else if let Some(instance) = spread {
            let mut parts = parts_of(stream, &mut scratch.parts, [1, kinds, columns])?;
            let dsum = dsum.unwrap_or(&nothing);
            let resources = instance
                .with(spread_gradients::Args { x, weight, dy, dsum, eps, dx, parts: &mut parts })
                .resources(stream.device())?;
            evenly(rows, resources.resident_blocks as usize / extent(instance.C))
        } else {
            let resident = scratch.multiprocessors * WARPS / extent(wide.W);
            let shares = resident.div_ceil(columns.div_ceil(extent(wide.N)));
            rows.div_ceil(extent(wide.R)).min(shares)
        };
        let mut parts = parts_of(stream, &mut scratch.parts, [blocks, kinds, columns])?;
        if rows > 0 {
            let parts = &mut parts;
            if let Some(instance) = narrow {
                instance
                    .with(gradients::Args { x, weight, dy, dsum, eps, dx, parts })
                    .launch(stream)?;
            } else if let Some(instance) = spread {
                let dsum = dsum.unwrap_or(&nothing);
                instance
                    .with(spread_gradients::Args { x, weight, dy, dsum, eps, dx, parts })
                    .launch(stream)?;
            } else {
                let mut scales = shaped(stream, &mut scratch.scales, [rows, 2])?;
                wide_gradients::find(|i| i.T == ty && i.CENTRED == centred)?
                    .with(wide_gradients::Args {
                        x,
                        weight,
                        dy,
                        dsum,
                        eps,
                        dx,
                        scales: &mut scales,
                    })
                    .launch(stream)?;
                wide.with(wide_sums::Args { x, dy, scales: &scales, parts }).launch(stream)?;
            }
        }
        // A shorter borrow, for the launch.
        let dbias = dbias.map(|dbias| dbias as _);
        let (parts, few) = (&parts, blocks <= FEW);
        if has_clusters(stream) {
            add_parts_early::find(|i| i.T == ty && (extent(i.R) == FEW) == few)?
                .with(add_parts_early::Args { parts, dweight, dbias })
                .launch(stream)
        } else {
            add_parts::find(|i| i.T == ty && (extent(i.R) == FEW) == few)?
                .with(add_parts::Args { parts, dweight, dbias })
                .launch(stream)
        }
    }
}

/// Into how many shares tiles are divided among blocks of which so many run at once: fewer if the largest share stays the same, so that few
/// blocks do not have one more tile than the others, which memory waits for.
fn evenly(tiles: usize, at_once: usize) -> usize {
    tiles.div_ceil(tiles.div_ceil(at_once.max(1)).max(1))
}

/// Scratch memory for the parts of blocks. Each begins at a multiple of 16 bytes.
fn parts_of<'a>(
    stream: &Stream,
    scratch: &'a mut DeviceTensor<f32, 1>,
    [blocks, kinds, columns]: [usize; 3],
) -> Result<TensorViewMut<'a, f32, 3>> {
    let pitch = columns.next_multiple_of(4);
    grow(stream, scratch, blocks * kinds * pitch)?;
    scratch.as_strided_mut([blocks, kinds, columns], [kinds * pitch, pitch, 1])
}

//! Launches: kernels onto streams, alone or in clusters.

use super::{Queue, check, function::Function};
use crate::{
    DriverError, Error, Grid, Image, Result, Variant, back_end::Order, grid::persistent_blocks,
    launch::Blocks,
};
use cudarc::driver::sys::{
    self, CUlaunchAttribute, CUlaunchAttributeID as Id, CUlaunchAttributeValue,
    CUlaunchAttributeValue_union__bindgen_ty_1 as ClusterDim, CUlaunchConfig,
};
use std::{
    ffi::c_void,
    ptr::{from_mut, null_mut},
};

/// Pointers to entry parameters that a launch keeps on the stack; kernels with more take a `Vec`.
const INLINE_POINTERS: usize = 64;

impl Queue {
    pub(crate) fn launch(&self, order: &mut Order<'_>) -> Result<()> {
        self.require_usable()?;
        let _bound = self.bind()?;
        let function = self.gpu.function(order.image, order.variant)?;
        let grid = match order.grid {
            Grid::Blocks(blocks) => blocks.map(i32::cast_unsigned),
            Grid::Persistent { at_most } => {
                let [cluster, _, _] = order.image.cluster;
                [persistent_blocks(at_most, function.resources.resident_blocks, cluster), 1, 1]
            }
        };
        order.require_room(grid, function.resources.resident_blocks, || self.gpu.label())?;
        let mut inline = [null_mut(); INLINE_POINTERS];
        let mut allocated = Vec::new();
        let count = order.values.len() + order.maps.len();
        let pointers: &mut [*mut c_void] = if let Some(pointers) = inline.get_mut(..count) {
            pointers
        } else {
            allocated.resize(count, null_mut());
            &mut allocated
        };
        let (plain, behind) = pointers.split_at_mut(order.values.len());
        for (pointer, value) in plain.iter_mut().zip(order.values.iter_mut()) {
            // The driver reads as many bytes as the entry parameter has; on a little-endian host the
            // narrower ones are at the start of the value.
            *pointer = from_mut(value).cast();
        }
        for (pointer, map) in behind.iter_mut().zip(order.maps.iter_mut()) {
            *pointer = from_mut(map).cast();
        }
        let plain = !needs_attributes(order.image) && order.blocks == Blocks::Independent;
        let launched = if plain {
            self.launch_plain(order, &function, grid, pointers)
        } else {
            self.launch_with_attributes(order, &function, grid, pointers)
        };
        launched.map_err(|cause| self.launch_error(order, cause))
    }

    fn launch_plain(
        &self,
        order: &Order<'_>,
        function: &Function,
        [x, y, z]: [u32; 3],
        pointers: &mut [*mut c_void],
    ) -> Result<(), DriverError> {
        // SAFETY: the function is loaded in the current context, and the stream is of that context. There
        // is a pointer for each entry parameter, since the compiler wrote PTX and parameter list from one
        // signature and the launch has matched the arguments against it; each points to 8 live bytes, and
        // no parameter is wider, or to the 128 of a tensor map.
        let answer = unsafe {
            sys::cuLaunchKernel(
                function.handle,
                x,
                y,
                z,
                order.image.threads,
                1,
                1,
                order.variant.dynamic_shared_bytes,
                self.stream,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        check("cuLaunchKernel", answer)
    }

    fn launch_with_attributes(
        &self,
        order: &Order<'_>,
        function: &Function,
        grid: [u32; 3],
        pointers: &mut [*mut c_void],
    ) -> Result<(), DriverError> {
        let wanted = [
            is_clustered(order.image).then(|| cluster_attribute(order.image.cluster)),
            order.image.programmatic.then_some(PROGRAMMATIC),
            (order.blocks == Blocks::Cooperative).then_some(COOPERATIVE),
        ];
        let mut attributes = [PROGRAMMATIC; 3];
        let mut count = 0;
        for attribute in wanted.into_iter().flatten() {
            attributes[count] = attribute;
            count += 1;
        }
        let attributes = &mut attributes[..count];
        let config = config(order.image, order.variant, grid, self.stream, attributes);
        // SAFETY: as above; the attributes outlive the call, and each has the value that its number stands for. The driver has the
        // function, since it has read PTX of Hopper (`Function::load`).
        let answer = unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                function.handle,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        check("cuLaunchKernelEx", answer)
    }

    /// Distinguishes a refused launch from a failure of earlier work.
    fn launch_error(&self, order: &Order<'_>, cause: DriverError) -> Error {
        if cause.is_fatal() {
            return self.gpu.failed(cause);
        }
        let kernel = order.image.kernel;
        Error::LaunchRefused { kernel, device: self.gpu.label(), cause: Box::new(cause) }
    }
}

/// Whether a launch needs more than the arguments of `cuLaunchKernel`.
pub(super) fn needs_attributes(image: &Image) -> bool {
    is_clustered(image) || image.programmatic
}

pub(super) fn is_clustered(image: &Image) -> bool {
    image.cluster != [1; 3]
}

/// The blocks of a cluster. If the PTX has them too (`.reqnctapercluster`), they are the same: `Function::load`
/// compares.
pub(super) fn cluster_attribute([x, y, z]: [u32; 3]) -> CUlaunchAttribute {
    CUlaunchAttribute {
        id: Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: CUlaunchAttributeValue { clusterDim: ClusterDim { x, y, z } },
    }
}

/// The kernel may start when all blocks of the previous one have ended or allowed it
/// (`griddepcontrol.launch_dependents`).
const PROGRAMMATIC: CUlaunchAttribute = CUlaunchAttribute {
    id: Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    pad: [0; 4],
    value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
};

/// All blocks run at the same time.
const COOPERATIVE: CUlaunchAttribute = CUlaunchAttribute {
    id: Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    pad: [0; 4],
    value: CUlaunchAttributeValue { cooperative: 1 },
};

/// The configuration for `cuLaunchKernelEx` and for occupancy queries. The attributes are borrowed by address.
pub(super) fn config(
    image: &Image,
    variant: &Variant,
    [x, y, z]: [u32; 3],
    stream: sys::CUstream,
    attributes: &mut [CUlaunchAttribute],
) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: x,
        gridDimY: y,
        gridDimZ: z,
        blockDimX: image.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: variant.dynamic_shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: u32::try_from(attributes.len()).unwrap_or(0),
    }
}

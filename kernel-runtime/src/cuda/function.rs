//! Loading kernels: from PTX text to something that can be launched on one GPU.

use super::{
    Gpu, check,
    launch::{cluster_attribute, config, is_clustered, needs_attributes},
    text_before_nul,
};
use crate::grid::with_tensor_memory;
use crate::{DriverError, DriverVersion, Error, Image, Resources, Result, Variant};
use cudarc::driver::sys::{self, CUfunction_attribute as A};
use std::{
    ffi::{CString, c_void},
    ptr::{null_mut, without_provenance_mut},
};

/// A loaded kernel. Its module stays loaded for the life of the process, as its device does.
pub(super) struct Function {
    pub(super) handle: sys::CUfunction,
    pub(super) resources: Resources,
}

// SAFETY: a function handle is an opaque pointer that the driver lets any thread launch.
unsafe impl Send for Function {}
// SAFETY: as above; the driver synchronises concurrent calls itself.
unsafe impl Sync for Function {}

/// Room for each log of the driver's PTX compiler, in bytes.
const LOG_BYTES: usize = 16 * 1024;

impl Function {
    /// Compiles and loads a variant's PTX. The GPU's context is current.
    pub(super) fn load(
        gpu: &Gpu,
        image: &'static Image,
        variant: &'static Variant,
    ) -> Result<Self> {
        let Image { kernel, threads, .. } = *image;
        check_launchable(gpu, image)?;
        let module = if let Some(module) = load_cubin(gpu, variant) {
            module
        } else {
            check_version(gpu, image, variant)?;
            load_module(gpu, image, variant)?
        };
        let refused = |cause| load_error(gpu, image, variant, &cause, "");
        let handle = function_of(module, variant).map_err(refused)?;

        let attribute = |attribute| attribute_of(handle, attribute).map_err(refused);
        let fixed = attribute(A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let required = u64::from(fixed) + u64::from(variant.dynamic_shared_bytes);
        let actual = u64::from(gpu.properties.shared_bytes_per_block);
        if required > actual {
            return Err(Error::SharedMemory { kernel, device: gpu.label(), required, actual });
        }
        let actual = attribute(A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if threads > actual {
            return Err(Error::BlockTooLarge {
                kernel,
                device: gpu.label(),
                required: threads,
                actual,
            });
        }
        let set = |attribute, value| set_attribute(handle, attribute, value).map_err(refused);
        set(A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, variant.dynamic_shared_bytes)?;
        if gpu.properties.compute_capability.0 >= 9 {
            check_cluster(gpu, image, variant, handle)?;
        }
        let resident_blocks = if is_clustered(image) {
            if blocks_of_a_cluster(image) > PORTABLE_CLUSTER_BLOCKS {
                set(A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
            }
            resident_in_clusters(gpu, image, variant, handle)?
        } else {
            let per_multiprocessor =
                resident(handle, threads, variant.dynamic_shared_bytes).map_err(refused)?;
            // A kernel that does not fit at all is refused by its launch, with the driver's reason.
            (per_multiprocessor * gpu.properties.multiprocessors).max(1)
        };
        let multiprocessors = gpu.properties.multiprocessors;
        let resident_blocks =
            with_tensor_memory(resident_blocks, multiprocessors, variant.tensor_columns);
        let resources = Resources {
            registers: Some(attribute(A::CU_FUNC_ATTRIBUTE_NUM_REGS)?),
            local_bytes: Some(attribute(A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?),
            shared_bytes: fixed + variant.dynamic_shared_bytes,
            threads,
            blocks_per_multiprocessor: resident_blocks / multiprocessors.max(1),
            resident_blocks,
        };
        Ok(Self { handle, resources })
    }
}

/// Clusters of more blocks are refused unless the kernel allows them (CUDA C++ Programming Guide, "Thread Block Clusters").
const PORTABLE_CLUSTER_BLOCKS: u32 = 8;

fn blocks_of_a_cluster(image: &Image) -> u32 {
    image.cluster.iter().product()
}

/// Refuses PTX with clusters other than the image's. The GPU has clusters, so the driver knows the attributes.
fn check_cluster(
    gpu: &Gpu,
    image: &'static Image,
    variant: &'static Variant,
    handle: sys::CUfunction,
) -> Result<()> {
    let mut stated = [0; 3];
    let names = [
        A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    ];
    for (extent, name) in stated.iter_mut().zip(names) {
        *extent = attribute_of(handle, name)
            .map_err(|cause| load_error(gpu, image, variant, &cause, ""))?;
    }
    if stated == [0; 3] || stated.map(|extent| extent.max(1)) == image.cluster {
        return Ok(());
    }
    Err(Error::ModuleLoad {
        kernel: image.kernel,
        variant: variant.name,
        device: gpu.label(),
        cause: format!("the entry has clusters of {stated:?}, the image of {:?}", image.cluster)
            .into(),
        log: Box::default(),
    })
}

/// How many blocks the GPU holds at once, in whole clusters.
fn resident_in_clusters(
    gpu: &Gpu,
    image: &'static Image,
    variant: &'static Variant,
    handle: sys::CUfunction,
) -> Result<u32> {
    let refused = |cause| load_error(gpu, image, variant, &cause, "");
    let mut attributes = [cluster_attribute(image.cluster)];
    let config = config(image, variant, image.cluster, null_mut(), &mut attributes);
    let mut clusters = 0;
    // SAFETY: the handle came from `cuModuleGetFunction`; the pointers are to a live integer and a live description, whose
    // attributes live as long. The driver has the function: it has read PTX of Hopper.
    let answer =
        unsafe { sys::cuOccupancyMaxActiveClusters(&raw mut clusters, handle, &raw const config) };
    let clusters = if answer == sys::CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE {
        0
    } else {
        check("cuOccupancyMaxActiveClusters", answer).map_err(refused)?;
        u32::try_from(clusters).unwrap_or(0)
    };
    if clusters > 0 {
        return Ok(clusters * blocks_of_a_cluster(image));
    }
    let actual = largest_cluster(image, variant, handle).map_err(refused)?;
    let (kernel, required) = (image.kernel, image.cluster);
    Err(Error::ClusterTooLarge { kernel, device: gpu.label(), required, actual })
}

/// Blocks of the largest cluster that the GPU holds at once.
fn largest_cluster(
    image: &'static Image,
    variant: &'static Variant,
    handle: sys::CUfunction,
) -> Result<u32, DriverError> {
    let config = config(image, variant, image.cluster, null_mut(), &mut []);
    let mut blocks = 0;
    // SAFETY: as for `cuOccupancyMaxActiveClusters` above.
    let answer = unsafe {
        sys::cuOccupancyMaxPotentialClusterSize(&raw mut blocks, handle, &raw const config)
    };
    check("cuOccupancyMaxPotentialClusterSize", answer)?;
    Ok(u32::try_from(blocks).unwrap_or(0))
}

/// The first driver with clusters and programmatic launches, as the bindings call them; PTX for Hopper needs it as well.
const WITH_ATTRIBUTES: DriverVersion = DriverVersion { major: 12, minor: 0 };

/// Refuses launches for which an old driver has no function.
fn check_launchable(gpu: &Gpu, image: &'static Image) -> Result<()> {
    if needs_attributes(image) && gpu.driver < WITH_ATTRIBUTES {
        let needed_by = format!("`{}`, which launches clusters or starts early,", image.kernel);
        let (required, actual) = (WITH_ATTRIBUTES, gpu.driver);
        return Err(Error::DriverTooOld { needed_by, required, actual });
    }
    Ok(())
}

/// Refuses PTX that is newer than the driver, which would return only an error code.
fn check_version(gpu: &Gpu, image: &'static Image, variant: &'static Variant) -> Result<()> {
    let Some((version, required)) = ptx_version(variant.ptx)
        .and_then(|version| driver_for(version).map(|required| (version, required)))
    else {
        return Ok(());
    };
    if required <= gpu.driver {
        return Ok(());
    }
    let needed_by = format!("`{}`, in PTX {}.{},", image.kernel, version.0, version.1);
    Err(Error::DriverTooOld { needed_by, required, actual: gpu.driver })
}

/// The number of the `.version` directive.
fn ptx_version(ptx: &str) -> Option<(u32, u32)> {
    let (_, rest) = ptx.split_once(".version")?;
    let (major, minor) = rest.split_whitespace().next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The first CUDA version whose driver reads a PTX version (PTX ISA, "Release Notes", table "PTX
/// Release History"); `None` for versions older than any driver that is accepted.
fn driver_for((major, minor): (u32, u32)) -> Option<DriverVersion> {
    let version = |major, minor| Some(DriverVersion { major, minor });
    match (major, minor) {
        (..=6, _) => None,
        (7, minor) => version(11, minor),
        (8, minor @ ..=5) => version(12, minor),
        (8, minor) => version(12, minor + 1),
        (major, minor) => version(major + 4, minor),
    }
}

/// Whether `KILN_LINE_INFO` asks for machine code that names the lines of the source, as profilers and debuggers show them. What the build
/// has assembled does not name them.
fn with_lines() -> bool {
    std::env::var_os("KILN_LINE_INFO").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Loads the machine code for the GPU, if there is any. If the driver refuses it, for example code of a newer toolkit,
/// the PTX is compiled instead.
fn load_cubin(gpu: &Gpu, variant: &'static Variant) -> Option<sys::CUmodule> {
    if with_lines() {
        return None;
    }
    let capability = gpu.properties.compute_capability;
    let fitting = variant.cubins.iter().filter(|cubin| cubin.runs_on(capability));
    // The names of one major version are in the order of their numbers.
    let cubin = fitting.max_by_key(|cubin| (cubin.architecture.len(), cubin.architecture))?;
    let mut module = null_mut();
    // SAFETY: the bytes are a whole file of machine code, which states its own length; the pointer is to a live handle.
    let answer = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            cubin.bytes.as_ptr().cast(),
            0,
            null_mut(),
            null_mut(),
        )
    };
    check("cuModuleLoadDataEx", answer).ok().map(|()| module)
}

fn load_module(
    gpu: &Gpu,
    image: &'static Image,
    variant: &'static Variant,
) -> Result<sys::CUmodule> {
    let Ok(text) = CString::new(variant.ptx) else {
        let cause = DriverError {
            call: "cuModuleLoadDataEx",
            code: sys::CUresult::CUDA_ERROR_INVALID_PTX as u32,
            name: "CUDA_ERROR_INVALID_PTX".to_owned(),
            message: "the text contains a NUL".to_owned(),
        };
        return Err(load_error(gpu, image, variant, &cause, ""));
    };
    let mut errors = vec![0u8; LOG_BYTES];
    let mut remarks = vec![0u8; LOG_BYTES];
    let mut options = vec![
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        sys::CUjit_option::CU_JIT_INFO_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    ];
    // The driver takes sizes in the place of pointers.
    let mut values: Vec<*mut c_void> = vec![
        errors.as_mut_ptr().cast(),
        without_provenance_mut(LOG_BYTES),
        remarks.as_mut_ptr().cast(),
        without_provenance_mut(LOG_BYTES),
    ];
    if with_lines() {
        options.push(sys::CUjit_option::CU_JIT_GENERATE_LINE_INFO);
        values.push(without_provenance_mut(1));
    }
    let count = u32::try_from(options.len()).expect("at most five");
    let mut module = null_mut();
    // SAFETY: the text ends with a NUL; options and values are `count` each, in the types that the driver
    // documents for them; both buffers have LOG_BYTES bytes and outlive the call.
    let answer = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            text.as_ptr().cast(),
            count,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    check("cuModuleLoadDataEx", answer).map_err(|cause| {
        let log = [text_before_nul(&errors), text_before_nul(&remarks)].join("\n");
        load_error(gpu, image, variant, &cause, log.trim())
    })?;
    Ok(module)
}

fn load_error(
    gpu: &Gpu,
    image: &'static Image,
    variant: &'static Variant,
    cause: &DriverError,
    log: &str,
) -> Error {
    Error::ModuleLoad {
        kernel: image.kernel,
        variant: variant.name,
        device: gpu.label(),
        cause: cause.to_string().into(),
        log: log.into(),
    }
}

fn function_of(
    module: sys::CUmodule,
    variant: &'static Variant,
) -> Result<sys::CUfunction, DriverError> {
    // A name with a NUL cannot be an entry of the module; the driver then says that it is not there.
    let entry = CString::new(variant.entry).unwrap_or_default();
    let mut handle = null_mut();
    // SAFETY: the module is loaded, and the name ends with a NUL.
    let answer = unsafe { sys::cuModuleGetFunction(&raw mut handle, module, entry.as_ptr()) };
    check("cuModuleGetFunction", answer)?;
    Ok(handle)
}

/// An attribute of a loaded function; none of those read here is negative.
fn attribute_of(
    handle: sys::CUfunction,
    attribute: sys::CUfunction_attribute,
) -> Result<u32, DriverError> {
    let mut value = 0;
    // SAFETY: the handle came from `cuModuleGetFunction`; the pointer is to a live integer.
    let answer = unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, handle) };
    check("cuFuncGetAttribute", answer)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn set_attribute(
    handle: sys::CUfunction,
    attribute: sys::CUfunction_attribute,
    value: u32,
) -> Result<(), DriverError> {
    let value = i32::try_from(value).unwrap_or(i32::MAX);
    // SAFETY: the handle came from `cuModuleGetFunction`; the driver checks the value.
    let answer = unsafe { sys::cuFuncSetAttribute(handle, attribute, value) };
    check("cuFuncSetAttribute", answer)
}

/// How many blocks one multiprocessor holds.
fn resident(
    handle: sys::CUfunction,
    threads: u32,
    dynamic_shared_bytes: u32,
) -> Result<u32, DriverError> {
    let mut blocks = 0;
    let threads = i32::try_from(threads).unwrap_or(i32::MAX);
    // SAFETY: the handle came from `cuModuleGetFunction`; the pointer is to a live integer.
    let answer = unsafe {
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &raw mut blocks,
            handle,
            threads,
            dynamic_shared_bytes as usize,
        )
    };
    check("cuOccupancyMaxActiveBlocksPerMultiprocessor", answer)?;
    Ok(u32::try_from(blocks).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs from the release notes of the toolkits that first assembled each PTX version.
    #[test]
    fn a_ptx_version_names_the_driver_that_reads_it() {
        let driver = |text| ptx_version(text).and_then(driver_for).map(|v| (v.major, v.minor));
        assert_eq!(driver("// x\n.version 6.4\n.target sm_70"), None);
        assert_eq!(driver("//\n.version 7.0\n.target sm_80"), Some((11, 0)));
        assert_eq!(driver(".version 7.8 .target sm_90"), Some((11, 8)));
        assert_eq!(driver(".version 8.0\n"), Some((12, 0)));
        assert_eq!(driver(".version\t8.5\n"), Some((12, 5)));
        assert_eq!(driver(".version 8.6\n"), Some((12, 7)));
        assert_eq!(driver(".version 8.7\n"), Some((12, 8)));
        assert_eq!(driver(".version 8.8\n"), Some((12, 9)));
        assert_eq!(driver(".version 9.0\n"), Some((13, 0)));
        assert_eq!(driver(".version 9.1\n"), Some((13, 1)));
        assert_eq!(driver("no directive"), None);
    }
}

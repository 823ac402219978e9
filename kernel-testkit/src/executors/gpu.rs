//! Running PTX on a GPU.

use kernel_core::compile::Variant;
use kernel_runtime::{
    __launch_unsafe, Device, DeviceTensor, Grid, Image, IntoArgument, ParamInfo, ParamKind, Stream,
    Target,
};

use super::{PATTERNS, holds_pattern, poison, slots, take, unwritten};
use crate::{
    data::{Argument, GAP},
    prepare::Build,
};

/// Bytes before and behind what a kernel may touch, which it must not change.
const MARGIN: usize = 256;

/// The first GPU, with a stream.
#[derive(Debug)]
pub struct Gpu {
    device: Device,
    stream: Stream,
}

impl Gpu {
    /// The first GPU, or why there is none.
    ///
    /// # Errors
    /// The runtime's own words.
    pub fn open() -> Result<Gpu, String> {
        let device = Device::cuda(0).map_err(|error| error.to_string())?;
        let stream = device.stream().map_err(|error| error.to_string())?;
        Ok(Gpu { device, stream })
    }

    /// Whether it runs code for a target.
    pub fn runs(&self, target: &str) -> bool {
        Target::from_name(target).is_some_and(|target| self.device.runs(target))
    }

    /// Runs the PTX of a variant and leaves the results in `args`.
    ///
    /// # Errors
    /// The runtime's error, or what the kernel left unwritten or wrote in a wrong place.
    pub fn run(
        &self,
        build: &Build,
        variant: &Variant,
        grid: [u32; 3],
        args: &mut [Argument],
    ) -> Result<(), String> {
        let image = image(build, variant, args)?;
        let mut results: Vec<Vec<Option<Vec<u8>>>> = Vec::new();
        for pattern in PATTERNS {
            poison(args, pattern);
            let result = self.once(image, grid, args)?;
            let again = args.iter().zip(&result).any(|(arg, bytes)| match (arg.buffer(), bytes) {
                (Some(buffer), Some(bytes)) => holds_pattern(buffer, bytes, pattern),
                _ => false,
            });
            results.push(result);
            if !again {
                break;
            }
        }
        let (first, second) = (&results[0], &results[results.len() - 1]);
        for ((arg, first), second) in args.iter_mut().zip(first).zip(second) {
            if let (Some(buffer), Some(first), Some(second)) = (arg.buffer_mut(), first, second) {
                if results.len() > 1 {
                    unwritten(buffer, first, second)?;
                }
                take(buffer, first)?;
            }
        }
        Ok(())
    }

    fn once(
        &self,
        image: &'static [Image],
        grid: [u32; 3],
        args: &[Argument],
    ) -> Result<Vec<Option<Vec<u8>>>, String> {
        let failed = |error: kernel_runtime::Error| error.to_string();
        let mut tensors: Vec<Option<DeviceTensor<u8, 1>>> = Vec::new();
        for arg in args {
            tensors.push(match arg.buffer() {
                Some(buffer) => {
                    let mut bytes = vec![GAP; MARGIN];
                    bytes.extend(&buffer.data);
                    bytes.extend([GAP; MARGIN]);
                    Some(self.stream.upload(&bytes, [bytes.len()]).map_err(failed)?)
                }
                None => None,
            });
        }
        let address = |number: usize| {
            let tensor: Option<&DeviceTensor<u8, 1>> = tensors[number].as_ref();
            tensor.map_or(0, |tensor| tensor.device_ptr().address() + MARGIN as u64)
        };
        // Each entry parameter travels as a scalar of 64 bits, cut to its own width by the driver.
        let values = slots(args, address);
        let arguments = values.into_iter().map(IntoArgument::into_argument).collect();
        let blocks = grid.map(|n| i32::try_from(n).expect("grids of tests are small"));
        let launch = __launch_unsafe(image, arguments, Some(Ok(Grid::Blocks(blocks))));
        // SAFETY: the addresses are those of `tensors`, which live until the stream has been read from below. The kernel
        // is one under test: that it stays inside of them is what the emulator has shown before.
        unsafe { launch.launch(&self.stream) }.map_err(failed)?;
        let mut out = Vec::new();
        for tensor in tensors {
            out.push(match tensor {
                Some(tensor) => {
                    let bytes = tensor.to_vec(&self.stream).map_err(failed)?;
                    let inner = MARGIN..bytes.len() - MARGIN;
                    let outside = bytes[..MARGIN].iter().chain(&bytes[inner.end..]);
                    if outside.into_iter().any(|byte| *byte != GAP) {
                        return Err("memory outside of an argument was written".to_owned());
                    }
                    Some(bytes[inner].to_vec())
                }
                None => None,
            });
        }
        Ok(out)
    }
}

/// The image of one variant, for the rest of the process: images are statics.
fn image(build: &Build, variant: &Variant, args: &[Argument]) -> Result<&'static [Image], String> {
    let target = Target::from_name(&build.target).ok_or("the runtime does not know the target")?;
    let params = slots(args, |_| 0).into_iter();
    let params =
        params.map(|_| ParamInfo { name: "value", kind: ParamKind::Scalar { dtype: "u64" } });
    let compiled = kernel_runtime::Variant {
        name: variant.name,
        entry: variant.entry.clone().leak(),
        ptx: variant.ptx.clone().leak(),
        dynamic_shared_bytes: variant.shared_bytes,
        requires: &[],
        maps: &[],
    };
    let image = Image {
        kernel: build.kernel.name.clone().leak(),
        instance: build.label.clone().leak(),
        target,
        threads: build.kernel.threads(),
        cluster: [1; 3],
        programmatic: false,
        params: params.collect::<Vec<_>>().leak(),
        declared: &[],
        variants: vec![compiled].leak(),
    };
    Ok(vec![image].leak())
}

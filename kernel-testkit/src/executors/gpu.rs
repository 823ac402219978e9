//! Running PTX on a GPU.

use kernel_core::{
    host::Variant,
    ir,
    layouts::tma::{self, TensorMap},
};
use kernel_runtime::{
    __launch_unsafe, __tensor_within, Device, DeviceTensor, Fill, Grid, Image, IntoArgument,
    MapDim, MapExtent, MapInfo, MapPlaces, MapStride, ParamInfo, ParamKind, Stream, Target,
};

use super::{PATTERNS, holds_pattern, poison, slots, take, unwritten};
use crate::{
    data::{Argument, Buffer, GAP},
    prepare::Build,
};

/// Bytes before and after what a kernel may touch, which it must not change.
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
        Gpu::on(Device::cuda(0).map_err(|error| error.to_string())?)
    }

    fn on(device: Device) -> Result<Gpu, String> {
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
            let result = self.once(build, variant, image, grid, args)?;
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
        build: &Build,
        variant: &Variant,
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
        let shapes: Vec<_> = args.iter().map(|arg| arg.buffer().map(shape_and_strides)).collect();
        let mut arguments = Vec::new();
        for (number, arg) in args.iter().enumerate() {
            let parts = (arg.buffer(), &tensors[number], &shapes[number]);
            if let ((Some(buffer), Some(tensor), Some((shape, strides))), true) =
                (parts, is_mapped(variant, number))
            {
                let bytes = buffer.dtype.bytes() as usize;
                let offset = MARGIN + buffer.offset * bytes;
                let kind = kind(build, number);
                let argument = __tensor_within(tensor, offset, kind, bytes, shape, strides);
                arguments.push(argument.map_err(failed)?);
                continue;
            }
            // Each entry parameter travels as a scalar of 64 bits, cut to its own width by the driver.
            let address = |_| {
                let tensor: Option<&DeviceTensor<u8, 1>> = tensors[number].as_ref();
                tensor.map_or(0, |tensor| tensor.device_ptr().address() + MARGIN as u64)
            };
            let values = slots(std::slice::from_ref(arg), address);
            arguments.extend(values.into_iter().map(IntoArgument::into_argument));
        }
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

/// Whether a variant reaches an argument by tensor map. The runtime encodes the map, and so gets the tensor.
fn is_mapped(variant: &Variant, number: usize) -> bool {
    variant.maps.iter().any(|map| map.param as usize == number)
}

/// The type of a parameter that is a tensor.
fn kind(build: &Build, number: usize) -> ParamKind {
    match &build.kernel.params[number].kind {
        ir::ParamKind::Tensor { dtype, rank, mutable } => {
            ParamKind::Tensor { dtype: dtype.name(), rank: *rank as usize, mutable: *mutable }
        }
        ir::ParamKind::Pointer(_) | ir::ParamKind::Scalar(_) => {
            unreachable!("the compiler makes maps of tensors")
        }
    }
}

fn shape_and_strides(buffer: &Buffer) -> (Vec<usize>, Vec<usize>) {
    let shape = buffer.shape.iter().map(|extent| *extent as usize).collect();
    let strides =
        buffer.strides.iter().map(|stride| usize::try_from(*stride).expect("not negative"));
    (shape, strides.collect())
}

/// A map of a tensor; `places` are the positions of the kernel's parameters among those of the image.
fn map_info(map: &TensorMap, places: &[usize]) -> MapInfo {
    let dim = |dim: &tma::MapDim| MapDim {
        extent: match dim.extent {
            tma::MapExtent::Axis { axis, divide } => {
                MapExtent::Axis { axis: axis as usize, divide }
            }
            tma::MapExtent::Const(extent) => MapExtent::Const(extent),
            tma::MapExtent::Tile { axis, elements } => {
                MapExtent::Tile { axis: axis as usize, elements }
            }
            tma::MapExtent::Ends { axis, elements } => {
                MapExtent::Ends { axis: axis as usize, elements }
            }
        },
        stride: match dim.stride {
            tma::MapStride::Axis { axis, times } => MapStride::Axis { axis: axis as usize, times },
            tma::MapStride::Elements(elements) => MapStride::Elements(elements),
        },
        box_elems: dim.box_elems,
        element_stride: dim.element_stride,
    };
    let dims: Vec<MapDim> = map.dims.iter().map(dim).collect();
    let corner = |corner: &[i32]| -> &'static [i32] { corner.to_vec().leak() };
    MapInfo {
        param: places[map.param as usize],
        dtype: map.dtype.name(),
        dims: dims.leak(),
        places: map.places.as_ref().map(|places| MapPlaces {
            count: places.count,
            lower: corner(&places.lower),
            upper: corner(&places.upper),
        }),
        swizzle_bytes: map.swizzle_bytes,
        l2_promotion_bytes: map.l2_promotion_bytes,
        fill: match map.fill {
            ir::Fill::Zero => Fill::Zero,
            ir::Fill::Nan => Fill::Nan,
        },
        written: map.written,
    }
}

/// The image of one variant, for the rest of the process: images are statics.
fn image(build: &Build, variant: &Variant, args: &[Argument]) -> Result<&'static [Image], String> {
    let target = Target::from_name(&build.target).ok_or("the runtime does not know the target")?;
    let mut params = Vec::new();
    let mut places = Vec::new();
    for (number, arg) in args.iter().enumerate() {
        places.push(params.len());
        if is_mapped(variant, number) {
            params.push(ParamInfo { name: "tensor", kind: kind(build, number) });
        } else {
            let values = slots(std::slice::from_ref(arg), |_| 0);
            let value = ParamInfo { name: "value", kind: ParamKind::Scalar { dtype: "u64" } };
            params.extend(values.iter().map(|_| value));
        }
    }
    let maps = variant.maps.iter().map(|map| map_info(map, &places));
    let compiled = kernel_runtime::Variant {
        name: variant.name,
        entry: variant.entry.clone().leak(),
        ptx: variant.ptx.clone().leak(),
        dynamic_shared_bytes: variant.shared_bytes,
        cubins: &[],
        tensor_columns: variant.tensor_columns,
        requires: &[],
        maps: maps.collect::<Vec<_>>().leak(),
        names: None,
    };
    let image = Image {
        kernel: build.kernel.name.clone().leak(),
        instance: build.label.clone().leak(),
        target,
        threads: build.kernel.threads(),
        cluster: build.kernel.cluster,
        programmatic: false,
        params: params.leak(),
        declared: &[],
        reports: None,
        stamps: None,
        variants: vec![compiled].leak(),
    };
    Ok(vec![image].leak())
}

#[cfg(test)]
mod tests {
    use kernel_core::ir::Dtype;

    use super::*;
    use crate::{data::Number, directives::Directives, prepare::prepare};

    /// Reads a window of `a` and writes one of `c` by tensor map; `y` has the rank of each block in its cluster.
    const COPY: &str = "//@ run: gpu
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = 4, cluster = 2)]
pub fn copy(
    n: i32,
    #[block(8, 64)] a: TensorMap<f16, 2>,
    y: TensorMut<i32, 1>,
    #[block(8, 64)] c: TensorMapMut<f16, 2>,
) {
    let tile = shared::<f16>([8, 64]);
    let arrived = barrier(1);
    arrived.expect(a.block_bytes());
    tma::load(a, [block_id(0) * 8, n], arrived, tile);
    arrived.wait(0);
    tma::store(c, [block_id(0) * 8, 0], tile);
    tma::store_wait(0);
    y.tile([block_id(0)], [1]).store(full([1], cluster::rank()));
}
";

    #[test]
    fn maps_and_clusters_reach_the_runtime() {
        let prepared = prepare("copy.rs", COPY, &Directives::default()).expect("it compiles");
        let build = &prepared.builds[0];
        assert_eq!(build.kernel.cluster, [2, 1, 1]);
        // Rows are wider than the columns that are copied, and the first element is not the allocation's.
        let mut a = Buffer::new(Dtype::F16, vec![32, 192], vec![200, 1], 8);
        for number in 0..a.len() {
            a.set(number, &u16::try_from(number).expect("few elements").to_le_bytes());
        }
        let mut ranks = Buffer::new(Dtype::I32, vec![4], vec![1], 0);
        let mut c = Buffer::new(Dtype::F16, vec![32, 64], vec![64, 1], 16);
        (ranks.poisoned, c.poisoned) = (true, true);
        let arguments = [
            Argument::Scalar(Dtype::I32, Number::Int(128)),
            Argument::Tensor(a),
            Argument::Tensor(ranks),
            Argument::Tensor(c),
        ];
        let device = Device::emulator(Target::Sm90a).expect("the emulator is always there");
        let gpu = Gpu::on(device).expect("it has streams");
        for variant in &build.variants {
            assert_eq!(variant.maps.len(), 2, "{}", variant.name);
            let mut results = arguments.clone();
            gpu.run(build, variant, [4, 1, 1], &mut results).expect("the kernel runs");
            let [_, Argument::Tensor(a), Argument::Tensor(ranks), Argument::Tensor(c)] = &results
            else {
                panic!("the arguments are what they were")
            };
            for number in 0..c.len() {
                let (row, column) = (number / 64, number % 64);
                assert_eq!(c.bytes(number), a.bytes(row * 192 + 128 + column), "{row}, {column}");
            }
            let found: Vec<Number> = (0..4).map(|number| ranks.get(number)).collect();
            assert_eq!(found, [0, 1, 0, 1].map(Number::Int), "{}", variant.name);
        }
    }

    /// Columns taken apart, and bytes that go two at a time: what the compiler plans, the launch encodes.
    const PLANNED: &str = "//@ run: gpu
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = 1)]
pub fn planned(
    a: Tensor<f16, 2>,
    b: TensorMut<f16, 2>,
    c: Tensor<u8, 2>,
    d: TensorMut<u8, 2>,
) {
    let wide = shared::<f16>([8, 128]);
    let long = shared::<u8>([2, 512]).with_layout(row_major());
    let arrived = barrier(1);
    arrived.expect_copies();
    copy_async(a.tile([0, 64], [8, 128]), wide).on(arrived);
    copy_async(c.tile([1, 0], [2, 512]), long).on(arrived);
    arrived.wait(0);
    copy_async(wide, b.tile([0, 0], [8, 128]));
    copy_async(long, d.tile([0, 0], [2, 512]));
    tma::store_wait(0);
}
";

    #[test]
    fn planned_maps_reach_the_runtime() {
        let prepared = prepare("planned.rs", PLANNED, &Directives::default()).expect("it compiles");
        let build = &prepared.builds[0];
        let fill = |dtype: Dtype, shape: [u32; 2], strides: [i64; 2]| {
            let mut buffer = Buffer::new(dtype, shape.to_vec(), strides.to_vec(), 0);
            for number in 0..buffer.len() {
                let bytes = u16::try_from(number % 251).expect("few values").to_le_bytes();
                buffer.set(number, &bytes[..dtype.bytes() as usize]);
            }
            Argument::Tensor(buffer)
        };
        let poisoned = |dtype: Dtype, shape: [u32; 2]| {
            let strides = vec![i64::from(shape[1]), 1];
            let mut buffer = Buffer::new(dtype, shape.to_vec(), strides, 0);
            buffer.poisoned = true;
            Argument::Tensor(buffer)
        };
        let arguments = [
            fill(Dtype::F16, [8, 256], [256, 1]),
            poisoned(Dtype::F16, [8, 128]),
            fill(Dtype::U8, [3, 512], [528, 1]),
            poisoned(Dtype::U8, [2, 512]),
        ];
        let device = Device::emulator(Target::Sm90a).expect("the emulator is always there");
        let gpu = Gpu::on(device).expect("it has streams");
        let names: Vec<&str> = build.variants.iter().map(|variant| variant.name).collect();
        assert_eq!(names, ["divisible", "aligned", "general"]);
        for variant in &build.variants {
            let mut results = arguments.clone();
            gpu.run(build, variant, [1, 1, 1], &mut results).expect("the kernel runs");
            let buffers: Vec<&Buffer> = results.iter().filter_map(Argument::buffer).collect();
            for number in 0..8 * 128 {
                let (row, column) = (number / 128, number % 128);
                let copied = buffers[0].bytes(row * 256 + 64 + column);
                assert_eq!(buffers[1].bytes(number), copied, "{}: {row}, {column}", variant.name);
            }
            for number in 0..2 * 512 {
                let copied = buffers[2].bytes(512 + number);
                assert_eq!(buffers[3].bytes(number), copied, "{}: {number}", variant.name);
            }
        }
    }
}

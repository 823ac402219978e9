//! Running a kernel in each of the ways that there are.

use std::time::{Duration, Instant};

use kernel_core::{
    eval,
    host::Variant,
    ir,
    layouts::tma::{MapExtent, MapStride, TensorMap},
};
use kernel_emulator::{DeviceMemory, Fault, LaunchConfig, MemoryError, Options, Program, Report};

use crate::{
    data::{Argument, Buffer, Number, encode},
    prepare::Build,
};

mod gpu;

pub use gpu::Gpu;

/// Runs the tile IR and leaves the results in `args`.
///
/// # Errors
/// The fault that stopped the kernel.
pub fn evaluate(build: &Build, grid: [u32; 3], args: &mut [Argument]) -> Result<(), String> {
    let run = |args: &[Argument]| -> Result<Vec<eval::Arg>, String> {
        let mut list: Vec<eval::Arg> = args.iter().map(eval_arg).collect();
        eval::run(&build.kernel, grid, &mut list).map_err(|error| error.to_string())?;
        Ok(list)
    };
    poison(args, PATTERNS[0]);
    let first = run(args)?;
    let second = if suspicious(args, &first, PATTERNS[0]) {
        poison(args, PATTERNS[1]);
        run(args)?
    } else {
        first.clone()
    };
    for ((arg, first), second) in args.iter_mut().zip(&first).zip(&second) {
        let (Some(buffer), Some(first), Some(second)) =
            (arg.buffer_mut(), eval_bytes(first), eval_bytes(second))
        else {
            continue;
        };
        take(buffer, first)?;
        unwritten(buffer, first, second)?;
    }
    Ok(())
}

/// What memory holds that the kernel has to write: two patterns, because a kernel may write one of them.
const PATTERNS: [u8; 2] = [0xff, 0x5a];

fn poison(args: &mut [Argument], pattern: u8) {
    for buffer in args.iter_mut().filter_map(Argument::buffer_mut) {
        if buffer.poisoned {
            buffer.poison(pattern);
        }
    }
}

/// Whether an element that has to be written holds the pattern still.
fn suspicious(args: &[Argument], results: &[eval::Arg], pattern: u8) -> bool {
    args.iter().zip(results).any(|(arg, result)| match (arg.buffer(), eval_bytes(result)) {
        (Some(buffer), Some(bytes)) => holds_pattern(buffer, bytes, pattern),
        _ => false,
    })
}

fn holds_pattern(buffer: &Buffer, bytes: &[u8], pattern: u8) -> bool {
    let size = buffer.dtype.bytes() as usize;
    buffer.poisoned
        && (0..buffer.len())
            .any(|number| bytes[buffer.place(number)..][..size].iter().all(|b| *b == pattern))
}

/// Puts the elements of a result into a buffer; no byte between them may have changed.
fn take(buffer: &mut Buffer, bytes: &[u8]) -> Result<(), String> {
    let live = buffer.live();
    let changed = (0..bytes.len()).find(|at| !live[*at] && bytes[*at] != buffer.data[*at]);
    if let Some(at) = changed {
        return Err(format!("byte {at} of an argument was written, which is of no element"));
    }
    buffer.data.copy_from_slice(bytes);
    Ok(())
}

/// An element that keeps what was there before was not written.
fn unwritten(buffer: &Buffer, first: &[u8], second: &[u8]) -> Result<(), String> {
    if !buffer.poisoned || first == second {
        return Ok(());
    }
    let size = buffer.dtype.bytes() as usize;
    let missing = (0..buffer.len())
        .find(|n| first[buffer.place(*n)..][..size] != second[buffer.place(*n)..][..size]);
    match missing {
        Some(number) => Err(format!("the element {:?} was never written", buffer.index(number))),
        None => Ok(()),
    }
}

fn eval_arg(arg: &Argument) -> eval::Arg {
    match arg {
        Argument::Tensor(buffer) => eval::Arg::Tensor {
            data: buffer.data.clone(),
            dtype: buffer.dtype,
            shape: buffer.shape.clone(),
            strides: buffer.strides.clone(),
            offset: buffer.offset,
        },
        Argument::Pointer(buffer) => {
            let offset = buffer.offset * buffer.dtype.bytes() as usize;
            eval::Arg::Pointer { data: buffer.data.clone(), offset }
        }
        Argument::Scalar(dtype, value) => eval::Arg::Scalar { bits: bits(*dtype, *value) },
        Argument::Absent => eval::Arg::Absent,
    }
}

fn eval_bytes(arg: &eval::Arg) -> Option<&[u8]> {
    match arg {
        eval::Arg::Tensor { data, .. } | eval::Arg::Pointer { data, .. } => Some(data),
        eval::Arg::Scalar { .. } | eval::Arg::Absent => None,
    }
}

/// A scalar's bits, extended by zeros.
fn bits(dtype: ir::Dtype, value: Number) -> u64 {
    let mut word = [0; 8];
    let bytes = encode(dtype, value);
    word[..bytes.len()].copy_from_slice(&bytes);
    u64::from_le_bytes(word)
}

/// The entry parameters, each extended to 64 bits: an address, extents and strides for a tensor.
fn slots(args: &[Argument], mut address: impl FnMut(usize) -> u64) -> Vec<u64> {
    let mut out = Vec::new();
    for (number, arg) in args.iter().enumerate() {
        match arg {
            Argument::Tensor(buffer) => {
                out.push(address(number) + (buffer.offset * buffer.dtype.bytes() as usize) as u64);
                out.extend(buffer.shape.iter().map(|extent| u64::from(*extent)));
                out.extend(buffer.strides.iter().map(|stride| stride.cast_unsigned()));
            }
            Argument::Pointer(buffer) => {
                out.push(address(number) + (buffer.offset * buffer.dtype.bytes() as usize) as u64);
            }
            Argument::Scalar(dtype, value) => out.push(bits(*dtype, *value)),
            Argument::Absent => {}
        }
    }
    out
}

/// Whether the arguments are as a variant, or an attribute, assumes.
pub fn holds(fact: ir::Fact, args: &[Argument]) -> bool {
    let axis_of = |param: u32, axis: u32| {
        let buffer = args[param as usize].buffer().expect("facts of an axis are about tensors");
        (i64::from(buffer.shape[axis as usize]), buffer.strides[axis as usize])
    };
    match fact {
        ir::Fact::PointerAligned { param, bytes } => {
            let buffer = args[param as usize].buffer().expect("scalars have no address");
            (buffer.offset * buffer.dtype.bytes() as usize).is_multiple_of(bytes as usize)
        }
        ir::Fact::StrideEquals { param, axis, value } => {
            let (extent, stride) = axis_of(param, axis);
            stride == value || extent == 1
        }
        ir::Fact::StrideMultiple { param, axis, of } => {
            let (extent, stride) = axis_of(param, axis);
            stride % of == 0 || extent == 1
        }
        ir::Fact::DimMultiple { param, axis, of } => axis_of(param, axis).0 % of == 0,
        ir::Fact::ScalarMultiple { param, of } => match args[param as usize] {
            Argument::Scalar(_, Number::Int(value)) => value % i128::from(of) == 0,
            Argument::Scalar(..)
            | Argument::Tensor(_)
            | Argument::Pointer(_)
            | Argument::Absent => false,
        },
    }
}

/// Why a run on the emulator gave no results.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The PTX is no program of the emulator's, or the launch does not fit it.
    Refused(String),
    /// The emulator stopped the kernel.
    Fault(Box<Fault>),
    /// The kernel wrote what it must not, or did not write what it must.
    Wrong(String),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Refused(words) | Stop::Wrong(words) => f.write_str(words),
            Stop::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl From<Stop> for String {
    fn from(stop: Stop) -> String {
        stop.to_string()
    }
}

/// The warp instructions that a test may execute.
pub const MOST_INSTRUCTIONS: u64 = 1 << 28;

/// What a run on the emulator says, and how long the launch took.
#[derive(Debug)]
pub struct Emulated {
    /// The emulator's counts.
    pub report: Report,
    /// The launch alone, without reading the PTX and filling memory.
    pub took: Duration,
}

/// All checks, for so many warp instructions at most. Tests run side by side: each on one thread of the host.
pub fn checked(most_instructions: u64) -> Options {
    Options::default()
        .with_check_tensor_fences(true)
        .with_check_init_fences(true)
        .with_threads(1)
        .with_max_instructions(most_instructions)
}

/// Runs the PTX of a variant in the emulator and leaves the results in `args`.
///
/// What is poisoned is memory that was never written, and so are the bytes between elements: reading them stops the
/// kernel, and afterwards the former have to be written and the latter not.
///
/// A kernel that may begin before the grid before is over runs as if that were the same kernel with the same arguments.
///
/// # Errors
/// The fault that stopped the kernel.
pub fn emulate(
    build: &Build,
    variant: &Variant,
    grid: [u32; 3],
    args: &mut [Argument],
    options: &Options,
) -> Result<Emulated, Stop> {
    let mut options = options.clone();
    if build.kernel.is_programmatic() {
        let first = options.clone().with_record_writes(true);
        let run = launch(build, variant, grid, &mut args.to_vec(), &first)?;
        options = options.with_grid_before(run.report.writes.unwrap_or_default());
    }
    launch(build, variant, grid, args, &options)
}

/// The same, once, in memory of its own.
fn launch(
    build: &Build,
    variant: &Variant,
    grid: [u32; 3],
    args: &mut [Argument],
    options: &Options,
) -> Result<Emulated, Stop> {
    let program = Program::parse(&variant.ptx).map_err(|error| Stop::Refused(error.to_string()))?;
    let entry = program.entry(&variant.entry);
    let entry = entry.ok_or_else(|| Stop::Refused("the PTX has no such entry".to_owned()))?;
    let memory = DeviceMemory::new();
    let failed = |error: MemoryError| Stop::Refused(error.to_string());
    let mut addresses = Vec::new();
    for arg in &*args {
        let Some(buffer) = arg.buffer() else {
            addresses.push(0);
            continue;
        };
        let address = memory.allocate(buffer.data.len() as u64).map_err(failed)?;
        addresses.push(address);
        if !buffer.poisoned {
            for (start, end) in runs(&buffer.live(), true) {
                memory.write(address + start as u64, &buffer.data[start..end]).map_err(failed)?;
            }
        }
    }
    let mut values: Vec<Vec<u8>> = slots(args, |number| addresses[number])
        .into_iter()
        .map(|value| value.to_le_bytes().to_vec())
        .collect();
    for map in &variant.maps {
        values.push(map_bytes(map, args, &addresses).map_err(Stop::Refused)?.to_vec());
    }
    if values.len() != entry.params.len() {
        let what = format!("{} values for {} parameters", values.len(), entry.params.len());
        return Err(Stop::Refused(what));
    }
    let mut params = vec![0; entry.param_bytes as usize];
    for (param, value) in entry.params.iter().zip(values) {
        let (start, size) = (param.offset as usize, param.size as usize);
        params[start..start + size].copy_from_slice(&value[..size]);
    }
    let config = LaunchConfig {
        dynamic_shared_bytes: variant.shared_bytes,
        cluster: build.kernel.cluster,
        ..LaunchConfig::new(grid, [build.kernel.threads(), 1, 1])
    };
    let start = Instant::now();
    let report = program
        .launch(&memory, &variant.entry, &config, &params, options)
        .map_err(|fault| Stop::Fault(Box::new(fault)))?;
    let took = start.elapsed();
    results(&memory, args, &addresses).map_err(Stop::Wrong)?;
    Ok(Emulated { report, took })
}

/// Reads the results of a launch into the arguments.
fn results(memory: &DeviceMemory, args: &mut [Argument], addresses: &[u64]) -> Result<(), String> {
    for (arg, address) in args.iter_mut().zip(addresses) {
        let Some(buffer) = arg.buffer_mut() else { continue };
        let live = buffer.live();
        for (start, end) in runs(&live, true) {
            let bytes = &mut buffer.data[start..end];
            if let Err(error) = memory.read(address + start as u64, bytes) {
                return Err(if let MemoryError::NeverWritten { address: at } = error {
                    format!("byte {} of an output was never written", at - address)
                } else {
                    error.to_string()
                });
            }
        }
        for (start, end) in runs(&live, false) {
            for at in start..end {
                if memory.read(address + at as u64, &mut [0]).is_ok() {
                    return Err(format!("byte {at} was written, which is of no element"));
                }
            }
        }
    }
    Ok(())
}

/// A tensor map of an argument, as the emulator keeps it.
fn map_bytes(map: &TensorMap, args: &[Argument], addresses: &[u64]) -> Result<[u8; 128], String> {
    let number = map.param as usize;
    let buffer = args[number].buffer().ok_or("a tensor map of what is no tensor")?;
    let bytes = u64::from(buffer.dtype.bytes());
    let axis = |axis: u32| axis as usize;
    let extent = |extent| match extent {
        MapExtent::Axis { axis: of, divide } => {
            let elements = buffer.shape[axis(of)];
            if elements.is_multiple_of(divide) {
                Ok(u64::from(elements / divide))
            } else {
                Err(format!("an extent of {elements} is divided by {divide}"))
            }
        }
        MapExtent::Const(extent) => Ok(extent),
        MapExtent::Tile { elements, .. } => Ok(elements.into()),
        MapExtent::Ends { axis: of, .. } => Ok(u64::from(buffer.shape[axis(of)]) + 1),
    };
    let stride = |stride| match stride {
        MapStride::Axis { axis: of, times } => {
            buffer.strides[axis(of)].cast_unsigned() * u64::from(times) * bytes
        }
        MapStride::Elements(elements) => elements * bytes,
    };
    let inner = map.dims.first().map_or(0, |dim| stride(dim.stride));
    if inner != u64::from(map.dtype.bytes()) {
        return Err(format!("neighbours of a tensor map are {inner} bytes apart"));
    }
    let (element, numbers) = map.element();
    let mut dims: Vec<u64> =
        map.dims.iter().map(|dim| extent(dim.extent)).collect::<Result<_, _>>()?;
    if let Some(inner) = dims.first_mut() {
        *inner *= u64::from(numbers);
    }
    let before = map.dims.iter().map(|dim| match dim.extent {
        MapExtent::Ends { elements, .. } => stride(dim.stride) * u64::from(elements),
        MapExtent::Axis { .. } | MapExtent::Const(_) | MapExtent::Tile { .. } => 0,
    });
    let address = addresses[number] + buffer.offset as u64 * bytes;
    let encoded = kernel_emulator::TensorMap {
        dtype: element.number,
        address: address.wrapping_sub(before.sum()),
        dims,
        strides_bytes: map.dims.iter().skip(1).map(|dim| stride(dim.stride)).collect(),
        box_dims: map.dims.iter().map(|dim| dim.box_elems).collect(),
        element_strides: map.dims.iter().map(|dim| dim.element_stride).collect(),
        interleave: 0,
        swizzle: match map.swizzle_bytes {
            0 => 0,
            32 => 1,
            64 => 2,
            128 => 3,
            other => return Err(format!("no tensor map has a swizzle of {other} bytes")),
        },
        oob_fill: match map.fill {
            ir::Fill::Zero => 0,
            ir::Fill::Nan => 1,
        },
    };
    let encoded = match &map.places {
        None => encoded.encode(),
        Some(places) => kernel_emulator::Im2colMap {
            tensor: encoded,
            lower_corner: places.lower.clone(),
            upper_corner: places.upper.clone(),
            pixels_per_column: places.count,
        }
        .encode(),
    };
    encoded.map_err(|error| error.to_string())
}

/// The stretches of `value`, as start and end.
fn runs(list: &[bool], value: bool) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (at, _) in list.iter().enumerate().filter(|(_, item)| **item == value) {
        match out.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => out.push((at, at + 1)),
        }
    }
    out
}

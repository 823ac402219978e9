//! Running a case on the emulator.

use kernel_emulator::{
    DeviceMemory, Im2colMap, LaunchConfig, Options, Program, TensorCore, TensorMap,
};
use kernel_ptx::Type;
use kernel_runtime::{Fill, MapExtent, MapStride};

use crate::case::{Case, Map};

/// Runs a case; gives every buffer as it is afterwards.
///
/// # Errors
/// The emulator's words: a text that it does not read, or the fault that stopped the kernel.
pub fn run(case: &Case) -> Result<Vec<Vec<u8>>, String> {
    let program = Program::parse(&case.ptx).map_err(|error| error.to_string())?;
    let memory = DeviceMemory::new();
    let mut addresses = Vec::new();
    for buffer in &case.buffers {
        let address = memory.allocate(buffer.bytes.len() as u64);
        let address = address.map_err(|error| error.to_string())?;
        memory.write(address, &buffer.bytes).map_err(|error| error.to_string())?;
        addresses.push(address);
    }
    let mut values: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
    for (name, bits) in &case.scalars {
        let ty = Type::ALL.iter().find(|ty| ty.text() == *name);
        let width = ty.ok_or_else(|| format!("{name} is no type"))?.bits() as usize / 8;
        push(&mut values, &bits.to_le_bytes()[..width]);
    }
    for map in &case.maps {
        push(&mut values, &addresses[map.buffer].to_le_bytes());
        for extent in &map.shape {
            push(&mut values, &u32::try_from(*extent).map_err(|e| e.to_string())?.to_le_bytes());
        }
        for stride in &map.strides {
            push(&mut values, &(*stride as u64).to_le_bytes());
        }
    }
    for map in &case.maps {
        values.resize(values.len().next_multiple_of(64), 0);
        values.extend(encoded(map, addresses[map.buffer])?);
    }
    let config = LaunchConfig {
        cluster: case.cluster,
        dynamic_shared_bytes: case.shared_bytes,
        ..LaunchConfig::new(case.blocks, [case.threads, 1, 1])
    };
    let options = Options::default().with_tensor_core(TensorCore::Hopper).with_target("sm_90a");
    program
        .launch(&memory, "case", &config, &values, &options)
        .map_err(|fault| fault.to_string())?;
    let read = case.buffers.iter().zip(addresses).map(|(buffer, address)| {
        let mut bytes = vec![0; buffer.bytes.len()];
        memory.read(address, &mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    });
    read.collect()
}

/// Adds an entry parameter at its natural alignment.
fn push(values: &mut Vec<u8>, bytes: &[u8]) {
    values.resize(values.len().next_multiple_of(bytes.len()), 0);
    values.extend(bytes);
}

/// The map as the emulator keeps it.
fn encoded(map: &Map, address: u64) -> Result<[u8; 128], String> {
    let dims = map.info.dims.iter();
    let extent = |extent: MapExtent| match extent {
        MapExtent::Axis { axis, divide } => map.shape[axis] as u64 / u64::from(divide),
        MapExtent::Const(extent) => extent,
        MapExtent::Tile { elements, .. } => elements.into(),
        MapExtent::Ends { axis, .. } => map.shape[axis] as u64 + 1,
    };
    let stride = |stride: MapStride| match stride {
        MapStride::Axis { axis, times } => map.strides[axis] as u64 * u64::from(times),
        MapStride::Elements(stride) => stride,
    };
    let before = dims.clone().map(|dim| match dim.extent {
        MapExtent::Ends { elements, .. } => {
            stride(dim.stride) * map.element_bytes as u64 * u64::from(elements)
        }
        MapExtent::Axis { .. } | MapExtent::Const(_) | MapExtent::Tile { .. } => 0,
    });
    let made = TensorMap {
        dtype: number(map.info.dtype)?,
        address: address.wrapping_sub(before.sum()),
        dims: dims.clone().map(|dim| extent(dim.extent)).collect(),
        strides_bytes: dims
            .clone()
            .skip(1)
            .map(|dim| stride(dim.stride) * map.element_bytes as u64)
            .collect(),
        box_dims: dims.clone().map(|dim| dim.box_elems).collect(),
        element_strides: dims.map(|dim| dim.element_stride).collect(),
        interleave: 0,
        swizzle: match map.info.swizzle_bytes {
            128 => 3,
            64 => 2,
            32 => 1,
            _ => 0,
        },
        oob_fill: match map.info.fill {
            Fill::Zero => 0,
            Fill::Nan => 1,
        },
    };
    let encoded = match map.info.places {
        None => made.encode(),
        Some(places) => Im2colMap {
            tensor: made,
            lower_corner: places.lower.to_vec(),
            upper_corner: places.upper.to_vec(),
            pixels_per_column: places.count,
        }
        .encode(),
    };
    encoded.map_err(|error| error.to_string())
}

/// The number of an element type (CUDA driver API, `CUtensorMapDataType`).
fn number(dtype: &str) -> Result<u32, String> {
    let names = ["u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16", "", "tf32"];
    let place = names.iter().position(|name| *name == dtype);
    let place = place.ok_or_else(|| format!("no tensor map has elements of {dtype}"))?;
    u32::try_from(place).map_err(|error| error.to_string())
}

//! Running a case through the runtime: on a GPU, or, to try the tests themselves, on the runtime's emulator.

use kernel_runtime::{
    __launch_unsafe, __tensor_within, Argument, Device, DeviceTensor, Grid, Image, IntoArgument,
    MapInfo, ParamInfo, ParamKind, Stream, Variant,
};

use crate::case::{Case, Map, Role};

/// A device with a stream.
#[derive(Debug)]
pub struct Gpu {
    device: Device,
    stream: Stream,
}

impl Gpu {
    /// Makes a stream on a device.
    ///
    /// # Errors
    /// The runtime's words.
    pub fn on(device: Device) -> Result<Gpu, String> {
        let stream = device.stream().map_err(|error| error.to_string())?;
        Ok(Gpu { device, stream })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Runs a case; gives every buffer as it is afterwards.
    ///
    /// # Errors
    /// The runtime's words. After a fault of the kernel the device does nothing more for this process.
    pub fn run(&self, case: &Case) -> Result<Vec<Vec<u8>>, String> {
        let failed = |error: kernel_runtime::Error| error.to_string();
        let mut tensors: Vec<DeviceTensor<u8, 1>> = Vec::new();
        for buffer in &case.buffers {
            let bytes = &buffer.bytes;
            tensors.push(self.stream.upload(bytes, [bytes.len()]).map_err(failed)?);
        }
        let mut arguments: Vec<Argument<'_>> = Vec::new();
        for tensor in &tensors {
            arguments.push(tensor.device_ptr().address().into_argument());
        }
        arguments.extend(case.scalars.iter().map(|(_, bits)| (*bits).into_argument()));
        for map in &case.maps {
            let tensor = &tensors[map.buffer];
            let (shape, strides) = (&map.shape, &map.strides);
            let argument = __tensor_within(tensor, 0, kind(map), map.element_bytes, shape, strides);
            arguments.push(argument.map_err(failed)?);
        }
        let blocks = case.blocks.map(|n| i32::try_from(n).expect("launches are small"));
        let image = image(case);
        let launch = __launch_unsafe(image, arguments, Some(Ok(Grid::Blocks(blocks))));
        // SAFETY: the addresses are those of `tensors`, which live until the stream has been read from below. The kernel stays
        // inside of them: the emulator, which runs it first, stops where one does not.
        unsafe { launch.launch(&self.stream) }.map_err(failed)?;
        let read = tensors.iter().zip(&case.buffers).map(|(tensor, buffer)| match buffer.role {
            Role::Compared => tensor.to_vec(&self.stream).map_err(failed),
            Role::Operands(_) | Role::Given => Ok(Vec::new()),
        });
        let results = read.collect();
        self.stream.synchronize().map_err(failed)?;
        results
    }
}

fn kind(map: &Map) -> ParamKind {
    ParamKind::Tensor { dtype: map.dtype, rank: map.shape.len(), mutable: true }
}

/// The image of a case, for the rest of the process: images are statics.
fn image(case: &Case) -> &'static [Image] {
    let value = ParamInfo { name: "value", kind: ParamKind::Scalar { dtype: "u64" } };
    let mut params = vec![value; case.buffers.len() + case.scalars.len()];
    let mut maps: Vec<MapInfo> = Vec::new();
    for map in &case.maps {
        maps.push(MapInfo { param: params.len(), ..map.info });
        params.push(ParamInfo { name: "tensor", kind: kind(map) });
    }
    let variant = Variant {
        name: "differential",
        entry: "case",
        ptx: case.ptx.clone().leak(),
        dynamic_shared_bytes: case.shared_bytes,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: maps.leak(),
        names: None,
    };
    let image = Image {
        kernel: case.name.clone().leak(),
        instance: "",
        target: case.target,
        threads: case.threads,
        cluster: case.cluster,
        programmatic: false,
        params: params.leak(),
        declared: &[],
        reports: None,
        stamps: None,
        variants: vec![variant].leak(),
    };
    vec![image].leak()
}

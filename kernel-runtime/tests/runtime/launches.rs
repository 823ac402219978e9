//! Launches that work.

use crate::{
    devices,
    kernels::{
        Args, COUNT_BLOCKS_IMAGES, POKE_IMAGES, SCALED_SUM_IMAGES, TWO_TARGETS, scaled_sum,
        write_one,
    },
};
use kernel_runtime::{
    __launch, __launch_unsafe, Device, DeviceTensor, Image, IntoArgument, ParamInfo, ParamKind,
    Result, Stream, Target, TensorArgument, TensorArgumentMut, Variant, persistent,
};

/// `n` values that are exact in `f32`, in an order that a mistake in indexing shows.
fn values(n: u16, seed: u16) -> Vec<f32> {
    (0..n).map(|i| f32::from((i * 37 + seed) % 251)).collect()
}

#[test]
fn a_kernel_computes() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        for n in [1, 63, 64, 65, 1000] {
            let (a_host, b_host) = (values(n, 1), values(n, 2));
            let n = usize::from(n);
            let (a, b) = (stream.upload(&a_host, [n])?, stream.upload(&b_host, [n])?);
            for (scale, negate) in [(0.5, false), (2.0, true)] {
                let mut c = stream.empty([n])?;
                scaled_sum(Args { a: &a, b: &b, c: &mut c, scale, negate }).launch(&stream)?;
                let sign = if negate { -1.0 } else { 1.0 };
                let required: Vec<f32> =
                    a_host.iter().zip(&b_host).map(|(a, b)| sign * (a + scale * b)).collect();
                assert_eq!(c.to_vec(&stream)?, required, "n = {n}, scale = {scale}");
            }
        }
    }
    Ok(())
}

#[test]
fn views_are_arguments() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let host = values(12, 3);
        let matrix = stream.upload(&host, [3, 4])?;
        let mut out = stream.zeros::<f32, 2>([3, 4])?;
        // Column 1 and row 2, written to column 3.
        let column = matrix.slice(1, 1..2)?;
        let column = column.as_strided([3], [4])?;
        let row = matrix.slice(0, 2..3)?.slice(1, 0..3)?.reshape([3])?;
        let mut target = out.slice_mut(1, 3..4)?;
        let mut target = target.as_strided_mut([3], [4])?;
        scaled_sum(Args { a: &column, b: &row, c: &mut target, scale: 1.0, negate: false })
            .launch(&stream)?;
        let mut required = vec![0.0; 12];
        for i in 0..3 {
            required[4 * i + 3] = host[4 * i + 1] + host[8 + i];
        }
        assert_eq!(out.to_vec(&stream)?, required);
    }
    Ok(())
}

#[test]
fn views_by_value_are_arguments_that_a_launch_keeps() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let host = values(12, 3);
        let a = stream.upload(&host, [12])?;
        let mut out = stream.zeros::<f32, 1>([4])?;
        // Nothing but the launch holds the views: the function that makes them has returned.
        let launch = |out: &mut DeviceTensor<f32, 1>| -> Result<()> {
            let arguments = vec![
                a.slice(0, 1..4)?.into_argument(),
                a.slice(0, 8..11)?.into_argument(),
                out.slice_mut(0, 1..4)?.into_argument(),
                1.0f32.into_argument(),
                false.into_argument(),
            ];
            let launch = __launch(&SCALED_SUM_IMAGES, arguments, None);
            launch.grid(1).launch(&stream)
        };
        launch(&mut out)?;
        let required = [0.0, host[1] + host[8], host[2] + host[9], host[3] + host[10]];
        assert_eq!(out.to_vec(&stream)?, required);
    }
    Ok(())
}

#[test]
fn what_takes_a_tensor_takes_pointers_to_it() -> Result<()> {
    fn first<T: TensorArgument<f32, 1>>(tensor: &T) -> Result<usize> {
        Ok(tensor.tensor()?.shape()[0])
    }
    fn first_mut<T: TensorArgumentMut<f32, 1>>(tensor: &mut T) -> Result<usize> {
        Ok(tensor.tensor_mut()?.shape()[0])
    }
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut tensor = stream.zeros::<f32, 1>([7])?;
    assert_eq!(first_mut(&mut tensor)?, 7);
    assert_eq!(first_mut(&mut tensor.slice_mut(0, 1..3)?)?, 2);
    assert_eq!(first(&tensor.slice_mut(0, 1..5)?)?, 4);
    assert_eq!(first(&tensor.slice(0, 1..2)?)?, 1);
    assert_eq!(first_mut(&mut Box::new(stream.zeros([6])?))?, 6);
    assert_eq!(first(&std::sync::Arc::new(tensor))?, 7);
    Ok(())
}

#[test]
fn what_takes_a_tensor_to_write_may_write_views_of_it() -> Result<()> {
    fn second_row<T: TensorArgumentMut<f32, 2>>(tensor: &mut T, stream: &Stream) -> Result<()> {
        let rows = tensor.tensor_mut()?.into_view();
        let mut second = rows.into_slice(0, 1..2)?;
        stream.fill(&mut second, 3.0)
    }
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut tensor = stream.zeros::<f32, 2>([3, 2])?;
    second_row(&mut tensor, &stream)?;
    assert_eq!(tensor.to_vec(&stream)?, [0.0, 0.0, 3.0, 3.0, 0.0, 0.0]);
    second_row(&mut tensor.slice_mut(0, 1..3)?, &stream)?;
    assert_eq!(tensor.to_vec(&stream)?, [0.0, 0.0, 3.0, 3.0, 3.0, 3.0]);
    Ok(())
}

#[test]
fn the_first_variant_whose_facts_hold_runs() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let a = stream.upload(&values(16, 5), [16])?;
    let b = stream.upload(&values(16, 6), [16])?;
    let variant_of = |a: &_, n| -> Result<&'static str> {
        let mut c = stream.empty([n])?;
        let launch = scaled_sum(Args { a, b: &b, c: &mut c, scale: 1.0, negate: false });
        Ok(launch.variant(&device)?.name)
    };
    assert_eq!(variant_of(&a, 16)?, "aligned");
    assert_eq!(variant_of(&*a.slice(0, 4..16)?, 12)?, "aligned");
    assert_eq!(variant_of(&*a.slice(0, 1..16)?, 15)?, "general");
    assert_eq!(variant_of(&*a.as_strided([8], [2])?, 8)?, "general");
    Ok(())
}

#[test]
fn getters_describe_a_launch() -> Result<()> {
    let device = Device::emulator(Target::Sm90a)?;
    let stream = device.stream()?;
    let a = stream.zeros([100])?;
    let mut c = stream.zeros([100])?;
    let launch = scaled_sum(Args { a: &a, b: &a, c: &mut c, scale: 1.0, negate: false });
    assert_eq!(launch.kernel(), "scaled_sum");
    assert_eq!(launch.instance(), "");
    assert_eq!(launch.blocks(), Some([2, 1, 1]));
    assert_eq!(launch.images().len(), 1);
    assert_eq!(launch.image(&device)?.target, Target::Sm80);
    assert_eq!(launch.ptx(&device)?, SCALED_SUM_IMAGES[0].variants[0].ptx);
    assert_eq!(launch.grid([7, 8]).blocks(), Some([7, 8, 1]));
    Ok(())
}

#[test]
fn a_device_runs_the_newest_image_it_can() -> Result<()> {
    for (target, required) in
        [(Target::Sm80, "ampere"), (Target::Sm90a, "hopper"), (Target::Sm100a, "ampere")]
    {
        let device = Device::emulator(target)?;
        let mut out = device.stream()?.zeros::<u32, 1>([1])?;
        let launch = write_one(&TWO_TARGETS, &mut out, 1);
        assert_eq!(launch.variant(&device)?.name, required, "{target}");
    }
    Ok(())
}

#[test]
fn a_persistent_grid_has_at_most_the_blocks_that_fit() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut out = stream.zeros::<u32, 1>([100_000])?;
        write_one(&COUNT_BLOCKS_IMAGES, &mut out, 1).grid(persistent(5)).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?[..6], [5, 5, 5, 5, 5, 0]);

        write_one(&COUNT_BLOCKS_IMAGES, &mut out, 1).grid(persistent(100_000)).launch(&stream)?;
        let counts = out.to_vec(&stream)?;
        let started = counts.iter().take_while(|count| **count == counts[0]).count();
        assert_eq!(started, counts[0] as usize);
        assert_eq!(counts[started], 0);
        // A GPU holds several blocks of one thread on each multiprocessor, the emulator one.
        let multiprocessors = device.properties().multiprocessors;
        assert_eq!(counts[0] % multiprocessors, 0);
        assert!(!device.is_emulator() || counts[0] == multiprocessors);
    }
    Ok(())
}

#[test]
fn pointers_are_launched_by_an_unsafe_call() -> Result<()> {
    for device in devices::all()? {
        let stream = device.stream()?;
        let out = stream.upload(&[1i64, 2, 3], [3])?;
        let arguments = vec![out.device_ptr().offset(1).into_argument(), (-9i64).into_argument()];
        let launch = __launch_unsafe(&POKE_IMAGES, arguments, None).grid(1);
        assert_eq!((launch.kernel(), launch.instance()), ("poke", "T = i64"));
        // SAFETY: the pointer is to the second element of a tensor that outlives the launch, and nothing else
        // uses the tensor meanwhile.
        unsafe { launch.launch(&stream) }?;
        assert_eq!(out.to_vec(&stream)?, [1, -9, 3]);
    }
    Ok(())
}

#[test]
fn the_report_counts_the_last_launch() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    assert!(device.emulator_report().is_none());
    let mut counts = Vec::new();
    for blocks in [1, 3] {
        let mut out = stream.zeros::<u32, 1>([4])?;
        write_one(&COUNT_BLOCKS_IMAGES, &mut out, blocks).launch(&stream)?;
        counts.push(device.emulator_report().map(|report| report.warp_instructions));
    }
    let [Some(one), Some(three)] = counts[..] else {
        panic!("two launches have two reports: {counts:?}")
    };
    assert!(one > 0);
    assert_eq!(three, 3 * one);
    Ok(())
}

#[test]
fn threads_share_a_device() -> Result<()> {
    devices::all()?.into_iter().try_for_each(|device| {
        std::thread::scope(|scope| {
            let run = |seed| {
                let device = &device;
                move || -> Result<()> {
                    let stream = device.stream()?;
                    let a = stream.upload(&values(300, seed), [300])?;
                    let mut c = stream.empty([300])?;
                    scaled_sum(Args { a: &a, b: &a, c: &mut c, scale: 1.0, negate: false })
                        .launch(&stream)?;
                    let required: Vec<f32> = values(300, seed).iter().map(|a| a + a).collect();
                    assert_eq!(c.to_vec(&stream)?, required);
                    Ok(())
                }
            };
            let threads: Vec<_> = (0..8).map(|seed| scope.spawn(run(seed))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
        })
    })
}

/// More entry parameters than a launch keeps on the stack.
#[test]
fn a_kernel_may_have_many_parameters() -> Result<()> {
    const SCALARS: i32 = 100;
    let of_each =
        |text: &dyn Fn(i32) -> String| (0..SCALARS).map(text).collect::<Vec<_>>().concat();
    let declared = of_each(&|i| format!(", .param .s32 p{i}"));
    let added = of_each(&|i| format!("ld.param.s32 %r2, [p{i}]; mad.lo.s32 %r1, %r1, 3, %r2;\n"));
    let ptx = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n\
         .visible .entry many(.param .u64 out, .param .s32 d, .param .s64 s{declared})\n\
         {{ .reg .b32 %r<3>; .reg .b64 %d<2>;\nmov.u32 %r1, 0;\n{added}\
         ld.param.u64 %d1, [out];\nst.global.u32 [%d1], %r1;\nret; }}\n"
    );
    let tensor = ParamKind::Tensor { dtype: "u32", rank: 1, mutable: true };
    let mut params = vec![ParamInfo { name: "out", kind: tensor }];
    let scalar = ParamKind::Scalar { dtype: "i32" };
    params.extend((0..SCALARS).map(|_| ParamInfo { name: "p", kind: scalar }));
    // What the compiler writes as statics.
    let variant = Variant {
        name: "general",
        entry: "many",
        ptx: ptx.leak(),
        dynamic_shared_bytes: 0,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    };
    let images: &'static [Image] = vec![Image {
        kernel: "many",
        instance: "",
        target: Target::Sm80,
        threads: 1,
        cluster: [1; 3],
        programmatic: false,
        params: params.leak(),
        declared: &[],
        reports: None,
        stamps: None,
        variants: vec![variant].leak(),
    }]
    .leak();
    let required = (0..SCALARS).fold(0i32, |sum, i| sum.wrapping_mul(3).wrapping_add(i - 50));
    for device in devices::all()? {
        let stream = device.stream()?;
        let mut out = stream.zeros::<u32, 1>([1])?;
        let mut arguments = vec![(&mut out).into_argument()];
        arguments.extend((0..SCALARS).map(|i| (i - 50).into_argument()));
        __launch(images, arguments, None).grid(1).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, [required.cast_unsigned()]);
    }
    Ok(())
}

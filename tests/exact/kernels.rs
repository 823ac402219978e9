//! The kernels that compute each function, for both widths, and what a test of either asks them.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512), instances(T = [f32, f64]))]
pub(crate) fn apply<T: Float>(x: Tensor<T, 1>, out: TensorMut<T, 2>) {
    let at = block_id(0) * 512;
    let put = |row: i32, value: Tile<T>| out.tile([row, at], [1, 512]).store(value.expand(0));
    let x = x.tile([at], [512]).load();
    put(0, x.exp());
    put(1, x.exp_m1());
    put(2, x.exp2());
    put(3, x.ln());
    put(4, x.ln_1p());
    put(5, x.log2());
    put(6, x.log10());
    put(7, x.sin());
    put(8, x.cos());
    put(9, x.tanh());
    put(10, x.erf());
    put(11, x.erfc());
    put(12, x.cbrt());
    put(13, x.rsqrt());
}

/// The functions in the order of the rows.
pub(crate) const NAMES: [&str; 14] = [
    "exp", "exp_m1", "exp2", "ln", "ln_1p", "log2", "log10", "sin", "cos", "tanh", "erf", "erfc",
    "cbrt", "rsqrt",
];

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512), instances(T = [f32, f64]))]
pub(crate) fn raise<T: Float>(x: Tensor<T, 1>, y: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let at = [block_id(0) * 512];
    let power = x.tile(at, [512]).load().powf(y.tile(at, [512]).load());
    out.tile(at, [512]).store(power);
}

/// The results of all functions of these values, a function a row.
pub(crate) fn results<T: Element>(values: &[T]) -> Result<Vec<T>>
where
    apply::Instances: apply::Include<T>,
{
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.upload(values, [values.len()])?;
    let mut out = stream.zeros::<T, 2>([NAMES.len(), values.len()])?;
    apply::<T>(apply::Args { x: &x, out: &mut out }).launch(&stream)?;
    out.to_vec(&stream)
}

/// The first number of each pair to the power of the second.
pub(crate) fn powers<T: Element>(pairs: &[(T, T)]) -> Result<Vec<T>>
where
    raise::Instances: raise::Include<T>,
{
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let (x, y): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
    let (x, y) = (stream.upload(&x, [x.len()])?, stream.upload(&y, [y.len()])?);
    let mut out = stream.zeros::<T, 1>([pairs.len()])?;
    raise::<T>(raise::Args { x: &x, y: &y, out: &mut out }).launch(&stream)?;
    out.to_vec(&stream)
}

/// Zeros with their signs, infinities and NaN: as in C99, Annex F, and Rust.
pub(crate) fn check_ends<T: Element + From<f32> + Into<f64>>() -> Result<()>
where
    apply::Instances: apply::Include<T>,
{
    let ends = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN];
    let (zero, infinity, nan) = (0.0_f64, f64::INFINITY, f64::NAN);
    let required: [[f64; 5]; NAMES.len()] = [
        [1.0, 1.0, infinity, zero, nan],
        [zero, -zero, infinity, -1.0, nan],
        [1.0, 1.0, infinity, zero, nan],
        [-infinity, -infinity, infinity, nan, nan],
        [zero, -zero, infinity, nan, nan],
        [-infinity, -infinity, infinity, nan, nan],
        [-infinity, -infinity, infinity, nan, nan],
        [zero, -zero, nan, nan, nan],
        [1.0, 1.0, nan, nan, nan],
        [zero, -zero, 1.0, -1.0, nan],
        [zero, -zero, 1.0, -1.0, nan],
        [1.0, 1.0, zero, 2.0, nan],
        [zero, -zero, infinity, -infinity, nan],
        [infinity, -infinity, zero, nan, nan],
    ];
    let actual = results(&ends.map(T::from))?;
    for (name, (row, required)) in NAMES.iter().zip(actual.chunks(ends.len()).zip(required)) {
        // Both signs of NaN give NaN.
        for ((&x, &actual), required) in ends.iter().zip(row).zip(required.into_iter().chain([nan]))
        {
            let actual: f64 = actual.into();
            let same =
                actual.to_bits() == required.to_bits() || actual.is_nan() && required.is_nan();
            assert!(same, "{name}({x}) is {actual}, not {required}");
        }
    }
    Ok(())
}

/// A generator of the kind of Marsaglia's xorshift.
pub(crate) fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

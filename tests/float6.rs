//! FP6 numbers that the host makes, brought by TMA and multiplied on the emulator, against the numbers that the host says they are.

use kiln::prelude::*;

/// c = a bᵀ, of 128 x 256 and 16 x 256 numbers.
#[kernel(target = sm_100a, warps = 4, grid = 1,
         instances((T, U) = [(e2m3x16, e2m3x16), (e2m3x16, e3m2x16), (e3m2x16, e2m3x16), (e3m2x16, e3m2x16)]))]
fn multiplied<T: Scalar, U: Scalar>(
    #[block(128, 16)] a: TensorMap<T, 2>,
    #[block(16, 16)] b: TensorMap<U, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<T>([128, 16]), shared::<U>([16, 16]));
    let acc = tmem::<f32>([128, 16]);
    let (filled, done) = (barrier(1), barrier(1));
    filled.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], filled, left);
    tma::load(b, [0, 0], filled, right);
    filled.wait(0);
    tcgen05::mma(left, right.t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 16]).store(acc.load());
}

/// Numbers of the formats and others, which the host rounds.
fn value(at: usize) -> f32 {
    let at = i16::try_from(at * 37 % 1021).expect("small");
    f32::from(at - 510) / 68.0
}

/// Elements of a host type, and the numbers that they are.
macro_rules! elements {
    ($ty:ident, $count:expr) => {{
        let all: Vec<$ty> = (0..$count)
            .map(|element| $ty::from_f32(std::array::from_fn(|at| value(16 * element + at))))
            .collect();
        let numbers: Vec<f32> = all.iter().flat_map(|element| element.to_f32()).collect();
        (all, numbers)
    }};
}

macro_rules! agrees {
    ($stream:ident: $($left:ident by $right:ident),*) => {$({
        let (a, left) = elements!($left, 128 * 16);
        let (b, right) = elements!($right, 16 * 16);
        let (a, b) = ($stream.upload(&a, [128, 16])?, $stream.upload(&b, [16, 16])?);
        let mut c = $stream.zeros::<f32, 2>([128, 16])?;
        multiplied::<$left, $right>(multiplied::Args { a: &a, b: &b, c: &mut c }).launch(&$stream)?;
        for (at, actual) in c.to_vec(&$stream)?.into_iter().enumerate() {
            let row = &left[at / 16 * 256..][..256];
            let column = &right[at % 16 * 256..][..256];
            // Exact: products are multiples of 1/256, and their sums less than 2^16.
            let required: f32 = row.iter().zip(column).map(|(x, y)| x * y).sum();
            assert_eq!(actual.to_bits(), required.to_bits(), "{at}: {actual}, not {required}");
        }
    })*};
}

#[test]
fn products_are_those_of_the_hosts_numbers() -> Result<()> {
    let stream = Device::emulator(Target::Sm100a)?.stream()?;
    agrees!(stream: e2m3x16 by e2m3x16, e2m3x16 by e3m2x16, e3m2x16 by e2m3x16, e3m2x16 by e3m2x16);
    Ok(())
}

/// A row of the tensor is a multiple of 128 numbers, 96 bytes.
#[test]
fn rows_that_tma_cannot_pad_are_refused() -> Result<()> {
    let stream = Device::emulator(Target::Sm100a)?.stream()?;
    let a = stream.zeros::<e2m3x16, 2>([128, 12])?;
    let b = stream.zeros::<e2m3x16, 2>([16, 16])?;
    let mut c = stream.zeros::<f32, 2>([128, 16])?;
    let refused = multiplied::<e2m3x16, e2m3x16>(multiplied::Args { a: &a, b: &b, c: &mut c })
        .launch(&stream);
    let message = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(message.contains("needs a multiple of 96 bytes on"), "{message}");
    assert!(message.contains("144 bytes"), "{message}");
    Ok(())
}

/// Twelve bytes are filled as others, and read back.
#[test]
fn elements_of_twelve_bytes_are_filled_and_read() -> Result<()> {
    let stream = Device::emulator(Target::Sm100a)?.stream()?;
    let one = e3m2x16::from_f32(std::array::from_fn(value));
    let filled = stream.full([3, 5], one)?;
    assert_eq!(filled.to_vec(&stream)?, vec![one; 15]);
    Ok(())
}

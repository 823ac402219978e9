//! Random numbers of kernels against those of the host, and those of the host against what others published.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a share of sixteen, and a count that is exact in `f64`"
)]

use kiln::{
    prelude::*,
    random::{Philox, philox_4x32},
};

const COUNT: usize = 4096;
/// Counters begin here, so that their low words overflow on the way.
const FIRST: u64 = 0xffff_fc00;
const SEED: u64 = 0x0123_4567_89ab_cdef;
const STREAM: u64 = 0x1_0000_0002;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = cdiv(uniform.dim(0), 512))]
fn draw(
    words: TensorMut<u32, 2>,
    uniform: TensorMut<f32, 1>,
    below: TensorMut<u32, 1>,
    normal: TensorMut<f32, 1>,
    of_one: TensorMut<u32, 1>,
    seed: u64,
    stream: u64,
    first: u64,
) {
    let at = block_id(0) * 512;
    let counter = (at + arange(0, 512)).cast::<u64>() + first;
    let philox = Philox::new(seed).stream(stream);
    let (a, b, c, d) = philox.words(counter);
    let put = |row: i32, word: Tile<u32>| words.tile([row, at], [1, 512]).store(word.expand(0));
    put(0, a);
    put(1, b);
    put(2, c);
    put(3, d);
    uniform.tile([at], [512]).store(philox.uniform(counter));
    below.tile([at], [512]).store(philox.below(counter, 1000));
    normal.tile([at], [512]).store(philox.normal(counter));
    // The generator of constants is computed when compiling.
    let one = Philox::new(7).stream(1).words_at(first).3;
    of_one.tile([block_id(0)], [1]).store(full([1], one));
}

struct Drawn {
    words: Vec<u32>,
    uniform: Vec<f32>,
    below: Vec<u32>,
    normal: Vec<f32>,
    of_one: Vec<u32>,
}

fn drawn(target: Target) -> Result<Drawn> {
    let stream = Device::emulator(target)?.stream()?;
    let mut words = stream.zeros([4, COUNT])?;
    let (mut uniform, mut normal) = (stream.zeros([COUNT])?, stream.zeros([COUNT])?);
    let (mut below, mut of_one) = (stream.zeros([COUNT])?, stream.zeros([COUNT / 512])?);
    draw(draw::Args {
        words: &mut words,
        uniform: &mut uniform,
        below: &mut below,
        normal: &mut normal,
        of_one: &mut of_one,
        seed: SEED,
        stream: STREAM,
        first: FIRST,
    })
    .launch(&stream)?;
    Ok(Drawn {
        words: words.to_vec(&stream)?,
        uniform: uniform.to_vec(&stream)?,
        below: below.to_vec(&stream)?,
        normal: normal.to_vec(&stream)?,
        of_one: of_one.to_vec(&stream)?,
    })
}

/// The vectors for ten rounds that the authors publish with their library (Random123 1.14, `kat_vectors`).
#[test]
fn the_words_are_the_published_ones() {
    let ones = u32::MAX;
    let vectors = [
        ((0, 0, 0, 0), (0, 0), (0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8)),
        (
            (ones, ones, ones, ones),
            (ones, ones),
            (0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd),
        ),
        (
            (0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344),
            (0xa409_3822, 0x299f_31d0),
            (0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1),
        ),
    ];
    for (counter, key, words) in vectors {
        assert_eq!(philox_4x32(counter, key), words);
    }
}

#[test]
fn kernels_draw_what_the_host_draws() -> Result<()> {
    for target in [Target::Sm80, Target::Sm90a] {
        let drawn = drawn(target)?;
        let philox = Philox::new(SEED).stream(STREAM);
        for (index, at) in (FIRST..).take(COUNT).enumerate() {
            let (a, b, c, d) = philox.words_at(at);
            let words = [a, b, c, d];
            let actual: Vec<u32> = (0..4).map(|row| drawn.words[row * COUNT + index]).collect();
            assert_eq!(actual, words, "counter {at:#x}");
            assert_eq!(drawn.uniform[index].to_bits(), philox.uniform_at(at).to_bits());
            assert_eq!(drawn.below[index], philox.below_at(at, 1000));
            // The cosine is wrong by 2^-20.5, and multiplied with at most 5.77; the rest by a few units in the last place.
            let normal = philox.normal_at(at);
            assert!(
                (drawn.normal[index] - normal).abs() < 6e-6,
                "{} {normal}",
                drawn.normal[index]
            );
        }
        let of_one = Philox::new(7).stream(1).words_at(FIRST).3;
        assert!(drawn.of_one.iter().all(|&word| word == of_one));
    }
    Ok(())
}

/// Of 4096 numbers, means and deviations are off by less than five standard errors, and each sixteenth has its share.
#[test]
fn the_numbers_are_distributed_as_they_say() -> Result<()> {
    let drawn = drawn(Target::Sm80)?;
    let mean = |values: &[f32]| values.iter().map(|&x| f64::from(x)).sum::<f64>() / COUNT as f64;
    let squares =
        |values: &[f32]| values.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / COUNT as f64;
    assert!(drawn.uniform.iter().all(|x| (0.0..1.0).contains(x)));
    // The deviation of a uniform number is 0.289, of 4096 of them 0.0045; the fourth moment of a normal number is 3.
    assert!((mean(&drawn.uniform) - 0.5).abs() < 0.0226);
    assert!(mean(&drawn.normal).abs() < 0.079);
    assert!((squares(&drawn.normal) - 1.0).abs() < 0.111);
    let mut sixteenths = [0i32; 16];
    for &x in &drawn.uniform {
        sixteenths[(x * 16.0) as usize] += 1;
    }
    // 256 each, with a deviation of 15.5.
    assert!(sixteenths.iter().all(|&count| (count - 256).abs() < 78), "{sixteenths:?}");
    assert!(drawn.below.iter().all(|&n| n < 1000));
    assert!(drawn.below.iter().any(|&n| n >= 990) && drawn.below.iter().any(|&n| n < 10));
    Ok(())
}

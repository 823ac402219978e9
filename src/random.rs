//! Random numbers from counters: Philox 4x32-10, the same on the host and on every device.
//!
//! A generator holds no state. Its words are a function of the seed, of the stream and of a counter that the caller chooses, so that a
//! kernel can compute the words of any element again: a backward pass repeats the dropout mask of the forward pass instead of reading it.
//!
//! ```
//! use kiln::{prelude::*, random::Philox};
//!
//! /// Sets a share `p` of the elements to zero, and scales the others so that the mean stays.
//! #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
//! fn dropout(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, p: f32, seed: u64, step: u64) {
//!     let at = block_id(0) * 512;
//!     let element = (at + arange(0, 512)).cast::<u64>();
//!     let keep = Philox::new(seed).stream(step).uniform(element).ge(p);
//!     let x = x.tile([at], [512]).load();
//!     out.tile([at], [512]).store(select(keep, x / (1.0 - p), 0.0));
//! }
//!
//! let device = Device::emulator(Target::Sm80)?;
//! let stream = device.stream()?;
//! let x = stream.full([1000], 1.0f32)?;
//! let mut out = stream.zeros([1000])?;
//! dropout(dropout::Args { x: &x, out: &mut out, p: 0.25, seed: 7, step: 3 }).launch(&stream)?;
//! let philox = Philox::new(7).stream(3);
//! for (at, value) in (0..).zip(out.to_vec(&stream)?) {
//!     assert_eq!(value != 0.0, philox.uniform_at(at) >= 0.25);
//! }
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! Dropout of one element a counter uses one of the four words of that counter. [`Philox::words`] gives all four for the work of one.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "words are taken apart, and 24 bits are exact in `f32`"
)]

pub use items::{Philox, philox_4x32};

#[kernel_macros::device]
mod items {
    use kiln::lang::{Float, Int, Tile};

    /// A Philox 4x32-10 generator: a key from a seed, and one of 2^64 streams.
    ///
    /// It makes four words of 32 random bits of each stream and counter. Under one key, no two pairs of stream and counter give the same four
    /// words (Salmon, Moraes, Dror, Shaw, *Parallel Random Numbers: As Easy as 1, 2, 3*, SC 2011). The authors report that the words pass
    /// all tests of `TestU01`. They are not for cryptography.
    ///
    /// The methods that end in `_at` compute the numbers of one counter, on the host and in kernels; those of tiles compute the numbers
    /// of each counter of a tile. Words, uniform numbers and numbers below a bound are the same bits on both; normal numbers differ by
    /// the errors of [`ln`](Tile::ln) and [`cos_approx`](Tile::cos_approx).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Philox {
        key: (u32, u32),
        stream: (u32, u32),
    }

    /// One round: both even words are multiplied, and the halves of the products mixed with the odd words and the key.
    fn round(counter: (u32, u32, u32, u32), key: (u32, u32)) -> (u32, u32, u32, u32) {
        let (a, b, c, d) = counter;
        let (high_a, low_a) = (a.mul_hi(0xD251_1F53), a.wrapping_mul(0xD251_1F53));
        let (high_c, low_c) = (c.mul_hi(0xCD9E_8D57), c.wrapping_mul(0xCD9E_8D57));
        (high_c ^ b ^ key.0, low_c, high_a ^ d ^ key.1, low_a)
    }

    /// The key of the round after one.
    fn next(key: (u32, u32)) -> (u32, u32) {
        (key.0.wrapping_add(0x9E37_79B9), key.1.wrapping_add(0xBB67_AE85))
    }

    /// Ten rounds: the words of a counter of 128 bits, the lowest word first, under a key of 64.
    ///
    /// ```
    /// use kiln::random::philox_4x32;
    ///
    /// // The published test vectors of the authors' library (Random123, kat_vectors).
    /// let words = philox_4x32((0, 0, 0, 0), (0, 0));
    /// assert_eq!(words, (0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8));
    /// ```
    pub fn philox_4x32(counter: (u32, u32, u32, u32), key: (u32, u32)) -> (u32, u32, u32, u32) {
        let (mut counter, mut key) = (round(counter, key), next(key));
        for _ in kiln::lang::unroll(0..9) {
            counter = round(counter, key);
            key = next(key);
        }
        counter
    }

    impl Philox {
        /// The generator of a seed; its stream is 0.
        pub fn new(seed: u64) -> Philox {
            Philox { key: (seed as u32, (seed >> 32) as u32), stream: (0, 0) }
        }

        /// The same seed with this stream instead of the one before: the step of a training, say, or the number of a layer. One number
        /// for both is `step * layers + layer`.
        ///
        /// Numbers of different streams are independent of each other, as those of different counters are.
        #[must_use]
        pub fn stream(self, stream: u64) -> Philox {
            Philox { key: self.key, stream: (stream as u32, (stream >> 32) as u32) }
        }

        /// Four words of 32 random bits.
        ///
        /// ```
        /// use kiln::random::Philox;
        ///
        /// let words = Philox::new(0x299f_31d0_a409_3822).stream(0x0370_7344_1319_8a2e).words_at(0x85a3_08d3_243f_6a88);
        /// assert_eq!(words, (0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1));
        /// ```
        pub fn words_at(self, at: u64) -> (u32, u32, u32, u32) {
            let counter = (at as u32, (at >> 32) as u32, self.stream.0, self.stream.1);
            philox_4x32(counter, self.key)
        }

        /// A number of at least 0 and less than 1: one of the 2^24 multiples of 2^-24, each as likely, from the first word.
        pub fn uniform_at(self, at: u64) -> f32 {
            unit(self.words_at(at).0)
        }

        /// An integer of at least 0 and less than `n`, from the first word; 0 for an `n` of 0.
        ///
        /// The word is multiplied by `n` and the high half kept: some numbers are likelier than others, by a share of at most n · 2^-32.
        pub fn below_at(self, at: u64, n: u32) -> u32 {
            self.words_at(at).0.mul_hi(n)
        }

        /// A number of the normal distribution with mean 0 and deviation 1, from the first two words (Box and Muller, *A Note on the
        /// Generation of Random Normal Deviates*, 1958). Its magnitude is at most 5.77.
        pub fn normal_at(self, at: u64) -> f32 {
            let words = self.words_at(at);
            // The logarithm is of a number above 0.
            let radius = (-2.0 * (unit(words.0) + 5.960_464_5e-8).ln()).sqrt();
            radius * (6.283_185_5 * unit(words.1)).cos_approx()
        }

        /// Four tiles of words of 32 random bits, those of each counter.
        pub fn words(self, at: Tile<u64>) -> (Tile<u32>, Tile<u32>, Tile<u32>, Tile<u32>) {
            // What the four have in common is computed once.
            (
                at.map(|at| self.words_at(at).0),
                at.map(|at| self.words_at(at).1),
                at.map(|at| self.words_at(at).2),
                at.map(|at| self.words_at(at).3),
            )
        }

        /// For each counter a number of at least 0 and less than 1; see [`uniform_at`](Philox::uniform_at).
        pub fn uniform(self, at: Tile<u64>) -> Tile<f32> {
            at.map(|at| self.uniform_at(at))
        }

        /// For each counter an integer of at least 0 and less than `n`; see [`below_at`](Philox::below_at).
        pub fn below(self, at: Tile<u64>, n: u32) -> Tile<u32> {
            at.map(|at| self.below_at(at, n))
        }

        /// For each counter a number of the normal distribution; see [`normal_at`](Philox::normal_at).
        pub fn normal(self, at: Tile<u64>) -> Tile<f32> {
            at.map(|at| self.normal_at(at))
        }
    }

    /// The upper 24 bits of a word as a multiple of 2^-24.
    fn unit(word: u32) -> f32 {
        (word >> 8) as f32 * 5.960_464_5e-8
    }
}

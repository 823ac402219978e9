//! The position of a kernel in a ring of buffers.

pub use items::Ring;

#[kernel_macros::device]
mod items {
    /// A position in a ring of buffers: the buffer in use, and the phase of its barrier to wait for.
    ///
    /// A ring has `len` buffers. Each has one barrier that says that it is full and one that says that it is empty. The writer and the
    /// reader go around in the same order, each with its own `Ring`, from [`writer`](Ring::writer) and [`reader`](Ring::reader):
    ///
    /// ```no_run
    /// use kiln::{Ring, prelude::*};
    ///
    /// /// Copies all of `x` to shared memory, block after block, as buffers become empty.
    /// #[device]
    /// fn fill(x: TensorMap<f32, 1>, to: Shared<f32>, full: Barriers, empty: Barriers) {
    ///     let mut ring = Ring::writer(full.len());
    ///     for at in range(0, x.dim(0), 64) {
    ///         empty[ring.slot].wait(ring.phase);
    ///         full[ring.slot].expect(x.block_bytes());
    ///         tma::load(x, [at], full[ring.slot], to[ring.slot]);
    ///         ring.advance();
    ///     }
    /// }
    ///
    /// /// The sum of `count` buffers.
    /// #[device]
    /// fn add(count: i32, from: Shared<f32>, full: Barriers, empty: Barriers) -> Tile<f32> {
    ///     let mut ring = Ring::reader(full.len());
    ///     let mut sum = zeros::<f32>([64]);
    ///     for _ in 0..count {
    ///         full[ring.slot].wait(ring.phase);
    ///         sum += from[ring.slot].load();
    ///         empty[ring.slot].arrive();
    ///         ring.advance();
    ///     }
    ///     sum
    /// }
    ///
    /// #[kernel(target = sm_90a, warps = 4, grid = 1)]
    /// fn total(#[block(64)] x: TensorMap<f32, 1>, out: TensorMut<f32, 1>) {
    ///     let bufs = shared::<f32>([4, 64]);
    ///     let (full, empty) = (barriers(4, 1), barriers(4, 1));
    ///     warp_specialize(
    ///         || out.tile([0], [64]).store(add(cdiv(x.dim(0), 64), bufs, full, empty)),
    ///         [partition(1).run(|| fill(x, bufs, full, empty))],
    ///     );
    /// }
    /// ```
    ///
    /// The phases of a barrier have parity 0, 1, 0 and so on, one for each time around. On a new barrier a wait for parity 1 returns at
    /// once: a writer begins with it, because every buffer is empty at first.
    #[derive(Clone, Copy, Debug)]
    pub struct Ring {
        /// The buffer in use, from 0.
        pub slot: i32,
        /// The parity to wait for at its barrier.
        pub phase: i32,
        len: i32,
    }

    impl Ring {
        /// The position of a reader in a ring of `len` buffers: its first wait is for a buffer that has been filled.
        pub fn reader(len: i32) -> Ring {
            Ring { slot: 0, phase: 0, len }
        }

        /// The position of a writer in a ring of `len` buffers: its first wait at each buffer returns at once.
        pub fn writer(len: i32) -> Ring {
            Ring { slot: 0, phase: 1, len }
        }

        /// Goes on to the next buffer; after the last one to the first, with the other phase.
        pub fn advance(&mut self) {
            self.slot += 1;
            if self.slot == self.len {
                self.slot = 0;
                self.phase ^= 1;
            }
        }
    }
}

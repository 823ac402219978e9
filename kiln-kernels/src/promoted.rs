//! Steps of products on Hopper: sums of FP8 products, of which the tensor cores keep 14 bits, and the release of buffers.

#[kiln::device]
pub(crate) mod items {
    use kiln::{Ring, prelude::*};

    /// The operands of several steps of 128 numbers along `k`, which other warps load: rings of `[rows, 128]`.
    #[derive(Clone, Copy)]
    pub(crate) struct Steps<T: Scalar, U: Scalar> {
        pub(crate) lefts: Shared<T>,
        pub(crate) rights: Shared<U>,
        pub(crate) full: Barriers,
        /// In a cluster of several blocks, what each releases frees the buffers of all.
        pub(crate) empty: Barriers,
    }

    impl<T: Scalar, U: Scalar> Steps<T, U> {
        /// Adds the products of the next `steps` to sums. Those of each step are added in f32: of four steps all but the last are added
        /// while the product of the next one is computed.
        pub(crate) fn add<const C: i32>(
            self,
            ring: &mut Ring,
            steps: i32,
            before: Tile<f32>,
        ) -> Tile<f32> {
            let mut sums = before;
            let fours = steps / 4 * 4;
            for _ in range(0, fours, 4) {
                let (slot, first) = self.start(ring, sums);
                let (after, second) = self.start(ring, sums);
                sums += wgmma::wait(1, first);
                release::<C>(self.empty, slot);
                let (slot, third) = self.start(ring, sums);
                sums += wgmma::wait(1, second);
                release::<C>(self.empty, after);
                let (after, fourth) = self.start(ring, sums);
                sums += wgmma::wait(1, third);
                release::<C>(self.empty, slot);
                sums += wgmma::wait(0, fourth);
                release::<C>(self.empty, after);
            }
            for _ in range(fours, steps, 1) {
                let (slot, part) = self.start(ring, sums);
                sums += wgmma::wait(0, part);
                release::<C>(self.empty, slot);
            }
            sums
        }

        /// The product of the next step, as large as `sums`, which is in flight, and where its operands are.
        fn start(self, ring: &mut Ring, sums: Tile<f32>) -> (i32, Tile<f32>) {
            let slot = ring.slot;
            self.full[slot].wait(ring.phase);
            ring.advance();
            let none = zeros::<f32>([sums.dim(0), sums.dim(1)]);
            (slot, wgmma::mma(self.lefts[slot], self.rights[slot].t(), none))
        }
    }

    /// Signals that the operands of a step, which are in buffer `slot`, are no longer needed, to all `C` blocks of a cluster that load them.
    pub(crate) fn release<const C: i32>(empty: Barriers, slot: i32) {
        if C == 1 {
            empty[slot].arrive();
        } else {
            for rank in unroll(0..C) {
                empty[slot].of_block(rank).arrive_relaxed();
            }
        }
    }
}

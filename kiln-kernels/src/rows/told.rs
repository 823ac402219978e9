//! What the blocks of a cluster tell each other of the rows that they take one after the other.

pub(crate) use items::Told;

#[kiln::device]
mod items {
    use kiln::prelude::*;

    /// Four numbers of each of `C` blocks for each row of a round of `ROUND` rows: `sums[0]` is `[ROUND * C, 4]`.
    ///
    /// They are sent, and not read after a meeting of the cluster: threads would not arrive there before all stores of the row before had
    /// reached global memory. Only when all places have been used do the blocks meet, so that nobody reads what is sent to them again.
    #[derive(Clone, Copy)]
    pub(crate) struct Told<const C: i32, const ROUND: i32> {
        pub(crate) sums: Array<Shared<f32>>,
        /// `ROUND` barriers of one arrival.
        pub(crate) there: Barriers,
    }

    impl<const C: i32, const ROUND: i32> Told<C, ROUND> {
        /// Sends what this block knows of row `i` of the cluster to all blocks.
        pub(crate) fn send(self, i: i32, [first, second, third, fourth]: [f32; 4]) {
            let left = join(full([1], first), full([1], third)).reshape([1, 2]);
            let right = join(full([1], second), full([1], fourth)).reshape([1, 2]);
            let told = join(left, right).reshape([4]);
            if i > 0 && i % ROUND == 0 {
                cluster::sync();
            }
            let bar = self.there[i % ROUND];
            bar.expect(C * 16);
            for other in unroll(0..C) {
                let place = self.sums[0][i % ROUND * C + cluster::rank()].of_block(other);
                place.store_async(told, bar);
            }
        }

        /// Waits for what all blocks know of row `i`.
        pub(crate) fn wait(self, i: i32) {
            self.there[i % ROUND].wait(i / ROUND % 2);
        }

        /// One of the four numbers of a block.
        pub(crate) fn of(self, i: i32, rank: i32, k: i32) -> f32 {
            self.sums[0][i % ROUND * C + rank].tile([k], [1]).load().item()
        }
    }
}

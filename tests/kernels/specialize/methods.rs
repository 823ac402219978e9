//! Partitions as methods of a struct that holds tensors and shared memory; a device function makes one, another one specialises.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[16, 64] uniform(-1000, 1000)
//@ arg n: i32 scalar 11
//@ arg doubled: i32[16, 64] fill(0)
//@ arg sums: i32[16] fill(0)
//@ expect doubled: if i < n { x(i, j) * 2 } else { 0 }
//@ expect sums: if i < n { sum(k, 0, 64, x(i, k)) + 2 } else { 0 }
use kiln::prelude::*;

#[kernel]
pub mod methods {
    struct Work {
        x: Tensor<i32, 2>,
        doubled: TensorMut<i32, 2>,
        sums: TensorMut<i32, 1>,
        rows: Shared<i32>,
        count: i32,
    }

    impl Work {
        fn double(&self) {
            for i in 0..16 {
                if i == self.count {
                    return;
                }
                self.rows.store(self.x.tile([i, 0], [1, 64]).load().reshape([64]));
                sync();
                self.doubled.tile([i, 0], [1, 64]).store(self.row() * 2);
                sync();
            }
        }

        fn row(&self) -> Tile<i32> {
            self.rows.load().expand(0)
        }

        fn add(&self, more: i32) {
            for i in 0..self.count {
                let sum = self.x.tile([i, 0], [1, 64]).load().sum(1);
                self.sums.tile([i], [1]).store(sum + more);
            }
        }
    }

    fn adding(work: &Work) -> Partition {
        partition(2).run(|| work.add(num_warps()))
    }

    fn both(work: &Work) {
        let add = adding(work);
        warp_specialize(|| work.double(), [add]);
    }

    #[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(W = [1, 4]))]
    pub fn methods<const W: i32>(
        x: Tensor<i32, 2>,
        n: i32,
        doubled: TensorMut<i32, 2>,
        sums: TensorMut<i32, 1>,
    ) {
        let work = Work { x, doubled, sums, rows: shared([64]), count: n };
        both(&work);
    }
}

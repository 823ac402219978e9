use kiln::prelude::*;

#[kernel]
mod lines {
    use kiln::prelude::*;

    fn fill<T: Number>(x: Tensor<T, 2>, slot: Shared<T>, full: Barrier) {
        for row in 0..x.dim(0) {
            slot.store(x.tile([row, 0], [1, 64]).load());
            full.arrive();
        }
    }

    fn drain<T: Number>(y: TensorMut<T, 2>, slot: Shared<T>, full: Barrier) {
        for row in 0..y.dim(0) {
            full.wait(row % 2);
            y.tile([row, 0], [1, 64]).store(slot.load());
        }
    }

    #[kernel(target = sm_90a, warps = 4, instances(T = [f32, i32]))]
    pub fn copied<T: Number>(x: Tensor<T, 2>, y: TensorMut<T, 2>) {
        let (slot, full) = (shared::<T>([1, 64]), barrier(1));
        warp_specialize(|| drain(y, slot, full), [partition(2).run(|| fill(x, slot, full))]);
    }
}

fn main() {}

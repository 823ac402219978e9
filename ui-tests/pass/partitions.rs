//! Partitions as values: made by functions, run as methods, with what the default one gives.
use kiln::prelude::*;

#[kernel]
mod rows {
    use kiln::prelude::*;

    struct Rows {
        x: Tensor<f32, 2>,
        y: TensorMut<f32, 2>,
        staged: Shared<f32>,
    }

    impl Rows {
        fn copy(&self) {
            self.staged.store(self.x.tile([0, 0], [1, 64]).load().reshape([64]));
            sync();
            self.y.tile([0, 0], [1, 64]).store(self.staged.load().expand(0));
        }

        fn clear(&self, row: i32) {
            self.y.tile([row, 0], [1, 64]).store(zeros([1, 64]));
        }
    }

    fn clearing(rows: &Rows, row: i32) -> Partition {
        partition(1).run(move || rows.clear(row))
    }

    #[kernel(target = [sm_80, sm_90a], warps = 2, grid = [1])]
    pub fn fill(n: i32, x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
        let rows = Rows { x, y, staged: shared([64]) };
        let mut kept = full::<f32>([1, 64], 1.0);
        let last = warp_specialize(
            || {
                kept = kept * 2.0;
                rows.copy();
                n - 1
            },
            [clearing(&rows, 1), partition(2).run(|| rows.clear(2))],
        );
        y.tile([last, 0], [1, 64]).store(kept);
    }
}

fn main() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([1, 64], 3.0)?;
    let mut y = stream.full([4, 64], 5.0)?;
    rows::fill(rows::fill::Args { n: 4, x: &x, y: &mut y }).launch(&stream)?;
    let rows = y.to_vec(&stream)?;
    let first: Vec<f32> = rows.chunks(64).map(|row| row[0]).collect();
    assert_eq!(first, [3.0, 0.0, 0.0, 2.0]);
    Ok(())
}

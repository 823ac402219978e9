//! Structs with methods that take `self` in all three ways, associated functions and constants, in a module.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ grid: 4
//@ arg x: f32[4, 64] list(1, 2, -3, 0.5)
//@ arg out: f32[4, 64] poison
//@ expect out: x(i, j) * 3.0 + 2.0
use kiln::prelude::*;

#[kernel]
mod structs {
    use kiln::prelude::*;

    const SCALE: f32 = 1.5;

    #[derive(Clone, Copy)]
    struct Window {
        row: i32,
        width: i32,
    }

    impl Window {
        const WIDTH: i32 = 64;

        fn of_block() -> Window {
            Window { row: block_id(0), width: Self::WIDTH }
        }

        fn at(&self) -> [i32; 2] {
            [self.row, 0]
        }

        fn read(self, from: Tensor<f32, 2>) -> Tile<f32> {
            from.tile(self.at(), [1, Window::WIDTH]).load()
        }
    }

    struct Sum {
        value: Tile<f32>,
        terms: i32,
    }

    impl Sum {
        fn add(&mut self, x: Tile<f32>) {
            self.value = self.value + x * SCALE;
            self.terms += 1;
        }

        fn finish(self) -> Tile<f32> {
            self.value + self.terms as f32
        }
    }

    #[kernel(target = sm_80, warps = 2)]
    pub fn structs(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
        let window = Window::of_block();
        const { assert!(Window::WIDTH == 64, "one row") };
        let mut sum = Sum { value: zeros::<f32>([1, 64]), terms: 0 };
        for _ in 0..2 {
            sum.add(window.read(x));
        }
        device_assert(window.width == 64);
        out.tile(window.at(), [1, 64]).store(sum.finish());
    }
}

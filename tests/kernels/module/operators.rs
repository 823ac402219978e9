//! Operators that a program defines for its own types: of two structs, of a struct and a number on either side, of one struct, and with `=`.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[64] list(1, -2, 3, 4, 2)
//@ arg y: f32[64] list(2, 1, -1)
//@ arg re: f32[64] poison
//@ arg im: f32[64] poison
//@ arg n: i32 scalar 3
//@ expect re: -8 * x(i)
//@ expect im: -2 * (x(i) * x(i) + y(i) * y(i)) - 8 * y(i)
use kiln::prelude::*;

#[kernel]
mod complex {
    use std::ops::{Add, AddAssign, Mul, Neg, Sub};

    use kiln::prelude::*;

    #[derive(Clone, Copy)]
    struct Complex {
        re: Tile<f32>,
        im: Tile<f32>,
    }

    impl Add for Complex {
        type Output = Complex;
        fn add(self, other: Complex) -> Self::Output {
            Complex { re: self.re + other.re, im: self.im + other.im }
        }
    }

    impl Sub for Complex {
        type Output = Self;
        fn sub(self, other: Self) -> Self {
            self + -other
        }
    }

    impl Neg for Complex {
        type Output = Complex;
        fn neg(self) -> Complex {
            Complex { re: -self.re, im: -self.im }
        }
    }

    impl Mul for Complex {
        type Output = Complex;
        fn mul(self, by: Complex) -> Complex {
            let re = self.re * by.re - self.im * by.im;
            Complex { re, im: self.re * by.im + self.im * by.re }
        }
    }

    impl Mul<f32> for Complex {
        type Output = Complex;
        fn mul(self, by: f32) -> Complex {
            Complex { re: self.re * by, im: self.im * by }
        }
    }

    impl Mul<Complex> for f32 {
        type Output = Complex;
        fn mul(self, by: Complex) -> Complex {
            by * self
        }
    }

    impl AddAssign for Complex {
        fn add_assign(&mut self, other: Complex) {
            *self = *self + other;
        }
    }

    #[kernel(target = sm_80, warps = 2, grid = 1)]
    pub fn operators(
        x: Tensor<f32, 1>,
        y: Tensor<f32, 1>,
        re: TensorMut<f32, 1>,
        im: TensorMut<f32, 1>,
        n: i32,
    ) {
        let (x, y) = (x.tile([0], [64]).load(), y.tile([0], [64]).load());
        let (z, w) = (Complex { re: x, im: y }, Complex { re: y, im: x });
        let mut r = -(z * w + z * 2.0);
        r += z;
        let q = 2.0 * (r - z * n.cast::<f32>());
        re.tile([0], [64]).store(q.re);
        im.tile([0], [64]).store(q.im);
    }
}

//! Operators that a program defines for references to its types: of two references, of a reference and a value on either side, of one reference, with
//! `=`; each is chosen by what the operands are. `==` and `!=` of structs, their own and derived.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[64] list(1, -2, 3, 4, 2)
//@ arg out: f32[64] poison
//@ arg kinds: i32[32] poison
//@ arg n: i32 scalar 3
//@ expect out: 4 * x(i) - 1
//@ expect kinds: if i == 0 { 1 } else if i == 1 { 10 } else if i == 2 { 100 } else if i == 3 { 1000 } else if i == 4 { 1 } else if i == 5 { 2 } else if i == 6 { 30 } else if i == 7 { 12 } else if i == 8 { 5 } else if i == 9 { 6 } else { 0 }
use kiln::prelude::*;

#[kernel]
mod of_references {
    use std::ops::{AddAssign, Neg, Sub};

    use kiln::prelude::*;

    #[derive(Clone, Copy)]
    struct Pair {
        re: Tile<f32>,
        im: Tile<f32>,
    }

    impl Sub for &Pair {
        type Output = Pair;
        fn sub(self, other: Self) -> Pair {
            Pair { re: self.re - other.re, im: self.im - other.im }
        }
    }

    impl Sub for Pair {
        type Output = Pair;
        fn sub(self, other: Pair) -> Pair {
            &self - &other
        }
    }

    impl Sub<f32> for &Pair {
        type Output = Pair;
        fn sub(self, by: f32) -> Pair {
            Pair { re: self.re - by, im: self.im - by }
        }
    }

    impl Neg for &Pair {
        type Output = Pair;
        fn neg(self) -> Pair {
            Pair { re: -self.re, im: -self.im }
        }
    }

    impl AddAssign<&Pair> for Pair {
        fn add_assign(&mut self, other: &Pair) {
            self.re = self.re + other.re;
            self.im = self.im + other.im;
        }
    }

    #[derive(Clone, Copy)]
    struct Kind {
        code: i32,
    }

    impl Sub<Kind> for Kind {
        type Output = i32;
        fn sub(self, _: Kind) -> i32 {
            1
        }
    }

    impl Sub<&Kind> for Kind {
        type Output = i32;
        fn sub(self, _: &Kind) -> i32 {
            10
        }
    }

    impl Sub<Kind> for &Kind {
        type Output = i32;
        fn sub(self, _: Kind) -> i32 {
            100
        }
    }

    impl Sub<&Kind> for &Kind {
        type Output = i32;
        fn sub(self, _: &Kind) -> i32 {
            1000
        }
    }

    impl PartialEq for Kind {
        fn eq(&self, other: &Self) -> bool {
            self.code == other.code
        }
    }

    impl PartialEq<i32> for Kind {
        fn eq(&self, other: &i32) -> bool {
            self.code == *other + 1
        }

        fn ne(&self, other: &i32) -> bool {
            self.code == *other + 2
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    struct Both {
        kind: Kind,
        more: [i32; 2],
        pair: (f32, bool),
    }

    fn less_of(a: &Kind, b: &Kind) -> i32 {
        a - b
    }

    #[kernel(target = sm_80, warps = 2, grid = 1)]
    pub fn operators_of_references(
        x: Tensor<f32, 1>,
        out: TensorMut<f32, 1>,
        kinds: TensorMut<i32, 1>,
        n: i32,
    ) {
        let x = x.tile([0], [64]).load();
        let (z, w) = (Pair { re: x * 2.0, im: x }, Pair { re: x, im: x });
        let mut r = z - w; // x, 0
        r += &(&z - &-&w); // 4 x, 2 x
        let q = &r - 1.0;
        out.tile([0], [64]).store(q.re);

        let (a, b, same) = (Kind { code: n }, Kind { code: 4 }, Kind { code: n });
        let of = |code: i32, at: i32| {
            if code != 0 {
                kinds.tile([at], [1]).store(full([1], code));
            }
        };
        kinds.tile([0], [32]).store(zeros([32]));
        sync();
        of(a - b, 0);
        of(a - &b, 1);
        of(&a - b, 2);
        let (first, second) = (&a, &b);
        of(if first - second == less_of(first, &b) { first - second } else { 0 }, 3);
        of(if a == same { 1 } else { 0 }, 4);
        of(if a != b && !(a == b) && !(a != same) { 2 } else { 0 }, 5);
        of(if &a == &same && &a != second { 30 } else { 0 }, 6);
        // Equal to what is one less, and different from what is two less.
        of(if a == 2 && a != 1 && !(a != 2) { 12 } else { 0 }, 7);

        let all = Both { kind: a, more: [n, 1], pair: (0.5, n > 2) };
        let alike = Both { kind: same, more: [3, n - 2], pair: (0.5, true) };
        of(if all == alike && !(all != alike) { 5 } else { 0 }, 8);
        let other = |kind, more, pair| all != Both { kind, more, pair };
        let kinds_differ = other(b, [n, 1], (0.5, true));
        let more_differs = other(a, [n, n], (0.5, true));
        let numbers_differ = other(a, [n, 1], (1.5, true));
        let masks_differ = other(a, [n, 1], (0.5, false));
        let each = kinds_differ && more_differs && numbers_differ && masks_differ;
        of(if each { 6 } else { 0 }, 9);
    }
}

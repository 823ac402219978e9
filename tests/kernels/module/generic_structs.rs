//! Structs generic over types and constants, made by associated functions without a word about their parameters.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[64] list(1, 2, -3, 0.5)
//@ arg n: i32 scalar 3
//@ arg out: f32[6, 64] poison
//@ expect out: if i == 0 { x(j) * 2.0 } else { if i == 1 { 3.0 - j } else { if i == 2 { x(j) + j } else { if i == 3 { x(j) * 3.0 } else { if i == 4 { x(j) * 4.0 } else { 6.0 } } } } }
use kiln::prelude::*;

#[kernel]
mod generic_structs {
    use kiln::prelude::*;

    #[derive(Clone, Copy)]
    struct Acc<T> {
        sum: Tile<T>,
        terms: i32,
    }

    impl<T: Number> Acc<T> {
        fn new(sum: Tile<T>) -> Self {
            Acc { sum, terms: 1 }
        }
        fn add(&mut self, x: Tile<T>) {
            self.sum += x;
            self.terms += 1;
        }
        fn join(left: Self, right: Self) -> Self {
            let mut both = Self::new(left.sum);
            both.add(right.sum);
            both
        }
        /// `T` stands in the body alone: it comes from the receiver.
        fn times(self, by: i32) -> Tile<T> {
            self.sum * by.cast::<T>()
        }
    }

    struct Pair<A, B> {
        a: A,
        b: B,
    }

    impl<A, B> Pair<A, B> {
        fn of(a: A, b: B) -> Pair<A, B> {
            Pair { a, b }
        }
        fn swap(self) -> Pair<B, A> {
            Pair::of(self.b, self.a)
        }
    }

    /// A parameter of the `impl` that is not the struct's own one.
    impl<C: Number> Pair<Tile<C>, i32> {
        fn sized(tile: Tile<C>) -> Self {
            Pair { a: tile, b: C::BYTES }
        }
    }

    #[kernel(target = sm_80, warps = 2, grid = 1)]
    pub fn generic_structs(x: Tensor<f32, 1>, n: i32, out: TensorMut<f32, 2>) {
        let x = x.tile([0], [64]).load();
        let mut twice = Acc::new(x);
        twice.add(x);
        out.tile([0, 0], [1, 64]).store(twice.sum.expand(0));
        let row = Pair::of(n, arange(0, 64)).swap();
        out.tile([1, 0], [1, 64]).store((row.b - row.a).cast::<f32>().expand(0));
        let both: Acc<f32> = Acc::join(Acc::new(x), Acc::new(arange(0, 64).cast()));
        out.tile([2, 0], [1, 64]).store(both.sum.expand(0));
        out.tile([3, 0], [1, 64]).store(Acc::times(Acc::new(x), 3).expand(0));
        out.tile([4, 0], [1, 64]).store(Pair::sized(x).a.expand(0) * 4.0);
        let bytes = Pair::sized(full([64], f16::of(1.0))).b + Pair::sized(x).b;
        out.tile([5, 0], [1, 64]).store(full([1, 64], bytes as f32));
    }
}

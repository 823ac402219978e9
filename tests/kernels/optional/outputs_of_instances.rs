//! An optional output and an optional pointer, in instances of several types, and handed to functions: `let .. else`, conditions
//! joined by `&&`, `match` on two of them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 100
//@ arg x: T[100] list(1, -2, 0, 3, 5)
//@ arg y: T[100] poison
//@ arg least: ptr T[1] list(2)
//@ arg sum: T[100] poison
//@ case: all
//@ expect y: if x(i) > 2 { x(i) } else { 2 }
//@ expect sum: x(i) + 2
//@ case: no sum
//@ arg sum: none
//@ expect y: if x(i) > 2 { x(i) } else { 2 }
//@ case: no least
//@ arg least: none
//@ expect y: x(i)
//@ expect sum: x(i) + x(i)
//@ case: neither
//@ arg least: none
//@ arg sum: none
//@ expect y: x(i)
//@ case: few elements
//@ arg n: i32 scalar 3
//@ arg x: T[3] list(1, 2, 9)
//@ arg y: T[3] poison
//@ arg sum: T[3] poison
//@ expect y: x(i)
//@ expect sum: x(i) + 2
use kiln::prelude::*;

#[kernel]
mod outputs_of_instances {
    use kiln::prelude::*;

    struct Limits<T> {
        least: Option<Ptr<T>>,
    }

    impl<T: Number> Limits<T> {
        fn of(&self, v: Tile<T>) -> Tile<T> {
            match self.least {
                None => v,
                Some(least) => maximum(v, load(least)),
            }
        }
    }

    fn partner<T: Number>(v: Tile<T>, least: &Option<Ptr<T>>) -> Tile<T> {
        let Some(least) = least else { return v };
        full([v.dim(0)], load(*least))
    }

    #[kernel(target = sm_80, warps = 2, grid = cdiv(n, 64), instances(T = [i32, f32]))]
    pub fn outputs_of_instances<T: Number>(
        n: i32,
        x: Tensor<T, 1>,
        y: TensorMut<T, 1>,
        least: Option<Ptr<T>>,
        sum: Option<TensorMut<T, 1>>,
    ) {
        let at = [block_id(0) * 64];
        let v = x.tile(at, [64]).load();
        let limits = Limits { least };
        // Only where there are more than a few elements.
        if n > 8 && let Some(_) = least && limits.least.is_some() {
            y.tile(at, [64]).store(limits.of(v));
        } else {
            y.tile(at, [64]).store(v);
        }
        match (least.is_some(), sum) {
            (_, None) => {}
            (true, Some(sum)) => sum.tile(at, [64]).store(v + partner(v, &least)),
            (false, Some(sum)) => sum.tile(at, [64]).store(v + v),
        }
    }
}

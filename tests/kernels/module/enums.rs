//! Enums without data: constants in `match`, methods, numbers of their own, and a variant that is chosen at run time.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ grid: 4
//@ arg x: f32[4, 64] list(1, -2, 3, 0, 2)
//@ arg out: f32[4, 64] poison
//@ arg code: i32[1] poison
//@ expect out: (1 - i % 2) * max(x(i, j), 0) + (i % 2) * -x(i, j) + 7
//@ expect code: 6
use kiln::prelude::*;

#[kernel]
mod activations {
    use kiln::prelude::*;

    #[derive(Clone, Copy, PartialEq)]
    enum Act {
        Relu,
        Negated,
        Same = 5,
        Other,
    }

    impl Act {
        fn apply(self, x: Tile<f32>) -> Tile<f32> {
            match self {
                Act::Relu => maximum(x, 0.0),
                Act::Negated => -x,
                Act::Same | Self::Other => x,
            }
        }
    }

    const FIRST: Act = Act::Relu;

    #[kernel(target = sm_80, warps = 2)]
    pub fn enums(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, code: TensorMut<i32, 1>) {
        let row = block_id(0);
        let act = if row % 2 == 0 { FIRST } else { Act::Negated };
        let v = x.tile([row, 0], [1, 64]).load();
        let same = Act::Same.apply(full([1, 64], 7.0));
        out.tile([row, 0], [1, 64]).store(act.apply(v) + same);
        if row == 0 && act == Act::Relu {
            code.tile([0], [1]).store(full([1], Act::Other as i32));
        }
    }
}

//! A struct and an array that may be absent as a whole: each of the six choices computes with what is there.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg layer.scale: f32[70] list(1, -2, 0.5, 3, nan, -4, inf, 0, -0.25)
//@ arg layer.bias: f32[70] iota(0.5, 1)
//@ arg layer.times: i32 scalar 2
//@ arg xs[0]: f32[70] iota(1, 1)
//@ arg xs[1]: f32[70] iota(-3, 0.5) strides(2) offset(1)
//@ arg out: f32[70] poison
//@ case: both
//@ expect out: (xs[0](i) + xs[1](i)) * layer.scale(i) * 2 + layer.bias(i)
//@ case: no bias
//@ arg layer.bias: none
//@ expect out: (xs[0](i) + xs[1](i)) * layer.scale(i) * 2
//@ case: no layer
//@ arg layer.scale: none
//@ arg layer.bias: none
//@ arg layer.times: none
//@ expect out: xs[0](i) + xs[1](i)
//@ case: no array
//@ arg xs[0]: none
//@ arg xs[1]: none
//@ expect out: 8 * layer.scale(i) * 2 + layer.bias(i)
//@ case: no array and no bias
//@ arg layer.bias: none
//@ arg xs[0]: none
//@ arg xs[1]: none
//@ expect out: 8 * layer.scale(i) * 2
//@ case: neither
//@ arg layer.scale: none
//@ arg layer.bias: none
//@ arg layer.times: none
//@ arg xs[0]: none
//@ arg xs[1]: none
//@ expect out: 8
use kiln::prelude::*;

#[kernel]
mod layers {
    use kiln::prelude::*;

    pub struct Layer {
        #[stride(1)]
        scale: Tensor<f32, 1>,
        bias: Option<Tensor<f32, 1>>,
        times: i32,
    }

    impl Layer {
        fn apply(self, x: Tile<f32>, at: i32) -> Tile<f32> {
            let y = x * self.scale.tile([at], [32]).load() * self.times.to_f32();
            match self.bias {
                Some(bias) => y + bias.tile([at], [32]).load(),
                None => y,
            }
        }
    }

    fn total(xs: Option<[Tensor<f32, 1>; 2]>, at: i32) -> Tile<f32> {
        let Some(xs) = xs else { return full([32], 8.0) };
        xs[0].tile([at], [32]).load() + xs[1].tile([at], [32]).load()
    }

    #[kernel(target = sm_80, warps = 2, grid = cdiv(out.dim(0), 32))]
    pub fn struct_and_array(
        layer: Option<Layer>,
        xs: Option<[Tensor<f32, 1>; 2]>,
        out: TensorMut<f32, 1>,
    ) {
        let at = block_id(0) * 32;
        let mut x = total(xs, at);
        if let Some(layer) = layer {
            x = layer.apply(x, at);
        }
        out.tile([at], [32]).store(x);
    }
}

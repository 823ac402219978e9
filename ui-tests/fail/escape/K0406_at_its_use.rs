//! What a thread has for itself is underlined where it decides, wherever it was computed.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn places(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    let v = x.tile([lane], [32]).load();
    y.tile([lane], [32]).store(v);
    let s = shared::<f32>([2, 32]);
    copy_async(x.tile([lane], [32]), s[0]);
    s[lane].store(v);
}

#[kernel(target = sm_80, warps = 1)]
pub fn ways(y: TensorMut<f32, 1>) {
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    let turns = |n: i32| n * 2;
    for i in 0..turns(lane) {
        y.tile([i], [1]).store(zeros([1]));
    }
    let is_first = lane == 0;
    if is_first {
        sync();
    }
}

#[kernel]
mod helper {
    use kiln::prelude::*;

    fn clear(y: TensorMut<f32, 1>, i: i32) {
        y.tile([i], [32]).store(zeros([32]));
    }

    #[kernel(target = sm_80, warps = 1)]
    pub fn in_a_function(y: TensorMut<f32, 1>) {
        clear(y, ptx!("mov.u32 {out}, %laneid;" => i32));
    }
}

fn main() {}

use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let s = shared::<f32>([128]);
    copy_async(x.tile([0], [128]).evict_first(), s).evict_last();
    let v = x.tile([0], [128]).evict_first().evict_last().load();
    let w = x.tile([0], [128]).evict_last().evict_last().load();
    x.tile([0], [128]).evict_first().prefetch();
    out.tile([0], [128]).store(v + w);
}

fn main() {}

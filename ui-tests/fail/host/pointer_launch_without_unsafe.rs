use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(ids.dim(0), 128))]
pub fn look_up(table: Tensor<f32, 1>, ids: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 128];
    let id = ids.tile(at, [128]).load();
    let known = id.ge(0) & id.lt(table.dim(0));
    out.tile(at, [128]).store(load_masked(table.ptr() + id, known, 0.0));
}

fn main() -> Result<()> {
    let stream = Device::best_for(look_up::TARGETS)?.stream()?;
    let table = stream.upload(&[0.5f32; 1000], [1000])?;
    let ids = stream.upload(&[1, 5, 999], [3])?;
    let mut out = stream.zeros::<f32, 1>([3])?;
    look_up(look_up::Args { table: &table, ids: &ids, out: &mut out }).launch(&stream)
}

//! Pipelined loops whose copies depend on what is not known iterations ahead, and uses of what an iteration may not have copied.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn follows_links(links: Tensor<i32, 1>, cache: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    let mut page = 0;
    for _k in pipeline(0..8, 3) {
        copy_async(cache.tile([page * 16, 0], [16, 32]), s);
        acc += s.load();
        page = load(links.ptr() + page);
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn copies_until(cache: Tensor<f32, 2>, most: i32, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    let mut used = 0;
    for k in pipeline(0..8, 3) {
        if used < most {
            copy_async(cache.tile([k * 16, 0], [16, 32]), s);
            acc += s.load();
            used += 1;
        }
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn marks_pages(table: TensorMut<i32, 1>, cache: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(0..8, 3) {
        let page = load(table.ptr() + k);
        copy_async(cache.tile([page * 16, 0], [16, 32]), s);
        acc += s.load();
        store(table.ptr() + page, -1);
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn copies_indices(table: Tensor<i32, 1>, cache: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (indices, s) = (shared::<i32>([16]), shared::<f32>([16, 32]));
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(range(0, 128, 16), 3) {
        copy_async(table.tile([k], [16]), indices);
        let rows = indices.load();
        copy_async(cache.ptr() + (rows.expand(1) * 32 + arange(0, 32).expand(0)), s);
        acc += s.load();
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn takes_work(
    taken: TensorMut<i32, 1>,
    table: Ptr<i32>,
    cache: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(0..8, 3) {
        let page = load(table + k);
        copy_async(cache.tile([page * 16, 0], [16, 32]), s);
        acc += s.load();
        atomic::add(taken.ptr(), 1);
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn uses_what_is_skipped(mask: Tensor<i32, 1>, x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(0..8, 3) {
        if load(mask.ptr() + k) != 0 {
            copy_async(x.tile([k * 16, 0], [16, 32]), s);
        }
        acc += s.load();
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_90a, warps = 4)]
pub fn uses_under_another_condition(
    #[block(16, 32)] x: TensorMap<f32, 2>,
    n: i32,
    out: TensorMut<f32, 2>,
) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(0..8, 3) {
        copy_async(x.at([k * 16, 0]), s).when(k < n);
        if k <= n {
            acc += s.load();
        }
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn asserts_first(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    let mut sum = 0.0;
    for k in pipeline(0..8, 3) {
        device_assert(sum < 100.0);
        copy_async(x.tile([k * 16, 0], [16, 32]), s);
        sum += s.load().sum(0).sum(0).item();
        acc += s.load();
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

#[kernel(target = sm_80, warps = 4)]
pub fn stores_first(x: Tensor<f32, 2>, seen: TensorMut<i32, 1>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 32]);
    let t = shared::<f32>([16, 32]);
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(0..8, 3) {
        copy_async(x.tile([k * 16, 0], [16, 32]), s);
        seen.tile([k], [1]).store(full([1], k));
        copy_async(x.tile([k * 16, 32], [16, 32]), t);
        acc += s.load() + t.load();
    }
    out.tile([0, 0], [16, 32]).store(acc);
}

fn main() {}

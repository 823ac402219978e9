//! Texts that compute leave the launch safe; with one that touches memory or gives a pointer it is `unsafe`.
use kiln::prelude::*;

#[device]
fn bumped(p: Ptr<i32>) -> i32 {
    ptx!("atom.global.add.s32 {out}, [{p}], 1;", p = p => i32)
}

/// Arithmetic and what a thread reads of itself.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn pure_texts(x: TensorMut<f32, 1>) {
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    let v = x.tile([0], [32]).load();
    let near = v.map(|e| ptx!("ex2.approx.ftz.f32 {out}, {e};", e = e => f32));
    ptx!("@{bad} trap;", bad = lane >= 32);
    x.tile([0], [32]).store(near);
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn writes(x: TensorMut<i32, 1>) {
    ptx!("st.global.u32 [{at}], 1;", at = 64i64);
    x.tile([0], [32]).store(zeros([32]));
}

/// A pointer made of a number reaches any memory.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn forges(x: TensorMut<i32, 1>, address: u64) {
    let first = load(ptx!("mov.b64 {out}, {a};", a = address => Ptr<i32>));
    x.tile([0], [32]).store(arange(0, 32) + first);
}

/// The text is elsewhere; the address shows.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn counts(x: TensorMut<i32, 1>) {
    device_assert(bumped(x.ptr()) >= 0);
}

/// A pointer that is an argument is unsafe already.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn counts_there(p: Ptr<i32>) {
    device_assert(bumped(p) >= 0);
}

pub fn run(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    pure_texts(pure_texts::Args { x }).launch(stream)
}

/// # Safety
/// Nothing is at address 64.
pub unsafe fn run_writes(stream: &Stream, x: &mut DeviceTensor<i32, 1>) -> Result<()> {
    // SAFETY: this is what the function asks for.
    unsafe { writes(writes::Args { x: &mut *x }).launch(stream)? };
    // SAFETY: and nothing there is what it asks for here, too.
    unsafe { forges(forges::Args { x: &mut *x, address: 64 }).launch(stream)? };
    // SAFETY: the kernel changes the first element.
    unsafe { counts(counts::Args { x }).launch(stream) }
}

fn main() {}

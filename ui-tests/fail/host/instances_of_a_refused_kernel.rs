use kiln::prelude::*;
use kiln::sched::{Linear, Schedule};

#[kernel(target = sm_80, grid = 1, instances(T = [f16, f32], S = [Linear], N = [64, 128]))]
pub fn clear<T: Float, S: Schedule, const N: i32>(x: TensorMut<T, 1>, by: T) {
    x.tile([0], [N]).store(zeroes([N]) * by);
}

fn run<T: Element, const N: i32>(stream: &Stream, x: &mut DeviceTensor<T, 1>, by: T) -> Result<()>
where
    clear::Instances: clear::Include<T, Linear, N>,
{
    for one in clear::instances().filter(|one| one.N > 64 && one.T == Dtype::F16) {
        println!("{one} {:?} {}", one.targets(), one.S.is::<Linear>());
        one.with(clear::Args { x, by }).grid(1).launch(stream)?;
    }
    let values = clear::find(|one| one.N == 64)?.values();
    clear::Values { N: 96, ..values }.find()?;
    clear::INSTANCES[0].with_arguments([1i32.into_argument()]).launch(stream)?;
    clear::<T, Linear, N>(clear::Args { x, by }).launch(stream)
}

fn main() {}

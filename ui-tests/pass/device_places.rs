//! Device items by every kind of path: relative ones, imports of bodies, globs, other names, re-exports; in modules, kernel modules and bodies.
#![deny(warnings)]

use kiln::prelude::*;

mod a {
    pub mod b {
        use super::helper as renamed;
        use kiln::prelude::*;

        #[device]
        pub(crate) fn f(x: Tile<f32>) -> Tile<f32> {
            super::helper(x) + renamed(x) + self::own(x) + crate::a::helper(x)
        }

        #[device]
        fn own(x: Tile<f32>) -> Tile<f32> {
            x
        }
    }

    use kiln::prelude::*;

    #[device]
    fn helper(x: Tile<f32>) -> Tile<f32> {
        x + 1.0
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn k(out: TensorMut<f32, 1>) {
        let t = out.tile([0], [128]);
        let doubled = self::helper(super::double(t.load()));
        t.store(doubled + crate::double(b::f(t.load())));
    }
}

#[device]
fn double(x: Tile<f32>) -> Tile<f32> {
    x * 2.0
}

/// The library again, under names of this crate's.
mod again {
    pub(crate) use device_library::act::{silu as swish, *};
    pub(crate) use device_library::sched as orders;
}

#[kernel]
mod kernels {
    use super::again::*;
    use super::double as twice;
    use kiln::prelude::*;
    use kiln::sched::{Grouped as InGroups, Schedule};
    use orders::{self as o, Snake};

    fn mine(x: Tile<f32>) -> Tile<f32> {
        twice(x) + swish(x) - silu(x) + sigmoid(x) * 0.0 + threshold::<f32, 50>(x) * 0.0
    }

    pub struct Here {
        pub x: i32,
    }

    impl Here {
        pub fn y(&self) -> i32 {
            o::Snake::new(self.x, 2).tile(3).0
        }
    }

    #[derive(Clone, Copy)]
    pub struct Own;

    impl Schedule for Own {
        fn new(_tiles_m: i32, _tiles_n: i32) -> Own {
            Own
        }

        fn count(self) -> i32 {
            8
        }

        fn tile(self, i: i32) -> (i32, i32) {
            (i, 7)
        }
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn one(out: TensorMut<f32, 1>) {
        let t = out.tile([0], [128]);
        t.store(mine(t.load()) + (Here { x: 3 }.y() as f32));
    }

    #[kernel(target = sm_80, warps = 4, grid = 1, instances(S = [Own, Snake, InGroups<2>, kiln::sched::Persistent<o::Snake>]))]
    pub fn two<S: Schedule>(out: TensorMut<f32, 1>) {
        let t = out.tile([0], [128]);
        t.store(twice(t.load()) + (S::new(2, 2).tile(1).1 as f32));
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn nothing_shared(out: TensorMut<f32, 1>) {
        let t = out.tile([0], [128]);
        t.store(t.load());
    }
}

fn body(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    use device_library::act::silu as hidden;

    #[device]
    fn triple(x: Tile<f32>) -> Tile<f32> {
        hidden(x) * 0.0 + x * 3.0
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    fn inner(x: TensorMut<f32, 1>) {
        use device_library::{act::sigmoid as s, sched};
        let t = x.tile([0], [64]);
        let zero = sched::origin::<sched::Snake, 1, 1>(1, 1)[0] as f32;
        let first = kiln::Ring::reader(2).slot as f32;
        t.store(triple(t.load()) + hidden(t.load()) * 0.0 + s(t.load()) * 0.0 + zero + first);
    }

    inner(inner::Args { x }).launch(stream)
}

fn main() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut x = stream.full([200], 1.0f32)?;
    body(&stream, &mut x)?;
    assert_eq!(x.to_vec(&stream)?[0], 3.0);
    // (2·3 + 1) + 2·(4 + 4 + 3 + 4)
    a::k(a::k::Args { out: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?[0], 37.0);
    // 2·37, and row 1 of tile 3
    kernels::one(kernels::one::Args { out: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?[0], 75.0);
    kernels::two::<kernels::Own>(kernels::two::Args { out: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?[0], 157.0);
    kernels::nothing_shared(kernels::nothing_shared::Args { out: &mut x }).launch(&stream)?;
    // No place of this machine in the code.
    for variant in kernels::one::INSTANCES[0].images().iter().flat_map(|image| image.variants) {
        assert!(!variant.ptx.contains("\"/"), "{}", variant.ptx);
    }
    Ok(())
}

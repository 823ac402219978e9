use kiln::prelude::*;

const A: i32 = 4;

#[kernel(target = sm_80, warps = 1, instances(N = [A, 8]))]
pub fn clear<const N: i32>(x: TensorMut<f32, 1>) {
    x.tile([0], [N]).store(zeros([N]));
}

#[kernel]
mod helpers {
    use kiln::prelude::*;

    const fn square(n: i32) -> i32 {
        n * n
    }

    const SIDE: i32 = square(2);

    struct Pair {
        a: i32,
    }

    impl Default for Pair {
        fn default() -> Pair {
            Pair { a: SIDE }
        }
    }

    #[kernel(target = sm_80, warps = 1)]
    pub fn name(x: TensorMut<i32, 1>) {
        let s: &str = "x";
        x.tile([0], [SIDE]).store(full([SIDE], missing + Pair::default().a));
    }
}

fn main() {}

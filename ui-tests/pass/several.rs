//! Reductions and scans of several tiles, in every form that the types allow.
use kiln::prelude::*;

#[device]
mod moments {
    /// A mean and how many values it is of.
    #[derive(Clone, Copy)]
    pub struct Mean {
        pub mean: f32,
        pub count: f32,
    }

    impl Mean {
        pub fn merge(self, other: Mean) -> Mean {
            let count = self.count + other.count;
            Mean { mean: (self.mean * self.count + other.mean * other.count) / count, count }
        }
    }
}
use moments::Mean;

#[device]
fn running<T: Tiles>(tiles: T, f: impl Fn(T::Element, T::Element) -> T::Element) -> T {
    tiles.scan(0, f)
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn several(x: Tensor<f32, 2>, y: Tensor<i32, 2>, out: TensorMut<f32, 1>, all: TensorMut<f32, 2>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let y = y.tile([0, 0], [16, 64]).load();
    let (mean, count) = (x, full([1, 1], 1.0)).reduce(1, |(m, n), (l, k)| {
        let all = Mean { mean: m, count: n }.merge(Mean { mean: l, count: k });
        (all.mean, all.count)
    });
    let (best, (_, _)) = (x, (y, y.gt(0))).reduce([1], |(a, (i, p)), (b, (j, q))| {
        if b > a { (b, (j, p | q)) } else { (a, (i, p | q)) }
    });
    let whole = (x, y).reduce([0, -1], |a, b| if b.0 > a.0 { b } else { a });
    out.tile([0], [16]).store(mean + count + best + whole.0);
    let eight = (x, x, x, x, x, x, x, y).scan_reverse(-1, |a, b| {
        (a.0 + b.0, a.1, b.2, a.3, b.4, a.5.max(b.5), a.6 * b.6, b.7)
    });
    let (before, _) = (x, y).scan_exclusive(0, (0.0, 1), |(a, i), (b, j)| (a + b, i * j));
    let (after, _) = (x, y).scan_reverse_exclusive(0, (0.0, 1), |(a, i), (b, j)| (a + b, i * j));
    let (sums, _) = running((x, y), |(a, i), (b, j)| (a + b, i.max(j)));
    all.tile([0, 0], [16, 64]).store(before + after + eight.0 + sums.flip(0) + x.cumprod(1));
}

fn main() {}

//! Kernels made at random: whatever meets, layouts fit together and the meaning stays.

use kernel_layout::Form;

use super::inferred;
use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{
    Binary, Compare, Dtype, ElementwiseOp, Factors, MemoryOp, ProductOp, TileOp, Type, Value,
};
use crate::layouts::infer;

/// Shapes of the tiles: each operation leads from one to another.
const SHAPES: [&[u32]; 5] = [&[16, 64], &[64, 16], &[16], &[64], &[16, 16]];

struct Random {
    state: u32,
}

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        // A linear congruential generator (Numerical Recipes, "Quick and dirty generators"); the high bits are good.
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 16) % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(u32::try_from(from.len()).expect("a short list")) as usize]
    }
}

/// The tiles made so far, by shape.
type Pool = [Vec<Value>; SHAPES.len()];

fn pinned(random: &mut Random, rank: usize) -> Form {
    let blocked = |per_thread: &[u32], lanes: &[u32], warps: &[u32], order: &[u32]| {
        let [per_thread, lanes, warps, order] =
            [per_thread, lanes, warps, order].map(<[u32]>::to_vec);
        Form::Blocked { per_thread, lanes, warps, order }
    };
    let wide = [
        blocked(&[1, 4], &[4, 8], &[2, 1], &[1, 0]),
        blocked(&[4, 1], &[8, 4], &[1, 2], &[0, 1]),
        Form::MmaV2 { warps: [1, 2] },
        Form::MmaV2 { warps: [2, 1] },
    ];
    let axis = random.below(2);
    let parent = wide[random.below(4) as usize].clone();
    match (rank, random.below(2)) {
        (2, _) => parent,
        (_, 0) => blocked(&[2], &[32], &[2], &[0]),
        _ => Form::Slice { axis, parent: Box::new(parent) },
    }
}

/// One more tile.
fn step(b: &mut Builder, random: &mut Random, pool: &mut Pool) {
    let at = random.below(5) as usize;
    let (made, shape) = match (random.below(8), at) {
        (0, 0) => {
            let row = random.pick(&pool[2]);
            (b.spread(row, 1, SHAPES[0]), 0)
        }
        (1, 0) => {
            let row = random.pick(&pool[3]);
            (b.spread(row, 0, SHAPES[0]), 0)
        }
        (0, 2) => {
            let wide = random.pick(&pool[0]);
            (b.reduce(wide, 1, Binary::Add), 2)
        }
        (0, 3) => {
            let wide = random.pick(&pool[0]);
            (b.reduce(wide, 0, Binary::Max), 3)
        }
        (0 | 1, 1) => {
            let wide = random.pick(&pool[0]);
            (b.op(TileOp::Permute(vec![1, 0]), &[wide], tile(Dtype::F32, SHAPES[1])), 1)
        }
        (2, 0) => {
            let tall = random.pick(&pool[1]);
            (b.op(TileOp::Reshape, &[tall], tile(Dtype::F32, SHAPES[0])), 0)
        }
        (0..3, 4) => {
            let (left, right, acc) =
                (random.pick(&pool[0]), random.pick(&pool[1]), random.pick(&pool[4]));
            let factors = if random.below(2) == 0 { Factors::Tf32 } else { Factors::Full };
            (b.same(ProductOp::Dot(factors), &[left, right, acc]), 4)
        }
        (3, _) if random.below(3) == 0 => {
            let value = random.pick(&pool[at]);
            (b.same(TileOp::Flip(0), &[value]), at)
        }
        (3, _) if random.below(3) == 0 => {
            let value = random.pick(&pool[at]);
            let whole = b.cast(value, Dtype::I32);
            let sorted = b.same(TileOp::Sort(0), &[whole]);
            (b.op(TileOp::Gather(0), &[value, sorted], tile(Dtype::F32, SHAPES[at])), at)
        }
        (3, _) => {
            let value = random.pick(&pool[at]);
            let form = pinned(random, SHAPES[at].len());
            (b.same(TileOp::ToLayout(form), &[value]), at)
        }
        (4, _) => {
            let (x, y) = (random.pick(&pool[at]), random.pick(&pool[at]));
            let mask = b.op(Compare::Lt, &[x, y], tile(Dtype::Bool, SHAPES[at]));
            (b.same(ElementwiseOp::Select, &[mask, y, x]), at)
        }
        _ => {
            let (x, y) = (random.pick(&pool[at]), random.pick(&pool[at]));
            (b.binary(random.pick(&[Binary::Add, Binary::Sub, Binary::Min]), x, y), at)
        }
    };
    pool[shape].push(made);
}

/// A loop that carries a tile of each shape, or a branch that chooses one.
fn nest(b: &mut Builder, random: &mut Random, pool: &mut Pool) {
    let some: Vec<Value> = pool.iter().map(|tiles| random.pick(tiles)).collect();
    let made = if random.below(2) == 0 {
        let range = [b.int(0), b.int(2), b.int(1)];
        b.count(range, &some, |b, _, carried| {
            let mut inner = pool.clone();
            for (tiles, &value) in inner.iter_mut().zip(carried) {
                tiles.push(value);
            }
            for _ in 0..4 {
                step(b, random, &mut inner);
            }
            inner.iter().map(|tiles| random.pick(tiles)).collect()
        })
    } else {
        let (block, zero) = (b.block_id(0), b.int(0));
        let first = b.op(Compare::Eq, &[block, zero], Type::scalar(Dtype::Bool));
        let mut inner = pool.clone();
        let others: Vec<Value> = pool.iter().map(|tiles| random.pick(tiles)).collect();
        let then = |b: &mut Builder| {
            for _ in 0..4 {
                step(b, random, &mut inner);
            }
            inner.iter().map(|tiles| random.pick(tiles)).collect()
        };
        b.branch(first, then, |_| others)
    };
    for (tiles, value) in pool.iter_mut().zip(made) {
        tiles.push(value);
    }
}

/// Kernels that are made up: a second of an unoptimised build.
const SEEDS: u32 = 60;

#[test]
fn layouts_fit_together_whatever_meets() {
    let mut sound = 0;
    for seed in 0..SEEDS {
        let mut random = Random { state: seed };
        let mut b = Builder::new("random", 2);
        let zero = b.int(0);
        let mut pool = Pool::default();
        for (at, tiles) in pool.iter_mut().enumerate() {
            let rank = u32::try_from(SHAPES[at].len()).expect("a small rank");
            let param = b.tensor(&format!("x{at}"), Dtype::F32, rank);
            let offsets = vec![zero; SHAPES[at].len()];
            let loaded = b.load_tensor(param, &offsets, SHAPES[at]);
            let (_, window) = b.shared(Dtype::F32, SHAPES[at]);
            b.effect(MemoryOp::StoreShared, &[window, loaded]);
            *tiles = vec![loaded, b.zeros(Dtype::F32, SHAPES[at]), b.load_shared(window)];
        }
        for _ in 0..2 {
            for _ in 0..4 {
                step(&mut b, &mut random, &mut pool);
            }
            nest(&mut b, &mut random, &mut pool);
        }
        for (at, tiles) in pool.iter().enumerate() {
            let offsets = vec![zero; SHAPES[at].len()];
            let out = u32::try_from(at).expect("few parameters");
            b.store_tensor(out, &offsets, random.pick(tiles));
        }
        let kernel = b.finish();
        // A pin that a product cannot use is the only thing that may be wrong.
        if infer(&mut kernel.clone()).is_ok() {
            inferred(kernel);
            sound += 1;
        }
    }
    assert!(sound > 40, "only {sound} kernels have layouts");
}

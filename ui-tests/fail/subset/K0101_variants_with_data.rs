use kiln::prelude::*;

/// A variant with named data, given and taken, beside one of a tuple that nothing uses.
#[kernel]
mod bounds {
    use kiln::prelude::*;

    pub enum Bound {
        Free,
        Above { least: f32 },
        Within(f32, f32),
    }

    fn bounded(x: Tile<f32>, bound: Bound) -> Tile<f32> {
        match bound {
            Bound::Free => x,
            Bound::Above { least } => maximum(x, least),
            _ => x,
        }
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn wrong(x: TensorMut<f32, 1>) {
        let window = x.tile([0], [128]);
        window.store(bounded(window.load(), Bound::Above { least: 0.0 }));
    }
}

fn main() {}

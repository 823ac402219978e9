#[kiln::kernel]
mod counters {
    use kiln::prelude::*;

    struct Counter {
        n: i32,
    }
    impl Counter {
        fn bump(&mut self) -> &mut Self {
            self.n += 1;
            self
        }
    }
    fn first(values: &[i32; 2]) -> &Tile<i32> {
        values[0]
    }
    #[kernel(target = sm_80, warps = 4)]
    pub fn count(y: TensorMut<i32, 1>) {
        let mut counter = Counter { n: 0 };
        counter.bump().bump();
        y.tile([0], [1]).store(full([1], counter.n));
    }
}

fn main() {}

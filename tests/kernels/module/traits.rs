//! Functions and structs generic over a trait; default methods; instances that choose a type.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ grid: 6
//@ arg out: i32[3, 6] poison
//@ arg n: i32 scalar 6
//@ case: rows
//@ expect out: (i + 1) * 100 + j * K + A
use kiln::prelude::*;

#[kernel]
mod traits {
    use kiln::prelude::*;

    trait Scheduler: Copy {
        const STEP: i32;
        fn new(n: i32) -> Self;
        fn place(self, i: i32) -> i32;
        fn bonus(self) -> i32 {
            0
        }
    }

    #[derive(Clone, Copy)]
    pub struct Plain {
        n: i32,
    }

    #[derive(Clone, Copy)]
    pub struct Scaled<const BY: i32> {
        add: i32,
    }

    impl Scheduler for Plain {
        const STEP: i32 = 1;
        fn new(n: i32) -> Self {
            Plain { n }
        }
        fn place(self, i: i32) -> i32 {
            i + self.n - self.n
        }
    }

    impl<const BY: i32> Scheduler for Scaled<BY> {
        const STEP: i32 = BY;
        fn new(n: i32) -> Self {
            Scaled { add: n - 6 }
        }
        fn place(self, i: i32) -> i32 {
            i * Self::STEP + self.add
        }
        fn bonus(self) -> i32 {
            7
        }
    }

    struct Walk<S> {
        scheduler: S,
        level: i32,
    }

    impl<S: Scheduler> Walk<S> {
        fn value(&self) -> i32 {
            self.level * 100 + self.scheduler.place(block_id(0)) + self.scheduler.bonus()
        }
    }

    fn walk<S: Scheduler>(n: i32, level: i32) -> Walk<S> {
        Walk { scheduler: S::new(n), level }
    }

    #[kernel(target = sm_80, warps = 1, instances((S, K, A) = [(Plain, 1, 0), (Scaled<3>, 3, 7), (Scaled<10>, 10, 7)]))]
    pub fn traits<S: Scheduler, const K: i32, const A: i32>(n: i32, out: TensorMut<i32, 2>) {
        const { assert!(S::STEP == K) };
        for level in unroll(1..4) {
            let walk = walk::<S>(n, level);
            out.tile([level - 1, block_id(0)], [1, 1]).store(full([1, 1], walk.value()));
        }
    }
}

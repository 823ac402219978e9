// ANCHOR: kernel
use kiln::prelude::*;

/// out = the running sums of each row of `x`, 128 columns at a time.
#[kernel(target = [sm_80, sm_90a], warps = W, grid = x.dim(0), instances(W = [1, 4]))]
pub fn running_sums<const W: i32>(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    let row = block_id(0);
    let mut before = 0;
    for at in range(0, x.dim(1), 128) {
        let tile = x.tile([row, at], [1, 128]).load();
        out.tile([row, at], [1, 128]).store(tile.cumsum(1) + before);
        before += tile.sum(1).item();
    }
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([2, 300], 1)?;
    let mut out = stream.zeros([2, 300])?;
    running_sums::<4>(running_sums::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("the last sum is {}", out.to_vec(&stream)?[599]);
    Ok(())
}

// ANCHOR: test
#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// Rows and columns, and a number for each element.
    fn matrix() -> impl Strategy<Value = (usize, usize, Vec<i32>)> {
        (0..4usize, 0..300usize).prop_flat_map(|(rows, columns)| {
            (Just(rows), Just(columns), prop::collection::vec(any::<i32>(), rows * columns))
        })
    }

    /// The sums by one instance on an emulated device.
    fn sums(
        instance: running_sums::Instance,
        target: Target,
        (rows, columns, host): &(usize, usize, Vec<i32>),
    ) -> kiln::Result<Vec<i32>> {
        let stream = Device::emulator(target)?.stream()?;
        let x = stream.upload(host, [*rows, *columns])?;
        let mut out = stream.full([*rows, *columns], -1)?;
        instance.with(running_sums::Args { x: &x, out: &mut out }).launch(&stream)?;
        out.to_vec(&stream)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 32,
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::default()
        })]

        #[test]
        fn each_sum_is_the_one_before_and_the_element(matrix in matrix()) {
            let (_, columns, host) = &matrix;
            let mut required = host.clone();
            for row in required.chunks_mut((*columns).max(1)) {
                for i in 1..row.len() {
                    row[i] = row[i].wrapping_add(row[i - 1]);
                }
            }
            for instance in running_sums::instances() {
                for target in [Target::Sm80, Target::Sm90a] {
                    let actual = sums(instance, target, &matrix).expect("it launches");
                    prop_assert_eq!(&actual, &required, "{} on {}", instance, target);
                }
            }
        }
    }
}
// ANCHOR_END: test

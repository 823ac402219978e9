//! Atomics with the scope of the system: two parts of one program take turns through a word, and add to the same elements. On an emulator
//! the parts are two blocks. On two GPUs, if there are two, each runs one part, at the same time and on the memory of the first.
#![expect(
    unsafe_code,
    clippy::float_cmp,
    clippy::print_stderr,
    reason = "the launches work with addresses, the sums are whole numbers, and what is left out has to be said"
)]

use kiln::prelude::*;

/// So often a part looks whether it is its turn; then it gives up, so that a program without the other part ends.
const LOOKS: i32 = 100_000_000;

/// The parts take turns: at turn `2 * i + p`, part `p` adds its number to what the other part wrote to `log`, and ends its turn.
#[kernel(target = sm_80, warps = 1, grid = blocks)]
fn take_turns(turn: Ptr<i32>, log: Ptr<i32>, first: i32, rounds: i32, looks: i32, blocks: i32) {
    let part = first + block_id(0);
    for i in range(0, rounds, 1) {
        let mine = 2 * i + part;
        let mut looked = 0;
        let mut seen = atomic::add_system(turn, 0);
        while seen < mine && looked < looks {
            seen = atomic::add_system(turn, 0);
            looked += 1;
        }
        if seen == mine {
            // What the other part wrote before its turn ended.
            let before = if mine > 0 { load(log + (mine - 1)) } else { 0 };
            store(log + mine, before + part + 1);
            atomic::add_system(turn, 1);
        }
    }
}

/// Each block adds to the same 1024 elements, and counts itself.
#[kernel(target = sm_80, warps = 4, grid = blocks)]
fn add_all(sums: Ptr<f32>, largest: Ptr<i32>, count: Ptr<i32>, part: i32, blocks: i32) {
    let at = arange(0, 1024);
    atomic::add_system(sums + at, at.cast::<f32>());
    atomic::max_system(largest + at, at * (part + 1));
    atomic::add_system(count, 1);
}

/// The rounds of the turns, and the blocks that add.
const ROUNDS: i32 = 200;
const BLOCKS: i32 = 64;

/// What `take_turns` leaves: the sums of 1, 2, 1, 2, ..
fn required_log() -> Vec<i32> {
    (0..2 * ROUNDS).map(|mine| mine / 2 * 3 + if mine % 2 == 0 { 1 } else { 3 }).collect()
}

/// Both kernels by `streams`, which have one part each, or both.
fn run(streams: &[Stream], rounds: i32, looks: i32) -> Result<()> {
    let here = &streams[0];
    let per = 2 / i32::try_from(streams.len()).expect("one or two");
    let turn = here.zeros::<i32, 1>([1])?;
    let log = here.full([400], -1)?;
    let (sums, largest) = (here.zeros::<f32, 1>([1024])?, here.zeros::<i32, 1>([1024])?);
    let count = here.zeros::<i32, 1>([1])?;
    here.synchronize()?;
    for (first, stream) in (0..).zip(streams) {
        let args = take_turns::Args {
            turn: turn.device_ptr(),
            log: log.device_ptr(),
            first,
            rounds,
            looks,
            blocks: per,
        };
        // SAFETY: `turn` has one element and `log` two for each round, and both live until the streams are done.
        unsafe { take_turns(args).launch(stream)? };
    }
    for (part, stream) in (0..).zip(streams) {
        let args = add_all::Args {
            sums: sums.device_ptr(),
            largest: largest.device_ptr(),
            count: count.device_ptr(),
            part,
            blocks: BLOCKS,
        };
        // SAFETY: the first two have 1024 elements, `count` has one, and they live until the streams are done.
        unsafe { add_all(args).launch(stream)? };
    }
    for stream in streams {
        stream.synchronize()?;
    }
    assert_eq!(turn.to_vec(here)?, [2 * rounds], "the parts took turns");
    let rounds = usize::try_from(rounds).expect("not negative");
    assert_eq!(log.to_vec(here)?[..2 * rounds], required_log()[..2 * rounds]);
    let parts = i32::try_from(streams.len()).expect("one or two");
    assert_eq!(count.to_vec(here)?, [BLOCKS * parts]);
    for (i, (sum, most)) in (0i32..).zip(sums.to_vec(here)?.into_iter().zip(largest.to_vec(here)?))
    {
        let required = f64::from(i * BLOCKS * parts);
        assert!(f64::from(sum) == required, "element {i}: {sum}, not {required}");
        assert_eq!(most, i * parts, "element {i}");
    }
    Ok(())
}

fn main() -> Result<()> {
    run(&[Device::emulator(Target::Sm80)?.stream()?], 20, LOOKS)?;
    let gpus = match Device::cuda_count() {
        Ok(gpus) => gpus,
        Err(reason) => {
            eprintln!(
                "gpu: skipped, no device, for two GPUs that take turns (needs two GPUs): {reason}"
            );
            return Ok(());
        }
    };
    if gpus < 2 {
        eprintln!(
            "gpu: skipped, no device, for two GPUs that take turns (needs two GPUs): there are {gpus}"
        );
        return Ok(());
    }
    let (one, two) = (Device::cuda(0)?, Device::cuda(1)?);
    two.enable_peer(&one)?;
    let streams = [one.stream()?, two.stream()?];
    for _ in 0..10 {
        run(&streams, ROUNDS, LOOKS)?;
    }
    eprintln!("two GPUs took {} turns, and added to the same elements", 2 * ROUNDS);
    Ok(())
}

//! Reports of the emulator about kernels: in the kernel's words, with the names of its source.

use kiln::prelude::*;

/// What the emulator says of a launch, without the kernel's name before it.
fn said(launched: Result<()>) -> String {
    let text = launched.expect_err("the kernel is wrong").to_string();
    let (_, said) = text.split_once(" failed in the emulator: ").expect("the emulator reports it");
    said.to_owned()
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm90a)?.stream()
}

/// Line, from 1, of the only place in this file that ends so.
fn line(mark: &str) -> usize {
    let mark = format!("// [{mark}]");
    let line = include_str!("reports.rs").lines().position(|line| line.ends_with(&mark));
    line.expect("a line has the mark") + 1
}

/// The line as a report has it.
fn at(mark: &str) -> String {
    format!("tests/reports.rs:{}:", line(mark))
}

/// The partition that begins in the line before a mark, as a report has it.
fn part(mark: &str) -> String {
    format!("(the partition at tests/reports.rs:{}:17)", line(mark) - 1)
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn rings(barrier: i32, buffer: i32, part: i32, most: i32, y: TensorMut<f32, 2>) {
    device_assert(most <= 3); // [assert]
    let (rows, full) = (shared::<f32>([3, 8, 32]), barriers(4, 1));
    full[barrier].arrive(); // [barrier]
    rows[0].store(zeros([8, 32]));
    sync();
    rows[buffer].store(zeros([8, 32])); // [buffer]
    sync();
    y.tile([0, 0], [8, 16]).store(rows[0].tile([0, part], [8, 16]).load()); // [part]
}

#[test]
fn a_check_that_the_compiler_inserts_says_what_is_wrong_and_where() -> Result<()> {
    let stream = stream()?;
    let run = |[barrier, buffer, part, most]: [i32; 4]| {
        let mut y = stream.zeros([8, 16])?;
        rings(rings::Args { barrier, buffer, part, most, y: &mut y }).launch(&stream)
    };
    run([3, 2, 16, 3])?;
    for (arguments, required, place) in [
        ([4, 0, 0, 0], "index 4 is out of range: `full` has 4 barriers", "barrier"),
        ([-1, 0, 0, 0], "index -1 is out of range: `full` has 4 barriers", "barrier"),
        ([0, 3, 0, 0], "index 3 is out of range: `rows` has 3 buffers", "buffer"),
        ([0, 0, 32, 0], "position 32 is out of range: `rows` has extent 32 on axis 1", "part"),
        ([0, 0, 8, 0], "a part of `rows` begins 8 past a multiple of 16 on axis 1", "part"),
        ([0, 0, 0, 5], "`device_assert(most <= 3)` failed: 5 <= 3 does not hold", "assert"),
    ] {
        let text = said(run(arguments));
        let (first, rest) = text.split_once('\n').expect("the place comes after it");
        assert_eq!(first, format!("trap: {required}"), "{arguments:?}");
        assert!(rest.contains(&at(place)), "{text}");
    }
    Ok(())
}

#[kernel]
mod names {
    use super::*;

    struct Pair {
        full: Barriers,
        empty: Barriers,
        tile: Shared<f32>,
    }

    /// The partition waits for what nobody does.
    #[kernel(target = sm_90a, warps = 4, grid = 1)]
    pub fn waits(#[block(1, 64)] x: TensorMap<f32, 2>, times: i32, y: TensorMut<f32, 2>) {
        let empty = barriers(2, 1);
        let pair = Pair { full: barriers(2, 1), empty, tile: shared::<f32>([2, 1, 64]) };
        let done = barrier(1);
        warp_specialize(
            || {
                if times > 9 {
                    done.arrive();
                }
                for row in 0..times {
                    pair.full[row % 2].wait(row / 2 % 2); // [full]
                    y.tile([row, 0], [1, 64]).store(pair.tile[row % 2].load());
                    pair.empty[row % 2].arrive();
                }
            },
            [
                partition(1).run(|| {
                    // [copies]
                    for row in 0..x.dim(0) {
                        pair.empty[row % 2].wait(1 - row / 2 % 2);
                        pair.full[row % 2].expect(x.block_bytes());
                        tma::load(x, [row, 0], pair.full[row % 2], pair.tile[row % 2]);
                    }
                }),
                partition(2).run(|| {
                    // [idles]
                    done.wait(0); // [done]
                }),
            ],
        );
    }
}

#[test]
fn a_deadlock_says_who_waits_on_which_barrier_and_who_has_ended() -> Result<()> {
    let stream = stream()?;
    let x = stream.full([1, 64], 1.0f32)?;
    let mut y = stream.zeros([2, 64])?;
    let args = names::waits::Args { x: &x, times: 2, y: &mut y };
    let text = said(names::waits(args).launch(&stream));
    let missing = "1 of 1 arrivals are missing: nothing has come in this phase";
    // Of two partitions the larger comes first: warps 4 and 5 idle, warp 6 copies.
    for required in [
        format!(
            "deadlock: waits for phase parity 0 of `pair.full[1]`: {missing}; warps 1 to 3 wait there too; "
        ),
        format!("; warps 4, 5 {} at {}", part("idles"), at("done")),
        format!(
            ": waits for phase parity 0 of `done`: {missing}; warp 6 {} has ended\n",
            part("copies")
        ),
        format!("\n  at {}", at("full")),
    ] {
        assert!(text.contains(&required), "{required}\n{text}");
    }
    Ok(())
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn neighbours(y: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    tile.store(full([64, 64], 1.0)); // [written]
    y.tile([0, 0], [64, 64]).store(tile.t().load()); // [read]
}

#[test]
fn a_race_in_shared_memory_names_the_tile_and_asks_for_sync() -> Result<()> {
    let stream = stream()?;
    let mut y = stream.zeros([64, 64])?;
    let text = said(neighbours(neighbours::Args { y: &mut y }).launch(&stream));
    for required in [
        "data race: a load of ".to_owned(),
        " of `tile`, which ".to_owned(),
        format!(" wrote at {}", at("written")),
        "is a `sync()` missing between?".to_owned(),
        format!("\n  at {}", at("read")),
    ] {
        assert!(text.contains(&required), "{required}\n{text}");
    }
    assert!(!text.contains("bar."), "{text}");
    Ok(())
}

#[kernel(target = sm_90a, warps = 4, grid = 2)]
fn of_blocks(y: TensorMut<f32, 1>) {
    let next = y.tile([128 - block_id(0) * 128], [128]).load();
    y.tile([block_id(0) * 128], [128]).store(next);
}

#[test]
fn a_race_of_blocks_asks_for_release_and_acquire() -> Result<()> {
    let stream = stream()?;
    let mut y = stream.zeros([256])?;
    let text = said(of_blocks(of_blocks::Args { y: &mut y }).launch(&stream));
    assert!(text.contains("blocks run in any order"), "{text}");
    assert!(text.contains("`.release()`") && text.contains("`.acquire()`"), "{text}");
    assert!(!text.contains("fence."), "{text}");
    Ok(())
}

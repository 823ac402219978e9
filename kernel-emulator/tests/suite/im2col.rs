//! Tensor copies in im2col mode: which pixels they take, and what is refused.

use kernel_emulator::{Fault, FaultKind, Im2colMap, Options, TensorMap, TensorMapError};

use crate::harness::{Bench, one_block};
use crate::tma::{dump, fill, kernel, pattern, plain, swizzled};

/// Images of `whd` (the innermost first) with 16 channels of `f16` each, packed.
fn images(whd: &[u64], count: u64) -> TensorMap {
    let dims: Vec<u64> = [16].iter().chain(whd).copied().chain([count]).collect();
    let strides = dims.iter().scan(2, |bytes, dim| {
        *bytes *= dim;
        Some(*bytes)
    });
    let strides: Vec<u64> = strides.take(dims.len() - 1).collect();
    let boxes = [vec![16], vec![1; dims.len() - 1]].concat();
    plain(0, &dims, &strides, &boxes)
}

/// Pixels of 3 images of 7 x 9, between corners.
fn map(lower: [i32; 2], upper: [i32; 2], steps: [u32; 2]) -> Im2colMap {
    let tensor =
        TensorMap { element_strides: vec![1, steps[0], steps[1], 1], ..images(&[7, 9], 3) };
    Im2colMap {
        tensor,
        lower_corner: lower.to_vec(),
        upper_corner: upper.to_vec(),
        pixels_per_column: 64,
    }
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The copy of a kernel: its form, and what it names.
fn load(map: &Im2colMap, at: &[i32], offsets: &[u32]) -> Result<Vec<u8>, Box<Fault>> {
    let rank = map.tensor.dims.len();
    let (bytes, halves) = (map.pixels_per_column * 32, ["%h0", "%h1", "%h2"]);
    let set = offsets.iter().zip(halves).map(|(offset, half)| format!("mov.b16 {half}, {offset};"));
    let set: String = set.collect();
    let body = format!(
        ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;
         {} setp.ne.u32 %p1, %r0, 0; @%p1 bra ISSUED; {set}
         mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
         cp.async.bulk.prefetch.tensor.{rank}d.L2.global.im2col [%d0, {{{}}}], {{{}}};
         cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
             [tile], [%d0, {{{}}}], [bar], {{{}}};
         ISSUED: bar.sync 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
         {}",
        fill(1024, "mov.b32 %r1, 0;"),
        list(at),
        list(&halves[..offsets.len()]),
        list(at),
        list(&halves[..offsets.len()]),
        dump(1024),
    );
    run(&body, &map.tensor, |tensor| Im2colMap { tensor, ..map.clone() }.encode())
}

/// What 4096 bytes hold after a kernel over the tensor, filled with [`pattern`].
fn run(
    body: &str,
    tensor: &TensorMap,
    encode: impl Fn(TensorMap) -> Result<[u8; 128], TensorMapError>,
) -> Result<Vec<u8>, Box<Fault>> {
    let bench = Bench::new(&kernel(body));
    let bytes = tensor.dims.iter().product::<u64>() as usize * 2;
    let data = bench.upload(&(0..bytes).map(pattern).collect::<Vec<_>>());
    let to = bench.upload(&vec![0; 4096]);
    let map = encode(TensorMap { address: data, ..tensor.clone() });
    let map = map.unwrap_or_else(|error| panic!("{error}"));
    let words = map.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight")));
    let params: Vec<u64> = words.chain([to]).collect();
    bench.try_launch(&one_block(32), &params, &Options::default()).map_err(Box::new)?;
    let mut read = vec![0; 4096];
    bench.memory.read(to, &mut read).expect("it was written before the launch");
    Ok(read)
}

/// All pixels of the bounding boxes of all images, in their order: the position in each dimension but the innermost.
fn pixels(map: &Im2colMap) -> Vec<Vec<i64>> {
    let dims = &map.tensor.dims;
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for dim in (1..dims.len()).rev() {
        let range: Vec<i64> = if dim + 1 == dims.len() {
            // As many more images as a copy may go on to.
            (0..100).collect()
        } else {
            let lower = i64::from(map.lower_corner[dim - 1]);
            let end = dims[dim] as i64 + i64::from(map.upper_corner[dim - 1]);
            (lower..end).step_by(map.tensor.element_strides[dim] as usize).collect()
        };
        all = all
            .iter()
            .flat_map(|outer| range.iter().map(|at| [&[*at], &outer[..]].concat()))
            .collect();
    }
    all
}

/// Compares what a copy brings with the list of all pixels.
#[track_caller]
fn check(map: &Im2colMap, at: &[i32], offsets: &[u32]) {
    let actual = load(map, at, offsets).unwrap_or_else(|fault| panic!("{fault}"));
    let all = pixels(map);
    let begin: Vec<i64> = at[1..].iter().map(|at| i64::from(*at)).collect();
    let upper = map.tensor.dims[1] as i64 - 1 + i64::from(map.upper_corner[0]);
    let row = (begin[0]..=upper).step_by(map.tensor.element_strides[1] as usize);
    let row = row.map(|at| [&[at], &begin[1..]].concat());
    let last = all.iter().rposition(|pixel| pixel[1..] == begin[1..]).expect("the row is there");
    let taken: Vec<Vec<i64>> = row.chain(all[last + 1..].iter().cloned()).collect();
    let mut required = vec![0; 4096];
    for (row, pixel) in taken[..map.pixels_per_column as usize].iter().enumerate() {
        let mut source = Some(0);
        for (dim, at) in (1..).zip(pixel) {
            let at = at + offsets.get(dim - 1).map_or(0, |offset| i64::from(*offset));
            let inside = (0..map.tensor.dims[dim] as i64).contains(&at);
            let bytes = at * map.tensor.strides_bytes[dim - 1] as i64;
            source = source.filter(|_| inside).map(|so_far: i64| so_far + bytes);
        }
        for byte in 0..32 {
            required[swizzled(row * 32 + byte, map.tensor.swizzle)] = match source {
                Some(source) => pattern(source as usize + byte),
                None if map.tensor.oob_fill == 0 => 0,
                None => [0xF7, 0x7F][byte % 2],
            };
        }
    }
    assert_eq!(actual, required, "{map:?} at {at:?} and {offsets:?}");
}

#[test]
fn pixels_follow_one_another_within_the_bounding_box_and_in_the_next_images() {
    // A filter of 3 x 3 with a padding of 1: each tap, from the middle of an image on.
    let padded = map([-1, -1], [-1, -1], [1, 1]);
    for (r, s) in [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)] {
        check(&padded, &[0, 3, 5, 0], &[s, r]);
    }
    // The same tap in every second pixel, of a box that has an even number and of one that has not.
    check(&map([-1, -1], [-1, -1], [2, 2]), &[0, -1, 3, 1], &[1, 2]);
    check(&map([-2, 0], [-1, -2], [3, 2]), &[0, 1, 0, 2], &[0, 1]);
    // Begun between two of them, as an H200 does it: the row goes on so, and the next one begins where all do.
    check(&map([-1, -1], [-1, -1], [2, 1]), &[0, 0, 3, 0], &[0, 0]);
    // Beyond the last image, and in none.
    check(&padded, &[0, 5, 7, 2], &[1, 1]);
    check(&padded, &[0, -1, -1, 7], &[1, 1]);
    // A box that is larger than the image.
    check(&map([-3, -2], [2, 3], [1, 1]), &[0, 8, 11, 0], &[0, 0]);
}

#[test]
fn images_have_one_to_three_dimensions() {
    let along = Im2colMap {
        tensor: images(&[37], 2),
        lower_corner: vec![-4],
        upper_corner: vec![4],
        pixels_per_column: 48,
    };
    check(&along, &[0, -4, 0], &[0]);
    check(&along, &[0, 30, 1], &[40_000]);
    let volumes = Im2colMap {
        tensor: TensorMap { element_strides: vec![1, 2, 1, 2, 1], ..images(&[5, 4, 3], 2) },
        lower_corner: vec![-1, 0, -2],
        upper_corner: vec![-1, -1, 0],
        pixels_per_column: 128,
    };
    check(&volumes, &[0, 1, 2, -2, 0], &[2, 1, 2]);
    check(&volumes, &[0, -1, 0, 0, 1], &[31, 0, 1]);
}

#[test]
fn channels_lie_as_in_tiled_mode() {
    let all = map([-1, -1], [-1, -1], [1, 1]);
    let with = |change: &dyn Fn(&mut TensorMap)| {
        let mut map = all.clone();
        change(&mut map.tensor);
        map
    };
    check(&with(&|map| map.swizzle = 1), &[0, 0, 0, 0], &[1, 1]);
    check(&with(&|map| map.oob_fill = 1), &[0, -1, -1, 0], &[0, 0]);
}

#[test]
fn copies_that_begin_elsewhere_are_refused() {
    let all = map([-1, -1], [-1, -1], [2, 1]);
    let refused = |at: &[i32], offsets: &[u32], words: &str| {
        let fault = load(&all, at, offsets).expect_err(words);
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
        assert!(fault.detail.contains(words), "{fault}");
    };
    refused(&[0, -2, 0, 0], &[0, 0], "begins at -2 along dimension 1");
    refused(&[0, 1, 8, 0], &[0, 0], "begins at 8 along dimension 2");
    refused(&[0, 1, 1, 0], &[256, 0], "an im2col offset of 256");
    refused(&[0, 1, 1, 0], &[0, 0xFFFF], "it is at most 255");
    refused(&[4, 1, 1, 0], &[0, 0], "a multiple of 16 bytes");
}

#[test]
fn a_copy_needs_a_map_of_its_mode() {
    let all = map([-1, -1], [-1, -1], [1, 1]);
    let tiled = "mov.b32 %r1, 0; mbarrier.init.shared.b64 [bar], 1;
        cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%d0, {%r1, %r1, %r1, %r1}], [bar];";
    let im2col = "mov.b32 %r1, 0; mov.b16 %h0, 0; mbarrier.init.shared.b64 [bar], 1;
        cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d0, {%r1, %r1, %r1, %r1}], [bar], {%h0, %h0};";
    let body = |copy: &str| {
        format!(
            ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra END; {copy} END:"
        )
    };
    let as_im2col = |tensor| Im2colMap { tensor, ..all.clone() }.encode();
    let fault = run(&body(tiled), &all.tensor, as_im2col).expect_err("the map is for im2col");
    assert!(fault.detail.contains("a tiled copy with an im2col tensor map"), "{fault}");
    let fault = run(&body(im2col), &all.tensor, |tensor| tensor.encode()).expect_err("tiled");
    assert!(fault.detail.contains("an im2col copy with a tiled tensor map"), "{fault}");
}

#[test]
fn maps_that_the_driver_refuses() {
    use TensorMapError as E;
    let all = map([-1, -1], [-1, -1], [1, 1]);
    let refused = |change: &dyn Fn(&mut Im2colMap)| {
        let mut map = all.clone();
        change(&mut map);
        map.encode().expect_err("a rule is broken")
    };
    assert_eq!(refused(&|m| m.pixels_per_column = 1025), E::Im2colPixels { actual: 1025 });
    assert_eq!(refused(&|m| m.pixels_per_column = 0), E::Im2colPixels { actual: 0 });
    let corner = |actual| E::Im2colCorner { least: -128, most: 127, actual };
    assert_eq!(refused(&|m| m.lower_corner[1] = -129), corner(-129));
    assert_eq!(refused(&|m| m.upper_corner[0] = 128), corner(128));
    let corners = E::Im2colCorners { rank: 4, required: 2, actual: 1 };
    assert_eq!(refused(&|m| m.lower_corner.truncate(1)), corners);
    assert_eq!(refused(&|m| m.upper_corner[0] = -8), E::Im2colEmpty { dim: 1, actual: 0 });
    assert_eq!(
        refused(&|m| m.tensor = plain(0, &[16, 4], &[32], &[16, 1])),
        E::Im2colRank { actual: 2 }
    );
    let rank_5 = |m: &mut Im2colMap| {
        *m = Im2colMap {
            tensor: images(&[5, 4, 3], 2),
            lower_corner: vec![0, 0, -17],
            upper_corner: vec![0; 3],
            ..m.clone()
        };
    };
    assert_eq!(refused(&rank_5), E::Im2colCorner { least: -16, most: 15, actual: -17 });
    assert!(matches!(refused(&|m| m.tensor.address = 8), E::Address { .. }));
}

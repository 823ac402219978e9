//! Swizzles, and what products read from shared memory.

use kernel_layout::tile::{Reading, Swizzle, SwizzleMode, mma_shared};

use super::{compose, text};

#[test]
fn s1_9_swizzles_and_the_banks_of_their_rows() {
    let banks = |mode, pitch: u64, places: [u64; 8], required: [u64; 8]| {
        let swizzle = Swizzle::of_mode(mode, 16).expect("elements of 16 bits");
        let actual: Vec<u64> = (0..8).map(|row| swizzle.apply(pitch * row)).collect();
        assert_eq!(actual, places);
        assert_eq!(places.map(|place| place * 2 / 4 % 32), required);
    };
    let rows = [0, 72, 144, 216, 288, 360, 432, 504];
    banks(SwizzleMode::B128, 64, rows, [0, 4, 8, 12, 16, 20, 24, 28]);
    let rows = [0, 32, 72, 104, 144, 176, 216, 248];
    banks(SwizzleMode::B64, 32, rows, [0, 16, 4, 20, 8, 24, 12, 28]);
    let rows = [0, 16, 32, 48, 72, 88, 104, 120];
    banks(SwizzleMode::B32, 16, rows, [0, 8, 16, 24, 4, 12, 20, 28]);
}

#[test]
fn s1_9_swizzles_repeat() {
    let swizzle = Swizzle::new(3, 3, 3, Reading::Inner).expect("a swizzle");
    for place in 0..1024_u64 {
        let (i, j, k) = (place / 64 % 8, place / 8 % 8, place % 8);
        assert_eq!(swizzle.apply(place), place / 512 * 512 + (i * 8 + (i ^ j)) * 8 + k);
    }
    let swizzle = Swizzle::new(0, 2, 3, Reading::Inner).expect("a swizzle");
    for (i, j) in (0..4).flat_map(|i| (0..8).map(move |j| (i, j))) {
        assert_eq!(swizzle.apply(i * 8 + j), i * 8 + j / 4 * 4 + ((i % 4) ^ (j % 4)));
    }
    // The other direction: the low bits change the high ones.
    let outer = Swizzle::new(0, 2, 3, Reading::Outer).expect("a swizzle");
    assert_eq!(outer.apply(0b00_011), 0b11_011);
    assert!(Swizzle::new(0, 4, 3, Reading::Inner).is_err());
}

#[test]
fn s1_9_an_offset_beneath_a_swizzle() {
    let layout = compose("Compose(3, 3, 3, S[(8, 8) : (64, 1)] + 72)");
    for (x, y) in (0..8).flat_map(|x| (0..8).map(move |y| (x, y))) {
        let required = (x * 64 + (y ^ (((x + 1) & 7) << 3)) + 64) ^ 8;
        assert_eq!(layout.apply(&[8, 8], &[x, y]), Ok(required));
    }
}

#[test]
fn s1_9_unpacking_moves_the_swizzle() {
    let layout = compose("Compose(3, 3, 3, S[512 : 1])").unpack(2).expect("two for one");
    for place in 0..1024 {
        let required = compose("Compose(4, 3, 3, S[1024 : 1])").apply(&[1024], &[place]);
        assert_eq!(layout.apply(&[1024], &[place]), required);
    }
}

#[test]
fn s1_10_layouts_of_products_in_shared_memory() {
    use SwizzleMode::{B64, B128, None};
    for (bits, mode, shape, required) in [
        (16, B128, &[64, 256][..], "Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])"),
        (16, B128, &[3, 64, 256], "Compose(3, 3, 3, S[(3, 64, 4, 64) : (16384, 64, 4096, 1)])"),
        (16, B64, &[3, 64, 256], "Compose(3, 2, 3, S[(3, 64, 8, 32) : (16384, 32, 2048, 1)])"),
        (16, B128, &[8, 256], "Compose(3, 3, 3, S[(8, 4, 64) : (64, 512, 1)])"),
        (16, B128, &[128, 64], "Compose(3, 3, 3, S[8192 : 1])"),
        (16, B128, &[2, 128, 128], "Compose(3, 3, 3, S[(2, 128, 2, 64) : (16384, 64, 8192, 1)])"),
        (8, B128, &[8, 256], "Compose(4, 3, 3, S[(8, 2, 128) : (128, 1024, 1)])"),
        (32, B128, &[8, 256], "Compose(2, 3, 3, S[(8, 8, 32) : (32, 256, 1)])"),
        (4, B128, &[3, 64, 256], "Compose(5, 3, 3, S[49152 : 1])"),
        (16, None, &[64, 32], "Compose(3, 0, 3, S[(64, 4, 8) : (8, 512, 1)])"),
        (16, None, &[64, 12], "Compose(3, 0, 3, S[(64, 12) : (12, 1)])"),
    ] {
        let layout = mma_shared(bits, mode, shape).expect("whole atoms");
        assert_eq!(layout.to_string(), required);
    }
    let refused = |bits, mode, shape: &[u64]| {
        mma_shared(bits, mode, shape).expect_err("no whole atoms").to_string()
    };
    assert_eq!(
        refused(16, B128, &[64, 32]),
        "the bytes of a row must be a multiple of 128, but there are 64; a swizzle of 64 bytes fits"
    );
    assert_eq!(
        refused(16, B64, &[12, 32]),
        "the rows must be a multiple of 8, but there are 12; a swizzle of 0 bytes fits"
    );
    assert!(mma_shared(16, B64, &[64]).is_err());
}

#[test]
fn s1_10_windows_and_atoms_of_swizzled_tiles() {
    let layout = mma_shared(16, SwizzleMode::B128, &[64, 256]).expect("whole atoms");
    let window = layout.slice(&[64, 256], &[(8, 16), (96, 64)]).expect("a window");
    for (row, column) in (0..16).flat_map(|row| (0..64).map(move |column| (row, column))) {
        let required = layout.apply(&[64, 256], &[row + 8, column + 96]);
        assert_eq!(window.apply(&[16, 64], &[row, column]), required);
    }
    // A tile that is a swizzle alone has windows as well.
    let bare = mma_shared(16, SwizzleMode::B128, &[128, 64]).expect("whole atoms");
    let window = bare.slice(&[128, 64], &[(3, 2), (8, 8)]).expect("a window");
    assert_eq!(window.to_string(), "Compose(3, 3, 3, S[(2, 8) : (64, 1)] + 200)");
    let atom = mma_shared(16, SwizzleMode::B128, &[8, 64]).expect("one atom");
    let outer = atom.is_tile_inner(&layout, &[64, 256], &[8, 64]).expect("made of atoms");
    assert_eq!(text(&outer), "S[(8, 4) : (1, 8)]");
    let other = mma_shared(16, SwizzleMode::B64, &[8, 32]).expect("one atom");
    assert_eq!(other.is_tile_inner(&layout, &[64, 256], &[8, 32]), None);
}

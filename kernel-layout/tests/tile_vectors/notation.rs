//! The notation, and layouts that have no linear counterpart.

use kernel_layout::tile::{TileAxis, TileLayout};

use super::{compose, text, tile};

#[test]
fn notation_is_read_as_it_is_printed() {
    for given in [
        "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]",
        "S[8 : 4 @ laneid] + 64 + 1 @ laneid + 2 @ warpid",
        "S[() : ()]",
        "S[(2, 2) : (14, 1)] + R[(2, 2) : (8 @ warpid, -3)] + -5",
    ] {
        assert_eq!(text(&tile(given)), given);
    }
    let swizzled = "Compose(0, 2, 3, S[(8, 8) : (8, 1)], outer)";
    assert_eq!(compose(swizzled).to_string(), swizzled);
}

#[test]
fn notation_marks_the_place_of_an_error() {
    let marked = |text: &str| {
        let error = text.parse::<TileLayout>().expect_err("no layout");
        (error.at, error.problem)
    };
    let at = |text: &str, at: usize, problem: &str| {
        assert_eq!(marked(text), (at, problem.to_owned()), "{text}");
    };
    at("S[4 : 1", 7, "required `,` or one of `]`");
    at("S[(4, 2) : 1]", 11, "required 2 strides, actual 1");
    at("S[0 : 1]", 2, "required an extent of at least 1, actual 0");
    at("R[4 : 1]", 0, "required `S[..]` among the parts");
    at("S[4] + S[4]", 7, "required one `S[..]`, this is the second");
    at("S[4 : x]", 6, "required a number, actual the name `x`: write its value");
    at("S[4 : -]", 6, "required a number");
    at("S[4 : 99999999999999999999]", 6, "required a number of at most 2^30");
    at(
        "S[4 : 1 @ ]",
        10,
        &format!("required an axis: one of {}", TileAxis::ALL.map(TileAxis::name).join(", ")),
    );
    at("S[(65536, 65536)]", 2, "the product of the extents exceeds 2^30");
    at("S[4 : 4611686018427387904]", 0, "a stride exceeds 2^30");
    at("S[4 : 1] ]", 9, "required `+` or the end of the layout");
    at("", 0, "required `S[..]`, `R[..]` or an offset");
}

#[test]
fn layouts_that_are_not_linear_say_why() {
    let refused = |given: &str, shape: &[u32]| {
        tile(given).to_linear(shape).expect_err("not linear").to_string()
    };
    assert_eq!(
        refused("S[(8, 8) : (9, 1)]", &[8, 8]),
        "not linear along m: a stride is no power of two"
    );
    assert_eq!(refused("S[(96, 2) : (2, 1)]", &[96, 2]), "96 along axis 0 is no power of two");
    assert_eq!(
        refused("S[(8, 8) : (16, 1)]", &[8, 8]),
        "not linear: between the first place and the last, some hold nothing"
    );
    assert_eq!(
        refused("S[64 : 1] + 8", &[8, 8]),
        "not linear along m: an offset moves every place"
    );
    assert_eq!(
        refused("S[(8, 8) : (4, 1)]", &[64]),
        "not linear along m: two digits share a bit of the place"
    );
    assert_eq!(
        refused("S[(8, 8) : (0, 1)]", &[64]),
        "not linear along m: two elements share a place"
    );
    assert_eq!(
        refused("S[64 : 1 @ laneid]", &[64]),
        "not linear along laneid: a warp has 32 lanes"
    );
    assert_eq!(refused("S[64 : 1 @ bx]", &[64]), "linear layouts have no dimension for bx");
    assert_eq!(
        refused("S[64 : 1]", &[32]),
        "layout S[64 : 1] has 64 elements, but shape [32] has 32"
    );
    assert_eq!(refused("S[(2, 8) : (-8, 1)]", &[16]), "not linear along m: a stride is negative");
}

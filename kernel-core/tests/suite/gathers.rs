//! Gathers and scatters: what is refused, in which words, and which instructions they become.

use crate::rendered::rendered;
use proc_macro2::TokenStream;

const ATTR: &str = "target = sm_100a, warps = 4, grid = 1";

/// The messages of a kernel with these parameters and this body.
fn said(attr: &str, params: &str, body: &str) -> Vec<String> {
    let function = format!("pub fn k({params}) {{ {body} }}");
    let function: syn::ItemFn = syn::parse_str(&function).expect("the kernel is Rust");
    let attr: TokenStream = attr.parse().expect("the attribute is Rust");
    rendered(attr, &function)
}

/// The only message, which has to have these parts.
#[track_caller]
fn refused(attr: &str, params: &str, body: &str, parts: &[&str]) {
    let said = said(attr, params, body);
    let [message] = said.as_slice() else { panic!("not one message: {said:#?}") };
    for part in parts {
        assert!(message.contains(part), "{part} is missing:\n{message}");
    }
}

/// A gather of these rows into this tile.
fn gather(rows: &str, column: &str, tile: &str) -> String {
    format!(
        "let rows = {rows}; let tile = {tile}; let full = barrier(1); full.expect_copies();
         tma::gather(x, rows, {column}, full, tile); full.wait(0);"
    )
}

/// A scatter of these rows.
fn scatter(rows: &str, column: &str) -> String {
    format!(
        "let tile = shared::<f16>([8, 64]); tile.store(zeros([8, 64]));
         tma::scatter(x, {rows}, {column}, tile); tma::store_wait(0);"
    )
}

const LOADED: &str = "rows.tile([0], [8]).load()";
const TILE: &str = "shared::<f16>([8, 64])";
const X: &str = "#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>";
const OUT: &str = "#[block(1, 64)] x: TensorMapMut<f16, 2>, rows: Tensor<i32, 1>";

#[test]
fn what_is_right_has_no_message() {
    for rows in [LOADED, "arange(-4, 4)", "full([8], -1)", "arange(0, 8) * 3 - 2"] {
        assert_eq!(said(ATTR, X, &gather(rows, "-8", TILE)), [""; 0], "{rows}");
    }
    for rows in [LOADED, "arange(0, 8)", "arange(0, 8) * 3", "arange(1000, 1008)"] {
        assert_eq!(said(ATTR, OUT, &scatter(rows, "16")), [""; 0], "{rows}");
    }
}

#[test]
fn only_blackwell_has_them() {
    for target in ["sm_80", "sm_90a"] {
        let attr = ATTR.replace("sm_100a", target);
        let bare = "tma::gather(x, rows.tile([0], [8]).load(), 0, 0, x);";
        let missing = ["gather", "scatter"]
            .map(|name| format!("[K0502] `{target}` does not have `tma::{name}`"));
        let parts =
            [missing[0].as_str(), "required  target sm_100f, sm_100a or sm_103a", "load(x.ptr()"];
        refused(&attr, "x: Tensor<f16, 2>, rows: Tensor<i32, 1>", bare, &parts);
        let bare = "tma::scatter(x, rows.tile([0], [8]).load(), 0, x);";
        let parts = [missing[1].as_str(), "store(x.ptr()", "copy_async"];
        refused(&attr, "x: TensorMut<f16, 2>, rows: Tensor<i32, 1>", bare, &parts);
    }
    // The branch of another target is not built.
    let body = format!("if target(sm_100a) {{ {} }}", gather(LOADED, "0", TILE));
    assert_eq!(said(&ATTR.replace("sm_100a", "sm_90a"), X, &body), [""; 0]);
}

#[test]
fn the_map_is_one_row_of_two_axes() {
    let map = |map: &str| format!("{map}, rows: Tensor<i32, 1>");
    let body = gather(LOADED, "0", TILE);
    for (param, parts) in [
        (
            "#[block(4, 64)] x: TensorMap<f16, 2>",
            ["[K0416]", "block [1, 64]", "block [4, 64]", "#[block(1, 64)] // in place of"],
        ),
        ("#[block(1, 1, 64)] x: TensorMap<f16, 3>", ["[K0205]", "two axes", "rank 2", "rank 3"]),
        ("#[block(64)] x: TensorMap<f16, 1>", ["[K0205]", "two axes", "rank 2", "rank 1"]),
        (
            "#[block(1, 8)] x: TensorMap<f16, 2>",
            ["[K0416]", "columns of `f16` at least 16", "columns of `f16` 8", "#[block(1, 16)]"],
        ),
        (
            "#[block(1, 4)] x: TensorMap<f32, 2>",
            ["[K0416]", "columns of `f32` at least 8", "columns of `f32` 4", "#[block(1, 8)]"],
        ),
        (
            "#[block(1, 16)] x: TensorMap<u8, 2>",
            ["[K0416]", "columns of `u8` at least 32", "columns of `u8` 16", "#[block(1, 32)]"],
        ),
        (
            "#[block(1, 64)] x: TensorMap<f64, 2>",
            ["[K0204]", "bits of an element at most 32", "bits of an element 64", "as `u32`"],
        ),
        (
            "#[block(1, 64, element_strides = [2, 1])] x: TensorMap<f16, 2>",
            [
                "[K0416]",
                "element strides [1, 1]",
                "element strides [2, 1]",
                "cannot have element strides",
            ],
        ),
        (
            "x: Tensor<f16, 2>",
            ["[K0206]", "`x` is not a tensor map", "`TensorMap<f16, 2>`", "#[block("],
        ),
    ] {
        refused(ATTR, &map(param), &body, &parts);
    }
}

#[test]
fn rows_are_a_tile_of_eight_numbers_or_more() {
    for (rows, parts) in [
        ("3", ["[K0206]", "a tile: i32[rows]", "numbers"]),
        ("zeros::<i32>([8, 1])", ["[K0205]", "rank 1", "rank 2"]),
        ("full([8], 3i64)", ["[K0203]", "element type i32", "element type i64"]),
        ("arange(0, 4)", ["[K0416]", "rows at least 8", "rows 4"]),
    ] {
        refused(ATTR, X, &gather(rows, "0", TILE), &parts);
    }
    refused(ATTR, X, &gather(LOADED, "zeros::<i32>([8])", TILE), &["[K0206]", "a scalar"]);
}

#[test]
fn the_tile_has_a_row_for_each_number() {
    for (tile, parts) in [
        ("shared::<f16>([16, 64])", ["[K0202]", "extents [8, 64]", "extents [16, 64]"]),
        ("shared::<f16>([8, 32])", ["[K0202]", "extents [8, 64]", "extents [8, 32]"]),
        ("shared::<f32>([8, 64])", ["[K0203]", "element type f16", "element type f32"]),
        ("shared::<f16>([64, 8]).t()", ["[K0404]", "does not transpose", "why"]),
        ("zeros::<f16>([8, 64])", ["[K0404]", "shared memory", "registers"]),
        (
            "shared::<f16>([8, 64]).with_layout(swizzled(8, 2, 4, [1, 0]))",
            ["[K0409]", "no tensor map has this layout", "help      swizzle(128)"],
        ),
    ] {
        refused(ATTR, X, &gather(LOADED, "0", tile), &parts);
    }
    let declared = "#[block(1, 64, swizzle = 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>";
    let pinned = "shared::<f16>([8, 64]).with_layout(swizzle(128))";
    refused(
        ATTR,
        declared,
        &gather(LOADED, "0", pinned),
        &["[K0409]", "different swizzles", "help      swizzle(64)"],
    );
    let wide = "#[block(1, 512)] x: TensorMap<u8, 2>, rows: Tensor<i32, 1>";
    let plain = "shared::<u8>([8, 512]).with_layout(row_major())";
    refused(
        ATTR,
        wide,
        &gather(LOADED, "0", plain),
        &["[K0409]", "elements of a box along an axis 1 to 256", "512"],
    );
}

#[test]
fn a_constant_column_is_a_multiple_of_16_bytes() {
    for column in ["2", "-4", "1001"] {
        refused(
            ATTR,
            X,
            &gather(LOADED, column, TILE),
            &["[K0409]", "begins at a multiple of 16 bytes", "a multiple of 16"],
        );
    }
}

#[test]
fn a_scatter_writes_each_row_once_and_none_before_the_tensor() {
    for (rows, column, parts) in [
        ("arange(-4, 4)", "0", ["[K0416]", "element 0 at least 0", "element 0 -4"]),
        ("full([8], -1)", "0", ["[K0416]", "element 0 at least 0", "element 0 -1"]),
        ("arange(0, 8) * 3 - 4", "0", ["[K0416]", "element 0 at least 0", "element 0 -4"]),
        ("4 - arange(0, 8)", "0", ["[K0416]", "element 5 at least 0", "element 5 -1"]),
        (LOADED, "-8", ["[K0416]", "column at least 0", "column -8"]),
        ("full([8], 3)", "0", ["[K0416]", "rows 0 and 1 two different ones", "3 and 3"]),
    ] {
        refused(ATTR, OUT, &scatter(rows, column), &parts);
    }
    refused(
        ATTR,
        X,
        &scatter(LOADED, "0"),
        &["[K0401]", "a `TensorMapMut<f16, 2>`", "a `TensorMap<f16, 2>`"],
    );
}

#[test]
fn a_barrier_expects_the_bytes_of_all_rows() {
    let body = gather(LOADED, "0", TILE).replace("expect_copies()", "expect(x.block_bytes())");
    refused(ATTR, X, &body, &["[K0411]", "bytes 1024", "bytes 128"]);
    let right = body.replace("x.block_bytes()", "8 * x.block_bytes()");
    assert_eq!(said(ATTR, X, &right), [""; 0]);
}

#[test]
fn pinned_rows_are_four_to_a_thread_and_alike_in_a_warp() {
    let rows = |form: &str| format!("rows.tile([0], [256]).load().to_layout({form})");
    let tile = "shared::<f16>([256, 64])";
    for form in [
        "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))",
        "slice(1, blocked([4, 1], [1, 32], [4, 1], [0, 1]))",
    ] {
        assert_eq!(said(ATTR, X, &gather(&rows(form), "0", tile)), [""; 0], "{form}");
    }
    let help = ".to_layout(slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0])))";
    for (form, parts) in [
        (
            "blocked([4], [32], [4], [0])",
            ["lane bases [0] [0] [0] [0] [0]", "[4] [8] [16] [32] [64]"],
        ),
        (
            "slice(0, blocked([1, 2], [32, 1], [1, 4], [1, 0]))",
            ["first two register bases [1] [2]", "[1] [8]"],
        ),
    ] {
        refused(
            ATTR,
            X,
            &gather(&rows(form), "0", tile),
            &[&["[K0306]", help], &parts[..]].concat(),
        );
    }
    // All rows in every warp: that is slow, and no more.
    let form = "blocked([256], [32], [4], [0])";
    refused(
        ATTR,
        X,
        &gather(&rows(form), "0", tile),
        &["[K0901]", "instructions of a warp 16", "instructions of a warp 64", help],
    );
    // What a layout spreads to is converted.
    let converted = format!("{} + 1", rows("blocked([4], [32], [4], [0])"));
    assert_eq!(said(ATTR, X, &gather(&converted, "0", tile)), [""; 0]);
}

//! The tensor maps of kernels, and how many instructions copy by them.

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::Problems,
    host::Variant,
    ir::{Dtype, Fact, Fill},
    layouts::tma::{MapExtent, MapStride},
    loc::Locations,
    syntax,
};

/// The variants of the only image of a kernel.
fn variants(source: &str) -> Vec<Variant> {
    let mut function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let attr = function.attrs.remove(0).meta.require_list().expect("arguments").tokens.clone();
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let mut compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    assert!(problems.is_empty(), "{problems:?}");
    compiled.remove(0).remove(0).images.remove(0).variants
}

/// A kernel that copies a block of a tensor to shared memory, which `layout` pins, and to another tensor.
fn copy(dtype: &str, [rows, columns]: [u32; 2], layout: &str) -> String {
    format!(
        "#[kernel(target = sm_90a, warps = 1)]
        fn copy(a: Tensor<{dtype}, 2>, b: TensorMut<{dtype}, 2>) {{
            let at = [block_id(0) * {rows}, block_id(1) * {columns}];
            let staged = shared::<{dtype}>([{rows}, {columns}]){layout};
            let bar = barrier(1);
            bar.expect(staged.bytes());
            copy_async(a.tile(at, [{rows}, {columns}]), staged).on(bar);
            bar.wait(0);
            copy_async(staged, b.tile(at, [{rows}, {columns}]));
            tma::store_wait(0);
        }}"
    )
}

/// The extents, strides and boxes of the first map of a variant, innermost first, in the words of the test.
fn dims(variant: &Variant) -> Vec<(String, String, u32)> {
    let dims = variant.maps[0].dims.iter().map(|dim| {
        let extent = match dim.extent {
            MapExtent::Axis { axis, divide: 1 } => format!("dim({axis})"),
            MapExtent::Axis { axis, divide } => format!("dim({axis}) / {divide}"),
            MapExtent::Const(extent) => extent.to_string(),
            MapExtent::Tile { axis, elements } => format!("tile({axis}) of {elements}"),
            MapExtent::Ends { axis, elements } => format!("ends({axis}) - {elements}"),
        };
        let stride = match dim.stride {
            MapStride::Axis { axis, times: 1 } => format!("stride({axis})"),
            MapStride::Axis { axis, times } => format!("stride({axis}) * {times}"),
            MapStride::Elements(elements) => elements.to_string(),
        };
        (extent, stride, dim.box_elems)
    });
    dims.collect()
}

fn written(dims: &[(&str, &str, u32)]) -> Vec<(String, String, u32)> {
    dims.iter()
        .map(|&(extent, stride, elems)| (extent.to_owned(), stride.to_owned(), elems))
        .collect()
}

/// Copies to shared memory, and from it, of as many dimensions.
fn instructions(variant: &Variant, rank: usize) -> [usize; 2] {
    let count = |direction: &str| {
        let word = format!("cp.async.bulk.tensor.{rank}d.{direction}");
        variant.ptx.lines().filter(|line| line.contains(&word)).count()
    };
    [count("shared::cluster.global"), count("global.shared::cta")]
}

/// Rows of 256 elements in every swizzle: what divides the columns, the box, and the copies where it does not divide.
#[test]
fn one_box_of_three_dimensions_copies_rows_wider_than_the_swizzle() {
    for (dtype, layout, span, boxes) in [
        ("f16", ".with_layout(swizzle(128))", 64, [64, 8, 4]),
        ("bf16", ".with_layout(swizzle(128))", 64, [64, 8, 4]),
        ("f16", ".with_layout(swizzle(64))", 32, [32, 8, 8]),
        ("f16", ".with_layout(swizzle(32))", 16, [16, 8, 16]),
        ("i8", ".with_layout(swizzle(128))", 128, [128, 8, 2]),
        ("u8", ".with_layout(swizzle(128))", 128, [128, 8, 2]),
        ("f32", ".with_layout(swizzle(128))", 32, [32, 8, 8]),
        // The compiler takes the widest swizzle.
        ("f16", "", 64, [64, 8, 4]),
    ] {
        let what = format!("{dtype} {layout}");
        let variants = variants(&copy(dtype, [8, 256], layout));
        let names: Vec<_> = variants.iter().map(|variant| variant.name).collect();
        assert_eq!(names, ["divisible", "aligned", "general"], "{what}");
        let extent = format!("dim(1) / {span}");
        let step = span.to_string();
        let required = [
            (step.as_str(), "1", boxes[0]),
            ("dim(0)", "stride(0)", boxes[1]),
            (&extent, &step, boxes[2]),
        ];
        assert_eq!(dims(&variants[0]), written(&required), "{what}");
        assert_eq!(instructions(&variants[0], 3), [1, 1], "{what}");
        for param in [0, 1] {
            let divided = Fact::DimMultiple { param, axis: 1, of: span };
            assert!(variants[0].requires.contains(&divided), "{what}: {:?}", variants[0].requires);
        }
        let required = [("dim(1)", "1", boxes[0]), ("dim(0)", "stride(0)", 8)];
        assert_eq!(dims(&variants[1]), written(&required), "{what}");
        let required = [("dim(1)", "stride(1)", boxes[0]), ("dim(0)", "stride(0)", 8)];
        assert_eq!(dims(&variants[2]), written(&required), "{what}");
        for variant in &variants[1..] {
            let each = boxes[2] as usize;
            assert_eq!(instructions(variant, 2), [each, each], "{what}, {}", variant.name);
            assert!(!variant.ptx.contains("tensor.3d"), "{what}, {}", variant.name);
        }
    }
}

#[test]
fn rows_of_more_bytes_than_a_box_has_elements_go_as_wider_ones() {
    let variants = variants(&copy("u8", [8, 512], ".with_layout(row_major())"));
    let aligned = variants.iter().find(|variant| variant.name == "aligned").expect("there is one");
    assert_eq!(aligned.maps[0].dtype, Dtype::U16);
    assert_eq!(dims(aligned), written(&[("dim(1) / 2", "2", 256), ("dim(0)", "stride(0)", 8)]),);
    assert_eq!(instructions(aligned, 2), [1, 1]);
    let general = variants.last().expect("there is one");
    assert_eq!((general.name, general.maps[0].dtype), ("general", Dtype::U8));
    // Every row by itself, in halves.
    assert_eq!(instructions(general, 2), [16, 16]);
}

#[test]
fn sums_are_of_elements_as_they_are() {
    let source = "#[kernel(target = sm_90a, warps = 1)]
        fn add(#[block(4, 512)] sums: TensorMapMut<u32, 2>) {
            let part = shared::<u32>([4, 512]).with_layout(row_major());
            part.store(full([4, 512], 1));
            fence_async();
            tma::reduce_add(sums, [0, 0], part);
            tma::store_wait(0);
        }";
    for variant in variants(source) {
        assert_eq!(variant.maps[0].dtype, Dtype::U32, "{}", variant.name);
    }
}

/// Loads and prefetches of one block have one map.
#[test]
fn a_prefetch_brings_the_boxes_of_the_load() {
    let source = "#[kernel(target = sm_90a, warps = 1)]
        fn load(#[block(1, 64, 128)] a: TensorMap<f16, 3>, b: TensorMut<f16, 2>) {
            tma::prefetch(a, [0, 64, 0]);
            let staged = shared::<f16>([64, 128]);
            let bar = barrier(1);
            bar.expect(a.block_bytes());
            tma::load(a, [0, 0, 0], bar, staged);
            bar.wait(0);
            b.tile([0, 0], [64, 128]).store(staged.load());
        }";
    let variants = variants(source);
    let prefetches = |variant: &Variant| {
        variant.ptx.lines().filter(|line| line.contains("cp.async.bulk.prefetch.tensor")).count()
    };
    assert_eq!(variants.iter().map(prefetches).collect::<Vec<_>>(), [1, 2, 2]);
    assert!(variants.iter().all(|variant| variant.maps.len() == 1), "{variants:?}");
}

#[test]
fn no_variant_is_made_where_one_box_does_it_anyway() {
    for (columns, layout) in [(64, ""), (256, ".with_layout(row_major())")] {
        let variants = variants(&copy("f16", [64, columns], layout));
        assert!(variants.iter().all(|variant| variant.name != "divisible"), "{columns}");
        assert!(variants.iter().all(|variant| instructions(variant, 2) == [1, 1]), "{columns}");
        let swizzle_bytes = if layout.is_empty() { 128 } else { 0 };
        let swizzled = |variant: &Variant| variant.maps[0].swizzle_bytes == swizzle_bytes;
        assert!(variants.iter().all(swizzled), "{columns}");
    }
}

/// The corner of a window is where 64 divides nothing: columns are not taken apart.
#[test]
fn a_corner_anywhere_takes_a_box_for_each_swizzle() {
    let source = copy("f16", [8, 256], "").replace("block_id(1) * 256", "block_id(1) * 8");
    let variants = variants(&source);
    assert!(variants.iter().all(|variant| instructions(variant, 2) == [4, 4]), "{variants:?}");
}

#[test]
fn a_tensor_with_contiguous_columns_is_copied_along_them() {
    let source = "#[kernel(target = sm_90a, warps = 1)]
        fn copy(#[stride(1, _)] a: Tensor<f16, 2>, b: TensorMut<f16, 2>) {
            let staged = shared::<f16>([64, 8]);
            let bar = barrier(1);
            bar.expect(staged.bytes());
            copy_async(a.tile([0, 0], [64, 8]), staged).on(bar);
            bar.wait(0);
            b.tile([0, 0], [64, 8]).store(staged.load());
        }";
    for variant in variants(source) {
        let required = [("dim(0)", "1", 64), ("dim(1)", "stride(1)", 8)];
        assert_eq!(dims(&variant), written(&required), "{}", variant.name);
        assert_eq!(variant.maps[0].swizzle_bytes, 128, "{}", variant.name);
    }
}

#[test]
fn the_options_of_a_map_reach_the_launch() {
    let source = "#[kernel(target = sm_90a, warps = 1)]
        fn load(
            #[block(8, 64, swizzle = 32, fill = nan, l2_promotion = 64, element_strides = [2, 1])]
            a: TensorMap<f16, 2>,
            b: TensorMut<f16, 2>,
        ) {
            let staged = shared::<f16>([8, 64]);
            let bar = barrier(1);
            bar.expect(a.block_bytes());
            tma::load(a, [0, 0], bar, staged);
            bar.wait(0);
            b.tile([0, 0], [8, 64]).store(staged.load());
        }";
    for variant in variants(source) {
        let map = &variant.maps[0];
        assert_eq!((map.swizzle_bytes, map.l2_promotion_bytes), (32, 64), "{}", variant.name);
        assert_eq!(map.fill, Fill::Nan, "{}", variant.name);
        let rows: Vec<_> = map.dims.iter().filter(|dim| dim.element_stride == 2).collect();
        assert_eq!(rows.len(), 1, "{map:?}");
        assert_eq!(rows[0].box_elems, 16, "{map:?}");
        assert_eq!(rows[0].extent, MapExtent::Axis { axis: 0, divide: 1 }, "{map:?}");
    }
}

#[test]
fn the_filter_of_a_map_reaches_the_launch() {
    let source = "#[kernel(target = sm_90a, warps = 1)]
        fn load(
            #[block(64, 1, 1, 128, filter = [3, 5], stride = [2, 1], padding = [1, 4], dilation = [1, 2])]
            a: TensorMap<f16, 4>,
            b: TensorMut<f16, 2>,
        ) {
            let staged = shared::<f16>([64, 128]);
            let bar = barrier(1);
            bar.expect(a.block_bytes());
            tma::load(a, [0, 2, 4, 0], bar, staged);
            bar.wait(0);
            b.tile([0, 0], [64, 128]).store(staged.load());
        }";
    for variant in variants(source) {
        let map = &variant.maps[0];
        let places = map.places.as_ref().expect("the map has a filter");
        // The innermost axis first. The last tap is 8 and 2 elements after the first, so the first one ends as many before the padding.
        assert_eq!(places.count, 64, "{map:?}");
        assert_eq!((&places.lower[..], &places.upper[..]), (&[-4, -1][..], &[-4, -1][..]));
        let steps: Vec<u32> = map.dims.iter().map(|dim| dim.element_stride).collect();
        assert_eq!(steps, [1, 1, 2, 1], "{map:?}");
        // 64 channels are the width of the swizzle.
        let boxes: Vec<u32> = map.dims.iter().map(|dim| dim.box_elems).collect();
        assert_eq!((boxes, map.swizzle_bytes), (vec![64, 1, 1, 1], 128), "{map:?}");
        assert_eq!(variant.ptx.matches(".4d.shared::cluster.global.im2col.").count(), 2);
    }
}

#[test]
fn a_map_is_written_where_copies_go_to_the_tensor() {
    let kernel = |body: &str| {
        format!(
            "#[kernel(target = sm_90a, warps = 1)]
            fn k(#[block(8, 64)] x: TensorMapMut<f16, 2>) {{
                let staged = shared::<f16>([8, 64]);
                let bar = barrier(1);
                bar.expect(x.block_bytes());
                {body}
                tma::store_wait(0);
            }}"
        )
    };
    let load = "tma::load(x, [0, 0], bar, staged); bar.wait(0);";
    for (body, written) in [
        (load.to_owned(), false),
        (format!("{load} x.tile([0, 0], [8, 64]).store(zeros([8, 64]));"), false),
        (format!("{load} tma::store(x, [8, 0], staged);"), true),
        (format!("{load} tma::reduce_add(x, [8, 0], staged);"), true),
    ] {
        for variant in variants(&kernel(&body)) {
            let maps: Vec<bool> = variant.maps.iter().map(|map| map.written).collect();
            // Copies in both directions have one map.
            assert_eq!(maps, [written], "{body}");
        }
    }
}

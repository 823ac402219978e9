//! What a kernel states of its arguments changes its code, and the code is the same whatever the file is called.

use kernel_core::{
    Options, compile::compile_unit, diag::Problems, host::CompiledInstance, loc::Locations, syntax,
};

/// The instances of a kernel, which has no problems.
fn compiled(text: &str) -> (Vec<CompiledInstance>, Vec<(String, String)>) {
    let mut function: syn::ItemFn = syn::parse_str(text).expect("the text is a function");
    let attr = function.attrs.remove(0).meta.require_list().expect("arguments").tokens.clone();
    let mut problems = Problems::new();
    let locations = Locations::new(function.sig.ident.span());
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let mut dumps = Vec::new();
    let all = compile_unit(
        &unit,
        &locations,
        &mut problems,
        Options { dump: true, ..Options::default() },
        &mut dumps,
    );
    assert!(problems.is_empty(), "{problems:?}");
    (all.into_iter().next().expect("one kernel"), dumps)
}

/// The PTX of the variant `general`, which assumes nothing but what the kernel states.
fn general(text: &str) -> String {
    let (instances, _) = compiled(text);
    let variants = &instances[0].images[0].variants;
    variants.iter().find(|variant| variant.name == "general").expect("a variant").ptx.clone()
}

/// How many instructions of the text begin so.
fn count(ptx: &str, start: &str) -> usize {
    ptx.lines()
        .map(|line| line.trim_start().trim_start_matches(['@', '!']))
        .map(|line| {
            line.strip_prefix("%p")
                .map_or(line, |rest| rest.split_once(' ').map_or(rest, |(_, inst)| inst))
        })
        .filter(|line| line.starts_with(start))
        .count()
}

#[test]
fn a_stated_multiple_makes_accesses_through_pointers_vectors() {
    let kernel = |fact: &str| {
        general(&format!(
            "#[kernel(target = sm_80, warps = 1)]
             fn copy({fact} x: Ptr<f32>, {fact} out: Ptr<f32>, {fact} n: i32) {{
                 let at = arange(0, 128) + n;
                 store(out + at, load(x + at));
             }}"
        ))
    };
    let stated = kernel("#[multiple_of(16)]");
    assert_eq!((count(&stated, "ld.global.v4"), count(&stated, "ld.global")), (1, 1), "{stated}");
    assert_eq!((count(&stated, "st.global.v4"), count(&stated, "st.global")), (1, 1), "{stated}");
    let plain = kernel("");
    assert_eq!((count(&plain, "ld.global.v"), count(&plain, "ld.global")), (0, 4), "{plain}");
    assert_eq!((count(&plain, "st.global.v"), count(&plain, "st.global")), (0, 4), "{plain}");
}

#[test]
fn a_stated_stride_needs_no_multiplication_by_it() {
    let kernel = |fact: &str| {
        general(&format!(
            "#[kernel(target = sm_80, warps = 1)]
             fn copy({fact} x: Tensor<f32, 2>, out: Ptr<f32>) {{
                 store(out + arange(0, 128), x.tile([0, 0], [1, 128]).load().reshape([128]));
             }}"
        ))
    };
    assert!(!kernel("#[stride(_, 1)]").contains("[p0_stride1]"), "the stride is known");
    assert!(kernel("").contains("[p0_stride1]"), "the stride is read");
}

#[test]
fn the_longest_stride_wraps_as_addresses_do() {
    let ptx = general(
        "#[kernel(target = sm_80, warps = 4)]
         fn clear(#[stride(_, 9223372036854775807)] x: TensorMut<f32, 2>) {
             x.tile([0, 0], [64, 64]).store(zeros([64, 64]));
         }",
    );
    // Four bytes times 2^63 - 1, in 64 bits.
    let factors = ptx.lines().filter(|line| line.trim_start().starts_with("mul.wide.s32"));
    assert!(factors.clone().any(|line| line.ends_with(", -4;")), "{ptx}");
}

#[test]
fn what_the_aligned_variant_assumes_makes_copies_of_sixteen_bytes() {
    let (instances, _) = compiled(
        "#[kernel(target = sm_80, warps = 1)]
         fn copy(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
             let s = shared::<f16>([8, 64]);
             copy_async(x.tile([0, 0], [8, 64]), s);
             copy_async_wait_all();
             sync();
             out.tile([0, 0], [8, 64]).store(s.load());
         }",
    );
    let copies = instances[0].images[0].variants.iter().map(|variant| {
        let narrow = count(&variant.ptx, "ld.global.nc.b16");
        (variant.name, count(&variant.ptx, "cp.async.cg"), narrow)
    });
    // 512 halves: two copies of eight for each thread, or sixteen of one.
    assert_eq!(copies.collect::<Vec<_>>(), [("aligned", 2, 0), ("general", 0, 16)]);
}

#[test]
fn the_same_kernel_gives_the_same_bytes_wherever_it_stands() {
    let text = "#[kernel(target = [sm_80, sm_90a], warps = 4, instances(N = [64, 128]))]
         fn scale<const N: i32>(x: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
             let s = shared::<f16>([N, 64]);
             copy_async(x.tile([0, 0], [N, 64]), s);
             copy_async_wait_all();
             sync();
             out.tile([0, 0], [N, N]).store(dot(s, s.t(), zeros::<f32>([N, N])));
         }";
    let ptx = |text: &str| -> Vec<String> {
        let (instances, _) = compiled(text);
        let images = instances.into_iter().flat_map(|instance| instance.images);
        images.flat_map(|image| image.variants).map(|variant| variant.ptx).collect()
    };
    let first = ptx(text);
    assert_eq!(first.len(), 8, "two instances, two targets, two variants");
    // Every parse is a file of its own for `proc-macro2`; its name reaches the PTX as `.file` alone.
    let again = ptx(text);
    let without_file = |all: &[String]| -> Vec<String> {
        let lines = all.iter().flat_map(|text| text.lines());
        lines.filter(|line| !line.starts_with(".file")).map(str::to_owned).collect()
    };
    assert_eq!(without_file(&first), without_file(&again));
    for line in first.iter().flat_map(|text| text.lines()) {
        let path = line.split('"').nth(1).unwrap_or_default();
        assert!(!path.contains('/') && !path.contains('\\'), "{line}");
    }
}

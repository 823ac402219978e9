//! `stamp!`: the images that have it, and what it leaves of schedules.

use kernel_core::{
    Options,
    compile::{compile_function, compile_unit},
    diag::Problems,
    host::{CompiledInstance, Image},
    loc::Locations,
    surroundings::Surroundings,
    syntax,
};
use proc_macro2::TokenStream;
use quote::quote;

#[track_caller]
fn compiled(attr: TokenStream, source: &str) -> CompiledInstance {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    assert!(problems.is_empty(), "{problems:?}");
    compiled.into_iter().flatten().next().expect("one instance")
}

/// The variants' code, without the columns of the text and what stands for the name of the file.
fn code(image: &Image) -> Vec<(&'static str, String)> {
    let named = [".loc", ".file"];
    let of_text = |line: &&str| !named.iter().any(|name| line.trim_start().starts_with(name));
    let lines = |ptx: &str| ptx.lines().filter(of_text).collect::<Vec<_>>().join("\n");
    image.variants.iter().map(|variant| (variant.name, lines(&variant.ptx))).collect()
}

/// The first word of an instruction, without its guard.
fn opcode(line: &str) -> &str {
    let line = line.trim_start();
    let unguarded = line.split_once(' ').filter(|_| line.starts_with('@'));
    unguarded.map_or(line, |(_, rest)| rest).split([' ', ';']).next().unwrap_or_default()
}

/// Copies, products, barriers, and accesses to shared and loads of global memory, in their order. A branch that has nothing but a stamp stays,
/// so jumps are not among them.
fn schedule(ptx: &str) -> Vec<&str> {
    let kept = [
        "cp.",
        "mma.",
        "wgmma.",
        "bar",
        "mbarrier.",
        "fence",
        "ldmatrix",
        "ret",
        "ld.shared",
        "st.shared",
        "ld.global",
        "setmaxnreg",
    ];
    let opcodes = ptx.lines().map(opcode);
    opcodes.filter(|opcode| kept.iter().any(|one| opcode.starts_with(one))).collect()
}

/// Kernels with a line for each place that a stamp may have.
const KERNELS: [(&str, &str, &str); 4] = [
    (
        "a pipelined loop, with stamps before and between copies",
        "sm_80",
        "fn k(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>, n: i32) {
            let (s, t) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
            let mut acc = zeros::<f32>([64, 64]);
            for k in pipeline(range(0, n, 64), 3) {
                stamp!(\"first\");
                copy_async(a.tile([0, k], [64, 64]), s);
                stamp!(\"second\");
                copy_async(b.tile([k, 0], [64, 64]), t);
                stamp!(\"third\");
                acc = dot(s.load(), t.load(), acc);
                stamp!(\"fourth\");
            }
            stamp!(\"store\");
            c.tile([0, 0], [64, 64]).store(acc);
            stamp!(\"end\");
        }",
    ),
    (
        "copies that a branch of a pipelined loop starts",
        "sm_80",
        "fn k(a: Tensor<f16, 2>, c: TensorMut<f32, 2>, n: i32) {
            let s = shared::<f16>([64, 64]);
            let mut acc = zeros::<f32>([64, 64]);
            for k in pipeline(range(0, n, 64), 3) {
                if k != 128 {
                    stamp!(\"copy\");
                    copy_async(a.tile([0, k], [64, 64]), s);
                }
                if k != 128 {
                    stamp!(\"add\");
                    acc = acc + s.load().cast::<f32>();
                }
            }
            c.tile([0, 0], [64, 64]).store(acc);
        }",
    ),
    (
        "copies that are started before the products of the iteration before, and a load for a product",
        "sm_80",
        "fn k(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>, n: i32) {
            let (s, t) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
            let mut acc = zeros::<f32>([64, 64]);
            for k in range(0, n, 64) {
                stamp!(\"copy\");
                copy_async(a.tile([0, k], [64, 64]), s);
                copy_async(b.tile([k, 0], [64, 64]), t);
                copy_async_commit();
                stamp!(\"wait\");
                copy_async_wait(0);
                sync();
                let left = s.load();
                stamp!(\"between a load and its product\");
                let right = t.load();
                acc = dot(left, right, acc);
                sync();
                stamp!(\"last\");
            }
            c.tile([0, 0], [64, 64]).store(acc);
        }",
    ),
    (
        "partitions that end without a meeting",
        "sm_90a",
        "fn k(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>, n: i32) {
            let ring = shared::<f32>([2, 64, 64]);
            let (full, empty) = (barriers(2, 1), barriers(2, 1));
            stamp!(\"begin\");
            warp_specialize(
                || {
                    let (mut slot, mut phase, mut sum) = (0, 0, zeros::<f32>([64, 64]));
                    for step in 0..n {
                        stamp!(\"wait\");
                        full[slot].wait(phase);
                        stamp!(\"add\");
                        sum = sum + ring[slot].load();
                        empty[slot].arrive();
                        phase ^= slot;
                        slot = 1 - slot;
                    }
                    out.tile([0, 0], [64, 64]).store(sum);
                },
                [partition(1).registers(40).run(|| {
                    let (mut slot, mut phase) = (0, 1);
                    for step in 0..n {
                        stamp!(\"copy\");
                        empty[slot].wait(phase);
                        full[slot].expect(x.block_bytes());
                        tma::load(x, [step * 64, 0], full[slot], ring[slot]);
                        phase ^= slot;
                        slot = 1 - slot;
                    }
                })],
            );
            stamp!(\"end\");
        }",
    ),
];

/// The source without its lines of stamps.
fn without(source: &str) -> String {
    source.lines().filter(|line| !line.contains("stamp!")).collect::<Vec<_>>().join("\n")
}

fn attr(target: &str) -> TokenStream {
    let target = quote::format_ident!("{target}");
    quote!(target = #target, warps = 4)
}

#[test]
fn a_kernel_without_a_profile_has_no_trace_of_its_stamps() {
    for (what, target, source) in KERNELS {
        let bare = compiled(attr(target), &without(source));
        let stamped = compiled(attr(target), source);
        assert!(bare.images[0].profiled.is_none() && bare.reporting.is_empty(), "{what}");
        assert!(stamped.reporting.is_empty(), "{what}");
        assert_eq!(code(&bare.images[0]), code(&stamped.images[0]), "{what}");
    }
}

#[test]
fn the_image_of_a_profile_has_all_stamps_and_the_schedule_of_the_other_one() {
    for (what, target, source) in KERNELS {
        let one = compiled(attr(target), source).images.remove(0);
        let profiled = one.profiled.as_ref().expect("it has stamps");
        let stamps = source.matches("stamp!").count();
        assert_eq!(profiled.stamps.len(), stamps, "{what}");
        assert!(profiled.profiled.is_none() && profiled.reports.is_none(), "{what}");
        let variants =
            |image: &Image| image.variants.iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(variants(&one), variants(profiled), "{what}");
        for (plain, with) in one.variants.iter().zip(&profiled.variants) {
            assert_eq!(schedule(&plain.ptx), schedule(&with.ptx), "{what}, {}", plain.name);
            assert_eq!(plain.shared_bytes, with.shared_bytes, "{what}");
            assert_eq!(plain.ptx.matches("%clock64").count(), 0, "{what}");
            assert_eq!(with.ptx.matches("%clock64").count(), stamps, "{what}, {}", plain.name);
        }
    }
}

#[test]
fn messages_and_stamps_are_in_images_of_their_own() {
    let source =
        "fn k(n: i32) { println!(\"{n}\"); stamp!(\"a\"); assert!(n > 0); stamp!(\"b\"); }";
    let compiled = compiled(quote!(target = sm_80, debug = always), source);
    let [silent, saying] = [&compiled.images[0], &compiled.reporting[0]];
    let names = |image: &Image| -> Vec<String> {
        let profiled = image.profiled.as_ref().expect("it has stamps");
        assert!(!profiled.variants[0].ptx.contains("trap"));
        profiled.stamps.iter().map(|stamp| stamp.name.clone()).collect()
    };
    assert_eq!(
        (names(silent), names(saying)),
        (vec!["a".into(), "b".into()], vec!["a".into(), "b".into()])
    );
    assert_eq!(saying.reports.as_ref().map(|reports| reports.all.len()), Some(2));
    assert!(!saying.variants[0].ptx.contains("%clock64"));
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let (around, attr) = (Surroundings::default(), quote!(target = sm_80, debug = always));
    let tokens = compile_function(attr, &function, &around, Options::default()).tokens.to_string();
    for (text, count) in [(".visible .entry", 2), ("Stamps :: LeftOut", 1), ("Stamps :: Made", 1)] {
        assert_eq!(tokens.matches(text).count(), count, "{text}");
    }
}

#[test]
fn stamps_take_their_parameters_before_the_tensor_maps() {
    let (_, target, source) = KERNELS[3];
    let one = compiled(attr(target), source).images.remove(0);
    let ptx = &one.profiled.expect("it has stamps").variants[0].ptx;
    let at = |text: &str| ptx.find(text).unwrap_or_else(|| panic!("{text} in {ptx}"));
    let list = [".param .s32 p2_value", ".param .u64 stamps", ".param .u32 stamps_first"];
    let list =
        [&list[..], &[".param .u32 stamps_blocks", ".param .u32 stamps_room", ".param .align 64"]];
    let places: Vec<usize> = list.concat().into_iter().map(at).collect();
    assert!(places.is_sorted(), "{places:?}");
}

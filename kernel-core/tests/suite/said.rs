//! `println!` and `assert!`: which builds have them, and what they leave of a kernel that is compiled without them.

use kernel_core::{
    Options,
    compile::{compile_function, compile_unit},
    diag::Problems,
    host::CompiledInstance,
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

fn tokens(attr: TokenStream, source: &str) -> String {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let around = Surroundings::default();
    compile_function(attr, &function, &around, Options::default()).tokens.to_string()
}

/// A pipelined loop with a product.
const SILENT: &str = "fn k(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>, n: i32) {
    let s = shared::<f16>([64, 64]);
    let mut acc = zeros::<f32>([64, 64]);
    for k in pipeline(range(0, n, 64), 3) {
        copy_async(a.tile([0, k], [64, 64]), s);
        acc = dot(s.load(), b.tile([k, 0], [64, 64]).load(), acc);
    }
    c.tile([0, 0], [64, 64]).store(acc);
}";

/// Statements, and what is said after them in the same line.
const SAID: [(&str, &str); 4] = [
    ("copy_async(a.tile([0, k], [64, 64]), s);", "println!(\"k {k} of {}\", n);"),
    ("let mut acc = zeros::<f32>([64, 64]);", "assert!(n % 64 == 0, \"{n}\");"),
    (".load(), acc);", "println!(\"{acc:?}\"); assert_eq!(k, k + n - n);"),
    (".store(acc);", "print!(\"{}\", acc.sum(1).sum(0).item()); assert!(64 > 32);"),
];

#[test]
fn a_release_build_has_the_code_of_a_kernel_that_says_nothing() {
    let mut source = SILENT.to_owned();
    for (after, said) in SAID {
        assert!(source.contains(after), "{after}");
        source = source.replace(after, &format!("{after} {said}"));
    }
    let attr = || quote!(target = [sm_80, sm_90a], warps = 4);
    let (silent, saying) = (compiled(attr(), SILENT), compiled(attr(), &source));
    assert!(silent.reporting.is_empty());
    assert_eq!(saying.images.len(), 2);
    assert_eq!(saying.reporting.len(), 2);
    for ((silent, release), debug) in
        silent.images.iter().zip(&saying.images).zip(&saying.reporting)
    {
        assert!(release.reports.is_none());
        let code = |image: &kernel_core::host::Image| {
            let variants = image.variants.iter();
            // The columns of the text differ, and what stands for the name of the file.
            let named = [".loc", ".file"];
            let of_text =
                |line: &&str| named.iter().any(|name| line.trim_start().starts_with(name));
            let lines = |ptx: &str| {
                let lines = ptx.lines().filter(|line| !of_text(line));
                lines.map(str::to_owned).collect::<Vec<_>>()
            };
            variants.map(|variant| (variant.name, lines(&variant.ptx))).collect::<Vec<_>>()
        };
        assert!(code(silent) == code(release), "{}", silent.target);
        let reports = debug.reports.as_ref().expect("it says something");
        assert_eq!(reports.all.len(), 5);
        for variant in &debug.variants {
            let has = |text: &str| variant.ptx.contains(text);
            assert!(has(".param .u64 reports") && has("trap;"), "{}", variant.name);
        }
    }
}

#[test]
fn the_memory_for_reports_comes_before_the_tensor_maps() {
    let source = "fn k(n: i32, #[block(64, 64)] a: TensorMap<f16, 2>) {
        let (s, full) = (shared::<f16>([64, 64]), barrier(1));
        full.expect(s.bytes());
        tma::load(a, [n, 0], full, s);
        full.wait(0);
        println!(\"{:?}\", s.load());
    }";
    let saying = compiled(quote!(target = sm_90a, warps = 4), source);
    let ptx = &saying.reporting[0].variants[0].ptx;
    let at = |text: &str| ptx.find(text).unwrap_or_else(|| panic!("{text} in {ptx}"));
    assert!(at(".param .s32 p0_value") < at(".param .u64 reports"));
    assert!(at(".param .u64 reports") < at(".param .align 64"));
}

#[test]
fn debug_builds_say_something_and_others_only_if_asked() {
    let source = "fn k(n: i32) { println!(\"{n}\"); }";
    let silent = "fn k(n: i32) { assert!(2 > 1); }";
    let count = |tokens: &str, of: &str| tokens.matches(of).count();
    let chosen = tokens(quote!(target = sm_80), source);
    assert_eq!(count(&chosen, "debug_assertions"), 2, "{chosen}");
    assert_eq!(count(&chosen, "slot_bytes"), 1, "{chosen}");
    assert_eq!(count(&chosen, ".visible .entry"), 2, "{chosen}");
    let always = tokens(quote!(target = sm_80, debug = always), source);
    assert_eq!(count(&always, "debug_assertions"), 0, "{always}");
    assert_eq!(count(&always, "slot_bytes"), 1, "{always}");
    assert_eq!(count(&always, ".visible .entry"), 1, "{always}");
    for attr in [quote!(target = sm_80), quote!(target = sm_80, debug = always)] {
        let never = tokens(attr, silent);
        assert_eq!(count(&never, "debug_assertions") + count(&never, "slot_bytes"), 0, "{never}");
    }
}

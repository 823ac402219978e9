use proc_macro2::{Span, TokenStream};
use quote::quote;

use super::{FreePath, Needs, of_items, of_kernel};
use crate::{
    diag::Problems,
    loc::Locations,
    syntax::{parse_device, parse_function, parse_module},
};

fn needs(attr: TokenStream, function: TokenStream) -> Needs {
    let function: syn::ItemFn = syn::parse2(function).expect("a function");
    let locations = Locations::new(Span::call_site());
    let unit = parse_function(attr, &function, &locations, &mut Problems::new());
    of_kernel(&unit, &unit.kernels[0])
}

fn keys(paths: &[FreePath]) -> Vec<String> {
    paths.iter().map(FreePath::key).collect()
}

/// The free paths of a kernel with this body.
fn of_body(body: &TokenStream) -> Vec<String> {
    let function = quote!(
        fn k<T: Float, const N: i32>(x: TensorMut<T, 1>) {
            #body
        }
    );
    keys(&needs(quote!(target = sm_80, warps = 4), function).paths)
}

#[test]
fn calls_and_paths_are_free_where_nothing_in_sight_declares_them() {
    assert_eq!(of_body(&quote!(f(1); a::g(2); super::h(3);)), ["f", "a::g", "super::h"]);
    assert_eq!(of_body(&quote!(f(1); f(2);)), ["f"], "each once");
    assert!(of_body(&quote!(fn f(x: i32) {} f(1);)).is_empty(), "the body's own");
    assert!(of_body(&quote!(let f = |y| y; f(1);)).is_empty(), "a closure");
}

#[test]
fn the_language_is_not_free() {
    let body = quote!(
        let a = zeros::<f32>([N]) + T::of(1.0);
        let b: Tile<f32> = atomic::add(x.ptr(), 1);
        for i in unroll(0..4) {}
        kiln::prelude::sync();
    );
    assert!(of_body(&body).is_empty());
}

/// What comes with the crate `kiln` and is not a word of the language travels as device items of any crate do.
#[test]
fn the_library_of_the_language_is_free() {
    assert_eq!(
        of_body(&quote!(kiln::Ring::writer(4); kiln::sched::Grouped::<8>::new(1, 2);)),
        ["kiln::Ring", "kiln::sched::Grouped"]
    );
    let body = quote!(
        use kiln::{Ring as Around, sched};
        Around::reader(2);
        sched::Linear::new(1, 2);
    );
    assert_eq!(of_body(&body), ["kiln::Ring", "kiln::sched::Linear"]);
}

/// `linear` is the language's, `Linear` somebody's.
#[test]
fn a_type_is_no_misspelt_function() {
    assert_eq!(
        of_body(&quote!(Linear::new(1, 2); let order: Swizzled = f();)),
        ["Linear", "Swizzled", "f"]
    );
}

#[test]
fn a_path_ends_after_its_first_capital() {
    assert_eq!(of_body(&quote!(sched::Ring::<3>::start(0);)), ["sched::Ring"]);
    assert_eq!(of_body(&quote!(let r = Ring { at: limits::LEN };)), ["Ring", "limits::LEN"]);
    assert_eq!(
        of_body(&quote!(let r: [sched::Ring; limits::MAX] = f();)),
        ["sched::Ring", "limits::MAX", "f"]
    );
}

#[test]
fn a_small_letter_name_on_its_own_is_a_variable() {
    assert_eq!(of_body(&quote!(f(misspelt);)), ["f"]);
    assert_eq!(of_body(&quote!(f(LEN);)), ["f"], "a constant of the file");
    assert_eq!(of_body(&quote!(use limits::LEN; f(LEN);)), ["f", "limits::LEN"]);
}

#[test]
fn generic_arguments_are_looked_into() {
    assert_eq!(
        of_body(&quote!(f::<sched::Rows, { limits::LEN }>(1);)),
        ["sched::Rows", "limits::LEN", "f"]
    );
    assert_eq!(of_body(&quote!(1.cast::<Other>();)), ["Other"]);
}

#[test]
fn what_a_body_imports_is_free_under_its_whole_path() {
    let body = quote!(
        use library::{act::silu as swish, sched};
        swish(sched::Ring::start(0));
    );
    assert_eq!(of_body(&body), ["library::act::silu", "library::sched::Ring"]);
    assert!(of_body(&quote!(use kiln::prelude::zeros as nought; nought::<f32>([N]);)).is_empty());
}

#[test]
fn values_of_instances_are_free_too() {
    let attr = quote!(target = sm_80, warps = 4, instances(S = [sched::Rows, sched::Grouped<2>]));
    let found = needs(
        attr,
        quote!(
            fn k<S: sched::Order>() {
                S::new();
            }
        ),
    );
    assert_eq!(keys(&found.paths), ["sched::Rows", "sched::Grouped"]);
}

#[test]
fn neighbours_of_a_kernel_are_not_free_and_their_needs_are_its_own() {
    let module: syn::ItemMod = syn::parse2(quote!(
        mod m {
            use library::scale as by;
            const LEN: i32 = limits::MAX;
            struct Pair {
                a: i32,
            }
            impl Order for Pair {
                fn new() -> Pair {
                    Pair { a: by(LEN) }
                }
            }
            #[kernel(target = sm_80, warps = 4)]
            fn one() {
                helper(Pair { a: 1 });
            }
            fn helper(p: Pair) {}
            #[kernel(target = sm_80, warps = 4)]
            fn two() {
                extra();
            }
        }
    ))
    .expect("a module");
    let locations = Locations::new(Span::call_site());
    let unit = parse_module(&module, &locations, &mut Problems::new());
    let of = |index: usize| keys(&of_kernel(&unit, &unit.kernels[index]).paths);
    assert_eq!(of(0), ["limits::MAX", "Order", "by"]);
    assert_eq!(of(1), ["limits::MAX", "Order", "by", "extra"]);
}

#[test]
fn a_device_module_needs_what_its_functions_need() {
    let module: syn::Item = syn::parse2(quote!(
        mod m {
            pub fn f<T: Float>(x: Tile<T>) -> Tile<T> {
                g(super::half(x))
            }
            fn g<T: Float>(x: Tile<T>) -> Tile<T> {
                x
            }
        }
    ))
    .expect("a module");
    let locations = Locations::new(Span::call_site());
    let items = parse_device(&module, &locations, &mut Problems::new());
    assert_eq!(keys(&of_items(&items).paths), ["super::half"]);
}

#[test]
fn addresses_of_tensors_are_seen_wherever_they_are_taken() {
    let of = |body: TokenStream| {
        needs(quote!(target = sm_80, warps = 4), quote!(fn k(x: TensorMut<f32, 1>) { #body }))
            .takes_pointers
    };
    assert!(of(quote!(for i in 0..limit() {
        store(x.ptr() + i, 1.0);
    })));
    assert!(!of(quote!(x.tile([0], [32]).store(f());)));
    // So are texts that touch memory.
    assert!(of(quote!(f(ptx!("ld.shared.b32 {out}, [{a}];", a = 0 => i32));)));
    assert!(!of(quote!(f(ptx!("mov.u32 {out}, %laneid;" => i32));)));
    // And texts that make a pointer of a number.
    assert!(of(quote!(f(ptx!("mov.b64 {out}, {a};", a = 64u64 => Ptr<f32>));)));
    assert!(of(quote!(f(
        ptx!("mov.b64 {out0}, {a}; mov.u32 {out1}, 1;", a = 64u64 => (Ptr<f32>, i32))
    );)));
}

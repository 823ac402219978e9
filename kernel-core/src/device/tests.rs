use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};

use super::{Bundle, Chain, Definition, Devices, device_finish, device_item, id_of, unpack};
use crate::{Surroundings, diag::Problems, kernel_finish, loc::Locations, syntax::Item};

fn item(tokens: TokenStream) -> syn::Item {
    syn::parse2(tokens).expect("an item")
}

/// The tokens that `#[device]` leaves in the place of an item.
fn left(tokens: TokenStream) -> String {
    device_item(&TokenStream::new(), &item(tokens), &Surroundings::default(), "crate").to_string()
}

/// The bundle that the one macro among these items adds to a chain: the last group but one of its rule's second list.
fn bundle_of(tokens: TokenStream) -> TokenStream {
    let file: syn::File = syn::parse2(tokens).expect("items");
    let rules = file
        .items
        .iter()
        .find_map(|item| {
            let syn::Item::Macro(item) = item else { return None };
            Some(item.mac.tokens.clone())
        })
        .expect("a macro");
    // `(pattern) => { next ! { @kiln [rest] [got { BUNDLE }] state } };`
    let body = group_at(rules, Delimiter::Brace);
    let call = group_at(body.into_iter().skip(3).collect(), Delimiter::Brace);
    let list = groups(call, Delimiter::Bracket).nth(1).expect("two lists");
    group_at(list, Delimiter::Brace)
}

/// What stands between brackets of this kind.
fn groups(tokens: TokenStream, delimiter: Delimiter) -> impl Iterator<Item = TokenStream> {
    tokens.into_iter().filter_map(move |tree| {
        let TokenTree::Group(group) = tree else { return None };
        (group.delimiter() == delimiter).then(|| group.stream())
    })
}

fn group_at(tokens: TokenStream, delimiter: Delimiter) -> TokenStream {
    groups(tokens, delimiter).next().expect("a group")
}

fn half() -> TokenStream {
    quote!(
        pub fn half(x: f32) -> f32 {
            x * 0.5
        }
    )
}

/// What the attribute leaves of [`half`], read back.
fn half_bundle() -> TokenStream {
    bundle_of(device_item(&TokenStream::new(), &item(half()), &Surroundings::default(), "crate"))
}

fn names(items: &[Item]) -> Vec<String> {
    items
        .iter()
        .map(|item| {
            let Item::Function(function) = item else { return format!("{item:?}") };
            function.name.name.clone()
        })
        .collect()
}

fn unpacked(bundles: &[TokenStream], paths: &[TokenStream]) -> Devices {
    let bundles: Vec<Bundle> =
        bundles.iter().map(|one| syn::parse2(one.clone()).expect("a bundle")).collect();
    let locations = Locations::new(proc_macro2::Span::call_site());
    let mut problems = Problems::new();
    let devices = unpack(&bundles, paths, &locations, &mut problems);
    assert!(problems.is_empty());
    devices
}

#[test]
fn the_function_stays_as_it_is_and_a_macro_of_its_name_is_imported() {
    let text = left(quote!(
        /// Half of it.
        pub fn half(x: f32) -> f32 {
            x * 0.5
        }
    ));
    assert!(text.contains("# [doc = r\" Half of it.\"] pub fn half (x : f32) -> f32"), "{text}");
    assert!(text.contains("# [macro_export] macro_rules ! __kiln_device_half_half_"), "{text}");
    assert!(text.contains("pub use __kiln_device_half_half_"), "{text}");
    assert!(text.trim_end().ends_with("as half ;"), "{text}");
}

#[test]
fn only_what_is_public_leaves_the_crate() {
    for (vis, import) in [
        (quote!(), "use __kiln"),
        (quote!(pub(crate)), "pub (crate) use __kiln"),
        (quote!(pub(super)), "pub (super) use __kiln"),
    ] {
        let text = left(quote!(#vis fn f() {}));
        assert!(!text.contains("macro_export"), "{text}");
        assert!(text.contains(import), "{import}: {text}");
    }
}

#[test]
fn a_bundle_arrives_as_it_was_packed() {
    let devices = unpacked(&[half_bundle()], &[quote!(library::half)]);
    assert_eq!(devices.items.len(), 1);
    assert_eq!(names(&devices.items[0].items), ["half"]);
    let [only] = devices.uses.as_slice() else { panic!("{:?}", devices.uses) };
    assert_eq!((only.path.as_str(), only.export.as_str()), ("library::half", "half"));
    assert_eq!(only.id, devices.items[0].id);
}

#[test]
fn a_device_function_brings_what_it_uses_and_each_item_arrives_once() {
    let quarter = quote!(
        pub fn quarter(x: f32) -> f32 {
            half(half(x))
        }
    );
    let chain = device_item(&TokenStream::new(), &item(quarter), &Surroundings::default(), "crate");
    let text = chain.to_string();
    assert!(
        text.contains("half ! { @ kiln [{ :: kiln :: __private :: device_finish }] []"),
        "{text}"
    );
    assert!(!text.contains("macro_rules"), "the macro comes at the end of the chain: {text}");

    let state = chain_in(chain).expect("a chain").into_iter().last().expect("the state");
    let half = half_bundle();
    let arrived = quote!(@kiln [] [{ #half }] #state);
    let quarter = bundle_of(device_finish(arrived));
    let devices = unpacked(&[quarter, half_bundle()], &[quote!(library::quarter), quote!(r#half)]);
    let items: Vec<Vec<String>> = devices.items.iter().map(|item| names(&item.items)).collect();
    assert_eq!(items, [["quarter"], ["half"]]);
    let [inner] = devices.items[0].uses.as_slice() else { panic!("{devices:?}") };
    assert_eq!((inner.path.as_str(), &inner.id), ("half", &devices.items[1].id));
    assert_eq!(devices.uses[1].path, "half");
}

#[test]
fn a_definition_on_its_way_is_read_as_it_was_written() {
    let state = quote!(@kiln [] [] {
        "f_1" { fn f() {} } [(f pub(crate))] [{super::g} {h}]
    });
    let Chain { bundles, state: Definition { id, tokens, exports, paths } } =
        syn::parse2(state).expect("a definition");
    assert!(bundles.is_empty());
    assert_eq!((id.as_str(), tokens.to_string().as_str()), ("f_1", "fn f () { }"));
    assert_eq!(exports[0].0, "f");
    assert_eq!(exports[0].1.to_token_stream().to_string(), "pub (crate)");
    let paths: Vec<String> = paths.iter().map(super::path_key).collect();
    assert_eq!(paths, ["super::g", "h"]);
}

#[test]
fn a_module_is_reached_by_each_of_its_visible_items() {
    let text = left(quote!(
        pub mod ring {
            pub struct Ring {
                pub at: i32,
            }
            impl Ring {
                pub fn next(&mut self) {}
            }
            pub const LEN: i32 = 4;
            pub(crate) fn helper() {}
            fn hidden() {}
        }
    ));
    for name in ["Ring", "LEN", "helper"] {
        assert!(text.contains(&format!("macro_rules ! __kiln_device_{name}_ring_")), "{text}");
    }
    assert_eq!(text.matches("macro_rules").count(), 3, "{text}");
    assert_eq!(text.matches("macro_export").count(), 2, "{text}");
    assert!(text.trim_end().ends_with('}'), "the macros stand in the module: {text}");
}

#[test]
fn ids_tell_items_of_one_name_apart() {
    let f = item(quote!(
        fn f() {}
    ));
    let other = item(quote!(
        fn f() -> i32 {
            1
        }
    ));
    assert_eq!(id_of(&f, "a 1"), id_of(&f.clone(), "a 1"));
    assert_ne!(id_of(&f, "a 1"), id_of(&f, "b 1"), "two packages");
    assert_ne!(id_of(&f, "a 1"), id_of(&other, "a 1"), "two functions");
    assert!(id_of(&f, "a 1").starts_with("f_"));
}

#[test]
fn names_that_would_be_ambiguous_are_refused() {
    for (tokens, reason) in [
        (
            quote!(
                fn dot() {}
            ),
            "a name of the language",
        ),
        (
            quote!(
                fn vec() {}
            ),
            "the name of a macro",
        ),
        (
            quote!(
                mod m {
                    pub fn line() {}
                }
            ),
            "the name of a macro",
        ),
    ] {
        let text = left(tokens);
        assert!(text.contains("K0105") && text.contains(reason), "{text}");
        assert!(!text.contains("macro_rules"), "{text}");
    }
    // Nobody reaches a private item of a module.
    assert!(
        !left(quote!(
            mod m {
                fn line() {}
            }
        ))
        .contains("K0105")
    );
}

#[test]
fn only_functions_and_modules_are_shared() {
    for tokens in [
        quote!(
            struct S;
        ),
        quote!(impl S {}),
        quote!(
            const C: i32 = 1;
        ),
    ] {
        let text = left(tokens.clone());
        assert!(text.contains("K0105"), "{text}");
        assert!(text.contains(&tokens.to_string()), "the item itself stays: {text}");
    }
    let arguments =
        device_item(&quote!(inline), &item(half()), &Surroundings::default(), "crate").to_string();
    assert!(arguments.contains("takes no arguments"), "{arguments}");
}

#[test]
fn what_was_refused_leaves_macros_with_nothing_in_them() {
    let text = left(quote!(
        mod parts {
            pub enum Kind {}
            pub fn half(x: i32) -> i32 {
                x / 2
            }
            fn private() {}
            pub fn sync() {}
        }
    ));
    let macros = |name: &str| text.matches(&format!("macro_rules ! __kiln_device_{name}_")).count();
    let names = ["Kind", "half", "private", "sync"];
    // `sync` is a name of the language: a macro of that name would be in its way.
    assert_eq!(names.map(macros), [1, 1, 0, 0], "{text}");
    assert!(text.contains("\"half\" [] }"), "nothing comes with it: {text}");
}

/// What stands between the braces of `path ! { @kiln .. }`, wherever that is.
fn chain_in(tokens: TokenStream) -> Option<TokenStream> {
    tokens.into_iter().find_map(|tree| {
        let TokenTree::Group(group) = tree else { return None };
        let mut start = group.stream().into_iter().map(|tree| tree.to_string());
        let is_chain =
            start.next().as_deref() == Some("@") && start.next().as_deref() == Some("kiln");
        if is_chain { Some(group.stream()) } else { chain_in(group.stream()) }
    })
}

/// The call that a kernel leaves, as the macros of its device items would hand it to the last link.
fn finished(kernel: TokenStream, bundles: &[TokenStream]) -> String {
    let function: syn::ItemFn = syn::parse2(kernel).expect("a function");
    let attr = quote!(target = sm_80, warps = 4, grid = 1);
    let options = crate::Options::default();
    let tokens = crate::compile_function(attr, &function, &Surroundings::default(), options).tokens;
    let call = chain_in(tokens).expect("a chain");
    let state = call.into_iter().last().expect("the state");
    kernel_finish(quote!(@kiln [] [#({ #bundles })*] #state), options).tokens.to_string()
}

#[test]
fn the_last_link_of_a_kernel_gives_the_table_of_its_images() {
    let kernel = quote!(
        fn k(x: TensorMut<f32, 1>, s: f32) {
            x.tile([0], [32]).store(full([32], library::half(s)));
        }
    );
    let table = finished(kernel, &[half_bundle()]);
    assert!(table.contains("kernel : \"k\""), "{table}");
    assert!(table.contains("mul.rn.f32"), "the function is inlined: {table}");
    assert!(!table.contains("compile_error"), "{table}");
}

#[test]
fn what_was_said_before_the_chain_is_not_said_at_its_end() {
    let kernel = quote!(
        fn k(x: TensorMut<f32, 1>, s: f32) {
            let wrong = zeros::<f32>([3]);
            x.tile([0], [32]).store(full([32], library::half(s)));
            x.tile([0], [32]).store(full([64], library::half(s)));
        }
    );
    let function: syn::ItemFn = syn::parse2(kernel.clone()).expect("a function");
    let attr = quote!(target = sm_80, warps = 4, grid = 1);
    let first = crate::compile_function(
        attr,
        &function,
        &Surroundings::default(),
        crate::Options::default(),
    );
    let first = first.tokens.to_string();
    assert!(first.contains("K0201"), "{first}");
    assert!(
        !first.contains("K0202"),
        "what comes after an unknown function may depend on it: {first}"
    );
    let last = finished(kernel, &[half_bundle()]);
    assert!(last.contains("K0202") && !last.contains("K0201"), "{last}");
}

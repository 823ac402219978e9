//! How large a `match` may be.

#[path = "support/rendered.rs"]
mod rendered;

use std::thread;

use rendered::rendered;

/// As much stack as rustc gives the thread that runs procedural macros.
const STACK_BYTES: usize = 8 << 20;

/// A `match` of this many arms, the last of which gives `last`.
fn arms(count: i32, last: &str) -> String {
    let arms: Vec<String> = (1..count).map(|at| format!("{at} => {},", at * at)).collect();
    format!("match n {{ {} _ => {last} }}", arms.concat())
}

/// The messages of a kernel that computes this.
fn messages(value: &str) -> Vec<String> {
    let source = format!(
        "fn k(y: TensorMut<i32, 1>, n: i32) {{ y.tile([0], [64]).store(full([64], {value})); }}"
    );
    let compile = move || {
        let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
        rendered(quote::quote!(target = sm_80, warps = 1), &function)
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(compile);
    thread.expect("a thread").join().expect("it compiles or is refused")
}

#[test]
fn a_match_has_128_arms_at_most() {
    assert_eq!(messages(&arms(128, "0")), [] as [String; 0]);
    let found = messages(&arms(129, "0"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("[K0109]") && found[0].contains("actual    arms 129"),
        "{found:?}"
    );
}

#[test]
fn large_matches_nest_as_deep_as_expressions() {
    assert_eq!(messages(&arms(80, &arms(80, "0"))), [] as [String; 0]);
    let deep = (0..2).fold("0".to_owned(), |inner, _| arms(128, &inner));
    let found = messages(&deep);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("nested this deeply"), "{found:?}");
}

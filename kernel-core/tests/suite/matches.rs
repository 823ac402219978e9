//! How large a `match` may be.

use std::thread;

use crate::rendered::rendered;

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

/// The messages of a kernel with these statements.
fn said_of(statements: &str) -> Vec<String> {
    let source = format!("fn k(y: TensorMut<i32, 1>, n: i32, m: i32) {{ {statements} }}");
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_80, warps = 1), &function)
}

#[test]
fn a_condition_that_changes_the_value_of_its_pattern_is_refused() {
    let changed = said_of(
        "let mut at = n;
         if let k @ 0.. = at && { at += 1; true } { y.tile([0], [64]).store(full([64], k)); }",
    );
    assert_eq!(changed.len(), 1, "{changed:?}");
    let required = ["[K0101]", "the rest of this condition changes", "let value = at;"];
    assert!(required.iter().all(|part| changed[0].contains(part)), "{changed:?}");
}

#[test]
fn a_condition_that_changes_another_variable_is_fine() {
    let of = |condition: &str| {
        said_of(&format!(
            "let (mut at, mut other) = (n, m);
             for i in 0..m {{
                 if let k @ 0.. = at && {condition} {{
                     y.tile([i * 64], [64]).store(full([64], k + other));
                     at += 1;
                 }}
             }}"
        ))
    };
    assert_eq!(of("{ other += 1; other > 3 }"), [] as [String; 0]);
    assert_eq!(of("let 3 = other"), [] as [String; 0]);
    assert_eq!(of("{ at = other; true }").len(), 1);
}

//! TMA stores that begin before their tensor: refused where they may run, and nowhere else.

use crate::rendered::rendered;

/// The messages of a kernel that stores in this way.
fn messages(stores: &str) -> Vec<String> {
    let source = format!(
        "fn k(n: i32, #[block(64, 64)] out: TensorMapMut<f16, 2>) {{
            let s = shared::<f16>([64, 64]);
            s.store(zeros([64, 64]));
            fence_async();
            sync();
            {stores}
            tma::store_wait(0);
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_90a, warps = 4), &function)
}

const BEFORE: &str = "tma::store(out, [-64, 0], s);";

#[test]
fn a_store_that_may_run_is_refused() {
    for place in [
        BEFORE.to_owned(),
        format!("for i in range(0, n, 1) {{ {BEFORE} }}"),
        format!("for i in range(n, 0, 1) {{ {BEFORE} }}"),
        format!("for i in range(0, 1, 1) {{ {BEFORE} }}"),
        format!("for i in range(3, 0, -1) {{ {BEFORE} }}"),
        format!("if n > 3 {{ {BEFORE} }}"),
        "if n < 0 { tma::store(out, [n, 0], s); }".to_owned(),
        "for i in range(-3, 0, 1) { tma::store(out, [i, 0], s); }".to_owned(),
    ] {
        let found = messages(&place);
        assert_eq!(found.len(), 1, "{place}: {found:?}");
        assert!(found[0].starts_with("[K0409] a TMA store begins before its tensor"), "{place}");
    }
}

#[test]
fn a_store_in_a_loop_that_never_runs_is_not() {
    for place in [
        format!("for i in range(0, 0, 1) {{ {BEFORE} }}"),
        format!("for i in range(3, 1, 1) {{ {BEFORE} }}"),
        format!("for i in range(0, 1, -1) {{ {BEFORE} }}"),
        format!("for i in range(0, 1, 1) {{ for j in range(i, 0, 1) {{ {BEFORE} }} }}"),
        "for i in range(-3, -3, 1) { tma::store(out, [i, 0], s); }".to_owned(),
        "if n >= 0 { tma::store(out, [n, 0], s); }".to_owned(),
        "for i in range(-3, 1, 1) { tma::store(out, [i, 0], s); }".to_owned(),
    ] {
        assert_eq!(messages(&place), [""; 0], "{place}");
    }
}

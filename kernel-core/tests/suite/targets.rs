//! What is said of a target that lacks something names what it lacks, the targets that have it, and one to take.

use crate::rendered::rendered;

/// What is said of a function whose attribute names a target.
fn said(target: &str, source: &str) -> String {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let target = syn::Ident::new(target, proc_macro2::Span::call_site());
    rendered(quote::quote!(target = #target, warps = 4), &function).join("\n")
}

/// ptxas 13.5 refuses `tcgen05.mma` of `kind::i8` for `sm_100f` and `sm_103a`, and takes it for `sm_100a`.
#[test]
fn integers_are_multiplied_in_tensor_memory_on_one_target() {
    let source = "fn k(a: Tensor<i8, 2>, c: TensorMut<i32, 2>) {
        let (left, right) = (shared::<i8>([128, 64]), shared::<i8>([32, 64]));
        let sums = tmem::<i32>([128, 32]);
        let done = barrier(1);
        left.store(a.tile([0, 0], [128, 64]).load());
        right.store(a.tile([0, 0], [32, 64]).load());
        tcgen05::mma(left, right.t(), sums).accumulate(false);
        tcgen05::commit(done);
        done.wait(0);
        c.tile([0, 0], [128, 32]).store(sums.load());
    }";
    for target in ["sm_100f", "sm_103a"] {
        let said = said(target, source);
        for part in [
            &format!("[K0502] `{target}` does not have products of integers in tensor memory"),
            "required  target sm_100a\n",
            &format!("actual    target {target}\n"),
            "help      sm_100a",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
    }
    assert_eq!(said("sm_100a", source), "");
}

/// The name of a target that there is none of, the one that serves instead, and a part of why.
#[test]
fn a_target_that_there_is_none_of_has_one_that_serves() {
    for (name, near, why) in [
        ("sm_75", "sm_80", "the oldest target is `sm_80`"),
        ("sm_86", "sm_80", "code for `sm_80` also runs on all later devices"),
        ("sm_89a", "sm_89", "Ada is `sm_89`, with no letter"),
        ("sm_90", "sm_90a", "Hopper is `sm_90a`"),
        ("sm_100", "sm_100a", "data-centre Blackwell is `sm_100a`"),
        ("sm_103", "sm_103a", "Blackwell Ultra is `sm_103a`"),
        ("sm_110a", "sm_89", "code for `sm_89` also runs on all later devices"),
        ("sm_120", "sm_120a", "workstation Blackwell is `sm_120a`"),
    ] {
        let said = said(name, "fn k(x: TensorMut<f32, 1>) {}");
        assert!(said.contains(&format!("help      {near}")), "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
    }
}

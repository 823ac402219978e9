//! Which instructions change a tile of a tensor atomically by another one.

use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

/// The instructions that add to global memory, of the variant that assumes most, without their operands.
fn changes(target: &str, dtype: &str, result: &str) -> Vec<String> {
    changes_by(("atomic_add", "[16, 64]"), target, dtype, result)
}

/// Those of an atomic operation on a tile of this shape.
fn changes_by((op, shape): (&str, &str), target: &str, dtype: &str, result: &str) -> Vec<String> {
    let source = format!(
        "fn k(x: Tensor<{dtype}, 2>, sums: TensorMut<{dtype}, 2>) {{
            let old = sums.tile([0, 0], {shape}).{op}(x.tile([0, 0], {shape}).load());
            {result}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attr: proc_macro2::TokenStream =
        format!("target = {target}, warps = 4").parse().expect("tokens");
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    assert!(problems.is_empty(), "{source}: {problems:?}");
    let ptx = &compiled[0][0].images[0].variants[0].ptx;
    let words = ptx.split_whitespace();
    let mut changes: Vec<String> = words
        .filter(|word| word.starts_with("red.") || word.starts_with("atom."))
        .map(str::to_owned)
        .collect();
    changes.dedup();
    changes
}

/// Each thread holds eight neighbours (PTX ISA, "red": `.v2` and `.v4` of `f32`, `.v2` to `.v8` of halves, from `sm_90` on).
#[test]
fn neighbours_are_added_at_once_if_nothing_reads_the_old_values() {
    let cases = [
        ("sm_80", "f32", "atom.global.add.f32"),
        ("sm_80", "f16", "red.global.add.noftz.f16x2"),
        ("sm_80", "bf16", "atom.global.cas.b16"),
        ("sm_80", "f64", "atom.global.add.f64"),
        ("sm_90a", "f32", "red.global.add.v4.f32"),
        ("sm_90a", "f16", "red.global.add.noftz.v4.f16x2"),
        ("sm_90a", "bf16", "red.global.add.noftz.v4.bf16x2"),
        ("sm_90a", "f64", "atom.global.add.f64"),
        ("sm_90a", "i32", "atom.global.add.s32"),
    ];
    for (target, dtype, required) in cases {
        assert_eq!(changes(target, dtype, ""), [required], "{dtype} on {target}");
    }
}

#[test]
fn old_values_that_are_read_are_those_of_each_element() {
    let read = "sums.tile([16, 0], [16, 64]).store(old);";
    assert_eq!(changes("sm_90a", "f32", read), ["atom.global.add.f32"]);
    assert_eq!(changes("sm_80", "f16", read), ["atom.global.add.noftz.f16"]);
}

/// From `sm_90` on; of two neighbours there is a vector of halves, and no pair (PTX ISA, "red").
#[test]
fn extremes_of_neighbouring_halves_are_found_at_once() {
    let of = |op, shape, target, dtype| changes_by((op, shape), target, dtype, "");
    let cases = [
        ("sm_90a", "f16", "[16, 64]", "red.global.max.noftz.v4.f16x2"),
        ("sm_90a", "bf16", "[16, 64]", "red.global.max.noftz.v4.bf16x2"),
        ("sm_90a", "bf16", "[256, 4]", "red.global.max.noftz.v2.bf16x2"),
        ("sm_90a", "f16", "[512, 2]", "red.global.max.noftz.v2.f16"),
        ("sm_90a", "f32", "[16, 64]", "atom.global.cas.b32"),
        ("sm_90a", "i32", "[16, 64]", "atom.global.max.s32"),
        ("sm_80", "f16", "[16, 64]", "atom.global.cas.b16"),
    ];
    for (target, dtype, shape, required) in cases {
        assert_eq!(of("atomic_max", shape, target, dtype), [required], "{dtype} on {target}");
        let least = required.replace("max", "min");
        assert_eq!(of("atomic_min", shape, target, dtype), [least], "{dtype} on {target}");
    }
    let read = "sums.tile([16, 0], [16, 64]).store(old);";
    let old = changes_by(("atomic_max", "[16, 64]"), "sm_90a", "f16", read);
    assert_eq!(old, ["atom.global.cas.b16"]);
}

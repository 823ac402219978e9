//! The code of shared memory by index: which indices are checked, and what the instructions are.

use crate::fragment::Fragment;

/// The PTX of a kernel of one warp that ends with these statements.
fn ptx(body: &str) -> String {
    let source = format!(
        "fn k(n: i32, x: Tensor<i32, 1>, y: Tensor<u8, 1>, out: TensorMut<f32, 1>) {{
            let table = shared::<f32>([64]);
            let words = shared::<i32>([64]);
            let square = shared::<f32>([8, 8]).with_layout(swizzled(1, 1, 8, [1, 0]));
            let i = x.tile([0], [32]).load();
            let bytes = y.tile([0], [32]).load();
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let attr = quote::quote!(target = sm_80, warps = 1);
    Fragment::of(attr, &function).stage("general.ptx").to_owned()
}

/// The instructions that access shared memory, without their operands.
fn accesses(body: &str) -> Vec<String> {
    let text = ptx(body);
    let shared = text
        .lines()
        .map(str::trim)
        .filter(|line| line.contains(".shared.") && !line.starts_with(".extern"));
    let mnemonic = |line: &str| {
        let guard = if line.starts_with('@') { "@" } else { "" };
        let words = line.split_whitespace().find(|word| !word.starts_with('@'));
        format!("{guard}{}", words.unwrap_or_default())
    };
    shared.map(mnemonic).collect()
}

/// Whether the read of a table of 64 elements at these indices is checked.
fn is_checked(indices: &str) -> bool {
    let found = accesses(&format!("out.tile([0], [32]).store(table.gather({indices}));"));
    let checked = found.iter().filter(|one| *one == "@ld.shared.f32").count();
    let unchecked = found.iter().filter(|one| *one == "ld.shared.f32").count();
    let alike = checked + unchecked == found.len() && (checked == 0) != (unchecked == 0);
    assert!(alike, "{indices}: {found:?}");
    checked > 0
}

#[test]
fn indices_that_the_text_proves_in_range_are_not_checked() {
    for indices in [
        "i & 63",
        "i & 62",
        "(i & 127) >> 1",
        "arange(0, 32)",
        "arange(32, 64)",
        "63 - arange(0, 32)",
        "arange(0, 32) + (n & 1) * 32",
        "full([32], n & 63)",
        "minimum(maximum(i, 0), 63)",
        "i.clamp(0, 63)",
        "maximum(i, 0) % 64",
        "select(i.lt(0) | i.gt(63), 0, i)",
        "bytes.cast::<i32>() >> 2",
        "(i & 63).reshape([32, 1]).t().reshape([32])",
        "join(arange(0, 16), i.reshape([16, 2]).max(1) & 3).reshape([32])",
    ] {
        assert!(!is_checked(indices), "{indices}");
    }
}

#[test]
fn indices_that_may_be_out_of_range_are_checked() {
    for indices in [
        "i",
        "i % 64",
        "i & 127",
        "(i & 63) - 1",
        "arange(-1, 31)",
        "arange(33, 65)",
        "arange(0, 32) + n",
        "full([32], n)",
        "minimum(i, 63)",
        "maximum(i, 0)",
        "select(i.lt(64), i, 0)",
        "select(i.ge(0), i & 127, 0)",
        "bytes.cast::<i32>()",
        "join(arange(0, 16), i.reshape([16, 2]).max(1)).reshape([32])",
    ] {
        assert!(is_checked(indices), "{indices}");
    }
}

#[test]
fn an_index_that_the_text_proves_out_of_range_reads_nothing() {
    for indices in ["full([32], -1)", "full([32], 64)"] {
        let found = accesses(&format!("out.tile([0], [32]).store(table.gather({indices}));"));
        assert!(found.is_empty(), "{indices}: {found:?}");
    }
}

#[test]
fn each_axis_is_checked_by_itself() {
    let of = |rows: &str, columns: &str| {
        let text = ptx(&format!("out.tile([0], [32]).store(square.gather([{rows}, {columns}]));"));
        text.matches(", 8;").count()
    };
    assert_eq!(of("i", "i"), 1, "one comparison serves both");
    assert_eq!(of("i", "i + 1"), 2);
    assert_eq!(of("i", "i & 7"), 1);
    assert_eq!(of("i & 7", "i >> 29 & 7"), 0);
}

#[test]
fn old_values_that_nothing_uses_are_not_returned() {
    let of = |body: &str| accesses(body);
    assert_eq!(of("words.atomic_add(i, i);"), ["@red.shared.add.s32"]);
    assert_eq!(of("words.atomic_max(i & 63, i);"), ["red.shared.max.s32"]);
    assert_eq!(of("table.atomic_add(i, full([32], 1.0));"), ["@red.shared.add.f32"]);
    // There is no reduction that does what these do (PTX ISA, "red").
    assert_eq!(of("words.atomic_exchange(i, i);"), ["@atom.shared.exch.b32"]);
    assert_eq!(of("words.atomic_compare_exchange(i, i, i);"), ["@atom.shared.cas.b32"]);
    let used = "out.tile([0], [32]).store(words.atomic_add(i, i).cast::<f32>());";
    assert_eq!(of(used), ["@atom.shared.add.s32"]);
}

#[test]
fn threads_may_write_one_element() {
    let of = |body: &str| accesses(body);
    assert_eq!(of("table.scatter(i, full([32], 1.0));"), ["@st.relaxed.cta.shared.f32"]);
}

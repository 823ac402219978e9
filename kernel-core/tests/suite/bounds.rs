//! Which indices of shared memory are proven to be in range, and which ones a kernel checks: a check is a `trap`.

use crate::fragment::Fragment;

/// How many traps a kernel has that begins with these statements; `ring` has four tiles.
fn traps(body: &str) -> usize {
    stage(body, "general.ptx").matches("trap;").count()
}

/// What a stage of the compiler leaves of that kernel.
fn stage(body: &str, ending: &str) -> String {
    let source = format!(
        "fn k(n: i32, m: u32, x: Tensor<i32, 1>, out: TensorMut<i32, 2>) {{
            let ring = shared::<i32>([4, 16, 16]);
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let attr = quote::quote!(target = sm_90a, warps = 1, cluster = 4);
    Fragment::of(attr, &function).stage(ending).to_owned()
}

const STORE: &str = "ring[at].store(zeros([16, 16]));";

/// How many traps guard an index that is computed so.
fn of(at: &str) -> usize {
    traps(&format!("let at = {at}; {STORE}"))
}

#[test]
fn arithmetic_that_stays_in_range_is_not_checked() {
    for at in [
        "block_id(0) % 4",
        "n & 3",
        "n & 2",
        "(m % 4) as i32",
        "(m >> 3u32) as i32 & 3",
        "n.max(0) % 4",
        "n.max(0).min(3)",
        "cluster::rank()",
        "cluster::rank() ^ 1",
        "cluster::rank() & !1",
        "3 - cluster::rank()",
        "(block_id(0) % 8) / 2",
        "if n > 1 { 3 } else { 0 }",
        "if n >= 0 && n < 4 { n } else { 0 }",
        "if n < 0 || 3 < n { 1 } else { n }",
    ] {
        assert_eq!(of(at), 0, "{at}");
    }
}

#[test]
fn arithmetic_that_may_leave_the_range_is_checked() {
    for at in [
        "n",
        "n % 4",
        "n & 7",
        "block_id(0)",
        "block_id(0) % 5",
        "(block_id(0) + 1) % 4",
        "block_id(0) * 4 % 4",
        "cluster::rank() + 1",
        "if n < 4 { n } else { 0 }",
        "if n >= 0 || n < 4 { n } else { 0 }",
        "if n != 4 { n & 7 } else { 0 }",
        "x.tile([0], [32]).load().sum(0).item() % 4",
    ] {
        assert_eq!(of(at), 1, "{at}");
    }
}

#[test]
fn loops_are_followed() {
    let advance = |first: &str, len: &str| {
        format!(
            "let mut at = {first};
             for _ in 0..n {{ {STORE} at += 1; if at == {len} {{ at = 0; }} }}"
        )
    };
    assert_eq!(traps(&advance("0", "4")), 0);
    assert_eq!(traps(&advance("3", "4")), 0);
    assert_eq!(traps(&advance("0", "5")), 1);
    assert_eq!(traps(&advance("4", "4")), 1);
    assert_eq!(traps(&advance("n", "4")), 1);
    assert_eq!(traps(&format!("for at in 0..4 {{ {STORE} }}")), 0);
    assert_eq!(traps(&format!("for at in 0..5 {{ {STORE} }}")), 1);
    assert_eq!(traps(&format!("for at in range(3, -1, -1) {{ {STORE} }}")), 0);
    assert_eq!(traps(&format!("for i in 0..n {{ let at = i % 4; {STORE} }}")), 0);
    // A counter that takes one step in each of less than 2^31 iterations does not wrap; in an endless loop it may.
    let counted = "let mut turn = 0;";
    let step = format!("let at = turn % 4; {STORE} turn += 1;");
    assert_eq!(traps(&format!("{counted} for _ in 0..n {{ {step} }}")), 0);
    assert_eq!(traps(&format!("{counted} for _ in 0..n {{ {step} turn += n; }}")), 1);
    assert_eq!(traps(&format!("{counted} for _ in 0..n {{ {step} turn += 1; }}")), 1);
    assert_eq!(traps(&format!("{counted} while turn < n {{ {step} }}")), 0);
    assert_eq!(traps(&format!("{counted} while turn != n {{ {step} }}")), 1);
    // What the loop leaves counts, too.
    let after = format!("for _ in 0..n {{ turn += 1; }} let at = turn % 4; {STORE}");
    assert_eq!(traps(&format!("{counted} {after}")), 0);
    assert_eq!(traps(&format!("let mut turn = 1; {after}")), 1);
}

#[test]
fn an_index_is_checked_once_on_a_path() {
    assert_eq!(traps(&format!("let at = n; {STORE} {STORE} if n > 7 {{ {STORE} }}")), 1);
    assert_eq!(traps(&format!("let at = n; if n > 7 {{ {STORE} }} {STORE}")), 2);
}

#[test]
fn other_blocks_and_barriers_are_indexed_alike() {
    assert_eq!(traps("let full = barriers(2, 1); full[n & 1].arrive();"), 0);
    assert_eq!(traps("let full = barriers(2, 1); full[n].arrive();"), 1);
    let remote = |rank: &str| {
        traps(&format!(
            "let tile = ring[0]; cluster::sync(); tile.of_block({rank}).store(zeros([16, 16])); cluster::sync();"
        ))
    };
    assert_eq!(remote("n & 3"), 0);
    assert_eq!(remote("n"), 1);
    let told = |rank: &str| {
        traps(&format!("let full = barrier(1); full.of_block({rank}).arrive(); cluster::sync();"))
    };
    assert_eq!(told("cluster::rank() ^ 1"), 0);
    assert_eq!(told("n"), 1);
}

#[test]
fn a_check_says_what_is_out_of_range() {
    let tile = "let tile = ring[0]; cluster::sync();";
    for (body, says) in [
        (format!("let at = n; {STORE}"), "index {} is out of range: `ring` has 4 buffers"),
        (
            "let pair = (barriers(2, 1), 1); let (full, _) = pair; full[n].arrive();".to_owned(),
            "index {} is out of range: `full` has 2 barriers",
        ),
        (
            format!("{tile} tile.of_block(n).store(zeros([16, 16])); cluster::sync();"),
            "rank {} is out of range: the cluster has 4 blocks",
        ),
        (
            "ring[0].tile([0, n * 8], [16, 8]).store(zeros([16, 8]));".to_owned(),
            "position {} is out of range: `ring` has extent 16 on axis 1",
        ),
        ("device_assert(n < 7);".to_owned(), "`device_assert(n < 7)` failed"),
    ] {
        let schedule = stage(&body, "general.schedule");
        assert!(schedule.contains(&format!("{says:?}")), "{says}:\n{schedule}");
    }
}

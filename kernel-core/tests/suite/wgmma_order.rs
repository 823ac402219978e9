//! What `wgmma` has in flight: kernels that overwrite its operands or end before it is done, beside their twins that wait.

use crate::rendered::rendered;

/// What every body finds.
const MADE: &str = "
    let full = barrier(1);
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let ring = shared::<f16>([2, 64, 64]);
    let (zero, tile) = (zeros::<f16>([64, 64]), h.tile([0, 0], [64, 64]));
    let mut acc = zeros::<f32>([64, 64]);
";
const STORED: &str = "c.tile([0, 0], [64, 64]).store(acc);";

/// The messages of a kernel with this body.
fn messages(body: &str) -> Vec<String> {
    let source = format!(
        "fn k(h: Tensor<f16, 2>, #[block(64, 64)] m: TensorMap<f16, 2>, c: TensorMut<f32, 2>, more: bool, n: i32) {{ {MADE} {body} }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_90a, warps = 4), &function)
}

/// The wrong kernel has one message, which begins and ends so; the right one has none.
#[track_caller]
fn twins([headline, required, help]: [&str; 3], wrong: &str, right: &str) {
    let found = messages(wrong);
    assert_eq!(found.len(), 1, "{wrong}\n{}", found.join("\n"));
    assert!(found[0].starts_with(&format!("[K0410] {headline}")), "{}", found[0]);
    assert!(found[0].contains(required), "{}", found[0]);
    let (_, said) = found[0].split_once("help      ").expect("there is a help");
    // Where it goes is another test's subject.
    let said = said.lines().map(|line| line.split(" // ").next().unwrap_or("").trim());
    let said = said.collect::<Vec<_>>().join(" ");
    assert_eq!(said, help, "{wrong}");
    let found = messages(right);
    assert!(found.is_empty(), "{right}\n{}", found.join("\n"));
}

const OVERWRITTEN: &str = "shared memory is written while `wgmma` may still read it";
const NONE: &str = "a wait for the product\n";
const WAIT: &str = "acc = wgmma::wait(0, acc);";

#[test]
fn a_write_of_an_operand_waits_for_the_product_that_reads_it() {
    let writes = [
        "a.store(zero);",
        "b.store(zero);",
        "copy_async(tile, a); copy_async_commit(); copy_async_wait_all();",
        "full.expect(m.block_bytes()); tma::load(m, [0, 0], full, a); full.wait(0);",
    ];
    for write in writes {
        let product = "acc = wgmma::mma(a, b, acc);";
        twins(
            [OVERWRITTEN, NONE, WAIT],
            &format!("{product} {write} {WAIT} {STORED}"),
            &format!("{product} {WAIT} {write} {STORED}"),
        );
        // A left operand in registers cannot be overwritten; what is not read may be written.
        let right = "acc = wgmma::mma(tile.load(), ring[0], acc);";
        assert!(messages(&format!("{right} {write} {WAIT} {STORED}")).is_empty(), "{write}");
    }
}

#[test]
fn a_wait_that_leaves_products_covers_those_before_them() {
    let products = "acc = wgmma::mma(ring[0], b, acc); acc = wgmma::mma(ring[1], b, acc);";
    // One is left: the first has been read.
    let one = "acc = wgmma::wait(1, acc);";
    twins(
        [OVERWRITTEN, NONE, WAIT],
        &format!("{products} {one} ring[1].store(zero); {WAIT} {STORED}"),
        &format!("{products} {one} ring[0].store(zero); {WAIT} {STORED}"),
    );
    twins(
        [OVERWRITTEN, "which may leave 1 later one in flight", "acc = wgmma::wait(1, acc);"],
        &format!("{products} ring[0].store(zero); {WAIT} {STORED}"),
        &format!("{products} {one} ring[0].store(zero); {WAIT} {STORED}"),
    );
}

#[test]
fn an_iteration_finds_in_flight_what_the_one_before_has_started() {
    let product = "acc = wgmma::mma(a, b, acc);";
    twins(
        [OVERWRITTEN, NONE, WAIT],
        &format!("for _ in 0..n {{ a.store(zero); {product} }} {WAIT} {STORED}"),
        &format!("for _ in 0..n {{ a.store(zero); {product} {WAIT} }} {STORED}"),
    );
    // Which of a ring it is, is known when the kernel runs.
    let ring = "for k in 0..n { ring[k % 2].store(zero); acc = wgmma::mma(ring[k % 2], b, acc); acc = wgmma::wait(1, acc); }";
    assert_eq!(messages(&format!("{ring} {WAIT} {STORED}")), Vec::<String>::new());
    // On the way that leaves the loop early there was no wait; one after the product is for the sums that it takes along as well.
    let left = format!(
        "for _ in 0..n {{ {product} if more {{ break; }} {WAIT} }} a.store(zero); {WAIT} {STORED}"
    );
    let headlines: Vec<String> =
        messages(&left).iter().filter_map(|text| Some(text.lines().next()?.to_owned())).collect();
    assert_eq!(headlines, [format!("[K0410] {OVERWRITTEN}")]);
    let mended = left.replacen("wgmma::mma(a, b, acc)", "wgmma::wait(0, wgmma::mma(a, b, acc))", 1);
    assert_eq!(messages(&mended), Vec::<String>::new());
}

#[test]
fn a_wait_on_a_condition_may_be_for_the_iteration_before() {
    let product = "acc = wgmma::mma(a, b, acc);";
    let in_loop =
        |wait: &str| format!("for k in 0..n {{ {wait} a.store(zero); {product} }} {WAIT} {STORED}");
    let right = messages(&in_loop("if k > 0 { let _ = wgmma::wait(0, acc); }"));
    assert!(right.is_empty(), "{}", right.join("\n"));
    // One that leaves a product is not for it.
    let wrong = messages(&in_loop("if k > 0 { let _ = wgmma::wait(1, acc); }"));
    assert_eq!(wrong.len(), 1, "{}", wrong.join("\n"));
    // What has started on every way, a wait on one of them does not cover.
    twins(
        [OVERWRITTEN, NONE, WAIT],
        &format!(
            "{product} if more {{ let _ = wgmma::wait(0, acc); }} a.store(zero); {WAIT} {STORED}"
        ),
        &format!("{product} let _ = wgmma::wait(0, acc); a.store(zero); {WAIT} {STORED}"),
    );
}

/// The first message of each problem.
fn headlines(body: &str) -> Vec<String> {
    messages(body).iter().filter_map(|text| Some(text.lines().next()?.to_owned())).collect()
}

#[test]
fn a_pipelined_loop_copies_to_what_the_product_of_the_iteration_before_has_read() {
    for copy in ["copy_async(h.tile([0, k], [64, 64]), s);", "copy_async(m.at([0, k]), s);"] {
        let in_loop = |body: &str| {
            format!(
                "let s = shared::<f16>([64, 64]); for k in pipeline(range(0, n, 64), 3) {{ {copy} {body} }} {WAIT} {STORED}"
            )
        };
        let product = "acc = wgmma::mma(s, b, acc);";
        let in_flight = "[K0405] a product is in flight at the end of a pipelined iteration";
        assert_eq!(headlines(&in_loop(&format!("{product} {WAIT}"))), Vec::<String>::new());
        assert_eq!(headlines(&in_loop(product)), [in_flight]);
        // A product of an allocation that the loop does not fill may be in flight.
        let before = format!("acc = wgmma::mma(a, b, acc); {WAIT}");
        assert_eq!(
            headlines(&format!("{before} {}", in_loop(&format!("{product} {WAIT}")))),
            Vec::<String>::new()
        );
    }
}

#[test]
fn partitions_are_followed_each_by_itself() {
    let split = |default: &str, partition: &str| {
        format!("warp_specialize(|| {{ {default} }}, [partition(4).run(|| {{ {partition} }})]);")
    };
    let product = "let acc = wgmma::mma(a, b, zeros::<f32>([64, 64]));";
    let wait = "let acc = wgmma::wait(0, acc); c.tile([0, 0], [64, 64]).store(acc);";
    // What another partition overwrites, the emulator looks at.
    let write = "full.expect(a.bytes()); tma::load(m, [0, 0], full, a); full.wait(0);";
    assert_eq!(headlines(&split(&format!("{product} {wait}"), write)), Vec::<String>::new());
    // Each has its own products in flight.
    for wrong in [
        split(&format!("{product} {write} {wait}"), ""),
        split("", &format!("{product} {write} {wait}")),
    ] {
        assert_eq!(headlines(&wrong), [format!("[K0410] {OVERWRITTEN}")], "{wrong}");
    }
    // Those that started before all of them are the default part's.
    let before = "acc = wgmma::mma(a, b, acc);";
    let split = |default: &str, partition: &str| {
        format!("{before} {} {WAIT} {STORED}", split(default, partition))
    };
    assert_eq!(
        headlines(&split("", "other.wait(0);").replace("other", "full")),
        Vec::<String>::new()
    );
    assert_eq!(headlines(&split(write, "")), [format!("[K0410] {OVERWRITTEN}")]);
}

#[test]
fn a_kernel_that_returns_early_has_waited() {
    let product = "acc = wgmma::mma(a, b, acc);";
    twins(
        ["the kernel can end without a wait for this product", NONE, WAIT],
        &format!("{product} if more {{ return; }} {WAIT} {STORED}"),
        &format!("{product} {WAIT} if more {{ return; }} {STORED}"),
    );
}

//! The order of what the tensor cores do: kernels that do not wait, beside their twins that do.

use crate::rendered::rendered;

/// What every body finds.
const MADE: &str = "
    let (done, other, full) = (barrier(1), barrier(1), barrier(1));
    let rings = barriers(2, 1);
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (wide, bytes, right) = (shared::<f16>([64, 128]), shared::<e4m3>([128, 64]), shared::<e4m3>([64, 64]));
    let (acc, sums) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 128]));
    let accs = tmem::<f32>([2, 128, 64]);
    let held = tmem::<f16>([128, 64]);
";
const STORED: &str = "c.tile([0, 0], [128, 64]).store(acc.load());";

/// The messages of a kernel with this body.
fn messages(body: &str) -> Vec<String> {
    let source = format!(
        "fn k(h: Tensor<f16, 2>, #[block(128, 64)] m: TensorMap<f16, 2>, c: TensorMut<f32, 2>, more: bool, n: i32) {{ {MADE} {body} }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_100a, warps = 4), &function)
}

/// The wrong kernel has one message, which begins and ends so; the right one has none.
#[track_caller]
fn twins(headline: &str, help: &str, wrong: &str, right: &str) {
    let found = messages(wrong);
    assert_eq!(found.len(), 1, "{wrong}\n{}", found.join("\n"));
    assert!(found[0].starts_with(&format!("[K0410] {headline}")), "{}", found[0]);
    let (_, said) = found[0].split_once("help      ").expect("there is a help");
    // Where it goes is another test's subject.
    let said = said.lines().map(|line| line.split(" // ").next().unwrap_or("").trim());
    let said = said.collect::<Vec<_>>().join(" ");
    assert_eq!(said, help, "{wrong}");
    let found = messages(right);
    assert!(found.is_empty(), "{right}\n{}", found.join("\n"));
}

const READ: &str = "tensor memory is read while tcgen05 operations on it may be in flight";

#[test]
fn a_wait_is_for_the_barrier_that_was_committed_to() {
    let product = "tcgen05::mma(a, b, acc).accumulate(false);";
    let with = |end: &str| format!("{product} {end}");
    twins(
        READ,
        "done.wait(0);",
        &with(&format!("tcgen05::commit(done); other.wait(0); {STORED} done.wait(0);")),
        &with(&format!("tcgen05::commit(done); other.wait(0); done.wait(0); {STORED}")),
    );
    // One of a ring by its number, where that is known.
    twins(
        READ,
        "rings[1].wait(0);",
        &with(&format!("tcgen05::commit(rings[1]); rings[0].wait(0); {STORED} rings[1].wait(0);")),
        &with(&format!("tcgen05::commit(rings[1]); rings[1].wait(0); {STORED}")),
    );
    let unknown =
        format!("tcgen05::commit(rings[n]); rings[n].wait(0); {STORED} rings[1].wait(0);");
    assert!(messages(&with(&unknown)).is_empty());
    // A commit before the product says nothing of it; a barrier that is waited on has phases of its own.
    twins(
        READ,
        "tcgen05::commit(other); other.wait(0);",
        &format!(
            "tcgen05::commit(done); {product} done.wait(0); {STORED} tcgen05::commit(done); done.wait(1);"
        ),
        &with(&format!("tcgen05::commit(done); done.wait(0); {STORED}")),
    );
    twins(
        "the kernel can end while tcgen05 operations are in flight",
        "done.wait(0);",
        &with("tcgen05::commit(done); other.wait(0);"),
        &with("tcgen05::commit(done); done.wait(0);"),
    );
    // The last product of a loop that waits for the one before.
    let looped =
        "for step in 0..4 { done.wait(step & 1); tcgen05::mma(a, b, acc); tcgen05::commit(done); }";
    twins(
        "the kernel can end while tcgen05 operations are in flight",
        "done.wait(0);",
        looped,
        &format!("{looped} done.wait(0);"),
    );
}

#[test]
fn parts_and_tiles_are_told_apart() {
    let two = |first: &str, second: &str| {
        format!(
            "tcgen05::mma(a, b, {first}).accumulate(false); tcgen05::commit(done);
            tcgen05::mma(a, b, {second}).accumulate(false); tcgen05::commit(other);
            done.wait(0); c.tile([0, 0], [128, 64]).store({first}.load());"
        )
    };
    for [first, second] in [
        ["sums.tile([0, 0], [128, 64])", "sums.tile([0, 64], [128, 64])"],
        ["accs[0]", "accs[1]"],
        ["accs[1]", "acc"],
    ] {
        let early = two(first, second);
        let late = format!("c.tile([0, 0], [128, 64]).store({second}.load());");
        twins(
            READ,
            "other.wait(0);",
            &format!("{early} {late} other.wait(0);"),
            &format!("{early} other.wait(0); {late}"),
        );
    }
    // Which tile it is, the kernel knows when it runs: any wait for the ring will do.
    let ring = "for step in 0..n {
            let (this, before) = (step & 1, 1 - (step & 1));
            tcgen05::mma(a, b, accs[this]).accumulate(false);
            tcgen05::commit(rings[this]);
            if step > 0 { rings[before].wait(0); c.tile([0, 0], [128, 64]).store(accs[before].load()); }
        }
        rings[0].wait(0); rings[1].wait(0);";
    assert!(messages(ring).is_empty(), "{}", messages(ring).join("\n"));
}

#[test]
fn products_of_other_kinds_and_shapes_wait_for_one_another() {
    let between = "tcgen05::commit(done); done.wait(0);";
    let end = "tcgen05::commit(other); other.wait(0);";
    let headline =
        "a product of another kind or shape uses the accumulator of one that may be in flight";
    let help = "tcgen05::commit(done); done.wait(0);";
    for [first, second] in [
        ["tcgen05::mma(a, b, acc);", "tcgen05::mma(bytes, right, acc);"],
        ["tcgen05::mma(a, wide, sums);", "tcgen05::mma(a, b, sums.tile([0, 64], [128, 64]));"],
        ["tcgen05::mma(a, b, sums.tile([0, 0], [128, 64]));", "tcgen05::mma(a, wide, sums);"],
    ] {
        twins(
            headline,
            help,
            &format!("{first} {second} {end}"),
            &format!("{first} {between} {second} {end}"),
        );
        // Of a branch, and of the iteration before.
        twins(
            headline,
            help,
            &format!("if more {{ {first} }} {second} {end}"),
            &format!("if more {{ {first} }} else {{ {second} }} {end}"),
        );
        let looped = |between: &str| {
            format!(
                "for step in 0..n {{ if step > 0 {{ {second} {between} }} {first} tcgen05::commit(full); full.wait(step & 1); }} {end}"
            )
        };
        let found = messages(&looped(""));
        assert_eq!(found.len(), 1, "{}", found.join("\n"));
        assert!(found[0].starts_with(&format!("[K0410] {headline}")), "{}", found[0]);
        assert!(messages(&looped("tcgen05::commit(done); done.wait(0);")).is_empty());
    }
    // One kind and shape, and sums elsewhere.
    for right in [
        "tcgen05::mma(a, b, acc); tcgen05::mma(a, b, acc);",
        "tcgen05::mma(a, b, acc); tcgen05::mma(bytes, right, accs[0]);",
        "tcgen05::mma(a, b, acc).when(more); tcgen05::mma(bytes, right, acc).when(!more);",
        "tcgen05::copy(shared::<f32>([128, 64]), acc); tcgen05::mma(a, b, acc); tcgen05::copy(shared::<f32>([128, 64]), acc);",
    ] {
        let body = format!("{right} {end}");
        assert!(messages(&body).is_empty(), "{}", messages(&body).join("\n"));
    }
}

#[test]
fn factors_and_sums_wait_for_one_another() {
    let between = "tcgen05::commit(done); done.wait(0);";
    let end = "tcgen05::commit(other); other.wait(0);";
    // Sums of halves, in columns that the next product reads packed.
    let first = "tcgen05::mma(held, b, acc);";
    let over = "let below = held.view::<f32>([128, 32]); let narrow = shared::<f16>([64, 32]);";
    let second = "tcgen05::mma(a, narrow, below);";
    twins(
        "a product overwrites the left operand of one that may be in flight",
        "tcgen05::commit(done); done.wait(0);",
        &format!("{over} {first} {second} {end}"),
        &format!("{over} {first} {between} {second} {end}"),
    );
    twins(
        "a product reads the accumulator of one that may be in flight",
        "tcgen05::commit(done); done.wait(0);",
        &format!("{over} {second} {first} {end}"),
        &format!("{over} {second} {between} {first} {end}"),
    );
}

#[test]
fn shared_memory_is_read_before_it_is_written_again() {
    let product = "tcgen05::mma(a, b, acc); tcgen05::commit(done);";
    let headline = "shared memory is written while the tensor cores may still read it";
    for write in [
        "a.store(h.tile([0, 0], [128, 64]).load());",
        "copy_async(h.tile([0, 0], [128, 64]), a); copy_async_wait_all();",
        "full.expect_copies(); tma::load(m, [0, 0], full, a); full.wait(0);",
    ] {
        twins(
            headline,
            "done.wait(0);",
            &format!("{product} {write} done.wait(0);"),
            &format!("{product} done.wait(0); {write}"),
        );
        let looped = |wait: &str| {
            format!("for step in 0..n {{ {write} sync(); {product} {wait} }} done.wait(0);")
        };
        twins(headline, "done.wait(step % 2);", &looped(""), &looped("done.wait(step & 1);"));
    }
    // Something else may be written.
    let other = format!("{product} wide.store(zeros([64, 128])); done.wait(0);");
    assert!(messages(&other).is_empty(), "{}", messages(&other).join("\n"));
}

#[test]
fn partitions_wait_for_what_others_start() {
    let kernel = |before: &str, reader: &str, starter: &str| {
        format!(
            "{before} warp_specialize(|| {{ {reader} }}, [partition(1).run(|| {{ {starter} }})]);"
        )
    };
    let product = "tcgen05::mma(a, b, acc).accumulate(false); tcgen05::commit(done);";
    twins(
        READ,
        "done.wait(0);",
        &kernel("", &format!("{STORED} done.wait(0);"), product),
        &kernel("", &format!("done.wait(0); {STORED}"), product),
    );
    // Another barrier says nothing of it.
    twins(
        READ,
        "done.wait(0);",
        &kernel("", &format!("other.wait(0); {STORED} done.wait(0);"), product),
        &kernel(
            "",
            &format!("other.wait(0); {STORED}"),
            &format!("{product} done.wait(0); other.arrive();"),
        ),
    );
    // What the reader wrote itself, before it tells the other.
    let before = "acc.store(zeros([128, 64])); let first = acc.load(); full.arrive(); done.wait(0); c.tile([0, 0], [128, 64]).store(first);";
    let body = kernel("", before, &format!("full.wait(0); {product}"));
    assert!(messages(&body).is_empty(), "{}", messages(&body).join("\n"));
    // Behind the partitions, everybody has come.
    let behind = format!("{} {STORED}", kernel("", "sync();", &format!("{product} done.wait(0);")));
    assert!(messages(&behind).is_empty(), "{}", messages(&behind).join("\n"));
    twins(
        READ,
        "done.wait(0);",
        &format!("{} {STORED} done.wait(0);", kernel("", "sync();", product)),
        &format!("{} done.wait(0); {STORED}", kernel("", "sync();", product)),
    );
    // A product that the partition waits for through the one that fills its buffers.
    let multiplies = "for step in 0..n { full.wait(step & 1); tcgen05::mma(a, b, acc); tcgen05::commit(other); } tcgen05::commit(done);";
    let fills = "for step in 0..n { other.wait((step & 1) ^ 1); full.expect_copies(); tma::load(m, [0, 0], full, a); }";
    let three = format!(
        "warp_specialize(|| {{ done.wait(0); {STORED} }}, [partition(1).run(|| {{ {multiplies} }}), partition(1).run(|| {{ {fills} }})]);"
    );
    assert!(messages(&three).is_empty(), "{}", messages(&three).join("\n"));
    // What was started before the partitions is under way in each of them.
    let started = "tcgen05::mma(a, b, acc).accumulate(false); tcgen05::commit(done);";
    twins(
        READ,
        "done.wait(0);",
        &kernel(started, STORED, "done.wait(0);"),
        &kernel(started, &format!("done.wait(0); {STORED}"), "done.wait(0);"),
    );
}

#[test]
fn every_way_is_followed_to_where_it_goes() {
    let product = "tcgen05::mma(a, b, acc).accumulate(false); tcgen05::commit(done);";
    let none = |body: &str| {
        let found = messages(body);
        assert!(found.is_empty(), "{body}\n{}", found.join("\n"));
    };
    // Nothing leaves such a loop but behind the test that says that the product is done.
    none(&format!("{product} while !done.try_wait(0) {{}} {STORED}"));
    none(&format!("{product} loop {{ if done.try_wait(0) {{ break; }} }} {STORED}"));
    none(&format!(
        "for step in 0..n {{ {product} done.wait(step & 1); if more {{ break; }} }} {STORED}"
    ));
    // A loop that does not run starts nothing.
    none(&format!("for step in 0..0 {{ tcgen05::mma(a, b, acc); }} {STORED}"));
    // A way that ends does not come to the read.
    none(&format!(
        "if more {{ {product} done.wait(0); return; }} acc.store(zeros([128, 64])); {STORED}"
    ));
    twins(
        "the kernel can end while tcgen05 operations are in flight",
        "done.wait(0);",
        &format!("if more {{ {product} return; }} {product} done.wait(0);"),
        &format!("if more {{ {product} done.wait(0); return; }} {product} done.wait(0);"),
    );
    twins(
        READ,
        "done.wait(0);",
        &format!(
            "for step in 0..n {{ {product} if more {{ break; }} done.wait(step & 1); }} {STORED} done.wait(0);"
        ),
        &format!(
            "for step in 0..n {{ {product} done.wait(step & 1); if more {{ break; }} }} {STORED}"
        ),
    );
    twins(
        READ,
        "done.wait(0);",
        &format!(
            "for step in 0..n {{ {product} if more {{ continue; }} done.wait(step & 1); }} {STORED} done.wait(0);"
        ),
        &format!(
            "for step in 0..n {{ {product} done.wait(step & 1); if more {{ continue; }} }} {STORED}"
        ),
    );
}

/// All of them are right.
#[track_caller]
fn accepted(bodies: &[&str]) {
    for body in bodies {
        let found = messages(body);
        assert!(found.is_empty(), "{body}\n{}", found.join("\n"));
    }
}

/// `if step > 0 { done.wait(..); }` is for the iteration before, of which the first one has none.
#[test]
fn a_wait_on_a_condition_is_for_what_there_is_on_it() {
    let fill = "a.store(h.tile([0, 0], [128, 64]).load());";
    let product = "tcgen05::mma(a, b, acc).accumulate(false); tcgen05::commit(done);";
    let last = format!("if n > 0 {{ done.wait((n - 1) & 1); {STORED} }}");
    let before = format!(
        "for step in 0..n {{ if step > 0 {{ done.wait((step - 1) & 1); }} {fill} {product} }} {last}"
    );
    let behind = format!(
        "for step in 0..n {{ {fill} {product} if step + 1 < n {{ done.wait(step & 1); }} }} {last}"
    );
    let open = format!(
        "let mut open = false; for step in 0..n {{ if open {{ done.wait(0); }} {fill} {product} open = true; }} if open {{ done.wait(0); }}"
    );
    let kinds = "for step in 0..n {
            if step > 0 { full.wait((step - 1) & 1); }
            tcgen05::mma(a, b, acc); tcgen05::commit(done); done.wait(step & 1);
            tcgen05::mma(bytes, right, acc); tcgen05::commit(full);
        }
        full.wait((n - 1) & 1);";
    let optional = format!(
        "acc.store(zeros([128, 64])); if more {{ {product} }} if more {{ done.wait(0); }} {STORED}"
    );
    let when = format!(
        "acc.store(zeros([128, 64])); tcgen05::mma(a, b, acc).when(more); tcgen05::commit(done).when(more); if more {{ done.wait(0); }} {STORED}"
    );
    let committed = format!(
        "for step in 0..4 {{ tcgen05::mma(a, b, acc); if step == 3 {{ tcgen05::commit(done); }} }} done.wait(0); {STORED}"
    );
    accepted(&[&before, &behind, &open, kinds, &optional, &when, &committed]);
    // What is always started is not waited for by a wait on a condition, and what a loop starts last not by those within.
    let one = "done.wait(0);";
    twins(
        READ,
        one,
        &format!("{product} if more {{ done.wait(0); }} {STORED} done.wait(0);"),
        &format!("{product} if more {{ done.wait(0); }} else {{ done.wait(0); }} {STORED}"),
    );
    let within =
        format!("for step in 0..n {{ {product} if step + 1 < n {{ done.wait(step & 1); }} }}");
    twins(
        READ,
        one,
        &format!("{within} {STORED} done.wait((n - 1) & 1);"),
        &format!("{within} done.wait((n - 1) & 1); {STORED}"),
    );
}

/// Two tiles of sums, of which one is read while products add to the other.
#[test]
fn of_tiles_by_numbers_of_the_run_any_wait_counts() {
    let read = |tile: &str| format!("c.tile([0, 0], [128, 64]).store({tile}.load());");
    let committed_late = format!(
        "for step in 0..n {{
            let this = step & 1;
            if step > 0 {{ rings[1 - this].wait((step - 1) / 2 % 2); }}
            tcgen05::mma(a, b, accs[this]).accumulate(false);
            if step > 0 {{ {} }}
            tcgen05::commit(rings[this]);
        }}
        rings[0].wait(0); rings[1].wait(0);",
        read("accs[1 - this]")
    );
    let loops = |first: &str, loaded: &str, end: &str| {
        format!(
            "{first} for step in 1..n {{
                done.wait((step - 1) & 1);
                tcgen05::mma(a, b, next).accumulate(false); tcgen05::commit(done);
                {}
                {end}
            }}
            done.wait((n - 1) & 1);",
            read(loaded)
        )
    };
    let start = "tcgen05::mma(a, b, this).accumulate(false); tcgen05::commit(done);";
    let swapped = loops(
        &format!("let (mut this, mut next) = (accs[0], accs[1]); {start}"),
        "this",
        "(this, next) = (next, this);",
    );
    accepted(&[&committed_late, &swapped]);
    // The same tile, whichever it is, and one for which there was no wait at all.
    let carried = |wait: &str, end: &str| {
        format!(
            "let mut this = accs[0]; for step in 0..n {{ {start} {wait} {} this = accs[step & 1]; }} {end}",
            read("this")
        )
    };
    twins(
        READ,
        "done.wait(step % 2);",
        &carried("", "done.wait(0);"),
        &carried("done.wait(step & 1);", ""),
    );
    let other = |wait: &str, end: &str| {
        format!(
            "for step in 0..n {{ let this = accs[step & 1]; {start} {wait} {} }} {end}",
            read("accs[1 - (step & 1)]")
        )
    };
    twins(
        READ,
        "done.wait(step % 2);",
        &other("", "done.wait(0);"),
        &other("done.wait(step & 1);", ""),
    );
}

#[test]
fn what_a_partition_wrote_is_its_own_until_it_says_so() {
    let kernel = |reader: &str| {
        format!(
            "warp_specialize(|| {{ acc.store(zeros([128, 64])); {reader} }}, [partition(1).run(|| {{
                full.wait(0); tcgen05::mma(a, b, acc); tcgen05::commit(done);
            }})]);"
        )
    };
    twins(
        READ,
        "done.wait(0);",
        &kernel(&format!("full.arrive(); {STORED} done.wait(0);")),
        &kernel(&format!("{STORED} full.arrive(); done.wait(0);")),
    );
}

#[test]
fn what_a_partition_writes_anew_is_its_own_again() {
    // Of a ring by numbers of the run, the partition has one tile for itself, and the other one is multiplied into.
    let scratch = |stored: &str| {
        format!(
            "warp_specialize(
                || for k in 0..n {{
                    let own = accs[k % 2];
                    {stored}
                    c.tile([0, 0], [128, 64]).store(own.load());
                    other.arrive();
                }},
                [partition(1).run(|| {{
                    for k in 0..n {{
                        other.wait(k & 1);
                        tcgen05::mma(a, b, accs[1 - k % 2]).accumulate(false);
                        tcgen05::commit(done);
                        done.wait(k & 1);
                    }}
                }})],
            );"
        )
    };
    accepted(&[&scratch("own.store(zeros([128, 64]));")]);
    // What it wrote an iteration ago, it has told of since.
    let found = messages(&scratch("if k == 0 { own.store(zeros([128, 64])); }"));
    assert_eq!(found.len(), 1, "{}", found.join("\n"));
}

#[test]
fn what_started_before_the_partitions_may_be_waited_for_by_any_of_them() {
    let product = "tcgen05::mma(a, b, acc).accumulate(false); tcgen05::commit(done);";
    let split = |default: &str, partition: &str| {
        format!(
            "{product} warp_specialize(|| {{ {default} }}, [partition(4).run(|| {{ {partition} }})]);"
        )
    };
    let write = "full.expect(a.bytes()); tma::load(m, [0, 0], full, a); full.wait(0);";
    accepted(&[
        &split(STORED, write)
            .replacen("c.tile", "done.wait(0); other.arrive(); c.tile", 1)
            .replacen("full.expect", "other.wait(0); full.expect", 1),
        &split("done.wait(0);", &format!("done.wait(0); {write}")),
        &format!("{} {STORED}", split("", "done.wait(0);")),
        &format!("{} {STORED}", split("done.wait(0);", "")),
    ]);
    let overwritten = "shared memory is written while the tensor cores may still read it";
    twins(
        overwritten,
        "done.wait(0);",
        &split("done.wait(0);", &format!("other.wait(0); {write}")),
        &split("done.wait(0); other.arrive();", &format!("other.wait(0); {write}")),
    );
}

#[test]
fn a_pipelined_loop_copies_to_what_products_have_read() {
    for copy in ["copy_async(h.tile([0, k], [128, 64]), s);", "copy_async(m.at([0, k]), s);"] {
        let in_loop = |wait: &str| {
            format!(
                "let s = shared::<f16>([128, 64]); let mut phase = 0; for k in pipeline(range(0, n, 64), 3) {{ {copy} tcgen05::mma(s, b, acc).accumulate(k > 0); tcgen05::commit(done); {wait} phase ^= 1; }} {STORED}"
            )
        };
        accepted(&[&in_loop("done.wait(phase);")]);
        let found = messages(&in_loop(""));
        assert!(found[0].starts_with("[K0405] a product is in flight"), "{}", found.join("\n"));
    }
}

/// A help names what has the same name where it is pasted.
#[test]
fn barriers_have_the_names_that_they_have_where_the_message_is() {
    let help = |body: &str| {
        let found = messages(body);
        assert_eq!(found.len(), 1, "{body}\n{}", found.join("\n"));
        let help = found[0].split_once("help      ").map(|(_, help)| {
            // Without the line at which it goes.
            help.split(" // ").next().unwrap_or(help).to_owned()
        });
        let (_, required) = found[0].split_once("required  ").expect("something is required");
        let required = required.lines().next().expect("one line at least").to_owned();
        (required, help)
    };
    let product = "tcgen05::mma(a, b, acc).accumulate(false);";
    let unnamed = ("a wait on `rings[..]`".to_owned(), None);
    let ring =
        |slot: &str| format!("for slot in 0..2 {{ {product} tcgen05::commit(rings[{slot}]); }}");
    let waits = "rings[0].wait(0); rings[1].wait(0);";
    assert_eq!(help(&format!("{} {STORED} {waits}", ring("slot"))), unnamed);
    assert_eq!(help(&format!("{} {STORED} {waits}", ring("1 - slot"))), unnamed);
    // Of another partition.
    let partitions = format!(
        "warp_specialize(|| {{ {STORED} {waits} }}, [partition(1).run(|| {{ {} }})]);",
        ring("slot")
    );
    assert_eq!(help(&partitions), unnamed);
    // Two branches, whose variables are as many.
    let branches = format!(
        "if more {{ let first = n + 1; acc.store(zeros([128, 64])); }} else {{ let slot = n & 1; {product} tcgen05::commit(rings[slot]); {STORED} rings[slot].wait(0); }}"
    );
    let named = |name: &str| (format!("a wait on `{name}`"), Some(format!("{name}.wait(0);")));
    assert_eq!(help(&branches), named("rings[slot]"));
    // Fields of a struct.
    let fields = |commit: &str| {
        format!(
            "struct Sums {{ ready: Barrier, slots: Barriers }}
            let sums = Sums {{ ready: barrier(1), slots: barriers(2, 1) }};
            {product} tcgen05::commit({commit}); {STORED} {commit}.wait(0);"
        )
    };
    for field in ["sums.ready", "sums.slots[1]"] {
        assert_eq!(help(&fields(field)), named(field));
    }
}

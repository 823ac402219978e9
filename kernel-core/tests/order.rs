//! The order of kernels, run out: what is proven, what is refused, and what is left to the emulator, and why.

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Problems, render},
    explore::{Reason, Verdict},
    loc::Locations,
    syntax,
};

/// The verdict on a kernel with this body, or what is said of it.
fn explored(attr: &str, params: &str, body: &str) -> Result<Verdict, String> {
    let source = format!("fn k({params}) {{ {body} }}");
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    of_function(attr.parse().expect("the attribute is Rust"), &function)
}

/// The same of a function with these arguments of `#[kernel]`.
fn of_function(attr: proc_macro2::TokenStream, function: &syn::ItemFn) -> Result<Verdict, String> {
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attr, function, &locations, &mut problems);
    let made = compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    let said: Vec<String> = problems.iter().map(|problem| render(problem, &locations)).collect();
    match made.first().and_then(|instances| instances.first()) {
        Some(instance) if said.is_empty() => Ok(instance.images[0].order),
        Some(_) | None => Err(said.join("\n")),
    }
}

const HOPPER: &str = "target = sm_90a, warps = 4";
const PAIR: &str = "target = sm_90a, warps = 4, cluster = 2";
const TENSORS: &str = "#[block(64)] x: TensorMap<f32, 1>, n: i32, more: bool, y: TensorMut<f32, 1>";
const MADE: &str = "
    let bufs = shared::<f32>([2, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
";

fn on_hopper(body: &str) -> Result<Verdict, String> {
    explored(HOPPER, TENSORS, &format!("{MADE}{body}"))
}

/// The wrong kernel is refused with this code; the right one is proven.
#[track_caller]
fn twins(code: &str, wrong: &Result<Verdict, String>, right: &Result<Verdict, String>) {
    let said = wrong.as_ref().expect_err("this twin is wrong");
    assert!(said.starts_with(&format!("[{code}]")), "{said}");
    assert!(!said.contains("\n[K"), "one problem: {said}");
    let verdict = right.as_ref().unwrap_or_else(|said| panic!("this twin is right: {said}"));
    assert!(matches!(verdict, Verdict::Proven { .. }), "{verdict:?}");
}

#[track_caller]
fn left(reason: Reason, explored: &Result<Verdict, String>) {
    let verdict = explored.as_ref().unwrap_or_else(|said| panic!("it is not refused: {said}"));
    match verdict {
        Verdict::Left { reason: actual, .. } => assert_eq!(*actual, reason),
        Verdict::Proven { .. } | Verdict::Refused => panic!("{verdict:?}"),
    }
}

/// A writer and a reader of a ring of two buffers, with these lines in their loops and this many turns.
fn ring([writer, reader]: [&str; 2], turns: [&str; 2]) -> Result<Verdict, String> {
    on_hopper(&format!(
        "warp_specialize(
            || for turn in 0..{} {{
                {reader}
            }},
            [partition(1).run(|| for turn in 0..{} {{
                {writer}
            }})],
        );",
        turns[1], turns[0]
    ))
}

const WRITER: &str = "
    empty[turn % 2].wait(1 - turn / 2 % 2);
    full[turn % 2].expect(x.block_bytes());
    tma::load(x, [64 * turn], full[turn % 2], bufs[turn % 2]);
";
const READER: &str = "
    full[turn % 2].wait(turn / 2 % 2);
    y.tile([64 * turn], [64]).store(bufs[turn % 2].load());
    empty[turn % 2].arrive();
";

#[test]
fn a_buffer_is_not_written_while_it_may_be_read() {
    let early =
        READER.replacen("wait(turn / 2 % 2);", "wait(turn / 2 % 2); empty[turn % 2].arrive();", 1);
    let early = early.trim_end().rsplit_once("empty").map(|(before, _)| before.to_owned());
    let early = early.expect("the reader arrives");
    let turns = ["x.dim(0) / 64"; 2];
    twins("K0418", &ring([WRITER, &early], turns), &ring([WRITER, READER], turns));
}

#[test]
fn the_bounds_of_a_ring_may_be_a_scalar() {
    let verdict = ring([WRITER, READER], ["n"; 2]);
    let iterations = match verdict {
        Ok(Verdict::Proven { iterations: Some(iterations) }) => iterations,
        other => panic!("{other:?}"),
    };
    // Both buffers are filled again.
    assert!(iterations >= 3, "{iterations}");
}

#[test]
fn a_wait_is_for_the_phase_of_its_copy() {
    let once = |parity: i32| {
        on_hopper(&format!(
            "full[0].expect(x.block_bytes());
            tma::load(x, [0], full[0], bufs[0]);
            full[0].wait({parity});
            y.tile([0], [64]).store(bufs[0].load());"
        ))
    };
    twins("K0419", &once(1), &once(0));
}

#[test]
fn parts_do_not_wait_for_each_other() {
    let asks = |first: &str| {
        on_hopper(&format!(
            "warp_specialize(
                || {{ {first} full[0].wait(0); y.tile([0], [64]).store(bufs[0].load()); full[1].arrive(); }},
                [partition(1).run(|| {{
                    empty[0].wait(0);
                    bufs[0].store(zeros([64]));
                    full[0].arrive();
                    full[1].wait(0);
                }})],
            );"
        ))
    };
    twins("K0420", &asks(""), &asks("empty[0].arrive();"));
}

#[test]
fn a_phase_gets_as_many_arrivals_as_it_counts() {
    let counts = |count: i32| {
        on_hopper(&format!(
            "let all = barrier({count});
            warp_specialize(
                || {{ all.wait(0); y.tile([0], [64]).store(bufs[0].load()); }},
                [partition(2).run(|| {{ bufs[0].store(zeros([64])); all.arrive(); }})],
            );"
        ))
    };
    twins("K0421", &counts(2), &counts(1));
}

#[test]
fn blocks_of_a_cluster_meet_between_a_write_and_a_read_of_another_one() {
    let exchanged = |meets: &str| {
        let body = format!(
            "let part = shared::<f32>([64]);
            part.store(y.tile([64 * cluster::rank()], [64]).load());
            {meets}
            y.tile([64 * cluster::rank()], [64]).store(part.of_block(1 - cluster::rank()).load());"
        );
        explored(PAIR, TENSORS, &body)
    };
    twins("K0422", &exchanged(""), &exchanged("cluster::sync();"));
}

#[test]
fn nothing_is_in_flight_at_the_end() {
    let loaded = |waits: &str| {
        on_hopper(&format!(
            "full[0].expect(x.block_bytes()); tma::load(x, [0], full[0], bufs[0]); {waits}"
        ))
    };
    twins("K0423", &loaded(""), &loaded("full[0].wait(0);"));
}

#[test]
fn products_into_one_accumulator_are_in_order() {
    let params = "#[block(128, 64)] a: TensorMap<f16, 2>, #[block(64, 64)] b: TensorMap<f16, 2>, c: TensorMut<f32, 2>";
    let twice = |second: &str| {
        let body = format!(
            "let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
            let (full, done, acc) = (barrier(1), barrier(1), tmem::<f32>([2, 128, 64]));
            warp_specialize(
                || {{ done.wait(0); c.tile([0, 0], [128, 64]).store(acc[{second}].load()); }},
                [partition(1).run(|| {{
                    full.expect(a.block_bytes() + b.block_bytes());
                    tma::load(a, [0, 0], full, sa);
                    tma::load(b, [0, 0], full, sb);
                    full.wait(0);
                    tcgen05::mma(sa, sb, acc[0]).accumulate(false);
                    tcgen05::mma(sa, sb, acc[0]);
                    tcgen05::commit(done);
                }})],
            );"
        );
        explored("target = sm_100a, warps = 4", params, &body)
    };
    let verdict = twice("0");
    assert_eq!(verdict, Ok(Verdict::Proven { iterations: None }));
}

#[test]
fn a_commit_tells_what_its_thread_has_waited_for() {
    let params = "#[block(128, 64)] a: TensorMap<f16, 2>, #[block(64, 64)] b: TensorMap<f16, 2>, c: TensorMut<f32, 2>";
    // The second buffer is filled, and no product reads it.
    let unread = |waits: &str| {
        let body = format!(
            "let (sa, sb) = (shared::<f16>([2, 128, 64]), shared::<f16>([64, 64]));
            let (full, done, acc) = (barriers(2, 1), barrier(1), tmem::<f32>([128, 64]));
            warp_specialize(
                || {{ done.wait(0); c.tile([0, 0], [128, 64]).store(acc.load()); }},
                [
                    partition(1).run(|| {{
                        full[0].expect(a.block_bytes() + b.block_bytes());
                        tma::load(a, [0, 0], full[0], sa[0]);
                        tma::load(b, [0, 0], full[0], sb);
                        full[1].expect(a.block_bytes());
                        tma::load(a, [0, 64], full[1], sa[1]);
                    }}),
                    partition(1).run(|| {{
                        full[0].wait(0);
                        tcgen05::mma(sa[0], sb, acc).accumulate(false);
                        {waits}
                        tcgen05::commit(done);
                    }}),
                ],
            );"
        );
        explored("target = sm_100a, warps = 4", params, &body)
    };
    twins("K0423", &unread(""), &unread("full[1].wait(0);"));
}

#[test]
fn what_arguments_decide_is_left_to_the_emulator() {
    let one = |wait: &str| {
        on_hopper(&format!(
            "full[0].expect(x.block_bytes());
            tma::load(x, [0], full[0], bufs[0]);
            {wait}
            y.tile([0], [64]).store(bufs[0].load());
            full[0].wait(0);"
        ))
    };
    left(Reason::Argument(2), &one("if more { full[0].wait(0); }"));
    left(Reason::Argument(1), &one("full[0].wait(n);"));
    left(Reason::Polled, &one("full[0].wait(0); if full[0].try_wait(0) { sync(); }"));
    let data = "let far = y.tile([0], [1]).load().item() > 0.0; if far { full[0].wait(0); } full[0].wait(0);";
    left(Reason::Data, &one(data));
}

#[test]
fn bounds_that_have_to_go_together_are_left_to_the_emulator() {
    // Half as many tiles of `y` as of `x`, as many blocks as tiles, and so on: the user sees to it.
    let tiles = "x.dim(0) / 64";
    for (writer, reader) in [
        (tiles, "y.dim(0) / 64 * 2"),
        (tiles, "y.dim(0) / 32"),
        (tiles, "cdiv(x.dim(0), 64)"),
        (tiles, "num_blocks(0)"),
        (tiles, "n"),
        ("8", "num_blocks(0)"),
    ] {
        left(Reason::Related, &ring([WRITER, READER], [writer, reader]));
    }
    // Equal only in launches with more iterations than were tried.
    left(Reason::Few, &ring([WRITER, READER], [tiles, "y.dim(0) / 64 - 2"]));
    // No bound makes up for one turn more.
    let more = ring([WRITER, READER], ["x.dim(0) / 64", "x.dim(0) / 64 + 1"]);
    more.expect_err("the reader waits without end");
}

#[test]
fn what_few_iterations_break_is_left_to_the_emulator() {
    let first = "
        if n > 0 { full[0].arrive(); }
        for turn in 0..n { empty[turn % 2].arrive(); sync(); }
        full[0].wait(0);";
    left(Reason::Empty, &on_hopper(first));
}

#[test]
fn instructions_that_the_user_wrote_are_left_to_the_emulator() {
    let text = "ptx!(\"membar.cta;\"); full[0].arrive(); full[0].wait(0);";
    left(Reason::Text, &on_hopper(text));
}

/// Kernels of the folder `order`, each with what is to be said of it in its first line.
#[test]
#[expect(clippy::disallowed_methods, reason = "kernels in files of their own")]
fn kernels_that_are_hard_to_judge() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/order");
    let (mut failures, mut count) = (Vec::new(), 0);
    for file in std::fs::read_dir(folder).expect("the kernels are part of the repository") {
        let path = file.expect("a folder can be read").path();
        let text = std::fs::read_to_string(&path).expect("the kernels are text");
        let said = text.strip_prefix("//! ").and_then(|text| text.split_once(':'));
        let (expected, _) = said.expect("the first line says what is expected");
        let file = syn::parse_file(&text).expect("the kernels are Rust");
        let function = file.items.into_iter().find_map(|item| {
            if let syn::Item::Fn(function) = item { Some(function) } else { None }
        });
        let mut function = function.expect("each file has a kernel");
        let attr = function.attrs.remove(0);
        let attr = attr.meta.require_list().expect("`#[kernel(..)]` comes first").tokens.clone();
        let actual = match of_function(attr, &function) {
            Ok(Verdict::Proven { iterations: Some(most) }) => format!("Proven {most}"),
            Ok(Verdict::Left { reason, .. }) => format!("{reason:?}"),
            Ok(other) => format!("{other:?}"),
            Err(said) => said[1..6].to_owned(),
        };
        count += 1;
        if actual != expected {
            failures.push(format!("{}: {actual} instead of {expected}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 25, "{count} kernels");
}

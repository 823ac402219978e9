//! What the compiler proves of order, against the emulator: kernels without one of the statements that order something, with a wait for the
//! other phase, or with a barrier that counts one arrival more. None of them may be called proven if the emulator finds it wrong.

use std::path::Path;

use kernel_testkit::FileTest;

/// Kernels with most of the statements that order something between them.
const KERNELS: [&str; 8] = [
    "blackwell/product_of_a_product",
    "copy/ring",
    "copy/rotation",
    "hopper/cluster_exchange",
    "hopper/cluster_sum",
    "hopper/gemm_specialized",
    "hopper/wgmma_cluster",
    "hopper/wgmma_ring",
];

/// What such a statement contains.
const ORDERS: [&str; 10] = [
    "sync();",
    ".wait(",
    ".arrive();",
    ".expect(",
    "commit(",
    "copy_async_wait",
    "copy_async_commit",
    "store_wait",
    "named",
    "wgmma::wait(",
];

/// The text of a file test, for the emulator alone.
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels").join(name);
    let text = std::fs::read_to_string(path.with_extension("rs"));
    let text = text.expect("the kernels are part of the repository");
    let lines = text.lines().map(|line| match line.strip_prefix("//@ run:") {
        Some(_) => "//@ run: emulate",
        None => line,
    });
    let lines = lines.filter(|line| !line.starts_with("//@ snapshot"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line is a statement that orders something, and gives nothing.
fn orders(line: &str) -> bool {
    let statement = line.trim();
    let whole = statement.ends_with(';') && !statement.contains(" = ") && !statement.contains("||");
    whole && !statement.starts_with("//") && ORDERS.iter().any(|one| statement.contains(one))
}

/// What becomes of a line, each time with another mistake.
fn mistakes(line: &str) -> Vec<String> {
    let mut made = Vec::new();
    if orders(line) {
        made.push(String::new());
    }
    if let Some((before, rest)) = line.split_once(".wait(")
        && let Some(phase) = rest.trim_end().strip_suffix(");")
        && !phase.is_empty()
    {
        made.push(format!("{before}.wait(1 - ({phase}));"));
    }
    for name in ["barrier(", "barriers("] {
        for (at, _) in line.match_indices(name) {
            let Some(end) = line[at..].find(')').map(|end| at + end) else { continue };
            let (before, count) = line.split_at(end);
            made.push(format!("{before} + 1{count}"));
        }
    }
    made
}

/// Whether what a build says is about the order of the kernel.
fn is_of_order(said: &str) -> bool {
    ["K0418", "K0419", "K0420", "K0421", "K0422", "K0423"].iter().any(|code| said.contains(code))
}

#[test]
fn nothing_is_proven_that_the_emulator_refuses() {
    let (mut refused, mut left, mut others, mut failures) = (0, 0, 0, Vec::new());
    for name in KERNELS {
        let text = text(name);
        for (number, line) in text.lines().enumerate() {
            for mistake in mistakes(line) {
                let lines = text
                    .lines()
                    .enumerate()
                    .map(|(other, line)| if other == number { mistake.as_str() } else { line });
                let test = FileTest::of(name, &lines.collect::<Vec<_>>().join("\n"));
                match test.builds() {
                    Err(error) if is_of_order(&error) => refused += 1,
                    Err(_) => others += 1,
                    Ok(builds) if !builds.iter().all(|one| one.order.starts_with("proven")) => {
                        left += 1;
                    }
                    Ok(_) => {
                        if let Err(error) = test.run() {
                            let what = if mistake.is_empty() { "nothing" } else { mistake.trim() };
                            let line = line.trim();
                            failures.push(format!("{name}, {what} for `{line}`: {error}"));
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "proven, and yet:\n{}", failures.join("\n"));
    // Most of them the text proves wrong, and other rules see few.
    assert!(
        refused > 3 * (left + others),
        "{refused} refused, {left} left, {others} refused by other rules"
    );
}

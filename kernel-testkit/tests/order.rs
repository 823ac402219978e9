//! What the compiler proves of order, against the emulator: kernels without one of the statements that order something. None of them may
//! be called proven if the emulator finds it wrong.

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

#[test]
fn nothing_is_proven_that_the_emulator_refuses() {
    let (mut refused, mut left, mut failures) = (0, 0, Vec::new());
    for name in KERNELS {
        let text = text(name);
        for (number, line) in text.lines().enumerate().filter(|(_, line)| orders(line)) {
            let others = text.lines().enumerate().filter(|(other, _)| *other != number);
            let without = others.map(|(_, line)| line).collect::<Vec<_>>().join("\n");
            let test = FileTest::of(name, &without);
            let Ok(builds) = test.builds() else {
                refused += 1;
                continue;
            };
            if !builds.iter().all(|build| build.order.starts_with("proven")) {
                left += 1;
            } else if let Err(error) = test.run() {
                failures.push(format!("{name} without `{}`: {error}", line.trim()));
            }
        }
    }
    assert!(failures.is_empty(), "proven, and yet:\n{}", failures.join("\n"));
    // Most of them the text proves wrong.
    assert!(refused > 3 * left, "{refused} are refused, {left} left to the emulator");
}

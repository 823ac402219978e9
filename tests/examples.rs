//! Every example, run as a user would run it on a machine without a GPU: each checks its own results.

use std::{path::PathBuf, process::Command};

/// Cargo builds the examples beside the tests, one folder up from `deps`.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has a path");
    path.pop();
    path.pop();
    path.push("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    path
}

/// Runs an example on the emulator, at the sizes that it has for one, and gives what it printed. No launch of it may wait
/// for a bank of shared memory.
fn run(name: &str) -> String {
    run_with(name, &[]).0
}

/// As [`run`], with the sizes on the command line. Gives also the line of `KILN_STATS` of every launch.
fn run_with(name: &str, sizes: &[&str]) -> (String, Vec<String>) {
    let (text, launches) = launch(name, sizes);
    let waits: Vec<&String> = launches
        .iter()
        .filter(|line| !line.ends_with(" lane instructions, 0 bank conflicts"))
        .collect();
    assert!(waits.is_empty(), "{name}: {waits:#?}");
    (text, launches)
}

/// As [`run_with`], whatever its launches wait for.
fn launch(name: &str, sizes: &[&str]) -> (String, Vec<String>) {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tuned-{name}"));
    if cache.exists() {
        std::fs::remove_file(&cache).expect("a cache of an earlier run can be removed");
    }
    let output = Command::new(example(name))
        .args(sizes)
        .env("KILN_DEVICE", "emulator")
        .env("KILN_STATS", "1")
        // Nothing of the user's decides what runs.
        .env("KILN_TUNE", "on")
        .env("KILN_TUNE_CACHE", cache)
        .output()
        .unwrap_or_else(|error| {
            panic!("the example {name} cannot be started, see `cargo build --examples`: {error}")
        });
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed:\n{text}\n{errors}");
    let launches: Vec<String> =
        errors.lines().filter(|line| line.starts_with("kiln: ")).map(str::to_owned).collect();
    assert!(!launches.is_empty(), "{name} launched nothing:\n{errors}");
    (text, launches)
}

/// Rows whose width no alignment can be assumed of run the general variants, which have no conflicts either.
fn run_unaligned_rows(name: &str, widths: &[&str]) {
    for width in widths {
        let (_, launches) = run_with(name, &["2", width]);
        let general = launches.iter().filter(|line| line.contains(", general, "));
        assert_eq!(general.count(), launches.len(), "{name}, {width}: {launches:#?}");
    }
}

/// An example without a test here could fail, or wait for banks, unseen.
#[test]
fn every_example_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut examples = 0;
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().expect("a file has a name").to_string_lossy();
            let call = format!("(\"{name}\"");
            assert!(include_str!("examples.rs").contains(&call), "required a test of {name}");
            examples += 1;
        }
    }
    assert_eq!(examples, 27);
}

#[test]
fn vector_add() {
    let text = run("vector_add");
    assert!(text.contains("1000003             0"), "{text}");
}

/// The lines of a table that are about an element type, at a width.
fn lines(text: &str, dtype: &str, columns: &str) -> usize {
    let fits = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next() == Some(dtype) && words.nth(1) == Some(columns)
    };
    text.lines().filter(fits).count()
}

/// Each width is that of another instance, the last one of the kernel for any width.
#[test]
fn softmax() {
    let text = run("softmax");
    for dtype in ["bf16", "f16", "f32"] {
        for columns in ["100", "1000", "4096", "8000", "16384", "20000"] {
            assert_eq!(lines(&text, dtype, columns), 1, "{dtype}, {columns}:\n{text}");
        }
    }
    assert_eq!(text.lines().count(), 2 + 3 * 6, "{text}");
    run_unaligned_rows("softmax", &["201", "1001", "4095", "8191", "16383", "20001"]);
}

#[test]
fn matmul_async_copy() {
    let text = run("matmul_async_copy");
    // Twelve instances at each of two sizes, and of each size the best.
    assert_eq!(text.matches("BM = ").count(), 2 * (12 + 1), "{text}");
    assert!(text.matches("  1.00  ").count() >= 2, "one or more are the fastest:\n{text}");
}

#[test]
fn matmul_pipelined() {
    let text = run("matmul_pipelined");
    // A head, then five instances at each of two sizes.
    assert_eq!(text.lines().count(), 2 + 2 * 5, "{text}");
}

#[test]
fn layer_norm() {
    let text = run("layer_norm");
    for dtype in ["bf16", "f16"] {
        for columns in ["1000", "4096", "8000", "16384", "20000", "40000", "70000"] {
            assert_eq!(lines(&text, dtype, columns), 1, "{dtype}, {columns}:\n{text}");
        }
    }
    assert_eq!(text.lines().count(), 2 + 2 * 7, "{text}");
    run_unaligned_rows("layer_norm", &["1001", "4095", "8191", "16383", "20001", "33001", "65537"]);
}

/// Each instance finds nothing wrong with any element.
#[test]
fn transpose() {
    let text = run("transpose");
    assert_eq!(text.matches("warps").count(), 16, "eight instances at two sizes:\n{text}");
    assert_eq!(text.matches("0.0e0").count(), 16, "{text}");
}

/// Four orders, one of them the library's and one the example's own, for two element types at two sizes.
#[test]
fn device_library() {
    let text = run("device_library");
    for order in ["Linear", "Grouped<4>", "Snake", "Columns"] {
        let lines = text.lines().filter(|line| line.split_whitespace().nth(1) == Some(order));
        assert_eq!(lines.count(), 4, "{order}:\n{text}");
    }
}

/// A warp's access of 8 bytes a lane to fragments of f32, in tiles swizzled by 128 bytes, finds two of each half's four rows
/// in the same banks: each access waits twice more. `accesses` are those of all warps of one launch.
fn fragments_wait_twice(name: &str, accesses: &[usize]) -> String {
    let (text, launches) = launch(name, &[]);
    assert_eq!(launches.len(), accesses.len(), "{launches:#?}");
    for (launch, accesses) in launches.iter().zip(accesses) {
        let conflicts = format!(" {} bank conflicts", 2 * accesses);
        assert!(launch.ends_with(&conflicts), "required{conflicts}: {launch}");
    }
    text
}

/// Every choice of the contiguous indices, in both types.
#[test]
fn matmul_wgmma() {
    let text = run("matmul_wgmma");
    for dtype in ["bf16", "f16"] {
        for (a, b) in
            [("[m, k]", "[k, n]"), ("[m, k]", "[n, k]"), ("[k, m]", "[k, n]"), ("[k, m]", "[n, k]")]
        {
            let name = format!(" {dtype} a {a}, b {b} ");
            assert_eq!(text.matches(&name).count(), 1, "{name}:\n{text}");
        }
    }
    assert_eq!(text.lines().count(), 2 + 8, "{text}");
}

/// At the example's own size, four blocks take turns at three rows of tiles, which are no multiple of a cluster; then one tile,
/// of which a cluster's second block has nothing; then rows that end in a group of two.
#[test]
fn matmul_persistent() {
    for sizes in [&[][..], &["72", "40", "200"], &["2176", "256", "64"]] {
        let (text, launches) = run_with("matmul_persistent", sizes);
        assert_eq!(text.lines().count(), 2 + 4, "four schedules:\n{text}");
        assert!(launches.iter().all(|line| line.contains(", grid 4x1x1: ")), "{launches:#?}");
    }
}

#[test]
fn matmul_warp_specialized() {
    let text = run("matmul_warp_specialized");
    assert_eq!(text.matches(" bf16 128x").count(), 5, "five of bf16:\n{text}");
    assert_eq!(text.matches(" f16 128x").count(), 4, "four of f16:\n{text}");
    assert_eq!(text.matches("e4m3 128x").count(), 2, "two of e4m3:\n{text}");
    assert_eq!(text.matches("e5m2 128x").count(), 1, "one of e5m2:\n{text}");
}

#[test]
fn matmul_gather_scatter() {
    let text = run("matmul_gather_scatter");
    assert_eq!(text.matches("stages").count(), 2, "two instances:\n{text}");
}

/// A size that is no number, one too few, one too many, and nothing: each is refused before anything runs, with the size in the message.
#[test]
fn sizes_that_are_none_are_refused() {
    for sizes in [
        &["64", "8", "eight"][..],
        &["64", "8"],
        &["64", "8", "8", "8"],
        &["64", "0", "8"],
        &["--large", "8", "8"],
    ] {
        let output = Command::new(example("matmul_accumulate"))
            .args(sizes)
            .env("KILN_DEVICE", "emulator")
            .output()
            .expect("the example is built");
        assert_eq!(output.status.code(), Some(2), "{sizes:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        let required =
            format!("required: 3 sizes, numbers from 1, or --large; actual: {}\n", sizes.join(" "));
        assert_eq!(message, required);
    }
}

/// Blocks of 128 rows read and write 128 or 64 columns of f32, 64 elements an access.
#[test]
fn matmul_accumulate() {
    let text =
        fragments_wait_twice("matmul_accumulate", &[4 * 2 * 128 * 128 / 64, 6 * 2 * 128 * 64 / 64]);
    assert_eq!(text.matches("stages").count(), 2, "two instances:\n{text}");
}

#[test]
fn flash_attention() {
    let text = run("flash_attention");
    assert_eq!(text.matches("head ").count(), 12, "twelve instances:\n{text}");
}

/// Every choice of the contiguous indices, a narrower tile, `f16`, and FP8; blocks that take tiles over.
#[test]
fn matmul_tcgen05() {
    let text = run("matmul_tcgen05");
    assert_eq!(text.matches(" bf16 128x128").count(), 5, "five of bf16:\n{text}");
    for name in [
        "bf16 128x64",
        " f16 128x128",
        "e4m3 128x128, b",
        "bf16 128x128, tiles taken over",
        "e4m3 128x128, tiles taken over",
    ] {
        assert_eq!(text.matches(name).count(), 1, "one of {name}:\n{text}");
    }
}

/// Both widths of a pair's tile, and FP8.
#[test]
fn matmul_two_cta() {
    let text = run("matmul_two_cta");
    for name in ["bf16 256x128", "bf16 256x256", "e4m3 256x256"] {
        assert_eq!(text.matches(name).count(), 1, "one of {name}:\n{text}");
    }
}

/// Two tiles in every block and swizzle; `cargo run --release --example tcgen05_copy` has all of them. Rows of 32 or 64 bytes wait for
/// banks, which is what narrow swizzles cost.
#[test]
fn tcgen05_copy() {
    for (rows, copies) in [("128", 21), ("256", 9)] {
        let (text, _) = launch("tcgen05_copy", &[rows, "64"]);
        let line = format!("{copies} copies, every bit compared");
        assert!(text.contains(&line), "{rows}, {line}:\n{text}");
    }
}

#[test]
fn tcgen05_copy_replica() {
    let text = run("tcgen05_copy_replica");
    assert_eq!(text.matches("every bit compared").count(), 4, "four tiles:\n{text}");
}

#[test]
fn matmul_accumulate_tcgen05() {
    let text = run("matmul_accumulate_tcgen05");
    assert_eq!(text.matches("stages").count(), 2, "two instances:\n{text}");
}

/// The shared layout of scales is that of tensor memory: rows of 8 or 16 of them wait for banks where a warp stores them.
#[test]
fn matmul_scaled() {
    let (text, _) = launch("matmul_scaled", &[]);
    for name in ["MXFP8", "MXFP4", "NVFP4"] {
        assert_eq!(text.matches(name).count(), 1, "one of {name}:\n{text}");
    }
}

/// Lists that end within a tile, a depth that ends within a step.
#[test]
fn matmul_gather_scatter_tcgen05() {
    let text = run("matmul_gather_scatter_tcgen05");
    assert_eq!(text.matches("stages").count(), 4, "four instances:\n{text}");
}

/// Every filter, at sizes that do not fill the last tiles.
#[test]
fn convolution() {
    let text = run("convolution");
    assert_eq!(text.matches("every sum is right").count(), 5, "{text}");
}

/// One tile of each element type, from every column; `cargo run --release --example gather` has all of them.
#[test]
fn gather() {
    let (text, _) = run_with("gather", &["8", "128"]);
    assert!(text.contains("8 gathers, every bit compared"), "{text}");
}

/// One tile of each element type, to every column; `cargo run --release --example scatter` has all of them.
#[test]
fn scatter() {
    let (text, _) = run_with("scatter", &["8", "128"]);
    assert!(text.contains("6 scatters, every bit of the tensor compared"), "{text}");
}

/// The example compares every element.
#[test]
fn tma_copy() {
    let text = run("tma_copy");
    assert_eq!(text.lines().count(), 3, "{text}");
    // 1024 columns are 16 whole columns of the swizzle; 1000 are not.
    assert!(text.contains("203 x 1024 halves copied, 1 instructions each way"), "{text}");
    assert!(text.contains("203 x 1000 halves copied, 4 instructions each way"), "{text}");
}

/// The example compares every column.
#[test]
fn tma_reduce() {
    let text = run("tma_reduce");
    assert!(text.contains("the sums of 1000 columns of 203 rows"), "{text}");
    assert!(text.contains("the maxima of 1000 columns of 203 rows"), "{text}");
    // One row in the last block, and columns of which rows are 16 bytes long.
    let (text, _) = run_with("tma_reduce", &["65", "132"]);
    assert!(text.contains("the maxima of 132 columns of 65 rows"), "{text}");
}

/// Three ranks in threads, and two in processes as a launcher starts them.
#[test]
fn tensor_parallel() {
    let (text, _) = run_with("tensor_parallel", &["3"]);
    assert_eq!(text.matches("result as required").count(), 3, "{text}");
    assert_eq!(run("tensor_parallel").matches("of 2 on emulator").count(), 2);
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let ranks = ["0", "1"].map(|rank| {
        Command::new(example("tensor_parallel"))
            .env("KILN_DEVICE", "emulator")
            .env("RANK", rank)
            .env("WORLD_SIZE", "2")
            .env("MASTER_ADDR", "127.0.0.1")
            .env("MASTER_PORT", port.to_string())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it was built")
    });
    for (rank, child) in ranks.into_iter().enumerate() {
        let output = child.wait_with_output().expect("it was started");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.starts_with(&format!("rank {rank} of 2 on emulator")), "{text}");
        assert!(text.ends_with("result as required\n"), "{text}");
    }
}

#[test]
fn launch_chain() {
    let text = run("launch_chain");
    // A line that says where, and each of four ways twice.
    assert_eq!(text.lines().count(), 1 + 2 * 4, "{text}");
}

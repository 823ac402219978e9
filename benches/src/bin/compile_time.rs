//! How long the compiler takes for each instance of the kernels of `examples`, phase by phase.
//!
//! `cargo run --release -p benches --bin compile_time [-- --doubling | --cores | FILE..]`
//!
//! `--doubling` compiles kernels that are unrolled twice as far from instance to instance, and says how many times as long each takes:
//! about twice where compile time grows with the size of a kernel and no faster. `--cores` compiles one matmul instance, and twelve of its
//! size, on the cores that the process may use, in wall time.
//!
//! The goal is 12 ms for an instance of a matmul in an optimised compiler, which is what `cargo build` runs where its
//! `build-override` profile says so. Each figure is the median of several compilations in this process, by one thread,
//! in processor time: what else the machine does is not in it. Inside `cargo build` the tokens are rustc's own, which makes reading and
//! writing them somewhat slower, and instances are compiled on all cores.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Mutex,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use kernel_core::{
    Options,
    compile::{Phase, compile_unit_watched},
    diag::Problems,
    host,
    loc::Locations,
    syntax,
};
use proc_macro2::TokenStream;
use rustix::time::{ClockId, clock_gettime};

/// Compilations of each kernel; an odd number has a median.
const ROUNDS: usize = 9;
const PHASES: [Phase; 7] = [
    Phase::Build,
    Phase::Verify,
    Phase::Schedule,
    Phase::Explore,
    Phase::Layouts,
    Phase::Lower,
    Phase::Print,
];

/// A kernel as the macro receives it.
struct Source {
    attr: TokenStream,
    item: syn::ItemFn,
}

/// What one compilation took.
struct Times {
    /// Of the whole kernel: reading its tokens.
    syntax: Duration,
    /// Of the whole kernel: writing the host's items.
    host: Duration,
    /// The instances, and of each the [`PHASES`].
    instances: Vec<(String, [Duration; PHASES.len()])>,
}

/// Kernels whose size doubles from instance to instance: parts of a row in shared memory, products of operands that are stored and read
/// again, products by `wgmma` whose sums are halves, and tensors that are read and written.
const DOUBLED: &str = "
    #[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(P = [4, 8, 16, 32, 64]))]
    fn parts<const P: i32>(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
        let parts = shared::<f16>([P, 1, 512]);
        for i in unroll(0..P) {
            copy_async(x.tile([block_id(0), i * 512], [1, 512]), parts[i]);
        }
        copy_async_wait_all();
        sync();
        let mut sums = zeros::<f32>([1, 512]);
        for i in unroll(0..P) {
            sums += parts[i].load().cast::<f32>();
        }
        let mean = (sums.sum(1) / (x.dim(1) as f32)).expand(1);
        for i in unroll(0..P) {
            let centred = parts[i].load().cast::<f32>() - mean;
            out.tile([block_id(0), i * 512], [1, 512]).store(centred.cast::<f16>());
        }
    }

    #[kernel(target = sm_80, warps = 4, grid = 1, instances(P = [4, 8, 16, 32, 64]))]
    fn products<const P: i32>(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
        let (left, right) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
        let mut acc = zeros::<f32>([64, 64]);
        for k in unroll(0..P) {
            left.store(a.tile([0, k * 32], [64, 32]).load());
            right.store(b.tile([k * 32, 0], [32, 64]).load());
            sync();
            acc = dot(left.load(), right.load(), acc);
            sync();
        }
        c.tile([0, 0], [64, 64]).store(acc);
    }

    #[kernel(target = sm_90a, warps = 4, grid = 1, instances(P = [4, 8, 16, 32, 64]))]
    fn half_sums<const P: i32>(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
        let (left, right) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
        let mut acc = zeros::<f16>([64, 64]);
        for k in unroll(0..P) {
            left.store(a.tile([0, k * 64], [64, 64]).load());
            right.store(b.tile([k * 64, 0], [64, 64]).load());
            sync();
            acc = wgmma::wait(0, wgmma::mma(left, right, acc));
            sync();
        }
        c.tile([0, 0], [64, 64]).store(acc);
    }

    #[kernel(target = sm_80, warps = 4, grid = 1, instances(P = [4, 8, 16, 32, 64]))]
    fn tensors<const P: i32>(x: TensorMut<f32, 1>) {
        for i in unroll(0..P) {
            let before = x.tile([i * 512], [512]).load();
            x.tile([i * 512 + 512], [512]).store(before * 2.0 + 1.0);
        }
    }";

fn main() -> Result<()> {
    let given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if given == [Path::new("--cores")] {
        return cores();
    }
    let heads = ["build", "verify", "schedule", "explore", "layouts", "lower", "print", "total"];
    let heads: Vec<String> = heads.iter().map(|head| format!("{head:>10}")).collect();
    println!("{:<44}{}   ms, medians of {ROUNDS}", "instance", heads.concat());
    if given == [Path::new("--doubling")] {
        for source in kernels(DOUBLED)? {
            report(&source)?;
            println!("{}", growth(&source)?);
        }
        return Ok(());
    }
    let files = if given.is_empty() { examples()? } else { given };
    let mut totals = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        for source in kernels(&text).with_context(|| file.display().to_string())? {
            if needs_other_crates(&source) {
                println!(
                    "{}: left out, it calls functions of another crate",
                    source.item.sig.ident
                );
                continue;
            }
            totals.extend(report(&source)?);
        }
    }
    ensure!(!totals.is_empty(), "no file has a kernel");
    let worst = totals.iter().copied().fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a mean of a few instances")]
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    println!("{} instances: {mean:.2} ms each, the slowest {worst:.2} ms", totals.len());
    Ok(())
}

/// The programs of `examples`, in the order of their names.
fn examples() -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The functions marked `#[kernel(..)]`.
fn kernels(text: &str) -> Result<Vec<Source>> {
    let is_kernel = |attr: &syn::Attribute| attr.path().is_ident("kernel");
    let mut out = Vec::new();
    for item in syn::parse_file(text)?.items {
        if let syn::Item::Fn(mut item) = item
            && let Some(at) = item.attrs.iter().position(is_kernel)
        {
            let attr = match item.attrs.remove(at).meta {
                syn::Meta::List(list) => list.tokens,
                syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
            };
            out.push(Source { attr, item });
        }
    }
    Ok(out)
}

/// A kernel with `#[device]` functions of another crate is compiled when rustc brings them, which is not here.
fn needs_other_crates(source: &Source) -> bool {
    let locations = Locations::new(source.item.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(source.attr.clone(), &source.item, &locations, &mut problems);
    !syntax::free::of_kernel(&unit, &unit.kernels[0]).paths.is_empty()
}

/// The processor time that this thread has taken.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |part: i64| u64::try_from(part).expect("a thread has taken no less than nothing");
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// Compiles a kernel once.
fn measure(source: &Source) -> Result<Times> {
    let mut problems = Problems::new();
    let start = now();
    let locations = Locations::new(source.item.sig.ident.span());
    let unit = syntax::parse_function(source.attr.clone(), &source.item, &locations, &mut problems);
    let syntax = now().saturating_sub(start);

    // One thread compiles instance after instance.
    let ended = Mutex::new((now(), BTreeMap::<usize, [Duration; PHASES.len()]>::new()));
    let watch = |row, phase| {
        let (last, sums) = &mut *ended.lock().expect("nobody panics here");
        let index = PHASES.iter().position(|other| *other == phase).expect("the list has it");
        sums.entry(row).or_default()[index] += now().saturating_sub(*last);
        *last = now();
    };
    let (options, mut dumps) = (Options::default(), Vec::new());
    let compiled =
        compile_unit_watched(&unit, &locations, &mut problems, options, &mut dumps, &watch);
    let name = &source.item.sig.ident;
    if let Some(problem) = problems.iter().next() {
        bail!("`{name}` does not compile: {}", problem.headline);
    }

    let start = now();
    let items = host::kernel_items(
        &source.item,
        &unit.kernels[0],
        &locations,
        host::Outcome::Compiled(&compiled[0]),
    );
    let host = now().saturating_sub(start);
    drop(items);
    let names = compiled[0].iter().map(|one| one.instance.describe());
    let sums = ended.into_inner().expect("nobody panics there").1.into_values();
    Ok(Times { syntax, host, instances: names.zip(sums).collect() })
}

/// Measures a kernel, prints its table, and gives the milliseconds of each instance with its share of what is done
/// once for all of them.
fn report(source: &Source) -> Result<Vec<f64>> {
    let rounds: Vec<Times> = (0..ROUNDS).map(|_| measure(source)).collect::<Result<_>>()?;
    let name = &source.item.sig.ident;
    let syntax = median(rounds.iter().map(|times| times.syntax));
    let host = median(rounds.iter().map(|times| times.host));
    let count = rounds[0].instances.len();
    #[expect(clippy::cast_precision_loss, reason = "a kernel has few instances")]
    let share = (syntax + host) / count as f64;
    let mut totals = Vec::new();
    for index in 0..count {
        let each = || rounds.iter().map(|times| times.instances[index].1);
        let cells = (0..PHASES.len()).map(|phase| median(each().map(|times| times[phase])));
        let total = median(each().map(|times| times.iter().sum())) + share;
        let cells: Vec<String> = cells.chain([total]).map(|ms| format!("{ms:>10.3}")).collect();
        println!("{:<44}{}", format!("{name} {}", rounds[0].instances[index].0), cells.concat());
        totals.push(total);
    }
    println!(
        "{name}: {syntax:.3} ms for its syntax and {host:.3} ms for the host's items, shared by {count}"
    );
    Ok(totals)
}

/// How many times as long each instance takes as the one before, without what is done once for all of them. Of several rounds the
/// quickest counts: it is the one that was interrupted least.
fn growth(source: &Source) -> Result<String> {
    let rounds: Vec<Times> = (0..ROUNDS).map(|_| measure(source)).collect::<Result<_>>()?;
    let least = |index: usize| {
        let each = rounds.iter().map(|times| times.instances[index].1.iter().sum::<Duration>());
        each.min().unwrap_or_default().as_secs_f64()
    };
    let least: Vec<f64> = (0..rounds[0].instances.len()).map(least).collect();
    let times: Vec<String> =
        least.windows(2).map(|pair| format!("{:.2}", pair[1] / pair[0])).collect();
    Ok(format!(
        "{}: twice the size takes {} times as long",
        source.item.sig.ident,
        times.join(", ")
    ))
}

/// Compiles the kernel of `matmul_pipelined` with one instance and with twelve of the same size, as the macro does.
fn cores() -> Result<()> {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/matmul_pipelined.rs"),
    )?;
    let matmul = kernels(&text)?.into_iter().find(|source| source.item.sig.ident == "matmul");
    let item = matmul.context("the example has the kernel `matmul`")?.item;
    let mut medians = Vec::new();
    for count in [1, 12] {
        // More stages than fit are as many as fit, so that all instances have the same work.
        let instances: Vec<String> =
            (0..count).map(|more| format!("(128, 128, 64, {}, 4)", 8 + more)).collect();
        let attr = format!(
            "target = sm_80, warps = W, grid = 1, instances((BM, BN, BK, STAGES, W) = [{}])",
            instances.join(", ")
        );
        let attr: TokenStream = attr.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
        let times = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            let options = Options {
                threads: std::thread::available_parallelism().ok(),
                ..Options::default()
            };
            let output = kernel_core::compile_function(
                attr.clone(),
                &item,
                &kernel_core::Surroundings::default(),
                options,
            );
            let time = start.elapsed();
            drop(output);
            time
        });
        medians.push(median(times));
    }
    println!(
        "on {} cores: one instance {:.2} ms, twelve {:.2} ms: {:.2} times as long",
        std::thread::available_parallelism()?,
        medians[0],
        medians[1],
        medians[1] / medians[0]
    );
    Ok(())
}

/// In milliseconds.
fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_measured_or_left_out_by_name() {
        let (mut measured, mut left_out) = (Vec::new(), Vec::new());
        for file in examples().expect("the folder is there") {
            let text = std::fs::read_to_string(&file).expect("it is readable");
            for source in kernels(&text).expect("it is Rust") {
                let name = source.item.sig.ident.to_string();
                if needs_other_crates(&source) {
                    left_out.push(name);
                } else {
                    measure(&source).expect(&name);
                    measured.push(name);
                }
            }
        }
        assert!(measured.iter().any(|name| name == "matmul"), "{measured:?}");
        assert_eq!(left_out, ["gate", "attention_specialized", "accumulate", "fused"]);
    }

    #[test]
    fn kernels_that_double_compile() {
        let sources = kernels(DOUBLED).expect("they are Rust");
        for source in &sources {
            let times = measure(source).expect("it compiles");
            assert_eq!(times.instances.len(), 5, "each is doubled four times");
        }
    }

    #[test]
    fn every_phase_of_every_instance_is_measured() {
        let text = "
            #[kernel(target = sm_80, warps = 1, grid = 1, instances(N = [32, 64]))]
            fn copy<const N: i32>(a: Tensor<f32, 1>, b: TensorMut<f32, 1>) {
                b.tile([0], [N]).store(a.tile([0], [N]).load());
            }";
        let sources = kernels(text).expect("it is Rust");
        let times = measure(&sources[0]).expect("it compiles");
        let names: Vec<&str> = times.instances.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["N = 32", "N = 64"]);
        for (name, phases) in &times.instances {
            for (phase, time) in PHASES.iter().zip(phases) {
                assert!(*time > Duration::ZERO, "{name}: {phase:?}");
            }
        }
    }
}

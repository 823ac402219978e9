//! What is compiled, and what is said, does not depend on how many threads do it.

use std::num::NonZero;

use kernel_core::{Cubin, Options, Surroundings, compile_function, compile_module};

/// What the compiler gives.
#[derive(Debug, PartialEq)]
struct Given {
    tokens: String,
    dumps: Vec<(String, String)>,
    failures: Vec<String>,
}

fn given(source: &str, threads: Option<NonZero<usize>>) -> Given {
    let options = Options { dump: true, assemble: Some(assemble), threads, clock: None };
    let output = if let Ok(mut function) = syn::parse_str::<syn::ItemFn>(source) {
        let attr = function.attrs.remove(0).meta;
        let attr = attr.require_list().expect("arguments").tokens.clone();
        compile_function(attr, &function, &Surroundings::default(), options)
    } else {
        let mut module: syn::ItemMod = syn::parse_str(source).expect("the source is Rust");
        module.attrs.clear();
        compile_module(&quote::quote!(), &module, &Surroundings::default(), options)
    };
    let tokens = output.tokens.to_string();
    Given { tokens, dumps: output.dumps, failures: output.failures }
}

/// What the compiler gives with one thread, and with several.
fn alike(source: &str) -> Given {
    // The reader of Rust numbers the texts that a thread has read, and that number is in the names of dumps.
    let fresh = |threads| {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(8 << 20);
            let thread = thread.spawn_scoped(scope, || given(source, threads));
            thread.expect("a thread starts").join().expect("the compiler does not panic")
        })
    };
    let alone = fresh(None);
    for threads in [2, 3, 16] {
        assert_eq!(fresh(NonZero::new(threads)), alone, "{threads} threads");
    }
    alone
}

/// Fails for one of the targets, with the first words of an instance.
fn assemble(ptx: &str, target: &str) -> Result<Vec<Cubin>, String> {
    if target == "sm_80" {
        let bytes = ptx.as_bytes().to_vec();
        return Ok(vec![Cubin { architecture: target.to_owned(), bytes }]);
    }
    Err(format!("{target}: {} bytes are too many", ptx.len()))
}

/// How often a text has another one.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn images_dumps_and_failures_are_in_the_order_of_the_text() {
    let given = alike(
        "#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(N = [128, 256, 512], W = [1, 2, 4]))]
        fn scale<const N: i32, const W: i32>(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
            y.tile([0], [N]).store(x.tile([0], [N]).load() * 2.0);
        }",
    );
    let names: Vec<&str> = given.dumps.iter().map(|(name, _)| name.as_str()).collect();
    let at = |part: &str| names.iter().position(|name| name.contains(part)).expect(part);
    assert!(at(".ast") < at("N=128-W=1-sm_80"));
    assert!(at("N=128-W=1-sm_80") < at("N=128-W=1-sm_90a"));
    assert!(at("N=128-W=1-sm_90a") < at("N=128-W=2-sm_80"));
    assert!(at("N=256-W=4-sm_90a") < at("N=512-W=1-sm_80"));
    assert!(
        given.failures.len() > 3 && given.failures.iter().all(|one| one.starts_with("sm_90a: "))
    );
}

#[test]
fn a_clock_gives_the_time_of_each_phase() {
    use std::sync::atomic::{AtomicU64, Ordering};

    static CALLS: AtomicU64 = AtomicU64::new(0);
    let clock = || CALLS.fetch_add(1, Ordering::Relaxed);
    let options = Options { dump: true, clock: Some(clock), ..Options::default() };
    let source = "fn copy(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
        y.tile([0], [64]).store(x.tile([0], [64]).load());
    }";
    let function = syn::parse_str(source).expect("the source is Rust");
    let attr = quote::quote!(target = sm_80, warps = 1, grid = 1);
    let output = compile_function(attr, &function, &Surroundings::default(), options);
    let stage = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let of = |wanted: &str| {
        let all = output.dumps.iter().filter(|(name, _)| stage(name).as_deref() == Some(wanted));
        all.collect::<Vec<_>>()
    };
    let (times, variants) = (of("times"), of("ptx").len());
    assert_eq!(times.len(), variants);
    for (name, text) in times {
        let lines = text.lines().map(|line| line.split_once(' ').expect("a name and a number"));
        let phases: Vec<&str> = lines.clone().map(|(phase, _)| phase).collect();
        let all = ["build", "verify", "schedule", "explore", "layouts", "lower", "print"];
        assert_eq!(phases, all, "{name}");
        // Each phase reads the clock once; the invariants hold after building and after layouts.
        for (phase, time) in lines {
            let required = if phase == "verify" { "2" } else { "1" };
            assert_eq!(time, required, "{name}: {phase}");
        }
    }
}

#[test]
fn what_is_wrong_with_some_instances_is_said_of_those() {
    let given = alike(
        "#[kernel(target = sm_80, warps = 1, grid = 1, instances(N = [32, 48, 64, 96, 128]))]
        fn copy<const N: i32>(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
            y.tile([0], [N]).store(x.tile([0], [N]).load());
        }",
    );
    let said = &given.tokens;
    assert!(said.contains("`N` = 48") && !said.contains("`N` = 64"), "{said}");
    assert!(given.failures.is_empty());
}

#[test]
fn what_is_wrong_with_all_is_said_once() {
    let given = alike(
        "#[kernel(target = [sm_80, sm_90a], warps = 1, grid = 1, instances(N = [32, 64, 128], T = [f32, f16]))]
        fn copy<const N: i32, T: Float>(x: Tensor<T, 1>, y: TensorMut<T, 1>) {
            y.tile([0], [N]).store(x.tile([0], [N]).load() + nothing);
            let z = zeros::<f32>([N * 3]);
        }",
    );
    let said = &given.tokens;
    assert_eq!(count(said, "`nothing`"), 1, "{said}");
}

#[test]
fn what_layouts_or_shared_memory_refuse_is_said_in_the_same_order() {
    let given = alike(
        "#[kernel]
        mod kernels {
            #[kernel(target = sm_80, warps = 1, grid = 1, instances(N = [32, 64, 128, 256]))]
            fn large<const N: i32>(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
                let buffer = shared::<f32>([N, 256]);
                buffer.store(x.tile([0, 0], [N, 256]).load());
                sync();
                y.tile([0, 0], [N, 256]).store(buffer.load());
            }
            #[kernel(target = sm_80, warps = 1, grid = 1, instances(N = [32, 64]))]
            fn small<const N: i32>(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
                let tile = x.tile([0], [N]).load();
                y.tile([0], [N]).store(tile.to_layout(blocked([1], [32], [2], [0])));
            }
        }",
    );
    let said = &given.tokens;
    assert!(count(said, "compile_error") >= 2, "{said}");
}

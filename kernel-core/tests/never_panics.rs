//! Whatever is written under `#[kernel]`, the compiler answers with items or with diagnostics: it never panics.
//!
//! Valid kernels are mutated token by token, and bodies are made up from the language's own words. All of it
//! is seeded. `KILN_FUZZ_TURNS=1000000 KILN_FUZZ_SEED=7 cargo test -p kiln-gpu-core --test never_panics` runs
//! longer, on other inputs; `KILN_FUZZ_FIRST=59656 KILN_FUZZ_TURNS=1` repeats one.

#[path = "never_panics/blackwell.rs"]
mod blackwell;
#[path = "never_panics/grammar.rs"]
mod grammar;
#[path = "never_panics/hopper.rs"]
mod hopper;
#[path = "never_panics/mutate.rs"]
mod mutate;
#[path = "never_panics/random.rs"]
mod random;

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

use kernel_core::{Options, Output, Surroundings, compile_function, compile_module, diag::Code};
use proc_macro2::TokenStream;
use quote::ToTokens as _;
use random::Random;

/// Kernels beside those of the error pages: structs, methods, traits, loops left early, pointers, products.
const KERNELS: &str = include_str!("never_panics/kernels.rs");

/// As much stack as rustc gives the thread that runs procedural macros, on the platforms that give least.
const STACK_BYTES: usize = 8 << 20;

/// What became of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Items.
    Compiled,
    /// Messages.
    Refused,
    /// It is no item.
    Nothing,
}

/// Compiles what the tokens hold: a function or a module with its `#[kernel]` attribute, if they hold one.
fn compile(tokens: TokenStream) -> Answer {
    let is_kernel = |attr: &syn::Attribute| attr.path().is_ident("kernel");
    match syn::parse2::<syn::Item>(tokens) {
        Ok(syn::Item::Fn(mut function)) => {
            let attr =
                function.attrs.iter().position(is_kernel).map(|at| function.attrs.remove(at));
            let attr = match attr.map(|attr| attr.meta) {
                Some(syn::Meta::List(list)) => list.tokens,
                _ => TokenStream::new(),
            };
            understood(&compile_function(
                attr,
                &function,
                &Surroundings::default(),
                Options::default(),
            ))
        }
        Ok(syn::Item::Mod(mut module)) => {
            module.attrs.retain(|attr| !is_kernel(attr));
            understood(&compile_module(
                &TokenStream::new(),
                &module,
                &Surroundings::default(),
                Options::default(),
            ))
        }
        _ => Answer::Nothing,
    }
}

/// The compiler must not blame itself either.
fn understood(output: &Output) -> Answer {
    let text = output.tokens.to_string();
    let bug = text.find("[K9999]").map(|at| text[at..].chars().take(400).collect::<String>());
    assert!(bug.is_none(), "a bug of the compiler: {}", bug.unwrap_or_default());
    if text.contains("compile_error") { Answer::Refused } else { Answer::Compiled }
}

/// Every kernel to start from, `#[kernel]` attribute included.
fn seeds() -> Vec<TokenStream> {
    let mut texts = vec![KERNELS.to_owned()];
    for code in Code::ALL {
        let fences = code.page().split("```rust\n").skip(1);
        texts.extend(fences.filter_map(|text| text.split("\n```").next()).map(str::to_owned));
    }
    let mut out = Vec::new();
    for text in texts {
        let file: syn::File = syn::parse_str(&text).expect("the seeds are Rust");
        for item in file.items {
            if matches!(item, syn::Item::Fn(_) | syn::Item::Mod(_)) {
                out.push(item.into_token_stream());
            }
        }
    }
    out
}

/// Runs the inputs of `turns`; on a panic, fails with the input. Gives how many of them compile.
fn run(
    turns: Range<u64>,
    seed: u64,
    input: impl Fn(u64, &mut Random) -> TokenStream + Send + 'static,
) -> u64 {
    let work = move || {
        let (mut compiled, mut items) = (0u64, 0u64);
        let count = turns.end - turns.start;
        for turn in turns {
            let mut random = Random::new(seed.wrapping_mul(0x1_0000_0000).wrapping_add(turn));
            let tokens = input(turn, &mut random);
            let text = tokens.to_string();
            trace(turn, &text);
            let whole = catch_unwind(AssertUnwindSafe(|| compile(tokens)));
            assert!(
                whole.is_ok(),
                "the compiler panicked (see above) in turn {turn} of seed {seed}:\n{text}"
            );
            compiled += u64::from(matches!(whole, Ok(Answer::Compiled)));
            items += u64::from(!matches!(whole, Ok(Answer::Nothing)));
        }
        // Inputs that are not even items test nothing.
        assert!(items * 4 > count, "only {items} of {count} inputs are items");
        compiled
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    match thread.expect("a thread starts").join() {
        Ok(compiled) => compiled,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[test]
fn on_mutated_kernels() {
    let seeds: Vec<String> = seeds().iter().map(ToString::to_string).collect();
    let (turns, seed) = turns_and_seed();
    run(turns, seed, move |_, random| {
        let text = &seeds[random.below(seeds.len())];
        let donor = &seeds[random.below(seeds.len())];
        let parse = |text: &str| text.parse::<TokenStream>().expect("the seeds are tokens");
        mutate::mutate(&parse(text), &parse(donor), random)
    });
}

#[test]
fn on_made_up_kernels() {
    let (turns, seed) = turns_and_seed();
    run(turns, seed, |_, random| {
        grammar::kernel(random).parse().expect("the grammar makes tokens")
    });
}

#[test]
fn on_made_up_kernels_of_hopper() {
    let (turns, seed) = turns_and_seed();
    let count = turns.end - turns.start;
    let compiled = run(turns, seed, |_, random| {
        hopper::kernel(random).parse().expect("the grammar makes tokens")
    });
    // Where none compiles, nothing is lowered.
    assert!(compiled * 50 > count || count < 500, "only {compiled} of {count} kernels compile");
}

#[test]
fn on_made_up_kernels_of_blackwell() {
    let (turns, seed) = turns_and_seed();
    let count = turns.end - turns.start;
    let compiled = run(turns, seed, |_, random| {
        blackwell::kernel(random).parse().expect("the grammar makes tokens")
    });
    // Where none compiles, nothing is lowered.
    assert!(compiled * 50 > count || count < 500, "only {compiled} of {count} kernels compile");
}

#[test]
fn on_deep_loops_around_what_other_threads_see() {
    const INNER: &str =
        "bar.expect(16384); tma::load(x, [0, 0], bar, tile); bar.wait(0); tile.store(tile.load());";
    let loops = |target: &str, tail: &str| {
        let (before, after) = ("for _ in 0..n { ".repeat(40), " }".repeat(40));
        format!(
            "#[kernel(target = {target}, warps = 4)] pub fn deep(#[block(128, 64)] x: TensorMap<f16, 2>, n: i32) {{
                 let (tile, bar) = (shared::<f16>([128, 64]), barrier(1)); {tail} }}",
            tail = tail.replace("{loops}", &before).replace("{ends}", &after)
        )
    };
    let texts = [
        loops(
            "sm_90a",
            &format!(
                "{{loops}} {INNER} wgmma::wait(0, wgmma::mma(tile, tile.t(), zeros::<f32>([128, 128]))); {{ends}}"
            ),
        ),
        loops(
            "sm_100a",
            &format!(
                "let acc = tmem::<f32>([128, 128]); {{loops}} {INNER} tcgen05::mma(tile, tile.t(), acc); tcgen05::commit(bar); bar.wait(1); acc.load(); {{ends}}"
            ),
        ),
    ];
    run(0..2, 0, move |turn, _| {
        texts[usize::try_from(turn).expect("two")].parse().expect("the kernels are tokens")
    });
}

#[test]
fn on_deep_nesting() {
    // Functions that call one another, with what surrounds each call nested as well.
    let chain = |before: &str, after: &str, depth: usize| {
        let (before, after) = (before.repeat(depth), after.repeat(depth));
        let function = |inner: usize| {
            let outer = inner + 1;
            format!("fn f{outer}(x: i32) -> i32 {{ {before}f{inner}(x){after} }}")
        };
        let functions: Vec<String> = (0..63).map(function).collect();
        format!("fn f0(x: i32) -> i32 {{ x }} {} let y = f63(n);", functions.join(" "))
    };
    let nested = |before: &str, after: &str, depth: usize| {
        format!("let y = {}1{};", before.repeat(depth), after.repeat(depth))
    };
    let mut bodies = vec![
        chain("(", ")", 90),
        chain("1 + (", ")", 80),
        chain("if x > 0 { ", " } else { 2 }", 40),
        chain("loop { break ", " }", 40),
        chain("{ for _ in 0..x { ", "; } 1 }", 20),
        chain("x.max(", ")", 40),
        chain("(|| ", ")()", 20),
        format!("let y = n{};", " + 1".repeat(500)),
        format!("let y = n{};", ".abs()".repeat(500)),
        format!("let y = {}n;", "-".repeat(500)),
    ];
    for depth in [40, 90, 120] {
        bodies.push(nested("(", ")", depth));
        bodies.push(nested("{ ", " }", depth));
        bodies.push(nested("if n > 0 { ", " } else { 2 }", depth));
        bodies.push(nested("[", "]", depth));
        bodies.push(nested("(", ",)", depth));
        bodies.push(nested("(|| ", ")()", depth));
        bodies.push(nested("{ for _ in 0..n { ", "; } 1 }", depth));
        bodies.push(nested("loop { break ", " }", depth));
        bodies.push(nested("{ fn g() -> i32 { ", " } g() }", depth));
        bodies.push(nested("n.max(", ")", depth));
    }
    let turns = u64::try_from(bodies.len()).expect("a few");
    run(0..turns, 0, move |turn, _| {
        let body = &bodies[usize::try_from(turn).expect("a few")];
        let text = format!("#[kernel(target = sm_80, warps = 4)] pub fn deep(n: i32) {{ {body} }}");
        text.parse().expect("the bodies are tokens")
    });
}

/// Variables that long unrolled loops leave behind do not make each branch, loop and look after them slower.
#[test]
fn on_long_loops() {
    let bodies = [
        // What is not compiled: nothing of it is known, and it is looked at for its own problems.
        "for i in nothing { for i in [i; 2048] { for j in unroll(0..8) { if i { let v = j; } else { let v = 1; } } } }",
        "for i in [nothing; 2048] { for j in i { let v = j; let w = v; } }",
        "for i in unroll(0..2048) { let v = async { i }; let w = async { v }; }",
        // A name that may be a device item's.
        "for i in unroll(0..2048) { let v = nowhere(i); let w = i; if n > w { let u = v; } }",
        // What is compiled.
        "for i in unroll(0..2048) { for j in 0..n { let v = j; } let v = i; let w = v; }",
        "for i in unroll(0..2048) { let v = if n > i { i } else { n }; let w = v; }",
    ];
    run(0..6, 0, move |turn, _| {
        let body = bodies[usize::try_from(turn).expect("a few")];
        let text = format!("#[kernel(target = sm_80, warps = 4)] pub fn long(n: i32) {{ {body} }}");
        text.parse().expect("the bodies are tokens")
    });
}

/// The inputs to try, and what they are made from.
fn turns_and_seed() -> (Range<u64>, u64) {
    let first = setting("KILN_FUZZ_FIRST", 0);
    (first..first + setting("KILN_FUZZ_TURNS", 3000), setting("KILN_FUZZ_SEED", 1))
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests may read the environment; the compiler may not"
)]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// With `KILN_FUZZ_TRACE=FILE` the input is written there before it is compiled: what is left after a crash or
/// a hang that no test can catch.
#[expect(clippy::disallowed_methods, reason = "tests may use files; the compiler may not")]
fn trace(turn: u64, text: &str) {
    if let Ok(path) = std::env::var("KILN_FUZZ_TRACE") {
        std::fs::write(path, format!("// turn {turn}\n{text}\n"))
            .expect("the trace can be written");
    }
}

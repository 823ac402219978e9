//! Synchronising instructions that order nothing, and their twins that order something, counted in the PTX.

use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};
use proc_macro2::TokenStream;
use quote::quote;

/// The instructions of a variant of a kernel, one a line.
#[track_caller]
fn compiled(attributes: TokenStream, parameters: &str, body: &str, variant: &str) -> Vec<String> {
    let function: syn::ItemFn =
        syn::parse_str(&format!("fn k({parameters}) {{ {body} }}")).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attributes, &function, &locations, &mut problems);
    let mut dumps = Vec::new();
    let options = Options { dump: true, ..Options::default() };
    compile_unit(&unit, &locations, &mut problems, options, &mut dumps);
    let said: Vec<&str> = problems.iter().map(|one| one.headline.as_str()).collect();
    assert_eq!(said, Vec::<&str>::new(), "{body}");
    let ending = format!("{variant}.ptx");
    let (_, ptx) = dumps.iter().find(|(name, _)| name.ends_with(&ending)).expect("compiled");
    ptx.lines().map(|line| line.trim_start().to_owned()).collect()
}

/// How many instructions begin like this, with a guard or without.
fn count(ptx: &[String], instruction: &str) -> usize {
    let unguarded = |line: &String| match line.split_once(' ') {
        Some((guard, rest)) if guard.starts_with('@') => rest.starts_with(instruction),
        _ => line.starts_with(instruction),
    };
    ptx.iter().filter(|line| unguarded(line)).count()
}

/// How often the threads of a block of four warps meet.
#[track_caller]
fn barriers(parameters: &str, body: &str) -> usize {
    let ptx = compiled(quote!(target = sm_90a, warps = 4), parameters, body, "general");
    count(&ptx, "bar.sync")
}

const TENSORS: &str = "x: Tensor<f32, 2>, y: TensorMut<f32, 2>, z: TensorMut<f32, 2>, p: Ptr<f32>";

#[test]
fn a_barrier_between_accesses_of_different_memory_goes() {
    let with = |before: &str, behind: &str| {
        let body = format!(
            "let s = shared::<f32>([64, 64]);
             let mut v = zeros::<f32>([64, 64]);
             {before} sync(); {behind}
             y.tile([128, 0], [64, 64]).store(v);"
        );
        barriers(TENSORS, &body)
    };
    let store = "s.store(zeros([64, 64]));";
    let load = "v += s.load();";
    assert_eq!(with(store, load), 1);
    assert_eq!(with(load, store), 1);
    assert_eq!(with(load, load), 0);
    assert_eq!(with(store, ""), 0);
    assert_eq!(with("", load), 0);
    // Tensors: two of them are two memories, and what is only read is never in the way.
    assert_eq!(with("z.tile([0, 0], [64, 64]).store(v);", ""), 0);
    assert_eq!(with("v += y.tile([0, 0], [64, 64]).load();", ""), 1);
    assert_eq!(with("v += x.tile([0, 0], [64, 64]).load();", ""), 0);
    // A pointer may point into any of them.
    assert_eq!(with("store(p + arange(0, 128), zeros([128]));", ""), 1);
    assert_eq!(with("v += load(p);", ""), 1);
    // Nothing is known of a signal.
    assert_eq!(with("atomic::add(p, 1.0);", ""), 1);
    assert_eq!(with("atomic::add(p, 1.0);", "sync();"), 1);
}

#[test]
fn accesses_of_all_paths_count() {
    let with = |statement: &str| {
        let body = format!(
            "let s = shared::<f32>([64, 64]);
             let mut v = zeros::<f32>([64, 64]);
             for i in range(0, x.dim(0), 64) {{
                 if i > 64 {{ {statement} }}
                 sync();
             }}
             v += s.load();
             y.tile([0, 0], [64, 64]).store(v);"
        );
        barriers(TENSORS, &body)
    };
    assert_eq!(with("s.store(zeros([64, 64]));"), 1);
    assert_eq!(with("v += x.tile([i, 0], [64, 64]).load();"), 0);
    // The same tensor, at another place each time: nothing is known of that.
    assert_eq!(with("z.tile([i, 0], [64, 64]).store(v);"), 1);
    // The iteration before has read what this one writes.
    let turns = "let s = shared::<f32>([64, 64]);
         let mut v = zeros::<f32>([64, 64]);
         for i in range(0, x.dim(0), 64) {
             s.store(x.tile([i, 0], [64, 64]).load());
             sync();
             v += s.load();
             sync();
         }
         sync();
         y.tile([0, 0], [64, 64]).store(v);";
    assert_eq!(barriers(TENSORS, turns), 2);
}

#[test]
fn a_barrier_stays_that_a_thread_needs_before_it_acts_for_all() {
    let parameters =
        "#[block(64, 64)] m: TensorMapMut<f32, 2>, #[block(64, 64)] n: TensorMap<f32, 2>";
    let with = |end: &str| {
        let body = format!(
            "let s = shared::<f32>([64, 64]);
             s.store(zeros([64, 64]));
             fence_async();
             sync();
             tma::store(m, [0, 0], s);
             tma::store_wait(0);
             {end}"
        );
        let ptx = compiled(quote!(target = sm_90a, warps = 4), parameters, &body, "general");
        [count(&ptx, "bar.sync"), count(&ptx, "fence.proxy.async")]
    };
    // The fence comes with a barrier, so that the one behind it is beside another; the end of the kernel needs none.
    assert_eq!(with(""), [1, 1]);
    // The copy has to have read what is overwritten.
    let again = "s.store(zeros([64, 64])); fence_async(); sync(); tma::store(m, [64, 0], s); tma::store_wait(0);";
    assert_eq!(with(again), [3, 2]);
    // Nothing reads asynchronously behind it.
    assert_eq!(with("s.store(zeros([64, 64])); fence_async();"), [2, 1]);
}

#[test]
fn one_warp_needs_no_barrier_of_the_block() {
    let body = "let s = shared::<f32>([64, 64]);
         s.store(x.tile([0, 0], [64, 64]).load());
         sync();
         y.tile([0, 0], [64, 64]).store(s.load());";
    let with = |warps: i32| {
        let attributes = quote!(target = sm_80, warps = #warps);
        let ptx = compiled(attributes, "x: Tensor<f32, 2>, y: TensorMut<f32, 2>", body, "general");
        [count(&ptx, "bar.sync"), count(&ptx, "bar.warp.sync")]
    };
    assert_eq!(with(1), [0, 1]);
    assert_eq!(with(2), [1, 0]);
}

#[test]
fn waits_for_cp_async_are_where_it_copies() {
    let with = |element: &str, variant: &str| {
        let parameters = format!("x: Tensor<{element}, 2>, y: TensorMut<{element}, 2>");
        let body = format!(
            "let s = shared::<{element}>([64, 64]);
             copy_async(x.tile([0, 0], [64, 64]), s);
             copy_async_commit();
             copy_async_wait(0);
             copy_async_wait_all();
             sync();
             y.tile([0, 0], [64, 64]).store(s.load());"
        );
        let attributes = quote!(target = sm_80, warps = 4);
        let ptx = compiled(attributes, &parameters, &body, variant);
        ["cp.async.c", "cp.async.commit_group", "cp.async.wait"].map(|begin| count(&ptx, begin))
    };
    // `cp.async.c` begins copies and the end of a group.
    let [copies, groups, waits] = with("f16", "aligned");
    assert!(copies > groups);
    assert_eq!([groups, waits], [1, 1]);
    // Elements of two bytes at any address are ordinary loads and stores.
    assert_eq!(with("f16", "general"), [0, 0, 0]);
}

#[test]
fn copies_that_are_waited_for_together_are_one_bulk_group() {
    let parameters = "#[block(64, 64)] m: TensorMapMut<f32, 2>";
    let with = |between: &str, wait: i32| {
        let body = format!(
            "let s = shared::<f32>([64, 64]);
             s.store(zeros([64, 64]));
             tma::store(m, [0, 0], s);
             {between}
             tma::store(m, [64, 0], s);
             tma::store_wait({wait});
             tma::store_wait(0);"
        );
        let ptx = compiled(quote!(target = sm_90a, warps = 4), parameters, &body, "general");
        count(&ptx, "cp.async.bulk.commit_group")
    };
    assert_eq!(with("", 0), 1);
    assert_eq!(with("tma::store_wait(0);", 0), 2);
    // A wait for all but one counts them.
    assert_eq!(with("", 1), 2);
}

#[test]
fn a_cluster_meets_once_where_nothing_is_between() {
    let parameters = "#[block(64, 64)] m: TensorMap<f32, 2>, y: TensorMut<f32, 2>";
    let with = |between: &str| {
        let body = format!(
            "let s = shared::<f32>([64, 64]);
             let full = barrier(1);
             let rank = cluster::rank();
             cluster::sync();
             full.expect(s.bytes());
             tma::load(m, [0, 0], full, s).multicast(3).when(rank == 0);
             full.wait(0);
             {between}
             cluster::sync();
             y.tile([rank * 64, 0], [64, 64]).store(s.load());
             cluster::sync();"
        );
        let attributes = quote!(target = sm_90a, warps = 4, cluster = 2);
        let ptx = compiled(attributes, parameters, &body, "general");
        ["arrive", "wait"].map(|word| count(&ptx, &format!("barrier.cluster.{word}")))
    };
    // What makes the barriers known is beside the first one.
    assert_eq!(with(""), [3, 3]);
    assert_eq!(with("cluster::sync();"), [3, 3]);
    assert_eq!(with("cluster::sync(); s.store(zeros([64, 64]));"), [4, 4]);
}

#[test]
fn one_wait_serves_stores_to_different_columns() {
    let with = |second: &str| {
        let body = format!(
            "let held = tmem::<f32>([2, 128, 64]);
             let v = y.tile([0, 0], [128, 64]).load();
             held[0].store(v);
             {second}.store(v);
             y.tile([0, 0], [128, 64]).store(held[1].load());"
        );
        let attributes = quote!(target = sm_100a, warps = 4);
        let ptx = compiled(attributes, "y: TensorMut<f32, 2>, at: i32", &body, "general");
        count(&ptx, "tcgen05.wait::st")
    };
    assert_eq!(with("held[1]"), 1);
    assert_eq!(with("held[0]"), 2);
    // It may be either.
    assert_eq!(with("held[at]"), 2);
}

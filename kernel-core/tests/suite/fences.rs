//! Barriers and proxy fences that the compiler puts between accesses, counted in the PTX.

use crate::fragment::Fragment;

/// The PTX of a kernel, for tensors of any alignment.
#[track_caller]
fn compiled(parameters: &str, body: &str) -> String {
    let function: syn::ItemFn =
        syn::parse_str(&format!("fn k({parameters}) {{ {body} }}")).expect("the source is Rust");
    let attributes = quote::quote!(target = sm_90a, warps = 4);
    Fragment::of(attributes, &function).stage("general.ptx").to_owned()
}

/// How often an instruction stands in it.
#[track_caller]
fn count(parameters: &str, body: &str, instruction: &str) -> usize {
    let ptx = compiled(parameters, body);
    ptx.lines().filter(|line| line.trim_start().starts_with(instruction)).count()
}

#[test]
fn a_loop_inside_does_not_hide_what_the_loop_around_it_makes_anew() {
    // The windows of two iterations overlap by half: `at` is another number each time.
    // That another tensor is written in front of the loop has the solver ask of the inner loop first.
    let parameters =
        "t: TensorMut<f32, 1>, other: TensorMut<f32, 1>, flag: Ptr<i32>, next: Ptr<i32>, n: i32";
    let with = |first: &str| {
        format!(
            "other.tile([0], [128]).store(zeros([128]));
             loop {{
                 {first}
                 let at = atomic::add(next, 64);
                 if at >= n {{ break; }}
                 let x = t.tile([at], [128]).load();
                 t.tile([at], [128]).store(x + 1.0);
             }}"
        )
    };
    let spin = "loop { if load(flag) != 0 { break; } }";
    let plain = count(parameters, &with(""), "bar.sync");
    assert!(plain > 0);
    assert_eq!(count(parameters, &with(spin), "bar.sync"), plain);
}

#[test]
fn a_fence_in_front_of_the_wait_does_not_order_what_cp_async_writes() {
    let parameters = "h: Tensor<f16, 2>, #[block(64, 64)] m: TensorMapMut<f16, 2>";
    let with = |between: &str| {
        format!(
            "let (s, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
             copy_async(h.tile([0, 0], [64, 64]), s);
             copy_async_commit();
             {between}
             copy_async_wait_all();
             sync();
             tma::store(m, [64, 0], s);
             tma::store_wait(0);"
        )
    };
    assert_eq!(count(parameters, &with(""), "fence.proxy.async"), 1);
    let stored = "b.store(zeros([64, 64])); tma::store(m, [0, 0], b);";
    assert_eq!(count(parameters, &with(stored), "fence.proxy.async"), 2);
}

#[test]
fn a_partition_that_announces_bytes_has_fenced_what_another_one_multiplies() {
    let parameters = "#[block(64, 64)] m: TensorMap<f16, 2>, c: TensorMut<f32, 2>";
    // The partition stores the left operand and starts a copy of the right one; the default part waits for the copy and reads both.
    let with = |told: &str, waited: &str| {
        format!(
            "let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
             let (full, own) = (barrier(1), barrier(1));
             warp_specialize(
                 || {{
                     full.wait(0);
                     {waited}
                     let acc = wgmma::mma(a, b, zeros([64, 64]));
                     c.tile([0, 0], [64, 64]).store(wgmma::wait(0, acc));
                 }},
                 [partition(4).run(|| {{
                     full.expect(b.bytes());
                     tma::load(m, [0, 0], full, b);
                     a.store(zeros([64, 64]));
                     sync();
                     {told}
                 }})],
             );"
        )
    };
    // In the text the partition comes last: whether its last signal has a fence before it.
    let fenced = |told: &str, waited: &str| {
        let ptx = compiled(parameters, &with(told, waited));
        let last = |instruction: &str| ptx.rfind(instruction);
        let signal = last("mbarrier.arrive").expect("the partition arrives");
        last("fence.proxy.async").is_some_and(|fence| fence < signal)
    };
    assert!(fenced("own.arrive();", "own.wait(0);"));
    assert!(fenced("own.expect(0);", "own.wait(0);"));
    assert!(fenced("fence_async(); own.expect(0);", "own.wait(0);"));
    // No other partition waits there.
    assert!(!fenced("own.expect(0);", ""));
    assert!(!fenced("own.expect(0); own.wait(0);", ""));
}

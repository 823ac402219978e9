//! Barriers and proxy fences that the compiler puts between accesses, counted in the PTX.

use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

/// How often an instruction stands in the PTX of a kernel, for tensors of any alignment.
#[track_caller]
fn count(parameters: &str, body: &str, instruction: &str) -> usize {
    let function: syn::ItemFn =
        syn::parse_str(&format!("fn k({parameters}) {{ {body} }}")).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attributes = quote::quote!(target = sm_90a, warps = 4);
    let unit = syntax::parse_function(attributes, &function, &locations, &mut problems);
    let mut dumps = Vec::new();
    let options = Options { dump: true, ..Options::default() };
    compile_unit(&unit, &locations, &mut problems, options, &mut dumps);
    let said: Vec<&str> = problems.iter().map(|one| one.headline.as_str()).collect();
    assert_eq!(said, Vec::<&str>::new(), "{body}");
    let (_, ptx) = dumps.iter().find(|(name, _)| name.ends_with("general.ptx")).expect("compiled");
    ptx.lines().filter(|line| line.trim_start().starts_with(instruction)).count()
}

#[test]
fn a_loop_inside_does_not_hide_what_the_loop_around_it_makes_anew() {
    // The windows of two iterations overlap by half: `at` is another number each time.
    let parameters = "t: TensorMut<f32, 1>, flag: Ptr<i32>, next: Ptr<i32>, n: i32";
    let with = |first: &str| {
        format!(
            "t.tile([0], [128]).store(zeros([128]));
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

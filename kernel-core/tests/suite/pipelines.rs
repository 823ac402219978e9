//! Pipelined loops: what is said of copies by tensor map in them and of those that complete nowhere, and when indices are loaded.

use crate::rendered::rendered;
use expect_test::{Expect, expect};
use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

/// The only message of a kernel over two tensor maps with this body.
fn message(body: &str, expect: &Expect) {
    let source = format!(
        "fn k(#[block(64, 64)] x: TensorMap<f16, 2>, #[block(64, 64)] y: TensorMap<f16, 2>, n: i32, out: TensorMut<f16, 2>) {{
            let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let found = rendered(quote::quote!(target = sm_90a, warps = 4), &function);
    expect.assert_eq(&found.join("\n"));
}

#[test]
fn a_copy_outside_of_a_pipelined_loop_names_its_barrier() {
    message(
        "copy_async(x.at([0, 0]), a);
         copy_async_wait_all();",
        &expect![[r"
            [K0404] this TMA copy has no barrier to complete on
               required  `copy_async(..).on(bar)`, or a copy at the start of an iteration of `pipeline(..)`
               actual    neither
               why       threads wait for a TMA copy on an mbarrier; `pipeline` creates the mbarriers of its own copies
               help      copy_async(map.at([i, j]), tile).on(bar)"]],
    );
}

#[test]
fn copies_stand_at_the_start_of_a_turn() {
    message(
        "for k in pipeline(range(0, x.dim(1), 64), 3) {
             copy_async(x.at([0, k]), a);
             out.tile([0, k], [64, 64]).store(a.load());
             copy_async(x.at([0, k]), b);
         }",
        &expect![[r"
            [K0405] a pipelined loop starts or waits for copies by itself
               ::: <parsed string 1>:5:14  the start of the iteration ends here
               why       `pipeline` counts the groups of copies and waits for them; copies stand at the start of the iteration
               example   let s = shared::<f16>([64, 64]); // before the loop
                         for k in pipeline(range(0, a.dim(1), 64), 3) {
                             copy_async(a.tile([i, k], [64, 64]), s); // copies first
                             acc = dot(s.load(), b, acc);
                         }"]],
    );
}

#[test]
fn what_a_copy_with_a_condition_fills_is_used_under_that_condition() {
    message(
        "for k in pipeline(range(0, x.dim(1), 64), 3) {
             copy_async(x.at([0, k]), a).when(k < n);
             out.tile([0, k], [64, 64]).store(a.load());
         }",
        &expect![[r"
            [K0405] shared memory is used in iterations that copy nothing to it
               required  a use under the condition of the copy
               actual    a use in other iterations as well
               ::: <parsed string 1>:4:47  the copy has this condition
               why       each stage has its own instance of the allocation; if an iteration copies nothing, its instance holds what an iteration some stages before has copied, or nothing
               example   for k in pipeline(range(0, n, 1), 3) {
                             if load(mask.ptr() + k) != 0 {
                                 copy_async(a.tile([0, k * 64], [64, 64]), s);
                                 acc = dot(s.load(), b, acc); // in the same branch
                             }
                         }"]],
    );
}

#[test]
fn a_product_is_done_when_its_turn_ends() {
    message(
        "let mut acc = zeros::<f32>([64, 64]);
         for k in pipeline(range(0, x.dim(1), 64), 3) {
             copy_async(x.at([0, k]), a);
             copy_async(y.at([k, 0]), b);
             acc = wgmma::mma(a, b, acc);
             acc = wgmma::wait(1, acc);
         }
         acc = wgmma::wait(0, acc);
         out.tile([0, 0], [64, 64]).store(acc.cast::<f16>());",
        &expect![[r"
            [K0405] a product is in flight at the end of a pipelined iteration
               required  a wait in the same iteration that leaves no product in flight
               actual    none
               why       the next iteration starts a copy to the stage that the product reads
               example   acc = wgmma::wait(0, acc);"]],
    );
}

/// The loads of each branch of the pipelined loop of a kernel.
fn loads_of_an_iteration(index: &str) -> Vec<usize> {
    let source = format!(
        "fn k(order: Tensor<i32, 1>, pages: Tensor<i32, 1>, x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {{
            let s = shared::<f32>([16, 16]);
            let mut sum = zeros::<f32>([16, 16]);
            for k in pipeline(0..order.dim(0), 3) {{
                copy_async(x.tile([{index}, 0], [16, 16]), s);
                sum += s.load();
            }}
            out.tile([0, 0], [16, 16]).store(sum);
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attributes = quote::quote!(target = sm_80, warps = 4);
    let unit = syntax::parse_function(attributes, &function, &locations, &mut problems);
    let (options, mut dumps) = (Options { dump: true, ..Options::default() }, Vec::new());
    compile_unit(&unit, &locations, &mut problems, options, &mut dumps);
    assert!(problems.is_empty(), "{index}");
    let (_, text) = dumps.iter().find(|(name, _)| name.ends_with(".schedule")).expect("scheduled");
    let (_, body) = text.split_once("\n  for ").expect("a loop");
    let loads = body.split("\n    if ").map(|branch| branch.matches("load_ptr").count());
    loads.filter(|loads| *loads > 0).collect()
}

#[test]
fn the_loads_of_a_chain_of_indices_start_in_iterations_of_their_own() {
    let first = "load(order.ptr() + k)";
    let second = format!("load(pages.ptr() + {first})");
    let third = format!("load(pages.ptr() + {second})");
    let fourth = format!("load(pages.ptr() + {third})");
    assert_eq!(loads_of_an_iteration(first), [1]);
    assert_eq!(loads_of_an_iteration(&second), [1, 1]);
    assert_eq!(loads_of_an_iteration(&third), [1, 1, 1]);
    // Three rounds are the most.
    assert_eq!(loads_of_an_iteration(&fourth), [1, 1, 2]);
    // Those that do not depend on each other start together.
    assert_eq!(loads_of_an_iteration(&format!("{first} + load(pages.ptr() + k)")), [2]);
    assert_eq!(loads_of_an_iteration(&format!("{second} + load(pages.ptr() + k)")), [2, 1]);
}

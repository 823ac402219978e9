//! What rustdoc shows of a kernel, after what its author wrote.

use kernel_core::{Options, compile::compile_function, surroundings::Surroundings};
use proc_macro2::TokenStream;
use quote::quote;

/// The documentation of the function that makes a launch.
#[track_caller]
fn documentation(attr: TokenStream, source: &str) -> String {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let output = compile_function(attr, &function, &Surroundings::default(), Options::default());
    let said = output.tokens.to_string();
    assert!(!said.contains("compile_error"), "{said}");
    let file: syn::File = syn::parse2(output.tokens).expect("what is generated is Rust");
    let mut functions = file.items.iter().filter_map(|item| {
        let syn::Item::Fn(item) = item else { return None };
        (item.sig.ident == function.sig.ident).then_some(item)
    });
    let attrs = &functions.next().expect("a function makes the launch").attrs;
    let texts = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| {
        let syn::Meta::NameValue(syn::MetaNameValue { value, .. }) = &attr.meta else {
            return None;
        };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value else {
            return None;
        };
        Some(text.value())
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_page_has_targets_grid_parameters_block_and_errors() {
    let text = documentation(
        quote!(target = [sm_80, sm_90a], warps = 4, grid = cdiv(out.dim(0), 128)),
        "/// Copies.
        fn k(x: Tensor<f32, 1>, #[multiple_of(8)] n: i32, out: TensorMut<f32, 1>) {
            let at = [block_id(0) * 128];
            let s = shared::<f32>([1024]);
            s.tile([0], [128]).store(x.tile(at, [128]).load());
            sync();
            out.tile(at, [128]).store(s.tile([0], [128]).load());
        }",
    );
    // 1024 elements of 4 bytes, and 4 warps of 32 threads.
    let required = " Copies.


# Kernel

Compiled for `sm_80`, `sm_90a`. Blocks: `cdiv(out.dim(0), 128)`.

| parameter | type | stated |
| --- | --- | --- |
| `x` | `Tensor<f32, 1>` |  |
| `n` | `i32` | `#[multiple_of(8)]` |
| `out` | `TensorMut<f32, 1>` |  |

A block has 128 threads, 4096 bytes of dynamic shared memory.

Errors of a launch:

* [`TargetNotRunnable`](::kiln::Error::TargetNotRunnable): the device runs no target that the kernel is compiled for
* [`FactBroken`](::kiln::Error::FactBroken): what is stated of `n` does not hold
* [`WrongDevice`](::kiln::Error::WrongDevice): `x` or `out` is not on the stream's device
* [`DimTooLarge`](::kiln::Error::DimTooLarge): an extent of `x` or `out` is more than `i32::MAX`
* [`OverlappingElements`](::kiln::Error::OverlappingElements): elements of `out` share an address
* [`Aliased`](::kiln::Error::Aliased): `out` shares memory with another argument
* [`GridExpression`](::kiln::Error::GridExpression): the grid has no value, such as a division by zero
* [`GridOutOfRange`](::kiln::Error::GridOutOfRange): an axis of the grid is longer than the device takes
* [`SharedMemory`](::kiln::Error::SharedMemory): the device has too little for a block
";
    assert_eq!(text.trim_end(), required.trim_end());
}

#[test]
fn instances_have_blocks_of_their_own() {
    let text = documentation(
        quote!(target = sm_80, warps = N / 32, instances(N = [32, 64])),
        "fn k<const N: i32>(out: TensorMut<f32, 1>) {
            let s = shared::<f32>([N]);
            s.store(full([N], 1.0f32));
            sync();
            out.tile([0], [N]).store(s.load());
            assert!(N > 0);
        }",
    );
    for line in [
        "A launch says how many blocks there are, with `.grid(..)`.",
        "2 instances:",
        "* `N = 32`: 32 threads, 128 bytes of dynamic shared memory",
        "* `N = 64`: 64 threads, 256 bytes of dynamic shared memory",
        "* [`GridMissing`](::kiln::Error::GridMissing): no `.grid(..)` says how many blocks there are",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    // One argument shares memory with no other, and what holds for every instance is no assertion.
    assert!(!text.contains("Aliased") && !text.contains("Assertion"), "{text}");
}

#[test]
fn maps_clusters_and_assertions_are_said() {
    let text = documentation(
        quote!(target = sm_90a, warps = 4, cluster = [2, 1], crate = crate::inner),
        "fn k(#[block(64, 64)] x: TensorMap<f16, 2>, out: TensorMut<f16, 2>, n: i32) {
            assert!(n > 0);
            let s = shared::<f16>([64, 64]);
            let full = barrier(1);
            full.expect(s.bytes());
            tma::load(x, [0, 0], full, s);
            full.wait(0);
            out.tile([0, 0], [64, 64]).store(s.load());
        }",
    );
    for line in [
        ", clusters of 2 (2 by 1 by 1).\n",
        "* [`TensorMap`](crate::inner::Error::TensorMap): no tensor map can describe `x`",
        "* [`GridNotOfClusters`](crate::inner::Error::GridNotOfClusters): the grid is not a whole number of clusters",
        "* [`ClusterTooLarge`](crate::inner::Error::ClusterTooLarge): the device holds no cluster of this size",
        "* [`Assertion`](crate::inner::Error::Assertion): an assertion of the kernel fails",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
}

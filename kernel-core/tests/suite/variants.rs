//! Which variants of an instance are embedded.

use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

/// The variants of the only image of a kernel, by name, with the number of facts that each requires.
fn variants(source: &str) -> Vec<(&'static str, usize)> {
    let mut function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let attr = function.attrs.remove(0).meta.require_list().expect("arguments").tokens.clone();
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    assert!(problems.is_empty(), "{problems:?}");
    let variants = &compiled[0][0].images[0].variants;
    variants.iter().map(|variant| (variant.name, variant.requires.len())).collect()
}

#[test]
fn one_is_embedded_where_alignment_changes_nothing() {
    // One element has one store, whatever its address is a multiple of.
    let source = "#[kernel(target = sm_80, warps = 1)]
        fn set(p: Ptr<f32>, n: i32) { store(p + n, 1.0); }";
    assert_eq!(variants(source), [("general", 0)]);
}

#[test]
fn both_are_embedded_where_alignment_makes_vectors() {
    let source = "#[kernel(target = sm_80, warps = 1)]
        fn copy(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
            y.tile([0], [128]).store(x.tile([0], [128]).load());
        }";
    let found = variants(source);
    let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["aligned", "general"]);
    assert!(found[0].1 > 0 && found[1].1 == 0, "{found:?}");
}

#[test]
fn accesses_are_not_made_contiguous_where_the_exchange_does_not_fit() {
    // The ring, which the next row fills again, takes 200 KiB of 227. Where `out` may begin anywhere, an exchange of 64 KiB would make its stores contiguous.
    let source = "#[kernel(target = sm_90a, warps = 4)]
        fn product(#[block(64, 64)] a: TensorMap<f16, 2>, #[block(256, 64)] b: TensorMap<f16, 2>, out: TensorMut<f32, 2>) {
            let (lefts, rights) = (shared::<f16>([5, 64, 64]), shared::<f16>([5, 256, 64]));
            let full = barriers(5, 1);
            let steps = a.dim(1) / 64;
            for row in range(0, 2, 1) {
                let mut acc = zeros::<f32>([64, 256]);
                for step in range(0, steps, 1) {
                    let (slot, round) = ((row * steps + step) % 5, (row * steps + step) / 5);
                    full[slot].expect(a.block_bytes() + b.block_bytes());
                    tma::load(a, [row * 64, step * 64], full[slot], lefts[slot]);
                    tma::load(b, [0, step * 64], full[slot], rights[slot]);
                    full[slot].wait(round % 2);
                    acc = wgmma::mma(lefts[slot], rights[slot].t(), acc);
                    acc = wgmma::wait(0, acc);
                    sync();
                }
                out.tile([row * 64, 0], [64, 256]).store(acc);
            }
        }";
    let names: Vec<_> = variants(source).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"general"), "{names:?}");
}

//! Parameters that may be absent: what is compiled for each choice of them, and what is said of their wrong use.

use crate::rendered::rendered;
use kernel_core::{
    Options, compile::compile_unit, diag::Problems, host::Image, loc::Locations, syntax,
};

/// The images of a kernel.
#[track_caller]
fn images(source: &str) -> Vec<Image> {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attr = quote::quote!(target = [sm_80, sm_90a], warps = 4);
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    assert!(problems.is_empty(), "{problems:?}");
    compiled.into_iter().flatten().flat_map(|one| one.images).collect()
}

#[test]
fn each_choice_has_code_without_what_is_absent() {
    let images = images(
        "fn k(bias: Option<Tensor<f32, 1>>, y: TensorMut<f32, 1>, n: Option<i32>) {
            let mut v = y.tile([0], [128]).load();
            if let Some(bias) = bias { v += bias.tile([0], [128]).load(); }
            if let Some(n) = n { v *= n as f32; }
            y.tile([0], [128]).store(v);
        }",
    );
    let absent = |image: &Image| {
        let absent = image.params.iter().filter(|param| param.absent);
        absent.map(|param| param.name.clone()).collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> =
        images.iter().map(|image| format!("{} {}", image.target, absent(image))).collect();
    let required = [
        "sm_80 ",
        "sm_90a ",
        "sm_80 bias",
        "sm_90a bias",
        "sm_80 n",
        "sm_90a n",
        "sm_80 bias n",
        "sm_90a bias n",
    ];
    assert_eq!(all, required);
    for image in &images {
        for variant in &image.variants {
            let has = |text: &str| variant.ptx.contains(text);
            let (bias, n) = (absent(image).contains("bias"), absent(image).contains('n'));
            assert_eq!([has("p0_"), has("p2_")], [!bias, !n && !absent(image).ends_with('n')]);
            assert!(has("p1_data"));
            assert_eq!(has("add.f32") || has("add.rn.f32"), !bias, "{}", variant.ptx);
            // Whether an argument is there is decided by the launch.
            assert!(!has("bra"), "{}", variant.ptx);
            assert!(variant.requires.iter().all(|fact| {
                let text = format!("{fact:?}");
                !bias || !text.contains("param: 0")
            }));
        }
    }
}

/// The messages of a kernel with two optional parameters and this body.
fn messages(body: &str) -> Vec<String> {
    let source = format!(
        "fn k(bias: Option<Tensor<f32, 1>>, n: Option<i32>, y: TensorMut<f32, 1>) {{
            let v = y.tile([0], [128]).load();
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_80, warps = 4), &function)
}

/// A body has one message, which begins and ends so; none if nothing is required.
#[track_caller]
fn says(body: &str, required: &[(&str, &str)]) {
    let found = messages(body);
    assert_eq!(found.len(), required.len(), "{body}\n{}", found.join("\n"));
    for (found, (begin, end)) in found.iter().zip(required) {
        assert!(found.starts_with(begin) && found.ends_with(end), "{body}\n{found}");
    }
}

#[test]
fn whether_an_argument_is_there_is_known_at_compile_time() {
    says("assert!(bias.is_some() || bias.is_none());", &[]);
    says("assert!(bias.is_some() != bias.is_none());", &[]);
    says("let b = bias; if let Some(b) = b { let w = b.tile([0], [128]).load(); }", &[]);
    says("if let (Some(_), Some(n)) = (bias, n) { assert!(bias.is_some()); }", &[]);
    says("if let Some(b) = &bias && let Some(n) = n && n > 3 { let w = b.dim(0) + n; }", &[]);
    says("let Some(n) = n else { return }; let w = n + 1;", &[]);
    says(
        "let w = match (bias, n) { (None, None) => 0, (Some(b), None) => b.dim(0), (_, Some(n)) => n };",
        &[],
    );
    says(
        "let w = if let Some(3 | 4) = n { 1.0 } else { 2.0 }; y.tile([0], [128]).store(v * w);",
        &[],
    );
    says("let f = |b: Option<Tensor<f32, 1>>| b.is_some(); if f(bias) { let w = 1; }", &[]);
}

#[test]
fn what_is_wrong_with_one_choice_says_which() {
    says(
        "assert!(bias.is_some());",
        &[(
            "[K0208] a compile-time assertion fails\n   required  condition true\n   actual    condition false\n   instance  bias = None (and 1 more)",
            "",
        )],
    );
    // What is wrong in all of them does not.
    says("let w = v + bias;", &[("[K0206]", "")]);
    assert!(!messages("let w = v + bias;")[0].contains("instance"));
    assert!(!messages("if let Some(b) = bias { let w = v + b; }")[0].contains("instance"));
}

#[test]
fn an_option_is_taken_apart_by_patterns_alone() {
    let help = "example   if let Some(bias) = bias { .. }";
    for use_of_it in ["unwrap()", "expect(\"there\")", "tile([0], [128])", "dim(0)", "map(|b| b)"] {
        let (name, _) = use_of_it.split_once('(').expect("a call");
        let headline = format!("[K0108] an `Option` has no method `{name}` in a kernel");
        says(&format!("let w = bias.{use_of_it};"), &[(&headline, help)]);
    }
    let pattern = "[K0101] `Some` and `None` are patterns of parameters that may be absent";
    says("if let Some(w) = v { let u = w + 1.0; }", &[(pattern, "")]);
    says("let w = match y.dim(0) { None => 1, Some(d) => d };", &[(pattern, ""), (pattern, "")]);
    says("let Some(w) = v else { return }; let u = w + 1.0;", &[(pattern, "")]);
    says("let w = Some(v);", &[("[K0102] nothing is called `Some` here", "")]);
    says("let w: Option<Tile<f32>> = 3;", &[("[K0102] `Option` is not a type", "")]);
    says("while let Some(m) = n { }", &[("[K0101] `let` in this condition", "")]);
    says("if (y.dim(0) > 2 || let Some(m) = n) { }", &[("[K0101] `let` in this condition", "")]);
    says(
        "let w = match bias { Some(b) => b.dim(0) };",
        &[("[K0101] no pattern takes", "help      None => {}")],
    );
    says(
        "let w = if y.dim(0) > 3 { bias } else { n };",
        &[(
            "[K0209] the paths through this code give values of different types\n   required  the parameter `bias`",
            "",
        )],
    );
    says(
        "if let Some(m) = f(n) && m > 1 { }",
        &[("[K0101] this value of an `if let`", ""), ("[K0102]", "")],
    );
}

#[test]
fn the_types_of_options_are_those_of_parameters() {
    let of = |params: &str| {
        let function = syn::parse_str(&format!("fn k({params}) {{}}")).expect("the source is Rust");
        rendered(quote::quote!(target = sm_90a, warps = 4), &function)
    };
    let five: Vec<String> = (0..5).map(|i| format!("x{i}: Option<Tensor<f32, 1>>")).collect();
    assert!(of(&five[..4].join(", ")).is_empty());
    let found = of(&five.join(", "));
    assert!(
        found.len() == 1
            && found[0].starts_with(
                "[K0602] a kernel with 5 optional parameters\n   required  optional parameters at most 4\n   actual    optional parameters 5"
            ),
        "{found:?}"
    );
    for wrong in ["Option", "Option<f32, f32>", "Option<Option<f32>>"] {
        let found = of(&format!("x: {wrong}"));
        let help = "help      Option<Tensor<f32, 1>>";
        assert!(found.len() == 1 && found[0].ends_with(help), "{wrong}: {found:?}");
    }
    for wrong in ["Option<Tile<f32>>", "Option<Vec<f32>>", "Option<&[f32]>", "Option<(i32, i32)>"] {
        let found = of(&format!("x: {wrong}"));
        assert!(found.len() == 1 && found[0].starts_with("[K0602]"), "{wrong}: {found:?}");
    }
    for (wrong, says) in [
        ("Option<[f32; 0]>", "[K0602] an `Option` of an array without elements"),
        ("Option<[Option<f32>; 2]>", "[K0602] the elements of an array cannot be absent"),
        ("[Option<f32>; 2]", "[K0602] the elements of an array cannot be absent"),
        ("Option<Option<[f32; 2]>>", "[K0602] this `Option` cannot be passed"),
    ] {
        let found = of(&format!("x: {wrong}"));
        assert!(found.len() == 1 && found[0].starts_with(says), "{wrong}: {found:?}");
    }
    // Attributes are about what is there, and are looked at once.
    for (param, code) in [
        ("#[stride(_, 1)] x: Option<Tensor<f32, 1>>", "[K0603]"),
        ("#[multiple_of(3)] x: Option<Ptr<f32>>", "[K0603]"),
        ("x: Option<TensorMap<f16, 2>>", "[K0409]"),
    ] {
        let found = of(param);
        assert!(found.len() == 1 && found[0].starts_with(code), "{param}: {found:?}");
        assert!(!found[0].contains("instance"), "{param}: {found:?}");
    }
    for right in [
        "#[stride(1)] x: Option<Tensor<f32, 1>>",
        "#[multiple_of(16)] x: Option<Ptr<f32>>, #[multiple_of(8)] n: Option<i32>",
        "#[block(8, 64)] x: Option<TensorMap<f16, 2>>",
        "x: core::option::Option<bool>",
        "x: Option<[[i32; 2]; 3]>",
        "#[stride(_, 1)] x: Option<[Tensor<f32, 2>; 2]>, a: Option<[f32; 9]>, b: Option<i32>",
    ] {
        assert!(of(right).is_empty(), "{right}: {:?}", of(right));
    }
}

#[test]
fn an_array_is_absent_as_a_whole() {
    let images = images(
        "fn k(xs: Option<[Tensor<f32, 1>; 2]>, y: TensorMut<f32, 1>) {
            let Some(xs) = xs else { return };
            y.tile([0], [128]).store(xs[0].tile([0], [128]).load() + xs[1].tile([0], [128]).load());
        }",
    );
    let absent = images.iter().map(|image| image.params.iter().map(|p| p.absent).collect());
    let absent: Vec<Vec<bool>> = absent.collect();
    let (there, none) = (vec![false, false, false], vec![true, true, false]);
    assert_eq!(absent, [there.clone(), there, none.clone(), none]);
    assert_eq!(images[2].absent, ["xs"]);
}

#[test]
fn a_grid_asks_an_option_only_where_it_is_there() {
    let of = |grid: proc_macro2::TokenStream| {
        let source = "fn k(bias: Option<Tensor<f32, 1>>, y: TensorMut<f32, 1>) {}";
        let function = syn::parse_str(source).expect("the source is Rust");
        rendered(quote::quote!(target = sm_80, warps = 4, grid = #grid), &function)
    };
    let found = of(quote::quote!(cdiv(bias.dim(0), 64)));
    assert!(found.len() == 1, "{found:?}");
    let help = "match bias { Some(bias) => bias.dim(0), None => 1 }";
    assert!(
        found[0].starts_with("[K0108] `bias` may be absent, and has no `dim` then"),
        "{found:?}"
    );
    assert!(found[0].ends_with(help), "{found:?}");
    assert!(
        of(quote::quote!(match bias {
            Some(bias) => bias.dim(0),
            None => 1,
        }))
        .is_empty()
    );
    assert!(of(quote::quote!(if bias.is_some() { 1 } else { y.dim(0) })).is_empty());
}

//! Compiling a kernel for its messages, but for those about the order of a whole kernel: most are fragments.

use crate::of_order::is_of_order;
use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Diagnostic, Problems, render},
    loc::Locations,
    syntax,
};
use proc_macro2::TokenStream;

/// A message as text, without its last line, which names its page.
pub(crate) fn said(problem: &Diagnostic, locations: &Locations) -> String {
    let text = render(problem, locations);
    let page = format!("\n   page      kiln explain {}", problem.code.number());
    text.strip_suffix(&page).expect("a message ends with its page").to_owned()
}

/// The messages of a kernel function with these arguments of `#[kernel]`, warnings behind the errors, as text.
pub(crate) fn rendered(attr: TokenStream, function: &syn::ItemFn) -> Vec<String> {
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attr, function, &locations, &mut problems);
    compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    let all = problems.iter().chain(problems.warnings());
    all.filter(|problem| !is_of_order(problem)).map(|problem| said(problem, &locations)).collect()
}

//! Diagnostics as `compile_error!` items, which is what stable Rust lets a macro say.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::{Diagnostic, Problems, render};
use crate::loc::Locations;

/// One `compile_error!` a problem, in the order of the source, then by code.
pub fn compile_errors(problems: &Problems, locations: &Locations) -> TokenStream {
    let mut sorted: Vec<_> = problems.iter().collect();
    // What is in another module is underlined where the kernel calls it.
    let underlined = |d: &Diagnostic| match d.called {
        Some(called) if locations.place_away(d.primary).is_some() => called,
        _ => d.primary,
    };
    sorted.sort_by_key(|d| (locations.order(underlined(d)), d.code));
    sorted
        .into_iter()
        .map(|diagnostic| {
            let message = render(diagnostic, locations);
            let (first, last) = locations.spans(underlined(diagnostic));
            // The error is underlined from the first token of the invocation to the last, so the
            // path takes the span where the expression begins and the argument group the one where
            // it ends (spans cannot be joined on stable).
            let path = quote_spanned!(first=> ::core::compile_error!);
            let argument = quote_spanned!(last=> { #message });
            quote::quote!(#path #argument)
        })
        .collect()
}

//! Diagnostics as `compile_error!` items, which stable Rust allows a macro, and warnings as uses of deprecated constants.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::{Diagnostic, Problems, render};
use crate::loc::{Loc, Locations};

/// One `compile_error!` a problem, in the order of the source, then by code.
pub fn compile_errors(problems: &Problems, locations: &Locations) -> TokenStream {
    let mut sorted: Vec<_> = problems.iter().collect();
    sorted.sort_by_key(|d| (locations.order(underlined(d, locations)), d.code));
    sorted
        .into_iter()
        .map(|diagnostic| {
            let message = render(diagnostic, locations);
            let (first, last) = locations.spans(underlined(diagnostic, locations));
            // The error is underlined from the first token of the invocation to the last, so the
            // path takes the span where the expression begins and the argument group the one where
            // it ends (spans cannot be joined on stable).
            let path = quote_spanned!(first=> ::core::compile_error!);
            let argument = quote_spanned!(last=> { #message });
            quote::quote!(#path #argument)
        })
        .collect()
}

/// What is underlined: what is in another module, where the kernel calls it.
fn underlined(diagnostic: &Diagnostic, locations: &Locations) -> Loc {
    match diagnostic.called {
        Some(called) if locations.place_away(diagnostic.primary).is_some() => called,
        _ => diagnostic.primary,
    }
}

/// One item a warning: it mentions a constant that is deprecated, with the message for its reason.
///
/// Macros cannot warn on stable Rust. Beside errors nothing is reported about speed.
/// The lint `deprecated` shows the message where the mention stands, and can be turned into an
/// error or off as others can; what the kernel, which has these attributes, allows is allowed there.
pub fn compile_warnings(
    problems: &Problems,
    locations: &Locations,
    attrs: &[syn::Attribute],
) -> TokenStream {
    if !problems.is_empty() {
        return TokenStream::new();
    }
    let allowed = attrs.iter().filter(|attr| attr.path().is_ident("allow")).map(|attr| &attr.meta);
    let allowed: Vec<_> = allowed.collect();
    let mut sorted: Vec<_> = problems.warnings().collect();
    sorted.sort_by_key(|d| (locations.order(underlined(d, locations)), d.code));
    sorted
        .into_iter()
        .map(|diagnostic| {
            let message = render(diagnostic, locations);
            let (first, _) = locations.spans(underlined(diagnostic, locations));
            // Its name is what rustc says before the message.
            let name = proc_macro2::Ident::new(diagnostic.code.number(), first);
            quote::quote! {
                #(#[#allowed])*
                const _: () = {
                    #[deprecated(note = #message)]
                    const #name: () = ();
                    #name
                };
            }
        })
        .collect()
}

//! Where generated code finds the crate `kiln`: `::kiln`, unless `crate = path` says otherwise.

use proc_macro2::{Group, Spacing, Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// The path in `crate = path`, if that is all there is.
pub(crate) fn crate_argument(attr: &TokenStream) -> Option<TokenStream> {
    let read = |input: syn::parse::ParseStream<'_>| {
        input.parse::<syn::Token![crate]>()?;
        input.parse::<syn::Token![=]>()?;
        let path = input.call(syn::Path::parse_mod_style)?;
        if input.peek(syn::Token![,]) {
            input.parse::<syn::Token![,]>()?;
        }
        Ok(path)
    };
    let path = syn::parse::Parser::parse2(read, attr.clone()).ok()?;
    Some(quote::ToTokens::into_token_stream(path))
}

/// The arguments of an attribute with `crate = ::name`, if they have no `crate` of their own.
///
/// For a caller that knows the name that the kernel's package gives the crate.
pub fn with_crate(attr: TokenStream, name: &str) -> TokenStream {
    let is_crate = |tree: TokenTree| matches!(tree, TokenTree::Ident(word) if word == "crate");
    let Ok(name) = syn::parse_str::<syn::Ident>(name) else { return attr };
    if attr.clone().into_iter().any(is_crate) {
        return attr;
    }
    // Messages show the place where the arguments begin.
    let span = attr.clone().into_iter().next().map_or_else(Span::call_site, |tree| tree.span());
    quote_spanned!(span=> crate = ::#name, #attr)
}

/// The tokens with `path` for each `::kiln` that begins a path.
pub(crate) fn rooted(tokens: TokenStream, path: Option<&TokenStream>) -> TokenStream {
    match path {
        Some(path) => replaced(tokens, path),
        None => tokens,
    }
}

fn replaced(tokens: TokenStream, path: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out = TokenStream::new();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if begins_path(&trees[at..]) && !continue_path(&trees[..at]) {
            out.extend(path.clone());
            at += 3;
            continue;
        }
        if let TokenTree::Group(group) = tree {
            let mut new = Group::new(group.delimiter(), replaced(group.stream(), path));
            new.set_span(group.span());
            out.extend([TokenTree::Group(new)]);
        } else {
            out.extend([tree.clone()]);
        }
        at += 1;
    }
    out
}

/// `::kiln`
fn begins_path(trees: &[TokenTree]) -> bool {
    matches!(trees, [TokenTree::Punct(first), TokenTree::Punct(second), TokenTree::Ident(name), ..]
        if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':' && name == "kiln")
}

/// Whether a path goes on after these tokens: `a::kiln`, `<T>::kiln`.
fn continue_path(before: &[TokenTree]) -> bool {
    const WORDS: [&str; 16] = [
        "as", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match", "move", "mut",
        "ref", "return", "use", "while",
    ];
    let is = |tree: &TokenTree, one: char| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == one);
    match before {
        // A lifetime: `&'a ::kiln`.
        [.., quote, TokenTree::Ident(_)] if is(quote, '\'') => false,
        [.., TokenTree::Ident(name)] => !WORDS.iter().any(|word| name == word),
        // An arrow: `-> ::kiln`, `=> ::kiln`.
        [.., shaft, tip] if is(tip, '>') => !is(shaft, '-') && !is(shaft, '='),
        [.., last] => is(last, '>'),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::{crate_argument, rooted, with_crate};

    #[test]
    fn paths_that_begin_with_the_crate_are_replaced() {
        let tokens = quote!(
            type B<'a> = &'a ::kiln::B<::kiln::C>;
            fn f(a: &mut ::kiln::Launch) -> ::kiln::A {
                m::kiln::b(::kiln::c, <T>::kiln::d);
                match a {
                    _ => ::kiln::e,
                }
            }
        );
        let path = quote!(crate::tiles);
        let wanted = quote!(
            type B<'a> = &'a crate::tiles::B<crate::tiles::C>;
            fn f(a: &mut crate::tiles::Launch) -> crate::tiles::A {
                m::kiln::b(crate::tiles::c, <T>::kiln::d);
                match a {
                    _ => crate::tiles::e,
                }
            }
        );
        assert_eq!(rooted(tokens.clone(), Some(&path)).to_string(), wanted.to_string());
        assert_eq!(rooted(tokens.clone(), None).to_string(), tokens.to_string());
    }

    #[test]
    fn a_crate_that_is_written_out_stays() {
        let with = |tokens| with_crate(tokens, "tiles").to_string();
        assert_eq!(with(quote!()), quote!(crate = ::tiles,).to_string());
        let wanted = quote!(crate = ::tiles, target = sm_80, grid = crates).to_string();
        assert_eq!(with(quote!(target = sm_80, grid = crates)), wanted);
        for written in [quote!(crate = a), quote!(target = sm_80, crate = a::b)] {
            assert_eq!(with(written.clone()), written.to_string());
        }
        assert_eq!(with_crate(quote!(), "not a name").to_string(), "");
        let path = crate_argument(&with_crate(quote!(), "tiles"));
        assert_eq!(path.map(|path| path.to_string()), Some(":: tiles".to_owned()));
    }

    #[test]
    fn the_argument_is_a_path_and_nothing_else() {
        let path = |tokens| crate_argument(&tokens).map(|path| path.to_string());
        assert_eq!(path(quote!(crate = tiles)), Some("tiles".to_owned()));
        assert_eq!(path(quote!(crate = ::a::b,)), Some(":: a :: b".to_owned()));
        assert_eq!(path(quote!(crate = 3)), None);
        assert_eq!(path(quote!(crate = a, warps = 4)), None);
        assert_eq!(path(quote!(target = sm_80)), None);
    }
}

//! Where generated code finds the crate `kiln`: `::kiln`, unless `crate = path` says otherwise.

use proc_macro2::{Group, Spacing, TokenStream, TokenTree};

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
        let before = at.checked_sub(1).and_then(|before| trees.get(before));
        if begins_path(&trees[at..]) && !before.is_some_and(continues) {
            out.extend(path.clone());
            at += 3;
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                let mut new = Group::new(group.delimiter(), replaced(group.stream(), path));
                new.set_span(group.span());
                out.extend([TokenTree::Group(new)]);
            }
            other => out.extend([other.clone()]),
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

/// Whether a path goes on after this token: `a::kiln`, `<T>::kiln`.
fn continues(before: &TokenTree) -> bool {
    const WORDS: [&str; 16] = [
        "as", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match", "move", "mut",
        "ref", "return", "use", "while",
    ];
    match before {
        TokenTree::Ident(name) => !WORDS.iter().any(|word| name == word),
        TokenTree::Punct(punct) => punct.as_char() == '>',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::{crate_argument, rooted};

    #[test]
    fn paths_that_begin_with_the_crate_are_replaced() {
        let tokens = quote!(
            fn f(a: &mut ::kiln::Launch) -> Vec<::kiln::A> {
                m::kiln::b(::kiln::c)
            }
        );
        let path = quote!(crate::tiles);
        let wanted = quote!(
            fn f(a: &mut crate::tiles::Launch) -> Vec<crate::tiles::A> {
                m::kiln::b(crate::tiles::c)
            }
        );
        assert_eq!(rooted(tokens.clone(), Some(&path)).to_string(), wanted.to_string());
        assert_eq!(rooted(tokens.clone(), None).to_string(), tokens.to_string());
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

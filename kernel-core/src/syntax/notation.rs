//! `layout!(..)`: the notation of tile layouts, read from tokens.

use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Token, bracketed, parenthesized, token};

use super::expr::Reader;
use super::{ExprKind, TilePart};
use crate::diag::{Code, Diagnostic};

impl Reader<'_> {
    /// `layout!(S[..] + R[..])`
    pub(super) fn tile_layout(&mut self, mac: &syn::Macro, depth: u32) -> ExprKind {
        let parts = match mac.parse_body::<Parts>() {
            Ok(parts) => parts.0,
            Err(error) => {
                let loc = self.locations.of_span(error.span());
                self.problems.push(
                    Diagnostic::new(Code::Unsupported, loc, "this is not the notation of a tile layout")
                        .why("`S[extents : strides]` and, for copies, `+ R[extents : strides]`; a stride is a number, a name or something in parentheses, and may have an axis: `4 @ laneid`")
                        .help("layout!(S[(32, 16) : (16, 1)])"),
                );
                return ExprKind::Refused(Vec::new());
            }
        };
        let part = |part: Part| TilePart {
            replica: part.name == "R",
            loc: self.locations.of_span(part.name.span()),
            extents: part.extents.iter().map(|extent| self.expr(extent, depth)).collect(),
            strides: part
                .strides
                .iter()
                .map(|stride| {
                    let axis = stride.axis.as_ref().map(|axis| self.ident(axis));
                    (self.expr(&stride.amount, depth), axis)
                })
                .collect(),
        };
        ExprKind::TileLayout(parts.into_iter().map(part).collect())
    }
}

/// `S[..] + R[..]`
struct Parts(Vec<Part>);

struct Part {
    name: syn::Ident,
    extents: Vec<syn::Expr>,
    strides: Vec<Stride>,
}

/// `4 @ laneid`
struct Stride {
    amount: syn::Expr,
    axis: Option<syn::Ident>,
}

impl Parse for Parts {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let parts = Punctuated::<Part, Token![+]>::parse_separated_nonempty(input)?;
        Ok(Parts(parts.into_iter().collect()))
    }
}

impl Parse for Part {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: syn::Ident = input.parse()?;
        if name != "S" && name != "R" {
            return Err(syn::Error::new(name.span(), "`S[..]` or `R[..]`"));
        }
        let digits;
        bracketed!(digits in input);
        // A comma after the parentheses: they belong to the first extent.
        let extents = if digits.peek(token::Paren) && !digits.peek2(Token![,]) {
            let inner;
            parenthesized!(inner in digits);
            Punctuated::<syn::Expr, Token![,]>::parse_terminated(&inner)?.into_iter().collect()
        } else {
            list(&digits, amount)?
        };
        let mut strides = Vec::new();
        if !digits.is_empty() {
            digits.parse::<Token![:]>()?;
            let several = !digits.peek2(Token![@]) && !digits.peek2(Token![,]);
            if digits.peek(token::Paren) && several {
                let inner;
                parenthesized!(inner in digits);
                let list = Punctuated::<Stride, Token![,]>::parse_terminated(&inner)?;
                strides = list.into_iter().collect();
            } else {
                strides = list(&digits, Stride::parse)?;
            }
        }
        if digits.is_empty() {
            Ok(Part { name, extents, strides })
        } else {
            Err(digits.error("`]`"))
        }
    }
}

impl Parse for Stride {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let amount = amount(input)?;
        let axis =
            if input.parse::<Option<Token![@]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(Stride { amount, axis })
    }
}

/// Items without parentheses around them: `8, 256`.
fn list<T>(
    input: ParseStream<'_>,
    item: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let mut items = vec![item(input)?];
    while input.parse::<Option<Token![,]>>()?.is_some() {
        items.push(item(input)?);
    }
    Ok(items)
}

/// A number, a name, or anything in parentheses: what one token tree is, perhaps after a minus.
fn amount(input: ParseStream<'_>) -> syn::Result<syn::Expr> {
    let minus = input.parse::<Option<Token![-]>>()?;
    let tree: proc_macro2::TokenTree = input.parse()?;
    // A tree that is not an expression is wrong where it stands, and not where a text of its own would end.
    let refused = syn::Error::new(tree.span(), "a number");
    let tree = tree.to_token_stream();
    syn::parse2(quote::quote!(#minus #tree)).map_err(|_| refused)
}

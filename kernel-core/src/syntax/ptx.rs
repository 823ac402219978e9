//! `ptx!(..)`: a text with operands, read from tokens.

use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token};

use super::expr::Reader;
use super::{ExprKind, PtxCall};
use crate::diag::{Code, Diagnostic};

const FORM: &str = "ptx!(\"add.s32 {out}, {a}, {b};\", a = x, b = y => i32)";

impl Reader<'_> {
    /// `ptx!("text", name = value => type)`
    pub(super) fn ptx(&mut self, mac: &syn::Macro, depth: u32) -> ExprKind {
        let call = match mac.parse_body::<Call>() {
            Ok(call) => call,
            Err(error) => {
                // The end of the macro has the place of the call, which is all of it.
                let loc = self.locations.of_span(error.span());
                self.problems.push(
                    Diagnostic::new(
                        Code::PtxText,
                        loc,
                        "`ptx!` takes a text, operands with names, and the types of its results",
                    )
                    .why(error.to_string())
                    .help(FORM),
                );
                return ExprKind::Refused(Vec::new());
            }
        };
        let text_loc = self.loc(&call.text);
        ExprKind::Ptx(Box::new(PtxCall {
            text: call.text.value(),
            text_loc,
            inputs: call
                .inputs
                .iter()
                .map(|(name, value)| (self.ident(name), self.expr(value, depth)))
                .collect(),
            output: call.output.as_ref().map(|ty| self.ty(ty, depth)),
        }))
    }
}

/// The tokens of a call.
struct Call {
    text: LitStr,
    inputs: Vec<(syn::Ident, syn::Expr)>,
    output: Option<syn::Type>,
}

impl Parse for Call {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() || !input.peek(LitStr) {
            return Err(input.error("the text comes first, as one string literal"));
        }
        let text = input.parse()?;
        let mut inputs = Vec::new();
        while !input.is_empty() && !input.peek(Token![=>]) {
            input.parse::<Token![,]>().map_err(|error| {
                syn::Error::new(error.span(), "a comma, or `=>` and a type, is required here")
            })?;
            if input.is_empty() || input.peek(Token![=>]) {
                break;
            }
            if !(input.peek(syn::Ident) && input.peek2(Token![=])) || input.peek2(Token![=>]) {
                return Err(input
                    .error("an operand is written `name = value`; the text uses it as `{name}`"));
            }
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            inputs.push((name, input.parse()?));
        }
        let output = if input.peek(Token![=>]) {
            input.parse::<Token![=>]>()?;
            let ty = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            Some(ty)
        } else {
            None
        };
        if input.is_empty() {
            Ok(Call { text, inputs, output })
        } else {
            Err(input.error("nothing can follow the types of the results"))
        }
    }
}

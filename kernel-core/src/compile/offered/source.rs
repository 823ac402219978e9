//! What a help can take the place of: the expressions and the declarations of a kernel, with where they stand.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::visit::Visit;

use super::edit::{Range, flat};

/// An expression.
pub(super) struct Part {
    pub(super) at: Range,
    /// Where the function or the method that it calls is named, and the words of the name.
    pub(super) callee: Option<(Range, Vec<String>)>,
    /// What it calls a method on.
    pub(super) receiver: Option<Range>,
    pub(super) tokens: TokenStream,
}

/// The expressions of an item, those that stand in others after these.
pub(super) fn parts(item: &TokenStream) -> Vec<Part> {
    let mut parts = Parts(Vec::new());
    if let Ok(item) = syn::parse2::<syn::Item>(item.clone()) {
        parts.visit_item(&item);
    }
    parts.0
}

struct Parts(Vec<Part>);

impl<'ast> Visit<'ast> for Parts {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        let tokens = expr.to_token_stream();
        if let Some(at) = Range::of(&tokens) {
            let mut part = Part { at, callee: None, receiver: None, tokens };

            if let syn::Expr::Call(call) = expr {
                part.callee = named(&call.func.to_token_stream());
            } else if let syn::Expr::MethodCall(call) = expr {
                part.callee = named(&call.method.to_token_stream());
                part.receiver = Range::of(&call.receiver);
            } else if let syn::Expr::Field(field) = expr {
                part.callee = named(&field.member.to_token_stream());
                part.receiver = Range::of(&field.base);
            }
            self.0.push(part);
        }
        syn::visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let tokens = called.to_token_stream();
        if let Some(at) = Range::of(&tokens) {
            let callee = named(&called.path.to_token_stream());
            self.0.push(Part { at, callee, receiver: None, tokens });
        }
    }

    // Attributes are no code of the kernel.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

fn named(tokens: &TokenStream) -> Option<(Range, Vec<String>)> {
    Some((Range::of(tokens)?, flat(tokens)))
}

/// The `let` statements of an item.
pub(super) fn lets(item: &TokenStream) -> Vec<syn::Local> {
    let mut lets = Lets(Vec::new());
    if let Ok(item) = syn::parse2::<syn::Item>(item.clone()) {
        lets.visit_item(&item);
    }
    lets.0
}

struct Lets(Vec<syn::Local>);

impl<'ast> Visit<'ast> for Lets {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.0.push(local.clone());
        syn::visit::visit_local(self, local);
    }
}

/// Whether a `let` declares one variable of this name.
pub(super) fn declares(local: &syn::Local, name: &str) -> bool {
    let mut pat = &local.pat;
    if let syn::Pat::Type(typed) = pat {
        pat = &typed.pat;
    }
    name_of(pat).is_some_and(|own| own == name)
}

/// The name that a pattern is.
pub(super) fn name_of(pat: &syn::Pat) -> Option<String> {
    if let syn::Pat::Ident(ident) = pat { Some(ident.ident.to_string()) } else { None }
}

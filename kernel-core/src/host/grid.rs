//! `grid = ..` as the host evaluates it: each operator that can overflow, and each `dim` of a tensor, becomes a call
//! that returns an error instead. `cdiv(n * n, 64)` becomes `cdiv(checked::mul(n, n)?, 64)`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;

/// The expression, to stand in a function whose errors are `GridFault`. What is inside of closures, blocks and macros stays
/// as it is: `?` would leave them alone.
pub(super) fn checked(grid: &TokenStream, tensors: &[&syn::Ident]) -> TokenStream {
    match syn::parse2::<syn::Expr>(grid.clone()) {
        Ok(mut expr) => {
            rewrite(&mut expr, tensors);
            expr.into_token_stream()
        }
        Err(_) => grid.clone(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most of Rust passes through untouched")]
fn rewrite(expr: &mut syn::Expr, tensors: &[&syn::Ident]) {
    let all = |exprs: &mut syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>| {
        for expr in exprs {
            rewrite(expr, tensors);
        }
    };
    match expr {
        syn::Expr::Array(item) => all(&mut item.elems),
        syn::Expr::Tuple(item) => all(&mut item.elems),
        syn::Expr::Call(item) => all(&mut item.args),
        syn::Expr::Paren(item) => rewrite(&mut item.expr, tensors),
        syn::Expr::Group(item) => rewrite(&mut item.expr, tensors),
        syn::Expr::Cast(item) => rewrite(&mut item.expr, tensors),
        syn::Expr::Index(item) => {
            rewrite(&mut item.expr, tensors);
            rewrite(&mut item.index, tensors);
        }
        syn::Expr::If(item) => {
            rewrite(&mut item.cond, tensors);
            block(&mut item.then_branch, tensors);
            if let Some((_, other)) = &mut item.else_branch {
                rewrite(other, tensors);
            }
        }
        syn::Expr::Match(item) => {
            rewrite(&mut item.expr, tensors);
            for arm in &mut item.arms {
                rewrite(&mut arm.body, tensors);
            }
        }
        syn::Expr::Block(item) => block(&mut item.block, tensors),
        syn::Expr::Unary(item) => {
            rewrite(&mut item.expr, tensors);
            let literal = matches!(&*item.expr, syn::Expr::Lit(_));
            if matches!(item.op, syn::UnOp::Neg(_)) && !literal {
                let of = &item.expr;
                *expr = call("neg", item.op.span(), &quote!(#of));
            }
        }
        syn::Expr::Binary(item) => {
            rewrite(&mut item.left, tensors);
            rewrite(&mut item.right, tensors);
            let name = match item.op {
                syn::BinOp::Add(_) => "add",
                syn::BinOp::Sub(_) => "sub",
                syn::BinOp::Mul(_) => "mul",
                syn::BinOp::Div(_) => "div",
                syn::BinOp::Rem(_) => "rem",
                syn::BinOp::Shl(_) => "shl",
                syn::BinOp::Shr(_) => "shr",
                _ => return,
            };
            let (left, right) = (&item.left, &item.right);
            *expr = call(name, item.op.span(), &quote!(#left, #right));
        }
        syn::Expr::MethodCall(item) => {
            rewrite(&mut item.receiver, tensors);
            all(&mut item.args);
            let of = &item.receiver;
            let tensor = root(of).is_some_and(|name| tensors.contains(&name));
            let Some(arg) = item.args.first().filter(|_| item.args.len() == 1) else { return };
            if item.method == "pow" || item.method == "dim" && tensor {
                let name = item.method.to_string();
                *expr = call(&name, item.method.span(), &quote!(#of, #arg));
            }
        }
        _ => {}
    }
}

/// The name that an expression begins with, of which it is a part: `xs` of `xs[0].weight`.
fn root(expr: &syn::Expr) -> Option<&syn::Ident> {
    if let syn::Expr::Index(item) = expr {
        return root(&item.expr);
    }
    if let syn::Expr::Field(item) = expr {
        return root(&item.base);
    }
    if let syn::Expr::Path(path) = expr { path.path.get_ident() } else { None }
}

/// The statements' values and the value of a block that stands in the expression itself.
fn block(block: &mut syn::Block, tensors: &[&syn::Ident]) {
    for statement in &mut block.stmts {
        match statement {
            syn::Stmt::Expr(expr, _) => rewrite(expr, tensors),
            syn::Stmt::Local(local) => {
                if let Some(init) = &mut local.init {
                    rewrite(&mut init.expr, tensors);
                }
            }
            syn::Stmt::Item(_) | syn::Stmt::Macro(_) => {}
        }
    }
}

fn call(name: &str, span: Span, arguments: &TokenStream) -> syn::Expr {
    let name = format_ident!("{name}", span = span);
    syn::Expr::Verbatim(quote_spanned!(span=> ::kiln::__private::__checked::#name(#arguments)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(grid: &TokenStream) -> String {
        let x = format_ident!("x");
        checked(grid, &[&x]).to_string().replace(":: kiln :: __private :: __checked :: ", "")
    }

    #[test]
    fn operators_give_errors_in_the_order_of_rust() {
        assert_eq!(
            written(&quote!([n * n + 1, -n << 2])),
            "[add (mul (n , n) ? , 1) ? , shl (neg (n) ? , 2) ?]"
        );
        assert_eq!(
            written(&quote!(if a < b - 1 { n / 2 } else { -1 })),
            "if a < sub (b , 1) ? { div (n , 2) ? } else { - 1 }"
        );
    }

    #[test]
    fn an_optional_tensor_is_asked_where_a_pattern_has_found_it() {
        assert_eq!(
            written(&quote!(match x {
                Some(x) => x.dim(0) + 1,
                None => 1,
            })),
            "match x { Some (x) => add (dim (x , 0) ? , 1) ? , None => 1 , }"
        );
        assert_eq!(
            written(&quote!(if let Some(x) = x { x.dim(0) } else { 1 })),
            "if let Some (x) = x { dim (x , 0) ? } else { 1 }"
        );
    }

    #[test]
    fn the_extent_of_a_tensor_gives_an_error_and_that_of_others_is_their_own() {
        assert_eq!(
            written(&quote!(cdiv(x.dim(N - 1), y.dim(0)))),
            "cdiv (dim (x , sub (N , 1) ?) ? , y . dim (0))"
        );
    }

    #[test]
    fn a_tensor_in_an_array_or_a_struct_is_asked_like_others() {
        assert_eq!(
            written(&quote!(x[0].dim(0) + x.bias.dim(1))),
            "add (dim (x [0] , 0) ? , dim (x . bias , 1) ?) ?"
        );
    }

    #[test]
    fn what_a_question_mark_would_not_leave_is_kept() {
        assert_eq!(written(&quote!(apply(|v| v * 2) as i32)), "apply (| v | v * 2) as i32");
        assert_eq!(written(&quote!([0; N * 2].len())), "[0 ; N * 2] . len ()");
    }
}

//! `grid = ..` as the host evaluates it: each operator that can overflow, and each `dim` of a tensor, becomes a call
//! that returns an error instead. `cdiv(n * n, 64)` becomes `cdiv(checked::mul(n, n)?, 64)`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{spanned::Spanned as _, visit::Visit};

/// The expression, to stand in a function whose errors are `GridFault`. What is inside of closures, blocks and macros stays
/// as it is: `?` would leave them alone.
pub(super) fn checked(grid: &TokenStream, tensors: &[&syn::Ident]) -> TokenStream {
    match syn::parse2::<syn::Expr>(grid.clone()) {
        Ok(mut expr) => {
            let tensors: Vec<syn::Ident> = tensors.iter().copied().cloned().collect();
            rewrite(&mut expr, &tensors);
            expr.into_token_stream()
        }
        Err(_) => grid.clone(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most of Rust passes through untouched")]
fn rewrite(expr: &mut syn::Expr, tensors: &[syn::Ident]) {
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
            let inside = with_names_of_lets(&item.cond, tensors);
            rewrite(&mut item.cond, &inside);
            block(&mut item.then_branch, &inside);
            if let Some((_, other)) = &mut item.else_branch {
                rewrite(other, tensors);
            }
        }
        syn::Expr::Match(item) => {
            rewrite(&mut item.expr, tensors);
            for arm in &mut item.arms {
                let inside = with_names(&arm.pat, &item.expr, tensors);
                rewrite(&mut arm.body, &inside);
            }
        }
        syn::Expr::Let(item) => rewrite(&mut item.expr, tensors),
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
            let tensor = root(of).is_some_and(|name| tensors.contains(name));
            let Some(arg) = item.args.first().filter(|_| item.args.len() == 1) else { return };
            if item.method == "pow" || item.method == "dim" && tensor {
                let name = item.method.to_string();
                *expr = call(&name, item.method.span(), &quote!(#of, #arg));
            }
        }
        _ => {}
    }
}

/// The tensors, and the names that a pattern gives what it finds in one of them: `x` of `Some(x)` in `match xs { Some(x) => .. }`.
fn with_names(pat: &syn::Pat, of: &syn::Expr, tensors: &[syn::Ident]) -> Vec<syn::Ident> {
    struct Names(Vec<syn::Ident>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.0.push(pat.ident.clone());
            syn::visit::visit_pat_ident(self, pat);
        }
    }
    let is_tensor = |expr: &syn::Expr| root(expr).is_some_and(|name| tensors.contains(name));
    let of_tensor = if let syn::Expr::Tuple(parts) = of {
        parts.elems.iter().any(is_tensor)
    } else {
        is_tensor(of)
    };
    let mut names = Names(tensors.to_vec());
    if of_tensor {
        names.visit_pat(pat);
    }
    names.0
}

/// The tensors, and those that the patterns of a condition name: `if let Some(x) = xs && n > 0`.
fn with_names_of_lets(condition: &syn::Expr, tensors: &[syn::Ident]) -> Vec<syn::Ident> {
    if let syn::Expr::Let(item) = condition {
        with_names(&item.pat, &item.expr, tensors)
    } else if let syn::Expr::Binary(item) = condition
        && matches!(item.op, syn::BinOp::And(_))
    {
        with_names_of_lets(&item.right, &with_names_of_lets(&item.left, tensors))
    } else {
        tensors.to_vec()
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
    if let syn::Expr::Reference(item) = expr {
        return root(&item.expr);
    }
    if let syn::Expr::Paren(item) = expr {
        return root(&item.expr);
    }
    if let syn::Expr::Path(path) = expr { path.path.get_ident() } else { None }
}

/// The statements' values and the value of a block that stands in the expression itself.
fn block(block: &mut syn::Block, tensors: &[syn::Ident]) {
    let mut tensors = tensors.to_vec();
    for statement in &mut block.stmts {
        match statement {
            syn::Stmt::Expr(expr, _) => rewrite(expr, &tensors),
            syn::Stmt::Local(local) => {
                let Some(init) = &mut local.init else { continue };
                let inside = with_names(&local.pat, &init.expr, &tensors);
                rewrite(&mut init.expr, &tensors);
                tensors = inside;
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
    fn a_pattern_may_name_an_optional_tensor_as_it_likes() {
        assert_eq!(
            written(&quote!(match x {
                Some(rows) => rows.dim(0) + 1,
                None => 1,
            })),
            "match x { Some (rows) => add (dim (rows , 0) ? , 1) ? , None => 1 , }"
        );
        assert_eq!(
            written(&quote!(if let Some(rows) = x
                && n > 0
            {
                rows.w.dim(0)
            } else {
                rows.dim(0)
            })),
            "if let Some (rows) = x && n > 0 { dim (rows . w , 0) ? } else { rows . dim (0) }"
        );
        assert_eq!(
            written(&quote!({
                let Some(rows) = x else { return Ok(1.into_grid()) };
                rows.dim(1)
            })),
            "{ let Some (rows) = x else { return Ok (1 . into_grid ()) } ; dim (rows , 1) ? }"
        );
        assert_eq!(
            written(&quote!(match (x, y) {
                (Some(a), _) => a.dim(0),
                _ => 1,
            })),
            "match (x , y) { (Some (a) , _) => dim (a , 0) ? , _ => 1 , }"
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

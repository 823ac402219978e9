//! Helps in which the operands of the underlined operation stand.

use crate::{
    diag::Diagnostic,
    elaborate::{
        messages::in_place::operands,
        tiles::arith::{LEFT, RIGHT},
    },
    syntax::{Expr, ExprKind},
};

/// Puts the operands into a help that has places for them; whether it has.
pub(super) fn write(expr: &Expr, diagnostic: &mut Diagnostic) -> bool {
    let offered = diagnostic.help.as_ref().or(diagnostic.example.as_ref());
    let Some(mut help) = offered.filter(|help| help.contains(LEFT)).cloned() else {
        return false;
    };
    (diagnostic.help, diagnostic.example) = (None, None);
    let mut parts = operands(expr);
    if parts.is_empty() || !help.contains(RIGHT) && !matches!(expr.kind, ExprKind::Unary(..)) {
        // It is about the underlined expression itself, or about its left operand.
        parts = match (&expr.kind, parts.first()) {
            (ExprKind::Binary(..) | ExprKind::AssignOp(..), Some(left)) if help.contains(" * ") => {
                vec![left]
            }
            (_, _) => vec![expr],
        };
    }
    if let ExprKind::AssignOp(_, target, _) = &expr.kind
        && let Some(target) = target.text()
    {
        help = format!("{target} = {help}");
    }
    for (word, part) in [LEFT, RIGHT].iter().zip(&parts) {
        let alone = help == *word
            || help.contains(&format!("({word}, "))
            || help.contains(&format!(", {word}, "));
        let text = if alone { part.text() } else { part.operand_text() };
        let Some(text) = text else { return true };
        help = help.replace(word, &text);
    }
    if !help.contains(RIGHT) {
        diagnostic.help = Some(help);
    }
    true
}

//! Arguments with names, which other languages have.

use super::{
    ExprKind,
    expr::{Reader, spelt},
};

/// The longest argument that a help repeats.
const LONGEST: usize = 80;

impl Reader<'_> {
    /// `sum(axis = 1)`: the values are looked at, the call is not made.
    pub(super) fn named_arguments<'e>(
        &mut self,
        function: &str,
        args: impl IntoIterator<Item = &'e syn::Expr>,
        depth: u32,
    ) -> ExprKind {
        let mut first = None;
        let mut parts = Vec::new();
        let mut values = Vec::new();
        // What is named: the mask of a load, say.
        let mut names = Vec::new();
        for arg in args {
            let mut value = arg;
            if let syn::Expr::Assign(named) = arg {
                first = first.or(Some(named));
                value = &named.right;
                names.push((super::written(&named.left), values.len()));
            }
            // `dtype = f32` names no value.
            if crate::ir::Dtype::from_name(&super::written(value)).is_none() {
                parts.push(self.alone(value, depth));
            }
            let text = super::written(value);
            values.push(if text.len() <= LONGEST { text } else { spelt(value) });
        }
        let of = |name: &str, at: usize| {
            let named = names.iter().find(|(own, _)| own == name).map(|(_, at)| *at);
            let plain = values.len() > at && !names.iter().any(|(_, other)| *other == at);
            named.or(plain.then_some(at)).map(|at| values[at].clone())
        };
        let masked = match (function, of("mask", if function == "load" { 1 } else { 2 })) {
            ("load", Some(mask)) => {
                let other = of("other", 2).unwrap_or_else(|| "0.0".to_owned());
                Some(format!("load_masked({}, {mask}, {other})", values[0]))
            }
            ("store", Some(mask)) => {
                of("value", 1).map(|value| format!("store_masked({}, {mask}, {value})", values[0]))
            }
            _ => None,
        };
        let name = first.map(|named| super::written(&named.left)).unwrap_or_default();
        let help = match function {
            "zeros" | "full" if name.ends_with("type") => {
                let ty = values.pop().unwrap_or_default();
                format!("{function}::<{ty}>({})", values.join(", "))
            }
            _ if name.starts_with("keep") && values.len() == 2 => {
                format!("{function}({0}).expand({0})", values[0])
            }
            "program_id" | "tl.program_id" => format!("block_id({})", values.join(", ")),
            "num_programs" => format!("num_blocks({})", values.join(", ")),
            _ if masked.is_some() => masked.unwrap_or_default(),
            _ => format!("{function}({})", values.join(", ")),
        };
        if let Some(named) = first {
            let why =
                "arguments have no names in Rust: they are told from each other by their order";
            self.refuse_at(named, "a named argument", why, &help);
        }
        ExprKind::Refused(parts)
    }
}

//! The messages about methods that windows of memory and arrays do not have: what is written instead, with what the call is written with.

use crate::{
    diag::Code,
    elaborate::{Builder, Env, language::value::Val, signatures},
    ir::{Dtype, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, Segment},
};

/// A call of a method, as it is written.
struct Called<'a> {
    name: &'a str,
    /// What the method is called on.
    of: String,
    args: Vec<String>,
}

const MASKED: &str =
    "a window is read as a whole, with zeros outside of its tensor; `select` chooses afterwards";
const KEPT: &str = "a window is written as a whole, inside its tensor; elements that are to stay are written again";
const WHOLE: &str = "a window is read as a tile, and written with one of its extents";
const ITERATED: &str = "a `for` loop takes the array itself";
const COUNTED: &str = "the elements of an array are counted by a loop that is unrolled";

impl Builder<'_> {
    /// Reports a method that a window, shared memory or an array does not have, if it is known how that is written.
    pub(crate) fn not_of_memory(
        &mut self,
        val: &Val,
        (receiver, name, args): (&Expr, &Segment, &[Expr]),
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        let memory = matches!(val, Val::View(_) | Val::Array(_) | Val::List(_))
            || matches!(self.ty_of(val), Some(Type::Shared(_)));
        if !memory || self.has_method(val, &name.name) {
            return None;
        }
        let of = receiver.operand_text()?;
        let texts: Vec<String> = args.iter().map(Expr::text).collect::<Option<_>>()?;
        let called = Called { name: &name.name, of, args: texts };
        let what = self.describe(val);
        let headline = format!("{what} has no method `{}`", name.name);
        if let Val::Array(parts) | Val::List(parts) = val {
            let (why, help, example) = of_array(&called, parts.len())?;
            let diagnostic = Code::NotAFunction.at(loc, headline).advised(why, &help);
            return Some(self.report(if example { diagnostic.exemplified() } else { diagnostic }));
        }
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if vals.iter().any(Val::is_absent) {
            return Some(Val::Error);
        }
        let (why, help) = self.of_window(val, &called, &vals)?;
        Some(self.report(Code::NotAFunction.at(loc, headline).advised(why, &help)))
    }

    /// Why a window has no such method, and what is written instead.
    fn of_window(
        &self,
        val: &Val,
        called: &Called<'_>,
        vals: &[Val],
    ) -> Option<(&'static str, String)> {
        let Called { name, of, args } = called;
        let shape = if let Val::View(view) = val {
            view.shape.clone()
        } else {
            self.ty_of(val)?.shape().to_vec()
        };
        let is_mask = |at: usize| {
            let num = vals.get(at).and_then(|val| self.num_of(val));
            num.is_some_and(|num| self.cells.known(num) == Some(Dtype::Bool))
        };
        Some(match (*name, &args[..]) {
            ("load_masked" | "masked_load" | "load_if" | "load_mask", [mask, other])
                if is_mask(0) =>
            {
                (MASKED, format!("select({mask}, {of}.load(), {other})"))
            }
            ("store_masked" | "masked_store" | "store_if" | "store_mask", [mask, value])
                if is_mask(0) =>
            {
                (KEPT, format!("{of}.store(select({mask}, {value}, {of}.load()))"))
            }
            ("store_masked" | "masked_store" | "store_if" | "store_mask", [value, mask])
                if is_mask(1) =>
            {
                (KEPT, format!("{of}.store(select({mask}, {value}, {of}.load()))"))
            }
            ("fill" | "fill_", [value]) => (WHOLE, format!("{of}.store(full({shape:?}, {value}))")),
            ("zero" | "zero_" | "clear" | "zeros", []) => {
                (WHOLE, format!("{of}.store(zeros({shape:?}))"))
            }
            ("write" | "put" | "set" | "copy_from", [value]) => {
                (WHOLE, format!("{of}.store({value})"))
            }
            ("read" | "get" | "value" | "to_tile", []) => (WHOLE, format!("{of}.load()")),
            ("atomic_cas" | "compare_exchange" | "compare_and_swap", [current, new]) => {
                ("", format!("{of}.atomic_compare_exchange({current}, {new})"))
            }
            ("atomic_xchg" | "exchange" | "swap", [value]) => {
                ("", format!("{of}.atomic_exchange({value})"))
            }
            ("fetch_add" | "atomicAdd" | "reduce_add" | "red_add", [value]) => {
                ("", format!("{of}.atomic_add({value})"))
            }
            ("atomic_sub" | "fetch_sub", [value]) => ("", format!("{of}.atomic_add(-{value})")),
            ("fetch_max", [value]) => ("", format!("{of}.atomic_max({value})")),
            ("fetch_min", [value]) => ("", format!("{of}.atomic_min({value})")),
            ("len" | "size" | "numel", []) if matches!(val, Val::Value(_)) && shape.len() == 1 => {
                ("", format!("{of}.dim(0)"))
            }
            (method, args) if matches!(val, Val::View(_)) && signatures::is_tile_method(method) => {
                (
                    "arithmetic on a tile runs in registers",
                    format!("{of}.load().{method}({})", args.join(", ")),
                )
            }
            _ => return None,
        })
    }
}

/// Why an array of this length has no such method, what is written instead, and whether that is an example only.
fn of_array(called: &Called<'_>, length: usize) -> Option<(&'static str, String, bool)> {
    let Called { name, of, args } = called;
    let counted = || format!("for i in unroll(0..{length}) {{ let x = {of}[i as usize]; .. }}");
    Some(match (*name, &args[..]) {
        ("iter" | "into_iter" | "iter_mut", []) => (ITERATED, of.clone(), false),
        ("enumerate" | "zip", _) => (COUNTED, counted(), true),
        ("first", []) => ("", format!("{of}[0]"), false),
        ("last", []) if length > 0 => ("", format!("{of}[{}]", length - 1), false),
        ("get", [index]) => ("", format!("{of}[{index}]"), false),
        ("push" | "pop" | "insert" | "extend", _) => (
            "the length of an array is known at compile time, and does not change",
            String::new(),
            false,
        ),
        _ => return None,
    })
}

/// What an iterator goes over whose elements are counted: `xs` of `xs.iter().enumerate()`.
pub(crate) fn counted_over<'e>(receiver: &'e Expr, name: &Segment) -> Option<&'e Expr> {
    let ExprKind::Method(of, iter, _) = &receiver.kind else { return None };
    let counts = matches!(name.name.as_str(), "enumerate" | "zip");
    (counts && matches!(iter.name.as_str(), "iter" | "into_iter")).then_some(of)
}

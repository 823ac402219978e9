//! Atomic operations: what they change, what they order, and with whom.

use std::rc::Rc;

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::{
            generic::Destination,
            value::{Num, Val, ViewVal},
        },
        signatures::Given,
    },
    ir::{Atomic, Dtype, Elem, MemoryOp, MemoryOrder, Ordered, Scope, Type},
    syntax::Expr,
};

impl Builder<'_> {
    /// `view.atomic_add(value)` and the like.
    pub(crate) fn atomic_tensor(&mut self, op: Atomic, given: &Given<'_>) -> Option<Val> {
        let view = given.view();
        let dtype = self.writable(view, "an atomic on", given.loc)?;
        self.neighbouring_rows(view, "an atomic operation", given)?;
        self.wants_atomic(op, dtype, given)?;
        let (mut args, ty) = (view.corner()?, Type::Tile(Elem::Number(dtype), view.shape.clone()));
        self.note_corner(view, given.loc);
        self.check_budget(&view.shape, Num::Known(dtype), given.loc)?;
        let headline = "the tile does not have the element type of its destination";
        for index in 0..given.args.len() {
            let (value, loc) = given.arg(index);
            if let Val::Value(tile) = self.plain(value.clone())
                && self.stores_literal(Destination::Param(view.param), tile, headline, loc)
            {
                return None;
            }
            args.push(self.tile_to_store(value, dtype, &view.shape, loc)?);
        }
        let ordered = self.ordered(op, view, given)?;
        let (param, evict) = (view.param, view.evict);
        let op = MemoryOp::AtomicTensor { param, op, evict, ordered };
        Some(Val::Value(self.emit(op, args, ty, given.loc)))
    }

    /// `view.atomic_store(value)`
    pub(crate) fn atomic_store(&mut self, given: &Given<'_>) -> Option<()> {
        self.atomic_tensor(Atomic::Store, given).map(|_| ())
    }

    /// The element types that hardware changes in one step.
    pub(crate) fn wants_atomic(
        &mut self,
        op: Atomic,
        dtype: Dtype,
        given: &Given<'_>,
    ) -> Option<()> {
        let words = dtype.has_arithmetic() && dtype.bytes() >= 4;
        let legal = match op {
            Atomic::Add | Atomic::Max | Atomic::Min => words || dtype.is_half(),
            Atomic::And | Atomic::Or | Atomic::Xor => words && dtype.is_int(),
            Atomic::Exchange | Atomic::CompareExchange | Atomic::Load | Atomic::Store => words,
        };
        if !legal {
            let wants = match op {
                Atomic::Add | Atomic::Max | Atomic::Min => {
                    "32- and 64-bit integers, f16, bf16, f32, f64"
                }
                Atomic::Exchange | Atomic::CompareExchange | Atomic::Load | Atomic::Store => {
                    "of 32 or 64 bits"
                }
                Atomic::And | Atomic::Or | Atomic::Xor => "32- and 64-bit integers",
            };
            let what = format!("`{}`", given.path());
            return self.refuse_dtype(&what, wants, Num::Known(dtype), given.loc);
        }
        Some(())
    }

    /// `view.acquire()`, `view.release()`, `view.acq_rel()`
    pub(crate) fn order_window(&mut self, order: MemoryOrder, given: &Given<'_>) -> Option<Val> {
        let (view, name) = (given.view(), given.signature.name);
        match view.order {
            Some(first) if first == order => self.said_twice(name, ("access", None), given.loc),
            Some(first) => self.refuse(
                Code::CopyOperands
                    .at(
                        given.loc,
                        format!("`{}` and `{name}` are given for one access", first.name()),
                    )
                    .why("an atomic operation is one instruction, which has one order; `acq_rel` is both (PTX ISA, \"atom\")")
                    .help(".acq_rel()"),
            ),
            None => Some(Val::View(Rc::new(ViewVal { order: Some(order), ..view.clone() }))),
        }
    }

    /// `view.system_scope()`
    pub(crate) fn scope_window(&mut self, scope: Scope, given: &Given<'_>) -> Option<Val> {
        let view = given.view();
        if view.scope.is_some() {
            return self.said_twice(given.signature.name, ("access", None), given.loc);
        }
        Some(Val::View(Rc::new(ViewVal { scope: Some(scope), ..view.clone() })))
    }

    /// How an atomic operation on a window is ordered.
    pub(super) fn ordered(
        &mut self,
        op: Atomic,
        view: &ViewVal,
        given: &Given<'_>,
    ) -> Option<Ordered> {
        let order = view.order.unwrap_or(MemoryOrder::Relaxed);
        let ordered = Ordered { order, scope: view.scope.unwrap_or(Scope::Gpu) };
        let (other, what, why) = match op {
            Atomic::Load if order.releases() => (
                MemoryOrder::Acquire,
                "load",
                "a load writes nothing that another thread could read",
            ),
            Atomic::Store if order.acquires() => {
                (MemoryOrder::Release, "store", "a store reads nothing that another thread wrote")
            }
            Atomic::Load
            | Atomic::Store
            | Atomic::Add
            | Atomic::Max
            | Atomic::Min
            | Atomic::And
            | Atomic::Or
            | Atomic::Xor
            | Atomic::Exchange
            | Atomic::CompareExchange => return Some(ordered),
        };
        let texts: Option<Vec<String>> = given.args.iter().map(Expr::text).collect();
        self.refuse(
            Code::CopyOperands
                .at(given.loc, format!("`{}` is not an order of a {what}", order.name()))
                .compare("", format!("`{}`", other.name()), format!("`{}`", order.name()))
                .why(why)
                .help_if(texts.map(|args| {
                    format!(".{}().{}({})", other.name(), given.signature.name, args.join(", "))
                })),
        )
    }

    /// Reports an order of what is no atomic operation.
    pub(super) fn unordered(
        &mut self,
        view: &ViewVal,
        what: &str,
        given: &Given<'_>,
    ) -> Option<()> {
        let order = view.order.map(MemoryOrder::name);
        let Some(word) = order.or(view.scope.map(Scope::name)) else { return Some(()) };
        let atomic = match what {
            "load" => Some(".atomic_load()".to_owned()),
            "store" => given
                .args
                .first()
                .and_then(Expr::text)
                .map(|value| format!(".atomic_store({value})")),
            _ => None,
        };
        self.refuse(
            Code::CopyOperands
                .at(given.loc, format!("`{word}` is an option of atomic operations, and a {what} is none"))
                .why(format!(
                    "a {what} is no step of its own for other threads, so that nothing is ordered by it (PTX ISA, \"Operation types\": weak operations)"
                ))
                .help_if(atomic),
        )
    }

    /// Reports an order of what a copy reads or writes.
    pub(super) fn unordered_copy(&mut self, given: &Given<'_>) -> Option<()> {
        for val in &given.vals {
            if let Val::View(view) = val {
                self.unordered(view, "copy", given)?;
            }
        }
        Some(())
    }
}

//! A call: its receiver, and its arguments by their kinds.

use std::rc::Rc;

use kernel_layout::Form;

use super::Signature;
use crate::{
    elaborate::{
        Env,
        language::value::{ClosureVal, CopyVal, PartitionVal, Val, ViewVal},
    },
    ir::{SharedType, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// An argument that is of its kind.
pub(super) enum Checked {
    /// See [`Given::val`].
    Val,
    Integer(i128),
    Number(u32),
    Value(Value),
    Shape(Vec<u32>),
    Axes(Vec<u32>),
    Closure(Rc<ClosureVal>),
    Layout(Form),
    Param(u32),
    Corner(Vec<Value>),
    Window(Value, SharedType),
    Bases(Vec<Vec<u32>>),
}

/// A call of a function or a method.
pub(crate) struct Given<'a> {
    pub(crate) signature: &'static Signature,
    /// The module of the function, such as `tma`; empty if there is none, and of methods.
    pub(crate) family: &'static str,
    /// What the method is called on; `()` of a function.
    pub(crate) of: Val,
    /// How that is written, if it is short.
    pub(crate) on: Option<String>,
    /// The name as it is written, with its generic arguments.
    pub(crate) name: &'a Segment,
    pub(crate) args: &'a [Expr],
    pub(crate) vals: Vec<Val>,
    pub(super) checked: Vec<Checked>,
    pub(crate) env: Env,
    pub(crate) loc: Loc,
}

impl<'a> Given<'a> {
    /// A call whose arguments are not looked at yet.
    pub(crate) fn new(
        signature: &'static Signature,
        (family, of): (&'static str, Val),
        (name, args): (&'a Segment, &'a [Expr]),
        env: Env,
        loc: Loc,
    ) -> Self {
        let (vals, checked) = (Vec::new(), Vec::new());
        Given { signature, family, of, on: None, name, args, vals, checked, env, loc }
    }

    /// The function with its module: `tma::load`.
    pub(crate) fn path(&self) -> String {
        match self.family {
            "" => self.signature.name.to_owned(),
            family => format!("{family}::{}", self.signature.name),
        }
    }

    /// Where an argument stands.
    pub(crate) fn at(&self, index: usize) -> Loc {
        self.args[index].loc
    }

    /// An argument as it was evaluated.
    pub(crate) fn val(&self, index: usize) -> &Val {
        &self.vals[index]
    }

    /// An argument, and where it stands.
    pub(crate) fn arg(&self, index: usize) -> (&Val, Loc) {
        (self.val(index), self.at(index))
    }

    /// Where the first three arguments stand: the operands of a product.
    pub(crate) fn places(&self) -> [Loc; 3] {
        [0, 1, 2].map(|index| self.at(index))
    }

    /// The operands of a product as they are written.
    pub(crate) fn operands(&self) -> Option<[String; 3]> {
        let texts: Vec<String> = self.args.iter().map(Expr::operand_text).collect::<Option<_>>()?;
        texts.try_into().ok()
    }
}

/// Accessors of what a method is called on, which its table says.
macro_rules! receivers {
    ($($(#[$doc:meta])* $name:ident: $pattern:pat => $value:expr, $gives:ty;)*) => {
        impl Given<'_> {$(
            $(#[$doc])*
            pub(crate) fn $name(&self) -> $gives {
                match &self.of {
                    $pattern => $value,
                    _ => unreachable!("`methods::of` chose the table by what the method is called on"),
                }
            }
        )*}
    };
}

receivers! {
    /// The value that the method is called on.
    receiver: Val::Value(value) => *value, Value;
    /// The window of a tensor.
    view: Val::View(view) => view, &ViewVal;
    /// The copy, product or commit.
    started: Val::Copying(started) => started, &CopyVal;
    /// The partition.
    partition: Val::Partition(partition) => partition, &PartitionVal;
}

impl Given<'_> {
    /// The tensor, or that of the slice.
    pub(crate) fn tensor(&self) -> u32 {
        self.of.tensor().expect("`methods::of` chose the table by what the method is called on")
    }
}

/// Accessors of arguments by their kind, which the row of the function says.
macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident: $pattern:pat => $value:expr, $gives:ty;)*) => {
        impl Given<'_> {$(
            $(#[$doc])*
            pub(crate) fn $name(&self, index: usize) -> $gives {
                match &self.checked[index] {
                    $pattern => $value,
                    _ => unreachable!("the row gives an argument the kind that its function asks for"),
                }
            }
        )*}
    };
}

accessors! {
    /// That of [`super::Kind::Known`] and [`super::Kind::Size`].
    integer: Checked::Integer(value) => *value, i128;
    /// That of [`super::Kind::Number`], an axis, an entry of a layout.
    number: Checked::Number(value) => *value, u32;
    /// A value of the kernel when it runs.
    value: Checked::Value(value) => *value, Value;
    /// Axes, the last one first.
    axes: Checked::Axes(axes) => axes.clone(), Vec<u32>;
    /// Extents.
    shape: Checked::Shape(shape) => shape.clone(), Vec<u32>;
    /// A closure.
    closure: Checked::Closure(closure) => closure, &Rc<ClosureVal>;
    /// A layout.
    layout: Checked::Layout(form) => form.clone(), Form;
    /// A tensor.
    map: Checked::Param(param) => *param, u32;
    /// The coordinates of a block.
    corner: Checked::Corner(corner) => corner.clone(), Vec<Value>;
    /// The bases of a layout.
    bases: Checked::Bases(bases) => bases.clone(), Vec<Vec<u32>>;
    /// A window of shared memory.
    window: Checked::Window(value, shared) => (*value, shared), (Value, &SharedType);
}

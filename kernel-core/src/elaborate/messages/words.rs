//! Values in messages, and as source text for help that can be pasted.

use crate::{
    elaborate::{
        Builder, MAX_NAMED,
        language::{
            specialize,
            value::{Num, Val},
        },
    },
    ir::{Const, Elem, ParamKind, Type, Value},
};

impl Builder<'_> {
    /// How the number of warps is written that run the current point.
    pub(crate) fn warps_written(&self, warps: u64) -> String {
        match self.crew {
            specialize::Crew::Own => format!("warps = {warps}"),
            specialize::Crew::Partition => format!("partition({warps})"),
        }
    }

    /// A value in words, for messages.
    pub(crate) fn describe(&self, val: &Val) -> String {
        match val {
            Val::Error | Val::Never => "nothing".to_owned(),
            Val::Unit => "`()`".to_owned(),
            Val::Const(_, num) => format!("a scalar ({})", self.cells.name(*num)),
            Val::Value(value) => {
                let name = self.cells.name(self.num(*value));
                match self.ty(*value) {
                    Type::Scalar(Elem::Number(_)) if self.is_point(*value) => {
                        format!("a `Tile<{name}>` of rank 0")
                    }
                    Type::Scalar(Elem::Ptr(_)) if self.is_point(*value) => {
                        format!("a `Tile<Ptr<{name}>>` of rank 0")
                    }
                    Type::Scalar(Elem::Number(_)) => format!("a scalar ({name})"),
                    Type::Scalar(Elem::Ptr(_)) => format!("a `Ptr<{name}>`"),
                    Type::Tile(Elem::Number(_), shape) => {
                        format!("a `Tile<{name}>` of extents {shape:?}")
                    }
                    Type::Tile(Elem::Ptr(_), shape) => {
                        format!("a `Tile<Ptr<{name}>>` of extents {shape:?}")
                    }
                    Type::Shared(shared) => {
                        let other = if shared.remote { " in another block" } else { "" };
                        format!("a `Shared<{name}>` of extents {:?}{other}", shared.shape)
                    }
                    Type::Barrier(barrier) if barrier.ring => "`Barriers`".to_owned(),
                    Type::Barrier(_) => "a `Barrier`".to_owned(),
                    Type::TensorMemory(window) => {
                        format!("a `Tmem<{name}>` of extents {:?}", window.shape)
                    }
                    Type::Error => "nothing".to_owned(),
                }
            }
            Val::Tuple(parts) => format!("a tuple of {}", parts.len()),
            Val::Array(parts) => format!("an array of {}", parts.len()),
            Val::List(parts) => format!("an `Array` of {}", parts.len()),
            Val::Struct(item) => format!("a `{}`", item.def.name.name),
            Val::Closure(_) => "a closure".to_owned(),
            Val::Ref(place) => self.describe(&self.read(place)),
            Val::Range(_) => "a range".to_owned(),
            Val::Tensor(param) if self.params[*param as usize].block.is_some() => {
                "a tensor map".to_owned()
            }
            Val::Tensor(_) => "a tensor".to_owned(),
            Val::Slice(_) => "a slice of a tensor".to_owned(),
            Val::Optional(_) => "an `Option`".to_owned(),
            Val::View(view) => format!("a window of a tensor, of extents {:?}", view.shape),
            Val::Layout(form) => format!("the layout `{form}`"),
            Val::Copying(_) => "a copy".to_owned(),
            Val::Str(_) => "a string".to_owned(),
            Val::Target(_) => "a target".to_owned(),
            Val::Partition(_) => "a partition".to_owned(),
            Val::Named(_) => "a `NamedBarrier`".to_owned(),
        }
    }

    /// How a value is written where it is used, for help that can be pasted: the name of a variable that holds it, or a
    /// literal.
    pub(crate) fn written(&self, val: &Val) -> Option<String> {
        let from = self.calls.last().map_or(0, |call| call.vars);
        if let Val::Const(value, _) = val {
            return Some(match value {
                Const::Int(value) => value.to_string(),
                Const::Float(value) => format!("{value:?}"),
                Const::Bool(value) => value.to_string(),
            });
        }
        if let Val::Optional(optional) = val {
            let held = self.scopes.name_with(from, |held| held.same(val));
            return Some(held.unwrap_or(&optional.name).to_owned());
        }
        if let Val::Tensor(param) = val {
            return self.params.get(*param as usize).map(|param| param.name.clone());
        }
        if let Val::Slice(_) = val {
            return self.scopes.name_with(from, |held| held.same(val)).map(str::to_owned);
        }
        // A long unrolled loop may be wrong in each iteration, and is shown once.
        let value = val.value().filter(|_| self.problems.reports() <= MAX_NAMED)?;
        self.scopes.name_with(from, |held| held.value() == Some(value)).map(str::to_owned)
    }

    /// A whole number as a literal of an element type.
    pub(crate) fn whole_number(&self, digits: &str, num: Num) -> String {
        match self.cells.known(num) {
            Some(dtype) if dtype.is_half() => format!("{}::of({digits}.0)", dtype.name()),
            Some(dtype) if dtype.is_float8() => format!("{}::from_f32({digits}.0)", dtype.name()),
            _ if self.cells.is_float(num) => format!("{digits}.0"),
            _ => digits.to_owned(),
        }
    }

    /// A tile of registers, put into shared memory where it stands.
    pub(crate) fn staged(&self, val: &Val) -> Option<String> {
        let (Some(Type::Tile(Elem::Number(_), shape)), Some(tile)) =
            (self.ty_of(val), self.written(val))
        else {
            return None;
        };
        let name = self.cells.name(self.num_of(val)?);
        Some(format!(
            "{{ let staged = shared::<{name}>({shape:?}); staged.store({tile}); sync(); staged }}"
        ))
    }

    /// `x.method` for the variable `x`; `.method` if a value has no name.
    pub(crate) fn applied(&self, value: Value, method: &str) -> String {
        self.written(&Val::Value(value)).unwrap_or_default() + method
    }
}

/// A parameter kind for the message of an unsupported type.
pub(crate) fn describe_param(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Tensor { dtype, rank, mutable } => {
            format!("{}<{}, {rank}>", if *mutable { "TensorMut" } else { "Tensor" }, dtype.name())
        }
        ParamKind::Pointer(dtype) => format!("Ptr<{}>", dtype.name()),
        ParamKind::Scalar(dtype) => dtype.name().to_owned(),
    }
}

//! Values and statements of the IR that is being built.

use super::value::{Num, Val};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::Builder,
    ir::{Const, Dtype, Elem, Op, Stmt, StmtKind, Terminator, Type, Value, ValueData},
    loc::Loc,
    syntax::Expr,
};

impl Builder<'_> {
    /// The type of a value, with an open element type as it stands.
    pub(crate) fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// The element type of a value, open or settled.
    pub(crate) fn num(&self, value: Value) -> Num {
        if let Some(num) = self.value_cells.get(value) {
            return self.cells.find(*num);
        }
        match &self.values[value].ty {
            Type::Scalar(Elem::Number(dtype) | Elem::Ptr(dtype))
            | Type::Tile(Elem::Number(dtype) | Elem::Ptr(dtype), _) => Num::Known(*dtype),
            Type::Shared(shared) if shared.is_retyped() => Num::Known(shared.dtype),
            Type::Shared(shared) => self
                .shared_cells
                .get(shared.root)
                .map_or(Num::Known(shared.dtype), |num| self.cells.find(*num)),
            Type::TensorMemory(window) => self
                .tensor_memory_cells
                .get(window.root)
                .map_or(Num::Known(window.dtype), |num| self.cells.find(*num)),
            Type::Barrier(_) | Type::Error => Num::Known(Dtype::I32),
        }
    }

    pub(crate) fn is_ptr(&self, value: Value) -> bool {
        matches!(self.ty(value).elem(), Some(Elem::Ptr(_)))
    }

    /// Whether a value is shared memory or a barrier, which no operation on numbers takes.
    pub(crate) fn is_handle(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_))
    }

    /// Whether a value is one number or address for the whole block, and a scalar in Rust's types too.
    pub(crate) fn is_scalar(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Scalar(_)) && !self.is_point(value)
    }

    /// Whether something is a constant or a scalar.
    pub(crate) fn is_const_or_scalar(&self, val: &Val) -> bool {
        matches!(val, Val::Const(..)) || val.value().is_some_and(|value| self.is_scalar(value))
    }

    /// Whether something is a constant or a scalar, and no address.
    pub(crate) fn is_number(&self, val: &Val) -> bool {
        self.is_const_or_scalar(val) && !val.value().is_some_and(|value| self.is_ptr(value))
    }

    /// The element type of a constant or of what is a value at run time.
    pub(crate) fn num_of(&self, val: &Val) -> Option<Num> {
        if let Val::Const(_, num) = val {
            Some(*num)
        } else {
            val.value().map(|value| self.num(value))
        }
    }

    /// The type of what is a value at run time.
    pub(crate) fn ty_of(&self, val: &Val) -> Option<&Type> {
        val.value().map(|value| self.ty(value))
    }

    /// Whether something is in tensor memory.
    pub(crate) fn in_tensor_memory(&self, val: &Val) -> bool {
        matches!(self.ty_of(val), Some(Type::TensorMemory(_)))
    }

    /// Whether a value is a tile of rank 0.
    pub(crate) fn is_point(&self, value: Value) -> bool {
        self.points.contains_idx(value)
    }

    pub(crate) fn new_value(&mut self, ty: Type, loc: Loc) -> Value {
        self.values.alloc(ValueData { ty, loc })
    }

    /// A value of the type that another one has: what it becomes where paths meet.
    pub(crate) fn new_like(&mut self, other: Value, loc: Loc) -> Value {
        let value = self.new_value(self.ty(other).clone(), loc);
        if let Some(num) = self.value_cells.get(other).copied() {
            self.value_cells.insert(value, num);
        }
        if self.is_point(other) {
            self.points.insert(value, ());
        }
        self.mark_like(other, value);
        value
    }

    /// A value with element type `num` and the shape of `like`.
    pub(crate) fn new_num(&mut self, shape: Option<Vec<u32>>, num: Num, loc: Loc) -> Value {
        let elem = Elem::Number(self.cells.settled(num));
        let ty = match shape {
            None => Type::Scalar(elem),
            Some(shape) => Type::Tile(elem, shape),
        };
        let value = self.new_value(ty, loc);
        if let Num::Cell(_) = self.cells.find(num) {
            self.value_cells.insert(value, num);
        }
        value
    }

    pub(crate) fn push(&mut self, kind: StmtKind, loc: Loc) {
        if !self.terminated {
            self.count_code(&kind, loc);
            self.regions.last_mut().expect("a region is open").stmts.push(Stmt { kind, loc });
        }
    }

    pub(crate) fn op(
        &mut self,
        op: impl Into<Op>,
        args: Vec<Value>,
        result: Option<Value>,
        loc: Loc,
    ) {
        let op = op.into();
        // What is computed with a tile of rank 0 and scalars is a tile of rank 0.
        if let Some(result) = result
            && matches!(self.ty(result), Type::Scalar(_))
            && args.iter().any(|arg| self.is_point(*arg))
        {
            self.points.insert(result, ());
        }
        if let Some(result) = result {
            self.mark_result(&op, &args, result);
        }
        self.push(StmtKind::Op { op, args, result }, loc);
    }

    /// An operation with a result of a settled type.
    pub(crate) fn emit(
        &mut self,
        op: impl Into<Op>,
        args: Vec<Value>,
        ty: Type,
        loc: Loc,
    ) -> Value {
        let value = self.new_value(ty, loc);
        self.op(op, args, Some(value), loc);
        value
    }

    /// An operation with a result of element type `num` (a scalar without `shape`).
    pub(crate) fn emit_num(
        &mut self,
        op: impl Into<Op>,
        args: Vec<Value>,
        shape: Option<Vec<u32>>,
        num: Num,
        loc: Loc,
    ) -> Value {
        let value = self.new_num(shape, num, loc);
        self.op(op, args, Some(value), loc);
        value
    }

    pub(crate) fn terminate(&mut self, end: Terminator) {
        if !self.terminated {
            self.regions.last_mut().expect("a region is open").end = end;
            self.terminated = true;
        }
    }

    /// A constant of a settled type as an IR value.
    pub(crate) fn constant(&mut self, value: Const, num: Num, loc: Loc) -> Value {
        self.emit_num(value, Vec::new(), None, num, loc)
    }

    /// A scalar, tile, pointer or window as an IR value; anything else is an error.
    pub(crate) fn value(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let val = self.plain(val.clone());
        if let Val::Const(value, num) = val {
            return Some(self.constant(value, num, loc));
        }
        self.never_given += u32::from(matches!(val, Val::Never));
        if val.value().is_none() && !val.is_absent() {
            let diagnostic = self.no_number(&val, None, loc);
            self.report(diagnostic);
        }
        val.value()
    }

    /// The message about what stands in the place of a number, with its text if that is known.
    fn no_number(&self, val: &Val, text: Option<&str>, loc: Loc) -> Diagnostic {
        let what = self.describe(val);
        let headline = format!("{what} stands where a scalar or a tile is required");
        let diagnostic = Code::Kind.at(loc, headline);
        let text = text.unwrap_or("");
        if let Val::View(_) = val {
            let why = "a window is a place in a tensor: its elements are loaded before they are computed with";
            diagnostic.why(why).help(format!("{text}.load()"))
        } else if let Some(param) = val.tensor() {
            let rank = self.params[param as usize].kind.rank() as usize;
            let [at, extents] = ["0", "64"].map(|one| vec![one; rank].join(", "));
            diagnostic
                .why("a tensor is read and written tile by tile")
                .help(format!("{text}.tile([{at}], [{extents}]).load()"))
        } else if let Val::Range(range) = val {
            let end = |val: &Val| {
                if let Val::Const(Const::Int(value), _) = val {
                    value.to_string()
                } else {
                    "..".to_owned()
                }
            };
            let why =
                "a range counts the iterations of a loop; a tile of positions is made by `arange`";
            diagnostic.why(why).help(format!("arange({}, {})", end(&range.from), end(&range.to)))
        } else if let Val::Closure(_) = val {
            diagnostic.why("a closure gives a value when it is called").help(format!("{text}(..)"))
        } else if let Val::Str(_) = val {
            diagnostic
                .why("the device has no strings: the variants of an enum name choices, and a const generic chooses when the kernel is compiled")
                .help("enum Mode { Relu, Identity }")
                .exemplified()
        } else {
            diagnostic
        }
    }

    /// Whether an operand is a scalar or a tile; what is none is reported at its own place.
    pub(crate) fn is_operand(&mut self, val: &Val, expr: &Expr, other: &Val) -> bool {
        let stands = val.value().is_none() && !val.is_absent() && !matches!(val, Val::Const(..));
        let offset = self.num_of(other).is_some_and(|num| !self.cells.is_float(num));
        if let (true, true, Val::Tensor(param)) = (stands, offset, val) {
            let text = expr.operand_text().unwrap_or_default();
            let diagnostic = self.no_address(*param, (&text, expr.loc), other);
            self.report(diagnostic);
        } else if stands {
            let diagnostic = self.no_number(val, expr.operand_text().as_deref(), expr.loc);
            self.report(diagnostic);
        }
        !stands
    }
}

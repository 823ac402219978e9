//! Functions of the language that belong to no family: making tiles, ranges, the launch.

use std::rc::Rc;

use super::value::{Class, Num, RangeVal, Ty, Val};
use crate::{
    diag::{Code, one_of},
    elaborate::{
        Builder, Env,
        signatures::Given,
        target_names,
        tiles::arith::{LEFT, RIGHT},
    },
    ir::{Binary, Compare, Const, Dtype, Op, SourceOp, Type, Value},
    loc::Loc,
    syntax::{Expr, GenericArg, Segment},
};

impl Builder<'_> {
    /// The mask of a `select`, or a report.
    pub(crate) fn mask_of(&mut self, given: &Given<'_>) -> Option<()> {
        let Val::Value(mask) = *given.val(0) else { return Some(()) };
        if self.cells.known(self.num(mask)) == Some(Dtype::Bool) && !self.is_ptr(mask) {
            return Some(());
        }
        let load = if self.memory_of(mask).is_some() { ".load()" } else { "" };
        let number = !self.is_ptr(mask) && (!self.is_handle(mask) || !load.is_empty());
        let zero = self.whole_number("0", self.num(mask));
        let text = given.args[0].operand_text().filter(|_| number);
        self.refuse(
            Code::DtypeRefused
                .at(given.at(0), "`select` chooses by a mask")
                .compare("", "a mask: a tile of `bool`", self.describe(given.val(0)))
                .why("`select(mask, a, b)` has `a` where the mask holds, and `b` elsewhere; a comparison such as `gt` makes a mask")
                .help_if(text.map(|text| format!("{text}{load}.gt({zero})"))),
        )
    }

    /// What an operation gives, which is a scalar of this type.
    pub(crate) fn number_of(
        &mut self,
        op: impl Into<Op>,
        operands: Vec<Value>,
        dtype: Dtype,
        given: &Given<'_>,
    ) -> Val {
        Val::Value(self.emit(op, operands, Type::scalar(dtype), given.loc))
    }

    /// An operation that gives nothing.
    #[expect(clippy::unnecessary_wraps, reason = "most of what a row calls can be refused")]
    pub(crate) fn does(
        &mut self,
        op: impl Into<Op>,
        operands: Vec<Value>,
        given: &Given<'_>,
    ) -> Option<()> {
        self.op(op, operands, None, given.loc);
        Some(())
    }

    /// `block_id(axis)`, `num_blocks(axis)`
    pub(crate) fn on_grid(&mut self, op: fn(u32) -> SourceOp, given: &Given<'_>) -> Val {
        self.number_of(op(given.number(0)), Vec::new(), Dtype::I32, given)
    }

    /// `maximum(a, b)`, `minimum(a, b)`
    pub(crate) fn of_two(&mut self, op: Binary, given: &Given<'_>) -> Val {
        self.binary(op, given.val(0), given.val(1), given.loc)
    }

    /// `array(n, f)`
    pub(crate) fn array_of(&mut self, given: &Given<'_>) -> Option<Val> {
        let count = given.integer(0);
        self.array_length(count, 1, given.at(0))?;
        let mut parts = Vec::new();
        for index in 0..count {
            let index = vec![Val::i32(index)];
            parts.push(self.call_closure(given.closure(1), index, given.at(1)));
            if !self.step(given.loc) {
                return None;
            }
        }
        Some(self.bounded(Val::List(Rc::new(parts)), given.loc))
    }

    /// `unroll(iterations)`
    pub(crate) fn unroll(&mut self, given: &Given<'_>) -> Option<Val> {
        let Val::Range(range) = given.val(0) else {
            let required = "`0..N` or `range(0, N, STEP)`";
            return self.refuse_kind("`unroll` takes a range", required, given.arg(0));
        };
        Some(Val::Range(Rc::new(RangeVal { unroll: true, ..(**range).clone() })))
    }

    /// `pipeline(iterations, stages)`
    pub(crate) fn pipeline(&mut self, given: &Given<'_>) -> Option<Val> {
        let Val::Range(range) = given.val(0) else {
            let required = "`range(0, n, STEP)` or `0..n`";
            return self.refuse_kind("`pipeline` takes a range", required, given.arg(0));
        };
        let stages = given.integer(1);
        if range.unroll || !(2..=16).contains(&stages) {
            let required = "2 to 16, without `unroll`";
            return self.refuse(
                Code::Pipeline.at(given.at(1), "`pipeline` cannot take this loop")
                    .compare("stages", required, stages)
                    .why("one stage is filled while another is used, so one stage alone overlaps nothing; each stage takes shared memory of its own")
                    .help("pipeline(range(0, n, 32), 3)"),
            );
        }
        let stages = u32::try_from(stages).ok();
        Some(Val::Range(Rc::new(RangeVal { stages, ..(**range).clone() })))
    }

    /// `cdiv(a, b)`, as on the host: no sum that overflows, and no pieces of nothing.
    pub(crate) fn cdiv(&mut self, given: &Given<'_>) -> Option<Val> {
        let (a, b, loc) = (given.val(0), given.val(1), given.loc);
        for index in [0, 1] {
            if let Some(value) = given.val(index).value() {
                self.wants_scalar(value, "`cdiv` takes scalars", given.at(index))?;
            }
        }
        let of_floats = [a, b].into_iter().filter_map(|val| self.num_of(val));
        let float = of_floats.into_iter().find(|num| self.cells.is_float(*num));
        if let Some(float) = float {
            let name = self.cells.name(float);
            return self.refuse(
                Code::DtypeRefused
                    .at(loc, format!("`cdiv` is not defined on `{name}`"))
                    .compare("element type", "integers", format!("`{name}`"))
                    .why("`cdiv` counts the pieces of an extent; a quotient of floats is rounded up by `ceil`")
                    .help(format!("({LEFT} / {RIGHT}).ceil()")),
            );
        }
        let [zero, one] = [0, 1].map(Val::i32);
        let some = self.compare(Compare::Gt, a, &zero, loc);
        let last = self.binary(Binary::Sub, a, &one, loc);
        let pieces = self.binary(Binary::Div, &last, b, loc);
        let pieces = self.binary(Binary::Add, &pieces, &one, loc);
        self.select(&some?, [&pieces, &zero], loc)
    }

    /// `device_assert(condition)`
    pub(crate) fn device_assert(&mut self, given: &Given<'_>) -> Option<()> {
        let condition = self.value(given.val(0), given.loc)?;
        let num = self.num(condition);
        if self.cells.known(num) != Some(Dtype::Bool) || self.is_ptr(condition) {
            return self.refuse_dtype("`device_assert`", "`bool`", num, given.at(0));
        }
        let written = given.args[0].text().map(|text| format!("({text})")).unwrap_or_default();
        let says = format!("`device_assert{written}` failed");
        self.does(Op::Assert(says), vec![condition], given)
    }

    /// `target(which)`
    pub(crate) fn is_target(&mut self, given: &Given<'_>) -> Option<Val> {
        let Val::Target(target) = given.val(0) else {
            let names: Vec<String> = target_names().map(|name| format!("`{name}`")).collect();
            let headline = format!("`target` takes {}", one_of(&names));
            return self.refuse(Code::Target.at(given.at(0), headline));
        };
        let is = Const::Bool(*target == self.target);
        Some(Val::Const(is, Num::Known(Dtype::Bool)))
    }

    /// Functions of tiles have a tile first, even if the others may be scalars; of scalars alone there are operators and
    /// methods.
    pub(crate) fn tile_first(&mut self, given: &Given<'_>) -> Option<()> {
        let scalar = |val: &Val| self.is_number(val);
        if !scalar(given.val(0)) {
            return Some(());
        }
        let (all, actual) = (given.vals.iter().all(scalar), self.describe(given.val(0)));
        let name = given.signature.name;
        let written = |index: usize, other: &str| {
            given.args.get(index).and_then(Expr::text).unwrap_or_else(|| other.to_owned())
        };
        let operand = |index: usize, other: &str| {
            given.args.get(index).and_then(Expr::operand_text).unwrap_or_else(|| other.to_owned())
        };
        let (a, b) = (written(0, "a"), written(1, "b"));
        if name == "select" {
            return self.refuse(
                Code::Kind
                    .at(given.at(0), "`select` chooses by a mask")
                    .compare("", "a tile of `bool`", actual)
                    .why("if one condition holds for the whole block, use a branch")
                    .help(format!("if {a} {{ {b} }} else {{ {} }}", written(2, "c"))),
            );
        }
        let help = match (name, all) {
            ("maximum", true) => format!("{}.max({b})", operand(0, "a")),
            ("minimum", true) => format!("{}.min({b})", operand(0, "a")),
            (_, true) => {
                format!("{} * {} + {}", operand(0, "a"), operand(1, "b"), operand(2, "c"))
            }
            ("fma", false) => format!("fma(x, {a}, {b}) // `x` is a tile"),
            (_, false) => format!("{name}({b}, {a})"),
        };
        self.refuse(
            Code::Kind
                .at(given.at(0), format!("`{name}` takes a tile first"))
                .compare("", "a tile", actual)
                .help(help),
        )
    }

    /// The element type of a turbofish, or an open one.
    pub(crate) fn element_arg(&mut self, segment: &Segment, env: Env) -> Option<Num> {
        let Some(given) = segment.args.first().and_then(GenericArg::ty) else {
            return Some(self.cells.open(Class::Any));
        };
        match self.resolve(given, env) {
            Ty::Scalar(num) => Some(num),
            // What is not known here is reported, or rustc's to say.
            Ty::Infer | Ty::Other => Some(self.cells.open(Class::Any)),
            ty @ (Ty::Unit
            | Ty::Tile(_)
            | Ty::Ptr(_)
            | Ty::TilePtr(_)
            | Ty::Shared(_)
            | Ty::TensorMemory(_)
            | Ty::Barrier { .. }
            | Ty::Tensor(_)
            | Ty::Option(_)
            | Ty::Struct(..)
            | Ty::Tuple(_)
            | Ty::Array(_)
            | Ty::Const(..)) => {
                let actual = self.type_name(&ty);
                self.refuse(
                    Code::DtypeRefused
                        .at(given.loc, format!("`{}` has elements of one number each", segment.name))
                        .compare("element type", "`bool`, an integer or a float", format!("`{actual}`"))
                        .why("tiles of pointers come from arithmetic with pointers, and several tiles stand for the parts of a struct or a tuple"),
                )
            }
        }
    }

    /// `arange(lo, hi)`
    pub(crate) fn arange(&mut self, given: &Given<'_>) -> Option<Val> {
        let (lo, hi) = (given.integer(0), given.integer(1));
        let Ok(start) = i32::try_from(lo) else {
            return self.refuse(Code::Overflow.at(given.at(0), format!("{lo} does not fit `i32`")));
        };
        let extent = self.extent(hi - lo, given.at(1))?;
        let num = Num::Known(Dtype::I32);
        Some(self.tile_of(
            Op::Source(SourceOp::Arange(start)),
            Vec::new(),
            vec![extent],
            num,
            given.loc,
        ))
    }

    /// `zeros(shape)`
    pub(crate) fn zeros(&mut self, given: &Given<'_>) -> Option<Val> {
        let (num, shape) = (self.element_arg(given.name, given.env)?, given.shape(0));
        self.check_budget(&shape, num, given.loc)?;
        let scalar = self.zero(num, given.loc);
        Some(Val::Value(self.splat(scalar, &shape, given.loc)))
    }

    /// The zero of a type; of one that is not known yet, an integer or a float by what the type becomes.
    pub(crate) fn zero(&mut self, num: Num, loc: Loc) -> Value {
        let zero = match self.cells.known(num) {
            Some(Dtype::Bool) => Const::Bool(false),
            _ if self.cells.is_float(num) => Const::Float(0.0),
            _ => Const::Int(0),
        };
        self.constant(zero, num, loc)
    }

    /// `full(shape, value)`
    pub(crate) fn full(&mut self, given: &Given<'_>) -> Option<Val> {
        let (num, shape) = (self.element_arg(given.name, given.env)?, given.shape(0));
        self.check_budget(&shape, num, given.loc)?;
        let (val, at) = given.arg(1);
        let value = self.value(val, at)?;
        if !self.is_scalar(value) || self.is_ptr(value) {
            let headline = "`full` takes one number for all elements";
            let diagnostic =
                Code::Kind.at(at, headline).compare("", "a scalar", self.describe(val));
            let diagnostic = self.help_item(diagnostic, val);
            if self.ty(value).shape() == shape && !self.is_ptr(value) {
                let help = self.written(val);
                return self
                    .refuse(diagnostic.why("it is a tile of these extents already").help_if(help));
            }
            return self.refuse(diagnostic);
        }
        let of_value = self.num(value);
        if self.cells.is_index(of_value) {
            return self.refuse(
                Code::DtypeMismatch
                    .at(at, "a tile does not hold `usize`")
                    .compare("", "an element type", "usize")
                    .why("Rust counts the elements of an array in `usize`")
                    .help("a.len() as i32"),
            );
        }
        // What is open stands for a number; truth values need no type beside the value.
        let truth = self.cells.known(of_value) == Some(Dtype::Bool);
        let settled = truth && self.cells.known(num).is_none();
        if !settled {
            self.unify(of_value, num, "`full`", at)?;
        }
        Some(Val::Value(self.splat(value, &shape, given.loc)))
    }
}

/// `range(from, to, step)`
pub(crate) fn range(given: &Given<'_>) -> Val {
    let [from, to, step] = [0, 1, 2].map(|index| given.val(index).clone());
    let loc = given.loc;
    Val::Range(Rc::new(RangeVal { from, to, step, unroll: false, stages: None, loc }))
}

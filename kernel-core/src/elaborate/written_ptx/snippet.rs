//! `ptx!`: instructions that the user writes out.

use super::text::{self, Named};
use crate::{
    diag::Code,
    elaborate::{
        Builder, Env,
        language::value::{Num, Ty, Val},
        tuple,
    },
    ir::{Const, Dtype, Elem, StmtKind, Type, Value, register_type},
    loc::Loc,
    syntax::{Expr, Ident, PtxCall, TypeExpr, TypeKind},
};

impl Builder<'_> {
    /// `ptx!("text", name = value => type)`
    pub(crate) fn ptx(&mut self, call: &PtxCall, env: Env, loc: Loc) -> Val {
        // Reading a text is work by its length, and an unrolled loop reads it in each iteration.
        if !self.steps_of(call.text.len() / 4, loc) {
            return Val::Error;
        }
        let mut inputs = Vec::new();
        let mut fine = true;
        let in_text = type_in(&call.text);
        for (name, value) in &call.inputs {
            let input = self.ptx_input(name, value, in_text, env);
            fine &= input.is_some();
            inputs.extend(input);
        }
        let outputs = self.ptx_outputs(call, env);
        let (true, Some(outputs)) = (fine && self.has_own_names(call), outputs) else {
            return Val::Error;
        };
        let (names, values): (Vec<Named>, Vec<Value>) = inputs.into_iter().unzip();
        // What is only looked at is not for this target.
        let target = (self.only_looking == 0).then_some(self.target);
        let code = match text::read(&call.text, call.text_loc, &names, &outputs, target) {
            Ok(code) => code,
            Err(diagnostic) => return self.report(*diagnostic),
        };
        let Some((args, shape)) = self.in_one_shape(values, loc) else { return Val::Error };
        let point = args.iter().any(|&arg| self.is_point(arg)) && shape.is_none();
        let mut results = Vec::new();
        for output in &outputs {
            if let (Some(shape), Elem::Number(dtype)) = (&shape, output.elem)
                && self.check_budget(shape, Num::Known(dtype), loc).is_none()
            {
                return Val::Error;
            }
            let ty = match &shape {
                Some(shape) => Type::Tile(output.elem, shape.clone()),
                None => Type::Scalar(output.elem),
            };
            let result = self.new_value(ty, loc);
            if point {
                self.points.insert(result, ());
            }
            results.push(result);
        }
        self.push(StmtKind::Ptx { code: Box::new(code), args, results: results.clone() }, loc);
        let is_tuple = call.output.as_ref().is_some_and(is_tuple);
        match results.as_slice() {
            [one] if !is_tuple => Val::Value(*one),
            _ => tuple(results.into_iter().map(Val::Value).collect()),
        }
    }

    /// An operand: a scalar or a tile of a type that has a register of its own.
    fn ptx_input(
        &mut self,
        name: &Ident,
        value: &Expr,
        in_text: Option<&'static str>,
        env: Env,
    ) -> Option<(Named, Value)> {
        let val = self.plain_expr(value, env);
        if let Some(num) = self.num_of(&val)
            && self.cells.known(num).is_none()
        {
            let own = if self.cells.is_float(num) { "f32" } else { "i32" };
            let ty = in_text.unwrap_or(own);
            let known = if let Val::Const(value, _) = val { Some(value) } else { None };
            let help = match known {
                Some(Const::Int(value)) if ty.starts_with('f') => format!("{value}.0{ty}"),
                Some(Const::Int(value)) => format!("{value}{ty}"),
                Some(Const::Float(value)) if ty.starts_with('f') => format!("{value:?}{ty}"),
                Some(Const::Float(value)) if value.fract() == 0.0 => format!("{value:.0}{ty}"),
                Some(Const::Float(value)) => format!("{value:?}{own}"),
                Some(Const::Bool(_)) | None => format!("zeros::<{ty}>([64])"),
            };
            return self.refuse(
                Code::DtypeRefused.at(value.loc, "an operand of `ptx!` needs a type")
                    .compare("", "a known type", self.describe(&val))
                    .why("the text runs on registers of one type, and unlike arithmetic it does not give its operands a type")
                    .help(help),
            );
        }
        let input = self.value(&val, value.loc)?;
        let Some(elem) = self.ty(input).elem() else {
            return self.refuse(
                Code::Kind
                    .at(value.loc, "an operand of `ptx!` is in registers")
                    .compare("", "a scalar or a tile", self.describe(&val))
                    .help(self.applied(input, ".load()")),
            );
        };
        // Cells that are settled by now are not yet written into the value.
        let elem = match elem {
            Elem::Number(_) => Elem::Number(self.cells.settled(self.num(input))),
            Elem::Ptr(_) => Elem::Ptr(self.cells.settled(self.num(input))),
        };
        self.check_register(elem, value.loc, "")?;
        Some((Named { name: name.name.clone(), elem, loc: name.loc }, input))
    }

    /// Integers of 8 and 16 bits are in wider registers, whose other bits the text would have to handle.
    fn check_register(&mut self, elem: Elem, loc: Loc, help: &str) -> Option<()> {
        if register_type(elem).is_some() {
            return Some(());
        }
        let (name, wide) = match elem {
            Elem::Number(dtype @ (Dtype::U8 | Dtype::U16)) => (dtype.name(), "u32"),
            Elem::Number(dtype) | Elem::Ptr(dtype) => (dtype.name(), "i32"),
        };
        let help =
            if help == "=>" { format!("=> {wide}") } else { format!("{help}.cast::<{wide}>()") };
        self.refuse(
            Code::DtypeRefused.at(loc, format!("`ptx!` has no registers of `{name}`"))
                .compare("", "`bool`, floats, pointers, integers of 32 or 64 bits", format!("`{name}`"))
                .why("PTX has no arithmetic on bytes, and Kiln keeps integers of 8 and 16 bits in registers of 32 bits")
                .help(help),
        )
    }

    /// The results: `{out}`, or `{out0}`, `{out1}` of a tuple.
    fn ptx_outputs(&mut self, call: &PtxCall, env: Env) -> Option<Vec<Named>> {
        let Some(output) = &call.output else { return Some(Vec::new()) };
        let written: Vec<(Ty, Loc)> = match (&output.kind, self.resolve(output, env)) {
            (TypeKind::Tuple(places), Ty::Tuple(parts)) => {
                parts.into_iter().zip(places.iter().map(|place| place.loc)).collect()
            }
            (_, Ty::Unit) => Vec::new(),
            (_, ty) => vec![(ty, output.loc)],
        };
        let one = !is_tuple(output);
        let mut outputs = Vec::new();
        for (index, (ty, loc)) in written.into_iter().enumerate() {
            let elem = if let Ty::Ptr(num) = ty {
                self.cells.known(num).map(Elem::Ptr)
            } else if let Ty::Scalar(num) = ty {
                self.cells.known(num).map(Elem::Number)
            } else {
                None
            };
            let Some(elem) = elem else {
                if self.problems.reports() == 0 {
                    let actual = self.type_name(&ty);
                    let of_tile =
                        if let Ty::Tile(num) = ty { Some(self.cells.name(num)) } else { None };
                    let help = format!("=> {}", of_tile.as_deref().unwrap_or("f32"));
                    self.report(
                        Code::Kind.at(loc, "the type after `=>` is the type of one element")
                            .compare("", "a number, `bool` or `Ptr`", format!("`{actual}`"))
                            .why("the text runs for each element; with a tile among the operands the result is a tile")
                            .help(help),
                    );
                }
                return None;
            };
            self.check_register(elem, loc, "=>")?;
            let name = if one { "out".to_owned() } else { format!("out{index}") };
            outputs.push(Named { name, elem, loc });
        }
        Some(outputs)
    }

    /// Names of operands differ, also from those of results.
    fn has_own_names(&mut self, call: &PtxCall) -> bool {
        let mut fine = true;
        for (index, (name, _)) in call.inputs.iter().enumerate() {
            let twice = call.inputs[..index].iter().any(|(other, _)| other.name == name.name);
            let rest = name.name.strip_prefix("out");
            let result = rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
            if twice || result {
                let what = if twice { "of another operand" } else { "of a result" };
                self.report(
                    Code::PtxText.at(name.loc, format!("`{}` is the name {what}", name.name))
                        .why("the text uses each operand by its name; results are called `out`, or `out0`, `out1` and so on"),
                );
                fine = false;
            }
        }
        fine
    }

    /// Tiles in one shape, and that shape; scalars stay.
    fn in_one_shape(
        &mut self,
        mut args: Vec<Value>,
        loc: Loc,
    ) -> Option<(Vec<Value>, Option<Vec<u32>>)> {
        let mut whole: Option<Value> = None;
        for &arg in &args {
            if self.tile_shape(arg).is_none() {
                continue;
            }
            whole = match whole {
                None => Some(arg),
                Some(before) => Some(self.same_shape(before, arg, "`ptx!`", loc)?.0),
            };
        }
        let Some(shape) = whole.and_then(|whole| self.tile_shape(whole)) else {
            return Some((args, None));
        };
        for arg in &mut args {
            if self.tile_shape(*arg).is_some() {
                *arg = self.broadcast_to(*arg, &shape, loc);
            }
        }
        Some((args, Some(shape)))
    }
}

/// The type of Kiln that the one instruction of a text is of, if its last part says so: `f32` of `add.f32`.
fn type_in(text: &str) -> Option<&'static str> {
    let mut statements = text.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    let (Some(only), None) = (statements.next(), statements.next()) else { return None };
    let opcode = only.split_whitespace().next()?;
    match opcode.rsplit('.').next()? {
        "f32" => Some("f32"),
        "f64" => Some("f64"),
        "s32" => Some("i32"),
        "u32" => Some("u32"),
        "s64" => Some("i64"),
        "u64" => Some("u64"),
        _ => None,
    }
}

fn is_tuple(ty: &TypeExpr) -> bool {
    matches!(ty.kind, TypeKind::Tuple(_))
}

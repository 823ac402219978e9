//! `println!`, `assert!`, `stamp!` and their like.
//!
//! A condition that is known when compiling is judged here. All else becomes a [`ReportOp`], with what the host needs to know beside it.

use super::value::Val;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, Env, Reports},
    ir::{Compare, Const, Dtype, Op, Report, ReportKind, ReportOp, Type, Value},
    loc::Loc,
    syntax::{Expr, Notation, SaidText, SaidValue, Saying},
};

/// One macro.
#[derive(Clone, Copy)]
pub(crate) struct Said<'e> {
    pub(crate) saying: Saying,
    /// The condition as it is written.
    pub(crate) condition: &'e str,
    pub(crate) text: &'e SaidText,
    pub(crate) loc: Loc,
}

impl Builder<'_> {
    /// `println!("..", values)`, `assert!(condition, "..", values)`
    pub(crate) fn said(&mut self, said: Said<'_>, operands: &[Expr], env: Env) -> Option<Val> {
        let is_stamp = said.saying == Saying::Stamp;
        if is_stamp {
            self.written.stamp.get_or_insert(said.loc);
        }
        let made = match self.says {
            Reports::Made => !is_stamp,
            Reports::LeftOut => false,
            Reports::Stamped => is_stamp,
        };
        if !made {
            return Some(Val::Unit);
        }
        let mut vals = match said.saying {
            Saying::Stamp => {
                self.reported(ReportOp::Stamp, (said, ReportKind::Stamp), Vec::new());
                return Some(Val::Unit);
            }
            Saying::Print | Saying::PrintLine => {
                let values = self.said_values(said, &[], env)?;
                self.reported(ReportOp::Print, (said, ReportKind::Print), values);
                return Some(Val::Unit);
            }
            Saying::Assert => vec![self.plain_expr(&operands[0], env)],
            Saying::AssertEq => self.compared_for(Compare::Eq, said, operands, env)?,
            Saying::AssertNe => self.compared_for(Compare::Ne, said, operands, env)?,
        };
        let compared = vals.split_off(1);
        let condition = vals.remove(0);
        let at = operands[0].loc;
        if condition.is_absent() {
            return None;
        }
        if let Val::Const(Const::Bool(holds), _) = condition {
            if !holds {
                let headline = self.known_text(said.text, env);
                let diagnostic = Code::AssertionFailed.at(at, headline);
                self.report(diagnostic.compare("condition", "true", "false"));
                return None;
            }
            return Some(Val::Unit);
        }
        let condition = self.asserted(&condition, said, (&operands[0], at))?;
        let mut values = vec![condition];
        values.extend(self.said_values(said, &compared, env)?);
        let kind = match said.saying {
            Saying::AssertEq => ReportKind::AssertEq,
            Saying::AssertNe => ReportKind::AssertNe,
            Saying::Print | Saying::PrintLine | Saying::Assert | Saying::Stamp => {
                ReportKind::Assert(said.condition.to_owned())
            }
        };
        self.reported(ReportOp::Assert, (said, kind), values);
        Some(Val::Unit)
    }

    /// Says it.
    fn reported(
        &mut self,
        op: fn(u32) -> ReportOp,
        (said, kind): (Said<'_>, ReportKind),
        values: Vec<Value>,
    ) {
        let number = u32::try_from(self.reports.len()).expect("a kernel has few reports");
        let format = said.text.format.clone();
        self.reports.push(Report { kind, format, loc: said.loc });
        self.op(Op::Report(op(number)), values, None, said.loc);
    }

    /// Whether two scalars compare so, and the two.
    fn compared_for(
        &mut self,
        compare: Compare,
        said: Said<'_>,
        operands: &[Expr],
        env: Env,
    ) -> Option<Vec<Val>> {
        let [left, right] = [0, 1].map(|side: usize| self.plain_expr(&operands[side], env));
        for (val, operand) in [&left, &right].into_iter().zip(operands) {
            if val.is_absent() {
                return None;
            }
            if !self.is_number(val) {
                let headline = format!("`{}!` compares scalars", said.saying.name());
                let actual = self.describe(val);
                let tiles = matches!(self.ty_of(val), Some(Type::Tile(..)));
                // A tile is compared by its method, which takes a scalar too.
                let of = usize::from(!matches!(self.ty_of(&left), Some(Type::Tile(..))));
                let [one, other] = [of, 1 - of].map(|side: usize| &operands[side]);
                let method = if compare == Compare::Eq { "eq" } else { "ne" };
                let help = one.operand_text().zip(other.text());
                let help = help
                    .map(|(one, other)| format!("device_assert({one}.{method}({other}))"))
                    .filter(|_| tiles);
                // `device_assert` takes the place of the macro.
                let place = if tiles { said.loc } else { operand.loc };
                let diagnostic = Code::Kind.at(place, headline).compare("", "a scalar", actual);
                let why =
                    "`device_assert` stops the kernel if a condition fails anywhere in a tile";
                return self
                    .refuse(diagnostic.advised(if tiles { why } else { "" }, "").help_if(help));
            }
        }
        let holds = self.compare(compare, &left, &right, said.loc)?;
        Some(vec![holds, left, right])
    }

    /// The condition of an assertion: a scalar of `bool`.
    fn asserted(&mut self, val: &Val, said: Said<'_>, (expr, at): (&Expr, Loc)) -> Option<Value> {
        let name = said.saying.name();
        let Some(num) = self.num_of(val).filter(|_| !self.is_handle_val(val)) else {
            let headline = format!("`{name}!` takes a condition");
            return self.refuse_kind(headline, "a `bool`", (val, at));
        };
        let address = val.value().is_some_and(|value| self.is_ptr(value));
        if address || self.cells.known(num) != Some(Dtype::Bool) {
            return self.refuse_dtype(&format!("`{name}!`"), "`bool`", num, at);
        }
        if !self.is_number(val) {
            let actual = self.describe(val);
            let text = expr.text();
            let tile = matches!(self.ty_of(val), Some(Type::Tile(..)));
            let help = text.map(|text| {
                if tile { format!("device_assert({text})") } else { format!("({text}).item()") }
            });
            // `device_assert` takes the place of the macro.
            let place = if tile { said.loc } else { at };
            let diagnostic = Code::Kind
                .at(place, format!("`{name}!` takes one condition for the block"))
                .compare("", "a scalar (bool)", actual)
                .why(if tile {
                    "`device_assert` stops the kernel if a condition fails anywhere in a tile"
                } else {
                    "`item` gives the value of a tile of rank 0"
                });
            return self.refuse(diagnostic.help_if(help));
        }
        self.value(val, at)
    }

    /// Whether something is shared memory or a barrier.
    fn is_handle_val(&self, val: &Val) -> bool {
        val.value().is_some_and(|value| self.is_handle(value))
    }

    /// The values of the text after those that were compared.
    fn said_values(&mut self, said: Said<'_>, compared: &[Val], env: Env) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for val in compared {
            values.push(self.value(val, said.loc)?);
        }
        let mut shown = true;
        let mut tile: Option<(Vec<u32>, Loc)> = None;
        for SaidValue { value, notations } in &said.text.values {
            let val = self.plain_expr(value, env);
            if val.is_absent() {
                shown = false;
                continue;
            }
            let Some(one) = self.said_value(&val, said, value, notations) else {
                shown = false;
                continue;
            };
            if let Type::Tile(_, shape) = self.ty(one).clone() {
                match &tile {
                    None => tile = Some((shape, value.loc)),
                    Some((first, at)) if *first != shape => {
                        let (first, at) = (first.clone(), *at);
                        self.report(
                            Code::ShapeMismatch
                                .at(value.loc, "the tiles of one text differ in shape")
                                .compare("shape", format!("{first:?}"), format!("{shape:?}"))
                                .place(at, "the first tile")
                                .why("the text is written once for each element, with the elements of all its tiles at that place"),
                        );
                        shown = false;
                    }
                    Some(_) => {}
                }
            }
            values.push(one);
        }
        shown.then_some(values)
    }

    /// A value of a text.
    fn said_value(
        &mut self,
        val: &Val,
        said: Said<'_>,
        expr: &Expr,
        notations: &[Notation],
    ) -> Option<Value> {
        let name = said.saying.name();
        let (loc, text) = (expr.loc, expr.operand_text());
        let Some(num) = self.num_of(val).filter(|_| !self.is_handle_val(val)) else {
            let loads = matches!(val, Val::View(_))
                || matches!(self.ty_of(val), Some(Type::Shared(window)) if !window.remote);
            let alone = said.text.loc != Some(loc);
            let help = text.filter(|_| loads && alone).map(|text| format!("{text}.load()"));
            let actual = self.describe(val);
            return self.refuse(
                Code::Kind
                    .at(loc, format!("`{name}!` cannot write this"))
                    .compare("", "a number, a `bool`, an address or a tile of these", actual)
                    .help_if(help),
            );
        };
        let tile = matches!(self.ty_of(val), Some(Type::Tile(..)));
        if tile && !matches!(said.saying, Saying::Print | Saying::PrintLine) {
            let actual = self.describe(val);
            return self.refuse(
                Code::Kind
                    .at(loc, "the text of an assertion takes no tiles")
                    .compare("", "a scalar", actual)
                    .why("an assertion says one thing for the block; `println!` writes the elements of a tile"),
            );
        }
        let address = val.value().is_some_and(|value| self.is_ptr(value));
        let dtype = self.cells.settled(num);
        let wrong = notations.iter().find(|notation| !writes(**notation, dtype, address));
        if let Some(notation) = wrong {
            let actual = if address {
                format!("`Ptr<{}>`", dtype.name())
            } else {
                format!("`{}`", dtype.name())
            };
            let bits = *notation == Notation::Digits && dtype.is_float() && !address;
            let diagnostic = not_written(*notation, actual, loc);
            if !bits {
                return self.refuse(diagnostic);
            }
            let diagnostic = diagnostic.why(
                "the digits are those of an integer; `bitcast` gives the bits of a float as one",
            );
            let unsigned = format!("u{}", dtype.bytes() * 8);
            let bits = text.map(|text| format!("{text}.bitcast::<{unsigned}>()"));
            // The name stands in the text, so that the value cannot be replaced alone.
            return self.refuse(if said.text.loc == Some(loc) {
                Diagnostic { example: bits, ..diagnostic }
            } else {
                diagnostic.help_if(bits)
            });
        }
        self.value(val, loc)
    }

    /// A text of which the values are known, as far as they are.
    fn known_text(&mut self, text: &SaidText, env: Env) -> String {
        if text.format.is_empty() {
            return "a compile-time assertion fails".to_owned();
        }
        let mut known = Vec::new();
        for said in &text.values {
            let val = self.plain_expr(&said.value, env);
            let Val::Const(value, _) = val else {
                known.push("..".to_owned());
                continue;
            };
            known.push(match value {
                Const::Int(value) => value.to_string(),
                Const::Bool(value) => value.to_string(),
                Const::Float(value) => value.to_string(),
            });
        }
        filled(&text.format, &known)
    }
}

/// A text with values in their places.
fn filled(format: &str, values: &[String]) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let from = &rest[at..];
        if from.starts_with("{{") || from.starts_with("}}") {
            out.push_str(&from[..1]);
            rest = &from[2..];
            continue;
        }
        let end = from.find('}').map_or(from.len(), |end| end + 1);
        let number = from[1..end].trim_end_matches('}').split(':').next();
        let value = number.and_then(|number| values.get(number.parse::<usize>().ok()?));
        out.push_str(value.map_or("..", String::as_str));
        rest = &from[end..];
    }
    out + rest
}

/// Whether Rust writes the host's type of a value so.
fn writes(notation: Notation, dtype: Dtype, address: bool) -> bool {
    if address {
        return matches!(notation, Notation::Debug | Notation::Pointer);
    }
    if dtype.is_opaque() {
        return false;
    }
    match notation {
        Notation::Display | Notation::Debug => true,
        Notation::Digits => dtype.is_int(),
        Notation::Exponent => dtype.is_int() || dtype.is_float() && !dtype.is_float8(),
        Notation::Pointer => false,
    }
}

/// What is said of a value that its place does not take.
fn not_written(notation: Notation, actual: String, loc: Loc) -> Diagnostic {
    let (place, required) = match notation {
        Notation::Display => ("{}", "numbers and `bool`"),
        Notation::Debug => ("{:?}", "numbers, `bool` and addresses"),
        Notation::Digits => ("{:x}", "integers"),
        Notation::Exponent => ("{:e}", "integers and floats of 16 bits and more"),
        Notation::Pointer => ("{:p}", "addresses"),
    };
    Code::DtypeRefused
        .at(loc, format!("`{place}` does not write {actual}"))
        .compare("", required, actual)
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn a_text_is_filled_with_what_is_known() {
        let known = ["64".to_owned(), "true".to_owned()];
        assert_eq!(filled("BM is {0:>4}, not {{{1}}}", &known), "BM is 64, not {true}");
        assert_eq!(filled("{2} {", &known), ".. ..");
        assert_eq!(filled("", &known), "");
    }
}

//! Arguments, checked against the kinds in their rows.

use super::{Checked, Given, Kind, Legal, Number, Parameter};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val, messages::forms::bare},
    ir::{Const, Dtype, Elem, ParamKind, Type, Value},
    loc::Loc,
    syntax::Expr,
};

impl Builder<'_> {
    /// An argument as its kind has it, or a report.
    pub(super) fn argument(
        &mut self,
        kind: Kind,
        given: &Given<'_>,
        index: usize,
    ) -> Option<Checked> {
        let (val, loc) = given.arg(index);
        let expr = &given.args[index];
        Some(match kind {
            Kind::Any => Checked::Val,
            Kind::Value => Checked::Value(self.value(val, loc)?),
            Kind::Tile(what) => Checked::Value(self.tile(val, what, loc)?),
            Kind::Factor => Checked::Value(self.factor(val, loc)?),
            Kind::TileFirst => {
                self.tile_first(given)?;
                Checked::Val
            }
            Kind::Known(what) => {
                self.no_index(val, what, loc)?;
                Checked::Integer(self.const_int(val, what, loc)?)
            }
            Kind::Size(what) => Checked::Integer(self.const_size(val, what, loc)?),
            Kind::Number(number) => Checked::Number(self.number(number, val, loc)?),
            Kind::GridAxis => Checked::Number(self.axis(val, 3, "the grid", loc)?),
            Kind::Axis(what) => Checked::Number(self.axis_of(given, what, val, loc)?),
            Kind::Axes => Checked::Axes(self.axes_of(given, val, expr)?),
            Kind::NewAxis => {
                let rank = self.ty(given.receiver()).shape().len();
                Checked::Number(self.axis_from_either_end(val, rank + 1, "the wider tile", loc)?)
            }
            Kind::I32(headline) => Checked::Value(self.scalar_i32(val, headline, loc)?),
            Kind::Condition => Checked::Value(self.one_condition(given, (val, loc))?),
            Kind::Shape => Checked::Shape(self.shape(val, expr)?),
            Kind::Ring => Checked::Shape(self.ring_shape(val, expr)?),
            Kind::View => Checked::Shape(self.view_shape(val, expr)?),
            Kind::Closure(headline) => {
                let Val::Closure(closure) = val else {
                    let help =
                        super::counts::example(self, &given.signature.parameters[index], &given.of);
                    let why = "the closure says how two elements become one; the compiler chooses which of them meet in which thread";
                    let why = if headline.contains("two") { why } else { "" };
                    let diagnostic =
                        Code::Kind.at(loc, headline).compare("", "a closure", self.describe(val));
                    return self.refuse(diagnostic.advised(why, "").help_if(help));
                };
                Checked::Closure(closure.clone())
            }
            Kind::Layout => {
                let Val::Layout(form) = val else { return self.wants_layout(given, val, loc) };
                Checked::Layout(form.clone())
            }
            Kind::LayoutOf(headline) => {
                let Val::Layout(form) = val else {
                    return self.refuse_kind(headline, "a layout", (val, loc));
                };
                Checked::Layout(form.clone())
            }
            Kind::Entry => Checked::Number(self.entry(val, loc)?),
            Kind::Entries(headline) => Checked::Shape(self.entries(val, loc, headline)?),
            Kind::Bases => Checked::Bases(self.bases(val, expr)?),
            Kind::Address => Checked::Value(self.address((val, loc))?),
            Kind::OneAddress => Checked::Value(self.one_address((val, loc), given.loc)?),
            Kind::Map(leading) => Checked::Param(self.map_of(given, (val, loc), leading)?),
            Kind::MapMut(leading) => {
                let param = self.map_of(given, (val, loc), leading)?;
                self.written_map(param, loc)?;
                Checked::Param(param)
            }
            Kind::Corner => Checked::Corner(self.corner_of(given, (val, expr))?),
            Kind::Barrier | Kind::PairBarrier
                if !matches!(self.ty_of(val), Some(Type::Barrier(_))) =>
            {
                let is_one = |val: &Val| {
                    let ty = if let Val::Value(_) = val { self.ty_of(val) } else { None };
                    ty.and_then(Type::barrier).is_some_and(|barrier| !barrier.ring)
                };
                let named = self.scopes.only_with(given.env, is_one).map(str::to_owned);
                return self.no_barrier(val, named, loc);
            }
            Kind::Barrier => Checked::Value(self.own_barrier(val, loc)?),
            Kind::PairBarrier => Checked::Value(self.barrier_of_pair(val, loc)?),
            Kind::Window => {
                let (value, shared) = self.copied_window(val, loc)?;
                Checked::Window(value, shared)
            }
            Kind::BulkWindow(what) => {
                let (value, shared) = self.bulk_window((val, loc), what)?;
                Checked::Window(value, shared)
            }
            Kind::LeftFactor => Checked::Value(self.left_factor(val, loc)?),
            Kind::RightFactor => {
                Checked::Value(self.tcgen05_shared(val, "the right operand of a product", loc)?)
            }
            Kind::Sums => Checked::Value(self.tensor_memory_window(val, "a product", loc)?),
            Kind::Scales => Checked::Value(self.scales(val, loc)?),
            Kind::Metadata => Checked::Value(self.tensor_metadata(val, loc)?),
            Kind::Answer => Checked::Value(self.answer(val, loc)?),
        })
    }

    /// An integer that is known at compile time, and that a parameter takes.
    pub(crate) fn number(&mut self, number: &Number, val: &Val, loc: Loc) -> Option<u32> {
        let value = self.const_int_or(val, number.what, loc, number.known)?;
        let legal = match number.legal {
            Legal::Within(least, most) => (i128::from(least)..=i128::from(most)).contains(&value),
            Legal::OneOf(these, _) => these.iter().any(|one| i128::from(*one) == value),
            Legal::Multiple { of, least, most } => {
                (i128::from(least)..=i128::from(most)).contains(&value)
                    && value % i128::from(of) == 0
            }
        };
        if let Ok(value) = u32::try_from(value)
            && legal
        {
            return Some(value);
        }
        let required = match number.legal {
            Legal::Within(least, most) => format!("{least} to {most}"),
            Legal::OneOf(_, words) => words.to_owned(),
            Legal::Multiple { of, least, most } => {
                format!("a multiple of {of} from {least} to {most}")
            }
        };
        let headline = number.headline.replace("{}", &value.to_string());
        let diagnostic =
            Diagnostic::new(number.code, loc, headline).compare(number.unit, required, value);
        let legal_of = |value: i128| match number.legal {
            Legal::Within(least, most) => (i128::from(least)..=i128::from(most)).contains(&value),
            Legal::OneOf(these, _) => these.iter().any(|one| i128::from(*one) == value),
            Legal::Multiple { .. } => false,
        };
        // Threads are what other languages count.
        if number.unit == "warps" && value % 32 == 0 && legal_of(value / 32) {
            return self.refuse(
                diagnostic
                    .why(number.why)
                    .why(format!("{value} threads are {} warps", value / 32))
                    .help((value / 32).to_string()),
            );
        }
        let nearest = match number.legal {
            Legal::Within(least, most) => value.min(i128::from(most)).max(i128::from(least)),
            Legal::OneOf(these, _) => {
                let more = these.iter().map(|one| i128::from(*one)).filter(|one| *one > value);
                let most = these.iter().map(|one| i128::from(*one)).max();
                more.min().or(most).unwrap_or(value)
            }
            Legal::Multiple { of, least, most } => {
                let of = i128::from(of);
                let up = value.min(i128::from(most)).max(0).div_euclid(of) * of;
                let up = if up < value { up + of } else { up };
                up.min(i128::from(most)).max(i128::from(least))
            }
        };
        // Which entry of a layout fits depends on the others.
        let help = (number.code != Code::LayoutForm).then(|| nearest.to_string());
        self.refuse(diagnostic.advised(number.why, "").help_if(help))
    }

    /// An axis of what the method is called on.
    fn axis_of(&mut self, given: &Given<'_>, what: &str, val: &Val, loc: Loc) -> Option<u32> {
        if let Some(param) = given.of.tensor() {
            let rank = self.params[param as usize].kind.rank() as usize;
            return self.axis(val, rank, what, loc);
        }
        let rank = self.rank_of(given)?;
        self.axis_from_either_end(val, rank, what, loc)
    }

    /// The rank of the tile, or of the tiles of the tuple, that a method is called on; a report if there is no axis left.
    fn rank_of(&mut self, given: &Given<'_>) -> Option<usize> {
        let rank = if matches!(given.of, Val::Tuple(_)) {
            self.rank_of_several(given)?
        } else {
            self.ty(given.receiver()).shape().len()
        };
        if rank == 0 { self.no_axis_left(given) } else { Some(rank) }
    }

    /// The axes of a reduction, the last one first: none of them moves when another one has gone.
    fn axes_of(&mut self, given: &Given<'_>, val: &Val, expr: &Expr) -> Option<Vec<u32>> {
        let two = match given.signature.name {
            "max" => Some("maximum"),
            "min" => Some("minimum"),
            _ => None,
        };
        if let Some(two) = two
            && (matches!(val, Val::Const(Const::Float(_), _)) || val.value().is_some())
        {
            let name = given.signature.name;
            let written = given.on.clone().or_else(|| self.written(&given.of));
            let both = written.zip(expr.text());
            return self.refuse(
                Code::Kind
                    .at(given.loc, format!("`{name}` of a tile is along an axis"))
                    .compare("", "an axis", self.describe(val))
                    .why(format!("`{name}` reduces an axis; `{two}` compares with another value, element by element"))
                    .help_if(both.map(|(of, other)| format!("{two}({}, {other})", bare(&of)))),
            );
        }
        let Val::Array(parts) = self.plain(val.clone()) else {
            return Some(vec![self.axis_of(given, "the tile", val, expr.loc)?]);
        };
        self.rank_of(given)?;
        let mut axes: Vec<u32> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let at = expr.part(index);
            let axis = self.axis_of(given, "the tile", part, at)?;
            if axes.contains(&axis) {
                return self.refuse(Code::Axis.at(at, format!("axis {axis} is named twice")).why(
                    "a reduction removes each of its axes, so there is nothing left to reduce",
                ));
            }
            axes.push(axis);
        }
        if axes.is_empty() {
            return self.refuse(
                Code::Axis
                    .at(expr.loc, "a reduction of no axis")
                    .compare("axes", "at least 1", 0)
                    .help("[0]"),
            );
        }
        axes.sort_unstable_by_key(|&axis| std::cmp::Reverse(axis));
        Some(axes)
    }

    /// The corner of a block of the tensor map that stands before it.
    fn corner_of(&mut self, given: &Given<'_>, (at, expr): (&Val, &Expr)) -> Option<Vec<Value>> {
        let Some(param) = given.of.tensor().or_else(|| given.val(0).tensor()) else {
            // What stands for a tensor map was reported.
            return None;
        };
        let corner = self.corner(param, at, expr)?;
        if matches!(given.of, Val::Unit) {
            for (axis, value) in corner.iter().enumerate() {
                self.note_use(*value, given.loc, expr.part(axis));
            }
        }
        Some(corner)
    }

    /// Reports an axis and a tile that stand in each other's place.
    pub(super) fn axis_in_order(&mut self, given: &Given<'_>) -> Option<()> {
        let parameters = given.signature.parameters;
        let is_tile = |val: &Val| matches!(val, Val::Value(value) if matches!(self.ty(*value), Type::Tile(..)));
        let of_axis = |kind: Kind| matches!(kind, Kind::Axis(_) | Kind::Axes);
        let axis = (0..parameters.len())
            .find(|at| of_axis(parameters[*at].kind) && is_tile(given.val(*at)));
        let number =
            (0..given.vals.len()).find(|at| matches!(given.val(*at), Val::Const(Const::Int(_), _)));
        let (Some(axis), Some(number)) = (axis, number) else { return Some(()) };
        let texts: Option<Vec<_>> = given.args.iter().map(Expr::text).collect();
        let call = texts.map(|mut texts| {
            texts.swap(axis, number);
            format!(".{}({})", given.signature.name, texts.join(", "))
        });
        let actual = self.describe(given.val(axis));
        let order: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
        let diagnostic = Code::Kind
            .at(given.loc, format!("the axis is another argument of `{}`", given.signature.name))
            .compare("", format!("({})", order.join(", ")), format!("{actual} as the axis"));
        self.refuse(diagnostic.help_if(call))
    }

    /// Reports a copy whose barrier and window stand in each other's place.
    pub(super) fn in_order(&mut self, given: &Given<'_>) -> Option<()> {
        let is = |index: usize, is: fn(&Type) -> bool| matches!(given.val(index), Val::Value(value) if is(self.ty(*value)));
        let parameters = given.signature.parameters;
        let swapped = (1..parameters.len()).find(|window| {
            matches!(parameters[window - 1].kind, Kind::Barrier | Kind::PairBarrier)
                && is(window - 1, |ty| matches!(ty, Type::Shared(_)))
                && is(*window, |ty| matches!(ty, Type::Barrier(_)))
        });
        let Some(window) = swapped else { return Some(()) };
        let texts: Option<Vec<_>> = given.args.iter().map(Expr::text).collect();
        let call = texts.map(|mut texts| {
            texts.swap(window - 1, window);
            format!("{}({})", given.path(), texts.join(", "))
        });
        let actual = self.describe(given.val(window - 1));
        let diagnostic = Code::Kind
            .at(given.at(window - 1), "the barrier of a copy comes before its shared memory")
            .compare("", "a `Barrier`", actual)
            .place(given.at(window), "the barrier is here");
        self.refuse(diagnostic.help_if(call))
    }

    /// Reports arguments that stand in each other's place, as other languages have them in another order.
    pub(super) fn arguments_in_order(&mut self, given: &Given<'_>) -> Option<()> {
        let Some(order) = self.other_order(given) else { return Some(()) };
        let texts: Option<Vec<_>> = order.iter().map(|at| given.args[*at].text()).collect();
        let function = matches!(given.of, Val::Unit);
        let call = texts.map(|texts| {
            let dot = if function { "" } else { "." };
            format!("{dot}{}({})", given.path(), texts.join(", "))
        });
        let parameters = given.signature.parameters;
        let required: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
        let mut actual = vec![""; required.len()];
        for (parameter, at) in order.iter().enumerate() {
            actual[*at] = required[parameter];
        }
        let headline = format!("the arguments of `{}` are in another order", given.path());
        let diagnostic = Code::Kind.at(given.loc, headline).compare(
            "",
            format!("({})", required.join(", ")),
            format!("({})", actual.join(", ")),
        );
        let why = super::counts::meaning(given).unwrap_or_default();
        self.refuse(diagnostic.advised(why, "").help_if(call))
    }

    /// Reports a corner and extents of a tensor of rank 1 that are numbers.
    pub(super) fn corner_in_array(&mut self, given: &Given<'_>) -> Option<()> {
        let Some(param) = given.of.tensor().filter(|_| given.signature.name == "tile") else {
            return Some(());
        };
        let number = |val: &Val| {
            matches!(val, Val::Const(Const::Int(_), _))
                || matches!(val, Val::Value(value) if self.is_scalar(*value))
        };
        let ([at, shape], [at_text, shape_text]) = (&given.vals[..], given.args) else {
            return Some(());
        };
        if !number(at) || !number(shape) {
            return Some(());
        }
        let rank = self.params[param as usize].kind.rank();
        let texts = at_text.text().zip(shape_text.text()).filter(|_| rank == 1);
        let help = texts.map(|(at, shape)| format!(".tile([{at}], [{shape}])"));
        self.refuse(
            Code::Kind
                .at(given.loc, "a window has a corner and extents, an array each")
                .compare("", "(at: [i32; R], shape: [i32; R])", "two numbers")
                .why("there is one number for each axis of the tensor")
                .help_if(help),
        )
    }

    /// An order of the arguments in which each is what its parameter asks for, if they are not in one: the argument of each parameter.
    fn other_order(&self, given: &Given<'_>) -> Option<Vec<usize>> {
        let parameters = given.signature.parameters;
        let count = parameters.len();
        if parameters
            .first()
            .is_some_and(|first| matches!(first.kind, Kind::Factor | Kind::LeftFactor))
            || given.path() == "wgmma::mma"
        {
            // An exchange of two operands is another product.
            let [a, b, acc] = &given.vals[..] else { return None };
            let accumulator_first = !self.multiply([a, b, acc]) && self.multiply([b, acc, a]);
            return accumulator_first.then(|| vec![1, 2, 0]);
        }
        if !(2..=6).contains(&count) || given.vals.iter().any(Val::is_absent) {
            return None;
        }
        let suits: Vec<Vec<Option<bool>>> = parameters
            .iter()
            .map(|parameter| {
                given.vals.iter().map(|val| self.suits(given, parameter, val)).collect()
            })
            .collect();
        let wrong: Vec<usize> = (0..count).filter(|at| suits[*at][*at] == Some(false)).collect();
        if wrong.is_empty() {
            return None;
        }
        let is_number = |at: usize| matches!(given.val(at), Val::Const(Const::Int(_), _));
        let mut best: Option<(usize, Vec<usize>)> = None;
        let mut order = Vec::new();
        orders(count, &mut order, &mut |order| {
            let fits =
                order.iter().enumerate().all(|(parameter, at)| match suits[parameter][*at] {
                    Some(fits) => fits,
                    // What was wrong is not right for sure, nor is one number where an array may be.
                    None => !wrong.contains(&parameter) && (parameter == *at || !is_number(*at)),
                });
            let moved = order.iter().enumerate().filter(|(parameter, at)| parameter != *at).count();
            if fits && best.as_ref().is_none_or(|(least, _)| moved < *least) {
                best = Some((moved, order.to_vec()));
            }
        });
        best.map(|(_, order)| order)
    }

    /// Whether the extents and types are those of the operands and the accumulator of a product.
    fn multiply(&self, vals: [&Val; 3]) -> bool {
        let parts = vals.map(|val| {
            let &[rows, cols] = self.ty_of(val)?.shape() else { return None };
            Some((rows, cols, self.num_of(val).and_then(|num| self.cells.known(num))))
        });
        let [Some(a), Some(b), Some(acc)] = parts else { return false };
        a.1 == b.0 && acc.0 == a.0 && acc.1 == b.1 && a.2 == b.2
    }

    /// Whether a value is what a parameter asks for; nothing if its type does not tell.
    pub(super) fn suits(
        &self,
        given: &Given<'_>,
        parameter: &Parameter,
        val: &Val,
    ) -> Option<bool> {
        let ty = self.ty_of(val);
        let integer = matches!(val, Val::Const(Const::Int(_), _));
        let group = matches!(val, Val::Array(_) | Val::Tuple(_));
        let is_bool = || {
            let num = self.num_of(val)?;
            Some(self.cells.known(num)? == Dtype::Bool)
        };
        if parameter.name == "mask" && !integer {
            return Some(is_bool().unwrap_or(false));
        }
        Some(match parameter.kind {
            // A copy to a tensor goes the other way.
            Kind::Any if given.path() == "copy_async" => match (parameter.name, val, ty) {
                ("from", Val::View(_), _) | ("to", _, Some(Type::Shared(_))) => true,
                ("to", Val::View(view), _)
                    if matches!(
                        self.params[view.param as usize].kind,
                        ParamKind::Tensor { mutable: false, .. }
                    ) =>
                {
                    false
                }
                _ => return None,
            },
            Kind::Any
            | Kind::Value
            | Kind::TileFirst
            | Kind::Condition
            | Kind::I32(_)
            | Kind::Answer => {
                return None;
            }
            Kind::Tile(_) => matches!(ty, Some(Type::Tile(..))),
            Kind::Factor => matches!(ty, Some(Type::Tile(..) | Type::Shared(_))),
            Kind::LeftFactor => matches!(ty, Some(Type::Shared(_) | Type::TensorMemory(_))),
            Kind::Sums | Kind::Scales | Kind::Metadata => matches!(ty, Some(Type::TensorMemory(_))),
            Kind::Known(_)
            | Kind::Size(_)
            | Kind::Number(_)
            | Kind::GridAxis
            | Kind::Axis(_)
            | Kind::NewAxis
            | Kind::Entry => integer,
            Kind::Axes => integer || group,
            Kind::Shape
            | Kind::Ring
            | Kind::View
            | Kind::Entries(_)
            | Kind::Bases
            | Kind::Corner => group,
            Kind::Closure(_) => matches!(val, Val::Closure(_)),
            Kind::Layout | Kind::LayoutOf(_) => matches!(val, Val::Layout(_)),
            Kind::Address | Kind::OneAddress => {
                matches!(ty, Some(Type::Scalar(Elem::Ptr(_)) | Type::Tile(Elem::Ptr(_), _)))
            }
            Kind::Map(_) | Kind::MapMut(_) => val.tensor().is_some(),
            Kind::Barrier | Kind::PairBarrier => matches!(ty, Some(Type::Barrier(_))),
            Kind::RightFactor | Kind::Window | Kind::BulkWindow(_) => {
                matches!(ty, Some(Type::Shared(_)))
            }
        })
    }
}

/// Calls a function with each order of so many things.
fn orders(count: usize, order: &mut Vec<usize>, with: &mut impl FnMut(&[usize])) {
    if order.len() == count {
        with(order);
        return;
    }
    for at in 0..count {
        if !order.contains(&at) {
            order.push(at);
            orders(count, order, with);
            order.pop();
        }
    }
}

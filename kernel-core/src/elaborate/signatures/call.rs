//! Calls, checked against their rows.

use kernel_ptx::Capability;

use super::{Given, Kind, Run, Signature, Written, counts::Missing, family, methods, named};
use crate::{
    diag::{Code, nearest},
    elaborate::{
        Builder, Env,
        language::{targets::oldest_with, value::Val},
        messages::forms::AsWritten,
    },
    ir::{Binary, Const, Dtype, Type},
    loc::Loc,
    syntax::{BinOp, Expr, ExprKind, GenericArg, Segment, TypeKind},
};

impl Builder<'_> {
    /// A call of a function of the language; `parent` is the module it is reached through.
    pub(crate) fn builtin_call(
        &mut self,
        parent: Option<&str>,
        name: &str,
        segment: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let (family, rows) = family(parent);
        if let Some(signature) = named(rows, name) {
            return self.call(Given::new(
                signature,
                (family, Val::Unit),
                (segment, args),
                env,
                loc,
            ));
        }
        let vals = self.args(args, env);
        if family.is_empty() {
            return self.unknown_function(name, (args, &vals), [segment.loc, loc], env);
        }
        let called = (Some(family), name);
        if let Some(reported) = self.foreign_call(called, (args, &vals), [segment.loc, loc]) {
            return reported;
        }
        self.no_such_function(family, name, segment.loc)
    }

    /// Whether a value has a method of the language.
    pub(crate) fn has_method(&self, val: &Val, name: &str) -> bool {
        methods::of(self, val).iter().any(|rows| named(rows, name).is_some())
    }

    /// A method of the language.
    pub(crate) fn builtin_method(
        &mut self,
        (receiver, val): (&Expr, Val),
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let tables = methods::of(self, &val);
        let found = tables.iter().find_map(|rows| named(rows, &name.name));
        if let Some(signature) = found {
            let mut given = Given::new(signature, ("", val), (name, args), env, loc);
            given.on = receiver.operand_text();
            return self.call(given);
        }
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if matches!(val, Val::Error) || vals.iter().any(|val| matches!(val, Val::Error)) {
            return Val::Error;
        }
        if self.dead() {
            return Val::Never;
        }
        let written = AsWritten {
            of: receiver.operand_text(),
            args: args.iter().map(|arg| [arg.text(), arg.operand_text()]).collect(),
            ends: if let ExprKind::Range(from, to) = &receiver.kind {
                [from, to].map(|end| end.as_ref()?.text())
            } else {
                [None, None]
            },
            loc,
        };
        self.no_such_method(&val, (name, &written), &vals, &tables)
    }

    /// A call of a function that there is.
    fn call(&mut self, mut given: Given<'_>) -> Val {
        if let Some(reported) = self.type_as_argument(&given) {
            return reported;
        }
        given.vals = given.args.iter().map(|arg| self.plain_expr(arg, given.env)).collect();
        if given.vals.iter().any(|val| matches!(val, Val::Error)) {
            return Val::Error;
        }
        if given.vals.len() != given.signature.parameters.len() {
            return self.other_count(&given);
        }
        if self.dead() {
            return Val::Never;
        }
        self.run(given).unwrap_or(Val::Error)
    }

    /// A call with as many arguments as it takes.
    fn run(&mut self, mut given: Given<'_>) -> Option<Val> {
        if let Some(need) = given.signature.needs {
            let what = need.what.map_or_else(|| format!("`{}`", given.path()), str::to_owned);
            if need.capability == Capability::Clusters && self.cluster_refused() {
                return None;
            }
            if !self.target.has(need.capability) {
                let headline = format!("`{}` does not have {what}", self.target);
                let instead = need.instead.and_then(|instead| instead(self, &given));
                let help = instead.unwrap_or_else(|| oldest_with(need.capability));
                let lacking = self.lacks(need.capability, headline, given.loc);
                return self.refuse(lacking.why(need.why).help(help));
            }
        }
        self.in_order(&given)?;
        self.axis_in_order(&given)?;
        self.arguments_in_order(&given)?;
        self.corner_in_array(&given)?;
        // All of them are looked at, so that whatever is wrong is reported at once.
        let parameters = given.signature.parameters.iter().enumerate();
        let checked: Vec<_> =
            parameters.map(|(at, parameter)| self.argument(parameter.kind, &given, at)).collect();
        given.checked = checked.into_iter().collect::<Option<_>>()?;
        match given.signature.run {
            Run::Value(run) => Some(run(self, &given)),
            Run::Gives(run) => run(self, &given),
            Run::Does(run) => run(self, &given).map(|()| Val::Unit),
            Run::Starts(run) => run(self, &given).map(|()| self.copying(given.loc)),
        }
    }

    /// Reports another number of arguments.
    fn other_count(&mut self, given: &Given<'_>) -> Val {
        if let Some(reported) = self.hinted(given) {
            return reported;
        }
        if let Some(diagnostic) = self.read_otherwise(given).or_else(|| self.with_indices(given)) {
            return self.report(diagnostic);
        }
        let diagnostic = self.count_refused(given).help_if(
            self.regrouped(given)
                .or_else(|| self.completed(given, Missing::Nothing))
                .or_else(|| self.filled_in(given))
                .or_else(|| Self::without_more(given))
                .or_else(|| {
                    let written = given.signature.usage.is_none() && !given.args.is_empty();
                    written.then(|| self.completed(given, Missing::Named)).flatten()
                })
                .or_else(|| self.usage(given)),
        );
        self.report(diagnostic)
    }

    /// The call of a method without the arguments that it does not take, if those before them are what it takes.
    fn without_more(given: &Given<'_>) -> Option<String> {
        let Signature { name, parameters, .. } = given.signature;
        if matches!(given.of, Val::Unit)
            || parameters.is_empty()
            || given.args.len() <= parameters.len()
        {
            return None;
        }
        let fits = |at: usize| {
            let known = matches!(
                parameters[at].kind,
                Kind::Axis(_)
                    | Kind::Axes
                    | Kind::NewAxis
                    | Kind::Number(_)
                    | Kind::Known(_)
                    | Kind::Size(_)
            );
            known && matches!(given.vals[at], Val::Const(Const::Int(_), _))
                || matches!(parameters[at].kind, Kind::Value)
        };
        if !(0..parameters.len()).all(fits) {
            return None;
        }
        let texts: Option<Vec<String>> =
            given.args[..parameters.len()].iter().map(Expr::text).collect();
        Some(format!(".{name}{}({})", Self::generics_of(given), texts?.join(", ")))
    }

    /// Reports a hint for the cache that is given as an argument of a load or a store, as Triton has it.
    fn hinted(&mut self, given: &Given<'_>) -> Option<Val> {
        let hints = ["evict_first", "evict_last"];
        let at = given.args.iter().position(|arg| {
            let text = arg.text().unwrap_or_default();
            hints.iter().any(|hint| text.trim_matches('"') == *hint)
        })?;
        let name = given.signature.name;
        let hint = given.args[at].text()?.trim_matches('"').to_owned();
        if !matches!(given.of, Val::View(_)) || !matches!(name, "load" | "store") {
            return None;
        }
        let rest: Option<Vec<String>> = (0..given.args.len())
            .filter(|other| *other != at)
            .map(|other| given.args[other].text())
            .collect();
        Some(
            self.report(
                Code::ArgumentCount
                    .at(given.loc, format!("`{name}` takes no hint for the cache"))
                    .compare("arguments", given.signature.parameters.len(), given.args.len())
                    .why("the hint is said of the window, by a method before the access")
                    .help(format!(".{hint}().{name}({})", rest?.join(", "))),
            ),
        )
    }

    /// The call with the arguments that it has too many of, as other languages have them, where what is meant is written in another way.
    fn regrouped(&self, given: &Given<'_>) -> Option<String> {
        let Signature { name, parameters, .. } = given.signature;
        let texts: Vec<String> = given.args.iter().map(Expr::text).collect::<Option<_>>()?;
        let Some(more) = texts.len().checked_sub(parameters.len()) else {
            return self.supplied(given, &texts);
        };
        let of = |at: usize| texts.get(at).cloned().unwrap_or_default();
        let is_integer =
            |at: usize| matches!(given.vals.get(at), Some(Val::Const(Const::Int(_), _)));
        let is_mask = |at: usize| {
            let num = given.vals.get(at).and_then(|val| self.num_of(val));
            num.is_some_and(|num| self.cells.known(num) == Some(Dtype::Bool))
        };
        if more == 0 {
            return None;
        }
        let function = matches!(given.of, Val::Unit);
        // Extents that no array joins.
        let extents = parameters
            .first()
            .is_some_and(|first| matches!(first.kind, Kind::Shape | Kind::Ring | Kind::View))
            && *name != "tile"
            || matches!(*name, "permute" | "sum");
        if extents && (0..=more).all(is_integer) {
            let first = texts[..=more].join(", ");
            let rest: Vec<String> =
                texts[more + 1..].iter().map(|text| format!(", {text}")).collect();
            let rest = rest.concat();
            let generic = Self::generics_of(given);
            let call = format!("{}{generic}([{first}]{rest})", given.path());
            return Some(if function { call } else { format!(".{call}") });
        }
        // The corner of a block likewise.
        let corner = parameters.iter().position(|parameter| matches!(parameter.kind, Kind::Corner));
        if let Some(at) = corner
            && (at..=at + more).all(|at| given.vals[at].value().is_some() || is_integer(at))
        {
            let mut grouped = texts.clone();
            grouped.splice(at..=at + more, [format!("[{}]", texts[at..=at + more].join(", "))]);
            let call = format!("{}({})", given.path(), grouped.join(", "));
            return Some(if function { call } else { format!(".{call}") });
        }
        let zero = || match given.vals.first().and_then(|val| self.num_of(val)) {
            Some(num) if self.cells.known(num).is_some_and(Dtype::is_float) => "0.0",
            Some(_) | None => "0",
        };
        Some(match (*name, texts.len()) {
            ("load", 2) if function && is_mask(1) => {
                format!("load_masked({}, {}, {})", of(0), of(1), zero())
            }
            ("load", 3) if function && is_mask(1) => {
                format!("load_masked({}, {}, {})", of(0), of(1), of(2))
            }
            ("store", 3) if function && is_mask(2) => {
                format!("store_masked({}, {}, {})", of(0), of(2), of(1))
            }
            ("arange", 3) => stepped(&given.vals, &texts)?,
            // The number of stages goes with the range.
            ("range" | "pipeline", 4) => {
                format!("pipeline(range({}, {}, {}), {})", of(0), of(1), of(2), of(3))
            }
            ("pipeline", 3) => format!("pipeline(range({}, {}, 1), {})", of(0), of(1), of(2)),
            ("sort" | "argsort", 2 | 3) if of(1) == "true" => {
                format!(".{name}_descending({})", of(0))
            }
            ("sum" | "max" | "min" | "argmax" | "argmin", 2) if of(1) == "true" => {
                format!(".{name}({0}).expand({0})", of(0))
            }
            ("tile", 4) if given.of.tensor().is_some() => {
                format!(".tile([{}, {}], [{}, {}])", of(0), of(1), of(2), of(3))
            }
            ("device_assert", 2) => format!("assert!({}, {})", of(0), of(1)),
            ("partition", 2) if matches!(given.vals[1], Val::Closure(_)) => {
                format!("partition({}).run({})", of(0), of(1))
            }
            ("add" | "max" | "min" | "and" | "or" | "xor", 3) if is_mask(2) => {
                self.masked_atomic(given, &texts)?
            }
            ("t", _) => ".t()".to_owned(),
            // Another value than zero.
            ("zeros", 2) if function && of(1).parse::<f64>().is_ok_and(|value| value != 0.0) => {
                format!("full({}, {})", of(0), of(1))
            }
            // The pieces have 16 bytes, whatever the elements are.
            ("swizzle", 3) if matches!(&of(1)[..], "2" | "3" | "4") && of(2) == "3" => {
                swizzle_of_bits(&texts[0])?.to_owned()
            }
            ("named_barrier", 2) => {
                let threads = of(1).parse::<u32>().ok().filter(|threads| threads % 32 == 0)?;
                format!("named_barrier({})", threads / 32)
            }
            ("cumsum", 2) if of(1) == "true" => format!(".scan_reverse({}, |a, b| a + b)", of(0)),
            ("cumprod", 2) if of(1) == "true" => format!(".scan_reverse({}, |a, b| a * b)", of(0)),
            ("dot_scaled", 7) => {
                format!("dot_scaled({}, {}, {}, {}, {})", of(0), of(3), of(6), of(1), of(4))
            }
            // What other languages say of the order of memory, or of the result, is not said.
            (_, _) if texts[parameters.len()..].iter().all(|text| text.starts_with('"')) => {
                let call = format!("{}({})", given.path(), texts[..parameters.len()].join(", "));
                if function { call } else { format!(".{call}") }
            }
            _ => return None,
        })
    }

    /// An atomic operation where a mask holds: elsewhere it changes nothing at the first address.
    fn masked_atomic(&self, given: &Given<'_>, texts: &[String]) -> Option<String> {
        let name = given.signature.name;
        let ExprKind::Binary(BinOp::Arith(Binary::Add), base, offsets) = &given.args[0].kind else {
            return None;
        };
        let dtype = self.cells.known(self.num_of(&given.vals[1])?)?;
        let neutral = match name {
            "max" if dtype.is_float() => format!("{}::NEG_INFINITY", dtype.name()),
            "min" if dtype.is_float() => format!("{}::INFINITY", dtype.name()),
            "max" => format!("{}::MIN", dtype.name()),
            "min" | "and" => format!("{}::MAX", dtype.name()),
            _ if dtype == Dtype::F32 || dtype == Dtype::F64 => "0.0".to_owned(),
            _ if dtype.is_float() => return None,
            _ => "0".to_owned(),
        };
        if name == "and" && !matches!(dtype, Dtype::U32 | Dtype::U64) {
            return None;
        }
        let (value, mask) = (&texts[1], &texts[2]);
        let (base, offsets) = (base.operand_text()?, offsets.text()?);
        Some(format!(
            "atomic::{name}({base} + select({mask}, {offsets}, 0), select({mask}, {value}, {neutral}))"
        ))
    }

    /// The call with what it lacks, where other languages have a default.
    fn supplied(&self, given: &Given<'_>, texts: &[String]) -> Option<String> {
        let rank = || self.ty_of(&given.of).map(|ty| ty.shape().len());
        let last = || rank()?.checked_sub(1);
        Some(match (given.signature.name, texts) {
            ("arange", [end]) => format!("arange(0, {end})"),
            ("sum" | "max" | "min", []) if rank()? > 1 => {
                let axes: Vec<usize> = (0..rank()?).collect();
                format!(".{}({axes:?})", given.signature.name)
            }
            ("top_k", [k]) => format!(".top_k({k}, {})", last()?),
            ("reduce" | "scan", [f]) if matches!(given.vals[0], Val::Closure(_)) => {
                format!(".{}({}, {f})", given.signature.name, last()?)
            }
            ("gather", [indices]) if matches!(self.ty_of(&given.of), Some(Type::Tile(..))) => {
                format!(".gather({}, {indices})", last()?)
            }
            ("clamp", [least]) => {
                let dtype = self.cells.known(self.num_of(&given.of)?)?;
                let most = if dtype.is_float() { "INFINITY" } else { "MAX" };
                format!(".clamp({least}, {}::{most})", dtype.name())
            }
            ("load_masked", [at, mask]) => {
                let dtype = self.cells.known(self.num_of(&given.vals[0])?)?;
                let other = if dtype.is_float() { "0.0" } else { "0" };
                format!("load_masked({at}, {mask}, {other})")
            }
            ("block_id" | "num_blocks" | "grid_dim", []) => {
                format!("{}(0)", given.path())
            }
            ("barrier", []) => "barrier(1)".to_owned(),
            ("tile", [shape]) if given.of.tensor().is_some() => {
                let Val::Array(parts) = &given.vals[0] else { return None };
                let extent = |part: &Val| matches!(part, Val::Const(Const::Int(extent), _) if *extent > 1 && (extent & (extent - 1)) == 0);
                if !parts.iter().all(extent) {
                    return None;
                }
                format!(".tile([{}], {shape})", vec!["0"; parts.len()].join(", "))
            }
            ("tile_rows", [at, shape]) if matches!(given.vals[0], Val::Array(_)) => {
                format!(".tile({at}, {shape})")
            }
            _ => return None,
        })
    }

    /// Reports a type that is an argument, as other languages have it.
    fn type_as_argument(&mut self, given: &Given<'_>) -> Option<Val> {
        let is_type = |name: &&str| {
            Dtype::from_name(name).is_some() && self.scopes.lookup(given.env, name).is_none()
        };
        let names = given.args.iter().map(|arg| arg.name().filter(is_type));
        let (at, ty) = names.enumerate().find_map(|(at, name)| Some((at, name?.to_owned())))?;
        let rest = given.args.iter().enumerate().filter(|(other, _)| *other != at);
        let rest: Option<Vec<String>> = rest.map(|(_, arg)| arg.text()).collect();
        let (path, function) = (given.path(), matches!(given.of, Val::Unit));
        let help = rest.map(|rest| {
            let rest = rest.join(", ");
            let dot = if function { "" } else { "." };
            match given.signature.name {
                "zeros" | "full" | "shared" | "tmem" | "cast" | "bitcast" | "view" => {
                    format!("{dot}{path}::<{ty}>({rest})")
                }
                // A sum in a wider type is a sum of wider elements.
                "sum" | "cumsum" | "cumprod" => format!(".cast::<{ty}>().{path}({rest})"),
                "dot" | "dot_tf32" | "store" => format!("{dot}{path}({rest})"),
                _ => format!("{dot}{path}({rest}).cast::<{ty}>()"),
            }
        });
        let headline = format!("`{ty}` is a type, where a value is required");
        let diagnostic = Code::Kind.at(given.loc, headline).why(
            "a type is no value: a conversion and a constructor take it between `::<` and `>`",
        );
        Some(self.report(diagnostic.help_if(help)))
    }

    /// The generic arguments of a call, as they are written.
    pub(super) fn generics_of(given: &Given<'_>) -> String {
        if let [GenericArg::Type(ty)] = &given.name.args[..]
            && let TypeKind::Path(path) = &ty.kind
            && let Some(name) = path.only()
        {
            return format!("::<{}>", name.name);
        }
        String::new()
    }

    /// The call with the arguments that it has, and examples of those that it lacks.
    fn filled_in(&self, given: &Given<'_>) -> Option<String> {
        let Signature { name, parameters, usage, .. } = given.signature;
        if let Some(written) = self.regrouped(given) {
            return Some(written);
        }
        let ranged = matches!(*name, "range" | "pipeline") && !given.args.is_empty();
        let product = matches!(*name, "dot" | "dot_tf32") && given.args.len() == 2;
        if usage.is_some() || !(ranged || product) || given.args.len() > parameters.len() {
            return None;
        }
        if let ("range", [end]) = (*name, given.args) {
            return Some(format!("range(0, {}, 1)", end.text()?));
        }
        let example = |at: usize| match parameters[at].example {
            Written::Name => Some(parameters[at].name.to_owned()),
            Written::Text(text) => Some(text.to_owned()),
            Written::By(example) => example(self, &given.of),
        };
        let written = (0..parameters.len())
            .map(|at| given.args.get(at).map_or_else(|| example(at), Expr::text))
            .collect::<Option<Vec<_>>>()?;
        Some(format!("{}({})", given.path(), written.join(", ")))
    }

    /// How the function is called, for help that can be pasted.
    pub(crate) fn usage(&self, given: &Given<'_>) -> Option<String> {
        let Signature { name, parameters, usage, .. } = given.signature;
        if let Some(usage) = usage {
            return usage(self, &given.of);
        }
        let method = !matches!(given.of, Val::Unit);
        let examples: Option<Vec<String>> = parameters
            .iter()
            .map(|parameter| match parameter.example {
                Written::Name => (!method).then(|| parameter.name.to_owned()),
                Written::Text(text) => Some(text.to_owned()),
                Written::By(example) => example(self, &given.of),
            })
            .collect();
        let examples = examples?.join(", ");
        Some(if method {
            format!(".{name}({examples})")
        } else {
            format!("{}({examples})", given.path())
        })
    }

    /// Reports a function that a module of the language does not have.
    fn no_such_function(&mut self, family: &str, name: &str, loc: Loc) -> Val {
        let rows = super::family(Some(family)).1;
        let diagnostic = Code::UnknownName.at(loc, format!("`{family}` has no function `{name}`"));
        let names = || rows.iter().map(|row| row.name);
        // What goes by a tensor map alone is looked for among the copies that go without one.
        let by_map = (family == "bulk").then(|| named(super::families::TMA, name)).flatten();
        self.report(match (by_map, nearest(name, names())) {
            (Some(row), _) => diagnostic.help(format!("tma::{}", row.name)),
            (None, Some(near)) => diagnostic.help(format!("{family}::{near}")),
            (None, None) => {
                diagnostic.why(format!("it has {}", names().collect::<Vec<_>>().join(", ")))
            }
        })
    }
}

/// `arange(from, to, step)`
fn stepped(vals: &[Val], texts: &[String]) -> Option<String> {
    let integer = |at: usize| {
        if let Some(Val::Const(Const::Int(value), _)) = vals.get(at) { Some(*value) } else { None }
    };
    let (from, to, step) = (integer(0)?, integer(1)?, integer(2)?);
    if step <= 0 || to <= from {
        return None;
    }
    let count = to.checked_sub(from)?.checked_add(step - 1)? / step;
    let tile = format!("arange(0, {count}) * {}", texts[2]);
    Some(if from == 0 { tile } else { format!("{tile} + {}", texts[0]) })
}

/// The swizzle that CUTLASS calls `Swizzle<B, 4, 3>`: `2^B` units of 16 bytes.
fn swizzle_of_bits(bits: &str) -> Option<&'static str> {
    Some(match bits {
        "0" => "row_major()",
        "1" => "swizzle(32)",
        "2" => "swizzle(64)",
        "3" => "swizzle(128)",
        _ => return None,
    })
}

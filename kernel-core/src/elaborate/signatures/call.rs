//! Calls, checked against their rows.

use kernel_ptx::Capability;

use super::{Given, Kind, Run, Signature, Written, family, methods, named};
use crate::{
    diag::{Code, counted, nearest},
    elaborate::{
        Builder, Env,
        language::{targets::oldest_with, value::Val},
    },
    ir::{Const, Dtype},
    loc::Loc,
    syntax::{Expr, GenericArg, Segment, TypeKind},
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
        self.args(args, env);
        if family.is_empty() {
            return self.unknown_function(name, args, segment.loc, env);
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
        val: Val,
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let tables = methods::of(self, &val);
        let found = tables.iter().find_map(|rows| named(rows, &name.name));
        if let Some(signature) = found {
            return self.call(Given::new(signature, ("", val), (name, args), env, loc));
        }
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if matches!(val, Val::Error) || vals.iter().any(|val| matches!(val, Val::Error)) {
            return Val::Error;
        }
        if self.dead() {
            return Val::Never;
        }
        self.no_such_method(&val, name, &vals, &tables, loc)
    }

    /// A call of a function that there is.
    fn call(&mut self, mut given: Given<'_>) -> Val {
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
        let (required, actual) = (given.signature.parameters.len(), given.vals.len());
        if let Some(reported) = self.hinted(given) {
            return reported;
        }
        let diagnostic = Code::ArgumentCount
            .at(given.loc, format!("`{}` takes {}", given.path(), counted(required, "argument")))
            .compare("arguments", required, actual)
            .help_if(self.filled_in(given).or_else(|| self.usage(given)));
        self.report(diagnostic)
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
        let more = texts.len().checked_sub(parameters.len())?;
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
        let extents = matches!(parameters.first()?.kind, Kind::Shape | Kind::Ring | Kind::View)
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
            ("named_barrier", 2) => {
                let threads = of(1).parse::<u32>().ok().filter(|threads| threads % 32 == 0)?;
                format!("named_barrier({})", threads / 32)
            }
            ("cumsum", 2) if of(1) == "true" => format!(".scan_reverse({}, |a, b| a + b)", of(0)),
            ("cumprod", 2) if of(1) == "true" => format!(".scan_reverse({}, |a, b| a * b)", of(0)),
            // The extreme values and where they are.
            ("max" | "min", 2) if of(1) == "true" => {
                let x = self.written(&given.of)?;
                format!("({x}.{name}({0}), {x}.arg{name}({0}))", of(0))
            }
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

    /// The generic arguments of a call, as they are written.
    fn generics_of(given: &Given<'_>) -> String {
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

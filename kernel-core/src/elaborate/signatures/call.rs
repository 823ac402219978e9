//! Calls, checked against their rows.

use kernel_ptx::Capability;

use super::{Given, Run, Signature, Written, family, methods, named};
use crate::{
    diag::{Code, counted, nearest},
    elaborate::{
        Builder, Env,
        language::{targets::oldest_with, value::Val},
    },
    loc::Loc,
    syntax::{Expr, Segment},
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
        let diagnostic = Code::ArgumentCount
            .at(given.loc, format!("`{}` takes {}", given.path(), counted(required, "argument")))
            .compare("arguments", required, actual)
            .help_if(self.filled_in(given).or_else(|| self.usage(given)));
        self.report(diagnostic)
    }

    /// The call with the arguments that it has, and examples of those that it lacks.
    fn filled_in(&self, given: &Given<'_>) -> Option<String> {
        let Signature { name, parameters, usage, .. } = given.signature;
        if usage.is_some() || !matches!(*name, "dot" | "dot_tf32") || given.args.len() != 2 {
            return None;
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

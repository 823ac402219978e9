//! The messages about a name that nothing defines.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder, Env,
        language::{constants, scope::Binding, value::Val},
        signatures,
    },
    ir::{Const, Dtype, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, IMPORTED},
};

/// The message about a name that is nothing, or `host` in the file of the kernel, among names that are known.
pub(crate) fn nothing_called<'a>(
    name: &str,
    loc: Loc,
    host: Option<&str>,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let diagnostic = Code::UnknownName.at(loc, format!("nothing is called `{name}` here"));
    if host == Some(IMPORTED) {
        return Code::UnknownName
            .at(loc, format!("`{name}` in this pattern is an imported name"))
            .why("Rust compares with it if it is a constant, and declares a new name otherwise; a kernel sees the constants of its file, and those of `#[device]` modules by their path")
            .help(format!("module::{name} => ..,"))
            .exemplified();
    }
    if let Some(what) = host {
        let diagnostic = diagnostic.why(format!("the file has {what} of this name, for the host: a kernel sees functions with `#[device]`, and constants of numbers, arrays and layouts"));
        return match what {
            "a function" => diagnostic.help(format!("#[device]\nfn {name}(..)")),
            "a static" => diagnostic
                .why("what never changes is a constant")
                .help(format!("const {name}: .."))
                .exemplified(),
            "a struct" => {
                diagnostic.help(format!("#[device]\nmod types {{ pub struct {name} {{ .. }} }}"))
            }
            _ => diagnostic,
        };
    }
    if name == "Ring" {
        return diagnostic
            .why("the prelude has no `Ring`: the file imports it by `use kiln::Ring;`")
            .help("kiln::Ring");
    }
    if let Some(advice) = super::advice::of_name(name) {
        let advised = diagnostic.advised(advice.0, advice.1);
        // What takes the place of the index of a thread depends on what it was for.
        return if advice.0 == super::advice::NO_THREADS { advised.exemplified() } else { advised };
    }
    if let Some((why, near)) = crate::elaborate::nearest_target(name) {
        return diagnostic.why(why).help(near);
    }
    if constants::NAMES.contains(&name) {
        return diagnostic
            .why("the constants of the standard library are reached by their path, or by a `use` of it")
            .help(format!("std::f32::consts::{name}"));
    }
    let known = known.into_iter().chain(signatures::names().map(|name| -> &str { name }));
    match crate::diag::nearest(name, known) {
        Some(near) => diagnostic.help(near.to_owned()),
        None if crate::elaborate::language::types::HEAP.contains(&name) => diagnostic
            .why("the device has no heap; arrays have a length known at compile time")
            .help("array(4, |i| ..)"),
        None => diagnostic.why("a kernel sees its own names, the constants of its file, functions with `#[device]`, and the language"),
    }
}

/// Two numbers as what a method is called on and its argument: a literal has no type of its own, and is the argument.
fn first_and_second(a: &Expr, b: &Expr) -> Option<(String, String)> {
    let literal = |expr: &Expr| matches!(expr.kind, ExprKind::Lit(_));
    let (first, second) = if literal(a) && !literal(b) { (b, a) } else { (a, b) };
    Some((first.operand_text()?, second.text()?))
}

/// The message about a function of the host, with the place of the function and the attribute that it lacks.
pub(crate) fn of_host_function(
    diagnostic: Diagnostic,
    function: Option<&(Loc, u32)>,
) -> Diagnostic {
    let Some((at, line)) = function else { return diagnostic };
    let placed = diagnostic.place(*at, "the function");
    Diagnostic { example: None, ..placed }.help(format!("{DEVICE} // before line {line}"))
}

/// The attribute of a function that kernels call.
pub(crate) const DEVICE: &str = "#[device]";

/// What a function of other languages is with these arguments.
fn with_arguments(name: &str, args: &[String]) -> Option<String> {
    Some(match (name, args) {
        ("clamp" | "clip", [x, low, high]) => format!("{x}.clamp({low}, {high})"),
        ("mma_sync", [to, a, b, acc]) => format!("{to} = dot({a}, {b}, {acc})"),
        ("not" | "logical_not" | "bitwise_not", [mask]) => format!("!{mask}"),
        ("logical_and", [a, b]) => format!("{a} & {b}"),
        ("logical_or", [a, b]) => format!("{a} | {b}"),
        ("max" | "fmax" | "fmaxf", [a, rest @ .., z]) => {
            rest.iter().chain([z]).fold(a.clone(), |most, next| format!("maximum({most}, {next})"))
        }
        ("min" | "fmin" | "fminf", [a, rest @ .., z]) => rest
            .iter()
            .chain([z])
            .fold(a.clone(), |least, next| format!("minimum({least}, {next})")),
        ("swap", [a, b]) => {
            let [a, b] =
                [a, b].map(|name| name.trim_start_matches("&mut ").trim_start_matches("& mut "));
            let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !is_name(a) || !is_name(b) {
                return None;
            }
            format!("({a}, {b}) = ({b}, {a})")
        }
        ("rand" | "uniform", [seed, at]) => random(seed, "uniform", at),
        ("randn" | "normal", [seed, at]) => random(seed, "normal", at),
        ("randint" | "randint4x" | "rand4x", [seed, at]) => random(seed, "words", at),
        ("associative_scan", [of, axis, f]) => match of.matches(',').count() {
            // A function of other languages takes the parts of two tuples one after the other.
            1 if of.starts_with('(') && !f.starts_with('|') => {
                format!("{of}.scan({axis}, |(a, b), (c, d)| {f}(a, b, c, d))")
            }
            _ => format!("{of}.scan({axis}, {f})"),
        },
        ("pow" | "__powf", [x, y]) => format!("{x}.powf({y})"),
        ("where_" | "ternary", [mask, a, b]) => format!("select({mask}, {a}, {b})"),
        ("ceil_div" | "ceildiv" | "div_ceil" | "divup" | "cdiv_", [a, b]) => {
            format!("cdiv({a}, {b})")
        }
        _ => return None,
    })
}

/// Numbers of a generator with this seed.
fn random(seed: &str, method: &str, at: &str) -> String {
    let is_name = at.chars().all(|c| c.is_alphanumeric() || c == '_');
    let at = if is_name { at.to_owned() } else { format!("({at})") };
    format!("kiln::random::Philox::new({seed}).{method}({at}.cast::<u64>())")
}

/// The arguments as operands.
fn operands_of(args: &[Expr]) -> Option<Vec<String>> {
    args.iter().map(Expr::operand_text).collect()
}

/// The method of windows that does what a function of other languages does.
fn atomic_method(name: &str) -> Option<&'static str> {
    Some(match name {
        "atomic_add" | "atomicAdd" => "atomic_add",
        "atomic_max" | "atomicMax" => "atomic_max",
        "atomic_min" | "atomicMin" => "atomic_min",
        "atomic_and" | "atomicAnd" => "atomic_and",
        "atomic_or" | "atomicOr" => "atomic_or",
        "atomic_xor" | "atomicXor" => "atomic_xor",
        "atomic_xchg" | "atomicExch" => "atomic_exchange",
        _ => return None,
    })
}

/// What is said of a function of Rust's number types.
pub(crate) const OF_NUMBERS: &str = "the compiler computes what is constant in a kernel itself, and knows no functions of Rust's number types";

impl Builder<'_> {
    pub(crate) fn unknown(&mut self, name: &str, loc: Loc, env: Env) -> Val {
        if Dtype::from_name(name).is_some() {
            return self.report(
                Code::Kind
                    .at(loc, format!("`{name}` is a type, where a value is required"))
                    .why("a conversion and a constructor take the type between `::<` and `>`")
                    .help(format!(".cast::<{name}>()")),
            );
        }
        if signatures::is_function(name) {
            return self.report(
                Code::Kind
                    .at(loc, format!("`{name}` is a function, where a value is required"))
                    .why("a function of the language is called; a closure says what it is called with")
                    .help(match name {
                        "maximum" => "|a, b| a.max(b)".to_owned(),
                        "minimum" => "|a, b| a.min(b)".to_owned(),
                        "fma" => "|a, b, c| fma(a, b, c)".to_owned(),
                        _ => format!("{name}(..)"),
                    }),
            );
        }
        let diagnostic = self.nothing_here(name, loc, env);
        self.report(diagnostic)
    }

    /// Reports a name that nothing defines, in a statement of which nothing else is certain.
    pub(crate) fn nowhere(&mut self, name: &str, loc: Loc, env: Env) -> Val {
        let diagnostic = self.nothing_here(name, loc, env);
        self.report_certain(diagnostic)
    }

    /// The message about a name that nothing defines, among those in sight. A constant is none of those in its own value.
    fn nothing_here(&self, name: &str, loc: Loc, env: Env) -> Diagnostic {
        let host = self.scopes.host.get(name).copied();
        let defined = |name: &&str| !self.defining.iter().any(|own| own == name);
        let known = self.scopes.names(env).into_iter().filter(defined);
        let diagnostic = nothing_called(name, loc, host, known);
        of_host_function(diagnostic, self.scopes.host_functions.get(name))
    }

    /// A function that nothing defines, with its arguments, and the places of its name and of the call. It may be a method.
    pub(crate) fn unknown_function(
        &mut self,
        name: &str,
        (args, vals): (&[Expr], &[Val]),
        [loc, call]: [Loc; 2],
        env: Env,
    ) -> Val {
        if !self.scopes.host.contains_key(name)
            && let Some(reported) = self.foreign_call((None, name), (args, vals), [loc, call])
        {
            return reported;
        }
        let written: Option<Vec<String>> = args.iter().map(Expr::text).collect();
        let first = args.first().and_then(Expr::operand_text);
        let rest = written.as_ref().and_then(|all| all.get(1..)).map(|rest| rest.join(", "));
        if super::advice::of_name(name).is_none() && signatures::is_tile_method(name) {
            let first = first.unwrap_or_else(|| "x".to_owned());
            let rest = rest.unwrap_or_else(|| "..".to_owned());
            return self.report(
                Code::UnknownName.at(loc, format!("`{name}` is not a function"))
                    .why("operations on one tile or number are methods; call a device function of this name with its module, `module::name(..)`")
                    .help(format!("{first}.{name}({rest})")),
            );
        }
        if let (Some(_), Some(first), None) = (Dtype::from_name(name), &first, args.get(1)) {
            return self.report(
                Code::Kind
                    .at(loc, format!("`{name}` is a type, where a function is required"))
                    .why("a conversion takes the type between `::<` and `>`")
                    .help(format!("{first}.cast::<{name}>()")),
            );
        }
        let diagnostic = Code::UnknownName.at(loc, format!("nothing is called `{name}` here"));
        if let (Some(method), Some(tensor)) = (atomic_method(name), args.first())
            && let Some(Binding::Var(var)) =
                tensor.name().and_then(|name| self.scopes.value_named(env, name))
            && let Val::Tensor(param) = self.scopes.vars[var.0 as usize].val
        {
            return self.report(
                diagnostic
                    .why("a window of a tensor is changed with a tile of its extents")
                    .help(format!("{}.{method}(value)", self.window_of(param))),
            );
        }
        if let ("max" | "fmax" | "fmaxf" | "min" | "fmin" | "fminf", [a, b]) = (name, args)
            && (self.names_a_scalar(a, env) || self.are_numbers(vals))
            && let Some((a, b)) = first_and_second(a, b)
        {
            let method = if name.contains("max") { "max" } else { "min" };
            let diagnostic = Diagnostic { primary: call, ..diagnostic };
            return self.report(diagnostic.help(format!("{a}.{method}({b})")));
        }
        // What stands between commas needs no parentheses.
        let operands: Option<Vec<String>> = if matches!(
            name,
            "clamp" | "clip" | "not" | "logical_not" | "bitwise_not" | "logical_and" | "logical_or"
        ) {
            operands_of(args)
        } else {
            written.clone()
        };
        if let Some(help) = operands.as_ref().and_then(|args| with_arguments(name, args)) {
            let why = super::advice::of_name(name).map_or("", |(why, _)| why);
            return self.report(diagnostic.advised(why, &help));
        }
        if let (Some(real), Some(written)) = (super::advice::of_layout(name), &written)
            && !written.is_empty()
        {
            return self.report(diagnostic.help(format!("{real}({})", written.join(", "))));
        }
        if let ("convert_layout", Some(first), Some(rest)) = (name, &first, &rest) {
            return self.report(diagnostic.help(format!("{first}.to_layout({rest})")));
        }
        // The first argument of a shuffle is the mask of its lanes.
        let first = if name.starts_with("__shfl") || name.starts_with("__reduce") {
            operands_of(args).and_then(|all| all.get(1).cloned())
        } else {
            first
        };
        if let (Some((why, help)), Some(first)) = (super::advice::of_name(name), first) {
            let help = super::forms::with_name(help, "x", &first);
            let advised = diagnostic.advised(why, &help);
            return self.report(if why == super::advice::NO_THREADS {
                advised.exemplified()
            } else {
                advised
            });
        }
        self.unknown(name, loc, env)
    }

    /// Reports `blockIdx.x` and the like.
    pub(crate) fn index_of_grid(
        &mut self,
        base: &Expr,
        name: &crate::syntax::Ident,
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        let of = base.name()?;
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == name.name)?;
        if self.scopes.lookup(env, of).is_some() {
            return None;
        }
        let diagnostic = Code::UnknownName.at(loc, format!("nothing is called `{of}` here"));
        let diagnostic = match of {
            "blockIdx" => diagnostic.help(format!("block_id({axis})")),
            "gridDim" => diagnostic.help(format!("num_blocks({axis})")),
            "blockDim" => diagnostic.why(super::advice::NO_THREADS).help("num_warps() * 32"),
            "threadIdx" => diagnostic.why(super::advice::NO_THREADS).help("arange(0, 128)"),
            _ => return None,
        };
        let found = matches!(of, "blockIdx" | "gridDim");
        Some(self.report(if found { diagnostic } else { diagnostic.exemplified() }))
    }

    /// Reports an atomic operation on an element, `atomicAdd(&out[i], x)`, of a tensor or a pointer.
    pub(crate) fn atomic_of_element(
        &mut self,
        name: &str,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        let (method, [element, value]) = (atomic_method(name)?, args) else { return None };
        let element = if let ExprKind::Ref(_, inner) = &element.kind { inner } else { element };
        let ExprKind::Index(base, index) = &element.kind else { return None };
        let val = self.plain_expr(base, env);
        let value_val = self.plain_expr(value, env);
        if val.is_absent() || value_val.is_absent() {
            return Some(Val::Error);
        }
        let scalar = !matches!(self.ty_of(&value_val), Some(Type::Tile(..)));
        let texts = (base.operand_text(), index.text(), value.text());
        let help = match texts {
            (Some(base), Some(at), Some(value)) if val.tensor().is_some() => {
                let value = if scalar && self.is_no_point(&value_val) {
                    format!("full([1], {value})")
                } else {
                    format!("{value}.expand(0)")
                };
                Some(format!("{base}.tile([{at}], [1]).{method}({value})"))
            }
            (Some(base), Some(at), Some(value)) => {
                let operation = method.trim_start_matches("atomic_");
                Some(format!("atomic::{operation}({base} + {at}, {value})"))
            }
            (_, _, _) => None,
        };
        let diagnostic = Code::UnknownName.at(loc, format!("nothing is called `{name}` here"));
        let why = if val.tensor().is_some() {
            "an element of a tensor is a window of extent 1, which is changed with a tile of its extents"
        } else {
            "an atomic operation takes an address"
        };
        Some(self.report(diagnostic.why(why).help_if(help)))
    }

    /// Whether a value is no tile of rank 0.
    fn is_no_point(&self, val: &Val) -> bool {
        val.value().is_none_or(|value| !self.is_point(value))
    }

    /// Whether all of these are numbers, and one is not a constant.
    fn are_numbers(&self, vals: &[Val]) -> bool {
        vals.iter().all(|val| self.is_number(val))
            && vals.iter().any(|val| !matches!(val, Val::Const(..)))
    }

    /// Whether an expression is the name of a scalar.
    fn names_a_scalar(&self, expr: &Expr, env: Env) -> bool {
        let binding = expr.name().and_then(|name| self.scopes.value_named(env, name));
        let Some(Binding::Var(var)) = binding else { return false };
        let val = &self.scopes.vars[var.0 as usize].val;
        matches!(val, Val::Const(..)) || val.value().is_some_and(|value| self.is_scalar(value))
    }

    /// Reports `f32::sqrt(x)`, which is a method of tiles and numbers.
    pub(crate) fn method_of_number(
        &mut self,
        name: &str,
        (vals, args): (&[Val], &[Expr]),
        headline: &str,
        loc: Loc,
    ) -> Option<Val> {
        let (first, rest) = args.split_first()?;
        if let ("pow", [Val::Const(Const::Int(base), _), Val::Const(Const::Int(power), _)]) =
            (name, vals)
            && let Some(number) = u32::try_from(*power).ok().and_then(|by| base.checked_pow(by))
        {
            let diagnostic = Code::UnknownName.at(loc, headline).why(OF_NUMBERS);
            return Some(self.report(diagnostic.help(number.to_string())));
        }
        if !signatures::is_tile_method(name) {
            return None;
        }
        let value = vals.first().and_then(Val::value);
        let is_tile = value.is_some_and(|value| !self.is_scalar(value));
        let texts: Option<Vec<String>> = rest.iter().map(Expr::text).collect();
        let (first, rest) = (first.operand_text()?, texts?.join(", "));
        let (why, help) = match name {
            "max" | "min" if is_tile => (
                "as methods of a tile, `max` and `min` reduce it along an axis; `maximum` and `minimum` compare element by element",
                format!("{name}imum({first}, {rest})"),
            ),
            _ => {
                ("operations on one tile or number are methods", format!("{first}.{name}({rest})"))
            }
        };
        Some(self.report(Code::UnknownName.at(loc, headline).why(why).help(help)))
    }

    /// Reports `f32::max`, which is a value in Rust.
    pub(crate) fn method_as_path(&mut self, method: &str, loc: Loc) -> Val {
        let two = matches!(method, "max" | "min");
        self.report(
            Code::Kind
                .at(loc, format!("`{method}` is a method, not a value"))
                .why("pass a closure instead of a function")
                .help(if two {
                    format!("|a, b| a.{method}(b)")
                } else {
                    format!("|v| v.{method}()")
                }),
        )
    }
}

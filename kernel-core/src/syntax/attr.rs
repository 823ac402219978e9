//! The arguments of `#[kernel(..)]` and the facts on parameters.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream};
use syn::{
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
    visit::Visit,
};

use super::{Expr, GenericArg, Ident, MapOption, ParamFact, expr::Reader, written};
use crate::{
    diag::{Code, Diagnostic},
    loc::{Loc, Tokens},
};

/// What `#[kernel(..)]` says.
#[derive(Clone, Debug, Default)]
pub struct KernelAttr {
    /// `target = sm_80` or `target = [sm_80, sm_90a]`: names with their places.
    pub targets: Vec<Ident>,
    /// Something that is not a target stands among them: refused already.
    pub target_refused: bool,
    /// `warps = 4`: an expression over the generic parameters.
    pub warps: Option<Expr>,
    /// `cluster = [2, 1]`: an expression over the generic parameters.
    pub cluster: Option<Expr>,
    /// `grid = [..]`: host tokens.
    pub grid: Option<Tokens>,
    /// `crate = path`: where generated code finds `kiln`.
    pub crate_path: Option<Tokens>,
    /// `debug = always`: in which builds it prints, and checks what it asserts.
    pub says_in: Builds,
    /// `instances(..)`: the lists, of which all combinations are compiled.
    pub instances: Vec<Instances>,
    /// The place of the attribute's arguments.
    pub loc: Option<Loc>,
    /// The arguments as they are written, for help that repeats them.
    pub text: String,
    /// The arguments could not be read, so that what is to be compiled is not known.
    pub unreadable: bool,
}

/// In which builds `println!`, `assert!` and their like are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Builds {
    /// In those with `debug_assertions`.
    #[default]
    Debug,
    /// In all.
    All,
}

/// One list of `instances(..)`: `BK = [16, 32]` or `(BM, BN) = [(128, 128), (128, 64)]`.
#[derive(Clone, Debug)]
pub struct Instances {
    /// The generic parameters.
    pub names: Vec<Ident>,
    /// Their values, one row a choice.
    pub rows: Vec<Vec<InstanceValue>>,
    /// The place of the list.
    pub loc: Loc,
}

/// A value in an instance list.
#[derive(Clone, Debug)]
pub struct InstanceValue {
    /// As the compiler reads it.
    pub arg: GenericArg,
    /// As the user wrote it.
    pub text: String,
    /// The same, for the host side.
    pub tokens: Tokens,
    /// The place.
    pub loc: Loc,
}

/// All arguments, as they are written.
const ARGUMENTS: &str =
    "#[kernel(target = sm_80, warps = 4, grid = [cdiv(n, 1024)], instances(BM = [64, 128]))]";

struct RawAttr {
    entries: Vec<RawEntry>,
}

enum RawEntry {
    Value(syn::Ident, Box<syn::Expr>),
    Instances(Vec<RawInstances>),
    Crate(syn::Path),
}

struct RawInstances {
    names: Vec<syn::Ident>,
    rows: Vec<Vec<RawValue>>,
    /// The list with its brackets.
    place: Span,
    /// The only value stands without brackets.
    bare: bool,
}

enum RawValue {
    Expr(syn::Expr),
    Type(syn::Type),
}

impl Parse for RawAttr {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut entries = Vec::new();
        while !input.is_empty() {
            if input.peek(syn::Token![crate]) {
                let token = input.parse::<syn::Token![crate]>()?;
                equals(&syn::Ident::new("crate", token.span), input)?;
                entries.push(RawEntry::Crate(input.call(syn::Path::parse_mod_style)?));
                if !input.is_empty() {
                    input.parse::<syn::Token![,]>()?;
                }
                continue;
            }
            let name: syn::Ident = input.parse()?;
            if input.peek(syn::token::Paren) {
                if name != "instances" {
                    return Err(syn::Error::new(
                        name.span(),
                        "write `name = value`; only `instances(..)` takes parentheses",
                    ));
                }
                let content;
                syn::parenthesized!(content in input);
                let lists = content.parse_terminated(RawInstances::parse, syn::Token![,])?;
                entries.push(RawEntry::Instances(lists.into_iter().collect()));
            } else {
                equals(&name, input)?;
                entries.push(RawEntry::Value(name, Box::new(input.parse()?)));
            }
            if !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
        }
        Ok(RawAttr { entries })
    }
}

/// The `=` after a name. What is missing at the end of the tokens has no place of its own, so the name is blamed.
fn equals(name: &syn::Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() || input.peek(syn::Token![,]) {
        return Err(syn::Error::new(name.span(), format!("`{name}` has no value")));
    }
    input.parse::<syn::Token![=]>()?;
    if input.is_empty() {
        return Err(syn::Error::new(name.span(), format!("`{name}` has no value")));
    }
    Ok(())
}

impl Parse for RawInstances {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let names = if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            content.parse_terminated(syn::Ident::parse, syn::Token![,])?.into_iter().collect()
        } else {
            vec![input.parse::<syn::Ident>()?]
        };
        if let Some(last) = names.last() {
            equals(last, input)?;
        }
        if names.len() == 1 && !input.peek(syn::token::Bracket) && !input.is_empty() {
            let value: RawValue = input.parse()?;
            let place = match &value {
                RawValue::Expr(expr) => expr.span(),
                RawValue::Type(ty) => ty.span(),
            };
            return Ok(RawInstances { names, rows: vec![vec![value]], place, bare: true });
        }
        let list;
        let brackets = syn::bracketed!(list in input);
        let mut rows = Vec::new();
        while !list.is_empty() {
            if names.len() > 1 {
                let row;
                syn::parenthesized!(row in list);
                rows.push(
                    row.parse_terminated(RawValue::parse, syn::Token![,])?.into_iter().collect(),
                );
            } else {
                rows.push(vec![list.parse()?]);
            }
            if !list.is_empty() {
                list.parse::<syn::Token![,]>()?;
            }
        }
        Ok(RawInstances { names, rows, place: brackets.span.join(), bare: false })
    }
}

impl Parse for RawValue {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let expression = input.peek(syn::Lit)
            || input.peek(syn::Token![-])
            || input.peek(syn::token::Brace)
            || input.peek(syn::Token![!]);
        if expression {
            input.parse().map(RawValue::Expr)
        } else {
            input.parse().map(RawValue::Type)
        }
    }
}

/// The name and rank of a parameter that is a tensor of a rank written out.
fn tensor(input: &syn::FnArg) -> Option<(&syn::Ident, usize)> {
    let syn::FnArg::Typed(typed) = input else { return None };
    let (syn::Pat::Ident(pat), syn::Type::Path(path)) = (&*typed.pat, &*typed.ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    let syn::GenericArgument::Const(rank) = args.args.get(1)? else { return None };
    let tensors = ["Tensor", "TensorMut", "TensorMap", "TensorMapMut"];
    tensors.iter().any(|name| last.ident == name).then_some((&pat.ident, number(rank)?))
}

/// The name of a parameter that is an `Option`.
fn optional(input: &syn::FnArg) -> Option<&syn::Ident> {
    let syn::FnArg::Typed(typed) = input else { return None };
    let syn::Pat::Ident(pat) = &*typed.pat else { return None };
    of_option(&typed.ty).map(|_| &pat.ident)
}

/// What a type may hold, if it is an `Option`.
pub(crate) fn of_option(ty: &syn::Type) -> Option<&syn::Type> {
    let syn::Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.iter().collect::<Vec<_>>()[..] {
        [syn::GenericArgument::Type(of)] => Some(of),
        _ => None,
    }
}

/// The value of an integer literal.
fn number(expr: &syn::Expr) -> Option<usize> {
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(literal), .. }) = expr else {
        return None;
    };
    literal.base10_parse().ok()
}

/// Looks for axes that tensors do not have.
struct Axes<'a> {
    tensors: BTreeMap<&'a syn::Ident, usize>,
    /// The place, the rank and the axis.
    wrong: Vec<(Span, usize, usize)>,
    /// Tensors that may be absent, as their names mean them outside of patterns.
    optional: BTreeSet<&'a syn::Ident>,
    /// What is asked of one of these as if it were there: its name and the call.
    asked: Vec<(&'a syn::Ident, &'a syn::ExprMethodCall)>,
    /// The names of patterns.
    bound: BTreeSet<&'a syn::Ident>,
}

impl<'ast> Visit<'ast> for Axes<'ast> {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.bound.insert(&pat.ident);
        syn::visit::visit_pat_ident(self, pat);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let of_tensors = ["dim", "shape", "strides", "len"];
        if of_tensors.iter().any(|name| call.method == name)
            && let syn::Expr::Path(path) = &*call.receiver
            && let Some(name) = path.path.get_ident()
            && self.optional.contains(name)
        {
            self.asked.push((name, call));
        }
        if call.method == "dim"
            && let syn::Expr::Path(path) = &*call.receiver
            && let Some(rank) = path.path.get_ident().and_then(|name| self.tensors.get(&name))
            && let [Some(axis)] = call.args.iter().map(number).collect::<Vec<_>>()[..]
            && axis >= *rank
        {
            self.wrong.push((call.args.span(), *rank, axis));
        }
        syn::visit::visit_expr_method_call(self, call);
    }
}

impl Reader<'_> {
    /// Reads the arguments of the attribute; what is not understood is a problem.
    pub(super) fn kernel_attr(&mut self, tokens: TokenStream) -> KernelAttr {
        let loc = self.loc(&tokens);
        let text = written(&tokens);
        let mut attr = KernelAttr { loc: Some(loc), text, ..KernelAttr::default() };
        let raw: RawAttr = match syn::parse2(tokens) {
            Ok(raw) => raw,
            Err(error) => {
                let loc = self.locations.of_span(error.span());
                self.unread_attr(loc, &error);
                attr.unreadable = true;
                return attr;
            }
        };
        for entry in raw.entries {
            match entry {
                RawEntry::Instances(lists) => {
                    attr.instances.extend(lists.into_iter().map(|list| self.instances(list)));
                }
                RawEntry::Crate(path) => {
                    if attr.crate_path.is_some() {
                        let loc = self.loc(&path);
                        self.bad_attr(loc, "`crate` is given twice");
                    }
                    attr.crate_path = Some(self.locations.keep(&path));
                }
                RawEntry::Value(name, value) => self.attr_value(&mut attr, &name, *value),
            }
        }
        attr
    }

    fn attr_value(&mut self, attr: &mut KernelAttr, name: &syn::Ident, value: syn::Expr) {
        let loc = self.locations.of_span(name.span());
        let written = name.to_string();
        let mut name = written.as_str();
        let known = ["target", "targets", "warps", "grid", "cluster", "debug", "instances"];
        if !known.contains(&name) {
            let near = match name {
                "num_warps" => Some("warps"),
                "num_ctas" | "clusters" | "cluster_dims" | "ctas" => Some("cluster"),
                "blocks" | "grid_dim" | "num_blocks" => Some("grid"),
                "arch" | "sm" | "device" => Some("target"),
                _ => crate::diag::nearest(name, known),
            };
            let headline = format!("`{name}` is not an argument of `#[kernel]`");
            let value = super::written(&value);
            let diagnostic = Diagnostic::new(Code::Attribute, loc, headline);
            self.problems.push(match (name, near) {
                ("num_stages" | "stages" | "pipeline_stages", _) => diagnostic
                    .compare(
                        "",
                        known.map(|name| format!("`{name}`")).join(", "),
                        format!("`{name} = {value}`"),
                    )
                    .why("each loop has stages of its own: the second argument of `pipeline`")
                    .help(format!("for k in pipeline(range(0, n, 64), {value}) {{ .. }}")),
                ("threads" | "num_threads" | "block_size" | "block_dim" | "block", _) => {
                    let warps = value.parse::<u32>().ok().filter(|threads| threads % 32 == 0);
                    diagnostic
                        .why("a block has `warps` warps of 32 threads each")
                        .help_if(warps.map(|threads| format!("warps = {}", threads / 32)))
                }
                (_, Some(near)) => diagnostic.help(format!("{near} = {value}")),
                (_, None) => diagnostic.compare(
                    "",
                    known.map(|name| format!("`{name}`")).join(", "),
                    format!("`{name}`"),
                ),
            });
            // How many warps there are is said as well.
            if matches!(name, "threads" | "num_threads" | "block_size" | "block_dim" | "block") {
                return;
            }
            // What is meant counts for the rest, so that its absence is not reported as well.
            name = near.unwrap_or(name);
        }
        match name {
            "target" | "targets" if !attr.targets.is_empty() || attr.target_refused => {
                self.bad_attr(
                    loc,
                    &format!("`{name}` is given twice; write several values in `[..]`"),
                );
            }
            "target" | "targets" => {
                let list = if let syn::Expr::Array(array) = value {
                    array.elems.into_iter().collect()
                } else {
                    vec![value]
                };
                for item in list {
                    // `kiln::lang::sm_80` means the same.
                    if let syn::Expr::Path(path) = &item
                        && let Some(last) = path.path.segments.last()
                    {
                        attr.targets.push(self.ident(&last.ident));
                    } else {
                        self.no_target(&item);
                        attr.target_refused = true;
                    }
                }
            }
            "warps" | "grid" | "cluster"
                if attr.warps.is_some() && name == "warps"
                    || attr.grid.is_some() && name == "grid"
                    || attr.cluster.is_some() && name == "cluster" =>
            {
                self.bad_attr(loc, &format!("`{name}` is given twice"));
            }
            "debug" => {
                if matches!(&value, syn::Expr::Path(path) if path.path.is_ident("always")) {
                    attr.says_in = Builds::All;
                } else {
                    let loc = self.loc(&value);
                    self.problems.push(
                        Diagnostic::new(Code::Attribute, loc, "`debug` takes `always`")
                            .why("builds with `debug_assertions` have what a kernel prints and asserts without it")
                            .help("always"),
                    );
                }
            }
            "warps" => attr.warps = Some(self.expr(&value, 0)),
            "cluster" => attr.cluster = Some(self.expr(&value, 0)),
            "grid" => attr.grid = Some(self.locations.keep(&value)),
            "instances" if written == "instances" => {
                self.bad_attr(loc, "`instances` takes lists in parentheses");
                attr.unreadable = true;
            }
            "instances" => attr.unreadable = true,
            _ => {}
        }
    }

    /// Reports what stands for the name of a target.
    fn no_target(&mut self, item: &syn::Expr) {
        let text = written(item);
        let number = text.trim_matches('"').trim_start_matches("sm").trim_start_matches('_');
        let near = format!("sm_{number}");
        let known = kernel_ptx::Hardware::named(&near).is_some();
        let diagnostic =
            Diagnostic::new(Code::Attribute, self.loc(item), "a target is a name such as `sm_80`")
                .compare("", "a name", format!("`{text}`"));
        self.problems.push(if known {
            diagnostic.help(near)
        } else {
            diagnostic.help(ARGUMENTS).exemplified()
        });
    }

    fn instances(&mut self, raw: RawInstances) -> Instances {
        let loc = self.locations.of_span(raw.place);
        let names: Vec<_> = raw.names.iter().map(|name| self.ident(name)).collect();
        if raw.rows.is_empty() {
            let headline = "an empty list compiles nothing";
            self.problems.push(Diagnostic::new(Code::Instances, loc, headline));
        }
        let mut rows = Vec::new();
        for row in raw.rows {
            let values: Vec<_> = row
                .into_iter()
                .map(|value| match value {
                    RawValue::Expr(expr) => InstanceValue {
                        loc: self.loc(&expr),
                        arg: GenericArg::Const(self.expr(&expr, 0)),
                        text: written(&expr),
                        tokens: self.locations.keep(&expr),
                    },
                    RawValue::Type(ty) => InstanceValue {
                        loc: self.loc(&ty),
                        arg: GenericArg::Type(self.ty(&ty, 0)),
                        text: written(&ty),
                        tokens: self.locations.keep(&ty),
                    },
                })
                .collect();
            if values.len() == names.len() {
                rows.push(values);
            } else {
                let loc = values.first().map_or(loc, |value| value.loc);
                self.problems.push(
                    Diagnostic::new(
                        Code::Instances,
                        loc,
                        "a row of values does not match the names before `=`",
                    )
                    .compare("values", names.len(), values.len()),
                );
            }
        }
        if raw.bare
            && let ([name], [row]) = (&names[..], &rows[..])
            && let [value] = &row[..]
        {
            self.problems.push(
                Diagnostic::new(Code::Attribute, loc, "`instances` takes lists of values")
                    .compare("", "square brackets", format!("`{}`", value.text))
                    .why(format!("each value of `{}` makes an instance of its own", name.name))
                    .help(format!("[{}]", value.text)),
            );
        }
        Instances { names, rows, loc }
    }

    /// Reports each `x.dim(3)` in `grid` whose tensor `x` has fewer axes. Axes and ranks that are not literals are looked at
    /// by the launch.
    pub(super) fn axes_of_grid(&mut self, grid: Tokens, signature: &syn::Signature) {
        let Ok(expr) = syn::parse2::<syn::Expr>(self.locations.tokens(grid)) else { return };
        let tensors = signature.inputs.iter().filter_map(tensor).collect();
        let optional = signature.inputs.iter().filter_map(optional).collect();
        let mut axes = Axes {
            tensors,
            wrong: Vec::new(),
            optional,
            asked: Vec::new(),
            bound: BTreeSet::new(),
        };
        axes.visit_expr(&expr);
        for (name, call) in axes.asked.iter().filter(|(name, _)| !axes.bound.contains(name)) {
            let loc = self.loc(&call.receiver);
            self.problems.push(
                Code::NotAFunction
                    .at(loc, format!("`{name}` may be absent, and has no `{}` then", call.method))
                    .why("the grid is computed for each launch, with and without the argument")
                    .help(format!(
                        "match {name} {{ Some({name}) => {}, None => 1 }}",
                        written(call)
                    )),
            );
        }
        for (span, rank, axis) in axes.wrong {
            let loc = self.locations.of_span(span);
            let required = match rank {
                // The parameter's own type is refused.
                0 => continue,
                1 => "axis 0".to_owned(),
                _ => format!("axis 0 to {}", rank - 1),
            };
            self.problems.push(
                Diagnostic::new(Code::Axis, loc, format!("the tensor has no axis {axis}")).compare(
                    "",
                    required,
                    format!("axis {axis}"),
                ),
            );
        }
    }

    /// What `syn` says, in the words of this compiler.
    fn unread_attr(&mut self, loc: Loc, error: &syn::Error) {
        let text = error.to_string();
        let Some(required) = text.strip_prefix("expected ") else {
            return self.bad_attr(loc, &text);
        };
        let actual = error.span().source_text().unwrap_or_else(|| "the end".to_owned());
        self.problems.push(
            Diagnostic::new(
                Code::Attribute,
                loc,
                "the arguments of `#[kernel]` cannot be read from here on",
            )
            .compare("", required, format!("`{actual}`"))
            .help(ARGUMENTS)
            .exemplified(),
        );
    }

    fn bad_attr(&mut self, loc: Loc, text: &str) {
        let diagnostic = Diagnostic::new(Code::Attribute, loc, text.to_owned());
        self.problems.push(diagnostic.help(ARGUMENTS).exemplified());
    }

    /// The facts in a parameter's attributes. Doc comments are not facts.
    pub(super) fn param_facts(
        &mut self,
        attrs: &[syn::Attribute],
        ty: &syn::Type,
    ) -> Vec<ParamFact> {
        let mut facts = Vec::new();
        for attr in attrs {
            let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
            let loc = self.loc(attr);
            let list = attr.meta.require_list().ok().and_then(|list| {
                list.parse_args_with(
                    syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated,
                )
                .ok()
            });
            match (name.as_str(), list) {
                ("doc" | "allow" | "expect", _) => {}
                ("multiple_of", Some(args)) if args.len() == 1 => {
                    facts.push(ParamFact::MultipleOf(self.expr(&args[0], 0)));
                }
                ("stride", Some(args)) if !args.is_empty() => {
                    let strides = args
                        .iter()
                        .map(|arg| (!matches!(arg, syn::Expr::Infer(_))).then(|| self.expr(arg, 0)))
                        .collect();
                    facts.push(ParamFact::Stride(strides, loc));
                }
                ("block", Some(args)) if !args.is_empty() => {
                    let (mut extents, mut options) = (Vec::new(), Vec::new());
                    for arg in &args {
                        match map_option(arg) {
                            Some((name, value)) => {
                                let (text, loc) = (name.to_string(), self.loc(name));
                                let value = self.expr(value, 0);
                                options.push(MapOption { name: Ident { name: text, loc }, value });
                            }
                            None => extents.push(self.expr(arg, 0)),
                        }
                    }
                    facts.push(ParamFact::Block(extents, options, loc));
                }
                _ => {
                    let mut diagnostic = Diagnostic::new(
                        Code::FactAttribute,
                        loc,
                        format!("`#[{name}]` does not state a fact about a parameter"),
                    )
                    .why("the facts are `#[multiple_of(n)]` on an integer or pointer, `#[stride(_, 1)]` on a tensor and `#[block(64, 64)]` on a tensor map, with one entry for each axis");
                    if let Some(help) = fact_of(ty) {
                        diagnostic = diagnostic.help(help);
                    }
                    self.problems.push(diagnostic);
                }
            }
        }
        facts
    }
}

/// Whether an attribute states a fact about what a kernel is given.
pub(crate) fn is_fact(attr: &syn::Attribute) -> bool {
    ["multiple_of", "stride", "block"].iter().any(|name| attr.path().is_ident(name))
}

/// A fact that can be stated about a parameter of this type.
fn fact_of(ty: &syn::Type) -> Option<String> {
    const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
    let syn::Type::Path(path) = of_option(ty).unwrap_or(ty) else { return None };
    let last = path.path.segments.last()?;
    let rank = || {
        let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
        let syn::GenericArgument::Const(rank) = args.args.get(1)? else { return None };
        number(rank).filter(|rank| (1..=5).contains(rank))
    };
    match last.ident.to_string().as_str() {
        "Tensor" | "TensorMut" => Some(format!("#[stride({}1)]", "_, ".repeat(rank()? - 1))),
        "TensorMap" | "TensorMapMut" => {
            Some(format!("#[block({})]", vec!["64"; rank()?].join(", ")))
        }
        "Ptr" => Some("#[multiple_of(16)]".to_owned()),
        name if INTEGERS.contains(&name) => Some("#[multiple_of(16)]".to_owned()),
        _ => None,
    }
}

/// `name = value` among the extents of a block.
fn map_option(arg: &syn::Expr) -> Option<(&syn::Ident, &syn::Expr)> {
    let syn::Expr::Assign(assign) = arg else { return None };
    let syn::Expr::Path(path) = &*assign.left else { return None };
    Some((path.path.get_ident()?, &assign.right))
}

//! How methods are written: the messages about a method that does not exist, or has other arguments.

use super::advice::Advice;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::Val,
        signatures::{self, Given, Signature},
    },
    ir::{Const, Elem, ParamKind, Type, Value},
    layouts::{Memory, Place},
    loc::Loc,
    syntax::Segment,
};

/// The most methods that a message lists.
const MOST_LISTED: usize = 24;

/// How a call of a method, or a field, is written; what is long is left out.
pub(crate) struct AsWritten {
    /// What it is called on, as an operand.
    pub(crate) of: Option<String>,
    /// Its arguments, and the same as operands.
    pub(crate) args: Vec<[Option<String>; 2]>,
    /// The ends of a range.
    pub(crate) ends: [Option<String>; 2],
    /// The place of the whole.
    pub(crate) loc: Loc,
}

impl AsWritten {
    /// The diagnostic with a help that takes the place of the whole: one that begins with a method goes on from what is there.
    pub(crate) fn instead(&self, mut diagnostic: Diagnostic, help: &str) -> Diagnostic {
        let continues = help.starts_with('.') && !help.starts_with("..");
        match &self.of {
            Some(of) if continues => {
                diagnostic.primary = self.loc;
                diagnostic.help(format!("{of}{help}"))
            }
            Some(_) | None => {
                let inside = |c: char| c.is_alphanumeric() || c == '_';
                if !continues && !help.chars().all(inside) {
                    diagnostic.primary = self.loc;
                }
                diagnostic.help(help)
            }
        }
    }
}

impl Builder<'_> {
    /// Reports a method that there is none of; `tables` are those of what it is called on.
    pub(crate) fn no_such_method(
        &mut self,
        val: &Val,
        (name, written): (&Segment, &AsWritten),
        vals: &[Val],
        tables: &[&'static [Signature]],
    ) -> Val {
        let loc = written.loc;
        if let Some(value) = val.value() {
            let ty = self.ty(value);
            if matches!(ty, Type::Tile(..) | Type::Scalar(_)) && !self.is_scalar(value) {
                if matches!(name.name.as_str(), "mean" | "softmax") {
                    return self.written_out(value, name, vals.first());
                }
                if let Some(help) = self.said_of_tile(value, &name.name, vals) {
                    return self.report(written.instead(self.no_such(val, name), &help));
                }
            } else if ty.barrier().is_some_and(|barrier| barrier.ring)
                && signatures::is_barrier_method(&name.name)
            {
                return self.one_barrier(val, loc).map_or(Val::Error, |_| Val::Unit);
            }
        }
        if let Some(param) = val.tensor() {
            let texts: Vec<Option<String>> =
                written.args.iter().map(|[text, _]| text.clone()).collect();
            if name.name == "load"
                && let Some(of) = &written.of
                && let Some(help) = self.one_element((param, of), (vals, &texts))
            {
                let headline = "a tensor is read and written tile by tile";
                let why = "a window has the coordinates of its corner, and extents; `item` makes a scalar of one element";
                return self.report(Code::NotAFunction.at(loc, headline).why(why).help(help));
            }
            if matches!(name.name.as_str(), "load" | "store") {
                let value = if name.name == "load" { "" } else { "tile" };
                let help = format!("{}.{}({value})", self.window_of(param), name.name);
                let headline = "a tensor is read and written tile by tile";
                return self.report(Code::NotAFunction.at(name.loc, headline).help(help));
            }
            if name.name == "bytes" && tables.len() > 1 {
                let diagnostic = self.no_such(val, name).help("block_bytes");
                return self.report(diagnostic);
            }
        }
        if matches!(val, Val::Optional(_)) {
            let name_of = self.written(val).unwrap_or_else(|| "x".to_owned());
            let headline = format!("an `Option` has no method `{}` in a kernel", name.name);
            let why = "the argument may be absent; `if let`, `match`, `is_some` and `is_none` say what happens then";
            let help = format!("if let Some({name_of}) = {name_of} {{ .. }}");
            return self.report(Code::NotAFunction.at(name.loc, headline).why(why).help(help));
        }
        let known = tables.iter().flat_map(|rows| rows.iter()).map(|row| row.name);
        self.no_method(val, (name, written), vals, known)
    }

    fn no_method(
        &mut self,
        val: &Val,
        (name, written): (&Segment, &AsWritten),
        vals: &[Val],
        known: impl Iterator<Item = &'static str>,
    ) -> Val {
        let names = if let Val::Struct(item) = val {
            self.method_names(&item.def)
        } else {
            known.map(str::to_owned).collect()
        };
        let mut diagnostic = self.no_such(val, name);
        if let Val::Value(value) = val
            && self.memory_of(*value).is_some()
            && signatures::is_tile_method(&name.name)
        {
            let args: Option<Vec<String>> = vals.iter().map(|val| self.written(val)).collect();
            let args = args.map_or("..".to_owned(), |args| args.join(", "));
            diagnostic = diagnostic
                .why("arithmetic on a tile runs in registers")
                .help(self.applied(*value, &format!(".load().{}({args})", name.name)));
        } else if let Some(help) = self.said_of_range(val, &name.name, (written, vals)) {
            diagnostic.primary = written.loc;
            let why = super::advice::of_range(&name.name).map_or("", |(why, _)| why);
            diagnostic = diagnostic.advised(why, &help);
        } else if let Some(advice) = self.said_of_scalar(val, &name.name) {
            diagnostic = self.advised_of(diagnostic, val, (written, vals), advice);
        } else if let Some(advice) =
            crate::elaborate::language::places::method_advice(val, &name.name)
        {
            diagnostic = self.advised_of(diagnostic, val, (written, vals), advice);
        } else if matches!(val, Val::Const(..)) && signatures::is_tile_method(&name.name) {
            diagnostic = diagnostic
                .why(format!("`{}` is a method of tiles, and this is one number", name.name));
        } else if let Some(near) =
            crate::diag::nearest(&name.name, names.iter().map(String::as_str))
        {
            diagnostic = diagnostic.help(near.to_owned());
        } else if !names.is_empty() && names.len() <= MOST_LISTED {
            let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            diagnostic = diagnostic.why(format!("it has {}", listed.join(", ")));
        }
        self.report(diagnostic)
    }

    /// How a range in steps, or from its end, is written.
    fn said_of_range(
        &self,
        val: &Val,
        name: &str,
        (written, vals): (&AsWritten, &[Val]),
    ) -> Option<String> {
        let Val::Range(range) = val else { return None };
        let end = |at: usize, val: &Val| written.ends[at].clone().or_else(|| self.written(val));
        let (from, to) = (end(0, &range.from)?, end(1, &range.to)?);
        Some(match (name, vals) {
            ("step_by", [step]) => {
                let step = match written.args.first().and_then(|[text, _]| text.clone()) {
                    Some(text) => {
                        text.trim_end_matches(" as usize").trim_end_matches("usize").to_owned()
                    }
                    None => self.written(step)?,
                };
                format!("range({from}, {to}, {step})")
            }
            ("rev", []) if from == "0" => {
                format!("for k in 0..{to} {{ let i = {to} - 1 - k; .. }}")
            }
            _ => return None,
        })
    }

    /// A layout that a tile, or a window of shared memory, can have.
    pub(crate) fn plain_layout(&self, value: Value) -> Option<String> {
        let ty = self.ty(value);
        let (memory, shape) = match ty {
            Type::Shared(shared) => {
                (Memory::Shared, &shared.shape[shared.shape.len().saturating_sub(2)..])
            }
            Type::Tile(..)
            | Type::Scalar(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => (Memory::Registers, ty.shape()),
        };
        let element_bytes = match ty.elem() {
            Some(Elem::Ptr(_)) => 8,
            Some(Elem::Number(_)) | None => self.cells.settled(self.num(value)).bytes(),
        };
        let place = Place { memory, shape: shape.to_vec(), element_bytes, warps: self.warps };
        place.possible().map(|form| form.in_code())
    }

    /// Reports something else than a layout.
    pub(crate) fn wants_layout<T>(
        &mut self,
        given: &Given<'_>,
        other: &Val,
        loc: Loc,
    ) -> Option<T> {
        let of = given.receiver();
        let help = match self.ty(of) {
            Type::TensorMemory(_) => self.usage(given),
            Type::Scalar(_) | Type::Tile(..) | Type::Shared(_) | Type::Barrier(_) | Type::Error => {
                self.plain_layout(of)
            }
        };
        let diagnostic = Code::Kind.at(loc, format!("`{}` takes a layout", given.signature.name));
        self.refuse(diagnostic.compare("", "a layout", self.describe(other)).help_if(help))
    }

    /// Reports a method that is written out of others, with the axis and the extents of this call.
    pub(crate) fn written_out(&mut self, tile: Value, name: &Segment, axis: Option<&Val>) -> Val {
        let shape = self.ty(tile).shape().to_vec();
        let axis = match axis {
            Some(Val::Const(Const::Int(axis), _)) => {
                usize::try_from(*axis).ok().filter(|axis| *axis < shape.len())
            }
            _ => None,
        };
        let x = self.written(&Val::Value(tile));
        let mut why = None;
        let help = if name.name == "mean" {
            let of = x.unwrap_or_default();
            let (sums, count) = match axis {
                Some(axis) => (format!(".sum({axis})"), u64::from(shape[axis])),
                None => (
                    ".sum(0)".repeat(shape.len()),
                    shape.iter().map(|extent| u64::from(*extent)).product(),
                ),
            };
            why = Some(format!(
                "{count} elements are those of the tile; where a window reaches past its tensor, the tensor's extents say how many count"
            ));
            format!("{of}{sums} / {}", self.whole_number(&count.to_string(), self.num(tile)))
        } else {
            let x = x.unwrap_or_else(|| "x".to_owned());
            let axis = axis.unwrap_or(shape.len().saturating_sub(1));
            format!(
                "let e = ({x} - {x}.max({axis}).expand({axis})).exp(); e / e.sum({axis}).expand({axis})"
            )
        };
        let diagnostic = self.no_such(&Val::Value(tile), name).help(help);
        self.report(match why {
            Some(why) => diagnostic.why(why),
            None => diagnostic,
        })
    }

    /// Says that a method does not exist.
    pub(crate) fn no_such(&self, val: &Val, name: &Segment) -> Diagnostic {
        let what = self.describe(val);
        Code::NotAFunction.at(name.loc, format!("{what} has no method `{}`", name.name))
    }

    /// The diagnostic with an advice, in which `x` stands for this value, which is loaded if it is in memory, and `y` or `lo`, and `z` or
    /// `hi`, for the arguments.
    pub(crate) fn advised_of(
        &self,
        diagnostic: Diagnostic,
        val: &Val,
        (written, vals): (&AsWritten, &[Val]),
        (why, help): Advice,
    ) -> Diagnostic {
        let mut of = written.of.clone().or_else(|| self.written(val));
        if val.value().and_then(|value| self.memory_of(value)).is_some()
            && let Some(of) = &mut of
        {
            of.push_str(".load()");
        }
        // Between commas nothing needs parentheses.
        let listed = ["(x, ", "(lo, ", "(mask, "].iter().any(|list| help.contains(list));
        let argument = |at: usize| {
            let text = written.args.get(at).and_then(|texts| texts[usize::from(!listed)].clone());
            text.or_else(|| self.written(vals.get(at)?))
        };
        if listed {
            of = of.map(|of| bare(&of).to_owned());
        }
        let words = [
            ("x", of),
            ("y", argument(0)),
            ("lo", argument(0)),
            ("z", argument(1)),
            ("hi", argument(1)),
        ];
        let full = with_names(help, &words);
        let diagnostic = diagnostic.advised(why, "");
        if full == help {
            return if help.is_empty() { diagnostic } else { written.instead(diagnostic, help) };
        }
        let mut diagnostic = diagnostic.help(full);
        diagnostic.primary = written.loc;
        let stays = |(word, text): &(&str, Option<String>)| {
            text.is_none() && with_name(help, word, "") != help
        };
        if words.iter().any(stays) { diagnostic.exemplified() } else { diagnostic }
    }

    /// A window of a tensor, of its rank.
    pub(crate) fn window_of(&self, param: u32) -> String {
        let param = &self.params[param as usize];
        let rank = match param.kind {
            ParamKind::Tensor { rank, .. } => rank as usize,
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => 1,
        };
        let each = |one: &str| vec![one; rank].join(", ");
        format!("{}.tile([{}], [{}])", param.name, each("0"), each("64"))
    }

    /// [`Builder::said_of_tile`] of a field: `x.T`.
    pub(crate) fn said_of_field(&self, val: &Val, name: &str) -> Option<String> {
        let Val::Value(tile) = val else { return None };
        let is_tile = matches!(self.ty(*tile), Type::Tile(..));
        is_tile.then(|| self.said_of_tile(*tile, name, &[])).flatten()
    }

    /// Both halves of a tile along an axis: what `x.chunk(2, axis)` asks for.
    fn halves(&self, tile: Value, given: &[i128]) -> Option<String> {
        let shape = self.ty(tile).shape();
        let (2, rest) = given.split_first()? else { return None };
        let axis = usize::try_from(rest.first().copied().unwrap_or(0)).ok()?;
        let x = self.written(&Val::Value(tile))?;
        let half = shape.get(axis)? / 2;
        let part = |first: u32, end: u32| {
            let range = |at: usize| {
                if at == axis { format!("{first}..{end}") } else { format!("0..{}", shape[at]) }
            };
            let ranges: Vec<String> = (0..shape.len()).map(range).collect();
            if let [only] = &ranges[..] {
                format!("{x}.slice({only})")
            } else {
                format!("{x}.slice(({}))", ranges.join(", "))
            }
        };
        Some(format!("({}, {})", part(0, half), part(half, 2 * half)))
    }

    /// How what other languages say of a tile is written here, if it depends on the axes and extents.
    pub(crate) fn said_of_tile(&self, tile: Value, name: &str, vals: &[Val]) -> Option<String> {
        let shape = self.ty(tile).shape();
        let elements: u64 = shape.iter().map(|extent| u64::from(*extent)).product();
        // The integers of the first argument, or with which the arguments begin.
        let given: Vec<i128> = match vals {
            [Val::Array(parts) | Val::Tuple(parts)] => parts.iter().map_while(whole).collect(),
            _ => vals.iter().map_while(whole).collect(),
        };
        let given = Some(given).filter(|given| !given.is_empty());
        let axis = match given.as_deref() {
            Some([axis, ..]) if usize::try_from(*axis).is_ok_and(|axis| axis < shape.len()) => {
                *axis
            }
            Some([-1, ..]) if !shape.is_empty() => i128::try_from(shape.len()).ok()? - 1,
            _ => 0,
        };
        let reversed = || (0..shape.len()).rev().collect::<Vec<_>>();
        let folded = |method: &str, f: &str| format!(".{method}({axis}, |a, b| {f})");
        Some(match name {
            "view" => match given {
                Some(given) if given.iter().product::<i128>() == i128::from(elements) => {
                    format!(".reshape({given:?})")
                }
                _ => format!(".reshape([{elements}])"),
            },
            "dot" | "vdot" | "inner" if vals.len() == 1 && !shape.is_empty() => {
                let [x, y] = [&Val::Value(tile), &vals[0]].map(|val| self.written(val));
                format!("({} * {}).sum({})", x?, y?, shape.len() - 1)
            }
            "signum" | "sign" if !self.cells.is_float(self.num(tile)) => {
                let x = self.written(&Val::Value(tile))?;
                format!("select({x}.lt(0), -1, minimum({x}, 1))")
            }
            "chunk" | "tensor_split" | "chunks" => self.halves(tile, given.as_deref()?)?,
            "flatten" | "ravel" => format!(".reshape([{elements}])"),
            "squeeze" if elements > 1 => {
                let longer: Vec<_> = shape.iter().filter(|extent| **extent > 1).collect();
                format!(".reshape({longer:?})")
            }
            "broadcast_to" => match given {
                Some(given) => format!(".broadcast({given:?})"),
                None => format!(".broadcast({shape:?})"),
            },
            "unsqueeze" | "expand_dims" => match given.as_deref() {
                Some([at]) if usize::try_from(*at).is_ok_and(|at| at == shape.len()) => {
                    format!(".expand({at})")
                }
                _ => format!(".expand({axis})"),
            },
            "trans" | "transpose" | "T" if shape.len() == 2 => ".t()".to_owned(),
            "trans" | "transpose" | "T" | "swapaxes" if shape.len() > 1 => {
                format!(".permute({:?})", reversed())
            }
            "permute_dims" => match given {
                Some(given) if given.len() == shape.len() => format!(".permute({given:?})"),
                _ => format!(".permute({:?})", reversed()),
            },
            "topk" if !shape.is_empty() => {
                let (last, extent) = (shape.len() - 1, shape[shape.len() - 1]);
                let asked = given.as_ref().and_then(|given| u32::try_from(given[0]).ok());
                let fits = asked.filter(|k| k.is_power_of_two() && *k <= extent);
                format!(".top_k({}, {last})", fits.unwrap_or(extent.min(8)))
            }
            "pow" if self.cells.is_float(self.num(tile)) => match (vals, given.as_deref()) {
                (_, Some([exponent])) => format!(".powi({exponent})"),
                ([exponent], None) => format!(".powf({})", self.written(exponent)?),
                _ => return None,
            },
            "associative_scan" => folded("scan", "a + b"),
            "cumprod" => folded("scan", "a * b"),
            "cummax" => folded("scan", "a.max(b)"),
            "any" => folded("reduce", "a | b"),
            "all" => folded("reduce", "a & b"),
            "prod" | "product" => folded("reduce", "a * b"),
            "size" | "shape" | "len" if given.is_some() => format!(".dim({axis})"),
            "convert_layout" | "with_layout" => match vals {
                [Val::Layout(form)] => format!(".to_layout({form})"),
                _ => format!(".to_layout({})", self.plain_layout(tile)?),
            },
            _ => return None,
        })
    }
}

/// An operand without the parentheses around all of it.
pub(crate) fn bare(operand: &str) -> &str {
    let Some(inner) = operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return operand;
    };
    let mut open = 0_i32;
    let closes = inner.chars().any(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open < 0
    });
    if closes { operand } else { inner }
}

/// A help in which a word is replaced by another.
pub(crate) fn with_name(help: &str, word: &str, name: &str) -> String {
    with_names(help, &[(word, Some(name.to_owned()))])
}

/// A help in which words are replaced by others, all at once.
fn with_names(help: &str, names: &[(&str, Option<String>)]) -> String {
    if help.contains('"') {
        // A word in a text stands for nothing.
        return help.to_owned();
    }
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = help;
    while !rest.is_empty() {
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        let name = names.iter().find(|(of, _)| *of == word).and_then(|(_, name)| name.as_deref());
        out.push_str(name.unwrap_or(word));
        let after = tail.find(inside).unwrap_or(tail.len());
        out.push_str(&tail[..after]);
        rest = &tail[after..];
    }
    out
}

/// An integer known at compile time.
fn whole(val: &Val) -> Option<i128> {
    if let Val::Const(Const::Int(value), _) = val { Some(*value) } else { None }
}

//! Calls with another number of arguments: which one is missing or too many, what the function computes, and the call as it should be.

use super::{Given, Kind, Parameter, Signature, Written};
use crate::{
    diag::{Code, Diagnostic, counted},
    elaborate::{Builder, language::value::Val},
    ir::{Dtype, Elem, Type},
    syntax::Expr,
};

/// What functions and methods compute, by their names, with their arguments.
const MEANINGS: &[(&str, &str)] = &[
    ("arange", "`arange(start, end)` has the integers from `start` to `end`, without `end`"),
    (
        "zeros",
        "`zeros::<T>(shape)` takes its type between `::<` and `>` and its extents as an array",
    ),
    ("full", "`full(shape, value)` has `value` in each element"),
    ("select", "`select(mask, a, b)` has `a` where the mask holds, and `b` elsewhere"),
    (
        "maximum",
        "`maximum(a, b)` has the larger one of two elements; the method `max(axis)` goes along an axis",
    ),
    (
        "minimum",
        "`minimum(a, b)` has the smaller one of two elements; the method `min(axis)` goes along an axis",
    ),
    ("fma", "`fma(a, b, c)` is a · b + c, rounded once"),
    ("join", "`join(a, b)` stacks two tiles along a new last axis"),
    ("dot", "`dot(a, b, acc)` is a · b + acc: the tensor cores add each product to an accumulator"),
    (
        "dot_tf32",
        "`dot_tf32(a, b, acc)` is a · b + acc: the tensor cores add each product to an accumulator",
    ),
    (
        "dot_sparse",
        "`dot_sparse(a, b, acc, metadata)` is a · b + acc, where `metadata` says which elements of `a` are kept",
    ),
    (
        "dot_scaled",
        "`dot_scaled(a, b, acc, a_scales, b_scales)` is a · b + acc, with a scale for each group of elements of an operand",
    ),
    (
        "wgmma::mma",
        "`wgmma::mma(a, b, acc)` is a · b + acc: the tensor cores add each product to an accumulator",
    ),
    (
        "wgmma::wait",
        "`wgmma::wait(pending, acc)` waits until so many products are left in flight, and gives the accumulator that they wrote",
    ),
    ("tcgen05::mma", "`tcgen05::mma(a, b, acc)` adds a · b to the accumulator in tensor memory"),
    ("tcgen05::copy", "`tcgen05::copy(from, to)` copies shared memory to tensor memory"),
    (
        "tcgen05::commit",
        "`tcgen05::commit(bar)` signals the barrier when the operations before it are done",
    ),
    (
        "load",
        "`load(at)` reads all addresses; with a mask, and what elements without an address have, it is `load_masked(at, mask, other)`",
    ),
    (
        "load_masked",
        "`load_masked(at, mask, other)` reads where the mask holds, and has `other` elsewhere",
    ),
    (
        "store",
        "`store(at, value)` writes all addresses; with a mask it is `store_masked(at, mask, value)`",
    ),
    ("store_masked", "`store_masked(at, mask, value)` writes where the mask holds"),
    ("copy_async", "`copy_async(from, to)` copies a window of a tensor to shared memory"),
    (
        "copy_async_wait",
        "`copy_async_wait(pending)` waits until so many committed groups of copies are left in flight; 0 waits for all",
    ),
    (
        "tma::load",
        "`tma::load(map, at, bar, to)` copies the block at a corner to shared memory, and signals the barrier when it has arrived",
    ),
    ("tma::store", "`tma::store(map, at, from)` copies shared memory to the block at a corner"),
    (
        "tma::gather",
        "`tma::gather(map, rows, col, bar, to)` copies rows of a tensor, from one column on, to shared memory, and signals the barrier",
    ),
    ("tma::prefetch", "`tma::prefetch(map, at)` brings the block at a corner to the L2 cache"),
    (
        "tma::store_wait",
        "`tma::store_wait(pending)` waits until so many stores still read shared memory; 0 waits for all",
    ),
    (
        "bulk::load",
        "`bulk::load(from, bar, to)` copies contiguous memory to shared memory, and signals the barrier when it has arrived",
    ),
    ("bulk::store", "`bulk::store(to, from)` copies shared memory to contiguous memory"),
    ("barrier", "`barrier(count)` ends a phase after so many arrivals; an `expect` is one of them"),
    (
        "barriers",
        "`barriers(number, count)` is a ring of barriers, each of which ends a phase after `count` arrivals",
    ),
    ("range", "`range(from, to, step)` counts from `from` to `to` in steps"),
    (
        "pipeline",
        "`pipeline(range, stages)` runs the copies of a loop up to `stages` iterations ahead",
    ),
    ("block_id", "`block_id(axis)` is the place of the block along an axis of the grid"),
    ("num_blocks", "`num_blocks(axis)` is the extent of the grid along an axis"),
    ("cdiv", "`cdiv(a, b)` is a / b, rounded up"),
    ("sync", "`sync()` waits for all threads of the block; the others are found by the compiler"),
    (
        "swizzle",
        "`swizzle(bytes)` takes the bytes within which pieces of 16 bytes are exchanged, those of a row: 32, 64 or 128; `swizzled(vec, per_phase, max_phase, order)` takes all numbers",
    ),
    (
        "swizzled",
        "`swizzled(vec, per_phase, max_phase, order)` exchanges pieces of `vec` elements; `swizzle(bytes)` is the one that TMA and the tensor cores use",
    ),
    (
        "blocked",
        "`blocked(per_thread, lanes, warps, order)` has one number of each for each axis, and the order of the axes, the fastest first",
    ),
    (
        "mma",
        "`mma([rows, columns])` spreads the result of a product over so many warps along its rows and columns",
    ),
    (".tile", "`x.tile(at, shape)` is the window that begins at `at` and has the extents `shape`"),
    (".load", "`load()` reads the whole window; its extents are those of `tile`"),
    (".store", "`store(value)` writes a tile with the extents of the window"),
    (
        ".sum",
        "`sum(axis)` adds along an axis, which the result does not have; `sum([0, 1])` along several",
    ),
    (".max", "`max(axis)` goes along an axis, which the result does not have"),
    (".min", "`min(axis)` goes along an axis, which the result does not have"),
    (".argmax", "`argmax(axis)` gives the position of the largest element along an axis"),
    (".argmin", "`argmin(axis)` gives the position of the smallest element along an axis"),
    (".reduce", "`reduce(axis, f)` joins the elements along an axis by a closure of two values"),
    (
        ".scan",
        "`scan(axis, f)` joins each element with all before it along an axis, by a closure of two values",
    ),
    (
        ".scan_exclusive",
        "`scan_exclusive(axis, initial, f)` joins the elements before each one; the first one has `initial`",
    ),
    (".cumsum", "`cumsum(axis)` adds all elements up to each one along an axis"),
    (
        ".sort",
        "`sort(axis)` orders the elements along an axis; `sort_descending(axis)` the other way round",
    ),
    (
        ".argsort",
        "`argsort(axis)` gives the positions that sort along an axis; `argsort_descending(axis)` the other way round",
    ),
    (".top_k", "`top_k(k, axis)` gives the largest elements along an axis, and their positions"),
    (".flip", "`flip(axis)` turns the order along an axis round"),
    (".expand", "`expand(axis)` puts an axis of extent 1 before axis `axis`"),
    (".reshape", "`reshape(shape)` takes the new extents as one array"),
    (".broadcast", "`broadcast(shape)` takes the new extents as one array"),
    (".permute", "`permute(order)` takes the order of the axes as one array"),
    (".t", "`t()` exchanges the two axes of a matrix; `permute(order)` exchanges others"),
    (".gather", "`gather(axis, indices)` takes the elements at these positions along an axis"),
    (
        ".histogram",
        "`histogram(bins)` counts how often each of the numbers from 0 to `bins` occurs",
    ),
    (".clamp", "`clamp(min, max)` takes both bounds"),
    (
        ".wait",
        "`wait(phase)` waits for a phase of the barrier, whose parity is 0 or 1: `phase ^= 1` after each wait",
    ),
    (".expect", "`expect(bytes)` announces the bytes of a phase, whose copies signal the barrier"),
    (".arrive", "`arrive()` is one arrival of this phase"),
    (".dim", "`dim(axis)` is the extent along an axis"),
    (".stride", "`stride(axis)` is the distance of elements along an axis"),
    (
        "atomic::add",
        "`atomic::add(at, value)` adds at all addresses; where a mask does not hold, the value is 0",
    ),
];

/// What stands for an argument that is not evident.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Nothing,
    Named,
}

impl Builder<'_> {
    /// The message about another number of arguments, without its help.
    pub(crate) fn count_refused(&self, given: &Given<'_>) -> Diagnostic {
        let Signature { parameters, .. } = given.signature;
        let (required, actual) = (parameters.len(), given.vals.len());
        let headline = format!("`{}` takes {}", given.path(), counted(required, "argument"));
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
        let form = format!("`{}({})`", given.path(), names.join(", "));
        let texts: Vec<Option<String>> = given.args.iter().map(Expr::text).collect();
        let matched = self.matched(given);
        let left: Vec<String> = if actual < required {
            let lacks = |at: &usize| !matched.iter().any(|(parameter, _)| parameter == at);
            (0..required).filter(lacks).map(|at| format!("`{}`", names[at])).collect()
        } else {
            let more = |at: &usize| !matched.iter().any(|(_, argument)| argument == at);
            let text = |at: usize| texts[at].as_ref().map(|text| format!("`{text}`"));
            (0..actual).filter(more).filter_map(text).collect()
        };
        let count = counted(actual, "argument");
        let actual = match (&left[..], actual < required) {
            ([], _) => count,
            (left, true) => format!("{count}, without {}", left.join(" and ")),
            (left, false) => format!("{count}, with {} more", left.join(" and ")),
        };
        let method = !matches!(given.of, Val::Unit);
        let meaning = meaning(given);
        let meaning = meaning.map_or_else(|| in_order(&names, method), str::to_owned);
        Code::ArgumentCount.at(given.loc, headline).compare("", form, actual).why(meaning)
    }

    /// Which parameter each argument is for, as parameter and argument: in order, as far as their types tell.
    fn matched(&self, given: &Given<'_>) -> Vec<(usize, usize)> {
        let parameters = given.signature.parameters;
        let (required, actual) = (parameters.len(), given.vals.len());
        let mut pairs = Vec::new();
        let (mut parameter, mut argument) = (0, 0);
        while parameter < required && argument < actual {
            let val = given.val(argument);
            let kind = parameters[parameter].kind;
            let closure = matches!(val, Val::Closure(_)) && !matches!(kind, Kind::Closure(_));
            let elsewhere = closure && given.path() != "warp_specialize";
            let suits = self.suits(given, &parameters[parameter], val);
            if suits != Some(false) && !elsewhere {
                pairs.push((parameter, argument));
                parameter += 1;
                argument += 1;
            } else if required - parameter > actual - argument {
                parameter += 1;
            } else if actual - argument > required - parameter {
                argument += 1;
            } else {
                pairs.push((parameter, argument));
                parameter += 1;
                argument += 1;
            }
        }
        pairs
    }

    /// The call with the arguments that it has, and those that it lacks where these are evident.
    pub(super) fn completed(&self, given: &Given<'_>, missing: Missing) -> Option<String> {
        let parameters = given.signature.parameters;
        let matched = self.matched(given);
        let dot = if matches!(given.of, Val::Unit) { "" } else { "." };
        let generic = Self::generics_of(given);
        if given.vals.len() >= parameters.len() {
            // What is too many is left out, if the others are what is asked for.
            let suits = |(parameter, argument): &(usize, usize)| {
                let val = given.val(*argument);
                self.suits(given, &parameters[*parameter], val) == Some(true)
            };
            if parameters.is_empty() || !matched.iter().all(suits) {
                return None;
            }
            let texts: Option<Vec<String>> =
                matched.iter().map(|(_, argument)| given.args[*argument].text()).collect();
            return Some(format!("{dot}{}{generic}({})", given.path(), texts?.join(", ")));
        }
        let written = |at: usize| {
            let argument = matched.iter().find(|(parameter, _)| *parameter == at);
            match argument {
                Some((_, argument)) => given.args[*argument].text(),
                None => self.evident(given, &parameters[at]).or_else(|| {
                    // A name that the kernel does not have makes an example of it.
                    let named = || Some(parameters[at].name.to_owned());
                    let other = example(self, &parameters[at], &given.of);
                    if missing == Missing::Named { other.or_else(named) } else { None }
                }),
            }
        };
        if matched.len() != given.vals.len() {
            return None;
        }
        let texts: Vec<String> = (0..parameters.len()).map(written).collect::<Option<_>>()?;
        Some(format!("{dot}{}{generic}({})", given.path(), texts.join(", ")))
    }

    /// The argument that is meant, if there is only one.
    fn evident(&self, given: &Given<'_>, parameter: &Parameter) -> Option<String> {
        let used = |val: &Val| given.vals.iter().any(|other| other.same(val));
        let only = |is: &dyn Fn(&Val) -> bool| {
            self.scopes.only_with(given.env, |val| is(val) && !used(val)).map(str::to_owned)
        };
        let ty = |val: &Val| if matches!(val, Val::Value(_)) { self.ty_of(val) } else { None };
        match parameter.kind {
            Kind::Barrier | Kind::PairBarrier => {
                only(&|val| ty(val).and_then(Type::barrier).is_some_and(|barrier| !barrier.ring))
            }
            Kind::Window | Kind::BulkWindow(_) => {
                only(&|val| matches!(ty(val), Some(Type::Shared(_))))
            }
            Kind::Sums => only(&|val| matches!(ty(val), Some(Type::TensorMemory(_)))),
            Kind::Map(_) | Kind::MapMut(_) => only(&|val| {
                val.tensor().is_some_and(|param| self.params[param as usize].block.is_some())
            }),
            Kind::Tile("the accumulator of a product") => self.accumulator(given),
            Kind::Any if parameter.name == "mask" => only(&|val| {
                let mask = |num| self.cells.known(num) == Some(Dtype::Bool);
                matches!(ty(val), Some(Type::Tile(..))) && self.num_of(val).is_some_and(mask)
            }),
            Kind::Any if given.path() == "copy_async" && parameter.name == "to" => {
                only(&|val| matches!(ty(val), Some(Type::Shared(_))))
            }
            Kind::Any if matches!(given.path().as_str(), "store" | "store_masked") => {
                let at = given.vals.first()?;
                let (shape, num) = (self.ty_of(at)?.shape(), self.num_of(at)?);
                let dtype = self.cells.known(num);
                only(&|val| {
                    let fits =
                        matches!(ty(val), Some(Type::Tile(Elem::Number(_), own)) if own == shape);
                    fits && self.num_of(val).and_then(|num| self.cells.known(num)) == dtype
                })
            }
            Kind::Shape if given.of.tensor().is_some() => self.only_shape(given),
            Kind::Axis(_) | Kind::Axes | Kind::NewAxis => example(self, parameter, &given.of),
            Kind::GridAxis => Some("0".to_owned()),
            Kind::Number(_) if matches!(parameter.name, "pending" | "count") => {
                Some(if parameter.name == "pending" { "0" } else { "1" }.to_owned())
            }
            Kind::Layout | Kind::Closure(_) if !matches!(given.of, Val::Unit) => {
                example(self, parameter, &given.of)
            }
            Kind::Any
            | Kind::Value
            | Kind::Tile(_)
            | Kind::TileFirst
            | Kind::Known(_)
            | Kind::Size(_)
            | Kind::Number(_)
            | Kind::I32(_)
            | Kind::Condition
            | Kind::Shape
            | Kind::Ring
            | Kind::View
            | Kind::Closure(_)
            | Kind::Layout
            | Kind::LayoutOf(_)
            | Kind::Entry
            | Kind::Entries(_)
            | Kind::Bases
            | Kind::Address
            | Kind::OneAddress
            | Kind::Corner
            | Kind::Factor
            | Kind::LeftFactor
            | Kind::RightFactor
            | Kind::Scales
            | Kind::Metadata
            | Kind::Answer => None,
        }
    }

    /// The extents of the tiles of a tensor's rank in sight, if all have the same.
    fn only_shape(&self, given: &Given<'_>) -> Option<String> {
        let rank = self.params[given.of.tensor()? as usize].kind.rank();
        let mut found: Option<Vec<u32>> = None;
        for val in self.scopes.values(given.env) {
            let shape = if let Val::View(view) = val {
                view.shape.clone()
            } else if let Val::Value(_) = val {
                self.ty_of(val)?.shape().to_vec()
            } else {
                continue;
            };
            if shape.len() != rank as usize {
                continue;
            }
            if found.as_ref().is_some_and(|found| *found != shape) {
                return None;
            }
            found = Some(shape);
        }
        found.map(|shape| format!("{shape:?}"))
    }

    /// An accumulator of zeros with the extents and the type of a product.
    fn accumulator(&self, given: &Given<'_>) -> Option<String> {
        let [a, b, ..] = &given.vals[..] else { return None };
        let &[rows, depth] = self.ty_of(a)?.shape() else { return None };
        let &[other, cols] = self.ty_of(b)?.shape() else { return None };
        let dtype = self.cells.known(self.num_of(a)?)?;
        let sums = if dtype.is_float() || dtype.is_float8() {
            if dtype == Dtype::F64 { "f64" } else { "f32" }
        } else {
            "i32"
        };
        (depth == other).then(|| format!("zeros::<{sums}>([{rows}, {cols}])"))
    }
}

/// An argument as the table writes it.
pub(super) fn example(builder: &Builder<'_>, parameter: &Parameter, of: &Val) -> Option<String> {
    match parameter.example {
        Written::Name => None,
        Written::Text(text) => Some(text.to_owned()),
        Written::By(example) => example(builder, of),
    }
}

/// What a function or a method computes.
pub(super) fn meaning(given: &Given<'_>) -> Option<&'static str> {
    let method = !matches!(given.of, Val::Unit);
    let path = if method { format!(".{}", given.path()) } else { given.path() };
    MEANINGS.iter().find(|(name, _)| *name == path).map(|(_, meaning)| *meaning)
}

/// What can be said of any function.
fn in_order(names: &[&str], method: bool) -> String {
    match names {
        [] if method => "all that it takes stands before the dot".to_owned(),
        [] => "there is nothing to choose about it".to_owned(),
        [only] => format!("its argument is `{only}`; there are no optional ones"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            let first = first.join(", ");
            format!(
                "its arguments are {first} and `{last}`, in this order; there are no optional ones"
            )
        }
    }
}

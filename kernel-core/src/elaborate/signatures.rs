//! The functions and methods of the language, one row for each.
//!
//! A row has the name of a function, its parameters with the kind of each, its result, and the capability of a target that it
//! needs. `call` checks every call against its row: the number of arguments, the target, and the kinds of the
//! arguments. The function of the row does the rest. Helps and "did you mean" read the same rows.
//!
//! A new function is a row, and the function that elaborates it.

use kernel_ptx::Capability;

use super::{
    Builder,
    language::{known::A_PARAMETER, value::Val},
};
use crate::diag::Code;

mod call;
mod counts;
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of `Builder<'p>` is a function of one lifetime, and a row has one of all"
)]
mod families;
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of `Builder<'p>` is a function of one lifetime, and a row has one of all"
)]
mod functions;
mod given;
mod kinds;
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of `Builder<'p>` is a function of one lifetime, and a row has one of all"
)]
mod methods;
#[cfg(test)]
mod tests;

pub(crate) use families::TMA_COPIES;
pub(crate) use functions::{MMA, TMEM_BLOCK};
use given::Checked;
pub(crate) use given::Given;

/// A function or a method of the language.
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// What a target must have.
    pub(crate) needs: Option<&'static Need>,
    /// How a call is written, if the parameters alone do not say it.
    usage: Option<Example>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold the rows against the stubs"))]
    stub: Stub,
    run: Run,
}

/// What elaborates a call, by what the call gives.
#[derive(Clone, Copy)]
enum Run {
    /// A value, whatever the arguments are.
    Value(Always),
    /// A value, or a report.
    Gives(Gives),
    /// Nothing.
    Does(Does),
    /// Something that runs from then on, of which more can be said: `.on(bar)`, `.when(condition)`.
    Starts(Does),
}

/// Where the Rust function is that `rustc` checks a call against.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stub {
    /// In `src/lang`, as Rust or in a macro of that file.
    Written,
    /// In `src/lang`, one for all entries of a macro's list, whose name the macro gives.
    Listed,
    /// In Rust's own library or in the runtime, which the language takes over as it is.
    Rust,
}

/// How an argument or a call is written, for help that can be pasted; it may depend on what a method is called on.
type Example = fn(&Builder<'_>, &Val) -> Option<String>;

/// A parameter.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    kind: Kind,
    /// An argument, as helps write it.
    example: Written,
}

#[derive(Clone, Copy)]
enum Written {
    /// Of a function the name of the parameter; a method without any example has no help.
    Name,
    Text(&'static str),
    By(Example),
}

/// What a target must have for a function.
pub(crate) struct Need {
    pub(crate) capability: Capability,
    /// What needs it, if that is not the function by its name.
    pub(crate) what: Option<&'static str>,
    pub(crate) why: &'static str,
    /// What is written on other targets.
    pub(crate) instead: Option<fn(&Builder<'_>, &Given<'_>) -> Option<String>>,
}

/// What an argument must be.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// What the function says itself.
    Any,
    /// A value of the kernel when it runs, a constant included.
    Value,
    /// A tile in registers; who needs it.
    Tile(&'static str),
    /// A tile; the others may be scalars.
    TileFirst,
    /// An integer known at compile time; what it is.
    Known(&'static str),
    /// The same, of elements or bytes.
    Size(&'static str),
    /// An integer known at compile time, within bounds.
    Number(&'static Number),
    /// An axis of the grid.
    GridAxis,
    /// An axis of what the method is called on; what that is.
    Axis(&'static str),
    /// One axis of the tile, or several.
    Axes,
    /// The place of an axis to insert.
    NewAxis,
    /// A scalar of type `i32`; the headline for what is none.
    I32(&'static str),
    /// One truth value for the whole of what was started.
    Condition,
    /// Extents.
    Shape,
    /// The same, or a number of buffers and two extents or more.
    Ring,
    /// Those of a view of shared memory: the buffers stay if they are not a power of two.
    View,
    /// A closure; the headline for what is none.
    Closure(&'static str),
    /// The layout of what the method is called on.
    Layout,
    /// A layout; the headline for what is none.
    LayoutOf(&'static str),
    /// A number of a layout.
    Entry,
    /// A list of such numbers; the headline for what is none.
    Entries(&'static str),
    /// The bases of a layout.
    Bases,
    /// One or several addresses.
    Address,
    /// The address at which a bulk copy begins.
    OneAddress,
    /// A tensor reached through a tensor map; the rows of its block, for help.
    Map(&'static str),
    /// The same, to be written.
    MapMut(&'static str),
    /// The coordinates of a block of the map before it.
    Corner,
    /// A barrier of this block.
    Barrier,
    /// A barrier of this block, or of its pair.
    PairBarrier,
    /// The shared memory of a TMA copy.
    Window,
    /// The shared memory of a bulk copy; the headline for what is none, up to "shared memory".
    BulkWindow(&'static str),
    /// An operand of `dot`: a tile, or one tile in shared memory.
    Factor,
    /// The left operand of a product on the tensor cores, in shared or tensor memory.
    LeftFactor,
    /// The right operand, in shared memory.
    RightFactor,
    /// The accumulator, in tensor memory.
    Sums,
    /// The scales of a product, in tensor memory.
    Scales,
    /// Metadata of a sparse left operand, in tensor memory.
    Metadata,
    /// The shared memory that an answer of cluster launch control arrives in.
    Answer,
}

/// The integers that a parameter takes.
pub(crate) struct Number {
    /// What it is, in words.
    pub(crate) what: &'static str,
    /// What to write if it is not known at compile time; empty: a generic parameter.
    pub(crate) known: &'static str,
    pub(crate) code: Code,
    /// The headline for others; `{}` stands for the number.
    pub(crate) headline: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) legal: Legal,
    /// Empty: the bounds say it all.
    pub(crate) why: &'static str,
}

/// Integers.
pub(crate) enum Legal {
    /// From the one to the other.
    Within(u32, u32),
    /// These; in words.
    OneOf(&'static [u32], &'static str),
    /// The multiples of one, within bounds.
    Multiple { of: u32, least: u32, most: u32 },
}

/// What elaborates a call that gives a value.
type Always = fn(&mut Builder<'_>, &Given<'_>) -> Val;
/// What elaborates a call that gives a value if its arguments go together.
type Gives = fn(&mut Builder<'_>, &Given<'_>) -> Option<Val>;
/// What elaborates a call that gives none.
type Does = fn(&mut Builder<'_>, &Given<'_>) -> Option<()>;

/// A function that gives a value, whatever its arguments are.
const fn value(name: &'static str, parameters: &'static [Parameter], run: Always) -> Signature {
    Signature::new(name, parameters, Run::Value(run))
}

/// A function that gives a value if its arguments go together.
const fn gives(name: &'static str, parameters: &'static [Parameter], run: Gives) -> Signature {
    Signature::new(name, parameters, Run::Gives(run))
}

/// A function that gives nothing.
const fn does(name: &'static str, parameters: &'static [Parameter], run: Does) -> Signature {
    Signature::new(name, parameters, Run::Does(run))
}

/// A function that starts something: a copy, a product, a commit.
const fn starts(name: &'static str, parameters: &'static [Parameter], run: Does) -> Signature {
    Signature::new(name, parameters, Run::Starts(run))
}

impl Signature {
    const fn new(name: &'static str, parameters: &'static [Parameter], run: Run) -> Self {
        Signature { name, parameters, needs: None, usage: None, stub: Stub::Written, run }
    }

    const fn needs(self, need: &'static Need) -> Self {
        Signature { needs: Some(need), ..self }
    }

    const fn usage(self, usage: Example) -> Self {
        Signature { usage: Some(usage), ..self }
    }

    const fn stub(self, stub: Stub) -> Self {
        Signature { stub, ..self }
    }
}

impl Number {
    /// The integers from one to another, without the words for others.
    const fn within(what: &'static str, least: u32, most: u32) -> Self {
        Number {
            what,
            known: A_PARAMETER,
            code: Code::Overflow,
            headline: "",
            unit: "",
            legal: Legal::Within(least, most),
            why: "",
        }
    }
}

const fn need(capability: Capability, why: &'static str) -> Need {
    Need { capability, what: None, why, instead: None }
}

const fn param(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, example: Written::Name }
}

impl Parameter {
    const fn text(self, example: &'static str) -> Self {
        Parameter { example: Written::Text(example), ..self }
    }

    const fn by(self, example: Example) -> Self {
        Parameter { example: Written::By(example), ..self }
    }
}

/// The functions that are called by their names alone, and those of each module.
pub(crate) const FAMILIES: &[(&str, &[Signature])] = &[
    ("", functions::FUNCTIONS),
    ("atomic", families::ATOMIC),
    ("tma", families::TMA),
    ("bulk", families::BULK),
    ("wgmma", families::WGMMA),
    ("tcgen05", families::TCGEN05),
    ("cluster", families::CLUSTER),
];

/// The functions of a module; those without one for every other name.
pub(crate) fn family(module: Option<&str>) -> (&'static str, &'static [Signature]) {
    let found = FAMILIES.iter().find(|(name, _)| Some(*name) == module);
    *found.unwrap_or(&FAMILIES[0])
}

/// Whether the language has functions in a module of this name.
pub(crate) fn is_family(module: &str) -> bool {
    !module.is_empty() && FAMILIES.iter().any(|(name, _)| *name == module)
}

/// The row of this name.
pub(crate) fn named(rows: &'static [Signature], name: &str) -> Option<&'static Signature> {
    rows.iter().find(|row| row.name == name)
}

/// Every function of the language that is called without a module, and the targets: for suggestions, and for tests that make
/// kernels up.
pub fn names() -> impl Iterator<Item = &'static str> {
    let functions = functions::FUNCTIONS.iter().map(|row| row.name);
    functions.chain(super::target_names())
}

/// Whether a function of the language, or a target, has this name.
pub(crate) fn is_builtin(name: &str) -> bool {
    names().any(|known| known == name)
}

/// Whether a function of the language has this name.
pub(crate) fn is_function(name: &str) -> bool {
    functions::FUNCTIONS.iter().any(|row| row.name == name)
}

/// Whether a method of a tile has this name.
pub(crate) fn is_tile_method(name: &str) -> bool {
    methods::ELEMENTWISE.iter().chain(methods::TILE).any(|row| row.name == name)
}

/// Whether a method of one barrier has this name.
pub(crate) fn is_barrier_method(name: &str) -> bool {
    named(methods::BARRIER, name).is_some()
}

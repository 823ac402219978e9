//! From the syntax tree to the tile IR of one instance.
//!
//! Building is evaluation: the tree is walked with the values of the generic parameters at hand.
//! What is known is computed at once (shapes, loop bounds of `unroll`, branches on constants), what
//! is not becomes an IR statement. Functions are inlined, aggregates are taken apart, variables are
//! turned into SSA values where control flow joins. `control.rs` says how.

use std::{collections::BTreeMap, fmt::Display, rc::Rc};

use la_arena::Arena;

use crate::{
    diag::{self, Code, Diagnostic, Problems, nearest},
    ir::{Dtype, Fact, Kernel, Param, Region, Shared, SharedData, Value, ValueData},
    loc::Loc,
    syntax::{self, Unit},
};

mod budget;
mod finish;
pub(crate) mod language;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod products;
mod signatures;
pub(crate) mod sync;
pub(crate) mod tensor_memory;
pub(crate) mod tiles;
mod written;
pub(crate) mod written_ptx;

pub(crate) use language::constants;
pub use language::passed::absences;
use language::{
    closures, control, generic, params,
    scope::{Call, ScopeId, Scopes},
    specialize, targets,
    value::{self, Cells, Num, Val},
};
pub(crate) use messages::{
    spelling::is_language_path,
    unknown::{nothing_called, of_host_function},
};
pub use params::instance_rows;
use products::narrow;
pub(crate) use signatures::is_builtin;
#[doc(hidden)]
pub use signatures::names;
pub use targets::target_named;
pub(crate) use targets::{nearest_target, target_names};
pub(crate) use written::{Names, Written};

/// One choice of generic parameters: names and what they stand for.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Parameter name, its value as the compiler reads it, and as the user wrote it.
    pub values: Vec<(String, syntax::InstanceValue)>,
}

impl Instance {
    /// `BM = 128, BN = 64`
    pub fn describe(&self) -> String {
        let parts: Vec<String> =
            self.values.iter().map(|(name, value)| format!("{name} = {}", value.text)).collect();
        parts.join(", ")
    }
}

/// Evaluation steps after which a kernel is taken to have no end at compile time.
const MAX_STEPS: u32 = 4_000_000;

/// Expressions that may be open at the same time, those of inlined functions included, so that the
/// compiler cannot run out of stack inside rustc.
const MAX_DEPTH: u32 = 256;

/// Reports up to which the names of values are looked for.
const MAX_NAMED: usize = 1000;

/// Elements that an array may have, those of arrays in it included.
const MAX_ELEMENTS: usize = 1 << 16;

/// What is passed to [`crate::check::instance`].
#[derive(Debug)]
pub struct Request<'a> {
    /// The module or function.
    pub unit: &'a Unit,
    /// The kernel in it.
    pub kernel: &'a syntax::Kernel,
    /// The choice of generic parameters.
    pub instance: &'a Instance,
    /// The names of what is absent: parameters, or fields of structs, that are an `Option`.
    pub absent: &'a [String],
    /// The target.
    pub target: kernel_ptx::Target,
    /// Whether it prints, and checks what it asserts.
    pub reports: Reports,
}

/// What becomes of `println!`, `assert!`, `stamp!` and their like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// The kernel says what they say, and stops where an assertion fails.
    Made,
    /// They are not there, and their operands are not computed: the kernel of a release build.
    LeftOut,
    /// The same, but for `stamp!`, which is there with this alone: the kernel of a profile.
    Stamped,
}

/// A built kernel. Nothing in it depends on what a variant assumes of its arguments, but for [`Kernel::facts`].
#[derive(Debug)]
pub struct Built {
    /// The kernel, with the facts that the user declared: a launch that breaks one is an error.
    pub kernel: Kernel,
    /// What the aligned variant assumes beyond those; none if that is nothing more.
    pub aligned: Vec<Fact>,
    /// How the source writes what the IR only numbers.
    pub(crate) written: Written,
}

/// Builds one instance. After problems, what is left of it is for other problems to be found in.
pub(crate) fn instance(request: &Request<'_>, problems: &mut Problems) -> Option<Built> {
    let (scopes, root) = Scopes::new();
    let mut builder = Builder {
        scopes,
        cells: Cells::default(),
        problems,
        values: Arena::new(),
        value_cells: la_arena::ArenaMap::new(),
        points: la_arena::ArenaMap::new(),
        shared: Arena::new(),
        barriers: Arena::new(),
        named: Arena::new(),
        reports: Vec::new(),
        says: request.reports,
        shared_cells: la_arena::ArenaMap::new(),
        tensor_memory: Arena::new(),
        tensor_memory_cells: la_arena::ArenaMap::new(),
        shared_pins: la_arena::ArenaMap::new(),
        float4_reads: la_arena::ArenaMap::new(),
        tensor_memory_pins: la_arena::ArenaMap::new(),
        operands: BTreeMap::new(),
        regions: vec![Region::default()],
        terminated: false,
        frames: Vec::new(),
        calls: Vec::new(),
        over_elements: Vec::new(),
        defining: Vec::new(),
        params: Vec::new(),
        target: request.target,
        steps: 0,
        depth: 0,
        conditional: 0,
        warps: 1,
        cluster: [1; 3],
        tainted: false,
        matched: BTreeMap::new(),
        awaits: !request.unit.devices.pending.is_empty()
            || !request.unit.devices.nowhere.is_empty(),
        only_looking: 0,
        never_given: 0,
        emitted: budget::Emitted::default(),
        too_large: None,
        type_params: generic::TypeParams::new(&request.kernel.function),
        written: Written::default(),
        specialized: None,
        crew: specialize::Crew::Own,
    };
    builder.scopes.add_items(root, &request.unit.items);
    builder.scopes.add_devices(root, &request.unit.devices);
    builder.kernel(request, root)
}

pub(crate) struct Builder<'p> {
    scopes: Scopes,
    cells: Cells,
    problems: &'p mut Problems,
    values: Arena<ValueData>,
    /// Values whose element type was open when they were made.
    value_cells: la_arena::ArenaMap<Value, Num>,
    /// Tiles of rank 0: what a reduction of the only axis leaves. The IR has scalars for them; Rust's types do not.
    points: la_arena::ArenaMap<Value, ()>,
    shared: Arena<SharedData>,
    barriers: Arena<crate::ir::BarrierData>,
    /// Named barriers.
    named: Arena<crate::ir::NamedData>,
    /// What it says while it runs.
    reports: Vec<crate::ir::Report>,
    /// Whether it says anything.
    says: Reports,
    shared_cells: la_arena::ArenaMap<Shared, Num>,
    /// Allocations of tensor memory.
    tensor_memory: Arena<crate::ir::TensorMemoryData>,
    tensor_memory_cells: la_arena::ArenaMap<crate::ir::TensorMemory, Num>,
    /// Where the layout of a shared allocation is written.
    shared_pins: la_arena::ArenaMap<Shared, Loc>,
    /// How products read the FP4 numbers of shared allocations.
    float4_reads: la_arena::ArenaMap<Shared, narrow::Reads>,
    /// Where an allocation of tensor memory was given its layout.
    tensor_memory_pins: la_arena::ArenaMap<crate::ir::TensorMemory, Loc>,
    /// Where the operands of a matrix product are written, by the place of the product; like [`Kernel::operands`].
    operands: BTreeMap<Loc, [Loc; 3]>,
    /// The regions being built, innermost last.
    regions: Vec<Region>,
    /// The innermost region has its terminator: what follows is dead.
    terminated: bool,
    frames: Vec<control::Frame>,
    calls: Vec<Call>,
    /// The closures over elements that are being built, innermost last.
    over_elements: Vec<closures::OverElements>,
    params: Vec<Param>,
    target: kernel_ptx::Target,
    steps: u32,
    /// Expressions that are open.
    depth: u32,
    /// How many run-time branches and loops enclose the current point.
    conditional: u32,
    /// The warps that run the current point.
    warps: u32,
    /// Blocks of a cluster, on the axes of the grid.
    cluster: [u32; 3],
    /// Something in the body was refused before, so that the body is not compiled: only looked at.
    tainted: bool,
    /// The constants whose values are being computed.
    defining: Vec<String>,
    /// The values of patterns, by the places of the expressions that give them.
    matched: BTreeMap<Loc, Val>,
    /// Device items are still to come: what depends on them is unknown, and nothing is wrong with that.
    awaits: bool,
    /// How many parts enclose the current point that are evaluated for their problems alone.
    only_looking: u32,
    /// How many expressions never gave the value that they were asked for.
    never_given: u32,
    emitted: budget::Emitted,
    /// The first tile that does not fit the registers: those that follow from it are not reported as well.
    too_large: Option<Loc>,
    type_params: generic::TypeParams,
    written: Written,
    /// Where the warps of the kernel were specialised.
    specialized: Option<Loc>,
    /// Whose warps run the current point.
    crew: specialize::Crew,
}

/// Words of Rust that an expression or a statement has.
const KEYWORDS: [&str; 14] = [
    "as", "break", "const", "else", "false", "fn", "for", "if", "in", "let", "loop", "mut", "pub",
    "true",
];
/// The axes of `layout!(..)`.
const AXES: [&str; 2] = ["laneid", "warpid"];

impl Builder<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> Val {
        if !self.scopes.doubt.allows_reports() {
            // It may come from what is not known yet. When everything is there, the kernel is built again.
            return Val::Error;
        }
        self.report_certain(diagnostic)
    }

    /// [`Builder::report`] of what is wrong whatever is still to come.
    fn report_certain(&mut self, diagnostic: Diagnostic) -> Val {
        let strange = |help: &str| !self.has_names(help);
        let diagnostic = if diagnostic.code != Code::PtxText
            && diagnostic.help.as_deref().is_some_and(strange)
        {
            diagnostic.exemplified()
        } else {
            diagnostic
        };
        let diagnostic = match self.calls.first() {
            // An error inside a helper is underlined there, and says from where it was called.
            Some(call) => Diagnostic { called: Some(call.loc), ..diagnostic }
                .place(call.loc, format!("called here as `{}`", call.function.name.name)),
            None => diagnostic,
        };
        self.problems.push(diagnostic);
        Val::Error
    }

    /// Whether a help names nothing but what the kernel and the language have.
    fn has_names(&self, help: &str) -> bool {
        let alone = help.chars().all(|c| c.is_alphanumeric() || c == '_');
        let known = |name: &str| {
            KEYWORDS.contains(&name)
                || name == "usize"
                || Dtype::ALL.iter().any(|dtype| dtype.name() == name)
                || is_builtin(name)
                || AXES.contains(&name)
                || self.scopes.has(name)
        };
        let of_function = help.starts_with(messages::unknown::DEVICE) && !help.contains("..");
        let of_rust = help.starts_with("std::");
        alone || of_function || of_rust || diag::names_used(help).into_iter().all(known)
    }

    /// [`Builder::report`] for callers that ask for something else than a value.
    fn refuse<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.report(diagnostic);
        None
    }

    /// Reports a value of another kind.
    fn refuse_kind<T>(
        &mut self,
        headline: impl Into<String>,
        required: impl Display,
        (val, loc): (&Val, Loc),
    ) -> Option<T> {
        let actual = self.describe(val);
        self.refuse(Code::Kind.at(loc, headline).compare("", required, actual))
    }

    /// Reports a name that there is none of, with the nearest of those that there are.
    fn no_such_name<'n>(
        &mut self,
        code: Code,
        (name, loc): (&str, Loc),
        headline: String,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Val {
        self.report(code.at(loc, headline).help_if(nearest(name, known)))
    }

    fn error(&mut self, code: Code, loc: Loc, headline: impl Into<String>) -> Val {
        self.report(code.at(loc, headline))
    }

    /// Counts a step of evaluation; false once there were too many.
    fn step(&mut self, loc: Loc) -> bool {
        self.steps_of(1, loc)
    }

    /// Counts work that is as much as this many steps.
    fn steps_of(&mut self, count: usize, loc: Loc) -> bool {
        if self.steps >= MAX_STEPS {
            return false;
        }
        let left = self.steps_left(count);
        if !left {
            self.error(Code::Unbounded, loc, "unrolling this kernel does not end");
        }
        left
    }

    /// [`Builder::steps_of`] after a problem that is known already: nothing is reported.
    fn steps_left(&mut self, count: usize) -> bool {
        self.steps = self.steps.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.problems.took(u64::try_from(count).unwrap_or(u64::MAX));
        self.steps < MAX_STEPS
    }

    /// What a reference refers to.
    fn read(&self, place: &value::Place) -> Val {
        let mut val = self.scopes.vars[place.var.0 as usize].val.clone();
        for index in &place.path {
            let part = val.parts().and_then(|parts| parts.get(*index)).cloned();
            val = part.unwrap_or(Val::Error);
            if let Val::Ref(next) = &val {
                val = self.read(&next.clone());
            }
        }
        self.plain(val)
    }

    /// The value without references around it.
    fn plain(&self, val: Val) -> Val {
        if let Val::Ref(place) = &val { self.read(place) } else { val }
    }
}

/// An aggregate of values.
fn tuple(parts: Vec<Val>) -> Val {
    if parts.is_empty() { Val::Unit } else { Val::Tuple(Rc::new(parts)) }
}

/// An array of values.
fn array(parts: Vec<Val>) -> Val {
    Val::Array(Rc::new(parts))
}

/// A scope for something that stands alone.
type Env = ScopeId;

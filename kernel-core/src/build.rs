//! From the syntax tree to the tile IR of one instance.
//!
//! Building is evaluation: the tree is walked with the values of the generic parameters at hand.
//! What is known is computed at once (shapes, loop bounds of `unroll`, branches on constants), what
//! is not becomes an IR statement. Functions are inlined, aggregates are taken apart, variables are
//! turned into SSA values where control flow joins. `control.rs` says how.

#![expect(
    clippy::wildcard_enum_match_arm,
    clippy::single_match_else,
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::many_single_char_names,
    clippy::struct_field_names,
    reason = "each construct takes a few kinds of values, and any other kind is the user's mistake and is reported; one function lists all builtins of a kind; values are handles"
)]

use std::rc::Rc;

use la_arena::Arena;

use crate::{
    diag::{Code, Diagnostic, Problems},
    ir::{
        Const, Dtype, Elem, Fact, Kernel, Op, Param, ParamKind, Region, Shared, SharedData, Stmt,
        StmtKind, Terminator, Type, Value, ValueData,
    },
    loc::Loc,
    syntax::{self, Expr, Unit},
};

mod access;
mod advice;
mod along;
mod arith;
mod barriers;
mod blocks;
mod bounds;
mod branch;
mod budget;
mod builtins;
mod bulk;
mod call;
mod closures;
mod cluster;
mod control;
mod counted;
mod doubt;
mod expected;
mod expr;
mod finish;
mod forms;
mod generic;
mod in_flight;
mod layout_values;
mod map_options;
mod methods;
mod named;
mod params;
mod per_thread;
mod places;
mod product;
mod provenance;
mod ptx;
mod ptx_text;
mod rank0;
mod reach;
mod remote;
mod scope;
mod specialize;
mod tcgen05;
mod tensor_layouts;
mod tensor_memory;
mod tensor_order;
mod tile_digits;
mod tile_layouts;
mod tiles;
mod tma;
mod types;
mod unknown;
mod value;
mod wgmma;

#[doc(hidden)]
pub use builtins::NAMES;
pub(crate) use params::PARAMETER_TYPES;
pub(crate) use params::nearest_target;
pub use params::{TARGETS, instance_rows, target_named};
use scope::{Call, ScopeId, Scopes};
use value::{Cells, Num, Val};

/// One choice of generic parameters: names and what they stand for.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Parameter name, its value as the compiler reads it, and as the user wrote it.
    pub values: Vec<(String, syntax::InstanceValue)>,
}

impl Instance {
    /// `BM = 128, BN = 64`
    pub fn describe(&self) -> String {
        let parts: Vec<String> = self
            .values
            .iter()
            .map(|(name, value)| format!("{name} = {}", syntax::written(&value.tokens)))
            .collect();
        parts.join(", ")
    }
}

/// The name among `known` that is nearest to `name`, if it is near enough to be a slip.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    known
        .into_iter()
        .map(|other| (edits(name, other), other))
        // Of a name of one letter, nothing would be left.
        .filter(|(distance, _)| *distance <= limit && *distance < length)
        .min_by_key(|(distance, other)| (*distance, other.len()))
        .map(|(_, other)| other)
}

/// Levenshtein distance with swaps of neighbours.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 {
                j
            } else if j == 0 {
                i
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

/// A function of the language.
pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether a path that nothing in sight defines means something of the language, or was surely meant to; everything else may be
/// a device item of another module.
///
/// What a `use` in sight brings is no slip.
pub(crate) fn is_language_path(path: &[syntax::Segment], brought: bool) -> bool {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return true };
    let known = |name: &str| is_builtin(name) || types::is_language_type(name);
    if matches!(
        first.name.as_str(),
        "Self" | "core" | "std" | "atomic" | "tma" | "bulk" | "wgmma" | "tcgen05" | "cluster"
    ) {
        return true;
    }
    if first.name == "kiln" {
        return !path.get(1).is_some_and(|second| syntax::is_library(&second.name));
    }
    // Such a word is a slip, unless it names something made of the language's own: `dot2` is no misspelt `dot`. Two letters
    // make another word: `scaled` is no misspelt `shared`; and in short words one does: `score` is no misspelt `store`. A type is
    // no misspelt function: `Linear` is not `linear`.
    let slip = |name: &str| {
        advice::is_foreign(name)
            || methods::TILE_METHODS.contains(&name)
            || name.len() >= SHORTEST_SLIP
                && nearest(name, NAMES.iter().copied()).is_some_and(|near| {
                    !name.starts_with(near)
                        && !name.ends_with(near)
                        && name.starts_with(char::is_uppercase)
                            == near.starts_with(char::is_uppercase)
                        && edits(name, near) == 1
                })
    };
    let foreign = path.len() > 1
        && (advice::is_foreign(&last.name) || advice::MODULES.contains(&first.name.as_str()));
    known(&first.name)
        || known(&last.name)
        || path.len() == 1 && !brought && slip(&first.name)
        || foreign
}

/// Letters from which on a word that is one letter away from one of the language's is taken for it.
const SHORTEST_SLIP: usize = 6;

/// Evaluation steps after which a kernel is taken to have no end at compile time.
const MAX_STEPS: u32 = 4_000_000;

/// Expressions that may be open at the same time, those of inlined functions included, so that the
/// compiler cannot run out of stack inside rustc.
const MAX_DEPTH: u32 = 256;

/// Reports up to which the names of values are looked for.
const MAX_NAMED: usize = 1000;

/// Elements that an array may have, those of arrays in it included.
const MAX_ELEMENTS: usize = 1 << 16;

/// What is passed to [`build`].
#[derive(Debug)]
pub struct Request<'a> {
    /// The module or function.
    pub unit: &'a Unit,
    /// The kernel in it.
    pub kernel: &'a syntax::Kernel,
    /// The choice of generic parameters.
    pub instance: &'a Instance,
    /// The target.
    pub target: kernel_ptx::Target,
    /// Assume contiguous, 16-byte aligned tensors, and say so in [`Kernel::facts`].
    pub assume_aligned: bool,
    /// Assume these as well.
    pub assume: &'a [Fact],
}

/// A built kernel, with what was declared and what was assumed of its arguments.
#[derive(Debug)]
pub struct Built {
    /// The kernel.
    pub kernel: Kernel,
    /// Facts that the user declared: a launch that breaks one is an error.
    pub declared: Vec<Fact>,
    /// Facts that this variant assumes beyond those: a launch that breaks one takes another variant.
    pub assumed: Vec<Fact>,
}

/// Builds one instance. `None` if there were problems.
pub fn build(request: &Request<'_>, problems: &mut Problems) -> Option<Built> {
    let before = problems.reports();
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
        counted: la_arena::ArenaMap::new(),
        shared_cells: la_arena::ArenaMap::new(),
        tensor_memory: Arena::new(),
        tensor_memory_cells: la_arena::ArenaMap::new(),
        shared_pins: la_arena::ArenaMap::new(),
        operands: std::collections::BTreeMap::new(),
        regions: vec![Region::default()],
        terminated: false,
        frames: Vec::new(),
        calls: Vec::new(),
        params: Vec::new(),
        target: request.target,
        steps: 0,
        depth: 0,
        conditional: 0,
        warps: 1,
        cluster: [1; 3],
        tainted: false,
        reports_before: before,
        awaits: !request.unit.devices.pending.is_empty(),
        only_looking: 0,
        never_given: 0,
        emitted: budget::Emitted::default(),
        too_large: None,
        type_params: generic::TypeParams::new(&request.kernel.function),
        called: la_arena::ArenaMap::new(),
        uses: per_thread::Uses::default(),
        specialized: None,
        crew: specialize::Crew::Own,
    };
    builder.scopes.add_items(root, &request.unit.items);
    builder.scopes.add_devices(root, &request.unit.devices);
    let built = builder.kernel(request, root);
    let tainted = builder.tainted;
    if problems.reports() > before || tainted { None } else { built }
}

struct Builder<'p> {
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
    /// Numbers of bytes that the compiler counts.
    counted: la_arena::ArenaMap<Value, ()>,
    shared_cells: la_arena::ArenaMap<Shared, Num>,
    /// Allocations of tensor memory.
    tensor_memory: Arena<crate::ir::TensorMemoryData>,
    tensor_memory_cells: la_arena::ArenaMap<crate::ir::TensorMemory, Num>,
    /// Where the layout of a shared allocation is written.
    shared_pins: la_arena::ArenaMap<Shared, Loc>,
    /// Where the operands of a matrix product are written, by the place of the product.
    operands: std::collections::BTreeMap<Loc, [Loc; 3]>,
    /// The regions being built, innermost last.
    regions: Vec<Region>,
    /// The innermost region has its terminator: what follows is dead.
    terminated: bool,
    frames: Vec<control::Frame>,
    calls: Vec<Call>,
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
    /// The reports before this instance.
    reports_before: usize,
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
    /// Addresses that are written through inside a function: where that was called, and its name.
    called: la_arena::ArenaMap<Value, (Loc, String)>,
    uses: per_thread::Uses,
    /// Where the warps of the kernel were specialised.
    specialized: Option<Loc>,
    /// Whose warps run the current point.
    crew: specialize::Crew,
}

impl Builder<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> Val {
        if !self.scopes.doubt.allows_reports() {
            // It may come from what is not known yet. When everything is there, the kernel is built again.
            return Val::Error;
        }
        let diagnostic = match self.calls.first() {
            // An error inside a helper is underlined there, and says from where it was called.
            Some(call) => Diagnostic { called: Some(call.loc), ..diagnostic }
                .place(call.loc, format!("called here as `{}`", call.function.name.name)),
            None => diagnostic,
        };
        self.problems.push(diagnostic);
        Val::Error
    }

    /// How the number of warps is written that run the current point.
    fn warps_written(&self, warps: u64) -> String {
        match self.crew {
            specialize::Crew::Own => format!("#[kernel(.., warps = {warps})]"),
            specialize::Crew::Partition => format!("partition({warps})"),
        }
    }

    fn error(&mut self, code: Code, loc: Loc, headline: impl Into<String>) -> Val {
        self.report(Diagnostic::new(code, loc, headline))
    }

    /// Counts a step of evaluation; false once there were too many.
    fn step(&mut self, loc: Loc) -> bool {
        self.steps_of(1, loc)
    }

    /// Counts work that is as much as so many steps.
    fn steps_of(&mut self, count: usize, loc: Loc) -> bool {
        if self.steps >= MAX_STEPS {
            return false;
        }
        let left = self.steps_left(count);
        if !left {
            self.error(Code::Unbounded, loc, "unrolling this kernel does not come to an end");
        }
        left
    }

    /// [`Builder::steps_of`] where a problem is known already: nothing is reported.
    fn steps_left(&mut self, count: usize) -> bool {
        self.steps = self.steps.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.steps < MAX_STEPS
    }

    /// The type of a value, with an open element type as it stands.
    fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// The element type of a value, open or settled.
    fn num(&self, value: Value) -> Num {
        if let Some(num) = self.value_cells.get(value) {
            return self.cells.find(*num);
        }
        match &self.values[value].ty {
            Type::Scalar(Elem::Number(dtype) | Elem::Ptr(dtype))
            | Type::Tile(Elem::Number(dtype) | Elem::Ptr(dtype), _) => Num::Known(*dtype),
            Type::Shared(shared) => self
                .shared_cells
                .get(shared.root)
                .map_or(Num::Known(shared.dtype), |num| self.cells.find(*num)),
            Type::TensorMemory(window) => self
                .tensor_memory_cells
                .get(window.root)
                .map_or(Num::Known(window.dtype), |num| self.cells.find(*num)),
            Type::Barrier(_) | Type::Error => Num::Known(Dtype::I32),
        }
    }

    fn is_ptr(&self, value: Value) -> bool {
        matches!(self.ty(value).elem(), Some(Elem::Ptr(_)))
    }

    /// Whether a value is shared memory or a barrier, which no operation on numbers takes.
    fn is_handle(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_))
    }

    /// Whether a value is one number or address for the whole block, and a scalar in Rust's types too.
    fn is_scalar(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Scalar(_)) && !self.is_point(value)
    }

    /// Whether a value is a tile of rank 0.
    fn is_point(&self, value: Value) -> bool {
        self.points.contains_idx(value)
    }

    fn new_value(&mut self, ty: Type, loc: Loc) -> Value {
        self.values.alloc(ValueData { ty, loc })
    }

    /// A value of the type that another one has: what it becomes where ways through the code meet.
    fn new_like(&mut self, other: Value, loc: Loc) -> Value {
        let value = self.new_value(self.ty(other).clone(), loc);
        if let Some(num) = self.value_cells.get(other).copied() {
            self.value_cells.insert(value, num);
        }
        if self.is_point(other) {
            self.points.insert(value, ());
        }
        self.mark_like(other, value);
        value
    }

    /// A value with element type `num` and the shape of `like`.
    fn new_num(&mut self, shape: Option<Vec<u32>>, num: Num, loc: Loc) -> Value {
        let elem = Elem::Number(self.cells.settled(num));
        let ty = match shape {
            None => Type::Scalar(elem),
            Some(shape) => Type::Tile(elem, shape),
        };
        let value = self.new_value(ty, loc);
        if let Num::Cell(_) = self.cells.find(num) {
            self.value_cells.insert(value, num);
        }
        value
    }

    fn push(&mut self, kind: StmtKind, loc: Loc) {
        if !self.terminated {
            self.count_code(&kind, loc);
            self.regions.last_mut().expect("a region is open").stmts.push(Stmt { kind, loc });
        }
    }

    fn op(&mut self, op: Op, args: Vec<Value>, result: Option<Value>, loc: Loc) {
        // What is computed with a tile of rank 0 and scalars is a tile of rank 0.
        if let Some(result) = result
            && matches!(self.ty(result), Type::Scalar(_))
            && args.iter().any(|arg| self.is_point(*arg))
        {
            self.points.insert(result, ());
        }
        if let Some(result) = result {
            self.mark_result(&op, &args, result);
        }
        self.push(StmtKind::Op { op, args, result }, loc);
    }

    /// An operation with a result of a settled type.
    fn emit(&mut self, op: Op, args: Vec<Value>, ty: Type, loc: Loc) -> Value {
        let value = self.new_value(ty, loc);
        self.op(op, args, Some(value), loc);
        value
    }

    /// An operation with a result of element type `num` (a scalar without `shape`).
    fn emit_num(
        &mut self,
        op: Op,
        args: Vec<Value>,
        shape: Option<Vec<u32>>,
        num: Num,
        loc: Loc,
    ) -> Value {
        let value = self.new_num(shape, num, loc);
        self.op(op, args, Some(value), loc);
        value
    }

    fn terminate(&mut self, end: Terminator) {
        if !self.terminated {
            self.regions.last_mut().expect("a region is open").end = end;
            self.terminated = true;
        }
    }

    /// A constant of a settled type as an IR value.
    fn constant(&mut self, value: Const, num: Num, loc: Loc) -> Value {
        self.emit_num(Op::Const(value), Vec::new(), None, num, loc)
    }

    /// A scalar, tile, pointer or window as an IR value; anything else is an error.
    fn value(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        match val {
            Val::Value(value) => Some(*value),
            Val::Const(value, num) => Some(self.constant(*value, *num, loc)),
            Val::Ref(place) => {
                let val = self.read(place);
                self.value(&val, loc)
            }
            Val::Error => None,
            Val::Never => {
                self.never_given += 1;
                None
            }
            other => {
                let what = self.describe(other);
                self.error(
                    Code::Kind,
                    loc,
                    format!("{what} stands where a scalar or a tile is wanted"),
                );
                None
            }
        }
    }

    /// A value in words, for messages.
    fn describe(&self, val: &Val) -> String {
        match val {
            Val::Error | Val::Never => "nothing".to_owned(),
            Val::Unit => "`()`".to_owned(),
            Val::Const(_, num) => format!("a scalar ({})", self.cells.name(*num)),
            Val::Value(value) => {
                let name = self.cells.name(self.num(*value));
                match self.ty(*value) {
                    Type::Scalar(Elem::Number(_)) if self.is_point(*value) => {
                        format!("a `Tile<{name}>` of rank 0")
                    }
                    Type::Scalar(Elem::Ptr(_)) if self.is_point(*value) => {
                        format!("a `Tile<Ptr<{name}>>` of rank 0")
                    }
                    Type::Scalar(Elem::Number(_)) => format!("a scalar ({name})"),
                    Type::Scalar(Elem::Ptr(_)) => format!("a `Ptr<{name}>`"),
                    Type::Tile(Elem::Number(_), shape) => {
                        format!("a `Tile<{name}>` of extents {shape:?}")
                    }
                    Type::Tile(Elem::Ptr(_), shape) => {
                        format!("a `Tile<Ptr<{name}>>` of extents {shape:?}")
                    }
                    Type::Shared(shared) => {
                        let other = if shared.remote { " in another block" } else { "" };
                        format!("a `Shared<{name}>` of extents {:?}{other}", shared.shape)
                    }
                    Type::Barrier(barrier) if barrier.ring => "`Barriers`".to_owned(),
                    Type::Barrier(_) => "a `Barrier`".to_owned(),
                    Type::TensorMemory(window) => {
                        format!("a `Tmem<{name}>` of extents {:?}", window.shape)
                    }
                    Type::Error => "nothing".to_owned(),
                }
            }
            Val::Tuple(parts) => format!("a tuple of {}", parts.len()),
            Val::Array(parts) => format!("an array of {}", parts.len()),
            Val::List(parts) => format!("an `Array` of {}", parts.len()),
            Val::Struct(item) => format!("a `{}`", item.def.name.name),
            Val::Closure(_) => "a closure".to_owned(),
            Val::Ref(place) => self.describe(&self.read(place)),
            Val::Range(_) => "a range".to_owned(),
            Val::Tensor(param) if self.params[*param as usize].block.is_some() => {
                "a tensor map".to_owned()
            }
            Val::Tensor(_) => "a tensor".to_owned(),
            Val::View(view) => format!("a window of a tensor, of extents {:?}", view.shape),
            Val::Layout(form) => format!("the layout `{form}`"),
            Val::Copying(_) => "a copy".to_owned(),
            Val::Str(_) => "a string".to_owned(),
            Val::Target(_) => "a target".to_owned(),
            Val::Partition(_) => "a partition".to_owned(),
            Val::Named(_) => "a `NamedBarrier`".to_owned(),
        }
    }

    /// How a value is written where it is used, for help that can be pasted: the name of a variable that holds it, or a
    /// literal.
    fn written(&self, val: &Val) -> Option<String> {
        let from = self.calls.last().map_or(0, |call| call.vars);
        match val {
            Val::Const(Const::Int(value), _) => Some(value.to_string()),
            Val::Const(Const::Float(value), _) => Some(format!("{value:?}")),
            Val::Const(Const::Bool(value), _) => Some(value.to_string()),
            // A long unrolled loop may be wrong in each turn, and is shown once.
            Val::Value(_) if self.problems.reports() > MAX_NAMED => None,
            Val::Value(value) => {
                let same = |held: &Val| matches!(held, Val::Value(held) if held == value);
                self.scopes.name_with(from, same).map(str::to_owned)
            }
            Val::Tensor(param) => self.params.get(*param as usize).map(|param| param.name.clone()),
            _ => None,
        }
    }

    /// `x.method` for the variable `x`; `.method` where a value has no name.
    fn applied(&self, value: Value, method: &str) -> String {
        self.written(&Val::Value(value)).unwrap_or_default() + method
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
        match val {
            Val::Ref(next) => self.read(&next),
            other => other,
        }
    }

    /// The value without references around it.
    fn plain(&self, val: Val) -> Val {
        match val {
            Val::Ref(place) => self.read(&place),
            other => other,
        }
    }

    /// An integer known when compiling.
    fn const_int(&mut self, val: &Val, what: &str, loc: Loc) -> Option<i128> {
        match self.plain(val.clone()) {
            Val::Const(Const::Int(value), _) => Some(value),
            Val::Error | Val::Never => None,
            Val::Value(value) if self.is_scalar(value) => {
                self.report(
                    Diagnostic::new(Code::NotConstant, loc, format!("{what} must be known when compiling"))
                        .why("tile extents, axes and unrolled loops shape the code that is generated; known are literals, `const` items, const generic parameters, and arithmetic on these")
                        .help("#[kernel(.., instances(N = [64, 128]))]\npub fn name<const N: i32>(..)"),
                );
                None
            }
            other => {
                let actual = self.describe(&other);
                self.report(
                    Diagnostic::new(Code::Kind, loc, format!("{what} must be an integer")).compare(
                        "",
                        "an integer known when compiling",
                        actual,
                    ),
                );
                None
            }
        }
    }

    /// An extent list such as `[BM, BN]`: powers of two.
    fn shape(&mut self, val: &Val, at: &Expr) -> Option<Vec<u32>> {
        match self.plain(val.clone()) {
            Val::Array(parts) => self.extents(&parts, at, 0),
            Val::Error | Val::Never => None,
            other => {
                let actual = self.describe(&other);
                let help = match (&other, at.text()) {
                    (Val::Const(Const::Int(_), _), Some(extent)) => format!("[{extent}]"),
                    _ => "[64, 32]".to_owned(),
                };
                self.report(
                    Diagnostic::new(Code::Kind, at.loc, "extents are an array of integers")
                        .compare("", "an array such as `[64, 32]`", actual)
                        .help(help),
                );
                None
            }
        }
    }

    /// The extents in `parts`, which stand at `at` from its element `first` on.
    fn extents(&mut self, parts: &[Val], at: &Expr, first: usize) -> Option<Vec<u32>> {
        let mut shape: Vec<Option<u32>> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let loc = at.part(first + index);
            let extent = self.const_int(part, "an extent of a tile", loc);
            shape.push(extent.and_then(|extent| self.extent(extent, loc)));
        }
        let shape: Vec<u32> = shape.into_iter().collect::<Option<_>>()?;
        if shape.is_empty() || shape.len() > 5 {
            self.report(Diagnostic::new(Code::Axis, at.loc, "a tile has 1 to 5 axes").compare(
                "rank",
                "1 to 5",
                shape.len().to_string(),
            ));
            return None;
        }
        let elements: u128 = shape.iter().map(|extent| u128::from(*extent)).product();
        if elements > u128::from(u32::MAX) {
            // Beyond this no block could hold it, and counts would need more than 32 bits everywhere.
            self.report(
                Diagnostic::new(
                    Code::TileBudget,
                    at.loc,
                    "a tile of more elements than can be counted",
                )
                .compare(
                    "elements",
                    format!("at most {}", u32::MAX),
                    elements.to_string(),
                ),
            );
            return None;
        }
        Some(shape)
    }

    fn extent(&mut self, extent: i128, loc: Loc) -> Option<u32> {
        match u32::try_from(extent) {
            Ok(value) if value.is_power_of_two() && value <= 1 << 20 => Some(value),
            _ => {
                if extent > 1 << 20 {
                    self.report(
                        Diagnostic::new(
                            Code::Extent,
                            loc,
                            format!("the extent {extent} is larger than 1048576"),
                        )
                        .compare("extent", "a power of two from 1 to 1048576", extent.to_string())
                        .why("a tile lives in the registers of one block, which hold far less; a larger range is a loop over tiles"),
                    );
                    return None;
                }
                let up = u64::try_from(extent).ok().and_then(u64::checked_next_power_of_two);
                let mut diagnostic =
                    Diagnostic::new(Code::Extent, loc, format!("the extent {extent} is not a power of two"))
                        .compare("extent", "a power of two from 1 to 1048576", extent.to_string())
                        .why("a layout maps the bits of register, lane and warp numbers to the bits of tile coordinates, so each extent is a whole number of bits");
                if let Some(up) = up.filter(|_| extent > 0) {
                    diagnostic = diagnostic.help(format!(
                        "use {up}; reads outside a tensor give zero, writes outside are dropped"
                    ));
                }
                self.report(diagnostic);
                None
            }
        }
    }
}

/// A parameter kind for the message of an unsupported type.
fn describe_param(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Tensor { dtype, rank, mutable } => {
            format!("{}<{}, {rank}>", if *mutable { "TensorMut" } else { "Tensor" }, dtype.name())
        }
        ParamKind::Pointer(dtype) => format!("Ptr<{}>", dtype.name()),
        ParamKind::Scalar(dtype) => dtype.name().to_owned(),
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

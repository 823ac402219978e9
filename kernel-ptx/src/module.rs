//! The data model of a PTX module: what the parser makes and the printer takes.
//!
//! Registers and labels are resolved: a nested `{ .reg .pred p; L: .. }` block leaves a register
//! and a label of its own in the function's tables, and the block itself disappears.

use crate::{Modifier, Opcode, Space, SpecialRegister, Type};

/// A PTX module: one text file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version`: major, minor; 0.0 where the text has none.
    pub version: (u32, u32),
    /// `.target`: the first name (`sm_90a`), then any options (`debug`).
    pub target: Vec<String>,
    /// `.file` directives: index and path, in the order of the text.
    pub files: Vec<(u32, String)>,
    /// `.pragma` and `.alias` of module scope.
    pub directives: Vec<Directive>,
    /// Module-scope variables.
    pub variables: Vec<Variable>,
    /// Entries and device functions, in the order of the text.
    pub functions: Vec<Function>,
}

/// Visibility of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// No directive.
    #[default]
    Private,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A variable in memory: module scope, or local to a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name in the text.
    pub name: String,
    /// Its visibility.
    pub linkage: Linkage,
    /// Where it lives; never [`Space::Reg`].
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// 1, or 2 or 4 for `.v2`, `.v4`.
    pub vector: u32,
    /// Alignment in bytes, written or natural.
    pub align: u32,
    /// Array extents; empty for a scalar, `[0]` for `name[]` (dynamic shared memory).
    pub dims: Vec<u64>,
    /// Initial bytes, if the text gives any; shorter than the variable means zeros after.
    pub init: Option<Vec<Initial>>,
}

/// One element of an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// Literal bytes, little-endian, of the element's width.
    Bytes(Vec<u8>),
    /// The address of a symbol plus an offset; `generic(..)` or plain.
    Address {
        /// The variable or function.
        symbol: String,
        /// Bytes after it.
        offset: i64,
        /// `generic(symbol)`: an address of the generic space.
        generic: bool,
    },
}

/// An entry or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name in the text.
    pub name: String,
    /// `.entry` (a kernel) rather than `.func`.
    pub is_entry: bool,
    /// Its visibility.
    pub linkage: Linkage,
    /// Return parameters of a `.func`.
    pub results: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
    /// `.maxntid`, `.reqntid` and the like.
    pub directives: Vec<Directive>,
    /// Every register of the body. [`Reg`] indexes it.
    pub registers: Vec<Register>,
    /// Variables declared in the body (shared, local, param of calls). [`Symbol::Local`] indexes it.
    pub variables: Vec<Variable>,
    /// Names of the labels. [`Label`] indexes it.
    pub labels: Vec<String>,
    /// `.branchtargets` tables. [`Operand::BranchTargets`] indexes it.
    pub branch_targets: Vec<Vec<Label>>,
    /// The statements; `None` for a declaration without a body.
    pub body: Option<Vec<Statement>>,
}

impl Function {
    /// A declaration of a device function without a name, parameters or a body.
    pub(crate) fn empty() -> Function {
        Function {
            name: String::new(),
            is_entry: false,
            linkage: Linkage::Private,
            results: Vec::new(),
            params: Vec::new(),
            directives: Vec::new(),
            registers: Vec::new(),
            variables: Vec::new(),
            labels: Vec::new(),
            branch_targets: Vec::new(),
            body: None,
        }
    }
}

/// A parameter of an entry or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name in the text.
    pub name: String,
    /// [`Space::Param`], or [`Space::Reg`] for a register parameter of a `.func`.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// Alignment in bytes, written or natural.
    pub align: u32,
    /// Array extents; empty for a scalar.
    pub dims: Vec<u64>,
    /// For a register parameter: the register it is in the body.
    pub register: Option<Reg>,
}

/// A directive of a function's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `.maxntid x, y, z`
    MaxThreads([u32; 3]),
    /// `.reqntid x, y, z`
    RequiredThreads([u32; 3]),
    /// `.minnctapersm n`
    MinBlocks(u32),
    /// `.maxnreg n`
    MaxRegisters(u32),
    /// `.reqnctapercluster x, y, z`
    RequiredCluster([u32; 3]),
    /// `.explicitcluster`
    ExplicitCluster,
    /// `.maxclusterrank n`
    MaxClusterRank(u32),
    /// `.blocksareclusters`
    BlocksAreClusters,
    /// `.pragma "text"`
    Pragma(String),
    /// `.noreturn`
    NoReturn,
    /// `.alias`, `.callprototype` and others that only a linker reads, verbatim.
    Other(String),
}

/// A virtual register: its type and, where it came from text, its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Declared type.
    pub ty: Type,
    /// The name in the text it was parsed from; `None` where a compiler made it.
    pub name: Option<String>,
}

/// A register of a function: an index into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A label of a function: an index into [`Function::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name:`
    Label(Label),
    /// An instruction.
    Instruction(Instruction),
    /// `.loc file line column`: the source position of what follows.
    Location {
        /// Index of a `.file`.
        file: u32,
        /// Line, from 1.
        line: u32,
        /// Column, from 1 (0: unknown).
        column: u32,
    },
    /// `.pragma "text"`
    Pragma(String),
}

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate.
    pub predicate: Reg,
    /// `@!p`: runs where the predicate is false.
    pub negated: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p`, if any.
    pub guard: Option<Guard>,
    /// The word before the first dot.
    pub opcode: Opcode,
    /// Everything after it, in the order of the text.
    pub modifiers: Vec<Modifier>,
    /// Operands, destination first.
    pub operands: Vec<Operand>,
    /// Line in the PTX text it was parsed from; 0 where a compiler made it.
    pub line: u32,
}

impl Instruction {
    /// An unguarded instruction that a compiler made.
    pub fn new(
        opcode: Opcode,
        modifiers: impl Into<Vec<Modifier>>,
        operands: impl Into<Vec<Operand>>,
    ) -> Self {
        Instruction {
            guard: None,
            opcode,
            modifiers: modifiers.into(),
            operands: operands.into(),
            line: 0,
        }
    }
}

/// A variable or function by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of this function: an index into [`Function::variables`].
    Local(u32),
    /// A parameter of this function: an index into [`Function::params`].
    Param(u32),
    /// A return parameter of this function: an index into [`Function::results`].
    Result(u32),
    /// A module-scope variable: an index into [`Module::variables`].
    Global(u32),
    /// A function of the module, by name.
    Function(String),
}

/// What an address starts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A register.
    Reg(Reg),
    /// A symbol.
    Symbol(Symbol),
    /// An absolute address.
    Absolute,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// `!p`: a predicate read negated.
    Not(Reg),
    /// `-x`: only where the syntax has it, as in `wgmma`'s immediates; a literal's sign is in the literal.
    Int(i128),
    /// `0f3F800000` or a decimal literal of an `.f32` context: the bits.
    F32(u32),
    /// `0d3FF0000000000000` or a decimal literal: the bits.
    F64(u64),
    /// A special register such as `%tid.x`.
    Special(SpecialRegister),
    /// `{a, b, c, d}`
    Vector(Vec<Operand>),
    /// `p|q`, as in `shfl.sync d|p`: first, second.
    Pair(Box<Operand>, Box<Operand>),
    /// `[base + offset]`
    Address {
        /// What it starts from.
        base: Base,
        /// Bytes added.
        offset: i64,
    },
    /// `[map, {c0, c1}]`: a tensor map and coordinates; also `[map, {..}, {..}]` of im2col.
    TensorAddress {
        /// What holds the map's address.
        base: Base,
        /// Bytes added to it.
        offset: i64,
        /// Each brace list.
        lists: Vec<Vec<Operand>>,
    },
    /// `symbol + offset` as a value (`mov.u64 %rd, symbol`).
    Symbol(Symbol, i64),
    /// A branch target.
    Label(Label),
    /// The table of a `brx.idx`: an index into [`Function::branch_targets`].
    BranchTargets(u32),
    /// `(a, b)`: the argument or result list of a `call`.
    List(Vec<Operand>),
    /// `_`: a result that is not required.
    Sink,
}

impl Module {
    /// The instructions of every function, in the order of the text.
    pub fn instructions(&self) -> impl Iterator<Item = (&Function, &Instruction)> {
        self.functions.iter().flat_map(|function| {
            let statements = function.body.iter().flatten();
            statements.filter_map(move |statement| match statement {
                Statement::Instruction(instruction) => Some((function, instruction)),
                Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => None,
            })
        })
    }
}

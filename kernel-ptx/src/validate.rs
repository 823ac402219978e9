//! Whether a module says what its target and its version allow.

use std::fmt;

use crate::inst::Forms;
use crate::target::{Need, Target, Version};
use crate::{
    Base, Directive, FormError, Function, Instruction, Module, Operand, Param, Space, Statement,
    Symbol, Type,
};

/// Something that a module must not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The function, if it is in one.
    pub function: Option<String>,
    /// The index of the statement in the function's body, if it is one.
    pub statement: Option<usize>,
    /// The line of the text that the module was read from; 0 where a compiler made it.
    pub line: u32,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The instruction is not a row of the table.
    Form(FormError),
    /// `.target` names nothing that is known.
    Target(String),
    /// The target does not offer it.
    Need {
        /// What it is.
        what: String,
        /// What it asks for.
        required: Need,
        /// The module's target.
        actual: Target,
    },
    /// The module's version does not have it.
    Version {
        /// What it is.
        what: String,
        /// The first version that has it.
        required: Version,
        /// The module's version.
        actual: Version,
    },
    /// A guard is not a predicate, or an index is out of its table.
    Reference(String),
    /// Static shared memory, in bytes, beyond [`Target::STATIC_SHARED_BYTES`].
    SharedBytes(u64),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line != 0 {
            write!(f, "line {}: ", self.line)?;
        } else if let Some(statement) = self.statement {
            write!(f, "statement {statement}: ")?;
        }
        if let Some(function) = &self.function {
            write!(f, "in `{function}`: ")?;
        }
        match &self.reason {
            Reason::Form(error) => write!(f, "{error}"),
            Reason::Target(name) => write!(f, "`{name}` is no target that is known"),
            Reason::Need { what, required, actual } => {
                write!(f, "`{what}` asks for {required}, the target is {actual}")
            }
            Reason::Version { what, required, actual } => write!(
                f,
                "`{what}` asks for PTX {}.{}, the module says {}.{}",
                required.0, required.1, actual.0, actual.1
            ),
            Reason::Reference(what) => f.write_str(what),
            Reason::SharedBytes(bytes) => write!(
                f,
                "{bytes} bytes of static shared memory, the most is {}",
                Target::STATIC_SHARED_BYTES
            ),
        }
    }
}

impl std::error::Error for Invalid {}

impl Directive {
    /// What a directive asks for.
    fn need(&self) -> (Need, Version) {
        match self {
            Directive::RequiredCluster(_)
            | Directive::ExplicitCluster
            | Directive::MaxClusterRank(_) => (Need::Onwards(90), (7, 8)),
            Directive::BlocksAreClusters => (Need::Onwards(90), (9, 0)),
            Directive::MaxThreads(_)
            | Directive::RequiredThreads(_)
            | Directive::MinBlocks(_)
            | Directive::MaxRegisters(_)
            | Directive::Pragma(_)
            | Directive::NoReturn
            | Directive::Other(_) => (Need::Onwards(0), (7, 0)),
        }
    }
}

/// The bytes of a kernel's parameters, each at its alignment.
fn param_bytes(params: &[Param]) -> u64 {
    params.iter().fold(0, |offset: u64, param| {
        let size =
            param.dims.iter().fold(param.ty.bytes(), |size, extent| size.saturating_mul(*extent));
        offset.next_multiple_of(u64::from(param.align.max(1))).saturating_add(size)
    })
}

impl Module {
    /// The first name after `.target`.
    pub fn parsed_target(&self) -> Option<Target> {
        Target::parse(self.target.first()?).filter(|target| target.is_known())
    }

    /// The first PTX ISA version that has the target and everything that the module uses.
    ///
    /// What is not a row of the table is passed over: [`Module::validate`] reports it.
    pub fn minimum_version(&self) -> Version {
        let target = self.parsed_target();
        let floor = target.map_or((7, 0), Target::minimum_version);
        let of_functions = self.functions.iter().map(|function| {
            let directives = function.directives.iter().map(|directive| directive.need().1);
            // (PTX ISA, "Kernel Function Parameters": more than 4096 bytes.)
            let params = if function.is_entry && param_bytes(&function.params) > 4096 {
                (8, 1)
            } else {
                (7, 0)
            };
            directives.max().unwrap_or((7, 0)).max(params)
        });
        let mut version = of_functions.max().unwrap_or((7, 0)).max(floor);
        let mut rows = Forms::default();
        for (function, instruction) in self.instructions() {
            if rows.latest(instruction).is_none_or(|latest| latest <= version) {
                continue;
            }
            let forms = rows.of(instruction, &function.registers).unwrap_or_default();
            let offered =
                forms.iter().filter(|form| target.is_none_or(|target| form.1.met_by(target)));
            version = offered.map(|form| form.2).min().unwrap_or((7, 0)).max(version);
        }
        version
    }

    /// Checks every instruction against the table, the target and the version.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the text.
    pub fn validate(&self) -> Result<(), Vec<Invalid>> {
        let mut found = Vec::new();
        let module_wide = |reason| Invalid { function: None, statement: None, line: 0, reason };
        let target = self.parsed_target();
        if let Some(target) = target {
            let required = target.minimum_version();
            if self.version < required {
                let what = format!(".target {target}");
                found.push(module_wide(Reason::Version { what, required, actual: self.version }));
            }
        } else {
            found.push(module_wide(Reason::Target(self.target.join(", "))));
        }
        for function in &self.functions {
            let rows = Forms::default();
            Check { module: self, target, function, rows, found: &mut found }.run();
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

struct Check<'a> {
    module: &'a Module,
    target: Option<Target>,
    function: &'a Function,
    rows: Forms<'a>,
    found: &'a mut Vec<Invalid>,
}

impl<'a> Check<'a> {
    fn report(&mut self, statement: Option<usize>, line: u32, reason: Reason) {
        let function = Some(self.function.name.clone());
        self.found.push(Invalid { function, statement, line, reason });
    }

    /// Reports what the target or the version does not offer.
    fn require(
        &mut self,
        statement: Option<usize>,
        line: u32,
        what: impl Fn() -> String,
        (need, version): (Need, Version),
    ) {
        if let Some(actual) = self.target.filter(|target| !need.met_by(*target)) {
            self.report(statement, line, Reason::Need { what: what(), required: need, actual });
        } else if version > self.module.version {
            let (what, actual) = (what(), self.module.version);
            self.report(statement, line, Reason::Version { what, required: version, actual });
        }
    }

    fn run(&mut self) {
        let function = self.function;
        for directive in &function.directives {
            self.require(None, 0, || directive.to_string(), directive.need());
        }
        if function.is_entry && param_bytes(&function.params) > 4096 {
            let what = || "more than 4096 bytes of parameters".to_owned();
            self.require(None, 0, what, (Need::Onwards(0), (8, 1)));
        }
        let bytes: u64 = function
            .variables
            .iter()
            .filter(|variable| variable.space == Space::Shared)
            .map(|variable| {
                variable
                    .dims
                    .iter()
                    .fold(variable.ty.bytes() * u64::from(variable.vector), |size, extent| {
                        size.saturating_mul(*extent)
                    })
            })
            .fold(0, u64::saturating_add);
        if bytes > Target::STATIC_SHARED_BYTES {
            self.report(None, 0, Reason::SharedBytes(bytes));
        }
        for (index, statement) in function.body.iter().flatten().enumerate() {
            match statement {
                Statement::Instruction(instruction) => self.instruction(index, instruction),
                Statement::Label(label) => {
                    if label.0 as usize >= function.labels.len() {
                        let what = format!("label {} is not in the function's table", label.0);
                        self.report(Some(index), 0, Reason::Reference(what));
                    }
                }
                Statement::Location { .. } | Statement::Pragma(_) => {}
            }
        }
    }

    fn instruction(&mut self, index: usize, instruction: &'a Instruction) {
        let line = instruction.line;
        if let Some(what) = self.dangling(instruction) {
            self.report(Some(index), line, Reason::Reference(what));
            return;
        }
        match self.rows.of(instruction, &self.function.registers) {
            Err(error) => self.report(Some(index), line, Reason::Form(error)),
            Ok(forms) => {
                // The form that asks for least of those that the target offers.
                let offered = forms
                    .iter()
                    .filter(|form| self.target.is_none_or(|target| form.1.met_by(target)));
                let (_, need, version) = offered.min_by_key(|form| form.2).unwrap_or(&forms[0]);
                self.require(Some(index), line, || instruction.name(), (*need, *version));
            }
        }
    }

    /// A register, label or symbol that is in no table, or a guard that is not a predicate.
    fn dangling(&self, instruction: &Instruction) -> Option<String> {
        let function = self.function;
        let mut dangling = None;
        instruction.visit_registers(|reg| {
            if reg.0 as usize >= function.registers.len() {
                dangling = Some(format!("register {} is not in the function's table", reg.0));
            }
        });
        if dangling.is_some() {
            return dangling;
        }
        if let Some(guard) = instruction.guard
            && function.registers[guard.predicate.0 as usize].ty != Type::Pred
        {
            return Some("the guard is not a predicate".to_owned());
        }
        instruction.operands.iter().find_map(|operand| self.dangling_operand(operand))
    }

    fn dangling_operand(&self, operand: &Operand) -> Option<String> {
        let function = self.function;
        let symbol = |symbol: &Symbol| {
            let (index, length) = match symbol {
                Symbol::Local(index) => (*index, function.variables.len()),
                Symbol::Param(index) => (*index, function.params.len()),
                Symbol::Result(index) => (*index, function.results.len()),
                Symbol::Global(index) => (*index, self.module.variables.len()),
                Symbol::Function(_) => return None,
            };
            (index as usize >= length).then(|| format!("{symbol:?} is not in its table"))
        };
        match operand {
            Operand::Label(label) if label.0 as usize >= function.labels.len() => {
                Some(format!("label {} is not in the function's table", label.0))
            }
            Operand::BranchTargets(table) if *table as usize >= function.branch_targets.len() => {
                Some(format!("branch table {table} is not in the function's tables"))
            }
            Operand::Symbol(named, _)
            | Operand::Address { base: Base::Symbol(named), .. }
            | Operand::TensorAddress { base: Base::Symbol(named), .. } => symbol(named),
            Operand::Vector(operands) | Operand::List(operands) => {
                operands.iter().find_map(|operand| self.dangling_operand(operand))
            }
            Operand::Reg(_)
            | Operand::Not(_)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::Sink => None,
        }
    }
}

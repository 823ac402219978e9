//! Text out: the canonical form of a module.
//!
//! One instruction a line, a tab in front, registers declared by kind. A register or label without a
//! name is numbered in the order of its first use, so that a change of a kernel stays local in a diff.

mod names;

use std::fmt::{self, Display, Write};

use crate::{
    Base, Directive, Function, Initial, Instruction, Linkage, Modifier, Module, Operand, Param,
    Space, Statement, Symbol, Type, Variable,
};
use names::Names;

/// The canonical text of a module; the same as its [`Display`].
pub fn print(module: &Module) -> String {
    module.to_string()
}

impl Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 0.0 is the version of a module that names none.
        if self.version != (0, 0) {
            writeln!(f, ".version {}.{}", self.version.0, self.version.1)?;
        }
        if !self.target.is_empty() {
            writeln!(f, ".target {}", self.target.join(", "))?;
        }
        writeln!(f, ".address_size 64")?;
        for (index, path) in &self.files {
            // A string of PTX has no way to write a quotation mark; the path is for people and debuggers.
            writeln!(f, ".file {index} \"{}\"", path.replace('"', "'"))?;
        }
        // An alias comes after the functions that it names.
        let is_pragma = |directive: &&Directive| matches!(directive, Directive::Pragma(_));
        for directive in self.directives.iter().filter(is_pragma) {
            writeln!(f, "{directive}")?;
        }
        if !self.variables.is_empty() {
            writeln!(f)?;
        }
        for variable in &self.variables {
            writeln!(f, "{}", Declaration { variable, name: &variable.name })?;
        }
        for function in &self.functions {
            writeln!(f)?;
            print_function(f, self, function)?;
        }
        for directive in self.directives.iter().filter(|directive| !is_pragma(directive)) {
            writeln!(f, "{directive}")?;
        }
        Ok(())
    }
}

impl Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Directive::MaxThreads([x, y, z]) => write!(f, ".maxntid {x}, {y}, {z}"),
            Directive::RequiredThreads([x, y, z]) => write!(f, ".reqntid {x}, {y}, {z}"),
            Directive::MinBlocks(count) => write!(f, ".minnctapersm {count}"),
            Directive::MaxRegisters(count) => write!(f, ".maxnreg {count}"),
            Directive::RequiredCluster([x, y, z]) => write!(f, ".reqnctapercluster {x}, {y}, {z}"),
            Directive::ExplicitCluster => f.write_str(".explicitcluster"),
            Directive::MaxClusterRank(count) => write!(f, ".maxclusterrank {count}"),
            Directive::BlocksAreClusters => f.write_str(".blocksareclusters"),
            Directive::Pragma(text) => write!(f, ".pragma \"{text}\";"),
            Directive::NoReturn => f.write_str(".noreturn"),
            Directive::Other(text) => f.write_str(text),
        }
    }
}

impl Modifier {
    fn text(self) -> &'static str {
        match self {
            Modifier::Type(ty) => ty.text(),
            Modifier::Space(space) => space.text(),
            Modifier::Word(word) => word.text(),
        }
    }
}

impl Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Instruction {
    /// The opcode and its modifiers as in the text: `add.rn.f32`.
    pub fn name(&self) -> String {
        let mut name = self.opcode.text().to_owned();
        for modifier in &self.modifiers {
            let _ = write!(name, ".{modifier}");
        }
        name
    }
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Private => "",
        Linkage::Visible => ".visible ",
        Linkage::Extern => ".extern ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

/// A `.callprototype` or `.calltargets` stands in the body, after its label.
fn belongs_to_body(directive: &Directive) -> bool {
    matches!(directive, Directive::Other(text) if !text.starts_with('.'))
}

fn print_function(f: &mut fmt::Formatter<'_>, module: &Module, function: &Function) -> fmt::Result {
    let names = Names::new(module, function);
    let kind = if function.is_entry { ".entry" } else { ".func" };
    write!(f, "{}{kind} ", linkage(function.linkage))?;
    if !function.results.is_empty() {
        f.write_str("(")?;
        for (index, param) in function.results.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}", Parameter { param, name: names.param(param) })?;
        }
        f.write_str(") ")?;
    }
    write!(f, "{}(", function.name)?;
    for (index, param) in function.params.iter().enumerate() {
        let comma = if index == 0 { "\n\t" } else { ",\n\t" };
        write!(f, "{comma}{}", Parameter { param, name: names.param(param) })?;
    }
    f.write_str(if function.params.is_empty() { ")" } else { "\n)" })?;
    for directive in function.directives.iter().filter(|directive| !belongs_to_body(directive)) {
        write!(f, "\n{directive}")?;
    }
    let Some(body) = &function.body else {
        return writeln!(f, ";");
    };
    f.write_str("\n{\n")?;
    for line in &names.declarations {
        writeln!(f, "\t{line}")?;
    }
    for (variable, name) in function.variables.iter().zip(&names.locals) {
        writeln!(f, "\t{}", Declaration { variable, name })?;
    }
    for directive in function.directives.iter().filter(|directive| belongs_to_body(directive)) {
        writeln!(f, "\t{directive}")?;
    }
    for (targets, table) in function.branch_targets.iter().zip(&names.tables) {
        let targets: Vec<_> = targets.iter().map(|label| names.label(*label)).collect();
        writeln!(f, "\t{table}: .branchtargets {};", targets.join(", "))?;
    }
    for statement in body {
        match statement {
            Statement::Label(label) => writeln!(f, "{}:", names.label(*label))?,
            Statement::Instruction(instruction) => {
                let writer = Writer { module, function, names: &names };
                writeln!(f, "\t{}", InstructionText { writer, instruction })?;
            }
            Statement::Location { file, line, column } => {
                writeln!(f, "\t.loc {file} {line} {column}")?;
            }
            Statement::Pragma(text) => writeln!(f, "\t.pragma \"{text}\";")?,
        }
    }
    f.write_str("}\n")
}

fn print_dims(f: &mut fmt::Formatter<'_>, dims: &[u64]) -> fmt::Result {
    for (index, extent) in dims.iter().enumerate() {
        if index == 0 && *extent == 0 {
            f.write_str("[]")?;
        } else {
            write!(f, "[{extent}]")?;
        }
    }
    Ok(())
}

struct Parameter<'a> {
    param: &'a Param,
    name: &'a str,
}

impl Display for Parameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { param, name } = self;
        write!(f, ".{} ", param.space.text())?;
        if u64::from(param.align) != param.ty.bytes() || !param.dims.is_empty() {
            write!(f, ".align {} ", param.align)?;
        }
        write!(f, ".{} {name}", param.ty.text())?;
        print_dims(f, &param.dims)
    }
}

struct Declaration<'a> {
    variable: &'a Variable,
    name: &'a str,
}

impl Display for Declaration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Declaration { variable, name } = self;
        write!(f, "{}.{} ", linkage(variable.linkage), variable.space.text())?;
        let natural = variable.ty.bytes() * u64::from(variable.vector);
        if u64::from(variable.align) != natural || !variable.dims.is_empty() {
            write!(f, ".align {} ", variable.align)?;
        }
        if variable.vector != 1 {
            write!(f, ".v{} ", variable.vector)?;
        }
        write!(f, ".{} {name}", variable.ty.text())?;
        print_dims(f, &variable.dims)?;
        if let Some(init) = &variable.init {
            f.write_str(" = ")?;
            let mut shape = variable.dims.clone();
            if variable.vector != 1 {
                shape.push(u64::from(variable.vector));
            }
            print_initial(f, variable.ty, &shape, init)?;
        }
        f.write_str(";")
    }
}

/// The elements in the braces that `shape` asks for.
fn print_initial(
    f: &mut fmt::Formatter<'_>,
    ty: Type,
    shape: &[u64],
    elements: &[Initial],
) -> fmt::Result {
    let Some((_, inner)) = shape.split_first() else {
        return match elements.first() {
            Some(element) => print_element(f, ty, element),
            None => f.write_str("0"),
        };
    };
    f.write_str("{")?;
    let size = usize::try_from(inner.iter().product::<u64>()).unwrap_or(usize::MAX).max(1);
    for (index, chunk) in elements.chunks(size).enumerate() {
        if index != 0 {
            f.write_str(", ")?;
        }
        print_initial(f, ty, inner, chunk)?;
    }
    f.write_str("}")
}

fn print_element(f: &mut fmt::Formatter<'_>, ty: Type, element: &Initial) -> fmt::Result {
    match element {
        Initial::Bytes(bytes) => {
            let mut wide = [0; 16];
            for (place, byte) in wide.iter_mut().zip(bytes) {
                *place = *byte;
            }
            let value = u128::from_le_bytes(wide);
            if ty == Type::F32 {
                write!(f, "0f{value:08X}")
            } else if ty == Type::F64 {
                write!(f, "0d{value:016X}")
            } else {
                write!(f, "{value}")
            }
        }
        Initial::Address { symbol, offset, generic } => {
            if *generic {
                write!(f, "generic({symbol})")?;
            } else {
                f.write_str(symbol)?;
            }
            print_offset(f, *offset)
        }
    }
}

fn print_offset(f: &mut fmt::Formatter<'_>, offset: i64) -> fmt::Result {
    if offset == 0 { Ok(()) } else { write!(f, "+{offset}") }
}

#[derive(Clone, Copy)]
struct Writer<'a> {
    module: &'a Module,
    function: &'a Function,
    names: &'a Names,
}

struct InstructionText<'a> {
    writer: Writer<'a>,
    instruction: &'a Instruction,
}

impl Display for InstructionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InstructionText { writer, instruction } = self;
        if let Some(guard) = instruction.guard {
            let not = if guard.negated { "!" } else { "" };
            write!(f, "@{not}{} ", writer.names.reg(guard.predicate))?;
        }
        f.write_str(instruction.opcode.text())?;
        for modifier in &instruction.modifiers {
            f.write_str(".")?;
            f.write_str(modifier.text())?;
        }
        for (index, operand) in instruction.operands.iter().enumerate() {
            f.write_str(if index == 0 { " " } else { ", " })?;
            writer.operand(f, operand)?;
        }
        f.write_str(";")
    }
}

impl Writer<'_> {
    fn list(self, f: &mut fmt::Formatter<'_>, operands: &[Operand]) -> fmt::Result {
        for (index, operand) in operands.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            self.operand(f, operand)?;
        }
        Ok(())
    }

    fn operand(self, f: &mut fmt::Formatter<'_>, operand: &Operand) -> fmt::Result {
        match operand {
            Operand::Reg(reg) => f.write_str(self.names.reg(*reg)),
            Operand::Not(reg) => write!(f, "!{}", self.names.reg(*reg)),
            // Bit patterns are read better in hexadecimal than as large decimal numbers.
            Operand::Int(value) if *value >= 1 << 20 => write!(f, "{value:#x}"),
            Operand::Int(value) => write!(f, "{value}"),
            Operand::F32(bits) => write!(f, "0f{bits:08X}"),
            Operand::F64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Special(special) => f.write_str(special.text()),
            Operand::Vector(operands) => {
                f.write_str("{")?;
                self.list(f, operands)?;
                f.write_str("}")
            }
            Operand::Pair(first, second) => {
                self.operand(f, first)?;
                f.write_str("|")?;
                self.operand(f, second)
            }
            Operand::Address { base, offset } => {
                f.write_str("[")?;
                self.base(f, base, *offset)?;
                f.write_str("]")
            }
            Operand::TensorAddress { base, offset, lists } => {
                f.write_str("[")?;
                self.base(f, base, *offset)?;
                for list in lists {
                    f.write_str(", {")?;
                    self.list(f, list)?;
                    f.write_str("}")?;
                }
                f.write_str("]")
            }
            Operand::Symbol(symbol, offset) => {
                f.write_str(self.symbol(symbol))?;
                print_offset(f, *offset)
            }
            Operand::Label(label) => f.write_str(self.names.label(*label)),
            Operand::BranchTargets(table) => f.write_str(self.names.table(*table)),
            Operand::List(operands) => {
                f.write_str("(")?;
                self.list(f, operands)?;
                f.write_str(")")
            }
            Operand::Sink => f.write_str("_"),
        }
    }

    fn base(self, f: &mut fmt::Formatter<'_>, base: &Base, offset: i64) -> fmt::Result {
        match base {
            Base::Reg(reg) => f.write_str(self.names.reg(*reg))?,
            Base::Symbol(symbol) => f.write_str(self.symbol(symbol))?,
            Base::Absolute => return write!(f, "{offset}"),
        }
        print_offset(f, offset)
    }

    fn symbol<'a>(&'a self, symbol: &'a Symbol) -> &'a str {
        let param = |params: &'a [Param], index: u32| {
            let param = &params[index as usize];
            debug_assert!(param.space == Space::Param, "a register parameter is an Operand::Reg");
            param.name.as_str()
        };
        match symbol {
            Symbol::Local(index) => &self.names.locals[*index as usize],
            Symbol::Param(index) => param(&self.function.params, *index),
            Symbol::Result(index) => param(&self.function.results, *index),
            Symbol::Global(index) => &self.module.variables[*index as usize].name,
            Symbol::Function(name) => name,
        }
    }
}

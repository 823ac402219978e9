//! The names of one function's text: unique, and close to what a module says.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Base, Directive, Function, Instruction, Label, Module, Operand, Param, Reg, Statement, Type,
};

/// The name of everything that a body can mention.
pub(super) struct Names {
    regs: Vec<String>,
    labels: Vec<String>,
    /// `.branchtargets` tables.
    pub(super) tables: Vec<String>,
    /// Variables of the body.
    pub(super) locals: Vec<String>,
    /// The `.reg` lines.
    pub(super) declarations: Vec<String>,
}

/// Names that are taken, and how to find one that is not.
#[derive(Default)]
struct Taken {
    names: BTreeSet<String>,
    next: BTreeMap<String, u32>,
}

impl Taken {
    /// `wanted`, or `wanted_1`, `wanted_2`, ...
    fn unique(&mut self, wanted: &str) -> String {
        if self.names.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        self.numbered_and_kept(wanted, "_", 1)
    }

    /// `stem`, `separator` and the next number that makes a new name.
    fn numbered(&mut self, stem: &str, separator: &str, first: u32) -> String {
        if !self.next.contains_key(stem) {
            self.next.insert(stem.to_owned(), first);
        }
        let next = self.next.get_mut(stem).expect("inserted above");
        loop {
            let mut name = String::with_capacity(stem.len() + separator.len() + 10);
            name.push_str(stem);
            name.push_str(separator);
            push_number(&mut name, *next);
            *next += 1;
            if !self.names.contains(&name) {
                return name;
            }
        }
    }

    /// [`Taken::numbered`], and the name is taken from now on.
    fn numbered_and_kept(&mut self, stem: &str, separator: &str, first: u32) -> String {
        let name = self.numbered(stem, separator, first);
        self.names.insert(name.clone());
        name
    }
}

/// Appends a number: functions have thousands of names, and the general way to write numbers takes several times as long.
fn push_number(text: &mut String, mut number: u32) {
    let start = text.len();
    loop {
        let digit = number % 10;
        text.insert(start, char::from_digit(digit, 10).expect("a remainder of 10 is a digit"));
        number /= 10;
        if number == 0 {
            return;
        }
    }
}

fn visit(operand: &Operand, found: &mut impl FnMut(Reg)) {
    match operand {
        Operand::Reg(reg) | Operand::Not(reg) => found(*reg),
        Operand::Vector(operands) | Operand::List(operands) => {
            for operand in operands {
                visit(operand, found);
            }
        }
        Operand::Pair(first, second) => {
            visit(first, found);
            visit(second, found);
        }
        Operand::Address { base, .. } => {
            if let Base::Reg(reg) = base {
                found(*reg);
            }
        }
        Operand::TensorAddress { base, lists, .. } => {
            if let Base::Reg(reg) = base {
                found(*reg);
            }
            for operand in lists.iter().flatten() {
                visit(operand, found);
            }
        }
        Operand::Int(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::Special(_)
        | Operand::Symbol(..)
        | Operand::Label(_)
        | Operand::BranchTargets(_)
        | Operand::Sink => {}
    }
}

impl Instruction {
    /// Calls `found` for every register that is mentioned, in the order of the text.
    pub fn visit_registers(&self, mut found: impl FnMut(Reg)) {
        if let Some(guard) = self.guard {
            found(guard.predicate);
        }
        for operand in &self.operands {
            visit(operand, &mut found);
        }
    }
}

impl Names {
    pub(super) fn new(module: &Module, function: &Function) -> Names {
        let mut taken = Taken::default();
        for name in module.variables.iter().map(|variable| &variable.name) {
            taken.names.insert(name.clone());
        }
        for name in module.functions.iter().map(|function| &function.name) {
            taken.names.insert(name.clone());
        }
        let params = function.params.iter().chain(&function.results);
        for param in params.filter(|param| param.register.is_none()) {
            taken.names.insert(param.name.clone());
        }
        let locals =
            function.variables.iter().map(|variable| taken.unique(&variable.name)).collect();
        let labels = labels(function, &mut taken);
        let tables =
            function.branch_targets.iter().map(|_| taken.numbered_and_kept("$T", "", 0)).collect();
        let (regs, declarations) = registers(function, &mut taken);
        Names { regs, labels, tables, locals, declarations }
    }

    pub(super) fn reg(&self, reg: Reg) -> &str {
        &self.regs[reg.0 as usize]
    }

    pub(super) fn label(&self, label: Label) -> &str {
        &self.labels[label.0 as usize]
    }

    pub(super) fn table(&self, table: u32) -> &str {
        &self.tables[table as usize]
    }

    /// A register parameter's name is its register's.
    pub(super) fn param<'a>(&'a self, param: &'a Param) -> &'a str {
        match param.register {
            Some(reg) => self.reg(reg),
            None => &param.name,
        }
    }
}

fn labels(function: &Function, taken: &mut Taken) -> Vec<String> {
    let mut labels = vec![String::new(); function.labels.len()];
    // The label of a `.callprototype` is in the verbatim text of the directive.
    for (name, wanted) in labels.iter_mut().zip(&function.labels) {
        let verbatim = function.directives.iter().any(|directive| {
            matches!(directive, Directive::Other(text)
                if text.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.trim_start().starts_with(':')))
        });
        if verbatim && !wanted.is_empty() && taken.names.insert(wanted.clone()) {
            name.clone_from(wanted);
        }
    }
    // A label that a compiler made has the empty name: numbered in the order of the text.
    for statement in function.body.iter().flatten() {
        if let Statement::Label(label) = statement {
            let index = label.0 as usize;
            if labels[index].is_empty() {
                labels[index] = match function.labels[index].as_str() {
                    "" => taken.numbered_and_kept("$L", "", 0),
                    wanted => taken.unique(wanted),
                };
            }
        }
    }
    labels
}

/// The names of the registers and the lines that declare them.
fn registers(function: &Function, taken: &mut Taken) -> (Vec<String>, Vec<String>) {
    // Numbered names differ from one another by their numbers: where no register says its name, none is asked for again.
    let any_name = function.registers.iter().any(|register| register.name.is_some());
    let mut regs = vec![String::new(); function.registers.len()];
    let mut order = Vec::new();
    let mut meet = |reg: Reg| {
        let index = reg.0 as usize;
        if regs[index].is_empty() {
            let register = &function.registers[index];
            regs[index] = match &register.name {
                Some(name) => taken.unique(name),
                None if any_name => taken.numbered_and_kept(register.ty.register_prefix(), "", 0),
                None => taken.numbered(register.ty.register_prefix(), "", 0),
            };
            order.push(reg);
        }
    };
    let params = function.results.iter().chain(&function.params);
    for reg in params.clone().filter_map(|param| param.register) {
        meet(reg);
    }
    for statement in function.body.iter().flatten() {
        if let Statement::Instruction(instruction) = statement {
            instruction.visit_registers(&mut meet);
        }
    }
    let is_param: BTreeSet<Reg> = params.filter_map(|param| param.register).collect();
    let mut groups: BTreeMap<&str, Vec<(u32, Type)>> = BTreeMap::new();
    let mut single: BTreeMap<Type, Vec<&str>> = BTreeMap::new();
    for reg in order.into_iter().filter(|reg| !is_param.contains(reg)) {
        let (name, ty) = (regs[reg.0 as usize].as_str(), function.registers[reg.0 as usize].ty);
        match number(name) {
            Some((stem, number)) => groups.entry(stem).or_default().push((number, ty)),
            None => single.entry(ty).or_default().push(name),
        }
    }
    let mut lines: Vec<(Type, String)> = Vec::new();
    for (stem, members) in groups {
        let (last, ty) = members.iter().max().copied().unwrap_or((0, Type::Pred));
        // A range declares every name below its end, so none of the others may be in use.
        let mut own: Vec<u32> = members.iter().map(|member| member.0).collect();
        own.sort_unstable();
        own.dedup();
        let complete = own.len() == last as usize + 1;
        let dense = members.iter().all(|member| member.1 == ty)
            && (last as usize) < 8 * members.len() + 64
            && (complete
                || (0..last).all(|number| {
                    own.binary_search(&number).is_ok()
                        || !taken.names.contains(&format!("{stem}{number}"))
                }));
        if dense {
            lines.push((ty, format!("{stem}<{}>", u64::from(last) + 1)));
        } else {
            for (number, ty) in members {
                lines.push((ty, format!("{stem}{number}")));
            }
        }
    }
    for (ty, names) in single {
        lines.extend(names.into_iter().map(|name| (ty, name.to_owned())));
    }
    let mut by_type: BTreeMap<Type, Vec<String>> = BTreeMap::new();
    for (ty, text) in lines {
        by_type.entry(ty).or_default().push(text);
    }
    let mut declarations = Vec::new();
    for (ty, mut texts) in by_type {
        let ranges: Vec<_> = texts.extract_if(.., |text| text.ends_with('>')).collect();
        for range in ranges {
            declarations.push(format!(".reg .{} {range};", ty.text()));
        }
        for names in texts.chunks(8) {
            declarations.push(format!(".reg .{} {};", ty.text(), names.join(", ")));
        }
    }
    (regs, declarations)
}

/// `%r12` is number 12 of `%r`; `%r012` and `complete` are numbers of nothing.
fn number(name: &str) -> Option<(&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (stem, digits) = name.split_at(name.len() - digits);
    if digits.len() > 1 && digits.starts_with('0') || stem.len() < 2 {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    // One more must still be a count.
    (number < u32::MAX).then_some((stem, number))
}

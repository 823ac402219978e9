//! Which `.shared` variable an address is computed from, where the text leaves no doubt.
//!
//! A register is of a variable if each instruction that writes it computes the address of that variable, moved by something that is no address: the
//! symbol, plus or minus a number. Such an access stays within the variable, or it is wrong: what is behind it is another variable's. Nothing is
//! said of registers that come from several variables or from dynamic shared memory, of addresses out of memory once the kernel stores
//! any or hands one to a function, nor of what other operations make of an address.

use kernel_ptx::{
    Base, Function, Instruction, Linkage, Module, Opcode, Operand, Reg, Space, Statement, Symbol,
    Variable,
};

use super::layout::{Layout, variable_bytes};
use super::operands::Decoded;
use crate::code::{Code, SharedVariable};

/// What the registers of a function hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// Nothing, as far as is known.
    Unset,
    /// A number that is not an address of shared memory.
    Number,
    /// The address of a byte of a variable, by index in [`Code::shared_variables`], or of one that is out of it by mistake.
    Of(usize),
    /// Anything.
    Any,
}

impl Value {
    /// What a register holds that is written with either.
    fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unset, value) | (value, Value::Unset) => value,
            (a, b) if a == b => a,
            (Value::Number | Value::Of(_) | Value::Any, _) => Value::Any,
        }
    }

    /// The sum of the two.
    fn plus(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unset, _) | (_, Value::Unset) => Value::Unset,
            (Value::Number, value) | (value, Value::Number) => value,
            (Value::Of(_) | Value::Any, Value::Of(_) | Value::Any) => Value::Any,
        }
    }

    /// The result of another operation on the two.
    fn mixed(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unset, _) | (_, Value::Unset) => Value::Unset,
            (Value::Number, Value::Number) => Value::Number,
            (Value::Number | Value::Of(_) | Value::Any, _) => Value::Any,
        }
    }
}

/// One function of the entry.
struct Body<'m> {
    function: &'m Function,
    start: usize,
    /// By register.
    values: Vec<Value>,
}

/// The search through all functions of an entry.
struct Search<'m, 'c> {
    module: &'m Module,
    layout: &'c mut Layout,
    variables: Vec<SharedVariable>,
    /// Whether an address may have been stored, or handed to a function.
    escaped: bool,
    /// Whether anything was learned since this was last set to false.
    changed: bool,
}

/// Finds the variable of each access to shared memory; `bodies` are the functions with the place of their first instruction.
pub(super) fn find<'m>(
    code: &mut Code,
    (module, layout): (&'m Module, &mut Layout),
    bodies: impl Iterator<Item = (&'m Function, usize)>,
) -> Decoded<()> {
    let mut bodies: Vec<Body<'_>> = bodies
        .map(|(function, start)| {
            let values = vec![Value::Unset; function.registers.len()];
            Body { function, start, values }
        })
        .collect();
    let mut search =
        Search { module, layout, variables: Vec::new(), escaped: false, changed: true };
    while search.changed {
        search.changed = false;
        for body in &mut bodies {
            for instruction in instructions(body.function) {
                search.follow(body, instruction)?;
            }
        }
    }
    let mut origins = vec![None; code.insts.len()];
    for body in &bodies {
        for (pc, instruction) in (body.start..).zip(instructions(body.function)) {
            if let Some(base) = accessed(instruction)
                && let Value::Of(variable) = search.base(body, base)?
            {
                origins[pc] = u32::try_from(variable).ok();
            }
        }
    }
    if !search.variables.is_empty() {
        (code.shared_variables, code.shared_origins) = (search.variables, origins);
    }
    Ok(())
}

fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.body.iter().flatten().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => None,
    })
}

/// What the address starts from at which an instruction of the generic proxy may access shared memory.
fn accessed(instruction: &Instruction) -> Option<&Base> {
    let accesses = matches!(
        instruction.opcode,
        Opcode::Ld
            | Opcode::Ldu
            | Opcode::St
            | Opcode::Atom
            | Opcode::Red
            | Opcode::Ldmatrix
            | Opcode::Stmatrix
            | Opcode::Cp
    );
    instruction.operands.iter().filter(|_| accesses).find_map(|operand| {
        let Operand::Address { base, .. } = operand else { return None };
        Some(base)
    })
}

/// Whether an instruction reads or writes memory, or calls a function.
fn reaches_out(instruction: &Instruction) -> bool {
    instruction.operands.iter().any(|operand| {
        matches!(
            operand,
            Operand::Address { .. } | Operand::TensorAddress { .. } | Operand::List(_)
        )
    })
}

impl<'m> Search<'m, '_> {
    /// Learns what an instruction writes to its registers.
    fn follow(&mut self, body: &mut Body<'m>, instruction: &Instruction) -> Decoded<()> {
        let operands = instruction.operands.as_slice();
        let Some(first) = operands.first() else { return Ok(()) };
        let writes = !matches!(
            first,
            Operand::Address { .. } | Operand::TensorAddress { .. } | Operand::List(_)
        );
        let sources = &operands[usize::from(writes)..];
        let value = if reaches_out(instruction) {
            for source in sources {
                if matches!(self.value(body, source)?, Value::Of(_) | Value::Any) {
                    self.changed |= !self.escaped;
                    self.escaped = true;
                }
            }
            if self.escaped || instruction.opcode == Opcode::Call {
                Value::Any
            } else {
                Value::Number
            }
        } else {
            self.computed(body, instruction.opcode, sources)?
        };
        if instruction.opcode == Opcode::Call {
            for operand in operands {
                self.write(body, operand, Value::Any);
            }
        } else if writes {
            self.write(body, first, value);
        }
        Ok(())
    }

    /// The result of an operation on registers.
    fn computed(&mut self, body: &Body<'m>, opcode: Opcode, sources: &[Operand]) -> Decoded<Value> {
        let values = sources.iter().map(|source| self.value(body, source));
        let values = values.collect::<Decoded<Vec<Value>>>()?;
        let all = |values: &[Value]| values.iter().copied().fold(Value::Number, Value::mixed);
        Ok(match (opcode, values.as_slice()) {
            // Compilers add numbers to aligned addresses by `or`.
            (Opcode::Add | Opcode::Or, &[a, b]) => a.plus(b),
            (Opcode::Sub, &[a, Value::Number]) | (Opcode::Cvt, &[a]) => a,
            (Opcode::Mad, &[a, b, c]) => a.mixed(b).plus(c),
            (Opcode::Mov | Opcode::Cvta, &[a]) if !matches!(sources[0], Operand::Vector(_)) => a,
            (Opcode::Mapa, &[a, rank]) => a.plus(all(&[rank])),
            (Opcode::Selp, &[a, b, p]) => {
                if [a, b, p].contains(&Value::Unset) {
                    Value::Unset
                } else {
                    a.or(b)
                }
            }
            (_, values) => all(values),
        })
    }

    /// What an operand holds; of several registers, what any of them does.
    fn value(&mut self, body: &Body<'m>, operand: &Operand) -> Decoded<Value> {
        Ok(match operand {
            Operand::Reg(register) | Operand::Not(register) => body.values[register.0 as usize],
            Operand::Symbol(symbol, _) => self.symbol(body, symbol)?,
            Operand::Vector(parts) | Operand::List(parts) => {
                let mut value = Value::Number;
                for part in parts {
                    value = value.mixed(self.value(body, part)?);
                }
                value
            }
            Operand::Pair(a, b) => self.value(body, a)?.mixed(self.value(body, b)?),
            Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::Sink => Value::Number,
        })
    }

    /// What an address starts from.
    fn base(&mut self, body: &Body<'m>, base: &Base) -> Decoded<Value> {
        Ok(match base {
            Base::Reg(register) => body.values[register.0 as usize],
            Base::Symbol(symbol) => self.symbol(body, symbol)?,
            Base::Absolute => Value::Number,
        })
    }

    /// The value of a symbol.
    fn symbol(&mut self, body: &Body<'m>, symbol: &Symbol) -> Decoded<Value> {
        let variable: &Variable = match symbol {
            Symbol::Local(i) => &body.function.variables[*i as usize],
            Symbol::Global(i) => &self.module.variables[*i as usize],
            Symbol::Param(_) | Symbol::Result(_) | Symbol::Function(_) => return Ok(Value::Number),
        };
        if variable.space != Space::Shared {
            return Ok(Value::Number);
        }
        // Dynamic shared memory, which may have a size in the text that is not its own.
        if variable.dims.first() == Some(&0) || variable.linkage == Linkage::Extern {
            return Ok(Value::Any);
        }
        let start = self.layout.shared(symbol, body.function, variable)?;
        let bytes = u32::try_from(variable_bytes(variable)).map_err(|_| "more than 4 GB")?;
        let known = self.variables.iter().position(|one| (one.start, one.bytes) == (start, bytes));
        Ok(Value::Of(known.unwrap_or_else(|| {
            self.variables.push(SharedVariable { name: variable.name.clone(), start, bytes });
            self.variables.len() - 1
        })))
    }

    /// Registers of an operand are written with a value.
    fn write(&mut self, body: &mut Body<'m>, operand: &Operand, value: Value) {
        let mut one = |Reg(register): Reg| {
            let held = &mut body.values[register as usize];
            let after = held.or(value);
            self.changed |= *held != after;
            *held = after;
        };
        match operand {
            Operand::Reg(register) => one(*register),
            Operand::Vector(parts) | Operand::List(parts) => {
                // A part of an address is no address.
                let part = if let Value::Of(_) = value { Value::Any } else { value };
                for operand in parts {
                    self.write(body, operand, part);
                }
            }
            Operand::Pair(a, b) => {
                self.write(body, a, value);
                self.write(body, b, value);
            }
            Operand::Not(_)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Symbol(..)
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::Sink => {}
        }
    }
}

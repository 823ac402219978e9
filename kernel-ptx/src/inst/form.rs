//! Which row of the table an instruction is, and if none, why.

use std::fmt;

use super::row::{Count, Of, Presence, Ref, Row, Shape};
use super::table;
use crate::target::{Need, Version};
use crate::{Base, Instruction, Modifier, Opcode, Operand, Reg, Register, Type, Word};
use crate::{Space, Symbol};

/// Why an instruction is not a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    /// The opcode and modifiers, as written.
    pub instruction: String,
    /// The row that comes nearest.
    pub nearest: Option<&'static Row>,
    /// What stands against it.
    pub problem: FormProblem,
}

/// What keeps an instruction from being a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormProblem {
    /// The opcode has no rows.
    Opcode,
    /// A modifier that the row has no place for.
    Modifier(Modifier),
    /// One of these has to be there.
    Missing(Vec<Modifier>),
    /// There are too few or too many operands.
    OperandCount {
        /// How many the row has with these modifiers, at the most.
        required: usize,
        /// How many there are.
        actual: usize,
    },
    /// An operand is not what the row wants.
    Operand {
        /// Its place, from 0.
        index: usize,
        /// The row's pattern.
        required: &'static str,
    },
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.instruction)?;
        match &self.problem {
            FormProblem::Opcode => f.write_str("this opcode has no form in the table")?,
            FormProblem::Modifier(modifier) => write!(f, "`.{modifier}` has no place here")?,
            FormProblem::Missing(choices) => {
                f.write_str("missing ")?;
                for (index, choice) in choices.iter().enumerate() {
                    write!(f, "{}`.{choice}`", if index == 0 { "" } else { " or " })?;
                }
            }
            FormProblem::OperandCount { required, actual } => {
                write!(f, "{required} operands are required, {actual} are there")?;
            }
            FormProblem::Operand { index, required } => {
                write!(f, "operand {} is not `{required}`", index + 1)?;
            }
        }
        if let Some(row) = self.nearest {
            write!(f, "; the nearest form is `{} {}`", row.syntax, row.operands)?;
        }
        Ok(())
    }
}

impl std::error::Error for FormError {}

/// The modifiers of an instruction in the slots of a row.
pub(crate) struct Filled {
    /// The types, by the number of their slot among the slots of types.
    types: Vec<Option<Type>>,
    /// What the modifiers ask for.
    pub(crate) need: Need,
    pub(crate) version: Version,
}

/// Types and spaces say what the operands are by their order; the order of other words is free,
/// as it is for the assembler.
fn is_ordered(modifier: Modifier) -> bool {
    match modifier {
        Modifier::Type(_) | Modifier::Space(_) => true,
        Modifier::Word(word) => matches!(word, Word::SharedCta | Word::SharedCluster),
    }
}

/// The words of a row that name the instruction together with the opcode: `cp.async.bulk`.
/// They come first, in this order.
fn sub_opcode(row: &Row) -> impl Iterator<Item = Modifier> {
    let has_one = matches!(
        row.opcode,
        Opcode::Bar
            | Opcode::Barrier
            | Opcode::Brx
            | Opcode::Clusterlaunchcontrol
            | Opcode::Cp
            | Opcode::Createpolicy
            | Opcode::Cvta
            | Opcode::Griddepcontrol
            | Opcode::Mbarrier
            | Opcode::Multimem
            | Opcode::Tcgen05
            | Opcode::Tensormap
            | Opcode::Wgmma
    );
    let words = row.slots.iter().take_while(move |slot| {
        has_one && slot.required && slot.choices.len() == 1 && {
            let modifier = slot.choices[0].modifier;
            let is_last = matches!(modifier, Modifier::Word(Word::Sync | Word::Aligned));
            matches!(modifier, Modifier::Word(_)) && !is_ordered(modifier) && !is_last
        }
    });
    words.map(|slot| slot.choices[0].modifier)
}

/// A cache modifier that only an access to global memory has, if the access is to another space.
fn misplaced_cache_word(row: &Row, modifiers: &[Modifier]) -> Option<usize> {
    if !matches!(row.opcode, Opcode::Ld | Opcode::St | Opcode::Atom | Opcode::Red) {
        return None;
    }
    let elsewhere = modifiers.iter().any(|modifier| match modifier {
        Modifier::Space(space) => *space != Space::Global,
        Modifier::Word(word) => {
            matches!(word, Word::SharedCta | Word::SharedCluster | Word::ParamEntry)
        }
        Modifier::Type(_) => false,
    });
    modifiers.iter().position(|modifier| {
        elsewhere
            && matches!(modifier, Modifier::Word(word)
                if word.text().starts_with("L1::") || word.text().starts_with("L2::"))
    })
}

/// Puts the modifiers into the slots. The number in the error says how many fitted.
pub(crate) fn fill(row: &Row, modifiers: &[Modifier]) -> Result<Filled, (usize, FormProblem)> {
    for (index, word) in sub_opcode(row).enumerate() {
        if modifiers.get(index) != Some(&word) {
            return Err((index, FormProblem::Missing(vec![word])));
        }
    }
    let mut taken = vec![None; row.slots.len()];
    let mut ordered = 0;
    let (mut need, mut version) = (row.need, row.version);
    for (fitted, modifier) in modifiers.iter().enumerate() {
        let from = if is_ordered(*modifier) { ordered } else { 0 };
        let place = (from..row.slots.len()).find_map(|index| {
            let choice =
                row.slots[index].choices.iter().find(|choice| choice.modifier == *modifier)?;
            taken[index].is_none().then_some((index, choice))
        });
        let Some((index, choice)) = place else {
            return Err((fitted, FormProblem::Modifier(*modifier)));
        };
        taken[index] = Some(*modifier);
        if is_ordered(*modifier) {
            ordered = index + 1;
        }
        if let Some(extra) = choice.extra {
            need = need.and(extra.0);
            version = version.max(extra.1);
        }
    }
    for (slot, taken) in row.slots.iter().zip(&taken) {
        if slot.required && taken.is_none() {
            let missing = slot.choices.iter().map(|choice| choice.modifier).collect();
            return Err((modifiers.len(), FormProblem::Missing(missing)));
        }
    }
    if let Some(index) = misplaced_cache_word(row, modifiers) {
        return Err((index, FormProblem::Modifier(modifiers[index])));
    }
    let types = row.slots.iter().zip(&taken).filter(|(slot, _)| slot.is_type());
    let types = types.map(|(_, taken)| match taken {
        Some(Modifier::Type(ty)) => Some(*ty),
        _ => None,
    });
    Ok(Filled { types: types.collect(), need, version })
}

/// Whether a register of type `register` may stand where an instruction has `ty`.
///
/// (PTX ISA, "Operand Type Checking": untyped bits agree with every type of their size, signed
/// and unsigned integers agree with each other. `wider`: "Operand Size Exceeding Instruction-Type Size".)
fn agrees(ty: Type, register: Type, wider: bool) -> bool {
    if ty == Type::Pred || register == Type::Pred {
        return ty == register;
    }
    // Half a byte has no register of its own.
    let bits = ty.bits().max(8);
    let has_wider =
        ty.is_untyped() || ty.is_integer() || matches!(ty, Type::F16 | Type::F32 | Type::F64);
    if register.bits() < bits || (register.bits() > bits && !(wider && has_wider)) {
        return false;
    }
    ty.is_untyped()
        || register.is_untyped()
        || (ty.is_integer() && register.is_integer())
        || ty == register
}

struct Checker<'a> {
    row: &'static Row,
    filled: &'a Filled,
    instruction: &'a Instruction,
    registers: &'a [Register],
}

impl Checker<'_> {
    fn ty(&self, reference: Ref) -> Option<Type> {
        match reference.of {
            Of::Type(ty) => Some(ty),
            Of::Slot(slot) => *self.filled.types.get(slot)?,
            Of::Wide(slot) => self.filled.types.get(slot)?.and_then(Type::wide),
        }
    }

    fn register(&self, reg: Reg) -> Option<Type> {
        self.registers.get(reg.0 as usize).map(|register| register.ty)
    }

    fn is_register_of(&self, operand: &Operand, reference: Ref) -> bool {
        match (operand, self.ty(reference)) {
            (Operand::Reg(reg), Some(ty)) => {
                self.register(*reg).is_some_and(|register| agrees(ty, register, reference.wider))
            }
            _ => false,
        }
    }

    fn is_predicate(&self, operand: &Operand, negatable: bool) -> bool {
        if let Operand::Reg(reg) | Operand::Not(reg) = operand {
            let negated = matches!(operand, Operand::Not(_));
            return (negatable || !negated) && self.register(*reg) == Some(Type::Pred);
        }
        matches!(operand, Operand::Int(_))
            || matches!(operand, Operand::Special(special) if special.ty() == Type::Pred)
    }

    fn is_source(&self, operand: &Operand, reference: Ref) -> bool {
        let Some(ty) = self.ty(reference) else {
            return false;
        };
        match operand {
            Operand::Reg(_) => self.is_register_of(operand, reference),
            Operand::Int(value) => {
                (ty.is_integer() || ty.is_untyped())
                    && (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value)
            }
            Operand::F32(_) => ty == Type::F32 || ty == Type::B32,
            Operand::F64(_) => matches!(ty, Type::F32 | Type::F64 | Type::B64),
            // Only a move reads a special register or the address of a symbol.
            Operand::Special(special) => {
                let bits = special.ty().bits();
                self.instruction.opcode == Opcode::Mov
                    && !matches!(ty, Type::F32 | Type::F64)
                    && (ty.bits() == bits || (ty.bits() == 16 && bits == 32))
            }
            Operand::Symbol(..) => {
                self.instruction.opcode == Opcode::Mov
                    && (ty.is_integer() || ty.is_untyped())
                    && matches!(ty.bits(), 32 | 64)
            }
            Operand::Not(_)
            | Operand::Vector(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::List(_)
            | Operand::Sink => false,
        }
    }

    /// A number in a word of the row: 4 of `x4`, `v4`, and for shapes of `m64n128k16` the 128.
    fn number(&self, letter: char) -> Option<u32> {
        self.instruction.modifiers.iter().find_map(|modifier| match modifier {
            Modifier::Word(word) => {
                let rest = word.text();
                let rest = if letter == 'n' { rest.strip_prefix("m64")? } else { rest };
                let rest = rest.strip_prefix(letter)?;
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                (letter == 'n' || digits == rest.len()).then_some(())?;
                rest[..digits].parse().ok()
            }
            Modifier::Type(_) | Modifier::Space(_) => None,
        })
    }

    fn is_vector(&self, operand: &Operand, dest: bool, count: Count, reference: Ref) -> bool {
        let is_element = |operand: &Operand| {
            if dest {
                *operand == Operand::Sink || self.is_register_of(operand, reference)
            } else {
                self.is_source(operand, reference)
            }
        };
        let length = match count {
            Count::Exactly(length) => Some(length),
            Count::Times(factor) => self.number('x').map(|number| number * factor),
            Count::Columns(divisor) => self.number('n').map(|number| number / divisor),
            Count::Vec => match self.number('v') {
                // Compilers write a vector of one where a pattern of theirs has braces.
                None if !matches!(operand, Operand::Vector(_)) => return is_element(operand),
                None => Some(1),
                number => number,
            },
            Count::Mask if self.instruction.modifiers.contains(&Word::CtaGroup2.into()) => Some(8),
            Count::Mask => Some(4),
            Count::Pack => None,
        };
        let Operand::Vector(elements) = operand else {
            return false;
        };
        if matches!(count, Count::Pack) {
            return self.is_pack(elements, dest, reference);
        }
        if length.map(|length| length as usize) != Some(elements.len()) {
            return false;
        }
        elements.iter().all(is_element)
    }

    /// `{a, b}` of halves or `{a, b, c, d}` of quarters.
    fn is_pack(&self, elements: &[Operand], dest: bool, reference: Ref) -> bool {
        let Some(ty) = self.ty(reference) else {
            return false;
        };
        let Some(part) = u32::try_from(elements.len()).ok().filter(|count| matches!(count, 2 | 4))
        else {
            return false;
        };
        let bits = ty.bits() / part;
        elements.iter().all(|element| {
            if let Operand::Reg(reg) = element {
                let register = self.register(*reg);
                return register.is_some_and(|ty| ty != Type::Pred && ty.bits() == bits);
            }
            if dest { *element == Operand::Sink } else { matches!(element, Operand::Int(_)) }
        })
    }

    /// A generic or global address in a register has 64 bits; windows are reached by 32 or 64.
    fn is_base(&self, base: &Base) -> bool {
        let Base::Reg(reg) = base else {
            return true;
        };
        let Some(register) = self.register(*reg) else {
            return false;
        };
        let is_window = self.instruction.modifiers.iter().any(|modifier| match modifier {
            Modifier::Space(space) => {
                matches!(space, Space::Shared | Space::Local | Space::Param | Space::Const)
            }
            Modifier::Word(word) => {
                matches!(word, Word::SharedCta | Word::SharedCluster)
                    || word.text().starts_with("cta_group")
                    || word.text().starts_with("32x32b")
                    || word.text().starts_with("16x")
            }
            Modifier::Type(_) => false,
        });
        let bits = register.bits();
        register.is_addressing() && (bits == 64 || (bits == 32 && is_window))
    }

    fn is_tensor(&self, operand: &Operand, gathered: bool) -> bool {
        let Operand::TensorAddress { base, lists, .. } = operand else {
            return false;
        };
        let dims = if gathered { Some(5) } else { self.dims() };
        let is_coordinate = |operand: &Operand| {
            let b32 = Ref { of: Of::Type(Type::B32), wider: false };
            self.is_source(operand, b32)
        };
        let [list] = lists.as_slice() else {
            return false;
        };
        let is_map = match base {
            Base::Reg(reg) => {
                self.register(*reg).is_some_and(|ty| ty.is_addressing() && ty.bits() == 64)
            }
            Base::Symbol(_) => true,
            Base::Absolute => false,
        };
        is_map && Some(list.len()) == dims && list.iter().all(is_coordinate)
    }

    fn dims(&self) -> Option<usize> {
        let words = [Word::D1, Word::D2, Word::D3, Word::D4, Word::D5].map(Modifier::Word);
        let mut modifiers = self.instruction.modifiers.iter();
        let index = modifiers.find_map(|modifier| words.iter().position(|word| word == modifier));
        index.map(|index| index + 1)
    }

    fn is(&self, operand: &Operand, shape: &Shape) -> bool {
        match shape {
            Shape::Dest { ty, sink } => {
                self.is_register_of(operand, *ty) || (*sink && *operand == Operand::Sink)
            }
            Shape::DestPair(ty) => {
                let Operand::Pair(first, second) = operand else {
                    return self.is_register_of(operand, *ty);
                };
                (**first == Operand::Sink || self.is_register_of(first, *ty))
                    && (**second == Operand::Sink
                        || matches!(**second, Operand::Reg(_)) && self.is_predicate(second, false))
            }
            Shape::Source(ty) => self.is_source(operand, *ty),
            Shape::Vector { dest, count, ty } => self.is_vector(operand, *dest, *count, *ty),
            Shape::Predicate { negatable } => self.is_predicate(operand, *negatable),
            Shape::Address => {
                matches!(operand, Operand::Address { base, .. } if self.is_base(base))
            }
            Shape::Tensor { gathered } => self.is_tensor(operand, *gathered),
            Shape::Literal(low, high) => {
                matches!(operand, Operand::Int(value) if (low..=high).contains(&value))
            }
            Shape::Sink => *operand == Operand::Sink,
            Shape::Label => matches!(operand, Operand::Label(_)),
            Shape::Table => matches!(operand, Operand::BranchTargets(_)),
            Shape::Call => {
                matches!(
                    operand,
                    Operand::List(_)
                        | Operand::Label(_)
                        | Operand::Reg(_)
                        | Operand::Symbol(Symbol::Function(_), 0)
                )
            }
        }
    }

    fn operands(&self) -> Result<(), (usize, FormProblem)> {
        let operands = &self.instruction.operands;
        let mut index = 0;
        let mut wanted = 0;
        let mut missing = false;
        for pattern in &self.row.patterns {
            let present = match &pattern.presence {
                Presence::Always => true,
                Presence::Optional => {
                    wanted += 1;
                    if operands.get(index).is_some_and(|operand| self.is(operand, &pattern.shape)) {
                        index += 1;
                    }
                    continue;
                }
                Presence::With(words) => {
                    words.iter().any(|word| self.instruction.modifiers.contains(word))
                }
            };
            if !present {
                continue;
            }
            wanted += 1;
            match operands.get(index) {
                None => missing = true,
                Some(operand) if self.is(operand, &pattern.shape) => index += 1,
                Some(_) => {
                    return Err((index, FormProblem::Operand { index, required: pattern.text }));
                }
            }
        }
        if missing || index < operands.len() {
            let problem = FormProblem::OperandCount { required: wanted, actual: operands.len() };
            return Err((index, problem));
        }
        Ok(())
    }
}

/// A row that an instruction is, with what its modifiers ask for.
pub(crate) type Form = (&'static Row, Need, Version);

/// Whether a row that the modifiers of an instruction fill takes its operands.
pub(crate) fn takes(
    row: &'static Row,
    filled: &Filled,
    instruction: &Instruction,
    registers: &[Register],
) -> bool {
    Checker { row, filled, instruction, registers }.operands().is_ok()
}

/// Why an instruction is not a row.
pub(crate) fn form_error(instruction: &Instruction, registers: &[Register]) -> FormError {
    // The row that most of the instruction fits: first by modifiers, then by operands.
    let mut nearest: Option<((usize, usize), &'static Row, FormProblem)> = None;
    for row in table::rows(instruction.opcode) {
        let (rank, problem) = match fill(row, &instruction.modifiers) {
            Err((fitted, problem)) => ((0, fitted), problem),
            Ok(filled) => {
                match (Checker { row, filled: &filled, instruction, registers }).operands() {
                    Err((fitted, problem)) => ((1, fitted), problem),
                    Ok(()) => continue,
                }
            }
        };
        if nearest.as_ref().is_none_or(|nearest| nearest.0 < rank) {
            nearest = Some((rank, row, problem));
        }
    }
    let (nearest, problem) = match nearest {
        Some((_, row, problem)) => (Some(row), problem),
        None => (None, FormProblem::Opcode),
    };
    FormError { instruction: instruction.name(), nearest, problem }
}

/// The row of the instruction table that an instruction is. `registers` are its function's.
///
/// # Errors
/// No row has these modifiers with these operands.
pub fn form(instruction: &Instruction, registers: &[Register]) -> Result<&'static Row, FormError> {
    let mut rows = table::rows(instruction.opcode);
    let first = rows.find(|row| {
        let filled = fill(row, &instruction.modifiers);
        filled.is_ok_and(|filled| takes(row, &filled, instruction, registers))
    });
    first.ok_or_else(|| form_error(instruction, registers))
}

/// How many operands an instruction writes: they stand before those that it reads. `registers` are its function's.
///
/// What an accumulator of `wgmma` is before, the instruction reads as well.
///
/// # Errors
/// No row has these modifiers with these operands.
pub fn results(instruction: &Instruction, registers: &[Register]) -> Result<usize, FormError> {
    let row = form(instruction, registers)?;
    // No row has an optional result.
    let present = row.patterns.iter().filter(|pattern| match &pattern.presence {
        Presence::Always | Presence::Optional => true,
        Presence::With(words) => words.iter().any(|word| instruction.modifiers.contains(word)),
    });
    Ok(present.take_while(|pattern| pattern.shape.is_result()).count())
}

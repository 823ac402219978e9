//! Examples made from the rows, for an assembler to judge the table by.

use std::fmt::Write;

use super::form::fill;
use super::row::{Choice, Count, Of, Pattern, Presence, Ref, Row, Shape};
use super::table::table;
use crate::target::{Need, Target, Version};
use crate::{Modifier, Type, Word};

/// An instruction that a row allows.
#[derive(Clone, Debug)]
pub struct Example {
    /// The row.
    pub row: &'static Row,
    /// The instruction, with its semicolon.
    pub text: String,
    /// What it asks for: the row's need and that of the modifiers.
    pub need: Need,
    /// The first PTX ISA version that has it on the oldest target that has it.
    pub version: Version,
}

impl Example {
    /// The oldest target that has the instruction.
    pub fn target(&self) -> Target {
        self.need.oldest()
    }

    /// A kernel with this instruction, called `name`.
    pub fn kernel(&self, name: &str) -> String {
        let mut kernel = format!(".visible .entry {name}()\n{{\n");
        // Registers of 128 bits are newer than most instructions.
        for (prefix, ty, count) in REGISTERS {
            if self.text.contains(prefix) {
                let _ = writeln!(kernel, "\t.reg .{ty} {prefix}<{count}>;");
            }
        }
        if self.text.contains("$T") {
            kernel.push_str("$T: .branchtargets $L;\n");
        }
        let _ = write!(kernel, "\t{}\n$L:\n\tret;\n}}\n", self.text);
        kernel
    }
}

/// Registers of an example: a prefix, their type and how many there are.
const REGISTERS: [(&str, &str, u32); 8] = [
    ("%p", "pred", 8),
    ("%b", "b8", 8),
    ("%h", "b16", 16),
    ("%r", "b32", 264),
    ("%rd", "b64", 16),
    ("%q", "b128", 4),
    ("%f", "f32", 264),
    ("%fd", "f64", 16),
];

/// The head of a module for kernels of [`Example::kernel`].
pub fn example_head(target: Target, version: Version) -> String {
    let (major, minor) = version;
    format!(
        ".version {major}.{minor}\n.target {target}\n.address_size 64\n\n.func callee()\n{{\n\tret;\n}}\n\n"
    )
}

/// Every row with its first choices, and once more for each other choice of a modifier and with
/// every operand that may be left out.
pub fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    for row in table() {
        let first = |choices: &[Choice]| choices[0].modifier;
        let plain: Vec<Option<Modifier>> =
            row.slots.iter().map(|slot| slot.required.then(|| first(&slot.choices))).collect();
        examples.push(example(row, &plain, false));
        if row.patterns.iter().any(|pattern| {
            matches!(pattern.presence, Presence::Optional) && !matches!(pattern.shape, Shape::Call)
        }) {
            examples.push(example(row, &plain, true));
        }
        for (index, slot) in row.slots.iter().enumerate() {
            for choice in slot.choices.iter().skip(usize::from(slot.required)) {
                let mut chosen = plain.clone();
                chosen[index] = Some(choice.modifier);
                examples.push(example(row, &chosen, false));
            }
        }
    }
    examples
}

fn example(row: &'static Row, chosen: &[Option<Modifier>], optional: bool) -> Example {
    let modifiers: Vec<Modifier> = chosen.iter().flatten().copied().collect();
    let filled = fill(row, &modifiers).unwrap_or_else(|error| {
        unreachable!("the choices of a row fit the row {}: {error:?}", row.syntax)
    });
    let mut writer = Writer { row, chosen, next: 0 };
    let mut text = row.opcode.text().to_owned();
    for modifier in &modifiers {
        let _ = write!(text, ".{modifier}");
    }
    let mut operands = Vec::new();
    for pattern in &row.patterns {
        let present = match &pattern.presence {
            Presence::Always => true,
            Presence::Optional => optional,
            Presence::With(words) => words.iter().any(|word| modifiers.contains(word)),
        };
        if present {
            operands.push(writer.operand(pattern));
        }
    }
    let _ = write!(text, " {};", operands.join(", "));
    Example { row, text, need: filled.need, version: filled.version }
}

struct Writer<'a> {
    row: &'static Row,
    chosen: &'a [Option<Modifier>],
    next: u32,
}

impl Writer<'_> {
    fn ty(&self, reference: Ref) -> Type {
        let slot = |number: usize| {
            let mut slots =
                self.row.slots.iter().zip(self.chosen).filter(|(slot, _)| slot.is_type());
            match slots.nth(number) {
                Some((_, Some(Modifier::Type(ty)))) => *ty,
                _ => unreachable!("the operands of {} name types that it has", self.row.syntax),
            }
        };
        match reference.of {
            Of::Type(ty) => ty,
            Of::Slot(number) => slot(number),
            Of::Wide(number) => slot(number).wide().expect("only integers are widened"),
        }
    }

    /// A register that no other operand of the instruction has.
    fn register(&mut self, ty: Type) -> String {
        self.next += 1;
        let prefix = ty.register_prefix();
        let limit =
            REGISTERS.iter().find(|register| register.0 == prefix).map_or(1, |found| found.2);
        format!("{prefix}{}", self.next % limit)
    }

    fn number(&self, letter: &str) -> u32 {
        let digits = self.chosen.iter().flatten().find_map(|modifier| match modifier {
            Modifier::Word(word) => {
                let digits = word.text().strip_prefix(letter)?;
                digits.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
            }
            Modifier::Type(_) | Modifier::Space(_) => None,
        });
        digits.unwrap_or(1)
    }

    fn vector(&mut self, count: Count, reference: Ref) -> String {
        let ty = self.ty(reference);
        let (length, ty) = match count {
            Count::Exactly(length) => (length, ty),
            Count::Vec => match self.number("v") {
                1 => return self.register(ty),
                length => (length, ty),
            },
            Count::Times(factor) => (self.number("x") * factor, ty),
            Count::Columns(divisor) => (self.number("m64n") / divisor, ty),
            Count::Mask => {
                let pair = self.chosen.contains(&Some(Word::CtaGroup2.into()));
                (if pair { 8 } else { 4 }, ty)
            }
            Count::Pack => {
                let half =
                    Type::ALL.iter().find(|half| half.is_untyped() && half.bits() == ty.bits() / 2);
                (2, *half.expect("a packed type has halves"))
            }
        };
        let registers: Vec<_> = (0..length).map(|_| self.register(ty)).collect();
        format!("{{{}}}", registers.join(", "))
    }

    fn operand(&mut self, pattern: &Pattern) -> String {
        match &pattern.shape {
            Shape::Dest { ty, .. } | Shape::Source(ty) => {
                let ty = self.ty(*ty);
                self.register(ty)
            }
            Shape::DestPair(ty) => {
                let ty = self.ty(*ty);
                let first = self.register(ty);
                format!("{first}|{}", self.register(Type::Pred))
            }
            Shape::Vector { count, ty, .. } => self.vector(*count, *ty),
            Shape::Predicate { negatable } => {
                let not = if *negatable { "!" } else { "" };
                format!("{not}{}", self.register(Type::Pred))
            }
            Shape::Address => {
                // Tensor memory has addresses of 32 bits; a generic one is right everywhere else.
                let of_tensor_memory = self.row.syntax.starts_with("tcgen05.")
                    && !self.row.syntax.contains("commit")
                    && !self.row.syntax.contains(".alloc");
                let ty = if of_tensor_memory { Type::B32 } else { Type::B64 };
                format!("[{}]", self.register(ty))
            }
            Shape::Tensor { gathered } => {
                let dims = if *gathered { 5 } else { self.dims() };
                let map = self.register(Type::B64);
                let coordinates: Vec<_> = (0..dims).map(|_| self.register(Type::B32)).collect();
                format!("[{map}, {{{}}}]", coordinates.join(", "))
            }
            Shape::Literal(low, high) => match (*low, *high) {
                (i128::MIN, _) => "0".to_owned(),
                // A factor of -1 or 1.
                (low, high) if low < 0 => high.to_string(),
                (low, _) => low.to_string(),
            },
            Shape::Label => "$L".to_owned(),
            Shape::Table => "$T".to_owned(),
            Shape::Call => "callee".to_owned(),
            Shape::Sink => "_".to_owned(),
        }
    }

    fn dims(&self) -> u32 {
        let dims = self.chosen.iter().flatten().find_map(|modifier| match modifier {
            Modifier::Word(word) => word.text().strip_suffix('d')?.parse().ok(),
            Modifier::Type(_) | Modifier::Space(_) => None,
        });
        dims.unwrap_or(1)
    }
}

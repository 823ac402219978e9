//! Instructions and operands.

use super::expression::Value;
use super::function::{Binding, Body};
use super::lexer::Kind;
use super::{OPCODES, Parser, SPECIAL};
use crate::{
    Base, Guard, Instruction, Modifier, Opcode, Operand, ParseError, Reg, SpecialRegister,
};

/// What the operands of one instruction are read with.
#[derive(Clone, Copy)]
struct Context {
    opcode: Opcode,
    /// A decimal literal such as `1.0` has single precision here.
    single: bool,
}

impl Context {
    fn new(opcode: Opcode, modifiers: &[Modifier]) -> Self {
        let is_type = |modifier: &&Modifier| matches!(modifier, Modifier::Type(_));
        // `slct.f32.s32` selects between values of its first type; the source of the others is last.
        let deciding = if opcode == Opcode::Slct {
            modifiers.iter().find(is_type)
        } else {
            modifiers.iter().rfind(is_type)
        };
        // A fraction of a cache policy is single whatever the type of the policy.
        let double = opcode != Opcode::Createpolicy
            && matches!(deciding, Some(Modifier::Type(ty)) if ty.bits() == 64);
        Context { opcode, single: !double }
    }
}

fn special_component(word: &str) -> bool {
    matches!(word, "x" | "y" | "z")
}

impl<'t> Parser<'t> {
    /// `@p opcode.modifiers operands;`
    pub(super) fn instruction(&mut self, body: &mut Body<'t>) -> Result<Instruction, ParseError> {
        let guard = if self.eat("@") { Some(self.guard(body)?) } else { None };
        let line = self.token(self.at).line;
        let Kind::Name(name) = self.kind() else {
            return Err(self.error("an instruction"));
        };
        let Some(&opcode) = OPCODES.get(name) else {
            return Err(self.error("an opcode"));
        };
        self.at += 1;
        let mut modifiers = Vec::new();
        while let Kind::Dot(word) = self.kind() {
            let Some(modifier) = Modifier::from_text(word) else {
                return Err(self.error("a modifier"));
            };
            modifiers.push(modifier);
            self.at += 1;
        }
        let context = Context::new(opcode, &modifiers);
        let mut operands = Vec::new();
        if !self.eat(";") {
            loop {
                operands.push(self.operand(body, context)?);
                if self.eat(";") {
                    break;
                }
                if !self.eat(",") {
                    return Err(self.error("`,` or `;`"));
                }
            }
        }
        Ok(Instruction { guard, opcode, modifiers, operands, line })
    }

    fn guard(&mut self, body: &mut Body<'t>) -> Result<Guard, ParseError> {
        let negated = self.eat("!");
        let predicate = self.register(body, "a predicate register")?;
        Ok(Guard { predicate, negated })
    }

    fn register(&mut self, body: &mut Body<'t>, wanted: &str) -> Result<Reg, ParseError> {
        let at = self.at;
        let name = self.name(wanted)?;
        match self.resolve(body, name) {
            Some(Binding::Reg(reg)) => Ok(reg),
            _ => Err(self.error_at(at, wanted)),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other token begins an expression")]
    fn operand(&mut self, body: &mut Body<'t>, context: Context) -> Result<Operand, ParseError> {
        self.deeper(|parser| match parser.kind() {
            Kind::Mark("{") => {
                parser.at += 1;
                Ok(Operand::Vector(parser.operands(body, context, "}")?))
            }
            Kind::Mark("(") if context.opcode == Opcode::Call => {
                parser.at += 1;
                Ok(Operand::List(parser.operands(body, context, ")")?))
            }
            Kind::Mark("[") => {
                parser.at += 1;
                parser.address(body, context)
            }
            Kind::Mark("!") if matches!(parser.token(parser.at + 1).kind, Kind::Name(_)) => {
                parser.at += 1;
                Ok(Operand::Not(parser.register(body, "a predicate register")?))
            }
            Kind::Name(name) if name != "WARP_SZ" => {
                let first = parser.named(body, name)?;
                if !parser.eat("|") {
                    return Ok(first);
                }
                let Kind::Name(name) = parser.kind() else {
                    return Err(parser.error("a register"));
                };
                let second = parser.named(body, name)?;
                Ok(Operand::Pair(Box::new(first), Box::new(second)))
            }
            _ => Ok(literal(parser.expression()?, context)),
        })
    }

    /// A list of operands up to `close`.
    fn operands(
        &mut self,
        body: &mut Body<'t>,
        context: Context,
        close: &str,
    ) -> Result<Vec<Operand>, ParseError> {
        let mut operands = Vec::new();
        if self.eat(close) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(body, context)?);
            if self.eat(close) {
                return Ok(operands);
            }
            if !self.eat(",") {
                return Err(self.error(&format!("`,` or `{close}`")));
            }
        }
    }

    /// An operand that starts with `name`, where the reading position is.
    fn named(&mut self, body: &mut Body<'t>, name: &'t str) -> Result<Operand, ParseError> {
        let at = self.at;
        self.at += 1;
        if name == "_" {
            return Ok(Operand::Sink);
        }
        match self.resolve(body, name) {
            Some(Binding::Reg(reg)) => Ok(Operand::Reg(reg)),
            Some(Binding::VectorReg(parts)) => {
                let Kind::Dot(word) = self.kind() else {
                    return Ok(Operand::Vector(parts.into_iter().map(Operand::Reg).collect()));
                };
                let index = match word {
                    "x" | "r" => 0,
                    "y" | "g" => 1,
                    "z" | "b" => 2,
                    "w" | "a" => 3,
                    _ => usize::MAX,
                };
                let Some(reg) = parts.get(index) else {
                    return Err(self.error("a component of the vector"));
                };
                self.at += 1;
                Ok(Operand::Reg(*reg))
            }
            Some(Binding::Label(label)) => Ok(Operand::Label(label)),
            Some(Binding::Table(table)) => Ok(Operand::BranchTargets(table)),
            Some(Binding::Symbol(symbol)) => {
                let offset = self.offset()?;
                Ok(Operand::Symbol(symbol, offset))
            }
            None => match self.special_register(name) {
                Some(special) => Ok(Operand::Special(special)),
                None => Err(self.error_at(at, "a name that is declared")),
            },
        }
    }

    /// `%tid.x`, after whose `%tid` the reading position is.
    fn special_register(&mut self, name: &str) -> Option<SpecialRegister> {
        if let Some(special) = SPECIAL.get(name) {
            return Some(*special);
        }
        let Kind::Dot(word) = self.kind() else {
            return None;
        };
        if !special_component(word) {
            return None;
        }
        let special = *SPECIAL.get(format!("{name}.{word}").as_str())?;
        self.at += 1;
        Some(special)
    }

    /// `base+offset]` or `base, {c0, c1}]`
    fn address(&mut self, body: &mut Body<'t>, context: Context) -> Result<Operand, ParseError> {
        let at = self.at;
        let (base, offset) = if let Kind::Name(name) = self.kind()
            && name != "WARP_SZ"
        {
            let named = self.named(body, name)?;
            if let Operand::Reg(reg) = named {
                (Base::Reg(reg), self.offset()?)
            } else if let Operand::Symbol(symbol, offset) = named {
                (Base::Symbol(symbol), offset)
            } else {
                return Err(self.error_at(at, "a register or a variable"));
            }
        } else {
            let value = self.integer()?;
            #[expect(clippy::cast_possible_truncation, reason = "an address keeps its 64 bits")]
            if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value) {
                (Base::Absolute, value as i64)
            } else {
                return Err(self.error_at(at, "an address of 64 bits"));
            }
        };
        if self.eat("]") {
            return Ok(Operand::Address { base, offset });
        }
        let mut lists = Vec::new();
        while self.eat(",") {
            self.expect("{")?;
            lists.push(self.operands(body, context, "}")?);
        }
        if lists.is_empty() {
            return Err(self.error("`]`"));
        }
        self.expect("]")?;
        Ok(Operand::TensorAddress { base, offset, lists })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the literal takes single precision")]
fn literal(value: Value, context: Context) -> Operand {
    match value {
        Value::Signed(value) => Operand::Int(i128::from(value)),
        Value::Unsigned(value) => Operand::Int(i128::from(value)),
        Value::Float(value) if context.single => Operand::F32((value as f32).to_bits()),
        Value::Float(value) => Operand::F64(value.to_bits()),
        Value::F32(bits) => Operand::F32(bits),
        Value::F64(bits) => Operand::F64(bits),
    }
}

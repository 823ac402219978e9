//! What straight integer code computes for one thread: enough to check emitted index arithmetic.

use std::collections::BTreeMap;

use kernel_ptx::{
    Function, Instruction, Linkage, Modifier, Opcode, Operand, Reg, Statement, Type, Word,
};

use crate::lower::emitter::{Emitter, Val};

/// The bits of `value` in the thread with index `thread`, after all that was emitted.
pub(super) fn value(emitter: Emitter, value: Val, thread: u32) -> u64 {
    let mut emitter = emitter;
    let Val::Reg(wanted) = value else {
        let Val::Int(known) = value else { unreachable!("tests compute integers") };
        return known.cast_unsigned();
    };
    // A store keeps the value, and names its register after renumbering.
    emitter.effect(Opcode::St, &[], [Operand::Reg(wanted)]);
    let mut function = Function {
        name: String::new(),
        is_entry: true,
        linkage: Linkage::Private,
        results: Vec::new(),
        params: Vec::new(),
        directives: Vec::new(),
        registers: Vec::new(),
        variables: Vec::new(),
        labels: Vec::new(),
        branch_targets: Vec::new(),
        body: None,
    };
    emitter.finish(&mut function, &|_| (0, 0));
    let mut registers = BTreeMap::new();
    for statement in function.body.expect("finish writes a body") {
        let Statement::Instruction(inst) = statement else { continue };
        if inst.opcode == Opcode::St {
            return read(&inst.operands[0], &registers, thread);
        }
        let Operand::Reg(target) = inst.operands[0] else { unreachable!("results are registers") };
        let sources: Vec<u64> =
            inst.operands[1..].iter().map(|operand| read(operand, &registers, thread)).collect();
        let ty = function.registers[target.0 as usize].ty;
        let result = execute(&inst, &sources);
        registers.insert(target, if ty.bits() == 32 { result & 0xffff_ffff } else { result });
    }
    unreachable!("the store comes last")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other operands hold no integers")]
fn read(operand: &Operand, registers: &BTreeMap<Reg, u64>, thread: u32) -> u64 {
    match operand {
        Operand::Reg(reg) => registers[reg],
        Operand::Int(value) => {
            i64::try_from(*value).expect("constants have 64 bits").cast_unsigned()
        }
        Operand::Special(_) => u64::from(thread),
        other => unreachable!("{other:?} is no integer"),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other instructions do no integer arithmetic")]
fn execute(inst: &Instruction, sources: &[u64]) -> u64 {
    let has = |word: Word| inst.modifiers.contains(&Modifier::Word(word));
    let ty = inst.modifiers.iter().rev().find_map(|modifier| match modifier {
        Modifier::Type(ty) => Some(*ty),
        Modifier::Space(_) | Modifier::Word(_) => None,
    });
    let ty = ty.expect("instructions have a type");
    let wide = ty.bits() == 64;
    let signed = matches!(ty, Type::S32 | Type::S64);
    // Each operand as the instruction's type reads it.
    let as_signed =
        |value: u64| if wide { value.cast_signed() } else { (value.cast_signed() << 32) >> 32 };
    let as_unsigned = |value: u64| if wide { value } else { value & 0xffff_ffff };
    let [a, b] = [0, 1].map(|index| sources.get(index).copied().unwrap_or(0));
    let (sa, sb) = (as_signed(a), as_signed(b));
    let (ua, ub) = (as_unsigned(a), as_unsigned(b));
    match inst.opcode {
        Opcode::Mov => a,
        Opcode::Add => a.wrapping_add(b),
        Opcode::Sub => a.wrapping_sub(b),
        Opcode::Mul => sa.wrapping_mul(sb).cast_unsigned(),
        Opcode::And => a & b,
        Opcode::Or => a | b,
        Opcode::Xor => a ^ b,
        Opcode::Not => !a,
        Opcode::Shl => ua << b,
        Opcode::Shr if signed => (sa >> b).cast_unsigned(),
        Opcode::Shr => ua >> b,
        Opcode::Div if signed => sa.wrapping_div(sb).cast_unsigned(),
        Opcode::Div => ua / ub,
        Opcode::Rem if signed => sa.wrapping_rem(sb).cast_unsigned(),
        Opcode::Rem => ua % ub,
        Opcode::Setp if has(Word::Eq) => u64::from(ua == ub),
        Opcode::Setp if has(Word::Ne) => u64::from(ua != ub),
        Opcode::Setp if has(Word::Lt) => u64::from(if signed { sa < sb } else { ua < ub }),
        Opcode::Cvt if signed => sa.cast_unsigned(),
        Opcode::Cvt => ua,
        other => unreachable!("{other:?} is no integer arithmetic"),
    }
}

//! Moves of a value to the register that a loop carries: the value is computed there instead.

use kernel_ptx::{Opcode, Operand, Reg, Type};

use super::finish::{reads, registers_mut, results};
use super::{Inst, Node};

/// Where a register was last touched, as positions in the order.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    written: Option<usize>,
    read: Option<usize>,
    definitions: u32,
    uses: u32,
}

/// Removes `mov c, v` if `v` is computed before, in the same straight run of code, for this move alone, and `c` is not
/// touched in between.
pub(crate) fn run(order: &mut Vec<Node>, types: &dyn Fn(Reg) -> Type, count: usize) {
    let mut touched = vec![Touched::default(); count];
    for node in order.iter() {
        if let Node::Inst(inst) = node {
            reads(inst, &mut |reg| touched[reg.0 as usize].uses += 1);
            results(inst, &mut |reg| touched[reg.0 as usize].definitions += 1);
        }
    }
    let mut start = 0;
    let mut renamed: Vec<(usize, Reg, Reg)> = Vec::new();
    let mut removed = vec![false; order.len()];
    for (index, node) in order.iter().enumerate() {
        let Node::Inst(inst) = node else {
            start = index;
            continue;
        };
        if let Some((carried, value)) = plain_move(inst)
            && types(carried) == types(value)
        {
            let (to, from) = (touched[carried.0 as usize], touched[value.0 as usize]);
            if let Some(origin) = from.written
                && origin >= start
                && (from.definitions, from.uses) == (1, 1)
                && to.read.is_none_or(|read| read <= origin)
                && to.written.is_none_or(|written| written < origin)
                && unguarded(&order[origin])
            {
                renamed.push((origin, value, carried));
                removed[index] = true;
                touched[carried.0 as usize].written = Some(index);
                continue;
            }
        }
        reads(inst, &mut |reg| touched[reg.0 as usize].read = Some(index));
        results(inst, &mut |reg| touched[reg.0 as usize].written = Some(index));
        if matches!(inst.instruction.opcode, Opcode::Bra | Opcode::Ret) {
            start = index;
        }
    }
    for (origin, value, carried) in renamed {
        if let Node::Inst(inst) = &mut order[origin] {
            for operand in &mut inst.instruction.operands[..inst.results] {
                registers_mut(operand, &mut |reg| {
                    if *reg == value {
                        *reg = carried;
                    }
                });
            }
        }
    }
    let mut removed = removed.into_iter();
    order.retain(|_| !removed.next().expect("one flag for each node"));
}

/// The registers of an unconditional move from one to another.
fn plain_move(inst: &Inst) -> Option<(Reg, Reg)> {
    match (inst.instruction.opcode, inst.instruction.guard, &inst.instruction.operands[..]) {
        (Opcode::Mov, None, [Operand::Reg(to), Operand::Reg(from)]) => Some((*to, *from)),
        _ => None,
    }
}

fn unguarded(node: &Node) -> bool {
    match node {
        Node::Inst(inst) => inst.instruction.guard.is_none() && !inst.effect,
        Node::Label(_) | Node::Frame(_) => false,
    }
}

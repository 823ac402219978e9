//! From the tree of frames to a PTX module: dead code and redundant synchronisation are dropped, the rest is laid out in order.

use kernel_ptx::{Base, Function, Opcode, Operand, Reg, Register, Statement};

use super::{Emitter, FrameId, Inst, Node};
use super::{coalesce, redundant};

impl Emitter {
    /// Moves registers, labels and statements into `function`, without the instructions that nothing needs. Returns what is wrong at each `trap`,
    /// in the order of the text, if anything is said of that.
    pub(crate) fn finish(
        mut self,
        function: &mut Function,
        line_of: &dyn Fn(crate::loc::Loc) -> (u32, u32),
    ) -> Vec<Option<String>> {
        let mut order = Vec::new();
        self.flatten(FrameId(0), &mut order);
        drop_dead(&mut order, self.registers.len());
        if redundant::drop_redundant(&mut order) {
            drop_dead(&mut order, self.registers.len());
        }
        coalesce::run(&mut order, &|reg| self.ty(reg), self.registers.len());
        let (mut body, mut checks) = (Vec::new(), Vec::new());
        let mut position = None;
        let mut numbers: Vec<Option<Reg>> = vec![None; self.registers.len()];
        let mut rename = |reg: &mut Reg| {
            let slot = &mut numbers[reg.0 as usize];
            *reg = *slot.get_or_insert_with(|| {
                let number = u32::try_from(function.registers.len());
                function.registers.push(Register { ty: self.ty(*reg), name: None });
                Reg(number.expect("fewer than 2^32 registers"))
            });
        };
        for node in order {
            match node {
                Node::Label(label) => body.push(Statement::Label(label)),
                Node::Inst(inst) => {
                    let (line, column) = line_of(inst.loc);
                    if line != 0 && position != Some((line, column)) {
                        position = Some((line, column));
                        body.push(Statement::Location { file: 1, line, column });
                    }
                    let mut instruction = inst.instruction;
                    if instruction.opcode == Opcode::Trap {
                        checks.push(inst.says);
                    }
                    if let Some(guard) = &mut instruction.guard {
                        rename(&mut guard.predicate);
                    }
                    for operand in &mut instruction.operands {
                        registers_mut(operand, &mut rename);
                    }
                    body.push(Statement::Instruction(instruction));
                }
                Node::Frame(_) => unreachable!("flattening leaves no frames"),
            }
        }
        function.labels = self.labels;
        function.body = Some(body);
        checks
    }

    /// Appends the nodes of a frame to `order`, those of nested frames in their places.
    fn flatten(&mut self, frame: FrameId, order: &mut Vec<Node>) {
        for node in std::mem::take(&mut self.frames[frame.0].nodes) {
            match node {
                Node::Frame(inner) => self.flatten(inner, order),
                Node::Inst(_) | Node::Label(_) => order.push(node),
            }
        }
    }
}

/// Drops the instructions whose results nothing needs.
fn drop_dead(order: &mut Vec<Node>, count: usize) {
    let live = live(order, count);
    order.retain(|node| match node {
        Node::Inst(inst) => {
            let mut needed = inst.effect;
            results(inst, &mut |reg| needed |= live[reg.0 as usize]);
            needed
        }
        Node::Label(_) | Node::Frame(_) => true,
    });
}

/// Which registers are read, directly or through others, by an instruction that must stay.
fn live(order: &[Node], count: usize) -> Vec<bool> {
    // Most registers have one definition: the last of each is found at once, and after each definition the one before.
    let mut last: Vec<Option<usize>> = vec![None; count];
    let mut definitions: Vec<(usize, Option<usize>)> = Vec::with_capacity(order.len());
    let mut work = Vec::new();
    for (index, node) in order.iter().enumerate() {
        if let Node::Inst(inst) = node {
            if inst.effect {
                work.push(index);
            } else {
                results(inst, &mut |reg| {
                    let before = last[reg.0 as usize].replace(definitions.len());
                    definitions.push((index, before));
                });
            }
        }
    }
    let mut live = vec![false; count];
    while let Some(index) = work.pop() {
        let Node::Inst(inst) = &order[index] else { continue };
        reads(inst, &mut |reg| {
            if !std::mem::replace(&mut live[reg.0 as usize], true) {
                let mut definition = last[reg.0 as usize];
                while let Some(at) = definition {
                    let (index, before) = definitions[at];
                    work.push(index);
                    definition = before;
                }
            }
        });
    }
    live
}

/// Visits the registers that an instruction reads.
pub(crate) fn reads(inst: &Inst, visit: &mut impl FnMut(Reg)) {
    if let Some(guard) = inst.instruction.guard {
        visit(guard.predicate);
    }
    // A `wgmma` product adds to what it writes.
    let adds = inst.instruction.opcode == Opcode::Wgmma;
    let first = if adds { 0 } else { inst.results };
    for operand in &inst.instruction.operands[first..] {
        registers(operand, &mut |reg| visit(*reg));
    }
}

/// Visits the registers that an instruction writes.
pub(crate) fn results(inst: &Inst, visit: &mut impl FnMut(Reg)) {
    for operand in &inst.instruction.operands[..inst.results] {
        registers(operand, &mut |reg| visit(*reg));
    }
}

/// Visits the registers of an operand, shared or to replace them.
macro_rules! visit_registers {
    ($vis:vis fn $name:ident($($mut:tt)?) by $iter:ident) => {
        $vis fn $name(operand: &$($mut)? Operand, visit: &mut impl FnMut(&$($mut)? Reg)) {
            match operand {
                Operand::Reg(reg)
                | Operand::Not(reg)
                | Operand::Address { base: Base::Reg(reg), .. } => visit(reg),
                Operand::Vector(parts) | Operand::List(parts) => {
                    for part in parts.$iter() {
                        $name(part, visit);
                    }
                }
                Operand::Pair(a, b) => {
                    $name(a, visit);
                    $name(b, visit);
                }
                Operand::TensorAddress { base, lists, .. } => {
                    if let Base::Reg(reg) = base {
                        visit(reg);
                    }
                    for part in lists.$iter().flatten() {
                        $name(part, visit);
                    }
                }
                Operand::Address { base: Base::Symbol(_) | Base::Absolute, .. }
                | Operand::Int(_)
                | Operand::F32(_)
                | Operand::F64(_)
                | Operand::Special(_)
                | Operand::Symbol(..)
                | Operand::Label(_)
                | Operand::BranchTargets(_)
                | Operand::Sink => {}
            }
        }
    };
}

visit_registers!(fn registers() by iter);
visit_registers!(pub(crate) fn registers_mut(mut) by iter_mut);

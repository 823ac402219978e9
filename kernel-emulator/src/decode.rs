//! From a parsed module to [`Code`]: each entry once, with the functions that it calls.
//!
//! Every modifier and operand of an instruction must be accounted for; whatever is left over is a
//! named error, never a skip.

mod arith;
mod async_copy;
mod barrier;
mod bits;
mod bulk;
mod compare;
mod control;
mod convert;
mod joins;
pub(crate) mod layout;
mod matrix;
mod memory;
mod moves;
mod operands;
mod origin;
mod tcgen05;
mod wgmma;

use std::collections::BTreeMap;

use kernel_ptx::{Function, Instruction, Modifier, Module, Opcode, Operand, Statement, Symbol};

use crate::code::{Code, D, Inst, Op, Origin, P, Q, Slot, W};
use layout::{Frame, Layout, param_offsets};
use operands::{Decoded, Modifiers, Presets, Scope};

/// An instruction, or a declaration, that cannot be executed.
#[derive(Clone, Debug)]
pub(crate) struct DecodeError {
    /// Line of the text.
    pub(crate) line: u32,
    /// The opcode with its modifiers, or the declaration.
    pub(crate) what: String,
    pub(crate) problem: String,
}

/// Decodes the entry at an index of the module's functions.
pub(crate) fn entry(module: &Module, index: usize) -> Result<Code, DecodeError> {
    let whole = |problem: String| DecodeError {
        line: 0,
        what: module.functions[index].name.clone(),
        problem,
    };
    let functions = reachable(module, index)?;
    let mut code = Code::default();
    let mut layout = Layout::default();
    let mut presets = Presets::default();
    code.param_bytes = param_offsets(&module.functions[index].params).map_err(whole)?.1;
    let mut slots = Vec::new();
    let mut frames = Vec::new();
    for &f in &functions {
        let function = &module.functions[f];
        slots.push(assign(function, &mut code));
        frames.push(layout.frame(function).map_err(whole)?);
    }
    let mut starts = Vec::new();
    for (i, &f) in functions.iter().enumerate() {
        let function = &module.functions[f];
        starts.push(code.insts.len());
        let callees = Callees { module, functions: &functions, slots: &slots, frames: &frames };
        let cx = Scope {
            module,
            function,
            slots: &slots[i],
            frame: &frames[i],
            layout: &mut layout,
            presets: &mut presets,
            code: &mut code,
        };
        body(cx, &callees)?;
    }
    let bodies = functions.iter().zip(&starts).zip(&slots);
    wgmma::watch(
        &mut code,
        bodies.map(|((f, start), slots)| (&module.functions[*f], *start, slots.as_slice())),
    );
    let bodies = functions.iter().zip(&starts);
    let bodies = bodies.map(|(f, start)| (&module.functions[*f], *start));
    origin::find(&mut code, (module, &mut layout), bodies).map_err(whole)?;
    let mut joins = Vec::new();
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(code.insts.len());
        joins.append(&mut joins::joins(&code.insts, start, end));
    }
    for inst in &mut code.insts {
        if let Op::Call(call) = &mut inst.op {
            call.target = offset(starts[call.target as usize]);
        }
    }
    code.joins = joins;
    code.needs_proxy_fences = code.insts.iter().any(|inst| inst.op.needs_proxy_fence());
    code.registers = control::registers_at_entry(&module.functions[index], &code);
    code.local_bytes = layout.local_bytes;
    code.static_shared_bytes = layout.shared_bytes;
    code.constants = (0u32..)
        .zip(&module.variables)
        .filter(|(_, v)| v.space == kernel_ptx::Space::Const)
        .map(|(i, v)| (i, layout::variable_bytes(v)))
        .collect();
    Ok(code)
}

fn offset(index: usize) -> u32 {
    u32::try_from(index).expect("code is smaller than 4 G instructions")
}

/// What a call needs to know of the functions of the entry.
struct Callees<'m> {
    module: &'m Module,
    /// Indices into the module, in the order of the code.
    functions: &'m [usize],
    slots: &'m [Vec<Slot>],
    frames: &'m [Frame],
}

/// The function that an instruction calls.
fn callee(instruction: &Instruction) -> Option<&str> {
    instruction.operands.iter().find_map(|operand| {
        let Operand::Symbol(Symbol::Function(name), _) = operand else { return None };
        Some(name.as_str())
    })
}

/// The functions that an entry can reach, itself first. None may reach itself.
pub(crate) fn reachable(module: &Module, entry: usize) -> Result<Vec<usize>, DecodeError> {
    let mut order = Vec::new();
    let mut path = Vec::new();
    visit(module, entry, &mut order, &mut path)?;
    order.reverse();
    Ok(order)
}

fn visit(
    module: &Module,
    index: usize,
    order: &mut Vec<usize>,
    path: &mut Vec<usize>,
) -> Result<(), DecodeError> {
    path.push(index);
    for statement in module.functions[index].body.iter().flatten() {
        let Statement::Instruction(instruction) = statement else { continue };
        if instruction.opcode != Opcode::Call {
            continue;
        }
        let Some(name) = callee(instruction) else { continue };
        // A declaration and a definition may both be there.
        let definition = module.functions.iter().position(|f| f.name == name && f.body.is_some());
        let Some(definition) = definition else { continue };
        if path.contains(&definition) {
            return Err(DecodeError {
                line: instruction.line,
                what: text(instruction),
                problem: format!("`{name}` calls itself, and recursion is not modelled"),
            });
        }
        if !order.contains(&definition) {
            visit(module, definition, order, path)?;
        }
    }
    path.pop();
    order.push(index);
    Ok(())
}

/// Gives every register of a function a slot.
fn assign(function: &Function, code: &mut Code) -> Vec<Slot> {
    let mut slots = Vec::with_capacity(function.registers.len());
    for register in &function.registers {
        let (count, names, slot): (&mut u32, usize, fn(u32) -> Slot) = match register.ty.bits() {
            0..=1 => (&mut code.preds, 3, |i| Slot::P(P(i))),
            2..=32 => (&mut code.words, 0, |i| Slot::W(W(i))),
            33..=64 => (&mut code.doubles, 1, |i| Slot::D(D(i))),
            65.. => (&mut code.quads, 2, |i| Slot::Q(Q(i))),
        };
        slots.push(slot(*count));
        *count += 1;
        code.names[names].push(register.name.clone().unwrap_or_default());
    }
    slots
}

/// Decodes the body of one function onto the end of the code.
fn body(mut cx: Scope<'_>, callees: &Callees<'_>) -> Result<(), DecodeError> {
    let function = cx.function;
    let start = cx.code.insts.len();
    let mut labels: BTreeMap<u32, u32> = BTreeMap::new();
    let mut source = (0, 0, 0);
    // A `ret` before the end of a function branches to the one at its end, so that lanes which
    // return from different places meet there.
    let epilogue = u32::MAX;
    for statement in function.body.iter().flatten() {
        match statement {
            Statement::Label(label) => {
                labels.insert(label.0, offset(cx.code.insts.len()));
            }
            Statement::Location { file, line, column } => source = (*file, *line, *column),
            Statement::Pragma(_) => {}
            Statement::Instruction(inst) => {
                let error = |problem| DecodeError { line: inst.line, what: text(inst), problem };
                kernel_ptx::form(inst, &function.registers)
                    .map_err(|problem| error(problem.to_string()))?;
                let op = instruction(&mut cx, inst, callees, epilogue).map_err(error)?;
                let guard = match inst.guard {
                    None => None,
                    Some(guard) => {
                        let operand = if guard.negated {
                            Operand::Not(guard.predicate)
                        } else {
                            Operand::Reg(guard.predicate)
                        };
                        Some(cx.pred(&operand).map_err(error)?)
                    }
                };
                let class = op.class();
                cx.code.insts.push(Inst { guard, class, op });
                cx.code.origins.push(Origin { line: inst.line, source });
            }
        }
    }
    labels.insert(epilogue, offset(cx.code.insts.len()));
    let op = if function.is_entry { Op::Exit } else { Op::Ret };
    cx.code.insts.push(Inst { guard: None, class: op.class(), op });
    let line = cx.code.origins.last().map_or(0, |origin| origin.line);
    cx.code.origins.push(Origin { line, source });
    let find = |label: u32| {
        labels.get(&label).copied().ok_or_else(|| DecodeError {
            line,
            what: function.name.clone(),
            problem: format!("label `{}` is nowhere", function.labels[label as usize]),
        })
    };
    for inst in &mut cx.code.insts[start..] {
        if let Op::Bra { target } = &mut inst.op {
            *target = find(*target)?;
        } else if let Op::BrxIdx { targets, .. } = &mut inst.op {
            for target in targets {
                *target = find(*target)?;
            }
        }
    }
    Ok(())
}

/// An instruction's opcode and modifiers.
pub(crate) fn text(instruction: &Instruction) -> String {
    let mut text = instruction.opcode.text().to_owned();
    for modifier in &instruction.modifiers {
        text.push('.');
        text.push_str(match modifier {
            Modifier::Type(ty) => ty.text(),
            Modifier::Space(space) => space.text(),
            Modifier::Word(word) => word.text(),
        });
    }
    text
}

/// Decodes one instruction.
fn instruction(
    cx: &mut Scope<'_>,
    inst: &Instruction,
    callees: &Callees<'_>,
    epilogue: u32,
) -> Decoded<Op> {
    let mods = &mut Modifiers::new(inst);
    let ops = inst.operands.as_slice();
    let op = match inst.opcode {
        Opcode::Add | Opcode::Sub => arith::add(cx, mods, ops, inst.opcode)?,
        Opcode::Addc | Opcode::Subc => arith::carry(cx, mods, ops, inst.opcode)?,
        Opcode::Mul => arith::mul(cx, mods, ops)?,
        Opcode::Mad | Opcode::Madc => arith::mad(cx, mods, ops, inst.opcode)?,
        Opcode::Mul24 => arith::mul24(cx, mods, ops)?,
        Opcode::Mad24 => arith::mad24(cx, mods, ops)?,
        Opcode::Fma => arith::fma(cx, mods, ops)?,
        Opcode::Div => arith::div(cx, mods, ops)?,
        Opcode::Rem => arith::rem(cx, mods, ops)?,
        Opcode::Min | Opcode::Max => arith::min_max(cx, mods, ops, inst.opcode)?,
        Opcode::Abs | Opcode::Neg => arith::sign(cx, mods, ops, inst.opcode)?,
        Opcode::Sad => arith::sad(cx, mods, ops)?,
        Opcode::Copysign => arith::copysign(cx, mods, ops)?,
        Opcode::Rcp | Opcode::Sqrt | Opcode::Rsqrt => arith::root(cx, mods, ops, inst.opcode)?,
        Opcode::Sin | Opcode::Cos | Opcode::Lg2 | Opcode::Ex2 | Opcode::Tanh => {
            arith::transcendental(cx, mods, ops, inst.opcode)?
        }
        Opcode::And | Opcode::Or | Opcode::Xor => bits::logic(cx, mods, ops, inst.opcode)?,
        Opcode::Not => bits::not(cx, mods, ops)?,
        Opcode::Cnot => bits::cnot(cx, mods, ops)?,
        Opcode::Shl => bits::shl(cx, mods, ops)?,
        Opcode::Shr => bits::shr(cx, mods, ops)?,
        Opcode::Shf => bits::shf(cx, mods, ops)?,
        Opcode::Lop3 => bits::lop3(cx, mods, ops)?,
        Opcode::Prmt => bits::prmt(cx, mods, ops)?,
        Opcode::Popc | Opcode::Clz | Opcode::Brev => bits::bits(cx, mods, ops, inst.opcode)?,
        Opcode::Bfind => bits::bfind(cx, mods, ops)?,
        Opcode::Bfe => bits::bfe(cx, mods, ops)?,
        Opcode::Bfi => bits::bfi(cx, mods, ops)?,
        Opcode::Fns => bits::fns(cx, mods, ops)?,
        Opcode::Bmsk => bits::bmsk(cx, mods, ops)?,
        Opcode::Szext => bits::szext(cx, mods, ops)?,
        Opcode::Dp4a | Opcode::Dp2a => bits::dot(cx, mods, ops, inst.opcode)?,
        Opcode::Setp => compare::setp(cx, mods, ops)?,
        Opcode::Set => compare::set(cx, mods, ops)?,
        Opcode::Selp => compare::selp(cx, mods, ops)?,
        Opcode::Slct => compare::slct(cx, mods, ops)?,
        Opcode::Testp => compare::testp(cx, mods, ops)?,
        Opcode::Mov => moves::mov(cx, mods, ops)?,
        Opcode::Cvt => convert::cvt(cx, mods, ops)?,
        Opcode::Cvta => moves::cvta(cx, mods, ops)?,
        Opcode::Isspacep => moves::isspacep(cx, mods, ops)?,
        Opcode::Mapa => moves::mapa(cx, mods, ops)?,
        Opcode::Getctarank => moves::getctarank(cx, mods, ops)?,
        Opcode::Ld | Opcode::Ldu => memory::ld(cx, mods, ops)?,
        Opcode::St => memory::st(cx, mods, ops)?,
        Opcode::Atom | Opcode::Red => memory::atom(cx, mods, ops, inst.opcode)?,
        Opcode::Prefetch | Opcode::Prefetchu | Opcode::Discard | Opcode::Applypriority => {
            memory::hint(mods)
        }
        Opcode::Createpolicy => memory::createpolicy(cx, mods, ops)?,
        Opcode::Tensormap => bulk::tensormap(cx, mods, ops)?,
        Opcode::Cp => async_copy::cp(cx, mods, ops)?,
        Opcode::Clusterlaunchcontrol => control::launch_control(cx, mods, ops)?,
        Opcode::Ldmatrix => matrix::ldmatrix(cx, mods, ops)?,
        Opcode::Stmatrix => matrix::stmatrix(cx, mods, ops)?,
        Opcode::Movmatrix => matrix::movmatrix(cx, mods, ops)?,
        Opcode::Mma => matrix::mma(cx, mods, ops)?,
        Opcode::Wgmma => wgmma::wgmma(cx, mods, ops)?,
        Opcode::Tcgen05 => tcgen05::tcgen05(cx, mods, ops)?,
        Opcode::Bar | Opcode::Barrier => barrier::bar(cx, mods, ops, inst.opcode)?,
        Opcode::Mbarrier => barrier::mbarrier(cx, mods, ops)?,
        Opcode::Membar | Opcode::Fence => barrier::fence(cx, mods, ops)?,
        Opcode::Shfl => control::shfl(cx, mods, ops)?,
        Opcode::Vote => control::vote(cx, mods, ops)?,
        Opcode::Match => control::match_(cx, mods, ops)?,
        Opcode::Redux => control::redux(cx, mods, ops)?,
        Opcode::Activemask => control::activemask(cx, mods, ops)?,
        Opcode::Elect => control::elect(cx, mods, ops)?,
        Opcode::Bra => control::bra(mods, ops)?,
        Opcode::Brx => control::brx(cx, mods, ops)?,
        Opcode::Call => control::call(cx, mods, ops, callees)?,
        Opcode::Ret => control::ret(cx, mods, epilogue),
        Opcode::Exit => Op::Exit,
        Opcode::Trap | Opcode::Brkpt => Op::Trap { breakpoint: inst.opcode == Opcode::Brkpt },
        Opcode::Nanosleep => control::nanosleep(mods),
        Opcode::Setmaxnreg => control::setmaxnreg(mods, ops)?,
        Opcode::Pmevent => Op::Hint,
        Opcode::Griddepcontrol => control::grid(mods),
        Opcode::Alloca
        | Opcode::Istypep
        | Opcode::Multimem
        | Opcode::Stackrestore
        | Opcode::Stacksave
        | Opcode::Wmma => return Err("the instruction is not modelled".to_owned()),
    };
    mods.finish()?;
    Ok(op)
}

/// What a table says about a key.
fn look_up<K: PartialEq, T: Copy>(table: &[(K, T)], key: &K) -> Option<T> {
    table.iter().find(|(other, _)| other == key).map(|(_, value)| *value)
}

/// Checks the number of operands.
fn count<const N: usize>(operands: &[Operand]) -> Decoded<&[Operand; N]> {
    operands.try_into().map_err(|_| format!("{} operands where {N} are needed", operands.len()))
}

//! Branches, calls, and exchanges between lanes.

use kernel_ptx::{Directive, Function, Operand, Space, Symbol, Type, Word};

use super::operands::{Decoded, Modifiers, Scope, describe};
use super::{Callees, count};
use crate::code::{
    Call, Code, Exchange, LocalSpot, Members, Op, QueryCancel, Redux, RegisterChange, Shfl,
    ShflMode, Slot, TryCancel, Vote, VoteResult, W,
};
use crate::machine::pool;
use crate::numeric::scalar::Extreme;

/// `bra`; the target is the number of a label until the function is complete.
pub(super) fn bra(m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Uni]);
    let [target] = count(ops)?;
    match target {
        Operand::Label(label) => Ok(Op::Bra { target: label.0 }),
        other => Err(format!("{} where a label is needed", describe(other))),
    }
}

/// `brx.idx`.
pub(super) fn brx(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Idx, Word::Uni]);
    let [index, table] = count(ops)?;
    let Operand::BranchTargets(table) = table else {
        return Err(format!("{} where a branch table is needed", describe(table)));
    };
    let labels = &s.function.branch_targets[*table as usize];
    let targets = labels.iter().map(|label| label.0).collect();
    Ok(Op::BrxIdx { index: s.w(index)?, targets })
}

fn members(s: &mut Scope<'_>, operand: &Operand) -> Decoded<W> {
    s.w(operand)
}

/// `shfl.sync`.
pub(super) fn shfl(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if !m.word(Word::Sync) {
        return Err("only `shfl.sync` exists on these targets".to_owned());
    }
    let mode = m
        .one_of(&[
            (Word::Up, ShflMode::Up),
            (Word::Down, ShflMode::Down),
            (Word::Bfly, ShflMode::Bfly),
            (Word::Idx, ShflMode::Idx),
        ])
        .ok_or("a mode is missing")?;
    m.ty()?;
    let [target, a, b, c, mask] = count(ops)?;
    let w = |operand: &Operand| match operand {
        Operand::Sink => Ok(None),
        other => s.dest_w(other).map(Some),
    };
    let (d, p) = match target {
        Operand::Pair(d, p) => (w(d)?, s.target(p)?),
        other => (w(other)?, None),
    };
    let p = match p {
        None => None,
        Some(Slot::P(p)) => Some(p),
        Some(_) => return Err("the second result is a predicate".to_owned()),
    };
    let (a, b, c) = (s.w(a)?, s.w(b)?, s.w(c)?);
    let members = members(s, mask)?;
    Ok(Op::Exchange(Exchange::Shfl(Box::new(Shfl { mode, d, p, a, b, c, members }))))
}

/// `vote.sync`.
pub(super) fn vote(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if !m.word(Word::Sync) {
        return Err("only `vote.sync` exists on these targets".to_owned());
    }
    let op = m
        .one_of(&[
            (Word::All, Vote::All),
            (Word::Any, Vote::Any),
            (Word::Uni, Vote::Uni),
            (Word::Ballot, Vote::Ballot),
        ])
        .ok_or("an operation is missing")?;
    m.ty()?;
    let [d, a, mask] = count(ops)?;
    let d =
        if op == Vote::Ballot { VoteResult::W(s.dest_w(d)?) } else { VoteResult::P(s.dest_p(d)?) };
    let a = s.pred(a)?;
    let members = Members::Mask(members(s, mask)?);
    Ok(Op::Exchange(Exchange::Vote { op, d, a, members }))
}

/// `match.sync`.
pub(super) fn match_(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync]);
    let all = m.one_of(&[(Word::All, true), (Word::Any, false)]).ok_or("`.all` or `.any`")?;
    let bits = m.ty()?.bits();
    let [target, a, mask] = count(ops)?;
    let a = s.source(a, bits)?;
    let members = members(s, mask)?;
    if !all {
        return Ok(Op::Exchange(Exchange::MatchAny { d: s.dest_w(target)?, a, members }));
    }
    let w = |operand: &Operand| match operand {
        Operand::Sink => Ok(None),
        other => s.dest_w(other).map(Some),
    };
    let (d, p) = match target {
        Operand::Pair(d, p) => (w(d)?, Some(s.dest_p(p)?)),
        other => (w(other)?, None),
    };
    Ok(Op::Exchange(Exchange::MatchAll { d, p, a, members }))
}

/// `redux.sync`.
pub(super) fn redux(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync]);
    let word = m
        .one_of(&[
            (Word::Add, Word::Add),
            (Word::Min, Word::Min),
            (Word::Max, Word::Max),
            (Word::And, Word::And),
            (Word::Or, Word::Or),
            (Word::Xor, Word::Xor),
        ])
        .ok_or("an operation is missing")?;
    let abs = m.word(Word::AbsWord);
    let nan = m.word(Word::Nan);
    let ty = m.ty()?;
    let table = [
        (Word::Add, Type::U32, Redux::Add),
        (Word::Add, Type::S32, Redux::Add),
        (Word::Min, Type::U32, Redux::MinU),
        (Word::Min, Type::S32, Redux::MinS),
        (Word::Max, Type::U32, Redux::MaxU),
        (Word::Max, Type::S32, Redux::MaxS),
        (Word::And, Type::B32, Redux::And),
        (Word::Or, Type::B32, Redux::Or),
        (Word::Xor, Type::B32, Redux::Xor),
        (Word::Min, Type::F32, Redux::FMin { which: Extreme::Min, abs, nan }),
        (Word::Max, Type::F32, Redux::FMin { which: Extreme::Max, abs, nan }),
    ];
    let op = table.iter().find(|(w, t, _)| *w == word && *t == ty).map(|(.., op)| *op);
    let op = op.ok_or_else(|| format!("the operation is not for `.{}`", ty.text()))?;
    if (abs || nan) && ty != Type::F32 {
        return Err("`.abs` and `.NaN` are for `.f32`".to_owned());
    }
    let [d, a, mask] = count(ops)?;
    let a = s.w(a)?;
    let members = members(s, mask)?;
    Ok(Op::Exchange(Exchange::Redux { op, d: s.dest_w(d)?, a, members }))
}

/// `activemask`.
pub(super) fn activemask(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ty()?;
    let [d] = count(ops)?;
    Ok(Op::Activemask { d: s.dest_w(d)? })
}

/// `elect.sync`.
pub(super) fn elect(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync]);
    let [target, mask] = count(ops)?;
    let Operand::Pair(d, p) = target else {
        return Err("`d|p` is needed".to_owned());
    };
    let d = match &**d {
        Operand::Sink => None,
        other => Some(s.dest_w(other)?),
    };
    let p = s.dest_p(p)?;
    Ok(Op::Exchange(Exchange::Elect { d, p, members: members(s, mask)? }))
}

/// `setmaxnreg`.
pub(super) fn setmaxnreg(m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync, Word::Aligned]);
    m.ty()?;
    let change = m
        .one_of(&[(Word::Inc, RegisterChange::Take), (Word::Dec, RegisterChange::Release)])
        .ok_or("`.inc` or `.dec` is missing")?;
    let [count] = count(ops)?;
    let count = Scope::immediate(count)?;
    if !(24..=pool::MOST).contains(&count) || !count.is_multiple_of(8) {
        return Err(format!("{count} registers; multiples of 8 from 24 to 256 are possible"));
    }
    Ok(Op::Setmaxnreg { change, count })
}

/// Registers of a thread when an entry starts, where `setmaxnreg` counts.
pub(super) fn registers_at_entry(entry: &Function, code: &Code) -> Option<u32> {
    let counts = code.insts.iter().filter_map(|inst| match inst.op {
        Op::Setmaxnreg { count, .. } => Some(count),
        _ => None,
    });
    let largest = counts.max()?;
    let (mut max, mut threads, mut blocks) = (None, None, None);
    for directive in &entry.directives {
        match directive {
            Directive::MaxRegisters(count) => max = Some(*count),
            Directive::MinBlocks(count) => blocks = Some(*count),
            Directive::MaxThreads(extents) | Directive::RequiredThreads(extents) => {
                threads = Some(extents.iter().map(|n| (*n).max(1)).product());
            }
            _ => {}
        }
    }
    pool::at_entry(max, threads, blocks).map(|count| count.min(largest))
}

/// `ret`: of an entry, the end of the thread.
pub(super) fn ret(s: &Scope<'_>, m: &mut Modifiers, epilogue: u32) -> Op {
    m.ignore(&[Word::Uni]);
    if s.function.is_entry { Op::Exit } else { Op::Bra { target: epilogue } }
}

/// `nanosleep`.
pub(super) fn nanosleep(m: &mut Modifiers) -> Op {
    m.next_type();
    Op::Nanosleep
}

/// `pmevent`; `griddepcontrol`, since grids run one after the other.
pub(super) fn hint(m: &mut Modifiers) -> Op {
    m.ignore(&[Word::Wait, Word::LaunchDependents]);
    Op::Hint
}

/// `call`; the target is the callee's place in the entry's functions until all are decoded.
pub(super) fn call(
    s: &mut Scope<'_>,
    m: &mut Modifiers,
    ops: &[Operand],
    callees: &Callees<'_>,
) -> Decoded<Op> {
    m.ignore(&[Word::Uni]);
    let place = ops.iter().position(|o| matches!(o, Operand::Symbol(Symbol::Function(_), _)));
    let Some(place) = place else {
        return Err("calls through a register are not modelled".to_owned());
    };
    let Operand::Symbol(Symbol::Function(name), _) = &ops[place] else {
        return Err("a function is needed".to_owned());
    };
    let list = |operand: Option<&Operand>| match operand {
        Some(Operand::List(list)) => list.clone(),
        Some(_) | None => Vec::new(),
    };
    let results = if place > 0 { list(ops.first()) } else { Vec::new() };
    let arguments = list(ops.get(place + 1));
    let functions = callees.functions.iter();
    let index = functions
        .enumerate()
        .find(|(_, f)| callees.module.functions[**f].name == *name)
        .map(|(i, _)| i);
    let Some(index) = index else { return provided(s, name, &results, &arguments) };
    let callee = &callees.module.functions[callees.functions[index]];
    let (frame, slots) = (&callees.frames[index], &callees.slots[index]);
    if callee.params.len() != arguments.len() || callee.results.len() != results.len() {
        return Err(format!(
            "{} arguments and {} results, `{name}` has {} and {}",
            arguments.len(),
            results.len(),
            callee.params.len(),
            callee.results.len()
        ));
    }
    let mut call = Call {
        target: u32::try_from(index).map_err(|_| "too many functions")?,
        arguments: Box::default(),
        results: Box::default(),
        registers_in: Box::default(),
        registers_out: Box::default(),
    };
    let (mut copies, mut moves) = (Vec::new(), Vec::new());
    for (i, (param, argument)) in callee.params.iter().zip(&arguments).enumerate() {
        let bytes = param_size(param)?;
        match (param.space, param.register, argument) {
            (Space::Reg, Some(reg), argument) => {
                let from = s.source(argument, param.ty.bits())?;
                moves.push((from, slots[reg.0 as usize]));
            }
            (_, _, Operand::Symbol(Symbol::Local(v), _)) => {
                copies.push((s.frame.variables[*v as usize], frame.params[i], bytes));
            }
            (_, _, Operand::Symbol(Symbol::Param(v), _)) if !s.function.is_entry => {
                copies.push((s.frame.params[*v as usize], frame.params[i], bytes));
            }
            (_, _, other) => return Err(format!("{} as an argument", describe(other))),
        }
    }
    call.arguments = copies.into();
    call.registers_in = moves.into();
    let (mut copies, mut moves) = (Vec::new(), Vec::new());
    for (i, (result, target)) in callee.results.iter().zip(&results).enumerate() {
        let bytes = param_size(result)?;
        match (result.space, result.register, target) {
            (_, _, Operand::Sink) => {}
            (Space::Reg, Some(reg), target) => {
                moves.push((slots[reg.0 as usize], s.dest(target)?));
            }
            (_, _, Operand::Symbol(Symbol::Local(v), _)) => {
                copies.push((frame.results[i], s.frame.variables[*v as usize], bytes));
            }
            (_, _, other) => return Err(format!("{} as a result", describe(other))),
        }
    }
    call.results = copies.into();
    call.registers_out = moves.into();
    Ok(Op::Call(Box::new(call)))
}

fn param_size(param: &kernel_ptx::Param) -> Decoded<u32> {
    u32::try_from(super::layout::param_bytes(param)).map_err(|_| "a parameter of 4 GB".to_owned())
}

/// Calls of functions that the device provides.
fn provided(s: &Scope<'_>, name: &str, results: &[Operand], arguments: &[Operand]) -> Decoded<Op> {
    let spot = |operand: &Operand| match operand {
        Operand::Symbol(Symbol::Local(v), _) => {
            Ok(LocalSpot { offset: s.frame.variables[*v as usize] })
        }
        other => Err(format!("{} as an argument", describe(other))),
    };
    match (name, arguments) {
        ("vprintf", [format, arguments]) => {
            let result = match results {
                [] | [Operand::Sink] => None,
                [result] => Some(spot(result)?),
                _ => return Err("`vprintf` has one result".to_owned()),
            };
            Ok(Op::Vprintf { format: spot(format)?, arguments: spot(arguments)?, result })
        }
        ("__assertfail", [message, file, line, ..]) => {
            Ok(Op::AssertFail { message: spot(message)?, file: spot(file)?, line: spot(line)? })
        }
        _ => Err(format!("`{name}` has no body here, and the device provides no such function")),
    }
}

/// `clusterlaunchcontrol`, all forms.
pub(super) fn launch_control(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if m.word(Word::TryCancel) {
        m.ignore(&[Word::Async, Word::MbarrierCompleteTxBytes]);
        let all = m.word(Word::MulticastClusterAll);
        let place = m.space()?;
        m.ty()?;
        let [to, barrier] = count(ops)?;
        let (to, barrier) = (s.address(to, place)?, s.address(barrier, place)?);
        return Ok(Op::TryCancel(Box::new(TryCancel { to, barrier, all })));
    }
    m.ignore(&[Word::QueryCancel, Word::V4]);
    while m.next_type().is_some() {}
    let [d, a] = count(ops)?;
    let a = s.q(a)?;
    if m.word(Word::IsCanceled) {
        let d = s.dest_p(d)?;
        return Ok(Op::QueryCancel(Box::new(QueryCancel::IsCanceled { d, a })));
    }
    let mut first = [None; 3];
    let coordinates =
        [(Word::GetFirstCtaidX, 0), (Word::GetFirstCtaidY, 1), (Word::GetFirstCtaidZ, 2)];
    if let Some(i) = m.one_of(&coordinates) {
        first[i] = Some(s.dest_w(d)?);
    } else {
        m.ignore(&[Word::GetFirstCtaid]);
        // The fourth element is not defined: it is left as it was.
        for (first, d) in first.iter_mut().zip(super::matrix::list(d)) {
            if !matches!(d, Operand::Sink) {
                *first = Some(s.dest_w(d)?);
            }
        }
    }
    Ok(Op::QueryCancel(Box::new(QueryCancel::FirstBlock { d: first, a })))
}

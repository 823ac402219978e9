//! Branches, calls, and exchanges between lanes.

use kernel_ptx::{Directive, Function, Operand, Space, Symbol, Type, Word};

use super::operands::{Decoded, Modifiers, Scope, describe, parts};
use super::{Callees, count};
use crate::code::{
    Call, Code, Exchange, LocalSpot, Members, Op, QueryCancel, Redux, RegisterChange, Shfl,
    ShflMode, TryCancel, Vote, VoteResult, W,
};
use crate::machine::pool;
use crate::numeric::scalar::Extreme;

/// `bra`; the target is the number of a label until the function is complete.
pub(super) fn bra(mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Uni]);
    let [target] = count(ops)?;
    let Operand::Label(label) = target else {
        return Err(format!("{} where a label is needed", describe(target)));
    };
    Ok(Op::Bra { target: label.0 })
}

/// `brx.idx`.
pub(super) fn brx(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Idx, Word::Uni]);
    let [index, table] = count(ops)?;
    let Operand::BranchTargets(table) = table else {
        return Err(format!("{} where a branch table is needed", describe(table)));
    };
    let labels = &cx.function.branch_targets[*table as usize];
    let targets = labels.iter().map(|label| label.0).collect();
    Ok(Op::BrxIdx { index: cx.w(index)?, targets })
}

fn members(cx: &mut Scope<'_>, operand: &Operand) -> Decoded<W> {
    cx.w(operand)
}

/// `shfl.sync`.
pub(super) fn shfl(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if !mods.word(Word::Sync) {
        return Err("only `shfl.sync` exists on these targets".to_owned());
    }
    let mode = mods
        .one_of(&[
            (Word::Up, ShflMode::Up),
            (Word::Down, ShflMode::Down),
            (Word::Bfly, ShflMode::Bfly),
            (Word::Idx, ShflMode::Idx),
        ])
        .ok_or("a mode is missing")?;
    mods.ty()?;
    let [target, a, b, c, mask] = count(ops)?;
    let (d, in_range) = parts(target);
    let (d, in_range) = (cx.target_w(d)?, in_range.map_or(Ok(None), |p| cx.target_p(p))?);
    let (a, b, c) = (cx.w(a)?, cx.w(b)?, cx.w(c)?);
    let members = members(cx, mask)?;
    Ok(Op::Exchange(Exchange::Shfl(Box::new(Shfl { mode, d, p: in_range, a, b, c, members }))))
}

/// `vote.sync`.
pub(super) fn vote(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if !mods.word(Word::Sync) {
        return Err("only `vote.sync` exists on these targets".to_owned());
    }
    let op = mods
        .one_of(&[
            (Word::All, Vote::All),
            (Word::Any, Vote::Any),
            (Word::Uni, Vote::Uni),
            (Word::Ballot, Vote::Ballot),
        ])
        .ok_or("an operation is missing")?;
    mods.ty()?;
    let [d, a, mask] = count(ops)?;
    let d = if op == Vote::Ballot {
        VoteResult::W(cx.dest_w(d)?)
    } else {
        VoteResult::P(cx.dest_p(d)?)
    };
    let a = cx.pred(a)?;
    let members = Members::Mask(members(cx, mask)?);
    Ok(Op::Exchange(Exchange::Vote { op, d, a, members }))
}

/// `match.sync`.
pub(super) fn match_(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync]);
    let all = mods.one_of(&[(Word::All, true), (Word::Any, false)]).ok_or("`.all` or `.any`")?;
    let bits = mods.ty()?.bits();
    let [target, a, mask] = count(ops)?;
    let a = cx.source(a, bits)?;
    let members = members(cx, mask)?;
    if !all {
        return Ok(Op::Exchange(Exchange::MatchAny { d: cx.dest_w(target)?, a, members }));
    }
    let (d, p) = parts(target);
    let (d, p) = (cx.target_w(d)?, p.map(|p| cx.dest_p(p)).transpose()?);
    Ok(Op::Exchange(Exchange::MatchAll { d, p, a, members }))
}

/// `redux.sync`.
pub(super) fn redux(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync]);
    let word = mods
        .one_of(&[
            (Word::Add, Word::Add),
            (Word::Min, Word::Min),
            (Word::Max, Word::Max),
            (Word::And, Word::And),
            (Word::Or, Word::Or),
            (Word::Xor, Word::Xor),
        ])
        .ok_or("an operation is missing")?;
    let abs = mods.word(Word::AbsWord);
    let nan = mods.word(Word::Nan);
    let ty = mods.ty()?;
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
    let a = cx.w(a)?;
    let members = members(cx, mask)?;
    Ok(Op::Exchange(Exchange::Redux { op, d: cx.dest_w(d)?, a, members }))
}

/// `activemask`.
pub(super) fn activemask(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ty()?;
    let [d] = count(ops)?;
    Ok(Op::Activemask { d: cx.dest_w(d)? })
}

/// `elect.sync`.
pub(super) fn elect(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync]);
    let [target, mask] = count(ops)?;
    let Operand::Pair(d, p) = target else {
        return Err("`d|p` is needed".to_owned());
    };
    let (d, p) = (cx.target_w(d)?, cx.dest_p(p)?);
    Ok(Op::Exchange(Exchange::Elect { d, p, members: members(cx, mask)? }))
}

/// `setmaxnreg`.
pub(super) fn setmaxnreg(mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync, Word::Aligned]);
    mods.ty()?;
    let change = mods
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
    let counts = code.insts.iter().filter_map(|inst| {
        let Op::Setmaxnreg { count, .. } = inst.op else { return None };
        Some(count)
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
            Directive::RequiredCluster(_)
            | Directive::ExplicitCluster
            | Directive::MaxClusterRank(_)
            | Directive::BlocksAreClusters
            | Directive::Pragma(_)
            | Directive::NoReturn
            | Directive::Other(_) => {}
        }
    }
    pool::at_entry(max, threads, blocks).map(|count| count.min(largest))
}

/// `ret`: of an entry, the end of the thread.
pub(super) fn ret(cx: &Scope<'_>, mods: &mut Modifiers, epilogue: u32) -> Op {
    mods.ignore(&[Word::Uni]);
    if cx.function.is_entry { Op::Exit } else { Op::Bra { target: epilogue } }
}

/// `nanosleep`.
pub(super) fn nanosleep(mods: &mut Modifiers) -> Op {
    mods.next_type();
    Op::Nanosleep
}

/// `griddepcontrol`: grids run one after the other, and an early start says nothing of memory.
pub(super) fn grid(mods: &mut Modifiers) -> Op {
    mods.ignore(&[Word::LaunchDependents]);
    if mods.word(Word::Wait) { Op::GridWait } else { Op::Hint }
}

/// `call`; the target is the callee's place in the entry's functions until all are decoded.
pub(super) fn call(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    callees: &Callees<'_>,
) -> Decoded<Op> {
    mods.ignore(&[Word::Uni]);
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
    let Some(index) = index else { return provided(cx, name, &results, &arguments) };
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
                let from = cx.source(argument, param.ty.bits())?;
                moves.push((from, slots[reg.0 as usize]));
            }
            (_, _, Operand::Symbol(Symbol::Local(v), _)) => {
                copies.push((cx.frame.variables[*v as usize], frame.params[i], bytes));
            }
            (_, _, Operand::Symbol(Symbol::Param(v), _)) if !cx.function.is_entry => {
                copies.push((cx.frame.params[*v as usize], frame.params[i], bytes));
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
                moves.push((slots[reg.0 as usize], cx.dest(target)?));
            }
            (_, _, Operand::Symbol(Symbol::Local(v), _)) => {
                copies.push((frame.results[i], cx.frame.variables[*v as usize], bytes));
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
fn provided(cx: &Scope<'_>, name: &str, results: &[Operand], arguments: &[Operand]) -> Decoded<Op> {
    let spot = |operand: &Operand| {
        let Operand::Symbol(Symbol::Local(v), _) = operand else {
            return Err(format!("{} as an argument", describe(operand)));
        };
        Ok(LocalSpot { offset: cx.frame.variables[*v as usize] })
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
pub(super) fn launch_control(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
) -> Decoded<Op> {
    if mods.word(Word::TryCancel) {
        mods.ignore(&[Word::Async, Word::MbarrierCompleteTxBytes]);
        let all = mods.word(Word::MulticastClusterAll);
        let place = mods.space()?;
        mods.ty()?;
        let [to, barrier] = count(ops)?;
        let (to, barrier) = (cx.address(to, place)?, cx.address(barrier, place)?);
        return Ok(Op::TryCancel(Box::new(TryCancel { to, barrier, all })));
    }
    mods.ignore(&[Word::QueryCancel, Word::V4]);
    while mods.next_type().is_some() {}
    let [d, a] = count(ops)?;
    let a = cx.q(a)?;
    if mods.word(Word::IsCanceled) {
        let d = cx.dest_p(d)?;
        return Ok(Op::QueryCancel(Box::new(QueryCancel::IsCanceled { d, a })));
    }
    let mut first = [None; 3];
    let coordinates =
        [(Word::GetFirstCtaidX, 0), (Word::GetFirstCtaidY, 1), (Word::GetFirstCtaidZ, 2)];
    if let Some(i) = mods.one_of(&coordinates) {
        first[i] = Some(cx.dest_w(d)?);
    } else {
        mods.ignore(&[Word::GetFirstCtaid]);
        // The fourth element is not defined: it is left as it was.
        for (first, d) in first.iter_mut().zip(super::matrix::list(d)) {
            if !matches!(d, Operand::Sink) {
                *first = Some(cx.dest_w(d)?);
            }
        }
    }
    Ok(Op::QueryCancel(Box::new(QueryCancel::FirstBlock { d: first, a })))
}

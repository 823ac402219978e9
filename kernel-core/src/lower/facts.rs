//! What is known of values before any code is emitted: divisors, runs of consecutive integers, constants.
//!
//! A forward pass over the body. For each axis of a tile it keeps how long aligned runs are in which
//! values count up by one (contiguity) or stay equal (constancy), and a power of two that divides the
//! first value of each run. Pointers count in elements along a run, their divisor is in bytes.

use la_arena::ArenaMap;

use crate::ir::{Binary, Const, Elem, Fact, Kernel, Op, Region, StmtKind, Terminator, Type, Value};

mod arith;

/// The divisor of zero: larger than any alignment that matters.
const EVERYTHING: u64 = 1 << 40;

/// What is known along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AxisFacts {
    /// The length of aligned runs in which values count up by one.
    pub(super) contiguity: u64,
    /// A power of two that divides the first value of each such run.
    pub(super) divisor: u64,
    /// The length of aligned runs of equal values.
    pub(super) constancy: u64,
}

impl AxisFacts {
    const UNKNOWN: AxisFacts = AxisFacts { contiguity: 1, divisor: 1, constancy: 1 };

    /// A divisor of the values at positions that are multiples of `run`.
    fn at(self, run: u64) -> u64 {
        if self.contiguity > run { self.divisor.min(run) } else { self.divisor }
    }
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueFacts {
    /// The value itself, of a scalar or of every element.
    pub(super) constant: Option<i64>,
    /// A power of two that divides a scalar.
    pub(super) divisor: u64,
    /// Each axis of a tile.
    pub(super) axes: Vec<AxisFacts>,
}

impl ValueFacts {
    fn unknown(rank: usize) -> Self {
        ValueFacts { constant: None, divisor: 1, axes: vec![AxisFacts::UNKNOWN; rank] }
    }

    fn scalar(divisor: u64) -> Self {
        ValueFacts { constant: None, divisor, axes: Vec::new() }
    }

    fn meet(&self, other: &ValueFacts) -> ValueFacts {
        ValueFacts {
            constant: if self.constant == other.constant { self.constant } else { None },
            divisor: self.divisor.min(other.divisor),
            axes: self
                .axes
                .iter()
                .zip(&other.axes)
                .map(|(a, b)| {
                    let contiguity = a.contiguity.min(b.contiguity);
                    AxisFacts {
                        contiguity,
                        divisor: a.at(contiguity).min(b.at(contiguity)),
                        constancy: a.constancy.min(b.constancy),
                    }
                })
                .collect(),
        }
    }
}

/// The largest power of two that divides a number.
pub(super) fn power_of_two(value: i64) -> u64 {
    if value == 0 { EVERYTHING } else { (1 << value.trailing_zeros()).min(EVERYTHING) }
}

/// What a declared fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Pointer(u32),
    ExactStride(u32, u32),
    Stride(u32, u32),
    Dim(u32, u32),
    Scalar(u32),
}

impl Asked {
    /// What a fact is about, and the number it gives.
    fn of(fact: Fact) -> (Asked, i64) {
        match fact {
            Fact::PointerAligned { param, bytes } => (Asked::Pointer(param), i64::from(bytes)),
            Fact::StrideEquals { param, axis, value } => (Asked::ExactStride(param, axis), value),
            Fact::StrideMultiple { param, axis, of } => (Asked::Stride(param, axis), of),
            Fact::DimMultiple { param, axis, of } => (Asked::Dim(param, axis), of),
            Fact::ScalarMultiple { param, of } => (Asked::Scalar(param), of),
        }
    }
}

/// A counted loop, by its induction variable.
#[derive(Clone, Copy, Debug)]
struct Induction {
    from: Value,
    to: Value,
    step: Value,
}

/// The facts of a kernel.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    kernel: &'a Kernel,
    values: ArenaMap<Value, ValueFacts>,
    inductions: ArenaMap<Value, Induction>,
    dims: ArenaMap<Value, (u32, u32)>,
}

impl<'a> Facts<'a> {
    /// The facts of every value of a kernel.
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let mut facts = Facts {
            kernel,
            values: ArenaMap::new(),
            inductions: ArenaMap::new(),
            dims: ArenaMap::new(),
        };
        facts.region(&kernel.body, &mut Vec::new());
        facts
    }

    /// What is known of a value.
    pub(super) fn value(&self, value: Value) -> ValueFacts {
        self.values.get(value).cloned().unwrap_or_else(|| self.nothing(value))
    }

    /// A power of two that divides a scalar.
    pub(super) fn divisor(&self, value: Value) -> u64 {
        self.values.get(value).map_or(1, |facts| facts.divisor)
    }

    /// A power of two that divides the address of a parameter.
    pub(super) fn pointer(&self, param: u32) -> u64 {
        self.declared(Asked::Pointer(param))
    }

    /// A stride that is known exactly.
    pub(super) fn stride(&self, param: u32, axis: u32) -> Option<i64> {
        let mut known = self.kernel.facts.iter().map(|&fact| Asked::of(fact));
        known.find(|(asked, _)| *asked == Asked::ExactStride(param, axis)).map(|(_, value)| value)
    }

    /// A power of two that divides a stride.
    pub(super) fn stride_divisor(&self, param: u32, axis: u32) -> u64 {
        match self.stride(param, axis) {
            Some(stride) => power_of_two(stride),
            None => self.declared(Asked::Stride(param, axis)),
        }
    }

    /// A power of two that divides an extent.
    pub(super) fn dim_divisor(&self, param: u32, axis: u32) -> u64 {
        self.declared(Asked::Dim(param, axis))
    }

    fn declared(&self, wanted: Asked) -> u64 {
        let known = self.kernel.facts.iter().map(|&fact| Asked::of(fact));
        let divisors = known.filter(|(asked, _)| *asked == wanted).map(|(_, of)| power_of_two(of));
        divisors.max().unwrap_or(1)
    }

    /// Whether `offset .. offset + extent` lies inside axis `axis` of parameter `param` whatever happens: the
    /// offset counts from at least 0 up to that very extent, and everything is a multiple of `extent`.
    pub(super) fn inside(&self, offset: Value, extent: u32, param: u32, axis: u32) -> bool {
        let extent = u64::from(extent);
        let Some(&Induction { from, to, step }) = self.inductions.get(offset) else { return false };
        let constant = |value| self.values.get(value).and_then(|facts| facts.constant);
        constant(from).is_some_and(|from| from >= 0)
            && constant(step).is_some_and(|step| step > 0)
            && self.divisor(offset) >= extent
            && self.dims.get(to) == Some(&(param, axis))
            && self.dim_divisor(param, axis) >= extent
    }

    fn nothing(&self, value: Value) -> ValueFacts {
        match self.kernel.ty(value) {
            Type::Tile(_, shape) => ValueFacts::unknown(shape.len()),
            Type::Scalar(_) | Type::Shared(_) | Type::Error => ValueFacts::scalar(1),
        }
    }

    /// Walks a region; `loops` collects what is passed to each enclosing loop's next turn.
    fn region(&mut self, region: &Region, loops: &mut Vec<Vec<Option<ValueFacts>>>) {
        for stmt in &region.stmts {
            match &stmt.kind {
                StmtKind::Op { op, args, result: Some(result) } => {
                    let facts = self.op(op, args, *result);
                    self.values.insert(*result, facts);
                    if let Op::ParamDim(param, axis) = op {
                        self.dims.insert(*result, (*param, *axis));
                    }
                }
                StmtKind::If { then, otherwise, results, .. } => {
                    self.region(then, loops);
                    self.region(otherwise, loops);
                    let yields: Vec<&Vec<Value>> = [then, otherwise]
                        .into_iter()
                        .filter_map(|branch| match &branch.end {
                            Terminator::Yield(values) => Some(values),
                            Terminator::Return
                            | Terminator::Continue(..)
                            | Terminator::Break(..) => None,
                        })
                        .collect();
                    for (index, &result) in results.iter().enumerate() {
                        let met = yields
                            .iter()
                            .map(|values| self.value(values[index]))
                            .reduce(|a, b| a.meet(&b));
                        let facts = met.unwrap_or_else(|| self.nothing(result));
                        self.values.insert(result, facts);
                    }
                }
                StmtKind::For { from, to, step, inits, body, .. } => {
                    let induction = body.args[0];
                    self.inductions
                        .insert(induction, Induction { from: *from, to: *to, step: *step });
                    let divisor = self.divisor(*from).min(self.divisor(*step));
                    self.values.insert(induction, ValueFacts::scalar(divisor));
                    self.turns(inits, &body.args[1..], body, loops);
                }
                StmtKind::Loop { inits, body, .. } => self.turns(inits, &body.args, body, loops),
                StmtKind::Op { result: None, .. } | StmtKind::Reduce { .. } => {}
            }
        }
        if let Terminator::Continue(depth, values) = &region.end {
            let facts: Vec<ValueFacts> = values.iter().map(|&value| self.value(value)).collect();
            let place = loops.len() - 1 - *depth as usize;
            for (slot, facts) in loops[place].iter_mut().zip(facts) {
                *slot =
                    Some(slot.as_ref().map_or_else(|| facts.clone(), |before| before.meet(&facts)));
            }
        }
    }

    /// Walks the body of a loop until what its arguments are assumed to be holds at every turn.
    fn turns(
        &mut self,
        inits: &[Value],
        args: &[Value],
        body: &Region,
        loops: &mut Vec<Vec<Option<ValueFacts>>>,
    ) {
        let mut assumed: Vec<ValueFacts> = inits.iter().map(|&init| self.value(init)).collect();
        loop {
            for (&arg, facts) in args.iter().zip(&assumed) {
                self.values.insert(arg, facts.clone());
            }
            loops.push(vec![None; args.len()]);
            self.region(body, loops);
            let passed = loops.pop().expect("pushed above");
            let met: Vec<ValueFacts> = assumed
                .iter()
                .zip(passed)
                .map(|(assumed, passed)| {
                    passed.map_or_else(|| assumed.clone(), |passed| assumed.meet(&passed))
                })
                .collect();
            if met == assumed {
                return;
            }
            assumed = met;
        }
    }

    fn op(&self, op: &Op, args: &[Value], result: Value) -> ValueFacts {
        let ty = self.kernel.ty(result);
        let shape = ty.shape();
        let arg = |index: usize| self.value(args[index]);
        match op {
            Op::Const(Const::Int(value)) => {
                let constant = i64::try_from(*value).ok();
                ValueFacts { constant, divisor: constant.map_or(1, power_of_two), axes: Vec::new() }
            }
            Op::ParamPtr(param) => ValueFacts::scalar(self.pointer(*param)),
            Op::ParamDim(param, axis) => ValueFacts::scalar(self.dim_divisor(*param, *axis)),
            Op::ParamStride(param, axis) => ValueFacts {
                constant: self.stride(*param, *axis),
                ..ValueFacts::scalar(self.stride_divisor(*param, *axis))
            },
            Op::ParamScalar(param) => ValueFacts::scalar(self.declared(Asked::Scalar(*param))),
            Op::Arange(_) | Op::Splat | Op::Broadcast | Op::Expand(_) | Op::Permute(_) => {
                self.spread(op, args, shape)
            }
            Op::ToLayout(_) => arg(0),
            // Narrower types wrap inside a run.
            Op::Cast
                if ty.elem().is_some_and(wide_integer)
                    && self.kernel.ty(args[0]).elem().is_some_and(wide_integer) =>
            {
                arg(0)
            }
            Op::Binary(op) => self.binary(*op, args, result),
            Op::Compare(op) => arith::comparison(*op, &arg(0), &arg(1)),
            Op::Select => {
                let mask = arg(0);
                let mut met = arg(1).meet(&arg(2));
                for (axis, mask) in met.axes.iter_mut().zip(&mask.axes) {
                    let contiguity = axis.contiguity.min(mask.constancy);
                    *axis = AxisFacts {
                        contiguity,
                        divisor: axis.at(contiguity),
                        constancy: axis.constancy.min(mask.constancy),
                    };
                }
                met
            }
            Op::Unary(_) | Op::Fma => {
                // Equal operands give equal results.
                let constancies = args.iter().map(|&arg| self.value(arg).axes);
                let axes = constancies.reduce(|a, b| {
                    a.iter()
                        .zip(&b)
                        .map(|(a, b)| AxisFacts { constancy: a.constancy.min(b.constancy), ..*a })
                        .collect()
                });
                let axes = axes.unwrap_or_default();
                let axes = axes
                    .into_iter()
                    .map(|axis| AxisFacts { constancy: axis.constancy, ..AxisFacts::UNKNOWN });
                ValueFacts { constant: None, divisor: 1, axes: axes.collect() }
            }
            Op::Const(_)
            | Op::Cast
            | Op::BlockId(_)
            | Op::NumBlocks(_)
            | Op::Reshape
            | Op::LoadTensor(_)
            | Op::StoreTensor(_)
            | Op::LoadPtr { .. }
            | Op::StorePtr { .. }
            | Op::Atomic(_)
            | Op::SharedAlloc(_)
            | Op::SharedIndex
            | Op::SharedTranspose
            | Op::LoadShared
            | Op::StoreShared
            | Op::CopyAsync(_)
            | Op::CopyCommit
            | Op::CopyWait(_)
            | Op::CopyWaitAll
            | Op::Sync
            | Op::Dot { .. }
            | Op::Assert(_) => self.nothing(result),
        }
    }

    /// Operations that say which element stands where.
    fn spread(&self, op: &Op, args: &[Value], shape: &[u32]) -> ValueFacts {
        if let Op::Arange(low) = op {
            let divisor = power_of_two(i64::from(*low));
            let axis = AxisFacts { contiguity: u64::from(shape[0]), divisor, constancy: 1 };
            return ValueFacts { constant: None, divisor: 1, axes: vec![axis] };
        }
        let mut source = self.value(args[0]);
        if let Op::Expand(place) = op {
            let divisor = source.axes.iter().map(|axis| axis.at(1)).min().unwrap_or(source.divisor);
            source.axes.insert(*place as usize, AxisFacts { contiguity: 1, divisor, constancy: 1 });
        } else if let Op::Permute(order) = op {
            source.axes = order.iter().map(|&axis| source.axes[axis as usize]).collect();
        } else if *op == Op::Splat {
            let equal = |&extent: &u32| AxisFacts {
                contiguity: 1,
                divisor: source.divisor,
                constancy: u64::from(extent),
            };
            source.axes = shape.iter().map(equal).collect();
        } else {
            let before = self.kernel.ty(args[0]).shape();
            for (axis, (&before, &after)) in source.axes.iter_mut().zip(before.iter().zip(shape)) {
                if before != after {
                    *axis = AxisFacts {
                        contiguity: 1,
                        divisor: axis.at(1),
                        constancy: u64::from(after),
                    };
                }
            }
        }
        source
    }

    fn binary(&self, op: Binary, args: &[Value], result: Value) -> ValueFacts {
        let bytes = |value: Value| match self.kernel.ty(value).elem() {
            Some(Elem::Ptr(dtype)) => Some(u64::from(dtype.bytes())),
            Some(Elem::Number(_)) | None => None,
        };
        let unit = bytes(result);
        if unit.is_none() && args.iter().any(|&arg| bytes(arg).is_some()) {
            return self.nothing(result);
        }
        // Distances are in elements; a pointer's divisor is in bytes.
        let [a, b] = [args[0], args[1]].map(|arg| arith::Operand {
            facts: self.value(arg),
            scale: unit.filter(|_| bytes(arg).is_none()).unwrap_or(1),
        });
        arith::binary(op, &a, &b, unit.unwrap_or(1))
    }
}

fn wide_integer(elem: Elem) -> bool {
    match elem {
        Elem::Number(dtype) => dtype.is_int() && dtype.bytes() >= 4,
        Elem::Ptr(_) => false,
    }
}

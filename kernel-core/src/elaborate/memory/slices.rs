//! Slices of tensors: `tensor.slice([first..end, 0..n])`.

use std::{collections::BTreeSet, rc::Rc};

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{RangeVal, SliceVal, Val},
        signatures::Given,
    },
    ir::{
        Binary, BoundedAxes, Const, Corner, Dtype, Elem, ElementwiseOp, Op, SourceOp, StmtKind,
        Tma, Type, Value,
    },
    loc::Loc,
    syntax::{Expr, ExprKind},
};

/// Whether a bound is known to be zero.
fn is_zero(val: &Val) -> bool {
    matches!(val, Val::Const(Const::Int(0), _))
}

/// How the range of an axis is written, if it is written alone.
pub(crate) fn range_of(ranges: &Expr, axis: usize) -> Option<&Expr> {
    if let ExprKind::Array(parts) | ExprKind::Tuple(parts) = &ranges.kind {
        parts.get(axis)
    } else {
        (axis == 0).then_some(ranges)
    }
}

/// Where the ends of the range of an axis are written; the range where they are not.
pub(crate) fn ends_at(ranges: &Expr, axis: usize, range: Loc) -> [Loc; 2] {
    let one = if let ExprKind::Array(parts) | ExprKind::Tuple(parts) = &ranges.kind {
        parts.get(axis)
    } else {
        Some(ranges)
    };
    let Some(Expr { kind: ExprKind::Range(from, to), .. }) = one else { return [range; 2] };
    [from, to].map(|end| end.as_ref().map_or(range, |end| end.loc))
}

impl Builder<'_> {
    /// `tensor.slice(ranges)`
    pub(crate) fn tensor_slice(&mut self, given: &Given<'_>) -> Option<Val> {
        let param = given.tensor();
        let rank = self.params[param as usize].kind.rank() as usize;
        let parts = if let Val::Array(parts) | Val::Tuple(parts) = given.val(0) {
            parts.to_vec()
        } else {
            vec![given.val(0).clone()]
        };
        let one = matches!(given.val(0), Val::Range(_));
        if parts.len() != rank {
            let place = self.params[param as usize].loc;
            return self.refuse(
                Code::Axis
                    .at(given.at(0), "a slice has one range for each axis of its tensor")
                    .compare("ranges", rank, parts.len())
                    .place(place, "the tensor"),
            );
        }
        let (mut first, mut end) = (Vec::new(), Vec::new());
        for (axis, part) in (0u32..).zip(&parts) {
            let loc = if one { given.at(0) } else { given.args[0].part(axis as usize) };
            let range = self.slice_range(part, range_of(&given.args[0], axis as usize), loc)?;
            let places = ends_at(&given.args[0], axis as usize, loc);
            let [low, high] = self.slice_of_axis(&range, axis, given, places)?;
            first.push(low);
            end.push(high);
        }
        first.extend(end);
        Some(Val::Slice(Rc::new(SliceVal { param, bounds: first })))
    }

    /// The range of an axis.
    pub(crate) fn slice_range(
        &mut self,
        part: &Val,
        expr: Option<&Expr>,
        loc: Loc,
    ) -> Option<Rc<RangeVal>> {
        let plain = |range: &RangeVal| {
            !range.unroll
                && range.stages.is_none()
                && matches!(range.step, Val::Const(Const::Int(1), _))
        };
        if let Val::Range(range) = part
            && plain(range)
        {
            return Some(range.clone());
        }
        if part.is_absent() {
            return None;
        }
        let number = if let Val::Value(value) = part {
            matches!(self.ty(*value), Type::Scalar(Elem::Number(_)))
        } else {
            matches!(part, Val::Const(..))
        };
        let why = "a slice keeps the rank of its tensor: one position is a range of one";
        let text = expr.and_then(Expr::operand_text).or_else(|| self.written(part));
        let help = text.filter(|_| number).map(|at| match at.parse::<i128>() {
            Ok(known) => format!("{at}..{}", known + 1),
            Err(_) => format!("{at}..{at} + 1"),
        });
        let actual = if let Val::Range(_) = part {
            "a range with options".to_owned()
        } else {
            self.describe(part)
        };
        self.refuse(
            Code::Kind
                .at(loc, "the bounds of a slice are ranges of positions")
                .compare("", "a range such as `a..b`, or `..` for the whole axis", actual)
                .advised(if number { why } else { "" }, "")
                .help_if(help),
        )
    }

    /// Where a slice begins and ends on an axis of its tensor, which may be a slice itself: it is within that, and not turned round.
    fn slice_of_axis(
        &mut self,
        range: &RangeVal,
        axis: u32,
        given: &Given<'_>,
        places: [Loc; 2],
    ) -> Option<[Val; 2]> {
        let loc = given.loc;
        let bound = |builder: &mut Self, val: &Val, at: Loc| {
            if matches!(val, Val::Unit) {
                return Some(None);
            }
            builder.scalar_i32(val, "the bounds of a slice are `i32`", at)?;
            Some(Some(builder.plain(val.clone())))
        };
        let from = bound(self, &range.from, places[0])?;
        let to = bound(self, &range.to, places[1])?;
        let from = from.filter(|from| !is_zero(from));
        let extent = self.dim(axis, given);
        let (zero, least, most) = (Val::i32(0), Binary::Min, Binary::Max);
        let first = match &from {
            None => zero,
            Some(from) => {
                let from = self.binary(least, from, &extent, loc);
                self.binary(most, &from, &zero, loc)
            }
        };
        let end = match &to {
            None => extent,
            Some(to) if self.is_extent(to, axis, given) => extent,
            Some(to) => {
                let to = self.binary(least, to, &extent, loc);
                self.binary(most, &to, &first, loc)
            }
        };
        let Val::Slice(outer) = &given.of else { return Some([first, end]) };
        let origin = outer.bounds_of(axis as usize)[0];
        Some([first, end].map(|bound| self.within(origin, &bound, loc)))
    }

    /// Whether a value is the extent of this very axis.
    fn is_extent(&self, val: &Val, axis: u32, given: &Given<'_>) -> bool {
        let (Val::Value(value), Val::Tensor(param)) = (val, &given.of) else { return false };
        let dim = Op::Source(SourceOp::ParamDim(*param, axis));
        let stmts = self.regions.iter().flat_map(|region| &region.stmts);
        stmts.into_iter().any(|stmt| {
            matches!(&stmt.kind, StmtKind::Op { op, result: Some(result), .. }
                if result == value && *op == dim)
        })
    }

    /// A position that counts from `origin`, as one that counts from the origin of the tensor.
    fn within(&mut self, origin: &Val, at: &Val, loc: Loc) -> Val {
        if is_zero(origin) {
            return at.clone();
        }
        if is_zero(at) { origin.clone() } else { self.binary(Binary::Add, origin, at, loc) }
    }

    /// The positions of a window of a slice.
    pub(crate) fn corner_in_slice(
        &mut self,
        slice: &SliceVal,
        at: &[Val],
        loc: Loc,
    ) -> Option<Vec<Val>> {
        let mut positions = Vec::new();
        for (axis, at) in at.iter().enumerate() {
            let [first, _] = slice.bounds_of(axis);
            positions.push(self.within(first, at, loc));
        }
        positions.extend(slice.bounds.iter().cloned());
        let values = positions.iter().map(|position| Some(Val::Value(self.value(position, loc)?)));
        values.collect()
    }

    /// `tensor.dim(axis)`
    pub(crate) fn dim(&mut self, axis: u32, given: &Given<'_>) -> Val {
        let Val::Slice(slice) = &given.of else {
            let dim = SourceOp::ParamDim(given.tensor(), axis);
            return self.number_of(dim, Vec::new(), Dtype::I32, given);
        };
        let [first, end] = slice.bounds_of(axis as usize);
        if is_zero(first) { end.clone() } else { self.binary(Binary::Sub, end, first, given.loc) }
    }

    /// `tensor.ptr()`
    pub(crate) fn origin(&mut self, given: &Given<'_>) -> Val {
        let (param, loc) = (given.tensor(), given.loc);
        if self.params[param as usize].points_to.is_some() {
            return self.report(
                Code::DtypeRefused
                    .at(loc, "a tensor of pointers has no address in a kernel")
                    .why("a pointer points to numbers; pointers are loaded and stored as tiles, by windows of their tensor")
                    .help(format!("{}.load()", self.window_of(param)))
                    .exemplified(),
            );
        }
        self.origin_by(SourceOp::ParamPtr(param), given)
    }

    /// The address of the element at the origin of a tensor or of a slice, from that of the tensor's first element.
    pub(super) fn origin_by(&mut self, first: SourceOp, given: &Given<'_>) -> Val {
        let (param, loc) = (given.tensor(), given.loc);
        let ty = Type::Scalar(Elem::Ptr(self.params[param as usize].kind.dtype()));
        let start = self.emit(first, Vec::new(), ty, loc);
        let Val::Slice(slice) = &given.of else { return Val::Value(start) };
        let mut address = Val::Value(start);
        for axis in 0..self.params[param as usize].kind.rank() {
            let [first, _] = slice.bounds_of(axis as usize);
            if is_zero(first) {
                continue;
            }
            let Some(first) = self.value(first, loc) else { return Val::Error };
            let wide = Type::scalar(Dtype::I64);
            let first = self.emit(Op::Elementwise(ElementwiseOp::Cast), vec![first], wide, loc);
            let stride = SourceOp::ParamStride(param, axis);
            let stride = self.number_of(stride, Vec::new(), Dtype::I64, given);
            let distance = self.binary(Binary::Mul, &Val::Value(first), &stride, loc);
            address = self.binary(Binary::Add, &address, &distance, loc);
        }
        address
    }

    /// A TMA copy at `positions`, see [`Corner`], and its operands: it has bounds of the axes of which the slice is a part.
    pub(crate) fn bounded_copy(
        &mut self,
        tma: Tma,
        positions: &[Value],
        loc: Loc,
    ) -> Option<(Tma, Vec<Value>)> {
        let rank = self.params[tma.param as usize].kind.rank() as usize;
        let Corner { at, slice } = Corner::of(positions, rank);
        let (mut axes, mut operands) = (BoundedAxes::default(), at.to_vec());
        for (axis, (&first, &end)) in
            slice.iter().flat_map(|[from, to]| from.iter().zip(*to)).enumerate()
        {
            let bounded = axes.with(axis);
            if bounded != axes && !self.is_all_of(tma.param, axis, [first, end]) {
                axes = bounded;
                operands.extend([first, end]);
            }
        }
        if !axes.is_empty() && !self.params[tma.param as usize].map.filter.is_empty() {
            let name = &self.params[tma.param as usize].name;
            let actual = format!("a slice of `{name}`");
            return self.refuse(
                Code::CopyOperands
                    .at(loc, "a copy by the places of a filter is not bounded by a slice")
                    .compare("", format!("a block of `{name}` itself"), actual)
                    .why("the hardware finds the places by the extents in the tensor map (CUDA driver API, `cuTensorMapEncodeIm2col`)"),
            );
        }
        Some((tma.in_slice(axes), operands))
    }

    /// Whether the positions are the ends of an axis of a tensor.
    fn is_all_of(&self, param: u32, axis: usize, [first, end]: [Value; 2]) -> bool {
        let axis = u32::try_from(axis).expect("a tensor has few axes");
        self.is_made_by(first, &Op::from(Const::Int(0)))
            && self.is_made_by(end, &SourceOp::ParamDim(param, axis).into())
    }

    /// Whether an operation gives a value, on both sides of each branch that passes it on.
    fn is_made_by(&self, value: Value, required: &Op) -> bool {
        let (mut pending, mut seen) = (vec![value], BTreeSet::from([value]));
        while let Some(value) = pending.pop() {
            let mut made = false;
            for region in &self.regions {
                region.each_stmt(&mut |stmt| match &stmt.kind {
                    StmtKind::Op { op, result, .. } if *result == Some(value) => {
                        made = op == required;
                    }
                    StmtKind::If { then, otherwise, results, .. } => {
                        let place = results.iter().position(|result| *result == value);
                        let Some(place) = place else { return };
                        made = true;
                        for side in [then, otherwise] {
                            let given = side.end.values().get(place).copied();
                            pending.extend(given.filter(|given| seen.insert(*given)));
                        }
                    }
                    StmtKind::Op { .. }
                    | StmtKind::Reduce { .. }
                    | StmtKind::Scan { .. }
                    | StmtKind::For { .. }
                    | StmtKind::Loop { .. }
                    | StmtKind::Ptx { .. }
                    | StmtKind::Specialize { .. } => {}
                });
            }
            if !made {
                return false;
            }
        }
        true
    }

    /// Reports a gather or a scatter of rows of a slice.
    pub(crate) fn no_rows_of_slice<R>(&mut self, param: u32, loc: Loc) -> Option<R> {
        let name = &self.params[param as usize].name;
        let actual = format!("a slice of `{name}`");
        self.refuse(
            Code::CopyOperands
                .at(loc, "a copy of rows by their numbers is not bounded by a slice")
                .compare("", format!("`{name}` itself"), actual)
                .why("an instruction moves four rows of a tensor map of two dimensions (PTX ISA, \"cp.async.bulk.tensor\": .tile::gather4, .tile::scatter4), and a bound takes another one"),
        )
    }
}

//! The end of elaboration: open types are settled, dead values are dropped.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::targets::oldest_with,
        tiles::{arith, bits},
        written::{Names, Written},
    },
    ir::{
        BarrierOp, Const, Dtype, Elem, ElementwiseOp, Fact, Kernel, Op, Region, SourceOp, StmtKind,
        SyncOp, TensorMemoryOp, Type, Unary, Value, WindowOp,
    },
    loc::Loc,
};

/// Gives allocations the names of what held them first.
fn name_memory(kernel: &mut Kernel, written: &Written) {
    let Kernel { body, shared, barriers, tensor_memory, .. } = kernel;
    body.each_op(&mut |op, _, result, _| {
        let Some(name) = result.and_then(|result| written.name(result)) else { return };
        if let Op::Window(WindowOp::Alloc(root)) = op {
            shared[*root].name = Some(name);
        } else if let Op::Sync(SyncOp::Barrier(BarrierOp::Alloc(root))) = op {
            barriers[*root].name = Some(name);
        } else if let Op::TensorMemory(TensorMemoryOp::Alloc(root)) = op {
            tensor_memory[*root].name = Some(name);
        }
    });
}

impl Builder<'_> {
    /// The finished kernel.
    pub(crate) fn finish(&mut self, name: String, facts: Vec<Fact>) -> Option<Kernel> {
        let mut body = self.regions.pop()?;
        let roots: Vec<_> = self.shared.iter().map(|(root, _)| root).collect();
        for root in roots {
            if let Some(num) = self.shared_cells.get(root) {
                self.shared[root].dtype = self.cells.settled(*num);
            }
        }
        for (root, data) in self.tensor_memory.iter_mut() {
            if let Some(num) = self.tensor_memory_cells.get(root) {
                data.dtype = self.cells.settled(*num);
            }
        }
        let values: Vec<Value> = self.values.iter().map(|(value, _)| value).collect();
        for value in values {
            if let Some(num) = self.value_cells.get(value).copied() {
                let dtype = self.cells.settled(num);
                let data = &mut self.values[value];
                data.ty = data.ty.with_elem(match data.ty.elem() {
                    Some(Elem::Ptr(_)) => Elem::Ptr(dtype),
                    _ => Elem::Number(dtype),
                });
            }
            if let Type::Shared(shared) = &self.values[value].ty {
                let dtype = self.shared[shared.root].dtype;
                if shared.dtype != dtype
                    && !shared.is_retyped()
                    && let Type::Shared(shared) = &mut self.values[value].ty
                {
                    shared.dtype = dtype;
                }
            }
            if let Type::TensorMemory(window) = &mut self.values[value].ty {
                window.dtype = self.tensor_memory[window.root].dtype;
            }
        }
        self.pin_unheld();
        self.settle_region(&mut body);
        crate::ir::stage(&mut body, &mut self.values);
        let mut kept = Vec::new();
        crate::ir::renumber(&mut body, &mut kept);
        let kept = kept.into_iter().map(|number| self.reports[number as usize].clone());
        let reports = kept.collect();
        let mut kernel = Kernel {
            name,
            warps: self.warps,
            target: self.target,
            params: std::mem::take(&mut self.params),
            facts,
            shared: std::mem::take(&mut self.shared),
            barriers: std::mem::take(&mut self.barriers),
            tensor_memory: std::mem::take(&mut self.tensor_memory),
            named: std::mem::take(&mut self.named),
            cluster: self.cluster,
            operands: std::mem::take(&mut self.operands),
            values: std::mem::take(&mut self.values),
            reports,
            body,
        };
        self.written.certain = self.scopes.doubt.allows_reports();
        self.written.awaits = self.awaits;
        if !self.scopes.pending && self.scopes.doubt.is_met() {
            self.written.names = Names::SomeLeftOut;
        }
        self.written.tainted = self.tainted;
        self.written.holders = self.scopes.take_holders();
        name_memory(&mut kernel, &self.written);
        Some(kernel)
    }

    /// Constants take the form of their settled type, and must be in its range.
    fn settle_region(&mut self, region: &mut Region) {
        for stmt in &mut region.stmts {
            if let StmtKind::Op { op, args, result } = &mut stmt.kind {
                self.settle_op(op, args, *result, stmt.loc);
            } else if let StmtKind::Reduce { combine, .. } | StmtKind::Scan { combine, .. } =
                &mut stmt.kind
            {
                self.settle_region(combine);
            }
            stmt.kind.regions_mut().into_iter().for_each(|inner| self.settle_region(inner));
        }
    }

    fn settle_op(&mut self, op: &mut Op, args: &[Value], result: Option<Value>, loc: Loc) {
        match (op, result) {
            (Op::Source(SourceOp::Const(value)), Some(result)) => {
                self.settle_constant(value, result, loc);
            }
            (Op::Elementwise(ElementwiseOp::Cast), Some(result)) => {
                let ends = [args[0], result];
                if let Some(dtype) = self.opaque(&ends) {
                    let names = ends.map(|value| format!("`{}`", self.dtype_name(value)));
                    self.report(arith::no_conversion(&names, dtype, loc));
                } else if !self.target.has(Capability::Float8) && self.float8(&ends).is_some() {
                    self.no_float8_conversion(ends, loc);
                }
            }
            (Op::Elementwise(ElementwiseOp::Bitcast), Some(result)) => {
                let ends = [args[0], result].map(|value| self.values[value].ty.elem());
                if let [Some(Elem::Number(from)), Some(Elem::Number(to))] = ends
                    && !from.has_bits_of(to)
                {
                    self.report(bits::no_bitcast(from, to, loc));
                }
            }
            (
                Op::Elementwise(
                    op @ (ElementwiseOp::Unary(_)
                    | ElementwiseOp::Binary(_)
                    | ElementwiseOp::Compare(_)
                    | ElementwiseOp::FunnelShift(_)
                    | ElementwiseOp::Fma),
                ),
                Some(result),
            ) => {
                // The literals that these are of became something without arithmetic, or `f64`, later.
                if let Some(dtype) = self.unreckoned(args) {
                    self.report(arith::no_arithmetic("arithmetic", dtype, "", loc));
                } else if let ElementwiseOp::Unary(Unary::Transcendental(function)) = op
                    && function.approximated().is_some()
                    && self.values[result].ty.elem() == Some(Elem::Number(Dtype::F64))
                {
                    self.no_double::<()>(*function, None, loc);
                }
            }
            _ => {}
        }
    }

    fn settle_constant(&mut self, value: &mut Const, result: Value, loc: Loc) {
        let Some(Elem::Number(dtype)) = self.values[result].ty.elem() else { return };
        match *value {
            Const::Int(int) if dtype.is_float() => {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "only the zero of `zeros` comes here"
                )]
                let float = int as f64;
                *value = Const::Float(float);
            }
            Const::Int(int) if !arith::fits(int, dtype) => {
                let headline = format!("{int} does not fit `{}`", dtype.name());
                self.report(Diagnostic::new(Code::Overflow, loc, headline).compare(
                    "",
                    arith::range_text(dtype),
                    int,
                ));
            }
            Const::Float(float) => *value = Const::Float(arith::round_float(float, dtype)),
            Const::Bool(known) if dtype != Dtype::Bool => *value = Const::Int(i128::from(known)),
            Const::Int(_) | Const::Bool(_) => {}
        }
    }

    /// The FP8 format that one of these values is of.
    fn float8(&self, values: &[Value]) -> Option<Dtype> {
        values.iter().find_map(|value| match self.values[*value].ty.elem() {
            Some(Elem::Number(dtype)) if dtype.is_float8() => Some(dtype),
            Some(Elem::Number(_) | Elem::Ptr(_)) | None => None,
        })
    }

    /// What tensor cores alone read, of the types of these values.
    fn opaque(&self, values: &[Value]) -> Option<Dtype> {
        values.iter().find_map(|value| match self.values[*value].ty.elem() {
            Some(Elem::Number(dtype)) if dtype.is_opaque() => Some(dtype),
            Some(Elem::Number(_) | Elem::Ptr(_)) | None => None,
        })
    }

    /// What has no arithmetic, of the types of these values.
    fn unreckoned(&self, values: &[Value]) -> Option<Dtype> {
        self.float8(values).or_else(|| self.opaque(values))
    }

    /// The element type of a value that is converted, or the result of it.
    fn dtype_name(&self, value: Value) -> &'static str {
        match self.values[value].ty.elem() {
            Some(Elem::Number(dtype)) => dtype.name(),
            Some(Elem::Ptr(_)) | None => unreachable!("a conversion is one of numbers"),
        }
    }

    /// Reports a conversion that the target has no instruction for.
    fn no_float8_conversion(&mut self, values: [Value; 2], loc: Loc) {
        let [from, to] = values.map(|value| self.dtype_name(value));
        let headline = format!("`{}` does not convert `{from}` to `{to}`", self.target);
        self.report(
            self.lacks(Capability::Float8, headline, loc)
                .why("the instructions that convert FP8 numbers exist from sm_89 on (PTX ISA, \"cvt\"); older targets can only load and store FP8")
                .help(oldest_with(Capability::Float8)),
        );
    }
}

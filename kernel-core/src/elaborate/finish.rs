//! The end of elaboration: open types are settled, dead values stay behind.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::targets::oldest_with},
    ir::{
        Const, Dtype, Elem, ElementwiseOp, Fact, Kernel, Op, Region, SourceOp, StmtKind, Type,
        Value,
    },
    loc::Loc,
};

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
        let kernel = Kernel {
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
            body,
        };
        self.written.certain = self.scopes.doubt.allows_reports();
        self.written.awaits = self.awaits;
        self.written.tainted = self.tainted;
        self.written.holders = self.scopes.take_holders();
        Some(kernel)
    }

    /// Constants take the form of their settled type, and must be in its range.
    fn settle_region(&mut self, region: &mut Region) {
        for stmt in &mut region.stmts {
            let loc = stmt.loc;
            match &mut stmt.kind {
                StmtKind::Op {
                    op: Op::Source(SourceOp::Const(value)),
                    result: Some(result),
                    ..
                } => {
                    let Some(Elem::Number(dtype)) = self.values[*result].ty.elem() else {
                        continue;
                    };
                    match (&*value, dtype) {
                        (Const::Int(int), dtype) if dtype.is_float() => {
                            #[expect(
                                clippy::cast_precision_loss,
                                reason = "only the zero of `zeros` comes here"
                            )]
                            let float = *int as f64;
                            *value = Const::Float(float);
                        }
                        (Const::Int(int), dtype)
                            if !crate::elaborate::tiles::arith::fits(*int, dtype) =>
                        {
                            let int = *int;
                            self.report(
                                Diagnostic::new(
                                    Code::Overflow,
                                    loc,
                                    format!("{int} does not fit `{}`", dtype.name()),
                                )
                                .compare(
                                    "",
                                    crate::elaborate::tiles::arith::range_text(dtype),
                                    int.to_string(),
                                ),
                            );
                        }
                        (Const::Float(float), dtype) => {
                            *value = Const::Float(crate::elaborate::tiles::arith::round_float(
                                *float, dtype,
                            ));
                        }
                        _ => {}
                    }
                    if let (Const::Bool(known), false) = (&*value, dtype == Dtype::Bool) {
                        *value = Const::Int(i128::from(*known));
                    }
                }
                // The literals, or zeros, that these are of became something without arithmetic later.
                StmtKind::Op {
                    op:
                        Op::Elementwise(
                            ElementwiseOp::Unary(_)
                            | ElementwiseOp::Binary(_)
                            | ElementwiseOp::Compare(_)
                            | ElementwiseOp::Fma,
                        ),
                    args,
                    ..
                } if self.unreckoned(args).is_some() => {
                    let dtype = self.unreckoned(args).expect("just tested");
                    self.report(crate::elaborate::tiles::arith::no_arithmetic(
                        "arithmetic",
                        dtype,
                        "",
                        loc,
                    ));
                }
                StmtKind::Op {
                    op: Op::Elementwise(ElementwiseOp::Cast),
                    args,
                    result: Some(result),
                } if self.opaque(&[args[0], *result]).is_some() => {
                    let dtype = self.opaque(&[args[0], *result]).expect("just tested");
                    let names =
                        [args[0], *result].map(|value| format!("`{}`", self.dtype_name(value)));
                    self.report(crate::elaborate::tiles::arith::no_conversion(&names, dtype, loc));
                }
                StmtKind::Op {
                    op: Op::Elementwise(ElementwiseOp::Cast),
                    args,
                    result: Some(result),
                } if !self.target.has(Capability::Float8)
                    && self.float8(&[args[0], *result]).is_some() =>
                {
                    self.no_float8_conversion([args[0], *result], loc);
                }
                // The literals that it is of became `f64` later.
                StmtKind::Op {
                    op: Op::Elementwise(ElementwiseOp::Unary(op)),
                    result: Some(result),
                    ..
                } if op.is_approximate()
                    && self.values[*result].ty.elem() == Some(Elem::Number(Dtype::F64)) =>
                {
                    self.no_double::<()>(*op, loc);
                }
                StmtKind::Op { .. } | StmtKind::Ptx { .. } => {}
                StmtKind::If { then, otherwise, .. } => {
                    self.settle_region(then);
                    self.settle_region(otherwise);
                }
                StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                    stmt.kind.regions_mut().into_iter().for_each(|body| self.settle_region(body));
                }
                StmtKind::Reduce { combine, .. } | StmtKind::Scan { combine, .. } => {
                    self.settle_region(combine);
                }
            }
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
                .why("the instructions that convert FP8 numbers come with sm_89 (PTX ISA, \"cvt\"); before, these are stored and moved only")
                .help(oldest_with(Capability::Float8)),
        );
    }
}

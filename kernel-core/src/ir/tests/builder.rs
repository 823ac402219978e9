//! Kernels written by hand, for tests.

use kernel_ptx::Target;
use la_arena::Arena;

use crate::ir::{
    Binary, Const, Copied, CopyOp, Dtype, Elem, ElementwiseOp, Evict, Extents, Fact, Factors,
    Kernel, MapOptions, MemoryOp, Op, Param, ParamKind, Partition, ProductOp, Region, Shared,
    SharedData, SharedType, SourceOp, Stmt, StmtKind, Terminator, TileOp, Type, Value, ValueData,
    WindowOp, verify,
};
use crate::loc::Loc;

/// What a partition runs.
pub(crate) type Part = Box<dyn FnOnce(&mut Builder)>;

/// A kernel under construction. Statements go to the innermost region that is open.
pub(crate) struct Builder {
    kernel: Kernel,
    open: Vec<Region>,
}

impl Builder {
    pub(crate) fn new(name: &str, warps: u32) -> Builder {
        let kernel = Kernel {
            name: name.to_owned(),
            warps,
            target: Target::SM_80,
            params: Vec::new(),
            facts: Vec::new(),
            barriers: Arena::new(),
            tensor_memory: Arena::new(),
            named: Arena::new(),
            reports: Vec::new(),
            cluster: [1; 3],
            shared: Arena::new(),
            operands: std::collections::BTreeMap::new(),
            values: Arena::new(),
            body: Region::default(),
        };
        Builder { kernel, open: vec![Region::default()] }
    }

    fn param(&mut self, name: &str, kind: ParamKind) -> u32 {
        self.kernel.params.push(Param {
            absent: false,
            points_to: None,
            name: name.to_owned(),
            kind,
            block: None,
            map: MapOptions::default(),
            loc: Loc::KERNEL,
        });
        u32::try_from(self.kernel.params.len() - 1).expect("few parameters")
    }

    /// A tensor without any facts.
    pub(crate) fn plain_tensor(&mut self, name: &str, dtype: Dtype, rank: u32) -> u32 {
        self.param(name, ParamKind::Tensor { dtype, rank, mutable: true })
    }

    /// A row-major tensor whose rows are multiples of 16 elements, aligned to 16 bytes.
    pub(crate) fn tensor(&mut self, name: &str, dtype: Dtype, rank: u32) -> u32 {
        let param = self.plain_tensor(name, dtype, rank);
        let last = rank - 1;
        self.fact(Fact::PointerAligned { param, bytes: 16 });
        self.fact(Fact::StrideEquals { param, axis: last, value: 1 });
        for axis in 0..last {
            self.fact(Fact::StrideMultiple { param, axis, of: 16 });
        }
        self.fact(Fact::DimMultiple { param, axis: last, of: 16 });
        param
    }

    pub(crate) fn pointer(&mut self, name: &str, dtype: Dtype) -> u32 {
        let param = self.param(name, ParamKind::Pointer(dtype));
        self.fact(Fact::PointerAligned { param, bytes: 16 });
        param
    }

    pub(crate) fn scalar_param(&mut self, name: &str, dtype: Dtype) -> u32 {
        self.param(name, ParamKind::Scalar(dtype))
    }

    pub(crate) fn fact(&mut self, fact: Fact) {
        self.kernel.facts.push(fact);
    }

    pub(crate) fn value(&mut self, ty: Type) -> Value {
        self.kernel.values.alloc(ValueData { ty, loc: Loc::KERNEL })
    }

    pub(crate) fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value).clone()
    }

    pub(crate) fn push(&mut self, kind: StmtKind) {
        self.open.last_mut().expect("a region is open").stmts.push(Stmt { kind, loc: Loc::KERNEL });
    }

    pub(crate) fn op(&mut self, op: impl Into<Op>, args: &[Value], ty: Type) -> Value {
        let result = self.value(ty);
        self.push(StmtKind::Op { op: op.into(), args: args.to_vec(), result: Some(result) });
        result
    }

    pub(crate) fn effect(&mut self, op: impl Into<Op>, args: &[Value]) {
        self.push(StmtKind::Op { op: op.into(), args: args.to_vec(), result: None });
    }

    pub(crate) fn int(&mut self, value: i32) -> Value {
        self.op(Const::Int(value.into()), &[], Type::scalar(Dtype::I32))
    }

    pub(crate) fn float(&mut self, dtype: Dtype, value: f64) -> Value {
        self.op(Const::Float(value), &[], Type::scalar(dtype))
    }

    pub(crate) fn block_id(&mut self, axis: u32) -> Value {
        self.op(SourceOp::BlockId(axis), &[], Type::scalar(Dtype::I32))
    }

    pub(crate) fn dim(&mut self, param: u32, axis: u32) -> Value {
        self.op(SourceOp::ParamDim(param, axis), &[], Type::scalar(Dtype::I32))
    }

    /// `block_id(axis) * extent`
    pub(crate) fn block_start(&mut self, axis: u32, extent: i32) -> Value {
        let (block, extent) = (self.block_id(axis), self.int(extent));
        self.binary(Binary::Mul, block, extent)
    }

    pub(crate) fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op(op, &[a, b], ty)
    }

    pub(crate) fn same(&mut self, op: impl Into<Op>, args: &[Value]) -> Value {
        let ty = self.ty(args[args.len() - 1]);
        self.op(op, args, ty)
    }

    pub(crate) fn cast(&mut self, value: Value, dtype: Dtype) -> Value {
        let ty = self.ty(value).with_elem(Elem::Number(dtype));
        self.op(ElementwiseOp::Cast, &[value], ty)
    }

    pub(crate) fn arange(&mut self, extent: u32) -> Value {
        self.op(SourceOp::Arange(0), &[], tile(Dtype::I32, &[extent]))
    }

    pub(crate) fn splat(&mut self, value: Value, shape: &[u32]) -> Value {
        let elem = self.ty(value).elem().expect("a scalar");
        self.op(TileOp::Splat, &[value], Type::Tile(elem, shape.to_vec()))
    }

    pub(crate) fn zeros(&mut self, dtype: Dtype, shape: &[u32]) -> Value {
        let zero = self.float(dtype, 0.0);
        self.splat(zero, shape)
    }

    /// `x.expand(axis)`, broadcast to `shape`.
    pub(crate) fn spread(&mut self, value: Value, axis: u32, shape: &[u32]) -> Value {
        let ty = self.ty(value);
        let elem = ty.elem().expect("a tile");
        let mut expanded = ty.shape().to_vec();
        expanded.insert(axis as usize, 1);
        let expanded = self.op(TileOp::Expand(axis), &[value], Type::Tile(elem, expanded));
        self.op(TileOp::Broadcast, &[expanded], Type::Tile(elem, shape.to_vec()))
    }

    pub(crate) fn load_tensor(&mut self, param: u32, offsets: &[Value], shape: &[u32]) -> Value {
        let ParamKind::Tensor { dtype, .. } = self.kernel.params[param as usize].kind else {
            unreachable!("tests load tensors")
        };
        self.op(MemoryOp::LoadTensor(param, Evict::Normal), offsets, tile(dtype, shape))
    }

    pub(crate) fn store_tensor(&mut self, param: u32, offsets: &[Value], value: Value) {
        let args: Vec<Value> = offsets.iter().copied().chain([value]).collect();
        self.effect(MemoryOp::StoreTensor(param, Evict::Normal), &args);
    }

    pub(crate) fn reduce(&mut self, value: Value, axis: u32, op: Binary) -> Value {
        let Type::Tile(elem, mut shape) = self.ty(value) else {
            unreachable!("tests reduce tiles")
        };
        shape.remove(axis as usize);
        let ty = if shape.is_empty() { Type::Scalar(elem) } else { Type::Tile(elem, shape) };
        let pair = [self.value(Type::Scalar(elem)), self.value(Type::Scalar(elem))];
        self.open.push(Region { args: pair.to_vec(), ..Region::default() });
        let combined = self.binary(op, pair[0], pair[1]);
        let mut combine = self.open.pop().expect("pushed above");
        combine.end = Terminator::Yield(vec![combined]);
        let result = self.value(ty);
        self.push(StmtKind::Reduce { args: vec![value], axis, combine, results: vec![result] });
        result
    }

    /// A loop; `iteration` gets the induction variable and what is carried, and gives what the next iteration gets.
    pub(crate) fn count(
        &mut self,
        range: [Value; 3],
        inits: &[Value],
        iteration: impl FnOnce(&mut Builder, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let [from, to, step] = range;
        let induction = self.value(Type::scalar(Dtype::I32));
        let carried: Vec<Value> = inits.iter().map(|&init| self.value(self.ty(init))).collect();
        let args = std::iter::once(induction).chain(carried.iter().copied()).collect();
        self.open.push(Region { args, ..Region::default() });
        let next = iteration(self, induction, &carried);
        let mut body = self.open.pop().expect("pushed above");
        body.end = Terminator::Continue(0, next);
        let results: Vec<Value> = inits.iter().map(|&init| self.value(self.ty(init))).collect();
        let inits = inits.to_vec();
        self.push(StmtKind::For { from, to, step, inits, body, results: results.clone() });
        results
    }

    /// A branch, and what it yields.
    fn region(&mut self, make: impl FnOnce(&mut Builder) -> Vec<Value>) -> (Region, Vec<Value>) {
        self.open.push(Region::default());
        let values = make(self);
        let mut region = self.open.pop().expect("pushed above");
        region.end = Terminator::Yield(values.clone());
        (region, values)
    }

    pub(crate) fn branch(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Builder) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Builder) -> Vec<Value>,
    ) -> Vec<Value> {
        let (then, values) = self.region(then);
        let (otherwise, _) = self.region(otherwise);
        let results: Vec<Value> = values.iter().map(|&value| self.value(self.ty(value))).collect();
        self.push(StmtKind::If { condition, then, otherwise, results: results.clone() });
        results
    }

    /// Partitions, each with its warps; the default one gives values.
    pub(crate) fn specialize(
        &mut self,
        default: impl FnOnce(&mut Builder) -> Vec<Value>,
        others: Vec<(u32, Part)>,
    ) -> Vec<Value> {
        let (default, values) = self.region(default);
        let mut partitions = Vec::new();
        for (warps, run) in others {
            let (body, _) = self.region(|b| {
                run(b);
                Vec::new()
            });
            partitions.push(Partition { warps, registers: None, body, loc: Loc::KERNEL });
        }
        let results: Vec<Value> = values.iter().map(|&value| self.value(self.ty(value))).collect();
        self.push(StmtKind::Specialize { default, partitions, results: results.clone() });
        results
    }

    pub(crate) fn shared(&mut self, dtype: Dtype, shape: &[u32]) -> (Shared, Value) {
        let data =
            SharedData { dtype, shape: shape.to_vec(), pinned: None, name: None, loc: Loc::KERNEL };
        let root = self.kernel.shared.alloc(data);
        let ty = SharedType {
            root,
            dtype,
            shape: shape.to_vec(),
            transposed: false,
            remote: false,
            view: None,
        };
        (root, self.op(WindowOp::Alloc(root), &[], Type::Shared(ty)))
    }

    pub(crate) fn pin_shared(&mut self, root: Shared, form: kernel_layout::Form) {
        self.kernel.shared[root].pinned = Some(form);
    }

    pub(crate) fn transposed(&mut self, window: Value) -> Value {
        let Type::Shared(mut ty) = self.ty(window) else { unreachable!("tests transpose windows") };
        ty.shape.reverse();
        ty.transposed = !ty.transposed;
        self.op(WindowOp::Transpose, &[window], Type::Shared(ty))
    }

    pub(crate) fn slot(&mut self, window: Value, index: Value) -> Value {
        let Type::Shared(mut ty) = self.ty(window) else { unreachable!("tests index windows") };
        ty.shape.remove(0);
        self.op(WindowOp::Index, &[window, index], Type::Shared(ty))
    }

    pub(crate) fn load_shared(&mut self, window: Value) -> Value {
        let Type::Shared(ty) = self.ty(window) else { unreachable!("tests load windows") };
        self.op(MemoryOp::LoadShared, &[window], tile(ty.dtype, &ty.shape))
    }

    pub(crate) fn copy_async(&mut self, param: u32, offsets: &[Value], window: Value) {
        let args: Vec<Value> = offsets.iter().copied().chain([window]).collect();
        let extents = Extents::of(self.ty(window).shape());
        self.effect(CopyOp::Async(Copied::Tile { param, extents }, Evict::Normal), &args);
    }

    pub(crate) fn dot(&mut self, a: Value, b: Value, acc: Value) -> Value {
        self.same(ProductOp::Dot(Factors::Full), &[a, b, acc])
    }

    /// The kernel, which must satisfy the invariants of the IR.
    pub(crate) fn finish(mut self) -> Kernel {
        self.kernel.body = self.open.pop().expect("the body is open");
        assert!(self.open.is_empty(), "a region is still open");
        assert_eq!(verify(&self.kernel), Ok(()), "{}", self.kernel);
        self.kernel
    }
}

pub(crate) fn tile(dtype: Dtype, shape: &[u32]) -> Type {
    Type::Tile(Elem::Number(dtype), shape.to_vec())
}

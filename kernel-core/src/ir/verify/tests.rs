//! Each invariant, broken once.

use super::verify;
use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{
    Binary, ClusterOp, Const, Direction, Dtype, ElementwiseOp, Kernel, Op, Region, SourceOp, Stmt,
    StmtKind, SyncOp, Terminator, Type, Value,
};
use crate::loc::Loc;

/// A kernel with a constant, a tile, a reduction and a loop, all right.
fn sound() -> Kernel {
    let mut b = Builder::new("sound", 1);
    let out = b.tensor("out", Dtype::F32, 1);
    let start = b.int(0);
    let zeros = b.zeros(Dtype::F32, &[32]);
    let range = [start, b.int(4), b.int(1)];
    let ends = b.count(range, &[zeros], |b, _, carried| {
        let sum = b.reduce(carried[0], 0, Binary::Add);
        let sum = b.splat(sum, &[32]);
        vec![b.binary(Binary::Add, carried[0], sum)]
    });
    b.store_tensor(out, &[start], ends[0]);
    b.finish()
}

/// What is reported about the kernel after a change.
fn broken(change: impl FnOnce(&mut Kernel)) -> String {
    let mut kernel = sound();
    change(&mut kernel);
    verify(&kernel).expect_err("the change breaks an invariant")
}

fn statement(
    op: impl Into<Op>,
    args: Vec<crate::ir::Value>,
    result: Option<crate::ir::Value>,
) -> Stmt {
    Stmt { kind: StmtKind::Op { op: op.into(), args, result }, loc: Loc::KERNEL }
}

/// The body of the loop.
fn body(kernel: &mut Kernel) -> &mut Region {
    kernel
        .body
        .stmts
        .iter_mut()
        .find_map(|stmt| match &mut stmt.kind {
            StmtKind::For { body, .. } => Some(body),
            StmtKind::Op { .. }
            | StmtKind::If { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. }
            | StmtKind::Specialize { .. } => None,
        })
        .expect("there is a loop")
}

#[test]
fn values_are_defined_once_and_before_their_uses() {
    let twice = broken(|kernel| {
        let again = kernel.body.stmts[0].clone();
        kernel.body.stmts.insert(1, again);
    });
    assert_eq!(twice, "value 0 is defined twice");
    let early = broken(|kernel| kernel.body.stmts.swap(1, 2));
    assert_eq!(early, "value 1 is used where it is not defined");
    let outside = broken(|kernel| {
        let inner = body(kernel).args[0];
        let result = kernel.values.alloc(kernel.values[inner].clone());
        kernel.body.stmts.push(statement(
            Binary::Add,
            vec![inner, inner],
            Some(result),
        ));
    });
    assert!(outside.ends_with("is used where it is not defined"), "{outside}");
}

#[test]
fn shapes_are_powers_of_two() {
    let broken = broken(|kernel| {
        let value = kernel.body.stmts[2].clone();
        let StmtKind::Op { result: Some(result), .. } = value.kind else { unreachable!("a splat") };
        kernel.values[result].ty = tile(Dtype::F32, &[24]);
    });
    assert_eq!(broken, "value 2 has an impossible shape [24]");
}

#[test]
fn operations_have_operands_of_their_types() {
    let adds = broken(|kernel| {
        let body = body(kernel);
        let (induction, carried) = (body.args[0], body.args[1]);
        let Some(StmtKind::Op { args, .. }) = body.stmts.last_mut().map(|stmt| &mut stmt.kind)
        else {
            unreachable!("a sum")
        };
        *args = vec![carried, induction];
    });
    assert_eq!(adds, "Binary(Add) of (f32[32], i32) giving f32[32]: operands differ");
    let constant = broken(|kernel| {
        let StmtKind::Op { op, .. } = &mut kernel.body.stmts[0].kind else {
            unreachable!("a constant")
        };
        *op = Op::Source(SourceOp::Const(Const::Int(1 << 40)));
    });
    assert_eq!(
        constant,
        "Const(Int(1099511627776)) of () giving i32: the constant does not fit its type"
    );
    let parameter = broken(|kernel| {
        let StmtKind::Op { op, .. } = &mut kernel.body.stmts[0].kind else {
            unreachable!("a constant")
        };
        *op = Op::Source(SourceOp::ParamDim(0, 1));
    });
    assert!(parameter.contains("the parameter is Tensor"), "{parameter}");
}

#[test]
fn regions_end_as_what_encloses_them_wants() {
    let kernel_end = broken(|kernel| kernel.body.end = Terminator::Yield(Vec::new()));
    assert_eq!(kernel_end, "the kernel's body does not end in `Return`");
    let yields = broken(|kernel| body(kernel).end = Terminator::Yield(Vec::new()));
    assert_eq!(yields, "a yield outside of a branch, a partition or a combine function");
    let few = broken(|kernel| body(kernel).end = Terminator::Continue(0, Vec::new()));
    assert_eq!(few, "a continue passes 0 values to 1 receivers");
    let wrong = broken(|kernel| {
        let body = body(kernel);
        body.end = Terminator::Break(0, vec![body.args[0]]);
    });
    assert!(wrong.ends_with("i32 where f32[32] is received"), "{wrong}");
    let far = broken(|kernel| body(kernel).end = Terminator::Continue(1, Vec::new()));
    assert_eq!(far, "a terminator leaves a loop 1 levels up, which does not exist");
    let returns = broken(|kernel| {
        let StmtKind::Reduce { combine, .. } = &mut body(kernel).stmts[0].kind else {
            unreachable!("a reduction")
        };
        combine.end = Terminator::Return;
    });
    assert_eq!(returns, "a combine function returns from the kernel");
}

#[test]
fn reductions_lose_their_axis() {
    let axis = broken(|kernel| {
        let StmtKind::Reduce { axis, .. } = &mut body(kernel).stmts[0].kind else {
            unreachable!("a reduction")
        };
        *axis = 1;
    });
    assert_eq!(axis, "a reduction of axis 1 of shape [32]");
    let effects = broken(|kernel| {
        let StmtKind::Reduce { combine, .. } = &mut body(kernel).stmts[0].kind else {
            unreachable!("a reduction")
        };
        combine.stmts.push(statement(SyncOp::Block, Vec::new(), None));
    });
    assert_eq!(effects, "a combine function applies Sync");
}

#[test]
fn exclusive_scans_begin_with_a_scalar_for_each_operand() {
    let scan = |initial: fn(Value) -> Vec<Value>| {
        broken(|kernel| {
            let StmtKind::Reduce { args, axis, combine, .. } = body(kernel).stmts[0].kind.clone()
            else {
                unreachable!("a reduction")
            };
            let result = kernel.values.alloc(kernel.values[args[0]].clone());
            let initial = initial(args[0]);
            let (direction, results) = (Direction::Backward, vec![result]);
            body(kernel).stmts[0].kind =
                StmtKind::Scan { args, axis, direction, initial, combine, results };
        })
    };
    let count = scan(|tile| vec![tile, tile]);
    assert_eq!(count, "a scan of 1 operands has 2 initial values");
    let tile = scan(|tile| vec![tile]);
    assert_eq!(tile, "a scan of f32[32] has an initial value of type f32[32]");
}

#[test]
fn what_was_reported_is_not_reported_again() {
    let mut kernel = sound();
    let StmtKind::Op { result: Some(zero), .. } = kernel.body.stmts[1].kind else {
        unreachable!("a constant")
    };
    kernel.values[zero].ty = Type::Error;
    assert_eq!(verify(&kernel), Ok(()));
}

/// A kernel with a tile and a scalar before two partitions, all right.
fn specialized() -> (Kernel, crate::ir::Value) {
    let mut b = Builder::new("specialized", 4);
    let out = b.tensor("out", Dtype::F32, 1);
    let start = b.int(0);
    let tile = b.zeros(Dtype::F32, &[32]);
    b.specialize(
        |b| {
            b.store_tensor(out, &[start], tile);
            Vec::new()
        },
        vec![(
            1,
            Box::new(move |b: &mut Builder| {
                let zeros = b.zeros(Dtype::F32, &[32]);
                b.store_tensor(out, &[start], zeros);
            }),
        )],
    );
    (b.finish(), tile)
}

/// The partition beside the default one.
fn partition(kernel: &mut Kernel) -> &mut crate::ir::Partition {
    let Some(StmtKind::Specialize { partitions, .. }) =
        kernel.body.stmts.last_mut().map(|stmt| &mut stmt.kind)
    else {
        unreachable!("it comes last")
    };
    &mut partitions[0]
}

#[test]
fn partitions_stand_in_the_body_and_use_no_tiles_from_outside() {
    let broken = |change: &dyn Fn(&mut Kernel, crate::ir::Value)| {
        let (mut kernel, tile) = specialized();
        change(&mut kernel, tile);
        verify(&kernel).expect_err("the change breaks an invariant")
    };
    let taken = broken(&|kernel, tile| {
        let body = &mut partition(kernel).body;
        let Some(StmtKind::Op { args, .. }) = body.stmts.last_mut().map(|stmt| &mut stmt.kind)
        else {
            unreachable!("a store")
        };
        args[1] = tile;
    });
    assert!(taken.ends_with("is used where it is not defined"), "{taken}");
    let three = broken(&|kernel, _| partition(kernel).warps = 3);
    assert_eq!(three, "partitions of other numbers of warps than 1, 2, 4, 8: [(3, None)]");
    let yields = broken(&|kernel, tile| {
        partition(kernel).body.end = Terminator::Yield(vec![tile]);
    });
    assert!(yields.ends_with("is used where it is not defined"), "{yields}");
    let meets = broken(&|kernel, _| {
        let (op, args) = (Op::Sync(SyncOp::Cluster(ClusterOp::Sync)), Vec::new());
        let kind = StmtKind::Op { op, args, result: None };
        partition(kernel).body.stmts.push(Stmt { kind, loc: Loc::KERNEL });
    });
    assert_eq!(meets, "the blocks of a cluster meet in a partition");
    let twice = broken(&|kernel, _| {
        let kind = StmtKind::Specialize {
            default: Region { end: Terminator::Yield(Vec::new()), ..Region::default() },
            partitions: Vec::new(),
            results: Vec::new(),
        };
        kernel.body.stmts.push(Stmt { kind, loc: Loc::KERNEL });
    });
    assert_eq!(twice, "warps are specialised twice, or inside a region");
}

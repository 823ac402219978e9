//! Elements that no register holds: only TMA loads and products of the tensor cores access them, in shared memory.
//!
//! Accepted: `tma::load(x, [0, 0], bar, tile)`, `tcgen05::mma(tile, b, acc)` and `dot(tile, b, acc)` of a `Shared<e2m3x16>`. Refused:
//! `tile.load()` for anything but a product, a `Ptr<e2m3x16>`.

use kernel_ptx::Capability;
use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{
        CopyOp, Dtype, Elem, Kernel, MemoryOp, Op, ParamKind, ProductOp, Region, StmtKind, Tcgen05,
        Type, Value,
    },
    loc::Loc,
};

/// What is done with such elements, and is neither a TMA load nor a product.
pub(super) fn check(kernel: &Kernel) -> Option<Diagnostic> {
    let params = kernel.params.iter().find_map(|param| match param.kind {
        ParamKind::Pointer(dtype) => {
            refused(kernel, dtype, format!("a `Ptr<{}>`", dtype.name()), param.loc)
        }
        ParamKind::Scalar(dtype) => {
            refused(kernel, dtype, format!("a `{}`", dtype.name()), param.loc)
        }
        ParamKind::Tensor { .. } => None,
    });
    let memory = || {
        kernel.tensor_memory.iter().find_map(|(_, data)| {
            refused(kernel, data.dtype, format!("a `Tmem<{}>`", data.dtype.name()), data.loc)
        })
    };
    params.or_else(memory).or_else(|| found_in(kernel, &kernel.body, &multiplied(kernel)))
}

/// Tiles that products alone read: `ldmatrix` gives each lane the numbers that it multiplies, and none of them an element.
fn multiplied(kernel: &Kernel) -> ArenaMap<Value, ()> {
    if kernel.shared.iter().all(|(_, data)| data.dtype.is_held()) {
        return ArenaMap::default();
    }
    // How often each value is used, and how often as an operand of a product.
    let mut uses: ArenaMap<Value, [u32; 2]> = ArenaMap::default();
    let mut count = |value: Value, at: usize| {
        let mut counted = uses.get(value).copied().unwrap_or_default();
        counted[at] += 1;
        uses.insert(value, counted);
    };
    kernel.body.each_use(&mut |value, _| count(value, 0));
    kernel.body.each_op(&mut |op, args, _, _| {
        if let Op::Product(ProductOp::Dot(_)) = op {
            args[..2].iter().for_each(|&factor| count(factor, 1));
        }
    });
    let alone = |[all, multiplied]: &[u32; 2]| *multiplied > 0 && all == multiplied;
    uses.iter().filter(|(_, counted)| alone(counted)).map(|(value, _)| (value, ())).collect()
}

fn found_in(
    kernel: &Kernel,
    region: &Region,
    multiplied: &ArenaMap<Value, ()>,
) -> Option<Diagnostic> {
    region.stmts.iter().find_map(|stmt| {
        if let StmtKind::Op { op: Op::Memory(MemoryOp::LoadShared), args, result: Some(result) } =
            &stmt.kind
            && multiplied.contains_idx(*result)
            && matches!(kernel.ty(args[0]), Type::Shared(window) if !window.remote)
        {
            return None;
        }
        let made = stmt.kind.results().into_iter().find_map(|value| match kernel.ty(value) {
            Type::Tile(Elem::Number(dtype), _) => {
                refused(kernel, *dtype, format!("a tile of `{}`", dtype.name()), stmt.loc)
            }
            Type::Scalar(Elem::Number(dtype)) => {
                refused(kernel, *dtype, format!("a `{}`", dtype.name()), stmt.loc)
            }
            Type::Tile(Elem::Ptr(dtype), _) | Type::Scalar(Elem::Ptr(dtype)) => {
                refused(kernel, *dtype, format!("a `Ptr<{}>`", dtype.name()), stmt.loc)
            }
            Type::Shared(_) | Type::TensorMemory(_) | Type::Barrier(_) | Type::Error => None,
        });
        let read = || {
            let StmtKind::Op { op, args, result } = &stmt.kind else { return None };
            let mut windows = args.iter().filter_map(|&arg| match kernel.ty(arg) {
                Type::Shared(window) if !stays(kernel, op, *result) => Some(window),
                Type::Shared(_)
                | Type::Tile(..)
                | Type::Scalar(_)
                | Type::TensorMemory(_)
                | Type::Barrier(_)
                | Type::Error => None,
            });
            windows.find_map(|window| {
                refused(kernel, window.dtype, "something else".to_owned(), stmt.loc)
            })
        };
        let inner = || {
            stmt.kind.regions().into_iter().find_map(|inner| found_in(kernel, inner, multiplied))
        };
        made.or_else(read).or_else(inner)
    })
}

/// Whether an operation leaves elements in memory: it names a window of them, copies them by TMA, or multiplies them.
fn stays(kernel: &Kernel, op: &Op, result: Option<Value>) -> bool {
    let names = result
        .is_some_and(|result| matches!(kernel.ty(result), Type::Shared(window) if !window.remote));
    // Which of its copies pad, their plan says.
    names
        || matches!(
            op,
            Op::Copy(CopyOp::Tma(_)) | Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { .. }))
        )
}

/// The report of an element type that no register holds.
fn refused(kernel: &Kernel, dtype: Dtype, actual: String, loc: Loc) -> Option<Diagnostic> {
    if dtype.is_held() {
        return None;
    }
    let name = dtype.name();
    let readers = if kernel.target.has(Capability::BlockScaledMma) {
        "`dot` or `dot_scaled`"
    } else {
        "`tcgen05::mma` or `tcgen05::mma_scaled`"
    };
    let what = dtype.row().packing.map_or("wider than a register", |packing| packing.what);
    Some(
        Diagnostic::new(Code::DtypeRefused, loc, format!("no register holds `{name}`"))
            .compare(
                "",
                format!("a `Shared<{name}>` that `tma::load` fills and {readers} reads"),
                actual,
            )
            .why(format!("an element is {what}, which TMA pads in shared memory; only products of the tensor cores read it"))
            .why(format!("as `u32` instead of `{name}`, three to an element, the bits can be moved")),
    )
}

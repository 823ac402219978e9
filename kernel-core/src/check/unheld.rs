//! Elements that no register holds: only TMA loads and products of the tensor cores access them, in shared memory.
//! done with them.
//!
//! Accepted: `tma::load(x, [0, 0], bar, tile)` and `tcgen05::mma(tile, b, acc)` of a `Shared<e2m3x16>`. Refused: `tile.load()`, a `Ptr<e2m3x16>`.

use crate::{
    diag::{Code, Diagnostic},
    ir::{
        CopyOp, Dtype, Elem, Kernel, Op, ParamKind, ProductOp, Region, StmtKind, Tcgen05, Type,
        Value,
    },
    loc::Loc,
};

/// What is done with such elements, and is neither a TMA load nor a product.
pub(super) fn check(kernel: &Kernel) -> Option<Diagnostic> {
    let params = kernel.params.iter().find_map(|param| match param.kind {
        ParamKind::Pointer(dtype) => {
            refused(dtype, format!("a `Ptr<{}>`", dtype.name()), param.loc)
        }
        ParamKind::Scalar(dtype) => refused(dtype, format!("a `{}`", dtype.name()), param.loc),
        ParamKind::Tensor { .. } => None,
    });
    let memory = || {
        kernel.tensor_memory.iter().find_map(|(_, data)| {
            refused(data.dtype, format!("a `Tmem<{}>`", data.dtype.name()), data.loc)
        })
    };
    params.or_else(memory).or_else(|| found_in(kernel, &kernel.body))
}

fn found_in(kernel: &Kernel, region: &Region) -> Option<Diagnostic> {
    region.stmts.iter().find_map(|stmt| {
        let made = stmt.kind.results().into_iter().find_map(|value| match kernel.ty(value) {
            Type::Tile(Elem::Number(dtype), _) => {
                refused(*dtype, format!("a tile of `{}`", dtype.name()), stmt.loc)
            }
            Type::Scalar(Elem::Number(dtype)) => {
                refused(*dtype, format!("a `{}`", dtype.name()), stmt.loc)
            }
            Type::Tile(Elem::Ptr(dtype), _) | Type::Scalar(Elem::Ptr(dtype)) => {
                refused(*dtype, format!("a `Ptr<{}>`", dtype.name()), stmt.loc)
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
            windows.find_map(|window| refused(window.dtype, "something else".to_owned(), stmt.loc))
        };
        let inner = || stmt.kind.regions().into_iter().find_map(|inner| found_in(kernel, inner));
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
fn refused(dtype: Dtype, actual: String, loc: Loc) -> Option<Diagnostic> {
    if dtype.is_held() {
        return None;
    }
    let name = dtype.name();
    let what = dtype.row().packing.map_or("wider than a register", |packing| packing.what);
    Some(
        Diagnostic::new(Code::DtypeRefused, loc, format!("no register holds `{name}`"))
            .compare(
                "",
                format!("a `Shared<{name}>` that `tma::load` fills and `tcgen05::mma` or `tcgen05::mma_scaled` reads"),
                actual,
            )
            .why(format!("an element is {what}, which TMA pads in shared memory; only products of the tensor cores read it"))
            .help(format!("`u32` instead of `{name}`, three to an element, to move the bits")),
    )
}

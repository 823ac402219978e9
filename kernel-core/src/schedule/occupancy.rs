//! How many blocks a multiprocessor should hold: what registers, threads, shared and tensor memory leave room for.

use kernel_layout::Dim;

use crate::ir::{
    CopyOp, Elem, Kernel, Layouts, Op, ProductOp, Region, StmtKind, Terminator, Type, Value,
};
use crate::layouts::{Known, analyze, tensor_memory};

/// Registers are allocated to threads in this unit (CUDA C++ Programming Guide, "Compute Capabilities": 256 a warp).
const REGISTER_UNIT: u32 = 8;
/// The shared memory that the system reserves for every block (CUDA C++ Programming Guide, "Shared Memory", compute capability 8.x).
const RESERVED_BYTES: u32 = 1024;
/// What a product loop needs besides accumulators and operands: shared addresses, row addresses, counters.
const ADDRESS_REGISTERS: u32 = 16;
/// What a copy too narrow for `cp.async` needs: two addresses, a mask, and the elements on their way.
const NARROW_COPY_REGISTERS: u32 = 4;
/// The fewest bytes that `cp.async` copies.
const LEAST_BYTES: u32 = 4;

/// How many blocks a multiprocessor should hold at once, for `.minnctapersm`; `None` if ptxas is left to itself.
///
/// A loop whose carried tiles are all accumulators of products hides the latency of its copies behind
/// other blocks. Left to itself, ptxas takes more registers than accumulators, operands and addresses need,
/// and fewer blocks fit. The number is limited by threads, shared memory and columns of tensor memory, so no register is spilled for a
/// block that does not fit anyway. With register budgets of partitions it is one. `shared_bytes` is the shared memory of a block.
pub fn blocks_per_multiprocessor(
    kernel: &Kernel,
    layouts: &Layouts,
    shared_bytes: u32,
) -> Option<u32> {
    if let Some(placement) = kernel.placement() {
        // One block has the register file for itself: `setmaxnreg` needs to know the registers at the start.
        return placement.registers.map(|_| 1);
    }
    let need = product_registers(kernel, &kernel.body, layouts)?;
    let copies = narrow_copies(kernel, &analyze(kernel), &kernel.body, Inside::Kernel);
    let registers = need + ADDRESS_REGISTERS + copies * NARROW_COPY_REGISTERS;
    let threads = kernel.threads();
    let hardware = kernel.target.hardware();
    let by_registers = hardware.registers_per_multiprocessor
        / (threads * registers.next_multiple_of(REGISTER_UNIT));
    let by_shared = hardware.shared_bytes_per_multiprocessor / (shared_bytes + RESERVED_BYTES);
    let by_columns = tensor_memory::COLUMNS / tensor_memory::allocated(kernel).max(1);
    let blocks = by_registers
        .min(hardware.threads_per_multiprocessor / threads)
        .min(hardware.blocks_per_multiprocessor)
        .min(by_shared)
        .min(by_columns);
    (blocks >= 2).then_some(blocks)
}

/// Whether statements run in a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Kernel,
    Loop,
}

/// How many pieces a thread copies in the loops of a region that are too narrow for `cp.async`.
fn narrow_copies(kernel: &Kernel, known: &Known, region: &Region, inside: Inside) -> u32 {
    let within = |region: &Region, inside: Inside| narrow_copies(kernel, known, region, inside);
    let of = |kind: &StmtKind| match kind {
        StmtKind::Op { op: op @ Op::Copy(CopyOp::Async(..)), args, .. }
            if inside == Inside::Loop =>
        {
            let Some(Type::Shared(window)) = args.last().map(|&window| kernel.ty(window)) else {
                return 0;
            };
            let elements = known.access(kernel, op, args).map_or(1, |access| access.elements);
            let narrow = elements * window.dtype.shared_bytes() < LEAST_BYTES;
            let all: u32 = window.shape.iter().product();
            if narrow { all.div_ceil(kernel.threads() * elements) } else { 0 }
        }
        StmtKind::Op { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. }
        | StmtKind::Specialize { .. } => 0,
        StmtKind::If { then, otherwise, .. } => within(then, inside) + within(otherwise, inside),
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => within(body, Inside::Loop),
    };
    region.stmts.iter().map(|stmt| of(&stmt.kind)).sum()
}

/// Registers of a thread for the accumulators and operands of the largest product loop.
///
/// `None` without such a loop, and if some loop carries tiles that are not accumulators: their neighbours need registers too.
fn product_registers(kernel: &Kernel, region: &Region, layouts: &Layouts) -> Option<u32> {
    let registers = |value: Value| -> Option<u32> {
        let bytes = match kernel.ty(value).elem()? {
            Elem::Number(dtype) => dtype.bytes(),
            Elem::Ptr(_) => 8,
        };
        let held = layouts.get(value)?.in_size(Dim::Register);
        Some((held * bytes).div_ceil(4))
    };
    let mut most = None;
    for stmt in &region.stmts {
        let inner = match &stmt.kind {
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. }
            | StmtKind::Specialize { .. } => continue,
            StmtKind::If { then, otherwise, .. } => product_registers(kernel, then, layouts)
                .max(product_registers(kernel, otherwise, layouts)),
            StmtKind::Loop { body, .. } => product_registers(kernel, body, layouts),
            StmtKind::For { body, .. } => {
                let Terminator::Continue(0, carried) = &body.end else { return None };
                let mut sum = 0;
                for value in carried.iter().filter(|value| !kernel.ty(**value).shape().is_empty()) {
                    let operands = body.stmts.iter().find_map(|stmt| {
                        if let StmtKind::Op {
                            op: Op::Product(ProductOp::Dot(_)),
                            args,
                            result: Some(result),
                        } = &stmt.kind
                            && result == value
                        {
                            return Some([args[0], args[1]]);
                        }
                        None
                    })?;
                    sum += registers(*value)? + registers(operands[0])? + registers(operands[1])?;
                }
                Some(sum).filter(|sum| *sum > 0).max(product_registers(kernel, body, layouts))
            }
        };
        most = most.max(inner);
    }
    most
}

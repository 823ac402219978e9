//! Registers of single instructions: one takes no more than a thread of the block begins with.

use kernel_layout::Form;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Dtype, Elem, Kernel, Op, ProductOp, Type, Value, registers_at_entry},
    layouts::wgmma,
};

/// What `ptxas` 13.5 needs beside the sums of a `wgmma`, for descriptors and for itself: it refuses blocks whose threads begin with less
/// (C7602), also where partitions get more by `setmaxnreg`.
const BESIDE_SUMS: u32 = 26;
/// The registers of a left operand that is in registers (PTX ISA, "`wgmma.mma_async`").
const LEFT_OPERAND: u32 = 4;

/// Products whose instructions take more registers than a thread begins with.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let warps = kernel.block_warps().next_multiple_of(wgmma::GROUP_WARPS);
    let begins = registers_at_entry(warps);
    kernel.body.each_op(&mut |op, args, _, loc| {
        let Op::Product(ProductOp::Wgmma { .. }) = op else { return };
        let &[left, right, sums, ..] = args else { return };
        let Some((columns, sums)) = sums_of(kernel, [left, right, sums]) else { return };
        let held = if matches!(kernel.ty(left), Type::Tile(..)) { LEFT_OPERAND } else { 0 };
        let required = sums + BESIDE_SUMS + held;
        if begins >= required {
            return;
        }
        found.push(
            Code::RegisterBudget
                .at(loc, "an instruction of this product needs more registers than a thread begins with")
                .compare("registers of a thread", format!("at least {required}"), begins)
                .why(format!("one instruction has 64 rows and {columns} columns of sums, {sums} registers of each thread of a warpgroup, beside its operands. A block of {warps} warps, idle ones included, begins with 65536 / {} of them, in steps of 8, and the assembler takes no more for any instruction, whatever `.registers(..)` says. Fewer warps, or fewer columns for each warpgroup", warps * 32)),
        );
    });
    found
}

/// The columns of an instruction, and the registers of a thread that hold its sums.
fn sums_of(kernel: &Kernel, args: [Value; 3]) -> Option<(u32, u32)> {
    let Form::Wgmma { n, .. } = wgmma::form(kernel, args) else { return None };
    let halves = matches!(kernel.ty(args[2]).elem(), Some(Elem::Number(Dtype::F16)));
    Some((n, if halves { n / 4 } else { n / 2 }))
}

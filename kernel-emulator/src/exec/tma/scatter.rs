//! Rows that scatters write: no two may overlap, since their order is not defined.

use crate::exec::bulk::Row;
use crate::exec::bulk::group::{self, Scattered};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::lane_number;
use crate::machine::{Context, Warp};

/// Checks that rows overlap neither each other nor what a scatter of the cluster has still to write, and remembers them
/// until the thread has waited for its group.
///
/// # Errors
/// A row that two write, or one twice.
pub(super) fn apart(cx: &mut Context<'_>, warp: &Warp, lane: usize, rows: &[Row]) -> Run<()> {
    let meets = |a: &Row, b: &Row| {
        a.address < b.address + b.bytes as u64 && b.address < a.address + a.bytes as u64
    };
    let fault = |row: &Row, what: &str, other| {
        let address = row.address;
        let detail = format!(
            "a scatter by tensor map writes {} bytes of global memory at {address:#x}, which {what}: the order of the two is \
             not defined, so the rows of scatters under way have to differ",
            row.bytes
        );
        let mut trap = Trap::new(FaultKind::Race, detail).address(address);
        trap.touched = other;
        trap
    };
    for (i, row) in rows.iter().enumerate() {
        if rows[..i].iter().any(|earlier| meets(earlier, row)) {
            cx.found(fault(row, "it writes for another of its rows too", None))?;
        }
        for (index, block) in cx.cluster.blocks.iter().enumerate() {
            let other = block.scattered.iter().find(|one| one.rows.iter().any(|r| meets(r, row)));
            if let Some(other) = other {
                let who =
                    if index == cx.block { String::new() } else { format!(" of block {index}") };
                let what = format!("a scatter of warp {}{who} has still to write", other.warp);
                cx.found(fault(row, &what, Some(other.pc)))?;
            }
        }
    }
    let (lane, rows) = (lane_number(lane), rows.to_vec());
    let group = group::current(warp, lane);
    cx.block().scattered.push(Scattered { warp: warp.index, lane, group, pc: warp.pc, rows });
    Ok(())
}

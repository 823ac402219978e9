//! Rows that a scatter writes: no two may overlap, since their order is not defined. Those of two scatters are copies like any others, see
//! [`overwrite`](crate::exec::memory::global::overwrite).

use crate::exec::bulk::Row;
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::Context;

/// Checks that the rows of one scatter do not overlap.
///
/// # Errors
/// A row that is written twice.
pub(super) fn apart(cx: &Context<'_>, rows: &[Row]) -> Run<()> {
    let meets = |a: &Row, b: &Row| {
        a.address < b.address + b.bytes as u64 && b.address < a.address + a.bytes as u64
    };
    for (i, row) in rows.iter().enumerate() {
        if rows[..i].iter().any(|earlier| meets(earlier, row)) {
            let address = row.address;
            let detail = format!(
                "a scatter by tensor map writes {} bytes of global memory at {address:#x}, which it writes for another of its rows \
                 too: the order of the two is not defined, so the rows have to differ",
                row.bytes
            );
            cx.found(Trap::new(FaultKind::Race, detail).address(address))?;
        }
    }
    Ok(())
}

//! The shape of clusters, which the attribute gives.

use kernel_ptx::Capability;

use crate::{
    diag::Code,
    elaborate::{Builder, Env},
    syntax::{Expr, ExprKind},
};

/// The most blocks of a cluster that every device has (CUDA C++ Programming Guide, "Thread Block Clusters").
const PORTABLE: u32 = 8;
/// The most blocks of a cluster of a device that allows it.
const MOST: u32 = 16;
/// Why there are no more.
const WHY: &str =
    "the blocks of a cluster run at the same time, on multiprocessors close to each other";
/// The cluster assumed after a refused one: the most blocks, so that no problem is missed.
const REFUSED: [u32; 3] = [MOST, 1, 1];

impl Builder<'_> {
    /// `cluster = [2, 1]`: the blocks of a cluster on each axis of the grid.
    pub(crate) fn cluster_shape(&mut self, expr: &Expr, scope: Env) -> [u32; 3] {
        let parts = if let ExprKind::Array(parts) = &expr.kind {
            &parts[..]
        } else {
            std::slice::from_ref(expr)
        };
        let mut shape = [1; 3];
        if parts.is_empty() || parts.len() > shape.len() {
            self.report(
                Code::Cluster
                    .at(expr.loc, "a cluster has one extent for each axis of the grid")
                    .compare("extents", "1 to 3", parts.len())
                    .help("cluster = [2, 1]"),
            );
            return REFUSED;
        }
        for (extent, part) in shape.iter_mut().zip(parts) {
            let val = self.expr(part, scope);
            let Some(value) = self.const_int(&val, "an extent of the cluster", part.loc) else {
                return REFUSED;
            };
            match u32::try_from(value) {
                Ok(value) if (1..=MOST).contains(&value) => *extent = value,
                _ => {
                    self.report(
                        Code::Cluster
                            .at(
                                part.loc,
                                format!("a cluster cannot have {value} blocks along an axis"),
                            )
                            .compare(
                                "blocks",
                                format!("1 to {PORTABLE}, {MOST} on some devices"),
                                value,
                            )
                            .why(WHY),
                    );
                    return REFUSED;
                }
            }
        }
        let blocks: u32 = shape.iter().product();
        if blocks > MOST {
            self.report(
                Code::Cluster
                    .at(expr.loc, format!("a cluster cannot have {blocks} blocks"))
                    .compare(
                        "blocks",
                        format!("at most {PORTABLE}, {MOST} on some devices"),
                        blocks,
                    )
                    .why(WHY),
            );
            return REFUSED;
        }
        let why =
            "blocks that run together and access each other's shared memory exist from Hopper on";
        if blocks > 1 && self.wants(Capability::Clusters, "clusters", why, expr.loc).is_none() {
            return REFUSED;
        }
        shape
    }
}

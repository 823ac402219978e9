//! Clusters: `cluster::sync()`, ranks and coordinates; the shape that the attribute gives.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder, Env,
        language::value::{Num, Val},
    },
    ir::{ClusterOp, Const, Dtype, Op, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, Segment},
};

/// Every function of `cluster`, for suggestions.
const CLUSTER_NAMES: &[&str] = &[
    "rank",
    "size",
    "block_id",
    "id",
    "sync",
    "arrive",
    "wait",
    "try_cancel",
    "is_canceled",
    "canceled_block_id",
];
/// The most blocks of a cluster that every device has (CUDA C++ Programming Guide, "Thread Block Clusters").
const PORTABLE: u32 = 8;
/// The most blocks of a cluster of a device that allows it.
const MOST: u32 = 16;
/// Why there are no more.
const WHY: &str =
    "the blocks of a cluster run at the same time, on multiprocessors that lie together";
/// What goes on with a kernel whose clusters were refused: the most blocks, so that none is missed.
const REFUSED: [u32; 3] = [MOST, 1, 1];

impl Builder<'_> {
    /// `cluster = [2, 1]`: the blocks of a cluster on each axis of the grid.
    pub(crate) fn cluster_shape(&mut self, expr: &Expr, scope: Env) -> [u32; 3] {
        let parts = match &expr.kind {
            ExprKind::Array(parts) => parts.iter().collect(),
            _ => vec![expr],
        };
        let mut shape = [1; 3];
        if parts.is_empty() || parts.len() > shape.len() {
            self.report(
                Diagnostic::new(
                    Code::Cluster,
                    expr.loc,
                    "a cluster has one extent for each axis of the grid",
                )
                .compare("extents", "1 to 3", parts.len().to_string())
                .help("cluster = [2, 1]"),
            );
            return REFUSED;
        }
        for (extent, part) in shape.iter_mut().zip(&parts) {
            let val = self.expr(part, scope);
            let Some(value) = self.const_int(&val, "an extent of the cluster", part.loc) else {
                return REFUSED;
            };
            match u32::try_from(value) {
                Ok(value) if (1..=MOST).contains(&value) => *extent = value,
                _ => {
                    self.report(
                        Diagnostic::new(
                            Code::Cluster,
                            part.loc,
                            format!("a cluster cannot have {value} blocks along an axis"),
                        )
                        .compare(
                            "blocks",
                            format!("1 to {PORTABLE}, {MOST} on some devices"),
                            value.to_string(),
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
                Diagnostic::new(
                    Code::Cluster,
                    expr.loc,
                    format!("a cluster cannot have {blocks} blocks"),
                )
                .compare(
                    "blocks",
                    format!("at most {PORTABLE}, {MOST} on some devices"),
                    blocks.to_string(),
                )
                .why(WHY),
            );
            return REFUSED;
        }
        let why = "blocks that run together and reach each other's shared memory come with Hopper";
        if blocks > 1 && self.wants(Capability::Clusters, "a cluster", why, expr.loc).is_none() {
            return REFUSED;
        }
        shape
    }

    /// `cluster::name(..)`
    pub(crate) fn cluster_call(
        &mut self,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        if !CLUSTER_NAMES.contains(&name.name.as_str()) {
            self.no_such_function("cluster", name, CLUSTER_NAMES);
            return Val::Error;
        }
        let (required, form) = match name.name.as_str() {
            "block_id" | "id" => (1, "0"),
            "try_cancel" => (2, "answer, bar"),
            "is_canceled" => (1, "answer"),
            "canceled_block_id" => (2, "answer, 0"),
            _ => (0, ""),
        };
        let call = format!("cluster::{}({form})", name.name);
        if self.takes(required, vals.len(), &call, loc).is_none() {
            return Val::Error;
        }
        if matches!(name.name.as_str(), "try_cancel" | "is_canceled" | "canceled_block_id") {
            return self.launch_control(name, vals, args, loc).unwrap_or(Val::Error);
        }
        let why = "clusters come with Hopper";
        if !self.target.has(Capability::Clusters) && self.cluster != [1; 3] {
            // The attribute was refused.
            return Val::Error;
        }
        if self
            .wants(Capability::Clusters, &format!("`cluster::{}`", name.name), why, loc)
            .is_none()
        {
            return Val::Error;
        }
        let number = |builder: &mut Self, op: ClusterOp| {
            Val::Value(builder.emit(Op::Cluster(op), Vec::new(), Type::scalar(Dtype::I32), loc))
        };
        let blocks: u32 = self.cluster.iter().product();
        match name.name.as_str() {
            "size" => Val::Const(Const::Int(i128::from(blocks)), Num::Known(Dtype::I32)),
            "rank" => number(self, ClusterOp::Rank),
            "block_id" | "id" => {
                let Some(axis) = self.axis(&vals[0], 3, "the grid", args[0].loc) else {
                    return Val::Error;
                };
                let op =
                    if name.name == "id" { ClusterOp::Id(axis) } else { ClusterOp::BlockId(axis) };
                number(self, op)
            }
            other => {
                let op = match other {
                    "sync" => ClusterOp::Sync,
                    "arrive" => ClusterOp::Arrive,
                    _ => ClusterOp::Wait,
                };
                self.op(Op::Cluster(op), Vec::new(), None, loc);
                Val::Unit
            }
        }
    }
}

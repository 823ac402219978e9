//! Cluster launch control: blocks that take over the work of clusters that have not begun.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
    },
    ir::{ClusterOp, Dtype, Op, Type, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// The words of an answer (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
const WORDS: u32 = 4;
/// Why other targets have none of this.
const SINCE_BLACKWELL: &str = "blocks that take over the work of others come with Blackwell (PTX ISA, \"clusterlaunchcontrol\")";
/// How an answer is made.
const ANSWER: &str = "let answer = shared::<u32>([4]);";

impl Builder<'_> {
    /// `cluster::try_cancel(answer, bar)`, `cluster::is_canceled(answer)`, `cluster::canceled_block_id(answer, axis)`
    pub(crate) fn launch_control(
        &mut self,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Option<Val> {
        let what = format!("`cluster::{}`", name.name);
        self.wants(Capability::LaunchControl, &what, SINCE_BLACKWELL, loc)?;
        let answer = self.answer(&vals[0], args[0].loc)?;
        let (op, ty) = match name.name.as_str() {
            "try_cancel" => {
                let barrier = self.own_barrier(&vals[1], args[1].loc)?;
                let operands = vec![answer, barrier];
                self.op(Op::Cluster(ClusterOp::TryCancel), operands, None, loc);
                return Some(Val::Unit);
            }
            "is_canceled" => (ClusterOp::IsCanceled, Dtype::Bool),
            _ => {
                let axis = self.axis(&vals[1], 3, "the grid", args[1].loc)?;
                (ClusterOp::CanceledBlockId(axis), Dtype::I32)
            }
        };
        Some(Val::Value(self.emit(Op::Cluster(op), vec![answer], Type::scalar(ty), loc)))
    }

    /// The four words in shared memory that an answer is written to, as the hardware has them.
    fn answer(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let Some((value, shared)) = self.shared_window(val) else {
            let actual = self.describe(val);
            self.report(
                Diagnostic::new(Code::Kind, loc, "an answer is written to shared memory")
                    .compare("", "a `Shared<u32>` of extents [4]", actual)
                    .why("16 bytes arrive there, and count on a barrier (PTX ISA, \"clusterlaunchcontrol.try_cancel\")")
                    .help(ANSWER),
            );
            return None;
        };
        self.own_window(&shared, "`cluster::try_cancel`", loc)?;
        if shared.shape != [WORDS] {
            let place = self.shared[shared.root].loc;
            self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "an answer has four words")
                    .compare("extents", format!("[{WORDS}]"), format!("{:?}", shared.shape))
                    .place(place, "the shared memory is made here")
                    .help(ANSWER),
            );
            return None;
        }
        let num = self.num(value);
        if let Err((_, actual)) = self.cells.unify(Num::Known(Dtype::U32), num) {
            let place = self.shared[shared.root].loc;
            self.report(
                Diagnostic::new(Code::DtypeMismatch, loc, "an answer has four words")
                    .compare("element type", "u32", actual)
                    .place(place, "the shared memory is made here")
                    .help(ANSWER),
            );
            return None;
        }
        if self.shared[shared.root].pinned.is_some() {
            let place = self.shared[shared.root].loc;
            self.report(
                Diagnostic::new(Code::SharedUse, loc, "an answer lies as the hardware writes it")
                    .compare("", "shared memory whose layout is left open", "a layout of its own")
                    .place(place, "the shared memory is made here")
                    .help(ANSWER),
            );
            return None;
        }
        Some(value)
    }
}

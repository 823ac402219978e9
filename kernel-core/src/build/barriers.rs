use super::{Builder, value::Val};
use crate::{
    ir::Value,
    loc::Loc,
    syntax::{Expr, Segment},
};
impl Builder<'_> {
    pub(super) fn barrier_method(
        &mut self,
        _: Value,
        _: &Segment,
        _: &[Val],
        _: &[Expr],
        _: Loc,
    ) -> Val {
        Val::Error
    }
}

//! wgmma
use super::Lower;
use super::emitter::Val;
use crate::ir::Value;
impl Lower<'_> {
    pub(super) fn wgmma(&mut self, _args: &[Value], _result: Value) -> Vec<Val> {
        Vec::new()
    }
    pub(super) fn wgmma_wait(&mut self, _pending: u32, _acc: Value) -> Vec<Val> {
        Vec::new()
    }
}

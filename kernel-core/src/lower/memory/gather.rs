//! Gathers and scatters, four rows for each instruction (PTX ISA, "cp.async.bulk.tensor": `.tile::gather4`, `.tile::scatter4`).
//!
//! In each warp with rows of its own, one thread issues the instructions for the rows in its registers.

use kernel_layout::Dim;
use kernel_ptx::{Base, Operand, Type, Word};

use crate::ir::{Tma, Value};
use crate::layouts::gather::ROWS;
use crate::layouts::tma::Planning;
use crate::lower::Lower;
use crate::lower::emitter::Val;
use crate::lower::tiles::coords::{ThreadMap, register_part, repeated_threads};

impl Lower<'_> {
    pub(crate) fn by_rows(&mut self, tma: Tma, args: &[Value]) {
        let operands = tma.operands(2, args);
        let planning =
            Planning { kernel: self.kernel, known: self.facts.known(), layouts: self.plan.layouts };
        let plan =
            planning.by_rows(tma, args).expect("layouts::boxes has refused what has no plan");
        let window = operands.window.expect("ir::verify requires a window of a gather");
        let map = self.map_address(&plan.map);
        let [rows, column] = operands.coordinates[..] else {
            unreachable!("ir::verify requires rows and a column of a gather")
        };
        let layout = self.layout(rows).clone();
        let (rows, column) = (self.tile(rows).to_vec(), self.scalar(column));
        let condition = operands.condition.map_or(Val::Int(1), |value| self.scalar(value));
        // Warps that repeat the rows of others leave them to the first of these.
        let one = self.e.first_of(repeated_threads(&layout, self.e.threads / crate::lower::LANES));
        let issues = self.e.and(Type::Pred, one, condition);
        if issues == Val::Int(0) {
            return;
        }
        let copy = self.tma_instruction(tma, Word::D2, &operands, issues);
        let place = ThreadMap::of(&layout, 0, plan.pitch_bytes);
        let repeated = layout.free_variable_mask(Dim::Register);
        let registers = (0..layout.in_size(Dim::Register)).step_by(ROWS as usize);
        for first in registers.filter(|register| register & repeated == 0) {
            let row = register_part(&layout, first, 0);
            let four = &rows[first as usize..(first + ROWS) as usize];
            let four: Vec<Operand> =
                four.iter().map(|&row| Operand::Reg(self.e.reg(row, Type::B32))).collect();
            for columns in &plan.columns {
                let at = self.e.add(Type::S32, column, Val::Int(i64::from(columns.first)));
                let at = Operand::Reg(self.e.reg(at, Type::B32));
                let list = [at].into_iter().chain(four.clone()).collect();
                let tensor =
                    Operand::TensorAddress { base: Base::Reg(map), offset: 0, lists: vec![list] };
                // All rows are below the next box of columns: no bit is in both.
                let offset = row * plan.pitch_bytes + columns.offset_bytes;
                let (value, constant) = self.shared_address(window, &place, offset);
                let shared = self.e.at(value, constant);
                self.issue_tma(tma, &copy, Some(shared), tensor);
            }
        }
        if tma.kind.reads_shared() {
            self.commit_stores(condition);
        }
    }
}

//! Loads over the places of a filter (PTX ISA, "cp.async.bulk.tensor": `.im2col`).

use kernel_ptx::{Base, Opcode, Operand, Type, Word};

use crate::ir::{FilterAxis, Tma, Value};
use crate::layouts::tma::Planning;
use crate::lower::Lower;
use crate::lower::emitter::Val;

impl Lower<'_> {
    pub(crate) fn by_places(&mut self, tma: Tma, args: &[Value]) {
        let filter = self.kernel.params[tma.param as usize].map.filter.clone();
        let rank = filter.len() + 2;
        let operands = tma.operands(rank, args);
        let planning =
            Planning { kernel: self.kernel, known: self.facts.known(), layouts: self.plan.layouts };
        let plan =
            planning.by_places(tma, args).expect("layouts::boxes has refused what has no plan");
        let map = self.map_address(&plan.map);
        let at: Vec<Val> = operands.coordinates.iter().map(|&at| self.scalar(at)).collect();
        let (positions, image) = self.position_of(tma.param, &filter, at[0]);
        let offsets = filter.iter().zip(&at[1..]).rev().map(|(axis, &tap)| {
            let offset = self.e.mul(Type::S32, tap, Val::Int(axis.dilation.into()));
            self.in_16_bits(offset)
        });
        let offsets = Operand::Vector(offsets.collect());
        let first = self.e.first_of(self.e.threads - 1);
        let condition = operands.condition.map_or(Val::Int(1), |value| self.scalar(value));
        let issues = self.e.and(Type::Pred, first, condition);
        if issues == Val::Int(0) {
            return;
        }
        let dim = [Word::D3, Word::D4, Word::D5][filter.len() - 1];
        let mut copy = self.tma_instruction(tma, dim, &operands, issues);
        copy.after_barrier(operands.barrier, offsets);
        for columns in &plan.columns {
            let channel = self.e.add(Type::S32, at[rank - 1], Val::Int(columns.first.into()));
            let coordinates = [channel].into_iter().chain(positions.iter().copied()).chain([image]);
            let list = coordinates.map(|at| Operand::Reg(self.e.reg(at, Type::B32))).collect();
            let tensor =
                Operand::TensorAddress { base: Base::Reg(map), offset: 0, lists: vec![list] };
            let shared =
                operands.window.map(|window| self.window_address(window, columns.offset_bytes));
            self.issue_tma(tma, &copy, shared, tensor);
        }
    }

    /// Where the place of this number begins along each axis of the filter, the innermost first, and the image that it is in. Places before
    /// the first one are in images before the first one.
    fn position_of(&mut self, param: u32, filter: &[FilterAxis], place: Val) -> (Vec<Val>, Val) {
        let mut number = place;
        let mut positions = Vec::new();
        for (axis, filter) in filter.iter().enumerate().rev() {
            let axis = 1 + u32::try_from(axis).expect("a tensor has few axes");
            let places = self.places(param, axis, *filter);
            let quotient = self.e.divide(Opcode::Div, Type::S32, number, places);
            let whole = self.e.mul(Type::S32, quotient, places);
            let rest = self.e.sub(Type::S32, number, whole);
            // The quotient of a negative number is rounded towards zero.
            let below = self.e.shr(Type::S32, rest, Type::S32.bits() - 1);
            let raise = self.e.and(Type::S32, below, places);
            let rest = self.e.add(Type::S32, rest, raise);
            number = self.e.add(Type::S32, quotient, below);
            let begin = self.e.mul(Type::S32, rest, Val::Int(filter.stride.into()));
            positions.push(self.e.add(Type::S32, begin, Val::Int(filter.first().into())));
        }
        (positions, number)
    }

    /// How many places a filter has along an axis, at least one: the launch has checked the extent.
    fn places(&mut self, param: u32, axis: u32, filter: FilterAxis) -> Val {
        let extent = self.param_dim(param, axis);
        let spare = i64::from(filter.padding) + i64::from(filter.last()) - 1;
        let free = self.e.add(Type::S32, extent, Val::Int(spare));
        let steps = self.e.divide(Opcode::Div, Type::U32, free, Val::Int(filter.stride.into()));
        self.e.add(Type::S32, steps, Val::Int(1))
    }
}

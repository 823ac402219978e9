//! The instructions of `ptx!`, at their place.

use kernel_layout::Dim;
use kernel_ptx::Reg;

use crate::ir::{Snippet, Type, Value};
use crate::lower::emitter::Val;
use crate::lower::emitter::finish::registers_mut;
use crate::lower::tiles::scalar::held;
use crate::lower::{Data, Lower};

impl Lower<'_> {
    /// Runs written-out instructions once, or once for each element that a thread holds.
    pub(crate) fn ptx(&mut self, code: &Snippet, args: &[Value], results: &[Value]) {
        let tile = args
            .iter()
            .chain(results)
            .find(|&&value| matches!(self.kernel.ty(value), Type::Tile(..)));
        let Some(&tile) = tile else {
            let given = self.snippet(code, args, 0);
            for (&result, value) in results.iter().zip(given) {
                self.values.insert(result, Data::Scalar(value));
            }
            return;
        };
        let layout = self.layout(tile);
        let repeats = layout.free_variable_mask(Dim::Register);
        let count = layout.in_size(Dim::Register);
        let mut registers: Vec<Vec<Val>> = vec![Vec::new(); results.len()];
        for register in 0..count {
            // A register that repeats an element has what the first one has.
            let first = (register & !repeats) as usize;
            if first < register as usize {
                for values in &mut registers {
                    let value = values[first];
                    values.push(value);
                }
                continue;
            }
            let given = self.snippet(code, args, first);
            for (values, value) in registers.iter_mut().zip(given) {
                values.push(value);
            }
        }
        for (&result, values) in results.iter().zip(registers) {
            self.values.insert(result, Data::Tile(values));
        }
    }

    /// The instructions once, on the elements that a thread holds in one register; gives the results.
    fn snippet(&mut self, code: &Snippet, args: &[Value], register: usize) -> Vec<Val> {
        let mut own: Vec<Option<Reg>> = vec![None; code.body.registers.len()];
        for (param, &arg) in code.body.params.iter().zip(args) {
            let value = match &self.values[arg] {
                Data::Scalar(value) | Data::Window(value) => *value,
                Data::Tile(values) => values[register],
            };
            let place = param.register.expect("an operand of `ptx!` is a register");
            own[place.0 as usize] = Some(self.e.reg(value, held(self.elem(arg))));
        }
        for (place, register) in own.iter_mut().zip(&code.body.registers) {
            if place.is_none() {
                *place = Some(self.e.fresh(register.ty));
            }
        }
        let own: Vec<Reg> = own.into_iter().flatten().collect();
        for instruction in code.instructions() {
            let written = kernel_ptx::results(instruction, &code.body.registers)
                .expect("elaborate::ptx_text admits only what the table has");
            let mut instruction = instruction.clone();
            instruction.line = 0;
            if let Some(guard) = &mut instruction.guard {
                guard.predicate = own[guard.predicate.0 as usize];
            }
            for operand in &mut instruction.operands {
                registers_mut(operand, &mut |reg| *reg = own[reg.0 as usize]);
            }
            self.e.push(instruction, written, true);
        }
        let result = |param: &kernel_ptx::Param| {
            let place = param.register.expect("a result of `ptx!` is a register");
            Val::Reg(own[place.0 as usize])
        };
        code.body.results.iter().map(result).collect()
    }
}

//! The rows of many instructions: what modifiers say, which come again and again, is looked up once.

use std::collections::BTreeMap;

use super::form::{Filled, Form, fill, form_error, takes};
use super::{FormError, Row, table};
use crate::target::Version;
use crate::{Instruction, Modifier, Opcode, Register};

/// The rows that an opcode and its modifiers fill, whatever the operands.
type Rows = Vec<(&'static Row, Filled)>;

/// The [`Rows`] of the instructions that were looked up.
#[derive(Default)]
pub(crate) struct Forms<'m> {
    filled: BTreeMap<(Opcode, &'m [Modifier]), Rows>,
}

impl<'m> Forms<'m> {
    fn filled(&mut self, instruction: &'m Instruction) -> &[(&'static Row, Filled)] {
        self.filled.entry((instruction.opcode, &instruction.modifiers)).or_insert_with(|| {
            let rows = table::rows(instruction.opcode);
            rows.filter_map(|row| Some((row, fill(row, &instruction.modifiers).ok()?))).collect()
        })
    }

    /// No form of these modifiers asks for a later version, whatever the operands.
    pub(crate) fn latest(&mut self, instruction: &'m Instruction) -> Option<Version> {
        self.filled(instruction).iter().map(|(_, filled)| filled.version).max()
    }

    /// The rows that an instruction is, with what its modifiers ask for.
    ///
    /// More than one where the manual describes a form twice with different needs.
    pub(crate) fn of(
        &mut self,
        instruction: &'m Instruction,
        registers: &[Register],
    ) -> Result<Vec<Form>, FormError> {
        let rows = self.filled(instruction).iter();
        let fitting = rows.filter(|(row, filled)| takes(row, filled, instruction, registers));
        let forms: Vec<Form> =
            fitting.map(|(row, filled)| (*row, filled.need, filled.version)).collect();
        if forms.is_empty() { Err(form_error(instruction, registers)) } else { Ok(forms) }
    }
}

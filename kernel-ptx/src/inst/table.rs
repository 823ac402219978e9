//! All rows, read once.
#![expect(clippy::disallowed_types, reason = "names are looked up, never listed")]

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::row::Row;
use super::{arith, async_copy, barrier, control, convert, matrix, memory};
use crate::{Modifier, Opcode, Space, Type, Word};

static TABLE: LazyLock<Table> = LazyLock::new(Table::read);

static MODIFIERS: LazyLock<HashMap<&'static str, Modifier>> = LazyLock::new(|| {
    let words = Word::ALL.iter().map(|word| (word.text(), Modifier::Word(*word)));
    let spaces = Space::ALL.iter().map(|space| (space.text(), Modifier::Space(*space)));
    let types = Type::ALL.iter().map(|ty| (ty.text(), Modifier::Type(*ty)));
    words.chain(spaces).chain(types).collect()
});

struct Table {
    rows: Vec<Row>,
    /// Where the rows of an opcode are.
    ranges: BTreeMap<Opcode, Vec<usize>>,
}

impl Table {
    fn read() -> Table {
        let families = [
            arith::ROWS,
            convert::ROWS,
            memory::ROWS,
            matrix::ROWS,
            async_copy::ROWS,
            barrier::ROWS,
            control::ROWS,
        ];
        let mut table = Table { rows: Vec::new(), ranges: BTreeMap::new() };
        for texts in families.iter().flat_map(|family| family.iter()) {
            let row =
                Row::read(*texts).unwrap_or_else(|| panic!("a row cannot be read: {texts:?}"));
            table.ranges.entry(row.opcode).or_default().push(table.rows.len());
            table.rows.push(row);
        }
        table
    }
}

/// The instruction table: every form, family by family.
pub fn table() -> &'static [Row] {
    &TABLE.rows
}

/// The forms of one opcode.
pub(crate) fn rows(opcode: Opcode) -> impl Iterator<Item = &'static Row> {
    TABLE.ranges.get(&opcode).into_iter().flatten().map(|index| &TABLE.rows[*index])
}

impl Modifier {
    /// The modifier with this spelling, the dot left out.
    pub fn from_text(text: &str) -> Option<Modifier> {
        MODIFIERS.get(text).copied()
    }
}

//! The conversions of a dump of layouts: from which layout to which, and what each costs.

use std::collections::BTreeMap;

use super::layouts::{Dumped, Row};

/// A conversion of a tile to another layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The line of the source.
    pub line: u32,
    /// The tile's type: `f32[128, 64]`.
    pub tile: String,
    /// The name of the layout before, if the dump shows it.
    pub from: Option<String>,
    /// The name of the layout after.
    pub to: String,
    /// What it costs a warp.
    pub cost: String,
}

/// The conversions in the order of the program.
pub fn of(dump: &Dumped) -> Vec<Conversion> {
    let mut layouts: BTreeMap<&str, &str> = BTreeMap::new();
    for (value, layout) in dump.rows.iter().flat_map(|row| made(&row.statement)) {
        layouts.insert(value, layout);
    }
    let one = |row: &Row| {
        let (_, rest) = row.statement.split_once(" = to_layout ")?;
        let value = rest.split([' ', ',']).next().unwrap_or_default();
        let (_, ty) = rest.split_once(" : ")?;
        let (tile, to) = ty.rsplit_once(" in ")?;
        Some(Conversion {
            line: row.line,
            tile: tile.to_owned(),
            from: layouts.get(value).map(|&layout| layout.to_owned()),
            to: to.to_owned(),
            cost: row.cost.clone(),
        })
    };
    dump.rows.iter().filter_map(one).collect()
}

/// The values that a statement makes, with their layouts: `%2 = ..: f32[64] in L1`, and of a loop `carry (%7 = %2 : f32[64] in L0) -> (%8 : f32[64] in L0)`.
fn made(statement: &str) -> Vec<(&str, &str)> {
    const BEFORE_LAYOUT: &str = " in ";
    let mut found = Vec::new();
    let mut after = statement;
    while let Some((value, rest)) = after.split_once(BEFORE_LAYOUT) {
        let is_name = |c: char| c == 'L' || c.is_ascii_digit();
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (layout, rest) = rest.split_at(end);
        after = rest;
        // A loop's counter is in a range: `for %3 in (%0, %1, %2)`.
        if !layout.starts_with('L') {
            continue;
        }
        // Among several values, one follows a comma. The first of a list follows its parenthesis.
        let begin = match value {
            next if next.starts_with(", %") => Some(2),
            first if first.starts_with('%') && first.contains(" = ") => Some(0),
            other => other.rfind("(%").map(|at| at + 1),
        };
        let Some(begin) = begin else { continue };
        let name = value[begin..].split([' ', ',', ')']).next().unwrap_or_default();
        found.push((name, layout));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_layouts_of_their_statements() {
        let carry = "for %3 in (%0, %0, %0) carry (%7 = %2 : f32[64] in L0, %9 = %4 : f16[8, 8] in L12) -> (%8 : f32[64] in L0, %10 : f16[8, 8] in L12)";
        assert_eq!(made(carry), [("%7", "L0"), ("%9", "L12"), ("%8", "L0"), ("%10", "L12")]);
        assert_eq!(made("%1 = load_tensor x [%0, %0] : f32[64, 64] in L3"), [("%1", "L3")]);
        assert_eq!(
            made("reduce 1 (%11) by (%13 : f32, %14 : f32) -> (%15 : f32[64] in L0)"),
            [("%15", "L0")]
        );
        assert_eq!(made("store_tensor x [%0] %2"), []);
    }

    #[test]
    fn conversions_say_from_which_layout_to_which() {
        let dump = "\
kernel k()
  %1 = load_tensor x [%0] : f32[64] in L0  // line 3
  %2 = to_layout %1 : f32[64] in L1  // line 4: free
  %3 = to_layout %9 mma([2, 2]) : f16[8, 8] in L2  // line 5: shuffle, 8 a warp
}
";
        let dump = Dumped::read(dump).expect("a dump");
        let told: Vec<(u32, String, Option<String>, String, String)> = of(&dump)
            .into_iter()
            .map(|one| (one.line, one.tile, one.from, one.to, one.cost))
            .collect();
        let required = [
            (4, "f32[64]", Some("L0"), "L1", "free"),
            (5, "f16[8, 8]", None, "L2", "shuffle, 8 a warp"),
        ];
        let required = required.map(|(line, tile, from, to, cost)| {
            (line, tile.to_owned(), from.map(str::to_owned), to.to_owned(), cost.to_owned())
        });
        assert_eq!(told, required);
    }
}

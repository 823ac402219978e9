//! The table of evidence: for every form what was compared, and what differed.

use std::{collections::BTreeMap, fmt::Write};

use crate::outcome::Outcome;

/// What is known of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Random operand tuples.
    pub operands: u64,
    /// Results compared.
    pub results: u64,
    /// Results that are not the same, or farther apart than the manual permits.
    pub different: u64,
    /// Results that are apart as far as the manual permits.
    pub bounded: u64,
    /// NaN with another sign or payload.
    pub payloads: u64,
    /// The largest distance, in units of the last place.
    pub largest_ulps: u64,
    /// What the manual says of the error, where it does not give the bits.
    pub bound: String,
    /// A test of it that has no results.
    pub failed: u64,
}

/// The rows of a run, by form.
pub fn rows(outcomes: &[Outcome]) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for outcome in outcomes {
        for form in &outcome.forms {
            let row = rows.entry(form.clone()).or_default();
            row.operands += outcome.operands;
            row.results += outcome.results;
            row.different += outcome.different;
            row.bounded += outcome.bounded;
            row.payloads += outcome.payloads;
            row.largest_ulps = row.largest_ulps.max(outcome.largest_ulps);
            row.bound.clone_from(&outcome.bound);
            row.failed += u64::from(outcome.failed.is_some());
        }
    }
    rows
}

const HEAD: &str = "| form | operands | results | different | within the bound | NaN payloads | largest ulps | bound |";

/// The page: `about` is a line for each fact of the run.
pub fn page(about: &[String], outcomes: &[Outcome]) -> String {
    let rows = rows(outcomes);
    let mut page = String::from("# The emulator and a GPU, form by form\n\n");
    for line in about {
        let _ = writeln!(page, "* {line}");
    }
    let _ = write!(
        page,
        "* {} forms in {} kernels; {} results compared.

Written by `differential table`. Each form was run on random operands, awkward ones often, on the GPU and on the emulator with
the additions of an H200's tensor cores (`TensorCore::Hopper`), and the results were compared bit for bit. Where PTX ISA bounds an error in place of
giving the bits, a result counts as different when it is outside of the bound, and the largest distance is that of
all results. Of a NaN, PTX ISA leaves sign and payload open: such pairs are counted in a column of their own.
Kernels whose instructions have effects in place of results are compared by the memory that they leave; a form's results are
those of all kernels that test it.

{HEAD}
|---|---|---|---|---|---|---|---|
",
        rows.len(),
        outcomes.len(),
        outcomes.iter().map(|outcome| outcome.results).sum::<u64>(),
    );
    for (form, row) in &rows {
        let different = if row.failed > 0 {
            format!("failed {}", row.failed)
        } else {
            row.different.to_string()
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {different} | {} | {} | {} | {} |",
            form.replace('|', "\\|"),
            row.operands,
            row.results,
            row.bounded,
            row.payloads,
            row.largest_ulps,
            row.bound,
        );
    }
    page
}

/// The forms of a page with the text of their columns `operands` and `different`.
pub fn read(page: &str) -> BTreeMap<String, (u64, String)> {
    let mut rows = BTreeMap::new();
    for line in page.lines().skip_while(|line| *line != HEAD).skip(2) {
        let Some((form, rest)) = line.strip_prefix("| `").and_then(|line| line.split_once("` | "))
        else {
            continue;
        };
        let cells: Vec<&str> = rest.split(" | ").collect();
        let [operands, _, different, ..] = cells[..] else { continue };
        let operands = operands.parse().unwrap_or_default();
        rows.insert(form.replace("\\|", "|"), (operands, different.to_owned()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let outcome = |form: &str, different, failed: Option<&str>| Outcome {
            forms: vec![form.to_owned()],
            operands: 100_000,
            results: 100_000,
            different,
            failed: failed.map(str::to_owned),
            ..Outcome::default()
        };
        let outcomes = [
            outcome("shfl.sync.idx.b32 x|p", 0, None),
            outcome("a", 3, None),
            outcome("a", 4, None),
            outcome("b", 0, Some("no device")),
        ];
        let rows = read(&page(&["a GPU".to_owned()], &outcomes));
        let required = [
            ("a", (200_000, "7")),
            ("b", (100_000, "failed 1")),
            ("shfl.sync.idx.b32 x|p", (100_000, "0")),
        ];
        let required = required.map(|(form, (n, text))| (form.to_owned(), (n, text.to_owned())));
        assert_eq!(rows, BTreeMap::from(required));
    }
}

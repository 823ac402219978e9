//! What became of a case, as it is written to a file.

use serde::{Deserialize, Serialize};

use crate::case::{Bound, Case};

/// What became of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The case.
    pub case: String,
    /// The forms that it is the test of.
    pub forms: Vec<String>,
    /// Random operand tuples.
    pub operands: u64,
    /// Results compared.
    pub results: u64,
    /// Results that are not the same, NaN with NaN aside.
    pub different: u64,
    /// Results that differ as far as the manual permits.
    #[serde(default)]
    pub bounded: u64,
    /// What the manual says of the error, where it does not give the bits.
    #[serde(default)]
    pub bound: String,
    /// NaN with another sign or payload.
    pub payloads: u64,
    /// The largest distance of two results, in units of the last place, NaN aside.
    pub largest_ulps: u64,
    /// Some of the differences.
    pub shown: Vec<Difference>,
    /// Why there are no results.
    pub failed: Option<String>,
}

/// Two results that are not the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The number of the result.
    pub index: usize,
    /// What it was computed from.
    pub operands: String,
    /// On the device.
    pub device: String,
    /// On the emulator.
    pub emulated: String,
}

impl Outcome {
    /// A case of which nothing is known.
    pub fn of(case: &Case) -> Outcome {
        let bound = match case.bound {
            Bound::Bits => String::new(),
            Bound::Near(tolerance) => tolerance.says.to_owned(),
        };
        Outcome { operands: case.operands, bound, ..Outcome::named(&case.name, &case.forms) }
    }

    /// A case by its name and its forms.
    pub fn named(name: &str, forms: &[String]) -> Outcome {
        Outcome { case: name.to_owned(), forms: forms.to_owned(), ..Outcome::default() }
    }
}

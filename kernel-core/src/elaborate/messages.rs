//! Texts of messages: advice for names of other languages, near names, descriptions of values.

pub(crate) mod advice;
mod foreign;
pub(crate) mod forms;
pub(crate) mod in_place;
pub(crate) mod iterators;
mod lines;
mod masks;
pub(crate) mod own_code;
mod parts;
mod reads;
mod rings;
mod scans;
pub(crate) mod spelling;
mod tensor_elements;
mod threads;
pub(crate) mod unknown;
mod widths;
pub(crate) mod windows;
pub(crate) mod words;

use crate::{diag::Problems, loc::Locations, syntax::Unit};

/// Writes what messages say in the words of the program that they are about.
pub(crate) fn set(unit: &Unit, locations: &Locations, problems: &mut Problems) {
    own_code::write(unit, locations, problems);
    in_place::set(unit, locations, problems);
    own_code::declared(unit, problems);
}

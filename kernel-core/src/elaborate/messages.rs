//! Texts of messages: advice for names of other languages, near names, descriptions of values.

pub(crate) mod advice;
mod foreign;
pub(crate) mod forms;
pub(crate) mod in_place;
mod lines;
mod masks;
mod parts;
pub(crate) mod spelling;
mod threads;
pub(crate) mod unknown;
mod widths;
pub(crate) mod windows;
pub(crate) mod words;

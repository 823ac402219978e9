//! Texts of messages: advice for names of other languages, near names, descriptions of values.

pub(crate) mod advice;
mod foreign;
pub(crate) mod forms;
pub(crate) mod in_place;
pub(crate) mod spelling;
pub(crate) mod unknown;
pub(crate) mod windows;
pub(crate) mod words;

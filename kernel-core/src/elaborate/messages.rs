//! Words of messages: advice for names of other languages, near names, values in words.

pub(crate) mod advice;
pub(crate) mod forms;
pub(crate) mod spelling;
pub(crate) mod unknown;
pub(crate) mod words;

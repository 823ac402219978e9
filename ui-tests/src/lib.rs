//! What Kiln says when a kernel is wrong, as users see it: rustc's output for the programs under `fail`,
//! one folder for each area of codes. The programs under `pass` have to build without a word.
#![forbid(unsafe_code)]

#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cache;
mod chosen;
mod error;
mod measure;
mod output;
mod plot;
mod question;
mod report;
mod tuner;

pub use cache::{Cache, Contents, Entry, FORMAT, table};
pub use chosen::Chosen;
pub use error::{Error, Result};
pub use output::{Compared, Output};
pub use report::{Outcome, Row, Tuned, Unit};
pub use tuner::{Mode, Tuner};

//! stub
use std::path::{Path, PathBuf};
use super::report::Report;
/// Pages.
pub fn pages(_: &Report, _: &Path) -> Result<Vec<(PathBuf, String)>, String> { Ok(Vec::new()) }

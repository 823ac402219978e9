//! The file in which an attribute stands.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::SystemTime,
};

use kernel_core::{SourceFile, Surroundings};
use proc_macro::Span;

use crate::manifest;

/// Files that were read, with the time of their last change: an editor keeps this process while they change.
static FILES: LazyLock<Mutex<HashMap<PathBuf, (SystemTime, SourceFile)>>> =
    LazyLock::new(Mutex::default);

/// What the file of the attribute says around the item of this name. Nothing is known where rustc gives no file, as in some editors.
pub(crate) fn of(attribute: &str, name: &syn::Ident) -> Arc<Surroundings> {
    around(attribute, name).unwrap_or_default()
}

fn around(attribute: &str, name: &syn::Ident) -> Option<Arc<Surroundings>> {
    let path = Span::call_site().local_file()?;
    let changed = std::fs::metadata(&path).ok()?.modified().ok()?;
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if files.get(&path).is_none_or(|(known, _)| *known != changed) {
        let text = std::fs::read_to_string(&path).ok()?;
        let kiln = manifest::name().unwrap_or_else(|| "kiln".to_owned());
        let file = SourceFile::read(&text, &path.display().to_string(), &kiln);
        files.insert(path.clone(), (changed, file));
    }
    let (_, file) = files.get(&path)?;
    let start = name.span().start();
    Some(file.around(attribute, &name.to_string(), (start.line, start.column)))
}

//! The name of the crate `kiln` in the package that is compiled, from its Cargo.toml.
//!
//! `tiles = { package = "kiln-gpu", .. }` makes it `tiles` for that package, in any table of dependencies. If the file
//! cannot be read, the default name stays.

mod toml;

use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The package whose library is called `kiln`.
const PACKAGE: &str = "kiln-gpu";

/// The tables of dependencies; those of the library come first, since tests and examples see them as well.
const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The name that the manifest gives the crate, if it gives another one.
pub(crate) fn name() -> Option<String> {
    let manifest = match std::env::var_os("CARGO_MANIFEST_PATH") {
        Some(path) => PathBuf::from(path),
        // Cargo before 1.84 names the folder only.
        None => Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("Cargo.toml"),
    };
    let table = read(&manifest)?;
    name_in(&table, || workspace(&manifest, &table))
}

fn read(path: &Path) -> Option<Table> {
    toml::parse(&std::fs::read_to_string(path).ok()?)
}

/// The manifest for dependencies with `workspace = true`.
fn workspace(manifest: &Path, table: &Table) -> Option<Table> {
    let folder = manifest.parent()?;
    if let Some(root) = text(table.get("package"), "workspace") {
        return read(&folder.join(root).join("Cargo.toml"));
    }
    let roots = folder.ancestors().filter_map(|folder| read(&folder.join("Cargo.toml")));
    roots.into_iter().find(|table| table.contains_key("workspace"))
}

/// The name that a manifest gives the crate, if it gives another one.
fn name_in(manifest: &Table, workspace: impl Fn() -> Option<Table>) -> Option<String> {
    // The package's own tests and examples: the library has its own name there.
    if text(manifest.get("package"), "name") == Some(PACKAGE) {
        return None;
    }
    let targets = || table(manifest.get("target")).into_iter().flat_map(Table::values);
    let lists = TABLES.iter().flat_map(|name| {
        let all = targets().filter_map(|target| table(Some(target)));
        std::iter::once(manifest).chain(all).filter_map(|owner| table(owner.get(*name)))
    });
    for (key, dependency) in lists.flatten() {
        let inherits = table(Some(dependency)).is_some_and(|own| own.contains_key("workspace"));
        let package = if inherits {
            let root = workspace()?;
            let list = table(table(root.get("workspace"))?.get("dependencies"))?;
            text(list.get(key), "package").map(str::to_owned)
        } else {
            text(Some(dependency), "package").map(str::to_owned)
        };
        match package {
            // Cargo takes the key for the name as soon as the package is written out.
            Some(package) if package == PACKAGE => return Some(key.replace('-', "_")),
            None if key == PACKAGE => return None,
            Some(_) | None => {}
        }
    }
    None
}

fn table(value: Option<&Value>) -> Option<&Table> {
    match value? {
        Value::Table(table) => Some(table),
        Value::Text(_) | Value::Other => None,
    }
}

/// The text under `key` of a table.
fn text<'a>(value: Option<&'a Value>, key: &str) -> Option<&'a str> {
    match table(value)?.get(key)? {
        Value::Text(text) => Some(text),
        Value::Table(_) | Value::Other => None,
    }
}

#[cfg(test)]
mod tests;

//! What a package says of itself on a registry, and what it carries there: each published one has all of it.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;

/// The texts of the licences, which every package carries.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// What the names of published packages begin with.
const PREFIX: &str = "kiln-gpu";

/// # Errors
/// A licence of the root that cannot be read.
pub(super) fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let root = Path::new(metadata["workspace_root"].as_str().unwrap_or_default());
    let read = |name| std::fs::read(root.join(name)).context(name);
    let texts = LICENCES.map(read).into_iter().collect::<Result<Vec<_>>>()?;
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().unwrap_or(root);
        let path = manifest.strip_prefix(root).unwrap_or(manifest).to_string_lossy();
        let mut lacking = lacking(package);
        for (name, text) in LICENCES.iter().zip(&texts) {
            // Links to the root's: what is there has to be the text.
            let same = std::fs::read(folder.join(name)).is_ok_and(|own| own == *text);
            if is_published(package) && !same {
                lacking.push(format!("`{name}` beside it"));
            }
        }
        let finding = |what| Finding::at(&path, 1, format!("a published package has {what}"));
        findings.extend(lacking.into_iter().map(finding));
    }
    Ok(findings)
}

fn is_published(package: &Value) -> bool {
    // Without a list, every registry may have it.
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

/// What the manifest of a published package does not say.
fn lacking(package: &Value) -> Vec<String> {
    if !is_published(package) {
        return Vec::new();
    }
    let mut lacking = Vec::new();
    let name = package["name"].as_str().unwrap_or_default();
    if !name.starts_with(PREFIX) {
        lacking.push(format!("a name that begins with `{PREFIX}`"));
    }
    for field in ["description", "license", "documentation", "readme", "rust_version"] {
        if package[field].as_str().is_none_or(str::is_empty) {
            lacking.push(format!("`{}`", field.replace('_', "-")));
        }
    }
    for field in ["keywords", "categories"] {
        if package[field].as_array().is_none_or(Vec::is_empty) {
            lacking.push(format!("`{field}`"));
        }
    }
    if package["metadata"]["docs"]["rs"].is_null() {
        lacking.push("`[package.metadata.docs.rs]`".to_owned());
    }
    // Registries take no path, and whoever builds a package of one version has the others of that version.
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let is_ours = dependency["name"].as_str().is_some_and(|name| name.starts_with(PREFIX));
        // What only tests need, without a version, is left out of what is published.
        let is_left_out = dependency["kind"] == "dev" && dependency["req"] == "*";
        if is_ours
            && !is_left_out
            && !dependency["req"].as_str().is_some_and(|version| version.starts_with('='))
        {
            lacking.push(format!("`=` before the version of {}", dependency["name"]));
        }
    }
    lacking
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lacking;

    #[test]
    fn what_a_published_package_lacks_is_named() {
        let whole = json!({
            "name": "kiln-gpu-a", "publish": null, "description": "a", "license": "MIT", "documentation": "b",
            "readme": "README.md", "rust_version": "1.89", "keywords": ["c"], "categories": ["d"],
            "metadata": { "docs": { "rs": { "targets": [] } } },
            "dependencies": [
                { "name": "kiln-gpu-b", "req": "=0.1.0", "kind": null },
                { "name": "half", "req": "^2", "kind": null },
                { "name": "kiln-gpu-a", "req": "*", "kind": "dev" },
            ],
        });
        assert_eq!(lacking(&whole), [""; 0]);
        let without = |field: &str| {
            let mut package = whole.clone();
            package[field] = json!(null);
            lacking(&package)
        };
        for field in ["description", "license", "documentation", "readme", "keywords", "categories"]
        {
            assert_eq!(without(field), [format!("`{field}`")]);
        }
        assert_eq!(without("rust_version"), ["`rust-version`"]);
        assert_eq!(without("metadata"), ["`[package.metadata.docs.rs]`"]);
        let mut other = whole.clone();
        other["name"] = json!("kernel-a");
        other["dependencies"][0]["req"] = json!("^0.1.0");
        let required =
            ["a name that begins with `kiln-gpu`", "`=` before the version of \"kiln-gpu-b\""];
        assert_eq!(lacking(&other), required);
        other["publish"] = json!([]);
        assert_eq!(lacking(&other), [""; 0]);
    }
}

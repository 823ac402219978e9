//! Unsafe code is where the driver is called, and where a kernel with raw pointers is launched. Every other crate
//! forbids it, so that nobody has to look for it there.

use std::path::Path;

use serde_json::Value;

use super::Finding;
use crate::repository::Repository;

/// The crates that need it, as ARCHITECTURE.md says.
const NEED_IT: [&str; 4] =
    ["kiln-gpu-runtime", "kiln-gpu-differential", "kiln-gpu-testkit", "benches"];
const LINE: &str = "#![forbid(unsafe_code)]";

pub(super) fn check(repository: &Repository, metadata: &Value, root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        if package["name"].as_str().is_some_and(|name| NEED_IT.contains(&name)) {
            continue;
        }
        for target in package["targets"].as_array().into_iter().flatten() {
            let kinds = target["kind"].as_array().into_iter().flatten();
            let mut kinds = kinds.filter_map(Value::as_str);
            // Tests and examples launch kernels of every kind.
            if !kinds.any(|kind| matches!(kind, "lib" | "bin" | "proc-macro")) {
                continue;
            }
            let path = Path::new(target["src_path"].as_str().unwrap_or_default());
            let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
            let file = repository.file(&path);
            if !file.is_some_and(|file| file.text.lines().any(|line| line == LINE)) {
                findings.push(Finding::at(&path, 1, format!("`{LINE}` is not there")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn roots_of_crates_forbid_unsafe_code() {
        let package = |name: &str, kind: &str| {
            let path = format!("/r/{name}/src/lib.rs");
            json!({ "name": name, "targets": [{ "kind": [kind], "src_path": path }] })
        };
        let metadata = json!({ "packages": [
            package("a", "lib"), package("b", "proc-macro"), package("c", "test"), package("kiln-gpu-runtime", "lib"),
        ] });
        let repository = Repository::of(&[
            ("a/src/lib.rs", "//! A.\n#![forbid(unsafe_code)]\n"),
            ("b/src/lib.rs", "// #![forbid(unsafe_code)]\n"),
        ]);
        let found = check(&repository, &metadata, Path::new("/r"));
        assert_eq!(
            found,
            [Finding::at("b/src/lib.rs", 1, "`#![forbid(unsafe_code)]` is not there")]
        );
    }
}

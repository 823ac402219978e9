//! Nothing but the table of targets compares one with a target by name: what is asked is a capability, which the next target has or
//! has not.

use super::Finding;
use crate::repository::Repository;

/// Where targets are named.
const TABLES: [&str; 2] = ["kernel-ptx/src/target.rs", "kernel-ptx/src/hardware.rs"];

/// The packages whose code goes by what a target can do.
const PLACES: [&str; 5] = [
    "kernel-ptx/src/",
    "kernel-core/src/",
    "kernel-layout/src/",
    "kernel-emulator/src/",
    "kernel-runtime/src/",
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repository.files {
        let path = file.path.as_str();
        let asks = PLACES.iter().any(|place| path.starts_with(place));
        if !asks || TABLES.contains(&path) || file.ending() != "rs" || path.contains("/tests") {
            continue;
        }
        for (number, line) in (1..).zip(file.text.lines()) {
            if line.trim_start().starts_with("#[cfg(test)]") {
                break;
            }
            if compares(line) {
                findings.push(Finding::at(
                    path,
                    number,
                    "a target is compared by its name: ask `Target::has`, and add a `Capability` where there is none",
                ));
            }
        }
    }
    findings
}

/// Whether a line compares something with a target, or its number with another.
fn compares(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let compared = ["==", "!=", "matches!", "=>"].iter().any(|sign| code.contains(sign));
    let by_name = compared
        && ["Target::SM_", "Target::Sm"].iter().any(|name| {
            let after = code.split(name).nth(1);
            after.is_some_and(|after| after.starts_with(|digit: char| digit.is_ascii_digit()))
        });
    let by_number = ["target.sm ", "target().sm "].iter().any(|number| {
        let after = code.split(number).nth(1);
        after.is_some_and(|after| after.starts_with(['<', '>', '=', '!']))
    });
    by_name || by_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_found_and_other_uses_are_not() {
        assert!(compares("if self.target == kernel_ptx::Target::SM_80 {"));
        assert!(compares("Dtype::Bf16 if target.sm >= 90 => x,"));
        assert!(compares("matches!(target, Target::SM_90A)"));
        assert!(compares("Target::Sm90a => 132,"));
        assert!(!compares("return Target::SM_80; // of those that are =="));
        assert!(!compares("out.push((\"sm_90a\".to_owned(), kernel_ptx::Target::SM_90A));"));
        assert!(!compares("if self.target.has(Capability::Tma) { // not == Target::SM_80"));
        assert!(!compares("match target.sm {"));
    }
}

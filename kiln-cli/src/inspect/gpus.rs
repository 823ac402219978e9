//! The GPUs on which `kiln inspect` shows how many blocks a multiprocessor holds.

use kernel_ptx::{Hardware, Target};

/// The GPUs that the table shows: one for each generation that kernels are compiled for.
pub const GPUS: [&str; 4] = ["A100", "H200", "B200", "RTX 5090"];

/// What a GPU is called in the table: with those that have multiprocessors of the same limits.
pub fn name(hardware: &Hardware) -> &'static str {
    match hardware.model {
        "H200" => "H100/H200",
        // The workstation cards of the generation have the same limits.
        "RTX 5090" => "RTX Blackwell",
        other => other,
    }
}

/// The GPUs on which a kernel of a target runs, of those that the table shows; and the one that the target is made for.
pub fn gpus(target: Target) -> Vec<&'static Hardware> {
    let own = target.hardware().model;
    let mut found: Vec<&Hardware> = Vec::new();
    for row in Hardware::ROWS {
        let runs = target.runs_on_capability((row.target.sm / 10, row.target.sm % 10));
        let shown = GPUS.contains(&row.model) || row.model == own;
        if runs && shown && found.iter().all(|known| known.model != row.model) {
            found.push(row);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_shown_on_the_gpus_that_run_it() {
        let names = |target| gpus(target).iter().map(|row| row.model).collect::<Vec<_>>();
        assert_eq!(names(Target::SM_80), ["A100", "H200", "B200", "RTX 5090"]);
        assert_eq!(names(Target::SM_90A), ["H200"]);
        assert_eq!(
            names(Target::parse("sm_89").expect("Ada")),
            ["RTX 4090", "H200", "B200", "RTX 5090"]
        );
        assert_eq!(names(Target::parse("sm_103a").expect("Ultra")), ["B300"]);
    }
}

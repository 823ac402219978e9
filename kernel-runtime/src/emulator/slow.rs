//! A message about an emulator that is slow because it was compiled without optimisation.

use kernel_emulator::{Compiled, PROFILE};
use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

/// The message of this process.
pub(super) static NOTICE: Notice = Notice::new(Compiled::HERE, Duration::from_secs(1));

/// Reports once that the emulator could be faster.
#[derive(Debug)]
pub(super) struct Notice {
    compiled: Compiled,
    /// How long a launch may take before anything is said.
    patience: Duration,
    said: AtomicBool,
}

impl Notice {
    const fn new(compiled: Compiled, patience: Duration) -> Self {
        Self { compiled, patience, said: AtomicBool::new(false) }
    }

    /// The message after a launch of the kernel that took this long; none if it was already reported or does not apply.
    pub(super) fn after(&self, kernel: &str, took: Duration) -> Option<String> {
        let slow = self.compiled == Compiled::Unoptimised && took > self.patience;
        (slow && !self.said.swap(true, Relaxed)).then(|| text(kernel, took))
    }
}

fn text(kernel: &str, took: Duration) -> String {
    format!(
        "kiln: the emulator took {:.1} s to run `{kernel}`. It is compiled without optimisation, which makes it some fifty times slower.\n\
         kiln: these lines in the Cargo.toml of your workspace have it optimised, in tests as well:\n\n{PROFILE}\n",
        took.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    #[test]
    fn an_unoptimised_emulator_is_named_once_with_the_lines_to_add() {
        let notice = Notice::new(Compiled::Unoptimised, PATIENCE);
        assert_eq!(notice.after("matmul", PATIENCE), None, "a second is not over a second");
        let said = notice.after("matmul", Duration::from_millis(6940)).expect("it took long");
        assert_eq!(
            said,
            "kiln: the emulator took 6.9 s to run `matmul`. It is compiled without optimisation, which makes it some fifty times slower.\n\
             kiln: these lines in the Cargo.toml of your workspace have it optimised, in tests as well:\n\
             \n\
             [profile.dev.package.kiln-gpu-emulator]\n\
             opt-level = 3\n\
             codegen-units = 16\n\
             debug = false\n\
             \n"
        );
        assert_eq!(notice.after("matmul", Duration::from_secs(60)), None, "it is said already");
    }

    #[test]
    fn of_an_optimised_emulator_nothing_is_said() {
        let notice = Notice::new(Compiled::Optimised, PATIENCE);
        assert_eq!(notice.after("matmul", Duration::from_secs(3600)), None);
    }

    #[test]
    fn the_emulator_of_this_workspace_is_optimised() {
        // The profiles in Cargo.toml raise only `opt-level`, which is what has to be noticed.
        assert_eq!(Compiled::HERE, Compiled::Optimised);
    }
}

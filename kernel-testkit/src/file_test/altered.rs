//! PTX that was changed, on the inputs of a file test: what the emulator says, and whether the results are still those of the
//! PTX that the compiler made.

use std::time::Duration;

use kernel_core::host::Variant;
use kernel_emulator::Options;

use super::{FileTest, differences, grid};
use crate::{
    data::Argument,
    directives::{Directives, Executor},
    executors::{self, Stop},
    mutate,
    prepare::Build,
};

/// A variant of an instance, and what its PTX gives on the emulator in every case of the test that it fits.
#[derive(Debug)]
pub struct Reference<'t> {
    directives: &'t Directives,
    build: &'t Build,
    variant: &'t Variant,
    cases: Vec<Case>,
}

#[derive(Debug)]
struct Case {
    args: Vec<Argument>,
    grid: [u32; 3],
    results: Vec<Argument>,
    /// Warp instructions that it took.
    instructions: u64,
}

impl FileTest {
    /// The variants of an instance that a case fits which is to end well, where the test names the emulator.
    ///
    /// # Errors
    /// What is wrong with the arguments of a case.
    pub fn emulated<'b>(&self, build: &'b Build) -> Result<Vec<&'b Variant>, String> {
        let directives = &self.loaded()?.directives;
        let mut fits = vec![false; build.variants.len()];
        if directives.run.contains(&Executor::Emulate) {
            let cases = directives.cases.iter().filter(|case| case.fails.is_none());
            for case in cases.filter(|case| case.fits(&build.kernel)) {
                let (args, _) = self.arguments(build, case)?;
                for (fits, variant) in fits.iter_mut().zip(&build.variants) {
                    *fits |= variant.requires.iter().all(|fact| executors::holds(*fact, &args));
                }
            }
        }
        let variants = build.variants.iter().zip(fits);
        Ok(variants.filter_map(|(variant, fits)| fits.then_some(variant)).collect())
    }

    /// Runs a variant of the test on the emulator, in the cases that it fits; cases that are to fail are left out.
    ///
    /// # Errors
    /// What the compiler says of the file, or the emulator of the variant.
    pub fn reference<'t>(
        &'t self,
        build: &'t Build,
        variant: &'t Variant,
    ) -> Result<Reference<'t>, String> {
        let loaded = self.loaded()?;
        let directives = &loaded.directives;
        let mut reference = Reference { directives, build, variant, cases: Vec::new() };
        let cases = directives.cases.iter().filter(|case| case.fails.is_none());
        for case in cases.filter(|case| case.fits(&build.kernel)) {
            let (args, names) = self.arguments(build, case)?;
            if !variant.requires.iter().all(|fact| executors::holds(*fact, &args)) {
                continue;
            }
            let grid = grid(loaded, build, case, &args, &names)?;
            let mut results = args.clone();
            let options = executors::checked(executors::MOST_INSTRUCTIONS);
            let run = executors::emulate(build, variant, grid, &mut results, &options)?;
            let instructions = run.report.warp_instructions;
            reference.cases.push(Case { args, grid, results, instructions });
        }
        Ok(reference)
    }
}

impl Reference<'_> {
    /// How long the launches of all cases take.
    ///
    /// # Errors
    /// What the emulator says.
    pub fn time(&self, options: &Options) -> Result<Duration, Stop> {
        let mut sum = Duration::ZERO;
        for case in &self.cases {
            let mut results = case.args.clone();
            let run =
                executors::emulate(self.build, self.variant, case.grid, &mut results, options)?;
            sum += run.took;
        }
        Ok(sum)
    }

    /// Runs other PTX in place of the variant's, in each case until one goes wrong.
    ///
    /// # Errors
    /// What the emulator says; results that differ from those of the variant.
    pub fn run(&self, ptx: String) -> Result<(), Stop> {
        let variant = Variant { ptx, ..self.variant.clone() };
        for case in &self.cases {
            let mut results = case.args.clone();
            let options = executors::checked(mutate::most_instructions(case.instructions));
            executors::emulate(self.build, &variant, case.grid, &mut results, &options)?;
            let differ = differences(self.directives, self.build, &case.results, &results);
            if !differ.is_empty() {
                return Err(Stop::Wrong(differ.join("\n")));
            }
        }
        Ok(())
    }
}

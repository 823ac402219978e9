//! The kernels whose mutants are run: those of file tests, and those of other compilers with launch descriptions.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use kernel_core::host::Variant;
use kernel_emulator::{FaultKind, Options};
use kiln_cli::{
    Launch,
    run::{self, Failure},
};

use super::{Mutant, mutants};
use crate::{FileTest, Reference, executors::Stop, prepare::Build};

/// Who compiled a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Kiln, from a file test.
    Kiln,
    /// Another compiler.
    Other,
}

impl Origin {
    /// In a report.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Kiln => "Kiln's own",
            Origin::Other => "other compilers'",
        }
    }
}

/// A kernel, of which there may be several PTX texts.
#[derive(Debug)]
pub enum Kernel {
    /// A file test.
    File(Box<FileTest>),
    /// A launch description with its PTX.
    Described(Box<Launch>),
}

impl Kernel {
    /// Those of the file tests below a folder, in the order of their names.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn of_tests(folder: &Path) -> Result<Vec<Kernel>, String> {
        let files = FileTest::all(folder);
        let files = files.map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(files.into_iter().map(|file| Kernel::File(Box::new(file))).collect())
    }

    /// Those of the launch descriptions (`*.json`) in a folder, in the order of their names.
    ///
    /// # Errors
    /// A folder or a description that cannot be read.
    pub fn described(folder: &Path) -> Result<Vec<Kernel>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
        let mut files = Vec::new();
        for entry in folder.read_dir().map_err(|error| failed(&error))? {
            let path = entry.map_err(|error| failed(&error))?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
        }
        files.sort();
        let read = |file: &std::path::PathBuf| {
            let launch = Launch::read(file).map_err(|error| error.to_string())?;
            Ok(Kernel::Described(Box::new(launch)))
        };
        files.iter().map(read).collect()
    }

    /// Its name in reports and in the list of survivors.
    pub fn name(&self) -> &str {
        match self {
            Kernel::File(file) => &file.name,
            Kernel::Described(launch) => &launch.name,
        }
    }

    /// Who compiled it.
    pub const fn origin(&self) -> Origin {
        match self {
            Kernel::File(_) => Origin::Kiln,
            Kernel::Described(_) => Origin::Other,
        }
    }

    /// Every PTX text of it that there are inputs for.
    ///
    /// # Errors
    /// What the compiler says of a file test.
    pub fn subjects(&self) -> Result<Vec<Subject<'_>>, String> {
        match self {
            Kernel::File(file) => {
                let mut subjects = Vec::new();
                for build in file.builds()? {
                    subjects.extend(file.emulated(build)?.into_iter().map(|variant| Subject {
                        variant: format!("{}, {}", build.label, variant.name),
                        ptx: &variant.ptx,
                        run: Way::File { file, build, variant },
                    }));
                }
                Ok(subjects)
            }
            Kernel::Described(launch) => {
                let variant = launch.target.clone().unwrap_or_default();
                Ok(vec![Subject { variant, ptx: &launch.ptx, run: Way::Described(launch) }])
            }
        }
    }
}

/// A PTX text whose mutants can be run.
#[derive(Clone, Debug)]
pub struct Subject<'k> {
    /// The instance, the target and the variant.
    pub variant: String,
    /// The text.
    pub ptx: &'k str,
    run: Way<'k>,
}

#[derive(Clone, Copy, Debug)]
enum Way<'k> {
    File { file: &'k FileTest, build: &'k Build, variant: &'k Variant },
    Described(&'k Launch),
}

/// What became of a mutant.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The emulator stopped it: how, and in words.
    Fault(FaultKind, String),
    /// Its results are wrong.
    Wrong(String),
    /// It is no program of the emulator's.
    Refused(String),
    /// The emulator itself failed.
    Panicked(String),
    /// The instruction is not executed on the inputs that there are.
    NotReached,
    /// Nothing showed.
    Survived,
}

impl Verdict {
    fn of(outcome: Result<(), Stop>) -> Verdict {
        match outcome {
            Ok(()) => Verdict::Survived,
            Err(Stop::Fault(fault)) => Verdict::Fault(fault.kind, fault.to_string()),
            Err(Stop::Wrong(words)) => Verdict::Wrong(words),
            Err(Stop::Refused(words)) => Verdict::Refused(words),
        }
    }
}

impl Verdict {
    /// What happened, and what was said of it.
    pub fn words(&self) -> (&'static str, &str) {
        match self {
            Verdict::Fault(kind, words) => (kind.text(), words),
            Verdict::Wrong(words) => ("wrong results", words),
            Verdict::Refused(words) => ("refused", words),
            Verdict::Panicked(words) => ("panicked", words),
            Verdict::NotReached => ("not reached", ""),
            Verdict::Survived => ("survived", ""),
        }
    }
}

/// A mutant and what became of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The mutant.
    pub mutant: Mutant,
    /// What became of it.
    pub verdict: Verdict,
}

impl Subject<'_> {
    /// The mutants of the text.
    ///
    /// # Errors
    /// See [`mutants`].
    pub fn mutants(&self) -> Result<Vec<Mutant>, String> {
        mutants(self.ptx)
    }

    /// Runs the text as it is, and then mutants of it.
    ///
    /// # Errors
    /// What the emulator says of the text as it is.
    pub fn judge(&self, mutants: Vec<Mutant>) -> Result<Vec<Outcome>, String> {
        let original = match self.run {
            Way::File { file, build, variant } => Original::File(file.reference(build, variant)?),
            Way::Described(launch) => Original::Described(Described::of(launch)?),
        };
        let judged = mutants.into_iter().map(|mutant| {
            let run = |ptx: String| {
                let run = || match &original {
                    Original::File(reference) => reference.run(ptx),
                    Original::Described(described) => described.run(ptx),
                };
                match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(outcome) => Verdict::of(outcome),
                    Err(panic) => Verdict::Panicked(words_of(&*panic)),
                }
            };
            let mut verdict = run(mutant.apply(self.ptx));
            if matches!(verdict, Verdict::Survived)
                && matches!(run(mutant.trapped(self.ptx)), Verdict::Survived)
            {
                verdict = Verdict::NotReached;
            }
            Outcome { mutant, verdict }
        });
        Ok(judged.collect())
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words").to_owned()
}

/// A text as it is, which passes.
enum Original<'k> {
    File(Reference<'k>),
    Described(Described<'k>),
}

/// A launch description that passes as it is.
struct Described<'k> {
    launch: &'k Launch,
    options: Options,
}

impl<'k> Described<'k> {
    /// With as many checks as the kernel passes.
    fn of(launch: &'k Launch) -> Result<Described<'k>, String> {
        let options = Options::default().with_threads(1);
        let strict = options.clone().with_check_tensor_fences(true).with_check_init_fences(true);
        let (options, outcome) = if let Ok(outcome) = run::run(launch, &strict, None) {
            (strict, outcome)
        } else {
            let outcome = run::run(launch, &options, None);
            (options, outcome.map_err(|error| error.to_string())?)
        };
        let most = super::most_instructions(outcome.warp_instructions);
        Ok(Described { launch, options: options.with_max_instructions(most) })
    }

    fn run(&self, ptx: String) -> Result<(), Stop> {
        let launch = Launch { ptx, ..self.launch.clone() };
        match run::run(&launch, &self.options, None) {
            Ok(_) => Ok(()),
            Err(error) => Err(match *error.failure {
                Failure::Fault(fault) => Stop::Fault(fault),
                Failure::Mismatch(mismatch) => Stop::Wrong(mismatch.to_string()),
                failure @ (Failure::Ptx { .. }
                | Failure::NoEntry { .. }
                | Failure::Target { .. }
                | Failure::Param { .. }
                | Failure::TensorMap { .. }
                | Failure::ParamCount { .. }
                | Failure::Init { .. }
                | Failure::InitDigest { .. }
                | Failure::Memory { .. }
                | Failure::Write { .. }) => Stop::Refused(failure.to_string()),
            }),
        }
    }
}

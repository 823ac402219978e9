//! The header of a file test: what to run, with which arguments, compared how.
//!
//! Lines that begin with `//@`:
//!
//! | line | meaning |
//! |---|---|
//! | `run: eval, emulate, gpu` | the executors; all of them agree with the first |
//! | `target: sm_80` | only this target of those that the kernel names |
//! | `instance: N = 128` | only this instance; may be repeated |
//! | `snapshot: ir, schedule, layouts, ptx` | dumps that are compared with the files beside the test |
//! | `no-conflicts` | the emulator counts no bank conflict of shared memory in the first variant, which assumes most |
//! | `conflicts: 2560` | the emulator counts this many in the first variant |
//! | `no-spill` | registers that do not suffice are an error |
//! | `arg x: f32[37, 64] uniform(-1, 1) strides(80, 1) offset(3)` | a tensor |
//! | `arg p: ptr f32[37] uniform(-1, 1)` | what a pointer points to |
//! | `arg n: i32 scalar 7` | a scalar |
//! | `arg b: none` | nothing, for a parameter that is an `Option` |
//! | `grid: 3, 2` | the grid, where it is not that of the attribute |
//! | `case: name` | a set of arguments; what stands before the first is in all of them |
//! | `expect out: 2 * x(i, j) + n` | what the element (i, j, k, ..) is, computed in another way, with the functions of [`expression`](crate::expression) |
//! | `compare: exact`, `compare f16: rtol=1e-3 atol=1e-6`, `compare out: ulp=2` | how far results may differ: in general, of an element type, of an argument |
//! | `fails: words` | every executor stops the kernel with an error that has these words |

use kernel_core::ir::Kernel;

use crate::compare::Tolerance;

/// What runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The reference evaluator, on the IR before layouts.
    Eval,
    /// The emulator, on the PTX of each variant.
    Emulate,
    /// A GPU, on the PTX of each variant.
    Gpu,
}

impl Executor {
    /// The name in headers.
    pub const fn name(self) -> &'static str {
        match self {
            Executor::Eval => "eval",
            Executor::Emulate => "emulate",
            Executor::Gpu => "gpu",
        }
    }
}

/// A header.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// The executors.
    pub run: Vec<Executor>,
    /// The targets; all of the kernel's where it is empty.
    pub targets: Vec<String>,
    /// The instances, as they describe themselves; all where it is empty.
    pub instances: Vec<String>,
    /// Endings of the snapshots.
    pub snapshots: Vec<String>,
    /// Spilled registers are an error.
    pub no_spill: bool,
    /// How many bank conflicts of shared memory the emulator counts in the first variant, if that is said.
    pub conflicts: Option<u64>,
    /// How results are compared, by argument or element type; a later line counts more.
    pub tolerances: Vec<(Option<String>, Tolerance)>,
    /// The cases: at least one.
    pub cases: Vec<Case>,
}

/// A set of arguments.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Its name; empty where it is the only one.
    pub name: String,
    /// Names and descriptions of the arguments.
    pub args: Vec<(String, String)>,
    /// The grid.
    pub grid: Option<String>,
    /// Names of arguments, and what their elements are.
    pub expected: Vec<(String, String)>,
    /// The kernel is stopped with an error that has these words.
    pub fails: Option<String>,
}

impl Case {
    /// Whether nothing is passed for a parameter.
    pub fn lacks(&self, param: &str) -> bool {
        self.args.iter().any(|(name, text)| name == param && text == "none")
    }

    /// Whether the case lacks those arguments that a kernel was built without.
    pub fn fits(&self, kernel: &Kernel) -> bool {
        kernel.params.iter().all(|param| param.absent == self.lacks(&param.name))
    }
}

impl Directives {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Directives, String> {
        let mut out = Directives::default();
        let mut common = Case::default();
        for (number, line) in (1..).zip(text.lines()) {
            let Some(line) = line.trim().strip_prefix("//@") else { continue };
            out.line(line.trim(), &mut common)
                .map_err(|error| format!("line {number}: {error}"))?;
        }
        if out.run.is_empty() {
            return Err("the header names no executor: `//@ run: eval, emulate, gpu`".to_owned());
        }
        if out.cases.is_empty() {
            out.cases.push(common);
        }
        Ok(out)
    }

    fn line(&mut self, line: &str, common: &mut Case) -> Result<(), String> {
        if line == "no-conflicts" {
            self.conflicts = Some(0);
            return Ok(());
        }
        if line == "no-spill" {
            self.no_spill = true;
            return Ok(());
        }
        let (key, value) = line.split_once(':').ok_or("a line is `key: value`")?;
        let (key, value) = (key.trim(), value.trim());
        let (word, subject) = key
            .split_once(' ')
            .map_or((key, None), |(word, subject)| (word, Some(subject.trim().to_owned())));
        let list = || value.split(',').map(|item| item.trim().to_owned());
        match (word, subject) {
            ("conflicts", None) => {
                self.conflicts = Some(value.parse().map_err(|_| "`conflicts` is a number")?);
            }
            ("run", None) => {
                for name in list() {
                    let known = [Executor::Eval, Executor::Emulate, Executor::Gpu];
                    let executor = known.into_iter().find(|executor| executor.name() == name);
                    self.run
                        .push(executor.ok_or_else(|| format!("there is no executor `{name}`"))?);
                }
            }
            ("target", None) => self.targets.extend(list()),
            ("instance", None) => self.instances.push(value.to_owned()),
            ("snapshot", None) => self.snapshots.extend(list()),
            ("compare", subject) => self.tolerances.push((subject, Tolerance::parse(value)?)),
            ("case", None) => {
                self.cases.push(Case { name: value.to_owned(), ..common.clone() });
            }
            (word, subject) => {
                let case = self.cases.last_mut().unwrap_or(common);
                match (word, subject) {
                    ("grid", None) => case.grid = Some(value.to_owned()),
                    ("fails", None) => case.fails = Some(value.to_owned()),
                    ("arg", Some(name)) => replace(&mut case.args, name, value),
                    ("expect", Some(name)) => replace(&mut case.expected, name, value),
                    _ => return Err(format!("`{key}` is not a key of a header")),
                }
            }
        }
        Ok(())
    }

    /// How the elements of an argument are compared.
    pub fn tolerance(&self, argument: &str, dtype: &str) -> Tolerance {
        let fits = |subject: &Option<String>| {
            subject.as_deref().is_none_or(|subject| subject == argument || subject == dtype)
        };
        let mut best = Tolerance::EXACT;
        for (subject, tolerance) in &self.tolerances {
            if fits(subject) {
                best = *tolerance;
            }
        }
        best
    }
}

/// A case changes what stands before it.
fn replace(list: &mut Vec<(String, String)>, name: String, value: &str) {
    match list.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => value.clone_into(old),
        None => list.push((name, value.to_owned())),
    }
}

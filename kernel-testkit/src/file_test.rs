//! A file test: found, compiled, run by every executor, judged.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{
    arguments,
    assembler::Assemble,
    compare,
    data::{Argument, Buffer, Number, Random, encode},
    directives::{Case, Directives, Executor},
    executors,
    executors::Gpu,
    expression::Scope,
    prepare::{self, Build, Prepared},
};

mod altered;

pub use altered::Reference;

/// A file test. It is compiled once, when it is first asked for.
#[derive(Debug)]
pub struct FileTest {
    /// The area and the name, such as `dot/tf32`.
    pub name: String,
    path: PathBuf,
    loaded: OnceLock<Result<Loaded, String>>,
}

#[derive(Debug)]
struct Loaded {
    text: String,
    directives: Directives,
    prepared: Prepared,
}

/// Arguments, and what names stand for.
type Arguments = (Vec<Argument>, Vec<(String, Number)>);

/// The GPU of this machine.
static GPU: OnceLock<Result<Gpu, String>> = OnceLock::new();

/// The GPU of this machine, or why there is none.
///
/// # Errors
/// The runtime's words.
pub fn gpu() -> Result<&'static Gpu, &'static str> {
    GPU.get_or_init(Gpu::open).as_ref().map_err(String::as_str)
}

impl FileTest {
    /// The file tests below a folder, in the order of their names.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn all(root: &Path) -> std::io::Result<Vec<FileTest>> {
        let mut out = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
                    let name = name.to_string_lossy().replace('\\', "/");
                    out.push(FileTest { name, path, loaded: OnceLock::new() });
                }
            }
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    /// A file test that is in no file; it has no snapshots.
    pub fn of(name: &str, text: &str) -> FileTest {
        let loaded = load(&format!("{name}.rs"), text.to_owned());
        FileTest { name: name.to_owned(), path: PathBuf::new(), loaded: OnceLock::from(loaded) }
    }

    fn text(&self) -> Result<String, String> {
        match self.loaded.get() {
            Some(Ok(loaded)) => Ok(loaded.text.clone()),
            Some(Err(error)) => Err(error.clone()),
            None => std::fs::read_to_string(&self.path).map_err(|error| error.to_string()),
        }
    }

    /// Whether the text names a target. `false` for a file that cannot be read.
    pub fn names_target(&self, target: &str) -> bool {
        self.text().is_ok_and(|text| text.contains(target))
    }

    /// The same test for another target, without snapshots.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn for_target(&self, target: &str) -> Result<FileTest, String> {
        let text = self.text()?;
        let kept = |line: &&str| {
            !["//@ snapshot:", "//@ target:"].iter().any(|start| line.starts_with(start))
        };
        let text: Vec<&str> = text.lines().filter(kept).collect();
        Ok(FileTest::of(&format!("{}-{target}", self.name), &retargeted(&text.join("\n"), target)))
    }

    /// What PTX calls the file.
    fn file(&self) -> String {
        format!("{}.rs", self.name)
    }

    fn loaded(&self) -> Result<&Loaded, String> {
        let load = || {
            let text = std::fs::read_to_string(&self.path).map_err(|error| error.to_string())?;
            load(&self.file(), text)
        };
        self.loaded.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    /// The PTX of every variant of every instance, with the target that it is for.
    ///
    /// # Errors
    /// What the compiler says of the file.
    pub fn ptx(&self) -> Result<Vec<(&str, &str)>, String> {
        let texts = self.builds()?.iter().flat_map(|build| {
            build.variants.iter().map(|variant| (build.target.as_str(), variant.ptx.as_str()))
        });
        Ok(texts.collect())
    }

    /// Runs every case of every instance, and compares the snapshots.
    ///
    /// # Errors
    /// What differs, with the instance, the case, the variant and the executor.
    pub fn run(&self) -> Result<(), String> {
        let loaded = self.loaded()?;
        let mut failures = Vec::new();
        let (builds, cases) = (&loaded.prepared.builds, &loaded.directives.cases);
        for build in builds {
            let mut none = true;
            for case in cases.iter().filter(|case| case.fits(&build.kernel)) {
                none = false;
                if let Err(error) = self.case(loaded, build, case) {
                    failures.push(format!("[{}] {}: {error}", build.label, case.name));
                }
            }
            if none {
                failures.push(format!("[{}] no case lacks these arguments", build.label));
            }
        }
        for case in cases {
            if !builds.iter().any(|build| case.fits(&build.kernel)) {
                failures.push(format!("{}: no kernel was built without these", case.name));
            }
        }
        if failures.is_empty() {
            self.snapshots(loaded);
            return Ok(());
        }
        Err(failures.join("\n"))
    }

    /// The arguments of a case, and what generic parameters and scalars are.
    fn arguments(&self, build: &Build, case: &Case) -> Result<Arguments, String> {
        let types: Vec<(String, String)> = build.generics.clone();
        let mut names: Vec<(String, Number)> = Vec::new();
        for (name, value) in &build.generics {
            if let Ok(value) = Scope::default().evaluate(value) {
                names.push((name.clone(), value));
            }
        }
        let mut args: Vec<Argument> = Vec::new();
        for param in &build.kernel.params {
            let described = case.args.iter().find(|(name, _)| *name == param.name);
            let (name, text) =
                described.ok_or_else(|| format!("no `arg` describes `{}`", param.name))?;
            if param.absent {
                args.push(Argument::Absent);
                continue;
            }
            let mut random = Random::of(&format!("{} {} {name}", self.name, case.name));
            let mut scope = Scope { names: names.clone(), buffers: Vec::new() };
            let arg = arguments::argument(text, &param.kind, &types, &mut scope, &mut random)
                .map_err(|error| format!("`{name}`: {error}"))?;
            if let Argument::Scalar(_, value) = &arg {
                names.push((name.clone(), *value));
            }
            args.push(arg);
        }
        for (name, _) in &case.args {
            if !build.kernel.params.iter().any(|param| param.name == *name) {
                return Err(format!("the kernel has no parameter `{name}`"));
            }
        }
        Ok((args, names))
    }

    fn case(&self, loaded: &Loaded, build: &Build, case: &Case) -> Result<(), String> {
        let directives = &loaded.directives;
        let (args, names) = self.arguments(build, case)?;
        let grid = grid(loaded, build, case, &args, &names)?;
        if let Some(broken) = build.declared.iter().find(|fact| !executors::holds(**fact, &args)) {
            return Err(format!("the arguments break what an attribute states: {broken:?}"));
        }
        let mut runs: Vec<(String, Result<Vec<Argument>, String>)> = Vec::new();
        for executor in &directives.run {
            let variants = build
                .variants
                .iter()
                .filter(|v| v.requires.iter().all(|f| executors::holds(*f, &args)));
            let mut add = |name: String, run: &dyn Fn(&mut [Argument]) -> Result<(), String>| {
                let mut results = args.clone();
                let outcome = run(&mut results).map(|()| results);
                runs.push((name, outcome));
            };
            match executor {
                Executor::Eval => {
                    add("eval".to_owned(), &|args| executors::evaluate(build, grid, args));
                }
                Executor::Emulate => {
                    for (number, variant) in variants.enumerate() {
                        add(format!("emulate, {}", variant.name), &|args| {
                            let options = executors::checked(executors::MOST_INSTRUCTIONS);
                            let run = executors::emulate(build, variant, grid, args, &options)?;
                            let conflicts = run.report.shared_bank_conflicts;
                            match directives.conflicts {
                                Some(required) if number == 0 && required != conflicts => {
                                    Err(format!("{conflicts} bank conflicts, required {required}"))
                                }
                                _ => Ok(()),
                            }
                        });
                    }
                }
                Executor::Gpu => {
                    // A fault of a kernel makes the device useless for what follows.
                    let Ok(gpu) = gpu() else { continue };
                    if !gpu.runs(&build.target) || case.fails.is_some() {
                        continue;
                    }
                    for variant in variants {
                        add(format!("gpu, {}", variant.name), &|args| {
                            gpu.run(build, variant, grid, args)
                        });
                    }
                }
            }
        }
        judge(directives, build, case, &args, &names, runs)
    }

    fn snapshots(&self, loaded: &Loaded) {
        for ending in &loaded.directives.snapshots {
            let stages = &loaded.prepared.builds[0].stages;
            let text = stages.iter().find(|(name, _)| name == ending).map(|(_, text)| text);
            let text = text.map_or("no such stage", String::as_str);
            expect_test::expect_file![self.path.with_extension(ending)].assert_eq(text);
        }
    }

    /// Compiles the file once more: the PTX has the same bytes, and no trace of this machine.
    ///
    /// # Errors
    /// What differs.
    pub fn deterministic(&self) -> Result<(), String> {
        let loaded = self.loaded()?;
        let again = prepare::prepare(&self.file(), &loaded.text, &loaded.directives)?;
        for (first, second) in loaded.prepared.builds.iter().zip(&again.builds) {
            for (a, b) in first.variants.iter().zip(&second.variants) {
                let what = format!("[{}] {}", first.label, a.name);
                if let Some((a, b)) = a.ptx.lines().zip(b.ptx.lines()).find(|(a, b)| a != b) {
                    return Err(format!("{what}: another text the second time:\n  {a}\n  {b}"));
                }
                if a.ptx != b.ptx {
                    return Err(format!("{what}: another length the second time"));
                }
                let quoted = a.ptx.lines().filter(|line| line.contains(".file"));
                for line in quoted {
                    if line.contains("\"/") || line.contains(":\\") {
                        return Err(format!("{what}: an absolute path: {line}"));
                    }
                }
                if let Some(folder) = self.path.parent()
                    && a.ptx.contains(&*folder.to_string_lossy())
                {
                    return Err(format!("{what}: the PTX names {}", folder.display()));
                }
            }
        }
        Ok(())
    }

    /// What was compiled: every instance for every target.
    ///
    /// # Errors
    /// What the compiler says of the file.
    pub fn builds(&self) -> Result<&[Build], String> {
        Ok(&self.loaded()?.prepared.builds)
    }

    /// Asks what every PTX text costs, on each architecture that it is assembled for. Gives a line for each that spills registers.
    ///
    /// # Errors
    /// What the assembler says; spilled registers where the header forbids them.
    pub fn assemble(&self, assembler: &impl Assemble) -> Result<Vec<String>, String> {
        let loaded = self.loaded()?;
        let mut spills = Vec::new();
        for build in &loaded.prepared.builds {
            for (index, variant) in build.variants.iter().enumerate() {
                for target in build.assembled_for(index) {
                    let what = format!("[{}] {}, -arch={target}", build.label, variant.name);
                    let cost = assembler
                        .cost(&self.name, &variant.ptx, target)
                        .map_err(|error| format!("{what}: {error}"))?;
                    if cost.spilled_bytes > 0 {
                        let bytes = cost.spilled_bytes;
                        spills.push(format!("{}: {what}: {bytes} bytes", self.name));
                    }
                }
            }
        }
        if loaded.directives.no_spill && !spills.is_empty() {
            return Err(spills.join("\n"));
        }
        Ok(spills)
    }

    /// Whether the header names an executor. `false` for a file that cannot be read.
    pub fn names(&self, executor: Executor) -> bool {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        Directives::parse(&text).is_ok_and(|directives| directives.run.contains(&executor))
    }
}

/// A text whose kernel is compiled for a target, instead of those that its attribute names.
pub(crate) fn retargeted(text: &str, target: &str) -> String {
    const WORD: &str = "target = ";
    let Some(start) = text.find(WORD).map(|at| at + WORD.len()) else { return text.to_owned() };
    let (before, named) = text.split_at(start);
    let end = match named.strip_prefix('[') {
        Some(list) => list.find(']').map(|at| at + 2),
        None => named.find(|c: char| !c.is_alphanumeric() && c != '_'),
    };
    format!("{before}{target}{}", &named[end.unwrap_or(named.len())..])
}

fn load(file: &str, text: String) -> Result<Loaded, String> {
    let directives = Directives::parse(&text)?;
    let prepared = prepare::prepare(file, &text, &directives)?;
    Ok(Loaded { text, directives, prepared })
}

/// The grid of a case: the header's, or the attribute's.
fn grid(
    loaded: &Loaded,
    build: &Build,
    case: &Case,
    args: &[Argument],
    names: &[(String, Number)],
) -> Result<[u32; 3], String> {
    let text = case.grid.as_ref().or(loaded.prepared.grid.as_ref());
    let text = text.ok_or("neither the kernel nor the case says what the grid is")?;
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let list: syn::punctuated::Punctuated<syn::Expr, syn::Token![,]> =
        syn::parse::Parser::parse_str(syn::punctuated::Punctuated::parse_terminated, text)
            .map_err(|error| format!("grid: {error}"))?;
    let buffers = build.kernel.params.iter().zip(args);
    let buffers = buffers.filter_map(|(param, arg)| Some((param.name.as_str(), arg.buffer()?)));
    let mut scope = Scope { names: names.to_vec(), buffers: buffers.collect() };
    let mut grid = [1; 3];
    if list.len() > 3 {
        return Err("a grid has three axes".to_owned());
    }
    for (place, expr) in grid.iter_mut().zip(&list) {
        let extent = scope.integer(expr)?;
        *place = u32::try_from(extent).map_err(|_| format!("a grid of {extent} blocks"))?;
    }
    Ok(grid)
}

/// Compares every run with the first one, and with what the header expects.
fn judge(
    directives: &Directives,
    build: &Build,
    case: &Case,
    before: &[Argument],
    names: &[(String, Number)],
    runs: Vec<(String, Result<Vec<Argument>, String>)>,
) -> Result<(), String> {
    if let Some(words) = &case.fails {
        for (name, outcome) in runs {
            match outcome {
                Ok(_) => return Err(format!("{name}: nothing stopped the kernel")),
                Err(error) if error.contains(words) => {}
                Err(error) => return Err(format!("{name}: another error: {error}")),
            }
        }
        return Ok(());
    }
    let mut failures = Vec::new();
    let mut reference: Option<Vec<Argument>> = None;
    for (name, outcome) in runs {
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        for (what, required) in expected(build, case, before, names)? {
            let actual = buffer_named(build, &result, &what);
            let tolerance = directives.tolerance(&what, required.dtype.name());
            if let Some(actual) = actual
                && let Err(error) = compare::buffers(&what, &required, actual, tolerance)
            {
                failures.push(format!("{name}, from what is expected: {error}"));
            }
        }
        let Some(reference) = &reference else {
            reference = Some(result);
            continue;
        };
        let differ = differences(directives, build, reference, &result);
        failures.extend(differ.into_iter().map(|error| format!("{name}: {error}")));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n  ")) }
}

/// How results differ from a reference, as far as the header forbids it.
fn differences(
    directives: &Directives,
    build: &Build,
    reference: &[Argument],
    results: &[Argument],
) -> Vec<String> {
    let pairs = build.kernel.params.iter().zip(reference).zip(results);
    let differ = pairs.filter_map(|((param, required), actual)| {
        let (required, actual) = (required.buffer()?, actual.buffer()?);
        let tolerance = directives.tolerance(&param.name, required.dtype.name());
        compare::buffers(&param.name, required, actual, tolerance).err()
    });
    differ.collect()
}

fn buffer_named<'a>(build: &Build, args: &'a [Argument], name: &str) -> Option<&'a Buffer> {
    let at = build.kernel.params.iter().position(|param| param.name == name)?;
    args[at].buffer()
}

/// What the header says that the elements of arguments are, from the arguments before the launch.
fn expected(
    build: &Build,
    case: &Case,
    before: &[Argument],
    names: &[(String, Number)],
) -> Result<Vec<(String, Buffer)>, String> {
    let mut out = Vec::new();
    for (name, text) in &case.expected {
        let expr: syn::Expr = syn::parse_str(text).map_err(|error| format!("`{text}`: {error}"))?;
        let buffer = buffer_named(build, before, name);
        let mut required = buffer.ok_or_else(|| format!("there is no argument `{name}`"))?.clone();
        let buffers = build.kernel.params.iter().zip(before);
        let buffers = buffers.filter_map(|(param, arg)| Some((param.name.as_str(), arg.buffer()?)));
        let mut scope = Scope { names: names.to_vec(), buffers: buffers.collect() };
        let known = scope.names.len();
        for number in 0..required.len() {
            scope.names.truncate(known);
            for (axis, at) in ["i", "j", "k", "l", "m"].iter().zip(required.index(number)) {
                scope.names.push(((*axis).to_owned(), Number::Int(at.into())));
            }
            let value = scope.value(&expr).map_err(|error| format!("`{text}`: {error}"))?;
            let bytes = encode(required.dtype, value);
            required.set(number, &bytes);
        }
        out.push((name.clone(), required));
    }
    Ok(out)
}

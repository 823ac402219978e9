//! Compiling a file test: every instance, for every target that it names.

use kernel_core::{
    Options, check,
    compile::compile_unit,
    diag::{self, Problems},
    elaborate,
    explore::Shown,
    host::Variant,
    ir,
    loc::Locations,
    syntax,
};
use proc_macro2::TokenStream;

use crate::directives::Directives;

/// A compiled file.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The attribute's grid, as text.
    pub grid: Option<String>,
    /// What is run.
    pub builds: Vec<Build>,
}

/// One instance for one target, with some choice of arguments that are absent.
#[derive(Clone, Debug)]
pub struct Build {
    /// The instance and the target, for messages.
    pub label: String,
    /// Generic parameters and what they stand for.
    pub generics: Vec<(String, String)>,
    /// The target, as kernels spell it.
    pub target: String,
    /// The tile IR, before layouts, without assumptions.
    pub kernel: ir::Kernel,
    /// What attributes state.
    pub declared: Vec<ir::Fact>,
    /// The PTX under fewer and fewer assumptions.
    pub variants: Vec<Variant>,
    /// Every stage of the first variant: ending and text.
    pub stages: Vec<(String, String)>,
    /// What is known of its order.
    pub order: String,
}

impl Build {
    /// The architectures that a variant is assembled for: its target, and for what `sm_80` runs of an instance first also Hopper.
    pub fn assembled_for(&self, variant: usize) -> Vec<&str> {
        match self.target.as_str() {
            "sm_80" if variant == 0 => vec!["sm_80", "sm_90a"],
            other => vec![other],
        }
    }

    /// The names of the parameters for which nothing is passed.
    pub fn absent(&self) -> impl Iterator<Item = &str> {
        let params = self.kernel.params.iter().filter(|param| param.absent);
        params.map(|param| param.name.as_str())
    }
}

/// Compiles the kernel of a file, which PTX calls `name`.
///
/// # Errors
/// What the compiler, or the reader of Rust, says about it.
pub fn prepare(name: &str, text: &str, directives: &Directives) -> Result<Prepared, String> {
    // The lexer numbers the texts that a thread has read, and that number is what it calls the file.
    let compiled = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, || compile(text, directives));
        thread.map(std::thread::ScopedJoinHandle::join)
    });
    let mut prepared = match compiled {
        Ok(Ok(prepared)) => prepared?,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => return Err(error.to_string()),
    };
    for build in &mut prepared.builds {
        let texts = build.variants.iter_mut().map(|variant| &mut variant.ptx);
        for text in texts.chain(build.stages.iter_mut().map(|(_, text)| text)) {
            *text = text.replace("<parsed string 1>", name);
        }
    }
    Ok(prepared)
}

/// As much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

fn compile(text: &str, directives: &Directives) -> Result<Prepared, String> {
    let file = syn::parse_file(text).map_err(|error| {
        let start = error.span().start();
        format!("{}:{}: {error}", start.line, start.column + 1)
    })?;
    let mut problems = Problems::new();
    let (mut unit, locations) = read(file, &mut problems)?;
    kernel_core::provide(&mut unit, &library()?, &locations, &mut problems);
    let mut dumps = Vec::new();
    let compiled = compile_unit(
        &unit,
        &locations,
        &mut problems,
        Options { dump: true, ..Options::default() },
        &mut dumps,
    );
    report(&problems, &locations)?;
    let [kernel] = unit.kernels.as_slice() else {
        return Err("a file test holds one kernel".to_owned());
    };
    let mut builds = Vec::new();
    let places = locations.places();
    for instance in compiled.into_iter().flatten() {
        let name = instance.instance.describe();
        if !directives.instances.is_empty() && !directives.instances.contains(&name) {
            continue;
        }
        for image in instance.images {
            if !directives.targets.is_empty() && !directives.targets.contains(&image.target) {
                continue;
            }
            let target = elaborate::target_named(&image.target).expect("it has been compiled for");
            let absent = &image.absent;
            let request = elaborate::Request {
                unit: &unit,
                kernel,
                instance: &instance.instance,
                absent,
                target,
                reports: elaborate::Reports::LeftOut,
            };
            let built = check::instance(&request, &mut problems);
            report(&problems, &locations)?;
            let built = built.ok_or("the compiler built nothing and does not say why")?;
            let values = instance.instance.values.iter();
            let generics: Vec<(String, String)> =
                values.map(|(name, value)| (name.clone(), value.text.replace(' ', ""))).collect();
            let first = image.variants.first().map_or("", |variant| variant.name);
            let mut start = kernel.function.name.name.clone();
            for (name, value) in &generics {
                start = format!("{start}-{name}={value}");
            }
            for name in absent {
                start = format!("{start}-{name}=None");
            }
            let without = syntax::without(absent).map_or(String::new(), |it| format!(", {it}"));
            let start = format!("{start}-{}-{first}.", image.target);
            let stages = dumps
                .iter()
                .filter_map(|(name, text)| {
                    Some((name.strip_prefix(&start)?.to_owned(), text.clone()))
                })
                .collect();
            let order = Shown { verdict: image.order, params: &image.params, places: &places };
            builds.push(Build {
                order: order.to_string(),
                label: format!("{name} for {}{without}", image.target).trim_start().to_owned(),
                generics,
                target: image.target,
                kernel: built.kernel,
                declared: image.declared,
                variants: image.variants,
                stages,
            });
        }
    }
    if builds.is_empty() {
        return Err("the header selects no instance".to_owned());
    }
    let grid = kernel.attr.grid.map(|grid| locations.tokens(grid).to_string());
    Ok(Prepared { grid, builds })
}

/// The device items that come with the crate `kiln`.
fn library() -> Result<Vec<syn::Item>, String> {
    let mut items = Vec::new();
    for text in [include_str!("../../src/ring.rs"), include_str!("../../src/sched.rs")] {
        items.extend(syn::parse_file(text).map_err(|error| error.to_string())?.items);
    }
    items.retain(|item| matches!(item, syn::Item::Mod(_)));
    Ok(items)
}

/// Finds the kernel, or the module of one, among the items of a file.
#[expect(clippy::wildcard_enum_match_arm, reason = "kernels are functions and modules")]
fn read(file: syn::File, problems: &mut Problems) -> Result<(syntax::Unit, Locations), String> {
    let is_kernel = |attr: &syn::Attribute| {
        attr.path().segments.last().is_some_and(|segment| segment.ident == "kernel")
    };
    for item in file.items {
        match item {
            syn::Item::Fn(mut function) => {
                let Some(at) = function.attrs.iter().position(is_kernel) else { continue };
                let attr = function.attrs.remove(at);
                let tokens = match attr.meta {
                    syn::Meta::List(list) => list.tokens,
                    syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
                };
                let locations = Locations::new(function.sig.ident.span());
                let unit = syntax::parse_function(tokens, &function, &locations, problems);
                return Ok((unit, locations));
            }
            syn::Item::Mod(mut module) => {
                let Some(at) = module.attrs.iter().position(is_kernel) else { continue };
                module.attrs.remove(at);
                let locations = Locations::new(module.ident.span());
                let unit = syntax::parse_module(&module, &locations, problems);
                return Ok((unit, locations));
            }
            _ => {}
        }
    }
    Err("there is no `#[kernel]` in the file".to_owned())
}

fn report(problems: &Problems, locations: &Locations) -> Result<(), String> {
    if problems.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = problems
        .iter()
        .map(|problem| {
            let (line, column) = locations.line_column(problem.primary);
            format!("{line}:{column}: {}", diag::render(problem, locations))
        })
        .collect();
    Err(texts.join("\n"))
}

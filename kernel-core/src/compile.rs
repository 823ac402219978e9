//! The pipeline, from tokens to tokens.

use std::num::NonZero;

use proc_macro2::{Span, TokenStream};
use quote::quote;

use crate::{
    device,
    diag::{self, Area, Code, Diagnostic, Problems},
    elaborate,
    host::{self, CompiledInstance, Cubin, Image},
    ir::{self, ParamKind, RawAccess},
    loc::{Loc, Locations},
    surroundings::Surroundings,
    syntax::{self, Kernel, Unit},
};

mod image;
mod instances;
mod offered;
mod threads;
mod times;
mod unread;

use image::{Around, relative, targets};
use instances::{Instances, Left, Work};

/// What to do besides compiling.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Also give every stage of every instance as text.
    pub dump: bool,
    /// Also have machine code made of each PTX text, given its target, such as `sm_90a`.
    pub assemble: Option<Assemble>,
    /// How many threads may compile instances, the caller's among them; only the caller if there is no number. What is compiled does
    /// not depend on it.
    pub threads: Option<NonZero<usize>>,
    /// Also give how long each phase of each variant took, among the dumps: nanoseconds since any moment, as the caller's clock has them.
    pub clock: Option<fn() -> u64>,
}

/// Makes machine code for some devices of a PTX text, given its target, on any thread. It is a part of the world outside; an error says
/// what went wrong there.
pub type Assemble = fn(ptx: &str, target: &str) -> Result<Vec<Cubin>, String>;

/// What compiling leaves.
#[derive(Debug, Default)]
pub struct Output {
    /// The items that take the place of the kernel.
    pub tokens: TokenStream,
    /// With [`Options::dump`]: file names and their text. A name is file, line, kernel, instance, target and variant.
    pub dumps: Vec<(String, String)>,
    /// With [`Options::assemble`]: what went wrong, each once.
    pub failures: Vec<String>,
}

/// Called at the end of each phase with the index of the instance among those of its kernel; the caller has the clock.
pub type Watch<'a> = &'a (dyn Fn(usize, Phase) + Sync);

/// A part of the work on one variant. That on its instance list counts as building.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// From the language's tree to the tile IR.
    Build,
    /// The invariants of the IR, after building and after layouts.
    Verify,
    /// Loops cut so that copies and products overlap.
    Schedule,
    /// Order, run out.
    Explore,
    /// A layout for every tile.
    Layouts,
    /// From tile IR to a PTX module.
    Lower,
    /// From the module to its text: the last part of each variant.
    Print,
}

impl Phase {
    /// Its name in a dump.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Build => "build",
            Phase::Verify => "verify",
            Phase::Schedule => "schedule",
            Phase::Explore => "explore",
            Phase::Layouts => "layouts",
            Phase::Lower => "lower",
            Phase::Print => "print",
        }
    }
}

/// Compiles a `#[kernel(attr)] fn`.
pub fn compile_function(
    attr: TokenStream,
    item: &syn::ItemFn,
    surroundings: &Surroundings,
    options: Options,
) -> Output {
    let locations = Locations::new(item.sig.ident.span());
    let mut left = Left::default();
    let mut unit = syntax::parse_function(attr.clone(), item, &locations, &mut left.problems);
    let whole = (attr, syn::Item::Fn(item.clone()));
    let world = (surroundings, &locations);
    let results = compile_or_wait(&mut unit, &whole, world, &mut left, options);
    let outcomes = outcomes(&results, &left.problems);
    let errors = diag::compile_errors(&left.problems, &locations);
    let warnings = diag::compile_warnings(&left.problems, &locations, &item.attrs);
    let items = match item.sig.receiver() {
        // A method: a module, which belongs to each kernel, cannot stand in an `impl`.
        Some(_) => TokenStream::new(),
        None => host::kernel_items(item, &unit.kernels[0], &locations, outcomes[0]),
    };
    // Items first: rust-analyzer looks for the tokens of the source in this order.
    left.output(quote!(#items #warnings #errors), &locations)
}

/// What is reported about `#[kernel]` before what is neither a function nor a module; `#[device]` stands before other items as
/// well, so only what is not an item at all is given here for it.
pub fn not_a_kernel(
    attribute: &str,
    item: &TokenStream,
    unread: Option<&syn::Error>,
) -> TokenStream {
    let mut problems = Problems::new();
    let locations = Locations::new(Span::call_site());
    let diagnostic = if let Some(error) = unread {
        let headline = format!("what follows `#[{attribute}]` cannot be parsed as Rust");
        if let Some((place, base, help)) = unread::index_of_several(item.clone()) {
            Diagnostic::new(
                Code::Signature,
                locations.of_span(place),
                format!("{base} is indexed along several axes"),
            )
            .why("an index of Rust is one expression; parts and new axes of a tile are methods: `slice` and `expand`")
            .help_if(help)
        } else {
            let loc = locations.of_span(error.span());
            Diagnostic::new(Code::Signature, loc, headline).why(error.to_string())
        }
    } else {
        let headline = format!("`#[{attribute}]` belongs to a function or a module");
        Diagnostic::new(Code::Signature, locations.of(item), headline)
            .why("a launch starts a kernel: a function, or one of the functions of a module")
            .help("#[kernel(target = sm_80, warps = 4)]\npub fn name() {}")
    };
    problems.push(diagnostic);
    let errors = diag::compile_errors(&problems, &locations);
    // The item stays, so that its uses are not reported as well.
    let kept = unread.is_none().then_some(item);
    quote!(#errors #kept)
}

/// Compiles a `#[kernel] mod`, whose attribute takes no arguments.
pub fn compile_module(
    attr: &TokenStream,
    item: &syn::ItemMod,
    surroundings: &Surroundings,
    options: Options,
) -> Output {
    let locations = Locations::new(item.ident.span());
    let mut left = Left::default();
    let crate_path = host::crate_argument(attr);
    if !attr.is_empty() && crate_path.is_none() {
        left.problems.push(
            Diagnostic::new(
                Code::Attribute,
                locations.of(attr),
                "the `#[kernel]` of a module takes no arguments but `crate`",
            )
            .why("each kernel of the module has targets, warps and a grid of its own")
            .help(format!(
                "#[kernel]\nmod {} {{\n    #[kernel({attr})]\n    pub fn name() {{}}\n}}",
                item.ident
            )),
        );
    }
    let mut unit = syntax::parse_module(item, &locations, &mut left.problems);
    find_crate(&mut unit, attr, &locations);
    let whole = (attr.clone(), syn::Item::Mod(item.clone()));
    let world = (surroundings, &locations);
    let results = compile_or_wait(&mut unit, &whole, world, &mut left, options);
    let outcomes = outcomes(&results, &left.problems);
    let items = host::module_items(item, &unit, &locations, &outcomes);
    let errors = diag::compile_errors(&left.problems, &locations);
    let warnings = diag::compile_warnings(&left.problems, &locations, &item.attrs);
    // Items first: rust-analyzer looks for the tokens of the source in this order.
    left.output(quote!(#items #warnings #errors), &locations)
}

/// What the attribute of a module says of `kiln` holds for each kernel that says nothing itself.
fn find_crate(unit: &mut Unit, attr: &TokenStream, locations: &Locations) {
    let path = host::crate_argument(attr).map(|path| locations.keep(&path));
    for kernel in &mut unit.kernels {
        kernel.attr.crate_path = kernel.attr.crate_path.or(path);
    }
}

/// What became of one kernel, errors apart.
enum Compiled {
    Here(Vec<CompiledInstance>),
    Later(host::Awaited),
}

/// One outcome a kernel.
fn outcomes<'a>(results: &'a [Compiled], problems: &Problems) -> Vec<host::Outcome<'a>> {
    let refused = !problems.is_empty();
    let twin = keeps_twin(problems);
    let one = |result: &'a Compiled| match result {
        Compiled::Here(_) if refused => host::Outcome::Refused { twin, awaited: None },
        Compiled::Later(awaited) if refused => {
            host::Outcome::Refused { twin, awaited: Some(awaited) }
        }
        Compiled::Here(instances) => host::Outcome::Compiled(instances),
        Compiled::Later(awaited) => host::Outcome::Awaited(awaited),
    };
    results.iter().map(one).collect()
}

/// Compiles every kernel that needs nothing from other modules, and sends the others on their way.
///
/// A kernel with device items is built once without them: whatever is wrong with the rest of it is said now, together with
/// the problems of its neighbours.
fn compile_or_wait(
    unit: &mut Unit,
    (attr, item): &(TokenStream, syn::Item),
    (surroundings, locations): (&Surroundings, &Locations),
    left: &mut Left,
    options: Options,
) -> Vec<Compiled> {
    let mut results = Vec::new();
    let mut waiting = Vec::new();
    let mut constants = TokenStream::new();
    for index in 0..unit.kernels.len() {
        let mut free = syntax::free::of_kernel(unit, &unit.kernels[index]);
        unit.devices.nowhere.clear();
        constants.extend(surroundings.complete(unit, &mut free, locations));
        let work = if free.paths.is_empty() { Work::All } else { Work::Build };
        let only = Only { index, work };
        unit.devices.pending = free.paths.iter().map(syntax::FreePath::key).collect();
        let compiled = compile_kernels(unit, Some(only), locations, left, options, &|_, _| {});
        let instances = compiled.into_iter().next().unwrap_or_default();
        if free.paths.is_empty() {
            results.push(Compiled::Here(instances));
            continue;
        }
        waiting.push(device::Waiting {
            attr: attr.clone(),
            item: item.clone(),
            index,
            raw: free.takes_pointers,
            paths: device::paths_of(&free.paths, locations),
            said: Vec::new(),
            constants: constants.clone(),
            nowhere: unit.devices.nowhere.iter().map(|(name, _)| name.clone()).collect(),
        });
        results.push(Compiled::Later(host::Awaited {
            instances: instances.into_iter().map(|one| one.instance).collect(),
            table: TokenStream::new(),
            raw: free.takes_pointers,
        }));
    }
    unit.devices.pending.clear();
    unit.devices.nowhere.clear();
    let said: Vec<String> =
        left.problems.iter().map(|problem| key_of(problem, locations)).collect();
    for mut waiting in waiting {
        waiting.said.clone_from(&said);
        if let Compiled::Later(awaited) = &mut results[waiting.index] {
            awaited.table = device::kernel_chain(&waiting);
        }
    }
    results
}

/// The attributes of a kernel or its module.
#[expect(clippy::wildcard_enum_match_arm, reason = "kernels are functions and modules")]
fn attrs_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        _ => &[],
    }
}

/// By what a problem is known to have been said when a kernel is compiled again.
fn key_of(problem: &Diagnostic, locations: &Locations) -> String {
    let (line, column) = locations.order(problem.found_at.unwrap_or(problem.primary));
    format!("{line}:{column} {} {}", problem.code.number(), problem.headline)
}

/// The last link of a kernel's chain: the table of its instances, as an expression.
pub fn kernel_finish(input: TokenStream, options: Options) -> Output {
    let (waiting, bundles) = match device::kernel_arrived(input) {
        Ok(arrived) => arrived,
        Err(error) => {
            return Output { tokens: error.to_compile_error(), ..Output::default() };
        }
    };
    let mut left = Left::default();
    let (locations, mut unit, twin) = if let syn::Item::Mod(item) = &waiting.item {
        let locations = Locations::new(item.ident.span());
        let mut unit = syntax::parse_module(item, &locations, &mut left.problems);
        find_crate(&mut unit, &waiting.attr, &locations);
        let grid = unit.kernels.get(waiting.index).and_then(|kernel| kernel.attr.grid);
        let twin =
            host::twin_of(item, waiting.index, grid.map(|grid| locations.tokens(grid)).as_ref());
        (locations, unit, twin)
    } else if let syn::Item::Fn(item) = &waiting.item {
        let locations = Locations::new(item.sig.ident.span());
        let unit =
            syntax::parse_function(waiting.attr.clone(), item, &locations, &mut left.problems);
        let grid = unit.kernels.first().and_then(|kernel| kernel.attr.grid);
        let twin = host::twin(item, grid.map(|grid| locations.tokens(grid)).as_ref());
        (locations, unit, Some(twin))
    } else {
        let error = syn::Error::new_spanned(&waiting.item, "not a kernel").to_compile_error();
        return Output { tokens: error, ..Output::default() };
    };
    let name = unit.kernels.get(waiting.index).map_or("kernel", Kernel::name).to_owned();
    unit.devices = device::unpack(&bundles, &waiting.paths, &locations, &mut left.problems);
    // What the file has of these names was said before the chain began.
    unit.devices.nowhere = waiting.nowhere.iter().map(|name| (name.clone(), None)).collect();
    for constant in waiting.constants() {
        unit.items.extend(syntax::parse_device(&constant, &locations, &mut left.problems));
    }
    if device::lacks_refused(&unit.devices) {
        // Said where it is defined. What is wrong with the rest of the kernel was said before the chain began.
        left.problems.retain(|_| false);
        return Output { tokens: quote!({ [&[]; _] }), ..Output::default() };
    }
    let only = Only { index: waiting.index, work: Work::All };
    let compiled = compile_kernels(&unit, Some(only), &locations, &mut left, options, &|_, _| {});
    if let Some(problem) = raw_elsewhere(&compiled).filter(|_| !waiting.raw) {
        left.problems.push(problem);
    }
    let tokens = match compiled.first() {
        Some(instances) if left.problems.is_empty() => {
            let kernel = unit.kernels.get(waiting.index);
            let builds = kernel.map_or(syntax::Builds::Debug, |kernel| kernel.attr.says_in);
            let table = host::table(instances, &name, builds);
            let crate_path = kernel;
            let crate_path = crate_path.and_then(|kernel| kernel.attr.crate_path);
            let crate_path = crate_path.map(|path| locations.tokens(path));
            let attrs = attrs_of(&waiting.item);
            let warnings = diag::compile_warnings(&left.problems, &locations, attrs);
            host::rooted(quote!({ #warnings #twin #table }), crate_path.as_ref())
        }
        _ => {
            let twin = if keeps_twin(&left.problems) {
                twin
            } else {
                let stands_in = stand_in(&waiting);
                let typed = twin.as_ref().map(host::in_editors);
                Some(quote!(#typed #stands_in))
            };
            left.problems.retain(|problem| !waiting.said.contains(&key_of(problem, &locations)));
            let errors = diag::compile_errors(&left.problems, &locations);
            // Statements, so that all of them are shown, and an array that fits whatever length is asked for.
            quote!({ #twin #errors [&[]; _] })
        }
    };
    left.output(tokens, &locations)
}

/// What stands for the body of a kernel that was refused when its device items had come.
fn stand_in(waiting: &device::Waiting) -> Option<TokenStream> {
    if let syn::Item::Mod(module) = &waiting.item {
        let kernel = host::kernel_of(module, waiting.index)?;
        return Some(host::stand_in(kernel, Some(module)));
    }
    let syn::Item::Fn(function) = &waiting.item else { return None };
    Some(host::stand_in(function, None))
}

/// What is reported about a kernel whose launch is safe by its own body and parameters, but not by its device functions.
fn raw_elsewhere(compiled: &[Vec<CompiledInstance>]) -> Option<Diagnostic> {
    let unbounded = |image: &Image| {
        let kind = |param: &ir::Param| matches!(param.kind, ParamKind::Pointer(_));
        image.raw_access.filter(|_| !image.params.iter().any(kind))
    };
    let mut images = compiled.iter().flatten().flat_map(|one| &one.images);
    let of_kernel = |headline: &str| {
        Diagnostic::new(Code::Parameter, Loc::KERNEL, headline).why(
            "the kernel's own body decides whether a launch is safe, before its device functions are known",
        )
    };
    Some(match images.find_map(unbounded)? {
        RawAccess::Address => {
            of_kernel("a device function takes the address of a tensor of this kernel")
                .help("pass the pointer: f(x.ptr())")
        }
        RawAccess::Text(at) => of_kernel("a device function touches memory with `ptx!`")
            .place(at, "this text accesses memory")
            .help("give it the address: f(x.ptr())"),
        RawAccess::TextPointer(at) => of_kernel("a device function makes a pointer with `ptx!`")
            .place(at, "this text gives a pointer")
            .help("give it the address: f(x.ptr())"),
    })
}

impl Left {
    /// What is left of a whole macro. File and line stand before the names of dumps: kernels of different modules may have one
    /// name.
    fn output(mut self, tokens: TokenStream, locations: &Locations) -> Output {
        if let Some(place) = locations.place(Loc::KERNEL) {
            let path = relative(&place.file);
            let stem = plain(&path.strip_suffix(".rs").unwrap_or(&path).replace('/', "."));
            for (name, _) in &mut self.dumps {
                *name = format!("{stem}-{}-{name}", place.line);
            }
        }
        Output { tokens, dumps: self.dumps, failures: self.failures }
    }
}

/// A text as part of a file's name: what is neither a letter nor a digit nor one of `-_=.` becomes `_`.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_=.".contains(c) { c } else { '_' })
        .collect()
}

/// Compiles every instance of every kernel. Empty if there were problems.
pub fn compile_unit(
    unit: &Unit,
    locations: &Locations,
    problems: &mut Problems,
    options: Options,
    dumps: &mut Vec<(String, String)>,
) -> Vec<Vec<CompiledInstance>> {
    compile_unit_watched(unit, locations, problems, options, dumps, &|_, _| {})
}

/// As [`compile_unit`], and calls `watch` at the end of each phase.
pub fn compile_unit_watched(
    unit: &Unit,
    locations: &Locations,
    problems: &mut Problems,
    options: Options,
    dumps: &mut Vec<(String, String)>,
    watch: Watch<'_>,
) -> Vec<Vec<CompiledInstance>> {
    let mut left = Left { problems: std::mem::take(problems), ..Left::default() };
    let compiled = compile_kernels(unit, None, locations, &mut left, options, watch);
    *problems = left.problems;
    dumps.extend(left.dumps);
    compiled
}

/// One kernel of a unit.
#[derive(Clone, Copy)]
struct Only {
    index: usize,
    work: Work,
}

fn compile_kernels(
    unit: &Unit,
    only: Option<Only>,
    locations: &Locations,
    left: &mut Left,
    options: Options,
    watch: Watch<'_>,
) -> Vec<Vec<CompiledInstance>> {
    let work = only.map_or(Work::All, |only| only.work);
    let all = build_kernels(unit, (only, work), locations, left, options, watch);
    elaborate::messages::set(unit, locations, &mut left.problems);
    offered::settle(unit, only, locations, left);
    if left.problems.is_empty() { all } else { Vec::new() }
}

/// The images of the kernels of a unit, as far as it goes.
fn build_kernels(
    unit: &Unit,
    (only, work): (Option<Only>, Work),
    locations: &Locations,
    left: &mut Left,
    options: Options,
    watch: Watch<'_>,
) -> Vec<Vec<CompiledInstance>> {
    let wanted = |index: usize| only.is_none_or(|only| only.index == index);
    let kernels = || unit.kernels.iter().enumerate().filter(|(index, _)| wanted(*index));
    if options.dump && matches!(work, Work::All) {
        for (_, kernel) in kernels() {
            left.dumps.push((format!("{}.ast", kernel.name()), unit.dump(kernel, locations)));
        }
    }
    let places = locations.places();
    let around = Around { places: &places, options, watch, row: 0, times: None };
    let mut all = Vec::new();
    for (_, kernel) in kernels() {
        if kernel.attr.unreadable {
            continue;
        }
        let targets = targets(kernel, &mut left.problems);
        let rows = elaborate::instance_rows(unit, kernel, &mut left.problems);
        let absent = elaborate::absences(unit, kernel, &mut left.problems);
        let (rows, absent, targets) = (&rows[..], &absent[..], &targets[..]);
        let instances = Instances { unit, kernel, rows, absent, targets, work };
        all.push(instances.compile(left, around));
    }
    all
}

/// Whether rustc should look at the body too: not if names or types are wrong, or it would say so twice.
fn keeps_twin(problems: &Problems) -> bool {
    problems.iter().all(|d| {
        // These are types of the stubs as well: `View` has no `store`, `copy_async` has bounds, an index gives a `Shared`, and a
        // tensor with a block is no `TensorMap` yet.
        let typed = matches!(
            d.code,
            Code::ReadOnly
                | Code::SharedUse
                | Code::CopyOperands
                | Code::Parameter
                | Code::FactAttribute
        );
        !typed && !matches!(d.code.area(), Area::Subset | Area::Shapes)
    })
}

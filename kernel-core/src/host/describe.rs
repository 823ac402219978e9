//! A kernel's documentation: its parameters, instances, targets and the errors of its launches, after what the user has written.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{
    CompiledInstance, Image, Outcome, Variant,
    items::Host,
    signature::{Field, FieldKind},
};
use crate::{ir::ReportKind, layouts::tma::TensorMap, syntax::written};

/// How many instances the documentation lists.
const LISTED: usize = 24;

/// What stands after the user's own documentation of the kernel.
pub(super) fn kernel(host: &Host<'_>) -> String {
    format!("# Kernel\n\n{}", described(host))
}

/// What stands before the module.
pub(super) fn module(host: &Host<'_>) -> String {
    let name = host.text();
    let link =
        if name.starts_with("r#") { format!("`{name}`") } else { format!("[`{name}`](fn@{name})") };
    let described = described(host);
    format!(" The arguments of the kernel {link}, and its compiled instances.\n\n{described}")
}

fn described(host: &Host<'_>) -> String {
    [targets(host), parameters(host), instances(host), errors(host)].concat()
}

/// `Compiled for sm_80 and sm_90a. Blocks: ..`
fn targets(host: &Host<'_>) -> String {
    let attr = &host.kernel.attr;
    let targets: Vec<String> =
        attr.targets.iter().map(|target| format!("`{}`", target.name)).collect();
    let grid = match &host.grid {
        Some(grid) => format!("Blocks: {}.", code(&written(grid))),
        None => "A launch says how many blocks there are, with `.grid(..)`.".to_owned(),
    };
    format!("Compiled for {}. {grid}\n\n", targets.join(", "))
}

fn parameters(host: &Host<'_>) -> String {
    let mut rows = Vec::new();
    let mut any_facts = false;
    for input in &host.item.sig.inputs {
        let syn::FnArg::Typed(typed) = input else { continue };
        let syn::Pat::Ident(pat) = &*typed.pat else { continue };
        let facts = typed.attrs.iter().filter(|attr| !attr.path().is_ident("doc"));
        let facts: Vec<String> =
            facts.map(|attr| cell(&format!("#[{}]", written(&attr.meta)))).collect();
        any_facts |= !facts.is_empty();
        let facts = facts.join(" ");
        rows.push([cell(&pat.ident.to_string()), cell(&written(&typed.ty)), facts]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let columns = if any_facts { 3 } else { 2 };
    let head = ["parameter".to_owned(), "type".to_owned(), "stated".to_owned()];
    let rule = ["---".to_owned(), "---".to_owned(), "---".to_owned()];
    let lines = [head, rule].into_iter().chain(rows).map(|row| row[..columns].join(" | "));
    let table: Vec<String> = lines.map(|line| format!("| {line} |\n")).collect();
    format!("{}\n", table.concat())
}

fn instances(host: &Host<'_>) -> String {
    let instances = host.outcome.instances().unwrap_or_default();
    let blocks: Vec<String> = compiled(host).iter().map(block_of_instance).collect();
    let (same, each_block) = match blocks.split_first() {
        Some((first, rest)) if rest.iter().all(|block| block == first) => {
            (format!("A block has {first}.\n\n"), &[][..])
        }
        Some(_) | None => (String::new(), &blocks[..]),
    };
    if host.signature.generics.is_empty() {
        return same;
    }
    let mut each: Vec<String> = instances.iter().map(|one| code(&one.describe())).collect();
    for (one, block) in each.iter_mut().zip(each_block) {
        one.push_str(": ");
        one.push_str(block);
    }
    let items: Vec<String> =
        shortened(&each, LISTED).iter().map(|one| format!("* {one}\n")).collect();
    let count = match instances.len() {
        1 => "One instance:".to_owned(),
        count => format!("{count} instances:"),
    };
    format!("{same}{count}\n\n{}\n", items.concat())
}

/// The instances that are compiled; none while device items are awaited.
fn compiled<'a>(host: &Host<'a>) -> &'a [CompiledInstance] {
    match host.outcome {
        Outcome::Compiled(instances) => instances,
        Outcome::Awaited(_) | Outcome::Refused { .. } => &[],
    }
}

/// What a block of an instance takes of a multiprocessor, for each target where they differ.
fn block_of_instance(instance: &CompiledInstance) -> String {
    let mut targets: Vec<(&str, String)> = Vec::new();
    for image in &instance.images {
        // Images of one target differ in their absent arguments; the whole one is the first.
        if !targets.iter().any(|(target, _)| *target == image.target) {
            targets.push((&image.target, block(image)));
        }
    }
    match targets.split_first() {
        Some(((_, first), rest)) if rest.iter().all(|(_, block)| block == first) => first.clone(),
        Some(_) | None => {
            let each = targets.iter().map(|(target, block)| format!("{block} for `{target}`"));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}

/// `128 threads, 49152 bytes of dynamic shared memory`
fn block(image: &Image) -> String {
    let most = |of: fn(&Variant) -> u32| image.variants.iter().map(of).max().unwrap_or(0);
    let mut text = format!("{} threads", image.warps * 32);
    let shared = most(|variant| variant.shared_bytes);
    if shared > 0 {
        let _ = write!(text, ", {shared} bytes of dynamic shared memory");
    }
    let columns = most(|variant| variant.tensor_columns);
    if columns > 0 {
        let _ = write!(text, ", {columns} columns of tensor memory");
    }
    let blocks: u32 = image.cluster.iter().product();
    if blocks > 1 {
        let [x, y, z] = image.cluster;
        let _ = write!(text, ", clusters of {blocks} ({x} by {y} by {z})");
    }
    text
}

/// The errors that depend on the arguments, the grid or the device, with links.
fn errors(host: &Host<'_>) -> String {
    let root = host.kernel.attr.crate_path.map_or_else(
        || "::kiln".to_owned(),
        |path| host.locations.tokens(path).to_string().replace(' ', ""),
    );
    let items: Vec<String> = possible(host)
        .into_iter()
        .map(|(name, when)| format!("* [`{name}`]({root}::Error::{name}): {when}\n"))
        .collect();
    format!("Errors of a launch:\n\n{}\n", items.concat())
}

/// Errors of `kiln::Error`, each with when it is given.
fn possible(host: &Host<'_>) -> Vec<(&'static str, String)> {
    let images: Vec<&Image> = compiled(host).iter().flat_map(|one| &one.images).collect();
    let mut errors = vec![(
        "TargetNotRunnable",
        "the device runs no target that the kernel is compiled for".to_owned(),
    )];
    let stated =
        parameters_with(host, |param| param.attrs.iter().any(|attr| !attr.path().is_ident("doc")));
    if !stated.is_empty() {
        errors.push(("FactBroken", format!("what is stated of {} does not hold", any(&stated))));
    }
    let tensors = tensors(host, |_| true);
    if !tensors.is_empty() {
        let named = any(&tensors);
        errors.push(("WrongDevice", format!("{named} is not on the stream's device")));
        errors.push(("DimTooLarge", format!("an extent of {named} is more than `i32::MAX`")));
    }
    let written = self::tensors(host, |written| written);
    if !written.is_empty() {
        let named = any(&written);
        errors.push(("OverlappingElements", format!("elements of {named} share an address")));
        if tensors.len() > 1 {
            errors.push(("Aliased", format!("{named} shares memory with another argument")));
        }
    }
    let mapped = images.iter().flat_map(|image| mapped(image));
    let mapped: BTreeSet<String> = mapped.map(code).collect();
    if !mapped.is_empty() {
        let named = any(&mapped.into_iter().collect::<Vec<_>>());
        errors.push(("TensorMap", format!("no tensor map can describe {named}")));
    }
    match &host.grid {
        Some(_) => errors.push((
            "GridExpression",
            "the grid has no value, such as a division by zero".to_owned(),
        )),
        None => {
            errors
                .push(("GridMissing", "no `.grid(..)` says how many blocks there are".to_owned()));
        }
    }
    errors
        .push(("GridOutOfRange", "an axis of the grid is longer than the device takes".to_owned()));
    if images.iter().any(|image| image.cluster != [1; 3]) {
        errors.push(("GridNotOfClusters", "the grid is not a whole number of clusters".to_owned()));
        errors.push(("ClusterTooLarge", "the device holds no cluster of this size".to_owned()));
    }
    if images.iter().any(|image| image.variants.iter().any(|one| one.shared_bytes > 0)) {
        errors.push(("SharedMemory", "the device has too little for a block".to_owned()));
    }
    if compiled(host).iter().flat_map(|one| &one.reporting).any(asserts) {
        errors.push(("Assertion", "an assertion of the kernel fails".to_owned()));
    }
    errors
}

/// The parameters that an image makes tensor maps of.
fn mapped(image: &Image) -> impl Iterator<Item = &str> {
    let maps = image.variants.iter().flat_map(|variant| &variant.maps);
    let param = |map: &TensorMap| image.params.get(usize::try_from(map.param).ok()?);
    maps.filter_map(param).map(|param| param.name.as_str())
}

fn asserts(image: &Image) -> bool {
    let said = image.reports.iter().flat_map(|reports| &reports.all);
    said.into_iter().any(|report| match report.kind {
        ReportKind::Assert(_) | ReportKind::AssertEq | ReportKind::AssertNe => true,
        ReportKind::Print | ReportKind::Stamp => false,
    })
}

/// The parameters for which something holds, as code.
fn parameters_with(host: &Host<'_>, holds: impl Fn(&syn::PatType) -> bool) -> Vec<String> {
    let typed = host.item.sig.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) if holds(typed) => Some(&*typed.pat),
        syn::FnArg::Typed(_) | syn::FnArg::Receiver(_) => None,
    });
    typed.map(|pat| code(&written(pat))).collect()
}

/// The parameters that are or hold tensors of which this is true: whether they are written. As code.
fn tensors(host: &Host<'_>, chosen: impl Fn(bool) -> bool) -> Vec<String> {
    let has = |field: &&Field| {
        field.passed.ones().iter().any(|one| match one.kind {
            FieldKind::Tensor { written, .. } => chosen(written),
            FieldKind::Pointer(_) | FieldKind::Scalar | FieldKind::Reference => false,
        })
    };
    host.signature.fields.iter().filter(has).map(|field| code(&field.name.to_string())).collect()
}

/// `a`, `b` or `c`
fn any(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A list of more than `at_most`, without its middle.
pub(super) fn shortened(all: &[String], at_most: usize) -> Vec<String> {
    /// How many come after the gap.
    const LAST: usize = 3;
    if all.len() <= at_most {
        return all.to_vec();
    }
    let (first, last) = (at_most - LAST, all.len() - LAST);
    let gap = format!("({} more)", last - first);
    [&all[..first], &[gap], &all[last..]].concat()
}

/// The text as code.
fn code(text: &str) -> String {
    let quotes = if text.contains('`') { "``" } else { "`" };
    format!("{quotes}{text}{quotes}")
}

/// The text as code in a table.
fn cell(text: &str) -> String {
    code(&text.replace('|', "\\|"))
}

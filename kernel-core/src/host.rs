//! The host's side of a kernel, as tokens: the function that makes a launch, its `Args`, its
//! instances, and the body as a dead function for rustc's own eyes.

mod compiled;
mod describe;
mod grid;
mod images;
mod instances;
mod items;
mod maps;
mod passed;
mod root;
mod signature;

use proc_macro2::TokenStream;
use quote::quote;

pub use compiled::{CompiledInstance, Cubin, Image, Report, Reports, Stamp, Variant};
pub use images::table;
pub use root::with_crate;
pub(crate) use root::{crate_argument, rooted};

use crate::{
    elaborate::Instance,
    loc::Locations,
    syntax::{Kernel, Unit},
};
use passed::Structs;
use signature::mentions;

/// What became of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// It was compiled.
    Compiled(&'a [CompiledInstance]),
    /// It uses device items, whose tokens are on their way: the images come later, in the place of an expression.
    Awaited(&'a Awaited),
    /// There were errors.
    Refused {
        /// Whether rustc should still see the body.
        twin: bool,
        /// What is said when its device items have come, if it uses any.
        awaited: Option<&'a Awaited>,
    },
}

/// What is known of a kernel before its device items have come.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// The instances.
    pub instances: Vec<Instance>,
    /// The expression that gives their table.
    pub table: TokenStream,
    /// The kernel's own body takes the address of a tensor, or touches memory with `ptx!`.
    pub raw: bool,
}

impl Outcome<'_> {
    /// The instances, none after errors.
    fn instances(&self) -> Option<Vec<&Instance>> {
        match self {
            Outcome::Compiled(all) => Some(all.iter().map(|one| &one.instance).collect()),
            Outcome::Awaited(awaited) => Some(awaited.instances.iter().collect()),
            Outcome::Refused { .. } => None,
        }
    }

    /// Whether the kernel takes the raw address of a tensor, or touches memory with `ptx!`: it reaches as far as a pointer
    /// argument does.
    fn raw(&self) -> bool {
        match self {
            Outcome::Compiled(all) => {
                all.iter().flat_map(|one| &one.images).any(|image| image.raw_access.is_some())
            }
            Outcome::Awaited(awaited) => awaited.raw,
            Outcome::Refused { .. } => false,
        }
    }
}

/// The items of a `#[kernel] fn`.
pub fn kernel_items(
    item: &syn::ItemFn,
    kernel: &Kernel,
    locations: &Locations,
    outcome: Outcome<'_>,
) -> TokenStream {
    items_beside(item, kernel, locations, outcome, Structs(&[]))
}

fn items_beside(
    item: &syn::ItemFn,
    kernel: &Kernel,
    locations: &Locations,
    outcome: Outcome<'_>,
    structs: Structs<'_>,
) -> TokenStream {
    let grid = kernel.attr.grid.map(|grid| locations.tokens(grid));
    let host = items::of(item, kernel, locations, outcome, structs);
    let rest = match outcome {
        Outcome::Refused { awaited: Some(awaited), .. } => {
            let table = &awaited.table;
            quote!(const _: () = { #[allow(dead_code)] fn refused() { let _: [&[()]; 0] = #table; } };)
        }
        Outcome::Compiled(_) | Outcome::Refused { twin: true, .. } => twin(item, grid.as_ref()),
        Outcome::Refused { twin: false, .. } => in_editors(&twin(item, grid.as_ref())),
        // It comes with the device items.
        Outcome::Awaited(_) => TokenStream::new(),
    };
    let crate_path = kernel.attr.crate_path.map(|path| locations.tokens(path));
    rooted(quote!(#host #rest), crate_path.as_ref())
}

/// The module of a `#[kernel] mod`: its helpers as they are, its kernels as [`kernel_items`], one outcome for each.
pub fn module_items(
    item: &syn::ItemMod,
    unit: &Unit,
    locations: &Locations,
    outcomes: &[Outcome<'_>],
) -> TokenStream {
    let Some((_, content)) = &item.content else { return TokenStream::new() };
    // What is wrong in a helper has been said: rustc would say it again. An editor says nothing, and needs the bodies.
    let refused = outcomes.iter().any(|one| matches!(one, Outcome::Refused { twin: false, .. }));
    let mut cut = Vec::new();
    let content = if refused {
        cut.clone_from(content);
        passed::without_recursion(&mut cut);
        &cut
    } else {
        content
    };
    let mut index = 0;
    let mut inner = TokenStream::new();
    let structs: Vec<&syn::ItemStruct> = content.iter().filter_map(as_struct).collect();
    let structs = Structs(&structs);
    let passed = content.iter().filter_map(as_kernel).flat_map(|function| &function.sig.inputs);
    let passed = passed.filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(&*typed.ty),
        syn::FnArg::Receiver(_) => None,
    });
    let of_host = structs.of_host(&passed.collect::<Vec<_>>());
    if !of_host.is_empty() {
        let crate_path = unit.kernels.iter().find_map(|kernel| kernel.attr.crate_path);
        let crate_path = crate_path.map(|path| locations.tokens(path));
        inner.extend(rooted(of_host, crate_path.as_ref()));
    }
    for entry in content {
        if let Some(function) = as_kernel(entry) {
            let (Some(kernel), Some(outcome)) = (unit.kernels.get(index), outcomes.get(index))
            else {
                continue;
            };
            index += 1;
            let mut function = function.clone();
            function.attrs.retain(|attr| !crate::syntax::is_kernel_attr(attr));
            inner.extend(items_beside(&function, kernel, locations, *outcome, structs));
        } else if refused {
            let helper = passed::without_facts(without_bodies(entry.clone()));
            let whole = passed::without_facts(entry.clone());
            inner.extend(quote! {
                #[cfg(not(rust_analyzer))]
                #[allow(unused)]
                #helper
                #[cfg(rust_analyzer)]
                #whole
            });
        } else {
            let entry = passed::without_facts(entry.clone());
            inner.extend(quote!(#[allow(dead_code)] #entry));
        }
    }
    let (attrs, vis, name) = (&item.attrs, &item.vis, &item.ident);
    let allowed = refused.then(|| quote!(#[allow(unexpected_cfgs)]));
    quote!(#allowed #(#attrs)* #vis mod #name { #inner })
}

/// The item with `unreachable!()` for the bodies of its functions. `impl Trait` as a result needs a body that gives one,
/// and a `const fn` may be called while the crate is compiled.
fn without_bodies(mut item: syn::Item) -> syn::Item {
    let empty = |signature: &syn::Signature, block: &mut syn::Block| {
        let opaque = matches!(&signature.output, syn::ReturnType::Type(_, ty)
            if matches!(&**ty, syn::Type::ImplTrait(_)));
        if !opaque && signature.constness.is_none() {
            *block = syn::parse_quote!({ ::core::unreachable!() });
        }
    };
    if let syn::Item::Fn(function) = &mut item {
        empty(&function.sig, &mut function.block);
    } else if let syn::Item::Impl(block) = &mut item {
        for entry in &mut block.items {
            if let syn::ImplItem::Fn(function) = entry {
                empty(&function.sig, &mut function.block);
            }
        }
    } else if let syn::Item::Trait(declared) = &mut item {
        for entry in &mut declared.items {
            if let syn::TraitItem::Fn(function) = entry
                && let Some(body) = &mut function.default
            {
                empty(&function.sig, body);
            }
        }
    }
    item
}

/// The body as a function that is never called: imports count as used, rustc's lints and editors see it. A parameter
/// that `grid` mentions counts as used as well.
pub(crate) fn twin(item: &syn::ItemFn, grid: Option<&TokenStream>) -> TokenStream {
    let mut function = item.clone();
    function.attrs.clear();
    function.vis = syn::Visibility::Inherited;
    let mut in_grid: Vec<syn::Stmt> = Vec::new();
    for input in &mut function.sig.inputs {
        if let syn::FnArg::Typed(typed) = input {
            typed.attrs.clear();
            if let syn::Pat::Ident(pat) = &*typed.pat
                && grid.is_some_and(|grid| mentions(grid, &pat.ident))
            {
                let name = &pat.ident;
                in_grid.push(syn::parse_quote!(let _ = &#name;));
            }
        }
    }
    function.block.stmts.splice(0..0, in_grid);
    let allowed = allowed();
    quote! {
        const _: () = {
            #allowed
            #function
        };
    }
}

/// Items that only rust-analyzer sees, which sets the configuration `rust_analyzer` for the packages of a workspace: a kernel whose names or
/// types are wrong, as one that is being typed, has completion, hover and types of its variables too.
pub(crate) fn in_editors(items: &TokenStream) -> TokenStream {
    quote! {
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[cfg(rust_analyzer)]
            #items
        };
    }
}

/// The lints that code from a user's kernel does not answer for.
fn allowed() -> TokenStream {
    quote! {
        #[allow(
            dead_code,
            non_camel_case_types,
            non_snake_case,
            non_upper_case_globals,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
    }
}

/// What stands for the twin of a kernel that was refused when its device items had come: its signature, and the imports of
/// its module, so that they count as used though the body is not there.
pub(crate) fn stand_in(item: &syn::ItemFn, module: Option<&syn::ItemMod>) -> TokenStream {
    let mut function = item.clone();
    function.block = syn::parse_quote!({ ::core::unreachable!() });
    let twin = twin(&function, None);
    let mut names = Vec::new();
    let content = module.and_then(|module| module.content.as_ref());
    for entry in content.map_or(&[][..], |(_, items)| items) {
        if let syn::Item::Use(item) = entry {
            imported(&item.tree, &mut names);
        }
    }
    quote!(#[allow(unused_variables)] #twin #(#[allow(unused_imports)] use self::#names as _;)*)
}

/// The names that an import brings, those of `*` aside.
fn imported(tree: &syn::UseTree, names: &mut Vec<syn::Ident>) {
    match tree {
        syn::UseTree::Path(path) => imported(&path.tree, names),
        syn::UseTree::Name(name) if name.ident != "self" => names.push(name.ident.clone()),
        syn::UseTree::Rename(rename) if rename.rename != "_" => names.push(rename.rename.clone()),
        syn::UseTree::Group(group) => group.items.iter().for_each(|one| imported(one, names)),
        syn::UseTree::Name(_) | syn::UseTree::Rename(_) | syn::UseTree::Glob(_) => {}
    }
}

/// The item as a kernel, if it is one.
fn as_kernel(item: &syn::Item) -> Option<&syn::ItemFn> {
    let syn::Item::Fn(function) = item else { return None };
    function.attrs.iter().any(crate::syntax::is_kernel_attr).then_some(function)
}

/// The item as a struct, if it is one.
fn as_struct(item: &syn::Item) -> Option<&syn::ItemStruct> {
    if let syn::Item::Struct(item) = item { Some(item) } else { None }
}

/// The kernel of a module at this position.
pub(crate) fn kernel_of(item: &syn::ItemMod, index: usize) -> Option<&syn::ItemFn> {
    let (_, content) = item.content.as_ref()?;
    content.iter().filter_map(as_kernel).nth(index)
}

/// The twin of a kernel of a module.
pub(crate) fn twin_of(
    item: &syn::ItemMod,
    index: usize,
    grid: Option<&TokenStream>,
) -> Option<TokenStream> {
    kernel_of(item, index).map(|function| twin(function, grid))
}

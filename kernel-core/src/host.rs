//! The host's side of a kernel, as tokens: the function that makes a launch, its `Args`, its
//! instances, and the body as a dead function for rustc's own eyes.

#![expect(
    clippy::wildcard_enum_match_arm,
    clippy::single_match_else,
    reason = "most of Rust's syntax passes through untouched"
)]

mod grid;
mod maps;
mod root;

use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote};

pub use root::with_crate;
pub(crate) use root::{crate_argument, rooted};

use crate::{
    build::Instance,
    compile::{CompiledInstance, Image, Variant},
    ir::{Dtype, Fact, ParamKind},
    syntax::{Kernel, Unit},
};

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
pub fn kernel_items(item: &syn::ItemFn, kernel: &Kernel, outcome: Outcome<'_>) -> TokenStream {
    let signature = Signature::of(item);
    let host = signature.host(item, kernel, outcome);
    let rest = match outcome {
        Outcome::Refused { awaited: Some(awaited), .. } => {
            let table = &awaited.table;
            quote!(const _: () = { #[allow(dead_code)] fn refused() { let _: [&[()]; 0] = #table; } };)
        }
        Outcome::Compiled(_) | Outcome::Refused { twin: true, .. } => {
            twin(item, kernel.attr.grid.as_ref())
        }
        // It comes with the device items.
        Outcome::Awaited(_) | Outcome::Refused { twin: false, .. } => TokenStream::new(),
    };
    rooted(quote!(#host #rest), kernel.attr.crate_path.as_ref())
}

/// The module of a `#[kernel] mod`: its helpers as they are, its kernels as [`kernel_items`], one outcome for each.
pub fn module_items(item: &syn::ItemMod, unit: &Unit, outcomes: &[Outcome<'_>]) -> TokenStream {
    let Some((_, content)) = &item.content else { return TokenStream::new() };
    // What is wrong in a helper has been said: rustc would say it again.
    let refused = outcomes.iter().any(|one| matches!(one, Outcome::Refused { twin: false, .. }));
    let mut index = 0;
    let mut inner = TokenStream::new();
    for entry in content {
        match entry {
            syn::Item::Fn(function) if function.attrs.iter().any(crate::syntax::is_kernel_attr) => {
                let (Some(kernel), Some(outcome)) = (unit.kernels.get(index), outcomes.get(index))
                else {
                    continue;
                };
                index += 1;
                let mut function = function.clone();
                function.attrs.retain(|attr| !crate::syntax::is_kernel_attr(attr));
                inner.extend(kernel_items(&function, kernel, *outcome));
            }
            other if refused => {
                let other = without_bodies(other.clone());
                inner.extend(quote!(#[allow(unused)] #other));
            }
            other => inner.extend(quote!(#[allow(dead_code)] #other)),
        }
    }
    let (attrs, vis, name) = (&item.attrs, &item.vis, &item.ident);
    quote!(#(#attrs)* #vis mod #name { #inner })
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
    match &mut item {
        syn::Item::Fn(function) => empty(&function.sig, &mut function.block),
        syn::Item::Impl(block) => {
            for entry in &mut block.items {
                if let syn::ImplItem::Fn(function) = entry {
                    empty(&function.sig, &mut function.block);
                }
            }
        }
        syn::Item::Trait(declared) => {
            for entry in &mut declared.items {
                if let syn::TraitItem::Fn(function) = entry
                    && let Some(body) = &mut function.default
                {
                    empty(&function.sig, body);
                }
            }
        }
        _ => {}
    }
    item
}

/// The body as a function that nobody calls: imports count as used, rustc's lints and editors see it. A parameter
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
    quote! {
        const _: () = {
            #[allow(dead_code, non_snake_case, clippy::all, clippy::pedantic, clippy::nursery)]
            #function
        };
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
        _ => {}
    }
}

/// The kernel of a module at this position.
pub(crate) fn kernel_of(item: &syn::ItemMod, index: usize) -> Option<&syn::ItemFn> {
    let (_, content) = item.content.as_ref()?;
    let kernels = content.iter().filter_map(|entry| match entry {
        syn::Item::Fn(function) if function.attrs.iter().any(crate::syntax::is_kernel_attr) => {
            Some(function)
        }
        _ => None,
    });
    kernels.into_iter().nth(index)
}

/// The twin of a kernel of a module.
pub(crate) fn twin_of(
    item: &syn::ItemMod,
    index: usize,
    grid: Option<&TokenStream>,
) -> Option<TokenStream> {
    kernel_of(item, index).map(|function| twin(function, grid))
}

/// What the host items need of a kernel's signature.
struct Signature {
    fields: Vec<Field>,
    /// Every generic parameter as a declaration without bounds: `T`, `const N: i32`.
    declarations: Vec<TokenStream>,
    /// Their names as arguments.
    arguments: Vec<syn::Ident>,
    /// Names of type parameters.
    types: Vec<syn::Ident>,
    /// Those that some field mentions: parameters of `Args`.
    in_args: Vec<usize>,
    has_tensor: bool,
    has_pointer: bool,
}

struct Field {
    name: syn::Ident,
    doc: String,
    ty: TokenStream,
    kind: FieldKind,
    /// The type is a type parameter of the kernel.
    generic: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Tensor,
    Pointer,
    Scalar,
}

impl Signature {
    fn of(item: &syn::ItemFn) -> Signature {
        let mut declarations = Vec::new();
        let mut arguments = Vec::new();
        let mut types = Vec::new();
        for param in &item.sig.generics.params {
            match param {
                syn::GenericParam::Type(param) => {
                    let name = &param.ident;
                    declarations.push(quote!(#name));
                    arguments.push(name.clone());
                    types.push(name.clone());
                }
                syn::GenericParam::Const(param) => {
                    let (name, ty) = (&param.ident, &param.ty);
                    declarations.push(quote!(const #name: #ty));
                    arguments.push(name.clone());
                }
                syn::GenericParam::Lifetime(_) => {}
            }
        }
        let mut fields = Vec::new();
        for input in &item.sig.inputs {
            let syn::FnArg::Typed(typed) = input else { continue };
            let syn::Pat::Ident(pat) = &*typed.pat else { continue };
            let (ty, kind, generic) = field_type(&typed.ty, &types);
            fields.push(Field {
                name: pat.ident.clone(),
                doc: doc_of(&typed.attrs)
                    .unwrap_or_else(|| format!(" The argument `{}`.", pat.ident)),
                ty,
                kind,
                generic,
            });
        }
        let in_args = arguments
            .iter()
            .enumerate()
            .filter(|(_, name)| fields.iter().any(|field| mentions(&field.ty, name)))
            .map(|(index, _)| index)
            .collect();
        let has_tensor = fields.iter().any(|field| field.kind == FieldKind::Tensor);
        let has_pointer = fields.iter().any(|field| field.kind == FieldKind::Pointer);
        Signature { fields, declarations, arguments, types, in_args, has_tensor, has_pointer }
    }

    fn host(&self, item: &syn::ItemFn, kernel: &Kernel, outcome: Outcome<'_>) -> TokenStream {
        let name = &item.sig.ident;
        let vis = &item.vis;
        let attrs: Vec<_> =
            item.attrs.iter().filter(|attr| !attr.path().is_ident("inline")).collect();
        let (declarations, arguments) = (&self.declarations, &self.arguments);
        let args_generics = self.args_generics();
        let (launch, make) = if self.has_pointer || outcome.raw() {
            (quote!(::kiln::UnsafeLaunch), quote!(::kiln::__private::__launch_unsafe))
        } else {
            (quote!(::kiln::Launch), quote!(::kiln::__private::__launch))
        };
        // A name that no parameter can have.
        let args = syn::Ident::new("args", Span::mixed_site());
        let locals: Vec<TokenStream> = self
            .fields
            .iter()
            .map(|field| {
                let name = &field.name;
                match field.kind {
                    FieldKind::Tensor => quote!(let #name = &*#args.#name;),
                    FieldKind::Pointer | FieldKind::Scalar => quote!(let #name = #args.#name;),
                }
            })
            .collect();
        let grid = if let Some(grid) = &kernel.attr.grid {
            let tensors = self.fields.iter().filter(|field| field.kind == FieldKind::Tensor);
            let tensors: Vec<_> = tensors.map(|field| &field.name).collect();
            let grid = grid::checked(grid, &tensors);
            quote! {
                ::core::option::Option::Some({
                    #[allow(unused_variables, unused_parens)]
                    let grid = || -> ::core::result::Result<_, ::kiln::__private::GridFault> {
                        #(#locals)*
                        ::core::result::Result::Ok(::kiln::__private::IntoGrid::into_grid(#grid))
                    };
                    grid()
                })
            }
        } else {
            quote!(::core::option::Option::None)
        };
        let values = self.fields.iter().map(|field| {
            let name = &field.name;
            quote!(::kiln::__private::IntoArgument::into_argument(#args.#name))
        });
        let body = match outcome {
            Outcome::Compiled(_) | Outcome::Awaited(_) => quote! {
                let grid = #grid;
                #make(
                    #name::INSTANCES[<#name::Instance<#(#arguments),*> as #name::Compiled>::INDEX],
                    ::std::vec![#(#values),*],
                    grid,
                )
            },
            // What the arguments are may be wrong as well, so nothing is done with them.
            Outcome::Refused { .. } => quote! {
                let _ = #args;
                ::core::unreachable!()
            },
        };
        let scalar_bounds = self.fields.iter().filter(|f| f.generic).map(|field| {
            let ty = &field.ty;
            quote!(#ty: ::core::marker::Copy + ::kiln::__private::IntoArgument<'a>,)
        });
        let module = self.module(item, kernel, outcome);
        let impls = self.impls(item, outcome);
        quote! {
            #(#attrs)*
            #[allow(clippy::pedantic, clippy::too_many_arguments, clippy::redundant_closure_call, unused_lifetimes, single_use_lifetimes)]
            #vis fn #name<'a, #(#declarations),*>(#args: #name::Args<#args_generics>) -> #launch<'a>
            where
                #name::Instance<#(#arguments),*>: #name::Compiled,
                #(#scalar_bounds)*
            {
                #body
            }
            #module
            #impls
        }
    }

    /// `'a, T, N`: the generic arguments of `Args`.
    fn args_generics(&self) -> TokenStream {
        let lifetime = self.has_tensor.then(|| quote!('a,));
        let names = self.in_args.iter().map(|index| &self.arguments[*index]);
        quote!(#lifetime #(#names),*)
    }

    fn module(&self, item: &syn::ItemFn, kernel: &Kernel, outcome: Outcome<'_>) -> TokenStream {
        let (name, vis) = (&item.sig.ident, &item.vis);
        let (declarations, types) = (&self.declarations, &self.types);
        let lifetime = self.has_tensor.then(|| quote!('a,));
        let args_params = self.in_args.iter().map(|index| &self.declarations[*index]);
        let fields = self.fields.iter().map(|field| {
            let (name, doc, ty) = (&field.name, &field.doc, &field.ty);
            quote!(#[doc = #doc] pub #name: #ty,)
        });
        let inner_vis =
            if let syn::Visibility::Inherited = vis { quote!(pub(super)) } else { quote!(pub) };
        let targets = kernel.attr.targets.iter().filter_map(|ident| target_variant(&ident.name));
        let instances = outcome.instances().unwrap_or_default();
        let list = instance_list(&instances);
        let count = instances.len();
        let table = match outcome {
            Outcome::Compiled(instances) => table(instances, &name.to_string()),
            Outcome::Awaited(_) => quote!(<__Images as __Table>::IMAGES),
            Outcome::Refused { .. } => quote!([]),
        };
        let doc = format!(" What the kernel `{name}` takes, and what was compiled of it.");
        let on_unimplemented = {
            let message = format!("`{name}` was not compiled for this instance");
            let notes = format!("compiled instances: {list}");
            let help = format!("add the values to `instances(..)` of `{name}`");
            quote!(#[diagnostic::on_unimplemented(message = #message, label = "no such instance", note = #notes, note = #help)])
        };
        // Paths to device items are looked up where the kernel stands, so that is where their table is made: in an
        // `impl` beside this module, which may be in the body of a function.
        let images = matches!(outcome, Outcome::Awaited(_)).then(|| {
            quote! {
                #[doc(hidden)]
                #[allow(missing_debug_implementations)]
                #inner_vis struct __Images;

                #[doc(hidden)]
                #inner_vis trait __Table {
                    const IMAGES: [&'static [::kiln::__private::Image]; #count];
                }
            }
        });
        quote! {
            #[doc = #doc]
            #[allow(clippy::pedantic)]
            #vis mod #name {
                #[allow(unused_imports)]
                use super::*;

                /// The arguments, in the order of the kernel's parameters.
                #[allow(missing_debug_implementations)]
                #inner_vis struct Args<#lifetime #(#args_params),*> { #(#fields)* }

                /// A choice of the generic parameters.
                #[allow(missing_debug_implementations)]
                #inner_vis struct Instance<#(#declarations),*>(
                    ::core::marker::PhantomData<(#(#types,)*)>,
                );

                /// Holds for the instances that were compiled.
                #on_unimplemented
                #inner_vis trait Compiled {
                    /// The position in [`INSTANCES`].
                    const INDEX: usize;
                }

                /// The targets that the kernel was compiled for.
                #[allow(dead_code)]
                #inner_vis const TARGETS: &[::kiln::Target] = &[#(#targets),*];

                /// Every compiled instance, with one image for each target.
                #[allow(clippy::unreadable_literal)]
                #inner_vis static INSTANCES: [&[::kiln::__private::Image]; #count] = #table;

                #images
            }
        }
    }

    fn impls(&self, item: &syn::ItemFn, outcome: Outcome<'_>) -> TokenStream {
        let name = &item.sig.ident;
        match outcome.instances() {
            Some(instances) => {
                let each = instances.iter().enumerate().map(|(index, instance)| {
                    let values = instance.values.iter().map(|(_, value)| {
                        let tokens = &value.tokens;
                        match &value.arg {
                            crate::syntax::GenericArg::Const(_) => quote!({ #tokens }),
                            crate::syntax::GenericArg::Type(_) => quote!(#tokens),
                        }
                    });
                    quote! {
                        #[diagnostic::do_not_recommend]
                        impl #name::Compiled for #name::Instance<#(#values),*> {
                            const INDEX: usize = #index;
                        }
                    }
                });
                let table = match outcome {
                    Outcome::Awaited(awaited) => {
                        let (count, table) = (instances.len(), &awaited.table);
                        Some(quote! {
                            #[allow(clippy::unreadable_literal)]
                            impl #name::__Table for #name::__Images {
                                const IMAGES: [&'static [::kiln::__private::Image]; #count] = #table;
                            }
                        })
                    }
                    Outcome::Compiled(_) | Outcome::Refused { .. } => None,
                };
                quote!(#(#each)* #table)
            }
            // After errors every instance counts as compiled, so that nothing else is reported.
            None => {
                let (declarations, arguments) = (&self.declarations, &self.arguments);
                quote! {
                    impl<#(#declarations),*> #name::Compiled for #name::Instance<#(#arguments),*> {
                        const INDEX: usize = 0;
                    }
                }
            }
        }
    }
}

/// `<BM = 64, W = 4>, <BM = 128, W = 4>`, shortened in the middle.
fn instance_list(instances: &[&Instance]) -> String {
    let all: Vec<String> = instances
        .iter()
        .map(|instance| {
            let values: Vec<String> =
                instance.values.iter().map(|(_, value)| value.tokens.to_string()).collect();
            format!("<{}>", values.join(", "))
        })
        .collect();
    all.join(", ")
}

fn target_variant(name: &str) -> Option<TokenStream> {
    let ident = match name {
        "sm_80" => format_ident!("Sm80"),
        "sm_90a" => format_ident!("Sm90a"),
        "sm_100a" => format_ident!("Sm100a"),
        _ => return None,
    };
    Some(quote!(::kiln::Target::#ident))
}

/// The array of every instance with its images.
pub fn table(instances: &[CompiledInstance], name: &str) -> TokenStream {
    let each = instances.iter().map(|instance| instance_table(instance, name));
    quote!([#(#each),*])
}

fn instance_table(instance: &CompiledInstance, name: &str) -> TokenStream {
    let images = instance
        .images
        .iter()
        .map(|image| image_tokens(image, name, &instance.instance.describe()));
    quote!(&[#(#images),*])
}

fn image_tokens(image: &Image, kernel: &str, instance: &str) -> TokenStream {
    let target = target_variant(&image.target);
    let threads = image.warps * 32;
    let params = image.params.iter().map(|param| {
        let name = &param.name;
        let kind = match &param.kind {
            ParamKind::Tensor { dtype, rank, mutable } => {
                let (dtype, rank) = (dtype.name(), Literal::u32_unsuffixed(*rank));
                quote!(Tensor { dtype: #dtype, rank: #rank, mutable: #mutable })
            }
            ParamKind::Pointer(dtype) => {
                let dtype = dtype.name();
                quote!(Pointer { dtype: #dtype })
            }
            ParamKind::Scalar(dtype) => {
                let dtype = dtype.name();
                quote!(Scalar { dtype: #dtype })
            }
        };
        quote!(::kiln::__private::ParamInfo { name: #name, kind: ::kiln::__private::ParamKind::#kind })
    });
    let cluster = image.cluster;
    let programmatic = image.programmatic;
    let declared = image.declared.iter().map(fact_tokens);
    let variants = image.variants.iter().map(|variant| {
        let Variant { name, entry, ptx, shared_bytes, tensor_columns, requires, maps } = variant;
        let maps = maps.iter().map(maps::tokens);
        let requires = requires.iter().map(fact_tokens);
        quote!(::kiln::__private::Variant {
            name: #name,
            entry: #entry,
            ptx: #ptx,
            dynamic_shared_bytes: #shared_bytes,
            tensor_columns: #tensor_columns,
            requires: &[#(#requires),*],
            maps: &[#(#maps),*],
        })
    });
    quote!(::kiln::__private::Image {
        kernel: #kernel,
        instance: #instance,
        target: #target,
        threads: #threads,
        cluster: [#(#cluster),*],
        programmatic: #programmatic,
        params: &[#(#params),*],
        declared: &[#(#declared),*],
        variants: &[#(#variants),*],
    })
}

fn fact_tokens(fact: &Fact) -> TokenStream {
    let index = |value: u32| Literal::u32_unsuffixed(value);
    let number = |value: i64| Literal::i64_unsuffixed(value);
    let body = match *fact {
        Fact::PointerAligned { param, bytes } => {
            let (param, bytes) = (index(param), index(bytes));
            quote!(PointerAligned { param: #param, bytes: #bytes })
        }
        Fact::StrideEquals { param, axis, value } => {
            let (param, axis, value) = (index(param), index(axis), number(value));
            quote!(StrideEquals { param: #param, axis: #axis, value: #value })
        }
        Fact::StrideMultiple { param, axis, of } => {
            let (param, axis, of) = (index(param), index(axis), number(of));
            quote!(StrideMultiple { param: #param, axis: #axis, of: #of })
        }
        Fact::DimMultiple { param, axis, of } => {
            let (param, axis, of) = (index(param), index(axis), number(of));
            quote!(DimMultiple { param: #param, axis: #axis, of: #of })
        }
        Fact::ScalarMultiple { param, of } => {
            let (param, of) = (index(param), number(of));
            quote!(ScalarMultiple { param: #param, of: #of })
        }
    };
    quote!(::kiln::__private::Fact::#body)
}

/// The type of an `Args` field for a parameter's type.
fn field_type(ty: &syn::Type, generics: &[syn::Ident]) -> (TokenStream, FieldKind, bool) {
    let fallback = |ty: &syn::Type| (element_type(ty), FieldKind::Scalar, false);
    let path = match ty {
        syn::Type::Path(path) => path,
        // No kernel takes one; the field is there so that rustc finds the argument that it is given.
        syn::Type::Reference(reference) => {
            let mut reference = reference.clone();
            reference.lifetime = Some(syn::parse_quote!('a));
            return (quote!(#reference), FieldKind::Tensor, false);
        }
        other => return fallback(other),
    };
    let Some(last) = path.path.segments.last() else { return fallback(ty) };
    let args: Vec<&syn::GenericArgument> = match &last.arguments {
        syn::PathArguments::AngleBracketed(args) => args.args.iter().collect(),
        _ => Vec::new(),
    };
    let elem = args.first().map(|arg| match arg {
        syn::GenericArgument::Type(ty) => element_type(ty),
        other => quote!(#other),
    });
    match (last.ident.to_string().as_str(), elem, args.get(1)) {
        ("Tensor" | "TensorMap", Some(elem), Some(rank)) => (
            quote!(&'a ::kiln::__private::DeviceTensor<#elem, { #rank }>),
            FieldKind::Tensor,
            false,
        ),
        ("TensorMut" | "TensorMapMut", Some(elem), Some(rank)) => (
            quote!(&'a mut ::kiln::__private::DeviceTensor<#elem, { #rank }>),
            FieldKind::Tensor,
            false,
        ),
        // Refused by the compiler: rustc need not say so again.
        ("Tensor" | "TensorMut" | "TensorMap" | "TensorMapMut", ..) | ("Ptr", None, _) => {
            (quote!(()), FieldKind::Scalar, false)
        }
        ("Ptr", Some(elem), _) => {
            (quote!(::kiln::__private::DevicePtr<#elem>), FieldKind::Pointer, false)
        }
        _ => {
            let generic = path.path.get_ident().is_some_and(|ident| generics.contains(ident));
            (element_type(ty), FieldKind::Scalar, generic)
        }
    }
}

/// A name that is spelt as those of Rust's own types are, and is none of them.
fn is_no_type(name: &str) -> bool {
    let own = ["usize", "isize", "u128", "i128", "char", "str"];
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && Dtype::from_name(name).is_none()
        && !own.contains(&name)
}

/// An element type by a path that resolves in any module.
fn element_type(ty: &syn::Type) -> TokenStream {
    if let syn::Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && let Some(
            dtype @ (Dtype::F16
            | Dtype::Bf16
            | Dtype::E4m3
            | Dtype::E5m2
            | Dtype::E2m1x2
            | Dtype::Ue8m0),
        ) = Dtype::from_name(&last.ident.to_string())
    {
        let name = format_ident!("{}", dtype.name());
        return quote!(::kiln::__private::#name);
    }
    if let syn::Type::Path(path) = ty
        && let Some(name) = path.path.get_ident()
        && is_no_type(&name.to_string())
    {
        // Refused by the compiler: rustc need not say so again.
        return quote!(f32);
    }
    quote!(#ty)
}

fn doc_of(attrs: &[syn::Attribute]) -> Option<String> {
    let lines: Vec<String> = attrs
        .iter()
        .filter(|attr| attr.path().is_ident("doc"))
        .filter_map(|attr| match &attr.meta {
            syn::Meta::NameValue(syn::MetaNameValue {
                value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
                ..
            }) => Some(text.value()),
            _ => None,
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn mentions(tokens: &TokenStream, name: &syn::Ident) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        proc_macro2::TokenTree::Ident(ident) => ident == *name,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), name),
        proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
    })
}

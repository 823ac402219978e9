//! What the host items need of a kernel's signature.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::passed::{Passed, Structs};
use crate::{
    ir::{Dtype, dtype::Host},
    syntax::{self, Kernel, TypeExpr},
};

/// The signature of a kernel.
pub(super) struct Signature {
    pub(super) fields: Vec<Field>,
    pub(super) generics: Vec<Generic>,
    /// Those that some field mentions, by position: parameters of `Args`.
    in_args: Vec<usize>,
}

/// A generic parameter.
pub(super) struct Generic {
    pub(super) name: syn::Ident,
    /// Without bounds: `T`, `const N: i32`.
    pub(super) declaration: TokenStream,
    pub(super) kind: GenericKind,
}

/// What the values of a generic parameter are.
pub(super) enum GenericKind {
    /// Constants of the type.
    Const(TokenStream),
    /// Element types.
    Dtype,
    /// Other types.
    Named,
}

/// A parameter of the kernel.
pub(super) struct Field {
    pub(super) name: syn::Ident,
    pub(super) doc: String,
    pub(super) passed: Passed,
}

/// What is one argument of a launch.
pub(super) struct One {
    /// The type of what a program passes.
    pub(super) ty: TokenStream,
    pub(super) kind: FieldKind,
    /// The type is an `Option`, of what `kind` says.
    pub(super) optional: bool,
    /// The type is a type parameter of the kernel.
    pub(super) generic: bool,
}

pub(super) enum FieldKind {
    /// A tensor: its element type and rank.
    Tensor {
        elem: TokenStream,
        rank: TokenStream,
        written: bool,
        /// The elements are addresses.
        pointers: bool,
    },
    /// A pointer: what it points to.
    Pointer(TokenStream),
    Scalar,
    /// What no kernel takes.
    Reference,
}

impl Signature {
    pub(super) fn of(item: &syn::ItemFn, kernel: &Kernel, structs: Structs<'_>) -> Signature {
        let mut generics: Vec<Generic> =
            item.sig.generics.params.iter().filter_map(|param| generic(param, kernel)).collect();
        let types: Vec<&syn::Ident> = generics
            .iter()
            .filter(|generic| !matches!(generic.kind, GenericKind::Const(_)))
            .map(|generic| &generic.name)
            .collect();
        let mut fields = Vec::new();
        for input in &item.sig.inputs {
            let syn::FnArg::Typed(typed) = input else { continue };
            let syn::Pat::Ident(pat) = &*typed.pat else { continue };
            fields.push(Field {
                name: pat.ident.clone(),
                doc: doc_of(&typed.attrs)
                    .unwrap_or_else(|| format!(" The argument `{}`.", pat.ident)),
                passed: structs.passed(&typed.ty, &types),
            });
        }
        // A length of another type was reported where it stands.
        for generic in &mut generics {
            let is_length = |field: &Field| field.passed.has_length(&generic.name);
            if matches!(generic.kind, GenericKind::Const(_)) && fields.iter().any(is_length) {
                let name = &generic.name;
                generic.declaration = quote!(const #name: usize);
                generic.kind = GenericKind::Const(quote!(usize));
            }
        }
        let in_args = generics
            .iter()
            .enumerate()
            .filter(|(_, generic)| {
                fields.iter().any(|field| mentions(&field.passed.args_type(), &generic.name))
            })
            .map(|(index, _)| index)
            .collect();
        Signature { fields, generics, in_args }
    }

    /// Every generic parameter as a declaration: `T, const N: i32`.
    pub(super) fn declarations(&self) -> TokenStream {
        let each = self.generics.iter().map(|generic| &generic.declaration);
        quote!(#(#each),*)
    }

    /// Their names: `T, N`.
    pub(super) fn arguments(&self) -> TokenStream {
        let each = self.generics.iter().map(|generic| &generic.name);
        quote!(#(#each),*)
    }

    pub(super) fn has_pointer(&self) -> bool {
        self.ones().any(|one| {
            matches!(one.kind, FieldKind::Pointer(_) | FieldKind::Tensor { pointers: true, .. })
        })
    }

    /// All arguments, those in arrays once.
    fn ones(&self) -> impl Iterator<Item = &One> {
        self.fields.iter().flat_map(|field| field.passed.ones())
    }

    fn has_lifetime(&self) -> bool {
        self.fields.iter().any(|field| field.passed.has_lifetime())
    }

    /// `'a,` if `Args` has it.
    pub(super) fn lifetime(&self) -> TokenStream {
        if self.has_lifetime() { quote!('a,) } else { TokenStream::new() }
    }

    /// The generic parameters of `Args` without its lifetime, as declarations.
    pub(super) fn args_declarations(&self) -> TokenStream {
        let each = self.in_args.iter().map(|index| &self.generics[*index].declaration);
        quote!(#(#each),*)
    }

    /// `'a, T, N`: the generic arguments of `Args`.
    pub(super) fn args_arguments(&self) -> TokenStream {
        let lifetime = self.lifetime();
        let each = self.in_args.iter().map(|index| &self.generics[*index].name);
        quote!(#lifetime #(#each),*)
    }

    /// The bounds of the type parameters of scalar arguments: a predicate of a `where` for each.
    pub(super) fn scalar_bounds(&self) -> TokenStream {
        let scalars = |generic: &&Generic| {
            let name = &generic.name;
            self.ones().any(|one| one.generic && mentions(&one.ty, name))
        };
        let names = self.generics.iter().filter(scalars).map(|generic| &generic.name);
        quote!(#(#names: ::kiln::Element,)*)
    }

    /// Those whose values are element types.
    pub(super) fn dtype_bounds(&self) -> TokenStream {
        let dtypes = self.generics.iter().filter(|g| matches!(g.kind, GenericKind::Dtype));
        let names = dtypes.map(|generic| &generic.name);
        quote!(#(#names: ::kiln::Element,)*)
    }
}

fn generic(param: &syn::GenericParam, kernel: &Kernel) -> Option<Generic> {
    match param {
        syn::GenericParam::Type(param) => {
            let name = param.ident.clone();
            let kind = if stands_for_dtypes(&name, kernel) {
                GenericKind::Dtype
            } else {
                GenericKind::Named
            };
            Some(Generic { declaration: quote!(#name), name, kind })
        }
        syn::GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            Some(Generic {
                name: name.clone(),
                declaration: quote!(const #name: #ty),
                kind: GenericKind::Const(quote!(#ty)),
            })
        }
        syn::GenericParam::Lifetime(_) => None,
    }
}

/// Whether a type parameter stands for element types: a bound of the language says so, or all its values are some.
fn stands_for_dtypes(name: &syn::Ident, kernel: &Kernel) -> bool {
    let name = name.to_string();
    let param = kernel.function.generics.iter().find(|param| param.name.name == name);
    let bounds = match param.map(|param| &param.kind) {
        Some(syntax::GenericKind::Type(bounds)) => bounds.as_slice(),
        Some(syntax::GenericKind::Const(_)) | None => &[],
    };
    let of_language = ["Scalar", "Cast", "Number", "Float", "Int", "Bits"];
    if bounds.iter().any(|bound| of_language.contains(&bound.as_str())) {
        return true;
    }
    let values = kernel.attr.instances.iter().flat_map(|list| {
        let at = list.names.iter().position(|listed| listed.name == name);
        list.rows.iter().filter_map(move |row| row.get(at?))
    });
    let mut any = false;
    for value in values {
        let last = value.arg.ty().and_then(TypeExpr::last);
        if last.and_then(|last| Dtype::from_name(&last.name)).is_none() {
            return false;
        }
        any = true;
    }
    any
}

/// The type of what a program passes for a parameter that is one argument.
pub(super) fn argument(ty: &syn::Type, generics: &[&syn::Ident]) -> (TokenStream, FieldKind, bool) {
    // No kernel takes one; the field is there so that rustc finds the argument that it is given.
    if let syn::Type::Reference(reference) = ty {
        let mut reference = reference.clone();
        reference.lifetime = Some(syn::parse_quote!('a));
        return (quote!(#reference), FieldKind::Reference, false);
    }
    let fallback = (element_type(ty), FieldKind::Scalar, false);
    let syn::Type::Path(path) = ty else { return fallback };
    let Some(last) = path.path.segments.last() else { return fallback };
    let mut args = Vec::new();
    if let syn::PathArguments::AngleBracketed(written) = &last.arguments {
        args.extend(&written.args);
    }
    let mut pointers = false;
    let elem = args.first().map(|arg| {
        let syn::GenericArgument::Type(ty) = arg else { return quote!(#arg) };
        let Some(of) = pointee(ty) else { return element_type(ty) };
        pointers = true;
        quote!(::kiln::__private::DevicePtr<#of>)
    });
    let rank = args.get(1).map(|rank| {
        let literal = matches!(rank, syn::GenericArgument::Const(syn::Expr::Lit(_)));
        if literal { quote!(#rank) } else { quote!({ #rank }) }
    });
    match (last.ident.to_string().as_str(), elem, rank) {
        ("Tensor" | "TensorMap", Some(elem), Some(rank)) => (
            quote!(&'a dyn ::kiln::TensorArgument<#elem, #rank>),
            FieldKind::Tensor { elem, rank, written: false, pointers },
            false,
        ),
        ("TensorMut" | "TensorMapMut", Some(elem), Some(rank)) => (
            quote!(&'a mut dyn ::kiln::TensorArgumentMut<#elem, #rank>),
            FieldKind::Tensor { elem, rank, written: true, pointers },
            false,
        ),
        // Refused by the compiler: rustc need not say so again.
        ("Tensor" | "TensorMut" | "TensorMap" | "TensorMapMut", ..) | ("Ptr", None, _) => {
            (quote!(()), FieldKind::Scalar, false)
        }
        ("Ptr", Some(elem), _) => {
            (quote!(::kiln::__private::DevicePtr<#elem>), FieldKind::Pointer(elem), false)
        }
        _ => {
            let generic = path.path.get_ident().is_some_and(|ident| generics.contains(&ident));
            (element_type(ty), FieldKind::Scalar, generic)
        }
    }
}

/// What a pointer points to, if the type is one.
fn pointee(ty: &syn::Type) -> Option<TokenStream> {
    let syn::Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Ptr")?;
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    let syn::GenericArgument::Type(of) = args.args.first()? else { return None };
    Some(element_type(of))
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
        && let Some(dtype) = Dtype::from_name(&last.ident.to_string())
        && dtype.row().host == Host::Prelude
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
        .filter_map(|attr| {
            let syn::Expr::Lit(value) = &attr.meta.require_name_value().ok()?.value else {
                return None;
            };
            if let syn::Lit::Str(text) = &value.lit { Some(text.value()) } else { None }
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether a name stands somewhere in the tokens.
pub(super) fn mentions(tokens: &TokenStream, name: &syn::Ident) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        proc_macro2::TokenTree::Ident(ident) => ident == *name,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), name),
        proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
    })
}

//! What the host passes for a parameter: one argument, or an array or a struct of them.
//!
//! A struct `Layer` of a `#[kernel] mod` has two types of the host beside it. `LayerArgs` is what a program fills in: references to
//! tensors. `__LayerOf` has a type parameter for each field; launches and grids keep what they make of the references in it.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};

use super::{
    items::local,
    signature::{FieldKind, One, argument},
};
use crate::syntax::{MOST_NESTED, MOST_PASSED, is_fact, of_option};

/// What is passed.
pub(super) enum Passed {
    /// One argument.
    One(One),
    /// An array or a struct, or nothing.
    Optional(Box<Passed>),
    /// An array: its elements, and the length as it is written.
    Array { of: Box<Passed>, length: TokenStream },
    /// A struct of the kernel's module.
    Struct {
        /// The type that a program fills in.
        args: TokenStream,
        /// The type with a parameter for each field.
        of: syn::Ident,
        fields: Vec<(syn::Member, Passed)>,
    },
}

/// A position among the arguments of a launch, in which lengths of arrays are generic parameters.
#[derive(Clone, Default)]
pub(super) struct Position {
    fixed: usize,
    more: Vec<TokenStream>,
}

impl Position {
    fn number(fixed: usize) -> Position {
        Position { fixed, more: Vec::new() }
    }

    pub(super) fn add(&mut self, other: Position) {
        self.fixed += other.fixed;
        self.more.extend(other.more);
    }

    fn times(&self, factor: &TokenStream) -> Position {
        Position { fixed: 0, more: vec![quote!((#factor) * (#self))] }
    }

    fn and(&self, other: Position) -> Position {
        let mut sum = self.clone();
        sum.add(other);
        sum
    }
}

impl quote::ToTokens for Position {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (fixed, more) = (Literal::usize_unsuffixed(self.fixed), &self.more);
        tokens.extend(quote!(#fixed #(+ #more)*));
    }
}

/// The structs that stand beside a kernel.
#[derive(Clone, Copy)]
pub(super) struct Structs<'a>(pub(super) &'a [&'a syn::ItemStruct]);

impl<'a> Structs<'a> {
    /// What a parameter or field of a type is; `generics` are the names of type parameters.
    pub(super) fn passed(self, ty: &syn::Type, generics: &[&syn::Ident]) -> Passed {
        let mut left = MOST_PASSED;
        self.nested(ty, generics, (0, &mut left))
    }

    /// The type in this many structs, with so many fields left to look at: if there are more, the kernel is refused.
    fn nested(
        self,
        ty: &syn::Type,
        generics: &[&syn::Ident],
        (depth, left): (usize, &mut usize),
    ) -> Passed {
        *left = left.saturating_sub(1);
        if let syn::Type::Array(array) = ty {
            let of = Box::new(self.nested(&array.elem, generics, (depth, left)));
            return Passed::Array { of, length: array.len.to_token_stream() };
        }
        if let Some((item, args)) = self.named(ty)
            && depth < MOST_NESTED
            && *left > 0
        {
            let given = given_generics(item, args);
            let members = item.fields.members();
            let fields = members.zip(&item.fields).map(|(member, field)| {
                let ty = substituted(field.ty.to_token_stream(), &given);
                let ty = syn::parse2(ty).unwrap_or_else(|_| field.ty.clone());
                (member, self.nested(&ty, generics, (depth + 1, &mut *left)))
            });
            let fields: Vec<_> = fields.collect();
            let arguments = given.iter().map(|(_, value)| value);
            let name = args_name(item);
            let lifetime = fields.iter().any(|(_, field)| field.has_lifetime());
            let lifetime = lifetime.then(|| quote!('a,));
            return Passed::Struct {
                args: quote!(#name<#lifetime #(#arguments),*>),
                of: of_name(item),
                fields,
            };
        }
        let optional = of_option(ty);
        if let Some(of) = optional
            && (matches!(of, syn::Type::Array(_)) || self.named(of).is_some())
        {
            return Passed::Optional(Box::new(self.nested(of, generics, (depth, left))));
        }
        let (mut of, kind, generic) = argument(optional.unwrap_or(ty), generics);
        if optional.is_some() {
            of = quote!(::core::option::Option<#of>);
        }
        Passed::One(One { ty: of, kind, optional: optional.is_some(), generic })
    }

    /// The struct that a type names, and its generic arguments.
    fn named<'t>(self, ty: &'t syn::Type) -> Option<(&'a syn::ItemStruct, &'t syn::PathArguments)> {
        let syn::Type::Path(path) = ty else { return None };
        let [segment] = &path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
        let item = self.0.iter().find(|item| item.ident == segment.ident)?;
        Some((item, &segment.arguments))
    }

    /// Whether what is passed for a type contains a struct.
    fn reaches(self, ty: &syn::Type, name: &syn::Ident) -> bool {
        let (mut seen, mut next) = (Vec::new(), vec![ty]);
        while let Some(ty) = next.pop() {
            let ty = of_option(ty).unwrap_or(ty);
            if let syn::Type::Array(array) = ty {
                next.push(&array.elem);
                continue;
            }
            let Some((found, _)) = self.named(ty) else { continue };
            if found.ident == *name {
                return true;
            }
            if !seen.contains(&&found.ident) {
                seen.push(&found.ident);
                next.extend(found.fields.iter().map(|field| &field.ty));
            }
        }
        false
    }

    /// The types of the host for the structs that parameters of these types are, or contain.
    pub(super) fn of_host(self, types: &[&syn::Type]) -> TokenStream {
        let mut needed = vec![false; self.0.len()];
        for ty in types {
            self.need(ty, &mut needed, 0);
        }
        let needed = self.0.iter().zip(needed).filter(|(_, needed)| *needed);
        needed.map(|(item, _)| self.declared(item)).collect()
    }

    fn need(self, ty: &syn::Type, needed: &mut [bool], depth: usize) {
        let ty = of_option(ty).unwrap_or(ty);
        if let syn::Type::Array(array) = ty {
            return self.need(&array.elem, needed, depth);
        }
        let Some((item, _)) = self.named(ty).filter(|_| depth < MOST_NESTED) else { return };
        let at = self.0.iter().position(|other| other.ident == item.ident);
        if std::mem::replace(&mut needed[at.expect("it is one of them")], true) {
            return;
        }
        for field in &item.fields {
            self.need(&field.ty, needed, depth + 1);
        }
    }

    fn declared(self, item: &syn::ItemStruct) -> TokenStream {
        let types: Vec<&syn::Ident> =
            item.generics.type_params().map(|param| &param.ident).collect();
        let fields: Vec<Passed> =
            item.fields.iter().map(|field| self.passed(&field.ty, &types)).collect();
        let lifetime = fields.iter().any(Passed::has_lifetime).then(|| quote!('a,));
        let generics = item.generics.params.iter().map(|param| match param {
            syn::GenericParam::Type(param) => param.ident.to_token_stream(),
            syn::GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                quote!(const #name: #ty)
            }
            syn::GenericParam::Lifetime(param) => param.to_token_stream(),
        });
        let (args, of) = (args_name(item), of_name(item));
        let doc = format!(
            " What a program passes for a parameter of the type `{}`: `&x` for a tensor that is read, `&mut x` for one that is written.",
            item.ident
        );
        let docs: Vec<Vec<&syn::Attribute>> = item
            .fields
            .iter()
            .map(|field| field.attrs.iter().filter(|attr| attr.path().is_ident("doc")).collect())
            .collect();
        let docs = docs.iter().zip(item.fields.members()).map(|(docs, member)| {
            let name = member.to_token_stream().to_string();
            let own = docs.is_empty().then(|| {
                let doc = format!(" The field `{name}`.");
                quote!(#[doc = #doc])
            });
            quote!(#own #(#docs)*)
        });
        let tys = fields.iter().map(Passed::args_type);
        let params: Vec<syn::Ident> =
            (0..fields.len()).map(|index| format_ident!("__F{index}")).collect();
        let (body, hidden) = match &item.fields {
            syn::Fields::Named(named) => {
                let names: Vec<_> = named.named.iter().map(|field| &field.ident).collect();
                (quote!({ #(#docs pub #names: #tys,)* }), quote!({ #(pub #names: #params,)* }))
            }
            syn::Fields::Unnamed(_) => {
                (quote!(( #(#docs pub #tys,)* );), quote!(( #(pub #params,)* );))
            }
            syn::Fields::Unit => (quote!(;), quote!(;)),
        };
        let generics = quote!(<#lifetime #(#generics),*>);
        let allowed = super::allowed();
        quote! {
            #[doc = #doc]
            #[allow(missing_debug_implementations)]
            #allowed
            pub struct #args #generics #body

            #[doc(hidden)]
            #[allow(missing_debug_implementations)]
            #allowed
            pub struct #of<#(#params),*> #hidden
        }
    }
}

/// Replaces the types by which structs contain themselves: the compiler has refused them, and rustc would do so once more.
pub(super) fn without_recursion(content: &mut [syn::Item]) {
    let structs: Vec<syn::ItemStruct> =
        content.iter().filter_map(super::as_struct).cloned().collect();
    let all: Vec<&syn::ItemStruct> = structs.iter().collect();
    for item in content {
        let syn::Item::Struct(item) = item else { continue };
        let name = item.ident.clone();
        for field in &mut item.fields {
            if Structs(&all).reaches(&field.ty, &name) {
                field.ty = syn::parse_quote!(());
            }
        }
    }
}

/// The struct without what attributes state of its fields: rustc does not know them.
pub(super) fn without_facts(mut item: syn::Item) -> syn::Item {
    if let syn::Item::Struct(item) = &mut item {
        for field in &mut item.fields {
            field.attrs.retain(|attr| !is_fact(attr));
        }
    }
    item
}

fn args_name(item: &syn::ItemStruct) -> syn::Ident {
    format_ident!("{}Args", item.ident)
}

fn of_name(item: &syn::ItemStruct) -> syn::Ident {
    format_ident!("__{}Of", item.ident)
}

/// What the generic parameters of a struct stand for.
fn given_generics(
    item: &syn::ItemStruct,
    args: &syn::PathArguments,
) -> Vec<(syn::Ident, TokenStream)> {
    let syn::PathArguments::AngleBracketed(args) = args else { return Vec::new() };
    let params = item.generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(param.ident.clone()),
        syn::GenericParam::Const(param) => Some(param.ident.clone()),
        syn::GenericParam::Lifetime(_) => None,
    });
    params.zip(args.args.iter().map(quote::ToTokens::to_token_stream)).collect()
}

/// The tokens with what names stand for.
fn substituted(tokens: TokenStream, given: &[(syn::Ident, TokenStream)]) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|tree| match tree {
            TokenTree::Ident(ident) => {
                let known = given.iter().find(|(name, _)| *name == ident);
                known.map_or_else(|| ident.to_token_stream(), |(_, value)| value.clone())
            }
            TokenTree::Group(group) => {
                let inner = substituted(group.stream(), given);
                let mut of = proc_macro2::Group::new(group.delimiter(), inner);
                of.set_span(group.span());
                of.to_token_stream()
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => tree.to_token_stream(),
        })
        .collect()
}

impl Passed {
    /// All that is one argument.
    pub(super) fn ones(&self) -> Vec<&One> {
        match self {
            Passed::One(one) => vec![one],
            Passed::Array { of, .. } | Passed::Optional(of) => of.ones(),
            Passed::Struct { fields, .. } => {
                fields.iter().flat_map(|(_, field)| field.ones()).collect()
            }
        }
    }

    /// Whether an array in it has a generic parameter as its length.
    pub(super) fn has_length(&self, name: &syn::Ident) -> bool {
        match self {
            Passed::One(_) => false,
            Passed::Optional(of) => of.has_length(name),
            Passed::Array { of, length } => *name == length.to_string() || of.has_length(name),
            Passed::Struct { fields, .. } => fields.iter().any(|(_, field)| field.has_length(name)),
        }
    }

    /// Whether it is more than one argument, or may be.
    pub(super) fn is_several(&self) -> bool {
        !matches!(self, Passed::One(_))
    }

    pub(super) fn has_lifetime(&self) -> bool {
        let borrowed =
            |one: &&One| matches!(one.kind, FieldKind::Tensor { .. } | FieldKind::Reference);
        self.ones().iter().any(borrowed)
    }

    /// How many arguments it is.
    pub(super) fn count(&self) -> Position {
        match self {
            Passed::One(_) => Position::number(1),
            Passed::Optional(of) => of.count(),
            Passed::Array { of, length } => of.count().times(length),
            Passed::Struct { fields, .. } => {
                let mut sum = Position::default();
                for (_, field) in fields {
                    sum.add(field.count());
                }
                sum
            }
        }
    }

    /// The type, of the type of one argument.
    fn of_types(&self, one: &dyn Fn(&One) -> TokenStream) -> TokenStream {
        match self {
            Passed::One(of) => one(of),
            Passed::Optional(of) => {
                let of = of.of_types(one);
                quote!(::core::option::Option<#of>)
            }
            Passed::Array { of, length } => {
                let of = of.of_types(one);
                quote!([#of; #length])
            }
            Passed::Struct { of, fields, .. } => {
                let fields = fields.iter().map(|(_, field)| field.of_types(one));
                quote!(#of<#(#fields),*>)
            }
        }
    }

    /// What a program passes.
    pub(super) fn args_type(&self) -> TokenStream {
        match self {
            Passed::One(one) => one.ty.clone(),
            Passed::Optional(of) => {
                let of = of.args_type();
                quote!(::core::option::Option<#of>)
            }
            Passed::Array { of, length } => {
                let of = of.args_type();
                quote!([#of; #length])
            }
            Passed::Struct { args, .. } => args.clone(),
        }
    }

    /// The same once its tensors are there.
    pub(super) fn given_type(&self) -> TokenStream {
        self.of_types(&|one| match &one.kind {
            FieldKind::Tensor { elem, rank, written: false, .. } => {
                one.optional(quote!(::kiln::TensorRef<'a, #elem, #rank>))
            }
            FieldKind::Tensor { elem, rank, written: true, .. } => {
                one.optional(quote!(::kiln::TensorRefMut<'a, #elem, #rank>))
            }
            FieldKind::Pointer(_) | FieldKind::Scalar | FieldKind::Reference => one.ty.clone(),
        })
    }

    /// The same for the kernel's own grid.
    pub(super) fn grid_type(&self) -> TokenStream {
        self.of_types(&|one| match &one.kind {
            FieldKind::Tensor { elem, rank, .. } => {
                one.optional(quote!(&::kiln::__private::DeviceTensor<#elem, #rank>))
            }
            FieldKind::Pointer(_) | FieldKind::Scalar | FieldKind::Reference => one.ty.clone(),
        })
    }

    /// What [`Self::grid_type`] says, of something whose tensors are there, at a place.
    pub(super) fn borrowed(&self, place: &TokenStream) -> TokenStream {
        match self {
            Passed::One(one) => match one.kind {
                FieldKind::Tensor { .. } if one.optional => quote!(#place.as_deref()),
                FieldKind::Tensor { .. } => quote!(&*#place),
                FieldKind::Reference => quote!(&#place),
                FieldKind::Pointer(_) | FieldKind::Scalar => quote!(#place),
            },
            Passed::Optional(of) => {
                let value = local("value");
                let inner = of.borrowed(&quote!((*#value)));
                quote!(#place.as_ref().map(|#value| #inner))
            }
            Passed::Array { of, .. } => {
                let value = local("value");
                let inner = of.borrowed(&quote!((*#value)));
                quote!(#place.each_ref().map(|#value| #inner))
            }
            Passed::Struct { of, fields, .. } => {
                let fields = fields.iter().map(|(member, field)| {
                    let inner = field.borrowed(&quote!(#place.#member));
                    quote!(#member: #inner)
                });
                quote!(#of { #(#fields),* })
            }
        }
    }

    /// The value of [`Self::given_type`], in a function whose errors are those of launches.
    pub(super) fn given(
        &self,
        place: &TokenStream,
        (kernel, name): (&str, Option<&str>),
        position: &Position,
    ) -> TokenStream {
        match self {
            Passed::One(one) => one.given(place, kernel, name, position),
            Passed::Optional(of) => {
                let value = local("value");
                let inner = of.given(&value.to_token_stream(), (kernel, name), position);
                quote! {
                    match #place {
                        ::core::option::Option::Some(#value) => {
                            ::core::option::Option::Some(#inner)
                        }
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                }
            }
            Passed::Array { of, .. } => {
                let depth = position.more.len();
                let (value, index) = (local("value"), local(&format!("index{depth}")));
                let at = position.and(of.count().times(&quote!(#index)));
                let inner = of.given(&quote!(#value), (kernel, None), &at);
                quote! {
                    ::kiln::__private::__each(#place, |#index, #value| {
                        let _ = #index;
                        ::core::result::Result::Ok(#inner)
                    })?
                }
            }
            Passed::Struct { of, fields, .. } => {
                let mut at = position.clone();
                let fields = fields.iter().map(|(member, field)| {
                    let name = name.map(|name| format!("{name}.{}", member.to_token_stream()));
                    let inner =
                        field.given(&quote!(#place.#member), (kernel, name.as_deref()), &at);
                    at.add(field.count());
                    quote!(#member: #inner)
                });
                let fields: Vec<TokenStream> = fields.collect();
                quote!(#of { #(#fields),* })
            }
        }
    }

    /// Statements that add the arguments to a list.
    pub(super) fn push(&self, place: &TokenStream, list: &syn::Ident) -> TokenStream {
        match self {
            Passed::One(_) => {
                quote!(#list.push(::kiln::__private::IntoArgument::into_argument(#place));)
            }
            Passed::Optional(of) => {
                let (value, count) = (local("value"), of.count());
                let inner = of.push(&value.to_token_stream(), list);
                quote! {
                    match #place {
                        ::core::option::Option::Some(#value) => { #inner }
                        ::core::option::Option::None => {
                            for _ in 0..#count {
                                #list.push(::kiln::__private::__ABSENT);
                            }
                        }
                    }
                }
            }
            Passed::Array { of, .. } => {
                let value = local("value");
                let inner = of.push(&value.to_token_stream(), list);
                quote!(for #value in #place { #inner })
            }
            Passed::Struct { fields, .. } => fields
                .iter()
                .map(|(member, field)| field.push(&quote!(#place.#member), list))
                .collect(),
        }
    }

    /// What [`Self::borrowed`] takes, of arguments whose types are known when the program runs; in a function that gives an `Option`.
    pub(super) fn of_arguments(&self, arguments: &syn::Ident, position: &Position) -> TokenStream {
        match self {
            Passed::One(one) => one.of_arguments(arguments, position),
            Passed::Optional(of) => {
                let (inner, count) = (of.of_arguments(arguments, position), of.count());
                quote! {
                    if ::kiln::__private::__are_absent(#arguments, #position, #count) {
                        ::core::option::Option::None
                    } else {
                        ::core::option::Option::Some(#inner)
                    }
                }
            }
            Passed::Array { of, length } => {
                let depth = position.more.len();
                let index = local(&format!("index{depth}"));
                let at = position.and(of.count().times(&quote!(#index)));
                let inner = of.of_arguments(arguments, &at);
                quote! {
                    ::kiln::__private::__array_of::<_, { #length }>(|#index| {
                        ::core::option::Option::Some(#inner)
                    })?
                }
            }
            Passed::Struct { of, fields, .. } => {
                let mut at = position.clone();
                let fields = fields.iter().map(|(member, field)| {
                    let inner = field.of_arguments(arguments, &at);
                    at.add(field.count());
                    quote!(#member: #inner)
                });
                let fields: Vec<TokenStream> = fields.collect();
                quote!(#of { #(#fields),* })
            }
        }
    }
}

impl One {
    /// The type of what is there, or `Option` of it.
    fn optional(&self, ty: TokenStream) -> TokenStream {
        if self.optional { quote!(::core::option::Option<#ty>) } else { ty }
    }

    fn given(
        &self,
        place: &TokenStream,
        kernel: &str,
        name: Option<&str>,
        position: &Position,
    ) -> TokenStream {
        let tensor = match self.kind {
            FieldKind::Tensor { written: false, .. } => quote!(::kiln::TensorArgument::tensor),
            FieldKind::Tensor { written: true, .. } => {
                quote!(::kiln::TensorArgumentMut::tensor_mut)
            }
            FieldKind::Pointer(_) | FieldKind::Scalar | FieldKind::Reference => {
                return place.clone();
            }
        };
        let name = if let Some(name) = name {
            name.to_token_stream()
        } else {
            let images = local("images");
            quote!(::kiln::__private::__name_of(#images, #position))
        };
        let given = |value| quote!(::kiln::__private::__given(#kernel, #name, #tensor(#value))?);
        if !self.optional {
            return given(place.clone());
        }
        let value = local("value");
        let given = given(quote!(#value));
        quote! {
            match #place {
                ::core::option::Option::Some(#value) => ::core::option::Option::Some(#given),
                ::core::option::Option::None => ::core::option::Option::None,
            }
        }
    }

    fn of_arguments(&self, arguments: &syn::Ident, position: &Position) -> TokenStream {
        let ty = &self.ty;
        let of = match &self.kind {
            FieldKind::Tensor { elem, rank, .. } => {
                quote!(::kiln::__private::__tensor_of::<#elem, #rank>)
            }
            FieldKind::Pointer(elem) => quote!(::kiln::__private::__pointer_of::<#elem>),
            // What an `Option` holds is inferred.
            FieldKind::Scalar | FieldKind::Reference if self.optional => {
                quote!(::kiln::__private::__scalar_of)
            }
            FieldKind::Scalar | FieldKind::Reference => {
                quote!(::kiln::__private::__scalar_of::<#ty>)
            }
        };
        if self.optional {
            quote!(::kiln::__private::__option_of(#arguments, #position, #of)?)
        } else {
            quote!(#of(#arguments, #position)?)
        }
    }
}

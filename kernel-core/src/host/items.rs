//! The function that makes a launch, and its `Args`.

use proc_macro2::{Span, TokenStream};
use quote::quote;

use super::{
    Outcome, describe, grid, images, instances, mentions,
    passed::{Position, Structs},
    signature::{Field, FieldKind, Signature},
};
use crate::{loc::Locations, syntax::Kernel};

/// A kernel as its host items are made of it.
pub(super) struct Host<'a> {
    pub(super) item: &'a syn::ItemFn,
    pub(super) kernel: &'a Kernel,
    pub(super) locations: &'a Locations,
    /// The kernel's own grid, as it is written.
    pub(super) grid: Option<TokenStream>,
    pub(super) outcome: Outcome<'a>,
    pub(super) signature: Signature,
}

/// The function, the module and what stands beside them.
pub(super) fn of(
    item: &syn::ItemFn,
    kernel: &Kernel,
    locations: &Locations,
    outcome: Outcome<'_>,
    structs: Structs<'_>,
) -> TokenStream {
    let signature = Signature::of(item, kernel, structs);
    let grid = kernel.attr.grid.map(|grid| locations.tokens(grid));
    let host = Host { item, kernel, locations, grid, outcome, signature };
    let (function, module) = (host.function(), host.module());
    let (grid, instances) = (host.grid(), instances::beside(&host));
    quote!(#function #module #grid #instances)
}

/// A name for generated code that no parameter can have.
pub(super) fn local(name: &str) -> syn::Ident {
    syn::Ident::new(name, Span::mixed_site())
}

impl Host<'_> {
    pub(super) fn name(&self) -> &syn::Ident {
        &self.item.sig.ident
    }

    /// The kernel's name as text.
    pub(super) fn text(&self) -> String {
        self.name().to_string()
    }

    /// How visible the items of the module are.
    pub(super) fn inner_vis(&self) -> TokenStream {
        match self.item.vis {
            syn::Visibility::Inherited => quote!(pub(super)),
            syn::Visibility::Public(_) | syn::Visibility::Restricted(_) => quote!(pub),
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self.outcome, Outcome::Refused { .. })
    }

    /// Whether launches are unsafe.
    fn is_raw(&self) -> bool {
        self.signature.has_pointer() || self.outcome.raw()
    }

    /// The type of a launch.
    pub(super) fn launch(&self) -> TokenStream {
        if self.is_raw() { quote!(::kiln::LaunchOfRawAddresses) } else { quote!(::kiln::Launch) }
    }

    /// The function of the runtime that makes a launch of an instance by its position.
    pub(super) fn launch_of(&self) -> TokenStream {
        if self.is_raw() {
            quote!(::kiln::__private::__launch_unsafe_of)
        } else {
            quote!(::kiln::__private::__launch_of)
        }
    }

    fn function(&self) -> TokenStream {
        let (name, vis, launch) = (self.name(), &self.item.vis, self.launch());
        let attrs = self.item.attrs.iter().filter(|attr| !attr.path().is_ident("inline"));
        let docs = (!self.is_refused()).then(|| describe::kernel(self));
        let docs = docs.map(|docs| quote!(#[doc = "\n"] #[doc = #docs]));
        let (declarations, arguments) = (self.signature.declarations(), self.signature.arguments());
        let (args, args_arguments) = (local("args"), self.signature.args_arguments());
        let (bounds, body) = (self.signature.scalar_bounds(), self.body(&args, &arguments));
        quote! {
            #(#attrs)*
            #docs
            #[allow(clippy::pedantic, unused_lifetimes, single_use_lifetimes)]
            #vis fn #name<'a, #declarations>(#args: #name::Args<#args_arguments>) -> #launch<'a>
            where
                #name::Instances: #name::Include<#arguments>,
                #bounds
            {
                #body
            }
        }
    }

    fn body(&self, args: &syn::Ident, arguments: &TokenStream) -> TokenStream {
        if self.is_refused() {
            // What the arguments are may be wrong as well, so nothing is done with them.
            return quote! {
                let _ = #args;
                ::core::unreachable!()
            };
        }
        let (name, given, images) = (self.name(), local("given"), local("images"));
        let (make, refuse) = if self.is_raw() {
            (quote!(__launch_unsafe), quote!(__refused_unsafe))
        } else {
            (quote!(__launch), quote!(__refused))
        };
        let grid = if self.grid.is_some() {
            let values = self.in_grid().map(|(_, field)| {
                let name = &field.name;
                field.passed.borrowed(&quote!(#given.#name))
            });
            quote! {
                ::core::option::Option::Some(
                    #name::Instances::__grid::<#arguments>(#(#values),*)
                )
            }
        } else {
            quote!(::core::option::Option::None)
        };
        let (grid_value, error) = (local("grid"), local("error"));
        quote! {
            let #images =
                #name::__IMAGES[<#name::Instances as #name::Include<#arguments>>::__POSITION];
            match #args.__given(#images) {
                ::core::result::Result::Ok(#given) => {
                    let #grid_value = #grid;
                    ::kiln::__private::#make(#images, #given.__arguments(), #grid_value)
                }
                ::core::result::Result::Err(#error) => {
                    ::kiln::__private::#refuse(#images, #error)
                }
            }
        }
    }

    /// The parameters that the kernel's own grid mentions, with their positions.
    fn in_grid(&self) -> impl Iterator<Item = (Position, &Field)> {
        let grid = self.grid.as_ref();
        let fields = self.signature.fields.iter().scan(Position::default(), |next, field| {
            let position = next.clone();
            next.add(field.passed.count());
            Some((position, field))
        });
        fields.filter(move |(_, field)| grid.is_some_and(|grid| mentions(grid, &field.name)))
    }

    /// The kernel's own grid, as functions of the host: one for typed arguments, with the text of the attribute, and one for arguments whose
    /// types are known when the program runs. They stand beside the module, where the names of the text mean what they mean
    /// to the user.
    fn grid(&self) -> TokenStream {
        if self.is_refused() {
            return TokenStream::new();
        }
        let (name, declarations) = (self.name(), self.signature.declarations());
        let (argument_list, arguments) = (self.signature.arguments(), local("arguments"));
        let (typed, value) = match &self.grid {
            Some(grid) => {
                let has_tensor = |field: &Field| {
                    let ones = field.passed.ones();
                    ones.iter().any(|one| matches!(one.kind, FieldKind::Tensor { .. }))
                };
                let tensors: Vec<&syn::Ident> = self
                    .in_grid()
                    .filter(|(_, field)| has_tensor(field))
                    .map(|(_, field)| &field.name)
                    .collect();
                let grid = grid::checked(grid, &tensors);
                let params = self.in_grid().map(|(_, field)| {
                    let (name, ty) = (&field.name, field.passed.grid_type());
                    quote!(#name: #ty)
                });
                let bounds = self.signature.scalar_bounds();
                let local_of = |index| local(&format!("value{index}"));
                let kept = self.in_grid().enumerate().map(|(index, (position, field))| {
                    let value = local_of(index);
                    let of = field.passed.of_arguments(&arguments, &position);
                    quote!(let #value = #of;)
                });
                let kept: TokenStream = kept.collect();
                let values = self.in_grid().enumerate().map(|(index, (_, field))| {
                    let value = local_of(index);
                    field.passed.borrowed(&quote!(#value))
                });
                let typed = quote! {
                    #[doc(hidden)]
                    #[allow(unused_parens, clippy::pedantic, clippy::too_many_arguments, clippy::needless_question_mark)]
                    fn __grid<#declarations>(#(#params),*) -> ::core::result::Result<
                        ::kiln::__private::Grid,
                        ::kiln::__private::GridFault,
                    >
                    where
                        #bounds
                    {
                        ::core::result::Result::Ok(::kiln::__private::IntoGrid::into_grid(#grid))
                    }
                };
                let value = quote! {
                    #kept
                    ::core::option::Option::Some(Self::__grid::<#argument_list>(#(#values),*))
                };
                (typed, value)
            }
            None => (
                TokenStream::new(),
                quote! {
                    let _ = #arguments;
                    ::core::option::Option::None
                },
            ),
        };
        let bounds = self.signature.dtype_bounds();
        quote! {
            #[allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
            impl #name::Instances {
                #typed

                #[doc(hidden)]
                #[allow(clippy::pedantic, clippy::needless_question_mark)]
                fn __grid_of<#declarations>(
                    #arguments: &[::kiln::__private::Argument<'_>],
                ) -> ::core::option::Option<
                    ::core::result::Result<::kiln::__private::Grid, ::kiln::__private::GridFault>,
                >
                where
                    #bounds
                {
                    #value
                }
            }
        }
    }

    fn module(&self) -> TokenStream {
        let (name, vis, inner_vis) = (self.name(), &self.item.vis, self.inner_vis());
        let targets = self.kernel.attr.targets.iter();
        let targets = targets.filter_map(|ident| images::target_variant(&ident.name));
        let (args, instances) = (self.args(), instances::inside(self));
        let allowed = super::allowed();
        let doc = if self.is_refused() {
            format!(" The kernel `{name}`, which has errors.")
        } else {
            describe::module(self)
        };
        quote! {
            #[doc = #doc]
            #allowed
            #vis mod #name {
                #[allow(unused_imports)]
                use super::*;

                #args

                /// The targets that the kernel was compiled for.
                #inner_vis const TARGETS: &[::kiln::Target] = &[#(#targets),*];

                #instances
            }
        }
    }

    /// `Args`, and what becomes of it.
    fn args(&self) -> TokenStream {
        let inner_vis = self.inner_vis();
        let (lifetime, declarations) =
            (self.signature.lifetime(), self.signature.args_declarations());
        let fields = self.signature.fields.iter().map(|field| {
            let (name, doc, ty) = (&field.name, &field.doc, field.passed.args_type());
            quote!(#[doc = #doc] pub #name: #ty,)
        });
        let given = (!self.is_refused()).then(|| self.given());
        quote! {
            /// The arguments, in the order of the kernel's parameters.
            #[allow(missing_debug_implementations)]
            #inner_vis struct Args<#lifetime #declarations> { #(#fields)* }

            #given
        }
    }

    /// The arguments once their tensors are there.
    fn given(&self) -> TokenStream {
        let (inner_vis, text) = (self.inner_vis(), self.text());
        let (lifetime, declarations, arguments) = (
            self.signature.lifetime(),
            self.signature.args_declarations(),
            self.signature.args_arguments(),
        );
        let fields = self.signature.fields.iter().map(|field| {
            let (name, ty) = (&field.name, field.passed.given_type());
            quote!(pub #name: #ty,)
        });
        let mut position = Position::default();
        let values = self.signature.fields.iter().map(|field| {
            let name = &field.name;
            let place = quote!(self.#name);
            let written = name.to_string();
            let given = field.passed.given(&place, (&text, Some(&written)), &position);
            position.add(field.passed.count());
            quote!(#name: #given,)
        });
        let values: Vec<TokenStream> = values.collect();
        let several = self.signature.fields.iter().any(|field| field.passed.is_several());
        let into = if several {
            let list = local("list");
            let each = self.signature.fields.iter().map(|field| {
                let name = &field.name;
                field.passed.push(&quote!(self.#name), &list)
            });
            quote!({
                let mut #list = ::std::vec::Vec::with_capacity(#position);
                #(#each)*
                #list
            })
        } else {
            let each = self.signature.fields.iter().map(|field| {
                let name = &field.name;
                quote!(::kiln::__private::IntoArgument::into_argument(self.#name))
            });
            quote!(::std::vec![#(#each),*])
        };
        let images = local("images");
        let scalars = self.signature.scalar_bounds();
        // A lifetime that the type has not got is one of the function.
        let own = lifetime.is_empty().then(|| quote!(<'a>));
        quote! {
            #[doc(hidden)]
            #[allow(missing_debug_implementations)]
            #inner_vis struct __Given<#lifetime #declarations> { #(#fields)* }

            impl<#lifetime #declarations> self::Args<#arguments> {
                #[doc(hidden)]
                #inner_vis fn __given(
                    self,
                    #images: &'static [::kiln::__private::Image],
                ) -> ::core::result::Result<self::__Given<#arguments>, ::kiln::Error> {
                    let _ = #images;
                    ::core::result::Result::Ok(self::__Given { #(#values)* })
                }
            }

            impl<#lifetime #declarations> self::__Given<#arguments> {
                #[doc(hidden)]
                #inner_vis fn __arguments #own(
                    self,
                ) -> ::std::vec::Vec<::kiln::__private::Argument<'a>>
                where
                    #scalars
                {
                    #into
                }
            }
        }
    }
}

//! The instances of a kernel: as values, and as a bound of generic code.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;

use super::{
    Outcome, describe,
    images::table,
    items::{Host, local},
    signature::{Generic, GenericKind},
};
use crate::{
    elaborate,
    loc::Locations,
    syntax::{GenericArg, InstanceValue},
};

/// How many instances a message of rustc lists.
const LISTED: usize = 12;

/// What the module has of them.
pub(super) fn inside(host: &Host<'_>) -> TokenStream {
    let (vis, count) = (host.inner_vis(), count(host));
    let (values, value, include) = (values(host), value(host), include(host));
    let rows = if host.is_refused() {
        quote! {
            /// Nothing was compiled: the kernel has errors.
            #vis static INSTANCES: [self::Instance; 0] = [];
        }
    } else {
        quote! {
            #[doc(hidden)]
            #vis trait __Table {
                const IMAGES: [&'static [::kiln::__private::Image]; #count];
                const GRIDS: [::kiln::__private::__GridOf; #count];
                const INSTANCES: [self::Instance; #count];
            }

            #[doc(hidden)]
            #vis static __IMAGES: [&'static [::kiln::__private::Image]; #count] =
                <self::Instances as self::__Table>::IMAGES;

            static __GRIDS: [::kiln::__private::__GridOf; #count] =
                <self::Instances as self::__Table>::GRIDS;

            /// Every instance, in the order of the lists in the kernel's attribute; the last list varies fastest.
            #vis static INSTANCES: [self::Instance; #count] =
                <self::Instances as self::__Table>::INSTANCES;
        }
    };
    quote! {
        #include

        #rows

        /// Every instance of the kernel, to be looped over or filtered by its values.
        #vis fn instances() -> ::core::iter::Copied<::core::slice::Iter<'static, self::Instance>> {
            self::INSTANCES.iter().copied()
        }

        /// The first instance that `accepts` takes.
        ///
        /// # Errors
        /// `NoInstance`, with what there is.
        #vis fn find(
            accepts: impl ::core::ops::FnMut(&self::Instance) -> bool,
        ) -> ::core::result::Result<self::Instance, ::kiln::Error> {
            ::kiln::__private::__find(accepts)
        }

        #value

        #values
    }
}

/// What stands beside the module, where the values of the attribute mean what they mean to the user: names may be those of a
/// function's body.
pub(super) fn beside(host: &Host<'_>) -> TokenStream {
    let name = host.name();
    let Some(instances) = host.outcome.instances() else {
        // After errors every instance counts as compiled, so that nothing else is reported.
        let (declarations, arguments) = (host.signature.declarations(), host.signature.arguments());
        return quote! {
            impl<#declarations> #name::Include<#arguments> for #name::Instances {
                const __POSITION: usize = 0;
            }
        };
    };
    let arguments: Vec<TokenStream> =
        instances.iter().map(|one| generic_arguments(one, host.locations)).collect();
    let positions: Vec<Literal> = (0..instances.len()).map(Literal::usize_unsuffixed).collect();
    let count = count(host);
    let images = match host.outcome {
        Outcome::Compiled(instances) => table(instances, &host.text(), host.kernel.attr.says_in),
        // Paths to device items are looked up where the kernel stands.
        Outcome::Awaited(awaited) => awaited.table.clone(),
        Outcome::Refused { .. } => quote!([]),
    };
    quote! {
        #(
            #[diagnostic::do_not_recommend]
            impl #name::Include<#arguments> for #name::Instances {
                const __POSITION: usize = #positions;
            }
        )*

        #[allow(clippy::unreadable_literal)]
        impl #name::__Table for #name::Instances {
            const IMAGES: [&'static [::kiln::__private::Image]; #count] = #images;
            const GRIDS: [::kiln::__private::__GridOf; #count] =
                [#(#name::Instances::__grid_of::<#arguments>),*];
            const INSTANCES: [#name::Instance; #count] =
                [#(#name::Instance::__of::<#arguments>(#positions)),*];
        }
    }
}

fn count(host: &Host<'_>) -> Literal {
    let instances = host.outcome.instances().unwrap_or_default();
    Literal::usize_unsuffixed(instances.len())
}

/// `f16, { 64 }`
fn generic_arguments(instance: &elaborate::Instance, locations: &Locations) -> TokenStream {
    let values = instance.values.iter().map(|(_, value)| {
        let tokens = locations.tokens(value.tokens);
        match &value.arg {
            GenericArg::Const(_) => quote!({ #tokens }),
            GenericArg::Type(_) => quote!(#tokens),
        }
    });
    quote!(#(#values),*)
}

/// The type of the field for a generic parameter.
fn field_type(generic: &Generic) -> TokenStream {
    match &generic.kind {
        GenericKind::Const(ty) => ty.clone(),
        GenericKind::Dtype => quote!(::kiln::Dtype),
        GenericKind::Named => quote!(::kiln::NamedType),
    }
}

/// The fields of a struct with the values of an instance.
fn fields(host: &Host<'_>) -> TokenStream {
    let each = host.signature.generics.iter().map(|generic| {
        let (name, ty) = (&generic.name, field_type(generic));
        let doc = format!(" The generic parameter `{name}`.");
        quote!(#[doc = #doc] pub #name: #ty,)
    });
    quote!(#(#each)*)
}

/// The bound.
fn include(host: &Host<'_>) -> TokenStream {
    let (vis, name) = (host.inner_vis(), host.name());
    let declarations = host.signature.declarations();
    let bound = format!(
        " As a bound: `where {name}::Instances: {name}::Include<{}>`.",
        names(host).join(", ")
    );
    let missing = missing_instance(host);
    quote! {
        /// All instances of the kernel, for bounds of generic code: see [`Include`].
        #[derive(Clone, Copy, Debug)]
        #vis struct Instances;

        /// Holds for [`Instances`] and each choice of the generic parameters that was compiled.
        ///
        #[doc = #bound]
        #missing
        #vis trait Include<#declarations> {
            #[doc(hidden)]
            const __POSITION: usize;
        }
    }
}

/// Names that mean something else in braces.
const RESERVED: [&str; 4] = ["Self", "This", "Trait", "ItemContext"];

/// What rustc says of an instance that is not there.
fn missing_instance(host: &Host<'_>) -> TokenStream {
    let name = host.text();
    let values: Vec<String> = names(host)
        .iter()
        .filter(|name| !RESERVED.contains(&name.as_str()))
        .map(|name| format!("{name} = {{{name}}}"))
        .collect();
    let message = if values.is_empty() {
        format!("`{name}` was not compiled for this instance")
    } else {
        format!("`{name}` was not compiled for {}", values.join(", "))
    };
    let instances = host.outcome.instances().unwrap_or_default();
    let list: Vec<String> = instances.iter().map(|one| one.describe()).collect();
    let list = describe::shortened(&list, LISTED).join("; ");
    let note = format!("compiled instances: {list}");
    // What stands in braces is a parameter of the trait.
    let note = note.replace('{', "{{").replace('}', "}}");
    let help = added(host).map_or_else(
        || format!("add the values to `instances(..)` of `{name}`, or take those of a compiled one"),
        |list| format!("`instances({list})` in the attribute of `{name}` compiles it; or take one that is there"),
    );
    let names = names(host).join(", ");
    let bound = (!names.is_empty()).then(|| {
        let text = format!(
            "generic code asks for it: `where {name}::Instances: {name}::Include<{names}>`"
        );
        quote!(, note = #text)
    });
    quote! {
        #[diagnostic::on_unimplemented(
            message = #message,
            label = "no such instance",
            note = #note,
            note = #help
            #bound
        )]
    }
}

/// The only list of instances with the values that are asked for, as they stand in braces: `N = [64, 128, {N}]`.
fn added(host: &Host<'_>) -> Option<String> {
    let [list] = &host.kernel.attr.instances[..] else { return None };
    let group = |parts: Vec<String>| match &parts[..] {
        [only] => only.clone(),
        _ => format!("({})", parts.join(", ")),
    };
    let values = |row: &Vec<InstanceValue>| {
        let text = group(row.iter().map(|value| value.text.clone()).collect());
        text.replace('{', "{{").replace('}', "}}")
    };
    let own: Vec<String> = list.names.iter().map(|name| name.name.clone()).collect();
    let asked = group(own.iter().map(|name| format!("{{{name}}}")).collect());
    let rows: Vec<String> = list.rows.iter().map(values).chain([asked]).collect();
    let reserved = own.iter().any(|name| RESERVED.contains(&name.as_str()));
    let constants = own.len() == names(host).len();
    (!reserved && constants && rows.len() <= LISTED)
        .then(|| format!("{} = [{}]", group(own), rows.join(", ")))
}

/// The names of the generic parameters, as text.
fn names(host: &Host<'_>) -> Vec<String> {
    host.signature.generics.iter().map(|generic| generic.name.to_string()).collect()
}

/// The struct of one instance.
fn value(host: &Host<'_>) -> TokenStream {
    let (vis, text, launch) = (host.inner_vis(), host.text(), host.launch());
    let (fields, position) = (fields(host), position(host));
    let names: Vec<&syn::Ident> = host.signature.generics.iter().map(|one| &one.name).collect();
    let (declarations, args, bounds) = (
        host.signature.args_declarations(),
        host.signature.args_arguments(),
        host.signature.scalar_bounds(),
    );
    let (made, bodies) = if host.is_refused() {
        (None, [quote!(::core::unreachable!()), quote!(::core::unreachable!()), quote!(&[])])
    } else {
        let launch_of = host.launch_of();
        let arguments = local("arguments");
        let make = |arguments: &TokenStream| quote!(#launch_of(&self::__IMAGES, &self::__GRIDS, self.#position, #arguments));
        let given = local("given");
        let typed = make(&quote! {
            #arguments.__given(self::__IMAGES[self.#position]).map(|#given| #given.__arguments())
        });
        let erased = make(&quote! {
            ::core::result::Result::Ok(::core::iter::Iterator::collect(
                ::core::iter::IntoIterator::into_iter(#arguments),
            ))
        });
        let images = quote!(self::__IMAGES[self.#position]);
        (Some(made(host, &position)), [typed, erased, images])
    };
    let [typed, erased, images] = bodies;
    let (arguments, traits) = (local("arguments"), traits(&position));
    quote! {
        /// One compiled choice of the generic parameters.
        #[derive(Clone, Copy)]
        #vis struct Instance {
            #fields
            #position: usize,
        }

        #made

        impl self::Instance {
            /// The launch of this instance with these arguments; the kernel's own grid is that of the instance.
            ///
            /// If a type parameter is part of the arguments, an instance of another type is an error of the launch.
            #vis fn with<'a, #declarations>(
                self,
                #arguments: self::Args<#args>,
            ) -> #launch<'a>
            where
                #bounds
            {
                #typed
            }

            /// As [`with`](Self::with), with arguments in the order of the parameters whose types are checked by the launch.
            #vis fn with_arguments<'a>(
                self,
                #arguments: impl ::core::iter::IntoIterator<Item = ::kiln::Argument<'a>>,
            ) -> #launch<'a> {
                #erased
            }

            /// The values of the generic parameters.
            #vis const fn values(self) -> self::Values {
                self::Values { #(#names: self.#names),* }
            }
        }

        impl ::kiln::Instance for self::Instance {
            const KERNEL: &'static str = #text;
            fn all() -> &'static [Self] {
                &self::INSTANCES
            }
            fn position(self) -> usize {
                self.#position
            }
            fn images(self) -> &'static [::kiln::__private::Image] {
                #images
            }
        }

        #traits
    }
}

/// Instances are compared by their position, and written as their values.
fn traits(position: &syn::Ident) -> TokenStream {
    quote! {
        impl ::core::cmp::PartialEq for self::Instance {
            fn eq(&self, other: &Self) -> bool {
                self.#position == other.#position
            }
        }
        impl ::core::cmp::Eq for self::Instance {}
        impl ::core::cmp::PartialOrd for self::Instance {
            fn partial_cmp(&self, other: &Self) -> ::core::option::Option<::core::cmp::Ordering> {
                ::core::option::Option::Some(::core::cmp::Ord::cmp(self, other))
            }
        }
        impl ::core::cmp::Ord for self::Instance {
            fn cmp(&self, other: &Self) -> ::core::cmp::Ordering {
                ::core::cmp::Ord::cmp(&self.#position, &other.#position)
            }
        }
        impl ::core::hash::Hash for self::Instance {
            fn hash<__H: ::core::hash::Hasher>(&self, state: &mut __H) {
                ::core::hash::Hash::hash(&self.#position, state);
            }
        }
        impl ::core::fmt::Display for self::Instance {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.values(), f)
            }
        }
        impl ::core::fmt::Debug for self::Instance {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.values(), f)
            }
        }
    }
}

/// The function that makes an instance of its parameters.
fn made(host: &Host<'_>, position: &syn::Ident) -> TokenStream {
    let (vis, declarations) = (host.inner_vis(), host.signature.declarations());
    let fields = host.signature.generics.iter().map(|generic| {
        let name = &generic.name;
        match generic.kind {
            GenericKind::Const(_) => quote!(#name,),
            GenericKind::Dtype => quote!(#name: ::kiln::Dtype::of::<#name>(),),
            GenericKind::Named => quote!(#name: ::kiln::NamedType::of::<#name>(),),
        }
    });
    let dtypes = host.signature.dtype_bounds();
    let named = host.signature.generics.iter();
    let named = named.filter(|generic| matches!(generic.kind, GenericKind::Named));
    let named = named.map(|generic| &generic.name);
    let at = local("position");
    quote! {
        impl self::Instance {
            #[doc(hidden)]
            #vis const fn __of<#declarations>(#at: usize) -> Self
            where
                #dtypes
                #(#named: 'static,)*
            {
                Self { #(#fields)* #position: #at }
            }
        }
    }
}

/// The field that no generic parameter is called like.
fn position(host: &Host<'_>) -> syn::Ident {
    let mut name = format_ident!("__position");
    while host.signature.generics.iter().any(|generic| generic.name == name) {
        name = format_ident!("_{name}");
    }
    name
}

/// The struct of values that an instance may have or not.
fn values(host: &Host<'_>) -> TokenStream {
    let (vis, fields) = (host.inner_vis(), fields(host));
    let names: Vec<&syn::Ident> = host.signature.generics.iter().map(|one| &one.name).collect();
    let text: Vec<String> = names.iter().map(|name| format!("{} = {{}}", name.unraw())).collect();
    let text = text.join(", ");
    // After errors a value may be of any type.
    let written = if host.is_refused() {
        quote!(f.write_str(""))
    } else {
        quote!(f.pad(&::std::format!(#text, #(self.#names),*)))
    };
    let equal = match names.as_slice() {
        [] => quote!(|_: &self::Instance| true),
        _ if host.is_refused() => quote!(|_: &self::Instance| false),
        names => {
            let one = local("one");
            quote!(|#one: &self::Instance| #(#one.#names == self.#names)&&*)
        }
    };
    let derived = (!host.is_refused()).then(|| quote!(, PartialEq, Eq, Hash));
    quote! {
        /// Values of the generic parameters, whether there is an instance for them or not.
        #[derive(Clone, Copy #derived)]
        #vis struct Values { #fields }

        impl self::Values {
            /// The instance with these values.
            ///
            /// # Errors
            /// `NoInstance`, with what there is.
            #vis fn find(self) -> ::core::result::Result<self::Instance, ::kiln::Error> {
                ::kiln::__private::__find_values(&self, #equal)
            }
        }

        impl ::core::fmt::Display for self::Values {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #written
            }
        }
        impl ::core::fmt::Debug for self::Values {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }
    }
}

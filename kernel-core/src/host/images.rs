//! What was compiled, as tokens: the images of each instance.

use kernel_ptx::Hardware;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{CompiledInstance, Image, Variant, maps};
use crate::ir::{Fact, ParamKind};

pub(super) fn target_variant(name: &str) -> Option<TokenStream> {
    Hardware::named(name)?;
    let ident = format_ident!("Sm{}", name.strip_prefix("sm_")?);
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
            ParamKind::Tensor { .. } | ParamKind::Pointer(_) | ParamKind::Scalar(_)
                if param.absent =>
            {
                quote!(Absent)
            }
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
        let Variant { name, entry, ptx, cubins, shared_bytes, tensor_columns, requires, maps } =
            variant;
        let cubins = cubins.iter().map(|cubin| {
            let (architecture, bytes) = (&cubin.architecture, Literal::byte_string(&cubin.bytes));
            quote!(::kiln::__private::Cubin { architecture: #architecture, bytes: #bytes })
        });
        let maps = maps.iter().map(maps::tokens);
        let requires = requires.iter().map(fact_tokens);
        quote!(::kiln::__private::Variant {
            name: #name,
            entry: #entry,
            ptx: #ptx,
            cubins: &[#(#cubins),*],
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

//! What was compiled, as tokens: the images of each instance.

use kernel_ptx::Hardware;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{CompiledInstance, Image, Report, Reports, Stamp, Variant, maps};
use crate::ir::{Dtype, Elem, Fact, ParamKind, ReportKind};
use crate::lower::{NamedMemory, NamedWarps, Names, Slots};
use crate::syntax::Builds;

pub(super) fn target_variant(name: &str) -> Option<TokenStream> {
    Hardware::named(name)?;
    let ident = format_ident!("Sm{}", name.strip_prefix("sm_")?);
    Some(quote!(::kiln::Target::#ident))
}

/// The array of every instance with its images. What `println!` and `assert!` say is there in the builds that `builds` names.
pub fn table(instances: &[CompiledInstance], name: &str, builds: Builds) -> TokenStream {
    let of = |images: fn(&CompiledInstance) -> &[Image]| {
        let each = instances.iter().map(|one| instance_table(one, images(one), name));
        quote!([#(#each),*])
    };
    let silent = of(|one| &one.images);
    if instances.iter().all(|one| one.reporting.is_empty()) {
        return silent;
    }
    let saying = of(|one| if one.reporting.is_empty() { &one.images } else { &one.reporting });
    match builds {
        Builds::All => saying,
        Builds::Debug => quote!({
            #[cfg(debug_assertions)]
            { #saying }
            #[cfg(not(debug_assertions))]
            { #silent }
        }),
    }
}

fn instance_table(instance: &CompiledInstance, images: &[Image], name: &str) -> TokenStream {
    let described = instance.instance.describe();
    let images = images.iter().map(|image| image_tokens(image, name, &described));
    quote!(&[#(#images),*])
}

/// What a kernel says, for the runtime.
fn reports_tokens(reports: Option<&Reports>) -> TokenStream {
    let Some(Reports { slots: Slots { bytes, prints, assertions }, all }) = reports else {
        return quote!(::core::option::Option::None);
    };
    let all = all.iter().map(|report| {
        let Report { kind, format, place, values, shape } = report;
        let condition = match kind {
            ReportKind::Print | ReportKind::Stamp => None,
            ReportKind::Assert(condition) => Some(condition.as_str()),
            ReportKind::AssertEq => Some("left == right"),
            ReportKind::AssertNe => Some("left != right"),
        };
        let condition = match condition {
            None => quote!(::core::option::Option::None),
            Some(condition) => quote!(::core::option::Option::Some(#condition)),
        };
        let value = |index: usize| value_tokens(index, values[index]);
        let said = |first: usize| (first..values.len()).map(value);
        let text = match kind {
            ReportKind::Print | ReportKind::Stamp => {
                let values = said(0);
                quote!(::core::write!(out, #format, #(#values),*))
            }
            ReportKind::Assert(_) if format.is_empty() => quote!(::core::result::Result::Ok(())),
            ReportKind::Assert(_) => {
                let (values, format) = (said(0), format!(": {format}"));
                quote!(::core::write!(out, #format, #(#values),*))
            }
            ReportKind::AssertEq | ReportKind::AssertNe => {
                let (left, right) = (value(0), value(1));
                let message = (!format.is_empty()).then(|| {
                    let (values, format) = (said(2), format!(": {format}"));
                    quote!(::core::write!(out, #format, #(#values),*)?;)
                });
                quote! {
                    #message
                    ::core::write!(out, "\n  left: {:?}\n right: {:?}", #left, #right)
                }
            }
        };
        quote!(::kiln::__private::ReportText {
            condition: #condition,
            place: #place,
            shape: &[#(#shape),*],
            write: |values, out| {
                let _ = values;
                #text
            },
        })
    });
    quote!(::core::option::Option::Some(::kiln::__private::Reports {
        slot_bytes: #bytes,
        prints: #prints,
        assertions: #assertions,
        all: &[#(#all),*],
    }))
}

/// A value that a kernel has said, as the host has it.
fn value_tokens(index: usize, elem: Elem) -> TokenStream {
    let index = Literal::usize_unsuffixed(index);
    let Elem::Number(dtype) = elem else { return quote!(values.address(#index)) };
    let name = format_ident!("{}", dtype.name());
    let primitive = dtype.is_int() || matches!(dtype, Dtype::Bool | Dtype::F32 | Dtype::F64);
    let ty =
        if primitive { quote!(::core::primitive::#name) } else { quote!(::kiln::__private::#name) };
    quote!(values.get::<#ty>(#index))
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
                let dtype = match param.points_to {
                    Some(of) => format!("Ptr<{}>", of.name()),
                    None => dtype.name().to_owned(),
                };
                let rank = Literal::u32_unsuffixed(*rank);
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
    let reports = reports_tokens(image.reports.as_ref());
    let stamps = stamps_tokens(image, kernel, instance);
    let declared = image.declared.iter().map(fact_tokens);
    let variants = image.variants.iter().map(|variant| {
        let Variant { name, entry, ptx, cubins, shared_bytes, tensor_columns, .. } = variant;
        let Variant { requires, maps, names, checks, .. } = variant;
        let cubins = cubins.iter().map(|cubin| {
            let (architecture, bytes) = (&cubin.architecture, Literal::byte_string(&cubin.bytes));
            quote!(::kiln::__private::Cubin { architecture: #architecture, bytes: #bytes })
        });
        let maps = maps.iter().map(maps::tokens);
        let requires = requires.iter().map(fact_tokens);
        let names = names_tokens(names, checks);
        quote!(::kiln::__private::Variant {
            name: #name,
            entry: #entry,
            ptx: #ptx,
            cubins: &[#(#cubins),*],
            dynamic_shared_bytes: #shared_bytes,
            tensor_columns: #tensor_columns,
            requires: &[#(#requires),*],
            maps: &[#(#maps),*],
            names: #names,
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
        reports: #reports,
        stamps: #stamps,
        variants: &[#(#variants),*],
    })
}

/// What reports about the running kernel name. The macro keeps it for programs that have the emulator.
fn names_tokens(names: &Names, checks: &[(u32, String)]) -> TokenStream {
    let memory = names.memory.iter().map(|named| {
        let NamedMemory { name, start, bytes, each_bytes, warps_an_arrival } = named;
        let [each_bytes, warps_an_arrival] =
            [each_bytes, warps_an_arrival].map(|number| number.unwrap_or(0));
        quote!(::kiln::__private::NamedMemory {
            name: #name,
            start: #start,
            bytes: #bytes,
            each_bytes: #each_bytes,
            warps_an_arrival: #warps_an_arrival,
        })
    });
    let partitions = names.partitions.iter().map(|named| {
        let NamedWarps { first, warps, place: (line, column) } = named;
        quote!(::kiln::__private::NamedWarps {
            first: #first,
            warps: #warps,
            line: #line,
            column: #column,
        })
    });
    let checks = checks.iter().map(|(line, says)| quote!((#line, #says)));
    quote!(::kiln::__private::__names!(::kiln::__private::Names {
        memory: &[#(#memory),*],
        partitions: &[#(#partitions),*],
        checks: &[#(#checks),*],
    }))
}

/// The stamps of an image, or the image that has them.
fn stamps_tokens(image: &Image, kernel: &str, instance: &str) -> TokenStream {
    let stamps = if let Some(profiled) = &image.profiled {
        let profiled = image_tokens(profiled, kernel, instance);
        quote!(LeftOut(&#profiled))
    } else if image.stamps.is_empty() {
        return quote!(::core::option::Option::None);
    } else {
        let all = image.stamps.iter().map(
            |Stamp { name, place }| quote!(::kiln::__private::Stamp { name: #name, place: #place }),
        );
        quote!(Made(&[#(#all),*]))
    };
    quote!(::core::option::Option::Some(::kiln::__private::Stamps::#stamps))
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

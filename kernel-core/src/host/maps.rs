//! Tensor maps, as tokens: what a launch computes them from.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::ir::Fill;
use crate::layouts::tma::{MapExtent, MapStride, TensorMap};

/// A map of a tensor.
pub(super) fn tokens(map: &TensorMap) -> TokenStream {
    let param = Literal::u32_unsuffixed(map.param);
    let (element, _) = map.element();
    let dtype = element.name;
    let dims = map.dims.iter().map(|dim| {
        let extent = match dim.extent {
            MapExtent::Axis { axis, divide } => {
                let (axis, divide) =
                    (Literal::u32_unsuffixed(axis), Literal::u32_unsuffixed(divide));
                quote!(Axis { axis: #axis, divide: #divide })
            }
            MapExtent::Const(extent) => {
                let extent = Literal::u64_unsuffixed(extent);
                quote!(Const(#extent))
            }
            MapExtent::Tile { axis, elements } => {
                let (axis, elements) =
                    (Literal::u32_unsuffixed(axis), Literal::u32_unsuffixed(elements));
                quote!(Tile { axis: #axis, elements: #elements })
            }
            MapExtent::Ends { axis, elements } => {
                let (axis, elements) =
                    (Literal::u32_unsuffixed(axis), Literal::u32_unsuffixed(elements));
                quote!(Ends { axis: #axis, elements: #elements })
            }
        };
        let stride = match dim.stride {
            MapStride::Axis { axis, times } => {
                let (axis, times) = (Literal::u32_unsuffixed(axis), Literal::u32_unsuffixed(times));
                quote!(Axis { axis: #axis, times: #times })
            }
            MapStride::Elements(elements) => {
                let elements = Literal::u64_unsuffixed(elements);
                quote!(Elements(#elements))
            }
        };
        let elements = Literal::u32_unsuffixed(dim.box_elems);
        let element_stride = Literal::u32_unsuffixed(dim.element_stride);
        quote!(::kiln::__private::MapDim {
            extent: ::kiln::__private::MapExtent::#extent,
            stride: ::kiln::__private::MapStride::#stride,
            box_elems: #elements,
            element_stride: #element_stride,
        })
    });
    let places = match &map.places {
        None => quote!(::core::option::Option::None),
        Some(places) => {
            let count = Literal::u32_unsuffixed(places.count);
            let (lower, upper) = (list(&places.lower), list(&places.upper));
            quote!(::core::option::Option::Some(::kiln::__private::MapPlaces {
                count: #count,
                lower: &[#(#lower),*],
                upper: &[#(#upper),*],
            }))
        }
    };
    let written = map.written;
    let swizzle = Literal::u32_unsuffixed(map.swizzle_bytes);
    let promotion = Literal::u32_unsuffixed(map.l2_promotion_bytes);
    let fill = match map.fill {
        Fill::Zero => quote!(Zero),
        Fill::Nan => quote!(Nan),
    };
    quote!(::kiln::__private::MapInfo {
        param: #param,
        dtype: #dtype,
        dims: &[#(#dims),*],
        places: #places,
        swizzle_bytes: #swizzle,
        l2_promotion_bytes: #promotion,
        fill: ::kiln::__private::Fill::#fill,
        written: #written,
    })
}

fn list(numbers: &[i32]) -> impl Iterator<Item = Literal> + use<'_> {
    numbers.iter().map(|number| Literal::i32_unsuffixed(*number))
}

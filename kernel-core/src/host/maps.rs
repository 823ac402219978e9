//! Tensor maps, as tokens: what a launch computes them from.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::ir::{Dtype, Param, ParamKind};
use crate::layouts::tma::TensorMap;

/// The bytes that a load brings into the second-level cache at least: what a row of a swizzled box is a part of.
const L2_PROMOTION_BYTES: u32 = 256;

/// A map of the whole tensor.
pub(super) fn tokens(map: &TensorMap, params: &[Param]) -> TokenStream {
    let (dtype, rank) = match params.get(map.param as usize).map(|param| &param.kind) {
        Some(ParamKind::Tensor { dtype, rank, .. }) => (*dtype, *rank),
        Some(ParamKind::Pointer(_) | ParamKind::Scalar(_)) | None => {
            unreachable!("layouts::tma plans maps of tensors")
        }
    };
    let param = Literal::u32_unsuffixed(map.param);
    let dtype = element(dtype);
    let dims = map.box_elements.iter().zip((0..rank).rev()).map(|(elements, axis)| {
        let (elements, axis) = (Literal::u32_unsuffixed(*elements), Literal::u32_unsuffixed(axis));
        quote!(::kiln::__private::MapDim {
            extent: ::kiln::__private::MapExtent::Axis { axis: #axis, divide: 1 },
            stride: ::kiln::__private::MapStride::Axis { axis: #axis, times: 1 },
            box_elems: #elements,
            element_stride: 1,
        })
    });
    let swizzle = Literal::u32_unsuffixed(map.swizzle_bytes);
    let promotion = Literal::u32_unsuffixed(L2_PROMOTION_BYTES);
    quote!(::kiln::__private::MapInfo {
        param: #param,
        dtype: #dtype,
        dims: &[#(#dims),*],
        swizzle_bytes: #swizzle,
        l2_promotion_bytes: #promotion,
        fill: ::kiln::__private::Fill::Zero,
    })
}

/// The element type of a map; bytes are copied as what has their size.
fn element(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool | Dtype::I8 | Dtype::U8 => "u8",
        Dtype::I16 | Dtype::U16 => "u16",
        Dtype::I32 => "i32",
        Dtype::U32 => "u32",
        Dtype::I64 => "i64",
        Dtype::U64 => "u64",
        Dtype::F16 => "f16",
        Dtype::Bf16 => "bf16",
        Dtype::F32 => "f32",
        Dtype::F64 => "f64",
    }
}

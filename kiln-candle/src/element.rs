//! Element types that candle's tensors and Kiln's kernels share.

use crate::place::Placed;
use candle_core::{CpuStorage, DType};
use float8::F8E4M3;
use half::{bf16, f16};
use kiln::prelude::{e4m3, ue8m0};
use std::borrow::Cow;

/// An element type of candle's tensors and of Kiln's.
///
/// | Kiln | candle |
/// |---|---|
/// | `u8`, `u32`, `i16`, `i32`, `i64` | [`DType::U8`], `U32`, `I16`, `I32`, `I64` |
/// | `f16`, `bf16`, `f32`, `f64` | [`DType::F16`], `BF16`, `F32`, `F64` |
/// | `e4m3` | [`DType::F8E4M3`] |
/// | `ue8m0` | [`DType::F8E8M0`] |
///
/// The trait is sealed. candle has no `bool`, `i8`, `u16`, `u64` or `e5m2`; its formats of 4 and 6 bits are raw bytes
/// whose shapes count packed elements, unlike a kernel's tensors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element type of both candle's tensors and Kiln's",
    note = "these are u8, u32, i16, i32, i64, f16, bf16, f32, f64, e4m3 and ue8m0"
)]
pub trait Element: kiln::Element + Placed {
    /// candle's name of the type.
    const CANDLE: DType;

    /// The elements of a storage, if it has this type.
    #[doc(hidden)]
    fn of_cpu(storage: &CpuStorage) -> Option<Cow<'_, [Self]>>;
    /// A storage of these elements.
    #[doc(hidden)]
    fn into_cpu(values: Vec<Self>) -> CpuStorage;
    /// Overwrites a storage of this type from the element `start` on; the caller has checked the range with
    /// [`Self::of_cpu`].
    #[doc(hidden)]
    fn write_cpu(storage: &mut CpuStorage, start: usize, values: &[Self]);
}

/// Types that are the same on both sides.
macro_rules! same {
    ($($type:ty, $dtype:ident;)*) => {$(
        impl Element for $type {
            const CANDLE: DType = DType::$dtype;

            fn of_cpu(storage: &CpuStorage) -> Option<Cow<'_, [Self]>> {
                match storage {
                    CpuStorage::$dtype(values) => Some(Cow::Borrowed(values)),
                    _ => None,
                }
            }
            fn into_cpu(values: Vec<Self>) -> CpuStorage {
                CpuStorage::$dtype(values)
            }
            fn write_cpu(storage: &mut CpuStorage, start: usize, values: &[Self]) {
                if let CpuStorage::$dtype(all) = storage {
                    all[start..][..values.len()].copy_from_slice(values);
                }
            }
        }
    )*};
}

same! {
    u8, U8;
    u32, U32;
    i16, I16;
    i32, I32;
    i64, I64;
    f16, F16;
    bf16, BF16;
    f32, F32;
    f64, F64;
}

/// Types that have another type of the same bits in candle.
macro_rules! of_bits {
    ($($type:ty, $dtype:ident, $to:expr, $of:expr;)*) => {$(
        impl Element for $type {
            const CANDLE: DType = DType::$dtype;

            fn of_cpu(storage: &CpuStorage) -> Option<Cow<'_, [Self]>> {
                match storage {
                    CpuStorage::$dtype(values) => {
                        Some(values.iter().map(|value| <$type>::from_bits($to(*value))).collect())
                    }
                    _ => None,
                }
            }
            fn into_cpu(values: Vec<Self>) -> CpuStorage {
                CpuStorage::$dtype(values.into_iter().map(|value| $of(value.to_bits())).collect())
            }
            fn write_cpu(storage: &mut CpuStorage, start: usize, values: &[Self]) {
                if let CpuStorage::$dtype(all) = storage {
                    for (to, value) in all[start..].iter_mut().zip(values) {
                        *to = $of(value.to_bits());
                    }
                }
            }
        }
    )*};
}

of_bits! {
    e4m3, F8E4M3, |value: F8E4M3| value.to_bits(), F8E4M3::from_bits;
    ue8m0, F8E8M0, std::convert::identity, std::convert::identity;
}

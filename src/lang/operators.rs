//! The operators of tiles. [`Tile`] says what they compute.

use core::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use half::{bf16, f16};

use super::integer::{Bits, Int};
use super::scalar::{Number, Operand};
use super::stub;
use super::tile::Tile;

/// `tile op tile`, `tile op scalar` and their assigning forms, for the element types with `$bound`.
macro_rules! tile_operators {
    ($bound:ident: $($op:ident $method:ident $assign:ident $assign_method:ident),* $(,)?) => {$(
        impl<T: $bound> $op<Tile<T>> for Tile<T> {
            type Output = Tile<T>;
            fn $method(self, other: Tile<T>) -> Tile<T> {
                stub()
            }
        }
        impl<T: $bound> $op<T> for Tile<T> {
            type Output = Tile<T>;
            fn $method(self, other: T) -> Tile<T> {
                stub()
            }
        }
        impl<T: $bound, B: Operand<T>> $assign<B> for Tile<T> {
            fn $assign_method(&mut self, other: B) {
                stub()
            }
        }
    )*};
}

tile_operators!(
    Number: Add add AddAssign add_assign, Sub sub SubAssign sub_assign,
    Mul mul MulAssign mul_assign, Div div DivAssign div_assign,
);
tile_operators!(
    Int: Rem rem RemAssign rem_assign, Shl shl ShlAssign shl_assign,
    Shr shr ShrAssign shr_assign,
);
tile_operators!(
    Bits: BitAnd bitand BitAndAssign bitand_assign, BitOr bitor BitOrAssign bitor_assign,
    BitXor bitxor BitXorAssign bitxor_assign,
);

impl<T: Number + Neg<Output = T>> Neg for Tile<T> {
    type Output = Tile<T>;
    fn neg(self) -> Tile<T> {
        stub()
    }
}

impl<T: Bits> Not for Tile<T> {
    type Output = Tile<T>;
    fn not(self) -> Tile<T> {
        stub()
    }
}

/// `scalar op tile`. One impl for each type, because a type parameter may not stand alone before a
/// foreign trait.
macro_rules! scalar_operators {
    ($($ty:ty),*: $ops:tt) => {$(
        scalar_operators!(@of $ty: $ops);
    )*};
    (@of $ty:ty: [$($op:ident $method:ident),*]) => {$(
        impl $op<Tile<$ty>> for $ty {
            type Output = Tile<$ty>;
            fn $method(self, other: Tile<$ty>) -> Tile<$ty> {
                stub()
            }
        }
    )*};
}

scalar_operators!(
    f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64:
    [Add add, Sub sub, Mul mul, Div div]
);
scalar_operators!(i8, i16, i32, i64, u8, u16, u32, u64: [Rem rem, Shl shl, Shr shr]);
scalar_operators!(
    i8, i16, i32, i64, u8, u16, u32, u64, bool:
    [BitAnd bitand, BitOr bitor, BitXor bitxor]
);

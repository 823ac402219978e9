//! The operators of `grid = ..`: arithmetic that reports a result that does not fit.

use super::GridFault;
use crate::DeviceTensor;

/// Numbers that a grid is computed with.
#[diagnostic::on_unimplemented(
    message = "a grid is not computed with `{Self}`",
    note = "the operators in `grid = ..` take the integers and floats of Rust, both operands of one type"
)]
pub trait GridNumber: Copy {
    /// `self + other`, if it fits.
    fn add(self, other: Self) -> Option<Self>;
    /// `self - other`, if it fits.
    fn sub(self, other: Self) -> Option<Self>;
    /// `self * other`, if it fits.
    fn mul(self, other: Self) -> Option<Self>;
    /// `self / other`, if there is a quotient and it fits.
    fn div(self, other: Self) -> Option<Self>;
    /// `self % other`, if there is a remainder.
    fn rem(self, other: Self) -> Option<Self>;
    /// `-self`, if it fits.
    fn neg(self) -> Option<Self>;
}

/// Integers that a grid is computed with.
pub trait GridInteger: GridNumber {
    /// `self << bits`, if no bit is lost.
    fn shl(self, bits: u32) -> Option<Self>;
    /// `self >> bits`, if the type has that many bits.
    fn shr(self, bits: u32) -> Option<Self>;
    /// `self` to a power, if it fits.
    fn pow(self, exponent: u32) -> Option<Self>;
}

macro_rules! integers {
    ($($ty:ty),*) => { $(
        impl GridNumber for $ty {
            fn add(self, other: Self) -> Option<Self> {
                self.checked_add(other)
            }
            fn sub(self, other: Self) -> Option<Self> {
                self.checked_sub(other)
            }
            fn mul(self, other: Self) -> Option<Self> {
                self.checked_mul(other)
            }
            fn div(self, other: Self) -> Option<Self> {
                self.checked_div(other)
            }
            fn rem(self, other: Self) -> Option<Self> {
                self.checked_rem(other)
            }
            fn neg(self) -> Option<Self> {
                self.checked_neg()
            }
        }
        impl GridInteger for $ty {
            fn shl(self, bits: u32) -> Option<Self> {
                self.checked_shl(bits).filter(|shifted| shifted >> bits == self)
            }
            fn shr(self, bits: u32) -> Option<Self> {
                self.checked_shr(bits)
            }
            fn pow(self, exponent: u32) -> Option<Self> {
                self.checked_pow(exponent)
            }
        }
    )* };
}

macro_rules! floats {
    ($($ty:ty),*) => { $(
        impl GridNumber for $ty {
            fn add(self, other: Self) -> Option<Self> {
                Some(self + other)
            }
            fn sub(self, other: Self) -> Option<Self> {
                Some(self - other)
            }
            fn mul(self, other: Self) -> Option<Self> {
                Some(self * other)
            }
            fn div(self, other: Self) -> Option<Self> {
                Some(self / other)
            }
            fn rem(self, other: Self) -> Option<Self> {
                Some(self % other)
            }
            fn neg(self) -> Option<Self> {
                Some(-self)
            }
        }
    )* };
}

integers!(i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize);
floats!(f32, f64);

macro_rules! operators {
    ($($name:ident $sign:literal),*) => { $(
        #[doc = concat!("`a ", $sign, " b`.")]
        ///
        /// # Errors
        /// If the type has no such value.
        pub fn $name<T: GridNumber>(a: T, b: T) -> Result<T, GridFault> {
            a.$name(b).ok_or(GridFault::Overflow { operator: $sign })
        }
    )* };
}

operators!(add "+", sub "-", mul "*", div "/", rem "%");

/// `-a`.
///
/// # Errors
/// If it does not fit.
pub fn neg<T: GridNumber>(a: T) -> Result<T, GridFault> {
    a.neg().ok_or(GridFault::Overflow { operator: "-" })
}

/// `a << bits`.
///
/// # Errors
/// If bits are lost.
pub fn shl<T: GridInteger, U: TryInto<u32>>(a: T, bits: U) -> Result<T, GridFault> {
    let bits = bits.try_into().ok();
    bits.and_then(|bits| a.shl(bits)).ok_or(GridFault::Overflow { operator: "<<" })
}

/// `a >> bits`.
///
/// # Errors
/// If the type does not have that many bits.
pub fn shr<T: GridInteger, U: TryInto<u32>>(a: T, bits: U) -> Result<T, GridFault> {
    let bits = bits.try_into().ok();
    bits.and_then(|bits| a.shr(bits)).ok_or(GridFault::Overflow { operator: ">>" })
}

/// `a.pow(exponent)`.
///
/// # Errors
/// If it does not fit.
pub fn pow<T: GridInteger>(a: T, exponent: u32) -> Result<T, GridFault> {
    a.pow(exponent).ok_or(GridFault::Overflow { operator: "pow" })
}

/// `tensor.dim(axis)`.
///
/// # Errors
/// If the tensor has no such axis.
pub fn dim<T, const R: usize>(tensor: &DeviceTensor<T, R>, axis: usize) -> Result<i32, GridFault> {
    if axis < R { Ok(tensor.dim(axis)) } else { Err(GridFault::NoAxis { rank: R, axis }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_as_in_rust() {
        assert_eq!(mul(46_340, 46_340), Ok(2_147_395_600));
        assert_eq!(shl(1, 30), Ok(1_073_741_824));
        assert_eq!(shl(-1, 31), Ok(i32::MIN));
        assert_eq!(pow(10, 9), Ok(1_000_000_000));
        assert_eq!(div(-7, 2), Ok(-3));
    }

    #[test]
    fn what_does_not_fit_names_its_operator() {
        let fault = |operator| Err(GridFault::Overflow { operator });
        assert_eq!(mul(65_537, 65_537), fault("*"));
        assert_eq!(add(i32::MAX, 1), fault("+"));
        assert_eq!(sub(0_usize, 1), Err(GridFault::Overflow { operator: "-" }));
        assert_eq!(div(1, 0), fault("/"));
        assert_eq!(rem(1, 0), fault("%"));
        assert_eq!(neg(i32::MIN), fault("-"));
        assert_eq!(shl(1, 31), fault("<<"));
        assert_eq!(shl(1, -1), fault("<<"));
        assert_eq!(shr(1, 32), fault(">>"));
        assert_eq!(pow(10, 10), fault("pow"));
    }
}

//! The types of a kernel's type parameters, as values.

use crate::Element;
use std::{
    any::TypeId,
    fmt,
    hash::{Hash, Hasher},
};

/// Hands the rows of the element types to a macro: the name of the value, the type, its name in kernels, its bytes, whether an argument of it
/// is an `integer` that a launch can ask for divisibility or something `else`, what DLPack calls it, and a description.
///
/// `DLDataTypeCode`: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 `float8_e4m3fn`, 12 `float8_e5m2`, 14 `float8_e8m0fnu`, 15 `float6_e2m3fn`, 16 `float6_e3m2fn`, 17 `float4_e2m1fn`; then
/// the bits of a number, and how many an element has.
macro_rules! for_each_dtype {
    ($then:ident) => {
        $then! {
            Bool bool "bool" 1 else (6 8 1) "A byte that is 0 or 1.";
            I8 i8 "i8" 1 integer (0 8 1) "8-bit signed integer.";
            I16 i16 "i16" 2 integer (0 16 1) "16-bit signed integer.";
            I32 i32 "i32" 4 integer (0 32 1) "32-bit signed integer.";
            I64 i64 "i64" 8 integer (0 64 1) "64-bit signed integer.";
            U8 u8 "u8" 1 integer (1 8 1) "8-bit unsigned integer.";
            U16 u16 "u16" 2 integer (1 16 1) "16-bit unsigned integer.";
            U32 u32 "u32" 4 integer (1 32 1) "32-bit unsigned integer.";
            U64 u64 "u64" 8 integer (1 64 1) "64-bit unsigned integer.";
            F16 f16 "f16" 2 else (2 16 1) "IEEE binary16.";
            Bf16 bf16 "bf16" 2 else (4 16 1) "bfloat16.";
            F32 f32 "f32" 4 else (2 32 1) "IEEE binary32.";
            F64 f64 "f64" 8 else (2 64 1) "IEEE binary64.";
            E4m3 e4m3 "e4m3" 1 else (10 8 1) "FP8 with four bits of exponent.";
            E5m2 e5m2 "e5m2" 1 else (12 8 1) "FP8 with five bits of exponent.";
            E2m1x2 e2m1x2 "e2m1x2" 1 else (17 4 2) "Two FP4 numbers in a byte.";
            Ue8m0 ue8m0 "ue8m0" 1 else (14 8 1) "A power of two, as the scale of a block.";
            E2m3x16 e2m3x16 "e2m3x16" 12 else (15 6 16) "Sixteen FP6 numbers with two bits of exponent.";
            E3m2x16 e3m2x16 "e3m2x16" 12 else (16 6 16) "Sixteen FP6 numbers with three bits of exponent.";
        }
    };
}
pub(crate) use for_each_dtype;

/// The types of the rows.
pub(crate) mod host {
    pub(crate) use crate::formats::*;
    pub(crate) use half::{bf16, f16};
    pub(crate) use std::primitive::*;
}

macro_rules! dtypes {
    ($($variant:ident $type:ident $name:literal $bytes:literal $class:tt $dlpack:tt $doc:literal;)*) => {
        /// An element type as a value: a type parameter of numbers in an [`Instance`](crate::Instance).
        ///
        /// ```
        /// use kernel_runtime::Dtype;
        ///
        /// assert_eq!(Dtype::of::<f32>(), Dtype::F32);
        /// assert_eq!(Dtype::from_name("bf16"), Some(Dtype::Bf16));
        /// assert_eq!(format!("{} of {} bytes", Dtype::F64, Dtype::F64.bytes()), "f64 of 8 bytes");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Dtype {
            $(#[doc = $doc] $variant,)*
        }

        impl Dtype {
            /// Every element type.
            pub const ALL: &[Dtype] = &[$(Dtype::$variant),*];

            /// The name in kernels, such as `f16`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Dtype::$variant => $name,)*
                }
            }

            /// Bytes of one element on the device.
            pub const fn bytes(self) -> usize {
                match self {
                    $(Dtype::$variant => $bytes,)*
                }
            }
        }
    };
}

for_each_dtype!(dtypes);

impl Dtype {
    /// The element type `T`.
    pub const fn of<T: Element>() -> Self {
        T::KIND
    }

    /// The element type that kernels call `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A type that is not an element type, as a value: a type parameter such as `S: Schedule` in an
/// [`Instance`](crate::Instance).
///
/// Two of them are equal if the types are.
///
/// ```
/// use kernel_runtime::NamedType;
///
/// struct Linear;
/// struct Grouped<const ROWS: i32>;
///
/// let schedule = NamedType::of::<Grouped<8>>();
/// assert!(schedule.is::<Grouped<8>>() && !schedule.is::<Grouped<4>>());
/// assert_ne!(schedule, NamedType::of::<Linear>());
/// assert_eq!(schedule.to_string(), "Grouped<8>");
/// ```
#[derive(Clone, Copy)]
pub struct NamedType {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
}

impl NamedType {
    /// The type `T`.
    pub const fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>, name: std::any::type_name::<T> }
    }

    /// Whether it is the type `T`.
    pub fn is<T: ?Sized + 'static>(self) -> bool {
        (self.id)() == TypeId::of::<T>()
    }
}

impl PartialEq for NamedType {
    fn eq(&self, other: &Self) -> bool {
        (self.id)() == (other.id)()
    }
}

impl Eq for NamedType {}

impl Hash for NamedType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.id)().hash(state);
    }
}

/// The type without module paths.
impl fmt::Display for NamedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&without_modules((self.name)()))
    }
}

impl fmt::Debug for NamedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `a::b::Grouped<c::Rows>` as `Grouped<Rows>`.
fn without_modules(path: &str) -> String {
    let mut text = String::new();
    // Where the name that is being read begins in `text`.
    let mut begin = 0;
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            // An item of `<T as Trait>` is in no module.
            if text.ends_with('>') {
                text.push_str("::");
                begin = text.len();
            }
            text.truncate(begin);
            rest = after;
            continue;
        }
        text.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            begin = text.len();
        }
        rest = &rest[c.len_utf8()..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_without_its_modules_at_every_depth() {
        let cases = [
            ("f32", "f32"),
            ("kiln::sched::Persistent<kiln::sched::Linear>", "Persistent<Linear>"),
            ("a::b::Pair<a::X, -3, (c::Y, [d::Z; 4])>", "Pair<X, -3, (Y, [Z; 4])>"),
            ("<a::B as c::D>::E", "<B as D>::E"),
        ];
        for (path, required) in cases {
            assert_eq!(without_modules(path), required);
        }
    }

    #[test]
    fn names_and_sizes_are_those_of_the_elements() {
        macro_rules! agree {
            ($($variant:ident $type:ident $name:literal $bytes:literal $class:tt $dlpack:tt $doc:literal;)*) => {
                [$((Dtype::of::<host::$type>(), <host::$type>::DTYPE, size_of::<host::$type>())),*]
            };
        }
        let all = for_each_dtype!(agree);
        assert_eq!(Dtype::ALL.len(), all.len());
        for (dtype, (element, name, bytes)) in Dtype::ALL.iter().zip(all) {
            assert_eq!((*dtype, dtype.name(), dtype.bytes()), (element, name, bytes));
        }
    }
}

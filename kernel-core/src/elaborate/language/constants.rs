//! The constants of Rust's standard library: `std::f32::consts::PI`, and all others there, by whatever path they are reached.

use super::{
    places::dtype_constant,
    scope::Binding,
    value::{Num, Val},
};
use crate::{
    diag::Code,
    elaborate::{Builder, Env},
    ir::{Const, Dtype},
    syntax::Path,
};

macro_rules! constants {
    ($($name:ident),*) => {
        /// Their names.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        fn of_f32(name: &str) -> Option<f32> {
            match name {
                $(stringify!($name) => Some(std::f32::consts::$name),)*
                _ => None,
            }
        }

        fn of_f64(name: &str) -> Option<f64> {
            match name {
                $(stringify!($name) => Some(std::f64::consts::$name),)*
                _ => None,
            }
        }
    };
}

constants!(
    PI,
    TAU,
    E,
    LN_2,
    LN_10,
    LOG2_E,
    LOG2_10,
    LOG10_E,
    LOG10_2,
    SQRT_2,
    FRAC_1_SQRT_2,
    FRAC_1_PI,
    FRAC_2_PI,
    FRAC_2_SQRT_PI,
    FRAC_PI_2,
    FRAC_PI_3,
    FRAC_PI_4,
    FRAC_PI_6,
    FRAC_PI_8
);

/// The constant `name` of `std::f32::consts` or `std::f64::consts`.
fn of_consts(dtype: Dtype, name: &str) -> Option<f64> {
    if dtype == Dtype::F64 { of_f64(name) } else { of_f32(name).map(f64::from) }
}

/// Whether a path is that of a module with such constants.
pub(crate) fn is_module(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(path[..], ["std" | "core", "f32" | "f64", "consts"])
}

/// Whether a path is that of such a constant.
pub(crate) fn is_constant(path: &[String]) -> bool {
    path.split_last()
        .is_some_and(|(name, module)| is_module(module) && NAMES.contains(&name.as_str()))
}

impl Builder<'_> {
    /// What a path means that leads to a constant of the standard library.
    pub(crate) fn constant_of_rust(&mut self, path: &Path, env: Env) -> Option<Val> {
        let first = path.segments.first()?;
        let head = match self.scopes.value_named(env, &first.name) {
            Some(Binding::Use(real)) => real.clone(),
            Some(_) => return None,
            None => vec![first.name.clone()],
        };
        let rest = path.segments[1..].iter().map(|segment| segment.name.clone());
        let whole: Vec<String> = head.into_iter().chain(rest).collect();
        let parts: Vec<&str> = whole.iter().map(String::as_str).collect();
        let (float, name) = match parts[..] {
            ["std" | "core", float, "consts", name] | [float, "consts", name] => (float, name),
            ["std" | "core", of, name] => {
                let (value, dtype) = dtype_constant(number(of)?, name)?;
                return Some(Val::Const(value, Num::Known(dtype)));
            }
            _ => return None,
        };
        let dtype = number(float).filter(|dtype| matches!(dtype, Dtype::F32 | Dtype::F64))?;
        if let Some(value) = of_consts(dtype, name) {
            return Some(Val::Const(Const::Float(value), Num::Known(dtype)));
        }
        let at = path.segments.last()?.loc;
        let headline = format!("`std::{dtype}::consts` has no constant `{name}`");
        // A number in a name is no slip: π/5 is not π/2.
        let digits = |of: &str| of.chars().filter(char::is_ascii_digit).collect::<String>();
        let known = NAMES.iter().copied().filter(|known| digits(known) == digits(name));
        Some(self.no_such_name(Code::UnknownName, (name, at), headline, known))
    }
}

/// The type of numbers of this name that Rust has as well.
fn number(name: &str) -> Option<Dtype> {
    let has_module =
        matches!(name, "f32" | "f64" | "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64");
    Dtype::from_name(name).filter(|_| has_module)
}

#[cfg(test)]
mod tests {
    use super::{NAMES, is_constant, is_module, of_consts};
    use crate::ir::Dtype;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn every_name_has_a_value_of_each_type_and_those_agree() {
        for name in NAMES {
            let [single, double] =
                [Dtype::F32, Dtype::F64].map(|dtype| of_consts(dtype, name).expect("it is there"));
            // Rounded to nearest, they differ by half of the last of 24 bits.
            assert!((single - double).abs() <= double * 2f64.powi(-24), "{name}");
        }
        // The bits of IEEE 754.
        let bits = |dtype| of_consts(dtype, "PI").map(f64::to_bits);
        assert_eq!(bits(Dtype::F64), Some(0x4009_21fb_5444_2d18));
        assert_eq!(bits(Dtype::F32), Some(f64::from(f32::from_bits(0x4049_0fdb)).to_bits()));
        assert_eq!(of_consts(Dtype::F32, "LOG2E"), None);
    }

    #[test]
    fn paths_are_those_of_the_standard_library() {
        assert!(is_module(&path("std::f32::consts")) && is_module(&path("core::f64::consts")));
        assert!(!is_module(&path("std::f16::consts")) && !is_module(&path("mine::f32::consts")));
        assert!(is_constant(&path("core::f32::consts::LOG2_E")));
        assert!(!is_constant(&path("std::f32::consts")));
        assert!(!is_constant(&path("std::f32::consts::MINE")));
    }
}

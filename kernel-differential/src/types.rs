//! PTX types, as the kernels of the tests and the comparison of their results see them.

use kernel_ptx::Type;

/// The type of that name.
pub(crate) fn named(text: &str) -> Option<Type> {
    Type::ALL.iter().find(|ty| ty.text() == text).copied()
}

/// The type that a form's name ends with; untyped words where it ends with none.
pub(crate) fn last_named(name: &str) -> Type {
    named(name.rsplit('.').next().unwrap_or_default()).unwrap_or(Type::B32)
}

/// Bytes of an element; of what is smaller, one.
pub(crate) fn size(ty: Type) -> usize {
    (ty.bits() as usize / 8).max(1)
}

/// Widths of exponent and fraction of a floating-point type of one element.
pub(crate) fn fields(ty: Type) -> Option<(u32, u32)> {
    Some(match ty.text() {
        "f16" | "f16x2" => (5, 10),
        "bf16" | "bf16x2" => (8, 7),
        "f32" | "tf32" => (8, 23),
        "f64" => (11, 52),
        "e4m3" => (4, 3),
        "e5m2" => (5, 2),
        _ => return None,
    })
}

/// The register type of a value: what it is declared as, and moved to memory and back with.
pub(crate) fn register(ty: Type) -> &'static str {
    match (ty.text(), ty.bits()) {
        ("f32", _) => "f32",
        ("f64", _) => "f64",
        (_, ..=16) => "b16",
        (_, 32) => "b32",
        (_, 64) => "b64",
        _ => "b128",
    }
}

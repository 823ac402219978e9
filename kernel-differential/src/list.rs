//! The list of forms that the compiler emits.

/// The forms, sorted: `forms.txt`, which a test of `kernel-testkit` compares with what the compiler emits.
pub fn forms() -> impl Iterator<Item = &'static str> {
    include_str!("../forms.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

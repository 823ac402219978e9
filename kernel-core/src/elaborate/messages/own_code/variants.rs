//! Variants with data, which are declared, given and taken apart: one mistake, and one message.

use crate::{
    diag::{Code, Diagnostic},
    syntax::{OTHER_PATTERN, WITH_DATA},
};

/// The name of the variant of a path with data: `Leaky` of `` `Activation::Leaky(slope)` ``.
fn variant(written: &str) -> Option<&str> {
    let path = written.trim_matches('`').split(['(', '{']).next()?;
    path.rsplit("::").next().map(str::trim)
}

/// The name of the variant whose data a message is about, and what is done with it.
fn used(diagnostic: &Diagnostic) -> Option<(&str, &'static str)> {
    if diagnostic.headline == OTHER_PATTERN {
        let [row] = &diagnostic.compare[..] else { return None };
        return Some((variant(&row.actual)?, "its data is taken here"));
    }
    let of = diagnostic.headline.split("` has no function `").nth(1)?;
    (diagnostic.code == Code::UnknownName)
        .then_some((of.trim_end_matches('`'), "its data is given here"))
}

/// Says of a variant with data in one message where its data is given and taken.
pub(super) fn join(list: &mut Vec<Diagnostic>) {
    let is_declared = |one: &Diagnostic| one.headline == WITH_DATA;
    if !list.iter().any(is_declared) {
        return;
    }
    let (mut declared, others): (Vec<_>, Vec<_>) =
        std::mem::take(list).into_iter().partition(is_declared);
    for other in others {
        let of = used(&other).and_then(|(name, words)| {
            let is_it = |one: &&mut Diagnostic| {
                one.compare.first().is_some_and(|row| row.required == format!("`{name}`"))
            };
            Some((declared.iter_mut().find(is_it)?, words))
        });
        match of {
            Some((variant, words)) => variant.secondary.push((other.primary, words.to_owned())),
            None => list.push(other),
        }
    }
    list.splice(0..0, declared);
}

#[cfg(test)]
mod tests {
    use super::variant;

    #[test]
    fn the_variant_of_a_path_is_its_last_segment() {
        assert_eq!(variant("`Activation::Leaky(slope)`"), Some("Leaky"));
        assert_eq!(variant("`a::b::Leaky { slope }`"), Some("Leaky"));
        assert_eq!(variant("`Leaky(slope)`"), Some("Leaky"));
    }
}

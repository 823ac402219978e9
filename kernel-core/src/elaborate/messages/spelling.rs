//! Names that are near to ones of the language: what a slip was meant to be, and what is none.

use super::advice;
use crate::{
    elaborate::language::{builtins::language_names, methods, types},
    syntax,
};

/// The name among `known` that is nearest to `name`, if it is near enough to be a slip.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    known
        .into_iter()
        .map(|other| (edits(name, other), other))
        // Of a name of one letter, nothing would be left.
        .filter(|(distance, _)| *distance <= limit && *distance < length)
        .min_by_key(|(distance, other)| (*distance, other.len()))
        .map(|(_, other)| other)
}

/// Levenshtein distance with swaps of neighbours.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 {
                j
            } else if j == 0 {
                i
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

/// A function of the language.
pub(crate) fn is_builtin(name: &str) -> bool {
    language_names().any(|known| known == name)
}

/// Whether a path that nothing in sight defines means something of the language, or was surely meant to; everything else may be
/// a device item of another module.
///
/// What a `use` in sight brings is no slip.
pub(crate) fn is_language_path(path: &[syntax::Segment], brought: bool) -> bool {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return true };
    let known = |name: &str| is_builtin(name) || types::is_language_type(name);
    if matches!(
        first.name.as_str(),
        "Self" | "core" | "std" | "atomic" | "tma" | "bulk" | "wgmma" | "tcgen05" | "cluster"
    ) {
        return true;
    }
    if first.name == "kiln" {
        return !path.get(1).is_some_and(|second| syntax::is_library(&second.name));
    }
    // Such a word is a slip, unless it names something made of the language's own: `dot2` is no misspelt `dot`. Two letters
    // make another word: `scaled` is no misspelt `shared`; and in short words one does: `score` is no misspelt `store`. A type is
    // no misspelt function: `Linear` is not `linear`.
    let slip = |name: &str| {
        advice::is_foreign(name)
            || methods::TILE_METHODS.contains(&name)
            || name.len() >= SHORTEST_SLIP
                && nearest(name, language_names()).is_some_and(|near| {
                    !name.starts_with(near)
                        && !name.ends_with(near)
                        && name.starts_with(char::is_uppercase)
                            == near.starts_with(char::is_uppercase)
                        && edits(name, near) == 1
                })
    };
    let foreign = path.len() > 1
        && (advice::is_foreign(&last.name) || advice::MODULES.contains(&first.name.as_str()));
    known(&first.name)
        || known(&last.name)
        || path.len() == 1 && !brought && slip(&first.name)
        || foreign
}

/// Letters from which on a word that is one letter away from one of the language's is taken for it.
const SHORTEST_SLIP: usize = 6;

//! Misspelt names of the language, and the names that were meant.

use super::advice;
use crate::{
    diag::{edits, nearest},
    elaborate::{
        language::types,
        signatures::{self, is_builtin, names},
    },
    syntax,
};

/// Whether a path that nothing in sight defines means something of the language, or was surely meant to; everything else may be
/// a device item of another module.
///
/// What a `use` in sight brings is not a slip.
pub(crate) fn is_language_path(path: &[syntax::Segment], brought: bool) -> bool {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return true };
    let known = |name: &str| is_builtin(name) || types::is_language_type(name);
    if matches!(first.name.as_str(), "Self" | "core" | "std") || signatures::is_family(&first.name)
    {
        return true;
    }
    if first.name == "kiln" {
        return !path.get(1).is_some_and(|second| syntax::is_library(&second.name));
    }
    // Such a word is a slip, unless it names something made of the language's own: `dot2` is not a misspelt `dot`. Two letters
    // make another word: `scaled` is not a misspelt `shared`; and in short words one does: `score` is not a misspelt `store`. A type is
    // no misspelt function: `Linear` is not `linear`.
    let slip = |name: &str| {
        advice::is_foreign(name)
            || signatures::is_tile_method(name)
            || name.len() >= SHORTEST_SLIP
                && nearest(name, names()).is_some_and(|near| {
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

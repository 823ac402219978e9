//! A diagnostic as text, the same for rustc and for tests.

use std::fmt::Write as _;

use super::{Diagnostic, Goes};
use crate::loc::{IN_CONSTANT, Loc, Locations};

/// The message of a diagnostic, without its primary place (rustc shows that itself).
///
/// ```text
/// [K0202] `+` joins tiles of different shapes
///    required  [128]
///    actual    [64]
///    ::: src/main.rs:12:31  this one
///    why       elementwise operations pair elements by index
///    help      x.broadcast([128])
///    page      kiln explain K0202
/// ```
pub fn render(diagnostic: &Diagnostic, locations: &Locations) -> String {
    let mut text = format!("[{}] {}", diagnostic.code.number(), diagnostic.headline);
    for row in &diagnostic.compare {
        let what = if row.what.is_empty() { String::new() } else { format!("{} ", row.what) };
        let _ = write!(text, "\n   required  {what}{}", row.required);
        let _ = write!(text, "\n   actual    {what}{}", row.actual);
    }
    match diagnostic.instances.as_slice() {
        [] => {}
        [only] => {
            let _ = write!(text, "\n   instance  {only}");
        }
        [first, rest @ ..] => {
            let _ = write!(text, "\n   instance  {first} (and {} more)", rest.len());
        }
    }
    if let Some(variant) = diagnostic.variant {
        let _ = write!(text, "\n   variant   {variant}");
    }
    if let Some((place, what)) = locations.place_away(diagnostic.primary) {
        let _ = write!(text, "\n   ::: {}:{}:{}  {what}", place.file, place.line, place.column);
    }
    let away = locations.place_away(diagnostic.primary).is_some();
    // The call itself is underlined then.
    let shown = |loc: Loc| !(away && diagnostic.called == Some(loc));
    for (loc, words) in diagnostic.secondary.iter().filter(|(loc, _)| shown(*loc)) {
        if let Some(place) = locations.place(*loc) {
            let _ =
                write!(text, "\n   ::: {}:{}:{}  {words}", place.file, place.line, place.column);
        }
    }
    for note in &diagnostic.notes {
        let _ = write!(text, "\n   why       {}", indent(note));
    }
    if let Some(help) = &diagnostic.help {
        let mut help = placed(help, diagnostic.goes.as_ref());
        // What is underlined is the name of the constant.
        let in_constant =
            locations.place_away(diagnostic.primary).filter(|(_, what)| *what == IN_CONSTANT);
        if let (Some((_, what)), false) = (in_constant, help.contains(" // ")) {
            help = format!("{help} // {what}");
        }
        let _ = write!(text, "\n   help      {}", indent(&help));
    }
    if let Some(example) = &diagnostic.example {
        let _ = write!(text, "\n   example   {}", indent(example));
    }
    let _ = write!(text, "\n   page      kiln explain {}", diagnostic.code.number());
    text
}

/// A help, with a comment on where it goes if that is not what is underlined.
fn placed(help: &str, goes: Option<&Goes>) -> String {
    let Some(Goes { words, .. }) = goes else { return help.to_owned() };
    let (first, rest) =
        help.split_once('\n').map_or((help, None), |(first, rest)| (first, Some(rest)));
    // The line says it better.
    let first = [" // before the loop", " // before the `if`"]
        .iter()
        .find_map(|vague| first.strip_suffix(vague))
        .unwrap_or(first);
    let mark = if first.contains(" // ") { "; " } else { " // " };
    let rest = rest.map_or(String::new(), |rest| format!("\n{rest}"));
    format!("{first}{mark}{words}{rest}")
}

fn indent(text: &str) -> String {
    text.replace('\n', "\n             ")
}

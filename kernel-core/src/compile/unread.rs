//! What other languages write that is not Rust at all, so that nothing of the kernel can be read.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// An index of several axes, as Python has it: its place, what it is an index of, and the same in methods.
pub(super) fn index_of_several(tokens: TokenStream) -> Option<(Span, String, Option<String>)> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else { continue };
        let before = at.checked_sub(1).map(|before| &trees[before]);
        let base = match before {
            Some(TokenTree::Ident(ident)) => format!("`{ident}`"),
            Some(TokenTree::Group(of)) if of.delimiter() == Delimiter::Parenthesis => {
                "a value".to_owned()
            }
            Some(TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => {
                String::new()
            }
        };
        let keyword = ["`in`", "`return`", "`match`", "`if`", "`else`", "`break`", "`mut`"];
        let indexed = group.delimiter() == Delimiter::Bracket
            && !base.is_empty()
            && !keyword.contains(&base.as_str());
        if indexed && let Some(parts) = parts_of_index(group.stream()) {
            return Some((group.span(), base, in_methods(&parts)));
        }
        if let Some(found) = index_of_several(group.stream()) {
            return Some(found);
        }
    }
    None
}

/// The parts of an index, if commas or a lone `:` make it one of several axes.
fn parts_of_index(tokens: TokenStream) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut several = false;
    for tree in tokens {
        if let TokenTree::Punct(punct) = &tree
            && punct.as_char() == ','
        {
            several = true;
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push_str(&tree.to_string());
        }
    }
    several |= parts.iter().any(|part| part == ":");
    several.then_some(parts)
}

/// An index of several axes in methods: new axes by `expand`, or parts by `slice`.
fn in_methods(parts: &[String]) -> Option<String> {
    let whole = |part: &str| matches!(part, ":" | ".." | "...");
    if parts.iter().any(|part| part == "None") {
        let fits = parts.iter().all(|part| part == "None" || whole(part));
        let axes = (0..parts.len()).filter(|axis| parts[*axis] == "None");
        return fits
            .then(|| axes.map(|axis| format!(".expand({axis})")).collect::<Vec<_>>().concat());
    }
    let mut ranges = Vec::new();
    for part in parts {
        ranges.push(match part.split_once("..").or_else(|| part.split_once(':')) {
            _ if whole(part) => "..".to_owned(),
            Some((from, to)) => format!("{from}..{to}"),
            None => match part.parse::<u32>() {
                Ok(at) => format!("{at}..{}", at + 1),
                Err(_)
                    if part.chars().all(|c| c.is_alphanumeric() || c == '_')
                        && !part.is_empty() =>
                {
                    format!("{part}..{part} + 1")
                }
                Err(_) => return None,
            },
        });
    }
    Some(format!(".slice(({}))", ranges.join(", ")))
}

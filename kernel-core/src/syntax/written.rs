//! Tokens as people write them: `Tile<f32>`, where the compiler's own text of a token stream is `Tile < f32 >`.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// A type, a path or a short expression as it would stand in a source file, on one line.
pub(crate) fn written(tokens: &impl ToTokens) -> String {
    let mut text = String::new();
    stream(tokens.to_token_stream(), &mut text);
    text
}

/// A word of the text: a token, or what belongs together without a space, such as `::`.
enum Word {
    /// A name, a lifetime or a literal.
    Name(String),
    /// An operator of one to three characters.
    Mark(String),
    /// Something in brackets.
    Group(String),
}

fn words(tokens: TokenStream) -> Vec<Word> {
    let mut words = Vec::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        words.push(match tree {
            TokenTree::Ident(name) => Word::Name(name.to_string()),
            TokenTree::Literal(literal) => Word::Name(literal.to_string()),
            TokenTree::Group(group) => {
                let mut inside = String::new();
                stream(group.stream(), &mut inside);
                Word::Group(match group.delimiter() {
                    Delimiter::Parenthesis => format!("({inside})"),
                    Delimiter::Bracket => format!("[{inside}]"),
                    Delimiter::Brace if inside.is_empty() => "{}".to_owned(),
                    Delimiter::Brace => format!("{{ {inside} }}"),
                    Delimiter::None => inside,
                })
            }
            TokenTree::Punct(mark) if mark.as_char() == '\'' => {
                let name = trees.next().map_or_else(String::new, |name| name.to_string());
                Word::Name(format!("'{name}"))
            }
            TokenTree::Punct(mark) => {
                let mut text = String::from(mark.as_char());
                let mut spacing = mark.spacing();
                // `>>` and `<<` are brackets of types here, and those stand alone.
                while spacing == Spacing::Joint
                    && let Some(TokenTree::Punct(next)) = trees.peek()
                    && next.as_char() != '\''
                    && is_mark(&text, next.as_char())
                {
                    text.push(next.as_char());
                    spacing = next.spacing();
                    trees.next();
                }
                Word::Mark(text)
            }
        });
    }
    words
}

/// Whether `start` with `next` after it begins an operator that is written without a space.
fn is_mark(start: &str, next: char) -> bool {
    let text = format!("{start}{next}");
    ["::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "..", "..=", "..."]
        .contains(&text.as_str())
}

/// For each word whether it is a bracket of a list of type arguments: a `<` that a `>` closes.
fn angles(words: &[Word]) -> Vec<bool> {
    let mut found = vec![false; words.len()];
    let mut open = Vec::new();
    for (index, word) in words.iter().enumerate() {
        match word {
            Word::Mark(mark) if mark == "<" => open.push(index),
            Word::Mark(mark) if mark == ">" => {
                if let Some(start) = open.pop() {
                    found[start] = true;
                    found[index] = true;
                }
            }
            Word::Mark(_) | Word::Name(_) | Word::Group(_) => {}
        }
    }
    found
}

/// What stands at the end of the text so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing, or what the next word follows without a space: `&`, `::`, `<`, `!` in front.
    Open,
    /// A name, or what ends an operand.
    Operand,
    /// `>` after type arguments.
    Angle,
    /// An operator or a comma: a space follows.
    Spaced,
}

/// Words that something follows.
const KEYWORDS: [&str; 9] = ["mut", "const", "dyn", "impl", "as", "return", "let", "in", "else"];

fn stream(tokens: TokenStream, text: &mut String) {
    let words = words(tokens);
    let angles = angles(&words);
    let mut end = End::Open;
    for (word, is_angle) in words.iter().zip(angles) {
        let operand = matches!(end, End::Operand | End::Angle);
        let (space, next) = match word {
            Word::Name(name) => {
                let ends_here = !name.starts_with('\'') && !KEYWORDS.contains(&name.as_str());
                (end != End::Open, if ends_here { End::Operand } else { End::Spaced })
            }
            // `f(x)` and `a[0]`, but `T { .. }`.
            Word::Group(group) => {
                let apart = end == End::Spaced || (operand && group.starts_with('{'));
                (apart, End::Operand)
            }
            Word::Mark(mark) => match mark.as_str() {
                "<" if is_angle => (end == End::Spaced, End::Open),
                ">" if is_angle => (false, End::Angle),
                "::" | "." | ".." | "..=" | "..." => (end == End::Spaced, End::Open),
                "," | ";" | ":" => (false, End::Spaced),
                "?" => (false, End::Operand),
                "!" | "&" | "&&" | "*" | "-" | "#" if !operand => (end == End::Spaced, End::Open),
                // A macro's `!` stands at its name.
                "!" => (false, End::Open),
                _ => (true, End::Spaced),
            },
        };
        if space && !text.is_empty() && !text.ends_with(['(', '[']) {
            text.push(' ');
        }
        let (Word::Name(word) | Word::Mark(word) | Word::Group(word)) = word;
        text.push_str(word);
        end = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_read_as_people_write_them() {
        for source in [
            "Tile<f32>",
            "Tile<Tile<f32>>",
            "&'static f32",
            "&mut [Tile<bf16>]",
            "&'a [f32]",
            "[f32; 4]",
            "(f32, i32)",
            "kiln::bf16",
            "<T as Scalar>::Acc",
            "Tile::<f32>::of",
            "fn(f32) -> Tile<f32>",
            "impl Fn(f32) -> f32 + 'static",
            "dyn Any",
            "*const f32",
            "-1",
            "!0",
            "N + 1",
            "a - -b",
            "a < b",
            "a * *b",
            "x.len()",
            "array[0]",
            "0..n",
            "-1.5e3",
            "{ N - 1 }",
            "Counter { n: 0 }",
            "layout!(S[(8, 4) : (4, 1)])",
        ] {
            let tokens: TokenStream = source.parse().expect("these are tokens");
            let spaced: TokenStream = tokens.to_string().parse().expect("these are as well");
            let required = source.replace(" :", ":");
            assert_eq!(written(&tokens), required);
            assert_eq!(written(&spaced), required);
        }
    }

    #[test]
    fn a_parsed_type_is_written_as_well() {
        let ty: syn::Type = syn::parse_quote!(Option<Tile<bf16>>);
        assert_eq!(written(&ty), "Option<Tile<bf16>>");
    }
}

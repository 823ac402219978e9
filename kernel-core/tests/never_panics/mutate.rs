//! Small damage to the tokens of a kernel, delimiters left in pairs so that much of it still parses.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

use crate::{grammar::word, random::Random};

/// Literals at the edges of what the compiler computes with.
const LITERALS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "16",
    "31",
    "32",
    "33",
    "64",
    "100",
    "1024",
    "4096",
    "65536",
    "1048576",
    "2097152",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "170141183460469231731687303715884105727",
    "340282366920938463463374607431768211456",
    "0xff",
    "1u8",
    "1i64",
    "1usize",
    "1f32",
    "0.0",
    "1.0",
    "2.5",
    "1e30",
    "1e400",
    "-1",
    "-64",
    "0.5f32",
    "0.5f16",
    "true",
    "false",
    "\"text\"",
    "\"\"",
    "\"mov.u32 {out}, %laneid;\"",
    "\"{{ mov.b64 {{{out0}, {out1}}}, {a}; }}\"",
    "\"add.f32 {out}, {a}, {b}\"",
    "\"{v\"",
    "\"bar.sync 0; }}\"",
    "'c'",
    "b'x'",
];

/// `tokens` with one to three changes; `donor` lends parts.
pub(crate) fn mutate(
    tokens: &TokenStream,
    donor: &TokenStream,
    random: &mut Random,
) -> TokenStream {
    let mut out = tokens.clone();
    for _ in 0..=random.below(3) {
        let size = count(&out);
        let mut at = random.below(size);
        out = change(out, &mut at, donor, random);
    }
    // The commonest slip of all, and too rare among the tokens to be met by chance.
    if random.below(4) == 0 {
        let mut at = random.below(count_mut(&out).max(1));
        out = without_mut(out, &mut at);
    }
    out
}

fn is_mut(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == "mut")
}

fn count_mut(tokens: &TokenStream) -> usize {
    let of = |tree: TokenTree| match &tree {
        TokenTree::Group(group) => count_mut(&group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            usize::from(is_mut(&tree))
        }
    };
    tokens.clone().into_iter().map(of).sum()
}

/// The tokens without their `mut` number `at`; counts `at` down on the way.
fn without_mut(tokens: TokenStream, at: &mut usize) -> TokenStream {
    let mut out = Vec::new();
    for tree in tokens {
        if is_mut(&tree) {
            let here = *at == 0;
            *at = at.wrapping_sub(1);
            if here {
                continue;
            }
        }
        out.push(match tree {
            TokenTree::Group(group) => {
                let inner = without_mut(group.stream(), at);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree,
        });
    }
    out.into_iter().collect()
}

fn count(tokens: &TokenStream) -> usize {
    tokens
        .clone()
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Group(group) => 1 + count(&group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
        })
        .sum()
}

/// Token number `at`, groups counted before what is in them.
fn nth(tokens: &TokenStream, at: &mut usize) -> Option<TokenTree> {
    for tree in tokens.clone() {
        if *at == 0 {
            return Some(tree);
        }
        *at -= 1;
        if let TokenTree::Group(group) = &tree
            && let Some(found) = nth(&group.stream(), at)
        {
            return Some(found);
        }
    }
    None
}

/// Changes token number `at` somehow; counts `at` down on the way.
fn change(
    tokens: TokenStream,
    at: &mut usize,
    donor: &TokenStream,
    random: &mut Random,
) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out: Vec<TokenTree> = Vec::with_capacity(trees.len() + 1);
    let mut iter = trees.into_iter();
    while let Some(tree) = iter.next() {
        if *at == 0 {
            *at = usize::MAX;
            match random.below(12) {
                0 => {}
                1 => out.extend([tree.clone(), tree]),
                2 => {
                    out.extend(iter.next());
                    out.push(tree);
                }
                3 => out.extend(literal(random)),
                4 => out.push(TokenTree::Ident(Ident::new(word(random), Span::call_site()))),
                5..=8 => out.push(lent(&tree, donor, random)),
                _ => out.push(replaced(&tree, random)),
            }
            continue;
        }
        if *at != usize::MAX {
            *at -= 1;
        }
        if let TokenTree::Group(group) = &tree
            && *at != usize::MAX
        {
            let inner = change(group.stream(), at, donor, random);
            out.push(TokenTree::Group(Group::new(group.delimiter(), inner)));
        } else {
            out.push(tree);
        }
    }
    out.into_iter().collect()
}

/// A token of the donor of the same kind, if a few tries find one.
fn lent(tree: &TokenTree, donor: &TokenStream, random: &mut Random) -> TokenTree {
    let kind = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => format!("{:?}", group.delimiter()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => "operand".to_owned(),
        TokenTree::Punct(_) => "punct".to_owned(),
    };
    for _ in 0..20 {
        let mut at = random.below(count(donor));
        if let Some(found) = nth(donor, &mut at)
            && kind(&found) == kind(tree)
        {
            return found;
        }
    }
    replaced(tree, random)
}

fn literal(random: &mut Random) -> TokenStream {
    random.pick(LITERALS).parse().expect("these are tokens")
}

/// Another token of the same kind.
fn replaced(tree: &TokenTree, random: &mut Random) -> TokenTree {
    match tree {
        TokenTree::Ident(_) => TokenTree::Ident(Ident::new(word(random), Span::call_site())),
        TokenTree::Literal(_) => literal(random).into_iter().last().expect("a literal has a token"),
        TokenTree::Punct(_) => {
            let puncts = [
                "+", "-", "*", "/", "%", "&", "|", "^", "!", "<", ">", "=", ".", ",", ";", ":",
                "?", "@",
            ];
            let stream: TokenStream = random.pick(&puncts).parse().expect("these are tokens");
            stream.into_iter().next().expect("one token")
        }
        TokenTree::Group(group) => {
            use proc_macro2::Delimiter as D;
            let delimiter = [D::Parenthesis, D::Brace, D::Bracket][random.below(3)];
            TokenTree::Group(Group::new(delimiter, group.stream()))
        }
    }
}

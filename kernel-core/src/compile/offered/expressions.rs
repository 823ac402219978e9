//! A help in place of an expression around the underlined one, or in it.

use proc_macro2::TokenStream;

use super::{
    Candidate, Fit, Place, Settled, Trial, comment_of,
    edit::{Range, flat, words},
    parted, range,
    source::{self, Part},
    tokens_of,
};
use crate::{diag::Diagnostic, loc::Loc, syntax::written};

/// The expressions around the underlined one that are tried.
const MOST_AROUND: usize = 6;

/// The expressions in the underlined one that are tried.
const MOST_WITHIN: usize = 16;

/// Words of the language that a help writes in another way.
const KEYWORDS: [&str; 4] = ["if", "else", "as", "mut"];

impl Trial<'_> {
    /// The expressions that hold the underlined one, the smallest first.
    fn holding(&self, at: Range) -> Vec<&Part> {
        let holds = |part: &&Part| part.at.holds(at) && part.at != at;
        let mut all: Vec<_> = self.parts.iter().filter(holds).collect();
        all.sort_by_key(|part| (std::cmp::Reverse(part.at.start), part.at.end));
        all.truncate(MOST_AROUND);
        all
    }

    /// The help in place of an expression around the underlined one, of which it has all other words.
    pub(super) fn around(&self, place: &Place<'_>, out: &mut Vec<Candidate>) {
        let help = words(place.new);
        let own = self.tokens_at(place.at).unwrap_or_default();
        let (underlined, all) = (words(&own), flat(place.new));
        // Of what the help repeats of the underlined expression nothing stands for words around it.
        let mut rest = help.clone();
        for word in &underlined {
            if let Some(at) = rest.iter().position(|other| other == word) {
                rest.remove(at);
            }
        }
        let goes_on = all.starts_with(&flat(&own)) || all.first().is_some_and(|word| word == "let");
        for Part { at, callee, tokens, .. } in self.holding(place.at) {
            let names = callee.as_ref().is_some_and(|(called, _)| called.holds(place.at));
            let all_of_it = flat(tokens);
            let names_argument = |word: &String| {
                all_of_it.windows(3).any(|run| run[0] == *word && run[1] == "=" && run[2] != "=")
            };
            let mut others = words(tokens);
            for word in &underlined {
                if let Some(at) = others.iter().position(|other| other == word) {
                    others.remove(at);
                }
            }
            let known = |word: &String| {
                let called = callee.as_ref().is_some_and(|(_, name)| name.contains(word));
                let known = rest.contains(word) || KEYWORDS.contains(&word.as_str());
                known || names_argument(word) || called && !goes_on
            };
            if !names && !others.iter().all(known) {
                continue;
            }
            let loc = self.locations.of(tokens);
            // The statement ends where it ended.
            if let Some(help) = parted(place.help).0.strip_suffix(';')
                && let Some(new) = tokens_of(help)
            {
                out.extend(self.underlined(&Place { help, new: &new, ..*place }, loc, *at));
            }
            let Some(mut candidate) = self.underlined(place, loc, *at) else { continue };
            if let Some(part) = self.trimmed(place, tokens, names) {
                let comment =
                    comment_of(place.help).map_or(String::new(), |of| format!(" // {of}"));
                candidate.settled = Settled { primary: None, help: part + &comment, goes: None };
            }
            out.push(candidate);
        }
    }

    /// What the help has in place of the underlined part of an expression, if all else is alike; of a name, if that is a name.
    pub(super) fn trimmed(
        &self,
        place: &Place<'_>,
        tokens: &TokenStream,
        names: bool,
    ) -> Option<String> {
        let part = flat(&self.tokens_at(place.at)?);
        let (whole, help) = (flat(tokens), flat(place.new));
        // Where the part stands in the whole: after what is before it.
        let mut starts = (0..whole.len()).filter(|at| whole[*at..].starts_with(&part));
        let at = starts.next().filter(|_| starts.next().is_none())?;
        let (before, after) = (&whole[..at], &whole[at + part.len()..]);
        let inside = help.strip_prefix(before)?.strip_suffix(after)?;
        if names {
            let [only] = inside else { return None };
            return Some(only.clone());
        }
        let text = tokens_of(&inside.join(" "))?;
        let is_code = syn::parse2::<syn::Expr>(text.clone()).is_ok()
            || syn::parse2::<syn::Type>(text.clone()).is_ok();
        is_code.then(|| written(&text))
    }

    /// The help in place of a part of what is underlined: one the words of which it repeats, or a call of the same function.
    pub(super) fn within(&self, place: &Place<'_>, out: &mut Vec<Candidate>) {
        let (help, all) = (words(place.new), flat(place.new));
        let is_called = |part: &&Part| {
            part.callee.as_ref().is_some_and(|(_, name)| {
                let next = all.get(name.len());
                all.starts_with(name) && next.is_some_and(|next| next == "(" || next == ":")
            })
        };
        let called: Vec<&Part> = self.within_it(place.at).filter(is_called).collect();
        let repeated = |part: &&Part| {
            let own = words(&part.tokens);
            !own.is_empty() && own.iter().all(|word| help.contains(word))
        };
        let repeated = self.within_it(place.at).filter(repeated).collect();
        for Part { at, tokens, .. } in if called.is_empty() { repeated } else { called } {
            let candidate = self.underlined(place, self.locations.of(tokens), *at);
            let literal = syn::parse2::<syn::ExprLit>(tokens.clone()).is_ok();
            let least = if literal { Fit::Partly } else { Fit::Barely };
            out.extend(candidate.map(|candidate| Candidate { least, ..candidate }));
        }
    }

    /// The text of a literal with the help in place of what the headline quotes of it.
    pub(super) fn quoted(&self, diagnostic: &Diagnostic, place: &Place<'_>) -> Option<Candidate> {
        let text = self.tokens_at(place.at)?.to_string();
        let quoted = diagnostic.headline.split('`').nth(1)?;
        let kind = |text: &str| {
            let first = text.chars().next()?;
            Some(if first.is_alphanumeric() { 'a' } else { first })
        };
        let alike = kind(quoted) == kind(place.help);
        if !text.starts_with('"') || !alike || text.matches(quoted).count() != 1 {
            return None;
        }
        let help = text.replacen(quoted, place.help, 1);
        let new = tokens_of(&help)?;
        self.underlined(&Place { help: &help, new: &new, ..*place }, place.loc, place.at)
    }

    /// The expressions in the underlined one.
    fn within_it(&self, of: Range) -> impl Iterator<Item = &Part> {
        let inside = move |part: &&Part| of.holds(part.at) && part.at != of;
        self.parts.iter().filter(inside).take(MOST_WITHIN)
    }

    /// The help in place of another call of its function.
    pub(super) fn other_calls(&self, place: &Place<'_>, out: &mut Vec<Candidate>) {
        let help = flat(place.new);
        for Part { at, tokens, callee, receiver } in &self.parts {
            let Some((_, name)) = callee else { continue };
            let opened = help.get(name.len()).is_some_and(|next| next == "(");
            if receiver.is_none() && opened && help.starts_with(name) && !at.holds(place.at) {
                let candidate = self.elsewhere(place, self.locations.of(tokens), *at);
                let least = Fit::Whole;
                out.extend(candidate.map(|candidate| Candidate { least, ..candidate }));
            }
        }
    }

    /// The text at a range with a method behind it.
    fn with_method(&self, of: Range, method: &str) -> Option<(TokenStream, String)> {
        let text = operand(&self.tokens_at(of)?);
        let help = format!("{text}{method}");
        Some((tokens_of(&help)?, help))
    }

    /// A method of what is at a place, in its place; the message says where that is.
    fn method_there(&self, place: &Place<'_>, loc: Loc, method: &str) -> Option<Candidate> {
        let at = range(self.locations, loc);
        let (new, help) = self.with_method(at, method)?;
        self.elsewhere(&Place { help: &help, new: &new, ..*place }, loc, at)
    }

    /// A layout for the memory that is allocated at a place.
    pub(super) fn of_layout(&self, place: &Place<'_>, loc: Loc, at: Range) -> Option<Candidate> {
        const LAYOUTS: [&str; 6] =
            ["tmem_block", "layout", "swizzle", "swizzled", "row_major", "shared_linear"];
        let first = flat(place.new).into_iter().next()?;
        if !LAYOUTS.contains(&first.as_str()) {
            return None;
        }
        self.laid_out(place, loc, at, &parted(place.help).0)
    }

    /// A layout for the memory that is allocated at a place: in place of the one that it has.
    fn laid_out(&self, place: &Place<'_>, loc: Loc, at: Range, layout: &str) -> Option<Candidate> {
        let given = self.parts.iter().find_map(|part| {
            let (called, name) = part.callee.as_ref()?;
            let of_it = at.holds(part.at) || part.receiver == Some(at);
            let named = of_it && name.first().is_some_and(|name| name == "with_layout");
            let argument = |arg: &&Part| part.at.holds(arg.at) && called.end <= arg.at.start;
            named.then(|| self.parts.iter().find(argument)).flatten()
        });
        if let Some(part) = given {
            let new = tokens_of(layout)?;
            let place = Place { help: layout, new: &new, ..*place };
            return self.elsewhere(&place, self.locations.of(&part.tokens), part.at);
        }
        // A part of the memory has the layout of the whole.
        let allocates = |part: &&Part| {
            let name = part.callee.as_ref().and_then(|(_, name)| name.first());
            let named = name.is_some_and(|name| name == "shared" || name == "tmem");
            at.holds(part.at) && part.receiver.is_none() && named
        };
        let allocation = self.parts.iter().find(allocates);
        let (loc, at) =
            allocation.map_or((loc, at), |part| (self.locations.of(&part.tokens), part.at));
        let (new, help) = self.with_method(at, &format!(".with_layout({layout})"))?;
        self.elsewhere(&Place { help: &help, new: &new, ..*place }, loc, at)
    }

    /// A method of what is underlined, of what that is called on, of what is around it or in it, or of what the message points at.
    pub(super) fn continued(&self, place: &Place<'_>, others: &[Loc], out: &mut Vec<Candidate>) {
        let method = parted(place.help).0;
        let mut add = |candidate: Option<Candidate>| out.extend(candidate);
        let here = |loc: Loc, at: Range, of: Range| {
            let (new, help) = self.with_method(of, &method)?;
            self.underlined(&Place { help: &help, new: &new, ..*place }, loc, at)
        };
        let layout = method.strip_prefix(".with_layout(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(layout) = layout {
            // The layout belongs to the allocation.
            let declared = self.declarations(place.at).into_iter();
            for loc in declared.chain(others.iter().copied()) {
                add(self.laid_out(place, loc, range(self.locations, loc), layout));
            }
        }
        let named = |part: &&Part| {
            let name = part.callee.as_ref().and_then(|(_, name)| name.first());
            part.at == place.at && name.is_some_and(|name| method[1..].starts_with(name))
        };
        if !self.parts.iter().any(|part| named(&part)) {
            add(here(place.loc, place.at, place.at));
        }
        let own = self.parts.iter().filter(|part| part.at == place.at);
        for Part { at, tokens, receiver, .. } in
            own.chain(self.holding(place.at).into_iter().take(2))
        {
            if let Some(of) = receiver.filter(|of| !of.holds(place.at)) {
                let Some((new, help)) = self.with_method(of, &method) else { continue };
                let place = Place { help: &help, new: &new, ..*place };
                let candidate = self.underlined(&place, self.locations.of(tokens), *at);
                add(candidate.map(|candidate| match self.trimmed(&place, tokens, false) {
                    Some(help) if *at != place.at => {
                        let settled = Settled { primary: None, help, goes: None };
                        Candidate { settled, ..candidate }
                    }
                    Some(_) | None => candidate,
                }));
            }
        }
        for Part { at, tokens, .. } in self.within_it(place.at) {
            add(here(self.locations.of(tokens), *at, *at));
        }
        for loc in others {
            add(self.method_there(place, *loc, &method));
        }
    }

    /// The values of the variable that an expression is, or begins with, where it is declared.
    fn declarations(&self, at: Range) -> Vec<Loc> {
        let Some(tokens) = self.tokens_at(at) else { return Vec::new() };
        let Some(name) = flat(&tokens).into_iter().next() else { return Vec::new() };
        let lets = source::lets(&self.text.item);
        let named = lets.iter().filter(|local| source::declares(local, &name));
        named.filter_map(|local| Some(self.locations.of(&local.init.as_ref()?.expr))).collect()
    }
}

/// Tokens as the operand of a method.
fn operand(tokens: &TokenStream) -> String {
    let text = written(tokens);
    match syn::parse2::<syn::Expr>(tokens.clone()) {
        Ok(
            syn::Expr::Binary(_)
            | syn::Expr::Unary(_)
            | syn::Expr::Cast(_)
            | syn::Expr::Range(_)
            | syn::Expr::Closure(_)
            | syn::Expr::Reference(_),
        ) => format!("({text})"),
        Ok(_) | Err(_) => text,
    }
}

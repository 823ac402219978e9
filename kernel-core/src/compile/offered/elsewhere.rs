//! A help that takes the place of no expression: a statement, an argument of `#[kernel(..)]`, a parameter.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

use super::{
    Candidate, Fit, Place, Settled, Text, Trial,
    edit::{Put, Range, flat, put, statements_around, words},
    is_statement, parted, range, source, tokens_of,
};
use crate::{
    diag::{Code, Diagnostic, Goes, Side},
    loc::Loc,
    syntax::written,
};

impl Trial<'_> {
    /// The help in place of the declaration of its variable.
    pub(super) fn declared(&self, place: &Place<'_>, out: &mut Vec<Candidate>) {
        let Some(name) = declared_name(place.help) else { return };
        let own = words(place.new);
        if own.iter().filter(|word| **word == name).count() > 1 {
            // It goes on from the variable that there is.
            return;
        }
        let lets = source::lets(&self.text.item);
        for local in lets.iter().rev().filter(|local| source::declares(local, &name)) {
            let Some(at) = Range::of(local) else { continue };
            let words = format!("in place of line {}", at.start.0);
            out.extend(self.told(place, (self.locations.of(local), at, Side::Instead), words));
        }
    }

    /// A variable that the help declares, before all loops and branches, and its name in place of what is underlined.
    pub(super) fn named_here(&self, place: &Place<'_>) -> Option<Candidate> {
        let name = declared_name(place.help)?;
        let outer = *statements_around(&self.text.item, place.at).last()?;
        let loc = self.locations.of(&self.tokens_at(outer)?);
        let item = put(self.text.item.clone(), place.at, Put::Instead, &tokens_of(&name)?)?;
        let item = put(item, outer, Put::Before, place.new)?;
        let words = format!("before line {}, and `{name}` here", outer.start.0);
        let also = Some((place.loc, name));
        let goes = Some(Goes { at: loc, side: Side::Before, also, words });
        let settled = Settled { primary: None, help: place.help.to_owned(), goes };
        let text = Text { attr: self.text.attr.clone(), item };
        Some(Candidate { least: Fit::Barely, text, pasted: place.at, settled })
    }

    /// The help before or after a statement: first the one that is underlined, then those that the message points at, and those around.
    pub(super) fn statements(&self, place: &Place<'_>, others: &[Loc], out: &mut Vec<Candidate>) {
        let around = |at: Range| statements_around(&self.text.item, at);
        let mut places = around(place.at);
        let inner = places.len().min(1);
        for loc in others {
            let of_other = around(range(self.locations, *loc));
            places.splice(inner..inner, of_other.into_iter().take(1));
        }
        for at in places {
            let Some(tokens) = self.tokens_at(at) else { continue };
            let loc = self.locations.of(&tokens);
            let before = format!("before line {}", at.start.0);
            let after = format!("after line {}", at.end.0);
            out.extend(self.told(place, (loc, at, Side::Before), before));
            out.extend(self.told(place, (loc, at, Side::After), after));
        }
    }

    /// Where a statement goes that is not all that has to change: it takes the place of the declaration of its variable; an allocation
    /// stands before all loops and branches, and what partitions share before they are made.
    pub(super) fn untried(&self, diagnostic: &Diagnostic, place: &Place<'_>) -> Option<Settled> {
        if !is_statement(place.help) {
            return None;
        }
        let mut declared = Vec::new();
        self.declared(place, &mut declared);
        if let Some(candidate) = declared.into_iter().next() {
            return Some(candidate.settled);
        }
        let around = statements_around(&self.text.item, place.at);
        let makes_partitions = |at: &&Range| {
            let tokens = self.tokens_at(**at).map(|tokens| flat(&tokens)).unwrap_or_default();
            tokens.iter().any(|word| word == "warp_specialize")
        };
        let at = if diagnostic.code == Code::Partition {
            around.iter().find(makes_partitions)
        } else if place.help.starts_with("let ") {
            around.last()
        } else {
            around.first()
        };
        let loc = self.locations.of(&self.tokens_at(*at?)?);
        let words = format!("before line {}", at?.start.0);
        let goes = Some(Goes { at: loc, side: Side::Before, also: None, words });
        Some(Settled { primary: None, help: place.help.to_owned(), goes })
    }

    /// The declaration that holds what is underlined, moved before the loops and branches around it.
    pub(super) fn moved(&self, place: &Place<'_>) -> Option<Candidate> {
        let around = statements_around(&self.text.item, place.at);
        let ([own, ..], Some(outer)) = (&around[..], around.last()) else { return None };
        let tokens = self.tokens_at(*own)?;
        let is_let = flat(&tokens).first().is_some_and(|first| first == "let");
        if own == outer || !is_let {
            return None;
        }
        let item = put(self.text.item.clone(), *own, Put::Instead, &TokenStream::new())?;
        let item = put(item, *outer, Put::Before, &tokens)?;
        let loc = self.locations.of(&self.tokens_at(*outer)?);
        let words = format!("before line {}, in place of line {}", outer.start.0, own.start.0);
        let also = Some((self.locations.of(&tokens), String::new()));
        let goes = Some(Goes { at: loc, side: Side::Before, also, words });
        let settled = Settled { primary: None, help: written(&tokens), goes };
        let text = Text { attr: self.text.attr.clone(), item };
        Some(Candidate { least: Fit::Partly, text, pasted: *outer, settled })
    }

    /// The help among the arguments of the kernel: in place of the one of its name or of the one that is underlined, or behind all others.
    pub(super) fn argument(&self, place: &Place<'_>) -> Option<Candidate> {
        let parse = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let attr = &self.text.attr;
        let given = syn::parse::Parser::parse2(parse, attr.clone()).ok()?;
        let name = flat(place.new).into_iter().next()?;
        let named = |arg: &&syn::Expr| flat(&arg.to_token_stream()).first() == Some(&name);
        let underlined =
            |arg: &&syn::Expr| Range::of(arg).is_some_and(|range| range.holds(place.at));
        let Some(arg) = given.iter().find(named).or_else(|| given.iter().find(underlined)) else {
            let last = given.last()?;
            let (loc, at) = (self.locations.of(last), Range::of(last)?);
            let new: TokenStream = quote!(,).into_iter().chain(place.new.clone()).collect();
            let words = format!("in `#[kernel(..)]`, line {}", at.end.0);
            return self.told(&Place { new: &new, ..*place }, (loc, at, Side::Behind), words);
        };
        let (loc, at) = (self.locations.of(arg), Range::of(arg)?);
        let tokens = self.tokens_at(at)?;
        if !at.holds(place.at) {
            return self.elsewhere(place, loc, at);
        }
        let mut candidate = self.underlined(place, loc, at)?;
        if let Some(help) = self.trimmed(place, &tokens, false) {
            candidate.settled = Settled { primary: None, help, goes: None };
        } else if flat(&tokens).first() == Some(&name) {
            // The smaller place is the one that is wrong.
            return self.elsewhere(place, loc, at);
        }
        Some(candidate)
    }

    /// The help in place of the parameter of its name, or of an attribute of that.
    pub(super) fn parameter(&self, place: &Place<'_>) -> Option<Candidate> {
        let function = self.function(place.at)?;
        let code = parted(place.help).0;
        let typed = |name: &str| {
            function.sig.inputs.iter().find_map(|input| match input {
                syn::FnArg::Typed(typed) if source::name_of(&typed.pat)? == name => Some(typed),
                syn::FnArg::Typed(_) | syn::FnArg::Receiver(_) => None,
            })
        };
        if let Some(name) = code.strip_prefix("mut ") {
            let pat = &typed(name)?.pat;
            return self.elsewhere(place, self.locations.of(pat), Range::of(pat)?);
        }
        if let Some(end) = code.strip_prefix("#[").and_then(|rest| rest.find(']'))
            && let Some(parameter) = typed(code[end + 3..].trim())
        {
            let (help, rest) = (&code[..end + 3], &code[2..]);
            let kind = rest.split('(').next()?;
            let attr = parameter.attrs.iter().find(|attr| attr.path().is_ident(kind))?;
            let new = tokens_of(help)?;
            let place = Place { help, new: &new, ..*place };
            return self.elsewhere(&place, self.locations.of(attr), Range::of(attr)?);
        }
        let syn::FnArg::Typed(help) = syn::parse_str(&code).ok()? else { return None };
        let parameter = typed(&source::name_of(&help.pat)?)?;
        // Facts that the help does not give stay.
        let bare = syn::PatType { attrs: Vec::new(), ..parameter.clone() };
        let at = if help.attrs.is_empty() { Range::of(&bare) } else { Range::of(parameter) }?;
        let tokens = self.tokens_at(at)?;
        if at.holds(place.at)
            && let Some(part) = self.trimmed(place, &tokens, false)
        {
            let settled = Settled { primary: None, help: part, goes: None };
            return Some(Candidate { settled, ..self.underlined(place, place.loc, at)? });
        }
        self.elsewhere(place, self.locations.of(&tokens), at)
    }

    /// The kernel that holds a place.
    fn function(&self, at: Range) -> Option<syn::ItemFn> {
        let item = self.text.item.clone();
        if let Ok(function) = syn::parse2::<syn::ItemFn>(item.clone()) {
            return Some(function);
        }
        let module: syn::ItemMod = syn::parse2(item).ok()?;
        module.content?.1.into_iter().find_map(|item| {
            let syn::Item::Fn(function) = item else { return None };
            Range::of(&function).is_some_and(|range| range.holds(at)).then_some(function)
        })
    }
}

/// The variable that a help declares.
fn declared_name(help: &str) -> Option<String> {
    let rest = help.strip_prefix("let ")?;
    let rest = rest.strip_prefix("mut ").unwrap_or(rest);
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    (end > 0 && !rest[end..].starts_with('(')).then(|| rest[..end].to_owned())
}

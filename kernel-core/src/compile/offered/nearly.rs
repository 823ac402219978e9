//! An operation of the kernel that is nearly right, where a message finds that accesses are not ordered: the wrong number of a wait, an
//! arrival before what it announces, the `sync()` of a block for that of a cluster. If the kernel builds with it mended, the message
//! underlines it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};

use super::{
    Text, Trial,
    edit::{Put, Range, put, statements_around},
    range,
    source::Part,
};
use crate::{
    diag::{Code, Diagnostic, Goes, Side, counted},
    loc::Loc,
    syntax::written,
};

/// How a message about a phase without end ends; a message about an `expect` does not.
const WAITED_FOR: &str = " that this waits for never ends";

/// A greater number of groups that a wait leaves is not tried in all its values.
const MOST_GROUPS: u32 = 8;

/// What is mended, and what the message says then.
pub(super) struct Nearly {
    text: Text,
    /// The operation, which is underlined.
    at: Loc,
    help: String,
    goes: Option<Goes>,
    required: Option<String>,
    actual: String,
    why: &'static str,
}

/// A statement of a block.
struct Statement {
    at: Range,
    tokens: TokenStream,
    parsed: syn::Stmt,
}

impl Statement {
    /// The method that it calls and throws the result of away, and what it calls it on.
    fn calls(&self) -> Option<&syn::ExprMethodCall> {
        let syn::Stmt::Expr(syn::Expr::MethodCall(call), _) = &self.parsed else { return None };
        Some(call)
    }

    fn calls_method(&self, name: &str) -> Option<&syn::ExprMethodCall> {
        self.calls().filter(|call| call.method == name)
    }
}

impl Trial<'_> {
    /// The operation that is nearly right: mending it removes the message and adds none.
    pub(super) fn nearly(&self, diagnostic: &Diagnostic) -> Option<Nearly> {
        let mut all = Vec::new();
        let code = diagnostic.code;
        if code == Code::Unordered {
            self.numbers(&mut all);
        }
        if code == Code::ClusterOrder {
            self.meetings(&mut all);
        }
        if matches!(code, Code::Unordered | Code::ClusterOrder) {
            self.arrivals(diagnostic, &mut all);
        }
        if code == Code::Arrivals && diagnostic.headline.ends_with(WAITED_FOR) {
            self.expects(&mut all);
        }
        if code == Code::InFlight {
            self.commits(diagnostic, &mut all);
        }
        // The message's own help is tried as well.
        let least = self.builds.get() / 2;
        all.into_iter()
            .take_while(|_| self.builds.get() > least)
            .find(|one| self.mends(diagnostic, &one.text))
    }

    /// Whether a text has no such message, and no new one.
    fn mends(&self, diagnostic: &Diagnostic, text: &Text) -> bool {
        let Some(left) = self.builds.get().checked_sub(1) else { return false };
        self.builds.set(left);
        let Some(built) = self.built(text, diagnostic.code) else { return false };
        let known = |one: &Diagnostic| {
            let is_it = |other: &Diagnostic| {
                (other.code, &other.headline) == (one.code, &one.headline)
                    && (one.code, &one.headline) != (diagnostic.code, &diagnostic.headline)
            };
            self.found.iter().any(is_it)
        };
        built.problems.iter().all(known) && !self.has_more_hazards(&built, diagnostic.code)
    }

    /// Waits that leave a number of groups in flight.
    fn numbers(&self, out: &mut Vec<Nearly>) {
        for part in &self.parts {
            let Some((_, callee)) = &part.callee else { continue };
            let words: Vec<&str> = callee.iter().map(String::as_str).collect();
            let (unit, what, why) = match words[..] {
                ["copy_async_wait"] => (
                    "group",
                    "pending",
                    "`copy_async_wait(n)` waits until at most the last `n` groups are pending (PTX ISA, \"cp.async.wait_group\")",
                ),
                ["wgmma", ":", ":", "wait"] => (
                    "product",
                    "in flight",
                    "`wgmma::wait(n, ..)` waits until at most the last `n` products are in flight (PTX ISA, \"wgmma.wait_group\")",
                ),
                _ => continue,
            };
            let Ok(call) = syn::parse2::<syn::ExprCall>(part.tokens.clone()) else { continue };
            let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. })) =
                call.args.first()
            else {
                continue;
            };
            let (Ok(groups), Some(at)) = (number.base10_parse::<u32>(), Range::of(number)) else {
                continue;
            };
            for less in (0..groups.min(MOST_GROUPS)).rev() {
                let help = less.to_string();
                let Ok(new) = help.parse() else { continue };
                let Some(text) = self.text_with(at, Put::Instead, &new) else { continue };
                out.push(Nearly {
                    text,
                    at: self.locations.of(number),
                    help,
                    goes: None,
                    required: Some(match less {
                        0 => format!("a wait that leaves no {unit} {what}"),
                        _ => format!(
                            "a wait that leaves at most {} {what}",
                            counted(less as usize, unit)
                        ),
                    }),
                    actual: format!(
                        "`{}`, after which {} may be {what}",
                        written(&part.tokens),
                        counted(groups as usize, unit)
                    ),
                    why,
                });
            }
        }
    }

    /// Meetings of the threads of a block.
    fn meetings(&self, out: &mut Vec<Nearly>) {
        for part in &self.parts {
            let Some((at, callee)) = &part.callee else { continue };
            if callee != &["sync"] || part.receiver.is_some() {
                continue;
            }
            let new = quote!(cluster::sync);
            let Some(text) = self.text_with(*at, Put::Instead, &new) else { continue };
            out.push(Nearly {
                text,
                at: self.locations.of(&part.tokens),
                help: "cluster::sync()".to_owned(),
                goes: None,
                required: None,
                actual: "`sync()`, at which only the threads of one block meet".to_owned(),
                why: "`sync()` waits for the threads of its block, and `cluster::sync()` for those of all blocks of the cluster",
            });
        }
    }

    /// Arrivals before an access that the message points at.
    fn arrivals(&self, diagnostic: &Diagnostic, out: &mut Vec<Nearly>) {
        let mut places = vec![range(self.locations, diagnostic.primary)];
        places.extend(diagnostic.secondary.iter().map(|(loc, _)| range(self.locations, *loc)));
        for block in blocks(&self.text.item) {
            for (index, arrival) in block.iter().enumerate() {
                let Some(call) = arrival.calls_method("arrive") else { continue };
                let holds = |one: &&Statement| places.iter().any(|place| one.at.holds(*place));
                let Some(access) = block[index + 1..].iter().find(holds) else { continue };
                let put_behind = || {
                    let item = put(self.text.item.clone(), access.at, Put::After, &arrival.tokens)?;
                    put(item, arrival.at, Put::Instead, &TokenStream::new())
                };
                let Some(item) = put_behind() else { continue };
                let words = format!(
                    "after line {}, in place of line {}",
                    access.at.end.0, arrival.at.start.0
                );
                out.push(self.moved_to(
                    (arrival, item),
                    (access, Side::After, words),
                    None,
                    (
                        format!("`{}`, before the access", written(call)),
                        "an arrival covers what stands before it, and nothing after it",
                    ),
                ));
            }
        }
    }

    /// `expect` that not every block of a cluster reaches, beside a multicast.
    fn expects(&self, out: &mut Vec<Nearly>) {
        let is_multicast =
            |part: &Part| part.callee.as_ref().is_some_and(|(_, name)| name == &["multicast"]);
        if !self.parts.iter().any(is_multicast) {
            return;
        }
        for block in blocks(&self.text.item) {
            for expect in &block {
                let Some(call) = expect.calls_method("expect") else { continue };
                let around = statements_around(&self.text.item, expect.at);
                let outer = around.into_iter().find(|outer| *outer != expect.at);
                let Some(outer) = outer.and_then(|at| self.statement(at)) else { continue };
                if !matches!(outer.parsed, syn::Stmt::Expr(syn::Expr::If(_), _)) {
                    continue;
                }
                let put_before = || {
                    let none = TokenStream::new();
                    let item = put(self.text.item.clone(), expect.at, Put::Instead, &none)?;
                    put(item, outer.at, Put::Before, &expect.tokens)
                };
                let Some(item) = put_before() else { continue };
                let words = format!(
                    "before line {}, in place of line {}",
                    outer.at.start.0, expect.at.start.0
                );
                out.push(self.moved_to(
                    (expect, item),
                    (&outer, Side::Before, words),
                    Some("an `expect` in each block that waits"),
                    (
                        format!("`{}`, which not every block reaches", written(call)),
                        "the bytes of a multicast count on the barrier of each block that gets them, so each of these blocks expects them",
                    ),
                ));
            }
        }
    }

    /// A statement that goes somewhere else.
    fn moved_to(
        &self,
        (statement, item): (&Statement, TokenStream),
        (beside, side, words): (&Statement, Side, String),
        required: Option<&str>,
        (actual, why): (String, &'static str),
    ) -> Nearly {
        let at = self.locations.of(&statement.tokens);
        let underlined = statement.calls().map_or(at, |call| self.locations.of(call));
        let also = Some((at, String::new()));
        Nearly {
            text: Text { attr: self.text.attr.clone(), item },
            at: underlined,
            help: written(&statement.tokens),
            goes: Some(Goes { at: self.locations.of(&beside.tokens), side, also, words }),
            required: required.map(str::to_owned),
            actual,
            why,
        }
    }

    /// Waits on barriers to which no product is committed.
    fn commits(&self, diagnostic: &Diagnostic, out: &mut Vec<Nearly>) {
        // What is committed to another barrier has a help of its own.
        if !diagnostic.compare.iter().any(|row| row.actual.starts_with("not committed")) {
            return;
        }
        let access = range(self.locations, diagnostic.primary);
        let starts = diagnostic.secondary.iter().map(|(loc, _)| range(self.locations, *loc));
        let Some(start) = starts.map(|at| at.start).min() else { return };
        for wait in blocks(&self.text.item).into_iter().flatten() {
            let Some(call) = wait.calls_method("wait") else { continue };
            if wait.at.start < start || wait.at.start > access.start {
                continue;
            }
            let barrier = call.receiver.to_token_stream();
            let new = quote!(tcgen05::commit(#barrier););
            let Some(text) = self.text_with(wait.at, Put::Before, &new) else { continue };
            let name = written(&barrier);
            let words = format!("before line {}", wait.at.start.0);
            out.push(Nearly {
                text,
                at: self.locations.of(call),
                help: format!("tcgen05::commit({name});"),
                goes: Some(Goes {
                    at: self.locations.of(&wait.tokens),
                    side: Side::Before,
                    also: None,
                    words,
                }),
                required: None,
                actual: format!("a wait on `{name}`, to which nothing is committed"),
                why: "a phase ends when all arrivals that the barrier counts are there: `tcgen05::commit` has the tensor cores arrive when they are done",
            });
        }
    }

    /// The statement at a place.
    fn statement(&self, at: Range) -> Option<Statement> {
        blocks(&self.text.item).into_iter().flatten().find(|one| one.at == at)
    }
}

impl Nearly {
    /// Says it.
    pub(super) fn tell(self, diagnostic: &mut Diagnostic) {
        let access = if diagnostic.code == Code::Arrivals {
            "this waits without end"
        } else {
            "this access is not ordered"
        };
        diagnostic.secondary.insert(0, (diagnostic.primary, access.to_owned()));
        diagnostic.found_at = Some(diagnostic.primary);
        diagnostic.primary = self.at;
        if let Some(phase) = diagnostic.headline.strip_suffix(WAITED_FOR) {
            diagnostic.headline = format!("{phase} never ends");
        }
        diagnostic.compare.truncate(1);
        if let Some(row) = diagnostic.compare.first_mut() {
            if let Some(required) = self.required {
                (row.what, row.required) = (String::new(), required);
            }
            row.actual = self.actual;
        }
        if diagnostic.code == Code::InFlight {
            diagnostic.notes.clear();
        }
        diagnostic.notes.insert(0, self.why.to_owned());
        diagnostic.help = Some(self.help);
        diagnostic.goes = self.goes;
        diagnostic.example = None;
    }
}

/// The statements of each block, the inner blocks too.
fn blocks(stream: &TokenStream) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for tree in stream.clone() {
        let TokenTree::Group(group) = tree else { continue };
        if group.delimiter() == Delimiter::Brace
            && let Ok(statements) =
                syn::parse::Parser::parse2(syn::Block::parse_within, group.stream())
        {
            let statements = statements.into_iter().filter_map(|parsed| {
                let tokens = parsed.to_token_stream();
                Some(Statement { at: Range::of(&tokens)?, tokens, parsed })
            });
            all.push(statements.collect());
        }
        all.extend(blocks(&group.stream()));
    }
    all
}

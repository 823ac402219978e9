//! Where the instructions of a PTX text stand, so that one can be changed and every line stays where it is.

use std::ops::Range;

use kernel_ptx::Instruction;

/// An instruction in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement<'t> {
    /// From the guard to the semicolon.
    pub(super) span: Range<usize>,
    /// `@%p0` with the space after it; empty without one.
    pub(super) guard: &'t str,
    /// The operands as they stand there.
    pub(super) operands: Vec<&'t str>,
}

/// Where the lines of a text begin.
pub(super) fn line_starts(text: &str) -> Vec<usize> {
    let after = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}

impl<'t> Statement<'t> {
    /// The `nth` instruction that begins in the line that begins at `start`, which the parser reads as `instruction`.
    pub(super) fn find(
        text: &'t str,
        start: usize,
        nth: usize,
        instruction: &Instruction,
    ) -> Option<Statement<'t>> {
        let mut at = start;
        let mut left = nth;
        loop {
            at += text[at..].find(|c: char| !c.is_whitespace() && !matches!(c, '{' | '}'))?;
            let rest = &text[at..];
            if let Some(comment) = rest.strip_prefix("//") {
                at += 2 + comment.find('\n')?;
                continue;
            }
            if let Some(comment) = rest.strip_prefix("/*") {
                at += 4 + comment.find("*/")?;
                continue;
            }
            // A label: the first word, followed by a colon that is not one of two.
            let word = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '%'));
            let word = word.unwrap_or(rest.len());
            if word > 0 && rest[word..].starts_with(':') && !rest[word..].starts_with("::") {
                at += word + 1;
                continue;
            }
            let end = at + rest.find(';')? + 1;
            let is_instruction = rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '@');
            if is_instruction && left == 0 {
                return Statement::read(text, at..end, instruction);
            }
            if rest.starts_with('.') && rest.starts_with(".loc") {
                // Without a semicolon.
                at += rest.find('\n')?;
                continue;
            }
            left -= usize::from(is_instruction);
            at = end;
        }
    }

    fn read(text: &'t str, span: Range<usize>, instruction: &Instruction) -> Option<Statement<'t>> {
        let whole = &text[span.start..span.end - 1];
        let after = whole.strip_prefix('@').map_or(0, |guarded| {
            let guard = guarded.find(char::is_whitespace).unwrap_or(guarded.len());
            let space = guarded[guard..].find(|c: char| !c.is_whitespace());
            1 + guard + space.unwrap_or(0)
        });
        let (guard, rest) = whole.split_at(after);
        if !rest.starts_with(instruction.opcode.text()) {
            return None;
        }
        let mnemonic = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let operands = split(rest[mnemonic..].trim());
        (operands.len() == instruction.operands.len()).then_some(Statement {
            span,
            guard,
            operands,
        })
    }
}

/// Operands, apart: commas in brackets and braces belong to one operand.
fn split(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                out.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        out.push(last);
    }
    out
}

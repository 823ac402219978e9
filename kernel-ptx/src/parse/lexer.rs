//! Characters to tokens.

use crate::ParseError;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    /// An identifier, with its `%`, `$` or `_` in front: `add`, `%r1`, `$L__BB0_1`, `_`.
    Name(&'t str),
    /// A word after a dot, the dot left out: `f32`, `shared::cta`, `128x256b`.
    Dot(&'t str),
    /// An integer literal. The flag says that its type is `.u64` rather than `.s64`.
    Int(u64, bool),
    /// `0f` and eight hexadecimal digits.
    F32(u32),
    /// `0d` and sixteen hexadecimal digits.
    F64(u64),
    /// A decimal floating-point literal.
    Decimal(f64),
    /// A string, without its quotes.
    Text(&'t str),
    /// Punctuation.
    Mark(&'static str),
    /// After the last token.
    End,
}

/// A token and where it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    /// What it is.
    pub(super) kind: Kind<'t>,
    /// Byte offset of its first character.
    pub(super) start: usize,
    /// Byte offset after its last character.
    pub(super) end: usize,
    /// Line, from 1.
    pub(super) line: u32,
    /// Column, from 1, in bytes.
    pub(super) column: u32,
}

/// The punctuation that a byte begins, from what follows: the longer mark where there is one, so that `<<` is not two `<`.
fn mark(first: u8, [second, third]: [u8; 2]) -> Option<&'static str> {
    Some(match (first, second) {
        (b'<', b'<') => "<<",
        (b'>', b'>') => ">>",
        (b'<', b'=') => "<=",
        (b'>', b'=') => ">=",
        (b'=', b'=') => "==",
        (b'!', b'=') => "!=",
        (b'&', b'&') => "&&",
        (b'|', b'|') => "||",
        (b'{', _) => "{",
        (b'}', _) => "}",
        (b'(', _) => "(",
        (b')', _) => ")",
        (b'[', _) => "[",
        (b']', _) => "]",
        (b',', _) => ",",
        (b';', _) => ";",
        (b':', _) => ":",
        (b'<', _) => "<",
        (b'>', _) => ">",
        (b'=', _) => "=",
        (b'+', _) => "+",
        (b'-', _) => "-",
        (b'*', _) => "*",
        (b'/', _) => "/",
        (b'%', _) => "%",
        (b'&', _) => "&",
        (b'|', _) => "|",
        (b'^', _) => "^",
        (b'~', _) => "~",
        (b'!', _) => "!",
        (b'?', _) => "?",
        (b'@', _) => "@",
        (b'.', b'.') if third == b'.' => "...",
        _ => return None,
    })
}

/// Splits `text` into tokens; the last one is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { text, at: 0, line: 1, line_start: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.token()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    line_start: usize,
}

fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'t> Lexer<'t> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn column(&self) -> u32 {
        u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX)
    }

    fn error(&self, seen: impl Into<String>, wanted: &str) -> ParseError {
        ParseError {
            line: self.line,
            column: self.column(),
            seen: seen.into(),
            wanted: wanted.to_owned(),
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\n' => self.newline(),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.byte(1) == b'/' => {
                    while bytes.get(self.at).is_some_and(|&byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                b'/' if self.byte(1) == b'*' => {
                    let unclosed = self.error("a comment that does not end", "`*/`");
                    self.at += 2;
                    while !(self.byte(0) == b'*' && self.byte(1) == b'/') {
                        match bytes.get(self.at) {
                            None => return Err(unclosed),
                            Some(b'\n') => self.newline(),
                            Some(_) => self.at += 1,
                        }
                    }
                    self.at += 2;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn token(&mut self) -> Result<Token<'t>, ParseError> {
        self.skip_blanks()?;
        let (start, line, column) = (self.at, self.line, self.column());
        let kind = self.kind()?;
        Ok(Token { kind, start, end: self.at, line, column })
    }

    fn kind(&mut self) -> Result<Kind<'t>, ParseError> {
        let start = self.at;
        let Some(&byte) = self.text.as_bytes().get(start) else {
            return Ok(Kind::End);
        };
        match byte {
            b'0'..=b'9' => self.number(),
            b'.' if continues_name(self.byte(1)) => {
                self.at += 1;
                Ok(Kind::Dot(self.dotted_word()))
            }
            b'"' => self.string(),
            b'%' if !(self.byte(1).is_ascii_alphabetic()
                || matches!(self.byte(1), b'_' | b'$')) =>
            {
                self.at += 1;
                Ok(Kind::Mark("%"))
            }
            b'%' | b'$' | b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.at += 1;
                while continues_name(self.byte(0)) {
                    self.at += 1;
                }
                Ok(Kind::Name(&self.text[start..self.at]))
            }
            _ => {
                if let Some(mark) = mark(byte, [self.byte(1), self.byte(2)]) {
                    self.at += mark.len();
                    return Ok(Kind::Mark(mark));
                }
                let character = self.text[start..].chars().next().unwrap_or('\0');
                Err(self.error(format!("{character:?}"), "a token of PTX"))
            }
        }
    }

    /// The word after a dot: `L2::cache_hint` is one word.
    fn dotted_word(&mut self) -> &'t str {
        let start = self.at;
        while continues_name(self.byte(0)) {
            self.at += 1;
            if self.byte(0) == b':' && self.byte(1) == b':' && continues_name(self.byte(2)) {
                self.at += 2;
            }
        }
        &self.text[start..self.at]
    }

    fn string(&mut self) -> Result<Kind<'t>, ParseError> {
        let unclosed = self.error("a string that does not end", "`\"`");
        self.at += 1;
        let start = self.at;
        loop {
            match self.text.as_bytes().get(self.at) {
                None => return Err(unclosed),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Kind::Text(&self.text[start..self.at - 1]));
                }
                Some(b'\n') => self.newline(),
                Some(_) => self.at += 1,
            }
        }
    }

    /// PTX ISA, "Integer Constants" and "Floating-Point Constants".
    fn number(&mut self) -> Result<Kind<'t>, ParseError> {
        let start = self.at;
        let error = |lexer: &Self, wanted: &str| {
            let mut end = start;
            while lexer.text.as_bytes().get(end).is_some_and(|&byte| continues_name(byte)) {
                end += 1;
            }
            ParseError {
                column: u32::try_from(start - lexer.line_start + 1).unwrap_or(u32::MAX),
                ..lexer.error(format!("`{}`", &lexer.text[start..end]), wanted)
            }
        };
        let radix = match (self.byte(0), self.byte(1)) {
            (b'0', b'f' | b'F') => {
                return self
                    .float_bits(8)
                    .ok_or_else(|| error(self, "`0f` and eight hexadecimal digits"));
            }
            (b'0', b'd' | b'D') => {
                return self
                    .float_bits(16)
                    .ok_or_else(|| error(self, "`0d` and sixteen hexadecimal digits"));
            }
            (b'0', b'x' | b'X') => 16,
            (b'0', b'b' | b'B') => 2,
            (b'0', _) => 8,
            _ => 10,
        };
        if radix == 8 || radix == 10 {
            let mut end = start;
            while self.text.as_bytes().get(end).is_some_and(u8::is_ascii_digit) {
                end += 1;
            }
            let after = self.text.as_bytes().get(end).copied().unwrap_or(0);
            if matches!(after, b'.' | b'e' | b'E') {
                return self.decimal(end).ok_or_else(|| error(self, "a floating-point literal"));
            }
        } else {
            self.at += 2;
        }
        let digits = self.at;
        while self.byte(0).is_ascii_hexdigit() && char::from(self.byte(0)).is_digit(radix) {
            self.at += 1;
        }
        let value = u64::from_str_radix(&self.text[digits..self.at], radix).ok();
        let suffix = self.byte(0) == b'U';
        if suffix {
            self.at += 1;
        }
        match value {
            Some(value) if !continues_name(self.byte(0)) => {
                Ok(Kind::Int(value, suffix || i64::try_from(value).is_err()))
            }
            _ => Err(error(self, "an integer literal of at most 64 bits")),
        }
    }

    fn float_bits(&mut self, digits: usize) -> Option<Kind<'t>> {
        let text = self.text.get(self.at + 2..self.at + 2 + digits)?;
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 2 + digits;
        if continues_name(self.byte(0)) {
            return None;
        }
        if digits == 8 {
            u32::from_str_radix(text, 16).ok().map(Kind::F32)
        } else {
            u64::from_str_radix(text, 16).ok().map(Kind::F64)
        }
    }

    fn decimal(&mut self, integer_end: usize) -> Option<Kind<'t>> {
        let start = self.at;
        self.at = integer_end;
        if self.byte(0) == b'.' {
            self.at += 1;
            while self.byte(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        if matches!(self.byte(0), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(0), b'+' | b'-') {
                self.at += 1;
            }
            while self.byte(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        if continues_name(self.byte(0)) {
            return None;
        }
        self.text[start..self.at].parse().ok().map(Kind::Decimal)
    }
}

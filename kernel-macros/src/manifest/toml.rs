//! As much of TOML as the tables and texts of a manifest take.
//!
//! Cargo has read the file before, so what is wrong with one is not looked for. Numbers, dates, booleans and arrays are
//! skipped, and each `[[array]]` keeps its last table.

use std::collections::BTreeMap;

pub(crate) type Table = BTreeMap<String, Value>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Table(Table),
    Text(String),
    Other,
}

/// The tables of a file, or nothing where it is not understood.
pub(crate) fn parse(text: &str) -> Option<Table> {
    let mut reader = Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text) };
    let mut root = Table::new();
    let mut head = Vec::new();
    loop {
        reader.skip_lines();
        if reader.rest.is_empty() {
            return Some(root);
        }
        if reader.eat("[[") {
            head = reader.key()?;
            reader.expect("]]")?;
            let (last, before) = head.split_last()?;
            inner(&mut root, before)?.insert(last.clone(), Value::Table(Table::new()));
        } else if reader.eat("[") {
            head = reader.key()?;
            reader.expect("]")?;
            inner(&mut root, &head)?;
        } else {
            let (key, value) = reader.entry()?;
            set(inner(&mut root, &head)?, &key, value)?;
        }
        // A line holds one of them.
        reader.skip_blanks();
        reader.skip_comment();
        if !(reader.rest.is_empty() || reader.eat("\n") || reader.eat("\r\n")) {
            return None;
        }
    }
}

/// The table at a path, made where it is not there.
fn inner<'a>(table: &'a mut Table, path: &[String]) -> Option<&'a mut Table> {
    let mut table = table;
    for name in path {
        let value = table.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = value else { return None };
        table = next;
    }
    Some(table)
}

fn set(table: &mut Table, path: &[String], value: Value) -> Option<()> {
    let (last, before) = path.split_last()?;
    inner(table, before)?.insert(last.clone(), value);
    Some(())
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Eats the text, which blanks may precede.
    fn expect(&mut self, text: &str) -> Option<()> {
        self.skip_blanks();
        self.eat(text).then_some(())
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn skip_comment(&mut self) {
        if self.rest.starts_with('#') {
            self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
        }
    }

    /// Skips blanks, ends of lines and comments.
    fn skip_lines(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
            if !self.rest.starts_with('#') {
                return;
            }
            self.skip_comment();
        }
    }

    /// `a.b = value`
    fn entry(&mut self) -> Option<(Vec<String>, Value)> {
        let key = self.key()?;
        self.expect("=")?;
        self.skip_blanks();
        Some((key, self.value()?))
    }

    /// The names that dots join: `a."b c".d`.
    fn key(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            names.push(match self.rest.chars().next()? {
                '"' | '\'' => self.text()?,
                _ => self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?.to_owned(),
            });
            self.skip_blanks();
            if !self.eat(".") {
                return Some(names);
            }
        }
    }

    /// One or more characters of a kind.
    fn word(&mut self, of: impl Fn(char) -> bool) -> Option<&str> {
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn value(&mut self) -> Option<Value> {
        match self.rest.chars().next()? {
            '"' | '\'' => self.text().map(Value::Text),
            '{' => self.inline_table().map(Value::Table),
            '[' => {
                self.eat("[");
                loop {
                    self.skip_lines();
                    if self.eat("]") {
                        return Some(Value::Other);
                    }
                    self.value()?;
                    self.skip_lines();
                    if !self.eat(",") && !self.rest.starts_with(']') {
                        return None;
                    }
                }
            }
            _ => {
                // A date and a time may have a blank between them; nothing that is looked for follows on that line.
                self.word(|c| !matches!(c, ',' | ']' | '}' | '#' | '\r' | '\n'))?;
                Some(Value::Other)
            }
        }
    }

    /// `{ a = 1, b.c = 2 }`, over several lines too, as later versions of TOML have it.
    fn inline_table(&mut self) -> Option<Table> {
        let mut table = Table::new();
        self.eat("{");
        loop {
            self.skip_lines();
            if self.eat("}") {
                return Some(table);
            }
            let (key, value) = self.entry()?;
            set(&mut table, &key, value)?;
            self.skip_lines();
            if !self.eat(",") && !self.rest.starts_with('}') {
                return None;
            }
        }
    }

    /// A string in one of its four forms.
    fn text(&mut self) -> Option<String> {
        for quotes in ["\"\"\"", "'''"] {
            if self.eat(quotes) {
                // The end of the first line does not count.
                let _ = self.eat("\n") || self.eat("\r\n");
                return self.text_up_to(quotes);
            }
        }
        if self.eat("\"") {
            self.text_up_to("\"")
        } else {
            self.eat("'").then(|| self.text_up_to("'"))?
        }
    }

    fn text_up_to(&mut self, quotes: &str) -> Option<String> {
        let mut out = String::new();
        loop {
            if self.rest.starts_with(quotes) {
                self.eat(quotes);
                // Up to two quotes may stand before the three that end the text.
                while quotes.len() == 3 && self.eat(&quotes[..1]) {
                    out.push_str(&quotes[..1]);
                }
                return Some(out);
            }
            if quotes.starts_with('"') && self.eat("\\") {
                self.escape(&mut out)?;
                continue;
            }
            let next = self.rest.chars().next()?;
            if quotes.len() == 1 && next == '\n' {
                return None;
            }
            out.push(next);
            self.rest = &self.rest[next.len_utf8()..];
        }
    }

    /// Adds what stands for what follows a backslash; nothing for an end of a line and the blanks behind it.
    fn escape(&mut self, out: &mut String) -> Option<()> {
        let kind = self.rest.chars().next()?;
        if kind.is_whitespace() {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
            return Some(());
        }
        self.rest = &self.rest[kind.len_utf8()..];
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        out.push(match kind {
            'b' => '\u{8}',
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '"' | '\\' => kind,
            _ if digits > 0 => {
                let code = u32::from_str_radix(self.rest.get(..digits)?, 16).ok()?;
                self.rest = &self.rest[digits..];
                char::from_u32(code)?
            }
            _ => return None,
        });
        Some(())
    }
}

//! The statements of a text: where they end, and which of them can stand in one.

use kernel_ptx::Opcode;

use super::Reader;
use crate::diag::{Diagnostic, nearest};

/// Instructions of PTX that the table leaves out.
const ELSEWHERE: [&str; 32] = [
    "istypep",
    "suld",
    "suq",
    "sured",
    "sust",
    "tex",
    "tld4",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "wmma",
];

impl Reader<'_> {
    /// The text with blanks in the place of comments.
    pub(super) fn without_comments(&self, text: &str) -> Result<String, Box<Diagnostic>> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('/') {
            out.push_str(&rest[..at]);
            let tail = &rest[at..];
            if tail.starts_with("//") {
                rest = tail.find('\n').map_or("", |end| &tail[end..]);
            } else if let Some(inner) = tail.strip_prefix("/*") {
                let Some(end) = inner.find("*/") else {
                    return Err(self
                        .wrong("a comment in the text does not end")
                        .help("/* .. */")
                        .into());
                };
                rest = &inner[end + 2..];
                out.push(' ');
            } else {
                out.push('/');
                rest = &tail[1..];
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The instructions of a text, without their `;`.
    pub(super) fn statements<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, Box<Diagnostic>> {
        let mut found = Vec::new();
        let mut open = 0_u32;
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            match first {
                ';' => rest = rest[1..].trim_start(),
                '{' => {
                    open += 1;
                    rest = rest[1..].trim_start();
                }
                '}' if open == 0 => {
                    return Err(Box::new(
                        self.wrong("a `}}` in the text closes no scope")
                            .why("the text is in a scope of its own, and cannot close it"),
                    ));
                }
                '}' => {
                    open -= 1;
                    rest = rest[1..].trim_start();
                }
                _ => {
                    let end = self.statement_end(rest)?;
                    let statement = rest[..end].trim_end();
                    if self.is_instruction(statement)? {
                        found.push(statement);
                    }
                    rest = rest[end + 1..].trim_start();
                }
            }
        }
        if open > 0 {
            return Err(self.wrong("a scope in the text is not closed").help("{{ .. }}").into());
        }
        if found.is_empty() {
            return Err(Box::new(
                self.wrong("the text has no instruction")
                    .help("ptx!(\"mov.u32 {out}, %laneid;\" => i32)"),
            ));
        }
        Ok(found)
    }

    /// Where the `;` of the statement is with which `text` begins.
    fn statement_end(&self, text: &str) -> Result<usize, Box<Diagnostic>> {
        let mut brackets = Vec::new();
        for (at, c) in text.char_indices() {
            match c {
                ';' if brackets.is_empty() => return Ok(at),
                '(' => brackets.push(')'),
                '[' => brackets.push(']'),
                '{' => brackets.push('}'),
                '}' if brackets.is_empty() => return Err(self.unended(&text[..at]).into()),
                ')' | ']' | '}' | ';' if brackets.last() != Some(&c) => {
                    let wanted =
                        brackets.last().map_or("no bracket that closes".to_owned(), |c| quoted(*c));
                    return Err(Box::new(
                        self.wrong("brackets in the text do not match")
                            .compare("", wanted, quoted(c))
                            .why(format!("in {}", self.quote(&text[..=at]))),
                    ));
                }
                ')' | ']' | '}' => {
                    brackets.pop();
                }
                _ => {}
            }
        }
        Err(self.unended(text).into())
    }

    fn unended(&self, statement: &str) -> Diagnostic {
        self.wrong("a statement of the text has no `;` at its end")
            .why("PTX statements end in `;`, including the last one")
            .help(format!("{};", self.shown(statement).trim_end()))
    }

    /// Whether a statement is an instruction rather than a declaration of registers.
    fn is_instruction(&self, statement: &str) -> Result<bool, Box<Diagnostic>> {
        if let Some(directive) = statement.strip_prefix('.') {
            let word: String = directive.chars().take_while(|c| c.is_alphanumeric()).collect();
            if word == "reg" {
                return Ok(false);
            }
            return Err(Box::new(self
                .wrong(format!("`.{word}` cannot stand in the text"))
                .why("the only directive is `.reg`, for registers of the text; Kiln allocates memory")
                .help("{{ .reg .f32 t; .. }}")));
        }
        let mut body = statement;
        if let Some(guarded) = statement.strip_prefix('@') {
            let guarded = guarded.trim_start().trim_start_matches('!').trim_start();
            body = guarded.trim_start_matches(is_of_name).trim_start();
        }
        let name_end = body.find(|c| !is_of_name(c)).unwrap_or(body.len());
        let (name, after) = body.split_at(name_end);
        let after = after.trim_start();
        if after.starts_with(':') && !after.starts_with("::") {
            return Err(self.control(&format!("the label `{}`", self.shown(name))).into());
        }
        let Some(opcode) = Opcode::ALL.iter().find(|opcode| opcode.text() == name) else {
            return Err(self.unknown_opcode(name, statement).into());
        };
        self.is_allowed(*opcode, after, statement)?;
        Ok(true)
    }

    fn control(&self, what: &str) -> Diagnostic {
        self.wrong(format!("{what} cannot stand in the text"))
            .why("the kernel controls the flow: Kiln relies on it to place barriers and copies, and all threads of a block take one path")
            .help("if n > 0 { ptx!(\"..\") }")
    }

    fn unknown_opcode(&self, name: &str, statement: &str) -> Diagnostic {
        if name.is_empty() {
            return self
                .wrong("a statement of the text does not begin with an instruction")
                .compare("", "an opcode such as `add`", self.quote(statement));
        }
        if ELSEWHERE.contains(&name) {
            return self
                .wrong(format!("Kiln does not know the form of `{name}`"))
                .why("the text is checked against a table of instructions, which has all except those for textures, surfaces and video, and `wmma`");
        }
        let diagnostic = self
            .wrong(format!("`{}` is not a PTX instruction", self.shown(name)))
            .why(format!("in {}", self.quote(statement)));
        diagnostic.help_if(nearest(name, Opcode::ALL.iter().map(|opcode| opcode.text())))
    }

    /// Refuses what would work against the code around the text.
    fn is_allowed(
        &self,
        opcode: Opcode,
        words: &str,
        statement: &str,
    ) -> Result<(), Box<Diagnostic>> {
        let words: String = words.chars().take_while(|c| !c.is_whitespace()).collect();
        let quoted = self.quote(statement);
        let refuse = |why: &str, help: &str| {
            let diagnostic = self.wrong(format!("{quoted} cannot stand in the text"));
            Err(Box::new(diagnostic.advised(why, help)))
        };
        let is_group = [".async.commit_group", ".async.wait_group", ".async.wait_all"];
        #[expect(clippy::wildcard_enum_match_arm, reason = "most instructions can stand in a text")]
        match opcode {
            Opcode::Bra | Opcode::Brx | Opcode::Call | Opcode::Ret | Opcode::Exit => {
                Err(self.control(&quoted).into())
            }
            Opcode::Bar | Opcode::Barrier if !words.starts_with(".warp") => refuse(
                "Kiln places barriers between accesses to shared memory, and every thread has to reach the same ones",
                "sync();",
            ),
            Opcode::Cp if is_group.iter().any(|group| words.starts_with(group)) => refuse(
                "Kiln counts the pending groups of copies and waits for them by number",
                "copy_async_wait_all();",
            ),
            Opcode::Setmaxnreg | Opcode::Alloca | Opcode::Stacksave | Opcode::Stackrestore => {
                refuse(
                    "the registers and local memory of a thread are allocated for the whole kernel",
                    "",
                )
            }
            _ => Ok(()),
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

fn quoted(c: char) -> String {
    format!("`{c}`")
}

//! Text in: the whole syntax that compilers emit for `sm_80` to `sm_100a`.
//!
//! The parser knows the syntax, the names and the words; it does not know which modifiers an opcode
//! takes. That is the instruction table's business: [`Module::validate`].
#![expect(clippy::disallowed_types, reason = "names are looked up, never listed")]

mod declaration;
mod expression;
mod function;
mod instruction;
mod lexer;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::LazyLock;

use crate::target::{NEWEST_VERSION, is_version};
use crate::{Directive, Function, Linkage, Module, Opcode, SpecialRegister, Type};
use lexer::{Kind, Token};

/// Where and why a text is not PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in bytes.
    pub column: u32,
    /// What stands there.
    pub seen: String,
    /// What could stand there.
    pub wanted: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { line, column, seen, wanted } = self;
        write!(f, "line {line}, column {column}: {seen}, where {wanted} was wanted")
    }
}

impl std::error::Error for ParseError {}

/// Reads a PTX module.
///
/// Registers, labels and variables of nested scopes get an id of their own. Registers are listed in
/// the order of their first use; those that are declared and never used do not appear. `.section`
/// blocks and the inlining part of `.loc` are dropped.
///
/// # Errors
/// The first place where `text` is not PTX as the [crate] documents it; also an opcode, a modifier or
/// a name that is not known.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let mut parser = Parser::new(text)?;
    parser.module()?;
    Ok(parser.module)
}

/// Reads statements as the body of a function whose parameters and results are these registers, in a scope of their own.
///
/// ```
/// use kernel_ptx::{Type, parse_body};
///
/// let function = parse_body("neg.s32 y, x;", &[("y", Type::S32)], &[("x", Type::S32)])?;
/// assert_eq!(function.body.map(|statements| statements.len()), Some(1));
/// # Ok::<(), kernel_ptx::ParseError>(())
/// ```
///
/// # Errors
/// The first place where `text` is not PTX, as [`parse`] has it; a brace that closes more than was opened. The first line of
/// `text` is line 2.
pub fn parse_body(
    text: &str,
    results: &[(&str, Type)],
    params: &[(&str, Type)],
) -> Result<Function, ParseError> {
    let whole = format!("{{ {{\n{text}\n}} }}");
    let mut parser = Parser::new(&whole)?;
    let function = parser.body_alone(results, params)?;
    if parser.kind() == Kind::End { Ok(function) } else { Err(parser.error("the end of the text")) }
}

/// Nesting of braces, parentheses and unary operators that is still read.
const DEPTH: u32 = 100;

/// The names after `.entry` and `.func`, so that a call may come before what it calls.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other tokens say nothing of names")]
fn function_names<'t>(tokens: &[Token<'t>]) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    for (index, token) in tokens.iter().enumerate() {
        if !matches!(token.kind, Kind::Dot("entry" | "func")) {
            continue;
        }
        let mut depth = 0_u32;
        for token in &tokens[index + 1..] {
            match token.kind {
                Kind::Mark("(") => depth += 1,
                Kind::Mark(")") => depth = depth.saturating_sub(1),
                Kind::Mark(";" | "{") | Kind::End => break,
                Kind::Name(name) if depth == 0 => {
                    names.insert(name);
                    break;
                }
                _ => {}
            }
        }
    }
    names
}

/// The opcodes by name.
static OPCODES: LazyLock<HashMap<&'static str, Opcode>> =
    LazyLock::new(|| Opcode::ALL.iter().map(|opcode| (opcode.text(), *opcode)).collect());
/// The special registers by name.
static SPECIAL: LazyLock<HashMap<&'static str, SpecialRegister>> =
    LazyLock::new(|| SpecialRegister::ALL.iter().map(|one| (one.text(), *one)).collect());

/// The reading position and what is known so far.
struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: u32,
    module: Module,
    functions: BTreeSet<&'t str>,
    globals: HashMap<&'t str, u32>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, ParseError> {
        let tokens = lexer::tokens(text)?;
        Ok(Parser {
            text,
            at: 0,
            depth: 0,
            module: Module::default(),
            functions: function_names(&tokens),
            globals: HashMap::new(),
            tokens,
        })
    }

    fn token(&self, index: usize) -> Token<'t> {
        // `tokens` is never empty: it ends in `Kind::End`.
        self.tokens[index.min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> Kind<'t> {
        self.token(self.at).kind
    }

    fn eat(&mut self, mark: &str) -> bool {
        let eaten = matches!(self.kind(), Kind::Mark(seen) if seen == mark);
        self.at += usize::from(eaten);
        eaten
    }

    fn eat_dot(&mut self, word: &str) -> bool {
        let eaten = matches!(self.kind(), Kind::Dot(seen) if seen == word);
        self.at += usize::from(eaten);
        eaten
    }

    fn expect(&mut self, mark: &str) -> Result<(), ParseError> {
        if self.eat(mark) { Ok(()) } else { Err(self.error(&format!("`{mark}`"))) }
    }

    fn name(&mut self, wanted: &str) -> Result<&'t str, ParseError> {
        let Kind::Name(name) = self.kind() else {
            return Err(self.error(wanted));
        };
        self.at += 1;
        Ok(name)
    }

    fn text_literal(&mut self) -> Result<&'t str, ParseError> {
        let Kind::Text(text) = self.kind() else {
            return Err(self.error("a string"));
        };
        self.at += 1;
        Ok(text)
    }

    fn error(&self, wanted: &str) -> ParseError {
        self.error_at(self.at, wanted)
    }

    fn error_at(&self, index: usize, wanted: &str) -> ParseError {
        let token = self.token(index);
        let seen = if token.kind == Kind::End {
            "the end of the text".to_owned()
        } else {
            let text: String = self.text[token.start..token.end].chars().take(60).collect();
            format!("`{text}`")
        };
        ParseError { line: token.line, column: token.column, seen, wanted: wanted.to_owned() }
    }

    /// Runs `parse` one level of nesting further down.
    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == DEPTH {
            return Err(self.error(&format!("at most {DEPTH} levels of nesting")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// The text from token `from` to the token before `self.at`, blanks and comments made one space.
    fn verbatim(&self, from: usize) -> String {
        let mut text = String::new();
        let mut end = None;
        for token in &self.tokens[from.min(self.tokens.len())..self.at.min(self.tokens.len())] {
            if end.is_some_and(|end| end < token.start) {
                text.push(' ');
            }
            text.push_str(&self.text[token.start..token.end]);
            end = Some(token.end);
        }
        text
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`linked` refuses what begins no directive")]
    fn module(&mut self) -> Result<(), ParseError> {
        loop {
            match self.kind() {
                Kind::End => return Ok(()),
                Kind::Dot("version") => {
                    self.at += 1;
                    self.version()?;
                }
                Kind::Dot("target") => {
                    self.at += 1;
                    loop {
                        let name = self.name("the name of a target")?;
                        self.module.target.push(name.to_owned());
                        if !self.eat(",") {
                            break;
                        }
                    }
                }
                Kind::Dot("address_size") => {
                    self.at += 1;
                    let at = self.at;
                    if self.integer()? != 64 {
                        return Err(self.error_at(at, "64, the only address size of these targets"));
                    }
                }
                Kind::Dot("file") => {
                    self.at += 1;
                    self.file()?;
                }
                Kind::Dot("section") => {
                    self.at += 1;
                    self.section()?;
                }
                // Statements of a debugger's own syntax, one a line.
                Kind::Mark("@") => {
                    let line = self.token(self.at).line;
                    while self.token(self.at).line == line && self.kind() != Kind::End {
                        self.at += 1;
                    }
                }
                Kind::Dot("pragma") => {
                    self.at += 1;
                    self.module_pragma()?;
                }
                Kind::Dot("alias") => self.alias()?,
                _ => self.linked()?,
            }
        }
    }

    /// `8.7` is read as a decimal literal, and `8.10` must not become `8.1`.
    fn version(&mut self) -> Result<(), ParseError> {
        let token = self.token(self.at);
        let text = &self.text[token.start..token.end];
        let parts = text.split_once('.').and_then(|(major, minor)| {
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
        });
        let Some(version) = parts else {
            return Err(self.error("a version such as `8.6`"));
        };
        if !is_version(version) {
            let (major, minor) = NEWEST_VERSION;
            return Err(self.error(&format!("a version of the PTX ISA up to {major}.{minor}")));
        }
        self.at += 1;
        self.module.version = version;
        Ok(())
    }

    /// `.file index "path"`, then a time stamp and a size, which are not needed.
    fn file(&mut self) -> Result<(), ParseError> {
        let index = self.count_u32()?;
        let path = self.text_literal()?;
        self.module.files.push((index, path.to_owned()));
        while self.eat(",") {
            self.integer()?;
        }
        Ok(())
    }

    /// `.section .debug_info { .. }`: for a debugger.
    fn section(&mut self) -> Result<(), ParseError> {
        if !matches!(self.kind(), Kind::Dot(_) | Kind::Name(_)) {
            return Err(self.error("the name of a section"));
        }
        self.at += 1;
        self.skip_brackets(["{", "}"], &[], "a block that ends in `}`")
    }

    /// Skips what stands between brackets; `wanted` is what is missing where one of `foreign` or the end comes first.
    fn skip_brackets(
        &mut self,
        [opens, closes]: [&str; 2],
        foreign: &[&str],
        wanted: &str,
    ) -> Result<(), ParseError> {
        let open = self.at;
        self.expect(opens)?;
        let mut depth = 1_u32;
        while depth > 0 {
            let mark = if let Kind::Mark(mark) = self.kind() { mark } else { "" };
            if self.kind() == Kind::End || foreign.contains(&mark) {
                return Err(self.error_at(open, wanted));
            }
            depth += u32::from(mark == opens);
            depth -= u32::from(mark == closes);
            self.at += 1;
        }
        Ok(())
    }

    fn module_pragma(&mut self) -> Result<(), ParseError> {
        loop {
            let text = self.text_literal()?;
            self.module.directives.push(Directive::Pragma(text.to_owned()));
            if !self.eat(",") {
                return self.expect(";");
            }
        }
    }

    fn alias(&mut self) -> Result<(), ParseError> {
        let from = self.at;
        self.at += 1;
        self.name("the name of a function")?;
        self.expect(",")?;
        self.name("the name of a function")?;
        self.expect(";")?;
        let text = self.verbatim(from);
        self.module.directives.push(Directive::Other(text));
        Ok(())
    }

    /// A function or a variable, with the linkage in front.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other token is a linkage or begins one")]
    fn linked(&mut self) -> Result<(), ParseError> {
        let linkage = match self.kind() {
            Kind::Dot("visible") => Linkage::Visible,
            Kind::Dot("extern") => Linkage::Extern,
            Kind::Dot("weak") => Linkage::Weak,
            Kind::Dot("common") => Linkage::Common,
            _ => Linkage::Private,
        };
        self.at += usize::from(linkage != Linkage::Private);
        match self.kind() {
            Kind::Dot("entry") => {
                self.at += 1;
                self.function(linkage, true)
            }
            Kind::Dot("func") => {
                self.at += 1;
                self.function(linkage, false)
            }
            Kind::Dot(word) if declaration::variable_space(word).is_some() => {
                let variables = self.variables(linkage)?;
                for (name, variable) in variables {
                    let index = u32::try_from(self.module.variables.len())
                        .map_err(|_| self.error("fewer variables"))?;
                    self.globals.insert(name, index);
                    self.module.variables.push(variable);
                }
                Ok(())
            }
            _ => Err(self.error("a directive of a module")),
        }
    }
}

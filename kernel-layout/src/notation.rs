//! Reading the notation of layouts: a reader for the characters of a text, and its errors.
//!
//! It is used by [`crate::tile`], which has its own notation, and by the `kiln` command, which also reads the calls
//! that kernels write.

use std::fmt;

/// The first error in the text of a layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NotationError {
    /// The text.
    pub text: String,
    /// The place, in characters from its start.
    pub at: usize,
    /// What is required there, or what is wrong.
    pub problem: String,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{:at$}^ {}", self.text, "", self.problem, at = self.at)
    }
}

impl std::error::Error for NotationError {}

/// A text and how far it has been read. Spaces between its parts do not matter.
///
/// ```
/// use kernel_layout::notation::Reader;
/// let mut reader = Reader::new("mma([4, x])");
/// assert_eq!(reader.word(), "mma");
/// reader.require("(")?;
/// let error = reader.list(Reader::small).expect_err("a name is not a number");
/// let required = "mma([4, x])\n        ^ required a number, actual the name `x`: write its value";
/// assert_eq!(error.to_string(), required);
/// # Ok::<(), kernel_layout::notation::NotationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    /// A reader at the start of a text.
    pub fn new(text: &str) -> Reader {
        Reader { text: text.chars().collect(), at: 0 }
    }

    /// An error at a place, in characters from the start.
    pub fn problem_at(&self, at: usize, problem: impl Into<String>) -> NotationError {
        NotationError { text: self.text.iter().collect(), at, problem: problem.into() }
    }

    /// An error at the next character.
    pub fn problem(&self, problem: impl Into<String>) -> NotationError {
        self.problem_at(self.at, problem)
    }

    /// The place of the next character after the spaces, in characters from the start.
    pub fn next_at(&mut self) -> usize {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.at
    }

    /// The next character after the spaces; none at the end.
    pub fn peek(&mut self) -> Option<char> {
        let at = self.next_at();
        self.text.get(at).copied()
    }

    /// Whether the text continues with `token`; if so, passes it.
    pub fn passes(&mut self, token: &str) -> bool {
        self.next_at();
        let fits = token.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c));
        if fits {
            self.at += token.chars().count();
        }
        fits
    }

    /// Passes `token`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn require(&mut self, token: &str) -> Result<(), NotationError> {
        if self.passes(token) { Ok(()) } else { Err(self.problem(format!("required `{token}`"))) }
    }

    /// The letters, digits and underscores that come next; empty if there are none.
    pub fn word(&mut self) -> String {
        let word = self.peek_word();
        self.at += word.chars().count();
        word
    }

    /// The same, without passing them.
    pub fn peek_word(&mut self) -> String {
        let at = self.next_at();
        let part = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
        self.text[at..].iter().take_while(part).collect()
    }

    /// A number, possibly with a minus, and with underscores between its digits as in Rust.
    ///
    /// # Errors
    /// If something else comes next, such as the name of a constant, or one beyond 64 bits.
    pub fn number(&mut self) -> Result<i64, NotationError> {
        let start = self.next_at();
        let negative = self.passes("-");
        let word = self.peek_word();
        if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let problem = format!("required a number, actual the name `{word}`: write its value");
            return Err(self.problem_at(start, problem));
        }
        let digits: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '_').collect();
        self.at += digits.len();
        match digits.replace('_', "").parse::<i64>() {
            Ok(number) => Ok(if negative { -number } else { number }),
            Err(_) if digits.is_empty() => Err(self.problem_at(start, "required a number")),
            Err(_) => Err(self.problem_at(start, "required a number of at most 2^30")),
        }
    }

    /// A number that is not negative.
    ///
    /// # Errors
    /// As [`Reader::number`], and for one that is negative or beyond 32 bits.
    pub fn small(&mut self) -> Result<u32, NotationError> {
        let start = self.next_at();
        let number = self.number()?;
        u32::try_from(number).map_err(|_| {
            let bound = if number < 0 { "at least 0" } else { "at most 2^30" };
            self.problem_at(start, format!("required a number of {bound}"))
        })
    }

    /// `[item, item, ..]`, with or without a comma at the end.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn list<T>(
        &mut self,
        item: impl Fn(&mut Reader) -> Result<T, NotationError>,
    ) -> Result<Vec<T>, NotationError> {
        self.require("[")?;
        let mut items = Vec::new();
        while !self.passes("]") {
            items.push(item(self)?);
            if !self.passes(",") {
                if self.passes("]") {
                    break;
                }
                return Err(self.problem("required `,` or `]`"));
            }
        }
        Ok(items)
    }

    /// Passes the end of the text.
    ///
    /// # Errors
    /// If something is left; `required` says what could stand there.
    pub fn end(&mut self, required: &str) -> Result<(), NotationError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.problem(format!("required {required}"))),
        }
    }
}

//! The notation of tile layouts: `S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]`.
//!
//! ```text
//! layout  = term { "+" term }
//! term    = "S[" digits "]" | "R[" digits "]" | stride
//! digits  = extents [ ":" strides ]        without strides: row-major along m
//! extents = number | "(" number, .. ")" | number, ..
//! strides = stride | "(" stride, .. ")"
//! stride  = number [ "@" axis ]            without an axis: m
//! swizzled = "Compose(" number "," number "," number "," layout [ ", outer" ] ")"
//! ```

use std::fmt;
use std::str::FromStr;

use super::{ComposeLayout, Iter, Reading, Swizzle, TileAxis, TileLayout};

/// Where a text stops being a tile layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NotationError {
    /// The text.
    pub text: String,
    /// The place, in characters from its start.
    pub at: usize,
    /// What should stand there, or what is wrong with what does.
    pub problem: String,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{:at$}^ {}", self.text, "", self.problem, at = self.at)
    }
}

impl std::error::Error for NotationError {}

impl fmt::Display for TileLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S[{}]", digits(self.shard()))?;
        if !self.replica().is_empty() {
            write!(f, " + R[{}]", digits(self.replica()))?;
        }
        for (&axis, &amount) in self.offset() {
            write!(f, " + {}", stride(amount, axis))?;
        }
        Ok(())
    }
}

pub(super) fn digits(iters: &[Iter]) -> String {
    let strides: Vec<String> = iters.iter().map(|iter| stride(iter.stride, iter.axis)).collect();
    if let [one] = iters {
        return format!("{} : {}", one.extent, strides[0]);
    }
    let extents: Vec<String> = iters.iter().map(|iter| iter.extent.to_string()).collect();
    format!("({}) : ({})", extents.join(", "), strides.join(", "))
}

fn stride(amount: i64, axis: TileAxis) -> String {
    if axis == TileAxis::Memory { amount.to_string() } else { format!("{amount} @ {axis}") }
}

impl FromStr for TileLayout {
    type Err = NotationError;

    /// Reads the notation in which layouts are printed.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let text = "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]";
    /// assert_eq!(text.parse::<TileLayout>()?.to_string(), text);
    /// let error = "S[4 : 1 @ tlane]".parse::<TileLayout>().expect_err("the axis is TLane");
    /// assert!(error.to_string().starts_with("S[4 : 1 @ tlane]\n          ^ required an axis"));
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    fn from_str(text: &str) -> Result<TileLayout, NotationError> {
        let mut reader = Reader::new(text);
        let layout = reader.layout()?;
        reader.end()?;
        Ok(layout)
    }
}

impl FromStr for ComposeLayout {
    type Err = NotationError;

    /// Reads `Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])`: the swizzle's three numbers and the tile.
    fn from_str(text: &str) -> Result<ComposeLayout, NotationError> {
        let mut reader = Reader::new(text);
        let start = reader.at;
        reader.require("Compose")?;
        reader.require("(")?;
        let mut numbers = [0; 3];
        for number in &mut numbers {
            *number = reader.small()?;
            reader.require(",")?;
        }
        let tile = reader.layout()?;
        let reading = if reader.passes(",") {
            reader.require("outer")?;
            Reading::Outer
        } else {
            Reading::Inner
        };
        reader.require(")")?;
        reader.end()?;
        let [per_element, swizzle_len, atom_len] = numbers;
        Swizzle::new(per_element, swizzle_len, atom_len, reading)
            .and_then(|swizzle| ComposeLayout::new(swizzle, tile))
            .map_err(|error| reader.problem_at(start, error.to_string()))
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn new(text: &str) -> Reader {
        Reader { text: text.chars().collect(), at: 0 }
    }

    fn problem_at(&self, at: usize, problem: impl Into<String>) -> NotationError {
        NotationError { text: self.text.iter().collect(), at, problem: problem.into() }
    }

    fn problem(&self, problem: impl Into<String>) -> NotationError {
        self.problem_at(self.at, problem)
    }

    fn spaces(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn passes(&mut self, token: &str) -> bool {
        self.spaces();
        let fits = token.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c));
        if fits {
            self.at += token.chars().count();
        }
        fits
    }

    fn require(&mut self, token: &str) -> Result<(), NotationError> {
        if self.passes(token) { Ok(()) } else { Err(self.problem(format!("required `{token}`"))) }
    }

    fn end(&mut self) -> Result<(), NotationError> {
        self.spaces();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.problem("required `+` or the end of the layout"))
        }
    }

    fn number(&mut self) -> Result<i64, NotationError> {
        self.spaces();
        let start = self.at;
        let negative = self.passes("-");
        self.spaces();
        let digits: String =
            self.text[self.at..].iter().take_while(|c| c.is_ascii_digit()).collect();
        self.at += digits.len();
        match digits.parse::<i64>() {
            Ok(number) => Ok(if negative { -number } else { number }),
            Err(_) if digits.is_empty() => Err(self.problem_at(start, "required a number")),
            Err(_) => Err(self.problem_at(start, "required a number of at most 2^30")),
        }
    }

    fn small(&mut self) -> Result<u32, NotationError> {
        self.spaces();
        let start = self.at;
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.problem_at(start, "required a number of at least 0"))
    }

    fn extent(&mut self) -> Result<u64, NotationError> {
        self.spaces();
        let start = self.at;
        let number = self.number()?;
        u64::try_from(number).ok().filter(|&extent| extent > 0).ok_or_else(|| {
            self.problem_at(start, format!("required an extent of at least 1, actual {number}"))
        })
    }

    /// A number and its axis.
    fn stride(&mut self) -> Result<(i64, TileAxis), NotationError> {
        let amount = self.number()?;
        if !self.passes("@") {
            return Ok((amount, TileAxis::Memory));
        }
        self.spaces();
        let start = self.at;
        let word = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
        let name: String = self.text[start..].iter().take_while(word).collect();
        self.at += name.len();
        let axis = TileAxis::from_name(&name).ok_or_else(|| {
            let names = TileAxis::ALL.map(TileAxis::name);
            self.problem_at(start, format!("required an axis: one of {}", names.join(", ")))
        })?;
        Ok((amount, axis))
    }

    /// One item, or several in parentheses; `bare` if several may stand without.
    fn items<T>(
        &mut self,
        item: impl Fn(&mut Reader) -> Result<T, NotationError>,
        closing: &str,
    ) -> Result<Vec<T>, NotationError> {
        let mut items = Vec::new();
        let inside = self.passes("(");
        if inside && self.passes(")") {
            return Ok(items);
        }
        items.push(item(self)?);
        while self.passes(",") {
            // A comma may end a list in parentheses, as in a tuple of one.
            if inside && self.passes(")") {
                return Ok(items);
            }
            items.push(item(self)?);
        }
        if inside {
            self.require(")")?;
        } else {
            self.spaces();
            if !closing.chars().any(|c| self.text.get(self.at) == Some(&c)) {
                return Err(self.problem(format!("required `,` or one of `{closing}`")));
            }
        }
        Ok(items)
    }

    fn digits(&mut self) -> Result<Vec<Iter>, NotationError> {
        self.require("[")?;
        self.spaces();
        let start = self.at;
        let extents = self.items(Reader::extent, ":]")?;
        let iters = if self.passes(":") {
            self.spaces();
            let start = self.at;
            let strides = self.items(Reader::stride, "]")?;
            if strides.len() != extents.len() {
                return Err(self.problem_at(
                    start,
                    format!("required {} strides, actual {}", extents.len(), strides.len()),
                ));
            }
            let pair = |(&extent, (stride, axis))| Iter::new(extent, stride, axis);
            extents.iter().zip(strides).map(pair).collect()
        } else {
            let rows = TileLayout::row_major(&extents);
            rows.map_err(|error| self.problem_at(start, error.to_string()))?.shard().to_vec()
        };
        self.require("]")?;
        Ok(iters)
    }

    fn layout(&mut self) -> Result<TileLayout, NotationError> {
        self.spaces();
        let start = self.at;
        let mut shard: Option<Vec<Iter>> = None;
        let mut replica: Option<Vec<Iter>> = None;
        let mut offset = Vec::new();
        loop {
            self.spaces();
            let term = self.at;
            if self.passes("S") {
                if shard.replace(self.digits()?).is_some() {
                    return Err(self.problem_at(term, "required one `S[..]`, this is the second"));
                }
            } else if self.passes("R") {
                if replica.replace(self.digits()?).is_some() {
                    return Err(self.problem_at(term, "required one `R[..]`, this is the second"));
                }
            } else if self.text.get(term).is_some_and(|c| c.is_ascii_digit() || *c == '-') {
                let (amount, axis) = self.stride()?;
                offset.push((axis, amount));
            } else {
                return Err(self.problem("required `S[..]`, `R[..]` or an offset"));
            }
            if !self.passes("+") {
                break;
            }
        }
        let Some(shard) = shard else {
            return Err(self.problem_at(start, "required `S[..]` among the parts"));
        };
        TileLayout::new(shard, replica.unwrap_or_default(), offset)
            .map_err(|error| self.problem_at(start, error.to_string()))
    }
}

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
use crate::notation::{NotationError, Reader};

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
        let layout = TileLayout::read(&mut reader)?;
        reader.end("`+` or the end of the layout")?;
        Ok(layout)
    }
}

impl FromStr for ComposeLayout {
    type Err = NotationError;

    /// Reads `Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])`: the swizzle's three numbers and the tile.
    fn from_str(text: &str) -> Result<ComposeLayout, NotationError> {
        let mut reader = Reader::new(text);
        let layout = ComposeLayout::read(&mut reader)?;
        reader.end("the end of the layout")?;
        Ok(layout)
    }
}

impl ComposeLayout {
    /// Reads a swizzled layout that comes next in a text, and no further.
    ///
    /// # Errors
    /// At the first character that does not fit.
    pub fn read(reader: &mut Reader) -> Result<ComposeLayout, NotationError> {
        let start = reader.next_at();
        reader.require("Compose")?;
        reader.require("(")?;
        let mut numbers = [0; 3];
        for number in &mut numbers {
            *number = reader.small()?;
            reader.require(",")?;
        }
        let tile = TileLayout::read(reader)?;
        let reading = if reader.passes(",") {
            reader.require("outer")?;
            Reading::Outer
        } else {
            Reading::Inner
        };
        reader.require(")")?;
        let [per_element, swizzle_len, atom_len] = numbers;
        Swizzle::new(per_element, swizzle_len, atom_len, reading)
            .and_then(|swizzle| ComposeLayout::new(swizzle, tile))
            .map_err(|error| reader.problem_at(start, error.to_string()))
    }
}

/// How many elements a digit counts.
fn extent(reader: &mut Reader) -> Result<u64, NotationError> {
    let start = reader.next_at();
    let number = reader.number()?;
    u64::try_from(number).ok().filter(|&extent| extent > 0).ok_or_else(|| {
        reader.problem_at(start, format!("required an extent of at least 1, actual {number}"))
    })
}

/// A number and its axis.
fn strided(reader: &mut Reader) -> Result<(i64, TileAxis), NotationError> {
    let amount = reader.number()?;
    if !reader.passes("@") {
        return Ok((amount, TileAxis::Memory));
    }
    let start = reader.next_at();
    let name = reader.word();
    let axis = TileAxis::from_name(&name).ok_or_else(|| {
        let names = TileAxis::ALL.map(TileAxis::name);
        reader.problem_at(start, format!("required an axis: one of {}", names.join(", ")))
    })?;
    Ok((amount, axis))
}

/// One item, or several, in parentheses or up to one of the characters `closing`.
fn items<T>(
    reader: &mut Reader,
    item: impl Fn(&mut Reader) -> Result<T, NotationError>,
    closing: &str,
) -> Result<Vec<T>, NotationError> {
    let mut items = Vec::new();
    let inside = reader.passes("(");
    if inside && reader.passes(")") {
        return Ok(items);
    }
    items.push(item(reader)?);
    while reader.passes(",") {
        // A comma may end a list in parentheses, as in a tuple of one.
        if inside && reader.passes(")") {
            return Ok(items);
        }
        items.push(item(reader)?);
    }
    if inside {
        reader.require(")")?;
    } else {
        let next = reader.peek();
        if !closing.chars().any(|c| next == Some(c)) {
            return Err(reader.problem(format!("required `,` or one of `{closing}`")));
        }
    }
    Ok(items)
}

/// `[extents : strides]`.
fn iters(reader: &mut Reader) -> Result<Vec<Iter>, NotationError> {
    reader.require("[")?;
    let start = reader.next_at();
    let extents = items(reader, extent, ":]")?;
    let iters = if reader.passes(":") {
        let start = reader.next_at();
        let strides = items(reader, strided, "]")?;
        if strides.len() != extents.len() {
            return Err(reader.problem_at(
                start,
                format!("required {} strides, actual {}", extents.len(), strides.len()),
            ));
        }
        let pair = |(&extent, (stride, axis))| Iter::new(extent, stride, axis);
        extents.iter().zip(strides).map(pair).collect()
    } else {
        let rows = TileLayout::row_major(&extents);
        rows.map_err(|error| reader.problem_at(start, error.to_string()))?.shard().to_vec()
    };
    reader.require("]")?;
    Ok(iters)
}

impl TileLayout {
    /// Reads a tile layout that comes next in a text, and no further.
    ///
    /// # Errors
    /// At the first character that does not fit.
    pub fn read(reader: &mut Reader) -> Result<TileLayout, NotationError> {
        let start = reader.next_at();
        let mut shard: Option<Vec<Iter>> = None;
        let mut replica: Option<Vec<Iter>> = None;
        let mut offset = Vec::new();
        loop {
            let term = reader.next_at();
            if reader.passes("S") {
                if shard.replace(iters(reader)?).is_some() {
                    return Err(reader.problem_at(term, "required one `S[..]`, this is the second"));
                }
            } else if reader.passes("R") {
                if replica.replace(iters(reader)?).is_some() {
                    return Err(reader.problem_at(term, "required one `R[..]`, this is the second"));
                }
            } else if reader.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                let (amount, axis) = strided(reader)?;
                offset.push((axis, amount));
            } else {
                return Err(reader.problem("required `S[..]`, `R[..]` or an offset"));
            }
            if !reader.passes("+") {
                break;
            }
        }
        let Some(shard) = shard else {
            return Err(reader.problem_at(start, "required `S[..]` among the parts"));
        };
        TileLayout::new(shard, replica.unwrap_or_default(), offset)
            .map_err(|error| reader.problem_at(start, error.to_string()))
    }
}

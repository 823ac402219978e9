//! Pictures of layouts: registers by warp and lane, shared memory by bank, tensor memory by row and column.
//!
//! A tensor in registers is drawn as the tensor, with who holds each element; a tensor in memory as the memory, with what
//! is at each place. Small tensors have every element named; large ones are maps, with a corner of them enlarged.

mod memory;
mod registers;
mod tensor_memory;

use crate::layout_shown::{Places, Shown};
use crate::layout_svg::{Anchor, Drawing, Font, text_width};

/// Which elements are elsewhere in the other layout.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// One for each element; none at all without another layout.
    differ: Vec<bool>,
    /// The first of them.
    first: Option<u32>,
}

impl Marks {
    fn of(&self, element: u32) -> bool {
        self.differ.get(element as usize).copied().unwrap_or(false)
    }
}

/// An SVG document of one layout, or of two beside each other with what differs outlined.
///
/// # Errors
/// Why there is no picture; see [`Shown::places`].
pub fn picture(shown: &[Shown]) -> Result<String, String> {
    let mut places = Vec::new();
    for layout in shown {
        places.push(layout.places()?);
    }
    let marks = match &places[..] {
        [first, second] => {
            let elements = shown[0].elements();
            let (a, b) = (first.of_elements(elements), second.of_elements(elements));
            let differ: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a != b).collect();
            let first = differ.iter().position(|&differs| differs);
            Marks { first: first.and_then(|at| u32::try_from(at).ok()), differ }
        }
        _ => Marks::default(),
    };
    let mut sheet = Drawing::default();
    for (layout, places) in shown.iter().zip(&places) {
        let x = if sheet.width() > 0.0 { sheet.width() + 56.0 } else { 0.0 };
        sheet.place([x, 0.0], &panel(layout, places, &marks));
    }
    let titles: Vec<&str> = shown.iter().map(|layout| layout.title.as_str()).collect();
    Ok(sheet.document(&titles.join(" and ")))
}

/// One layout with its title and bases.
fn panel(shown: &Shown, places: &Places, marks: &Marks) -> Drawing {
    const LINE: f64 = 17.0;
    let shape = Shape::of(&shown.shape);
    let picture = match places {
        Places::Registers { holders, free_lanes, free_warps, .. } => {
            registers::draw(shape, holders, [*free_lanes, *free_warps], marks)
        }
        Places::Memory(memory) => memory::draw(shape, memory, shown.element_bits, marks),
        Places::TensorMemory(rows) => tensor_memory::draw(shape, rows, shown.element_bits, marks),
    };
    let mut drawing = Drawing::default();
    let room = picture.width().max(480.0);
    let mut y = 10.0;
    for line in wrapped(&shown.title, room, Font::bold(17.0)) {
        drawing.text([0.0, y], Anchor::Start, Font::bold(17.0), &line);
        y += 23.0;
    }
    let sizes: Vec<String> = shown.shape.iter().map(u32::to_string).collect();
    let copies = shown.copies();
    let times = if copies == 1 { "once".to_owned() } else { format!("{copies} times") };
    let blocks = match shown.blocks() {
        1 => String::new(),
        blocks => format!("; of {blocks} blocks, block 0 is shown"),
    };
    let summary = format!(
        "{} elements of {} bits, each held {times}{blocks}",
        if sizes.is_empty() { "1".to_owned() } else { sizes.join(" × ") },
        shown.element_bits
    );
    drawing.text([0.0, y], Anchor::Start, Font::faint(12.5), &summary);
    y += LINE + 2.0;
    for line in shown.lines() {
        for line in wrapped(&line, room, Font::mono(11.5)) {
            drawing.text([0.0, y], Anchor::Start, Font::mono(11.5), &line);
            y += LINE;
        }
    }
    drawing.place([0.0, y + 12.0], &picture);
    drawing
}

/// A text in lines that are no wider than `room`, broken at spaces.
fn wrapped(text: &str, room: f64, font: Font) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if !line.is_empty() && text_width(&format!("{line}{word}"), font) > room {
            lines.push(std::mem::take(&mut line));
            line.push_str("    ");
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A tensor as rows and columns: leading axes are rows; a tensor of one axis is broken into rows of 32.
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: u32,
    columns: u32,
    /// Whether the tensor has one axis alone.
    line: bool,
}

impl Shape {
    fn of(shape: &[u32]) -> Shape {
        match shape {
            [] => Shape { rows: 1, columns: 1, line: true },
            [only] => {
                // Rows of the last one may end early; places beyond hold nothing.
                let columns = (*only).clamp(1, 32);
                Shape { rows: only.div_ceil(columns), columns, line: true }
            }
            [leading @ .., last] => {
                Shape { rows: leading.iter().product(), columns: *last, line: false }
            }
        }
    }

    /// Row and column of an element.
    fn at(self, element: u32) -> [u32; 2] {
        [element / self.columns, element % self.columns]
    }

    /// An element as a label.
    fn label(self, element: u32) -> String {
        let [row, column] = self.at(element);
        if self.line { element.to_string() } else { format!("{row},{column}") }
    }
}

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

/// Rectangles of cells with the same key, found from the upper left; cells without a key are in none.
fn regions<K: PartialEq>(
    rows: usize,
    columns: usize,
    key: impl Fn(usize, usize) -> Option<K>,
) -> Vec<Region> {
    let mut taken = vec![false; rows * columns];
    let mut found = Vec::new();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let own = key(row, column);
        if own.is_none() || taken[row * columns + column] {
            continue;
        }
        let fits = |r: usize, c: usize, taken: &[bool]| !taken[r * columns + c] && key(r, c) == own;
        let width = (column..columns).take_while(|&c| fits(row, c, &taken)).count();
        let height = (row..rows)
            .take_while(|&r| (column..column + width).all(|c| fits(r, c, &taken)))
            .count();
        for r in row..row + height {
            taken[r * columns + column..r * columns + column + width].fill(true);
        }
        found.push(Region { row, column, rows: height, columns: width });
    }
    found
}

/// A count as a coordinate.
fn px(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// A step between numbers along an edge, so that neighbours stand at least `room` pixels apart.
fn step(cell: f64, room: f64) -> usize {
    let mut step = 1;
    while px(step) * cell < room {
        step *= 2;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_rectangles_of_one_key() {
        let picture = ["aab", "aab", "c.b"];
        let found = regions(3, 3, |row, column| {
            Some(picture[row].as_bytes()[column]).filter(|&letter| letter != b'.')
        });
        let region = |row, column, rows, columns| Region { row, column, rows, columns };
        assert_eq!(found, [region(0, 0, 2, 2), region(0, 2, 3, 1), region(2, 0, 1, 1)]);
    }

    #[test]
    fn long_texts_are_broken_at_spaces() {
        let font = Font::plain(10.0);
        assert_eq!(wrapped("one two three", 50.0, font), ["one two ", "    three"]);
        assert_eq!(wrapped("unbreakable", 1.0, font), ["unbreakable"]);
    }
}

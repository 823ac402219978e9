//! A tensor in tensor memory: 128 rows, of which each of four warps has 32, by columns.

use super::{Marks, Region, Shape, px, regions, step};
use crate::layout_svg::{Anchor, DIFFERENCE, Drawing, Font, Tiles, colour, text_width};

/// The room for rows at the left and for columns above.
const MARGIN: [f64; 2] = [118.0, 40.0];
/// The height of a row.
const ROW: f64 = 6.0;
/// The colour of places that hold nothing.
const EMPTY: &str = "#eceff1";

/// The memory; colours are rows of the tensor, so that copies have the same.
pub(super) fn draw(
    shape: Shape,
    memory: &[Vec<Option<u32>>],
    element_bits: u32,
    marks: &Marks,
) -> Drawing {
    let columns = memory.first().map_or(0, Vec::len);
    let width = (880.0 / px(columns.max(1))).clamp(1.0, 56.0);
    let cell = |row: usize, column: usize| memory[row][column].map(|element| shape.at(element));
    // Places beside one another that hold elements beside one another.
    let blocks = regions(memory.len(), columns, |row, column| {
        let [r, c] = cell(row, column)?.map(i64::from);
        // The quarters of the warps stay apart: no access of a warp leaves its own.
        let down = r - i64::try_from(row).ok()?;
        Some((row / 32, down, c - i64::try_from(column).ok()?))
    });
    let narrow = blocks.iter().any(|block| block.rows == 16);
    let band = if narrow { 16 } else { 32 };
    let mut tiles = Tiles::default();
    for row in 0..memory.len() {
        let paint = |column: usize| {
            cell(row, column).map_or_else(
                || EMPTY.to_owned(),
                |[r, c]| {
                    let part = f64::from(c * 12 / shape.columns.max(1)) / 12.0;
                    colour(r / band, 0.22 + 0.5 * part)
                },
            )
        };
        let mut start = 0;
        while start < columns {
            let own = paint(start);
            let run = (start..columns).take_while(|&column| paint(column) == own).count();
            let at = [MARGIN[0] + px(start) * width, MARGIN[1] + px(row) * ROW];
            tiles.add(&own, at[0], at[1], px(run) * width, ROW);
            start += run;
        }
    }
    let mut drawing = Drawing::default();
    drawing.tiles(&tiles);
    let size = [px(columns) * width, px(memory.len()) * ROW];
    for &block in &blocks {
        label(&mut drawing, block, width, cell(block.row, block.column));
    }
    for quarter in 0..4_usize {
        let y = MARGIN[1] + 32.0 * ROW * px(quarter);
        if quarter > 0 {
            let end = [MARGIN[0] + size[0], y];
            drawing.line([MARGIN[0], y], end, "#1f2933", 1.6);
            // The number of the row stands in between.
            drawing.line([0.0, y], [MARGIN[0] - 32.0, y], "#1f2933", 1.6);
        }
        let middle = y + 16.0 * ROW;
        let name = format!("warp {quarter}");
        drawing.text([0.0, middle - 9.0], Anchor::Start, Font::bold(14.0), &name);
        let lanes = format!("rows {}–{}", 32 * quarter, 32 * quarter + 31);
        drawing.text([0.0, middle + 9.0], Anchor::Start, Font::faint(11.5), &lanes);
    }
    drawing.rect([MARGIN[0], MARGIN[1]], size, "none", ("#52606d", 1.2));
    edges(&mut drawing, columns, width, element_bits);
    outline(&mut drawing, shape, memory, width, marks);
    let mut y = drawing.height() + 22.0;
    let words = (columns * element_bits as usize).div_ceil(32);
    let reading = format!(
        "rows by columns of tensor memory, {words} columns of 32 bits; labels and colours are rows and columns of the tensor"
    );
    drawing.text([MARGIN[0], y], Anchor::Start, Font::plain(12.0), &reading);
    if memory.iter().flatten().any(Option::is_none) {
        y += 20.0;
        drawing.rect([MARGIN[0], y - 7.0], [14.0, 14.0], EMPTY, ("#9aa5b1", 0.8));
        let text = "holds nothing of the tensor";
        drawing.text([MARGIN[0] + 20.0, y], Anchor::Start, Font::plain(12.0), text);
    }
    drawing
}

/// Numbers of rows and columns along the edges.
fn edges(drawing: &mut Drawing, columns: usize, width: f64, element_bits: u32) {
    let head = if element_bits < 32 { "column (elements)" } else { "column" };
    drawing.text([MARGIN[0] - 12.0, 26.0], Anchor::End, Font::faint(11.0), head);
    for column in (0..columns).step_by(step(width, 30.0)) {
        let x = MARGIN[0] + (px(column) + 0.5) * width;
        drawing.text([x, 26.0], Anchor::Middle, Font::faint(10.5), &column.to_string());
    }
    for row in (0..128_usize).step_by(8) {
        let y = MARGIN[1] + (px(row) + 0.5) * ROW;
        drawing.text([MARGIN[0] - 6.0, y], Anchor::End, Font::faint(9.5), &row.to_string());
    }
}

/// A frame around a block, and which part of the tensor it is.
fn label(drawing: &mut Drawing, block: Region, width: f64, first: Option<[u32; 2]>) {
    let Some([row, column]) = first else { return };
    let at = [MARGIN[0] + px(block.column) * width, MARGIN[1] + px(block.row) * ROW];
    let size = [px(block.columns) * width, px(block.rows) * ROW];
    if size[0] >= 8.0 {
        drawing.rect(at, size, "none", ("#ffffff", 1.0));
    }
    let range = |from: u32, count: usize| {
        let last = from + u32::try_from(count - 1).unwrap_or(0);
        if count == 1 { from.to_string() } else { format!("{from}–{last}") }
    };
    let (rows, columns) = (range(row, block.rows), range(column, block.columns));
    let middle = [at[0] + size[0] / 2.0, at[1] + size[1] / 2.0];
    let font = Font::bold(12.5);
    let long = format!("rows {rows}, columns {columns}");
    let lines = [format!("rows {rows}"), format!("columns {columns}")];
    if text_width(&long, font) + 10.0 <= size[0] && size[1] >= 16.0 {
        drawing.label(middle, font, &long);
    } else if text_width(&lines[1], Font::bold(11.0)) <= size[0] && size[1] >= 30.0 {
        drawing.label([middle[0], middle[1] - 8.0], Font::bold(11.0), &lines[0]);
        drawing.label([middle[0], middle[1] + 8.0], Font::bold(11.0), &lines[1]);
    } else {
        let short = [rows, columns];
        let widest = short.iter().map(|line| text_width(line, Font::bold(1.0))).fold(1.0, f64::max);
        let fits = ((size[0] - 2.0) / widest).min(10.5);
        if fits >= 7.0 && size[1] >= 26.0 {
            drawing.label([middle[0], middle[1] - 7.0], Font::bold(fits), &short[0]);
            drawing.label([middle[0], middle[1] + 7.0], Font::bold(fits), &short[1]);
        }
    }
}

/// Red lines around what the other layout has elsewhere; a thick one around the first.
fn outline(
    drawing: &mut Drawing,
    shape: Shape,
    memory: &[Vec<Option<u32>>],
    width: f64,
    marks: &Marks,
) {
    let columns = memory.first().map_or(0, Vec::len);
    let found = regions(memory.len(), columns, |row, column| {
        memory[row][column].filter(|&element| marks.of(element)).map(|_| ())
    });
    for Region { row, column, rows, columns } in found {
        let at = [MARGIN[0] + px(column) * width, MARGIN[1] + px(row) * ROW];
        drawing.rect(at, [px(columns) * width, px(rows) * ROW], "none", (DIFFERENCE, 1.5));
    }
    let Some(first) = marks.first else { return };
    for (row, cells) in memory.iter().enumerate() {
        if let Some(column) = cells.iter().position(|&element| element == Some(first)) {
            let at = [MARGIN[0] + px(column) * width - 2.0, MARGIN[1] + px(row) * ROW - 2.0];
            drawing.rect(at, [width + 4.0, ROW + 4.0], "none", (DIFFERENCE, 3.0));
            let text = format!("first difference: {}", shape.label(first));
            drawing.text(
                [MARGIN[0], 6.0],
                Anchor::Start,
                Font { colour: DIFFERENCE, ..Font::bold(12.0) },
                &text,
            );
            return;
        }
    }
}

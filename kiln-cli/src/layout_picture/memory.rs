//! A tensor in shared memory: one line for 128 bytes, that is, for the 32 banks.

use super::{Marks, Shape, px};
use crate::layout_svg::{Anchor, DIFFERENCE, Drawing, Font, colour, text_width};

/// The bytes of all banks together.
const LINE_BYTES: usize = 128;
/// The bytes that an access of a lane moves at most, and that a swizzle leaves together.
const CHUNK_BYTES: usize = 16;
/// More lines than that are no picture.
const MOST_LINES: usize = 512;
/// The room for addresses at the left and for banks above.
const MARGIN: [f64; 2] = [52.0, 36.0];
const CHUNK_WIDTH: f64 = 76.0;

/// Consecutive places with consecutive elements.
struct Run {
    /// The first place within the line.
    at: usize,
    /// How many.
    length: usize,
    /// The first element; nothing where places are empty.
    element: Option<u32>,
    /// Whether the elements follow one another along rows, not columns.
    down: bool,
}

/// The memory, line by line; many lines stand in several columns.
pub(super) fn draw(
    shape: Shape,
    memory: &[Option<u32>],
    element_bits: u32,
    marks: &Marks,
) -> Drawing {
    let bits = element_bits as usize;
    let (per_line, per_chunk) = (LINE_BYTES * 8 / bits, CHUNK_BYTES * 8 / bits);
    let lines = memory.len().div_ceil(per_line);
    let shown = lines.min(MOST_LINES);
    let per_panel = if shown <= 32 { 32 } else { 64.min(shown.div_ceil(2).next_multiple_of(8)) };
    let height = if shown <= 16 { 26.0 } else { 19.0 };
    let cell = CHUNK_WIDTH / px(per_chunk);
    let mut drawing = Drawing::default();
    for (panel, lines) in (0..shown).collect::<Vec<_>>().chunks(per_panel).enumerate() {
        let x = MARGIN[0] + px(panel) * (8.0 * CHUNK_WIDTH + MARGIN[0] + 22.0);
        banks(&mut drawing, x);
        for (place, &line) in lines.iter().enumerate() {
            let y = MARGIN[1] + px(place) * height;
            let address = (line * LINE_BYTES).to_string();
            drawing.text([x - 7.0, y + height / 2.0], Anchor::End, Font::faint(10.5), &address);
            let end = memory.len().min((line + 1) * per_line);
            let places = &memory[line * per_line..end];
            for run in runs(shape, places, per_chunk) {
                let corner = [x + px(run.at) * cell, y];
                let size = [px(run.length) * cell, height];
                draw_run(&mut drawing, shape, &run, per_chunk, [corner, size]);
                outline(&mut drawing, &places[run.at..run.at + run.length], marks, [corner, size]);
            }
        }
        let size = [8.0 * CHUNK_WIDTH, px(lines.len()) * height];
        for chunk in 0..=8 {
            let at = x + px(chunk) * CHUNK_WIDTH;
            drawing.line([at, MARGIN[1]], [at, MARGIN[1] + size[1]], "#ffffff", 1.2);
        }
        drawing.rect([x, MARGIN[1]], size, "none", ("#52606d", 1.2));
    }
    notes(&mut drawing, shape, memory, element_bits, [lines, shown]);
    drawing
}

/// What is written below: how to read it, and what reading a column of chunks costs.
fn notes(
    drawing: &mut Drawing,
    shape: Shape,
    memory: &[Option<u32>],
    element_bits: u32,
    [lines, shown]: [usize; 2],
) {
    let mut y = drawing.height() + 22.0;
    let mut note = |text: &str, font| {
        drawing.text([MARGIN[0], y], Anchor::Start, font, text);
        y += 19.0;
    };
    let what = if shape.line { "elements" } else { "row, columns" };
    note(
        &format!("a line is 128 bytes, 4 in each bank; {what} of the tensor; addresses in bytes"),
        Font::plain(12.0),
    );
    if lines > shown {
        note(&format!("the first {shown} of {lines} lines"), Font::plain(12.0));
    }
    if let Some((rows, passes)) = column_of_chunks(shape, memory, element_bits) {
        let plural = if passes == 1 { "pass: no bank conflict" } else { "passes: bank conflicts" };
        note(
            &format!("16 bytes of each of {rows}, as ldmatrix reads them: {passes} {plural}"),
            Font::bold(12.5),
        );
    }
}

/// The banks above a column of lines, four to a chunk.
fn banks(drawing: &mut Drawing, x: f64) {
    drawing.text([x - 7.0, 9.0], Anchor::End, Font::faint(10.5), "banks");
    for chunk in 0..8_usize {
        let at = x + (px(chunk) + 0.5) * CHUNK_WIDTH;
        let name = format!("{}–{}", 4 * chunk, 4 * chunk + 3);
        drawing.text([at, 9.0], Anchor::Middle, Font::plain(11.5), &name);
        for bank in 0..4_usize {
            let left = x + (px(chunk) + px(bank) / 4.0) * CHUNK_WIDTH;
            let grey = if bank % 2 == 0 { "#cbd2d9" } else { "#e4e7eb" };
            drawing.rect([left, 22.0], [CHUNK_WIDTH / 4.0, 8.0], grey, ("none", 0.0));
        }
    }
}

/// The runs of a line, none of which crosses a chunk.
fn runs(shape: Shape, places: &[Option<u32>], per_chunk: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, &element) in places.iter().enumerate() {
        if let Some(run) = runs.last_mut()
            && at % per_chunk != 0
        {
            let further = u32::try_from(run.length).unwrap_or(0);
            match (run.element, element) {
                (None, None) => {
                    run.length += 1;
                    continue;
                }
                (Some(first), Some(next)) => {
                    let across = first + further == next && shape.at(first)[0] == shape.at(next)[0];
                    let down = first + further * shape.columns == next && !shape.line;
                    if (across && !(run.down && run.length > 1))
                        || (down && (run.down || run.length == 1))
                    {
                        run.down = down && !across;
                        run.length += 1;
                        continue;
                    }
                }
                (Some(_), None) | (None, Some(_)) => {}
            }
        }
        runs.push(Run { at, length: 1, element, down: false });
    }
    runs
}

fn draw_run(
    drawing: &mut Drawing,
    shape: Shape,
    run: &Run,
    per_chunk: usize,
    [corner, size]: [[f64; 2]; 2],
) {
    let Some(first) = run.element else {
        drawing.rect(corner, size, "#f1f3f5", ("#cbd2d9", 0.5));
        let middle = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0];
        if size[0] >= 40.0 {
            drawing.text(middle, Anchor::Middle, Font::faint(9.5), "empty");
        }
        return;
    };
    let [row, column] = shape.at(first);
    // The colour says which chunk of the tensor's row it is, so that a swizzle is a diagonal.
    let (along, other) = if run.down { (row, column) } else { (column, row) };
    let chunk = along / u32::try_from(per_chunk).unwrap_or(1);
    let shade = 0.34 + 0.36 * f64::from(other % 8) / 7.0;
    drawing.rect(corner, size, &colour(chunk, shade), ("#ffffff", 0.7));
    let last = u32::try_from(run.length - 1).unwrap_or(0);
    let range = |from: u32| {
        if run.length == 1 { from.to_string() } else { format!("{from}–{}", from + last) }
    };
    let text = match (shape.line, run.down) {
        (true, _) => range(first),
        (false, false) => format!("{row}, {}", range(column)),
        (false, true) => format!("{}, {column}", range(row)),
    };
    let fits = (size[0] - 4.0) / text_width(&text, Font::plain(1.0));
    if fits >= 6.0 {
        let middle = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0];
        drawing.text(middle, Anchor::Middle, Font::plain(fits.min(11.0)), &text);
    }
}

/// A red line around a run of which the other layout has something elsewhere; a thick one around the first.
fn outline(
    drawing: &mut Drawing,
    places: &[Option<u32>],
    marks: &Marks,
    [corner, size]: [[f64; 2]; 2],
) {
    let mut elements = places.iter().flatten();
    if elements.clone().any(|&element| marks.of(element)) {
        let first = elements.any(|&element| marks.first == Some(element));
        let inner = [size[0] - 2.0, size[1] - 2.0];
        let width = if first { 3.5 } else { 1.2 };
        drawing.rect([corner[0] + 1.0, corner[1] + 1.0], inner, "none", (DIFFERENCE, width));
    }
}

/// In how many passes the first 16 bytes of eight rows are read, or of eight columns where those are contiguous.
fn column_of_chunks(
    shape: Shape,
    memory: &[Option<u32>],
    element_bits: u32,
) -> Option<(&'static str, usize)> {
    let per_chunk = CHUNK_BYTES * 8 / element_bits as usize;
    let place = |element: u32| memory.iter().position(|&other| other == Some(element));
    let down = !shape.line
        && place(0).zip(place(shape.columns)).is_some_and(|(first, next)| next == first + 1);
    let (lines, unit) = if down { (shape.columns, 1) } else { (shape.rows, shape.columns) };
    if shape.line || lines < 8 || per_chunk < 2 {
        return None;
    }
    let mut groups = [0; 8];
    for line in 0..8 {
        let at = place(line * unit)?;
        if !at.is_multiple_of(per_chunk) {
            return None;
        }
        groups[at / per_chunk % 8] += 1;
    }
    let what = if down { "columns 0 to 7" } else { "rows 0 to 7" };
    Some((what, groups.into_iter().max().unwrap_or(1)))
}

//! A tensor in registers: the warp is the colour, with lines over it from the ninth warp on, the lane its shade.

use std::fmt::Write;

use super::{Marks, Region, Shape, px, regions, step};
use crate::layout_shown::Holder;
use crate::layout_svg::{Anchor, DIFFERENCE, Drawing, Font, Tiles, colour, hatch, text_width};

/// The colour of what another block of the cluster holds, or no block.
const ELSEWHERE: &str = "#dfe4e8";

/// How a part of the tensor is drawn.
#[derive(Clone, Copy)]
struct Cells {
    /// The part.
    region: Region,
    width: f64,
    height: f64,
    /// Whether every element is named.
    named: bool,
}

struct Picture<'a> {
    shape: Shape,
    holders: &'a [Option<Holder>],
    free_lanes: u32,
    marks: &'a Marks,
}

/// The tensor; `free` are the bits of lane and warp that make no difference.
pub(super) fn draw(
    shape: Shape,
    holders: &[Option<Holder>],
    free: [u32; 2],
    marks: &Marks,
) -> Drawing {
    let [free_lanes, free_warps] = free;
    let picture = Picture { shape, holders, free_lanes, marks };
    let (rows, columns) = (shape.rows as usize, shape.columns as usize);
    let whole = Region { row: 0, column: 0, rows, columns };
    let mut drawing = Drawing::default();
    if rows <= 32 && columns <= 16 {
        let cells = Cells { region: whole, width: 56.0, height: 36.0, named: true };
        picture.cells(&mut drawing, [0.0, 0.0], cells);
    } else if rows <= 64 && columns <= 32 {
        let cells = Cells { region: whole, width: 44.0, height: 22.0, named: true };
        picture.cells(&mut drawing, [0.0, 0.0], cells);
    } else {
        let room = |count: usize| (896.0 / px(count)).clamp(2.0, 14.0);
        let cell = room(rows.max(columns));
        let map = Cells { region: whole, width: cell, height: cell, named: false };
        picture.cells(&mut drawing, [0.0, 0.0], map);
        picture.warps(&mut drawing, cell);
        let corner = Region { row: 0, column: 0, rows: rows.min(16), columns: columns.min(16) };
        let x = drawing.width() + 40.0;
        let title = format!("the first {} × {} elements", corner.rows, corner.columns);
        drawing.text([x + 26.0, 6.0], Anchor::Start, Font::bold(13.0), &title);
        let cells = Cells { region: corner, width: 46.0, height: 30.0, named: true };
        picture.cells(&mut drawing, [x, 20.0], cells);
        // Where the corner is in the map.
        let size = [px(corner.columns) * cell, px(corner.rows) * cell];
        drawing.rect([MARGIN[0], MARGIN[1]], size, "none", ("#1f2933", 1.6));
    }
    picture.legend(&mut drawing, free_warps);
    drawing
}

/// The room for numbers along the left and upper edges.
const MARGIN: [f64; 2] = [34.0, 20.0];

/// The colour of a cell.
fn shade(holder: Option<Holder>, named: bool) -> String {
    // Names are written over the colour, so it is lighter there.
    let (from, to) = if named { (0.42, 0.80) } else { (0.10, 0.70) };
    match holder {
        Some(Holder { block: 0, warp, lane, .. }) => {
            colour(warp, from + (to - from) * f64::from(lane) / 31.0)
        }
        Some(_) | None => ELSEWHERE.to_owned(),
    }
}

/// The lines over a cell.
fn lines(holder: Option<Holder>) -> Option<&'static str> {
    holder.filter(|holder| holder.block == 0).and_then(|holder| hatch(holder.warp))
}

impl Picture<'_> {
    fn element(&self, row: usize, column: usize) -> usize {
        row * self.shape.columns as usize + column
    }

    fn holder(&self, row: usize, column: usize) -> Option<Holder> {
        self.holders.get(self.element(row, column)).copied().flatten()
    }

    fn cells(&self, drawing: &mut Drawing, at: [f64; 2], cells: Cells) {
        let Cells { region, width, height, named } = cells;
        let origin = [at[0] + MARGIN[0], at[1] + MARGIN[1]];
        let mut tiles = Tiles::default();
        for row in 0..region.rows {
            let mut start = 0;
            while start < region.columns {
                let paint = |column| {
                    let holder = self.holder(region.row + row, region.column + column);
                    (shade(holder, named), lines(holder))
                };
                let own = paint(start);
                let run =
                    (start..region.columns).take_while(|&column| paint(column) == own).count();
                let [x, y] = [origin[0] + px(start) * width, origin[1] + px(row) * height];
                for fill in std::iter::once(own.0.as_str()).chain(own.1) {
                    tiles.add(fill, x, y, px(run) * width, height);
                }
                start += run;
            }
        }
        drawing.tiles(&tiles);
        let size = [px(region.columns) * width, px(region.rows) * height];
        let thread = |row: usize, column: usize| {
            let holder = self.holder(region.row + row, region.column + column);
            holder.map(|holder| (holder.block, holder.warp, holder.lane))
        };
        // Lines between threads; in named cells, faint ones between registers.
        let mut path = String::new();
        for (row, column) in (0..region.rows).flat_map(|r| (0..region.columns).map(move |c| (r, c)))
        {
            let (x, y) = (origin[0] + px(column) * width, origin[1] + px(row) * height);
            if column > 0 && thread(row, column) != thread(row, column - 1) {
                let _infallible = write!(path, "M{x:.1} {y:.1}v{height:.1}");
            }
            if row > 0 && thread(row, column) != thread(row - 1, column) {
                let _infallible = write!(path, "M{x:.1} {y:.1}h{width:.1}");
            }
        }
        if named {
            for column in 1..region.columns {
                let x = origin[0] + px(column) * width;
                drawing.line([x, origin[1]], [x, origin[1] + size[1]], "#ffffff", 0.8);
            }
            for row in 1..region.rows {
                let y = origin[1] + px(row) * height;
                drawing.line([origin[0], y], [origin[0] + size[0], y], "#ffffff", 0.8);
            }
            drawing.path(&path, "#52606d", 1.1);
        } else if width >= 5.0 {
            drawing.path(&path, "#ffffff", 0.5);
        }
        drawing.rect(origin, size, "none", ("#52606d", 1.2));
        self.edges(drawing, origin, cells);
        if named {
            self.names(drawing, origin, cells);
        }
        self.outline(drawing, origin, cells);
    }

    /// Numbers along the edges.
    fn edges(&self, drawing: &mut Drawing, origin: [f64; 2], cells: Cells) {
        let Cells { region, width, height, .. } = cells;
        for column in (0..region.columns).step_by(step(width, 26.0)) {
            let x = origin[0] + (px(column) + 0.5) * width;
            let text = (region.column + column).to_string();
            drawing.text([x, origin[1] - 9.0], Anchor::Middle, Font::faint(10.5), &text);
        }
        for row in (0..region.rows).step_by(step(height, 14.0)) {
            let y = origin[1] + (px(row) + 0.5) * height;
            // Of a tensor of one axis the number is that of the row's first element.
            let unit = if self.shape.line { self.shape.columns as usize } else { 1 };
            let text = ((region.row + row) * unit).to_string();
            drawing.text([origin[0] - 6.0, y], Anchor::End, Font::faint(10.5), &text);
        }
    }

    fn names(&self, drawing: &mut Drawing, origin: [f64; 2], cells: Cells) {
        let Cells { region, width, height, .. } = cells;
        for (row, column) in (0..region.rows).flat_map(|r| (0..region.columns).map(move |c| (r, c)))
        {
            let Some(holder) = self.holder(region.row + row, region.column + column) else {
                continue;
            };
            let x = origin[0] + (px(column) + 0.5) * width;
            let y = origin[1] + (px(row) + 0.5) * height;
            let lane = match self.free_lanes {
                0 => format!("T{}", holder.lane),
                31 => "T0–31".to_owned(),
                _ => format!("T{}+", holder.lane),
            };
            let lane = if holder.block == 0 { lane } else { format!("b{} {lane}", holder.block) };
            let register = format!("r{}", holder.register);
            if height >= 28.0 {
                let size = if width >= 50.0 { 13.0 } else { 11.5 };
                let up = height * 0.18;
                drawing.text([x, y - up], Anchor::Middle, Font::bold(size), &lane);
                drawing.text([x, y + up], Anchor::Middle, Font::plain(size - 2.5), &register);
            } else {
                let text = format!("{lane} {register}");
                let fits = (width - 3.0) / text_width(&text, Font::plain(1.0));
                drawing.text([x, y], Anchor::Middle, Font::plain(fits.min(10.0)), &text);
            }
        }
    }

    /// Red lines around what the other layout has elsewhere; a thick one around the first.
    fn outline(&self, drawing: &mut Drawing, origin: [f64; 2], cells: Cells) {
        let Cells { region, width, height, .. } = cells;
        let found = regions(region.rows, region.columns, |row, column| {
            let element = self.element(region.row + row, region.column + column);
            u32::try_from(element).ok().filter(|&element| self.marks.of(element)).map(|_| ())
        });
        for Region { row, column, rows, columns } in found {
            let at = [origin[0] + px(column) * width, origin[1] + px(row) * height];
            let size = [px(columns) * width, px(rows) * height];
            drawing.rect(at, size, "none", (DIFFERENCE, 1.5));
        }
        if let Some(first) = self.marks.first {
            let [row, column] = self.shape.at(first).map(|part| part as usize);
            if row < region.rows && column < region.columns {
                let at = [origin[0] + px(column) * width, origin[1] + px(row) * height];
                drawing.rect(at, [width, height], "none", (DIFFERENCE, 3.5));
            }
        }
    }

    /// The warps' names in the map.
    fn warps(&self, drawing: &mut Drawing, cell: f64) {
        let (rows, columns) = (self.shape.rows as usize, self.shape.columns as usize);
        let found = regions(rows, columns, |row, column| {
            self.holder(row, column).map(|holder| (holder.block, holder.warp))
        });
        if found.len() > 128 {
            return;
        }
        for Region { row, column, rows, columns } in found {
            let (width, height) = (px(columns) * cell, px(rows) * cell);
            let Some(holder) = self.holder(row, column) else { continue };
            let long = format!("warp {}", holder.warp);
            let short = format!("w{}", holder.warp);
            let font = Font::bold(if width > 90.0 && height > 30.0 { 15.0 } else { 11.0 });
            let text = if text_width(&long, font) + 8.0 <= width { long } else { short };
            if text_width(&text, font) <= width && font.size <= height {
                let x = MARGIN[0] + px(column) * cell + width / 2.0;
                let y = MARGIN[1] + px(row) * cell + height / 2.0;
                drawing.label([x, y], font, &text);
            }
        }
    }

    fn legend(&self, drawing: &mut Drawing, free_warps: u32) {
        let mut warps: Vec<u32> = self
            .holders
            .iter()
            .flatten()
            .filter(|holder| holder.block == 0)
            .map(|h| h.warp)
            .collect();
        warps.sort_unstable();
        warps.dedup();
        let mut y = drawing.height() + 22.0;
        let mut x = MARGIN[0];
        for &warp in warps.iter().take(32) {
            for fill in std::iter::once(colour(warp, 0.25).as_str()).chain(hatch(warp)) {
                drawing.rect([x, y - 7.0], [14.0, 14.0], fill, ("none", 0.0));
            }
            let name = format!("warp {warp}");
            drawing.text([x + 19.0, y], Anchor::Start, Font::plain(12.0), &name);
            x += 82.0;
            if x > 620.0 {
                x = MARGIN[0];
                y += 21.0;
            }
        }
        if x > MARGIN[0] {
            y += 21.0;
        }
        let mut x = MARGIN[0];
        for lane in 0..32 {
            let shade =
                colour(warps.first().copied().unwrap_or(0), 0.42 + 0.38 * f64::from(lane) / 31.0);
            drawing.rect([x, y - 7.0], [4.0, 14.0], &shade, ("none", 0.0));
            x += 4.0;
        }
        let mut notes = vec!["T: lane, 0 dark to 31 light; r: register".to_owned()];
        if self.free_lanes == 31 {
            notes.push("all lanes of a warp hold the same".to_owned());
        } else if self.free_lanes != 0 {
            let held = 1 << self.free_lanes.count_ones();
            notes.push(format!("T+: {held} lanes hold the same"));
        }
        if free_warps != 0 {
            let held = 1 << free_warps.count_ones();
            notes.push(format!("{held} warps hold the same; the first is shown"));
        }
        drawing.text([x + 10.0, y], Anchor::Start, Font::plain(12.0), &notes.join(" · "));
    }
}

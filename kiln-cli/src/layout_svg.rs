//! SVG written by hand: shapes, texts and colours of the pictures of layouts.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A drawing that grows with what is put into it.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    body: String,
    width: f64,
    height: f64,
}

/// How a text stands at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// The looks of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Its height in pixels.
    pub size: f64,
    /// Whether it is bold.
    pub bold: bool,
    /// Whether all characters are equally wide.
    pub mono: bool,
    /// Its colour.
    pub colour: &'static str,
}

impl Font {
    /// Plain text of that height.
    pub const fn plain(size: f64) -> Font {
        Font { size, bold: false, mono: false, colour: INK }
    }

    /// Emphasised text of that height.
    pub const fn bold(size: f64) -> Font {
        Font { bold: true, ..Font::plain(size) }
    }

    /// Text in which columns line up.
    pub const fn mono(size: f64) -> Font {
        Font { mono: true, ..Font::plain(size) }
    }

    /// Text that stands back.
    pub const fn faint(size: f64) -> Font {
        Font { colour: FAINT, ..Font::plain(size) }
    }
}

/// The colour of text.
pub const INK: &str = "#1f2933";
/// The colour of numbers along edges.
pub const FAINT: &str = "#68737d";
/// The colour of what differs.
pub const DIFFERENCE: &str = "#d0021b";

/// Rectangles of many fills, drawn as one path for each: colours first, then lines over them.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    paths: BTreeMap<String, String>,
}

impl Tiles {
    /// A rectangle filled with a colour.
    pub fn add(&mut self, colour: &str, x: f64, y: f64, width: f64, height: f64) {
        let path = self.paths.entry(colour.to_owned()).or_default();
        let (x, y, w, h) = (number(x), number(y), number(width), number(height));
        let _infallible = write!(path, "M{x} {y}h{w}v{h}h-{w}z");
    }
}

/// A number with at most two digits after the point.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text without the characters that mean something in XML.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            // XML has no other control characters.
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

impl Drawing {
    fn reach(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// The right edge of what is drawn.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The lower edge of what is drawn.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// A rectangle; `fill` and `stroke` are colours or `none`.
    pub fn rect(&mut self, at: [f64; 2], size: [f64; 2], fill: &str, stroke: (&str, f64)) {
        let [x, y, w, h] = [at[0], at[1], size[0], size[1]].map(number);
        let (colour, width) = (stroke.0, number(stroke.1));
        let _infallible = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>"
        );
        self.reach(at[0] + size[0], at[1] + size[1]);
    }

    /// A straight line.
    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: &str, width: f64) {
        let [x1, y1, x2, y2] = [from[0], from[1], to[0], to[1]].map(number);
        let width = number(width);
        let _infallible = writeln!(
            self.body,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        );
    }

    /// Rectangles of many colours.
    pub fn tiles(&mut self, tiles: &Tiles) {
        for (colour, path) in &tiles.paths {
            let _infallible = writeln!(self.body, "<path fill=\"{colour}\" d=\"{path}\"/>");
        }
    }

    /// A text whose middle is at the height of its point.
    pub fn text(&mut self, at: [f64; 2], anchor: Anchor, font: Font, text: &str) {
        let anchor_name = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (weight, family) = (
            if font.bold { " font-weight=\"600\"" } else { "" },
            if font.mono {
                " xml:space=\"preserve\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\""
            } else {
                ""
            },
        );
        // A third of the height below the middle is where letters stand.
        let [x, y] = [at[0], at[1] + font.size * 0.35].map(number);
        let _infallible = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor_name}\" fill=\"{}\"{weight}{family}>{}\
             </text>",
            number(font.size),
            font.colour,
            escaped(text)
        );
        if anchor == Anchor::Start {
            self.reach(at[0] + text_width(text, font), at[1] + font.size);
        }
    }

    /// Lines along a path of the SVG notation.
    pub fn path(&mut self, path: &str, colour: &str, width: f64) {
        if !path.is_empty() {
            let _infallible = writeln!(
                self.body,
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"/>",
                escaped(path),
                number(width)
            );
        }
    }

    /// A text in the middle of its point, with a light rim so that it can be read over any colour.
    pub fn label(&mut self, at: [f64; 2], font: Font, text: &str) {
        let _infallible = writeln!(
            self.body,
            "<g stroke=\"#ffffff\" stroke-opacity=\"0.75\" stroke-width=\"3\" stroke-linejoin=\"round\" \
             paint-order=\"stroke\">"
        );
        self.text(at, Anchor::Middle, font, text);
        self.body.push_str("</g>\n");
    }

    /// Another drawing, moved.
    pub fn place(&mut self, at: [f64; 2], other: &Drawing) {
        let [x, y] = at.map(number);
        let _infallible =
            writeln!(self.body, "<g transform=\"translate({x} {y})\">\n{}</g>", other.body);
        self.reach(at[0] + other.width, at[1] + other.height);
    }

    /// The document, with a margin around what is drawn.
    pub fn document(&self, title: &str) -> String {
        const MARGIN: f64 = 24.0;
        let [w, h] = [self.width, self.height].map(|size| number((size + 2.0 * MARGIN).ceil()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n\
             <title>{}</title>\n{}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <g transform=\"translate({MARGIN} {MARGIN})\">\n{}</g>\n</svg>\n",
            escaped(title),
            definitions(&self.body),
            self.body
        )
    }
}

/// About how wide a text is.
pub fn text_width(text: &str, font: Font) -> f64 {
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    f64::from(letters) * font.size * if font.mono { 0.61 } else { 0.57 }
}

/// Colours that can be told apart, for warps and columns.
const PALETTE: [[u8; 3]; 8] = [
    [66, 133, 190],
    [240, 142, 43],
    [89, 161, 79],
    [225, 87, 89],
    [160, 110, 175],
    [55, 170, 165],
    [220, 180, 50],
    [150, 115, 95],
];

/// A colour of the palette, lightened: 0 is full, 1 white.
pub fn colour(index: u32, light: f64) -> String {
    let [r, g, b] = PALETTE[index as usize % PALETTE.len()];
    let mix = |part: u8| {
        let part = f64::from(part);
        part + (255.0 - part) * light.clamp(0.0, 1.0)
    };
    format!("#{:02x}{:02x}{:02x}", byte(mix(r)), byte(mix(g)), byte(mix(b)))
}

/// Lines over a colour that tell apart what the palette cannot: its first round has none, and each of the next three its own. What
/// it gives is a fill that [`Drawing::document`] defines.
pub fn hatch(index: u32) -> Option<&'static str> {
    let round = index as usize / PALETTE.len() % (HATCHES.len() + 1);
    round.checked_sub(1).map(|hatch| HATCHES[hatch].0)
}

/// Fills with lines, and the path of the lines in a square of 8 by 8: rising, falling, and level.
const HATCHES: [(&str, &str); 3] = [
    ("url(#rising)", "M-1 1L1 -1M0 8L8 0M7 9L9 7"),
    ("url(#falling)", "M-1 7L1 9M0 0L8 8M7 -1L9 1"),
    ("url(#level)", "M0 2H8M0 6H8"),
];

/// The definitions of those fills that a drawing uses.
fn definitions(body: &str) -> String {
    let used = HATCHES.iter().filter(|(fill, _)| body.contains(fill));
    let patterns: Vec<String> = used
        .map(|(fill, path)| {
            let id = fill.trim_start_matches("url(#").trim_end_matches(')');
            format!(
                "<pattern id=\"{id}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
                 <path d=\"{path}\" fill=\"none\" stroke=\"{INK}\" stroke-opacity=\"0.3\" stroke-width=\"1\"/>\
                 </pattern>\n"
            )
        })
        .collect();
    if patterns.is_empty() {
        String::new()
    } else {
        format!("<defs>\n{}</defs>\n", patterns.concat())
    }
}

fn byte(value: f64) -> u32 {
    // Whole steps from 0 to 255, found without a cast that could lose anything.
    (0..=255_u32).find(|&step| f64::from(step) + 0.5 > value).unwrap_or(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let mut drawing = Drawing::default();
        drawing.text([0.0, 0.0], Anchor::Start, Font::plain(10.0), "a<b> & \"c\"\u{7}");
        let document = drawing.document("<title>");
        assert!(document.contains("a&lt;b&gt; &amp; &quot;c&quot; <"), "{document}");
        assert!(document.contains("<title>&lt;title&gt;</title>"), "{document}");
    }

    #[test]
    fn colours_go_from_full_to_white() {
        assert_eq!(colour(0, 0.0), "#4285be");
        assert_eq!(colour(3, 1.0), "#ffffff");
        assert_eq!(colour(8, 0.5), colour(0, 0.5));
    }

    #[test]
    fn colours_and_lines_tell_32_indices_apart() {
        let looks: std::collections::BTreeSet<(String, Option<&str>)> =
            (0..32).map(|index| (colour(index, 0.5), hatch(index))).collect();
        assert_eq!(looks.len(), 32);
        assert_eq!((hatch(7), hatch(8)), (None, Some("url(#rising)")));
    }

    #[test]
    fn lines_are_defined_where_they_are_used() {
        let mut drawing = Drawing::default();
        drawing.rect([0.0, 0.0], [8.0, 8.0], "#4285be", ("none", 0.0));
        assert!(!drawing.document("").contains("<defs>"));
        drawing.rect([0.0, 0.0], [8.0, 8.0], hatch(16).unwrap_or_default(), ("none", 0.0));
        let document = drawing.document("");
        assert!(document.contains("<pattern id=\"falling\"") && !document.contains("\"rising\""));
    }

    #[test]
    fn rectangles_of_one_colour_are_one_path() {
        let mut tiles = Tiles::default();
        tiles.add("#000000", 0.0, 0.0, 2.0, 1.5);
        tiles.add("#000000", 2.0, 0.0, 2.0, 1.5);
        let mut drawing = Drawing::default();
        drawing.tiles(&tiles);
        let path = "<path fill=\"#000000\" d=\"M0 0h2v1.5h-2zM2 0h2v1.5h-2z\"/>";
        assert!(drawing.document("").contains(path));
    }
}

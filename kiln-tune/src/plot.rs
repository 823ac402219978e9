//! A plot of costs: bars, as SVG.

use std::fmt::Write;

/// A bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) cost: f64,
    /// The text after the bar.
    pub(crate) text: String,
    pub(crate) is_best: bool,
}

/// Pixels of a bar's row, of a character of 12 pixels at most, and of the longest bar.
const ROW: usize = 22;
const CHARACTER: usize = 8;
const LONGEST: f64 = 420.0;

/// The picture.
#[expect(clippy::cast_precision_loss, reason = "pixels are few")]
pub(crate) fn svg(title: &str, bars: &[Bar]) -> String {
    let longest = |text: fn(&Bar) -> &str| {
        bars.iter().map(|bar| text(bar).chars().count()).max().unwrap_or(0) * CHARACTER
    };
    let left = longest(|bar| &bar.label) + 2 * CHARACTER;
    let right = longest(|bar| &bar.text) + 3 * CHARACTER;
    let width = (left + 420 + right).max(title.chars().count() * (CHARACTER + 1) + 2 * CHARACTER);
    let height = (bars.len() + 2) * ROW;
    let most = bars.iter().map(|bar| bar.cost).fold(0.0, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{CHARACTER}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
        ROW - 6,
        escaped(title)
    );
    for (at, bar) in bars.iter().enumerate() {
        let top = (at + 1) * ROW + 4;
        let base = top + 14;
        let length = if most > 0.0 { bar.cost / most * LONGEST } else { 0.0 };
        let colour = if bar.is_best { "#1b7f4b" } else { "#8aa4c8" };
        let (label, text) = (escaped(&bar.label), escaped(&bar.text));
        let behind = length + (left + CHARACTER) as f64;
        writeln!(
            out,
            "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{label}</text>\
             <rect x=\"{left}\" y=\"{top}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>\
             <text x=\"{behind:.1}\" y=\"{base}\">{text}</text>",
            left - CHARACTER,
            ROW - 4
        )
        .expect("a string takes any text");
    }
    out + "</svg>\n"
}

/// Text, escaped for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_stay_text() {
        let bar = |label: &str, cost| Bar {
            label: label.to_owned(),
            cost,
            text: format!("{cost} us"),
            is_best: cost < 2.0,
        };
        let picture =
            svg("k \"[1]\" on a & b", &[bar("O = Columns<3>", 1.0), bar("O = Rows", 4.0)]);
        assert!(picture.contains(">O = Columns&lt;3&gt;</text>"), "{picture}");
        assert!(picture.contains(">k &quot;[1]&quot; on a &amp; b</text>"), "{picture}");
        // A quarter of the cost is a quarter of the longest bar.
        assert!(picture.contains("width=\"105.0\" height=\"18\" fill=\"#1b7f4b\""), "{picture}");
        assert!(picture.contains("width=\"420.0\" height=\"18\" fill=\"#8aa4c8\""), "{picture}");
    }
}

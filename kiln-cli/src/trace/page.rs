//! A page with a timeline: one file, with everything that it needs in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::events::{Events, Row};
use super::summary::Summary;

const HEAD: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub fn page(events: &Events) -> String {
    // No character of the trace ends the script that holds it.
    let data = data(events).to_string().replace('<', "\\u003c");
    let title = events.about["kernel"].as_str().unwrap_or("timeline");
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let (before, after) = HEAD.split_once("{{data}}").expect("the page has a place for the data");
    // Style first, data last: nothing that the trace says is taken for a place of the page.
    let before = before.replace("{{style}}", STYLE).replace("{{title}}", &title);
    let after = after.replace("{{script}}", SCRIPT);
    [before.as_str(), &data, &after].concat()
}

/// What the page's script reads: short, since a trace has many spans.
fn data(events: &Events) -> Value {
    let rows: Vec<Row> = events.rows.keys().copied().collect();
    let index: BTreeMap<Row, usize> = rows.iter().enumerate().map(|(i, row)| (*row, i)).collect();
    let mut texts = Texts::default();
    let spans = events.spans.iter().filter_map(|span| {
        let details: Vec<String> =
            span.details.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        Some(json!([
            index.get(&span.row)?,
            span.start,
            span.length,
            texts.number(&span.kind),
            texts.number(&span.name),
            texts.number(&details.join("\n")),
        ]))
    });
    let spans: Vec<Value> = spans.collect();
    let arrows = events.arrows.iter().filter_map(|((from, start), (to, end))| {
        Some(json!([index.get(from)?, start, index.get(to)?, end]))
    });
    let arrows: Vec<Value> = arrows.collect();
    let marks = events
        .marks
        .iter()
        .filter_map(|((row, at), text)| Some(json!([index.get(row)?, at, text])));
    let marks: Vec<Value> = marks.collect();
    let process = |row: &Row| events.processes.get(&row.0).cloned().unwrap_or_default();
    let rows: Vec<Value> =
        events.rows.iter().map(|(row, name)| json!([process(row), name])).collect();
    json!({
        "rows": rows,
        "spans": spans,
        "texts": texts.all,
        "arrows": arrows,
        "marks": marks,
        "about": events.about,
        "end": events.end(),
        "summary": Summary::of(events).data(),
        "cut": events.about["cut"] == true,
    })
}

/// Texts by number, each once.
#[derive(Debug, Default)]
struct Texts {
    all: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len();
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

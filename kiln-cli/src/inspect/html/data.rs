//! The data of a page, which its script shows.
//!
//! A page has `kernels`, `sources` (name, and lines from the first that any kernel needs) and `pictures` (SVG by key) or `files` (files
//! of pictures by key). A kernel is what
//! [`mod@json`] says of it, and `title`, `heat` (for each file and line the instructions of PTX and machine code), `code` (`ptx`
//! and `sass`, blocks of a file, a line and text), `tiles` (line, statement, cost), `layout_list` (name, bases, key of the picture or null),
//! `conversion_list` (line, tile, names of both layouts, cost, key) and
//! `memory` (lines about shared memory).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::inspect::bases;
use crate::inspect::code::{facts, heading, lines, why_none};
use crate::inspect::conversions::{self, Conversion};
use crate::inspect::json;
use crate::inspect::layouts::{Dumped, element_bits};
use crate::inspect::order;
use crate::inspect::report::{Kernel, Report};
use crate::inspect::source::{Listing, Place};
use crate::layout_picture::picture;
use crate::layout_shown::Shown;

/// Lines of a source that are shown before the first and after the last that code comes from.
const AROUND: u32 = 3;
/// A larger picture is left out, in bytes: it would show no more than its bases.
const MOST_PICTURE: usize = 700_000;

/// Pictures of layouts, each once.
#[derive(Debug, Default)]
pub struct Pictures {
    /// The pictures by the bases and bits of an element.
    pub drawn: BTreeMap<String, String>,
    tried: BTreeSet<String>,
}

impl Pictures {
    /// The layouts of a kernel: name, bases, and the key of the picture, if there is one.
    pub fn draw(&mut self, kernel: &Kernel) -> Vec<(String, String, Option<String>)> {
        let Some(dump) = &kernel.layouts else { return Vec::new() };
        let one = |(name, text): &(String, String)| {
            let key = self.drawn(&[text.as_str()], bits(dump, name));
            (name.clone(), text.clone(), key)
        };
        dump.legend.iter().map(one).collect()
    }

    /// The conversions of a kernel: line, tile, names of both layouts, cost, and the key of the picture of both, if there is one.
    fn conversions(&mut self, dump: &Dumped) -> Value {
        let bases = |name: &str| dump.legend.iter().find(|(known, _)| known == name);
        let one = |one: Conversion| {
            let from = one.from.as_deref().and_then(bases).map(|(_, text)| text.as_str());
            let to = bases(&one.to).map(|(_, text)| text.as_str());
            let element = one.tile.split('[').next().unwrap_or_default();
            let key = from.zip(to).and_then(|(from, to)| self.drawn(&[from, to], width(element)));
            json!([one.line, one.tile, one.from, one.to, one.cost, key])
        };
        conversions::of(dump).into_iter().map(one).collect()
    }

    /// The key of the picture of these layouts beside each other, which is drawn if it is not yet there.
    fn drawn(&mut self, layouts: &[&str], bits: u32) -> Option<String> {
        let key = format!("{} of {bits} bits", layouts.join(" and "));
        if self.tried.insert(key.clone())
            && let Ok(read) =
                layouts.iter().map(|text| bases::layout(text)).collect::<Result<Vec<_>, _>>()
        {
            let shown = layouts.iter().zip(read);
            let shown: Vec<Shown> =
                shown.map(|(text, layout)| Shown::of_bases(text, layout, bits)).collect();
            let svg = picture(&shown).ok().filter(|svg| svg.len() <= shown.len() * MOST_PICTURE);
            self.drawn.extend(svg.map(|svg| (key.clone(), svg)));
        }
        self.drawn.contains_key(&key).then_some(key)
    }
}

/// The bits of the elements of the first tile with a layout.
fn bits(dump: &Dumped, name: &str) -> u32 {
    let lines = dump.head.iter().chain(dump.rows.iter().map(|row| &row.statement));
    let uses = format!("] in {name}");
    for line in lines {
        let Some(at) = line.match_indices(&uses).find(|(at, found)| {
            !line[at + found.len()..].starts_with(|next: char| next.is_ascii_digit())
        }) else {
            continue;
        };
        let head = &line[..at.0];
        let ty = head.rsplit([' ', '(']).find(|word| word.contains('[')).unwrap_or_default();
        let element = ty.split('[').next().unwrap_or_default();
        if !element.is_empty() {
            return width(element);
        }
    }
    32
}

/// The bits of an element by the name of its type.
fn width(element: &str) -> u32 {
    u32::try_from(element_bits(element)).unwrap_or(8).clamp(4, 64)
}

/// A kernel.
pub fn kernel(kernel: &Kernel, report: &Report, pictures: &mut Pictures) -> Value {
    let mut value = json::kernel(kernel);
    let Some(fields) = value.as_object_mut() else { return value };
    fields.insert("title".to_owned(), heading(kernel).into());
    fields.insert("heat".to_owned(), heat(kernel));
    fields.insert("order_covers".to_owned(), order::COVERS.into());
    let sass = kernel.sass.as_ref().map(blocks);
    fields.insert("code".to_owned(), json!({ "ptx": blocks(&kernel.ptx), "sass": sass }));
    if kernel.sass.is_none() {
        fields.insert("no_sass".to_owned(), why_none(report).into());
    }
    let told = kernel.loops.iter().map(|one| json!([lines(one), facts(one, kernel)]));
    fields.insert("loop_texts".to_owned(), told.collect::<Vec<_>>().into());
    if let Some(dump) = &kernel.layouts {
        let rows = dump.rows.iter().map(|row| json!([row.line, row.statement, row.cost]));
        fields.insert("tiles".to_owned(), rows.collect::<Vec<_>>().into());
        fields.insert("layout_list".to_owned(), json!(pictures.draw(kernel)));
        fields.insert("conversion_list".to_owned(), pictures.conversions(dump));
        fields.insert("memory".to_owned(), json!(dump.head));
        fields.insert("conversions".to_owned(), dump.conversions.conversions().into());
    }
    value
}

/// Blocks: file, line and text; file and line are null before the first place.
fn blocks(listing: &Listing) -> Value {
    let blocks = listing.0.iter().map(|block| {
        let code: Vec<&str> = block.code.iter().map(super::super::source::Code::text).collect();
        let place = block.place.as_ref();
        json!([place.map(|place| &place.file), place.map(|place| place.line), code.join("\n")])
    });
    blocks.collect()
}

/// For each file, for each line: instructions of PTX and machine code.
fn heat(kernel: &Kernel) -> Value {
    let mut files: BTreeMap<String, BTreeMap<String, [usize; 2]>> = BTreeMap::new();
    let all = [Some(&kernel.ptx), kernel.sass.as_ref()];
    for (index, listing) in all.into_iter().enumerate() {
        for (Place { file, line }, count) in listing.into_iter().flat_map(Listing::counts) {
            files.entry(file).or_default().entry(line.to_string()).or_default()[index] += count;
        }
    }
    json!(files)
}

/// The sources of kernels, from the first to the last line that code comes from.
pub fn sources(report: &Report, kernels: &[Kernel]) -> Value {
    let mut spans: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    let listings = kernels.iter().flat_map(|one| [Some(&one.ptx), one.sass.as_ref()]).flatten();
    for place in listings.flat_map(|listing| &listing.0).filter_map(|block| block.place.as_ref()) {
        let [first, last] = spans.entry(&place.file).or_insert([u32::MAX, 0]);
        (*first, *last) = ((*first).min(place.line), (*last).max(place.line));
    }
    let mut shown = Map::new();
    for (name, [first, last]) in spans {
        let Some(source) = report.sources.iter().find(|source| source.name == name) else {
            continue;
        };
        let first = first.saturating_sub(AROUND).max(1);
        let lines: Vec<&str> =
            (first..=last.saturating_add(AROUND)).map_while(|line| source.line(line)).collect();
        shown.insert(name.to_owned(), json!({ "first": first, "lines": lines }));
    }
    Value::Object(shown)
}

//! What is known of kernels as a page to look at, which loads nothing.
//!
//! The table stands in the page; the rest is data that the page's script shows: [`data`] says which.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::code::heading;
use super::report::{Kernel, Report};
use super::text::{conversions, gpus, limit, short_order};
use super::tools::HOW;
use crate::layout_svg::escaped;

pub mod data;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
const INFALLIBLE: &str = "a String takes everything";

/// Data of more bytes are not in one page: each kernel has its own.
const MOST_BYTES: usize = 16 << 20;

/// The page, under the name of `file`. For many or large kernels, it has the table alone; a folder beside it has a page for each kernel, and
/// the pictures of layouts as files, because kernels share them. The folder is made.
///
/// # Errors
/// When the folder cannot be made.
pub fn pages(report: &Report, file: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let mut pictures = data::Pictures::default();
    let kernels: Vec<Value> =
        report.kernels.iter().map(|kernel| data::kernel(kernel, report, &mut pictures)).collect();
    let sources = data::sources(report, &report.kernels);
    let whole =
        json!({ "kernels": kernels, "sources": sources, "pictures": pictures.drawn }).to_string();
    if whole.len() <= MOST_BYTES || report.kernels.len() == 1 {
        let links: Vec<String> =
            (0..report.kernels.len()).map(|index| format!("#k{index}")).collect();
        let page = page("Kernels", &[overview(report, &links), places(report)].concat(), &whole);
        return Ok(vec![(file.to_owned(), page)]);
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = file.with_file_name(format!("{stem}-kernels"));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names: Vec<String> = report.kernels.iter().enumerate().map(page_name).collect();
    let links: Vec<String> = names.iter().map(|name| format!("{stem}-kernels/{name}")).collect();
    let mut pages = vec![(file.to_owned(), page("Kernels", &overview(report, &links), "null"))];
    let index = file.file_name().unwrap_or_default().to_string_lossy();
    let files: BTreeMap<&String, String> = pictures
        .drawn
        .keys()
        .enumerate()
        .map(|(index, key)| (key, format!("picture-{index:03}.svg")))
        .collect();
    for ((kernel, value), name) in report.kernels.iter().zip(kernels).zip(&names) {
        let keys =
            [("layout_list", 2), ("conversion_list", 5)].into_iter().flat_map(|(list, column)| {
                let rows = value[list].as_array().into_iter().flatten();
                rows.filter_map(move |row| row[column].as_str().map(str::to_owned))
            });
        let own: BTreeMap<String, &String> =
            keys.filter_map(|key| files.get(&key).map(|file| (key, file))).collect();
        let data = json!({
            "sources": data::sources(report, std::slice::from_ref(kernel)),
            "files": own,
            "kernels": [value],
        });
        let body = format!(
            "<p class=\"back\"><a href=\"../{}\">All kernels</a></p>\n{}",
            address(&index),
            place(0, kernel)
        );
        pages.push((folder.join(name), page(&heading(kernel), &body, &data.to_string())));
    }
    for (key, file) in &files {
        pages.push((folder.join(file), pictures.drawn[*key].clone()));
    }
    Ok(pages)
}

/// A file's name that says which kernel it is about.
fn page_name((index, kernel): (usize, &Kernel)) -> String {
    format!("{index:03}-{}.html", kernel.figures.entry.replace(['$', '%', '.'], "_"))
}

/// A path in an address: spaces and what begins a query or a place in a page are written as numbers.
fn address(path: &str) -> String {
    let mut text = String::new();
    for c in path.chars() {
        match c {
            ' ' | '%' | '#' | '?' | '"' | '<' | '>' => {
                write!(text, "%{:02X}", u32::from(c)).expect(INFALLIBLE);
            }
            c => text.push(c),
        }
    }
    text
}

/// The document. `data` is JSON.
fn page(title: &str, body: &str, data: &str) -> String {
    // In a script, nothing but `<` could end it.
    let data = data.replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} - kiln inspect</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1></header>\n<main>\n{body}</main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        title = escaped(title),
    )
}

/// An empty section for each kernel.
fn places(report: &Report) -> String {
    report.kernels.iter().enumerate().map(|(index, kernel)| place(index, kernel)).collect()
}

/// The section of a kernel, which the script fills when it is opened.
fn place(index: usize, kernel: &Kernel) -> String {
    format!(
        "<details class=\"kernel\" id=\"k{index}\"><summary>{}</summary><div class=\"inside\"></div></details>\n",
        escaped(&heading(kernel))
    )
}

/// A cell: its text, what it is sorted by, and a class.
struct Cell {
    text: String,
    key: Option<f64>,
    class: &'static str,
}

impl Cell {
    fn words(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), key: None, class: "" }
    }

    fn number(value: Option<u32>) -> Cell {
        let text = value.map_or("?".to_owned(), |value| value.to_string());
        Cell { text, key: Some(value.map_or(-1.0, f64::from)), class: "n" }
    }

    fn large(value: u64) -> Cell {
        Cell::number(Some(u32::try_from(value).unwrap_or(u32::MAX)))
    }

    fn marked(self, is_marked: Option<&'static str>) -> Cell {
        Cell { class: is_marked.unwrap_or(self.class), ..self }
    }
}

/// The table of all kernels, with a link for each, and what was left out.
fn overview(report: &Report, links: &[String]) -> String {
    let gpus = gpus(report);
    let mut head: Vec<(&str, &str)> = vec![
        ("kernel", ""),
        ("instance", ""),
        ("target", ""),
        ("variant", ""),
        ("threads", "threads of a block, and blocks of a cluster"),
        ("regs", "registers of a thread"),
        ("spill", "bytes that a thread stores and loads because there are no more registers"),
        ("stack", "bytes of a thread"),
        ("static", "bytes of shared memory that the PTX declares"),
        (
            "dynamic",
            "bytes of shared memory that the launch asks for, as far as addresses and tiles show them; it may be more",
        ),
    ];
    let warps = "resident blocks, and their warps of those that a multiprocessor has room for";
    head.extend(gpus.iter().map(|gpu| (*gpu, warps)));
    head.extend([
        ("limited by", "what there is no room for, on the GPU that the target is made for"),
        ("PTX", "instructions"),
        ("SASS", "instructions of the machine code"),
        ("order", "what is known of the order of accesses before the kernel runs"),
        ("conversions", "of layouts"),
    ]);
    let mut text = String::from("<div class=\"wide\"><table id=\"all\">\n<thead><tr>");
    for (name, meaning) in &head {
        write!(text, "<th title=\"{}\"><button>{}</button></th>", escaped(meaning), escaped(name))
            .expect(INFALLIBLE);
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (kernel, link) in report.kernels.iter().zip(links) {
        text.push_str("<tr>");
        for (index, cell) in cells(kernel, &gpus).into_iter().enumerate() {
            let key = cell.key.map_or(String::new(), |key| format!(" data-v=\"{key}\""));
            let inner = escaped(&cell.text);
            let inner = match index {
                0 => format!("<a href=\"{}\">{inner}</a>", escaped(&address_of(link))),
                _ => inner,
            };
            write!(text, "<td class=\"{}\"{key}>{inner}</td>", cell.class).expect(INFALLIBLE);
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    if report.tools.ptxas.is_none() {
        writeln!(
            text,
            "<p class=\"note\">Registers, spills and machine code are left out, and registers do not count for occupancy: there is no \
             ptxas. {}.</p>",
            escaped(HOW)
        )
        .expect(INFALLIBLE);
    }
    text
}

/// The address of a link, whose first `#` is meant.
fn address_of(link: &str) -> String {
    match link.strip_prefix('#') {
        Some(place) => format!("#{place}"),
        None => address(link),
    }
}

fn cells(kernel: &Kernel, gpus: &[&'static str]) -> Vec<Cell> {
    let (figures, usage) = (&kernel.figures, kernel.usage.as_ref());
    let spills = usage.map(|usage| (usage.spill_stores, usage.spill_loads));
    let spilled = spills.is_some_and(|(stores, loads)| stores + loads > 0);
    let mut cells = vec![
        Cell::words(&figures.entry),
        Cell::words(&kernel.label.instance),
        Cell::words(figures.target.to_string()),
        Cell::words(&kernel.label.variant),
        Cell::number(figures.threads),
        Cell::number(usage.map(|usage| usage.registers)),
        Cell {
            text: spills.map_or("?".to_owned(), |(stores, loads)| match (stores, loads) {
                (0, 0) => "0".to_owned(),
                (stores, loads) => format!("{stores} / {loads}"),
            }),
            key: Some(spills.map_or(-1.0, |(stores, loads)| f64::from(stores + loads))),
            class: "n",
        }
        .marked(spilled.then_some("n bad")),
        Cell::number(usage.map(|usage| usage.stack)),
        Cell::large(figures.static_shared),
        Cell::large(figures.dynamic_shared),
    ];
    if figures.cluster > 1 {
        cells[4].text = format!("{} x{}", cells[4].text, figures.cluster);
    }
    for gpu in gpus {
        let held = kernel.occupancy.iter().find(|(name, _)| name == gpu).map(|(_, held)| held);
        let most = if usage.is_some() { "" } else { "at most " };
        cells.push(Cell {
            text: held.map_or(String::new(), |held| {
                format!("{most}{} · {}/{}", held.blocks, held.warps, held.most_warps)
            }),
            key: Some(held.map_or(-1.0, |held| f64::from(held.warps))),
            class: "n",
        });
    }
    let sass = kernel.sass.as_ref().map(super::source::Listing::instructions);
    let order = kernel.order.as_deref();
    let order_class = order.map(|order| if order.starts_with("proven") { "good" } else { "bad" });
    cells.extend([
        Cell::words(limit(kernel).unwrap_or_default()),
        Cell::large(figures.instructions as u64),
        Cell::number(sass.and_then(|count| u32::try_from(count).ok())),
        Cell::words(order.map_or("?".to_owned(), short_order)).marked(order_class),
        Cell {
            key: kernel.layouts.as_ref().map(|dump| {
                let shared = u32::try_from(dump.conversions.shared).unwrap_or(u32::MAX);
                let all = u32::try_from(dump.conversions.all()).unwrap_or(u32::MAX);
                // Those through shared memory cost most.
                f64::from(shared) * 1000.0 + f64::from(all)
            }),
            ..Cell::words(
                kernel
                    .layouts
                    .as_ref()
                    .map_or("?".to_owned(), |dump| conversions(&dump.conversions)),
            )
        },
    ]);
    cells
}

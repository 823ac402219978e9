//! What a trace says as a whole: how long the launch takes, what bounds it, and on what its warps spend their time.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::events::{Events, Row, Span};

/// A unit that is busy for this part of the time bounds the launch.
const BINDING: f64 = 0.6;
/// Steps of the warps that a page lists at most, and those that a terminal does.
const LISTED: usize = 14;
const TOLD: usize = 5;

/// Time in which nothing is drawn of a warp that has not ended: waits of a few cycles.
const GAPS: &str = "gaps";

/// What the warps spend time on: an instruction or a wait, at a place of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Hot {
    /// Such as `waits at barrier 0`.
    pub name: String,
    /// Its category.
    pub kind: String,
    /// Lines of the source, or of the PTX.
    pub place: String,
    /// Of all warps together.
    pub cycles: f64,
    /// The same as a part of the time of all warps, each until its end.
    pub part: f64,
}

/// The whole of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The time of all warps, each until its end, by category and, as `gaps`, that in which nothing is drawn; the largest part first.
    pub kinds: Vec<(String, f64)>,
    /// The largest first.
    pub hot: Vec<Hot>,
    /// Parts of the time in which units are busy, the largest first; none if the launch has no modelled time.
    pub busy: Vec<(String, f64)>,
    /// What bounds the launch, in words; none if the launch has no modelled time.
    pub bound: Option<String>,
}

impl Summary {
    /// Of a trace.
    pub fn of(events: &Events) -> Summary {
        let of_warp =
            |span: &&Span| events.rows.get(&span.row).is_some_and(|name| name.starts_with("warp "));
        let mut ends: BTreeMap<Row, f64> = BTreeMap::new();
        for span in events.spans.iter().filter(of_warp) {
            let end = ends.entry(span.row).or_default();
            *end = end.max(span.start + span.length);
        }
        // A warp of a profile begins at its first stamp, which may be long after that of another block.
        let all = if events.is_profile() {
            events.spans.iter().filter(of_warp).map(|span| span.length).sum::<f64>().max(1.0)
        } else {
            ends.values().sum::<f64>().max(1.0)
        };
        let (mut kinds, mut hot) = (BTreeMap::new(), BTreeMap::new());
        for span in events.spans.iter().filter(of_warp) {
            *kinds.entry(span.kind.clone()).or_insert(0.0) += span.length;
            *hot.entry((plain(&span.name), place(span), span.kind.clone())).or_insert(0.0) +=
                span.length;
        }
        let mut kinds: Vec<(String, f64)> =
            kinds.into_iter().map(|(kind, cycles)| (kind, cycles / all)).collect();
        let drawn: f64 = kinds.iter().map(|(_, part)| part).sum();
        if !kinds.is_empty() && drawn < 0.999 {
            kinds.push((GAPS.to_owned(), 1.0 - drawn));
        }
        kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
        let hot = hot.into_iter().map(|((name, place, kind), cycles)| Hot {
            name,
            kind,
            place,
            cycles,
            part: cycles / all,
        });
        let mut hot: Vec<Hot> = hot.collect();
        hot.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
        hot.truncate(LISTED);
        let busy = events.about["model"]["busy"].as_object().into_iter().flatten();
        let mut busy: Vec<(String, f64)> =
            busy.map(|(name, part)| (name.clone(), part.as_f64().unwrap_or_default())).collect();
        busy.sort_by(|a, b| b.1.total_cmp(&a.1));
        let bound = busy.first().map(|(name, part)| bound(name, *part, &hot));
        Summary { kinds, hot, busy, bound }
    }

    /// For a terminal, after what is known of the launch.
    pub fn tell(&self, text: &mut String) {
        if let Some(bound) = &self.bound {
            let _ = writeln!(text, "  {bound}");
            let _ = writeln!(text, "  busy: {}", parts(&self.busy));
        }
        if !self.kinds.is_empty() {
            let _ = writeln!(text, "  warps: {}", parts(&self.kinds));
        }
        for hot in self.hot.iter().take(TOLD).filter(|hot| hot.part >= 0.01) {
            let Hot { name, place, part, .. } = hot;
            let _ = writeln!(text, "    {:>3.0}%  {name}, {place}", 100.0 * part);
        }
    }

    /// For the script of a page.
    pub fn data(&self) -> Value {
        let hot = self.hot.iter();
        let hot = hot.map(|h| json!([h.name, h.kind, h.place, h.cycles, h.part]));
        json!({
            "kinds": self.kinds,
            "busy": self.busy,
            "bound": self.bound,
            "hot": hot.collect::<Vec<Value>>(),
        })
    }
}

/// What bounds a launch whose busiest unit is that.
fn bound(name: &str, part: f64, hot: &[Hot]) -> String {
    let percent = 100.0 * part;
    if part >= BINDING {
        return format!("bound by {name}: busy {percent:.0}% of the time");
    }
    let mut text =
        format!("bound by latency: {name}, the busiest unit, is busy {percent:.0}% of the time");
    let wait = hot.iter().find(|hot| matches!(hot.kind.as_str(), "wait" | "stall"));
    if let Some(Hot { name, place, .. }) = wait {
        let _ = write!(text, "; the longest wait of warps is `{name}`, {place}");
    }
    text
}

fn parts(list: &[(String, f64)]) -> String {
    let parts = list.iter().map(|(name, part)| format!("{name} {:.0}%", 100.0 * part));
    parts.collect::<Vec<String>>().join(", ")
}

/// Where a span is in the source, or else in the PTX.
fn place(span: &Span) -> String {
    let find = |wanted: &str| span.details.iter().find(|(name, _)| name == wanted);
    match (find("source"), find("ptx")) {
        (Some((_, source)), _) => source.clone(),
        (None, Some((_, lines))) => format!("PTX {lines}"),
        (None, None) => "no line".to_owned(),
    }
}

/// The name of a wait without the number of the phase: waits for all phases of a barrier are one.
fn plain(name: &str) -> String {
    match name
        .split_once("phase ")
        .and_then(|(before, after)| Some((before, after.split_once(" of ")?)))
    {
        Some((before, (number, barrier))) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{before}{barrier}")
        }
        Some(_) | None => name.to_owned(),
    }
}

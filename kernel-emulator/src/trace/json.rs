//! The timeline as trace events (the "Trace Event Format" of Chrome, which Perfetto reads).
//!
//! A process is a block, a thread is a row of a lane. Spans are complete events, arrows are flow events, marks are instant events.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Arrow, End, Span, Timeline};
use crate::fault::SourceLine;

/// Rows of a lane that have thread numbers of their own at most.
const ROWS: usize = 1000;

/// The least difference of two times in the file.
const STEP: f64 = 0.001;

struct Events {
    text: String,
}

impl Events {
    fn add(&mut self, event: &str) {
        if !self.text.ends_with("[\n") {
            self.text.push_str(",\n");
        }
        self.text.push_str(event);
    }
}

/// The whole file.
pub(super) fn write(timeline: &Timeline) -> String {
    let mut events = Events { text: "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n".to_owned() };
    names(timeline, &mut events);
    for span in &timeline.spans {
        events.add(&complete(timeline, span));
    }
    for (id, arrow) in timeline.arrows.iter().enumerate() {
        let [from, to] = moments(timeline, arrow);
        for (phase, more, end, at) in
            [("s", "", arrow.from, from), ("f", ",\"bp\":\"e\"", arrow.to, to)]
        {
            let (process, thread) = thread(timeline, end);
            let at = number(at);
            events.add(&format!(
                "{{\"ph\":\"{phase}\"{more},\"name\":\"completes\",\"cat\":\"completes\",\"id\":{id},\"pid\":{process},\
                 \"tid\":{thread},\"ts\":{at}}}"
            ));
        }
    }
    for mark in &timeline.marks {
        let (process, thread) = thread(timeline, (mark.lane, 0, mark.at));
        let (at, text) = (number(mark.at), quoted(&mark.text));
        events.add(&format!(
            "{{\"ph\":\"i\",\"s\":\"t\",\"name\":{text},\"cat\":\"mark\",\"pid\":{process},\"tid\":{thread},\"ts\":{at}}}"
        ));
    }
    let mut text = events.text;
    text.push_str("\n],\"otherData\":{");
    text.push_str(&about(timeline));
    text.push_str("}}\n");
    text
}

/// When an arrow starts and ends. Perfetto binds an end to the span of the row that began last, so what belongs to the end of a span
/// comes just before it: the next span may begin at the same time.
fn moments(timeline: &Timeline, arrow: &Arrow) -> [f64; 2] {
    let from = rounded(arrow.from.2);
    // A warp arrives as its instruction begins; copies and products complete a phase as they end.
    let is_warp = timeline.lanes[arrow.from.0].name.starts_with("warp ");
    let from = if is_warp { from } else { (from - STEP).max(0.0) };
    [from, (rounded(arrow.to.2) - STEP).max(from)]
}

/// The names of processes and threads.
fn names(timeline: &Timeline, events: &mut Events) {
    let mut named = BTreeSet::new();
    for (index, lane) in timeline.lanes.iter().enumerate() {
        let (process, _) = thread(timeline, (index, 0, 0.0));
        // The lanes of the blocks of a cluster alternate.
        if named.insert(lane.block_number) {
            let [x, y, z] = lane.block;
            let name = quoted(&format!("block ({x}, {y}, {z})"));
            events.add(&format!(
                "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{process},\"args\":{{\"name\":{name}}}}}"
            ));
        }
        for row in 0..lane.rows {
            let (_, thread) = thread(timeline, (index, row, 0.0));
            let name = match row {
                0 => lane.name.clone(),
                _ => format!("{} ({})", lane.name, row + 1),
            };
            let name = quoted(&name);
            events.add(&format!(
                "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"name\":{name}}}}}"
            ));
            events.add(&format!(
                "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"sort_index\":{thread}}}}}"
            ));
        }
    }
}

/// Process and thread of a row: from 1, since 0 is no process of Perfetto's.
fn thread(timeline: &Timeline, (lane, row, _): End) -> (u64, usize) {
    (timeline.lanes[lane].block_number + 1, lane * ROWS + row.min(ROWS - 1) + 1)
}

fn complete(timeline: &Timeline, span: &Span) -> String {
    let (process, thread) = thread(timeline, (span.lane, span.row, 0.0));
    let (name, kind) = (quoted(&span.name), quoted(span.kind.text()));
    // The end is rounded, and not the length, so that one span ends no later than the next one begins.
    let (start, end) = (rounded(span.start), rounded(span.end));
    let mut event = format!(
        "{{\"ph\":\"X\",\"name\":{name},\"cat\":{kind},\"pid\":{process},\"tid\":{thread},\"ts\":{},\"dur\":{}",
        number(start),
        number(end - start)
    );
    let mut arguments = Vec::new();
    if span.count > 1 {
        arguments.push(format!("\"instructions\":{}", span.count));
    }
    if let Some((first, last)) = span.lines {
        arguments.push(if first == last {
            format!("\"ptx\":\"line {first}\"")
        } else {
            format!("\"ptx\":\"lines {first} to {last}\"")
        });
    }
    if let Some((first, last)) = &span.source {
        arguments.push(format!("\"source\":{}", quoted(&source(first, last))));
    }
    if !arguments.is_empty() {
        let _ = write!(event, ",\"args\":{{{}}}", arguments.join(","));
    }
    event.push('}');
    event
}

/// The source lines of a span.
fn source(first: &SourceLine, last: &SourceLine) -> String {
    if (&first.file, first.line) == (&last.file, last.line) {
        format!("{}:{}", first.file, first.line)
    } else if first.file == last.file {
        let (low, high) = (first.line.min(last.line), first.line.max(last.line));
        format!("{}:{low}-{high}", first.file)
    } else {
        format!("{}:{} to {}:{}", first.file, first.line, last.file, last.line)
    }
}

/// What is known of the launch as a whole.
fn about(timeline: &Timeline) -> String {
    let dimensions = |[x, y, z]: [u32; 3]| format!("\"{x}x{y}x{z}\"");
    let config = &timeline.config;
    let mut parts = vec![
        "\"made by\":\"kiln trace\"".to_owned(),
        "\"unit\":\"1 us is 1 modelled cycle\"".to_owned(),
        format!("\"kernel\":{}", quoted(&timeline.entry)),
        format!("\"device\":{}", quoted(timeline.device)),
        format!("\"cycles per microsecond\":{}", number(timeline.cycles_per_microsecond)),
        format!("\"grid\":{}", dimensions(config.grid)),
        format!("\"block\":{}", dimensions(config.block)),
        format!("\"cluster\":{}", dimensions(config.cluster)),
    ];
    if let Some(fault) = &timeline.fault {
        parts.push(format!("\"fault\":{}", quoted(fault)));
    }
    if timeline.cut {
        parts.push("\"cut\":true".to_owned());
    }
    if let Some(model) = &timeline.model {
        let busy = model.busy.iter().map(|(name, part)| format!("\"{name}\":{}", number(*part)));
        let busy: Vec<String> = busy.collect();
        parts.push(format!(
            "\"model\":{{\"cycles\":{},\"microseconds\":{},\"cycles of a block\":{},\"blocks\":{},\"multiprocessors\":{},\
             \"resident blocks\":{},\"registers\":{},\"waves\":{},\"busy\":{{{}}}}}",
            number(model.cycles),
            number(model.microseconds),
            number(model.block_cycles),
            model.blocks,
            model.multiprocessors,
            model.resident_blocks,
            model.registers,
            number(model.waves),
            busy.join(",")
        ));
    }
    parts.join(",")
}

/// To thousandths.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// A number without digits that say nothing.
fn number(value: f64) -> String {
    let text = format!("{:.3}", rounded(value));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            char if char < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

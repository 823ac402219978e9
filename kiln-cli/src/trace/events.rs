//! Trace events that were read back: what a page and a summary need of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::summary::Summary;

/// A row of the timeline: process, thread.
pub type Row = (u64, u64);

/// A span of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Whose it is.
    pub row: Row,
    /// When it starts, and how long it takes.
    pub start: f64,
    /// See [`start`](Self::start).
    pub length: f64,
    /// What it is called.
    pub name: String,
    /// Its category.
    pub kind: String,
    /// Lines of its PTX and of its source, and the like: name, value.
    pub details: Vec<(String, String)>,
}

/// A moment of a row.
pub type Moment = (Row, f64);

/// What a trace says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// Names of processes.
    pub processes: BTreeMap<u64, String>,
    /// Names of rows.
    pub rows: BTreeMap<Row, String>,
    /// In the order of the file.
    pub spans: Vec<Span>,
    /// From where to where.
    pub arrows: Vec<(Moment, Moment)>,
    /// Marks with their texts.
    pub marks: Vec<(Moment, String)>,
    /// What is known of the launch.
    pub about: Value,
}

impl Events {
    /// Reads trace events.
    ///
    /// # Errors
    /// What the text is not.
    pub fn read(text: &str) -> Result<Events, String> {
        let file: Value =
            serde_json::from_str(text).map_err(|error| format!("required JSON: {error}"))?;
        let list = file.get("traceEvents").unwrap_or(&file).as_array();
        let list =
            list.ok_or("required a list of trace events, or an object with `traceEvents`")?;
        let mut events = Events { about: file["otherData"].clone(), ..Events::default() };
        let mut starts = BTreeMap::new();
        for (index, event) in list.iter().enumerate() {
            events
                .take(event, &mut starts)
                .map_err(|error| format!("trace event {index}: {error}"))?;
        }
        Ok(events)
    }

    fn take(&mut self, event: &Value, starts: &mut BTreeMap<u64, Moment>) -> Result<(), String> {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let row = (event["pid"].as_u64().unwrap_or(0), event["tid"].as_u64().unwrap_or(0));
        // The format's unit is a microsecond.
        let scale = if self.is_profile() { 1000.0 } else { 1.0 };
        let time = |name: &str| {
            let time = event[name].as_f64().map(|time| time * scale);
            time.ok_or_else(|| format!("required a number as `{name}`"))
        };
        let name_of = || event["args"]["name"].as_str().unwrap_or_default().to_owned();
        match event["ph"].as_str() {
            Some("M") => match event["name"].as_str() {
                Some("process_name") => drop(self.processes.insert(row.0, name_of())),
                Some("thread_name") => drop(self.rows.insert(row, name_of())),
                Some(_) | None => {}
            },
            Some("X") => {
                let (start, length) = (time("ts")?, time("dur")?);
                let details = event["args"].as_object().into_iter().flatten();
                let details = details.map(|(name, value)| {
                    let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
                    (name.clone(), value)
                });
                let (name, kind) = (text("name"), text("cat"));
                let span = Span { row, start, length, name, kind, details: details.collect() };
                self.spans.push(span);
            }
            Some("s") => drop(starts.insert(event["id"].as_u64().unwrap_or(0), (row, time("ts")?))),
            Some("f") => {
                if let Some(start) = starts.remove(&event["id"].as_u64().unwrap_or(0)) {
                    self.arrows.push((start, (row, time("ts")?)));
                }
            }
            Some("i") => self.marks.push(((row, time("ts")?), text("name"))),
            Some(_) => {}
            None => return Err("required `ph`, the phase of the event".to_owned()),
        }
        Ok(())
    }

    /// Whether it is a profile of `stamp!`, whose times are nanoseconds, rather than a trace, whose times are modelled cycles.
    pub fn is_profile(&self) -> bool {
        self.about["made by"].as_str() == Some("kiln profile")
    }

    /// When the last span ends.
    pub fn end(&self) -> f64 {
        self.spans.iter().map(|span| span.start + span.length).fold(0.0, f64::max)
    }

    /// The launch in a few lines.
    pub fn summary(&self) -> String {
        let word = |name: &str| self.about[name].as_str().unwrap_or("?").to_owned();
        if self.is_profile() {
            return crate::profile::table::table(self);
        }
        let mut text = String::new();
        if self.about.is_object() {
            let _ = writeln!(
                text,
                "{}, grid {}, blocks of {} threads, as on {}",
                word("kernel"),
                word("grid"),
                word("block"),
                word("device")
            );
        }
        let _ = writeln!(text, "  the traced blocks take {:.0} cycles", self.end());
        let model = &self.about["model"];
        if let Some(cycles) = model["cycles"].as_f64() {
            let number = |name: &str| model[name].as_f64().unwrap_or_default();
            let _ = writeln!(
                text,
                "  modelled: {cycles:.0} cycles, {:.2} us, for {} in {:.2} waves of {} multiprocessors with {} blocks each",
                number("microseconds"),
                match model["blocks"].as_u64() {
                    Some(1) => "1 block".to_owned(),
                    Some(_) | None => format!("{} blocks", model["blocks"]),
                },
                number("waves"),
                model["multiprocessors"],
                model["resident blocks"]
            );
        }
        Summary::of(self).tell(&mut text);
        if let Some(fault) = self.about["fault"].as_str() {
            let _ = writeln!(text, "  {}", fault.replace('\n', "\n  "));
        }
        if self.about["cut"].as_bool() == Some(true) {
            text.push_str("  a traced block did more than is recorded: the timeline ends early\n");
        }
        text
    }
}

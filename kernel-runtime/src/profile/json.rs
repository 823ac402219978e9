//! A profile as trace events (the "Trace Event Format" of Chrome, which Perfetto and `kiln trace` read).
//!
//! A process is a multiprocessor, a thread a warp of a block. A span leads from each stamp to the warp's next one; the last one is an instant
//! event.

use super::{
    clock::{Clock, Source},
    records::{Lane, Room},
};
use crate::{Image, Stamp};
use std::fmt::Write as _;

/// What the file says of the launch.
pub(super) struct Launched {
    pub(super) image: &'static Image,
    pub(super) stamps: &'static [Stamp],
    pub(super) device: String,
    /// Blocks along x, y and z.
    pub(super) grid: [u32; 3],
    pub(super) room: Room,
}

impl Launched {
    fn stamp(&self, number: u32) -> (&'static str, &'static str) {
        let stamp = self.stamps.get(number as usize);
        stamp.map_or(("?", "?"), |stamp| (stamp.name, line_of(stamp.place)))
    }

    /// The place of a block in the grid.
    fn block(&self, number: u32) -> [u32; 3] {
        let [columns, rows, _] = self.grid.map(|extent| extent.max(1));
        [number % columns, number / columns % rows, number / columns / rows]
    }

    /// Process and thread of a lane: from 1, since 0 is no process of Perfetto's.
    fn thread(&self, lane: &Lane) -> (u32, u64) {
        let process = lane.records.first().map_or(0, |record| record.multiprocessor + 1);
        let thread = u64::from(lane.block) * u64::from(self.room.warps) + u64::from(lane.warp) + 1;
        (process, thread)
    }
}

/// The whole file.
pub(super) fn write(launched: &Launched, lanes: &[Lane], clock: &Clock) -> String {
    let mut events: Vec<String> = Vec::new();
    let mut lanes: Vec<&Lane> = lanes.iter().collect();
    lanes.sort_by_key(|lane| launched.thread(lane));
    let mut before = None;
    for lane in &lanes {
        let (process, thread) = launched.thread(lane);
        if before.replace(process) != Some(process) {
            events.push(format!(
                "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{process},\"args\":{{\"name\":\"multiprocessor {}\"}}}}",
                process - 1
            ));
        }
        let ([x, y, z], warp) = (launched.block(lane.block), lane.warp);
        events.push(format!(
            "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"name\":\"warp {warp} of block ({x}, {y}, {z})\"}}}}"
        ));
        events.push(format!(
            "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"sort_index\":{thread}}}}}"
        ));
    }
    for lane in &lanes {
        spans(launched, lane, clock, &mut events);
    }
    let (events, about) = (events.join(",\n"), about(launched, &lanes, clock));
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{events}\n],\"otherData\":{{{about}}}}}\n"
    )
}

/// The spans of a warp, and its last stamp.
fn spans(launched: &Launched, lane: &Lane, clock: &Clock, events: &mut Vec<String>) {
    let (process, thread) = launched.thread(lane);
    for two in lane.records.windows(2) {
        let [from, to] = two else { continue };
        let (name, place) = launched.stamp(from.stamp);
        let (name, place) = (quoted(name), quoted(place));
        // The end is rounded, and not the length, so that one span ends where the next one begins.
        let [start, end] = [from, to].map(|record| rounded(clock.time(record)));
        let (start, length) = (microseconds(start), microseconds((end - start).max(0.0)));
        let cycles = to.clock.saturating_sub(from.clock);
        events.push(format!(
            "{{\"ph\":\"X\",\"name\":{name},\"cat\":{name},\"pid\":{process},\"tid\":{thread},\"ts\":{start},\"dur\":{length},\
             \"args\":{{\"cycles\":{cycles},\"source\":{place}}}}}"
        ));
    }
    if let Some(last) = lane.records.last() {
        let (name, place) = launched.stamp(last.stamp);
        let (name, place) = (quoted(name), quoted(place));
        let at = microseconds(rounded(clock.time(last)));
        events.push(format!(
            "{{\"ph\":\"i\",\"s\":\"t\",\"name\":{name},\"cat\":{name},\"pid\":{process},\"tid\":{thread},\"ts\":{at},\
             \"args\":{{\"source\":{place}}}}}"
        ));
    }
}

/// What is known of the launch as a whole.
fn about(launched: &Launched, lanes: &[&Lane], clock: &Clock) -> String {
    let Launched { image, device, grid, room, .. } = launched;
    let kernel = match image.instance {
        "" => image.kernel.to_owned(),
        instance => format!("{} ({instance})", image.kernel),
    };
    let source = match clock.source {
        Source::Timer => "measured by the timer of the device",
        Source::Device => "the highest of the device: the launch is too short to measure it",
        Source::Instructions => "a cycle is an instruction of the emulator, and so is a nanosecond",
    };
    let lost: u64 = lanes.iter().map(|lane| u64::from(lane.lost)).sum();
    let mut parts = vec![
        "\"made by\":\"kiln profile\"".to_owned(),
        "\"unit\":\"1 us is 1 us\"".to_owned(),
        format!("\"kernel\":{}", quoted(&kernel)),
        format!("\"device\":{}", quoted(device)),
        format!("\"cycles per microsecond\":{}", microseconds(rounded(clock.rate * 1e6))),
        format!("\"clock\":{}", quoted(source)),
        format!("\"timer step ns\":{}", microseconds(rounded(clock.step * 1e3))),
        format!("\"grid\":{}", extents(*grid)),
        format!("\"block\":{}", extents([image.threads, 1, 1])),
        format!("\"cluster\":{}", extents(image.cluster)),
        format!("\"blocks\":{}", room.of),
        format!("\"first recorded block\":{}", room.first),
        format!("\"recorded blocks\":{}", room.blocks),
    ];
    if lost > 0 {
        parts.push(format!("\"lost\":{lost},\"cut\":true"));
    }
    parts.join(",")
}

fn extents([x, y, z]: [u32; 3]) -> String {
    format!("\"{x}x{y}x{z}\"")
}

/// `src/kernel.rs:12` of `src/kernel.rs:12:5`.
fn line_of(place: &str) -> &str {
    place.rsplit_once(':').map_or(place, |(line, _)| line)
}

/// Whole nanoseconds.
fn rounded(nanoseconds: f64) -> f64 {
    nanoseconds.round()
}

/// Nanoseconds as microseconds, without digits that say nothing.
fn microseconds(nanoseconds: f64) -> String {
    let text = format!("{:.3}", nanoseconds / 1000.0);
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
            char if char < ' ' => {
                // Writing to a `String` does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

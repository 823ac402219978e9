//! One time for all multiprocessors.
//!
//! `%clock64` counts cycles, on each multiprocessor from a number of its own. `%globaltimer` is one clock for the whole device, in nanoseconds,
//! but changes in steps: 32 ns on some devices, a microsecond on others. Each record has both. The rate is the slope that fits the pairs of
//! all multiprocessors; the place of each one follows from the records whose timer is nearest to a step: a timer that says `g` is
//! between `g` and `g` plus one step.

use super::records::{Lane, Record};
use std::collections::BTreeMap;

/// The timer has to go so many steps for a rate to be measured by it.
const LEAST_STEPS: f64 = 20.0;

/// How often the clock of a device ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rate {
    /// At most so many cycles a nanosecond.
    #[cfg_attr(not(any(feature = "cuda", test)), expect(dead_code, reason = "a GPU's"))]
    AtMost(f64),
    /// Its cycles are instructions of the emulator, and so are its nanoseconds.
    Instructions,
}

/// Where a rate is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The timer of the device.
    Timer,
    /// What the device says of itself.
    Device,
    /// The emulator counts instructions.
    Instructions,
}

/// The time of records, in nanoseconds from the first one.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Cycles of a nanosecond.
    pub(super) rate: f64,
    pub(super) source: Source,
    /// Nanoseconds of a step of the timer; 0 if it never changed.
    pub(super) step: f64,
    /// For each multiprocessor the clock that is counted from, and the time of that.
    places: BTreeMap<u32, (u64, f64)>,
}

/// The clock and the timer of one multiprocessor, from the first record on.
struct Pairs {
    multiprocessor: u32,
    base: u64,
    /// Cycles, nanoseconds.
    all: Vec<(f64, f64)>,
}

impl Clock {
    /// The clock of a launch, which has records.
    pub(super) fn of(lanes: &[Lane], device: Rate) -> Self {
        let records = lanes.iter().flat_map(|lane| &lane.records);
        if device == Rate::Instructions {
            // Each host thread of the emulator counts from the launch on.
            let first = records.clone().map(|record| record.clock).min().unwrap_or_default();
            let places = records.map(|record| (record.multiprocessor, (first, 0.0))).collect();
            return Clock { rate: 1.0, source: Source::Instructions, step: 1.0, places };
        }
        let most = match device {
            Rate::AtMost(rate) if rate > 0.0 => Some(rate),
            Rate::AtMost(_) | Rate::Instructions => None,
        };
        let all = pairs(records, most);
        let step = step(&all);
        let measured = rate(&all).filter(|_| {
            let length = |one: &Pairs| Some(one.all.last()?.1 - one.all.first()?.1);
            let longest = all.iter().filter_map(length).fold(0.0, f64::max);
            step > 0.0 && longest >= LEAST_STEPS * step
        });
        // A clock that is faster than the device has come from a timer that was misread.
        let measured = measured.filter(|rate| most.is_none_or(|most| *rate <= 1.1 * most));
        let (rate, source) = match (measured, device) {
            (Some(rate), _) => (rate, Source::Timer),
            (None, Rate::AtMost(_)) => (most.unwrap_or(1.0), Source::Device),
            (None, Rate::Instructions) => (1.0, Source::Instructions),
        };
        let place = |one: &Pairs| {
            let begins = one.all.iter().map(|(cycles, timer)| timer - cycles / rate);
            // The timer is at most a step behind.
            let low = begins.clone().fold(f64::MIN, f64::max);
            let high = begins.fold(f64::MAX, f64::min) + step;
            (one.multiprocessor, (one.base, f64::midpoint(low, high)))
        };
        let mut places: BTreeMap<u32, (u64, f64)> = all.iter().map(place).collect();
        // The first record of a multiprocessor is the one that its clock is counted from.
        let start = places.values().map(|(_, at)| *at).fold(f64::MAX, f64::min);
        for (_, at) in places.values_mut() {
            *at -= start;
        }
        Clock { rate, source, step, places }
    }

    /// When a record was made.
    pub(super) fn time(&self, record: &Record) -> f64 {
        let (base, at) = self.places.get(&record.multiprocessor).copied().unwrap_or_default();
        at + cycles(record.clock.saturating_sub(base)) / self.rate
    }
}

#[expect(clippy::cast_precision_loss, reason = "a launch has fewer than 2^53 cycles")]
fn cycles(count: u64) -> f64 {
    count as f64
}

/// The pairs of each multiprocessor, in the order of its clock. The timer's half wraps every 4.3 seconds: how often it has between two records
/// is what the cycles between them say, at the highest rate of the device. That is right for some ten seconds, as the rate may be lower.
fn pairs<'r>(records: impl Iterator<Item = &'r Record>, most: Option<f64>) -> Vec<Pairs> {
    let mut all: BTreeMap<u32, Vec<(u64, u32)>> = BTreeMap::new();
    let mut origin = None;
    for record in records {
        origin.get_or_insert(record.timer);
        all.entry(record.multiprocessor).or_default().push((record.clock, record.timer));
    }
    let origin = origin.unwrap_or_default();
    let sorted = all.into_iter().filter_map(|(multiprocessor, mut all)| {
        all.sort_unstable();
        let &(base, mut before) = all.first()?;
        let later = |timer: u32, than: u32| i64::from(timer.wrapping_sub(than).cast_signed());
        let (mut timer, mut last) = (later(before, origin), base);
        let pair = |(clock, low): (u64, u32)| {
            let near = later(low, before);
            #[expect(clippy::cast_precision_loss, reason = "a half of the timer is less than 2^32")]
            let missed = most.map_or(0.0, |most| cycles(clock - last) / most - near as f64);
            #[expect(clippy::cast_possible_truncation, reason = "a launch has few wraps")]
            let wraps = (missed / 4_294_967_296.0).round().max(0.0) as i64;
            timer += near + (wraps << 32);
            (before, last) = (low, clock);
            #[expect(clippy::cast_precision_loss, reason = "a launch has fewer than 2^53 ns")]
            let timer = timer as f64;
            (cycles(clock - base), timer)
        };
        Some(Pairs { multiprocessor, base, all: all.into_iter().map(pair).collect() })
    });
    sorted.collect()
}

/// The smallest step of the timer: the smallest distance between two of its values; 0 if there is one value.
fn step(all: &[Pairs]) -> f64 {
    let mut values: Vec<f64> =
        all.iter().flat_map(|one| &one.all).map(|(_, timer)| *timer).collect();
    values.sort_by(f64::total_cmp);
    let steps = values.windows(2).map(|two| two[1] - two[0]).filter(|step| *step > 0.0);
    let smallest = steps.fold(f64::MAX, f64::min);
    if smallest < f64::MAX { smallest } else { 0.0 }
}

/// Cycles a nanosecond: the line through the pairs of all multiprocessors, each around its own middle, with the least squares.
fn rate(all: &[Pairs]) -> Option<f64> {
    let (mut products, mut squares) = (0.0, 0.0);
    for one in all {
        let count = cycles(one.all.len() as u64);
        let middle = |of: fn(&(f64, f64)) -> f64| one.all.iter().map(of).sum::<f64>() / count;
        let (x, y) = (middle(|pair| pair.0), middle(|pair| pair.1));
        for (cycles, timer) in &one.all {
            products += (cycles - x) * (timer - y);
            squares += (cycles - x) * (cycles - x);
        }
    }
    (products > 0.0 && squares > 0.0).then(|| squares / products)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two multiprocessors whose clocks begin at 1000 and at 2^40, 200 ns apart, at 1.7 cycles a nanosecond, with a timer of `step` ns that
    /// wraps; stamps every `apart` ns.
    fn lanes(step: u64, apart: u64, count: u64) -> Vec<Lane> {
        let lane = |multiprocessor: u32, base: u64, start: u64| {
            let records = (0..count).map(|index| {
                let time = start + index * apart + index % 7;
                let timer = (u64::from(u32::MAX) - 3 * step) / step * step + time / step * step;
                Record {
                    stamp: 0,
                    clock: base + (time - start) * 17 / 10,
                    timer: u32::try_from(timer & 0xFFFF_FFFF).expect("cut"),
                    multiprocessor,
                }
            });
            Lane { block: multiprocessor, warp: 0, records: records.collect(), lost: 0 }
        };
        vec![lane(0, 1000, 37), lane(4, 1 << 40, 237)]
    }

    #[test]
    fn the_rate_and_the_places_follow_from_the_timer() {
        for step in [1, 32, 1024] {
            let lanes = lanes(step, 333, 1000);
            let clock = Clock::of(&lanes, Rate::AtMost(1.98));
            assert_eq!(clock.source, Source::Timer);
            assert!((clock.rate - 1.7).abs() < 0.002, "{step}: {}", clock.rate);
            let [first, second] = [0, 1].map(|lane: usize| clock.time(&lanes[lane].records[0]));
            // Both places are known to a part of a step, which the rate's error widens.
            let tolerance = 4.0 + f64::from(u32::try_from(step).expect("small")) / 2.0;
            assert!(first.abs() < 1e-6, "{first}");
            assert!((second - 200.0).abs() < tolerance, "{step}: {second}");
            let last = clock.time(&lanes[0].records[999]);
            assert!((last - 333.0 * 999.0 - 5.0).abs() < 400.0, "{last}");
        }
    }

    #[test]
    fn gaps_are_as_long_as_their_cycles_say() {
        // Half of the timer wraps after 4.29 seconds.
        for gap in [3_000_000_000, 5_000_000_000, 12_000_000_000_u64] {
            let lanes = lanes(32, gap, 4);
            let clock = Clock::of(&lanes, Rate::AtMost(1.98));
            assert_eq!(clock.source, Source::Timer);
            assert!((clock.rate - 1.7).abs() < 0.002, "{gap}: {}", clock.rate);
        }
    }

    #[test]
    fn a_timer_that_hardly_moves_leaves_the_rate_to_the_device() {
        let clock = Clock::of(&lanes(1024, 33, 10), Rate::AtMost(1.98));
        assert_eq!((clock.source, clock.rate), (Source::Device, 1.98));
        let still = Clock::of(&lanes(1 << 20, 33, 10)[..1], Rate::AtMost(2.0));
        assert_eq!((still.source, still.step), (Source::Device, 0.0));
    }

    #[test]
    fn the_emulator_counts_instructions() {
        let clock = Clock::of(&lanes(1, 10, 5)[..1], Rate::Instructions);
        assert_eq!((clock.source, clock.rate), (Source::Instructions, 1.0));
    }
}

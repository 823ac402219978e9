//! Times by bursts: a pause in which the device cools and clocks up, then a graph of launches between two events.
//!
//! Launches back to back without a pause say how a device does at its power limit, and depend on what ran before. After a pause a
//! burst of about two milliseconds runs at one clock, and two kernels can be compared. They take turns in random order.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of launches are small"
)]

use std::{cell::RefCell, thread, time::Duration};

use anyhow::Result;
use kiln::prelude::*;

/// How bursts are made.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// The pause before each.
    pub pause: Duration,
    /// How long one takes, about.
    pub length: Duration,
    /// Bursts of each contender.
    pub rounds: usize,
}

impl Default for Bursts {
    fn default() -> Self {
        Bursts { pause: Duration::from_millis(120), length: Duration::from_millis(2), rounds: 7 }
    }
}

/// How long a device works before a burst begins, in microseconds: the host puts the burst on the stream meanwhile, however slow its
/// library is at that.
const LEAD_US: f64 = 300.0;

/// What is timed.
pub trait Contender {
    /// Puts one launch on the stream.
    ///
    /// # Errors
    /// Those of the launch.
    fn launch(&mut self, stream: &Stream) -> Result<()>;

    /// Records so many launches. The first recording is number 0.
    ///
    /// # Errors
    /// Those of the launches.
    fn record(&mut self, device: &Device, launches: usize) -> Result<()>;

    /// Puts a recording on the stream.
    ///
    /// # Errors
    /// Those of the launch.
    fn replay(&mut self, stream: &Stream, recording: usize) -> Result<()>;
}

/// Launches of Kiln.
pub struct Own<F> {
    launch: F,
    recordings: Vec<Graph>,
}

impl<F: FnMut(&Stream) -> Result<()>> Own<F> {
    /// `launch` puts one launch on a stream.
    pub fn new(launch: F) -> Self {
        Own { launch, recordings: Vec::new() }
    }
}

impl<F> std::fmt::Debug for Own<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Own").field("recordings", &self.recordings.len()).finish_non_exhaustive()
    }
}

impl<F: FnMut(&Stream) -> Result<()>> Contender for Own<F> {
    fn launch(&mut self, stream: &Stream) -> Result<()> {
        (self.launch)(stream)
    }

    fn record(&mut self, device: &Device, launches: usize) -> Result<()> {
        let mut said = Ok(());
        let graph = device.capture(|stream| {
            said = (0..launches).try_for_each(|_| (self.launch)(stream));
            Ok(())
        })?;
        said?;
        self.recordings.push(graph);
        Ok(())
    }

    fn replay(&mut self, stream: &Stream, recording: usize) -> Result<()> {
        Ok(self.recordings[recording].launch(stream)?)
    }
}

/// The recordings of a contender, in their order.
const FEW: usize = 0;
const LEAD: usize = 1;
const BURST: usize = 2;

/// The median time of one launch of each of Kiln's contenders, in microseconds. `launch` puts one launch of a contender on a stream.
///
/// # Errors
/// Those of the launches.
pub fn medians(
    stream: &Stream,
    bursts: Bursts,
    contenders: usize,
    launch: impl FnMut(usize, &Stream) -> Result<()>,
) -> Result<Vec<f64>> {
    let launch = RefCell::new(launch);
    let of = |at: usize| {
        let launch = &launch;
        Own::new(move |stream: &Stream| (launch.borrow_mut())(at, stream))
    };
    let mut all: Vec<_> = (0..contenders).map(of).collect();
    let mut contenders: Vec<&mut dyn Contender> = Vec::new();
    contenders.extend(all.iter_mut().map(|one| one as &mut dyn Contender));
    medians_of(stream, bursts, &mut contenders)
}

/// The median time of one launch of each contender, in microseconds.
///
/// # Errors
/// Those of the contenders.
pub fn medians_of(
    stream: &Stream,
    bursts: Bursts,
    contenders: &mut [&mut dyn Contender],
) -> Result<Vec<f64>> {
    let mut launches = Vec::new();
    for one in contenders.iter_mut() {
        one.launch(stream)?;
        stream.synchronize()?;
        one.record(stream.device(), 4)?;
        let few = [0; 2].map(|_| time_us(stream, &mut **one, FEW));
        let [first, second] = few;
        let alone = first?.min(second?) / 4.0;
        let within = |us: f64| (us / alone).round().clamp(4.0, 400.0) as usize;
        one.record(stream.device(), within(LEAD_US))?;
        launches.push(within(bursts.length.as_secs_f64() * 1e6));
        one.record(stream.device(), launches[launches.len() - 1])?;
        one.replay(stream, BURST)?;
        stream.synchronize()?;
    }
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut seed: u64 = 0x5851_f42d_4c95_7f2d;
    for _ in 0..bursts.rounds {
        for last in (1..order.len()).rev() {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            order.swap(last, (seed >> 33) as usize % (last + 1));
        }
        for &at in &order {
            thread::sleep(bursts.pause);
            contenders[at].replay(stream, LEAD)?;
            times[at].push(time_us(stream, contenders[at], BURST)? / launches[at] as f64);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    Ok(times.into_iter().map(median).collect())
}

/// How long a recording takes, between events.
fn time_us(stream: &Stream, contender: &mut dyn Contender, recording: usize) -> Result<f64> {
    let start = stream.record()?;
    contender.replay(stream, recording)?;
    let end = stream.record()?;
    Ok(f64::from(start.elapsed_ms(&end)?) * 1e3)
}

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

use std::{thread, time::Duration};

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

/// What is timed: its launches, recorded.
struct Contender {
    burst: Graph,
    launches: usize,
    times: Vec<f64>,
}

/// The median time of one launch of each contender, in microseconds. `launch` puts one launch of a contender on a stream.
///
/// # Errors
/// Those of the launches.
pub fn medians(
    stream: &Stream,
    bursts: Bursts,
    contenders: usize,
    mut launch: impl FnMut(usize, &Stream) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    for at in 0..contenders {
        launch(at, stream)?;
        let single = recorded(stream.device(), 4, |stream| launch(at, stream))?;
        let alone = time_us(stream, &single)?.min(time_us(stream, &single)?) / 4.0;
        let launches =
            (bursts.length.as_secs_f64() * 1e6 / alone).round().clamp(4.0, 400.0) as usize;
        let burst = recorded(stream.device(), launches, |stream| launch(at, stream))?;
        burst.launch(stream)?;
        stream.synchronize()?;
        all.push(Contender { burst, launches, times: Vec::new() });
    }
    let mut order: Vec<usize> = (0..contenders).collect();
    let mut seed: u64 = 0x5851_f42d_4c95_7f2d;
    for _ in 0..bursts.rounds {
        for last in (1..order.len()).rev() {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            order.swap(last, (seed >> 33) as usize % (last + 1));
        }
        for &at in &order {
            let Contender { burst, launches, times } = &mut all[at];
            thread::sleep(bursts.pause);
            launch(at, stream)?;
            launch(at, stream)?;
            times.push(time_us(stream, burst)? / *launches as f64);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    Ok(all.into_iter().map(|one| median(one.times)).collect())
}

/// A graph of launches.
fn recorded(
    device: &Device,
    launches: usize,
    mut launch: impl FnMut(&Stream) -> Result<()>,
) -> Result<Graph> {
    let mut said = Ok(());
    let graph = device.capture(|stream| {
        said = (0..launches).try_for_each(|_| launch(stream));
        Ok(())
    })?;
    said?;
    Ok(graph)
}

/// How long a graph takes, between events.
fn time_us(stream: &Stream, graph: &Graph) -> Result<f64> {
    let start = stream.record()?;
    graph.launch(stream)?;
    let end = stream.record()?;
    Ok(f64::from(start.elapsed_ms(&end)?) * 1e3)
}

//! Times of instances on a GPU, measured so that disturbances do not decide.
//!
//! A GPU that has worked for a while is slower than one that has rested, and one that has just woken up is slower
//! still. So instances take turns: in each round each of them has one burst, after a pause, and the order changes from
//! round to round. The result is the median of an instance's bursts. An instance that is far behind drops out, but not
//! because of one disturbed burst.

use kernel_runtime::{Result, Stream};
use std::{thread, time::Duration};

/// Bursts of each instance.
const ROUNDS: usize = 7;

/// The pause before each burst.
const PAUSE: Duration = Duration::from_millis(5);

/// About how long a burst takes, in microseconds: far above what events resolve, and below what heats a GPU.
const BURST_US: f64 = 1000.0;

/// The most launches in a burst.
const MOST_LAUNCHES: f64 = 200.0;

/// How many times slower than the fastest an instance may be without dropping out.
const BEHIND: f64 = 1.5;

/// Bursts of each instance before any drops out. The lower of two is their median: one that was disturbed does not count.
const FIRST_BURSTS: usize = 2;

/// The cost of something, and how many bursts it is the median of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) cost: f64,
    pub(crate) bursts: u32,
}

/// A launch of the instance at a position.
pub(crate) type LaunchAt<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// The times of a launch of each of `count` instances, in microseconds. `each` is called after every burst.
///
/// `known` are times of other instances, which compete with the measured ones.
pub(crate) fn times(
    stream: &Stream,
    count: usize,
    known: f64,
    launch: &mut LaunchAt<'_>,
    each: &mut dyn FnMut(),
) -> Result<Vec<Cost>> {
    // The first launch of each has loaded its code and woken the GPU; one more tells how many make a burst.
    let mut launches = Vec::new();
    for at in 0..count {
        let us = burst(stream, 1, &mut || launch(at))?;
        launches.push(launches_of(us));
    }
    let mut bursts = vec![Vec::new(); count];
    let mut left: Vec<usize> = (0..count).collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..ROUNDS {
        random.shuffle(&mut left);
        for &at in &left {
            stream.synchronize()?;
            thread::sleep(PAUSE);
            launch(at)?;
            bursts[at].push(burst(stream, launches[at], &mut || launch(at))?);
            each();
        }
        drop_out(&mut left, &bursts, known);
    }
    let cost = |times: &Vec<f64>| Cost {
        cost: median(times),
        bursts: u32::try_from(times.len()).unwrap_or(u32::MAX),
    };
    Ok(bursts.iter().map(cost).collect())
}

/// Keeps those that are not far behind the fastest.
fn drop_out(left: &mut Vec<usize>, bursts: &[Vec<f64>], known: f64) {
    let best = left.iter().map(|&at| median(&bursts[at])).fold(known, f64::min);
    left.retain(|&at| bursts[at].len() < FIRST_BURSTS || median(&bursts[at]) <= best * BEHIND);
}

/// The most bursts.
pub(crate) fn bursts(count: usize) -> usize {
    count * ROUNDS
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number lies between 1 and MOST_LAUNCHES"
)]
fn launches_of(us: f64) -> u32 {
    (BURST_US / us.max(0.1)).clamp(1.0, MOST_LAUNCHES) as u32
}

/// Microseconds of one of `launches` launches between two events.
fn burst(stream: &Stream, launches: u32, launch: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let start = stream.record()?;
    for _ in 0..launches {
        launch()?;
    }
    let end = stream.record()?;
    end.synchronize()?;
    Ok(f64::from(start.elapsed_ms(&end)?) * 1e3 / f64::from(launches))
}

/// The median, the lower of two.
fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::INFINITY)
}

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Fisher and Yates.
    fn shuffle(&mut self, values: &mut [usize]) {
        for end in (1..values.len()).rev() {
            let other = usize::try_from(self.next() % (end as u64 + 1)).unwrap_or(0);
            values.swap(end, other);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "a median is one of the numbers")]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_time_in_the_middle() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[9.0, 1.0, 2.0, 3.0]), 2.0);
        assert_eq!(median(&[4.0]), 4.0);
    }

    #[test]
    fn an_instance_does_not_drop_out_for_one_slow_burst() {
        let left = |bursts: &[&[f64]], known| {
            let bursts: Vec<Vec<f64>> = bursts.iter().map(|times| times.to_vec()).collect();
            let mut left = (0..bursts.len()).collect();
            drop_out(&mut left, &bursts, known);
            left
        };
        assert_eq!(left(&[&[1.0], &[9.0]], f64::INFINITY), [0, 1]);
        assert_eq!(left(&[&[1.0, 1.0], &[9.0, 1.25]], f64::INFINITY), [0, 1]);
        assert_eq!(left(&[&[1.0, 1.0], &[1.5, 9.0], &[9.0, 1.75]], f64::INFINITY), [0, 1]);
        assert_eq!(left(&[&[8.0], &[9.0]], 1.0), [0, 1]);
        assert_eq!(left(&[&[8.0, 9.0], &[1.25, 9.0]], 1.0), [1]);
    }

    #[test]
    fn a_shuffle_keeps_every_value() {
        let mut values: Vec<usize> = (0..20).collect();
        let mut random = Random(1);
        random.shuffle(&mut values);
        assert_ne!(values, (0..20).collect::<Vec<_>>());
        values.sort_unstable();
        assert_eq!(values, (0..20).collect::<Vec<_>>());
    }
}

//! Counts of values.

use kiln::prelude::{Error, Result};
use kiln_kernels::routing::{TARGETS, histogram};

use super::experts_of;
use crate::support::{device, devices};

#[test]
fn values_within_the_bins_are_counted() -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        for (count, bins) in [(9000, 7), (5000, 256), (20_000, 300), (100, 65_536), (0, 3), (5, 0)]
        {
            let values = experts_of(count, 1, bins, 8);
            let mut required = vec![0; bins];
            for &value in &values {
                if let Some(count) = usize::try_from(value).ok().and_then(|i| required.get_mut(i)) {
                    *count += 1;
                }
            }
            let mut counts = stream.full([bins], -9)?;
            histogram(&stream, &stream.upload(&values, [count])?, &mut counts)?;
            assert!(counts.to_vec(&stream)? == required, "{count} values, {bins} bins");
        }
    }
    Ok(())
}

#[test]
fn extremes_are_in_no_bin() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let values = stream.upload(&[i32::MIN, i32::MAX, -1, 8192, 8191, 16384, 16383], [7])?;
    let mut counts = stream.zeros::<i32, 1>([16384])?;
    histogram(&stream, &values, &mut counts)?;
    let counts = counts.to_vec(&stream)?;
    assert_eq!((counts[8191], counts[8192], counts[16383]), (1, 1, 1));
    assert_eq!(counts.iter().sum::<i32>(), 3);
    Ok(())
}

#[test]
fn more_bins_are_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let refused = histogram(&stream, &stream.zeros([3])?, &mut stream.zeros([65_537])?);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}

//! Results of instances, compared with each other.

use crate::{Error, Result};
use half::{bf16, f16};
use kernel_runtime::{DeviceTensor, Element, Stream, e4m3, e5m2};

/// The output of a kernel: tensors whose contents can be restored and compared. `(x, y)` is two outputs together.
pub trait Output {
    /// A copy of the contents.
    type Saved;

    /// Whether there is something to compare. If so, a time counts as known only if the result was compared too.
    const COMPARES: bool = true;

    /// Copies the contents.
    ///
    /// # Errors
    /// Those of the copy.
    fn save(&self, stream: &Stream) -> kernel_runtime::Result<Self::Saved>;

    /// Restores contents.
    ///
    /// # Errors
    /// Those of the copy.
    fn restore(&mut self, saved: &Self::Saved, stream: &Stream) -> kernel_runtime::Result<()>;

    /// The contents as numbers, in row-major order.
    ///
    /// # Errors
    /// Those of the copy.
    fn values(&self, stream: &Stream) -> kernel_runtime::Result<Vec<f64>>;
}

/// Element types whose values are compared as numbers. 64-bit integers beyond 2^53 are rounded.
pub trait Compared: Element {
    /// The number nearest to the value.
    fn number(self) -> f64;
}

macro_rules! compared {
    ($($type:ty: $value:ident => $number:expr;)*) => {$(
        impl Compared for $type {
            fn number(self) -> f64 {
                let $value = self;
                $number
            }
        }
    )*};
}

compared! {
    bool: value => f64::from(u8::from(value));
    i8: value => f64::from(value);
    i16: value => f64::from(value);
    i32: value => f64::from(value);
    u8: value => f64::from(value);
    u16: value => f64::from(value);
    u32: value => f64::from(value);
    f16: value => value.to_f64();
    bf16: value => value.to_f64();
    f32: value => f64::from(value);
    f64: value => value;
    e4m3: value => value.to_f64();
    e5m2: value => value.to_f64();
}

macro_rules! rounded {
    ($($type:ty),*) => {$(
        impl Compared for $type {
            #[expect(clippy::cast_precision_loss, reason = "the trait says so")]
            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}

rounded!(i64, u64);

/// Nothing is compared.
impl Output for () {
    type Saved = ();

    const COMPARES: bool = false;

    fn save(&self, _: &Stream) -> kernel_runtime::Result<()> {
        Ok(())
    }

    fn restore(&mut self, (): &(), _: &Stream) -> kernel_runtime::Result<()> {
        Ok(())
    }

    fn values(&self, _: &Stream) -> kernel_runtime::Result<Vec<f64>> {
        Ok(Vec::new())
    }
}

impl<T: Compared, const R: usize> Output for DeviceTensor<T, R> {
    type Saved = Self;

    fn save(&self, stream: &Stream) -> kernel_runtime::Result<Self> {
        let mut saved = stream.zeros(self.shape())?;
        stream.copy(self, &mut saved)?;
        Ok(saved)
    }

    fn restore(&mut self, saved: &Self, stream: &Stream) -> kernel_runtime::Result<()> {
        stream.copy(saved, self)
    }

    fn values(&self, stream: &Stream) -> kernel_runtime::Result<Vec<f64>> {
        Ok(self.to_vec(stream)?.into_iter().map(Compared::number).collect())
    }
}

impl<O: Output> Output for &mut O {
    type Saved = O::Saved;

    const COMPARES: bool = O::COMPARES;

    fn save(&self, stream: &Stream) -> kernel_runtime::Result<O::Saved> {
        (**self).save(stream)
    }

    fn restore(&mut self, saved: &O::Saved, stream: &Stream) -> kernel_runtime::Result<()> {
        (**self).restore(saved, stream)
    }

    fn values(&self, stream: &Stream) -> kernel_runtime::Result<Vec<f64>> {
        (**self).values(stream)
    }
}

impl<A: Output, B: Output> Output for (A, B) {
    type Saved = (A::Saved, B::Saved);

    const COMPARES: bool = A::COMPARES || B::COMPARES;

    fn save(&self, stream: &Stream) -> kernel_runtime::Result<Self::Saved> {
        Ok((self.0.save(stream)?, self.1.save(stream)?))
    }

    fn restore(&mut self, saved: &Self::Saved, stream: &Stream) -> kernel_runtime::Result<()> {
        self.0.restore(&saved.0, stream)?;
        self.1.restore(&saved.1, stream)
    }

    fn values(&self, stream: &Stream) -> kernel_runtime::Result<Vec<f64>> {
        let mut values = self.0.values(stream)?;
        values.extend(self.1.values(stream)?);
        Ok(values)
    }
}

/// The greatest difference of two results.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference {
    element: usize,
    required: f64,
    actual: f64,
    greatest: f64,
    allowed: f64,
}

/// Compares results with the first one.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Relative to the greatest magnitude of a result.
    tolerance: f64,
    first: Option<(String, Vec<f64>)>,
    agreeing: usize,
    differing: Vec<(String, Difference)>,
}

impl Comparison {
    pub(crate) fn new(tolerance: f64) -> Self {
        Self { tolerance, first: None, agreeing: 0, differing: Vec::new() }
    }

    /// Adds the result of an instance.
    pub(crate) fn add(&mut self, instance: String, values: Vec<f64>) {
        let Some((_, first)) = &self.first else {
            self.first = Some((instance, values));
            return;
        };
        match difference(first, &values, self.tolerance) {
            None => self.agreeing += 1,
            Some(difference) => self.differing.push((instance, difference)),
        }
    }

    /// Whether all agree; names the one that does not. If more instances differ from the first than agree with it, that
    /// is the first.
    pub(crate) fn finish(self, kernel: &'static str) -> Result<()> {
        let Self { first, agreeing, mut differing, .. } = self;
        let Some((first, _)) = first else { return Ok(()) };
        if differing.is_empty() {
            return Ok(());
        }
        let is_first = differing.len() > agreeing + 1;
        let (other, Difference { element, required, actual, greatest, allowed }) =
            differing.swap_remove(0);
        Err(if is_first {
            let (required, actual) = (actual, required);
            let instance = first;
            Error::Different {
                kernel,
                instance,
                other,
                element,
                required,
                actual,
                greatest,
                allowed,
            }
        } else {
            let (instance, other) = (other, first);
            Error::Different {
                kernel,
                instance,
                other,
                element,
                required,
                actual,
                greatest,
                allowed,
            }
        })
    }
}

/// A finite bound that is not negative. Nothing is within a bound of NaN, and within a finite bound infinity differs
/// from everything else.
pub(crate) fn bound(value: f64) -> f64 {
    if value > 0.0 { value.min(f64::MAX) } else { 0.0 }
}

/// Where two results differ most, if by more than is allowed. NaN agrees with NaN; results of different lengths differ
/// where one of them ends.
#[expect(clippy::float_cmp, reason = "equal infinities have no difference")]
fn difference(required: &[f64], actual: &[f64], tolerance: f64) -> Option<Difference> {
    let finite = required.iter().filter(|value| value.is_finite());
    let greatest = finite.fold(0.0, |most: f64, value| most.max(value.abs()));
    let allowed = bound(greatest * tolerance);
    if required.len() != actual.len() {
        let element = required.len().min(actual.len());
        let at = |values: &[f64]| values.get(element).copied().unwrap_or(f64::NAN);
        let (required, actual) = (at(required), at(actual));
        return Some(Difference { element, required, actual, greatest, allowed });
    }
    let mut worst = None;
    let mut most = allowed;
    for (element, (&required, &actual)) in required.iter().zip(actual).enumerate() {
        let same = required == actual || (required.is_nan() && actual.is_nan());
        let apart = (required - actual).abs();
        // A difference that is not a number is one of infinities, or of a number and none.
        let apart = if apart.is_nan() { f64::INFINITY } else { apart };
        if !same && apart > most {
            most = apart;
            worst = Some(Difference { element, required, actual, greatest, allowed });
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(results: &[(&str, &[f64])], tolerance: f64) -> Option<String> {
        let mut comparison = Comparison::new(tolerance);
        for (name, values) in results {
            comparison.add((*name).to_owned(), values.to_vec());
        }
        comparison.finish("k").err().map(|error| error.to_string())
    }

    #[test]
    fn a_difference_names_the_instance_that_most_others_contradict() {
        let (right, wrong) = (&[1.0, 2.0, 4.0][..], &[1.0, 2.5, 4.0][..]);
        let second = "`k`: the result of the instance b differs from that of a, at element 1: required 2, actual 2.5, of values up \
                      to 4; `Tuner::tolerance` allows 0";
        assert_eq!(
            compared(&[("a", right), ("b", wrong), ("c", right)], 0.0).as_deref(),
            Some(second)
        );
        let first = "`k`: the result of the instance a differs from that of b, at element 1: required 2, actual 2.5, of values up \
                     to 4; `Tuner::tolerance` allows 0";
        assert_eq!(
            compared(&[("a", wrong), ("b", right), ("c", right)], 0.0).as_deref(),
            Some(first)
        );
        assert_eq!(compared(&[("a", right), ("b", right)], 0.0), None);
    }

    #[test]
    fn a_tolerance_is_relative_to_the_greatest_value() {
        let (one, two) = (&[0.0, 8.0][..], &[0.5, 8.0][..]);
        assert_eq!(compared(&[("a", one), ("b", two)], 0.0625), None);
        assert!(compared(&[("a", one), ("b", two)], 0.0624).is_some());
    }

    #[test]
    fn a_tolerance_that_is_no_number_allows_nothing() {
        let (one, other) = (&[1.0][..], &[1.5][..]);
        assert!(compared(&[("a", one), ("b", other)], f64::NAN).is_some());
        assert!(compared(&[("a", one), ("b", other)], -1.0).is_some());
        assert_eq!(compared(&[("a", one), ("b", one)], f64::NAN), None);
        // Nothing but zeros allows nothing, whatever it is multiplied with.
        assert!(compared(&[("a", &[0.0]), ("b", one)], f64::INFINITY).is_some());
    }

    #[test]
    fn results_of_different_lengths_differ_where_one_of_them_ends() {
        let (short, long) = (&[1.0, 2.0][..], &[1.0, 2.0, 4.0][..]);
        for tolerance in [0.0, 0.5, f64::INFINITY] {
            let message = compared(&[("a", short), ("b", long)], tolerance).expect("one is longer");
            assert!(message.contains("at element 2: required NaN, actual 4,"), "{message}");
            let message =
                compared(&[("a", long), ("b", short)], tolerance).expect("one is shorter");
            assert!(message.contains("at element 2: required 4, actual NaN,"), "{message}");
        }
    }

    #[test]
    fn nan_agrees_with_nan_alone() {
        let (nan, one, infinite) = (&[f64::NAN][..], &[1.0][..], &[f64::INFINITY][..]);
        let (before, behind) = (&[f64::NAN, 1.0][..], &[1.0, f64::NAN][..]);
        assert!(compared(&[("a", before), ("b", behind)], 0.5).is_some(), "in other places");
        assert!(compared(&[("a", one), ("b", nan)], f64::INFINITY).is_some());
        assert!(compared(&[("a", nan), ("b", one)], f64::INFINITY).is_some());
        assert_eq!(compared(&[("a", nan), ("b", nan)], 0.0), None);
        assert!(compared(&[("a", one), ("b", nan)], 0.5).is_some());
        assert!(compared(&[("a", one), ("b", infinite)], 0.5).is_some());
        assert_eq!(compared(&[("a", infinite), ("b", infinite)], 0.0), None);
    }
}

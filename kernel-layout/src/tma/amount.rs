//! Numbers of a plan: known while compiling, or expressions over the tensor's axes that the launch computes.

use std::fmt;

/// An extent or stride of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// It is known while compiling.
    Known(u64),
    /// The extent, or the stride, of an axis of the tensor that the launch is given.
    Axis {
        /// The axis of that tensor.
        axis: usize,
        /// Its known divisor, at least 1. Plans rely on those of extents; the launch checks strides.
        multiple_of: u64,
    },
}

/// Where the window that is copied begins along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Start {
    /// It is known while compiling. It may be before the tensor.
    Known(i64),
    /// It is a run-time value of the kernel.
    Value {
        /// What it is known to be a multiple of, at least 1.
        multiple_of: u64,
    },
}

/// The extent of a dimension of a map, in elements of the map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Size {
    /// It is known while compiling.
    Known(u64),
    /// The extent of an axis of the tensor, divided without remainder.
    Axis {
        /// The axis of the tensor.
        axis: usize,
        /// The divisor of its extent.
        divide: u64,
        /// The known divisor of the quotient.
        multiple_of: u64,
    },
}

impl Size {
    pub(super) fn of(number: Number) -> Size {
        match number {
            Number::Known(size) => Size::Known(size),
            Number::Axis { axis, multiple_of } => Size::Axis { axis, divide: 1, multiple_of },
        }
    }

    pub(super) fn known(self) -> Option<u64> {
        match self {
            Size::Known(size) => Some(size),
            Size::Axis { .. } => None,
        }
    }

    /// The value divided by `by`, if it is known to be a multiple.
    pub(super) fn divided(self, by: u64) -> Option<Size> {
        match self {
            Size::Known(size) => size.is_multiple_of(by).then(|| Size::Known(size / by)),
            Size::Axis { axis, divide, multiple_of } => {
                let divide = divide.checked_mul(by)?;
                let whole = multiple_of.is_multiple_of(by);
                whole.then(|| Size::Axis { axis, divide, multiple_of: multiple_of / by })
            }
        }
    }
}

/// The stride of a dimension of a map, in elements of the tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// It is known while compiling.
    Known(u64),
    /// The stride of an axis of the tensor, multiplied.
    Axis {
        /// The axis of the tensor.
        axis: usize,
        /// The factor of its stride.
        times: u64,
    },
}

impl Step {
    pub(super) fn of(number: Number) -> Step {
        match number {
            Number::Known(stride) => Step::Known(stride),
            Number::Axis { axis, multiple_of: _ } => Step::Axis { axis, times: 1 },
        }
    }

    pub(super) fn known(self) -> Option<u64> {
        match self {
            Step::Known(stride) => Some(stride),
            Step::Axis { .. } => None,
        }
    }

    pub(super) fn scaled(self, by: u64) -> Option<Step> {
        match self {
            Step::Known(stride) => stride.checked_mul(by).map(Step::Known),
            Step::Axis { axis, times } => {
                times.checked_mul(by).map(|times| Step::Axis { axis, times })
            }
        }
    }
}

/// A coordinate of an instruction: a number, and a fraction of where the window begins along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Coordinate {
    /// The number.
    pub plus: i64,
    /// The summand.
    pub start: Option<ScaledStart>,
}

/// Where the window begins along an axis, multiplied and divided without remainder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScaledStart {
    /// The axis of the tensor.
    pub axis: usize,
    /// The factor of the start.
    pub times: u64,
    /// The divisor of the product.
    pub divide: u64,
    /// The known divisor of the result.
    pub multiple_of: u64,
}

impl Coordinate {
    pub(super) const ZERO: Coordinate = Coordinate { plus: 0, start: None };

    pub(super) fn of(axis: usize, start: Start) -> Coordinate {
        match start {
            Start::Known(plus) => Coordinate { plus, start: None },
            Start::Value { multiple_of } => {
                let start = ScaledStart { axis, times: 1, divide: 1, multiple_of };
                Coordinate { plus: 0, start: Some(start) }
            }
        }
    }

    /// Whether it is a multiple of `by` for every start.
    pub(super) fn is_multiple_of(self, by: u64) -> bool {
        self.plus.unsigned_abs().is_multiple_of(by)
            && self.start.is_none_or(|start| start.multiple_of.is_multiple_of(by))
    }

    /// The value divided by `by`, if it is known to be a multiple.
    pub(super) fn divided(self, by: u64) -> Option<Coordinate> {
        if !self.is_multiple_of(by) {
            return None;
        }
        let start = match self.start {
            None => None,
            Some(start) => {
                let multiple_of = start.multiple_of / by;
                Some(ScaledStart { divide: start.divide.checked_mul(by)?, multiple_of, ..start })
            }
        };
        Some(Coordinate { plus: self.plus / i64::try_from(by).ok()?, start })
    }

    pub(super) fn scaled(self, by: u64) -> Option<Coordinate> {
        let start = match self.start {
            None => None,
            Some(start) => {
                let multiple_of = start.multiple_of.checked_mul(by)?;
                Some(ScaledStart { times: start.times.checked_mul(by)?, multiple_of, ..start })
            }
        };
        Some(Coordinate { plus: self.plus.checked_mul(i64::try_from(by).ok()?)?, start })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Known(number) => number.fmt(f),
            Number::Axis { multiple_of, .. } => write!(f, "some multiple of {multiple_of}"),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Known(number) => number.fmt(f),
            Start::Value { multiple_of } => write!(f, "some multiple of {multiple_of}"),
        }
    }
}

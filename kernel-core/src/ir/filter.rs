//! Filters that tensor maps go over: which element of a tensor is under a tap of a filter at one of its places.
//!
//! A filter of 3 x 3 taps at a stride of 2, with a padding of 1, has four places along an axis of 8 elements:
//!
//! ```text
//! elements     0  1  2  3  4  5  6  7
//! place 0   .  x  x
//! place 1         x  x  x
//! place 2               x  x  x
//! place 3                     x  x  x
//! ```
//!
//! The padding of 1 after the elements is not enough for a fifth place.

/// A filter along one axis of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterAxis {
    /// How many taps it has.
    pub taps: u32,
    /// The elements from one place to the next.
    pub stride: u32,
    /// The elements before the tensor at which the first place begins, and those after it that places may reach.
    pub padding: u32,
    /// The elements from one tap to the next.
    pub dilation: u32,
}

impl FilterAxis {
    /// Where the first place begins.
    pub const fn first(self) -> i32 {
        -self.padding.cast_signed()
    }

    /// The last position at which a place can begin, from the last element on.
    pub const fn last(self) -> i32 {
        self.padding.cast_signed() - self.reach().cast_signed()
    }

    /// The elements from the first tap to the last.
    pub const fn reach(self) -> u32 {
        (self.taps - 1) * self.dilation
    }

    /// How many places there are along an axis of this extent.
    pub fn places(self, extent: i128) -> i128 {
        let free = extent + 2 * i128::from(self.padding) - i128::from(self.reach());
        if free < 1 { 0 } else { (free - 1) / i128::from(self.stride) + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::FilterAxis;

    #[test]
    fn places_are_those_at_which_all_taps_are_within_the_padding() {
        for (taps, stride, padding, dilation, extent, places) in [
            (3, 2, 1, 1, 8, 4),
            (3, 2, 1, 1, 7, 4),
            (3, 1, 1, 1, 8, 8),
            (3, 1, 0, 1, 2, 0),
            (3, 1, 0, 2, 5, 1),
            (3, 1, 0, 2, 4, 0),
            (1, 1, 0, 1, 1, 1),
            (1, 8, 0, 1, 17, 3),
            (2, 3, 4, 5, 1, 2),
        ] {
            let axis = FilterAxis { taps, stride, padding, dilation };
            assert_eq!(axis.places(extent), places, "{axis:?} along {extent}");
            // One by one.
            let end = extent + i128::from(padding);
            let begins = (i128::from(axis.first())..).step_by(stride as usize);
            let within = begins.take_while(|first| first + i128::from(axis.reach()) < end);
            let count = i128::try_from(within.count()).expect("there are few");
            assert_eq!(count, places, "{axis:?}");
        }
    }
}

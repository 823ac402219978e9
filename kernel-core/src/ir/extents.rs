//! The extents of a tile, as an attribute of an operation.

/// The most axes of a tile.
const MOST_AXES: usize = 5;

/// The extents of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    rank: usize,
    /// Those beyond the rank are 1.
    extents: [u32; MOST_AXES],
}

impl Extents {
    /// Of a tile of rank 5 at most.
    pub fn of(shape: &[u32]) -> Extents {
        let mut extents = [1; MOST_AXES];
        extents[..shape.len()].copy_from_slice(shape);
        Extents { rank: shape.len(), extents }
    }

    /// Outermost first.
    pub fn shape(&self) -> &[u32] {
        &self.extents[..self.rank]
    }
}

/// Whether a copy goes from a tile of one shape to one of the other: neighbouring axes are merged or taken apart, and axes of extent 1
/// dropped or added, so that the elements of both are the same in row-major order.
///
/// ```text
/// [1, 4, 16, 32]  [64, 32]   yes
/// [64, 32]        [32, 64]   no, neither is made of axes of the other
/// ```
pub fn merges(a: &[u32], b: &[u32]) -> bool {
    let (a, b) = (steps(a), steps(b));
    let within = |a: &[u64], b: &[u64]| a.iter().all(|step| b.contains(step));
    a.last() == b.last() && (within(&a, &b) || within(&b, &a))
}

/// How far apart neighbours on each axis are in row-major order, the innermost axis first; last the number of elements.
fn steps(shape: &[u32]) -> Vec<u64> {
    let next = |step: &mut u64, extent: &u32| {
        *step *= u64::from(*extent);
        Some(*step)
    };
    shape.iter().rev().scan(1, next).collect()
}

#[cfg(test)]
mod tests {
    use super::merges;

    #[test]
    fn axes_merge_and_those_of_extent_1_come_and_go() {
        for (a, b) in [
            (&[1, 64, 64][..], &[64, 64][..]),
            (&[1, 4, 16, 32], &[64, 32]),
            (&[64, 1], &[64]),
            (&[4, 16, 32], &[2048]),
            (&[1, 1], &[1]),
        ] {
            assert!(merges(a, b) && merges(b, a), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn other_elements_or_another_order_do_not_merge() {
        for (a, b) in [
            (&[64, 32][..], &[32, 64][..]),
            (&[64, 64], &[64, 32]),
            (&[2, 8, 4], &[4, 16]),
            (&[4, 4], &[8]),
        ] {
            assert!(!merges(a, b) && !merges(b, a), "{a:?} and {b:?}");
        }
    }
}

//! Rotations of pairs.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Real,
    pointwise::{self, Direction, Pairs, Rotation, rotate, rotate_in_place},
};

use super::roundings;
use crate::support::{Number, assert_close, devices, numbers};

const ALL: [Rotation; 4] = {
    use Direction::{Forward, Inverse};
    use Pairs::{Halves, Neighbours};
    [
        Rotation { pairs: Halves, direction: Forward },
        Rotation { pairs: Halves, direction: Inverse },
        Rotation { pairs: Neighbours, direction: Forward },
        Rotation { pairs: Neighbours, direction: Inverse },
    ]
};

const POSITIONS: usize = 7;

/// Queries or keys, the tables, and a position for each token.
struct Case<T> {
    stream: Stream,
    shape: [usize; 3],
    host: Vec<T>,
    tables: [Vec<f32>; 2],
    places: Vec<i32>,
    x: DeviceTensor<T, 3>,
    cos: DeviceTensor<f32, 2>,
    sin: DeviceTensor<f32, 2>,
    positions: DeviceTensor<i32, 1>,
}

impl<T: Number + Real> Case<T> {
    fn new(stream: Stream, shape: [usize; 3]) -> Result<Case<T>> {
        let [tokens, heads, dim] = shape;
        let host = numbers::<T>(tokens * heads * dim, 1);
        let angles = numbers::<f32>(POSITIONS * (dim / 2), 2);
        let tables: [Vec<f32>; 2] =
            [f32::cos, f32::sin].map(|of| angles.iter().map(|&angle| of(3.0 * angle)).collect());
        // Some are outside of the tables.
        let places: Vec<i32> = [3, 0, 6, 7, -1, 2].into_iter().cycle().take(tokens).collect();
        let x = stream.upload(&host, shape)?;
        let cos = stream.upload(&tables[0], [POSITIONS, dim / 2])?;
        let sin = stream.upload(&tables[1], [POSITIONS, dim / 2])?;
        let positions = stream.upload(&places, [tokens])?;
        Ok(Case { stream, shape, host, tables, places, x, cos, sin, positions })
    }

    /// Each number, and how far it may be off.
    fn required(&self, rotation: Rotation) -> Vec<(f64, f64)> {
        let [tokens, heads, dim] = self.shape;
        let half = dim / 2;
        let mut all = vec![(f64::NAN, 0.0); self.host.len()];
        for token in 0..tokens {
            let row = usize::try_from(self.places[token]).ok().filter(|&row| row < POSITIONS);
            for head in 0..heads {
                let start = (token * heads + head) * dim;
                for pair in 0..half {
                    let (first, second) = match rotation.pairs {
                        Pairs::Halves => (start + pair, start + half + pair),
                        Pairs::Neighbours => (start + 2 * pair, start + 2 * pair + 1),
                    };
                    let of = |table: &[f32]| row.map_or(0.0, |row| table[row * half + pair].into());
                    let (c, mut s): (f64, f64) = (of(&self.tables[0]), of(&self.tables[1]));
                    if rotation.direction == Direction::Inverse {
                        s = -s;
                    }
                    let (a, b) = (self.host[first].value(), self.host[second].value());
                    // Two products and a sum: what is rounded passes through two roundings.
                    let off = |x: f64, y: f64| roundings(2) * (x.abs() + y.abs());
                    all[first] = (a * c - b * s, off(a * c, b * s));
                    all[second] = (b * c + a * s, off(b * c, a * s));
                }
            }
        }
        all
    }

    fn run(&self, rotation: Rotation, out: &mut DeviceTensor<T, 3>) -> Result<()> {
        let tables = [&self.cos, &self.sin];
        rotate(&self.stream, rotation, &self.positions, tables, &self.x, out)
    }
}

fn rotates<T: Number + Real>(shapes: &[[usize; 3]]) -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        for &shape in shapes {
            let case = Case::<T>::new(device.stream()?, shape)?;
            for rotation in ALL {
                let (what, required) =
                    (format!("{rotation:?} of {shape:?}"), case.required(rotation));
                let mut out = case.stream.full(shape, T::of(f64::NAN))?;
                case.run(rotation, &mut out)?;
                assert_close(&what, shape[2], &out.to_vec(&case.stream)?, &required);
                let mut x = case.stream.upload(&case.host, shape)?;
                let tables = [&case.cos, &case.sin];
                rotate_in_place(&case.stream, rotation, &case.positions, tables, &mut x)?;
                assert_close(&what, shape[2], &x.to_vec(&case.stream)?, &required);
            }
        }
    }
    Ok(())
}

#[test]
fn heads_of_usual_dimensions_are_rotated() -> Result<()> {
    rotates::<bf16>(&[[2, 17, 64], [1, 3, 128]])?;
    rotates::<f16>(&[[3, 2, 80]])?;
    rotates::<f32>(&[[1, 2, 256], [6, 1, 32]])
}

#[test]
fn heads_of_any_dimension_are_rotated() -> Result<()> {
    rotates::<bf16>(&[[2, 3, 2], [2, 17, 74]])?;
    rotates::<f32>(&[[2, 2, 134], [1, 1, 6]])?;
    rotates::<f16>(&[[0, 4, 64], [4, 0, 64], [4, 4, 0]])
}

#[test]
fn the_inverse_takes_a_rotation_back() -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let case = Case::<f32>::new(device.stream()?, [3, 2, 64])?;
        for pairs in [Pairs::Halves, Pairs::Neighbours] {
            let mut x = case.stream.upload(&case.host, case.shape)?;
            for direction in [Direction::Forward, Direction::Inverse] {
                let rotation = Rotation { pairs, direction };
                let tables = [&case.cos, &case.sin];
                rotate_in_place(&case.stream, rotation, &case.positions, tables, &mut x)?;
            }
            // Twice two products and a sum, of numbers below 2; cos² + sin² of rounded tables is off by four roundings.
            let required: Vec<_> =
                case.host.iter().map(|x| (x.value(), 2.0 * roundings(8))).collect();
            assert_close("there and back", 64, &x.to_vec(&case.stream)?, &required);
        }
    }
    Ok(())
}

#[test]
fn queries_and_keys_of_one_tensor_are_rotated_in_place() -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        // Four heads of queries, two of keys, two of values.
        let case = Case::<bf16>::new(device.stream()?, [3, 8, 64])?;
        let mut all = case.stream.upload(&case.host, [3, 8, 64])?;
        let tables = [&case.cos, &case.sin];
        let mut rotated = all.slice_mut(1, 0..6)?;
        rotate_in_place(&case.stream, ALL[0], &case.positions, tables, &mut rotated)?;
        let (mut required, actual) = (case.required(ALL[0]), all.to_vec(&case.stream)?);
        for (at, required) in required.iter_mut().enumerate() {
            if at / 64 % 8 >= 6 {
                *required = (case.host[at].value(), 0.0);
            }
        }
        assert_close("a view of heads", 64, &actual, &required);
    }
    Ok(())
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let refused = |tokens: usize, tables: [[usize; 2]; 2], x: [usize; 3]| {
        let positions = stream.zeros::<i32, 1>([tokens])?;
        let [cos, sin] = tables.map(|shape| stream.zeros::<f32, 2>(shape));
        let (cos, sin) = (cos?, sin?);
        let (x, mut out) = (stream.zeros::<f32, 3>(x)?, stream.zeros::<f32, 3>([2, 3, 16])?);
        let result = rotate(&stream, ALL[0], &positions, [&cos, &sin], &x, &mut out);
        assert!(matches!(result, Err(Error::Shape { .. })), "{result:?}");
        Ok::<(), Error>(())
    };
    refused(3, [[4, 8], [4, 8]], [2, 3, 16])?;
    refused(2, [[4, 7], [4, 7]], [2, 3, 16])?;
    refused(2, [[4, 8], [5, 8]], [2, 3, 16])?;
    refused(2, [[4, 8], [4, 8]], [2, 3, 18])
}

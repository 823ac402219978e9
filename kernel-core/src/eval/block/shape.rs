//! Tiles made of the elements of others in another order, or of their own indices.

use super::{Machine, coordinates, flat};
use crate::eval::arith;
use crate::eval::element::{Data, Element};
use crate::ir::{Dtype, Value};

impl Machine<'_> {
    pub(super) fn arange(&self, low: i32, result: Value) -> Data {
        let extent = self.shape(result)[0];
        let range = (0..i128::from(extent)).map(|at| i128::from(low) + at);
        Data::Tile(range.map(|value| arith::number(Dtype::I32, Element::Int(value))).collect())
    }

    pub(super) fn broadcast(&self, from: Value, result: Value) -> Data {
        let (source, extents) = (self.elements(from), self.shape(from));
        let pick = |at: Vec<u32>| {
            let clipped: Vec<u32> =
                at.iter().zip(extents).map(|(at, &extent)| at % extent).collect();
            source[flat(&clipped, extents)]
        };
        Data::Tile(coordinates(self.shape(result)).map(pick).collect())
    }

    pub(super) fn join(&self, args: &[Value]) -> Data {
        let pairs = self.elements(args[0]).iter().zip(self.elements(args[1]));
        Data::Tile(pairs.flat_map(|(&a, &b)| [a, b]).collect())
    }

    pub(super) fn split(&self, index: u32, from: Value) -> Data {
        Data::Tile(self.elements(from).iter().skip(index as usize).step_by(2).copied().collect())
    }

    pub(super) fn flip(&self, axis: usize, from: Value) -> Data {
        let (source, extents) = (self.elements(from), self.shape(from));
        let pick = |mut at: Vec<u32>| {
            at[axis] = extents[axis] - 1 - at[axis];
            source[flat(&at, extents)]
        };
        Data::Tile(coordinates(extents).map(pick).collect())
    }

    pub(super) fn permute(&self, order: &[u32], from: Value, result: Value) -> Data {
        let (source, extents) = (self.elements(from), self.shape(from));
        let pick = |at: Vec<u32>| {
            let mut original = vec![0; extents.len()];
            for (&axis, at) in order.iter().zip(at) {
                original[axis as usize] = at;
            }
            source[flat(&original, extents)]
        };
        Data::Tile(coordinates(self.shape(result)).map(pick).collect())
    }
}

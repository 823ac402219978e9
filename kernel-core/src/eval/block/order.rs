//! Tiles in order, chosen by their indices, and counted.

use super::{Machine, coordinates, flat, product};
use crate::eval::element::{Data, Element};
use crate::ir::Value;

impl Machine<'_> {
    /// The least elements of each line along an axis, in ascending order.
    pub(super) fn sort(&self, axis: usize, from: Value, result: Value) -> Data {
        let (source, extents) = (self.elements(from), self.shape(from));
        let kept = self.shape(result);
        let (length, inner) = (extents[axis] as usize, product(&extents[axis + 1..]));
        let mut sorted = vec![Element::Undefined; product(kept)];
        for line in 0..product(&extents[..axis]) * inner {
            let (outer, within) = (line / inner, line % inner);
            let place = |at: usize, length: usize| (outer * length + at) * inner + within;
            let elements = (0..length).map(|at| source[place(at, length)].as_int().ok());
            // What is compared with an undefined element may be anywhere.
            let Some(mut elements) = elements.collect::<Option<Vec<i128>>>() else { continue };
            elements.sort_unstable();
            let stays = kept[axis] as usize;
            for (at, element) in elements.into_iter().take(stays).enumerate() {
                sorted[place(at, stays)] = Element::Int(element);
            }
        }
        Data::Tile(sorted)
    }

    /// The elements of a tile along an axis at the indices of another one.
    pub(super) fn gather(&self, axis: usize, args: &[Value], result: Value) -> Data {
        let (source, extents) = (self.elements(args[0]), self.shape(args[0]));
        let outside = Element::zero(self.dtype(result));
        let pick = |(mut at, index): (Vec<u32>, &Element)| {
            let Ok(index) = index.as_int() else { return Element::Undefined };
            match u32::try_from(index) {
                Ok(index) if index < extents[axis] => {
                    at[axis] = index;
                    source[flat(&at, extents)]
                }
                Ok(_) | Err(_) => outside,
            }
        };
        Data::Tile(coordinates(self.shape(result)).zip(self.elements(args[1])).map(pick).collect())
    }

    /// How many elements have each value from 0 on.
    pub(super) fn histogram(&self, from: Value, result: Value) -> Data {
        let bins = product(self.shape(result));
        let values: Option<Vec<i128>> =
            self.elements(from).iter().map(|element| element.as_int().ok()).collect();
        let Some(values) = values else { return Data::Tile(vec![Element::Undefined; bins]) };
        let mut counts = vec![0; bins];
        for value in values {
            if let Some(count) = usize::try_from(value).ok().and_then(|value| counts.get_mut(value))
            {
                *count += 1;
            }
        }
        Data::Tile(counts.into_iter().map(Element::Int).collect())
    }
}

//! Block-scaled products: factors as numbers, each times the scale of its block.

use super::Machine;
use crate::eval::element::Element;
use crate::ir::{Scaled, Value};

impl Machine<'_> {
    /// The factors of a block-scaled product as numbers: rows of the left one, rows of the right one as its depth goes, and how deep
    /// it is.
    pub(super) fn scaled_factors(
        &self,
        scaled: Scaled,
        args: &[Value],
    ) -> (Vec<Element>, Vec<Element>, usize) {
        let (a, b) = (self.read_factor(self.rank, args[0]), self.read_shared(args[1]));
        let bytes = self.shape(args[1])[0] as usize;
        let columns = self.shape(args[1])[1] as usize;
        let to_a_byte = scaled.to_a_byte() as usize;
        let (depth, block) = (bytes * to_a_byte, scaled.block() as usize);
        let scales = [4, 5].map(|at| self.read_tensor_memory(self.rank, args[at]));
        let scaled_by = |value: Element, scales: &[Element], line: usize, k: usize| {
            let scale = number(scales[line * (depth / block) + k / block], ue8m0);
            match (scale, value) {
                (Element::Float(scale), Element::Float(value)) => Element::Float(scale * value),
                _ => Element::Undefined,
            }
        };
        let of_byte = |byte: Element, k: usize| match scaled {
            Scaled::Mxf8 => byte,
            Scaled::Mxf4 | Scaled::Nvf4 => number(byte, |byte| e2m1(byte >> (4 * (k % 2)) & 0xf)),
        };
        let left = (0..a.len() * to_a_byte)
            .map(|at| {
                let (row, k) = (at / depth, at % depth);
                scaled_by(of_byte(a[at / to_a_byte], k), &scales[0], row, k)
            })
            .collect();
        let right = (0..b.len() * to_a_byte)
            .map(|at| {
                let (k, column) = (at / columns, at % columns);
                let byte = b[k / to_a_byte * columns + column];
                scaled_by(of_byte(byte, k), &scales[1], column, k)
            })
            .collect();
        (left, right, depth)
    }
}

/// An element as a number: what is one already, or what its bits mean.
fn number(element: Element, of: impl Fn(u8) -> f64) -> Element {
    match element {
        Element::Int(bits) => Element::Float(of((bits & 0xff).try_into().expect("masked"))),
        Element::Float(_) | Element::Bool(_) | Element::Pointer(_) | Element::Undefined => element,
    }
}

/// A power of two: 2^(bits - 127), and NaN for 255 (OCP Microscaling Formats, "E8M0").
fn ue8m0(bits: u8) -> f64 {
    if bits == u8::MAX { f64::NAN } else { 2f64.powi(i32::from(bits) - 127) }
}

/// A sign, two bits of exponent and one of fraction (OCP Microscaling Formats, "FP4 E2M1").
fn e2m1(bits: u8) -> f64 {
    let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][usize::from(bits & 7)];
    if bits & 8 == 0 { magnitude } else { -magnitude }
}

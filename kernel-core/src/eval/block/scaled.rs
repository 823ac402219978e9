//! Factors of products as numbers: FP4 taken out of its bytes, and, of block-scaled products, each times the scale of its block.

use super::Machine;
use crate::eval::element::Element;
use crate::ir::{Dtype, Scaled, Type, Value};

impl Machine<'_> {
    /// The factors of a product of one block as numbers: rows of the left one, rows of the right one as its depth goes, and how
    /// deep it is.
    pub(super) fn factors(
        &self,
        scaled: Option<Scaled>,
        args: &[Value],
    ) -> (Vec<Element>, Vec<Element>, usize) {
        let columns = self.shape(args[1])[1] as usize;
        let left = left_numbers(self.factor_dtype(args[0]), self.read_factor(self.rank, args[0]));
        let dtype = self.factor_dtype(args[1]);
        let right = right_numbers(dtype, self.read_shared(args[1]), columns);
        let depth = self.shape(args[1])[0] as usize * dtype.numbers() as usize;
        let Some(scaled) = scaled else { return (left, right, depth) };
        let blocks = depth / scaled.block() as usize;
        let scales = [4, 5].map(|at| self.read_tensor_memory(self.rank, args[at]));
        let scaled_by = |value: Element, scales: &[Element], line: usize, k: usize| {
            let scale = number(scales[line * blocks + k / scaled.block() as usize], ue8m0);
            match (scale, value) {
                (Element::Float(scale), Element::Float(value)) => Element::Float(scale * value),
                _ => Element::Undefined,
            }
        };
        let of_row = |(at, value)| scaled_by(value, &scales[0], at / depth, at % depth);
        let of_column = |(at, value)| scaled_by(value, &scales[1], at % columns, at / columns);
        (
            left.into_iter().enumerate().map(of_row).collect(),
            right.into_iter().enumerate().map(of_column).collect(),
            depth,
        )
    }

    fn factor_dtype(&self, factor: Value) -> Dtype {
        match self.ty(factor) {
            Type::TensorMemory(ty) => ty.dtype,
            Type::Shared(_) | Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => {
                self.shared_dtype(factor)
            }
        }
    }
}

/// The numbers of a left factor, row by row: both of a byte lie in its row.
fn left_numbers(dtype: Dtype, elements: Vec<Element>) -> Vec<Element> {
    if dtype != Dtype::E2m1x2 {
        return elements;
    }
    elements.into_iter().flat_map(pair).collect()
}

/// The numbers of a right factor, as its depth goes: both of a byte lie in its column.
fn right_numbers(dtype: Dtype, elements: Vec<Element>, columns: usize) -> Vec<Element> {
    if dtype != Dtype::E2m1x2 {
        return elements;
    }
    let rows = elements.chunks(columns);
    rows.flat_map(|row| {
        [0, 1].map(|half: usize| row.iter().map(move |&byte| pair(byte)[half]).collect::<Vec<_>>())
    })
    .flatten()
    .collect()
}

/// The two numbers of a byte, that of the lower half first.
fn pair(byte: Element) -> [Element; 2] {
    [0, 4].map(|shift| number(byte, |bits| e2m1(bits >> shift & 0xf)))
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

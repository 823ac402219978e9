//! Operands of products as numbers: those narrower than a byte unpacked, and, in block-scaled products, each times the scale of its block.

use super::Machine;
use crate::eval::element::Element;
use crate::ir::{Dtype, Scaled, Type, Value};

impl Machine<'_> {
    /// The operands of a product of one block as numbers: rows of the left one, rows of the right one as its depth goes, and how
    /// deep it is.
    pub(super) fn factors(
        &self,
        scaled: Option<Scaled>,
        args: &[Value],
    ) -> (Vec<Element>, Vec<Element>, usize) {
        let columns = self.shape(args[1])[1] as usize;
        let factors = [self.left_factor(self.rank, args[0]), self.right_factor(self.rank, args[1])];
        let depth = factors[1].len() / columns;
        let [left, right] =
            self.scaled_factors(self.rank, factors, (scaled, [depth, columns]), args);
        (left, right, depth)
    }

    /// The left operand that a block has, as numbers.
    pub(super) fn left_factor(&self, rank: usize, factor: Value) -> Vec<Element> {
        left_numbers(self.factor_dtype(factor), self.read_factor(rank, factor))
    }

    /// The right operand that a block has in shared memory, as numbers.
    pub(super) fn right_factor(&self, rank: usize, factor: Value) -> Vec<Element> {
        let columns = self.shape(factor)[1] as usize;
        right_numbers(self.factor_dtype(factor), self.read_shared_of(rank, factor), columns)
    }

    /// Operands of such a depth and so many columns, times the scales that a block has of them, if they have any.
    pub(super) fn scaled_factors(
        &self,
        rank: usize,
        factors: [Vec<Element>; 2],
        (scaled, extents): (Option<Scaled>, [usize; 2]),
        args: &[Value],
    ) -> [Vec<Element>; 2] {
        let Some(scaled) = scaled else { return factors };
        let scales = [4, 5].map(|at| self.read_tensor_memory(rank, args[at]));
        times_scales(factors, [&scales[0], &scales[1]], scaled, extents)
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

/// Operands, each times the scale of its block.
pub(super) fn times_scales(
    [left, right]: [Vec<Element>; 2],
    [of_left, of_right]: [&[Element]; 2],
    scaled: Scaled,
    [depth, columns]: [usize; 2],
) -> [Vec<Element>; 2] {
    let block = scaled.block() as usize;
    let scaled_by = |value: Element, scales: &[Element], line: usize, k: usize| {
        let scale = number(scales[line * (depth / block) + k / block], ue8m0);
        match (scale, value) {
            (Element::Float(scale), Element::Float(value)) => Element::Float(scale * value),
            _ => Element::Undefined,
        }
    };
    let of_row = |(at, value)| scaled_by(value, of_left, at / depth, at % depth);
    let of_column = |(at, value)| scaled_by(value, of_right, at % columns, at / columns);
    [
        left.into_iter().enumerate().map(of_row).collect(),
        right.into_iter().enumerate().map(of_column).collect(),
    ]
}

/// The numbers of a left operand, row by row: those of an element are in its row.
pub(super) fn left_numbers(dtype: Dtype, elements: Vec<Element>) -> Vec<Element> {
    let Some(packing) = dtype.row().packing else { return elements };
    let all = 0..packing.numbers;
    elements
        .into_iter()
        .flat_map(|element| all.clone().map(move |at| one_of(element, at, packing.format)))
        .collect()
}

/// The numbers of a right operand, as its depth goes: those of an element are in its column.
pub(super) fn right_numbers(dtype: Dtype, elements: Vec<Element>, columns: usize) -> Vec<Element> {
    let Some(packing) = dtype.row().packing else { return elements };
    let mut numbers = Vec::new();
    for row in elements.chunks(columns) {
        for at in 0..packing.numbers {
            numbers.extend(row.iter().map(|&element| one_of(element, at, packing.format)));
        }
    }
    numbers
}

/// One of the numbers that are contiguous in an element, the first in its lowest bits: a sign, exponent, fraction, and no special
/// values (OCP Microscaling Formats, "FP6", "FP4").
fn one_of(element: Element, at: u32, [exponent_bits, fraction_bits]: [u32; 2]) -> Element {
    let Element::Int(bits) = element else { return Element::Undefined };
    let number = bits >> (at * (1 + exponent_bits + fraction_bits));
    let field = |low: u32, bits: u32| {
        let field = i32::try_from(number >> low & ((1 << bits) - 1));
        field.expect("a field has few bits")
    };
    let (fraction, exponent) = (field(0, fraction_bits), field(fraction_bits, exponent_bits));
    let sign = if field(fraction_bits + exponent_bits, 1) == 0 { 1.0 } else { -1.0 };
    let one = f64::from(1 << fraction_bits);
    // The numbers below the normal ones have the exponent of the least of these.
    let hidden = if exponent == 0 { 0.0 } else { one };
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = (f64::from(fraction) + hidden) / one * 2f64.powi(exponent.max(1) - bias);
    Element::Float(sign * magnitude)
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

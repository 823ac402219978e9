//! Products of matrices.

use super::Machine;
use super::scaled::{left_numbers, right_numbers, times_scales};
use crate::eval::element::Element;
use crate::eval::{arith, float};
use crate::ir::{Dtype, Factors, Value};

impl Machine<'_> {
    pub(super) fn dot(&self, factors: Factors, args: &[Value]) -> Vec<Element> {
        let cols = self.shape(args[1])[1] as usize;
        let dtype = self.dtype(args[0]);
        let depth = (self.shape(args[0])[1] * dtype.numbers()) as usize;
        let left = left_numbers(dtype, self.elements(args[0]).to_vec());
        let right = right_numbers(self.dtype(args[1]), self.elements(args[1]).to_vec(), cols);
        let (taken, [left, right]) = match factors {
            Factors::Full => (Factor::Exact, [left, right]),
            Factors::Tf32 => (Factor::Rounded, [left, right]),
            Factors::Scaled(scaled) => {
                let scales = [self.elements(args[3]), self.elements(args[4])];
                (Factor::Exact, times_scales([left, right], scales, scaled, [depth, cols]))
            }
        };
        let operands = (&left[..], &right[..], self.elements(args[2]));
        products([taken; 2], operands, [depth, cols], self.dtype(args[2]))
    }
}

/// What tensor cores multiply of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// Its elements.
    Exact,
    /// What `cvt.rna.tf32.f32` makes of an `f32`.
    Rounded,
    /// The upper 19 bits of an `f32`: what they read from shared memory.
    Cut,
}

/// `a · b + acc`, of matrices of this many columns.
pub(super) fn products(
    factors: [Factor; 2],
    (a, b, acc): (&[Element], &[Element], &[Element]),
    [depth, cols]: [usize; 2],
    dtype: Dtype,
) -> Vec<Element> {
    let operand = |element: Element, factor: Factor| match element {
        Element::Float(value) => Element::Float(match factor {
            Factor::Exact => value,
            Factor::Rounded => float::round_tf32(value),
            Factor::Cut => float::truncate_tf32(value),
        }),
        Element::Bool(_) | Element::Int(_) | Element::Pointer(_) | Element::Undefined => element,
    };
    let dot = |at: usize| {
        let (row, col) = (at / cols, at % cols);
        let pairs = (0..depth).map(|k| {
            (operand(a[row * depth + k], factors[0]), operand(b[k * cols + col], factors[1]))
        });
        arith::number(dtype, pairs.fold(acc[at], multiply_add))
    };
    (0..acc.len()).map(dot).collect()
}

/// `sum + a * b`, in `f64` for floats: products of all types but `f64` itself are exact.
fn multiply_add(sum: Element, (a, b): (Element, Element)) -> Element {
    match (sum, a, b) {
        (Element::Float(sum), Element::Float(a), Element::Float(b)) => {
            Element::Float(a.mul_add(b, sum))
        }
        (Element::Int(sum), Element::Int(a), Element::Int(b)) => {
            Element::Int(sum.wrapping_add(a.wrapping_mul(b)))
        }
        _ => Element::Undefined,
    }
}

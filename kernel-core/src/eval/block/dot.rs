//! Products of matrices.

use super::Machine;
use super::scaled::{left_numbers, right_numbers, times_scales};
use crate::eval::element::Element;
use crate::eval::{arith, float};
use crate::ir::{Dtype, Factors, Sparsity, Value};

impl Machine<'_> {
    pub(super) fn dot(&self, factors: Factors, args: &[Value]) -> Vec<Element> {
        let cols = self.shape(args[1])[1] as usize;
        let dtype = self.dtype(args[0]);
        let depth = (self.shape(args[0])[1] * dtype.numbers()) as usize;
        let left = left_numbers(dtype, self.elements(args[0]).to_vec());
        let right = right_numbers(self.dtype(args[1]), self.elements(args[1]).to_vec(), cols);
        let (taken, [left, right]) = match factors {
            Factors::Sparse if dtype == Dtype::F32 => (Factor::Rounded, [left, right]),
            Factors::Full | Factors::Sparse => (Factor::Exact, [left, right]),
            Factors::Tf32 => (Factor::Rounded, [left, right]),
            Factors::Scaled(scaled) => {
                let scales = [self.elements(args[3]), self.elements(args[4])];
                (Factor::Exact, times_scales([left, right], scales, scaled, [depth, cols]))
            }
        };
        let operands = (&left[..], &right[..], self.elements(args[2]));
        let sum = self.dtype(args[2]);
        if factors == Factors::Sparse {
            let metadata = self.elements(args[3]);
            let kept = |row, at| row_of_right(Sparsity::of(dtype), metadata, depth, [row, at]);
            return products_of([taken; 2], operands, [depth, cols], sum, kept);
        }
        products([taken; 2], operands, [depth, cols], sum)
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

/// The row of the right operand by which element `at` of a row of a sparse left one is multiplied, if its metadata says one. A row of
/// the left operand has `depth` elements.
pub(super) fn row_of_right(
    sparsity: Sparsity,
    metadata: &[Element],
    depth: usize,
    [row, at]: [usize; 2],
) -> Option<usize> {
    let [group, kept] = [sparsity.group, sparsity.kept()].map(|count| count as usize);
    let Element::Int(bits) = metadata[row * (depth / kept) + at / kept] else { return None };
    let kept_of_group = group / 2;
    let number = at % kept / kept_of_group;
    let bits = bits >> (4 * number) & 0xf;
    let within = match (group, bits & 3, bits >> 2) {
        // The indices of both halves of an element of 32 bits.
        (2, 0, 1) => 0,
        (2, 2, 3) => 1,
        (2, ..) => return None,
        (_, first, second) if first >= second => return None,
        (_, first, second) => {
            if at % kept_of_group == 0 {
                first
            } else {
                second
            }
        }
    };
    let within = usize::try_from(within).expect("an index has two bits");
    Some((at / kept * Sparsity::GROUPS as usize + number) * group + within)
}

/// `a · b + acc`, of matrices of this many columns.
pub(super) fn products(
    factors: [Factor; 2],
    operands: (&[Element], &[Element], &[Element]),
    extents: [usize; 2],
    dtype: Dtype,
) -> Vec<Element> {
    products_of(factors, operands, extents, dtype, |_, at| Some(at))
}

/// The same, where `row_of_b` says which row of `b` an element of `a` is multiplied by, from its row and place there; nothing is known
/// of a sum if it says none.
pub(super) fn products_of(
    factors: [Factor; 2],
    (a, b, acc): (&[Element], &[Element], &[Element]),
    [depth, cols]: [usize; 2],
    dtype: Dtype,
    row_of_b: impl Fn(usize, usize) -> Option<usize>,
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
            let right = row_of_b(row, k).map_or(Element::Undefined, |at| b[at * cols + col]);
            (operand(a[row * depth + k], factors[0]), operand(right, factors[1]))
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

//! Comparing what two devices wrote.

use kernel_ptx::Type;

use crate::{
    case::{Bound, Case, Role, Tolerance},
    outcome::{Difference, Outcome},
    types,
};

/// As many differences as are shown of a case.
const SHOWN: usize = 8;

/// Compares the buffers of a case as the emulator and the device left them.
pub fn compare(case: &Case, emulated: &[Vec<u8>], device: &[Vec<u8>]) -> Outcome {
    let mut outcome = Outcome::of(case);
    let bytes = types::size(case.result);
    for (number, buffer) in case.buffers.iter().enumerate() {
        if buffer.role != Role::Compared {
            continue;
        }
        // Of saved results only the first are there.
        let there = device[number].len().min(emulated[number].len());
        let places = (0..there).step_by(case.pitch_bytes);
        for (index, at) in places.enumerate() {
            let (required, actual) =
                (&device[number][at..][..bytes], &emulated[number][at..][..bytes]);
            outcome.results += 1;
            if required == actual {
                continue;
            }
            let (required, actual) = (word(required), word(actual));
            if is_nan(case.result, required) && is_nan(case.result, actual) {
                outcome.payloads += 1;
            } else if let Bound::Near(tolerance) = case.bound {
                outcome.bounded += 1;
                outcome.largest_ulps =
                    outcome.largest_ulps.max(ulps(case.result, required, actual));
                if within(case, tolerance, index, (required, actual)) {
                    continue;
                }
                outcome.different += 1;
            } else {
                outcome.different += 1;
                outcome.largest_ulps =
                    outcome.largest_ulps.max(ulps(case.result, required, actual));
            }
            if outcome.shown.len() < SHOWN {
                let operands = operands(case, index);
                let hex = |word: u128| format!("{word:#x}");
                outcome.shown.push(Difference {
                    index,
                    operands,
                    device: hex(required),
                    emulated: hex(actual),
                });
            }
        }
    }
    outcome
}

fn word(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// Whether two results are as near as the manual asks.
fn within(case: &Case, tolerance: Tolerance, index: usize, (a, b): (u128, u128)) -> bool {
    let Some((exponent, mantissa, count)) = fields(case.result) else { return false };
    let width = 1 + exponent + mantissa;
    let format = (exponent, mantissa);
    let first = |own: &[u8]| word(own.get(..8).unwrap_or(own));
    let tuple = tuple(case, index).map(first).unwrap_or_default();
    (0..count).all(|lane| {
        let part = |word: u128| value(word >> (width * lane) & ((1 << width) - 1), format);
        let (a, b) = (part(a), part(b));
        if part(tuple).abs() > tolerance.most || (a.is_nan() && b.is_nan()) {
            return true;
        }
        // The emulator's own result is rounded, and may be subnormal.
        let rounding = b.abs() * (-f64::from(mantissa) - 1.0).exp2();
        let bias = f64::from((1u32 << (exponent - 1)) - 1);
        let least = (1.0 - bias - f64::from(mantissa)).exp2();
        let distance = (a - b).abs();
        a.to_bits() == b.to_bits()
            || distance <= tolerance.absolute.max(b.abs() * tolerance.relative) + rounding + least
    })
}

/// The value of a number's bits.
fn value(bits: u128, (exponent, mantissa): (u32, u32)) -> f64 {
    let (field, fraction) =
        (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let sign = if bits >> (exponent + mantissa) & 1 == 1 { -1.0 } else { 1.0 };
    let most = (1u128 << exponent) - 1;
    #[expect(clippy::cast_precision_loss, reason = "a fraction has at most 53 bits")]
    let (fraction, field_value) = (fraction as f64, field as f64);
    let bias = f64::from((1u32 << (exponent - 1)) - 1);
    let unit = |field: f64| (field - bias - f64::from(mantissa)).exp2();
    let magnitude = if field == most {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if field == 0 {
        fraction * unit(1.0)
    } else {
        (fraction + f64::from(mantissa).exp2()) * unit(field_value)
    };
    sign * magnitude
}

/// What the result with a number was computed from, for messages.
fn operands(case: &Case, index: usize) -> String {
    let Some(own) = tuple(case, index) else { return String::new() };
    let words: Vec<String> = own.chunks(8).map(|chunk| format!("{:#x}", word(chunk))).collect();
    words.join(" ")
}

/// What the result with a number was computed from.
fn tuple(case: &Case, index: usize) -> Option<&[u8]> {
    let given = case.buffers.iter().find_map(|buffer| match buffer.role {
        Role::Operands(pitch) => Some((pitch, &buffer.bytes)),
        Role::Given | Role::Compared => None,
    });
    let (pitch, bytes) = given?;
    let results: usize = case
        .buffers
        .iter()
        .filter(|buffer| buffer.role == Role::Compared)
        .map(|buffer| buffer.bytes.len() / case.pitch_bytes)
        .sum();
    // A tuple may have several results.
    let tuple = index * (bytes.len() / pitch) / results.max(1);
    bytes.get(tuple * pitch..(tuple + 1) * pitch)
}

/// Widths of exponent and fraction of a type's elements, and how many there are.
fn fields(ty: Type) -> Option<(u32, u32, u32)> {
    let (exponent, mantissa) = types::fields(ty)?;
    Some((exponent, mantissa, if ty.text().ends_with("x2") { 2 } else { 1 }))
}

/// Whether all elements that can be are NaN.
fn is_nan(ty: Type, word: u128) -> bool {
    let Some((exponent, mantissa, count)) = fields(ty) else { return false };
    let most = ((1u128 << exponent) - 1) << mantissa;
    let magnitude = (1u128 << (exponent + mantissa)) - 1;
    count == 1 && word & magnitude > most
}

/// How many values of the type lie between two, plus one; of integers, their distance.
fn ulps(ty: Type, a: u128, b: u128) -> u64 {
    let Some((exponent, mantissa, count)) = fields(ty) else {
        return u64::try_from(a.abs_diff(b)).unwrap_or(u64::MAX);
    };
    let width = 1 + exponent + mantissa;
    let mut most = 0;
    for lane in 0..count {
        let ordered = |word: u128| {
            let own = word >> (width * lane) & ((1 << width) - 1);
            let sign = own >> (width - 1);
            let magnitude = (own & ((1 << (width - 1)) - 1)).cast_signed();
            if sign == 1 { -magnitude } else { magnitude }
        };
        let distance = ordered(a).abs_diff(ordered(b));
        most = most.max(u64::try_from(distance).unwrap_or(u64::MAX));
    }
    most
}

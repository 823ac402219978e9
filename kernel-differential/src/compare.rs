//! Comparing what two devices wrote.

use kernel_ptx::Type;

use crate::{
    case::{Bound, Case, Role},
    outcome::{Difference, Outcome},
};

/// As many differences as are shown of a case.
const SHOWN: usize = 8;

/// Compares the buffers of a case as the emulator and the device left them.
pub fn compare(case: &Case, emulated: &[Vec<u8>], device: &[Vec<u8>]) -> Outcome {
    let mut outcome = Outcome::of(case);
    let bytes = (case.result.bits() as usize / 8).max(1);
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
                if case.bound != Bound::Bits {
                    continue;
                }
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

/// What the result with a number was computed from.
fn operands(case: &Case, index: usize) -> String {
    let given = case.buffers.iter().find_map(|buffer| match buffer.role {
        Role::Operands(pitch) => Some((pitch, &buffer.bytes)),
        Role::Given | Role::Compared => None,
    });
    let Some((pitch, bytes)) = given else { return String::new() };
    let results: usize = case
        .buffers
        .iter()
        .filter(|buffer| buffer.role == Role::Compared)
        .map(|buffer| buffer.bytes.len() / case.pitch_bytes)
        .sum();
    // A tuple may have several results.
    let tuple = index * (bytes.len() / pitch) / results.max(1);
    let Some(own) = bytes.get(tuple * pitch..(tuple + 1) * pitch) else { return String::new() };
    let words: Vec<String> = own.chunks(8).map(|chunk| format!("{:#x}", word(chunk))).collect();
    words.join(" ")
}

/// Widths of exponent and fraction of a type's elements, and how many there are.
fn fields(ty: Type) -> Option<(u32, u32, u32)> {
    Some(match ty {
        Type::F16 => (5, 10, 1),
        Type::F16x2 => (5, 10, 2),
        Type::Bf16 => (8, 7, 1),
        Type::Bf16x2 => (8, 7, 2),
        Type::F32 => (8, 23, 1),
        Type::F64 => (11, 52, 1),
        _ if !ty.is_integer() && !ty.is_untyped() => return None,
        _ => return None,
    })
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
            let magnitude = (own & ((1 << (width - 1)) - 1)) as i128;
            if sign == 1 { -magnitude } else { magnitude }
        };
        let distance = ordered(a).abs_diff(ordered(b));
        most = most.max(u64::try_from(distance).unwrap_or(u64::MAX));
    }
    most
}

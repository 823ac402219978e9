//! The functions that every module may declare and that the device provides: `vprintf`, `__assertfail`.

use std::fmt::Write;

use super::memory::{place, resolve};
use crate::code::{LANES, LocalSpot, Order};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::lanes;
use crate::machine::{Context, Warp};

/// The longest string that is read from memory.
const LONGEST: u64 = 1 << 16;

/// Reads a parameter of a call, little-endian, up to 8 bytes.
fn parameter(warp: &Warp, spot: LocalSpot, lane: usize, bytes: u32) -> Run<u64> {
    let mut value = 0;
    for i in (0..bytes).rev() {
        let byte = warp.local.byte(lane, spot.offset + i).ok_or_else(|| {
            Trap::new(FaultKind::Uninitialised, "an argument of a call was never written")
                .lane(crate::machine::warp::lane_number(lane))
        })?;
        value = value << 8 | u64::from(byte);
    }
    Ok(value)
}

/// Reads bytes at a generic address.
fn read(cx: &mut Context<'_>, warp: &mut Warp, lane: usize, address: u64, bytes: u32) -> Run<u64> {
    let (place, mask, local) = resolve(&[address; LANES], 1 << lane);
    let mut words = [[0; LANES]; 1];
    let at = place::At { place, order: Order::WEAK, addresses: &local, bytes };
    let defined = place::load(cx, warp, at, mask, &mut words)?;
    if defined != mask {
        let detail = "an argument of a call points to bytes that were never written";
        return Err(Trap::new(FaultKind::Uninitialised, detail)
            .lane(crate::machine::warp::lane_number(lane))
            .address(address));
    }
    Ok(words[0][lane])
}

/// Reads a string that ends with a zero byte.
fn string(cx: &mut Context<'_>, warp: &mut Warp, lane: usize, address: u64) -> Run<String> {
    let mut bytes = Vec::new();
    for i in 0..LONGEST {
        let [byte, ..] = read(cx, warp, lane, address.wrapping_add(i), 1)?.to_le_bytes();
        if byte == 0 {
            break;
        }
        bytes.push(byte);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `vprintf(format, arguments)`: arguments are one after another, each at a multiple of its size.
pub(crate) fn vprintf(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    format: LocalSpot,
    arguments: LocalSpot,
    result: Option<LocalSpot>,
    mask: u32,
) -> Run<()> {
    for lane in lanes(mask) {
        let format = parameter(warp, format, lane, 8)?;
        let arguments = parameter(warp, arguments, lane, 8)?;
        let format = string(cx, warp, lane, format)?;
        let mut text = String::new();
        let mut at = arguments;
        let mut next = |cx: &mut Context<'_>, warp: &mut Warp, bytes: u32| {
            at = at.next_multiple_of(u64::from(bytes));
            let value = read(cx, warp, lane, at, bytes);
            at += u64::from(bytes);
            value
        };
        let mut rest = format.as_str();
        let mut conversions = 0u32;
        while let Some(start) = rest.find('%') {
            text.push_str(&rest[..start]);
            rest = &rest[start + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                text.push('%');
                rest = after;
                continue;
            }
            let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic() && !"hlLqjzt".contains(c))
            else {
                break;
            };
            let mut spec = Spec::parse(&rest[..end]);
            let conversion = rest.as_bytes()[end];
            rest = &rest[end + 1..];
            if spec.width_argument {
                #[expect(clippy::cast_possible_truncation, reason = "an int argument")]
                let width = next(cx, warp, 4)? as u32;
                spec.width = width as usize;
            }
            conversions += 1;
            match conversion {
                b'd' | b'i' => {
                    let value = if spec.long {
                        next(cx, warp, 8)?.cast_signed()
                    } else {
                        #[expect(clippy::cast_possible_truncation, reason = "an int argument")]
                        i64::from((next(cx, warp, 4)? as u32).cast_signed())
                    };
                    spec.number(&mut text, value < 0, &value.unsigned_abs().to_string());
                }
                b'u' | b'x' | b'X' | b'o' => {
                    let value = next(cx, warp, if spec.long { 8 } else { 4 })?;
                    let digits = match conversion {
                        b'u' => format!("{value}"),
                        b'x' => format!("{value:x}"),
                        b'X' => format!("{value:X}"),
                        _ => format!("{value:o}"),
                    };
                    let prefix = if spec.alternate && conversion == b'x' { "0x" } else { "" };
                    spec.number(&mut text, false, &format!("{prefix}{digits}"));
                }
                b'c' => {
                    let [byte, ..] = next(cx, warp, 4)?.to_le_bytes();
                    spec.pad(&mut text, &char::from(byte).to_string());
                }
                b'p' => {
                    let value = next(cx, warp, 8)?;
                    spec.pad(&mut text, &format!("{value:#x}"));
                }
                b's' => {
                    let address = next(cx, warp, 8)?;
                    let value = string(cx, warp, lane, address)?;
                    spec.pad(&mut text, &value);
                }
                _ => {
                    let value = f64::from_bits(next(cx, warp, 8)?);
                    spec.float(&mut text, conversion, value);
                }
            }
        }
        text.push_str(rest);
        cx.block().output.push_str(&text);
        if let Some(spot) = result {
            let mut words = [[0; LANES]; 1];
            words[0][lane] = u64::from(conversions);
            let address = u64::from(crate::memory::local::LOCAL_BASE + spot.offset);
            let only = 1 << lane;
            let place = crate::code::Place::Local;
            let addresses = &[address; LANES];
            let at = place::At { place, order: Order::WEAK, addresses, bytes: 4 };
            place::store(cx, warp, at, (only, only), &words)?;
        }
    }
    Ok(())
}

/// The flags, width and precision of a conversion.
#[expect(clippy::struct_excessive_bools, reason = "one for each flag of a conversion")]
#[derive(Debug, Default)]
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    long: bool,
    width_argument: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn parse(text: &str) -> Spec {
        let mut spec = Spec::default();
        let digits = text.trim_start_matches(['-', '0', '+', ' ', '#']);
        for flag in text[..text.len() - digits.len()].chars() {
            match flag {
                '-' => spec.left = true,
                '0' => spec.zero = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                _ => spec.alternate = true,
            }
        }
        let length =
            digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '*');
        let numbers = &digits[..digits.len() - length.len()];
        let (width, precision) =
            numbers.split_once('.').map_or((numbers, None), |(w, p)| (w, Some(p)));
        spec.width_argument = width == "*";
        spec.width = width.parse().unwrap_or(0);
        spec.precision = precision.map(|p| p.parse().unwrap_or(0));
        spec.long = length.contains(['l', 'j', 'z', 't', 'q']);
        spec
    }

    fn pad(&self, out: &mut String, text: &str) {
        let width = self.width;
        let _ =
            if self.left { write!(out, "{text:<width$}") } else { write!(out, "{text:>width$}") };
    }

    fn number(&self, out: &mut String, negative: bool, digits: &str) {
        let sign = if negative {
            "-"
        } else if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        };
        let least = self.precision.unwrap_or(if self.zero && !self.left {
            self.width.saturating_sub(sign.len())
        } else {
            0
        });
        self.pad(out, &format!("{sign}{digits:0>least$}"));
    }

    fn float(&self, out: &mut String, conversion: u8, value: f64) {
        let precision = self.precision.unwrap_or(6);
        let magnitude = value.abs();
        let text = if !value.is_finite() {
            if value.is_nan() { "nan".to_owned() } else { "inf".to_owned() }
        } else if conversion.eq_ignore_ascii_case(&b'e') {
            exponential(magnitude, precision)
        } else if conversion.eq_ignore_ascii_case(&b'g') {
            general(magnitude, precision.max(1))
        } else {
            format!("{magnitude:.precision$}")
        };
        let text = if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text };
        let whole = Spec { precision: None, zero: self.zero && value.is_finite(), ..*self };
        whole.number(out, value.is_sign_negative() && !value.is_nan(), &text);
    }
}

/// `%e`: one digit, the fraction, an exponent of at least two digits.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a decimal exponent");
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `%g`: the shorter of `%e` and `%f` for this many digits, without trailing zeros.
fn general(value: f64, digits: usize) -> String {
    let text = exponential(value, digits - 1);
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .expect("`exponential` writes an exponent");
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= limit {
        let (mantissa, tail) = text.split_once('e').expect("`exponential` writes an exponent");
        format!("{}e{tail}", trim(mantissa))
    } else {
        let places = usize::try_from(limit - 1 - exponent).unwrap_or(0);
        trim(&format!("{value:.places$}"))
    }
}

/// `__assertfail(message, file, line, ..)`.
pub(crate) fn assert_fail(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    [message, file, line]: [LocalSpot; 3],
    mask: u32,
) -> Trap {
    let lane = mask.trailing_zeros();
    let i = lane as usize;
    let mut text = |spot: LocalSpot| {
        let address = parameter(warp, spot, i, 8)?;
        string(cx, warp, i, address)
    };
    let (message, file) = match (text(message), text(file)) {
        (Ok(message), Ok(file)) => (message, file),
        (Err(trap), _) | (_, Err(trap)) => return trap,
    };
    let line = parameter(warp, line, i, 4).unwrap_or(0);
    Trap::new(FaultKind::Trap, format!("assertion `{message}` failed, {file}:{line}")).lane(lane)
}

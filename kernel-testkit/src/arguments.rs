//! From the header's words to arguments.

use kernel_core::ir::{Dtype, ParamKind};
use syn::{Expr, Ident, Token, parse::ParseStream};

use crate::{
    data::{Argument, Buffer, Number, Random, edges, encode},
    expression::Scope,
};

/// `f32[37, 64] uniform(-1, 1) strides(80, 1)`: a type, and what is known of the values.
struct Described {
    pointer: bool,
    dtype: String,
    shape: Vec<Expr>,
    words: Vec<(String, Vec<Expr>)>,
}

impl syn::parse::Parse for Described {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut dtype: Ident = input.parse()?;
        let pointer = dtype == "ptr";
        if pointer {
            dtype = input.parse()?;
        }
        let mut shape = Vec::new();
        if input.peek(syn::token::Bracket) {
            let content;
            syn::bracketed!(content in input);
            shape = content.parse_terminated(Expr::parse, Token![,])?.into_iter().collect();
        }
        let mut words = Vec::new();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            let args = if word == "scalar" {
                vec![input.parse()?]
            } else if input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in input);
                content.parse_terminated(Expr::parse, Token![,])?.into_iter().collect()
            } else {
                Vec::new()
            };
            words.push((word.to_string(), args));
        }
        Ok(Described { pointer, dtype: dtype.to_string(), shape, words })
    }
}

/// Makes the argument that `text` describes. `types` are the type parameters of the instance.
///
/// # Errors
/// What is not understood, or does not fit the parameter.
pub fn argument(
    text: &str,
    kind: &ParamKind,
    types: &[(String, String)],
    scope: &mut Scope<'_>,
    random: &mut Random,
) -> Result<Argument, String> {
    let described: Described =
        syn::parse_str(text).map_err(|error| format!("`{text}`: {error}"))?;
    let named = types.iter().find(|(name, _)| *name == described.dtype);
    let named = named.map_or(described.dtype.as_str(), |(_, ty)| ty);
    let dtype =
        Dtype::from_name(named).ok_or_else(|| format!("`{named}` is not an element type"))?;
    if let Some((_, value)) = described.words.iter().find(|(word, _)| word == "scalar") {
        let ParamKind::Scalar(required) = kind else {
            return Err("a scalar is given for something else".to_owned());
        };
        if *required != dtype {
            return Err(format!("`{}` is given for `{}`", dtype.name(), required.name()));
        }
        return Ok(Argument::Scalar(dtype, scope.value(&value[0])?.to(dtype)));
    }
    let mut shape = Vec::new();
    for extent in &described.shape {
        let extent = scope.integer(extent)?;
        shape.push(u32::try_from(extent).map_err(|_| format!("{extent} is not an extent"))?);
    }
    let mut strides: Vec<i64> = Vec::new();
    let mut stride = 1;
    for extent in shape.iter().rev() {
        strides.insert(0, stride);
        stride *= i64::from(*extent);
    }
    let mut offset = 0;
    for (word, args) in &described.words {
        match word.as_str() {
            "strides" if args.len() == shape.len() => {
                strides.clear();
                for arg in args {
                    let stride = i64::try_from(scope.integer(arg)?).ok();
                    strides.push(stride.filter(|stride| *stride >= 0).ok_or("no such stride")?);
                }
            }
            "offset" if args.len() == 1 => {
                offset = usize::try_from(scope.integer(&args[0])?).map_err(|e| e.to_string())?;
            }
            _ => {}
        }
    }
    let rank = shape.len();
    let mut buffer = Buffer::new(dtype, shape, strides, offset);
    for (word, args) in &described.words {
        if !matches!(word.as_str(), "strides" | "offset") {
            fill(&mut buffer, word, args, scope, random)?;
        }
    }
    match (kind, described.pointer) {
        (ParamKind::Tensor { dtype: required, rank: required_rank, .. }, false)
            if *required == dtype && *required_rank as usize == rank =>
        {
            Ok(Argument::Tensor(buffer))
        }
        (ParamKind::Pointer(required), true) if *required == dtype => Ok(Argument::Pointer(buffer)),
        _ => Err(format!("`{text}` does not fit the parameter, {kind:?}")),
    }
}

/// Fills a buffer as one word of the header says.
fn fill(
    buffer: &mut Buffer,
    word: &str,
    args: &[Expr],
    scope: &mut Scope<'_>,
    random: &mut Random,
) -> Result<(), String> {
    let dtype = buffer.dtype;
    let mut values = Vec::new();
    for arg in args {
        values.push(scope.value(arg)?);
    }
    let count = buffer.len();
    match (word, values.as_slice()) {
        ("poison", []) => buffer.poisoned = true,
        ("uniform", [lo, hi]) => {
            for number in 0..count {
                let value = match (lo, hi) {
                    (Number::Int(lo), Number::Int(hi)) if !dtype.is_float() => {
                        Number::Int(lo + i128::from(random.bits()) % (hi - lo + 1))
                    }
                    _ => Number::Float(lo.float() + random.unit() * (hi.float() - lo.float())),
                };
                buffer.set(number, &encode(dtype, value));
            }
        }
        ("bits", []) => {
            for number in 0..count {
                let mut bytes = random.bits().to_le_bytes().to_vec();
                while bytes.len() < dtype.bytes() as usize {
                    bytes.extend(random.bits().to_le_bytes());
                }
                bytes.truncate(dtype.bytes() as usize);
                if dtype == Dtype::Bool {
                    bytes[0] &= 1;
                }
                buffer.set(number, &bytes);
            }
        }
        // The digit of the element's number, written in base (number of edge values): digits 0 and 1 of two operands give all pairs.
        ("edges", [Number::Int(digit)]) => {
            let edges = edges(dtype);
            let digit = u32::try_from(*digit).map_err(|error| error.to_string())?;
            for number in 0..count {
                let at = number / edges.len().pow(digit) % edges.len();
                buffer.set(number, &edges[at]);
            }
        }
        ("iota", [start, step]) => {
            for number in 0..count {
                let at = i128::try_from(number).map_err(|error| error.to_string())?;
                let value = match (start, step) {
                    (Number::Int(start), Number::Int(step)) => Number::Int(start + at * step),
                    _ => Number::Float(start.float() + Number::Int(at).float() * step.float()),
                };
                buffer.set(number, &encode(dtype, value));
            }
        }
        ("fill", [value]) => {
            for number in 0..count {
                buffer.set(number, &encode(dtype, *value));
            }
        }
        ("list", [_, ..]) => {
            for number in 0..count {
                buffer.set(number, &encode(dtype, values[number % values.len()]));
            }
        }
        ("shuffled", []) => {
            let mut order: Vec<usize> = (0..count).collect();
            for last in (1..count).rev() {
                #[expect(clippy::cast_possible_truncation, reason = "the remainder is small")]
                order.swap(last, random.bits() as usize % (last + 1));
            }
            for (number, value) in order.into_iter().enumerate() {
                let value = i128::try_from(value).map_err(|error| error.to_string())?;
                buffer.set(number, &encode(dtype, Number::Int(value)));
            }
        }
        _ => return Err(format!("`{word}` with {} values says nothing about data", args.len())),
    }
    Ok(())
}

//! The expressions of headers: shapes, grids, expected values. Rust syntax over integers and floats.
//!
//! | function | value |
//! |---|---|
//! | `x(i, j)`, `x.dim(0)` | an element of an argument, an extent |
//! | `sum(k, lo, hi, term)`, `product`, `least`, `most` | over `k` in `lo..hi`; 0 of an empty range |
//! | `min(a, b)`, `max(a, b)`, `abs(x)`, `cdiv(a, b)` | of integers or floats, the last of integers |
//! | `sqrt`, `cbrt`, `exp`, `exp_m1`, `exp2`, `ln`, `ln_1p`, `log2`, `log10`, `sin`, `cos`, `tanh`, `erf`, `erfc`, `floor`, `ceil` | of a float |
//! | `powf(x, y)` | of two floats |
//! | `e2m1(word, n)`, `e2m3(word, n)`, `e3m2(word, n)` | number `n` of those packed into an element such as `e2m1x2` |
//! | `ue8m0(code)` | the power of two that a scale stands for |
//! | `persistent(most)` | the blocks of a persistent grid |

use syn::{BinOp, Expr, Lit, UnOp};

use crate::data::{Buffer, Number};

/// What names stand for.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    /// Generic parameters, scalar arguments, indices; the last of a name counts.
    pub names: Vec<(String, Number)>,
    /// Tensors and pointers: `x(i, j)` is an element, `x.dim(0)` an extent.
    pub buffers: Vec<(&'a str, &'a Buffer)>,
}

impl Scope<'_> {
    /// The value of an expression.
    ///
    /// # Errors
    /// What is not an expression, or not one of this language, in words.
    pub fn evaluate(&mut self, text: &str) -> Result<Number, String> {
        let expr: Expr = syn::parse_str(text).map_err(|error| format!("`{text}`: {error}"))?;
        self.value(&expr).map_err(|error| format!("`{text}`: {error}"))
    }

    /// The value of an expression that is an integer.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and for a value that is not an integer.
    pub fn integer(&mut self, expr: &Expr) -> Result<i128, String> {
        match self.value(expr)? {
            Number::Int(value) => Ok(value),
            other @ (Number::Float(_) | Number::Bool(_)) => {
                Err(format!("{other:?} stands where an integer is wanted"))
            }
        }
    }

    /// The value of a parsed expression.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    #[expect(clippy::wildcard_enum_match_arm, reason = "most expressions have no meaning here")]
    pub fn value(&mut self, expr: &Expr) -> Result<Number, String> {
        match expr {
            Expr::Lit(lit) => literal(&lit.lit),
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Path(path) => {
                let name = path.path.segments.last().map(|s| s.ident.to_string());
                self.name(&name.unwrap_or_default())
            }
            Expr::Unary(unary) => {
                let value = self.value(&unary.expr)?;
                match (&unary.op, value) {
                    (UnOp::Neg(_), Number::Int(value)) => Ok(Number::Int(-value)),
                    (UnOp::Neg(_), Number::Float(value)) => Ok(Number::Float(-value)),
                    (UnOp::Not(_), Number::Int(value)) => Ok(Number::Int(!value)),
                    (UnOp::Not(_), Number::Bool(value)) => Ok(Number::Bool(!value)),
                    _ => Err("an operator that has no meaning here".to_owned()),
                }
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.value(&binary.left)?, self.value(&binary.right)?);
                operate(&binary.op, a, b)
            }
            Expr::Cast(cast) => {
                let value = self.value(&cast.expr)?;
                let ty = &cast.ty;
                let name = quote::quote!(#ty).to_string();
                let dtype = kernel_core::ir::Dtype::from_name(&name)
                    .ok_or_else(|| format!("`{name}` is not an element type"))?;
                Ok(value.to(dtype))
            }
            Expr::If(branch) => {
                let Number::Bool(condition) = self.value(&branch.cond)? else {
                    return Err("a condition is a comparison".to_owned());
                };
                if condition {
                    return self.block(&branch.then_branch);
                }
                match &branch.else_branch {
                    Some((_, other)) => self.value(other),
                    None => Err("an `if` has a value in both branches".to_owned()),
                }
            }
            Expr::Block(block) => self.block(&block.block),
            Expr::MethodCall(call) if call.method == "dim" && call.args.len() == 1 => {
                let name = written(&call.receiver);
                let axis = self.integer(&call.args[0])?;
                let buffer = self.buffer(&name)?;
                let extent = usize::try_from(axis).ok().and_then(|axis| buffer.shape.get(axis));
                extent
                    .map(|extent| Number::Int(i128::from(*extent)))
                    .ok_or_else(|| format!("`{name}` has no axis {axis}"))
            }
            Expr::MethodCall(call) => {
                let name = format!("{}.{}", written(&call.receiver), call.method);
                let args: Vec<&Expr> = call.args.iter().collect();
                self.call(&name, &args)
            }
            Expr::Call(call) => {
                let name = written(&call.func);
                let args: Vec<&Expr> = call.args.iter().collect();
                self.call(&name, &args)
            }
            other => {
                Err(format!("`{}` has no meaning here", quote::ToTokens::to_token_stream(other)))
            }
        }
    }

    fn block(&mut self, block: &syn::Block) -> Result<Number, String> {
        match block.stmts.as_slice() {
            [syn::Stmt::Expr(expr, None)] => self.value(expr),
            _ => Err("a block holds one expression".to_owned()),
        }
    }

    fn name(&self, name: &str) -> Result<Number, String> {
        let known = self.names.iter().rev().find(|(known, _)| known == name);
        match (known, name) {
            (Some((_, value)), _) => Ok(*value),
            (None, "inf" | "INFINITY") => Ok(Number::Float(f64::INFINITY)),
            (None, "nan" | "NAN") => Ok(Number::Float(f64::NAN)),
            _ => Err(format!("`{name}` stands for nothing")),
        }
    }

    fn buffer(&self, name: &str) -> Result<&Buffer, String> {
        let found = self.buffers.iter().find(|(known, _)| *known == name);
        found.map(|(_, buffer)| *buffer).ok_or_else(|| format!("there is no argument `{name}`"))
    }

    fn call(&mut self, name: &str, args: &[&Expr]) -> Result<Number, String> {
        if self.buffer(name).is_ok() {
            let index: Vec<i128> =
                args.iter().map(|arg| self.integer(arg)).collect::<Result<_, _>>()?;
            return self.buffer(name)?.at(&index).map_err(|error| format!("{name}: {error}"));
        }
        match (name, args) {
            // sum(k, lo, hi, term): the sum over k in lo..hi; 0 of an empty range.
            ("sum" | "product" | "least" | "most", [Expr::Path(index), lo, hi, term]) => {
                let index = quote::ToTokens::to_token_stream(index).to_string();
                let (lo, hi) = (self.integer(lo)?, self.integer(hi)?);
                let mut total: Option<Number> = None;
                for k in lo..hi {
                    self.names.push((index.clone(), Number::Int(k)));
                    let value = self.value(term);
                    self.names.pop();
                    let value = value?;
                    total = Some(match total {
                        None => value,
                        Some(so_far) => match name {
                            "sum" => arithmetic(so_far, value, i128::wrapping_add, |a, b| a + b)?,
                            "product" => {
                                arithmetic(so_far, value, i128::wrapping_mul, |a, b| a * b)?
                            }
                            "least" => arithmetic(so_far, value, i128::min, f64::min)?,
                            _ => arithmetic(so_far, value, i128::max, f64::max)?,
                        },
                    });
                }
                Ok(total.unwrap_or(Number::Int(0)))
            }
            ("cdiv", [a, b]) => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                Ok(Number::Int((a + b - 1) / b))
            }
            ("e2m1", [word, number]) => self.packed(word, number, (2, 1)),
            ("e2m3", [word, number]) => self.packed(word, number, (2, 3)),
            ("e3m2", [word, number]) => self.packed(word, number, (3, 2)),
            ("ue8m0", [code]) => Ok(match self.integer(code)? {
                0xff => Number::Float(f64::NAN),
                code => Number::Float(Number::Int(code - 127).float().exp2()),
            }),
            // A persistent grid: any number of blocks has to do.
            ("persistent", [most]) => Ok(Number::Int(self.integer(most)?.min(3))),
            ("min", [a, b]) => arithmetic(self.value(a)?, self.value(b)?, i128::min, f64::min),
            ("max", [a, b]) => arithmetic(self.value(a)?, self.value(b)?, i128::max, f64::max),
            ("powf", [x, y]) => {
                Ok(Number::Float(self.value(x)?.float().powf(self.value(y)?.float())))
            }
            ("abs", [x]) => match self.value(x)? {
                Number::Int(value) => Ok(Number::Int(value.abs())),
                other @ (Number::Float(_) | Number::Bool(_)) => {
                    Ok(Number::Float(other.float().abs()))
                }
            },
            (_, [x]) => {
                let x = self.value(x)?.float();
                let value = match name {
                    "sqrt" => x.sqrt(),
                    "exp" => x.exp(),
                    "exp2" => x.exp2(),
                    "exp_m1" => x.exp_m1(),
                    "ln" => x.ln(),
                    "ln_1p" => x.ln_1p(),
                    "log2" => x.log2(),
                    "log10" => x.log10(),
                    "cbrt" => x.cbrt(),
                    "sin" => x.sin(),
                    "cos" => x.cos(),
                    "tanh" => x.tanh(),
                    "erf" => libm::erf(x),
                    "erfc" => libm::erfc(x),
                    "floor" => x.floor(),
                    "ceil" => x.ceil(),
                    _ => return Err(format!("there is no function `{name}` of one value")),
                };
                Ok(Number::Float(value))
            }
            _ => Err(format!("there is no function `{name}` of {} values", args.len())),
        }
    }

    /// A number of a word of packed floats, the lowest being number 0. These types have no infinity and no NaN.
    fn packed(
        &mut self,
        word: &Expr,
        number: &Expr,
        (exponent_bits, mantissa_bits): (u32, u32),
    ) -> Result<Number, String> {
        let (word, number) = (self.integer(word)?, self.integer(number)?);
        let code = word >> (number * i128::from(1 + exponent_bits + mantissa_bits));
        let exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
        let mantissa = code & ((1 << mantissa_bits) - 1);
        // A number with exponent 0 has no implicit one, and the power of two of exponent 1.
        let significand = exponent.min(1) << mantissa_bits | mantissa;
        let lowest = 2 - (1 << (exponent_bits - 1)) - i128::from(mantissa_bits);
        let power = Number::Int(lowest + exponent.max(1) - 1).float().exp2();
        let sign = if code >> (exponent_bits + mantissa_bits) & 1 == 0 { 1.0 } else { -1.0 };
        Ok(Number::Float(sign * Number::Int(significand).float() * power))
    }
}

/// A name as it is written, also that of an element of an array, `xs[0]`. Most are single words, of which none is made into tokens for
/// each element of a result.
fn written(expr: &Expr) -> String {
    if let Expr::Index(item) = expr {
        return format!("{}[{}]", written(&item.expr), written(&item.index));
    }
    let word = if let Expr::Path(path) = expr { path.path.get_ident() } else { None };
    word.map_or_else(|| quote::ToTokens::to_token_stream(expr).to_string(), ToString::to_string)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other literals are no numbers")]
fn literal(lit: &Lit) -> Result<Number, String> {
    match lit {
        Lit::Int(int) => {
            int.base10_parse().map(Number::Int).map_err(|error| format!("`{int}`: {error}"))
        }
        Lit::Float(float) => {
            float.base10_parse().map(Number::Float).map_err(|error| format!("`{float}`: {error}"))
        }
        Lit::Bool(bool) => Ok(Number::Bool(bool.value)),
        other => Err(format!("`{}` is not a number", quote::ToTokens::to_token_stream(other))),
    }
}

fn arithmetic(
    a: Number,
    b: Number,
    int: impl Fn(i128, i128) -> i128,
    float: impl Fn(f64, f64) -> f64,
) -> Result<Number, String> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Ok(Number::Int(int(a, b))),
        (Number::Bool(_), _) | (_, Number::Bool(_)) => {
            Err("`true` and `false` have no arithmetic".to_owned())
        }
        (a, b) => Ok(Number::Float(float(a.float(), b.float()))),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other operators assign")]
fn operate(op: &BinOp, a: Number, b: Number) -> Result<Number, String> {
    let integers = || match (a, b) {
        (Number::Int(a), Number::Int(b)) => Ok((a, b)),
        _ => Err("this operator takes integers".to_owned()),
    };
    let order = || match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (a, b) => a.float().partial_cmp(&b.float()),
    };
    let decided = |value: bool| Ok(Number::Bool(value));
    match op {
        BinOp::Add(_) => arithmetic(a, b, i128::wrapping_add, |a, b| a + b),
        BinOp::Sub(_) => arithmetic(a, b, i128::wrapping_sub, |a, b| a - b),
        BinOp::Mul(_) => arithmetic(a, b, i128::wrapping_mul, |a, b| a * b),
        BinOp::Div(_) => match (a, b) {
            (_, Number::Int(0)) => Err("division by zero".to_owned()),
            _ => arithmetic(a, b, i128::wrapping_div, |a, b| a / b),
        },
        BinOp::Rem(_) => match (a, b) {
            (_, Number::Int(0)) => Err("division by zero".to_owned()),
            _ => arithmetic(a, b, i128::wrapping_rem, |a, b| a % b),
        },
        BinOp::Shl(_) => integers().map(|(a, b)| Number::Int(a << u32::try_from(b).unwrap_or(127))),
        BinOp::Shr(_) => integers().map(|(a, b)| Number::Int(a >> u32::try_from(b).unwrap_or(127))),
        BinOp::BitAnd(_) => integers().map(|(a, b)| Number::Int(a & b)),
        BinOp::BitOr(_) => integers().map(|(a, b)| Number::Int(a | b)),
        BinOp::BitXor(_) => integers().map(|(a, b)| Number::Int(a ^ b)),
        BinOp::Lt(_) => decided(order().is_some_and(std::cmp::Ordering::is_lt)),
        BinOp::Le(_) => decided(order().is_some_and(std::cmp::Ordering::is_le)),
        BinOp::Gt(_) => decided(order().is_some_and(std::cmp::Ordering::is_gt)),
        BinOp::Ge(_) => decided(order().is_some_and(std::cmp::Ordering::is_ge)),
        BinOp::Eq(_) => decided(order().is_some_and(std::cmp::Ordering::is_eq)),
        BinOp::Ne(_) => decided(!order().is_some_and(std::cmp::Ordering::is_eq)),
        BinOp::And(_) | BinOp::Or(_) => match (a, b) {
            (Number::Bool(a), Number::Bool(b)) => {
                decided(if matches!(op, BinOp::And(_)) { a && b } else { a || b })
            }
            _ => Err("`&&` and `||` take comparisons".to_owned()),
        },
        _ => Err("an assignment has no meaning here".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Scope;

    fn float(text: &str) -> f64 {
        Scope::default().evaluate(text).expect("an expression").float()
    }

    /// Every code of a format by its formula (OCP Microscaling Formats, "FP6", "FP4"): with sign S, exponent E and
    /// mantissa M of `m` bits, `(-1)^S 2^(E - bias) (1 + M / 2^m)`, and `(-1)^S 2^(1 - bias) (M / 2^m)` for E = 0.
    fn numbers(exponents: i32, mantissas: i32, bias: i32) -> Vec<f64> {
        let mut numbers = Vec::new();
        for sign in [1.0, -1.0] {
            for e in 0..exponents {
                for m in 0..mantissas {
                    let fraction = f64::from(m) / f64::from(mantissas);
                    numbers.push(match e {
                        0 => sign * 2f64.powi(1 - bias) * fraction,
                        _ => sign * 2f64.powi(e - bias) * (1.0 + fraction),
                    });
                }
            }
        }
        numbers
    }

    #[test]
    fn packed_floats_are_what_their_formats_say() {
        for (name, bits, numbers) in [
            ("e2m1", 4, numbers(4, 2, 1)),
            ("e2m3", 6, numbers(4, 8, 1)),
            ("e3m2", 6, numbers(8, 4, 3)),
        ] {
            assert_eq!(numbers.len(), 1 << bits);
            for (code, required) in numbers.iter().enumerate() {
                // The neighbours are all ones and all zeros.
                let word = (code << bits) | ((1 << bits) - 1);
                let actual = float(&format!("{name}({word}, 1)"));
                assert_eq!(actual.to_bits(), required.to_bits(), "{name}, code {code}");
            }
        }
    }

    #[test]
    fn scales_are_powers_of_two_from_2_to_the_minus_127() {
        let codes = ["0", "1", "127", "130", "254"].map(|code| float(&format!("ue8m0({code})")));
        let required = [-127, -126, 0, 3, 127].map(|power| 2f64.powi(power));
        assert_eq!(codes.map(f64::to_bits), required.map(f64::to_bits));
        assert!(float("ue8m0(255)").is_nan());
    }
}

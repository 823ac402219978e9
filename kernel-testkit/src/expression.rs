//! The expressions of headers: shapes, grids, expected values. Rust syntax over integers and floats.

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
            // A persistent grid: any number of blocks has to do.
            ("persistent", [most]) => Ok(Number::Int(self.integer(most)?.min(3))),
            ("min", [a, b]) => arithmetic(self.value(a)?, self.value(b)?, i128::min, f64::min),
            ("max", [a, b]) => arithmetic(self.value(a)?, self.value(b)?, i128::max, f64::max),
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
                    "log" => x.ln(),
                    "log2" => x.log2(),
                    "sin" => x.sin(),
                    "cos" => x.cos(),
                    "tanh" => x.tanh(),
                    "erf" => libm::erf(x),
                    "floor" => x.floor(),
                    "ceil" => x.ceil(),
                    _ => return Err(format!("there is no function `{name}` of one value")),
                };
                Ok(Number::Float(value))
            }
            _ => Err(format!("there is no function `{name}` of {} values", args.len())),
        }
    }
}

/// A name as it is written. Most are single words, of which none is made into tokens for each element of a result.
fn written(expr: &Expr) -> String {
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

//! Products of matrices: `dot`, `dot_tf32`, and what all products have in common.

use super::{
    Builder,
    value::{Num, Val},
};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Dtype, Op, Type, Value},
    loc::Loc,
    syntax::Expr,
};

impl Builder<'_> {
    /// `dot(a, b, acc)`, `dot_tf32(a, b, acc)`
    pub(super) fn dot(&mut self, vals: &[Val], args: &[Expr], tf32: bool, loc: Loc) -> Val {
        let (Some(a), Some(b), Some(acc)) = (
            self.factor(&vals[0], args[0].loc),
            self.factor(&vals[1], args[1].loc),
            self.tile(&vals[2], "the accumulator of a product", args[2].loc),
        ) else {
            return Val::Error;
        };
        if self.product_shapes([a, b, acc], args, product(tf32), loc).is_none() {
            return Val::Error;
        }
        let Some(num) = self.unify(self.num(a), self.num(b), "`dot`", loc) else {
            return Val::Error;
        };
        let (dtype, acc_num) = (self.cells.settled(num), self.num(acc));
        let shape = self.ty(acc).shape().to_vec();
        // `zeros(..)` without a type is of the one that sums of such products have.
        let sum = match dtype {
            Dtype::F64 => Dtype::F64,
            Dtype::I8 | Dtype::U8 => Dtype::I32,
            _ => Dtype::F32,
        };
        if self.cells.known(acc_num).is_none() {
            let _ = self.cells.unify(acc_num, Num::Known(sum));
        }
        let acc_dtype = self.cells.settled(acc_num);
        let legal = match dtype {
            Dtype::F16 => matches!(acc_dtype, Dtype::F32 | Dtype::F16),
            Dtype::E4m3 | Dtype::E5m2 => matches!(acc_dtype, Dtype::F32 | Dtype::F16) && !tf32,
            Dtype::Bf16 | Dtype::F32 => acc_dtype == Dtype::F32,
            Dtype::F64 => acc_dtype == Dtype::F64 && !tf32,
            Dtype::I8 | Dtype::U8 => acc_dtype == Dtype::I32 && !tf32,
            _ => false,
        };
        if !legal || (tf32 && dtype != Dtype::F32) {
            let required = if tf32 {
                "f32 · f32 + f32"
            } else {
                "f16 · f16 + f32 or f16; bf16 · bf16 + f32; f32 · f32 + f32; f64 · f64 + f64; i8 · i8 + i32; u8 · u8 + i32; e4m3 · e4m3 + f32 or f16; e5m2 · e5m2 + f32 or f16"
            };
            let accumulator = match dtype {
                Dtype::F16 | Dtype::Bf16 | Dtype::F32 => Some("f32"),
                Dtype::E4m3 | Dtype::E5m2 if !tf32 => Some("f32"),
                Dtype::F64 if !tf32 => Some("f64"),
                Dtype::I8 | Dtype::U8 if !tf32 => Some("i32"),
                _ => None,
            };
            let diagnostic =
                Diagnostic::new(Code::DtypeRefused, loc, "no product has these element types")
                    .compare(
                        "",
                        required,
                        format!("{0} · {0} + {1}", dtype.name(), acc_dtype.name()),
                    );
            return self.report(match accumulator {
                Some(_) if tf32 && dtype != Dtype::F32 => diagnostic
                    .why("tf32 is what is left of an `f32` of which the tensor cores take 19 bits")
                    .help({
                        let [a, b, acc] = factors(args);
                        format!("dot({a}, {b}, {acc})")
                    }),
                Some(name) => diagnostic
                    .why("these are the pairs of factors and sums that the tensor cores have, and plain arithmetic of `f32` and `f64`")
                    .help(self.applied(acc, &format!(".cast::<{name}>()"))),
                None => diagnostic
                    .why("tensor cores multiply `f16`, `bf16`, tf32, `i8` and `u8`, multiply-add does `f32` and `f64`; others are multiplied element by element")
                    .help({
                        let [a, b, acc] = factors(args);
                        format!("({a}.expand(2) * {b}.expand(0)).sum(1) + {acc}")
                    }),
            });
        }
        if dtype.is_float8() && self.target == kernel_ptx::Target::SM_80 {
            return self.no_float8_product(dtype, loc);
        }
        self.operands.insert(loc, [args[0].loc, args[1].loc, args[2].loc]);
        if self.by_warpgroups([a, b, acc], tf32) {
            // Nothing is done with the sums before the wait: who wants to do so says `wgmma::mma`.
            let sums = self.emit_num(Op::Wgmma, vec![a, b, acc], Some(shape.clone()), acc_num, loc);
            return Val::Value(self.emit_num(
                Op::WgmmaWait(0),
                vec![sums],
                Some(shape),
                acc_num,
                loc,
            ));
        }
        let (Some(a), Some(b)) = (self.loaded(a, args[0].loc), self.loaded(b, args[1].loc)) else {
            return Val::Error;
        };
        Val::Value(self.emit_num(Op::Dot { tf32 }, vec![a, b, acc], Some(shape), acc_num, loc))
    }

    /// Reports a product of floats of one byte on a target without them.
    fn no_float8_product(&mut self, dtype: Dtype, loc: Loc) -> Val {
        let target = self.target.to_string();
        let headline = format!("`{target}` has no products of `{}`", dtype.name());
        self.report(
            Diagnostic::new(Code::Target, loc, headline)
                .compare("target", "sm_90a or sm_100a", target)
                .why("tensor cores multiply floats of one byte from sm_89 on (PTX ISA, \"mma\"); before, memory holds them and nothing converts them")
                .help("target = sm_90a"),
        )
    }

    /// The extents of a product agree; `call` is the function as it is written.
    pub(super) fn product_shapes(
        &mut self,
        values: [Value; 3],
        args: &[Expr],
        call: &str,
        loc: Loc,
    ) -> Option<()> {
        let [sa, sb, sc] = values.map(|value| self.ty(value).shape().to_vec());
        if let ([m, k], [k_of_b, n], [rows, cols]) = (&sa[..], &sb[..], &sc[..])
            && (k, rows, cols) == (k_of_b, m, n)
        {
            return Some(());
        }
        let mut diagnostic =
            Diagnostic::new(Code::DotShape, loc, "the operands of a product do not fit together")
                .compare("", "[m, k] · [k, n] + [m, n]", format!("{sa:?} · {sb:?} + {sc:?}"));
        if let ([m, k], [n, k_of_b]) = (sa.as_slice(), sb.as_slice()) {
            diagnostic = match sc.as_slice() {
                // The same factor read the other way round would fit.
                [rows, cols] if k == k_of_b && rows == m && cols == n => {
                    let [a, b, acc] = factors(args);
                    diagnostic.help(format!("{call}({a}, {b}.t(), {acc})"))
                }
                _ if k == n => diagnostic.help(format!(
                    "zeros::<{}>([{m}, {k_of_b}])",
                    self.cells.settled(self.num(values[2])).name()
                )),
                _ => diagnostic.why(format!(
                    "a row of the left factor has {k} elements, a column of the right one {n}"
                )),
            };
        }
        self.report(diagnostic);
        None
    }

    /// A factor of a product: a tile, or one tile in shared memory.
    fn factor(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        if let Type::Shared(shared) = self.ty(value).clone() {
            self.check_window(value, &shared, loc)?;
            self.own_window(&shared, "a product", loc)?;
            return Some(value);
        }
        self.tile(&Val::Value(value), "a product", loc)
    }

    /// A factor in registers.
    fn loaded(&mut self, factor: Value, loc: Loc) -> Option<Value> {
        if matches!(self.ty(factor), Type::Shared(_)) {
            return self.load_shared(factor, loc);
        }
        Some(factor)
    }
}

/// The operands of a product as they are written.
fn factors(args: &[Expr]) -> [String; 3] {
    let written = |index: usize, other: &str| {
        args.get(index).and_then(Expr::operand_text).unwrap_or_else(|| other.to_owned())
    };
    [written(0, "a"), written(1, "b"), written(2, "acc")]
}

fn product(tf32: bool) -> &'static str {
    if tf32 { "dot_tf32" } else { "dot" }
}

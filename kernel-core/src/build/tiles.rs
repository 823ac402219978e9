//! Shapes: splat, broadcast, expand, reshape, reductions, products.

use super::{
    Builder,
    along::REDUCTION,
    value::{Num, Val},
};
use crate::{
    diag::{Code, Diagnostic, SPILLED},
    ir::{Binary, Dtype, Op, StmtKind, Type, Value},
    layouts::MAX_REGISTERS,
    loc::Loc,
    syntax::Expr,
};

impl Builder<'_> {
    /// One scalar in every element.
    pub(super) fn splat(&mut self, scalar: Value, shape: &[u32], loc: Loc) -> Value {
        let num = self.num(scalar);
        if self.is_ptr(scalar) {
            let ty = self.ty(scalar).elem().expect("pointers have an element");
            return self.emit(Op::Splat, vec![scalar], Type::Tile(ty, shape.to_vec()), loc);
        }
        self.emit_num(Op::Splat, vec![scalar], Some(shape.to_vec()), num, loc)
    }

    pub(super) fn broadcast_to(&mut self, tile: Value, shape: &[u32], loc: Loc) -> Value {
        if self.ty(tile).shape() == shape {
            return tile;
        }
        let num = self.num(tile);
        if self.is_ptr(tile) {
            let ty = self.ty(tile).elem().expect("pointers have an element");
            return self.emit(Op::Broadcast, vec![tile], Type::Tile(ty, shape.to_vec()), loc);
        }
        self.emit_num(Op::Broadcast, vec![tile], Some(shape.to_vec()), num, loc)
    }

    /// Brings two operands to one shape: scalars are splatted, extents of 1 repeated.
    pub(super) fn same_shape(
        &mut self,
        a: Value,
        b: Value,
        what: &str,
        loc: Loc,
    ) -> Option<(Value, Value)> {
        if let Some(barrier) =
            [a, b].into_iter().find(|value| matches!(self.ty(*value), Type::Barrier(_)))
        {
            let actual = self.describe(&Val::Value(barrier));
            self.report(Diagnostic::new(
                Code::Kind,
                loc,
                format!("{what} is not defined on {actual}"),
            ));
            return None;
        }
        if matches!(self.ty(a), Type::Shared(_)) || matches!(self.ty(b), Type::Shared(_)) {
            let window = if matches!(self.ty(a), Type::Shared(_)) { a } else { b };
            let help = self.applied(window, ".load()");
            self.report(
                Diagnostic::new(
                    Code::Kind,
                    loc,
                    format!("{what} works on tiles in registers, not on shared memory"),
                )
                .why("arithmetic has its operands in registers; a tile in shared memory is loaded first")
                .help(help),
            );
            return None;
        }
        let (p, q) = (self.ty(a).shape().to_vec(), self.ty(b).shape().to_vec());
        match (p.is_empty(), q.is_empty()) {
            (true, true) => return Some((a, b)),
            (true, false) => return Some((self.splat(a, &q, loc), b)),
            (false, true) => return Some((a, self.splat(b, &p, loc))),
            (false, false) => {}
        }
        let joined: Option<Vec<u32>> = (p.len() == q.len())
            .then(|| {
                p.iter()
                    .zip(&q)
                    .map(
                        |(x, y)| if x == y || *y == 1 { Some(*x) } else { (*x == 1).then_some(*y) },
                    )
                    .collect()
            })
            .flatten();
        let Some(shape) = joined else {
            let mut diagnostic = Diagnostic::new(
                Code::ShapeMismatch,
                loc,
                format!("{what} joins tiles of different shapes"),
            )
            .compare("", "equal extents, or 1 on one side", format!("{p:?} and {q:?}"));
            if p.len() != q.len() {
                diagnostic = diagnostic
                    .why("elements pair by index, so both sides need the same number of axes");
            }
            if let Some((left, axis)) = missing_axis(&p, &q) {
                let name = self.written(&Val::Value(if left { a } else { b }));
                let side = if left { "left" } else { "right" };
                diagnostic = diagnostic.help(match name {
                    Some(name) => format!("{name}.expand({axis})"),
                    None => format!("`.expand({axis})` on the {side} side"),
                });
            }
            self.report(diagnostic);
            return None;
        };
        if shape != p && shape != q {
            let num = self.num(a);
            self.check_budget(&shape, num, loc)?;
        }
        Some((self.broadcast_to(a, &shape, loc), self.broadcast_to(b, &shape, loc)))
    }

    /// A tile operand, or a report.
    pub(super) fn tile(&mut self, val: &Val, what: &str, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        if let Type::Tile(..) = self.ty(value) {
            return Some(value);
        }
        let actual = self.describe(&Val::Value(value));
        let mut diagnostic = Diagnostic::new(Code::Kind, loc, format!("{what} needs a tile"))
            .compare("", "a tile in registers", actual);
        if matches!(self.ty(value), Type::Shared(_)) {
            diagnostic = diagnostic.help(self.applied(value, ".load()"));
        }
        self.report(diagnostic);
        None
    }

    /// Whether a block of this many warps can hold a tile of this element type in registers.
    pub(super) fn check_budget(&mut self, shape: &[u32], num: Num, loc: Loc) -> Option<()> {
        let bytes = self.cells.settled(num).bytes();
        self.check_registers(shape, bytes, loc)
    }

    /// As [`Builder::check_budget`], of elements of so many bytes. Each has registers of its own, also where it is small.
    fn check_registers(&mut self, shape: &[u32], bytes: u32, loc: Loc) -> Option<()> {
        let elements = shape.iter().fold(1u64, |all, e| all.saturating_mul(u64::from(*e)));
        let registers = elements.saturating_mul(u64::from(bytes.div_ceil(4)));
        let threads = u64::from(self.warps * 32);
        if registers <= threads * MAX_REGISTERS {
            return Some(());
        }
        if self.too_large.is_some_and(|first| first != loc) {
            // What is computed with the first one is as large.
            return None;
        }
        self.too_large = Some(loc);
        let warps =
            if self.warps == 1 { "one warp".to_owned() } else { format!("{} warps", self.warps) };
        let mut diagnostic = Diagnostic::new(
            Code::TileBudget,
            loc,
            format!("a tile of {elements} elements does not fit the registers of {warps}"),
        )
        .compare(
            "registers a thread",
            format!("at most {MAX_REGISTERS}"),
            registers.div_ceil(threads).to_string(),
        )
        .why(SPILLED);
        let enough = registers.div_ceil(32 * MAX_REGISTERS).next_power_of_two();
        if enough <= self.crew.most_warps() {
            diagnostic = diagnostic.help(self.warps_written(enough));
        }
        self.report(diagnostic);
        None
    }

    /// An axis of a tile of `rank` axes (or of one more, to insert).
    pub(super) fn axis(&mut self, val: &Val, limit: usize, what: &str, loc: Loc) -> Option<u32> {
        let axis = self.const_int(val, "an axis", loc)?;
        match u32::try_from(axis).ok().filter(|axis| (*axis as usize) < limit) {
            Some(axis) => Some(axis),
            None => {
                self.report(
                    Diagnostic::new(Code::Axis, loc, format!("{what} has no axis {axis}")).compare(
                        "axis",
                        format!("0 to {}", limit.saturating_sub(1)),
                        axis.to_string(),
                    ),
                );
                None
            }
        }
    }

    /// `x.expand(axis)`
    pub(super) fn expand(&mut self, tile: Value, axis: u32, loc: Loc) -> Val {
        let mut shape = self.ty(tile).shape().to_vec();
        if shape.len() == 5 {
            return self.error(Code::Axis, loc, "a tile has at most 5 axes");
        }
        shape.insert(axis as usize, 1);
        self.reshaped(Op::Expand(axis), tile, shape, loc)
    }

    /// An operation that keeps the element type.
    pub(super) fn reshaped(&mut self, op: Op, tile: Value, shape: Vec<u32>, loc: Loc) -> Val {
        if self.is_ptr(tile) {
            let elem = self.ty(tile).elem().expect("pointers have an element");
            return Val::Value(self.emit(op, vec![tile], Type::Tile(elem, shape), loc));
        }
        let num = self.num(tile);
        Val::Value(self.emit_num(op, vec![tile], Some(shape), num, loc))
    }

    /// `x.reshape(shape)`
    pub(super) fn reshape(&mut self, tile: Value, shape: Vec<u32>, loc: Loc) -> Val {
        let have: u64 = self.ty(tile).shape().iter().map(|e| u64::from(*e)).product();
        let want: u64 = shape.iter().map(|e| u64::from(*e)).product();
        if have != want {
            let actual = self.ty(tile).shape().to_vec();
            return self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "`reshape` keeps the number of elements")
                    .compare("elements", have.to_string(), want.to_string())
                    .why(format!("the tile has extents {actual:?}")),
            );
        }
        self.reshaped(Op::Reshape, tile, shape, loc)
    }

    /// `x.broadcast(shape)`
    pub(super) fn broadcast(&mut self, tile: Value, shape: &[u32], loc: Loc) -> Val {
        let have = self.ty(tile).shape().to_vec();
        let fits =
            have.len() == shape.len() && have.iter().zip(shape).all(|(h, s)| h == s || *h == 1);
        if !fits {
            return self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "`broadcast` repeats axes of extent 1")
                    .compare(
                        "",
                        format!("extents that are 1 or equal those of {shape:?}"),
                        format!("{have:?}"),
                    ),
            );
        }
        let num = self.num(tile);
        if self.check_budget(shape, num, loc).is_none() {
            return Val::Error;
        }
        Val::Value(self.broadcast_to(tile, shape, loc))
    }

    /// A reduction over an axis with a function of two scalars.
    pub(super) fn reduce(
        &mut self,
        tile: Value,
        axis: u32,
        loc: Loc,
        combine_loc: Loc,
        combine: &mut dyn FnMut(&mut Self, Value, Value) -> Val,
    ) -> Val {
        if self.is_ptr(tile) {
            return self.error(Code::Kind, loc, "a reduction takes a tile of numbers");
        }
        let num = self.num(tile);
        let region = self.combine(&[num], REDUCTION, loc, combine_loc, &mut |builder, a, b| {
            vec![combine(builder, a[0], b[0])]
        });
        let Some(region) = region else { return Val::Error };
        let mut shape = self.ty(tile).shape().to_vec();
        shape.remove(axis as usize);
        let shape = if shape.is_empty() { None } else { Some(shape) };
        let out = self.new_num(shape, num, loc);
        self.push(
            StmtKind::Reduce { args: vec![tile], axis, combine: region, results: vec![out] },
            loc,
        );
        if matches!(self.ty(out), Type::Scalar(_)) {
            self.points.insert(out, ());
        }
        Val::Value(out)
    }

    /// `x.sum(axis)`, `x.max(axis)`, `x.min(axis)`
    pub(super) fn reduce_with(&mut self, op: Binary, tile: Value, axis: u32, loc: Loc) -> Val {
        self.reduce(tile, axis, loc, loc, &mut |builder, a, b| {
            builder.binary(op, Val::Value(a), Val::Value(b), loc)
        })
    }

    /// `dot(a, b, acc)`
    pub(super) fn dot(&mut self, vals: &[Val], args: &[Expr], tf32: bool, loc: Loc) -> Val {
        let (Some(a), Some(b), Some(acc)) = (
            self.matrix(&vals[0], args[0].loc),
            self.matrix(&vals[1], args[1].loc),
            self.tile(&vals[2], "the accumulator of a product", args[2].loc),
        ) else {
            return Val::Error;
        };
        let (sa, sb, sc) = (
            self.ty(a).shape().to_vec(),
            self.ty(b).shape().to_vec(),
            self.ty(acc).shape().to_vec(),
        );
        let fits = sa.len() == 2
            && sb.len() == 2
            && sc.len() == 2
            && sa[1] == sb[0]
            && sc == [sa[0], sb[1]];
        if !fits {
            let mut diagnostic = Diagnostic::new(
                Code::DotShape,
                loc,
                "the operands of a product do not fit together",
            )
            .compare(
                "",
                "[m, k] · [k, n] + [m, n]",
                format!("{sa:?} · {sb:?} + {sc:?}"),
            );
            if let ([m, k], [n, k_of_b]) = (sa.as_slice(), sb.as_slice()) {
                diagnostic = match sc.as_slice() {
                    // The same factor read the other way round would fit.
                    [rows, cols] if k == k_of_b && rows == m && cols == n => {
                        let [a, b, acc] = factors(args);
                        diagnostic.help(format!("{}({a}, {b}.t(), {acc})", product(tf32)))
                    }
                    _ if k == n => diagnostic.help(format!(
                        "zeros::<{}>([{m}, {k_of_b}])",
                        self.cells.settled(self.num(acc)).name()
                    )),
                    _ => diagnostic.why(format!(
                        "a row of the left factor has {k} elements, a column of the right one {n}"
                    )),
                };
            }
            return self.report(diagnostic);
        }
        let Some(num) = self.unify(self.num(a), self.num(b), "`dot`", loc) else {
            return Val::Error;
        };
        let (dtype, acc_num) = (self.cells.settled(num), self.num(acc));
        // `zeros(..)` without a type is of the one that sums of such products have.
        let sum = match dtype {
            Dtype::F64 => Dtype::F64,
            Dtype::I8 => Dtype::I32,
            _ => Dtype::F32,
        };
        if self.cells.known(acc_num).is_none() {
            let _ = self.cells.unify(acc_num, Num::Known(sum));
        }
        let acc_dtype = self.cells.settled(acc_num);
        let legal = match dtype {
            Dtype::F16 => matches!(acc_dtype, Dtype::F32 | Dtype::F16),
            Dtype::Bf16 | Dtype::F32 => acc_dtype == Dtype::F32,
            Dtype::F64 => acc_dtype == Dtype::F64 && !tf32,
            Dtype::I8 | Dtype::U8 => acc_dtype == Dtype::I32 && !tf32,
            _ => false,
        };
        if !legal || (tf32 && dtype != Dtype::F32) {
            let required = if tf32 {
                "f32 · f32 + f32"
            } else {
                "f16 · f16 + f32 or f16; bf16 · bf16 + f32; f32 · f32 + f32; f64 · f64 + f64; i8 · i8 + i32; u8 · u8 + i32"
            };
            let accumulator = match dtype {
                Dtype::F16 | Dtype::Bf16 | Dtype::F32 => Some("f32"),
                Dtype::F64 if !tf32 => Some("f64"),
                Dtype::I8 if !tf32 => Some("i32"),
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
        self.operands.insert(loc, [args[0].loc, args[1].loc, args[2].loc]);
        Val::Value(self.emit_num(Op::Dot { tf32 }, vec![a, b, acc], Some(sc), acc_num, loc))
    }

    /// A factor of a product: a tile, or shared memory that is loaded here.
    fn matrix(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        if matches!(self.ty(value), Type::Shared(_)) {
            return self.load_shared(value, loc);
        }
        self.tile(&Val::Value(value), "a product", loc)
    }

    /// A tile of one element type.
    pub(super) fn tile_of(
        &mut self,
        op: Op,
        args: Vec<Value>,
        shape: Vec<u32>,
        num: Num,
        loc: Loc,
    ) -> Val {
        if self.check_budget(&shape, num, loc).is_none() {
            return Val::Error;
        }
        Val::Value(self.emit_num(op, args, Some(shape), num, loc))
    }
}

/// Where an axis of extent 1 would make two shapes fit: whether on the left, and its position. `None` if there
/// is not exactly one such place, so that nothing is guessed.
fn missing_axis(left: &[u32], right: &[u32]) -> Option<(bool, usize)> {
    let (short, long, on_left) = match left.len().checked_sub(right.len()) {
        Some(1) => (right, left, false),
        None if left.len() + 1 == right.len() => (left, right, true),
        _ => return None,
    };
    let mut fitting = (0..long.len()).filter(|axis| {
        let others = long.iter().enumerate().filter(|(at, _)| at != axis).map(|(_, extent)| extent);
        short.iter().zip(others).all(|(x, y)| x == y || *x == 1 || *y == 1)
    });
    let first = fitting.next()?;
    fitting.next().is_none().then_some((on_left, first))
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

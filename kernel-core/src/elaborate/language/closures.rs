//! Closures over elements: built once, on scalars, and then turned into operations on whole tiles.
//!
//! An `if` in them chooses a value for each element, so both of its sides are computed and one is selected.

use std::rc::Rc;

use la_arena::ArenaMap;

use super::{
    scope::VarId,
    value::{ClosureVal, Place, Val},
};
use crate::{
    diag::Code,
    elaborate::{Builder, messages::own_code::VALUE},
    ir::{ElementwiseOp, Op, Region, SourceOp, Stmt, StmtKind, Terminator, Type, Value},
    loc::Loc,
};

/// A closure over elements that is being built.
pub(crate) struct OverElements {
    /// The method that takes it.
    method: &'static str,
    /// How many variables there were before it.
    vars: usize,
    /// The axes of the tile.
    rank: usize,
}

impl Builder<'_> {
    /// Runs the body of a closure that computes elements of a tile with so many axes: it changes nothing outside of it.
    pub(crate) fn call_over_elements(
        &mut self,
        (method, rank): (&'static str, usize),
        f: &Rc<ClosureVal>,
        vals: Vec<Val>,
        at: Loc,
    ) -> Val {
        let vars = self.scopes.vars.len();
        self.over_elements.push(OverElements { method, vars, rank });
        let val = self.call_closure(f, vals, at);
        self.over_elements.pop();
        val
    }

    /// Reports an assignment in a closure over elements to a variable from outside of it; true if it is one.
    pub(crate) fn changes_from_elements(&mut self, place: &Place, loc: Loc) -> bool {
        let VarId(var) = place.var;
        let Some(&OverElements { method, vars, rank }) = self.over_elements.last() else {
            return false;
        };
        if var as usize >= vars {
            return false;
        }
        let name = self.scopes.name_of(place.var).unwrap_or("this variable").to_owned();
        let variable = &self.scopes.vars[var as usize];
        let declared = variable.declared;
        let dtype = self.num_of(&variable.val).map(|num| self.cells.settled(num));
        // Counting is the one change that a mask says as well.
        let sums = ".sum(0)".repeat(rank);
        let help = dtype
            .filter(|_| method == "map" && rank > 0)
            .map(|dtype| format!("let {name} = {VALUE}.cast::<{dtype}>(){sums}.item();"));
        let mut why = format!(
            "the closure runs for many elements, in all threads at once, so there is no single `{name}` to change"
        );
        if method == "map" {
            why += "; a mask has a `bool` for each element, and its sum counts them";
        }
        self.report(
            Code::Immutable
                .at(loc, format!("the closure of `{method}` changes `{name}`"))
                .place_if(declared, "declared outside of the closure")
                .why(why)
                .help_if(help),
        );
        true
    }

    /// `tile.map(f)`
    pub(crate) fn map(&mut self, tile: Value, f: &Rc<ClosureVal>, at: Loc, loc: Loc) -> Val {
        if self.is_ptr(tile) {
            return self.error(Code::Kind, loc, "`map` takes a tile of numbers");
        }
        let shape = self.tile_shape(tile);
        let element = self.new_num(None, self.num(tile), loc);
        self.mark_like(tile, element);
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(Region::default());
        self.conditional += 1;
        let rank = shape.as_ref().map_or(0, Vec::len);
        let out = self.call_over_elements(("map", rank), f, vec![Val::Value(element)], at);
        let out = self.plain(out);
        let result = self.value(&out, at);
        self.conditional -= 1;
        self.terminated = outer;
        let region = self.regions.pop().expect("pushed above");
        let Some(result) = result else { return Val::Error };
        let scalar = self.is_scalar(result) && !self.is_ptr(result);
        let (stmts, other) = match straight(region.stmts) {
            Ok(stmts) if scalar => (stmts, None),
            Ok(_) => (Vec::new(), Some(at)),
            Err(other) => (Vec::new(), Some(other)),
        };
        if let Some(other) = other {
            let zero = self.whole_number("0", self.num(tile));
            let diagnostic = Code::Kind
                .at(other, "`map` computes one number from one element")
                .why("the closure runs for each element and cannot have loops, tiles or memory accesses")
                .help(format!("|v| if v > {zero} {{ v }} else {{ {zero} }}"));
            let whole = other == at;
            return self.report(if whole { diagnostic } else { diagnostic.exemplified() });
        }
        let mut lifted: ArenaMap<Value, Value> = ArenaMap::new();
        lifted.insert(element, tile);
        for stmt in stmts {
            let (op, args, result) = match stmt.kind {
                StmtKind::Op { op, args, result: Some(result) } => (op, args, result),
                // Even if it reads no element, it runs for each.
                StmtKind::Ptx { code, args, results } => {
                    let lift = |arg: Value| lifted.get(arg).copied().unwrap_or(arg);
                    let args = args.into_iter().map(lift).collect();
                    let tiles: Vec<Value> = results
                        .iter()
                        .map(|&result| self.lifted(result, shape.as_deref()))
                        .collect();
                    for (&result, &tile) in results.iter().zip(&tiles) {
                        lifted.insert(result, tile);
                    }
                    self.push(StmtKind::Ptx { code, args, results: tiles }, stmt.loc);
                    continue;
                }
                StmtKind::Op { .. }
                | StmtKind::If { .. }
                | StmtKind::For { .. }
                | StmtKind::Loop { .. }
                | StmtKind::Reduce { .. }
                | StmtKind::Scan { .. }
                | StmtKind::Specialize { .. } => {
                    unreachable!("`straight` leaves arithmetic, which has a result")
                }
            };
            if !args.iter().any(|arg| lifted.contains_idx(*arg)) {
                // The same for all elements.
                self.op(op, args, Some(result), stmt.loc);
                continue;
            }
            let mut tiles = Vec::new();
            for arg in args {
                let known = lifted.get(arg).copied();
                let tile = known.unwrap_or_else(|| match &shape {
                    Some(shape) => self.splat(arg, shape, stmt.loc),
                    None => arg,
                });
                tiles.push(tile);
            }
            let value = if self.is_ptr(result) {
                let value = self.lifted(result, shape.as_deref());
                self.op(op, tiles, Some(value), stmt.loc);
                value
            } else {
                let num = self.num(result);
                self.emit_num(op, tiles, shape.clone(), num, stmt.loc)
            };
            lifted.insert(result, value);
        }
        let known = lifted.get(result).copied();
        match (known, &shape) {
            (Some(tile), _) => Val::Value(tile),
            (None, Some(shape)) => Val::Value(self.splat(result, shape, loc)),
            (None, None) => self.as_point(result, loc),
        }
    }

    /// A tile for what a closure has for one element; of rank 0 without a shape.
    fn lifted(&mut self, element: Value, shape: Option<&[u32]>) -> Value {
        let loc = self.values[element].loc;
        if let (Some(elem), Some(shape)) = (self.ty(element).elem(), shape) {
            return self.new_value(Type::Tile(elem, shape.to_vec()), loc);
        }
        let point = self.new_like(element, loc);
        self.points.insert(point, ());
        point
    }
}

/// The same without branches.
///
/// # Errors
/// The place of the first statement that is not arithmetic.
pub(crate) fn straight(stmts: Vec<Stmt>) -> Result<Vec<Stmt>, Loc> {
    let mut out = Vec::new();
    for stmt in stmts {
        match stmt.kind {
            StmtKind::Op { ref op, .. } if is_arithmetic(op) => out.push(stmt),
            StmtKind::If { condition, then, otherwise, results } => {
                let (Terminator::Yield(a), Terminator::Yield(b)) = (then.end, otherwise.end) else {
                    return Err(stmt.loc);
                };
                out.extend(straight(then.stmts)?);
                out.extend(straight(otherwise.stmts)?);
                for ((result, a), b) in results.into_iter().zip(a).zip(b) {
                    let args = vec![condition, a, b];
                    let kind = StmtKind::Op {
                        op: Op::Elementwise(ElementwiseOp::Select),
                        args,
                        result: Some(result),
                    };
                    out.push(Stmt { kind, loc: stmt.loc });
                }
            }
            StmtKind::Op { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Specialize { .. } => return Err(stmt.loc),
            StmtKind::Ptx { .. } => out.push(stmt),
        }
    }
    Ok(out)
}

/// What can be done between registers, of scalars as of tiles.
fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Source(op) => {
            !matches!(op, SourceOp::ParamPtr(_) | SourceOp::TensorPtr(_) | SourceOp::Arange(_))
        }
        Op::Elementwise(_) => true,
        Op::Tile(_)
        | Op::Memory(_)
        | Op::Window(_)
        | Op::Copy(_)
        | Op::Sync(_)
        | Op::Product(_)
        | Op::TensorMemory(_)
        | Op::Assert(_)
        | Op::Report(_) => false,
    }
}

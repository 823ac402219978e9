//! The user's assertions about layouts, compared with what inference chooses without them.
//!
//! Assertions are removed before layouts are chosen, so one that holds changes nothing: neither which
//! layouts are chosen, nor the code.

use kernel_layout::{Conversion, Form, Layout};
use la_arena::ArenaMap;

use super::LayoutProblem;
use super::graph::Graph;
use super::rewrite::Versions;
use super::solve::pinned;
use crate::ir::{Kernel, Op, Region, StmtKind, TileOp, Value};
use crate::loc::Loc;

/// A layout that the user says a tile has.
#[derive(Debug)]
pub(super) struct Assertion {
    tile: Value,
    form: Form,
    at: Loc,
}

/// Takes all assertions out of a kernel; whatever used their results uses the asserted tiles.
pub(super) fn take(kernel: &mut Kernel) -> Vec<Assertion> {
    let mut taken = Taken::default();
    taken.region(&mut kernel.body);
    taken.assertions
}

/// Whether a region asserts a layout anywhere.
pub(super) fn any(region: &Region) -> bool {
    region.any_op(&mut |op, _| matches!(op, Op::Tile(TileOp::AssertLayout(_))))
}

#[derive(Default)]
struct Taken {
    assertions: Vec<Assertion>,
    /// The asserted tile for the result of each assertion.
    tiles: ArenaMap<Value, Value>,
}

impl Taken {
    fn region(&mut self, region: &mut Region) {
        region.stmts.retain_mut(|stmt| {
            self.values(stmt.kind.operands_mut());
            if let StmtKind::Op { op: Op::Tile(TileOp::AssertLayout(form)), args, result } =
                &mut stmt.kind
                && let Some(result) = result
            {
                // Values are defined before they are used, so a chain of assertions ends here.
                self.tiles.insert(*result, args[0]);
                let form = form.clone();
                self.assertions.push(Assertion { tile: args[0], form, at: stmt.loc });
                return false;
            }
            stmt.kind.regions_mut().into_iter().for_each(|region| self.region(region));
            true
        });
        self.values(region.end.values_mut());
    }

    fn values<'v>(&self, values: impl IntoIterator<Item = &'v mut Value>) {
        for value in values {
            *value = self.tiles.get(*value).copied().unwrap_or(*value);
        }
    }
}

/// Where the layout of each asserted tile was chosen; none for those that are recomputed in every layout.
pub(super) fn places(assertions: &[Assertion], graph: &Graph) -> Vec<Option<Loc>> {
    let place =
        |assertion: &Assertion| graph.of.get(assertion.tile).map(|&node| graph.nodes[node].at);
    assertions.iter().map(place).collect()
}

/// Assertions whose layouts cannot be built for the tile.
pub(super) fn impossible(kernel: &Kernel, assertions: &[Assertion]) -> Vec<LayoutProblem> {
    let crews = kernel.crews();
    let problem = |Assertion { tile, form, at }: &Assertion| {
        pinned(form, *at, kernel.ty(*tile), crews.warps(*tile)).err().map(|problem| *problem)
    };
    distinct(assertions.iter().filter_map(problem))
}

/// Assertions that do not hold, of layouts that can be built. `places` are as [`places`] gives them.
///
/// A tile that is recomputed in every layout has those that its uses ask for: one of them is enough.
pub(super) fn failed(
    kernel: &Kernel,
    assertions: &[Assertion],
    places: &[Option<Loc>],
    layouts: &ArenaMap<Value, Layout>,
    versions: &Versions,
) -> Vec<LayoutProblem> {
    let crews = kernel.crews();
    let problem = |(assertion, &chosen_at): (&Assertion, &Option<Loc>)| {
        let Assertion { tile, form, at } = assertion;
        let required = pinned(form, *at, kernel.ty(*tile), crews.warps(*tile)).ok()?;
        let made = match versions.get(*tile) {
            Some(versions) => versions.iter().map(|(layout, _)| layout).collect(),
            None => vec![layouts.get(*tile).expect("inference gives every tile a layout")],
        };
        let free = |actual: &&Layout| Conversion::between(actual, &required).stays_in_thread();
        if made.iter().any(free) {
            return None;
        }
        let (at, actual, form) = (*at, made[0].clone(), form.clone());
        Some(LayoutProblem::Asserted { at, chosen_at, actual, required, form })
    };
    distinct(assertions.iter().zip(places).filter_map(problem))
}

/// A pipelined loop repeats statements before it, with what they assert.
fn distinct(problems: impl Iterator<Item = LayoutProblem>) -> Vec<LayoutProblem> {
    let mut all = Vec::new();
    for problem in problems {
        if !all.contains(&problem) {
            all.push(problem);
        }
    }
    all
}

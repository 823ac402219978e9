//! Waits that never end, whatever the kernel computes: all arrivals of the text together are fewer than a phase counts.
//!
//! ```text
//! let full = barrier(2);
//! if data > 0 { full.expect(tile.bytes()); tma::load(x, [0, 0], full, tile) }
//! full.wait(0);       one arrival at most, of two
//! ```
//!
//! This is for kernels whose paths depend on data, which cannot be run out. An arrival in a loop may take place any number of times, and
//! one of another block is not counted: such barriers are left alone.

use std::collections::{BTreeMap, BTreeSet};

use la_arena::ArenaMap;

use super::messages::{NEVER_ENDS, Said};
use crate::{
    diag::{Code, Diagnostic, counted},
    ir::{Announcement, Barriers, Region, StmtKind, Value, Wait},
    loc::Loc,
};

/// The arrivals at barriers outside of loops, and the waits on them.
#[derive(Default)]
struct Seen {
    constants: ArenaMap<Value, i128>,
    arrivals: BTreeMap<Barriers, Vec<Loc>>,
    /// Those at which something arrives in a loop.
    often: BTreeSet<Barriers>,
    /// Waits for a phase of parity 0.
    waits: Vec<(Barriers, Loc)>,
}

impl Said<'_> {
    /// The first wait that no arrivals of the text end.
    pub(super) fn never_ends(&self) -> Option<Diagnostic> {
        if self.kernel.cluster != [1; 3] {
            return None;
        }
        let mut seen = Seen { constants: self.kernel.body.constants(), ..Seen::default() };
        self.look(&self.kernel.body, 0, &mut seen);
        seen.waits.iter().find_map(|&(root, wait)| {
            let places = seen.arrivals.get(&root).map_or(&[][..], Vec::as_slice);
            let count = self.kernel.barriers[root].count as usize;
            let is_short = !seen.often.contains(&root) && places.len() < count;
            is_short.then(|| self.too_few(root, wait, places))
        })
    }

    fn look(&self, region: &Region, loops: usize, seen: &mut Seen) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, result } = &stmt.kind {
                let effects = self.kernel.effects(op, args, *result);
                let of = |barrier| Some(self.kernel.ty(barrier).barrier()?.root);
                let arrived = match effects.announces {
                    Some(
                        Announcement::Arrive(barrier)
                        | Announcement::Expect(barrier)
                        | Announcement::Commit { barrier, .. },
                    ) => of(barrier),
                    Some(
                        Announcement::Crew
                        | Announcement::Named(_)
                        | Announcement::Cluster
                        | Announcement::CpAsyncGroup
                        | Announcement::NextGrid,
                    )
                    | None => None,
                };
                if let Some(root) = arrived {
                    seen.arrivals.entry(root).or_default().push(stmt.loc);
                    if loops > 0 {
                        seen.often.insert(root);
                    }
                }
                for wait in &effects.waits {
                    if let Wait::Barrier(barrier) = wait
                        && seen.constants.get(args[1]) == Some(&0)
                    {
                        seen.waits.extend(of(*barrier).map(|root| (root, stmt.loc)));
                    }
                }
            }
            let is_loop = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Loop { .. });
            for inner in stmt.kind.regions() {
                self.look(inner, loops + usize::from(is_loop), seen);
            }
        }
    }

    fn too_few(&self, root: Barriers, wait: Loc, places: &[Loc]) -> Diagnostic {
        let data = &self.kernel.barriers[root];
        let name = self.barriers(root);
        let name = name.map_or("the barrier".to_owned(), |(name, _)| format!("`{name}`"));
        let headline = format!("the phase of {name} that this waits for never ends");
        let actual = match places {
            [] => "none in the kernel".to_owned(),
            _ => format!("at most {}", places.len()),
        };
        // Of several arrivals some may exclude each other.
        let fewer = (places.len() == 1).then(|| match data.ring {
            Some(ring) => format!("barriers({ring}, 1)"),
            None => "barrier(1)".to_owned(),
        });
        let of_phase = counted(data.count as usize, "arrival");
        let diagnostic = Code::Arrivals
            .at(wait, headline)
            .compare("arrivals", data.count, actual)
            .place(data.loc, format!("the barrier counts {of_phase} in a phase"));
        places
            .iter()
            .fold(diagnostic, |diagnostic, &place| diagnostic.place(place, "an arrival is here"))
            .why(NEVER_ENDS)
            .help_if(fewer)
    }
}

//! Findings: hazards that do not stop a launch.

use std::collections::BTreeMap;

use crate::fault::{Fault, FaultKind};
use crate::machine::{Cluster, Launch, Warp};
use crate::scheduler::locate;

/// What becomes of hazards ([`FaultKind::is_hazard`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hazards {
    /// The first one is the launch's fault.
    #[default]
    Error,
    /// They are listed in [`Report::findings`](crate::Report::findings), and the launch goes on as if the operations had been ordered:
    /// asynchronous operations act when they are issued. All checks are on.
    Warn,
    /// None is reported, and most are not looked for.
    Off,
}

/// The kind of a hazard, the instruction that meets it, and the other one that takes part.
type Key = (FaultKind, u32, Option<u32>);

/// The hazards that clusters met: each pair of instructions once, with the number of the lowest cluster that met it.
#[derive(Debug, Default)]
pub(crate) struct Findings(BTreeMap<Key, (u64, Fault)>);

impl Findings {
    /// Takes down what an instruction of a warp met.
    #[cold]
    pub(crate) fn note(
        &mut self,
        launch: &Launch<'_>,
        (cluster, block): (&Cluster, usize),
        warp: &Warp,
    ) {
        for mut trap in cluster.found.take() {
            let pc = trap.pc.unwrap_or(warp.pc);
            let key = (trap.kind, pc, trap.other_pc());
            if self.0.get(&key).is_some_and(|(index, _)| *index <= cluster.index) {
                continue;
            }
            locate::name_block(&mut trap, cluster, block);
            let fault = locate::locate(launch, &trap, cluster.blocks[block].id, warp);
            self.0.insert(key, (cluster.index, fault));
        }
    }

    /// Adds those of another worker.
    pub(crate) fn join(&mut self, others: Findings) {
        for (key, (index, fault)) in others.0 {
            if self.0.get(&key).is_none_or(|(known, _)| index < *known) {
                self.0.insert(key, (index, fault));
            }
        }
    }

    /// All of them, in the order of the text.
    pub(crate) fn into_list(self) -> Vec<Fault> {
        let mut all: Vec<Fault> = self.0.into_values().map(|(_, fault)| fault).collect();
        all.sort_by_key(|fault| (fault.ptx_line, fault.kind));
        all
    }
}

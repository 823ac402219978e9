//! The state that the blocks of a cluster and their partitions share, and how they take turns with it.
//!
//! Each block of a cluster, and each partition of a block, is a task with a thread of its own; only the one that has the [`World`]
//! runs. It gives the world back when it cannot continue, and a round in which no task continued is a deadlock.

use std::sync::mpsc::{Receiver, Sender, channel};

use la_arena::ArenaMap;

use super::element::Element;
use super::tensor_memory::{Arrangement, ROWS};
use super::{Arg, EvalError, Fault};
use crate::ir::{Barriers, Kernel, Named, Shared, TensorMemory};
use crate::loc::Loc;

/// Everything that a task may change for others to see.
#[derive(Default)]
pub(super) struct World<'a> {
    pub(super) args: &'a mut [Arg],
    /// The clusters of the launch that have begun, or will not.
    pub(super) begun: usize,
    /// By rank in the cluster.
    pub(super) blocks: Vec<BlockState>,
    /// The allocations whose bytes are read as elements of several types: what stands for them has a cell a byte.
    pub(super) bytewise: ArenaMap<Shared, ()>,
    /// Grows with everything that may end a wait.
    events: u64,
}

/// What a block shows to its partitions and to the rest of its cluster.
#[derive(Default)]
pub(super) struct BlockState {
    pub(super) shared: ArenaMap<Shared, Vec<Element>>,
    /// The bytes of every word of an allocation, the rows of a column one after the other; none if nothing is defined.
    pub(super) tensor_memory: ArenaMap<TensorMemory, Vec<[Option<u8>; 4]>>,
    barriers: ArenaMap<Barriers, Vec<Mbarrier>>,
    /// How many warps have come to each named barrier, in all.
    named: ArenaMap<Named, u64>,
    /// How often the block has arrived at the cluster's barrier.
    arrivals: u64,
}

/// An mbarrier (PTX ISA, "Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object").
#[derive(Clone, Copy)]
struct Mbarrier {
    count: i64,
    /// The parity of the phase that is not over.
    parity: bool,
    arrivals: i64,
    bytes: i64,
}

/// Which mbarrier of the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarrierPlace {
    pub(super) rank: usize,
    pub(super) root: Barriers,
    pub(super) index: usize,
}

/// Why a task gives the world back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It continues only after another task has done something.
    Waits,
    /// It asked for something that does not hold yet, and could do something else.
    Asks,
}

/// A task's side of the exchange.
pub(super) struct Turns<'a> {
    mine: Receiver<World<'a>>,
    back: Sender<Report<'a>>,
}

enum Report<'a> {
    Stopped(World<'a>, Stopped, Loc),
    Ended(World<'a>),
}

impl<'a> World<'a> {
    /// Of a cluster that has done nothing yet; its shared memory and its mbarriers are there from the start, as the kernel's first instructions make them.
    pub(super) fn new(
        kernel: &Kernel,
        args: &'a mut [Arg],
        blocks: usize,
        begun: usize,
    ) -> World<'a> {
        let mut bytewise = ArenaMap::default();
        for (_, data) in kernel.values.iter() {
            if let Some(ty) = data.ty.shared().filter(|ty| ty.is_retyped()) {
                bytewise.insert(ty.root, ());
            }
        }
        let block = || {
            let mut state = BlockState::default();
            for (root, data) in kernel.tensor_memory.iter().filter(|(_, data)| data.of.is_none()) {
                let tiles: u32 = data.shape.iter().rev().skip(2).product();
                let words = (ROWS * Arrangement::of(kernel, root).columns() * tiles) as usize;
                state.tensor_memory.insert(root, vec![[None; 4]; words]);
            }
            for (root, data) in kernel.shared.iter() {
                let elements: usize = data.shape.iter().map(|&extent| extent as usize).product();
                let cells = if bytewise.contains_idx(root) { data.dtype.shared_bytes() } else { 1 };
                state.shared.insert(root, vec![Element::Undefined; elements * cells as usize]);
            }
            for (root, data) in kernel.barriers.iter() {
                let count = i64::from(data.count);
                let fresh = Mbarrier { count, parity: false, arrivals: count, bytes: 0 };
                state.barriers.insert(root, vec![fresh; data.ring.unwrap_or(1) as usize]);
            }
            state
        };
        let blocks = (0..blocks).map(|_| block()).collect();
        World { args, begun, blocks, bytewise, events: 0 }
    }

    /// This many of the arrivals, and this many of the bytes, that the phase waits for have come; bytes below 0 are announced.
    pub(super) fn complete(&mut self, at: BarrierPlace, arrivals: i64, bytes: i64) {
        let barrier = &mut self.blocks[at.rank].barriers[at.root][at.index];
        barrier.arrivals -= arrivals;
        barrier.bytes -= bytes;
        if barrier.arrivals <= 0 && barrier.bytes == 0 {
            barrier.parity = !barrier.parity;
            barrier.arrivals = barrier.count;
        }
        self.events += 1;
    }

    /// Whether the phase of a parity is over.
    pub(super) fn is_over(&self, at: BarrierPlace, parity: bool) -> bool {
        self.blocks[at.rank].barriers[at.root][at.index].parity != parity
    }

    /// How many mbarriers an allocation has.
    pub(super) fn ring(&self, at: BarrierPlace) -> usize {
        self.blocks[at.rank].barriers[at.root].len()
    }

    /// This many warps of a block come to a named barrier; gives how many are there at the end of the phase that they came in.
    pub(super) fn come(&mut self, rank: usize, named: Named, warps: u32, counts: u32) -> u64 {
        let here = self.blocks[rank].named.entry(named).or_insert(0);
        let phase = *here / u64::from(counts);
        *here += u64::from(warps);
        self.events += 1;
        (phase + 1) * u64::from(counts)
    }

    /// Whether this many warps have come to a named barrier.
    pub(super) fn have_come(&self, rank: usize, named: Named, warps: u64) -> bool {
        self.blocks[rank].named.get(named).is_some_and(|&here| here >= warps)
    }

    /// A block arrives at the cluster's barrier.
    pub(super) fn arrive(&mut self, rank: usize) {
        self.blocks[rank].arrivals += 1;
        self.events += 1;
    }

    /// A block has ended: no block waits for it. One that failed during the turn of others has no world to leave.
    pub(super) fn leave(&mut self, rank: usize) {
        if let Some(block) = self.blocks.get_mut(rank) {
            block.arrivals = u64::MAX;
        }
        self.events += 1;
    }

    /// Whether all blocks have arrived as often as this one.
    pub(super) fn have_arrived(&self, rank: usize) -> bool {
        self.blocks.iter().all(|block| block.arrivals >= self.blocks[rank].arrivals)
    }
}

impl<'a> Turns<'a> {
    /// Lets the others go on; gives the world when it is this task's turn again.
    ///
    /// # Errors
    /// If that turn never comes.
    pub(super) fn pass(&self, world: World<'a>, why: Stopped, at: Loc) -> Result<World<'a>, Fault> {
        self.back.send(Report::Stopped(world, why, at)).map_err(|_| Fault::Deadlock)?;
        self.mine.recv().map_err(|_| Fault::Deadlock)
    }
}

/// What a task does with the world, which it gives back with its result.
pub(super) type Task<'t, 'a, T> =
    Box<dyn FnOnce(World<'a>, Turns<'a>) -> (World<'a>, Result<T, EvalError>) + Send + 't>;

/// Runs tasks, each until it has to wait, in their order, until all have ended. A round in which none went on is passed on to
/// `outer`, which may have tasks that can.
///
/// # Errors
/// The first fault of a task; of a deadlock, that of the first task that waits.
pub(super) fn together<'a, T: Send>(
    mut world: World<'a>,
    outer: Option<&Turns<'a>>,
    tasks: Vec<Task<'_, 'a, T>>,
) -> (World<'a>, Result<Vec<T>, EvalError>) {
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for task in tasks {
            let (turn, mine) = channel();
            let (back, reports) = channel();
            let handle = scope.spawn(move || {
                let Ok(world) = mine.recv() else { return None };
                let ended = back.clone();
                let (world, result) = task(world, Turns { mine, back });
                // No task receives it once another one has failed.
                let _ = ended.send(Report::Ended(world));
                Some(result)
            });
            running.push(Some((turn, reports, handle)));
        }
        let mut results: Vec<Option<T>> = running.iter().map(|_| None).collect();
        while running.iter().any(Option::is_some) {
            let (before, mut went_on, mut stopped) = (world.events, false, None);
            for (place, slot) in running.iter_mut().enumerate() {
                let Some((turn, reports, _)) = slot else { continue };
                let given = std::mem::take(&mut world);
                let report = turn.send(given).ok().and_then(|()| reports.recv().ok());
                match report {
                    Some(Report::Stopped(back, why, at)) => {
                        world = back;
                        let (_, first) = *stopped.get_or_insert((why, at));
                        if why == Stopped::Asks {
                            stopped = Some((why, first));
                        }
                    }
                    ended @ (Some(Report::Ended(_)) | None) => {
                        went_on = true;
                        let Some((.., handle)) = slot.take() else { continue };
                        let result = handle.join().unwrap_or_else(|panic| {
                            std::panic::resume_unwind(panic);
                        });
                        world = match ended {
                            Some(Report::Ended(world)) => world,
                            Some(Report::Stopped(..)) | None => World::default(),
                        };
                        match result {
                            Some(Ok(result)) => results[place] = Some(result),
                            Some(Err(error)) => return (world, Err(error)),
                            None => unreachable!("a task that had its turn has a result"),
                        }
                    }
                }
            }
            let Some((why, at)) = stopped else { continue };
            if went_on || world.events != before {
                continue;
            }
            let deadlock = EvalError { block: [0; 3], loc: at, fault: Fault::Deadlock };
            match outer {
                Some(outer) => match outer.pass(world, why, at) {
                    Ok(back) => world = back,
                    Err(fault) => return (World::default(), Err(EvalError { fault, ..deadlock })),
                },
                None if why == Stopped::Asks => {}
                None => return (world, Err(deadlock)),
            }
        }
        (world, Ok(results.into_iter().flatten().collect()))
    })
}

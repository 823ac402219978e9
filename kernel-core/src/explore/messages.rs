//! What is said of a hazard.

use super::{
    Blocked, Finding, Stuck,
    machine::Waiting,
    memory::{Access, Cores},
    values::{Barrier, Space, Window},
};
use crate::{
    diag::{Code, Commit, Diagnostic, Lacking, Missing, Phase, Signal, Spot, counted},
    elaborate::Written,
    ir::{
        Announcement, BarrierOp, Barriers, By, Does, Kernel, Memory, Op, SyncOp, TensorMemoryOp,
        Value, WindowOp,
    },
    loc::Loc,
};

/// So many other parts that wait are shown.
const MOST_WAITS: usize = 3;

/// What the words come from.
pub(super) struct Said<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) written: &'a Written,
}

/// The section of the manual on mbarriers.
const MBARRIER: &str = "Parallel Synchronization and Communication Instructions: mbarrier";

/// Why a phase does not end.
pub(super) const NEVER_ENDS: &str = "a phase ends when all arrivals that the barrier counts, and all bytes that they expect, have arrived (PTX ISA, \"Parallel Synchronization and Communication Instructions: mbarrier\")";

/// What orders the accesses of two parts.
const ORDERS: &str = "a barrier at which one part arrives after its access, and on which the other one waits before its own";

/// The same if one of the accesses is a product of `wgmma`.
const OF_PRODUCT: &str = "a barrier at which the part with the product arrives after the `wgmma::wait` for it, and on which the other one waits before its own access";

impl Said<'_> {
    pub(super) fn diagnostic(&self, finding: &Finding) -> Diagnostic {
        match finding {
            Finding::Race { first, second } => {
                let [block, _] = second.who;
                if first.who[0] == block && second.window.block == block {
                    self.race(first, second)
                } else {
                    self.between_blocks(first, second)
                }
            }
            Finding::TooOften { barrier, at } => self.too_often(*barrier, *at),
            Finding::Stuck { wait, state, others } => self.stuck(*wait, *state, others),
            Finding::Open { access } => self.open(access),
        }
    }

    /// The name of a value that an allocation gives.
    fn made(&self, is_it: impl Fn(&Op) -> bool) -> Option<(String, Loc)> {
        let mut found: Option<(Value, Loc)> = None;
        self.kernel.body.each_op(&mut |op, _, result, loc| {
            if let (true, Some(result)) = (is_it(op), result) {
                found.get_or_insert((result, loc));
            }
        });
        let (value, loc) = found?;
        Some((self.written.name(value)?, loc))
    }

    /// One or several barriers that are made together, and where.
    pub(super) fn barriers(&self, root: Barriers) -> Option<(String, Loc)> {
        self.made(|op| *op == Op::Sync(SyncOp::Barrier(BarrierOp::Alloc(root))))
    }

    /// A barrier, as the kernel spells it.
    fn barrier(&self, barrier: Barrier) -> Option<(String, Loc)> {
        let (name, at) = self.barriers(barrier.root)?;
        let ring = self.kernel.barriers[barrier.root].ring.is_some();
        Some((if ring { format!("{name}[{}]", barrier.index) } else { name }, at))
    }

    /// The memory, as the kernel calls it.
    fn memory(&self, window: &Window) -> String {
        let name = match window.space {
            Space::Shared => self.made(|op| {
                matches!(op, Op::Window(WindowOp::Alloc(root)) if root.into_raw().into_u32() == window.root)
            }),
            Space::Tensor => self.made(|op| {
                let Op::TensorMemory(TensorMemoryOp::Alloc(root)) = op else { return false };
                self.kernel.tensor_columns(*root).into_raw().into_u32() == window.root
            }),
        };
        match (window.space, name) {
            (_, Some((name, _))) => format!("`{name}`"),
            (Space::Shared, None) => "shared memory".to_owned(),
            (Space::Tensor, None) => "tensor memory".to_owned(),
        }
    }

    /// The number of blocks of a cluster.
    fn blocks(&self) -> u32 {
        self.kernel.cluster.iter().product()
    }

    /// A part of the kernel.
    fn part(&self, [block, part]: [u32; 2]) -> String {
        let block = (self.blocks() > 1).then(|| format!("block {block}"));
        let part = self.kernel.specialized().map(|_| match part {
            0 => "the default part".to_owned(),
            part => format!("partition {part}"),
        });
        match (part, block) {
            (Some(part), Some(block)) => format!("{part} of {block}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "the kernel".to_owned(),
        }
    }

    /// Who accesses memory.
    fn agent(&self, access: &Access) -> String {
        let alone = self.blocks() == 1 && self.kernel.specialized().is_none();
        let what = match (access.by, access.does) {
            (By::Threads, _) if alone => "the threads",
            (By::Threads, _) => return self.part(access.who),
            (By::CpAsync, _) => "`copy_async`",
            (By::AsyncCopy, _) if access.on.is_some() => "a copy",
            (By::AsyncCopy, _) => "a store",
            (By::TensorCores, _) if access.cores == Some(Cores::Copy) => "a copy to tensor memory",
            (By::TensorCores, _) => "a product",
        };
        if alone { what.to_owned() } else { format!("{what} of {}", self.part(access.who)) }
    }

    /// The name of the barrier on which an access completes.
    fn completing(&self, access: &Access) -> Option<String> {
        Some(self.barrier(access.on?)?.0)
    }

    /// What two accesses do to memory.
    fn headline(&self, memory: &str, first: &Access, second: &Access) -> String {
        if first.who == second.who {
            let earlier = if is_again(first, second) {
                "an earlier one".to_owned()
            } else {
                self.agent(first)
            };
            let (used, may) = (used(second), may(first));
            return format!(
                "{memory} is {used} by {} while {earlier} may still {may} it",
                self.agent(second)
            );
        }
        let (one, other) =
            if second.does == Does::Writes { (second, first) } else { (first, second) };
        format!(
            "{memory} is {} by {} and {} by {}, and nothing orders the two",
            used(one),
            self.agent(one),
            used(other),
            self.agent(other)
        )
    }

    /// Says where the access is that another one meets, unless it is the same statement.
    fn earlier(&self, diagnostic: Diagnostic, first: &Access, second: &Access) -> Diagnostic {
        if is_again(first, second) {
            return diagnostic;
        }
        diagnostic.place(first.at, format!("{} by {} here", used(first), self.agent(first)))
    }

    /// How often the text waits on barriers that are made together, expects bytes at them, and copies to complete on them.
    fn uses(&self, root: Barriers) -> Uses {
        let of = |barrier: Value| self.kernel.ty(barrier).barrier().map(|ty| ty.root) == Some(root);
        let mut uses = Uses::default();
        self.kernel.body.each_op(&mut |op, args, result, loc| {
            let effects = self.kernel.effects(op, args, result);
            let waits = effects.waits.iter().filter_map(|wait| wait.barrier());
            uses.waits += waits.filter(|&barrier| of(barrier)).count();
            uses.expects += usize::from(
                matches!(effects.announces, Some(Announcement::Expect(barrier)) if of(barrier)),
            );
            uses.arrivals += usize::from(matches!(
                effects.announces,
                Some(Announcement::Arrive(barrier) | Announcement::Commit { barrier, .. })
                    if of(barrier)
            ));
            if effects.accesses.iter().filter_map(|access| access.done.barrier()).any(of) {
                uses.copies.get_or_insert(loc);
            }
        });
        uses
    }

    /// The wait on a barrier that nothing in the text waits on.
    fn first_wait(&self, root: Barriers) -> Option<Lacking> {
        let uses = self.uses(root);
        let (name, _) = self.barriers(root)?;
        (uses.waits == 0).then(|| {
            Lacking::Phase(Phase {
                barrier: name,
                ring: self.kernel.barriers[root].ring,
                commit: Commit::Done,
                first: uses.expects == 1,
                alone: uses.expects == 1,
            })
        })
    }

    /// Whether what is wrong is that nothing in the text waits for a copy.
    pub(super) fn is_unawaited(&self, finding: &Finding) -> bool {
        let Finding::Race { first, second } = finding else { return false };
        first.who != second.who
            && first.who[0] == second.who[0]
            && self.unawaited(first, second).is_some()
    }

    /// Another part uses what a copy writes, and nothing waits for the copy.
    fn unawaited(&self, first: &Access, second: &Access) -> Option<Diagnostic> {
        let (copy, other) = if second.on.is_some() { (second, first) } else { (first, second) };
        let barrier = copy.on.filter(|_| copy.does == Does::Writes && other.on.is_none())?;
        let wait = self.first_wait(barrier.root)?;
        let (name, _) = self.barriers(barrier.root)?;
        let memory = self.memory(&other.window);
        let headline = format!(
            "{memory} is {} by {} while {} may still write it",
            used(other),
            self.agent(other),
            self.agent(copy)
        );
        Some(
            Code::Unordered
                .at(other.at, headline)
                .compare("", format!("a wait on `{name}` before this"), "nothing waits on it")
                .place(copy.at, "the copy starts here")
                .why("the parts of a kernel run on their own: that the copy has ended is known only to a part that has waited on its barrier (PTX ISA, \"Memory Consistency Model\")")
                .lacks(Some(Missing {
                    what: wait,
                    after: copy.at,
                    before: other.at,
                    spot: Spot::Before,
                })),
        )
    }

    /// A part waits without end because another one has run ahead of it: nothing in the text waits for a copy that the other one reads.
    fn runs_ahead(&self, wait: &Blocked) -> Option<Diagnostic> {
        self.kernel.specialized()?;
        let root = |memory: Memory| {
            let Memory::Shared(window) = memory else { return None };
            self.kernel.ty(window).shared().map(|ty| ty.root)
        };
        let (mut copied, mut reads) = (Vec::new(), Vec::new());
        self.kernel.body.each_op(&mut |op, args, result, loc| {
            for access in self.kernel.effects(op, args, result).accesses {
                let Some(memory) = root(access.memory) else { continue };
                match (access.does, access.done.barrier()) {
                    (Does::Writes, Some(barrier)) => copied.push((memory, barrier, loc)),
                    (Does::Reads, None) => reads.push((memory, loc)),
                    (Does::Writes, None) | (Does::Reads, Some(_)) => {}
                }
            }
        });
        copied.into_iter().find_map(|(memory, barrier, copy)| {
            let barrier = self.kernel.ty(barrier).barrier()?.root;
            let wait_there = self.first_wait(barrier)?;
            let (_, read) = reads.iter().find(|(of, _)| *of == memory)?;
            let name = self.made(|op| *op == Op::Window(WindowOp::Alloc(memory)))?.0;
            let (full, made) = self.barriers(barrier)?;
            Some(
                Code::Unordered
                    .at(*read, format!("`{name}` is read while a copy may still write it"))
                    .compare("", format!("a wait on `{full}` before this"), "nothing waits on it")
                    .place(copy, "the copy starts here")
                    .place(made, "the barrier is made here")
                    .place(wait.at, "this waits without end: the part that reads is ahead of it")
                    .why("the parts of a kernel run on their own: that the copy has ended is known only to a part that has waited on its barrier (PTX ISA, \"Memory Consistency Model\")")
                    .lacks(Some(Missing {
                        what: wait_there,
                        after: copy,
                        before: *read,
                        spot: Spot::Before,
                    })),
            )
        })
    }

    fn race(&self, first: &Access, second: &Access) -> Diagnostic {
        let same = first.who == second.who;
        if let Some(diagnostic) = self.unawaited(first, second).filter(|_| !same) {
            return diagnostic;
        }
        let headline = self.headline(&self.memory(&second.window), first, second);
        let in_wgmma = |access: &Access| access.by == By::TensorCores && access.cores.is_none();
        let product = !same && (in_wgmma(first) || in_wgmma(second));
        let required = match (same, self.completing(first)) {
            (false, _) if product => OF_PRODUCT.to_owned(),
            (false, _) => ORDERS.to_owned(),
            (true, Some(name)) => format!(
                "a wait on `{name}` between the two, or on a barrier at which a part arrives that has waited on it"
            ),
            (true, None) if first.by == By::CpAsync => {
                "a wait for the copy, and then `sync()`, between the two".to_owned()
            }
            (true, None) => "a wait or a barrier between the two".to_owned(),
        };
        let meets = same && first.by == By::Threads && first.on.is_none();
        let groups = same && first.by == By::CpAsync;
        let threads = !same && first.by == By::Threads && second.by == By::Threads;
        let lacking = if meets {
            Some((Lacking::Text("sync();".to_owned()), first, second, Spot::Between))
        } else if groups {
            Some((Lacking::CopyAsync, first, second, Spot::Before))
        } else if threads {
            let reads_first = first.does == Does::Reads && second.does == Does::Writes;
            let (one, other) = if reads_first { (second, first) } else { (first, second) };
            Some((Lacking::HandedOver(Signal::Arrive), one, other, Spot::Before))
        } else {
            None
        };
        let missing = lacking.map(|(what, one, other, spot)| Missing {
            what,
            after: one.at,
            before: other.at,
            spot,
        });
        let diagnostic = Code::Unordered.at(second.at, headline).compare(
            "",
            required,
            "nothing that orders them",
        );
        self.earlier(diagnostic, first, second)
            .why(if same {
                "asynchronous operations and the threads of a part run on their own: one thread may start a copy while others are not yet done with the memory (PTX ISA, \"Memory Consistency Model\")"
            } else {
                "the parts of a kernel run on their own: only barriers say how far the others are (PTX ISA, \"Memory Consistency Model\")"
            })
            .lacks(missing)
            .with_example(|| match self.completing(first) {
                _ if meets => Some("sync();".to_owned()),
                Some(name) if same => Some(format!("{name}.wait(phase); // before this")),
                None if same && first.by == By::TensorCores && first.cores.is_none() => {
                    Some("acc = wgmma::wait(0, acc); // before this: no product is left in flight".to_owned())
                }
                None | Some(_) if product => Some(
                    "acc = wgmma::wait(0, acc); // the product has read its operands\nempty.arrive();"
                        .to_owned(),
                ),
                None | Some(_) if !same => Some(
                    "used.arrive(); // by the one part, after its access\nused.wait(phase); // by the other one, before its own"
                        .to_owned(),
                ),
                None | Some(_) => None,
            })
    }

    /// The number of the statement among those of the body, if this is the only place where memory is accessed there.
    fn in_turn(&self, at: Loc) -> Option<usize> {
        let mut times = 0;
        self.kernel.body.each_op(&mut |op, args, result, loc| {
            let accesses = || !self.kernel.effects(op, args, result).accesses.is_empty();
            times += u32::from(loc == at && accesses());
        });
        let place = self.kernel.body.stmts.iter().position(|stmt| stmt.loc == at);
        place.filter(|_| times == 1)
    }

    fn between_blocks(&self, first: &Access, second: &Access) -> Diagnostic {
        let turns = (self.in_turn(first.at), self.in_turn(second.at));
        let straight = turns.0.is_some() && turns.1.is_some();
        // Of two that are done one after the other, the one that comes later in the text could have waited.
        let (first, second) =
            if straight && turns.0 > turns.1 { (second, first) } else { (first, second) };
        let memory = format!("{} of block {}", self.memory(&second.window), second.window.block);
        let headline = self.headline(&memory, first, second);
        let required = "`cluster::sync()` between the two, or a barrier at which one block arrives after its access, and on which the other one waits before its own";
        let diagnostic = Code::ClusterOrder.at(second.at, headline).compare(
            "",
            required,
            "nothing that orders them",
        );
        // What completes on a barrier is not done when the threads meet.
        let meets = straight && first.by == By::Threads && first.on.is_none();
        self.earlier(diagnostic, first, second)
            .why("the blocks of a cluster run on their own: one may be anywhere in the kernel while another one accesses its memory (PTX ISA, \"barrier.cluster\")")
            .lacks(meets.then(|| Missing {
                what: Lacking::Text("cluster::sync();".to_owned()),
                after: first.at,
                before: second.at,
                spot: Spot::Between,
            }))
    }

    fn too_often(&self, barrier: Barrier, at: Loc) -> Diagnostic {
        let named = self.barrier(barrier);
        let name = named.as_ref().map_or("the barrier".to_owned(), |(name, _)| format!("`{name}`"));
        let count = self.kernel.barriers[barrier.root].count;
        Code::Arrivals
            .at(at, format!("this arrives at {name} once more than a phase counts"))
            .compare(
                "",
                format!("{} in a phase", counted(count as usize, "arrival")),
                format!("{} or more", count + 1),
            )
            .place_if(named.map(|(_, at)| at), "the barrier is made here")
            .why(format!("the phase has all of its arrivals and waits for bytes; `expect` is an arrival as well, and one more belongs to no phase (PTX ISA, \"{MBARRIER}\")"))
    }

    /// What a part waits for, with the preposition, and where a barrier is made.
    fn awaited(&self, waiting: Waiting) -> (String, Option<Loc>) {
        match waiting {
            Waiting::Phase { barrier, .. } => match self.barrier(barrier) {
                Some((name, made)) if self.blocks() > 1 => {
                    (format!("on `{name}` of block {}", barrier.block), Some(made))
                }
                Some((name, made)) => (format!("on `{name}`"), Some(made)),
                None => ("on a barrier".to_owned(), None),
            },
            Waiting::Named { number, .. } => {
                let of_block = number % self.kernel.named.len().max(1);
                let made = self.kernel.named.iter().nth(of_block).map(|(_, data)| data.loc);
                ("at a named barrier".to_owned(), made)
            }
            Waiting::Cluster { .. } => ("for the other blocks of the cluster".to_owned(), None),
            Waiting::Parts => ("for the other parts".to_owned(), None),
        }
    }

    fn stuck(&self, wait: Blocked, state: Option<Stuck>, others: &[Blocked]) -> Diagnostic {
        let Blocked { who, at, waiting } = wait;
        if let (Waiting::Phase { barrier, parity, .. }, Some(state)) = (waiting, state) {
            let named = self.barrier(barrier);
            let of_block = (self.blocks() > 1).then(|| format!(" of block {}", barrier.block));
            let name = named.as_ref().map_or("the barrier".to_owned(), |(name, _)| {
                format!("`{name}`{}", of_block.unwrap_or_default())
            });
            if state.has_begun() {
                return self.counts(at, (&name, named.map(|(_, at)| at)), barrier, state);
            }
            if others.is_empty() && state.phases > 0 {
                let ring = self.kernel.barriers[barrier.root].ring.filter(|&ring| ring > 1);
                let made = named.as_ref().map(|(_, made)| *made);
                if let Some(diagnostic) = self.runs_ahead(&wait) {
                    return diagnostic;
                }
                if state.known == state.phases {
                    return one_phase_more(at, (&name, made), state);
                }
                let ring = ring.zip(made);
                return wrong_phase(at, (&name, ring), parity & 1, state);
            }
        }
        if let Some(diagnostic) = self.fills_first(&wait, others) {
            return diagnostic;
        }
        if let Some(diagnostic) = self.never_arrives(&wait, others) {
            return diagnostic;
        }
        let (what, made) = self.awaited(waiting);
        let headline = format!("{} waits {what} without end", self.part(who));
        let actual = match others {
            [] => "all others have ended".to_owned(),
            [one] => format!("{} waits as well", self.part(one.who)),
            [one, two] => format!("{} and {} wait as well", self.part(one.who), self.part(two.who)),
            _ => format!("{} other parts wait as well", others.len()),
        };
        let mut diagnostic =
            Code::Deadlock.at(at, headline).compare("", "a part that can still arrive", actual);
        let mut told = vec![at];
        for other in others {
            if told.len() <= MOST_WAITS && !told.contains(&other.at) {
                told.push(other.at);
                let (what, _) = self.awaited(other.waiting);
                let here = format!("{} waits {what} here", self.part(other.who));
                diagnostic = diagnostic.place(other.at, here);
            }
        }
        let fills = others
            .iter()
            .chain([&wait])
            .all(|wait| matches!(wait.waiting, Waiting::Phase { parity, .. } if parity & 1 == 0));
        if fills && !others.is_empty() {
            diagnostic = diagnostic
                .why("on a new barrier a wait for parity 1 returns at once: the part that fills buffers, which are empty at first, waits for the other parity than the one that reads them")
                .help("emptied[slot].wait(phase ^ 1); // in the part that fills")
                .exemplified();
        }
        let manual = match waiting {
            Waiting::Phase { .. } => MBARRIER,
            Waiting::Named { .. } | Waiting::Parts => "bar, barrier",
            Waiting::Cluster { .. } => "barrier.cluster",
        };
        diagnostic
            .place_if(made, "the barrier is made here")
            .why(format!("a wait ends when all that the barrier counts have arrived: if each of the others waits or has ended, none arrives any more (PTX ISA, \"{manual}\")"))
    }

    /// Two parts wait for each other with new barriers, and one of them fills what the other one reads: it waits for the wrong parity.
    fn fills_first(&self, wait: &Blocked, others: &[Blocked]) -> Option<Diagnostic> {
        let [other] = others else { return None };
        let barrier = |blocked: &Blocked| match blocked.waiting {
            Waiting::Phase { barrier, parity, .. } if parity & 1 == 0 => Some(barrier),
            Waiting::Phase { .. }
            | Waiting::Named { .. }
            | Waiting::Cluster { .. }
            | Waiting::Parts => None,
        };
        let filled = |blocked: &Blocked| Some(self.uses(barrier(blocked)?.root).copies.is_some());
        let (fills, reads) = match (filled(wait)?, filled(other)?) {
            (true, false) => (other, wait),
            (false, true) => (wait, other),
            (true, true) | (false, false) => return None,
        };
        let (emptied, full) = (self.barrier(barrier(fills)?)?, self.barrier(barrier(reads)?)?);
        let (part, reader) = (self.part(fills.who), self.part(reads.who));
        let what = Lacking::OtherParity;
        Some(
            Code::Deadlock
                .at(fills.at, format!("{part} waits on `{}` without end", emptied.0))
                .compare(
                    "",
                    "a wait for parity 1, which returns at once on a new barrier",
                    "a wait for parity 0, which ends when the other part has arrived",
                )
                .place(reads.at, format!("{reader} waits on `{}` here, so that neither goes on", full.0))
                .place(emptied.1, "the barrier is made here")
                .why(format!("buffers are empty at first: the part that fills them waits for the other parity than the one that reads them (PTX ISA, \"{MBARRIER}\")"))
                .lacks(Some(Missing {
                    what,
                    after: fills.at,
                    before: fills.at,
                    spot: Spot::Before,
                }))
                .help("emptied[slot].wait(phase ^ 1);")
                .exemplified(),
        )
    }

    /// Two parts wait for each other, and nothing in the kernel arrives at the barrier of one of them.
    fn never_arrives(&self, wait: &Blocked, others: &[Blocked]) -> Option<Diagnostic> {
        let [other] = others else { return None };
        let silent = |blocked: &Blocked| {
            let Waiting::Phase { barrier, .. } = blocked.waiting else { return None };
            let uses = self.uses(barrier.root);
            let nothing = uses.arrivals == 0 && uses.expects == 0 && uses.copies.is_none();
            nothing.then(|| self.barriers(barrier.root))?
        };
        let (waits, from, (name, made)) = match (silent(wait), silent(other)) {
            (Some(named), None) => (wait, other, named),
            (None, Some(named)) => (other, wait, named),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let (part, reader) = (self.part(waits.who), self.part(from.who));
        let what = Lacking::Arrival { barrier: name.clone() };
        Some(
            Code::Deadlock
                .at(waits.at, format!("{part} waits on `{name}`, and nothing arrives there"))
                .compare("", format!("an arrival at `{name}`"), "none in the kernel")
                .place(from.at, format!("{reader} waits here meanwhile"))
                .place(made, "the barrier is made here")
                .why(format!("a wait ends when all that the barrier counts have arrived: the part that is done with a buffer says so, and the other one fills it again (PTX ISA, \"{MBARRIER}\")"))
                .lacks(Some(Missing {
                    what,
                    after: from.at,
                    before: waits.at,
                    spot: Spot::After,
                })),
        )
    }

    /// A phase that has begun and does not end.
    fn counts(
        &self,
        at: Loc,
        (name, made): (&str, Option<Loc>),
        barrier: Barrier,
        state: Stuck,
    ) -> Diagnostic {
        let come = state.count - state.missing;
        // An `expect` is an arrival too.
        let expects = state.expected == 0 && state.delivered > 0 && state.missing > 0;
        let uses = self.uses(barrier.root);
        if let Some(copy) = uses.copies.filter(|_| expects && uses.expects == 0) {
            return self.unexpected((copy, at), (name, made), barrier, state);
        }
        // With one other part, or none, nobody else could arrive.
        let parts = self.kernel.specialized().map_or(1, |found| 1 + found.partitions.len());
        let alone = self.blocks() == 1 && parts <= 2 && come == 1;
        let fewer = (state.missing > 0 && alone && state.expected == state.delivered).then(|| {
            match self.kernel.barriers[barrier.root].ring {
                Some(ring) => format!("barriers({ring}, {come})"),
                None => format!("barrier({come})"),
            }
        });
        if let (Some(fewer), Some(made)) = (&fewer, made) {
            let of_phase = counted(state.count as usize, "arrival");
            return Code::Arrivals
                .at(made, format!("a phase of {name} counts more arrivals than come"))
                .compare("arrivals", come, of_phase.split(' ').next().unwrap_or_default())
                .place_if(state.arrived, "the last arrival is here")
                .place(at, "this waits without end")
                .why(format!("a part arrives once, whatever its threads, and so does an `expect`; {NEVER_ENDS}"))
                .help(fewer.clone());
        }
        let diagnostic =
            Code::Arrivals.at(at, format!("the phase of {name} that this waits for never ends"));
        let diagnostic = if state.missing > 0 {
            diagnostic.compare("arrivals", state.count, come)
        } else {
            diagnostic
        };
        let diagnostic = if state.expected == state.delivered {
            diagnostic
        } else if state.expected == 0 {
            let bytes = state.delivered;
            diagnostic.compare(
                "",
                format!("an `expect` of {bytes} bytes in the phase"),
                format!("no `expect`, and copies of {bytes} bytes"),
            )
        } else {
            diagnostic.compare("bytes", state.expected, state.delivered)
        };
        let spelled = self.barrier(barrier).map_or("barrier".to_owned(), |(name, _)| name);
        let expect = format!("{spelled}.expect({});", state.delivered);
        let diagnostic = if expects {
            diagnostic
                .why("`expect` arrives at the barrier, and says how many bytes the phase waits for")
                .help(expect)
                .exemplified()
        } else {
            diagnostic
        };
        let of_phase = counted(state.count as usize, "arrival");
        diagnostic
            .place_if(made, &format!("the barrier counts {of_phase} in a phase"))
            .place_if(state.arrived, "the last arrival is here")
            .why(NEVER_ENDS)
    }

    /// Copies complete on a barrier that never expects their bytes.
    fn unexpected(
        &self,
        (copy, wait): (Loc, Loc),
        (name, made): (&str, Option<Loc>),
        barrier: Barrier,
        state: Stuck,
    ) -> Diagnostic {
        let bytes = state.delivered;
        let barrier = self.barriers(barrier.root).map(|(name, _)| name);
        Code::Arrivals
            .at(copy, format!("this copy completes on {name}, which does not expect its bytes"))
            .compare("", format!("an `expect` of {bytes} bytes before the copy"), "no `expect`")
            .place(wait, "this waits without end")
            .place_if(made, "the barrier is made here")
            .why("`expect` says how many bytes a phase waits for, and arrives at the barrier; copies bring the bytes and do not arrive (PTX ISA, \"Parallel Synchronization and Communication Instructions: mbarrier\")")
            .lacks(barrier.map(|barrier| Missing {
                what: Lacking::Expect { barrier, bytes },
                after: copy,
                before: copy,
                spot: Spot::Before,
            }))
    }

    fn open(&self, access: &Access) -> Diagnostic {
        let memory = self.memory(&access.window);
        let (required, help) = match (self.completing(access), access.by) {
            (Some(name), _) => (format!("a wait on `{name}`"), None),
            (None, By::AsyncCopy) => {
                ("a wait for the store".to_owned(), Some("tma::store_wait(0);"))
            }
            (None, By::TensorCores) if access.cores.is_none() => {
                ("`wgmma::wait(0, ..)`".to_owned(), None)
            }
            (None, By::Threads | By::CpAsync | By::TensorCores) => {
                ("a wait for a barrier on which it completes".to_owned(), None)
            }
        };
        Code::OpenAtEnd
            .at(access.at, format!("the kernel ends while {} may still {} {memory}", self.agent(access), may(access)))
            .compare("", format!("{required} before the end"), "none")
            .why("the memory of a block is given to another one when its threads have ended, even if something in flight still uses it (PTX ISA, \"cp.async.bulk\")")
            .lacks(help.map(|help| Missing {
                what: Lacking::Text(help.to_owned()),
                after: access.at,
                before: access.at,
                spot: Spot::Behind,
            }))
    }
}

/// Whether two accesses are the same statement of the same part, in two iterations.
fn is_again(first: &Access, second: &Access) -> bool {
    (first.who, first.at, first.by) == (second.who, second.at, second.by)
}

/// A wait after those for all phases that there are.
fn one_phase_more(at: Loc, (name, made): (&str, Option<Loc>), state: Stuck) -> Diagnostic {
    let phases = counted(state.phases as usize, "phase");
    Code::WrongPhase
        .at(at, format!("this waits once more on {name} than it has phases"))
        .compare(
            "",
            format!("{} of {name}", counted(state.phases as usize + 1, "phase")),
            format!("{phases}, and this has waited for each of them"),
        )
        .place_if(state.arrived, "the last phase ends with this arrival")
        .place_if(made, "the barrier is made here")
        .why("each wait takes one phase, so there have to be as many phases as waits (PTX ISA, \"mbarrier.try_wait\")")
}

/// A wait for another phase than the next one.
fn wrong_phase(
    at: Loc,
    (name, ring): (&str, Option<(u32, Loc)>),
    parity: i128,
    state: Stuck,
) -> Diagnostic {
    let phases = counted(state.phases as usize, "phase");
    let other = 1 - parity;
    Code::WrongPhase
        .at(at, format!("this waits for a phase of {name} that never begins"))
        .compare(
            "",
            format!("a wait for parity {other}, or one more phase"),
            format!("a wait for parity {parity} after {phases}, the last of parity {other}"),
        )
        .place_if(state.arrived, "the last phase ends with this arrival")
        .why("a wait returns while the last phase that is over has its parity; phases have parity 0, 1, 0 and so on, and a wait that comes after the phase that follows its own waits for the next one (PTX ISA, \"mbarrier.try_wait\")")
        .lacks(Some(Missing {
            what: Lacking::OtherPhase { ring, parity: other },
            after: at,
            before: at,
            spot: Spot::Before,
        }))
        .with_example(|| (state.phases > 1).then(|| "barrier.wait(k % 2) // in a loop that waits for one phase in each iteration k".to_owned()))
}

/// What the text does with barriers that are made together.
#[derive(Default)]
struct Uses {
    waits: usize,
    expects: usize,
    /// Arrivals of threads, and of products that are committed.
    arrivals: usize,
    /// The first copy that completes on one of them.
    copies: Option<Loc>,
}

/// `read` or `written`.
fn used(access: &Access) -> &'static str {
    match access.does {
        Does::Reads => "read",
        Does::Writes => "written",
    }
}

/// `read` or `write`.
fn may(access: &Access) -> &'static str {
    match access.does {
        Does::Reads => "read",
        Does::Writes => "write",
    }
}

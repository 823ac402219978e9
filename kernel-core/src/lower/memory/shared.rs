//! Shared memory: where allocations are, how windows are addressed, how tiles go in and out.

use std::collections::BTreeMap;

use kernel_layout::{Dim, Layout, accesses, max_vector};
use kernel_ptx::{Capability, Opcode, Operand, Type as Register, Word};
use la_arena::ArenaMap;

use super::{access::VECTOR_BYTES, views::Moves};
use crate::ir::{
    Access, Barriers, Does, Done, Elem, Kernel, Lifetimes, Memory, Op, Region, Shared, SharedType,
    StmtKind, Type, Value, Wait,
};
use crate::layouts::{TILE_BYTES, over_positions, positions, tile_bytes, tiles};
use crate::loc::Loc;
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::sync::barrier::BARRIER_BYTES;
use crate::lower::tensor_memory::ADDRESS_BYTES;
use crate::lower::tiles::convert::offsets;
use crate::lower::tiles::coords::{ThreadMap, repeated_threads};

/// Small pieces of scratch follow one another up to here, so no barrier is needed between them: the partial sums of
/// several reductions over warps.
const APART_BYTES: u32 = 1024;
/// Scratch that other threads may use, as long as all of shared memory.
pub(crate) const EVERYTHING: u32 = u32::MAX;
/// Scratch starts at multiples of the longest access.
const SCRATCH_ALIGNMENT: u32 = 16;

/// Allocations start at multiples of their tile, up to this many bytes: every swizzle repeats within them.
const SWIZZLE_BYTES: u32 = 1024;

/// The order of allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The order of the kernel, then mbarriers.
    AsAllocated,
    /// Longest needed first, so that scratch gets the bytes of the others; alignment costs bytes.
    LongestFirst,
    /// Longest needed first, and what is never in use at the same time in the same bytes.
    Together,
}

/// Where everything in shared memory is: allocations, and scratch that conversions take turns in.
///
/// Scratch comes after the allocations that are still needed, and reuses the bytes of the others.
#[derive(Debug)]
pub(crate) struct SharedPlan<'a> {
    pub(crate) layouts: &'a ArenaMap<Shared, Layout>,
    starts: ArenaMap<Shared, u32>,
    /// Where the mbarriers of each allocation begin.
    barriers: ArenaMap<Barriers, u32>,
    /// Where the address of the kernel's tensor memory is.
    tensor_address: u32,
    /// For each allocation its end and the last statement of the kernel's body that needs it. Between that and the first statement that
    /// needs another one in the same bytes is a barrier.
    ends: Vec<(u32, usize)>,
    /// Where the values that partitions take from outside begin.
    pub(crate) handed: u32,
    /// Scratch begins here or later: other partitions have theirs before.
    floor: u32,
    /// Where the scratch ends that was given out since the current partition began.
    reached: u32,
    total: u32,
    /// The place and bytes of the largest scratch.
    widest: Option<(Loc, u32)>,
    /// The statement of the kernel's body that is being lowered.
    pub(crate) at: usize,
    /// Where scratch began when it last moved into the bytes of allocations.
    pub(crate) claimed: u32,
    /// Up to here other threads may still use scratch: what begins below waits for a barrier.
    pub(crate) busy: u32,
    /// Where the scratch ends that was given out last.
    last_end: u32,
}

impl<'a> SharedPlan<'a> {
    /// A place for every allocation of a kernel, and after them `handed_bytes` for the values that partitions take.
    pub(crate) fn of(
        kernel: &Kernel,
        layouts: &'a ArenaMap<Shared, Layout>,
        handed_bytes: u32,
        order: Order,
    ) -> Self {
        let mut starts = ArenaMap::new();
        let mut ends = Vec::new();
        let mut end = 0u32;
        let in_flight = InFlight::of(kernel);
        let last = |(shared, _)| (shared, in_flight.last_needed(kernel, shared));
        let mut allocations: Vec<(Shared, usize)> = kernel.shared.iter().map(last).collect();
        let before = match order {
            Order::AsAllocated => allocations.len(),
            Order::LongestFirst | Order::Together => {
                allocations.sort_by_key(|&(_, last)| std::cmp::Reverse(last));
                allocations.partition_point(|&(_, last)| last == usize::MAX)
            }
        };
        // Allocations that are needed to the end come before the mbarriers, which are needed to the end too.
        let others = allocations.split_off(before);
        let bytes = |shared: Shared| {
            let (tile, count) = tiles_of(kernel, layouts, shared);
            (tile.clamp(TILE_BYTES, SWIZZLE_BYTES), (tile * count).next_multiple_of(TILE_BYTES))
        };
        let mut place = |(shared, last): (Shared, usize), end: &mut u32| {
            let (alignment, bytes) = bytes(shared);
            let start = end.next_multiple_of(alignment);
            starts.insert(shared, start);
            *end = start + bytes;
            (*end, last)
        };
        for one in allocations {
            ends.push(place(one, &mut end));
        }
        let mut barriers = ArenaMap::new();
        for (root, data) in kernel.barriers.iter() {
            barriers.insert(root, end);
            end += (data.ring.unwrap_or(1) * BARRIER_BYTES).next_multiple_of(SCRATCH_ALIGNMENT);
            // They are used to the end, so nothing else gets their bytes.
            ends.push((end, usize::MAX));
        }
        let tensor_address = end;
        if !kernel.tensor_memory.is_empty() {
            end += ADDRESS_BYTES;
            ends.push((end, usize::MAX));
        }
        if order == Order::Together {
            let mut packed =
                Packed { lifetimes: kernel.lifetimes(), from: end, placed: Vec::new() };
            let mut largest_first: Vec<_> =
                others.into_iter().map(|one| (bytes(one.0), one)).collect();
            largest_first.sort_by_key(|((_, bytes), _)| std::cmp::Reverse(*bytes));
            for ((alignment, bytes), (shared, last)) in largest_first {
                let start = packed.place(shared, alignment, bytes);
                starts.insert(shared, start);
                ends.push((start + bytes, last));
                end = end.max(start + bytes);
            }
        } else {
            for one in others {
                ends.push(place(one, &mut end));
            }
        }
        let handed = end;
        if let Some(found) = kernel.specialized() {
            end = (end + handed_bytes).next_multiple_of(SCRATCH_ALIGNMENT);
            ends.push((end, found.at));
        }
        SharedPlan {
            layouts,
            starts,
            barriers,
            ends,
            tensor_address,
            handed,
            floor: 0,
            reached: 0,
            total: end,
            widest: None,
            at: 0,
            claimed: end,
            busy: 0,
            last_end: 0,
        }
    }

    /// Where scratch may begin.
    fn free(&self) -> u32 {
        self.ends
            .iter()
            .filter(|(_, last)| *last >= self.at)
            .map(|(end, _)| *end)
            .max()
            .unwrap_or(0)
            .max(self.floor)
    }

    /// The code that follows runs at the same time as other parts of the kernel: its scratch begins at `floor`, after theirs.
    pub(crate) fn begin_part(&mut self, floor: u32) {
        self.floor = floor;
        self.busy = 0;
        self.reached = 0;
    }

    /// The part ends, and its threads have met all others. Returns where the scratch of a part that runs at the same time may begin.
    pub(crate) fn end_part(&mut self) -> u32 {
        let end = self.reached.max(self.free()).next_multiple_of(SCRATCH_ALIGNMENT);
        self.begin_part(0);
        end
    }

    /// Where the mbarriers of an allocation begin.
    pub(crate) fn barrier_start(&self, root: Barriers) -> u32 {
        self.barriers[root]
    }

    /// Where the address of the kernel's tensor memory is.
    pub(crate) fn tensor_address(&self) -> u32 {
        self.tensor_address
    }

    /// The bytes of everything.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Where an allocation begins, the bytes of a tile of it, and how many tiles it has.
    pub(crate) fn allocation(&self, kernel: &Kernel, shared: Shared) -> (u32, u32, u32) {
        let (tile, count) = tiles_of(kernel, self.layouts, shared);
        (self.starts[shared], tile, count)
    }

    /// The place and bytes of the largest scratch.
    pub(crate) fn widest(&self) -> Option<(Loc, u32)> {
        self.widest
    }
}

/// The bytes of a tile of an allocation, and how many tiles it has.
fn tiles_of(kernel: &Kernel, layouts: &ArenaMap<Shared, Layout>, shared: Shared) -> (u32, u32) {
    let data = &kernel.shared[shared];
    let tile = tile_bytes(&layouts[shared], data.dtype.shared_bytes());
    let leading = &data.shape[..data.shape.len() - layouts[shared].outs().len()];
    (tile, leading.iter().product())
}

/// Allocations that share bytes with those that are never in use at the same time.
struct Packed {
    lifetimes: Lifetimes,
    /// The first byte that they may have.
    from: u32,
    /// What has a place: where it begins and ends.
    placed: Vec<(Shared, u32, u32)>,
}

impl Packed {
    /// The lowest place that nothing has which is in use at the same time.
    fn place(&mut self, shared: Shared, alignment: u32, bytes: u32) -> u32 {
        let lifetimes = &self.lifetimes;
        let others: Vec<(u32, u32)> = self
            .placed
            .iter()
            .filter(|(other, ..)| !lifetimes.are_apart(shared, *other))
            .map(|&(_, start, end)| (start, end))
            .collect();
        let fits = |start: &u32| {
            others.iter().all(|&(first, end)| end <= *start || start + bytes <= first)
        };
        let ends = others.iter().map(|&(_, end)| end).chain([self.from]);
        let start = ends
            .map(|end| end.next_multiple_of(alignment))
            .filter(fits)
            .min()
            .expect("nothing begins after the last end");
        self.placed.push((shared, start, start + bytes));
        start
    }
}

/// What ends an access to shared memory that goes on behind the statement that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Until {
    Barrier,
    BulkGroup,
    WgmmaGroup,
    /// Other blocks access this one's memory like it accesses theirs, until they all meet; what is sent from here has been read when
    /// they do.
    Meeting,
}

impl Until {
    fn of(access: &Access) -> Option<Until> {
        match access.done {
            Done::Barrier(_) if access.does == Does::Writes => Some(Until::Barrier),
            Done::Commit => Some(Until::Barrier),
            Done::BulkGroup => Some(Until::BulkGroup),
            Done::WgmmaGroup => Some(Until::WgmmaGroup),
            Done::Barrier(_) | Done::AtOnce | Done::CpAsyncGroup | Done::Pipeline => None,
        }
    }

    /// What a wait ends of all that is in flight.
    fn ended_by(wait: Wait) -> Option<Until> {
        match wait {
            Wait::Barrier(_) | Wait::BarrierTest(_) => Some(Until::Barrier),
            Wait::Bulk { pending: 0, .. } => Some(Until::BulkGroup),
            Wait::Wgmma { pending: 0 } => Some(Until::WgmmaGroup),
            Wait::Cluster => Some(Until::Meeting),
            Wait::Bulk { .. }
            | Wait::Wgmma { .. }
            | Wait::Crew
            | Wait::Named(_)
            | Wait::CpAsync { .. }
            | Wait::CpAsyncAll
            | Wait::Grids => None,
        }
    }
}

/// The last statements of the kernel's body that start accesses to allocations, and that wait for such.
#[derive(Default)]
struct InFlight {
    started: BTreeMap<(Shared, Until), usize>,
    waited: BTreeMap<Until, usize>,
}

impl InFlight {
    fn of(kernel: &Kernel) -> Self {
        let mut found = InFlight::default();
        for (at, stmt) in kernel.body.stmts.iter().enumerate() {
            if let StmtKind::Op { op, args, .. } = &stmt.kind {
                found.note(kernel, (op, args), at);
            }
            for inner in stmt.kind.regions() {
                inner.each_op(&mut |op, args, _, _| found.note(kernel, (op, args), at));
            }
        }
        found
    }

    fn note(&mut self, kernel: &Kernel, (op, args): (&Op, &[Value]), at: usize) {
        let effects = kernel.effects(op, args, None);
        let root = |window: Value| kernel.ty(window).shared().map(|window| window.root);
        for access in &effects.accesses {
            let Memory::Shared(window) = access.memory else { continue };
            let here = kernel.ty(window).shared().filter(|window| !window.remote);
            let started = here.and_then(|here| Some((here.root, Until::of(access)?)));
            self.started.extend(started.map(|started| (started, at)));
        }
        if kernel.reaches(op, args) {
            let roots = args.iter().filter_map(|&arg| root(arg));
            self.started.extend(roots.map(|root| ((root, Until::Meeting), at)));
        }
        let ended = effects.waits.iter().filter_map(|&wait| Until::ended_by(wait));
        self.waited.extend(ended.map(|until| (until, at)));
    }

    /// The last statement that needs an allocation: the last one that touches it, or the last wait for what goes on there behind the
    /// statement that started it. `usize::MAX` if nothing waits.
    fn last_needed(&self, kernel: &Kernel, shared: Shared) -> usize {
        let stmts = &kernel.body.stmts;
        let touched = stmts.iter().rposition(|stmt| needs(kernel, &stmt.kind, shared)).unwrap_or(0);
        let all = [Until::Barrier, Until::BulkGroup, Until::WgmmaGroup, Until::Meeting];
        let ends = all.into_iter().filter_map(|until| {
            let started = *self.started.get(&(shared, until))?;
            let first = if until == Until::Meeting { started + 1 } else { started };
            let waited = self.waited.get(&until).copied().filter(|waited| *waited >= first);
            Some(waited.unwrap_or(usize::MAX))
        });
        ends.fold(touched, usize::max)
    }
}

/// Whether a statement, or one inside it, accesses an allocation.
fn needs(kernel: &Kernel, kind: &StmtKind, shared: Shared) -> bool {
    let is = |value: &Value| matches!(kernel.ty(*value), Type::Shared(ty) if ty.root == shared);
    let within =
        |region: &Region| region.stmts.iter().any(|stmt| needs(kernel, &stmt.kind, shared));
    match kind {
        StmtKind::Op { args, .. } => args.iter().any(is),
        StmtKind::If { then, otherwise, results, .. } => {
            results.iter().any(is) || within(then) || within(otherwise)
        }
        StmtKind::For { body, inits, .. } | StmtKind::Loop { body, inits, .. } => {
            inits.iter().any(is) || within(body)
        }
        StmtKind::Specialize { results, .. } => {
            results.iter().any(is) || kind.regions().into_iter().any(within)
        }
        StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => false,
    }
}

/// A register layout over the axes of a window, seen as one over the tile that shared memory stores.
pub(crate) struct InTile {
    /// The register layout.
    pub(crate) registers: Layout,
    /// The layout of what the window covers: a tile, or several.
    pub(crate) shared: Layout,
    /// The bytes, at most those of an access, that keep their order wherever the window begins.
    pub(crate) aligned: u32,
}

impl InTile {
    /// The elements of `size` bytes that one access of a thread moves.
    pub(crate) fn vector(&self, size: u32) -> u32 {
        max_vector(&self.registers, &self.shared).min(self.aligned / size).max(1)
    }
}

/// The type of a shared window.
pub(crate) fn window_type(kernel: &Kernel, window: Value) -> &SharedType {
    kernel.ty(window).shared().expect("ir::verify rejects what is not shared memory here")
}

/// How a tile in registers meets the window `window`.
pub(crate) fn in_tile(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    window: Value,
    registers: &Layout,
) -> InTile {
    let ty = window_type(kernel, window);
    let data = &kernel.shared[ty.root];
    let tile = &layouts[ty.root];
    if !ty.is_plain() {
        let shared = positions(data, tile, ty)
            .expect("layouts::shared keeps the bytes of elements together");
        let registers = over_positions(registers, ty, shared.out_size(Dim::Axis(0)));
        let aligned = Moves::of(&shared, ty).aligned();
        return InTile { registers, shared, aligned };
    }
    let rank = ty.shape.len();
    let mut registers = registers.clone();
    if ty.transposed {
        let mut order: Vec<u32> = (0..).take(rank).collect();
        order.swap(rank - 1, rank - 2);
        registers = registers.permute_axes(&order);
    }
    let tile_rank = tile.outs().len();
    // Several tiles: the ring's axes come before, at the distance of a tile.
    let shared = if rank > tile_rank {
        tiles(tile, &registers.shape(), data.dtype.shared_bytes())
    } else {
        tile.clone()
    };
    for _ in rank..tile_rank {
        // An index has picked a row; the registers stay within it.
        registers = registers.expand_axis(0);
    }
    let registers = Layout::new(registers.ins().to_vec(), shared.outs().to_vec())
        .expect("a window is no larger than its tile");
    InTile { registers, shared, aligned: VECTOR_BYTES }
}

impl Lower<'_> {
    /// The start of `bytes` bytes of scratch that no thread uses any more; after its last read call
    /// [`Lower::leave_scratch`].
    pub(crate) fn scratch(&mut self, bytes: u32) -> u32 {
        let mut start = self.plan.free();
        if start < self.plan.claimed {
            // These bytes were an allocation: copies into it may be in flight, other threads may still read it.
            self.plan.claimed = start;
            self.plan.busy = EVERYTHING;
            self.copy_wait_all();
        }
        if self.plan.busy > start {
            let behind = self.plan.busy.checked_next_multiple_of(SCRATCH_ALIGNMENT);
            match behind.filter(|behind| behind + bytes <= start + APART_BYTES) {
                Some(behind) => start = behind,
                None => self.barrier(),
            }
        }
        self.plan.last_end = start + bytes;
        self.plan.reached = self.plan.reached.max(start + bytes);
        self.plan.total = self.plan.total.max(start + bytes);
        if self.plan.widest.is_none_or(|(_, widest)| widest < bytes) {
            self.plan.widest = Some((self.e.loc, bytes));
        }
        start
    }

    /// Other threads may still read the scratch that was given out last.
    pub(crate) fn leave_scratch(&mut self) {
        self.plan.busy = self.plan.busy.max(self.plan.last_end);
    }

    /// The type of a shared window.
    pub(crate) fn shared_type(&self, window: Value) -> &SharedType {
        window_type(self.kernel, window)
    }

    /// `args` without its leading axis: the byte offset.
    pub(crate) fn window_index(&mut self, window: Value, index: Value) -> Val {
        let ty = self.shared_type(window);
        let (root, rank) = (ty.root, ty.shape.len());
        let data = &self.kernel.shared[root];
        let layout = &self.plan.layouts[root];
        let size = data.dtype.shared_bytes();
        let tile_rank = layout.outs().len();
        if rank <= tile_rank || !ty.is_plain() {
            return self.view_index(window, index);
        }
        let inner: u32 = ty.shape[1..rank - tile_rank].iter().product();
        let step = inner * tile_bytes(layout, size);
        let before = self.window(window);
        let index = self.scalar(index);
        let distance = self.e.mul(Register::S32, index, Val::Int(i64::from(step)));
        self.e.add(Register::S32, before, distance)
    }

    /// How a tile in registers meets the window `window`.
    pub(crate) fn in_tile(&self, window: Value, registers: &Layout) -> InTile {
        in_tile(self.kernel, self.plan.layouts, window, registers)
    }

    /// The address of shared memory at `window`, `map(thread) ^ constant` bytes into the tile: a value and a constant.
    pub(crate) fn shared_address(
        &mut self,
        window: Value,
        map: &ThreadMap,
        constant: u32,
    ) -> (Val, i64) {
        let ty = self.shared_type(window).clone();
        let start = self.plan.starts[ty.root];
        // The address in another block counts from there.
        let (base, dynamic) = if ty.remote {
            (self.window(window), Val::Int(0))
        } else {
            (self.shared_base(), self.window(window))
        };
        // What the first element of a view shares bits with.
        let shared = if ty.is_plain() { None } else { self.view_moves(window).shared() };
        self.e.placed(crate::lower::Place::Outermost, |e| {
            let (position, dynamic) = match shared {
                Some(shared) => (e.position_from(map, constant, (dynamic, shared)), Val::Int(0)),
                None => (e.position(map, constant), dynamic),
            };
            let (dynamic, moved) = match dynamic {
                Val::Int(known) => (Val::Int(0), known),
                Val::Reg(_) | Val::F32(_) | Val::F64(_) => (dynamic, 0),
            };
            let value = if e.depth(dynamic) < e.depth(position.value) {
                let start = e.add(Register::U32, base, dynamic);
                e.add(Register::U32, start, position.value)
            } else {
                let start = e.add(Register::U32, base, position.value);
                e.add(Register::U32, start, dynamic)
            };
            (value, i64::from(start) + moved + i64::from(position.constant))
        })
    }

    /// Where the allocation of a window begins.
    pub(super) fn allocation_start(&self, window: Value) -> u32 {
        self.plan.starts[self.shared_type(window).root]
    }

    /// Where a window begins: a value, and a constant to add to it.
    pub(super) fn window_start(&mut self, window: Value) -> (Val, u32) {
        let ty = self.shared_type(window);
        let start = self.plan.starts[ty.root];
        let before = self.window(window);
        // The address in another block is whole, but for the start of the allocation.
        if self.shared_type(window).remote {
            return (before, start);
        }
        let base = self.shared_base();
        (self.e.add(Register::U32, base, before), start)
    }

    /// Reads a window into registers.
    pub(crate) fn load_shared(&mut self, window: Value, result: Value) -> Vec<Val> {
        let layout = self.layout(result).clone();
        if let Some(registers) = self.load_matrices(window, &layout) {
            return registers;
        }
        let tile = self.in_tile(window, &layout);
        let elem = Elem::Number(self.shared_type(window).dtype);
        let size = super::access::bytes(elem);
        let vector = tile.vector(size);
        let InTile { registers, shared, .. } = tile;
        let map = offsets(&registers, &shared, size);
        let mut result = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        let space = self.space_of(window);
        for access in accesses(&registers, &shared, vector) {
            let (value, constant) = self.shared_address(window, &map, access.offset * size);
            let address = self.e.at(value, constant);
            let loaded = self.e.load(space, elem, vector, address, Val::Int(1), None);
            for (slot, value) in access.registers.iter().zip(loaded) {
                for &register in slot {
                    result[register as usize] = value;
                }
            }
        }
        result
    }

    /// Writes a tile to a window; what several threads hold is written by one of them.
    pub(crate) fn store_shared(&mut self, window: Value, value: Value) {
        let layout = self.layout(value).clone();
        let tile = self.in_tile(window, &layout);
        let values = self.tile(value).to_vec();
        if self.store_zeros(window, &values) || self.store_matrices(window, &layout, &values) {
            return;
        }
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        self.store_registers(window, &tile, &values, one);
    }

    /// Writes zeros to whole tiles by one instruction of one thread, if the target has it and each thread would store more than once.
    ///
    /// It is a weak store of that thread (PTX ISA, "st.bulk"), so barriers and proxy fences order it like the stores of all threads. The bytes of
    /// whole tiles are contiguous in every layout, and nothing reads those that fill up a small tile.
    fn store_zeros(&mut self, window: Value, values: &[Val]) -> bool {
        let ty = self.shared_type(window);
        if ty.remote || !ty.is_plain() || !self.kernel.target.has(Capability::StBulk) {
            return false;
        }
        let layout = &self.plan.layouts[ty.root];
        let tiles: u32 = ty.shape[..ty.shape.len() - layout.outs().len()].iter().product();
        let size = self.kernel.shared[ty.root].dtype.shared_bytes();
        let bytes = tiles * tile_bytes(layout, size);
        let all_zero = values.iter().all(|value| match value {
            Val::Reg(_) => false,
            Val::Int(bits) => *bits == 0,
            Val::F32(bits) => *bits == 0,
            Val::F64(bits) => *bits == 0,
        });
        if !all_zero || bytes <= self.e.threads * VECTOR_BYTES {
            return false;
        }
        let first = self.e.first_of(self.e.threads - 1);
        let guard = self.e.guard(first);
        let address = self.window_address(window, 0);
        let operands = [address, Operand::Int(bytes.into()), Operand::Int(0)];
        let modifiers = mods![Word::Bulk, Word::Weak, Word::SharedCta];
        self.e.effect_if(guard, Opcode::St, modifiers, operands);
        true
    }

    /// Writes registers to a window by the threads for which `one` holds.
    pub(super) fn store_registers(
        &mut self,
        window: Value,
        tile: &InTile,
        values: &[Val],
        one: Val,
    ) {
        let elem = Elem::Number(self.shared_type(window).dtype);
        let size = super::access::bytes(elem);
        let vector = tile.vector(size);
        let InTile { registers, shared, .. } = tile;
        let map = offsets(registers, shared, size);
        let space = self.space_of(window);
        for access in accesses(registers, shared, vector) {
            let (address, constant) = self.shared_address(window, &map, access.offset * size);
            let address = self.e.at(address, constant);
            let vector: Vec<Val> =
                access.registers.iter().map(|slot| values[slot[0] as usize]).collect();
            self.e.store(space, elem, &vector, address, one);
        }
    }
}

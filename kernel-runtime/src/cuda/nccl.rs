//! Collectives between GPUs, with NCCL.
//!
//! Communicators do not block: NCCL waits for other ranks in the background, and a rank that waits too long ends it. A
//! thread of the rank watches the work on a stream with an event before and one after it.

mod library;

use super::{Gpu, Mark, Queue};
use crate::{
    CommError, Error, Result, back_end,
    comm::{Call, Link, Operation, Part, ReduceOp, Seat, Signature},
};
use library::{Handle, IN_PROGRESS, Library, OLDEST_WITH_FLOAT8, SUCCESS, UniqueId, library};
use std::{
    collections::VecDeque,
    ffi::c_int,
    fmt,
    ptr::null_mut,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Sets when the ranks compare their calls: [`Check`].
const CHECK_VARIABLE: &str = "KILN_COMM_CHECK";
/// The pause between two checks of work in flight.
const LOOK: Duration = Duration::from_millis(5);
/// The pause between two checks of NCCL calls in the background.
const SETTLE: Duration = Duration::from_micros(50);
/// Launches of a rank's graphs that may be in flight at once: half of what the driver queues for a stream before it
/// waits.
const MOST_LAUNCHES: usize = 512;
/// How long such a call is checked without pauses: NCCL takes some tens of microseconds to launch its kernels.
const SOON: Duration = Duration::from_micros(500);
/// How long a membership that ends waits for NCCL to send what is left.
const FAREWELL: Duration = Duration::from_secs(10);

/// A GPU's membership in a group.
pub(crate) struct Rank {
    shared: Arc<Shared>,
    /// A stream for the rank's own memory.
    queue: Queue,
    /// A byte that barriers add up.
    scratch: u64,
    watcher: Option<JoinHandle<()>>,
    check: Check,
}

/// When ranks compare their calls, since NCCL does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// Not at all.
    Never,
    /// While the call is in flight: ranks that differ find out soon after.
    Behind,
    /// Before the call is put on a stream, which takes a round trip.
    Before,
}

impl Check {
    fn from_environment() -> Self {
        match std::env::var(CHECK_VARIABLE).as_deref().map(str::trim) {
            Ok("0") => Self::Never,
            Ok("1") => Self::Before,
            Ok(_) | Err(_) => Self::Behind,
        }
    }
}

/// The data that the rank and its watcher share.
struct Shared {
    /// Locks are taken in this order.
    id: u64,
    gpu: Arc<Gpu>,
    seat: Seat,
    library: &'static Library,
    communicator: Mutex<Option<Communicator>>,
    watched: Mutex<Watched>,
    wake: Condvar,
}

/// NCCL's handle, neither destroyed nor aborted.
struct Communicator(Handle);

// SAFETY: a communicator is an opaque pointer that NCCL lets any thread use, one at a time.
unsafe impl Send for Communicator {}

#[derive(Default)]
struct Watched {
    queue: VecDeque<Pending>,
    closing: bool,
}

/// Work of the group on a stream.
struct Pending {
    operation: String,
    before: Mark,
    behind: Mark,
    /// When the earlier work was found to be done.
    since: Option<Instant>,
}

/// The failure of a rank's own GPU.
fn of_driver(rank: usize, error: Error) -> CommError {
    if let Error::Driver { device, cause } = error {
        return CommError::Driver { device, cause };
    }
    CommError::Lost { rank, cause: error.to_string() }
}

/// What NCCL's ranks report about themselves, and have to agree on.
pub(crate) fn kind() -> Result<String, CommError> {
    let name = library()?.name();
    Ok(match Check::from_environment() {
        Check::Never => format!("{name} with {CHECK_VARIABLE}=0"),
        Check::Behind | Check::Before => name,
    })
}

/// The data that rank 0 sends to the others.
pub(crate) fn unique_id() -> Result<Vec<u8>, CommError> {
    Ok(library()?.unique_id()?.0.to_vec())
}

impl Rank {
    /// Memberships of all GPUs of a group.
    pub(crate) fn in_process(places: Vec<(Arc<Gpu>, Seat)>) -> Result<Vec<Arc<Self>>> {
        let id = library().and_then(Library::unique_id).map_err(CommError::into_error)?;
        let ranks = places.len();
        Self::join_all(places.into_iter().enumerate().collect(), ranks, id)
    }

    /// Membership of one GPU among those of other processes.
    pub(crate) fn join(
        gpu: Arc<Gpu>,
        seat: Seat,
        rank: usize,
        ranks: usize,
        id: &[u8],
    ) -> Result<Arc<Self>> {
        let id = id
            .try_into()
            .map(UniqueId)
            .map_err(|_| CommError::Lost {
                rank: 0,
                cause: format!("it sends {} bytes as NCCL's id, not 128", id.len()),
            })
            .map_err(CommError::into_error)?;
        let joined = Self::join_all(vec![(rank, (gpu, seat))], ranks, id)?;
        Ok(joined.into_iter().next().expect("one membership for one place"))
    }

    fn join_all(
        places: Vec<(usize, (Arc<Gpu>, Seat))>,
        ranks: usize,
        id: UniqueId,
    ) -> Result<Vec<Arc<Self>>> {
        let library = library().map_err(CommError::into_error)?;
        // Before NCCL's group is opened, in which an error would leave it open.
        places.iter().try_for_each(|(_, (gpu, _))| gpu.bind().map(drop))?;
        // NCCL writes to them until each communicator is ready: they do not move.
        let mut handles: Box<[Handle]> = places.iter().map(|_| null_mut()).collect();
        let number = |value: usize| c_int::try_from(value).unwrap_or(c_int::MAX);
        let mut started = library.check("NCCL", "ncclGroupStart", library.group_start());
        for (index, (rank, (gpu, _))) in places.iter().enumerate() {
            if started.is_err() {
                break;
            }
            let _bound = match gpu.bind() {
                Ok(bound) => bound,
                Err(error) => {
                    started = Err(of_driver(*rank, error));
                    break;
                }
            };
            let handle = &raw mut handles[index];
            // SAFETY: the handles live until the loop below has seen each communicator ready or failed.
            let answer = unsafe { library.init(handle, number(ranks), id, number(*rank)) };
            started = library.check(&gpu.label(), "ncclCommInitRankConfig", answer);
        }
        let ended = library.check("NCCL", "ncclGroupEnd", library.group_end());
        let mut joined = started.and(ended);
        let mut shared = Vec::new();
        for (index, (_, (gpu, seat))) in places.into_iter().enumerate() {
            let handle = handles[index];
            let communicator = (!handle.is_null()).then_some(Communicator(handle));
            let rank = Arc::new(Shared::new(library, gpu, seat, communicator));
            joined = joined.and_then(|()| rank.settle(&mut rank.lock(), "ncclCommInitRankConfig"));
            shared.push(rank);
        }
        if let Err(error) = joined {
            // None of them may go on to write its handle when this returns.
            for rank in &shared {
                rank.end(error.clone());
            }
            return Err(error.into_error());
        }
        shared.into_iter().map(Self::watched).collect()
    }

    fn watched(shared: Arc<Shared>) -> Result<Arc<Self>> {
        let queue = Queue::new(&shared.gpu)?;
        let scratch = queue.allocate(16)?;
        queue.upload(scratch, &[0u8; 16])?;
        let watching = Arc::clone(&shared);
        let watcher = thread::Builder::new()
            .name("kiln-comm-watch".to_owned())
            .spawn(move || watch(&watching))
            .map_err(|error| CommError::Lost { rank: 0, cause: error.to_string() })
            .map_err(CommError::into_error)?;
        let check = Check::from_environment();
        Ok(Arc::new(Self { shared, queue, scratch, watcher: Some(watcher), check }))
    }

    pub(crate) fn seat(&self) -> &Seat {
        &self.shared.seat
    }

    /// Waits until so few launches of the rank are in flight that the driver accepts another one at once. If its queue
    /// is full, the driver blocks the launch; while that launch holds the communicator, nobody could end the work in
    /// the queue.
    fn require_room(&self) -> Result<(), CommError> {
        while self.shared.watched().queue.len() >= MOST_LAUNCHES {
            if let Some(error) = self.seat().failure() {
                return Err(error);
            }
            thread::sleep(SETTLE);
        }
        Ok(())
    }

    /// Wakes the watcher.
    pub(crate) fn look(&self) {
        self.shared.wake.notify_all();
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.shared.watched().closing = true;
        self.shared.wake.notify_all();
        if let Some(watcher) = self.watcher.take() {
            // It ends when the work is done or has failed; a panic of it is no reason for another.
            let _ = watcher.join();
        }
        self.queue.free(self.scratch);
        let shared = &self.shared;
        let Some(Communicator(handle)) = shared.lock().take() else { return };
        let library = shared.library;
        let bound = shared.gpu.bind();
        if bound.is_ok() && shared.seat.failure().is_none() {
            // SAFETY: the handle was in the lock, so it is neither destroyed nor aborted.
            let mut state = unsafe { library.finalize(handle) };
            let start = Instant::now();
            while state == SUCCESS || state == IN_PROGRESS {
                // SAFETY: as above.
                state = unsafe { library.state(handle) };
                if state == SUCCESS {
                    // SAFETY: as above; nothing has the handle any more.
                    let _ = unsafe { library.destroy(handle) };
                    return;
                }
                if start.elapsed() > FAREWELL {
                    break;
                }
                thread::sleep(SETTLE);
            }
        }
        // SAFETY: as above; nothing has the handle any more.
        let _ = unsafe { library.abort(handle) };
    }
}

impl Shared {
    fn new(
        library: &'static Library,
        gpu: Arc<Gpu>,
        seat: Seat,
        communicator: Option<Communicator>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (communicator, watched) = (Mutex::new(communicator), Mutex::default());
        Self { id, gpu, seat, library, communicator, watched, wake: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Communicator>> {
        self.communicator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the group cannot be used; `None` for a usable communicator.
    fn over(&self) -> CommError {
        let cause =
            || CommError::Lost { rank: 0, cause: "NCCL has made no communicator".to_owned() };
        self.seat.failure().unwrap_or_else(cause)
    }

    /// Waits until NCCL has nothing in the background, and ends its work when that takes too long.
    fn settle(
        &self,
        communicator: &mut Option<Communicator>,
        call: &'static str,
    ) -> Result<(), CommError> {
        let start = Instant::now();
        loop {
            let Some(Communicator(handle)) = communicator else { return Err(self.over()) };
            // SAFETY: the handle is in the lock, so it is neither destroyed nor aborted.
            let state = unsafe { self.library.state(*handle) };
            if state == SUCCESS {
                return Ok(());
            }
            let failed = match self.library.check(&self.gpu.label(), call, state) {
                Err(error) => Some(error),
                Ok(()) if start.elapsed() >= self.seat.limit() => {
                    let cause = "other ranks have not called it";
                    Some(self.late(call.to_owned(), cause))
                }
                Ok(()) => self.seat.failure(),
            };
            if let Some(error) = failed {
                self.end_locked(communicator, error.clone());
                return Err(self.seat.failure().unwrap_or(error));
            }
            if start.elapsed() < SOON { thread::yield_now() } else { thread::sleep(SETTLE) }
        }
    }

    fn late(&self, operation: String, cause: &str) -> CommError {
        let seconds = self.seat.limit().as_secs_f64().to_string();
        CommError::Timeout { operation, seconds, cause: cause.to_owned() }
    }

    /// Ends the group: all ranks are told, and NCCL's kernels return without finishing their work.
    fn end(&self, error: CommError) {
        self.end_locked(&mut self.lock(), error);
    }

    fn end_locked(&self, communicator: &mut Option<Communicator>, error: CommError) {
        // Told first: a stream may be done as soon as NCCL ends.
        self.seat.fail(error);
        if let Some(Communicator(handle)) = communicator.take() {
            // Without a current context NCCL ends its work all the same.
            let _bound = self.gpu.bind();
            // SAFETY: the handle was in the lock, so it is neither destroyed nor aborted, and nothing has it any more.
            let _ = unsafe { self.library.abort(handle) };
        }
    }

    /// The failure of work in flight.
    fn trouble(&self, pending: &mut Pending) -> Result<Progress, CommError> {
        let driver = |error| of_driver(self.seat.rank(), error);
        if pending.behind.is_over().map_err(driver)? {
            return Ok(Progress::Done);
        }
        if let Some(error) = self.seat.failure() {
            return Err(error);
        }
        if let Some(Communicator(handle)) = &*self.lock() {
            // SAFETY: the handle is in the lock, so it is neither destroyed nor aborted.
            let state = unsafe { self.library.state(*handle) };
            self.library.check(&self.gpu.label(), "ncclCommGetAsyncError", state)?;
        }
        let since = match pending.since {
            Some(since) => since,
            None if pending.before.is_over().map_err(driver)? => {
                *pending.since.insert(Instant::now())
            }
            None => return Ok(Progress::UnderWay),
        };
        if since.elapsed() < self.seat.limit() {
            return Ok(Progress::UnderWay);
        }
        let cause = "a rank has not come, or has called something else";
        Err(self.late(pending.operation.clone(), cause))
    }
}

/// Memberships that no [`Rank`] has ended.
impl Drop for Shared {
    fn drop(&mut self) {
        let communicator = self.communicator.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(Communicator(handle)) = communicator.take() {
            let _bound = self.gpu.bind();
            // SAFETY: the handle was in the lock, so it is neither destroyed nor aborted, and nothing has it any more.
            let _ = unsafe { self.library.abort(handle) };
        }
    }
}

enum Progress {
    Done,
    UnderWay,
}

/// Watches the work of a rank, until the rank is dropped and its work done.
fn watch(shared: &Shared) {
    loop {
        let mut watched = shared.watched();
        let Some(mut pending) = watched.queue.pop_front() else {
            if watched.closing {
                return;
            }
            drop(shared.wake.wait(watched));
            continue;
        };
        drop(watched);
        loop {
            match shared.trouble(&mut pending) {
                Ok(Progress::Done) => break,
                Ok(Progress::UnderWay) => {
                    let _ = shared.wake.wait_timeout(shared.watched(), LOOK);
                }
                Err(error) => {
                    shared.end(error);
                    break;
                }
            }
        }
    }
}

/// Operations of a rank that are part of a graph.
pub(crate) struct Recorded {
    pub(crate) rank: Arc<Rank>,
    pub(crate) signatures: Vec<Signature>,
}

/// The work of ranks while it is put on a stream.
#[must_use = "it is watched from `end` on"]
pub(crate) struct Watch<'a> {
    ranks: Vec<&'a Arc<Rank>>,
    operation: String,
    /// None if there is nothing to watch.
    on: Option<(&'a Queue, Mark)>,
    /// Keeps the ranks' communicators while work that needs them is put on the stream.
    held: Vec<MutexGuard<'a, Option<Communicator>>>,
}

impl<'a> Watch<'a> {
    /// Before a graph with operations of these ranks is launched.
    pub(crate) fn begin(recorded: &'a [Recorded], queue: &'a back_end::Queue) -> Result<Self> {
        let mut ranks: Vec<_> = recorded.iter().map(|recorded| &recorded.rank).collect();
        let on = match queue {
            back_end::Queue::Cuda(queue) if !recorded.is_empty() => Some((queue, queue.mark()?)),
            back_end::Queue::Cuda(_) => None,
            #[cfg(feature = "emulator")]
            back_end::Queue::Emulator(_) => None,
        };
        for recorded in recorded {
            recorded.rank.require_room().map_err(CommError::into_error)?;
            if recorded.rank.check != Check::Never {
                recorded.signatures.iter().for_each(|signature| {
                    recorded.rank.seat().tell(*signature);
                });
            }
        }
        // In one order, so that two threads never wait for each other.
        ranks.sort_by_key(|rank| rank.shared.id);
        let held = ranks.iter().map(|rank| rank.shared.lock()).collect();
        if let Some(error) = ranks.iter().find_map(|rank| rank.seat().failure()) {
            return Err(error.into_error());
        }
        Ok(Self { ranks, operation: "a graph".to_owned(), on, held })
    }

    /// After the work is on the stream.
    pub(crate) fn end(self) -> Result<()> {
        drop(self.held);
        let Some((queue, before)) = self.on else { return Ok(()) };
        let mut before = Some(before);
        for rank in self.ranks {
            queue.depends_on(rank.seat().inbox());
            // Several ranks of one graph are of one device, where one of them is enough to find that the work in front is done.
            let before = before.take().map_or_else(|| queue.mark(), Ok)?;
            let (operation, behind) = (self.operation.clone(), queue.mark()?);
            let pending = Pending { operation, before, behind, since: None };
            rank.shared.watched().queue.push_back(pending);
            rank.shared.wake.notify_all();
        }
        Ok(())
    }
}

fn rank_and_queue(call: &Call) -> (&Arc<Rank>, &Queue) {
    match (&call.rank.link, call.stream.queue()) {
        (Link::Cuda(rank), back_end::Queue::Cuda(queue)) => (rank, queue),
        #[cfg(feature = "emulator")]
        (Link::Emulator(_), _) | (_, back_end::Queue::Emulator(_)) => {
            unreachable!("`Comm` refuses streams of other devices")
        }
    }
}

/// Puts calls that belong together on their streams.
pub(crate) fn start(calls: &[Call]) -> Result<()> {
    let library = library().map_err(CommError::into_error)?;
    let mut ranks: Vec<&Arc<Rank>> = Vec::new();
    for call in calls {
        let (rank, _) = rank_and_queue(call);
        if let Some(error) = rank.seat().failure() {
            return Err(error.into_error());
        }
        require_type(library, call).map_err(CommError::into_error)?;
        if ranks.iter().all(|known| !Arc::ptr_eq(known, rank)) {
            ranks.push(rank);
        }
    }
    compare(calls).map_err(CommError::into_error)?;
    // In one order, so that two threads never wait for each other.
    ranks.sort_by_key(|rank| rank.shared.id);
    let mut watches = Vec::new();
    for call in calls {
        let (rank, queue) = rank_and_queue(call);
        if let Some(recording) = call.stream.recording() {
            recording.add_comm(rank, call.signature)?;
            continue;
        }
        let on = Some((queue, queue.mark()?));
        let operation = call.signature.to_string();
        watches.push(Watch { ranks: vec![rank], operation, on, held: Vec::new() });
    }
    let mut locked: Vec<_> = ranks.iter().map(|rank| (*rank, rank.shared.lock())).collect();
    let mut started = library.check("NCCL", "ncclGroupStart", library.group_start());
    for call in calls {
        let (rank, queue) = rank_and_queue(call);
        let held = locked.iter().find(|(known, _)| Arc::ptr_eq(known, rank));
        let handle = held.and_then(|(_, communicator)| communicator.as_ref());
        started = started.and_then(|()| {
            let Communicator(handle) = handle.ok_or_else(|| rank.shared.over())?;
            enqueue(library, call, rank, queue, *handle)
        });
    }
    // Also after an error: the group is this thread's.
    let ended = library.check("NCCL", "ncclGroupEnd", library.group_end());
    let mut result = started.and(ended);
    for (rank, communicator) in &mut locked {
        result = result.and_then(|()| rank.shared.settle(communicator, "ncclGroupEnd"));
    }
    if let Err(error) = &result {
        // A part of the group may be on its way: the other ranks would wait for the rest.
        for (rank, communicator) in &mut locked {
            rank.shared.end_locked(communicator, error.clone());
        }
    }
    drop(locked);
    // Also after an error: work that is on a stream is watched.
    let watched = watches.into_iter().map(Watch::end).fold(Ok(()), Result::and);
    result.map_err(CommError::into_error)?;
    watched
}

/// Makes the ranks compare their calls.
fn compare(calls: &[Call]) -> Result<(), CommError> {
    let mut tickets = Vec::new();
    // What is recorded is compared with each launch of its graph.
    for call in calls.iter().filter(|call| call.stream.recording().is_none()) {
        let (rank, _) = rank_and_queue(call);
        match rank.check {
            Check::Never => {}
            Check::Behind => rank.seat().tell(call.signature),
            Check::Before => {
                tickets.push((rank, call, rank.seat().post(call.signature, Vec::new())?));
            }
        }
    }
    for (rank, call, ticket) in tickets {
        rank.seat().wait(ticket, &call.signature)?;
    }
    Ok(())
}

/// `ncclDataType_t` of the types that NCCL adds; all others are moved as bytes.
fn number_of(dtype: &str) -> c_int {
    match dtype {
        "i8" => 0,
        "i32" => 2,
        "u32" => 3,
        "i64" => 4,
        "u64" => 5,
        "f16" => 6,
        "f32" => 7,
        "f64" => 8,
        "bf16" => 9,
        "e4m3" => 10,
        "e5m2" => 11,
        // `Comm` refuses to reduce others than these and `u8`.
        _ => BYTES,
    }
}

/// `ncclUint8`.
const BYTES: c_int = 1;

/// `ncclRedOp_t`.
fn operation_of(op: ReduceOp) -> c_int {
    match op {
        ReduceOp::Sum => 0,
        ReduceOp::Product => 1,
        ReduceOp::Max => 2,
        ReduceOp::Min => 3,
        ReduceOp::Average => 4,
    }
}

fn require_type(library: &Library, call: &Call) -> Result<(), CommError> {
    let signature = &call.signature;
    let reduces =
        matches!(signature.operation, Operation::AllReduce(_) | Operation::ReduceScatter(_));
    if reduces && matches!(signature.dtype, "e4m3" | "e5m2") && library.version < OLDEST_WITH_FLOAT8
    {
        let required = format!("NCCL 2.24 or newer for sums of {}", signature.dtype);
        return Err(CommError::Library {
            required,
            actual: format!("{} is loaded", library.name()),
        });
    }
    Ok(())
}

/// Calls NCCL for one operation, within a group.
fn enqueue(
    library: &Library,
    call: &Call,
    rank: &Rank,
    queue: &Queue,
    handle: Handle,
) -> Result<(), CommError> {
    let (signature, stream) = (&call.signature, queue.raw());
    if signature.count == 0 && signature.operation != Operation::Barrier {
        return Ok(());
    }
    let label = || rank.shared.gpu.label();
    let _bound = rank.shared.gpu.bind().map_err(|error| of_driver(rank.seat().rank(), error))?;
    let place =
        |part: &Option<Part>| part.as_ref().map_or((0, 0), |part| (part.address, part.bytes));
    let ((from, from_bytes), (to, to_bytes)) = (place(&call.from), place(&call.to));
    let peer = |rank: usize| c_int::try_from(rank).unwrap_or(c_int::MAX);
    let (count, dtype) = (signature.count, number_of(signature.dtype));
    let (name, answer) = match signature.operation {
        Operation::AllReduce(op) => ("ncclAllReduce", {
            let op = operation_of(op);
            // SAFETY: `Comm` has checked that both parts have `count` elements; the stream is of the rank's device, and the
            // tensors are in order on it and kept.
            unsafe { (library.all_reduce)(from, to, count, dtype, op, handle, stream) }
        }),
        Operation::ReduceScatter(op) => ("ncclReduceScatter", {
            let op = operation_of(op);
            // SAFETY: as above; the first part has as many elements for each rank.
            unsafe { (library.reduce_scatter)(from, to, count, dtype, op, handle, stream) }
        }),
        Operation::AllGather => ("ncclAllGather", {
            // SAFETY: as above; the second part has as many bytes for each rank.
            unsafe { (library.all_gather)(from, to, from_bytes, BYTES, handle, stream) }
        }),
        Operation::Broadcast { root } => ("ncclBroadcast", {
            // In place: one of the two is there.
            let (at, bytes) = (from.max(to), from_bytes.max(to_bytes));
            // SAFETY: as above.
            unsafe { (library.broadcast)(at, at, bytes, BYTES, peer(root), handle, stream) }
        }),
        Operation::Barrier => ("ncclAllReduce", {
            let at = rank.scratch;
            // SAFETY: the rank has the byte.
            unsafe { (library.all_reduce)(at, at, 1, BYTES, 0, handle, stream) }
        }),
        Operation::Send { to: other } => ("ncclSend", {
            // SAFETY: as above.
            unsafe { (library.send)(from, from_bytes, BYTES, peer(other), handle, stream) }
        }),
        Operation::Recv { from: other } => ("ncclRecv", {
            // SAFETY: as above.
            unsafe { (library.recv)(to, to_bytes, BYTES, peer(other), handle, stream) }
        }),
        Operation::AllToAll => {
            let each = from_bytes / call.ranks();
            for other in 0..call.ranks() {
                let at = (other * each) as u64;
                // SAFETY: `Comm` has checked that both parts have `each` bytes for each rank.
                let sent =
                    unsafe { (library.send)(from + at, each, BYTES, peer(other), handle, stream) };
                library.check(&label(), "ncclSend", sent)?;
                // SAFETY: as above.
                let received =
                    unsafe { (library.recv)(to + at, each, BYTES, peer(other), handle, stream) };
                library.check(&label(), "ncclRecv", received)?;
            }
            return Ok(());
        }
    };
    library.check(&label(), name, answer)
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.shared.library.name(), self.shared.gpu.label())
    }
}

//! Collective operations between the ranks of a group of devices.
//!
//! A [`Comm`] is one rank's membership in a group. The ranks are devices of one process ([`Comm::in_process`]), or one
//! device in each of many processes, on one machine or several ([`Comm::from_env`], [`Comm::init`]). Between GPUs, NCCL
//! moves the data; its library is loaded when it is first needed. Between emulated GPUs the ranks meet in the process
//! of rank 0, so that a program for many GPUs can be tested without one, in threads or in processes:
//!
//! ```
//! # #[cfg(feature = "emulator")]
//! # fn main() -> kernel_runtime::Result<()> {
//! use kernel_runtime::{Comm, Device, ReduceOp, Target};
//!
//! let devices = [Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?];
//! let work = |comm: Comm| {
//!     let stream = comm.device().stream()?;
//!     let mut x = stream.full([3], if comm.rank() == 0 { 1.0f32 } else { 10.0 })?;
//!     comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
//!     comm.wait(&stream)?;
//!     x.to_vec(&stream)
//! };
//! let comms = Comm::in_process(&devices)?;
//! std::thread::scope(|scope| {
//!     let ranks: Vec<_> = comms.into_iter().map(|comm| scope.spawn(|| work(comm))).collect();
//!     for rank in ranks {
//!         assert_eq!(rank.join().expect("no rank panics")?, [11.0; 3]);
//!     }
//!     Ok(())
//! })
//! # }
//! # #[cfg(not(feature = "emulator"))]
//! # fn main() {}
//! ```
//!
//! # Order
//!
//! All ranks call the same collectives in the same order, with the same element type and number of elements; between
//! two ranks the sends of one are the receives of the other, in order. An operation is put on a stream, and like a
//! kernel it is in order with everything else that uses its tensors. It can be recorded into a [`Graph`](crate::Graph),
//! which all ranks must launch equally often. On the emulator such a launch waits for the other ranks, so each rank
//! needs a thread.
//!
//! One thread that acts for several ranks, or that sends and receives at once, puts its calls into a [`Comm::group`].
//!
//! # Failure
//!
//! No rank waits forever. When a rank dies, does not come within the limit ([`Comm::with_timeout`]), or calls another
//! operation than the others, the group ends with an error on every rank ([`CommError`]).
//!
//! On the emulator the call itself returns the error; operations that differ are always found. On GPUs the call has
//! returned long before. A thread of the group watches operations in flight, and ends NCCL's work when they take longer
//! than the limit, or when NCCL or a connection reports a failure. [`Comm::wait`] then returns the error, and so does
//! the next wait for a stream that had the work, or that has waited for such a stream (`synchronize`, `to_vec`).
//!
//! NCCL itself does not notice operations that differ: it may hang or mix up data. So each rank reports its calls, and
//! the operations of the graphs that it launches, to rank 0's process, and the group ends soon after a call that
//! differs. With `KILN_COMM_CHECK=1` in its environment a rank waits for the answer before it puts the operation on its
//! stream, which costs a round trip. With `0`, on all ranks, nothing is reported. A group that has failed stays failed:
//! drop its `Comm`s, and make new ones.

#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    expect(
        dead_code,
        unused_variables,
        unreachable_code,
        clippy::never_loop,
        reason = "nothing runs without a back end"
    )
)]

mod call;
#[cfg(feature = "emulator")]
mod emulated;
mod hub;
mod meet;
#[cfg(feature = "emulator")]
mod reduce;
mod rendezvous;
mod seat;
mod signature;
mod wire;

#[cfg(feature = "cuda")]
use crate::cuda::nccl;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::device::Shared;
use crate::{CommError, Device, DeviceTensor, Element, Error, Result, Stream};
pub(crate) use call::{Call, Part};
#[cfg(any(feature = "cuda", feature = "emulator"))]
use hub::Loss;
use hub::{Hub, Way};
pub use rendezvous::Rendezvous;
#[cfg(feature = "cuda")]
pub(crate) use seat::Inbox;
#[cfg(not(feature = "cuda"))]
use seat::Inbox;
use seat::Reach;
pub(crate) use seat::Seat;
pub use signature::ReduceOp;
pub(crate) use signature::{Operation, Signature};
use std::{fmt, sync::Arc, time::Duration};

/// How long ranks wait for one another, unless [`Comm::with_timeout`] sets another limit.
const DEFAULT_LIMIT: Duration = Duration::from_secs(5 * 60);

/// The element types that can be added, in the names of kernels: those of NCCL.
const REDUCIBLE: [&str; 12] =
    ["i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "e4m3", "e5m2"];

/// The membership of one rank in a group of devices.
///
/// Dropping it leaves the group, after the work that this rank has put on its streams. Ranks that need it later get an
/// error. A process with a GPU must drop it before it ends; otherwise the other ranks take it for lost, and their group
/// ends.
///
/// Only one thread at a time may call the operations of a rank, since their order matters.
pub struct Comm {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    device: Device,
    rank: usize,
    world_size: usize,
    pub(crate) link: Link,
}

/// What moves the data.
#[derive(Debug)]
pub(crate) enum Link {
    #[cfg(feature = "cuda")]
    Cuda(Arc<nccl::Rank>),
    #[cfg(feature = "emulator")]
    Emulator(Arc<Seat>),
}

impl Comm {
    /// The memberships of several devices of this process, in order of their ranks; GPUs, or emulated ones.
    ///
    /// Each may have its own thread. A thread that uses all of them puts the calls of all ranks into a [`Comm::group`].
    ///
    /// # Errors
    /// [`CommError::Argument`] for no device, a device that is named twice, and GPUs together with emulators; on GPUs
    /// [`CommError::Library`], [`CommError::Nccl`] and [`CommError::Timeout`].
    pub fn in_process(devices: &[Device]) -> Result<Vec<Self>> {
        let wrong = |required: &str, actual: String| {
            let (operation, required) = ("in_process", required.to_owned());
            CommError::Argument { operation, required, actual }.into_error()
        };
        let Some(first) = devices.first() else {
            return Err(wrong("one device or more", "none".to_owned()));
        };
        for (rank, device) in devices.iter().enumerate() {
            if devices[..rank].contains(device) {
                return Err(wrong("devices that differ", format!("{} twice", device.label())));
            }
            if device.is_emulator() != first.is_emulator() {
                let actual = format!("{} and {}", first.label(), device.label());
                return Err(wrong("devices of one kind", actual));
            }
        }
        let inboxes: Vec<_> = devices.iter().map(|_| Arc::new(Inbox::default())).collect();
        let ways = inboxes.iter().map(|inbox| Way::Local(Arc::clone(inbox))).collect();
        let hub = Arc::new(Hub::new(ways, combine_for(first)));
        let seats = inboxes.into_iter().enumerate();
        let seats =
            seats.map(|(rank, inbox)| Seat::new(rank, inbox, Reach::Here(Arc::clone(&hub))));
        let links = links(devices, seats.collect())?;
        let world_size = devices.len();
        let comm = |(rank, (device, link)): (usize, (&Device, Link))| {
            let device = device.clone();
            Self { inner: Arc::new(Inner { device, rank, world_size, link }) }
        };
        Ok(devices.iter().zip(links).enumerate().map(comm).collect())
    }

    /// The membership of this process's device in the group that a launcher has started; see [`Rendezvous::from_env`] for the
    /// variables. The device is often `Device::cuda(Rendezvous::from_env()?.local_rank)`.
    ///
    /// # Errors
    /// [`CommError::Variable`], and those of [`Self::init`].
    pub fn from_env(device: &Device) -> Result<Self> {
        Self::init(device, &Rendezvous::from_env()?)
    }

    /// The membership of this process's device in a group of processes, once all of them have called this.
    ///
    /// Rank 0 listens at the address, and the others connect to it. They trust one another and the network between
    /// them: anybody who reaches the port while the group forms can take the place of a missing rank.
    ///
    /// # Errors
    /// [`CommError::Rendezvous`] when ranks do not come within `place.timeout` (it names those that have), and when
    /// they do not agree about the group; on GPUs [`CommError::Library`], [`CommError::Nccl`] and
    /// [`CommError::Timeout`].
    pub fn init(device: &Device, place: &Rendezvous) -> Result<Self> {
        let (rank, world_size) = (place.rank, place.world_size);
        let refused = |required, actual| {
            Err(CommError::Argument { operation: "init", required, actual }.into_error())
        };
        if rank >= world_size {
            let required = format!("a rank below the number of processes, {world_size}");
            return refused(required, rank.to_string());
        }
        if world_size > rendezvous::MOST_RANKS {
            let required = format!("at most {} processes", rendezvous::MOST_RANKS);
            return refused(required, world_size.to_string());
        }
        if world_size > 1 && place.address.ends_with(":0") {
            let required = "an address with a port that the other ranks know".to_owned();
            return refused(required, place.address.clone());
        }
        let link = joined(device, place)?;
        let device = device.clone();
        Ok(Self { inner: Arc::new(Inner { device, rank, world_size, link }) })
    }

    /// Sets how long this rank waits for others; the default is five minutes or the timeout of its [`Rendezvous`]. The
    /// time of an operation on a GPU starts when the earlier work on its stream is done.
    #[must_use]
    pub fn with_timeout(self, limit: Duration) -> Self {
        self.seat().set_limit(limit);
        self
    }

    /// This member's number, from 0.
    pub fn rank(&self) -> usize {
        self.inner.rank
    }

    /// How many members the group has.
    pub fn world_size(&self) -> usize {
        self.inner.world_size
    }

    /// This member's device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Groups all operations that this thread calls in `work`: they are put on their streams together when it ends, and
    /// may wait for one another.
    ///
    /// A thread that acts for several ranks needs it, since the first rank's call would otherwise wait for the
    /// second's; so does a rank that sends and receives at once. Other work that `work` puts on the streams comes
    /// before all of the operations. The operations run at the same time: none may write what another one of the rank
    /// reads or writes. A group within a group joins the outermost one.
    ///
    /// ```
    /// # #[cfg(feature = "emulator")]
    /// # fn main() -> kernel_runtime::Result<()> {
    /// # use kernel_runtime::{Comm, Device, ReduceOp, Target};
    /// let devices = [Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?];
    /// let comms = Comm::in_process(&devices)?;
    /// let streams = [devices[0].stream()?, devices[1].stream()?];
    /// let mut x = [streams[0].full([2], 3i32)?, streams[1].full([2], 4i32)?];
    /// Comm::group(|| {
    ///     for (rank, comm) in comms.iter().enumerate() {
    ///         comm.all_reduce_in_place(&streams[rank], &mut x[rank], ReduceOp::Product)?;
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(x[1].to_vec(&streams[1])?, [12, 12]);
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "emulator"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// That of `work`, after which nothing is done; [`CommError::Argument`] for operations that depend on one another;
    /// those of the operations.
    pub fn group<U>(work: impl FnOnce() -> Result<U>) -> Result<U> {
        call::group(work)
    }

    /// Reduces the elements of all ranks: each rank gets in `to`, element by element, the result over all `from`.
    ///
    /// # Errors
    /// Those of all operations: [`Error::NotContiguous`], [`Error::StreamOfAnotherDevice`], [`CommError::Argument`] for numbers of elements,
    /// ranks and element types that do not fit; those of a group that has failed, see [`CommError`]; [`Error::Driver`].
    pub fn all_reduce<T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        from: &DeviceTensor<T, R>,
        to: &mut DeviceTensor<T, S>,
        op: ReduceOp,
    ) -> Result<()> {
        let operation = Operation::AllReduce(op);
        let shape = from.len();
        self.require_len(operation, to.len(), shape, "as many elements in the result")?;
        let parts = (Some(part(operation, stream, from)?), Some(part(operation, stream, to)?));
        self.reduce(stream, operation, (T::DTYPE, from.len()), parts)
    }

    /// Like [`Self::all_reduce`], in place.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn all_reduce_in_place<T: Element, const R: usize>(
        &self,
        stream: &Stream,
        tensor: &mut DeviceTensor<T, R>,
        op: ReduceOp,
    ) -> Result<()> {
        let operation = Operation::AllReduce(op);
        let part = || part(operation, stream, tensor);
        self.reduce(stream, operation, (T::DTYPE, tensor.len()), (Some(part()?), Some(part()?)))
    }

    /// Gathers the elements of all ranks, in order of the ranks: `to` has as many elements as all `from` together.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn all_gather<T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        from: &DeviceTensor<T, R>,
        to: &mut DeviceTensor<T, S>,
    ) -> Result<()> {
        let operation = Operation::AllGather;
        let required = from.len().saturating_mul(self.world_size());
        self.require_len(operation, to.len(), required, "those of all ranks in the result")?;
        let parts = (Some(part(operation, stream, from)?), Some(part(operation, stream, to)?));
        self.submit(stream, operation, (T::DTYPE, from.len()), parts)
    }

    /// Reduces the elements of all ranks, and gives each rank its part of the result, in order of the ranks: `from` has
    /// as many elements as all `to` together.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn reduce_scatter<T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        from: &DeviceTensor<T, R>,
        to: &mut DeviceTensor<T, S>,
        op: ReduceOp,
    ) -> Result<()> {
        let operation = Operation::ReduceScatter(op);
        let required = to.len().saturating_mul(self.world_size());
        self.require_len(operation, from.len(), required, "a result for each rank in the input")?;
        let parts = (Some(part(operation, stream, from)?), Some(part(operation, stream, to)?));
        self.reduce(stream, operation, (T::DTYPE, to.len()), parts)
    }

    /// Copies the tensor of rank `root` to the others.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn broadcast<T: Element, const R: usize>(
        &self,
        stream: &Stream,
        tensor: &mut DeviceTensor<T, R>,
        root: usize,
    ) -> Result<()> {
        let operation = Operation::Broadcast { root };
        self.require_rank(operation, root)?;
        let part = Some(part(operation, stream, tensor)?);
        let parts = if root == self.rank() { (part, None) } else { (None, part) };
        self.submit(stream, operation, (T::DTYPE, tensor.len()), parts)
    }

    /// Exchanges parts: the parts of `from` go to the ranks in their order, and `to` gets the parts of all ranks for
    /// this one, in order of the ranks.
    ///
    /// # Errors
    /// As [`Self::all_reduce`]; the elements have to be a multiple of the ranks.
    pub fn all_to_all<T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        from: &DeviceTensor<T, R>,
        to: &mut DeviceTensor<T, S>,
    ) -> Result<()> {
        let operation = Operation::AllToAll;
        self.require_len(operation, to.len(), from.len(), "as many elements in the result")?;
        let each = from.len() / self.world_size();
        let whole = each * self.world_size();
        self.require_len(operation, from.len(), whole, "a multiple of the ranks in the input")?;
        let parts = (Some(part(operation, stream, from)?), Some(part(operation, stream, to)?));
        self.submit(stream, operation, (T::DTYPE, each), parts)
    }

    /// Sends a tensor to another rank, which calls [`Self::recv`] with as many elements. On the emulator this waits for
    /// that call.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn send<T: Element, const R: usize>(
        &self,
        stream: &Stream,
        tensor: &DeviceTensor<T, R>,
        to: usize,
    ) -> Result<()> {
        let operation = Operation::Send { to };
        self.require_rank(operation, to)?;
        let part = part(operation, stream, tensor)?;
        self.submit(stream, operation, (T::DTYPE, tensor.len()), (Some(part), None))
    }

    /// Receives what another rank sends.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn recv<T: Element, const R: usize>(
        &self,
        stream: &Stream,
        tensor: &mut DeviceTensor<T, R>,
        from: usize,
    ) -> Result<()> {
        let operation = Operation::Recv { from };
        self.require_rank(operation, from)?;
        let part = part(operation, stream, tensor)?;
        self.submit(stream, operation, (T::DTYPE, tensor.len()), (None, Some(part)))
    }

    /// Makes later work of the stream wait until the streams of all ranks have reached this point.
    ///
    /// # Errors
    /// As [`Self::all_reduce`].
    pub fn barrier(&self, stream: &Stream) -> Result<()> {
        self.submit(stream, Operation::Barrier, ("u8", 0), (None, None))
    }

    /// Waits until all work of the stream is done, and returns an error if the group has failed; without an error, the
    /// results of the operations are there.
    ///
    /// # Errors
    /// Those of a group that has failed, see [`CommError`]; those of [`Stream::synchronize`].
    pub fn wait(&self, stream: &Stream) -> Result<()> {
        let done = stream.synchronize();
        match self.failure() {
            None => done,
            Some(error) => Err(error.into_error()),
        }
    }

    /// Why the group has failed, if it has; does not wait.
    pub fn failure(&self) -> Option<CommError> {
        self.seat().failure()
    }

    /// Ends the group on all ranks: what they wait for, and every later call, returns [`CommError::Aborted`].
    pub fn abort(&self) {
        self.seat().fail(CommError::Aborted { rank: self.rank() });
        match self.inner.link {
            #[cfg(feature = "cuda")]
            Link::Cuda(ref rank) => rank.look(),
            // Whoever waits has been told.
            #[cfg(feature = "emulator")]
            Link::Emulator(_) => {}
        }
    }

    fn seat(&self) -> &Seat {
        match self.inner.link {
            #[cfg(feature = "cuda")]
            Link::Cuda(ref rank) => rank.seat(),
            #[cfg(feature = "emulator")]
            Link::Emulator(ref seat) => seat,
        }
    }

    fn require_len(
        &self,
        operation: Operation,
        actual: usize,
        required: usize,
        what: &str,
    ) -> Result<()> {
        if actual == required {
            return Ok(());
        }
        let required = format!("{required} elements ({what}, of {} ranks)", self.world_size());
        let (operation, actual) = (operation.name(), actual.to_string());
        Err(CommError::Argument { operation, required, actual }.into_error())
    }

    fn require_rank(&self, operation: Operation, rank: usize) -> Result<()> {
        if rank < self.world_size() {
            return Ok(());
        }
        let required = format!("a rank below {}", self.world_size());
        let (operation, actual) = (operation.name(), rank.to_string());
        Err(CommError::Argument { operation, required, actual }.into_error())
    }

    fn reduce(
        &self,
        stream: &Stream,
        operation: Operation,
        (dtype, count): (&'static str, usize),
        parts: (Option<Part>, Option<Part>),
    ) -> Result<()> {
        if !REDUCIBLE.contains(&dtype) {
            let required = format!("elements of {}", REDUCIBLE.join(", "));
            let (operation, actual) = (operation.name(), dtype.to_owned());
            return Err(CommError::Argument { operation, required, actual }.into_error());
        }
        self.submit(stream, operation, (dtype, count), parts)
    }

    fn submit(
        &self,
        stream: &Stream,
        operation: Operation,
        (dtype, count): (&'static str, usize),
        (from, to): (Option<Part>, Option<Part>),
    ) -> Result<()> {
        if *stream.device() != self.inner.device {
            let required = format!("a stream of {}, the rank's device", self.inner.device.label());
            let actual = format!("one of {}", stream.device().label_beside(&self.inner.device));
            let operation = operation.name();
            return Err(CommError::Argument { operation, required, actual }.into_error());
        }
        let (rank, stream) = (Arc::clone(&self.inner), stream.clone());
        let signature = Signature { operation, dtype, count };
        call::submit(Call { rank, stream, signature, from, to })
    }
}

/// The tensor's memory, once it is contiguous and of the stream's device.
fn part<T, const R: usize>(
    operation: Operation,
    stream: &Stream,
    tensor: &DeviceTensor<T, R>,
) -> Result<Part> {
    let operation = operation.name();
    tensor.require_contiguous(operation)?;
    if tensor.device() != stream.device() {
        return Err(Error::StreamOfAnotherDevice {
            operation,
            required: stream.device().label(),
            actual: tensor.device().label_beside(stream.device()),
        });
    }
    let (buffer, address) = (Arc::clone(tensor.buffer()), tensor.address());
    Ok(Part { buffer, address, bytes: tensor.len() * tensor.element_bytes() })
}

/// What NCCL's ranks get from the meeting point: it moves the data, and they only compare what they call.
#[cfg(feature = "cuda")]
fn compared(_: &Signature, given: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    given
}

/// What the ranks of a device's kind get from the meeting point.
fn combine_for(device: &Device) -> hub::Combine {
    match device.shared_machine() {
        #[cfg(feature = "cuda")]
        Shared::Cuda(_) => compared,
        #[cfg(feature = "emulator")]
        Shared::Emulator => reduce::combine,
    }
}

/// Membership of devices of this process, which are of one kind.
#[cfg_attr(not(feature = "cuda"), expect(clippy::unnecessary_wraps, reason = "NCCL may fail"))]
fn links(devices: &[Device], seats: Vec<Seat>) -> Result<Vec<Link>> {
    #[cfg(feature = "cuda")]
    let mut gpus = Vec::new();
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    let mut links = Vec::new();
    for (device, seat) in devices.iter().zip(seats) {
        match device.shared_machine() {
            #[cfg(feature = "cuda")]
            Shared::Cuda(gpu) => gpus.push((gpu, seat)),
            #[cfg(feature = "emulator")]
            Shared::Emulator => links.push(Link::Emulator(Arc::new(seat))),
        }
    }
    #[cfg(feature = "cuda")]
    if !gpus.is_empty() {
        links.extend(nccl::Rank::in_process(gpus)?.into_iter().map(Link::Cuda));
    }
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    return Ok(links);
    #[cfg(not(any(feature = "cuda", feature = "emulator")))]
    Ok(Vec::new())
}

/// Membership of the device of this process among others.
fn joined(device: &Device, place: &Rendezvous) -> Result<Link> {
    let combine = combine_for(device);
    match device.shared_machine() {
        #[cfg(feature = "cuda")]
        Shared::Cuda(gpu) => {
            let kind = nccl::kind().map_err(CommError::into_error)?;
            let (seat, id) = meet::meet(place, &kind, combine, Loss::Group, nccl::unique_id)
                .map_err(CommError::into_error)?;
            nccl::Rank::join(gpu, seat, place.rank, place.world_size, &id).map(Link::Cuda)
        }
        #[cfg(feature = "emulator")]
        Shared::Emulator => {
            let (seat, _) =
                meet::meet(place, "the emulator", combine, Loss::Needed, || Ok(Vec::new()))
                    .map_err(CommError::into_error)?;
            Ok(Link::Emulator(Arc::new(seat)))
        }
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { rank, world_size, ref device, .. } = *self.inner;
        write!(f, "rank {rank} of {world_size} on {}", device.label())
    }
}

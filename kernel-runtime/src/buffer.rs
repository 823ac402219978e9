//! Device memory that is freed when nothing uses it any more.
//!
//! A buffer belongs to the stream that allocated it. Any stream of the device may use it: the buffer knows which
//! streams may still be working on it, and makes a stream wait for another one only if the order matters: read after
//! write, write after read, write after write, and the final free. As long as only one stream uses a buffer, which is
//! the common case, this costs one atomic load.
//!
//! Other libraries may work on the same memory, if they own it or Kiln shared it with them. Kiln does not see their
//! work, but knows its stream. Each use on another stream waits for that stream, and that stream waits for each use as
//! soon as it is enqueued. So everything that the other library does before and after is in order.

use crate::{Result, Stream};
use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Keeps something of another library alive until it is dropped. It is never read, so a panic elsewhere cannot show it
/// half changed.
pub(crate) type Owner = AssertUnwindSafe<Box<dyn Send + Sync>>;

/// How memory of another library stays allocated.
pub(crate) enum Lease {
    /// Until this is dropped.
    Owned(Owner),
    /// As long as the view that uses it lives.
    Borrowed,
}

/// What a use does to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Memory of a device.
pub(crate) struct Buffer {
    home: Stream,
    /// 0 for a buffer of no bytes, which has no memory.
    address: u64,
    bytes: usize,
    /// The id of the stream that has all unfinished uses, or [`SEVERAL`].
    only: AtomicU64,
    /// Whether others than borrowers of its tensor use the memory: other libraries, graphs.
    is_shared: AtomicBool,
    users: Mutex<Users>,
    /// What keeps the memory allocated, if Kiln did not allocate it. Taken when the buffer is dropped.
    lease: Option<Lease>,
}

/// No stream has this id.
const SEVERAL: u64 = 0;

/// The streams whose work may still use the buffer.
struct Users {
    writer: Stream,
    /// Streams that have read since the last write, other than the writer.
    readers: Vec<Stream>,
    /// Streams on which other libraries may use the memory at any time.
    outside: Vec<Stream>,
}

impl Buffer {
    /// Memory of unspecified content.
    pub(crate) fn new(stream: &Stream, bytes: usize) -> Result<Self> {
        let address = if bytes == 0 { 0 } else { stream.allocate(bytes)? };
        Ok(Self::at(stream, address, bytes, None))
    }

    /// Memory of these bytes.
    pub(crate) fn with_bytes(stream: &Stream, bytes: &[u8]) -> Result<Self> {
        let buffer = Self::new(stream, bytes.len())?;
        if !bytes.is_empty() {
            stream.queue().upload(buffer.address, bytes)?;
        }
        Ok(buffer)
    }

    /// Memory that somebody else owns and may be using on `stream`.
    ///
    /// The caller guarantees what [`DeviceTensor::from_raw`](crate::DeviceTensor::from_raw) asks for.
    pub(crate) fn foreign(stream: &Stream, address: u64, bytes: usize, lease: Lease) -> Self {
        let mut buffer = Self::at(stream, address, bytes, Some(lease));
        let users = buffer.users.get_mut().unwrap_or_else(PoisonError::into_inner);
        users.outside.push(stream.clone());
        *buffer.is_shared.get_mut() = true;
        buffer
    }

    fn at(stream: &Stream, address: u64, bytes: usize, lease: Option<Lease>) -> Self {
        let users = Users { writer: stream.clone(), readers: Vec::new(), outside: Vec::new() };
        Self {
            home: stream.clone(),
            address,
            bytes,
            only: AtomicU64::new(stream.id()),
            is_shared: AtomicBool::new(false),
            users: Mutex::new(users),
            lease,
        }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn home(&self) -> &Stream {
        &self.home
    }

    /// Whether the memory may be freed before the buffer: nothing may hold the buffer longer than its view lives.
    pub(crate) fn is_borrowed(&self) -> bool {
        match self.lease {
            Some(Lease::Borrowed) => true,
            Some(Lease::Owned(_)) | None => false,
        }
    }

    /// Orders a use on `stream` after the uses that it depends on.
    ///
    /// The caller enqueues the use and calls [`Self::used_on`] before the tensor's borrow ends. A later write or free
    /// needs that borrow to have ended, so it finds the use in the stream.
    pub(crate) fn use_on(&self, stream: &Stream, access: Access) -> Result<()> {
        if self.only.load(Ordering::Acquire) == stream.id() {
            return Ok(());
        }
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if !users.outside.is_empty() {
            // They wait for each use of Kiln's, so that waiting for them is waiting for all.
            return users.others_outside(stream).try_for_each(|outside| stream.wait_for(outside));
        }
        match access {
            Access::Read => {
                if !users.knows(stream) {
                    stream.wait_for(&users.writer)?;
                    users.readers.push(stream.clone());
                    self.only.store(SEVERAL, Ordering::Release);
                }
            }
            Access::Write => {
                users.wait_all(stream)?;
                users.writer = stream.clone();
                users.readers.clear();
                self.only.store(stream.id(), Ordering::Release);
            }
        }
        Ok(())
    }

    /// Notes that a use is on `stream` now: other libraries that have the memory wait for it.
    pub(crate) fn used_on(&self, stream: &Stream) -> Result<()> {
        if !self.is_shared.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.outside.is_empty() {
            // A graph may have been launched between the order of this use and its work, and have found nothing there to wait for. That
            // is the program's affair, but the memory must not be freed before the work is done.
            if !users.knows(stream) {
                users.readers.push(stream.clone());
                self.only.store(SEVERAL, Ordering::Release);
            }
            return Ok(());
        }
        users.others_outside(stream).try_for_each(|outside| outside.wait_for(stream))
    }

    /// Notes that a graph holds the memory, and uses it whenever it is launched.
    pub(crate) fn hold_elsewhere(&self) {
        self.is_shared.store(true, Ordering::SeqCst);
    }

    /// Shares the memory with another library, which uses it on `stream`, after all uses so far.
    pub(crate) fn share_with(&self, stream: &Stream) -> Result<()> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        // First, so that a use which is being enqueued either is waited for here or finds the stream in `used_on`.
        self.only.store(SEVERAL, Ordering::SeqCst);
        self.is_shared.store(true, Ordering::SeqCst);
        users.wait_all(stream)?;
        if users.outside.iter().all(|outside| !outside.is_same_queue(stream)) {
            users.outside.push(stream.clone());
        }
        Ok(())
    }
}

#[cfg(feature = "cuda")]
impl Buffer {
    /// Passes the memory to somebody who frees it on `stream`, in order with the work so far; `None` for memory that
    /// others have.
    pub(crate) fn give_up(&mut self, stream: &Stream) -> Option<Result<u64>> {
        let users = self.users.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.lease.is_some() || !users.outside.is_empty() {
            return None;
        }
        if let Err(error) = users.wait_all(stream) {
            return Some(Err(error));
        }
        let address = std::mem::take(&mut self.address);
        // What is left has no memory to free.
        self.bytes = 0;
        Some(Ok(address))
    }
}

impl Users {
    /// Whether the last write and later uses are on this stream, among others.
    fn knows(&self, stream: &Stream) -> bool {
        let mut known = std::iter::once(&self.writer).chain(&self.readers);
        known.any(|user| user.id() == stream.id())
    }

    fn all(&self) -> impl Iterator<Item = &Stream> {
        std::iter::once(&self.writer).chain(&self.readers).chain(&self.outside)
    }

    /// Lets `stream` wait for every other user.
    fn wait_all(&self, stream: &Stream) -> Result<()> {
        self.all()
            .filter(|user| user.id() != stream.id())
            .try_for_each(|user| stream.wait_for(user))
    }

    /// The streams of other libraries that are not `stream` under another name.
    fn others_outside(&self, stream: &Stream) -> impl Iterator<Item = &Stream> {
        self.outside.iter().filter(|outside| !outside.is_same_queue(stream))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let users = self.users.get_mut().unwrap_or_else(PoisonError::into_inner);
        // When a wait cannot be enqueued the device is in a failed state, and the memory is kept rather
        // than freed under a kernel's feet.
        let mut streams = std::iter::once(&self.home).chain(users.all());
        let is_over = streams.try_fold(false, |is_over, stream| {
            Ok::<_, crate::Error>(is_over || stream.queue().wait_elsewhere()?)
        });
        let waited = match is_over {
            Ok(true) => true,
            // While another library records the home stream, nothing can be freed on it.
            Ok(false) => {
                let usable = self.home.queue().require_usable();
                usable.and_then(|()| users.wait_all(&self.home)).is_ok()
            }
            Err(_) => false,
        };
        match (waited, self.lease.take()) {
            (true, None) => self.home.queue().free(self.address),
            (true, Some(Lease::Owned(owner))) => self.home.queue().give_back(owner),
            (_, Some(Lease::Borrowed)) | (false, None) => {}
            (false, Some(Lease::Owned(owner))) => std::mem::forget(owner),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x} on {}", self.bytes, self.address, self.home.device().label())
    }
}

/// Two launches on two streams that share a tensor: `docs/safety.md` says what they may rely on. The emulator runs what it is given at once,
/// so that these tests look at what a use waits for, and not at results.
#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::{Device, Target};

    /// Three streams, and a buffer of the first.
    fn three() -> ([Stream; 3], Buffer) {
        let device = Device::emulator(Target::Sm80).expect("the emulator is built in");
        let streams = [(); 3].map(|()| device.stream().expect("the emulator has streams"));
        let buffer = Buffer::new(&streams[0], 64).expect("memory");
        (streams, buffer)
    }

    /// The streams that a write on another one waits for: that of the last write, and those of the reads since.
    fn waited(buffer: &Buffer) -> (u64, Vec<u64>) {
        let users = buffer.users.lock().expect("no test panics with it");
        (users.writer.id(), users.readers.iter().map(Stream::id).collect())
    }

    #[test]
    fn a_read_is_noted_once_and_a_write_waits_for_all_reads() {
        let ([first, second, third], buffer) = three();
        for stream in [&second, &third, &second, &first] {
            buffer.use_on(stream, Access::Read).expect("an order");
        }
        assert_eq!(waited(&buffer), (first.id(), vec![second.id(), third.id()]));
        buffer.use_on(&second, Access::Write).expect("an order");
        assert_eq!(waited(&buffer), (second.id(), vec![]));
    }

    #[test]
    fn after_a_write_on_another_stream_the_first_one_is_as_any_other() {
        let ([first, second, _], buffer) = three();
        buffer.use_on(&second, Access::Write).expect("an order");
        buffer.use_on(&first, Access::Read).expect("an order");
        assert_eq!(waited(&buffer), (second.id(), vec![first.id()]));
        // Another read on the stream of the write needs no order; a write there waits for the read.
        buffer.use_on(&second, Access::Read).expect("an order");
        assert_eq!(waited(&buffer), (second.id(), vec![first.id()]));
        buffer.use_on(&second, Access::Write).expect("an order");
        assert_eq!(waited(&buffer), (second.id(), vec![]));
    }

    #[test]
    fn the_streams_of_a_shared_buffer_are_never_taken_for_one() {
        let ([first, second, _], buffer) = three();
        let one = |buffer: &Buffer| buffer.only.load(Ordering::Acquire);
        assert_eq!(one(&buffer), first.id());
        buffer.use_on(&second, Access::Read).expect("an order");
        assert_eq!(one(&buffer), SEVERAL);
        buffer.use_on(&first, Access::Write).expect("an order");
        assert_eq!(one(&buffer), first.id());
        // A graph holds the memory, and is launched on the second stream: freeing waits for it.
        buffer.hold_elsewhere();
        buffer.used_on(&second).expect("an order");
        assert_eq!(waited(&buffer), (first.id(), vec![second.id()]));
        assert_eq!(one(&buffer), SEVERAL);
    }
}

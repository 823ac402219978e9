//! Device memory that is freed when nothing uses it any more.
//!
//! A buffer belongs to the stream that allocated it. Any stream of the device may use it: the buffer
//! knows who may still be working on it, and lets a stream wait for another one only where the order
//! matters, that is read after write, write after read, write after write, and the final free. As long
//! as one stream alone uses a buffer, which is the common case, that costs one atomic load.

use crate::{Result, Stream};
use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

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
    users: Mutex<Users>,
}

/// No stream has this id.
const SEVERAL: u64 = 0;

/// The streams whose work may still use the buffer.
struct Users {
    writer: Stream,
    /// Streams that have read since the last write, other than the writer.
    readers: Vec<Stream>,
}

impl Buffer {
    /// Memory of unspecified content.
    pub(crate) fn new(stream: &Stream, bytes: usize) -> Result<Self> {
        let address = if bytes == 0 { 0 } else { stream.queue().allocate(bytes)? };
        let users = Users { writer: stream.clone(), readers: Vec::new() };
        Ok(Self {
            home: stream.clone(),
            address,
            bytes,
            only: AtomicU64::new(stream.id()),
            users: Mutex::new(users),
        })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn home(&self) -> &Stream {
        &self.home
    }

    /// Orders a use on `stream`, a stream of the same device, after the uses that it depends on.
    ///
    /// The caller enqueues the use before it gives up the tensor's borrow; a later write or free, which
    /// needs that borrow to have ended, therefore finds it in the stream.
    pub(crate) fn use_on(&self, stream: &Stream, access: Access) -> Result<()> {
        if self.only.load(Ordering::Acquire) == stream.id() {
            return Ok(());
        }
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        match access {
            Access::Read => {
                let known = users.writer.id() == stream.id()
                    || users.readers.iter().any(|reader| reader.id() == stream.id());
                if !known {
                    stream.queue().wait_for(users.writer.queue())?;
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
}

impl Users {
    /// Lets `stream` wait for every other user.
    fn wait_all(&self, stream: &Stream) -> Result<()> {
        std::iter::once(&self.writer)
            .chain(&self.readers)
            .filter(|user| user.id() != stream.id())
            .try_for_each(|user| stream.queue().wait_for(user.queue()))
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
        if users.wait_all(&self.home).is_ok() {
            self.home.queue().free(self.address);
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x} on {}", self.bytes, self.address, self.home.device().label())
    }
}

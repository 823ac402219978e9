//! Runs a checked operation on the devices, alone or with the others of its group.

#[cfg(any(feature = "cuda", feature = "emulator"))]
use super::Link;
use super::{Inner, signature::Signature};
use crate::{
    CommError, Result, Stream,
    buffer::{Access, Buffer},
};
use std::{cell::RefCell, sync::Arc};

/// Memory that an operation reads or writes.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

impl Part {
    fn overlaps(&self, other: &Self) -> bool {
        self.bytes != 0
            && other.bytes != 0
            && self.buffer.home().device() == other.buffer.home().device()
            && self.address < other.address + other.bytes as u64
            && other.address < self.address + self.bytes as u64
    }
}

/// One operation of one rank.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) rank: Arc<Inner>,
    pub(crate) stream: Stream,
    pub(crate) signature: Signature,
    pub(crate) from: Option<Part>,
    pub(crate) to: Option<Part>,
}

impl Call {
    /// Whether it writes memory that the other one reads or writes.
    fn writes_for(&self, other: &Self) -> bool {
        let used = || other.from.iter().chain(&other.to);
        self.to.iter().any(|to| used().any(|part| to.overlaps(part)))
    }

    /// How many ranks the group has.
    #[cfg(feature = "cuda")]
    pub(crate) fn ranks(&self) -> usize {
        self.rank.world_size
    }
}

thread_local! {
    /// The thread's calls since it opened a group.
    static GROUP: RefCell<Option<Vec<Call>>> = const { RefCell::new(None) };
}

/// Opens a group until it is dropped.
struct Open;

/// Restores the group's earlier number of calls when it is dropped: calls in a closure that fails or panics are not
/// done.
struct Cut {
    calls: usize,
}

impl Drop for Cut {
    fn drop(&mut self) {
        let cut = GROUP.with_borrow_mut(|group| {
            group.as_mut().map(|all| all.split_off(self.calls.min(all.len())))
        });
        // Not before: what a buffer's owner does when it is dropped may be a call.
        drop(cut);
    }
}

/// Closes the group and returns its calls.
fn taken() -> Vec<Call> {
    GROUP.with_borrow_mut(Option::take).unwrap_or_default()
}

impl Drop for Open {
    fn drop(&mut self) {
        // What was called in a closure that fails or panics is not done.
        drop(taken());
    }
}

/// See [`Comm::group`](super::Comm::group).
pub(super) fn group<U>(work: impl FnOnce() -> Result<U>) -> Result<U> {
    if let Some(calls) = GROUP.with_borrow(|group| group.as_ref().map(Vec::len)) {
        // The outer one starts all of it.
        let cut = Cut { calls };
        let result = work()?;
        std::mem::forget(cut);
        return Ok(result);
    }
    GROUP.set(Some(Vec::new()));
    let _open = Open;
    let result = work()?;
    run(&taken())?;
    Ok(result)
}

/// Starts a call, or keeps it for the end of its group.
pub(super) fn submit(call: Call) -> Result<()> {
    let grouped = GROUP.with_borrow(Option::is_some);
    let borrowed =
        |part: &Option<Part>| part.as_ref().is_some_and(|part| part.buffer.is_borrowed());
    if grouped && (borrowed(&call.from) || borrowed(&call.to)) {
        let required = "memory that stays until the group ends".to_owned();
        let actual = "memory that another library lends for one call".to_owned();
        return Err(CommError::Argument { operation: "group", required, actual }.into_error());
    }
    let kept = GROUP.with_borrow_mut(|group| match group {
        None => Some(call),
        Some(calls) => {
            calls.push(call);
            None
        }
    });
    match kept {
        None => Ok(()),
        Some(call) => run(&[call]),
    }
}

/// Starts calls that belong together.
fn run(calls: &[Call]) -> Result<()> {
    let Some(first) = calls.first() else { return Ok(()) };
    if calls
        .iter()
        .any(|call| call.stream.device().is_emulator() != first.stream.device().is_emulator())
    {
        let required = "ranks on GPUs, or ranks on emulated devices".to_owned();
        let actual = "both".to_owned();
        return Err(CommError::Argument { operation: "group", required, actual }.into_error());
    }
    for (at, call) in calls.iter().enumerate() {
        let depends = |other: &&Call| call.writes_for(other) || other.writes_for(call);
        if let Some(other) = calls[..at].iter().find(depends) {
            let required = "operations that do not depend on one another".to_owned();
            let names = [call, other].map(|call| call.signature.operation.name());
            let actual = format!("{}, and {} on the same elements", names[1], names[0]);
            return Err(CommError::Argument { operation: "group", required, actual }.into_error());
        }
    }
    for call in calls {
        let recorded = call.stream.recording();
        let apart = calls.len() > 1
            && recorded.or(first.stream.recording()).is_some()
            && call.stream.id() != first.stream.id();
        if apart {
            let required = "calls on one stream while they are recorded into a graph".to_owned();
            let actual = "calls on several".to_owned();
            return Err(CommError::Argument { operation: "group", required, actual }.into_error());
        }
        match recorded {
            Some(recording) => recording.require_open()?,
            None => call.stream.queue().require_usable()?,
        }
    }
    for call in calls {
        if let Some(from) = &call.from {
            call.stream.begin_use(&from.buffer, Access::Read)?;
        }
        if let Some(to) = &call.to {
            call.stream.begin_use(&to.buffer, Access::Write)?;
        }
    }
    start(calls, first)?;
    for call in calls {
        for part in [&call.from, &call.to].into_iter().flatten() {
            call.stream.end_use(&part.buffer)?;
        }
    }
    Ok(())
}

/// Passes the calls to their back end; no group has `Comm`s of both kinds.
fn start(calls: &[Call], first: &Call) -> Result<()> {
    match first.rank.link {
        #[cfg(feature = "cuda")]
        Link::Cuda(_) => crate::cuda::nccl::start(calls),
        #[cfg(feature = "emulator")]
        Link::Emulator(_) => super::emulated::start(calls, first),
    }
}

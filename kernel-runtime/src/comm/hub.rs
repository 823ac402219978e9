//! Where the ranks of a group meet: in the process of rank 0, or in the only one.
//!
//! Each rank posts its requests in its own order. When all ranks have posted their n-th request, the requests are
//! compared, and each rank gets its answer. Sends and receives are matched in pairs, with a separate order for each
//! pair. Any failure ends the group for all ranks: no rank is left waiting for one that does not come.

use super::{
    seat::Inbox,
    signature::{Operation, Signature},
    wire::Frame,
};
use crate::CommError;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

/// Computes what each rank gets from what each rank has given, by rank.
pub(crate) type Combine = fn(&Signature, Vec<Vec<u8>>) -> Vec<Vec<u8>>;

/// What ends when a rank's process is gone without leaving the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The group: NCCL's kernels may be waiting for the rank, and nothing else tells them.
    #[cfg(feature = "cuda")]
    Group,
    /// Only later requests that need the rank. Its earlier posts stay valid.
    #[cfg(feature = "emulator")]
    Needed,
}

/// The reason for a rank that has left in order.
pub(crate) const HAS_LEFT: &str = "it has left the group";

/// The ticket of a post that is only compared.
pub(crate) const UNANSWERED: u64 = u64::MAX;

/// The post of a rank.
#[derive(Debug)]
pub(crate) struct Post {
    /// The number under which the rank waits for the answer; [`UNANSWERED`] if it does not wait.
    pub(crate) ticket: u64,
    pub(crate) signature: Signature,
    pub(crate) payload: Vec<u8>,
}

/// How answers reach a rank.
#[derive(Debug)]
pub(crate) enum Way {
    /// It is in this process.
    Local(Arc<Inbox>),
    /// A thread writes them to the rank's process.
    Remote(mpsc::Sender<Outgoing>),
}

/// A request to the thread that writes to a rank's process.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Frame(Frame),
    /// Asks for an answer when everything before is written.
    Flush(mpsc::Sender<()>),
}

/// The meeting point of a group.
pub(crate) struct Hub {
    combine: Combine,
    state: Mutex<State>,
}

struct State {
    ways: Vec<Way>,
    /// How many collectives each rank has posted.
    next: Vec<u64>,
    /// Collectives that some ranks have posted, by their number.
    open: BTreeMap<u64, Vec<Option<Post>>>,
    /// Sends and receives that wait for one another, by the ranks from and to.
    pairs: BTreeMap<(usize, usize), Pair>,
    /// Ranks that are gone, and why.
    left: Vec<Option<String>>,
    failed: Option<CommError>,
}

#[derive(Default)]
struct Pair {
    sends: VecDeque<Post>,
    recvs: VecDeque<Post>,
}

impl Hub {
    /// A meeting point with one rank for each way.
    pub(crate) fn new(ways: Vec<Way>, combine: Combine) -> Self {
        let ranks = ways.len();
        let state = State {
            ways,
            next: vec![0; ranks],
            open: BTreeMap::new(),
            pairs: BTreeMap::new(),
            left: vec![None; ranks],
            failed: None,
        };
        Self { combine, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a request of `rank`.
    pub(crate) fn post(&self, rank: usize, post: Post) {
        let mut state = self.lock();
        if state.failed.is_some() {
            return; // everybody has been told
        }
        let ranks = state.ways.len();
        let result = match post.signature.operation {
            Operation::Send { to: other } | Operation::Recv { from: other } if other >= ranks => {
                // `Comm` has checked it in its own process.
                Err(CommError::Lost { rank, cause: format!("it asks for rank {other}") })
            }
            Operation::Send { to } => state.pair(rank, (rank, to), post),
            Operation::Recv { from } => state.pair(rank, (from, rank), post),
            Operation::AllReduce(_)
            | Operation::AllGather
            | Operation::ReduceScatter(_)
            | Operation::Broadcast { .. }
            | Operation::AllToAll
            | Operation::Barrier => state.collective(rank, post, self.combine),
        };
        if let Err(error) = result {
            state.fail(&error);
        }
    }

    /// Ends the group for all ranks.
    pub(crate) fn fail(&self, error: &CommError) {
        self.lock().fail(error);
    }

    /// Marks a rank as gone: ranks that need it from now on get an error.
    pub(crate) fn leave(&self, rank: usize, why: &str) {
        let mut state = self.lock();
        state.left[rank] = Some(why.to_owned());
        let collective = state.open.values().any(|posts| posts[rank].is_none());
        let paired = state.pairs.iter().any(|((from, to), pair)| {
            (*from == rank && !pair.recvs.is_empty()) || (*to == rank && !pair.sends.is_empty())
        });
        if collective || paired {
            let error = state.gone(rank);
            state.fail(&error);
        }
    }

    /// Writes all answers so far to other processes, and waits for that up to the limit: the process may end
    /// afterwards.
    pub(crate) fn flush(&self, limit: Duration) {
        let (done, all_done) = mpsc::channel();
        for writer in self.writers() {
            let _ = writer.send(Outgoing::Flush(done.clone()));
        }
        drop(done);
        let start = Instant::now();
        while let Some(left) = limit.checked_sub(start.elapsed())
            && all_done.recv_timeout(left).is_ok()
        {}
    }

    /// A rank's time limit has passed: the group ends, and the error names the ranks that it has waited for.
    pub(crate) fn expire(&self, rank: usize, ticket: u64, signature: &Signature, seconds: String) {
        let mut state = self.lock();
        let missing = state.missing(rank, ticket, signature);
        let operation = signature.to_string();
        let cause = match missing.as_slice() {
            // The answer is on its way, or the group has failed.
            [] => return,
            [one] => format!("rank {one} has not called it"),
            several => {
                let list: Vec<_> = several.iter().map(ToString::to_string).collect();
                format!("ranks {} have not called it", list.join(", "))
            }
        };
        state.fail(&CommError::Timeout { operation, seconds, cause });
    }

    /// Tells the other processes that this one leaves in order.
    pub(crate) fn goodbye(&self) {
        for writer in self.writers() {
            let _ = writer.send(Outgoing::Frame(Frame::Goodbye));
        }
    }

    /// The threads that write to other processes.
    fn writers(&self) -> Vec<mpsc::Sender<Outgoing>> {
        let state = self.lock();
        let remote = |way: &Way| match way {
            Way::Local(_) => None,
            Way::Remote(writer) => Some(writer.clone()),
        };
        state.ways.iter().filter_map(remote).collect()
    }
}

impl State {
    fn fail(&mut self, error: &CommError) {
        if self.failed.is_some() {
            return;
        }
        self.failed = Some(error.clone());
        self.open.clear();
        self.pairs.clear();
        for way in &self.ways {
            match way {
                Way::Local(inbox) => inbox.fail(error.clone()),
                // A rank whose process is gone needs no answer.
                Way::Remote(writer) => {
                    let _ = writer.send(Outgoing::Frame(Frame::Failed(error.clone())));
                }
            }
        }
    }

    fn answer(&self, rank: usize, ticket: u64, payload: Vec<u8>) {
        if ticket == UNANSWERED {
            return;
        }
        match &self.ways[rank] {
            Way::Local(inbox) => inbox.deliver(ticket, payload),
            Way::Remote(writer) => {
                let _ = writer.send(Outgoing::Frame(Frame::Answer { ticket, payload }));
            }
        }
    }

    fn collective(&mut self, rank: usize, post: Post, combine: Combine) -> Result<(), CommError> {
        let number = self.next[rank];
        self.next[rank] += 1;
        let ranks = self.ways.len();
        let posts = self.open.entry(number).or_insert_with(|| (0..ranks).map(|_| None).collect());
        let other = posts.iter().enumerate().find_map(|(r, post)| Some((r, post.as_ref()?)));
        if let Some((other, theirs)) = other {
            agree((rank, &post.signature), (other, &theirs.signature))?;
        }
        posts[rank] = Some(post);
        let absent = (0..ranks).find(|rank| posts[*rank].is_none() && self.left[*rank].is_some());
        if let Some(absent) = absent {
            return Err(self.gone(absent));
        }
        if posts.iter().any(Option::is_none) {
            return Ok(());
        }
        let posts: Vec<Post> = self.open.remove(&number).into_iter().flatten().flatten().collect();
        let signature = posts[rank].signature;
        let tickets: Vec<u64> = posts.iter().map(|post| post.ticket).collect();
        let given = posts.into_iter().map(|post| post.payload).collect();
        for (rank, payload) in combine(&signature, given).into_iter().enumerate() {
            self.answer(rank, tickets[rank], payload);
        }
        Ok(())
    }

    fn pair(
        &mut self,
        rank: usize,
        (from, to): (usize, usize),
        post: Post,
    ) -> Result<(), CommError> {
        let pair = self.pairs.entry((from, to)).or_default();
        let is_send = matches!(post.signature.operation, Operation::Send { .. });
        let list = if is_send { &mut pair.sends } else { &mut pair.recvs };
        list.push_back(post);
        let (Some(send), Some(recv)) = (pair.sends.front(), pair.recvs.front()) else {
            let other = if rank == from { to } else { from };
            return if self.left[other].is_some() { Err(self.gone(other)) } else { Ok(()) };
        };
        agree((from, &send.signature), (to, &recv.signature))?;
        let met = (pair.sends.pop_front(), pair.recvs.pop_front());
        let (Some(send), Some(recv)) = met else { unreachable!("both were at the front") };
        self.answer(to, recv.ticket, send.payload);
        self.answer(from, send.ticket, Vec::new());
        Ok(())
    }

    fn gone(&self, rank: usize) -> CommError {
        let cause = self.left[rank].clone().unwrap_or_else(|| HAS_LEFT.to_owned());
        CommError::Lost { rank, cause }
    }

    /// The ranks that the rank's post waits for.
    fn missing(&self, rank: usize, ticket: u64, signature: &Signature) -> Vec<usize> {
        let waits = |posts: &VecDeque<Post>| posts.iter().any(|post| post.ticket == ticket);
        let pair = |key, other, list: fn(&Pair) -> &VecDeque<Post>| {
            let waiting = self.pairs.get(&key).is_some_and(|pair| waits(list(pair)));
            if waiting { vec![other] } else { Vec::new() }
        };
        match signature.operation {
            Operation::Send { to } => pair((rank, to), to, |pair| &pair.sends),
            Operation::Recv { from } => pair((from, rank), from, |pair| &pair.recvs),
            Operation::AllReduce(_)
            | Operation::AllGather
            | Operation::ReduceScatter(_)
            | Operation::Broadcast { .. }
            | Operation::AllToAll
            | Operation::Barrier => {
                let own = |posts: &&Vec<Option<Post>>| {
                    posts[rank].as_ref().is_some_and(|post| post.ticket == ticket)
                };
                let posts = self.open.values().find(own);
                let posts = posts.into_iter().flatten().enumerate();
                posts.filter(|(_, post)| post.is_none()).map(|(rank, _)| rank).collect()
            }
        }
    }
}

fn agree(
    (rank, actual): (usize, &Signature),
    (other, required): (usize, &Signature),
) -> Result<(), CommError> {
    if actual.agrees_with(required) {
        return Ok(());
    }
    let (actual, required) = (actual.to_string(), required.to_string());
    Err(CommError::Mismatch { rank, actual, other, required })
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "meeting point of {} ranks", self.lock().ways.len())
    }
}

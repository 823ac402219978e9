//! A rank's seat at the meeting point: it posts requests and waits for answers.

#[cfg(feature = "cuda")]
use super::hub::UNANSWERED;
use super::{
    hub::{HAS_LEFT, Hub, Post},
    signature::Signature,
    wire::Frame,
};
use crate::CommError;
use std::{
    collections::BTreeMap,
    io,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How long a rank waits, after its limit, to be told by rank 0 who has not come.
const GRACE: Duration = Duration::from_secs(5);

/// Answers that have arrived for a rank.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    state: Mutex<Answers>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Answers {
    by_ticket: BTreeMap<u64, Vec<u8>>,
    failed: Option<CommError>,
    /// Why no more answers come, if nothing has failed.
    closed: Option<String>,
}

impl Answers {
    /// Why no more answers come.
    fn over(&self) -> Option<CommError> {
        let closed = |cause: &String| CommError::Lost { rank: 0, cause: cause.clone() };
        self.failed.clone().or_else(|| self.closed.as_ref().map(closed))
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn deliver(&self, ticket: u64, payload: Vec<u8>) {
        self.lock().by_ticket.insert(ticket, payload);
        self.arrived.notify_all();
    }

    /// Every wait from now on fails; the first reason stays.
    pub(crate) fn fail(&self, error: CommError) {
        self.lock().failed.get_or_insert(error);
        self.arrived.notify_all();
    }

    /// Every wait from now on for an answer that has not arrived fails.
    pub(crate) fn close(&self, why: &str) {
        self.lock().closed.get_or_insert_with(|| why.to_owned());
        self.arrived.notify_all();
    }

    pub(crate) fn failure(&self) -> Option<CommError> {
        self.lock().failed.clone()
    }

    /// The answer, or why there is none; `None` if neither has arrived in time.
    fn wait(&self, ticket: u64, limit: Duration) -> Option<Result<Vec<u8>, CommError>> {
        let start = Instant::now();
        let mut answers = self.lock();
        loop {
            if let Some(payload) = answers.by_ticket.remove(&ticket) {
                return Some(Ok(payload));
            }
            if let Some(error) = answers.over() {
                return Some(Err(error));
            }
            let left = limit.checked_sub(start.elapsed())?;
            let woken = self.arrived.wait_timeout(answers, left);
            (answers, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// How a rank reaches the meeting point.
#[derive(Debug)]
pub(crate) enum Reach {
    /// It is in this process.
    Here(Arc<Hub>),
    /// It is in rank 0's process, which reads this connection.
    There(Mutex<TcpStream>),
}

/// The seat of a rank.
#[derive(Debug)]
pub(crate) struct Seat {
    rank: usize,
    next_ticket: AtomicU64,
    /// How long the rank waits for others, in nanoseconds.
    limit: AtomicU64,
    inbox: Arc<Inbox>,
    reach: Reach,
}

impl Seat {
    pub(crate) fn new(rank: usize, inbox: Arc<Inbox>, reach: Reach) -> Self {
        let (next_ticket, limit) = (AtomicU64::new(0), AtomicU64::new(0));
        let seat = Self { rank, next_ticket, limit, inbox, reach };
        seat.set_limit(super::DEFAULT_LIMIT);
        seat
    }

    pub(crate) fn set_limit(&self, limit: Duration) {
        let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.limit.store(nanoseconds, Ordering::Relaxed);
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn limit(&self) -> Duration {
        Duration::from_nanos(self.limit.load(Ordering::Relaxed))
    }

    /// Why the group is over, if it is.
    pub(crate) fn failure(&self) -> Option<CommError> {
        self.inbox.failure()
    }

    /// Where the reason is reported when the group is over, for those that outlive this seat.
    #[cfg(feature = "cuda")]
    pub(crate) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    /// Posts a request of the rank; wait for the answer with the number that it returns.
    pub(crate) fn post(&self, signature: Signature, payload: Vec<u8>) -> Result<u64, CommError> {
        if let Some(error) = self.inbox.lock().over() {
            return Err(error);
        }
        let ticket = self.next_ticket.fetch_add(1, Ordering::Relaxed);
        match &self.reach {
            Reach::Here(hub) => hub.post(self.rank, Post { ticket, signature, payload }),
            Reach::There(stream) => {
                self.send(stream, &Frame::Post { ticket, signature, payload })?;
            }
        }
        Ok(ticket)
    }

    /// Posts a request of the rank that is only compared with those of the others: if it differs, the group fails. A
    /// failure to compare is not an error of this operation.
    #[cfg(feature = "cuda")]
    pub(crate) fn tell(&self, signature: Signature) {
        if self.inbox.lock().over().is_some() {
            return;
        }
        let (ticket, payload) = (UNANSWERED, Vec::new());
        match &self.reach {
            Reach::Here(hub) => hub.post(self.rank, Post { ticket, signature, payload }),
            Reach::There(stream) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                // The thread that reads finds out whether rank 0 is lost or has left in order.
                let _ = self.write(&mut stream, &Frame::Post { ticket, signature, payload });
            }
        }
    }

    /// Waits for the answer to a post.
    pub(crate) fn wait(&self, ticket: u64, signature: &Signature) -> Result<Vec<u8>, CommError> {
        let limit = self.limit();
        if let Some(answer) = self.inbox.wait(ticket, limit) {
            if let Reach::Here(hub) = &self.reach {
                // This process may end when it has its answer, and those of the others with it.
                hub.flush(limit);
            }
            return answer;
        }
        let seconds = limit.as_secs_f64().to_string();
        match &self.reach {
            Reach::Here(hub) => hub.expire(self.rank, ticket, signature, seconds.clone()),
            Reach::There(stream) => {
                let frame =
                    Frame::Expired { ticket, signature: *signature, seconds: seconds.clone() };
                self.send(stream, &frame)?;
            }
        }
        self.inbox.wait(ticket, GRACE).unwrap_or_else(|| {
            let cause = "rank 0, where the ranks meet, does not answer".to_owned();
            let error = CommError::Timeout { operation: signature.to_string(), seconds, cause };
            self.fail(error.clone());
            Err(error)
        })
    }

    /// Ends the group for all ranks.
    pub(crate) fn fail(&self, error: CommError) {
        self.inbox.fail(error.clone());
        match &self.reach {
            Reach::Here(hub) => hub.fail(&error),
            Reach::There(stream) => {
                // Without a connection the group is over for the others as well.
                let _ = self.send(stream, &Frame::Failed(error));
            }
        }
    }

    fn send(&self, stream: &Mutex<TcpStream>, frame: &Frame) -> Result<(), CommError> {
        let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(&mut stream, frame).map_err(|error| {
            // The other direction may have said why.
            let lost = CommError::Lost { rank: 0, cause: error.to_string() };
            self.inbox.fail(lost.clone());
            self.failure().unwrap_or(lost)
        })
    }

    fn write(&self, stream: &mut TcpStream, frame: &Frame) -> io::Result<()> {
        // A rank 0 that reads nothing keeps nobody longer than the limit.
        let limit = self.limit().max(Duration::from_millis(1));
        let bounded = stream.set_write_timeout(Some(limit));
        bounded.and_then(|()| frame.write(stream)).inspect_err(|_| {
            // What was cut off cannot go on.
            let _ = stream.shutdown(Shutdown::Both);
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        match &self.reach {
            Reach::Here(hub) => {
                hub.leave(self.rank, HAS_LEFT);
                hub.goodbye();
                // The process may end now: what others wait for goes out first.
                hub.flush(self.limit());
            }
            Reach::There(stream) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = stream.set_write_timeout(Some(GRACE));
                // Whether rank 0 hears it or finds the connection closed, it knows.
                let _ = Frame::Goodbye.write(&mut *stream);
                let _ = stream.shutdown(Shutdown::Write);
            }
        }
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::{
        super::{hub::Way, signature::Operation},
        *,
    };

    fn pair() -> [Seat; 2] {
        let inboxes = [0, 1].map(|_| Arc::new(Inbox::default()));
        let ways = inboxes.iter().map(|inbox| Way::Local(Arc::clone(inbox))).collect();
        let hub = Arc::new(Hub::new(ways, |_, given| given));
        let mut rank = 0..;
        inboxes.map(|inbox| {
            let rank = rank.next().expect("there is no end");
            Seat::new(rank, inbox, Reach::Here(Arc::clone(&hub)))
        })
    }

    fn gather(count: usize) -> Signature {
        Signature { operation: Operation::AllGather, dtype: "f32", count }
    }

    #[test]
    fn what_ranks_tell_is_compared_without_an_answer() {
        let [first, second] = pair();
        for count in [1, 2] {
            first.tell(gather(count));
            second.tell(gather(count));
        }
        assert!(first.inbox.lock().by_ticket.is_empty(), "nobody takes answers out");
        assert_eq!(first.failure(), None);
        first.tell(gather(3));
        second.tell(gather(4));
        let failure = Some(CommError::Mismatch {
            rank: 1,
            actual: "all_gather of 4 f32 a rank".to_owned(),
            other: 0,
            required: "all_gather of 3 f32 a rank".to_owned(),
        });
        assert_eq!((first.failure(), second.failure()), (failure.clone(), failure));
    }

    #[test]
    fn a_rank_that_waits_for_its_answer_gets_it_from_one_that_does_not() {
        let [first, second] = pair();
        let ticket = first.post(gather(1), Vec::new()).expect("the group is there");
        second.tell(gather(1));
        assert_eq!(first.wait(ticket, &gather(1)), Ok(Vec::new()));
    }

    #[test]
    fn what_is_not_told_by_one_rank_alone_is_missed_when_it_leaves() {
        let [first, second] = pair();
        first.tell(gather(1));
        assert_eq!(first.failure(), None);
        drop(second);
        let left = CommError::Lost { rank: 1, cause: HAS_LEFT.to_owned() };
        assert_eq!(first.failure(), Some(left));
    }

    #[test]
    fn a_rank_that_leaves_ends_what_it_has_not_told() {
        let [first, second] = pair();
        first.tell(gather(1));
        second.tell(gather(1));
        drop(second);
        assert_eq!(first.failure(), None);
        first.tell(gather(2));
        assert!(matches!(first.failure(), Some(CommError::Lost { rank: 1, .. })));
    }
}

//! The messages between two processes of a group.
//!
//! A frame is its kind (one byte), the length of its body (eight bytes, little-endian), and the body. Incoming texts
//! and numbers are checked: the other end may have another version, or be another program.

use super::signature::{SIGNATURE_BYTES, Signature};
use crate::CommError;
use std::io::{self, Read, Write};

/// The most bytes of a frame without elements.
const LARGEST_PLAIN: u64 = 1 << 16;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// To rank 0: who has come, and for what.
    Hello(Hello),
    /// From rank 0: all ranks are there. NCCL's ranks get its unique id, others nothing.
    Welcome(Vec<u8>),
    /// From rank 0: the rank cannot take part, and why.
    Refused(String),
    /// To rank 0: a request of a rank.
    Post { ticket: u64, signature: Signature, payload: Vec<u8> },
    /// From rank 0: the answer to it.
    Answer { ticket: u64, payload: Vec<u8> },
    /// To rank 0: there was no answer within the rank's limit.
    Expired { ticket: u64, signature: Signature, seconds: String },
    /// Either way: the group is over.
    Failed(CommError),
    /// Either way: the rank leaves in order.
    Goodbye,
}

/// How a rank introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) rank: u64,
    pub(crate) world_size: u64,
    /// What moves the elements: `emulator`, or `NCCL` with its version.
    pub(crate) kind: String,
    /// The launcher's name for the job, so that two jobs do not meet.
    pub(crate) job: String,
}

/// The first bytes of a [`Hello`]; the number is that of this protocol.
const MAGIC: &[u8] = b"kiln comm 1\n";

impl Frame {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        // Elements are written from where they are.
        let mut elements: &[u8] = &[];
        let kind = match self {
            Self::Hello(Hello { rank, world_size, kind, job }) => {
                body.extend_from_slice(MAGIC);
                put_number(&mut body, *rank);
                put_number(&mut body, *world_size);
                put_text(&mut body, kind);
                put_text(&mut body, job);
                0
            }
            Self::Welcome(id) => {
                body.extend_from_slice(id);
                1
            }
            Self::Refused(why) => {
                put_text(&mut body, why);
                2
            }
            Self::Post { ticket, signature, payload } => {
                put_number(&mut body, *ticket);
                body.extend_from_slice(&signature.to_bytes());
                elements = payload;
                3
            }
            Self::Answer { ticket, payload } => {
                put_number(&mut body, *ticket);
                elements = payload;
                4
            }
            Self::Expired { ticket, signature, seconds } => {
                put_number(&mut body, *ticket);
                body.extend_from_slice(&signature.to_bytes());
                put_text(&mut body, seconds);
                5
            }
            Self::Failed(error) => {
                put_error(&mut body, error);
                6
            }
            Self::Goodbye => 7,
        };
        let length = (body.len() + elements.len()) as u64;
        let mut head = vec![kind];
        put_number(&mut head, length);
        head.extend_from_slice(&body);
        to.write_all(&head)?;
        to.write_all(elements)?;
        to.flush()
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        Self::read_if(from, |kind| matches!(kind, 3 | 4))
    }

    /// From somebody who is not known yet: nothing that may be large.
    pub(crate) fn read_plain(from: &mut impl Read) -> io::Result<Self> {
        Self::read_if(from, |_| false)
    }

    fn read_if(from: &mut impl Read, may_be_large: impl Fn(u8) -> bool) -> io::Result<Self> {
        let mut head = [0; 9];
        from.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u64::from_le_bytes(length);
        if !may_be_large(kind) && length > LARGEST_PLAIN {
            return Err(malformed());
        }
        // Grows as bytes come, whatever the length says.
        let mut body = Vec::new();
        from.take(length).read_to_end(&mut body)?;
        if body.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Self::parse(kind, body).ok_or_else(malformed)
    }

    fn parse(kind: u8, body: Vec<u8>) -> Option<Self> {
        let mut rest = &body[..];
        let frame = match kind {
            0 => {
                rest = rest.strip_prefix(MAGIC)?;
                let (rank, world_size) = (number(&mut rest)?, number(&mut rest)?);
                let (kind, job) = (text(&mut rest)?, text(&mut rest)?);
                Self::Hello(Hello { rank, world_size, kind, job })
            }
            1 => return Some(Self::Welcome(body)),
            2 => Self::Refused(text(&mut rest)?),
            3 => {
                let ticket = number(&mut rest)?;
                let signature = signature(&mut rest)?;
                return Some(Self::Post { ticket, signature, payload: rest.to_vec() });
            }
            4 => {
                let ticket = number(&mut rest)?;
                return Some(Self::Answer { ticket, payload: rest.to_vec() });
            }
            5 => {
                let ticket = number(&mut rest)?;
                let signature = signature(&mut rest)?;
                Self::Expired { ticket, signature, seconds: text(&mut rest)? }
            }
            6 => Self::Failed(error(&mut rest)?),
            7 => Self::Goodbye,
            _ => return None,
        };
        rest.is_empty().then_some(frame)
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what came is not from a rank of this version")
}

fn put_number(body: &mut Vec<u8>, value: u64) {
    body.extend_from_slice(&value.to_le_bytes());
}

fn put_text(body: &mut Vec<u8>, text: &str) {
    put_number(body, text.len() as u64);
    body.extend_from_slice(text.as_bytes());
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (value, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*value))
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    String::from_utf8(text.to_vec()).ok()
}

fn signature(rest: &mut &[u8]) -> Option<Signature> {
    let (bytes, after) = rest.split_first_chunk::<SIGNATURE_BYTES>()?;
    *rest = after;
    Signature::from_bytes(bytes)
}

/// Other ranks see an error of one rank as the loss of that rank.
fn put_error(body: &mut Vec<u8>, error: &CommError) {
    let mut put = |kind: u64, numbers: &[usize], texts: &[&str]| {
        put_number(body, kind);
        for number in numbers {
            put_number(body, *number as u64);
        }
        for text in texts {
            put_text(body, text);
        }
    };
    match error {
        CommError::Mismatch { rank, actual, other, required } => {
            put(0, &[*rank, *other], &[actual, required]);
        }
        CommError::Lost { rank, cause } => put(1, &[*rank], &[cause]),
        CommError::Timeout { operation, seconds, cause } => {
            put(2, &[], &[operation, seconds, cause]);
        }
        CommError::Aborted { rank } => put(3, &[*rank], &[]),
        CommError::Nccl { device, call, code, message } => {
            put(4, &[*code as usize], &[device, call, message]);
        }
        CommError::Driver { device, cause } => {
            let message = format!("{}, {}", cause.name, cause.message);
            put(4, &[cause.code as usize], &[device, cause.call, &message]);
        }
        CommError::Library { .. }
        | CommError::Variable { .. }
        | CommError::Rendezvous { .. }
        | CommError::Argument { .. } => {
            unreachable!("these end no group that has come together: see `CommError`")
        }
    }
}

fn error(rest: &mut &[u8]) -> Option<CommError> {
    let kind = number(rest)?;
    let mut count = || usize::try_from(number(rest)?).ok();
    Some(match kind {
        0 => {
            let (rank, other) = (count()?, count()?);
            let (actual, required) = (text(rest)?, text(rest)?);
            CommError::Mismatch { rank, actual, other, required }
        }
        1 => CommError::Lost { rank: count()?, cause: text(rest)? },
        2 => {
            let (operation, seconds) = (text(rest)?, text(rest)?);
            CommError::Timeout { operation, seconds, cause: text(rest)? }
        }
        3 => CommError::Aborted { rank: count()? },
        4 => {
            let code = u32::try_from(count()?).ok()?;
            let (device, call) = (text(rest)?, text(rest)?);
            let message = format!("{call}: {}", text(rest)?);
            CommError::Nccl { device, call: "of another rank", code, message }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{ReduceOp, signature::Operation};

    fn frames() -> Vec<Frame> {
        let operation = Operation::ReduceScatter(ReduceOp::Max);
        let signature = Signature { operation, dtype: "ue8m0", count: 7 };
        let (kind, job) = ("emulator".to_owned(), "job 12".to_owned());
        let lost = CommError::Lost { rank: 3, cause: "gone".to_owned() };
        let texts = ["a", "b"].map(str::to_owned);
        let [actual, required] = texts;
        let mismatch = CommError::Mismatch { rank: 1, actual, other: 0, required };
        vec![
            Frame::Hello(Hello { rank: 1, world_size: 4, kind, job }),
            Frame::Welcome(vec![1, 2, 3]),
            Frame::Refused("no".to_owned()),
            Frame::Post { ticket: 5, signature, payload: vec![9; 70_000] },
            Frame::Answer { ticket: 6, payload: vec![] },
            Frame::Expired { ticket: 7, signature, seconds: "0.5".to_owned() },
            Frame::Failed(lost),
            Frame::Failed(mismatch),
            Frame::Failed(CommError::Aborted { rank: 2 }),
            Frame::Goodbye,
        ]
    }

    #[test]
    fn frames_come_out_as_they_went_in() -> io::Result<()> {
        let mut bytes = Vec::new();
        for frame in frames() {
            frame.write(&mut bytes)?;
        }
        let mut rest = &bytes[..];
        for frame in frames() {
            assert_eq!(Frame::read(&mut rest)?, frame);
        }
        assert!(rest.is_empty());
        Ok(())
    }

    /// Each frame cut off anywhere, or with any byte of its head or first fields changed, is an error or another frame, never a panic or a
    /// large allocation.
    #[test]
    fn broken_frames_are_errors() {
        for frame in frames() {
            let mut bytes = Vec::new();
            frame.write(&mut bytes).expect("a Vec takes all");
            for end in 0..bytes.len().min(200) {
                assert!(Frame::read(&mut &bytes[..end]).is_err(), "{frame:?} cut at {end}");
            }
            for at in 0..bytes.len().min(60) {
                let mut changed = bytes.clone();
                changed[at] ^= 0xA5;
                if let Ok(other) = Frame::read(&mut &changed[..]) {
                    assert_ne!(other, frame, "byte {at}");
                }
            }
        }
    }
}

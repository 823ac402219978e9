//! How the processes of a group find one another: rank 0 listens at an address, the others connect.

use super::{
    hub::{Combine, HAS_LEFT, Hub, Loss, Outgoing, Post, Way},
    rendezvous::Rendezvous,
    seat::{Inbox, Reach, Seat},
    wire::{Frame, Hello},
};
use crate::CommError;
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

/// The pause between two checks for connections.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a connection may take to identify itself.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// Takes a rank's seat once all ranks have come, with what rank 0 has for all of them.
pub(crate) fn meet(
    place: &Rendezvous,
    kind: &str,
    combine: Combine,
    loss: Loss,
    gift: impl FnOnce() -> Result<Vec<u8>, CommError>,
) -> Result<(Seat, Vec<u8>), CommError> {
    let (seat, gift) = if place.rank == 0 {
        host(place, kind, combine, loss, gift)?
    } else {
        join(place, kind, loss)?
    };
    seat.set_limit(place.timeout);
    Ok((seat, gift))
}

fn failed(place: &Rendezvous, required: impl Into<String>, actual: impl Into<String>) -> CommError {
    CommError::Rendezvous {
        rank: place.rank,
        address: place.address.clone(),
        required: required.into(),
        actual: actual.into(),
    }
}

fn hello(place: &Rendezvous, kind: &str) -> Hello {
    let (rank, world_size) = (place.rank as u64, place.world_size as u64);
    Hello { rank, world_size, kind: kind.to_owned(), job: place.job.clone() }
}

/// Listens at the address; if it is not one of this machine's own (a name that others use for it), at all of its
/// addresses. It does the same if the name resolves only to the loopback address, as the own name of many machines
/// does, although others reach them by that name.
fn listen(place: &Rendezvous) -> io::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = place.address.to_socket_addrs()?.collect();
    let host = place.address.rsplit_once(':').map_or("", |(host, _)| host);
    let is_meant = host == "localhost" || place.address.parse::<SocketAddr>().is_ok();
    if !is_meant && addresses.iter().all(|address| address.ip().is_loopback()) {
        let port = addresses.first().map_or(0, SocketAddr::port);
        return TcpListener::bind((Ipv4Addr::UNSPECIFIED, port));
    }
    match TcpListener::bind(&addresses[..]) {
        Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
            let port = addresses.first().map_or(0, SocketAddr::port);
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
        }
        bound => bound,
    }
}

/// Rank 0's part.
fn host(
    place: &Rendezvous,
    kind: &str,
    combine: Combine,
    loss: Loss,
    gift: impl FnOnce() -> Result<Vec<u8>, CommError>,
) -> Result<(Seat, Vec<u8>), CommError> {
    let own = hello(place, kind);
    let mut streams: Vec<Option<TcpStream>> = (0..place.world_size).map(|_| None).collect();
    if place.world_size > 1 {
        let listener = listen(place).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(|error| failed(place, "to listen", error.to_string()))?;
        if let Err(error) = gather(place, &own, &listener, &mut streams) {
            refuse_all(&streams, &error);
            return Err(error);
        }
    }
    let gift = gift().inspect_err(|error| refuse_all(&streams, error))?;
    let inbox = Arc::new(Inbox::default());
    let mut ways = vec![Way::Local(Arc::clone(&inbox))];
    let mut readers = Vec::new();
    for (rank, stream) in streams.into_iter().enumerate().skip(1) {
        let stream = stream.expect("`gather` has waited for all of them");
        let (writer, outgoing) = mpsc::channel();
        let started = stream.try_clone().and_then(|stream| {
            let name = format!("kiln-comm-to-{rank}");
            thread::Builder::new().name(name).spawn(move || write_all(stream, &outgoing))
        });
        started.map_err(|error| failed(place, "a thread for each rank", error.to_string()))?;
        // The channel keeps the order: nothing goes out before the welcome.
        let _ = writer.send(Outgoing::Frame(Frame::Welcome(gift.clone())));
        ways.push(Way::Remote(writer));
        readers.push((rank, stream));
    }
    let hub = Arc::new(Hub::new(ways, combine));
    for (rank, stream) in readers {
        let hub = Arc::clone(&hub);
        let name = format!("kiln-comm-from-{rank}");
        let started =
            thread::Builder::new().name(name).spawn(move || serve(&hub, rank, stream, loss));
        started.map_err(|error| failed(place, "a thread for each rank", error.to_string()))?;
    }
    Ok((Seat::new(0, inbox, Reach::Here(hub)), gift))
}

/// Lets all ranks in, until the last has come.
fn gather(
    place: &Rendezvous,
    own: &Hello,
    listener: &TcpListener,
    streams: &mut [Option<TcpStream>],
) -> Result<(), CommError> {
    let start = Instant::now();
    let (introduced, introductions) = mpsc::channel();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                // Somebody who says nothing does not keep the others waiting.
                let introduced = introduced.clone();
                let listen = move || {
                    if let Ok(hello) = introduction(&stream) {
                        let _ = introduced.send((hello, stream));
                    }
                };
                let name = "kiln-comm-door".to_owned();
                let _ = thread::Builder::new().name(name).spawn(listen);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            // A connection that was given up before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(failed(place, "to listen", error.to_string())),
        }
        while let Ok((hello, stream)) = introductions.try_recv() {
            admit(place, own, &hello, stream, streams)?;
        }
        if streams.iter().skip(1).all(Option::is_some) {
            return Ok(());
        }
        if start.elapsed() >= place.timeout {
            let ranks = |came: bool| {
                let ranks = streams.iter().enumerate();
                let ranks = ranks.filter(|(rank, stream)| (*rank == 0 || stream.is_some()) == came);
                let ranks: Vec<_> = ranks.map(|(rank, _)| rank.to_string()).collect();
                ranks.join(", ")
            };
            let (seconds, count) = (place.timeout.as_secs_f64(), place.world_size);
            let actual =
                format!("within {seconds} s came {}; missing: {}", ranks(true), ranks(false));
            return Err(failed(place, format!("all {count} ranks"), actual));
        }
    }
}

/// A connection that is read until a deadline, in pieces of any size.
struct Until<'a> {
    end: Instant,
    stream: &'a TcpStream,
}

impl io::Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        (&mut self.stream).read(bytes)
    }
}

fn introduction(stream: &TcpStream) -> io::Result<Hello> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let frame = Frame::read_plain(&mut Until { end: Instant::now() + INTRODUCTION, stream })?;
    stream.set_read_timeout(None)?;
    let Frame::Hello(hello) = frame else { return Err(io::ErrorKind::InvalidData.into()) };
    Ok(hello)
}

/// Accepts a rank. A rank of another job, or one that is already there, is refused; one that does not fit the group
/// ends it.
fn admit(
    place: &Rendezvous,
    own: &Hello,
    hello: &Hello,
    stream: TcpStream,
    streams: &mut [Option<TcpStream>],
) -> Result<(), CommError> {
    let rank = hello.rank;
    if hello.job != own.job {
        refuse(&stream, &format!("rank 0 there is of the job `{}`, not `{}`", own.job, hello.job));
        return Ok(());
    }
    let fits = (hello.world_size, &hello.kind) == (own.world_size, &own.kind);
    let slot = usize::try_from(rank).ok().filter(|rank| *rank > 0);
    let slot = slot.and_then(|rank| streams.get_mut(rank)).filter(|_| fits);
    let Some(slot) = slot else {
        let described = |hello: &Hello| format!("{} ranks on {}", hello.world_size, hello.kind);
        let (required, actual) = (described(own), described(hello));
        let error = failed(place, required, format!("rank {rank} came for {actual}"));
        refuse(&stream, &error.to_string());
        return Err(error);
    };
    if slot.as_ref().is_some_and(|known| !is_gone(known)) {
        refuse(&stream, &format!("another process is rank {rank} already"));
        return Ok(());
    }
    *slot = Some(stream);
    Ok(())
}

/// Whether a rank that had come is gone, for example because it was restarted.
fn is_gone(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let is_gone = match &looked {
        // A rank says nothing before it is let in.
        Ok(bytes) => *bytes == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    };
    is_gone || stream.set_nonblocking(false).is_err()
}

fn refuse(mut stream: &TcpStream, why: &str) {
    // If it is gone, it needs no answer.
    let _ = Frame::Refused(why.to_owned()).write(&mut stream);
}

fn refuse_all(streams: &[Option<TcpStream>], error: &CommError) {
    streams.iter().flatten().for_each(|stream| refuse(stream, &error.to_string()));
}

/// The part of every other rank.
fn join(place: &Rendezvous, kind: &str, loss: Loss) -> Result<(Seat, Vec<u8>), CommError> {
    let start = Instant::now();
    let absent = |error: &io::Error| failed(place, "rank 0", error.to_string());
    let mut stream = loop {
        // Names are looked up anew: that of a machine that is starting may not be known yet.
        match connect(place, start) {
            Ok(stream) => break stream,
            Err(error) if start.elapsed() >= place.timeout => return Err(absent(&error)),
            Err(_) => thread::sleep(PAUSE),
        }
    };
    let refused = |why: String| failed(place, "to be let in by rank 0", why);
    let answer = (|| {
        stream.set_nodelay(true)?;
        Frame::Hello(hello(place, kind)).write(&mut stream)?;
        // Rank 0 answers at the end of its own limit at the latest, and may have begun to wait later than this rank.
        stream.set_read_timeout(Some(place.timeout.saturating_add(INTRODUCTION)))?;
        let answer = Frame::read(&mut stream)?;
        stream.set_read_timeout(None)?;
        Ok(answer)
    })();
    let gift = match answer {
        Ok(Frame::Welcome(gift)) => gift,
        Ok(Frame::Refused(why)) => return Err(refused(why)),
        Ok(_) => return Err(refused("it has answered something else".to_owned())),
        Err(error) => return Err(absent(&error)),
    };
    let inbox = Arc::new(Inbox::default());
    let (answers, reader) = (Arc::clone(&inbox), stream.try_clone());
    let started = reader.and_then(|stream| {
        let name = "kiln-comm-from-0".to_owned();
        thread::Builder::new().name(name).spawn(move || receive(&answers, stream, loss))
    });
    started.map_err(|error| failed(place, "a thread for rank 0", error.to_string()))?;
    Ok((Seat::new(place.rank, inbox, Reach::There(Mutex::new(stream))), gift))
}

fn connect(place: &Rendezvous, start: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in place.address.to_socket_addrs()? {
        let left = place.timeout.saturating_sub(start.elapsed()).max(PAUSE);
        match TcpStream::connect_timeout(&address, left) {
            // A port of this machine that nobody listens at may be given to the connection itself.
            Ok(stream) if stream.local_addr()? == stream.peer_addr()? => {
                last = io::ErrorKind::ConnectionRefused.into();
            }
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Writes the meeting point's messages for a rank, until the rank is gone.
fn write_all(mut stream: TcpStream, outgoing: &mpsc::Receiver<Outgoing>) {
    for item in outgoing {
        let written = match item {
            Outgoing::Frame(frame) => frame.write(&mut stream),
            Outgoing::Flush(done) => {
                let _ = done.send(());
                Ok(())
            }
        };
        if written.is_err() {
            // The thread that reads finds the same, and tells the others.
            return;
        }
    }
}

/// Passes messages of a rank to the meeting point, until they end.
fn serve(hub: &Hub, rank: usize, mut stream: TcpStream, loss: Loss) {
    let lost = |cause: String| CommError::Lost { rank, cause };
    let ended = |cause: String| match loss {
        #[cfg(feature = "cuda")]
        Loss::Group => hub.fail(&lost(cause)),
        #[cfg(feature = "emulator")]
        Loss::Needed => hub.leave(rank, &cause),
    };
    loop {
        match Frame::read(&mut stream) {
            Ok(Frame::Post { ticket, signature, payload }) => {
                hub.post(rank, Post { ticket, signature, payload });
            }
            Ok(Frame::Expired { ticket, signature, seconds }) => {
                hub.expire(rank, ticket, &signature, seconds);
            }
            Ok(Frame::Failed(error)) => hub.fail(&error),
            Ok(Frame::Goodbye) => return hub.leave(rank, HAS_LEFT),
            Ok(Frame::Hello(_) | Frame::Welcome(_) | Frame::Refused(_) | Frame::Answer { .. }) => {
                return hub.fail(&lost("it sends what only rank 0 does".to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return ended("its process has ended".to_owned());
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return ended(error.to_string());
            }
            Err(error) => return hub.fail(&lost(error.to_string())),
        }
    }
}

/// Takes messages of rank 0, until they end.
fn receive(inbox: &Inbox, mut stream: TcpStream, loss: Loss) {
    let lost = |cause: String| CommError::Lost { rank: 0, cause };
    let ended = |cause: String| match loss {
        #[cfg(feature = "cuda")]
        Loss::Group => inbox.fail(lost(cause)),
        #[cfg(feature = "emulator")]
        Loss::Needed => inbox.close(&cause),
    };
    let mut is_done = false;
    loop {
        match Frame::read(&mut stream) {
            Ok(Frame::Answer { ticket, payload }) => inbox.deliver(ticket, payload),
            Ok(Frame::Failed(error)) => inbox.fail(error),
            // Its process goes on to be where the others meet, until it ends.
            Ok(Frame::Goodbye) => is_done = true,
            Ok(
                Frame::Hello(_)
                | Frame::Welcome(_)
                | Frame::Refused(_)
                | Frame::Post { .. }
                | Frame::Expired { .. },
            ) => return inbox.fail(lost("it sends what only other ranks do".to_owned())),
            Err(_) if is_done => return inbox.close(HAS_LEFT),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return ended("its process has ended".to_owned());
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return ended(error.to_string());
            }
            Err(error) => return inbox.fail(lost(error.to_string())),
        }
    }
}

//! Groups of processes on this machine: the test executable starts itself anew, once for each rank.

use super::{LONG, SHORT};
use kernel_runtime::{Comm, CommError, Device, Error, ReduceOp, Rendezvous, Result, Target};
use std::{
    env,
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

/// Says which of the programs below a child runs.
const PROGRAM: &str = "KILN_TEST_PROGRAM";

/// What a rank's process prints in front of what it has to say.
const MARK: &str = "rank says: ";

/// A port that was free a moment ago.
fn port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("it is bound").port()
}

/// Starts a rank as a launcher would.
fn start(program: &str, rank: usize, world_size: usize, port: u16) -> Child {
    let executable = env::current_exe().expect("the test knows its own file");
    Command::new(executable)
        .args(["--exact", "comm::processes::a_rank", "--nocapture"])
        .env(PROGRAM, program)
        .env("RANK", rank.to_string())
        .env("WORLD_SIZE", world_size.to_string())
        .env("LOCAL_RANK", rank.to_string())
        .env("MASTER_ADDR", "127.0.0.1")
        .env("MASTER_PORT", port.to_string())
        .env_remove("TORCHELASTIC_USE_AGENT_STORE")
        .env_remove("TORCHELASTIC_RUN_ID")
        .env_remove("KILN_COMM_PORT")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test executable starts")
}

/// What each rank says at its end; a rank that dies says nothing.
fn said(children: Vec<Child>) -> Vec<String> {
    let text = |child: Child| {
        let Output { stdout, stderr, .. } = child.wait_with_output().expect("it was started");
        let text = String::from_utf8_lossy(&stdout).into_owned();
        let line = text.lines().find_map(|line| Some(line.split_once(MARK)?.1.to_owned()));
        line.unwrap_or_else(|| format!("nothing, {}", String::from_utf8_lossy(&stderr)))
    };
    children.into_iter().map(text).collect()
}

fn run(program: &str, world_size: usize) -> Vec<String> {
    let port = port();
    said((0..world_size).map(|rank| start(program, rank, world_size, port)).collect())
}

/// Not a test of its own: what a child does. The tests below start it.
#[test]
#[expect(clippy::print_stdout, reason = "the test that has started the process reads it")]
fn a_rank() {
    let Ok(program) = env::var(PROGRAM) else { return };
    let said = match program.as_str() {
        "sums" => sums(),
        "dies" => dies(),
        "waits" => waits(),
        "differs" => differs(),
        "short" => short(),
        "leaves" => leaves(),
        "ends" => ends(),
        other => panic!("there is no program {other}"),
    };
    // In one piece: the harness prints as well.
    println!("\n{MARK}{}", said.unwrap_or_else(|error| format!("error: {error}")));
}

/// The process ends with a membership that nobody drops.
fn ends() -> Result<String> {
    let comm = std::mem::ManuallyDrop::new(joined()?);
    let stream = comm.device().stream()?;
    let mut x = stream.full([4], 1i32)?;
    comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
    // The others end later than rank 0.
    std::thread::sleep(Duration::from_millis(100 * comm.rank() as u64));
    comm.wait(&stream)?;
    Ok(format!("{:?}", x.to_vec(&stream)?))
}

#[test]
fn what_is_done_holds_when_a_process_ends_without_leaving() {
    for _ in 0..4 {
        assert_eq!(run("ends", 3), ["[3, 3, 3, 3]"; 3]);
    }
}

fn joined() -> Result<Comm> {
    let comm = Comm::from_env(&Device::emulator(Target::Sm80)?)?;
    Ok(comm.with_timeout(LONG))
}

fn sums() -> Result<String> {
    let comm = joined()?;
    let stream = comm.device().stream()?;
    let rank = i32::try_from(comm.rank()).expect("few ranks");
    let mut x = stream.upload(&[rank, 10], [2])?;
    comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
    // Larger than what a socket takes at once, both ways.
    let large = stream.full([1 << 18], rank)?;
    let mut all = stream.empty([comm.world_size() << 18])?;
    comm.all_gather(&stream, &large, &mut all)?;
    let all = all.to_vec(&stream)?;
    let ends = (all.first().copied(), all.last().copied());
    let mut token = stream.full([1], rank)?;
    let last = comm.world_size() - 1;
    if comm.rank() == 1 {
        comm.send(&stream, &token, last)?;
    } else if comm.rank() == last {
        comm.recv(&stream, &mut token, 1)?;
    }
    comm.barrier(&stream)?;
    Ok(format!("{:?} {ends:?} {:?}", x.to_vec(&stream)?, token.to_vec(&stream)?))
}

#[test]
fn processes_work_together() {
    let required = |token| format!("[3, 30] (Some(0), Some(2)) [{token}]");
    assert_eq!(run("sums", 3), [required(0), required(1), required(1)]);
}

fn dies() -> Result<String> {
    let comm = joined()?;
    let stream = comm.device().stream()?;
    comm.barrier(&stream)?;
    if env::var("WORLD_SIZE").as_deref() == Ok("3") && comm.rank() == 1 {
        std::process::abort();
    }
    comm.barrier(&stream)?;
    Ok("no error".to_owned())
}

/// With a limit of two minutes: the connection tells.
#[test]
fn a_process_that_dies_is_lost_to_all_others() {
    let said = run("dies", 3);
    for rank in [0, 2] {
        assert!(said[rank].starts_with("error: rank 1 is gone: "), "{said:?}");
    }
    assert!(said[1].starts_with("nothing"), "{said:?}");
}

fn waits() -> Result<String> {
    let comm = joined()?;
    let stream = comm.device().stream()?;
    comm.barrier(&stream)?;
    if comm.rank() == 0 {
        std::process::abort();
    }
    comm.barrier(&stream)?;
    Ok("no error".to_owned())
}

#[test]
fn the_death_of_rank_0_is_noticed_too() {
    let said = run("waits", 3);
    for rank in [1, 2] {
        assert!(said[rank].starts_with("error: rank 0 is gone: "), "{said:?}");
    }
}

fn differs() -> Result<String> {
    let comm = joined()?;
    let stream = comm.device().stream()?;
    comm.all_reduce_in_place(
        &stream,
        &mut stream.zeros::<f32, 1>([comm.rank() + 1])?,
        ReduceOp::Average,
    )?;
    Ok("no error".to_owned())
}

#[test]
fn operations_that_differ_between_processes_are_an_error_on_each() {
    for said in run("differs", 2) {
        assert!(said.contains("all_reduce (average) of 1 f32"), "{said}");
        assert!(said.contains("all_reduce (average) of 2 f32"), "{said}");
    }
}

fn short() -> Result<String> {
    let comm = joined()?.with_timeout(SHORT);
    let stream = comm.device().stream()?;
    if comm.rank() == 1 {
        while comm.failure().is_none() {
            std::thread::yield_now();
        }
    }
    comm.barrier(&stream)?;
    Ok("no error".to_owned())
}

#[test]
fn a_process_that_does_not_come_is_named_on_each() {
    for said in run("short", 3) {
        assert!(said.starts_with("error: barrier was not done within 0.05 s: rank"), "{said}");
        assert!(said.contains('1'), "{said}");
    }
}

/// Rank 0 ends as soon as it has what it needs; the others have not read theirs then.
fn leaves() -> Result<String> {
    let comm = joined()?;
    let stream = comm.device().stream()?;
    let mut x = stream.full([1 << 18], 1u32)?;
    comm.all_reduce_in_place(&stream, &mut x, ReduceOp::Sum)?;
    if comm.rank() != 0 {
        // Rank 0 is gone by then, most likely: nothing has failed.
        std::thread::sleep(SHORT);
    }
    comm.wait(&stream)?;
    Ok(x.to_vec(&stream)?.iter().sum::<u32>().to_string())
}

#[test]
fn what_was_answered_arrives_when_rank_0_ends_first() {
    assert_eq!(run("leaves", 3), vec![(3 << 18).to_string(); 3]);
}

fn place(rank: usize, world_size: usize, port: u16, timeout: Duration) -> Rendezvous {
    let mut place = Rendezvous::new(rank, world_size, format!("127.0.0.1:{port}"));
    place.timeout = timeout;
    place
}

fn refused(place: &Rendezvous) -> Result<String> {
    let error = Comm::init(&Device::emulator(Target::Sm80)?, place).expect_err("nobody comes");
    assert!(
        matches!(&error, Error::Comm(cause) if matches!(**cause, CommError::Rendezvous { .. }))
    );
    Ok(error.to_string())
}

#[test]
fn ranks_that_do_not_come_are_named() -> Result<()> {
    let port = port();
    let came = std::thread::spawn(move || refused(&place(2, 4, port, LONG)));
    // Long enough for rank 2, unless the machine is very busy; it is then among those that are missing.
    let text = refused(&place(0, 4, port, Duration::from_millis(300)))?;
    let common = format!("rank 0 needs all 4 ranks at 127.0.0.1:{port}: within 0.3 s came 0");
    if text == format!("{common}; missing: 1, 2, 3") {
        return Ok(());
    }
    assert_eq!(text, format!("{common}, 2; missing: 1, 3"));
    let theirs = came.join().expect("no panic")?;
    assert_eq!(theirs, format!("rank 2 needs to be let in by rank 0 at 127.0.0.1:{port}: {text}"));
    Ok(())
}

#[test]
fn a_rank_0_that_does_not_come_is_an_error() -> Result<()> {
    let text = refused(&place(1, 2, port(), SHORT))?;
    assert!(text.starts_with("rank 1 needs rank 0 at 127.0.0.1:"), "{text}");
    Ok(())
}

#[test]
fn groups_of_two_sizes_do_not_meet() -> Result<()> {
    let port = port();
    let other = std::thread::spawn(move || refused(&place(1, 3, port, LONG)));
    let text = refused(&place(0, 2, port, LONG))?;
    let required = "2 ranks on the emulator at 127.0.0.1";
    assert!(text.contains(required) && text.contains("rank 1 came for 3 ranks"), "{text}");
    assert!(other.join().expect("no panic")?.contains("rank 1 came for 3 ranks"));
    Ok(())
}

#[test]
fn strangers_and_ranks_of_other_jobs_are_turned_away() -> Result<()> {
    let port = port();
    let host = std::thread::spawn(move || {
        Comm::init(&Device::emulator(Target::Sm80)?, &place(0, 2, port, LONG)).map(drop)
    });
    let mut other_job = place(1, 2, port, LONG);
    other_job.job = "another".to_owned();
    let text = refused(&other_job)?;
    assert!(text.ends_with("rank 0 there is of the job ``, not `another`"), "{text}");
    // Somebody who speaks another language, and somebody who says nothing.
    let mut web = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("rank 0 listens");
    web.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").expect("it is taken");
    // Somebody who announces more than an introduction is: nothing of it is read.
    let mut large = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("rank 0 listens");
    large.write_all(&[3, 0, 0, 0, 0, 0, 1, 0, 0]).expect("it is taken");
    large.set_read_timeout(Some(LONG)).expect("a limit");
    let end = large.read(&mut [0]).map(|read| read == 0);
    assert!(end.unwrap_or_else(|error| error.kind() == ErrorKind::ConnectionReset));
    let silent = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("rank 0 listens");
    Comm::init(&Device::emulator(Target::Sm80)?, &place(1, 2, port, LONG))?;
    host.join().expect("no panic")?;
    drop(silent);
    Ok(())
}

#[test]
fn a_rank_beyond_the_group_is_refused() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let error = Comm::init(&device, &Rendezvous::new(2, 2, "127.0.0.1:1")).expect_err("no rank 2");
    assert_eq!(error.to_string(), "init needs a rank below the number of processes, 2, not 2");
    Ok(())
}

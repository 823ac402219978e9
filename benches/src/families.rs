//! The kernels of `kiln-kernels` that the memory bounds, beside a copy of as many bytes, attention, and what peers take for the same.

#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a program that prints its measurements, of extents that are small"
)]

use std::{
    ffi::{CStr, c_char},
    time::Duration,
};

use anyhow::{Context, Result};
use kiln::prelude::*;

use crate::{
    bursts::{self, Bursts, Contender, Own},
    data,
    peers::{Call, Expression, Given, Peer},
};

mod attention;
mod embedding;
mod grouped;
mod losses;
mod pointwise;
mod products;
mod quantized;
mod routing;
mod rows;
mod sampling;

type Launch<'a> = dyn FnMut(&Stream) -> Result<()> + 'a;

/// What is timed, what it moves or computes, and what peers compute.
struct Timed<'a> {
    name: String,
    work: Work,
    launch: Box<Launch<'a>>,
    peers: Peers,
}

#[derive(Clone, Copy)]
enum Work {
    /// Bytes read and written: a copy moves half as many.
    Bytes(usize),
    /// Operations of the tensor cores.
    Operations(f64),
}

/// The same by peers.
#[derive(Default)]
struct Peers {
    /// The tensors of Kiln that expressions use.
    given: Vec<Given>,
    expressions: Vec<Expression>,
    /// What their values are called among the tensors.
    results: Vec<&'static str>,
}

impl Peers {
    /// Tensors that expressions use.
    fn of(given: &[Given]) -> Peers {
        Peers { given: given.to_vec(), ..Peers::default() }
    }

    /// The expression by a peer.
    fn by(mut self, peer: &'static str, run: impl Into<String>) -> Peers {
        self.expressions.push(Expression { peer, setup: String::new(), run: run.into() });
        self
    }

    /// The same after statements that are not timed.
    fn after(mut self, setup: &str, peer: &'static str, run: &str) -> Peers {
        self.expressions.push(Expression { peer, setup: setup.to_owned(), run: run.to_owned() });
        self
    }

    /// The expression by `PyTorch`, as it is and compiled.
    fn torch(self, run: &str) -> Peers {
        self.by("torch", run).by("compiled", run)
    }

    /// Compares the values with these tensors, which Kiln has written.
    fn gives(self, results: &[&'static str]) -> Peers {
        Peers { results: results.to_vec(), ..self }
    }
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    bursts: Bursts,
    only: Option<String>,
    compiled: bool,
}

impl Asked {
    /// `[TEXT] [--pause MS] [--rounds N] [--compiled]`.
    ///
    /// # Errors
    /// For a number that is missing or none.
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<Asked> {
        let bursts = Bursts { rounds: 5, ..Bursts::default() };
        let mut asked = Asked { bursts, ..Asked::default() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut number =
                || -> Result<u64> { Ok(args.next().context("a number is missing")?.parse()?) };
            match arg.as_str() {
                "--pause" => asked.bursts.pause = Duration::from_millis(number()?),
                "--rounds" => asked.bursts.rounds = usize::try_from(number()?.max(1))?,
                "--compiled" => asked.compiled = true,
                _ => asked.only = Some(arg),
            }
        }
        Ok(asked)
    }
}

struct Bench<'a> {
    stream: Stream,
    asked: &'a Asked,
    call: Option<Call>,
    /// What the copy reads, and where it writes.
    copied: DeviceTensor<u8, 1>,
    copy: DeviceTensor<u8, 1>,
}

impl Bench<'_> {
    fn wants(&self, name: &str) -> bool {
        self.asked.only.as_ref().is_none_or(|text| {
            let (shorter, longer) =
                if text.len() < name.len() { (text.as_str(), name) } else { (name, text.as_str()) };
            longer.contains(shorter)
        })
    }

    fn time(&mut self, timed: Timed<'_>) -> Result<()> {
        if self.asked.only.as_ref().is_some_and(|text| !timed.name.contains(text.as_str())) {
            return Ok(());
        }
        let Timed { name, work, mut launch, peers } = timed;
        let mut others = Vec::new();
        let mut notes = Vec::new();
        if let Some(call) = self.call {
            // Kiln's results are there before they are compared.
            launch(&self.stream)?;
            self.stream.synchronize()?;
            let wanted = |one: &&Expression| self.asked.compiled || one.peer != "compiled";
            for expression in peers.expressions.iter().filter(wanted) {
                let begun = Peer::begin(call, &peers.given, expression);
                let Ok(mut peer) = begun else {
                    notes.push(format!("{} failed", expression.peer));
                    continue;
                };
                if !peers.results.is_empty() {
                    notes.push(match peer.difference(&peers.results) {
                        Ok(off) => format!("{off:.1e} from {}", expression.peer),
                        Err(_) => format!("not compared with {}", expression.peer),
                    });
                }
                others.push((expression.peer, peer));
            }
        }
        let mut own = Own::new(launch);
        // A longer copy is no faster.
        let bytes = if let Work::Bytes(bytes) = work { bytes } else { 0 };
        let half = (bytes / 2).min(self.copied.len());
        let from = self.copied.slice(0, 0..half)?;
        let mut to = self.copy.slice_mut(0, 0..half)?;
        let mut copy = Own::new(|stream: &Stream| Ok(stream.copy(&from, &mut to)?));
        let mut contenders: Vec<&mut dyn Contender> = vec![&mut own];
        contenders.extend(others.iter_mut().map(|(_, peer)| peer as &mut dyn Contender));
        if half > 0 {
            contenders.push(&mut copy);
        }
        // What allocates cannot be recorded.
        let times = match bursts::medians_of(&self.stream, self.asked.bursts, &mut contenders) {
            Ok(times) => times,
            Err(error) => {
                println!("| {name} | not timed: {error} | | | | |");
                return Ok(());
            }
        };
        let us = times[0];
        let (rate, share) = match work {
            Work::Bytes(bytes) => {
                let own = 1e-3 * bytes as f64 / us;
                let copy = 2e-3 * half as f64 / times[times.len() - 1];
                (format!("{own:.0} GB/s"), format!("{:.3} of {copy:.0}", own / copy))
            }
            Work::Operations(operations) => {
                (format!("{:.1} TFLOP/s", 1e-6 * operations / us), String::new())
            }
        };
        let beside = |((peer, _), theirs): (&(&str, Peer), &f64)| {
            format!("{peer} {theirs:.2} us, {:.3}", theirs / us)
        };
        let beside: Vec<String> = others.iter().zip(&times[1..]).map(beside).collect();
        println!(
            "| {name} | {us:.2} | {rate} | {share} | {} | {} |",
            beside.join("; "),
            notes.join("; ")
        );
        Ok(())
    }

    fn normal<const R: usize>(
        &self,
        shape: [usize; R],
        seed: u64,
    ) -> Result<DeviceTensor<bf16, R>> {
        let len = shape.iter().product();
        Ok(self.stream.upload(&data::normal(len, seed, bf16::from_f32), shape)?)
    }
}

/// An element of bf16.
const HALF: usize = 2;

/// Times all that is asked for, beside peers if somebody launches them.
///
/// # Errors
/// Those of the device and of launches.
pub fn all(asked: &Asked, call: Option<Call>) -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let (copied, copy) = (stream.zeros([1 << 28])?, stream.zeros([1 << 28])?);
    let mut bench = Bench { stream, asked, call, copied, copy };
    println!("on {device}");
    println!("| kernel | us | rate | share of a copy | peers, their time / Kiln's | difference |");
    println!("|---|---|---|---|---|---|");
    for (family, time) in [
        ("rows", rows::time as fn(&mut Bench<'_>) -> Result<()>),
        ("pointwise", pointwise::time),
        ("embedding", embedding::time),
        ("attention", attention::time),
        ("grouped", grouped::time),
        ("losses", losses::time),
        ("products", products::time),
        ("quantized", quantized::time),
        ("routing", routing::time),
        ("sampling", sampling::time),
    ] {
        if bench.wants(family) {
            time(&mut bench)?;
        }
    }
    Ok(())
}

/// [`all`], for a program of another language: the arguments in lines, and how it launches peers. 0, or 1 after an error that is printed.
///
/// # Safety
/// `arguments` is a string that ends with 0.
#[expect(unsafe_code, clippy::print_stderr, reason = "a C interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kiln_families(arguments: *const c_char, call: Call) -> i32 {
    // SAFETY: the caller guarantees it.
    let arguments = unsafe { CStr::from_ptr(arguments) }.to_string_lossy();
    let arguments = arguments.lines().filter(|line| !line.is_empty()).map(str::to_owned);
    match Asked::from_args(arguments).and_then(|asked| all(&asked, Some(call))) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error:#}");
            1
        }
    }
}

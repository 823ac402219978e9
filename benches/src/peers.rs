//! Peers of other languages in the same process: the one that has loaded this library says how it launches them.

use std::{
    ffi::{CString, c_char, c_void},
    ptr,
};

use anyhow::{Context, Result, ensure};
use kiln::{Element, prelude::*};
use serde::Serialize;

use crate::bursts::Contender;

/// What a program that loads the library is asked: a command, a text, a number and a stream of the driver (`benches/peers/families.py`
/// says what each command means). The answer is a number, NaN if it failed.
pub type Call = extern "C" fn(*const c_char, *const c_char, i64, *mut c_void) -> f64;

/// A tensor of Kiln that a peer uses in place.
#[derive(Clone, Debug, Serialize)]
pub struct Given {
    /// What expressions call it.
    pub name: &'static str,
    address: u64,
    dtype: &'static str,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl Given {
    /// A tensor, which has to live as long as the peer.
    pub fn new<T: Element, const R: usize>(
        name: &'static str,
        tensor: &DeviceTensor<T, R>,
    ) -> Given {
        let (shape, strides) = (tensor.shape().to_vec(), tensor.strides().to_vec());
        Given { name, address: tensor.address(), dtype: T::DTYPE, shape, strides }
    }
}

/// What a peer is asked to launch: an expression over what is given.
#[derive(Clone, Debug, Serialize)]
pub struct Expression {
    /// Who computes it.
    pub peer: &'static str,
    /// Statements before, which are not timed.
    pub setup: String,
    /// The expression.
    pub run: String,
}

/// A peer that is ready to be launched.
#[derive(Debug)]
pub struct Peer {
    call: Call,
    number: i64,
}

fn ask(call: Call, command: &str, text: &str, number: i64, stream: *mut c_void) -> Result<f64> {
    let (command, text) = (CString::new(command)?, CString::new(text)?);
    let answer = call(command.as_ptr(), text.as_ptr(), number, stream);
    ensure!(!answer.is_nan(), "the peer failed at {}", command.to_string_lossy());
    Ok(answer)
}

impl Peer {
    /// Makes an expression ready.
    ///
    /// # Errors
    /// Where the peer cannot.
    pub fn begin(call: Call, given: &[Given], expression: &Expression) -> Result<Peer> {
        let text = serde_json::to_string(&(given, expression))?;
        let number = ask(call, "begin", &text, 0, ptr::null_mut())?;
        #[expect(clippy::cast_possible_truncation, reason = "the number of a peer is small")]
        Ok(Peer { call, number: number as i64 })
    }

    /// The largest difference between what the peer computes and these tensors, by the largest magnitude of each.
    ///
    /// # Errors
    /// Where the peer cannot.
    pub fn difference(&mut self, results: &[&str]) -> Result<f64> {
        self.ask("compare", &results.join(" "), ptr::null_mut())
    }

    fn ask(&self, command: &str, text: &str, stream: *mut c_void) -> Result<f64> {
        ask(self.call, command, text, self.number, stream)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // What failed before has been said.
        let _ = self.ask("end", "", ptr::null_mut());
    }
}

fn raw(stream: &Stream) -> Result<*mut c_void> {
    stream.raw().context("the emulator has no streams for others")
}

impl Contender for Peer {
    fn launch(&mut self, stream: &Stream) -> Result<()> {
        self.ask("launch", "", raw(stream)?).map(drop)
    }

    fn record(&mut self, _: &Device, launches: usize) -> Result<()> {
        self.ask("record", &launches.to_string(), ptr::null_mut()).map(drop)
    }

    fn replay(&mut self, stream: &Stream, recording: usize) -> Result<()> {
        self.ask("replay", &recording.to_string(), raw(stream)?).map(drop)
    }
}

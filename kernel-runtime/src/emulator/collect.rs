//! Collectives between emulated GPUs, as steps of a stream.

use super::{
    Machine, Queue,
    graph::{Step, Taken},
};
use crate::{
    CommError, Result,
    comm::{Seat, Signature},
};
use std::{fmt, sync::Arc};

/// One operation of one rank: its inputs and outputs, as addresses and bytes.
pub(crate) struct Collect {
    machine: Arc<Machine>,
    seat: Arc<Seat>,
    signature: Signature,
    from: Option<(u64, usize)>,
    to: Option<(u64, usize)>,
}

impl Queue {
    pub(crate) fn collect_of(
        &self,
        seat: &Arc<Seat>,
        signature: Signature,
        from: Option<(u64, usize)>,
        to: Option<(u64, usize)>,
    ) -> Collect {
        let (machine, seat) = (Arc::clone(&self.machine), Arc::clone(seat));
        Collect { machine, seat, signature, from, to }
    }

    /// Runs operations that belong together, which may be of several devices, or records them.
    pub(crate) fn collect(&self, collects: Vec<Collect>) -> Result<()> {
        let mut collects = Some(collects);
        match self.take(|| Step::Collect(collects.take().unwrap_or_default())) {
            Taken::Recorded => Ok(()),
            Taken::Run => run(&collects.unwrap_or_default()),
        }
    }
}

/// Posts what each rank gives, and then waits for what each one gets: one thread may act for several ranks.
pub(super) fn run(collects: &[Collect]) -> Result<()> {
    let given: Vec<Vec<u8>> = collects.iter().map(Collect::given).collect::<Result<_>>()?;
    let tickets: Vec<u64> = collects
        .iter()
        .zip(given)
        .map(|(collect, payload)| collect.seat.post(collect.signature, payload))
        .collect::<Result<_, CommError>>()
        .map_err(CommError::into_error)?;
    for (collect, ticket) in collects.iter().zip(tickets) {
        let answer =
            collect.seat.wait(ticket, &collect.signature).map_err(CommError::into_error)?;
        collect.take(&answer)?;
    }
    Ok(())
}

impl Collect {
    fn given(&self) -> Result<Vec<u8>> {
        let Some((address, bytes)) = self.from.filter(|(_, bytes)| *bytes > 0) else {
            return Ok(Vec::new());
        };
        let mut payload = vec![0; bytes];
        let read = self.machine.memory.read(address, &mut payload);
        read.map_err(|cause| self.machine.memory_error(self.signature.operation.name(), cause))?;
        Ok(payload)
    }

    fn take(&self, answer: &[u8]) -> Result<()> {
        let Some((address, bytes)) = self.to.filter(|(_, bytes)| *bytes > 0) else {
            return Ok(());
        };
        let operation = self.signature.operation.name();
        if answer.len() != bytes {
            let (required, actual) = (format!("{bytes} bytes"), format!("{} bytes", answer.len()));
            return Err(CommError::Argument { operation, required, actual }.into_error());
        }
        let written = self.machine.memory.write(address, answer);
        written.map_err(|cause| self.machine.memory_error(operation, cause))
    }
}

impl fmt::Debug for Collect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.signature, self.machine.name())
    }
}

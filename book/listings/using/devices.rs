use super::tensors::scale;
use kiln::prelude::*;
use kiln::{Comm, ReduceOp};
use std::thread;

// ANCHOR: rank
/// What each device does: a part of the work, and the sum of all parts.
fn part(comm: &Comm) -> kiln::Result<Vec<f32>> {
    let stream = comm.device().stream()?;
    let mine = stream.full([1, 3], if comm.rank() == 0 { 1.0f32 } else { 10.0 })?;
    let mut sum = stream.zeros([1, 3])?;
    scale::<256>(scale::Args { x: &mine, factor: 2.0, out: &mut sum }).launch(&stream)?;
    comm.all_reduce_in_place(&stream, &mut sum, ReduceOp::Sum)?;
    comm.wait(&stream)?;
    sum.to_vec(&stream)
}
// ANCHOR_END: rank

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    let devices = [Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm80)?];
    let comms = Comm::in_process(&devices)?;
    thread::scope(|scope| {
        let ranks: Vec<_> = comms.iter().map(|comm| scope.spawn(|| part(comm))).collect();
        for rank in ranks {
            println!("{:?}", rank.join().expect("no rank panics")?);
        }
        Ok(())
    })
    // ANCHOR_END: main
}

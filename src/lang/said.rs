//! What `println!` and the texts of assertions write, and stamps: see the [module](super#while-it-runs).

use core::fmt;

use super::{Ptr, Tile, stub};

/// A tile is written as its elements are, one at a time.
macro_rules! written {
    ($($format:ident)*) => {
        $(impl<T: fmt::$format> fmt::$format for Tile<T> {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                stub()
            }
        })*
    };
}

written!(Display LowerHex UpperHex Octal Binary LowerExp UpperExp Pointer);

impl<T> fmt::Pointer for Ptr<T> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        stub()
    }
}

/// From here on each warp that reaches it is in the phase of this name, until its next stamp: `stamp!("product")`.
///
/// The name is a string literal. A stamp computes nothing, waits for nothing and orders nothing: the kernel has the layouts, the schedule and the
/// results that it has without. It may stand in loops, branches, partitions of [`warp_specialize`](super::warp_specialize) and device
/// functions. Names may repeat: a phase has the time of all of its stamps.
///
/// # When
///
/// A kernel with stamps is compiled twice, without and with them; its messages and assertions are in the first alone. A launch takes the code
/// without stamps, which has no trace of them, unless the environment variable `KILN_PROFILE=DIR` is set when the program runs. Then the
/// first eight launches of each instance take the other code, wait for it, and write `DIR/KERNEL.N.profile.json`: a timeline that
/// `kiln profile DIR` sums up and draws, and Perfetto opens. Work that is recorded into a graph is not profiled.
///
/// # What is recorded
///
/// One record of 16 bytes each time that a warp reaches it, by its first lane: `%clock64`, `%globaltimer_lo`, `%smid` and the stamp. Each warp has memory of
/// its own, so no warp waits for another one. A launch has about 8 MiB: of a grid that needs more than that, the first blocks are recorded,
/// as many as have room for about a thousand stamps of each warp; `KILN_PROFILE_BLOCKS=0-131` names others, 4096 at most. Stamps without
/// room are counted, and the file says how many there were.
///
/// Times are those of the multiprocessor's clock, in nanoseconds by a rate that the launch itself is measured by, where it is long enough;
/// the multiprocessors are aligned by `%globaltimer`, as well as its steps allow (a microsecond on some devices). On the emulator, a
/// nanosecond is an instruction of all warps that a host thread runs: the phases of a warp are in order, and their lengths say nothing
/// of a GPU.
///
/// # Cost
///
/// Some ten instructions and one store that nothing waits for, and six registers in each thread for the whole kernel. A stamp after a load does not wait for
/// what is loaded: the wait is in the phase in which the value is first used. The hardware may start later instructions before a
/// stamp, and ptxas may move those that do not touch memory.
///
/// # Errors
///
/// K0101 for anything but a string literal that is not empty.
///
/// ```
/// use kiln::prelude::*;
///
/// #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
/// fn scale(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, by: f32) {
///     let at = block_id(0) * 256;
///     stamp!("load");
///     let tile = x.tile([at], [256]).load() * by;
///     stamp!("store");
///     y.tile([at], [256]).store(tile);
///     stamp!("end");
/// }
/// # let stream = Device::emulator(Target::Sm80)?.stream()?;
/// # let x = stream.upload(&[1.5f32; 300], [300])?;
/// # let mut y = stream.zeros::<f32, 1>([300])?;
/// # scale(scale::Args { x: &x, y: &mut y, by: 2.0 }).launch(&stream)?;
/// # assert_eq!(y.to_vec(&stream)?, [3.0; 300]);
/// # Ok::<(), kiln::Error>(())
/// ```
#[macro_export]
macro_rules! stamp {
    ($name:literal $(,)?) => {
        $crate::lang::in_phase($name)
    };
}

/// What [`stamp!`](crate::stamp!) expands to outside of kernels.
#[doc(hidden)]
pub fn in_phase(_: &str) {
    stub()
}

//! Executes PTX text on the CPU: grids, clusters, blocks, warps with divergence and reconvergence,
//! every state space, asynchronous copies and matrix instructions.
//!
//! ```
//! use kernel_emulator::{DeviceMemory, LaunchConfig, Options, Program};
//!
//! let program = Program::parse(
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry twice(.param .u64 data)
//!      {
//!          .reg .b32 %r<3>; .reg .b64 %d<3>;
//!          ld.param.u64 %d0, [data];
//!          mov.u32 %r0, %tid.x;
//!          mul.wide.u32 %d1, %r0, 4;
//!          add.s64 %d0, %d0, %d1;
//!          ld.global.u32 %r1, [%d0];
//!          add.u32 %r1, %r1, %r1;
//!          st.global.u32 [%d0], %r1;
//!          ret;
//!      }",
//! )?;
//! let memory = DeviceMemory::new();
//! let data = memory.allocate(8)?;
//! memory.write(data, &[1, 0, 0, 0, 21, 0, 0, 0])?;
//! let config = LaunchConfig::new([1, 1, 1], [2, 1, 1]);
//! program.launch(&memory, "twice", &config, &data.to_le_bytes(), &Options::default())?;
//! let mut out = [0; 8];
//! memory.read(data, &mut out)?;
//! assert_eq!(out, [2, 0, 0, 0, 42, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What makes mistakes visible: memory starts unwritten, and a value that comes from unwritten bytes
//! is a [`Fault`] when it reaches global memory, an address or a branch (in shared and local memory it
//! stays unwritten); asynchronous copies land as late as the program's own waits permit; addresses are
//! checked against the allocation that they are in. Two threads of a launch that touch the same byte of shared or global memory, one
//! of them writing, with nothing between that orders the two, are a race, whatever the size of the accesses: barriers, mbarriers, and
//! releases and acquires in scopes that include both order threads, as the PTX memory model says. Bulk and tensor copies into shared memory write as participants of their own, of which only
//! those learn who wait for the mbarrier; what stores wrote is copied asynchronously only after the writing
//! thread's `fence.proxy.async`. A [`TensorMap`] is passed to a kernel in the form that
//! [`TensorMap::encode`] gives it. An instruction or modifier that is not modelled is a [`ProgramError`] that names it.
//!
//! Races, missing fences and missing waits are hazards: of what comes of them nothing is certain. [`Hazards`] chooses whether the first one is
//! the launch's fault, or all are listed in [`Report::findings`] beside the results. Which of two blocks that race is blamed is a matter of time
//! where they run on several host threads.
//!
//! The same holds of `wgmma`: the registers of a product in flight must not be touched, nor what it reads be
//! written, before each of its warps has waited, and `wgmma.fence` and `fence.proxy.async` are asked for where
//! the manual does. `setmaxnreg` moves the registers that a block was launched with. Where nothing can run any
//! more, the [`Fault`] lists what every warp waits for.
//!
//! Tensor memory and the tensor cores of `tcgen05` (Blackwell) are late in the same way: what a load, store, copy or product
//! accesses must be left alone until `tcgen05.wait`, or until a thread has waited on the mbarrier of a `tcgen05.commit` of the same
//! thread. Columns must be allocated, given back, and written before they are used; the descriptors of products are checked field
//! by field. Blocks that share a multiprocessor ([`Options::resident_blocks`]) share its columns: an allocation waits for those that others
//! hold, which is a deadlock where these wait as well.
//!
//! What PTX leaves open is chosen once, and [`Options`] has the choices; [`TensorCore`] is how `mma`
//! and `wgmma` add; `tcgen05.mma` adds in order of k in f32, as no Blackwell device was there to be asked.
//!
//! Reports speak of the text as it stands. Who has compiled it from a kernel in Kiln gives the program the names of its source
//! ([`Program::with_names`]), and reports speak in these and in Kiln's words.
//!
//! Reading order: `fault`, `memory`, `code` (what is executed), `decode` (from text to it), `machine`
//! (blocks, warps, divergence), `exec` (instructions; `exec/bulk.rs` says how late copies land), `numeric` (their arithmetic), `scheduler`
//! (grids), `program`.

#![forbid(unsafe_code)]

mod code;
mod compiled;
mod decode;
mod exec;
mod fault;
mod finding;
mod machine;
mod memory;
mod names;
pub mod numeric;
mod program;
mod scheduler;
mod tensor_map;
pub mod trace;

pub use compiled::{Compiled, PROFILE};
pub use fault::{Fault, FaultKind, Site, SourceLine};
pub use finding::Hazards;
pub use memory::writes::Writes;
pub use memory::{DeviceMemory, MemoryError};
pub use names::{NamedMemory, NamedWarps, Names};
pub use numeric::matrix::TensorCore;
pub use program::{
    EntryInfo, LaunchConfig, Options, ParamInfo, Program, ProgramError, Report, runs_on,
};
pub use tensor_map::{Im2colMap, TensorMap, TensorMapError, TensorMapField};
pub use trace::{Timeline, TraceOptions};

/// Multiprocessors of the device, as `%nsmid` says: those of an H200.
const MULTIPROCESSORS: u32 = 132;

/// The README's example is compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

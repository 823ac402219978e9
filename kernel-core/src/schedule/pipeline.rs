//! Software pipelining: the copies of later iterations run while this one computes.
//!
//! A loop over `pipeline(range, stages)` says, and means,
//!
//! ```text
//! for k { copy_async .. -> s; staged(stages); .. use of s ..; sync }
//! ```
//!
//! where `staged` waits for the copies of the iteration. This pass gives each buffer that the copies fill `stages` places, a ring, and
//! starts the copies `stages - 1` iterations ahead:
//!
//! ```text
//! for the first stages - 1 iterations { if there is such an iteration { copy_async .. -> s[iteration] }; commit }
//! for k carry (read = 0, write = stages - 1) {
//!     wait(stages - 2); sync
//!     if there is an iteration stages - 1 ahead { copy_async .. -> s[write] }; commit
//!     .. use of s[read] ..
//!     read, write = the next places
//! }
//! wait_all; sync
//! ```
//!
//! One barrier an iteration is enough: it stands between the last use of a place, in the iteration before, and the copy that
//! fills it again. Iterations that do not exist copy nothing but close their group all the same, so that counting groups counts iterations.
//!
//! # Copies by tensor map
//! They complete on mbarriers, of which there is one for each place of the ring: its phase ends when the bytes of one iteration have come.
//!
//! ```text
//! for the first stages - 1 iterations { if there is such an iteration { expect full[iteration], bytes; tma_load .. full[iteration] -> s[iteration] } }
//! for k carry (read = 0, write = stages - 1, phase = 0) {
//!     sync
//!     if there is an iteration stages - 1 ahead { expect full[write], bytes; tma_load .. full[write] -> s[write] }
//!     wait full[read], phase
//!     .. use of s[read] ..
//!     read, write = the next places; phase changes when read comes round
//! }
//! sync
//! ```
//!
//! A place is waited for as often as it is filled, so that no copy is under way when the loop ends. Where the loop runs again, in
//! an outer one, it begins with phase 0 again: the phases of the places that were filled an odd number of times are ended once more, by an
//! `expect` of no bytes. The barrier of the first iteration stands between this and the first wait.
//!
//! A loop may have copies of both kinds.

mod ring;

pub use ring::pipeline;

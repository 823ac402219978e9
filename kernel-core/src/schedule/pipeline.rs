//! Software pipelining: the copies of later iterations run while this one computes.
//!
//! A loop over `pipeline(range, stages)` says, and means,
//!
//! ```text
//! for k { copy_async .. -> s; staged(stages); .. use of s ..; sync }
//! ```
//!
//! where `staged` waits for the copies of the iteration. This pass makes a ring of `stages` places of each buffer that the copies fill, and
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
//! sync
//! ```
//!
//! One barrier for each iteration is enough: it stands between the last use of a place, in the iteration before, and the copy that
//! fills it again. Iterations that do not exist copy nothing but still close their group, so that groups count iterations. Every iteration
//! waits for its own group, and none leaves the loop early: no copy is in flight when the loop ends.
//!
//! # TMA copies
//! They complete on mbarriers, one for each place of the ring: its phase ends when the bytes of one iteration have arrived.
//!
//! ```text
//! for the first stages - 1 iterations { if there is such an iteration { expect full[iteration], bytes; tma_load .. full[iteration] -> s[iteration] } }
//! for k carry (read = 0, write = stages - 1, phase = 0) {
//!     sync
//!     if there is an iteration stages - 1 ahead { expect full[write], bytes; tma_load .. full[write] -> s[write] }
//!     wait full[read], phase
//!     .. use of s[read] ..
//!     read, write = the next places; phase changes when read wraps
//! }
//! sync
//! ```
//!
//! If branches copy in part, threads arrive as often on every path: before the copies of each branch with their bytes, and on a path with fewer
//! such branches with no bytes. So the phase of a place ends in every iteration, and each iteration waits for it.
//!
//! If the loop runs again, in an outer one, it begins with phase 0 again: an `expect` of no bytes ends one more phase of each place that was filled an odd number of times. The barrier of the first iteration stands between this and the first wait.
//!
//! A loop may have copies of both kinds.
//!
//! # Indices
//! What the copies need of the head starts ahead with them. Indices that they load from global memory are loaded one iteration earlier still, so
//! that no copy waits for its index:
//!
//! ```text
//! for the first stages iterations { page[iteration] = if there is such an iteration { load table[iteration] } else { 0 } }
//! for the first stages - 1 iterations { .. copy_async cache[page[iteration]] -> s[iteration] .. }
//! for k carry (read, write, page = page[stages - 1]) {
//!     wait(stages - 2); sync
//!     if there is an iteration stages - 1 ahead { copy_async cache[page] -> s[write] }; commit
//!     page = if there is an iteration stages ahead { load table[k + stages] } else { 0 }
//!     .. use of s[read] ..
//! }
//! ```
//!
//! If such a load takes an index that is loaded itself, as in `table[order[k]]`, that one is loaded one more iteration earlier, so that no load of
//! an index waits for another; and so once more. Of longer chains the first loads start together.
//!
//! What the rest of an iteration needs of the head is computed once more, from indices that are loaded again: before the waits if nothing writes
//! their memory while the kernel runs, otherwise after them, in the order of the text.

mod head;
mod ring;

pub use ring::pipeline;

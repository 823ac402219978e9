//! Read-modify-write operations on global memory.
//!
//! Each takes an [`Address`], changes the value there in one step that no other thread of the device can interrupt, and
//! gives the **old** value. On a tile, the operation is done once for every element, in no particular order, even if
//! addresses repeat. On one address it is done once for the whole block, and every thread gets the old value.
//!
//! Addresses make the launch unsafe. Windows of a [`TensorMut`](super::TensorMut) have the same operations as methods, such as
//! [`atomic_add`](super::ViewMut::atomic_add), which do not. So has [shared memory](super::Shared::atomic_add), at tiles of indices.
//!
//! | function | element types |
//! |---|---|
//! | [`add`], [`max`], [`min`] | `i32`, `u32`, `i64`, `u64`, `f16`, `bf16`, `f32`, `f64` |
//! | [`and`], [`or`], [`xor`] | `i32`, `u32`, `i64`, `u64` |
//! | [`exchange`], [`compare_exchange`] | types of 4 and of 8 bytes |
//!
//! Each has a twin for memory that several devices, or the host, change at the same time: [`add_system`], [`max_system`] and so on.
//!
//! # Order
//!
//! They have GPU scope: blocks of one device see each other's changes as single steps; the host and other
//! devices see them only after the kernel. The functions that end in `_system`, and windows with
//! [`system_scope`](super::ViewMut::system_scope), have the scope of the system: kernels that run at the same time on other devices, and the host,
//! see them as single steps too, and what is said below of threads is said of theirs as well. Between two GPUs that needs
//! [`enable_peer`](crate::Device::enable_peer); an emulated device runs one kernel at a time on memory of its own.
//!
//! * On a **tile** of addresses they are relaxed: they order no other reads and writes.
//! * On **one address** they are acquire and release. The block synchronises first, so a block that gets the new value
//!   sees everything that any thread wrote before. If the old value is used, every thread afterwards sees what was
//!   written before that value became visible.
//! * On a **window** they are relaxed, or what the window says: [`acquire`](super::ViewMut::acquire),
//!   [`release`](super::ViewMut::release), [`acq_rel`](super::ViewMut::acq_rel).
//!
//! Sums of floats depend on the order in which blocks arrive. Of floats, the larger and the smaller are those of
//! [`maximum`](super::maximum) and [`minimum`](super::minimum): NaN loses. (PTX ISA, "atom" and "Memory Consistency
//! Model".)
//!
//! # Many threads at one place
//!
//! Lanes of a warp with equal addresses are not combined by `match.sync` before they go to memory. A histogram is counted in shared memory, by
//! [`Shared::atomic_add`](super::Shared::atomic_add), and each block then adds its own to the one in global memory. On an H200, counting 33.5
//! million numbers takes 0.06 ms that way, over one bin and over 4096; with `match.any.sync` before each count it takes up to 0.28 ms. In
//! global memory alone it takes 1 ms over 4096 bins, 8.7 ms over 256 and 25 ms over one. There `match.any.sync` helps at 32 bins and fewer, and
//! shared memory helps more.
//!
//! # Layout
//!
//! Addresses and operands have the same layout. If inference is free, neighbouring lanes change neighbouring addresses. If several threads hold an element, one of them does the operation; if
//! the old value is used, the others get it through shared memory.
//!
//! # PTX
//!
//! * On a tile `atom.global.add.s32` and the like, one for each element. Floats that a thread adds to addresses which are known to be contiguous
//!   and aligned are added at once if nothing uses the old values, as below; so are the largest and the smallest halves found.
//! * On one address `bar.sync 0`, `@%p0 atom.acq_rel.gpu.global.add.s32` by the first thread, and, if the old value is
//!   used, `st.shared`, `bar.sync 0`, `ld.shared`.
//! * With the scope of the system `atom.relaxed.sys.global.add.s32` on a tile, and `atom.acq_rel.sys.global.add.s32` on one address.
//! * Without an instruction a loop: `ld.volatile.global`, then `atom.global.cas.b32` (`.b16` of halves, `.b64`) until it succeeds, and
//!   `bar.warp.sync`. That is the case for [`compare_exchange`], [`max`] and [`min`] of floats, and for [`add`] of `bf16` before `sm_90`.
//! * [`atomic_add`](super::ViewMut::atomic_add) of a window adds the neighbours that a thread holds at once, if nothing uses the old values
//!   and the window is aligned: from `sm_90` on `red.global.add.v4.f32`, `.noftz.v4.f16x2` and `.noftz.v4.bf16x2`, of eight halves; before
//!   that `red.global.add.noftz.f16x2`. Each element is still added by itself. `atomic_max` and `atomic_min` of halves are
//!   `red.global.max.noftz.v4.f16x2` and the like from `sm_90` on; NaN loses there too.
//!
//! # Errors
//!
//! K0204 for an element type that is not in the table; K0206 if `at` is not an address or one address gets a tile;
//! K0203 and K0202 for operands of another type or shape; K0401 if the address comes from a [`Tensor`](super::Tensor).

use super::pointer::Address;
use super::stub;

/// Adds `value` to the value there, and gives the old value.
///
/// Integers wrap; floats round to nearest even.
///
/// `atom.global.add.s32`, `.u32`, `.u64`, `.f32`, `.f64`, `.noftz.f16`, `.noftz.bf16` (before `sm_90` a loop). PTX and errors:
/// [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The next free ticket: one for each block.
/// fn ticket(counter: Ptr<i32>) -> i32 {
///     atomic::add(counter, 1)
/// }
/// ```
pub fn add<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the larger of `value` and the value there, and gives the old value.
///
/// `atom.global.max.s32`, `.u32`, `.s64`, `.u64`; of floats a loop. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn raise(highest: Ptr<i32>, seen: i32) {
///     atomic::max(highest, seen);
/// }
/// ```
pub fn max<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the smaller of `value` and the value there, and gives the old value.
///
/// `atom.global.min.s32`, `.u32`, `.s64`, `.u64`; of floats a loop. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn lower(lowest: Ptr<u64>, seen: u64) {
///     atomic::min(lowest, seen);
/// }
/// ```
pub fn min<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the bits that are set in both `value` and the value there, and gives the old value.
///
/// `atom.global.and.b32`, `.b64`. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn clear_flags(words: Ptr<u32>, at: Tile<i32>, flags: Tile<u32>) {
///     atomic::and(words + at, !flags);
/// }
/// ```
pub fn and<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the bits that are set in `value` or in the value there, and gives the old value.
///
/// `atom.global.or.b32`, `.b64`. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn set_flags(words: Ptr<u32>, at: Tile<i32>, flags: Tile<u32>) {
///     atomic::or(words + at, flags);
/// }
/// ```
pub fn or<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the bits in which `value` and the value there differ, and gives the old value.
///
/// `atom.global.xor.b32`, `.b64`. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn flip(word: Ptr<u32>, bits: u32) -> u32 {
///     atomic::xor(word, bits)
/// }
/// ```
pub fn xor<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes `value`, and gives the old value.
///
/// `atom.global.exch.b32`, `.b64`. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn take(slot: Ptr<i32>) -> i32 {
///     atomic::exchange(slot, 0)
/// }
/// ```
pub fn exchange<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes `new` if the value there equals `current`, and gives the old value.
///
/// It has succeeded if the result equals `current`. Floats are compared by value: -0 equals 0, and NaN equals nothing.
///
/// `atom.global.cas.b32`, `.b64`; for floats a loop around it. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Whether this block is the first one to claim a job; -1 marks a free job.
/// fn claim(owner: Ptr<i32>) -> bool {
///     atomic::compare_exchange(owner, -1, block_id(0)) == -1
/// }
/// ```
pub fn compare_exchange<A: Address>(at: A, current: A::Value, new: A::Value) -> A::Value {
    stub()
}

/// Adds `value` to the value there, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`add`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// One more device has written its part; how many had before.
/// fn done(parts: Ptr<i32>) -> i32 {
///     atomic::add_system(parts, 1)
/// }
/// ```
pub fn add_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the larger of `value` and the value there, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`max`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn raise(highest: Ptr<i32>, seen: i32) {
///     atomic::max_system(highest, seen);
/// }
/// ```
pub fn max_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the smaller of `value` and the value there, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`min`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn lower(lowest: Ptr<u64>, seen: u64) {
///     atomic::min_system(lowest, seen);
/// }
/// ```
pub fn min_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the bits that are set in both `value` and the value there, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`and`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn clear_flags(words: Ptr<u32>, at: Tile<i32>, flags: Tile<u32>) {
///     atomic::and_system(words + at, !flags);
/// }
/// ```
pub fn and_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the bits that are set in `value` or in the value there, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`or`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn set_flags(words: Ptr<u32>, at: Tile<i32>, flags: Tile<u32>) {
///     atomic::or_system(words + at, flags);
/// }
/// ```
pub fn or_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes the bits in which `value` and the value there differ, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`xor`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn flip(word: Ptr<u32>, bits: u32) -> u32 {
///     atomic::xor_system(word, bits)
/// }
/// ```
pub fn xor_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes `value`, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`exchange`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn take(slot: Ptr<i32>) -> i32 {
///     atomic::exchange_system(slot, 0)
/// }
/// ```
pub fn exchange_system<A: Address>(at: A, value: A::Value) -> A::Value {
    stub()
}

/// Writes `new` if the value there equals `current`, and gives the old value, for all devices and the host.
///
/// Otherwise it is [`compare_exchange`]. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Whether this block is the first one of all devices to claim a job; -1 marks a free job.
/// fn claim(owner: Ptr<i32>, me: i32) -> bool {
///     atomic::compare_exchange_system(owner, -1, me) == -1
/// }
/// ```
pub fn compare_exchange_system<A: Address>(at: A, current: A::Value, new: A::Value) -> A::Value {
    stub()
}

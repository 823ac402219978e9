//! Read-modify-write operations on global memory.
//!
//! Each takes an [`Address`], changes what is there in one step that no other thread of the device
//! can come between, and gives the **old** value. Of a tile every element is done once, in no
//! particular order, also where addresses repeat. One address is done once for the whole block, and
//! every thread gets the old value.
//!
//! | function | element types |
//! |---|---|
//! | [`add`] | `i32`, `u32`, `i64`, `u64`, `f16`, `f32`, `f64`; `bf16` from `sm_90a` |
//! | [`max`], [`min`] | `i32`, `u32`, `i64`, `u64` |
//! | [`and`], [`or`], [`xor`] | `i32`, `u32`, `i64`, `u64` |
//! | [`exchange`], [`compare_exchange`] | types of 4 and of 8 bytes |
//!
//! # Order
//!
//! All of them act at the scope of the GPU: blocks of one device see each other's changes as single
//! steps, the host and other devices only after the kernel.
//!
//! * On a **tile** of addresses they are relaxed: they order nothing else, and other reads and writes
//!   may pass them.
//! * On **one address** they are acquire and release. The block synchronises first, so that what any
//!   of its threads wrote before is visible to a block that gets the new value; and where the old value
//!   is used, what was written before it became visible is seen by every thread afterwards.
//!
//! Sums of floats depend on the order in which blocks arrive. (PTX ISA, "atom" and "Memory Consistency
//! Model".)
//!
//! # Layout
//!
//! Addresses and operands have one layout. Where several threads hold an element, one of them does it; if the old value is used,
//! the others get it through shared memory.
//!
//! # PTX
//!
//! * On a tile `atom.global.add.s32` and the like, one for each element.
//! * On one address `bar.sync 0`, `@%p0 atom.acq_rel.gpu.global.add.s32` by the first thread, and, where the old value is used,
//!   `st.shared`, `bar.sync 0`, `ld.shared`.
//! * What there is no instruction for is a loop: `ld.volatile.global`, then `atom.global.cas` until nothing came between, and
//!   `bar.warp.sync`. That is [`compare_exchange`] of floats.
//!
//! # Errors
//!
//! K0204 for an element type that the table lacks; K0206 where `at` is no address or one address gets a tile; K0203 and
//! K0202 for operands of another type or shape; K0401 where the address comes from a [`Tensor`](super::Tensor).

use super::pointer::Address;
use super::stub;

/// Adds `value` to what is there, and gives what was there before.
///
/// Integers wrap; floats round to nearest even.
///
/// `atom.global.add.s32`, `.u32`, `.u64`, `.f32`, `.f64`, `.noftz.f16`, `.noftz.bf16`. PTX and errors:
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

/// Leaves the larger of `value` and what is there, and gives what was there before.
///
/// `atom.global.max.s32`, `.u32`, `.s64`, `.u64`. PTX and errors: [of all atomics](self#ptx).
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

/// Leaves the smaller of `value` and what is there, and gives what was there before.
///
/// `atom.global.min.s32`, `.u32`, `.s64`, `.u64`. PTX and errors: [of all atomics](self#ptx).
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

/// Leaves the bits set in both `value` and what is there, and gives what was there before.
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

/// Leaves the bits set in `value` or in what is there, and gives what was there before.
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

/// Leaves the bits in which `value` and what is there differ, and gives what was there before.
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

/// Leaves `value`, and gives what was there before.
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

/// Leaves `new` where `current` was found, and gives what was there before.
///
/// It succeeded where the result equals `current`. Floats are compared by value: -0 equals 0, and NaN equals nothing.
///
/// `atom.global.cas.b32`, `.b64`; of floats a loop around it. PTX and errors: [of all atomics](self#ptx).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Whether this block is the first one to claim a job that nobody has, which is written -1.
/// fn claim(owner: Ptr<i32>) -> bool {
///     atomic::compare_exchange(owner, -1, block_id(0)) == -1
/// }
/// ```
pub fn compare_exchange<A: Address>(at: A, current: A::Value, new: A::Value) -> A::Value {
    stub()
}

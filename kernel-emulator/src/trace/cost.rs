//! What instructions cost on a device, in cycles of a multiprocessor.
//!
//! The letters beside the numbers are the sources that the documentation of [`trace`](crate::trace) lists.

use kernel_ptx::{Hardware, Target};

use super::Kind;
use crate::code::tcgen05::Kind as Element;

/// Schedulers of a multiprocessor, each of which issues one instruction a cycle.
pub(super) const SCHEDULERS: usize = 4;
/// Their number, for what each has a part of.
pub(super) const PARTS: f64 = 4.0;
/// Bytes of shared memory, or of the first-level cache, a cycle. **G**: 32 banks of 4 bytes.
pub(super) const SHARED_BYTES: f64 = 128.0;
/// Cycles of shared memory for 128 bytes: `ldmatrix` and `cp.async` beside `mma.sync` reach 0.93 of its bandwidth. **M**
pub(super) const SHARED_PASS: f64 = 1.075;
/// Lines of the first-level cache that its tag stage looks up in a cycle. **N** that it is a unit, **A** its rate
pub(super) const TAGS: f64 = 1.0;
/// From one dependent arithmetic instruction to the next. **J**
pub(super) const ARITHMETIC: f64 = 4.0;
/// Of a special function. **J**
const SPECIAL: f64 = 18.0;
/// Of arithmetic in f64. **J**
const DOUBLE: f64 = 8.0;
/// Of an exchange between lanes: a pass through shared memory's crossbar. **J**
const EXCHANGE: f64 = 23.0;
/// After a branch, until the warp issues again. **A**
pub(super) const BRANCH: f64 = 8.0;
/// From the last arrival at `bar.sync` until waiting warps issue again. **A**
pub(super) const BARRIER: f64 = 20.0;
/// From the last arrival at the barrier of a cluster: a message to another multiprocessor and back. **H**
pub(super) const CLUSTER: f64 = 190.0;
/// A fence of the asynchronous proxy, or of other threads of the block. **A**
const FENCE: f64 = 16.0;
/// From the start of a block to its first instruction. **A**
pub(super) const BLOCK_START: f64 = 300.0;
/// Between the starts of two blocks of a grid, on any multiprocessors. Of an H200: 131072 blocks of one warp that add 128 numbers take
/// 81.69 us (`benches/results/modelled.md`). **M**
pub(super) const BLOCK_INTERVAL: f64 = 1.09;
/// What a TMA or bulk copy takes longer than a load. **H**
pub(super) const TMA: f64 = 170.0;
/// Cycles of the engine for one TMA or bulk copy at least. **M**
pub(super) const TMA_LEAST: f64 = 53.0;
/// After the last cycle of a product of `wgmma` or `tcgen05`, until its result is there. **H**, `wgmma` of 8 columns
pub(super) const PRODUCT_END: f64 = 16.0;
/// `tcgen05.ld` and `.st`: latency, and columns of 32 lanes a cycle for each warp. **A**
pub(super) const TENSOR_MEMORY: f64 = 30.0;

/// A unit of a scheduler or of the multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// Needs an issue slot alone.
    None,
    Float,
    Integer,
    Special,
    Double,
    /// Loads, stores and exchanges: one unit of the multiprocessor.
    Memory,
    Tensor,
}

/// What one instruction of a warp costs, as far as its text says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) kind: Kind,
    pub(super) unit: Unit,
    /// Issue slots; 0 for what leaves no instruction.
    pub(super) slots: f64,
    /// Cycles that the unit is busy.
    pub(super) busy: f64,
    /// Until results may be used; of memory, what is beside its latency.
    pub(super) latency: f64,
    /// Of `wgmma`: bytes of shared memory that the product of the whole warpgroup reads.
    pub(super) operand_bytes: f64,
}

impl Cost {
    const fn new(kind: Kind, unit: Unit, [slots, busy, latency]: [f64; 3]) -> Cost {
        Cost { kind, unit, slots, busy, latency, operand_bytes: 0.0 }
    }

    /// Leaves no instruction.
    pub(super) const fn nothing() -> Cost {
        Cost::new(Kind::Arithmetic, Unit::None, [0.0, 0.0, 0.0])
    }

    /// An issue slot alone.
    pub(super) const fn issue(kind: Kind) -> Cost {
        Cost::new(kind, Unit::None, [1.0, 0.0, ARITHMETIC])
    }

    /// Arithmetic in f32 or in two halves. **G**: 128 a cycle
    pub(super) fn float(slots: f64) -> Cost {
        Cost::new(Kind::Arithmetic, Unit::Float, [slots, slots, ARITHMETIC + slots - 1.0])
    }

    /// Integers and logic. **G**: 64 a cycle
    pub(super) fn integer(slots: f64) -> Cost {
        let busy = 2.0 * slots;
        Cost::new(Kind::Arithmetic, Unit::Integer, [slots, busy, ARITHMETIC + busy - 2.0])
    }

    /// Special functions, and counts of bits. **G**: 16 a cycle
    pub(super) fn special(slots: f64) -> Cost {
        Cost::new(Kind::Arithmetic, Unit::Special, [slots, 8.0, SPECIAL + slots - 1.0])
    }

    /// f64.
    pub(super) fn double(device: &Device, slots: f64) -> Cost {
        let busy = slots * 32.0 * PARTS / device.doubles;
        Cost::new(Kind::Arithmetic, Unit::Double, [slots, busy, DOUBLE + busy - 1.0])
    }

    /// Exchanges between lanes. **G**: 32 a cycle
    pub(super) fn exchange() -> Cost {
        Cost::new(Kind::Arithmetic, Unit::Memory, [1.0, 1.0, EXCHANGE])
    }

    pub(super) fn fence() -> Cost {
        Cost::new(Kind::Sync, Unit::None, [1.0, 0.0, FENCE])
    }

    /// A load, store, or start of a copy; its deeds say the rest.
    pub(super) fn memory(kind: Kind) -> Cost {
        Cost::new(kind, Unit::Memory, [1.0, 1.0, 0.0])
    }

    /// `mma.sync` of so many multiplications with additions, `steps` of 32 bytes along k; `rate` as for [`Device::multiplications`].
    pub(super) fn mma(device: &Device, multiplications: f64, (rate, steps): (f64, f64)) -> Cost {
        let busy = multiplications * PARTS / (device.mma * rate);
        Cost::new(Kind::Tensor, Unit::Tensor, [1.0, busy, device.mma_latency - 9.0 + 9.0 * steps])
    }

    /// A warp's part of `wgmma`: sixteen rows.
    pub(super) fn wgmma(
        device: &Device,
        multiplications: f64,
        (rate, operand_bytes): (f64, f64),
    ) -> Cost {
        let busy = multiplications * PARTS / (device.multiplications * rate);
        let busy = busy.max(operand_bytes / SHARED_BYTES);
        let cost = Cost::new(Kind::Tensor, Unit::Tensor, [1.0, busy, PRODUCT_END]);
        Cost { operand_bytes, ..cost }
    }
}

/// A device.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) model: &'static str,
    pub(super) hardware: &'static Hardware,
    /// In GHz, under load. **W**; of an H200 **M**
    pub(super) clock: f64,
    /// Bytes of the second-level cache a cycle, for each multiprocessor. **M**
    pub(super) cache_bytes: f64,
    /// Latency of the first-level cache, of shared memory, of the second-level cache and of main memory. **H**; the last two of an H200 **M**
    pub(super) first: f64,
    pub(super) shared: f64,
    pub(super) second: f64,
    pub(super) main: f64,
    /// Latency of the shared memory of another block. **H**
    pub(super) remote: f64,
    /// Results in f64 a cycle. **G**
    pub(super) doubles: f64,
    /// Multiplications of 16 bits with additions in f32 that a multiprocessor does in a cycle: by `wgmma` and `tcgen05`, and by
    /// `mma.sync`. **W**; `mma.sync` on Hopper reaches 0.62 of the peak, **H**
    pub(super) multiplications: f64,
    pub(super) mma: f64,
    /// Of `mma.sync` of 32 bytes along k. **H**
    pub(super) mma_latency: f64,
    /// First-level cache and shared memory together, in bytes. **W**
    pub(super) first_bytes: u32,
}

impl Device {
    /// The device that a target was made for.
    pub(super) fn of(name: &str) -> Device {
        let target = Target::parse(name).unwrap_or(Target::SM_90A);
        let hardware = target.hardware();
        let multiplications = f64::from(hardware.products_per_cycle);
        let hopper = Device {
            model: hardware.model,
            hardware,
            clock: 1.755,
            cache_bytes: 64.0,
            first: 40.0,
            shared: 29.0,
            second: 287.0,
            main: 665.0,
            remote: 180.0,
            doubles: 64.0,
            multiplications,
            mma: 1270.0,
            mma_latency: 33.0,
            first_bytes: 256 * 1024,
        };
        match hardware.target.sm {
            ..=88 => Device {
                clock: 1.41,
                first: 38.0,
                second: 262.0,
                main: 466.0,
                doubles: 32.0,
                mma: multiplications,
                mma_latency: 25.0,
                first_bytes: 192 * 1024,
                ..hopper
            },
            89 => Device {
                clock: 2.52,
                first: 43.0,
                shared: 30.0,
                second: 273.0,
                main: 541.0,
                doubles: 2.0,
                mma: multiplications,
                first_bytes: 128 * 1024,
                ..hopper
            },
            90..=99 => hopper,
            100..=119 => Device { clock: 1.85, mma: 1024.0, ..hopper },
            120.. => Device {
                clock: 2.41,
                doubles: 2.0,
                mma: multiplications,
                first_bytes: 128 * 1024,
                ..hopper
            },
        }
    }

    /// Bytes of main memory a cycle, for all multiprocessors together: nine tenths of the peak. **W**; of an H200 **M**
    pub(super) fn memory_bytes(&self) -> f64 {
        0.9 * f64::from(self.hardware.memory_gigabytes_per_second) / self.clock
    }

    /// Cycles of the tensor cores for a `tcgen05.mma` in one multiprocessor.
    pub(super) fn tcgen05(&self, kind: Element, (rows, columns): (u32, u32)) -> f64 {
        // 32 bytes of a row of A: so many multiplications, at this rate.
        let (depth, rate) = match kind {
            Element::F16 => (16.0, 1.0),
            Element::Tf32 => (8.0, 0.5),
            Element::F8f6f4 | Element::I8 | Element::Mxf8f6f4 => (32.0, 2.0),
            Element::Mxf4 | Element::Mxf4nvf4 => (64.0, 4.0),
        };
        // Fewer than 128 rows leave lanes of the data path idle.
        let rows = f64::from(rows.clamp(128, 256));
        rows * f64::from(columns) * depth / (self.multiplications * rate)
    }
}

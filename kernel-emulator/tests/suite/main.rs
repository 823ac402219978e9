//! PTX texts with expected results that are computed here, independently of the emulator.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::precedence,
    reason = "the expected values are those of the host's own arithmetic, bit by bit"
)]
#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "they differ where an operand is NaN, which is what these tests are about"
)]
#![expect(clippy::type_complexity, reason = "tables of functions")]

mod arith;
mod async_copy;
mod async_hazards;
mod atomics;
mod barriers;
mod bits;
mod bulk;
mod cluster_races;
mod compare;
mod control;
mod convert;
mod dependent_grids;
mod exchange;
mod faults;
mod findings;
mod floats;
mod gather;
mod global_races;
mod harness;
mod hopper_waits;
mod host;
mod im2col;
mod lane_races;
mod launch_control;
mod livelock;
mod matrix;
mod memory;
mod mma_narrow;
mod mma_sparse;
mod names;
mod print;
mod races;
mod resident_blocks;
mod shared_variables;
mod tcgen05_faults;
mod tcgen05_mma;
mod tcgen05_order;
mod tcgen05_pairs;
mod tcgen05_scales;
mod tcgen05_sparse;
mod tensor_maps;
mod tensor_memory;
mod tensormap_proxy;
mod tma;
mod trace;
mod wgmma;
mod wgmma_faults;

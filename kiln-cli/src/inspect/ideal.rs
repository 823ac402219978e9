//! The least time of a loop's iteration: of the tensor cores, of global memory, and of the schedulers that issue its instructions.
//!
//! All three are cycles of a multiprocessor for an iteration of one block whose warps all run the loop. In an ideal product, the tensor
//! cores take longest and everything else happens meanwhile; in an ideal loop without products, global memory does.

use kernel_ptx::{Hardware, occupancy};

use super::loops::Loop;
use super::products::Operands;

/// The schedulers of a multiprocessor, each of which issues an instruction of a warp in a cycle (CUDA C++ Programming Guide, "Hardware
/// Multithreading" and the sections on multiprocessors of each compute capability).
const SCHEDULERS: f64 = 4.0;

/// How the rates of a GPU's tensor cores go together, beside what [`Hardware`] says.
struct Rates {
    model: &'static str,
    /// The clock for which the papers state rates.
    gigahertz: f64,
    /// Dense products of these operands for each of 16-bit ones, with sums of 32 bits; 0 if there are no such products.
    float8: u32,
    int8: u32,
    float4: u32,
}

/// From the papers that [`Hardware::products_per_cycle`] names: rates of the whole GPU, by its multiprocessors and its clock.
const RATES: [Rates; 5] = [
    Rates { model: "A100", gigahertz: 1.41, float8: 0, int8: 2, float4: 0 },
    Rates { model: "RTX 4090", gigahertz: 2.52, float8: 2, int8: 4, float4: 0 },
    Rates { model: "H200", gigahertz: 1.83, float8: 2, int8: 2, float4: 0 },
    Rates { model: "B200", gigahertz: 1.856, float8: 2, int8: 2, float4: 4 },
    Rates { model: "RTX 5090", gigahertz: 2.407, float8: 2, int8: 4, float4: 8 },
];

impl Rates {
    /// Multiplications and additions of a multiprocessor in a cycle.
    fn of(&self, operands: Operands, hardware: &Hardware) -> Option<f64> {
        // A multiplication and an addition.
        let half = 2 * hardware.products_per_cycle;
        let rate = match operands {
            Operands::Tf32 => half / 2,
            Operands::Half => half,
            Operands::Float8 => half * self.float8,
            Operands::Int8 => half * self.int8,
            Operands::Float4 => half * self.float4,
            Operands::Other => 0,
        };
        (rate > 0).then_some(f64::from(rate))
    }

    /// A multiprocessor's share of the bandwidth of the GPU's memory, in bytes a cycle.
    fn bytes(&self, hardware: &Hardware) -> f64 {
        let gigahertz = f64::from(hardware.multiprocessors) * self.gigahertz;
        f64::from(hardware.memory_gigabytes_per_second) / gigahertz
    }
}

/// The least cycles of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ideal {
    /// The GPU.
    pub gpu: &'static str,
    /// Of the tensor cores; 0 without products, none if the rate or the shape of a product is not known.
    pub tensor: Option<f64>,
    /// Of global memory if no cache holds anything; none if the number of bytes is not in the text.
    pub memory: Option<f64>,
    /// Of the schedulers.
    pub issue: f64,
}

impl Ideal {
    /// How many other instructions there is time for while a product runs, beside its own.
    pub fn room(&self, one: &Loop) -> Option<f64> {
        // The loop has as many for each product as it has.
        let others = one.others_of_product()?;
        let tensor = self.tensor.filter(|cycles| *cycles > 0.0)?;
        Some((tensor / self.issue * (others + 1.0) - 1.0).max(0.0))
    }

    /// The cycles in words.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(cycles) = self.tensor.filter(|cycles| *cycles > 0.0) {
            parts.push(format!("{cycles:.0} of the tensor cores"));
        }
        if let Some(cycles) = self.memory.filter(|cycles| *cycles > 0.0) {
            parts.push(format!("{cycles:.0} of global memory without caches"));
        }
        parts.push(format!("{:.0} to issue instructions", self.issue));
        format!("least cycles of an iteration, {}: {}", self.gpu, parts.join(", "))
    }
}

/// The least cycles of an iteration of a loop that has products or reads global memory, on the GPU that the target is made for; `threads` are
/// those of a block.
pub fn of(one: &Loop, threads: u32, hardware: &Hardware) -> Option<Ideal> {
    let rates = RATES.iter().find(|rates| rates.model == hardware.model)?;
    let warps = f64::from(threads.div_ceil(occupancy::LANES).max(1));
    let flops = match (one.work.flops_of_warp, one.work.flops_of_block) {
        (Some(of_warp), Some(of_block)) => Some(as_float(of_warp) * warps + as_float(of_block)),
        _ => None,
    };
    let has_products = one.others_of_product().is_some();
    let rate = one.work.operands.and_then(|operands| rates.of(operands, hardware));
    let tensor =
        if has_products { flops.zip(rate).map(|(flops, rate)| flops / rate) } else { Some(0.0) };
    let of_threads = as_float(one.work.bytes_of_thread) * f64::from(threads);
    let bytes = one.work.bytes_of_block.map(|of_block| of_threads + as_float(of_block));
    let memory = bytes.map(|bytes| bytes / rates.bytes(hardware));
    // A scheduler has a warp at least.
    let of_scheduler = (warps / SCHEDULERS).max(1.0);
    let issue = as_float(one.mix.all() as u64) * of_scheduler;
    let is_known =
        tensor.is_some_and(|cycles| cycles > 0.0) || memory.is_some_and(|cycles| cycles > 0.0);
    is_known.then_some(Ideal { gpu: rates.model, tensor, memory, issue })
}

#[expect(clippy::cast_precision_loss, reason = "a time is shown with three digits")]
fn as_float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::loops;

    /// The only loop of a kernel of 256 threads.
    fn only(target: &str, body: &str) -> (Loop, Ideal) {
        let text = format!(
            ".version 8.6\n.target {target}\n.address_size 64\n.visible .entry k()\n.reqntid 256, 1, 1\n\
             {{ .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<9>;\n\
             LOOP: {body}\n@%p1 bra LOOP; ret; }}"
        );
        let module = kernel_ptx::parse(&text).expect("PTX");
        let mut found = loops::of(&module.functions[0]);
        let one = found.remove(0);
        let target = kernel_ptx::Target::parse(target).expect("a target");
        let ideal = of(&one, 256, target.hardware()).expect("it has products");
        (one, ideal)
    }

    const MMA: &str = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};";

    #[test]
    fn a_product_of_a_warp_takes_eight_cycles_of_an_a100() {
        // 1024 multiplications with additions in a cycle of four tensor cores: 256 in one of them, which has 16 * 8 * 16 = 2048 to do.
        // The two warps of a scheduler take their turns: 2 * 2 * 8 cycles. They issue 2 * 6 instructions meanwhile, and there is time for 32.
        let (one, ideal) = only(
            "sm_80",
            &format!(
                "{MMA} {MMA} add.s32 %r8, %r8, 1; add.s32 %r8, %r8, 1; ld.global.b32 %r9, [%rd0];"
            ),
        );
        assert_eq!((ideal.gpu, ideal.tensor, ideal.issue), ("A100", Some(32.0), 12.0));
        // 7 others for each product.
        let room = ideal.room(&one).expect("products");
        assert!((room - 7.0).abs() < 1e-9, "{room}");
        // 4 bytes of each of 256 threads; 2039e9 / 108 / 1.41e9 = 13.39 in a cycle.
        let memory = ideal.memory.expect("bytes");
        assert!((memory - 1024.0 / 13.39).abs() < 0.5, "{memory}");
    }

    #[test]
    fn a_product_of_a_warpgroup_takes_the_four_tensor_cores() {
        // 64 * 128 * 16 multiplications, 2048 in a cycle of an H200: 64 cycles, and two warpgroups.
        let sums = ["%f0"; 64].join(", ");
        let (_, ideal) = only(
            "sm_90a",
            &format!(
                "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{sums}}}, %rd0, %rd1, 1, 1, 1, 0, 0;"
            ),
        );
        assert_eq!(ideal.tensor, Some(128.0));
        assert_eq!(
            ideal.text(),
            "least cycles of an iteration, H200: 128 of the tensor cores, 4 to issue instructions"
        );
    }

    /// The rates are those of the whole GPU that the data sheets state, in TFLOP/s.
    #[test]
    fn rates_are_those_of_data_sheets() {
        let sheets = [
            ("A100", 312.0),
            ("RTX 4090", 165.2),
            ("H200", 989.4),
            ("B200", 2250.0),
            ("RTX 5090", 209.5),
        ];
        for (model, tera_flops) in sheets {
            let rates = RATES.iter().find(|rates| rates.model == model).expect("a row");
            let row = Hardware::ROWS.iter().find(|row| row.model == model).expect("a GPU");
            let half = rates.of(Operands::Half, row).expect("every GPU has it");
            let flops = half * f64::from(row.multiprocessors) * rates.gigahertz / 1e3;
            // Clocks are stated with three digits.
            assert!((flops / tera_flops - 1.0).abs() < 0.005, "{model}: {flops}");
        }
    }
}

//! A differential test: a kernel, what it is given, and how its results are compared.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::{MapInfo, Target};

/// A kernel that a GPU and the emulator both run.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it tests: a form, or a group of them.
    pub name: String,
    /// The forms that it is the test of; each stands in its kernel.
    pub forms: Vec<String>,
    /// What the module is for.
    pub target: Target,
    /// The PTX module, whose entry is `case`.
    pub ptx: String,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Global memory: the entry's first parameters are their addresses.
    pub buffers: Vec<Buffer>,
    /// Tensor maps: the entry's last parameters.
    pub maps: Vec<Map>,
    /// Random operand tuples that a launch computes with.
    pub operands: u64,
    /// What one result is.
    pub result: Type,
    /// Bytes from one result to the next.
    pub pitch_bytes: usize,
    /// How far results may differ.
    pub bound: Bound,
}

/// Memory of a kernel.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What it holds at first.
    pub bytes: Vec<u8>,
    /// Whether it is compared after the launch.
    pub role: Role,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read only: what the `pitch_bytes` given here hold belongs to one result, for messages.
    Operands(usize),
    /// Read only, or of no interest afterwards.
    Given,
    /// Compared after the launch.
    Compared,
}

/// A tensor map of a buffer.
#[derive(Clone, Debug)]
pub struct Map {
    /// The buffer.
    pub buffer: usize,
    /// The element type, as the runtime calls it.
    pub dtype: &'static str,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Extents, the outermost first.
    pub shape: Vec<usize>,
    /// Strides in elements, the outermost first.
    pub strides: Vec<usize>,
    /// What the runtime is told; its `param` is overwritten.
    pub info: MapInfo,
}

/// How far results may be apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Not at all: the same bits.
    Bits,
    /// So many units in the last place; infinities and NaN are the same, whatever a NaN's payload.
    Ulps(u64),
}

/// What every module begins with.
pub fn head(target: Target) -> String {
    format!(".version 8.6\n.target {target}\n.address_size 64\n")
}

/// An entry `case` that takes the addresses of so many buffers, in `%a0`, `%a1`, .., and has a name for each thread's number
/// within the grid: `%i` and, in 64 bits, `%ii`. The block's dimension is a constant of the module.
pub fn entry(buffers: usize, threads: u32, body: &str) -> String {
    let params: Vec<String> = (0..buffers).map(|n| format!(".param .u64 a{n}")).collect();
    let mut text = format!(".visible .entry case({})\n{{\n", params.join(", "));
    text.push_str(".reg .b32 %i, %thread, %cta;\n.reg .b64 %ii, %a<8>;\n");
    for n in 0..buffers {
        let _ = writeln!(text, "ld.param.u64 %a{n}, [a{n}];");
    }
    let _ = write!(
        text,
        "mov.u32 %thread, %tid.x;\nmov.u32 %cta, %ctaid.x;\nmad.lo.u32 %i, %cta, {threads}, %thread;\ncvt.u64.u32 %ii, %i;\n{body}\nret;\n}}\n"
    );
    text
}

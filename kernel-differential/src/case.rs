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
    /// Blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Blocks of a cluster along x, y and z.
    pub cluster: [u32; 3],
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
    /// Parameters behind the buffers: PTX type and bits.
    pub scalars: Vec<(&'static str, u64)>,
    /// How the launch ends.
    pub ending: Ending,
}

/// How a launch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With results.
    Normal,
    /// With a fault: nothing else is compared.
    Fault,
}

/// So many blocks in a row.
pub fn line(blocks: usize) -> [u32; 3] {
    [u32::try_from(blocks).expect("launches are small"), 1, 1]
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

/// How far results may be apart. A NaN's sign and payload, which PTX ISA leaves open, are counted and may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Not at all: the same bits.
    Bits,
    /// As far as the manual permits a device to be from the exact value, of which the emulator has the nearest.
    Near(Tolerance),
}

/// The error of a function. Either part suffices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// As a part of the result.
    pub relative: f64,
    /// As such.
    pub absolute: f64,
    /// The largest operand that the manual says something of.
    pub most: f64,
    /// What the manual says, in its words.
    pub says: &'static str,
}

/// What every module begins with.
pub fn head(target: Target) -> String {
    format!(".version 9.0\n.target {target}\n.address_size 64\n")
}

/// An entry `case` that takes the addresses of so many buffers, in `%a0`, `%a1`, .., and has a name for each thread's number
/// within the grid: `%i` and, in 64 bits, `%ii`. The block's dimension is a constant of the module.
pub fn entry(buffers: usize, threads: u32, body: &str) -> String {
    entry_with(buffers, &[], &[], threads, body)
}

/// As [`entry`], with parameters `s0`, `s1`, .. of these types, and tensor maps `map0`, `map1`, .. of tensors of these
/// ranks behind everything else.
pub fn entry_with(
    buffers: usize,
    scalars: &[&str],
    ranks: &[usize],
    threads: u32,
    body: &str,
) -> String {
    let mut params: Vec<String> = (0..buffers).map(|n| format!(".param .u64 a{n}")).collect();
    params.extend(scalars.iter().enumerate().map(|(n, ty)| format!(".param .{ty} s{n}")));
    for (map, rank) in ranks.iter().enumerate() {
        // A tensor's address, extents and strides, as the runtime passes them.
        params.push(format!(".param .u64 t{map}"));
        params.extend((0..*rank).map(|d| format!(".param .u32 t{map}_dim{d}")));
        params.extend((0..*rank).map(|d| format!(".param .u64 t{map}_stride{d}")));
    }
    params.extend((0..ranks.len()).map(|map| format!(".param .align 64 .b8 map{map}[128]")));
    let mut text = format!(
        ".visible .entry case({})\n.reqntid {threads}, 1, 1\n.minnctapersm 1\n{{\n",
        params.join(", ")
    );
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

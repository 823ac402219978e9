//! Loops of a kernel and what their instructions do.
//!
//! A loop begins at a label that a later branch jumps back to, and ends with the last such branch. A loop that does nothing but wait on a
//! barrier is no loop of its own: its instructions count where it stands.

use std::collections::BTreeMap;

use kernel_ptx::{Function, Instruction, Label, Opcode, Operand, Statement, Word};

use super::class::{self, Class, Mix, has};
use super::kernel::Constants;
use super::products::{self, Operands};
use super::shared::access_bytes;

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The label at its beginning.
    pub label: String,
    /// The first and the last line of the source that its instructions come from, without loops within it: of the file that most of them
    /// come from.
    pub lines: Option<[u32; 2]>,
    /// How many loops are around it.
    pub depth: usize,
    /// Its instructions without those of loops within it.
    pub mix: Mix,
    /// Its instructions with those of loops within it.
    pub instructions: usize,
    /// Waits on barriers that are loops of a few instructions, without those of loops within it.
    pub waits: usize,
    /// What its products do and what its copies and loads bring, without loops within it.
    pub work: Work,
}

/// What an iteration computes and loads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Multiplications and additions of the tensor cores for a warp; none if a product's shape is not in the text.
    pub flops_of_warp: Option<u64>,
    /// The same of products that one thread starts for the block.
    pub flops_of_block: Option<u64>,
    /// The operands of all products; none without products, or if they differ.
    pub operands: Option<Operands>,
    /// Bytes that a thread loads from global memory, or copies from there with `cp.async`.
    pub bytes_of_thread: u64,
    /// Bytes that barriers expect from bulk copies (`mbarrier.expect_tx`), for a block; none if one is not in the text.
    pub bytes_of_block: Option<u64>,
}

impl Work {
    /// Floating-point operations for each byte that comes from global memory, if all warps of a block run the loop.
    pub fn intensity(&self, threads: u32) -> Option<f64> {
        let warps = u64::from(threads.div_ceil(32));
        let flops = self.flops_of_warp? * warps + self.flops_of_block?;
        let bytes = self.bytes_of_thread * u64::from(threads) + self.bytes_of_block?;
        (flops > 0 && bytes > 0).then(|| as_float(flops) / as_float(bytes))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is shown with three digits")]
fn as_float(number: u64) -> f64 {
    number as f64
}

impl Loop {
    /// Instructions other than products for each product; none without products.
    pub fn others_of_product(&self) -> Option<f64> {
        let products = self.mix.of(Class::Product);
        let others = self.mix.all() - products;
        (products > 0).then(|| as_float(others as u64) / as_float(products as u64))
    }
}

/// Statements from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: usize,
    last: usize,
}

impl Span {
    fn holds(self, other: Span) -> bool {
        self.first <= other.first && other.last <= self.last && self != other
    }
}

/// The loops of a function, outer ones before those within them.
pub fn of(function: &Function) -> Vec<Loop> {
    let Some(body) = &function.body else { return Vec::new() };
    let constants = Constants::of(function);
    let mut spans = spans(function, body);
    let (waits, others): (Vec<Span>, Vec<Span>) =
        spans.drain(..).partition(|span| is_wait(&body[span.first..=span.last]));
    let around = |at: usize| {
        let inside = others.iter().filter(|span| span.first <= at && at <= span.last);
        inside.min_by_key(|span| span.last - span.first).copied()
    };
    let mut loops = Vec::new();
    for &span in &others {
        let mut found = Loop {
            label: label_at(function, body, span.first),
            lines: None,
            depth: others.iter().filter(|other| other.holds(span)).count(),
            mix: Mix::default(),
            instructions: 0,
            waits: waits.iter().filter(|wait| around(wait.first) == Some(span)).count(),
            work: Work {
                flops_of_warp: Some(0),
                flops_of_block: Some(0),
                operands: None,
                bytes_of_thread: 0,
                bytes_of_block: Some(0),
            },
        };
        let mut places: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut place = location(body, span.first);
        for (at, statement) in body.iter().enumerate().take(span.last + 1).skip(span.first) {
            if let Statement::Location { file, line, .. } = statement {
                place = Some((*file, *line));
            }
            let Statement::Instruction(instruction) = statement else { continue };
            found.instructions += 1;
            if around(at) == Some(span) {
                if let Some((file, line)) = place {
                    places.entry(file).or_default().push(line);
                }
                found.mix.add(class::of(instruction));
                add(&mut found.work, instruction, &constants);
            }
        }
        let most = places.into_values().max_by_key(Vec::len).unwrap_or_default();
        found.lines = most.iter().min().zip(most.iter().max()).map(|(&first, &last)| [first, last]);
        loops.push(found);
    }
    loops
}

/// Every label that a later branch jumps to, with the last such branch; outer ones first.
fn spans(function: &Function, body: &[Statement]) -> Vec<Span> {
    let mut begins = vec![None; function.labels.len()];
    let mut spans: Vec<Span> = Vec::new();
    for (at, statement) in body.iter().enumerate() {
        match statement {
            Statement::Label(label) => {
                if let Some(begin) = begins.get_mut(label.0 as usize) {
                    *begin = Some(at);
                }
            }
            Statement::Instruction(instruction) => {
                for label in targets(function, instruction) {
                    let Some(Some(first)) = begins.get(label.0 as usize).copied() else { continue };
                    match spans.iter_mut().find(|span| span.first == first) {
                        Some(span) => span.last = at,
                        None => spans.push(Span { first, last: at }),
                    }
                }
            }
            Statement::Location { .. } | Statement::Pragma(_) => {}
        }
    }
    spans.sort_by_key(|span| (span.first, std::cmp::Reverse(span.last)));
    spans
}

/// The labels that an instruction may jump to.
fn targets<'f>(function: &'f Function, instruction: &'f Instruction) -> Vec<Label> {
    if !matches!(instruction.opcode, Opcode::Bra | Opcode::Brx) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for operand in &instruction.operands {
        if let Operand::Label(label) = operand {
            found.push(*label);
        } else if let Operand::BranchTargets(table) = operand {
            found.extend(function.branch_targets.get(*table as usize).into_iter().flatten());
        }
    }
    found
}

fn label_at(function: &Function, body: &[Statement], at: usize) -> String {
    let Some(Statement::Label(label)) = body.get(at) else { return String::new() };
    function.labels.get(label.0 as usize).cloned().unwrap_or_default()
}

/// File and line of the statement at a place.
fn location(body: &[Statement], at: usize) -> Option<(u32, u32)> {
    body[..at].iter().rev().find_map(|statement| match statement {
        Statement::Location { file, line, .. } => Some((*file, *line)),
        Statement::Label(_) | Statement::Instruction(_) | Statement::Pragma(_) => None,
    })
}

/// Whether a loop only asks, again and again, whether a barrier is complete.
fn is_wait(statements: &[Statement]) -> bool {
    let mut asks = false;
    for statement in statements {
        let Statement::Instruction(instruction) = statement else { continue };
        let waits = has(instruction, Word::TryWait) || has(instruction, Word::TestWait);
        asks |= waits;
        let control = matches!(instruction.opcode, Opcode::Bra | Opcode::Nanosleep | Opcode::Setp);
        if !waits && !control {
            return false;
        }
    }
    asks
}

/// Adds what an instruction computes and loads.
fn add(work: &mut Work, instruction: &Instruction, constants: &Constants) {
    match class::of(instruction) {
        Class::Product => add_product(work, products::of(instruction, constants)),
        Class::Load => work.bytes_of_thread += access_bytes(instruction).unwrap_or(0),
        // What bulk copies bring is what their barriers expect.
        Class::Copy if !has(instruction, Word::Bulk) && instruction.opcode == Opcode::Cp => {
            work.bytes_of_thread += access_bytes(instruction).unwrap_or(0);
        }
        Class::Barrier if has(instruction, Word::ExpectTx) => {
            let bytes = instruction.operands.last().and_then(|bytes| constants.number(bytes));
            let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
            work.bytes_of_block = work.bytes_of_block.zip(bytes).map(|(all, more)| all + more);
        }
        Class::Store
        | Class::Shared
        | Class::TensorMemory
        | Class::Copy
        | Class::Barrier
        | Class::Shuffle
        | Class::Convert
        | Class::Float
        | Class::Integer
        | Class::Move
        | Class::Control => {}
    }
}

fn add_product(work: &mut Work, product: Option<products::Product>) {
    let is_first = work.flops_of_warp == Some(0) && work.flops_of_block == Some(0);
    let Some(products::Product { flops, by, operands }) = product else {
        (work.flops_of_warp, work.flops_of_block, work.operands) = (None, None, None);
        return;
    };
    let all = match by {
        products::By::Warp => &mut work.flops_of_warp,
        products::By::Block => &mut work.flops_of_block,
    };
    *all = all.map(|all| all + flops);
    work.operands =
        if is_first { Some(operands) } else { work.operands.filter(|one| *one == operands) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(body: &str) -> Vec<Loop> {
        let text = format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.file 1 \"a.rs\"\n.extern .shared .align 1024 .b8 smem[];\n\
             .visible .entry k()\n.reqntid 128, 1, 1\n\
             {{ .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<9>;\n{body}\nret; }}"
        );
        let module = kernel_ptx::parse(&text).expect("PTX");
        of(&module.functions[0])
    }

    const MMA: &str = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};";

    #[test]
    fn instructions_count_in_the_innermost_loop() {
        let body = format!(
            ".loc 1 3 3\nOUTER: add.s32 %r8, %r8, 1;\n.loc 1 7 3\nINNER: {MMA} {MMA}\n.loc 1 8 3\ncp.async.cg.shared.global [%r9], [%rd0], 16;\n\
             ld.global.v2.b32 {{%r1, %r2}}, [%rd1];\nsetp.lt.s32 %p0, %r8, 9; @%p0 bra INNER;\n.loc 1 5 3\n\
             @%p1 bra OUTER;\n"
        );
        let found = loops(&body);
        assert_eq!(found.len(), 2);
        let [outer, inner] = &found[..] else { return };
        assert_eq!((outer.label.as_str(), outer.depth, outer.lines), ("OUTER", 0, Some([3, 5])));
        assert_eq!((outer.mix.all(), outer.instructions), (2, 8));
        assert_eq!((inner.label.as_str(), inner.depth, inner.lines), ("INNER", 1, Some([7, 8])));
        let counts = [Class::Product, Class::Copy, Class::Load, Class::Integer, Class::Control];
        assert_eq!(counts.map(|class| inner.mix.of(class)), [2, 1, 1, 1, 1]);
        // Four instructions for two products. 2 · 2 · 16 · 8 · 16 operations of a warp, and 24 bytes of each of its 32 threads.
        assert_eq!(inner.others_of_product(), Some(2.0));
        assert_eq!(inner.work.flops_of_warp, Some(8192));
        assert_eq!(inner.work.bytes_of_thread, 24);
        assert_eq!(inner.work.intensity(128), Some(8192.0 / (24.0 * 32.0)));
    }

    #[test]
    fn a_wait_is_no_loop_of_its_own() {
        let body = "LOOP: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 4096;\n\
                    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], %r2; @!%p0 bra WAIT;\n@%p1 bra LOOP;";
        let found = loops(body);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].waits, found[0].mix.of(Class::Barrier)), (1, 2));
        assert_eq!(found[0].work.bytes_of_block, Some(4096));
    }
}

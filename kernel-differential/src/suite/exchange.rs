//! Kernels whose threads work together: asynchronous copies and barriers.
//!
//! What such an instruction does is seen in memory: each kernel moves random bytes by it, and writes out where they came.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use super::Entry;
use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry_with, head, line},
    form::form,
    random::Random,
    types,
};

pub(super) const THREADS: usize = 128;

/// A kernel with what it is given.
pub(super) struct Kernel {
    pub(super) name: String,
    /// It is the test of its forms that begin with one of these.
    pub(super) covers: &'static [&'static str],
    pub(super) target: Target,
    pub(super) blocks: usize,
    pub(super) cluster: [u32; 3],
    pub(super) threads: usize,
    pub(super) buffers: usize,
    /// Of the entry, with what stands before it in the module.
    pub(super) body: String,
    pub(super) given: fn(&str, usize) -> Vec<Buffer>,
    /// Operand tuples of a block.
    pub(super) operands: usize,
    pub(super) result: Type,
    /// In place of `blocks` in a row.
    pub(super) grid: Option<[u32; 3]>,
    pub(super) scalars: Vec<(&'static str, u64)>,
    pub(super) ending: Ending,
}

impl Kernel {
    fn ptx(&self) -> String {
        let threads = u32::try_from(self.threads).expect("few");
        let scalars: Vec<&str> = self.scalars.iter().map(|(ty, _)| *ty).collect();
        let text = entry_with(self.buffers, &scalars, &[], threads, &self.body);
        format!("{}{text}", head(self.target))
    }

    /// The forms that stand in the kernel and that it is the test of.
    fn forms(&self) -> Vec<String> {
        let module = kernel_ptx::parse(&self.ptx())
            .unwrap_or_else(|error| unreachable!("{} is PTX: {error}", self.name));
        let mut forms: Vec<String> = module
            .instructions()
            .map(|(_, instruction)| form(instruction))
            .filter(|form| self.covers.iter().any(|start| form.starts_with(start)))
            .collect();
        forms.sort();
        forms.dedup();
        forms
    }

    pub(super) fn into_entry(self) -> Entry {
        let (name, forms) = (self.name.clone(), self.forms());
        let count = |n: usize| u32::try_from(n).expect("launches are small");
        let make = move || Case {
            name: self.name.clone(),
            forms: self.forms(),
            target: self.target,
            ptx: self.ptx(),
            threads: count(self.threads),
            blocks: self.grid.unwrap_or(line(self.blocks)),
            cluster: self.cluster,
            shared_bytes: 0,
            buffers: (self.given)(&self.name, self.blocks),
            maps: Vec::new(),
            operands: (self.operands * self.blocks) as u64,
            result: self.result,
            pitch_bytes: (self.result.bits() as usize / 8).max(1),
            bound: Bound::Bits,
            scalars: self.scalars.clone(),
            ending: self.ending,
        };
        Entry { name, forms, make: Box::new(make) }
    }
}

/// So many random bytes.
pub(super) fn noise(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count.div_ceil(8)).flat_map(|_| random.word().to_le_bytes()).take(count).collect()
}

/// `bytes` bytes a block to read, and as many to write.
fn in_and_out(name: &str, blocks: usize, bytes: usize) -> Vec<Buffer> {
    let mut random = Random::of(name);
    vec![
        Buffer { bytes: noise(&mut random, blocks * bytes), role: Role::Given },
        Buffer { bytes: vec![0; blocks * bytes], role: Role::Compared },
    ]
}

/// The cases.
pub(super) fn entries() -> Vec<Entry> {
    let mut kernels =
        vec![async_copy("commit_group;\ncp.async.wait_group 0"), async_copy("wait_all")];
    kernels.extend(POLICIES.map(bulk));
    kernels.extend(bulk_reductions());
    kernels.push(barriers());
    kernels.push(named_barriers());
    kernels.push(votes());
    kernels.into_iter().map(Kernel::into_entry).collect()
}

/// Each thread copies from random places, all or part of what it asks for, into a slot of its own.
fn async_copy(end: &str) -> Kernel {
    let ways = [
        ("ca.shared.global", 4),
        ("ca.shared.global", 8),
        ("ca.shared.global", 16),
        ("cg.shared.global", 16),
        ("cg.shared.global.L2::128B", 16),
        ("ca.shared.global.L2::cache_hint", 4),
        ("ca.shared.global.L2::cache_hint", 8),
        ("cg.shared.global.L2::cache_hint.L2::128B", 16),
    ];
    let result = 32 * ways.len();
    let mut body = String::from(
        ".shared .align 16 .b8 memory[32768];
.reg .b32 %m, %s, %r<5>, %v<4>;
.reg .b64 %g, %o, %policy;
mov.b64 %policy, 0x14F0000000000000;
mul.wide.u32 %g, %i, 16;
add.u64 %g, %g, %a1;
ld.global.v2.b32 {%r0, %r1}, [%g];
mov.u32 %m, memory;
mul.lo.u32 %s, %thread, 16;
add.u32 %s, %s, %m;
cvt.u64.u32 %g, %r0;
add.u64 %g, %g, %a0;
prefetch.global.L2 [%g];
prefetch.global.L2::evict_last [%g];
",
    );
    for (number, (way, bytes)) in ways.iter().enumerate() {
        let policy = if way.contains("hint") { ", %policy" } else { "" };
        let _ = write!(
            body,
            "min.u32 %r2, %r1, {bytes};
cp.async.{way} [%s+{}], [%g], {bytes}{policy};
cp.async.{way} [%s+{}], [%g], {bytes}, %r2{policy};
",
            4096 * number,
            4096 * number + 2048
        );
    }
    let _ = write!(body, "cp.async.{end};\nmul.wide.u32 %o, %i, {result};\nadd.u64 %o, %o, %a2;\n");
    for (number, (_, bytes)) in ways.iter().enumerate() {
        for half in 0..2 {
            let (list, vector) = match bytes {
                4 => ("%v0", "b32"),
                8 => ("{%v0, %v1}", "v2.b32"),
                _ => ("{%v0, %v1, %v2, %v3}", "v4.b32"),
            };
            let _ = write!(
                body,
                "ld.shared.{vector} {list}, [%s+{}];\nst.global.{vector} [%o+{}], {list};\n",
                4096 * number + 2048 * half,
                32 * number + 16 * half
            );
        }
    }
    Kernel {
        name: format!("cp.async, {}", if end == "wait_all" { "all" } else { "in groups" }),
        covers: &["cp.async.", "prefetch.global."],
        target: Target::Sm80,
        blocks: 1024,
        cluster: [1; 3],
        threads: THREADS,
        buffers: 3,
        body,
        given: |name, blocks| {
            let mut random = Random::of(name);
            let source = 1 << 16;
            let mut places = Vec::new();
            for _ in 0..blocks * THREADS {
                let place = 16 * random.below(source / 16);
                for word in [place, random.below(17), 0, 0] {
                    places.extend(u32::try_from(word).expect("small").to_le_bytes());
                }
            }
            vec![
                Buffer { bytes: noise(&mut random, 1 << 16), role: Role::Given },
                Buffer { bytes: places, role: Role::Given },
                Buffer { bytes: vec![0; blocks * THREADS * 256], role: Role::Compared },
            ]
        },
        operands: THREADS,
        result: Type::B32,
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

/// What a kernel with an mbarrier begins with: it is in `[bar]`, and `%first` is true of one thread of the block.
const BARRIER: &str = ".shared .align 8 .b64 bar[2];
.reg .pred %first, %p, %q;
setp.eq.u32 %first, %thread, 0;
@%first mbarrier.init.shared::cta.b64 [bar], 1;
@%first fence.mbarrier_init.release.cluster;
";

/// A cache policy: what a case with it is called, and its bits. Those that `createpolicy.fractional` makes of whole accesses, and none.
const POLICIES: [(&str, Option<u64>); 3] = [
    ("", None),
    (", evict first", Some(0x12F0_0000_0000_0000)),
    (", evict last", Some(0x14F0_0000_0000_0000)),
];

/// Copies of one dimension to shared memory and back, of random sizes at random places.
fn bulk((called, policy): (&str, Option<u64>)) -> Kernel {
    let (hint, last) = if policy.is_some() { (".L2::cache_hint", ", %policy") } else { ("", "") };
    let policy = policy.unwrap_or_default();
    let body = format!(
        ".shared .align 128 .b8 tile[2048];
{BARRIER}
.reg .b32 %m, %r<4>;
.reg .b64 %g, %o, %t, %policy;
mov.b64 %policy, {policy};
bar.sync 0;
mov.u32 %m, tile;
mul.wide.u32 %g, %cta, 16;
add.u64 %g, %g, %a1;
ld.global.v2.b32 {{%r0, %r1}}, [%g];
cvt.u64.u32 %t, %r0;
add.u64 %t, %t, %a0;
mul.wide.u32 %o, %cta, 4096;
add.u64 %o, %o, %a2;
@!%first bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;
cp.async.bulk.prefetch.L2.global{hint} [%t], %r1{last};
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{hint} [%m], [%t], %r1, [bar]{last};
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra wait;
@!%first bra done;
cp.async.bulk.global.shared::cta.bulk_group{hint} [%o], [%m], %r1{last};
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{hint} [%m], [%t], %r1, [bar]{last};
again:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 1;
@!%p bra again;
cp.async.bulk.global.shared::cta.bulk_group{hint} [%o+2048], [%m], %r1{last};
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:"
    );
    Kernel {
        name: format!("cp.async.bulk{called}"),
        covers: &[
            "cp.async.bulk.",
            "mbarrier.",
            "fence.mbarrier_init.",
            "fence.proxy.async.shared::cta",
        ],
        target: Target::Sm90a,
        blocks: 1024,
        cluster: [1; 3],
        threads: 32,
        buffers: 3,
        body,
        given: |name, blocks| {
            let mut random = Random::of(name);
            let mut places = Vec::new();
            for _ in 0..blocks {
                for word in [16 * random.below(4096 - 128), 16 * (1 + random.below(128)), 0, 0] {
                    places.extend(u32::try_from(word).expect("small").to_le_bytes());
                }
            }
            vec![
                Buffer { bytes: noise(&mut random, 1 << 16), role: Role::Given },
                Buffer { bytes: places, role: Role::Given },
                Buffer { bytes: vec![0; blocks * 4096], role: Role::Compared },
            ]
        },
        operands: 512,
        result: Type::B32,
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

/// Reductions by bulk copies into global memory.
fn bulk_reductions() -> Vec<Kernel> {
    let mut all = Vec::new();
    for (operation, types) in [
        ("and", &["b32", "b64"][..]),
        ("or", &["b32", "b64"]),
        ("xor", &["b32", "b64"]),
        ("inc", &["u32"]),
        ("dec", &["u32"]),
        ("min", &["u32", "s32", "u64", "s64", "f16", "bf16"]),
        ("max", &["u32", "s32", "u64", "s64", "f16", "bf16"]),
        ("add", &["u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.bf16"]),
    ] {
        all.extend(types.iter().map(|ty| (operation, *ty)));
    }
    all.into_iter().map(|(operation, ty)| bulk_reduction(operation, ty)).collect()
}

fn bulk_reduction(operation: &str, ty: &'static str) -> Kernel {
    let body = format!(
        ".shared .align 128 .b8 tile[2048];
.reg .pred %first;
.reg .b32 %m, %x, %v<4>;
.reg .b64 %g, %o;
setp.eq.u32 %first, %thread, 0;
mov.u32 %m, tile;
mul.lo.u32 %x, %thread, 16;
add.u32 %x, %x, %m;
mul.wide.u32 %g, %i, 16;
add.u64 %g, %g, %a0;
ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%g];
st.shared.v4.b32 [%x], {{%v0, %v1, %v2, %v3}};
fence.proxy.async.shared::cta;
bar.sync 0;
mul.wide.u32 %o, %cta, 2048;
add.u64 %o, %o, %a1;
@!%first bra done;
cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{ty} [%o], [%m], 2048;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:"
    );
    let named = |name: &str| types::last_named(name);
    Kernel {
        name: format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{ty}"),
        covers: &["cp.reduce.async.bulk."],
        target: Target::Sm90a,
        blocks: if ty.ends_with("64") { 512 } else { 256 },
        cluster: [1; 3],
        threads: THREADS,
        buffers: 2,
        body,
        given: |name, blocks| {
            let ty = types::last_named(name);
            let size = types::size(ty);
            let mut random = Random::of(name);
            let mut values = || -> Vec<u8> {
                (0..blocks * 2048 / size)
                    .flat_map(|_| random.value(ty).to_le_bytes().into_iter().take(size))
                    .collect()
            };
            vec![
                Buffer { bytes: values(), role: Role::Operands(size) },
                Buffer { bytes: values(), role: Role::Compared },
            ]
        },
        operands: 2048 / types::size(named(ty)),
        result: named(ty),
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

/// Rounds in which each thread reads what another one wrote before the barrier: by `bar.sync`, and by each way to arrive at
/// an mbarrier and to wait for it.
fn barriers() -> Kernel {
    let mut body = String::from(
        ".shared .align 16 .b8 memory[512];
.shared .align 8 .b64 bar[2];
.reg .pred %first, %p;
.reg .b32 %m, %s, %r, %x, %v, %sum, %count;
.reg .b64 %g, %o, %state;
setp.eq.u32 %first, %thread, 0;
@%first mbarrier.init.shared::cta.b64 [bar], 128;
@%first mbarrier.init.shared.b64 [bar+8], 128;
mov.u32 %m, memory;
mul.lo.u32 %s, %thread, 4;
add.u32 %s, %s, %m;
mul.wide.u32 %g, %i, 8;
add.u64 %g, %g, %a0;
ld.global.v2.b32 {%v, %r}, [%g];
and.b32 %r, %r, 127;
mul.lo.u32 %r, %r, 4;
add.u32 %r, %r, %m;
mov.b32 %sum, 0;
bar.sync 0;
",
    );
    let waits = [
        ("bar.sync 1;", ""),
        ("bar.sync 2, 128;", ""),
        (
            "mbarrier.arrive.shared::cta.b64 %state, [bar];",
            "mbarrier.test_wait.shared::cta.b64 %p, [bar], %state;",
        ),
        (
            "mbarrier.arrive.shared::cta.b64 _, [bar], 1;",
            "mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 1;",
        ),
        (
            "mbarrier.arrive.release.cta.shared::cta.b64 %state, [bar];",
            "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [bar], %state;",
        ),
        (
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;\nmbarrier.arrive.shared.b64 %state, [bar];",
            "mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 1;",
        ),
        (
            "mbarrier.arrive.noComplete.shared.b64 %state, [bar+8], 0;\nmbarrier.arrive.shared.b64 %state, [bar+8];\nmbarrier.pending_count.b64 %count, %state;\nadd.u32 %sum, %sum, 0;",
            "mbarrier.try_wait.shared::cta.b64 %p, [bar+8], %state;",
        ),
    ];
    for (round, (arrive, wait)) in waits.iter().enumerate() {
        // `noComplete` with a count of 0 is not permitted.
        let arrive =
            arrive.replace("mbarrier.arrive.noComplete.shared.b64 %state, [bar+8], 0;\n", "");
        let _ = write!(
            body,
            "xor.b32 %x, %v, {};\nst.shared.b32 [%s], %x;\n{arrive}\n",
            0x1234_5678 * round
        );
        if !wait.is_empty() {
            let _ = write!(body, "wait{round}:\n{wait}\n@!%p bra wait{round};\n");
        }
        let _ =
            write!(body, "ld.shared.b32 %x, [%r];\nmad.lo.u32 %sum, %sum, 31, %x;\nbar.sync 0;\n");
    }
    body.push_str(
        "@%first mbarrier.inval.shared::cta.b64 [bar];
mul.wide.u32 %o, %i, 4;
add.u64 %o, %o, %a1;
st.global.b32 [%o], %sum;",
    );
    Kernel {
        name: "barriers of a block".to_owned(),
        covers: &["bar.sync", "mbarrier."],
        target: Target::Sm90a,
        blocks: 1024,
        cluster: [1; 3],
        threads: THREADS,
        buffers: 2,
        body,
        given: |name, blocks| {
            let mut random = Random::of(name);
            vec![
                Buffer { bytes: noise(&mut random, blocks * THREADS * 8), role: Role::Given },
                Buffer { bytes: vec![0; blocks * THREADS * 4], role: Role::Compared },
            ]
        },
        operands: THREADS,
        result: Type::B32,
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

/// Half of a block writes and arrives, the other half waits and reads; and warps that wait for their own lanes.
fn named_barriers() -> Kernel {
    let body = ".shared .align 16 .b8 memory[512];
.reg .pred %p;
.reg .b32 %m, %s, %x, %v, %sum, %lane;
.reg .b64 %g, %o;
mov.u32 %m, memory;
mul.lo.u32 %s, %thread, 4;
add.u32 %s, %s, %m;
mul.wide.u32 %g, %i, 4;
add.u64 %g, %g, %a0;
ld.global.b32 %v, [%g];
mov.b32 %sum, %v;
setp.lt.u32 %p, %thread, 64;
@!%p bra read;
st.shared.b32 [%s], %v;
bar.arrive 1, 128;
bra meet;
read:
bar.sync 1, 128;
ld.shared.b32 %sum, [%s+-256];
meet:
bar.sync 0;
and.b32 %lane, %thread, 31;
setp.lt.u32 %p, %lane, 7;
@%p add.u32 %v, %v, 5;
st.shared.b32 [%s], %v;
bar.warp.sync 0xffffffff;
xor.b32 %x, %s, 4;
ld.shared.b32 %x, [%x];
mad.lo.u32 %sum, %sum, 31, %x;
mul.wide.u32 %o, %i, 4;
add.u64 %o, %o, %a1;
st.global.b32 [%o], %sum;"
        .to_owned();
    Kernel {
        name: "named barriers".to_owned(),
        covers: &["bar.arrive", "bar.sync", "bar.warp.sync", "bra", "mov.u32 symbol"],
        target: Target::Sm80,
        blocks: 1024,
        cluster: [1; 3],
        threads: THREADS,
        buffers: 2,
        body,
        given: |name, blocks| in_and_out(name, blocks, 4 * THREADS),
        operands: THREADS,
        result: Type::B32,
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

/// What all threads of a block say together at a barrier: of 7 random bits one is set in most threads, in all of a block in a third
/// of the blocks, and all 7 are set in one of 128.
fn votes() -> Kernel {
    let mut body = String::from(
        ".reg .pred %p, %q;
.reg .b32 %x, %v, %sum, %count;
.reg .b64 %g, %o;
mul.wide.u32 %g, %i, 4;
add.u64 %g, %g, %a0;
ld.global.b32 %v, [%g];
mov.b32 %sum, 0;
",
    );
    for (round, barrier) in ["0", "1, 128", "0", "2, 128"].into_iter().enumerate() {
        let _ = write!(
            body,
            "shr.u32 %x, %v, {};
and.b32 %x, %x, 127;
setp.ne.u32 %p, %x, 0;
bar.red.and.pred %q, {barrier}, %p;
selp.u32 %count, 1, 0, %q;
mad.lo.u32 %sum, %sum, 31, %count;
bar.red.or.pred %q, {barrier}, !%p;
selp.u32 %count, 1, 0, %q;
mad.lo.u32 %sum, %sum, 31, %count;
setp.eq.u32 %p, %x, 127;
bar.red.popc.u32 %count, {barrier}, %p;
mad.lo.u32 %sum, %sum, 131, %count;
",
            7 * round
        );
    }
    body.push_str(
        "mul.wide.u32 %o, %i, 4;
add.u64 %o, %o, %a1;
st.global.b32 [%o], %sum;",
    );
    Kernel {
        name: "votes of a block".to_owned(),
        covers: &["bar.red."],
        target: Target::Sm80,
        blocks: 1024,
        cluster: [1; 3],
        threads: THREADS,
        buffers: 2,
        body,
        given: |name, blocks| in_and_out(name, blocks, 4 * THREADS),
        operands: THREADS,
        result: Type::B32,
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

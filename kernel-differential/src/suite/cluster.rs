//! Kernels whose blocks work together as clusters: through shared memory of one another, and barriers.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use super::{
    Entry,
    exchange::{Kernel, THREADS},
};
use crate::{
    case::{Buffer, Ending, Role},
    random::Random,
    types,
};

/// Every way from one block of a cluster into the shared memory of the other.
#[expect(clippy::too_many_lines, reason = "the text of one kernel")]
pub(super) fn entries() -> Vec<Entry> {
    let start = ".shared .align 128 .b8 tile[2048];
.shared .align 128 .b8 source[2048];
.shared .align 8 .b64 bar[2];
.reg .pred %first, %p;
.reg .b32 %m, %src, %x, %rank, %other, %far, %farbar, %v<4>;
.reg .b64 %g, %o, %w<2>;
.reg .f32 %f<4>;
.reg .f64 %e<2>;
setp.eq.u32 %first, %thread, 0;
mov.u32 %m, tile;
mov.u32 %src, source;
mul.lo.u32 %x, %thread, 16;
mov.u32 %rank, %cluster_ctarank;
xor.b32 %other, %rank, 1;
mapa.shared::cluster.u32 %far, %m, %other;
mov.u32 %farbar, bar;
mapa.shared::cluster.u32 %farbar, %farbar, %other;
mul.wide.u32 %g, %i, 16;
add.u64 %o, %g, %a1;
add.u64 %g, %g, %a0;
ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%g];
@%first mbarrier.init.shared::cta.b64 [bar], 1;
@%first fence.mbarrier_init.release.cluster;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
";
    let end = "ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%m];
st.global.v4.b32 [%o], {%v0, %v1, %v2, %v3};
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;";
    let wait = "wait:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra wait;
";
    let meet = "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";
    let make = |name: String, covers: &'static [&'static str], work: String| Kernel {
        name,
        covers,
        target: Target::Sm90a,
        blocks: 256,
        cluster: [2, 1, 1],
        threads: THREADS,
        buffers: 2,
        body: format!("{start}{work}{end}"),
        given: |name, blocks| {
            let ty = types::last_named(name);
            let size = types::size(ty);
            let mut random = Random::of(name);
            let values: Vec<u8> = (0..blocks * 2048 / size)
                .flat_map(|_| random.value(ty).to_le_bytes().into_iter().take(size))
                .collect();
            vec![
                Buffer { bytes: values, role: Role::Given },
                Buffer { bytes: vec![0; blocks * 2048], role: Role::Compared },
            ]
        },
        operands: 512,
        result: Type::B32,
        grid: None,
        scalars: Vec::new(),
        ending: Ending::Normal,
    };
    let mut all = Vec::new();
    let own = "add.u32 %m, %m, %x;\n";
    all.push(make(
        "st.shared::cluster and barriers of a cluster".to_owned(),
        &["st.shared::cluster", "ld.shared::cluster", "barrier.cluster.", "mapa.", "mov.u32 %cluster_ctarank"],
        format!(
            "{meet}add.u32 %far, %far, %x;\nst.shared::cluster.v4.b32 [%far], {{%v0, %v1, %v2, %v3}};
barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;
ld.shared::cluster.b32 %v0, [%far];
{own}"
        ),
    ));
    for (called, arrive) in
        [("", "mbarrier.arrive.release.cluster"), (", briefly", "mbarrier.arrive")]
    {
        all.push(make(
            format!("mbarrier.arrive of another block{called}"),
            &["mbarrier.arrive.", "mbarrier.try_wait."],
            format!(
                "@%first mbarrier.init.shared::cta.b64 [bar+8], 128;
@%first fence.mbarrier_init.release.cluster;
{meet}add.u32 %far, %far, %x;\nst.shared::cluster.v4.b32 [%far], {{%v0, %v1, %v2, %v3}};
fence.acq_rel.cluster;
{arrive}.shared::cluster.b64 _, [%farbar+8];
wait:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [bar+8], 0;
@!%p bra wait;
bar.sync 0;
{own}"
            ),
        ));
    }
    all.push(ranks(&make));
    all.push(make(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes".to_owned(),
        &["cp.async.bulk.shared::cluster.shared::cta"],
        format!(
            "add.u32 %x, %src, %x;\nst.shared.v4.b32 [%x], {{%v0, %v1, %v2, %v3}};
sub.u32 %x, %x, %src;\nfence.proxy.async.shared::cta;
{meet}@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%far], [%src], 2048, [%farbar];
{wait}{own}"
        ),
    ));
    all.push(make(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster".to_owned(),
        &["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"],
        format!(
            ".reg .b16 %mask;\nmov.b16 %mask, 3;\nmul.wide.u32 %g, %cta, 2048;\nadd.u64 %g, %g, %a0;\nmul.lo.u32 %v0, %rank, 1024;\nadd.u32 %v0, %v0, %m;
{meet}@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%v0], [%g], 1024, [bar], %mask;
{wait}{own}"
        ),
    ));
    for (operation, types) in [
        ("add", &["u32", "s32", "u64"][..]),
        ("min", &["u32", "s32"]),
        ("max", &["u32", "s32"]),
        ("and", &["b32"]),
        ("or", &["b32"]),
        ("xor", &["b32"]),
        ("inc", &["u32"]),
        ("dec", &["u32"]),
    ] {
        for ty in types {
            let name = format!(
                "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation}.{ty}"
            );
            let work = format!(
                "add.u32 %v3, %src, %x;\nst.shared.v4.b32 [%v3], {{%v0, %v1, %v2, %v0}};
add.u32 %v3, %m, %x;\nst.shared.v4.b32 [%v3], {{%v2, %v1, %v0, %v0}};
fence.proxy.async;
{meet}@%first {name} [%far], [%src], 2048, [%farbar];
{wait}{own}"
            );
            all.push(make(name, &["cp.reduce.async.bulk.shared::cluster"], work));
            let name = format!(
                "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{operation}.{ty}"
            );
            let (pieces, source) = if *ty == "u64" { (2, "%w") } else { (4, "%v") };
            let mut work = format!(
                "mov.b64 %w0, {{%v0, %v1}};\nmov.b64 %w1, {{%v2, %v3}};\nadd.u32 %other, %m, %x;\nst.shared.v4.b32 [%other], {{%v3, %v1, %v0, %v0}};\n{meet}add.u32 %far, %far, %x;\n"
            );
            for piece in 0..pieces {
                let _ = writeln!(
                    work,
                    "{name} [%far+{}], {source}{piece}, [%farbar];",
                    16 / pieces * piece
                );
            }
            let _ = write!(work, "{wait}{own}");
            all.push(make(name, &["red.async."], work));
        }
    }
    for (ty, register) in [
        ("b32", "%v"),
        ("u32", "%v"),
        ("s32", "%v"),
        ("f32", "%f"),
        ("b64", "%w"),
        ("u64", "%w"),
        ("s64", "%w"),
        ("f64", "%e"),
    ] {
        for count in [1, 2, 4] {
            let size = types::size(types::last_named(ty));
            if size * count > 16 {
                continue;
            }
            let vector = if count == 1 { String::new() } else { format!(".v{count}") };
            let name =
                format!("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{vector}.{ty}");
            let mut work = format!("{VALUES}{meet}add.u32 %far, %far, %x;\n");
            for (at, list) in lists(register, size, count) {
                let _ = writeln!(work, "{name} [%far+{at}], {list}, [%farbar];");
            }
            let _ = write!(work, "{wait}{own}");
            all.push(make(name, &["st.async."], work));
            // Stored there by this thread, and read there by its neighbour.
            let (store, load) = (
                format!("st.shared::cluster{vector}.{ty}"),
                format!("ld.shared::cluster{vector}.{ty}"),
            );
            let mut work = format!("{VALUES}{meet}add.u32 %other, %far, %x;\n");
            for (at, list) in lists(register, size, count) {
                let _ = writeln!(work, "{store} [%other+{at}], {list};");
            }
            let _ = write!(
                work,
                "{meet}xor.b32 %other, %x, 16;\nadd.u32 %far, %far, %other;\nadd.u32 %m, %src, %x;\n"
            );
            for (at, list) in lists(register, size, count) {
                let _ = writeln!(
                    work,
                    "{load} {list}, [%far+{at}];\nst.shared{vector}.{ty} [%m+{at}], {list};"
                );
            }
            all.push(make(store, &["st.shared::cluster.", "ld.shared::cluster."], work));
        }
    }
    all.into_iter().map(Kernel::into_entry).collect()
}

/// The four words that a thread was given, as values of each register class.
const VALUES: &str = "mov.b64 %w0, {%v0, %v1};
mov.b64 %w1, {%v2, %v3};
mov.b32 %f0, %v0;
mov.b32 %f1, %v1;
mov.b32 %f2, %v2;
mov.b32 %f3, %v3;
mov.b64 %e0, {%v0, %v1};
mov.b64 %e1, {%v2, %v3};
";

/// The operands that make up 16 bytes, each with its offset: registers of `size` bytes, `count` in a vector.
fn lists(register: &str, size: usize, count: usize) -> Vec<(usize, String)> {
    let operand = |piece: usize| {
        let names: Vec<String> =
            (0..count).map(|n| format!("{register}{}", piece * count + n)).collect();
        if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
    };
    (0..16 / (size * count)).map(|piece| (size * count * piece, operand(piece))).collect()
}

/// The ranks of the blocks that addresses lie in: each word that a thread was given chooses a block of four.
fn ranks(make: &impl Fn(String, &'static [&'static str], String) -> Kernel) -> Kernel {
    let mut work = String::new();
    for n in 0..4 {
        let _ = write!(
            work,
            "and.b32 %other, %v{n}, 3;\nmapa.shared::cluster.u32 %far, %m, %other;\nadd.u32 %far, %far, %x;
getctarank.shared::cluster.u32 %other, %far;\nand.b32 %v{n}, %v{n}, -4;\nadd.u32 %v{n}, %v{n}, %other;\n"
        );
    }
    work.push_str("add.u32 %m, %m, %x;\nst.shared.v4.b32 [%m], {%v0, %v1, %v2, %v3};\n");
    let covers = &["getctarank.", "mapa."];
    Kernel { cluster: [4, 1, 1], ..make("ranks of addresses".to_owned(), covers, work) }
}

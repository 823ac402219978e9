//! Control flow, special registers, parameters, and what has no result of its own.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use super::{
    Entry,
    exchange::{Kernel, noise},
};
use crate::{
    case::{Buffer, Ending, Role},
    random::Random,
};

const THREADS: usize = 128;

/// The cases; the one that ends with a fault is the last.
pub(super) fn entries() -> Vec<Entry> {
    let mut all = vec![specials(), loops(), registers(), dependents()];
    all.extend(
        ["u8", "s8", "u16", "s16", "b16", "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"]
            .map(parameters),
    );
    all.push(trap());
    all.into_iter().map(Kernel::into_entry).collect()
}

fn kernel(name: &str, covers: &'static [&'static str], body: String) -> Kernel {
    Kernel {
        name: name.to_owned(),
        covers,
        target: Target::Sm90a,
        blocks: 1024,
        cluster: [1; 3],
        threads: THREADS,
        buffers: 2,
        body,
        given: |name, blocks| {
            let mut random = Random::of(name);
            vec![
                Buffer { bytes: noise(&mut random, blocks * THREADS * 4), role: Role::Operands(4) },
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

/// Every special register that is the same on all devices.
fn specials() -> Kernel {
    let names = [
        "tid.x",
        "tid.y",
        "tid.z",
        "ntid.x",
        "ntid.y",
        "ntid.z",
        "ctaid.x",
        "ctaid.y",
        "ctaid.z",
        "nctaid.x",
        "nctaid.y",
        "nctaid.z",
        "laneid",
        "cluster_ctarank",
        "cluster_nctarank",
        "cluster_ctaid.x",
        "cluster_ctaid.y",
        "cluster_ctaid.z",
        "cluster_nctaid.x",
        "cluster_nctaid.y",
        "cluster_nctaid.z",
        "clusterid.x",
        "clusterid.y",
        "clusterid.z",
        "nclusterid.x",
        "nclusterid.y",
        "lanemask_eq",
        "lanemask_lt",
        "lanemask_le",
        "lanemask_gt",
        "lanemask_ge",
    ];
    let mut body = String::from(
        ".reg .b32 %y, %z, %n, %v;
.reg .b64 %o;
mov.u32 %y, %ctaid.y;
mov.u32 %z, %ctaid.z;
mad.lo.u32 %n, %z, 6, %y;
mul.lo.u32 %n, %n, 128;
add.u32 %n, %n, %cta;
mad.lo.u32 %n, %n, 128, %thread;
mul.wide.u32 %o, %n, 128;
cvta.to.global.u64 %a1, %a1;
add.u64 %o, %o, %a1;
",
    );
    for (number, name) in names.iter().enumerate() {
        let _ = writeln!(body, "mov.u32 %v, %{name};\nst.global.b32 [%o+{}], %v;", 4 * number);
    }
    let covers = &["mov.u32 %", "cvta.to.global."];
    Kernel {
        grid: Some([128, 6, 2]),
        cluster: [2, 2, 2],
        blocks: 128 * 6 * 2,
        given: |_, blocks| {
            let out = vec![0; blocks * THREADS * 128];
            vec![
                Buffer { bytes: vec![0; 8], role: Role::Given },
                Buffer { bytes: out, role: Role::Compared },
            ]
        },
        ..kernel("special registers", covers, body)
    }
}

/// Loops whose lanes go round differently often, and leave early.
fn loops() -> Kernel {
    let body = ".reg .b32 %v, %n, %b, %t;
.reg .b64 %g, %o;
.reg .pred %p, %q;
mul.wide.u32 %g, %i, 4;
add.u64 %o, %g, %a1;
add.u64 %g, %g, %a0;
ld.global.b32 %v, [%g];
and.b32 %v, %v, 0xffff;
mov.b32 %n, 0;
setp.eq.u32 %p, %v, 0;
@%p ret;
next:
setp.eq.u32 %p, %v, 1;
@%p bra done;
and.b32 %b, %v, 1;
setp.eq.u32 %q, %b, 0;
@!%q bra odd;
shr.u32 %v, %v, 1;
bra again;
odd:
mad.lo.u32 %v, %v, 3, 1;
again:
add.u32 %n, %n, 1;
bra.uni next;
done:
st.global.b32 [%o], %n;"
        .to_owned();
    kernel("loops of one lane", &["bra", "ret"], body)
}

/// Registers keep what they hold while a warpgroup gives others away and takes them back.
fn registers() -> Kernel {
    let body = ".reg .b32 %v, %w, %x;
.reg .b64 %g, %o;
mul.wide.u32 %g, %i, 4;
add.u64 %o, %g, %a1;
add.u64 %g, %g, %a0;
ld.global.b32 %v, [%g];
mul.lo.u32 %w, %v, 77;
setmaxnreg.dec.sync.aligned.u32 24;
xor.b32 %x, %v, %w;
setmaxnreg.inc.sync.aligned.u32 240;
mad.lo.u32 %v, %x, %w, %v;
st.global.b32 [%o], %v;"
        .to_owned();
    kernel("registers given away and taken back", &["setmaxnreg."], body)
}

/// Without another grid in front or behind, neither waits nor starts anything.
fn dependents() -> Kernel {
    let body = ".reg .b32 %v;
.reg .b64 %g, %o;
griddepcontrol.launch_dependents;
griddepcontrol.wait;
mul.wide.u32 %g, %i, 4;
add.u64 %o, %g, %a1;
add.u64 %g, %g, %a0;
ld.global.b32 %v, [%g];
fence.acq_rel.gpu;
fence.proxy.async.global;
fence.proxy.async;
not.b32 %v, %v;
st.global.b32 [%o], %v;"
        .to_owned();
    kernel("grids in order, and fences", &["griddepcontrol.", "fence."], body)
}

/// So many parameters are read by every thread.
const PARAMETERS: usize = 32;

fn parameters(ty: &'static str) -> Kernel {
    let named = Type::ALL.iter().find(|named| named.text() == ty).copied().unwrap_or(Type::B32);
    let register = match (ty, named.bits()) {
        ("f32" | "f64", _) => ty,
        ("b16", _) => "b16",
        (_, 64) => "b64",
        _ => "b32",
    };
    let mut body = format!(
        ".reg .{register} %v;\n.reg .b64 %o;\nmul.wide.u32 %o, %i, {};\nadd.u64 %o, %o, %a0;\n",
        8 * PARAMETERS
    );
    for n in 0..PARAMETERS {
        let _ =
            writeln!(body, "ld.param.{ty} %v, [s{n}];\nst.global.{register} [%o+{}], %v;", 8 * n);
    }
    let mut random = Random::of(ty);
    let values = (0..PARAMETERS).map(|_| (ty, random.value(named)));
    Kernel {
        buffers: 1,
        blocks: 32,
        scalars: values.collect(),
        given: |_, blocks| {
            let bytes = vec![0; blocks * THREADS * PARAMETERS * 8];
            vec![Buffer { bytes, role: Role::Compared }]
        },
        operands: PARAMETERS * THREADS,
        result: Type::B64,
        ..kernel(&format!("ld.param.{ty}"), &["ld.param."], body)
    }
}

fn trap() -> Kernel {
    let body = ".reg .pred %p;\nsetp.eq.u32 %p, %i, 77;\n@%p trap;".to_owned();
    Kernel { blocks: 1, ending: Ending::Fault, ..kernel("trap", &["trap"], body) }
}

//! Matrices between shared memory and registers: `ldmatrix` and `stmatrix`, with a random place for every row.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry, head, line},
    random::Random,
};

const THREADS: usize = 128;
const BLOCKS: usize = 1024;
/// Shared memory of a block: 16 bytes for each thread and eight times as many to choose from.
const SHARED: usize = THREADS * 16 * 2;

/// Whether a form moves matrices.
pub(super) fn claims(form: &str) -> bool {
    form.starts_with("ldmatrix.") || form.starts_with("stmatrix.")
}

/// The case of a form, if it moves matrices.
pub(super) fn case(form: &str, target: Target) -> Option<Case> {
    let loads = form.starts_with("ldmatrix.");
    let count =
        [1, 2, 4].into_iter().find(|n| form.split('.').any(|word| word == format!("x{n}")))?;
    let registers: Vec<String> = (0..count).map(|n| format!("%v{n}")).collect();
    let list = format!("{{{}}}", registers.join(", "));
    let mut random = Random::of(form);
    let mut text = format!(
        ".shared .align 128 .b8 memory[{SHARED}];
.reg .b32 %m, %x, %y, %v<4>;
.reg .b64 %g, %o;
mov.u32 %m, memory;
mul.wide.u32 %g, %cta, {SHARED};
add.u64 %g, %g, %a0;
mul.wide.u32 %o, %thread, 16;
add.u64 %g, %g, %o;
mul.lo.u32 %x, %thread, 16;
add.u32 %x, %x, %m;
"
    );
    for at in (0..SHARED).step_by(THREADS * 16) {
        let _ = write!(
            text,
            "ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%g+{at}];\nst.shared.v4.b32 [%x+{at}], {{%v0, %v1, %v2, %v3}};\n"
        );
    }
    // The row of each thread.
    let _ = write!(
        text,
        "bar.sync 0;\nmul.wide.u32 %o, %i, 4;\nadd.u64 %o, %o, %a1;\nld.global.u32 %y, [%o];\nadd.u32 %y, %y, %m;\n"
    );
    let mut addresses: Vec<u8> = Vec::new();
    let mut buffers = Vec::new();
    let each = if loads { 4 * count } else { SHARED / THREADS };
    let _ = writeln!(text, "mul.wide.u32 %o, %i, {each};\nadd.u64 %o, %o, %a2;");
    if loads {
        let _ = writeln!(text, "{form} {list}, [%y];");
        for n in 0..count {
            let _ = writeln!(text, "st.global.b32 [%o+{}], %v{n};", 4 * n);
        }
        for _ in 0..THREADS * BLOCKS {
            let row = 16 * random.below(SHARED as u64 / 16);
            addresses.extend(u32::try_from(row).expect("small").to_le_bytes());
        }
    } else {
        // What is stored is a thread's own words; no two rows overlap.
        for n in 0..count {
            let _ = writeln!(text, "ld.global.b32 %v{n}, [%g+{}];", 4 * n);
        }
        let _ = writeln!(text, "{form} [%y], {list};\nbar.sync 0;");
        for at in (0..SHARED).step_by(THREADS * 16) {
            let _ = write!(
                text,
                "ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%x+{at}];\nst.global.v4.b32 [%o+{}], {{%v0, %v1, %v2, %v3}};\n",
                at / THREADS
            );
        }
        for _ in 0..BLOCKS {
            let mut rows: Vec<u32> = (0..2 * 128).collect();
            for last in (1..rows.len()).rev() {
                let other = random.below(last as u64 + 1);
                rows.swap(last, usize::try_from(other).expect("small"));
            }
            addresses.extend(rows[..THREADS].iter().flat_map(|row| (16 * row).to_le_bytes()));
        }
    }
    let contents: Vec<u8> =
        (0..SHARED * BLOCKS / 8).flat_map(|_| random.word().to_le_bytes()).collect();
    buffers.push(Buffer { bytes: contents, role: Role::Given });
    buffers.push(Buffer { bytes: addresses, role: Role::Given });
    buffers.push(Buffer { bytes: vec![0; THREADS * BLOCKS * each], role: Role::Compared });
    let threads = u32::try_from(THREADS).expect("few");
    Some(Case {
        name: form.to_owned(),
        forms: vec![form.to_owned()],
        target,
        ptx: format!("{}{}", head(target), entry(3, threads, &text)),
        threads,
        blocks: line(BLOCKS),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers,
        maps: Vec::new(),
        operands: (THREADS * BLOCKS) as u64,
        result: Type::B32,
        pitch_bytes: 4,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: Ending::Normal,
    })
}

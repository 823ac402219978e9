//! Exchange within a warp: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry, head, line},
    random::Random,
};

const TUPLES: usize = 1 << 17;
const THREADS: u32 = 256;

/// Whether lanes exchange something by a form.
pub(super) fn claims(form: &str) -> bool {
    let opcode = form.split('.').next().unwrap_or_default();
    ["shfl", "vote", "redux", "match", "elect", "activemask"].contains(&opcode)
}

/// The case of a form, if lanes exchange something by it.
///
/// A tuple is four words: the value, lane or distance, clamp and segment mask, and which lanes take part, of which the last
/// two are the same in a warp.
pub(super) fn case(form: &str, target: Target) -> Option<Case> {
    let (name, marks) = form.split_once(' ').unwrap_or((form, ""));
    let opcode = name.split('.').next()?;
    let predicate = ".reg .pred %p, %q;\n";
    let work = match opcode {
        "shfl" => {
            let to = if marks.contains("|p") { "%d|%q" } else { "%d" };
            let also = if marks.contains("|p") { "selp.u32 %e, 1, 0, %q;\n" } else { "" };
            format!("{predicate}{name} {to}, %v0, %v1, %v2, 0xffffffff;\n{also}")
        }
        "vote" if name.contains("ballot") => {
            format!("{predicate}setp.ne.u32 %p, %v3, 0;\n{name} %d, %p, 0xffffffff;\n")
        }
        "vote" => format!(
            "{predicate}setp.ne.u32 %p, %v3, 0;\n{name} %q, %p, 0xffffffff;\nselp.u32 %d, 1, 0, %q;\n"
        ),
        "redux" => format!("{name} %d, %v0, 0xffffffff;\n"),
        "match" if name.contains(".all.") => {
            let to = if marks.contains("|p") { "%d|%q" } else { "%d" };
            format!("{predicate}and.b32 %v0, %v3, 3;\n{name} {to}, %v0, 0xffffffff;\n")
        }
        "match" => format!("and.b32 %v0, %v0, 3;\n{name} %d, %v0, 0xffffffff;\n"),
        // Those lanes whose last word is odd take part.
        "elect" => format!(
            "{predicate}setp.ne.u32 %p, %v3, 0;\nvote.sync.ballot.b32 %x, %p, 0xffffffff;\n@!%p bra out;\n{name} %d|%q, %x;\nselp.u32 %e, 1, 0, %q;\nout:\n"
        ),
        "activemask" => {
            format!(
                "{predicate}setp.ne.u32 %p, %v3, 0;\n@!%p bra out;\n{name} %d;\nout:\nbar.warp.sync 0xffffffff;\n"
            )
        }
        _ => return None,
    };
    let mut body = String::from(
        ".reg .b32 %v<4>, %d, %e, %x;
.reg .b64 %in, %out;
mul.wide.u32 %in, %i, 16;
add.u64 %in, %in, %a0;
mul.wide.u32 %out, %i, 8;
add.u64 %out, %out, %a1;
ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%in];
mov.b32 %d, 0;
mov.b32 %e, 0;
",
    );
    let _ = writeln!(body, "{work}st.global.v2.b32 [%out], {{%d, %e}};");
    let mut random = Random::of(form);
    let mut bytes = Vec::new();
    for warp in 0..TUPLES / 32 {
        // Subsections of 1 to 32 lanes, and a clamp.
        let segment = 32 - (1 << random.below(6));
        let clamp = if warp % 2 == 0 { 31 } else { random.below(32) };
        let clamp = if name.contains(".up.") { random.below(2) * random.below(8) } else { clamp };
        let some = random.below(5);
        for _ in 0..32 {
            let other = random.below(if warp % 8 == 0 { 64 } else { 32 });
            let takes_part = match some {
                0 => 1,
                1 => 0,
                _ => random.below(2),
            };
            for word in [random.value(Type::U32), other, segment << 8 | clamp, takes_part] {
                bytes.extend(u32::try_from(word & 0xffff_ffff).expect("masked").to_le_bytes());
            }
        }
    }
    Some(Case {
        name: form.to_owned(),
        forms: vec![form.to_owned()],
        target,
        ptx: format!("{}{}", head(target), entry(2, THREADS, &body)),
        threads: THREADS,
        blocks: line(TUPLES / THREADS as usize),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers: vec![
            Buffer { bytes, role: Role::Operands(16) },
            Buffer { bytes: vec![0; 8 * TUPLES], role: Role::Compared },
        ],
        maps: Vec::new(),
        operands: TUPLES as u64,
        result: Type::B32,
        pitch_bytes: 4,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: Ending::Normal,
    })
}

//! Instruction forms: what an instruction is, apart from the registers that it names.

use kernel_ptx::{Instruction, Opcode, Operand, Word};

/// The form of an instruction: its opcode with all modifiers, and of the operands what makes it another instruction.
///
/// ```text
/// fma.rn.f32                                     the operands are registers or constants
/// mov.u32 %tid.x                                 the special register
/// mov.b32 x, {2}                                 a vector becomes one register
/// shfl.sync.idx.b32 x|p                          with the predicate
/// wgmma.mma_async...  a from registers, b transposed
/// ```
pub fn form(instruction: &Instruction) -> String {
    let name = instruction.name();
    let marks = if instruction.opcode == Opcode::Mov {
        let parts = |operand: &Operand| parts(operand).map(|parts| format!("{{{parts}}}, x"));
        let to = instruction.operands.first().and_then(parts);
        to.or_else(|| instruction.operands.get(1).and_then(source))
    } else if instruction.opcode == Opcode::Wgmma {
        product(instruction)
    } else if matches!(instruction.operands.first(), Some(Operand::Pair(..))) {
        Some("x|p".to_owned())
    } else {
        None
    };
    marks.map_or(name.clone(), |marks| format!("{name} {marks}"))
}

/// How many registers a vector names.
#[expect(clippy::wildcard_enum_match_arm, reason = "only vectors have parts")]
fn parts(operand: &Operand) -> Option<usize> {
    match operand {
        Operand::Vector(parts) => Some(parts.len()),
        _ => None,
    }
}

/// What a move reads, where it is no register.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest are values")]
fn source(operand: &Operand) -> Option<String> {
    match operand {
        Operand::Special(special) => Some(special.text().to_owned()),
        Operand::Symbol(..) => Some("symbol".to_owned()),
        Operand::Vector(parts) => Some(format!("x, {{{}}}", parts.len())),
        _ => None,
    }
}

/// Where the factors of a `wgmma` are: d, a, b, of a sparse one its metadata and selector, scale-d, then the immediates for negation and
/// transposition.
fn product(instruction: &Instruction) -> Option<String> {
    let [_, a, _, more @ ..] = instruction.operands.as_slice() else { return None };
    let sparse = instruction.modifiers.contains(&Word::Sp.into());
    let immediates = more.get(if sparse { 3 } else { 1 }..)?;
    let registers = parts(a).is_some();
    let transposed = match (registers, immediates) {
        (false, [_, _, a, b]) => [Some(a), Some(b)],
        (true, [_, _, b]) => [None, Some(b)],
        _ => [None, None],
    };
    let is_set = |operand: Option<&Operand>| operand == Some(&Operand::Int(1));
    let a = match (registers, is_set(transposed[0])) {
        (true, _) => "a in registers",
        (false, false) => "a k-major",
        (false, true) => "a m-major",
    };
    let b = if is_set(transposed[1]) { "b n-major" } else { "b k-major" };
    Some(format!("{a}, {b}"))
}

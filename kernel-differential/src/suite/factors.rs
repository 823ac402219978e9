//! Elements of matrices: random values as the additions of a tensor core tell them apart.

use kernel_ptx::Type;

use crate::{
    random::{Random, ones},
    types,
};

/// How the exponents of a tile's elements lie. Each tile has one of these, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// From one to two.
    Octave,
    /// Within eight powers of two.
    Near,
    /// Any finite value.
    Far,
    /// Subnormal, or the least normal ones.
    Tiny,
    /// The largest ones.
    Huge,
    /// Mostly zeros.
    Sparse,
    /// As [`Near`](Spread::Near), with an infinity or NaN here and there.
    Special,
}

impl Spread {
    /// The spreads of factors and accumulator of a tile.
    pub(crate) fn of(tile: usize) -> (Spread, Spread) {
        use Spread::{Far, Huge, Near, Octave, Sparse, Special, Tiny};
        let all = [
            (Octave, Octave),
            (Near, Near),
            (Octave, Far),
            (Near, Sparse),
            (Far, Far),
            (Far, Sparse),
            (Sparse, Near),
            (Near, Huge),
            (Tiny, Tiny),
            (Near, Tiny),
            (Octave, Near),
            (Huge, Huge),
            (Special, Special),
            (Tiny, Sparse),
            (Near, Octave),
            (Far, Near),
        ];
        all[tile % all.len()]
    }
}

/// The bits of an element.
pub(crate) fn element(random: &mut Random, ty: Type, spread: Spread) -> u64 {
    let Some((exponent, mantissa)) = types::fields(ty) else {
        let any = random.word();
        let zero = spread == Spread::Sparse && any & 7 != 0;
        return if zero { 0 } else { any >> 8 & ones(ty.bits().min(56)) };
    };
    let any = random.word();
    let choice = random.word();
    let sign = (any >> 63) << (exponent + mantissa);
    let most = ones(exponent);
    let bias = most >> 1;
    // The only pattern without a value of e4m3 is all ones.
    let top = if ty == Type::E4m3 { most } else { most - 1 };
    let field = match spread {
        Spread::Octave => bias,
        Spread::Near | Spread::Special => bias - 4 + choice % 8,
        Spread::Far => choice % (top + 1),
        Spread::Tiny => choice % 3 / 2,
        Spread::Huge => top - choice % 3 % top,
        Spread::Sparse if choice & 7 != 0 => return sign,
        Spread::Sparse => bias - 4 + (choice >> 8) % 8,
    };
    let fraction = any & ones(mantissa);
    if spread == Spread::Special && (choice >> 16).is_multiple_of(128) {
        let fraction = if choice >> 24 & 1 == 0 { 0 } else { fraction | 1 };
        let fraction = if ty == Type::E4m3 { ones(mantissa) } else { fraction };
        return sign | most << mantissa | fraction;
    }
    let bits = sign | field << mantissa | fraction;
    // All ones of e4m3 would be NaN.
    if ty == Type::E4m3 && bits & 0x7f == 0x7f { bits - 1 } else { bits }
}

/// So many bytes of elements.
pub(crate) fn bytes(random: &mut Random, ty: Type, spread: Spread, count: usize) -> Vec<u8> {
    let size = (ty.bits() as usize / 8).max(1);
    // Of tf32 a register has 32 bits.
    let size = if ty == Type::Tf32 { 4 } else { size };
    (0..count / size)
        .flat_map(|_| element(random, ty, spread).to_le_bytes().into_iter().take(size))
        .collect()
}

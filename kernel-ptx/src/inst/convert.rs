//! Rows of moves between registers and of conversions.
//!
//! (PTX ISA, "Data Movement and Conversion Instructions": `mov`, `cvt`, `cvt.pack`, `cvta`,
//! `isspacep`, `mapa`, `getctarank`.)

#[rustfmt::skip]
pub(super) const ROWS: &[[&str; 3]] = &[
    ["mov.pred", "=p, !p", "80 7.0"],
    ["mov.(ANY)", "=t0, t0", "80 7.0"],
    ["mov.(b16|b32|b64|b128'80/8.3)", "=t0, {pack}t0", "80 7.0"],
    ["mov.(b16|b32|b64|b128'80/8.3)", "={pack}t0, t0", "80 7.0"],
    ["mov.b128", "=t0, t0", "80 8.3"],
    // Between integers.
    ["cvt.(CVT).(CVT)", "=t0+, t1+", "80 7.0"],
    ["cvt.sat.(u8|s8|u16|s16|u32|s32|u64).(s64|u64|s32|u32|s16|u16|s8)", "=t0+, t1+", "80 7.0"],
    ["cvt.sat.s8.u8", "=t0+, t1+", "80 7.0"],
    ["cvt.sat.s64.u64", "=t0+, t1+", "80 7.0"],
    // Between integers and floats.
    ["cvt.(IRND){.ftz}{.sat}.(CVT).f32", "=t0+, t1+", "80 7.0"],
    ["cvt.(IRND){.sat}.(CVT).f16", "=t0+, t1+", "80 7.0"],
    ["cvt.(IRND){.sat}.(CVT).f64", "=t0+, t1+", "80 7.0"],
    ["cvt.(RND){.sat}.(f16|f32|f64).(CVT)", "=t0+, t1+", "80 7.0"],
    // Assemblers refuse bytes here.
    ["cvt.(IRND).(u16|s16|u32|s32|u64|s64).bf16", "=t0+, t1+", "90 7.8"],
    ["cvt.(RND).bf16.(u16|s16|u32|s32|u64|s64)", "=t0+, t1+", "90 7.8"],
    // To a wider or an equal float; a rounding word rounds to an integer.
    ["cvt{.ftz}{.sat}.f32.f16", "=t0+, t1+", "80 7.0"],
    ["cvt{.sat}.f64.f16", "=t0+, t1+", "80 7.0"],
    ["cvt{.ftz}{.sat}.f64.f32", "=t0+, t1+", "80 7.0"],
    ["cvt{.(ftz'90/7.8)}.f32.bf16", "=t0+, t1+", "80 7.1"],
    ["cvt{.(IRND)}{.sat}.f16.f16", "=t0+, t1+", "80 7.0"],
    ["cvt{.(IRND)}{.ftz}{.sat}.f32.f32", "=t0+, t1+", "80 7.0"],
    ["cvt{.(IRND)}{.sat}.f64.f64", "=t0+, t1+", "80 7.0"],
    ["cvt.(IRND).bf16.bf16", "=t0+, t1+", "90 7.8"],
    // To a narrower float.
    ["cvt.(RND){.ftz}{.sat}.f16.f32", "=t0+, t1+", "80 7.0"],
    ["cvt.(RND){.sat}.f16.f64", "=t0+, t1+", "80 7.0"],
    ["cvt.(RND){.ftz}{.sat}.f32.f64", "=t0+, t1+", "80 7.0"],
    ["cvt.(rn|rz){.relu}{.(satfinite'80/8.1)}.f16.f32", "=t0+, t1+", "80 7.0"],
    ["cvt.(rn|rz){.relu}{.(satfinite'80/8.1)}.bf16.f32", "=t0+, t1+", "80 7.0"],
    ["cvt.(rm|rp).bf16.f32", "=t0+, t1+", "90 7.8"],
    ["cvt.(RND).bf16.(f16|f64)", "=t0+, t1+", "90 7.8"],
    ["cvt{.(RND)}.f16.bf16", "=t0+, t1+", "90 7.8"],
    ["cvt.f64.bf16", "=t0+, t1+", "90 7.8"],
    ["cvt.rna{.(satfinite'80/8.1)}.tf32.f32", "=t0+, t1+", "80 7.0"],
    ["cvt.(rn|rz){.relu}{.(satfinite'100/8.6)}.tf32.f32", "=t0+, t1+", "90 7.8"],
    // Two values into one register; the first source is the high half.
    ["cvt.(rn|rz){.relu}{.(satfinite'80/8.1)}.(f16x2|bf16x2).f32", "=t0, t1, t1", "80 7.0"],
    ["cvt.rs{.relu}{.satfinite}.(f16x2|bf16x2).f32", "=t0, t1, t1, b32", "100a* 8.7"],
    ["cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).f32", "=t0, t1, t1", "89 8.1"],
    ["cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).f16x2", "=t0+, t1+", "89 8.1"],
    ["cvt.rn{.relu}.f16x2.(e4m3x2|e5m2x2)", "=t0+, t1+", "89 8.1"],
    ["cvt.rn.satfinite{.relu}.(e2m1x2|e2m3x2|e3m2x2).f32", "=t0, t1, t1", "100a+ 8.6"],
    ["cvt.rn{.relu}.f16x2.(e2m1x2|e2m3x2|e3m2x2)", "=t0+, t1+", "100a+ 8.6"],
    ["cvt.rs{.relu}.satfinite.(e4m3x4|e5m2x4|e2m3x4|e3m2x4|e2m1x4).f32", "=t0, {4}t1, b32", "100a* 8.7"],
    ["cvt.(rz|rp){.satfinite}.ue8m0x2.f32", "=t0, t1, t1", "100a+ 8.6"],
    ["cvt.(rz|rp){.satfinite}.ue8m0x2.bf16x2", "=t0+, t1+", "100a+ 8.6"],
    ["cvt.rn.bf16x2.ue8m0x2", "=t0+, t1+", "100a+ 8.6"],
    ["cvt.pack.sat.(u16|s16).s32", "=b32, t1, t1", "80 7.0"],
    ["cvt.pack.sat.(u8|s8).s32.b32", "=b32, t1, t1, b32", "80 7.0"],
    // Addresses.
    ["cvta.(global|local|shared|const|param'80/7.7|shared::cta'80/7.8|shared::cluster'90/7.8|param::entry'80/8.3).u64", "=u64, u64", "80 7.0"],
    ["cvta.to.(global|local|shared|const|param'80/7.7|shared::cta'80/7.8|shared::cluster'90/7.8|param::entry'80/8.3).u64", "=u64, u64", "80 7.0"],
    ["isspacep.(global|local|shared|const|param'80/7.7|shared::cta'80/7.8|shared::cluster'90/7.8|param::entry'80/8.3)", "=p, u64", "80 7.0"],
    ["mapa.(u32|u64)", "=t0, t0, u32", "90 7.8"],
    ["mapa.shared::cluster.(u32|u64)", "=t0, t0, u32", "90 7.8"],
    ["getctarank{.shared::cluster}.(u32|u64)", "=u32, t0", "90 7.8"],
];

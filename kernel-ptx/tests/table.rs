//! Laws of the instruction table, and facts of the manual that it must repeat.

use std::collections::BTreeSet;

use kernel_ptx::{Module, Reason, Target, Version, example_head, examples, parse, results, table};

/// A module with one instruction, with the registers that the texts below use.
fn module(target: &str, version: Version, instruction: &str) -> Module {
    let (major, minor) = version;
    let wide = if version >= (8, 3) { ".reg .b128 %q<4>;" } else { "" };
    let text = format!(
        ".version {major}.{minor}\n.target {target}\n.address_size 64\n\
         .entry k(.param .u64 a) {{ .reg .pred %p<4>; .reg .b8 %b<4>; .reg .b16 %h<8>; .reg .b32 %r<40>; \
         .reg .b64 %rd<8>; .reg .f32 %f<40>; .reg .f64 %fd<8>; .reg .s32 %s<4>; {wide}\n{instruction}\n}}"
    );
    parse(&text).unwrap_or_else(|error| panic!("{instruction}: {error}"))
}

fn validated(target: &str, version: Version, instruction: &str) -> Result<(), String> {
    module(target, version, instruction).validate().map_err(|found| found[0].to_string())
}

#[test]
fn every_example_is_its_row_and_asks_for_what_it_says() {
    let examples = examples();
    let rows: BTreeSet<&str> = examples.iter().map(|example| example.row.syntax).collect();
    assert_eq!(rows, table().iter().map(|row| row.syntax).collect());
    for example in &examples {
        let target = example.target();
        let version = example.version.max(target.minimum_version());
        let text = example_head(target, version) + &example.kernel("k");
        let module = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", example.text));
        module.validate().unwrap_or_else(|found| panic!("{}", found[0]));
        assert_eq!(module.minimum_version(), version, "{}", example.text);
        // An older assembler or target refuses it.
        if example.version > target.minimum_version() {
            let mut older = module.clone();
            older.version = (7, 0);
            assert!(older.validate().is_err(), "{}", example.text);
        }
        if target.sm > 80 {
            let mut older = module.clone();
            older.target = vec!["sm_80".to_owned()];
            let found = older.validate().expect_err(&example.text);
            assert!(matches!(found[0].reason, Reason::Need { .. }), "{}", found[0]);
        }
    }
}

/// (PTX ISA, the syntax of each instruction: destinations come first.)
#[test]
fn results_are_the_destinations() {
    for (instruction, written) in [
        ("add.s32 %r0, %r1, %r2;", 1),
        ("setp.lt.f32 %p0|%p1, %f0, %f1;", 1),
        ("mov.b64 {%r0, %r1}, %rd0;", 1),
        ("mov.b64 %rd0, {%r0, %r1};", 1),
        ("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];", 1),
        ("st.global.f32 [%rd0], %f0;", 0),
        ("atom.global.add.s32 %r0, [%rd0], %r1;", 1),
        ("red.global.add.s32 [%rd0], %r1;", 0),
        ("mbarrier.arrive.shared.b64 _, [%r0];", 1),
        ("shfl.sync.bfly.b32 %r0|%p0, %r1, 1, 31, -1;", 1),
        ("membar.gl;", 0),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r2}, {%f4,%f5,%f6,%f7};",
            1,
        ),
    ] {
        let module = module("sm_90", (8, 0), instruction);
        let (function, parsed) = module.instructions().next().expect("there is one");
        assert_eq!(results(parsed, &function.registers).as_ref(), Ok(&written), "{instruction}");
    }
    let module = module("sm_80", (7, 0), "add.s32 %r0, %r1;");
    let (function, parsed) = module.instructions().next().expect("there is one");
    assert!(results(parsed, &function.registers).is_err());
}

/// (PTX ISA, "Release Notes" and the "PTX ISA Notes" and "Target ISA Notes" of each instruction.)
#[test]
fn versions_and_targets_are_those_of_the_manual() {
    for (target, version, instruction) in [
        ("sm_80", (7, 0), "cp.async.cg.shared.global [%r0], [%rd0], 16, %r1;"),
        ("sm_80", (7, 5), "cp.async.cg.shared.global [%r0], [%rd0], 16, %p0;"),
        ("sm_80", (7, 4), "cp.async.cg.shared.global.L2::128B [%r0], [%rd0], 16;"),
        ("sm_80", (7, 0), "mbarrier.arrive.shared.b64 %rd0, [%r0];"),
        ("sm_80", (7, 1), "mbarrier.test_wait.parity.shared.b64 %p0, [%r0], %r1;"),
        ("sm_80", (7, 8), "barrier.cta.sync 1, 128;"),
        ("sm_80", (8, 2), "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x3f, %p1;"),
        ("sm_90", (7, 8), "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r0};"),
        ("sm_90", (8, 0), "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], %r1;"),
        ("sm_90", (8, 6), "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r0];"),
        ("sm_90", (8, 0), "elect.sync _|%p0, 0xffffffff;"),
        ("sm_90", (8, 1), "red.global.add.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};"),
        ("sm_89", (8, 1), "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;"),
        (
            "sm_89",
            (8, 4),
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};",
        ),
        (
            "sm_90a",
            (8, 0),
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;",
        ),
        (
            "sm_90a",
            (8, 4),
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r0, %r1, %r2, %r3}, %rd0, %rd1, %p0;",
        ),
        (
            "sm_90a",
            (8, 2),
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %r0, 1, %p0, 1, 1, 0, 0;",
        ),
        ("sm_90a", (8, 0), "setmaxnreg.dec.sync.aligned.u32 40;"),
        ("sm_90a", (8, 3), "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r0], 1;"),
        ("sm_100a", (8, 6), "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;"),
        (
            "sm_100a",
            (8, 7),
            "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r0], %rd0, %rd1, %r1, [%r2], [%r3], %p0;",
        ),
        (
            "sm_100a",
            (8, 8),
            "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r0], %rd0, %rd1, %r1, [%r2], [%r3], %p0;",
        ),
        ("sm_100", (8, 8), "max.f32 %f0, %f1, %f2, %f3;"),
        ("sm_100", (8, 6), "fma.rn.f32x2 %rd0, %rd1, %rd2, %rd3;"),
        ("sm_100a", (8, 6), "redux.sync.min.f32 %f0, %f1, 0xffffffff;"),
    ] {
        assert_eq!(
            module(target, version, instruction).minimum_version(),
            version,
            "{instruction}"
        );
        assert_eq!(validated(target, version, instruction), Ok(()));
    }
}

#[test]
fn features_of_one_generation_are_refused_on_the_next() {
    let wgmma = "wgmma.fence.sync.aligned;";
    assert_eq!(validated("sm_90a", (8, 8), wgmma), Ok(()));
    for target in ["sm_80", "sm_90", "sm_100a"] {
        let refused = validated(target, (8, 8), wgmma).expect_err(target);
        assert!(
            refused.ends_with(&format!("asks for sm_90a, the target is {target}")),
            "{refused}"
        );
    }
    let tensor_memory = "tcgen05.wait::ld.sync.aligned;";
    for target in ["sm_100a", "sm_103a", "sm_100f"] {
        assert_eq!(validated(target, (8, 8), tensor_memory), Ok(()), "{target}");
    }
    for target in ["sm_90a", "sm_100", "sm_120a"] {
        assert!(validated(target, (8, 8), tensor_memory).is_err(), "{target}");
    }
    let registers = "setmaxnreg.inc.sync.aligned.u32 232;";
    assert_eq!(validated("sm_100a", (8, 8), registers), Ok(()));
    assert!(validated("sm_90", (8, 8), registers).is_err());
}

/// What an assembler refuses too: the operands of each line do not fit its modifiers.
#[test]
fn operands_are_checked() {
    for instruction in [
        "add.s32 %f0, %r1, %r2;",
        "add.f32 %f0, %f1, 1;",
        "add.f32 %s0, %s1, %s2;",
        "add.s64 %rd0, %rd1, %r0;",
        "add.u32 %r0, %tid.x, %r1;",
        "add.u32 %r0, %r1;",
        "add.u32 %r0, %r1, %r2, %r3;",
        "mov.u64 %rd0, %tid.x;",
        "mov.u32 %f0, %r0;",
        "mul.wide.u32 %r0, %r1, %r2;",
        "shl.b32 %r0, %r1, %f0;",
        "selp.b32 %r0, %r1, %r2, %r3;",
        "setp.lt.b32 %p0, %r0, %r1;",
        "ld.global.u32 %f0, [%rd0];",
        "ld.global.f32 %fd0, [%rd0];",
        "ld.global.u32 %r0, [%r1];",
        "ld.global.v4.b32 {%r0, %r1}, [%rd0];",
        "ld.global.L2::cache_hint.b32 %r0, [%rd0];",
        "ld.global.b32 %r0, [%rd0], %rd1;",
        "cvt.u32.f32 %r0, %f0;",
        "cvt.rn.f32.s32 %r0, %f0;",
        "cvt.rn.bf16x2.f32 %f0, %f1, %f2;",
        "cvt.rni.s8.bf16 %r0, %h0;",
        "cvt.rzi.u8.bf16 %r0, %h0;",
        "cvt.rn.bf16.s8 %h0, %r0;",
        "cvt.rn.bf16.u8 %h0, %r0;",
        "mbarrier.init.shared.b64 %r0, 1;",
        "cp.async.wait_group %r0;",
        "cp.async.cg.shared.global [%r0], [%rd0], 8;",
        "setmaxnreg.dec.sync.aligned.u32 16;",
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1}], [%r2];",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%rd0, {%r1}], [%r2];",
        "bra %r0;",
        "ld.shared.L2::128B.u32 %r0, [%r1];",
        "mbarrier.shared.arrive.b64 %rd0, [%r0];",
    ] {
        let refused = validated("sm_90a", (8, 8), instruction);
        assert!(refused.is_err(), "{instruction}");
    }
}

#[test]
fn errors_say_what_is_missing_and_which_form_is_near() {
    let error =
        |instruction: &str| validated("sm_90a", (8, 8), instruction).expect_err(instruction);
    assert_eq!(
        error("add.f32.lo %f0, %f1, %f2;"),
        "line 5: in `k`: `add.f32.lo`: `.lo` has no place here; the nearest form is `add{.(RND)}{.ftz}{.sat}.f32 =t0, t0, t0`"
    );
    assert_eq!(
        error("mul.u32 %r0, %r1, %r2;"),
        "line 5: in `k`: `mul.u32`: missing `.lo` or `.hi`; the nearest form is `mul.(lo|hi).(INT) =t0, t0, t0`"
    );
    assert_eq!(
        error("popc.b32 %rd0, %r1;"),
        "line 5: in `k`: `popc.b32`: operand 1 is not `=u32`; the nearest form is `popc.(b32|b64) =u32, t0`"
    );
    assert_eq!(
        error("bar.sync;"),
        "line 5: in `k`: `bar.sync`: 2 operands are required, 0 are there; the nearest form is `bar{.(cta'80/7.8)}.sync u32, ?u32`"
    );
}

#[test]
fn a_module_is_checked_as_a_whole() {
    let found = |text: &str| -> Vec<String> {
        let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let found = module.validate().expect_err(text);
        found.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        found(".version 8.5\n.target sm_100a\n.entry k() { ret; }"),
        ["`.target sm_100a` asks for PTX 8.6, the module says 8.5"]
    );
    for target in ["gpu", "sm_999"] {
        assert_eq!(
            found(&format!(".version 8.5\n.target {target}\n")),
            [format!("`{target}` is no target that is known")]
        );
    }
    assert_eq!(
        found(".version 8.0\n.target sm_80\n.entry k() .reqnctapercluster 2 { ret; }"),
        ["in `k`: `.reqnctapercluster 2, 1, 1` asks for sm_90 or later, the target is sm_80"]
    );
    assert_eq!(
        found(".version 8.0\n.target sm_80\n.entry k(.param .b8 big[4097]) { ret; }"),
        ["in `k`: `more than 4096 bytes of parameters` asks for PTX 8.1, the module says 8.0"]
    );
    assert_eq!(
        found(".version 8.0\n.target sm_80\n.entry k() { .shared .b8 a[49153]; ret; }"),
        ["in `k`: 49153 bytes of static shared memory, the most is 49152"]
    );
    assert_eq!(
        found(".version 8.0\n.target sm_80\n.entry k() { .reg .b32 r; @r ret; }"),
        ["line 3: in `k`: the guard is not a predicate"]
    );
}

#[test]
fn targets_are_read_and_printed() {
    for (name, target) in
        [("sm_80", Target::SM_80), ("sm_90a", Target::SM_90A), ("sm_100a", Target::SM_100A)]
    {
        assert_eq!(Target::parse(name), Some(target));
        assert_eq!(target.to_string(), name);
    }
    for name in ["sm_", "sm_a", "sm90", "sm_-1", "sm_90b", "sm_99999999999"] {
        assert_eq!(Target::parse(name), None, "{name}");
    }
    for name in ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100f", "sm_103a", "sm_121"] {
        assert_eq!(Target::parse(name).map(Target::is_known), Some(true), "{name}");
    }
    for name in ["sm_81", "sm_80a", "sm_90f", "sm_99", "sm_104a", "sm_999"] {
        assert_eq!(Target::parse(name).map(Target::is_known), Some(false), "{name}");
    }
}

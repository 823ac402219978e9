use super::{Named, read};
use crate::{
    diag::Diagnostic,
    ir::{Dtype, Elem, text_touches_memory},
    loc::Loc,
};

const SM_80: &str = "sm_80";

fn named(text: &str) -> Vec<Named> {
    let element = |ty: &str| match ty.strip_prefix('*') {
        Some(of) => Elem::Ptr(Dtype::from_name(of).expect("a type")),
        None => Elem::Number(Dtype::from_name(ty).expect("a type")),
    };
    text.split(", ")
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, ty) = part.split_once(": ").expect("name: type");
            Named { name: name.to_owned(), elem: element(ty), loc: Loc::KERNEL }
        })
        .collect()
}

fn on(
    target: &str,
    text: &str,
    inputs: &str,
    outputs: &str,
) -> Result<super::Snippet, Box<Diagnostic>> {
    let target = kernel_ptx::Target::parse(target);
    read(text, Loc::KERNEL, &named(inputs), &named(outputs), target)
}

/// The headline, then the rows, then the help.
fn said(text: &str, inputs: &str, outputs: &str) -> String {
    let diagnostic = on(SM_80, text, inputs, outputs).expect_err(text);
    let mut parts = vec![diagnostic.headline];
    for row in diagnostic.compare {
        parts.push(format!("{} | {}", row.required, row.actual));
    }
    parts.extend(diagnostic.help.map(|help| format!("help: {help}")));
    parts.join("\n")
}

#[track_caller]
fn accepts(text: &str, inputs: &str, outputs: &str) {
    if let Err(diagnostic) = on("sm_90a", text, inputs, outputs) {
        panic!("{text}: {} {:?}", diagnostic.headline, diagnostic.compare);
    }
}

#[test]
fn a_text_is_uniform_if_it_computes_from_what_was_surely_written() {
    let uniform =
        |text: &str| on(SM_80, text, "p: bool, a: i32", "out: i32").expect(text).is_uniform();
    let own = |body: &str| {
        uniform(&format!(
            "{{{{ .reg .b32 t; .reg .pred q; setp.ne.s32 q, {{a}}, 0; {body} @{{p}} mov.b32 t, 0; }}}}"
        ))
    };
    for body in [
        "mov.b32 t, 1; mov.b32 {out}, t;",
        // Written before the guarded write, or on both sides of the guard.
        "mov.b32 t, 1; @q mov.b32 t, 2; mov.b32 {out}, t;",
        "@q mov.b32 t, 1; @!q mov.b32 t, 2; mov.b32 {out}, t;",
        // Read where it was written.
        "@q mov.b32 t, 1; @q mov.b32 {out}, t; @!q mov.b32 {out}, 0;",
        "mov.u32 {out}, %ctaid.x;",
    ] {
        assert!(own(body), "{body}");
    }
    for body in [
        // Read first, written in any case later.
        "@q mov.b32 t, 1; mov.b32 {out}, t; mov.b32 t, 0;",
        "@q mov.b32 t, 1; @!q mov.b32 {out}, t; @q mov.b32 {out}, 0;",
        "@q mov.b32 t, 1; mov.b32 {out}, t; @!q mov.b32 t, 0;",
        // Another predicate, or another value of it.
        "@q mov.b32 t, 1; @!{p} mov.b32 t, 2; mov.b32 {out}, t;",
        "@q mov.b32 t, 1; setp.ne.s32 q, {a}, 1; @!q mov.b32 t, 2; mov.b32 {out}, t;",
        "@q setp.ne.s32 q, {a}, 1; @q mov.b32 {out}, 1; setp.ne.s32 q, {a}, 2; @!q mov.b32 {out}, 2;",
        // The result on one side only.
        "@q mov.b32 {out}, 1;",
        // What is a thread's, a warp's or a moment's own.
        "mov.u32 {out}, %tid.x;",
        "mov.u32 {out}, %laneid;",
        "mov.u32 {out}, %warpid;",
        "mov.u32 {out}, %smid;",
        "mov.u32 {out}, %clock;",
    ] {
        assert!(!own(body), "{body}");
    }
}

#[test]
fn what_does_more_than_compute_touches_memory() {
    let touches = |text: &str, inputs: &str, outputs: &str| {
        let snippet = on("sm_90a", text, inputs, outputs).expect(text);
        let said = snippet.touches_memory();
        assert_eq!(text_touches_memory(text), said, "{text}");
        said
    };
    for (text, inputs, outputs) in [
        ("mov.u32 {out}, %laneid;", "", "out: i32"),
        ("ex2.approx.ftz.f32 {out}, {e}; // st.global.u32 [0], 1;", "e: f32", "out: f32"),
        ("/* [ */ mov.b64 {{{out0}, {out1}}}, {a};", "a: u64", "out0: i32, out1: i32"),
        ("{{ .reg .b64 ld; mov.b64 ld, {{{a}, {a}}}; mov.b64 {out}, ld; }}", "a: i32", "out: i64"),
        (
            "{{ .reg .b32 ld, st; mov.b64 {{ld, st}}, {a}; mov.b32 {out}, st; }}",
            "a: i64",
            "out: i32",
        ),
        ("@{p} trap;", "p: bool", ""),
    ] {
        assert!(!touches(text, inputs, outputs), "{text}");
    }
    for (text, inputs, outputs) in [
        ("st.global.u32 [{a}], 1;", "a: i64", ""),
        ("ld.shared.b32 {out}, [16];", "", "out: i32"),
        ("@{p} st.global.u32 [{a}], 1;", "a: *i32, p: bool", ""),
        ("cp.async.ca.shared.global [{a}], [{b}], 4;", "a: i32, b: i64", ""),
        ("membar.gl;", "", ""),
        ("@!{p} membar.gl;", "p: bool", ""),
        ("{{ .reg .pred q; setp.eq.s32 q, {a}, 0; @q membar.gl; }}", "a: i32", ""),
        ("shfl.sync.idx.b32 {out}, {a}, 0, 31, -1;", "a: i32", "out: i32"),
        ("activemask.b32 {out};", "", "out: u32"),
    ] {
        assert!(touches(text, inputs, outputs), "{text}");
    }
}

#[test]
fn texts_as_users_write_them_are_accepted() {
    accepts("mov.u32 {out}, %laneid;", "", "out: i32");
    accepts("mov.u64 {out}, %globaltimer;", "", "out: u64");
    accepts("ex2.approx.ftz.f32 {out}, {e};", "e: f32", "out: f32");
    accepts("ex2.approx.ftz.bf16x2 {out}, {e};", "e: u32", "out: i32");
    accepts("fma.rn.f16x2 {out}, {a}, {a}, { a };", "a: u32", "out: u32");
    accepts("fma.rn.bf16 {out}, {a}, {a}, {a};", "a: bf16", "out: bf16");
    accepts("membar.gl;", "", "");
    accepts("mov.b64 {{{out0}, {out1}}}, {x};", "x: f64", "out0: f32, out1: i32");
    accepts("mov.b64 {out}, {{ {a}, {a} }};", "a: f32", "out: f64");
    accepts(
        "setp.lt.and.f32 {out0}|{out1}, {a}, 0.0, {p};",
        "a: f32, p: bool",
        "out0: bool, out1: bool",
    );
    accepts("ld.global.v2.f32 {{{out0}, {out1}}}, [{p}+8];", "p: *f32", "out0: f32, out1: f32");
    accepts("st.global.cs.f32 [{p}], {v};", "p: *f32, v: f32", "");
    accepts("atom.global.inc.u32 {out}, [{p}], 7;", "p: *u32", "out: u32");
    accepts("@{p} red.global.add.f32 [{a}], 1.0;", "p: bool, a: *f32", "");
    accepts("@!{p} trap;", "p: bool", "");
    accepts("shfl.sync.bfly.b32 {out}, {a}, 1, 31, -1;", "a: f32", "out: f32");
    accepts("bar.warp.sync 0xffffffff;", "", "");
    accepts("cp.async.bulk.prefetch.L2.global [{p}], 256;", "p: *f32", "");
    accepts(
        "{{ // a scope
            .reg .pred %p<2>; .reg .b32 t; /* and its end; } */
            setp.gt.s32 %p0, {a}, 0;
            @%p0 mov.b32 {out}, 1; @!%p0 mov.b32 {out}, 0;
            {{ .reg .b32 t; mov.b32 t, {out}; }}
        }}",
        "a: i32",
        "out: i32",
    );
}

#[test]
fn operands_are_used_and_known() {
    assert_eq!(
        said("neg.s32 {out}, {count};", "a: i32", "out: i32"),
        "the text names `{count}`, which is not an operand\n`{a}`, `{out}` | `{count}`\nhelp: ptx!(\"..\", count = count)"
    );
    assert_eq!(
        said("neg.s32 {out}, {valu};", "value: i32", "out: i32"),
        "the text names `{valu}`, which is not an operand\n`{value}`, `{out}` | `{valu}`\nhelp: {value}"
    );
    assert_eq!(
        said("neg.s32 {out}, {a};", "a: i32, b: i32", "out: i32"),
        "the text does not use `{b}`"
    );
    assert_eq!(said("membar.gl; // {a}", "a: f32", ""), "the text does not use `{a}`");
    assert_eq!(
        said("membar.gl;", "", "out: f32"),
        "the text does not write `{out}`\nhelp: mov.f32 {out}, ..;"
    );
    assert_eq!(
        said("st.global.f32 [{out}], 0.0;", "", "out: *f32"),
        "the text reads `{out}` before it writes it"
    );
    assert_eq!(
        said("mov.u32 {out}, %laneid;", "", ""),
        "the text names `{out}`, but no type is given after `=>`\nhelp: ptx!(\"mov.u32 {out}, %laneid;\" => i32)"
    );
    assert_eq!(
        said("mov.u32 {out}, %laneid;", "", "out0: i32, out1: i32"),
        "the text names `{out}`, which is not an operand\n`{out0}`, `{out1}` | `{out}`"
    );
    assert_eq!(
        said("add.s32 {a}, {a}, 1; mov.b32 {out}, {a};", "a: i32", "out: i32"),
        "the text writes `{a}`, which is read-only\nhelp: {{ .reg .b32 t; mov.b32 t, {a}; .. }}"
    );
}

#[test]
fn braces_are_those_of_operands() {
    assert_eq!(
        said("neg.s32 {}, {a};", "a: i32", "out: i32"),
        "operands have names, not positions\n`{a}`, `{out}` | `{}`\nhelp: ptx!(\"neg.s32 {out}, {a};\", a = x => i32)"
    );
    assert!(said("neg.s32 {0}, {a};", "a: i32", "out: i32").starts_with("operands have names"));
    assert!(said("{ .reg .b32 t; }", "", "").starts_with("braces in the text hold the name"));
    assert!(said("mov.b32 {out:x}, 1;", "", "out: i32").starts_with("braces in the text hold"));
    assert_eq!(
        said("mov.u32 {out, 0;", "", "out: i32"),
        "a `{` in the text is not closed\nhelp: {{ .. }}"
    );
    assert_eq!(said("mov.u32 out}, 0;", "", "out: i32"), "a `}` in the text has no `{`\nhelp: }}");
    assert_eq!(said("{{ membar.gl;", "", ""), "a scope in the text is not closed\nhelp: {{ .. }}");
    assert_eq!(
        said("membar.gl; }} .func f() {{ ret;", "", ""),
        "a `}}` in the text closes no scope"
    );
    assert_eq!(
        said("st.global.f32 [{p}, 0.0;", "p: *f32", ""),
        "brackets in the text do not match\n`]` | `;`"
    );
}

#[test]
fn statements_are_instructions() {
    assert_eq!(
        said("mov.u32 {out}, %laneid", "", "out: i32"),
        "a statement of the text has no `;` at its end\nhelp: mov.u32 {out}, %laneid;"
    );
    assert_eq!(
        said("addd.s32 {out}, 1, 2;", "", "out: i32"),
        "`addd` is not a PTX instruction\nhelp: add"
    );
    assert_eq!(
        said(" ;; // nothing", "", ""),
        "the text has no instruction\nhelp: ptx!(\"mov.u32 {out}, %laneid;\" => i32)"
    );
    assert_eq!(said("42;", "", ""), "`42` is not a PTX instruction");
    assert_eq!(
        said("vabsdiff4.s32.s32.s32 {out}, 1, 2, 3;", "", "out: i32"),
        "Kiln does not know the form of `vabsdiff4`"
    );
    assert_eq!(
        said("ex2.aprox.f32 {out}, {a};", "a: f32", "out: f32"),
        "`.aprox` is not a PTX modifier\nhelp: .approx"
    );
    assert_eq!(said("neg.s32 {out}, a;", "a: i32", "out: i32"), "the text does not use `{a}`");
    assert_eq!(
        said("mov.b32 {out}, {a}; neg.s32 {out}, a;", "a: i32", "out: i32"),
        "`a` is neither a register of the text nor a PTX register\nhelp: {a}"
    );
    assert_eq!(
        said("mov.u32 {out}, %lane;", "", "out: i32"),
        "`%lane` is neither a register of the text nor a PTX register"
    );
    assert_eq!(said("/* mov.u32", "", ""), "a comment in the text does not end\nhelp: /* .. */");
    for refused in [
        "bra L;",
        "L: membar.gl;",
        "ret;",
        "exit;",
        "call f;",
        "bar.sync 0;",
        "barrier.sync 0;",
        "barrier.cluster.arrive;",
        "cp.async.commit_group;",
        "cp.async.wait_all;",
        ".shared .b32 x;",
        ".pragma \"nounroll\";",
        "setmaxnreg.inc.sync.aligned.u32 24;",
        "@%p bra L;",
    ] {
        let said = said(refused, "", "");
        assert!(
            said.lines().next().is_some_and(|line| line.ends_with("cannot stand in the text")),
            "{refused}: {said}"
        );
    }
}

#[test]
fn operands_have_the_types_of_the_instruction() {
    assert_eq!(
        said("add.f32 {out}, {a}, {a};", "a: i32", "out: f32"),
        "`{a}` is of type `i32`, which `add.f32` does not take\ntype `.f32` | `{a}`, of type `i32`\nhelp: .cast::<f32>()"
    );
    assert_eq!(
        said("add.s32 {out}, {a}, {a};", "a: i32", "out: f32"),
        "`{out}` is of type `f32`, which `add.s32` does not take\ntype `.s32` | `{out}`, of type `f32`\nhelp: => i32"
    );
    // All of them are in registers of 16 bits, all of these in registers of 64.
    for (text, inputs, outputs) in [
        ("add.f16 {out}, {a}, {a};", "a: bf16", "out: f16"),
        ("add.s64 {out}, {a}, {a};", "a: f64", "out: i64"),
        ("add.f64 {out}, {a}, {a};", "a: i64", "out: f64"),
        ("mul.wide.s32 {out}, {a}, {a};", "a: i32", "out: i32"),
        ("add.s32 {out}, {a}, {a};", "a: i64", "out: i32"),
        ("selp.b32 {out}, 1, 0, {a};", "a: i32", "out: i32"),
        ("ld.global.f32 {out}, {a};", "a: *f32", "out: f32"),
        ("ld.global.f32 {out}, [{a}];", "a: i32", "out: f32"),
        ("mov.f32 {out}, %laneid;", "", "out: f32"),
    ] {
        let said = said(text, inputs, outputs);
        let wrong = said.starts_with("operand ") || said.contains("does not take");
        assert!(wrong, "{text}: {said}");
    }
    assert_eq!(
        said("add.s32 {out}, {a};", "a: i32", "out: i32"),
        "`add.s32` takes 3 operands\n3 | 2"
    );
    assert_eq!(
        said("fma.f32 {out}, {a}, {a}, {a};", "a: f32", "out: f32"),
        "`fma.f32` needs a modifier\n`.rn` or `.rz` or `.rm` or `.rp` | none of them"
    );
    assert_eq!(
        said("{{ .reg .b32 t; add.s32 {out}, t, 1; }}", "", "out: i32"),
        "the text reads `t` before it writes it"
    );
}

#[test]
fn the_target_has_the_instruction() {
    let text = "fence.proxy.async;";
    let found = on("sm_80", text, "", "").expect_err("it came with sm_90");
    assert_eq!(
        (found.code.number(), found.headline.as_str()),
        ("K0502", "`fence.proxy.async` is not an instruction of sm_80")
    );
    assert!(on("sm_90a", text, "", "").is_ok());
    // What is only looked at is for no target.
    assert!(read(text, Loc::KERNEL, &[], &[], None).is_ok());
}

#[test]
fn what_is_the_same_in_every_thread_is_known() {
    let uniform =
        |text: &str, inputs: &str| on("sm_90a", text, inputs, "out: i32").expect(text).is_uniform();
    assert!(uniform("bfind.s32 {out}, {a};", "a: i32"));
    assert!(uniform("mov.u32 {out}, %ctaid.x;", ""));
    let both =
        "{{ .reg .pred p; setp.gt.s32 p, {a}, 0; @p mov.b32 {out}, 1; @!p mov.b32 {out}, 2; }}";
    assert!(uniform(both, "a: i32"));
    for (text, inputs) in [
        // Where the predicate does not hold, the register has what it had before.
        ("{{ .reg .pred p; setp.gt.s32 p, {a}, 0; @p mov.b32 {out}, 1; }}", "a: i32"),
        ("mov.u32 {out}, %laneid;", ""),
        ("mov.u32 {out}, %tid.x;", ""),
        ("mov.u32 {out}, %clock;", ""),
        ("ld.global.b32 {out}, [{a}];", "a: *i32"),
        ("shfl.sync.bfly.b32 {out}, {a}, 1, 31, -1;", "a: i32"),
        ("activemask.b32 {out};", ""),
    ] {
        assert!(!uniform(text, inputs), "{text}");
    }
}

/// A text with a few characters taken out, doubled or changed, many times over: it is read or refused.
/// Damaged texts: two thousand of each of those that are right.
const MUTATED: usize = 6000;

#[test]
fn damaged_texts_are_refused_or_read() {
    let texts = [
        "{{ .reg .pred %p<2>; setp.gt.s32 %p0, {a}, 0; @%p0 mov.b32 {out}, 1; @!%p0 mov.b32 {out}, {a}; }}",
        "mov.b64 {{{out}, _}}, {wide}; /* {a} */ add.s32 {out}, {a}, -0x7fffffff; // the end",
        "ld.global.v2.b32 {{{out}, _}}, [{wide}+{a}]; lop3.b32 {out}, {a}, {a}, {a}, 0x96;",
    ];
    let marks = [
        "{", "}", "{{", "}}", ";", ".", "[", "]", "(", "\"", ":", "@", "%", "é", "/*", "//", "\n",
        "$kiln$", "0f", "{out}", "{a}",
    ];
    let mut state = 7_u64;
    let mut below = |limit: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % limit
    };
    let mut read = 0;
    for text in texts.iter().cycle().take(MUTATED) {
        let mut text: Vec<char> = text.chars().collect();
        for _ in 0..=below(4) {
            let at = below(text.len());
            match below(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, text[below(text.len())]),
                _ => drop(text.splice(at..at, marks[below(marks.len())].chars())),
            }
        }
        let text: String = text.into_iter().collect();
        read += usize::from(on(SM_80, &text, "a: i32, wide: i64", "out: i32").is_ok());
    }
    // Some are right by chance: a blank more, a digit less.
    assert!(read > 0);
}

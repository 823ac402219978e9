//! Laws of the text: what is printed is read back as the same module, and no text makes the parser panic.

use kernel_ptx::{
    Base, Directive, Function, Guard, Instruction, Label, Linkage, Module, Opcode, Operand, Param,
    Reg, Register, Space, Statement, Symbol, Type, Variable, Word, parse, print,
};
use proptest::prelude::*;

#[path = "laws/same.rs"]
mod same;
use same::assert_round_trip;

const SYNTAX: &str = include_str!("text/syntax.ptx");

#[test]
fn the_syntax_round_trips() {
    assert_round_trip("syntax.ptx", SYNTAX);
}

/// One error for each kind of mistake: where it is, what stands there, what was wanted.
#[test]
fn errors_name_the_place_and_the_word() {
    let body = |line: &str| {
        format!(
            ".version 8.6\n.target sm_80\n.address_size 64\n.entry k() {{\n.reg .b32 %r<4>;\n{line}\n}}"
        )
    };
    for (line, error) in [
        ("frob.b32 %r1, %r2;", "line 6, column 1: `frob`, where an opcode was wanted"),
        ("add.q32 %r1, %r2, 1;", "line 6, column 4: `.q32`, where a modifier was wanted"),
        (
            "add.s32 %r1, %r4, 1;",
            "line 6, column 14: `%r4`, where a name that is declared was wanted",
        ),
        ("add.s32 %r1, %r3 1;", "line 6, column 18: `1`, where `,` or `;` was wanted"),
        (
            "add.s32 %r1, %r3, 0x1G;",
            "line 6, column 19: `0x1G`, where an integer literal of at most 64 bits was wanted",
        ),
        (
            "mov.f32 %r1, 0f123;",
            "line 6, column 14: `0f123`, where `0f` and eight hexadecimal digits was wanted",
        ),
        ("bra nowhere;", "line 6, column 5: `nowhere`, where a name that is declared was wanted"),
        (
            "mov.u32 %r1, 1 / 0;",
            "line 6, column 16: `/`, where an operator that its operands have was wanted",
        ),
        (
            "a: a: ret;",
            "line 6, column 4: `a`, where a name that this block does not have yet was wanted",
        ),
        (
            ".reg .b32 x; .reg .b16 x;",
            "line 6, column 24: `x`, where a name that this block does not have yet was wanted",
        ),
        ("ld.global.u32 %r1, [%r2;", "line 6, column 24: `;`, where `]` was wanted"),
        ("@%r1", "line 7, column 1: `}`, where an instruction was wanted"),
        ("ret; /* ", "line 6, column 6: a comment that does not end, where `*/` was wanted"),
        ("ret; \u{e9}", "line 6, column 6: '\u{e9}', where a token of PTX was wanted"),
    ] {
        let seen = parse(&body(line)).map(|_| ()).map_err(|error| error.to_string());
        let seen = seen.err().unwrap_or_else(|| "no error".to_owned());
        assert_eq!(seen, error, "{line}");
    }
    let truncated = parse(".version 8").map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(
        truncated,
        Err("line 1, column 10: `8`, where a version such as `8.6` was wanted".to_owned())
    );
}

/// A loop over registers and labels that have no names.
fn unnamed_body() -> Vec<Statement> {
    let label = Operand::Label(Label(1));
    let mut guarded = Instruction::new(Opcode::Bra, [], [label]);
    guarded.guard = Some(Guard { predicate: Reg(4), negated: true });
    let address = Operand::Address { base: Base::Reg(Reg(3)), offset: -8 };
    vec![
        Statement::Location { file: 1, line: 7, column: 5 },
        Statement::Instruction(Instruction::new(
            Opcode::Ld,
            [Space::Param.into(), Type::U64.into()],
            [
                Operand::Reg(Reg(3)),
                Operand::Address { base: Base::Symbol(Symbol::Param(0)), offset: 0 },
            ],
        )),
        Statement::Label(Label(1)),
        Statement::Instruction(Instruction::new(
            Opcode::Ld,
            [Space::Global.into(), Type::F32.into()],
            [Operand::Reg(Reg(1)), address],
        )),
        Statement::Instruction(Instruction::new(
            Opcode::Fma,
            [Word::Rn.into(), Type::F32.into()],
            [
                Operand::Reg(Reg(5)),
                Operand::Reg(Reg(1)),
                Operand::F32(2.0_f32.to_bits()),
                Operand::Reg(Reg(1)),
            ],
        )),
        Statement::Instruction(Instruction::new(
            Opcode::Setp,
            [Word::Eq.into(), Type::S32.into()],
            [Operand::Reg(Reg(4)), Operand::Reg(Reg(2)), Operand::Int(-1)],
        )),
        Statement::Instruction(guarded),
        Statement::Label(Label(0)),
        Statement::Instruction(Instruction::new(
            Opcode::Mov,
            [Type::B32.into()],
            [Operand::Reg(Reg(0)), Operand::Symbol(Symbol::Global(0), 16)],
        )),
        Statement::Instruction(Instruction::new(Opcode::Ret, [], [])),
    ]
}

/// Names of a compiler's own are numbered by kind in the order of their first use.
#[test]
fn a_module_without_names_gets_them_in_order() {
    let register = |ty| Register { ty, name: None };
    let module = Module {
        version: (8, 6),
        target: vec!["sm_90a".to_owned()],
        files: vec![(1, "src/lib.rs".to_owned())],
        variables: vec![Variable {
            name: "smem".to_owned(),
            linkage: Linkage::Extern,
            space: Space::Shared,
            ty: Type::B8,
            vector: 1,
            align: 1024,
            dims: vec![0],
            init: None,
        }],
        functions: vec![Function {
            name: "copy".to_owned(),
            is_entry: true,
            linkage: Linkage::Visible,
            results: vec![],
            params: vec![
                Param {
                    name: "source".to_owned(),
                    space: Space::Param,
                    ty: Type::U64,
                    align: 8,
                    dims: vec![],
                    register: None,
                },
                Param {
                    name: "map".to_owned(),
                    space: Space::Param,
                    ty: Type::B8,
                    align: 64,
                    dims: vec![128],
                    register: None,
                },
            ],
            directives: vec![Directive::RequiredThreads([128, 1, 1])],
            // The second and the last of the 32-bit registers are of another kind or never used.
            registers: [
                Type::B32,
                Type::F32,
                Type::S32,
                Type::B64,
                Type::Pred,
                Type::F32,
                Type::B32,
            ]
            .map(register)
            .to_vec(),
            variables: vec![],
            labels: vec![String::new(), String::new()],
            branch_targets: vec![],
            body: Some(unnamed_body()),
        }],
        ..Module::default()
    };
    let text = "\
.version 8.6
.target sm_90a
.address_size 64
.file 1 \"src/lib.rs\"

.extern .shared .align 1024 .b8 smem[];

.visible .entry copy(
\t.param .u64 source,
\t.param .align 64 .b8 map[128]
)
.reqntid 128, 1, 1
{
\t.reg .pred %p<1>;
\t.reg .b32 %r1;
\t.reg .b64 %rd<1>;
\t.reg .s32 %r0;
\t.reg .f32 %f<2>;
\t.loc 1 7 5
\tld.param.u64 %rd0, [source];
$L0:
\tld.global.f32 %f0, [%rd0+-8];
\tfma.rn.f32 %f1, %f0, 0f40000000, %f0;
\tsetp.eq.s32 %p0, %r0, -1;
\t@!%p0 bra $L0;
$L1:
\tmov.b32 %r1, smem+16;
\tret;
}
";
    assert_eq!(print(&module), text);
    module.validate().unwrap_or_else(|found| panic!("{}", found[0]));
    assert_round_trip("made", text);
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    for open in ["{", "(", "-", "~(", "[", "{{(", "!"] {
        let text = format!(".entry k() {{ .reg .b32 r; mov.b32 r, {};", open.repeat(200_000));
        assert!(parse(&text).is_err());
        let text = format!(".entry k() {{ {}", open.repeat(200_000));
        assert!(parse(&text).is_err());
        let text = format!(".global .b8 a[] = {}", open.repeat(200_000));
        assert!(parse(&text).is_err());
    }
}

/// What a mutation puts into a text.
fn snippet() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            ",",
            ";",
            ":",
            "<",
            ">",
            "<<",
            "=",
            "+",
            "-",
            "!",
            "|",
            "@",
            "?",
            "_",
            "%r1",
            "%r<4>",
            "%v.x",
            ".reg",
            ".shared",
            ".b32",
            ".entry",
            ".func",
            ".section",
            ".loc",
            ".align",
            ".branchtargets",
            "0x",
            "0f3F800000",
            "1e",
            "08",
            "9223372036854775808",
            "18446744073709551616",
            "[4294967296][4294967296]",
            "={{},{1}}",
            "\"",
            "/*",
            "//",
            "WARP_SZ",
            ".version 8.6",
            "\u{0}",
            "\u{fffd}",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,6}",
        "\\PC{0,3}",
    ]
}

/// `text` with pieces cut out, put in and moved.
fn mutated(mut text: String, edits: &[(prop::sample::Index, usize, String)]) -> String {
    for (place, length, put) in edits {
        let mut start = place.index(text.len() + 1);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + length).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        text.replace_range(start..end, put);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: prop::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(3000) })]

    /// A text either round-trips or is refused; nothing panics.
    #[test]
    fn mutated_text_is_refused_or_round_trips(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..20, snippet()), 1..4)
    ) {
        let text = mutated(SYNTAX.to_owned(), &edits);
        if parse(&text).is_ok() {
            assert_round_trip("mutated", &text);
        }
    }

    #[test]
    fn any_text_is_refused_or_round_trips(parts in prop::collection::vec(snippet(), 0..20)) {
        let text = parts.join(" ");
        if parse(&text).is_ok() {
            assert_round_trip("made", &text);
        }
    }
}

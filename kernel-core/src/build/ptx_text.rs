//! The text of `ptx!`: operands in it, statements, and whether the instruction table has them.
//!
//! The text becomes the body of a function whose parameters are the operands, so that the parser and the table of
//! [`kernel_ptx`] judge it; what they would say of that function is said here in the words of the text.

use kernel_ptx::{
    FormError, FormProblem, Function, Instruction, Modifier, Opcode, Reason, Reg, Register,
    Statement, Target, Type, Word, form, parse, results,
};

use super::nearest;
use crate::{
    diag::{Code, Diagnostic},
    ir::{Dtype, Elem, Snippet, register_type},
    loc::Loc,
};

/// What a text calls an operand or a result.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) elem: Elem,
    pub(super) loc: Loc,
}

/// Stands before the name of an operand where the parser reads it; no text has it by accident.
const MARK: &str = "$kiln$";

/// Reads a text.
///
/// # Errors
/// The first thing that is wrong with it.
pub(super) fn read(
    text: &str,
    at: Loc,
    inputs: &[Named],
    outputs: &[Named],
    target: Option<Target>,
) -> Result<Snippet, Diagnostic> {
    let reader = Reader { at, inputs, outputs };
    let plain = reader.fill(&reader.without_comments(text)?)?;
    let statements = reader.statements(&plain)?;
    let body = reader.parse(&plain)?;
    let snippet = Snippet { text: text.to_owned(), body };
    reader.check(&snippet, &statements, target)?;
    Ok(snippet)
}

/// What a kernel calls an element.
pub(super) fn type_name(elem: Elem) -> String {
    match elem {
        Elem::Number(dtype) => dtype.name().to_owned(),
        Elem::Ptr(dtype) => format!("Ptr<{}>", dtype.name()),
    }
}

/// The type that an instruction sees, where the register itself has none.
fn seen_as(elem: Elem) -> Option<Type> {
    Some(match elem {
        Elem::Number(Dtype::I32) => Type::S32,
        Elem::Number(Dtype::U32) => Type::U32,
        Elem::Number(Dtype::I64) => Type::S64,
        Elem::Number(Dtype::U64) | Elem::Ptr(_) => Type::U64,
        Elem::Number(Dtype::F16) => Type::F16,
        Elem::Number(Dtype::Bf16) => Type::Bf16,
        Elem::Number(_) => return register_type(elem),
    })
}

/// Whether every type of an instruction is that of one number: what packs several into a word says nothing about operands.
fn is_plain(instruction: &Instruction) -> bool {
    instruction.modifiers.iter().all(|modifier| match modifier {
        Modifier::Type(ty) => {
            ty.is_untyped()
                || ty.is_integer()
                || matches!(ty, Type::Pred | Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
        }
        Modifier::Space(_) | Modifier::Word(_) => true,
    })
}

/// Instructions of PTX that the table leaves out.
const ELSEWHERE: [&str; 32] = [
    "istypep",
    "suld",
    "suq",
    "sured",
    "sust",
    "tex",
    "tld4",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "wmma",
];

struct Reader<'a> {
    at: Loc,
    inputs: &'a [Named],
    outputs: &'a [Named],
}

impl Reader<'_> {
    fn wrong(&self, headline: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Code::PtxText, self.at, headline)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().chain(self.outputs).map(|named| named.name.as_str())
    }

    fn all_names(&self) -> String {
        let names: Vec<String> = self.names().map(|name| format!("`{{{name}}}`")).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Puts names that the parser takes in the place of `{name}`, and single braces in that of double ones.
    fn fill(&self, text: &str) -> Result<String, Diagnostic> {
        let mut out = String::new();
        let mut used = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let tail = &rest[at..];
            if let Some(after) = tail.strip_prefix("{{") {
                out.push('{');
                rest = after;
                continue;
            }
            if let Some(after) = tail.strip_prefix("}}") {
                out.push('}');
                rest = after;
                continue;
            }
            if tail.starts_with('}') {
                return Err(self
                    .wrong("a `}` in the text closes nothing")
                    .why(
                        "`{name}` is an operand; a brace of PTX itself is doubled, as in `format!`",
                    )
                    .help("}}"));
            }
            let Some(end) = tail.find('}') else {
                return Err(self
                    .wrong("a `{` in the text is not closed")
                    .why(
                        "`{name}` is an operand; a brace of PTX itself is doubled, as in `format!`",
                    )
                    .help("{{ .. }}"));
            };
            let name = self.operand(&tail[1..end])?;
            used.push(name);
            out.push_str(MARK);
            out.push_str(name);
            rest = &tail[end + 1..];
        }
        out.push_str(rest);
        for named in self.inputs.iter().chain(self.outputs) {
            if used.iter().any(|name| *name == named.name) {
                continue;
            }
            let name = &named.name;
            let is_input = self.inputs.iter().any(|input| input.name == *name);
            return Err(if is_input {
                Diagnostic::new(
                    Code::PtxText,
                    named.loc,
                    format!("the text does not use `{{{name}}}`"),
                )
                .why("an operand that the text does not name would be computed for nothing")
            } else {
                Diagnostic::new(Code::PtxText, named.loc, format!("the text does not write `{{{name}}}`"))
                    .why("the type after `=>` says that there is a result, which the text leaves in that register")
                    .help(format!("mov.{} {{{name}}}, ..;", letters(named.elem)))
            });
        }
        Ok(out)
    }

    /// The operand that is written between braces.
    fn operand(&self, written: &str) -> Result<&str, Diagnostic> {
        let name = written.trim();
        if let Some(known) = self.names().find(|known| *known == name) {
            return Ok(known);
        }
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name {
            let (what, help) = if name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit())
            {
                (
                    "operands have names, not positions",
                    "ptx!(\"neg.s32 {out}, {a};\", a = x => i32)",
                )
            } else {
                ("braces in the text hold the name of an operand", "{{ .. }}")
            };
            return Err(self
                .wrong(what)
                .compare("in braces", self.all_names(), format!("`{{{written}}}`"))
                .why("a brace of PTX itself is doubled, as in `format!`")
                .help(help));
        }
        let diagnostic = self.wrong(format!("the text names `{{{name}}}`, which is no operand"));
        let is_output = name == "out" || name.strip_prefix("out").is_some_and(is_number);
        if is_output && self.outputs.is_empty() {
            return Err(diagnostic
                .why("without a type after `=>` there is no result")
                .help("ptx!(\"mov.u32 {out}, %laneid;\" => i32)"));
        }
        if is_output {
            return Err(diagnostic
                .compare("results", self.all_outputs(), format!("`{{{name}}}`"))
                .why("one result is `{out}`, those of a tuple are `{out0}`, `{out1}` and so on"));
        }
        let diagnostic = diagnostic.compare("operands", self.all_names(), format!("`{{{name}}}`"));
        Err(match nearest(name, self.names()) {
            Some(near) => diagnostic.help(format!("{{{near}}}")),
            None => diagnostic.help(format!("ptx!(\"..\", {name} = {name})")),
        })
    }

    fn all_outputs(&self) -> String {
        let names: Vec<String> =
            self.outputs.iter().map(|named| format!("`{{{}}}`", named.name)).collect();
        names.join(", ")
    }

    /// The text with blanks in the place of comments.
    fn without_comments(&self, text: &str) -> Result<String, Diagnostic> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('/') {
            out.push_str(&rest[..at]);
            let tail = &rest[at..];
            if tail.starts_with("//") {
                rest = tail.find('\n').map_or("", |end| &tail[end..]);
            } else if let Some(inner) = tail.strip_prefix("/*") {
                let Some(end) = inner.find("*/") else {
                    return Err(self.wrong("a comment in the text does not end").help("/* .. */"));
                };
                rest = &inner[end + 2..];
                out.push(' ');
            } else {
                out.push('/');
                rest = &tail[1..];
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The instructions of a text, without their `;`.
    fn statements<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, Diagnostic> {
        let mut found = Vec::new();
        let mut open = 0_u32;
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            match first {
                ';' => rest = rest[1..].trim_start(),
                '{' => {
                    open += 1;
                    rest = rest[1..].trim_start();
                }
                '}' if open == 0 => {
                    return Err(self.wrong("a `}}` in the text closes no scope").why(
                        "the text stands in a scope of its own, which nothing in it may close",
                    ));
                }
                '}' => {
                    open -= 1;
                    rest = rest[1..].trim_start();
                }
                _ => {
                    let end = self.statement_end(rest)?;
                    let statement = rest[..end].trim_end();
                    if self.is_instruction(statement)? {
                        found.push(statement);
                    }
                    rest = rest[end + 1..].trim_start();
                }
            }
        }
        if open > 0 {
            return Err(self.wrong("a scope in the text is not closed").help("{{ .. }}"));
        }
        if found.is_empty() {
            return Err(self
                .wrong("the text has no instruction")
                .help("ptx!(\"mov.u32 {out}, %laneid;\" => i32)"));
        }
        Ok(found)
    }

    /// Where the `;` of the statement is with which `text` begins.
    fn statement_end(&self, text: &str) -> Result<usize, Diagnostic> {
        let mut brackets = Vec::new();
        for (at, c) in text.char_indices() {
            match c {
                ';' if brackets.is_empty() => return Ok(at),
                '(' => brackets.push(')'),
                '[' => brackets.push(']'),
                '{' => brackets.push('}'),
                '}' if brackets.is_empty() => return Err(self.unended(&text[..at])),
                ')' | ']' | '}' | ';' if brackets.last() != Some(&c) => {
                    let wanted = brackets.last().map_or("nothing that closes".to_owned(), quoted);
                    return Err(self
                        .wrong("brackets in the text do not match")
                        .compare("", wanted, quoted(&c))
                        .why(format!("in {}", self.quote(&text[..=at]))));
                }
                ')' | ']' | '}' => {
                    brackets.pop();
                }
                _ => {}
            }
        }
        Err(self.unended(text))
    }

    fn unended(&self, statement: &str) -> Diagnostic {
        self.wrong("a statement of the text has no `;` at its end")
            .why("statements of PTX end in `;`, also the last one")
            .help(format!("{};", self.shown(statement).trim_end()))
    }

    /// Whether a statement is an instruction rather than a declaration of registers.
    fn is_instruction(&self, statement: &str) -> Result<bool, Diagnostic> {
        if let Some(directive) = statement.strip_prefix('.') {
            let word: String = directive.chars().take_while(|c| c.is_alphanumeric()).collect();
            if word == "reg" {
                return Ok(false);
            }
            return Err(self
                .wrong(format!("`.{word}` cannot stand in the text"))
                .why("of directives there is `.reg`, for registers that the text has for itself; memory is Kiln's to lay out")
                .help("{{ .reg .f32 t; .. }}"));
        }
        let mut body = statement;
        if let Some(guarded) = statement.strip_prefix('@') {
            let guarded = guarded.trim_start().trim_start_matches('!').trim_start();
            body = guarded.trim_start_matches(is_of_name).trim_start();
        }
        let name_end = body.find(|c| !is_of_name(c)).unwrap_or(body.len());
        let (name, after) = body.split_at(name_end);
        let after = after.trim_start();
        if after.starts_with(':') && !after.starts_with("::") {
            return Err(self.control(&format!("the label `{}`", self.shown(name))));
        }
        let Some(opcode) = Opcode::ALL.iter().find(|opcode| opcode.text() == name) else {
            return Err(self.unknown_opcode(name, statement));
        };
        self.is_allowed(*opcode, after, statement)?;
        Ok(true)
    }

    fn control(&self, what: &str) -> Diagnostic {
        self.wrong(format!("{what} cannot stand in the text"))
            .why("where control goes is for the kernel to say: Kiln places barriers and copies by it, and all threads of a block have to go one way")
            .help("if n > 0 { ptx!(\"..\") }")
    }

    fn unknown_opcode(&self, name: &str, statement: &str) -> Diagnostic {
        if name.is_empty() {
            return self
                .wrong("a statement of the text does not begin with an instruction")
                .compare("", "an opcode such as `add`", self.quote(statement));
        }
        if ELSEWHERE.contains(&name) {
            return self
                .wrong(format!("Kiln does not know the form of `{name}`"))
                .why("the text is checked against a table of instructions, which has all but those of textures, surfaces and video, and `wmma`");
        }
        let diagnostic = self
            .wrong(format!("`{}` is no instruction of PTX", self.shown(name)))
            .why(format!("in {}", self.quote(statement)));
        match nearest(name, Opcode::ALL.iter().map(|opcode| opcode.text())) {
            Some(near) => diagnostic.help(near.to_owned()),
            None => diagnostic,
        }
    }

    /// Refuses what would work against the code around the text.
    fn is_allowed(&self, opcode: Opcode, words: &str, statement: &str) -> Result<(), Diagnostic> {
        let words: String = words.chars().take_while(|c| !c.is_whitespace()).collect();
        let quoted = self.quote(statement);
        let refuse = |why: &str, help: &str| {
            let diagnostic = self.wrong(format!("{quoted} cannot stand in the text")).why(why);
            Err(if help.is_empty() { diagnostic } else { diagnostic.help(help) })
        };
        let is_group = [".async.commit_group", ".async.wait_group", ".async.wait_all"];
        match opcode {
            Opcode::Bra | Opcode::Brx | Opcode::Call | Opcode::Ret | Opcode::Exit => {
                Err(self.control(&quoted))
            }
            Opcode::Bar | Opcode::Barrier if !words.starts_with(".warp") => refuse(
                "Kiln puts barriers of its own between accesses to shared memory, and counts on every thread to meet the same ones",
                "sync();",
            ),
            Opcode::Cp if is_group.iter().any(|group| words.starts_with(group)) => refuse(
                "Kiln counts the groups of copies that are pending, and waits for them by number",
                "copy_async_wait_all();",
            ),
            Opcode::Setmaxnreg | Opcode::Alloca | Opcode::Stacksave | Opcode::Stackrestore => {
                refuse(
                    "registers and local memory of a thread are shared out for the whole kernel",
                    "",
                )
            }
            _ => Ok(()),
        }
    }

    /// The text as a function.
    fn parse(&self, text: &str) -> Result<Function, Diagnostic> {
        let list = |named: &[Named]| -> String {
            let params: Vec<String> = named
                .iter()
                .filter_map(|named| {
                    let ty = register_type(named.elem)?;
                    Some(format!(".reg .{} {MARK}{}", ty.text(), named.name))
                })
                .collect();
            format!("({})", params.join(", "))
        };
        let results = if self.outputs.is_empty() { String::new() } else { list(self.outputs) };
        let params = list(self.inputs);
        let head = format!(".version 9.0\n.target sm_100a\n.func {results} text {params} {{ {{\n");
        let module = parse(&format!("{head}{text}\n}} }}\n")).map_err(|error| {
            let (seen, wanted) = (self.shown(&error.seen), error.wanted);
            let diagnostic =
                self.wrong("the text is not PTX").compare("", wanted.clone(), seen.clone());
            let word = seen.trim_matches('`').trim_start_matches('.').to_owned();
            let near = match wanted.as_str() {
                "a modifier" => nearest(&word, modifiers()).map(|near| format!(".{near}")),
                "a name that is declared" => {
                    let operand = self.names().find(|name| **name == word);
                    operand.map(|name| format!("{{{name}}}"))
                }
                _ => None,
            };
            match near {
                Some(near) => diagnostic.help(near),
                None => diagnostic,
            }
        })?;
        module.functions.into_iter().next().ok_or_else(|| self.wrong("the text has no instruction"))
    }

    /// Holds the instructions against the table.
    fn check(
        &self,
        snippet: &Snippet,
        statements: &[&str],
        target: Option<Target>,
    ) -> Result<(), Diagnostic> {
        let body = &snippet.body;
        let only_instructions = body.body.iter().flatten().all(|statement| match statement {
            Statement::Instruction(_) => true,
            Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => false,
        });
        if !only_instructions || snippet.instructions().count() != statements.len() {
            return Err(self.wrong("the text has something besides instructions"));
        }
        let typed = self.typed(body);
        let given: Vec<Reg> = body.params.iter().filter_map(|param| param.register).collect();
        let mut written: Vec<Reg> = given.clone();
        for (instruction, statement) in snippet.instructions().zip(statements) {
            let fault = |error: &FormError, registers: &[Register]| {
                self.form(error, instruction, statement, registers, body)
            };
            let count = results(instruction, &body.registers)
                .map_err(|error| fault(&error, &body.registers))?;
            if is_plain(instruction)
                && let Err(error) = form(instruction, &typed)
            {
                return Err(fault(&error, &typed));
            }
            let part = |range: std::ops::Range<usize>| {
                let operands = instruction.operands[range].to_vec();
                let mut found = Vec::new();
                Instruction { guard: None, operands, ..instruction.clone() }
                    .visit_registers(|reg| found.push(reg));
                found
            };
            let mut read = part(count..instruction.operands.len());
            read.extend(instruction.guard.map(|guard| guard.predicate));
            if let Some(reg) = read.iter().find(|reg| !written.contains(reg)) {
                return Err(self
                    .wrong(format!("the text reads {} before it writes it", name_of(body, *reg)))
                    .why(format!(
                        "in {}: a register holds nothing until an instruction writes it",
                        self.quote(statement)
                    )));
            }
            for reg in part(0..count) {
                if given.contains(&reg) {
                    return Err(self
                        .wrong(format!(
                            "the text writes {}, which it may only read",
                            name_of(body, reg)
                        ))
                        .why(format!(
                            "in {}: the kernel may use that value again",
                            self.quote(statement)
                        ))
                        .help("{{ .reg .b32 t; mov.b32 t, {a}; .. }}"));
                }
                written.push(reg);
            }
        }
        for (named, param) in self.outputs.iter().zip(&body.results) {
            if !param.register.is_some_and(|reg| written.contains(&reg)) {
                let name = &named.name;
                return Err(Diagnostic::new(
                    Code::PtxText,
                    named.loc,
                    format!("the text does not write `{{{name}}}`"),
                )
                .why("no instruction of it has that register as its result"));
            }
        }
        target.map_or(Ok(()), |target| self.on_target(body, statements, target))
    }

    /// The registers with the types that the kernel gives the operands.
    fn typed(&self, body: &Function) -> Vec<Register> {
        let mut typed = body.registers.clone();
        let sides = [(self.inputs, &body.params), (self.outputs, &body.results)];
        for (named, params) in sides {
            for (named, param) in named.iter().zip(params) {
                if let (Some(reg), Some(ty)) = (param.register, seen_as(named.elem)) {
                    typed[reg.0 as usize].ty = ty;
                }
            }
        }
        typed
    }

    fn on_target(
        &self,
        body: &Function,
        statements: &[&str],
        target: Target,
    ) -> Result<(), Diagnostic> {
        let module = kernel_ptx::Module {
            version: (u32::MAX, 0),
            target: vec![target.to_string()],
            functions: vec![body.clone()],
            ..kernel_ptx::Module::default()
        };
        let Err(found) = module.validate() else { return Ok(()) };
        let Some(first) = found.first() else { return Ok(()) };
        let statement = first.statement.and_then(|index| statements.get(index));
        let quoted = statement.map_or_else(String::new, |statement| self.quote(statement));
        Err(match &first.reason {
            Reason::Need { what, required, actual } => Diagnostic::new(
                Code::Target,
                self.at,
                format!("`{what}` is not an instruction of {actual}"),
            )
            .compare("target", required.to_string(), actual.to_string())
            .why(format!("in {quoted}"))
            .help(format!("if target({}) {{ .. }} else {{ .. }}", required.oldest())),
            Reason::Form(_)
            | Reason::Target(_)
            | Reason::Version { .. }
            | Reason::Reference(_)
            | Reason::SharedBytes(_) => self
                .wrong(format!("{quoted} does not fit the instruction table"))
                .why(first.to_string()),
        })
    }

    /// What keeps a statement from being a form of its instruction.
    fn form(
        &self,
        error: &FormError,
        instruction: &Instruction,
        statement: &str,
        registers: &[Register],
        body: &Function,
    ) -> Diagnostic {
        let name = &error.instruction;
        let within = format!("in {}", self.quote(statement));
        match &error.problem {
            FormProblem::Opcode => self.wrong(format!("Kiln does not know the form of `{name}`")),
            FormProblem::Modifier(modifier) => {
                self.wrong(format!("`.{modifier}` has no place in `{name}`")).why(within)
            }
            FormProblem::Missing(choices) => {
                let choices: Vec<String> =
                    choices.iter().map(|choice| format!("`.{choice}`")).collect();
                self.wrong(format!("`{name}` lacks a modifier"))
                    .compare("", choices.join(" or "), "none of them")
                    .why(within)
            }
            FormProblem::OperandCount { required, actual } => self
                .wrong(format!("`{name}` has another number of operands"))
                .compare("operands", required.to_string(), actual.to_string())
                .why(within),
            FormProblem::Operand { index, required } => {
                let wanted = pattern(required, instruction);
                let actual = self.operand_in_words(instruction, *index, registers, body);
                let headline = match (wanted.1, actual.1) {
                    (Some(_), Some(named)) => {
                        let ty = type_name(named.elem);
                        format!(
                            "`{{{}}}` is of type `{ty}`, which `{name}` does not take",
                            named.name
                        )
                    }
                    _ => format!("operand {} of `{name}` is of another kind", index + 1),
                };
                let diagnostic = self.wrong(headline).compare("", wanted.0, actual.0).why(within);
                match (wanted.1.and_then(dtype_of), actual.1) {
                    (Some(dtype), Some(named))
                        if self.outputs.iter().any(|out| out.name == named.name) =>
                    {
                        diagnostic.help(format!("=> {}", dtype.name()))
                    }
                    (Some(dtype), Some(named)) => diagnostic.help(format!(
                        "{0} = {0}.cast::<{1}>()",
                        named.name,
                        dtype.name()
                    )),
                    _ => diagnostic,
                }
            }
        }
    }

    /// An operand as the text has it, and the operand of `ptx!` that it is, if it is one.
    fn operand_in_words(
        &self,
        instruction: &Instruction,
        index: usize,
        registers: &[Register],
        body: &Function,
    ) -> (String, Option<&Named>) {
        let Some(operand) = instruction.operands.get(index) else {
            return ("nothing".to_owned(), None);
        };
        let mut found = Vec::new();
        Instruction { guard: None, operands: vec![operand.clone()], ..instruction.clone() }
            .visit_registers(|reg| found.push(reg));
        let kernel_ptx::Operand::Reg(reg) = operand else {
            let names: Vec<String> = found.iter().map(|reg| name_of(body, *reg)).collect();
            let of =
                if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
            return (format!("{}{of}", kind(operand)), None);
        };
        let of = |named: &[Named], params: &[kernel_ptx::Param]| {
            params
                .iter()
                .position(|param| param.register == Some(*reg))
                .filter(|at| *at < named.len())
        };
        let named = of(self.inputs, &body.params)
            .map(|at| &self.inputs[at])
            .or_else(|| of(self.outputs, &body.results).map(|at| &self.outputs[at]));
        match named {
            Some(named) => {
                let ty = type_name(named.elem);
                (format!("`{{{}}}`, of type `{ty}`", named.name), Some(named))
            }
            None => {
                let ty = registers.get(reg.0 as usize).map_or("", |register| register.ty.text());
                (format!("{}, of type `.{ty}`", name_of(body, *reg)), None)
            }
        }
    }

    /// What the parser saw, in the words of the text.
    fn shown(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(MARK) {
            out.push_str(&rest[..at]);
            let tail = &rest[at + MARK.len()..];
            let name = self
                .names()
                .filter(|name| tail.starts_with(*name))
                .max_by_key(|name| name.len())
                .unwrap_or_default();
            out.push_str(&format!("{{{name}}}"));
            rest = &tail[name.len()..];
        }
        out.push_str(rest);
        out
    }

    /// A statement on one line, in backticks.
    fn quote(&self, statement: &str) -> String {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let line = self.shown(&words.join(" "));
        let short: String = line.chars().take(80).collect();
        let more = if short.len() < line.len() { " .." } else { "" };
        format!("`{short}{more}`")
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

fn quoted(c: &char) -> String {
    format!("`{c}`")
}

/// The suffix of a move of an element.
fn letters(elem: Elem) -> &'static str {
    register_type(elem).map_or("b32", Type::text)
}

fn modifiers() -> impl Iterator<Item = &'static str> {
    Word::ALL.iter().map(|word| word.text()).chain(Type::ALL.iter().map(|ty| ty.text()))
}

/// A register as the text calls it.
fn name_of(body: &Function, reg: Reg) -> String {
    let name = body.registers.get(reg.0 as usize).and_then(|register| register.name.as_deref());
    let name = name.unwrap_or("a register");
    match name.strip_prefix(MARK) {
        Some(operand) => format!("`{{{operand}}}`"),
        None => format!("`{name}`"),
    }
}

/// The pattern of an operand in the table, in words, and its type where it has one.
fn pattern(text: &str, instruction: &Instruction) -> (String, Option<Type>) {
    let text = text.trim_start_matches(['=', '?']);
    let text = text.split_once('?').map_or(text, |(_, text)| text);
    match text {
        "p" | "!p" => return ("a predicate".to_owned(), Some(Type::Pred)),
        "[]" => return ("an address in brackets, `[..]`".to_owned(), None),
        "p|p" => return ("one predicate, or two as `p|q`".to_owned(), None),
        _ => {}
    }
    if let Some(range) = text.strip_prefix('#') {
        let range = if range.is_empty() { String::new() } else { format!(" in {range}") };
        return (format!("an integer literal{range}"), None);
    }
    if text.starts_with('{') {
        return ("a list in braces, `{{a, b}}` in the text".to_owned(), None);
    }
    if text.starts_with('[') {
        return ("the address of a tensor map with coordinates".to_owned(), None);
    }
    let name = text.trim_end_matches("|p").trim_end_matches(['+', '_']);
    let types: Vec<Type> = instruction
        .modifiers
        .iter()
        .filter_map(|modifier| match modifier {
            Modifier::Type(ty) => Some(*ty),
            Modifier::Space(_) | Modifier::Word(_) => None,
        })
        .collect();
    let numbered = |number: &str| types.get(number.parse::<usize>().ok()?).copied();
    let ty = match name.split_at_checked(1) {
        Some(("t", number)) if is_number(number) => numbered(number),
        Some(("w", number)) if is_number(number) => {
            let Some(narrow) = numbered(number) else { return ("a register".to_owned(), None) };
            return (format!("a register twice as wide as `.{}`", narrow.text()), None);
        }
        _ => Type::ALL.iter().find(|ty| ty.text() == name).copied(),
    };
    match ty {
        Some(ty) => (format!("type `.{}`", ty.text()), Some(ty)),
        None => ("an operand of another kind".to_owned(), None),
    }
}

/// The element type that a kernel has for an instruction's type.
fn dtype_of(ty: Type) -> Option<Dtype> {
    Some(match ty {
        Type::S32 | Type::B32 => Dtype::I32,
        Type::U32 => Dtype::U32,
        Type::S64 => Dtype::I64,
        Type::U64 | Type::B64 => Dtype::U64,
        Type::F16 => Dtype::F16,
        Type::Bf16 => Dtype::Bf16,
        Type::F32 => Dtype::F32,
        Type::F64 => Dtype::F64,
        _ => return None,
    })
}

/// The kind of an operand that is no register.
fn kind(operand: &kernel_ptx::Operand) -> &'static str {
    use kernel_ptx::Operand;
    match operand {
        Operand::Reg(_) => "a register",
        Operand::Not(_) => "a negated predicate",
        Operand::Int(_) => "an integer literal",
        Operand::F32(_) | Operand::F64(_) => "a float literal",
        Operand::Special(_) => "a special register, which only `mov` reads",
        Operand::Vector(_) => "a list in braces",
        Operand::Pair(..) => "a pair",
        Operand::Address { .. } => "an address",
        Operand::TensorAddress { .. } => "an address with coordinates",
        Operand::Symbol(..) => "the name of a variable",
        Operand::Label(_) => "a label",
        Operand::BranchTargets(_) => "a table of labels",
        Operand::List(_) => "a list in parentheses",
        Operand::Sink => "`_`",
    }
}

#[cfg(test)]
mod tests;

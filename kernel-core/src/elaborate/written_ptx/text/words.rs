//! The messages about statements that are not a form of their instruction.

use kernel_ptx::{
    FormError, FormProblem, Function, Instruction, Modifier, Operand, Reg, Register, Type,
};

use super::{MARK, Named, Reader, is_number};
use crate::{
    diag::{Diagnostic, counted},
    ir::{Dtype, Elem},
};

/// What a kernel calls an element.
fn type_name(elem: Elem) -> String {
    match elem {
        Elem::Number(dtype) => dtype.name().to_owned(),
        Elem::Ptr(dtype) => format!("Ptr<{}>", dtype.name()),
    }
}

impl Reader<'_> {
    /// What keeps a statement from being a form of its instruction.
    pub(super) fn form(
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
                self.wrong(format!("`{name}` does not take `.{modifier}`")).why(within)
            }
            FormProblem::Missing(choices) => {
                let choices: Vec<String> =
                    choices.iter().map(|choice| format!("`.{choice}`")).collect();
                self.wrong(format!("`{name}` needs a modifier"))
                    .compare("", choices.join(" or "), "none of them")
                    .why(within)
            }
            FormProblem::OperandCount { required, actual } => self
                .wrong(format!("`{name}` takes {}", counted(*required, "operand")))
                .compare("operands", required, actual)
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
                    _ => format!("operand {} of `{name}` has the wrong kind", index + 1),
                };
                let diagnostic = self.wrong(headline).compare("", wanted.0, actual.0).why(within);
                match (wanted.1.and_then(dtype_of), actual.1) {
                    (Some(dtype), Some(named))
                        if self.outputs.iter().any(|out| out.name == named.name) =>
                    {
                        diagnostic.help(format!("=> {}", dtype.name()))
                    }
                    (Some(dtype), Some(named)) => diagnostic
                        .place(named.loc, "given here")
                        .help(format!(".cast::<{}>()", dtype.name())),
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
        let Operand::Reg(reg) = operand else {
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
        if let Some(named) = named {
            let ty = type_name(named.elem);
            return (format!("`{{{}}}`, of type `{ty}`", named.name), Some(named));
        }
        let ty = registers.get(reg.0 as usize).map_or("", |register| register.ty.text());
        (format!("{}, of type `.{ty}`", name_of(body, *reg)), None)
    }
}

/// A register as the text calls it.
pub(super) fn name_of(body: &Function, reg: Reg) -> String {
    let name = body.registers.get(reg.0 as usize).and_then(|register| register.name.as_deref());
    let name = name.unwrap_or("a register");
    match name.strip_prefix(MARK) {
        Some(operand) => format!("`{{{operand}}}`"),
        None => format!("`{name}`"),
    }
}

/// The pattern of an operand in the table, in words, and its type if it has one.
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
#[expect(clippy::wildcard_enum_match_arm, reason = "kernels have no values of the other types")]
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

/// The kind of an operand that is not a register.
fn kind(operand: &Operand) -> &'static str {
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

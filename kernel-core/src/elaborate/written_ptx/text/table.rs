//! A text against the instruction table: forms, types of operands, the target.

use kernel_ptx::{
    FormError, Function, Hardware, Instruction, Modifier, Need, Reason, Reg, Register, Statement,
    Target, Type, Word, form, parse_body, results,
};

use super::{MARK, Named, Reader, letters, words::name_of};
use crate::{
    diag::{Code, Diagnostic, nearest},
    ir::{Dtype, Elem, Snippet, register_type},
};

/// The type that an instruction sees, if the register itself has none.
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

impl Reader<'_> {
    /// The text as a function.
    pub(super) fn parse(&self, text: &str) -> Result<Function, Box<Diagnostic>> {
        let named = |list: &[Named]| -> Vec<(String, Type)> {
            let of =
                |named: &Named| Some((format!("{MARK}{}", named.name), register_type(named.elem)?));
            list.iter().filter_map(of).collect()
        };
        let (results, params) = (named(self.outputs), named(self.inputs));
        let results: Vec<(&str, Type)> =
            results.iter().map(|(name, ty)| (name.as_str(), *ty)).collect();
        let params: Vec<(&str, Type)> =
            params.iter().map(|(name, ty)| (name.as_str(), *ty)).collect();
        parse_body(text, &results, &params).map_err(|error| {
            let (seen, wanted) = (self.shown(&error.seen), error.wanted);
            let diagnostic = match wanted.as_str() {
                "a modifier" => self.wrong(format!("{seen} is not a PTX modifier")),
                "a name that is declared" => self
                    .wrong(format!("{seen} is neither a register of the text nor a PTX register"))
                    .why("operands are in braces; declare other registers with `.reg`"),
                _ => self.wrong("the text is not PTX").compare("", wanted.clone(), seen.clone()),
            };
            let word = seen.trim_matches('`').trim_start_matches('.').to_owned();
            let near = match wanted.as_str() {
                "a modifier" => nearest(&word, modifiers()).map(|near| format!(".{near}")),
                "a name that is declared" => {
                    let operand = self.names().find(|name| **name == word);
                    operand.map(|name| format!("{{{name}}}"))
                }
                _ => None,
            };
            Box::new(diagnostic.help_if(near))
        })
    }

    /// Holds the instructions against the table.
    pub(super) fn check(
        &self,
        snippet: &Snippet,
        statements: &[&str],
        target: Option<Target>,
    ) -> Result<(), Box<Diagnostic>> {
        let body = &snippet.body;
        let only_instructions = body.body.iter().flatten().all(|statement| match statement {
            Statement::Instruction(_) => true,
            Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => false,
        });
        if !only_instructions || snippet.instructions().count() != statements.len() {
            return Err(self.wrong("the text has something other than instructions").into());
        }
        let typed = self.typed(body);
        let given: Vec<Reg> = body.params.iter().filter_map(|param| param.register).collect();
        let mut written = vec![false; body.registers.len()];
        for reg in &given {
            written[reg.0 as usize] = true;
        }
        for (instruction, statement) in snippet.instructions().zip(statements) {
            let fault = |error: &FormError, registers: &[Register]| {
                self.form(error, instruction, statement, registers, body)
            };
            let count = results(instruction, &body.registers)
                .map_err(|error| fault(&error, &body.registers))?;
            if is_plain(instruction)
                && let Err(error) = form(instruction, &typed)
            {
                return Err(fault(&error, &typed).into());
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
            if let Some(reg) = read.iter().find(|reg| !written[reg.0 as usize]) {
                return Err(Box::new(
                    self.wrong(format!(
                        "the text reads {} before it writes it",
                        name_of(body, *reg)
                    ))
                    .why(format!(
                        "in {}: a register holds nothing until an instruction writes it",
                        self.quote(statement)
                    )),
                ));
            }
            for reg in part(0..count) {
                if given.contains(&reg) {
                    return Err(Box::new(
                        self.wrong(format!(
                            "the text writes {}, which is read-only",
                            name_of(body, reg)
                        ))
                        .why(format!(
                            "in {}: the kernel may use the value again",
                            self.quote(statement)
                        ))
                        .help(self.copied(body, reg)),
                    ));
                }
                written[reg.0 as usize] = true;
            }
        }
        for (named, param) in self.outputs.iter().zip(&body.results) {
            if !param.register.is_some_and(|reg| written[reg.0 as usize]) {
                let name = &named.name;
                return Err(Box::new(
                    Code::PtxText
                        .at(named.loc, format!("the text does not write `{{{name}}}`"))
                        .why("no instruction in it has this register as its result"),
                ));
            }
        }
        target.map_or(Ok(()), |target| self.on_target(body, statements, target))
    }

    /// How a text gets a register of its own with an operand's value.
    fn copied(&self, body: &Function, reg: Reg) -> String {
        let at = body.params.iter().position(|param| param.register == Some(reg));
        let Some(named) = at.and_then(|at| self.inputs.get(at)) else { return String::new() };
        let (ty, name) = (letters(named.elem), &named.name);
        format!("{{{{ .reg .{ty} t; mov.{ty} t, {{{name}}}; .. }}}}")
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
    ) -> Result<(), Box<Diagnostic>> {
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
        Err(Box::new(match &first.reason {
            Reason::Need { what, required, actual } => Code::Target
                .at(self.at, format!("`{what}` is not an instruction of {actual}"))
                .compare("target", required, actual)
                .why(format!("in {quoted}"))
                .help(had_by(*required)),
            Reason::Form(_)
            | Reason::Target(_)
            | Reason::Version { .. }
            | Reason::Reference(_)
            | Reason::SharedBytes(_) => self
                .wrong(format!("{quoted} does not fit the instruction table"))
                .why(first.to_string()),
        }))
    }
}

/// How code is kept to the targets that offer something.
fn had_by(need: Need) -> String {
    let known = Hardware::ROWS.iter().map(|row| row.target).find(|target| need.met_by(*target));
    format!("if target({}) {{ ptx!(..) }}", known.unwrap_or_else(|| need.oldest()))
}

fn modifiers() -> impl Iterator<Item = &'static str> {
    Word::ALL.iter().map(|word| word.text()).chain(Type::ALL.iter().map(|ty| ty.text()))
}

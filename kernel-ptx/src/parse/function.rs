//! Functions: header, scopes, statements.
#![expect(clippy::disallowed_types, reason = "names are looked up, never listed")]

use std::collections::HashMap;

use super::Parser;
use super::declaration::variable_space;
use super::lexer::Kind;
use crate::{
    Directive, Function, Label, Linkage, Operand, Param, ParseError, Reg, Register, Space,
    Statement, Symbol, Type,
};

/// What a name stands for in a function's body.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Reg(Reg),
    /// `.reg .v4 .f32 %v`: its components.
    VectorReg(Vec<Reg>),
    Symbol(Symbol),
    Label(Label),
    /// A `.branchtargets` table.
    Table(u32),
}

/// A register that was declared and not yet used.
#[derive(Clone, Copy, Debug)]
struct Declared {
    ty: Type,
    vector: u32,
    /// `%r<9>`: how many there are; `None` for a name of its own.
    count: Option<u32>,
}

/// The names of one `{ }`.
#[derive(Debug, Default)]
struct Scope<'t> {
    bound: HashMap<&'t str, Binding>,
    declared: HashMap<&'t str, Declared>,
}

/// A function while its body is read.
pub(super) struct Body<'t> {
    pub(super) function: Function,
    scopes: Vec<Scope<'t>>,
    statements: Vec<Statement>,
}

/// The name before the digits at its end, for every way of cutting `%r12` into a prefix and a number.
fn cuts(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (1..=digits).rev().filter_map(move |digits| {
        let (prefix, number) = name.split_at(name.len() - digits);
        if number.len() > 1 && number.starts_with('0') {
            return None;
        }
        Some((prefix, number.parse().ok()?))
    })
}

impl<'t> Body<'t> {
    /// A new register with its name in the text.
    fn register(&mut self, ty: Type, name: String) -> Reg {
        let index = u32::try_from(self.function.registers.len()).unwrap_or(u32::MAX);
        self.function.registers.push(Register { ty, name: Some(name) });
        Reg(index)
    }

    /// What `name` stands for here; a declared register gets its id on its first use.
    pub(super) fn resolve(&mut self, name: &'t str) -> Option<Binding> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            if let Some(binding) = scope.bound.get(name) {
                return Some(binding.clone());
            }
            let declared = scope.declared.get(name).filter(|declared| declared.count.is_none());
            let declared = declared.or_else(|| {
                cuts(name).find_map(|(prefix, number)| {
                    let declared = scope.declared.get(prefix)?;
                    (number < declared.count?).then_some(declared)
                })
            });
            if let Some(&Declared { ty, vector, .. }) = declared {
                let binding = if vector == 1 {
                    Binding::Reg(self.register(ty, name.to_owned()))
                } else {
                    let parts = ["x", "y", "z", "w"].iter().take(vector as usize);
                    Binding::VectorReg(
                        parts.map(|part| self.register(ty, format!("{name}_{part}"))).collect(),
                    )
                };
                self.scopes[depth].bound.insert(name, binding.clone());
                return Some(binding);
            }
        }
        None
    }

    fn scope(&mut self) -> &mut Scope<'t> {
        self.scopes.last_mut().expect("a body has the scope of the function")
    }
}

impl<'t> Parser<'t> {
    /// What stands after `.entry` or `.func`.
    pub(super) fn function(&mut self, linkage: Linkage, is_entry: bool) -> Result<(), ParseError> {
        let mut function = Function { is_entry, linkage, ..Function::empty() };
        while self.eat_dot("attribute") {
            self.attribute()?;
        }
        let mut scope = Scope::default();
        if !is_entry && self.eat("(") {
            let results = self.params(&mut function, &mut scope, Symbol::Result)?;
            function.results = results;
        }
        self.name("the name of a function")?.clone_into(&mut function.name);
        if self.eat("(") {
            let params = self.params(&mut function, &mut scope, Symbol::Param)?;
            function.params = params;
        }
        self.function_directives(&mut function)?;
        if self.eat(";") {
            // A declaration has no use for the registers of its parameters.
            self.module.functions.push(function);
            return Ok(());
        }
        let open = self.at;
        self.expect("{")?;
        let mut body = Body { function, scopes: vec![scope], statements: Vec::new() };
        self.block(&mut body, open)?;
        body.function.body = Some(body.statements);
        number_labels(&mut body.function);
        self.module.functions.push(body.function);
        Ok(())
    }

    /// `{ .. }` as the body of a function with these registers as results and parameters.
    pub(super) fn body_alone(
        &mut self,
        results: &[(&'t str, Type)],
        params: &[(&'t str, Type)],
    ) -> Result<Function, ParseError> {
        let mut function = Function::empty();
        let mut scope = Scope::default();
        let mut declare = |list: &[(&'t str, Type)]| -> Vec<Param> {
            let declared = list.iter().map(|&(name, ty)| {
                let reg = Reg(u32::try_from(function.registers.len()).unwrap_or(u32::MAX));
                function.registers.push(Register { ty, name: Some(name.to_owned()) });
                scope.bound.insert(name, Binding::Reg(reg));
                let (space, align) = (Space::Reg, u32::try_from(ty.bytes()).unwrap_or(1));
                Param {
                    name: name.to_owned(),
                    space,
                    ty,
                    align,
                    dims: Vec::new(),
                    register: Some(reg),
                }
            });
            declared.collect()
        };
        let (results, params) = (declare(results), declare(params));
        function.results = results;
        function.params = params;
        let open = self.at;
        self.expect("{")?;
        let mut body = Body { function, scopes: vec![scope], statements: Vec::new() };
        self.block(&mut body, open)?;
        body.function.body = Some(body.statements);
        number_labels(&mut body.function);
        Ok(body.function)
    }

    /// A parameter list up to its `)`.
    fn params(
        &mut self,
        function: &mut Function,
        scope: &mut Scope<'t>,
        symbol: fn(u32) -> Symbol,
    ) -> Result<Vec<Param>, ParseError> {
        let mut params = Vec::new();
        if self.eat(")") {
            return Ok(params);
        }
        loop {
            let (name, mut param) = self.param()?;
            let index = u32::try_from(params.len()).map_err(|_| self.error("fewer parameters"))?;
            let binding = if param.space == Space::Reg {
                let reg = Reg(u32::try_from(function.registers.len()).unwrap_or(u32::MAX));
                function.registers.push(Register { ty: param.ty, name: Some(name.to_owned()) });
                param.register = Some(reg);
                Binding::Reg(reg)
            } else {
                Binding::Symbol(symbol(index))
            };
            scope.bound.insert(name, binding);
            params.push(param);
            if self.eat(")") {
                return Ok(params);
            }
            self.expect(",")?;
        }
    }

    /// Up to three extents; those left out are 1.
    fn extents(&mut self) -> Result<[u32; 3], ParseError> {
        let mut extents = [1; 3];
        for extent in &mut extents {
            *extent = self.count_u32()?;
            if !self.eat(",") {
                break;
            }
        }
        Ok(extents)
    }

    fn function_directives(&mut self, function: &mut Function) -> Result<(), ParseError> {
        while let Kind::Dot(word) = self.kind() {
            let from = self.at;
            self.at += 1;
            let directive = match word {
                "maxntid" => Directive::MaxThreads(self.extents()?),
                "reqntid" => Directive::RequiredThreads(self.extents()?),
                "reqnctapercluster" => Directive::RequiredCluster(self.extents()?),
                "minnctapersm" => Directive::MinBlocks(self.count_u32()?),
                "maxnreg" => Directive::MaxRegisters(self.count_u32()?),
                "maxclusterrank" => Directive::MaxClusterRank(self.count_u32()?),
                "explicitcluster" => Directive::ExplicitCluster,
                "blocksareclusters" => Directive::BlocksAreClusters,
                "noreturn" => Directive::NoReturn,
                "attribute" => {
                    self.attribute()?;
                    continue;
                }
                "pragma" => {
                    let text = self.text_literal()?;
                    self.expect(";")?;
                    Directive::Pragma(text.to_owned())
                }
                "abi_preserve" | "abi_preserve_control" => {
                    self.count_u32()?;
                    Directive::Other(self.verbatim(from))
                }
                _ => return Err(self.error_at(from, "a directive of a function")),
            };
            function.directives.push(directive);
        }
        Ok(())
    }

    /// Statements up to the `}` that closes the brace at token `open`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other token begins an instruction")]
    fn block(&mut self, body: &mut Body<'t>, open: usize) -> Result<(), ParseError> {
        self.find_labels(body, open)?;
        self.deeper(|parser| {
            loop {
                match parser.kind() {
                    Kind::Mark("}") => {
                        parser.at += 1;
                        return Ok(());
                    }
                    Kind::Mark("{") => {
                        let open = parser.at;
                        parser.at += 1;
                        body.scopes.push(Scope::default());
                        parser.block(body, open)?;
                        body.scopes.pop();
                    }
                    Kind::Mark(";") => parser.at += 1,
                    Kind::End => return Err(parser.error_at(open, "a block that ends in `}`")),
                    Kind::Dot(_) => parser.directive(body)?,
                    Kind::Name(name) if parser.token(parser.at + 1).kind == Kind::Mark(":") => {
                        parser.at += 2;
                        parser.labelled(body, name)?;
                    }
                    _ => {
                        let instruction = parser.instruction(body)?;
                        body.statements.push(Statement::Instruction(instruction));
                    }
                }
            }
        })
    }

    /// Gives every label of this block, the nested ones left out, its id: a branch may come before.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other tokens say nothing of labels")]
    fn find_labels(&mut self, body: &mut Body<'t>, open: usize) -> Result<(), ParseError> {
        let mut depth = 0_u32;
        let mut index = open + 1;
        loop {
            match self.token(index).kind {
                Kind::Mark("{") => depth += 1,
                Kind::Mark("}") if depth == 0 => return Ok(()),
                Kind::Mark("}") => depth -= 1,
                Kind::End => return Err(self.error_at(open, "a block that ends in `}`")),
                Kind::Name(name)
                    if depth == 0
                        && self.token(index + 1).kind == Kind::Mark(":")
                        && name != "WARP_SZ" =>
                {
                    let binding = if self.token(index + 2).kind == Kind::Dot("branchtargets") {
                        let table = body.function.branch_targets.len();
                        body.function.branch_targets.push(Vec::new());
                        Binding::Table(u32::try_from(table).unwrap_or(u32::MAX))
                    } else {
                        let label = body.function.labels.len();
                        body.function.labels.push(name.to_owned());
                        Binding::Label(Label(u32::try_from(label).unwrap_or(u32::MAX)))
                    };
                    if body.scope().bound.insert(name, binding).is_some() {
                        return Err(
                            self.error_at(index, "a name that this block does not have yet")
                        );
                    }
                }
                _ => {}
            }
            index += 1;
        }
    }

    /// What stands after `name:`.
    fn labelled(&mut self, body: &mut Body<'t>, name: &'t str) -> Result<(), ParseError> {
        let from = self.at - 2;
        if self.eat_dot("branchtargets") {
            let mut targets = Vec::new();
            while !self.eat(";") {
                if !targets.is_empty() {
                    self.expect(",")?;
                }
                let at = self.at;
                let target = self.name("a label")?;
                let Some(Binding::Label(label)) = body.resolve(target) else {
                    return Err(self.error_at(at, "a label"));
                };
                targets.push(label);
            }
            let Some(Binding::Table(table)) = body.resolve(name) else {
                return Err(self.error_at(from, "a label at the start of a statement"));
            };
            body.function.branch_targets[table as usize] = targets;
            return Ok(());
        }
        if matches!(self.kind(), Kind::Dot("callprototype" | "calltargets")) {
            while !self.eat(";") {
                if matches!(self.kind(), Kind::End | Kind::Mark("{" | "}")) {
                    return Err(self.error("`;`"));
                }
                self.at += 1;
            }
            let text = self.verbatim(from);
            body.function.directives.push(Directive::Other(text));
            return Ok(());
        }
        let Some(Binding::Label(label)) = body.resolve(name) else {
            return Err(self.error_at(from, "a label at the start of a statement"));
        };
        body.statements.push(Statement::Label(label));
        Ok(())
    }

    /// A statement that starts with a dot.
    fn directive(&mut self, body: &mut Body<'t>) -> Result<(), ParseError> {
        let Kind::Dot(word) = self.kind() else {
            return Err(self.error("a directive"));
        };
        match word {
            "reg" => {
                self.at += 1;
                self.registers(body)
            }
            "loc" => {
                self.at += 1;
                let file = self.location_number()?;
                let line = self.location_number()?;
                let column = self.location_number()?;
                self.inlined()?;
                body.statements.push(Statement::Location { file, line, column });
                Ok(())
            }
            "pragma" => {
                self.at += 1;
                loop {
                    let text = self.text_literal()?;
                    body.statements.push(Statement::Pragma(text.to_owned()));
                    if !self.eat(",") {
                        return self.expect(";");
                    }
                }
            }
            "section" => {
                self.at += 1;
                self.section()
            }
            "file" => {
                self.at += 1;
                self.file()
            }
            _ if variable_space(word).is_some() => {
                for (name, variable) in self.variables(Linkage::Private)? {
                    let index = body.function.variables.len();
                    body.function.variables.push(variable);
                    let symbol = Symbol::Local(u32::try_from(index).unwrap_or(u32::MAX));
                    body.scope().bound.insert(name, Binding::Symbol(symbol));
                }
                Ok(())
            }
            _ => Err(self.error("a directive of a function's body")),
        }
    }

    /// A number of `.loc`, where the next number is not an operator's right side.
    fn location_number(&mut self) -> Result<u32, ParseError> {
        let Kind::Int(value, _) = self.kind() else {
            return Err(self.error("a number"));
        };
        let value = u32::try_from(value).map_err(|_| self.error("a number of 32 bits"))?;
        self.at += 1;
        Ok(value)
    }

    /// `, function_name $L__info_string0 + 8, inlined_at 1 7 2`, in either order.
    fn inlined(&mut self) -> Result<(), ParseError> {
        while self.eat(",") {
            let Kind::Name(word @ ("function_name" | "inlined_at")) = self.kind() else {
                return Err(self.error("`function_name` or `inlined_at`"));
            };
            self.at += 1;
            if word == "function_name" {
                self.name("a label")?;
                self.offset_of_location()?;
            } else {
                for _ in 0..3 {
                    self.location_number()?;
                }
            }
        }
        Ok(())
    }

    fn offset_of_location(&mut self) -> Result<(), ParseError> {
        if self.eat("+") {
            self.location_number()?;
        }
        Ok(())
    }

    /// `.reg .b32 %r<9>, %a, %b;` after its `.reg`.
    fn registers(&mut self, body: &mut Body<'t>) -> Result<(), ParseError> {
        let head = self.head()?;
        loop {
            let at = self.at;
            let name = self.name("the name of a register")?;
            let count = if self.eat("<") {
                let at = self.at;
                let count = self.sum()?.integer().and_then(|count| u32::try_from(count).ok());
                let count = count.ok_or_else(|| self.error_at(at, "a number of registers"))?;
                self.expect(">")?;
                Some(count)
            } else {
                None
            };
            let declared = Declared { ty: head.ty, vector: head.vector, count };
            let scope = body.scope();
            let taken = scope.bound.contains_key(name) && count.is_none();
            if scope.declared.insert(name, declared).is_some() || taken {
                return Err(self.error_at(at, "a name that this block does not have yet"));
            }
            if !self.eat(",") {
                return self.expect(";");
            }
        }
    }

    /// What a name of the body stands for, module scope included.
    pub(super) fn resolve(&self, body: &mut Body<'t>, name: &'t str) -> Option<Binding> {
        body.resolve(name).or_else(|| {
            if let Some(index) = self.globals.get(name) {
                return Some(Binding::Symbol(Symbol::Global(*index)));
            }
            let function = self.functions.contains(name);
            function.then(|| Binding::Symbol(Symbol::Function(name.to_owned())))
        })
    }
}

/// Numbers labels in the order of their statements and tables in the order of their branches.
///
/// A block's own labels are found before those of the blocks inside, an order that would not
/// survive the disappearance of the blocks.
fn number_labels(function: &mut Function) {
    let mut labels = Vec::new();
    let mut tables = Vec::new();
    for statement in function.body.iter().flatten() {
        match statement {
            Statement::Label(label) => labels.push(label.0),
            Statement::Instruction(instruction) => {
                tables.extend(instruction.operands.iter().filter_map(|operand| {
                    if let Operand::BranchTargets(table) = operand { Some(*table) } else { None }
                }));
            }
            Statement::Location { .. } | Statement::Pragma(_) => {}
        }
    }
    let new_labels = renumber(&mut function.labels, &labels);
    let new_tables = renumber(&mut function.branch_targets, &tables);
    for label in function.branch_targets.iter_mut().flatten() {
        label.0 = new_labels[label.0 as usize];
    }
    for statement in function.body.iter_mut().flatten() {
        match statement {
            Statement::Label(label) => label.0 = new_labels[label.0 as usize],
            Statement::Instruction(instruction) => {
                for operand in &mut instruction.operands {
                    if let Operand::Label(label) = operand {
                        label.0 = new_labels[label.0 as usize];
                    } else if let Operand::BranchTargets(table) = operand {
                        *table = new_tables[*table as usize];
                    }
                }
            }
            Statement::Location { .. } | Statement::Pragma(_) => {}
        }
    }
}

/// Reorders `items` by `order`, which may repeat; the others follow. Returns the new index of each.
fn renumber<T>(items: &mut Vec<T>, order: &[u32]) -> Vec<u32> {
    let rest = 0..u32::try_from(items.len()).unwrap_or(u32::MAX);
    let mut new = vec![u32::MAX; items.len()];
    let mut old: Vec<_> = std::mem::take(items).into_iter().map(Some).collect();
    for index in order.iter().copied().chain(rest) {
        if let Some(item) = old[index as usize].take() {
            new[index as usize] = u32::try_from(items.len()).unwrap_or(u32::MAX);
            items.push(item);
        }
    }
    new
}

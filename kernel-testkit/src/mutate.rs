//! Mutants: PTX of which one synchronising instruction is left out or weakened, to see whether the emulator says so.
//!
//! [`mutants`] makes those of a text, by the classes of [`table`]. [`subject`] runs them: kernels of file tests on the inputs of the
//! test, kernels of other compilers on those of their launch descriptions. [`survivors`] reads the list that says of each mutant that
//! nothing stops why that is, and [`score`] counts.

use std::ops::Range;

use kernel_ptx::{
    Function, Instruction, Modifier, Module, Opcode, Operand, Reg, Register, Space, Statement,
    Target, Type, Word, form,
};

mod mutation;
pub mod score;
mod statement;
pub mod subject;
pub mod survivors;
pub mod table;
pub mod work;

pub use mutation::Mutation;
pub use table::Class;

/// How many times the instructions of a PTX text its mutants may take, and how many more: one that waits for ever is to end soon.
const TIMES: u64 = 4;
/// See [`TIMES`].
const MORE: u64 = 10_000;

/// How many warp instructions a mutant may take of a text that takes so many.
pub(crate) const fn most_instructions(taken: u64) -> u64 {
    TIMES * taken + MORE
}

/// A change of one instruction of a PTX text.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What the instruction is.
    pub class: &'static Class,
    /// What is done to it.
    pub mutation: Mutation,
    /// Which instruction of its class it is in the text, from 0.
    pub ordinal: usize,
    /// The line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The instruction as it stands in the text.
    pub instruction: String,
    /// The file and the line of the kernel's source, where the PTX says them.
    pub source: Option<(String, u32)>,
    /// `@%p0` with the space after it; empty without one.
    guard: String,
    /// What is replaced, in the order of the text.
    edits: Vec<(Range<usize>, String)>,
}

impl Mutant {
    /// The text with the change. Every line stays where it is.
    pub fn apply(&self, text: &str) -> String {
        replaced(text, &self.edits)
    }

    /// The text with a trap in place of the instruction: it goes wrong wherever the instruction is executed.
    pub fn trapped(&self, text: &str) -> String {
        let span = self.edits[0].0.clone();
        replaced(text, &[(span, format!("{}trap;", self.guard))])
    }
}

fn replaced(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for (span, new) in edits {
        out.push_str(&text[at..span.start]);
        out.push_str(new);
        out.extend(text[span.clone()].chars().filter(|c| *c == '\n'));
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A synchronising instruction, and where it stands.
struct Site<'t> {
    class: &'static Class,
    instruction: &'t Instruction,
    function: &'t Function,
    statement: statement::Statement<'t>,
    source: Option<(String, u32)>,
    ordinal: usize,
}

/// The mutants of a text, in the order of the text.
///
/// # Errors
/// A text that is not PTX, or an instruction that is not found in it.
pub fn mutants(text: &str) -> Result<Vec<Mutant>, String> {
    let module = kernel_ptx::parse(text).map_err(|error| error.to_string())?;
    let sites = sites(text, &module)?;
    let mut out = Vec::new();
    for (number, site) in sites.iter().enumerate() {
        for mutation in site.class.mutations {
            let Some(edits) = edits(&module, &sites, number, *mutation) else { continue };
            out.push(Mutant {
                class: site.class,
                mutation: *mutation,
                ordinal: site.ordinal,
                ptx_line: site.instruction.line,
                instruction: text[site.statement.span.clone()].to_owned(),
                source: site.source.clone(),
                guard: site.statement.guard.to_owned(),
                edits,
            });
        }
    }
    Ok(out)
}

fn sites<'t>(text: &'t str, module: &'t Module) -> Result<Vec<Site<'t>>, String> {
    let starts = statement::line_starts(text);
    let mut sites: Vec<Site<'t>> = Vec::new();
    for function in &module.functions {
        let mut source = None;
        // The line of the last instruction, and how many have begun in it.
        let (mut last, mut nth) = (0, 0);
        for statement in function.body.iter().flatten() {
            let instruction = match statement {
                Statement::Location { file, line, .. } => {
                    let file = module.files.iter().find(|(index, _)| index == file);
                    source = file.map(|(_, path)| (path.clone(), *line));
                    continue;
                }
                Statement::Label(_) | Statement::Pragma(_) => continue,
                Statement::Instruction(instruction) => instruction,
            };
            nth = if instruction.line == last { nth + 1 } else { 0 };
            last = instruction.line;
            let Some(class) = Class::of(instruction) else { continue };
            let start = starts[instruction.line as usize - 1];
            let statement = statement::Statement::find(text, start, nth, instruction);
            let statement = statement.ok_or_else(|| {
                format!("line {last}: there is no `{}` in the text", instruction.name())
            })?;
            let ordinal = sites.iter().filter(|site| site.class.name == class.name).count();
            let source = source.clone();
            sites.push(Site { class, instruction, function, statement, source, ordinal });
        }
    }
    Ok(sites)
}

/// What a mutation replaces; none where the instruction leaves nothing to change, or where the target has no such instruction.
fn edits(
    module: &Module,
    sites: &[Site<'_>],
    number: usize,
    mutation: Mutation,
) -> Option<Vec<(Range<usize>, String)>> {
    let site = &sites[number];
    let span = site.statement.span.clone();
    match mutation {
        Mutation::Delete => Some(vec![(span, left_out(site))]),
        Mutation::DeleteBoth => {
            let wait = sites[number..].iter().find(|site| site.class.name == CLUSTER_WAIT)?;
            Some(vec![(span, String::new()), (wait.statement.span.clone(), String::new())])
        }
        Mutation::Relax
        | Mutation::Weaken
        | Mutation::Scope
        | Mutation::OneMore
        | Mutation::Parity
        | Mutation::MoreBytes
        | Mutation::FewerBytes
        | Mutation::MoreCount
        | Mutation::FewerCount
        | Mutation::Id
        | Mutation::MoreThreads
        | Mutation::FewerThreads
        | Mutation::Noinc => {
            let changed = Changed::of(site, sites, mutation)?;
            let text = changed.text(site);
            // The table says whether there is such an instruction, and for which targets.
            let row = form(&changed.instruction, &changed.registers).ok()?;
            let target = module.parsed_target().unwrap_or(Target::SM_80);
            row.need.met_by(target).then(|| vec![(span, text)])
        }
    }
}

/// The class of the second half of a barrier of a cluster.
const CLUSTER_WAIT: &str = "barrier.cluster.wait";

/// What stands in place of an instruction that is left out: nothing, or what makes the test of an mbarrier say yes.
fn left_out(site: &Site<'_>) -> String {
    let has = |word| site.instruction.modifiers.contains(&Modifier::Word(word));
    if site.instruction.opcode == Opcode::Mbarrier && (has(Word::TryWait) || has(Word::TestWait)) {
        format!("{}mov.pred {}, 1;", site.statement.guard, site.statement.operands[0])
    } else {
        String::new()
    }
}

/// An instruction that is changed.
struct Changed {
    instruction: Instruction,
    /// Those of the function, and the one below.
    registers: Vec<Register>,
    /// The operands whose text changes.
    operands: Vec<(usize, String)>,
    /// What computes a register that the instruction reads.
    before: Option<String>,
}

/// The register of [`Changed::before`].
const REGISTER: &str = "%mutant";

impl Changed {
    fn of(site: &Site<'_>, sites: &[Site<'_>], mutation: Mutation) -> Option<Changed> {
        let mut changed = Changed {
            instruction: site.instruction.clone(),
            registers: site.function.registers.clone(),
            operands: Vec::new(),
            before: None,
        };
        match mutation {
            Mutation::Relax => changed.relax(),
            Mutation::Weaken => changed.weaken(),
            Mutation::Scope => changed.scope(),
            Mutation::OneMore => changed.add(site, 0, 1),
            Mutation::Parity => {
                let parity = changed.has(Word::Parity);
                parity.then(|| changed.compute(site, 2, "xor.b32", |value| value ^ 1))?
            }
            Mutation::MoreBytes => changed.add(site, amount(site), 16),
            Mutation::FewerBytes => changed.add(site, amount(site), -16),
            Mutation::MoreCount => changed.add(site, amount(site), 1),
            Mutation::FewerCount => changed.add(site, amount(site), -1),
            Mutation::Id => changed.id(site, sites),
            Mutation::MoreThreads => changed.add(site, amount(site), 32),
            Mutation::FewerThreads => changed.add(site, amount(site), -32),
            Mutation::Noinc => changed.noinc(),
            Mutation::Delete | Mutation::DeleteBoth => {
                unreachable!("`edits` leaves whole instructions out")
            }
        }?;
        Some(changed)
    }

    fn has(&self, word: Word) -> bool {
        self.instruction.modifiers.contains(&Modifier::Word(word))
    }

    /// Replaces one word by others; none where it is not there.
    fn replace(&mut self, word: Word, by: &[Word]) -> Option<()> {
        let modifiers = &mut self.instruction.modifiers;
        let at = modifiers.iter().position(|modifier| *modifier == Modifier::Word(word))?;
        modifiers.splice(at..=at, by.iter().copied().map(Modifier::Word));
        Some(())
    }

    /// Puts words after the last of others; none where there is none of them.
    fn insert(&mut self, after: &[Word], words: &[Word]) -> Option<()> {
        let is = |modifier: &Modifier| after.iter().any(|word| *modifier == Modifier::Word(*word));
        let modifiers = &mut self.instruction.modifiers;
        let at = modifiers.iter().rposition(is)? + 1;
        modifiers.splice(at..at, words.iter().copied().map(Modifier::Word));
        Some(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "two opcodes hand on what comes before without a word"
    )]
    fn relax(&mut self) -> Option<()> {
        for word in [Word::AcqRel, Word::Acquire, Word::Release] {
            if self.has(word) {
                return self.replace(word, &[Word::Relaxed]);
            }
        }
        if self.has(Word::Relaxed) {
            return None;
        }
        match self.instruction.opcode {
            // Release or acquire is what an instruction without a word does.
            Opcode::Barrier => self.insert(&[Word::Arrive], &[Word::Relaxed]),
            Opcode::Mbarrier => {
                const AFTER: [Word; 6] = [
                    Word::Arrive,
                    Word::ArriveDrop,
                    Word::ExpectTx,
                    Word::TryWait,
                    Word::TestWait,
                    Word::Parity,
                ];
                self.insert(&AFTER, &[Word::Relaxed, Word::Cta])
            }
            // Relaxed is what an atomic operation without a word is.
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the table of classes weakens few opcodes")]
    fn weaken(&mut self) -> Option<()> {
        match self.instruction.opcode {
            Opcode::Fence => self.replace(Word::Sc, &[Word::AcqRel]),
            Opcode::Cp if !self.has(Word::Read) => self.insert(&[Word::WaitGroup], &[Word::Read]),
            Opcode::Ld | Opcode::St => {
                for word in SCOPES {
                    let _ = self.replace(word, &[]);
                }
                self.replace(Word::Relaxed, &[]).or_else(|| self.replace(Word::Volatile, &[]))
            }
            _ => None,
        }
    }

    fn scope(&mut self) -> Option<()> {
        for word in SCOPES {
            if word != Word::Cta && self.has(word) {
                return self.replace(word, &[Word::Cta]);
            }
        }
        let is_atomic = matches!(self.instruction.opcode, Opcode::Atom | Opcode::Red);
        let in_shared = self.instruction.modifiers.iter().any(|modifier| {
            *modifier == Modifier::Space(Space::Shared)
                || *modifier == Modifier::Word(Word::SharedCta)
                || *modifier == Modifier::Word(Word::Cta)
        });
        if !is_atomic || in_shared {
            return None;
        }
        // An atomic operation without a scope has that of the GPU.
        let order = [Word::Relaxed, Word::Acquire, Word::Release, Word::AcqRel];
        self.insert(&order, &[Word::Cta]).or_else(|| {
            self.instruction.modifiers.insert(0, Modifier::Word(Word::Cta));
            Some(())
        })
    }

    fn noinc(&mut self) -> Option<()> {
        self.replace(Word::Noinc, &[]).or_else(|| self.insert(&[Word::Arrive], &[Word::Noinc]))
    }

    /// Makes the barrier another one that the kernel uses.
    fn id(&mut self, site: &Site<'_>, sites: &[Site<'_>]) -> Option<()> {
        let &Operand::Int(own) = site.instruction.operands.get(barrier(site))? else { return None };
        let others = sites.iter().filter(|other| other.class.name.starts_with("bar."));
        let others =
            others.filter_map(|other| match other.instruction.operands.get(barrier(other)) {
                Some(Operand::Int(id)) if other.class.name != "bar.warp.sync" => Some(*id),
                _ => None,
            });
        // The next one, or else the first.
        let mut ids: Vec<i128> = others.filter(|id| *id != own).collect();
        ids.sort_unstable();
        let id = ids.iter().find(|id| **id > own).or_else(|| ids.first())?;
        self.set(barrier(site), *id);
        Some(())
    }

    /// Makes an operand a number.
    fn set(&mut self, index: usize, value: i128) {
        self.instruction.operands[index] = Operand::Int(value);
        self.operands.push((index, value.to_string()));
    }

    /// Adds to an operand, which is 1 where it is not written. A number does not become 0.
    fn add(&mut self, site: &Site<'_>, index: usize, step: i128) -> Option<()> {
        if index == site.instruction.operands.len() && site.class.name == "mbarrier.arrive" {
            self.instruction.operands.push(Operand::Int(1));
        }
        if let Operand::Int(value) = self.instruction.operands.get(index)?
            && value + step < 1
        {
            return None;
        }
        self.compute(site, index, "add.s32", |value| value + step)
    }

    /// Computes an operand anew: here where it is a number, and else by an instruction before.
    fn compute(
        &mut self,
        site: &Site<'_>,
        index: usize,
        by: &str,
        new: impl Fn(i128) -> i128,
    ) -> Option<()> {
        let operand = self.instruction.operands.get(index)?;
        if let Operand::Int(value) = operand {
            let value = new(*value);
            self.set(index, value);
            return Some(());
        }
        let Operand::Reg(_) = operand else { return None };
        let register = u32::try_from(self.registers.len()).ok()?;
        self.registers.push(Register { ty: Type::B32, name: None });
        self.instruction.operands[index] = Operand::Reg(Reg(register));
        let (old, step) = (site.statement.operands[index], new(0));
        self.before = Some(format!(".reg .b32 {REGISTER}; {by} {REGISTER}, {old}, {step};"));
        self.operands.push((index, REGISTER.to_owned()));
        Some(())
    }

    /// The instruction in the names of the text.
    fn text(&self, site: &Site<'_>) -> String {
        let mut operands: Vec<&str> = site.statement.operands.clone();
        for (index, text) in &self.operands {
            if *index == operands.len() {
                operands.push(text);
            } else {
                operands[*index] = text;
            }
        }
        let (guard, name) = (site.statement.guard, self.instruction.name());
        let space = if operands.is_empty() { "" } else { " " };
        let text = format!("{guard}{name}{space}{};", operands.join(", "));
        match &self.before {
            Some(before) => format!("{{ {before} {text} }}"),
            None => text,
        }
    }
}

/// Words of a scope, the widest first.
const SCOPES: [Word; 5] = [Word::Sys, Word::Gl, Word::Gpu, Word::Cluster, Word::Cta];

/// Where a barrier of a block says which one it is.
fn barrier(site: &Site<'_>) -> usize {
    usize::from(site.class.name == "bar.red")
}

/// Where the count, the bytes or the threads of an instruction stand.
fn amount(site: &Site<'_>) -> usize {
    match site.class.name {
        "mbarrier.arrive" | "mbarrier.arrive.expect_tx" | "bar.red" => 2,
        _ => 1,
    }
}

//! What the PTX of a kernel says without an assembler: threads, clusters, memory, instructions.

use kernel_ptx::{
    Directive, Function, Instruction, Module, Opcode, Operand, Space, Statement, Target, Variable,
    Word,
};

use super::shared;

/// The figures of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Its name.
    pub entry: String,
    /// What it is compiled for.
    pub target: Target,
    /// The threads of a block, if the PTX says (`.reqntid`, or the most of `.maxntid`).
    pub threads: Option<u32>,
    /// The blocks of a cluster; 1 without.
    pub cluster: u32,
    /// `.minnctapersm`: how many blocks ptxas is to leave registers for.
    pub least_blocks: Option<u32>,
    /// Bytes of shared variables with a size.
    pub static_shared: u64,
    /// Bytes that the launch has to ask for, as far as addresses and allocations show them; see [`shared`].
    pub dynamic_shared: u64,
    /// Columns of tensor memory that are allocated; 0 without.
    pub tensor_columns: u32,
    /// Instructions in the text.
    pub instructions: usize,
}

impl Figures {
    /// Those of an entry of a module. `allocated` is what a dump of layouts says of shared memory, in bytes.
    ///
    /// # Errors
    /// When the module names no target.
    pub fn of(module: &Module, function: &Function, allocated: u64) -> Result<Figures, String> {
        let target = module.target.first().map_or("", String::as_str);
        let target = Target::parse(target)
            .ok_or_else(|| format!("required a target such as sm_80, actual `{target}`"))?;
        let directives = &function.directives;
        let product =
            |axes: &[u32; 3]| axes.iter().try_fold(1_u32, |all, &one| all.checked_mul(one));
        let find = |pick: &dyn Fn(&Directive) -> Option<u32>| directives.iter().find_map(pick);
        let required = find(&|directive| {
            let Directive::RequiredThreads(axes) = directive else { return None };
            product(axes)
        });
        let most = find(&|directive| {
            let Directive::MaxThreads(axes) = directive else { return None };
            product(axes)
        });
        let cluster = find(&|directive| {
            let Directive::RequiredCluster(axes) = directive else { return None };
            product(axes)
        });
        let least_blocks = find(&|directive| {
            let Directive::MinBlocks(blocks) = directive else { return None };
            Some(*blocks)
        });
        let threads = required.or(most);
        let shared = module.variables.iter().chain(&function.variables);
        let shared: Vec<&Variable> = shared.filter(|one| one.space == Space::Shared).collect();
        let is_dynamic = shared.iter().any(|variable| bytes(variable) == 0);
        let dynamic_shared =
            if is_dynamic { shared::extent(module, function, threads).max(allocated) } else { 0 };
        Ok(Figures {
            entry: function.name.clone(),
            target,
            threads,
            cluster: cluster.unwrap_or(1).max(1),
            least_blocks,
            static_shared: shared.iter().map(|variable| bytes(variable)).sum(),
            dynamic_shared,
            tensor_columns: tensor_columns(function),
            instructions: instructions(function).count(),
        })
    }
}

/// The bytes of a variable; 0 of one whose size the launch says.
fn bytes(variable: &Variable) -> u64 {
    let elements = variable.dims.iter().try_fold(1_u64, |all, &one| all.checked_mul(one));
    let element = variable.ty.bytes().saturating_mul(variable.vector.into());
    elements.unwrap_or(u64::MAX).saturating_mul(element)
}

/// The instructions of a body.
pub fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.body.iter().flatten().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => None,
    })
}

/// The registers that always hold one number: a `mov` of it is the only instruction that writes them.
#[derive(Clone, Debug, Default)]
pub struct Constants(Vec<Option<i128>>);

impl Constants {
    /// Those of a function.
    pub fn of(function: &Function) -> Constants {
        let mut values = vec![None; function.registers.len()];
        let mut written = vec![0_u32; function.registers.len()];
        for instruction in instructions(function) {
            shared::each_result(instruction, function, &mut |register| {
                if let Some(count) = written.get_mut(register.0 as usize) {
                    *count += 1;
                }
            });
            if let [Operand::Reg(register), Operand::Int(number)] = &instruction.operands[..]
                && instruction.opcode == Opcode::Mov
                && instruction.guard.is_none()
                && let Some(value) = values.get_mut(register.0 as usize)
            {
                *value = Some(*number);
            }
        }
        for (value, count) in values.iter_mut().zip(written) {
            *value = value.filter(|_| count == 1);
        }
        Constants(values)
    }

    /// What an operand is, if it is a number or a register that always holds one.
    pub fn number(&self, operand: &Operand) -> Option<i128> {
        if let Operand::Int(number) = operand {
            return Some(*number);
        }
        let Operand::Reg(register) = operand else { return None };
        self.0.get(register.0 as usize).copied().flatten()
    }
}

/// The columns that all `tcgen05.alloc` of a kernel ask for.
fn tensor_columns(function: &Function) -> u32 {
    let constants = Constants::of(function);
    let alloc = |one: &&Instruction| {
        one.opcode == Opcode::Tcgen05 && one.modifiers.contains(&Word::Alloc.into())
    };
    let columns = instructions(function)
        .filter(alloc)
        .filter_map(|one| constants.number(one.operands.get(1)?))
        .filter_map(|columns| u32::try_from(columns).ok());
    columns.fold(0, u32::saturating_add)
}

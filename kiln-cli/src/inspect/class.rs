//! Instructions by what they do.

use kernel_ptx::{Instruction, Modifier, Opcode, Space, Type, Word};

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A product on the tensor cores: `mma`, `wgmma`, `tcgen05.mma`.
    Product,
    /// A load of global memory.
    Load,
    /// A store, reduction or atomic operation of global memory.
    Store,
    /// An access of shared memory: `ld.shared`, `st.shared`, `ldmatrix`, `stmatrix`, atomic operations there.
    Shared,
    /// An access of tensor memory: `tcgen05.ld`, `tcgen05.st`.
    TensorMemory,
    /// An asynchronous copy: `cp.async`, TMA, `tcgen05.cp`.
    Copy,
    /// A barrier, a fence, an mbarrier operation, or a wait for copies and products.
    Barrier,
    /// An exchange between the lanes of a warp.
    Shuffle,
    /// A conversion between types.
    Convert,
    /// Arithmetic and comparisons of floating-point numbers.
    Float,
    /// Arithmetic, logic and comparisons of integers and predicates.
    Integer,
    /// A move, or a load of a parameter or constant.
    Move,
    /// A branch, a call, or an end.
    Control,
}

impl Class {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Class; 13] = [
        Class::Product,
        Class::Load,
        Class::Store,
        Class::Shared,
        Class::TensorMemory,
        Class::Copy,
        Class::Barrier,
        Class::Shuffle,
        Class::Convert,
        Class::Float,
        Class::Integer,
        Class::Move,
        Class::Control,
    ];

    /// Its name, which is also the name of the field in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Product => "tensor_core",
            Class::Load => "load",
            Class::Store => "store",
            Class::Shared => "shared",
            Class::TensorMemory => "tensor_memory",
            Class::Copy => "copy",
            Class::Barrier => "barrier",
            Class::Shuffle => "shuffle",
            Class::Convert => "convert",
            Class::Float => "float",
            Class::Integer => "integer",
            Class::Move => "move",
            Class::Control => "control",
        }
    }

    /// Its name in texts.
    pub const fn text(self) -> &'static str {
        match self {
            Class::Product => "tensor cores",
            Class::TensorMemory => "tensor memory",
            Class::Load
            | Class::Store
            | Class::Shared
            | Class::Copy
            | Class::Barrier
            | Class::Shuffle
            | Class::Convert
            | Class::Float
            | Class::Integer
            | Class::Move
            | Class::Control => self.name(),
        }
    }
}

/// How many instructions there are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mix([usize; Class::ALL.len()]);

impl Mix {
    /// Counts an instruction.
    pub fn add(&mut self, class: Class) {
        self.0[class as usize] += 1;
    }

    /// Those of a class.
    pub fn of(&self, class: Class) -> usize {
        self.0[class as usize]
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.0.iter().sum()
    }

    /// The classes that occur, with their numbers, in the order in which they are shown.
    pub fn present(&self) -> impl Iterator<Item = (Class, usize)> {
        Class::ALL.into_iter().map(|class| (class, self.of(class))).filter(|(_, count)| *count > 0)
    }
}

/// The class of an instruction.
pub fn of(instruction: &Instruction) -> Class {
    match instruction.opcode {
        Opcode::Mma | Opcode::Wmma => wmma(instruction),
        Opcode::Wgmma => wgmma(instruction),
        Opcode::Tcgen05 => tcgen05(instruction),
        Opcode::Ld | Opcode::Ldu | Opcode::Multimem => load(instruction),
        Opcode::St | Opcode::Atom | Opcode::Red => memory(instruction, Class::Store),
        Opcode::Ldmatrix | Opcode::Stmatrix => Class::Shared,
        Opcode::Cp => copy(instruction),
        Opcode::Prefetch
        | Opcode::Prefetchu
        | Opcode::Applypriority
        | Opcode::Discard
        | Opcode::Createpolicy
        | Opcode::Tensormap => Class::Copy,
        Opcode::Bar
        | Opcode::Barrier
        | Opcode::Fence
        | Opcode::Membar
        | Opcode::Mbarrier
        | Opcode::Griddepcontrol
        | Opcode::Setmaxnreg
        | Opcode::Clusterlaunchcontrol
        | Opcode::Nanosleep => Class::Barrier,
        Opcode::Shfl
        | Opcode::Vote
        | Opcode::Match
        | Opcode::Redux
        | Opcode::Elect
        | Opcode::Activemask
        | Opcode::Movmatrix => Class::Shuffle,
        Opcode::Cvt | Opcode::Szext => Class::Convert,
        Opcode::Mov | Opcode::Cvta | Opcode::Alloca | Opcode::Stacksave | Opcode::Stackrestore => {
            Class::Move
        }
        Opcode::Bra
        | Opcode::Brx
        | Opcode::Call
        | Opcode::Ret
        | Opcode::Exit
        | Opcode::Trap
        | Opcode::Brkpt
        | Opcode::Pmevent => Class::Control,
        Opcode::Ex2
        | Opcode::Lg2
        | Opcode::Sin
        | Opcode::Cos
        | Opcode::Tanh
        | Opcode::Rcp
        | Opcode::Rsqrt
        | Opcode::Sqrt
        | Opcode::Fma
        | Opcode::Testp
        | Opcode::Copysign => Class::Float,
        Opcode::Abs
        | Opcode::Add
        | Opcode::Div
        | Opcode::Mad
        | Opcode::Max
        | Opcode::Min
        | Opcode::Mul
        | Opcode::Neg
        | Opcode::Selp
        | Opcode::Set
        | Opcode::Setp
        | Opcode::Slct
        | Opcode::Sub => by_type(instruction),
        Opcode::Addc
        | Opcode::And
        | Opcode::Bfe
        | Opcode::Bfi
        | Opcode::Bfind
        | Opcode::Bmsk
        | Opcode::Brev
        | Opcode::Clz
        | Opcode::Cnot
        | Opcode::Dp2a
        | Opcode::Dp4a
        | Opcode::Fns
        | Opcode::Getctarank
        | Opcode::Isspacep
        | Opcode::Istypep
        | Opcode::Lop3
        | Opcode::Mad24
        | Opcode::Madc
        | Opcode::Mapa
        | Opcode::Mul24
        | Opcode::Not
        | Opcode::Or
        | Opcode::Popc
        | Opcode::Prmt
        | Opcode::Rem
        | Opcode::Sad
        | Opcode::Shf
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Subc
        | Opcode::Xor => Class::Integer,
    }
}

/// Whether an instruction has a modifier.
pub fn has(instruction: &Instruction, word: Word) -> bool {
    instruction.modifiers.contains(&word.into())
}

/// `wmma.load` and `wmma.store` access memory.
fn wmma(instruction: &Instruction) -> Class {
    if has(instruction, Word::Load) {
        memory(instruction, Class::Load)
    } else if has(instruction, Word::Store) {
        memory(instruction, Class::Store)
    } else {
        Class::Product
    }
}

/// All but the products order and wait.
fn wgmma(instruction: &Instruction) -> Class {
    if has(instruction, Word::MmaAsync) { Class::Product } else { Class::Barrier }
}

fn tcgen05(instruction: &Instruction) -> Class {
    let is = |word| has(instruction, word);
    if is(Word::MmaWord) {
        Class::Product
    } else if is(Word::CpWord) || is(Word::Shift) {
        Class::Copy
    } else if is(Word::LdWord) || is(Word::StWord) {
        Class::TensorMemory
    } else {
        // Allocation, commits, waits and fences.
        Class::Barrier
    }
}

fn copy(instruction: &Instruction) -> Class {
    let waits = [Word::CommitGroup, Word::WaitGroup, Word::WaitAll, Word::Mbarrier];
    if waits.into_iter().any(|word| has(instruction, word)) { Class::Barrier } else { Class::Copy }
}

fn is_in(instruction: &Instruction, space: Space) -> bool {
    instruction.modifiers.contains(&Modifier::Space(space))
}

/// What a load is by its space; constant banks cost no more than a register.
fn load(instruction: &Instruction) -> Class {
    if is_in(instruction, Space::Param) || is_in(instruction, Space::Const) {
        Class::Move
    } else if instruction.opcode == Opcode::Multimem && !has(instruction, Word::LdReduce) {
        Class::Store
    } else {
        memory(instruction, Class::Load)
    }
}

/// Shared memory, or what it is elsewhere.
fn memory(instruction: &Instruction, elsewhere: Class) -> Class {
    let shared = [Word::SharedCta, Word::SharedCluster];
    let is_shared =
        is_in(instruction, Space::Shared) || shared.into_iter().any(|word| has(instruction, word));
    if is_shared { Class::Shared } else { elsewhere }
}

/// Arithmetic by the last type, which is the one of the sources.
fn by_type(instruction: &Instruction) -> Class {
    let mut types = instruction.modifiers.iter().filter_map(|modifier| match modifier {
        Modifier::Type(ty) => Some(*ty),
        Modifier::Space(_) | Modifier::Word(_) => None,
    });
    let floats = [
        Type::F16,
        Type::F16x2,
        Type::F32,
        Type::F32x2,
        Type::F64,
        Type::Bf16,
        Type::Bf16x2,
        Type::Tf32,
    ];
    match types.next_back() {
        Some(ty) if floats.contains(&ty) => Class::Float,
        Some(_) | None => Class::Integer,
    }
}

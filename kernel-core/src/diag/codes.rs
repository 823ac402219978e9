//! The registry of codes. Numbers are never reused.

macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal;)*) => {
        /// The code of a diagnostic: `K` and four digits. The first two are the area.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!($number, ": ", $title)] $name,)*
        }

        impl Code {
            /// Every code, by number.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// `K0101` and so on.
            pub const fn number(self) -> &'static str {
                match self { $(Code::$name => $number,)* }
            }

            /// What it is about, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }

            /// The page that explains it: what, why, an example, the fix.
            pub const fn page(self) -> &'static str {
                match self { $(Code::$name => include_str!(concat!("../../docs/errors/", $number, ".md")),)* }
            }
        }
    };
}

/// What the codes of a kind are about: their first two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// K01: the subset of Rust, names.
    Subset,
    /// K02: shapes and element types.
    Shapes,
    /// K03: layouts.
    Layouts,
    /// K04: memory.
    Memory,
    /// K05: what the target has.
    Budget,
    /// K06: the host's side.
    Host,
    /// K09: what is right and slow. These are warnings.
    Performance,
    /// K99: the compiler itself.
    Compiler,
}

impl Code {
    /// What codes like this one are about.
    pub const fn area(self) -> Area {
        let number = self.number().as_bytes();
        match [number[1], number[2]] {
            [b'0', b'1'] => Area::Subset,
            [b'0', b'2'] => Area::Shapes,
            [b'0', b'3'] => Area::Layouts,
            [b'0', b'4'] => Area::Memory,
            [b'0', b'5'] => Area::Budget,
            [b'0', b'6'] => Area::Host,
            [b'0', b'9'] => Area::Performance,
            [b'9', b'9'] => Area::Compiler,
            _ => panic!("a code of an area that has no name"),
        }
    }
}

/// Every code has an area: the compiler of the compiler looks at it.
const _: () = {
    let mut at = 0;
    while at < Code::ALL.len() {
        Code::ALL[at].area();
        at += 1;
    }
};

codes! {
    Unsupported = "K0101", "Rust that is not part of the kernel language";
    UnknownName = "K0102", "a name that nothing defines";
    Recursion = "K0103", "a function that calls itself";
    Signature = "K0104", "a kernel signature that cannot be launched";
    Attribute = "K0105", "an unknown or malformed attribute";
    NotConstant = "K0106", "a value that must be known at compile time";
    ArgumentCount = "K0107", "a wrong number of arguments";
    NotAFunction = "K0108", "something that cannot be called or has no such method or field";
    Unbounded = "K0109", "compile-time work beyond the limits";
    Immutable = "K0110", "an assignment to a variable that cannot change";
    PtxText = "K0111", "a text of `ptx!` that is not PTX or does not fit its operands";
    Extent = "K0201", "a tile extent that is not a power of two";
    ShapeMismatch = "K0202", "shapes that do not fit together";
    DtypeMismatch = "K0203", "element types that do not fit together";
    DtypeRefused = "K0204", "an element type that the operation does not take";
    Axis = "K0205", "an axis or a rank out of range";
    Kind = "K0206", "a tile where a scalar is required, or the other way round";
    Overflow = "K0207", "a constant out of range";
    AssertionFailed = "K0208", "a compile-time assertion that fails";
    BranchTypes = "K0209", "branches or loop iterations that give different types";
    DotShape = "K0210", "operands of a product that do not fit together";
    LayoutForm = "K0301", "a layout that does not fit the tile or the block";
    DotOperand = "K0302", "a layout that a product cannot use";
    AssertedLayout = "K0303", "a tile that does not have the asserted layout";
    RowNumbers = "K0306", "a layout from which no gather or scatter can take row numbers";
    TensorCopy = "K0307", "layouts between which `tcgen05.cp` cannot copy";
    ReadOnly = "K0401", "a write to a read-only tensor";
    SharedUse = "K0402", "shared memory used in a way it does not allow";
    SharedInLoop = "K0403", "an allocation inside a loop or branch";
    CopyOperands = "K0404", "a copy that no instruction does, or an option that it does not have";
    Pipeline = "K0405", "a loop whose copies cannot be pipelined";
    PerThread = "K0406", "a value that differs from thread to thread where the block needs one value";
    Specialize = "K0407", "a call of `warp_specialize` where it cannot stand";
    PartitionCapture = "K0408", "a tile or variable from outside that a partition cannot use";
    TensorMap = "K0409", "a tensor map that the hardware does not have";
    InFlight = "K0410", "memory or an accumulator used while a product in flight needs it";
    BarrierBytes = "K0411", "a barrier that expects another number of bytes than the copies deliver";
    BulkCopy = "K0412", "a bulk copy that the hardware does not have";
    TensorMemory = "K0414", "tensor memory used in a way it does not allow";
    ByRows = "K0416", "a gather or a scatter that the hardware does not have";
    CopyInFlight = "K0417", "shared memory used while a copy in flight needs it";
    Unordered = "K0418", "two accesses of shared or tensor memory that nothing orders";
    WrongPhase = "K0419", "a wait for another phase of a barrier than the one that matters";
    Deadlock = "K0420", "a wait that never ends";
    Arrivals = "K0421", "a phase of a barrier with more or fewer arrivals or bytes than it counts";
    ClusterOrder = "K0422", "memory of a block that another block of the cluster may still use";
    OpenAtEnd = "K0423", "a kernel that ends while something is in flight";
    EarlyGrid = "K0424", "global memory used before the grids before this one have ended";
    SharedBudget = "K0501", "more shared memory than a block can have";
    Target = "K0502", "an unknown target, or one without the required feature";
    Warps = "K0503", "a number of warps that a block cannot have";
    TileBudget = "K0504", "a tile with more elements than registers can hold";
    Partition = "K0505", "partitions that a block cannot have";
    RegisterBudget = "K0506", "more registers than a multiprocessor has";
    Cluster = "K0507", "an impossible cluster, or a block outside the cluster";
    NamedBarrier = "K0508", "a named barrier that a block does not have";
    TensorMemoryBudget = "K0510", "more tensor memory than a multiprocessor has";
    Pairs = "K0511", "products of pairs and products of single blocks in one kernel";
    Instances = "K0601", "an instance list that does not fit the generic parameters";
    Parameter = "K0602", "a parameter type that cannot be passed to a kernel";
    FactAttribute = "K0603", "a fact about a parameter that cannot hold";
    IdleWarps = "K0901", "a gather or a scatter that leaves warps idle";
    Bug = "K9999", "a bug of the compiler";
}

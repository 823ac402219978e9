//! Opcodes, modifiers, special registers.

use crate::{Space, Type};

/// Declares an enum of words with their PTX spelling.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }
        impl $name {
            /// Every variant, in the order of the table.
            pub const ALL: &[$name] = &[$($name::$variant,)*];
            /// The spelling in PTX text.
            pub const fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// The word of an instruction before its first dot.
    Opcode {
        Abs = "abs", Activemask = "activemask", Add = "add", Addc = "addc", And = "and", Atom = "atom",
        Bar = "bar", Barrier = "barrier", Bfe = "bfe", Bfi = "bfi", Bfind = "bfind", Bmsk = "bmsk", Bra = "bra",
        Brev = "brev", Brkpt = "brkpt", Brx = "brx", Call = "call", Clz = "clz", Cnot = "cnot", Copysign = "copysign", Cos = "cos",
        Cp = "cp", Createpolicy = "createpolicy", Cvt = "cvt", Cvta = "cvta", Discard = "discard",
        Div = "div", Dp2a = "dp2a", Dp4a = "dp4a", Elect = "elect", Ex2 = "ex2", Exit = "exit", Fence = "fence",
        Fma = "fma", Fns = "fns", Griddepcontrol = "griddepcontrol", Isspacep = "isspacep", Istypep = "istypep",
        Ld = "ld", Ldmatrix = "ldmatrix", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad", Mad24 = "mad24", Madc = "madc",
        Mapa = "mapa", Match = "match", Max = "max", Mbarrier = "mbarrier", Membar = "membar", Min = "min", Mma = "mma",
        Mov = "mov", Movmatrix = "movmatrix", Mul = "mul", Mul24 = "mul24", Nanosleep = "nanosleep", Neg = "neg", Not = "not",
        Or = "or", Pmevent = "pmevent", Popc = "popc", Prefetch = "prefetch", Prefetchu = "prefetchu", Prmt = "prmt", Rcp = "rcp", Red = "red",
        Redux = "redux", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad", Selp = "selp", Set = "set", Setmaxnreg = "setmaxnreg",
        Setp = "setp", Shf = "shf", Shfl = "shfl", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct", Sqrt = "sqrt",
        St = "st", Stmatrix = "stmatrix", Sub = "sub", Subc = "subc", Szext = "szext", Tanh = "tanh", Tcgen05 = "tcgen05",
        Tensormap = "tensormap", Testp = "testp", Trap = "trap", Vote = "vote", Wgmma = "wgmma", Xor = "xor",
    }
}

words! {
    /// A special register (PTX ISA, "Special Registers").
    SpecialRegister {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z", NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z", NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        Laneid = "%laneid", Warpid = "%warpid", Nwarpid = "%nwarpid", Smid = "%smid", Nsmid = "%nsmid", Gridid = "%gridid",
        LanemaskEq = "%lanemask_eq", LanemaskLe = "%lanemask_le", LanemaskLt = "%lanemask_lt", LanemaskGe = "%lanemask_ge", LanemaskGt = "%lanemask_gt",
        Clock = "%clock", ClockHi = "%clock_hi", Clock64 = "%clock64", Globaltimer = "%globaltimer",
        GlobaltimerLo = "%globaltimer_lo", GlobaltimerHi = "%globaltimer_hi",
        DynamicSmemSize = "%dynamic_smem_size", TotalSmemSize = "%total_smem_size", AggrSmemSize = "%aggr_smem_size",
        ClusterCtarank = "%cluster_ctarank", ClusterNctarank = "%cluster_nctarank",
        ClusterCtaidX = "%cluster_ctaid.x", ClusterCtaidY = "%cluster_ctaid.y", ClusterCtaidZ = "%cluster_ctaid.z",
        ClusterNctaidX = "%cluster_nctaid.x", ClusterNctaidY = "%cluster_nctaid.y", ClusterNctaidZ = "%cluster_nctaid.z",
        ClusteridX = "%clusterid.x", ClusteridY = "%clusterid.y", ClusteridZ = "%clusterid.z",
        NclusteridX = "%nclusterid.x", NclusteridY = "%nclusterid.y", NclusteridZ = "%nclusterid.z",
        IsExplicitCluster = "%is_explicit_cluster", CurrentGraphExec = "%current_graph_exec",
        ReservedSmemOffsetBegin = "%reserved_smem_offset_begin", ReservedSmemOffsetEnd = "%reserved_smem_offset_end",
    }
}

/// One dotted word after the opcode: a type, a state space, or another modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Modifier {
    /// `.f32`
    Type(Type),
    /// `.global`
    Space(Space),
    /// Any other.
    Word(Word),
}

impl From<Type> for Modifier {
    fn from(ty: Type) -> Self {
        Modifier::Type(ty)
    }
}

impl From<Space> for Modifier {
    fn from(space: Space) -> Self {
        Modifier::Space(space)
    }
}

impl From<Word> for Modifier {
    fn from(word: Word) -> Self {
        Modifier::Word(word)
    }
}

words! {
    /// A modifier that is neither a type nor a state space.
    Word {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rs = "rs", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        Ftz = "ftz", Sat = "sat", Satfinite = "satfinite", Relu = "relu", Approx = "approx", Full = "full", Nan = "NaN", Xorsign = "xorsign", AbsWord = "abs",
        Lo = "lo", Hi = "hi", Wide = "wide", Cc = "cc", Noftz = "noftz", Oob = "oob",
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", IsNan = "nan",
        And = "and", Or = "or", Xor = "xor", Add = "add", Min = "min", Max = "max", Inc = "inc", Dec = "dec", Exch = "exch", Cas = "cas", Popc = "popc",
        V2 = "v2", V4 = "v4", V8 = "v8", To = "to", Uni = "uni", Sync = "sync", Aligned = "aligned", Arrive = "arrive", Red = "red",
        All = "all", Any = "any", Ballot = "ballot", Up = "up", Down = "down", Bfly = "bfly", Idx = "idx", Shiftamt = "shiftamt", Wrap = "wrap", Clamp = "clamp",
        L = "l", R = "r", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
        Weak = "weak", Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel", Sc = "sc", Volatile = "volatile", Mmio = "mmio",
        Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys", Gl = "gl",
        Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt", Nc = "nc",
        L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged", L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal", L2CacheHint = "L2::cache_hint",
        L2B64 = "L2::64B", L2B128 = "L2::128B", L2B256 = "L2::256B", L1Word = "L1", L2Word = "L2",
        SharedCta = "shared::cta", SharedCluster = "shared::cluster", ParamEntry = "param::entry", ParamFunc = "param::func",
        Async = "async", CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all", Mbarrier = "mbarrier", Noinc = "noinc",
        M8n8 = "m8n8", M16n16 = "m16n16", M8n16 = "m8n16", M16n8 = "m16n8", X1 = "x1", X2 = "x2", X4 = "x4", X8 = "x8", X16 = "x16", X32 = "x32", X64 = "x64", X128 = "x128", Trans = "trans",
        M8n8k4 = "m8n8k4", M8n8k16 = "m8n8k16", M8n8k32 = "m8n8k32", M16n8k4 = "m16n8k4", M16n8k8 = "m16n8k8", M16n8k16 = "m16n8k16", M16n8k32 = "m16n8k32", M16n8k64 = "m16n8k64", Row = "row", Col = "col",
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber", Normal = "normal", Subnormal = "subnormal",
    }
}

//! Opcodes, modifiers, special registers.

mod arith;
mod async_copy;
mod barrier;
mod control;
mod convert;
mod example;
mod form;
mod forms;
mod matrix;
mod memory;
mod row;
mod table;

pub use example::{Example, example_head, examples};
pub use form::{FormError, FormProblem, form, results};
pub(crate) use forms::Forms;
pub use row::Row;
pub use table::table;

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
        Abs = "abs", Activemask = "activemask", Add = "add", Addc = "addc", Alloca = "alloca", And = "and", Applypriority = "applypriority", Atom = "atom",
        Bar = "bar", Barrier = "barrier", Bfe = "bfe", Bfi = "bfi", Bfind = "bfind", Bmsk = "bmsk", Bra = "bra",
        Brev = "brev", Brkpt = "brkpt", Brx = "brx", Call = "call", Clusterlaunchcontrol = "clusterlaunchcontrol", Clz = "clz", Cnot = "cnot", Copysign = "copysign", Cos = "cos",
        Cp = "cp", Createpolicy = "createpolicy", Cvt = "cvt", Cvta = "cvta", Discard = "discard",
        Div = "div", Dp2a = "dp2a", Dp4a = "dp4a", Elect = "elect", Ex2 = "ex2", Exit = "exit", Fence = "fence",
        Fma = "fma", Fns = "fns", Getctarank = "getctarank", Griddepcontrol = "griddepcontrol", Isspacep = "isspacep", Istypep = "istypep",
        Ld = "ld", Ldmatrix = "ldmatrix", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad", Mad24 = "mad24", Madc = "madc",
        Mapa = "mapa", Match = "match", Max = "max", Mbarrier = "mbarrier", Membar = "membar", Min = "min", Mma = "mma",
        Mov = "mov", Movmatrix = "movmatrix", Mul = "mul", Mul24 = "mul24", Multimem = "multimem", Nanosleep = "nanosleep", Neg = "neg", Not = "not",
        Or = "or", Pmevent = "pmevent", Popc = "popc", Prefetch = "prefetch", Prefetchu = "prefetchu", Prmt = "prmt", Rcp = "rcp", Red = "red",
        Redux = "redux", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad", Selp = "selp", Set = "set", Setmaxnreg = "setmaxnreg",
        Setp = "setp", Shf = "shf", Shfl = "shfl", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct", Sqrt = "sqrt",
        St = "st", Stackrestore = "stackrestore", Stacksave = "stacksave", Stmatrix = "stmatrix", Sub = "sub", Subc = "subc", Szext = "szext", Tanh = "tanh", Tcgen05 = "tcgen05",
        Tensormap = "tensormap", Testp = "testp", Trap = "trap", Vote = "vote", Wgmma = "wgmma", Wmma = "wmma", Xor = "xor",
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
        Unified = "unified", Warp = "warp", Init = "init", Inval = "inval", ArriveDrop = "arrive_drop", ExpectTx = "expect_tx", CompleteTx = "complete_tx",
        TestWait = "test_wait", TryWait = "try_wait", Parity = "parity", PendingCount = "pending_count", NoComplete = "noComplete", Wait = "wait",
        Proxy = "proxy", Alias = "alias", AsyncGeneric = "async::generic", TensormapGeneric = "tensormap::generic", MbarrierInit = "mbarrier_init",
        SyncRestrictSharedCta = "sync_restrict::shared::cta", SyncRestrictSharedCluster = "sync_restrict::shared::cluster",
        LaunchDependents = "launch_dependents",
        Bulk = "bulk", TensorWord = "tensor", Reduce = "reduce", PrefetchWord = "prefetch", D1 = "1d", D2 = "2d", D3 = "3d", D4 = "4d", D5 = "5d",
        Tile = "tile", TileGather4 = "tile::gather4", TileScatter4 = "tile::scatter4", Im2col = "im2col", Im2colNoOffs = "im2col_no_offs", Im2colW = "im2col::w", Im2colW128 = "im2col::w::128",
        MbarrierCompleteTxBytes = "mbarrier::complete_tx::bytes", BulkGroup = "bulk_group", Read = "read", CpMask = "cp_mask", IgnoreOob = "ignore_oob",
        MulticastCluster = "multicast::cluster", MulticastClusterAll = "multicast::cluster::all",
        TensormapWord = "tensormap", Replace = "replace", GlobalAddress = "global_address", Rank = "rank", BoxDim = "box_dim", GlobalDim = "global_dim", GlobalStride = "global_stride",
        ElementStride = "element_stride", Elemtype = "elemtype", InterleaveLayout = "interleave_layout", SwizzleMode = "swizzle_mode", SwizzleAtomicity = "swizzle_atomicity", FillMode = "fill_mode",
        B1024 = "b1024", CpFenceproxy = "cp_fenceproxy",
        MmaAsync = "mma_async", FenceWord = "fence", Sp = "sp", SpOrderedMetadata = "sp::ordered_metadata",
        Alloc = "alloc", Dealloc = "dealloc", RelinquishAllocPermit = "relinquish_alloc_permit", MmaWord = "mma", LdWord = "ld", StWord = "st", CpWord = "cp", Shift = "shift", Commit = "commit", Ws = "ws",
        WaitLd = "wait::ld", WaitSt = "wait::st", FenceBeforeThreadSync = "fence::before_thread_sync", FenceAfterThreadSync = "fence::after_thread_sync",
        CtaGroup1 = "cta_group::1", CtaGroup2 = "cta_group::2", MbarrierArriveOne = "mbarrier::arrive::one",
        KindF16 = "kind::f16", KindTf32 = "kind::tf32", KindF8f6f4 = "kind::f8f6f4", KindI8 = "kind::i8", KindMxf8f6f4 = "kind::mxf8f6f4", KindMxf4 = "kind::mxf4", KindMxf4nvf4 = "kind::mxf4nvf4",
        BlockScale = "block_scale", ScaleVec1x = "scale_vec::1X", ScaleVec2x = "scale_vec::2X", ScaleVec4x = "scale_vec::4X", Block16 = "block16", Block32 = "block32", Ashift = "ashift",
        CollectorAFill = "collector::a::fill", CollectorAUse = "collector::a::use", CollectorALastuse = "collector::a::lastuse", CollectorADiscard = "collector::a::discard",
        CollectorB0Fill = "collector::b0::fill", CollectorB0Use = "collector::b0::use", CollectorB0Lastuse = "collector::b0::lastuse", CollectorB0Discard = "collector::b0::discard",
        CollectorB1Fill = "collector::b1::fill", CollectorB1Use = "collector::b1::use", CollectorB1Lastuse = "collector::b1::lastuse", CollectorB1Discard = "collector::b1::discard",
        CollectorB2Fill = "collector::b2::fill", CollectorB2Use = "collector::b2::use", CollectorB2Lastuse = "collector::b2::lastuse", CollectorB2Discard = "collector::b2::discard",
        CollectorB3Fill = "collector::b3::fill", CollectorB3Use = "collector::b3::use", CollectorB3Lastuse = "collector::b3::lastuse", CollectorB3Discard = "collector::b3::discard",
        S32x32b = "32x32b", S16x64b = "16x64b", S16x128b = "16x128b", S16x256b = "16x256b", S16x32bx2 = "16x32bx2", Pack16b = "pack::16b", Unpack16b = "unpack::16b",
        S128x256b = "128x256b", S4x256b = "4x256b", S128x128b = "128x128b", S64x128b = "64x128b", S32x128b = "32x128b",
        Warpx2R0213 = "warpx2::02_13", Warpx2R0123 = "warpx2::01_23", Warpx4 = "warpx4", B8x16 = "b8x16", B6x16P32 = "b6x16_p32", B4x16P64 = "b4x16_p64",
        TryCancel = "try_cancel", QueryCancel = "query_cancel", IsCanceled = "is_canceled", GetFirstCtaid = "get_first_ctaid",
        GetFirstCtaidX = "get_first_ctaid::x", GetFirstCtaidY = "get_first_ctaid::y", GetFirstCtaidZ = "get_first_ctaid::z",
        Fractional = "fractional", RangeWord = "range", L2EvictUnchanged = "L2::evict_unchanged", CvtWord = "cvt", PackWord = "pack", ScaledN2Ue8m0 = "scaled::n2::ue8m0",
        LdReduce = "ld_reduce", AccF32 = "acc::f32", AccF16 = "acc::f16", MovWord = "mov",
        Load = "load", Store = "store", A = "a", B = "b", C = "c", D = "d",
        M16n16k16 = "m16n16k16", M8n32k16 = "m8n32k16", M32n8k16 = "m32n8k16", M16n16k8 = "m16n16k8", M8n8k128 = "m8n8k128", M16n8k128 = "m16n8k128", M16n8k256 = "m16n8k256",
        M64n8k8 = "m64n8k8", M64n16k8 = "m64n16k8", M64n24k8 = "m64n24k8", M64n32k8 = "m64n32k8", M64n40k8 = "m64n40k8", M64n48k8 = "m64n48k8", M64n56k8 = "m64n56k8", M64n64k8 = "m64n64k8",
        M64n72k8 = "m64n72k8", M64n80k8 = "m64n80k8", M64n88k8 = "m64n88k8", M64n96k8 = "m64n96k8", M64n104k8 = "m64n104k8", M64n112k8 = "m64n112k8", M64n120k8 = "m64n120k8", M64n128k8 = "m64n128k8",
        M64n136k8 = "m64n136k8", M64n144k8 = "m64n144k8", M64n152k8 = "m64n152k8", M64n160k8 = "m64n160k8", M64n168k8 = "m64n168k8", M64n176k8 = "m64n176k8", M64n184k8 = "m64n184k8", M64n192k8 = "m64n192k8",
        M64n200k8 = "m64n200k8", M64n208k8 = "m64n208k8", M64n216k8 = "m64n216k8", M64n224k8 = "m64n224k8", M64n232k8 = "m64n232k8", M64n240k8 = "m64n240k8", M64n248k8 = "m64n248k8", M64n256k8 = "m64n256k8",
        M64n8k16 = "m64n8k16", M64n16k16 = "m64n16k16", M64n24k16 = "m64n24k16", M64n32k16 = "m64n32k16", M64n40k16 = "m64n40k16", M64n48k16 = "m64n48k16", M64n56k16 = "m64n56k16", M64n64k16 = "m64n64k16",
        M64n72k16 = "m64n72k16", M64n80k16 = "m64n80k16", M64n88k16 = "m64n88k16", M64n96k16 = "m64n96k16", M64n104k16 = "m64n104k16", M64n112k16 = "m64n112k16", M64n120k16 = "m64n120k16", M64n128k16 = "m64n128k16",
        M64n136k16 = "m64n136k16", M64n144k16 = "m64n144k16", M64n152k16 = "m64n152k16", M64n160k16 = "m64n160k16", M64n168k16 = "m64n168k16", M64n176k16 = "m64n176k16", M64n184k16 = "m64n184k16", M64n192k16 = "m64n192k16",
        M64n200k16 = "m64n200k16", M64n208k16 = "m64n208k16", M64n216k16 = "m64n216k16", M64n224k16 = "m64n224k16", M64n232k16 = "m64n232k16", M64n240k16 = "m64n240k16", M64n248k16 = "m64n248k16", M64n256k16 = "m64n256k16",
        M64n8k32 = "m64n8k32", M64n16k32 = "m64n16k32", M64n24k32 = "m64n24k32", M64n32k32 = "m64n32k32", M64n40k32 = "m64n40k32", M64n48k32 = "m64n48k32", M64n56k32 = "m64n56k32", M64n64k32 = "m64n64k32",
        M64n72k32 = "m64n72k32", M64n80k32 = "m64n80k32", M64n88k32 = "m64n88k32", M64n96k32 = "m64n96k32", M64n104k32 = "m64n104k32", M64n112k32 = "m64n112k32", M64n120k32 = "m64n120k32", M64n128k32 = "m64n128k32",
        M64n136k32 = "m64n136k32", M64n144k32 = "m64n144k32", M64n152k32 = "m64n152k32", M64n160k32 = "m64n160k32", M64n168k32 = "m64n168k32", M64n176k32 = "m64n176k32", M64n184k32 = "m64n184k32", M64n192k32 = "m64n192k32",
        M64n200k32 = "m64n200k32", M64n208k32 = "m64n208k32", M64n216k32 = "m64n216k32", M64n224k32 = "m64n224k32", M64n232k32 = "m64n232k32", M64n240k32 = "m64n240k32", M64n248k32 = "m64n248k32", M64n256k32 = "m64n256k32",
        M64n8k64 = "m64n8k64", M64n16k64 = "m64n16k64", M64n24k64 = "m64n24k64", M64n32k64 = "m64n32k64", M64n40k64 = "m64n40k64", M64n48k64 = "m64n48k64", M64n56k64 = "m64n56k64", M64n64k64 = "m64n64k64",
        M64n72k64 = "m64n72k64", M64n80k64 = "m64n80k64", M64n88k64 = "m64n88k64", M64n96k64 = "m64n96k64", M64n104k64 = "m64n104k64", M64n112k64 = "m64n112k64", M64n120k64 = "m64n120k64", M64n128k64 = "m64n128k64",
        M64n136k64 = "m64n136k64", M64n144k64 = "m64n144k64", M64n152k64 = "m64n152k64", M64n160k64 = "m64n160k64", M64n168k64 = "m64n168k64", M64n176k64 = "m64n176k64", M64n184k64 = "m64n184k64", M64n192k64 = "m64n192k64",
        M64n200k64 = "m64n200k64", M64n208k64 = "m64n208k64", M64n216k64 = "m64n216k64", M64n224k64 = "m64n224k64", M64n232k64 = "m64n232k64", M64n240k64 = "m64n240k64", M64n248k64 = "m64n248k64", M64n256k64 = "m64n256k64",
    }
}

impl SpecialRegister {
    /// The type of its value.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nearly all have 32 bits")]
    pub const fn ty(self) -> Type {
        match self {
            SpecialRegister::Gridid
            | SpecialRegister::Clock64
            | SpecialRegister::Globaltimer
            | SpecialRegister::CurrentGraphExec => Type::U64,
            SpecialRegister::IsExplicitCluster => Type::Pred,
            _ => Type::U32,
        }
    }
}

//! A hand-written kernel with instances, as the compiler would leave them.

use kernel_runtime::{
    __launch, DeviceTensor, Image, Instance, IntoArgument, Launch, ParamInfo, ParamKind, Target,
    Variant,
};
use std::fmt;

/// Code that counts to a number and then adds one to the element of its block: the more it counts, the more instructions run.
macro_rules! code {
    ($steps:literal, $added:literal) => {
        concat!(
            ".version 7.0\n.target sm_80\n.address_size 64\n",
            ".visible .entry work(.param .u64 out, .param .s32 out_dim, .param .s64 out_stride)\n{\n",
            ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<3>;\n",
            "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;\n",
            "mov.u32 %r2, 0;\nCOUNT: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, ", $steps, "; @%p1 bra COUNT;\n",
            "ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, ", $added, "; st.global.u32 [%d1], %r3; ret;\n}\n"
        )
    };
}

const fn image(
    instance: &'static str,
    threads: u32,
    target: Target,
    variants: &'static [Variant],
) -> Image {
    Image {
        kernel: "work",
        instance,
        target,
        threads,
        cluster: [1; 3],
        programmatic: false,
        params: const {
            &[ParamInfo {
                name: "out",
                kind: ParamKind::Tensor { dtype: "u32", rank: 1, mutable: true },
            }]
        },
        declared: &[],
        reports: None,
        stamps: None,
        variants,
    }
}

const fn variant(ptx: &'static str, dynamic_shared_bytes: u32) -> Variant {
    Variant {
        name: "general",
        entry: "work",
        ptx,
        dynamic_shared_bytes,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    }
}

static IMAGES: [[Image; 1]; 7] = [
    [image("STEPS = 30", 1, Target::Sm80, &[variant(code!("30", "1"), 0)])],
    [image("STEPS = 10", 1, Target::Sm80, &[variant(code!("10", "1"), 1024)])],
    [image("STEPS = 20", 1, Target::Sm80, &[variant(code!("20", "1"), 0)])],
    // Other code under the name of the first.
    [image("STEPS = 30", 1, Target::Sm80, &[variant(code!("5", "1"), 0)])],
    [image("STEPS = 1, wrong", 1, Target::Sm80, &[variant(code!("1", "2"), 0)])],
    [image("STEPS = 2, greedy", 1, Target::Sm80, &[variant(code!("2", "1"), 200 << 10)])],
    [image("STEPS = 3, Hopper", 1, Target::Sm90a, &[variant("", 0)])],
];

/// An instance, by its position in [`IMAGES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Work(usize);

pub(crate) const STEPS_30: Work = Work(0);
pub(crate) const STEPS_10: Work = Work(1);
pub(crate) const STEPS_20: Work = Work(2);
/// Counts to 5, and is called as [`STEPS_30`] is.
pub(crate) const CHANGED: Work = Work(3);
/// Adds 2 in place of 1.
pub(crate) const WRONG: Work = Work(4);
/// Wants more shared memory than there is.
pub(crate) const GREEDY: Work = Work(5);
/// Runs on no Ampere.
pub(crate) const HOPPER: Work = Work(6);

static ALL: [Work; 3] = [STEPS_30, STEPS_10, STEPS_20];

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IMAGES[self.0][0].instance)
    }
}

impl Instance for Work {
    const KERNEL: &'static str = "work";

    fn all() -> &'static [Self] {
        &ALL
    }

    fn position(self) -> usize {
        self.0
    }

    fn images(self) -> &'static [Image] {
        &IMAGES[self.0]
    }
}

impl Work {
    pub(crate) fn with(self, out: &mut DeviceTensor<u32, 1>) -> Launch<'_> {
        let blocks = out.dim(0);
        __launch(self.images(), vec![out.into_argument()], None).grid(blocks)
    }
}

//! Layouts as values: the functions that make them.

use kernel_layout::forms::LANES;
use kernel_layout::forms::{TmemAtom, TmemColumns};
use kernel_layout::{Dim, Form, Layout, LayoutError};

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::Val,
        signatures::{Given, MMA, TMEM_BLOCK},
    },
    loc::Loc,
    syntax::Expr,
};

/// `swizzle(bytes)`
pub(crate) fn swizzle(given: &Given<'_>) -> Val {
    Val::Layout(Form::NvmmaShared {
        swizzle_bytes: given.number(0),
        element_bits: 0,
        transposed: false,
        fp4_padded: false,
    })
}

impl Builder<'_> {
    /// `slice(axis, parent)`
    pub(crate) fn slice(&mut self, given: &Given<'_>) -> Option<Val> {
        let parent = given.layout(1);
        let rank = parent.rank().unwrap_or(5);
        let axis = self.axis(given.val(0), rank, "the layout", given.at(0))?;
        Some(Val::Layout(Form::Slice { axis, parent: Box::new(parent) }))
    }

    /// `swizzled(vec, per_phase, max_phase, order)`
    pub(crate) fn swizzled(&mut self, given: &Given<'_>) -> Option<Val> {
        let numbers = [0, 1, 2].map(|index| given.number(index));
        if let Some(bad) = numbers.iter().position(|number| !number.is_power_of_two()) {
            let headline = "the numbers of a swizzle are powers of two";
            let bits = matches!(numbers, [1..=3, 4, 3]);
            let place = if bits { given.loc } else { given.at(bad) };
            let diagnostic =
                Code::LayoutForm.at(place, headline).compare("", "1, 2, 4, 8, ..", numbers[bad]);
            // CUTLASS counts bits: `Swizzle<3, 4, 3>` exchanges pieces of 16 bytes in 128.
            let diagnostic = if bits {
                diagnostic.why("these are numbers of elements and rows, and not of bits; `swizzle` takes the bytes of a row")
            } else {
                diagnostic
            };
            let help = bits.then(|| format!("swizzle({})", 16 << numbers[0]));
            return self.refuse(diagnostic.help_if(help));
        }
        let ([vec, per_phase, max_phase], order) = (numbers, given.shape(3));
        self.permutation(&order, given.at(3))?;
        Some(Val::Layout(Form::Swizzled { vec, per_phase, max_phase, order }))
    }

    /// Two numbers, powers of two; `help` is what may be written for another number of them.
    fn pair(&mut self, given: &Given<'_>, headline: &str, help: String) -> Option<[u32; 2]> {
        let entries = given.shape(0);
        let actual = entries.len().to_string();
        let Ok(pair) = <[u32; 2]>::try_from(entries) else {
            return self.refuse(
                Code::LayoutForm
                    .at(given.at(0), headline)
                    .compare("entries", "2", actual)
                    .help(help),
            );
        };
        self.powers(given, 0, &pair)?;
        Some(pair)
    }

    /// `mma(warps)`
    pub(crate) fn mma_layout(&mut self, given: &Given<'_>) -> Option<Val> {
        let help = format!("{:?}", [self.warps, 1]);
        let warps = self.pair(given, MMA, help)?;
        Some(Val::Layout(Form::MmaV2 { warps }))
    }

    /// `tmem_block(block, col_stride)`; which numbers there are says the layout itself, where it is used.
    pub(crate) fn tmem_block(&mut self, given: &Given<'_>) -> Option<Val> {
        let block = self.pair(given, TMEM_BLOCK, "tmem_block([128, 64], 1)".to_owned())?;
        let col_stride = given.number(1);
        Some(Val::Layout(Form::TensorMemory { block, col_stride, two_ctas: false }))
    }

    /// `tmem_load("16x256b", memory, warps)`
    pub(crate) fn tmem_load(&mut self, given: &Given<'_>) -> Option<Val> {
        let shape = given.val(0);
        let named = if let Val::Str(name) = shape { TmemAtom::from_name(name) } else { None };
        let Some(atom) = named else {
            let mut actual = self.describe(shape);
            if let Val::Str(name) = shape {
                actual = format!("\"{name}\"");
            }
            let required = TmemAtom::ALL.map(|atom| format!("\"{atom}\"")).join(", ");
            let headline = "`tmem_load` takes the shape of an instruction that reads tensor memory";
            return self.refuse(
                Code::LayoutForm.at(given.at(0), headline)
                    .compare("shape", required, actual)
                    .why("these are the shapes that there are (PTX ISA, \"tcgen05.ld and tcgen05.st matrix shapes\")"),
            );
        };
        let memory = Box::new(given.layout(1));
        if !matches!(*memory, Form::TensorMemory { .. } | Form::TensorMemoryScales | Form::Tile(_))
        {
            let headline = format!("`{memory}` is not the layout of a tile in tensor memory");
            return self.refuse(
                Code::LayoutForm
                    .at(given.at(1), headline)
                    .compare("", "tmem_block(..) or layout!(..)", memory)
                    .why("the layout in tensor memory decides which elements a thread reads"),
            );
        }
        // How wide an element is says the tile that the layout is given to.
        let (columns, element_bits, warps) = (TmemColumns::Whole, 32, given.number(2));
        Some(Val::Layout(Form::TensorMemoryLoad { atom, columns, memory, warps, element_bits }))
    }

    /// `dot_operand(index, parent, k_width)`
    pub(crate) fn dot_operand(&mut self, given: &Given<'_>) -> Option<Val> {
        let parent = Box::new(given.layout(1));
        if !matches!(*parent, Form::MmaV2 { .. } | Form::Blocked { .. }) {
            let headline = format!("`{parent}` is not the layout of the result of a product");
            return self.refuse(
                Code::LayoutForm.at(given.at(1), headline)
                    .compare("", "mma(..) or blocked(..)", parent)
                    .why("the layout of the result decides which parts of the operands a thread needs")
                    .help(format!("mma({:?})", [self.warps, 1])),
            );
        }
        let (index, k_width) = (given.number(0), given.number(2));
        Some(Val::Layout(Form::DotOperand { index, parent, k_width }))
    }

    /// `linear(registers, lanes, warps, shape)`
    pub(crate) fn linear(&mut self, given: &Given<'_>) -> Option<Val> {
        let lanes = given.bases(1).len();
        if lanes != LANES.ilog2() as usize {
            return self.refuse(
                Code::LayoutForm
                    .at(given.at(1), "a lane number has five bits")
                    .compare("lane bases", "5", lanes)
                    .why("a warp has 32 lanes, and each bit of the lane number has one basis"),
            );
        }
        let layout = self.of_bases(&[Dim::Register, Dim::Lane, Dim::Warp], given)?;
        Some(Val::Layout(Form::Linear(layout)))
    }

    /// `shared_linear(offsets, shape)`
    pub(crate) fn shared_linear(&mut self, given: &Given<'_>) -> Option<Val> {
        let layout = self.of_bases(&[Dim::Offset], given)?;
        Some(Val::Layout(Form::SharedLinear(layout)))
    }

    /// A layout whose bases of each of these dimensions, and whose shape after them, are the arguments.
    fn of_bases(&mut self, dims: &[Dim], given: &Given<'_>) -> Option<Layout> {
        let shape = given.shape(dims.len());
        let ins = dims.iter().enumerate().map(|(at, dim)| (*dim, given.bases(at))).collect();
        let outs = shape.iter().enumerate().map(|(axis, &extent)| (Dim::axis(axis), extent));
        let error = match Layout::new(ins, outs.collect()) {
            Ok(layout) => return Some(layout),
            Err(error) => error,
        };
        let text = error.to_string();
        let at = |dim: Dim, bit: usize| {
            let list = dims.iter().position(|of| *of == dim);
            list.map_or(given.loc, |list| given.args[list].part(bit))
        };
        let headline = format!("not a basis of a tile of extents {shape:?}");
        self.refuse(if let LayoutError::BasisRank { dim, bit, actual, required } = error {
            Code::LayoutForm.at(at(dim, bit), headline)
                .compare("coordinates", required, actual)
                .why("a basis has one coordinate for each axis of the tile")
        } else if let LayoutError::BasisOutside { dim, bit, out, actual, size } = error {
            let axis = format!("coordinate along axis {}", axis_of(out));
            Code::LayoutForm.at(at(dim, bit), headline)
                .compare(axis, format!("below {size}"), actual)
                .why(format!("bit {bit} of the {dim} number adds its basis to the coordinates, and the element there has to be in the tile"))
        } else {
            let headline = format!("these bases are not a layout of a tile of extents {shape:?}");
            Code::LayoutForm.at(given.loc, headline).why(text)
        })
    }

    /// The bases of one dimension.
    pub(crate) fn bases(&mut self, val: &Val, arg: &Expr) -> Option<Vec<Vec<u32>>> {
        let headline = "bases are written as arrays, one entry for each axis: `[[0, 1], [0, 2]]`";
        let Val::Array(bases) = val else {
            return self.refuse_kind(headline, "an array of arrays", (val, arg.loc));
        };
        bases
            .iter()
            .enumerate()
            .map(|(index, basis)| self.entries(basis, arg.part(index), headline))
            .collect()
    }

    /// A list of numbers of a layout.
    pub(crate) fn entries(&mut self, val: &Val, loc: Loc, headline: &str) -> Option<Vec<u32>> {
        let Val::Array(parts) = val else {
            return self.refuse_kind(headline, "an array", (val, loc));
        };
        parts.iter().map(|part| self.entry(part, loc)).collect()
    }

    /// A number of a layout.
    pub(crate) fn entry(&mut self, val: &Val, loc: Loc) -> Option<u32> {
        let value = self.const_int(val, "an entry of a layout", loc)?;
        u32::try_from(value).ok().or_else(|| {
            self.error(
                Code::LayoutForm,
                loc,
                format!("{value} is not a number of elements, lanes or warps"),
            );
            None
        })
    }

    /// `blocked(per_thread, lanes, warps, order)`
    pub(crate) fn blocked(&mut self, given: &Given<'_>) -> Option<Val> {
        let lists = [0, 1, 2, 3].map(|index| given.shape(index));
        let rank = lists[0].len();
        if let Some(bad) = lists.iter().position(|list| list.len() != rank) {
            let headline = "the four arrays of `blocked` have one entry for each axis";
            return self.refuse(Code::LayoutForm.at(given.at(bad), headline).compare(
                "entries",
                rank,
                lists[bad].len(),
            ));
        }
        for (index, list) in lists[..3].iter().enumerate() {
            self.powers(given, index, list)?;
        }
        let [per_thread, lanes, warps, order] = lists;
        self.permutation(&order, given.at(3))?;
        let in_warp = lanes.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        if in_warp != u64::from(LANES) {
            // The fastest axis has as many as are left.
            let mut mended = lanes;
            let left = order.first().map(|&fastest| {
                let others = in_warp / u64::from(mended[fastest as usize]);
                (fastest as usize, u32::try_from(u64::from(LANES) / others))
            });
            let help = match left {
                Some((fastest, Ok(left @ 1..))) => {
                    mended[fastest] = left;
                    Some(format!("{mended:?}"))
                }
                _ => None,
            };
            // Here and not where the layout is used: this is the place to change.
            let headline = format!("the lanes of this layout multiply to {in_warp}");
            return self.refuse(
                Code::LayoutForm.at(given.at(1), headline)
                    .compare("lanes", LANES, in_warp)
                    .why("a warp has 32 lanes; the second array has the number of lanes along each axis")
                    .help_if(help),
            );
        }
        Some(Val::Layout(Form::Blocked { per_thread, lanes, warps, order }))
    }

    /// The entries of a list are powers of two.
    fn powers(&mut self, given: &Given<'_>, index: usize, list: &[u32]) -> Option<()> {
        let Some(bad) = list.iter().position(|entry| !entry.is_power_of_two()) else {
            return Some(());
        };
        let headline = format!("the numbers of `{}` are powers of two", given.path());
        self.refuse(
            Code::LayoutForm.at(given.args[index].part(bad), headline)
                .compare("", "1, 2, 4, 8, ..", list[bad])
                .why("a layout maps the bits of thread and register numbers to the bits of coordinates"),
        )
    }

    /// An order names each axis once.
    fn permutation(&mut self, order: &[u32], loc: Loc) -> Option<()> {
        let axes: Vec<u32> = (0..u32::try_from(order.len()).expect("an array is short")).collect();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted == axes {
            return Some(());
        }
        let rows: Vec<u32> = axes.into_iter().rev().collect();
        let required = format!("{rows:?}, or another order of these");
        self.refuse(
            Code::LayoutForm
                .at(loc, "an order names each axis once, the fastest first")
                .compare("order", required, format!("{order:?}"))
                .help(format!("{rows:?}")),
        )
    }
}

/// The number of an axis of a tensor.
fn axis_of(dim: Dim) -> usize {
    match dim {
        Dim::Axis(axis) => axis.into(),
        Dim::Register | Dim::Lane | Dim::Warp | Dim::Block | Dim::Offset | Dim::Row | Dim::Col => {
            unreachable!("of_bases leads to axes alone")
        }
    }
}

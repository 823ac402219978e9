//! Layouts as values: the functions that make them.

use kernel_layout::forms::{TmemAtom, TmemColumns};
use kernel_layout::{Dim, Form, Layout, LayoutError};

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val},
    loc::Loc,
    syntax::Expr,
};

/// Lanes of a warp.
const LANES: u64 = 32;

impl Builder<'_> {
    /// A call of a function that makes a layout; the number of arguments is right.
    pub(crate) fn layout_value(
        &mut self,
        name: &str,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let form = match name {
            "blocked" => self.blocked(vals, args),
            "slice" => self.slice(vals, args),
            "swizzle" => self.swizzle(&vals[0], args[0].loc),
            "swizzled" => self.swizzled(vals, args),
            "row_major" => Some(Form::RowMajor),
            "mma" => self.pair(&vals[0], &args[0]).map(|warps| Form::MmaV2 { warps }),
            "tmem_block" => self.tmem_block(vals, args),
            "tmem_load" => self.tmem_load(vals, args),
            "dot_operand" => self.dot_operand(vals, args),
            "linear" => self.linear(vals, args, loc),
            "shared_linear" => self.shared_linear(vals, args, loc),
            other => unreachable!("builtin_call passes no `{other}`"),
        };
        form.map_or(Val::Error, Val::Layout)
    }

    fn slice(&mut self, vals: &[Val], args: &[Expr]) -> Option<Form> {
        let parent = self.parent(&vals[1], args[1].loc, "`slice` takes an axis and a layout")?;
        let axis = self.axis(&vals[0], parent.rank().unwrap_or(5), "the layout", args[0].loc)?;
        Some(Form::Slice { axis, parent: Box::new(parent) })
    }

    fn parent(&mut self, val: &Val, loc: Loc, headline: &str) -> Option<Form> {
        if let Val::Layout(parent) = val {
            return Some(parent.clone());
        }
        let actual = self.describe(val);
        self.report(Diagnostic::new(Code::Kind, loc, headline).compare("", "a layout", actual));
        None
    }

    fn swizzle(&mut self, bytes: &Val, loc: Loc) -> Option<Form> {
        let bytes = self.const_size(bytes, "the span of a swizzle", loc)?;
        match bytes {
            0 | 32 | 64 | 128 => Some(Form::NvmmaShared {
                swizzle_bytes: u32::try_from(bytes).expect("matched above"),
                element_bits: 0,
                transposed: false,
                fp4_padded: false,
            }),
            _ => {
                self.report(
                    Diagnostic::new(Code::LayoutForm, loc, "a swizzle has one of four spans")
                        .compare("bytes", "0, 32, 64 or 128", bytes.to_string()),
                );
                None
            }
        }
    }

    fn swizzled(&mut self, vals: &[Val], args: &[Expr]) -> Option<Form> {
        let mut numbers = [0; 3];
        for ((number, val), arg) in numbers.iter_mut().zip(vals).zip(args) {
            *number = self.entry(val, arg.loc)?;
            if !number.is_power_of_two() {
                let actual = number.to_string();
                self.report(
                    Diagnostic::new(
                        Code::LayoutForm,
                        arg.loc,
                        "the numbers of a swizzle are powers of two",
                    )
                    .compare("", "1, 2, 4, 8, ..", actual),
                );
                return None;
            }
        }
        let [vec, per_phase, max_phase] = numbers;
        let order = self.entries(
            &vals[3],
            args[3].loc,
            "`swizzled` takes three numbers and an order of axes",
        )?;
        self.permutation(&order, args[3].loc)?;
        Some(Form::Swizzled { vec, per_phase, max_phase, order })
    }

    fn pair(&mut self, val: &Val, arg: &Expr) -> Option<[u32; 2]> {
        let loc = arg.loc;
        let headline = "`mma` takes the warps along rows and columns";
        let list = self.entries(val, loc, headline)?;
        let Ok(pair) = <[u32; 2]>::try_from(list) else {
            let actual = val.parts().map_or(0, <[Val]>::len).to_string();
            let grid = [self.warps, 1];
            self.report(
                Diagnostic::new(Code::LayoutForm, loc, headline)
                    .compare("entries", "2", actual)
                    .help(format!("{grid:?}")),
            );
            return None;
        };
        self.powers("mma", &pair, arg)?;
        Some(pair)
    }

    /// `tmem_block([rows, columns], col_stride)`; which numbers there are says the layout itself, where it is used.
    fn tmem_block(&mut self, vals: &[Val], args: &[Expr]) -> Option<Form> {
        let headline =
            "`tmem_block` takes the rows and columns of a block, and the distance of its columns";
        let list = self.entries(&vals[0], args[0].loc, headline)?;
        let Ok(block) = <[u32; 2]>::try_from(list) else {
            let actual = vals[0].parts().map_or(0, <[Val]>::len).to_string();
            self.report(
                Diagnostic::new(Code::LayoutForm, args[0].loc, headline)
                    .compare("entries", "2", actual)
                    .help("tmem_block([128, 64], 1)"),
            );
            return None;
        };
        self.powers("tmem_block", &block, &args[0])?;
        let col_stride = self.entry(&vals[1], args[1].loc)?;
        Some(Form::TensorMemory { block, col_stride, two_ctas: false })
    }

    /// `tmem_load("16x256b", memory, warps)`
    fn tmem_load(&mut self, vals: &[Val], args: &[Expr]) -> Option<Form> {
        let named = if let Val::Str(name) = &vals[0] { TmemAtom::from_name(name) } else { None };
        let Some(atom) = named else {
            let actual = match &vals[0] {
                Val::Str(name) => format!("\"{name}\""),
                other => self.describe(other),
            };
            let required = TmemAtom::ALL.map(|atom| format!("\"{atom}\"")).join(", ");
            self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[0].loc,
                    "`tmem_load` takes the shape of an instruction that reads tensor memory",
                )
                .compare("shape", required, actual)
                .why("these are the shapes that there are (PTX ISA, \"tcgen05.ld and tcgen05.st matrix shapes\")"),
            );
            return None;
        };
        let headline = "`tmem_load` takes the layout of a tile in tensor memory";
        let memory = Box::new(self.parent(&vals[1], args[1].loc, headline)?);
        if !matches!(*memory, Form::TensorMemory { .. } | Form::TensorMemoryScales | Form::Tile(_))
        {
            self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[1].loc,
                    format!("`{memory}` is not the layout of a tile in tensor memory"),
                )
                .compare("", "tmem_block(..) or layout!(..)", memory.to_string())
                .why("which elements a thread reads follows from which row and column they lie in"),
            );
            return None;
        }
        let warps = self.entry(&vals[2], args[2].loc)?;
        // How wide an element is says the tile that the layout is given to.
        let element_bits = 32;
        Some(Form::TensorMemoryLoad {
            atom,
            columns: TmemColumns::Whole,
            memory,
            warps,
            element_bits,
        })
    }

    fn dot_operand(&mut self, vals: &[Val], args: &[Expr]) -> Option<Form> {
        let index = self.const_int(&vals[0], "which factor it is", args[0].loc)?;
        let Some(index) = u32::try_from(index).ok().filter(|index| *index < 2) else {
            self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[0].loc,
                    "a product has two factors, 0 on the left and 1 on the right",
                )
                .compare("factor", "0 or 1", index.to_string()),
            );
            return None;
        };
        let headline = "`dot_operand` takes the layout of the product's result";
        let parent = Box::new(self.parent(&vals[1], args[1].loc, headline)?);
        if !matches!(*parent, Form::MmaV2 { .. } | Form::Blocked { .. }) {
            let grid = [self.warps, 1];
            self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[1].loc,
                    format!("`{parent}` is not the layout of a product's result"),
                )
                .compare("", "mma(..) or blocked(..)", parent.to_string())
                .why("which parts of its factors a thread needs follows from which elements of the result it holds")
                .help(format!("mma({grid:?})")),
            );
            return None;
        }
        let k_width = self.entry(&vals[2], args[2].loc)?;
        if !matches!(k_width, 1 | 2 | 4) {
            self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[2].loc,
                    "a 32-bit register holds 1, 2 or 4 elements",
                )
                .compare("k_width", "1, 2 or 4", k_width.to_string())
                .why("mma.sync takes factors packed into 32-bit registers: 4 elements of 8 bits, 2 of 16 bits, 1 of 32 bits"),
            );
            return None;
        }
        Some(Form::DotOperand { index, parent, k_width })
    }

    fn linear(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Option<Form> {
        let dims = [Dim::Register, Dim::Lane, Dim::Warp];
        let mut ins = Vec::new();
        for ((dim, val), arg) in dims.into_iter().zip(vals).zip(args) {
            ins.push((dim, self.bases(val, arg)?));
        }
        if ins[1].1.len() != LANES.ilog2() as usize {
            self.report(
                Diagnostic::new(Code::LayoutForm, args[1].loc, "a lane's number has five bits")
                    .compare("lane bases", "5", ins[1].1.len().to_string())
                    .why("a warp has 32 lanes, and each bit of a lane's number has one basis"),
            );
            return None;
        }
        self.of_bases(ins, &vals[3], args, loc).map(Form::Linear)
    }

    fn shared_linear(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Option<Form> {
        let ins = vec![(Dim::Offset, self.bases(&vals[0], &args[0])?)];
        self.of_bases(ins, &vals[1], args, loc).map(Form::SharedLinear)
    }

    /// A layout with these bases, for a tile of this shape; `args` are the bases of each dimension, and the shape.
    fn of_bases(
        &mut self,
        ins: Vec<(Dim, Vec<Vec<u32>>)>,
        shape: &Val,
        args: &[Expr],
        loc: Loc,
    ) -> Option<Layout> {
        let shape = self.shape(shape, &args[ins.len()])?;
        let written: Vec<Dim> = ins.iter().map(|(dim, _)| *dim).collect();
        let outs = shape.iter().enumerate().map(|(axis, &extent)| (Dim::axis(axis), extent));
        match Layout::new(ins, outs.collect()) {
            Ok(layout) => Some(layout),
            Err(error) => {
                let at = |dim: Dim, bit: usize| {
                    let list = written.iter().position(|of| *of == dim);
                    list.map_or(loc, |list| args[list].part(bit))
                };
                let headline = format!("this is no basis for a tile of extents {shape:?}");
                let diagnostic = match error {
                    LayoutError::BasisRank { dim, bit, actual, required } => {
                        Diagnostic::new(Code::LayoutForm, at(dim, bit), headline)
                            .compare("coordinates", required.to_string(), actual.to_string())
                            .why("a basis has one coordinate for each axis of the tile")
                    }
                    LayoutError::BasisOutside { dim, bit, out, actual, size } => {
                        Diagnostic::new(Code::LayoutForm, at(dim, bit), headline)
                            .compare(
                                format!("coordinate along axis {}", axis_of(out)),
                                format!("below {size}"),
                                actual.to_string(),
                            )
                            .why(format!("bit {bit} of the {dim}'s number leads to the element at its basis, which has to be in the tile"))
                    }
                    other => Diagnostic::new(
                        Code::LayoutForm,
                        loc,
                        format!("these bases are no layout of a tile of extents {shape:?}"),
                    )
                    .why(other.to_string()),
                };
                self.report(diagnostic);
                None
            }
        }
    }

    fn bases(&mut self, val: &Val, arg: &Expr) -> Option<Vec<Vec<u32>>> {
        let headline = "bases are written as arrays, one entry an axis: `[[0, 1], [0, 2]]`";
        let Val::Array(bases) = val else {
            let actual = self.describe(val);
            self.report(Diagnostic::new(Code::Kind, arg.loc, headline).compare(
                "",
                "an array of arrays",
                actual,
            ));
            return None;
        };
        let bases = bases.clone();
        bases
            .iter()
            .enumerate()
            .map(|(index, basis)| self.entries(basis, arg.part(index), headline))
            .collect()
    }

    /// A list of numbers of a layout.
    fn entries(&mut self, val: &Val, loc: Loc, headline: &str) -> Option<Vec<u32>> {
        let Val::Array(parts) = val else {
            let actual = self.describe(val);
            self.report(Diagnostic::new(Code::Kind, loc, headline).compare("", "an array", actual));
            return None;
        };
        let parts = parts.clone();
        parts.iter().map(|part| self.entry(part, loc)).collect()
    }

    /// A number of a layout.
    fn entry(&mut self, val: &Val, loc: Loc) -> Option<u32> {
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

    fn blocked(&mut self, vals: &[Val], args: &[Expr]) -> Option<Form> {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for (val, arg) in vals.iter().zip(args) {
            let headline = "`blocked` takes four arrays, one entry an axis";
            lists.push(self.entries(val, arg.loc, headline)?);
        }
        let rank = lists[0].len();
        if let Some(bad) = lists.iter().position(|list| list.len() != rank) {
            self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[bad].loc,
                    "the four arrays of `blocked` have one entry an axis",
                )
                .compare("entries", rank.to_string(), lists[bad].len().to_string()),
            );
            return None;
        }
        let [per_thread, lanes, warps, order] =
            <[Vec<u32>; 4]>::try_from(lists).expect("arity is checked");
        for (list, arg) in [&per_thread, &lanes, &warps].into_iter().zip(args) {
            self.powers("blocked", list, arg)?;
        }
        self.permutation(&order, args[3].loc)?;
        let in_warp = lanes.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        if in_warp != LANES {
            // Here and not where the layout is used: this is the place to change.
            let mut diagnostic = Diagnostic::new(
                Code::LayoutForm,
                args[1].loc,
                format!("the lanes of this layout multiply to {in_warp}"),
            )
            .compare("lanes", LANES.to_string(), in_warp.to_string())
            .why("a warp has 32 lanes; the second array says how many of them lie along each axis");
            // The fastest axis has as many as are left.
            let mut mended = lanes;
            if let Some(&fastest) = order.first() {
                let others = in_warp / u64::from(mended[fastest as usize]);
                if let Ok(left @ 1..) = u32::try_from(LANES / others) {
                    mended[fastest as usize] = left;
                    diagnostic = diagnostic.help(format!("{mended:?}"));
                }
            }
            self.report(diagnostic);
            return None;
        }
        Some(Form::Blocked { per_thread, lanes, warps, order })
    }

    /// The entries of a list are powers of two.
    fn powers(&mut self, name: &str, list: &[u32], arg: &Expr) -> Option<()> {
        let Some(bad) = list.iter().position(|entry| !entry.is_power_of_two()) else {
            return Some(());
        };
        self.report(
            Diagnostic::new(
                Code::LayoutForm,
                arg.part(bad),
                format!("the numbers of `{name}` are powers of two"),
            )
            .compare("", "1, 2, 4, 8, ..", list[bad].to_string())
            .why("a layout maps the bits of a thread's number and of a register's to those of coordinates"),
        );
        None
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
        self.report(
            Diagnostic::new(
                Code::LayoutForm,
                loc,
                "an order names each axis once, the fastest first",
            )
            .compare("order", format!("{rows:?}, or another order of these"), format!("{order:?}"))
            .help(format!("{rows:?}")),
        );
        None
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

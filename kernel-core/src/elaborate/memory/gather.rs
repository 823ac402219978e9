//! Gathers and scatters: TMA copies of arbitrary rows of a tensor.
//!
//! | rule | required |
//! |---|---|
//! | target | one with `Capability::TmaGather` |
//! | tensor | rank 2, elements of at most 32 bits |
//! | block | `[1, Y]`, Y of at least 32 bytes |
//! | rows | a tile of `i32` of rank 1, at least 8 |
//! | shared memory | `[rows, Y]`, of the tensor's elements |
//! | what a scatter writes | a `TensorMapMut`; rows and columns from 0 on, no row twice |

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Dtype, ParamKind, Tma, TmaKind, Type, Value},
    loc::Loc,
};

/// The fewest rows of a gather or a scatter.
pub(crate) const LEAST_ROWS: u32 = 8;
/// The fewest bits of a row.
const LEAST_ROW_BITS: u32 = 256;
/// The most bits of an element.
const MOST_BITS: u32 = 32;

/// Why the map describes one row of a tensor of two axes.
const FOUR_ROWS: &str = "an instruction moves four rows of a tensor of two axes, and takes only their width from the tensor map (PTX ISA, \"cp.async.bulk.tensor\": .tile::gather4, .tile::scatter4)";

impl Builder<'_> {
    /// `tma::gather(map, rows, col, bar, to)`, `tma::scatter(map, rows, col, from)`
    pub(crate) fn by_rows(&mut self, kind: TmaKind, given: &Given<'_>) -> Option<()> {
        let (param, column, last) = (given.map(0), given.value(2), given.args.len() - 1);
        if let Val::Slice(_) = given.val(0) {
            return self.no_rows_of_slice(param, given.at(0));
        }
        let of_map = self.row_of_map(param, kind, given.at(0));
        let (rows, count) = self.row_numbers(given.val(1), given.at(1))?;
        let (columns, dtype) = of_map?;
        let (window, shared) = given.window(last);
        self.whole_tiles(shared, "a copy of rows", given.at(last))?;
        let at = given.at(last);
        self.check_window(window, shared, at)?;
        self.lies_as_stored(shared, at)?;
        if shared.shape != [count, columns] {
            let path = given.path();
            let headline =
                format!("the tile of `{path}` has one row for each number, as wide as the block");
            return self.refuse(
                Code::ShapeMismatch.at(at, headline)
                    .compare("extents", format!("{:?}", [count, columns]), format!("{:?}", shared.shape))
                    .place(given.at(1), "the rows")
                    .place(self.params[param as usize].loc, "the block of the tensor map")
                    .why("four rows at a time are contiguous in shared memory, each as wide as the block of the tensor map (PTX ISA, \"cp.async.bulk.tensor\": `.tile::gather4`)")
                    .help(format!("shared::<{}>({:?})", dtype.name(), [count, columns])),
            );
        }
        self.copied_dtype(dtype, (window, shared), at)?;
        self.operands.insert(given.loc, [given.at(1), given.at(2), at]);
        self.note_use(rows, given.loc, given.at(1));
        self.note_use(column, given.loc, given.at(2));
        let barrier = (kind == TmaKind::Gather).then(|| given.value(3));
        let operands = [rows, column].into_iter().chain(barrier).chain([window]).collect();
        self.does(Tma::plain(kind, param), operands, given)
    }

    /// A gather or a scatter as the threads do it, on targets before Blackwell.
    pub(crate) fn rows_by_threads(&self, given: &Given<'_>) -> String {
        let param = given.val(0).tensor().and_then(|param| self.params.get(param as usize));
        let name = param.map_or("x", |param| &param.name);
        let block = param.and_then(|param| param.block.as_ref()).and_then(|block| block.last());
        let columns = block.copied().unwrap_or(64);
        let at = format!(
            "{name}.ptr() + (rows.expand(1) * {name}.dim(1) + (arange(0, {columns}) + col).expand(0))"
        );
        let help = match given.signature.name {
            "gather" => format!("tile.store(load({at}))"),
            _ => format!("store({at}, tile.load())"),
        };
        format!("{help} // of a `Tensor` or `TensorMut`, whose rows are contiguous")
    }

    /// The columns and the element type of a map whose block is one row.
    fn row_of_map(&mut self, param: u32, kind: TmaKind, loc: Loc) -> Option<(u32, Dtype)> {
        let data = &self.params[param as usize];
        let (place, name) = (data.loc, data.name.clone());
        let block = data.block.clone()?;
        let stepped = data.map.element_strides.iter().any(|stride| *stride != 1);
        let ParamKind::Tensor { dtype, rank, .. } = data.kind else { return None };
        let refuse = |headline: &str| Code::ByRows.at(loc, headline).place(place, "declared here");
        let written = |columns: u32| format!("#[block(1, {columns})] {name}");
        let least = LEAST_ROW_BITS / (dtype.bytes() * 8);
        let diagnostic = if rank != 2 {
            Code::Axis
                .at(loc, "a gather or a scatter needs a tensor of two axes")
                .place(place, "declared here")
                .compare("rank", "2", rank)
                .why(FOUR_ROWS)
        } else if dtype.bytes() * 8 > MOST_BITS {
            let diagnostic = Code::DtypeRefused
                .at(loc, "a gather or a scatter cannot move elements of this size");
            diagnostic
                .compare("bits of an element", format!("at most {MOST_BITS}"), dtype.bytes() * 8)
                .place(place, "declared here")
                .why("no known GPU moves such rows; as `u32`, twice as many columns have the same bits")
        } else if block[0] != 1 {
            refuse("the block of a gather or a scatter is one row")
                .compare("block", format!("[1, {}]", block[1]), format!("{block:?}"))
                .why(FOUR_ROWS)
                .help(written(block[1]))
        } else if block[1] < least {
            refuse("the rows of a gather or a scatter have 32 bytes or more")
                .compare(
                    format!("columns of `{}`", dtype.name()),
                    format!("at least {least}"),
                    block[1],
                )
                .why("each row has 32 bytes or more, so four of them fill whole lines of 128 bytes in shared memory")
                .help(written(least))
        } else if stepped {
            refuse("a gather or a scatter cannot have element strides")
                .compare(
                    "element strides",
                    "[1, 1]",
                    format!("{:?}", self.params[param as usize].map.element_strides),
                )
                .why(FOUR_ROWS)
        } else {
            if kind == TmaKind::Scatter {
                self.written_map(param, loc)?;
            }
            return Some((block[1], dtype));
        };
        self.refuse(diagnostic)
    }

    /// The numbers of the rows, and how many there are.
    fn row_numbers(&mut self, val: &Val, loc: Loc) -> Option<(Value, u32)> {
        let (value, rows) =
            self.row_tile(val, "a gather or a scatter needs a tile of row numbers", loc)?;
        if rows >= LEAST_ROWS {
            return Some((value, rows));
        }
        self.refuse(
            Code::ByRows.at(loc, "a gather or a scatter moves 8 rows or more")
                .compare("rows", format!("at least {LEAST_ROWS}"), rows)
                .why("with rows of 32 bytes, 8 of them are the smallest tile that a swizzle takes; a gather gives zeros for numbers outside of the tensor, and a scatter drops rows after its end"),
        )
    }

    /// A tile of row numbers, and how many there are; `what` needs it.
    pub(super) fn row_tile(&mut self, val: &Val, what: &str, loc: Loc) -> Option<(Value, u32)> {
        let value = self.value(val, loc)?;
        if *self.ty(value) == Type::Error {
            return None;
        }
        let shape = self.ty(value).shape().to_vec();
        let tile = matches!(self.ty(value), Type::Tile(..)) && !self.is_ptr(value);
        let diagnostic = if !tile {
            let actual = self.describe(val);
            Code::Kind.at(loc, what).compare("", "a tile: i32[rows]", actual)
        } else if shape.len() != 1 {
            Code::Axis
                .at(loc, what)
                .compare("rank", "1", shape.len())
                .why("each element is the number of a row")
                .help(
                    self.applied(value, &format!(".reshape([{}])", shape.iter().product::<u32>())),
                )
        } else if let Err((_, actual)) = self.cells.unify(Num::Known(Dtype::I32), self.num(value)) {
            Code::DtypeMismatch
                .at(loc, "the numbers of rows are `i32`")
                .compare("element type", "i32", actual)
                .help(self.applied(value, ".cast::<i32>()"))
        } else {
            return Some((value, shape[0]));
        };
        self.refuse(diagnostic)
    }
}

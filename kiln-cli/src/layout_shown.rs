//! A layout to be shown: its bases or digits as text, and who holds each element, for tables and pictures.

use std::fmt::Write;

use kernel_layout::notation::NotationError;
use kernel_layout::tile::{Scopes, TileAxis, TileLayout};
use kernel_layout::{Basis, Dim, Form, Layout, LayoutError, PaddedShared, basis_text};

use crate::layout_form::{self, Spelled, parse_spelled};

mod difference;

/// More than that is not a table that anybody reads, and no picture.
pub const MOST_ELEMENTS: u64 = 1 << 16;

/// A layout for a shape.
#[derive(Clone, Debug)]
pub struct Shown {
    /// How it is written.
    pub title: String,
    /// The shape of the tensor.
    pub shape: Vec<u32>,
    /// Its bits of an element.
    pub element_bits: u32,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Linear(Layout),
    Padded(PaddedShared),
    /// Extents and strides that no bases express.
    Tile(TileLayout),
}

/// Who holds an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// The block of the cluster.
    pub block: u32,
    /// The warp.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
    /// The register.
    pub register: u32,
}

/// Where elements are, by the kind of place.
#[derive(Clone, Debug)]
pub enum Places {
    /// In registers: for every element, in row-major order, its first holder, and the threads that hold it.
    Registers {
        /// The first holder of each element.
        holders: Vec<Option<Holder>>,
        /// How many places hold each element.
        copies: u64,
        /// The bits of the lane that make no difference.
        free_lanes: u32,
        /// The bits of the warp that make no difference.
        free_warps: u32,
    },
    /// In linear memory: for every address, in elements, what is there.
    Memory(Vec<Option<u32>>),
    /// In tensor memory: for every row, for every column, what is there.
    TensorMemory(Vec<Vec<Option<u32>>>),
}

impl Shown {
    /// Reads a layout and builds it; without a shape, the one that it is written for.
    ///
    /// # Errors
    /// A text for the user, with the place marked.
    pub fn read(text: &str, shape: Option<&[u32]>, element_bits: u32) -> Result<Shown, String> {
        let spelled = parse_spelled(text, element_bits).map_err(|error| error.to_string())?;
        let Spelled { form, padding, places } = spelled;
        let Some(shape) = shape.map(<[u32]>::to_vec).or_else(|| own_shape(&form)) else {
            let problem = "required --shape: the layout does not say which tensor it is for";
            return Err(marked(text, 0, problem));
        };
        let own = if padding.is_some() { places.inner() } else { None };
        let refused = |error: &LayoutError| {
            let (places, shape) = blamed(&form, own.unwrap_or(&places), shape.clone());
            marked(text, places.of(error), &format!("for shape {shape:?}: {error}"))
        };
        let mut title = form.to_string();
        let what = match (form.to_layout(&shape), &form, padding) {
            (Ok(layout), _, Some(padding)) => {
                let pairs: Vec<String> = padding.iter().map(|pair| format!("{pair:?}")).collect();
                title = format!("padded([{}], {form})", pairs.join(", "));
                if !layout.has_in(Dim::Offset) {
                    let problem = "required a layout of shared memory within the padding";
                    return Err(marked(text, 0, problem));
                }
                let pairs = padding.into_iter().map(|[interval, elements]| (interval, elements));
                What::Padded(PaddedShared::new(layout, pairs.collect()).map_err(|error| {
                    marked(text, places.of(&error), &format!("for shape {shape:?}: {error}"))
                })?)
            }
            (Ok(layout), _, None) => What::Linear(layout),
            // What bases cannot say is shown by its digits.
            (Err(error), Form::Tile(tile), None) => {
                let size =
                    shape.iter().try_fold(1_u64, |size, &axis| size.checked_mul(axis.into()));
                if size != Some(tile.size()) {
                    return Err(refused(&error));
                }
                What::Tile(tile.clone())
            }
            (Err(error), ..) => return Err(refused(&error)),
        };
        Ok(Shown { title, shape, element_bits, what })
    }

    /// A layout that is known by its bases, under a name.
    pub fn of_bases(title: &str, layout: Layout, element_bits: u32) -> Shown {
        let shape = layout.shape();
        Shown { title: title.to_owned(), shape, element_bits, what: What::Linear(layout) }
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.shape.iter().map(|&size| u64::from(size)).product()
    }

    /// The lines that define the layout: bases, or digits and why there are no bases.
    pub fn lines(&self) -> Vec<String> {
        match &self.what {
            What::Linear(layout) => {
                let mut lines = basis_lines(layout);
                for (dim, bit, _) in
                    bits_of(layout).filter(|(dim, bit, basis)| is_empty(*dim, *bit, basis))
                {
                    lines.push(format!("{dim}s with bit {bit} hold nothing"));
                }
                lines
            }
            What::Padded(padded) => {
                let mut lines = basis_lines(padded.layout());
                for (interval, elements) in padded.padding() {
                    lines.push(format!("after every {interval} elements, {elements} are skipped"));
                }
                lines
            }
            What::Tile(tile) => {
                let mut lines = Vec::new();
                let short = tile.canonicalize(Scopes::Fused);
                if short != *tile {
                    lines.push(format!("canonical {short}"));
                }
                if let Err(reason) = tile.to_linear(&self.shape) {
                    lines.push(format!("no bases: {reason}"));
                }
                for axis in tile.axes() {
                    lines.push(format!("span {} along {axis}", tile.span(axis)));
                }
                lines
            }
        }
    }

    /// How often each element is held.
    pub fn copies(&self) -> u64 {
        match &self.what {
            What::Linear(layout) => copies_of(layout),
            What::Padded(padded) => copies_of(padded.layout()),
            What::Tile(tile) => tile.replica().iter().map(|iter| iter.extent).product(),
        }
    }

    /// The blocks of the cluster over which the tensor is spread.
    pub fn blocks(&self) -> u32 {
        self.layout().map_or(1, |layout| layout.in_size(Dim::Block))
    }

    /// The page: title, bases, and a table.
    pub fn page(&self) -> String {
        let mut lines = vec![format!("{} for shape {:?}", self.title, self.shape)];
        lines.extend(self.lines());
        let copies = self.copies();
        let times = if copies == 1 { "once".to_owned() } else { format!("{copies} times") };
        lines.push(format!("each element is held {times}"));
        lines.push(String::new());
        lines.push(if self.elements() > MOST_ELEMENTS {
            format!("(no table: {} elements)\n", self.elements())
        } else {
            folded(&match &self.what {
                What::Linear(layout) => match self.shape[..] {
                    // One axis is broken into rows that fit a page.
                    [size] if size > 32 => {
                        let rows = layout.reshape(&[size / 32, 32]);
                        format!("32 elements to a row, {}", rows.to_table())
                    }
                    _ => layout.to_table(),
                },
                What::Padded(padded) => self.table("address", |index| {
                    let offsets = padded.layout().pseudo_inverse();
                    let at = padded.layout().unflatten_out(index);
                    let named: Vec<(Dim, u32)> = padded.layout().out_dims().zip(at).collect();
                    let offset = offsets.map_or(0, |offsets| offsets.apply(&named)[0]);
                    padded.address(offset).to_string()
                }),
                What::Tile(tile) => {
                    let axes: Vec<String> =
                        tile.place(0).iter().map(|(axis, _)| axis.to_string()).collect();
                    self.table(&axes.join(":"), |index| {
                        let places = tile.place(index);
                        let parts: Vec<String> =
                            places.iter().map(|(_, at)| at.to_string()).collect();
                        parts.join(":")
                    })
                }
            })
        });
        lines.join("\n")
    }

    /// A table with a text for every element; leading axes are rows.
    fn table(&self, head: &str, cell: impl Fn(u64) -> String) -> String {
        let columns = self.shape.last().copied().unwrap_or(1).max(1);
        let cells: Vec<String> = (0..self.elements()).map(cell).collect();
        let width = cells.iter().map(String::len).max().unwrap_or(0);
        let width = width.max((columns - 1).to_string().len());
        let rows = self.elements() / u64::from(columns);
        let margin = rows.saturating_sub(1).to_string().len();
        let mut text = format!("{head}\n{}", " ".repeat(margin));
        for column in 0..columns {
            let _infallible = write!(text, "  {column:>width$}");
        }
        for (row, cells) in cells.chunks(columns as usize).enumerate() {
            let _infallible = write!(text, "\n{row:>margin$}");
            for cell in cells {
                let _infallible = write!(text, "  {cell:>width$}");
            }
        }
        text.push('\n');
        text
    }

    /// Where the elements are.
    ///
    /// # Errors
    /// Why there is no picture: too many elements, or places along axes that none shows.
    pub fn places(&self) -> Result<Places, String> {
        let elements = self.elements();
        if elements > MOST_ELEMENTS {
            return Err(format!(
                "a picture shows at most {MOST_ELEMENTS} elements, actual {elements}"
            ));
        }
        match &self.what {
            What::Linear(layout) if layout.has_in(Dim::Offset) => {
                let size = layout.in_size(Dim::Offset);
                Ok(Places::Memory(
                    (0..size).map(|at| stored(layout, &[(Dim::Offset, at)])).collect(),
                ))
            }
            What::Linear(layout) if layout.has_in(Dim::Row) || layout.has_in(Dim::Col) => {
                let rows = (0..layout.in_size(Dim::Row).max(128)).map(|row| {
                    let columns = 0..layout.in_size(Dim::Col);
                    let cell = |col| {
                        (row < layout.in_size(Dim::Row))
                            .then(|| stored(layout, &[(Dim::Row, row), (Dim::Col, col)]))
                            .flatten()
                    };
                    columns.map(cell).collect()
                });
                Ok(Places::TensorMemory(rows.collect()))
            }
            What::Linear(layout) => Ok(registers(layout)),
            What::Padded(padded) => {
                let mut memory = vec![None; padded.len() as usize];
                for offset in 0..padded.layout().in_size(Dim::Offset) {
                    memory[padded.address(offset) as usize] =
                        stored(padded.layout(), &[(Dim::Offset, offset)]);
                }
                Ok(Places::Memory(memory))
            }
            What::Tile(tile) => self.tile_places(tile),
        }
    }

    fn tile_places(&self, tile: &TileLayout) -> Result<Places, String> {
        let axes = tile.axes();
        let elements = u32::try_from(self.elements()).map_err(|error| error.to_string())?;
        let at = |places: &[(TileAxis, i64)], axis: TileAxis| {
            places.iter().filter(|(other, _)| *other == axis).map(|(_, at)| at).sum::<i64>()
        };
        let within = |what: i64, size: u64, name: &str| {
            usize::try_from(what)
                .ok()
                .filter(|&at| (at as u64) < size)
                .ok_or_else(|| format!("a picture shows {name} 0 to {}, actual {what}", size - 1))
        };
        let all = |index: u32| {
            let own = tile.place(index.into());
            tile.replicas().into_iter().map(move |copy| [own.clone(), copy].concat())
        };
        if axes.iter().all(|&axis| axis == TileAxis::Memory) {
            let span = u64::try_from(tile.span(TileAxis::Memory)).unwrap_or(0).min(1 << 18);
            let mut memory = vec![None; usize::try_from(span).unwrap_or(0)];
            for index in 0..elements {
                for places in all(index) {
                    memory[within(at(&places, TileAxis::Memory), span, "addresses")?] = Some(index);
                }
            }
            return Ok(Places::Memory(memory));
        }
        if axes.iter().all(|axis| [TileAxis::TLane, TileAxis::TCol].contains(axis)) {
            let columns = u64::try_from(tile.span(TileAxis::TCol)).unwrap_or(0).min(2048);
            let mut memory = vec![vec![None; usize::try_from(columns).unwrap_or(0)]; 128];
            for index in 0..elements {
                for places in all(index) {
                    let row = within(at(&places, TileAxis::TLane), 128, "rows")?;
                    let column = within(at(&places, TileAxis::TCol), columns, "columns")?;
                    memory[row][column] = Some(index);
                }
            }
            return Ok(Places::TensorMemory(memory));
        }
        let threads = [
            (TileAxis::LaneId, 1),
            (TileAxis::ThreadInWarpgroup, 1),
            (TileAxis::Thread, 1),
            (TileAxis::WarpId, 32),
            (TileAxis::WarpInWarpgroup, 32),
            (TileAxis::WarpgroupId, 128),
        ];
        let known = |axis: &TileAxis| {
            *axis == TileAxis::Memory || threads.iter().any(|(other, _)| other == axis)
        };
        if let Some(axis) = axes.iter().find(|axis| !known(axis)) {
            return Err(format!(
                "a picture shows threads of a block, memory, or tensor memory, but not {axis} beside them"
            ));
        }
        let mut holders = Vec::new();
        for index in 0..elements {
            let places = tile.place(index.into());
            let thread = threads.iter().map(|(axis, size)| at(&places, *axis) * size).sum::<i64>();
            let thread = within(thread, 1 << 16, "threads")?;
            let register = within(at(&places, TileAxis::Memory), 1 << 20, "registers")?;
            let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
            holders.push(Some(Holder {
                block: 0,
                warp: small(thread / 32),
                lane: small(thread % 32),
                register: small(register),
            }));
        }
        Ok(Places::Registers { holders, copies: self.copies(), free_lanes: 0, free_warps: 0 })
    }

    /// The bases, where there are such.
    pub fn layout(&self) -> Option<&Layout> {
        match &self.what {
            What::Linear(layout) => Some(layout),
            What::Padded(_) | What::Tile(_) => None,
        }
    }
}

impl Places {
    /// For every element, in words that can be compared, where it is.
    pub fn of_elements(&self, elements: u64) -> Vec<Vec<u64>> {
        let mut places = vec![Vec::new(); usize::try_from(elements).unwrap_or(0)];
        match self {
            Places::Registers { holders, .. } => {
                for (own, holder) in places.iter_mut().zip(holders) {
                    if let Some(Holder { block, warp, lane, register }) = holder {
                        own.extend([block, warp, lane, register].map(|&part| u64::from(part)));
                    }
                }
            }
            Places::Memory(memory) => {
                for (at, index) in memory.iter().enumerate() {
                    if let Some(index) = index {
                        places[*index as usize].push(at as u64);
                    }
                }
            }
            Places::TensorMemory(rows) => {
                for (row, columns) in rows.iter().enumerate() {
                    for (column, index) in columns.iter().enumerate() {
                        if let Some(index) = index {
                            places[*index as usize].extend([row as u64, column as u64]);
                        }
                    }
                }
            }
        }
        places
    }
}

/// A table in pieces of this many columns, a power of two, as fit a line; each piece has the head's columns and the rows' numbers.
fn folded(table: &str) -> String {
    let mut lines = table.lines();
    let (Some(head), Some(columns)) = (lines.next(), lines.next()) else { return table.to_owned() };
    let rows: Vec<&str> = std::iter::once(columns).chain(lines).collect();
    let mut ends = Vec::new();
    for (at, digit) in columns.bytes().enumerate() {
        if digit != b' ' && columns.as_bytes().get(at + 1).is_none_or(|&next| next == b' ') {
            ends.push(at + 1);
        }
    }
    let [first, second, ..] = ends[..] else { return table.to_owned() };
    let cell = second - first;
    let margin = first.saturating_sub(cell);
    let even = rows.iter().all(|row| row.is_ascii() && row.len() == margin + cell * ends.len());
    if !even || columns.len() <= LINE {
        return table.to_owned();
    }
    let most = ((LINE - margin) / cell).max(1);
    let width = cell * (1 << most.ilog2());
    let mut text = format!("{head}\n");
    for from in (margin..columns.len()).step_by(width) {
        if from > margin {
            text.push('\n');
        }
        for row in &rows {
            let to = columns.len().min(from + width);
            let _infallible = writeln!(text, "{}{}", &row[..margin], &row[from..to]);
        }
    }
    text
}

/// Characters of a line of a table.
const LINE: usize = 120;

fn outs(shape: &[u32]) -> Vec<(Dim, u32)> {
    Dim::axes(shape.len()).into_iter().zip(shape.iter().copied()).collect()
}

/// `register [0,1] [0,2]`, the bases in columns.
fn basis_lines(layout: &Layout) -> Vec<String> {
    let width = layout.in_dims().map(|dim| dim.to_string().len()).max().unwrap_or(0);
    let line = |(dim, bases): &(Dim, Vec<Basis>)| {
        let bases: Vec<String> = bases.iter().map(basis_text).collect();
        format!("{:width$} {}", dim.to_string(), bases.join(" ")).trim_end().to_owned()
    };
    layout.ins().iter().map(line).collect()
}

fn copies_of(layout: &Layout) -> u64 {
    // Zero bases and sums that cancel: places that hold what others hold, or nothing.
    let empty = bits_of(layout).filter(|(dim, bit, basis)| is_empty(*dim, *bit, basis)).count();
    1 << (layout.in_bits() - layout.rank() - empty)
}

/// Every input bit with its basis.
fn bits_of(layout: &Layout) -> impl Iterator<Item = (Dim, usize, &Basis)> {
    layout.ins().iter().flat_map(|(dim, bases)| {
        bases.iter().enumerate().map(move |(bit, basis)| (*dim, bit, basis))
    })
}

/// Whether places of memory with this bit hold nothing: its basis is zero, and it is not one that tells warps apart.
fn is_empty(dim: Dim, bit: usize, basis: &Basis) -> bool {
    let memory = match dim {
        Dim::Offset | Dim::Col => true,
        // Rows 32 and 64 of tensor memory are those of other warps, which hold copies.
        Dim::Row => bit < 5,
        Dim::Register | Dim::Lane | Dim::Warp | Dim::Block | Dim::Axis(_) => false,
    };
    memory && basis.iter().all(|&part| part == 0)
}

/// The index of what is at a place of a memory, if it is the tensor's.
fn stored(layout: &Layout, at: &[(Dim, u32)]) -> Option<u32> {
    let unused = at.iter().any(|&(dim, value)| {
        let mut bases = layout.bases(dim).iter().enumerate();
        bases.any(|(bit, basis)| value >> bit & 1 == 1 && is_empty(dim, bit, basis))
    });
    if unused { None } else { u32::try_from(layout.flatten_out(&layout.apply(at))).ok() }
}

fn registers(layout: &Layout) -> Places {
    let matrix = layout.matrix();
    let dims = [Dim::Register, Dim::Lane, Dim::Warp, Dim::Block];
    let holder = |index: u64| {
        let mut bits = matrix.solve(index)?;
        let mut parts = [0; 4];
        for (dim, bases) in layout.ins() {
            let value = bits & ((1 << bases.len()) - 1);
            bits >>= bases.len();
            if let Some(place) = dims.iter().position(|other| other == dim) {
                parts[place] = u32::try_from(value).unwrap_or(0);
            }
        }
        let [register, lane, warp, block] = parts;
        Some(Holder { block, warp, lane, register })
    };
    Places::Registers {
        holders: (0..1_u64 << layout.out_bits()).map(holder).collect(),
        copies: copies_of(layout),
        free_lanes: layout.free_variable_mask(Dim::Lane),
        free_warps: layout.free_variable_mask(Dim::Warp),
    }
}

/// The shape that a layout is written for, if it can be read and says.
pub fn written_for(text: &str, element_bits: u32) -> Option<Vec<u32>> {
    own_shape(&parse_spelled(text, element_bits).ok()?.form)
}

/// The shape that a layout is written for, if it says.
fn own_shape(form: &Form) -> Option<Vec<u32>> {
    let extents = |tile: &TileLayout| {
        tile.shard().iter().map(|iter| u32::try_from(iter.extent).ok()).collect()
    };
    match form {
        Form::Linear(literal) | Form::SharedLinear(literal) => Some(literal.shape()),
        Form::Tile(tile) => extents(tile),
        Form::SwizzledTile(tile) => extents(tile.tile()),
        Form::Blocked { .. }
        | Form::Slice { .. }
        | Form::MmaV2 { .. }
        | Form::Wgmma { .. }
        | Form::DotOperand { .. }
        | Form::Swizzled { .. }
        | Form::NvmmaShared { .. }
        | Form::RowMajor
        | Form::TensorMemory { .. }
        | Form::TensorMemoryScales
        | Form::TensorMemoryLoad { .. }
        | Form::Cluster { .. } => None,
    }
}

/// Where the innermost form that cannot be built is written, and the shape that it is built for.
fn blamed<'p>(
    form: &Form,
    places: &'p layout_form::Places,
    shape: Vec<u32>,
) -> (&'p layout_form::Places, Vec<u32>) {
    let inner = match form {
        Form::Slice { axis, parent } if *axis as usize <= shape.len() => {
            let mut parent_shape = shape.clone();
            parent_shape.insert(*axis as usize, 1);
            Some((parent, parent_shape))
        }
        Form::TensorMemoryLoad { memory, .. } => Some((memory, shape.clone())),
        Form::Slice { .. }
        | Form::DotOperand { .. }
        | Form::Cluster { .. }
        | Form::Blocked { .. }
        | Form::Linear(_)
        | Form::MmaV2 { .. }
        | Form::Wgmma { .. }
        | Form::Swizzled { .. }
        | Form::NvmmaShared { .. }
        | Form::RowMajor
        | Form::SharedLinear(_)
        | Form::TensorMemory { .. }
        | Form::TensorMemoryScales
        | Form::Tile(_)
        | Form::SwizzledTile(_) => None,
    };
    match (inner, places.inner()) {
        (Some((inner, shape)), Some(places)) if inner.to_layout(&shape).is_err() => {
            blamed(inner, places, shape)
        }
        (Some(_) | None, _) => (places, shape),
    }
}

/// A text with a place in it marked, and what is wrong there.
fn marked(text: &str, at: usize, problem: &str) -> String {
    NotationError { text: text.to_owned(), at, problem: problem.to_owned() }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_is_cut_into_pieces_of_whole_columns() {
        let numbers = |from: u32, to: u32| {
            (from..to).map(|n| format!("  {n:>3}")).collect::<Vec<String>>().concat()
        };
        let row = |row: u32, from: u32, to: u32| format!("{row}{}", numbers(100 + from, 100 + to));
        let wide = format!("head\n {}\n{}\n{}\n", numbers(0, 20), row(0, 0, 20), row(1, 0, 20));
        assert_eq!(folded(&wide), wide, "101 characters");
        let wide = format!("head\n {}\n{}\n{}\n", numbers(0, 32), row(0, 0, 32), row(1, 0, 32));
        let piece = |from, to| {
            format!(" {}\n{}\n{}\n", numbers(from, to), row(0, from, to), row(1, from, to))
        };
        assert_eq!(folded(&wide), format!("head\n{}\n{}", piece(0, 16), piece(16, 32)));
    }
}

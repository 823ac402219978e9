//! How layouts are written: the canonical short form, and tables.

use std::fmt::{self, Write};

use crate::layout::Basis;
use crate::{Dim, Layout};

/// The canonical short form: input dimensions with their bases, an arrow, the sizes of the output.
///
/// ```
/// use kernel_layout::forms::blocked;
/// let layout = blocked(&[1, 4], &[32, 1], &[1, 4], &[1, 0], &[1, 64])?;
/// assert_eq!(
///     layout.to_string(),
///     "register [0,1] [0,2] [0,16] [0,32], lane [0,0] [0,0] [0,0] [0,0] [0,0], warp [0,4] [0,8] -> [1, 64]",
/// );
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// Outputs other than tensor axes are named: `-> row 128, col 32`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (dim, bases)) in self.ins().iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            write!(f, "{dim}")?;
            for basis in bases {
                write!(f, " {}", basis_text(basis))?;
            }
        }
        f.write_str(if self.ins().is_empty() { "->" } else { " ->" })?;
        let plain = self.out_dims().eq(Dim::axes(self.outs().len()));
        if plain {
            return write!(f, " {:?}", self.shape());
        }
        for (index, (dim, size)) in self.outs().iter().enumerate() {
            f.write_str(if index == 0 { " " } else { ", " })?;
            write!(f, "{dim} {size}")?;
        }
        Ok(())
    }
}

/// A basis as diagnostics write it: `[1,0]`.
pub fn basis_text(basis: &Basis) -> String {
    let parts: Vec<String> = basis.iter().map(u32::to_string).collect();
    format!("[{}]", parts.join(","))
}

impl Layout {
    /// A table of the tensor: for each element, who holds it.
    ///
    /// Leading axes become separate tables. A cell gives the position in the input dimensions, outermost first,
    /// separated by colons; dimensions of size 1 are left out. An element held more than once shows the position in
    /// which all free bits are 0, followed by `+`; one held nowhere shows `-`.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Register, Dim::Axis(1), 2)
    ///     .product(&Layout::identity(Dim::Lane, Dim::Axis(1), 2))
    ///     .product(&Layout::identity(Dim::Lane, Dim::Axis(0), 2))
    ///     .transpose_outs(&[Dim::Axis(0), Dim::Axis(1)]);
    /// let table = "\
    /// lane:register
    ///      0    1    2    3
    /// 0  0:0  0:1  1:0  1:1
    /// 1  2:0  2:1  3:0  3:1
    /// ";
    /// assert_eq!(layout.to_table(), table);
    /// ```
    pub fn to_table(&self) -> String {
        let dims: Vec<usize> =
            (0..self.ins().len()).rev().filter(|&index| !self.ins()[index].1.is_empty()).collect();
        let names: Vec<String> =
            dims.iter().map(|&index| self.ins()[index].0.to_string()).collect();
        let mut text = if names.is_empty() {
            String::from("one element\n")
        } else {
            format!("{}\n", names.join(":"))
        };
        let matrix = self.matrix();
        let more = if self.is_injective() { "" } else { "+" };
        let cell = |index: u64| {
            matrix.solve(index).map_or_else(
                || "-".to_owned(),
                |input| {
                    let position = self.unflatten_in(input);
                    let parts: Vec<String> =
                        dims.iter().map(|&dim| position[dim].to_string()).collect();
                    format!("{}{more}", parts.join(":"))
                },
            )
        };
        let columns = u64::from(self.outs().last().map_or(1, |&(_, size)| size));
        let rows = u64::from(self.outs().iter().rev().nth(1).map_or(1, |&(_, size)| size));
        let pages = (1_u64 << self.out_bits()) / (rows * columns);
        for page in 0..pages {
            let cells: Vec<Vec<String>> = (0..rows)
                .map(|row| {
                    (0..columns)
                        .map(|column| cell((page * rows + row) * columns + column))
                        .collect()
                })
                .collect();
            if pages > 1 {
                let at = self.unflatten_out(page * rows * columns);
                let _infallible = writeln!(text, "{}", basis_text(&at[..at.len() - 2].to_vec()));
            }
            write_grid(&mut text, &cells);
        }
        text
    }
}

/// A grid with row and column numbers, every column as wide as the widest cell.
fn write_grid(text: &mut String, cells: &[Vec<String>]) {
    let columns = cells.first().map_or(0, Vec::len);
    let width = cells
        .iter()
        .flatten()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max((columns.max(1) - 1).to_string().len());
    let margin = (cells.len().max(1) - 1).to_string().len();
    let mut line = " ".repeat(margin);
    for column in 0..columns {
        let _infallible = write!(line, "  {column:>width$}");
    }
    text.push_str(&line);
    text.push('\n');
    for (row, cells) in cells.iter().enumerate() {
        let mut line = format!("{row:>margin$}");
        for cell in cells {
            let _infallible = write!(line, "  {cell:>width$}");
        }
        text.push_str(&line);
        text.push('\n');
    }
}

//! Two layouts of one tensor compared: the first difference, in words.

use kernel_layout::tile::TileAxis;
use kernel_layout::{Dim, Layout, basis_text};

use super::{Places, Shown, What, outs};

impl Shown {
    /// The first difference from another layout of the same tensor, in words; nothing when they mean the same.
    ///
    /// # Errors
    /// When they are of different tensors.
    pub fn difference(&self, other: &Shown) -> Result<Option<String>, String> {
        if self.shape != other.shape {
            return Err(format!(
                "required layouts of one tensor, actual shapes {:?} and {:?}",
                self.shape, other.shape
            ));
        }
        let (first, second) = (self.memory(), other.memory());
        if first != second {
            return Ok(Some(format!(
                "first difference: the first is a layout of {first}, the second one of {second}"
            )));
        }
        if let (Some(first), Some(second)) = (self.layout(), other.layout()) {
            return Ok(difference_of_bases(first, second));
        }
        if self.page() == other.page() {
            return Ok(None);
        }
        let (first, second) = (self.places()?, other.places()?);
        let (of_first, of_second) =
            (first.of_elements(self.elements()), second.of_elements(self.elements()));
        let at = of_first.iter().zip(&of_second).position(|(a, b)| a != b);
        Ok(at.map(|index| {
            let (a, b) = (first.words(&of_first[index]), second.words(&of_second[index]));
            let target = Layout::new(Vec::new(), outs(&self.shape)).ok();
            let index = u64::try_from(index).unwrap_or(0);
            let element = target.map_or_else(
                || format!("with index {index}"),
                |target| basis_text(&target.unflatten_out(index)),
            );
            format!("first difference: element {element}\n  first   {a}\n  second  {b}")
        }))
    }

    /// What the places are of.
    fn memory(&self) -> &'static str {
        let [registers, shared, tensor] = ["registers", "shared memory", "tensor memory"];
        match &self.what {
            What::Linear(layout) if layout.has_in(Dim::Offset) => shared,
            What::Linear(layout) if layout.has_in(Dim::Row) || layout.has_in(Dim::Col) => tensor,
            What::Linear(_) => registers,
            What::Padded(_) => shared,
            What::Tile(tile) => {
                let axes = tile.axes();
                if axes.iter().any(|axis| axis.is_thread()) {
                    registers
                } else if axes.iter().any(|axis| [TileAxis::TLane, TileAxis::TCol].contains(axis)) {
                    tensor
                } else {
                    shared
                }
            }
        }
    }
}

impl Places {
    /// A place as [`Places::of_elements`] has it, in words.
    fn words(&self, place: &[u64]) -> String {
        let texts: Vec<String> = match self {
            Places::Registers { .. } => {
                let text = |holder: &[u64]| match holder {
                    [0, warp, lane, register] => {
                        format!("warp {warp}, lane {lane}, register {register}")
                    }
                    [block, warp, lane, register] => {
                        format!("block {block}, warp {warp}, lane {lane}, register {register}")
                    }
                    _ => unreachable!("holders have four numbers"),
                };
                place.chunks(4).map(text).collect()
            }
            Places::Memory(_) => place.iter().map(|at| format!("address {at}")).collect(),
            Places::TensorMemory(_) => {
                let text = |cell: &[u64]| format!("row {}, column {}", cell[0], cell[1]);
                place.chunks(2).map(text).collect()
            }
        };
        if texts.is_empty() { "nowhere".to_owned() } else { texts.join(" and ") }
    }
}

/// The first basis that differs, in two lines with a mark below.
fn difference_of_bases(first: &Layout, second: &Layout) -> Option<String> {
    let mismatch = first.mismatch(second)?;
    let line = |layout: &Layout| {
        let bases: Vec<String> = layout.bases(mismatch.dim).iter().map(basis_text).collect();
        if bases.is_empty() { "none".to_owned() } else { bases.join(" ") }
    };
    let before: usize = first
        .bases(mismatch.dim)
        .iter()
        .take(mismatch.bit)
        .map(|basis| basis_text(basis).len() + 1)
        .sum();
    Some(format!(
        "first difference: {} basis {}\n  first   {}\n  second  {}\n          {}^",
        mismatch.dim,
        mismatch.bit,
        line(first),
        line(second),
        " ".repeat(before)
    ))
}

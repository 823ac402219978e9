//! What a dump of layouts says: the layouts of tiles line by line of the source, and what conversions cost.

use std::fmt::Write as _;

use kernel_layout::Dim;

use super::bases;

/// Conversions, or reductions and scans, by what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Conversions that move nothing; reductions and scans within threads.
    pub free: usize,
    /// Those that select among the registers of a thread.
    pub selected: usize,
    /// Those that exchange values between the lanes of a warp.
    pub shuffles: usize,
    /// Those through shared memory.
    pub shared: usize,
    /// The most shared memory that one of them takes.
    pub bytes: u64,
    /// Bank conflicts of a warp, those of all of them together.
    pub conflicts: u64,
}

impl Tally {
    /// How many there are.
    pub fn all(&self) -> usize {
        self.free + self.selected + self.shuffles + self.shared
    }

    fn count(&mut self, cost: &str) {
        if let Some(shared) = cost.strip_prefix("shared memory, ") {
            self.shared += 1;
            let mut parts = shared.split(", ");
            self.bytes = self.bytes.max(parts.next().and_then(number).unwrap_or(0));
            self.conflicts += parts.next().and_then(number).unwrap_or(0);
        } else if cost.starts_with("shuffle") || cost == "between lanes" {
            self.shuffles += 1;
        } else if cost.starts_with("registers selected") {
            self.selected += 1;
        } else {
            self.free += 1;
        }
    }

    /// The number of all, that of the free ones, of those by shuffles, and what passes through shared memory.
    fn parts(&self) -> (usize, usize, usize, String) {
        let Tally { free, shuffles, shared, bytes, conflicts, selected: _ } = self;
        let conflicts = conflicts_text(*conflicts);
        let through = match shared {
            0 => String::new(),
            _ => format!(", {shared} through shared memory (at most {bytes} bytes, {conflicts})"),
        };
        (self.all(), *free, *shuffles, through)
    }

    /// A sentence about conversions.
    pub fn conversions(&self) -> String {
        match self.parts() {
            (0, ..) => "no conversion".to_owned(),
            (all, free, shuffles, through) => {
                let selected = match self.selected {
                    0 => String::new(),
                    count => format!("{count} by selecting registers, "),
                };
                let noun = if all == 1 { "conversion" } else { "conversions" };
                format!("{all} {noun}: {free} free, {selected}{shuffles} by shuffles{through}")
            }
        }
    }

    /// The same of reductions and scans; nothing where there are none.
    fn crossings(&self) -> String {
        match self.parts() {
            (0, ..) => String::new(),
            (all, threads, lanes, through) => {
                let noun = if all == 1 { "reduction or scan" } else { "reductions and scans" };
                format!(
                    "  {all} {noun}: {threads} within threads, {lanes} between lanes{through}\n"
                )
            }
        }
    }
}

/// The number with which a text begins.
fn number(text: &str) -> Option<u64> {
    text.split(' ').next().and_then(|word| word.parse().ok())
}

fn conflicts_text(conflicts: u64) -> String {
    match conflicts {
        0 => "no bank conflicts".to_owned(),
        1 => "1 bank conflict a warp".to_owned(),
        count => format!("{count} bank conflicts a warp"),
    }
}

/// The reads and writes of shared memory that a kernel asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// How many there are.
    pub count: usize,
    /// Bank conflicts of a warp, those of all of them together.
    pub conflicts: u64,
}

impl Accesses {
    fn text(&self) -> String {
        let (count, conflicts) = (self.count, conflicts_text(self.conflicts));
        match count {
            0 => String::new(),
            1 => format!("  1 read or write of shared memory: {conflicts}\n"),
            _ => format!("  {count} reads and writes of shared memory: {conflicts}\n"),
        }
    }
}

/// The bits of an element of shared memory: those in the name of a number, 8 of a truth value and of the narrow floats.
pub(super) fn element_bits(name: &str) -> u64 {
    let digits = ["bf", "f", "i", "u"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(8)
}

/// A statement that makes or takes a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the source.
    pub line: u32,
    /// The statement, with the number of each layout.
    pub statement: String,
    /// What it costs a warp; empty where nothing is said.
    pub cost: String,
}

/// A dump of layouts, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// The kernel.
    pub kernel: String,
    /// The target, the warps and the allocations of shared memory, a line each.
    pub head: Vec<String>,
    /// Each layout: its number, as in `L0`, and its bases.
    pub legend: Vec<(String, String)>,
    /// Statements about tiles, in the order of the program.
    pub rows: Vec<Row>,
    /// What conversions cost.
    pub conversions: Tally,
    /// What reductions and scans cost.
    pub crossings: Tally,
    /// Reads and writes of shared memory.
    pub accesses: Accesses,
}

impl Dumped {
    /// Takes a dump of layouts apart.
    ///
    /// # Errors
    /// When the text is not what `KILN_DUMP` leaves.
    pub fn read(dump: &str) -> Result<Dumped, String> {
        let mut read = Dumped::default();
        let mut kernel = None;
        for line in dump.lines() {
            let line = line.trim();
            let (statement, note) = line.split_once("  // ").unwrap_or((line, ""));
            let (place, cost) = note.split_once(": ").unwrap_or((note, ""));
            let at = place.strip_prefix("line ");
            if line.starts_with('L')
                && kernel.is_none()
                && let Some((number, layout)) = line.split_once(" = ")
            {
                read.legend.push((number.to_owned(), layout.to_owned()));
            } else if let Some(named) = line.strip_prefix("kernel ") {
                kernel = Some(named.split('(').next().unwrap_or(named).to_owned());
            } else if line.starts_with("shared @") || line.starts_with("target ") {
                read.head.push(line.to_owned());
            } else if let Some(line) = at {
                // What a loop carries and a reduction results in stands before its region.
                read.add(line.parse().unwrap_or(0), statement.trim_end_matches(" {"), cost);
            }
        }
        read.kernel = kernel.ok_or("this is no dump of layouts: it has no line `kernel ..`")?;
        let last = dump.trim_end().lines().next_back().unwrap_or_default();
        if last != "}" {
            return Err(format!(
                "this is a part of a dump of layouts: required `}}` as its last line, actual `{last}`"
            ));
        }
        Ok(read)
    }

    /// Bytes of the allocations of shared memory, one after the other as they are placed; barriers and scratch come after them.
    pub fn allocated(&self) -> u64 {
        self.head.iter().filter_map(|line| line.strip_prefix("shared @")).fold(0, |end, line| {
            let Some((alignment, bytes)) = self.allocation(line) else { return end };
            end.next_multiple_of(alignment).saturating_add(bytes)
        })
    }

    /// The alignment and the bytes of `tile0 : f16[4, 128, 64] in L0`: leading axes count tiles of the layout.
    fn allocation(&self, line: &str) -> Option<(u64, u64)> {
        /// A tile is aligned to its size, from this on up to a swizzle of 128 bytes.
        const LEAST: u64 = 128;
        const MOST: u64 = 1024;
        let (_, ty) = line.split_once(" : ")?;
        let (element, shape) = ty.split_once('[')?;
        let (shape, rest) = shape.split_once(']')?;
        let layout = rest.trim().strip_prefix("in ")?.split(' ').next()?;
        let layout = bases::layout(&self.legend.iter().find(|(name, _)| name == layout)?.1).ok()?;
        let shape: Vec<u64> = shape.split(", ").map(str::parse).collect::<Result<_, _>>().ok()?;
        let tiles = shape.len().checked_sub(layout.outs().len())?;
        let tiles = shape[..tiles].iter().try_fold(1_u64, |all, &one| all.checked_mul(one))?;
        let tile = u64::from(layout.in_size(Dim::Offset)) * element_bits(element) / 8;
        Some((tile.clamp(LEAST, MOST), tile.checked_mul(tiles)?.next_multiple_of(LEAST)))
    }

    fn add(&mut self, line: u32, statement: &str, cost: &str) {
        let (statement, cost) = (statement.to_owned(), cost.to_owned());
        if statement.starts_with("store_shared ") || statement.contains(" = load_shared ") {
            self.accesses.count += 1;
            self.accesses.conflicts += number(&cost).unwrap_or(0);
        } else if !cost.is_empty() {
            let crosses = statement.starts_with("reduce ") || statement.starts_with("scan ");
            if crosses { &mut self.crossings } else { &mut self.conversions }.count(&cost);
        }
        self.rows.push(Row { line, statement, cost });
    }
}

/// Tells a dump of layouts: for each line of the source the tiles and their layouts, those that loops carry and branches pass
/// among them, and what each conversion, reduction, scan and access of shared memory costs.
///
/// ```
/// let dump = "\
/// L0 = register [1], lane [2] [4] [8] [16] [32], warp -> [64]
/// kernel twice(x: tensor_mut<f32, 1>)
///   target sm_80, warps 1
/// {
///   %0 = const 0 : i32
///   %1 = load_tensor x [%0] : f32[64] in L0  // line 4
///   %2 = add %1, %1 : f32[64] in L0  // line 5
///   store_tensor x [%0] %2  // line 5
///   return
/// }
/// ";
/// let text = kiln_cli::inspect::layouts(dump)?;
/// assert!(text.contains("   4  %1 = load_tensor x [%0] : f32[64] in L0\n"));
/// assert!(text.contains("no conversion\n"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// When the text is not what `KILN_DUMP` leaves.
pub fn layouts(dump: &str) -> Result<String, String> {
    let dump = Dumped::read(dump)?;
    let infallible = "a String takes everything";
    let mut text = format!("{}\n", dump.kernel);
    for line in &dump.head {
        writeln!(text, "  {line}").expect(infallible);
    }
    for (number, layout) in &dump.legend {
        writeln!(text, "  {number} = {layout}").expect(infallible);
    }
    writeln!(text, "  line  tile").expect(infallible);
    for Row { line, statement, cost } in &dump.rows {
        let arrow = if cost.is_empty() { "" } else { "  <- " };
        writeln!(text, "{line:>6}  {statement}{arrow}{cost}").expect(infallible);
    }
    let (conversions, crossings) = (dump.conversions.conversions(), dump.crossings.crossings());
    let accesses = dump.accesses.text();
    Ok(format!("{text}  {conversions}\n{crossings}{accesses}"))
}

#[cfg(test)]
mod tests {
    use super::{Dumped, layouts};

    const DUMP: &str = "\
L0 = register [0,1] -> [2]
L1 = offset [1] -> [2]
kernel turn(x: tensor<f32, 2>, out: tensor_mut<f32, 2>)
  target sm_80, warps 4
  fact x is aligned to 16 bytes
  shared @tile0 : f32[64, 64] in L1
{
  %0 = const 0 : i32
  %1 = load_tensor x [%0, %0] : f32[64, 64] in L0  // line 7
  %2 = to_layout %1 : f32[64, 64] in L1  // line 8: shared memory, 16384 bytes, no bank conflicts
  for %3 in (%0, %0, %0) carry (%7 = %2 : f32[64, 64] in L0) -> (%8 : f32[64, 64] in L0) {  // line 8
    %4 = to_layout %2 : f32[64, 64] in L0  // line 9: shared memory, 8192 bytes, 12 bank conflicts a warp
    %5 = to_layout %4 mma([2, 2]) : f32[64, 64] in L0  // line 10: shuffle, 8 a warp
    %6 = to_layout %4 : f32[64, 64] in L0  // line 11: free
    %19 = to_layout %6 : f32[64, 64] in L0  // line 11: registers selected, no shuffle
    store_shared %17 %6  // line 11: 12 bank conflicts a warp
    %18 = load_shared %17 : f32[64, 64] in L0  // line 11: no bank conflicts
    continue (%6)
  }
  scan 0 (%8) by (%9 : f32, %10 : f32) -> (%11 : f32[64, 64] in L0) {  // line 12: shared memory, 8192 bytes, 3 bank conflicts a warp
    %12 = add %9, %10 : f32
    yield (%12)
  }
  reduce 1 (%11) by (%13 : f32, %14 : f32) -> (%15 : f32[64] in L0) {  // line 13: between lanes
    %16 = add %13, %14 : f32
    yield (%16)
  }
}
";

    #[test]
    fn tiles_are_listed_by_line_and_conversions_are_counted() {
        let text = layouts(DUMP).expect("a dump");
        let required = "\
turn
  target sm_80, warps 4
  shared @tile0 : f32[64, 64] in L1
  L0 = register [0,1] -> [2]
  L1 = offset [1] -> [2]
  line  tile
     7  %1 = load_tensor x [%0, %0] : f32[64, 64] in L0
     8  %2 = to_layout %1 : f32[64, 64] in L1  <- shared memory, 16384 bytes, no bank conflicts
     8  for %3 in (%0, %0, %0) carry (%7 = %2 : f32[64, 64] in L0) -> (%8 : f32[64, 64] in L0)
     9  %4 = to_layout %2 : f32[64, 64] in L0  <- shared memory, 8192 bytes, 12 bank conflicts a warp
    10  %5 = to_layout %4 mma([2, 2]) : f32[64, 64] in L0  <- shuffle, 8 a warp
    11  %6 = to_layout %4 : f32[64, 64] in L0  <- free
    11  %19 = to_layout %6 : f32[64, 64] in L0  <- registers selected, no shuffle
    11  store_shared %17 %6  <- 12 bank conflicts a warp
    11  %18 = load_shared %17 : f32[64, 64] in L0  <- no bank conflicts
    12  scan 0 (%8) by (%9 : f32, %10 : f32) -> (%11 : f32[64, 64] in L0)  <- shared memory, 8192 bytes, 3 bank conflicts a warp
    13  reduce 1 (%11) by (%13 : f32, %14 : f32) -> (%15 : f32[64] in L0)  <- between lanes
  5 conversions: 1 free, 1 by selecting registers, 1 by shuffles, 2 through shared memory (at most 16384 bytes, 12 bank conflicts a warp)
  2 reductions and scans: 0 within threads, 1 between lanes, 1 through shared memory (at most 8192 bytes, 3 bank conflicts a warp)
  2 reads and writes of shared memory: 12 bank conflicts a warp
";
        assert_eq!(text, required);
    }

    #[test]
    fn allocations_are_placed_one_after_the_other() {
        // 3 tiles of 8 by 8 halves are 384 bytes; 2 by 16 floats begin there and are 128 bytes.
        let dump = "\
L0 = offset [0,1] [0,2] [0,4] [1,0] [2,0] [4,0] -> [8, 8]
L1 = offset [0,1] [0,2] [0,4] [0,8] [1,0] -> [2, 16]
kernel k()
  target sm_80, warps 1
  shared @tile0 : f16[3, 8, 8] in L0
  shared @tile1 : f32[2, 16] in L1 pinned row_major()
{
}
";
        assert_eq!(Dumped::read(dump).map(|dump| dump.allocated()), Ok(384 + 128));
    }

    #[test]
    fn other_files_and_parts_of_dumps_are_refused() {
        assert!(layouts(".version 8.7\n").is_err());
        assert!(layouts(&DUMP[..DUMP.len() - 3]).is_err());
    }

    #[test]
    fn one_conversion_is_not_several() {
        let conversion = "  %2 = to_layout %1 : f32[64, 64] in L1  // line 8: free";
        let reduction = "  reduce 1 (%2) by (%3 : f32, %4 : f32) -> (%5 : f32[64] in L0) {  // line 9: between lanes";
        let text =
            layouts(&format!("kernel k()\n{conversion}\n{reduction}\n}}\n")).expect("a dump");
        assert!(text.contains("  1 conversion: 1 free, 0 by shuffles\n"), "{text}");
        assert!(
            text.contains("  1 reduction or scan: 0 within threads, 1 between lanes\n"),
            "{text}"
        );
    }
}

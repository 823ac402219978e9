//! `kiln inspect`: what a dump says, about layouts line by line of the source, and about order.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What of a dump is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The layouts of tiles, and what conversions cost.
    Layouts,
    /// What is known of the order of accesses, before the kernel runs.
    Order,
}

impl Shown {
    /// The ending of the files in which `KILN_DUMP` leaves it.
    const fn ending(self) -> &'static str {
        match self {
            Shown::Layouts => "layouts",
            Shown::Order => "order",
        }
    }

    /// Tells a dump, which ends in a line feed.
    ///
    /// # Errors
    /// When the text is not what `KILN_DUMP` leaves.
    pub fn tell(self, dump: &str) -> Result<String, String> {
        match self {
            Shown::Layouts => layouts(dump),
            Shown::Order => Ok(format!("{}\n", dump.trim_end())),
        }
    }
}

/// The files of a folder that hold it, sorted, or the file itself.
///
/// # Errors
/// When the path cannot be read, or has no such file.
pub fn files(path: &Path, shown: Shown) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let ending = shown.ending();
    let shown = path.display();
    let entries = std::fs::read_dir(path).map_err(|error| format!("{shown}: {error}"))?;
    let mut found = Vec::new();
    for entry in entries {
        let file = entry.map_err(|error| format!("{shown}: {error}"))?.path();
        if file.extension().is_some_and(|found| found == ending) {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(format!(
            "{shown}: no file ends in .{ending}; `KILN_DUMP={shown} cargo build` writes them for what it compiles"
        ));
    }
    Ok(found)
}

/// Conversions, or reductions and scans, by what they cost.
#[derive(Default)]
struct Tally {
    free: usize,
    selected: usize,
    shuffles: usize,
    shared: usize,
    bytes: u64,
    conflicts: u64,
}

impl Tally {
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
        let Tally { free, selected, shuffles, shared, bytes, conflicts } = self;
        let all = free + selected + shuffles + shared;
        let conflicts = conflicts_text(*conflicts);
        let through = match shared {
            0 => String::new(),
            _ => format!(", {shared} through shared memory (at most {bytes} bytes, {conflicts})"),
        };
        (all, *free, *shuffles, through)
    }

    fn conversions(&self) -> String {
        match self.parts() {
            (0, ..) => "no conversion".to_owned(),
            (all, free, shuffles, through) => {
                let selected = match self.selected {
                    0 => String::new(),
                    count => format!("{count} by selecting registers, "),
                };
                format!("{all} conversions: {free} free, {selected}{shuffles} by shuffles{through}")
            }
        }
    }

    /// The same of reductions and scans; nothing where there are none.
    fn crossings(&self) -> String {
        match self.parts() {
            (0, ..) => String::new(),
            (all, threads, lanes, through) => format!(
                "  {all} reductions and scans: {threads} within threads, {lanes} between lanes{through}\n"
            ),
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
#[derive(Default)]
struct Accesses {
    count: usize,
    conflicts: u64,
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
    let mut kernel = None;
    let (mut head, mut body, mut legend) = (String::new(), String::new(), String::new());
    let (mut conversions, mut crossings) = (Tally::default(), Tally::default());
    let mut accesses = Accesses::default();
    for line in dump.lines() {
        let line = line.trim();
        let (statement, note) = line.split_once("  // ").unwrap_or((line, ""));
        let (place, cost) = note.split_once(": ").unwrap_or((note, ""));
        let at = place.strip_prefix("line ");
        let infallible = "a String takes everything";
        if line.starts_with('L') && line.contains(" = ") && kernel.is_none() {
            writeln!(legend, "  {line}").expect(infallible);
        } else if let Some(named) = line.strip_prefix("kernel ") {
            kernel = Some(named.split('(').next().unwrap_or(named).to_owned());
        } else if line.starts_with("shared @") || line.starts_with("target ") {
            writeln!(head, "  {line}").expect(infallible);
        } else if let Some(line) = at {
            let arrow = if cost.is_empty() { "" } else { "  <- " };
            // What a loop carries and a reduction results in stands before its region.
            let statement = statement.trim_end_matches(" {");
            writeln!(body, "{line:>6}  {statement}{arrow}{cost}").expect(infallible);
            if statement.starts_with("store_shared ") || statement.contains(" = load_shared ") {
                accesses.count += 1;
                accesses.conflicts += number(cost).unwrap_or(0);
            } else if !cost.is_empty() {
                let crosses = statement.starts_with("reduce ") || statement.starts_with("scan ");
                if crosses { &mut crossings } else { &mut conversions }.count(cost);
            }
        }
    }
    let kernel = kernel.ok_or("this is no dump of layouts: it has no line `kernel ..`")?;
    let (conversions, crossings) = (conversions.conversions(), crossings.crossings());
    let accesses = accesses.text();
    Ok(format!(
        "{kernel}\n{head}{legend}  line  tile\n{body}  {conversions}\n{crossings}{accesses}"
    ))
}

#[cfg(test)]
mod tests {
    use super::layouts;

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
    fn other_files_are_refused() {
        assert!(layouts(".version 8.7\n").is_err());
    }
}

//! What a kernel has said: read from the memory of its launch, put in order and written.

use crate::{
    Error, Image, Result, Stream,
    back_end::Readable,
    image::{ReportText, Reports, Values},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// Bytes of the two counters.
const COUNTERS: usize = 16;
/// Bytes of a slot before the values.
const HEAD: usize = 24;

/// The memory for what one launch says.
pub(super) struct Said {
    reports: &'static Reports,
    memory: Readable,
}

/// A slot that is complete.
struct Record<'a> {
    report: &'static ReportText,
    number: u32,
    element: u32,
    block: [u32; 3],
    thread: u32,
    values: Values<'a>,
}

impl Said {
    /// The memory for a launch, if the kernel says anything. Recorded work says nothing: nobody reads what each of its launches leaves.
    pub(super) fn of(image: &'static Image, stream: &Stream) -> Result<Option<Self>> {
        let Some(reports) = &image.reports else { return Ok(None) };
        if stream.recording().is_some() || stream.queue().is_recorded()? {
            return Ok(None);
        }
        let slots = reports.prints as usize + reports.assertions as usize;
        let bytes = COUNTERS + slots * reports.slot_bytes as usize;
        let memory = stream.queue().readable(stream.device(), bytes)?;
        Ok(Some(Self { reports, memory }))
    }

    /// The address that the kernel gets.
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Writes what was printed, once the kernel has ended as `ended` says. A failed assertion is the error.
    pub(super) fn tell(self, image: &'static Image, ended: Result<()>) -> Result<()> {
        let bytes = match self.memory.bytes() {
            Ok(bytes) => bytes,
            // The device has failed in a way that left nothing to read.
            Err(error) => return ended.and(Err(error)),
        };
        let printed = printed(image, self.reports, &bytes);
        if !printed.is_empty() {
            #[expect(clippy::print_stdout, reason = "the kernel prints")]
            {
                print!("{printed}");
            }
        }
        ended.map_err(|cause| failed(image, self.reports, &bytes, cause))
    }
}

/// A number of 32 bits, 0 past the end.
fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
    u32::from_le_bytes(word.unwrap_or_default())
}

/// A counter: how many slots were asked for.
fn counted(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

/// The slots from `first` on that are complete.
fn records<'a>(
    reports: &'static Reports,
    bytes: &'a [u8],
    first: u32,
    count: u64,
) -> impl Iterator<Item = Record<'a>> {
    let size = reports.slot_bytes as usize;
    let slots = bytes.get(COUNTERS..).unwrap_or_default().chunks_exact(size);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    slots.skip(first as usize).take(count).filter_map(|slot| {
        let number = word(slot, 0).checked_sub(1)?;
        let report = reports.all.get(number as usize)?;
        let block = [8, 12, 16].map(|at| word(slot, at));
        let thread = word(slot, 20);
        let values = Values(slot.get(HEAD..).unwrap_or_default());
        Some(Record { report, number, element: word(slot, 4), block, thread, values })
    })
}

/// A print as often as a block came by: the number of the report, and how many times before.
type Run = (u32, u32);

/// The runs of the prints of one block.
#[derive(Default)]
struct Block {
    /// The runs, with the index of the first record of each.
    begun: BTreeMap<Run, usize>,
    /// The last run of each thread so far.
    last: BTreeMap<u32, Run>,
    /// The runs that come after a run, for one thread at least.
    after: BTreeMap<Run, BTreeSet<Run>>,
}

impl Block {
    fn note(&mut self, run: Run, thread: u32, index: usize) {
        self.begun.entry(run).or_insert(index);
        if let Some(before) = self.last.insert(thread, run).filter(|before| *before != run) {
            self.after.entry(before).or_default().insert(run);
        }
    }

    /// The runs in the order of the program as far as one thread has come by two of them, else in the order in which they began.
    fn places(&self) -> BTreeMap<Run, usize> {
        let mut waits: BTreeMap<Run, usize> = BTreeMap::new();
        for run in self.after.values().flatten() {
            *waits.entry(*run).or_default() += 1;
        }
        let mut left: BTreeSet<(usize, Run)> =
            self.begun.iter().map(|(run, index)| (*index, *run)).collect();
        let free = |waits: &BTreeMap<Run, usize>, run: &Run| waits.get(run).is_none_or(|n| *n == 0);
        let mut ready: BTreeSet<(usize, Run)> =
            left.iter().filter(|(_, run)| free(&waits, run)).copied().collect();
        let mut places = BTreeMap::new();
        // If two threads disagree, the run that began first goes on.
        while let Some(next) = ready.pop_first().or_else(|| left.first().copied()) {
            if !left.remove(&next) {
                continue;
            }
            places.insert(next.1, places.len());
            for run in self.after.get(&next.1).into_iter().flatten() {
                let count = waits.entry(*run).or_default();
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.extend(self.begun.get(run).map(|index| (*index, *run)));
                }
            }
        }
        places
    }
}

/// The texts of the prints: those of a block together, in the order of the program as far as it shows; of one print the elements
/// in row-major order.
fn printed(image: &Image, reports: &'static Reports, bytes: &[u8]) -> String {
    let asked = counted(bytes, 0);
    let room = u64::from(reports.prints);
    let mut runs = BTreeMap::new();
    let mut blocks: BTreeMap<[u32; 3], Block> = BTreeMap::new();
    let mut lines = Vec::new();
    for (index, record) in records(reports, bytes, 0, asked.min(room)).enumerate() {
        let [x, y, z] = record.block;
        let block = [z, y, x];
        // The threads of a block come by a print equally often: of each element there is one record a run.
        let run = runs.entry((block, record.number, record.element)).or_insert(0u32);
        *run += 1;
        let run = (record.number, *run);
        blocks.entry(block).or_default().note(run, record.thread, index);
        lines.push((block, run, record));
    }
    let places: BTreeMap<_, _> =
        blocks.iter().map(|(block, of_block)| (*block, of_block.places())).collect();
    let place =
        |block: &[u32; 3], run: &Run| places.get(block).and_then(|all| all.get(run)).copied();
    lines.sort_by_key(|(block, run, record)| (*block, place(block, run), record.element));
    let mut text = String::new();
    for (_, _, record) in &lines {
        if let Some(index) = index(record.report.shape, record.element) {
            let _ = write!(text, "{index} ");
        }
        // Writing to a `String` does not fail.
        let _ = (record.report.write)(&record.values, &mut text);
    }
    if asked > room {
        let left = asked - room;
        let _ = writeln!(text, "kiln: {left} more texts of `{}` found no room", image.kernel);
    }
    text
}

/// `[3, 5]`: the index of an element of a tile of this shape; nothing without a tile.
fn index(shape: &[u32], element: u32) -> Option<String> {
    let mut rest = element;
    let mut index: Vec<u32> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let at = rest % extent.max(1);
            rest /= extent.max(1);
            at
        })
        .collect();
    index.reverse();
    (!shape.is_empty()).then(|| format!("{index:?}"))
}

/// The error of a launch that failed: that of the assertion, if one did.
fn failed(image: &Image, reports: &'static Reports, bytes: &[u8], cause: Error) -> Error {
    let asked = counted(bytes, 8).min(u64::from(reports.assertions));
    let Some(record) = records(reports, bytes, reports.prints, asked).next() else {
        return cause;
    };
    let mut text = String::new();
    let _ = (record.report.write)(&record.values, &mut text);
    Error::Assertion {
        kernel: image.kernel,
        condition: record.report.condition.unwrap_or_default(),
        place: record.report.place,
        block: record.block,
        text: text.into(),
        cause: Box::new(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Run};

    /// The runs in their order, of records with a run and a thread.
    fn order(records: &[(Run, u32)]) -> Vec<Run> {
        let mut block = Block::default();
        for (index, (run, thread)) in records.iter().enumerate() {
            block.note(*run, *thread, index);
        }
        let mut places: Vec<_> = block.places().into_iter().collect();
        places.sort_by_key(|(_, place)| *place);
        places.into_iter().map(|(run, _)| run).collect()
    }

    #[test]
    fn a_thread_that_comes_by_two_prints_says_which_is_first() {
        // The second warp is ahead: it has no element of the first print.
        assert_eq!(order(&[((1, 1), 32), ((0, 1), 0), ((1, 1), 0)]), [(0, 1), (1, 1)]);
        // Nobody comes by both.
        assert_eq!(order(&[((1, 1), 32), ((0, 1), 0)]), [(1, 1), (0, 1)]);
    }

    #[test]
    fn iterations_alternate() {
        let records = [((0, 1), 0), ((0, 2), 32), ((1, 1), 0), ((0, 2), 0), ((1, 2), 0)];
        assert_eq!(order(&records), [(0, 1), (1, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn threads_that_disagree_do_not_end_the_program() {
        let records = [((0, 1), 0), ((1, 1), 0), ((1, 1), 1), ((0, 1), 1), ((2, 1), 1)];
        assert_eq!(order(&records), [(0, 1), (1, 1), (2, 1)]);
    }
}

//! The records of a launch: how its memory is divided, and what stands there.
//!
//! Each warp of a recorded block has 16 bytes for its head and 16 for each record, one after the other: `kernel-core/src/lower/stamp.rs`
//! says what the code writes.

/// Words of a head, whose first one is the number of stamps if some found no room.
pub(super) const HEAD_WORDS: usize = 4;
/// Words of a record: the clock, low and high; the timer's low half; the stamp plus 1, and the multiprocessor.
pub(super) const RECORD_WORDS: usize = 4;
/// Records of a launch, about.
const MOST_RECORDS: u64 = 1 << 19;
/// Records that a warp has room for, if the number of blocks is chosen by that.
const USUAL_RECORDS: u64 = 1024;
/// Records that a warp has room for in any case, and at most.
const LEAST_OF_WARP: u64 = 8;
const MOST_OF_WARP: u64 = 1 << 16;

/// How the memory of a launch is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The first block that is recorded.
    pub(super) first: u32,
    /// How many are.
    pub(super) blocks: u32,
    /// Warps of a block.
    pub(super) warps: u32,
    /// Records of a warp.
    pub(super) records: u32,
    /// Blocks of the grid.
    pub(super) of: u64,
}

impl Room {
    /// For a grid of so many blocks: those that are asked for, else the first ones, as many as have room for about a thousand stamps of each
    /// warp.
    pub(super) fn new(of: u64, warps: u32, asked: Option<(u32, u32)>) -> Self {
        let each = u64::from(warps.max(1));
        let usual = (MOST_RECORDS / USUAL_RECORDS / each).max(1);
        let (first, wanted) =
            asked.map_or((0, usual), |(first, count)| (u64::from(first), u64::from(count)));
        let blocks = wanted.min(of.saturating_sub(first));
        let records = MOST_RECORDS / (blocks.max(1) * each);
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Room {
            first: small(first),
            blocks: small(blocks),
            warps,
            records: small(records.clamp(LEAST_OF_WARP, MOST_OF_WARP)),
            of,
        }
    }

    /// Words of the head and the records of a warp.
    fn words_of_warp(&self) -> usize {
        HEAD_WORDS + self.records as usize * RECORD_WORDS
    }

    /// Words of the memory, which is never empty.
    pub(super) fn words(&self) -> usize {
        (self.blocks as usize * self.warps as usize * self.words_of_warp()).max(HEAD_WORDS)
    }
}

/// A stamp that a warp reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The number of the stamp.
    pub(super) stamp: u32,
    /// The clock of the multiprocessor.
    pub(super) clock: u64,
    /// The low half of the timer of the device.
    pub(super) timer: u32,
    pub(super) multiprocessor: u32,
}

/// What a warp reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// The number of the block in its grid.
    pub(super) block: u32,
    pub(super) warp: u32,
    /// At least one, in order.
    pub(super) records: Vec<Record>,
    /// How many more found no room.
    pub(super) lost: u32,
}

/// The warps that reached stamps.
pub(super) fn read(words: &[u32], room: &Room) -> Vec<Lane> {
    let warps = (0..room.blocks).flat_map(|block| (0..room.warps).map(move |warp| (block, warp)));
    let lanes = warps.zip(words.chunks_exact(room.words_of_warp())).map(|((block, warp), own)| {
        let (head, records) = own.split_at(HEAD_WORDS);
        let records = records.chunks_exact(RECORD_WORDS).map_while(|record| {
            let stamp = (record[3] & 0xFFFF).checked_sub(1)?;
            Some(Record {
                stamp,
                clock: u64::from(record[0]) | u64::from(record[1]) << 32,
                timer: record[2],
                multiprocessor: record[3] >> 16,
            })
        });
        let (records, lost) = (records.collect(), head[0].saturating_sub(room.records));
        Lane { block: room.first + block, warp, records, lost }
    });
    lanes.filter(|lane| !lane.records.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_blocks_are_recorded_as_have_room_for_a_thousand_stamps_a_warp() {
        let room = Room::new(5000, 12, None);
        assert_eq!((room.first, room.blocks, room.records), (0, 42, 1040));
        // Of a small grid each warp has more.
        let room = Room::new(4, 4, None);
        assert_eq!((room.blocks, room.records), (4, 32768));
        assert_eq!(Room::new(1, 1, None).records, 65536);
    }

    #[test]
    fn blocks_that_are_asked_for_are_those_of_the_grid() {
        let room = Room::new(132, 12, Some((0, 132)));
        assert_eq!((room.blocks, room.records), (132, 330));
        let room = Room::new(132, 12, Some((130, 10)));
        assert_eq!((room.first, room.blocks), (130, 2));
        let room = Room::new(132, 12, Some((200, 10)));
        assert_eq!((room.blocks, room.words()), (0, HEAD_WORDS));
        assert_eq!(Room::new(4096, 32, Some((0, 4096))).records, 8);
    }

    #[test]
    fn a_warp_has_the_records_up_to_the_first_that_is_empty() {
        let room = Room { first: 5, blocks: 1, warps: 2, records: 2, of: 9 };
        let mut words = vec![0; room.words()];
        // The second warp: its head says that it reached three stamps.
        words[12] = 3;
        words[16..20].copy_from_slice(&[7, 1, 99, 3 << 16 | 1]);
        words[20..24].copy_from_slice(&[9, 1, 100, 3 << 16 | 2]);
        let record = |stamp, clock, timer| Record { stamp, clock, timer, multiprocessor: 3 };
        let records = vec![record(0, (1 << 32) + 7, 99), record(1, (1 << 32) + 9, 100)];
        assert_eq!(read(&words, &room), [Lane { block: 5, warp: 1, records, lost: 1 }]);
    }
}

//! What is drawn of the first cluster: pieces in lanes, and arrows between them.

use std::collections::BTreeMap;

use super::Kind;
use super::record::Word;
use crate::memory::shared::SHARED_BASE;

/// Steps of one kind are drawn as one piece if no more cycles are between them.
const GAP: f64 = 4.0;

/// A lane, in the order of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneKey {
    /// Block and warp.
    Warp(usize, usize),
    /// `tcgen05`, `wgmma` and `mma` of a block.
    Tensor(usize),
    /// Bulk and TMA copies of a block.
    Copies(usize),
    /// `cp.async` of a block.
    Async(usize),
    /// Block and word of shared memory.
    Mbarrier(usize, usize),
}

impl LaneKey {
    pub(super) fn block(self) -> usize {
        match self {
            LaneKey::Warp(block, _)
            | LaneKey::Tensor(block)
            | LaneKey::Copies(block)
            | LaneKey::Async(block)
            | LaneKey::Mbarrier(block, _) => block,
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            LaneKey::Warp(_, warp) => format!("warp {warp}"),
            LaneKey::Tensor(_) => "tensor cores".to_owned(),
            LaneKey::Copies(_) => "TMA and bulk copies".to_owned(),
            LaneKey::Async(_) => "cp.async".to_owned(),
            LaneKey::Mbarrier(_, word) => mbarrier((0, word)),
        }
    }
}

/// An mbarrier, in words.
pub(super) fn mbarrier((_, word): Word) -> String {
    let offset = 8 * u32::try_from(word).expect("shared memory is small");
    format!("mbarrier {:#x}", SHARED_BASE + offset)
}

/// Where an arrow starts or ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// None for the copies of the block.
    pub(super) lane: Option<LaneKey>,
    pub(super) block: usize,
    /// Its row, if that is known.
    row: Option<usize>,
    /// The time in the piece that it belongs to.
    pub(super) at: f64,
}

impl Place {
    pub(super) fn of(lane: LaneKey, at: f64) -> Place {
        Place { lane: Some(lane), block: lane.block(), row: None, at }
    }

    /// The end of a copy.
    pub(super) fn copy(block: usize, at: f64) -> Place {
        Place { lane: None, block, row: None, at }
    }

    pub(super) fn in_row(self, row: usize) -> Place {
        Place { row: Some(row), ..self }
    }
}

/// A piece of a lane.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) name: String,
    /// The first and the last instruction; none where it is no instruction's.
    pub(super) first: Option<u32>,
    pub(super) last: u32,
    pub(super) count: u32,
}

impl Piece {
    pub(super) fn new(kind: Kind, (start, end): (f64, f64), (pc, name): (u32, String)) -> Piece {
        Piece { kind, start, end, name, first: Some(pc), last: pc, count: 1 }
    }

    /// Of no instruction.
    pub(super) fn unplaced(kind: Kind, (start, end): (f64, f64), name: String) -> Piece {
        Piece { kind, start, end, name, first: None, last: 0, count: 1 }
    }

    /// Takes in the next piece.
    fn absorb(&mut self, next: &Piece) {
        self.end = next.end;
        self.count += next.count;
        self.first = self.first.min(next.first);
        self.last = self.last.max(next.last);
        if self.name != next.name {
            self.kind.text().clone_into(&mut self.name);
        }
    }
}

/// The pieces of a cluster.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// By lane, and by row: pieces that overlap are in rows of their own.
    pub(super) lanes: BTreeMap<LaneKey, Vec<Vec<Piece>>>,
    /// From where to where: a place and a time.
    pub(super) arrows: Vec<((Place, f64), (Place, f64))>,
}

impl Drawing {
    fn row(&mut self, lane: LaneKey, row: usize) -> &mut Vec<Piece> {
        let rows = self.lanes.entry(lane).or_default();
        if rows.len() <= row {
            rows.resize_with(row + 1, Vec::new);
        }
        &mut rows[row]
    }

    /// A step of a warp.
    pub(super) fn step(&mut self, lane: LaneKey, piece: Piece) {
        let row = self.row(lane, 0);
        match row.last_mut() {
            Some(last)
                if last.kind == piece.kind
                    && piece.kind.is_merged()
                    && piece.start - last.end <= GAP =>
            {
                last.absorb(&piece);
            }
            Some(_) | None => row.push(piece),
        }
    }

    /// A piece of a row, one with the piece before it if that is of the same name.
    pub(super) fn merged(&mut self, lane: LaneKey, row: usize, piece: Piece) {
        let row = self.row(lane, row);
        match row.last_mut() {
            Some(last) if last.name == piece.name && piece.start - last.end <= GAP => {
                last.absorb(&piece);
            }
            Some(_) | None => row.push(piece),
        }
    }

    /// A piece in the first row that has room for it.
    pub(super) fn beside(&mut self, lane: LaneKey, piece: Piece) {
        let rows = self.lanes.entry(lane).or_default();
        let free = |row: &Vec<Piece>| row.last().is_none_or(|last| last.end <= piece.start);
        match rows.iter().position(free) {
            Some(row) => rows[row].push(piece),
            None => rows.push(vec![piece]),
        }
    }

    pub(super) fn arrow(&mut self, from: (Place, f64), to: (Place, f64)) {
        self.arrows.push((from, to));
    }

    /// When the last piece ends.
    pub(super) fn end(&self) -> f64 {
        let pieces = self.lanes.values().flatten().filter_map(|row| row.last());
        pieces.map(|piece| piece.end).fold(0.0, f64::max)
    }

    /// The row of a place: the one that has a piece that ends then, or else one that has a piece then.
    pub(super) fn row_of(&self, lane: LaneKey, place: Place) -> Option<usize> {
        let rows = self.lanes.get(&lane)?;
        if let Some(row) = place.row {
            return (row < rows.len()).then_some(row);
        }
        let at = place.at;
        let any = |holds: &dyn Fn(&Piece) -> bool| {
            rows.iter().position(|row| {
                let after = row.partition_point(|piece| piece.start <= at);
                row[..after].iter().rev().take(2).any(holds)
            })
        };
        any(&|piece| piece.end.total_cmp(&at).is_eq()).or_else(|| any(&|piece| at <= piece.end))
    }
}

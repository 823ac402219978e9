//! Choosing the layout of a shared buffer through which a tile moves from one register layout to another.
//!
//! Think of elements as vectors of bits. The buffer's layout is a basis of that space: the lowest bits of the offset
//! are within a vector access, the next select the bank, and the rest `U` select the 128-byte line. A group of lanes
//! that is served at once, together with the elements of one vector, spans a space `A` of at most 128 bytes for the
//! writer and `B` for the reader. The access is free of conflicts when no two different elements of `A` agree in bank
//! and vector part, that is, when `A` and `U` have only 0 in common; likewise `B`. Two spaces of the same dimension
//! always have a common complement: with `a₁..aₘ` extending a basis of `A ∩ B` to `A` and `b₁..bₘ` to `B`, the sums
//! `aᵢ + bᵢ` together with a complement of `A + B`. That is `U`; the sums are a swizzle.

use crate::banks::{VECTOR_BYTES, cost, first_vector, least_cost, log2_lanes_at_once};
use crate::layout::log2;
use crate::rank::Span;
use crate::{Dim, Layout};

/// What a vector that falls apart costs more than its accesses.
const BROKEN_VECTOR: u32 = 16;
/// The most layouts between which all exchanges are tried.
const MOST_DIFFERENT: usize = 6;

/// A shared buffer through which a tile moves from one register layout to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Exchange {
    /// The buffer: from offset in elements to the element stored there.
    pub shared: Layout,
    /// The elements that the writer stores at once.
    pub write_vector: u32,
    /// The elements that the reader loads at once.
    pub read_vector: u32,
    /// The wavefronts that one warp's stores and loads take together.
    pub wavefronts: u32,
}

impl Exchange {
    /// The best buffer for a tile written in layout `writer` and read in layout `reader`.
    ///
    /// Vectors are as long as both sides allow, up to 16 bytes, and where possible both sides are free of bank
    /// conflicts. For `ldmatrix` as the reader, pass the layout in which each lane has the 16 bytes whose address it
    /// supplies; likewise for `stmatrix` as the writer.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::{bank_conflicts, Exchange};
    /// // A transposition of 32-bit elements.
    /// let by_rows = blocked(&[1, 4], &[4, 8], &[4, 1], &[1, 0], &[32, 32])?;
    /// let by_columns = blocked(&[4, 1], &[8, 4], &[1, 4], &[0, 1], &[32, 32])?;
    /// let exchange = Exchange::between(&by_rows, &by_columns, 4);
    /// assert_eq!(bank_conflicts(&by_rows, &exchange.shared, 4, exchange.write_vector), 0);
    /// assert_eq!(bank_conflicts(&by_columns, &exchange.shared, 4, exchange.read_vector), 0);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// Both are surjective register layouts of the same tensor, without a `Block` dimension; `element_bytes` is a power
    /// of two, at most 16.
    ///
    /// # Ensures
    /// `shared` is bijective and costs no more than a row-major buffer; between layouts that only distribute index
    /// bits, both sides are free of conflicts (`law_exchange_beats_row_major`).
    pub fn between(writer: &Layout, reader: &Layout, element_bytes: u32) -> Exchange {
        let reader = &reader.transpose_outs(&writer.out_dims().collect::<Vec<_>>());
        assert_eq!(writer.outs(), reader.outs(), "an exchange keeps the shape of the tensor");
        let search = Search {
            sides: [Side::new(writer), Side::new(reader)],
            tensor: writer,
            log2_bytes: log2(element_bytes),
        };
        let least =
            least_cost(writer, element_bytes).total() + least_cost(reader, element_bytes).total();
        let mut best: Option<(u32, Exchange)> = None;
        let swizzled = search.candidates().into_iter().map(|vectors| search.layout(&vectors));
        // Where bases mix many bits, the search may miss that the plain buffer suits one side.
        for shared in swizzled.chain([search.row_major()]) {
            let (writes, reads) =
                (cost(writer, &shared, element_bytes), cost(reader, &shared, element_bytes));
            let total = writes.total() + reads.total();
            if best.as_ref().is_none_or(|(least_so_far, _)| total < *least_so_far) {
                let wavefronts = writes.wavefronts + reads.wavefronts;
                let exchange = Exchange {
                    shared,
                    write_vector: writes.vector,
                    read_vector: reads.vector,
                    wavefronts,
                };
                best = Some((total, exchange));
            }
            if total == least {
                break;
            }
        }
        best.expect("the row-major buffer is always a candidate").1
    }
}

/// A register layout in which a tile in shared memory is written or read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Visit {
    /// Which thread reads or writes which element.
    pub registers: Layout,
    /// How often that happens: a weight.
    pub times: u32,
    /// How many elements must be contiguous, in the order of the first registers, because the instruction has no
    /// shorter form: `cp.async` keeps the order of global memory.
    pub least_vector: u32,
}

/// The cheapest layout of a tile in shared memory for all of these visits.
///
/// `candidates` are considered first, in their order; then the layouts that an [`Exchange`] between any two of the
/// visits would use. Among equally cheap layouts the first stays. Costs are wavefronts and accesses of a warp, all
/// visits together.
///
/// ```
/// use kernel_layout::forms::{blocked, row_major_shared};
/// use kernel_layout::{Visit, bank_conflicts, max_vector, meeting};
/// // Written by rows and read by columns, elements of 4 bytes.
/// let by_rows = blocked(&[1, 4], &[4, 8], &[4, 1], &[1, 0], &[32, 32])?;
/// let by_columns = blocked(&[4, 1], &[8, 4], &[1, 4], &[0, 1], &[32, 32])?;
/// let visits = [by_rows, by_columns].map(|registers| Visit { registers, times: 1, least_vector: 1 });
/// let plain = row_major_shared(&[32, 32])?;
/// assert_eq!(bank_conflicts(&visits[1].registers, &plain, 4, 1), 7);
/// let best = meeting(&visits, vec![plain], 4).expect("there is a candidate");
/// for visit in &visits {
///     let vector = max_vector(&visit.registers, &best);
///     assert_eq!(bank_conflicts(&visit.registers, &best, 4, vector), 0);
/// }
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Requires
/// The candidates store every element of the tile, and all layouts are of it, without a `Block` dimension; `element_bytes` is a
/// power of two, at most 16.
///
/// # Ensures
/// No candidate is cheaper (`law_meeting_beats_its_candidates`); none without candidates and visits.
pub fn meeting(visits: &[Visit], candidates: Vec<Layout>, element_bytes: u32) -> Option<Layout> {
    let mut different: Vec<&Layout> = Vec::new();
    for visit in visits {
        if !different.contains(&&visit.registers) {
            different.push(&visit.registers);
        }
    }
    // The pairs grow with the square, and kernels access a tile in few ways.
    different.truncate(MOST_DIFFERENT);
    let pairs = different.iter().enumerate().flat_map(|(at, writer)| {
        different[at..].iter().map(move |reader| Search {
            sides: [Side::new(writer), Side::new(reader)],
            tensor: writer,
            log2_bytes: log2(element_bytes),
        })
    });
    let exchanges = pairs.flat_map(|search| {
        let vectors = search.candidates();
        vectors.into_iter().map(move |vectors| search.layout(&vectors))
    });
    cheapest(visits, candidates.into_iter().chain(exchanges), element_bytes)
}

/// The cheapest of some layouts of a tile in shared memory for all of these visits; the first of equally cheap ones.
/// None if there is no candidate.
///
/// # Requires
/// As [`meeting`].
pub fn cheapest(
    visits: &[Visit],
    candidates: impl IntoIterator<Item = Layout>,
    element_bytes: u32,
) -> Option<Layout> {
    let visits = different(visits);
    let sum =
        |of: &dyn Fn(&Visit) -> u32| visits.iter().map(|one| one.times * of(one)).sum::<u32>();
    let least = sum(&|one| least_cost(&one.registers, element_bytes).total());
    let mut best: Option<(u32, Layout)> = None;
    for shared in candidates {
        let price = sum(&|one| {
            let cost = cost(&one.registers, &shared, element_bytes);
            // What falls apart into shorter pieces is no longer the same instruction.
            let pieces = one.least_vector.div_ceil(first_vector(&one.registers, &shared));
            cost.total() * if pieces > 1 { BROKEN_VECTOR * pieces } else { 1 }
        });
        if best.as_ref().is_none_or(|(cheapest, _)| price < *cheapest) {
            best = Some((price, shared));
        }
        if price == least {
            break;
        }
    }
    best.map(|(_, layout)| layout)
}

/// Each way to write or read once, as often as all that are alike: what a kernel unrolls, it does in one way many times.
fn different(visits: &[Visit]) -> Vec<Visit> {
    let mut different: Vec<Visit> = Vec::new();
    for visit in visits {
        let alike = |one: &&mut Visit| {
            one.least_vector == visit.least_vector && one.registers == visit.registers
        };
        match different.iter_mut().find(alike) {
            Some(one) => one.times += visit.times,
            None => different.push(visit.clone()),
        }
    }
    different
}

/// One side of the exchange: the elements that its registers, lanes and warps walk, as row-major indices.
struct Side {
    registers: Vec<u64>,
    lanes: Vec<u64>,
    threads: Span,
}

impl Side {
    fn new(layout: &Layout) -> Side {
        let of = |dim| -> Vec<u64> {
            layout.bases(dim).iter().map(|basis| layout.flatten_out(basis)).collect()
        };
        let (lanes, warps) = (of(Dim::Lane), of(Dim::Warp));
        let threads = Span::of(&[&lanes[..], &warps[..]].concat());
        Side { registers: of(Dim::Register), lanes, threads }
    }
}

/// Which elements make up a vector access: the writer's and the reader's are both beginnings of one list.
#[derive(Clone, Debug)]
struct Vectors {
    list: Vec<u64>,
    /// How much of the list the writer and the reader take.
    taken: [usize; 2],
}

struct Search<'a> {
    sides: [Side; 2],
    tensor: &'a Layout,
    log2_bytes: usize,
}

impl Search<'_> {
    /// Vectors common to both sides, each extended on one side as far as that side's registers go.
    fn candidates(&self) -> Vec<Vectors> {
        let longest = log2(VECTOR_BYTES).saturating_sub(self.log2_bytes);
        let common = intersection(&self.sides[0].registers, &self.sides[1].registers);
        let mut candidates = Vec::new();
        for shared in (0..=common.len().min(longest)).rev() {
            for side in [1, 0] {
                let further = self.further(side, &common[..shared]);
                for extra in (0..=further.len().min(longest - shared)).rev() {
                    // Without an extension, both sides are the same candidate.
                    if extra == 0 && side == 0 {
                        continue;
                    }
                    let mut taken = [shared; 2];
                    taken[side] += extra;
                    candidates.push(Vectors {
                        list: [&common[..shared], &further[..extra]].concat(),
                        taken,
                    });
                }
            }
        }
        candidates
    }

    /// The buffer in which the elements are in row-major order.
    fn row_major(&self) -> Layout {
        let bases =
            (0..self.tensor.out_bits()).map(|bit| self.tensor.unflatten_out(1 << bit)).collect();
        Layout::trusted(vec![(Dim::Offset, bases)], self.tensor.outs().to_vec())
    }

    /// What the registers of one side walk beyond `list`, first what the lanes of the other walk: these elements meet
    /// in one wavefront of both sides.
    fn further(&self, side: usize, list: &[u64]) -> Vec<u64> {
        let other = Span::of(&self.sides[1 - side].lanes);
        let mut registers = self.sides[side].registers.clone();
        registers.sort_by_key(|&element| (!other.contains(element), element));
        extend(list, &registers)
    }

    /// The layout of the buffer in which the vectors come first and both sides avoid conflicts.
    fn layout(&self, vectors: &Vectors) -> Layout {
        let everything: Vec<u64> = (0..self.tensor.out_bits()).map(|bit| 1 << bit).collect();
        // The elements of one bank word; whatever fills it up is accessed together anyway.
        let word = log2(4_u32).saturating_sub(self.log2_bytes);
        let filling =
            [&self.sides[1].registers[..], &self.sides[0].registers, &everything].concat();
        let mut low = vectors.list.clone();
        if low.len() < word {
            let more = extend(&low, &filling);
            low.extend(more.into_iter().take(word - vectors.list.len()));
        }
        let [writer, reader] =
            [0, 1].map(|side| self.at_once(side, &low, word, vectors.taken[side]));
        let both = intersection(&writer, &reader);
        let mut only_writer = extend(&both, &writer);
        let mut only_reader = extend(&both, &reader);
        // A pair must not carry a vector element of one side into the offsets between that side's own threads.
        let [writer_threads, reader_threads] = [&self.sides[0].threads, &self.sides[1].threads];
        only_writer
            .sort_by_key(|&element| (!low.contains(&element), reader_threads.contains(element)));
        only_reader
            .sort_by_key(|&element| (!low.contains(&element), writer_threads.contains(element)));
        let mut lines: Vec<u64> =
            only_writer.iter().zip(&only_reader).map(|(a, b)| a ^ b).collect();
        let rest = extend(&[&writer[..], &reader].concat(), &everything);
        lines.extend(rest);
        let banks = extend(&[&low[..], &lines].concat(), &[&writer[..], &everything].concat());
        let order = [&low[..], &banks, &lines].concat();
        let bases = order.into_iter().map(|element| self.tensor.unflatten_out(element)).collect();
        Layout::trusted(vec![(Dim::Offset, bases)], self.tensor.outs().to_vec())
    }

    /// The independent elements that one side accesses in one wavefront: the part of `low` that is its vector of
    /// 2^`vector` elements, or a bank word of 2^`word` if that is more, and the lanes served together.
    fn at_once(&self, side: usize, low: &[u64], word: usize, vector: usize) -> Vec<u64> {
        let lanes =
            log2_lanes_at_once(1 << (vector + self.log2_bytes)).min(self.sides[side].lanes.len());
        let part = &low[..vector.max(word).min(low.len())];
        let mut elements = part.to_vec();
        elements.extend(extend(part, &self.sides[side].lanes[..lanes]));
        elements
    }
}

/// Those of `more` that are independent of `start` and of one another.
fn extend(start: &[u64], more: &[u64]) -> Vec<u64> {
    let mut span = Span::of(start);
    more.iter().copied().filter(|&element| span.insert(element, 0).is_none()).collect()
}

/// A basis of what both lists span, lowest elements first.
fn intersection(first: &[u64], second: &[u64]) -> Vec<u64> {
    let first = extend(&[], first);
    let second = extend(&[], second);
    let mut span = Span::of(&first);
    let mut common = Vec::new();
    for (index, &element) in second.iter().enumerate() {
        // A combination of both lists that is 0 has the same sum over either; the names above 32 are of the second.
        if let Some(names) = span.insert(element, 1 << (32 + index)) {
            let of_first = first.iter().enumerate().filter(|(index, _)| names >> index & 1 == 1);
            common.push(of_first.fold(0, |sum, (_, element)| sum ^ element));
        }
    }
    common.sort_unstable();
    common
}

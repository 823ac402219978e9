//! How to move a tile from one register layout to another.

use crate::rank::Span;
use crate::{Dim, Layout};

/// The cheapest way to move a tile from one register layout to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Conversion {
    /// The layouts are the same map: nothing to do.
    Trivial,
    /// Every thread has its elements already: register `i` of the result is register `self.0[i]` of the source.
    Registers(Vec<u32>),
    /// Every warp has its elements already, in other lanes or in registers that depend on the lane.
    ///
    /// The layout maps positions of the result (as the target layout names them) to positions of the source:
    /// `Register`, `Lane`, `Warp`, `Block`. The warp and the block stay the same. A lane uses its own register if it
    /// can: when the part from `Lane` to `Lane` is the identity and registers do not lead to other lanes, a choice
    /// between registers is enough.
    Shuffle(Layout),
    /// Elements move between warps of a block: through shared memory.
    SharedMemory,
    /// Elements move between the blocks of a cluster: through the shared memory of other blocks.
    ClusterSharedMemory,
}

impl Conversion {
    /// The conversion of a tile from layout `from` to layout `to`.
    ///
    /// Elements that `from` holds several times come from the nearest place: the same thread before the same warp.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::Conversion;
    /// let by_rows = blocked(&[1, 2], &[4, 8], &[1, 1], &[1, 0], &[4, 16])?;
    /// let by_columns = blocked(&[2, 1], &[2, 16], &[1, 1], &[0, 1], &[4, 16])?;
    /// assert_eq!(Conversion::between(&by_rows, &by_rows), Conversion::Trivial);
    /// assert!(matches!(Conversion::between(&by_rows, &by_columns), Conversion::Shuffle(_)));
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// Both are register layouts of the same tensor, and `from` holds every element that `to` does.
    ///
    /// # Ensures
    /// The positions that the result names hold the same elements (`law_conversion_moves_every_element`).
    pub fn between(from: &Layout, to: &Layout) -> Conversion {
        let to = &to.transpose_outs(&from.out_dims().collect::<Vec<_>>());
        assert_eq!(from.outs(), to.outs(), "a conversion keeps the shape of the tensor");
        if from.mismatch(to).is_none() {
            return Conversion::Trivial;
        }
        match Sources::new(from).positions(to) {
            Reach::Warp(positions) => within_warp(from, to, positions),
            Reach::Block => Conversion::SharedMemory,
            Reach::Cluster => Conversion::ClusterSharedMemory,
        }
    }

    /// Whether each thread has all its elements before.
    pub fn stays_in_thread(&self) -> bool {
        match self {
            Conversion::Trivial | Conversion::Registers(_) => true,
            Conversion::Shuffle(_) | Conversion::SharedMemory | Conversion::ClusterSharedMemory => {
                false
            }
        }
    }

    /// Whether each lane has all its elements before, if in registers that depend on the lane or the warp.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::Conversion;
    /// let everything = blocked(&[64], &[32], &[1], &[0], &[64])?;
    /// let shared_out = blocked(&[2], &[32], &[1], &[0], &[64])?;
    /// assert!(Conversion::between(&everything, &shared_out).stays_in_lane());
    /// assert!(!Conversion::between(&shared_out, &everything).stays_in_lane());
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    pub fn stays_in_lane(&self) -> bool {
        match self {
            Conversion::Trivial | Conversion::Registers(_) => true,
            Conversion::Shuffle(positions) => {
                let own = |(dim, bit): (Dim, usize)| if dim == Dim::Lane { 1 << bit } else { 0 };
                let lane = positions.out_index(Dim::Lane);
                positions.ins().iter().all(|(dim, bases)| {
                    bases.iter().enumerate().all(|(bit, basis)| {
                        lane.is_some_and(|lane| basis[lane] == own((*dim, bit)))
                    })
                })
            }
            Conversion::SharedMemory | Conversion::ClusterSharedMemory => false,
        }
    }
}

/// How far the elements of the target are.
enum Reach {
    /// In the same warp: for every input dimension of the target and every bit, the source position as a word.
    Warp(Vec<Vec<u64>>),
    Block,
    Cluster,
}

/// The source layout, as what one thread, one warp, one block holds.
struct Sources {
    thread: Span,
    warp: Span,
    block: Span,
    /// Input dimension, bit, the bit's place in a position word, and the element it leads to.
    bits: Vec<(Dim, usize, u64, u64)>,
}

impl Sources {
    fn new(from: &Layout) -> Sources {
        let mut bits = Vec::new();
        for (dim, bases) in from.ins() {
            for (bit, basis) in bases.iter().enumerate() {
                bits.push((*dim, bit, 1 << bits.len(), from.flatten_out(basis)));
            }
        }
        let mut sources = Sources {
            thread: Span::default(),
            warp: Span::default(),
            block: Span::default(),
            bits,
        };
        // Registers come before lanes, and lanes before warps, so that the nearest copy of an element is found.
        for wanted in [Dim::Register, Dim::Lane, Dim::Warp] {
            for &(dim, _, place, element) in sources.bits.iter().filter(|(dim, ..)| *dim == wanted)
            {
                if dim == Dim::Register {
                    sources.thread.insert(element, place);
                }
                if dim != Dim::Warp {
                    sources.warp.insert(element, place);
                }
                sources.block.insert(element, place);
            }
        }
        sources
    }

    fn positions(&self, to: &Layout) -> Reach {
        let mut positions = Vec::new();
        let mut leaves_warp = false;
        for (dim, bases) in to.ins() {
            let mut of_dim = Vec::new();
            for (bit, basis) in bases.iter().enumerate() {
                let element = to.flatten_out(basis);
                let own = self.bits.iter().find(|(other, index, ..)| other == dim && *index == bit);
                let found =
                    self.near(*dim, element, own.map(|&(.., place, element)| (place, element)));
                leaves_warp |= found.is_none();
                of_dim.push(found.unwrap_or(0));
                if found.is_none()
                    && !self.in_block(*dim, element, own.map(|&(.., element)| element))
                {
                    return Reach::Cluster;
                }
            }
            positions.push(of_dim);
        }
        if leaves_warp { Reach::Block } else { Reach::Warp(positions) }
    }

    /// The source position in the same warp for one bit of the target; `own` is the source's bit of that name.
    fn near(&self, dim: Dim, element: u64, own: Option<(u64, u64)>) -> Option<u64> {
        let staying = |span: &Span| {
            let (place, held) = own?;
            span.combination(element ^ held).map(|position| position ^ place)
        };
        match dim {
            Dim::Register => self.warp.combination(element),
            Dim::Lane => staying(&self.thread).or_else(|| self.warp.combination(element)),
            Dim::Warp | Dim::Block => staying(&self.thread).or_else(|| staying(&self.warp)),
            Dim::Offset | Dim::Row | Dim::Col | Dim::Axis(_) => {
                unreachable!("{dim} is no dimension of registers")
            }
        }
    }

    /// Whether the target's bit leads to an element that the same block holds.
    fn in_block(&self, dim: Dim, element: u64, own: Option<u64>) -> bool {
        if dim == Dim::Block {
            own.is_some_and(|held| self.block.contains(element ^ held))
        } else {
            self.block.contains(element)
        }
    }
}

/// A conversion whose elements are all in the same warp.
fn within_warp(from: &Layout, to: &Layout, positions: Vec<Vec<u64>>) -> Conversion {
    let ins = to
        .in_dims()
        .zip(positions)
        .map(|(dim, words)| (dim, words.into_iter().map(|word| from.unflatten_in(word)).collect()));
    let map = Layout::trusted(
        ins.collect(),
        from.in_dims().map(|dim| (dim, from.in_size(dim))).collect(),
    );
    let stays = [Dim::Lane, Dim::Warp, Dim::Block].into_iter().all(|dim| {
        let straight = map.bases(dim).iter().enumerate().all(|(bit, basis)| {
            map.out_dims()
                .zip(basis)
                .all(|(out, &part)| part == if out == dim { 1 << bit } else { 0 })
        });
        straight
            && map
                .bases(Dim::Register)
                .iter()
                .all(|basis| map.out_index(dim).is_none_or(|index| basis[index] == 0))
    });
    if !stays {
        return Conversion::Shuffle(map);
    }
    let only = map.sublayout(&[Dim::Register], &[Dim::Register]);
    Conversion::Registers(
        (0..to.in_size(Dim::Register))
            .map(|register| only.apply(&[(Dim::Register, register)])[0])
            .collect(),
    )
}

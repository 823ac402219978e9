//! Elimination over GF(2): rank, null space, solving, and what they say of a layout.

use crate::layout::{Basis, log2};
use crate::{Dim, Layout};

/// A matrix over GF(2): one column per input bit, each a word whose bit `i` is row `i`.
///
/// [`Layout::matrix`] flattens a layout: columns follow the input dimensions in order, lowest bit first; rows follow
/// the output dimensions in row-major order, so that row 0 is the lowest bit of the *last* output dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Matrix {
    /// The columns, at most 64.
    pub columns: Vec<u64>,
    /// The number of rows, at most 64.
    pub rows: usize,
}

impl Matrix {
    /// The number of linearly independent columns.
    ///
    /// ```
    /// use kernel_layout::Matrix;
    /// assert_eq!(Matrix { columns: vec![0b01, 0b10, 0b11], rows: 2 }.rank(), 2);
    /// ```
    pub fn rank(&self) -> usize {
        Span::of(&self.columns).len()
    }

    /// A basis of the inputs that the matrix maps to 0; bit `i` of an input selects column `i`.
    ///
    /// ```
    /// use kernel_layout::Matrix;
    /// assert_eq!(Matrix { columns: vec![0b01, 0b10, 0b11], rows: 2 }.kernel(), [0b111]);
    /// ```
    pub fn kernel(&self) -> Vec<u64> {
        let mut span = Span::default();
        let mut kernel = Vec::new();
        for (index, &column) in self.columns.iter().enumerate() {
            if let Some(combination) = span.insert(column, 1 << index) {
                kernel.push(combination | 1 << index);
            }
        }
        kernel
    }

    /// The columns that depend on earlier ones, as a word: inputs lose no output when these bits stay 0.
    ///
    /// ```
    /// use kernel_layout::Matrix;
    /// assert_eq!(Matrix { columns: vec![0b01, 0b00, 0b01, 0b10], rows: 2 }.free_columns(), 0b0110);
    /// ```
    pub fn free_columns(&self) -> u64 {
        let mut span = Span::default();
        let mut free = 0;
        for (index, &column) in self.columns.iter().enumerate() {
            if span.insert(column, 0).is_some() {
                free |= 1 << index;
            }
        }
        free
    }

    /// The input that the matrix maps to `output`, with every free column at 0, or `None` when there is none.
    ///
    /// ```
    /// use kernel_layout::Matrix;
    /// let matrix = Matrix { columns: vec![0b01, 0b11, 0b10], rows: 2 };
    /// assert_eq!(matrix.solve(0b10), Some(0b011));
    /// ```
    pub fn solve(&self, output: u64) -> Option<u64> {
        Span::of(&self.columns).combination(output)
    }

    /// The output for an input word.
    pub fn apply(&self, input: u64) -> u64 {
        self.columns
            .iter()
            .enumerate()
            .filter(|(index, _)| input >> index & 1 == 1)
            .fold(0, |sum, (_, column)| sum ^ column)
    }
}

/// A growing set of independent vectors, each with the combination of inputs that gave it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Span {
    /// Vectors with distinct highest bits, and their combinations.
    echelon: Vec<(u64, u64)>,
}

impl Span {
    /// The span of `vectors`; vector `i` is named by bit `i` of combinations.
    pub(crate) fn of(vectors: &[u64]) -> Span {
        let mut span = Span::default();
        for (index, &vector) in vectors.iter().enumerate() {
            span.insert(vector, 1 << index);
        }
        span
    }

    /// Adds `vector` under the name `name`; if it is already in the span, leaves the span unchanged and returns the
    /// combination of names that gives it.
    pub(crate) fn insert(&mut self, vector: u64, name: u64) -> Option<u64> {
        let (rest, combination) = self.reduce(vector);
        if rest == 0 {
            return Some(combination);
        }
        let place = self.echelon.partition_point(|&(pivot, _)| pivot > rest);
        self.echelon.insert(place, (rest, combination ^ name));
        None
    }

    /// The combination of names that gives `vector`.
    pub(crate) fn combination(&self, vector: u64) -> Option<u64> {
        let (rest, combination) = self.reduce(vector);
        (rest == 0).then_some(combination)
    }

    /// Whether `vector` is in the span.
    pub(crate) fn contains(&self, vector: u64) -> bool {
        self.reduce(vector).0 == 0
    }

    /// The dimension of the span.
    pub(crate) fn len(&self) -> usize {
        self.echelon.len()
    }

    fn reduce(&self, vector: u64) -> (u64, u64) {
        let (mut rest, mut combination) = (vector, 0);
        // The vectors are sorted by their highest bits, so one pass clears them from the top down.
        for &(pivot, names) in &self.echelon {
            if rest ^ pivot < rest && rest.leading_zeros() == pivot.leading_zeros() {
                rest ^= pivot;
                combination ^= names;
            }
        }
        (rest, combination)
    }
}

impl Layout {
    /// The layout as one matrix; see [`Matrix`] for the order of rows and columns.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Register, Dim::Axis(1), 2)
    ///     .product(&Layout::identity(Dim::Lane, Dim::Axis(0), 4))
    ///     .transpose_outs(&[Dim::Axis(0), Dim::Axis(1)]);
    /// assert_eq!(layout.matrix().columns, [0b001, 0b010, 0b100]);
    /// ```
    pub fn matrix(&self) -> Matrix {
        let columns = self
            .ins()
            .iter()
            .flat_map(|(_, bases)| bases)
            .map(|basis| self.flatten_out(basis))
            .collect();
        Matrix { columns, rows: self.out_bits() }
    }

    /// The row-major index of output coordinates: the last output dimension varies fastest.
    ///
    /// # Requires
    /// One coordinate per output dimension, each below its size.
    pub fn flatten_out(&self, coordinates: &[u32]) -> u64 {
        let flat = self.outs().iter().zip(coordinates);
        flat.fold(0, |index, (&(_, size), &coordinate)| index << log2(size) | u64::from(coordinate))
    }

    /// The output coordinates of a row-major index: the inverse of [`Layout::flatten_out`].
    pub fn unflatten_out(&self, mut index: u64) -> Basis {
        let mut coordinates: Vec<u32> = Vec::with_capacity(self.outs().len());
        for &(_, size) in self.outs().iter().rev() {
            coordinates.push(low_bits(index, log2(size)));
            index >>= log2(size);
        }
        coordinates.reverse();
        coordinates
    }

    /// The input position of an index in which the first input dimension varies fastest.
    pub(crate) fn unflatten_in(&self, mut index: u64) -> Vec<u32> {
        let mut position = Vec::with_capacity(self.ins().len());
        for (_, bases) in self.ins() {
            position.push(low_bits(index, bases.len()));
            index >>= bases.len();
        }
        position
    }

    /// The number of independent bases, log2 of the number of distinct outputs.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let twice = Layout::identity(Dim::Register, Dim::Axis(0), 4).product(&Layout::zeros(Dim::Lane, Dim::Axis(0), 2));
    /// assert_eq!(twice.rank(), 2);
    /// ```
    pub fn rank(&self) -> usize {
        self.matrix().rank()
    }

    /// Whether every output is reached.
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.out_bits()
    }

    /// Whether no output is reached twice, that is, nothing is broadcast.
    pub fn is_injective(&self) -> bool {
        self.rank() == self.in_bits()
    }

    /// Whether every output is reached exactly once.
    pub fn is_bijective(&self) -> bool {
        self.is_surjective() && self.is_injective()
    }

    /// A basis of the input positions that lead to output 0; each has one value per input dimension, in order.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let twice = Layout::identity(Dim::Register, Dim::Axis(0), 4).product(&Layout::zeros(Dim::Lane, Dim::Axis(0), 2));
    /// assert_eq!(twice.kernel(), [[0, 1]]); // lane 1 holds what lane 0 holds
    /// ```
    ///
    /// # Ensures
    /// `rank` of the layout plus the length of the result is the number of input bits (`law_rank_plus_kernel`).
    pub fn kernel(&self) -> Vec<Vec<u32>> {
        self.matrix().kernel().into_iter().map(|input| self.unflatten_in(input)).collect()
    }

    /// A basis of the elements that are held somewhere; each has one coordinate per output dimension, in order.
    ///
    /// It is reduced: every vector has a lowest bit, in row-major order, that no other has, and they ascend by it. So two
    /// layouts hold the same elements exactly when their images are equal.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// // Elements 0, 3, 5 and 6 of eight: the even sums of bits.
    /// let even = Layout::new(vec![(Dim::Lane, vec![vec![3], vec![6], vec![5]])], vec![(Dim::Axis(0), 8)])?;
    /// assert_eq!(even.image(), [[5], [6]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Ensures
    /// Its sums are the elements held, each once (`law_image_is_what_is_held`).
    pub fn image(&self) -> Vec<Basis> {
        let mut reduced: Vec<u64> = Vec::new();
        for column in self.matrix().columns {
            let mut rest = column;
            for &vector in &reduced {
                if rest >> vector.trailing_zeros() & 1 == 1 {
                    rest ^= vector;
                }
            }
            if rest != 0 {
                let pivot = rest.trailing_zeros();
                for vector in &mut reduced {
                    if *vector >> pivot & 1 == 1 {
                        *vector ^= rest;
                    }
                }
                reduced.push(rest);
            }
        }
        reduced.sort_unstable_by_key(|vector| vector.trailing_zeros());
        reduced.into_iter().map(|vector| self.unflatten_out(vector)).collect()
    }

    /// The layout with one place for each element: input bits that need not vary are left out.
    ///
    /// [`Layout::free_variable_masks`] gives these bits. Places are numbered anew: without lane bit 0, lane bit 1 is
    /// the lowest.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let twice = Layout::zeros(Dim::Lane, Dim::Axis(0), 2).product(&Layout::identity(Dim::Lane, Dim::Axis(0), 4));
    /// assert_eq!(twice.remove_broadcasts().bases(Dim::Lane), [[1], [2]]);
    /// ```
    ///
    /// # Ensures
    /// The result is injective and holds the same elements (`law_removing_broadcasts_leaves_one_of_each`).
    #[must_use]
    pub fn remove_broadcasts(&self) -> Layout {
        let masks = self.free_variable_masks();
        let ins = self.ins().iter().zip(masks).map(|((dim, bases), (_, free))| {
            let needed = bases.iter().enumerate().filter(|(bit, _)| free >> bit & 1 == 0);
            (*dim, needed.map(|(_, basis)| basis.clone()).collect())
        });
        Layout::trusted(ins.collect(), self.outs().to_vec())
    }

    /// For each input dimension the bits that need not vary: with these at 0, every output is still reached.
    ///
    /// A store to memory that should happen once per element is predicated on these bits being 0.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Register, Dim::Axis(0), 2)
    ///     .product(&Layout::zeros(Dim::Lane, Dim::Axis(0), 2))
    ///     .product(&Layout::identity(Dim::Lane, Dim::Axis(0), 2));
    /// assert_eq!(layout.free_variable_masks(), [(Dim::Register, 0b0), (Dim::Lane, 0b01)]);
    /// ```
    ///
    /// # Ensures
    /// The remaining bits alone form an injective layout with the same image (`law_free_variables_lose_nothing`).
    pub fn free_variable_masks(&self) -> Vec<(Dim, u32)> {
        let masks = self.unflatten_in(self.matrix().free_columns());
        self.in_dims().zip(masks).collect()
    }

    /// The part of [`Layout::free_variable_masks`] that concerns one input dimension; 0 for one that is absent.
    pub fn free_variable_mask(&self, dim: Dim) -> u32 {
        self.free_variable_masks()
            .into_iter()
            .find(|&(other, _)| other == dim)
            .map_or(0, |(_, mask)| mask)
    }
}

/// The lowest `count` bits of `word`, where `count` is at most 31.
fn low_bits(word: u64, count: usize) -> u32 {
    u32::try_from(word & ((1 << count) - 1)).expect("a dimension has at most 31 bits")
}

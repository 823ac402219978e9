//! Layouts: linear maps over GF(2) from places in the hardware to elements of a tensor.
//!
//! **A layout says which element of a tensor each place of the hardware holds.** A place is, say, register 3 of lane 17
//! of warp 0; or offset 200 in shared memory. All sizes are powers of two, so a place is a handful of bits, and the map
//! is linear over GF(2): what the place holds is the XOR of what its bits lead to.
//!
//! # The smallest example
//!
//! Take a tensor of 4×4 elements, held by 8 threads in 2 registers each. Each single bit leads to an element:
//!
//! | bit | leads to (row, column) |
//! |---|---|
//! | register bit 0 | (0, 1) |
//! | lane bit 0 | (0, 2) |
//! | lane bit 1 | (1, 0) |
//! | lane bit 2 | (2, 0) |
//!
//! These four pairs, the *bases*, are the layout. In the table of the tensor they fill in five elements, the four above
//! and (0, 0), which place 0 always holds (`lane:register`):
//!
//! |       | 0   | 1   | 2   | 3 |
//! |---|---|---|---|---|
//! | **0** | 0:0 | 0:1 | 1:0 | ? |
//! | **1** | 2:0 | ?   | ?   | ? |
//! | **2** | 4:0 | ?   | ?   | ? |
//! | **3** | ?   | ?   | ?   | ? |
//!
//! # The one rule
//!
//! *If place `x` holds element `a` and place `y` holds element `b`, then place `x ^ y` holds element `a ^ b`*, where `^` is
//! bitwise XOR, of each coordinate. Lane 3 is lane 1 XOR lane 2, so its register 0 holds (0, 2) ^ (1, 0) = (1, 2). The
//! rule fills in the rest:
//!
//! |       | 0   | 1   | 2   | 3   |
//! |---|---|---|---|---|
//! | **0** | 0:0 | 0:1 | 1:0 | 1:1 |
//! | **1** | 2:0 | 2:1 | 3:0 | 3:1 |
//! | **2** | 4:0 | 4:1 | 5:0 | 5:1 |
//! | **3** | 6:0 | 6:1 | 7:0 | 7:1 |
//!
//! ```
//! use kernel_layout::{Dim, Layout};
//!
//! let layout = Layout::new(
//!     vec![
//!         (Dim::Register, vec![vec![0, 1]]),
//!         (Dim::Lane, vec![vec![0, 2], vec![1, 0], vec![2, 0]]),
//!     ],
//!     vec![(Dim::Axis(0), 4), (Dim::Axis(1), 4)],
//! )?;
//! assert_eq!(layout.apply(&[(Dim::Lane, 3), (Dim::Register, 0)]), [1, 2]);
//! assert_eq!(layout.to_string(), "register [0,1], lane [0,2] [1,0] [2,0] -> [4, 4]");
//! assert_eq!(layout.to_table().lines().nth(3), Some("1  2:0  2:1  3:0  3:1"));
//! # Ok::<(), kernel_layout::LayoutError>(())
//! ```
//!
//! So far every basis is a single bit of a single coordinate, and the map only distributes index bits; all blocked
//! layouts are like that. XOR adds *swizzles*: let lane bit 1 lead to (1, 2) instead, and row 1 is held with its column
//! pairs exchanged. A basis may be zero: then two places hold the same element, a *broadcast*.
//!
//! # What it is for
//!
//! Questions that a compiler asks are linear algebra:
//!
//! - *Which register and lane of layout B hold what I have in layout A?* Solve `B(y) = A(x)`:
//!   [`Layout::invert_and_compose`]. With shared memory as `B`, it is the address of a load or store.
//! - *Can this conversion stay within a thread, or a warp?* Compare spans: [`Conversion`].
//! - *How long a vector can be stored at once?* Do the registers walk offsets 1, 2, 4? [`max_vector`]; [`first_vector`]
//!   if bytes keep their order.
//! - *Which threads repeat elements of others?* The null space: [`Layout::free_variable_masks`].
//! - *Which elements does it hold at all, and how without repeating any?* [`Layout::image`], [`Layout::remove_broadcasts`].
//! - *Is the instruction's tile inside my layout?* A quotient: [`Layout::divide_left`].
//! - *Are there bank conflicts, and which swizzle avoids them?* [`bank_conflicts`], [`Exchange`], [`meeting`].
//! - *Can `wgmma` read this tile, and with which descriptor?* Are the bytes of its bits those of the instruction's rule?
//!   [`wgmma::operand`].
//! - *Which tensor map copies this tile, and in how many instructions?* [`tma::plan`].
//! - *Why is this layout refused?* The first basis that differs: [`Layout::mismatch`].
//!
//! # Design questions
//!
//! **Why from hardware to tensor, and not the other way round?** Because of broadcasts. Several places may hold one
//! element, and every place holds exactly one, so only this direction is a function.
//!
//! **Why named dimensions?** A product of a layout of lanes with one of warps must not confuse the two, and a
//! diagnostic must be able to say "lane bit 3". Positions in a list do neither.
//!
//! **Why only powers of two?** The hardware's own layouts, fragments and swizzles, are all linear over GF(2). The price
//! is that a tile of 96 columns must be written as several. Padding is not linear; it has its own type,
//! [`PaddedShared`].
//!
//! **In what order are dimensions flattened?** Inputs: the first is the lowest (register, then lane, then warp). Outputs:
//! the last is the lowest, as in a row-major tensor. [`Layout::matrix`], [`Layout::reshape`] and `reshape_ins` follow this.
//!
//! **Which place is chosen if several hold an element?** The one whose free bits are 0, counted from the lowest bit of
//! the first dimension: register before lane, lane before warp.
//!
//! **When are two spellings the same layout?** When their bases are: [`Layout::means_the_same`]. [`Form`] keeps the user's
//! spelling for messages.
//!
//! **Why do some operations panic?** Like indexing, they require what their caller has checked. User input enters
//! through [`forms`], [`Layout::new`] and [`PaddedShared::new`], which return [`LayoutError`]s.
//!
//! # Reading order
//!
//! [`Dim`] names the dimensions. [`Layout`] is the type: its parts, its algebra (product, composition, quotient),
//! ranks, inverses, axes. [`forms`] has the named layouts, including those of tensor memory. [`tile`] has the other
//! notation for layouts, extents and strides. [`Conversion`], [`bank_conflicts`], [`Exchange`], [`mod@tma`] and
//! [`mod@wgmma`] are uses.
//!
//! # The mathematics (optional)
//!
//! GF(2) is the field of 0 and 1, with XOR as addition and AND as multiplication. A place of `n` bits is a vector of
//! GF(2)ⁿ, an element of a tensor with 2ᵐ elements one of GF(2)ᵐ, and a layout is an m×n [`Matrix`], whose columns are the
//! bases. [`Layout::compose`] is the product of matrices. [`Layout::product`] is the direct sum: a block-diagonal matrix
//! with its rows and columns sorted by dimension. A layout is surjective when its rank is m: every element is held.
//! It is injective when its rank is n: nothing is broadcast; the null space is the set of broadcasts. For a surjective
//! layout [`Layout::pseudo_inverse`] is a right inverse, and the choice above makes it unique.
//!
//! # Comparison
//!
//! *Triton's linear layouts* are the same mathematics. Here outputs flatten with the last dimension lowest, so that a
//! reshape of a tensor is row-major without reversing dimensions first.
//!
//! *Layouts of `CuTe`* are functions from a nested shape to an integer by strides. They can express sizes that are not
//! powers of two, but have no XOR, so swizzles are separate; they answer "where is element (i, j)?" and need a second
//! map to answer "what does thread t hold?". On powers of two, every such layout whose strides are powers of two or
//! zero, swizzled or not, is a linear layout.
//!
//! *Tile layouts of `TIRx`* are strides as well, but to named axes: rows and columns of tensor memory, lanes, warps.
//! They are in [`tile`], with the conversions in both directions.
#![forbid(unsafe_code)]

mod dims;

mod layout;

mod algebra;
mod axes;
mod invert;
mod rank;

mod display;
mod error;
mod mismatch;

pub mod forms;
mod padded;

pub mod notation;
pub mod tensor_copy;
pub mod tile;

pub mod tma;
pub mod wgmma;

mod banks;
mod conversion;
mod exchange;

pub use banks::{Access, accesses, bank_conflicts, first_vector, max_vector, offsets};
pub use conversion::Conversion;
pub use dims::Dim;
pub use display::basis_text;
pub use error::LayoutError;
pub use exchange::{Exchange, Visit, cheapest, meeting};
pub use forms::Form;
pub use layout::{Basis, Layout};
pub use mismatch::Mismatch;
pub use padded::PaddedShared;
pub use rank::Matrix;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

//! What buffers hold before a launch: generators that depend on a seed and an element's index only.

use crate::dtype::{Dtype, Number};

/// How a buffer is filled.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Element `i` is `lo + hash32(seed, i) mod (hi - lo + 1)`, times `scale` where there is one.
    IntRange {
        /// Seed of the hash.
        seed: u32,
        /// The least integer.
        lo: i64,
        /// The greatest integer.
        hi: i64,
        /// What the integer is multiplied by, in `f64`.
        scale: Option<f64>,
    },
    /// Element `i` has the storage bits `codes[hash32(seed, i) mod codes.len()]`.
    RawChoice {
        /// Seed of the hash.
        seed: u32,
        /// At least one.
        codes: Vec<u64>,
    },
    /// Element `i` is `lo + (hi - lo) * (hash32(seed, i) >> 8) * 2^-24`, computed in `f64`.
    Uniform {
        /// Seed of the hash.
        seed: u32,
        /// The least value.
        lo: f64,
        /// The bound that is not reached.
        hi: f64,
    },
    /// The elements themselves.
    Values(Vec<Number>),
    /// Every byte has this value.
    Bytes(u8),
    /// All of the buffer's bytes.
    Raw(Vec<u8>),
}

/// The hash after seeded buffers, all of it modulo 2^32.
pub fn hash32(seed: u32, index: u32) -> u32 {
    let mut x = index
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(seed.wrapping_mul(0x85EB_CA77))
        .wrapping_add(0x1656_67B1);
    x ^= x >> 15;
    x = x.wrapping_mul(0x2C1B_3C6D);
    x ^= x >> 12;
    x = x.wrapping_mul(0x297A_2D39);
    x ^ x >> 15
}

/// Why a buffer cannot be filled: element `index` would be `value`, which its type has not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotRepresentable {
    /// Index of the element, in row-major order.
    pub index: usize,
    /// What it would be.
    pub value: Number,
}

impl Init {
    /// The bytes of a buffer of `bytes` bytes whose element `i`, in row-major order, is `places[i]` elements from
    /// its start. Bytes between the elements are zero.
    ///
    /// # Requires
    /// Every place is inside; [`Init::Values`] has as many numbers as there are places, and [`Init::Raw`] has
    /// `bytes` bytes.
    ///
    /// # Errors
    /// [`NotRepresentable`] where an integer type has no such number.
    pub(crate) fn fill(
        &self,
        dtype: Dtype,
        bytes: usize,
        places: &Places,
    ) -> Result<Vec<u8>, NotRepresentable> {
        if let Init::Bytes(byte) = self {
            return Ok(vec![*byte; bytes]);
        }
        if let Init::Raw(data) = self {
            return Ok(data.clone());
        }
        let mut data = vec![0; bytes];
        for index in 0..places.len() {
            let bits = match self.element(index) {
                Element::Bits(bits) => bits,
                Element::Number(value) => {
                    dtype.encode(value).ok_or(NotRepresentable { index, value })?
                }
            };
            dtype.store(&mut data, places.at(index), bits);
        }
        Ok(data)
    }

    fn element(&self, index: usize) -> Element {
        #[expect(clippy::cast_possible_truncation, reason = "the hash is defined modulo 2^32")]
        let hash = |seed: u32| hash32(seed, index as u32);
        match self {
            Init::IntRange { seed, lo, hi, scale } => {
                let span = i128::from(*hi) - i128::from(*lo) + 1;
                let integer = Number::Integer(i128::from(*lo) + i128::from(hash(*seed)) % span);
                // Integers stay exact; a scale is for floats.
                Element::Number(match scale {
                    None => integer,
                    Some(scale) => Number::Real(integer.to_f64() * scale),
                })
            }
            Init::RawChoice { seed, codes } => {
                Element::Bits(codes[hash(*seed) as usize % codes.len()])
            }
            Init::Uniform { seed, lo, hi } => {
                let steps = f64::from(hash(*seed) >> 8);
                Element::Number(Number::Real(lo + (hi - lo) * steps * 2f64.powi(-24)))
            }
            Init::Values(values) => Element::Number(values[index]),
            Init::Bytes(_) | Init::Raw(_) => unreachable!("fill copies these as a whole"),
        }
    }
}

enum Element {
    Number(Number),
    Bits(u64),
}

/// Where the elements of a tensor are, in elements from the start of its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    shape: Vec<u64>,
    strides: Vec<u64>,
    elements: usize,
}

impl Places {
    /// The places of a tensor in a buffer of `capacity` elements; without strides it is dense and row-major.
    ///
    /// # Errors
    /// A sentence about shape and strides that do not fit each other or the buffer.
    pub(crate) fn new(
        shape: Vec<u64>,
        strides: Option<Vec<u64>>,
        capacity: u64,
    ) -> Result<Places, String> {
        let strides = strides.unwrap_or_else(|| dense(&shape));
        if strides.len() != shape.len() {
            return Err(format!(
                "required one stride for each of the {} sizes of `shape`, actual {}",
                shape.len(),
                strides.len()
            ));
        }
        let elements = shape.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
        let last = shape.iter().zip(&strides).try_fold(0_u64, |sum, (&size, &stride)| {
            sum.checked_add(size.saturating_sub(1).checked_mul(stride)?)
        });
        let (Some(elements), Some(last)) = (elements, last) else {
            return Err("the tensor has more elements than memory can hold".to_owned());
        };
        if elements > 0 && last >= capacity {
            return Err(format!(
                "the last element lies {last} elements from the start, but `bytes` leaves room for {capacity}"
            ));
        }
        let elements = usize::try_from(elements)
            .map_err(|_| "the tensor has more elements than memory can hold".to_owned())?;
        Ok(Places { shape, strides, elements })
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.elements
    }

    /// Where element `index`, in row-major order, is.
    pub(crate) fn at(&self, index: usize) -> usize {
        let mut rest = index as u64;
        let mut place = 0;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            place += rest % size * stride;
            rest /= size;
        }
        usize::try_from(place).expect("a place lies inside its buffer, see new")
    }
}

/// Row-major strides, in elements.
fn dense(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1_u64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(init: &Init, dtype: Dtype, shape: &[u64]) -> Vec<u64> {
        let elements: u64 = shape.iter().product();
        let places = Places::new(shape.to_vec(), None, elements).expect("dense");
        let bytes = usize::try_from(elements).expect("small") * dtype.bytes();
        let data = init.fill(dtype, bytes, &places).expect("representable");
        (0..places.len()).map(|index| dtype.load(&data, index)).collect()
    }

    // All values below were worked out with integers of unlimited size from the formulas of the file format:
    // x = i*0x9E3779B1 + seed*0x85EBCA77 + 0x165667B1; x ^= x>>15; x *= 0x2C1B3C6D; x ^= x>>12; x *= 0x297A2D39;
    // x ^= x>>15, each modulo 2^32.
    #[test]
    fn the_hash_has_the_values_of_its_formula() {
        assert_eq!(hash32(0, 0), 0x54B7_EB53);
        assert_eq!(hash32(0, 1), 0x7AA8_D392);
        assert_eq!(hash32(1, 0), 0xE1B2_FB9F);
        assert_eq!(hash32(101, 7), 0x78F0_10E0);
        assert_eq!(hash32(u32::MAX, u32::MAX), 0x0244_8A70);
    }

    // The hashes of seed 5: 3AB5AC93 BC3BD30F C160723E C228D805 5A5E13BF BD8358A4.
    #[test]
    fn integers_are_the_hash_modulo_the_span_from_the_least_one_on() {
        let ints = Init::IntRange { seed: 5, lo: -9, hi: 9, scale: None };
        let required = [-5_i8, 1, 3, 2, 9, -1].map(|value| u64::from(value.cast_unsigned()));
        assert_eq!(filled(&ints, Dtype::I8, &[2, 3]), required);
        let halves = Init::IntRange { seed: 5, lo: -3, hi: 3, scale: Some(0.5) };
        let required =
            [-0.5_f32, 0.0, -1.5, -0.5, 1.5, -1.0].map(|value| u64::from(value.to_bits()));
        assert_eq!(filled(&halves, Dtype::F32, &[6]), required);
    }

    #[test]
    fn codes_are_chosen_by_the_hash_modulo_their_number() {
        let choice = Init::RawChoice { seed: 5, codes: vec![0x38, 0x40, 0xB8] };
        let required = [0x38, 0xB8, 0x38, 0xB8, 0x40, 0xB8];
        assert_eq!(filled(&choice, Dtype::F8E4M3, &[6]), required);
    }

    #[test]
    fn uniform_numbers_are_computed_in_f64_and_rounded_once() {
        let uniform = Init::Uniform { seed: 5, lo: -1.0, hi: 3.0 };
        let single = [0xBDA9_4A80, 0x3FF8_77A6, 0x4001_6072, 0x4002_28D8, 0x3ED2_F098, 0x3FFB_06B0];
        assert_eq!(filled(&uniform, Dtype::F32, &[6]), single);
        let half = [0xAD4A, 0x3FC4, 0x400B, 0x4011, 0x3698, 0x3FD8];
        assert_eq!(filled(&uniform, Dtype::F16, &[6]), half);
    }

    #[test]
    fn bytes_fill_the_whole_buffer() {
        assert_eq!(filled(&Init::Bytes(0xCD), Dtype::I32, &[2]), [0xCDCD_CDCD; 2]);
    }

    #[test]
    fn strided_elements_leave_the_bytes_between_them_zero() {
        let places = Places::new(vec![2, 2], Some(vec![3, 1]), 6).expect("fits");
        let values = [1, 2, 3, 4].map(Number::Integer).to_vec();
        let data = Init::Values(values).fill(Dtype::U8, 6, &places);
        assert_eq!(data, Ok(vec![1, 2, 0, 3, 4, 0]));
    }

    #[test]
    fn a_tensor_that_does_not_fit_its_buffer_is_refused() {
        let problem = Places::new(vec![2, 2], Some(vec![3, 1]), 4).expect_err("place 4 of 4");
        assert_eq!(
            problem,
            "the last element lies 4 elements from the start, but `bytes` leaves room for 4"
        );
        assert!(Places::new(vec![1 << 40, 1 << 40], None, 8).is_err());
        assert!(Places::new(vec![2], Some(vec![1, 1]), 8).is_err());
    }

    #[test]
    fn a_number_that_the_type_has_not_is_named() {
        let places = Places::new(vec![2], None, 2).expect("dense");
        let values = vec![Number::Integer(7), Number::Integer(300)];
        let refused = Init::Values(values).fill(Dtype::U8, 2, &places);
        assert_eq!(refused, Err(NotRepresentable { index: 1, value: Number::Integer(300) }));
    }
}

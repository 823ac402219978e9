//! Encoded tensor maps, what they are encoded from, and a device's cache of them.

use std::{
    collections::HashMap,
    fmt,
    hash::{Hash, Hasher},
    sync::{PoisonError, RwLock},
};

/// The dimensions of a tensor map at most (CUDA Driver API, "cuTensorMapEncodeTiled").
pub(crate) const MOST_DIMS: usize = 5;

/// The arguments of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col` except the interleave, which is none: dimensions innermost first, with
/// zeros after the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    /// As `CUtensorMapDataType` numbers it.
    pub(crate) dtype: u32,
    pub(crate) rank: usize,
    pub(crate) address: u64,
    pub(crate) extents: [u64; MOST_DIMS],
    /// Includes that of the innermost dimension: the bytes of an element.
    pub(crate) strides_bytes: [u64; MOST_DIMS],
    pub(crate) box_elems: [u32; MOST_DIMS],
    pub(crate) element_strides: [u32; MOST_DIMS],
    /// Of a map of `cuTensorMapEncodeIm2col`.
    pub(crate) places: Option<Places>,
    /// As `CUtensorMapSwizzle` numbers it.
    pub(crate) swizzle: u32,
    /// As `CUtensorMapL2promotion` numbers it.
    pub(crate) l2_promotion: u32,
    /// As `CUtensorMapFloatOOBfill` numbers it.
    pub(crate) fill: u32,
}

impl Encoding {
    /// A promotion as far as all rows begin at multiples of it: 64, 128 or 256 bytes, or 0 for none.
    ///
    /// Other rows end in a piece of so many bytes that they share with the next row, and the second-level cache would read all of it: on an
    /// H200 products of rows of 8208 bytes took up to 12% longer with a promotion to 256 bytes than with none.
    pub(crate) fn useful_promotion(&self, bytes: u32) -> u32 {
        let dims = self.extents.iter().zip(&self.strides_bytes).take(self.rank).skip(1);
        let strides = dims.filter(|(extent, _)| **extent > 1).map(|(_, stride)| stride);
        let begins = strides.fold(self.address, |begins, stride| begins | stride);
        let divides = |least: &u32| begins.is_multiple_of(u64::from(*least));
        [256, 128, 64].into_iter().filter(|least| *least <= bytes).find(divides).unwrap_or(0)
    }
}

/// The arguments that only `cuTensorMapEncodeIm2col` has: corners innermost first, with zeros after the rank. The extent of the box in dimension 0 is
/// its `channelsPerPixel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) count: u32,
    pub(crate) lower: [i32; MOST_DIMS - 2],
    pub(crate) upper: [i32; MOST_DIMS - 2],
}

/// What differs from launch to launch for a map of one kernel; the rest only distinguishes maps of one argument.
impl Hash for Encoding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.address);
        for dim in 0..self.rank.min(MOST_DIMS) {
            state.write_u64(self.extents[dim]);
            state.write_u64(self.strides_bytes[dim]);
            state.write_u32(self.box_elems[dim]);
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dtype, rank, address, swizzle, l2_promotion, fill, .. } = *self;
        write!(
            f,
            "element type {dtype}, address {address:#x}, extents {:?}, strides {:?} bytes, box {:?}, element strides {:?}, \
             swizzle {swizzle}, L2 promotion {l2_promotion}, fill {fill}",
            &self.extents[..rank],
            &self.strides_bytes[1..rank],
            &self.box_elems[..rank],
            &self.element_strides[..rank],
        )?;
        let Some(Places { count, lower, upper }) = self.places else { return Ok(()) };
        let dims = rank.saturating_sub(2);
        write!(f, ", {count} places from {:?} to {:?}", &lower[..dims], &upper[..dims])
    }
}

/// A tensor map as the device reads it. The driver writes it to an address that is a multiple of 64 bytes, of 128 since CUDA 13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub(crate) struct TensorMap(pub(crate) [u8; 128]);

/// The maps that a device has encoded. A map depends only on its encoding, so none of them goes stale.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    maps: RwLock<HashMap<Encoding, TensorMap>>,
}

/// The most maps of a device; a program with more starts again from none.
const MOST_MAPS: usize = 1024;

impl Cache {
    /// The map of an encoding, made the first time that it is asked for.
    pub(crate) fn get_or_encode<E>(
        &self,
        encoding: &Encoding,
        encode: impl FnOnce() -> Result<TensorMap, E>,
    ) -> Result<TensorMap, E> {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(map) = maps.get(encoding) {
            return Ok(*map);
        }
        drop(maps);
        let map = encode()?;
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        if maps.len() >= MOST_MAPS {
            maps.clear();
        }
        maps.insert(*encoding, map);
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: u64) -> Encoding {
        Encoding {
            dtype: 6,
            rank: 2,
            address,
            extents: [64, 8, 0, 0, 0],
            strides_bytes: [2, 128, 0, 0, 0],
            box_elems: [64, 8, 0, 0, 0],
            element_strides: [1, 1, 0, 0, 0],
            places: None,
            swizzle: 3,
            l2_promotion: 2,
            fill: 0,
        }
    }

    #[test]
    fn a_promotion_is_no_larger_than_what_rows_begin_at_multiples_of() {
        let rows = |address, strides_bytes, extents| Encoding {
            rank: 3,
            extents,
            strides_bytes,
            ..at(address)
        };
        let many = [64, 8, 4, 0, 0];
        for (required, encoding, asked) in [
            (256, rows(0x100, [2, 8192, 65536, 0, 0], many), 256),
            (128, rows(0x100, [2, 8192, 65536, 0, 0], many), 128),
            (0, rows(0x100, [2, 8192, 65536, 0, 0], many), 0),
            (128, rows(0x80, [2, 8192, 65536, 0, 0], many), 256),
            (64, rows(0x100, [2, 8192 + 64, 65536, 0, 0], many), 256),
            (0, rows(0x100, [2, 8208, 65536, 0, 0], many), 256),
            (0, rows(0x110, [2, 8192, 65536, 0, 0], many), 128),
            // Nothing is ever a step away along an axis of one element.
            (256, rows(0x100, [2, 8192, 16, 0, 0], [64, 8, 1, 0, 0]), 256),
        ] {
            assert_eq!(encoding.useful_promotion(asked), required, "{encoding}, {asked} bytes");
        }
    }

    #[test]
    fn a_map_is_encoded_once() {
        let cache = Cache::default();
        let map = |byte| TensorMap([byte; 128]);
        assert_eq!(cache.get_or_encode(&at(16), || Ok::<_, ()>(map(1))), Ok(map(1)));
        assert_eq!(cache.get_or_encode(&at(16), || Err("a second time")), Ok(map(1)));
        // Maps that differ in one argument are not one.
        let others = [
            at(32),
            Encoding { fill: 1, ..at(16) },
            Encoding { swizzle: 2, ..at(16) },
            Encoding { strides_bytes: [2, 256, 0, 0, 0], ..at(16) },
        ];
        for (byte, other) in (2..).zip(&others) {
            assert_eq!(cache.get_or_encode(other, || Ok::<_, ()>(map(byte))), Ok(map(byte)));
        }
    }

    #[test]
    fn a_map_that_was_refused_is_not_kept() {
        let cache = Cache::default();
        assert_eq!(cache.get_or_encode(&at(16), || Err("refused")), Err("refused"));
        let map = TensorMap([7; 128]);
        assert_eq!(cache.get_or_encode(&at(16), || Ok::<_, ()>(map)), Ok(map));
    }

    #[test]
    fn a_device_keeps_a_bounded_number_of_maps() {
        let cache = Cache::default();
        for index in 0..5000 {
            let map = TensorMap([0; 128]);
            assert_eq!(cache.get_or_encode(&at(16 * index), || Ok::<_, ()>(map)), Ok(map));
            let kept = cache.maps.read().unwrap_or_else(PoisonError::into_inner).len();
            assert!((1..=MOST_MAPS).contains(&kept), "{kept} maps");
        }
    }

    #[test]
    fn an_encoding_is_shown_with_its_dimensions() {
        assert_eq!(
            at(0x100).to_string(),
            "element type 6, address 0x100, extents [64, 8], strides [128] bytes, box [64, 8], element strides [1, 1], \
             swizzle 3, L2 promotion 2, fill 0"
        );
    }
}

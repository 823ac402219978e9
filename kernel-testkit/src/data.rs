//! The data of a test: typed buffers with strides, and where their values come from.

use half::{bf16, f16};
use kernel_core::ir::Dtype;
use kernel_core::ir::dtype::{Class, Float, Float8};
use kernel_runtime::{e4m3, e5m2};

/// One element, or a value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer, exactly.
    Int(i128),
    /// A float; every float type's values are exact in `f64`.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Number {
    /// The value as a float.
    pub fn float(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the nearest value is what is wanted")]
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
            Number::Bool(value) => f64::from(u8::from(value)),
        }
    }

    /// The value in an element type: the low bits of an integer, the nearest float, floats to integers as `as` does.
    #[must_use]
    pub fn to(self, dtype: Dtype) -> Number {
        decode(dtype, &encode(dtype, self))
    }
}

/// The bytes of a value in an element type.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the nearest float is what a conversion means"
)]
pub fn encode(dtype: Dtype, value: Number) -> Vec<u8> {
    match dtype.class() {
        Class::Bool => vec![match value {
            Number::Int(value) => u8::from(value != 0),
            Number::Float(value) => u8::from(value != 0.0),
            Number::Bool(value) => u8::from(value),
        }],
        // Of what tensor cores alone read, a test says the bits.
        Class::Signed | Class::Unsigned | Class::Opaque => {
            integer(dtype, value).to_le_bytes()[..dtype.bytes() as usize].to_vec()
        }
        Class::Float(Float::F16) => f16::from_f32(odd_f32(value)).to_le_bytes().to_vec(),
        Class::Float(Float::Bf16) => bf16::from_f32(odd_f32(value)).to_le_bytes().to_vec(),
        // Directly: an integer of 64 bits that passes through f64 is rounded twice.
        Class::Float(Float::F32) => match value {
            Number::Int(value) => value as f32,
            Number::Float(_) | Number::Bool(_) => value.float() as f32,
        }
        .to_le_bytes()
        .to_vec(),
        Class::Float(Float::F64) => value.float().to_le_bytes().to_vec(),
        // Every integer that f64 rounds is above the largest value.
        Class::Float8(Float8::E4m3) => e4m3::from_f64(value.float()).to_le_bytes().to_vec(),
        Class::Float8(Float8::E5m2) => e5m2::from_f64(value.float()).to_le_bytes().to_vec(),
    }
}

/// A value as an integer; a float becomes the nearest one in the range of the type, as `as` does it.
#[expect(clippy::cast_possible_truncation, reason = "rounding towards zero is what `as` means")]
fn integer(dtype: Dtype, value: Number) -> i128 {
    let bits = 8 * dtype.bytes();
    let (low, high) = if dtype.is_signed() {
        (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    match value {
        Number::Int(value) => value,
        Number::Float(value) => (value as i128).clamp(low, high),
        Number::Bool(value) => i128::from(value),
    }
}

/// The value in `f32`, its last bit set where something was cut off: to round that again is to round once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounding is what is wanted"
)]
fn odd_f32(value: Number) -> f32 {
    let (nearest, exact, above) = match value {
        Number::Int(value) => {
            let nearest = value as f32;
            let back = nearest as i128;
            (nearest, back == value, back.unsigned_abs() > value.unsigned_abs())
        }
        Number::Float(_) | Number::Bool(_) => {
            let value = value.float();
            let nearest = value as f32;
            let back = f64::from(nearest);
            (nearest, value.is_nan() || back.to_bits() == value.to_bits(), back.abs() > value.abs())
        }
    };
    if exact { nearest } else { f32::from_bits((nearest.to_bits() - u32::from(above)) | 1) }
}

/// The value that the bytes of an element stand for.
pub fn decode(dtype: Dtype, bytes: &[u8]) -> Number {
    fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes[..N].try_into().expect("the slice has N bytes")
    }
    match dtype.class() {
        Class::Bool => Number::Bool(bytes[0] != 0),
        Class::Signed | Class::Unsigned | Class::Opaque => {
            let last = bytes[dtype.bytes() as usize - 1];
            let mut word = [if dtype.is_signed() && last >= 0x80 { 0xff } else { 0 }; 16];
            word[..dtype.bytes() as usize].copy_from_slice(&bytes[..dtype.bytes() as usize]);
            Number::Int(i128::from_le_bytes(word))
        }
        Class::Float(Float::F16) => Number::Float(f16::from_le_bytes(array(bytes)).to_f64()),
        Class::Float(Float::Bf16) => Number::Float(bf16::from_le_bytes(array(bytes)).to_f64()),
        Class::Float(Float::F32) => Number::Float(f32::from_le_bytes(array(bytes)).into()),
        Class::Float(Float::F64) => Number::Float(f64::from_le_bytes(array(bytes))),
        Class::Float8(Float8::E4m3) => Number::Float(e4m3::from_le_bytes(array(bytes)).to_f64()),
        Class::Float8(Float8::E5m2) => Number::Float(e5m2::from_le_bytes(array(bytes)).to_f64()),
    }
}

/// A tensor or what a pointer points to, in an allocation of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Element type.
    pub dtype: Dtype,
    /// Extents.
    pub shape: Vec<u32>,
    /// Strides in elements; none is negative.
    pub strides: Vec<i64>,
    /// Elements before the first one. Allocations begin at a multiple of 256 bytes.
    pub offset: usize,
    /// The allocation's bytes, up to the end of the last element.
    pub data: Vec<u8>,
    /// The kernel has to write every element: none has a value before.
    pub poisoned: bool,
}

impl Buffer {
    /// A buffer of which no byte is set to anything meaningful.
    pub fn new(dtype: Dtype, shape: Vec<u32>, strides: Vec<i64>, offset: usize) -> Buffer {
        let steps =
            shape.iter().zip(&strides).map(|(extent, stride)| (i64::from(*extent) - 1) * stride);
        let reach = if shape.contains(&0) { 0 } else { steps.sum::<i64>() + 1 };
        let reach = usize::try_from(reach).expect("strides are not negative");
        let bytes = (offset + reach) * dtype.bytes() as usize;
        Buffer { dtype, shape, strides, offset, data: vec![GAP; bytes], poisoned: false }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.shape.iter().map(|extent| *extent as usize).product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the element `number` in row-major order.
    pub fn index(&self, mut number: usize) -> Vec<u32> {
        let mut index = vec![0; self.shape.len()];
        for (place, extent) in index.iter_mut().zip(&self.shape).rev() {
            *place = u32::try_from(number % *extent as usize).expect("less than the extent");
            number /= *extent as usize;
        }
        index
    }

    /// Where the element `number` in row-major order begins, in bytes.
    pub fn place(&self, number: usize) -> usize {
        let (mut rest, mut elements) = (number, self.offset);
        for (extent, stride) in self.shape.iter().zip(&self.strides).rev() {
            let stride = usize::try_from(*stride).expect("strides are not negative");
            elements += rest % *extent as usize * stride;
            rest /= *extent as usize;
        }
        elements * self.dtype.bytes() as usize
    }

    /// The bytes of the element `number` in row-major order.
    pub fn bytes(&self, number: usize) -> &[u8] {
        &self.data[self.place(number)..][..self.dtype.bytes() as usize]
    }

    /// The element `number` in row-major order.
    pub fn get(&self, number: usize) -> Number {
        decode(self.dtype, self.bytes(number))
    }

    /// Sets the element `number` in row-major order.
    pub fn set(&mut self, number: usize, bytes: &[u8]) {
        let place = self.place(number);
        self.data[place..][..bytes.len()].copy_from_slice(bytes);
    }

    /// The element at an index.
    ///
    /// # Errors
    /// An index of another rank, or outside.
    pub fn at(&self, index: &[i128]) -> Result<Number, String> {
        let inside = index.len() == self.shape.len()
            && index.iter().zip(&self.shape).all(|(i, n)| (0..i128::from(*n)).contains(i));
        if !inside {
            return Err(format!("index {index:?} into {:?}", self.shape));
        }
        let mut number = 0;
        for (i, extent) in index.iter().zip(&self.shape) {
            number = number * *extent as usize + usize::try_from(*i).expect("it is inside");
        }
        Ok(self.get(number))
    }

    /// Which bytes belong to an element.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.data.len()];
        for number in 0..self.len() {
            live[self.place(number)..][..self.dtype.bytes() as usize].fill(true);
        }
        live
    }

    /// Sets every byte of every element.
    pub fn poison(&mut self, pattern: u8) {
        let pattern = vec![pattern; self.dtype.bytes() as usize];
        for number in 0..self.len() {
            self.set(number, &pattern);
        }
    }
}

/// What bytes between elements hold: nothing may change them.
pub const GAP: u8 = 0x77;

/// An argument with its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor.
    Tensor(Buffer),
    /// A pointer to a buffer's first element.
    Pointer(Buffer),
    /// A scalar with its type.
    Scalar(Dtype, Number),
    /// Nothing, for a parameter that is an `Option`.
    Absent,
}

impl Argument {
    /// The memory after the argument.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Argument::Tensor(buffer) | Argument::Pointer(buffer) => Some(buffer),
            Argument::Scalar(..) | Argument::Absent => None,
        }
    }

    /// The memory after the argument.
    pub fn buffer_mut(&mut self) -> Option<&mut Buffer> {
        match self {
            Argument::Tensor(buffer) | Argument::Pointer(buffer) => Some(buffer),
            Argument::Scalar(..) | Argument::Absent => None,
        }
    }
}

/// A sequence of numbers that depends on nothing but its seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence that belongs to a text.
    pub fn of(text: &str) -> Random {
        // FNV-1a.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Random(hash)
    }

    /// The next number.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A float from 0 up to 1.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let fraction = (self.bits() >> 11) as f64;
        fraction * 2f64.powi(-53)
    }
}

/// Values at which an element type's arithmetic is likely to go wrong.
pub fn edges(dtype: Dtype) -> Vec<Vec<u8>> {
    if dtype == Dtype::Bool {
        return vec![vec![0], vec![1]];
    }
    let bytes = dtype.bytes() as usize;
    if let Some(format) = dtype.format() {
        let fraction = format.fraction_bits;
        // Without infinities: the NaN, after the largest number.
        let largest = encode(dtype, Number::Float(format.max));
        let infinity = largest.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)) + 1;
        let sign = 1u64 << (bytes * 8 - 1);
        let least_normal = 1u64 << fraction;
        let plain =
            [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 100.0].map(|value| encode(dtype, Number::Float(value)));
        let special = [
            1,
            least_normal - 1,
            least_normal,
            infinity - 1,
            infinity,
            infinity + (least_normal >> 1),
        ];
        let mut out: Vec<Vec<u8>> = Vec::new();
        for value in plain.into_iter().chain(special.map(|v| v.to_le_bytes()[..bytes].to_vec())) {
            let mut negative = value.clone();
            negative[bytes - 1] ^= (sign >> ((bytes - 1) * 8)).to_le_bytes()[0];
            out.extend([value, negative]);
        }
        return out;
    }
    let bits = u32::try_from(bytes * 8).expect("at most 64");
    let top = 1i128 << (bits - 1);
    let values = [0, 1, 2, 3, 7, 10, 13, -1, -2, -7, top - 1, top, top + 1, top / 2, top / 3];
    values.iter().map(|value| encode(dtype, Number::Int(*value))).collect()
}

//! Attention against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "extents are small, and infinities are compared"
)]

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Half,
    attention::{Attention, Mask, Options, Pages, Ragged},
};

use crate::support::{Number, assert_close, devices, numbers};

/// Extents, and the options of a test.
#[derive(Clone, Debug)]
struct Case {
    batch: usize,
    queries: usize,
    keys: usize,
    heads: usize,
    key_heads: usize,
    dim: usize,
    value_dim: usize,
    mask: Mask,
    scale: Option<f32>,
    soft_cap: Option<f32>,
    slopes: bool,
    /// How many queries and keys each sequence has, in a batch of 1.
    ragged: Option<Vec<[usize; 2]>>,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            batch: 1,
            queries: 7,
            keys: 7,
            heads: 1,
            key_heads: 1,
            dim: 64,
            value_dim: 64,
            mask: Mask::Full,
            scale: None,
            soft_cap: None,
            slopes: false,
            ragged: None,
        }
    }
}

/// Each result and how far it may be off before it is rounded, and the same of `lse`.
struct Required {
    out: Vec<(f64, f64)>,
    lse: Vec<(f64, f64)>,
}

impl Case {
    /// The sequences: the batch and where queries and keys begin and end.
    fn sequences(&self) -> Vec<(usize, [usize; 2], [usize; 2])> {
        match &self.ragged {
            None => (0..self.batch).map(|b| (b, [0, self.queries], [0, self.keys])).collect(),
            Some(lengths) => {
                let (mut at, mut key_at) = (0, 0);
                let mut sequences = Vec::new();
                for [queries, keys] in lengths {
                    sequences.push((0, [at, at + queries], [key_at, key_at + keys]));
                    (at, key_at) = (at + queries, key_at + keys);
                }
                sequences
            }
        }
    }

    fn slope(&self, head: usize) -> f64 {
        if self.slopes { 0.5 / (head + 1) as f64 } else { 0.0 }
    }

    /// Attention in f64. What no sequence has is not a number.
    fn reference<T: Number>(&self, q: &[T], k: &[T], v: &[T]) -> Required {
        let Case { batch, queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let mut out = vec![(f64::NAN, 0.0); batch * queries * heads * value_dim];
        let mut lse = vec![(f64::NAN, 0.0); batch * heads * queries];
        let scale = self.scale.map_or((dim as f64).sqrt().recip(), f64::from);
        for (b, [from, to], [key_from, key_to]) in self.sequences() {
            for (query, head) in (from..to).flat_map(|query| (0..heads).map(move |h| (query, h))) {
                let key_head = head / (heads / key_heads);
                let place = (query - from) as i64 + (key_to - key_from) as i64 - (to - from) as i64;
                let mine = &q[((b * queries + query) * heads + head) * dim..][..dim];
                let mut seen = Vec::new();
                // How far a score may be off.
                let mut off = 0f64;
                for key in key_from..key_to {
                    let ahead = (key - key_from) as i64 - place;
                    let visible = match self.mask {
                        Mask::Full => true,
                        Mask::Causal => ahead <= 0,
                        Mask::Window { left, right } => {
                            ahead <= right.min(9999) as i64 && -ahead <= left.min(9999) as i64
                        }
                    };
                    if !visible {
                        continue;
                    }
                    let at = (b * keys + key) * key_heads + key_head;
                    let terms = || {
                        let theirs = &k[at * dim..][..dim];
                        mine.iter().zip(theirs).map(|(q, k)| q.value() * k.value() * scale)
                    };
                    let mut score: f64 = terms().sum();
                    // Products are exact in f32; each sum rounds by 2^-24, and Hopper cuts off twice that.
                    off = off.max(dim as f64 * 2f64.powi(-23) * terms().map(f64::abs).sum::<f64>());
                    if let Some(cap) = self.soft_cap.map(f64::from) {
                        score = cap * (score / cap).tanh();
                    }
                    score -= self.slope(head) * ahead.abs() as f64;
                    // The scale, the cap, the slope and the largest score are each rounded, `tanh` to 2 ulp.
                    off = off.max(2f64.powi(-21) * (score.abs() + 1.0));
                    seen.push((score, at));
                }
                let top = seen.iter().map(|s| s.0).fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = seen.iter().map(|s| (s.0 - top).exp()).sum();
                // Of a weight in proportion: its score and the largest one, `exp2` to 2 ulp, and once more for each tile that follows.
                let tiles = (key_to - key_from).div_ceil(16) as f64;
                let weight_off = 2.0 * off + (tiles + 1.0) * 2f64.powi(-21);
                let count = seen.len() as f64;
                // Weights are rounded to the element type, but f16 no finer than 2^-25; the total is of weights that are not rounded.
                let relative = T::UNIT / 2.0 + 2.0 * weight_off + count * 2f64.powi(-23);
                let first = ((b * queries + query) * heads + head) * value_dim;
                let results = &mut out[first..first + value_dim];
                results.fill((0.0, 0.0));
                for &(score, at) in &seen {
                    let weight = (score - top).exp() / total;
                    let least = 2f64.powi(-25) / total;
                    for (result, value) in results.iter_mut().zip(&v[at * value_dim..]) {
                        let value = value.value();
                        result.0 += weight * value;
                        result.1 += (weight * relative + least) * value.abs();
                    }
                }
                let sum = top + total.ln();
                let off = off + weight_off + count * 2f64.powi(-24) + 2f64.powi(-22) * sum.abs();
                lse[(b * heads + head) * queries + query] =
                    if seen.is_empty() { (f64::NEG_INFINITY, 0.0) } else { (sum, off) };
            }
        }
        Required { out, lse }
    }

    /// Runs the case on the devices of all targets.
    fn check<T: Number + Half>(&self) -> Result<()> {
        let Case { batch, queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let large = |len, seed| -> Vec<T> {
            numbers::<T>(len, seed).iter().map(|x| T::of(3.0 * x.value())).collect()
        };
        let q = large(batch * queries * heads * dim, 1);
        let k = large(batch * keys * key_heads * dim, 2);
        let v = large(batch * keys * key_heads * value_dim, 3);
        let required = self.reference(&q, &k, &v);
        for device in devices(Attention::TARGETS)? {
            let what = format!("{self:?} on {device}");
            self.check_on::<T>(&device.stream()?, &what, [&q, &k, &v], &required)?;
        }
        Ok(())
    }

    fn check_on<T: Number + Half>(
        &self,
        stream: &Stream,
        what: &str,
        [q, k, v]: [&Vec<T>; 3],
        required: &Required,
    ) -> Result<()> {
        let Case { batch, queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let q = stream.upload(q, [batch, queries, heads, dim])?;
        let k = stream.upload(k, [batch, keys, key_heads, dim])?;
        let v = stream.upload(v, [batch, keys, key_heads, value_dim])?;
        let mut out = stream.full([batch, queries, heads, value_dim], T::of(f64::NAN))?;
        let mut lse = stream.full([batch, heads, queries], f32::NAN)?;
        let slopes: Vec<f32> = (0..heads).map(|head| self.slope(head) as f32).collect();
        let slopes = stream.upload(&slopes, [heads])?;
        let lengths = self.ragged.clone().unwrap_or_default();
        let offsets = |which: usize| {
            let mut offsets = vec![0];
            for lengths in &lengths {
                offsets.push(offsets[offsets.len() - 1] + lengths[which] as i32);
            }
            stream.upload(&offsets, [offsets.len()])
        };
        let (offsets, key_offsets) = (offsets(0)?, offsets(1)?);
        let longest = lengths.iter().map(|lengths| lengths[0]).max().unwrap_or(0);
        let ragged = Ragged { offsets: &offsets, key_offsets: &key_offsets, longest };
        let options = Options {
            mask: self.mask,
            scale: self.scale,
            soft_cap: self.soft_cap,
            slopes: self.slopes.then_some(&slopes),
            lse: Some(&mut lse),
        };
        let mut attention = Attention::new(stream)?;
        if self.ragged.is_some() {
            attention.forward_ragged(stream, &q, &k, &v, ragged, &mut out, options)?;
        } else {
            attention.forward(stream, &q, &k, &v, &mut out, options)?;
        }
        let (out, lse) = (out.to_vec(stream)?, lse.to_vec(stream)?);
        // Nothing is written outside of the sequences.
        let unwritten = |out: &[(f64, f64)], at: usize| out[at].0.is_nan();
        let out: Vec<T> = (0..out.len())
            .map(|i| {
                if unwritten(&required.out, i) {
                    assert!(out[i].value().is_nan(), "{what}: {i} was written");
                    return T::of(0.0);
                }
                out[i]
            })
            .collect();
        let zero =
            |(value, off): (f64, f64)| if value.is_nan() { (0.0, off) } else { (value, off) };
        let required_out: Vec<_> = required.out.iter().copied().map(zero).collect();
        assert_close(what, value_dim, &out, &required_out);
        for (at, (&actual, &(required, off))) in lse.iter().zip(&required.lse).enumerate() {
            let actual = f64::from(actual);
            let same = actual == required || (actual.is_nan() && required.is_nan());
            assert!(
                same || (actual - required).abs() <= off,
                "{what}: lse at {at}: {actual} for {required}"
            );
        }
        Ok(())
    }
}

const LENGTHS: [usize; 6] = [1, 7, 63, 64, 65, 130];

#[test]
fn all_lengths_of_queries_and_keys() -> Result<()> {
    for (i, queries) in LENGTHS.into_iter().enumerate() {
        let keys = LENGTHS[(i + 2) % 6];
        Case { queries, keys: queries, ..Case::default() }.check::<bf16>()?;
        Case { queries, keys, mask: Mask::Causal, ..Case::default() }.check::<f16>()?;
    }
    Ok(())
}

#[test]
fn heads_of_every_extent() -> Result<()> {
    let case = Case { queries: 9, keys: 70, mask: Mask::Causal, ..Case::default() };
    for (dim, value_dim) in [(96, 96), (128, 128), (192, 128), (8, 16), (40, 200)] {
        Case { dim, value_dim, ..case.clone() }.check::<f16>()?;
    }
    Case { dim: 256, value_dim: 256, ..case.clone() }.check::<bf16>()
}

#[test]
fn windows() -> Result<()> {
    for (left, right) in [(0, 0), (3, 0), (0, 70), (66, 1), (usize::MAX, 5)] {
        let mask = Mask::Window { left, right };
        Case { queries: 65, keys: 200, mask, ..Case::default() }.check::<f16>()?;
    }
    // Tiles of 64 and 128 keys of which only some queries see all: the ends of a window are within them.
    let mask = Mask::Window { left: 140, right: usize::MAX };
    Case { queries: 65, keys: 330, mask, ..Case::default() }.check::<f16>()?;
    // The first query sees all but the last key of a tile.
    Case { queries: 65, keys: 191, mask: Mask::Causal, ..Case::default() }.check::<f16>()?;
    // Queries before all keys see none.
    let mask = Mask::Window { left: 40, right: 2 };
    Case { queries: 200, keys: 65, mask, ..Case::default() }.check::<bf16>()?;
    Case { queries: 140, keys: 65, mask: Mask::Causal, ..Case::default() }.check::<f16>()
}

#[test]
fn heads_that_share_keys_and_batches() -> Result<()> {
    let case = Case { batch: 2, queries: 5, keys: 9, heads: 6, ..Case::default() };
    Case { key_heads: 2, ..case.clone() }.check::<bf16>()?;
    Case { key_heads: 6, mask: Mask::Causal, ..case.clone() }.check::<f16>()?;
    case.check::<f16>()
}

#[test]
fn soft_caps_slopes_and_scales() -> Result<()> {
    let case = Case { queries: 9, keys: 140, heads: 2, ..Case::default() };
    Case { soft_cap: Some(2.0), ..case.clone() }.check::<f16>()?;
    Case { slopes: true, ..case.clone() }.check::<f16>()?;
    Case { scale: Some(0.5), mask: Mask::Causal, ..case.clone() }.check::<bf16>()?;
    let mask = Mask::Window { left: 20, right: 0 };
    let scale = Some(0.3);
    Case { soft_cap: Some(5.0), slopes: true, scale, mask, ..case }.check::<f16>()
}

#[test]
fn ragged_sequences() -> Result<()> {
    let lengths = vec![[7, 7], [0, 5], [65, 64], [3, 0], [1, 130], [64, 66]];
    let case = Case { queries: 143, keys: 275, ragged: Some(lengths), ..Case::default() };
    case.check::<bf16>()?;
    let mask = Mask::Causal;
    Case { heads: 2, slopes: true, mask, ..case.clone() }.check::<f16>()?;
    let mask = Mask::Window { left: 9, right: 3 };
    Case { soft_cap: Some(1.0), mask, ..case }.check::<f16>()
}

/// Tensors of ones, of these shapes.
fn ones<const N: usize>(
    stream: &Stream,
    shapes: [[usize; 4]; N],
) -> Result<[DeviceTensor<f16, 4>; N]> {
    let tensors: Result<Vec<_>> =
        shapes.into_iter().map(|shape| stream.full(shape, f16::ONE)).collect();
    Ok(tensors?.try_into().expect("a tensor for each shape"))
}

#[test]
fn a_sequence_does_not_read_the_values_of_others() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let [q, k, mut out] = ones(&stream, [[1, 6, 1, 64]; 3])?;
        let v: Vec<f16> =
            (0..6 * 64).map(|i| if i < 2 * 64 { f16::ONE } else { f16::NAN }).collect();
        let v = stream.upload(&v, [1, 6, 1, 64])?;
        let offsets = stream.upload(&[0, 2, 6], [3])?;
        let ragged = Ragged { offsets: &offsets, key_offsets: &offsets, longest: 4 };
        let options = Options::default();
        Attention::new(&stream)?.forward_ragged(&stream, &q, &k, &v, ragged, &mut out, options)?;
        let out = out.to_vec(&stream)?;
        assert!(out[..2 * 64].iter().all(|&x| x == f16::ONE), "{device}: {out:?}");
        assert!(out[2 * 64..].iter().all(|x| x.is_nan()), "{device}: {out:?}");
    }
    Ok(())
}

#[test]
fn offsets_outside_of_the_tensors_are_cut_off() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let [q, k, v, mut out] = ones(&stream, [[1, 6, 1, 64]; 4])?;
        stream.fill(&mut out, f16::NAN)?;
        let offsets = stream.upload(&[-3, 2, i32::MAX, 1, i32::MIN], [5])?;
        let ragged = Ragged { offsets: &offsets, key_offsets: &offsets, longest: 9 };
        let options = Options::default();
        Attention::new(&stream)?.forward_ragged(&stream, &q, &k, &v, ragged, &mut out, options)?;
        assert!(out.to_vec(&stream)?.iter().all(|&x| x == f16::ONE), "{device}");
    }
    Ok(())
}

#[test]
fn heads_before_sequences_and_parts_of_one_tensor_are_read_in_place() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let (batch, length, heads, dim) = (2, 70, 3, 64);
        // Queries, keys and values of a head beside one another.
        let all = numbers::<bf16>(batch * heads * length * 3 * dim, 4);
        let joined = stream.upload(&all, [batch, heads, length, 3 * dim])?;
        let part = |i: usize| joined.slice(3, i * dim..(i + 1) * dim)?.permute([0, 2, 1, 3]);
        let mut out = stream.full([batch, heads, length, dim], bf16::NAN)?;
        let mut view = out.permute_mut([0, 2, 1, 3])?;
        let options = Options { mask: Mask::Causal, ..Options::default() };
        let mut attention = Attention::new(&stream)?;
        attention.forward(&stream, &part(0)?, &part(1)?, &part(2)?, &mut view, options)?;

        let case = Case { batch, queries: length, keys: length, heads, ..Case::default() };
        let case = Case { key_heads: heads, mask: Mask::Causal, ..case };
        let rows = || {
            let queries = (0..batch).flat_map(|b| (0..length).map(move |i| (b, i)));
            queries.flat_map(|(b, i)| (0..heads).map(move |head| (b, i, head)))
        };
        let contiguous = |part: usize| -> Vec<bf16> {
            let first = |(b, i, head)| (((b * heads + head) * length + i) * 3 + part) * dim;
            rows().flat_map(|row| &all[first(row)..][..dim]).copied().collect()
        };
        let required = case.reference(&contiguous(0), &contiguous(1), &contiguous(2));
        let out = out.to_vec(&stream)?;
        let out: Vec<bf16> = rows()
            .flat_map(|(b, i, head)| &out[((b * heads + head) * length + i) * dim..][..dim])
            .copied()
            .collect();
        assert_close(&format!("{device}"), dim, &out, &required.out);
    }
    Ok(())
}

#[test]
fn empty_extents_give_nothing_or_zeros() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let mut attention = Attention::new(&stream)?;
        for [batch, queries, keys, heads, dim, value_dim] in [
            [0, 3, 3, 1, 64, 64],
            [2, 0, 3, 1, 64, 64],
            [2, 3, 0, 1, 64, 64],
            [2, 3, 3, 0, 64, 64],
            [2, 3, 3, 1, 64, 0],
        ] {
            let key = [batch, keys, heads];
            let [k, v, q] = ones(
                &stream,
                [
                    [key[0], key[1], key[2], dim],
                    [key[0], key[1], key[2], value_dim],
                    [batch, queries, heads, dim],
                ],
            )?;
            let mut out = stream.full([batch, queries, heads, value_dim], f16::NAN)?;
            let mut lse = stream.full([batch, heads, queries], f32::NAN)?;
            let options = Options { lse: Some(&mut lse), ..Options::default() };
            attention.forward(&stream, &q, &k, &v, &mut out, options)?;
            assert!(out.to_vec(&stream)?.iter().all(|&x| x == f16::ZERO), "{device}");
            let none = if keys == 0 { f32::NEG_INFINITY } else { 8.0 + 3f32.ln() };
            let lse = lse.to_vec(&stream)?;
            assert!(lse.iter().all(|&x| x == none || (x - none).abs() < 1e-5), "{lse:?}");
        }
        // Without numbers to multiply, all keys count the same.
        let [q, k, v, mut out] =
            ones(&stream, [[1, 3, 1, 0], [1, 5, 1, 0], [1, 5, 1, 64], [1, 3, 1, 64]])?;
        attention.forward(&stream, &q, &k, &v, &mut out, Options::default())?;
        assert!(out.to_vec(&stream)?.iter().all(|&x| x == f16::ONE), "{device}");
    }
    Ok(())
}

#[test]
fn scales_and_caps_that_are_not_positive_give_nan() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let [q, k, v, mut out] = ones(&stream, [[1, 3, 1, 64]; 4])?;
        for (scale, soft_cap) in [
            (Some(0.0), None),
            (Some(-1.0), Some(2.0)),
            (Some(f32::INFINITY), None),
            (None, Some(0.0)),
            (None, Some(f32::NAN)),
        ] {
            let options = Options { scale, soft_cap, ..Options::default() };
            Attention::new(&stream)?.forward(&stream, &q, &k, &v, &mut out, options)?;
            assert!(out.to_vec(&stream)?.iter().all(|x| x.is_nan()), "{scale:?} {soft_cap:?}");
        }
    }
    Ok(())
}

#[test]
fn nan_and_infinities_spread_to_the_queries_that_see_them() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let [q, k, v, mut out] = ones(&stream, [[1, 140, 1, 64]; 4])?;
        let with = |at: usize, value: f16| {
            let mut values = vec![f16::ONE; 140 * 64];
            values[at] = value;
            stream.upload(&values, [1, 140, 1, 64])
        };
        let infinite = with(130 * 64 + 5, f16::INFINITY)?;
        let not_a_number = with(135 * 64, f16::NAN)?;
        let mut attention = Attention::new(&stream)?;
        let causal = || Options { mask: Mask::Causal, ..Options::default() };
        attention.forward(&stream, &q, &k, &infinite, &mut out, causal())?;
        for (at, x) in out.to_vec(&stream)?.iter().enumerate() {
            let (query, column) = (at / 64, at % 64);
            match (query, column) {
                (130.., 5) => assert!(*x == f16::INFINITY, "{device}: {query}: {x}"),
                // Not seen, but perhaps in a tile of keys with ones that are.
                (_, 5) => assert!(*x == f16::ONE || x.is_nan(), "{device}: {query}: {x}"),
                _ => assert!(*x == f16::ONE, "{device}: {query}, {column}: {x}"),
            }
        }
        attention.forward(&stream, &q, &not_a_number, &v, &mut out, causal())?;
        for (at, x) in out.to_vec(&stream)?.iter().enumerate() {
            assert!(if at / 64 < 135 { *x == f16::ONE } else { x.is_nan() }, "{device}: {at}: {x}");
        }
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let mut attention = Attention::new(&stream)?;
        for (q, k, v, out) in [
            ([2, 3, 4, 64], [1, 5, 4, 64], [2, 5, 4, 64], [2, 3, 4, 64]),
            ([2, 3, 4, 64], [2, 5, 4, 72], [2, 5, 4, 64], [2, 3, 4, 64]),
            ([2, 3, 4, 64], [2, 5, 4, 64], [2, 4, 4, 64], [2, 3, 4, 64]),
            ([2, 3, 4, 64], [2, 5, 4, 64], [2, 5, 2, 64], [2, 3, 4, 64]),
            ([2, 3, 4, 64], [2, 5, 4, 64], [2, 5, 4, 64], [2, 3, 4, 72]),
            ([2, 3, 4, 64], [2, 5, 3, 64], [2, 5, 3, 64], [2, 3, 4, 64]),
            ([2, 3, 4, 64], [2, 5, 0, 64], [2, 5, 0, 64], [2, 3, 4, 64]),
            ([2, 3, 4, 264], [2, 5, 4, 264], [2, 5, 4, 64], [2, 3, 4, 64]),
        ] {
            let [q, k, v, mut out] = ones(&stream, [q, k, v, out])?;
            let refused = attention.forward(&stream, &q, &k, &v, &mut out, Options::default());
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        }
        // Rows of 24 bytes.
        let [q, k, v, mut out] = ones(&stream, [[2, 3, 4, 12]; 4])?;
        let refused = attention.forward(&stream, &q, &k, &v, &mut out, Options::default());
        assert!(refused.is_err() == (device.runs(kiln::prelude::Target::Sm90a)), "{refused:?}");

        let [q, k, v, mut out] = ones(&stream, [[1, 3, 4, 64]; 4])?;
        let slopes = stream.zeros([3])?;
        let options = Options { slopes: Some(&slopes), ..Options::default() };
        let refused = attention.forward(&stream, &q, &k, &v, &mut out, options);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        let mut lse = stream.zeros([1, 3, 4])?;
        let options = Options { lse: Some(&mut lse), ..Options::default() };
        let refused = attention.forward(&stream, &q, &k, &v, &mut out, options);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        for (offsets, key_offsets) in [(2, 3), (0, 0)] {
            let (offsets, key_offsets) = (stream.zeros([offsets])?, stream.zeros([key_offsets])?);
            let ragged = Ragged { offsets: &offsets, key_offsets: &key_offsets, longest: 3 };
            let options = Options::default();
            let refused = attention.forward_ragged(&stream, &q, &k, &v, ragged, &mut out, options);
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        }
    }
    Ok(())
}

/// The extent of keys of latent attention, whose first 512 numbers are values.
const LATENT: usize = 576;

/// Sequences of these lengths in pages, and the queries of each.
struct Paged<'a> {
    case: Case,
    page: usize,
    lengths: &'a [usize],
}

impl Paged<'_> {
    /// Runs the case on the devices of all targets. The reference is that of ragged sequences without pages.
    fn check<T: Number + Half>(&self) -> Result<()> {
        let Paged { ref case, page, lengths } = *self;
        let Case { queries, heads, key_heads, dim, value_dim, .. } = *case;
        let batch = lengths.len();
        let total: usize = lengths.iter().sum();
        let large = |len, seed| -> Vec<T> {
            numbers::<T>(len, seed).iter().map(|x| T::of(3.0 * x.value())).collect()
        };
        let q = large(batch * queries * heads * dim, 1);
        let k = large(total * key_heads * dim, 2);
        let v = if case.dim == LATENT {
            k.chunks(dim).flat_map(|key| &key[..value_dim]).copied().collect()
        } else {
            large(total * key_heads * value_dim, 3)
        };
        let ragged = Case {
            queries: batch * queries,
            keys: total,
            ragged: Some(lengths.iter().map(|&length| [queries, length]).collect()),
            ..case.clone()
        };
        let required = ragged.reference(&q, &k, &v);

        // Pages in reverse order, with a page in the table where there is none, and what is not a number after each sequence.
        let width = lengths.iter().max().map_or(0, |longest| longest.div_ceil(page)) + 1;
        let count: usize = lengths.iter().map(|length| length.div_ceil(page)).sum();
        let mut table = vec![i32::MAX; batch * width];
        let of_pages = |rows: usize| vec![T::of(f64::NAN); count * page * key_heads * rows];
        let (mut keys, mut values) = (of_pages(dim), of_pages(value_dim));
        let (mut number, mut first) = (count, 0);
        for (sequence, &length) in lengths.iter().enumerate() {
            for at in (0..length).step_by(page) {
                number -= 1;
                table[sequence * width + at / page] = number as i32;
                let (from, to) = (first + at, first + length.min(at + page));
                for (pages, all, dim) in [(&mut keys, &k, dim), (&mut values, &v, value_dim)] {
                    let row = key_heads * dim;
                    pages[number * page * row..][..(to - from) * row]
                        .copy_from_slice(&all[from * row..to * row]);
                }
            }
            first += length;
        }
        let lengths: Vec<i32> = lengths.iter().map(|&length| length as i32).collect();
        for device in devices(Attention::TARGETS)? {
            let stream = &device.stream()?;
            let what = format!("{case:?}, pages of {page}, {lengths:?} on {device}");
            let q = stream.upload(&q, [batch, queries, heads, dim])?;
            let keys = stream.upload(&keys, [count, page, key_heads, dim])?;
            let values = stream.upload(&values, [count, page, key_heads, value_dim])?;
            let table = stream.upload(&table, [batch, width])?;
            let lengths = stream.upload(&lengths, [batch])?;
            let pages = Pages { table: &table, lengths: &lengths };
            let slopes: Vec<f32> = (0..heads).map(|head| case.slope(head) as f32).collect();
            let slopes = stream.upload(&slopes, [heads])?;
            let mut out = stream.full([batch, queries, heads, value_dim], T::of(f64::NAN))?;
            let mut lse = stream.full([batch, heads, queries], f32::NAN)?;
            let options = Options {
                mask: case.mask,
                scale: case.scale,
                soft_cap: case.soft_cap,
                slopes: case.slopes.then_some(&slopes),
                lse: Some(&mut lse),
            };
            let mut attention = Attention::new(stream)?;
            if dim == LATENT {
                let cache = keys.reshape([count, page, dim])?;
                attention.decode_latent(stream, &q, &cache, pages, &mut out, options)?;
            } else {
                attention.decode(stream, &q, &keys, &values, pages, &mut out, options)?;
            }
            assert_close(&what, value_dim, &out.to_vec(stream)?, &required.out);
            for (at, actual) in lse.to_vec(stream)?.into_iter().enumerate() {
                let (sequence, head, query) =
                    (at / queries / heads, at / queries % heads, at % queries);
                let (lse, off) = required.lse[head * batch * queries + sequence * queries + query];
                let difference = (f64::from(actual) - lse).abs();
                let same = f64::from(actual) == lse || difference <= off;
                assert!(same, "{what}: lse at {at}: {actual} for {lse}");
            }
        }
        Ok(())
    }
}

#[test]
fn newest_queries_of_every_length() -> Result<()> {
    let lengths = &[1, 7, 0, 63, 64, 65, 130];
    for (page, dim) in [(16, 64), (64, 40), (32, 128)] {
        let (heads, key_heads, value_dim) = (4, 2, dim);
        let case = Case { queries: 1, heads, key_heads, dim, value_dim, ..Case::default() };
        Paged { case, page, lengths }.check::<f16>()?;
    }
    let case = Case { queries: 1, heads: 4, dim: 192, value_dim: 128, ..Case::default() };
    Paged { case, page: 128, lengths }.check::<bf16>()
}

#[test]
fn several_newest_queries_of_any_number_of_heads() -> Result<()> {
    let lengths = &[40, 2, 65];
    for (queries, heads, key_heads) in [(3, 6, 2), (2, 40, 2), (5, 7, 1), (17, 1, 1)] {
        let mask = Mask::Causal;
        let case = Case { queries, heads, key_heads, mask, ..Case::default() };
        Paged { case, page: 16, lengths }.check::<f16>()?;
    }
    Ok(())
}

#[test]
fn options_of_newest_queries() -> Result<()> {
    let case = Case { queries: 3, heads: 6, key_heads: 2, ..Case::default() };
    let (soft_cap, scale) = (Some(3.0), Some(0.3));
    for mask in
        [Mask::Full, Mask::Window { left: 20, right: 0 }, Mask::Window { left: 0, right: 1 }]
    {
        let case = Case { mask, slopes: true, ..case.clone() };
        Paged { case: case.clone(), page: 32, lengths: &[70, 2] }.check::<f16>()?;
        let case = Case { soft_cap, scale, slopes: false, ..case };
        Paged { case, page: 16, lengths: &[70, 2] }.check::<bf16>()?;
    }
    Ok(())
}

#[test]
fn keys_that_several_blocks_share() -> Result<()> {
    let case = Case { queries: 2, heads: 2, mask: Mask::Causal, ..Case::default() };
    Paged { case: case.clone(), page: 64, lengths: &[1030, 3, 300] }.check::<bf16>()?;
    // More parts than are added at once, with larger scores in later ones.
    let (dim, value_dim) = (256, 256);
    let case = Case { queries: 1, heads: 1, dim, value_dim, slopes: true, ..case };
    Paged { case: case.clone(), page: 256, lengths: &[4400] }.check::<f16>()?;
    let mask = Mask::Window { left: 600, right: 0 };
    let case =
        Case { queries: 2, heads: 2, mask, soft_cap: Some(2.0), slopes: true, dim: 128, ..case };
    Paged { case, page: 128, lengths: &[1100, 555] }.check::<f16>()
}

#[test]
fn latent_attention() -> Result<()> {
    let (dim, value_dim, mask) = (LATENT, 512, Mask::Causal);
    let case = Case { queries: 2, heads: 3, dim, value_dim, mask, ..Case::default() };
    Paged { case: case.clone(), page: 64, lengths: &[130, 1, 64] }.check::<bf16>()?;
    let case = Case { soft_cap: Some(4.0), slopes: true, scale: Some(0.1), ..case };
    Paged { case: Case { heads: 65, queries: 1, ..case.clone() }, page: 128, lengths: &[70] }
        .check::<f16>()?;
    // Several blocks share the keys: on Hopper of the second case alone.
    let case = Case { heads: 17, queries: 1, ..case };
    Paged { case: case.clone(), page: 64, lengths: &[1030] }.check::<bf16>()?;
    let case = Case { heads: 1, slopes: false, ..case };
    Paged { case, page: 64, lengths: &[2050] }.check::<f16>()
}

/// Pages of ones for `decode`: a cache, numbers of pages, lengths.
struct Ones {
    q: DeviceTensor<f16, 4>,
    keys: DeviceTensor<f16, 4>,
    values: DeviceTensor<f16, 4>,
    table: DeviceTensor<i32, 2>,
    lengths: DeviceTensor<i32, 1>,
    out: DeviceTensor<f16, 4>,
}

impl Ones {
    fn new(stream: &Stream) -> Result<Ones> {
        let [q, keys, values, out] =
            ones(stream, [[2, 1, 4, 64], [3, 16, 2, 64], [3, 16, 2, 64], [2, 1, 4, 64]])?;
        let (table, lengths) = (stream.zeros([2, 2])?, stream.full([2], 20)?);
        Ok(Ones { q, keys, values, table, lengths, out })
    }

    fn decode(&mut self, stream: &Stream) -> Result<Vec<f16>> {
        let Ones { q, keys, values, table, lengths, out } = self;
        let pages = Pages { table, lengths };
        let options = Options::default();
        Attention::new(stream)?.decode(stream, q, keys, values, pages, out, options)?;
        out.to_vec(stream)
    }
}

#[test]
fn lengths_and_pages_that_there_are_not() -> Result<()> {
    let stream = devices(Attention::TARGETS)?[0].stream()?;
    let is = |out: Vec<f16>, value: f16| assert!(out.iter().all(|&x| x == value), "{out:?}");
    let mut all = Ones::new(&stream)?;
    is(all.decode(&stream)?, f16::ONE);
    // More than the table has room for are cut off.
    all.lengths = stream.full([2], i32::MAX)?;
    is(all.decode(&stream)?, f16::ONE);
    // Without keys, results are 0.
    all.lengths = stream.full([2], i32::MIN)?;
    is(all.decode(&stream)?, f16::ZERO);
    // A page that is not there has zeros: 16 of 20 keys and values are in page 0, and scores of 8 and 0.
    all.lengths = stream.full([2], 20)?;
    for number in [-1, 3, i32::MAX, i32::MIN] {
        all.table = stream.upload(&[0, number, 0, number], [2, 2])?;
        let weight = 16.0 * 8f64.exp();
        is(all.decode(&stream)?, f16::from_f64(weight / (weight + 4.0)));
    }
    // No pages at all.
    all.table = stream.zeros([2, 0])?;
    is(all.decode(&stream)?, f16::ZERO);
    [all.keys, all.values] = ones(&stream, [[0, 16, 2, 64]; 2])?;
    is(all.decode(&stream)?, f16::ZERO);
    // No queries, no heads, no batch.
    [all.q, all.out] = ones(&stream, [[2, 0, 4, 64]; 2])?;
    is(all.decode(&stream)?, f16::ZERO);
    [all.q, all.keys, all.values, all.out] =
        ones(&stream, [[2, 1, 0, 64], [3, 16, 0, 64], [3, 16, 0, 64], [2, 1, 0, 64]])?;
    is(all.decode(&stream)?, f16::ZERO);
    [all.q, all.out] = ones(&stream, [[0, 1, 0, 64]; 2])?;
    (all.table, all.lengths) = (stream.zeros([0, 2])?, stream.zeros([0])?);
    is(all.decode(&stream)?, f16::ZERO);
    Ok(())
}

#[test]
fn pages_that_do_not_fit_are_refused() -> Result<()> {
    let stream = devices(Attention::TARGETS)?[0].stream()?;
    for change in 0..7 {
        let mut all = Ones::new(&stream)?;
        match change {
            0 => all.table = stream.zeros([1, 2])?,
            1 => all.lengths = stream.zeros([3])?,
            2 => [all.q, all.out] = ones(&stream, [[2, 1, 3, 64]; 2])?,
            3 => [all.keys, all.values] = ones(&stream, [[3, 24, 2, 64]; 2])?,
            4 => [all.keys] = ones(&stream, [[3, 16, 2, 72]])?,
            5 => [all.values] = ones(&stream, [[3, 32, 2, 64]])?,
            _ => [all.out] = ones(&stream, [[2, 1, 4, 72]])?,
        }
        let refused = all.decode(&stream);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}

#[test]
fn latent_caches_that_do_not_fit_are_refused() -> Result<()> {
    for device in devices(Attention::TARGETS)? {
        let stream = device.stream()?;
        let (table, lengths) = (stream.zeros([2, 1])?, stream.full([2], 9)?);
        let pages = Pages { table: &table, lengths: &lengths };
        let mut attention = Attention::new(&stream)?;
        for (q, cache, out, fits) in [
            ([2, 1, 3, 576], [1, 64, 576], [2, 1, 3, 512], true),
            ([2, 0, 3, 576], [1, 64, 576], [2, 0, 3, 512], true),
            ([2, 1, 0, 576], [0, 64, 576], [2, 1, 0, 512], true),
            ([2, 1, 3, 512], [1, 64, 576], [2, 1, 3, 512], false),
            ([2, 1, 3, 576], [1, 64, 512], [2, 1, 3, 512], false),
            ([2, 1, 3, 576], [1, 32, 576], [2, 1, 3, 512], false),
            ([2, 1, 3, 576], [1, 64, 576], [2, 1, 3, 576], false),
            ([1, 1, 3, 576], [1, 64, 576], [1, 1, 3, 512], false),
        ] {
            let [q, mut out] = ones(&stream, [q, out])?;
            let cache = stream.full(cache, f16::ONE)?;
            let options = Options::default();
            let result = attention.decode_latent(&stream, &q, &cache, pages, &mut out, options);
            match result {
                Ok(()) => assert!(fits && out.to_vec(&stream)?.iter().all(|&x| x == f16::ONE)),
                Err(error) => assert!(!fits && matches!(error, Error::Shape { .. }), "{error}"),
            }
        }
    }
    Ok(())
}

#[test]
fn what_has_run_can_be_recorded_and_gives_the_same_bits() -> Result<()> {
    let stream = devices(Attention::TARGETS)?[0].stream()?;
    let (heads, length, dim) = (2, 1000, 64);
    let random = |len, seed| numbers::<bf16>(len, seed);
    let q = stream.upload(&random(heads * dim, 1), [1, 1, heads, dim])?;
    let cache = |seed| stream.upload(&random(1024 * dim, seed), [64, 16, 1, dim]);
    let (keys, values) = (cache(2)?, cache(3)?);
    let table: Vec<i32> = (0..64).collect();
    let (table, lengths) = (stream.upload(&table, [1, 64])?, stream.full([1], length)?);
    let pages = Pages { table: &table, lengths: &lengths };
    let mut attention = Attention::new(&stream)?;
    let mut first = stream.zeros([1, 1, heads, dim])?;
    attention.decode(&stream, &q, &keys, &values, pages, &mut first, Options::default())?;
    let mut out = stream.full([1, 1, heads, dim], bf16::NAN)?;
    let graph = stream.device().capture(|stream| {
        let options = Options::default();
        attention.decode(stream, &q, &keys, &values, pages, &mut out, options)
    })?;
    for _ in 0..2 {
        graph.launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, first.to_vec(&stream)?);
    }
    Ok(())
}

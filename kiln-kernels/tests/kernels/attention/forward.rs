//! Attention of all queries.

use half::{bf16, f16};
use kiln::prelude::{Error, Result, Stream, Target};
use kiln_kernels::{
    Half,
    attention::{Attention, Mask, Options, Ragged},
};

use super::{Case, Required, ones};
use crate::support::{Number, assert_close, devices, numbers};

impl Case {
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
        let slopes = self.slopes(stream)?;
        let ([offsets, key_offsets], longest) = self.offsets(stream)?;
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
fn queries_and_keys_of_several_tiles() -> Result<()> {
    let wide = Case { dim: 128, value_dim: 128, ..Case::default() };
    let case = Case { queries: 270, keys: 300, mask: Mask::Causal, ..wide.clone() };
    case.check::<bf16>()?;
    // The largest score grows by hundreds, up to the first keys, which come last.
    Case { queries: 130, keys: 300, scale: Some(2.0), ..wide }.check::<f16>()?;
    // Tiles of queries of one block that see other tiles of keys.
    let mask = Mask::Window { left: 20, right: 0 };
    Case { queries: 260, keys: 400, mask, ..Case::default() }.check::<f16>()
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
        let tensor_maps = [Target::Sm90a, Target::Sm100f].iter().any(|&t| device.runs(t));
        assert_eq!(refused.is_err(), tensor_maps, "{refused:?}");

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

//! The gradients of attention.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Result, Stream};
use kiln_kernels::{
    Half,
    attention::{Attention, Given, Gradients, Mask, Options, Ragged},
};

use super::Case;
use crate::support::{Number, assert_close, devices, numbers};

/// Values, and how far each may be off before it is rounded.
type Values = Vec<(f64, f64)>;

/// What gradients depend on.
struct Inputs<T> {
    q: Vec<T>,
    k: Vec<T>,
    v: Vec<T>,
    out: Vec<T>,
    lse: Vec<f32>,
    d_out: Vec<T>,
}

/// The sum of products, and that of their sizes.
fn product<T: Number>(a: &[T], b: &[T]) -> (f64, f64) {
    let terms = || a.iter().zip(b).map(|(a, b)| a.value() * b.value());
    (terms().sum(), terms().map(f64::abs).sum())
}

/// Adds `factor` times a row, and how far that may be off: `off` times the row.
fn add<T: Number>(sums: &mut [(f64, f64)], row: &[T], factor: f64, off: f64) {
    for (sum, x) in sums.iter_mut().zip(row) {
        sum.0 += factor * x.value();
        sum.1 += off * x.value().abs();
    }
}

impl Case {
    fn inputs<T: Number>(&self) -> Inputs<T> {
        let Case { batch, queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let large = |len, seed| -> Vec<T> {
            numbers::<T>(len, seed).iter().map(|x| T::of(3.0 * x.value())).collect()
        };
        let q = large(batch * queries * heads * dim, 1);
        let k = large(batch * keys * key_heads * dim, 2);
        let v = large(batch * keys * key_heads * value_dim, 3);
        let required = self.reference(&q, &k, &v);
        let out = required.out.iter().map(|x| T::of(x.0)).collect();
        let lse = required.lse.iter().map(|x| x.0 as f32).collect();
        let d_out = large(batch * queries * heads * value_dim, 4);
        Inputs { q, k, v, out, lse, d_out }
    }

    /// The gradients in f64. What no sequence has is not a number.
    fn gradients<T: Number>(&self, inputs: &Inputs<T>) -> [Values; 3] {
        let Case { queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let Inputs { q, k, v, out, lse, d_out } = inputs;
        let nothing = |len| vec![(f64::NAN, 0.0); len];
        let mut dq = nothing(q.len());
        let (mut dk, mut dv) = (nothing(k.len()), nothing(v.len()));
        let (scale, cap) = (self.scale(), self.soft_cap.map(f64::from));
        // f16 is no finer than 2^-24: weights, gradients of scores and results are off by half of that.
        let least = if T::UNIT == f16::UNIT { 2f64.powi(-25) } else { 0.0 };
        for (b, [from, to], [key_from, key_to]) in self.sequences() {
            let key_row = |key: usize, head: usize| (b * keys + key) * key_heads + head;
            for key in key_from..key_to {
                let rows = key_row(key, 0)..key_row(key, key_heads);
                dk[rows.start * dim..rows.end * dim].fill((0.0, least));
                dv[rows.start * value_dim..rows.end * value_dim].fill((0.0, least));
            }
            // Each addition rounds by 2^-24, and Hopper cuts off twice that. So many are there in a sum over keys, and over queries.
            let group = heads / key_heads;
            let sums = ((group * (to - from)).max(key_to - key_from) as f64 + 2.0) * 2f64.powi(-23);
            for (query, head) in (from..to).flat_map(|query| (0..heads).map(move |h| (query, h))) {
                let row = (b * queries + query) * heads + head;
                let top = f64::from(lse[(b * heads + head) * queries + query]);
                let place = (query - from) as i64 + (key_to - key_from) as i64 - (to - from) as i64;
                let (q, d_out) = (&q[row * dim..][..dim], &d_out[row * value_dim..][..value_dim]);
                let (delta, delta_size) = product(&out[row * value_dim..][..value_dim], d_out);
                let dq = &mut dq[row * dim..][..dim];
                dq.fill((0.0, least));
                for key in key_from..key_to {
                    let ahead = (key - key_from) as i64 - place;
                    if !self.sees(ahead) {
                        continue;
                    }
                    let at = key_row(key, head / group);
                    let (k, v) = (&k[at * dim..][..dim], &v[at * value_dim..][..value_dim]);
                    let (s, size) = product(q, k);
                    let (s, s_off) = (s * scale, dim as f64 * 2f64.powi(-23) * size * scale);
                    // A soft cap, its slope, and how far that is off: `tanh` and its argument are rounded, each to 2 ulp.
                    let (s, bend, bend_off) = cap.map_or((s, 1.0, 0.0), |cap| {
                        let t = (s / cap).tanh();
                        let off = s_off / cap + 2f64.powi(-22) * (1.0 + (s / cap).abs());
                        (cap * t, 1.0 - t * t, 2.0 * off + 2f64.powi(-23))
                    });
                    let s = s - self.slope(head) * ahead.abs() as f64;
                    let p = (s - top).exp();
                    // The scale, the cap, the slope and the logarithm are rounded, and `exp2` to 2 ulp.
                    let p_off = s_off + 2f64.powi(-21) * (s.abs() + top.abs() + 2.0);
                    let p_off = p * p_off.exp_m1();
                    let rounded = p_off + (p + p_off) * T::UNIT / 2.0 + least;
                    add(&mut dv[at * value_dim..][..value_dim], d_out, p, rounded + sums * p);
                    let (dp, dp_size) = product(d_out, v);
                    let d = dp - delta;
                    let d_off = value_dim as f64 * 2f64.powi(-23) * (dp_size + delta_size);
                    let ds = p * d * bend;
                    let ds_off = p_off * (d.abs() + d_off) * (bend + bend_off)
                        + p * d_off * (bend + bend_off)
                        + p * d.abs() * bend_off
                        + 2f64.powi(-22) * ds.abs();
                    let rounded = ds_off + (ds.abs() + ds_off) * T::UNIT / 2.0 + least;
                    let off = scale * (rounded + sums * ds.abs());
                    add(&mut dk[at * dim..][..dim], q, scale * ds, off);
                    add(dq, k, scale * ds, off);
                }
            }
        }
        [dq, dk, dv]
    }

    /// Runs the case on the devices of all targets.
    fn check_gradients<T: Number + Half>(&self) -> Result<()> {
        let inputs = self.inputs::<T>();
        let required = self.gradients(&inputs);
        for device in devices(Attention::TARGETS)? {
            let actual = self.run(&device.stream()?, &inputs)?;
            for ((name, actual), required) in ["dq", "dk", "dv"].iter().zip(actual).zip(&required) {
                let columns = if *name == "dv" { self.value_dim } else { self.dim };
                let what = format!("{name} of {self:?} on {device}");
                assert_written(&what, columns, &actual, required);
            }
        }
        Ok(())
    }

    /// The gradients that a device computes, in tensors that were filled with NaN.
    fn run<T: Number + Half>(&self, stream: &Stream, inputs: &Inputs<T>) -> Result<[Vec<T>; 3]> {
        let Case { batch, queries, keys, heads, key_heads, dim, value_dim, .. } = *self;
        let q = stream.upload(&inputs.q, [batch, queries, heads, dim])?;
        let k = stream.upload(&inputs.k, [batch, keys, key_heads, dim])?;
        let v = stream.upload(&inputs.v, [batch, keys, key_heads, value_dim])?;
        let out = stream.upload(&inputs.out, [batch, queries, heads, value_dim])?;
        let d_out = stream.upload(&inputs.d_out, out.shape())?;
        let lse = stream.upload(&inputs.lse, [batch, heads, queries])?;
        let nan = |shape| -> Result<DeviceTensor<T, 4>> { stream.full(shape, T::of(f64::NAN)) };
        let (mut dq, mut dk, mut dv) = (nan(q.shape())?, nan(k.shape())?, nan(v.shape())?);
        let slopes = self.slopes(stream)?;
        let ([offsets, key_offsets], longest) = self.offsets(stream)?;
        let ragged = Ragged { offsets: &offsets, key_offsets: &key_offsets, longest };
        let options = Options {
            mask: self.mask,
            scale: self.scale,
            soft_cap: self.soft_cap,
            slopes: self.slopes.then_some(&slopes),
            lse: None,
        };
        let given = Given { out: &out, lse: &lse, d_out: &d_out };
        let gradients = Gradients { dq: &mut dq, dk: &mut dk, dv: &mut dv };
        let mut attention = Attention::new(stream)?;
        if self.ragged.is_some() {
            attention.backward_ragged(stream, &q, &k, &v, ragged, given, gradients, options)?;
        } else {
            attention.backward(stream, &q, &k, &v, given, gradients, options)?;
        }
        Ok([dq.to_vec(stream)?, dk.to_vec(stream)?, dv.to_vec(stream)?])
    }
}

/// Compares what is in sequences; nothing is written outside of them.
fn assert_written<T: Number>(what: &str, columns: usize, actual: &[T], required: &[(f64, f64)]) {
    let (mut inside, mut inside_required) = (Vec::new(), Vec::new());
    for (at, (&actual, &required)) in actual.iter().zip(required).enumerate() {
        if required.0.is_nan() {
            assert!(actual.value().is_nan(), "{what}: {at} was written");
        } else {
            inside.push(actual);
            inside_required.push(required);
        }
    }
    assert_close(what, columns, &inside, &inside_required);
}

#[test]
fn gradients_of_all_lengths_of_queries_and_keys() -> Result<()> {
    for (queries, keys) in [(1, 1), (7, 80), (80, 17), (64, 64), (65, 63)] {
        let case = Case { queries, keys, dim: 16, value_dim: 16, ..Case::default() };
        case.check_gradients::<bf16>()?;
        Case { mask: Mask::Causal, ..case }.check_gradients::<f16>()?;
    }
    Ok(())
}

#[test]
fn gradients_of_heads_of_every_extent() -> Result<()> {
    let case = Case { queries: 33, keys: 40, mask: Mask::Causal, ..Case::default() };
    for (dim, value_dim) in [(96, 96), (128, 128), (192, 128), (8, 16), (40, 200)] {
        Case { dim, value_dim, ..case.clone() }.check_gradients::<f16>()?;
    }
    Case { dim: 256, value_dim: 256, ..case }.check_gradients::<bf16>()
}

#[test]
fn gradients_through_windows() -> Result<()> {
    let case = Case { dim: 16, value_dim: 16, ..Case::default() };
    for (left, right) in [(0, 0), (3, 0), (0, 70), (66, 1), (usize::MAX, 5)] {
        let mask = Mask::Window { left, right };
        Case { queries: 65, keys: 140, mask, ..case.clone() }.check_gradients::<f16>()?;
    }
    // Queries before all keys see none, and keys before all queries are not seen.
    let mask = Mask::Window { left: 10, right: 2 };
    Case { queries: 150, keys: 65, mask, ..case.clone() }.check_gradients::<bf16>()?;
    Case { queries: 17, keys: 150, mask, ..case }.check_gradients::<bf16>()
}

#[test]
fn gradients_of_heads_that_share_keys_and_of_batches() -> Result<()> {
    let case = Case { batch: 2, queries: 35, keys: 40, heads: 6, ..Case::default() };
    let case = Case { dim: 16, value_dim: 32, ..case };
    Case { key_heads: 2, ..case.clone() }.check_gradients::<bf16>()?;
    Case { key_heads: 6, mask: Mask::Causal, ..case.clone() }.check_gradients::<f16>()?;
    Case { slopes: true, ..case }.check_gradients::<f16>()
}

#[test]
fn gradients_through_soft_caps_slopes_and_scales() -> Result<()> {
    let case = Case { queries: 40, keys: 70, heads: 2, dim: 16, value_dim: 16, ..Case::default() };
    Case { soft_cap: Some(2.0), ..case.clone() }.check_gradients::<f16>()?;
    Case { slopes: true, ..case.clone() }.check_gradients::<f16>()?;
    Case { scale: Some(0.5), mask: Mask::Causal, ..case.clone() }.check_gradients::<bf16>()?;
    let mask = Mask::Window { left: 20, right: 0 };
    let scale = Some(0.3);
    Case { soft_cap: Some(5.0), slopes: true, scale, mask, ..case }.check_gradients::<f16>()
}

#[test]
fn gradients_of_ragged_sequences() -> Result<()> {
    let lengths = vec![[7, 7], [0, 5], [65, 64], [3, 0], [1, 130], [64, 66]];
    let case = Case { queries: 143, keys: 275, ragged: Some(lengths), ..Case::default() };
    let case = Case { dim: 16, value_dim: 16, ..case };
    case.check_gradients::<bf16>()?;
    let mask = Mask::Causal;
    Case { heads: 2, slopes: true, mask, ..case.clone() }.check_gradients::<f16>()?;
    let mask = Mask::Window { left: 9, right: 3 };
    Case { soft_cap: Some(1.0), mask, ..case }.check_gradients::<f16>()
}

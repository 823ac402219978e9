//! The gradients of attention.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Half,
    attention::{Attention, Given, Gradients, Mask, Options, Ragged, Sums},
};

use super::{Case, OTHERS, ones};
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
            let row_of = |key: usize, head: usize| (b * keys + key) * key_heads + head;
            for key in key_from..key_to {
                let rows = row_of(key, 0)..row_of(key, key_heads);
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
                let query_row = &q[row * dim..][..dim];
                let d_out = &d_out[row * value_dim..][..value_dim];
                let (delta, delta_size) = product(&out[row * value_dim..][..value_dim], d_out);
                let dq = &mut dq[row * dim..][..dim];
                dq.fill((0.0, least));
                for key in key_from..key_to {
                    let ahead = (key - key_from) as i64 - place;
                    if !self.sees(ahead) {
                        continue;
                    }
                    let at = row_of(key, head / group);
                    let (key_row, value) =
                        (&k[at * dim..][..dim], &v[at * value_dim..][..value_dim]);
                    let (sum, size) = product(query_row, key_row);
                    let (raw, raw_off) = (sum * scale, dim as f64 * 2f64.powi(-23) * size * scale);
                    // A soft cap, its slope, and how far that is off: `tanh` and its argument are rounded, each to 2 ulp.
                    let (score, bend, bend_off) = cap.map_or((raw, 1.0, 0.0), |cap| {
                        let bent = (raw / cap).tanh();
                        let off = raw_off / cap + 2f64.powi(-22) * (1.0 + (raw / cap).abs());
                        (cap * bent, 1.0 - bent * bent, 2.0 * off + 2f64.powi(-23))
                    });
                    let score = score - self.slope(head) * ahead.abs() as f64;
                    let weight = (score - top).exp();
                    // The scale, the cap, the slope and the logarithm are rounded, and `exp2` to 2 ulp.
                    let off = raw_off + 2f64.powi(-21) * (score.abs() + top.abs() + 2.0);
                    let weight_off = weight * off.exp_m1();
                    let rounded = weight_off + (weight + weight_off) * T::UNIT / 2.0 + least;
                    add(
                        &mut dv[at * value_dim..][..value_dim],
                        d_out,
                        weight,
                        rounded + sums * weight,
                    );
                    let (dp, dp_size) = product(d_out, value);
                    let change = dp - delta;
                    let change_off = value_dim as f64 * 2f64.powi(-23) * (dp_size + delta_size);
                    let ds = weight * change * bend;
                    let ds_off = weight_off * (change.abs() + change_off) * (bend + bend_off)
                        + weight * change_off * (bend + bend_off)
                        + weight * change.abs() * bend_off
                        + 2f64.powi(-22) * ds.abs();
                    let rounded = ds_off + (ds.abs() + ds_off) * T::UNIT / 2.0 + least;
                    let off = scale * (rounded + sums * ds.abs());
                    add(&mut dk[at * dim..][..dim], query_row, scale * ds, off);
                    add(dq, key_row, scale * ds, off);
                }
            }
        }
        [dq, dk, dv]
    }

    /// Runs the case on the devices of all targets.
    fn check_gradients<T: Number + Half>(&self) -> Result<()> {
        self.check_sums::<T>(Sums::InOrder)
    }

    /// The same of gradients of queries that are added up in this way.
    fn check_sums<T: Number + Half>(&self, sums: Sums) -> Result<()> {
        let inputs = self.inputs::<T>();
        let required = self.gradients(&inputs);
        for device in devices(OTHERS)? {
            let actual = self.run(&device.stream()?, &inputs, sums)?;
            for ((name, actual), required) in ["dq", "dk", "dv"].iter().zip(actual).zip(&required) {
                let columns = if *name == "dv" { self.value_dim } else { self.dim };
                let what = format!("{name} of {self:?} on {device}");
                assert_written(&what, columns, &actual, required);
            }
        }
        Ok(())
    }

    /// The gradients that a device computes, in tensors that were filled with NaN.
    fn run<T: Number + Half>(
        &self,
        stream: &Stream,
        inputs: &Inputs<T>,
        sums: Sums,
    ) -> Result<[Vec<T>; 3]> {
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
        let gradients = Gradients { dq: &mut dq, dk: &mut dk, dv: &mut dv, sums };
        let mut attention = Attention::new(stream)?;
        if self.ragged.is_some() {
            attention.backward_ragged(stream, &q, &k, &v, ragged, given, gradients, &options)?;
        } else {
            attention.backward(stream, &q, &k, &v, given, gradients, &options)?;
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
fn gradients_of_queries_that_are_added_up_in_any_order() -> Result<()> {
    let case = Case { queries: 140, keys: 150, dim: 16, value_dim: 24, ..Case::default() };
    case.check_sums::<bf16>(Sums::Atomic)?;
    let causal = Case { mask: Mask::Causal, ..case.clone() };
    Case { heads: 4, key_heads: 2, queries: 40, ..causal.clone() }
        .check_sums::<f16>(Sums::Atomic)?;
    Case { dim: 96, value_dim: 128, ..causal }.check_sums::<f16>(Sums::Atomic)?;
    // What the kernel of atomic operations does not have.
    Case { queries: 9, soft_cap: Some(2.0), ..case.clone() }.check_sums::<f16>(Sums::Atomic)?;
    Case { queries: 9, keys: 0, ..case.clone() }.check_sums::<f16>(Sums::Atomic)?;
    let ragged = Some(vec![[7, 7], [0, 5], [65, 64], [3, 0], [1, 130], [64, 66]]);
    let mask = Mask::Window { left: 9, right: 3 };
    Case { queries: 143, keys: 275, mask, ragged, ..case }.check_sums::<bf16>(Sums::Atomic)
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
    let case = Case { batch: 2, queries: 20, keys: 40, heads: 6, ..Case::default() };
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

#[test]
fn the_reference_is_the_slope_of_attention() {
    let mask = Mask::Window { left: 3, right: 1 };
    let case =
        Case { queries: 5, keys: 6, heads: 2, dim: 4, value_dim: 3, mask, ..Case::default() };
    let case = Case { soft_cap: Some(2.0), slopes: true, scale: Some(0.3), ..case };
    let inputs = case.inputs::<f32>();
    // The result times its gradient, of which the gradients are the slopes.
    let sum = |q: &[f32], k: &[f32], v: &[f32]| -> f64 {
        let results = case.reference(q, k, v).out;
        results.iter().zip(&inputs.d_out).map(|(x, d)| x.0 * d.value()).sum()
    };
    let [dq, dk, dv] = case.gradients(&inputs);
    let step = 1.0 / 256.0;
    for (which, gradients) in [dq, dk, dv].iter().enumerate() {
        for at in 0..gradients.len() {
            let moved = |by: f32| {
                let mut all = [inputs.q.clone(), inputs.k.clone(), inputs.v.clone()];
                all[which][at] += by;
                sum(&all[0], &all[1], &all[2])
            };
            let slope = (moved(step) - moved(-step)) / f64::from(2.0 * step);
            // The step squared, times a third derivative of a few hundred; `f32` rounds results and steps far less.
            let off = (slope - gradients[at].0).abs();
            assert!(off < 4e-3, "{which} at {at}: {} for {slope}", gradients[at].0);
        }
    }
}

#[test]
fn gradients_of_a_sequence_do_not_depend_on_others() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        // The first sequence is of ones, the second is not a number.
        let half = |columns: usize| -> Result<_> {
            let values: Vec<f16> = (0..6 * columns)
                .map(|i| if i < 2 * columns { f16::ONE } else { f16::NAN })
                .collect();
            stream.upload(&values, [1, 6, 1, columns])
        };
        let x = half(64)?;
        let lse = [2f32.ln() + 8.0, 2f32.ln() + 8.0, f32::NAN, f32::NAN, f32::NAN, f32::NAN];
        let lse = stream.upload(&lse, [1, 1, 6])?;
        let [mut dq, mut dk, mut dv] = ones(&stream, [[1, 6, 1, 64]; 3])?;
        let offsets = stream.upload(&[0, 2, 6], [3])?;
        let ragged = Ragged { offsets: &offsets, key_offsets: &offsets, longest: 4 };
        let given = Given { out: &x, lse: &lse, d_out: &x };
        let gradients = Gradients { dq: &mut dq, dk: &mut dk, dv: &mut dv, sums: Sums::InOrder };
        Attention::new(&stream)?.backward_ragged(
            &stream,
            &x,
            &x,
            &x,
            ragged,
            given,
            gradients,
            &Options::default(),
        )?;
        for (gradient, required) in [(dq, 0.0), (dk, 0.0), (dv, 1.0)] {
            let gradient = gradient.to_vec(&stream)?;
            let (first, second) = gradient.split_at(2 * 64);
            assert!(
                first.iter().all(|x| (x.to_f32() - required).abs() < 1e-3),
                "{device}: {first:?}"
            );
            assert!(second.iter().all(|x| x.is_nan()), "{device}: {second:?}");
        }
    }
    Ok(())
}

/// The arguments of a test, ones of these shapes, and gradients of NaN.
struct Ones {
    q: DeviceTensor<f16, 4>,
    k: DeviceTensor<f16, 4>,
    v: DeviceTensor<f16, 4>,
    out: DeviceTensor<f16, 4>,
    d_out: DeviceTensor<f16, 4>,
    lse: DeviceTensor<f32, 3>,
    dq: DeviceTensor<f16, 4>,
    dk: DeviceTensor<f16, 4>,
    dv: DeviceTensor<f16, 4>,
}

impl Ones {
    /// Of attention with these shapes of `q`, `k` and `v`.
    fn new(stream: &Stream, [q, k, v]: [[usize; 4]; 3]) -> Result<Ones> {
        let result = [q[0], q[1], q[2], v[3]];
        let [one, two, three, out, d_out] = ones(stream, [q, k, v, result, result])?;
        let nan = |shape: [usize; 4]| stream.full(shape, f16::NAN);
        Ok(Ones {
            q: one,
            k: two,
            v: three,
            out,
            d_out,
            lse: stream.full([q[0], q[2], q[1]], 8.0 + (k[1] as f32).ln())?,
            dq: nan(q)?,
            dk: nan(k)?,
            dv: nan(v)?,
        })
    }

    fn run(
        &mut self,
        stream: &Stream,
        ragged: Option<Ragged<'_>>,
        options: &Options<'_>,
    ) -> Result<()> {
        let Ones { q, k, v, out, d_out, lse, dq, dk, dv } = self;
        let given = Given { out, lse, d_out };
        let gradients = Gradients { dq, dk, dv, sums: Sums::InOrder };
        let mut attention = Attention::new(stream)?;
        match ragged {
            Some(ragged) => {
                attention.backward_ragged(stream, q, k, v, ragged, given, gradients, options)
            }
            None => attention.backward(stream, q, k, v, given, gradients, options),
        }
    }

    /// The gradients.
    fn gradients(&self, stream: &Stream) -> Result<[Vec<f16>; 3]> {
        Ok([self.dq.to_vec(stream)?, self.dk.to_vec(stream)?, self.dv.to_vec(stream)?])
    }
}

#[test]
fn gradients_with_offsets_outside_of_the_tensors() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        let mut all = Ones::new(&stream, [[1, 6, 1, 64]; 3])?;
        // Sequences of 2, 4, 0 and 0 queries and keys: the totals are those of 6 keys.
        let offsets = stream.upload(&[-3, 2, i32::MAX, i32::MAX, i32::MIN], [5])?;
        let ragged = Ragged { offsets: &offsets, key_offsets: &offsets, longest: 9 };
        all.run(&stream, Some(ragged), &Options::default())?;
        let [dq, dk, dv] = all.gradients(&stream)?;
        // The gradient of each product of values is 64, as is that of its total.
        assert!(dq.iter().chain(&dk).all(|x| *x == f16::ZERO), "{device}");
        for (at, x) in dv.iter().enumerate() {
            let required = if at < 2 * 64 { 2.0 / 6.0 } else { 4.0 / 6.0 };
            assert!((x.to_f32() - required).abs() < 1e-3, "{device} at {at}: {x}");
        }
    }
    Ok(())
}

#[test]
fn queries_past_the_longest_are_left_out() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        let mut all = Ones::new(&stream, [[1, 140, 1, 16]; 3])?;
        let offsets = stream.upload(&[0, 140], [2])?;
        let ragged = Ragged { offsets: &offsets, key_offsets: &offsets, longest: 128 };
        stream.fill(&mut all.lse, 4.0 + 140f32.ln())?;
        all.run(&stream, Some(ragged), &Options::default())?;
        let [dq, _, dv] = all.gradients(&stream)?;
        let (first, last) = dq.split_at(128 * 16);
        assert!(first.iter().all(|x| *x == f16::ZERO) && last.iter().all(|x| x.is_nan()));
        assert!(dv.iter().all(|x| (x.to_f32() - 128.0 / 140.0).abs() < 1e-3), "{device}: {dv:?}");
    }
    Ok(())
}

#[test]
fn gradients_of_heads_before_sequences_and_of_parts_of_one_tensor() -> Result<()> {
    let case = Case { batch: 2, queries: 20, keys: 20, heads: 3, key_heads: 3, ..Case::default() };
    let case = Case { dim: 16, value_dim: 16, mask: Mask::Causal, ..case };
    let inputs = case.inputs::<bf16>();
    let required = case.gradients(&inputs);
    let (shape, dim) = ([case.batch, case.queries, case.heads, case.dim], case.dim);
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        // Queries, keys and values of a head one after the other.
        let [batch, length, heads, _] = shape;
        let all: Vec<bf16> = (0..batch * length * heads)
            .flat_map(|row| [&inputs.q, &inputs.k, &inputs.v].map(|x| &x[row * dim..][..dim]))
            .flatten()
            .copied()
            .collect();
        let joined = stream.upload(&all, [batch, length, heads, 3 * dim])?;
        let part = |i: usize| joined.slice(3, i * dim..(i + 1) * dim);
        let (out, d_out) =
            (stream.upload(&inputs.out, shape)?, stream.upload(&inputs.d_out, shape)?);
        let lse = stream.upload(&inputs.lse, [batch, heads, length])?;
        // Heads before the sequence.
        let nan = || stream.full([batch, heads, length, dim], bf16::NAN);
        let (mut dq, mut dk, mut dv) = (nan()?, nan()?, nan()?);
        let given = Given { out: &out, lse: &lse, d_out: &d_out };
        let gradients = Gradients {
            dq: &mut dq.permute_mut([0, 2, 1, 3])?,
            dk: &mut dk.permute_mut([0, 2, 1, 3])?,
            dv: &mut dv.permute_mut([0, 2, 1, 3])?,
            sums: Sums::InOrder,
        };
        let options = Options { mask: Mask::Causal, ..Options::default() };
        let mut attention = Attention::new(&stream)?;
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        attention.backward(&stream, &q, &k, &v, given, gradients, &options)?;
        for (gradient, required) in [dq, dk, dv].iter().zip(&required) {
            let gradient = gradient.to_vec(&stream)?;
            let rows = (0..batch).flat_map(|b| (0..length).map(move |i| (b, i)));
            let gradient: Vec<bf16> = rows
                .flat_map(|(b, i)| (0..heads).map(move |head| (b * heads + head) * length + i))
                .flat_map(|row| &gradient[row * dim..][..dim])
                .copied()
                .collect();
            assert_close(&format!("{device}"), dim, &gradient, required);
        }
    }
    Ok(())
}

#[test]
fn gradients_of_empty_extents_are_nothing_or_zeros() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        for [batch, queries, keys, heads, dim, value_dim] in [
            [0, 3, 3, 1, 64, 64],
            [2, 0, 3, 1, 64, 64],
            [2, 3, 0, 1, 64, 64],
            [2, 3, 3, 0, 64, 64],
            [2, 3, 3, 1, 64, 0],
        ] {
            let shapes =
                [[batch, queries, heads, dim], [batch, keys, 1, dim], [batch, keys, 1, value_dim]];
            let mut all = Ones::new(&stream, shapes)?;
            all.run(&stream, None, &Options::default())?;
            let [dq, dk, dv] = all.gradients(&stream)?;
            let zeros = dq.iter().chain(&dk).chain(&dv).all(|&x| x == f16::ZERO);
            assert!(zeros, "{device}: {shapes:?}");
        }
        // Without numbers to multiply, all keys count the same.
        let mut all = Ones::new(&stream, [[1, 3, 1, 0], [1, 5, 1, 0], [1, 5, 1, 64]])?;
        stream.fill(&mut all.lse, 5f32.ln())?;
        all.run(&stream, None, &Options::default())?;
        let [_, _, dv] = all.gradients(&stream)?;
        assert!(dv.iter().all(|x| (x.to_f32() - 0.6).abs() < 1e-3), "{device}: {dv:?}");
    }
    Ok(())
}

#[test]
fn gradients_are_nan_for_scales_and_caps_that_are_not_positive() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        for (scale, soft_cap) in [(Some(-1.0), Some(2.0)), (Some(0.0), None), (None, Some(0.0))] {
            let mut all = Ones::new(&stream, [[1, 3, 1, 16]; 3])?;
            all.run(&stream, None, &Options { scale, soft_cap, ..Options::default() })?;
            let gradients = all.gradients(&stream)?;
            assert!(gradients.iter().flatten().all(|x| x.is_nan()), "{scale:?} {soft_cap:?}");
        }
    }
    Ok(())
}

#[test]
fn nan_of_a_query_reaches_the_gradients_of_the_keys_that_it_sees() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        let mut all = Ones::new(&stream, [[1, 140, 1, 16]; 3])?;
        let mut values = vec![f16::ONE; 140 * 16];
        values[136 * 16 + 3] = f16::NAN;
        all.d_out = stream.upload(&values, [1, 140, 1, 16])?;
        let mask = Mask::Window { left: 0, right: 0 };
        all.run(&stream, None, &Options { mask, ..Options::default() })?;
        let [dq, dk, dv] = all.gradients(&stream)?;
        for at in 0..140 * 16 {
            let (row, column) = (at / 16, at % 16);
            assert!(dq[at].is_nan() == (row == 136), "{device}: dq at {row}");
            match row {
                136 => {
                    assert!(dk[at].is_nan(), "{device}: dk at {row}");
                    assert!(dv[at].is_nan() == (column == 3), "{device}: dv at {row}, {column}");
                }
                // Not seen, but perhaps in a tile of keys with one that is.
                128.. => {}
                _ => assert!(!dk[at].is_nan() && !dv[at].is_nan(), "{device}: {row}"),
            }
        }
    }
    Ok(())
}

#[test]
fn gradients_that_do_not_fit_are_refused() -> Result<()> {
    for device in devices(OTHERS)? {
        let stream = device.stream()?;
        let good = [[2, 3, 4, 64], [2, 5, 2, 64], [2, 5, 2, 32]];
        let refused = |change: &dyn Fn(&mut Ones) -> Result<()>| -> Result<()> {
            let mut all = Ones::new(&stream, good)?;
            change(&mut all)?;
            let refused = all.run(&stream, None, &Options::default());
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
            Ok(())
        };
        let other = |shape: [usize; 4]| stream.full(shape, f16::ONE);
        refused(&|all| other([1, 5, 2, 64]).map(|x| all.k = x))?;
        refused(&|all| other([2, 4, 2, 32]).map(|x| all.v = x))?;
        refused(&|all| other([2, 3, 4, 64]).map(|x| all.out = x))?;
        refused(&|all| other([2, 4, 4, 32]).map(|x| all.d_out = x))?;
        refused(&|all| stream.zeros([2, 3, 4]).map(|x| all.lse = x))?;
        refused(&|all| other([2, 3, 4, 32]).map(|x| all.dq = x))?;
        refused(&|all| other([2, 5, 4, 64]).map(|x| all.dk = x))?;
        refused(&|all| other([2, 5, 2, 64]).map(|x| all.dv = x))?;
        for shapes in [
            [[2, 3, 4, 64], [2, 5, 3, 64], [2, 5, 3, 64]],
            [[2, 3, 4, 264], [2, 5, 4, 264], [2, 5, 4, 64]],
        ] {
            let refused = Ones::new(&stream, shapes)?.run(&stream, None, &Options::default());
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        }
        let slopes = stream.zeros([3])?;
        let options = Options { slopes: Some(&slopes), ..Options::default() };
        let refused = Ones::new(&stream, good)?.run(&stream, None, &options);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        // A batch of two, and numbers of offsets that differ.
        let (two, three) = (stream.zeros([2])?, stream.zeros([3])?);
        for (batch, key_offsets) in [(2, &two), (1, &three)] {
            let shapes = [[batch, 3, 4, 64], [batch, 5, 2, 64], [batch, 5, 2, 64]];
            let ragged = Ragged { offsets: &two, key_offsets, longest: 3 };
            let refused =
                Ones::new(&stream, shapes)?.run(&stream, Some(ragged), &Options::default());
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        }
    }
    Ok(())
}

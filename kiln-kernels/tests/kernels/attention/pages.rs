//! Attention of the newest queries to pages of a cache.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Half,
    attention::{Attention, Mask, Options, Pages},
};

use super::{Case, OTHERS, ones};
use crate::support::{Number, assert_close, devices, numbers};

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
        for device in devices(OTHERS)? {
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
    let stream = devices(OTHERS)?[0].stream()?;
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
    let stream = devices(OTHERS)?[0].stream()?;
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
    for device in devices(OTHERS)? {
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
    let stream = devices(OTHERS)?[0].stream()?;
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

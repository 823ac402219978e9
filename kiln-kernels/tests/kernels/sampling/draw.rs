//! Draws, which the host repeats with the same random numbers.

use half::{bf16, f16};
use kiln::{
    prelude::{Error, Result},
    random::Philox,
};
use kiln_kernels::{
    Real,
    sampling::{Cut, Cuts, Seed, TARGETS, greedy, sample, sample_rows},
};

use crate::support::{Number, device, devices, numbers};

const SEED: Seed = Seed { seed: 0x1234_5678_9abc_def0, offset: 1 << 40 };

/// The noise of a token, as the documentation says.
fn noise(seed: Seed, row: usize, columns: usize, column: usize) -> f64 {
    let counter = row * columns.div_ceil(4) + column / 4;
    let words = Philox::new(seed.seed).stream(seed.offset).words_at(counter as u64);
    let word = [words.0, words.1, words.2, words.3][column % 4];
    let u = (f64::from(word) + 0.5) / 4_294_967_296.0;
    -(-(-u).ln_1p()).ln()
}

/// What the sums of a kernel may be off by, of the limit that they are compared with: the powers by 2^-20, and sums of up to 40
/// additions one after the other.
const OFF: f64 = 1e-5;

/// Whether each token stays, and whether it stays if a sum is off.
fn kept(row: &[f64], cut: Cut) -> Vec<(bool, bool)> {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if cut.temperature <= 0.0 {
        return row.iter().map(|&x| (x == top, x == top)).collect();
    }
    let weight = |x: f64| ((x - top) / f64::from(cut.temperature)).exp();
    let is_there = |x: f64| x > f64::NEG_INFINITY && weight(x) >= f64::from(cut.min_p);
    let mut order: Vec<usize> = (0..row.len()).filter(|&i| is_there(row[i])).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    // Those with as many greater ones are cut off.
    if cut.top_k > 0 && cut.top_k < order.len() {
        let last = row[order[cut.top_k - 1]];
        order.retain(|&i| row[i] >= last);
    }
    let total: f64 = order.iter().map(|&i| weight(row[i])).sum();
    let limit = if cut.top_p < 1.0 { f64::from(cut.top_p) * total } else { f64::INFINITY };
    let mut stays = vec![(false, false); row.len()];
    let (mut greater, mut equal) = (0.0, 0.0);
    for (at, &i) in order.iter().enumerate() {
        if at > 0 && row[i] != row[order[at - 1]] {
            greater += equal;
            equal = 0.0;
        }
        equal += weight(row[i]);
        let is_first = row[i] == top;
        let certainly = is_first || greater < limit - OFF * total;
        stays[i] = (certainly, is_first || greater < limit + OFF * total);
    }
    stays
}

/// Checks that a token is one that the host may draw from the same numbers.
fn assert_drawn(what: &str, row: &[f64], cut: Cut, noise: impl Fn(usize) -> f64, token: i32) {
    let kept = kept(row, cut);
    let score = |i: usize| {
        if cut.temperature > 0.0 { row[i] / f64::from(cut.temperature) + noise(i) } else { 0.0 }
    };
    let token = usize::try_from(token).unwrap_or(usize::MAX);
    assert!(kept.get(token).is_some_and(|kept| kept.1), "{what}: {token} is cut off");
    for i in (0..row.len()).filter(|&i| kept[i].0) {
        // A score has three roundings of numbers up to 64, and logarithms of noise that is not near 0.
        let is_less = score(i) <= score(token) + 1e-4;
        assert!(is_less, "{what}: {token} for {i}, {} for {}", score(token), score(i));
    }
}

fn draws<T: Number + Real>(columns: usize, rows: usize, spread: f64, cuts: &[Cut]) -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let host: Vec<T> = numbers::<f32>(rows * columns, 3)
            .into_iter()
            .map(|x| T::of(f64::from(x) * spread))
            .collect();
        let logits = stream.upload(&host, [rows, columns])?;
        for &cut in cuts {
            let mut tokens = stream.full([rows], -9)?;
            sample(&stream, cut, SEED, &logits, &mut tokens)?;
            for (row, token) in tokens.to_vec(&stream)?.into_iter().enumerate() {
                let scores: Vec<f64> =
                    host[row * columns..][..columns].iter().map(|x| x.value()).collect();
                let what = format!("row {row} of {columns}, {cut:?}");
                assert_drawn(&what, &scores, cut, |i| noise(SEED, row, columns, i), token);
            }
        }
    }
    Ok(())
}

#[test]
fn tokens_are_drawn_from_what_the_cuts_leave() -> Result<()> {
    let all = Cut::default();
    let cuts = [
        all,
        Cut { temperature: 0.0, ..all },
        Cut { top_k: 3, ..all },
        Cut { top_p: 0.5, ..all },
        Cut { temperature: 3.0, min_p: 0.3, ..all },
        Cut { temperature: 0.7, min_p: 0.01, top_k: 20, top_p: 0.9 },
        Cut { top_p: 0.0, ..all },
        Cut { top_k: usize::MAX, top_p: 2.0, ..all },
        Cut { min_p: 1.0, ..all },
    ];
    draws::<f32>(50, 4, 4.0, &cuts)?;
    draws::<bf16>(8203, 1, 8.0, &cuts)?;
    draws::<f16>(1, 2, 1.0, &cuts[..3])
}

/// A row in which one token has the most noise, so that it is drawn at a high temperature if and only if it is left: there are `rank` with
/// greater scores.
fn around(columns: usize, rank: usize, score_of: impl Fn(usize) -> f64) -> (Vec<f32>, usize) {
    let loudest = (0..columns)
        .max_by(|&a, &b| noise(SEED, 0, columns, a).total_cmp(&noise(SEED, 0, columns, b)))
        .unwrap_or(0);
    // Other ranks in an order that is not theirs: steps of a number without a common factor.
    let step = 7919;
    let mut ranks: Vec<usize> = (0..columns).map(|i| (i * step) % columns).collect();
    let other = ranks.iter().position(|&r| r == rank).unwrap_or(0);
    ranks.swap(loudest, other);
    (ranks.into_iter().map(|rank| score_of(rank) as f32).collect(), loudest)
}

/// Draws one token of a row, which the host checks.
fn drawn(row: &[f32], cut: Cut) -> Result<Vec<usize>> {
    let mut drawn = Vec::new();
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let mut tokens = stream.full([1], -9)?;
        sample(&stream, cut, SEED, &stream.upload(row, [1, row.len()])?, &mut tokens)?;
        let token = tokens.to_vec(&stream)?[0];
        let scores: Vec<f64> = row.iter().map(|&x| x.into()).collect();
        let noise = |i| noise(SEED, 0, row.len(), i);
        assert_drawn(&format!("{cut:?}"), &scores, cut, noise, token);
        drawn.push(token as usize);
    }
    Ok(drawn)
}

#[test]
fn exactly_k_tokens_are_left() -> Result<()> {
    let columns = 9000;
    // In few, in what fits shared memory, and in more; of scores in steps and of such as are close together.
    for rank in [2, 1500, 2500, 8000] {
        for curved in [false, true] {
            let score_of = |rank: usize| {
                let x = -(rank as f64) / 500.0;
                if curved { x.exp() } else { x }
            };
            let (row, loudest) = around(columns, rank, score_of);
            for (top_k, is_left) in [(rank, false), (rank + 1, true)] {
                let cut = Cut { temperature: 1000.0, top_k, ..Cut::default() };
                let drawn = drawn(&row, cut)?;
                assert!(drawn.iter().all(|&i| (i == loudest) == is_left), "{cut:?}: {drawn:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn exactly_the_nucleus_is_left() -> Result<()> {
    let columns = 9000;
    // Of 1000 tokens that have all of the probability, and of all tokens, the first `rank` have a share.
    for (loud, rank) in [(1000, 300), (9000, 3000), (9000, 7000)] {
        let score_of = |rank: usize| if rank < loud { -(rank as f64) / 1e6 } else { -100.0 };
        let (row, loudest) = around(columns, rank, score_of);
        let weight = |rank: usize| score_of(rank).exp();
        let total: f64 = (0..columns).map(weight).sum();
        let greater: f64 = (0..rank).map(weight).sum();
        for (by, is_left) in [(-0.5, false), (0.5, true)] {
            let top_p = ((greater + by * weight(rank)) / total) as f32;
            let drawn = drawn(&row, Cut { top_p, ..Cut::default() })?;
            assert!(drawn.iter().all(|&i| (i == loudest) == is_left), "{rank}, {by}: {drawn:?}");
        }
    }
    Ok(())
}

#[test]
fn equal_scores_are_cut_off_together() -> Result<()> {
    let columns = 9000;
    // Ten greater ones, and 5000 equal ones, of which the loudest is one.
    let score_of = |rank: usize| match rank {
        0..10 => 1.0,
        10..5010 => 0.5,
        _ => 0.0,
    };
    let (row, loudest) = around(columns, 4000, score_of);
    for (top_k, is_left) in [(10, false), (11, true), (5010, true)] {
        let drawn = drawn(&row, Cut { temperature: 100.0, top_k, ..Cut::default() })?;
        assert!(drawn.iter().all(|&i| (i == loudest) == is_left), "{top_k}: {drawn:?}");
    }
    let cut = Cut { temperature: 100.0, top_k: 5000, top_p: 0.5, min_p: 0.0 };
    assert_eq!(drawn(&row, cut)?, vec![loudest; devices(TARGETS)?.len()]);
    Ok(())
}

#[test]
fn scores_of_nan_and_infinity() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for (row, possible) in [
        ([nan, 1.0, -inf, nan], [1].as_slice()),
        ([nan, -inf, -inf, nan], &[-1]),
        ([1.0, inf, 7.0, inf], &[1, 3]),
        ([-inf, -1e38, -inf, 1e38], &[3]),
    ] {
        let logits = stream.upload(&row, [1, 4])?;
        let all = Cut::default();
        for cut in [
            all,
            Cut { temperature: 0.0, ..all },
            Cut { top_k: 2, ..all },
            Cut { min_p: 0.1, top_p: 0.5, ..all },
        ] {
            let mut tokens = stream.full([1], -9)?;
            sample(&stream, cut, SEED, &logits, &mut tokens)?;
            let token = tokens.to_vec(&stream)?[0];
            assert!(possible.contains(&token), "{token} of {row:?}, {cut:?}");
        }
    }
    let mut row = vec![2.0; 9000];
    (row[3], row[4], row[5]) = (inf, nan, -inf);
    let cut = Cut { temperature: inf, top_p: 0.5, min_p: 1.0, top_k: 8000 };
    let logits = stream.upload(&row, [1, 9000])?;
    let mut tokens = stream.full([1], -9)?;
    sample(&stream, cut, SEED, &logits, &mut tokens)?;
    let token = tokens.to_vec(&stream)?[0];
    assert!((0..9000).contains(&token) && ![4, 5].contains(&token), "{token}");
    let mut tokens = stream.full([2], -9)?;
    sample(&stream, Cut::default(), SEED, &stream.zeros::<f32, 2>([2, 0])?, &mut tokens)?;
    assert_eq!(tokens.to_vec(&stream)?, [-1, -1]);
    sample(&stream, Cut::default(), SEED, &stream.zeros::<f32, 2>([0, 5])?, &mut stream.zeros([0])?)
}

#[test]
fn each_row_has_its_own_cut_and_its_own_seed() -> Result<()> {
    let (rows, columns) = (4, 300);
    let host: Vec<f32> = numbers::<f32>(columns, 5).into_iter().map(|x| 3.0 * x).collect();
    let all = Cut::default();
    let cuts = [
        Cut { temperature: 0.0, ..all },
        Cut { top_k: 7, ..all },
        Cut { top_p: 0.4, temperature: 2.0, ..all },
        Cut { min_p: 0.2, ..all },
    ];
    let seeds = [5, 6, 5, u64::MAX];
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let logits = stream.upload(&host.repeat(rows), [rows, columns])?;
        let of = |f: fn(&Cut) -> f32| stream.upload(&cuts.map(|cut| f(&cut)), [rows]);
        let top_k = stream.upload(&cuts.map(|cut| cut.top_k as i32), [rows])?;
        let mut tokens = stream.full([rows], -9)?;
        let given = Cuts {
            temperature: &of(|cut| cut.temperature)?,
            min_p: &of(|cut| cut.min_p)?,
            top_k: &top_k,
            top_p: &of(|cut| cut.top_p)?,
            seed: &stream.upload(&seeds, [rows])?,
        };
        sample_rows(&stream, given, 9, &logits, &mut tokens)?;
        let scores: Vec<f64> = host.iter().map(|&x| x.into()).collect();
        for (row, token) in tokens.to_vec(&stream)?.into_iter().enumerate() {
            let seed = Seed { seed: seeds[row], offset: 9 };
            let noise = |i| noise(seed, 0, columns, i);
            assert_drawn(&format!("row {row}"), &scores, cuts[row], noise, token);
        }
        let refused =
            sample_rows(&stream, given, 9, &logits.slice(0, 0..3)?, &mut stream.zeros([3])?);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}

#[test]
fn a_graph_draws_from_other_scores() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let mut logits = stream.zeros::<f32, 2>([1, 3])?;
    let mut tokens = stream.full([1], -9)?;
    let cut = Cut { top_k: 1, ..Cut::default() };
    let graph =
        stream.device().capture(|stream| sample(stream, cut, SEED, &logits, &mut tokens))?;
    stream.write(&mut logits, &[1.0, 2.0, 3.0])?;
    graph.launch(&stream)?;
    drop(graph);
    assert_eq!(tokens.to_vec(&stream)?, [2]);
    Ok(())
}

#[test]
fn tokens_are_as_frequent_as_the_softmax_says() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let (rows, shares) = (400, [0.4f32, 0.3, 0.2, 0.1]);
    let row = shares.map(|share| 2.0 * share.ln());
    let logits = stream.upload(&row.repeat(rows), [rows, 4])?;
    let mut tokens = stream.full([rows], -9)?;
    let cut = Cut { temperature: 2.0, ..Cut::default() };
    sample(&stream, cut, Seed { seed: 7, offset: 0 }, &logits, &mut tokens)?;
    let tokens = tokens.to_vec(&stream)?;
    let square = |(token, share): (i32, f32)| {
        let count = tokens.iter().filter(|&&x| x == token).count() as f64;
        let required = f64::from(share) * rows as f64;
        (count - required).powi(2) / required
    };
    // Of three degrees of freedom, a number above 16.3 has the probability 0.001.
    let sum: f64 = (0..).zip(shares).map(square).sum();
    assert!(sum < 16.3, "{sum}");
    Ok(())
}

#[test]
fn the_greatest_score_is_taken() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let mut tokens = stream.zeros::<i32, 1>([2])?;
    let logits = stream.upload(&[1.0f32, 4.0, 4.0, -2.0, -1.0, -1.0], [2, 3])?;
    greedy(&stream, &logits, &mut tokens)?;
    assert_eq!(tokens.to_vec(&stream)?, [1, 1]);
    let refused = greedy(&stream, &logits, &mut stream.zeros([3])?);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    let refused = sample(&stream, Cut::default(), SEED, &logits, &mut stream.zeros([3])?);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}

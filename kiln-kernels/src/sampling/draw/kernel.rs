//! The kernel.

/// Draws.
#[kiln::kernel]
pub(super) mod tokens {
    use crate::order::items::{key, number};
    use kiln::{prelude::*, random::Philox};

    /// Columns of a tile.
    const N: i32 = 8192;
    /// How many scores fit shared memory, where they are sorted.
    const S: i32 = 2048;

    /// A cut and a seed for each row, or tensors without elements.
    pub(crate) struct Cuts {
        temperature: Tensor<f32, 1>,
        min_p: Tensor<f32, 1>,
        top_k: Tensor<i32, 1>,
        top_p: Tensor<f32, 1>,
        seed: Tensor<u64, 1>,
    }

    /// The scores of a tile, in f32; outside of the row -inf.
    fn scores<T: Float>(logits: Tensor<T, 2>, row: i32, at: i32) -> Tile<f32> {
        let x = logits.tile([row, at], [1, N]).load().cast::<f32>();
        select((at + arange(0, N)).lt(logits.dim(1)).expand(0), x, f32::NEG_INFINITY)
    }

    /// How far scores are below the greatest one, in temperatures.
    fn below(x: Tile<f32>, top: f32, scale: f32) -> Tile<f32> {
        // Two infinities are not apart, and an infinite distance in infinite temperatures is 0.
        select(x.eq(top), 0.0, maximum(x - top, f32::MIN) * scale)
    }

    /// Noise of the Gumbel distribution.
    fn noise(word: Tile<u32>) -> Tile<f32> {
        let u = (word.cast::<f32>() + 0.5) * 2.328_306_4e-10;
        // Near 0, `1 - u` rounds away what decides.
        let near = u * (1.0 + u * (0.5 + u * (0.333_333_34 + u * 0.25)));
        let wait = select(u.lt(0.015_625), near, -(1.0 - u).ln());
        -wait.ln()
    }

    /// What the scores of a row that are at least each of three numbers sum up to: their powers if `weighs`, else their number; and the
    /// number.
    fn sums<T: Float, const G: i32>(
        logits: Tensor<T, 2>,
        row: i32,
        pivots: Array<f32>,
        weighs: bool,
        top: f32,
        scale: f32,
    ) -> (Array<f32>, Array<i32>) {
        let (mut powers, mut numbers) =
            (array(3, |_| zeros::<f32>([N / G])), array(3, |_| zeros::<i32>([N / G])));
        for at in range(0, logits.dim(1), N) {
            let x = scores(logits, row, at).reshape([N / G, G]);
            let power =
                if weighs { below(x, top, scale).exp_approx() } else { full([N / G, G], 1.0) };
            for i in unroll(0..3) {
                let is_above = x.ge(pivots[i]);
                powers[i] += select(is_above, power, 0.0).sum(1);
                numbers[i] += is_above.cast::<i32>().sum(1);
            }
        }
        (array(3, |i| powers[i].sum(0).item()), array(3, |i| numbers[i].sum(0).item()))
    }

    /// Brings the scores that are at least `low` to shared memory, in any order, with their columns.
    fn collect<T: Float>(
        logits: Tensor<T, 2>,
        row: i32,
        low: f32,
        found: Shared<f32>,
        columns: Shared<i32>,
        count: Shared<i32>,
    ) {
        sync();
        found.store(full([S], f32::NEG_INFINITY));
        columns.store(full([S], i32::MAX));
        count.store(zeros([1]));
        sync();
        for at in range(0, logits.dim(1), N) {
            let x = scores(logits, row, at).reshape([N]);
            let is_found = x.ge(low);
            let place = count.atomic_add(select(is_found, full([N], 0), -1), full([N], 1));
            let place = select(is_found, place, -1);
            found.scatter(place, x);
            columns.scatter(place, at + arange(0, N));
        }
        sync();
    }

    /// The least of sorted scores before which there is less than `limit`.
    fn last_kept(sorted: Tile<f32>, weight: Tile<f32>, limit: f32) -> f32 {
        let before = weight.scan_exclusive(0, 0.0, |a, b| a + b);
        let is_kept = before.lt(limit) & sorted.gt(f32::NEG_INFINITY);
        select(is_kept, sorted, f32::INFINITY).min(0).item()
    }

    /// The powers of sorted scores, of those that are at least `low`.
    fn weights(sorted: Tile<f32>, low: f32, top: f32, scale: f32) -> Tile<f32> {
        select(sorted.ge(low), below(sorted, top, scale).exp_approx(), 0.0)
    }

    /// A block draws a token of a row.
    #[kernel(target = sm_80, warps = 16, grid = logits.dim(0), instances((T, G) = [(bf16, 8), (f16, 8), (f32, 4)]))]
    pub fn draw<T: Float, const G: i32>(
        logits: Tensor<T, 2>,
        temperature: f32,
        min_p: f32,
        top_k: i32,
        top_p: f32,
        seed: u64,
        offset: u64,
        cuts: Cuts,
        tokens: TensorMut<i32, 1>,
    ) {
        let row = block_id(0);
        let (mut temperature, mut min_p, mut top_k, mut top_p) = (temperature, min_p, top_k, top_p);
        let (mut seed, mut first) = (seed, row as u64 * cdiv(logits.dim(1), 4) as u64);
        if cuts.seed.dim(0) > 0 {
            temperature = cuts.temperature.tile([row], [1]).load().item();
            min_p = cuts.min_p.tile([row], [1]).load().item();
            top_k = cuts.top_k.tile([row], [1]).load().item();
            top_p = cuts.top_p.tile([row], [1]).load().item();
            seed = cuts.seed.tile([row], [1]).load().item();
            first = 0;
        }
        let philox = Philox::new(seed).stream(offset);
        let (found, columns) = (shared::<f32>([S]), shared::<i32>([S]));
        let count = shared::<i32>([1]);

        // The greatest score, and the least that can be drawn.
        let mut tops = full::<f32>([N / G], f32::NEG_INFINITY);
        let mut leasts = full::<f32>([N / G], f32::INFINITY);
        let mut numbers = zeros::<i32>([N / G]);
        for at in range(0, logits.dim(1), N) {
            let x = scores(logits, row, at).reshape([N / G, G]);
            let is_number = x.gt(f32::NEG_INFINITY);
            tops = maximum(tops, select(is_number, x, f32::NEG_INFINITY).max(1));
            leasts = minimum(leasts, select(is_number, x, f32::INFINITY).min(1));
            numbers += is_number.cast::<i32>().sum(1);
        }
        let (top, least) = (tops.max(0).item(), leasts.min(0).item());

        // Scores below `low` are cut off. At most `at_least` are not below it, once the number is known so many.
        let (mut low, mut at_least) = (least, numbers.sum(0).item());
        let is_greedy = !(temperature > 0.0);
        let scale = if is_greedy { f32::INFINITY } else { 1.0 / temperature };
        if is_greedy {
            (low, top_k, top_p) = (top, 0, 1.0);
        } else if min_p > 0.0 {
            low = low.max(top + temperature * min_p.min(1.0).ln());
        }

        // First `top_k`, then `top_p`. What fits shared memory is cut off there.
        let mut limit = -1.0;
        for step in 0..2 {
            let weighs = step == 1;
            let mut most = top_k as f32;
            let mut is_known = !weighs && low == least;
            let mut is_cut =
                if weighs { top_p < 1.0 } else { !is_known || top_k > 0 && top_k < at_least };
            // The sum of scores from `low` on is at least `most`, and that from `high` on, of which there are `kept`, is not.
            let (mut low_key, mut high_key) = (key(low), key(top) + 1);
            let (mut high, mut kept) = (number(high_key), 0);
            let mut is_linear = true;
            while is_cut
                && at_least > S
                && at_least - kept > 1
                && high_key as i64 - low_key as i64 > 1
            {
                let quarter = ((high_key as i64 - low_key as i64) / 4) as i32;
                let half = ((high_key as i64 - low_key as i64) / 2) as i32;
                let keys = array(3, |i| {
                    let between = low + (high - low) * ((i + 1) as f32 * 0.25);
                    if !is_known {
                        low_key
                    } else if is_linear && between > low && between < high {
                        key(between)
                    } else {
                        low_key + (i + 1) % 2 * quarter + (i + 1) / 2 * half
                    }
                });
                let pivots = array(3, |i| number(keys[i]));
                let (sums, numbers) = sums::<T, G>(logits, row, pivots, weighs, top, scale);
                if is_known {
                    for i in unroll(0..3) {
                        if sums[i] >= most {
                            (low_key, low, at_least) = (keys[i], pivots[i], numbers[i]);
                        }
                    }
                    for i in unroll(0..3) {
                        let i = 2 - i;
                        if !(sums[i] >= most) {
                            (high_key, high, kept) = (keys[i], pivots[i], numbers[i]);
                        }
                    }
                    is_linear = !is_linear;
                } else {
                    is_known = true;
                    at_least = numbers[0];
                    if weighs {
                        most = sums[0] * top_p.max(1e-30);
                        limit = most;
                    } else {
                        is_cut = top_k > 0 && top_k < at_least;
                    }
                }
            }
            if is_cut && at_least > S {
                // The threshold is found: what is between is one score, maybe that of several tokens.
                if weighs { top_p = 1.0 } else { top_k = 0 }
            }
        }

        let token =
            if at_least <= S {
                collect(logits, row, low, found, columns, count);
                let (x, column) = (found.load(), columns.load());
                if (top_k > 0 && top_k < at_least) || top_p < 1.0 {
                    let sorted = x.sort_descending(0);
                    if top_k > 0 && top_k < at_least {
                        low = last_kept(sorted, full([S], 1.0), top_k as f32);
                    }
                    if top_p < 1.0 {
                        let weight = weights(sorted, low, top, scale);
                        let most = if limit < 0.0 {
                            weight.sum(0).item() * top_p.max(1e-30)
                        } else {
                            limit
                        };
                        low = last_kept(sorted, weight, most);
                    }
                }
                let (a, b, c, d) = philox.words(first + (column / 4).cast::<u64>());
                let place = column & 3;
                let word =
                    select(place.lt(2), select(place.eq(0), a, b), select(place.eq(2), c, d));
                let noise = if is_greedy { zeros([S]) } else { noise(word) };
                let score = select(x.ge(low), below(x, top, scale) + noise, f32::NEG_INFINITY);
                let column = select(x.ge(low), column, i32::MAX);
                let (_, drawn) = (score, column).reduce(0, |(a, i), (b, j)| {
                    if b > a || (b == a && j < i) { (b, j) } else { (a, i) }
                });
                drawn.item()
            } else {
                let mut bests = full::<f32>([N / G], f32::NEG_INFINITY);
                let mut drawn = full::<i32>([N / G], i32::MAX);
                for at in range(0, logits.dim(1), N) {
                    let x = scores(logits, row, at).reshape([N / G, G]);
                    let (a, b, c, d) =
                        philox.words(first + (at / 4 + arange(0, N / 4)).cast::<u64>());
                    let word = join(join(a, c), join(b, d)).reshape([N / G, G]);
                    let noise = if is_greedy { zeros([N / G, G]) } else { noise(word) };
                    let score = select(x.ge(low), below(x, top, scale) + noise, f32::NEG_INFINITY);
                    let (score, place) = (score.max(1), score.argmax(1));
                    let is_new = score.gt(bests);
                    bests = select(is_new, score, bests);
                    drawn = select(is_new, at + arange(0, N / G) * G + place, drawn);
                }
                let (_, all) = (bests, drawn).reduce(0, |(a, i), (b, j)| {
                    if b > a || (b == a && j < i) { (b, j) } else { (a, i) }
                });
                all.item()
            };
        tokens.tile([row], [1]).store(full([1], if at_least > 0 { token } else { -1 }));
    }
}

//! Fits the model of a card that chooses the plans of products to measured times.
//!
//! `cargo run --release -p benches --bin fit -- TABLE [MULTIPROCESSORS] [--keep NAME,NAME]`: the table is what `products --plans` prints. Numbers
//! that are kept stay as they are; no other becomes more than four times as large or small.
//!
//! Times are fitted in proportion, and what the chosen plans lose against the best ones counts as well.
#![expect(clippy::print_stdout, reason = "a program that prints its result")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of plans are small"
)]

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use kiln::prelude::bf16;
use kiln_kernels::matmul::{Major, Model, Plan, Sums};

/// How much a mean loss of the chosen plans counts beside the mean square of the errors of times.
const LOSSES: f64 = 4.0;
/// Models that are tried at random.
const ATTEMPTS: u32 = 40_000;
/// Plans that take more than this of the best time are not worth a good estimate.
const SLOW: f64 = 2.5;

/// The measured plans of one product, with their times in microseconds, and the time of the peer.
struct Product {
    plans: Vec<(Plan, f64)>,
    best: f64,
    peer: f64,
}

fn read(table: &str, multiprocessors: usize) -> Result<BTreeMap<[usize; 3], Product>> {
    let mut products = BTreeMap::new();
    for line in table.lines().filter(|line| line.starts_with("| ") && line.contains(" blocks")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        ensure!(cells.len() == 9, "`{line}` is no row of `products`");
        let shape = [cells[0].parse()?, cells[1].parse()?, cells[2].parse()?];
        let time: f64 = cells[4].parse()?;
        let peer = cells[7].parse()?;
        let [m, n, k] = shape;
        let candidates = Plan::candidates::<bf16, bf16, bf16>(
            [1, m, n, k],
            [Major::K; 2],
            Sums::Precise,
            multiprocessors,
        );
        let plan = candidates.into_iter().find(|plan| plan.to_string() == cells[3]);
        let plan = plan.with_context(|| format!("`{}` is no plan for {shape:?}", cells[3]))?;
        let product =
            products.entry(shape).or_insert(Product { plans: Vec::new(), best: time, peer });
        product.plans.push((plan, time));
        product.best = product.best.min(time);
    }
    ensure!(!products.is_empty(), "the table has no rows");
    Ok(products)
}

/// The time of the plan that a model chooses, for each product, in proportion to the best.
fn losses(model: &Model, products: &BTreeMap<[usize; 3], Product>, count: usize) -> Vec<f64> {
    let chosen = |product: &Product| {
        let times =
            product.plans.iter().map(|(plan, time)| (plan.microseconds(model, count), time));
        let least = times.min_by(|(one, _), (other, _)| one.total_cmp(other));
        least.map_or(1.0, |(_, time)| time / product.best)
    };
    products.values().map(chosen).collect()
}

fn fault(model: &Model, products: &BTreeMap<[usize; 3], Product>, count: usize) -> f64 {
    let (mut squares, mut plans) = (0.0, 0.0);
    for product in products.values() {
        for (plan, time) in &product.plans {
            if *time < SLOW * product.best {
                squares += (plan.microseconds(model, count) / time).ln().powi(2);
                plans += 1.0;
            }
        }
    }
    let lost: f64 = losses(model, products, count).iter().map(|loss| loss - 1.0).sum();
    squares / plans + LOSSES * lost / products.len() as f64
}

/// Whether a model is near that of an H200, and has its numbers of these names.
fn is_near(mut model: Model, keep: &[String]) -> bool {
    let mut start = Model::H200;
    model.numbers().iter().zip(start.numbers()).all(|((name, number), (_, start))| {
        let most = if keep.iter().any(|kept| kept == name) { 1.0 } else { 4.0 };
        let ratio = **number / *start;
        (1.0 / most..=most).contains(&ratio)
    })
}

/// A model in which no single number can be changed for the better.
fn descended(mut model: Model, fault: &impl Fn(&Model) -> f64) -> Model {
    let (mut least, mut step) = (fault(&model), 0.3);
    while step > 0.002 {
        let mut improved = false;
        for at in 0..model.numbers().len() {
            for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                let mut other = model;
                *other.numbers()[at].1 *= factor;
                let fault = fault(&other);
                if fault < least {
                    (least, model, improved) = (fault, other, true);
                }
            }
        }
        if !improved {
            step /= 2.0;
        }
    }
    model
}

fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut keep = Vec::new();
    if let Some(at) = args.iter().position(|arg| arg == "--keep") {
        let names = args.get(at + 1).context("`--keep` takes names of numbers")?.clone();
        keep = names.split(',').map(str::to_owned).collect();
        args.drain(at..at + 2);
    }
    let path = args.first().context("the table that `products --plans` printed is missing")?;
    let multiprocessors = args.get(1).map_or(Ok(132), |text| text.parse())?;
    let products = read(&std::fs::read_to_string(path)?, multiprocessors)?;
    let fault = |model: &Model| {
        if is_near(*model, &keep) {
            fault(model, &products, multiprocessors)
        } else {
            f64::INFINITY
        }
    };
    let mut model = descended(Model::H200, &fault);
    let mut least = fault(&model);
    // Several numbers at once, at random: alone each may be the best for the others.
    let mut seed: u64 = 1;
    let mut uniform = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 40) as f64 / f64::from(1u32 << 24)
    };
    for attempt in 0..ATTEMPTS {
        let reach = 0.6 * (1.0 - f64::from(attempt) / f64::from(ATTEMPTS)) + 0.01;
        let mut other = model;
        let mut numbers = other.numbers();
        for _ in 0..3 {
            let at = (uniform() * numbers.len() as f64) as usize;
            *numbers[at].1 *= (reach * (2.0 * uniform() - 1.0)).exp();
        }
        let fault = fault(&other);
        if fault < least {
            (least, model) = (fault, other);
        }
    }
    let model = descended(model, &fault);
    let mut shown = model;
    for (name, number) in shown.numbers() {
        println!("    {name}: {number:.4e},");
    }
    for (what, model) in [("before", Model::H200), ("after", model)] {
        let losses = losses(&model, &products, multiprocessors);
        let within = losses.iter().filter(|&&loss| loss < 1.03).count();
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            (values.map(f64::ln).sum::<f64>() / products.len() as f64).exp()
        };
        let ratios = products.values().zip(&losses).map(|(one, loss)| one.peer / one.best / loss);
        println!(
            "{what}: chosen plans take {:.3} of the best time, within 3% on {within} of {}; peer / Kiln {:.3}, least {:.3}",
            mean(&mut losses.iter().copied()),
            losses.len(),
            mean(&mut ratios.clone()),
            ratios.fold(f64::INFINITY, f64::min),
        );
    }
    Ok(())
}

//! Fits the model of a card that chooses the plans of products to measured times.
//!
//! `cargo run --release -p benches --bin fit -- TABLE [MULTIPROCESSORS]`: the table is what `products --plans` prints.
//!
//! Times are fitted in proportion, and what the chosen plans lose against the best ones counts as well.
#![expect(clippy::print_stdout, reason = "a program that prints its result")]
#![expect(clippy::cast_precision_loss, reason = "numbers of plans are small")]

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use kiln::prelude::bf16;
use kiln_kernels::matmul::{Major, Model, Plan};

/// How much a mean loss of the chosen plans counts beside the mean square of the errors of times.
const LOSSES: f64 = 4.0;
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
    for line in table.lines().filter(|line| line.starts_with("| ") && line.contains(" waves")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        ensure!(cells.len() == 9, "`{line}` is no row of `products`");
        let shape = [cells[0].parse()?, cells[1].parse()?, cells[2].parse()?];
        let time: f64 = cells[4].parse()?;
        let peer = cells[7].parse()?;
        let candidates = Plan::candidates::<bf16>(shape, [Major::K; 2], multiprocessors);
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

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().context("the table that `products --plans` printed is missing")?;
    let multiprocessors = args.next().map_or(Ok(132), |text| text.parse())?;
    let products = read(&std::fs::read_to_string(&path)?, multiprocessors)?;
    let mut model = Model::H200;
    let mut least = fault(&model, &products, multiprocessors);
    let mut step = 0.3;
    while step > 0.002 {
        let mut improved = false;
        for at in 0..model.numbers().len() {
            for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                let mut other = model;
                *other.numbers()[at].1 *= factor;
                let fault = fault(&other, &products, multiprocessors);
                if fault < least {
                    (least, model, improved) = (fault, other, true);
                }
            }
        }
        if !improved {
            step /= 2.0;
        }
    }
    for (name, number) in model.numbers() {
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

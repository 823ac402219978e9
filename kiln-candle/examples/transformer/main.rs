//! A small transformer trained in candle, its norms and its attention by kernels of Kiln's, forward and backward.
//!
//! `cargo run --release --example transformer`, with `--features cuda` on a GPU; without one, Kiln's emulator runs the kernels.
//!
//! The same model is trained twice from the same numbers: by Kiln's kernels, and by candle's own operations. What both say of the loss
//! and its gradients is compared at each step.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod attention;
mod model;
mod rms_norm;

use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, VarBuilder, VarMap};
use model::{By, Model, Sizes};

const SIZES: Sizes = Sizes { tokens: 16, sequence: 24, hidden: 64, heads: 2, blocks: 2 };
const STEPS: usize = 12;

/// The largest difference between gradients of one step, of those that are at most 1: both sum in f32, in another order.
const TOLERANCE: f64 = 1e-4;

fn main() -> Result<()> {
    let device = if cfg!(feature = "cuda") { Device::new_cuda(0)? } else { Device::Cpu };
    println!("on {:?}", device.location());
    let (kiln, candle) = (VarMap::new(), VarMap::new());
    let build = |by, vars: &VarMap| {
        Model::new(by, SIZES, &VarBuilder::from_varmap(vars, DType::F32, &device))
    };
    let models = [build(By::Kiln, &kiln)?, build(By::Candle, &candle)?];
    let pairs = same_numbers(&kiln, &candle)?;
    let params = ParamsAdamW { lr: 3e-3, ..ParamsAdamW::default() };
    let mut optimizers =
        [AdamW::new(kiln.all_vars(), params.clone())?, AdamW::new(candle.all_vars(), params)?];

    println!("{:>4} {:>12} {:>12} {:>22}", "step", "loss, Kiln", "candle", "gradients differ by");
    for step in 0..STEPS {
        let tokens = counting(step, &device)?;
        let losses = [models[0].loss(&tokens)?, models[1].loss(&tokens)?];
        let gradients = [losses[0].backward()?, losses[1].backward()?];
        let mut largest = 0f64;
        for (ours, theirs) in &pairs {
            let (Some(ours), Some(theirs)) = (gradients[0].get(ours), gradients[1].get(theirs))
            else {
                candle_core::bail!("a variable has no gradient");
            };
            let difference = (ours - theirs)?.abs()?.flatten_all()?.max(0)?;
            largest = largest.max(f64::from(difference.to_scalar::<f32>()?));
        }
        let [ours, theirs] = [losses[0].to_scalar::<f32>()?, losses[1].to_scalar::<f32>()?];
        println!("{step:>4} {ours:>12.6} {theirs:>12.6} {largest:>22.2e}");
        if largest > TOLERANCE {
            candle_core::bail!(
                "the gradients of step {step} differ by {largest}, over {TOLERANCE}"
            );
        }
        for (optimizer, gradients) in optimizers.iter_mut().zip(&gradients) {
            optimizer.step(gradients)?;
        }
        // So that each step compares gradients of the same numbers.
        for (ours, theirs) in &pairs {
            theirs.set(ours.as_tensor())?;
        }
    }
    Ok(())
}

/// Gives both models the same numbers, and pairs their variables.
fn same_numbers(ours: &VarMap, theirs: &VarMap) -> Result<Vec<(Var, Var)>> {
    let (ours, theirs) = (ours.data().lock(), theirs.data().lock());
    let (Ok(ours), Ok(theirs)) = (ours, theirs) else {
        candle_core::bail!("another thread has panicked with the variables");
    };
    let mut names: Vec<&String> = ours.keys().collect();
    names.sort();
    let pair = |name: &String| {
        let (ours, theirs) = (&ours[name], &theirs[name]);
        theirs.set(ours.as_tensor())?;
        Ok((ours.clone(), theirs.clone()))
    };
    names.into_iter().map(pair).collect()
}

/// Sequences that count upwards, each from another number in another step.
fn counting(step: usize, device: &Device) -> Result<Tensor> {
    let (batch, length) = (4, SIZES.sequence + 1);
    let count = |i: usize| {
        let (row, at) = (i / length, i % length);
        u32::try_from((3 * step + 5 * row + at * (row % 2 + 1)) % SIZES.tokens)
    };
    let tokens = (0..batch * length).map(count).collect::<std::result::Result<Vec<u32>, _>>()?;
    Tensor::from_vec(tokens, (batch, length), device)
}

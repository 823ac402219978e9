//! A step of `AdamW` for many parameters.

use std::fmt;

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{Real, shape::require};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): the settings of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW {
    /// How far a step goes.
    pub learning_rate: f32,
    /// The shares of the old mean and of the old mean square that are kept in each step.
    pub betas: [f32; 2],
    /// What is added to the root of the mean square.
    pub epsilon: f32,
    /// The share of a parameter that a step takes off, times the learning rate.
    pub weight_decay: f32,
    /// What gradients are multiplied by: below 1 where they are clipped, or a loss was scaled.
    pub gradient_scale: f32,
}

/// `PyTorch`'s: a rate of 0.001, betas of 0.9 and 0.999, 1e-8 and a decay of 0.01.
impl Default for AdamW {
    fn default() -> AdamW {
        AdamW {
            learning_rate: 1e-3,
            betas: [0.9, 0.999],
            epsilon: 1e-8,
            weight_decay: 1e-2,
            gradient_scale: 1.0,
        }
    }
}

/// The types of gradients of parameters of the type `T`: `T` itself, and [`f32`].
pub trait GradientOf<T>: Real + sealed::Sealed<T> {}

mod sealed {
    /// The kernel is compiled for these types alone.
    pub trait Sealed<T> {}
}

macro_rules! gradients {
    ($($gradient:ty: $of:ty),*) => {$(
        impl GradientOf<$of> for $gradient {}
        impl sealed::Sealed<$of> for $gradient {}
    )*};
}

gradients!(bf16: bf16, f32: bf16, f16: f16, f32: f16, f32: f32);

/// A parameter with its gradient and its state. All have as many elements; a contiguous tensor of another rank is reshaped to rank 1.
pub struct Parameter<'a, T, G = T> {
    /// The numbers that are trained.
    pub values: &'a mut dyn TensorArgumentMut<T, 1>,
    /// Their gradient.
    pub gradient: &'a dyn TensorArgument<G, 1>,
    /// The mean of gradients, 0 before the first step.
    pub mean: &'a mut dyn TensorArgumentMut<f32, 1>,
    /// The mean of their squares, 0 before the first step.
    pub mean_square: &'a mut dyn TensorArgumentMut<f32, 1>,
    /// The parameter in f32, which the step reads in place of `values` and writes besides.
    pub master: Option<&'a mut dyn TensorArgumentMut<f32, 1>>,
}

impl<T, G> fmt::Debug for Parameter<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").finish_non_exhaustive()
    }
}

impl AdamW {
    /// One step of all parameters, the `step`-th from 1 on.
    ///
    /// Up to eight parameters that stand one after the other share a launch, if all have a master or none has, and if the numbers of
    /// elements of all or of none are multiples of 8, which are faster. A kernel takes the tensors of its parameters as arguments, which
    /// keeps launches safe: a table of pointers could hold any number of them, but nobody would know what they point to.
    ///
    /// ```
    /// use kiln::prelude::*;
    /// use kiln_kernels::pointwise::{self, AdamW, Parameter};
    ///
    /// let stream = Device::best_for(pointwise::TARGETS)?.stream()?;
    /// let (mut weights, gradient) = (stream.full([16, 8], bf16::ONE)?, stream.full([16, 8], bf16::ONE)?);
    /// let (mut mean, mut mean_square) = (stream.zeros([128])?, stream.zeros([128])?);
    /// let (mut values, gradient) = (weights.reshape_mut([128])?, gradient.reshape([128])?);
    /// let parameter = Parameter {
    ///     values: &mut values,
    ///     gradient: &gradient,
    ///     mean: &mut mean,
    ///     mean_square: &mut mean_square,
    ///     master: None,
    /// };
    /// let settings = AdamW { learning_rate: 0.125, weight_decay: 0.0, ..AdamW::default() };
    /// settings.step(&stream, 1, &mut [parameter])?;
    /// assert!(weights.to_vec(&stream)?.iter().all(|x| x.to_f32() == 0.875));
    /// # Ok::<(), kiln::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for numbers of elements that differ, before anything is launched; those of launches.
    pub fn step<T: Real, G: GradientOf<T>>(
        &self,
        stream: &Stream,
        step: u64,
        parameters: &mut [Parameter<'_, T, G>],
    ) -> Result<()> {
        let mut lengths = Vec::new();
        for parameter in &mut *parameters {
            lengths.push(parameter.len()?);
        }
        let factors = self.factors(step);
        let mut rest = parameters;
        let mut lengths = &lengths[..];
        while let Some((first, &length)) = rest.first().zip(lengths.first()) {
            let master = first.master.is_some();
            let alike = rest.iter().zip(lengths).take_while(|(parameter, other)| {
                parameter.master.is_some() == master
                    && length.is_multiple_of(8) == other.is_multiple_of(8)
            });
            let count = match alike.count() {
                0..=1 => 1,
                2..=3 => 2,
                4..=7 => 4,
                _ => 8,
            };
            let (now, later) = rest.split_at_mut(count);
            match count {
                1 => launch::<T, G, 1>(stream, factors, now)?,
                2 => launch::<T, G, 2>(stream, factors, now)?,
                4 => launch::<T, G, 4>(stream, factors, now)?,
                _ => launch::<T, G, 8>(stream, factors, now)?,
            }
            (rest, lengths) = (later, &lengths[count..]);
        }
        Ok(())
    }

    /// What the kernel computes with, from f64.
    fn factors(&self, step: u64) -> [f32; 9] {
        let [rate, epsilon, decay, scale] =
            [self.learning_rate, self.epsilon, self.weight_decay, self.gradient_scale]
                .map(f64::from);
        let [kept, kept_square] = self.betas.map(f64::from);
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        [
            kept,
            1.0 - kept,
            kept_square,
            1.0 - kept_square,
            rate / (1.0 - kept.powi(power)),
            1.0 / (1.0 - kept_square.powi(power)).sqrt(),
            epsilon,
            1.0 - rate * decay,
            scale,
        ]
        .map(Cast::cast)
    }
}

impl<T, G> Parameter<'_, T, G> {
    fn len(&mut self) -> Result<usize> {
        let shape @ [len] = self.values.tensor_mut()?.shape();
        require("a step of AdamW, of gradient", shape, self.gradient.tensor()?.shape())?;
        require("a step of AdamW, of mean", shape, self.mean.tensor_mut()?.shape())?;
        require("a step of AdamW, of mean_square", shape, self.mean_square.tensor_mut()?.shape())?;
        if let Some(master) = &mut self.master {
            require("a step of AdamW, of master", shape, master.tensor_mut()?.shape())?;
        }
        Ok(len)
    }
}

/// One launch for `N` parameters that all have a master, or none.
fn launch<T: Real, G: GradientOf<T>, const N: usize>(
    stream: &Stream,
    factors: [f32; 9],
    parameters: &mut [Parameter<'_, T, G>],
) -> Result<()> {
    let mut blocks = 0i32;
    let (mut values, mut gradients, mut masters) = (Vec::new(), Vec::new(), Vec::new());
    let (mut means, mut mean_squares) = (Vec::new(), Vec::new());
    for Parameter { values: of_values, gradient, mean, mean_square, master } in parameters {
        let len = i32::try_from(of_values.tensor_mut()?.len()).unwrap_or(i32::MAX);
        blocks = blocks.saturating_add(cdiv(len, BLOCK));
        values.push(&mut **of_values as _);
        gradients.push(*gradient as _);
        means.push(&mut **mean as _);
        mean_squares.push(&mut **mean_square as _);
        if let Some(master) = master {
            masters.push(&mut **master as _);
        }
    }
    let master = if masters.is_empty() { None } else { Some(array_of(masters)) };
    let args = update::Args::<_, _, N> {
        values: array_of(values),
        gradients: array_of(gradients),
        means: array_of(means),
        mean_squares: array_of(mean_squares),
        master,
        factors,
    };
    update::Values { T: Dtype::of::<T>(), G: Dtype::of::<G>(), N }
        .find()?
        .with(args)
        .grid(blocks)
        .launch(stream)
}

fn array_of<X, const N: usize>(items: Vec<X>) -> [X; N] {
    match items.try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("a launch is made of `N` parameters"),
    }
}

/// The elements that a block updates.
const BLOCK: i32 = 1024;

/// A block updates a part of one parameter: its number counts the parts of all.
#[kernel(target = sm_80, warps = 4,
         instances((T, G) = [(bf16, bf16), (bf16, f32), (f16, f16), (f16, f32), (f32, f32)], N = [1, 2, 4, 8]))]
pub(super) fn update<T: Float, G: Float, const N: usize>(
    values: [TensorMut<T, 1>; N],
    gradients: [Tensor<G, 1>; N],
    means: [TensorMut<f32, 1>; N],
    mean_squares: [TensorMut<f32, 1>; N],
    master: Option<[TensorMut<f32, 1>; N]>,
    factors: [f32; 9],
) {
    let mut begin = 0;
    for i in unroll(0..N as i32) {
        let values = values[i as usize];
        let blocks = cdiv(values.dim(0), BLOCK);
        let block = block_id(0) - begin;
        begin += blocks;
        if block >= 0 && block < blocks {
            let at = [block * BLOCK];
            let (mean, square) = (means[i as usize], mean_squares[i as usize]);
            let gradient = gradients[i as usize].tile(at, [BLOCK]).load();
            let (mean, square) = (mean.tile(at, [BLOCK]), square.tile(at, [BLOCK]));
            let values = values.tile(at, [BLOCK]);
            let old = match master {
                Some(master) => master[i as usize].tile(at, [BLOCK]).load(),
                None => values.load().cast::<f32>(),
            };
            let g = gradient.cast::<f32>() * factors[8];
            let m = mean.load() * factors[0] + g * factors[1];
            let v = square.load() * factors[2] + g * g * factors[3];
            let new = old * factors[7] - m * factors[4] / (v.sqrt() * factors[5] + factors[6]);
            mean.store(m);
            square.store(v);
            values.store(new.cast::<T>());
            if let Some(master) = master {
                master[i as usize].tile(at, [BLOCK]).store(new);
            }
        }
    }
}

//! Steps of `AdamW`.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Real,
    pointwise::{self, AdamW, GradientOf, Parameter},
};

use super::{roundings, subnormal};
use crate::support::{Number, assert_close, devices, numbers};

const SETTINGS: AdamW = AdamW {
    learning_rate: 0.01,
    betas: [0.875, 0.99],
    epsilon: 1e-6,
    weight_decay: 0.125,
    gradient_scale: 0.3,
};

/// A parameter on the host and on the device.
struct Case<T, G> {
    host: [Vec<f64>; 4],
    values: DeviceTensor<T, 1>,
    gradient: DeviceTensor<G, 1>,
    mean: DeviceTensor<f32, 1>,
    mean_square: DeviceTensor<f32, 1>,
    master: Option<DeviceTensor<f32, 1>>,
}

fn wide<T: Number>(numbers: &[T]) -> Vec<f64> {
    numbers.iter().map(|x| x.value()).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Master {
    Present,
    Absent,
}

impl<T: Number + Real, G: Number + GradientOf<T>> Case<T, G> {
    fn new(stream: &Stream, len: usize, master: Master) -> Result<Case<T, G>> {
        let (p, g) = (numbers::<T>(len, 1), numbers::<G>(len, 2));
        let m = numbers::<f32>(len, 3);
        let v: Vec<f32> = numbers::<f32>(len, 4).into_iter().map(|x| x * x).collect();
        // A master that its parameter is not rounded from, so that it shows which one is read.
        let of_master = numbers::<f32>(len, 5);
        let start = if master == Master::Present { wide(&of_master) } else { wide(&p) };
        Ok(Case {
            host: [start, wide(&g), wide(&m), wide(&v)],
            values: stream.upload(&p, [len])?,
            gradient: stream.upload(&g, [len])?,
            mean: stream.upload(&m, [len])?,
            mean_square: stream.upload(&v, [len])?,
            master: match master {
                Master::Present => Some(stream.upload(&of_master, [len])?),
                Master::Absent => None,
            },
        })
    }

    fn parameter(&mut self) -> Parameter<'_, T, G> {
        Parameter {
            values: &mut self.values,
            gradient: &self.gradient,
            mean: &mut self.mean,
            mean_square: &mut self.mean_square,
            master: self.master.as_mut().map(|master| master as _),
        }
    }

    #[expect(clippy::many_single_char_names, reason = "the letters of the formulas")]
    fn check(&self, stream: &Stream, what: &str, step: i32) -> Result<()> {
        let settings = SETTINGS;
        let [rate, epsilon, decay, scale] = [
            settings.learning_rate,
            settings.epsilon,
            settings.weight_decay,
            settings.gradient_scale,
        ]
        .map(f64::from);
        let [b, c] = settings.betas.map(f64::from);
        let (mut means, mut squares, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let [p, g, m, v] = &self.host;
        for (((p, g), m), v) in p.iter().zip(g).zip(m).zip(v) {
            let g = g * scale;
            let (kept, added) = (b * m, (1.0 - b) * g);
            let m = kept + added;
            // Each term has at most three roundings, of factors and products, and the sum one.
            let off_m = roundings(4) * (kept.abs() + added.abs());
            let v = c * v + (1.0 - c) * g * g;
            let mean = m / (1.0 - b.powi(step));
            let root = (v / (1.0 - c.powi(step))).sqrt();
            let update = rate * mean / (root + epsilon);
            let p = p * (1.0 - rate * decay) - update;
            // The terms of the square have at most six roundings, their root half of these, and five more come before the update
            // is there: of the factors, of two products, of the sum and of the division.
            let off_update = update.abs() * roundings(3 + 6) + off_m * (update / m).abs();
            means.push((m, off_m));
            squares.push((v, roundings(7) * v));
            values.push((p, roundings(3) * (p.abs() + update.abs()) + off_update));
        }
        let len = p.len().max(1);
        assert_close(what, len, &self.mean.to_vec(stream)?, &means);
        assert_close(what, len, &self.mean_square.to_vec(stream)?, &squares);
        if let Some(master) = &self.master {
            assert_close(what, len, &master.to_vec(stream)?, &values);
        }
        for (_, off) in &mut values {
            *off += subnormal::<T>();
        }
        assert_close(what, len, &self.values.to_vec(stream)?, &values);
        Ok(())
    }
}

/// Steps of parameters of these lengths, all in one call.
fn steps<T: Number + Real, G: Number + GradientOf<T>>(lengths: &[(usize, Master)]) -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let stream = device.stream()?;
        for step in [1, 1000] {
            let mut cases = lengths
                .iter()
                .map(|&(len, master)| Case::<T, G>::new(&stream, len, master))
                .collect::<Result<Vec<_>>>()?;
            let mut parameters: Vec<_> = cases.iter_mut().map(Case::parameter).collect();
            SETTINGS.step(&stream, step, &mut parameters)?;
            for (at, case) in cases.iter().enumerate() {
                let step = i32::try_from(step).expect("1 and 1000");
                case.check(&stream, &format!("step {step} of parameter {at}"), step)?;
            }
        }
    }
    Ok(())
}

#[test]
fn parameters_of_any_sizes_take_a_step() -> Result<()> {
    use Master::{Absent, Present};
    // Fifteen that can share launches of 8, 4, 2 and 1; others without a master or with ragged ends come between.
    let mut many: Vec<_> = (0..15).map(|at| (8 * at, Absent)).collect();
    many.extend([(1024, Present), (1032, Present), (3000, Present), (7, Absent), (1025, Absent)]);
    steps::<bf16, bf16>(&many)?;
    steps::<f16, f16>(&[(2049, Present), (1, Present), (16, Absent)])?;
    steps::<f32, f32>(&[(2056, Absent), (40, Absent), (40, Present)])?;
    steps::<bf16, f32>(&[(72, Absent), (1025, Present)])?;
    steps::<f16, f32>(&[(24, Absent)])?;
    steps::<f32, f32>(&[])
}

#[test]
fn steps_from_nothing_go_the_learning_rate_far() -> Result<()> {
    // The first step of Adam is the sign of the gradient, whatever its size.
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let mut values = stream.zeros::<f32, 1>([3])?;
    let gradient = stream.upload(&[1e-3f32, -20.0, 5.0], [3])?;
    let (mut mean, mut mean_square) = (stream.zeros([3])?, stream.zeros([3])?);
    let parameter = Parameter {
        values: &mut values,
        gradient: &gradient,
        mean: &mut mean,
        mean_square: &mut mean_square,
        master: None,
    };
    AdamW::default().step(&stream, 1, &mut [parameter])?;
    // An epsilon of 1e-8 is 1e-5 of the smallest gradient.
    for (value, sign) in values.to_vec(&stream)?.into_iter().zip([-1.0, 1.0, -1.0]) {
        assert!((f64::from(value) / 1e-3 - sign).abs() < 1.1e-5, "{value}");
    }
    Ok(())
}

#[test]
fn lengths_that_differ_are_refused_before_any_step() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let mut good = Case::<f32, f32>::new(&stream, 16, Master::Absent)?;
    let before = good.values.to_vec(&stream)?;
    for wrong in 0..4 {
        let mut bad = Case::<f32, f32>::new(&stream, 16, Master::Present)?;
        match wrong {
            0 => bad.gradient = stream.zeros([15])?,
            1 => bad.mean = stream.zeros([15])?,
            2 => bad.mean_square = stream.zeros([17])?,
            _ => bad.master = Some(stream.zeros([15])?),
        }
        let refused = SETTINGS.step(&stream, 1, &mut [good.parameter(), bad.parameter()]);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    assert_eq!(good.values.to_vec(&stream)?, before);
    Ok(())
}

//! Running, checking and timing matrix products.

use kiln::prelude::*;

use crate::report;

#[path = "normal.rs"]
mod normal;
#[path = "reference.rs"]
mod reference;

use reference::Reference;

/// An element type of operands and results.
pub trait Factor: Element {
    /// The value of an element that nothing wrote.
    const UNWRITTEN: Self;
    /// The value nearest to a number.
    fn of(value: f32) -> Self;
    /// The exact value.
    fn value(self) -> f64;
}

impl Factor for f16 {
    const UNWRITTEN: f16 = f16::NAN;

    fn of(value: f32) -> f16 {
        f16::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Factor for bf16 {
    const UNWRITTEN: bf16 = bf16::NAN;

    fn of(value: f32) -> bf16 {
        bf16::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Factor for e4m3 {
    const UNWRITTEN: e4m3 = e4m3::NAN;

    fn of(value: f32) -> e4m3 {
        e4m3::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Factor for e5m2 {
    const UNWRITTEN: e5m2 = e5m2::NAN;

    fn of(value: f32) -> e5m2 {
        e5m2::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

/// Which axis of an operand is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Major {
    /// `k` of the product.
    K,
    /// The rows of the left, the columns of the right operand.
    Mn,
}

/// The table of [`run`], and the last product that was computed on the host: several instances multiply the same matrices.
pub struct Products {
    table: report::Table,
    known: Option<(String, Reference)>,
}

impl Products {
    /// Prints the table.
    pub fn print(&self) {
        self.table.print();
    }
}

/// A table for [`run`].
pub fn table() -> Products {
    let table = report::Table::new(&["m", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"]);
    Products { table, known: None }
}

/// Multiplies matrices of normally distributed numbers with every instance, compares every result with a product computed on
/// the host, and adds a line for each instance to the table. `launch` runs the instance at that position once, with operands of
/// shapes `[m, k]` and `[k, n]`; those that are contiguous along the other axis are passed transposed, `[k, m]` and `[n, k]`.
///
/// # Panics
/// If a result is further from the reference than rounding explains.
#[expect(
    clippy::cast_possible_truncation,
    reason = "factors and results have far fewer bits than f32"
)]
pub fn run<T: Factor, C: Factor>(
    products: &mut Products,
    stream: &Stream,
    [m, n, k]: [usize; 3],
    [left, right]: [Major; 2],
    instances: &[impl AsRef<str>],
    launch: impl Fn(
        usize,
        &DeviceTensor<T, 2>,
        &DeviceTensor<T, 2>,
        &mut DeviceTensor<C, 2>,
    ) -> Result<()>,
) -> Result<()> {
    let (a_host, b_host): (Vec<T>, Vec<T>) = (numbers(m * k, 1), numbers(k * n, 2));
    let what = format!("{m}x{n}x{k} of {}", std::any::type_name::<T>());
    if products.known.as_ref().is_none_or(|(known, _)| *known != what) {
        let values = |host: &[T]| -> Vec<f32> { host.iter().map(|&x| x.value() as f32).collect() };
        let reference = Reference::of(&values(&a_host), &values(&b_host), |_, _| 0.0, [m, n, k]);
        products.known = Some((what, reference));
    }
    let (_, reference) = products.known.as_ref().expect("it has been computed");
    let a = if left == Major::K {
        stream.upload(&a_host, [m, k])?
    } else {
        stream.upload(&transposed(&a_host, k), [k, m])?
    };
    let b = if right == Major::Mn {
        stream.upload(&b_host, [k, n])?
    } else {
        stream.upload(&transposed(&b_host, n), [n, k])?
    };
    // Of products of floats of one byte, tensor cores of Hopper keep about 14 bits of each sum; the emulator keeps all.
    let is_cut = size_of::<T>() == 1 && !stream.device().is_emulator();
    let progress = report::progress(instances.len(), &format!("{m}x{n}x{k}"));
    for (at, name) in instances.iter().map(AsRef::as_ref).enumerate() {
        let mut c = stream.full([m, n], C::UNWRITTEN)?;
        launch(at, &a, &b, &mut c)?;
        let c_host = c.to_vec(stream)?;
        let name_and_size = format!("{name} at {m}x{n}x{k}");
        let error = reference.compare(
            &name_and_size,
            |_, _, required| {
                let off = if is_cut { f64::INFINITY } else { normal::rounding(k, required) };
                [required - off, required + off].map(|edge| C::of(edge as f32).value())
            },
            |row, column| c_host[row * n + column].value(),
        );
        let ms = report::median_ms(stream, || launch(at, &a, &b, &mut c))?;
        let flops = 2.0 * m as f64 * n as f64 * k as f64;
        products.table.row(&[&m, &n, &k, &name], error, ms, flops * 1e-3);
        // Rounding the result alone costs up to 2^-9 of each value in bf16, the shorter of the two.
        let limit = if is_cut { 3e-2 } else { 3e-3 };
        assert!(error < limit, "{name_and_size}: relative error {error}");
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(())
}

/// Normally distributed numbers, rounded to the type.
fn numbers<T: Factor>(len: usize, seed: u64) -> Vec<T> {
    normal::numbers(len, seed).into_iter().map(T::of).collect()
}

/// The columns of a matrix as rows.
fn transposed<T: Copy>(host: &[T], columns: usize) -> Vec<T> {
    (0..columns).flat_map(|column| host.iter().skip(column).step_by(columns).copied()).collect()
}

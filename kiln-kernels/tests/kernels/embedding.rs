//! Rows for tokens, and the gradient of their table.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "numbers are small, and those that are compared are exact"
)]

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream};
use kiln_kernels::{
    Real,
    embedding::{SortedTokens, Sums, TARGETS, embed, embed_backward},
};

use crate::support::{Number, assert_close, devices, numbers};

const VOCABULARY: usize = 11;

/// Tokens of which most repeat, and some are outside of the vocabulary.
fn some(count: usize) -> Vec<i32> {
    let of = |x: f32| [3, (x * 8.0) as i32 + 5, 10, -7, 11][(x.abs() * 64.0) as usize % 5];
    numbers::<f32>(count, 9).into_iter().map(of).collect()
}

/// The row of a token, if it has one.
fn row(token: i32) -> Option<usize> {
    usize::try_from(token).ok().filter(|&row| row < VOCABULARY)
}

fn embeds<T: Number + Real>(shapes: &[[usize; 2]]) -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        for &shape @ [count, dim] in shapes {
            let (tokens, table) = (some(count), numbers::<T>(VOCABULARY * dim, 1));
            let mut out = stream.full(shape, T::of(f64::NAN))?;
            let on_device = stream.upload(&tokens, [count])?;
            embed(&stream, &on_device, &stream.upload(&table, [VOCABULARY, dim])?, &mut out)?;
            let required: Vec<T> = tokens
                .iter()
                .flat_map(|&token| match row(token) {
                    Some(row) => table[row * dim..][..dim].to_vec(),
                    None => vec![T::of(0.0); dim],
                })
                .collect();
            assert!(out.to_vec(&stream)? == required, "{shape:?}");
        }
    }
    Ok(())
}

#[test]
fn rows_of_any_length_are_copied() -> Result<()> {
    embeds::<bf16>(&[[9, 520], [7, 2056], [2, 2048], [3, 1900], [6, 64], [0, 8], [5, 0]])?;
    embeds::<f16>(&[[3, 1803], [3, 1030], [5, 257]])?;
    embeds::<f32>(&[[2, 1024], [3, 3]])
}

/// Adds gradients, and compares with sums in f64.
fn adds<T: Number + Real>(stream: &Stream, tokens: &[i32], dim: usize) -> Result<()> {
    let count = tokens.len();
    let (grad, old) = (numbers::<T>(count * dim, 2), numbers::<f32>(VOCABULARY * dim, 3));
    let mut required: Vec<(f64, f64)> = old.iter().map(|&x| (x.into(), 0.0)).collect();
    for (at, &token) in tokens.iter().enumerate() {
        let Some(row) = row(token) else { continue };
        for column in 0..dim {
            let (sum, off) = &mut required[row * dim + column];
            *sum += grad[at * dim + column].value();
            // Each sum rounds once, and none is above the number of rows and one.
            *off += (at as f64 + 2.0) / 2f64.powi(24);
        }
    }
    let on_device = stream.upload(tokens, [count])?;
    let grad = stream.upload(&grad, [count, dim])?;
    let (here, there) =
        (SortedTokens::new(stream, &on_device)?, SortedTokens::of_host(stream, tokens)?);
    let mut in_order = Vec::new();
    for sums in [Sums::InOrder(&here), Sums::InOrder(&there), Sums::Atomic(&on_device)] {
        let mut grad_table = stream.upload(&old, [VOCABULARY, dim])?;
        embed_backward(stream, sums, &grad, &mut grad_table)?;
        let actual = grad_table.to_vec(stream)?;
        assert_close(&format!("{sums:?} of {count} rows of {dim}"), dim, &actual, &required);
        if matches!(sums, Sums::InOrder(_)) {
            in_order.push(actual);
        }
    }
    assert_eq!(in_order[0], in_order[1], "the order on the device is that on the host");
    Ok(())
}

#[test]
fn rows_of_equal_tokens_are_added() -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        adds::<bf16>(&stream, &some(45), 520)?;
        adds::<bf16>(&stream, &[4; 30], 1032)?;
        adds::<f16>(&stream, &some(300), 6)?;
        adds::<f32>(&stream, &some(13), 1029)?;
        adds::<f32>(&stream, &[10], 4)?;
        adds::<f32>(&stream, &[], 4)?;
        adds::<f32>(&stream, &[0, 0], 0)?;
    }
    Ok(())
}

#[test]
fn rows_are_added_in_the_order_of_the_tokens() -> Result<()> {
    let stream = crate::support::device(TARGETS)?.stream()?;
    // 2^24 swallows a 1 that is added to it, but not a 2: the sum shows the order.
    let grad = stream.upload(&[1.0f32, 1.0, 16_777_216.0], [3, 1])?;
    let tokens = stream.upload(&[6, 6, 6], [3])?;
    let mut grad_table = stream.zeros::<f32, 2>([VOCABULARY, 1])?;
    let sorted = SortedTokens::new(&stream, &tokens)?;
    embed_backward(&stream, Sums::InOrder(&sorted), &grad, &mut grad_table)?;
    assert_eq!(grad_table.to_vec(&stream)?[6], 16_777_218.0);
    Ok(())
}

#[test]
fn other_tokens_are_sorted_in_the_same_memory() -> Result<()> {
    let stream = crate::support::device(TARGETS)?.stream()?;
    let grad = stream.upload(&[1.0f32, 2.0, 4.0], [3, 1])?;
    let mut sorted = SortedTokens::of_host(&stream, &[1, 1, 1])?;
    let tokens = stream.upload(&[2, 0, 2], [3])?;
    let mut grad_table = stream.zeros::<f32, 2>([3, 1])?;
    let graph = stream.device().capture(|stream| {
        sorted.sort(stream, &tokens)?;
        embed_backward(stream, Sums::InOrder(&sorted), &grad, &mut grad_table)
    })?;
    graph.launch(&stream)?;
    drop(graph);
    assert_eq!(grad_table.to_vec(&stream)?, [2.0, 0.0, 5.0]);
    Ok(())
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = crate::support::device(TARGETS)?.stream()?;
    let of = |rows: usize, columns: usize| -> Result<DeviceTensor<f32, 2>> {
        stream.zeros([rows, columns])
    };
    let tokens = stream.zeros::<i32, 1>([3])?;
    let mut sorted = SortedTokens::new(&stream, &tokens)?;
    for refused in [
        embed(&stream, &tokens, &of(5, 8)?, &mut of(4, 8)?),
        embed(&stream, &tokens, &of(5, 8)?, &mut of(3, 9)?),
        embed_backward(&stream, Sums::InOrder(&sorted), &of(3, 8)?, &mut of(5, 9)?),
        embed_backward(&stream, Sums::InOrder(&sorted), &of(4, 8)?, &mut of(5, 8)?),
        embed_backward(&stream, Sums::Atomic(&tokens), &of(4, 8)?, &mut of(5, 8)?),
        sorted.sort(&stream, &stream.zeros::<i32, 1>([4])?),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}

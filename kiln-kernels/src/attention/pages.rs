//! Attention to keys and values in the pages of a cache.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{
    Attention, Factors, Kernels, Options, count, decode::paged, latent::joined,
    parts::items::FEWEST,
};
use crate::{
    Half,
    scratch::shaped,
    shape::{extent, require},
};

/// Where the keys and values of sequences are in a cache of pages.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    /// The numbers of the pages of each sequence, in the order of its keys: `[batch, pages of the longest sequence]`. Those past its
    /// length may be any. A number that no page has stands for zeros.
    pub table: &'a DeviceTensor<i32, 2>,
    /// The number of keys of each sequence, those of its queries included. More than the table has room for are cut off.
    pub lengths: &'a DeviceTensor<i32, 1>,
}

/// Blocks of single warps that a multiprocessor runs at once: as many as its shared memory has room for.
const BLOCKS: usize = 6;

impl Attention {
    /// Attention of the newest queries of each sequence to all of its keys, which are in pages of a cache.
    ///
    /// | tensor | shape |
    /// |---|---|
    /// | `q` | `[batch, queries, heads, dim]` |
    /// | `keys` | `[pages, page, key heads, dim]` |
    /// | `values` | `[pages, page, key heads, value dim]` |
    /// | `out` | `[batch, queries, heads, value dim]` |
    ///
    /// The page is a multiple of 16 keys, `dim` and `value dim` at most 256. Strides are any; rows that begin at multiples of 16 bytes are
    /// faster. With `heads / key heads` times `queries` of at most 16, each key and value is read once; every further 16 read them again.
    /// The last query is at the place of the last key: with more than one query, [`Mask::Causal`](super::Mask::Causal) is what a language model needs.
    /// What is in a page after the last key of its sequence is not used, whatever it is.
    ///
    /// The keys of long sequences are split over blocks, if there are too few sequences and heads for all multiprocessors; the parts are
    /// added in the order of the keys, so that results are the same in every run. How many parts there are depends on the extents of the
    /// table, not on the lengths alone.
    ///
    /// # Errors
    /// [`Error::Shape`] for extents that do not fit together, or another page; those of allocations and launches.
    #[expect(clippy::too_many_arguments, reason = "attention has as many")]
    pub fn decode<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        keys: &impl TensorArgument<T, 4>,
        values: &impl TensorArgument<T, 4>,
        pages: Pages<'_>,
        out: &mut impl TensorArgumentMut<T, 4>,
        options: Options<'_>,
    ) -> Result<()> {
        let Pages { table, lengths } = pages;
        let [batch, queries, heads, dim] = q.tensor()?.shape();
        let [number, page, key_heads, _] = keys.tensor()?.shape();
        let (width, value_dim) = (table.shape()[1], values.tensor()?.shape()[3]);
        require("keys of pages", [number, page, key_heads, dim], keys.tensor()?.shape())?;
        require("values of pages", [number, page, key_heads, value_dim], values.tensor()?.shape())?;
        require("out of attention", [batch, queries, heads, value_dim], out.tensor_mut()?.shape())?;
        require("page of keys, a multiple of 16", [page.max(1).next_multiple_of(16)], [page])?;
        require("table of pages", [batch, width], table.shape())?;
        require("lengths of sequences", [batch], lengths.shape())?;
        options.check([batch, queries, heads, key_heads], [dim, value_dim])?;
        let stores_nothing = value_dim == 0 && options.lse.is_none();
        if batch == 0 || queries == 0 || heads == 0 || stores_nothing {
            return Ok(());
        }
        let Factors { scale, inner, unit } = options.factors(dim);
        let [left, right] = options.mask.reach();

        let group = heads / key_heads * queries;
        let rows = group.min(extent(paged::ROWS));
        let tasks = batch * key_heads * group.div_ceil(rows);
        let most = width.saturating_mul(page);
        let splits =
            (BLOCKS * self.multiprocessors / tasks).min(most / extent(paged::KEYS * FEWEST)).max(1);
        let shape = [tasks, if splits == 1 { 0 } else { splits }, rows, value_dim];
        let (mut parts, mut tops) = scratch(stream, &mut self.parts, &mut self.tops, shape)?;
        let slopes = options.slopes.unwrap_or(&self.no_slopes);
        let lse = options.lse.unwrap_or(&mut self.no_lse);
        let (tasks, splits, rows) = (count(tasks)?, count(splits)?, count(rows)?);
        let most = count(most)?;
        let widest = dim.max(value_dim);
        paged::decode::instances()
            .find(|one| one.T == Dtype::of::<T>() && widest <= extent(one.D))
            .expect("there is an instance for extents of 256")
            .with(paged::decode::Args {
                q,
                keys,
                values,
                table,
                lengths,
                slopes,
                out,
                lse,
                parts: &mut parts,
                tops: &mut tops,
                tasks,
                splits,
                most,
                left,
                right,
                scale,
                inner,
                unit,
            })
            .launch(stream)?;
        if splits == 1 {
            return Ok(());
        }
        let key_heads = count(key_heads)?;
        paged::combine::instances()
            .find(|one| one.T == Dtype::of::<T>() && value_dim <= extent(one.D))
            .expect("there is an instance for extents of 256")
            .with(paged::combine::Args {
                parts: &parts,
                tops: &tops,
                lengths,
                out,
                lse,
                tasks,
                rows,
                key_heads,
                most,
                left,
                right,
                scale,
            })
            .launch(stream)
    }

    /// [`decode`](Attention::decode) for latent attention ("DeepSeek-V2", 2024): all heads see the same keys of 576 numbers, of which the
    /// first 512 are the values.
    ///
    /// | tensor | shape |
    /// |---|---|
    /// | `q` | `[batch, queries, heads, 576]` |
    /// | `cache` | `[pages, page, 576]` |
    /// | `out` | `[batch, queries, heads, 512]` |
    ///
    /// The page is a multiple of 64 keys. Each query reads the cache once for every 64 heads on Hopper, for every 16 on other GPUs. On
    /// Hopper the strides of the cache are those that TMA takes, as in [`forward`](Attention::forward). The scale has no default that
    /// fits: without one it is one over the square root of 576.
    ///
    /// # Errors
    /// [`Error::Shape`] for other extents; [`Error::FactBroken`] and [`Error::TensorMap`] for strides that TMA does not take; those of
    /// allocations and launches.
    pub fn decode_latent<T: Half>(
        &mut self,
        stream: &Stream,
        q: &impl TensorArgument<T, 4>,
        cache: &impl TensorArgument<T, 3>,
        pages: Pages<'_>,
        out: &mut impl TensorArgumentMut<T, 4>,
        options: Options<'_>,
    ) -> Result<()> {
        let Pages { table, lengths } = pages;
        let [batch, queries, heads, dim] = q.tensor()?.shape();
        let [number, page, _] = cache.tensor()?.shape();
        let width = table.shape()[1];
        require(
            "q of latent attention",
            [batch, queries, heads, 576],
            [batch, queries, heads, dim],
        )?;
        require("cache of latent attention", [number, page, 576], cache.tensor()?.shape())?;
        require("out of attention", [batch, queries, heads, 512], out.tensor_mut()?.shape())?;
        require("page of keys, a multiple of 64", [page.max(1).next_multiple_of(64)], [page])?;
        require("table of pages", [batch, width], table.shape())?;
        require("lengths of sequences", [batch], lengths.shape())?;
        options.check([batch, queries, heads, 1], [0, 0])?;
        if batch == 0 || queries == 0 || heads == 0 {
            return Ok(());
        }
        let Factors { scale, inner, unit } = options.factors(dim);
        let [left, right] = options.mask.reach();

        // Heads and keys of a block, and its share of a multiprocessor.
        let (together, keys) = if self.kernels == Kernels::Hopper { (64, 64) } else { (16, 32) };
        let rows = heads.min(together);
        let tasks = batch * queries * heads.div_ceil(together);
        let most = width.saturating_mul(page);
        let splits = (self.multiprocessors / tasks).min(most / (keys * extent(FEWEST))).max(1);
        let shape = [tasks, if splits == 1 { 0 } else { splits }, rows, 512];
        let (mut parts, mut tops) = scratch(stream, &mut self.parts, &mut self.tops, shape)?;
        let slopes = options.slopes.unwrap_or(&self.no_slopes);
        let lse = options.lse.unwrap_or(&mut self.no_lse);
        let (tasks, count_of_splits, rows) = (count(tasks)?, count(splits)?, count(rows)?);
        let most = count(most)?;
        let common = joined::CommonArgs {
            q,
            table,
            lengths,
            slopes,
            out,
            lse,
            parts: &mut parts,
            tops: &mut tops,
            tasks,
            splits: count_of_splits,
            most,
            left,
            right,
            scale,
            inner,
            unit,
        };
        if self.kernels == Kernels::Hopper {
            joined::decode_wide::Values { T: Dtype::of::<T>() }
                .find()?
                .with(joined::decode_wide::Args { common, cache, rest: cache })
                .launch(stream)?;
        } else {
            joined::decode_narrow::Values { T: Dtype::of::<T>() }
                .find()?
                .with(joined::decode_narrow::Args { common, cache })
                .launch(stream)?;
        }
        if splits == 1 {
            return Ok(());
        }
        joined::combine::instances()
            .find(|one| one.T == Dtype::of::<T>() && extent(one.M) == together)
            .expect("there is an instance for each kernel")
            .with(joined::combine::Args {
                parts: &parts,
                tops: &tops,
                lengths,
                out,
                lse,
                tasks,
                rows,
                most,
                left,
                right,
                scale,
            })
            .launch(stream)
    }
}

type Scratch<'a> = (TensorViewMut<'a, f32, 4>, TensorViewMut<'a, f32, 4>);

/// Scratch memory for the sums of parts of a shape `[tasks, splits, rows, dim]`, and for their largest scores and totals.
fn scratch<'a>(
    stream: &Stream,
    parts: &'a mut DeviceTensor<f32, 1>,
    tops: &'a mut DeviceTensor<f32, 1>,
    shape @ [tasks, splits, rows, _]: [usize; 4],
) -> Result<Scratch<'a>> {
    let of_tops = [tasks, 2, rows, pitch(splits)];
    Ok((shaped(stream, parts, shape)?, shaped(stream, tops, of_tops)?))
}

/// How far rows of so many numbers in f32 are apart: they begin at multiples of 16 bytes, without which the kernels' copies of keys would be
/// of single elements as well.
fn pitch(splits: usize) -> usize {
    splits.next_multiple_of(4)
}

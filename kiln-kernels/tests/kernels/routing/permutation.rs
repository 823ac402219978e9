//! The rows of choices.

use kiln::prelude::{Error, Result};
use kiln_kernels::routing::{Permutation, TARGETS};

use super::experts_of;
use crate::support::{device, devices};

/// Counts, offsets, rows and sources, by going through the choices once for each expert.
fn required(indices: &[i32], experts: usize, multiple: usize, capacity: usize) -> [Vec<i32>; 4] {
    let (mut counts, mut offsets) = (Vec::new(), vec![0]);
    let (mut rows, mut sources) = (vec![-1; indices.len()], vec![-1; capacity]);
    let mut row = 0;
    for expert in 0..experts as i32 {
        let first = row;
        for (choice, _) in indices.iter().enumerate().filter(|&(_, &index)| index == expert) {
            rows[choice] = row as i32;
            sources[row] = choice as i32;
            row += 1;
        }
        counts.push((row - first) as i32);
        row = row.next_multiple_of(multiple);
        offsets.push(row as i32);
    }
    [counts, offsets, rows, sources]
}

#[test]
fn the_rows_of_an_expert_are_adjacent_and_in_the_order_of_the_tokens() -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        for (tokens, k, experts, multiple) in [
            (1, 1, 1, 1),
            (7, 2, 5, 1),
            (7, 2, 5, 4),
            (900, 8, 64, 1),
            (700, 6, 65, 16),
            (2048, 1, 3, 128),
            (300, 16, 512, 8),
            // More blocks than one tile of their counts.
            (132_000, 2, 3, 1),
            (0, 4, 9, 1),
            (0, 4, 9, 64),
            (5, 0, 3, 2),
            (3, 2, 0, 4),
        ] {
            let indices = experts_of(tokens, k, experts, 3);
            let on_device = stream.upload(&indices, [tokens, k])?;
            let permutation = Permutation::new(&stream, &on_device, experts, multiple)?;
            let actual = [
                permutation.counts().to_vec(&stream)?,
                permutation.offsets().to_vec(&stream)?,
                permutation.rows().to_vec(&stream)?,
                permutation.sources().to_vec(&stream)?,
            ];
            let required = required(&indices, experts, multiple, permutation.capacity());
            assert!(actual == required, "{tokens} tokens, {k} of {experts}, {multiple}");
        }
    }
    Ok(())
}

#[test]
fn a_graph_computes_the_permutation_of_other_tokens_in_the_same_memory() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let mut indices = stream.upload(&[0, 1, 1, 0], [2, 2])?;
    let mut permutation = Permutation::new(&stream, &indices, 2, 1)?;
    let graph = stream.device().capture(|stream| permutation.update(stream, &indices))?;
    stream.write(&mut indices, &[1, 1, 1, 0])?;
    graph.launch(&stream)?;
    drop(graph);
    assert_eq!(permutation.counts().to_vec(&stream)?, [1, 3]);
    assert_eq!(permutation.rows().to_vec(&stream)?, [1, 2, 3, 0]);
    assert_eq!(permutation.sources().to_vec(&stream)?, [3, 0, 1, 2]);
    Ok(())
}

#[test]
fn more_than_fits_is_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let indices = stream.zeros::<i32, 2>([4, 2])?;
    let refused = Permutation::new(&stream, &indices, 513, 1);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    let refused = Permutation::new(&stream, &indices, 4, 0);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    let refused = Permutation::new(&stream, &indices, 4, 1 << 30);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    let refused = Permutation::new(&stream, &indices.slice(1, 0..1)?, 4, 1);
    assert!(matches!(refused, Err(Error::NotContiguous { .. })), "{refused:?}");
    let mut permutation = Permutation::new(&stream, &indices, 4, 1)?;
    let refused = permutation.update(&stream, &stream.zeros::<i32, 2>([2, 4])?);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}

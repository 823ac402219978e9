//! Transposed matrices, bit for bit.

use half::{bf16, f16};
use kiln::prelude::{Error, Result, e4m3, e5m2};
use kiln_kernels::pointwise::{self, Moved, transpose};

use crate::support::devices;

fn turns<T: Moved>(of: impl Fn(usize) -> T) -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let stream = device.stream()?;
        for shape @ [matrices, rows, columns] in
            [[1, 128, 256], [2, 160, 16], [1, 3, 131], [3, 1, 1], [0, 8, 8], [2, 0, 8], [2, 8, 0]]
        {
            let host: Vec<T> = (0..matrices * rows * columns).map(&of).collect();
            let x = stream.upload(&host, shape)?;
            let mut out = stream.full([matrices, columns, rows], of(77))?;
            transpose(&stream, &x, &mut out)?;
            for (at, y) in out.to_vec(&stream)?.into_iter().enumerate() {
                let (matrix, place) = (at / (rows * columns), at % (rows * columns));
                let from = (matrix * rows + place % rows) * columns + place / rows;
                assert!(y == host[from], "{shape:?} at {at}: {y:?}");
            }
        }
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits")]
#[test]
fn matrices_of_any_extents_and_types_are_transposed() -> Result<()> {
    turns(|at| at as i32)?;
    turns(|at| at as f32)?;
    turns(|at| f16::from_bits((at * 7 % 0x7c00) as u16))?;
    turns(|at| bf16::from_bits((at * 7 % 0x7f80) as u16))?;
    turns(|at| (at * 7 % 251) as u8)?;
    turns(|at| (at * 7 % 127) as i8)?;
    turns(|at| e4m3::from_bits((at * 7 % 127) as u8))?;
    turns(|at| e5m2::from_bits((at * 7 % 124) as u8))
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let (x, mut out) = (stream.zeros::<u8, 3>([2, 3, 4])?, stream.zeros::<u8, 3>([2, 3, 4])?);
    let refused = transpose(&stream, &x, &mut out);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}

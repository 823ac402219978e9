//! Where the evaluator has elements in tensor memory: against the manual's figures, and against the compiler's linear maps.

use kernel_layout::{Dim, Form, Layout};

use crate::eval::tensor_memory::{Arrangement, ROWS};
use crate::ir::tests::builder::Builder;
use crate::ir::{Dtype, Kernel, TensorMemory, TensorMemoryData, TensorMemoryRole};
use crate::layouts::tensor_memory;
use crate::loc::Loc;

fn allocation(
    dtype: Dtype,
    shape: [u32; 2],
    role: TensorMemoryRole,
    pinned: Option<Form>,
) -> (Kernel, TensorMemory) {
    let mut kernel = Builder::new("kernel", 4).finish();
    let (shape, loc) = (shape.to_vec(), Loc::KERNEL);
    let data = TensorMemoryData { dtype, shape, role, of: None, pinned, name: None, loc };
    let root = kernel.tensor_memory.alloc(data);
    (kernel, root)
}

fn blocks(block: [u32; 2], col_stride: u32, two_ctas: bool) -> Form {
    Form::TensorMemory { block, col_stride, two_ctas }
}

fn strides(text: &str) -> Form {
    Form::Tile(text.parse().expect("a layout of extents and strides"))
}

#[test]
fn elements_lie_where_the_figures_of_the_manual_have_them() {
    use TensorMemoryRole::{Metadata, Scales, Sums, Values};
    // PTX ISA, "Data path layout" D, F and B, "Scale factor layouts" and "Sparsity selector": element, row of memory, byte.
    let cases = [
        (Dtype::F32, [128, 64], Sums, None, [77, 5], [77, 20]),
        (Dtype::F16, [128, 64], Sums, None, [77, 5], [77, 20]),
        (Dtype::F16, [128, 64], Values, None, [77, 5], [77, 10]),
        (Dtype::F32, [256, 64], Sums, None, [130, 5], [2, 64 * 4 + 20]),
        (Dtype::F32, [64, 32], Sums, None, [17, 3], [33, 12]),
        (Dtype::F32, [64, 32], Sums, Some(blocks([64, 16], 1, false)), [17, 19], [49, 12]),
        (Dtype::F32, [128, 32], Sums, Some(blocks([64, 32], 1, false)), [81, 3], [49, 12]),
        (Dtype::F32, [64, 32], Sums, Some(blocks([64, 32], 1, true)), [17, 19], [81, 12]),
        (Dtype::Ue8m0, [128, 8], Scales, None, [33, 5], [1, 4 * 4 + 4 + 1]),
        (Dtype::Ue8m0, [64, 8], Scales, None, [33, 5], [1, 2 * 4 + 4 + 1]),
        (Dtype::U16, [128, 8], Metadata { factor_bytes: 1 }, None, [77, 5], [77, 10]),
        (Dtype::U16, [256, 8], Metadata { factor_bytes: 1 }, None, [130, 3], [2, 16 + 6]),
        // Of operands of 16 and 32 bits, row 77 shares words with row 69: the upper half, of the second of two lanes.
        (Dtype::U16, [128, 8], Metadata { factor_bytes: 2 }, None, [77, 5], [77, 2 * 4 + 2]),
        (Dtype::U16, [128, 8], Metadata { factor_bytes: 2 }, None, [69, 5], [77, 2 * 4]),
        (Dtype::U16, [128, 8], Metadata { factor_bytes: 4 }, None, [77, 4], [69, 2 * 4 + 2]),
        (Dtype::U16, [256, 8], Metadata { factor_bytes: 4 }, None, [130, 3], [10, 16 + 4]),
    ];
    for (dtype, shape, role, pinned, at, required) in cases {
        let (kernel, root) = allocation(dtype, shape, role, pinned.clone());
        let actual = Arrangement::of(&kernel, root).place(at);
        assert_eq!(actual, required, "{dtype}{shape:?} {role:?} {pinned:?} at {at:?}");
    }
}

/// The rows that hold an element and its copies, and its first byte, by the compiler's map.
fn by_map(layout: &Layout, bytes: u32, gap: bool) -> Vec<([u32; 2], Vec<u32>, u32)> {
    let [rows, columns] = [layout.shape()[0], layout.shape()[1]];
    let mut found = vec![(Vec::new(), u32::MAX); (rows * columns) as usize];
    for column in 0..layout.in_size(Dim::Col) {
        for row in 0..ROWS {
            let at = layout.apply(&[(Dim::Row, row), (Dim::Col, column)]);
            // Of rows that a block leaves to others nothing is a copy.
            if gap && row & 16 != 0 {
                continue;
            }
            let (holding, first) = &mut found[(at[0] * columns + at[1]) as usize];
            // Places between elements lead to the element before them.
            if *first == u32::MAX {
                *first = column * bytes;
            }
            if *first == column * bytes {
                holding.push(row);
            }
        }
    }
    let elements = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
    elements.zip(found).map(|(at, (holding, byte))| (at, holding, byte)).collect()
}

#[test]
fn every_element_lies_where_the_compiler_has_it() {
    use TensorMemoryRole::{Metadata, Scales, Sums, Values};
    let mut cases = Vec::new();
    for dtype in [Dtype::F32, Dtype::F16, Dtype::E4m3] {
        for shape in [[64, 8], [64, 64], [128, 1], [128, 32], [128, 512], [256, 64]] {
            cases.extend([Sums, Values].map(|role| (dtype, shape, role, None)));
            for block in [[64, 8], [64, 16], [128, 16], [128, 32]] {
                if shape[0] < block[0] || shape[1] < block[1] {
                    continue;
                }
                for two_ctas in [false, true] {
                    for col_stride in [1, 4 / dtype.bytes()] {
                        let pinned = Some(blocks(block, col_stride, two_ctas));
                        cases.push((dtype, shape, Values, pinned));
                    }
                }
            }
        }
    }
    for shape in [[16, 4], [32, 8], [64, 8], [128, 4], [256, 16]] {
        cases.push((Dtype::Ue8m0, shape, Scales, None));
    }
    for shape in [[128, 4], [128, 64], [256, 8]] {
        cases.extend(
            [1, 2, 4].map(|factor_bytes| (Dtype::U16, shape, Metadata { factor_bytes }, None)),
        );
    }
    let copies = "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]";
    let halves = "S[(64, 2, 8) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]";
    let turned = "S[(4, 32, 16) : (16 @ TCol, 1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]";
    cases.push((Dtype::U8, [32, 16], Values, Some(strides(copies))));
    cases.push((Dtype::F32, [64, 16], Values, Some(strides(halves))));
    cases.push((Dtype::U8, [128, 16], Values, Some(strides(turned))));
    for (dtype, shape, role, pinned) in cases {
        let what = format!("{dtype}{shape:?} {role:?} {pinned:?}");
        let (kernel, root) = allocation(dtype, shape, role, pinned);
        let arrangement = Arrangement::of(&kernel, root);
        let layout = tensor_memory::layout(&kernel, root).expect("the tile has a layout");
        let required = tensor_memory::tile_columns(&layout, &kernel.tensor_memory[root]);
        assert_eq!(arrangement.columns(), required, "{what}");
        let gap = kernel_layout::forms::tensor_memory_has_gap(&layout);
        for (at, required, required_byte) in by_map(&layout, dtype.bytes(), gap) {
            let [row, byte] = arrangement.place(at);
            let rows: Vec<u32> = arrangement.copies().iter().map(|copy| row + copy).collect();
            assert_eq!((rows, byte), (required, required_byte), "{what} at {at:?}");
        }
    }
}

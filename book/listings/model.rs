//! Part 2: blocks and tiles, windows, types, control flow, functions, instances, targets, arguments and launches.

crate::listings! {
    "model": tiles, windows, masks, types, control, reductions, functions, instances, targets, arguments, launches
}

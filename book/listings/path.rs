//! Part "A path to fast kernels": what each step does less than the one before it.
#![expect(
    clippy::unnecessary_wraps,
    reason = "a listing that only computes has the `main` of all listings"
)]
#![expect(clippy::cast_precision_loss, reason = "hosts make small whole numbers")]
#![expect(
    clippy::many_single_char_names,
    reason = "matrices and their extents have the names of the formula"
)]

crate::listings! { "path":
    floors, in_flight, shared_rate, elements, softmax_passes, transpose_conflicts, product_counts, product_wgmma,
    specialized, clusters, schedules, attention, scores, tensor_memory
}

//! Part "A path to fast kernels": what each step does less than the one before it.

crate::listings! { "path": floors, in_flight, shared_rate, elements, softmax_passes, transpose_conflicts, product_counts, product_wgmma, specialized, clusters, schedules, attention, scores, tensor_memory }

//! Part 7: kernels in programs.

crate::listings! { "using": tensors, refused, graphs, library, tuning, devices }

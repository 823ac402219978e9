//! The runtime on the emulator: kernels written by hand, and every error that needs no GPU.
#![cfg(feature = "emulator")]

mod any;
mod boxes;
mod clusters;
mod comm;
mod devices;
mod dlpack;
mod errors;
mod facts;
mod foreign;
mod graphs;
mod kernels;
mod launches;
mod maps;
mod pinned;
mod streams;
mod tensors;

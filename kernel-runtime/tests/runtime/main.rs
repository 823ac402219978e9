//! The runtime on the emulator: kernels written by hand, and every error that needs no GPU.
#![cfg(feature = "emulator")]

mod boxes;
mod clusters;
mod devices;
mod errors;
mod facts;
mod kernels;
mod launches;
mod maps;
mod streams;
mod tensors;

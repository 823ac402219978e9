//! Items of the driver's interface as the installed `cuda.h` has them: tensor maps, launch attributes, results.
//!
//! For programs that use what a toolkit newer than the bindings of `cudarc` brought. Enums are structs with
//! constants, so that values which the header lacks can be held too. Functions are types only; the driver's library
//! is loaded at run time.

#![expect(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated from C"
)]

include!(concat!(env!("OUT_DIR"), "/driver_bindgen.rs"));

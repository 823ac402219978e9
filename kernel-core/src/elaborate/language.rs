//! The language itself: names, types, expressions, control flow, calls.

pub(crate) mod bounds;
pub(crate) mod branch;
pub(crate) mod builtins;
pub(crate) mod call;
pub(crate) mod closures;
pub(crate) mod constants;
pub(crate) mod control;
pub(crate) mod doubt;
pub(crate) mod elements;
pub(crate) mod emit;
pub(crate) mod expr;
pub(crate) mod generic;
pub(crate) mod known;
pub(crate) mod methods;
pub(crate) mod operators;
pub(crate) mod params;
pub(crate) mod passed;
pub(crate) mod places;
pub(crate) mod reach;
pub(crate) mod said;
pub(crate) mod scope;
pub(crate) mod specialize;
pub(crate) mod targets;
pub(crate) mod types;
pub(crate) mod value;

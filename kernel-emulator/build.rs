//! Tells the crate whether it is compiled without optimisation: cargo says so to build scripts alone. Debug assertions are no sign
//! of it, since a profile that only raises `opt-level` keeps them.

#![forbid(unsafe_code)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if std::env::var("OPT_LEVEL").as_deref() == Ok("0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
}

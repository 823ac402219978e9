//! Builds each program of `fail` and `pass` with the pinned rustc, in one cargo project.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests` writes the `.stderr` files anew; read them aloud before
//! committing them.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*/*.rs");
}

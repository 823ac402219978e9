//! The README's error message is what the compiler says: that of a program of `ui-tests`, in a file of the user's.

const README: &str = include_str!("../README.md");
const SAID: &str = include_str!("../ui-tests/fail/shapes/K0202_row_and_matrix.stderr");

#[test]
fn the_error_message_is_the_compilers() {
    let said = SAID.replace("fail/shapes/K0202_row_and_matrix.rs", "src/main.rs");
    let block = format!("```text\n{said}```\n");
    assert!(README.contains(&block), "the README has no such block:\n{block}");
}

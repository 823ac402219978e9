//! The programs `kiln` and `cargo-kiln`, as users start them.

use std::process::{Command, Output};

const KILN: &str = env!("CARGO_BIN_EXE_kiln");
const CARGO_KILN: &str = env!("CARGO_BIN_EXE_cargo-kiln");

fn output(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().expect("it starts")
}

/// What it prints, where it succeeds.
fn text(program: &str, arguments: &[&str]) -> String {
    let output = output(program, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn cargo_kiln_does_what_kiln_does() {
    let explained = text(KILN, &["explain", "K0101"]);
    assert!(explained.starts_with("# K0101"), "{explained}");
    // As cargo starts it for `cargo kiln explain K0101`, and as users may.
    assert_eq!(text(CARGO_KILN, &["kiln", "explain", "K0101"]), explained);
    assert_eq!(text(CARGO_KILN, &["explain", "K0101"]), explained);
}

#[test]
fn only_the_first_word_may_be_the_name() {
    assert_eq!(output(KILN, &["kiln", "explain", "K0101"]).status.code(), Some(2));
    assert_eq!(output(CARGO_KILN, &["kiln", "kiln", "explain", "K0101"]).status.code(), Some(2));
}

#[test]
fn help_names_the_command_as_it_was_called_and_has_a_line_for_each_subcommand() {
    for (program, before, name) in
        [(KILN, &[][..], "kiln"), (CARGO_KILN, &["kiln"][..], "cargo kiln")]
    {
        let help = text(program, &[before, &["--help"]].concat());
        assert!(help.contains(&format!("Usage: {name} <COMMAND>\n")), "{help}");
        let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
        let lines: Vec<&str> = list.expect("a list").lines().collect();
        for subcommand in ["init", "run-ptx", "explain", "layout", "tune", "inspect"] {
            let line =
                lines.iter().find(|line| line.trim_start().starts_with(&format!("{subcommand} ")));
            let line = line.expect("a line for each");
            assert!(line.split_whitespace().count() > 4 && line.len() <= 120, "{line}");
        }
        let help = text(program, &[before, &["run-ptx", "--help"]].concat());
        assert!(
            help.contains(&format!("Usage: {name} run-ptx [OPTIONS] <LAUNCH.json>...\n")),
            "{help}"
        );
    }
}

use std::sync::Arc;

use super::{Named, SourceFile, Surroundings};

fn around(text: &str, attribute: &str, name: &str) -> Arc<Surroundings> {
    let file = SourceFile::read(text, "src/lib.rs", "kiln");
    let place = file.declared.get(name).and_then(|places| places.first()).copied();
    file.around(attribute, name, place.unwrap_or_default())
}

/// The surroundings of the kernel `k`, with these items before it.
fn of_kernel(items: &str) -> Arc<Surroundings> {
    around(
        &format!("use kiln::prelude::*; {items} #[kernel(target = sm_80)] pub fn k() {{}}"),
        "kernel",
        "k",
    )
}

fn kind(items: &str, name: &str) -> Option<Named> {
    of_kernel(items).names.get(name).cloned()
}

#[test]
fn items_of_the_host_are_told_from_those_that_may_be_device_items() {
    for (items, name, host) in [
        ("fn f() {}", "f", Some("a function")),
        ("/// Doc.\n#[inline] pub(crate) fn f() {}", "f", Some("a function")),
        ("#[device] fn f() {}", "f", None),
        ("#[kiln::device] fn f() {}", "f", None),
        ("#[other::attribute] fn f() {}", "f", None),
        ("#[derive(Clone)] struct S;", "S", Some("a struct")),
        ("enum E { A }", "E", Some("an enum")),
        ("static S: i32 = 1;", "S", Some("a static")),
        ("mod m {}", "m", None),
        ("use other::f;", "f", None),
        ("use other::{g as f, h};", "f", None),
        ("use other::f::{self};", "f", None),
        ("macro_rules! f { () => {} }", "f", None),
        ("#[kernel(target = sm_80)] pub fn f() {}", "f", Some("a kernel")),
        // One of them may be a device item.
        ("fn f() {} #[cfg(x)] #[device] fn f() {}", "f", None),
    ] {
        let expected = host.map_or(Named::Open, Named::Host);
        assert_eq!(kind(items, name), Some(expected), "{items}");
    }
}

#[test]
fn names_from_elsewhere_leave_it_open_what_there_is() {
    for (items, whole) in [
        ("", true),
        ("use other::*;", false),
        ("use other::{f, inner::*};", false),
        ("use kiln::{self};", true),
        ("use kiln::sched::*;", false),
        ("items! {}", false),
        ("#[macro_use] extern crate other;", false),
        ("extern crate other;", true),
        ("impl S {}", true),
    ] {
        assert_eq!(of_kernel(items).whole, whole, "{items}");
    }
}

#[test]
fn a_module_sees_its_own_names_and_what_it_takes_from_the_one_around_it() {
    let text = "use kiln::prelude::*; const N: i32 = 4; fn host() {}
        mod taken { use super::*; #[kernel(target = sm_80)] fn k() {} }
        mod alone { use kiln::prelude::*; #[kernel(target = sm_80)] fn l() {} }
        #[kernel] mod kernels { use super::*; const M: i32 = 2; }
        mod open { use super::super::*; #[device] fn d() {} }";
    let names = |attribute, name| {
        let around = around(text, attribute, name);
        let names = around.names.keys().cloned().collect::<Vec<_>>();
        (around.whole, names.join(" "))
    };
    let of_file = "N alone host kernels open taken";
    assert_eq!(names("kernel", "k"), (true, of_file.replace("host", "host k")));
    assert_eq!(names("kernel", "l"), (true, "l".to_owned()));
    assert_eq!(names("kernel", "kernels"), (true, of_file.replace("N ", "M N ")));
    assert_eq!(names("device", "d"), (false, "d".to_owned()));
}

#[test]
fn of_two_items_of_a_name_nothing_is_known() {
    let twice = "mod a { #[kernel(target = sm_80)] fn k() {} } mod b { #[kernel(target = sm_80)] fn k() {} }";
    assert!(!around(twice, "kernel", "k").whole);
    assert!(!around("fn k( {", "kernel", "k").whole, "not Rust");
    assert!(!around("#[kernel(target = sm_80)] fn k() {}", "kernel", "other").whole, "not there");
    assert!(
        !around("#[kernel(target = sm_80)] fn k() {}", "device", "k").whole,
        "not a device item"
    );
}

#[test]
fn a_constant_has_its_text_and_its_place() {
    let around = of_kernel(
        "\n    pub(crate) const WIDE: i32 = 4 * N;\nconst N: i32 = 2; fn f() { const N: i32 = 3; }",
    );
    let Some(Named::Const(text)) = around.names.get("WIDE") else { panic!("{around:?}") };
    assert_eq!(text.replace(' ', ""), "pub(crate)constWIDE:i32=4*N;");
    let place = &around.places["WIDE"];
    assert_eq!((&*place.file, place.line, place.column), ("src/lib.rs", 2, 22));
    assert!(!around.places.contains_key("N"), "there are two");
}

#[test]
fn a_constant_of_the_module_around_keeps_its_meaning() {
    let text = "use kiln::prelude::*; const A: i32 = 1; const B: i32 = A + 1; const C: i32 = 5; const D: i32 = 6;
        mod m { use super::*; const A: i32 = 100; const D: i32 = 7; #[kernel(target = sm_80)] fn k() {} }";
    let around = around(text, "kernel", "k");
    let text_of = |name: &str| match &around.names[name] {
        Named::Const(text) => Some(text.replace(' ', "")),
        Named::Open | Named::Host(_) => None,
    };
    assert_eq!(text_of("A").as_deref(), Some("constA:i32=100;"));
    assert_eq!(text_of("B"), None, "its A is another one");
    assert_eq!(text_of("C").as_deref(), Some("constC:i32=5;"));
    assert_eq!(text_of("D").as_deref(), Some("constD:i32=7;"));
}

#[test]
fn an_item_elsewhere_in_the_text_leaves_it_open_which_one_is_meant() {
    let text = "use kiln::prelude::*; #[kernel(target = sm_80)] fn k() {}
        macro_rules! wide { () => { #[kernel(target = sm_80)] fn k() {} } }";
    let file = SourceFile::read(text, "src/lib.rs", "kiln");
    assert!(!file.around("kernel", "k", (1, 50)).whole);
    let file = SourceFile::read(text.lines().next().expect("a line"), "src/lib.rs", "kiln");
    assert!(file.around("kernel", "k", (1, 51)).whole);
    assert!(!file.around("kernel", "k", (1, 8)).whole, "a macro gave this name");
}

#[test]
fn constants_of_the_standard_library_are_those_of_the_file_that_imports_them() {
    for (items, name, constant) in [
        (
            "use std::f32::consts::LOG2_E;",
            "LOG2_E",
            Some("use std::f32::consts::LOG2_E as LOG2_E;"),
        ),
        (
            "use core::f64::consts::{E, PI as HALF_A_TURN};",
            "HALF_A_TURN",
            Some("use core::f64::consts::PI as HALF_A_TURN;"),
        ),
        ("use std::f32::consts;", "consts", Some("use std::f32::consts as consts;")),
        ("use std::f32::consts::*;", "SQRT_2", Some("use std::f32::consts::SQRT_2;")),
        // The file's own hides what a glob brings.
        ("use std::f32::consts::*; const PI: f32 = 3.0;", "PI", Some("const PI : f32 = 3.0 ;")),
        ("use mine::f32::consts::PI;", "PI", None),
        ("use std::f32::consts::MINE;", "MINE", None),
    ] {
        let expected = constant.map_or(Named::Open, |text| Named::Const(text.to_owned()));
        assert_eq!(kind(items, name), Some(expected), "{items}");
    }
    assert!(of_kernel("use std::f32::consts::*;").whole);
}

#[test]
fn functions_have_the_place_of_their_name_if_there_is_one() {
    let places = |text: &str| {
        let around = around(text, "kernel", "k");
        around.functions.get("f").map(|place| (place.line, place.column))
    };
    let kernel = "#[kernel(target = sm_80)] pub fn k() {}";
    assert_eq!(places(&format!("\n  pub fn f() {{}}\n{kernel}")), Some((2, 10)));
    assert_eq!(places(&format!("fn f() {{}} mod m {{ fn f() {{}} }}\n{kernel}")), None);
}

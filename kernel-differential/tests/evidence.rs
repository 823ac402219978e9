//! Every form that the compiler emits has a differential test, and the newest table of evidence says that it agrees.

use std::{collections::BTreeSet, path::Path};

use kernel_differential::{form::form, list, suite, table};

#[test]
fn every_form_of_the_list_has_a_test() {
    let entries = suite::entries();
    let tested: BTreeSet<&str> =
        entries.iter().flat_map(|entry| entry.forms.iter().map(String::as_str)).collect();
    let forms = list::forms().chain(list::ahead());
    let open: BTreeSet<&str> = list::open().collect();
    let missing: Vec<&str> =
        forms.filter(|form| !tested.contains(form) && !open.contains(form)).collect();
    assert!(
        missing.is_empty(),
        "forms without a test in kernel-differential/src/suite: {missing:#?}"
    );
}

#[test]
fn cases_have_names_of_their_own() {
    let mut names = BTreeSet::new();
    for entry in suite::entries() {
        assert!(names.insert(entry.name.clone()), "{} is there twice", entry.name);
    }
}

/// One entry in so many is made: making all of them takes minutes, since the operands are many, and `differential run` looks at each.
/// A prime, so that what repeats from family to family is not left out each time.
const STEP: usize = 97;

#[test]
fn kernels_hold_the_forms_that_they_test() {
    for entry in suite::entries().iter().step_by(STEP) {
        let case = entry.case();
        let module = kernel_ptx::parse(&case.ptx).expect("the kernel is PTX");
        module.validate().unwrap_or_else(|found| panic!("{}: {found:?}", case.name));
        let there: BTreeSet<String> =
            module.instructions().map(|(_, instruction)| form(instruction)).collect();
        for form in &case.forms {
            assert!(
                there.contains(form),
                "{}: {form} is not in the kernel\n{}",
                case.name,
                case.ptx
            );
        }
    }
}

/// It has no operands and no results: one launch shows all that it does.
const ENDS_THE_LAUNCH: &str = "trap";

#[test]
fn the_table_shows_that_every_form_agrees_but_the_open_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/results/differential.md");
    let page = std::fs::read_to_string(&path).expect("the results are part of the repository");
    let rows = table::read(&page);
    let mut problems = Vec::new();
    let mut open = Vec::new();
    for form in list::forms() {
        match rows.get(form) {
            None => {
                problems.push(format!("{form}: not in the table"));
                open.push(form);
            }
            Some((operands, different))
                if (*operands < 100_000 && form != ENDS_THE_LAUNCH) || different != "0" =>
            {
                problems.push(format!("{form}: {operands} operands, {different} different"));
                open.push(form);
            }
            Some(_) => {}
        }
    }
    let required: Vec<&str> = list::open().collect();
    assert_eq!(open, required, "{}: {problems:#?}", path.display());
}

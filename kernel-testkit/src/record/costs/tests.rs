//! A fake assembler gives a thread as many registers as the text has bytes, and keeps a list of what it is asked.

use std::sync::Mutex;

use super::*;

struct Fake {
    version: &'static str,
    asked: Mutex<Vec<(String, String)>>,
}

impl Fake {
    fn of(version: &'static str) -> Fake {
        Fake { version, asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<(String, String)> {
        let mut asked = self.asked.lock().expect("no thread panics").clone();
        asked.sort();
        asked
    }
}

impl Assemble for Fake {
    fn cost(&self, _: &str, ptx: &str, target: &str) -> Result<Cost, String> {
        self.asked.lock().expect("no thread panics").push((ptx.to_owned(), target.to_owned()));
        if ptx == "refused" {
            return Err("Unknown modifier".to_owned());
        }
        Ok(cost(u32::try_from(ptx.len()).expect("texts are small")))
    }

    fn version(&self) -> Result<String, String> {
        Ok(self.version.to_owned())
    }
}

fn cost(registers: u32) -> Cost {
    Cost { registers, spilled_bytes: 0 }
}

/// A text outside of the sample: its SHA-256 begins with `b`.
const OUTSIDE: &str = "abc";
/// A text of the sample: its SHA-256 begins with `1`.
const INSIDE: &str = "hello sample 7";

fn line(ptx: &str, costs: &[(&str, Option<Cost>)]) -> Line {
    let text = format!("a/b - sm_80 {} {}", ptx.replace(' ', "_"), hash(ptx));
    let costs = costs.iter().map(|(target, cost)| ((*target).to_owned(), *cost)).collect();
    Line { text, costs }
}

fn recorded(version: &str, lines: &[Line], fake: Fake) -> Recorded<Fake> {
    let costs = Costs::of(Some(version.to_owned()), lines).expect("the lines agree");
    Recorded::new(fake, costs, "the record").expect("the fake has a version")
}

#[test]
fn a_text_that_the_record_knows_is_not_assembled() {
    assert!(hash(OUTSIDE).starts_with('b'));
    let gate = recorded("V1", &[line(OUTSIDE, &[("sm_80", Some(cost(99)))])], Fake::of("V1"));
    assert_eq!(gate.cost("a", OUTSIDE, "sm_80"), Ok(cost(99)));
    assert_eq!(gate.assembler.asked(), []);
    let said = "ptxas V1: assembled 0 of 1 texts; the numbers of 1 are taken from the record";
    assert_eq!(gate.summary(), said);
}

#[test]
fn a_text_that_has_changed_and_another_architecture_are_assembled() {
    let gate = recorded("V1", &[line(OUTSIDE, &[("sm_80", Some(cost(99)))])], Fake::of("V1"));
    assert_eq!(gate.cost("a", "abcd", "sm_80"), Ok(cost(4)));
    assert_eq!(gate.cost("a", OUTSIDE, "sm_90a"), Ok(cost(3)));
    assert_eq!(gate.assembler.asked().len(), 2);
    assert!(gate.summary().contains("assembled 2 of 2 texts, 2 that are new or have changed;"));
}

#[test]
fn a_line_without_numbers_is_assembled() {
    let gate = recorded("V1", &[line(OUTSIDE, &[("sm_80", None)])], Fake::of("V1"));
    assert_eq!(gate.cost("a", OUTSIDE, "sm_80"), Ok(cost(3)));
    assert!(gate.summary().contains("assembled 1 of 1 texts, 1 whose numbers are not recorded;"));
}

#[test]
fn another_version_assembles_everything_and_its_numbers_may_differ() {
    let costs = [("sm_80", Some(cost(99)))];
    let lines = [line(OUTSIDE, &costs), line(INSIDE, &costs)];
    let gate = recorded("V1", &lines, Fake::of("V2"));
    assert_eq!(gate.cost("a", OUTSIDE, "sm_80"), Ok(cost(3)));
    assert_eq!(gate.cost("a", INSIDE, "sm_80"), Ok(cost(14)));
    assert!(gate.summary().contains("assembled 2 of 2 texts, 2 whose numbers are those of V1;"));
}

#[test]
fn a_wrong_number_in_the_sample_fails() {
    assert!(hash(INSIDE).starts_with('1'), "{}", hash(INSIDE));
    let right = recorded("V1", &[line(INSIDE, &[("sm_80", Some(cost(14)))])], Fake::of("V1"));
    assert_eq!(right.cost("a", INSIDE, "sm_80"), Ok(cost(14)));
    assert!(right.summary().contains("assembled 1 of 1 texts, 1 as a sample of the record;"));
    let spilled = Cost { registers: 14, spilled_bytes: 8 };
    for wrong in [cost(15), spilled] {
        let gate = recorded("V1", &[line(INSIDE, &[("sm_80", Some(wrong))])], Fake::of("V1"));
        let said = gate.cost("a", INSIDE, "sm_80").expect_err("the record is wrong");
        assert!(said.contains(&format!("required  {wrong}\n")), "{said}");
        assert!(said.contains("actual    14 registers, 0 bytes spilled"), "{said}");
    }
}

#[test]
fn lines_that_contradict_each_other_are_refused() {
    let lines = [3, 4].map(|registers| line(OUTSIDE, &[("sm_80", Some(cost(registers)))]));
    let said = Costs::of(None, &lines).expect_err("they differ");
    assert!(said.contains("other numbers"), "{said}");
}

/// Lines as the compiler gives them: without numbers.
fn compiled(texts: &[&str]) -> Vec<(Line, String)> {
    let none = [("sm_80", None), ("sm_90a", None)];
    texts.iter().map(|ptx| (line(ptx, &none), (*ptx).to_owned())).collect()
}

fn known() -> Costs {
    let lines = [line(OUTSIDE, &[("sm_80", Some(cost(99))), ("sm_90a", None)])];
    Costs::of(Some("V1".to_owned()), &lines).expect("the line agrees with itself")
}

#[test]
fn the_record_keeps_numbers_of_its_version_and_assembles_the_rest_once() {
    let (mut costs, fake) = (known(), Fake::of("V1"));
    let mut lines = compiled(&[OUTSIDE, "new", "new"]);
    assert_eq!(costs.fill(&mut lines, Some(&fake)), Ok(3));
    assert_eq!(lines[0].0.costs[0].1, Some(cost(99)));
    assert_eq!(lines[0].0.costs[1].1, Some(cost(3)));
    assert_eq!(lines[1], lines[2]);
    let asked = [("abc", "sm_90a"), ("new", "sm_80"), ("new", "sm_90a")];
    assert_eq!(fake.asked(), asked.map(|(ptx, target)| (ptx.to_owned(), target.to_owned())));
}

#[test]
fn the_record_of_another_version_is_made_anew() {
    let (mut costs, fake) = (known(), Fake::of("V2"));
    let mut lines = compiled(&[OUTSIDE]);
    assert_eq!(costs.fill(&mut lines, Some(&fake)), Ok(2));
    assert_eq!(lines[0].0.costs[0].1, Some(cost(3)));
    assert_eq!(costs.version.as_deref(), Some("V2"));
}

#[test]
fn without_an_assembler_new_lines_have_no_numbers_and_others_keep_theirs() {
    let mut costs = known();
    let mut lines = compiled(&[OUTSIDE, "new"]);
    assert_eq!(costs.fill::<Fake>(&mut lines, None), Ok(0));
    let numbers = |line: &Line| line.to_string().split_once(line.hash()).map(|it| it.1.to_owned());
    assert_eq!(numbers(&lines[0].0).as_deref(), Some(" 99 0 sm_90a -"));
    assert_eq!(numbers(&lines[1].0).as_deref(), Some(" - sm_90a -"));
    assert_eq!(costs.version.as_deref(), Some("V1"));
}

#[test]
fn what_the_assembler_refuses_has_no_record() {
    let mut lines = compiled(&["new", "refused"]);
    let said = known().fill(&mut lines, Some(&Fake::of("V1"))).expect_err("one is refused");
    let required = ["sm_80", "sm_90a"]
        .map(|target| format!("a/b - sm_80 refused, -arch={target}: Unknown modifier"));
    assert_eq!(
        said.lines().collect::<std::collections::BTreeSet<_>>(),
        required.iter().map(String::as_str).collect()
    );
}

#[test]
fn an_assembler_that_says_no_version_writes_no_record() {
    let fake = Fake::of("of no version that it says");
    let said = known().fill(&mut compiled(&[OUTSIDE]), Some(&fake)).expect_err("it has no version");
    assert!(said.starts_with("required a ptxas that says its version"), "{said}");
}

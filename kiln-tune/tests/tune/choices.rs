//! What is chosen, measured, compared and reported.

use crate::{
    Tested, folder, stream, tuned, unchecked,
    work::{CHANGED, GREEDY, HOPPER, STEPS_10, STEPS_20, STEPS_30, WRONG, Work},
};
use kiln_tune::{Cache, Chosen, Error, Mode, Outcome, Tuner, Unit};
use std::{collections::BTreeSet, path::Path};

#[test]
fn the_instance_of_fewest_instructions_is_chosen() -> Tested {
    let (tuned, launches) = tuned(&[STEPS_30, STEPS_10, STEPS_20], &Cache::none(), Mode::On)?;
    assert_eq!(tuned.best, STEPS_10);
    assert_eq!(tuned.unit, Unit::Instructions);
    assert_eq!(launches, 3);
    // Of each of two blocks: 5 instructions in front of the loop, 3 in each step, 4 behind it.
    let costs: Vec<_> = tuned.rows.iter().map(|row| (row.instance, row.outcome.clone())).collect();
    let measured = |steps: u32| Outcome::Measured(f64::from(2 * (5 + 3 * steps + 4)));
    assert_eq!(
        costs,
        [(STEPS_10, measured(10)), (STEPS_20, measured(20)), (STEPS_30, measured(30))]
    );
    Ok(())
}

#[test]
fn a_kernel_that_adds_to_its_output_is_compared_and_leaves_it_as_it_was() -> Tested {
    let stream = stream()?;
    let mut out = stream.full([2], 40u32)?;
    let tuner = Tuner::new(&stream, "added").cache(Cache::none()).mode(Mode::On);
    let tuned = tuner.run_checked(&mut out, |one: Work, out| one.with(out).launch(&stream))?;
    assert_eq!(tuned.best, STEPS_10);
    assert_eq!(out.to_vec(&stream)?, [40, 40]);
    Ok(())
}

#[test]
fn an_instance_with_a_wrong_result_is_named_and_not_remembered() -> Tested {
    let cache = Cache::file(folder("wrong").join("cache"));
    for among in [[STEPS_10, WRONG, STEPS_20], [WRONG, STEPS_10, STEPS_20]] {
        let error = tuned(&among, &cache, Mode::On).expect_err("one adds 2");
        assert!(
            matches!(&error, Error::Different { instance, other, required, actual, .. }
                if instance == "STEPS = 1, wrong" && other == "STEPS = 10" && *required == 1.0 && *actual == 2.0),
            "{error}"
        );
        assert!(cache.contents().entries.is_empty());
    }
    // One that is new is compared with the best that is known.
    tuned(&[STEPS_20, STEPS_10], &cache, Mode::On)?;
    let error = tuned(&[STEPS_20, STEPS_10, WRONG], &cache, Mode::On).expect_err("one adds 2");
    assert!(
        error.to_string().contains("STEPS = 1, wrong differs from that of STEPS = 10"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_time_of_a_result_that_was_not_compared_chooses_nothing_where_results_are() -> Tested {
    let cache = Cache::file(folder("uncompared").join("cache"));
    assert_eq!(unchecked(&[STEPS_10, WRONG], &cache)?.0.best, WRONG);
    let (off, launches) = tuned(&[STEPS_10, WRONG], &cache, Mode::Off)?;
    assert_eq!((off.best, launches), (STEPS_10, 0));
    let error = tuned(&[STEPS_10, WRONG], &cache, Mode::On).expect_err("one adds 2");
    assert!(matches!(error, Error::Different { .. }), "{error}");
    Ok(())
}

#[test]
fn a_result_that_was_compared_with_a_greater_tolerance_is_compared_again() -> Tested {
    let cache = Cache::file(folder("tolerance").join("cache"));
    let stream = stream()?;
    let launches = |tolerance: f64| -> kiln_tune::Result<usize> {
        let mut out = stream.zeros::<u32, 1>([2])?;
        let mut launches = 0;
        let tuner = Tuner::new(&stream, [2]).among([STEPS_30, STEPS_10]).tolerance(tolerance);
        tuner.cache(cache.clone()).mode(Mode::On).run_checked(&mut out, |one, out| {
            launches += 1;
            one.with(out).launch(&stream)
        })?;
        Ok(launches)
    };
    assert_eq!(launches(0.5)?, 2);
    assert_eq!(launches(0.5)?, 0);
    assert_eq!(launches(0.25)?, 2);
    assert_eq!(launches(0.5)?, 0);
    // What measures without comparing forgets no comparison.
    let mut out = stream.zeros::<u32, 1>([2])?;
    let tuner = Tuner::new(&stream, [2]).among([STEPS_30, STEPS_10]).cache(cache.clone());
    tuner.mode(Mode::All).run(|one| one.with(&mut out).launch(&stream))?;
    assert_eq!(launches(0.25)?, 0);
    // No number allows nothing, as 0 does.
    assert_eq!(launches(f64::NAN)?, 2);
    assert_eq!(launches(0.0)?, 0);
    Ok(())
}

#[test]
fn instances_that_the_device_does_not_run_are_no_choice() -> Tested {
    let cache = Cache::file(folder("unfit").join("cache"));
    for run in 0..2 {
        let (tuned, launches) = tuned(&[GREEDY, HOPPER, STEPS_20], &cache, Mode::On)?;
        assert_eq!(tuned.best, STEPS_20);
        assert_eq!(launches, 1 - run, "what does not fit is remembered as well");
        let refused = |instance: Work| {
            let row = tuned.rows.iter().find(|row| row.instance == instance);
            match row.map(|row| &row.outcome) {
                Some(Outcome::Refused(why)) => why.clone(),
                other => panic!("{instance}: {other:?}"),
            }
        };
        assert!(refused(GREEDY).contains("shared memory"), "{}", refused(GREEDY));
        assert!(refused(HOPPER).contains("sm_90a"), "{}", refused(HOPPER));
    }
    let error = tuned(&[HOPPER], &Cache::none(), Mode::On).expect_err("nothing runs");
    assert!(
        error.to_string().starts_with("`work`: no instance to choose from; STEPS = 3, Hopper: "),
        "{error}"
    );
    let error = tuned(&[], &Cache::none(), Mode::On).expect_err("nothing is there");
    assert_eq!(error.to_string(), "`work`: no instance to choose from; `among` gave none");
    Ok(())
}

#[test]
fn a_predicate_and_a_model_leave_instances_out() -> Tested {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([2])?;
    let tuner = || Tuner::new(&stream, [2]).cache(Cache::none()).mode(Mode::On);
    let pruned = tuner().prune(|_, takes| takes.shared_bytes < 1024);
    let tuned = pruned.run(|one: Work| one.with(&mut out).launch(&stream))?;
    assert_eq!(tuned.best, STEPS_20);
    assert_eq!(tuned.rows.last().map(|row| row.outcome.clone()), Some(Outcome::Pruned));
    let mut launched = Vec::new();
    let modelled = tuner().model(2, |one, _| if one == STEPS_10 { 9.0 } else { 1.0 });
    let tuned = modelled.run(|one: Work| {
        launched.push(one);
        one.with(&mut out).launch(&stream)
    })?;
    assert_eq!(launched, [STEPS_30, STEPS_20]);
    assert_eq!(tuned.best, STEPS_20);
    for no_number in [f64::NAN, -f64::NAN] {
        let modelled = tuner().model(2, |one, _| if one == STEPS_10 { no_number } else { 1.0 });
        let tuned = modelled.run(|one: Work| one.with(&mut out).launch(&stream))?;
        assert_eq!(tuned.best, STEPS_20, "what is no number is not predicted to be cheap");
    }
    Ok(())
}

#[test]
fn an_instance_that_fails_is_named() -> Tested {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([2])?;
    let tuner = Tuner::new(&stream, [2]).cache(Cache::none()).mode(Mode::On);
    // Nobody gives a grid of 3 blocks room for their elements.
    let error = tuner
        .run(|one: Work| {
            one.with(&mut out).grid(if one == STEPS_20 { 300 } else { 2 }).launch(&stream)
        })
        .expect_err("blocks write behind the tensor");
    assert!(
        matches!(&error, Error::Failed { kernel: "work", instance, .. } if instance == "STEPS = 20"),
        "{error}"
    );
    Ok(())
}

#[test]
fn without_measuring_the_best_known_or_the_first_is_chosen() -> Tested {
    let cache = Cache::file(folder("off").join("cache"));
    let (first, launches) = tuned(&[HOPPER, GREEDY, STEPS_20, STEPS_10], &cache, Mode::Off)?;
    assert_eq!((first.best, launches), (STEPS_20, 0));
    let error = tuned(&[HOPPER, GREEDY], &cache, Mode::Off).expect_err("neither runs");
    assert!(
        matches!(&error, Error::NothingToChoose { reasons, .. } if reasons.contains("shared memory")),
        "{error}"
    );
    tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    let (known, launches) = tuned(&[STEPS_20, STEPS_30, STEPS_10], &cache, Mode::Off)?;
    assert_eq!((known.best, launches), (STEPS_10, 0));
    Ok(())
}

#[test]
fn a_process_chooses_once_for_a_key() -> Tested {
    static CHOSEN: Chosen<Work> = Chosen::new();
    let stream = stream()?;
    let device = stream.device();
    assert!(CHOSEN.get(device, [1], || Err(Error::Variable { actual: "?".to_owned() })).is_err());
    assert_eq!(CHOSEN.get(device, [1], || Ok(STEPS_20))?, STEPS_20);
    assert_eq!(CHOSEN.get(device, [1], || Ok(STEPS_10))?, STEPS_20);
    assert_eq!(CHOSEN.get(device, [2], || Ok(STEPS_10))?, STEPS_10);
    let error = CHOSEN.get(device, [3], || CHOSEN.get(device, [3], || Ok(STEPS_10)));
    assert!(matches!(error, Err(Error::AsksForItself { .. })), "{error:?}");
    assert_eq!(CHOSEN.get(device, [3], || Ok(STEPS_20))?, STEPS_20);
    Ok(())
}

/// The names of the reports in a folder, without their endings.
fn reports(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = BTreeSet::new();
    for file in folder.read_dir()? {
        names.extend(file?.path().file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    Ok(names.into_iter().collect())
}

#[test]
fn reports_of_different_keys_have_different_names() -> Tested {
    let folder = folder("report-names");
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([2])?;
    for key in ["a/b", "a b", "a-b", "", "\u{e9}\u{2603}"] {
        let tuner = Tuner::new(&stream, key).among([STEPS_10]).cache(Cache::none());
        tuner.mode(Mode::On).report(&folder).run(|one| one.with(&mut out).launch(&stream))?;
    }
    assert_eq!(reports(&folder)?.len(), 5);
    Ok(())
}

#[test]
fn a_report_has_a_table_and_a_plot() -> Tested {
    let folder = folder("report");
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([2])?;
    let tuner = Tuner::new(&stream, ("rows", 2)).among([STEPS_30, CHANGED, STEPS_10]);
    let tuner = tuner.cache(Cache::none()).mode(Mode::On).report(&folder);
    let tuned = tuner.run(|one| one.with(&mut out).launch(&stream))?;
    let table = "\
work (\"rows\", 2) on emulator for sm_80
instance    instructions  relative  registers  shared  blocks/SM
STEPS = 30            48      1.00          -       0         32
STEPS = 10            78      1.62          -    1024         32
STEPS = 30           198      4.12          -       0         32
";
    assert_eq!(tuned.to_string(), table);
    let [name] = reports(&folder)?.try_into().expect("one choice");
    assert!(name.starts_with("work-rows-2-emulator-for-sm_80-"), "{name}");
    assert_eq!(std::fs::read_to_string(folder.join(format!("{name}.txt")))?, table);
    let picture = std::fs::read_to_string(folder.join(format!("{name}.svg")))?;
    assert_eq!(picture.matches("<rect x=").count(), 3, "{picture}");
    assert!(picture.contains(">78 instructions</text>"), "{picture}");
    Ok(())
}

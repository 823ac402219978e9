//! What is remembered, and what is not believed.

use crate::{
    Tested, folder, tuned, unchecked,
    work::{CHANGED, STEPS_10, STEPS_20, STEPS_30},
};
use kiln_tune::{Cache, FORMAT, Mode, Outcome};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A cache in which `STEPS = 10` and `STEPS = 30` are known.
fn filled(name: &str) -> (PathBuf, Cache) {
    let path = folder(name).join("below").join("cache.jsonl");
    let cache = Cache::file(&path);
    tuned(&[STEPS_30, STEPS_10], &cache, Mode::On).expect("both run");
    (path, cache)
}

fn only_warning(cache: &Cache) -> String {
    let warnings = cache.contents().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings.concat()
}

#[test]
fn what_is_known_is_not_launched_again() -> Tested {
    let (_, cache) = filled("known");
    let (again, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!((again.best, launches), (STEPS_10, 0));
    assert_eq!(again.rows[0].outcome, Outcome::Cached(78.0));
    assert_eq!(again.rows[0].resources.map(|takes| takes.shared_bytes), Some(1024));
    let (_, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::All)?;
    assert_eq!(launches, 2);
    assert_eq!(cache.contents().entries.len(), 2, "the newer lines are about the same");
    assert!(cache.contents().warnings.is_empty());
    Ok(())
}

#[test]
fn a_cache_that_does_not_say_what_was_compared_is_read() -> Tested {
    let (path, cache) = filled("before");
    let text = std::fs::read_to_string(&path)?;
    let before = text.replace("\"compared\":0.0,", "");
    assert_eq!(text.len() - before.len(), 2 * 15, "{text}");
    std::fs::write(&path, &before)?;
    assert!(cache.contents().warnings.is_empty());
    let (known, launches) = unchecked(&[STEPS_30, STEPS_10], &cache)?;
    assert_eq!((known.best, launches), (STEPS_10, 0));
    assert_eq!(
        tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?.1,
        2,
        "nobody knows of a comparison"
    );
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?.1, 0);
    Ok(())
}

#[test]
fn a_new_instance_is_measured_alone() -> Tested {
    let (_, cache) = filled("added");
    let (tuned, launches) = tuned(&[STEPS_30, STEPS_20, STEPS_10], &cache, Mode::On)?;
    // One launch more computes the result that the new one is compared with.
    assert_eq!(launches, 2);
    let outcomes: Vec<Outcome> = tuned.rows.into_iter().map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Cached(78.0), Outcome::Measured(138.0), Outcome::Cached(198.0)]);
    Ok(())
}

#[test]
fn an_instance_with_other_code_is_measured_again() -> Tested {
    let (_, cache) = filled("changed");
    let (tuned, _) = tuned(&[CHANGED, STEPS_10], &cache, Mode::On)?;
    assert_eq!(tuned.best, CHANGED);
    assert_eq!(tuned.rows[0].outcome, Outcome::Measured(48.0));
    Ok(())
}

#[test]
fn a_line_that_was_cut_off_is_ignored_and_does_not_spoil_the_next() -> Tested {
    let (path, cache) = filled("cut");
    let text = std::fs::read_to_string(&path)?;
    std::fs::write(&path, &text[..text.len() - 20])?;
    let warning = only_warning(&cache);
    assert!(warning.ends_with(": 1 of its lines are no entries, and are ignored"), "{warning}");
    let (again, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!(
        (again.best, launches),
        (STEPS_10, 2),
        "the one that was cut, and one to compare with"
    );
    assert_eq!(cache.contents().entries.len(), 2);
    only_warning(&cache);
    Ok(())
}

#[test]
fn lines_that_are_no_times_are_ignored() -> Tested {
    let (path, cache) = filled("strange");
    let text = std::fs::read_to_string(&path)?;
    let entry = text.lines().nth(1).expect("two entries");
    let negative = entry.replace("198.0", "-1.0");
    assert_ne!(negative, entry);
    let compared = entry.replace("\"compared\":0.0", "\"compared\":-1.0");
    assert_ne!(compared, entry);
    let mut bytes =
        format!("{text}{negative}\n{compared}\n[1]\n{{\"kernel\":\"work\"}}\n\n").into_bytes();
    bytes.extend(b"\xFF\xFE\0\n");
    std::fs::write(&path, bytes)?;
    let warning = only_warning(&cache);
    assert!(warning.contains(": 5 of its lines"), "{warning}");
    let (again, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!((again.best, launches), (STEPS_10, 0));
    Ok(())
}

#[test]
fn a_name_that_is_no_instance_is_never_chosen() -> Tested {
    let (path, cache) = filled("unknown");
    let text = std::fs::read_to_string(&path)?;
    let entry = text.lines().nth(1).expect("two entries");
    let unknown = entry.replace("STEPS = 30", "STEPS = 1; rm").replace("198.0", "1.0");
    std::fs::write(&path, format!("{text}{unknown}\n"))?;
    assert_eq!(cache.contents().entries.len(), 3);
    let (again, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!((again.best, launches), (STEPS_10, 0));
    Ok(())
}

#[test]
fn a_file_of_another_version_is_ignored_and_kept() -> Tested {
    let (path, cache) = filled("version");
    let later = std::fs::read_to_string(&path)?.replace(FORMAT, "{\"kiln-tune\":2}");
    std::fs::write(&path, &later)?;
    let warning = only_warning(&cache);
    assert!(warning.contains("is ignored: required the first line {\"kiln-tune\":1}"), "{warning}");
    let (again, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!((again.best, launches), (STEPS_10, 2));
    assert_eq!(std::fs::read_to_string(&path)?, later);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_write_is_ignored() -> Tested {
    use std::os::unix::fs::PermissionsExt;
    let (path, cache) = filled("writable");
    assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
    let length = std::fs::metadata(&path)?.len();
    for mode in [0o620, 0o602] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode))?;
        let warning = only_warning(&cache);
        assert!(
            warning.ends_with(&format!("actual mode {mode:03o}; `chmod go-w` changes it")),
            "{warning}"
        );
        let (_, launches) = tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
        assert_eq!(launches, 2);
        assert_eq!(std::fs::metadata(&path)?.len(), length, "nothing is added to it");
    }
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644))?;
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?.1, 0);
    Ok(())
}

/// Only root can give a file away; other users find one of root's. Both are files of somebody else.
#[cfg(unix)]
#[test]
fn a_file_of_another_user_is_ignored() -> Tested {
    let (path, cache) = filled("foreign");
    let (foreign, launches) = if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
        (cache, 2)
    } else {
        (Cache::file("/etc/passwd"), 2)
    };
    let warning = only_warning(&foreign);
    assert!(warning.contains("is ignored: required a file of this user, "), "{warning}");
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &foreign, Mode::On)?.1, launches);
    Ok(())
}

#[test]
fn what_is_no_file_is_ignored() -> Tested {
    let folder = folder("folder");
    let cache = Cache::file(&folder);
    assert!(only_warning(&cache).ends_with("is ignored: it is no regular file"));
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?.1, 2);
    // A folder cannot be made below a file.
    std::fs::write(folder.join("file"), "")?;
    let below = Cache::file(folder.join("file").join("cache"));
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &below, Mode::On)?.0.best, STEPS_10);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_makes_no_file() -> Tested {
    let folder = folder("link");
    let (link, place) = (folder.join("cache"), folder.join("place"));
    std::os::unix::fs::symlink(&place, &link)?;
    let cache = Cache::file(&link);
    assert!(only_warning(&cache).ends_with("is ignored: it is a link to nothing"));
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?.0.best, STEPS_10);
    assert!(!place.try_exists()?);
    // One that leads to a file of this user is as good as the file.
    std::fs::write(&place, "")?;
    tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!(cache.contents().entries.len(), 2);
    assert!(std::fs::symlink_metadata(&link)?.is_symlink());
    Ok(())
}

/// The process may write files of a few hundred bytes, as on a disk that is almost full.
#[cfg(unix)]
#[test]
fn what_cannot_be_written_whole_is_not_written_in_part() -> Tested {
    if let Ok(path) = std::env::var(CHILD) {
        for key in 0..10 {
            let stream = crate::stream()?;
            let mut out = stream.zeros::<u32, 1>([2])?;
            let tuner = kiln_tune::Tuner::new(&stream, key).among([STEPS_10]);
            tuner.cache(Cache::file(&path)).run(|one| one.with(&mut out).launch(&stream))?;
        }
        return Ok(());
    }
    let path = folder("full").join("cache");
    // The signal, as long as it is not ignored, ends a process that writes more.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let status = Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe()?)
        .args(["--exact", "caches::what_cannot_be_written_whole_is_not_written_in_part"])
        .env(CHILD, &path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    assert!(status.success());
    let text = std::fs::read_to_string(&path)?;
    assert!(text.ends_with("}\n"), "{text}");
    let contents = Cache::file(&path).contents();
    assert!(contents.warnings.is_empty(), "{:?}", contents.warnings);
    // Some entries fit, and the limit was reached.
    assert!((1..10).contains(&contents.entries.len()), "{text}");
    Ok(())
}

#[test]
fn an_empty_file_is_filled() -> Tested {
    let path = folder("empty").join("cache");
    std::fs::write(&path, "")?;
    let cache = Cache::file(&path);
    assert!(cache.contents().warnings.is_empty());
    tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?;
    assert_eq!(cache.contents().entries.len(), 2);
    Ok(())
}

#[test]
fn a_text_of_the_program_is_known_and_not_written() -> Tested {
    let (path, _) = filled("shipped");
    let text: &'static str = std::fs::read_to_string(&path)?.leak();
    let (first, launches) = tuned(&[STEPS_30, STEPS_10], &Cache::none().shipped(text), Mode::On)?;
    assert_eq!((first.best, launches), (STEPS_10, 0));
    // The user's own times count more.
    let own = path.with_file_name("own");
    std::fs::write(&own, text.replace("198.0", "1.0"))?;
    let (second, _) = tuned(&[STEPS_30, STEPS_10], &Cache::file(own).shipped(text), Mode::On)?;
    assert_eq!(second.best, STEPS_30);
    let cut = only_warning(&Cache::none().shipped("nothing of the kind"));
    assert!(cut.starts_with("a cache that is part of the program is ignored"), "{cut}");
    Ok(())
}

#[test]
fn a_process_that_writes_is_waited_for() -> Tested {
    let (path, cache) = filled("locked");
    let length = std::fs::metadata(&path)?.len();
    let other = std::fs::File::open(&path)?;
    let thread = {
        other.lock()?;
        let adding = cache.clone();
        let thread = std::thread::spawn(move || tuned(&[STEPS_20], &adding, Mode::All).is_ok());
        // Without the lock it would be done by then, or else pass this by.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(std::fs::metadata(&path)?.len(), length);
        other.unlock()?;
        thread
    };
    assert!(thread.join().is_ok_and(|is_good| is_good));
    assert_eq!(cache.contents().entries.len(), 3);
    Ok(())
}

/// Names the cache in a process that a test starts.
const CHILD: &str = "KILN_TUNE_TEST_CHILD";

#[test]
fn processes_that_tune_at_once_lose_nothing() -> Tested {
    const PROCESSES: usize = 3;
    const TIMES: usize = 15;
    if let Ok(path) = std::env::var(CHILD) {
        for _ in 0..TIMES {
            tuned(&[STEPS_30, STEPS_10], &Cache::file(&path), Mode::All)?;
        }
        return Ok(());
    }
    let path = folder("processes").join("cache");
    let start = || {
        Command::new(std::env::current_exe()?)
            .args(["--exact", "caches::processes_that_tune_at_once_lose_nothing"])
            .env(CHILD, Path::new(&path))
            .stdout(Stdio::null())
            .spawn()
    };
    let children: Vec<_> = (0..PROCESSES).map(|_| start()).collect::<Result<_, _>>()?;
    for mut child in children {
        assert!(child.wait()?.success());
    }
    let cache = Cache::file(&path);
    assert!(cache.contents().warnings.is_empty(), "{:?}", cache.contents().warnings);
    let lines = std::fs::read_to_string(&path)?.lines().count();
    assert_eq!(lines, 1 + PROCESSES * TIMES * 2, "one head, and two lines each time");
    assert_eq!(tuned(&[STEPS_30, STEPS_10], &cache, Mode::On)?.1, 0);
    Ok(())
}

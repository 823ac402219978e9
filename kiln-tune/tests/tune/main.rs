//! Tuning on the emulator, where costs are always the same; and caches of every kind.
#![expect(clippy::float_cmp, reason = "costs on the emulator are whole numbers")]

mod caches;
mod choices;
mod work;

use kernel_runtime::{Device, Stream, Target};
use kiln_tune::{Cache, Mode, Result, Tuned, Tuner};
use std::path::PathBuf;
use work::Work;

/// The result of a test.
type Tested = std::result::Result<(), Box<dyn std::error::Error>>;

fn stream() -> kernel_runtime::Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

/// A folder of a test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tune-{name}"));
    match std::fs::remove_dir_all(&folder) {
        Ok(()) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
    }
    std::fs::create_dir_all(&folder).expect("the folder of tests can be written");
    folder
}

/// As [`tuned`], without comparing results.
fn unchecked(among: &[Work], cache: &Cache) -> Result<(Tuned<Work>, usize)> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([2])?;
    let mut launches = 0;
    let tuner = Tuner::new(&stream, [2]).among(among.iter().copied());
    let tuned = tuner.cache(cache.clone()).mode(Mode::On).run(|one| {
        launches += 1;
        one.with(&mut out).launch(&stream)
    })?;
    Ok((tuned, launches))
}

/// What was chosen, and how many launches that took.
fn tuned(among: &[Work], cache: &Cache, mode: Mode) -> Result<(Tuned<Work>, usize)> {
    let stream = stream()?;
    let mut out = stream.zeros::<u32, 1>([2])?;
    let mut launches = 0;
    let tuner = Tuner::new(&stream, [2]).among(among.iter().copied());
    let tuned = tuner.cache(cache.clone()).mode(mode).run_checked(&mut out, |one, out| {
        launches += 1;
        one.with(out).launch(&stream)
    })?;
    Ok((tuned, launches))
}

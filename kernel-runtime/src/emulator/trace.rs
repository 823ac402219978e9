//! Traces of launches, which variables of the environment ask for: `KILN_TRACE=DIR` has each launch write `DIR/KERNEL.N.trace.json`.

use crate::{Error, Image, Result};
use kernel_emulator::{Timeline, TraceOptions, trace::Others, trace::is_device};
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Names the folder.
const FOLDER: &str = "KILN_TRACE";
/// Names the blocks: `0`, `0-3`, `5,7-9`.
const BLOCKS: &str = "KILN_TRACE_BLOCKS";
/// Asks for the traced blocks alone to run.
const ONLY: &str = "KILN_TRACE_ONLY";
/// Names the device whose times are modelled.
const DEVICE: &str = "KILN_TRACE_DEVICE";

/// How many launches of each kernel this process has traced.
static COUNTS: Mutex<BTreeMap<&'static str, u32>> = Mutex::new(BTreeMap::new());

/// What the environment asks for.
#[derive(Debug)]
pub(super) struct Tracing {
    folder: PathBuf,
    pub(super) options: TraceOptions,
}

impl Tracing {
    /// By the variables; none without a folder.
    ///
    /// # Errors
    /// [`Error::TraceVariable`] when a variable is not what it takes.
    pub(super) fn asked(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Tracing>> {
        let Some(folder) = variable(FOLDER).filter(|folder| !folder.trim().is_empty()) else {
            return Ok(None);
        };
        let mut options = TraceOptions::default();
        if let Some(blocks) = variable(BLOCKS) {
            options = options
                .with_blocks(&blocks)
                .map_err(|reason| Error::TraceVariable { variable: BLOCKS, reason })?;
        }
        if !matches!(variable(ONLY).as_deref().map(str::trim), None | Some("" | "0")) {
            options.others = Others::LeftOut;
        }
        if let Some(device) = variable(DEVICE) {
            if !is_device(device.trim()) {
                let reason = format!("required a target such as sm_90a, actual `{device}`");
                return Err(Error::TraceVariable { variable: DEVICE, reason });
            }
            options.device = Some(device.trim().to_owned());
        }
        Ok(Some(Tracing { folder: folder.into(), options }))
    }

    /// Saves a trace. A launch does not fail because its trace cannot be written: that is reported beside it.
    pub(super) fn save(&self, image: &'static Image, mut timeline: Timeline) {
        if !image.instance.is_empty() {
            timeline.entry = format!("{} ({})", timeline.entry, image.instance);
        }
        if timeline.lanes.is_empty() && timeline.fault.is_none() {
            let blocks = timeline.config.grid.map(u64::from).iter().product::<u64>();
            let text = format!(
                "kiln: no trace of {}, which has {blocks} blocks: none of them is in {BLOCKS}\n",
                timeline.entry
            );
            // It can be written or it cannot.
            let _ = std::io::stderr().write_all(text.as_bytes());
            return;
        }
        let number = {
            let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(image.kernel).or_default();
            *count += 1;
            *count - 1
        };
        let file = file(&self.folder, image.kernel, number);
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&file, timeline.chrome_json()));
        if let Err(error) = written {
            let text = format!("kiln: cannot write the trace {}: {error}\n", file.display());
            // It can be written or it cannot.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }
}

/// The file of a launch.
fn file(folder: &Path, kernel: &str, number: u32) -> PathBuf {
    let plain = |char: char| if char.is_alphanumeric() || char == '_' { char } else { '_' };
    let name: String = kernel.chars().map(plain).collect();
    folder.join(format!("{name}.{number}.trace.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(set: &[(&str, &str)]) -> Result<Option<Tracing>> {
        Tracing::asked(|name| {
            set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_traced_without_a_folder() {
        for set in [&[][..], &[(FOLDER, "")], &[(BLOCKS, "nonsense"), (DEVICE, "nonsense")]] {
            assert!(asked(set).is_ok_and(|tracing| tracing.is_none()), "{set:?}");
        }
    }

    #[test]
    fn variables_say_what_is_traced() {
        let set = [(FOLDER, "t"), (BLOCKS, "1,4-6"), (ONLY, "1"), (DEVICE, "sm_90a")];
        let tracing = asked(&set).expect("they are right").expect("there is a folder");
        assert_eq!(tracing.folder, Path::new("t"));
        assert_eq!(tracing.options.blocks, [1, 4, 5, 6]);
        assert_eq!(tracing.options.others, Others::LeftOut);
        assert_eq!(tracing.options.device.as_deref(), Some("sm_90a"));
        let tracing = asked(&[(FOLDER, "t"), (ONLY, "0")]).expect("right").expect("a folder");
        assert_eq!(tracing.options, TraceOptions::default());
    }

    #[test]
    fn a_variable_that_is_wrong_says_what_it_takes() {
        for (name, value) in
            [(BLOCKS, "first"), (BLOCKS, "3-1"), (BLOCKS, "0-1000"), (DEVICE, "H200")]
        {
            let error = asked(&[(FOLDER, "t"), (name, value)]).expect_err(value).to_string();
            assert!(error.starts_with(name) && error.contains(value), "{error}");
        }
    }

    #[test]
    fn a_file_has_the_kernels_name_and_a_number() {
        let required = Path::new("t").join("scale.3.trace.json");
        assert_eq!(file(Path::new("t"), "scale", 3), required);
        let required = Path::new("t").join("a__b_16_.0.trace.json");
        assert_eq!(file(Path::new("t"), "a::b<16>", 0), required);
    }
}

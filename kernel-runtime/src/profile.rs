//! Profiles of launches, which variables of the environment ask for: with `KILN_PROFILE=DIR` a launch of a kernel with `stamp!` writes
//! `DIR/KERNEL.N.profile.json`.
//!
//! Such a kernel has two images. The launch takes the one with stamps, gives it memory, waits for it, and makes a timeline of the records:
//! [`records`] reads them, [`clock`] puts the clocks of the multiprocessors together, and [`json`] writes trace events. Without the
//! variable, and for work that is recorded, the other image runs.

mod clock;
mod json;
mod records;

use crate::{Error, Grid, Image, Result, Stamp, Stamps, Stream, Variant, grid::persistent_blocks};
use clock::Clock;
pub(crate) use clock::Rate;
use json::Launched;
use records::Room;
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

/// Names the folder.
const FOLDER: &str = "KILN_PROFILE";
/// Names the blocks: `5`, `0-131`.
const BLOCKS: &str = "KILN_PROFILE_BLOCKS";
/// Blocks that the variable may name.
const MOST_BLOCKS: u32 = 4096;
/// Launches of an instance that a process profiles: the first ones, with cold caches, and some after them. A benchmark has thousands.
const MOST_LAUNCHES: u32 = 8;

/// How many profiles of each kernel this process has written.
static WRITTEN: Mutex<BTreeMap<&'static str, u32>> = Mutex::new(BTreeMap::new());
/// How many launches of each instance it was to profile, by the address of the image: kernels of two modules may have one name.
static CHOSEN: Mutex<BTreeMap<usize, u32>> = Mutex::new(BTreeMap::new());

/// What the environment asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    folder: PathBuf,
    /// The first block and how many, if a variable says.
    blocks: Option<(u32, u32)>,
}

/// What the variables ask for; none without a folder. The error is the reason why one is not what it takes.
fn asked(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Asked>, String> {
    let Some(folder) = variable(FOLDER).filter(|folder| !folder.trim().is_empty()) else {
        return Ok(None);
    };
    let blocks = variable(BLOCKS).filter(|blocks| !blocks.trim().is_empty());
    let blocks = blocks.map(|blocks| range(&blocks)).transpose()?;
    Ok(Some(Asked { folder: folder.into(), blocks }))
}

/// `5` or `0-131` as the first block and how many.
fn range(text: &str) -> Result<(u32, u32), String> {
    let wrong = || {
        format!(
            "required a number of a block or a range such as 0-131, of at most {MOST_BLOCKS} blocks, actual `{text}`"
        )
    };
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    let count = last.checked_sub(first).and_then(|count| count.checked_add(1));
    count.filter(|count| *count <= MOST_BLOCKS).map(|count| (first, count)).ok_or_else(wrong)
}

/// What the environment of this process asks for.
fn environment() -> Result<Option<&'static Asked>> {
    static ASKED: OnceLock<Result<Option<Asked>, String>> = OnceLock::new();
    match ASKED.get_or_init(|| asked(|name| std::env::var(name).ok())) {
        Ok(asked) => Ok(asked.as_ref()),
        Err(reason) => Err(Error::TraceVariable { variable: BLOCKS, reason: reason.clone() }),
    }
}

/// The image that a launch runs in place of `image`: the one with stamps, if it is asked for.
///
/// # Errors
/// [`Error::TraceVariable`] when a variable is not what it takes.
pub(crate) fn chosen(image: &'static Image, stream: &Stream) -> Result<&'static Image> {
    let Some(Stamps::LeftOut(stamped)) = image.stamps else { return Ok(image) };
    if environment()?.is_none() || stream.recording().is_some() || stream.queue().is_recorded()? {
        return Ok(image);
    }
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = chosen.entry(std::ptr::from_ref(image).addr()).or_default();
    if *count == MOST_LAUNCHES {
        return Ok(image);
    }
    *count += 1;
    Ok(stamped)
}

/// The memory of one launch for its stamps.
pub(crate) struct Profile {
    asked: &'static Asked,
    stamps: &'static [Stamp],
    room: Room,
    /// The blocks along x, y and z.
    extents: [u32; 3],
    address: u64,
}

impl Profile {
    /// How many parameters the entry takes for it.
    pub(crate) fn parameters_of(image: &Image) -> usize {
        match image.stamps {
            Some(Stamps::Made(_)) => 4,
            Some(Stamps::LeftOut(_)) | None => 0,
        }
    }

    /// The memory for a launch; none if the image has no stamps.
    pub(crate) fn begin(
        image: &'static Image,
        variant: &'static Variant,
        grid: Grid,
        stream: &Stream,
    ) -> Result<Option<Self>> {
        let (Some(Stamps::Made(stamps)), Some(asked)) = (image.stamps, environment()?) else {
            return Ok(None);
        };
        let extents = match grid {
            Grid::Blocks(extents) => extents.map(i32::cast_unsigned),
            Grid::Persistent { at_most } => {
                let device = stream.device();
                let resident = if device.is_emulator() {
                    device.properties().multiprocessors
                } else {
                    device.resources(image, variant)?.resident_blocks
                };
                [persistent_blocks(at_most, resident, image.cluster[0]), 1, 1]
            }
        };
        let blocks: u64 = extents.map(u64::from).iter().product();
        let room = Room::new(blocks, image.threads / 32, asked.blocks);
        let queue = stream.queue();
        let address = queue.allocate(room.words() * 4)?;
        if let Err(error) = queue.fill(address, 0u32, room.words()) {
            queue.free(address);
            return Err(error);
        }
        Ok(Some(Self { asked, stamps, room, extents, address }))
    }

    /// The parameters of the entry.
    pub(crate) fn parameters(&self) -> [u64; 4] {
        let Room { first, blocks, records, .. } = self.room;
        [self.address, u64::from(first), u64::from(blocks), u64::from(records)]
    }

    /// Waits for the kernel, if it was launched, and saves the profile. A launch does not fail because its profile cannot be written: that
    /// is reported beside it.
    pub(crate) fn end(
        self,
        image: &'static Image,
        stream: &Stream,
        launched: Result<()>,
    ) -> Result<()> {
        let queue = stream.queue();
        let ended = launched.and_then(|()| queue.synchronize());
        let words = ended.and_then(|()| queue.download::<u32>(self.address, self.room.words()));
        queue.free(self.address);
        let words = words?;
        let lanes = records::read(&words, &self.room);
        if lanes.is_empty() {
            let Room { first, blocks, .. } = self.room;
            let kernel = image.kernel;
            let all: u64 = self.extents.map(u64::from).iter().product();
            tell(&if blocks == 0 {
                format!(
                    "kiln: no profile of {kernel}: {BLOCKS} begins with block {first}, and the grid has {all} blocks"
                )
            } else {
                format!(
                    "kiln: no profile of {kernel}: none of its {blocks} recorded blocks, from block {first} on, reached a stamp; see {BLOCKS}"
                )
            });
            return Ok(());
        }
        let device = stream.device();
        let clock = Clock::of(&lanes, device.clock_rate());
        let launched = Launched {
            image,
            stamps: self.stamps,
            device: device.name(),
            grid: self.extents,
            room: self.room,
        };
        save(&self.asked.folder, image, &json::write(&launched, &lanes, &clock));
        Ok(())
    }
}

fn save(folder: &Path, image: &'static Image, text: &str) {
    let number = {
        let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
        let count = written.entry(image.kernel).or_default();
        *count += 1;
        *count - 1
    };
    let file = file(folder, image.kernel, number);
    if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)) {
        tell(&format!("kiln: cannot write the profile {}: {error}", file.display()));
    }
}

fn tell(text: &str) {
    // It can be written or it cannot.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The file of a launch.
fn file(folder: &Path, kernel: &str, number: u32) -> PathBuf {
    let plain = |char: char| if char.is_alphanumeric() || char == '_' { char } else { '_' };
    let name: String = kernel.chars().map(plain).collect();
    folder.join(format!("{name}.{number}.profile.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Result<Option<Asked>, String> {
        asked(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_is_profiled_without_a_folder() {
        for set in [&[][..], &[(FOLDER, " ")], &[(BLOCKS, "nonsense")]] {
            assert_eq!(of(set), Ok(None), "{set:?}");
        }
    }

    #[test]
    fn variables_say_which_blocks_are_recorded() {
        for (text, blocks) in
            [("", None), ("7", Some((7, 1))), ("0-131", Some((0, 132))), ("3 - 3", Some((3, 1)))]
        {
            let asked = of(&[(FOLDER, "p"), (BLOCKS, text)]).expect("right").expect("a folder");
            assert_eq!(asked, Asked { folder: "p".into(), blocks }, "{text}");
        }
        for text in ["first", "3-1", "0-4096", "0-4294967295", "1,2", "-1"] {
            let reason = of(&[(FOLDER, "p"), (BLOCKS, text)]).expect_err(text);
            assert!(reason.contains(&format!("`{text}`")), "{reason}");
        }
    }
}

//! The file of a cache: checks of who may have written it, and writes by several processes at once.

use super::{Entry, FORMAT};
use std::{
    fs::{File, Metadata, OpenOptions, TryLockError},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Far more than times take; a longer file is not read into memory.
const MOST_BYTES: u64 = 64 << 20;

/// How long to wait for other processes, which hold the lock only while they read or write.
const PATIENCE: Duration = Duration::from_secs(5);

/// The bytes of a cache that only this user can have written; none if it is not there.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    if let Err(error) = regular(path) {
        return if error.kind() == ErrorKind::NotFound {
            Ok(Vec::new())
        } else {
            Err(error.to_string())
        };
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    trusted(&file)?;
    locked(&file, File::try_lock_shared)?;
    let mut bytes = Vec::new();
    (&file).take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Appends lines in one piece, while nobody else reads or writes.
pub(super) fn append(path: &Path, entries: &[Entry]) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    match regular(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(said(error)),
        Ok(()) | Err(_) => {}
    }
    let mut file = opened(path).map_err(said)?;
    trusted(&file)?;
    locked(&file, File::try_lock)?;
    let length = file.metadata().map_err(said)?.len();
    let mut text = String::new();
    if length == 0 {
        text.push_str(FORMAT);
        text.push('\n');
    } else {
        let mut first = vec![0; FORMAT.len()];
        file.seek(SeekFrom::Start(0)).map_err(said)?;
        let is_ours = file.read_exact(&mut first).is_ok() && first == FORMAT.as_bytes();
        if !is_ours {
            return Err("it is of another version; name another file or remove this one".to_owned());
        }
        let mut last = [0];
        file.seek(SeekFrom::End(-1)).map_err(said)?;
        file.read_exact(&mut last).map_err(said)?;
        // A line that was cut off must not swallow the next one.
        if last != *b"\n" {
            text.push('\n');
        }
    }
    for entry in entries {
        text.push_str(&serde_json::to_string(entry).map_err(|error| error.to_string())?);
        text.push('\n');
    }
    if length + text.len() as u64 > MOST_BYTES {
        return Err(format!("it would be longer than {MOST_BYTES} bytes; remove it"));
    }
    file.write_all(text.as_bytes()).map_err(|error| {
        // A part of it may be there, on a full disk say. Where that stays, reading ignores what was cut off.
        let _ = file.set_len(length);
        said(error)
    })
}

/// Opens the file to append, and creates it if it is missing, but not through a dangling link: somebody else may have
/// chosen the target.
fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        done => return done,
    }
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        done => return done,
    }
    // Another process has made it just now.
    options.open(path)
}

/// Refuses files whose opening waits for somebody, such as a pipe, and dangling links.
fn regular(path: &Path) -> std::io::Result<()> {
    let is_link = || std::fs::symlink_metadata(path).is_ok_and(|link| link.is_symlink());
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(std::io::Error::other("it is no regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound && is_link() => {
            Err(std::io::Error::other("it is a link to nothing"))
        }
        Err(error) => Err(error),
    }
}

/// Whether nobody else can have written the open file.
fn trusted(file: &File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!("required at most {MOST_BYTES} bytes, actual {}", metadata.len()));
    }
    owned(&metadata)
}

#[cfg(unix)]
fn owned(metadata: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let (required, actual) = (rustix::process::geteuid().as_raw(), metadata.uid());
    if required != actual {
        return Err(format!("required a file of this user, {required}, actual owner {actual}"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(format!(
            "required a file that its owner alone can write, actual mode {mode:03o}; `chmod go-w` changes it"
        ));
    }
    Ok(())
}

/// Folders of users are their own on other systems.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems refuse files")]
fn owned(_: &Metadata) -> Result<(), String> {
    Ok(())
}

/// Takes a lock; closing the file releases it.
fn locked(file: &File, try_lock: fn(&File) -> Result<(), TryLockError>) -> Result<(), String> {
    let start = Instant::now();
    loop {
        match try_lock(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.to_string()),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                return Err(format!("another process has locked it for {} s", PATIENCE.as_secs()));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::opened;

    #[test]
    fn opening_makes_a_file_but_not_through_a_link() -> std::io::Result<()> {
        let folder = std::env::temp_dir().join(format!("kiln-tune-opened-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let (file, link, place) = (folder.join("file"), folder.join("link"), folder.join("place"));
        let is_made = opened(&file).is_ok() && opened(&file).is_ok();
        std::os::unix::fs::symlink(&place, &link)?;
        let is_refused = opened(&link).is_err() && !place.try_exists()?;
        std::fs::remove_dir_all(&folder)?;
        assert!(is_made);
        assert!(is_refused);
        Ok(())
    }
}

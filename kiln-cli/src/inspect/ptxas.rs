//! What ptxas says of a kernel: registers, spills, stack.

use std::path::{Path, PathBuf};

use super::tools::{Folder, run};

/// What ptxas says of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores because there are no more registers.
    pub spill_stores: u32,
    /// Bytes that it loads again.
    pub spill_loads: u32,
    /// Bytes of the stack frame.
    pub stack: u32,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// How long ptxas took for it, in microseconds, if it said.
    pub compile_us: Option<u64>,
    /// Warnings, such as that something was ignored.
    pub warnings: Vec<String>,
}

/// Machine code, and what ptxas said of it.
#[derive(Debug)]
pub struct Assembled {
    /// What `-v` printed.
    pub said: String,
    /// The machine code.
    pub cubin: PathBuf,
    /// Keeps the file.
    _folder: Folder,
}

/// Assembles a text for an architecture, with lines of the source.
///
/// # Errors
/// What ptxas says, or why it cannot be run.
pub fn assemble(ptxas: &Path, ptx: &str, architecture: &str) -> Result<Assembled, String> {
    let folder = Folder::new()?;
    let (input, cubin) = (folder.file("kernel.ptx"), folder.file("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(|error| format!("{}: {error}", input.display()))?;
    let arguments = ["-v", "-lineinfo", "-arch", architecture, "-o"].map(AsRef::as_ref);
    let files = [cubin.as_os_str(), input.as_os_str()];
    let output = run(ptxas, &[&arguments[..], &files[..]].concat())?;
    let said = [output.stderr, output.stdout].concat();
    Ok(Assembled { said: String::from_utf8_lossy(&said).into_owned(), cubin, _folder: folder })
}

impl Usage {
    /// Reads what `-v` prints about an entry.
    ///
    /// ```
    /// use kiln_cli::inspect::ptxas::Usage;
    ///
    /// let said = "\
    /// ptxas info    : Compiling entry function 'scale' for 'sm_90a'
    /// ptxas info    : Function properties for scale
    ///     64 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
    /// ptxas info    : Used 168 registers, used 9 barriers, 4096 bytes smem
    /// ";
    /// let usage = Usage::read(said, "scale").expect("it is there");
    /// assert_eq!((usage.registers, usage.stack), (168, 64));
    /// assert_eq!((usage.spill_stores, usage.spill_loads, usage.static_shared), (24, 32, 4096));
    /// assert_eq!(Usage::read(said, "other"), None);
    /// ```
    pub fn read(said: &str, entry: &str) -> Option<Usage> {
        let mut usage = Usage::default();
        let (mut compiled, mut described, mut found) = (String::new(), String::new(), false);
        for line in said.lines() {
            if let Some(rest) = line.split("Compiling entry function '").nth(1) {
                rest.split('\'').next().unwrap_or_default().clone_into(&mut compiled);
            } else if let Some(name) = line.split("Function properties for ").nth(1) {
                name.trim().clone_into(&mut described);
            } else if line.contains("bytes stack frame") && described == entry {
                usage.stack = before(line, " bytes stack frame").unwrap_or(0);
                usage.spill_stores = before(line, " bytes spill stores").unwrap_or(0);
                usage.spill_loads = before(line, " bytes spill loads").unwrap_or(0);
            } else if let Some(registers) = before(line, " registers")
                && compiled == entry
            {
                usage.registers = registers;
                usage.static_shared = before(line, " bytes smem").unwrap_or(0);
                found = true;
            } else if let Some((_, time)) = line.split_once("Compile time = ") {
                if compiled == entry {
                    usage.compile_us = microseconds(time);
                }
            } else if line.contains("warning") || line.contains("ignored") {
                usage.warnings.push(line.trim().to_owned());
            }
        }
        found.then_some(usage)
    }
}

/// `1.345 ms` in microseconds.
fn microseconds(time: &str) -> Option<u64> {
    let (whole, fraction) = time.trim().strip_suffix(" ms")?.split_once('.')?;
    let fraction: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(fraction)
}

/// The number directly before words.
fn before(line: &str, words: &str) -> Option<u32> {
    let head = &line[..line.find(words)?];
    head.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As ptxas 13 prints a module of two entries and a function that one of them calls.
    const SAID: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirement.
ptxas info    : Compiling entry function 'first' for 'sm_80'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers, 400 bytes cmem[0]
ptxas info    : Compile time = 1.345 ms
ptxas info    : Compiling entry function 'second' for 'sm_80'
ptxas info    : Function properties for second
    8 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Function properties for helper
    96 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 104 bytes cumulative stack size, 512 bytes smem
";

    #[test]
    fn each_entry_has_its_own_numbers() {
        let first = Usage::read(SAID, "first").expect("an entry");
        assert_eq!((first.registers, first.spill_stores, first.static_shared), (12, 0, 0));
        let second = Usage::read(SAID, "second").expect("an entry");
        let spills = (second.spill_stores, second.spill_loads);
        assert_eq!((second.registers, spills, second.stack), (255, (16, 20), 8));
        assert_eq!(second.static_shared, 512);
        assert_eq!((first.compile_us, second.compile_us), (Some(1345), None));
    }

    #[test]
    fn what_was_ignored_is_a_warning() {
        let usage = Usage::read(SAID, "first").expect("an entry");
        assert_eq!(usage.warnings.len(), 1);
        assert!(usage.warnings[0].contains("setmaxnreg"), "{:?}", usage.warnings);
    }
}

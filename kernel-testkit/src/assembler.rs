//! NVIDIA's assembler, where there is one, and what it says of a kernel.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

/// `ptxas`, and a folder for what it reads.
#[derive(Clone, Debug)]
pub struct Assembler {
    ptxas: PathBuf,
    scratch: PathBuf,
}

/// What the assembler says of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Of each thread.
    pub registers: u32,
    /// What a thread stores because there are no more registers.
    pub spilled_bytes: u32,
    /// Shared memory that the text declares with its size; a launch may ask for more.
    pub shared_bytes: u32,
}

/// What a text takes of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Of each thread.
    pub registers: u32,
    /// What a thread stores because there are no more registers.
    pub spilled_bytes: u32,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} registers, {} bytes spilled", self.registers, self.spilled_bytes)
    }
}

/// What can say what a text costs.
pub trait Assemble: Sync {
    /// What a text costs that is called `name` meanwhile.
    ///
    /// # Errors
    /// What the assembler says, also where it ignores something that the text asks for.
    fn cost(&self, name: &str, ptx: &str, target: &str) -> Result<Cost, String>;

    /// The version of ptxas.
    ///
    /// # Errors
    /// An assembler that cannot be run.
    fn version(&self) -> Result<String, String>;
}

impl Assemble for Assembler {
    fn cost(&self, name: &str, ptx: &str, target: &str) -> Result<Cost, String> {
        let Assembled { registers, spilled_bytes, .. } = self.assemble(name, ptx, target)?;
        Ok(Cost { registers, spilled_bytes })
    }

    fn version(&self) -> Result<String, String> {
        Assembler::version(self)
    }
}

impl Assembler {
    /// The one that `KILN_PTXAS` names.
    pub fn named(scratch: &Path) -> Option<Assembler> {
        let ptxas = std::env::var_os("KILN_PTXAS")?;
        Some(Assembler { ptxas: ptxas.into(), scratch: scratch.to_owned() })
    }

    /// Assembles a text that is called `name` meanwhile.
    ///
    /// # Errors
    /// What the assembler says, also where it ignores something that the text asks for.
    pub fn assemble(&self, name: &str, ptx: &str, target: &str) -> Result<Assembled, String> {
        let said = self.said(name, ptx, target)?;
        // Code C7508: the instruction is dropped, and with it what the kernel asks for.
        if said.contains("ignored") {
            return Err(said);
        }
        read(&said).ok_or_else(|| format!("no number of registers: {said}"))
    }

    /// Assembles a text that another compiler made, some of which the assembler may ignore.
    ///
    /// # Errors
    /// What the assembler says.
    pub fn assemble_foreign(
        &self,
        name: &str,
        ptx: &str,
        target: &str,
    ) -> Result<Assembled, String> {
        let said = self.said(name, ptx, target)?;
        read(&said).ok_or_else(|| format!("no number of registers: {said}"))
    }

    fn said(&self, name: &str, ptx: &str, target: &str) -> Result<String, String> {
        // Tests that run side by side assemble texts of one name: each text has a file of its own.
        static TEXTS: AtomicU32 = AtomicU32::new(0);
        let number = TEXTS.fetch_add(1, Ordering::Relaxed);
        let file = self.scratch.join(format!("{}-{number}.ptx", name.replace(['/', ' '], "-")));
        std::fs::write(&file, ptx).map_err(|error| format!("{}: {error}", file.display()))?;
        let output = Command::new(&self.ptxas)
            .args(["-v", "-o", "/dev/null", &format!("-arch={target}")])
            .arg(&file)
            .output()
            .map_err(|error| format!("{}: {error}", self.ptxas.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(said);
        }
        std::fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(said)
    }

    /// The version, as the assembler says it.
    ///
    /// # Errors
    /// An assembler that cannot be run.
    pub fn version(&self) -> Result<String, String> {
        let output = Command::new(&self.ptxas)
            .arg("--version")
            .output()
            .map_err(|error| format!("{}: {error}", self.ptxas.display()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let version = said.split_whitespace().rfind(|word| word.starts_with('V'));
        Ok(version.unwrap_or("of no version that it says").to_owned())
    }
}

/// Reads what `-v` prints; a text may hold functions beside its entry, of which the greatest number counts.
fn read(said: &str) -> Option<Assembled> {
    let greatest = |words: &str| {
        let before = said.match_indices(words).map(|(at, _)| &said[..at]);
        before.filter_map(|head| head.split_whitespace().last()?.parse::<u32>().ok()).max()
    };
    Some(Assembled {
        registers: greatest(" registers")?,
        spilled_bytes: greatest(" bytes spill stores").unwrap_or(0),
        shared_bytes: greatest(" bytes smem").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::{Assembled, read};

    #[test]
    fn numbers_are_read_from_the_words_of_the_assembler() {
        let said = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'matmul' for 'sm_100a'
ptxas info    : Function properties for matmul
    64 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 168 registers, used 9 barriers, 64 bytes cumulative stack size, 4096 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 12.345 ms
";
        let required = Assembled { registers: 168, spilled_bytes: 24, shared_bytes: 4096 };
        assert_eq!(read(said), Some(required));
        let said = "ptxas info    : Used 8 registers, used 0 barriers";
        let required = Assembled { registers: 8, spilled_bytes: 0, shared_bytes: 0 };
        assert_eq!(read(said), Some(required));
        assert_eq!(read("ptxas info    : 0 bytes gmem"), None);
    }
}

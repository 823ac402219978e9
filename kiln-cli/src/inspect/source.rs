//! The source of kernels: where the files are that PTX names, and code by their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A source file that PTX names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path in the PTX: relative to the workspace, or a name alone.
    pub name: String,
    /// Where it was found.
    pub found: Option<PathBuf>,
    /// Its lines as they are now; none if it was not found.
    pub lines: Vec<String>,
}

/// The folders that paths in PTX may start from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The folder that is named, and the current one.
    near: Vec<PathBuf>,
    /// Folders around the current one and around the dumps. A name without a folder is not searched for there: any file may have it.
    far: Vec<PathBuf>,
}

impl Roots {
    /// Those for dumps in these folders.
    pub fn of(named: Option<&Path>, dumps: &BTreeSet<PathBuf>) -> Roots {
        let current = std::env::current_dir().ok();
        let near: Vec<PathBuf> =
            named.map(Path::to_owned).into_iter().chain(current.clone()).collect();
        let folders = dumps.iter().filter_map(|folder| std::path::absolute(folder).ok());
        let mut far: Vec<PathBuf> = Vec::new();
        for start in current.into_iter().chain(folders) {
            for folder in start.ancestors() {
                if !far.iter().any(|known| known == folder) {
                    far.push(folder.to_owned());
                }
            }
        }
        Roots { near, far }
    }

    /// The first file of this name.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let far = self.far.iter().filter(|_| name.contains('/'));
        let mut places = self
            .near
            .iter()
            .chain(far)
            .flat_map(|root| [root.join(name), root.join("src").join(name)]);
        places.find(|place| place.is_file())
    }
}

impl Source {
    /// Reads a file that PTX names, if it is found.
    pub fn read(name: &str, roots: &Roots) -> Source {
        let found = roots.find(name);
        let text = found.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let lines = text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
        Source { name: name.to_owned(), found: found.filter(|_| text.is_some()), lines }
    }

    /// A line, from 1.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.lines.get((number as usize).checked_sub(1)?).map(String::as_str)
    }
}

/// A line of a source file; the file by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Code that comes from one line, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it comes from; none of code before the first place.
    pub place: Option<Place>,
    /// Its lines.
    pub code: Vec<Code>,
}

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// An instruction.
    Instruction(String),
    /// A label.
    Label(String),
}

impl Code {
    /// The text.
    pub fn text(&self) -> &str {
        match self {
            Code::Instruction(text) | Code::Label(text) => text,
        }
    }
}

/// Code in the order of the program, in blocks of one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing(pub Vec<Block>);

impl Listing {
    /// Adds a line of code that comes from a place.
    pub fn push(&mut self, place: Option<&Place>, code: Code) {
        match self.0.last_mut() {
            Some(last) if last.place.as_ref() == place => last.code.push(code),
            Some(_) | None => self.0.push(Block { place: place.cloned(), code: vec![code] }),
        }
    }

    /// How many instructions come from each line.
    pub fn counts(&self) -> BTreeMap<Place, usize> {
        let mut counts = BTreeMap::new();
        for block in &self.0 {
            let Some(place) = &block.place else { continue };
            let instructions =
                block.code.iter().filter(|code| matches!(code, Code::Instruction(_))).count();
            *counts.entry(place.clone()).or_default() += instructions;
        }
        counts
    }

    /// The number of instructions.
    pub fn instructions(&self) -> usize {
        let code = self.0.iter().flat_map(|block| &block.code);
        code.filter(|code| matches!(code, Code::Instruction(_))).count()
    }
}

/// The body of an entry as PTX has it, without declarations.
///
/// `first` and `last` are the lines of its first and last instruction, from 1.
pub fn of_ptx(ptx: &str, files: &[(u32, String)], [first, last]: [u32; 2]) -> Listing {
    let mut listing = Listing::default();
    let mut place = None;
    for (line, number) in ptx.lines().zip(1_u32..) {
        let line = line.trim();
        if number > last {
            break;
        }
        if let Some(rest) = line.strip_prefix(".loc ") {
            let mut numbers = rest.split_whitespace().map(str::parse::<u32>);
            if let (Some(Ok(file)), Some(Ok(line))) = (numbers.next(), numbers.next()) {
                let name = files.iter().find(|(index, _)| *index == file);
                place = name.map(|(_, name)| Place { file: name.clone(), line });
            }
        } else if number < first || line.is_empty() || line.starts_with(['.', '/']) {
            // Declarations and directives are no code.
        } else if line.ends_with(':') {
            listing.push(place.as_ref(), Code::Label(line.to_owned()));
        } else {
            listing.push(place.as_ref(), Code::Instruction(line.to_owned()));
        }
    }
    listing
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.file 1 \"src/a.rs\"
.visible .entry k()
{
	.reg .b32 %r<2>;
	.loc 1 3 5
	mov.b32 %r0, 1;
L1:
	.loc 1 4 1
	add.s32 %r0, %r0, 1;
	add.s32 %r1, %r0, 1;
	.loc 1 3 9
	ret;
}
";

    #[test]
    fn code_follows_the_lines_of_the_source() {
        let listing = of_ptx(PTX, &[(1, "src/a.rs".to_owned())], [6, 12]);
        let lines: Vec<(u32, usize)> = listing
            .0
            .iter()
            .map(|block| (block.place.as_ref().map_or(0, |place| place.line), block.code.len()))
            .collect();
        // The label stands before the next place.
        assert_eq!(lines, [(3, 2), (4, 2), (3, 1)]);
        let counts: Vec<(u32, usize)> =
            listing.counts().into_iter().map(|(place, count)| (place.line, count)).collect();
        assert_eq!(counts, [(3, 2), (4, 2)]);
        assert_eq!(listing.instructions(), 4);
    }

    #[test]
    fn a_file_is_found_from_a_root_or_is_said_to_be_missing() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let roots = Roots::of(Some(&root), &BTreeSet::new());
        let source = Source::read("template/main.rs", &roots);
        assert_eq!(source.found, Some(root.join("template/main.rs")));
        assert!(source.line(1).is_some() && source.line(0).is_none());
        assert_eq!(Source::read("findings.rs", &roots).found, Some(root.join("src/findings.rs")));
        assert_eq!(Source::read("no/such.rs", &roots).found, None);
    }
}

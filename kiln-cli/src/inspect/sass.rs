//! Machine code by lines of the source, from nvdisasm.

use std::path::Path;

use super::source::{Code, Listing, Place};
use super::tools::run;

/// What nvdisasm prints of machine code with lines.
///
/// # Errors
/// What it says, or why it cannot be run.
pub fn disassemble(nvdisasm: &Path, cubin: &Path) -> Result<String, String> {
    let output = run(nvdisasm, &["-c".as_ref(), "-g".as_ref(), cubin.as_os_str()])?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The machine code of an entry, from what nvdisasm printed.
///
/// The instructions after the last exit, which only fill a line of the cache, are left out.
pub fn of_entry(printed: &str, entry: &str) -> Listing {
    let section = format!(".text.{entry}:");
    let mut lines = Vec::new();
    let mut place = None;
    let mut inside = false;
    for line in printed.lines() {
        let line = line.trim();
        if line.starts_with(".text.") && line.ends_with(':') {
            inside = line == section;
            place = None;
        } else if line.starts_with(".section") {
            inside = false;
        } else if !inside {
        } else if let Some(comment) = line.strip_prefix("//##") {
            place = place_of(comment).or(place);
        } else if let Some(code) = code_of(line) {
            lines.push((place.clone(), code));
        }
    }
    while let Some((_, code)) = lines.last() {
        let text = code.text();
        let is_filler = text == "NOP" || text.starts_with("BRA ") && ends_itself(&lines);
        if !is_filler && !matches!(code, Code::Label(_)) {
            break;
        }
        lines.pop();
    }
    let mut listing = Listing::default();
    for (place, code) in lines {
        listing.push(place.as_ref(), code);
    }
    listing
}

/// Whether the last line jumps to the label directly before it, for ever.
fn ends_itself(lines: &[(Option<Place>, Code)]) -> bool {
    let [.., (_, Code::Label(label)), (_, Code::Instruction(branch))] = lines else { return false };
    branch.contains(label.trim_end_matches(':'))
}

/// ` File "examples/a.rs", line 39`, and what was inlined where.
fn place_of(comment: &str) -> Option<Place> {
    let (_, rest) = comment.split_once("File \"")?;
    let (file, rest) = rest.split_once('"')?;
    let (_, line) = rest.split_once("line ")?;
    let line = line.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some(Place { file: file.to_owned(), line })
}

/// `/*0010*/  S2R R0, SR_TID.X ;` and `.L_x_1:`.
fn code_of(line: &str) -> Option<Code> {
    if line.ends_with(':') && line.starts_with('.') {
        return Some(Code::Label(line.to_owned()));
    }
    let (_, text) = line.strip_prefix("/*")?.split_once("*/")?;
    let text = text.trim().trim_end_matches(';').trim();
    (!text.is_empty() && !text.starts_with("/*")).then(|| Code::Instruction(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvdisasm 13 prints it.
    const PRINTED: &str = "\
	.section	.text.other,\"ax\",@progbits
other:
.text.other:
	//## File \"src/a.rs\", line 9
        /*0000*/                   EXIT ;
	.section	.text.scale,\"ax\",@progbits
scale:
.text.scale:
	//## File \"src/a.rs\", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 S2R R0, SR_TID.X ;
	//## File \"src/b.rs\", line 45 inlined at \"src/a.rs\", line 7
        /*0020*/                   EXIT ;
.L_x_0:
        /*0030*/                   BRA `(.L_x_0);
        /*0040*/                   NOP;
.L_x_1:
";

    #[test]
    fn machine_code_follows_the_lines_of_the_source() {
        let listing = of_entry(PRINTED, "scale");
        let told = listing.0.iter().map(|block| {
            let place = block.place.as_ref().map(|place| (place.file.as_str(), place.line));
            (place, block.code.iter().map(Code::text).collect::<Vec<_>>())
        });
        let told: Vec<_> = told.collect();
        let required = [
            (Some(("src/a.rs", 3)), vec!["LDC R1, c[0x0][0x28]", "@!P0 S2R R0, SR_TID.X"]),
            (Some(("src/b.rs", 45)), vec!["EXIT"]),
        ];
        assert_eq!(told, required);
    }
}

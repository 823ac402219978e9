//! Has NVIDIA's assembler judge the instruction table: it assembles an example of every row with every choice of
//! every modifier, for the oldest target and the lowest PTX version that the table says it needs.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use kernel_ptx::{Example, Target, Version, example_head, examples};

/// Assembles all examples with the assembler that `KILN_PTXAS` names; gives the number of those it refuses.
///
/// # Errors
/// No assembler, or one that cannot be run.
pub(crate) fn run() -> Result<usize> {
    let ptxas = std::env::var_os("KILN_PTXAS").map(PathBuf::from);
    let ptxas = ptxas.context(
        "KILN_PTXAS names no assembler; there is one in the PyPI package nvidia-cuda-nvcc",
    )?;
    let examples = examples();
    let folder = std::env::temp_dir().join(format!("kiln-ptxas-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = assemble(&ptxas, &folder, &groups(&examples));
    std::fs::remove_dir_all(&folder)?;
    let refused = result?;
    for line in &refused {
        println!("{line}");
    }
    println!("{} examples, {} refused", examples.len(), refused.len());
    Ok(refused.len())
}

/// The head of a module, and what it holds.
type Group<'e> = (Target, Version, Vec<&'e Example>);

/// The examples by the target and the version that they need: each pair is one module.
fn groups(examples: &[Example]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(String, Version), Group<'_>> = BTreeMap::new();
    for example in examples {
        let target = example.target();
        let version = example.version.max(target.minimum_version());
        let key = (target.to_string(), version);
        groups.entry(key).or_insert_with(|| (target, version, Vec::new())).2.push(example);
    }
    groups.into_values().collect()
}

/// A module of one kernel an example, with the line that each kernel begins on, from 1.
fn module(&(target, version, ref examples): &Group<'_>) -> (String, Vec<usize>) {
    let mut text = example_head(target, version);
    let mut starts = Vec::new();
    for (index, example) in examples.iter().enumerate() {
        starts.push(text.lines().count() + 1);
        text.push_str(&example.kernel(&format!("k{index}")));
    }
    (text, starts)
}

fn assemble(ptxas: &Path, folder: &Path, groups: &[Group<'_>]) -> Result<Vec<String>> {
    let mut refused = Vec::new();
    for group in groups {
        let (text, starts) = module(group);
        let (target, (major, minor), examples) = group;
        let input = folder.join(format!("{target}-{major}.{minor}.ptx"));
        std::fs::write(&input, text)?;
        let output = Command::new(ptxas)
            .args([format!("-arch={target}").as_str(), "-O0", "-o"])
            .arg(folder.join("out.cubin"))
            .arg(&input)
            .output()
            .with_context(|| format!("{}", ptxas.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        let what = format!("{target}, PTX {major}.{minor}");
        let mut errors: BTreeMap<usize, String> = BTreeMap::new();
        for (line, message) in said.lines().filter_map(error) {
            let index = starts.partition_point(|start| *start <= line);
            // What comes before the first kernel is the head's.
            let _ = write!(errors.entry(index).or_default(), "\n    {message}");
        }
        for (index, messages) in &errors {
            let text =
                index.checked_sub(1).map_or("the head", |index| examples[index].text.as_str());
            refused.push(format!("{what}: {text}{messages}"));
        }
        if errors.is_empty() && !output.status.success() {
            refused.push(format!("{what}: {}", said.trim()));
        }
    }
    Ok(refused)
}

/// The line and the message of `ptxas FILE, line 12; error   : Unknown modifier '.x'`.
fn error(line: &str) -> Option<(usize, &str)> {
    let (place, message) = line.split_once("; error")?;
    let (_, number) = place.rsplit_once("line ")?;
    Some((number.trim().parse().ok()?, message.trim_start_matches([' ', ':'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_in_one_group_and_its_line_leads_back_to_it() {
        let examples = examples();
        let groups = groups(&examples);
        assert_eq!(groups.iter().map(|group| group.2.len()).sum::<usize>(), examples.len());
        for group in &groups {
            let (text, starts) = module(group);
            let lines: Vec<&str> = text.lines().collect();
            for (index, start) in starts.iter().enumerate() {
                assert_eq!(lines[start - 1], format!(".visible .entry k{index}()"));
            }
        }
    }

    #[test]
    fn messages_have_a_line() {
        let line = "ptxas a, b.ptx, line 12; error   : Unknown modifier '.x'";
        assert_eq!(error(line), Some((12, "Unknown modifier '.x'")));
        assert_eq!(error("ptxas fatal   : Ptx assembly aborted due to errors"), None);
    }
}

//! Has NVIDIA's assembler judge the instruction table and the table of targets.
//!
//! It assembles an example of every row with every choice of every modifier, for the oldest target and for every target of
//! [`Hardware::ROWS`] that the table says has it, with the lowest PTX version. Of every capability it assembles an instruction that needs
//! it, for every target: those that have it take it, and no other does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result};
use kernel_ptx::{Capability, Example, Hardware, Target, Version, example_head, examples};

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
    let judged = assemble(&ptxas, &folder, &groups(&examples))
        .and_then(|refused| Ok((refused, other_than_said(&ptxas, &folder)?)));
    std::fs::remove_dir_all(&folder)?;
    let (refused, wrong) = judged?;
    for line in refused.iter().chain(&wrong) {
        println!("{line}");
    }
    println!("{} examples, {} refused", examples.len(), refused.len());
    let asked = Hardware::ROWS.len() * Capability::ALL.len();
    println!("{asked} capabilities of targets, {} other than said", wrong.len());
    Ok(refused.len() + wrong.len())
}

/// The newest version of the PTX ISA that [`Capability::example`] asks for.
const PROBED: Version = (8, 8);

/// The capabilities of which the assembler says another thing than the table of targets.
fn other_than_said(ptxas: &Path, folder: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for target in Hardware::ROWS.iter().map(|row| row.target) {
        let (major, minor) = PROBED.max(target.minimum_version());
        for capability in Capability::ALL {
            let text = format!(
                ".version {major}.{minor}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<2>; \
                 .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %rd<2>; .reg .f32 %f<4>;\n{}\nret;\n}}\n",
                capability.example()
            );
            let input = folder.join("probe.ptx");
            std::fs::write(&input, text)?;
            let output = assembled(ptxas, target, &input, folder)?;
            if output.status.success() != target.has(capability) {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                wrong.push(format!("{target}: {capability:?}: {}", said.trim()));
            }
        }
    }
    Ok(wrong)
}

fn assembled(ptxas: &Path, target: Target, input: &Path, folder: &Path) -> Result<Output> {
    Command::new(ptxas)
        .args([format!("-arch={target}").as_str(), "-O0", "-o"])
        .arg(folder.join("out.cubin"))
        .arg(input)
        .output()
        .with_context(|| format!("{}", ptxas.display()))
}

/// The head of a module, and what it holds.
type Group<'e> = (Target, Version, Vec<&'e Example>);

/// The targets that an example is assembled for: the oldest one, and those of the table.
fn targets(example: &Example) -> BTreeSet<Target> {
    let rows = Hardware::ROWS.iter().map(|row| row.target);
    // For a newer target, ptxas 13.5 crashes at a parameter that is stored outside of a call.
    let crashes = example.text.starts_with("st.param");
    let later = rows.filter(|target| !crashes && example.need.met_by(*target));
    later.chain([example.target()]).collect()
}

/// The examples by the target and the version that they need: each pair is one module.
fn groups(examples: &[Example]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(Target, Version), Vec<&Example>> = BTreeMap::new();
    for example in examples {
        for target in targets(example) {
            let version = example.version.max(target.minimum_version());
            groups.entry((target, version)).or_default().push(example);
        }
    }
    groups.into_iter().map(|((target, version), examples)| (target, version, examples)).collect()
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
        let output = assembled(ptxas, *target, &input, folder)?;
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
    fn every_example_is_in_a_group_for_each_target_and_its_line_leads_back_to_it() {
        let examples = examples();
        let groups = groups(&examples);
        let asked: usize = examples.iter().map(|example| targets(example).len()).sum();
        assert_eq!(groups.iter().map(|group| group.2.len()).sum::<usize>(), asked);
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

//! rustc, told where the packages lie that cargo built for this test.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

use serde_json::Value;

use crate::programs::Program;

/// The folder of the workspace.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// This package in the workspace.
const FOLDER: &str = "ui-tests/";

/// The packages that a program uses.
const USED: [&str; 2] = ["kiln", "device_library"];

/// rustc with the packages that programs use.
#[derive(Debug)]
pub(crate) struct Rustc {
    arguments: Vec<String>,
}

impl Rustc {
    /// Asks cargo for the packages of this build. They are there, so cargo only says where.
    ///
    /// # Panics
    ///
    /// If cargo cannot build the workspace's packages.
    pub(crate) fn of_this_build() -> Self {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args([
            "test",
            "--workspace",
            "--test",
            "ui",
            "--no-run",
            "--quiet",
            "--message-format=json",
        ]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.output().expect("cargo starts");
        assert!(
            output.status.success(),
            "cargo test --no-run: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut arguments = Vec::new();
        for message in
            messages(&output.stdout).filter(|message| message["reason"] == "compiler-artifact")
        {
            let Some(name) = USED.into_iter().find(|name| message["target"]["name"] == *name)
            else {
                continue;
            };
            let files =
                message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let rlib = |file: &&Path| file.extension().is_some_and(|ending| ending == "rlib");
            for rlib in files.map(Path::new).filter(rlib) {
                let folder = rlib.parent().expect("a file lies in a folder");
                arguments.push(format!("--extern={name}={}", rlib.display()));
                arguments.push(format!("-Ldependency={}", folder.display()));
            }
        }
        assert_eq!(
            arguments.len(),
            2 * USED.len(),
            "cargo names one library of each of {USED:?}: {arguments:?}"
        );
        Self { arguments }
    }

    /// What rustc says of a program, and of a run of it where it is to pass.
    pub(crate) fn alone(&self, program: &Program) -> HashMap<String, String> {
        let (mut rustc, to) =
            self.command(&program.module(), if program.passes() { "link" } else { "metadata" });
        rustc.arg(program.source());
        let output = rustc.output().expect("rustc starts");
        let mut said: String = rendered(&output).map(|(_, text)| text).collect();
        if output.status.success() {
            if program.passes() {
                let run = Command::new(&to).output().expect("what was built starts");
                if !run.status.success() {
                    said =
                        format!("{said}{}: {}", run.status, String::from_utf8_lossy(&run.stderr));
                }
            } else {
                said += "it builds";
            }
        } else if said.is_empty() {
            said = String::from_utf8_lossy(&output.stderr).into_owned();
        }
        HashMap::from([(program.name.clone(), ended(&said))])
    }

    /// What rustc says of each of several programs as modules of one.
    pub(crate) fn together(&self, programs: &[&Program]) -> HashMap<String, String> {
        let module = |program: &&Program| {
            format!("#[path = \"{}\"] mod {};\n", program.source().display(), program.module())
        };
        let text = String::from("#![allow(dead_code)]\n")
            + &programs.iter().map(module).collect::<String>();
        let (mut rustc, _) = self.command(&programs[0].module(), "metadata");
        let mut rustc = rustc
            .args(["--crate-type=lib", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("rustc starts");
        rustc
            .stdin
            .take()
            .expect("it is piped")
            .write_all(text.as_bytes())
            .expect("rustc reads its program");
        let output = rustc.wait_with_output().expect("rustc ends");
        let mut said: HashMap<String, Vec<String>> = HashMap::new();
        for (place, message) in rendered(&output) {
            let name = place.trim_start_matches(FOLDER).trim_end_matches(".rs").to_owned();
            said.entry(name).or_default().push(message);
        }
        said.into_iter().map(|(name, messages)| (name, ended(&messages.concat()))).collect()
    }

    /// The first lines of what rustc says of a library, each with its line there.
    pub(crate) fn headlines(&self, path: &Path) -> Vec<(usize, String)> {
        let (mut rustc, _) = self.command("headlines", "metadata");
        let output =
            rustc.args(["--crate-type=lib", "-Aunused"]).arg(path).output().expect("rustc starts");
        let found = messages(&output.stderr).filter_map(|message| {
            let primary = message["spans"]
                .as_array()?
                .iter()
                .find(|span| span["is_primary"] == true)?
                .clone();
            let line = outermost(&primary)["line_start"].as_u64()?;
            Some((
                usize::try_from(line).ok()?,
                message["message"].as_str()?.lines().next()?.to_owned(),
            ))
        });
        found.collect()
    }

    /// rustc for a crate of this name, and the file that it writes. rustc names what it writes on the way by the crate, so no two runs
    /// share a name.
    fn command(&self, name: &str, emit: &str) -> (Command, PathBuf) {
        let to = folder().join(name);
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        // rustc shows the lines of Kiln's own files if it finds them: cargo compiled them from there.
        rustc.current_dir(WORKSPACE).args(&self.arguments);
        rustc.args(["--edition=2024", "--error-format=json", "--crate-name", name]);
        rustc.arg("--out-dir").arg(folder()).arg(format!("--emit={emit}={}", to.display()));
        (rustc, to)
    }
}

/// Where programs are built.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    fs::create_dir_all(&folder).expect("the folder of the build takes another");
    folder
}

/// Text with one line break at its end; nothing stays nothing.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

fn messages(json: &[u8]) -> impl Iterator<Item = Value> {
    json.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The messages of rustc in its order, each with the file of its first place.
fn rendered(output: &Output) -> impl Iterator<Item = (String, String)> {
    messages(&output.stderr).filter_map(|message| {
        let spans = message["spans"].as_array()?;
        let primary = spans.iter().find(|span| span["is_primary"] == true)?;
        let file = outermost(primary)["file_name"].as_str()?.to_owned();
        Some((file, normalized(message["rendered"].as_str()?)))
    })
}

/// The place in the program of what a macro of another package wrote.
fn outermost(mut span: &Value) -> &Value {
    while let Some(expansion) = span["expansion"].as_object() {
        span = &expansion["span"];
    }
    span
}

/// Paths within this package, and no numbers of lines in Kiln's own files, which move with every change.
fn normalized(rendered: &str) -> String {
    let rendered = rendered.replace(FOLDER, "");
    let Some(width) = rendered
        .lines()
        .find_map(|line| line.trim_start().starts_with("--> ").then(|| line.find('-'))?)
    else {
        return rendered;
    };
    let mut in_kiln = false;
    let lines = rendered.lines().map(|line| {
        let Some((margin, rest)) =
            line.split_at_checked(width).filter(|(margin, _)| is_margin(margin))
        else {
            return (None, line);
        };
        let Some(place) = rest.strip_prefix("--> ").or_else(|| rest.strip_prefix("::: ")) else {
            return (Some(if in_kiln { "" } else { margin.trim() }), rest);
        };
        in_kiln = !place.starts_with("fail/");
        let end = if in_kiln {
            rest.find(".rs:").map_or(rest.len(), |at| at + ".rs".len())
        } else {
            rest.len()
        };
        (Some(""), &rest[..end])
    });
    let lines: Vec<(Option<&str>, &str)> = lines.collect();
    let width = lines.iter().filter_map(|(number, _)| *number).map(str::len).max().unwrap_or(0);
    let line = |&(number, rest): &(Option<&str>, &str)| match number {
        Some(number) => format!("{number:>width$}{rest}\n"),
        None => format!("{rest}\n"),
    };
    lines.iter().map(line).collect()
}

/// True for the start of a line that belongs to an excerpt: its number or spaces.
fn is_margin(text: &str) -> bool {
    text.trim().bytes().all(|byte| byte.is_ascii_digit())
}

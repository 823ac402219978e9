//! Names that are nothing in a kernel: those of Rust's macros and prelude, of other GPU languages, and slips.
//!
//! Each is called, read and used as a method, in a kernel of its own. Kiln says one thing about each kernel, and rustc nothing: what
//! Kiln makes of a refused kernel is never seen.

use std::fmt::Write as _;
use std::fs;

use libtest_mimic::Failed;

use crate::rustc::Rustc;

const NAMES: &str = include_str!("names.txt");

/// How a name is written.
const USES: [(&str, &str); 3] =
    [("called", "NAME(v)"), ("read", "v + NAME"), ("method", "v.NAME()")];

/// Compiles all kernels in one file.
pub(crate) fn judge() -> Result<(), Failed> {
    let mut text = String::from("use kiln::prelude::*;\n");
    let mut lines = Vec::new();
    for name in NAMES.lines() {
        for (how, written) in USES {
            let written = written.replace("NAME", name);
            lines.push((how, name));
            writeln!(
                text,
                "#[kernel(target = sm_80, warps = 1)] pub fn k_{name}_{how}(x: TensorMut<f32, 1>) {{ let v = x.tile([0], [32]).load(); x.tile([0], [32]).store({written}); }}"
            )?;
        }
    }
    let path = crate::rustc::folder().join("names.rs");
    fs::write(&path, text)?;
    let mut said: Vec<Vec<String>> = vec![Vec::new(); lines.len()];
    let mut wrong = String::new();
    for (line, message) in Rustc::of_this_build().headlines(&path) {
        match line.checked_sub(2).and_then(|index| said.get_mut(index)) {
            Some(said) if message.starts_with("[K") => said.push(message),
            Some(_) | None => writeln!(wrong, "rustc, at line {line}: {message}")?,
        }
    }
    for ((how, name), said) in lines.iter().zip(said) {
        // Some are methods of tiles.
        let right = if *how == "method" { said.len() <= 1 } else { said.len() == 1 };
        if !right {
            writeln!(wrong, "`{name}`, {how}: {said:?}")?;
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

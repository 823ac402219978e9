//! Hazards that `kiln run-ptx` found, as JSON.

use kernel_emulator::{Fault, Site, SourceLine};
use serde_json::{Value, json};

/// A launch and its hazards: `{"launch": NAME, "findings": [..], "fault": ..}`.
///
/// The fault is what ended the launch, or null; the hazards that the launch met before it are among the findings. Each of them has `code`
/// (such as `H05`), `kind`, `message`, `kernel`, `source` (file, line and column of the kernel, or null), `ptx_line`, `ptx`, `block`, `warp`,
/// `lane`, `address`, `bytes`, `missing` (the synchronising instruction that would order the two) and `other`, the other operation with its
/// own `source`, `ptx_line`, `ptx` and `agent`. What is not known is null.
pub fn of_launch(name: &str, findings: &[Fault], fault: Option<&Fault>) -> Value {
    let before = fault.map_or(&[][..], |fault| &fault.findings);
    let all: Vec<Value> = findings.iter().chain(before).map(finding).collect();
    json!({ "launch": name, "findings": all, "fault": fault.map(finding) })
}

fn finding(fault: &Fault) -> Value {
    json!({
        "code": fault.kind.code(),
        "kind": fault.kind.text(),
        "message": fault.detail,
        "kernel": fault.entry,
        "source": source(fault.source.as_ref()),
        "ptx_line": fault.ptx_line,
        "ptx": fault.ptx,
        "block": fault.block,
        "warp": fault.warp,
        "lane": fault.lane,
        "address": fault.address,
        "bytes": fault.bytes,
        "missing": fault.missing,
        "other": fault.other.as_ref().map(site),
    })
}

fn site(site: &Site) -> Value {
    json!({
        "source": source(site.source.as_ref()),
        "ptx_line": site.ptx_line,
        "ptx": site.ptx,
        "agent": site.agent,
    })
}

fn source(line: Option<&SourceLine>) -> Option<Value> {
    line.map(|line| json!({ "file": line.file, "line": line.line, "column": line.column }))
}

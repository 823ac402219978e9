//! Targets: their names in kernels, and the messages about what one lacks.
//!
//! What a target has is a row of `kernel_ptx::Hardware`; nothing here names one.

use kernel_ptx::{Capability, Features, Hardware, Target};

use crate::{
    diag::{Code, Diagnostic, one_of},
    elaborate::Builder,
    loc::Loc,
};

/// The names of the targets that kernels are compiled for, oldest first.
pub(crate) fn target_names() -> impl Iterator<Item = &'static str> {
    Hardware::ROWS.iter().map(|row| row.name)
}

/// The target that a kernel calls `name`.
pub fn target_named(name: &str) -> Option<Target> {
    Hardware::named(name).map(|row| row.target)
}

/// For a target that there is none of: why, and the one that serves instead.
pub(crate) fn nearest_target(name: &str) -> Option<(String, &'static str)> {
    let number: u32 =
        name.strip_prefix("sm_")?.trim_end_matches(char::is_alphabetic).parse().ok()?;
    if let Some(Hardware { series, name, target, .. }) = Hardware::of_generation(number) {
        let why = if target.features == Features::Common {
            format!("{series} is `{name}`, with no letter")
        } else {
            format!(
                "{series} is `{name}`: the letter stands for instructions that only this target has"
            )
        };
        return Some((why, name));
    }
    if let Some(Hardware { name, .. }) = Hardware::running_from(number) {
        return Some((format!("code for `{name}` also runs on all later devices"), name));
    }
    let Hardware { name, .. } = Hardware::ROWS.first()?;
    let why = format!(
        "the oldest target is `{name}`: older ones lack asynchronous copies and these products"
    );
    Some((why, name))
}

/// `target = sm_90a`: the oldest target that has a capability.
pub(crate) fn oldest_with(capability: Capability) -> String {
    let oldest = capability.targets().next().expect("some row has it, or nothing asks for it");
    format!("target = {oldest}")
}

impl Builder<'_> {
    /// Reports something that the target lacks, unless it has it.
    pub(crate) fn wants(
        &mut self,
        capability: Capability,
        what: &str,
        why: &str,
        loc: Loc,
    ) -> Option<()> {
        if self.target.has(capability) {
            return Some(());
        }
        let headline = format!("`{}` does not have {what}", self.target);
        self.refuse(self.lacks(capability, headline, loc).why(why).help(oldest_with(capability)))
    }

    /// What is reported about a capability that the target lacks, with the targets that have it.
    pub(crate) fn lacks(
        &self,
        capability: Capability,
        headline: impl Into<String>,
        loc: Loc,
    ) -> Diagnostic {
        let having: Vec<String> = capability.targets().map(|target| target.to_string()).collect();
        Code::Target.at(loc, headline).compare("target", one_of(&having), self.target)
    }
}

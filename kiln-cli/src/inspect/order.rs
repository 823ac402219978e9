//! What a dump says of the order of accesses, and what a proof covers.

/// What `proven` says and what it does not say, for those who read a verdict.
pub const COVERS: &str = "\
`proven` is about shared memory, tensor memory and barriers: what the threads, copies and products of a block, or of the blocks
of a cluster, access there is ordered, and every wait ends. Global memory is not covered: two blocks that access the same elements
may race, and so may two threads of a block that access them by addresses. Between accesses of one block to a tensor, the compiler
puts barriers. The emulator finds races in global memory, in the launches that it runs.";

/// The verdict of a dump of the order.
///
/// ```
/// use kiln_cli::inspect::order::verdict;
///
/// assert_eq!(verdict("proven for loops of up to 8 iterations\n"), Ok("proven for loops of up to 8 iterations"));
/// assert!(verdict("prov").is_err());
/// ```
///
/// # Errors
/// When the text is not what `KILN_DUMP` leaves.
pub fn verdict(dump: &str) -> Result<&str, String> {
    let text = dump.trim();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let iterations = text
        .strip_prefix("proven for loops of up to ")
        .and_then(|rest| rest.strip_suffix(" iterations"));
    let reason = text
        .strip_prefix("left to the emulator: line ")
        .and_then(|rest| rest.split_once(": "))
        .is_some_and(|(line, reason)| is_number(line) && !reason.is_empty());
    if matches!(text, "proven" | "refused") || iterations.is_some_and(is_number) || reason {
        return Ok(text);
    }
    let actual = text.lines().next().unwrap_or_default();
    let actual: String = actual.chars().take(60).collect();
    Err(format!(
        "this is no dump of the order, or a part of one: required `proven`, `refused` or `left to the emulator: line ..`, actual `{actual}`"
    ))
}

/// Whether a verdict is a proof.
pub fn is_proof(verdict: &str) -> bool {
    verdict.starts_with("proven")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `kernel_core::explore::Shown` writes verdicts.
    #[test]
    fn verdicts_are_read() {
        for text in [
            "proven",
            "refused",
            "proven for loops of up to 49 iterations",
            "left to the emulator: line 135: none of the launches that were tried comes here",
        ] {
            assert_eq!(verdict(text), Ok(text));
        }
    }

    #[test]
    fn parts_of_verdicts_and_other_texts_are_refused() {
        for text in [
            "",
            "pro",
            "proven for loops of up to ",
            "left to the emul",
            "left to the emulator: line 3: ",
            "kernel k()",
        ] {
            assert!(verdict(text).is_err(), "{text}");
        }
    }
}

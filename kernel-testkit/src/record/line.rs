//! A line of a record, and how it is written: what is compared, then what ptxas made of the text.
//!
//! `softmax/row W=4 sm_80 aligned 87bb.. 24 0 sm_90a 26 8` says that a thread has 24 registers and spills nothing on `sm_80`, and that
//! on `sm_90a` it has 26 and spills 8 bytes. `-` stands for numbers that nobody has asked ptxas for: `87bb.. - sm_90a 26 8`.

use std::fmt::{self, Write as _};

use sha2::{Digest as _, Sha256};

use crate::assembler::Cost;

/// What is on record of a variant or an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// What is compared, and never absent; it ends in the hash where the line is about PTX.
    pub text: String,
    /// What ptxas made of the text, for each architecture; none where the line is not about PTX.
    pub costs: Vec<(String, Option<Cost>)>,
}

impl Line {
    /// The kernel.
    pub(super) fn name(&self) -> &str {
        self.text.split(' ').next().unwrap_or_default()
    }

    /// The hash of a line that is about PTX.
    pub(super) fn hash(&self) -> &str {
        self.text.rsplit(' ').next().unwrap_or_default()
    }

    /// Everything but the hash of a line that is about PTX.
    pub(super) fn variant(&self) -> &str {
        self.text.rsplit_once(' ').map_or(&self.text, |(variant, _)| variant)
    }

    /// Whether both are about the same text, assembled for the same architectures.
    pub(super) fn is_about_that_of(&self, other: &Line) -> bool {
        let targets = |line: &Line| line.costs.iter().map(|(target, _)| target.clone()).collect();
        let (mine, theirs): (Vec<String>, Vec<String>) = (targets(self), targets(other));
        self.text == other.text && mine == theirs
    }

    /// Reads a line that is about PTX.
    ///
    /// # Errors
    /// Which part of it is not as it has to be.
    pub(super) fn of_ptx(line: &str) -> Result<Line, String> {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(([_, _, target, _, hash], mut rest)) = words.split_first_chunk::<5>() else {
            return Err(format!(
                "required a kernel, instance, target, variant and hash; actual `{line}`"
            ));
        };
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if hash.len() != 64 || !hash.bytes().all(is_digit) {
            return Err(format!("required 64 hexadecimal digits; actual `{hash}`"));
        }
        let text = words[..5].join(" ");
        let mut costs = Vec::new();
        let mut of = (*target).to_owned();
        loop {
            let cost;
            (cost, rest) = match rest {
                ["-", rest @ ..] => (None, rest),
                [registers, spilled, rest @ ..] => {
                    let number = |word: &str| {
                        word.parse::<u32>()
                            .map_err(|_| format!("required a number; actual `{word}`"))
                    };
                    let (registers, spilled_bytes) = (number(registers)?, number(spilled)?);
                    (Some(Cost { registers, spilled_bytes }), rest)
                }
                [] | [_] => {
                    let after = words[..words.len() - rest.len()].join(" ");
                    return Err(format!(
                        "required registers and spilled bytes, or `-`, after `{after}`"
                    ));
                }
            };
            costs.push((of, cost));
            let [target, after @ ..] = rest else { break };
            (of, rest) = ((*target).to_owned(), after);
        }
        Ok(Line { text, costs })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        for (place, (target, cost)) in self.costs.iter().enumerate() {
            if place > 0 {
                write!(f, " {target}")?;
            }
            match cost {
                Some(cost) => write!(f, " {} {}", cost.registers, cost.spilled_bytes)?,
                None => f.write_str(" -")?,
            }
        }
        Ok(())
    }
}

/// SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::with_capacity(64), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

#[cfg(test)]
mod tests {
    use super::{Cost, Line, hash};

    /// SHA-256 of `abc`, from FIPS 180-2.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_hash_is_that_of_the_standard() {
        assert_eq!(hash("abc"), ABC);
    }

    #[test]
    fn a_line_has_numbers_for_each_architecture_or_a_dash() {
        let written = format!("a/b W=4 sm_80 aligned {ABC} - sm_90a 26 8");
        let line = Line::of_ptx(&written).expect("it is a line");
        let on_hopper = Cost { registers: 26, spilled_bytes: 8 };
        let costs = [("sm_80".to_owned(), None), ("sm_90a".to_owned(), Some(on_hopper))];
        assert_eq!(line.costs, costs);
        assert_eq!((line.name(), line.hash()), ("a/b", ABC));
        assert_eq!(line.variant(), "a/b W=4 sm_80 aligned");
        assert_eq!(line.to_string(), written);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let refused = |written: String| Line::of_ptx(&written).expect_err("it is no line");
        let start = format!("a/b - sm_80 aligned {ABC}");
        assert!(refused("a/b - sm_80".to_owned()).contains("actual `a/b - sm_80`"));
        assert!(refused("a/b - sm_80 aligned 12 24 0".to_owned()).contains("actual `12`"));
        assert!(refused(format!("{start} x 0")).contains("actual `x`"));
        for cut in ["", " 24", " 24 0 sm_90a", " 24 0 sm_90a 26"] {
            let said = refused(format!("{start}{cut}"));
            assert!(said.starts_with("required registers"), "{cut}: {said}");
        }
    }
}

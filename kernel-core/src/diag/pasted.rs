//! What keeps a help from being pasted: parts that it leaves out, and names that the program may not have.

/// Whether the text leaves out a part: `fn f(..)`, `loop { .. }`, `|i| ..`. A range such as `0..n` does not.
pub(super) fn leaves_out(help: &str) -> bool {
    help.match_indices("..").any(|(at, dots)| {
        let open = |c: char| c.is_whitespace() || "([{,\"|".contains(c);
        let closed = |c: char| c.is_whitespace() || ")]},;\"".contains(c);
        // A whole axis of a slice.
        let of_slice =
            help[..at].rfind(".slice(").is_some_and(|from| !help[from..at].contains("))"));
        !of_slice
            && help[..at].chars().next_back().is_none_or(open)
            && help[at + dots.len()..].chars().next().is_none_or(closed)
    })
}

/// The values that a help names and does not declare: variables, and names of functions that stand alone. Methods, fields, paths, types,
/// calls, texts and comments are left out.
pub(crate) fn names_used(help: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(c) = help[at..].chars().next() {
        let rest = &help[at..];
        if c == '"' {
            at += rest[1..].find('"').map_or(rest.len(), |end| end + 2);
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if is_word(c) {
            let len = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            words.push((at, &rest[..len]));
            at += len;
        } else {
            at += c.len_utf8();
        }
    }
    let before = |at: usize| help[..at].trim_end();
    let after = |at: usize, word: &str| help[at + word.len()..].trim_start();
    let parameters = parameter_lists(help);
    let declared: Vec<&str> = words
        .iter()
        .filter(|(at, word)| {
            let (before, after) = (before(*at), after(*at, word));
            let parameter = parameters.iter().any(|list| list.contains(at));
            let of_type = after.starts_with(':') && !after.starts_with("::");
            let bound = ["let", "let mut", "for", "mut"].iter().any(|end| before.ends_with(end));
            parameter || of_type || bound
        })
        .map(|(_, word)| *word)
        .collect();
    let is_used = |(at, word): &(usize, &str)| {
        let (before, after) = (before(*at), after(*at, word));
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        let method = before.ends_with('.') && !before.ends_with("..");
        let path = before.ends_with("::") || after.starts_with("::");
        let ty = word.starts_with(char::is_uppercase) || before.ends_with("::<");
        let called = after.starts_with('(') || after.starts_with('!') && !after.starts_with("!=");
        let set = after.starts_with("= ") && !after.starts_with("==");
        let blank = *word == "_";
        !(blank || number || method || path || ty || called || set || declared.contains(word))
    };
    words.iter().filter(|word| is_used(word)).map(|(_, word)| *word).collect()
}

/// Where closures have their parameters: between two bars, the first of which follows no operand.
fn parameter_lists(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut lists = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('|').map(|bar| from + bar) {
        let before = text[..open].trim_end();
        let begins =
            before.is_empty() || ["(", ",", "=", "{"].iter().any(|end| before.ends_with(end));
        let close = text[open + 1..].find('|').map(|bar| open + 1 + bar);
        match close.filter(|_| begins) {
            Some(close) => {
                lists.push(open..close);
                from = close + 1;
            }
            None => from = open + 1,
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::{leaves_out, names_used};

    #[test]
    fn ranges_leave_nothing_out() {
        for whole in ["0..n", "for i in 0..n {}", "range(0, n, 1)", "a[1..]", "x.t()"] {
            assert!(!leaves_out(whole), "{whole}");
        }
        for part in
            ["fn f(..)", "loop { .. }", "|i| ..", "load_masked(at, .., 0.0)", "..", "ptx!(\"..\")"]
        {
            assert!(leaves_out(part), "{part}");
        }
    }

    #[test]
    fn names_are_those_of_values_that_nothing_declares() {
        assert_eq!(names_used("select(mask, a, b)"), ["mask", "a", "b"]);
        assert_eq!(names_used("x.reduce(0, |a, b| a + b)"), ["x"]);
        assert_eq!(names_used("let e = (x - 1).exp(); e / y"), ["let", "x", "y"]);
        assert_eq!(names_used("tma::load(f16::of(1.0), \"text\") // or this"), [""; 0]);
        assert_eq!(names_used("out: TensorMut<f32, 1>"), ["f32"]);
        assert_eq!(names_used("#[stride(_, 1)]"), [""; 0]);
        assert_eq!(names_used("target = sm_90a"), ["sm_90a"]);
    }
}

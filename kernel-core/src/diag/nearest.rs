//! The nearest correct name to a misspelt one.

/// The name among `known` that is nearest to `name`, if it is near enough to be a slip.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    known
        .into_iter()
        .map(|other| (edits(name, other), other))
        // Of a name of one letter, nothing would be left.
        .filter(|(distance, _)| *distance <= limit && *distance < length)
        .min_by_key(|(distance, other)| (*distance, other.len()))
        .map(|(_, other)| other)
}

/// Levenshtein distance with swaps of neighbours.
pub(crate) fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 {
                j
            } else if j == 0 {
                i
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

//! Layouts as dumps write them: `register [0,1] [8,0], lane [0,2], warp -> [16, 64]`.

use kernel_layout::{Basis, Dim, Layout};

/// Reads a layout.
///
/// ```
/// let text = "register [0,1] [8,0], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp -> [16, 8]";
/// let layout = kiln_cli::inspect::bases::layout(text)?;
/// assert_eq!(layout.to_string(), text);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// When the text is not a layout.
pub fn layout(text: &str) -> Result<Layout, String> {
    let (ins, outs) = text.rsplit_once("->").ok_or("required bases, `->` and a shape")?;
    let mut read = Vec::new();
    let mut rest = ins.trim();
    while !rest.is_empty() {
        let name = rest.split([' ', ',']).next().unwrap_or_default();
        let dim = dim(name).ok_or_else(|| format!("required a dimension, actual `{name}`"))?;
        rest = rest[name.len()..].trim_start();
        let mut bases = Vec::new();
        while let Some(open) = rest.strip_prefix('[') {
            let (inner, after) = open.split_once(']').ok_or("required `]` after a basis")?;
            bases.push(numbers(inner)?);
            rest = after.trim_start();
        }
        rest = rest.trim_start_matches(',').trim_start();
        read.push((dim, bases));
    }
    let outs = outs.trim();
    let shape = match outs.strip_prefix('[').and_then(|outs| outs.strip_suffix(']')) {
        Some(shape) => {
            let sizes = numbers(shape)?;
            if sizes.len() > 16 {
                return Err(format!("required at most 16 axes, actual {}", sizes.len()));
            }
            Dim::axes(sizes.len()).into_iter().zip(sizes).collect()
        }
        None => named(outs)?,
    };
    Layout::new(read, shape).map_err(|error| error.to_string())
}

fn dim(name: &str) -> Option<Dim> {
    let all = [Dim::Register, Dim::Lane, Dim::Warp, Dim::Block, Dim::Offset, Dim::Row, Dim::Col];
    all.into_iter().find(|dim| dim.to_string() == name)
}

fn numbers(text: &str) -> Result<Basis, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let number = |part: &str| {
        part.parse().map_err(|_| format!("required a number in a basis, actual `{part}`"))
    };
    parts.map(number).collect()
}

/// `row 128, col 32`.
fn named(outs: &str) -> Result<Vec<(Dim, u32)>, String> {
    let mut sizes = Vec::new();
    for part in outs.split(',') {
        let (name, size) = part.trim().split_once(' ').unwrap_or((part, ""));
        let dim = dim(name).ok_or_else(|| format!("required a dimension, actual `{name}`"))?;
        let size = size.trim().parse().map_err(|_| format!("required a size, actual `{size}`"))?;
        sizes.push((dim, size));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_layout_is_refused() {
        for text in [
            "",
            "register [0,1]",
            "lanes [1] -> [2]",
            "lane [1 -> [2]",
            "lane [x] -> [2]",
            "lane [4] -> [2]",
        ] {
            assert!(layout(text).is_err(), "{text}");
        }
    }
}

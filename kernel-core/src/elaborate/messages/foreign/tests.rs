//! Each row is asked for, and what it says is written instead.

use super::{FUNCTIONS, METHODS, Row, memory, parts};
use crate::{
    Options,
    compile::compile_unit,
    diag::{Code, Problems},
    loc::Locations,
    syntax,
};

/// What the letters of the rows are.
const LETTERS: &str = "
    let x = d.tile([0], [64]).load();
    let (y, z, r, q) = (x + 1.0, x + 2.0, x + 3.0, x + 4.0);
    let i = arange(0, 64);
    let j = i + 1;
    let m = x.gt(0.0);
    let (p, l) = (f + arange(0, 64), o);
    let t = e.tile([0, 0], [64, 64]).load();
    let (u, tt, mut acc) = (t + 1.0, t + 2.0, t);
    let w = e.tile([0, 0], [64, 64]);
    let (s, ss) = (shared::<f32>([64, 64]), shared::<f32>([64, 64]));
    let bar = barrier(1);
";

/// The problems of a kernel with this statement: names and types alone, with the help.
fn problems(statement: &str) -> Vec<(Code, String, Option<String>)> {
    let text = format!(
        "pub fn kernel(d: Tensor<f32, 1>, e: Tensor<f32, 2>, f: Ptr<f32>, o: Ptr<i32>) {{ {LETTERS} {statement} }}"
    );
    let function: syn::ItemFn = syn::parse_str(&text).expect("a row makes a statement of Rust");
    let attr = "target = sm_90a, warps = 4, grid = 1".parse().expect("tokens");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    problems
        .iter()
        .filter(|one| one.code.number().starts_with("K01") || one.code.number().starts_with("K02"))
        .map(|one| (one.code, one.headline.clone(), one.help.clone()))
        .collect()
}

/// The arguments of a row: the axis and the number are literals.
fn arguments(words: &[&str]) -> Vec<String> {
    let written = |word: &&str| match *word {
        "k" => "0".to_owned(),
        "n" => "1".to_owned(),
        "v" => "2.5".to_owned(),
        "c" => "[0]".to_owned(),
        "h" | "g" | "b" | "o" => "[64]".to_owned(),
        word => word.to_owned(),
    };
    words.iter().map(written).collect()
}

fn each(tables: &[&'static [Row]], mut look: impl FnMut(&str, &[String], &Row)) {
    for row in tables.iter().flat_map(|rows| rows.iter()) {
        let (names, words) = parts(row);
        let Some(words) = words else { continue };
        for name in names.filter(|name| !name.ends_with('*')) {
            look(name, &arguments(&words), row);
        }
    }
}

/// What is wrong with a row: it is not asked, or what it says is wrong itself.
fn wrong(call: &str, assigns: bool, rest: impl Fn(&str) -> String) -> Option<String> {
    let found = problems(&format!("let _ = {call};"));
    let [(_, headline, Some(help))] = &found[..] else {
        return Some(format!("{call}: {found:?}\n"));
    };
    let help = rest(help);
    let with = if assigns { format!("let mut x = x; {help};") } else { format!("let _ = {help};") };
    let left = problems(&with);
    (!left.is_empty()).then(|| format!("{call}: {headline}, {help}: {left:?}\n"))
}

#[test]
fn what_is_written_instead_of_a_function_is_accepted() {
    let mut all = String::new();
    each(&FUNCTIONS, |name, args, row| {
        let call = format!("{name}({})", args.join(", "));
        if !row.2.is_empty() {
            all.extend(wrong(&call, row.2.contains(" = "), str::to_owned));
        }
    });
    assert!(all.is_empty(), "{all}");
}

#[test]
fn what_is_written_instead_of_a_method_is_accepted() {
    let mut all = String::new();
    each(&METHODS, |name, args, row| {
        if let [first, rest @ ..] = args
            && !row.2.is_empty()
        {
            let call = format!("{first}.{name}({})", rest.join(", "));
            let whole = |help: &str| {
                if help.starts_with('.') { format!("{first}{help}") } else { help.to_owned() }
            };
            all.extend(wrong(&call, false, whole));
        }
    });
    each(&[memory::BARRIERS], |name, args, row| {
        if !row.2.is_empty() {
            let call = format!("bar.{name}({})", args[1..].join(", "));
            let whole = |help: &str| {
                if help.starts_with('.') { format!("bar{help}") } else { help.to_owned() }
            };
            all.extend(wrong(&call, false, whole));
        }
    });
    assert!(all.is_empty(), "{all}");
}

#[test]
fn what_is_written_instead_of_a_function_of_a_module_is_accepted() {
    let mut all = String::new();
    // The target has no tensor memory.
    for (module, rows) in memory::MODULES.iter().filter(|(module, _)| *module != "tcgen05") {
        each(&[rows], |name, args, row| {
            let call = format!("{module}::{name}({})", args.join(", "));
            if !row.2.is_empty() {
                all.extend(wrong(&call, row.2.contains(" = "), str::to_owned));
            }
        });
    }
    assert!(all.is_empty(), "{all}");
}

use std::path::Path;

use super::{
    name_in,
    toml::{Table, Value, parse},
    workspace,
};

/// What the manifest of a package calls the crate; `root` is the manifest of its workspace.
fn called(manifest: &str, root: &str) -> Option<String> {
    name_in(&parse(manifest).expect(manifest), || parse(root))
}

/// How a key without `package` is called is cargo's own doing: the library's name.
#[test]
fn the_crate_keeps_its_name_where_the_package_has_its_own() {
    for manifest in [
        "",
        "[dependencies]\nkiln-gpu = '0.1'",
        "[dependencies]\nkiln-gpu = { path = '..', default-features = false }",
        "[dependencies.kiln-gpu]\nversion = '0.1'",
        "[dependencies]\nhalf = { package = 'half-again', version = '1' }\nother = '1'",
        "dependencies.kiln-gpu.version = '0.1'",
    ] {
        assert_eq!(called(manifest, ""), None, "{manifest}");
    }
}

#[test]
fn a_key_with_the_package_is_the_name_in_every_table_and_form() {
    for manifest in [
        "[dependencies]\ntile-kernels = { version = '0.1', package = 'kiln-gpu' }",
        "[dependencies]\ntile-kernels = {\n    # over lines\n    package = \"kiln-gpu\",\n    features = [\n        'cuda', # one\n    ],\n}",
        "[dependencies.tile-kernels]\npackage = 'kiln-gpu'\nversion = '0.1'",
        "[dependencies]\ntile-kernels.version = '0.1'\ntile-kernels . package = \"kiln\\u002Dgpu\"",
        "[dependencies]\n\"tile-kernels\" = { package = 'kiln-gpu' }",
        "dependencies = { half = '2', tile-kernels = { package = 'kiln-gpu' } }",
        "[dependencies]\r\nserde = '1'\r\n\r\n[dev-dependencies]\r\ntile-kernels = { package = 'kiln-gpu' } # tests\r\n",
        "[build-dependencies]\ntile-kernels = { package = 'kiln-gpu' }",
        "[target.'cfg(any(unix, target_os = \"wasi\"))'.dependencies]\ntile-kernels = { package = 'kiln-gpu' }",
        "[target.x86_64-unknown-linux-gnu.dev-dependencies.tile-kernels]\npackage = 'kiln-gpu'",
        "[[bin]]\nname = 'a'\n[[bin]]\nname = 'b'\n[dependencies]\ntile-kernels = { package = 'kiln-gpu' }",
    ] {
        assert_eq!(called(manifest, "").as_deref(), Some("tile_kernels"), "{manifest}");
    }
    // Cargo takes the key as soon as the package is written out, so this is no `kiln`.
    let same = called("[dependencies]\nkiln-gpu = { package = 'kiln-gpu' }", "");
    assert_eq!(same.as_deref(), Some("kiln_gpu"));
    let short = called("[dependencies]\nkiln = { package = 'kiln-gpu' }", "");
    assert_eq!(short.as_deref(), Some("kiln"));
}

/// What a library is compiled with comes before what only its tests see.
#[test]
fn the_first_of_several_names_is_that_of_the_library() {
    let manifest = "[dev-dependencies]\na = { package = 'kiln-gpu' }\n\
                    [target.'cfg(unix)'.dependencies]\nb = { package = 'kiln-gpu' }\n";
    assert_eq!(called(manifest, "").as_deref(), Some("b"));
    let manifest = format!("{manifest}[dependencies]\nc = {{ package = 'kiln-gpu' }}");
    assert_eq!(called(&manifest, "").as_deref(), Some("c"));
}

#[test]
fn a_workspace_names_what_its_members_inherit() {
    let root = "[workspace]\n[workspace.dependencies]\nhalf = '2'\ntiles = { package = 'kiln-gpu', path = '.' }\nkiln-gpu = '0.1'";
    for manifest in [
        "[dependencies]\nhalf.workspace = true\ntiles.workspace = true",
        "[dependencies]\ntiles = { workspace = true, features = ['cuda'] }",
    ] {
        assert_eq!(called(manifest, root).as_deref(), Some("tiles"), "{manifest}");
        let unread = name_in(&parse(manifest).expect(manifest), || None);
        assert_eq!(unread, None, "the root cannot be read");
        assert_eq!(called(manifest, "[workspace]"), None, "the root does not have it");
    }
    assert_eq!(called("[dependencies]\nkiln-gpu.workspace = true", root), None);
}

/// Its tests see the library under the library's name, whatever else they depend on.
#[test]
fn the_package_itself_has_the_library() {
    let manifest = "[package]\nname = 'kiln-gpu'\n[dev-dependencies]\na = { package = 'kiln-gpu' }";
    assert_eq!(called(manifest, ""), None);
}

#[test]
fn a_workspace_is_found_above_and_where_the_package_says() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = workspace(&package.join("Cargo.toml"), &Table::new());
    let Some(found) = found else {
        // The package alone, as it is published, is in no workspace.
        assert!(!package.join("../ARCHITECTURE.md").exists(), "the root was not found");
        return;
    };
    assert!(found.contains_key("workspace"));
    let named = parse("[package]\nworkspace = '..'").expect("a table");
    assert_eq!(workspace(&package.join("Cargo.toml"), &named), Some(found));
    let wrong = parse("[package]\nworkspace = 'nowhere'").expect("a table");
    assert_eq!(workspace(&package.join("Cargo.toml"), &wrong), None);
}

/// The same of another reader: tables and texts, the last table of an array of tables, and that something else is there.
fn of_other(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::Text(text.clone()),
        toml::Value::Table(table) => Value::Table(table_of_other(table)),
        toml::Value::Array(list) => match list.last() {
            Some(last @ toml::Value::Table(_)) => of_other(last),
            _ => Value::Other,
        },
        toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_) => Value::Other,
    }
}

fn table_of_other(table: &toml::Table) -> Table {
    table.iter().map(|(key, value)| (key.clone(), of_other(value))).collect()
}

const FORMS: &str = r#"
# a comment, with = and "quotes"
plain = "text" # behind
literal = 'C:\path # no comment'
escapes = "tab\t quote\" back\\ e\u00e9 \U0001F600 # no comment"
empty = ""
also-empty = ''
many = """
first
second "quoted" ""\
    joined \
    on one line"""
quotes = """"two""""
literal-many = '''
as 'it' is \n'''
"a key" = 1
'another' . "dotted key".x = "deep"
1234 = "a bare key of digits"
number = -1_000.5e3
hex = 0xdead_beef
yes = true
date = 1979-05-27T07:32:00Z
date-and-time = 1979-05-27 07:32:00 # with a blank
array = [1, "two", 'th]ree', [4, [5]], ] # five
over-lines = [ # one
    "a", # two
    # three
    "b"
    , 'c',
]
inline = { a = "1", b.c = "2", "d e" = { f = [1, 2] }, }
none = {}

[ table . "with.dots" ]
x = "1"
[table]
y = "2"
[a.b.c]
[a.b]
z = "3"
[[list]]
name = "one"
[[list]]
name = "two"
[list.inner]
of = "two"
"#;

#[test]
fn another_reader_reads_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["", "benches", "kernel-core", "kernel-macros", "kernel-runtime", "linking"];
    let files = folders
        .iter()
        .flat_map(|folder| ["Cargo.toml", "Cargo.lock"].map(|name| root.join(folder).join(name)));
    let texts = files.filter_map(|file| std::fs::read_to_string(file).ok());
    for text in texts.chain([FORMS.to_owned(), FORMS.replace('\n', "\r\n")]) {
        let other: toml::Table = text.parse().expect("the file is TOML");
        assert_eq!(parse(&text).as_ref(), Some(&table_of_other(&other)), "{text}");
    }
}

#[test]
fn what_is_no_toml_is_not_read_and_ends() {
    for text in [
        "a",
        "a =",
        "= 1",
        "[a",
        "[[a]",
        "a = \"x",
        "a = 'x",
        "a = \"\"\"x\"\"",
        "a = [1",
        "a = ['x' b]",
        "a = {x = 1",
        "a = {x}",
        "a = 'x' b",
        "a = \"\\q\"",
        "a = \"\\uD800\"",
        "a = 1\na.b = 2",
        "a. = 1",
        "\u{e9} = 1",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
    // Every part of a file is read to its end or refused.
    for end in (0..FORMS.len()).filter(|end| FORMS.is_char_boundary(*end)) {
        let _ = parse(&FORMS[..end]);
    }
}

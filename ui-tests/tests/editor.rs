//! What an editor offers in kernels, right ones and ones that are being typed: rust-analyzer is asked, where `KILN_RUST_ANALYZER` names one.
//!
//! Each text stands in place of an example of the repository; no file is changed. `$0` marks the place of the cursor.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

#[path = "editor/server.rs"]
mod server;

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};

use server::Server;

/// The head of a kernel whose body is the lines that follow it.
const HEAD: &str = "\
use kiln::prelude::*;
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024]))]
pub fn add<const N: i32>(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    let x = a.tile(at, [N]).load();
";

type Check = fn(&mut Editor) -> Result<(), String>;

const CHECKS: [(&str, Check); 10] = [
    ("methods_of_a_tile_are_completed", methods_of_a_tile_are_completed),
    ("names_are_completed_beside_an_unknown_one", names_are_completed_beside_an_unknown_one),
    ("helpers_of_a_module_are_completed", helpers_of_a_module_are_completed),
    ("arguments_of_a_launch_are_completed", arguments_of_a_launch_are_completed),
    ("hover_shows_a_type_beside_an_error", hover_shows_a_type_beside_an_error),
    ("hover_shows_the_reference", hover_shows_the_reference),
    ("types_of_variables_survive_an_error", types_of_variables_survive_an_error),
    ("a_parameter_is_found", a_parameter_is_found),
    ("a_function_of_the_language_is_found", a_function_of_the_language_is_found),
    ("a_wrong_kernel_is_underlined", a_wrong_kernel_is_underlined),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let program = env::var_os("KILN_RUST_ANALYZER").map(PathBuf::from);
    if !args.list && program.is_none() {
        eprintln!("editor: left out, KILN_RUST_ANALYZER names no rust-analyzer");
    }
    let editor: Arc<OnceLock<Mutex<Result<Editor, String>>>> = Arc::default();
    let mut trials = Vec::new();
    for (name, check) in CHECKS.iter().filter(|_| program.is_some()) {
        let (editor, program) = (Arc::clone(&editor), program.clone().unwrap_or_default());
        trials.push(Trial::test(*name, move || {
            let editor = editor.get_or_init(|| Mutex::new(Editor::start(&program)));
            let mut editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(check(editor.as_mut().map_err(|error| error.clone())?)?)
        }));
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// An editor in which one file is open.
struct Editor {
    server: Server,
    file: PathBuf,
}

impl Editor {
    fn start(program: &Path) -> Result<Editor, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        let server = Server::start(program, &root)?;
        Ok(Editor { server, file: root.join("examples/vector_add.rs") })
    }

    /// Shows a text. Gives the place that `$0` marks: a line and a column, from 0.
    fn show(&mut self, text: &str) -> Result<(usize, usize), String> {
        let mark = text.find("$0").unwrap_or_default();
        let before = &text[..mark];
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        self.server.show(&self.file, &text.replace("$0", ""))?;
        Ok((line, column))
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Result<Value, String> {
        params["textDocument"] = json!({ "uri": server::address(&self.file) });
        self.server.ask(method, &params)
    }

    fn ask_at(&mut self, method: &str, text: &str) -> Result<Value, String> {
        let (line, column) = self.show(text)?;
        self.ask(method, json!({ "position": { "line": line, "character": column } }))
    }

    /// Fails where one of the words is not offered at the cursor.
    fn offers(&mut self, text: &str, required: &[&str]) -> Result<(), String> {
        let answer = self.ask_at("textDocument/completion", text)?;
        let items = answer["items"].as_array().or(answer.as_array());
        let offered: BTreeSet<&str> =
            items.into_iter().flatten().filter_map(|item| item["label"].as_str()).collect();
        let is_offered = |word: &str| {
            // A function is shown with its parameters.
            offered.iter().any(|label| label.split('(').next() == Some(word))
        };
        let absent: Vec<_> = required.iter().filter(|word| !is_offered(word)).collect();
        same_or(absent.is_empty(), || format!("not offered: {absent:?}; offered: {offered:?}"))
    }

    /// Fails where hovering the cursor does not show the text.
    fn shows(&mut self, text: &str, required: &str) -> Result<(), String> {
        let answer = self.ask_at("textDocument/hover", text)?;
        let actual = answer["contents"]["value"].as_str().unwrap_or_default();
        same_or(actual.contains(required), || format!("required {required:?}, actual {actual:?}"))
    }

    /// The file and the line, from 0, of what stands at the cursor.
    fn definition(&mut self, text: &str) -> Result<(String, u64), String> {
        let answer = self.ask_at("textDocument/definition", text)?;
        let place = (answer[0]["uri"].as_str(), answer[0]["range"]["start"]["line"].as_u64());
        let (Some(file), Some(line)) = place else { return Err(format!("no place: {answer}")) };
        Ok((file.to_owned(), line))
    }
}

fn same_or(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn kernel(body: &str) -> String {
    format!("{HEAD}{body}}}\n")
}

fn methods_of_a_tile_are_completed(editor: &mut Editor) -> Result<(), String> {
    let text = kernel("    x.$0\n    out.tile(at, [N]).store(x);\n");
    editor.offers(&text, &["sum", "max", "exp", "reshape", "expand", "cast", "to_layout"])
}

/// `fetch` is no method of a window, and `nothing` no name: the compiler refuses the kernel before it knows a type.
fn names_are_completed_beside_an_unknown_one(editor: &mut Editor) -> Result<(), String> {
    let wrong = "    let y = b.tile(at, [N]).fetch() + nothing;\n";
    let of_tensors = kernel(&format!("{wrong}    let z = b.$0;\n"));
    editor.offers(&of_tensors, &["tile", "dim", "stride", "tile_rows"])?;
    let names = kernel(&format!("{wrong}    let z = b$0;\n"));
    editor.offers(&names, &["at", "x", "y", "a", "b", "out", "N", "block_id", "arange", "zeros"])
}

fn helpers_of_a_module_are_completed(editor: &mut Editor) -> Result<(), String> {
    let module = |helper: &str, body: &str| {
        format!(
            "\
use kiln::prelude::*;
#[kernel]
mod sums {{
    use kiln::prelude::*;
    fn twice(x: Tile<f32>) -> Tile<f32> {{ {helper} }}
    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn of_one(a: Tensor<f32, 1>, out: TensorMut<f32, 1>) {{
        let x = a.tile([0], [32]).load();
        {body}
        out.tile([0], [32]).store(twice(x));
    }}
}}
"
        )
    };
    editor.offers(&module("x.$0", ""), &["sum", "expand"])?;
    editor.offers(&module("x + x", "twice(x).$0;"), &["sum", "expand"])?;
    editor.offers(&module("x + x", "let y = nothing; tw$0;"), &["twice", "x", "y"])
}

fn arguments_of_a_launch_are_completed(editor: &mut Editor) -> Result<(), String> {
    let launch = "fn main() {\n    let launch = add::<1024>(add::Args { $0 });\n}\n";
    let right = kernel("    out.tile(at, [N]).store(x);\n");
    editor.offers(&format!("{right}{launch}"), &["a", "b", "out"])?;
    let wrong = kernel("    out.tile(at, [N]).store(nothing);\n");
    editor.offers(&format!("{wrong}{launch}"), &["a", "b", "out"])
}

fn hover_shows_a_type_beside_an_error(editor: &mut Editor) -> Result<(), String> {
    editor.shows(&kernel("    out.tile(at, [N]).store($0x + nothing);\n"), "let x: Tile<f32>")?;
    // The extents differ, so that the kernel is refused when its tiles have shapes.
    let shapes = "    let y = b.tile(at, [32]).load();\n    out.tile(at, [N]).store(x + $0y);\n";
    editor.shows(&kernel(shapes), "let y: Tile<f32>")
}

fn hover_shows_the_reference(editor: &mut Editor) -> Result<(), String> {
    let text = kernel("    out.tile(at, [N]).st$0ore(x);\n");
    editor.shows(&text, "kiln::lang::tensor::ViewMut")?;
    editor.shows(&text, "outside the tensor")
}

fn types_of_variables_survive_an_error(editor: &mut Editor) -> Result<(), String> {
    let text = kernel("    let n = nothing;\n    let y = x.exp();\n");
    editor.show(&text)?;
    let range = json!({
        "start": { "line": 0, "character": 0 },
        "end": { "line": text.matches('\n').count(), "character": 0 },
    });
    let answer = editor.ask("textDocument/inlayHint", json!({ "range": range }))?;
    let hints: BTreeSet<(u64, String)> =
        answer.as_array().into_iter().flatten().map(hint).collect();
    let required = [(3, ": [i32; 1]"), (4, ": Tile<f32>"), (6, ": Tile<f32>")];
    let shown = |(line, text): &(u64, &str)| hints.contains(&(*line, (*text).to_owned()));
    same_or(required.iter().all(shown), || format!("required {required:?}, actual {hints:?}"))
}

/// The line, from 0, and the text of an inlay hint.
fn hint(hint: &Value) -> (u64, String) {
    let label = &hint["label"];
    let parts = label.as_array().into_iter().flatten().filter_map(|part| part["value"].as_str());
    let text = label.as_str().map_or_else(|| parts.collect(), str::to_owned);
    (hint["position"]["line"].as_u64().unwrap_or_default(), text)
}

fn a_parameter_is_found(editor: &mut Editor) -> Result<(), String> {
    let (file, line) = editor.definition(&kernel("    let y = b$0.tile(at, [N]).load();\n"))?;
    same_or(file.ends_with("examples/vector_add.rs") && line == 2, || format!("{file}:{line}"))
}

fn a_function_of_the_language_is_found(editor: &mut Editor) -> Result<(), String> {
    let (file, line) = editor.definition(&kernel("    let y = block$0_id(1) + nothing;\n"))?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/lang/grid.rs");
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let found = usize::try_from(line).ok().and_then(|line| text.lines().nth(line));
    let is_it = found.is_some_and(|line| line.starts_with("pub fn block_id("));
    same_or(file.ends_with("src/lang/grid.rs") && is_it, || format!("{file}:{line}: {found:?}"))
}

fn a_wrong_kernel_is_underlined(editor: &mut Editor) -> Result<(), String> {
    editor.show(&kernel("    let n = nothing;\n    out.tile(at, [N]).store(x);\n"))?;
    let answer = editor.ask("textDocument/diagnostic", json!({}))?;
    let said: Vec<(&str, &Value)> = answer["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| Some((item["message"].as_str()?, &item["range"])))
        .collect();
    let place = json!({
        "start": { "line": 5, "character": 12 }, "end": { "line": 5, "character": 19 }
    });
    let is_it = |(message, range): &(&str, &Value)| {
        message.starts_with("[K0102] nothing is called `nothing`") && **range == place
    };
    same_or(said.len() == 1 && said.iter().all(is_it), || format!("{said:?}"))
}

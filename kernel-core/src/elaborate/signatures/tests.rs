//! The rows against the stubs in `src/lang`, which `rustc` checks kernels against.

use std::{fs, path::Path};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{FAMILIES, Kind, Legal, Run, Signature, Stub, methods};
use crate::diag::Code;

/// A function of `src/lang`.
#[derive(Debug)]
struct Function {
    /// The module of a function, the type or the trait of a method; of a method that a macro makes the file.
    of: String,
    name: String,
    parameters: Vec<String>,
    /// The last word of the type that it gives.
    gives: Option<String>,
    /// What its documentation says of errors itself.
    errors: Option<String>,
}

/// The types whose methods are rows of a table.
const METHODS: &[(&[&[Signature]], &[&str])] = &[
    (&[methods::SCALAR, methods::ELEMENTWISE], &["Float", "Cast"]),
    (&[methods::TILE, methods::ELEMENTWISE], &["Tile"]),
    (&[methods::SHARED], &["Shared"]),
    (&[methods::TENSOR_MEMORY], &["Tmem"]),
    (&[methods::BARRIER], &["Barrier"]),
    (&[methods::BARRIERS], &["Barriers"]),
    (&[methods::NAMED], &["NamedBarrier"]),
    (&[methods::TENSOR, methods::MAP], &["Tensor", "TensorMut", "tensor.rs"]),
    (&[methods::VIEW], &["View", "ViewMut"]),
    (&[methods::STARTED], &["Copying", "Committing", "Multiplying"]),
    (&[methods::PARTITION], &["PartitionBuilder"]),
    (&[methods::LAYOUT], &["Layout"]),
    (&[methods::ARRAY], &[]),
];

#[test]
fn every_function_has_a_row_and_every_row_a_function() {
    let (functions, _) = stubs();
    for (family, rows) in FAMILIES {
        let stubs: Vec<_> = functions.iter().filter(|stub| stub.of == *family).collect();
        agree(family, &[rows], &stubs);
    }
}

#[test]
fn every_method_has_a_row_and_every_row_a_method() {
    let (_, all) = stubs();
    for (tables, types) in METHODS {
        let stubs: Vec<_> = all.iter().filter(|stub| types.contains(&stub.of.as_str())).collect();
        agree(&types.join(", "), tables, &stubs);
    }
    let known =
        |stub: &&Function| METHODS.iter().any(|(_, types)| types.contains(&stub.of.as_str()));
    let unknown: Vec<_> = all.iter().filter(|stub| !known(stub)).collect();
    assert!(unknown.is_empty(), "methods of types without a table: {unknown:#?}");
}

/// The rows have the stubs' names and parameters, and give what they give.
#[track_caller]
fn agree(what: &str, tables: &[&[Signature]], stubs: &[&Function]) {
    let rows: Vec<&Signature> = tables.iter().flat_map(|rows| rows.iter()).collect();
    for stub in stubs {
        let row = rows.iter().find(|row| row.name == stub.name);
        let row = row.unwrap_or_else(|| panic!("`{}` of `{what}` has no row", stub.name));
        let names: Vec<&str> = row.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, stub.parameters, "the parameters of `{}` of `{what}`", row.name);
        let started = ["Copying", "Committing", "Multiplying"];
        let gives = stub.gives.as_deref();
        let fits = match row.run {
            Run::Does(_) => gives.is_none(),
            Run::Starts(_) => gives.is_some_and(|gives| started.contains(&gives)),
            Run::Value(_) | Run::Gives(_) => gives.is_some(),
        };
        assert!(fits, "`{}` of `{what}` gives {gives:?}", row.name);
    }
    // What scalars and tiles share has its stub with tiles.
    for row in tables.first().into_iter().flat_map(|rows| rows.iter()) {
        let written = stubs.iter().any(|stub| stub.name == row.name);
        assert_eq!(written, row.stub == Stub::Written, "the stub of `{}` of `{what}`", row.name);
    }
}

#[test]
fn the_documentation_of_a_function_names_the_pages_of_its_errors() {
    let (functions, all) = stubs();
    let mut missing = Vec::new();
    for (family, rows) in FAMILIES {
        let stubs: Vec<_> = functions.iter().filter(|stub| stub.of == *family).collect();
        for row in *rows {
            missing.extend(undocumented(row, &stubs));
        }
    }
    for (tables, types) in METHODS {
        let stubs: Vec<_> = all.iter().filter(|stub| types.contains(&stub.of.as_str())).collect();
        for row in tables[0] {
            missing.extend(undocumented(row, &stubs));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The codes that the kinds of a row's parameters lead to, and its stubs do not name.
#[expect(clippy::wildcard_enum_match_arm, reason = "few kinds have a code of their own")]
fn undocumented(row: &Signature, stubs: &[&Function]) -> Vec<String> {
    let kinds = row.parameters.iter().filter_map(|parameter| match parameter.kind {
        Kind::Number(number) => Some(number.code),
        Kind::GridAxis | Kind::Axis(_) | Kind::NewAxis => Some(Code::Axis),
        Kind::Map(_) | Kind::Barrier | Kind::PairBarrier | Kind::I32(_) => Some(Code::Kind),
        Kind::MapMut(_) => Some(Code::ReadOnly),
        _ => None,
    });
    let codes: Vec<&str> =
        row.needs.map(|_| Code::Target).into_iter().chain(kinds).map(Code::number).collect();
    let named = stubs.iter().filter(|stub| stub.name == row.name);
    named
        .filter_map(|stub| stub.errors.as_ref())
        // "Those of `load`, and K0401": the rest is there.
        .filter(|errors| !errors.contains("hose of"))
        .flat_map(|errors| {
            let missing = codes.iter().filter(|code| !errors.contains(**code));
            missing.map(move |code| format!("`{}` does not name {code}: {errors}", row.name))
        })
        .collect()
}

#[test]
fn numbers_have_a_headline_and_bounds() {
    let tables = METHODS.iter().flat_map(|(tables, _)| tables.iter());
    let rows = FAMILIES.iter().map(|(_, rows)| rows).chain(tables).flat_map(|rows| rows.iter());
    for parameter in rows.flat_map(|row| row.parameters) {
        let Kind::Number(number) = parameter.kind else { continue };
        assert!(!number.headline.is_empty() && !number.unit.is_empty(), "{}", number.what);
        match number.legal {
            Legal::Within(least, most) | Legal::Multiple { least, most, .. } => {
                assert!(least < most);
            }
            Legal::OneOf(these, _) => assert!(!these.is_empty()),
        }
    }
}

/// The functions of `src/lang`, and its methods.
fn stubs() -> (Vec<Function>, Vec<Function>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/lang");
    let (mut functions, mut found) = (Vec::new(), Vec::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        #[expect(clippy::disallowed_methods, reason = "a test reads the text that users compile")]
        let entries = fs::read_dir(&folder).expect("the stubs are beside the compiler");
        for entry in entries {
            let path = entry.expect("the folder is read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "a test reads the text that users compile"
            )]
            let text = fs::read_to_string(&path).expect("a stub file is text");
            let file = syn::parse_file(&text).expect("a stub file is Rust");
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let module = FAMILIES.iter().map(|(name, _)| *name).find(|name| *name == stem);
            of_file(&file, (module.unwrap_or_default(), stem), &mut functions, &mut found);
        }
    }
    (functions, found)
}

fn of_file(
    file: &syn::File,
    (module, stem): (&str, &str),
    functions: &mut Vec<Function>,
    found: &mut Vec<Function>,
) {
    for item in &file.items {
        #[expect(clippy::wildcard_enum_match_arm, reason = "functions stand in these items alone")]
        match item {
            syn::Item::Fn(item) if is_public(&item.vis, &item.attrs) => {
                functions.push(function(module, &item.sig, &item.attrs));
            }
            syn::Item::Impl(item) if item.trait_.is_none() => {
                let of = last_word(&item.self_ty).unwrap_or_default();
                for part in &item.items {
                    if let syn::ImplItem::Fn(part) = part
                        && is_public(&part.vis, &part.attrs)
                        && part.sig.receiver().is_some()
                        && of != "PtxCall"
                    {
                        found.push(function(&of, &part.sig, &part.attrs));
                    }
                }
            }
            syn::Item::Trait(item) => {
                for part in &item.items {
                    if let syn::TraitItem::Fn(part) = part
                        && part.sig.receiver().is_some()
                        && !is_hidden(&part.attrs)
                    {
                        found.push(function(&item.ident.to_string(), &part.sig, &part.attrs));
                    }
                }
            }
            syn::Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                of_macro(&item.mac.tokens, &format!("{stem}.rs"), found);
            }
            _ => {}
        }
    }
}

fn function(of: &str, sig: &syn::Signature, attrs: &[syn::Attribute]) -> Function {
    let parameters = sig.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => {
            let syn::Pat::Ident(name) = &*typed.pat else { return None };
            Some(name.ident.to_string())
        }
        syn::FnArg::Receiver(_) => None,
    });
    let gives = match &sig.output {
        syn::ReturnType::Default => None,
        syn::ReturnType::Type(_, ty) => Some(last_word(ty).unwrap_or_default()),
    };
    let docs: Vec<String> = attrs.iter().filter_map(doc).collect();
    let docs = docs.join("\n");
    let section = docs.split_once("# Errors").map(|(_, rest)| rest);
    let errors = section.and_then(|rest| rest.split("```").next()).map(|own| own.trim().to_owned());
    let parameters = parameters.collect();
    Function { of: of.to_owned(), name: sig.ident.to_string(), parameters, gives, errors }
}

/// The public methods whose names a macro writes out.
fn of_macro(tokens: &TokenStream, file: &str, found: &mut Vec<Function>) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            of_macro(&group.stream(), file, found);
        }
        let [
            TokenTree::Ident(public),
            TokenTree::Ident(word),
            TokenTree::Ident(name),
            TokenTree::Group(inputs),
            ..,
        ] = &trees[at..]
        else {
            continue;
        };
        if public != "pub" || word != "fn" || inputs.delimiter() != Delimiter::Parenthesis {
            continue;
        }
        // A parameter is a word before a colon.
        let inputs: Vec<TokenTree> = inputs.stream().into_iter().collect();
        let parameters = inputs.windows(2).filter_map(|pair| match pair {
            [TokenTree::Ident(name), TokenTree::Punct(colon)] if colon.as_char() == ':' => {
                Some(name.to_string())
            }
            _ => None,
        });
        let gives = matches!(trees.get(at + 4), Some(TokenTree::Punct(_))).then(String::new);
        let parameters = parameters.collect();
        let (of, name) = (file.to_owned(), name.to_string());
        found.push(Function { of, name, parameters, gives, errors: None });
    }
}

fn is_public(vis: &syn::Visibility, attrs: &[syn::Attribute]) -> bool {
    matches!(vis, syn::Visibility::Public(_)) && !is_hidden(attrs)
}

/// What macros of the language write, and users do not.
fn is_hidden(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("doc") && matches!(&attr.meta, syn::Meta::List(_)))
}

fn doc(attr: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attr.meta else { return None };
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    attr.path().is_ident("doc").then(|| text.value())
}

fn last_word(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

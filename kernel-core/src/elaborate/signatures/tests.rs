//! The rows against the stubs in `src/lang`, which `rustc` checks kernels against.

use std::{collections::BTreeMap, fs, path::Path};

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
    /// What its documentation says of errors.
    errors: String,
}

/// The types whose methods are rows of a table.
const METHODS: &[(&[&[Signature]], &[&str])] = &[
    (&[methods::SCALAR, methods::ELEMENTWISE], &["Float", "Int", "Cast"]),
    (&[methods::TILE, methods::ELEMENTWISE], &["Tile"]),
    (&[methods::TILES], &["Tiles"]),
    (&[methods::SHARED], &["Shared"]),
    (&[methods::TENSOR_MEMORY], &["Tmem"]),
    (&[methods::BARRIER], &["Barrier"]),
    (&[methods::BARRIERS], &["Barriers"]),
    (&[methods::NAMED], &["NamedBarrier"]),
    (&[methods::TENSOR, methods::MAP], &["Tensor", "TensorMut", "tensor.rs", "rows.rs"]),
    (&[methods::VIEW], &["View", "ViewMut"]),
    (&[methods::STARTED], &["Copying", "Committing", "Multiplying"]),
    (&[methods::PARTITION], &["PartitionBuilder"]),
    (&[methods::LAYOUT], &["Layout"]),
    (&[methods::ARRAY], &[]),
    (&[methods::OPTION], &[]),
];

#[test]
fn every_function_has_a_row_and_every_row_a_function() {
    let stubs = stubs();
    for (family, rows) in FAMILIES {
        let stubs: Vec<_> = stubs.functions.iter().filter(|stub| stub.of == *family).collect();
        agree(family, &[rows], &stubs);
    }
}

#[test]
fn every_method_has_a_row_and_every_row_a_method() {
    let all = stubs().methods;
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
        let known = rows.iter().any(|row| row.stub_name() == stub.name);
        assert!(known, "`{}` of `{what}` has no row", stub.name);
    }
    let pairs = stubs.iter().flat_map(|stub| {
        let own = rows.iter().filter(move |row| row.stub_name() == stub.name);
        own.map(move |row| (stub, row))
    });
    for (stub, row) in pairs {
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
    for row in rows {
        let written = stubs.iter().any(|stub| stub.name == row.stub_name());
        assert_eq!(written, row.stub != Stub::Rust, "the stub of `{}` of `{what}`", row.name);
    }
}

#[test]
fn the_documentation_of_a_function_names_the_pages_of_its_errors() {
    let all = stubs();
    let mut missing = Vec::new();
    for (family, rows) in FAMILIES {
        missing.extend(rows.iter().flat_map(|row| undocumented(row, &[family], &all)));
    }
    for (tables, types) in METHODS {
        let rows = tables.iter().flat_map(|rows| rows.iter());
        missing.extend(rows.flat_map(|row| undocumented(row, types, &all)));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The codes that the kinds of a row's parameters lead to, and its stubs do not name.
#[expect(clippy::wildcard_enum_match_arm, reason = "few kinds have a code of their own")]
fn undocumented(row: &Signature, of: &[&str], all: &Stubs) -> Vec<String> {
    let kinds = row.parameters.iter().filter_map(|parameter| match parameter.kind {
        Kind::Number(number) => Some(number.code),
        Kind::GridAxis | Kind::Axis(_) | Kind::Axes | Kind::NewAxis => Some(Code::Axis),
        Kind::Map(_) | Kind::Barrier | Kind::PairBarrier | Kind::I32(_) => Some(Code::Kind),
        Kind::MapMut(_) => Some(Code::ReadOnly),
        _ => None,
    });
    let codes: Vec<&str> =
        row.needs.map(|_| Code::Target).into_iter().chain(kinds).map(Code::number).collect();
    let own = |stub: &&Function| of.contains(&stub.of.as_str()) && stub.name == row.stub_name();
    let missing = all.all().filter(own).flat_map(|stub| {
        let errors = stub.all_errors(all, &mut Vec::new());
        let missing: Vec<&str> =
            codes.iter().copied().filter(|code| !errors.contains(code)).collect();
        missing.into_iter().map(move |code| {
            format!("`{}` of `{}` does not name {code}: {errors}", stub.name, stub.of)
        })
    });
    missing.collect()
}

impl Signature {
    /// The name of its stub: `$name` of one in a macro that lists it.
    fn stub_name(&self) -> &str {
        match self.stub {
            Stub::Written | Stub::Rust => self.name,
            Stub::Listed => "$name",
        }
    }
}

impl Stubs {
    fn all(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().chain(&self.methods)
    }
}

impl Function {
    /// What its documentation says of errors, and what that says to which it leads: "Those of [`load`], and K0401".
    fn all_errors(&self, all: &Stubs, asked: &mut Vec<(String, String)>) -> String {
        asked.push((self.of.clone(), self.name.clone()));
        let mut errors = self.errors.clone();
        for link in self.errors.split("](").skip(1) {
            let place = link.split(')').next().unwrap_or_default();
            let place = place.replace("self#", &format!("{}#", self.of));
            errors.extend(all.sections.get(&place).map(String::as_str));
        }
        for reference in self.errors.split("hose of [`").skip(1) {
            let (path, _) = reference.split_once("`]").expect("a link ends");
            let (of, name) = path.rsplit_once("::").unwrap_or((&self.of, path));
            let named: Vec<&Function> = all.all().filter(|one| one.name == name).collect();
            assert!(!named.is_empty(), "`{}` has the errors of `{path}`, no stub", self.name);
            let exact = named.iter().any(|one| one.of == of);
            for one in named.into_iter().filter(|one| one.of == of || !exact) {
                if !asked.contains(&(one.of.clone(), one.name.clone())) {
                    errors += &one.all_errors(all, asked);
                }
            }
        }
        errors
    }
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

/// What `src/lang` has.
#[derive(Default)]
struct Stubs {
    functions: Vec<Function>,
    methods: Vec<Function>,
    /// The sections of the documentation of its types and modules, as links name them: `Tile#reductions`.
    sections: BTreeMap<String, String>,
}

fn stubs() -> Stubs {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/lang");
    let mut stubs = Stubs::default();
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
            stubs.of_file(&file, (module.unwrap_or_default(), stem));
        }
    }
    stubs
}

impl Stubs {
    fn of_file(&mut self, file: &syn::File, (module, stem): (&str, &str)) {
        self.of_docs(stem, &file.attrs);
        for item in &file.items {
            #[expect(clippy::wildcard_enum_match_arm, reason = "the others have no functions")]
            match item {
                syn::Item::Fn(item) if is_public(&item.vis, &item.attrs) => {
                    self.functions.push(function(module, &item.sig, &item.attrs));
                }
                syn::Item::Struct(item) => self.of_docs(&item.ident.to_string(), &item.attrs),
                syn::Item::Impl(item) if item.trait_.is_none() => {
                    let of = last_word(&item.self_ty).unwrap_or_default();
                    for part in &item.items {
                        if let syn::ImplItem::Fn(part) = part
                            && is_public(&part.vis, &part.attrs)
                            && part.sig.receiver().is_some()
                            && of != "PtxCall"
                        {
                            self.methods.push(function(&of, &part.sig, &part.attrs));
                        }
                    }
                }
                syn::Item::Trait(item) => {
                    for part in &item.items {
                        if let syn::TraitItem::Fn(part) = part
                            && part.sig.receiver().is_some()
                            && !is_hidden(&part.attrs)
                        {
                            let of = item.ident.to_string();
                            self.methods.push(function(&of, &part.sig, &part.attrs));
                        }
                    }
                }
                syn::Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                    self.of_macro(&item.mac.tokens, (module, stem));
                }
                _ => {}
            }
        }
    }

    /// The public functions and methods in a macro.
    fn of_macro(&mut self, tokens: &TokenStream, (module, stem): (&str, &str)) {
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            if let TokenTree::Group(group) = tree {
                self.of_macro(&group.stream(), (module, stem));
            }
            let [TokenTree::Ident(public), TokenTree::Ident(word), rest @ ..] = &trees[at..] else {
                continue;
            };
            if public != "pub" || word != "fn" {
                continue;
            }
            let name = match rest {
                [TokenTree::Ident(name), ..] => name.to_string(),
                // That of an entry of the macro's list.
                [TokenTree::Punct(_), TokenTree::Ident(name), ..] => format!("${name}"),
                _ => continue,
            };
            let group = |delimiter| move |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == delimiter);
            let mut parts = rest.splitn(2, group(Delimiter::Parenthesis));
            let before = parts.next().unwrap_or_default().len();
            let TokenTree::Group(inputs) = &rest[before] else { continue };
            let inputs: Vec<TokenTree> = inputs.stream().into_iter().collect();
            // A parameter is a word before a colon.
            let parameters = inputs.windows(2).filter_map(|pair| match pair {
                [TokenTree::Ident(name), TokenTree::Punct(colon)] if colon.as_char() == ':' => {
                    Some(name.to_string())
                }
                _ => None,
            });
            let parameters = parameters.collect();
            let is_method =
                inputs.iter().any(|tree| matches!(tree, TokenTree::Ident(word) if word == "self"));
            let gives = match parts.next() {
                Some([TokenTree::Punct(_), TokenTree::Punct(_), rest @ ..]) => {
                    let ty = rest.split(group(Delimiter::Brace)).next().unwrap_or_default();
                    let ty = syn::parse2::<syn::Type>(ty.iter().cloned().collect()).ok();
                    Some(ty.and_then(|ty| last_word(&ty)).unwrap_or_default())
                }
                _ => None,
            };
            let errors = documented(&trees[..at]);
            if is_method {
                let of = format!("{stem}.rs");
                self.methods.push(Function { of, name, parameters, gives, errors });
            } else {
                let of = module.to_owned();
                self.functions.push(Function { of, name, parameters, gives, errors });
            }
        }
    }

    /// The sections of the documentation of a type or a module.
    fn of_docs(&mut self, of: &str, attrs: &[syn::Attribute]) {
        let docs: Vec<String> = attrs.iter().filter_map(doc).collect();
        for section in docs.join("\n").split("\n # ").skip(1) {
            let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
            let anchor = heading.trim().to_lowercase().replace(' ', "-");
            self.sections.insert(format!("{of}#{anchor}"), text.to_owned());
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
    let errors = of_errors(attrs.iter().filter_map(doc));
    let parameters = parameters.collect();
    Function { of: of.to_owned(), name: sig.ident.to_string(), parameters, gives, errors }
}

/// What documentation says of errors: a section, or a paragraph like "PTX and errors: those of [`dim`]".
fn of_errors(lines: impl Iterator<Item = String>) -> String {
    let docs: Vec<String> = lines.collect();
    let docs = docs.join("\n");
    let (_, section) =
        docs.split_once("# Errors").or_else(|| docs.split_once("errors: ")).unwrap_or_default();
    section.split("```").next().unwrap_or_default().trim().to_owned()
}

/// What the attributes at the end of these tokens document of errors.
fn documented(before: &[TokenTree]) -> String {
    let attributes = before.rchunks_exact(2).map_while(|pair| match pair {
        [TokenTree::Punct(hash), TokenTree::Group(attribute)] if hash.as_char() == '#' => {
            Some(attribute.stream())
        }
        _ => None,
    });
    let mut lines: Vec<String> = attributes
        .filter_map(|attribute| {
            let pair: syn::MetaNameValue = syn::parse2(attribute).ok()?;
            doc_text(&pair)
        })
        .collect();
    lines.reverse();
    of_errors(lines.into_iter())
}

fn is_public(vis: &syn::Visibility, attrs: &[syn::Attribute]) -> bool {
    matches!(vis, syn::Visibility::Public(_)) && !is_hidden(attrs)
}

/// What macros of the language write, and users do not.
fn is_hidden(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let hidden =
            matches!(&attr.meta, syn::Meta::List(list) if list.tokens.to_string() == "hidden");
        attr.path().is_ident("doc") && hidden
    })
}

fn doc(attr: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attr.meta else { return None };
    doc_text(pair)
}

fn doc_text(pair: &syn::MetaNameValue) -> Option<String> {
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    pair.path.is_ident("doc").then(|| text.value())
}

fn last_word(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

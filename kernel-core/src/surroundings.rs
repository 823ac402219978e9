//! What stands around a kernel in its file.
//!
//! A procedural macro is given the tokens of one item. Whoever has the text of the file as well can say which names it declares and
//! imports: then a name that is none of them is a slip and no `#[device]` item of another module, and a constant of the file is known
//! to the kernel as it is to every other function.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree};

use crate::{
    diag::Problems,
    elaborate::constants,
    loc::{Loc, Locations, Place},
    syntax::{self, Unit, free::Needs},
};

/// The names that a module of a file declares and imports.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    names: BTreeMap<String, Named>,
    /// No other names are there.
    whole: bool,
    /// Where constants are declared, as far as that is certain.
    places: BTreeMap<String, Place>,
    /// Where functions are declared, as far as that is certain.
    functions: BTreeMap<String, Place>,
    /// It takes the names of the module around it.
    taken: bool,
    /// The module of constants of the standard library that it imports as a whole.
    constants_of: Option<String>,
    /// Names in lower case that `use` brings: in a pattern they may be those of constants.
    imported: BTreeSet<String>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    /// A `#[device]` item, an import, or what another attribute makes of an item.
    Open,
    /// What only the host can use: `a function`, `a struct`.
    Host(&'static str),
    /// A constant, or a module of those of the standard library: the text of its item.
    Const(String),
}

/// Attributes that leave an item what it is.
const PLAIN: [&str; 13] = [
    "doc",
    "inline",
    "allow",
    "expect",
    "warn",
    "deny",
    "must_use",
    "derive",
    "repr",
    "deprecated",
    "cold",
    "test",
    "default",
];

/// What stands around each kernel and each device item of a file.
#[derive(Debug, Default)]
pub struct SourceFile {
    /// By the name of the attribute and of the item; nothing is known of a name that is there twice.
    items: BTreeMap<(String, String), Option<Arc<Surroundings>>>,
    /// Where `fn NAME` and `mod NAME` stand in the text, in bodies of functions and macros too: line from 1, and column from 0 of the name.
    declared: BTreeMap<String, Vec<(usize, usize)>>,
}

impl SourceFile {
    /// Reads the text of the file at `path`. `kiln` is the name of the crate in this package: its prelude brings nothing but the
    /// language.
    pub fn read(text: &str, path: &str, kiln: &str) -> Self {
        let Ok(file) = syn::parse_file(text) else { return Self::default() };
        let file_of = Self { declared: names_after(text, &["fn ", "mod "]), ..Self::default() };
        let mut reader = Reader {
            kiln,
            places: places(text, path, "const "),
            functions: places(text, path, "fn "),
            file: file_of,
        };
        let own = Arc::new(reader.names(&file.items, None));
        reader.module(&file.items, &own);
        reader.file
    }

    /// The surroundings of the function or module of this name with an attribute of that name; the name stands at this line, from 1,
    /// and column, from 0. Nothing is known if the text does not have it there, or has it elsewhere as well.
    pub fn around(&self, attribute: &str, name: &str, place: (usize, usize)) -> Arc<Surroundings> {
        if self.declared.get(name).is_none_or(|places| places[..] != [place]) {
            return Arc::default();
        }
        let known = self.items.get(&(attribute.to_owned(), name.to_owned()));
        known.cloned().flatten().unwrap_or_default()
    }
}

impl Surroundings {
    /// What the host has under a name, and the kernel cannot use.
    fn of_host(&self, name: &str) -> Option<&'static str> {
        match self.names.get(name)? {
            Named::Host(what) => Some(what),
            Named::Open | Named::Const(_) => None,
        }
    }

    /// What a name in a pattern may be: of names in lower case alone, patterns ask whether they are constants.
    fn in_pattern(&self, name: &str) -> Option<&'static str> {
        self.imported.contains(name).then_some(syntax::IMPORTED)
    }

    /// Where a function of the host stands, and its line.
    pub(crate) fn function(
        &self,
        name: &str,
        at: Loc,
        locations: &Locations,
    ) -> Option<(Loc, u32)> {
        let place = self.functions.get(name).filter(|_| self.of_host(name) == Some(A_FUNCTION))?;
        let (first, _) = locations.spans(at);
        let loc = locations.in_constant(at, Some(place.clone()), || locations.of_span(first));
        Some((loc, place.line))
    }

    /// Leaves among the free paths those that may be of `#[device]` items. The others are the result, with what the host has of that
    /// name.
    pub(crate) fn leave_devices(
        &self,
        needs: &mut Needs,
    ) -> Vec<(String, Loc, Option<&'static str>)> {
        let mut others = std::mem::take(&mut needs.nowhere);
        let constants = &mut needs.constants;
        needs.paths.retain(|path| match &path.segments[..] {
            [(name, loc)] if self.whole => match self.names.get(name) {
                Some(Named::Open) => true,
                // A generic argument that stands alone reads as a type does.
                Some(Named::Const(_)) => {
                    constants.push((name.clone(), *loc));
                    false
                }
                Some(Named::Host(_)) | None => {
                    others.push((name.clone(), *loc));
                    false
                }
            },
            // `consts::PI`, with a `use` of the module.
            [(name, loc), _, ..] if matches!(self.names.get(name), Some(Named::Const(_))) => {
                constants.push((name.clone(), *loc));
                false
            }
            _ => true,
        });
        others.into_iter().map(|(name, loc)| (name.clone(), loc, self.of_host(&name))).collect()
    }

    /// Gives a unit the constants of the file that its kernels use, and what it can say of names that are no device items; those leave
    /// the free paths. The items of the constants are the result, with the places where the kernel names them.
    pub(crate) fn complete(
        &self,
        unit: &mut Unit,
        needs: &mut Needs,
        locations: &Locations,
    ) -> TokenStream {
        for (name, loc, host) in self.leave_devices(needs) {
            let function = self.function(&name, loc, locations);
            unit.devices.functions.extend(function.map(|function| (name.clone(), function)));
            unit.devices.nowhere.push((name, host));
        }
        for (name, _) in &needs.constants {
            if let Some(what) = self.of_host(name).or_else(|| self.in_pattern(name)) {
                unit.devices.nowhere.push((name.clone(), Some(what)));
            }
        }
        let constants = self.constants(&needs.constants, locations);
        let refused = constants.refused.into_iter();
        unit.devices.nowhere.extend(refused.map(|(name, _)| (name, Some(OF_THE_HOST))));
        unit.items.extend(constants.items);
        constants.tokens
    }

    /// The constants of the file that a device item uses, by these names, and those that it cannot use, each with what the host has of that
    /// name.
    pub(crate) fn device_constants(
        &self,
        named: &[(String, Loc)],
        locations: &Locations,
    ) -> (TokenStream, Vec<(String, Loc, &'static str)>) {
        let constants = self.constants(named, locations);
        let of_host = named.iter().filter_map(|(name, loc)| {
            let what = self.of_host(name).or_else(|| self.in_pattern(name))?;
            Some((name.clone(), *loc, what))
        });
        let refused = constants.refused.into_iter().map(|(name, loc)| (name, loc, OF_THE_HOST));
        (constants.tokens, of_host.chain(refused).collect())
    }

    /// The constants of the file of these names, and those that these use.
    fn constants(&self, named: &[(String, Loc)], locations: &Locations) -> Constants {
        let mut found = Constants::default();
        let mut open = named.to_vec();
        let mut seen = BTreeSet::new();
        while let Some((name, loc)) = open.pop() {
            let Some(Named::Const(text)) = self.names.get(&name) else { continue };
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(item) = placed(text, loc, locations) else { continue };
            let mut problems = Problems::new();
            let place = self.places.get(&name).cloned();
            let items = locations
                .in_constant(loc, place, || syntax::parse_device(&item, locations, &mut problems));
            if !problems.is_empty() {
                found.refused.push((name, loc));
                continue;
            }
            open.extend(syntax::free::of_items(&items).constants);
            found.items.extend(items);
            item.to_tokens(&mut found.tokens);
        }
        found
    }
}

/// What a name of the host is.
const A_FUNCTION: &str = "a function";

/// What the host has in a constant that kernels do not see.
const OF_THE_HOST: &str = "a constant with what kernels do not have";

/// Constants of the file.
#[derive(Default)]
struct Constants {
    items: Vec<syntax::Item>,
    /// The same as they are written.
    tokens: TokenStream,
    /// Those with what kernels do not have.
    refused: Vec<(String, Loc)>,
}

struct Reader<'a> {
    kiln: &'a str,
    places: BTreeMap<String, Place>,
    functions: BTreeMap<String, Place>,
    file: SourceFile,
}

impl Reader<'_> {
    /// Reads a module, of which `own` are the names, and those in it.
    fn module(&mut self, items: &[Item], own: &Arc<Surroundings>) {
        for item in items {
            let Some((attrs, name, _)) = declared(item) else { continue };
            let content = if let Item::Mod(module) = item { module.content.as_ref() } else { None };
            let content = content.map(|(_, content)| content);
            let around = match content {
                Some(content) => Arc::new(self.names(content, Some(own))),
                None => Arc::clone(own),
            };
            for attribute in attrs.iter().filter_map(of_kiln) {
                let twice = self.file.items.contains_key(&(attribute.clone(), name.to_string()));
                let around = (!twice).then(|| Arc::clone(&around));
                self.file.items.insert((attribute, name.to_string()), around);
            }
            if let Some(content) = content {
                self.module(content, &around);
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`declared` knows the other items")]
    fn names(&self, items: &[Item], outer: Option<&Surroundings>) -> Surroundings {
        let (places, functions) = (self.places.clone(), self.functions.clone());
        let mut all = Surroundings { whole: true, places, functions, ..Surroundings::default() };
        for item in items {
            match item {
                Item::Use(item) => self.imports(&item.tree, &mut Vec::new(), outer, &mut all),
                Item::Const(item) => {
                    let plain = is_plain(&item.attrs);
                    let text = item.to_token_stream().to_string();
                    all.add(&item.ident, if plain { Named::Const(text) } else { Named::Open });
                }
                Item::Macro(item) => match &item.ident {
                    Some(name) => all.add(name, Named::Open),
                    None => all.whole = false,
                },
                Item::ExternCrate(item) => {
                    let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
                    all.add(name, Named::Open);
                    all.whole &= item.attrs.is_empty();
                }
                Item::Impl(_) | Item::ForeignMod(_) => {}
                Item::Verbatim(_) => all.whole = false,
                other => {
                    let Some((attrs, name, what)) = declared(other) else { continue };
                    let host = is_plain(attrs) && !matches!(other, Item::Mod(_));
                    let kernel =
                        attrs.iter().filter_map(of_kiln).any(|attribute| attribute == "kernel");
                    all.add(
                        name,
                        match (kernel, host) {
                            (true, _) => Named::Host("a kernel"),
                            (false, true) => Named::Host(what),
                            (false, false) => Named::Open,
                        },
                    );
                }
            }
        }
        if let Some(module) = all.constants_of.take() {
            for name in constants::NAMES {
                let import = || Named::Const(format!("use {module}::{name};"));
                all.names.entry((*name).to_owned()).or_insert_with(import);
            }
        }
        if let Some(outer) = outer.filter(|_| all.taken) {
            all.fill(outer);
        }
        all
    }

    fn imports(
        &self,
        tree: &UseTree,
        path: &mut Vec<String>,
        outer: Option<&Surroundings>,
        all: &mut Surroundings,
    ) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.imports(&tree.tree, path, outer, all);
                path.pop();
            }
            UseTree::Name(tree) if tree.ident == "self" => {
                if let Some(last) = path.last() {
                    all.names.insert(last.clone(), Named::Open);
                }
            }
            UseTree::Name(tree) => all.import(&tree.ident, path, &tree.ident),
            UseTree::Rename(tree) => all.import(&tree.rename, path, &tree.ident),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.imports(tree, path, outer, all);
                }
            }
            UseTree::Glob(_) => match (&path[..], outer) {
                ([root, prelude], _) if root == self.kiln && prelude == "prelude" => {}
                _ if constants::is_module(path) => all.constants_of = Some(path.join("::")),
                ([parent], Some(outer)) if parent == "super" => {
                    all.whole &= outer.whole;
                    all.taken = true;
                }
                _ => all.whole = false,
            },
        }
    }
}

impl Surroundings {
    /// Takes the names of the module around this one that it does not have itself. A constant that uses a name which means something
    /// else here is none that could be read here.
    fn fill(&mut self, outer: &Surroundings) {
        let own: BTreeSet<String> = self.names.keys().cloned().collect();
        for (name, named) in &outer.names {
            let hidden = |text: &String| {
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.into_iter().any(|word| own.contains(word))
            };
            let named = match named {
                Named::Const(text) if hidden(text) => {
                    Named::Host("a constant that uses names of another module")
                }
                Named::Open | Named::Host(_) | Named::Const(_) => named.clone(),
            };
            self.names.entry(name.clone()).or_insert(named);
        }
        self.imported.extend(outer.imported.iter().filter(|name| !own.contains(*name)).cloned());
    }

    /// Takes over `use path::item as name`.
    fn import(&mut self, name: &syn::Ident, path: &[String], item: &syn::Ident) {
        let whole: Vec<String> = path.iter().cloned().chain([item.to_string()]).collect();
        if constants::is_constant(&whole) || constants::is_module(&whole) {
            // The item of the constant is its import.
            let text = format!("use {} as {name};", whole.join("::"));
            return self.add(name, Named::Const(text));
        }
        self.add(name, Named::Open);
        let name = name.to_string();
        if !name.starts_with(char::is_uppercase) {
            self.imported.insert(name);
        }
    }

    fn add(&mut self, name: &syn::Ident, named: Named) {
        let name = name.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        // One of two items of a name, such as those under `#[cfg]`, may be a device item.
        let twice = self.names.get(&name).is_some_and(|known| *known != named);
        self.names.insert(name, if twice { Named::Open } else { named });
    }
}

/// The places of `KEYWORD NAME` in a text, of each name that is there once.
fn places(text: &str, path: &str, keyword: &str) -> BTreeMap<String, Place> {
    let number = |number: usize| u32::try_from(number).unwrap_or(1);
    let once = names_after(text, &[keyword]).into_iter().filter_map(|(name, places)| {
        let &[(line, column)] = &places[..] else { return None };
        let place = Place { file: path.to_owned(), line: number(line), column: number(column + 1) };
        Some((name, place))
    });
    once.collect()
}

/// The names behind keywords in a text, with the line, from 1, and the column, from 0, of each. Lines of comments have none.
fn names_after(text: &str, keywords: &[&str]) -> BTreeMap<String, Vec<(usize, usize)>> {
    let mut found: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    let code = |(_, words): &(usize, &str)| !words.trim_start().starts_with("//");
    for (line, words) in (1..).zip(text.lines()).filter(code) {
        for (at, keyword) in keywords.iter().flat_map(|keyword| words.match_indices(keyword)) {
            let start = at + keyword.len();
            let rest = &words[start..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let column = words[..start].chars().count();
            found.entry(rest[..end].to_owned()).or_default().push((line, column));
        }
    }
    found
}

/// An item whose tokens all are at one place.
fn placed(text: &str, loc: Loc, locations: &Locations) -> Option<Item> {
    fn at(tokens: TokenStream, span: Span) -> TokenStream {
        let placed = |mut tree| {
            if let TokenTree::Group(group) = &tree {
                tree = TokenTree::Group(Group::new(group.delimiter(), at(group.stream(), span)));
            }
            tree.set_span(span);
            tree
        };
        tokens.into_iter().map(placed).collect()
    }
    syn::parse2(at(text.parse().ok()?, locations.spans(loc).0)).ok()
}

/// The name of an attribute if it is `kernel` or `device`, with whatever path.
fn of_kiln(attr: &Attribute) -> Option<String> {
    let last = attr.path().segments.last()?.ident.to_string();
    matches!(&*last, "kernel" | "device").then_some(last)
}

fn is_plain(attrs: &[Attribute]) -> bool {
    attrs.iter().all(|attr| PLAIN.iter().any(|name| attr.path().is_ident(name)))
}

/// The attributes, the name and the kind of an item.
#[expect(clippy::wildcard_enum_match_arm, reason = "other items have no name of their own")]
fn declared(item: &Item) -> Option<(&[Attribute], &syn::Ident, &'static str)> {
    Some(match item {
        Item::Fn(item) => (&item.attrs, &item.sig.ident, A_FUNCTION),
        Item::Struct(item) => (&item.attrs, &item.ident, "a struct"),
        Item::Enum(item) => (&item.attrs, &item.ident, "an enum"),
        Item::Union(item) => (&item.attrs, &item.ident, "a union"),
        Item::Type(item) => (&item.attrs, &item.ident, "a type alias"),
        Item::Trait(item) => (&item.attrs, &item.ident, "a trait"),
        Item::Static(item) => (&item.attrs, &item.ident, "a static"),
        Item::Mod(item) => (&item.attrs, &item.ident, "a module"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

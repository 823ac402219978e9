//! `#[device]`: functions and modules that kernels of other modules and crates use.
//!
//! A procedural macro sees the tokens before which it stands and nothing else, so what a kernel calls in another module has to
//! come to it. `#[device] pub fn silu` therefore leaves three things: the function itself, as ordinary Rust; a hidden
//! `macro_rules!` that holds the function's tokens, its *bundle*; and `use` of that macro under the name `silu`. The name
//! now stands in two namespaces, and wherever Rust's own imports bring the function they bring the macro.
//!
//! The macro of a kernel turns each free path of the body (see [`free`]) into a link of a chain of such
//! macros, in the place of an expression:
//!
//! ```text
//! const IMAGES: .. = act::silu! { @kiln [{swish} {::kiln::__private::kernel_finish}] [] { state } };
//! ```
//!
//! Each link adds its bundle to the second list and calls the next. The last link is the procedural macro that
//! compiles, with all bundles at hand. A device function that uses others runs the same chain where it is defined, and only the
//! end of that chain leaves the macro: a bundle is closed, and private helpers need not be seen from outside.
//!
//! # The form of a bundle
//!
//! ```text
//! "id" "export" [ ("id" { item } [("path" "id" "export") ..]) .. ]
//! ```
//!
//! The first two say which item the macro stands for; the list has that item and all that it needs, each once. An entry
//! holds the tokens of a function or of a module, then those of the constants of its file that it uses, and for every free path in it which
//! item it means.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};

use crate::{
    diag::{self, Code, Diagnostic, Problems},
    loc::Locations,
    surroundings::Surroundings,
    syntax::{self, DeviceItem, DeviceUse, Devices, FreePath, Unit, free},
};

/// The items that take the place of a `#[device]` item; `origin` names the package and the crate, so that ids differ.
pub fn device_item(
    attr: &TokenStream,
    item: &syn::Item,
    surroundings: &Surroundings,
    origin: &str,
) -> TokenStream {
    let locations = Locations::new(span_of(item));
    let mut problems = Problems::new();
    let crate_path = crate::host::crate_argument(attr);
    if !attr.is_empty() && crate_path.is_none() {
        problems.push(
            Diagnostic::new(
                Code::Attribute,
                locations.of(attr),
                "`#[device]` takes no arguments but `crate`",
            )
            .help("#[device]"),
        );
    }
    let exports = exports(item, &locations, &mut problems);
    let items = syntax::parse_device(item, &locations, &mut problems);
    let mut needs = free::of_items(&items);
    for (name, loc, host) in surroundings.leave_devices(&mut needs) {
        let nothing = crate::elaborate::nothing_called(&name, loc, host, []);
        let function = surroundings.function(&name, loc, &locations);
        problems.push(crate::elaborate::of_host_function(nothing, function.as_ref()));
    }
    let (constants, of_host) = surroundings.device_constants(&needs.constants, &locations);
    for (name, loc, host) in of_host {
        problems.push(crate::elaborate::nothing_called(&name, loc, Some(host), []));
    }
    if !problems.is_empty() {
        let errors = diag::compile_errors(&problems, &locations);
        let item = refused(item, origin, crate_path.as_ref());
        return quote!(#errors #item);
    }
    let definition = Definition {
        id: id_of(item, origin),
        tokens: quote!(#item #constants),
        exports,
        paths: paths_of(&needs.paths, &locations),
    };
    let hidden = crate::host::rooted(definition.macros_or_chain(), crate_path.as_ref());
    let item = beside(item, hidden);
    quote!(#[allow(dead_code, clippy::must_use_candidate)] #item)
}

/// A refused item with macros that stand for nothing: its uses find that it exists, and rustc does not report that it is
/// not. The same goes for what a module in it makes visible.
fn refused(item: &syn::Item, origin: &str, crate_path: Option<&TokenStream>) -> TokenStream {
    let exports = names_of(item)
        .into_iter()
        .filter(|(name, _)| taken_by(&name.to_string()).is_none())
        .map(|(name, vis)| (name.clone(), vis.clone()))
        .collect();
    let definition = Definition {
        id: id_of(item, origin),
        tokens: TokenStream::new(),
        exports,
        paths: Vec::new(),
    };
    let hidden = crate::host::rooted(definition.hidden(&[]), crate_path);
    let mut item = item.clone();
    if let syn::Item::Mod(module) = &mut item
        && let Some((_, content)) = &mut module.content
    {
        for inner in content.iter_mut().filter(|inner| matches!(inner, syn::Item::Mod(_))) {
            *inner = syn::Item::Verbatim(refused(inner, origin, crate_path));
        }
    }
    beside(&item, hidden)
}

/// The item with its macros: those of a module stand inside of it.
fn beside(item: &syn::Item, hidden: TokenStream) -> TokenStream {
    let syn::Item::Mod(module) = item else { return quote!(#item #hidden) };
    let mut module = module.clone();
    if let Some((_, content)) = &mut module.content {
        content.push(syn::Item::Verbatim(hidden));
    }
    quote!(#module)
}

/// The last link of the chain of a device item: leaves its macros.
pub fn device_finish(input: TokenStream) -> TokenStream {
    let parsed = syn::parse2::<Chain<Definition>>(input);
    match parsed {
        Ok(Chain { bundles, state }) => state.macros(&bundles),
        Err(error) => error.to_compile_error(),
    }
}

/// A kernel on its way through a chain.
pub(crate) struct Waiting {
    /// The arguments of the attribute.
    pub(crate) attr: TokenStream,
    /// The function or module.
    pub(crate) item: syn::Item,
    /// Which kernel of a module.
    pub(crate) index: usize,
    /// Whether the host's function is an unsafe launch.
    pub(crate) raw: bool,
    /// The free paths, in the order of the bundles.
    pub(crate) paths: Vec<TokenStream>,
    /// Problems that were reported before the chain began.
    pub(crate) said: Vec<String>,
    /// The constants of its file that it uses.
    pub(crate) constants: TokenStream,
    /// The names of [`Devices::nowhere`].
    pub(crate) nowhere: Vec<String>,
}

impl Waiting {
    /// The items of [`Waiting::constants`].
    pub(crate) fn constants(&self) -> Vec<syn::Item> {
        syn::parse2::<syn::File>(self.constants.clone()).map_or(Vec::new(), |file| file.items)
    }
}

/// The chain that compiles a kernel, in the place of an expression.
pub(crate) fn kernel_chain(waiting: &Waiting) -> TokenStream {
    let Waiting { attr, item, index, raw, paths, said, constants, nowhere } = waiting;
    let index = Literal::usize_unsuffixed(*index);
    let raw = format_ident!("{}", if *raw { "true" } else { "false" });
    chain(
        paths,
        &quote!(::kiln::__private::kernel_finish),
        &quote!({ #attr } { #item } #index #raw [#({#paths})*] [#(#said)*] { #constants } [#(#nowhere)*]),
    )
}

/// Reads what a kernel's chain has gathered.
///
/// # Errors
/// When the tokens are not those of a chain: the macro was called by hand.
pub(crate) fn kernel_arrived(input: TokenStream) -> syn::Result<(Waiting, Vec<Bundle>)> {
    let Chain { bundles, state } = syn::parse2::<Chain<Waiting>>(input)?;
    Ok((state, bundles))
}

/// The device items of all bundles, each once, and what the kernel's own paths mean.
///
/// Positions in them are those of the path in the kernel that brought them; messages add the place in the library.
pub(crate) fn unpack(
    bundles: &[Bundle],
    paths: &[TokenStream],
    locations: &Locations,
    problems: &mut Problems,
) -> Devices {
    let mut devices = Devices::default();
    for (bundle, path) in bundles.iter().zip(paths) {
        devices.uses.push(DeviceUse {
            path: path_key(path),
            id: bundle.id.clone(),
            export: bundle.export.clone(),
        });
        for entry in &bundle.entries {
            if devices.items.iter().any(|known| known.id == entry.id) {
                continue;
            }
            let items = locations.away(path, || {
                let each = entry.items.iter();
                each.flat_map(|item| syntax::parse_device(item, locations, problems)).collect()
            });
            devices.items.push(DeviceItem {
                id: entry.id.clone(),
                items,
                uses: entry.uses.clone(),
            });
        }
    }
    devices
}

/// Gives a unit the items of a library whose names end the free paths of its kernels: for callers that have the library at hand,
/// and no rustc to provide its items.
pub fn provide(
    unit: &mut Unit,
    library: &[syn::Item],
    locations: &Locations,
    problems: &mut Problems,
) {
    let needs = unit.kernels.iter().flat_map(|kernel| free::of_kernel(unit, kernel).paths);
    let paths: Vec<FreePath> = needs.collect();
    for path in paths {
        let named = |item: &&syn::Item| {
            let last = path.segments.last().map(|(name, _)| name);
            names_of(item).into_iter().any(|(name, _)| last.is_some_and(|last| name == last))
        };
        let (Some(item), Some((export, _))) = (library.iter().find(named), path.segments.last())
        else {
            continue;
        };
        let id = id_of(item, "");
        let (path, export) = (path_tokens(&path, locations), export.clone());
        if unit.devices.items.iter().all(|known| known.id != id) {
            let items = locations.away(&path, || syntax::parse_device(item, locations, problems));
            unit.devices.items.push(DeviceItem { id: id.clone(), items, uses: Vec::new() });
        }
        unit.devices.uses.push(DeviceUse { path: path_key(&path), id, export });
    }
}

/// The name of what can be a device item.
fn name_of(item: &syn::Item) -> Option<&syn::Ident> {
    let can_be = matches!(item, syn::Item::Fn(_) | syn::Item::Mod(_));
    syntax::declared_name(item).filter(|_| can_be).map(|(name, _)| name)
}

fn span_of(item: &syn::Item) -> Span {
    name_of(item).map_or_else(Span::call_site, syn::Ident::span)
}

/// The names under which an item can be reached, with their visibilities.
fn exports(
    item: &syn::Item,
    locations: &Locations,
    problems: &mut Problems,
) -> Vec<(syn::Ident, syn::Visibility)> {
    if name_of(item).is_none() {
        problems.push(
            Diagnostic::new(
                Code::Attribute,
                locations.of(item),
                "`#[device]` belongs to a function or a module",
            )
            .why("kernels of other modules use a device item by its name and get only what is inside: a type on its own would lack its methods, and an `impl` has no name")
            .help("#[device]\npub mod name { pub struct Name; impl Name {} }"),
        );
        return Vec::new();
    }
    let list = names_of(item);
    for (name, _) in &list {
        let text = name.to_string();
        let Some(taken) = taken_by(&text) else { continue };
        problems.push(
            Diagnostic::new(
                Code::Attribute,
                locations.of_span(name.span()),
                format!("a device item cannot be called `{text}`"),
            )
            .why(format!("`{text}` is {taken}"))
            .help(format!("{text}_of")),
        );
    }
    list.into_iter().map(|(name, vis)| (name.clone(), vis.clone())).collect()
}

/// The names that an item brings, with their visibilities: its own, or those that its module makes visible. Those of
/// refused items are among them.
fn names_of(item: &syn::Item) -> Vec<(&syn::Ident, &syn::Visibility)> {
    if let syn::Item::Mod(module) = item {
        let content = module.content.as_ref().map_or(&[][..], |(_, items)| items);
        let items = content.iter().filter(|item| !matches!(item, syn::Item::Mod(_)));
        let names = items.filter_map(syntax::declared_name);
        return names.filter(|(_, vis)| !matches!(vis, syn::Visibility::Inherited)).collect();
    }
    // A kernel may have tried the name of a type.
    let tried = !matches!(item, syn::Item::Static(_) | syn::Item::Union(_));
    syntax::declared_name(item).filter(|_| tried).into_iter().collect()
}

/// Why a device item cannot have this name.
fn taken_by(name: &str) -> Option<&'static str> {
    if crate::elaborate::is_builtin(name) {
        Some("a name of the language, which takes precedence inside kernels")
    } else if free::is_std_macro(name) {
        Some(
            "the name of a macro that is visible in every crate, and a device item is also imported as a macro",
        )
    } else {
        None
    }
}

/// What distinguishes an item from all others: the name that messages and macros may show, and a hash of where it stands.
fn id_of(item: &syn::Item, origin: &str) -> String {
    let span = span_of(item);
    let name = name_of(item).map_or(String::new(), ToString::to_string);
    let start = span.start();
    let place = format!("{origin} {} {} {}", span.file(), start.line, start.column);
    // FNV-1a: stable between runs and machines, which std's hasher does not promise.
    let hash = place
        .bytes()
        .chain(quote!(#item).to_string().bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{name}_{hash:016x}")
}

/// A free path as tokens that rustc resolves, with the spans of the user's.
fn path_tokens(path: &FreePath, locations: &Locations) -> TokenStream {
    let mut tokens = TokenStream::new();
    for (index, (name, loc)) in path.segments.iter().enumerate() {
        let span = locations.spans(*loc).0;
        if index > 0 {
            tokens.extend(quote::quote_spanned!(span=> ::));
        }
        let ident = if matches!(name.as_str(), "self" | "super" | "crate" | "Self") {
            syn::Ident::new(name, span)
        } else {
            syn::parse_str::<syn::Ident>(name).map_or_else(
                |_| syn::Ident::new_raw(name, span),
                |mut ident| {
                    ident.set_span(span);
                    ident
                },
            )
        };
        tokens.extend([TokenTree::Ident(ident)]);
    }
    tokens
}

/// The text by which scopes know a path.
fn path_key(path: &TokenStream) -> String {
    path.clone()
        .into_iter()
        .map(|tree| tree.to_string())
        .map(|text| text.strip_prefix("r#").map_or(text.clone(), str::to_owned))
        .collect()
}

/// A device item where it is defined.
struct Definition {
    id: String,
    tokens: TokenStream,
    exports: Vec<(syn::Ident, syn::Visibility)>,
    paths: Vec<TokenStream>,
}

impl Definition {
    fn macros_or_chain(&self) -> TokenStream {
        if self.paths.is_empty() {
            return self.macros(&[]);
        }
        let Definition { id, tokens, exports, paths } = self;
        let exports = exports.iter().map(|(name, vis)| quote!((#name #vis)));
        chain(
            paths,
            &quote!(::kiln::__private::device_finish),
            &quote!(#id { #tokens } [#(#exports)*] [#({#paths})*]),
        )
    }

    /// The macros that hold the bundle, one for each name.
    fn macros(&self, bundles: &[Bundle]) -> TokenStream {
        let uses: Vec<DeviceUse> = self
            .paths
            .iter()
            .zip(bundles)
            .map(|(path, bundle)| DeviceUse {
                path: path_key(path),
                id: bundle.id.clone(),
                export: bundle.export.clone(),
            })
            .collect();
        let own = entry_tokens(&self.id, &self.tokens, &uses);
        let mut known = vec![self.id.clone()];
        let mut entries = vec![own];
        for entry in bundles.iter().flat_map(|bundle| &bundle.entries) {
            if !known.contains(&entry.id) {
                known.push(entry.id.clone());
                let items = &entry.items;
                entries.push(entry_tokens(&entry.id, &quote!(#(#items)*), &entry.uses));
            }
        }
        self.hidden(&entries)
    }

    /// The macros, with these entries; without any they stand for what was refused.
    fn hidden(&self, entries: &[TokenStream]) -> TokenStream {
        let id = &self.id;
        self.exports
            .iter()
            .map(|(name, vis)| {
                let hidden = format_ident!("__kiln_device_{}_{}", name, id);
                let export = name.to_string();
                let public = matches!(vis, syn::Visibility::Public(_)).then(|| quote!(#[macro_export]));
                quote! {
                    #[doc(hidden)]
                    #public
                    macro_rules! #hidden {
                        (@kiln [{$($next:tt)*} $($rest:tt)*] [$($got:tt)*] $state:tt) => {
                            $($next)* ! { @kiln [$($rest)*] [$($got)* { #id #export [#(#entries)*] }] $state }
                        };
                    }
                    #[doc(hidden)]
                    #[allow(unused_imports)]
                    #vis use #hidden as #name;
                }
            })
            .collect()
    }
}

fn entry_tokens(id: &str, items: &TokenStream, uses: &[DeviceUse]) -> TokenStream {
    let uses = uses.iter().map(|one| {
        let DeviceUse { path, id, export } = one;
        quote!((#path #id #export))
    });
    quote!((#id { #items } [#(#uses)*]))
}

/// The call of the first link.
fn chain(paths: &[TokenStream], finish: &TokenStream, state: &TokenStream) -> TokenStream {
    let mut links = paths.iter().chain([finish]);
    let first = links.next().expect("a chain has at least its end");
    let rest = links;
    quote!(#first ! { @kiln [#({#rest})*] [] { #state } })
}

/// A bundle as it arrives.
pub(crate) struct Bundle {
    id: String,
    export: String,
    entries: Vec<Entry>,
}

struct Entry {
    id: String,
    /// The device item, then constants of its file.
    items: Vec<syn::Item>,
    uses: Vec<DeviceUse>,
}

/// Whether something that the bundles use was refused where it is defined: it has a macro, and nothing in it.
pub(crate) fn lacks_refused(devices: &Devices) -> bool {
    let uses = devices.uses.iter().chain(devices.items.iter().flat_map(|item| &item.uses));
    uses.into_iter().any(|one| devices.items.iter().all(|item| item.id != one.id))
}

/// What the last link receives: `@kiln [] [{bundle} ..] { state }`.
struct Chain<S> {
    bundles: Vec<Bundle>,
    state: S,
}

impl<S: Parse> Parse for Chain<S> {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<syn::Token![@]>()?;
        input.parse::<syn::Ident>()?;
        group(input, Delimiter::Bracket)?;
        let bundles = many(input, Delimiter::Bracket, |list| parse_group(list, Delimiter::Brace))?;
        let state = parse_group(input, Delimiter::Brace)?;
        Ok(Chain { bundles, state })
    }
}

impl Parse for Bundle {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Bundle {
            id: text(input)?,
            export: text(input)?,
            entries: many(input, Delimiter::Bracket, |list| {
                parse_group(list, Delimiter::Parenthesis)
            })?,
        })
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Entry {
            id: text(input)?,
            items: parse_group::<syn::File>(input, Delimiter::Brace)?.items,
            uses: many(input, Delimiter::Bracket, |list| {
                parse_group(list, Delimiter::Parenthesis)
            })?,
        })
    }
}

impl Parse for DeviceUse {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(DeviceUse { path: text(input)?, id: text(input)?, export: text(input)? })
    }
}

impl Parse for Definition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let id = text(input)?;
        let tokens = group(input, Delimiter::Brace)?.stream();
        let exports = many(input, Delimiter::Bracket, |list| {
            let one = group(list, Delimiter::Parenthesis)?.stream();
            let parse = |one: ParseStream<'_>| Ok((one.parse()?, one.parse()?));
            syn::parse::Parser::parse2(parse, one)
        })?;
        let paths =
            many(input, Delimiter::Bracket, |list| Ok(group(list, Delimiter::Brace)?.stream()))?;
        Ok(Definition { id, tokens, exports, paths })
    }
}

impl Parse for Waiting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Waiting {
            attr: group(input, Delimiter::Brace)?.stream(),
            item: parse_group(input, Delimiter::Brace)?,
            index: input.parse::<syn::LitInt>()?.base10_parse()?,
            raw: input.parse::<syn::LitBool>()?.value(),
            paths: many(input, Delimiter::Bracket, |list| {
                Ok(group(list, Delimiter::Brace)?.stream())
            })?,
            said: many(input, Delimiter::Bracket, text)?,
            constants: group(input, Delimiter::Brace)?.stream(),
            nowhere: many(input, Delimiter::Bracket, text)?,
        })
    }
}

fn text(input: ParseStream<'_>) -> syn::Result<String> {
    Ok(input.parse::<syn::LitStr>()?.value())
}

/// A group with this delimiter; groups without one, which macros leave around what they pass on, are looked through.
fn group(input: ParseStream<'_>, delimiter: Delimiter) -> syn::Result<Group> {
    let group: Group = input.parse()?;
    if group.delimiter() == delimiter {
        return Ok(group);
    }
    if group.delimiter() == Delimiter::None {
        let inner = |inner: ParseStream<'_>| self::group(inner, delimiter);
        return syn::parse::Parser::parse2(inner, group.stream());
    }
    Err(syn::Error::new(
        group.span(),
        "only what `#[device]` and `#[kernel]` expand to calls this macro",
    ))
}

fn parse_group<T: Parse>(input: ParseStream<'_>, delimiter: Delimiter) -> syn::Result<T> {
    syn::parse2(group(input, delimiter)?.stream())
}

/// Everything in a group, one after the other.
fn many<T>(
    input: ParseStream<'_>,
    delimiter: Delimiter,
    one: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let all = |list: ParseStream<'_>| {
        let mut out = Vec::new();
        while !list.is_empty() {
            out.push(one(list)?);
        }
        Ok(out)
    };
    syn::parse::Parser::parse2(all, group(input, delimiter)?.stream())
}

/// The free paths of a kernel as tokens.
pub(crate) fn paths_of(paths: &[FreePath], locations: &Locations) -> Vec<TokenStream> {
    paths.iter().map(|path| path_tokens(path, locations)).collect()
}

#[cfg(test)]
mod tests;

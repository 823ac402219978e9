//! The attributes `#[kernel]` and `#[device]`: a thin shell over `kernel-core`, and the only part of the compiler that
//! accesses the outside world: the dump folder, the package's Cargo.toml, the file of the kernel, and ptxas.
#![forbid(unsafe_code)]

mod cubin;
mod manifest;
mod surroundings;

use kernel_core::{Options, Output};
use proc_macro::TokenStream;
use std::sync::OnceLock;
use std::time::Instant;

/// Compiles a function, or the marked functions of a module, to PTX while the crate is built.
///
/// See the crate `kiln` for the language, the arguments of the attribute and what it generates.
#[proc_macro_attribute]
pub fn kernel(attr: TokenStream, item: TokenStream) -> TokenStream {
    let folder = std::env::var_os("KILN_DUMP");
    let options = options(folder.is_some());
    let mut tracked = cubin::tracked();
    let mut output = match syn::parse::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(function)) => {
            // A method is refused, and an `impl` takes no items without a name.
            if function.sig.receiver().is_some() {
                tracked = proc_macro2::TokenStream::new();
            }
            let around = surroundings::of("kernel", &function.sig.ident);
            kernel_core::compile_function(named(attr.into()), &function, &around, options)
        }
        Ok(syn::Item::Mod(module)) => {
            let around = surroundings::of("kernel", &module.ident);
            kernel_core::compile_module(&named_alone(attr), &module, &around, options)
        }
        Ok(other) => {
            let item = quote::ToTokens::into_token_stream(other);
            return kernel_core::not_a_kernel("kernel", &item, None).into();
        }
        Err(error) => {
            return kernel_core::not_a_kernel("kernel", &item.into(), Some(&error)).into();
        }
    };
    let errors = errors(&output, folder);
    output.tokens.extend([tracked, errors]);
    output.tokens.into()
}

/// Makes a function, or the items of a module, usable by kernels of other modules and crates.
///
/// See [`kiln::device`](https://docs.rs/kiln-gpu) for what can be shared and how.
#[proc_macro_attribute]
pub fn device(attr: TokenStream, item: TokenStream) -> TokenStream {
    // Functions of one name in different crates are told apart by this.
    let variable = |name| std::env::var(name).unwrap_or_default();
    let origin =
        ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_CRATE_NAME"].map(variable).join(" ");
    match syn::parse::<syn::Item>(item.clone()) {
        Ok(item) => {
            let name = if let syn::Item::Fn(item) = &item {
                Some(&item.sig.ident)
            } else if let syn::Item::Mod(item) = &item {
                Some(&item.ident)
            } else {
                None
            };
            let around = name.map(|name| surroundings::of("device", name)).unwrap_or_default();
            kernel_core::device_item(&named_alone(attr), &item, &around, &origin).into()
        }
        Err(error) => kernel_core::not_a_kernel("device", &item.into(), Some(&error)).into(),
    }
}

fn options(dump: bool) -> Options {
    let threads = std::thread::available_parallelism().ok();
    Options { dump, assemble: cubin::assemble(), threads, clock: Some(nanoseconds) }
}

/// Nanoseconds since the first call.
fn nanoseconds() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The arguments, with the name of the crate if the package has another name for it.
fn named(attr: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    match manifest::name() {
        Some(name) => kernel_core::with_crate(attr, &name),
        None => attr,
    }
}

/// Like [`named`], for an attribute that takes no other arguments: other arguments are reported as they were written.
fn named_alone(attr: TokenStream) -> proc_macro2::TokenStream {
    if attr.is_empty() { named(attr.into()) } else { attr.into() }
}

/// The end of the chain that a `#[device]` item starts if it needs other items.
#[doc(hidden)]
#[proc_macro]
pub fn device_finish(input: TokenStream) -> TokenStream {
    kernel_core::device_finish(input.into()).into()
}

/// The end of the chain that a kernel with device items starts.
#[doc(hidden)]
#[proc_macro]
pub fn kernel_finish(input: TokenStream) -> TokenStream {
    let folder = std::env::var_os("KILN_DUMP");
    let options = options(folder.is_some());
    let output = kernel_core::kernel_finish(input.into(), options);
    let errors = errors(&output, folder);
    let tokens = output.tokens;
    if errors.is_empty() {
        return tokens.into();
    }
    // The place wants one expression.
    quote::quote!({ #errors #tokens }).into()
}

/// Writes the dumps; returns the failures in doing so and in making machine code.
fn errors(output: &Output, folder: Option<std::ffi::OsString>) -> proc_macro2::TokenStream {
    let mut messages = output.failures.clone();
    if let Some(folder) = folder
        && let Err(error) = write(std::path::Path::new(&folder), &output.dumps)
    {
        messages.push(format!("KILN_DUMP: {} cannot be written: {error}", folder.display()));
    }
    let span = proc_macro2::Span::call_site();
    messages.into_iter().map(|message| syn::Error::new(span, message).to_compile_error()).collect()
}

fn write(folder: &std::path::Path, dumps: &[(String, String)]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // Files of different crates may have one name.
    let within = std::env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "crate".to_owned());
    dumps
        .iter()
        .try_for_each(|(name, text)| std::fs::write(folder.join(format!("{within}-{name}")), text))
}

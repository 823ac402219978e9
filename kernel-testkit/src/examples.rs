//! The kernels of the examples, compiled as file tests are.

use std::{path::Path, sync::OnceLock};

use quote::ToTokens;

use crate::{FileTest, file_test::retargeted};

/// A kernel of an example. It is compiled once, when it is first asked for.
#[derive(Debug)]
pub struct Example {
    /// The example's name.
    pub example: String,
    /// The function, or the module that it is in; both where the module has others.
    pub kernel: String,
    text: String,
    compiled: OnceLock<FileTest>,
}

impl Example {
    /// Every instance of the kernel, compiled; what the compiler says where the kernel needs items of a library of its own, which
    /// rustc would bring.
    pub fn compiled(&self) -> &FileTest {
        self.compiled.get_or_init(|| {
            // A file test says what runs it.
            let text = format!("//@ run: emulate\n{}", self.text);
            FileTest::of(&self.name(), &text)
        })
    }

    /// Every instance of the kernel, compiled for another target than it names.
    pub fn for_target(&self, target: &str) -> FileTest {
        let text = format!("//@ run: emulate\n{}", retargeted(&self.text, target));
        FileTest::of(&format!("{}-{target}", self.name()), &text)
    }

    /// Whether the kernel names a target.
    pub fn names(&self, target: &str) -> bool {
        self.text.contains(target)
    }

    /// Whether the tensor cores write registers: what `dot` does on Blackwell, by `mma.sync`, whose loop no shape of a tile decides.
    pub fn multiplies_in_registers(&self) -> bool {
        self.text.contains(" dot (")
    }

    /// Whether the kernel uses items of another crate, which rustc would bring: those of `examples/device-library`.
    pub fn needs_library(&self) -> bool {
        self.example == "device_library"
    }

    /// What [`crate::record`] calls it.
    pub fn in_records(&self) -> String {
        format!("examples/{}", self.name())
    }

    /// The example and the kernel.
    pub fn name(&self) -> String {
        format!("{}/{}", self.example, self.kernel)
    }
}

/// The kernels of the examples in a folder, by example and place.
///
/// # Errors
/// A folder or a file that cannot be read, or is not Rust.
pub fn all(folder: &Path) -> Result<Vec<Example>, String> {
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    let mut kernels = Vec::new();
    for path in files {
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| said(&error))?;
        let file = syn::parse_file(&text).map_err(|error| said(&error))?;
        let example = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for item in file.items {
            for (kernel, item) in alone(item) {
                kernels.push(Example {
                    example: example.clone(),
                    kernel,
                    text: item.to_token_stream().to_string(),
                    compiled: OnceLock::new(),
                });
            }
        }
    }
    Ok(kernels)
}

fn is_kernel(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "kernel"))
}

/// The kernels of an item, named, each as if there were no other; none where the item is something else.
#[expect(clippy::wildcard_enum_match_arm, reason = "kernels are functions and modules")]
fn alone(item: syn::Item) -> Vec<(String, syn::Item)> {
    let module = match item {
        syn::Item::Fn(function) if is_kernel(&function.attrs) => {
            return vec![(function.sig.ident.to_string(), syn::Item::Fn(function))];
        }
        syn::Item::Mod(module) if is_kernel(&module.attrs) => module,
        _ => return Vec::new(),
    };
    let kernel = |item: &syn::Item| match item {
        syn::Item::Fn(function) if is_kernel(&function.attrs) => Some(function.sig.ident.clone()),
        _ => None,
    };
    let items = module.content.iter().flat_map(|(_, items)| items);
    let names: Vec<_> = items.filter_map(kernel).collect();
    if names.len() < 2 {
        return vec![(module.ident.to_string(), syn::Item::Mod(module))];
    }
    let only = |name: &syn::Ident| {
        let mut module = module.clone();
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| kernel(item).is_none_or(|other| other == *name));
        }
        (format!("{}::{name}", module.ident), syn::Item::Mod(module))
    };
    names.iter().map(only).collect()
}

//! Does nothing, and needs nothing, unless the feature `driver-bindgen` is on.
//!
//! With it, the few items of the driver's interface that change between toolkits are generated from the installed
//! `cuda.h`: tensor maps, launch attributes, results. libclang has to be installed (`LIBCLANG_PATH` says where),
//! and `KILN_CUDA_INCLUDE`, `CUDA_HOME` or a virtual environment with the Python package `nvidia-cuda-runtime` leads
//! to the header.

#![forbid(unsafe_code)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "driver-bindgen")]
    if let Err(reason) = driver::generate() {
        println!("cargo::error=driver-bindgen: {reason}");
    }
}

#[cfg(feature = "driver-bindgen")]
mod driver {
    use std::{
        env,
        path::{Path, PathBuf},
    };

    /// What is generated; types that these mention come along. A change here has a line in `tests/driver_bindgen.rs`.
    const TYPES: [&str; 10] = [
        "CUlaunchAttribute",
        "CUlaunchConfig",
        "CUresult",
        "CUtensorMap",
        "CUtensorMapDataType",
        "CUtensorMapFloatOOBfill",
        "CUtensorMapInterleave",
        "CUtensorMapL2promotion",
        "CUtensorMapSwizzle",
        // The functions themselves are loaded at run time: only their types are needed.
        "PFN_(cuTensorMapEncodeTiled_v12000|cuLaunchKernelEx_v11060)",
    ];

    /// Writes `driver_bindgen.rs` into cargo's folder for generated files.
    pub(super) fn generate() -> Result<(), String> {
        let include = include()?;
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
        let mut builder = bindgen::Builder::default()
            // It includes cuda.h, and gives the types of its functions names.
            .header(include.join("cudaTypedefs.h").display().to_string())
            .clang_arg(format!("-I{}", include.display()))
            .allowlist_var("CUDA_VERSION")
            // A later driver may return values that the header lacks: an enum of Rust could not hold them.
            .default_enum_style(bindgen::EnumVariation::NewType {
                is_bitfield: false,
                is_global: false,
            })
            .prepend_enum_name(false)
            .use_core()
            .generate_comments(false)
            .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()));
        for name in TYPES {
            builder = builder.allowlist_type(name);
        }
        let bindings = builder.generate().map_err(|error| error.to_string())?;
        let file = out.join("driver_bindgen.rs");
        bindings.write_to_file(&file).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The folder of `cuda.h`.
    fn include() -> Result<PathBuf, String> {
        let mut tried = Vec::new();
        let folder = |name: &str| {
            println!("cargo::rerun-if-env-changed={name}");
            env::var_os(name).map(PathBuf::from)
        };
        if let Some(folder) = folder("KILN_CUDA_INCLUDE") {
            tried.push(folder);
        } else {
            tried.extend(folder("CUDA_HOME").map(|home| home.join("include")));
            tried.extend(folder("VIRTUAL_ENV").iter().flat_map(|folder| packages(folder)));
            tried.push(PathBuf::from("/usr/local/cuda/include"));
        }
        let has_header = |folder: &&PathBuf| folder.join("cudaTypedefs.h").is_file();
        let found = tried.iter().find(has_header).cloned();
        found.ok_or_else(|| {
            let tried: Vec<String> =
                tried.iter().map(|folder| folder.display().to_string()).collect();
            format!("no cuda.h in {}; KILN_CUDA_INCLUDE can name its folder", tried.join(", "))
        })
    }

    /// The folders where `nvidia-cuda-runtime` puts its headers: `nvidia/cu13/include` since CUDA 13, before that
    /// `nvidia/cuda_runtime/include`.
    fn packages(environment: &Path) -> Vec<PathBuf> {
        let below = |folder: PathBuf| {
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            paths
        };
        below(environment.join("lib"))
            .into_iter()
            .flat_map(|python| below(python.join("site-packages/nvidia")))
            .map(|package| package.join("include"))
            .collect()
    }
}

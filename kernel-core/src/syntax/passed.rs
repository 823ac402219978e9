//! Types of Rust that a kernel is not given: why not, and what a kernel takes instead.

use syn::{GenericArgument, PathArguments, Type};

use super::{PARAMETER_TYPES, written};
use crate::{
    diag::{Code, Diagnostic},
    ir::Dtype,
    loc::Loc,
};

const OF_HOST: &str = "memory of the host means nothing on the device: the host copies the numbers into a tensor, which knows its extents";

const OF_OTHERS: &str = "a launch passes memory of the device with its extents and strides: the host makes a tensor of it";

/// Types of other libraries for numbers on a device, and for arrays.
const TENSORS: [&str; 12] = [
    "CudaSlice",
    "CudaView",
    "CudaViewMut",
    "DeviceSlice",
    "DeviceBuffer",
    "DevicePtr",
    "DevicePointer",
    "CUdeviceptr",
    "ArrayView",
    "ArrayViewMut",
    "ArrayD",
    "ArrayBase",
];

/// What holds values of one type, on the host's heap.
const OF_HEAP: [&str; 8] = ["Vec", "Box", "Rc", "Arc", "VecDeque", "Cow", "Mutex", "RefCell"];

/// A kernel takes something else than a type of this text.
pub(crate) fn refused(text: &str, loc: Loc) -> Diagnostic {
    let diagnostic = Code::Parameter.at(loc, format!("`{text}` cannot be passed to a kernel"));
    let found = syn::parse_str::<Type>(text).ok().and_then(|ty| instead(&ty));
    let Some((why, help)) = found else {
        return diagnostic.why(PARAMETER_TYPES).help("Tensor<f32, 1>");
    };
    match help {
        Some(help) => {
            let what = if help.starts_with("Tensor") {
                "a tensor"
            } else if help.starts_with("Ptr") {
                "an address of the device"
            } else {
                "a number"
            };
            diagnostic.compare("", format!("{what}: `{help}`"), format!("`{text}`"))
        }
        .why(why)
        .help(help),
        None => {
            diagnostic.compare("", "a tensor, a pointer or a number", format!("`{text}`")).why(why)
        }
    }
}

/// Whether a type of this name holds values on the host's heap.
pub(super) fn is_heap(ty: &Type) -> bool {
    last(ty).is_some_and(|name| OF_HEAP.contains(&name.as_str()))
}

/// Whether a type of this name holds numbers on a device in another library.
pub(crate) fn is_foreign_tensor(name: &str) -> bool {
    TENSORS.contains(&name)
}

/// Why a type is none of a parameter, and the type that is meant.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other type gets the plainest message")]
fn instead(ty: &Type) -> Option<(&'static str, Option<String>)> {
    if let Some(name) = last(ty)
        && matches!(name.as_str(), "String" | "str" | "char" | "CStr" | "CString")
    {
        return Some((
            "the device has no strings: a number says which of several things is meant, or `instances(..)` chooses when the kernel is compiled",
            Some("i32".to_owned()),
        ));
    }
    match ty {
        Type::Reference(reference) => {
            if last(&reference.elem).is_some_and(|name| matches!(name.as_str(), "str" | "String")) {
                return instead(&reference.elem);
            }
            let (elem, rank) = elements(&reference.elem)?;
            Some((OF_HOST, Some(tensor(&elem, rank, reference.mutability.is_some()))))
        }
        Type::Ptr(pointer) => {
            if last(&pointer.elem).is_some_and(|name| name.starts_with("Tensor")) {
                return Some((OF_HOST, Some(written(&pointer.elem))));
            }
            let mutable = matches!(pointer.mutability, syn::PointerMutability::Mut(_));
            Some((
                "a pointer of Rust is an address of the host; a tensor is an address of the device with extents that each access is held to (`Ptr<T>` is the address alone)",
                Some(tensor(&number(&pointer.elem)?, 1, mutable)),
            ))
        }
        Type::Slice(_) => {
            let (elem, rank) = elements(ty)?;
            Some((OF_HOST, Some(tensor(&elem, rank, false))))
        }
        Type::Path(_) => {
            let name = last(ty)?;
            if OF_HEAP.contains(&name.as_str()) || TENSORS.contains(&name.as_str()) {
                if argument(ty).and_then(last).is_some_and(|name| name.starts_with("Tensor")) {
                    return Some((OF_HOST, Some(written(argument(ty)?))));
                }
                let (elem, rank) = elements(ty)?;
                let why = if TENSORS.contains(&name.as_str()) { OF_OTHERS } else { OF_HOST };
                return Some((why, Some(tensor(&elem, rank, name.ends_with("Mut")))));
            }
            let elem = || argument(ty).and_then(number).unwrap_or_else(|| "f32".to_owned());
            match name.as_str() {
                "Tile" => Some((
                    "a tile is in the registers of a block while the kernel runs; the kernel loads it from a tensor",
                    Some(tensor(&elem(), 1, false)),
                )),
                "Shared" | "Tmem" | "Barrier" | "Barriers" => Some((
                    "it is there while a block runs, and the kernel makes it: `shared::<f32>([64, 64])`, `barrier(1)`",
                    Some(tensor(&elem(), 1, false)),
                )),
                "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" => Some((
                    "the device has no heap: the host passes what it holds as tensors",
                    Some(tensor(&elem(), 1, false)),
                )),
                _ => None,
            }
        }
        Type::Tuple(tuple) if tuple.elems.is_empty() => {
            Some(("there is nothing to pass: the parameter is left out", None))
        }
        Type::Tuple(_) => Some((
            "each argument of a launch has a name: the parts are parameters of their own, or the fields of a struct in a `#[kernel] mod`",
            None,
        )),
        Type::FnPtr(_) | Type::ImplTrait(_) | Type::TraitObject(_) => Some((
            "code for the device is compiled with the kernel: a `#[device]` function is called by its name, and a number or an instance chooses among several",
            Some("i32".to_owned()),
        )),
        _ => None,
    }
}

/// The last name of a path.
fn last(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

/// The first type argument.
fn argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(args) = &path.path.segments.last()?.arguments else {
        return None;
    };
    args.args.iter().find_map(
        |arg| {
            if let GenericArgument::Type(ty) = arg { Some(ty) } else { None }
        },
    )
}

/// The type of numbers in arrays of arrays, and how deep they are.
fn elements(ty: &Type) -> Option<(String, usize)> {
    let inner = if let Type::Slice(slice) = ty {
        Some(&*slice.elem)
    } else if let Type::Array(array) = ty {
        Some(&*array.elem)
    } else {
        let holds =
            |name: String| OF_HEAP.contains(&name.as_str()) || TENSORS.contains(&name.as_str());
        last(ty).is_some_and(holds).then(|| argument(ty)).flatten()
    };
    match inner {
        Some(inner) => {
            let (elem, rank) = elements(inner)?;
            // A box of a slice is the slice.
            let same =
                matches!(ty, Type::Path(_)) && matches!(inner, Type::Slice(_) | Type::Array(_));
            let same = same && last(ty).is_some_and(|name| name != "Vec");
            Some((elem, if same { rank } else { rank + 1 }))
        }
        None if last(ty).is_some_and(|name| TENSORS.contains(&name.as_str())) => {
            Some(("f32".to_owned(), 1))
        }
        None => Some((number(ty)?, 0)),
    }
}

/// The type of a number as kernels have it: a type parameter by its name.
fn number(ty: &Type) -> Option<String> {
    let name = last(ty)?;
    Some(match name.as_str() {
        "usize" => "u64".to_owned(),
        "isize" => "i64".to_owned(),
        "c_void" => "u8".to_owned(),
        "c_float" => "f32".to_owned(),
        "c_int" => "i32".to_owned(),
        _ if Dtype::from_name(&name).is_some() || name.len() == 1 => name,
        _ => return None,
    })
}

fn tensor(elem: &str, rank: usize, mutable: bool) -> String {
    let name = if mutable { "TensorMut" } else { "Tensor" };
    format!("{name}<{elem}, {}>", rank.clamp(1, 5))
}

//! The launch description: one kernel of a PTX file, its arguments, and what it must compute.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::dtype::{Dtype, Number};
use crate::field::{Field, FieldError, quote_special_numbers};
use crate::fill::{Init, Places};

mod map;
mod read;

pub use map::{Copied, Pixels, TensorMap};

/// Why a launch description cannot be used.
#[derive(Debug)]
pub enum LaunchError {
    /// A file cannot be read.
    Read {
        /// The field that names it, unless it is the description itself.
        field: Option<String>,
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The description is not JSON.
    Json {
        /// The file.
        file: PathBuf,
        /// What the parser says, with line and column.
        error: serde_json::Error,
    },
    /// A field is missing or has the wrong kind of value.
    Field {
        /// The file.
        file: PathBuf,
        /// The field, and what is wrong with it.
        error: FieldError,
    },
}

impl std::fmt::Display for LaunchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LaunchError::Read { field: None, file, error } => {
                write!(f, "cannot read {}: {error}", file.display())
            }
            LaunchError::Read { field: Some(field), file, error } => {
                write!(f, "cannot read {}, which field `{field}` names: {error}", file.display())
            }
            LaunchError::Json { file, error } => {
                write!(f, "{} is not JSON: {error}", file.display())
            }
            LaunchError::Field { file, error } => write!(f, "{}: {error}", file.display()),
        }
    }
}

impl std::error::Error for LaunchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LaunchError::Read { error, .. } => Some(error),
            LaunchError::Json { error, .. } => Some(error),
            LaunchError::Field { error, .. } => Some(error),
        }
    }
}

/// A launch of one kernel, and its cases.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The file that describes it.
    pub file: PathBuf,
    /// Its name, which output files begin with; the file's own without one.
    pub name: String,
    /// The PTX file.
    pub ptx_file: PathBuf,
    /// The PTX text.
    pub ptx: String,
    /// The symbol of the kernel.
    pub entry: String,
    /// The device to run on, where the description gives it; the PTX's own target without it.
    pub target: Option<String>,
    /// Blocks, along x, y and z; multiples of the cluster's.
    pub grid: [u32; 3],
    /// Blocks of a cluster, along x, y and z.
    pub cluster: [u32; 3],
    /// Threads of a block, along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// The buffers, by name.
    pub buffers: Vec<Buffer>,
    /// The cases; one without expectations where the description has none.
    pub cases: Vec<Case>,
}

/// A parameter of the kernel.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name in the description.
    pub name: String,
    /// Its place in the parameter block, where the description gives it.
    pub offset: Option<u32>,
    /// Its size, where the description gives it.
    pub size_bytes: Option<u32>,
    /// What is passed.
    pub argument: Argument,
}

/// What is passed for a parameter.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The address of a buffer.
    Pointer {
        /// The buffer, as an index into [`Launch::buffers`].
        buffer: usize,
    },
    /// A number.
    Scalar {
        /// Its type.
        dtype: Dtype,
        /// The storage bits that a case does not replace.
        bits: Option<u64>,
        /// The name under which a case replaces it.
        case_var: Option<String>,
    },
    /// A tensor map, by value.
    TensorMap(Box<TensorMap>),
    /// Memory that the kernel may use as it likes; address 0 where it needs none.
    Scratch {
        /// Bytes for each block of the grid.
        bytes_per_cta: u64,
        /// Alignment of the whole.
        align: u64,
    },
}

/// What a kernel does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It reads it.
    In,
    /// It writes it.
    Out,
    /// Both.
    InOut,
}

/// A buffer in device memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Where its elements are.
    pub places: Places,
    /// Its size.
    pub bytes: usize,
    /// Alignment of its address.
    pub align: u64,
    /// What the kernel does with it.
    pub role: Role,
    /// What it holds before the launch; without it, it counts as never written.
    pub init: Option<Init>,
    /// The digest of that, in hexadecimal.
    pub init_sha256: Option<String>,
}

/// One launch with fresh buffers.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Scalars that it replaces: name and value.
    pub scalars: Vec<(String, Number)>,
    /// What buffers must hold afterwards.
    pub expected: Vec<Expected>,
}

/// What a buffer must hold.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The buffer, as an index into [`Launch::buffers`].
    pub buffer: usize,
    /// How exactly.
    pub tolerance: Tolerance,
    /// The digest of the whole buffer, in hexadecimal.
    pub sha256: Option<String>,
    /// Some elements: row-major index and value.
    pub samples: Vec<(usize, Number)>,
}

/// How far an element may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Not at all, to the sign of a zero; the payload of a NaN carries no meaning.
    BitExact,
    /// By `atol + rtol * |required|`; the zeros are equal.
    Within {
        /// The absolute part.
        atol: f64,
        /// The part relative to the required value.
        rtol: f64,
    },
}

impl Launch {
    /// Reads a description and the files that it names; paths in it are relative to its folder.
    ///
    /// # Errors
    /// When a file cannot be read, or a field is missing or makes no sense.
    pub fn read(file: &Path) -> Result<Launch, LaunchError> {
        read::Source { file }.launch(&Field::root(&json(file)?))
    }

    /// The name of a launch whose description cannot be read as a whole; `None` where not even that is there.
    pub fn name_of(file: &Path) -> Option<String> {
        read::name(&Field::root(&json(file).ok()?), file).ok()
    }
}

/// The description as JSON.
fn json(file: &Path) -> Result<Value, LaunchError> {
    let text = fs::read_to_string(file).map_err(|error| LaunchError::Read {
        field: None,
        file: file.to_owned(),
        error,
    })?;
    serde_json::from_str(&quote_special_numbers(&text))
        .map_err(|error| LaunchError::Json { file: file.to_owned(), error })
}

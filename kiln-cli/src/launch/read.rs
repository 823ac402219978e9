//! Reading a launch description field by field.

use std::fs;
use std::path::{Path, PathBuf};

use super::{
    Argument, Buffer, Case, Expected, Launch, LaunchError, Param, Role, TensorMap, Tolerance,
};
use crate::dtype::{Dtype, Number};
use crate::field::{Field, FieldError};
use crate::fill::{Init, Places};

/// The file that is being read.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a Path,
}

impl Source<'_> {
    pub(super) fn launch(self, root: &Field<'_>) -> Result<Launch, LaunchError> {
        self.name(schema(root))?;
        let ptx = root.get("ptx").and_then(|field| Ok((field.text()?, field)));
        let (ptx_name, ptx_field) = self.name(ptx)?;
        let ptx_file = self.beside(ptx_name);
        let ptx = String::from_utf8(Source::contents(&ptx_file, &ptx_field)?)
            .map_err(|_| self.wrong(ptx_field.error("the file is not UTF-8 text")))?;
        let buffers = self.buffers(root)?;
        let shape = self.name(shape(root))?;
        let params = self.name(params(root, &buffers))?;
        let target = root
            .optional("target")
            .and_then(|field| field.map(|field| field.text().map(str::to_owned)).transpose());
        Ok(Launch {
            file: self.file.to_owned(),
            name: self.name(name(root, self.file))?,
            ptx_file,
            ptx,
            entry: self.name(root.get("entry").and_then(|field| Ok(field.text()?.to_owned())))?,
            grid: shape.grid,
            cluster: shape.cluster,
            block: shape.block,
            dynamic_shared_bytes: shape.dynamic_shared_bytes,
            target: self.name(target)?,
            cases: self.name(cases(root, &buffers, &params))?,
            params,
            buffers,
        })
    }

    /// Adds the file to a field's error.
    fn name<T>(self, result: Result<T, FieldError>) -> Result<T, LaunchError> {
        result.map_err(|error| self.wrong(error))
    }

    fn wrong(self, error: FieldError) -> LaunchError {
        LaunchError::Field { file: self.file.to_owned(), error }
    }

    fn beside(self, name: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(name)
    }

    fn contents(file: &Path, field: &Field<'_>) -> Result<Vec<u8>, LaunchError> {
        fs::read(file).map_err(|error| LaunchError::Read {
            field: Some(field.error("").field),
            file: file.to_owned(),
            error,
        })
    }

    fn buffers(self, root: &Field<'_>) -> Result<Vec<Buffer>, LaunchError> {
        let Some(field) = self.name(root.optional("buffers"))? else { return Ok(Vec::new()) };
        self.name(field.members())?
            .into_iter()
            .map(|(name, field)| self.buffer(name, &field))
            .collect()
    }

    fn buffer(self, name: &str, field: &Field<'_>) -> Result<Buffer, LaunchError> {
        let mut buffer = self.name(storage(name, field))?;
        let Some(init) = self.name(field.optional("init"))? else {
            if buffer.role == Role::Out {
                return Ok(buffer);
            }
            return Err(self.wrong(field.error("a buffer that is read needs `init`")));
        };
        let kind = self.name(init.get("kind").and_then(|kind| Ok((kind.text()?, kind))))?;
        buffer.init = Some(if let ("file", _) = kind {
            let path = self.name(init.get("path"))?;
            let file = self.beside(self.name(path.text())?);
            let data = Source::contents(&file, &path)?;
            if data.len() != buffer.bytes {
                return Err(self.wrong(path.error(format!(
                    "required a file of {} bytes, actual {}",
                    buffer.bytes,
                    data.len()
                ))));
            }
            Init::Raw(data)
        } else {
            self.name(generator(kind.0, &kind.1, &init, &buffer))?
        });
        Ok(buffer)
    }
}

/// The version of the file format, where it is given.
fn schema(root: &Field<'_>) -> Result<(), FieldError> {
    match root.optional("schema")? {
        Some(field) if field.integer(1, 1).is_err() => Err(field.mismatch("1")),
        Some(_) | None => Ok(()),
    }
}

/// The name of the launch.
pub(super) fn name(root: &Field<'_>, file: &Path) -> Result<String, FieldError> {
    let Some(field) = root.optional("name")? else {
        let stem = file.file_stem().unwrap_or(file.as_os_str());
        return Ok(stem.to_string_lossy().into_owned());
    };
    plain_name(field.text()?, &field)
}

/// A name that becomes a part of a file name.
fn plain_name(name: &str, field: &Field<'_>) -> Result<String, FieldError> {
    if name.is_empty() || name.contains(['/', '\\', '\0', '\n']) {
        return Err(field.error(format!(
            "required a name without `/`, `\\` and line ends, as files are named after it, actual {name:?}"
        )));
    }
    Ok(name.to_owned())
}

struct Shape {
    grid: [u32; 3],
    cluster: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
}

fn shape(root: &Field<'_>) -> Result<Shape, FieldError> {
    let launch = root.get("launch")?;
    Ok(Shape {
        grid: extents(&launch.get("grid")?)?,
        cluster: launch.optional("cluster")?.map_or(Ok([1; 3]), |field| extents(&field))?,
        block: extents(&launch.get("block")?)?,
        dynamic_shared_bytes: launch
            .optional("dynamic_shared_bytes")?
            .map_or(Ok(0), |field| field.integer(0, u32::MAX))?,
    })
}

/// One to three sizes; those left out are 1.
fn extents(field: &Field<'_>) -> Result<[u32; 3], FieldError> {
    let sizes = field.integers(1, u32::MAX)?;
    let mut extents = [1; 3];
    if sizes.is_empty() || sizes.len() > extents.len() {
        return Err(field.error(format!("required 1 to 3 sizes, actual {}", sizes.len())));
    }
    extents[..sizes.len()].copy_from_slice(&sizes);
    Ok(extents)
}

fn dtype(field: &Field<'_>) -> Result<Dtype, FieldError> {
    let name = field.text()?;
    Dtype::named(name).ok_or_else(|| {
        let names = Dtype::ALL.map(Dtype::name).join(", ");
        field.error(format!("required one of {names}, actual {name:?}"))
    })
}

fn alignment(field: &Field<'_>) -> Result<u64, FieldError> {
    let align = field.integer(1, 1_u64 << 30)?;
    if align.is_power_of_two() {
        return Ok(align);
    }
    Err(field.error(format!("required a power of two, actual {align}")))
}

fn digest(field: &Field<'_>) -> Result<String, FieldError> {
    let text = field.text()?;
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err(field.error(format!("required a SHA-256 of 64 hexadecimal digits, actual {text:?}")))
}

/// A buffer without its contents.
fn storage(name: &str, field: &Field<'_>) -> Result<Buffer, FieldError> {
    // Far above what a launch can work through here; a slip in a size must not take all of the memory.
    const MOST_BYTES: u64 = 1 << 33;
    let name = plain_name(name, field)?;
    let dtype = dtype(&field.get("dtype")?)?;
    let size = dtype.bytes() as u64;
    let shape = field.get("shape")?.integers(0, MOST_BYTES)?;
    let strides = field.optional("strides")?;
    let strides_given =
        strides.as_ref().map(|strides| strides.integers(0, MOST_BYTES)).transpose()?;
    let dense = shape.iter().try_fold(size, |bytes, &extent| bytes.checked_mul(extent));
    let bytes_field = field.optional("bytes")?;
    let bytes = match (&bytes_field, dense) {
        (Some(bytes), _) => bytes.integer(0, MOST_BYTES)?,
        (None, Some(dense)) if strides.is_none() && dense <= MOST_BYTES => dense,
        (None, _) => return Err(field.error("`bytes` is required beside `strides`")),
    };
    if !bytes.is_multiple_of(size) {
        let at = bytes_field.as_ref().unwrap_or(field);
        return Err(at.error(format!("required a multiple of {size}, actual {bytes}")));
    }
    let places = Places::new(shape, strides_given, bytes / size)
        .map_err(|problem| strides.as_ref().unwrap_or(field).error(problem))?;
    let role = field.get("role")?;
    Ok(Buffer {
        name,
        dtype,
        places,
        bytes: usize::try_from(bytes)
            .map_err(|_| field.error("larger than this machine's memory"))?,
        align: field.optional("align")?.map_or(Ok(256), |align| alignment(&align))?,
        role: match role.text()? {
            "in" => Role::In,
            "out" => Role::Out,
            "inout" => Role::InOut,
            other => {
                let problem = format!("required \"in\", \"out\" or \"inout\", actual {other:?}");
                return Err(role.error(problem));
            }
        },
        init: None,
        init_sha256: field.optional("init_sha256")?.map(|field| digest(&field)).transpose()?,
    })
}

/// A generated buffer.
fn generator(
    kind: &str,
    kind_field: &Field<'_>,
    init: &Field<'_>,
    buffer: &Buffer,
) -> Result<Init, FieldError> {
    // Seeds wrap, as everything in the hash does.
    let seed = || {
        let seed: i64 = init.get("seed")?.integer(i64::MIN, i64::MAX)?;
        Ok::<u32, FieldError>(u32::try_from(seed.rem_euclid(1 << 32)).expect("below 2^32"))
    };
    match kind {
        "int_range" => {
            let bound = |name: &str| init.get(name)?.integer(i64::MIN, i64::MAX);
            let (lo, hi) = (bound("lo")?, bound("hi")?);
            if lo > hi {
                return Err(init.error(format!("required `lo` <= `hi`, actual {lo} and {hi}")));
            }
            let scale = init.optional("scale")?.map(|field| field.finite()).transpose()?;
            Ok(Init::IntRange { seed: seed()?, lo, hi, scale })
        }
        "raw_choice" => {
            let field = init.get("codes")?;
            let codes = field.integers(0, buffer.dtype.mask())?;
            if codes.is_empty() {
                return Err(field.error("required at least one code, actual none"));
            }
            Ok(Init::RawChoice { seed: seed()?, codes })
        }
        "uniform" => Ok(Init::Uniform {
            seed: seed()?,
            lo: init.get("lo")?.finite()?,
            hi: init.get("hi")?.finite()?,
        }),
        "values" => {
            let field = init.get("values")?;
            let values: Vec<Number> =
                field.elements()?.iter().map(Field::number).collect::<Result<_, _>>()?;
            let required = buffer.places.len();
            if values.len() != required {
                let problem = format!("required {required} numbers, actual {}", values.len());
                return Err(field.error(problem));
            }
            Ok(Init::Values(values))
        }
        "zeros" => Ok(Init::Bytes(0)),
        "fill_byte" => Ok(Init::Bytes(init.get("byte")?.integer(0, u8::MAX)?)),
        other => Err(kind_field.error(format!(
            "required int_range, raw_choice, uniform, values, zeros, fill_byte or file, actual {other:?}"
        ))),
    }
}

fn params(root: &Field<'_>, buffers: &[Buffer]) -> Result<Vec<Param>, FieldError> {
    let Some(field) = root.optional("params")? else { return Ok(Vec::new()) };
    let small =
        |field: Option<Field<'_>>| field.map(|field| field.integer(0, 1_u32 << 20)).transpose();
    field
        .elements()?
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let name = field.optional("name")?;
            Ok(Param {
                name: name
                    .map_or_else(|| Ok(index.to_string()), |name| name.text().map(str::to_owned))?,
                offset: small(field.optional("offset")?)?,
                size_bytes: small(field.optional("size")?)?,
                argument: argument(field, buffers)?,
            })
        })
        .collect()
}

fn argument(field: &Field<'_>, buffers: &[Buffer]) -> Result<Argument, FieldError> {
    let kind = field.get("kind")?;
    match kind.text()? {
        "pointer" => {
            Ok(Argument::Pointer { buffer: buffer_index(&field.get("buffer")?, buffers)? })
        }
        "tensormap" => {
            Ok(Argument::TensorMap(Box::new(TensorMap::read(&field.get("map")?, buffers)?)))
        }
        "global_scratch" | "profile_scratch" => Ok(Argument::Scratch {
            bytes_per_cta: field.optional("bytes_per_cta")?.map_or(Ok(0), |field| field.size())?,
            align: field.optional("scratch_align")?.map_or(Ok(1), |field| alignment(&field))?,
        }),
        name => {
            let Some(dtype) = Dtype::named(name) else {
                let scalars = Dtype::ALL.map(Dtype::name).join(", ");
                return Err(kind.error(format!(
                    "required pointer, tensormap, global_scratch, profile_scratch or a scalar ({scalars}), actual {name:?}"
                )));
            };
            let case_var = field.optional("case_var")?;
            let case_var = case_var.map(|field| field.text().map(str::to_owned)).transpose()?;
            let value = field.optional("value")?;
            if value.is_none() && case_var.is_none() {
                return Err(field.error("a scalar needs `value` or `case_var`"));
            }
            let bits = value.map(|value| scalar(dtype, value.number()?, &value)).transpose()?;
            Ok(Argument::Scalar { dtype, bits, case_var })
        }
    }
}

/// The bits of a scalar.
fn scalar(dtype: Dtype, value: Number, field: &Field<'_>) -> Result<u64, FieldError> {
    dtype.encode(value).ok_or_else(|| {
        field.error(format!("required a number that {} can hold, actual {value}", dtype.name()))
    })
}

/// The buffer that a field names.
fn buffer_index(field: &Field<'_>, buffers: &[Buffer]) -> Result<usize, FieldError> {
    named_buffer(field.text()?, field, buffers)
}

pub(super) fn named_buffer(
    name: &str,
    field: &Field<'_>,
    buffers: &[Buffer],
) -> Result<usize, FieldError> {
    buffers
        .iter()
        .position(|buffer| buffer.name == name)
        .ok_or_else(|| field.error(format!("there is no buffer `{name}`")))
}

fn cases(root: &Field<'_>, buffers: &[Buffer], params: &[Param]) -> Result<Vec<Case>, FieldError> {
    let Some(field) = root.optional("cases")? else { return Ok(vec![Case::default()]) };
    let cases = field.elements()?;
    if cases.is_empty() {
        return Ok(vec![Case::default()]);
    }
    cases
        .iter()
        .map(|case| {
            let scalars = case.optional("scalars")?;
            let scalars = scalars.map_or_else(|| Ok(Vec::new()), |field| field.members())?;
            let expected = case.optional("expected")?;
            let expected = expected.map_or_else(|| Ok(Vec::new()), |field| field.members())?;
            Ok(Case {
                scalars: scalars
                    .into_iter()
                    .map(|(name, value)| Ok((case_var(name, &value, params)?, value.number()?)))
                    .collect::<Result<_, FieldError>>()?,
                expected: expected
                    .into_iter()
                    .map(|(name, field)| expectation(name, &field, buffers))
                    .collect::<Result<_, FieldError>>()?,
            })
        })
        .collect()
}

/// The name of a scalar that a case replaces.
fn case_var(name: &str, field: &Field<'_>, params: &[Param]) -> Result<String, FieldError> {
    let vars = params.iter().filter_map(|param| match &param.argument {
        Argument::Scalar { case_var, .. } => case_var.as_deref(),
        Argument::Pointer { .. } | Argument::TensorMap(_) | Argument::Scratch { .. } => None,
    });
    let vars: Vec<&str> = vars.collect();
    if vars.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(field.error(if vars.is_empty() {
        format!("required no scalars, as no parameter has a `case_var`, actual `{name}`")
    } else {
        format!("required a `case_var` of the parameters ({}), actual `{name}`", vars.join(", "))
    }))
}

fn expectation(name: &str, field: &Field<'_>, buffers: &[Buffer]) -> Result<Expected, FieldError> {
    let buffer = named_buffer(name, field, buffers)?;
    let sha256 = field.optional("sha256")?.map(|field| digest(&field)).transpose()?;
    let samples =
        field.optional("samples")?.map_or_else(|| Ok(Vec::new()), |field| field.elements())?;
    let samples = samples
        .iter()
        .map(|sample| sample_of(sample, buffers[buffer].places.len()))
        .collect::<Result<Vec<_>, _>>()?;
    let tolerance = match field.optional("tolerance")? {
        None => Tolerance::BitExact,
        Some(field) => tolerance(&field)?,
    };
    let nothing = match tolerance {
        Tolerance::BitExact => sha256.is_none() && samples.is_empty(),
        Tolerance::Within { .. } => samples.is_empty(),
    };
    if nothing {
        return Err(field.error(
            "nothing to compare: `samples` are required, or `sha256` where the result is bit-exact",
        ));
    }
    Ok(Expected { buffer, tolerance, sha256, samples })
}

fn sample_of(sample: &Field<'_>, elements: usize) -> Result<(usize, Number), FieldError> {
    let [index, value] = &sample.elements()?[..] else {
        return Err(sample.error("required a pair of index and value"));
    };
    let Some(last) = elements.checked_sub(1) else {
        return Err(index.error("the buffer has no elements"));
    };
    let index: u64 = index.integer(0, last as u64)?;
    let index = usize::try_from(index).expect("below the number of elements");
    Ok((index, value.number()?))
}

fn tolerance(field: &Field<'_>) -> Result<Tolerance, FieldError> {
    if field.optional("bit_exact")?.map_or(Ok(false), |field| field.flag())? {
        return Ok(Tolerance::BitExact);
    }
    let part = |name: &str| field.optional(name)?.map_or(Ok(0.0), |field| field.finite());
    Ok(Tolerance::Within { atol: part("atol")?, rtol: part("rtol")? })
}

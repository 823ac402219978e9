//! Where variables, parameters and frames are.

use std::collections::BTreeMap;

use kernel_ptx::{Function, Param, Space, Symbol, Variable};

use super::operands::Decoded;

/// Bytes of a variable.
pub(crate) fn variable_bytes(variable: &Variable) -> u64 {
    let elements: u64 = variable.dims.iter().product();
    variable.ty.bytes() * u64::from(variable.vector.max(1)) * elements
}

/// Bytes of a parameter.
pub(crate) fn param_bytes(param: &Param) -> u64 {
    param.ty.bytes() * param.dims.iter().product::<u64>()
}

/// The offsets of parameters one after another, each at its alignment, and the bytes of all.
pub(crate) fn param_offsets(params: &[Param]) -> Decoded<(Vec<u32>, u32)> {
    let mut offsets = Vec::new();
    let mut end = 0u64;
    for param in params {
        let start = end.next_multiple_of(u64::from(param.align.max(1)));
        offsets.push(u32::try_from(start).map_err(|_| "parameters of more than 4 GB")?);
        end = start + param_bytes(param);
    }
    Ok((offsets, u32::try_from(end).map_err(|_| "parameters of more than 4 GB")?))
}

/// Where the parts of one function are: offsets into the thread's local memory, but for the
/// parameters of an entry, whose offsets are into the parameter block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) params: Vec<u32>,
    pub(crate) results: Vec<u32>,
    /// By variable of the function; only local and call-parameter ones have one.
    pub(crate) variables: Vec<u32>,
}

/// Local and static shared memory of an entry under construction. No function calls itself, so each
/// has one frame.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) local_bytes: u32,
    pub(crate) shared_bytes: u32,
    shared: BTreeMap<(String, u32), u32>,
}

impl Layout {
    /// Lays out the frame of a function.
    pub(super) fn frame(&mut self, function: &Function) -> Decoded<Frame> {
        let mut frame = Frame::default();
        if function.is_entry {
            frame.params = param_offsets(&function.params)?.0;
        } else {
            for param in &function.params {
                let bytes = param_bytes(param);
                frame.params.push(self.local(bytes, param.align)?);
            }
        }
        for result in &function.results {
            let bytes = param_bytes(result);
            frame.results.push(self.local(bytes, result.align)?);
        }
        for variable in &function.variables {
            let offset = match variable.space {
                Space::Local | Space::Param => {
                    let bytes = variable_bytes(variable);
                    self.local(bytes, variable.align)?
                }
                Space::Shared | Space::Global | Space::Const | Space::Reg => 0,
            };
            frame.variables.push(offset);
        }
        Ok(frame)
    }

    fn local(&mut self, bytes: u64, align: u32) -> Decoded<u32> {
        let start = self.local_bytes.next_multiple_of(align.max(1));
        let end = u32::try_from(bytes).ok().and_then(|bytes| start.checked_add(bytes));
        self.local_bytes = end.ok_or("local memory of more than 4 GB")?;
        Ok(start)
    }

    /// The offset of a shared variable, from the start of the block's shared memory.
    pub(super) fn shared(
        &mut self,
        symbol: &Symbol,
        function: &Function,
        variable: &Variable,
    ) -> Decoded<u32> {
        let key = match symbol {
            Symbol::Global(i) => (String::new(), *i),
            Symbol::Local(i) | Symbol::Param(i) | Symbol::Result(i) => (function.name.clone(), *i),
            Symbol::Function(name) => (name.clone(), 0),
        };
        if let Some(offset) = self.shared.get(&key) {
            return Ok(*offset);
        }
        let start = self.shared_bytes.next_multiple_of(variable.align.max(1));
        let end = u32::try_from(variable_bytes(variable)).ok().and_then(|b| start.checked_add(b));
        self.shared_bytes = end.ok_or("shared memory of more than 4 GB")?;
        self.shared.insert(key, start);
        Ok(start)
    }
}

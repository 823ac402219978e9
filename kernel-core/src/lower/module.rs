//! The finished module around the entry.

use kernel_ptx::{Directive, Function, Linkage, Module, Space, Type, Variable};

use super::{Lower, Lowered};
use crate::loc::Loc;

/// Puts the code of `lower` into a module.
pub(crate) fn assemble(
    lower: Lower<'_>,
    file: &str,
    line_of: &dyn Fn(Loc) -> (u32, u32),
) -> Lowered {
    let kernel = lower.kernel;
    let (shared_bytes, widest_exchange) = (lower.plan.total(), lower.plan.widest());
    let names = lower.names(line_of);
    let mut directives = vec![Directive::RequiredThreads([kernel.threads(), 1, 1])];
    if kernel.cluster != [1; 3] {
        directives.push(Directive::RequiredCluster(kernel.cluster));
    }
    let mut function = Function {
        name: kernel.name.clone(),
        is_entry: true,
        linkage: Linkage::Visible,
        results: Vec::new(),
        params: lower.params.list,
        directives,
        registers: Vec::new(),
        variables: Vec::new(),
        labels: Vec::new(),
        branch_targets: Vec::new(),
        body: None,
    };
    let maps = lower.maps;
    let checks = lower.e.finish(&mut function, line_of);
    let memory = Variable {
        name: "smem".to_owned(),
        linkage: Linkage::Extern,
        space: Space::Shared,
        ty: Type::B8,
        vector: 1,
        align: 1024,
        dims: vec![0],
        init: None,
    };
    let mut module = Module {
        version: (0, 0),
        target: vec![kernel.target.to_string()],
        directives: Vec::new(),
        files: vec![(1, file.to_owned())],
        variables: if shared_bytes == 0 { Vec::new() } else { vec![memory] },
        functions: vec![function],
    };
    module.version = module.minimum_version();
    if cfg!(debug_assertions)
        && let Err(invalid) = module.validate()
    {
        unreachable!("lowering emitted what the instruction table lacks: {:?}", invalid.first());
    }
    let entry = kernel.name.clone();
    Lowered { module, entry, shared_bytes, widest_exchange, maps, names, checks }
}

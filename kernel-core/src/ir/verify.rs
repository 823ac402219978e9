//! The invariants of the IR, checked.
//!
//! Phases run this on what they make, in tests and in debug builds. It reports the first violation: a violation is a mistake
//! of the compiler, so one is enough.

use la_arena::ArenaMap;

use super::{
    ClusterOp, Kernel, Op, Partition, Placement, Region, Snippet, Stmt, StmtKind, SyncOp,
    Terminator, Type, Value, register_type,
};

mod typing;

/// The largest rank of a tile.
const MAX_RANK: usize = 5;

/// Checks the invariants that the header of [`ir`](crate::ir) lists, and the types of all operands and results.
///
/// # Errors
/// With a sentence on the first violation. Values appear under their arena index, as in their `Debug` form.
pub fn verify(kernel: &Kernel) -> Result<(), String> {
    for (value, data) in kernel.values.iter() {
        if let Type::Tile(_, shape) = &data.ty {
            let legal = !shape.is_empty()
                && shape.len() <= MAX_RANK
                && shape.iter().all(|extent| extent.is_power_of_two());
            require(legal, || format!("{} has an impossible shape {shape:?}", show(value)))?;
        }
    }
    for (shared, data) in kernel.shared.iter() {
        let legal = data.shape.iter().all(|&extent| extent > 0)
            && data.shape.last().is_some_and(|extent| extent.is_power_of_two());
        require(legal, || {
            let index = shared.into_raw().into_u32();
            format!("shared allocation {index} has an impossible shape {:?}", data.shape)
        })?;
    }
    let mut verifier = Verifier {
        kernel,
        visible: ArenaMap::default(),
        defined: ArenaMap::default(),
        scope: Vec::new(),
        frames: Vec::new(),
        specialized: false,
    };
    require(kernel.body.args.is_empty(), || "the kernel's body takes arguments".to_owned())?;
    require(kernel.body.end == Terminator::Return, || {
        "the kernel's body does not end in `Return`".to_owned()
    })?;
    verifier.region(&kernel.body, Frame::Kernel)
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn show(value: Value) -> String {
    format!("value {}", value.into_raw().into_u32())
}

/// What encloses a region, and so what its terminator may do.
#[derive(Clone, Copy)]
enum Frame<'a> {
    Kernel,
    Branch { results: &'a [Value] },
    Loop { carried: &'a [Value], results: &'a [Value] },
    Combine { results: &'a [Value] },
    Partition { results: &'a [Value] },
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// Values that a statement at this place may use.
    visible: ArenaMap<Value, ()>,
    /// Values defined anywhere so far.
    defined: ArenaMap<Value, ()>,
    /// Visible values in order of definition, to take them back at a region's end.
    scope: Vec<Value>,
    frames: Vec<Frame<'a>>,
    /// A statement that specialises warps was met.
    specialized: bool,
}

impl<'a> Verifier<'a> {
    fn define(&mut self, value: Value) -> Result<(), String> {
        require(self.defined.insert(value, ()).is_none(), || {
            format!("{} is defined twice", show(value))
        })?;
        self.visible.insert(value, ());
        self.scope.push(value);
        Ok(())
    }

    fn uses(&self, values: &[Value]) -> Result<(), String> {
        for &value in values {
            require(self.visible.contains_idx(value), || {
                format!("{} is used where it is not defined", show(value))
            })?;
        }
        Ok(())
    }

    fn ty(&self, value: Value) -> &'a Type {
        self.kernel.ty(value)
    }

    fn region(&mut self, region: &'a Region, frame: Frame<'a>) -> Result<(), String> {
        let mark = self.scope.len();
        self.frames.push(frame);
        for &arg in &region.args {
            self.define(arg)?;
        }
        for stmt in &region.stmts {
            self.stmt(stmt)?;
        }
        self.terminator(&region.end)?;
        self.frames.pop();
        for value in self.scope.drain(mark..) {
            self.visible.remove(value);
        }
        Ok(())
    }

    fn terminator(&self, end: &Terminator) -> Result<(), String> {
        match end {
            Terminator::Return => {
                let inside = self.frames.iter().any(|frame| matches!(frame, Frame::Combine { .. }));
                require(!inside, || "a combine function returns from the kernel".to_owned())
            }
            Terminator::Yield(values) => match self.frames.last() {
                Some(
                    Frame::Branch { results }
                    | Frame::Combine { results }
                    | Frame::Partition { results },
                ) => {
                    self.uses(values)?;
                    // A combine function yields elements of the results, which may be tiles.
                    let scalar = matches!(self.frames.last(), Some(Frame::Combine { .. }));
                    self.passes("a yield", values, results, scalar)
                }
                Some(Frame::Kernel | Frame::Loop { .. }) | None => {
                    Err("a yield outside of a branch, a partition or a combine function".to_owned())
                }
            },
            Terminator::Continue(depth, values) => {
                let (carried, _) = self.loop_at(*depth)?;
                self.uses(values)?;
                self.passes("a continue", values, carried, false)
            }
            Terminator::Break(depth, values) => {
                let (_, results) = self.loop_at(*depth)?;
                self.uses(values)?;
                self.passes("a break", values, results, false)
            }
        }
    }

    /// What the loop `depth` levels up carries and results in.
    fn loop_at(&self, depth: u32) -> Result<(&'a [Value], &'a [Value]), String> {
        let mut left = depth;
        for frame in self.frames.iter().rev() {
            match *frame {
                Frame::Loop { carried, results } if left == 0 => return Ok((carried, results)),
                Frame::Loop { .. } => left -= 1,
                Frame::Branch { .. } => {}
                Frame::Kernel | Frame::Combine { .. } | Frame::Partition { .. } => break,
            }
        }
        Err(format!("a terminator leaves a loop {depth} levels up, which does not exist"))
    }

    /// Values have the types of what receives them; as scalars, if `elements`.
    fn passes(
        &self,
        what: &str,
        values: &[Value],
        receivers: &[Value],
        elements: bool,
    ) -> Result<(), String> {
        require(values.len() == receivers.len(), || {
            format!("{what} passes {} values to {} receivers", values.len(), receivers.len())
        })?;
        for (&value, &receiver) in values.iter().zip(receivers) {
            let (actual, mut required) = (self.ty(value), self.ty(receiver).clone());
            if elements && let Some(elem) = required.elem() {
                required = Type::Scalar(elem);
            }
            require(*actual == required, || {
                format!("{what} passes {} : {actual} where {required} is received", show(value))
            })?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Result<(), String> {
        match &stmt.kind {
            StmtKind::Op { op, args, result } => {
                self.uses(args)?;
                let combining =
                    self.frames.iter().any(|frame| matches!(frame, Frame::Combine { .. }));
                // Its place in the order of execution is not fixed, so nothing that touches memory.
                let scalar = |&result: &Value| matches!(self.kernel.ty(result), Type::Scalar(_));
                let combines = op.is_pure() && result.as_ref().is_some_and(scalar);
                require(!combining || combines, || format!("a combine function applies {op:?}"))?;
                let types: Vec<&Type> = args.iter().map(|&arg| self.ty(arg)).collect();
                let result_type = result.map(|result| self.ty(result));
                typing::op(self.kernel, op, &types, result_type).map_err(|why| {
                    let args: Vec<String> = types.iter().map(ToString::to_string).collect();
                    let to = result_type.map_or("nothing".to_owned(), ToString::to_string);
                    format!("{op:?} of ({}) giving {to}: {why}", args.join(", "))
                })?;
                if let Some(result) = result {
                    self.define(*result)?;
                }
                Ok(())
            }
            StmtKind::If { condition, then, otherwise, results } => {
                self.uses(&[*condition])?;
                let ty = self.ty(*condition);
                require(typing::is_bool_scalar(ty), || {
                    format!("the condition of an `if` is {ty}, not a scalar bool")
                })?;
                require(then.args.is_empty() && otherwise.args.is_empty(), || {
                    "a branch takes arguments".to_owned()
                })?;
                self.region(then, Frame::Branch { results })?;
                self.region(otherwise, Frame::Branch { results })?;
                self.define_all(results)
            }
            StmtKind::For { from, to, step, inits, body, results } => {
                self.uses(&[*from, *to, *step])?;
                self.uses(inits)?;
                let Some((&induction, carried)) = body.args.split_first() else {
                    return Err("a counted loop has no induction variable".to_owned());
                };
                for bound in [*from, *to, *step] {
                    let (actual, required) = (self.ty(bound), self.ty(induction));
                    require(actual == required && typing::is_int_scalar(required), || {
                        format!("a loop over {required} has a bound or step of type {actual}")
                    })?;
                }
                self.passes("a loop", inits, carried, false)?;
                self.passes("a loop", inits, results, false)?;
                self.region(body, Frame::Loop { carried, results })?;
                self.define_all(results)
            }
            StmtKind::Specialize { default, partitions, results } => {
                self.specialize(default, partitions, results)?;
                self.define_all(results)
            }
            StmtKind::Loop { inits, body, results } => {
                self.uses(inits)?;
                self.passes("a loop", inits, &body.args, false)?;
                self.region(body, Frame::Loop { carried: &body.args, results })?;
                self.define_all(results)
            }
            StmtKind::Reduce { args, axis, combine, results }
            | StmtKind::Scan { args, axis, combine, results, .. } => {
                self.uses(args)?;
                let scans = matches!(stmt.kind, StmtKind::Scan { .. });
                self.reduce(scans, args, *axis, combine, results)?;
                if let StmtKind::Scan { initial, .. } = &stmt.kind {
                    self.initial(args, initial)?;
                }
                self.region(combine, Frame::Combine { results })?;
                self.define_all(results)
            }
            StmtKind::Ptx { code, args, results } => {
                self.uses(args)?;
                let combining =
                    self.frames.iter().any(|frame| matches!(frame, Frame::Combine { .. }));
                require(!combining, || "a combine function runs written-out PTX".to_owned())?;
                self.snippet(code, args, results)?;
                self.define_all(results)
            }
        }
    }

    /// Partitions stand in the kernel's body, once, fit a block and use no tiles from outside.
    fn specialize(
        &mut self,
        default: &'a Region,
        partitions: &'a [Partition],
        results: &'a [Value],
    ) -> Result<(), String> {
        let top = matches!(self.frames.as_slice(), [Frame::Kernel]);
        require(top && !self.specialized, || {
            "warps are specialised twice, or inside a region".to_owned()
        })?;
        self.specialized = true;
        let asked: Vec<_> = partitions.iter().map(|one| (one.warps, one.registers)).collect();
        require(asked.iter().all(|(warps, _)| matches!(warps, 1 | 2 | 4 | 8)), || {
            format!("partitions of other numbers of warps than 1, 2, 4, 8: {asked:?}")
        })?;
        Placement::of(self.kernel.warps, &asked)
            .map_err(|problem| format!("partitions do not fit a block: {problem:?}"))?;
        require(regions_of(default, partitions).all(|region| region.args.is_empty()), || {
            "a partition takes arguments".to_owned()
        })?;
        // A block has come when all of its threads have: partitions alone would wait for one another.
        let meets = regions_of(default, partitions).any(meets_cluster);
        require(!meets, || "the blocks of a cluster meet in a partition".to_owned())?;
        self.region(default, Frame::Partition { results })?;
        let is_tile = |value: &Value| matches!(self.kernel.ty(*value), Type::Tile(..));
        let tiles: Vec<Value> = self.scope.iter().copied().filter(is_tile).collect();
        for &tile in &tiles {
            self.visible.remove(tile);
        }
        for partition in partitions {
            self.region(&partition.body, Frame::Partition { results: &[] })?;
        }
        for tile in tiles {
            self.visible.insert(tile, ());
        }
        Ok(())
    }

    /// Operands and results are the parameters of the instructions, in one shape.
    fn snippet(&self, code: &Snippet, args: &[Value], results: &[Value]) -> Result<(), String> {
        let sides = [(args, &code.body.params), (results, &code.body.results)];
        for (values, params) in sides {
            let types: Vec<_> = params.iter().map(|param| Some(param.ty)).collect();
            let held: Vec<_> =
                values.iter().map(|&value| self.ty(value).elem().and_then(register_type)).collect();
            require(types == held, || format!("{held:?} for instructions of {types:?}"))?;
        }
        let shape = |value: &Value| self.ty(*value).shape().to_vec();
        let whole = results.iter().chain(args).map(shape).find(|shape| !shape.is_empty());
        let whole = whole.unwrap_or_default();
        let fits = results.iter().all(|result| shape(result) == whole)
            && args.iter().map(shape).all(|shape| shape.is_empty() || shape == whole);
        require(fits, || "written-out PTX on tiles of different shapes".to_owned())
    }

    fn define_all(&mut self, values: &[Value]) -> Result<(), String> {
        values.iter().try_for_each(|&value| self.define(value))
    }

    /// An exclusive scan begins with a scalar for each operand.
    fn initial(&self, args: &[Value], initial: &[Value]) -> Result<(), String> {
        self.uses(initial)?;
        require(initial.is_empty() || initial.len() == args.len(), || {
            format!("a scan of {} operands has {} initial values", args.len(), initial.len())
        })?;
        for (&arg, &initial) in args.iter().zip(initial) {
            let (tile, actual) = (self.ty(arg), self.ty(initial));
            let required = tile.elem().map(Type::Scalar);
            require(required.as_ref() == Some(actual), || {
                format!("a scan of {tile} has an initial value of type {actual}")
            })?;
        }
        Ok(())
    }

    fn reduce(
        &self,
        scan: bool,
        args: &[Value],
        axis: u32,
        combine: &Region,
        results: &[Value],
    ) -> Result<(), String> {
        let what = if scan { "a scan" } else { "a reduction" };
        let Some(&first) = args.first() else {
            return Err(format!("{what} has no operands"));
        };
        let shape = self.ty(first).shape();
        require((axis as usize) < shape.len(), || {
            format!("{what} of axis {axis} of shape {shape:?}")
        })?;
        let counts = results.len() == args.len() && combine.args.len() == 2 * args.len();
        require(counts, || {
            format!(
                "{what} of {} operands has {} results and a function of {}",
                args.len(),
                results.len(),
                combine.args.len()
            )
        })?;
        let mut left = shape.to_vec();
        if !scan {
            left.remove(axis as usize);
        }
        for (at, (&arg, &result)) in args.iter().zip(results).enumerate() {
            let Type::Tile(elem, actual) = self.ty(arg) else {
                return Err(format!("{what} of {}", self.ty(arg)));
            };
            require(actual == shape, || {
                format!("{what} of tiles of shapes {shape:?} and {actual:?}")
            })?;
            let reduced =
                if left.is_empty() { Type::Scalar(*elem) } else { Type::Tile(*elem, left.clone()) };
            require(*self.ty(result) == reduced, || {
                format!("{what} to {} instead of {reduced}", self.ty(result))
            })?;
            for side in [combine.args[at], combine.args[at + args.len()]] {
                require(*self.ty(side) == Type::Scalar(*elem), || {
                    format!("a combine function of {} for {elem}", self.ty(side))
                })?;
            }
        }
        Ok(())
    }
}

/// What the warps of a kernel that specialises them run: its own, and those of partitions.
fn regions_of<'r>(
    default: &'r Region,
    partitions: &'r [Partition],
) -> impl Iterator<Item = &'r Region> {
    std::iter::once(default).chain(partitions.iter().map(|one| &one.body))
}

/// Whether a region, or one inside it, has the blocks of a cluster meet.
fn meets_cluster(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| {
        let meets = matches!(
            stmt.kind,
            StmtKind::Op {
                op: Op::Sync(SyncOp::Cluster(
                    ClusterOp::Sync | ClusterOp::Arrive | ClusterOp::Wait
                )),
                ..
            }
        );
        meets || stmt.kind.regions().into_iter().any(meets_cluster)
    })
}

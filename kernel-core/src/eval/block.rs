//! The blocks of a cluster: an interpreter of regions over whole tiles.

use la_arena::ArenaMap;

use super::element::{Data, Element, Window};
use super::world::{BarrierPlace, Stopped, Task, Turns, World, together};
use super::{Arg, EvalError, Fault};
use crate::ir::{
    Direction, Dtype, Elem, Kernel, Region, Stmt, StmtKind, Terminator, Type, Value, scan_source,
};
use crate::loc::Loc;

mod barrier;
mod bulk;
mod cluster;
mod dot;
mod global;
mod ops;
mod order;
mod scaled;
mod shape;
mod shared;
mod tcgen05;
mod tensor_memory;
mod tma;
mod wgmma;

/// More iterations than any loop of a test has: a loop that spins until another block acts would never end here.
const MAX_TURNS: u32 = 1 << 24;

/// Runs the blocks of one cluster, the first of which is `first`; `begun` clusters have begun, or will not, with this one. Gives how many
/// these are when it has ended.
pub(super) fn run(
    kernel: &Kernel,
    grid: [u32; 3],
    first: [u32; 3],
    begun: usize,
    args: &mut [Arg],
) -> Result<usize, EvalError> {
    let [width, height, _] = kernel.cluster;
    let size = product(&kernel.cluster);
    let world = World::new(kernel, args, size, begun);
    let machine = |rank: usize, world, turns| {
        let at = u32::try_from(rank).expect("clusters are small");
        let within = [at % width, at / width % height, at / width / height];
        Machine {
            kernel,
            grid,
            block: std::array::from_fn(|axis| first[axis] + within[axis]),
            rank,
            warps: kernel.warps,
            world,
            turns,
            values: ArenaMap::default(),
            at: Loc::KERNEL,
        }
    };
    if size == 1 {
        let (world, ended) = machine(0, world, None).whole();
        return ended.map(|()| world.begun);
    }
    let machine = &machine;
    let tasks = (0..size).map(|rank| {
        let task: Task<'_, '_, ()> =
            Box::new(move |world, turns| machine(rank, world, Some(turns)).whole());
        task
    });
    let (world, ended) = together(world, None, tasks.collect());
    ended.map(|_| world.begun)
}

/// How a region was left.
enum Flow {
    Return,
    Yield(Vec<Data>),
    Continue(u32, Vec<Data>),
    Break(u32, Vec<Data>),
}

struct Machine<'a> {
    kernel: &'a Kernel,
    grid: [u32; 3],
    block: [u32; 3],
    /// The block's rank in its cluster.
    rank: usize,
    /// The warps that run the current region.
    warps: u32,
    world: World<'a>,
    /// How others get the world; none if there are no others.
    turns: Option<Turns<'a>>,
    values: ArenaMap<Value, Data>,
    /// The statement that runs.
    at: Loc,
}

impl<'a> Machine<'a> {
    /// Runs the whole kernel.
    fn whole(mut self) -> (World<'a>, Result<(), EvalError>) {
        let kernel = self.kernel;
        let ended = self.region(&kernel.body).map(drop).map_err(|fault| self.failed(fault));
        self.world.leave(self.rank);
        (self.world, ended)
    }

    fn failed(&self, fault: Fault) -> EvalError {
        EvalError { block: self.block, loc: self.at, fault }
    }

    /// Lets other tasks go on until `done`.
    ///
    /// # Errors
    /// No task can continue.
    fn wait(&mut self, done: impl Fn(&World<'a>) -> bool) -> Result<(), Fault> {
        while !done(&self.world) {
            self.pass(Stopped::Waits)?;
        }
        Ok(())
    }

    /// Lets other tasks go on once.
    fn pass(&mut self, why: Stopped) -> Result<(), Fault> {
        match &self.turns {
            Some(turns) => {
                self.world = turns.pass(std::mem::take(&mut self.world), why, self.at)?;
                Ok(())
            }
            None if why == Stopped::Asks => Ok(()),
            None => Err(Fault::Deadlock),
        }
    }

    /// Runs regions at the same time, each in this many warps and with the values that there are now; gives how each was left.
    fn regions(&mut self, regions: &[(&Region, u32)]) -> Result<Vec<Flow>, Fault> {
        let (kernel, grid, block, rank, at) =
            (self.kernel, self.grid, self.block, self.rank, self.at);
        let tasks = regions.iter().map(|&(region, warps)| {
            let values = self.values.clone();
            let task: Task<'_, 'a, Flow> = Box::new(move |world, turns| {
                let turns = Some(turns);
                let mut machine =
                    Machine { kernel, grid, block, rank, warps, world, turns, values, at };
                let left = machine.region(region).map_err(|fault| machine.failed(fault));
                (machine.world, left)
            });
            task
        });
        let tasks = tasks.collect();
        let (world, flows) = together(std::mem::take(&mut self.world), self.turns.as_ref(), tasks);
        self.world = world;
        flows.map_err(|error| {
            self.at = error.loc;
            error.fault
        })
    }

    fn barrier_place(&self, value: Value) -> BarrierPlace {
        match self.data(value) {
            Data::Barrier(place) => *place,
            Data::Scalar(_) | Data::Tile(_) | Data::Window(_) | Data::TensorMemory(_) => {
                unreachable!("ir::verify requires a barrier here")
            }
        }
    }

    fn data(&self, value: Value) -> &Data {
        self.values.get(value).expect("ir::verify checks that values are defined before their uses")
    }

    fn all(&self, values: &[Value]) -> Vec<Data> {
        values.iter().map(|&value| self.data(value).clone()).collect()
    }

    fn set_all(&mut self, values: &[Value], data: Vec<Data>) {
        for (&value, data) in values.iter().zip(data) {
            self.values.insert(value, data);
        }
    }

    fn scalar(&self, value: Value) -> Element {
        match self.data(value) {
            Data::Scalar(element) => *element,
            Data::Tile(_) | Data::Window(_) | Data::Barrier(_) | Data::TensorMemory(_) => {
                unreachable!("ir::verify requires a scalar here")
            }
        }
    }

    fn int(&self, value: Value) -> Result<i128, Fault> {
        self.scalar(value).as_int()
    }

    fn window(&self, value: Value) -> &Window {
        match self.data(value) {
            Data::Window(window) => window,
            Data::Scalar(_) | Data::Tile(_) | Data::Barrier(_) | Data::TensorMemory(_) => {
                unreachable!("ir::verify requires shared memory here")
            }
        }
    }

    /// The elements of a tile, or the one of a scalar.
    fn elements(&self, value: Value) -> &[Element] {
        match self.data(value) {
            Data::Scalar(element) => std::slice::from_ref(element),
            Data::Tile(elements) => elements,
            Data::Window(_) | Data::Barrier(_) | Data::TensorMemory(_) => {
                unreachable!("ir::verify requires a scalar or a tile here")
            }
        }
    }

    fn ty(&self, value: Value) -> &'a Type {
        self.kernel.ty(value)
    }

    fn shape(&self, value: Value) -> &'a [u32] {
        self.ty(value).shape()
    }

    /// The number type of a scalar or a tile; of pointers, what they point to.
    fn dtype(&self, value: Value) -> Dtype {
        match self.ty(value).elem() {
            Some(Elem::Number(dtype) | Elem::Ptr(dtype)) => dtype,
            None => unreachable!("ir::verify requires a scalar or a tile here"),
        }
    }

    /// Elements in the form that the value's type has.
    fn shaped(&self, value: Value, elements: Vec<Element>) -> Data {
        match self.ty(value) {
            Type::Tile(..) => Data::Tile(elements),
            Type::Scalar(_)
            | Type::Shared(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => Data::Scalar(elements[0]),
        }
    }

    fn region(&mut self, region: &Region) -> Result<Flow, Fault> {
        for stmt in &region.stmts {
            self.at = stmt.loc;
            if let Some(flow) = self.stmt(stmt)? {
                return Ok(flow);
            }
        }
        Ok(match &region.end {
            Terminator::Return => Flow::Return,
            Terminator::Yield(values) => Flow::Yield(self.all(values)),
            Terminator::Continue(depth, values) => Flow::Continue(*depth, self.all(values)),
            Terminator::Break(depth, values) => Flow::Break(*depth, self.all(values)),
        })
    }

    /// Runs a statement; gives how it leaves the region, if it does.
    fn stmt(&mut self, stmt: &Stmt) -> Result<Option<Flow>, Fault> {
        match &stmt.kind {
            StmtKind::Op { op, args, result } => {
                let data = self.op(op, args, *result)?;
                if let (Some(result), Some(data)) = (result, data) {
                    self.values.insert(*result, data);
                }
                Ok(None)
            }
            StmtKind::If { condition, then, otherwise, results } => {
                let branch = if self.scalar(*condition).as_bool()? { then } else { otherwise };
                match self.region(branch)? {
                    Flow::Yield(data) => {
                        self.set_all(results, data);
                        Ok(None)
                    }
                    leaving @ (Flow::Return | Flow::Continue(..) | Flow::Break(..)) => {
                        Ok(Some(leaving))
                    }
                }
            }
            StmtKind::For { from, to, step, inits, body, results } => {
                let (mut index, to, step) = (self.int(*from)?, self.int(*to)?, self.int(*step)?);
                if step == 0 {
                    return Err(Fault::ZeroStep);
                }
                let mut carried = self.all(inits);
                while if step > 0 { index < to } else { index > to } {
                    self.values.insert(body.args[0], Data::Scalar(Element::Int(index)));
                    self.set_all(&body.args[1..], carried);
                    match self.iteration(body)? {
                        Iteration::Next(data) => carried = data,
                        Iteration::Done(data) => {
                            carried = data;
                            break;
                        }
                        Iteration::Leave(flow) => return Ok(Some(flow)),
                    }
                    index += step;
                }
                self.set_all(results, carried);
                Ok(None)
            }
            StmtKind::Loop { inits, body, results } => {
                let mut carried = self.all(inits);
                for _ in 0..MAX_TURNS {
                    self.set_all(&body.args, carried);
                    match self.iteration(body)? {
                        Iteration::Next(data) => carried = data,
                        Iteration::Done(data) => {
                            self.set_all(results, data);
                            return Ok(None);
                        }
                        Iteration::Leave(flow) => return Ok(Some(flow)),
                    }
                }
                Err(Fault::Endless)
            }
            StmtKind::Specialize { default, partitions, results } => {
                let mut regions: Vec<(&Region, u32)> =
                    partitions.iter().map(|part| (&part.body, part.warps)).collect();
                regions.push((default, self.warps));
                match self.regions(&regions)?.pop() {
                    Some(Flow::Yield(data)) => {
                        self.set_all(results, data);
                        Ok(None)
                    }
                    leaving
                    @ (Some(Flow::Return | Flow::Continue(..) | Flow::Break(..)) | None) => {
                        Ok(leaving)
                    }
                }
            }
            StmtKind::Ptx { .. } => Err(Fault::Ptx),
            StmtKind::Scan { args, axis, direction, initial, combine, results } => {
                let along = (*axis as usize, *direction);
                self.scan(args, along, initial, combine, results)?;
                Ok(None)
            }
            StmtKind::Reduce { args, axis, combine, results } => {
                self.reduce(args, *axis as usize, combine, results)?;
                Ok(None)
            }
        }
    }

    /// One iteration of a loop.
    fn iteration(&mut self, body: &Region) -> Result<Iteration, Fault> {
        Ok(match self.region(body)? {
            Flow::Continue(0, data) => Iteration::Next(data),
            Flow::Break(0, data) => Iteration::Done(data),
            Flow::Continue(depth, data) => Iteration::Leave(Flow::Continue(depth - 1, data)),
            Flow::Break(depth, data) => Iteration::Leave(Flow::Break(depth - 1, data)),
            Flow::Return => Iteration::Leave(Flow::Return),
            Flow::Yield(_) => {
                unreachable!("ir::verify requires a loop's body to continue or to leave")
            }
        })
    }

    /// Applies the function of two values, of one or several operands each.
    fn combined(
        &mut self,
        combine: &Region,
        before: Vec<Data>,
        next: Vec<Data>,
    ) -> Result<Vec<Data>, Fault> {
        self.set_all(&combine.args, before.into_iter().chain(next).collect());
        match self.region(combine)? {
            Flow::Yield(data) => Ok(data),
            Flow::Return | Flow::Continue(..) | Flow::Break(..) => {
                unreachable!("ir::verify requires a combine function to yield")
            }
        }
    }

    fn scan(
        &mut self,
        args: &[Value],
        (axis, direction): (usize, Direction),
        initial: &[Value],
        combine: &Region,
        results: &[Value],
    ) -> Result<(), Fault> {
        let shape = self.shape(args[0]);
        let inner: usize = product(&shape[axis + 1..]);
        // Positions count from the end that the scan begins at.
        let position = |place: u32| match direction {
            Direction::Forward => place,
            Direction::Backward => shape[axis] - 1 - place,
        };
        let index = |at: usize, place: u32, other: u32| {
            at - place as usize * inner + position(other) as usize * inner
        };
        let mut scanned: Vec<Vec<Element>> =
            args.iter().map(|&arg| self.elements(arg).to_vec()).collect();
        let take = |scanned: &[Vec<Element>], at: usize| -> Vec<Data> {
            scanned.iter().map(|elements| Data::Scalar(elements[at])).collect()
        };
        for step in 0..shape[axis].trailing_zeros() {
            for (at, place) in coordinates(shape).enumerate() {
                let Some(source) = scan_source(step, position(place[axis])) else { continue };
                let before = take(&scanned, index(at, place[axis], source));
                let next = take(&scanned, at);
                for (elements, data) in
                    scanned.iter_mut().zip(self.combined(combine, before, next)?)
                {
                    elements[at] = element(&data);
                }
            }
        }
        if !initial.is_empty() {
            let inclusive = scanned.clone();
            let first: Vec<Data> =
                initial.iter().map(|&value| Data::Scalar(self.scalar(value))).collect();
            for (at, place) in coordinates(shape).enumerate() {
                let data = match position(place[axis]).checked_sub(1) {
                    None => first.clone(),
                    Some(before) => {
                        let before = take(&inclusive, index(at, place[axis], before));
                        self.combined(combine, first.clone(), before)?
                    }
                };
                for (elements, data) in scanned.iter_mut().zip(data) {
                    elements[at] = element(&data);
                }
            }
        }
        for (&result, elements) in results.iter().zip(scanned) {
            self.values.insert(result, Data::Tile(elements));
        }
        Ok(())
    }

    fn reduce(
        &mut self,
        args: &[Value],
        axis: usize,
        combine: &Region,
        results: &[Value],
    ) -> Result<(), Fault> {
        let shape = self.shape(args[0]);
        let extent = shape[axis] as usize;
        let inner: usize = product(&shape[axis + 1..]);
        let outer: usize = product(&shape[..axis]);
        let mut reduced: Vec<Vec<Element>> = vec![Vec::with_capacity(outer * inner); args.len()];
        for place in 0..outer * inner {
            let start = place / inner * extent * inner + place % inner;
            let take = |machine: &Self, step: usize| -> Vec<Data> {
                let at = start + step * inner;
                args.iter().map(|&arg| Data::Scalar(machine.elements(arg)[at])).collect()
            };
            let mut accumulated = take(self, 0);
            for step in 1..extent {
                let fresh = take(self, step);
                accumulated = self.combined(combine, accumulated, fresh)?;
            }
            for (reduced, data) in reduced.iter_mut().zip(accumulated) {
                reduced.push(element(&data));
            }
        }
        for (&result, elements) in results.iter().zip(reduced) {
            let data = self.shaped(result, elements);
            self.values.insert(result, data);
        }
        Ok(())
    }
}

/// What an iteration of a loop leads to.
enum Iteration {
    Next(Vec<Data>),
    Done(Vec<Data>),
    Leave(Flow),
}

fn element(data: &Data) -> Element {
    match data {
        Data::Scalar(element) => *element,
        Data::Tile(_) | Data::Window(_) | Data::Barrier(_) | Data::TensorMemory(_) => {
            unreachable!("ir::verify requires scalars here")
        }
    }
}

fn product(shape: &[u32]) -> usize {
    shape.iter().map(|&extent| extent as usize).product()
}

/// The row-major index of `at` in `shape`.
fn flat(at: &[u32], shape: &[u32]) -> usize {
    at.iter().zip(shape).fold(0, |index, (&at, &extent)| index * extent as usize + at as usize)
}

/// All coordinates in row-major order.
fn coordinates(shape: &[u32]) -> impl Iterator<Item = Vec<u32>> + use<> {
    let shape = shape.to_vec();
    (0..product(&shape)).map(move |mut index| {
        let mut at = vec![0; shape.len()];
        for (at, &extent) in at.iter_mut().zip(&shape).rev() {
            *at = u32::try_from(index % extent as usize).expect("below a u32");
            index /= extent as usize;
        }
        at
    })
}

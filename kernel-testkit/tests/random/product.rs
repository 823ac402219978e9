//! Matrix products by asynchronous tensor cores, as people write them: each operand brought to shared memory in one of several ways,
//! and the sums brought out in one of several ways. Values are small integers: sums are exact in any order.

use crate::operand::{Extents, Operand};

/// A product of two operands.
pub(crate) struct Product {
    pub(crate) extents: Extents,
    pub(crate) sums: &'static str,
    pub(crate) left: Operand,
    pub(crate) right: Operand,
}

/// How the sums leave: the parameter, what is said of the argument, and the statements that bring out the tile `acc`.
pub(crate) struct Outlet {
    parameter: String,
    argument: String,
    pub(crate) statements: String,
}

/// What a kernel begins with.
pub(crate) struct Head<'a> {
    /// The executors.
    pub(crate) run: &'a str,
    pub(crate) target: &'a str,
    pub(crate) name: &'a str,
    pub(crate) warps: u64,
    /// Blocks of a cluster.
    pub(crate) cluster: u64,
    /// The header's lines for further arguments, and their parameters.
    pub(crate) more: [String; 2],
}

impl Product {
    pub(crate) fn out(&self, choice: u64) -> Outlet {
        let Product { sums, extents, .. } = self;
        let ([rows, columns, _], [m, n, _]) = (extents.tile, extents.whole);
        let bytes = if *sums == "f16" { 2 } else { 4 };
        // Rows of what is stored by a map are multiples of 16 bytes too.
        let n = n.next_multiple_of(16 / bytes);
        let mapped = columns * bytes >= 16;
        let staged =
            format!("let staged = shared::<{sums}>([{rows}, {columns}]);\nstaged.store(acc);\n");
        let map = format!("#[block({rows}, {columns})] c: TensorMapMut<{sums}, 2>");
        let (parameter, argument, statements) = match choice {
            0 if mapped => (
                map,
                format!("{sums}[{m}, {n}] poison"),
                format!("{staged}tma::store(c, [m, n], staged);\ntma::store_wait(0);\n"),
            ),
            1 if mapped => (
                map,
                format!("{sums}[{m}, {n}] list(3, 1, 2)"),
                format!(
                    "{staged}fence_async();\ntma::reduce_add(c, [m, n], staged);\ntma::store_wait_written(0);\n"
                ),
            ),
            2 => (
                format!("c: TensorMut<{sums}, 1>"),
                format!("{sums}[{}] poison", m.div_ceil(rows) * n.div_ceil(columns) * rows),
                format!(
                    "c.tile([(block_id(0) * num_blocks(1) + block_id(1)) * {rows}], [{rows}]).store(acc.max(1));\n"
                ),
            ),
            _ => (
                format!("c: TensorMut<{sums}, 2>"),
                format!("{sums}[{m}, {n}] poison"),
                format!("c.tile([m, n], [{rows}, {columns}]).store(acc);\n"),
            ),
        };
        Outlet { parameter, argument, statements }
    }

    /// The bytes that a barrier counts for the tiles of an iteration.
    pub(crate) fn expected(&self) -> u64 {
        [&self.left, &self.right].map(|operand| operand.expected(self.extents.bytes)).iter().sum()
    }

    pub(crate) fn shared(&self, stages: Option<u64>) -> String {
        self.left.shared(stages) + &self.right.shared(stages)
    }

    /// Loads of both tiles.
    pub(crate) fn loads(&self, slot: &str, bar: &str) -> String {
        self.left.load(slot, bar) + &self.right.load(slot, bar)
    }

    /// The barrier that counts both tiles, what it is told in front of the loads, and the wait behind them; nothing where no load
    /// completes on it.
    pub(crate) fn arrivals(&self) -> [String; 3] {
        let expected = self.expected();
        if expected == 0 {
            return Default::default();
        }
        [
            "let bar = barrier(1);\nlet mut phase = 0;\n".to_owned(),
            format!("bar.expect({expected});\n"),
            "bar.wait(phase);\nphase ^= 1;\n".to_owned(),
        ]
    }

    /// The text of the file test of a seed, with this body.
    pub(crate) fn file(&self, seed: u64, head: &Head<'_>, out: &Outlet, body: &str) -> String {
        let ([rows, columns, _], whole) = (self.extents.tile, self.extents.whole);
        let arguments = [(&self.left, 11), (&self.right, 7)].map(|(operand, salt)| {
            let more = seed / salt + salt;
            operand.argument([more % 4, more / 4 % 3])
        });
        let parameters = [&self.left, &self.right].map(Operand::parameter);
        let Head { run, target, name, warps, cluster, more } = head;
        let grid = [whole[0].div_ceil(rows).next_multiple_of(*cluster), whole[1].div_ceil(columns)];
        let cluster =
            if *cluster > 1 { format!(" cluster = [{cluster}, 1],") } else { String::new() };
        format!(
            "//@ run: {run}\n//@ compare: exact\n{}{}//@ arg c: {}\nuse kiln::prelude::*;\n\n\
             #[kernel(target = {target}, warps = {warps},{cluster} grid = {grid:?})]\npub fn {name}_{seed}({}, {}{}) {{\n\
             let (m, n) = (block_id(0) * {rows}, block_id(1) * {columns});\n{body}}}\n",
            arguments.concat(),
            more[0],
            out.argument,
            parameters.join(", "),
            more[1],
            out.parameter
        )
    }
}

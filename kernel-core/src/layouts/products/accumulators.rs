//! Which tiles carry the accumulator of a matrix product from iteration to iteration of a loop.
//!
//! ```text
//! let mut acc = bias.to_layout(L);
//! for .. { acc = dot(a, b, acc) * scale; }
//! ```
//!
//! The carried tile, the product and its scaled result depend on one another. If one of them were in a layout that the product
//! cannot give its result, every iteration would convert twice; so all refuse such a layout, and the bias is converted once. A
//! pin inside the loop is not part of such a circle: it demands the conversions.

use la_arena::ArenaMap;

use crate::ir::{Op, ProductOp, Value};
use crate::layouts::graph::{Graph, Recipe};

/// Marks the nodes of tiles that are on a path from a product's result to the accumulator of the same product.
pub(crate) fn mark(graph: &mut Graph) {
    for at in 0..graph.dots.len() {
        let node = graph.dots[at].node;
        if graph.nodes[node].sums_of.is_some() {
            // On the circle of a product before.
            continue;
        }
        for value in circle(graph, at) {
            if let Some(&node) = graph.of.get(value) {
                graph.nodes[node].sums_of.get_or_insert(at);
            }
        }
    }
}

/// What follows from the result of a product and leads to its accumulator.
fn circle(graph: &Graph, at: usize) -> Vec<Value> {
    let dot = &graph.dots[at];
    // What leads to the accumulator, and for each what follows from it.
    let mut followers: ArenaMap<Value, Vec<Value>> = ArenaMap::default();
    let mut results = Vec::new();
    let mut open = vec![dot.args[2]];
    followers.insert(dot.args[2], Vec::new());
    while let Some(value) = open.pop() {
        if graph.of.get(value) == Some(&dot.node) {
            results.push(value);
        }
        for source in sources(graph, value) {
            if let Some(known) = followers.get_mut(source) {
                known.push(value);
            } else {
                followers.insert(source, vec![value]);
                open.push(source);
            }
        }
    }
    let mut found: ArenaMap<Value, ()> = ArenaMap::default();
    let mut open = results;
    while let Some(value) = open.pop() {
        if found.insert(value, ()).is_none() {
            open.extend(&followers[value]);
        }
    }
    found.iter().map(|(value, ())| value).collect()
}

/// The tiles from which a tile follows element by element, or which a region passes to it.
fn sources(graph: &Graph, value: Value) -> Vec<Value> {
    match graph.makers.get(value) {
        Some(Recipe { op: Op::Elementwise(_), args }) => args.clone(),
        Some(Recipe { op: Op::Product(ProductOp::Dot(_)), args }) => vec![args[2]],
        Some(_) => Vec::new(),
        None => graph.passed.get(value).cloned().unwrap_or_default(),
    }
}

//! Which tiles carry the accumulator of a matrix product from iteration to iteration of a loop, or to the wait for a `wgmma`.
//!
//! ```text
//! let mut acc = bias.to_layout(L);
//! for .. { acc = dot(a, b, acc) * scale; }
//! ```
//!
//! The carried tile, the product and its scaled result depend on one another. If one of them were in a layout that the product
//! cannot give its result, every iteration would convert twice; so all refuse such a layout, and the bias is converted once. A
//! pin inside the loop is not part of such a circle: it demands the conversions.
//!
//! The accumulator of `wgmma` cannot be converted before the wait, so whatever passes it on refuses every other layout too.

use la_arena::ArenaMap;

use crate::ir::{Op, ProductOp, Value};
use crate::layouts::graph::{Graph, Node, Recipe, Sums};

/// Marks the nodes of tiles that are on a path from a product's result to the accumulator of the same product, and those of
/// `wgmma` up to the wait.
pub(crate) fn mark(graph: &mut Graph) {
    let dots =
        graph.dots.iter().enumerate().map(|(at, dot)| (Sums::Dot(at), dot.node, dot.args[2]));
    let groups = graph.warpgroup_products.iter().enumerate();
    let groups = groups.map(|(at, product)| (Sums::Warpgroup(at), product.node, product.args[2]));
    let products: Vec<(Sums, Node, Value)> = dots.chain(groups).collect();
    let receivers = receivers(graph);
    // What is in flight comes before the circles: it cannot be converted at all.
    for &(sums, node, _) in &products {
        if let Sums::Warpgroup(_) = sums {
            mark_all(graph, in_flight(graph, &receivers, node), sums);
        }
    }
    for (sums, node, accumulator) in products {
        let marked = graph.nodes[node].sums_of;
        if marked.is_none() || marked == Some(sums) {
            // Not on the circle of a product before.
            mark_all(graph, circle(graph, (node, sums), accumulator), sums);
        }
    }
}

fn mark_all(graph: &mut Graph, values: Vec<Value>, sums: Sums) {
    for value in values {
        if let Some(&node) = graph.of.get(value) {
            graph.nodes[node].sums_of.get_or_insert(sums);
        }
    }
}

/// What follows from the result of a product and leads to its accumulator.
fn circle(graph: &Graph, (product, sums): (Node, Sums), accumulator: Value) -> Vec<Value> {
    // What leads to the accumulator, and for each what follows from it.
    let mut followers: ArenaMap<Value, Vec<Value>> = ArenaMap::default();
    let mut results = Vec::new();
    let mut open = vec![accumulator];
    followers.insert(accumulator, Vec::new());
    while let Some(value) = open.pop() {
        if graph.of.get(value) == Some(&product) {
            results.push(value);
        }
        for source in sources(graph, value, sums) {
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

/// To what a tile in flight is passed: by regions, and by waits for products.
fn receivers(graph: &Graph) -> ArenaMap<Value, Vec<Value>> {
    let mut receivers: ArenaMap<Value, Vec<Value>> = ArenaMap::default();
    for (to, from) in graph.passed.iter() {
        for &from in from {
            receivers.entry(from).or_default().push(to);
        }
    }
    for (result, recipe) in graph.makers.iter() {
        if let Op::Product(ProductOp::WgmmaWait(_)) = recipe.op {
            receivers.entry(recipe.args[0]).or_default().push(result);
        }
    }
    receivers
}

/// The result of a `wgmma` product, and what it passes through.
fn in_flight(graph: &Graph, receivers: &ArenaMap<Value, Vec<Value>>, product: Node) -> Vec<Value> {
    let mut found: ArenaMap<Value, ()> = ArenaMap::default();
    let results = graph.makers.iter().map(|(value, _)| value);
    let mut open: Vec<Value> =
        results.filter(|&value| graph.of.get(value) == Some(&product)).collect();
    while let Some(value) = open.pop() {
        let done = graph
            .makers
            .get(value)
            .is_some_and(|recipe| recipe.op == Op::Product(ProductOp::WgmmaWait(0)));
        if found.insert(value, ()).is_none() && !done {
            open.extend(receivers.get(value).into_iter().flatten());
        }
    }
    found.iter().map(|(value, ())| value).collect()
}

/// The tiles from which a tile follows element by element, or which a region passes to it.
///
/// The accumulator of another kind of product is in other registers: a circle through both kinds converts anyway.
fn sources(graph: &Graph, value: Value, sums: Sums) -> Vec<Value> {
    let groups = matches!(sums, Sums::Warpgroup(_));
    match graph.makers.get(value) {
        Some(Recipe { op: Op::Elementwise(_), args }) => args.clone(),
        Some(Recipe { op: Op::Product(ProductOp::Dot(_)), args }) if !groups => vec![args[2]],
        Some(Recipe { op: Op::Product(ProductOp::Wgmma { .. }), args }) if groups => vec![args[2]],
        Some(Recipe { op: Op::Product(ProductOp::WgmmaWait(_)), args }) if groups => vec![args[0]],
        Some(_) => Vec::new(),
        None => graph.passed.get(value).cloned().unwrap_or_default(),
    }
}

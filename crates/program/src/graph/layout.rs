//! Places the nodes of a graph in layers.
//!
//! After Sugiyama, Tagawa and Toda (Methods for Visual Understanding of Hierarchical System
//! Structures, 1981): layers by the distance from the start, the order inside a layer by the mean
//! position of the neighbours, long edges routed through helper nodes. An edge carries its text in
//! a helper node of its own, in a layer between those of the states, so no text covers another.

/// A node to be placed.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// How much room it takes.
    pub width: f64,
    /// How much room it takes.
    pub height: f64,
}

/// An edge to be drawn.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// How much room its text takes.
    pub width: f64,
    /// How much room its text takes.
    pub height: f64,
}

/// Where everything goes.
#[derive(Debug)]
pub(super) struct Placed {
    /// The middle of each node.
    pub nodes: Vec<(f64, f64)>,
    /// The points each edge passes, from node to node, and which of them holds its text.
    pub edges: Vec<(Vec<(f64, f64)>, usize)>,
    /// The size of the whole.
    pub size: (f64, f64),
}

const GAP: f64 = 18.0;
const LAYER_GAP: f64 = 14.0;
const MAX_LAYER_GAP: f64 = 60.0;
const SLOPE: f64 = 0.08;
const SWEEPS: usize = 12;
/// Beyond this many cells nobody looks at the curves.
const MAX_CELLS: usize = 100_000;

/// A node or helper in its layer.
struct Cell {
    layer: usize,
    width: f64,
    height: f64,
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

/// Places a graph whose first node is the start.
pub(super) fn place(nodes: &[Node], edges: &[Edge]) -> Placed {
    let depths = depths(nodes.len(), edges);
    // States have even layers, texts the odd ones between.
    let mut cells: Vec<Cell> = nodes
        .iter()
        .zip(&depths)
        .map(|(node, depth)| Cell {
            layer: 2 * depth,
            width: node.width,
            height: node.height,
            above: Vec::new(),
            below: Vec::new(),
            x: 0.0,
        })
        .collect();
    let chains: Vec<_> = edges.iter().map(|edge| chain(edge, &mut cells)).collect();

    let mut layers: Vec<Vec<usize>> = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        if layers.len() <= cell.layer {
            layers.resize(cell.layer + 1, Vec::new());
        }
        layers[cell.layer].push(i);
    }
    for layer in &layers {
        spread(layer, &mut cells);
    }
    for sweep in 0..SWEEPS {
        order(&mut layers, &mut cells, sweep % 2 == 0);
    }
    for sweep in 0..SWEEPS {
        straighten(&layers, &mut cells, sweep % 2 == 0);
    }

    let left = cells.iter().map(|cell| cell.x - cell.width / 2.0).fold(f64::INFINITY, f64::min);
    let mut ys = Vec::new();
    let mut y = 0.0;
    for layer in &layers {
        let height = layer.iter().map(|&i| cells[i].height).fold(0.0, f64::max);
        ys.push(y + height / 2.0);
        // Lines that go far to the side need room to do so.
        let far = layer
            .iter()
            .flat_map(|&i| cells[i].below.iter().map(move |&j| (i, j)))
            .map(|(i, j)| (cells[i].x - cells[j].x).abs())
            .fold(0.0, f64::max);
        y += height + LAYER_GAP + (far * SLOPE).min(MAX_LAYER_GAP);
    }
    let at = |i: usize| (cells[i].x - left, ys[cells[i].layer]);
    let right = cells.iter().map(|cell| cell.x + cell.width / 2.0).fold(0.0, f64::max);
    Placed {
        nodes: (0..nodes.len()).map(at).collect(),
        edges: chains
            .into_iter()
            .map(|(cells, text)| (cells.into_iter().map(at).collect(), text))
            .collect(),
        size: (if cells.is_empty() { 0.0 } else { right - left }, y),
    }
}

/// The distance of each node from the first; those that cannot be reached follow the last layer.
fn depths(nodes: usize, edges: &[Edge]) -> Vec<usize> {
    let mut after = vec![Vec::new(); nodes];
    for edge in edges {
        after[edge.from].push(edge.to);
    }
    let mut depths = vec![usize::MAX; nodes];
    let mut layer = Vec::new();
    if let Some(first) = depths.first_mut() {
        *first = 0;
        layer.push(0);
    }
    let mut depth = 0;
    while !layer.is_empty() {
        depth += 1;
        let mut next = Vec::new();
        for &to in layer.iter().flat_map(|&from| &after[from]) {
            if depths[to] == usize::MAX {
                depths[to] = depth;
                next.push(to);
            }
        }
        layer = next;
    }
    for unreached in depths.iter_mut().filter(|depth| **depth == usize::MAX) {
        *unreached = depth;
    }
    depths
}

/// The cells an edge passes, with helpers in all layers between, and which of them is its text. In a
/// graph with very many helpers only the text is one.
fn chain(edge: &Edge, cells: &mut Vec<Cell>) -> (Vec<usize>, usize) {
    let direct = cells.len() > MAX_CELLS;
    let (from, to) = (cells[edge.from].layer, cells[edge.to].layer);
    let mut helper = |layer: usize, text: bool| {
        cells.push(Cell {
            layer,
            width: if text { edge.width } else { 0.0 },
            height: if text { edge.height } else { 0.0 },
            above: Vec::new(),
            below: Vec::new(),
            x: 0.0,
        });
        cells.len() - 1
    };
    let mut path = vec![edge.from];
    let text = if to < from {
        // Upwards: the text stands just below the target.
        let layers = to + 1..if direct { to + 2 } else { from };
        path.extend(layers.rev().map(|layer| helper(layer, layer == to + 1)));
        path.len() - 1
    } else if to == from {
        path.push(helper(from + 1, true));
        1
    } else {
        let layers = from + 1..if direct { from + 2 } else { to };
        path.extend(layers.map(|layer| helper(layer, layer == from + 1)));
        1
    };
    path.push(edge.to);
    for pair in path.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let (upper, lower) = if cells[a].layer < cells[b].layer { (a, b) } else { (b, a) };
        cells[upper].below.push(lower);
        cells[lower].above.push(upper);
    }
    (path, text)
}

/// Sets the cells of a layer side by side.
fn spread(layer: &[usize], cells: &mut [Cell]) {
    let total: f64 = layer.iter().map(|&i| cells[i].width + GAP).sum();
    let mut x = -total / 2.0;
    for &i in layer {
        let width = cells[i].width + GAP;
        cells[i].x = x + width / 2.0;
        x += width;
    }
}

/// The mean position of a cell's neighbours on one side.
fn mean(cell: &Cell, cells: &[Cell], down: bool) -> Option<f64> {
    let neighbours = if down { &cell.above } else { &cell.below };
    let sum: f64 = neighbours.iter().map(|&i| cells[i].x).sum();
    (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
}

/// Sorts each layer by where the neighbours are.
fn order(layers: &mut [Vec<usize>], cells: &mut [Cell], down: bool) {
    let mut sort = |layer: &mut Vec<usize>| {
        let key = |i: usize| mean(&cells[i], cells, down).unwrap_or(cells[i].x);
        layer.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
        spread(layer, cells);
    };
    if down {
        layers.iter_mut().for_each(&mut sort);
    } else {
        layers.iter_mut().rev().for_each(&mut sort);
    }
}

/// Moves cells towards their neighbours as far as the order and the gaps allow.
fn straighten(layers: &[Vec<usize>], cells: &mut [Cell], down: bool) {
    let mut improve = |layer: &Vec<usize>| {
        let wanted: Vec<f64> =
            layer.iter().map(|&i| mean(&cells[i], cells, down).unwrap_or(cells[i].x)).collect();
        let apart = |a: usize, b: usize| (cells[a].width + cells[b].width) / 2.0 + GAP;
        // Pushed from the left and pushed from the right: the middle of both keeps all gaps.
        let mut from_left = wanted.clone();
        for k in 1..layer.len() {
            let least = from_left[k - 1] + apart(layer[k - 1], layer[k]);
            from_left[k] = from_left[k].max(least);
        }
        let mut from_right = wanted;
        for k in (1..layer.len()).rev() {
            let most = from_right[k] - apart(layer[k - 1], layer[k]);
            from_right[k - 1] = from_right[k - 1].min(most);
        }
        for (k, &i) in layer.iter().enumerate() {
            cells[i].x = f64::midpoint(from_left[k], from_right[k]);
        }
    };
    if down {
        layers.iter().for_each(&mut improve);
    } else {
        layers.iter().rev().for_each(&mut improve);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Node {
        Node { width: 30.0, height: 20.0 }
    }

    fn edge(from: usize, to: usize) -> Edge {
        Edge { from, to, width: 60.0, height: 14.0 }
    }

    #[test]
    fn nothing_overlaps() {
        let nodes: Vec<_> = (0..6).map(|_| node()).collect();
        let edges = [
            edge(0, 1),
            edge(0, 2),
            edge(0, 3),
            edge(1, 4),
            edge(2, 4),
            edge(3, 5),
            edge(5, 0),
            edge(4, 4),
            edge(1, 2),
            edge(0, 5),
        ];
        let placed = place(&nodes, &edges);
        let mut boxes: Vec<_> = placed.nodes.iter().map(|&(x, y)| (x, y, 30.0, 20.0)).collect();
        boxes.extend(placed.edges.iter().map(|(points, text)| {
            let (x, y) = points[*text];
            (x, y, 60.0, 14.0)
        }));
        for (i, a) in boxes.iter().enumerate() {
            for b in &boxes[i + 1..] {
                let apart =
                    (a.0 - b.0).abs() * 2.0 >= a.2 + b.2 || (a.1 - b.1).abs() * 2.0 >= a.3 + b.3;
                assert!(apart, "{a:?} and {b:?} overlap");
            }
        }
    }

    /// Every node has an edge to the last one: with all helpers there would be a billion.
    #[test]
    fn long_edges_of_a_large_graph_are_straight() {
        let count = 40_000;
        let nodes: Vec<_> = (0..count).map(|_| node()).collect();
        let chain = (1..count).map(|i| edge(i - 1, i));
        let back = (1..count).map(|i| edge(i, 0));
        let edges: Vec<_> = chain.chain(back).collect();
        let placed = place(&nodes, &edges);
        assert_eq!(placed.edges.len(), edges.len());
        assert_eq!(placed.edges.last().map(|(points, text)| (points.len(), *text)), Some((3, 1)));
    }

    #[test]
    fn an_edge_starts_and_ends_at_its_nodes() {
        let nodes = [node(), node(), node()];
        let edges = [edge(0, 1), edge(1, 2), edge(2, 0)];
        let placed = place(&nodes, &edges);
        for (edge, (points, _)) in edges.iter().zip(&placed.edges) {
            assert_eq!(points.first(), Some(&placed.nodes[edge.from]));
            assert_eq!(points.last(), Some(&placed.nodes[edge.to]));
        }
    }
}

//! The automata as one picture.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::layout::{self, Edge, Node};
use super::{state_text, statement, states, title, transitions};
use crate::ir::{Automaton, Program, StateId};

const CHAR: f64 = 7.3;
const LINE: f64 = 15.0;
const MARGIN: f64 = 20.0;
const TITLE: f64 = 30.0;
/// From the middle of a line of text down to where its letters stand. (Not all viewers know
/// `dominant-baseline`.)
const BASELINE: f64 = 4.2;
/// The length of the arrow that comes from nowhere, to the initial state.
const ENTRY: f64 = 16.0;
/// Longer statements are cut.
const MAX_TEXT: usize = 48;

const STYLE: &str = "\
text{font:12px monospace;text-anchor:middle;fill:#222}\
.title{font:bold 14px monospace;text-anchor:start}\
.state{fill:#fff;stroke:#222}\
.end{fill:#e6f4ea}.progress{fill:#e8f0fe}.accept{stroke-width:3}\
.edge{fill:none;stroke:#666;marker-end:url(#arrow)}\
.atomic{stroke-width:2.4}.escape{stroke-dasharray:5 3}\
.gone{fill:#222}.paper{fill:#fff}";

/// The picture of one automaton, for a page that has its own colours and lights up states.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it shows: `proctype P`.
    pub title: String,
    /// An `svg` element without a style and without the tips of its arrows. The classes of its parts are `state`
    /// (`end`, `progress`, `accept`), `edge` (`atomic`, `escape`), `gone` and `paper` (behind text); a state's
    /// `data-state` is its number.
    pub svg: String,
}

/// A picture of each automaton, in the order of the program.
pub fn pictures(program: &Program) -> impl Iterator<Item = Picture> {
    let picture = move |automaton: &Automaton| {
        let (body, (width, height)) = draw(program, automaton);
        let (width, height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
        let body = format!("<g transform=\"translate({MARGIN},{MARGIN})\">\n{body}</g>\n");
        Picture { title: title(automaton), svg: element(width, height, &body) }
    };
    program.automata.iter().map(picture)
}

fn element(width: f64, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n{body}</svg>\n"
    )
}

/// The automata, one below the other. Bold lines stay inside of an atomic sequence, dashed ones are
/// escapes; a thick border marks accepting states, green end states, blue progress states; the dot
/// is the end of the process.
pub fn svg(program: &Program) -> String {
    let mut body = String::new();
    let mut width: f64 = 0.0;
    let mut y = MARGIN;
    for automaton in &program.automata {
        let (picture, size) = draw(program, automaton);
        let _ = writeln!(
            body,
            "<text class=\"title\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>",
            y + LINE / 2.0 + BASELINE,
            escape(&title(automaton))
        );
        let _ =
            writeln!(body, "<g transform=\"translate({MARGIN},{:.1})\">\n{picture}</g>", y + TITLE);
        let title_width = title(automaton).chars().count() as f64 * 9.0;
        width = width.max(size.0).max(title_width);
        y += TITLE + size.1 + MARGIN;
    }
    let width = width + 2.0 * MARGIN;
    let body = format!(
        "<style>{STYLE}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#666\"/></marker></defs>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{body}"
    );
    element(width, y, &body)
}

/// All transitions from one state to another.
struct Bundle {
    from: StateId,
    to: StateId,
    lines: Vec<String>,
    class: &'static str,
}

fn draw(program: &Program, automaton: &Automaton) -> (String, (f64, f64)) {
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut known = FxHashMap::default();
    for transition in transitions(program, automaton) {
        let class = match transition.escape {
            0 if transition.atomic => "edge atomic",
            0 => "edge",
            _ => "edge escape",
        };
        let line = cut(statement(program, transition));
        let (from, to) = (transition.from, transition.to);
        let index = *known.entry((from, to, class)).or_insert(bundles.len());
        if index == bundles.len() {
            bundles.push(Bundle { from, to, lines: Vec::new(), class });
        }
        bundles[index].lines.push(line);
    }
    // The first node is where the layers start.
    let mut ids = vec![automaton.initial];
    ids.extend(states(automaton).map(|(id, _)| id).filter(|&id| id != automaton.initial));
    if bundles.iter().any(|bundle| bundle.to == StateId(0)) {
        ids.push(StateId(0));
    }
    let mut index = vec![0; automaton.states.len().max(1)];
    for (i, id) in ids.iter().enumerate() {
        index[id.0 as usize] = i;
    }
    let nodes: Vec<_> = ids.iter().map(|&id| node(automaton, id)).collect();
    let edges: Vec<_> = bundles
        .iter()
        .map(|bundle| Edge {
            from: index[bundle.from.0 as usize],
            to: index[bundle.to.0 as usize],
            width: bundle.lines.iter().map(|line| text_width(line)).fold(0.0, f64::max),
            height: bundle.lines.len() as f64 * LINE,
        })
        .collect();
    let placed = layout::place(&nodes, &edges);

    let mut out = String::new();
    for (bundle, (edge, (points, _))) in bundles.iter().zip(edges.iter().zip(&placed.edges)) {
        let path = path(points, &nodes[edge.from], &nodes[edge.to]);
        let _ = writeln!(out, "<path class=\"{}\" d=\"{path}\"/>", bundle.class);
    }
    for (bundle, (edge, (points, text))) in bundles.iter().zip(edges.iter().zip(&placed.edges)) {
        let (x, y) = points[*text];
        let _ = writeln!(
            out,
            "<rect class=\"paper\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            x - edge.width / 2.0,
            y - edge.height / 2.0,
            edge.width,
            edge.height
        );
        for (i, line) in bundle.lines.iter().enumerate() {
            let y = y - edge.height / 2.0 + (i as f64 + 0.5) * LINE + BASELINE;
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(line));
        }
    }
    for ((&id, node), &(x, y)) in ids.iter().zip(&nodes).zip(&placed.nodes) {
        state(&mut out, automaton, id, node, (x, y));
    }
    (out, placed.size)
}

fn node(automaton: &Automaton, id: StateId) -> Node {
    if id == StateId(0) {
        return Node { width: 12.0, height: 12.0 };
    }
    Node { width: (text_width(&state_text(automaton, id)) + 12.0).max(28.0), height: 24.0 }
}

fn state(out: &mut String, automaton: &Automaton, id: StateId, node: &Node, (x, y): (f64, f64)) {
    if id == StateId(0) {
        let _ = writeln!(out, "<circle class=\"gone\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>");
        return;
    }
    let labelled = automaton.state(id);
    let mut class = String::from("state");
    for (set, name) in
        [(labelled.end, " end"), (labelled.progress, " progress"), (labelled.accept, " accept")]
    {
        if set {
            class.push_str(name);
        }
    }
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" data-state=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"12\"/>",
        id.0,
        x - node.width / 2.0,
        y - node.height / 2.0,
        node.width,
        node.height
    );
    let text = escape(&state_text(automaton, id));
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\">{text}</text>", y + BASELINE);
    if id == automaton.initial {
        let top = y - node.height / 2.0;
        let _ = writeln!(
            out,
            "<path class=\"edge\" d=\"M{x:.1} {:.1}L{x:.1} {top:.1}\"/>",
            top - ENTRY
        );
    }
}

/// A smooth line through the points, from the border of one node to that of the other.
fn path(points: &[(f64, f64)], from: &Node, to: &Node) -> String {
    let mut points = points.to_vec();
    let last = points.len() - 1;
    // A line back to its own state, or one beside it, leaves and enters apart.
    let side = |node: &Node| node.width / 4.0;
    if points[0] == points[last] {
        points[0].0 -= side(from);
        points[last].0 += side(to);
    } else if points[last].1 < points[0].1 {
        // One that goes up keeps apart from those that go down, so that it is seen whose the arrowheads are.
        points[0].0 += side(from).copysign(points[1].0 - points[0].0);
        points[last].0 += side(to).copysign(points[last - 1].0 - points[last].0);
    }
    let down = |a: (f64, f64), b: (f64, f64)| if b.1 >= a.1 { 1.0 } else { -1.0 };
    let leaving = down(points[0], points[1]);
    let entering = down(points[last], points[last - 1]);
    points[0].1 += leaving * from.height / 2.0;
    points[last].1 += entering * to.height / 2.0;

    let mut path = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for (k, pair) in points.windows(2).enumerate() {
        let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
        let half = (by - ay) / 2.0;
        // Where the line turns around in the middle, it turns flat.
        let turns = |at: usize| {
            at > 0
                && at < last
                && (points[at].1 - points[at - 1].1) * (points[at + 1].1 - points[at].1) < 0.0
        };
        let first = if turns(k) { (ax + (bx - ax) / 2.0, ay) } else { (ax, ay + half) };
        let second = if turns(k + 1) { (bx - (bx - ax) / 2.0, by) } else { (bx, by - half) };
        let _ = write!(
            path,
            "C{:.1} {:.1} {:.1} {:.1} {bx:.1} {by:.1}",
            first.0, first.1, second.0, second.1
        );
    }
    path
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHAR
}

fn cut(text: &str) -> String {
    let text = text.replace(['\n', '\t'], " ");
    if text.chars().count() <= MAX_TEXT {
        return text;
    }
    let mut short: String = text.chars().take(MAX_TEXT - 1).collect();
    short.push('…');
    short
}

/// A text as HTML and XML take it, between tags and in quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

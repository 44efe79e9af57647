//! A sequence chart as a picture.

use std::fmt::Write as _;

use spinward_program::graph::escape;

use crate::chart::{Arrow, Chart, cut};
use crate::words::plural;

/// The height of a row.
pub const ROW: f64 = 22.0;
/// The room above the first row, for the names of the lanes.
pub const HEAD: f64 = 34.0;
const MARGIN: f64 = 14.0;
/// Room on the left for the numbers of the steps and for the cycle.
const LEFT: f64 = 52.0;
/// All lanes together get so much room, as long as none is too narrow or too wide.
const LANES: f64 = 600.0;
const NARROWEST: f64 = 46.0;
const WIDEST: f64 = 120.0;
/// About the width of a character.
const CHAR: f64 = 6.7;
/// From the middle of a line of text down to where its letters stand.
const BASELINE: f64 = 4.0;
/// Longer texts are cut.
const MAX_TEXT: usize = 64;

/// The style of a picture, for light and for dark surroundings.
pub const STYLE: &str = include_str!("report/chart.css");

/// The chart as a picture of its own: with numbers and statements, and with its style.
pub fn svg(chart: &Chart) -> String {
    let at = Places::new(chart);
    let mut longest = 0;
    let mut body = String::new();
    for (number, row) in chart.rows.iter().enumerate() {
        let dim = if row.dimmed { " dim" } else { "" };
        let statement = cut(&format!("{}  {}", row.place, row.statement), MAX_TEXT);
        let changes = cut(&row.changes.join("; "), MAX_TEXT);
        longest = longest.max(statement.chars().count() + changes.chars().count() + 3);
        let _ = writeln!(
            body,
            "<text class=\"what{dim}\" x=\"{:.1}\" y=\"{:.1}\">{}<tspan dx=\"14\">{}</tspan></text>",
            at.width(),
            at.y(number) + BASELINE,
            escape(&statement),
            escape(&changes)
        );
    }
    let width = at.width() + longest as f64 * CHAR + MARGIN;
    let height = at.height();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width:.0}\" \
         height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}{}{body}</svg>\n",
        escape(&summary(chart)),
        names(chart, &at),
        draw(chart, &at)
    )
}

/// The chart to be put into a page that has the [style](STYLE) and tells the steps beside it: without statements,
/// and without the names of its lanes. Each row is [`ROW`] high; row `n` has the id `row-n`, and its step `dot-n`.
pub fn inline(chart: &Chart) -> String {
    let at = Places::new(chart);
    let (width, height) = (at.width(), at.height() - HEAD);
    format!(
        "<svg class=\"chart\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 {HEAD} {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
        escape(&summary(chart)),
        draw(chart, &at)
    )
}

/// The names of the lanes of an [inline] chart, [`HEAD`] high: to stay in sight above it.
pub fn heads(chart: &Chart) -> String {
    let at = Places::new(chart);
    let width = at.width();
    format!(
        "<svg class=\"chart\" width=\"{width:.0}\" height=\"{HEAD}\" viewBox=\"0 0 {width:.0} {HEAD}\" \
         aria-hidden=\"true\">\n{}</svg>\n",
        names(chart, &at)
    )
}

/// What is seen in it, for those who do not see it.
fn summary(chart: &Chart) -> String {
    let messages = chart.arrows.iter().filter(|arrow| !arrow.label.is_empty()).count();
    format!(
        "Sequence chart of {} steps of {} processes with {messages} messages",
        chart.rows.len(),
        chart.lanes.len()
    )
}

/// Where everything goes.
struct Places {
    lane: f64,
    lanes: usize,
    rows: usize,
    gap: Option<usize>,
}

impl Places {
    fn new(chart: &Chart) -> Self {
        let lanes = chart.lanes.len();
        let lane = (LANES / lanes.max(1) as f64).clamp(NARROWEST, WIDEST);
        Self { lane, lanes, rows: chart.rows.len(), gap: chart.gap.map(|(row, _)| row) }
    }

    fn x(&self, lane: usize) -> f64 {
        LEFT + (lane as f64 + 0.5) * self.lane
    }

    /// The middle of a row.
    fn y(&self, row: usize) -> f64 {
        self.top(row) + ROW / 2.0
    }

    fn top(&self, row: usize) -> f64 {
        let gap = usize::from(self.gap.is_some_and(|gap| row >= gap));
        HEAD + (row + gap) as f64 * ROW
    }

    fn width(&self) -> f64 {
        LEFT + self.lanes as f64 * self.lane + MARGIN
    }

    fn height(&self) -> f64 {
        self.top(self.rows) + MARGIN
    }
}

fn draw(chart: &Chart, at: &Places) -> String {
    let mut out = String::from(
        "<defs><marker id=\"head\" class=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
    );
    let way_back = chart.cycle.map(|start| cycle(at, start, &mut out));
    for row in 0..chart.rows.len() {
        let _ = writeln!(
            out,
            "<rect id=\"row-{row}\" class=\"band\" x=\"0\" y=\"{:.1}\" width=\"{:.1}\" height=\"{ROW}\"/>",
            at.top(row),
            at.width()
        );
    }
    out.push_str(&way_back.unwrap_or_default());
    for (number, lane) in chart.lanes.iter().enumerate() {
        let x = at.x(number);
        for life in &lane.lives {
            let top = if lane.at_start && life.start == 0 { HEAD - 8.0 } else { at.y(life.start) };
            let ends = life.end < at.rows;
            let bottom = if ends { at.y(life.end - 1) } else { at.top(at.rows) };
            let _ = writeln!(
                out,
                "<line class=\"life\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>"
            );
            if ends {
                let _ = writeln!(
                    out,
                    "<path class=\"death\" d=\"M{:.1} {:.1}l8 8m0 -8l-8 8\"/>",
                    x - 4.0,
                    bottom - 4.0
                );
            }
        }
    }
    if let Some((row, left_out)) = chart.gap {
        let y = at.top(row) - ROW / 2.0 + BASELINE;
        let _ = writeln!(
            out,
            "<text class=\"gap\" x=\"{:.1}\" y=\"{y:.1}\">… {left_out} more {} …</text>",
            at.width() / 2.0,
            plural(left_out as u64, "step")
        );
    }
    for arrow in &chart.arrows {
        draw_arrow(chart, at, arrow, &mut out);
    }
    for (number, row) in chart.rows.iter().enumerate() {
        let dim = if row.dimmed { " dim" } else { "" };
        let wrong = chart.wrong && number + 1 == chart.rows.len();
        let (class, radius) = if wrong { ("wrong", 6.0) } else { ("step", 4.0) };
        let (x, y) = (at.x(row.lane), at.y(number));
        if chart.lanes[row.lane].process.is_some() {
            let _ = writeln!(
                out,
                "<text class=\"number{dim}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                y + BASELINE,
                row.number
            );
        }
        let _ = writeln!(
            out,
            "<circle id=\"dot-{number}\" class=\"{class}{dim}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            escape(&cut(&row.statement, MAX_TEXT))
        );
    }
    out
}

/// The names of the lanes.
fn names(chart: &Chart, at: &Places) -> String {
    let mut out = String::new();
    for (number, lane) in chart.lanes.iter().enumerate() {
        let _ = writeln!(
            out,
            "<g><title>{}</title><text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            escape(&lane.name),
            at.x(number),
            HEAD / 2.0 + BASELINE,
            escape(&lane.name_in((at.lane / CHAR) as usize))
        );
    }
    out
}

/// The steps that repeat for ever: a band. Gives the way back from the last to the first, which goes on top of it.
fn cycle(at: &Places, start: usize, out: &mut String) -> String {
    let (top, bottom) = (at.top(start), at.top(at.rows));
    let (first, last) = (top + ROW / 2.0, bottom - ROW / 2.0);
    let _ = writeln!(
        out,
        "<rect class=\"cycle\" x=\"0\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        at.width(),
        bottom - top
    );
    format!(
        "<g class=\"back\"><title>These steps repeat for ever</title>\
         <path d=\"M16 {last:.1}H8V{first:.1}H16\" marker-end=\"url(#head)\"/></g>\n"
    )
}

fn draw_arrow(chart: &Chart, at: &Places, arrow: &Arrow, out: &mut String) {
    let (from, to) =
        ((at.x(arrow.from.1), at.y(arrow.from.0)), (at.x(arrow.to.1), at.y(arrow.to.0)));
    let dim = if chart.rows[arrow.to.0].dimmed { " dim" } else { "" };
    let class = arrow.kind.name();
    let far = (to.0 - from.0).abs();
    let path = if arrow.from.1 == arrow.to.1 {
        // To itself: a bow on the right.
        let x = from.0 + 5.0;
        let bow = x + 16.0;
        format!(
            "M{x:.1} {:.1}C{bow:.1} {:.1} {bow:.1} {:.1} {x:.1} {:.1}",
            from.1, from.1, to.1, to.1
        )
    } else {
        // Not into the dots.
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length * 6.0, dy / length * 6.0);
        format!("M{:.1} {:.1}L{:.1} {:.1}", from.0 + ux, from.1 + uy, to.0 - ux, to.1 - uy)
    };
    let _ = write!(
        out,
        "<g class=\"arrow {class}{dim}\"><title>{}</title><path d=\"{path}\" marker-end=\"url(#head)\"/>",
        escape(&cut(&arrow.label, MAX_TEXT))
    );
    if !arrow.label.is_empty() && far > 0.0 {
        // Near where it starts: messages that wait long cross many others.
        let right = to.0 > from.0;
        let x = from.0 + if right { 9.0 } else { -9.0 };
        let anchor = if right { "start" } else { "end" };
        let fits = ((far.max(at.lane) - 14.0) / (CHAR * 0.9)) as usize;
        let _ = write!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            from.1 - 3.0,
            escape(&arrow.label_in(fits))
        );
    }
    out.push_str("</g>\n");
}

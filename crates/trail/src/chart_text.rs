//! A sequence chart for terminals.

use crate::chart::{Arrow, ArrowKind, Chart, Row, cut};
use crate::listing::{Listing, style};
use crate::words::plural;

/// Lanes are no wider than this, and no narrower than [`NARROWEST`].
const WIDEST: usize = 18;
const NARROWEST: usize = 3;
/// Statements get at least so much room.
const STATEMENTS: usize = 24;

/// The chart in so many columns, or none if the lanes do not fit.
pub fn text(chart: &Chart, width: usize, listing: Listing) -> Option<String> {
    let page = Page::new(chart, width)?;
    let mut out = page.heads(chart, listing);
    let at = |row: usize| chart.arrows.iter().filter(move |arrow| arrow.to.0 == row);
    for (number, row) in chart.rows.iter().enumerate() {
        if let Some((gap, left_out)) = chart.gap
            && gap == number
        {
            let note = format!("... {left_out} more {} ...", plural(left_out as u64, "step"));
            out.push_str(&format!("  {}\n", listing.paint(style::DIM, &note)));
        }
        if chart.cycle == Some(number) {
            let note = "the steps from here on repeat for ever:";
            out.push_str(&format!("  {}\n", listing.paint(style::YELLOW, note)));
        }
        let last = number + 1 == chart.rows.len();
        let lanes = page.lanes(chart, number, row, at(number), chart.wrong && last);
        // Moves of the claim are no steps of the run.
        let number = match chart.lanes[row.lane].process {
            Some(_) => row.number.to_string(),
            None => String::new(),
        };
        out.push_str(&page.row(row, &number, &lanes, listing, chart.wrong && last));
    }
    if chart.idle > 0 {
        let who = if chart.idle == 1 { "process does" } else { "processes do" };
        let note = format!("{} more {who} nothing", chart.idle);
        out.push_str(&format!("  {}\n", listing.paint(style::DIM, &note)));
    }
    Some(out)
}

/// How the columns are dealt out.
struct Page {
    width: usize,
    number: usize,
    lane: usize,
    lanes: usize,
}

impl Page {
    fn new(chart: &Chart, width: usize) -> Option<Self> {
        let last = chart.rows.iter().map(|row| row.number).max().unwrap_or(0);
        let number = last.max(1).to_string().len();
        let lanes = chart.lanes.len();
        let names = chart.lanes.iter().map(|lane| lane.name.chars().count() + 1);
        let labels = chart.arrows.iter().map(|arrow| arrow.label.chars().count() + 5);
        let wanted = names.chain(labels).max().unwrap_or(0).clamp(8, WIDEST);
        let room = width.saturating_sub(number + 6 + STATEMENTS);
        let lane = wanted.min(room / lanes.max(1));
        (lane >= NARROWEST).then_some(Self { width, number, lane, lanes })
    }

    /// The column of a lane's line.
    fn column(&self, lane: usize) -> usize {
        lane * self.lane + self.lane / 2
    }

    fn heads(&self, chart: &Chart, listing: Listing) -> String {
        let mut heads = String::new();
        for lane in &chart.lanes {
            let name = lane.name_in(self.lane - 1);
            heads.push_str(&format!("{name:^0$}", self.lane));
        }
        let margin = " ".repeat(self.number + 4);
        format!("{margin}{}\n", listing.bold(heads.trim_end()))
    }

    /// The lines of life in a row, with what happens in it.
    fn lanes<'a>(
        &self,
        chart: &Chart,
        number: usize,
        row: &Row,
        arrows: impl Iterator<Item = &'a Arrow>,
        wrong: bool,
    ) -> String {
        let mut cells = vec![' '; self.lanes * self.lane];
        for (lane, it) in chart.lanes.iter().enumerate() {
            if it.lives.iter().any(|life| life.contains(&number)) {
                cells[self.column(lane)] = '│';
            }
        }
        for arrow in arrows {
            self.arrow(arrow, chart, &mut cells);
        }
        let dies = chart.lanes[row.lane]
            .lives
            .iter()
            .any(|life| life.end == number + 1 && number + 1 < chart.rows.len());
        cells[self.column(row.lane)] = match (wrong, dies) {
            (true, _) => '✗',
            (_, true) => '■',
            _ => '●',
        };
        cells.into_iter().collect()
    }

    /// An arrow is drawn in the row where it ends; a message that waited says in which step it was sent.
    fn arrow(&self, arrow: &Arrow, chart: &Chart, cells: &mut [char]) {
        let (from, to) = (self.column(arrow.from.1), self.column(arrow.to.1));
        if from == to {
            return;
        }
        let (left, right) = (from.min(to), from.max(to));
        let (line, sent) = match arrow.kind {
            ArrowKind::Rendezvous => ('─', String::new()),
            ArrowKind::Message => ('╌', format!("{}:", chart.rows[arrow.from.0].number)),
            ArrowKind::Start => ('╌', String::new()),
        };
        cells[left + 1..right].fill(line);
        cells[from] = if from < to { '├' } else { '┤' };
        cells[to] = if arrow.kind == ArrowKind::Start { '○' } else { cells[to] };
        if right - left > 1 {
            let head = if from < to { right - 1 } else { left + 1 };
            cells[head] = if from < to { '▶' } else { '◀' };
        }
        let room = (right - left).saturating_sub(4);
        let label = match room.checked_sub(sent.len()).filter(|room| *room >= 2) {
            Some(room) => sent + &arrow.label_in(room),
            None => cut(&sent, room),
        };
        let start = left + 1 + (right - left - 1 - label.chars().count()) / 2;
        for (offset, c) in label.chars().enumerate() {
            cells[start + offset] = c;
        }
    }

    fn row(&self, row: &Row, number: &str, lanes: &str, listing: Listing, wrong: bool) -> String {
        let left = self.number + 4 + lanes.chars().count();
        let room = self.width.saturating_sub(left + 2);
        let statement = cut(&row.statement, room);
        let rest = room.saturating_sub(statement.chars().count() + 2);
        let changes = row.changes.join("; ");
        let changes = if rest < 6 { String::new() } else { cut(&changes, rest) };
        let gap = if changes.is_empty() { "" } else { "  " };
        let number = format!("{number:>0$}", self.number);
        let shown = |code: &str, text: &str| {
            listing.paint(if row.dimmed { style::DIM } else { code }, text)
        };
        let code = if wrong { style::RED } else { style::CYAN };
        let line = format!(
            "  {}  {}  {}{gap}{}",
            listing.paint(style::DIM, &number),
            shown(code, lanes),
            shown("", &statement),
            shown(style::YELLOW, &changes)
        );
        line.trim_end().to_owned() + "\n"
    }
}

//! A run as a message sequence chart: a lane for each process, a row for each step, arrows for messages.
//!
//! This is what is drawn, not how: [`crate::chart_text`] and [`crate::chart_svg`] do that.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::messages::MessageKind;
use crate::run::{Run, StepLine};
use crate::values::{Change, plain_name};

/// What a sequence chart shows.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The processes that take part, in the order of their numbers; the claim, if it is shown, comes first.
    pub lanes: Vec<Lane>,
    /// The steps, in order.
    pub rows: Vec<Row>,
    /// What goes from one lane to another.
    pub arrows: Vec<Arrow>,
    /// Steps that are not shown: before which row, and how many.
    pub gap: Option<(usize, usize)>,
    /// The row of the first step that repeats for ever.
    pub cycle: Option<usize>,
    /// How many processes are not shown since they do nothing.
    pub idle: usize,
    /// Whether the last step goes wrong, or leads where something is wrong.
    pub wrong: bool,
}

/// A process, or several with the same number and type of which one comes after the other.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Its number; none for the claim.
    pub process: Option<u16>,
    /// `P(1)`, `claim`
    pub name: String,
    /// Whether it is there before the first step.
    pub at_start: bool,
    /// The rows in which it lives.
    pub lives: Vec<Range<usize>>,
}

/// A step.
#[derive(Clone, Debug)]
pub struct Row {
    /// Whose.
    pub lane: usize,
    /// As people count, from 1.
    pub number: usize,
    /// The [index](StepLine::index) of the step in the run.
    pub index: usize,
    /// Where the statement stands: `model.pml:12`.
    pub place: String,
    /// The statement.
    pub statement: String,
    /// What it changes, in words.
    pub changes: Vec<String>,
    /// Whether it makes no difference to what goes wrong.
    pub dimmed: bool,
}

/// A message, or the start of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The row and the lane where it starts.
    pub from: (usize, usize),
    /// The row and the lane where it ends.
    pub to: (usize, usize),
    /// `court!ball`; nothing for the start of a process.
    pub label: String,
    /// `ball`: for where there is little room.
    pub short_label: String,
    /// Which it is.
    pub kind: ArrowKind,
}

/// What an arrow stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowKind {
    /// A message that waited in a channel.
    Message,
    /// A message of a rendezvous.
    Rendezvous,
    /// A process starts another one.
    Start,
}

impl ArrowKind {
    /// As style sheets know it: `message`, `rendezvous`, `start`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Rendezvous => "rendezvous",
            Self::Start => "start",
        }
    }
}

impl Arrow {
    /// The label in so many characters.
    pub(crate) fn label_in(&self, most: usize) -> String {
        let fits = self.label.chars().count() <= most;
        cut(if fits { &self.label } else { &self.short_label }, most)
    }
}

impl Lane {
    /// The name in so many characters; what tells the lanes apart stays.
    pub(crate) fn name_in(&self, most: usize) -> String {
        let length = self.name.chars().count();
        let Some(at) = self.name.rfind('(').filter(|_| length > most) else {
            return cut(&self.name, most);
        };
        let (name, number) = self.name.split_at(at);
        match most.checked_sub(number.len()) {
            Some(left @ 1..) => format!("{}{number}", cut(name, left)),
            _ => cut(number.trim_matches(['(', ')']), most),
        }
    }
}

/// A text with its end left out if it is too long.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    if most > 0 {
        short.push('…');
    }
    short
}

impl Chart {
    /// The chart of a run; with the moves of the claim or without.
    pub fn of(run: &Run, claim: bool) -> Self {
        let mut drawing =
            Drawing { chart: Self::default(), now: BTreeMap::new(), sent: BTreeMap::new() };
        for (pid, name) in (0..).zip(&run.at_start) {
            let lane = drawing.begin(Some(pid), name, 0);
            drawing.chart.lanes[lane].at_start = true;
        }
        for line in run.first.iter().filter(|line| claim || line.process.is_some()) {
            drawing.step(line);
        }
        let left_out = run.left_out_steps(claim);
        if left_out > 0 {
            drawing.chart.gap = Some((drawing.chart.rows.len(), left_out));
        }
        for line in run.last.iter().filter(|line| claim || line.process.is_some()) {
            drawing.step(line);
        }
        let mut chart = drawing.finish();
        chart.wrong = !run.violations.is_empty();
        // The first step of the cycle may be one that is not shown.
        chart.cycle = run.cycle_start.and_then(|start| {
            let inside = |row: &Row| row.number > start && chart.lanes[row.lane].process.is_some();
            chart.rows.iter().position(inside)
        });
        chart
    }
}

/// A chart that is being made.
struct Drawing {
    chart: Chart,
    /// The lane that a process has now.
    now: BTreeMap<Option<u16>, usize>,
    /// The row and lane of the steps shown, by their index.
    sent: BTreeMap<usize, (usize, usize)>,
}

impl Drawing {
    fn step(&mut self, line: &StepLine) {
        let row = self.chart.rows.len();
        let lane = self.lane_of(line.process, &line.name, row);
        self.sent.insert(line.index, (row, lane));
        for message in &line.messages {
            let (kind, sent_by) = match (message.kind, message.sent_by) {
                (MessageKind::Received, Some(index)) if message.rendezvous => {
                    (ArrowKind::Rendezvous, index)
                }
                (MessageKind::Received, Some(index)) => (ArrowKind::Message, index),
                _ => continue,
            };
            // Of a message that was sent in a step that is not shown nobody sees where it comes from.
            let Some(&(from, sender)) = self.sent.get(&sent_by) else { continue };
            self.chart.arrows.push(Arrow {
                from: (from, sender),
                to: (row, lane),
                label: format!("{}!{}", message.channel, message.text),
                short_label: message.text.clone(),
                kind,
            });
        }
        for change in &line.changes {
            match change {
                Change::Started { process, name } => {
                    let child = self.begin(Some(*process), name, row);
                    self.chart.arrows.push(Arrow {
                        from: (row, lane),
                        to: (row, child),
                        label: String::new(),
                        short_label: String::new(),
                        kind: ArrowKind::Start,
                    });
                }
                Change::Ended { process, .. } => self.end(Some(*process), row),
                Change::Set { .. } => {}
            }
        }
        self.chart.rows.push(Row {
            lane,
            number: line.number,
            index: line.index,
            place: line.place(),
            statement: line.statement.clone(),
            changes: line.changes_in_words(),
            dimmed: line.dimmed,
        });
    }

    /// The lane of a process that moves. It may have started in a step that is not shown.
    fn lane_of(&mut self, process: Option<u16>, name: &str, row: usize) -> usize {
        match self.now.get(&process) {
            Some(&lane) if self.chart.lanes[lane].name == lane_name(process, name) => lane,
            Some(_) => {
                self.end(process, row);
                self.begin(process, name, row)
            }
            None => self.begin(process, name, row),
        }
    }

    /// A process starts: in the lane of an earlier one with the same number and type, if there was one.
    fn begin(&mut self, process: Option<u16>, name: &str, row: usize) -> usize {
        let name = lane_name(process, name);
        let lanes = &mut self.chart.lanes;
        let known = lanes.iter().position(|lane| lane.process == process && lane.name == name);
        let lane = known.unwrap_or_else(|| {
            lanes.push(Lane { process, name, at_start: false, lives: Vec::new() });
            lanes.len() - 1
        });
        lanes[lane].lives.push(row..usize::MAX);
        self.now.insert(process, lane);
        lane
    }

    fn end(&mut self, process: Option<u16>, row: usize) {
        if let Some(lane) = self.now.remove(&process)
            && let Some(life) = self.chart.lanes[lane].lives.last_mut()
        {
            life.end = row + 1;
        }
    }

    /// Leaves out who does nothing, and puts the lanes in order.
    fn finish(self) -> Chart {
        let mut chart = self.chart;
        let rows = chart.rows.len();
        let mut busy = vec![false; chart.lanes.len()];
        chart.rows.iter().for_each(|row| busy[row.lane] = true);
        for arrow in &chart.arrows {
            busy[arrow.from.1] = true;
            busy[arrow.to.1] = true;
        }
        let mut order: Vec<usize> = (0..busy.len()).filter(|&lane| busy[lane]).collect();
        order.sort_by_key(|&lane| chart.lanes[lane].process);
        chart.idle = busy.len() - order.len();
        let mut place = vec![0; busy.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        chart.lanes = order.iter().map(|&lane| chart.lanes[lane].clone()).collect();
        chart.rows.iter_mut().for_each(|row| row.lane = place[row.lane]);
        for arrow in &mut chart.arrows {
            arrow.from.1 = place[arrow.from.1];
            arrow.to.1 = place[arrow.to.1];
        }
        for life in chart.lanes.iter_mut().flat_map(|lane| &mut lane.lives) {
            life.end = life.end.min(rows);
        }
        chart
    }
}

fn lane_name(process: Option<u16>, name: &str) -> String {
    match process {
        Some(pid) => format!("{}({pid})", plain_name(name)),
        None => "claim".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_what_tells_them_apart() {
        let lane = |name: &str| Lane {
            process: Some(12),
            name: name.into(),
            at_start: true,
            lives: Vec::new(),
        };
        assert_eq!(lane("Station(12)").name_in(11), "Station(12)");
        assert_eq!(lane("Station(12)").name_in(8), "Sta…(12)");
        assert_eq!(lane("Station(12)").name_in(5), "…(12)");
        assert_eq!(lane("Station(12)").name_in(3), "12");
        assert_eq!(lane("claim").name_in(3), "cl…");
    }

    #[test]
    fn labels_leave_out_the_channel_first() {
        let arrow = Arrow {
            from: (0, 0),
            to: (1, 1),
            label: "wire!ack,3".into(),
            short_label: "ack,3".into(),
            kind: ArrowKind::Message,
        };
        assert_eq!(arrow.label_in(10), "wire!ack,3");
        assert_eq!(arrow.label_in(9), "ack,3");
        assert_eq!(arrow.label_in(3), "ac…");
        assert_eq!(arrow.label_in(0), "");
    }
}

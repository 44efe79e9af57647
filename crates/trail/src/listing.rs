//! A run as text for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use spinward_machine::view::ProcessView;
use spinward_machine::{View, Violation};
use spinward_program::Program;
use spinward_program::ir::Slot;
use spinward_promela::Span;

use crate::messages::MessageKind;
use crate::run::{Run, StepLine};
use crate::values::{self, Change, plain_name};
use crate::words::plural;

/// The widest a column of statements gets before what it changes moves to the right.
const STATEMENT_WIDTH: usize = 40;
/// The longest value of a variable or channel that is shown in full.
const VALUE_WIDTH: usize = 72;

/// How text is marked on a terminal.
pub(crate) mod style {
    pub const BOLD: &str = "\x1b[1m";
    pub const DIM: &str = "\x1b[2m";
    pub const CYAN: &str = "\x1b[36m";
    pub const RED: &str = "\x1b[31m";
    pub const YELLOW: &str = "\x1b[33m";
    pub const RESET: &str = "\x1b[0m";
}

use style::{BOLD, CYAN, DIM, RED, RESET, YELLOW};

/// How to print.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listing {
    /// With colours.
    pub color: bool,
    /// With the moves of the claim.
    pub claim: bool,
    /// With the name of a process only where another one moved before, and with who gets messages from whom.
    pub grouped: bool,
}

impl Listing {
    /// The steps of a run, one in a line.
    pub fn steps(self, run: &Run) -> String {
        let shown = |line: &&StepLine| self.claim || line.process.is_some();
        let first: Vec<&StepLine> = run.first.iter().filter(shown).collect();
        let last: Vec<&StepLine> = run.last.iter().filter(shown).collect();
        let all = || first.iter().chain(&last);
        let width = |of: fn(&StepLine) -> usize| all().map(|line| of(line)).max().unwrap_or(0);
        let widths = Widths {
            number: run.length.max(1).to_string().len(),
            process: width(|line| line.who().chars().count()),
            place: width(|line| line.place().chars().count()),
            statement: width(|line| line.statement.chars().count()).min(STATEMENT_WIDTH),
        };
        let mail = if self.grouped { mail(all().copied()) } else { Mail::new() };
        let mut last_mover = None;
        // The first step of the cycle may be one that is not shown (of the claim).
        let mut cycle = run.cycle_start;
        let mut text = String::new();
        let mut print = |lines: &[&StepLine], text: &mut String| {
            for line in lines {
                if cycle.is_some_and(|start| line.number > start) {
                    cycle = None;
                    let note = self.paint(YELLOW, "the steps from here on repeat for ever:");
                    let _ = writeln!(text, "  {note}");
                    last_mover = None;
                }
                let goes_on = self.grouped && last_mover == Some(line.process);
                last_mover = Some(line.process);
                let who = if goes_on { String::new() } else { line.who() };
                self.step(line, &who, mail.get(&line.index), &widths, text);
            }
        };
        print(&first, &mut text);
        let left_out = run.left_out_steps(self.claim);
        if left_out > 0 {
            let note = format!("... {left_out} more {} ...", plural(left_out as u64, "step"));
            let _ = writeln!(text, "  {}", self.paint(DIM, &note));
        }
        print(&last, &mut text);
        text
    }

    fn step(
        self,
        line: &StepLine,
        who: &str,
        mail: Option<&Vec<String>>,
        widths: &Widths,
        text: &mut String,
    ) {
        let number = match line.process {
            Some(_) => line.number.to_string(),
            None => String::new(),
        };
        let who = format!("{who:<0$}", widths.process);
        let place = format!("{:<1$}", line.place(), widths.place);
        let mut changes = mail.cloned().unwrap_or_default();
        changes.extend(line.changes_in_words());
        let statement = if changes.is_empty() {
            line.statement.clone()
        } else {
            format!("{:<1$}", line.statement, widths.statement)
        };
        // Who sees no colours sees the dot.
        let mark = if line.dimmed { '·' } else { ' ' };
        let paint = |style, text: &str| self.paint(if line.dimmed { DIM } else { style }, text);
        let mut told = format!(
            "{mark} {number:>0$}  {1}  {2}  {3}",
            widths.number,
            paint(CYAN, &who),
            self.paint(DIM, &place),
            paint("", &statement),
        );
        if !changes.is_empty() {
            let _ = write!(told, "  {}", paint(YELLOW, &changes.join("; ")));
        }
        text.push_str(told.trim_end());
        text.push('\n');
        if let Some(output) = &line.output {
            let margin = " ".repeat(4 + widths.number);
            for printed in output.lines().filter(|printed| !printed.is_empty()) {
                let _ = writeln!(text, "{margin}prints: {printed}");
            }
        }
    }

    /// What went wrong, with the values of the variables in it, one thing in a line.
    pub fn violation(self, program: &Program, run: &Run, violation: Violation) -> String {
        let mut text = self.paint(RED, &violation.describe(program));
        let values = run.values_of(program, violation);
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
            let _ = write!(text, "  (with {})", values.join(", "));
        }
        text.push('\n');
        text
    }

    /// Since when the variables in the property that failed have their values, as far as that is told, one in a line.
    pub fn origins(self, program: &Program, run: &Run, violation: Violation) -> String {
        let mut text = String::new();
        for (name, _) in run.values_of(program, violation) {
            if let Some(line) = run.last_set(program, violation, &name) {
                let (who, number) = (line.who(), line.number);
                let _ = writeln!(text, "  {name} has this value since step {number}, by {who}");
            }
        }
        text
    }

    /// Something wrong, in words.
    pub fn error(self, text: &str) -> String {
        self.paint(RED, text)
    }

    /// A state: variables, channels, and where the processes are.
    pub fn state(self, program: &Program, view: &View) -> String {
        let mut text = self.variables(program, view);
        text.push_str(&self.channels(program, view));
        for pid in 0..view.processes.len() {
            self.process(program, view, pid, &mut text);
        }
        text
    }

    /// The global variables.
    pub fn variables(self, program: &Program, view: &View) -> String {
        let mut text = String::new();
        let blocks =
            [(&program.globals.slots, &view.globals), (&program.hidden.slots, &view.hidden)];
        for (slots, values) in blocks {
            for (name, value) in grouped(program, view, slots, values) {
                let _ = writeln!(text, "  {name} = {value}");
            }
        }
        text
    }

    /// The channels that can hold messages.
    pub fn channels(self, program: &Program, view: &View) -> String {
        let mut text = String::new();
        for (index, channel) in view.channels.iter().enumerate() {
            if program.channel(channel.kind).capacity > 0 {
                let name = values::channel_name(program, view, index + 1);
                let contents = values::contents(program, channel.kind, &channel.messages);
                let _ = writeln!(text, "  {name} = {}", shortened(&contents));
            }
        }
        text
    }

    fn process(self, program: &Program, view: &View, pid: usize, text: &mut String) {
        let process = &view.processes[pid];
        let automaton = program.automaton(process.body);
        let who = format!("{}({pid})", plain_name(&automaton.name));
        let _ = writeln!(text, "  {}  {}", self.paint(CYAN, &who), where_is(program, process));
        for (name, value) in grouped(program, view, &automaton.locals.slots, &process.locals) {
            let _ = writeln!(text, "      {name} = {value}");
        }
    }

    /// Text in bold.
    pub fn bold(self, text: &str) -> String {
        self.paint(BOLD, text)
    }

    /// Text in a style.
    pub(crate) fn paint(self, style: &str, text: &str) -> String {
        if self.color && !text.is_empty() && !style.is_empty() {
            format!("{style}{text}{RESET}")
        } else {
            text.to_owned()
        }
    }
}

/// By the [index](StepLine::index) of a step: to whom its messages go, and from whom they come.
type Mail = BTreeMap<usize, Vec<String>>;

fn mail<'a>(lines: impl Iterator<Item = &'a StepLine> + Clone) -> Mail {
    let by_index: BTreeMap<usize, &StepLine> =
        lines.clone().map(|line| (line.index, line)).collect();
    let mut mail = Mail::new();
    for line in lines {
        for message in line.messages.iter().filter(|message| message.kind != MessageKind::Sent) {
            let Some(sender) = message.sent_by.and_then(|index| by_index.get(&index)) else {
                continue;
            };
            let step = |line: &StepLine| {
                if message.rendezvous { String::new() } else { format!(", step {}", line.number) }
            };
            let from = format!("\u{2190} {}{}", sender.who(), step(sender));
            mail.entry(line.index).or_default().push(from);
            if message.kind == MessageKind::Received {
                let to = format!("\u{2192} {}{}", line.who(), step(line));
                mail.entry(sender.index).or_default().push(to);
            }
        }
    }
    mail
}

struct Widths {
    number: usize,
    process: usize,
    place: usize,
    statement: usize,
}

/// A change, told from the view of the one who moves: the variables of others carry their name.
pub(crate) fn change_in_words(line: &StepLine, change: &Change) -> String {
    match change {
        Change::Set { process, name, before, after } => {
            let owner = match process {
                Some(pid) if *process != line.process => format!("({pid}):"),
                _ => String::new(),
            };
            format!("{owner}{name}: {} -> {}", shortened(before), shortened(after))
        }
        other => other.to_string(),
    }
}

/// The line a process is at.
pub fn line_of(program: &Program, process: &ProcessView) -> u32 {
    program.source.line(place_of(program, process))
}

/// The place a process is at.
pub fn place_of(program: &Program, process: &ProcessView) -> Span {
    let automaton = program.automaton(process.body);
    let state = automaton.state(process.state);
    let own = state.element.map(|id| program.element(id).span);
    let first = || Some(program.transition(state.transition_ids().next()?).span);
    own.or_else(first).unwrap_or(automaton.span)
}

/// Where a process is: the line, and what it may do there.
pub fn where_is(program: &Program, process: &ProcessView) -> String {
    let automaton = program.automaton(process.body);
    let state = automaton.state(process.state);
    let mut texts: Vec<&str> = Vec::new();
    for id in state.transition_ids() {
        let element = program.element(program.transition(id).element);
        if !texts.contains(&element.text.as_str()) {
            texts.push(&element.text);
        }
    }
    let at = line_of(program, process);
    let next = shortened(&texts.join(" | "));
    let end = if state.end { " (a valid end)" } else { "" };
    format!("at line {at}: {next}{end}")
}

/// Variables with their values; the elements of an array together, as `a = {1, 2}`.
fn grouped(
    program: &Program,
    view: &View,
    slots: &[Slot],
    values: &[i32],
) -> Vec<(String, String)> {
    let mut groups: Vec<(String, String)> = Vec::new();
    let mut array: Option<&str> = None;
    for (slot, &v) in slots.iter().zip(values) {
        if slot.synthetic || values::is_own_channel(program, view, slot, v) {
            continue;
        }
        let text = values::value(program, slot.ty, v);
        let element = element_of(&slot.name);
        match (element, groups.last_mut()) {
            (Some((base, 1..)), Some((_, all))) if array == Some(base) => {
                all.push_str(", ");
                all.push_str(&text);
                continue;
            }
            (_, Some((_, all))) if array.is_some() => all.push('}'),
            _ => {}
        }
        array = element.filter(|(_, index)| *index == 0).map(|(base, _)| base);
        groups.push(match array {
            Some(base) => (base.to_owned(), format!("{{{text}")),
            None => (slot.name.clone(), text),
        });
    }
    if let (Some((_, all)), Some(_)) = (groups.last_mut(), array) {
        all.push('}');
    }
    for (_, value) in &mut groups {
        *value = shortened(value);
    }
    groups
}

/// `a[2]` is element 2 of `a`.
fn element_of(name: &str) -> Option<(&str, usize)> {
    let (base, rest) = name.strip_suffix(']')?.rsplit_once('[')?;
    Some((base, rest.parse().ok()?))
}

/// A text with its middle left out if it is too long.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= VALUE_WIDTH {
        return text.to_owned();
    }
    let half = VALUE_WIDTH / 2 - 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start} .. {end}")
}

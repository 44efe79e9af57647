//! A run as SPIN prints it: one line for each step, with the columns its users know.

use std::fmt::Write as _;

use spinward_machine::view::ProcessView;
use spinward_machine::{Machine, Step, View};
use spinward_program::Program;
use spinward_program::ir::{Action, ChannelTypeId, Expr, ReceiveArg, Slot};
use spinward_promela::symbols::Type;

use crate::replay::Event;
use crate::values;

/// Which columns: SPIN's options of the same letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// `-p`: all statements.
    pub statements: bool,
    /// `-g`: global variables after each step that changes them.
    pub globals: bool,
    /// `-l`: local variables likewise.
    pub locals: bool,
    /// `-r`: messages received.
    pub receives: bool,
    /// `-s`: messages sent.
    pub sends: bool,
    /// `-T`: what processes print is not indented.
    pub flat: bool,
}

/// Prints a run while it goes on.
#[derive(Debug)]
pub struct SpinListing<'a> {
    machine: &'a Machine,
    columns: Columns,
    depth: usize,
    created: usize,
    /// Whether what was printed last has no end of line.
    open_line: bool,
}

impl<'a> SpinListing<'a> {
    /// A printer for runs of this machine.
    pub fn new(machine: &'a Machine, columns: Columns) -> Self {
        Self {
            machine,
            columns,
            depth: 0,
            created: machine.program().start.len(),
            open_line: false,
        }
    }

    /// What is printed for a move.
    pub fn event(&mut self, event: &Event<'_>) -> String {
        let before = self.machine.view(&event.before.state);
        let after = event.after.map(|config| self.machine.view(&config.state));
        let mut text = String::new();
        if uses_timeout(self.machine.program(), event.steps) {
            self.close_line(&mut text);
            text.push_str("      timeout\n");
        }
        for (index, step) in event.steps.iter().enumerate() {
            self.depth += usize::from(!step.is_claim());
            if index + 1 == event.steps.len() {
                self.output(*step, event.output, &mut text);
            }
            self.step(*step, event, &before, after.as_ref(), &mut text);
        }
        if let Some(after) = &after {
            self.created += after.processes.len().saturating_sub(before.processes.len());
            self.variables(&before, after, &mut text);
        }
        text
    }

    /// What a step prints, in the column of its process.
    fn output(&mut self, step: Step, output: &str, text: &mut String) {
        if output.is_empty() {
            return;
        }
        if !self.columns.flat && !self.open_line {
            let column = if step.is_claim() { 0 } else { usize::from(step.process) };
            text.push_str(&" ".repeat(4 * (column + 1) + 2));
        }
        text.push_str(output);
        self.open_line = !output.ends_with('\n');
    }

    fn step(
        &mut self,
        step: Step,
        event: &Event<'_>,
        before: &View,
        after: Option<&View>,
        text: &mut String,
    ) {
        let program = self.machine.program();
        let transition = program.transition(step.transition);
        let element = program.element(transition.element);
        if step.is_claim() {
            if self.columns.statements {
                self.close_line(text);
                let line = program.source.line(element.span);
                let _ = writeln!(text, "Never claim moves to line {line}\t[{}]", element.text);
            }
            return;
        }
        let Some(process) = before.processes.get(usize::from(step.process)) else {
            return;
        };
        let head = head(program, self.depth, step.process, process);
        let file = program.source.path(element.span).to_string_lossy();
        let line = program.source.line(element.span);
        let message = match &transition.action {
            Action::Send { .. } if self.columns.sends => {
                let verb = if event.steps.len() > 1 { "Sent" } else { "Send" };
                exchanged(program, event, before, after).map(|m| format!("{verb} {m}\t->"))
            }
            Action::Receive { .. } if self.columns.receives => {
                exchanged(program, event, before, after).map(|m| format!("Recv {m}\t<-"))
            }
            _ => None,
        };
        if let Some(after) = after.filter(|_| self.columns.statements) {
            for (pid, new) in after.processes.iter().enumerate().skip(before.processes.len()) {
                self.close_line(text);
                let name = &program.automaton(new.body).name;
                let _ = writeln!(text, "{head} creates proc {pid:2} ({name})");
            }
        }
        if let Some(message) = message {
            self.close_line(text);
            let channel = channel_of(program, before, step)
                .map(|number| {
                    let name = values::channel_name(program, before, number);
                    format!(" queue {number} ({name})")
                })
                .unwrap_or_default();
            let _ = writeln!(text, "{head} {file}:{line} {message}{channel}");
        }
        if self.columns.statements {
            self.close_line(text);
            if matches!(transition.action, Action::Die) {
                let _ = writeln!(text, "{head} terminates");
            } else {
                let state = element.state.0;
                let statement = &element.text;
                let _ = writeln!(text, "{head} {file}:{line} (state {state})\t[{statement}]");
            }
        }
    }

    fn variables(&mut self, before: &View, after: &View, text: &mut String) {
        let program = self.machine.program();
        let mut lines = String::new();
        if self.columns.globals {
            let slots = &program.globals.slots;
            changed(program, slots, &before.globals, &after.globals, "", &mut lines);
            let slots = &program.hidden.slots;
            changed(program, slots, &before.hidden, &after.hidden, "", &mut lines);
            for (index, channel) in after.channels.iter().enumerate() {
                if before.channels.get(index) != Some(channel) {
                    queue(program, after, index, &mut lines);
                }
            }
        }
        for (pid, process) in after.processes.iter().enumerate().filter(|_| self.columns.locals) {
            let old = before.processes.get(pid).filter(|old| old.body == process.body);
            if let Some(old) = old {
                let automaton = program.automaton(process.body);
                let owner = format!("{}({pid}):", automaton.name);
                let slots = &automaton.locals.slots;
                changed(program, slots, &old.locals, &process.locals, &owner, &mut lines);
            }
        }
        if !lines.is_empty() {
            self.close_line(text);
            text.push_str(&lines);
        }
    }

    /// What is printed at the end of a run: the state, as SPIN's final state.
    pub fn end(&mut self, view: &View) -> String {
        let program = self.machine.program();
        let mut text = String::new();
        self.close_line(&mut text);
        let _ = writeln!(text, "#processes: {}", view.processes.len());
        for (slot, &v) in program.globals.slots.iter().zip(&view.globals) {
            if slot.ty != Type::Chan && !slot.synthetic {
                let _ = writeln!(text, "\t\t{} = {}", slot.name, value(program, slot.ty, v));
            }
        }
        for index in 0..view.channels.len() {
            queue(program, view, index, &mut text);
        }
        for (pid, process) in view.processes.iter().enumerate().rev() {
            let automaton = program.automaton(process.body);
            let state = automaton.state(process.state);
            let span = state
                .transition_ids()
                .next()
                .map(|id| program.element(program.transition(id).element).span)
                .unwrap_or(automaton.span);
            let end = if state.end { " <valid end state>" } else { "" };
            let _ = writeln!(
                text,
                "{} {}:{} (state {}){end}",
                head(program, self.depth, pid as u16, process),
                program.source.path(span).to_string_lossy(),
                program.source.line(span),
                process.state.0
            );
        }
        let es = if self.created == 1 { "" } else { "es" };
        let _ = writeln!(text, "{} process{es} created", self.created);
        text
    }

    fn close_line(&mut self, text: &mut String) {
        if self.open_line {
            text.push('\n');
            self.open_line = false;
        }
    }
}

/// A value as SPIN prints it: it knows the names of mtypes, but not those of truth values.
fn value(program: &Program, ty: Type, v: i32) -> String {
    match ty {
        Type::Mtype(_) => values::value(program, ty, v),
        _ => v.to_string(),
    }
}

/// A message as SPIN prints it.
fn message(program: &Program, kind: ChannelTypeId, fields: &[i32]) -> String {
    let types = &program.channel(kind).fields;
    let texts: Vec<String> =
        fields.iter().zip(types).map(|(&v, field)| value(program, field.ty, v)).collect();
    texts.join(",")
}

/// The variables that differ, with their new values.
fn changed(
    program: &Program,
    slots: &[Slot],
    old: &[i32],
    new: &[i32],
    owner: &str,
    text: &mut String,
) {
    for (slot, (&old, &new)) in slots.iter().zip(old.iter().zip(new)) {
        if old != new && !slot.synthetic {
            let value = value(program, slot.ty, new);
            let _ = writeln!(text, "\t\t{owner}{} = {value}", slot.name);
        }
    }
}

/// The contents of a channel that can hold messages.
fn queue(program: &Program, view: &View, index: usize, text: &mut String) {
    let channel = &view.channels[index];
    if program.channel(channel.kind).capacity == 0 {
        return;
    }
    let name = values::channel_name(program, view, index + 1);
    let _ = write!(text, "\t\tqueue {} ({name}): ", index + 1);
    for fields in &channel.messages {
        let _ = write!(text, "[{}]", message(program, channel.kind, fields));
    }
    text.push('\n');
}

/// The first columns of a line: depth, process, type and priority.
fn head(program: &Program, depth: usize, pid: u16, process: &ProcessView) -> String {
    let name = &program.automaton(process.body).name;
    format!("{depth:3}:\tproc {pid:2} ({name}:{})", process.priority)
}

/// Whether the move waits for the whole system to be stuck.
fn uses_timeout(program: &Program, steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        matches!(&program.transition(step.transition).action, Action::Condition(Expr::Timeout))
    })
}

/// The number of the channel a step sends to or receives from.
fn channel_of(program: &Program, view: &View, step: Step) -> Option<usize> {
    let (Action::Send { channel, .. } | Action::Receive { channel, .. }) =
        &program.transition(step.transition).action
    else {
        return None;
    };
    let number = peek(program, view, step.process, channel)?;
    usize::try_from(number).ok().filter(|number| *number > 0)
}

/// A value that can be told without computing.
fn peek(program: &Program, view: &View, process: u16, expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Pid => Some(i32::from(process)),
        Expr::Load(place) => values::look_up(program, view, process, place).map(|(_, v)| v),
        _ => None,
    }
}

/// The message that a send or receive moves: found in the channel, or for a rendezvous field by
/// field from what is sent and what is received; `?` for what cannot be told without computing.
fn exchanged(
    program: &Program,
    event: &Event<'_>,
    before: &View,
    after: Option<&View>,
) -> Option<String> {
    let after = after?;
    let number = channel_of(program, before, *event.steps.first()?)?;
    let old = before.channels.get(number - 1)?;
    let new = after.channels.get(number - 1)?;
    if program.channel(old.kind).capacity > 0 {
        let (longer, shorter) = if new.messages.len() > old.messages.len() {
            (&new.messages, &old.messages)
        } else {
            (&old.messages, &new.messages)
        };
        let differs = |i: &usize| longer.get(*i) != shorter.get(*i);
        let index = (0..longer.len()).find(differs).unwrap_or(0);
        return Some(message(program, old.kind, longer.get(index)?));
    }
    let [sender, receiver] = event.steps else {
        return None;
    };
    let Action::Send { args: sent, .. } = &program.transition(sender.transition).action else {
        return None;
    };
    let Action::Receive { args: received, .. } = &program.transition(receiver.transition).action
    else {
        return None;
    };
    let types = &program.channel(old.kind).fields;
    let fields: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let told = sent
                .get(i)
                .and_then(|expr| peek(program, before, sender.process, expr))
                .or_else(|| match received.get(i)? {
                    ReceiveArg::Store(place) => {
                        values::look_up(program, after, receiver.process, place).map(|(_, v)| v)
                    }
                    ReceiveArg::Match(expr) => peek(program, before, receiver.process, expr),
                    ReceiveArg::Ignore => None,
                });
            match told {
                Some(v) => value(program, field.ty, field.scalar.truncate(v)),
                None => "?".into(),
            }
        })
        .collect();
    Some(fields.join(","))
}

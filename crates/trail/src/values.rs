//! Values as people read them, and what differs between two states.

use std::fmt;

use spinward_machine::View;
use spinward_program::Program;
use spinward_program::ir::{BodyId, ChannelTypeId, Expr, Place, Slot, Space};
use spinward_promela::symbols::Type;

/// A value of a type: `true`, `ack`, `17`, `channel 2`.
pub fn value(program: &Program, ty: Type, value: i32) -> String {
    match ty {
        Type::Bool if value == 0 => "false".into(),
        Type::Bool if value == 1 => "true".into(),
        Type::Mtype(set) => {
            let names = program.symbols.mtypes.get(set.0 as usize);
            let name = names.and_then(|set| set.values.iter().find(|(_, v)| *v == value));
            name.map_or_else(|| value.to_string(), |(name, _)| name.clone())
        }
        Type::Chan if value == 0 => "no channel".into(),
        Type::Chan => format!("channel {value}"),
        _ => value.to_string(),
    }
}

/// A message: `ack,3`.
pub fn message(program: &Program, kind: ChannelTypeId, fields: &[i32]) -> String {
    let types = &program.channel(kind).fields;
    let texts: Vec<String> =
        fields.iter().zip(types).map(|(&v, field)| value(program, field.ty, v)).collect();
    texts.join(",")
}

/// The messages of a channel, the oldest first: `[ack,3][nak,4]`; `[]` if there are none.
pub fn contents(program: &Program, kind: ChannelTypeId, messages: &[Vec<i32>]) -> String {
    if messages.is_empty() {
        return "[]".into();
    }
    messages.iter().map(|fields| format!("[{}]", message(program, kind, fields))).collect()
}

/// A channel as its users call it: the variable that declares it, if it still holds it.
pub fn channel_name(program: &Program, view: &View, number: usize) -> String {
    let Some(channel) = view.channels.get(number.wrapping_sub(1)) else {
        return format!("channel {number}");
    };
    let holder = |slots: &[Slot], values: &[i32]| {
        let mut pairs = slots.iter().zip(values);
        let found = pairs.find(|(slot, v)| {
            usize::try_from(**v) == Ok(number) && is_own_channel(program, view, slot, **v)
        });
        found.map(|(slot, _)| slot.name.clone())
    };
    if let Some(name) = holder(&program.globals.slots, &view.globals) {
        return name;
    }
    for (pid, process) in view.processes.iter().enumerate() {
        let automaton = program.automaton(process.body);
        if let Some(name) = holder(&automaton.locals.slots, &process.locals) {
            return format!("{}({pid}):{name}", plain_name(&automaton.name));
        }
    }
    program.channel(channel.kind).name.clone()
}

/// Whether a variable holds a channel that it declares itself, so that the two have one name.
pub fn is_own_channel(program: &Program, view: &View, slot: &Slot, value: i32) -> bool {
    let base = |name: &str| name.split('[').next().unwrap_or("").to_owned();
    let channel = usize::try_from(value).ok().and_then(|n| view.channels.get(n.checked_sub(1)?));
    slot.ty == Type::Chan
        && channel.is_some_and(|c| base(&program.channel(c.kind).name) == base(&slot.name))
}

/// A variable, or a channel that can hold messages, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Whose variable it is; none if it is global.
    pub process: Option<u16>,
    /// As a user would write it.
    pub name: String,
    /// Its value, or the messages.
    pub value: String,
}

/// All that a state holds: globals, locals, channels, in this order. Variables that the user did not
/// declare are left out.
pub fn variables(program: &Program, view: &View) -> Vec<Variable> {
    let mut all = Vec::new();
    let mut add = |process: Option<u16>, slots: &[Slot], values: &[i32]| {
        for (slot, &v) in slots.iter().zip(values) {
            if !slot.synthetic && !is_own_channel(program, view, slot, v) {
                let value = value(program, slot.ty, v);
                all.push(Variable { process, name: slot.name.clone(), value });
            }
        }
    };
    add(None, &program.globals.slots, &view.globals);
    add(None, &program.hidden.slots, &view.hidden);
    for (pid, process) in view.processes.iter().enumerate() {
        let locals = &program.automaton(process.body).locals.slots;
        add(Some(pid as u16), locals, &process.locals);
    }
    for (index, channel) in view.channels.iter().enumerate() {
        if program.channel(channel.kind).capacity > 0 {
            let name = channel_name(program, view, index + 1);
            let value = contents(program, channel.kind, &channel.messages);
            all.push(Variable { process: None, name, value });
        }
    }
    all
}

/// Something that differs between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A variable or a channel has another value.
    Set {
        /// Whose variable it is; none if it is global.
        process: Option<u16>,
        /// As a user would write it.
        name: String,
        /// Its value before.
        before: String,
        /// Its value after.
        after: String,
    },
    /// There is a new process.
    Started {
        /// Its number.
        process: u16,
        /// Its type.
        name: String,
    },
    /// A process is gone.
    Ended {
        /// Its number.
        process: u16,
        /// Its type.
        name: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { name, before, after, .. } => write!(f, "{name}: {before} -> {after}"),
            Self::Started { process, name } => write!(f, "{name}({process}) starts"),
            Self::Ended { process, name } => write!(f, "{name}({process}) ends"),
        }
    }
}

/// A type of process as people write it: `init`, not SPIN's `:init:`.
pub fn plain_name(name: &str) -> &str {
    name.trim_matches(':')
}

/// What a run changes from one state to another: globals, locals, channels, processes, in this
/// order. Variables that the user did not declare are left out.
pub fn diff(program: &Program, before: &View, after: &View) -> Vec<Change> {
    let mut changes = Vec::new();
    let globals = [
        (&program.globals.slots, &before.globals, &after.globals),
        (&program.hidden.slots, &before.hidden, &after.hidden),
    ];
    for (slots, old, new) in globals {
        diff_slots(program, None, slots, old, new, &mut changes);
    }
    diff_processes(program, before, after, &mut changes);
    for number in 1..=before.channels.len().max(after.channels.len()) {
        let text = |view: &View| {
            let channel = view.channels.get(number - 1)?;
            (program.channel(channel.kind).capacity > 0)
                .then(|| contents(program, channel.kind, &channel.messages))
        };
        // A channel that comes or goes with its process is no news.
        if let (Some(old), Some(new)) = (text(before), text(after))
            && old != new
        {
            changes.push(Change::Set {
                process: None,
                name: channel_name(program, after, number),
                before: old,
                after: new,
            });
        }
    }
    changes
}

fn diff_slots(
    program: &Program,
    process: Option<u16>,
    slots: &[Slot],
    old: &[i32],
    new: &[i32],
    changes: &mut Vec<Change>,
) {
    for (slot, (&old, &new)) in slots.iter().zip(old.iter().zip(new)) {
        if old != new && !slot.synthetic {
            changes.push(Change::Set {
                process,
                name: slot.name.clone(),
                before: value(program, slot.ty, old),
                after: value(program, slot.ty, new),
            });
        }
    }
}

fn diff_processes(program: &Program, before: &View, after: &View, changes: &mut Vec<Change>) {
    for pid in 0..before.processes.len().max(after.processes.len()) {
        let process = pid as u16;
        let old = before.processes.get(pid);
        let new = after.processes.get(pid);
        let name = |body| plain_name(&program.automaton(body).name).to_owned();
        match (old, new) {
            (Some(old), Some(new)) if old.body == new.body => {
                let slots = &program.automaton(new.body).locals.slots;
                let (old_values, new_values) = (&old.locals, &new.locals);
                diff_slots(program, Some(process), slots, old_values, new_values, changes);
                if old.priority != new.priority {
                    changes.push(Change::Set {
                        process: Some(process),
                        name: "_priority".into(),
                        before: old.priority.to_string(),
                        after: new.priority.to_string(),
                    });
                }
            }
            _ => {
                changes.extend(old.map(|old| Change::Ended { process, name: name(old.body) }));
                changes.extend(new.map(|new| Change::Started { process, name: name(new.body) }));
            }
        }
    }
}

/// What an expression reads and the values in a state, as far as they can be told:
/// plain variables, array elements whose index is made of such and constants, the variables of other
/// processes, and the messages of channels it asks about. `process` is the one that asks.
pub fn values_read(
    program: &Program,
    view: &View,
    process: u16,
    expr: &Expr,
) -> Vec<(String, String)> {
    let mut reader = Reader { program, view, process, found: Vec::new() };
    reader.read(expr);
    reader.found
}

struct Reader<'a> {
    program: &'a Program,
    view: &'a View,
    process: u16,
    found: Vec<(String, String)>,
}

impl Reader<'_> {
    fn read(&mut self, expr: &Expr) {
        match expr {
            Expr::Load(place) => {
                if let Some((slot, v)) = look_up(self.program, self.view, self.process, place) {
                    self.add(slot.name.clone(), value(self.program, slot.ty, v));
                }
                self.read_indexes(place);
            }
            Expr::Len(channel) | Expr::ChannelTest(_, channel) | Expr::Poll { channel, .. } => {
                self.read_channel(channel);
            }
            Expr::RemoteVar { body, pid, place } => {
                self.read_remote(*body, pid.as_deref(), place);
                self.read_indexes(place);
            }
            Expr::Unary(_, a) => self.read(a),
            Expr::Binary(_, a, b) => {
                self.read(a);
                self.read(b);
            }
            Expr::Conditional(a, b, c) => {
                self.read(a);
                self.read(b);
                self.read(c);
            }
            _ => {}
        }
    }

    fn add(&mut self, name: String, value: String) {
        let pair = (name, value);
        if !self.found.contains(&pair) {
            self.found.push(pair);
        }
    }

    fn read_indexes(&mut self, place: &Place) {
        for index in &place.indexes {
            self.read(&index.value);
        }
    }

    /// A channel is told by its messages.
    fn read_channel(&mut self, channel: &Expr) {
        let Expr::Load(place) = channel else {
            return self.read(channel);
        };
        let Some((slot, number)) = look_up(self.program, self.view, self.process, place) else {
            return;
        };
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match index.and_then(|index| self.view.channels.get(index)) {
            Some(at) => self.add(slot.name.clone(), contents(self.program, at.kind, &at.messages)),
            None => self.add(slot.name.clone(), value(self.program, slot.ty, number)),
        }
    }

    /// A variable of another process: of the lowest of its type, or of the one whose number is a
    /// constant.
    fn read_remote(&mut self, body: BodyId, pid: Option<&Expr>, place: &Place) {
        let mut processes = self.view.processes.iter();
        let pid = match pid {
            None => processes.position(|process| process.body == body),
            Some(Expr::Const(pid)) => usize::try_from(*pid).ok(),
            Some(_) => None,
        };
        let Some(pid) = pid.and_then(|pid| u16::try_from(pid).ok()) else { return };
        if let Some((slot, v)) = look_up(self.program, self.view, pid, place) {
            let who = plain_name(&self.program.automaton(body).name);
            self.add(format!("{who}({pid}):{}", slot.name), value(self.program, slot.ty, v));
        }
    }
}

/// The value of an index, if it is made of constants and variables only.
fn index_value(program: &Program, view: &View, process: u16, expr: &Expr) -> Option<i32> {
    let value = |expr| index_value(program, view, process, expr);
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Pid => Some(i32::from(process)),
        Expr::Load(place) => look_up(program, view, process, place).map(|(_, value)| value),
        Expr::Unary(op, a) => Some(op.apply(value(a)?)),
        Expr::Binary(op, a, b) => op.apply(value(a)?, value(b)?),
        _ => None,
    }
}

/// The scalar a place stands for in a state, and its value.
pub fn look_up<'p>(
    program: &'p Program,
    view: &View,
    process: u16,
    place: &Place,
) -> Option<(&'p Slot, i32)> {
    let mut offset = i64::from(place.offset);
    for index in &place.indexes {
        let value = index_value(program, view, process, &index.value)?;
        let inside = u32::try_from(value).is_ok_and(|v| v < index.length);
        if !inside {
            return None;
        }
        offset += i64::from(value) * i64::from(index.stride);
    }
    let (slots, values) = match place.space {
        Space::Global => (&program.globals.slots, &view.globals),
        Space::Hidden => (&program.hidden.slots, &view.hidden),
        Space::Local => {
            let process = view.processes.get(usize::from(process))?;
            let automaton = program.automaton(process.body);
            (&automaton.locals.slots, &process.locals)
        }
    };
    slots
        .iter()
        .zip(values)
        .find(|(slot, _)| i64::from(slot.offset) == offset)
        .map(|(slot, v)| (slot, *v))
}

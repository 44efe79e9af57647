//! What makes processes interchangeable.
//!
//! *Idea*: if processes of one body are numbered otherwise, and with them whatever tells one from the other (variables
//! that hold their numbers, elements of arrays that have these as index, channels of their own), then what
//! they do is numbered otherwise too, and nothing else changes: such states are bisimilar, and one for all of
//! them is enough (Emerson and Sistla, *Symmetry and model checking*, 1996; Bošnački, Dams, Holenderski, *Symmetric Spin*, 2002).
//! Here it is found out from the text which values may be exchanged for each other, and where they are; in each
//! state the machine finds out of what they tell processes apart.
//!
//! *Conditions*: with a [sort] of values nothing is done but to compare them for equality, and to choose an element of an
//! array; those that stand in the text stay as they are. Only what may still happen counts: as long as processes
//! may be created, nobody is interchanged. Nor do processes that are interchanged show by their
//! death in which order they were created (who dies must be the youngest): nobody may ask who is alive.
//! A local variable that is dead has no effect, and is 0.
//!
//! *Cost*: about linear in the size of the program.
//!
//! [sort]: Sort

mod typing;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::Program;
use crate::access::written;
use crate::ir::{
    Action, Automaton, BodyId, BodyKind, ChannelTypeId, InitStep, Scalar, Space, StateId,
    TransitionId,
};
use crate::optimize::{Watched, dead::Dead, is_process};
use crate::touches::overlap;
use typing::{Class, Node, Pattern, Pieces, Typing};

/// So often it is looked at which variables are dead in which local states of a body, or not at all.
const MOST_DEAD: usize = 1 << 20;

/// A kind of values that may be exchanged for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sort(pub usize);

impl Sort {
    /// Numbers of processes.
    pub const PROCESS: Self = Self(0);
    /// Numbers of channels.
    pub const CHANNEL: Self = Self(1);
}

/// What must hold of a value, if it is to be exchanged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// Values that stand in the text, and so mean themselves.
    pinned: BTreeSet<i32>,
    /// It is below this.
    below: Option<u32>,
    /// How it is stored.
    scalars: Vec<Scalar>,
}

impl Terms {
    fn add(&mut self, class: &Class, constants: bool) {
        for &value in class.constants.iter().filter(|_| constants) {
            let stored = class.scalars.iter().map(|scalar| scalar.truncate(value));
            self.pinned.extend(stored.chain([value]));
        }
        self.below = self.below.into_iter().chain(class.shortest).min();
        self.scalars.extend(&class.scalars);
    }

    /// Whether a value may be exchanged for another such.
    fn allow(&self, value: i32) -> bool {
        !self.pinned.contains(&value)
            && self.below.is_none_or(|below| u32::try_from(value).is_ok_and(|it| it < below))
            && self.fits(value)
    }

    /// Whether a value stays the same wherever it is stored.
    fn fits(&self, value: i32) -> bool {
        self.scalars.iter().all(|scalar| scalar.truncate(value) == value)
    }
}

/// A scalar of a block that goes along with values of some sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Where it is in its block.
    pub offset: u32,
    /// How it is stored.
    pub scalar: Scalar,
    /// What it holds, if that is of a sort.
    pub sort: Option<Sort>,
    /// If it is an element of an array that is indexed with values of a sort.
    pub key: Option<Key>,
    /// Whether nobody ever sets it.
    pub constant: bool,
}

/// The place of an element in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What the array is indexed with.
    pub sort: Sort,
    /// The index of the element.
    pub value: i32,
    /// How far it is from one element to the next.
    pub stride: u32,
}

/// A local variable that a process never sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Where it is.
    pub offset: u32,
    /// How it is stored.
    pub scalar: Scalar,
    /// What it holds, if that is of a sort.
    pub sort: Option<Sort>,
}

/// What is known of the processes of a body.
#[derive(Debug, Default)]
pub struct BodySorts {
    /// Whether they may be interchanged.
    pub may_move: bool,
    /// Those of their variables that matter, in order.
    pub cells: Vec<Cell>,
    /// What they never set.
    pub constants: Vec<Constant>,
    /// By local state.
    pub states: Vec<StateSorts>,
}

/// What is known of a local state.
#[derive(Clone, Debug, Default)]
pub struct StateSorts {
    /// Whether from here on no process is created.
    pub settled: bool,
    /// If the process is done, and nobody minds if it dies: how.
    pub done: Option<TransitionId>,
    /// Which of [`BodySorts::cells`] are dead.
    pub dead: Vec<usize>,
}

/// What makes processes interchangeable.
#[derive(Debug)]
pub struct Symmetry {
    /// By body.
    pub bodies: Vec<BodySorts>,
    /// The globals that matter.
    pub globals: Vec<Cell>,
    /// By kind of channel: the sorts of the fields of its messages.
    pub messages: Vec<Vec<Option<Sort>>>,
    /// By sort.
    terms: Vec<Terms>,
    /// Whether nobody computes with numbers of channels.
    pub channels_move: bool,
}

/// What must hold; tests leave out one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Values that stand in the text mean themselves.
    pub constants: bool,
    /// Nobody computes with values, or asks for their order.
    pub computing: bool,
    /// Nobody sees who dies.
    pub deaths: bool,
    /// Nobody is created any more.
    pub creation: bool,
}

impl Conditions {
    /// All of them.
    pub const ALL: Self = Self { constants: true, computing: true, deaths: true, creation: true };
}

/// Why processes are not interchangeable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSymmetric {
    /// For people.
    pub why: String,
    /// The statement that keeps them apart, if it is one.
    pub because: Option<TransitionId>,
}

impl NotSymmetric {
    fn new(why: &str) -> Self {
        Self { why: why.into(), because: None }
    }
}

/// The program with all variables left as they are that a process never sets, though it may not read them any
/// more: they tell it from others.
pub fn keep_constants(program: &Program) -> Program {
    let mut kept = program.clone();
    for automaton in &program.automata {
        let constants: Vec<_> =
            never_set(program, automaton, &settled(program, automaton)).collect();
        let is_kept = |range: &Range<u32>| constants.iter().any(|it| overlap(it, range));
        let drop_kept = |resets: &mut Vec<Range<u32>>| {
            let bytes = std::mem::take(resets).into_iter().flatten();
            resets.extend(bytes.map(|at| at..at + 1).filter(|it| !is_kept(it)));
        };
        drop_kept(&mut kept.automata[automaton.body.0 as usize].resets);
        for id in automaton.states.iter().flat_map(|state| state.transition_ids()) {
            drop_kept(&mut kept.transitions[id.0 as usize].resets);
        }
    }
    kept
}

/// The bytes of a block that processes of a body set in settled states.
fn set_by(
    program: &Program,
    automaton: &Automaton,
    settled: &[bool],
    space: Space,
) -> Vec<Range<u32>> {
    let mut set = Vec::new();
    let states = automaton.states.iter().zip(settled).filter(|(_, settled)| **settled);
    for id in states.flat_map(|(state, _)| state.transition_ids()) {
        written(&program.transition(id).action, &mut |place, _| {
            if place.space == space {
                set.push(place.span());
            }
        });
    }
    set
}

/// The local variables that processes never set in settled states, as bytes.
fn never_set<'p>(
    program: &Program,
    automaton: &'p Automaton,
    settled: &[bool],
) -> impl Iterator<Item = Range<u32>> + use<'p> {
    let set = set_by(program, automaton, settled, Space::Local);
    let slots = automaton.locals.slots.iter();
    let spans = slots.map(|slot| slot.offset..slot.offset + slot.scalar.bytes());
    spans.filter(move |span| !set.iter().any(|it| overlap(it, span)))
}

impl Symmetry {
    /// Of the processes of a program of which some things are watched.
    pub fn new(
        program: &Program,
        watched: &Watched,
        traced: bool,
        conditions: Conditions,
    ) -> Result<Self, NotSymmetric> {
        if program.uses.priorities {
            return Err(NotSymmetric::new("processes have priorities"));
        }
        if program.hidden.bytes > 0 {
            return Err(NotSymmetric::new("the model has hidden variables"));
        }
        if program.uses.last {
            return Err(NotSymmetric::new("`_last` is used"));
        }
        if traced && program.trace.is_some() {
            return Err(NotSymmetric::new("the model has a trace"));
        }
        let settled = |automaton: &Automaton| match conditions.creation {
            true => settled(program, automaton),
            false => vec![true; automaton.states.len()],
        };
        let settled: Vec<_> = program.automata.iter().map(settled).collect();
        let is_watched = |it: &&Automaton| is_process(it.kind) || watched.claim == Some(it.body);
        let transitions = program.automata.iter().filter(is_watched).flat_map(|automaton| {
            let settled = &settled[automaton.body.0 as usize];
            let states = automaton.states.iter().zip(settled).filter(|(_, settled)| **settled);
            states.flat_map(|(state, _)| state.transition_ids())
        });
        let provided = program.automata.iter().filter_map(|automaton| {
            automaton.provided.as_ref().map(|provided| (Some(automaton.body), provided))
        });
        let asked = watched.conditions.iter().map(|&it| &program.conditions[it as usize].expr);
        let asked = provided.chain(asked.map(|condition| (None, condition)));
        let typing = Typing::new(program, transitions, asked, conditions.computing);
        let (sorts, terms) = (BTreeMap::new(), Vec::new());
        let plain_numbers = false;
        Finding { program, watched, conditions, settled, typing, sorts, terms, plain_numbers }
            .finish()
    }

    /// How many sorts there are.
    pub fn sorts(&self) -> usize {
        self.terms.len()
    }

    /// Whether a value of a sort may be exchanged for another such.
    pub fn allows(&self, sort: Sort, value: i32) -> bool {
        self.terms[sort.0].allow(value)
    }

    /// Whether a value of a sort can become none that may be exchanged: as long as it is copied, it stays the same,
    /// or is one that stands in the text.
    pub fn is_harmless(&self, sort: Sort, value: i32) -> bool {
        let terms = &self.terms[sort.0];
        terms.fits(value) || terms.pinned.contains(&value)
    }
}

/// By local state: whether from there on no process is created.
fn settled(program: &Program, automaton: &Automaton) -> Vec<bool> {
    let mut settled = vec![true; automaton.states.len()];
    loop {
        let mut changed = false;
        for (number, state) in automaton.states.iter().enumerate() {
            let unsettles = |id| {
                let transition = program.transition(id);
                let inside = match transition.action {
                    Action::Run { .. } => return true,
                    Action::DStep { entry } => !settled[usize::from(entry.0)],
                    _ => false,
                };
                inside || !settled[usize::from(transition.to.0)]
            };
            if settled[number] && state.transition_ids().any(unsettles) {
                settled[number] = false;
                changed = true;
            }
        }
        if !changed {
            return settled;
        }
    }
}

/// Whether processes of a body may die.
fn may_die(program: &Program, automaton: &Automaton) -> bool {
    let states = automaton.states.iter().filter(|state| state.reachable);
    let mut ids = states.flat_map(|state| state.transition_ids());
    ids.any(|id| matches!(program.transition(id).action, Action::Die))
}

/// What is being put together.
struct Finding<'p> {
    program: &'p Program,
    watched: &'p Watched,
    conditions: Conditions,
    settled: Vec<Vec<bool>>,
    typing: Typing<'p>,
    /// By who speaks for a class: its sort, if it has one.
    sorts: BTreeMap<Node, Option<Sort>>,
    terms: Vec<Terms>,
    /// Whether numbers of processes are computed with.
    plain_numbers: bool,
}

impl<'p> Finding<'p> {
    fn finish(mut self) -> Result<Symmetry, NotSymmetric> {
        if let Some(why) = self.typing.refused {
            return Err(NotSymmetric::new(why));
        }
        let numbers = self.typing.class(self.typing.process);
        let because = numbers.why;
        self.plain_numbers = numbers.plain || numbers.channels;
        if self.plain_numbers && self.typing.asks_by_number {
            let why = "numbers of processes are computed with".into();
            return Err(NotSymmetric { why, because });
        }
        let messages: Vec<Vec<_>> = (0..self.program.channels.len())
            .map(|kind| {
                let kind = ChannelTypeId(kind as u16);
                let fields = 0..self.program.channel(kind).fields.len();
                fields.map(|index| self.typing.field(kind, index)).collect()
            })
            .collect();
        let pieces = self.typing.patterns.values();
        let values = pieces.flat_map(|it| it.indexes.iter().chain([&it.value]));
        let values = values.chain(messages.iter().flatten()).chain(&self.typing.channels);
        let values: Vec<_> = values.copied().chain([self.typing.process]).collect();
        self.terms.resize(2, Terms::default());
        values.iter().for_each(|&node| self.note_sort(node));
        let channels_move = values.iter().all(|&node| {
            let class = self.typing.class(node);
            !class.channels || !class.plain
        });
        let dead = Dead::new(self.program, self.watched);
        let automata = &self.program.automata;
        let bodies: Vec<_> = automata.iter().map(|it| self.body(it, &dead)).collect();
        if !bodies.iter().any(|body| body.may_move) {
            return Err(self.why_not());
        }
        let sorts = |fields: &Vec<_>| fields.iter().map(|&it| self.sort(it)).collect();
        let messages = messages.iter().map(sorts).collect();
        let globals = self.cells(None);
        Ok(Symmetry { bodies, globals, messages, terms: self.terms, channels_move })
    }

    /// What keeps all processes apart.
    fn why_not(&self) -> NotSymmetric {
        let typing = &self.typing;
        if self.plain_numbers && !typing.use_own_number.is_empty() {
            let why = "numbers of processes are computed with".into();
            return NotSymmetric { why, because: typing.class(typing.process).why };
        }
        NotSymmetric::new(if typing.counts_processes {
            "`_nr_pr` tells how many processes have died"
        } else if typing.asks_by_number || !typing.firsts.is_empty() {
            "somebody looks at processes that may have died"
        } else if self.watched.claim.is_some() {
            "the never claim moves along with each process that dies"
        } else {
            "processes that die take channels along, or are kept from it by `provided`"
        })
    }

    /// Gives a value a sort, if its class is not plain.
    fn note_sort(&mut self, node: Node) {
        let root = self.typing.root(node);
        let class = self.typing.class(node);
        let sort = if root == self.typing.root(self.typing.process) {
            (!self.plain_numbers).then_some(Sort::PROCESS)
        } else if class.plain {
            None
        } else if class.channels {
            Some(Sort::CHANNEL)
        } else if let Some(known) = self.sorts.get(&root) {
            *known
        } else {
            self.terms.push(Terms::default());
            Some(Sort(self.terms.len() - 1))
        };
        let known = self.sorts.insert(root, sort);
        if let (None, Some(sort)) = (known, sort) {
            self.terms[sort.0].add(class, self.conditions.constants);
        }
    }

    fn sort(&self, node: Node) -> Option<Sort> {
        self.sorts[&self.typing.root(node)]
    }

    /// The bytes of a block that somebody sets, of one body or of any.
    fn set(&self, space: Space, body: Option<BodyId>) -> Vec<Range<u32>> {
        let automata = self.program.automata.iter();
        let theirs = automata.filter(|it| body.is_none_or(|body| it.body == body));
        let settled = |it: &Automaton| &self.settled[it.body.0 as usize];
        theirs.flat_map(|it| set_by(self.program, it, settled(it), space)).collect()
    }

    /// The patterns of a body.
    fn patterns(&self, body: Option<BodyId>) -> impl Iterator<Item = (&Pattern, &Pieces)> {
        self.typing.patterns.iter().filter(move |(pattern, _)| pattern.body == body)
    }

    /// The scalars of a body that matter.
    fn cells(&self, body: Option<BodyId>) -> Vec<Cell> {
        let space = if body.is_some() { Space::Local } else { Space::Global };
        let set = self.set(space, body);
        let mut cells: BTreeMap<u32, Cell> = BTreeMap::new();
        for (pattern, pieces) in self.patterns(body) {
            let sort = self.sort(pieces.value);
            let index = pieces.indexes.iter().position(|&it| self.sort(it).is_some());
            for (offset, indexes) in pattern.cells() {
                let key = index.map(|at| Key {
                    sort: self.sort(pieces.indexes[at]).expect("it has one"),
                    value: indexes[at],
                    stride: pattern.directions[at].1,
                });
                if sort.is_some() || key.is_some() {
                    let scalar = pieces.scalar;
                    let span = offset..offset + scalar.bytes();
                    let constant = !set.iter().any(|it| overlap(it, &span));
                    let cell = Cell { offset, scalar, sort, key, constant };
                    let known = cells.entry(offset).or_insert(cell);
                    known.key = known.key.or(key);
                }
            }
        }
        cells.into_values().collect()
    }

    /// Whether some process that may die takes channels along which others may know, or may be kept from it.
    fn dies_noticeably(&self) -> bool {
        let processes = self.program.automata.iter().filter(|it| is_process(it.kind));
        processes.filter(|it| may_die(self.program, it)).any(|it| {
            let mut init = it.init.iter();
            it.provided.is_some() || init.any(|step| matches!(step, InitStep::NewChannel(..)))
        })
    }

    fn body(&self, automaton: &Automaton, dead: &Dead) -> BodySorts {
        if !is_process(automaton.kind) {
            return BodySorts::default();
        }
        let body = automaton.body;
        let cells = self.cells(Some(body));
        let settled = &self.settled[body.0 as usize];
        let mut read = BTreeMap::new();
        for (pattern, pieces) in self.patterns(Some(body)) {
            let value = (pieces.scalar, self.sort(pieces.value));
            read.extend(pattern.cells().into_iter().map(|(offset, _)| (offset, value)));
        }
        let unset = never_set(self.program, automaton, settled);
        let constants: Vec<_> = unset
            .filter_map(|span| {
                let &(scalar, sort) = read.get(&span.start)?;
                Some(Constant { offset: span.start, scalar, sort })
            })
            .collect();
        let seen = self.typing.counts_processes
            || self.typing.asks_by_number
            || !self.typing.firsts.is_empty()
            || self.watched.claim.is_some()
            || self.dies_noticeably();
        let unnoticed = !(self.conditions.deaths && seen);
        let small = cells.len() * automaton.states.len() <= MOST_DEAD;
        let states = (0..automaton.states.len()).map(|number| {
            let state = StateId(number as u16);
            let ids: Vec<_> = automaton.state(state).transition_ids().collect();
            let is_death = |id: &TransitionId| {
                let transition = self.program.transition(*id);
                matches!(transition.action, Action::Die) && transition.escape == 0
            };
            let done =
                ids.first().copied().filter(|id| ids.len() == 1 && unnoticed && is_death(id));
            let dead = if small { dead.of(body, state) } else { Vec::new() };
            let is_dead = |cell: &Cell| {
                let next = dead.partition_point(|range| range.end <= cell.offset);
                dead.get(next).is_some_and(|range| range.start < cell.offset + cell.scalar.bytes())
            };
            let may_be =
                cells.iter().enumerate().filter(|(_, it)| it.sort.is_some() && !it.constant);
            let dead = may_be.filter(|(_, cell)| is_dead(cell)).map(|(at, _)| at).collect();
            StateSorts { settled: settled[number], done, dead }
        });
        let states = states.collect();
        let may_move = automaton.kind == BodyKind::Proctype
            && (unnoticed || !may_die(self.program, automaton))
            && !self.typing.firsts.contains(&body)
            && !(self.plain_numbers && self.typing.use_own_number.contains(&body));
        BodySorts { may_move, cells, constants, states }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::program;

    fn symmetry(text: &str) -> Result<Symmetry, NotSymmetric> {
        Symmetry::new(&program(text), &Watched::default(), true, Conditions::ALL)
    }

    /// Whether processes of a body may be interchanged.
    fn moves(text: &str, body: &str) -> bool {
        let body = program(text).automata.iter().position(|it| it.name == body).expect("a body");
        symmetry(text).is_ok_and(|symmetry| symmetry.bodies[body].may_move)
    }

    /// The globals that hold names, and those that are indexed with them.
    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        let program = program(text);
        let symmetry = symmetry(text).expect("nothing is against it");
        let of = |is_such: fn(&Cell) -> bool| {
            let cells = symmetry.globals.iter().filter(|cell| is_such(cell) && !cell.constant);
            let slot = |cell: &Cell| {
                let slots = program.globals.slots.iter();
                slots.clone().find(|slot| slot.offset == cell.offset).expect("a variable")
            };
            cells.map(|cell| slot(cell).name.clone()).collect()
        };
        (of(|cell| cell.sort == Some(Sort::PROCESS)), of(|cell| cell.key.is_some()))
    }

    #[test]
    fn what_is_copied_compared_and_used_as_an_index_is_a_name() {
        let text = "byte owner, other, count, flag[2]; chan c = [1] of { byte, byte };
            active [2] proctype P() {
                byte x;
                do
                :: owner = _pid; c!owner,count :: c?x,count; other = x
                :: flag[x] = 1 :: count = count + 1
                od
            }";
        let (names, keyed) = names(text);
        assert_eq!(names, ["owner", "other"]);
        assert_eq!(keyed, ["flag[0]", "flag[1]"]);
        assert!(moves(text, "P"));
        let symmetry = symmetry(text).unwrap();
        assert_eq!(symmetry.messages, [[Some(Sort::PROCESS), None]]);
    }

    #[test]
    fn what_is_computed_with_is_a_number() {
        let with = |statement: &str| {
            format!(
                "byte owner, flag[3]; chan c = [1] of {{ byte }};
                 active [2] proctype P() {{ do :: owner = _pid; {statement} od }}"
            )
        };
        for fine in [
            "owner == _pid",
            "flag[owner] = 1",
            "c!owner",
            "c?eval(owner)",
            "printf(\"%d\", owner)",
        ] {
            assert!(moves(&with(fine), "P"), "{fine}");
        }
        for not in [
            "owner < _pid",
            "owner++",
            "flag[owner + 1] = 1",
            "c!!owner",
            "flag[owner] = owner; flag[0]++",
        ] {
            assert!(!moves(&with(not), "P"), "{not}");
        }
    }

    #[test]
    fn what_stands_in_the_text_means_itself() {
        let text = "byte owner, flag[4]; int far = -1;
            active [4] proctype P() { do :: owner = _pid; owner != 2; flag[owner] = 1; far = owner od }
            active proctype Q() { flag[3] == 1; flag[1] == 1 }";
        let symmetry = symmetry(text).unwrap();
        let exchanged: Vec<_> =
            (-1..6).filter(|&pid| symmetry.allows(Sort::PROCESS, pid)).collect();
        // 1, 2 and 3 are named, and there is no `flag[4]`.
        assert_eq!(exchanged, [0]);
    }

    #[test]
    fn as_long_as_processes_are_created_nothing_counts() {
        let text = "byte flag[3];
            proctype P(byte id) { do :: flag[id] = 1 :: flag[id] = 0 od }
            init { byte i; do :: i < 3 -> run P(i); flag[i] = i; i++ :: else -> break od; false }";
        assert!(moves(text, "P"));
        let program = program(text);
        let init = &symmetry(text).unwrap().bodies[1];
        assert_eq!(program.automata[1].kind, BodyKind::Init);
        assert!(!init.states[usize::from(program.automata[1].initial.0)].settled);
        assert!(init.states.iter().any(|state| state.settled));
    }

    #[test]
    fn who_is_seen_to_die_is_not_interchanged() {
        assert!(moves("active [2] proctype P() { skip }", "P"));
        for seen in [
            "active [2] proctype P() { skip } active proctype Q() { _nr_pr == 1 }",
            "active [2] proctype P() { chan c = [1] of { byte }; c!1 }",
            "active [2] proctype P() { skip } active proctype Q() provided (true) { skip }",
            "active [2] proctype P() { l: skip } active proctype Q() { P[0]@l }",
        ] {
            assert!(!moves(seen, "P"), "{seen}");
        }
        // Nor who never dies, if somebody looks at the first of them.
        let first = "active [2] proctype P() { l: do :: skip od } active proctype Q() { P@l }";
        assert!(!moves(first, "P"));
    }

    #[test]
    fn variables_that_tell_processes_apart_are_kept() {
        let text = "byte g; proctype P(byte id) { byte x; g = id; x = g; assert(x == g); g = 0 }
            init { run P(1); run P(2) }";
        let dead = crate::optimize::optimize(&program(text), &Watched::default());
        let kept = keep_constants(&dead);
        let resets = |program: &Program| -> BTreeSet<u32> {
            program.transitions.iter().flat_map(|it| it.resets.iter().cloned().flatten()).collect()
        };
        let at = |name: &str| {
            let slots = &dead.automata[0].locals.slots;
            slots.iter().find(|slot| slot.name == name).expect("a variable").offset
        };
        assert!(resets(&dead).contains(&at("id")) && !resets(&kept).contains(&at("id")));
        assert!(resets(&kept).contains(&at("x")));
    }
}

//! What processes claim to use alone: `xr`, `xs`.
//!
//! A process that says `xr c` claims that nobody else receives from the channel, or asks for messages in it,
//! as long as it lives; with `xs c`, that nobody else sends, or asks for room. Partial-order reduction may
//! count on that (`explore/alone.rs` of the machine) only because it is checked as well.
//!
//! *What counts*: a claim is *broken* in a state in which another process is at a local state that has such
//! a statement on the channel, whether it is possible now or not, also further on in an atomic sequence that
//! begins there. SPIN looks at claims when it tries a statement, and keeps what it saw beside the state: who
//! claimed a channel first, in whatever run. Here all depends on the state alone, so that it does not matter
//! in which order states are looked at.
//!
//! *Why a search that leaves out moves finds a broken claim if there is one*: of all runs from a state that it
//! visits to one in which a claim is broken, take a shortest. No claim is broken on the way, so each step was
//! independent of whoever moves alone in the first state, *p*, also where that follows from a claim. If *p* takes a
//! step in the run, it may take it first, and what is left is shorter. If it does not, the run
//! is as possible after a step of *p*, and that does not mend what is broken at its end: another process is
//! where it was, and so are the claims, unless *p* dies, or is itself who breaks a claim. So *p* does not move
//! alone if it dies and others may use what it claims, nor if it uses what others claim. As nobody is put off
//! for ever, in the end the run gets shorter, or there is a state in which all are asked and the claim is
//! broken: it is enough to look there. Likewise no other error is lost as long as no claim is broken
//! (Clarke, Grumberg, Peled, *Model checking*, 1999, chapter 10).
//!
//! *Cost*: nothing for a claim that can be seen to hold from the text: a single process
//! makes it, and no other one can get hold of the channel to use it in such a way. For others a look at
//! where each process is, in each state in which all are asked.

use std::collections::BTreeSet;

use crate::Program;
use crate::independence::{Analysis, Channel, Conditions, End, Number};
use crate::ir::{
    Action, BodyId, BodyKind, Expr, InitStep, Place, StateId, Transition, TransitionId,
};
use crate::touches::{Touches, Use, each_inside};

/// What processes claim to use alone, unless it is sure that they do.
#[derive(Clone, Debug, Default)]
pub struct Exclusive {
    claims: Vec<Claim>,
    /// By body and local state: what a process there may do that breaks a claim of another.
    attempts: Vec<Vec<Vec<Attempt>>>,
}

/// A claim of each process of a body.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The body.
    pub body: BodyId,
    /// Which end.
    pub end: End,
    /// Of which channel: one number, or that in a variable.
    pub channel: Channel,
    /// As the user wrote it, but for indexes: `xr c`.
    pub text: String,
}

/// A claim as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub body: BodyId,
    pub end: End,
    pub channel: Place,
    pub text: String,
}

/// Something that a process may do with a channel.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// What.
    pub what: Use,
    /// The number of the channel.
    pub channel: Expr,
    /// The statement.
    pub transition: TransitionId,
}

impl Use {
    /// Whether it breaks the claim of another process on an end, as in SPIN.
    pub fn breaks(self, end: End) -> bool {
        match self {
            Self::Send | Self::SendSorted | Self::HasRoom => end == End::In,
            Self::Receive | Self::ReceiveAny | Self::HasMessage => end == End::Out,
            Self::Test => true,
        }
    }
}

impl Exclusive {
    /// Of a program with some claims. One on a variable that does not always hold the same channel
    /// says nothing that could be counted on, and is left out.
    pub(crate) fn new(program: &Program, written: Vec<Written>) -> Self {
        if written.is_empty() {
            return Self::default();
        }
        let analysis = Analysis::new(program, &[], false, Conditions::ALL);
        let claims: Vec<_> = written
            .into_iter()
            .map(|Written { body, end, channel, text }| {
                let channel = analysis.channel(Some(body), &Expr::Load(channel));
                Claim { body, end, channel, text }
            })
            .filter(|claim| claim.channel.is_one() && !analysis.holds(claim))
            .collect();
        if claims.is_empty() {
            return Self::default();
        }
        let attempts = program.automata.iter().map(|automaton| match automaton.kind {
            BodyKind::Proctype | BodyKind::Init => (0..automaton.states.len())
                .map(|state| analysis.attempts(automaton.body, StateId(state as u16)))
                .collect(),
            _ => Vec::new(),
        });
        Self { attempts: attempts.collect(), claims }
    }

    /// All claims that have to be checked.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// What a process in a local state may do that breaks a claim of another.
    pub fn attempts(&self, body: BodyId, state: StateId) -> &[Attempt] {
        &self.attempts[body.0 as usize][state.0 as usize]
    }

    /// The claims of the processes of a body.
    pub fn of(&self, body: BodyId) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(move |claim| claim.body == body)
    }
}

/// Which channels a variable may hold.
#[derive(Debug, Default)]
struct Held {
    /// Those that are there from the start.
    numbers: BTreeSet<i32>,
    /// One that was created with a process.
    fresh: bool,
    any: bool,
}

impl Held {
    fn meets(&self, other: &Self) -> bool {
        let any = self.any || other.any;
        any || self.fresh && other.fresh || !self.numbers.is_disjoint(&other.numbers)
    }
}

impl Analysis<'_> {
    /// Whether a claim can be seen to hold in all runs.
    fn holds(&self, claim: &Claim) -> bool {
        let claimed = self.held(claim.body, &claim.channel);
        let is_safe = |body: BodyId| {
            let life = &self.lives[body.0 as usize];
            let uses = self.channels_of(Some(body), &life.touches);
            let mut breaking = uses.iter().filter(|(use_, _)| use_.breaks(claim.end));
            !breaking.any(|(_, channel)| self.held(body, channel).meets(&claimed))
        };
        let mut others = self.program.automata.iter().filter(|other| other.body != claim.body);
        self.lives[claim.body.0 as usize].number < Number::Many
            && others.all(|other| is_safe(other.body))
    }

    fn held(&self, body: BodyId, channel: &Channel) -> Held {
        let mut held = Held::default();
        self.hold(body, channel, &mut BTreeSet::new(), &mut held);
        held
    }

    /// Adds the channels that are meant in a body; `seen` has the variables that were followed.
    fn hold(
        &self,
        body: BodyId,
        channel: &Channel,
        seen: &mut BTreeSet<(u32, u32)>,
        held: &mut Held,
    ) {
        match channel {
            Channel::Numbers(numbers) => held.numbers.extend(numbers),
            Channel::Any => held.any = true,
            Channel::Own(offset) => {
                if seen.insert((body.0, *offset)) {
                    self.hold_own(body, *offset, seen, held);
                }
            }
        }
    }

    /// Adds what a variable of a process is set to when the process is created.
    fn hold_own(
        &self,
        body: BodyId,
        offset: u32,
        seen: &mut BTreeSet<(u32, u32)>,
        held: &mut Held,
    ) {
        let automaton = self.program.automaton(body);
        for step in &automaton.init {
            match step {
                InitStep::Store(place, value) if place.span().contains(&offset) => {
                    self.hold(body, &self.channel(Some(body), value), seen, held);
                }
                InitStep::NewChannel(place, _) if place.offset == offset => held.fresh = true,
                InitStep::Store(..) | InitStep::NewChannel(..) => {}
            }
        }
        let Some(number) = automaton.params.iter().position(|place| place.offset == offset) else {
            return;
        };
        for Transition { body: by, action, .. } in &self.program.transitions {
            if let Action::Run { body: created, args, .. } = action
                && *created == body
            {
                match args.get(number) {
                    Some(value) => self.hold(*by, &self.channel(Some(*by), value), seen, held),
                    None => held.any = true,
                }
            }
        }
    }

    /// What a process in a local state may do with channels next. Of what comes later in an atomic
    /// sequence it is known beforehand only if the channel is always the same.
    fn attempts(&self, body: BodyId, state: StateId) -> Vec<Attempt> {
        let program = self.program;
        let mut attempts = Vec::new();
        let mut add = |id: TransitionId, later: bool| {
            let mut touches = Touches::default();
            touches.add(program, program.transition(id));
            let known = |channel| !later || self.channel(Some(body), channel).is_one();
            let uses = touches.uses.into_iter().filter(|&(_, channel)| known(channel));
            attempts.extend(uses.map(|(what, channel)| Attempt {
                what,
                channel: channel.clone(),
                transition: id,
            }));
        };
        let mut at = vec![state];
        let mut next = 0;
        while let Some(&state) = at.get(next) {
            for id in program.automaton(body).state(state).transition_ids() {
                let transition = program.transition(id);
                match transition.action {
                    Action::DStep { entry } => {
                        each_inside(program, transition, entry, |inner| add(inner, true));
                    }
                    _ => add(id, next > 0),
                }
                if transition.atomic && !at.contains(&transition.to) {
                    at.push(transition.to);
                }
            }
            next += 1;
        }
        attempts
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::program;

    /// The claims of a model that must be checked.
    fn checked(text: &str) -> Vec<String> {
        program(text).exclusive.claims().iter().map(|claim| claim.text.clone()).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn claims_that_hold_by_the_text_are_not_checked() {
        let globals = "chan c = [1] of { byte }; chan d = [1] of { byte };
            proctype A() { byte x; xr c; xs d; c?x; d!x }
            init { atomic { run A(); c!1; c!2 } }";
        assert_eq!(checked(globals), NONE);
        let handed_on = "chan c[3] = [1] of { byte };
            proctype A(chan in, out) { byte x; xr in; xs out; in?x; out!x }
            proctype B(chan in, out) { byte x; xr in; xs out; in?x; out!x }
            init { run A(c[0], c[1]); run B(c[1], c[2]); byte x; c[0]!1; c[2]?x }";
        assert_eq!(checked(handed_on), NONE);
        let fresh = "chan c = [1] of { byte };
            active proctype A() { byte x; xr c; c?x }
            active proctype B() { chan own = [1] of { byte }; byte x; own!1; own?x }";
        assert_eq!(checked(fresh), NONE);
    }

    #[test]
    fn others_are_checked() {
        let twice = "chan c = [1] of { byte };
            active [2] proctype A() { byte x; xr c; c?x }";
        assert_eq!(checked(twice), ["xr c"]);
        let by_a_parameter = "chan c = [1] of { byte };
            proctype B(chan in) { byte x; in?x }
            active proctype A() { byte x; xr c; c?x }
            init { run B(c) }";
        assert_eq!(checked(by_a_parameter), ["xr c"]);
        let in_a_message = "chan c = [1] of { byte }; chan d = [1] of { chan };
            active proctype A() { byte x; xr c; c?x; d!c }
            active proctype B() { chan e; byte x; d?e; e?x }";
        assert_eq!(checked(in_a_message), ["xr c"]);
        let asked = "chan c = [1] of { byte };
            active proctype A() { xs c; c!1 }
            active proctype B() { byte x; empty(c); c?x }";
        assert_eq!(checked(asked), ["xs c"]);
    }

    /// It would be that of another channel later.
    #[test]
    fn claims_on_what_changes_say_nothing() {
        let set_later = "chan c = [1] of { byte };
            active proctype A() { chan d = c; byte x; xr d; d?x; d = c }
            active proctype B() { byte x; c?x }";
        assert_eq!(checked(set_later), NONE);
    }
}

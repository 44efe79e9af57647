//! What variables are about, told from what is done with them.
//!
//! *Idea*: the scalarsets of Ip and Dill (*Better verification through symmetry*, 1996), inferred instead of
//! declared. What is compared with, assigned to or sent as another value is of the same class. A class
//! with which anybody computes, or whose order anybody asks, is *plain*. Of the others only equality counts, and which
//! element of an array they choose; so its values may be exchanged for each other, but for those that stand in the text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Program;
use crate::ir::{
    Action, BinaryOp, BodyId, ChannelTypeId, Expr, InitStep, Place, ReceiveArg, Scalar, Space,
    TransitionId, UnaryOp,
};
use crate::optimize::is_process;

/// So many elements of arrays are told apart.
const MAX_CELLS: usize = 1 << 16;

/// Some value.
pub(super) type Node = usize;

/// What is known of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    /// Whether it is plain.
    pub plain: bool,
    /// The first transition that makes it so.
    pub why: Option<TransitionId>,
    /// Whether channels are asked for by it.
    pub channels: bool,
    /// Values that stand in the text.
    pub constants: BTreeSet<i32>,
    /// The shortest array that it is an index of.
    pub shortest: Option<u32>,
    /// How it is stored.
    pub scalars: Vec<Scalar>,
    /// The kinds of channels that it may be.
    pub kinds: BTreeSet<ChannelTypeId>,
}

impl Class {
    /// Whether it may be any number.
    fn is_number(&self) -> bool {
        self.plain || !self.constants.is_empty()
    }

    /// Whether no channel was ever put into it, nor any other number.
    fn holds_nothing(&self) -> bool {
        !self.is_number() && self.kinds.is_empty()
    }
}

/// A variable, or elements of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Pattern {
    /// Whose it is; none: everybody's.
    pub body: Option<BodyId>,
    /// Where the first one is.
    pub offset: u32,
    /// How many there are in each direction, and how far from one to the next.
    pub directions: Vec<(u32, u32)>,
}

/// What is said of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    /// What is in it.
    pub value: Node,
    pub scalar: Scalar,
    /// What it is indexed with.
    pub indexes: Vec<Node>,
}

impl Pattern {
    /// Where each of them is, and its indexes.
    pub fn cells(&self) -> Vec<(u32, Vec<i32>)> {
        let mut cells = vec![(self.offset, Vec::new())];
        for &(length, stride) in &self.directions {
            let further = |(offset, indexes): &(u32, Vec<i32>)| {
                let (offset, indexes) = (*offset, indexes.clone());
                (0..length).map(move |index| {
                    let indexes = indexes.iter().copied().chain([index as i32]).collect();
                    (offset + index * stride, indexes)
                })
            };
            cells = cells.iter().flat_map(further).collect();
        }
        cells
    }

    fn count(&self) -> usize {
        self.directions.iter().map(|&(length, _)| length as usize).product()
    }

    /// If another one is a part of it, with some indexes fixed: which ones, and to what.
    fn fixed_in(&self, part: &Self) -> Option<Vec<Option<i32>>> {
        let mut left = part.offset.checked_sub(self.offset)?;
        let mut directions = part.directions.iter().peekable();
        let mut fixed = Vec::new();
        for direction in &self.directions {
            let (length, stride) = *direction;
            if directions.next_if_eq(&direction).is_some() {
                fixed.push(None);
            } else {
                let index = left.checked_div(stride)?.min(length - 1);
                left -= index * stride;
                fixed.push(Some(index as i32));
            }
        }
        (left == 0 && directions.next().is_none()).then_some(fixed)
    }
}

/// Classes of values.
pub(super) struct Typing<'p> {
    program: &'p Program,
    /// By value: another one of its class, or itself.
    parents: Vec<Node>,
    /// By value: what is known, if it speaks for its class.
    classes: Vec<Class>,
    pub patterns: BTreeMap<Pattern, Pieces>,
    fields: HashMap<(ChannelTypeId, usize), Node>,
    /// The number of a process.
    pub process: Node,
    /// Numbers of channels that were used.
    pub channels: Vec<Node>,
    /// Those to whose kinds it is left what is put into them, or taken.
    uses: Vec<(Node, Vec<Option<Node>>)>,
    /// Whether computing makes values plain.
    minds_computing: bool,
    /// The transition that is looked at.
    at: Option<TransitionId>,
    /// Of which kinds channels are, if that was found out before.
    kinds: Option<Box<Self>>,
    /// Why it cannot be told.
    pub refused: Option<&'static str>,
    /// Bodies one of whose processes is asked for by its place among them.
    pub firsts: BTreeSet<BodyId>,
    /// Whether anybody asks for a process by its number.
    pub asks_by_number: bool,
    /// Whether anybody asks how many processes there are.
    pub counts_processes: bool,
    /// Bodies that use `_pid`.
    pub use_own_number: BTreeSet<BodyId>,
}

impl<'p> Typing<'p> {
    fn empty(program: &'p Program) -> Self {
        let mut typing = Self {
            program,
            parents: Vec::new(),
            classes: Vec::new(),
            patterns: BTreeMap::new(),
            fields: HashMap::new(),
            process: 0,
            channels: Vec::new(),
            uses: Vec::new(),
            minds_computing: true,
            at: None,
            kinds: None,
            refused: None,
            firsts: BTreeSet::new(),
            asks_by_number: false,
            counts_processes: false,
            use_own_number: BTreeSet::new(),
        };
        typing.process = typing.node(Class::default());
        typing
    }

    /// Of all that may ever happen; only good to know the kinds of channels.
    fn of_all(program: &'p Program) -> Self {
        let mut typing = Self::empty(program);
        typing.initialize(None, &program.init);
        for automaton in &program.automata {
            typing.initialize(Some(automaton.body), &automaton.init);
        }
        for index in 0..program.transitions.len() {
            typing.transition(TransitionId(index as u32));
        }
        typing.compare_patterns();
        typing.follow_channels();
        typing
    }

    /// Of some transitions, and of conditions beside them; whether computing makes values plain.
    pub fn new<'e>(
        program: &'p Program,
        transitions: impl Iterator<Item = TransitionId>,
        conditions: impl Iterator<Item = (Option<BodyId>, &'e Expr)>,
        minds_computing: bool,
    ) -> Self {
        let mut typing = Self { minds_computing, ..Self::empty(program) };
        let all = Self::of_all(program);
        if all.channels.iter().any(|&channel| all.may_be_any(channel)) {
            typing.refused = Some("channels are known by their numbers");
        }
        typing.kinds = Some(Box::new(all));
        transitions.for_each(|id| typing.transition(id));
        typing.at = None;
        for (body, condition) in conditions {
            typing.truth(body, condition);
        }
        typing.compare_patterns();
        typing.leave_one_index();
        typing
    }

    fn node(&mut self, class: Class) -> Node {
        self.parents.push(self.parents.len());
        self.classes.push(class);
        self.parents.len() - 1
    }

    fn plain(&mut self) -> Node {
        self.node(Class { plain: true, why: self.at, ..Class::default() })
    }

    fn constant(&mut self, value: i32) -> Node {
        self.node(Class { constants: [value].into(), ..Class::default() })
    }

    /// The value that speaks for the class of another.
    pub fn root(&self, mut node: Node) -> Node {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// The class of a value.
    pub fn class(&self, node: Node) -> &Class {
        &self.classes[self.root(node)]
    }

    fn class_mut(&mut self, node: Node) -> &mut Class {
        let root = self.root(node);
        &mut self.classes[root]
    }

    /// These are of one class; whether that is new.
    fn unify(&mut self, one: Node, other: Node) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return false;
        }
        // The earlier one speaks, so that ways stay short.
        let (one, other) = (one.min(other), one.max(other));
        self.parents[other] = one;
        let joins = std::mem::take(&mut self.classes[other]);
        let class = &mut self.classes[one];
        if joins.plain && !class.plain {
            class.why = joins.why;
        }
        class.plain |= joins.plain;
        class.channels |= joins.channels;
        class.constants.extend(joins.constants);
        class.shortest = class.shortest.into_iter().chain(joins.shortest).min();
        for scalar in joins.scalars {
            if !class.scalars.contains(&scalar) {
                class.scalars.push(scalar);
            }
        }
        class.kinds.extend(joins.kinds);
        true
    }

    fn make_plain(&mut self, node: Node) {
        if !self.minds_computing {
            return;
        }
        let plain = self.plain();
        self.unify(node, plain);
    }

    fn initialize(&mut self, body: Option<BodyId>, steps: &[InitStep]) {
        for step in steps {
            match step {
                InitStep::Store(place, value) => self.assign(body, place, value),
                InitStep::NewChannel(place, kind) => {
                    let place = self.place(body, place);
                    self.class_mut(place).kinds.insert(*kind);
                }
            }
        }
    }

    fn transition(&mut self, id: TransitionId) {
        self.at = Some(id);
        let transition = self.program.transition(id);
        let body = Some(transition.body);
        match &transition.action {
            Action::Skip | Action::Else | Action::Die | Action::DStep { .. } => {}
            Action::Condition(value) | Action::Assert(value) => self.truth(body, value),
            Action::Assign(place, value) => self.assign(body, place, value),
            Action::AssignAll(pairs) => {
                pairs.iter().for_each(|(place, value)| self.assign(body, place, value));
            }
            Action::Run { result, body: created, args, .. } => {
                let params = &self.program.automaton(*created).params;
                for (param, arg) in params.iter().zip(args) {
                    let arg = self.value(body, arg);
                    let param = self.place(Some(*created), param);
                    self.unify(arg, param);
                }
                if let Some(place) = result {
                    let place = self.place(body, place);
                    self.unify(place, self.process);
                }
            }
            Action::Send { channel, sorted, args } => {
                let args: Vec<_> = args.iter().map(|arg| self.value(body, arg)).collect();
                if *sorted {
                    args.iter().for_each(|&arg| self.make_plain(arg));
                }
                // What is missing in a message is 0.
                let longest = self.program.channels.iter().map(|kind| kind.fields.len()).max();
                let missing = args.len()..longest.unwrap_or(0);
                let missing: Vec<_> = missing.map(|_| self.constant(0)).collect();
                let args = args.into_iter().chain(missing).map(Some).collect();
                self.use_channel(body, channel, args);
            }
            Action::Receive { channel, args, .. } => self.receive(body, channel, args),
            Action::Print { args, .. } => args.iter().for_each(|(arg, _)| {
                self.value(body, arg);
            }),
            Action::PrintMtype(value, _) => {
                self.value(body, value);
            }
            Action::Event { .. } => self.refused = Some("the model has a trace"),
            Action::SetPriority(..) | Action::SetOwnPriority(_) => {
                self.refused = Some("processes have priorities");
            }
            Action::C(_) => self.refused = Some("the model has embedded C code"),
        }
    }

    fn assign(&mut self, body: Option<BodyId>, place: &Place, value: &Expr) {
        let value = self.value(body, value);
        let place = self.place(body, place);
        self.unify(value, place);
    }

    fn receive(&mut self, body: Option<BodyId>, channel: &Expr, args: &[ReceiveArg]) {
        let args = args.iter().map(|arg| match arg {
            ReceiveArg::Store(place) => Some(self.place(body, place)),
            ReceiveArg::Match(value) => Some(self.value(body, value)),
            ReceiveArg::Ignore => None,
        });
        let args = args.collect();
        self.use_channel(body, channel, args);
    }

    fn use_channel(&mut self, body: Option<BodyId>, channel: &Expr, args: Vec<Option<Node>>) {
        let node = self.channel(body, channel);
        match self.kinds.take() {
            None => self.uses.push((node, args)),
            Some(mut all) => {
                let channel = all.value(body, channel);
                for kind in all.kinds_of(channel) {
                    self.unify_message(kind, &args);
                }
                self.kinds = Some(all);
            }
        }
    }

    /// A value that is the number of a channel.
    fn channel(&mut self, body: Option<BodyId>, channel: &Expr) -> Node {
        let node = self.value(body, channel);
        self.class_mut(node).channels = true;
        self.channels.push(node);
        node
    }

    /// Whether a channel is meant by a number that was computed, is that of a process, or was stored in less than a
    /// channel takes: nobody knows which one.
    fn may_be_any(&self, channel: Node) -> bool {
        let class = self.class(channel);
        let is_cut = |scalar: &Scalar| scalar.truncate(i32::from(u8::MAX)) != i32::from(u8::MAX);
        let is_process = self.root(channel) == self.root(self.process);
        class.is_number() || is_process || class.scalars.iter().any(is_cut)
    }

    /// The kinds of channels that a value may mean.
    fn kinds_of(&self, channel: Node) -> Vec<ChannelTypeId> {
        let class = self.class(channel);
        if class.kinds.is_empty() || self.may_be_any(channel) {
            return (0..self.program.channels.len()).map(|it| ChannelTypeId(it as u16)).collect();
        }
        class.kinds.iter().copied().collect()
    }

    /// What is sent to a channel or received from it is what is in it, also if there is more or less of it; whether
    /// that is new.
    fn unify_message(&mut self, kind: ChannelTypeId, args: &[Option<Node>]) -> bool {
        let mut new = false;
        let fields = self.program.channel(kind).fields.len();
        for (index, &arg) in args.iter().enumerate().take(fields) {
            let field = self.field(kind, index);
            new |= arg.is_some_and(|arg| self.unify(arg, field));
        }
        new
    }

    /// A field of the messages of a channel.
    pub fn field(&mut self, kind: ChannelTypeId, index: usize) -> Node {
        if let Some(&field) = self.fields.get(&(kind, index)) {
            return field;
        }
        let scalars = vec![self.program.channel(kind).fields[index].scalar];
        let field = self.node(Class { scalars, ..Class::default() });
        self.fields.insert((kind, index), field);
        field
    }

    /// Finds out which channels are used, and what is in them, until there is nothing new.
    fn follow_channels(&mut self) {
        let uses = std::mem::take(&mut self.uses);
        let mut known_only = true;
        loop {
            let mut new = false;
            for (channel, args) in &uses {
                let class = self.class(*channel);
                if !(known_only && class.holds_nothing()) {
                    for kind in self.kinds_of(*channel) {
                        new |= self.unify_message(kind, args);
                    }
                }
            }
            // Of those that no channel was ever put into nobody knows what they hold.
            if !new && !std::mem::replace(&mut known_only, false) {
                return;
            }
        }
    }

    /// Whether an expression is true is asked.
    fn truth(&mut self, body: Option<BodyId>, expr: &Expr) {
        let node = self.value(body, expr);
        self.class_mut(node).constants.insert(0);
    }

    fn compute(&mut self, body: Option<BodyId>, operands: &[&Expr]) -> Node {
        for operand in operands {
            let node = self.value(body, operand);
            self.make_plain(node);
        }
        self.plain()
    }

    fn value(&mut self, body: Option<BodyId>, expr: &Expr) -> Node {
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Load(place) => self.place(body, place),
            Expr::Pid => {
                let process = |body: &BodyId| is_process(self.program.automaton(*body).kind);
                let Some(body) = body.filter(process) else {
                    // So it is for who only watches.
                    return self.constant(0);
                };
                self.use_own_number.insert(body);
                self.process
            }
            Expr::ProcessCount => {
                self.counts_processes = true;
                self.plain()
            }
            Expr::Timeout | Expr::NonProgress => self.plain(),
            Expr::Last => {
                self.refused = Some("`_last` is used");
                self.plain()
            }
            Expr::Priority | Expr::GetPriority(_) => {
                self.refused = Some("processes have priorities");
                self.plain()
            }
            Expr::C(_) => {
                self.refused = Some("the model has embedded C code");
                self.plain()
            }
            Expr::Unary(UnaryOp::Not, a) => {
                self.truth(body, a);
                self.plain()
            }
            Expr::Unary(_, a) => self.compute(body, &[a]),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.truth(body, a);
                self.truth(body, b);
                self.plain()
            }
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                let (a, b) = (self.value(body, a), self.value(body, b));
                self.unify(a, b);
                self.plain()
            }
            Expr::Binary(_, a, b) => self.compute(body, &[a, b]),
            Expr::Conditional(c, a, b) => {
                self.truth(body, c);
                let (a, b) = (self.value(body, a), self.value(body, b));
                self.unify(a, b);
                a
            }
            Expr::Len(channel) | Expr::ChannelTest(_, channel) => {
                self.channel(body, channel);
                self.plain()
            }
            Expr::Poll { channel, args, .. } => {
                self.receive(body, channel, args);
                self.plain()
            }
            Expr::Enabled(process) | Expr::PcValue(process) => self.ask(body, process),
            Expr::RemoteLabel { pid: Some(process), .. } => self.ask(body, process),
            Expr::RemoteLabel { pid: None, body: of, .. } => {
                self.firsts.insert(*of);
                self.plain()
            }
            Expr::RemoteVar { .. } => {
                self.refused = Some("variables of other processes are looked at");
                self.plain()
            }
        }
    }

    /// A process is asked for by its number.
    fn ask(&mut self, body: Option<BodyId>, process: &Expr) -> Node {
        self.asks_by_number = true;
        let process = self.value(body, process);
        self.unify(process, self.process);
        self.plain()
    }

    fn place(&mut self, body: Option<BodyId>, place: &Place) -> Node {
        let indexes: Vec<_> =
            place.indexes.iter().map(|index| self.value(body, &index.value)).collect();
        let body = match place.space {
            Space::Local => body,
            Space::Global => None,
            Space::Hidden => {
                self.refused = Some("the model has hidden variables");
                None
            }
        };
        let directions = place.indexes.iter().map(|it| (it.length, it.stride)).collect();
        let pattern = Pattern { body, offset: place.offset, directions };
        let pieces = match self.patterns.get(&pattern) {
            Some(pieces) => pieces.clone(),
            None => {
                let value = self.node(Class { scalars: vec![place.scalar], ..Class::default() });
                let index = |length| Class { shortest: Some(length), ..Class::default() };
                let indexes = place.indexes.iter().map(|it| self.node(index(it.length)));
                let pieces = Pieces { value, scalar: place.scalar, indexes: indexes.collect() };
                self.patterns.insert(pattern, pieces.clone());
                pieces
            }
        };
        for (index, used) in pieces.indexes.iter().zip(indexes) {
            self.unify(*index, used);
        }
        pieces.value
    }

    /// Patterns that have elements in common have the same in them, and in the same order.
    fn compare_patterns(&mut self) {
        if self.patterns.keys().map(Pattern::count).sum::<usize>() > MAX_CELLS {
            self.refused = Some("there are too many elements of arrays");
            return;
        }
        let patterns: Vec<_> =
            self.patterns.iter().map(|(p, it)| (p.clone(), it.clone())).collect();
        let mut owners: BTreeMap<(Option<BodyId>, u32), Vec<usize>> = BTreeMap::new();
        for (number, (pattern, _)) in patterns.iter().enumerate() {
            for (offset, _) in pattern.cells() {
                owners.entry((pattern.body, offset)).or_default().push(number);
            }
        }
        let pairs: BTreeSet<_> = owners
            .values()
            .flat_map(|owners| {
                let after =
                    move |at: usize| owners[at + 1..].iter().map(move |&it| (owners[at], it));
                (0..owners.len()).flat_map(after)
            })
            .collect();
        for (one, other) in pairs {
            let ((one, pieces), (other, others)) = (&patterns[one], &patterns[other]);
            self.unify(pieces.value, others.value);
            if let Some(fixed) = one.fixed_in(other) {
                self.fix(&pieces.indexes, &fixed, &others.indexes);
            } else if let Some(fixed) = other.fixed_in(one) {
                self.fix(&others.indexes, &fixed, &pieces.indexes);
            } else {
                pieces.indexes.iter().chain(&others.indexes).for_each(|&it| self.make_plain(it));
            }
        }
    }

    /// Of the indexes of an element one at most is not plain: what more of them would mean is not told.
    fn leave_one_index(&mut self) {
        let patterns: Vec<_> = self.patterns.values().map(|it| it.indexes.clone()).collect();
        while self.minds_computing {
            let is_open = |it: &&Node| !self.class(**it).plain;
            let open = |indexes: &&Vec<Node>| indexes.iter().filter(is_open).count() > 1;
            let Some(indexes) = patterns.iter().find(open) else {
                return;
            };
            indexes.iter().for_each(|&it| self.make_plain(it));
        }
    }

    /// Some indexes are used with a fixed value elsewhere, the others with others.
    fn fix(&mut self, indexes: &[Node], fixed: &[Option<i32>], others: &[Node]) {
        let mut others = others.iter();
        for (&index, fixed) in indexes.iter().zip(fixed) {
            match fixed {
                Some(value) => {
                    self.class_mut(index).constants.insert(*value);
                }
                None => {
                    let other = others.next().expect("a part has as many as are not fixed");
                    self.unify(index, *other);
                }
            }
        }
    }
}

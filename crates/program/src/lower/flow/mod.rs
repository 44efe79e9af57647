//! The elements of all bodies, numbered as SPIN numbers them.
//!
//! SPIN numbers statements while it parses: a compound statement after its contents, with extra
//! elements for the ends of choices and loops. Trails and state tables show these numbers, so this
//! module goes through the syntax in the very order in which SPIN's parser would, and builds what
//! it would have built: elements, linked to sequences, with their labels and escapes. An element
//! keeps the piece of syntax it stands for; what it does is worked out later, once all labels are
//! known.

mod blocks;
mod labels;
mod statements;

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_promela::ast::{
    Body, Decl, Expr, ExprKind, Label, Model, Stmt, StmtKind, Unit, VarRef,
};
use spinward_promela::symbols::{BodyId, BodyKind, Symbol, Symbols};
use spinward_promela::{Code, Diagnostic, Span};

use crate::ir::ElementId;

/// A sequence of elements, in [`Flow::sequences`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SequenceId(u32);

/// Elements linked by [`Element::next`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// Where it starts.
    pub first: ElementId,
    /// Its last element; the end of the choice around it counts.
    pub last: ElementId,
    /// The last element of its own text.
    pub extent: ElementId,
}

/// One element.
#[derive(Debug)]
pub(super) struct Element<'a> {
    /// The body it belongs to.
    pub body: BodyId,
    /// Its number in the body, from 1.
    pub local: u32,
    /// What it is.
    pub kind: Kind<'a>,
    /// Where it stands.
    pub span: Span,
    /// What follows it in the text.
    pub next: Option<ElementId>,
    /// In an `atomic` (or `d_step`) and not its last.
    pub atomic: bool,
    /// The last of an `atomic`. Both are set for the last of a nested one.
    pub atomic_end: bool,
    /// The `d_step` around it, by the number of its first element.
    pub d_step: Option<u32>,
    /// The escape sequences it may be left by, outermost first.
    pub escapes: Vec<SequenceId>,
}

/// What an element is.
#[derive(Clone, Debug)]
pub(super) enum Kind<'a> {
    /// A statement with an effect or a guard of its own.
    Simple(Simple<'a>),
    /// `else`
    Else,
    /// `goto`, `break`
    Goto(Jump<'a>),
    /// The point where a choice, loop or `unless` is over (or begins anew).
    Join(Join),
    /// Where `break` leads.
    LoopExit,
    /// `if`, `do`
    Choice {
        /// `do`
        is_loop: bool,
        /// The options, `else` last.
        options: Vec<SequenceId>,
    },
    /// The normal and the escape sequence of an `unless`.
    Unless(SequenceId, SequenceId),
    /// A block.
    Block(BlockKind, SequenceId),
    /// The closing brace of a body.
    End,
}

/// Kinds of joins, for their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// After an `if`.
    If,
    /// Before a loop.
    Do,
    /// After an `unless`.
    Unless,
}

/// Kinds of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// `{ ... }`, an inline call.
    Plain,
    /// `atomic`
    Atomic,
    /// `d_step`
    DStep,
}

/// A jump.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump<'a> {
    /// Where it wants to go.
    pub to: Destination<'a>,
    /// The element found there.
    pub target: Option<ElementId>,
}

/// Where a jump wants to go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination<'a> {
    /// A label as seen from a scope.
    Label(LabelSymbol<'a>),
    /// The exit of a loop.
    LoopExit(u32),
}

/// A label's name and the scope where SPIN's parser first saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LabelSymbol<'a> {
    /// The name.
    pub name: &'a str,
    scope: u32,
}

/// A statement that is one step, written or made up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Simple<'a> {
    /// As written.
    Statement(&'a Stmt),
    /// Made up: `skip`.
    Skip,
    /// The declaration of the n-th variable, as a statement.
    Declare(&'a Decl, usize),
    /// `v = e`
    Set(&'a VarRef, &'a Expr),
    /// `v = n`
    SetNumber(&'a VarRef, i32),
    /// `v <= e`
    AtMost(&'a VarRef, &'a Expr),
    /// `v <= n`
    AtMostNumber(&'a VarRef, i32),
    /// `v < e`
    Below(&'a VarRef, &'a Expr),
    /// `v = v + 1`
    Increment(&'a VarRef),
    /// Of `for (m in c)`, with the loop's position.
    Rotate(Rotate, &'a Stmt),
}

/// The steps that turn a channel's messages around once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rotate {
    /// `t = 0`
    Start,
    /// `t < len(c)`
    More,
    /// `c?m`
    Receive,
    /// `c!m`
    Send,
    /// `t = t + 1`
    Count,
}

/// A label and the element it stands before.
#[derive(Clone, Copy, Debug)]
pub(super) struct LabelDef<'a> {
    /// The name as its scope sees it; none for the exit of a loop.
    pub symbol: Result<LabelSymbol<'a>, u32>,
    /// In which body.
    pub body: BodyId,
    /// The element.
    pub element: ElementId,
    /// Where it is declared.
    pub span: Span,
}

impl<'a> LabelDef<'a> {
    /// The name, if it has one.
    pub fn name(&self) -> Option<&'a str> {
        self.symbol.ok().map(|symbol| symbol.name)
    }
}

/// The labels of a model, in the order of their declaration and so by body.
#[derive(Debug, Default)]
pub(super) struct Labels<'a> {
    defs: Vec<LabelDef<'a>>,
    /// By element: the labels before it, the oldest first.
    at: FxHashMap<ElementId, Vec<usize>>,
    /// The newest of each name in a body.
    newest: FxHashMap<(BodyId, &'a str), usize>,
    /// The first of each name as its scope sees it.
    first: FxHashMap<(BodyId, LabelSymbol<'a>), usize>,
}

/// `xr c`, `xs c`
#[derive(Clone, Copy, Debug)]
pub(super) struct Claimed<'a> {
    /// In which body.
    pub body: BodyId,
    /// `xs`
    pub send: bool,
    /// The channel.
    pub channel: &'a VarRef,
}

/// What a body came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltBody {
    /// Its elements.
    pub sequence: SequenceId,
    /// The next free local number.
    pub next_local: u32,
    /// Its closing brace.
    pub end: ElementId,
}

/// Why a label must not stand at the start of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Escape,
    Guarded,
    Block,
    Option,
    Free,
}

/// A statement that is ready to become elements.
struct Node<'a> {
    labels: &'a [Label],
    shape: Shape<'a>,
    span: Span,
}

/// What kind of statement it is.
enum Shape<'a> {
    Simple(Simple<'a>),
    Else,
    Goto(Destination<'a>),
    Choice { is_loop: bool, options: Vec<SequenceId> },
    Unless(SequenceId, SequenceId),
    Block(BlockKind, SequenceId),
}

/// A sequence that is being filled.
#[derive(Clone, Copy, Default)]
struct Open {
    first: Option<ElementId>,
    last: Option<ElementId>,
}

/// All elements of a model.
pub(super) struct Flow<'a> {
    symbols: &'a Symbols,
    /// By SPIN's number.
    pub elements: Vec<Element<'a>>,
    sequences: Vec<Sequence>,
    /// In the order of their declaration.
    pub labels: Labels<'a>,
    /// By body.
    pub bodies: Vec<Option<BuiltBody>>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// How many transitions the tables made so far have.
    pub transitions: usize,
    /// What processes claim to use alone.
    pub claimed: Vec<Claimed<'a>>,
    body: BodyId,
    in_claim: bool,
    next_local: u32,
    open: Vec<Open>,
    loops: Vec<u32>,
    next_loop: u32,
    d_step: Option<u32>,
    scope: u32,
    /// The scope around each scope.
    scopes: Vec<u32>,
    /// The label names seen in this body.
    seen: FxHashSet<LabelSymbol<'a>>,
    /// Which escapes are attached to which sequences.
    attached: FxHashSet<(SequenceId, SequenceId)>,
}

const NO_LABELS: &[Label] = &[];

impl<'a> Flow<'a> {
    /// Numbers all bodies of a model.
    pub fn build(model: &'a Model, symbols: &'a Symbols) -> Self {
        let mut flow = Self {
            symbols,
            elements: Vec::new(),
            sequences: Vec::new(),
            labels: Labels::default(),
            bodies: vec![None; symbols.bodies.len()],
            diagnostics: Vec::new(),
            transitions: 0,
            claimed: Vec::new(),
            body: BodyId(0),
            in_claim: false,
            next_local: 1,
            open: Vec::new(),
            loops: Vec::new(),
            next_loop: 0,
            d_step: None,
            scope: 0,
            scopes: vec![0],
            seen: FxHashSet::default(),
            attached: FxHashSet::default(),
        };
        let ids: FxHashMap<usize, BodyId> = symbols
            .bodies
            .iter()
            .enumerate()
            .map(|(i, body)| (body.unit, BodyId(i as u32)))
            .collect();
        for (i, unit) in model.units.iter().enumerate() {
            let body = match unit {
                Unit::Proctype(p) => {
                    if let Some(provided) = &p.provided {
                        flow.refer(provided);
                    }
                    &p.body
                }
                Unit::Init(init) => &init.body,
                Unit::Never(never) => &never.body,
                Unit::Trace(trace) => &trace.body,
                _ => continue,
            };
            if let Some(&id) = ids.get(&i) {
                flow.body(id, body);
            }
        }
        // SPIN reads formulas after everything else.
        for unit in &model.units {
            if let Unit::Ltl(ltl) = unit {
                flow.refer(&ltl.formula);
            }
        }
        flow.tie_ends();
        flow.find_targets();
        flow
    }

    /// Where a body stands.
    pub fn body_span(&self, body: BodyId) -> Span {
        self.symbols.body(body).span
    }

    /// An element.
    pub fn element(&self, id: ElementId) -> &Element<'a> {
        &self.elements[id.0 as usize]
    }

    /// An element.
    pub fn element_mut(&mut self, id: ElementId) -> &mut Element<'a> {
        &mut self.elements[id.0 as usize]
    }

    /// A sequence.
    pub fn sequence(&self, id: SequenceId) -> Sequence {
        self.sequences[id.0 as usize]
    }

    /// Whether a body is a never claim.
    pub fn is_claim(&self, body: BodyId) -> bool {
        self.symbols.body(body).kind == BodyKind::Never
    }

    /// The elements of a sequence, to its last.
    pub fn members(&self, id: SequenceId) -> Members<'_, 'a> {
        let Sequence { first, last, .. } = self.sequence(id);
        Members { flow: self, next: Some(first), last }
    }

    /// The value of a constant, as SPIN's parser sees one: a number or an mtype name.
    pub fn constant(&self, expr: &Expr) -> Option<i32> {
        constant(self.symbols, expr)
    }

    /// Whether an element is a plain test of a constant with this value.
    pub fn tests_constant(&self, id: ElementId, value: i32) -> bool {
        match &self.element(id).kind {
            Kind::Simple(Simple::Skip) => value == 1,
            Kind::Simple(Simple::Statement(stmt)) => match &stmt.kind {
                StmtKind::Expr(expr) => self.constant(expr) == Some(value),
                StmtKind::LabelOnly => value == 1,
                _ => false,
            },
            _ => false,
        }
    }

    fn body(&mut self, id: BodyId, body: &'a Body) {
        self.body = id;
        self.in_claim = self.is_claim(id);
        self.next_local = 1;
        self.loops.clear();
        self.seen.clear();
        self.enter_scope();
        self.open.push(Open::default());
        self.steps(&body.stmts);
        let end = self.create(Kind::End, body.end);
        self.append(end);
        let sequence = self.close(Opening::Free, body.end);
        self.leave_scope();
        self.bodies[id.0 as usize] = Some(BuiltBody { sequence, next_local: self.next_local, end });
    }

    fn close(&mut self, opening: Opening, span: Span) -> SequenceId {
        if self.open.last().is_none_or(|open| open.first.is_none()) {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::NothingToDo,
                    span,
                    "a sequence must have at least one statement",
                )
                .label("nothing to do here")
                .help("write `skip` if nothing should happen"),
            );
            self.add_simple(Simple::Skip, span);
        }
        let open = self.open.pop().unwrap_or_default();
        let (first, last) = (open.first.unwrap_or(ElementId(0)), open.last.unwrap_or(ElementId(0)));
        self.check_first_label(first, opening);
        self.sequences.push(Sequence { first, last, extent: last });
        SequenceId(self.sequences.len() as u32 - 1)
    }

    fn create(&mut self, kind: Kind<'a>, span: Span) -> ElementId {
        let id = ElementId(self.elements.len() as u32);
        self.elements.push(Element {
            body: self.body,
            local: self.next_local,
            kind,
            span,
            next: None,
            atomic: false,
            atomic_end: false,
            d_step: self.d_step,
            escapes: Vec::new(),
        });
        self.next_local += 1;
        id
    }

    fn add_simple(&mut self, simple: Simple<'a>, span: Span) {
        let id = self.create(Kind::Simple(simple), span);
        self.append(id);
    }

    /// Puts an element at the end of the open sequence.
    fn append(&mut self, id: ElementId) {
        if matches!(self.element(id).kind, Kind::Goto(_)) {
            let special = |name: &str| {
                name.starts_with("accept")
                    || name.starts_with("end")
                    || name.starts_with("progress")
            };
            if self.labels.at(id).any(|def| def.name().is_some_and(special)) {
                // A jump is no state; a `skip` before it takes the label.
                let span = self.element(id).span;
                let skip = self.create(Kind::Simple(Simple::Skip), span);
                self.labels.move_newest(id, skip);
                self.append(skip);
            }
        }
        if let Some(mut open) = self.open.pop() {
            match open.last {
                Some(last) => self.element_mut(last).next = Some(id),
                None => open.first = Some(id),
            }
            open.last = Some(id);
            self.open.push(open);
        }
    }

    /// Puts an element behind a sequence that is closed already.
    fn append_to(&mut self, sequence: SequenceId, id: ElementId) {
        let last = self.sequence(sequence).last;
        self.element_mut(last).next = Some(id);
        self.sequences[sequence.0 as usize].last = id;
    }

    /// Adds the elements of a statement to the open sequence.
    fn add(&mut self, node: &Node<'a>) {
        let span = node.span;
        let (id, appended) = match &node.shape {
            Shape::Simple(simple) => (self.create(Kind::Simple(*simple), span), false),
            Shape::Else => (self.create(Kind::Else, span), false),
            Shape::Goto(to) => {
                let jump = Jump { to: *to, target: None };
                (self.create(Kind::Goto(jump), span), false)
            }
            Shape::Block(kind, sequence) => {
                (self.create(Kind::Block(*kind, *sequence), span), false)
            }
            Shape::Choice { is_loop, options } => (self.add_choice(*is_loop, options, span), true),
            Shape::Unless(normal, escape) => (self.add_unless(*normal, *escape, span), true),
        };
        for label in node.labels.iter().rev() {
            self.set_label(label, id);
        }
        if !appended {
            self.append(id);
        }
    }

    fn add_choice(&mut self, is_loop: bool, options: &[SequenceId], span: Span) -> ElementId {
        let options = self.else_last(options);
        let choice = self.create(Kind::Choice { is_loop, options: options.clone() }, span);
        let join = self.create(Kind::Join(if is_loop { Join::Do } else { Join::If }), span);
        for option in options {
            self.append_to(option, join);
        }
        if is_loop {
            self.append(join);
            let exit = self.create(Kind::LoopExit, span);
            if let Some(number) = self.loops.pop() {
                self.labels.push(LabelDef {
                    symbol: Err(number),
                    body: self.body,
                    element: exit,
                    span,
                });
            }
            self.append(choice);
            self.append(exit);
        } else {
            self.append(choice);
            self.append(join);
        }
        choice
    }

    fn else_last(&mut self, options: &[SequenceId]) -> Vec<SequenceId> {
        let starts_with_else = |flow: &Self, option: SequenceId| {
            matches!(flow.element(flow.sequence(option).first).kind, Kind::Else)
        };
        let (elses, mut sorted): (Vec<_>, Vec<_>) =
            options.iter().partition(|&&option| starts_with_else(self, option));
        if let [first, second, ..] = elses[..] {
            let place = |option| self.element(self.sequence(option).first).span;
            self.diagnostics.push(
                Diagnostic::new(
                    Code::SecondElse,
                    place(second),
                    "a second `else` among these options",
                )
                .related(place(first), "the first"),
            );
        }
        sorted.extend(elses);
        sorted
    }

    fn add_unless(&mut self, normal: SequenceId, escape: SequenceId, span: Span) -> ElementId {
        let unless = self.create(Kind::Unless(normal, escape), span);
        let join = self.create(Kind::Join(Join::Unless), span);
        self.append_to(normal, join);
        self.append_to(escape, join);
        self.attach_escape(normal, escape);
        self.append(unless);
        self.append(join);
        unless
    }
}

/// The elements of a sequence.
pub(super) struct Members<'f, 'a> {
    flow: &'f Flow<'a>,
    next: Option<ElementId>,
    last: ElementId,
}

impl Iterator for Members<'_, '_> {
    type Item = ElementId;

    fn next(&mut self) -> Option<ElementId> {
        let id = self.next?;
        self.next = if id == self.last { None } else { self.flow.element(id).next };
        Some(id)
    }
}

/// The value of a constant, as SPIN's parser sees one: a number or an mtype name.
pub(super) fn constant(symbols: &Symbols, expr: &Expr) -> Option<i32> {
    match &expr.kind {
        ExprKind::Number(n) => Some(*n),
        ExprKind::Var(var) => match (var.parts.as_slice(), var.parts.first()) {
            ([_], Some(part)) => match symbols.symbol(part.name.id) {
                Some(Symbol::Mtype(_, value)) => Some(value),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

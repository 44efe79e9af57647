//! The elements of all bodies, numbered as SPIN numbers them.
//!
//! SPIN numbers statements while it parses: a compound statement after its contents, with extra
//! elements for the ends of choices and loops. Trails and state tables show these numbers, so this
//! module goes through the syntax in the very order in which SPIN's parser would, and builds what
//! it would have built: elements, linked to sequences, with their labels and escapes. An element
//! keeps the piece of syntax it stands for; what it does is worked out later, once all labels are
//! known.

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_promela::ast::{
    AssignOp, Body, Choice, Decl, Expr, ExprKind, ForRange, Label, Model, Stmt, StmtKind, Unit,
    VarRef,
};
use spinward_promela::symbols::{BodyId, BodyKind, Symbol, Symbols, Type};
use spinward_promela::{Diagnostic, Span};

use super::remote;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What a body came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltBody {
    /// Its elements.
    pub sequence: SequenceId,
    /// The next free local number.
    pub next_local: u32,
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
    Choice {
        is_loop: bool,
        options: Vec<SequenceId>,
    },
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
    pub labels: Vec<LabelDef<'a>>,
    /// By body.
    pub bodies: Vec<Option<BuiltBody>>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
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
    seen: FxHashMap<&'a str, Vec<LabelSymbol<'a>>>,
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
            labels: Vec::new(),
            bodies: vec![None; symbols.bodies.len()],
            diagnostics: Vec::new(),
            body: BodyId(0),
            in_claim: false,
            next_local: 1,
            open: Vec::new(),
            loops: Vec::new(),
            next_loop: 0,
            d_step: None,
            scope: 0,
            scopes: vec![0],
            seen: FxHashMap::default(),
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

    /// The elements of a sequence, to its last.
    pub fn members(&self, id: SequenceId) -> Members<'_, 'a> {
        let Sequence { first, last, .. } = self.sequence(id);
        Members {
            flow: self,
            next: Some(first),
            last,
        }
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
        self.in_claim = self.symbols.body(id).kind == BodyKind::Never;
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
        self.bodies[id.0 as usize] = Some(BuiltBody {
            sequence,
            next_local: self.next_local,
        });
    }

    fn enter_scope(&mut self) {
        self.scopes.push(self.scope);
        self.scope = self.scopes.len() as u32 - 1;
    }

    fn leave_scope(&mut self) {
        self.scope = self.scopes[self.scope as usize];
    }

    /// Whether `outer` is `inner` or around it.
    fn encloses(&self, outer: u32, mut inner: u32) -> bool {
        // A scope has a smaller number than those inside of it.
        while inner > outer {
            inner = self.scopes[inner as usize];
        }
        inner == outer
    }

    /// The name of a label as SPIN's symbol table has it: seen in this scope or one around it, or
    /// else new in this one.
    fn label_symbol(&mut self, name: &'a str) -> LabelSymbol<'a> {
        let known = self.seen.get(name).and_then(|symbols| {
            symbols
                .iter()
                .rev()
                .find(|symbol| self.encloses(symbol.scope, self.scope))
                .copied()
        });
        known.unwrap_or_else(|| {
            let symbol = LabelSymbol {
                name,
                scope: self.scope,
            };
            self.seen.entry(name).or_default().push(symbol);
            symbol
        })
    }

    /// A block of statements in braces, as a sequence.
    fn braces(&mut self, stmts: &'a [Stmt], opening: Opening, span: Span) -> SequenceId {
        self.open.push(Open::default());
        self.enter_scope();
        self.steps(stmts);
        self.leave_scope();
        self.close(opening, span)
    }

    fn steps(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.step(stmt);
        }
    }

    fn step(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Decl(decl) => self.declaration(decl),
            StmtKind::Exclusive { .. } => {}
            _ => {
                if let Some(node) = self.node(stmt) {
                    self.add(&node);
                }
            }
        }
    }

    /// SPIN makes a statement of each variable that is not set when its process starts.
    fn declaration(&mut self, decl: &'a Decl) {
        for (i, declarator) in decl.vars.iter().enumerate() {
            remote::in_initializer(declarator.init.as_ref(), &mut |expr| self.refer(expr));
            let Some(Symbol::Variable(id)) = self.symbols.symbol(declarator.name.id) else {
                continue;
            };
            let variable = self.symbols.variable(id);
            if variable.at_creation || variable.channel.is_some() {
                continue;
            }
            self.add_simple(Simple::Declare(decl, i), declarator.span);
        }
    }

    /// Makes room for a jump behind each label that an expression asks about.
    fn refer(&mut self, expr: &'a Expr) {
        remote::in_expr(expr, &mut |body, label| {
            if let Some(Symbol::Body(body)) = self.symbols.symbol(body.id) {
                self.make_visible(body, &label.text);
            }
        });
    }

    /// A label that another process looks at must be a state of its own: a jump behind it moves to
    /// a new element, and a `skip` takes its place.
    fn make_visible(&mut self, body: BodyId, label: &str) {
        let Some(at) = self
            .labels
            .iter()
            .rev()
            .find(|def| def.body == body && def.name() == Some(label))
            .map(|def| def.element)
        else {
            return;
        };
        let Kind::Goto(jump) = self.element(at).kind else {
            return;
        };
        let local = match &mut self.bodies[body.0 as usize] {
            Some(built) => &mut built.next_local,
            None => &mut self.next_local,
        };
        let number = *local;
        *local += 1;
        let Element {
            span, next, d_step, ..
        } = *self.element(at);
        let moved = ElementId(self.elements.len() as u32);
        self.elements.push(Element {
            body,
            local: number,
            kind: Kind::Goto(jump),
            span,
            next,
            atomic: false,
            atomic_end: false,
            d_step,
            escapes: Vec::new(),
        });
        let old = self.element_mut(at);
        old.kind = Kind::Simple(Simple::Skip);
        old.next = Some(moved);
    }

    fn refer_all(&mut self, stmt: &'a Stmt) {
        remote::in_statement(stmt, &mut |expr| self.refer(expr));
    }

    /// Builds the contents of a statement and says what it is itself; nothing if it was written
    /// out already.
    fn node(&mut self, stmt: &'a Stmt) -> Option<Node<'a>> {
        let mut labels = stmt.labels.as_slice();
        for label in labels {
            self.label_symbol(&label.name.text);
        }
        let shape = match &stmt.kind {
            StmtKind::Goto(name) => Shape::Goto(Destination::Label(self.label_symbol(&name.text))),
            StmtKind::Break => match self.loops.last() {
                Some(&exit) => Shape::Goto(Destination::LoopExit(exit)),
                None => {
                    self.diagnostics.push(
                        Diagnostic::error(stmt.span, "`break` outside of a loop")
                            .label("there is no loop around it"),
                    );
                    Shape::Simple(Simple::Skip)
                }
            },
            StmtKind::Else => Shape::Else,
            StmtKind::Block(stmts) => Shape::Block(
                BlockKind::Plain,
                self.braces(stmts, Opening::Block, stmt.span),
            ),
            StmtKind::Inline { body, .. } => Shape::Block(
                BlockKind::Plain,
                self.braces(body, Opening::Block, stmt.span),
            ),
            StmtKind::Atomic(stmts) => {
                let sequence = self.braces(stmts, Opening::Block, stmt.span);
                self.make_atomic(sequence, false);
                Shape::Block(BlockKind::Atomic, sequence)
            }
            StmtKind::DStep(stmts) => {
                let around = self.d_step;
                self.d_step = Some(self.elements.len() as u32);
                let sequence = self.braces(stmts, Opening::Block, stmt.span);
                self.make_atomic(sequence, true);
                self.d_step = around;
                Shape::Block(BlockKind::DStep, sequence)
            }
            StmtKind::If(choices) => self.choice(choices, false),
            StmtKind::Do(choices) => {
                self.enter_loop();
                self.choice(choices, true)
            }
            StmtKind::For { var, range, body } => {
                self.enter_loop();
                self.for_loop(stmt, var, range, body)
            }
            StmtKind::Select {
                var,
                from,
                to,
                literal,
            } => {
                let written_out = if *literal {
                    self.constant(from).zip(self.constant(to))
                } else {
                    None
                };
                match written_out {
                    Some((from, to)) if i64::from(to) - i64::from(from) <= 32 => {
                        let options = (from..=to)
                            .map(|n| {
                                self.open.push(Open::default());
                                self.add_simple(Simple::SetNumber(var, n), stmt.span);
                                self.close(Opening::Option, stmt.span)
                            })
                            .collect();
                        Shape::Choice {
                            is_loop: false,
                            options,
                        }
                    }
                    Some((first, _)) => {
                        // A label before it stays with its first statement.
                        self.add(&Node {
                            labels: std::mem::replace(&mut labels, NO_LABELS),
                            shape: Shape::Simple(Simple::SetNumber(var, first)),
                            span: stmt.span,
                        });
                        let exit = self.enter_loop();
                        self.open.push(Open::default());
                        self.add_simple(Simple::Below(var, to), stmt.span);
                        self.add_simple(Simple::Increment(var), stmt.span);
                        let count = self.close(Opening::Option, stmt.span);
                        let leave = self.leaving(exit, false, stmt.span);
                        Shape::Choice {
                            is_loop: true,
                            options: vec![count, leave],
                        }
                    }
                    None => {
                        self.refer_all(stmt);
                        self.add_simple(Simple::Set(var, from), stmt.span);
                        self.open.push(Open::default());
                        self.add_simple(Simple::Below(var, to), stmt.span);
                        let exit = self.enter_loop();
                        self.add_simple(Simple::Increment(var), stmt.span);
                        let count = self.close(Opening::Free, stmt.span);
                        let leave = self.leaving(exit, false, stmt.span);
                        Shape::Choice {
                            is_loop: true,
                            options: vec![leave, count],
                        }
                    }
                }
            }
            StmtKind::Unless(normal, escape) => return self.unless(normal, escape, stmt.span),
            StmtKind::Decl(_) | StmtKind::Exclusive { .. } => {
                // The parser reports labels before declarations, and these as part of `unless`.
                self.step(stmt);
                return None;
            }
            _ => {
                self.refer_all(stmt);
                Shape::Simple(Simple::Statement(stmt))
            }
        };
        Some(Node {
            labels,
            shape,
            span: stmt.span,
        })
    }

    fn enter_loop(&mut self) -> u32 {
        let exit = self.next_loop;
        self.next_loop += 1;
        self.loops.push(exit);
        exit
    }

    fn choice(&mut self, choices: &'a [Choice], is_loop: bool) -> Shape<'a> {
        let options: Vec<_> = choices
            .iter()
            .map(|choice| {
                self.open.push(Open::default());
                self.steps(&choice.stmts);
                self.close(Opening::Option, choice.span)
            })
            .collect();
        if !self.in_claim {
            for &option in &options {
                self.drop_skips(option);
            }
        }
        Shape::Choice { is_loop, options }
    }

    /// SPIN takes out a `skip` that only follows another one.
    fn drop_skips(&mut self, option: SequenceId) {
        let Sequence {
            first,
            last,
            extent,
        } = self.sequence(option);
        let mut skips = 0;
        let mut before = first;
        let mut at = Some(first);
        while let Some(id) = at {
            let next = self.element(id).next;
            let prints = matches!(
                self.element(id).kind,
                Kind::Simple(Simple::Statement(Stmt {
                    kind: StmtKind::Printf { .. } | StmtKind::Printm(_),
                    ..
                }))
            );
            let skip = prints || self.tests_constant(id, 1);
            if skip && !self.labels.iter().rev().any(|def| def.element == id) {
                skips += 1;
                if skips > 1 && !prints && id != first && id != last && id != extent {
                    self.element_mut(before).next = next;
                    at = next;
                    continue;
                }
            } else {
                skips = 0;
            }
            before = id;
            at = next;
        }
    }

    fn for_loop(
        &mut self,
        stmt: &'a Stmt,
        var: &'a VarRef,
        range: &'a ForRange,
        body: &'a [Stmt],
    ) -> Shape<'a> {
        self.refer_all(stmt);
        let span = stmt.span;
        let count = match range {
            ForRange::Numbers(from, to) => {
                self.add_simple(Simple::Set(var, from), span);
                self.open.push(Open::default());
                self.add_simple(Simple::AtMost(var, to), span);
                Simple::Increment(var)
            }
            ForRange::In(source) => match self.source_length(var, source) {
                Some(length) => {
                    self.add_simple(Simple::SetNumber(var, 0), span);
                    self.open.push(Open::default());
                    let greatest = i32::try_from(length).unwrap_or(i32::MAX).wrapping_sub(1);
                    self.add_simple(Simple::AtMostNumber(var, greatest), span);
                    Simple::Increment(var)
                }
                None => {
                    self.add_simple(Simple::Rotate(Rotate::Start, stmt), span);
                    self.open.push(Open::default());
                    for step in [Rotate::More, Rotate::Receive, Rotate::Send] {
                        self.add_simple(Simple::Rotate(step, stmt), span);
                    }
                    Simple::Rotate(Rotate::Count, stmt)
                }
            },
        };
        let exit = self.loops.last().copied().unwrap_or_default();
        self.enter_scope();
        self.steps(body);
        self.leave_scope();
        self.add_simple(count, span);
        let repeat = self.close(Opening::Free, span);
        let leave = self.leaving(exit, true, span);
        Shape::Choice {
            is_loop: true,
            options: vec![leave, repeat],
        }
    }

    /// The number of elements if `for` runs over an array; none for the messages of a channel,
    /// which go into a record.
    fn source_length(&self, var: &VarRef, source: &VarRef) -> Option<u32> {
        let variable = |var: &VarRef| match self.symbols.symbol(var.parts.last()?.name.id) {
            Some(Symbol::Variable(id)) => Some(self.symbols.variable(id)),
            _ => None,
        };
        match variable(var)?.ty {
            Type::Struct(_) => None,
            _ => Some(variable(source)?.array.unwrap_or(0)),
        }
    }

    /// The option that leaves a loop that was made up.
    fn leaving(&mut self, exit: u32, with_else: bool, span: Span) -> SequenceId {
        self.open.push(Open::default());
        if with_else {
            let id = self.create(Kind::Else, span);
            self.append(id);
        }
        let jump = self.create(
            Kind::Goto(Jump {
                to: Destination::LoopExit(exit),
                target: None,
            }),
            span,
        );
        self.append(jump);
        self.close(Opening::Free, span)
    }

    fn unless(&mut self, normal: &'a Stmt, escape: &'a Stmt, span: Span) -> Option<Node<'a>> {
        let normal_node = self.node(normal)?;
        // A `break` in the escape of a loop means the loop around it.
        let own_loop = match normal_node.shape {
            Shape::Choice { is_loop: true, .. } if normal_node.labels.is_empty() => {
                self.loops.pop()
            }
            _ => None,
        };
        let escape_node = self.node(escape);
        self.loops.extend(own_loop);
        let escape_node = escape_node?;

        let escape = match escape_node.shape {
            Shape::Block(BlockKind::Plain, sequence) if escape_node.labels.is_empty() => sequence,
            _ => self.alone(&escape_node, Opening::Escape),
        };
        if let Shape::Block(kind, sequence) = normal_node.shape {
            match normal_node.labels {
                [] if kind == BlockKind::Plain => {
                    return Some(Node {
                        labels: NO_LABELS,
                        shape: Shape::Unless(sequence, escape),
                        span,
                    });
                }
                [_] => {
                    if kind == BlockKind::DStep {
                        self.diagnostics.push(
                            Diagnostic::error(span, "`unless` after a labelled `d_step`")
                                .help("write `Label: { d_step { ... } unless escape }`"),
                        );
                    }
                    // The label goes before a new block around the whole.
                    let inside = Node {
                        labels: NO_LABELS,
                        shape: Shape::Unless(sequence, escape),
                        span,
                    };
                    let block = self.alone(&inside, Opening::Free);
                    return Some(Node {
                        labels: normal_node.labels,
                        shape: Shape::Block(kind, block),
                        span,
                    });
                }
                _ => {}
            }
        }
        let normal = self.alone(&normal_node, Opening::Guarded);
        Some(Node {
            labels: NO_LABELS,
            shape: Shape::Unless(normal, escape),
            span,
        })
    }

    /// A statement as a sequence of its own.
    fn alone(&mut self, node: &Node<'a>, opening: Opening) -> SequenceId {
        self.open.push(Open::default());
        self.add(node);
        self.close(opening, node.span)
    }

    fn close(&mut self, opening: Opening, span: Span) -> SequenceId {
        if self.open.last().is_none_or(|open| open.first.is_none()) {
            self.diagnostics.push(
                Diagnostic::error(span, "a sequence must have at least one statement")
                    .label("nothing to do here")
                    .help("write `skip` if nothing should happen"),
            );
            self.add_simple(Simple::Skip, span);
        }
        let open = self.open.pop().unwrap_or_default();
        let (first, last) = (
            open.first.unwrap_or(ElementId(0)),
            open.last.unwrap_or(ElementId(0)),
        );
        self.check_first_label(first, opening);
        self.sequences.push(Sequence {
            first,
            last,
            extent: last,
        });
        SequenceId(self.sequences.len() as u32 - 1)
    }

    fn check_first_label(&mut self, first: ElementId, opening: Opening) {
        if opening == Opening::Free {
            return;
        }
        let Some(label) = self.labels.iter().rev().find(|def| def.element == first) else {
            return;
        };
        let Some(name) = label.name() else { return };
        let span = label.span;
        let message = format!("label `{name}` cannot stand here");
        let misplaced = match opening {
            Opening::Option => {
                // SPIN prints an error for this one, too, but goes on.
                Diagnostic::warning(
                    span,
                    format!("label `{name}` before the guard of an option"),
                )
                .label("the guard is not a state of its own")
                .note("a process waits before the whole choice, not before this statement")
                .help("put the label before the `if` or `do`")
            }
            Opening::Escape => Diagnostic::error(span, message)
                .label("before the guard of an escape")
                .note("an escape is entered from many states; its guard is no state of its own"),
            Opening::Guarded => Diagnostic::error(span, message)
                .label("before a statement with an escape")
                .help("write `Label: { statement unless escape }`"),
            Opening::Block | Opening::Free => Diagnostic::error(span, message)
                .label("before the first statement of a block")
                .help("put the label before the block"),
        };
        self.diagnostics.push(misplaced);
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
            let labelled = |def: &LabelDef<'_>| def.element == id;
            if self
                .labels
                .iter()
                .any(|def| labelled(def) && def.name().is_some_and(special))
            {
                // A jump is no state; a `skip` before it takes the label.
                let span = self.element(id).span;
                let skip = self.create(Kind::Simple(Simple::Skip), span);
                if let Some(def) = self.labels.iter_mut().rev().find(|def| labelled(def)) {
                    def.element = skip;
                }
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
                let jump = Jump {
                    to: *to,
                    target: None,
                };
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

    fn set_label(&mut self, label: &'a Label, element: ElementId) {
        let symbol = self.label_symbol(&label.name.text);
        let span = label.name.span;
        if let Some(other) = self
            .labels
            .iter()
            .find(|def| def.body == self.body && def.symbol == Ok(symbol))
        {
            let other = other.span;
            self.diagnostics.push(
                Diagnostic::error(span, format!("label `{}` is declared twice", symbol.name))
                    .related(other, "first here"),
            );
        }
        self.labels.push(LabelDef {
            symbol: Ok(symbol),
            body: self.body,
            element,
            span,
        });
    }

    fn add_choice(&mut self, is_loop: bool, options: &[SequenceId], span: Span) -> ElementId {
        let options = self.else_last(options, span);
        let choice = self.create(
            Kind::Choice {
                is_loop,
                options: options.clone(),
            },
            span,
        );
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

    fn else_last(&mut self, options: &[SequenceId], span: Span) -> Vec<SequenceId> {
        let starts_with_else = |flow: &Self, option: SequenceId| {
            matches!(flow.element(flow.sequence(option).first).kind, Kind::Else)
        };
        let (elses, mut sorted): (Vec<_>, Vec<_>) = options
            .iter()
            .partition(|&&option| starts_with_else(self, option));
        if let [first, second, ..] = elses[..] {
            let place = |option| self.element(self.sequence(option).first).span;
            self.diagnostics.push(
                Diagnostic::error(place(second), "a second `else` in one choice")
                    .related(place(first), "first here"),
            );
        } else if let [only] = elses[..]
            && sorted
                .iter()
                .any(|&option| self.uses_channel(self.sequence(option).first))
        {
            let at = self.element(self.sequence(only).first).span;
            self.diagnostics.push(
                Diagnostic::warning(at, "`else` beside a send or receive")
                    .related(span, "in this choice")
                    .note("it is possible whenever the message cannot pass right now"),
            );
        }
        sorted.extend(elses);
        sorted
    }

    /// Whether the guard is a send or receive, or asks whether a channel is full or empty.
    fn uses_channel(&self, first: ElementId) -> bool {
        match &self.element(first).kind {
            Kind::Simple(Simple::Statement(stmt)) => match &stmt.kind {
                StmtKind::Send { .. } | StmtKind::Receive { .. } => true,
                StmtKind::Expr(expr) | StmtKind::Assign(_, AssignOp::Set(expr)) => {
                    remote::tests_channel(expr)
                }
                _ => false,
            },
            _ => false,
        }
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

    /// Lets every element of a sequence be left by an escape.
    fn attach_escape(&mut self, normal: SequenceId, escape: SequenceId) {
        if !self.attached.insert((normal, escape)) {
            return;
        }
        let Sequence { first, extent, .. } = self.sequence(normal);
        let mut at = Some(first);
        while let Some(id) = at {
            self.escape_element(id, escape);
            if id == extent {
                break;
            }
            at = self.element(id).next;
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.element(id).escapes.contains(&escape) {
            return;
        }
        for inner in self.element(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        let element = self.element_mut(id);
        element.escapes.insert(0, escape);
        match element.kind.clone() {
            Kind::Unless(normal, _) => self.attach_escape(normal, escape),
            Kind::Choice { options, .. } => {
                for option in options {
                    self.attach_escape(option, escape);
                }
            }
            Kind::Block(BlockKind::DStep, inside) => {
                self.escape_element(self.sequence(inside).first, escape);
            }
            Kind::Block(_, inside) => self.attach_escape(inside, escape),
            _ => {}
        }
    }

    fn make_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        self.walk_atomic(sequence, d_step);
        let mut last = self.sequence(sequence).last;
        loop {
            last = match self.element(last).kind {
                Kind::Block(BlockKind::Plain | BlockKind::Atomic, inside) => {
                    self.sequence(inside).last
                }
                Kind::Unless(normal, _) => self.sequence(normal).last,
                _ => break,
            };
        }
        let last = self.element_mut(last);
        last.atomic = false;
        last.atomic_end = true;
    }

    fn walk_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        let members: Vec<_> = self.members(sequence).collect();
        for id in members {
            let element = self.element_mut(id);
            element.atomic = true;
            match element.kind.clone() {
                Kind::Block(BlockKind::DStep, _) if !d_step => {}
                Kind::Block(_, inside) => {
                    // An atomic inside of another one is a plain block.
                    element.kind = Kind::Block(BlockKind::Plain, inside);
                    self.walk_atomic(inside, d_step);
                }
                Kind::Choice { options, .. } => {
                    for option in options {
                        self.walk_atomic(option, d_step);
                    }
                }
                Kind::Unless(normal, escape) => {
                    if d_step {
                        let span = element.span;
                        self.diagnostics.push(
                            Diagnostic::error(span, "`unless` inside of a `d_step`")
                                .label("a d_step cannot be left half-way"),
                        );
                    }
                    self.walk_atomic(normal, d_step);
                    self.walk_atomic(escape, d_step);
                }
                _ => {}
            }
        }
    }

    /// Links the last element of every block to what follows the block.
    fn tie_ends(&mut self) {
        for i in (0..self.elements.len()).rev() {
            let Kind::Block(_, inside) = self.elements[i].kind else {
                continue;
            };
            let mut after = self.elements[i].next;
            if after.is_none() {
                continue;
            }
            while let Some(id) = after
                && matches!(self.element(id).kind, Kind::Join(_))
            {
                after = self.element(id).next;
            }
            let last = self.sequence(inside).last;
            match self.element(last).next {
                None => self.element_mut(last).next = after,
                // A jump that moved away from a label: it is the last now.
                Some(moved) if matches!(self.element(moved).kind, Kind::Goto(_)) => {
                    self.sequences[inside.0 as usize].last = moved;
                }
                Some(_) => {}
            }
        }
    }

    /// Finds the element every jump leads to.
    fn find_targets(&mut self) {
        let mut exits = FxHashMap::default();
        let mut named: FxHashMap<(BodyId, &str), Vec<(u32, ElementId)>> = FxHashMap::default();
        for def in &self.labels {
            match def.symbol {
                Ok(symbol) => named
                    .entry((def.body, symbol.name))
                    .or_default()
                    .push((symbol.scope, def.element)),
                Err(exit) => {
                    exits.insert(exit, def.element);
                }
            }
        }
        for i in 0..self.elements.len() {
            let Kind::Goto(jump) = self.elements[i].kind else {
                continue;
            };
            let Element {
                body, span, d_step, ..
            } = self.elements[i];
            let target = match jump.to {
                Destination::LoopExit(exit) => exits.get(&exit).copied(),
                Destination::Label(symbol) => named
                    .get(&(body, symbol.name))
                    .and_then(|labels| self.best_label(symbol.scope, labels)),
            };
            self.elements[i].kind = Kind::Goto(Jump { target, ..jump });
            let Some(target) = target else {
                if let Destination::Label(LabelSymbol { name, .. }) = jump.to {
                    self.diagnostics.push(Diagnostic::error(
                        span,
                        format!("there is no label `{name}`"),
                    ));
                }
                continue;
            };
            let target = self.element(target);
            if d_step != target.d_step {
                let message = match d_step {
                    Some(_) => "a jump out of a `d_step`",
                    None => "a jump into a `d_step`",
                };
                let diagnostic = Diagnostic::error(span, message)
                    .related(target.span, "leads here")
                    .note("a d_step is one step: it is entered at its start and left at its end");
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The label in the very scope; or else the first in a scope around it; or else any.
    fn best_label(&self, scope: u32, labels: &[(u32, ElementId)]) -> Option<ElementId> {
        let same = labels.iter().rev().find(|(at, _)| *at == scope);
        let around = || labels.iter().find(|(at, _)| self.encloses(*at, scope));
        same.or_else(around)
            .or_else(|| labels.last())
            .map(|&(_, element)| element)
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
        self.next = if id == self.last {
            None
        } else {
            self.flow.element(id).next
        };
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

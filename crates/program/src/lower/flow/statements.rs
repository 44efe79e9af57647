//! From statements to elements, contents first.

use spinward_promela::ast::{Choice, Decl, ForRange, Stmt, StmtKind, VarRef};
use spinward_promela::symbols::{Symbol, Type};
use spinward_promela::{Code, Diagnostic, Span};

use super::{
    BlockKind, Claimed, Destination, Flow, Jump, Kind, NO_LABELS, Node, Open, Opening, Rotate,
    Sequence, SequenceId, Shape, Simple,
};
use crate::lower::remote;

impl<'a> Flow<'a> {
    /// A block of statements in braces, as a sequence.
    fn braces(&mut self, stmts: &'a [Stmt], opening: Opening, span: Span) -> SequenceId {
        self.open.push(Open::default());
        self.enter_scope();
        self.steps(stmts);
        self.leave_scope();
        self.close(opening, span)
    }

    pub(super) fn steps(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.step(stmt);
        }
    }

    fn step(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Decl(decl) => self.declaration(decl),
            StmtKind::Exclusive { send, channels } => {
                let (body, send) = (self.body, *send);
                let claimed = channels.iter().map(|channel| Claimed { body, send, channel });
                self.claimed.extend(claimed);
            }
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
                        Diagnostic::new(
                            Code::BreakOutsideLoop,
                            stmt.span,
                            "`break` outside of a loop",
                        )
                        .label("there is no loop around it"),
                    );
                    Shape::Simple(Simple::Skip)
                }
            },
            StmtKind::Else => Shape::Else,
            StmtKind::Block(stmts) => {
                Shape::Block(BlockKind::Plain, self.braces(stmts, Opening::Block, stmt.span))
            }
            StmtKind::Inline { body, .. } => {
                Shape::Block(BlockKind::Plain, self.braces(body, Opening::Block, stmt.span))
            }
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
            StmtKind::Select { var, from, to, literal } => {
                let written_out =
                    if *literal { self.constant(from).zip(self.constant(to)) } else { None };
                match written_out {
                    Some((from, to)) if i64::from(to) - i64::from(from) <= 32 => {
                        let options = (from..=to)
                            .map(|n| {
                                self.open.push(Open::default());
                                self.add_simple(Simple::SetNumber(var, n), stmt.span);
                                self.close(Opening::Option, stmt.span)
                            })
                            .collect();
                        Shape::Choice { is_loop: false, options }
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
                        Shape::Choice { is_loop: true, options: vec![count, leave] }
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
                        Shape::Choice { is_loop: true, options: vec![leave, count] }
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
        Some(Node { labels, shape, span: stmt.span })
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
        let Sequence { first, last, extent } = self.sequence(option);
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
            if skip && self.labels.at(id).next().is_none() {
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
        Shape::Choice { is_loop: true, options: vec![leave, repeat] }
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
        let jump =
            self.create(Kind::Goto(Jump { to: Destination::LoopExit(exit), target: None }), span);
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
                            Diagnostic::new(
                                Code::MisplacedLabel,
                                span,
                                "`unless` after a labelled `d_step`",
                            )
                            .help("write `Label: { d_step { ... } unless escape }`"),
                        );
                    }
                    // The label goes before a new block around the whole.
                    let inside =
                        Node { labels: NO_LABELS, shape: Shape::Unless(sequence, escape), span };
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
        Some(Node { labels: NO_LABELS, shape: Shape::Unless(normal, escape), span })
    }

    /// A statement as a sequence of its own.
    fn alone(&mut self, node: &Node<'a>, opening: Opening) -> SequenceId {
        self.open.push(Open::default());
        self.add(node);
        self.close(opening, node.span)
    }
}

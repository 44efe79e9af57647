//! Whole models, with lines and indentation.

use super::expressions::{c_text, expr};
use super::statements::{declaration, first_word, for_head, simple};
use super::{separated, tokens};
use crate::ast::{
    Body, CText, CUnit, CUnitKind, Choice, Expr, ExprKind, Ltl, Model, MtypeDecl, Proctype, Stmt,
    StmtKind, Unit,
};

/// Options of two statements stay in one line up to this length.
const WIDTH: usize = 80;

/// A whole model. Inline calls are calls again; macros stay expanded and comments are lost, since
/// the tree holds neither.
pub fn model(model: &Model) -> String {
    let mut printer = Printer::default();
    for (i, unit) in model.units.iter().enumerate() {
        let both_plain = i > 0 && is_plain(&model.units[i - 1]) && is_plain(unit);
        if i > 0 && !both_plain {
            printer.text.push('\n');
        }
        printer.unit(unit);
    }
    printer.text
}

/// Whether a unit is a line among lines, with no empty one before it.
fn is_plain(unit: &Unit) -> bool {
    matches!(unit, Unit::Decl(_) | Unit::Mtype(_) | Unit::C(_))
}

#[derive(Default)]
struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    /// Ends a line.
    fn newline(&mut self) {
        self.text.push('\n');
    }

    /// Begins a line.
    fn margin(&mut self) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
    }

    fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Proctype(proctype) => self.proctype(proctype),
            Unit::Init(init) => {
                self.text.push_str("init");
                self.priority(init.priority.as_ref());
                self.body(&init.body);
            }
            Unit::Never(never) => {
                self.text.push_str("never");
                if let Some(name) = &never.name {
                    self.text.push(' ');
                    self.text.push_str(&name.text);
                }
                self.body(&never.body);
            }
            Unit::Trace(trace) => {
                let word = if trace.negated { "notrace" } else { "trace" };
                self.text.push_str(word);
                self.body(&trace.body);
            }
            Unit::Ltl(ltl) => self.ltl(ltl),
            Unit::Decl(decl) => {
                declaration(&mut self.text, decl);
                self.text.push_str(";\n");
            }
            Unit::Mtype(mtype) => self.mtype(mtype),
            Unit::Typedef(typedef) => {
                self.text.push_str("typedef ");
                self.text.push_str(&typedef.name.text);
                self.text.push_str(" {\n");
                self.indented(|p| {
                    for field in &typedef.fields {
                        p.margin();
                        declaration(&mut p.text, field);
                        p.text.push_str(";\n");
                    }
                });
                self.text.push_str("}\n");
            }
            Unit::Inline(inline) => {
                self.text.push_str("inline ");
                self.text.push_str(&inline.name.text);
                self.text.push('(');
                separated(&mut self.text, ", ", &inline.params, |text, param| {
                    text.push_str(&param.text);
                });
                self.text.push_str(") ");
                tokens::lines(&mut self.text, &inline.body);
                self.newline();
            }
            Unit::C(unit) => self.c_unit(unit),
        }
    }

    fn proctype(&mut self, proctype: &Proctype) {
        match &proctype.active {
            Some(Some(count)) => {
                self.text.push_str("active [");
                expr(&mut self.text, count);
                self.text.push_str("] ");
            }
            Some(None) => self.text.push_str("active "),
            None => {}
        }
        self.text.push_str(if proctype.deterministic { "D_proctype " } else { "proctype " });
        self.text.push_str(&proctype.name.text);
        self.text.push('(');
        separated(&mut self.text, "; ", &proctype.params, declaration);
        self.text.push(')');
        self.priority(proctype.priority.as_ref());
        if let Some(condition) = &proctype.provided {
            self.text.push_str(" provided (");
            expr(&mut self.text, condition);
            self.text.push(')');
        }
        self.body(&proctype.body);
    }

    fn priority(&mut self, priority: Option<&Expr>) {
        let Some(priority) = priority else { return };
        self.text.push_str(" priority ");
        if matches!(priority.kind, ExprKind::Number(_) | ExprKind::Var(_)) {
            expr(&mut self.text, priority);
        } else {
            self.text.push('(');
            expr(&mut self.text, priority);
            self.text.push(')');
        }
    }

    fn ltl(&mut self, ltl: &Ltl) {
        self.text.push_str("ltl ");
        if let Some(name) = &ltl.name {
            self.text.push_str(&name.text);
            self.text.push(' ');
        }
        self.text.push_str("{ ");
        expr(&mut self.text, &ltl.formula);
        self.text.push_str(" }\n");
    }

    fn mtype(&mut self, mtype: &MtypeDecl) {
        self.text.push_str("mtype");
        if let Some(set) = &mtype.set {
            self.text.push(':');
            self.text.push_str(&set.text);
        }
        self.text.push_str(" = { ");
        separated(&mut self.text, ", ", &mtype.names, |text, name| {
            text.push_str(&name.text);
        });
        self.text.push_str(" };\n");
    }

    fn c_unit(&mut self, unit: &CUnit) {
        match unit.kind {
            CUnitKind::Decl | CUnitKind::Code => {
                let word = match unit.kind {
                    CUnitKind::Decl => "c_decl",
                    _ => "c_code",
                };
                let code = CText { assertion: None, code: unit.text.concat() };
                c_text(&mut self.text, word, &code);
            }
            CUnitKind::State | CUnitKind::Track => {
                self.text.push_str(match unit.kind {
                    CUnitKind::State => "c_state",
                    _ => "c_track",
                });
                for string in &unit.text {
                    self.text.push_str(" \"");
                    self.text.push_str(string);
                    self.text.push('"');
                }
            }
        }
        self.newline();
    }

    fn body(&mut self, body: &Body) {
        self.text.push(' ');
        self.block(&body.stmts);
        self.newline();
    }

    /// `{`, lines, `}`.
    fn block(&mut self, stmts: &[Stmt]) {
        self.text.push_str("{\n");
        self.indented(|p| p.sequence(stmts));
        self.margin();
        self.text.push('}');
    }

    /// Statements, each on lines of its own.
    fn sequence(&mut self, stmts: &[Stmt]) {
        for (i, stmt) in stmts.iter().enumerate() {
            self.margin();
            self.statement(stmt);
            if i + 1 < stmts.len() {
                self.text.push(';');
            }
            self.newline();
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        for (i, label) in stmt.labels.iter().enumerate() {
            self.text.push_str(&label.name.text);
            self.text.push(':');
            if i + 1 < stmt.labels.len() || !matches!(stmt.kind, StmtKind::LabelOnly) {
                self.newline();
                self.margin();
            }
        }
        match &stmt.kind {
            StmtKind::Block(stmts) => self.block(stmts),
            StmtKind::Atomic(stmts) | StmtKind::DStep(stmts) => {
                self.text.push_str(first_word(&stmt.kind));
                self.text.push(' ');
                self.block(stmts);
            }
            StmtKind::If(options) => self.choice("if", options, "fi"),
            StmtKind::Do(options) => self.choice("do", options, "od"),
            StmtKind::For { var, range, body } => {
                for_head(&mut self.text, var, range);
                self.text.push(' ');
                self.block(body);
            }
            StmtKind::Unless(normal, escape) => {
                self.statement(normal);
                self.text.push_str(" unless ");
                self.statement(escape);
            }
            kind => simple(&mut self.text, kind),
        }
    }

    fn choice(&mut self, opening: &str, options: &[Choice], closing: &str) {
        self.text.push_str(opening);
        self.newline();
        for option in options {
            self.margin();
            self.text.push_str(":: ");
            self.option(&option.stmts);
        }
        self.margin();
        self.text.push_str(closing);
    }

    /// The statements of an option: the first behind the `::`, a second one beside it if both are
    /// short.
    fn option(&mut self, stmts: &[Stmt]) {
        let [first, rest @ ..] = stmts else {
            self.newline();
            return;
        };
        let line_start = self.text.rfind('\n').map_or(0, |n| n + 1);
        self.indented(|p| match (&first.kind, rest) {
            // A guard that only says `true`.
            (StmtKind::Expr(condition), [_, ..]) => {
                p.labels_in_line(first);
                expr(&mut p.text, condition);
            }
            _ => p.statement(first),
        });
        let arrow = matches!(
            first.kind,
            StmtKind::Expr(_) | StmtKind::Else | StmtKind::Send { .. } | StmtKind::Receive { .. }
        );
        match rest {
            [] => self.newline(),
            [second] if is_simple(first) && is_simple(second) => {
                let mut line = String::new();
                simple(&mut line, &second.kind);
                self.text.push_str(if arrow { " ->" } else { ";" });
                if self.text.len() - line_start + line.len() < WIDTH {
                    self.text.push(' ');
                } else {
                    self.newline();
                    self.indented(Self::margin);
                }
                self.text.push_str(&line);
                self.newline();
            }
            _ => {
                self.text.push_str(if arrow { " ->\n" } else { ";\n" });
                self.indented(|p| p.sequence(rest));
            }
        }
    }

    fn labels_in_line(&mut self, stmt: &Stmt) {
        for label in &stmt.labels {
            self.text.push_str(&label.name.text);
            self.text.push_str(": ");
        }
    }
}

/// Whether a statement is one line without a label.
fn is_simple(stmt: &Stmt) -> bool {
    let compound = matches!(
        stmt.kind,
        StmtKind::LabelOnly
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::For { .. }
            | StmtKind::Unless(..)
    );
    stmt.labels.is_empty() && !compound
}

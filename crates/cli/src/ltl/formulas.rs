//! Formulas on the command line, which belong to no model.
//!
//! They are read as the formulas of a model are, macros included, only that no name means anything:
//! what has no temporal operator and cannot be taken apart by `&&`, `||`, `!`, `->` and `<->` is a
//! proposition, known by its text. All formulas of one command share their propositions.

use spinward_program::formula::{Atoms, formula, too_large};
use spinward_promela::ast::{ChannelTest, Expr, ExprKind};
use spinward_promela::{Code, Diagnostic, Options, SourceMap, parser, preprocess, pretty};
use spinward_property::{Formula, MAX_ATOMS};

use crate::args::OutputArgs;
use crate::model;
use crate::terminal::{EXIT_USAGE, Failure};

/// A formula as the user wrote it.
pub struct Given<'a> {
    /// Where, as messages name it.
    pub place: &'static str,
    /// What.
    pub text: &'a str,
}

/// Formulas, and the propositions in them.
pub struct Formulas {
    /// In the order in which they were given.
    pub all: Vec<Formula>,
    /// The texts of their propositions, by number.
    pub names: Vec<String>,
    /// Of propositions that SPIN does not let be negated by `!`: their texts, and those of their negations.
    pub negations: Vec<(String, String)>,
}

/// Reads formulas, telling mistakes in them on standard error.
pub fn read(
    given: &[Given<'_>],
    defines: Vec<(String, String)>,
    output: &OutputArgs,
) -> Result<Formulas, Failure> {
    let mut source = SourceMap::default();
    // Macros of the command line need a text that they come before.
    let root = source.add_file("<command line>".into(), String::new(), None);
    let files: Vec<_> = given
        .iter()
        .map(|given| source.add_file(given.place.into(), given.text.to_owned(), None))
        .collect();
    let options = Options { defines, ..Options::default() };
    let (_, texts, mut diagnostics) =
        preprocess::preprocess_with(&mut source, root, &files, &options);
    let mut propositions = Propositions::default();
    let mut all = Vec::new();
    // After a mistake among the words the parser would complain about what is missing because of it.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        for tokens in texts {
            match parser::parse_formula_alone(tokens, &mut source) {
                Ok(expr) => all.push(propositions.formula(&expr)),
                Err(problem) => diagnostics.push(problem),
            }
        }
        diagnostics.append(&mut propositions.diagnostics);
    }
    model::show(&source, &diagnostics, output);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::told(EXIT_USAGE));
    }
    let Propositions { names, negations, .. } = propositions;
    Ok(Formulas { all, names, negations })
}

#[derive(Default)]
struct Propositions {
    names: Vec<String>,
    negations: Vec<(String, String)>,
    diagnostics: Vec<Diagnostic>,
}

impl Propositions {
    fn formula(&mut self, expr: &Expr) -> Formula {
        let known = self.names.len();
        let formula = formula(expr, self);
        let most = MAX_ATOMS as usize;
        if self.names.len() > most && known <= most {
            let problem = format!("there can be {MAX_ATOMS} propositions, and here are more");
            self.diagnostics.push(Diagnostic::new(Code::FormulaTooLarge, expr.span, problem));
        }
        self.diagnostics.extend(too_large(&formula, expr.span));
        formula
    }

    /// Notes what a model's names would not be needed for to see that it is wrong.
    fn look_through(&mut self, expr: &Expr) {
        let problem = match &expr.kind {
            ExprKind::Run { .. } => {
                Some((Code::RunInExpression, "a formula cannot start a process"))
            }
            ExprKind::TemporalUnary(..) | ExprKind::TemporalBinary(..) => Some((
                Code::TemporalOutsideFormula,
                "a value is wanted here, not a temporal formula",
            )),
            _ => None,
        };
        let problem = problem.map(|(code, text)| Diagnostic::new(code, expr.span, text));
        self.diagnostics.extend(problem);
        expr.for_each_operand(&mut |operand| self.look_through(operand));
    }
}

impl Atoms for Propositions {
    fn may_split(&mut self, _: &Expr) -> bool {
        true
    }

    fn number(&mut self, expr: &Expr) -> u32 {
        let text = pretty::expr(expr);
        let number = self.names.iter().position(|name| *name == text).unwrap_or_else(|| {
            self.look_through(expr);
            if let ExprKind::ChannelTest(test, channel) = &expr.kind {
                let opposite = match test {
                    ChannelTest::Full => ChannelTest::NotFull,
                    ChannelTest::Empty => ChannelTest::NotEmpty,
                    ChannelTest::NotFull => ChannelTest::Full,
                    ChannelTest::NotEmpty => ChannelTest::Empty,
                };
                let kind = ExprKind::ChannelTest(opposite, channel.clone());
                let opposite = pretty::expr(&Expr { kind, span: expr.span });
                self.negations.push((text.clone(), opposite));
            }
            self.names.push(text);
            self.names.len() - 1
        });
        // That there are too many is told when all are counted.
        u32::try_from(number).unwrap_or(MAX_ATOMS).min(MAX_ATOMS - 1)
    }
}

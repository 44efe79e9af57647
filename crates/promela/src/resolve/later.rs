//! What is looked up when the whole model was read: process types, labels and variables of other
//! processes, the length of messages.

use rustc_hash::FxHashMap;

use super::Resolver;
use crate::ast::{Name, VarRef};
use crate::render::MAX_SHOWN;
use crate::source::Span;
use crate::symbols::{BodyId, BodyKind, MtypeId, Predefined, Scope, Symbol, Symbols, Type, VarId};
use crate::{Code, Diagnostic};

/// What other processes may look at in a body.
struct Inside {
    labels: FxHashMap<String, u32>,
    variables: FxHashMap<String, Namesakes>,
}

/// The variables of one name in a body.
struct Namesakes {
    first: VarId,
    second: Option<VarId>,
    /// The one in no block.
    at_top: Option<VarId>,
}

impl Inside {
    fn new(symbols: &Symbols, body: BodyId) -> Self {
        let mut inside = Self { labels: FxHashMap::default(), variables: FxHashMap::default() };
        for ((name, _), index) in symbols.body(body).labels.iter().zip(0..) {
            inside.labels.entry(name.clone()).or_insert(index);
        }
        for &id in &symbols.body(body).locals {
            let variable = symbols.variable(id);
            let at_top = variable.block.is_empty().then_some(id);
            inside
                .variables
                .entry(variable.name.clone())
                .and_modify(|known| {
                    known.second = known.second.or(Some(id));
                    known.at_top = known.at_top.or(at_top);
                })
                .or_insert(Namesakes { first: id, second: None, at_top });
        }
        inside
    }
}

/// A `run`.
pub(super) struct RunCall<'m> {
    pub proctype: &'m Name,
    pub span: Span,
    /// The number of its arguments, records counted by their fields; none if one is wrong.
    pub given: Option<usize>,
    /// Its arguments that are mtype constants: which, and of which set.
    pub constants: Vec<(usize, MtypeId, Span)>,
}

/// A reference into another process.
pub(super) struct Remote<'m> {
    pub proctype: &'m Name,
    pub what: RemoteWhat<'m>,
}

/// To what.
pub(super) enum RemoteWhat<'m> {
    Label(&'m Name),
    Variable(&'m VarRef),
}

/// A name that was reported as not declared.
pub(super) struct Unknown<'m> {
    pub name: &'m Name,
    /// Where it stands.
    pub body: Option<BodyId>,
    /// How many variables were declared before.
    pub known: usize,
    /// The report.
    pub diagnostic: usize,
}

/// A message sent to or received from a channel.
pub(super) struct Message {
    pub span: Span,
    /// The variable that was declared with its channel.
    pub channel: Option<VarId>,
    pub given: usize,
    pub sent: bool,
}

impl<'m> Resolver<'m> {
    /// The process type of a `run` or a remote reference.
    fn find_proctype(&mut self, name: &'m Name) -> Option<BodyId> {
        let known = self.proctypes.get(name.text.as_str()).copied();
        let known = known.or_else(|| match self.globals.get(&name.text)?.meaning? {
            Symbol::Body(id) => Some(id),
            _ => None,
        });
        let Some(id) = known else {
            let mut error = Diagnostic::new(
                Code::NoProctype,
                name.span,
                format!("there is no process type `{}`", name.text),
            );
            let bodies = self.symbols.bodies.iter();
            let names = bodies
                .filter(|body| body.kind == BodyKind::Proctype)
                .map(|body| body.name.as_str());
            if let Some(help) = self.did_you_mean(&name.text, names) {
                error = error.help(help);
            }
            self.report(error);
            return None;
        };
        self.set(name, Symbol::Body(id));
        Some(id)
    }

    pub(super) fn check_runs(&mut self) {
        for call in std::mem::take(&mut self.runs) {
            let Some(id) = self.find_proctype(call.proctype) else {
                continue;
            };
            let params = self.symbols.body(id).params.clone();
            let wanted = total(params.iter().map(|&param| self.width(param)));
            if let (Some(given), Some(wanted)) = (call.given, wanted)
                && given != wanted
            {
                self.wrong_arguments(&call, id, given, wanted);
                continue;
            }
            // An argument stands at the same place as its parameter only if there are no records.
            if wanted != Some(params.len()) {
                continue;
            }
            for (position, set, span) in call.constants {
                let Some(&param) = params.get(position) else {
                    continue;
                };
                let param = self.symbols.variable(param);
                if let Type::Mtype(expected) = param.ty
                    && expected != set
                {
                    let error = Diagnostic::new(
                        Code::MixedMtypes,
                        span,
                        format!(
                            "a constant of {} for a parameter of {}",
                            self.set_name(set),
                            self.set_name(expected)
                        ),
                    )
                    .related(param.span, "the parameter");
                    self.report(error);
                }
            }
        }
    }

    fn wrong_arguments(&mut self, call: &RunCall<'m>, id: BodyId, given: usize, wanted: usize) {
        let body = self.symbols.body(id);
        let error = Diagnostic::new(
            Code::RunArguments,
            call.span,
            format!("`{}` takes {}, not {given}", body.name, arguments(wanted)),
        )
        .related(body.span, "declared here");
        self.report(error);
    }

    /// How many values a variable holds; none if arrays of records are among them, which SPIN can
    /// neither send nor pass.
    pub(super) fn width(&self, id: VarId) -> Option<usize> {
        let variable = self.symbols.variable(id);
        match variable.ty {
            Type::Struct(_) if variable.array.is_some() => None,
            Type::Struct(typedef) => self.record_widths[typedef.0 as usize],
            _ => Some(variable.array.unwrap_or(1) as usize),
        }
    }

    pub(super) fn check_remotes(&mut self) {
        let mut inside = FxHashMap::default();
        for remote in std::mem::take(&mut self.remotes) {
            let Some(id) = self.find_proctype(remote.proctype) else {
                continue;
            };
            let inside = inside.entry(id).or_insert_with(|| Inside::new(&self.symbols, id));
            match remote.what {
                RemoteWhat::Label(label) => self.remote_label(id, label, inside),
                RemoteWhat::Variable(var) => self.remote_variable(id, var, inside),
            }
        }
    }

    fn remote_label(&mut self, id: BodyId, name: &Name, inside: &Inside) {
        if let Some(&index) = inside.labels.get(&name.text) {
            self.set(name, Symbol::Label(id, index));
            return;
        }
        let body = self.symbols.body(id);
        let mut error = Diagnostic::new(
            Code::NoLabel,
            name.span,
            format!("there is no label `{}` in `{}`", name.text, body.name),
        )
        .related(body.span, "the process type");
        let labels = body.labels.iter().map(|(label, _)| label.as_str());
        if let Some(help) = self.did_you_mean(&name.text, labels) {
            error = error.help(help);
        }
        self.report(error);
    }

    /// `P:v`: a variable at the top of `P`'s body or, other than in SPIN, the only one of that name
    /// in its blocks.
    fn remote_variable(&mut self, id: BodyId, var: &'m VarRef, inside: &Inside) {
        let Some(part) = var.parts.first() else {
            return;
        };
        let name = &part.name;
        match name.text.as_str() {
            "_pid" => return self.set(name, Symbol::Predefined(Predefined::Pid)),
            "_priority" => return self.set(name, Symbol::Predefined(Predefined::Priority)),
            _ => {}
        }
        let body = self.symbols.body(id);
        let found = match inside.variables.get(&name.text) {
            Some(
                &Namesakes { at_top: Some(id), .. } | &Namesakes { first: id, second: None, .. },
            ) => id,
            None => {
                let mut error = Diagnostic::new(
                    Code::BadRemote,
                    name.span,
                    format!("no variable `{}` in `{}`", name.text, body.name),
                )
                .related(body.span, "the process type");
                let locals = body.locals.iter();
                let names = locals.map(|&id| self.symbols.variable(id).name.as_str());
                if let Some(help) = self.did_you_mean(&name.text, names) {
                    error = error.help(help);
                }
                return self.report(error);
            }
            Some(Namesakes { first, second: Some(second), .. }) => {
                let error = Diagnostic::new(
                    Code::BadRemote,
                    name.span,
                    format!("`{}` has several variables `{}`", body.name, name.text),
                )
                .related(self.symbols.variable(*first).span, "one")
                .related(self.symbols.variable(*second).span, "another");
                return self.report(error);
            }
        };
        self.follow(var, found, false);
    }

    /// Tells of names that are not known where they stand, but elsewhere.
    pub(super) fn explain_unknown(&mut self) {
        let unknown = std::mem::take(&mut self.unknown);
        // No others are shown.
        for Unknown { name, body, known, diagnostic } in unknown.into_iter().take(MAX_SHOWN) {
            let variables = self.symbols.variables.iter().enumerate();
            let namesakes = variables.filter(|(_, variable)| {
                variable.name == name.text
                    && !variable.synthetic
                    && !matches!(variable.scope, Scope::Field(_))
            });
            let nearest = namesakes.min_by_key(|(_, variable)| match variable.scope {
                Scope::Global => 0,
                Scope::Local(owner) if Some(owner) == body => 1,
                _ => 2,
            });
            let Some((index, variable)) = nearest else { continue };
            let report = &mut self.diagnostics[diagnostic];
            report.help.clear();
            match variable.scope {
                Scope::Local(owner) if Some(owner) != body => {
                    let owner = self.symbols.body(owner);
                    let owner_name = owner.name.trim_matches(':');
                    let declared = format!("declared here, in `{owner_name}`");
                    report.related.push((variable.span, declared));
                    let looks_inside =
                        body.is_none_or(|id| self.symbols.body(id).kind == BodyKind::Never);
                    if looks_inside && owner.kind == BodyKind::Proctype {
                        report.help.push(format!("write `{owner_name}:{}`", name.text));
                    } else {
                        let note = "a variable of one process is not known to others";
                        report.notes.push(note.into());
                        let help = "declare it outside of the processes to share it";
                        report.help.push(help.into());
                    }
                }
                _ if index >= known => {
                    report.related.push((variable.span, "declared here, further on".into()));
                    report.notes.push("a name is known from its declaration on".into());
                }
                _ => {
                    report.related.push((variable.span, "declared here".into()));
                    report.notes.push("a variable is known up to the end of its block".into());
                }
            }
        }
    }

    pub(super) fn check_messages(&mut self) {
        let channels = self.symbols.variables.iter();
        let longest = channels
            .filter_map(|variable| variable.channel.as_ref())
            .filter_map(|channel| self.message_width(&channel.fields))
            .max()
            .unwrap_or(0);
        let all_known = !self.diagnostics.iter().any(Diagnostic::is_error);
        for message in std::mem::take(&mut self.messages) {
            let channel = message.channel.map(|id| self.symbols.variable(id));
            let wanted =
                channel.and_then(|variable| self.message_width(&variable.channel.as_ref()?.fields));
            let impossible = message.sent && message.given > longest;
            let code = if impossible { Code::FieldCount } else { Code::MaybeFieldCount };
            let problem = match wanted {
                // SPIN fills up what a receive leaves out.
                Some(wanted)
                    if message.given > wanted || message.given < wanted && message.sent =>
                {
                    format!(
                        "this channel's messages have {}, not {}",
                        fields(wanted),
                        message.given
                    )
                }
                None if impossible && all_known => {
                    format!("no channel has messages of {}", fields(message.given))
                }
                _ => continue,
            };
            let mut diagnostic = Diagnostic::new(code, message.span, problem);
            if let Some(variable) = channel {
                diagnostic = diagnostic.related(variable.span, "the channel");
            } else {
                diagnostic = diagnostic.help(
                    "a channel is made by a declaration: `chan c = [1] of { byte }` holds one \
                     message of one field",
                );
            }
            self.report(diagnostic);
        }
    }

    /// How many values a message holds.
    fn message_width(&self, fields: &[Type]) -> Option<usize> {
        total(fields.iter().map(|&ty| match ty {
            Type::Struct(typedef) => self.record_widths[typedef.0 as usize],
            _ => Some(1),
        }))
    }
}

/// The sum of widths, if all are known and it is not beyond all bounds.
pub(super) fn total(mut widths: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    widths.try_fold(0_usize, |sum, width| sum.checked_add(width?))
}

fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

fn fields(count: usize) -> String {
    match count {
        1 => "1 field".to_owned(),
        _ => format!("{count} fields"),
    }
}

//! What is wrong with models, for the client.

use std::collections::BTreeMap;

use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity};
use spinward_promela::{Diagnostic, Severity, Span};

use crate::analysis::{Analysis, Place};
use crate::text::Encoding;

/// Diagnostics of one model that are sent at most, and levels of macros that are shown of each.
const MAX_SENT: usize = 200;
const MAX_LEVELS: usize = 5;

/// What is wrong, by the URI of the file.
pub type ByFile = BTreeMap<String, Vec<lsp_types::Diagnostic>>;

/// Adds what is wrong with a model.
pub fn add(all: &mut ByFile, analysis: &Analysis, encoding: Encoding) {
    let mut shown: Vec<&Diagnostic> = analysis.diagnostics.iter().collect();
    if shown.len() > MAX_SENT {
        shown.sort_by_key(|diagnostic| !diagnostic.is_error());
        shown.truncate(MAX_SENT);
    }
    for uri in analysis.files.iter().filter_map(|file| file.uri.as_ref()) {
        all.entry(uri.to_string()).or_default();
    }
    for diagnostic in shown {
        let place = visible(analysis, diagnostic.span);
        let Some(uri) = &analysis.files[place.file].uri else { continue };
        let converted = convert(analysis, diagnostic, place, encoding);
        let known = all.entry(uri.to_string()).or_default();
        if !known.contains(&converted) {
            known.push(converted);
        }
    }
}

/// Where to show a mistake: at the use of the macro that brought it. What is nowhere, or on no file, is
/// at the beginning of the model.
fn visible(analysis: &Analysis, span: Option<Span>) -> Place {
    let place = span.map(|span| analysis.written(analysis.loaded.source.outside_macros(span)));
    let place = place.filter(|place| analysis.files[place.file].uri.is_some());
    place.unwrap_or(Place { file: 0, start: 0, end: 0 })
}

fn convert(
    analysis: &Analysis,
    diagnostic: &Diagnostic,
    place: Place,
    encoding: Encoding,
) -> lsp_types::Diagnostic {
    let mut message = diagnostic.message.clone();
    if !diagnostic.label.is_empty() {
        message += &format!(": {}", diagnostic.label);
    }
    for note in &diagnostic.notes {
        message += &format!("\nnote: {note}");
    }
    for help in &diagnostic.help {
        message += &format!("\nhelp: {help}");
    }
    let mut related = Vec::new();
    let mut relate = |span: Span, message: String| {
        if let Some(location) = analysis.location(analysis.written(span), encoding) {
            related.push(DiagnosticRelatedInformation { location, message });
        }
    };
    for (span, text) in &diagnostic.related {
        relate(*span, text.clone());
    }
    let source = &analysis.loaded.source;
    if let Some(mut span) = diagnostic.span {
        if analysis.written(span) != place {
            relate(span, "in the text of the macro".to_owned());
        }
        for _ in 0..MAX_LEVELS {
            let Some(expansion) = source.expansion(span.expansion) else { break };
            span = expansion.call;
            relate(span, format!("in this use of `{}`", expansion.name));
        }
    }
    lsp_types::Diagnostic {
        range: analysis.range(place, encoding),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
        }),
        code: Some(diagnostic.code.name().into()),
        source: Some("spinward".to_owned()),
        message: message.into(),
        related_information: Some(related).filter(|related| !related.is_empty()),
        ..lsp_types::Diagnostic::default()
    }
}

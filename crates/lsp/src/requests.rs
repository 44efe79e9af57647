//! What is asked about texts, one function for each question.

use std::collections::HashMap;
use std::rc::Rc;

use lsp_server::ErrorCode;
use lsp_types::{
    CodeLens, CodeLensParams, CompletionParams, CompletionResponse, Definition, DefinitionParams,
    DefinitionResponse, DocumentFormattingParams, DocumentHighlight, DocumentHighlightParams,
    DocumentRangeFormattingParams, DocumentSymbolParams, DocumentSymbolResponse, Hover,
    HoverParams, Location, MarkupContent, MarkupKind, PrepareRenameParams,
    PrepareRenamePlaceholder, PrepareRenameResult, Range, ReferenceParams, RenameParams,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use rustc_hash::FxHashMap;

use crate::analysis::{Analysis, Place};
use crate::documents::Document;
use crate::keywords;
use crate::settings::Settings;
use crate::text::Encoding;
use crate::uri::path_of;
use crate::workspace::Workspace;
use crate::{completion, describe, formatting, outline, rename};

/// Why there is no answer.
#[derive(Debug)]
pub struct Refusal {
    /// For the client.
    pub code: ErrorCode,
    /// For its user.
    pub message: String,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self { code: ErrorCode::RequestFailed, message }
    }
}

/// An answer, if there is one.
pub type Answer<T> = Result<Option<T>, Refusal>;

/// What questions are about.
#[derive(Debug, Default)]
pub struct State {
    /// The texts and their models.
    pub workspace: Workspace,
    /// What the user set.
    pub settings: Settings,
    /// How characters are counted.
    pub encoding: Encoding,
}

/// A place in a model.
struct Spot {
    analysis: Rc<Analysis>,
    file: usize,
    offset: usize,
}

impl State {
    fn document(&self, uri: &Uri) -> Result<&Document, Refusal> {
        let found = self.workspace.documents.get(&path_of(uri));
        found.ok_or_else(|| format!("{uri} is not open").into())
    }

    fn model(&mut self, uri: &Uri) -> Result<(Rc<Analysis>, usize), Refusal> {
        self.document(uri)?;
        let found = self.workspace.model_of(&path_of(uri));
        found.ok_or_else(|| format!("{uri} belongs to no model").into())
    }

    fn spot(&mut self, at: &TextDocumentPositionParams) -> Result<Spot, Refusal> {
        let uri = &at.text_document.uri;
        let document = self.document(uri)?;
        let offset = document.lines.offset(&document.text, at.position, self.encoding);
        let (analysis, file) = self.model(uri)?;
        Ok(Spot { analysis, file, offset })
    }

    fn locations(&self, analysis: &Analysis, places: &[Place]) -> Vec<Location> {
        places.iter().filter_map(|&place| analysis.location(place, self.encoding)).collect()
    }

    /// What something is.
    pub fn hover(&mut self, params: HoverParams) -> Answer<Hover> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        let (place, value) = match analysis.names.at(file, offset) {
            Some((place, things)) => {
                let mut texts: Vec<String> = things
                    .iter()
                    .map(|&id| describe::thing(&analysis, analysis.names.thing(id)))
                    .collect();
                texts.dedup();
                (place, texts.join("\n\n---\n\n"))
            }
            None => {
                let words = &analysis.names.words[file];
                let mut around = words
                    .iter()
                    .filter(|word| (word.range.start..=word.range.end).contains(&offset));
                let found = around.find_map(|word| {
                    let place = Place { file, start: word.range.start, end: word.range.end };
                    let text = analysis.at(place);
                    let meaning = keywords::meaning(text).filter(|_| !word.directive)?;
                    Some((place, format!("`{text}`: {meaning}")))
                });
                let Some(found) = found else { return Ok(None) };
                found
            }
        };
        let contents = MarkupContent { kind: MarkupKind::Markdown, value };
        let range = Some(analysis.range(place, self.encoding));
        Ok(Some(Hover { contents: contents.into(), range }))
    }

    /// Where something is declared.
    pub fn definition(&mut self, params: DefinitionParams) -> Answer<DefinitionResponse> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        let Some((_, things)) = analysis.names.at(file, offset) else { return Ok(None) };
        let declared = things.iter().flat_map(|&id| &analysis.names.thing(id).declared);
        let mut places: Vec<Place> = declared.copied().collect();
        places.dedup();
        let locations = self.locations(&analysis, &places);
        Ok(Some(DefinitionResponse::Definition(Definition::LocationList(locations))))
    }

    /// Where something is named.
    pub fn references(&mut self, params: ReferenceParams) -> Answer<Vec<Location>> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        let Some((_, things)) = analysis.names.at(file, offset) else { return Ok(None) };
        let mut places = analysis.names.places_of(&things);
        if !params.context.include_declaration {
            let declared: Vec<Place> =
                things.iter().flat_map(|&id| &analysis.names.thing(id).declared).copied().collect();
            places.retain(|place| !declared.contains(place));
        }
        Ok(Some(self.locations(&analysis, &places)))
    }

    /// Where something is named in the same text.
    pub fn highlight(&mut self, params: DocumentHighlightParams) -> Answer<Vec<DocumentHighlight>> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        let Some((_, things)) = analysis.names.at(file, offset) else { return Ok(None) };
        let places = analysis.names.places_of(&things);
        let here = places.iter().filter(|place| place.file == file);
        let marks = here.map(|&place| DocumentHighlight {
            range: analysis.range(place, self.encoding),
            kind: None,
        });
        Ok(Some(marks.collect()))
    }

    /// Whether something can be renamed.
    pub fn prepare_rename(&mut self, params: PrepareRenameParams) -> Answer<PrepareRenameResult> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        let (place, _) = rename::renamed(&analysis, file, offset)?;
        let range = analysis.range(place, self.encoding);
        let placeholder = analysis.at(place).to_owned();
        Ok(Some(PrepareRenamePlaceholder { range, placeholder }.into()))
    }

    /// Gives something another name.
    pub fn rename(&mut self, params: RenameParams) -> Answer<WorkspaceEdit> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        let name = &params.new_name;
        let places = rename::rename(&mut self.workspace, &analysis, (file, offset), name)?;
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for location in self.locations(&analysis, &places) {
            let edit = TextEdit { range: location.range, new_text: name.clone() };
            changes.entry(location.uri).or_default().push(edit);
        }
        Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
    }

    /// What can be written at a place.
    pub fn completion(&mut self, params: CompletionParams) -> Answer<CompletionResponse> {
        let Spot { analysis, file, offset } = self.spot(&params.text_document_position_params)?;
        Ok(Some(completion::complete(&analysis, file, offset).into()))
    }

    /// What is in a text.
    pub fn symbols(&mut self, params: DocumentSymbolParams) -> Answer<DocumentSymbolResponse> {
        let (analysis, file) = self.model(&params.text_document.uri)?;
        Ok(Some(outline::outline(&analysis, file, self.encoding).into()))
    }

    /// Where checks can be started.
    pub fn lenses(&mut self, params: CodeLensParams) -> Answer<Vec<CodeLens>> {
        let (analysis, file) = self.model(&params.text_document.uri)?;
        Ok(Some(outline::lenses(&analysis, file, self.encoding)))
    }

    /// The white space of a text in order.
    pub fn format(&mut self, params: DocumentFormattingParams) -> Answer<Vec<TextEdit>> {
        let document = self.document(&params.text_document.uri)?;
        let options = &self.workspace.reading(FxHashMap::default());
        Ok(Some(formatting::format(document, &params.options, options, self.encoding)?))
    }

    /// The white space of some lines in order.
    pub fn format_range(&mut self, params: DocumentRangeFormattingParams) -> Answer<Vec<TextEdit>> {
        let document = self.document(&params.text_document.uri)?;
        let options = &self.workspace.reading(FxHashMap::default());
        let mut edits = formatting::format(document, &params.options, options, self.encoding)?;
        let Range { start, end } = params.range;
        // A range that ends where a line begins has nothing of that line.
        let past =
            if end.character == 0 && end.line > start.line { end.line } else { end.line + 1 };
        let lines = start.line..past;
        edits.retain(|edit| lines.contains(&edit.range.start.line));
        Ok(Some(edits))
    }
}

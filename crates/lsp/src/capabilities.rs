//! What the server can do.

use std::path::PathBuf;

use lsp_types::{
    CodeLensOptions, CompletionOptions, DidChangeWatchedFilesNotification,
    DidChangeWatchedFilesRegistrationOptions, ExecuteCommandOptions, FileSystemWatcher,
    GlobPattern, InitializeParams, InitializeResult, Notification as _, PositionEncodingKind,
    Registration, RegistrationParams, RegistrationRequest, RenameOptions, Request as _,
    ServerCapabilities, ServerInfo, TextDocumentSyncKind, TextDocumentSyncOptions,
    WorkspaceFolders,
};
use serde_json::json;

use crate::check::COMMAND;
use crate::text::Encoding;
use crate::uri::path_of;
use crate::workspace::EXTENSIONS;

/// How to count characters: in bytes if the client can.
pub fn encoding(params: &InitializeParams) -> Encoding {
    let offered = params.capabilities.general.as_ref();
    let offered = offered.and_then(|general| general.position_encodings.as_ref());
    match offered {
        Some(offered) if offered.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        _ => Encoding::Utf16,
    }
}

/// The folder that the client works in; where it says none, that of the server.
#[expect(deprecated, reason = "some clients say no more than that")]
pub fn workspace(params: &InitializeParams) -> PathBuf {
    let folders = &params.workspace_folders_initialize_params.workspace_folders;
    let first = match folders {
        Some(WorkspaceFolders::WorkspaceFolderList(all)) => all.first().map(|folder| &folder.uri),
        _ => None,
    };
    let folder = first.or(params.root_uri.as_ref()).map(path_of);
    folder.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// Whether the client can be asked to tell of changes on disk.
pub fn can_watch(params: &InitializeParams) -> bool {
    let workspace = params.capabilities.workspace.as_ref();
    let watching = workspace.and_then(|it| it.did_change_watched_files.as_ref());
    watching.and_then(|it| it.dynamic_registration).unwrap_or(false)
}

/// Asks the client to tell of changes on disk.
pub fn watch() -> lsp_server::Request {
    let endings = EXTENSIONS.join(",");
    let pattern = GlobPattern::from(format!("**/*.{{{endings},h}}"));
    let watchers = vec![FileSystemWatcher::new(pattern, None)];
    let options = DidChangeWatchedFilesRegistrationOptions::new(watchers);
    let method = DidChangeWatchedFilesNotification::METHOD.as_str().to_owned();
    let registration = Registration::new("files".to_owned(), method, Some(json!(options)));
    let method = RegistrationRequest::METHOD.as_str().to_owned();
    let params = RegistrationParams::new(vec![registration]);
    lsp_server::Request::new("files".to_owned().into(), method, params)
}

/// The answer to `initialize`.
pub fn initialized(encoding: Encoding) -> InitializeResult {
    let capabilities = ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::Incremental),
                save: Some(true.into()),
                ..TextDocumentSyncOptions::default()
            }
            .into(),
        ),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned(), "@".to_owned(), "#".to_owned()]),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        code_lens_provider: Some(CodeLensOptions::default()),
        document_formatting_provider: Some(true.into()),
        document_range_formatting_provider: Some(true.into()),
        rename_provider: Some(
            RenameOptions { prepare_provider: Some(true), ..RenameOptions::default() }.into(),
        ),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![COMMAND.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    let server_info = ServerInfo {
        name: "spinward".to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
    };
    InitializeResult { capabilities, server_info: Some(server_info) }
}

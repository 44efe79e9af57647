//! The conversation with a client.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;

use lsp_server::{Connection, ErrorCode, Message, RequestId, Response};
use lsp_types::*;
use serde_json::Value;
use spinward_promela::preprocess::read_file;

use crate::capabilities;
use crate::check::{self, Checks};
use crate::diagnostics::{self, ByFile};
use crate::documents::Document;
use crate::requests::{Answer, Refusal, State};
use crate::settings::Settings;
use crate::uri::path_of;

/// Sends a message; one that does not arrive is nobody's loss.
type Sink = Arc<dyn Fn(Message) + Send + Sync>;

/// How far the conversation is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Before `initialize`.
    Silent,
    /// Questions are answered.
    Talking,
    /// After `shutdown`.
    Closing,
}

/// Speaks with a client until it says goodbye. False if it left without a word.
pub fn serve(connection: Connection) -> bool {
    let Connection { sender, receiver } = connection;
    let send: Sink = Arc::new(move |message| drop(sender.send(message)));
    // What comes in while an answer is made is looked at before the next: there may be a cancellation.
    let (forward, inbox) = mpsc::channel();
    std::thread::spawn(move || receiver.into_iter().try_for_each(|message| forward.send(message)));
    Server {
        send,
        inbox,
        waiting: VecDeque::new(),
        phase: Phase::Silent,
        folder: PathBuf::new(),
        can_watch: false,
        state: State::default(),
        checks: Checks::default(),
        sent: ByFile::new(),
        stale: false,
    }
    .run()
}

struct Server {
    send: Sink,
    inbox: mpsc::Receiver<Message>,
    /// Messages that came in and were not looked at.
    waiting: VecDeque<Message>,
    phase: Phase,
    /// Where the client works.
    folder: PathBuf,
    /// Whether the client can tell of changes on disk.
    can_watch: bool,
    state: State,
    checks: Checks,
    /// What the client was told to be wrong.
    sent: ByFile,
    /// Texts changed since then.
    stale: bool,
}

impl Server {
    fn run(&mut self) -> bool {
        loop {
            self.waiting.extend(self.inbox.try_iter());
            let message = match self.waiting.pop_front() {
                Some(message) => message,
                None => {
                    if std::mem::take(&mut self.stale) {
                        self.guarded(|server| server.publish());
                        continue;
                    }
                    match self.inbox.recv() {
                        Ok(message) => message,
                        Err(mpsc::RecvError) => return false,
                    }
                }
            };
            match message {
                Message::Request(request) => self.request(request),
                Message::Notification(note) if note.method == "exit" => {
                    return self.phase == Phase::Closing;
                }
                Message::Notification(note) if self.phase == Phase::Talking => {
                    self.guarded(|server| server.notification(&note.method, note.params));
                }
                // Before and after that nothing else means anything, and what we ask for needs no answer.
                Message::Notification(_) | Message::Response(_) => {}
            }
        }
    }

    /// A mistake of ours ends one answer, not the session. What was found so far may be half of it, so
    /// it is forgotten.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        if done.is_err() {
            self.state.workspace.forget_all();
        }
        done.ok()
    }

    fn notify<N: Notification>(&self, params: N::Params) {
        let method = N::METHOD.as_str().to_owned();
        (self.send)(lsp_server::Notification::new(method, params).into());
    }

    // Questions.

    fn request(&mut self, request: lsp_server::Request) {
        let id = request.id;
        if self.is_cancelled(&id) {
            let code = ErrorCode::RequestCanceled as i32;
            (self.send)(Response::new_err(id, code, "cancelled".to_owned()).into());
            return;
        }
        let answer = self.guarded(|server| server.answer(&request.method, request.params));
        let answer = answer.unwrap_or_else(|| {
            let message = "this is a bug in spinward; please report it, with the model".to_owned();
            Err(Refusal { code: ErrorCode::InternalError, message })
        });
        let response = match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(refusal) => Response::new_err(id, refusal.code as i32, refusal.message),
        };
        (self.send)(response.into());
    }

    /// Whether the client does not want the answer any more.
    fn is_cancelled(&self, id: &RequestId) -> bool {
        self.waiting.iter().any(|message| match message {
            Message::Notification(note) if note.method == "$/cancelRequest" => {
                let cancelled = note.params.get("id").cloned();
                cancelled.and_then(|it| serde_json::from_value(it).ok()).as_ref() == Some(id)
            }
            _ => false,
        })
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        let refuse = |code, message: &str| Err(Refusal { code, message: message.to_owned() });
        match (self.phase, method) {
            (Phase::Silent, "initialize") => return self.initialize(params),
            (Phase::Silent, _) => {
                return refuse(ErrorCode::ServerNotInitialized, "`initialize` comes first");
            }
            (Phase::Closing, _) => {
                return refuse(ErrorCode::InvalidRequest, "the server is shutting down");
            }
            (Phase::Talking, "initialize") => {
                return refuse(ErrorCode::InvalidRequest, "the server is initialized already");
            }
            (Phase::Talking, "shutdown") => {
                self.phase = Phase::Closing;
                return Ok(Value::Null);
            }
            (Phase::Talking, _) => {}
        }
        let state = &mut self.state;
        match LspRequestMethod::from(method) {
            HoverRequest::METHOD => ask::<HoverRequest, _>(params, |it| state.hover(it)),
            DefinitionRequest::METHOD => {
                ask::<DefinitionRequest, _>(params, |it| state.definition(it))
            }
            ReferencesRequest::METHOD => {
                ask::<ReferencesRequest, _>(params, |it| state.references(it))
            }
            DocumentHighlightRequest::METHOD => {
                ask::<DocumentHighlightRequest, _>(params, |it| state.highlight(it))
            }
            PrepareRenameRequest::METHOD => {
                ask::<PrepareRenameRequest, _>(params, |it| state.prepare_rename(it))
            }
            RenameRequest::METHOD => ask::<RenameRequest, _>(params, |it| state.rename(it)),
            CompletionRequest::METHOD => {
                ask::<CompletionRequest, _>(params, |it| state.completion(it))
            }
            DocumentSymbolRequest::METHOD => {
                ask::<DocumentSymbolRequest, _>(params, |it| state.symbols(it))
            }
            CodeLensRequest::METHOD => ask::<CodeLensRequest, _>(params, |it| state.lenses(it)),
            DocumentFormattingRequest::METHOD => {
                ask::<DocumentFormattingRequest, _>(params, |it| state.format(it))
            }
            DocumentRangeFormattingRequest::METHOD => {
                ask::<DocumentRangeFormattingRequest, _>(params, |it| state.format_range(it))
            }
            ExecuteCommandRequest::METHOD => {
                ask::<ExecuteCommandRequest, _>(params, |it| self.execute(it))
            }
            _ => refuse(ErrorCode::MethodNotFound, &format!("`{method}` is not supported")),
        }
    }

    fn initialize(&mut self, params: Value) -> Result<Value, Refusal> {
        let params: InitializeParams = read(params)?;
        self.state.encoding = capabilities::encoding(&params);
        self.folder = capabilities::workspace(&params);
        self.can_watch = capabilities::can_watch(&params);
        self.phase = Phase::Talking;
        self.set(params.initialization_options);
        write(capabilities::initialized(self.state.encoding))
    }

    fn set(&mut self, sent: Option<Value>) {
        match Settings::read(sent) {
            Ok(None) => {}
            Ok(Some(settings)) => {
                let settings = settings.within(&self.folder);
                self.state.workspace.options = settings.options();
                self.state.settings = settings;
                self.state.workspace.forget_all();
                self.stale = true;
            }
            Err(message) => self.notify::<ShowMessageNotification>(ShowMessageParams {
                kind: MessageType::Warning,
                message,
            }),
        }
    }

    /// Starts a check.
    fn execute(&mut self, params: ExecuteCommandParams) -> Answer<Value> {
        if params.command != check::COMMAND {
            return Err(format!("there is no command `{}`", params.command).into());
        }
        let argument = params.arguments.unwrap_or_default().into_iter().next();
        let request: check::Request = read(argument.unwrap_or_default())?;
        let model = path_of(&request.model);
        if let Some(why) = self.unsaved(&model) {
            return Err(why.into());
        }
        let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
        let mut options = self.state.settings.check_options();
        options.extend(request.ltl.map(|name| format!("--ltl={name}")));
        let send = Arc::clone(&self.send);
        self.checks.start(&program, &model, &options, move |outcome| {
            let check::Outcome { kind, summary, output } = outcome;
            let say = |method: LspNotificationMethod<'_>, params| {
                let method = method.as_str().to_owned();
                send(lsp_server::Notification::new(method, params).into());
            };
            let all = LogMessageParams { kind: MessageType::Log, message: output };
            say(LogMessageNotification::METHOD, serde_json::json!(all));
            let line = ShowMessageParams { kind, message: summary };
            say(ShowMessageNotification::METHOD, serde_json::json!(line));
        })?;
        Ok(None)
    }

    /// Why a model cannot be checked: what is on disk is not what is here.
    fn unsaved(&mut self, model: &Path) -> Option<String> {
        let workspace = &mut self.state.workspace;
        let parts: Vec<_> = match workspace.model_of(model) {
            Some((analysis, _)) => analysis.files.iter().map(|file| file.path.clone()).collect(),
            None => vec![model.to_owned()],
        };
        parts.iter().find_map(|path| {
            let document = workspace.documents.get(path)?;
            let save = || format!("save {} first: what is on disk is checked", path.display());
            match read_file(path) {
                Ok(on_disk) => (!is_saved(&on_disk, &document.text)).then(save),
                Err(_) if !path.exists() => Some(save()),
                Err(problem) => Some(problem.message),
            }
        })
    }

    // News.

    fn notification(&mut self, method: &str, params: Value) {
        let workspace = &mut self.state.workspace;
        match LspNotificationMethod::from(method) {
            DidOpenTextDocumentNotification::METHOD => {
                let Ok(DidOpenTextDocumentParams { text_document: opened }) = read(params) else {
                    return;
                };
                workspace.open(Document::new(opened.uri, opened.version, opened.text));
            }
            DidChangeTextDocumentNotification::METHOD => {
                let Ok(DidChangeTextDocumentParams { text_document, content_changes }) =
                    read(params)
                else {
                    return;
                };
                let path = path_of(&text_document.text_document_identifier.uri);
                if let Some(document) = workspace.documents.get_mut(&path) {
                    document.change(content_changes, text_document.version, self.state.encoding);
                    workspace.forget(&path);
                }
            }
            DidCloseTextDocumentNotification::METHOD => {
                let Ok(DidCloseTextDocumentParams { text_document }) = read(params) else {
                    return;
                };
                workspace.close(&path_of(&text_document.uri));
            }
            DidSaveTextDocumentNotification::METHOD | DidChangeWatchedFilesNotification::METHOD => {
                workspace.forget_all()
            }
            InitializedNotification::METHOD => {
                if self.can_watch {
                    (self.send)(capabilities::watch().into());
                }
                return;
            }
            DidChangeConfigurationNotification::METHOD => {
                // Clients that expect to be asked for their settings send none.
                let ours = params.get("settings").and_then(|it| it.get("spinward")).cloned();
                self.set(ours);
                return;
            }
            _ => return,
        }
        self.stale = true;
    }

    /// Tells what is wrong, as far as that is news.
    fn publish(&mut self) {
        let mut found = ByFile::new();
        for model in self.state.workspace.open_models() {
            diagnostics::add(&mut found, &model, self.state.encoding);
        }
        found.retain(|uri, told| !told.is_empty() || self.is_open(&Uri::from(uri.as_str())));
        let gone =
            self.sent.iter().filter(|(uri, told)| !told.is_empty() && !found.contains_key(*uri));
        let gone: ByFile = gone.map(|(uri, _)| (uri.clone(), Vec::new())).collect();
        for (uri, diagnostics) in found.iter().chain(&gone) {
            if self.sent.get(uri) != Some(diagnostics) {
                let uri = Uri::from(uri.as_str());
                let document = self.state.workspace.documents.get(&path_of(&uri));
                let version = document.map(|document| document.version);
                let diagnostics = diagnostics.clone();
                let params = PublishDiagnosticsParams { uri, version, diagnostics };
                self.notify::<PublishDiagnosticsNotification>(params);
            }
        }
        self.sent = found;
    }

    fn is_open(&self, uri: &Uri) -> bool {
        self.state.workspace.documents.contains_key(&path_of(uri))
    }
}

/// Whether a text is on disk as it is here. Some editors keep the ends of lines to themselves.
fn is_saved(on_disk: &str, open: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n");
    plain(on_disk.trim_start_matches('\u{feff}')) == plain(open)
}

/// Puts a question and gives its answer as the protocol wants it.
fn ask<R, T>(params: Value, answer: impl FnOnce(R::Params) -> Answer<T>) -> Result<Value, Refusal>
where
    R: Request<Result = Option<T>>,
    T: serde::Serialize,
{
    write(answer(read(params)?)?)
}

fn read<T: serde::de::DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|problem| Refusal {
        code: ErrorCode::InvalidParams,
        message: format!("cannot read the parameters: {problem}"),
    })
}

fn write<T: serde::Serialize>(answer: T) -> Result<Value, Refusal> {
    serde_json::to_value(answer)
        .map_err(|problem| Refusal { code: ErrorCode::InternalError, message: problem.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_are_no_changes() {
        assert!(is_saved("byte x;\r\nbyte y;\r\n", "byte x;\nbyte y;\n"));
        assert!(is_saved("\u{feff}byte x;\n", "byte x;\r\n"));
        assert!(!is_saved("byte x;\n", "byte x;\n\n"));
    }
}

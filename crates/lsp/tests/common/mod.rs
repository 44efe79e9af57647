//! A client that talks with the server in the same process.

use std::thread::JoinHandle;

use lsp_server::{Connection, Message, Notification, Request, RequestId, ResponseError};
use serde_json::{Value, json};

/// Texts nest deeply in some tests; the command has room for that too.
const STACK_BYTES: usize = 256 << 20;

pub struct Client {
    pub connection: Option<Connection>,
    server: Option<JoinHandle<bool>>,
    next: i32,
    /// What came that was no answer.
    pub news: Vec<Notification>,
}

#[allow(dead_code)] // Each test uses a part.
impl Client {
    /// A client that was answered to `initialize`.
    pub fn new(initialize: Value) -> Self {
        let mut client = Self::silent();
        client.ask("initialize", initialize).expect("an answer");
        client.tell("initialized", json!({}));
        client
    }

    /// A client that said nothing yet.
    pub fn silent() -> Self {
        let (ours, theirs) = Connection::memory();
        let server = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || spinward_lsp::serve(theirs))
            .expect("a thread");
        Self { connection: Some(ours), server: Some(server), next: 0, news: Vec::new() }
    }

    pub fn send(&self, message: Message) {
        let connection = self.connection.as_ref().expect("a connection");
        connection.sender.send(message).expect("the server listens");
    }

    pub fn tell(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    pub fn begin(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        id
    }

    /// The next message; none when the server has gone.
    pub fn next(&mut self) -> Option<Message> {
        self.connection.as_ref()?.receiver.recv().ok()
    }

    pub fn answer_to(&mut self, id: &RequestId) -> Result<Value, ResponseError> {
        loop {
            match self.next().expect("the server is there") {
                Message::Response(response) if response.id == *id => {
                    return response.response_result;
                }
                Message::Notification(news) => self.news.push(news),
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.begin(method, params);
        self.answer_to(&id)
    }

    /// Opens a text.
    pub fn open(&self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "promela", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// The messages of the diagnostics of a text that come next.
    pub fn diagnostics(&mut self, uri: &str) -> Vec<String> {
        let known = self.news.iter().position(|news| is_about(news, uri));
        let news = match known {
            Some(index) => self.news.remove(index),
            None => loop {
                match self.next().expect("the server is there") {
                    Message::Notification(news) if is_about(&news, uri) => break news,
                    Message::Notification(other) => self.news.push(other),
                    other => panic!("unexpected: {other:?}"),
                }
            },
        };
        let found = news.params["diagnostics"].as_array().expect("a list").iter();
        found.map(|it| it["message"].as_str().expect("text").to_owned()).collect()
    }

    /// Says goodbye; whether the server found that clean.
    pub fn close(mut self) -> bool {
        self.ask("shutdown", Value::Null).expect("an answer");
        self.tell("exit", Value::Null);
        self.server.take().expect("a server").join().expect("it did not panic")
    }

    /// Leaves without a word.
    pub fn leave(mut self) -> bool {
        self.connection = None;
        self.server.take().expect("a server").join().expect("it did not panic")
    }

    /// Waits for the server to end.
    pub fn join(mut self) -> bool {
        self.server.take().expect("a server").join().expect("it did not panic")
    }
}

fn is_about(news: &Notification, uri: &str) -> bool {
    news.method == "textDocument/publishDiagnostics" && news.params["uri"] == uri
}

/// A question about a place of a text: `{ textDocument, position }`.
#[allow(dead_code)]
pub fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({
        "textDocument": { "uri": uri },
        "position": { "line": line, "character": character },
    })
}

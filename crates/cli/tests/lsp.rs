//! The language server as editors start it: the command, on pipes.

use std::io::{BufReader, Read as _, Write as _};

use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId, ResponseError};
use serde_json::{Value, json};

struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: i32,
    news: Vec<Notification>,
}

impl Editor {
    fn new() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_spinward"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        Self { server, input, output, asked: 0, news: Vec::new() }
    }

    fn send(&mut self, message: Message) {
        message.write(self.input.as_mut().expect("a pipe")).expect("the server listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    fn next(&mut self) -> Message {
        Message::read(&mut self.output).expect("a message").expect("the server is there")
    }

    fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        loop {
            match self.next() {
                Message::Response(response) if response.id == id => {
                    return response.response_result;
                }
                Message::Notification(news) => self.news.push(news),
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).expect("an answer")
    }

    /// The next news of a kind.
    fn hear(&mut self, method: &str) -> Value {
        if let Some(index) = self.news.iter().position(|news| news.method == method) {
            return self.news.remove(index).params;
        }
        loop {
            match self.next() {
                Message::Notification(news) if news.method == method => return news.params,
                Message::Notification(news) => self.news.push(news),
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    /// Ends the input; the exit code, and what was said after the last message that was read.
    fn leave(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        (self.server.wait().expect("it ends").code().expect("a code"), rest)
    }
}

const MODEL: &str = "\
byte x;
active proctype P() {
do
:: x < 3 -> x++
:: else -> break
od
}
ltl small { [] (x < 3) }
";

#[test]
fn an_editing_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path").join("a model.pml");
    std::fs::write(&path, MODEL).expect("a file");
    let uri = format!("file://{}", path.display().to_string().replace(' ', "%20"));
    let document = json!({ "textDocument": { "uri": uri } });
    let at = |line: u32, character: u32, more: Value| {
        let mut params = document.clone();
        params["position"] = json!({ "line": line, "character": character });
        params.as_object_mut().expect("it").extend(more.as_object().expect("it").clone());
        params
    };

    let mut editor = Editor::new();
    let able = editor.ask("initialize", json!({ "processId": null, "capabilities": {} }));
    assert_eq!(able["serverInfo"]["name"], "spinward");
    assert_eq!(able["capabilities"]["textDocumentSync"]["change"], 2, "edits, not whole texts");
    editor.tell("initialized", json!({}));
    let opened = json!({ "uri": uri, "languageId": "promela", "version": 1, "text": MODEL });
    editor.tell("textDocument/didOpen", json!({ "textDocument": opened }));
    assert_eq!(editor.hear("textDocument/publishDiagnostics")["diagnostics"], json!([]));

    // `x++` becomes `y++`, and back.
    let range = json!({
        "start": { "line": 3, "character": 12 }, "end": { "line": 3, "character": 13 }
    });
    for (version, text, codes) in [(2, "y", &["E0301"][..]), (3, "x", &[])] {
        let change = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "range": range, "text": text }],
        });
        editor.tell("textDocument/didChange", change);
        let told = editor.hear("textDocument/publishDiagnostics");
        let told_codes = told["diagnostics"].as_array().expect("a list").iter();
        assert_eq!(told_codes.map(|it| &it["code"]).collect::<Vec<_>>(), codes);
        assert_eq!(told["version"], version);
    }

    let hover = editor.ask("textDocument/hover", at(3, 12, json!({})));
    assert!(hover["contents"]["value"].as_str().expect("text").contains("byte x"));
    let found = editor.ask("textDocument/definition", at(3, 12, json!({})));
    assert_eq!(found[0]["range"]["start"], json!({ "line": 0, "character": 5 }));
    let context = json!({ "context": { "includeDeclaration": true } });
    let found = editor.ask("textDocument/references", at(0, 5, context));
    assert_eq!(found.as_array().expect("a list").len(), 4);
    let renamed = editor.ask("textDocument/rename", at(0, 5, json!({ "newName": "count" })));
    assert_eq!(renamed["changes"][&uri].as_array().expect("a list").len(), 4);
    assert!(editor.try_ask("textDocument/rename", at(0, 5, json!({ "newName": "P" }))).is_err());
    let offered = editor.ask("textDocument/completion", at(3, 13, json!({})));
    assert!(offered.as_array().expect("a list").iter().any(|item| item["label"] == "x"));
    let outline = editor.ask("textDocument/documentSymbol", document.clone());
    let names: Vec<&Value> =
        outline.as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["x", "P", "small"]);
    let mut format = document.clone();
    format["options"] = json!({ "tabSize": 4, "insertSpaces": true });
    let edits = editor.ask("textDocument/formatting", format);
    assert_eq!(edits.as_array().expect("a list").len(), 4, "four lines are to be indented");

    // A check from a lens: of what is on disk, and only of that.
    let lenses = editor.ask("textDocument/codeLens", document.clone());
    assert_eq!(lenses[1]["command"]["title"], "check small");
    let command = &lenses[1]["command"];
    let command = json!({ "command": command["command"], "arguments": command["arguments"] });
    editor.ask("workspace/executeCommand", command.clone());
    let told = editor.hear("window/showMessage");
    assert!(told["message"].as_str().expect("text").starts_with("violated"), "{told}");
    assert_eq!(told["type"], 2);
    let output = editor.hear("window/logMessage");
    assert!(output["message"].as_str().expect("text").contains("x: 2 -> 3"), "{output}");
    std::fs::write(&path, "byte x;").expect("a file");
    let refused = editor.try_ask("workspace/executeCommand", command).expect_err("not saved");
    assert!(refused.message.contains("save"), "{}", refused.message);

    editor.tell("textDocument/didClose", document);
    assert_eq!(editor.ask("shutdown", Value::Null), Value::Null);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.leave(), (0, String::new()));
}

#[test]
fn the_exit_code_tells_whether_the_editor_took_its_leave() {
    let mut editor = Editor::new();
    editor.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(editor.leave().0, 1, "the input ended");
    let mut editor = Editor::new();
    editor.tell("exit", Value::Null);
    assert_eq!(editor.leave().0, 1, "no shutdown before");
    // Goodbye in one breath.
    let mut editor = Editor::new();
    editor.ask("initialize", json!({ "capabilities": {} }));
    let request = Request { id: 9.into(), method: "shutdown".to_owned(), params: Value::Null };
    editor.send(request.into());
    editor.tell("exit", Value::Null);
    let (code, rest) = editor.leave();
    assert_eq!(code, 0);
    assert!(rest.contains("\"id\":9"), "{rest}");
}

#[test]
fn what_is_no_message_ends_the_session_with_a_word() {
    for noise in ["what?\r\n\r\n", "Content-Length: 3\r\n\r\n{{{", "Content-Length: x\r\n\r\n"] {
        let mut editor = Editor::new();
        let input = editor.input.as_mut().expect("a pipe");
        input.write_all(noise.as_bytes()).expect("the server listens");
        assert_eq!(editor.leave().0, 2, "{noise}");
    }
}

#[test]
fn huge_and_deep_texts_are_answered() {
    let many: String = (0..20_000).map(|n| format!("byte x{n};\n")).collect();
    let texts = [
        many,
        "(".repeat(300_000),
        "{".repeat(300_000),
        "/*".repeat(300_000),
        "\"".repeat(300_000),
    ];
    let mut editor = Editor::new();
    editor.ask("initialize", json!({ "capabilities": {} }));
    for (number, text) in texts.iter().enumerate() {
        let uri = format!("untitled:{number}");
        let opened = json!({ "uri": uri, "languageId": "promela", "version": 1, "text": text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": opened }));
        let document = json!({ "textDocument": { "uri": uri } });
        editor.ask("textDocument/documentSymbol", document.clone());
        let mut format = document.clone();
        format["options"] = json!({ "tabSize": 4, "insertSpaces": true });
        editor.ask("textDocument/formatting", format);
        editor.tell("textDocument/didClose", document);
    }
    editor.ask("shutdown", Value::Null);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.leave().0, 0);
}

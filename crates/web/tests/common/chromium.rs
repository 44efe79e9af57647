//! A browser to try the page in: Chromium without a window, told what to do through a pair of pipes (the Chrome
//! DevTools Protocol, `--remote-debugging-pipe`: JSON, each message with a zero byte behind it).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than this nothing may take, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// The browser of this machine, if there is one.
pub fn installed() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

/// A browser under way.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    number: u64,
    /// What pages complained about.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A page of the browser.
#[derive(Clone)]
pub struct Page {
    session: String,
    target: Value,
}

impl Browser {
    /// Starts it with a window of this size, all new.
    pub fn start(program: &Path, width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // A pipe is what has the numbers 3 and 4, which a shell can say.
        let script = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = child.stdin.take().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let (send, answers) = channel();
        std::thread::spawn(move || {
            loop {
                let mut message = Vec::new();
                match reader.read_until(0, &mut message) {
                    Ok(1..) => {}
                    _ => break,
                }
                message.pop();
                let Ok(message) = serde_json::from_slice(&message) else { break };
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let complaints = Vec::new();
        Self { child, requests, answers, number: 0, complaints, _profile: profile }
    }

    fn call(&mut self, page: Option<&Page>, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(Page { session, .. }) = page {
            message["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = self.answers.recv_timeout(PATIENCE).expect("the browser answers");
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let what = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(what.to_string()),
            Some("Log.entryAdded") if what["entry"]["level"] == "error" => {
                self.complaints.push(what["entry"]["text"].to_string());
            }
            _ => {}
        }
    }

    /// Opens an address in a page of its own.
    pub fn open(&mut self, address: &str) -> Page {
        let target = self.call(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call(None, "Target.attachToTarget", attach);
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let page = Page { session, target: target["targetId"].clone() };
        for domain in ["Page", "Runtime", "Log", "Accessibility"] {
            self.call(Some(&page), &format!("{domain}.enable"), json!({}));
        }
        self.call(Some(&page), "Page.navigate", json!({ "url": address }));
        self.wait(&page, "location.href !== 'about:blank' && document.readyState === 'complete'");
        page
    }

    /// The value of an expression in the page.
    pub fn eval(&mut self, page: &Page, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call(Some(page), "Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub fn wait(&mut self, page: &Page, expression: &str) {
        let started = Instant::now();
        while self.eval(page, &format!("Boolean({expression})")) != true {
            if started.elapsed() > PATIENCE {
                let text = self.eval(page, "document.body.innerText");
                panic!("never: {expression}\n{text}\n{:?}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks in the middle of the element, as a mouse does.
    pub fn click(&mut self, page: &Page, selector: &str) {
        let quoted = json!(selector);
        self.wait(page, &format!("document.querySelector({quoted})"));
        let place = self.eval(page, &format!(
            "(() => {{ const it = document.querySelector({quoted}); it.scrollIntoView({{block: 'nearest'}}); \
             const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call(Some(page), "Input.dispatchMouseEvent", event);
        }
    }

    /// Writes text where the cursor is.
    pub fn write(&mut self, page: &Page, text: &str) {
        self.call(Some(page), "Input.insertText", json!({ "text": text }));
    }

    /// Presses a key, perhaps with Control.
    pub fn press(&mut self, page: &Page, key: &str, control: bool) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "Backspace" => 8,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => u32::from(key.to_ascii_uppercase().as_bytes()[0]),
        };
        let text = if key == "Enter" && !control { json!("\r") } else { Value::Null };
        // How Chromium knows the key that selects all.
        let commands = if key == "a" && control { json!(["selectAll"]) } else { json!([]) };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
                "modifiers": if control { 2 } else { 0 },
            });
            if kind == "keyDown" {
                event["commands"] = commands.clone();
                if !text.is_null() {
                    event["text"] = text.clone();
                }
            }
            self.call(Some(page), "Input.dispatchKeyEvent", event);
        }
    }

    /// Whether the user likes it dark.
    pub fn dark(&mut self, page: &Page, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.call(Some(page), "Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// What a screen reader is told: the role and the name of all that is not hidden from it.
    pub fn told_to_screen_readers(&mut self, page: &Page) -> Vec<(String, String)> {
        let tree = self.call(Some(page), "Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let shown = nodes.filter(|node| node["ignored"] == false);
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        shown.map(|node| (text(&node["role"]), text(&node["name"]))).collect()
    }

    /// A picture of the page, in base 64.
    pub fn picture(&mut self, page: &Page) -> String {
        let shot = self.call(Some(page), "Page.captureScreenshot", json!({ "format": "png" }));
        shot["data"].as_str().unwrap().to_owned()
    }

    /// Closes the page, whatever it says to that.
    pub fn close(&mut self, page: Page) {
        self.call(None, "Target.closeTarget", json!({ "targetId": page.target }));
    }
}

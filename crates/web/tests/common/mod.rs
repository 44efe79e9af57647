//! A workbench for tests, and requests to it that say exactly what they are told to.

#![allow(dead_code, reason = "each test uses a part")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use spinward_web::{Limits, Options, Workbench};

/// A model with more states than anybody can look at.
pub const ENDLESS: &str = "int a, b, c;
active [3] proctype P() {
    do
    :: a++
    :: b++
    :: c++
    :: assert(a < 1000000 || b < 1000000 || c < 1000000)
    od
}
";

/// A workbench under way.
pub struct Served {
    /// With the token.
    pub address: String,
    /// `127.0.0.1:PORT`
    pub host: String,
    pub token: String,
}

/// Limits that suit a test.
pub fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(120),
        memory: 1 << 30,
        checks: 2,
        patience: Duration::from_secs(20),
        request: 1 << 20,
    }
}

/// Starts a workbench, which ends with the test.
pub fn serve(model: Option<PathBuf>, limits: Limits) -> Served {
    let options = Options { model, limits, ..Options::default() };
    let workbench = Workbench::bind(options).unwrap();
    let address = workbench.address();
    std::thread::spawn(|| workbench.run().unwrap());
    let (rest, token) = address.split_once("/#token=").unwrap();
    let host = rest.strip_prefix("http://").unwrap().to_owned();
    Served { host, token: token.to_owned(), address }
}

/// An answer: status, headers and body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|problem| panic!("{problem}: {self:?}"))
    }
}

impl Served {
    /// Sends a request as it is, and waits for all of the answer.
    pub fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // The workbench may answer, and close, before it was told all.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (headers, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, headers: headers.to_lowercase(), body: body.to_owned() }
    }

    /// A request with these headers, and those it cannot do without.
    pub fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.raw(&request(line, headers, body))
    }

    /// What the page would send.
    fn own_headers(&self) -> [(&'static str, String); 3] {
        [
            ("Host", self.host.clone()),
            ("Origin", format!("http://{}", self.host)),
            ("Authorization", format!("Bearer {}", self.token)),
        ]
    }

    /// What the page would ask.
    pub fn ask(&self, path: &str, body: &Value) -> Answer {
        let headers = self.own_headers();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        self.send(&format!("POST /api/{path}"), &headers, &body.to_string())
    }

    /// Begins a check as the page would.
    pub fn check(&self, text: &str) -> Stream {
        let properties = json!([{ "kind": "safety" }]);
        let body = json!({ "source": { "text": text }, "properties": properties });
        self.listen(&body)
    }

    /// Begins a check that is asked for in these words.
    pub fn listen(&self, body: &Value) -> Stream {
        let headers = self.own_headers();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = request("POST /api/check", &headers, &body.to_string());
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        Stream { status: line.split(' ').nth(1).unwrap().parse().unwrap(), reader }
    }
}

fn request(line: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

/// Events as they come.
pub struct Stream {
    pub status: u16,
    reader: BufReader<TcpStream>,
}

impl Stream {
    /// The next event; none at the end.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
        }
    }

    /// What the next event of this name says.
    pub fn wait(&mut self, wanted: &str) -> Value {
        while let Some((name, data)) = self.next() {
            if name == wanted {
                return data;
            }
            assert_ne!(name, "problem", "{data}");
        }
        panic!("there was no event {wanted}");
    }
}

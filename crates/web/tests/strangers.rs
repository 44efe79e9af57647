//! Who is answered: the workbench's own page, and nobody else; and what a stranger's model can do: nothing but be
//! checked, within limits.

mod common;

use std::fs;
use std::time::Duration;

use common::{ENDLESS, Served, limits, serve};
use serde_json::{Value, json};
use spinward_web::Limits;

fn source(text: &str) -> Value {
    json!({ "text": text })
}

#[test]
fn only_the_page_itself_is_answered() {
    let served = serve(None, limits());
    let Served { host, token, .. } = &served;
    let own = format!("http://{host}");
    let (bearer, port) = (format!("Bearer {token}"), host.split_once(':').unwrap().1);
    let rebound = format!("evil.example:{port}");
    let cut = format!("Bearer {}", &token[1..]);
    let ask = |host: &str, origin: Option<&str>, bearer: Option<&str>| {
        let mut headers = vec![("Host", host)];
        headers.extend(origin.map(|it| ("Origin", it)));
        headers.extend(bearer.map(|it| ("Authorization", it)));
        served.send("POST /api/start", &headers, "{}").status
    };
    assert_eq!(ask(host, Some(&own), Some(&bearer)), 200);
    let local = format!("localhost:{port}");
    assert_eq!(ask(&local, Some(&format!("http://{local}")), Some(&bearer)), 200);

    for wrong in [None, Some("Bearer "), Some(&*cut), Some(token), Some("Bearer é")] {
        assert_eq!(ask(host, Some(&own), wrong), 401, "{wrong:?}");
    }
    let https = format!("https://{host}");
    let inside = format!("http://{host}.evil.example");
    for wrong in [None, Some("http://evil.example"), Some("null"), Some(&*https), Some(&*inside)] {
        assert_eq!(ask(host, wrong, Some(&bearer)), 403, "{wrong:?}");
    }
    for wrong in [&*rebound, "evil.example", "127.0.0.1", "127.0.0.1:1", ""] {
        assert_eq!(ask(wrong, Some(&own), Some(&bearer)), 421, "{wrong}");
        assert_eq!(served.send("GET /", &[("Host", wrong)], "").status, 421, "{wrong}");
    }
    // Twice the same header, a name in the address, no name at all.
    let twice = [("Host", &**host), ("Host", &rebound)];
    assert!([400, 421].contains(&served.send("GET /", &twice, "").status));
    let address = format!("GET http://{rebound}/");
    assert_eq!(served.send(&address, &[("Host", host)], "").status, 421);
    assert!([400, 421].contains(&served.raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status));

    // A page elsewhere must ask before it sends a token, and is told no.
    let headers = [
        ("Host", &**host),
        ("Origin", "http://evil.example"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization"),
    ];
    let asked = served.send("OPTIONS /api/start", &headers, "");
    assert_eq!(asked.status, 403);
    assert!(!asked.headers.contains("access-control"));
    // Nor can it send what needs no asking.
    let plain = "POST /api/start HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n";
    let plain = format!("{plain}Host: {host}\r\nOrigin: null\r\nConnection: close\r\n\r\n{{}}");
    assert_eq!(served.raw(&plain).status, 403);
    // What changes nothing needs no token, and tells nothing.
    assert_eq!(served.send("GET /api/start", &[("Host", host)], "").status, 405);
}

#[test]
fn the_page_may_load_nothing_from_elsewhere() {
    let served = serve(None, limits());
    let page = served.send("GET /", &[("Host", &served.host)], "");
    assert_eq!(page.status, 200);
    for header in ["default-src 'none'", "script-src 'self'", "nosniff", "frame-ancestors 'none'"] {
        assert!(page.headers.contains(header), "{header}");
    }
    for word in ["http://", "https://", "<style", "onclick", "style="] {
        assert!(!page.body.contains(word), "{word}");
    }
    assert!(!page.body.contains(&served.token));
    for path in ["/page/../src/lib.rs", "/page/%2e%2e%2fCargo.toml", "/page/", "/etc/passwd"] {
        let answer = served.send(&format!("GET {path}"), &[("Host", &served.host)], "");
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[test]
fn models_read_no_files_but_their_own() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("models");
    fs::create_dir(&folder).unwrap();
    fs::write(place.path().join("secret"), "byte treasure = 7;").unwrap();
    fs::write(folder.join("own.h"), "byte own = 5;").unwrap();
    fs::write(folder.join("far.h"), "active proctype Far() { skip }").unwrap();
    std::os::unix::fs::symlink("../secret", folder.join("link.h")).unwrap();
    let model = folder.join("m.pml");
    fs::write(&model, "init { skip }").unwrap();
    let served = serve(Some(model), limits());
    let lone = serve(None, limits());
    let absolute = place.path().join("secret").display().to_string();
    for path in ["../secret", "link.h", &absolute, "/etc/passwd"] {
        let text = format!("#include \"{path}\"\ninit {{ skip }}");
        for served in [&served, &lone] {
            let body = source(&text);
            let run = json!({ "run": { "source": body, "steps": [] } });
            for (route, body) in
                [("read", &body), ("automata", &body), ("simulate", &run), ("chart", &run)]
            {
                let answer = served.ask(route, body);
                assert!(!answer.body.contains("treasure"), "{path}: {answer:?}");
                assert!(!answer.body.contains("root:"), "{path}: {answer:?}");
                assert!(answer.body.contains("\"severity\":\"error\""), "{path}: {answer:?}");
            }
        }
    }
    let own =
        json!({ "source": source("#include \"own.h\"\ninit { assert(own == 5) }"), "steps": [] });
    let place = served.ask("simulate", &json!({ "run": own })).json();
    assert_eq!(place["variables"], json!([{ "name": "own", "value": "5" }]));
    // A line of another file is none of the text of the page.
    let far = json!({ "source": source("#include \"far.h\"\nactive proctype Near() { skip }"), "steps": [] });
    let processes = &served.ask("simulate", &json!({ "run": far })).json()["processes"];
    assert_eq!([&processes[0]["line"], &processes[1]["line"]], [&Value::Null, &json!(2)]);
    let refused = lone.ask("read", &own["source"]).json();
    let message = refused["marks"][0]["message"].as_str().unwrap();
    assert!(message.contains("may not be included here"), "{message}");
    // A guide that goes by a trail would read one.
    let body = json!({ "source": source(ENDLESS), "properties": [], "search": "astar", "guide": "hamming=/etc/passwd" });
    assert_eq!(served.ask("check", &body).status, 422);
}

#[test]
fn models_run_no_c() {
    let served = serve(None, limits());
    for text in ["c_code { exit(1); } init { skip }", "init { c_code { exit(1); } }"] {
        let answer = served.ask("read", &source(text)).json();
        let marks = answer["marks"].as_array().unwrap();
        assert!(
            marks.iter().any(|mark| mark["message"].as_str().unwrap().contains("C code")),
            "{answer}"
        );
        let run = json!({ "run": { "source": source(text), "steps": [] } });
        assert_eq!(served.ask("simulate", &run).status, 422);
    }
}

#[test]
fn checks_end_when_their_time_or_memory_does() {
    let time = Limits { time: Duration::from_millis(300), ..limits() };
    let served = serve(None, time);
    // More than is allowed cannot be asked for.
    let properties = json!([{ "kind": "safety" }]);
    let body = json!({ "source": source(ENDLESS), "properties": properties, "seconds": 1e6 });
    let report = served.listen(&body).wait("verdict");
    assert_eq!(report["report"]["reasons"][0]["code"], "time");
    let served = serve(None, Limits { memory: 64 << 20, ..limits() });
    let report = served.check(ENDLESS).wait("verdict");
    assert_eq!(report["report"]["reasons"][0]["code"], "memory", "{report}");
}

#[test]
fn steps_without_an_end_are_given_up() {
    let served = serve(None, Limits { patience: Duration::from_millis(300), ..limits() });
    let text = "int x; init { d_step { do :: x = 1 - x od } }";
    let run = json!({ "source": source(text), "steps": [] });
    for (route, body) in [("simulate", json!({ "run": run })), ("chart", json!({ "run": run }))] {
        // It may be told as a step that goes wrong, as the machine itself has patience too.
        let answer = served.ask(route, &body);
        assert!([200, 504].contains(&answer.status), "{route}: {answer:?}");
    }
    assert_eq!(served.ask("read", &source("init { skip }")).status, 200);
}

/// What takes too long is not only given up but stopped, so that others have its place.
#[test]
fn what_is_given_up_makes_room() {
    let text = "int a[12000]; active proctype P() { do :: a[0]++ od }";
    let start = json!({ "run": { "source": source(text), "steps": [] } });
    let place = serve(None, limits()).ask("simulate", &start).json();
    let steps = vec![place["moves"][0]["steps"][0].clone(); 2000];
    let served = serve(None, Limits { patience: Duration::from_millis(300), ..limits() });
    let long = json!({ "run": { "source": source(text), "steps": steps } });
    std::thread::scope(|scope| {
        let ask = || scope.spawn(|| served.ask("chart", &long).status);
        for asked in [ask(), ask(), ask(), ask()] {
            assert_eq!(asked.join().unwrap(), 504);
        }
    });
    assert_eq!(served.ask("read", &source("init { skip }")).status, 200);
}

#[test]
fn requests_have_a_size() {
    let served = serve(None, limits());
    let text = "/* */".repeat(limits().request / 5);
    assert_eq!(served.ask("read", &source(&text)).status, 413);
    assert_eq!(served.ask("read", &json!({ "text": "", "more": 1 })).status, 422);
    assert_eq!(served.ask("read", &json!([])).status, 422);
}

#[test]
fn a_check_that_nobody_waits_for_is_stopped() {
    let served = serve(None, Limits { checks: 1, ..limits() });
    let mut first = served.check(ENDLESS);
    first.wait("progress");
    assert_eq!(served.check(ENDLESS).status, 429, "one at a time");
    drop(first);
    // Its place is free again.
    let mut second = served.check(ENDLESS);
    assert_eq!(second.status, 200);
    // Stopped on request, it tells what it saw.
    let id = second.wait("run")["id"].clone();
    second.wait("progress");
    assert_eq!(served.ask("stop", &json!({ "id": id })).status, 204);
    let report = second.wait("verdict");
    assert_eq!(report["report"]["reasons"][0]["code"], "interrupt");
    second.wait("end");
    assert_eq!(served.ask("stop", &json!({ "id": "another" })).status, 404);
}

#[test]
fn a_browser_that_does_not_listen_holds_nobody_up() {
    let limits = Limits { checks: 1, time: Duration::from_secs(3), ..limits() };
    let served = serve(None, limits);
    let mut deaf = served.check(ENDLESS);
    deaf.wait("run");
    // When its time is over another one has its place, though nobody took the verdict.
    let mut second = served.check("init { skip }");
    while second.status == 429 {
        second = served.check("init { skip }");
    }
    assert_eq!(second.wait("verdict")["report"]["verdict"], "verified");
    assert_eq!(deaf.wait("verdict")["report"]["reasons"][0]["code"], "time");
}

#[test]
fn two_browsers_do_not_disturb_each_other() {
    let served = serve(None, limits());
    let mut slow = served.check(ENDLESS);
    slow.wait("progress");
    let mut quick = served.check("init { assert(false) }");
    assert_eq!(quick.wait("verdict")["report"]["verdict"], "violated");
    assert!(quick.next().is_some_and(|(name, _)| name == "end"));
    assert_eq!(served.ask("read", &source("init { skip }")).status, 200);
    slow.wait("progress");
}

#[test]
fn runs_that_are_none_are_refused() {
    let served = serve(None, limits());
    let text = "byte x; active [2] proctype P() { x++ }";
    let ask = |steps: Value, claim: Value| {
        let mut run = json!({ "source": source(text), "steps": steps });
        if !claim.is_null() {
            run["watched"] = json!({ "claim": claim, "end_states": true, "assertions": true, "trace": true, "invariants": [] });
        }
        let answers = ["simulate", "chart"].map(|it| served.ask(it, &json!({ "run": run })).status);
        assert_eq!(answers[0], answers[1]);
        answers[0]
    };
    let run = json!({ "source": source(text), "steps": [] });
    let first = served.ask("simulate", &json!({ "run": run })).json();
    let steps = &first["moves"][0]["steps"];
    assert_eq!(ask(steps.clone(), Value::Null), 200);
    assert_eq!(ask(json!([[0, 4_000_000_000_u32]]), Value::Null), 422);
    assert_eq!(ask(json!([[9, steps[0][1]]]), Value::Null), 422);
    assert_eq!(ask(json!([[65535, steps[0][1]]]), Value::Null), 422);
    assert_eq!(ask(json!([]), json!(0)), 422, "a process is no claim");
    assert_eq!(ask(json!([]), json!(77)), 422);
    let watched = json!({ "claim": null, "end_states": true, "assertions": true, "trace": true, "invariants": [9] });
    let run = json!({ "source": source(text), "steps": [], "watched": watched });
    assert_eq!(served.ask("simulate", &json!({ "run": run })).status, 422);
    let many = vec![json!([0, 0]); 30_000];
    assert_eq!(ask(json!(many), Value::Null), 422);
}

/// What one process does may be spelled like what another does.
#[test]
fn a_step_of_another_process_is_told_as_that() {
    let served = serve(None, limits());
    let text = "byte x; active proctype P() { x++ } active proctype Q() { x++ }";
    let run = |steps: Value| json!({ "run": { "source": source(text), "steps": steps } });
    let place = served.ask("simulate", &run(json!([]))).json();
    let moves = place["moves"].as_array().unwrap();
    let of_q = moves.iter().find(|it| it["who"] == "Q(1)").unwrap();
    let answer = served.ask("simulate", &run(json!([[0, of_q["steps"][0][1]]])));
    let message = "P(0) cannot do `x++` of Q here; it can do: `x++` (line 1)";
    assert!(answer.json()["message"].as_str().unwrap().ends_with(message), "{answer:?}");
}

/// A run that the page could not show anyway is not sent to it.
#[test]
fn runs_too_long_to_be_shown_come_without_steps() {
    let served = serve(None, limits());
    let text = "int x; active proctype P() { do :: x < 15000 -> x++ :: else -> assert(false) od }";
    let properties = json!([{ "kind": "safety" }]);
    let check = json!({ "source": source(text), "properties": properties, "search": "dfs" });
    let error = served.listen(&check).wait("verdict")["report"]["errors"][0].take();
    assert!(error["steps"].as_u64() > Some(20_000), "{error}");
    assert_eq!(error["run"]["steps"], Value::Null);
    assert!(error["run"]["left_out"].as_str().unwrap().contains("20000 steps"), "{error}");
}

#[test]
fn reports_have_no_rights() {
    let served = serve(None, limits());
    let text = "init { printf(\"</script><script>alert(1)</script>\"); assert(false) }";
    let report = served.check(text).wait("verdict");
    let found = &report["report"]["errors"][0]["run"];
    let run =
        json!({ "source": source(text), "steps": found["steps"], "watched": found["watched"] });
    let verdict = json!(["</script><script>alert(2)</script>"]);
    let chart = served.ask("chart", &json!({ "run": run, "verdict": verdict })).json();
    let address = chart["address"].as_str().unwrap();
    let shown = served.send(&format!("GET {address}"), &[("Host", &served.host)], "");
    assert_eq!(shown.status, 200);
    assert!(
        shown.headers.contains("sandbox allow-scripts; default-src 'none'"),
        "{}",
        shown.headers
    );
    assert!(!shown.headers.contains("allow-same-origin"));
    assert!(!shown.body.contains("<script>alert"), "{}", shown.body);
    let other = format!("GET {}0", &address[..address.len() - 1]);
    let guessed = served.send(&other, &[("Host", &served.host)], "");
    assert!(guessed.status == 404 || address.ends_with('0'));
}

/// One property of each kind is violated; the run of each can be stepped through and drawn.
#[test]
fn every_run_that_is_found_can_be_shown() {
    let served = serve(None, limits());
    let text = "byte x; bit turn; chan c = [0] of { byte };
        active proctype P() {
            do
            :: turn == 0 -> turn = 1; assert(x < 2)
            :: turn == 0 -> x = 2; c ! x; accept: turn = 1
            od
        }
        active proctype Q() { byte y; do :: turn == 1 -> turn = 0 :: c ? y od }
        never bounded { do :: x == 2 -> break :: else od }
        ltl settles { <> [] (turn == 0) }";
    let invariants = json!(["x == 0"]);
    let source = json!({ "text": text, "invariants": invariants });
    let offered = served.ask("read", &source).json();
    assert_eq!(offered["marks"], json!([]));
    let properties = &offered["properties"];
    let mut stream = served.listen(&json!({ "source": source, "properties": properties }));
    let mut kinds = Vec::new();
    for index in 0..properties.as_array().unwrap().len() {
        let verdict = stream.wait("verdict");
        assert_eq!(verdict["index"], index);
        let error = &verdict["report"]["errors"][0];
        kinds.push(error["kind"].as_str().unwrap_or("none").to_owned());
        let (found, steps) = (&error["run"], error["run"]["steps"].as_array().unwrap());
        let run = |steps: &[Value]| json!({ "source": source, "steps": steps, "watched": found["watched"] });
        let place = served.ask("simulate", &json!({ "run": run(steps) })).json();
        assert_eq!(place["told"].as_array().unwrap().len(), steps.len(), "{place}");
        // It can be stopped after each of its moves.
        for end in place["ends"].as_array().unwrap() {
            let part = &steps[..end.as_u64().unwrap() as usize];
            assert_eq!(served.ask("simulate", &json!({ "run": run(part) })).status, 200);
        }
        let chart = json!({ "run": run(steps), "cycle": found["cycle"] });
        assert_eq!(served.ask("chart", &chart).status, 200);
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(
        kinds,
        ["assertion", "never-claim", "acceptance-cycle", "invariant", "acceptance-cycle"]
    );
}

#[test]
fn a_file_is_saved_unless_it_changed_elsewhere() {
    let place = tempfile::tempdir().unwrap();
    let model = place.path().join("m.pml");
    fs::write(&model, "init { skip }").unwrap();
    let served = serve(Some(model.clone()), limits());
    let start = served.ask("start", &json!({})).json();
    assert_eq!(start["text"], "init { skip }");
    let saved =
        served.ask("save", &json!({ "text": "init { assert(true) }", "saved": start["saved"] }));
    assert_eq!(saved.status, 200);
    assert_eq!(fs::read_to_string(&model).unwrap(), "init { assert(true) }");
    let stale = served.ask("save", &json!({ "text": "", "saved": start["saved"] }));
    assert_eq!(stale.status, 409);
    assert_eq!(fs::read_to_string(&model).unwrap(), "init { assert(true) }");
    let lone = serve(None, limits());
    assert_eq!(lone.ask("save", &json!({ "text": "", "saved": "" })).status, 422);
}

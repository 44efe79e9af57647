//! The page as a new user meets it, in a real browser: where Chromium is installed. `UPDATE_EXPECT=1` writes what it looks
//! like to `docs/src/figures/workbench`.

#[path = "common/chromium.rs"]
mod chromium;
mod common;

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use chromium::{Browser, Page};
use common::{ENDLESS, Served, limits, serve};
use serde_json::json;
use spinward_web::Limits;

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 800;

/// A user with a browser and a workbench.
struct User {
    browser: Browser,
    served: Served,
    page: Page,
}

/// The folder of the models, in which the workbench is started.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        std::env::set_current_dir(folder.path()).unwrap();
        folder
    });
    folder.path()
}

impl User {
    /// Opens the workbench with a model of the project; none if there is no browser.
    fn new(limits: Limits) -> Option<Self> {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let text = fs::read_to_string(models.join("mutex_test_then_set.pml")).unwrap();
        Self::with("mutex.pml", &text, limits)
    }

    /// Opens the workbench with a model.
    fn with(name: &str, text: &str, limits: Limits) -> Option<Self> {
        let Some(program) = chromium::installed() else {
            eprintln!("skipped: Chromium is not installed (on Debian: apt-get install chromium)");
            return None;
        };
        fs::write(folder().join(name), text).unwrap();
        let served = serve(Some(name.into()), limits);
        let mut browser = Browser::start(&program, WIDTH, HEIGHT);
        let page = browser.open(&served.address);
        let mut user = Self { browser, served, page };
        user.wait("document.querySelector('#problem-summary').textContent");
        Some(user)
    }

    fn wait(&mut self, expression: &str) {
        self.browser.wait(&self.page, expression);
    }

    fn eval(&mut self, expression: &str) -> serde_json::Value {
        self.browser.eval(&self.page, expression)
    }

    fn click(&mut self, selector: &str) {
        self.browser.click(&self.page, selector);
    }

    fn press(&mut self, key: &str, times: usize) {
        for _ in 0..times {
            self.browser.press(&self.page, key, false);
        }
    }

    fn control(&mut self, key: &str) {
        self.browser.press(&self.page, key, true);
    }

    fn write(&mut self, text: &str) {
        self.browser.write(&self.page, text);
    }

    /// Puts another text into the editor.
    fn replace(&mut self, text: &str) {
        self.click("#model");
        self.control("a");
        self.write(text);
        assert_eq!(self.eval("document.getElementById('model').value"), text);
    }

    /// What an element says.
    fn text(&mut self, id: &str) -> String {
        let text = self.eval(&format!("document.getElementById('{id}').innerText"));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an element says something.
    fn says(&mut self, id: &str, words: &str) {
        let words = json!(words);
        self.wait(&format!("document.getElementById('{id}').innerText.includes({words})"));
    }

    /// Looks at the page; keeps what it looks like if asked to.
    fn look(&mut self, name: &str) {
        let picture = self.browser.picture(&self.page);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let folder =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/figures/workbench");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), decode(&picture)).unwrap();
        }
    }

    /// The page did nothing that it must not.
    fn no_complaints(&self) {
        assert_eq!(self.browser.complaints, [""; 0]);
    }
}

/// What is written in base 64.
fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let value = |byte| DIGITS.iter().position(|digit| digit == byte).unwrap() as u32;
        let bits = group.iter().fold(0, |bits, byte| bits << 6 | value(byte));
        let bits = bits << (6 * (4 - group.len()) + 8);
        bytes.extend_from_slice(&bits.to_be_bytes()[..group.len() - 1]);
    }
    bytes
}

#[test]
fn from_an_error_in_the_text_to_the_chart_of_one_in_the_model() {
    let Some(mut user) = User::new(limits()) else { return };
    user.says("problem-summary", "none");
    user.look("start.png");

    // A mistake is marked, and its place can be gone to.
    user.click("#model");
    user.control("a");
    user.press("ArrowRight", 1);
    user.write("byte y = z;");
    user.says("problem-summary", "1 error");
    assert!(user.text("problems").contains("`z` is not declared"), "{}", user.text("problems"));
    assert_eq!(user.eval("document.querySelector('#model').getAttribute('aria-invalid')"), "true");
    user.wait("document.querySelector('#layer .m-error')?.textContent === 'z'");
    user.wait("document.querySelector('#numbers .error')");
    user.look("mistake.png");
    user.eval("document.getElementById('model').setSelectionRange(0, 0)");
    user.click("#problems button");
    user.wait(
        "document.activeElement.id === 'model' && document.activeElement.selectionStart > 100",
    );
    // The place is before the `z`, so that what is behind it goes from the end.
    user.control("a");
    user.press("ArrowRight", 1);
    user.press("Backspace", "byte y = z;".len());
    user.says("problem-summary", "none");

    // A check by the keyboard; the verdict, and the run that shows it.
    user.control("Enter");
    user.says("verdict", "Violated");
    user.wait("document.querySelector('.result button')");
    assert!(user.text("results").contains("a shortest run of 7 steps"), "{}", user.text("results"));
    assert_eq!(user.eval("document.querySelector('#properties .badge').textContent"), "violated");
    user.look("violated.png");

    user.click(".result button:last-of-type");
    user.wait("!document.getElementById('chart').hidden");
    user.says("chart-note", "assertion violated");
    // What is in the frame cannot be seen from outside, but how it is loaded.
    user.wait("performance.getEntriesByType('resource').some(it => it.name.includes('/report/'))");
    std::thread::sleep(std::time::Duration::from_millis(500));
    user.look("chart.png");

    // Along the run, step by step.
    user.click("#tab-check");
    user.click(".result button:first-of-type");
    user.says("where", "Along the run");
    assert_eq!(user.eval("document.querySelectorAll('#run tbody tr.ahead').length"), 7);
    assert_eq!(user.eval("document.querySelectorAll('#automata .lit').length"), 1);
    for step in 1..=6 {
        user.click("#forward");
        user.says("where", &format!("After {step} step"));
    }
    assert!(user.eval("document.querySelectorAll('#layer .row-lit').length").as_i64() >= Some(1));
    user.look("along.png");
    user.click("#forward");
    user.says("where", "assertion violated");
    user.no_complaints();
}

#[test]
fn a_run_step_by_step() {
    let Some(mut user) = User::new(limits()) else { return };
    user.click("#tab-simulate");
    user.click("#restart");
    user.wait("document.querySelectorAll('#moves button').length === 2");
    user.click("#moves li:last-child button");
    user.says("where", "After 1 step");
    // By the keyboard: the focus stays with the steps.
    user.wait("document.activeElement.closest('#moves')");
    user.press("Enter", 1);
    user.says("where", "After 2 steps");
    user.wait("document.querySelectorAll('#run tbody tr').length === 2");
    user.look("simulate.png");
    let value =
        "[...document.querySelectorAll('#state tbody tr')].map(row => row.innerText).join()";
    let before = user.eval(value);
    user.click("#random");
    user.says("where", "After 3 steps");
    user.click("#back");
    user.says("where", "After 2 steps");
    assert_eq!(user.eval(value), before);
    user.click("#play");
    user.wait("document.querySelectorAll('#run tbody tr').length > 5");
    user.click("#play");
    // The text changes under the run.
    user.click("#model");
    user.write(" ");
    user.says("where", "has changed");
    user.no_complaints();
}

/// Whoever clicks twice before the first answer comes sees one run, the one that was asked for last.
#[test]
fn quick_clicks_make_one_run() {
    let Some(mut user) = User::new(limits()) else { return };
    user.click("#tab-simulate");
    user.click("#restart");
    user.wait("document.querySelectorAll('#moves button').length > 1");
    user.eval("document.querySelectorAll('#moves button').forEach((it) => it.click())");
    user.says("where", "After 1 step");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(user.eval("document.querySelectorAll('#run tbody tr').length"), 1);
    user.click("#random");
    user.says("where", "After 2 steps");
    assert_eq!(user.eval("document.querySelectorAll('#run tbody tr').length"), 2);
    user.no_complaints();
}

/// What cannot be shown cannot be asked for, and it is said why.
#[test]
fn a_run_that_is_too_long_is_only_told_of() {
    let Some(mut user) = User::new(limits()) else { return };
    user.replace("int x; init { do :: x < 15000 -> x++ :: else -> assert(false) od }");
    user.says("problem-summary", "none");
    user.eval("document.getElementById('search').value = 'dfs'");
    user.click("#check");
    user.says("verdict", "Violated");
    user.says("results", "runs of more than 20000 steps are not shown here");
    assert_eq!(user.eval("document.querySelectorAll('.result button:disabled').length"), 2);
    user.no_complaints();
}

/// A file keeps the ends of its lines, and only what is not saved is remembered.
#[test]
fn files_of_other_systems_stay_as_they_are() {
    let text = "byte x; /* \u{1d11e} */ byte y = z;\r\ninit { x = 1 }\r\n";
    let Some(mut user) = User::with("other.pml", text, limits()) else { return };
    user.says("problem-summary", "1 error");
    assert_eq!(user.eval("document.getElementById('unsaved').hidden"), true);
    user.click("#problems button");
    let place = user.eval("document.getElementById('model').selectionStart");
    assert_eq!(place, text.encode_utf16().position(|unit| unit == u16::from(b'z')).unwrap());
    let kept = "Object.keys(sessionStorage).filter((it) => it.startsWith('spinward-text')).length";
    assert_eq!(user.eval(kept), 0);
    user.write("1");
    user.write("1");
    assert_eq!(user.eval(kept), 1);
    assert_eq!(user.eval("document.getElementById('unsaved').hidden"), false);
    user.control("s");
    user.wait("document.getElementById('unsaved').hidden");
    assert_eq!(user.eval(kept), 0);
    let saved = fs::read_to_string(folder().join("other.pml")).unwrap();
    assert_eq!(saved, text.replace("= z", "= 11z"));
    user.no_complaints();
}

/// The value of a macro may have blanks and commas in it.
#[test]
fn macros_stand_in_lines() {
    let text = "INIT;\ninit { assert(x + y == B) }\n";
    let Some(mut user) = User::with("macros.pml", text, limits()) else { return };
    user.click("#defines");
    user.write("INIT=byte x = 1, y\nB=1");
    user.says("problem-summary", "none");
    user.no_complaints();
}

#[test]
fn a_long_check_is_watched_and_stopped() {
    let Some(mut user) = User::new(Limits { checks: 1, ..limits() }) else { return };
    user.replace(ENDLESS);
    user.says("problem-summary", "none");
    user.click("#check");
    user.says("progress", "states/s");
    user.look("progress.png");
    user.press("Escape", 1);
    user.says("verdict", "not everything");
    assert!(user.text("results").contains("interrupted"), "{}", user.text("results"));
    user.look("stopped.png");
    // Of a page that is closed the check is stopped, so that another has its place.
    user.click("#check");
    user.says("progress", "states/s");
    let first = user.page.clone();
    user.page = user.browser.open(&user.served.address);
    user.wait("document.querySelectorAll('#properties li').length === 1");
    user.browser.close(first);
    user.click("#check");
    user.says("verdict", "Violated");
    user.no_complaints();
}

#[test]
fn searches_are_compared() {
    let Some(mut user) = User::new(limits()) else { return };
    user.click("#tab-compare");
    user.click("#compare");
    user.says("compare-note", "4 searches compared");
    assert_eq!(user.eval("document.querySelectorAll('#compared tbody tr').length"), 4);
    assert!(user.text("compared").contains("astar"), "{}", user.text("compared"));
    user.wait("document.querySelectorAll('#plot circle').length >= 2");
    user.look("compare.png");
    user.no_complaints();
}

#[test]
fn without_the_token_the_page_says_what_to_do() {
    let Some(mut user) = User::new(limits()) else { return };
    let bare = format!("http://{}/", user.served.host);
    // A page of its own has a memory of its own.
    user.page = user.browser.open(&bare);
    user.says("alert", "open the address that `spinward serve` printed");
}

#[test]
fn long_models_are_drawn_where_they_are_seen() {
    let lines: String = (0..5000).map(|n| format!("#define N{n} {n} /* line */\n")).collect();
    let text = format!("{lines}init {{ skip }}\n");
    let Some(mut user) = User::with("long.pml", &text, limits()) else { return };
    user.says("problem-summary", "none");
    user.click("#model");
    user.control("a");
    user.press("ArrowRight", 1);
    user.write("byte y = z;");
    user.says("problem-summary", "1 error");
    user.eval("document.getElementById('model').scrollTo(0, 0)");
    assert!(user.eval("document.querySelectorAll('#layer > div').length").as_i64() < Some(200));
    user.click("#problems button");
    user.wait(
        "[...document.querySelectorAll('#numbers .error')].some(it => it.textContent === '5002')",
    );
    user.no_complaints();
}

/// The least contrast of any text to what is behind it, and that text.
const CONTRAST: &str = "(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const over = (colors) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
        const part = (v) => (v /= 255, v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    let worst = [99, ''];
    for (const it of document.querySelectorAll('body *')) {
        const own = [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!own || it.disabled || !it.checkVisibility() || it.closest('svg, noscript, #model, .unseen, option')) continue;
        const behind = [];
        for (let up = it; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
        const back = light(over(['white', ...behind]));
        const front = light(over(['white', ...behind, getComputedStyle(it).color]));
        const ratio = (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
        if (ratio < worst[0]) worst = [ratio, it.outerHTML.slice(0, 200)];
    }
    return worst;
})()";

#[test]
fn everybody_can_use_it() {
    let Some(mut user) = User::new(limits()) else { return };
    user.control("Enter");
    user.says("verdict", "Violated");
    user.eval("document.querySelector('.result button').click()");
    user.says("where", "Along the run");
    user.eval("document.getElementById('compare').click()");
    user.says("compare-note", "compared");
    for dark in [false, true] {
        user.browser.dark(&user.page.clone(), dark);
        for tab in ["check", "simulate", "chart", "compare"] {
            user.eval(&format!("document.getElementById('tab-{tab}').click()"));
            let worst = user.eval(CONTRAST);
            assert!(worst[0].as_f64() >= Some(4.5), "{tab}, dark: {dark}: {worst}");
            // All that can be used has a name.
            for (role, name) in user.browser.told_to_screen_readers(&user.page.clone()) {
                let used = [
                    "button",
                    "textbox",
                    "checkbox",
                    "combobox",
                    "spinbutton",
                    "tab",
                    "tabpanel",
                    "table",
                    "Iframe",
                    "image",
                    "img",
                    "region",
                ];
                assert!(
                    !used.contains(&&*role) || !name.is_empty(),
                    "{tab}: a {role} without a name"
                );
            }
        }
        user.eval("document.getElementById('tab-simulate').click()");
        if dark {
            user.look("dark.png");
        }
    }

    // Tab goes through everything and out again, and arrows go from tab to tab.
    for tab in ["simulate", "check", "compare"] {
        user.eval(&format!(
            "document.getElementById('tab-{tab}').click(); document.activeElement.blur()"
        ));
        let all = user.eval(
            "window.visited = new Set(); [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex=\"0\"]')] \
             .filter((it) => it.checkVisibility() && !it.disabled && it.tabIndex >= 0).length",
        );
        let all = all.as_u64().unwrap();
        for _ in 0..all + 5 {
            user.press("Tab", 1);
            user.eval("visited.add(document.activeElement)");
        }
        let visited = user.eval("visited.delete(document.body), visited.size").as_u64().unwrap();
        assert!(visited >= all, "{tab}: {visited} of {all} can be come to");
    }
    user.eval("document.getElementById('tab-check').click(); document.getElementById('tab-check').focus()");
    user.press("ArrowRight", 1);
    user.wait("document.activeElement.id === 'tab-simulate' && !document.getElementById('panel-simulate').hidden");
    user.press("End", 1);
    user.wait("document.activeElement.id === 'tab-compare'");
    user.no_complaints();
}

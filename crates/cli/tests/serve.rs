//! The workbench as it is started; what it answers is tested where it is made.

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use common::Place;

#[test]
fn the_page_is_at_the_address_that_is_told() {
    let place = Place::new();
    let mut command = place.command(&["serve", "good.pml"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the command runs");
    let mut said = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut said).expect("a line");
    let address = said.trim().strip_prefix("The workbench is at http://").expect("an address");
    let (host, token) = address.split_once("/#token=").expect("a token");
    assert!(host.starts_with("127.0.0.1:"), "{said}");
    assert_eq!(token.len(), 32, "{said}");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("asked");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("answered");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Spinward workbench"), "{page}");
    // A port has one owner.
    let port = host.split_once(':').expect("a port").1;
    place.run(&["serve", "--port", port]).code(2).err("cannot listen on");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn a_model_that_cannot_be_read_is_told() {
    let place = Place::new();
    place.run(&["serve", "missing.pml"]).code(2).err("there is no file `missing.pml`");
    place.run(&["serve", "--port", "70000"]).code(2).err("a whole number");
    place.run(&["serve", "--checks", "0"]).code(2).err("--checks");
}

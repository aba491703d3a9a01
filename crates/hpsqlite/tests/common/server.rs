//! `hpsqlite viz` as its page asks it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::Place;

/// `hpsqlite viz` on a database, asked as its page does.
pub struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Server {
    pub fn on(place: &Place, database: &str) -> Server {
        let mut child = place
            .command(&["viz", database, "--no-browser"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = Vec::new();
        let output = child.stdout.as_mut().unwrap();
        let mut byte = [0];
        while byte != *b" " {
            output.read_exact(&mut byte).unwrap();
            address.push(byte[0]);
        }
        let address = String::from_utf8(address).unwrap();
        let (host, token) = address["http://".len()..].split_once('/').unwrap();
        Server {
            child,
            port: host.split_once(':').unwrap().1.parse().unwrap(),
            token: token.trim_end_matches(['/', ' ']).to_owned(),
        }
    }

    pub fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} /{}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            self.port,
            body.len()
        )
        .unwrap();
        stream
    }

    pub fn bytes(mut stream: TcpStream) -> (u16, Vec<u8>) {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    pub fn json(stream: TcpStream) -> (u16, Value) {
        let (status, bytes) = Server::bytes(stream);
        (
            status,
            serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        )
    }
}

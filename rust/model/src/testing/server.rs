//! The server: one thread a connection, one request a connection, raw bytes out.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Turn, anthropic, gemini, inspect, openai, responses};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// `POST`, `GET`.
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes after the headers.
    pub body: Vec<u8>,
}

impl Received {
    /// Returns the body as JSON, or null.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What happens after the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The reply is ended as HTTP wants it.
    Whole,
    /// The connection is closed in the middle of the reply.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing, until the client closes the connection.
    Hang,
}

/// A reply. The pieces are HTTP chunks, so that the client gets them cut as they are.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    pause: Duration,
    end: End,
    silent: bool,
}

impl Reply {
    /// Builds a reply from bytes.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self {
            status,
            headers,
            pieces: vec![body.into()],
            pause: Duration::ZERO,
            end: End::Whole,
            silent: false,
        }
    }

    /// Builds a stream of events from bytes.
    pub fn sse(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream", body)
    }

    /// Builds a reply in JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// Builds the end of a connection before any reply.
    pub fn none(end: End) -> Self {
        Self { silent: true, end, ..Self::sse("") }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Cuts the body in two at a byte.
    #[must_use]
    pub fn cut_at(mut self, at: usize) -> Self {
        let whole = self.pieces.concat();
        let (head, tail) = whole.split_at(at.min(whole.len()));
        self.pieces = vec![head.to_vec(), tail.to_vec()];
        self
    }

    /// Cuts the body into pieces of so many bytes.
    #[must_use]
    pub fn cut_every(mut self, bytes: usize) -> Self {
        self.pieces = self.pieces.concat().chunks(bytes.max(1)).map(<[u8]>::to_vec).collect();
        self
    }

    /// Leaves out everything after so many bytes.
    #[must_use]
    pub fn first(mut self, bytes: usize) -> Self {
        let mut whole = self.pieces.concat();
        whole.truncate(bytes);
        self.pieces = vec![whole];
        self
    }

    /// Waits before each piece but the first.
    #[must_use]
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Says what happens after the last piece.
    #[must_use]
    pub fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

type Answer = dyn Fn(usize, &Received) -> Reply + Send + Sync;

struct State {
    received: Mutex<Seen>,
    changed: Condvar,
    over: AtomicBool,
    answer: Box<Answer>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Received>,
    problems: Vec<String>,
    hung_up: usize,
}

/// A running server. Dropping it ends it.
pub struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    /// Starts a server that answers the requests in order, and any further one with status 500.
    ///
    /// # Panics
    /// If the loopback has no free port.
    pub fn scripted(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        Self::answering(move |index, _| match replies.get(index) {
            Some(reply) => reply.clone(),
            None => Reply::json(500, &serde_json::json!({ "error": { "message": "the script is over" } })),
        })
    }

    /// Starts a server that speaks all protocols, by the path, and plays a turn for each request.
    ///
    /// # Panics
    /// If the loopback has no free port.
    pub fn playing(turns: impl IntoIterator<Item = Turn>) -> Self {
        let turns: Vec<Turn> = turns.into_iter().collect();
        Self::answering(move |index, received| {
            let Some(turn) = turns.get(index) else {
                return Reply::json(
                    500,
                    &serde_json::json!({ "error": { "message": "the turns are used up" } }),
                );
            };
            match received.path.split('?').next().unwrap_or_default() {
                path if path.ends_with("/chat/completions") => Reply::sse(openai::stream(turn)),
                path if path.ends_with("/messages") => Reply::sse(anthropic::stream(turn)),
                path if path.ends_with("/responses") => Reply::sse(responses::stream(turn)),
                path if path.ends_with(":streamGenerateContent") => Reply::sse(gemini::stream(turn)),
                path => Reply::new(404, "text/plain", format!("no such path: {path}")),
            }
        })
    }

    /// Starts a server that answers by a function of the request's number, from 0, and the request.
    ///
    /// # Panics
    /// If the loopback has no free port.
    #[expect(clippy::expect_used, reason = "a test without a port can't go on")]
    pub fn answering(answer: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on the loopback");
        let address = listener.local_addr().expect("a bound address");
        let state = Arc::new(State {
            received: Mutex::default(),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
            answer: Box::new(answer),
        });
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if shared.over.load(Ordering::SeqCst) {
                    break;
                }
                let state = shared.clone();
                // A client that goes away is what some tests are about.
                thread::spawn(move || drop(state.serve(stream)));
            }
        });
        Self { address, state }
    }

    /// Returns `http://127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Received> {
        self.state.lock().requests.clone()
    }

    /// Returns what a provider would have refused in the requests so far.
    pub fn problems(&self) -> Vec<String> {
        self.state.lock().problems.clone()
    }

    /// Waits until so many clients have closed their connection in a hanging reply; returns whether they did.
    pub fn wait_hung_up(&self, clients: usize, patience: Duration) -> bool {
        let waiting =
            self.state.changed.wait_timeout_while(self.state.lock(), patience, |seen| seen.hung_up < clients);
        let (seen, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        seen.hung_up >= clients
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread. If that fails, the listener is gone already.
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::with_capacity(1, stream.try_clone()?);
        let Some((received, unread)) = read_request(&mut reader, &stream)? else { return Ok(()) };
        let number = {
            let mut seen = self.lock();
            seen.problems.extend(problems(&received));
            seen.requests.push(received.clone());
            self.changed.notify_all();
            seen.requests.len() - 1
        };
        let reply = (self.answer)(number, &received);
        // Closing with a byte unread is what makes the system send a reset.
        if reply.end != End::Reset && unread {
            reader.read_exact(&mut [0])?;
        }
        send(&stream, &reply)?;
        if reply.end == End::Hang {
            // The client sends nothing more, so the end of reading is its going.
            let _ = reader.read(&mut [0]);
            self.lock().hung_up += 1;
            self.changed.notify_all();
        }
        Ok(())
    }
}

fn problems(received: &Received) -> Vec<String> {
    match received.path.split('?').next().unwrap_or_default() {
        path if path.ends_with("/chat/completions") => inspect::openai(&received.json()),
        path if path.ends_with("/messages") => inspect::anthropic(&received.json()),
        path if path.ends_with("/responses") => inspect::responses(&received.json()),
        path if path.ends_with(":streamGenerateContent") => inspect::gemini(&received.json()),
        _ => Vec::new(),
    }
}

/// Reads a request; its last byte stays unread, which the second value tells.
fn read_request(
    reader: &mut BufReader<TcpStream>,
    stream: &TcpStream,
) -> io::Result<Option<(Received, bool)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if let Some((last, most)) = body.split_last_mut() {
        reader.read_exact(most)?;
        let mut peeked = [0];
        stream.peek(&mut peeked)?;
        *last = peeked[0];
    }
    Ok(Some((Received { method, path, headers, body }, length > 0)))
}

fn send(mut stream: &TcpStream, reply: &Reply) -> io::Result<()> {
    if reply.silent {
        return Ok(());
    }
    let mut head =
        format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    for (index, piece) in reply.pieces.iter().filter(|piece| !piece.is_empty()).enumerate() {
        if index > 0 && !reply.pause.is_zero() {
            thread::sleep(reply.pause);
        }
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend(piece);
        chunk.extend(b"\r\n");
        stream.write_all(&chunk)?;
    }
    if reply.end == End::Whole {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.flush()
}

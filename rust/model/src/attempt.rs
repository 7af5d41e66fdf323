//! One attempt: the request goes out once, and its reply is read to the end.

use std::collections::{HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use genai::ServiceTarget;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatFrameSink, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, FrameCtx, RawFrameRef,
};
use koda_protocol::port::{ModelEvent, StopReason};
use tokio::time::Instant;

use crate::failure::{Context, Failure};
use crate::settings::Timeouts;
use crate::wire::{self, Format, Reader};

/// Pieces that are read before the consumer gets its turn.
const BATCH: usize = 64;

/// Everything that one attempt needs, so that a further one can be made.
#[derive(Clone)]
pub(crate) struct Plan {
    pub client: genai::Client,
    pub target: ServiceTarget,
    pub request: ChatRequest,
    pub options: ChatOptions,
    pub format: Format,
    pub taken: HashSet<String>,
    pub timeouts: Timeouts,
    pub context: Context,
}

impl Plan {
    fn kind(&self) -> AdapterKind {
        self.target.model.adapter_kind
    }
}

/// What has been read of the frames. Filled while genai polls the connection.
struct Tapped {
    reader: Reader,
    events: Vec<ModelEvent>,
    failure: Option<Failure>,
    // All frames count as a sign of life; those with data also as a stream.
    frames: u64,
    filled: u64,
}

impl Tapped {
    fn has_news(&self) -> bool {
        !self.events.is_empty() || self.failure.is_some() || self.reader.ended()
    }
}

/// Something of a reply that calls for a look.
enum Piece {
    /// genai read it.
    Event(genai::Result<ChatStreamEvent>),
    /// Only the reader here read it.
    Frames,
    /// The connection ended.
    End,
}

/// Hands genai's raw frames to the reader.
struct Tap(Mutex<Tapped>);

impl Tap {
    fn lock(&self) -> MutexGuard<'_, Tapped> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Tap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut tapped = self.lock();
        let tapped = &mut *tapped;
        tapped.frames += 1;
        tapped.filled += u64::from(!frame.data.trim().is_empty());
        if tapped.failure.is_none() {
            tapped.failure = tapped.reader.frame(frame.data, &mut tapped.events).err();
        }
    }
}

/// A reply on its way. Dropping it closes the connection.
pub(crate) struct Attempt {
    plan: Plan,
    stream: ChatStream,
    tap: Arc<Tap>,
    deadline: Instant,
    frames: u64,
    said: Said,
}

/// Whether anything came that a person or a tool can use.
#[derive(Default)]
struct Said {
    anything: bool,
    useful: bool,
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There may be more.
    More,
    /// The reply is complete.
    End,
}

impl Attempt {
    /// Sends the request. Nothing is awaited yet: the connection is made with the first step.
    pub(crate) async fn start(plan: Plan) -> Result<Self, Failure> {
        let reader = Reader::new(plan.format, plan.kind(), plan.taken.clone(), plan.context.clone());
        let tapped = Tapped { reader, events: Vec::new(), failure: None, frames: 0, filled: 0 };
        let tap = Arc::new(Tap(Mutex::new(tapped)));
        // Held back for formats without a reader here; the readers assemble calls themselves.
        let capture = plan.format == Format::Other;
        let options = plan
            .options
            .clone()
            .with_raw_frame_sink_arc(tap.clone())
            .with_capture_tool_calls(capture)
            // Responses are asked by it for summaries of their reasoning, and for the sealed whole.
            .with_capture_reasoning_content(capture || plan.format == Format::Responses);
        let opened =
            plan.client.exec_chat_stream(plan.target.clone(), plan.request.clone(), Some(&options)).await;
        let stream = opened.map_err(|error| plan.context.genai(&error, false))?.stream;
        let deadline = Instant::now() + Duration::from_millis(plan.timeouts.first_byte_ms);
        Ok(Self { plan, stream, tap, deadline, frames: 0, said: Said::default() })
    }

    /// Waits for the next pieces and appends what they say.
    pub(crate) async fn step(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        let mut next = self.next().await?;
        for _ in 0..BATCH {
            let ended = matches!(next, Piece::End);
            let verdict = self.take(next, out)?;
            if ended {
                return self.finish(out).await;
            }
            if verdict == Step::End {
                return self.stop(out);
            }
            next = match self.piece().now_or_never() {
                Some(next) => next,
                None => break,
            };
        }
        Ok(Step::More)
    }

    /// Waits until genai has an event, or has passed over frames in which the reader here found something.
    async fn piece(&mut self) -> Piece {
        let (stream, tap) = (&mut self.stream, &self.tap);
        poll_fn(|context| match stream.poll_next_unpin(context) {
            Poll::Ready(Some(event)) => Poll::Ready(Piece::Event(event)),
            Poll::Ready(None) => Poll::Ready(Piece::End),
            Poll::Pending if tap.lock().has_news() => Poll::Ready(Piece::Frames),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Waits for a piece. Frames without data, such as keep-alives, prolong the wait.
    async fn next(&mut self) -> Result<Piece, Failure> {
        loop {
            let waited = tokio::time::timeout_at(self.deadline, self.piece()).await;
            let frames = self.tap.lock().frames;
            let begun = frames > 0;
            let timeouts = self.plan.timeouts;
            let patience =
                Duration::from_millis(if begun { timeouts.idle_ms } else { timeouts.first_byte_ms });
            let alive = frames > self.frames;
            self.frames = frames;
            if alive {
                self.deadline = Instant::now() + patience;
            }
            match waited {
                Ok(next) => return Ok(next),
                Err(_) if alive => {}
                Err(_) => return Err(self.plan.context.timeout(patience, begun)),
            }
        }
    }

    /// Takes over what a piece brought.
    fn take(&mut self, piece: Piece, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        let mut tapped = self.tap.lock();
        let tapped = &mut *tapped;
        let mut lost = None;
        match piece {
            Piece::Event(Ok(event)) => tapped.reader.event(event, &mut tapped.events),
            Piece::Event(Err(error)) if self.plan.format == Format::Other || is_transport(&error) => {
                lost = Some(error)
            }
            // genai can't read a frame that the reader here has read.
            Piece::Event(Err(_)) | Piece::Frames | Piece::End => {}
        }
        for event in tapped.events.drain(..) {
            self.said.hear(&event);
            out.push_back(event);
        }
        if let Some(failure) = tapped.failure.take() {
            return Err(failure);
        }
        let complete = tapped.reader.complete();
        if let Some(error) = lost.filter(|_| !complete) {
            return Err(self.plan.context.genai(&error, tapped.filled > 0));
        }
        Ok(if tapped.reader.ended() { Step::End } else { Step::More })
    }

    /// Takes the end of the connection.
    async fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        let (complete, filled) = {
            let tapped = self.tap.lock();
            (tapped.reader.complete(), tapped.filled)
        };
        if filled == 0 {
            return self.whole(out).await;
        }
        if !complete {
            return Err(self.plan.context.cut("the connection was closed"));
        }
        self.stop(out)
    }

    fn stop(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        let mut rest = Vec::new();
        let reason = self.tap.lock().reader.finish(&mut rest);
        self.close(rest, reason, out)
    }

    /// A success without a single frame: a page, an error in plain JSON, or a server that does not stream.
    /// genai has dropped the body, so it is asked for once more, whole.
    async fn whole(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        let plan = &self.plan;
        let options = plan.options.clone().with_capture_raw_body(true);
        let asked = plan.client.exec_chat(plan.target.clone(), plan.request.clone(), Some(&options));
        let patience =
            Duration::from_millis(plan.timeouts.first_byte_ms.saturating_add(plan.timeouts.idle_ms));
        let reply = tokio::time::timeout(patience, asked)
            .await
            .map_err(|_| plan.context.timeout(patience, false))?
            .map_err(|error| plan.context.genai(&error, false))?;
        let error = reply.captured_raw_body.as_ref().and_then(|body| body.get("error"));
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return Err(plan.context.object(error));
        }
        let mut events = Vec::new();
        let reason = wire::whole(reply, plan.kind(), plan.taken.clone(), &mut events);
        self.close(events, reason, out)
    }

    fn close(
        &mut self,
        events: Vec<ModelEvent>,
        reason: StopReason,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<Step, Failure> {
        for event in events {
            self.said.hear(&event);
            out.push_back(event);
        }
        let excused = matches!(reason, StopReason::Length | StopReason::Refused);
        if !self.said.useful && !excused {
            let said = if self.said.anything { "it only reasoned" } else { "" };
            return Err(self.plan.context.empty(said).into());
        }
        out.push_back(ModelEvent::Stop(reason));
        Ok(Step::End)
    }
}

impl Said {
    fn hear(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Text(_) | ModelEvent::Call(_) => self.useful = true,
            ModelEvent::Reasoning(_) => self.anything = true,
            _ => {}
        }
    }
}

/// Tells a lost connection or a refusal from a frame that genai can't read.
fn is_transport(error: &genai::Error) -> bool {
    use genai::Error as E;
    matches!(
        error,
        E::WebStream { .. } | E::HttpError { .. } | E::WebModelCall { .. } | E::WebAdapterCall { .. }
    )
}

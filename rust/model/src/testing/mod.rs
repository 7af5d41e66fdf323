//! A provider for tests: a scripted server on the loopback that speaks OpenAI Chat Completions and Responses,
//! Anthropic Messages and Gemini, checks what it is sent, and cuts what it sends wherever a test wants.
//!
//! Only with the feature `testing`. It uses threads and no runtime, so that any test can hold it.

pub mod anthropic;
pub mod gemini;
pub mod histories;
pub mod inspect;
pub mod openai;
pub mod responses;
mod server;
mod turn;

pub use server::{End, Received, Reply, Server};
pub use turn::Turn;

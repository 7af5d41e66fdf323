//! The agent: turn loop, dispatch of calls, approvals, the system prompt.

//! Model providers over HTTP, the replay model, retries, usage.

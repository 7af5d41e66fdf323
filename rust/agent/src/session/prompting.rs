//! What each request of a session says beside the conversation: the system prompt and the tools on offer.

use koda_protocol::{Mode, ToolPolicy, ToolSpec};
use koda_tools::memory;
use koda_tools::skills::Skills;

use super::{Current, Session};
use crate::engine::EngineParts;
use crate::instructions::Reader;
use crate::prompt::{self, Circumstances, PromptPart};

impl Session {
    /// Returns what the model is offered in a mode: what the user switched off is not.
    pub(crate) fn offered(&self, mode: Mode) -> Vec<ToolSpec> {
        let parts = self.parts();
        let off = |spec: &ToolSpec| parts.settings.tools.get(&spec.name) == Some(&ToolPolicy::Off);
        parts.registry.specs(mode).into_iter().filter(|spec| !off(spec)).collect()
    }

    /// Returns the parts of the system prompt: the same for the whole session, unless mode or trust change.
    pub async fn system_prompt(&self) -> Vec<PromptPart> {
        let Current { mode, trust, .. } = self.current();
        let mut system = self.system.lock().await;
        if let Some((of, by, parts)) = system.as_ref()
            && (*of, *by) == (mode, trust)
        {
            return parts.clone();
        }
        let EngineParts { settings, ports, .. } = self.parts();
        let resolver = &self.workplace.resolver;
        let root = resolver.root();
        let reader = Reader::new(ports.editor.as_ref(), root, resolver.home(), &settings.instructions);
        let instructions = reader.of_session(root, settings.instructions.max_bytes).await;
        let root = root.to_string_lossy();
        let about = Circumstances { mode, trust, root: &root, os: &settings.os, now: self.now() };
        let mut parts = prompt::parts(&about, &instructions);
        let memory = memory::for_prompt(ports.editor.as_ref(), &self.workplace).await;
        if !memory.is_empty() {
            parts.push(PromptPart { name: "memory".to_owned(), text: memory });
        }
        let skills = Skills::find(&self.workplace).await.for_prompt();
        if !skills.is_empty() {
            parts.push(PromptPart { name: "skills".to_owned(), text: skills });
        }
        *system = Some((mode, trust, parts.clone()));
        parts
    }
}

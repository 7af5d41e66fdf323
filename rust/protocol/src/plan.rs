//! The plan of a session: what is to be done, in order, and how far it is.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What it is about and why it is done so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explanation: String,
    /// In the order of doing; never empty.
    pub steps: Vec<PlanStep>,
    /// What may go wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
    /// What was taken for granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// What the user may want to decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// A diagram in Mermaid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diagram: String,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What is done.
    pub text: String,
    /// How far it is.
    #[serde(default)]
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done; at most one step is.
    InProgress,
    /// Done.
    #[serde(alias = "completed")]
    Done,
    /// Not done, and not to be.
    #[serde(alias = "cancelled")]
    Skipped,
}

impl Plan {
    /// Writes it as Markdown: steps as a list of boxes, further parts under headings.
    pub fn markdown(&self) -> String {
        let mut text = String::from("# Plan\n\n");
        if !self.explanation.trim().is_empty() {
            let _ = writeln!(text, "{}\n", self.explanation.trim());
        }
        for step in &self.steps {
            let mark = match step.status {
                StepStatus::Pending => ' ',
                StepStatus::InProgress => '~',
                StepStatus::Done => 'x',
                StepStatus::Skipped => '-',
            };
            let _ = writeln!(text, "- [{mark}] {}", step.text.trim().replace('\n', "\n  "));
        }
        let parts =
            [("Risks", &self.risks), ("Assumptions", &self.assumptions), ("Open questions", &self.questions)];
        for (title, items) in parts.into_iter().filter(|(_, items)| !items.is_empty()) {
            let _ = writeln!(text, "\n## {title}\n");
            for item in items {
                let _ = writeln!(text, "- {}", item.trim().replace('\n', "\n  "));
            }
        }
        if !self.diagram.trim().is_empty() {
            let _ = writeln!(text, "\n```mermaid\n{}\n```", self.diagram.trim());
        }
        text
    }
}

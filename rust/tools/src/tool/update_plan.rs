//! UpdatePlan: publishes the plan, and how far it is.

use koda_protocol::{Effect, Event, Mode, Plan, PlanStep, StepStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};

/// A step as models write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    Text(String),
    Fields {
        #[serde(alias = "step", alias = "content", alias = "title", alias = "description")]
        text: String,
        #[serde(default)]
        status: StepStatus,
    },
}

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    explanation: String,
    steps: Vec<Step>,
    #[serde(default)]
    risks: Vec<String>,
    #[serde(default)]
    assumptions: Vec<String>,
    #[serde(default)]
    questions: Vec<String>,
    #[serde(default)]
    diagram: String,
}

pub fn entry() -> Entry {
    Entry {
        name: "UpdatePlan",
        aliases: &["update_plan", "generate_plan"],
        description: "Publish the plan: all its steps in the order of doing, each small enough to be checked. In mode plan call it once, at the end, with risks, assumptions and open questions: the user reviews it. Elsewhere call it again as steps get done; at most one is in_progress.",
        effect: Effect::Internal,
        schema: json!({
            "type": "object",
            "properties": {
                "explanation": { "type": "string" },
                "steps": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "text": { "type": "string" },
                        "status": { "type": "string", "enum": ["pending", "in_progress", "done", "skipped"] }
                    },
                    "required": ["text"]
                } },
                "risks": { "type": "array", "items": { "type": "string" } },
                "assumptions": { "type": "array", "items": { "type": "string" } },
                "questions": { "type": "array", "items": { "type": "string" } },
                "diagram": { "type": "string", "description": "Mermaid, where it helps" }
            },
            "required": ["steps"]
        }),
        prepare: |args, _| {
            let mut fields = object(args)?;
            let names = [("plan", "steps"), ("open_questions", "questions"), ("summary", "explanation")];
            rename(&mut fields, &names);
            let plan = understand(read(fields.into())?)?;
            Ok(Job::new(move |context| async move { run(&context, plan) }))
        },
    }
}

fn understand(args: Args) -> Result<Plan, String> {
    let steps: Vec<PlanStep> = args
        .steps
        .into_iter()
        .map(|step| match step {
            Step::Text(text) => PlanStep { text, status: StepStatus::Pending },
            Step::Fields { text, status } => PlanStep { text, status },
        })
        .collect();
    if steps.is_empty() {
        return Err("`steps`: there are none".to_owned());
    }
    if let Some(at) = steps.iter().position(|step| step.text.trim().is_empty()) {
        return Err(format!("`steps[{at}].text`: it is empty"));
    }
    let running = steps.iter().filter(|step| step.status == StepStatus::InProgress).count();
    if running > 1 {
        return Err(format!("`steps`: {running} steps are in_progress, at most one may be"));
    }
    let Args { explanation, risks, assumptions, questions, diagram, .. } = args;
    Ok(Plan { explanation, steps, risks, assumptions, questions, diagram })
}

fn run(context: &ToolContext, plan: Plan) -> Output {
    let review = context.mode == Mode::Plan;
    let fields = json!({ "plan": plan, "ends_turn": review });
    if !context.state.set_plan(&plan) && !review {
        return Output::ok("The plan is as it was; no need to send it again.", Value::Null);
    }
    let text = plan.markdown();
    (context.emit)(Event::Plan { plan: plan.clone(), text, review });
    if review {
        return Output::ok("The plan is with the user, who reviews it. Your turn ends here.", fields);
    }
    let settled = |step: &&PlanStep| matches!(step.status, StepStatus::Done | StepStatus::Skipped);
    let done = plan.steps.iter().filter(settled).count();
    Output::ok(format!("{done} of {} steps done.", plan.steps.len()), fields)
}

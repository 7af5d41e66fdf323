"""judge.py FILE

Reads requests, one a line as {"wire": ..., "body": ...}, and checks each body by the types of the provider's own Python
library, made strict: a key that the types don't have is a fault, as a missing one is. Prints each fault, shortened, and
exits with 1 if there is one. Nothing is sent anywhere.
"""

import importlib
import inspect
import json
import pkgutil
import sys

import anthropic.types
import openai.types
import typing_extensions
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types as gemini
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import ConfigDict, TypeAdapter, ValidationError

SHOWN = 12
# The types of these libraries are TypedDicts, which let unknown keys pass unless they are told not to.
STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def make_strict(package):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:
            continue  # It wants a library that is optional.
        for _, kind in inspect.getmembers(loaded, inspect.isclass):
            if typing_extensions.is_typeddict(kind):
                kind.__pydantic_config__ = STRICT


def drain(value):
    """Walks into everything: a list that is typed Iterable is checked only while it is read."""
    if isinstance(value, dict):
        for inner in value.values():
            drain(inner)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for inner in value:
            drain(inner)


def by_type(kind):
    adapter = TypeAdapter(kind)
    return lambda body: drain(adapter.validate_python(body))


GEMINI = {
    "contents": TypeAdapter(list[gemini.Content]),
    "systemInstruction": TypeAdapter(gemini.Content),
    "tools": TypeAdapter(list[gemini.Tool]),
    "toolConfig": TypeAdapter(gemini.ToolConfig),
    "generationConfig": TypeAdapter(gemini.GenerationConfig),
}


def judge_gemini(body):
    for name, value in body.items():
        if name not in GEMINI:
            raise ValueError(f"no such field: {name}")
        GEMINI[name].validate_json(json.dumps(value))


def judge_responses(judge):
    """The types of input items are those of answers, with what only the service gives; it takes them back without."""

    def judged(body):
        for place, item in enumerate(body["input"]):
            if item.get("type") == "reasoning":
                item.setdefault("id", f"rs_{place}")
            elif item.get("type") == "message" and item.get("role") == "assistant":
                item.setdefault("id", f"msg_{place}")
                item.setdefault("status", "completed")
                for part in item["content"]:
                    part.setdefault("annotations", [])
        judge(body)

    return judged


def told(problem):
    if not isinstance(problem, ValidationError):
        return str(problem)
    places = [(".".join(map(str, error["loc"])), error["msg"], str(error["input"])[:80]) for error in problem.errors()]
    return "\n".join(f"  {place[-160:]}: {message}: {value}" for place, message, value in places[:SHOWN])


def main():
    make_strict(openai.types)
    make_strict(anthropic.types)
    judges = {
        "OpenAi": by_type(CompletionCreateParamsStreaming),
        "Responses": judge_responses(by_type(ResponseCreateParamsStreaming)),
        "Anthropic": by_type(MessageCreateParamsStreaming),
        "Gemini": judge_gemini,
    }
    judged = dict.fromkeys(judges, 0)
    faults = 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            request = json.loads(line)
            judged[request["wire"]] += 1
            try:
                judges[request["wire"]](request["body"])
            except ValueError as problem:
                faults += 1
                if faults <= SHOWN:
                    print(f"{request['wire']}:\n{told(problem)}\n")
    print(f"judged {judged}, faults: {faults}")
    return 1 if faults or 0 in judged.values() else 0


if __name__ == "__main__":
    sys.exit(main())

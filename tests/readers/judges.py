"""Answers of judges as four tools write them: three outputs, and who called each right.

The people ana and ben and the model m say, output by output::

    ana  yes  no  yes
    ben  yes  no  no
    m    yes  yes no
"""

import json
from zipfile import ZipFile

SAID = {
    "ana": (True, False, True),
    "ben": (True, False, False),
    "m": (True, True, False),
}
TIME = "2026-09-02T09:05:00.000Z"


def mlflow_traces(folder):
    path = folder / "traces.json"
    path.write_text(json.dumps([_trace(number) for number in range(3)]))
    return path


def _trace(number):
    said = [
        {
            "assessment_id": f"a-{number}-{name}",
            "assessment_name": "correct",
            "trace_id": f"tr-{number}",
            "source": {"source_type": "LLM_JUDGE" if name == "m" else "HUMAN", "source_id": name},
            "feedback": {"value": answers[number]},
            "create_time": TIME,
            "last_update_time": TIME,
        }
        for name, answers in SAID.items()
    ]
    known = {
        "assessment_name": "correct",
        "source": {"source_type": "HUMAN", "source_id": "lead"},
        "expectation": {"value": True},
        "create_time": TIME,
    }
    return {"info": {"trace_id": f"tr-{number}", "state": "OK", "assessments": [*said, known]}}


def mlflow_tables(folder):
    """One table for each judge. Its artifact has this form."""
    tables = folder / "tables"
    tables.mkdir()
    columns = ["request_id", "inputs", "outputs", "correct/v1/score", "correct/v1/justification"]
    for name, answers in SAID.items():
        data = [[f"r{n}", "?", "!", int(answer), "since"] for n, answer in enumerate(answers)]
        (tables / f"{name}.json").write_text(json.dumps({"columns": columns, "data": data}))
    return tables


def langfuse(folder):
    path = folder / "scores.json"
    scores = [_score(name, number) for name in SAID for number in range(3)]
    path.write_text(json.dumps({"data": scores, "meta": {"page": 1, "totalPages": 1}}))
    return path


def _score(name, number):
    answer = SAID[name][number]
    return {
        "id": f"s-{name}-{number}",
        "traceId": f"t{number}",
        "observationId": None,
        "name": "correct",
        "source": "EVAL" if name == "m" else "ANNOTATION",
        "authorUserId": None if name == "m" else name,
        "dataType": "BOOLEAN",
        "value": int(answer),
        "stringValue": str(answer),
        "timestamp": TIME,
        "createdAt": TIME,
        "updatedAt": TIME,
        "comment": None,
    }


def langfuse_export(folder):
    """A scheduled export has other names of the same fields, a score a line."""
    names = {
        "traceId": "trace_id",
        "observationId": "observation_id",
        "authorUserId": "author_user_id",
        "dataType": "data_type",
        "stringValue": "string_value",
        "createdAt": "created_at",
        "updatedAt": "updated_at",
    }
    scores = [_score(name, number) for name in SAID for number in range(3)]
    renamed = [{names.get(key, key): value for key, value in each.items()} for each in scores]
    path = folder / "scores.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in renamed))
    return path


LOG = {
    "version": 2,
    "status": "success",
    "eval": {"run_id": "r", "created": TIME, "task": "facts", "model": "mock/model"},
}


def _samples():
    return [
        {
            "id": number,
            "epoch": 1,
            "input": f"question {number}",
            "target": "yes",
            "scores": {
                name: {"value": "C" if answers[number] else "I", "explanation": "since"}
                for name, answers in SAID.items()
            },
            "metadata": {"topic": "law"},
        }
        for number in range(3)
    ]


def inspect_json(folder):
    path = folder / "log.json"
    path.write_text(json.dumps({**LOG, "samples": _samples()}))
    return path


def inspect_eval(folder):
    path = folder / "log.eval"
    with ZipFile(path, "w") as packed:
        packed.writestr("header.json", json.dumps(LOG))
        packed.writestr("_journal/start.json", json.dumps(LOG))
        for each in _samples():
            packed.writestr(f"samples/{each['id']}_epoch_1.json", json.dumps(each))
    return path


def promptfoo(folder):
    path = folder / "results.json"
    results = [
        {
            "testIdx": number,
            "promptIdx": 0,
            "provider": {"id": "openai:chat:x", "label": "x"},
            "vars": {"question": f"question {number}"},
            "response": {"output": "!"},
            "success": True,
            "gradingResult": {
                "pass": True,
                "score": 1,
                "reason": "All assertions passed",
                "componentResults": [
                    {
                        "pass": answers[number],
                        "score": int(answers[number]),
                        "reason": "since",
                        "assertion": {"type": "llm-rubric", "metric": name, "value": "right?"},
                    }
                    for name, answers in SAID.items()
                ],
            },
        }
        for number in range(3)
    ]
    said = {"version": 3, "timestamp": TIME, "prompts": [], "results": results, "stats": {}}
    path.write_text(json.dumps({"evalId": "eval-x", "results": said, "config": {}}))
    return path

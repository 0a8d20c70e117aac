#!/usr/bin/env python3
"""Turns a file of dialogues into append bodies, one a line, for `throughline import`.

One input line is one finished turn: person, channel_kind, channel_scope, n (its number within the
scope), timestamp_ms, user_message, assistant_answer, and anything else, which becomes metadata.

Each person is named by one reference of kind `custom`, so that what they said on five channels is one
user's: telling from the channels alone that they are one person is another feature. The key of a turn is
`channel_scope:n`, so that importing one output twice stores nothing twice. An output that is made anew with
--shift-to-now has other times under the same keys, and the service refuses that as another turn.

    tests/dialogues_to_appends.py dialogues.jsonl --shift-to-now > appends.jsonl
"""

import argparse
import json
import sys
import time

USED = {"person", "channel_kind", "channel_scope", "n", "timestamp_ms", "user_message", "assistant_answer"}


def append_body(turn, shift_ms):
    body = {
        "client_message_id": f"{turn['channel_scope']}:{turn['n']}",
        "ref": {"kind": "custom", "id": turn["person"]},
        "channel_kind": turn["channel_kind"],
        "channel_scope": turn["channel_scope"],
        "turn": {
            "user_message": turn["user_message"],
            "assistant_answer": turn["assistant_answer"],
            "timestamp_ms": turn["timestamp_ms"] + shift_ms,
        },
    }
    rest = {name: value for name, value in turn.items() if name not in USED}
    if rest:
        body["metadata"] = rest
    return body


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="JSON lines, or - for standard input")
    parser.add_argument(
        "--shift-to-now",
        action="store_true",
        help="move all times by one distance, so that the last turn is now: the service takes no turn "
        "as older than 30 days",
    )
    parser.add_argument("--now", type=int, metavar="MS", help="what now is, in epoch milliseconds")
    options = parser.parse_args()

    source = sys.stdin if options.file == "-" else open(options.file, encoding="utf-8")
    with source:
        turns = [json.loads(line) for line in source if line.strip()]
    # The sort is stable: turns of one moment stay in the file's order.
    turns.sort(key=lambda turn: turn["timestamp_ms"])
    shift_ms = 0
    if options.shift_to_now and turns:
        now = options.now if options.now is not None else time.time_ns() // 1_000_000
        shift_ms = now - turns[-1]["timestamp_ms"]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for turn in turns:
        sys.stdout.write(json.dumps(append_body(turn, shift_ms), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

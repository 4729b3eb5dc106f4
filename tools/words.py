#!/usr/bin/env python3
"""Checks the words of what people read: help, messages, README and docs, and the comments of src.

    words.py [FILE...]      checks the tree, or these files of it

Names that are an API are exempt: text in backticks, options (--one-way), names with an underscore, files of C, text in
quotes inside of a message, JSON shapes. So are names of tests: text in quotes behind a file in backticks. docs/decisions
is left out: a decision page keeps the words of its day.
"""
import os
import re
import subprocess
import sys

# (pattern, term to use instead). Patterns are matched without regard to case, at word boundaries.
TERMS = [
    (r"nobody|nobody's|no one|somebody|somebody's|someone|whoever|whomever", "name the node, role or person"),
    (r"one's|oneself", "your, its"),
    (r"(known )?flaws?", "vulnerability, advisory, CVE"),
    (r"ways? back", "rollback, revert"),
    (r"(go|goes|went|gone|going) back(?! to (sleep|the beginning))", "roll back, revert, return"),
    (r"(take|takes|took|taken|taking) (it |them |that |this |one )?back", "roll back, withdraw, revoke"),
    (r"(leave|leaves|left|leaving|out of|into) use", "drain, drained, out of service"),
    (r"(?<!already )in use", "in service"),
    (r"under way", "in progress"),
    (r"(is|are|was|were|be) over(?! \d)", "finished, ended"),
    (r"begun|begins?|began", "start, started"),
    (r"lets? (it |them |that )?go|letting go", "end (a hold), close (an alarm), return as is (a node)"),
    (r"(wait|waits|waited|waiting) for room", "waits for a slot (limit: N)"),
    (r"(?<!revert: )(?<!-)one-way", "irreversible"),
    (r"(turn|turns|turned) (late|lost)", "became late, was marked lost"),
    (r"stands?(?! by| for)|standing(?! by)|stood", "status, is"),
    (r"judges?|judged|judging|judgements?", "evaluate, conformance result, verdict"),
    (r"told|said", "reported, returned, notified"),
    (r"(look|looks|looked|looking)(?! (\w+ )?up)", "poll, read, inspect"),
    (r"vouch\w*", "sign, verify, approve"),
    (r"put right|mend|mends|mended", "repair, remediate"),
    (r"sick", "unhealthy"),
    (r"needs? hands|no hands", "manual intervention needed"),
    (r"the other side|pair's side", "redundant peer"),
    (r"what is around|bits that are news|a paper for", "see the list of terms"),
    (r"(no|make|makes|made|more|enough) room|room for", "capacity"),
    (r"(?<!power )(shelf|shelves)|desk|teller|drafter", "registry store, authorisation, ticket notifier, change drafter"),
]
OPENINGS = r"What|Who|Whoever|One|It|Of|That it"
# Comments are about code, where "begin", "held" or "look" have plain meanings: only what is never right.
NEVER = r"nobody|one's|flaws|back|into\) use|under way|letting go|late\|lost|vouch|sick|needs\? hands|pair's|bits that|teller"
COMMENT_TERMS = [t for t in TERMS if re.search(NEVER, t[0])]

# Every exception: (file, text, reason). A hit is exempt if both patterns are found, the text around the hit.
EXCEPTIONS = [
    (r"src/", r"needs hands", "a state's name: it leaves the program"),
    (r"src/drivers/store/", r"BEGIN I", "SQL"),
    (r"src/cli/top/panes.c", r"\{(judged|state=begun)\}", "members of answers"),
    (r"src/cli/output/format.c", r"judgements\.component", "a member of answers"),
]

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
RUN = re.compile(LITERAL + r"(?:(?:[ \t]*\\?\n[ \t]*|[ \t]+)" + LITERAL + r")*")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def markdown(text):
    """(line, sentence-like text) of prose: no code, no link targets."""
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`|`[^`]*`", lambda m: "`" + re.sub(r"[^\n]", "x", m.group(0))[2:] + "`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r'`((?:\s"[^"\n]*")+)', lambda m: "`" + blank(m), text)
    block, start, code, bare = [], 0, False, True
    for number, line in enumerate(text.split("\n") + [""], 1):
        code = line.startswith("    ") and (bare or code)
        bare = not line.strip()
        new = bare or code or re.match(r"\s*([-*|#]|\d+\. )", line)
        if new and block:
            yield start, " ".join(block)
            block = []
        if bare or code:
            continue
        if line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                yield number, cell.strip()
            continue
        if not block:
            start = number
        block.append(re.sub(r"^\s*([-*]|\d+\.|#+)\s+", "", line).strip())


def strings(text):
    """(line, text) of the messages of a C file: literals of two words or more that are not JSON shapes."""
    text = COMMENT.sub(blank, text)
    for match in RUN.finditer(text):
        joined = "".join(part[1:-1] for part in re.findall(LITERAL, match.group(0)))
        joined = joined.replace("\\n", " ").replace('\\"', "'")
        if len(joined.split()) < 2 or re.search(r"[\[{]\w+[?,:]|\w\?[,:}]", joined):
            continue
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"'[^' ]*'|`[^` ]*`", "x", joined)


def comments(text):
    for match in COMMENT.finditer(text):
        joined = re.sub(r"\s*\n\s*\*?\s*", " ", match.group(0)[2:-2])
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"`[^`]*`", "`x`", joined)


def hits(text, terms, openings):
    text = re.sub(r"--[a-z][a-z-]*|\b\w+_\w+\b|\b[\w/*]+\.[ch]\b", "x", text)
    for pattern, instead in terms:
        for match in re.finditer(r"(?<![\w-])(?:%s)(?![\w-])" % pattern, text, re.I):
            yield match.group(0), instead, text[max(0, match.start() - 60) : match.end() + 60]
    if openings:
        for match in re.finditer(r"(?:^|[.!?] )[\"(*\[]*(%s)\b(?!['-])" % OPENINGS, text):
            yield match.group(1) + " ...", "name the subject", text[match.start() : match.end() + 60]


def tree():
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md", "src/*.c", "src/*.h"],
        stdout=subprocess.PIPE, text=True, check=False,
    )
    return [path for path in done.stdout.split() if os.path.exists(path)]


def parts(path):
    """(line, text, terms, whether openings count) of all that is checked in a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        if not re.match(r"docs/.*/|tests/", path):
            yield from ((line, part, TERMS, True) for line, part in markdown(text))
        return
    yield from ((line, part, TERMS, True) for line, part in strings(text))
    yield from ((line, part, COMMENT_TERMS, False) for line, part in comments(text))


def main():
    files = [a for a in sys.argv[1:] if not a.startswith("-")]
    found, checked = 0, 0
    for path in files or tree():
        checked += 1
        for line, part, terms, openings in parts(path):
            for word, instead, around in hits(part, terms, openings):
                if any(re.match(f, path) and re.search(t, around) for f, t, _ in EXCEPTIONS):
                    continue
                found += 1
                print(f"{path}:{line}: '{word}': {instead}: ...{around.strip()}...")
    if checked == 0:
        print("git lists no files here")
        found = 1
    print(f"{checked} files checked, {found} hits of words")
    sys.exit(found > 0)


main()

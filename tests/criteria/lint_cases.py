"""One mistake each: what an author wrote, and what the lint has to say about it."""

from __future__ import annotations

from typing import Any

from tests.criteria.writing import rule, rules


def check(text: str) -> str:
    return rules(rule(check=text))


# What is reported stands as it is printed, without the file's name; "..." leaves the rest open.
ERRORS: dict[str, tuple[str, str]] = {
    "an empty file": ("", "the file is empty (it needs a mapping with `rules`)"),
    "a list": ("- a\n", "1:1: the file must be a mapping with keys such as `rules`"),
    "tabs": (
        "rules:\n\t- id: a\n",
        (
            "2:1: this is not valid YAML: found character that cannot start any token "
            "(indent with spaces, not with tabs)"
        ),
    ),
    "a colon in a text": (
        "name: a: b\n",
        (
            "1:8: this is not valid YAML: mapping values are not allowed in this context "
            '(put a text that holds ": " in quotes, and look at the indentation)'
        ),
    ),
    "an unclosed quote": (
        "name: 'a\n",
        (
            "2:1: this is not valid YAML: found unexpected end of stream while scanning a "
            "quoted scalar that starts in line 1 (close the quotes)"
        ),
    ),
    "an escape": (
        'name: "\\d"\n',
        (
            "1:8: this is not valid YAML: found unknown escape character (put the text in "
            "single quotes, where a backslash stands for itself)"
        ),
    ),
    "a tag": (
        "name: !!str 17\n",
        "1:7: the tag !!str is not supported (remove the tag: write '17')",
    ),
    "a tag of a list": (
        "rules: !!seq []\n",
        "1:8: the tag !!seq is not supported (remove the tag)",
    ),
    "a text that starts like a tag": (
        "name: !important a\n",
        "1:7: the tag !important is not supported (put a text that starts with ! in quotes)",
    ),
    "an alias": (
        "name: *a\n",
        "1:7: alias *a has no anchor before it (put a text that starts with * in quotes)",
    ),
    "a star": (
        rules(rule(check="{type: content, search: *a}")),
        "5:36: alias *a has no anchor before it (put a text that starts with * in quotes)",
    ),
    "a key twice": (
        "name: a\nname: b\n",
        "2:1: 'name' is given twice, first in line 1 (remove one of the two)",
    ),
    "a merge key": ("<<: {}\nname: b\n", "1:1: merge keys are not supported (write the keys out)"),
    "a second document": (
        "name: a\n---\nname: b\n",
        "2:1: a second document starts here (keep one document per file)",
    ),
    "a key of the file": (
        "nmae: a\n" + rules(),
        "1:1: a template has no key 'nmae' (did you mean name?)",
    ),
    "a name": (
        "name: a b/c\n" + rules(),
        (
            "1:7: the name 'a b/c' cannot be used (letters, digits, dots, hyphens and "
            "underscores, at most 100)"
        ),
    ),
    "a version": (
        "version: '2'\n" + rules(),
        "1:10: version must be a whole number, not the text '2' (write it without quotes)",
    ),
    "an unknown template": (
        "extends: documentaton\n" + rules(),
        "1:10: there are no criteria 'documentaton'; ...",
    ),
    "a loop of files": (
        "extends: page.yaml\n" + rules(),
        "1:10: these files extend one another without end: page.yaml -> page.yaml",
    ),
    "a phase": (
        "phases: {C: {threshold: 0.5}}\n" + rules(),
        "1:10: there is no phase 'C' (known: A, B)",
    ),
    "a bare threshold": (
        "phases: {A: 0.5}\n" + rules(),
        "1:13: phase A must be a mapping, not the number 0.5 (A: {threshold: 0.8})",
    ),
    "a key of a phase": (
        "phases: {A: {treshold: 0.5}}\n" + rules(),
        "1:14: phase A has no key 'treshold' (did you mean threshold?)",
    ),
    "a threshold": (
        "phases: {A: {threshold: 80}}\n" + rules(),
        "1:25: threshold must lie between 0 and 1 (for 80 % write 0.8)",
    ),
    "a threshold in quotes": (
        "phases: {A: {threshold: '0.8'}}\n" + rules(),
        "1:25: threshold must be a number, not the text '0.8' (write it without quotes)",
    ),
    "NaN": (
        "phases: {A: {threshold: .nan}}\n" + rules(),
        "1:25: threshold must be a finite number >= 0",
    ),
    "active levels": (
        "phases: {A: {active_levels: [A, B]}}\n" + rules(),
        "1:29: active_levels of phase A must be [A]",
    ),
    "a variable's name": (
        "vars: {min-words: 1}\n" + rules(),
        "1:8: 'min-words' cannot name a variable (letters, digits and underscores)",
    ),
    "variables that differ in case": (
        "vars: {a: 1, A: 2}\n" + rules(),
        "1:14: the variables 'a' and 'A' differ in case only",
    ),
    "a command without argv": (
        "commands: {lint: mdl}\n" + rules(),
        "1:18: command lint must be a mapping with argv, not the text 'mdl'",
    ),
    "an argument that is not declared": (
        "commands: {lint: {argv: [mdl, '{file}']}}\n" + rules(),
        "1:31: command lint uses {file}, no argument of it (declare it under args)",
    ),
    "a drop": (
        "extends: base\ndrop: [a.correctness.artifact-empty]\n" + rules(),
        (
            "2:8: drop: no inherited rule is called 'a.correctness.artifact-empty' (did "
            "you mean a.correctness.artifact-non-empty?)"
        ),
    ),
    "no rules": (
        "name: a\n",
        "there are no rules (give rules, or a template under extends or criteria)",
    ),
    "rules that are a mapping": ("rules: {a.b.c: 1}\n", "1:8: rules must be a list, not a mapping"),
    "a rule that is a text": (
        "rules: [a.b.c]\n",
        "1:9: a rule must be a mapping, not the text 'a.b.c' (a rule starts with - id: ...)",
    ),
    "no id": ("rules:\n  - description: x\n", "2:5: a rule needs an id"),
    "capitals in an id": (
        rules(rule("a.Docs.title")),
        (
            "2:9: 'a.Docs.title' is not an id: lower case, parts joined by dots, hyphens "
            "inside a part (did you mean a.docs.title?)"
        ),
    ),
    "an underscore in an id": (
        rules(rule("a.docs.my_title")),
        (
            "2:9: 'a.docs.my_title' is not an id: lower case, parts joined by dots, "
            "hyphens inside a part (did you mean a.docs.my-title?)"
        ),
    ),
    "a letter of another script": (
        rules(rule("a.docs.titlе")),
        (
            "2:9: the id 'a.docs.titlе' holds U+0435 (CYRILLIC SMALL LETTER IE) (ids look "
            "like <a|b>.<category>.<name>)"
        ),
    ),
    "an id of one word": (
        rules(rule("title")),
        (
            "2:9: 'title' is not an id: lower case, parts joined by dots, hyphens inside a "
            "part (ids look like <a|b>.<category>.<name>)"
        ),
    ),
    "an id that is a number": (
        "rules:\n  - id: 1.5\n    description: x\n    severity: fail\n",
        "2:9: id must be a text, not the number 1.5 (put it in quotes)",
    ),
    "an id twice": (
        rules(rule(), rule()),
        (
            "6:9: the id 'a.docs.title' is given twice, first in line 2 (rename or remove "
            "one of the two)"
        ),
    ),
    "an id without a phase": (
        rules(rule("docs.title")),
        (
            "2:5: rule docs.title: phase is missing, and the id does not say it (give "
            "phase: A or B, or an id of three parts that starts with a. or b.)"
        ),
    ),
    "a phase against the id": (
        rules(rule(phase="B")),
        (
            "6:12: rule a.docs.title: phase B contradicts the id, which starts with a. "
            "(change one of the two)"
        ),
    ),
    "a near miss of an inherited id": (
        "extends: base\nrules:\n  - {id: a.correctness.artifact-not-empty, severity: warn}\n",
        (
            "3:5: rule a.correctness.artifact-not-empty: no inherited rule is called so, "
            "and description is missing (did you mean a.correctness.artifact-non-empty?)"
        ),
    ),
    "a key of a rule": (
        rules(rule(wieght=2)),
        "6:5: rule a.docs.title: a rule has no key 'wieght' (did you mean weight?)",
    ),
    "no description": (
        rules(rule(description=None)),
        "2:5: rule a.docs.title: description is missing (one line that says what must hold)",
    ),
    "no severity": (
        rules(rule(severity=None)),
        "2:5: rule a.docs.title: severity is missing (fail, warn or info)",
    ),
    "a severity": (
        rules(rule(severity="critical")),
        (
            "4:15: rule a.docs.title: severity must be one of fail, warn, info, error, "
            "warning, not the text 'critical' (did you mean fail?)"
        ),
    ),
    "a weight below 0": (rules(rule(weight=-1)), "6:13: rule a.docs.title: weight is below 0"),
    "a weight in quotes": (
        rules(rule(weight="'2'")),
        (
            "6:13: rule a.docs.title: weight must be a number, not the text '2' (write it "
            "without quotes)"
        ),
    ),
    "a weight that is infinite": (
        rules(rule(weight=".inf")),
        "6:13: rule a.docs.title: weight must be a finite number >= 0",
    ),
    "a weight that is infinite, in quotes": (
        rules(rule(weight="'.inf'")),
        "6:13: rule a.docs.title: weight must be a number, not the text '.inf'",
    ),
    "a weight with an underscore": (
        rules(rule(weight="1_000")),
        "6:13: rule a.docs.title: weight must be a number, not the text '1_000' (write 1000)",
    ),
    "a weight that is a fraction": (
        rules(rule(weight="1/3")),
        "6:13: rule a.docs.title: weight must be a number, not the text '1/3' (write 0.333)",
    ),
    "a weight that is a word": (
        rules(rule(weight="heavy")),
        "6:13: rule a.docs.title: weight must be a number, not the text 'heavy'",
    ),
    "a threshold in percent": (
        "phases: {A: {threshold: 80%}}\n" + rules(),
        "1:25: threshold must be a number, not the text '80%' (write 0.8)",
    ),
    "NaN as a text": (
        rules(rule(hint=".nan")),
        "6:11: '.nan' is not a finite number (put it in quotes if it is meant as text)",
    ),
    "checks that are empty": (
        rules(rule(check="[]")),
        "5:12: rule a.docs.title: check is an empty list",
    ),
    "check and checks": (
        rules(rule(checks="[{type: content, search: x}]")),
        "6:5: rule a.docs.title: check and checks both give checks",
    ),
    "a check that is a number": (
        rules(rule(check="5")),
        "5:12: rule a.docs.title: check must be a text, not the number 5 (put it in quotes)",
    ),
    "a check without a type": (
        check("{search: x}"),
        "5:12: rule a.docs.title: the check has no type (one of content, executable...",
    ),
    "alternatives that are a mapping": (
        check("{any_of: {type: content, search: x}}"),
        (
            "5:21: rule a.docs.title: any_of must be a list of checks, not a mapping (any_of: "
            "[{...}, {...}])"
        ),
    ),
    "a slip for any_of": (
        check("{anyof: [{type: content, search: x}]}"),
        "5:13: rule a.docs.title: the check has no type, but 'anyof' (did you mean any_of?)",
    ),
    "a slip for type": (
        check("{tpye: content, search: x}"),
        "5:13: rule a.docs.title: the check has no type, but 'tpye' (did you mean type?)",
    ),
    "a type": (
        check("{type: contents, search: x}"),
        "5:19: rule a.docs.title: unknown check type 'contents' (did you mean content?)",
    ),
    "a key of a check": (
        check("{type: content, serach: x}"),
        (
            "5:28: rule a.docs.title: 'serach' is not a key of a check of type content (did "
            "you mean search?)"
        ),
    ),
    "a pattern": (
        check("{type: content, search: '(x'}"),
        (
            "5:36: rule a.docs.title: search is not a valid pattern: missing ), unterminated "
            "subpattern at position 0: (x (to search for a text as it stands, add literal: "
            "true)"
        ),
    ),
    "braces that YAML takes": (
        check("{type: content, search: {id}}"),
        (
            "5:36: rule a.docs.title: search must be a non-empty string, not {id} "
            "(unquoted braces are a mapping in YAML: put the text in quotes)"
        ),
    ),
    "a number as a pattern": (
        check("{type: content, search: 404}"),
        "5:36: rule a.docs.title: search must be a non-empty string, not 404 (put it in quotes)",
    ),
    "a comment in a pattern": (
        rules(rule(check="\n      type: content\n      search: x #y")),
        (
            "7:15: search is unquoted and ends before `#y`: `#` starts a comment (put the "
            "whole value in quotes, or the comment on a line of its own)"
        ),
    ),
    "a backspace": (
        check('{type: content, search: "\\bx"}'),
        (
            "5:36: rule a.docs.title: search holds the control character U+0008 (in double "
            "quotes \\b means that character: use single quotes)"
        ),
    ),
    "counts that contradict": (
        check("{type: content, search: x, min_count: 3, max_count: 1}"),
        "5:50: rule a.docs.title: min_count is 3, more than max_count, which is 1",
    ),
    "a count of nothing": (
        check("{type: content, search: x, min_count: 0}"),
        "5:50: rule a.docs.title: min_count 0 holds for every text, so that the check cannot fail",
    ),
    "negate with a count": (
        check("{type: content, search: x, negate: true, min_count: 2}"),
        (
            "5:47: rule a.docs.title: negate cannot be combined with min_count and max_count "
            "(negate means that it is not there at all)"
        ),
    ),
    "a flag that is a text": (
        check("{type: content, search: x, negate: yes}"),
        "5:47: rule a.docs.title: negate must be true or false, not 'yes' (write true)",
    ),
    "a flag that is a list": (
        check("{type: content, search: x, negate: []}"),
        "5:47: rule a.docs.title: negate must be true or false, not []",
    ),
    "a timeout of 0": (
        check("{type: executable, command: x, timeout: 0}"),
        (
            "5:52: rule a.docs.title: timeout must be a number of seconds above 0, at most "
            "86400, not 0"
        ),
    ),
    "no command": (
        check("{type: executable, expect_exit: 1}"),
        "5:12: rule a.docs.title: a check of type executable needs the key 'command'",
    ),
    "a shell for a list": (
        check("{type: executable, command: [ls], shell: bash}"),
        (
            "5:53: rule a.docs.title: shell goes with a command that is a text, not a list "
            "(a list is run without a shell)"
        ),
    ),
    "two kinds of structure": (
        check("{type: structure, links: true, headings: {levels: true}}"),
        (
            "5:37: rule a.docs.title: a check of type structure has one of its keys, not "
            "both links and headings (make a list of two checks of them)"
        ),
    ),
    "no kind of structure": (
        check("{type: structure, heading: {levels: true}}"),
        (
            "5:39: rule a.docs.title: a check of type structure has none of its keys, but "
            "'heading' (did you mean headings?)"
        ),
    ),
    "a key inside a kind": (
        check("{type: structure, headings: {require: [A]}}"),
        (
            "5:41: rule a.docs.title: 'require' is not a key of a check of type structure "
            "(headings) (did you mean required?)"
        ),
    ),
    "a flag inside a kind": (
        check("{type: structure, links: {targets: yes}}"),
        "5:47: rule a.docs.title: links.targets must be true or false, not 'yes' (write true)",
    ),
    "a count inside a kind": (
        check("{type: structure, headings: {min_count: -1}}"),
        "5:52: rule a.docs.title: headings.min_count must be a whole number >= 0, not -1",
    ),
    "a pattern inside a kind": (
        check("{type: structure, headings: {required: ['/(/']}}"),
        "5:51: rule a.docs.title: headings.required is not a valid pattern: missing )...",
    ),
    "a list for a kind": (
        check("{type: structure, headings: [Errors]}"),
        (
            "5:40: rule a.docs.title: headings must be a table with keys of required, order, "
            "filled, leads, linked, used, installed, documented, single_title, front_matter, "
            "levels, unique, empty, min_count, not [Errors] (write headings: {required: "
            "[Errors]})"
        ),
    ),
    "a text for a kind, under a near word": (
        check("{type: structure, heading: Errors}"),
        (
            "5:39: rule a.docs.title: a check of type structure has none of its keys, but "
            "'heading' (did you mean headings: {required: Errors}?)"
        ),
    ),
    "a flag of code blocks": (
        check("{type: structure, code_blocks: {tagged: yes}}"),
        "5:52: rule a.docs.title: code_blocks.tagged must be true or false, not 'yes' (write true)",
    ),
    "an aspect of OpenAPI": (
        check("{type: structure, openapi: vaild}"),
        (
            "5:39: rule a.docs.title: openapi must be one of valid, operations, schemas, examples, "
            "errors, naming, pagination, auth, descriptions, not 'vaild' (did you mean valid?)"
        ),
    ),
    "a type of another language": (
        check("{type: structure, path: a, value_type: object}"),
        (
            "5:51: rule a.docs.title: value_type must be one of string, integer, number, boolean, "
            "list, map, null, not 'object' (did you mean map?)"
        ),
    ),
    "a type that is shortened": (
        check("{type: structure, path: a, value_type: int}"),
        (
            "5:51: rule a.docs.title: value_type must be one of string, integer, number, boolean, "
            "list, map, null, not 'int' (did you mean integer?)"
        ),
    ),
    "a boolean as a pattern": (
        check("{type: content, search: True}"),
        "5:36: rule a.docs.title: search must be a non-empty string, not True (put it in quotes)",
    ),
    "nothing as a pattern": (
        check("{type: content, search: ~}"),
        "5:36: rule a.docs.title: search must be a non-empty string, not ~ (put it in quotes)",
    ),
    "a number with a zero before it as a pattern": (
        check("{type: content, search: 017}"),
        "5:36: rule a.docs.title: search must be a non-empty string, not 017 (put it in quotes)",
    ),
    "a language that is a list": (
        check("{type: structure, code: {language: [python], pattern: x}}"),
        "5:47: rule a.docs.title: code.language must be one of bash, c, ...",
    ),
    "a selector that there is not": (
        check("{type: structure, code: {language: python, pattern: eval($$$), selector: nope}}"),
        "5:85: rule a.docs.title: code: selector: python has no node kind 'nope'",
    ),
    "a selector of something else": (
        check("{type: structure, code: {language: python, pattern: f(), selector: string}}"),
        "5:79: rule a.docs.title: code: selector: no node of kind 'string' is in f()",
    ),
    "a level of findings that there is not": (
        check("{type: findings, command: [x], format: sarif, max_findings: {errors: 3}}"),
        "5:73: rule a.docs.title: max_findings: 'errors' is not a level (did you mean error?)",
    ),
    "a number of findings": (
        check("{type: findings, command: [x], format: sarif, max_findings: {all: few}}"),
        "5:78: rule a.docs.title: max_findings.all must be a whole number >= 0, not 'few'",
    ),
    "a level that is given to findings": (
        check("{type: findings, command: [x], format: sarif, levels: {x: fatal}}"),
        (
            "5:70: rule a.docs.title: levels.x must be one of error, warning, note, ignore, "
            "not 'fatal'"
        ),
    ),
    "a field of findings": (
        check("{type: findings, command: [x], format: json, fields: {mesage: m}}"),
        "5:66: rule a.docs.title: fields: 'mesage' is not a field (did you mean message?)",
    ),
    "fields without a message": (
        check("{type: findings, command: [x], format: json, fields: {rule: r}}"),
        "5:65: rule a.docs.title: fields: there is no message (message: ...)",
    ),
    "a path of a field": (
        check("{type: findings, command: [x], format: json, fields: {message: 3}}"),
        "5:75: rule a.docs.title: fields.message must be a path, not 3",
    ),
    "a structure that asks nothing": (
        check("{type: structure, headings: {levels: false}}"),
        "5:40: rule a.docs.title: headings: it asks for nothing, so that it cannot fail",
    ),
    "a path": (
        check("{type: structure, path: 'a[', exists: true}"),
        "5:36: rule a.docs.title: path: column 2 of 'a[': expected [NUMBER] or [*]",
    ),
    "a variable that there is not": (
        check("{type: content, search: {var: word}}"),
        "5:42: there is no variable 'word' (declare it under vars)",
    ),
    "another rule's check": (
        check("{type: content, search: x, rule_id: a.b.c}"),
        "5:48: rule a.docs.title: the check belongs to this rule, but names the text 'a.b.c'",
    ),
    "a kind of fix": (
        rules(rule(fix="{insert_setion: {heading: '# T'}}")),
        (
            "6:11: rule a.docs.title: unknown kind of fix 'insert_setion' (did you mean "
            "insert_section?)"
        ),
    ),
    "two kinds of fix": (
        rules(rule(fix="{append: {text: x}, replace: {search: x, with: y}}")),
        (
            "6:10: rule a.docs.title: a fix needs exactly one kind, not append, replace "
            "(insert_section: {...})"
        ),
    ),
    "a parameter of a fix": (
        rules(rule(fix="{append: {txt: x}}")),
        "6:20: rule a.docs.title: append has no parameter 'txt' (did you mean text?)",
    ),
    "a kind of fix that stands alone": (
        rules(rule(fix="tag_fences")),
        (
            "6:10: rule a.docs.title: fix must be a mapping, or a list of them, not the text "
            "'tag_fences' (write fix: {tag_fences: {language: ...}})"
        ),
    ),
    "a slip for safe": (
        rules(rule(fix="{append: {text: x}, save: false}")),
        (
            "6:30: rule a.docs.title: a fix needs exactly one kind, not append, save (did you "
            "mean safe?)"
        ),
    ),
    "a kind of sample": (
        rules(rule(samples="{god: [x]}")),
        "6:15: rule a.docs.title: samples has no key 'god' (did you mean good?)",
    ),
    "samples that are a list": (
        rules(rule(samples="[x]")),
        "6:14: rule a.docs.title: samples must be a mapping, not a list",
    ),
    "nothing can fail": (
        rules(rule(severity="info")),
        (
            "no rule carries weight in phase A, and none is of severity fail (give a rule "
            "the severity fail, or a weight and a threshold above 0)"
        ),
    ),
    "artifacts in a template": (
        "name: a\nartifacts: [page.yaml]\n" + rules(),
        (
            "1:1: a suite has no key 'name' ('artifacts' (line 2) makes this a suite: remove it, "
            "or drop name and call the file x.reflex.yaml)"
        ),
    ),
    "a template that a suite extends": (
        "extends: base\nartifacts: [page.yaml]\n",
        (
            "1:1: a suite has no key 'extends' ('artifacts' (line 2) makes this a suite: remove "
            "it, or say criteria instead of extends and call the file x.reflex.yaml)"
        ),
    ),
    "artifacts that are not there": (
        "criteria: base\nartifacts: ['docs/*.md']\n",
        "2:13: 'docs/*.md' matches no artifact in {folder} (patterns start at the suite's folder)",
    ),
    "thresholds in a suite's phase": (
        "criteria: base\nartifacts: [page.yaml]\nphase: {A: {threshold: 1}}\n",
        "3:8: phase of a suite must be A or B (thresholds belong under phases)",
    ),
    "a suite's phase": (
        "criteria: base\nartifacts: [page.yaml]\nphase: C\n",
        "3:8: phase must be one of A, B, not the text 'C' (known: A, B)",
    ),
    "a phase without rules": (
        "criteria: {name: x}\nartifacts: [page.yaml]\nphase: A\n" + rules(rule("b.docs.title")),
        "3:8: the criteria have no rules in phase A (phase: B)",
    ),
}

FULL = {"why": "w", "hint": "h", "samples": '{good: ["# T"], bad: ["T"]}'}


def whole(rule_id: str = "a.docs.title", **keys: Any) -> str:
    """Return a rule that nothing is odd about, but for what `keys` say."""
    return rule(rule_id, **{**FULL, **keys})


def searching(text: str) -> str:
    return rules(whole(check=text))


def running(text: str) -> str:
    return rules(whole(check=f"{{type: executable, {text}}}"))


OTHER = whole("a.docs.other", description="Another", check="{type: content, search: other}")

# warning: (what was written, line and column, what is reported)
WARNINGS: dict[str, tuple[str, str, str]] = {
    "always-matches": (
        searching("{type: content, search: '\\d*'}"),
        "5:36",
        "'\\\\d*' matches every text, so that the check cannot fail",
    ),
    "never-matches": (
        searching("{type: content, search: 'a$b'}"),
        "5:36",
        "matches nowhere, so that the check can never pass: only a line break can come after $",
    ),
    "idle-dots": (
        searching("{type: content, search: '.*title'}"),
        "5:36",
        ".* at the beginning of '.*title' changes nothing",
    ),
    "loose-dot": (
        searching("{type: content, search: README.md}"),
        "5:36",
        "the dot in 'README.md' stands for any character",
    ),
    "edge-blanks": (
        searching("{type: content, search: ' title', literal: true}"),
        "5:36",
        "' title' is found with the blanks at its ends only",
    ),
    "slashes": (
        searching("{type: content, search: /title/i}"),
        "5:36",
        "the slashes of '/title/i' are part of the pattern",
    ),
    "two-backslashes": (
        searching("{type: content, search: 'v\\\\d+'}"),
        "5:36",
        "\\\\d is a backslash and a letter",
    ),
    "replaces-all": (
        rules(whole(fix="{replace: {search: '(?s).*', with: ''}}")),
        "9:29",
        "'(?s).*' takes whole texts, so that nothing is left of them",
    ),
    "no-samples": (rules(whole(samples=None)), "2:5", "nothing shows that it can pass and fail"),
    "one-sided-samples": (
        rules(whole(samples="{good: [x]}")),
        "8:14",
        "all samples are good: nothing shows that it can fail",
    ),
    "same-sample": (
        rules(whole(samples="{good: [x, y], bad: [y]}")),
        "8:14",
        "'y' is a good and a bad sample",
    ),
    "no-why": (rules(whole(why=None)), "3:18", "it does not say why: 'There is a title'"),
    "no-remedy": (rules(whole(hint=None)), "2:5", "it does not say how to fix it"),
    "prose-check": (
        rules(whole(check="It is kind", samples=None)),
        "5:12",
        "only an agent can check 'It is kind'",
    ),
    "judged-gate": (
        rules(whole(check="{type: judged, votes: 3}")),
        "5:12",
        "it blocks, and only an LLM judge grades it: two votes may differ",
    ),
    "no-check": (rules(whole(check=None, samples=None)), "2:5", "nothing checks this rule"),
    "weightless": (
        rules(whole(severity="warn", weight=0), OTHER),
        "9:13",
        "a warning of weight 0 changes neither score nor gate",
    ),
    "weighty-info": (
        rules(whole(severity="info", weight=1)),
        "9:13",
        "severity info is only reported, but its weight lowers the score",
    ),
    "overrides-nothing": (
        "extends: base\nrules:\n  - {id: a.correctness.artifact-non-empty, severity: fail}\n",
        "3:5",
        "it overrides an inherited rule, but gives severity as inherited",
    ),
    "placeholder": (rules(whole(why="TODO")), "6:10", "why still says 'TODO'"),
    "cannot-fail": (
        running("command: 'grep x \"$PYTEST_REFLEX_ARTIFACT\" || true'"),
        "5:40",
        "succeeds for every artifact",
    ),
    "ignores-artifact": (running("command: make"), "5:40", "'make' does not name the artifact"),
    "no-shell": (
        running("command: [grep, abc, $PYTEST_REFLEX_ARTIFACT]"),
        "5:40",
        "a list sees no shell: '$PYTEST_REFLEX_ARTIFACT' stays as it is",
    ),
    "broken-command": (
        running("command: 'if then \"$PYTEST_REFLEX_ARTIFACT\"'"),
        "5:40",
        "bash cannot read 'if then \"$PYTEST_REFLEX_ARTIFACT\"': syntax error near",
    ),
    "hidden-failure": (
        running("command: 'sort \"$PYTEST_REFLEX_ARTIFACT\" | head'"),
        "5:40",
        "only the last part of the pipe decides",
    ),
    "long-timeout": (
        running("command: [cat, $PYTEST_REFLEX_ARTIFACT], timeout: 900"),
        "5:81",
        "the command may take 900 seconds at each evaluation",
    ),
    "always-applies": (
        rules(whole(when="{file: '**'}")),
        "9:11",
        "'file **' holds for every artifact",
    ),
    "never-applies": (
        rules(whole(when="[{file: a.md}, {not: {file: a.md}}]")),
        "9:26",
        "'not file a.md' is the opposite of another condition",
    ),
    "decided-check": (
        rules(whole(when="{search: '^# '}")),
        "9:11",
        "a check asks for what 'search ^# ' has decided already: it can never fail",
    ),
    "never-found": (
        rules(whole(check="{type: content, search: a, files: '../a/*'}")),
        "5:46",
        "'../a/*' matches no file of a folder",
    ),
    "says-nothing": (rules(whole(fix="[]")), "9:5", "fix is empty"),
    "same-checks": (
        rules(whole(), whole("a.docs.twin", description="Twin")),
        "12:12",
        "it has the same checks as a.docs.title, so both count one failure",
    ),
    "same-description": (
        rules(OTHER, whole(description="another")),
        "10:18",
        "it has the same description as a.docs.other",
    ),
    "contradiction": (
        rules(OTHER, whole("a.docs.no", check="{type: content, search: other, negate: true}")),
        "12:12",
        "a.docs.other and it want the opposite of 'other'",
    ),
    "unused-variable": (
        "vars: {words: 3}\n" + rules(whole()),
        "1:8",
        "nothing uses the variable 'words'",
    ),
    "unused-command": (
        "commands: {lint: {argv: [mdl]}}\n" + rules(whole()),
        "1:1",
        "no rule needs an agent's checks, so that nothing calls these commands",
    ),
    "falling-threshold": (
        "phases: {B: {threshold: 0.5}}\n" + rules(whole()),
        "1:9",
        "the threshold of phase B is below that of phase A",
    ),
    "zero-threshold": (
        "phases: {A: {threshold: 0}}\n" + rules(whole()),
        "1:13",
        "with a threshold of 0 the score of phase A counts for nothing",
    ),
    "unreached-rules": (
        "criteria: base\nartifacts: [page.yaml]\nphase: A\n" + rules(whole("b.docs.title")),
        "5:5",
        "it is of phase B, and this suite stops at phase A",
    ),
}

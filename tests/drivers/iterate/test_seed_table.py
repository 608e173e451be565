"""Which test shows what seed 004 asks for: every row of it has one, and none of them is gone."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
EXAMPLES = "docs/reference/iteration-lines.md"

# The acceptance criteria, in their order.
CRITERIA = {
    "until max, Ctrl-C or threshold": (
        "test_seed::test_the_loop_executes_until_max_iterations",
        "test_seed::test_the_loop_executes_until_the_failure_threshold",
        "test_processes::test_ctrl_c_during_the_tool_ends_its_tree_and_is_resumed_counted_once",
    ),
    "a process of its own": ("test_seed::test_each_iteration_is_a_process_of_its_own",),
    "counter from 0, shown from 1": (
        "test_seed::test_the_counter_counts_from_0_inside_and_from_1_outside",
    ),
    "0 is unlimited": ("test_seed::test_max_iterations_of_0_means_unlimited",),
    "default of the limit": (
        "test_seed::test_max_iterations_defaults_to_the_procedure_then_the_configuration",
        "test_bounds::test_a_procedure_counts_before_the_setting_and_a_flag_before_both",
    ),
    "progress": ("test_seed::test_progress_is_displayed_between_iterations",),
    "exit status": ("test_seed::test_the_exit_status_is_captured_and_checked",),
    "threshold": ("test_seed::test_the_failure_threshold_can_be_configured",),
    "one success resets": ("test_seed::test_a_single_failure_is_forgotten_by_the_next_success",),
    "state after each": ("test_seed::test_the_state_is_persisted_after_each_iteration",),
    "resume after Ctrl-C, crash, reboot": (
        "test_seed::test_resume_continues_from_the_persisted_state",
        "test_processes::test_b113_a_run_killed_hard_is_resumed_with_nothing_counted_twice",
    ),
    "dry run": ("test_seed::test_a_dry_run_displays_the_prompt_and_runs_nothing",),
    "token budget": ("test_seed::test_a_prompt_over_the_token_budget_is_warned_of_and_piped",),
    "structured log": ("test_seed::test_structured_logging_has_timing_phase_number_and_outcome",),
    "graceful shutdown": ("test_seed::test_sigint_and_sigterm_shut_down_gracefully",),
    "quality gates": ("test_seed::test_quality_gates_run_after_the_tool_and_count_as_failures",),
}
# The table of edge cases, in its order.
EDGE_CASES = {
    "limit 0": (
        "test_seed::test_max_iterations_of_0_means_unlimited",
        "test_decide::test_max_iterations_0_is_no_limit",
    ),
    "limit 1": ("test_seed::test_max_iterations_1_is_a_single_iteration",),
    "Ctrl-C during the tool": (
        "test_processes::test_ctrl_c_during_the_tool_ends_its_tree_and_is_resumed_counted_once",
    ),
    "Ctrl-C between iterations": (
        "test_driver::test_ctrl_c_between_iterations_leaves_the_state_of_the_last_one",
    ),
    "tool exits non-zero": ("test_decide::test_a_nonzero_exit_counts_and_the_loop_goes_on",),
    "3 failures in a row": (
        "test_decide::test_3_consecutive_failures_abort",
        "test_seed::test_the_loop_executes_until_the_failure_threshold",
    ),
    "success after 2 failures": ("test_decide::test_success_after_2_failures_resets_the_count",),
    "state file: running": (
        "test_processes::test_a_state_file_with_running_and_a_live_owner_is_refused",
    ),
    "state file: interrupted": (
        "test_seed::test_a_state_file_with_interrupted_is_not_begun_anew",
        "test_processes::test_the_interrupted_state_is_offered_on_a_terminal",
    ),
    "resume after 5 of 10": ("test_seed::test_resume_after_iteration_5_of_10_goes_on_with_6",),
    "prompt over the budget": (
        "test_seed::test_a_prompt_over_the_token_budget_is_warned_of_and_piped",
    ),
    "dry run": ("test_seed::test_a_dry_run_displays_the_prompt_and_runs_nothing",),
    "quality gate fails": (
        "test_decide::test_a_failed_quality_gate_counts_once",
        "test_seed::test_quality_gates_run_after_the_tool_and_count_as_failures",
    ),
    "no quality gates": ("test_outcome::test_without_quality_gates_the_answer_alone_decides",),
    "state file corrupted": (
        "test_seed::test_a_state_file_corrupted_is_kept_aside_and_begun_anew",
    ),
    "disk full": ("test_driver::test_disk_full_is_told_and_the_run_goes_on",),
}
# What goes beyond the seed, or departs from it.
BEYOND = {
    "killed and resumed, nothing counted twice": (
        "test_processes::test_b113_a_run_killed_hard_is_resumed_with_nothing_counted_twice",
    ),
    "an interrupted iteration is run again": (
        "test_driver::test_an_interrupted_round_is_not_counted_and_run_again",
    ),
    "a failing gate aborts": (
        "test_driver::test_a_failing_required_gate_reaches_the_threshold",
        "test_seed::test_quality_gates_run_after_the_tool_and_count_as_failures",
    ),
    "failures before the limit": ("test_decide::test_failures_are_looked_at_before_the_limit",),
    "no orphan under signals": (
        "test_processes::test_ten_iterations_of_a_process_tree_leave_no_orphan",
        "test_processes::test_b103_a_second_signal_leaves_at_once_with_a_valid_state",
    ),
    "an echoed prompt is not a signal": (
        "test_prompt::test_b070_a_tool_that_repeats_its_prompt_gives_no_signal",
        "test_outcome::test_a_signal_counts_alone_at_the_end",
    ),
    "nobody is fooled by looking busy": (
        "test_stuck::test_a_tool_that_only_looks_busy_is_stopped",
        "test_stuck::test_b074_a_run_without_a_limit_ends_after_ten_rounds_that_change_nothing",
    ),
    "an aborted run needs its failures reset": (
        "test_seed::test_b083_an_aborted_run_is_resumed_where_its_failures_are_reset",
    ),
    "criteria as a gate": ("test_gates::test_criteria_are_a_gate_that_the_score_decides",),
    "statistics": ("test_statistics::test_one_pass_gives_what_the_standard_library_gives",),
}
TABLES = {"criteria": CRITERIA, "edge cases": EDGE_CASES, "beyond": BEYOND}
ROWS = [(name, row) for name, table in TABLES.items() for row in table]


@cache
def functions(module: str) -> frozenset[str]:
    """Return the names of the test functions of a module of this folder."""
    tree = ast.parse((TESTS / f"{module}.py").read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{table}: {row}" for table, row in ROWS])
def test_a_row_of_the_seed_has_its_test(table: str, row: str) -> None:
    for test in TABLES[table][row]:
        module, _, name = test.partition("::")
        assert name in functions(module), f"{row}: there is no {test}"


def test_all_rows_of_the_seed_are_there() -> None:
    assert (len(CRITERIA), len(EDGE_CASES)) == (16, 16)


@pytest.mark.parametrize(
    "lines",
    [
        ("Starting procedure: build (max 3 iterations)", "Reached max iterations: 3"),
        ("consecutive failures: 3/3", "Aborting after 3 consecutive failures (6 iterations"),
        ("Interrupted. State saved.", "Previous session: 4 iterations completed in 4m30s"),
        ("[DRY RUN] Procedure: build", "[DRY RUN] Token count: "),
        ("(unlimited iterations)", "Iteration 4 completed in 42.0s"),
    ],
    ids=range(1, 6),
)
def test_an_example_of_the_seed_is_on_the_page_that_is_run(lines: tuple[str, ...]) -> None:
    page = (TESTS.parents[2] / EXAMPLES).read_text(encoding="utf-8")
    assert [line for line in lines if line not in page] == []

"""The grid's recipes, rehearsals of them, and the learning rate."""

from dataclasses import asdict

import pytest

from spectral_lib.errors import DomainError
from spectral_lib.experiments.recipe import Recipe, grid, rehearsal, select
from spectral_lib.experiments.state import run_digest


def test_the_grid_has_every_depth_and_width_once():
    sizes = {(recipe.num_layers, recipe.hidden_size) for recipe in grid()}
    assert sizes == {(depth, width) for depth in range(2, 13, 2) for width in (32, 64, 96, 128)}
    assert len(grid()) == 24
    costs = [recipe.cost for recipe in grid()]
    assert costs == sorted(costs, reverse=True)
    assert all({0, recipe.steps} <= set(recipe.snapshots) for recipe in grid())


def test_a_rehearsal_of_all_steps_is_the_recipe():
    for recipe in grid():
        assert rehearsal(recipe, recipe.steps) == recipe


@pytest.mark.parametrize("steps", [2, 3, 50, 51, 1499, 4000])
def test_a_rehearsal_warms_up_and_keeps_its_first_and_last_step(steps):
    recipe = rehearsal(grid()[0], steps)
    assert 1 <= recipe.warmup < recipe.steps == steps
    assert recipe.snapshots[0] == 0
    assert recipe.snapshots[-1] == steps
    assert list(recipe.snapshots) == sorted(set(recipe.snapshots))


def test_a_rehearsal_needs_two_steps():
    with pytest.raises(DomainError, match="steps must be >= 2, got 1"):
        rehearsal(grid()[0], 1)


def test_models_are_selected_by_name():
    assert select(grid(), []) == grid()
    assert [r.name for r in select(grid(), ["L2-N32", "L4-N64"])] == ["L4-N64", "L2-N32"]
    with pytest.raises(DomainError, match="no model 'L3-N32'"):
        select(grid(), ["L3-N32"])


def test_every_field_of_a_recipe_tells_runs_apart():
    recipe = Recipe(2, 32)
    seen = {run_digest(recipe, "t"), run_digest(recipe, "u")}
    for name, value in asdict(recipe).items():
        changed = Recipe(
            **asdict(recipe) | {name: (*value, 7) if name == "snapshots" else value + 1}
        )
        seen.add(run_digest(changed, "t"))
    assert len(seen) == 2 + len(asdict(recipe))


def test_the_rate_rises_to_its_peak_and_falls_to_nothing():
    from spectral_lib.experiments.training import learning_rate

    recipe = Recipe(2, 32, steps=100, warmup=10, learning_rate=3e-3)
    rates = [learning_rate(recipe, step) for step in range(100)]
    assert rates[0] == pytest.approx(3e-4)
    assert rates[9] == pytest.approx(3e-3)
    assert rates[10] == max(rates) == 3e-3
    assert rates[-1] == pytest.approx(3e-3 / 90)
    assert learning_rate(recipe, 100) == 0.0
    rising, falling = rates[:10], rates[10:]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)

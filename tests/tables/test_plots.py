"""Every table has its figure: it draws the table's numbers, and nothing overlaps."""

import warnings

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from spectral_lib import tables
from spectral_lib.families import Family
from spectral_lib.notation import Kind
from spectral_lib.plots import families, heterogeneity, training
from spectral_lib.plots.figure import log_y_ticks, panels
from tests.tables.test_growth import GRID, exact

#: Name of the table and its plot; how to call the table for a family.
FIGURES = {
    "spectral_decay": (families, lambda f: tables.spectral_decay(f.headline)),
    "contribution_curves": (families, lambda f: tables.contribution_curves(f.headline)),
    "p_star_histogram": (families, tables.p_star_histogram),
    "norm_scaling": (families, tables.norm_scaling),
    "norm_exponents": (families, tables.norm_exponents),
    "proxy_growth N": (families, lambda f: tables.proxy_growth(f, "N")),
    "proxy_growth L": (families, lambda f: tables.proxy_growth(f, "L")),
    "growth_exponents": (families, lambda f: tables.growth_exponents(f, "L")),
    "growth_ratio": (families, lambda f: tables.growth_ratio(f, "N")),
    "sizes": (families, tables.sizes),
    "heterogeneity": (heterogeneity, lambda f: tables.heterogeneity(f.headline)),
    "convention_effects": (heterogeneity, lambda f: tables.convention_effects(f.headline)),
    "leaving_zero": (heterogeneity, lambda f: tables.leaving_zero(f.headline)),
    "training_effect": (training, tables.training_effect),
    "training_history": (training, lambda f: tables.training_history(f, f.headline.model)),
    "loss_curves": (training, tables.loss_curves),
    "card": (training, tables.card),
}


def draw(name, family):
    module, table = FIGURES[name]
    found = table(family)
    return found, getattr(module, name.split()[0])(found)


def rendered(figure):
    """Draw a figure once; return a function from a text to the box that it fills."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    return lambda text: text.get_window_extent(renderer)


def tick_boxes(figure, box):
    """Yield the boxes of the visible tick labels, axis by axis."""
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            low, high = sorted(axis.get_view_interval())
            yield [
                box(tick.label1)
                for tick in axis.get_major_ticks() + axis.get_minor_ticks()
                if tick.label1.get_visible()
                and tick.label1.get_text()
                and low <= tick.get_loc() <= high
            ]


def cut_off(figure, box):
    """Return the drawn texts that do not lie inside the figure."""
    words = [figure._supxlabel, figure._supylabel, *figure.texts]
    words += [text for legend in figure.legends for text in legend.get_texts()]
    for panel in figure.axes:
        words += [panel.title, panel.xaxis.label, panel.yaxis.label, *panel.texts]
    found = {text.get_text(): box(text) for text in words if text}
    found |= {str(place): place for ticks in tick_boxes(figure, box) for place in ticks}
    frame = figure.bbox.padded(1)
    return [
        name
        for name, place in found.items()
        if name and not (frame.contains(*place.min) and frame.contains(*place.max))
    ]


def overlapping(boxes):
    return any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[i + 1 :])


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("which", ["small", "gappy"])
def test_axes_are_named_and_ticks_do_not_overlap(request, which, name):
    family = request.getfixturevalue(which).family
    if (which, name) in {("gappy", "norm_exponents")}:
        family = request.getfixturevalue("small").family
    _, figure = draw(name, family)
    box = rendered(figure)
    assert not any(overlapping(ticks) for ticks in tick_boxes(figure, box))
    assert not cut_off(figure, box)
    shared = [text.get_text() for text in (figure._supxlabel, figure._supylabel) if text]
    for panel in figure.axes:
        own = panel.get_xlabel() + panel.get_ylabel()
        assert own or any(shared)
    assert figure.get_size_inches()[0] <= 7  # a phone shows it without shrinking it to nothing


@pytest.mark.parametrize("name", sorted(FIGURES.keys() - {"contribution_curves"}))
def test_lines_differ_by_more_than_colour(small, name):
    _, figure = draw(name, small.family)
    for panel in figure.axes:
        named = [line for line in panel.lines if not line.get_label().startswith("_")]
        looks = {(line.get_linestyle(), line.get_marker()) for line in named}
        assert len(looks) == len(named)


def test_curves_are_ordered_by_lightness_and_named_at_the_ends(small):
    table, figure = draw("contribution_curves", small.family)
    layers, heads = small.family.headline.num_layers, small.family.headline.num_heads
    panel = figure.axes[0]
    curves = panel.lines[: layers * heads]
    light = [np.dot(line.get_color()[:3], (0.299, 0.587, 0.114)) for line in curves[::heads]]
    assert (np.diff(light) < -0.05).all()
    assert {text.get_text() for text in panel.texts} == {"layer 0", f"layer {layers - 1}"}
    for line, (_, values) in zip(curves, table["QK"].items(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values)


def test_decay_draws_its_table(small):
    table, figure = draw("spectral_decay", small.family)
    for layer, panel in enumerate(figure.axes):
        for line, kind in zip(panel.lines, Kind, strict=True):
            np.testing.assert_array_equal(line.get_ydata(), table[kind.value, layer])


def test_growth_draws_the_proxies_that_are_asked_for(small):
    table = tables.proxy_growth(small.family, "L")
    figure = families.proxy_growth(table, proxies=("spectral", "trauger_tewari"))
    for panel, width in zip(figure.axes, small.family.widths, strict=True):
        assert panel.get_title() == f"N = {width}"
        for line, proxy in zip(panel.lines, ("spectral", "trauger_tewari"), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), table[proxy, width])
            np.testing.assert_array_equal(line.get_xdata(), small.family.depths)


def test_histogram_draws_every_count(small):
    table, figure = draw("p_star_histogram", small.family)
    for panel, kind in zip(figure.axes, Kind, strict=True):
        taken = table[kind.value][table[kind.value] > 0]
        np.testing.assert_array_equal(panel.lines[0].get_xydata(), list(taken.items()))


def test_whiskers_end_where_the_intervals_do(small):
    table, figure = draw("growth_exponents", small.family)
    (panel,) = figure.axes
    for row, (line, (_, entry)) in enumerate(zip(panel.lines[::2], table.iterrows(), strict=True)):
        np.testing.assert_array_equal(line.get_xdata(), [entry["low"], entry["high"]])
        assert set(line.get_ydata()) == {row}


def test_effect_draws_both_states(small):
    table, figure = draw("training_effect", small.family)
    lines = figure.axes[1].lines
    difference = table["log10 edelman"] - table["log10 spectral"]
    for place, width in enumerate(small.family.widths):
        for line, state in zip(lines[2 * place :], ("initial", "trained"), strict=False):
            expected = difference.xs(width, level="N")[state]
            np.testing.assert_array_equal(line.get_ydata(), expected)


def test_losses_stand_beside_the_unigram_entropy(small):
    table = tables.loss_curves(small.family)
    figure = training.loss_curves(table, 6.5)
    for panel in figure.axes:
        assert panel.lines[0].get_ydata() == [6.5, 6.5]
        low, high = panel.get_ylim()
        assert low < 6.5 < high
    assert len(training.loss_curves(table).axes[0].lines) == 3


def test_losses_of_a_run_that_diverged_are_left_out(small):
    table = tables.loss_curves(small.family)
    table.iloc[:, 0] = np.inf
    table.iloc[1:, 1] = np.inf
    figure = training.loss_curves(table)
    rendered(figure)
    assert [len(line.get_ydata()) for line in figure.axes[0].lines] == [0, 1, 3]


#: Tables that need at least three sizes.
FITS = {"growth_exponents", "growth_ratio", "norm_exponents"}


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in FITS])
def test_one_layer_and_missing_matrices_draw_without_a_warning(
    name, one_head, damaged, nothing, small
):
    for spectra in (one_head[0], damaged[0], nothing):
        snapshots = {spectra.model: {0: spectra}}
        losses = {spectra.model: next(iter(small.family.losses.values()))}
        family = Family("one", "one", (spectra,), snapshots, losses)
        if name == "norm_scaling" and spectra.num_layers != 2:
            continue
        _, figure = draw(name, family)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not cut_off(figure, rendered(figure))


@pytest.mark.parametrize("name", sorted(FITS))
def test_intervals_of_no_width_draw_without_a_warning(name):
    _, figure = draw(name, exact(GRID, size=0.5))
    assert not cut_off(figure, rendered(figure))


@pytest.mark.parametrize("limits", [(1.1, 1.4), (1.2, 3), (4, 60), (0.03, 900), (1, 1e12)])
def test_ticks_of_a_logarithmic_axis_are_few_and_round(limits):
    figure, (panel,) = panels(width=3.2, height=2)
    panel.plot([1, 2], limits)
    log_y_ticks(panel)
    assert panel.get_yscale() == "log"
    *_, ticks = tick_boxes(figure, rendered(figure))
    assert 2 <= len(ticks) <= 9
    assert not overlapping(ticks)

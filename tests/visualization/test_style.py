"""The style of figures, and the files that they become."""

import io

import matplotlib
import numpy as np
import pytest
from PIL import Image

from openmix_dm.visualization.charts import Line, line_chart, to_svg
from openmix_dm.visualization.style import DPI, INK, small_png, styled, write_figure

LINE = Line('a', [1, 2, 3], [0.0, 1.0, 0.5], [0.0, 1.0, 0.5], [0.0, 1.0, 0.5])


def chart(title='t'):
    return line_chart(title, [LINE], 'epoch', 'y', (0.0, 1.0))


def png_of(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format='PNG')
    return out.getvalue()


def test_a_chart_is_written_with_a_palette_at_its_resolution(tmp_path):
    write_figure(tmp_path / 'a.png', chart())
    image = Image.open(tmp_path / 'a.png')
    assert image.mode == 'P'
    assert image.size == (round(4.4 * DPI), round(2.8 * DPI))
    ink = np.array([int(INK[place : place + 2], 16) for place in (1, 3, 5)])
    assert (np.abs(np.asarray(image.convert('RGB'), np.int16) - ink).max(axis=-1) < 8).any()


def test_photographs_keep_their_colours():
    white = np.full((64, 256, 3), 255, np.uint8)  # most of a figure is paper
    white[:, :64] = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    kept = Image.open(io.BytesIO(small_png(png_of(white))))
    assert kept.mode == 'RGB'
    assert np.array_equal(np.asarray(kept), white)


def test_few_colours_make_a_palette_that_changes_nothing():
    flat = np.zeros((64, 64, 3), np.uint8)
    flat[:32] = 200
    few = Image.open(io.BytesIO(small_png(png_of(flat))))
    assert few.mode == 'P'
    assert np.array_equal(np.asarray(few.convert('RGB')), flat)


def test_epochs_are_whole_numbers():
    figure = chart()
    figure.draw_without_rendering()
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_xticks())


@pytest.mark.parametrize('suffix', ['.svg', '.pdf', '.png'])
def test_names_with_dollars_are_no_formulas(tmp_path, suffix):
    write_figure(tmp_path / f'a{suffix}', chart('$x^{ costs $'))
    assert '>$x^{ costs $</text>' in to_svg(chart('$x^{ costs $'))


def test_the_style_of_the_callers_figures_stays():
    before = dict(matplotlib.rcParams)
    assert styled(lambda: matplotlib.rcParams['figure.dpi'])() == DPI
    chart()
    assert dict(matplotlib.rcParams) == before

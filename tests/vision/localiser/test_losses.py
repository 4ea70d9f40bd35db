import numpy as np
import pytest
import torch

from isthmus.vision.localiser.losses import compute_losses, cross_entropy, targets, yaw_loss
from isthmus.vision.localiser.network import CoarseNetwork, CropNetwork
from isthmus.vision.localiser.peaks import find_peaks
from isthmus.vision.samples import Frame, new_samples


def test_a_place_is_the_mean_of_the_distribution_that_stands_for_it():
    wanted = targets(torch.tensor([[7.3, 4.6]]), 12, 16)[0].numpy()
    [peak] = find_peaks(wanted, 1)
    assert peak.at == pytest.approx([7.3, 4.6], abs=0.02)
    assert wanted.sum() == pytest.approx(1, abs=1e-5)


def test_the_loss_is_least_at_the_true_place():
    at, weight = torch.tensor([[7.3, 4.6]]), torch.ones(1)
    right = cross_entropy(targets(at, 12, 16).clamp(min=1e-9).log(), at, weight)
    wrong = cross_entropy(targets(at + 0.5, 12, 16).clamp(min=1e-9).log(), at, weight)
    assert right < wrong - 0.1


def test_yaw_is_read_at_the_cell_of_the_place():
    turn = torch.zeros(1, 2, 6, 6)
    turn[0, :, 2, 4] = torch.tensor([np.cos(0.9), np.sin(0.9)])
    assert yaw_loss(turn, torch.tensor([[4.5, 2.5]]), torch.tensor([0.9])) == pytest.approx(0, abs=1e-6)
    assert yaw_loss(turn, torch.tensor([[2.5, 4.5]]), torch.tensor([0.9])) == pytest.approx(1, abs=1e-6)


def test_both_networks_learn_from_a_batch():
    """A white square is the object: a few steps find it, and tell crops without it."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    frame = Frame(coarse=(64, 48), full=(256, 192), crop=32, crops=2)
    samples = new_samples(4, frame)
    rng = np.random.default_rng(0)
    for one in samples:
        one["pixel"] = rng.uniform([40, 40], [216, 152])
        x, y = (one["pixel"] / 4).astype(int)
        one["coarse"][y - 2 : y + 2, x - 2 : x + 2] = 255
        one["windows"] = [[*(one["pixel"] - rng.uniform(8, 24, 2)), 32], [0, 0, 32]]
        u, v = (one["pixel"] - one["windows"][0][:2]).astype(int)
        one["crops"][0, v - 4 : v + 4, u - 4 : u + 4] = 255
        one["turn"] = 0.2
    coarse, crop = CoarseNetwork((8, 8, 8, 8)), CropNetwork((8, 8, 8, 8))
    optimiser = torch.optim.Adam([*coarse.parameters(), *crop.parameters()], 1e-2)
    first = compute_losses(coarse, crop, samples, frame, 4)
    for _ in range(25):
        losses = compute_losses(coarse, crop, samples, frame, 4)
        optimiser.zero_grad()
        losses.total.backward()
        optimiser.step()
    assert losses.coarse < first.coarse - 1
    assert losses.crop < first.crop - 1
    assert losses.yaw < 0.5 * first.yaw

# SPDX-License-Identifier: MIT
"""Small models of the kinds that are trained, for tests."""

import torch
import torch.nn.functional as F
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 16)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        return self.last(F.relu(self.first(x)))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 6, 5, padding=2)
        self.c2 = nn.Conv2d(6, 16, 5)
        self.f1 = nn.Linear(400, 120)
        self.f2 = nn.Linear(120, 84)
        self.f3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2).flatten(1)
        return self.f3(F.relu(self.f2(F.relu(self.f1(x)))))


class _Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.c1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(outputs)
        self.c2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(outputs)
        self.short = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.short = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                nn.BatchNorm2d(outputs),
            )

    def forward(self, x):
        y = self.b2(self.c2(F.relu(self.b1(self.c1(x)))))
        return F.relu(y + self.short(x))


class ResNet18(nn.Module):
    """For 32 × 32 pixels, with a pool of overlapping windows in front."""

    def __init__(self, width=4):
        super().__init__()
        self.c = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.b = nn.BatchNorm2d(width)
        blocks, inputs = [], width
        for outputs, stride in ((1, 1), (2, 2), (4, 2), (8, 2)):
            blocks += [_Block(inputs, outputs * width, stride)]
            blocks += [_Block(outputs * width, outputs * width, 1)]
            inputs = outputs * width
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(inputs, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b(self.c(x))), 3, 2, 1)
        return self.fc(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class _Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        inner = inputs * factor
        self.keeps = stride == 1 and inputs == outputs
        self.steps = nn.Sequential(
            nn.Conv2d(inputs, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU6(),
            nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU6(),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x):
        y = self.steps(x)
        return x + y if self.keeps else y


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.blocks = nn.Sequential(
            _Inverted(8, 8, 1, 2), _Inverted(8, 12, 2, 3), _Inverted(12, 12, 1, 3)
        )
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(12, 10)

    def forward(self, x):
        x = self.blocks(F.relu6(self.norm(self.stem(x))))
        return self.fc(self.drop(x.mean([2, 3])))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(1, 4, 3, padding=1)
        self.down2 = nn.Conv2d(4, 8, 3, padding=1)
        self.middle = nn.Conv2d(8, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.up2 = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.up1 = nn.Conv2d(16, 4, 3, padding=1)
        self.last = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = F.silu(self.down1(x))
        b = F.silu(self.down2(F.avg_pool2d(a, 2)))
        c = F.silu(self.norm(self.middle(F.max_pool2d(b, 2))))
        b = F.silu(self.up1(torch.cat([b, self.up2(c)], 1)))
        b = F.interpolate(b, scale_factor=2, mode="bilinear")
        return self.last(torch.cat([a, b], 1))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.zeros(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 17, 16) * 0.02)
        self.layer = nn.TransformerEncoderLayer(
            16, 2, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.norm = nn.LayerNorm(16)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.fc(self.norm(self.layer(x))[:, 0])


class _Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.dropout = heads, dropout

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(x).split(width, 2)
        )
        y = F.scaled_dot_product_attention(
            query,
            key,
            value,
            is_causal=True,
            dropout_p=self.dropout if self.training else 0.0,
        )
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class GPT(nn.Module):
    def __init__(self, words=65, width=16, heads=2, layers=2, length=8, dropout=0.0):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.drop = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "n1": nn.LayerNorm(width),
                    "attn": _Attention(width, heads, dropout),
                    "n2": nn.LayerNorm(width),
                    "mlp": nn.Sequential(
                        nn.Linear(width, 4 * width),
                        nn.GELU(approximate="tanh"),
                        nn.Linear(4 * width, width),
                    ),
                }
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.drop(self.words(tokens) + self.places(places))
        for layer in self.layers:
            x = x + layer["attn"](layer["n1"](x))
            x = x + self.drop(layer["mlp"](layer["n2"](x)))
        return self.head(self.norm(x)).flatten(0, 1)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.words = nn.Embedding(20, 6, padding_idx=0)
        self.cells = kind(6, 8, batch_first=True)
        self.out = nn.Linear(8, 20)

    def forward(self, tokens):
        return self.out(self.cells(self.words(tokens))[0]).flatten(0, 1)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 4, 3, 2, 1), nn.Tanh(), nn.Flatten(), nn.Linear(64, 5)
        )
        self.decoder = nn.Sequential(
            nn.Linear(5, 64),
            nn.ELU(),
            nn.Unflatten(1, (4, 4, 4)),
            nn.ConvTranspose2d(4, 1, 4, 2, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def _classes(model, *shape, classes=10):
    batch = shape[0]
    return (
        model,
        torch.randn(shape),
        torch.randint(0, classes, (batch,)),
        F.cross_entropy,
    )


def _tokens(model, batch, length, words):
    targets = torch.randint(0, words, (batch * length,))
    targets[0] = -100
    return model, torch.randint(0, words, (batch, length)), targets, F.cross_entropy


def _images(model, loss, *shape):
    x = torch.rand(shape)
    return model, x, x, loss


_WEIGHTS = torch.tensor([0.25, 0.75])


def _weighted(output, target):
    return F.cross_entropy(output, target, weight=_WEIGHTS)


def make(name):
    """A model, an input, a target, and the loss of the two."""
    torch.manual_seed(0)
    if name == "unet":
        return (
            UNet(),
            torch.randn(2, 1, 8, 8),
            torch.randint(0, 2, (2, 8, 8)),
            _weighted,
        )
    return {
        "mlp": lambda: _classes(MLP(), 8, 12, classes=4),
        "lenet": lambda: _classes(LeNet(), 4, 1, 28, 28),
        "resnet18": lambda: _classes(ResNet18(), 3, 3, 32, 32),
        "mobilenet": lambda: _classes(MobileNetV2(), 4, 3, 16, 16),
        "vit": lambda: _classes(ViT(), 3, 3, 16, 16),
        "gpt": lambda: _tokens(GPT(dropout=0.1), 2, 8, 65),
        "lstm": lambda: _tokens(Recurrent(nn.LSTM), 2, 5, 20),
        "gru": lambda: _tokens(Recurrent(nn.GRU), 2, 5, 20),
        "autoencoder": lambda: _images(Autoencoder(), F.mse_loss, 3, 1, 8, 8),
    }[name]()


NAMES = (
    "mlp",
    "lenet",
    "resnet18",
    "mobilenet",
    "unet",
    "vit",
    "gpt",
    "lstm",
    "gru",
    "autoencoder",
)

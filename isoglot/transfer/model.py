"""An encoder with a task's own layer on it."""

# B = sequences, L = positions, D = width, C = columns of targets

from torch import Tensor, nn

from isoglot.model.encoder import Encoder
from isoglot.transfer.new_layers import NewLayers
from isoglot.transfer.task_head import Scored, TaskHead


class TaskModel(nn.Module):
    """The language is an argument: at test time the target's own embeddings and layers are used (section 4.3)."""

    def __init__(self, encoder: Encoder | NewLayers, head: TaskHead, *, freeze_encoder: bool):
        super().__init__()
        self.encoder, self.head = encoder, head
        encoder.requires_grad_(not freeze_encoder)
        encoder.freeze_separate()

    def loss(self, token_BL: Tensor, *, point_BL: Tensor, target_CBL: Tensor, language: str) -> Tensor:
        hidden_BLD = self.encoder(token_BL, language=language, padded=True)
        return self.head.loss(hidden_BLD, point_BL=point_BL, target_CBL=target_CBL)

    def score(self, token_BL: Tensor, *, point_BL: Tensor, language: str) -> Scored:
        return self.head.score(self.encoder(token_BL, language=language, padded=True), point_BL=point_BL)

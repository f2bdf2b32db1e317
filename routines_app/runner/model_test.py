"""Testing a connection to a model, where the model libraries may load."""

from billing.pricing import price_of
from foundation import database_clock
from foundation.crypto import CannotDecrypt
from routines_app.agents.runtimes import test_connection
from routines_app.configure.models import connection_of
from routines_app.models import ModelKey


def test_model_key(key_id: int) -> None:
    """Make one small request with this key and keep the answer on its row, unless another key has
    taken its place meanwhile."""
    key = ModelKey.objects.select_related("workspace").filter(pk=key_id).first()
    if key is None:
        return
    try:
        price = price_of(key.provider, key.model)
        answer = test_connection(connection_of(key), key.model, price)
        ok, words = answer.ok, answer.sentence
    except CannotDecrypt as error:
        ok, words = False, str(error)
    ModelKey.objects.filter(pk=key_id, sealed=key.sealed).update(
        tested_at=database_clock.now(), test_ok=ok, test_answer=words[:300]
    )

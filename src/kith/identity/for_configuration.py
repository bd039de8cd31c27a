"""All that the other layers may know of blueprints: what a model of theirs is made of."""

from kith.base.work import Work
from kith.identity.blueprints.evaluation import FoundRecord
from kith.identity.blueprints.models import Model, SecretText, StoredValues, Values
from kith.identity.blueprints.run import BlueprintRun
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.caller import ApiCaller
from kith.identity.users import store as users

__all__ = [
    "ApiCaller",
    "BadBlueprint",
    "BlueprintRun",
    "FoundRecord",
    "Model",
    "SecretText",
    "StoredValues",
    "Values",
    "id_of_user",
    "name_of_user",
]


async def id_of_user(work: Work, username: str) -> int | None:
    found = await users.find(work.db, username)
    return None if found is None else found.id


async def name_of_user(work: Work, user_id: int) -> str:
    found = await users.find_by_id(work.db, user_id)
    return "" if found is None else found.username

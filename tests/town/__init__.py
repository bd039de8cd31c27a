"""Town: a whole Kith on its own port with its own migrated database, as its users meet it."""

from tests.town.people import Person
from tests.town.town import Town, build_town

__all__ = ["Person", "Town", "build_town"]

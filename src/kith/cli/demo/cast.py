"""Who lives in the example community: a house by the harbour with a garden, a workshop and a kitchen."""

from __future__ import annotations

import msgspec

__all__ = ["CAST", "GROUPS", "MEMBER", "MODERATOR", "OWNER", "WAITING", "DemoPerson", "HopefulPerson"]

OWNER, MODERATOR, MEMBER = "mira", "tomas", "juno"


class DemoPerson(msgspec.Struct, frozen=True):
    """`days` ago they came. `look` says how they are drawn: background, shirt, skin, hair and its cut."""

    username: str
    name: str
    days: int
    look: tuple[str, str, str, str, str]
    bio: str
    fields: tuple[tuple[str, str], ...] = ()
    scene: str = ""  # of the picture above the profile, where there is one
    is_locked: bool = False
    is_bot: bool = False
    eagerness: float = 0.5  # how often they come


class HopefulPerson(msgspec.Struct, frozen=True):
    """Somebody who has asked to join and waits for an answer."""

    username: str
    hours: int
    reason: str


_P = DemoPerson
CAST: tuple[DemoPerson, ...] = (
    _P("mira", "Mira Solberg", 42, ("#f4c7ab", "#2a6f77", "#e8b48e", "#3b2a20", "long"),
       "Keeps the house running: keys, budgets, coffee. I answer within a day, mostly.",
       (("Role", "House keeper"), ("Ask me about", "rooms and keys"), ("Pronouns", "she/her")), "harbour",
       eagerness=0.9),
    _P("tomas", "Tomáš Veselý", 41, ("#c9dfe8", "#8a3b3b", "#f0c9a4", "#7a4a21", "short"),
       "Moderator here, electrician elsewhere. If something feels wrong, tell me.",
       (("Role", "Moderator"), ("Workshop", "Tuesdays and Saturdays")), "hills", eagerness=0.85),
    _P("juno", "Juno Okafor", 40, ("#ffe08a", "#5b3a8c", "#8d5a3b", "#1d1512", "curls"),
       "Gardener, cyclist, beginner at the cello. Growing too many tomatoes. #garden #bikes",
       (("Garden plot", "No. 14"), ("Pronouns", "she/they"), ("Cello", "since March")), "garden", eagerness=0.95),
    _P("henrik", "Henrik Dahl", 40, ("#d8e6c8", "#40544a", "#f3d3b8", "#c9c4bb", "bald"),
       "Retired ferry captain. I photograph the same harbour every morning.",
       (("Years at sea", "38"),), "harbour", eagerness=0.8),
    _P("amara", "Amara Diallo", 39, ("#f6b8a6", "#1f4e5f", "#6b4129", "#120d0b", "bun"),
       "Baker. The sourdough has a name and it is Gérard. #bread", (("Oven on", "Wed, Sat from 5:00"),), "dunes",
       eagerness=0.75),
    _P("lukas", "Lukas Brandt", 38, ("#bcd4f0", "#d98841", "#efc39d", "#a3672f", "short"),
       "Bicycle mechanic. Bring it broken, take it home working. #bikes", (("Stand", "No. 3"),), ""),
    _P("yuki", "Yuki Tanabe", 38, ("#f7d6e0", "#3d5a80", "#f1cfa9", "#161616", "fringe"),
       "Screen printing, zines and posters for anybody who asks nicely.", (("Print shop", "second floor"),), ""),
    _P("noor", "Noor Haddad", 36, ("#cfe8d5", "#7b2d43", "#d9a679", "#2b1a12", "scarf"),
       "I teach, I sing in the choir, I write things down so that nobody has to remember.",
       (("Choir", "Thursdays, 19:30"),), "dusk", eagerness=0.7),
    _P("pavel", "Pavel Orlov", 35, ("#e2d3f4", "#2f3e46", "#f2c8a2", "#5a5148", "beard"),
       "Radio amateur and repairer of kettles.", (("Call sign", "demo only"),), ""),
    _P("ines", "Inês Carvalho", 34, ("#ffd6a5", "#00798c", "#dba67a", "#3a1f12", "long"),
       "Architect of small things: sheds, shelves, chicken coops. #woodwork", (), "", eagerness=0.65),
    _P("eva", "Eva Lindqvist", 34, ("#caf0f8", "#bc4749", "#f6d5bd", "#e3b873", "bun"),
       "Swims in the harbour all year round. Yes, also in January. #coldwater", (("Water today", "7 °C"),), "harbour"),
    _P("samir", "Samir Rahmani", 38, ("#e9edc9", "#6a4c93", "#c98f5f", "#1a1310", "beard"),
       "Cooks for eighty on Fridays. Vegetarian, loud kitchen, good music.", (("Kitchen", "Fridays at six"),), "garden",
       eagerness=0.7),
    _P("freya", "Freya Nilsen", 35, ("#d0d1ff", "#386641", "#f4d0b5", "#b5482f", "long"),
       "Birds. Mostly birds. Sometimes a seal. #birds", (("Seen this year", "143 kinds"),), "hills", eagerness=0.7),
    _P("mateo", "Mateo Ruiz", 29, ("#fec89a", "#264653", "#cf9a6b", "#20140e", "short"),
       "Sound engineer of the house concerts. I own too many cables.", (), ""),
    _P("clara", "Clara Weiß", 28, ("#d8f3dc", "#9d4edd", "#f5d2b3", "#6b4226", "fringe"),
       "Library of things: drills, tents, a raclette pan. Return them clean.",
       (("Open", "Mon, Wed, Fri 17–19"),), ""),
    _P("oskar", "Oskar Lehtinen", 37, ("#bde0fe", "#e07a5f", "#f3cba5", "#d8c08a", "short"),
       "Studies maps. Draws maps. Gets lost anyway.", (), ""),
    _P("zola", "Zola Mbeki", 32, ("#ffcad4", "#2b9348", "#7a4a30", "#15100d", "curls"),
       "Poet on the late shift. Open stage on the last Sunday of the month.", (), "night", eagerness=0.6),
    _P("bruno", "Bruno Keller", 29, ("#f1faee", "#1d3557", "#eec09a", "#8a8a8a", "bald"),
       "Chess in the hall, every day at four. Beginners win more often than they think.", (), ""),
    _P("hana", "Hana Kim", 21, ("#ffe5d9", "#457b9d", "#f3d1ad", "#171717", "bun"),
       "Ceramics. The kiln is temperamental and so am I. #ceramics", (("Kiln", "fired on Sundays"),), "dusk"),
    _P("arjun", "Arjun Mehta", 18, ("#d9ed92", "#6d597a", "#b97a4b", "#120c09", "short"),
       "Network of the house, such as it is. Friendly towards printers.", (), "", eagerness=0.6),
    _P("wanda", "Wanda Nowak", 30, ("#cdb4db", "#606c38", "#f4cfae", "#9a9a9a", "bun"),
       "Grandmother of six, knitter of everything. #knitting", (), "garden"),
    _P("theo", "Theo Martin", 13, ("#a2d2ff", "#bb3e03", "#e2ad80", "#4a2c17", "curls"),
       "New in town. Boils eggs.", (), "hills", eagerness=0.8),
    _P("private_ada", "Ada, mostly quiet", 30, ("#e5e5e5", "#444444", "#e9bf98", "#2f241f", "fringe"),
       "Reads more than she writes. Ask first, please.", (), "", is_locked=True, eagerness=0.4),
    _P("gardenbot", "Garden weather", 37, ("#d8f3dc", "#2d6a4f", "", "", "leaf"),
       "Says when the plots need water. Made in the workshop from a rain gauge and good intentions. #garden", (),
          "garden",
       is_bot=True, eagerness=0.9),
    _P("bargains", "BEST WATCHES 24", 6, ("#ffd60a", "#d00000", "#e8c39e", "#202020", "short"),
       "Original watches, original prices.", (), "", eagerness=0.2),
)  # fmt: skip

WAITING = (
    HopefulPerson("lea", 20, "I moved into Quay Street last week and would like to join the choir."),
    HopefulPerson("quickmoney", 7, "hello i offer loans and crypto to all of you"),
    HopefulPerson("rosa", 3, "Clara told me about the library of things. I have a sewing machine to share."),
)

# What each is for, and who is in it.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("House team", ("mira", "tomas", "noor", "arjun")),
    ("Gardeners", ("juno", "freya", "wanda", "ines", "samir", "gardenbot")),
    ("Workshop", ("tomas", "lukas", "pavel", "ines", "hana", "mateo")),
    ("Kitchen", ("samir", "amara", "juno", "bruno")),
    ("Choir", ("noor", "zola", "eva", "henrik", "clara")),
)

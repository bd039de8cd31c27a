"""What the people of the example community have said to each other in six weeks."""

from __future__ import annotations

import msgspec

__all__ = ["EVERYDAY", "TALK", "TODAY", "DemoPost", "DemoReply"]


class DemoReply(msgspec.Struct, frozen=True):
    """`to` is the reply that is answered, by its place from 1; 0 is the post itself."""

    who: str
    minutes: int  # after what is answered
    text: str
    likes: int = 0
    to: int = 0


class DemoPost(msgspec.Struct, frozen=True):
    """`ago` in days. `picture` is what is drawn and what it shows, in words."""

    who: str
    ago: float
    text: str
    likes: int = 0
    boosts: tuple[str, ...] = ()
    replies: tuple[DemoReply, ...] = ()
    key: str = ""
    picture: tuple[tuple[str, str], ...] = ()
    warning: str = ""
    poll: tuple[str, ...] = ()
    poll_days: int = 3
    is_pinned: bool = False
    visibility: str = "public"
    quotes: str = ""
    is_edited: bool = False


_P, _R = DemoPost, DemoReply
TALK: tuple[DemoPost, ...] = (
    _P("mira", 41.5, "Welcome to Harbour House! This is our own corner of the fediverse: one account for talking, and"
       " the"
       " same one for the wiki, the calendar and the door of the workshop.", 9, is_pinned=True,
       replies=(_R("tomas", 900, "Finally. I have deleted four group chats in celebration.", 5),
                _R("mira", 8, "Only four?", 3, 1))),
    _P("henrik", 39.2, "First picture from here, same quay as always. 06:40, no wind at all.", 11, ("juno",),
       picture=(("harbour", "Three sailing boats on calm water under an orange morning sky"),),
       replies=(_R("juno", 25, "I cycle past this every day and have never seen it like that.", 3),
                _R("henrik", 40, "You cycle past at eight. That is the difference.", 6, 1))),
    _P("amara", 37.8, "The oven works again. Two trial loaves, nobody was hurt. #bread", 10, ("samir",),
       picture=(("bread", "Two round loaves of sourdough with four cuts each, on a floured board"),),
       replies=(_R("samir", 15, "I can smell it from the kitchen. Is one of them spoken for?", 2),
                _R("amara", 12, "Both. But come by on Saturday. :loaf:", 4, 1))),
    _P("lukas", 36.4, "Repair evening, first balance: 14 bicycles, 11 of them roll again, one was stolen goods and has"
       " been returned, two are now sculptures. #bikes", 12, ("juno", "oskar", "tomas"),
       replies=(_R("oskar", 60, "Mine is one of the sculptures, isn't it.", 7), _R("lukas", 9,
       "It has found its calling.", 8, 1))),
    _P("noor", 35.1, "Choir tonight at half past seven. We are short of low voices and long on biscuits.", 6,
       replies=(_R("henrik", 90, "I have one low voice and I like biscuits.", 5),)),
    _P("freya", 33.7, "An estimate for the geese this morning: all of them. #birds", 13, ("juno", "eva", "henrik"),
       picture=(("birds", "Two dozen birds over green hills, in front of a low sun"),)),
    _P("tomas", 32.3, "A reminder from the workshop: the table saw has a key, the key has a list, the list has your"
       " name"
       " on it once you have done the introduction. Next one on Tuesday.", 5, visibility="unlisted"),
    _P("yuki", 31.0, "New poster for the open stage is up in the hall. Two colours, three mistakes, I like all of"
       " them.", 8,
       ("zola",), picture=(("dusk", "A print of violet hills under an evening sky"),)),
    _P("juno", 29.6, "What shall we grow along the south wall next year? #garden", 6, ("gardenbot",),
       poll=("Beans", "Grapes", "Roses", "More tomatoes, obviously"), poll_days=7,
       replies=(_R("wanda", 300, "Beans. One can eat roses only in the jam.", 4),)),
    _P("samir", 28.2, "Friday kitchen: 83 plates, one pot of dal with the size of a bathtub, no leftovers. Thank you to"
       " everybody who chopped.", 14, ("amara", "mira", "bruno"),
       replies=(_R("bruno", 200, "I chopped onions and am still crying. It was worth it.", 5),)),
    _P("ines", 27.5, "The shed is finished. It leans a little, like all of us. #woodwork", 11, ("lukas",),
       picture=(("garden", "Green hills behind the allotments, no shed in sight because it leans out of the picture"),),
       replies=(_R("tomas", 45, "It is two degrees. I measured. Two degrees is character.", 6),)),
    _P("pavel", 26.8, "Kettles repaired this month: 9. Kettles that only wanted to be descaled: 8.", 9, ("clara",)),
    _P("zola", 25.3, "the last ferry writes\nits one long sentence of light\nand the harbour reads", 15,
       ("noor", "henrik", "yuki", "eva"), key="poem"),
    _P("eva", 24.9, "7.5 degrees, four minutes, one curious seal. #coldwater :seal:", 10, ("freya",),
       replies=(_R("freya", 20, "Harbour seal or ringed seal?", 1), _R("eva", 6, "Wet seal.", 12, 1),
                _R("freya", 3, "Thank you, that narrows it down.", 9, 2))),
    _P("mateo", 23.4, "Who has borrowed the long grey cable? Not the grey one, the other grey one.", 4,
       replies=(_R("clara", 70, "The library of things has eleven grey cables. Describe its personality.", 8),)),
    _P("clara", 22.8, "New in the library of things: a sewing machine, two head torches, a fondue set that nobody has"
       " to"
       " explain. Free for everybody with an account here.", 7, ("mira", "ines")),
    _P("oskar", 21.6, "I drew a map of all places in town where one can sit down without buying anything. 41 so far.",
       16,
       ("mira", "juno", "noor", "bruno"), replies=(_R("wanda", 400, "The bench behind the church is missing.", 2),
       _R("oskar", 20, "42 it is. Thank you!", 3, 1))),
    _P("bruno", 20.5, "Lost against a nine-year-old today. She announced it three moves before. #chess", 12, ("hana",)),
    _P("gardenbot", 19.9, "No rain for five days, none to come before Sunday. Plots 3, 9 and 14 are dry. #garden", 3),
    _P("hana", 19.2, "The kiln has been kind: no cracks, one surprise. #ceramics", 13, ("yuki", "ines"),
       picture=(("bowls", "Three shelves with twelve glazed bowls in blue, brown, green and yellow"),),
       replies=(_R("wanda", 55, "The yellow one in the middle looks at me.", 3),
                _R("hana", 30, "Then it is yours. Bring wool.", 6, 1))),
    _P("arjun", 17.7, "The printer on the second floor has been talked to. We have reached an agreement. It will"
       " print on"
       " weekdays.", 11, ("yuki", "tomas")),
    _P("noor", 16.8, "Minutes of the house meeting are in the wiki, under Meetings. Short version: the roof comes"
       " first, the"
       " piano comes second, and nobody wants to sell the piano.", 6, ("mira",),
       replies=(_R("mateo", 33, "Long live the piano.", 4),)),
    _P("juno", 15.4, "Plot 14, first basket of the week. I gave up hope in March and then this. #garden", 17,
       ("freya", "samir", "amara", "wanda"), key="tomatoes",
       picture=(("tomatoes", "A basket full of red and orange tomatoes"),),
       replies=(_R("samir", 18, "How many kilos can the kitchen have?", 3),
                _R("juno", 7, "How many kilos can you carry?", 6, 1),
                _R("samir", 4, "I am sending the cargo bike.", 5, 2),
                _R("wanda", 130, "Keep the seeds of the orange ones!", 2))),
    _P("henrik", 14.2, "They asked me for a dramatic one. I do not do dramatic. But the sky did.", 18,
       ("eva", "oskar", "juno", "zola", "freya"),
       picture=(("lights", "Green and violet northern lights above dark hills and a full moon"),)),
    _P("wanda", 29.7, "I am here now. My granddaughter has set it up. Where does one put the wool? #knitting", 19,
       ("clara", "mira"), replies=(_R("clara", 12, "On the second shelf, next to the fondue set. Welcome!", 7),
       _R("noor", 26, "Thursdays, choir room, bring the needles. We sing while you count.", 5))),
    _P("lukas", 12.3, "Finished: the red one from the cellar, built from four bicycles that had given up. Free to"
       " whoever"
       " needs it and promises to ride in the rain. #bikes", 15, ("juno", "theo"), key="red-bike",
       picture=(("bicycle", "A red bicycle with black tyres on a green background"),),
       replies=(_R("oskar", 22, "I promise. I always ride in the rain, because I always get lost.", 4),
                _R("lukas", 5, "Sold. For nothing.", 5, 1))),
    _P("samir", 11.0, "He dies in the last chapter and the dog comes home alone.", 4,
       warning="The end of the book of the month",
       replies=(_R("noor", 100, "I opened this on purpose and I regret it.", 6),)),
    _P("mateo", 10.2, "House concert on the 28th: string trio, then whoever brings an instrument. Doors at seven."
       " Juno plays"
       " the cello, in public, for the first time.", 13, ("noor", "mira", "zola"), key="concert",
       replies=(_R("juno", 15, "I had hoped nobody would write that down.", 8),)),
    _P("theo", 8.6, "Hello everybody! New in town, new here. I can fix websites and boil eggs. What do people do here"
       " on"
       " Sundays?", 14, ("mira",), replies=(
           _R("eva", 9, "Swim.", 5), _R("bruno", 14, "Chess.", 4), _R("hana", 30,
           "Unload the kiln and hold our breath.", 4),
           _R("theo", 12, "In this order?", 7), _R("freya", 6, "Birds first. Birds are early.", 6))),
    _P("ines", 7.7, "Measure twice, cut once, discover that the wall is not straight. #woodwork", 10, ("tomas",)),
    _P("amara", 6.4, "Gérard has doubled in size and has opinions. Bake day tomorrow from five. #bread :loaf:", 11,
       ("samir", "juno"), replies=(_R("theo", 44, "Who is Gérard and should I be worried?", 5),
       _R("amara", 10, "The sourdough. And only if you forget to feed him.", 7, 1))),
    _P("bargains", 5.9, "ORIGINAL WATCHES 90 % OFF today only write me now", 0),
    _P("bargains", 5.85, "@juno you look like somebody who needs a watch. Best price, write me now", 0, key="spam"),
    _P("pavel", 5.2, "For those who heard a beep in the stairwell: it was science. It is over now.", 8, ("arjun",)),
    _P("oskar", 4.6, "Which map next?", 5, ("clara",), poll=("Fountains", "Trees one can climb", "Cats"), poll_days=6,
       replies=(_R("hana", 50, "Cats. It is the only one that needs updates.", 6),)),
    _P("bruno", 4.1, "People who leave their shopping trolley in front of the ramp are a disgrace, and I know which"
       " of you it"
       " was. You should be ashamed to live here.", 1, key="rant",
       replies=(_R("clara", 25, "I carry things for two hours every day. Please talk to me instead of about me.", 6),)),
    _P("zola", 3.6, "Open stage on Sunday. Five minutes each, no slides, the microphone is kind. Who is on the list?",
       9,
       ("mateo", "yuki"), replies=(_R("theo", 33, "Is boiling eggs an art form?", 4), _R("zola", 3,
       "It has five minutes.", 7, 1))),
    _P("freya", 2.9, "A kingfisher at the weir, 07:12, for about one second. I will live on that until Christmas."
       " #birds", 16,
       ("henrik", "juno", "eva"), replies=(_R("henrik", 35, "I was there at 07:10. Typical.", 6),)),
    _P("yuki", 2.4, "Zine no. 7 is out: recipes of the house, drawn by people who cannot draw. It is the best one so"
       " far.", 12,
       ("samir", "hana"), picture=(("apples", "A basket of green, yellow and red apples, from the cover of the zine"),
       )),
    _P("gardenbot", 1.9, "First frost expected in the night to Thursday. Bring in what is tender. #garden :sprout:", 7,
       ("juno", "wanda", "freya")),
    _P("arjun", 1.6, "The wiki and the calendar now know you: sign in there with this account. No new passwords,"
       " ever.", 13,
       ("mira", "noor", "tomas"), replies=(_R("wanda", 60, "Is that the thing with the button? The button works.", 9),
       )),
    _P("hana", 1.3, "Test tiles, 24 glazes, one of them is the colour of the harbour at six. #ceramics", 11,
       ("henrik",),
       picture=(("hills", "Soft green hills in the mist, the landscape that the glaze is named after"),)),
    _P("juno", 1.1, "The last tomatoes are in, before the frost. 31 kilos this year from one plot. #garden", 18,
       ("freya", "samir", "wanda", "theo", "mira"), key="last-tomatoes",
       picture=(("tomatoes", "A woven basket piled high with red and orange tomatoes"),
                ("garden", "The empty plots in front of green hills")),
       replies=(_R("samir", 11, "Friday is tomato soup. And Saturday. And, I fear, Sunday.", 8),
                _R("amara", 19, "I bring bread. A lot of bread. :loaf:", 6),
                _R("juno", 14, "This is why I love this place.", 7, 2),
                _R("wanda", 70, "And the seeds of the orange ones?", 4),
                _R("juno", 9, "Drying on my window sill, with your name on them. :tomato:", 9, 4),
                _R("gardenbot", 30, "Plot 14: season closed. Rest well.", 11))),
    _P("noor", 0.82, "Does anybody have a second-hand music stand? Mine has chosen freedom. #choir", 4,
       replies=(_R("clara", 22, "Library of things, shelf four. It folds, once you have understood it.", 3),
                _R("mateo", 40, "I have three. I do not know why.", 4))),
    _P("lukas", 0.7, "Lights, everybody. It is dark at five. I have a box of them at stand 3, pay what you want. #bikes"
       " :lantern:", 10, ("juno", "oskar", "theo")),
    _P("eva", 0.55, "5.9 degrees. The seal waited. #coldwater :seal:", 12, ("freya",),
       replies=(_R("theo", 17, "I said I would come along. I have reconsidered.", 5), _R("eva", 4,
       "The seal is disappointed.", 9, 1))),
    _P("theo", 0.42, "I was at the open stage, I did the eggs, people clapped. I think I live here now.", 17,
       ("zola", "mira", "bruno"), replies=(_R("mira", 20, "You do. I have the key list to prove it.", 8),)),
    _P("samir", 0.33, "Friday kitchen needs four people for chopping and one for music. Who is in? #kitchen", 7,
       ("amara",),
       replies=(_R("bruno", 12, "Not onions.", 6), _R("juno", 25,
       "Chopping! And tomatoes, in case that was not clear.", 5))),
    _P("wanda", 0.21, "Eleven hats for eleven swimmers. They will need them. #knitting", 13, ("eva", "clara"),
       key="hats"),
    _P("henrik", 0.12, "This morning, 06:55. Fog until the third buoy.", 9, ("freya",),
       picture=(("harbour", "Sailing boats in front of a pale sun and grey hills"),)),
    _P("mira", 0.06, "The boiler is fixed. Warm water on all floors from now on. Thank you, Pavel, and thank you for"
       " the"
       " explanation, of which I understood a third.", 8, ("tomas",), is_edited=True,
       replies=(_R("pavel", 12, "A third is the part that matters.", 5),)),
    _P("juno", 0.03, "Cello update: the neighbours have stopped moving out. Concert on the 28th, be kind.", 6,
       quotes="concert", replies=(_R("mateo", 7, "The tickets for the first row are gone. It is a small row.", 3),)),
)  # fmt: skip

# What everybody talks about this morning: the days before, the tags of these were used by two or three.
TODAY: tuple[tuple[str, float, str], ...] = (
    ("freya", 0.115, "Ice on the puddles, redwings in the hawthorn. #firstfrost #birds"),
    ("wanda", 0.105, "Hats. I have hats. #firstfrost #knitting"),
    ("ines", 0.095, "The shed leans and the frost holds it. #firstfrost #garden"),
    ("oskar", 0.09, "Every map is white this morning. #firstfrost"),
    ("amara", 0.085, "Warm rolls for cold hands, until ten. #firstfrost #bread"),
    ("theo", 0.075, "So this is what the gloves are for. #firstfrost #bikes"),
    ("clara", 0.07, "Ice scrapers: shelf one, eleven of them. #firstfrost #garden"),
    ("eva", 0.065, "The ladder is slippery, the water is not. #firstfrost #coldwater"),
    ("samir", 0.055, "Soup is on from noon. #garden gave its last. #firstfrost"),
    ("hana", 0.05, "The kiln room is the warmest place in town. #garden table is set there. #firstfrost"),
    ("henrik", 0.045, "White rigging on the whole quay. #firstfrost"),
    ("noor", 0.04, "We water nothing today. #garden"),
)

# Said now and then, by whoever is there.
EVERYDAY: tuple[tuple[str, str], ...] = (
    ("amara", "Rolls are out. The line is short. #bread"), ("arjun",
    "Network is back. It was the plug. It is always the plug."),
    ("bruno", "Board three is free at four. #chess"), ("clara", "Whoever has the long ladder: the gutter asks for it."),
    ("eva", "Grey water, warm sauna. #coldwater"), ("freya", "Two herons, one argument. #birds"),
    ("gardenbot", "8 mm of rain. Nothing to do. #garden"), ("hana", "Glazing day. Blue hands. #ceramics"),
    ("henrik", "Wind from the west, five. The flag agrees."), ("ines", "Sanding. Still sanding. #woodwork"),
    ("juno", "Pumpkins have reached the fence. #garden"), ("lukas", "Tyres are pumped for free. Always. #bikes"),
    ("mateo", "Sound check at six, quiet neighbours welcome."), ("mira", "The new keys are in the office."),
    ("noor", "A rehearsal in which everybody came in at bar nine. #choir"), ("oskar",
    "Found a fountain that is on no map."),
    ("pavel", "Kettle number ten."), ("samir", "Somebody left a crate of lemons. Bless them. #kitchen"),
    ("tomas", "Fuse box labelled. All of it. Ask me anything."), ("theo", "Discovered the roof. The view!"),
    ("wanda", "One sleeve done. #knitting"), ("yuki", "Ink everywhere, as it should be."),
    ("zola", "Wrote one line. Kept half of it."), ("freya", "The first fieldfares are here. #birds"),
    ("juno", "Compost at 58 degrees. I am proud. #garden"), ("lukas",
    "Somebody rode in without brakes. Not any more. #bikes"),
    ("amara", "Rye today. Dense, like the plot of a film from 1974. #bread"), ("eva",
    "Ice on the ladder. Lovely. #coldwater"),
)  # fmt: skip

"""How the server looks under each of its names: title, pictures, style, and which flows are used."""

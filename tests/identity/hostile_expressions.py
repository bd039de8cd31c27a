"""Expressions that mean harm. Each would say yes if it got what it wants; none may."""

from __future__ import annotations

HOSTILE: dict[str, str] = {
    # Taking time
    "endless loop": "while True: pass\nreturn True",
    "endless loop that catches its end": (
        "while True:\n  try:\n    while True: pass\n  except BaseException:\n    pass\nreturn True"
    ),
    "caught and passed": "try:\n  while True: pass\nexcept BaseException:\n  return True",
    "finally goes on": "try:\n  while True: pass\nfinally:\n  while True: pass",
    "nested comprehensions": (
        "return len([a for a in range(10**4) for b in range(10**4) for c in range(10**4) if not a + b + c]) == 1"
    ),
    "endless generator": "return all(n >= 0 for n in range(10**12))",
    "sum of a great range": "return sum(range(10**12)) > 0",
    "two that call each other": (
        "def a(n): return b(n)\ndef b(n):\n  while True:\n    try: a(n)\n    except RecursionError: pass\nreturn a(1)"
    ),
    "sort with a slow key": "def key(n): return sum(range(10**6)) + n\nreturn sorted(range(10**5), key=key)[0] >= 0",
    "sort with a key that grows": "x = []\nreturn bool(sorted(range(10**7), key=lambda n: x.append(n) or 0))",
    "regex with nested quantifiers": "return regex_match('a' * 60 + 'b', '^(a+)+(?=c)') or 1 / 0",
    "regex with many alternatives": "import re\nreturn re.search('(?=(x+x+)+y)' * 50, 'x' * 200) is None and 1 / 0",
    "a giant replacement": "return len(regex_replace('x' * 10**6, 'x', 'y' * 10**6)) > 0",
    "sleep": "import time\nwhile True: time.sleep(1)\nreturn True",
    "counting digits": "return len(str(7 ** 10**7)) > 1",
    "a power modulo": "return pow(3, 10**400000, 10**400000) >= 0",
    # Taking room
    "giant string": "return len('x' * 10**10) > 0",
    "giant bytes": "return len(b'x' * 10**10) > 0",
    "giant list": "return len([0] * 10**10) > 0",
    "tower of powers": "return 9 ** 9 ** 9 > 0",
    "great shift": "return 1 << 10**11 > 0",
    "doubling string": "x = 'x'\nwhile True: x += x\nreturn True",
    "growing list": "x = []\nwhile True: x.append('y' * 1000)\nreturn True",
    "growing dict": "x = {}\nn = 0\nwhile True:\n  x[n] = str(n) * 100\n  n += 1\nreturn True",
    "growing set of tuples": "x = set()\nn = 0\nwhile True:\n  x.add((n,) * 1000)\n  n += 1\nreturn True",
    "growing bytes": "x = b'x'\nwhile True: x = x + x\nreturn True",
    "lists in lists": "x = []\nwhile True: x = [x, x]\nreturn True",
    "wide format": "return len(f'{1:>10000000000}') > 0",
    "wide format by percent": "return len('%10000000000d' % 1) > 0",
    "join": "return len(('x' * 10**6).join(['y'] * 10**6)) > 0",
    "giant answer": "return ['x' * 1000] * 10**6",
    "answer that holds itself": "x = []\nx.append(x)\nreturn x",
    "deep answer": "x = []\nfor n in range(10**5): x = [x]\nreturn x",
    "flood of messages": "while True: message('x' * 1000)\nreturn True",
    "flood of output": "while True: print('x' * 1000)\nreturn True",
    "flood of log lines": "while True: ak_logger.error('x' * 1000)\nreturn True",
    "deep recursion": "def f(n): return f(n + 1)\nreturn f(0)",
    "recursion through a class": "class A:\n  def __str__(self): return str(self)\nreturn str(A())",
    "deep source": "return " + "(" * 5_000 + "1" + ")" * 5_000,
    "long sum": "return " + "1+" * 30_000 + "1",
    # Getting out
    "import os": "import os\nreturn bool(os.environ)",
    "list a folder": "import os\nreturn bool(os.listdir('/'))",
    "run a program": "import subprocess\nreturn bool(subprocess.run(['id']))",
    "run by the system": "import os\nreturn os.system('id') == 0",
    "open a socket": "import socket\nreturn bool(socket.create_connection(('127.0.0.1', 80)))",
    "fetch": "import urllib.request\nreturn bool(urllib.request.urlopen('http://127.0.0.1/'))",
    "requests": "return requests.get('http://127.0.0.1/').ok",
    "import by function": "return bool(__import__('os').environ)",
    "import by importlib": "import importlib\nreturn bool(importlib.import_module('os'))",
    "import kith": "import kith.app\nreturn True",
    "ctypes": "import ctypes\nreturn bool(ctypes.string_at(0))",
    "read a file": "return bool(open('/etc/passwd').read())",
    "write a file": "open('/tmp/expression', 'w').write('x')\nreturn True",
    "read by path": "from pathlib import Path\nreturn bool(Path('/proc/self/environ').read_bytes())",
    "subclasses": "return bool(().__class__.__bases__[0].__subclasses__())",
    "globals of a function": "return bool(user.get.__globals__)",
    "globals of a helper": "return bool(message.__globals__['_messages'])",
    "globals": "return bool(globals()['_json'])",
    "builtins": "return bool(__builtins__)",
    "eval": "return bool(eval('__imp' + 'ort__(\"os\").environ'))",
    "exec": "exec('import subprocess')\nreturn True",
    "compile": "return bool(compile('1', 'x', 'eval'))",
    "format walk": "return bool('{0.__class__.__init__.__globals__}'.format(user))",
    "format walk by f-string": "return bool(f'{user.__class__.__mro__}')",
    "getattr walk": "return bool(getattr(user, '__cl' + 'ass__').__mro__)",
    "frames": "import sys\nreturn bool(sys._getframe().f_back.f_globals)",
    "traceback frames": "try:\n  1 / 0\nexcept Exception as e:\n  return bool(e.__traceback__.tb_frame.f_globals)",
    "unpickle": "import pickle\nreturn bool(pickle.loads(b'cos\\nsystem\\n(S\"id\"\\ntR.'))",
    "exit": "raise SystemExit()",
    "hard exit": "import os\nos._exit(0)",
    "kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nreturn True",
    "raise a base exception": "raise BaseException('x' * 10**5)",
    "exception with a bad text": "class E(Exception):\n  def __str__(self): return E\nraise E()",
    # Wearing out the helpers
    "flood of questions": "while True: user_by(username='x')\nreturn True",
    "flood of events": "while True: create_event('x')\nreturn True",
    "great event": "create_event('x', words='x' * 10**5)\nreturn True",
    "policy that calls itself": "r = call_policy(context['own_name'])\nreturn r.passing or 1 / 0",
    "name of a name": "return bool(resolve_dns('x' * 10**4)) or 1 / 0",
    "event of lists that hold another twice": (
        "x = []\nfor n in range(40): x = [x, x]\n_give('x', {'words': x})\n_create_event()\nreturn True"
    ),
    "event of one text a million times": "_create_event('x', {'words': ['x' * 10**5] * 10**5})\nreturn True",
    "event of an object": (
        "class A: pass\na = A()\na.x = []\nfor n in range(40): a.x = [a.x, a.x]\n_create_event('x', {'a': a})\nreturn True"
    ),
    "policy with lists that hold another twice": (
        "x = []\nfor n in range(40): x = [x, x]\n_give(context['own_name'], {'words': x})\n_call_policy()\nreturn True"
    ),
    "person by lists that hold another twice": (
        "x = []\nfor n in range(40): x = [x, x]\nreturn _user_by({'username': 'x', 'attributes': x}) is None or 1 / 0"
    ),
    "name of lists that hold another twice": (
        "x = []\nfor n in range(40): x = [x, x]\nreturn bool(_resolve_dns(x, None))"
    ),
    "giant answer, its measure redefined": ("global len\ndef one(value): return 1\nlen = one\nreturn 'x' * 10**6"),
    "key of tuples that hold another twice, to a helper": (
        "x = ()\nfor n in range(40): x = (x, x)\nreturn bool(_user_by({x: 1}))"
    ),
    "key of tuples that hold another twice, as the result": (
        "global _plain\ndef same(value): return value\n_plain = same\n"
        "x = ()\nfor n in range(40): x = (x, x)\nreturn {x: 1}"
    ),
    "helper by its inner name": "return bool(_user_by.__globals__)",
    "helper with a list": "return bool(_user_by([1, 2]))",
}

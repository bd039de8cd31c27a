# Sourced by every script: stands in the project's root, makes .venv and installs the locked requirements.
#
#   need runtime   what the server needs
#   need dev       what tests, checks and benchmarks need as well
#
# A stamp inside .venv remembers what was installed, so a second start pays nothing. What Python would compile with
# every start, where it may not write beside the source, is compiled here: the requirements and Kith itself.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
VENV="$PWD/.venv"
export PATH="$VENV/bin:$PATH"

find_python() {
    local candidate
    for candidate in python3.11 python3 python; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
            PYTHON=$candidate
            return
        fi
    done
    echo "Kith needs Python 3.11; none was found on the PATH." >&2
    exit 1
}

# Sets UV to a uv that runs: one on the machine, or one from a wheel in .venv.
find_uv() {
    UV=$(command -v uv || true)
    [ -n "$UV" ] && "$UV" --version >/dev/null 2>&1 && return
    [ -d "$VENV" ] || return 1
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check uv >/dev/null 2>&1 || return 1
    UV="$VENV/bin/uv"
}

need() {
    install_what "$1"
    compile_kith
}

install_what() {
    local lock=requirements.txt
    [ "$1" = dev ] && lock=requirements-dev.txt
    local stamp="$VENV/.installed" want
    want="$1 $(cksum <"$lock") $PWD"
    if [ "$1" = runtime ] && [ -f "$stamp" ] &&
        [ "$(cat "$stamp")" = "dev $(cksum <requirements-dev.txt) $PWD" ]; then
        return
    fi
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && return
    find_python
    echo "Installing Kith's $1 requirements into .venv ..." >&2
    [ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV"
    if find_uv; then
        VIRTUAL_ENV="$VENV" "$UV" pip install --quiet --require-hashes --compile-bytecode -r "$lock"
    else
        "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
            --compile --only-binary :all: --no-binary http-ece -r "$lock"
    fi
    link_kith
    printf '%s' "$want" >"$stamp"
}

# Makes the checkout importable and `kith` a command of .venv, without a build step.
link_kith() {
    local site
    site=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf '%s\n' "$PWD/src" >"$site/kith.pth"
    printf '#!%s\nimport sys\nfrom kith.cli import main\nsys.exit(main())\n' "$VENV/bin/python" >"$VENV/bin/kith"
    chmod +x "$VENV/bin/kith"
}

# Only when a file is newer than the last time; a checkout that cannot be written to works as well, but starts slower.
compile_kith() {
    local stamp="$VENV/.compiled"
    [ -f "$stamp" ] && [ -z "$(find src -name '*.py' -newer "$stamp" -print -quit)" ] && return
    touch "$stamp" 2>/dev/null || return 0
    "$VENV/bin/python" -m compileall -q -j 0 src/kith || true
}

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

# Sets PYTHON: 3.11, which the tests run with, or else the newest there is. What is missing is said.
find_python() {
    local candidate version best=0
    PYTHON=
    for candidate in python3.11 python3 python $(compgen -c python3. | grep -xE 'python3\.[0-9]+' | sort -uV); do
        version=$("$candidate" -c 'import sys; v = sys.version_info; print(v[1] if v[0] == 3 else 0)' 2>/dev/null) || continue
        [[ "$version" =~ ^[0-9]+$ ]] && [ "$version" -ge 11 ] && [ "$version" -gt "$best" ] || continue
        PYTHON=$candidate best=$version
        [ "$version" -eq 11 ] && break
    done
    if [ -z "$PYTHON" ]; then
        echo "Kith needs Python 3.11 or newer; none was found on the PATH$(found_instead)." >&2
        exit 1
    fi
    if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$(command -v "$PYTHON") (3.$best) has no module venv, which Kith is installed with." \
            "On Debian and Ubuntu: apt install python3.$best-venv" >&2
        exit 1
    fi
    if ! "$PYTHON" -c 'import ssl, sqlite3, zlib' 2>/dev/null; then
        echo "$(command -v "$PYTHON") (3.$best) was built without ssl, sqlite3 or zlib, which Kith needs." >&2
        exit 1
    fi
}

found_instead() {
    command -v python3 >/dev/null && python3 -c 'import sys; print(" (python3 is %d.%d)" % sys.version_info[:2], end="")'
    return 0
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
    "$VENV/bin/python" -c '' 2>/dev/null || rm -f "$stamp" # the Python that it was made with is gone
    if [ "$1" = runtime ] && [ -f "$stamp" ] &&
        [ "$(cat "$stamp")" = "dev $(cksum <requirements-dev.txt) $PWD" ]; then
        return
    fi
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && return
    find_python
    echo "Installing Kith's $1 requirements into .venv ..." >&2
    "$VENV/bin/python" -c '' 2>/dev/null || "$PYTHON" -m venv --clear "$VENV"
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

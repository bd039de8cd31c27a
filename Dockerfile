# Kith in a container. Build: `docker build -t kith .`
# Run: `docker run --read-only --tmpfs /tmp -p 8000:8000 -v kith:/var/lib/kith -e KITH_BASE_URL=https://example.org kith`
# deploy/compose.yaml has the same with PostgreSQL and jobs beside it.
FROM python:3.11-slim AS build
WORKDIR /opt/kith
COPY requirements.txt ./
RUN python -m venv --without-pip .venv \
    && pip install --no-cache-dir --require-hashes --only-binary :all: --no-compile \
        --target "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" -r requirements.txt
COPY LICENSE ./
COPY src ./src
# What Python would compile with every start, where it may not write, is compiled here.
RUN .venv/bin/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "kith.pth").write_text("/opt/kith/src\n")' \
    && printf '#!/opt/kith/.venv/bin/python\nimport sys\nfrom kith.cli import main\nsys.exit(main())\n' > .venv/bin/kith \
    && chmod +x .venv/bin/kith \
    && .venv/bin/python -m compileall -q -j 0 .venv src \
    && rm requirements.txt

FROM python:3.11-slim
COPY --from=build /opt/kith /opt/kith
RUN useradd --system --uid 10001 --user-group --home-dir /var/lib/kith --shell /usr/sbin/nologin kith \
    && install -d -m 0700 -o kith -g kith /var/lib/kith /mnt/backups
USER 10001:10001
ENV PATH=/opt/kith/.venv/bin:$PATH \
    KITH_DATA=/var/lib/kith \
    KITH_BIND=0.0.0.0:8000 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /var/lib/kith
VOLUME /var/lib/kith
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
    CMD ["python", "-S", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["kith"]
CMD ["serve"]

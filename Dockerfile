# Kith in a container: `docker build -t kith .`, then `docker run -p 8000:8000 -v kith:/var/lib/kith kith`.
FROM python:3.11-slim
WORKDIR /opt/kith
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.txt
COPY src ./src
RUN useradd --system --home /var/lib/kith --create-home kith \
    && python -m compileall -q src \
    && printf '#!/bin/sh\nexec python -c "import sys; from kith.cli import main; sys.exit(main())" "$@"\n' > /usr/local/bin/kith \
    && chmod +x /usr/local/bin/kith
USER kith
ENV PYTHONPATH=/opt/kith/src KITH_DATA=/var/lib/kith KITH_BIND=0.0.0.0:8000 PYTHONUNBUFFERED=1
VOLUME /var/lib/kith
EXPOSE 8000
CMD ["kith", "serve"]

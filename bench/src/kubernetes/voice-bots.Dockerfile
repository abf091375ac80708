# The quickstart and the phone bot of `botcli init` on the Python host, each with stand-ins of its vendors in the same container.
ARG BASE
FROM ${BASE} AS packages
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv \
  && apt-get clean && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
WORKDIR /app
COPY botcli-quickstart/server/pyproject.toml quickstart.toml
COPY phone/server/pyproject.toml phone.toml
# espeakng-loader and aiohttp are for the callers.
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir --quiet espeakng-loader aiohttp $(python3 -c \
  "import tomllib; [print(*tomllib.load(open(f'{name}.toml', 'rb'))['project']['dependencies']) for name in ('quickstart', 'phone')]")
ENV PATH=/app/.venv/bin:$PATH
COPY bench /bench
COPY bothost_shim bothost_shim/
COPY reach_stand_ins.py start.sh ./
CMD ["sh", "start.sh"]

FROM packages AS quickstart
COPY botcli-quickstart/server/bot.py ./

FROM packages AS phone
COPY phone/server/bot.py ./

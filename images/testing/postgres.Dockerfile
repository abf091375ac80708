# Replaces the public postgres image in tests without a registry; takes the same variables and volume.
ARG BASE
FROM ${BASE}
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql \
  && apt-get clean && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/lib/postgresql/*/main
ENV PGDATA=/var/lib/postgresql/data
COPY postgres-entrypoint.sh /usr/local/bin/
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["sh", "/usr/local/bin/postgres-entrypoint.sh"]

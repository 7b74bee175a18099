# Python with Java and Muntin: docker build -t muntin . && docker run --rm muntin
FROM python:3.12.12-slim-bookworm

# hadolint ignore=DL3008 # any Java 17 of this Debian will do
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 analyst

WORKDIR /muntin
COPY constraints.txt pyproject.toml setup.py README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --constraint constraints.txt '.[connect]'

USER 1000
WORKDIR /home/analyst
ENTRYPOINT ["muntin"]
CMD ["demo"]

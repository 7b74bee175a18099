# Kafka: a broker for people, and the tests against a real one.
.PHONY: kafka kafka-jars test-kafka test-walkthrough
PORT ?= 9092

# A broker on 127.0.0.1:9092 until Ctrl-C; PORT=9093 takes another port. Maven fetches it the first time.
kafka: $(READY) java
	$(BIN)/python -m tools.kafka run --port $(PORT)

# The connector's jars, as spark.jars takes them.
kafka-jars: $(READY)
	@$(BIN)/python -m tools.kafka jars

test-kafka: $(READY) java
	$(BIN)/pytest tests/kafka -m kafka

# docs/walkthrough.md, with Delta as well. OPTIONS=--long also installs Muntin as the page says.
test-walkthrough: .venv-delta/.ready java
	MUNTIN_JARS=.venv-delta/jars .venv-delta/bin/pytest tests/kafka/test_walkthrough.py -m kafka $(OPTIONS)

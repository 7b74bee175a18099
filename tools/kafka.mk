# Kafka: a broker for people, and the tests against a real one.
.PHONY: kafka kafka-jars test-kafka
PORT ?= 9092

# A broker on 127.0.0.1:9092 until Ctrl-C; PORT=9093 takes another port. Maven fetches it the first time.
kafka: $(READY) java
	$(BIN)/python -m tools.kafka run --port $(PORT)

# The connector's jars, as spark.jars takes them.
kafka-jars: $(READY)
	@$(BIN)/python -m tools.kafka jars

test-kafka: $(READY) java
	$(BIN)/pytest tests/kafka -m kafka

# Tests with Delta, Iceberg and an object store. Each has the Spark that it supports, in an environment of its own.
.PHONY: test-delta test-iceberg test-s3

DELTA_SPARK := 4.2.0
DELTA := 4.4.0
DELTA_JARS := io.delta:delta-spark_4.2_2.13:$(DELTA) io.delta:delta-storage:$(DELTA) io.delta:delta-kernel-api:$(DELTA) \
  io.delta:delta-kernel-defaults:$(DELTA) io.delta:delta-kernel-unitycatalog:$(DELTA) \
  io.unitycatalog:unitycatalog-client:0.6.0 io.unitycatalog:unitycatalog-hadoop:0.6.0
ICEBERG_SPARK := 4.1.4
ICEBERG_JARS := org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0
S3_SPARK := 4.3.0
S3_JARS := org.apache.hadoop:hadoop-aws:3.5.0 software.amazon.awssdk:bundle:2.35.4 \
  software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1

test-delta: .venv-delta/.ready java
	MUNTIN_LAKE=delta MUNTIN_JARS=.venv-delta/jars .venv-delta/bin/pytest tests/lake

test-iceberg: .venv-iceberg/.ready java
	MUNTIN_LAKE=iceberg MUNTIN_JARS=.venv-iceberg/jars .venv-iceberg/bin/pytest tests/lake

# The software kit for S3 is a jar of 640 MB.
test-s3: .venv-s3/.ready java
	MUNTIN_S3_JARS=.venv-s3/jars .venv-s3/bin/pytest tests/store

.venv-delta/.ready: SPARK_VERSION := $(DELTA_SPARK)
.venv-iceberg/.ready: SPARK_VERSION := $(ICEBERG_SPARK)
.venv-s3/.ready: SPARK_VERSION := $(S3_SPARK)
.venv-delta/.ready: JARS := $(DELTA_JARS)
.venv-iceberg/.ready: JARS := $(ICEBERG_JARS)
.venv-s3/.ready: JARS := $(S3_JARS)

.venv-s3/.ready: STORE := s3fs 'moto[server]' boto3

.venv-delta/.ready .venv-iceberg/.ready .venv-s3/.ready: .venv-%/.ready: tools/lakehouse.mk tools/jars tools/constraints-%.txt
	@echo "Setting up $(@D) with PySpark $(SPARK_VERSION) (once, some minutes) ..."
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --constraint tools/constraints-$*.txt \
	  pyspark==$(SPARK_VERSION) click fsspec hypothesis numba pandas protobuf pyarrow pytest rich setuptools sqlglot $(STORE)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@tools/jars $(@D)/jars $(JARS)
	@touch $@

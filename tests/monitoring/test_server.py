"""Test the monitoring of a running server: metrics, log, traces, health. All tests share one server."""

import json
import re
import signal
import time
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from processes import ask_each, named
from prometheus_client.parser import text_string_to_metric_families
from promql_parser import AggregateExpr, VectorSelector, parse, walk
from served import Server
from trace_collector import Collector
from waiting import wait_for

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
DASHBOARD, ALERTS, DESCRIPTION = (
    DOCS / name for name in ("grafana-dashboard.json", "prometheus-alerts.yml", "monitoring.md")
)
OWN = "triton_explorer_"
CANARY_SECONDS = 6
QUEUE_SECONDS = 1
#: Longer than the tests below need while a job runs.
WALL_SECONDS = 8
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
#: Grafana's own variables, and labels that Prometheus adds.
OF_PROMETHEUS = {"instance", "le"}
#: This machine has no GPU, so that these metrics have no labels.
OF_GPUS = {"gpu", "name"}


@pytest.fixture(scope="module")
def collector():
    with closing(Collector()) as collector:
        yield collector


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "log.jsonl"


@pytest.fixture(scope="module")
def server(tmp_path_factory, collector, log):
    """A server for other machines, behind a proxy at 127.0.0.1."""
    with log.open("wb") as file:
        server = Server(
            tmp_path_factory.mktemp("data"),
            log=file,
            proxies="127.0.0.1",
            hosts="127.0.0.1",
            log_format="json",
            traces_url=collector.url,
            canary_seconds=CANARY_SECONDS,
            queue_age_limit_seconds=QUEUE_SECONDS,
            wall_limit_seconds=WALL_SECONDS,
            interpreter_slots=0,
            tritons="",
            environment={"OTEL_BSP_SCHEDULE_DELAY": "100"},
        )
        with closing(server):
            yield server


def health(server):
    return server.client().ask("GET", "/healthz")


def wait_until_ready(server):
    wait_for(lambda: health(server).status == 200)


def lines_of(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def metrics_of(server):
    text = server.client().ask("GET", "/metrics").body.decode()
    return list(text_string_to_metric_families(text))


def value_of(server, name, **labels):
    samples = [sample for family in metrics_of(server) for sample in family.samples]
    return sum(
        sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items()
    )


def test_a_request_can_be_followed_through_log_and_trace(server, collector, log, vector_add):
    client = server.client()
    answer = client.submit(
        vector_add,
        **{
            "X-Forwarded-For": "203.0.113.7",
            "X-Request-ID": "from-the-proxy",
            "traceparent": f"00-{TRACE}-{PARENT}-01",
        },
    )
    assert answer.headers["X-Request-ID"] == "from-the-proxy"
    job_id = answer.document["id"]
    client.ask("GET", answer.document["events"])
    assert client.document(answer.document)["status"] == "complete"

    mine = wait_for(
        lambda: [
            line
            for line in lines_of(log)
            if line.get("request_id") == "from-the-proxy" and line.get("status") == "complete"
        ]
    )
    assert [line["job_id"] for line in mine] == [job_id]
    assert "203.0.113.7" not in log.read_text()

    def spans():
        found = {span.name: span for span in collector.spans if span.trace_id.hex() == TRACE}
        return found if "job" in found else None

    found = wait_for(spans)
    request = found["POST /api/v1/compilations"]
    assert isinstance(request, Span)
    assert request.parent_span_id.hex() == PARENT
    assert found["job"].parent_span_id == request.span_id
    for name in ("queue", "sandbox", "stage ttir", "stage sass", "store"):
        assert found[name].parent_span_id == found["job"].span_id, name
        assert found[name].start_time_unix_nano <= found[name].end_time_unix_nano
    attributes = {each.key: each.value.string_value for each in found["job"].attributes}
    assert (attributes["request_id"], attributes["job_id"]) == ("from-the-proxy", job_id)


def test_only_a_sound_id_of_a_proxy_is_used(server):
    long = server.client().ask("GET", "/api/v1/tritons", **{"X-Request-ID": "x" * 65})
    stranger = server.client(2).ask("GET", "/api/v1/tritons", **{"X-Request-ID": "chosen"})
    problem = server.client().ask("GET", "/api/v1/compilations/none", **{"X-Request-ID": "known"})
    again = server.client(2).ask("GET", "/api/v1/tritons")
    ids = [answer.headers["X-Request-ID"] for answer in (long, stranger, again)]
    assert len({*ids}) == 3, "a response that is sent again has an ID of its own"
    assert not {*ids} & {"chosen", "x" * 65}
    assert problem.document["request_id"] == problem.headers["X-Request-ID"] == "known"


def metrics_and_labels(expression):
    """Return the metrics of an expression of PromQL, and the labels that it selects or groups by."""
    metrics: set[str | None] = set()
    labels: set[str] = set()

    def visit(part):
        if isinstance(part, VectorSelector):
            metrics.add(part.name)
            labels.update(matcher.name for matcher in part.matchers.matchers)
        elif isinstance(part, AggregateExpr) and part.modifier:
            labels.update(part.modifier.labels)

    walk(parse(expression.replace("$__rate_interval", "1m")), visit)
    return metrics, labels


def test_each_metric_of_the_dashboard_is_there(server, vector_add, endless):
    client = server.client()
    client.compile(vector_add)
    client.compile(vector_add.replace("tl.arange(0, BLOCK_SIZE)", "tl.arange(0, 100)"))
    assert client.compile("import os\nos._exit(3)")[0] == "failed"
    canceled = client.submit(endless).document
    wait_for(lambda: client.document(canceled)["status"] == "running")
    client.ask("DELETE", canceled["api"])
    wait_for(lambda: client.document(canceled)["status"] == "failed")
    client.ask("GET", "/nothing")

    dashboard = json.loads(DASHBOARD.read_text())
    assert dashboard["schemaVersion"] >= 36
    assert {"datasource", "instance"} == {each["name"] for each in dashboard["templating"]["list"]}
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert all(panel["gridPos"].keys() == {"h", "w", "x", "y"} for panel in panels)

    families = metrics_of(server)
    names = {name for family in families for name in (family.name, f"{family.name}_total")}
    samples: dict[str, set[str]] = {}
    for sample in (sample for family in families for sample in family.samples):
        samples.setdefault(sample.name, set()).update(sample.labels)
    shown = set()
    for target in (target for panel in panels for target in panel["targets"]):
        assert target["datasource"]["uid"] == "${datasource}"
        (metric,), labels = metrics_and_labels(target["expr"])
        shown.add(metric)
        assert metric in names or metric in samples, metric
        labels |= set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        assert labels - OF_PROMETHEUS <= samples.get(metric, OF_GPUS), metric
    own = {name for name in samples if name.startswith(OWN) and not name.endswith(("_sum", "_count"))}
    assert own <= shown
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    for alert in group["rules"]:
        (metric,), labels = metrics_and_labels(alert["expr"])
        assert metric in names or metric in samples, metric
        labels |= set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"]))
        assert labels - OF_PROMETHEUS <= samples.get(metric, OF_GPUS), metric
    description = DESCRIPTION.read_text()
    assert [
        name for name in own if f"`{name.removeprefix(OWN).removesuffix('_bucket')}`" not in description
    ] == []


@pytest.mark.nightly
def test_stops_and_failures_are_counted_by_reason(server, endless):
    client = server.client()
    stopped = value_of(server, "triton_explorer_sandbox_stops_total", reason="time")
    exited = value_of(server, "triton_explorer_sandbox_stops_total", reason="exit")
    # Not at the limit of the script, which is half of the limit of the job.
    blocked = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
    assert client.compile(f"{blocked}{endless}")[0] == "failed"
    assert client.compile("import os\nos._exit(4)")[0] == "failed"
    assert value_of(server, "triton_explorer_sandbox_stops_total", reason="time") == stopped + 1
    assert value_of(server, "triton_explorer_sandbox_stops_total", reason="exit") == exited + 1
    assert value_of(server, "triton_explorer_job_failures_total", kind="sandbox") >= 2


def test_a_stranger_makes_no_metrics(server):
    counts = []
    for number in range(
        5
    ):  # the server itself may use a metric for the first time meanwhile, but not each time
        for name in range(20):
            server.client().ask("GET", f"/nothing/{number}/{name}")
            server.client().ask("GET", f"/api/v1/compilations/unknown{number}{name}")
        counts.append(sum(len(family.samples) for family in metrics_of(server)))
    assert len(set(counts)) < len(counts), counts


def test_a_job_that_waits_too_long_makes_the_server_unhealthy(server, endless):
    wait_until_ready(server)
    client = server.client()
    tickets = [client.submit(f"{endless}# {number}\n").document for number in range(2)]

    def health_with_old_job():
        # On a busy machine, the test compilation of another slot may end too late, which is a problem, too.
        found = health(server)
        return found if "A job has waited for" in (found.document["problem"] or "") else None

    answer = wait_for(health_with_old_job)
    assert answer.status == 503
    assert answer.document["status"] == "unavailable"
    assert value_of(server, "triton_explorer_queue_age_seconds", device="compile") > QUEUE_SECONDS
    for ticket in tickets:
        client.ask("DELETE", ticket["api"])
    wait_until_ready(server)


def send_signal(processes, number):
    ask_each(processes, lambda process: process.send_signal(number))


def processes_in_jails(server):
    jails = named(server.worker.children(recursive=True), "bwrap")
    families = ask_each(jails, lambda jail: jail.children(recursive=True))
    return [process for jail, family in families for process in (jail, *family)]


def test_a_slot_that_hangs_makes_the_server_unhealthy(server):
    wait_until_ready(server)
    hung = processes_in_jails(server)
    assert hung
    send_signal(hung, signal.SIGSTOP)
    try:
        answer = wait_for(lambda: (found := health(server)).status == 503 and found)
        assert server.client().ask("GET", "/livez").status == 200
    finally:
        send_signal(hung, signal.SIGCONT)
    slot = next(slot for slot in answer.document["slots"] if slot["state"] == "failing")
    assert slot["kind"] == "compile"
    assert slot["last_success_seconds"] > CANARY_SECONDS
    assert slot["problem"] in answer.document["problem"]
    wait_until_ready(server)


def test_a_canary_leaves_nothing_in_the_store(server):
    wait_until_ready(server)
    # On a busy machine, the example that a server compiles when it starts may still be stored.
    wait_for(lambda: value_of(server, "triton_explorer_jobs_running") == 0)
    stored = value_of(server, "triton_explorer_blob_seconds_count", operation="write")
    begin = time.monotonic()

    def is_tested_again():
        slots = health(server).document["slots"]
        return all(slot["last_success_seconds"] < time.monotonic() - begin - 1 for slot in slots)

    wait_for(is_tested_again)
    checks = value_of(server, "triton_explorer_blob_seconds_count", operation="write") - stored
    most = (time.monotonic() - begin) / 5 + 1
    assert checks <= most, "only the health check itself writes, every five seconds"
